"""The run of Theorem 1 from zero, followed until its loss is near 0, and trials of its rate."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from theorems.sparse_token_selection.trials import value_at
from theorems.sparse_token_selection.trials.long_runs import ACCURACY, Mark, Reached, State, reached, smooth
from verify import Trial
from verify.language.parameters import Instance

if TYPE_CHECKING:
    from numpy.random import Generator

    from verify.claims.in_words import Trials

_LAST = 2e-4


@dataclass(frozen=True)
class OneHotRun:
    """Gradient descent on the population loss with one-hot encodings, at V = (α I, 0), W = diag(0, C(I − 11ᵀ/T)).

    With attention p_i and the target's weights u_i = [i ∈ y]/q, the loss is d/2 Σ r_i², r_i = αp_i − u_i, as the
    tokens are independent and of variance 1. The norms of I_d and I − 11ᵀ/T are √d and √(T−1), so that the steps are
    −η/d and −η/(T−1) times the slopes in α and C. A state is (g, C), α = 1 + r − g with the odds r = (T−q)e^{−C}/q: as
    Σ u_i = 1, a selected token's r_i is −g p_i, without cancellation.
    """

    T: float
    q: float
    d: float
    eta: float

    @property
    def start(self) -> State:
        """The state at V = 0 and W = 0."""
        return self.T / self.q, 0.0

    def odds(self, C: float) -> float:
        """Return the attention on the other tokens divided by the attention on the selected tokens."""
        return (self.T - self.q) * math.exp(-C) / self.q

    def mark(self, odds: float) -> Mark:
        """Return a function of the state: the distance of C below its value at the given odds."""
        last = math.log((self.T - self.q) / (self.q * odds))
        return lambda _, C: last - C

    def _tokens(self, g: float, C: float) -> tuple[float, float, float, float, float]:
        """Return α, and p_i and r_i of a selected and of another token."""
        r = self.odds(C)
        selected = 1 / (self.q * (1 + r))
        other, alpha = selected * math.exp(-C), 1 + r - g
        return alpha, selected, other, -g * selected, alpha * other

    def loss(self, g: float, C: float) -> float:
        """Return the population loss."""
        _, _, _, r_in, r_out = self._tokens(g, C)
        return self.d / 2 * (self.q * r_in**2 + (self.T - self.q) * r_out**2)

    def move(self, g: float, C: float) -> State:
        """Return the changes of g and C in a step of gradient descent."""
        alpha, p_in, p_out, r_in, r_out = self._tokens(g, C)
        selected, others = self.q * p_in, (self.T - self.q) * p_out
        # dL/dα = d Σ r_i p_i, and dL/dC = d α Σ r_i p_i ([i ∈ y] − Σ_y p_j).
        slope_alpha = self.d * (selected * r_in + others * r_out)
        slope_C = self.d * alpha * selected * others * (r_in - r_out)
        more_C = -self.eta * slope_C / (self.T - 1)
        return self.odds(C) * math.expm1(-more_C) + self.eta * slope_alpha / self.d, more_C


def _far(instance: Instance) -> tuple[OneHotRun, list[Reached]]:
    """Return the run, and its states at which the odds have fallen to r_0, r_0/10, r_0/100 and r_0/1000.

    The expansions of `inverse_loss_rate` are in r d/(T−1) and r q/(T−q). r_0 is a tenth of the odds at which these are
    of order 1, or half of the odds at which the run becomes smooth if that is less.
    """
    T, q, d, eta = (float(instance[name]) for name in ("T", "q", "d", "eta"))
    run = OneHotRun(T, q, d, eta)
    start = smooth(run.move, run.start)
    first = min(0.1 / (1 + d / (T - 1) + q / (T - q)), run.odds(start.state[1]) / 2)
    return run, reached(run.move, start, [run.mark(first / 10**k) for k in range(4)], least=(0.0, 1e-3))


def _nearer(distances: Iterator[tuple[float, dict[str, float]]]) -> Iterator[Trial]:
    """Yield a trial for each distance from a limit but the first, and one more for the last distance.

    The claims are that each distance is at most half of the previous one, or 2e-4, and that the last is at most 2e-4.
    The distances are of order r (the lag) or r² log t (the slope): when the odds fall by a factor of 10, they fall by
    a factor of 10 or nearly 100. The lag's first term, |1 − d/(T−1)| r, is below 1e-4 at the last odds.
    """
    before, tried = next(distances)
    for distance, tried in distances:
        yield Trial(max(before / 2, _LAST) - distance, ACCURACY, tried)
        before = distance
    yield Trial(_LAST - before, ACCURACY, tried)


def slope(limit: sp.Expr) -> "Trials":
    """Return trials of 1/(t L_t) → `limit`: at four increasing t it is nearer to the limit each time."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        run, states = _far(instance)
        claimed = value_at(limit, instance)
        ratios = ((1 / (at.step * run.loss(*at.state) * claimed), at.step) for at in states)
        yield from _nearer((abs(ratio - 1), {"t": t, "ratio": ratio}) for ratio, t in ratios)

    return trials


def steps(product: sp.Expr) -> "Trials":
    """Return trials of ε N(ε) → `product`, N(ε) the first step with L_t ≤ ε: at four falling ε it is ever nearer.

    ε is the loss at a step, so that N is that step or, as steps are joined, within 1 of it.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        run, states = _far(instance)
        claimed = value_at(product, instance)
        ratios = ((at.step * run.loss(*at.state) / claimed, run.loss(*at.state)) for at in states)
        yield from _nearer((abs(ratio - 1), {"eps": eps, "ratio": ratio}) for ratio, eps in ratios)

    return trials


def limits(lag: sp.Expr) -> "Trials":
    """Return trials of r → 0 and h → `lag`: at four steps r falls to a tenth each time, and h is nearer each time."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        run, states = _far(instance)
        claimed = value_at(lag, instance)
        lags = ((at.state[0] / run.odds(at.state[1]) ** 2, at.step) for at in states)
        yield from _nearer((abs(h / claimed - 1), {"t": t, "h": h}) for h, t in lags)

    return trials
