"""Trials of population gradient descent on the set of Lemma 2, from zero, with the mean over drawn sign encodings.

The claims are tried for the mean over a sample in place of the population mean. Claims on falls and signs are tried
within the sample's standard errors, and claims on limits for the sample itself, with its P and R interpolated in C. The
runs are followed for 10⁴ single steps or more, until they are smooth, and then along the curve through their iterates.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from theorems.sparse_token_selection.trials import value_at
from theorems.sparse_token_selection.trials.long_runs import Reached, State, at_steps, smooth
from theorems.sparse_token_selection.trials.sign_encodings import Interpolated, SignSample, Sizes, draw
from verify import Trial
from verify.errors import UndefinedError
from verify.language.parameters import Instance

if TYPE_CHECKING:
    from numpy.random import Generator

    from verify.claims.in_words import Trials

Array: TypeAlias = "Any"
"""A NumPy array."""
_SIGMAS, _FIRST_STEPS, _A_TIME, _LONGEST = 6, 40, 64, 1e10
_SETTLED, _ROUNDED, _AT_LIMIT, _INTERPOLATION, _ROUNDING = 1e-7, 1e-10, 1e-4, 1e-5, 1e-12


def _norm(x: float, y: float) -> float:
    return math.hypot(x, y)


@dataclass(frozen=True)
class Descent:
    """The run from zero with the mean over a sample; a state is (√d α, √D C)."""

    means: Interpolated

    @cached_property
    def start(self) -> Reached:
        """The state from which on the run is smooth."""
        return smooth(self.means.move, (0.0, 0.0))

    @cached_property
    def later(self) -> list[Reached]:
        """The states from `start` on, 64 for each 16-fold growth of the step number.

        They end once the run has settled, has reached step `_LONGEST`/η or cannot be followed farther.
        """
        states = [self.start]
        while not self._settled(states) and states[-1].step < _LONGEST / self.means.sample.sizes.eta:
            steps = [states[-1].step * 16 ** (k / _A_TIME) for k in range(1, _A_TIME + 1)]
            try:
                states += at_steps(self.means.move, states[-1], steps, (1e-3, 1e-3))
            except UndefinedError:
                if len(states) == 1:
                    raise
                break
        return states

    def _settled(self, states: list[Reached]) -> bool:
        """Whether the state has changed by at most 1e-7 (1 + its norm) during the last 16-fold growth of the step.

        A gradient of at most 1e-10 times the first one counts as settled, too.
        """
        end = states[-1].state
        gradient = _norm(*self.means.gradient(*end))
        if len(states) > 1 and self.distance(end, states[-1 - _A_TIME].state) <= _SETTLED * (1 + _norm(*end)):
            return True
        return gradient <= _ROUNDED * _norm(*self.means.gradient(0.0, 0.0))

    @property
    def settled(self) -> bool:
        """Whether the run has settled at the last state."""
        return self._settled(self.later)

    @property
    def seen(self) -> list[Reached]:
        """Two of the later states for each 16-fold growth of the step, the last state included."""
        return self.later[:: _A_TIME // 2]

    def logit_scale(self, at: Reached) -> float:
        """Return C."""
        return self.means.sample.sizes.pair(*at.state)[1]

    @property
    def grows(self) -> bool:
        """Whether |C| rises by over 0.3 % of 1 + |C| when t grows 4-fold at the end; log t rises by 6 % at t = 10¹⁰."""
        before, end = (abs(self.logit_scale(at)) for at in (self.seen[-2:][0], self.later[-1]))
        return end - before > 0.003 * (1 + before)

    def stationary(self, near: State) -> State:
        """Return the stationary point of the loss that a root search from a state finds."""
        from scipy.optimize import root

        found = root(lambda x: self.means.gradient(float(x[0]), float(x[1])), near, tol=1e-13)
        if _norm(*found.fun) > 1e-9:
            raise UndefinedError("no stationary point is found at the end of the run")
        return float(found.x[0]), float(found.x[1])

    def off_a_stationary_point(self, state: State, other: State) -> float:
        """Return a state's distance from the stationary point found from it, or from `other` if none is found."""
        try:
            return self.distance(state, self.stationary(state))
        except UndefinedError:
            return self.distance(state, other)

    def hessian(self, at: State) -> Array:
        """Return the Hessian of the loss, by differences of the gradient."""
        import numpy as np

        h = 1e-5
        moved = [[(at[0] + s * (i == 0), at[1] + s * (i == 1)) for s in (-h, h)] for i in (0, 1)]
        rows = [np.subtract(self.means.gradient(*up), self.means.gradient(*down)) / (2 * h) for down, up in moved]
        return (np.array(rows) + np.array(rows).T) / 2

    def distance(self, state: State, point: State) -> float:
        """Return the distance between two states."""
        return _norm(state[0] - point[0], state[1] - point[1])


def _descent(instance: Instance, query: bool, random: "Generator") -> Descent:
    return Descent(Interpolated(draw(Sizes.of(instance, query), random)))


def _tried(descent: Descent, at: Reached) -> dict[str, float]:
    alpha, C = descent.means.sample.sizes.pair(*at.state)
    return {"step": at.step, "alpha": alpha, "C": C}


def _first_steps(sample: SignSample) -> Iterator[tuple[int, State, float]]:
    """Yield each of the first steps, its state, and the sum of six standard errors of all changes of √D C before it."""
    a = c = error = 0.0
    for step in range(_FIRST_STEPS):
        yield step, (a, c), error
        alpha, C = sample.sizes.pair(a, c)
        x, y = sample.sizes.gradient(alpha, *sample.shares(C))
        error += _SIGMAS * sample.sizes.eta * float(y.std(ddof=1)) / math.sqrt(len(y))
        a, c = a - sample.sizes.eta * float(x.mean()), c - sample.sizes.eta * float(y.mean())


def _fall(sample: SignSample, state: State, factor: float) -> tuple[float, float]:
    """Return L(x) − L(x − η∇L) − factor |∇L|², and its error: six standard errors, and rounding.

    With ĝ for the sample's gradient and δ for its error, L(x − ηĝ) is off by −η∇L(x − ηĝ)·δ and |ĝ|² by 2ĝ·δ, to first
    order: the standard error is that of the mean, over pairs of encodings, of the fall of L with these terms.
    """
    sizes = sample.sizes

    def at(point: State) -> tuple[Array, Array, Array]:
        alpha, C = sizes.pair(*point)
        shares = sample.shares(C)
        return sizes.loss(alpha, shares[0], shares[1]), *sizes.gradient(alpha, *shares)

    loss, x, y = at(state)
    slope = float(x.mean()), float(y.mean())
    new_loss, new_x, new_y = at((state[0] - sizes.eta * slope[0], state[1] - sizes.eta * slope[1]))
    weights = [sizes.eta * float(new.mean()) - 2 * factor * old for new, old in zip((new_x, new_y), slope, strict=True)]
    parts = loss - new_loss + weights[0] * x + weights[1] * y
    margin = float((loss - new_loss).mean()) - factor * (slope[0] ** 2 + slope[1] ** 2)
    rounding = 1e-14 * sizes.d / sizes.q
    return margin, _SIGMAS * float(parts.std(ddof=1)) / math.sqrt(len(parts)) + rounding


def falls(query: bool, factor: sp.Expr) -> "Trials":
    """Return trials of L' <= L − factor |∇L|²: at each of the first 40 steps, and at later ones."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        descent, by = _descent(instance, query, random), value_at(factor, instance)
        sample = descent.means.sample
        for step, state, _ in _first_steps(sample):
            yield Trial(*_fall(sample, state, by), _tried(descent, Reached(step, state)))
        for at in descent.seen:
            yield Trial(*_fall(sample, at.state, by), _tried(descent, at))

    return trials


def vanishes(query: bool, bound: sp.Expr) -> "Trials":
    """Return trials of Σ |∇L|² <= bound over n steps and some |∇L|² <= bound/n, for n from the smooth state on.

    The sum after that state is an integral over the curve through the iterates, by the trapezoidal rule with widths of
    4 % of the step. The error is taken to be 1 % of the sum plus six standard errors of the loss divided by η, as the
    sum is near a loss divided by η.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        descent, most = _descent(instance, query, random), value_at(bound, instance)
        means = descent.means
        sizes, total, least, x, y = means.sample.sizes, 0.0, math.inf, 0.0, 0.0
        for _ in range(int(descent.start.step)):
            g, h = means.gradient(x, y)
            total, least = total + g * g + h * h, min(least, g * g + h * h)
            x, y = x - sizes.eta * g, y - sizes.eta * h
        squares = [_norm(*means.gradient(*at.state)) ** 2 for at in descent.later]
        for k, at in enumerate(descent.later):
            if k:
                total += (squares[k - 1] + squares[k]) / 2 * (at.step - descent.later[k - 1].step)
            least = min(least, squares[k])
            if k % (_A_TIME // 4) == 0:
                alpha, C = sizes.pair(*at.state)
                losses = sizes.loss(alpha, *means.sample.shares(C)[:2])
                error = 0.01 * total + _SIGMAS * float(losses.std(ddof=1)) / math.sqrt(len(losses)) / sizes.eta
                yield Trial(most - total, error, {**_tried(descent, at), "sum": total})
                yield Trial(most / at.step - least, 0.01 * least, {**_tried(descent, at), "least": least})

    return trials


def nonnegative(query: bool, least: float = 0.0, slack: sp.Expr | None = None) -> "Trials":
    """Return trials of C >= least, and with the query of α >= least, at each of the first 40 steps but step 0.

    If the slack is negative, nothing is claimed, and the one trial is that the slack is negative.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        if slack is not None and (missing := -value_at(slack, instance)) > 0:
            yield Trial(missing, 0, {"claimed": "nothing at this step size"})
            return
        descent = _descent(instance, query, random)
        sizes = descent.means.sample.sizes

        def lower(at: Reached) -> float:
            alpha, C = sizes.pair(*at.state)
            return min(alpha, C) if query else C

        for step, state, error in _first_steps(descent.means.sample):
            if step:
                at = Reached(step, state)
                yield Trial(lower(at) - least, error / math.sqrt(sizes.D) + _ROUNDING, _tried(descent, at))

    return trials


def converges(query: bool, place: float = 1.0, bounded: Callable[[Instance], bool] | None = None) -> "Trials":
    """Return trials that a run converges to a stationary point or that |C| rises.

    In the first case (α, place · C) at the end is within 1e-4 of a stationary point, and the run is nearer to it
    whenever the step has grown √2-fold. |C| must not rise if the loss at the end is below the least losses over α at C
    times ±2, ±4, …, nor if `bounded` is true. With the query, α and C are positive at the stationary point.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        descent = _descent(instance, query, random)
        if descent.grows:
            yield from _rising(descent, bounded is not None and bounded(instance))
            return
        if not descent.settled:
            raise UndefinedError("the run has not settled at the last step that is followed")
        end = descent.later[-1]
        moved, point = (end.state[0], place * end.state[1]), descent.stationary(end.state)
        size, off = 1 + _norm(*point), descent.off_a_stationary_point(moved, point)
        yield Trial(_AT_LIMIT * size - off, 1e-6 * size, {**_tried(descent, end), "distance": off})
        distances = [(descent.distance(at.state, point), at) for at in descent.later[::8]]
        nearing = [each for each in distances if each[0] > 1e-5 * size][-4:]
        for (before, _), (after, at) in pairwise(nearing):
            yield Trial(before - after, 1e-6 * size, _tried(descent, at))
        if query:
            yield Trial(min(descent.means.sample.sizes.pair(*point)), 1e-6, {"point": point})

    return trials


def rises(*, query: bool = True, least: float = 0.0) -> "Trials":
    """Return trials that C rises by at least η_t `least` in each step but the first, and with the query α in every one.

    For the first 40 steps the step sizes are drawn in (0, η]; the later steps are those of the run with η.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        descent = _descent(instance, query, random)
        sample = descent.means.sample
        sizes, state = sample.sizes, (0.0, 0.0)

        def rise(state: State, step: float) -> Iterator[Trial]:
            slopes = zip(_slopes(sample, state), (sizes.d, sizes.D), (query, step > 0), strict=True)
            for slope, dimension, claimed in slopes:
                if claimed:
                    error = _SIGMAS * float(slope.std(ddof=1)) / math.sqrt(len(slope) * dimension)
                    margin = -float(slope.mean()) / math.sqrt(dimension) - least
                    yield Trial(margin, error + _ROUNDING, _tried(descent, Reached(step, state)))

        for step in range(_FIRST_STEPS):
            yield from rise(state, step)
            x, y = (float(part.mean()) for part in _slopes(sample, state))
            size = sizes.eta * (1 - random.random())
            state = state[0] - size * x, state[1] - size * y
        for at in descent.seen:
            yield from rise(at.state, at.step)

    return trials


def _slopes(sample: SignSample, state: State) -> tuple[Array, Array]:
    alpha, C = sample.sizes.pair(*state)
    return sample.sizes.gradient(alpha, *sample.shares(C))


def ends_at_the_least_loss(*, query: bool = True, place: float = 1.0) -> "Trials":
    """Return trials of the end of a run: (α, place · C) is within 1e-4 of a stationary point.

    The loss there is also at most the least loss over α at other C, the multiples 0 to 64 of the point's C.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        descent = _descent(instance, query, random)
        end = descent.later[-1]
        if descent.grows:
            yield Trial(-1.0, 0, _tried(descent, end))
            return
        if not descent.settled:
            raise UndefinedError("the run has not settled at the last step that is followed")
        point, sample = descent.stationary(end.state), descent.means.sample
        size, off = 1 + _norm(*point), descent.distance((end.state[0], place * end.state[1]), point)
        yield Trial(_AT_LIMIT * size - off, 1e-6 * size, {**_tried(descent, end), "distance": off})
        loss, C = descent.means.loss(*point), sample.sizes.pair(*point)[1]
        error = _INTERPOLATION * sample.sizes.d / sample.sizes.q
        for multiple in (*(k / 8 for k in range(17)), *(2.0**k for k in range(2, 7))):
            yield Trial(_least_loss(sample, multiple * C) - loss, error, {"C": multiple * C, "C of the end": C})

    return trials


def _rising(descent: Descent, bounded: bool) -> Iterator[Trial]:
    sample, end = descent.means.sample, descent.later[-1]
    scales = [abs(descent.logit_scale(at)) for at in descent.seen[-4:]]
    for at, before, after in zip(descent.seen[-3:], scales, scales[1:], strict=False):
        yield Trial(-1.0 if bounded else after - before, 0, _tried(descent, at))
    least = min(_least_loss(sample, sign * scales[-1] * 2**k) for k in range(1, 12) for sign in (-1, 1))
    error = _INTERPOLATION * sample.sizes.d / sample.sizes.q
    yield Trial(descent.means.loss(*end.state) - least, error, {**_tried(descent, end), "least beyond": least})


def _least_loss(sample: SignSample, C: float) -> float:
    """Return the least loss over α at a C."""
    sizes, (P, R, _, _) = sample.sizes, sample.shares(C).mean(axis=1)
    return float(sizes.loss(P / (sizes.q * R), P, R))


def geometric(query: bool, rate: Callable[[float, float, float], float]) -> "Trials":
    """Return trials of the rate `rate(η, λ, Λ)`, λ and Λ the least and largest eigenvalue of the limit's Hessian.

    The trials are that the rate is below 1, and steps from states at a relative distance of 1e-7 to 1e-3 from the
    limit.

    A step's derivative near the limit differs from its derivative at the limit by η times the difference of the
    Hessians: twice this product at the state is allowed for.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        import numpy as np

        descent = _descent(instance, query, random)
        if descent.grows:
            raise UndefinedError("|C| rises along the run: there is no limit at which a rate is claimed")
        if not descent.settled:
            raise UndefinedError("the run has not settled at the last step that is followed")
        point, eta = descent.stationary(descent.later[-1].state), descent.means.sample.sizes.eta
        size, hessian = 1 + _norm(*point), descent.hessian(point)
        least, largest = (float(value) for value in np.linalg.eigvalsh(hessian))
        if least <= 0:
            raise UndefinedError("the Hessian at the limit is not positive definite")
        claimed = rate(eta, least, largest)
        yield Trial(1 - claimed, 0, {"lambda": least, "Lambda": largest})
        near = [at for at in descent.later if 1e-7 <= descent.distance(at.state, point) / size <= 1e-3]
        for at in near[-8:]:
            before = descent.distance(at.state, point)
            x, y = descent.means.move(*at.state)
            ratio = descent.distance((at.state[0] + x, at.state[1] + y), point) / before
            curved = 2 * eta * float(np.linalg.norm(descent.hessian(at.state) - hessian, 2))
            yield Trial(claimed + curved - ratio, 1e-14 * size / before + 1e-9 * eta, _tried(descent, at))

    return trials
