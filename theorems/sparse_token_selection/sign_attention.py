r"""Softmax attention with random sign encodings: bounds of two means, P and R, without sampling.

The encodings e_1 … e_T ∈ R^D have independent entries ±1/√D, y is a q-subset of [T], u = Σ_{i∈y} e_i, v_i = e_i·u.
With W = diag(0, C I) token i has the logit C v_i, and the query token, if it is attended to, has the logit C|u|². With
N the softmax's denominator and p_i = e^{C v_i}/N,

    P = E Σ_{i∈y} p_i,    R = E Σ_i p_i²    (sums over the tokens without the query token).

*Moments.* v_i and |u|² are sums over the D coordinates, which are independent and identically distributed. So for
integers a_i ≥ 0 the mean of exp(C Σ a_i v_i + h|u|²) is the D-th power of a mean over the q signs ε_i of one
coordinate,

    E exp((s/D)(C Σ_{i∈y} a_i ε_i + h s)) ∏_{j∉y} cosh(C a_j s/D),    s = Σ_{i∈y} ε_i.

By the multinomial theorem N^k is a sum of such exponentials with Σ a_i = k, or Σ a_i ≤ k if the query token is attended
to, whose factors contribute to h. Two exponentials have the same mean if their a_i are the same up to order, on the
selected tokens and on the others. They are grouped by integer partitions, so that the number of terms depends on k
alone.

*Bounds.* For any ℓ = ρ v_i + b|u|², p_i = w/X and p_i² = w²/X² with w = e^{C(v_i − ℓ)}, X = N e^{−Cℓ}. Moments of X
weighted with w or w² bound E p_i and E p_i² from below (`moment_bounds.reciprocal_powers`), and from above if X has a
positive lower bound. For ρ = 0 there is such a bound: X ≥ q if b ≤ 1/q, as the geometric mean of e^{C v_i} over y is
e^{C|u|²/q}, and X ≥ 1 if the query token is attended to and b ≤ 1. The less X varies, the fewer moments are needed. The
slope of log N in C|u|² is about P/q plus the query token's share, so b is chosen near this value. Without the query
token, the upper bound of P is 1 minus a lower bound of the share of the tokens that are not selected.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Literal

import flint
from flint import arb, fmpq

from theorems.moment_bounds.reciprocal_powers import lower_bound, upper_bound
from verify.budget import look_at_the_clock
from verify.errors import UndecidedError

BITS = 320
"""Precision of the balls, in bits: the shares of all tokens but the query token are of order e^{−C(q−1)}; cancellation
costs about 40 bits."""

Place = Literal["selected", "others"]
Range = tuple[arb, arb]
_Table = list[tuple[int, list[arb]]]
"""The ways to write an order as multiplicities: for each, the number of assignments, and a value for each |s|."""


@dataclass(frozen=True)
class Effort:
    """The number of moments, and the values of ρ that are tried besides 0."""

    orders: int
    advances: tuple[fmpq, ...] = ()


EFFORTS = (Effort(4), Effort(6), Effort(8), Effort(8, (fmpq(1, 4), fmpq(3, 8))), Effort(12, (fmpq(1, 4),)))
_FIRST = Effort(2)
_TILTS = 16


@dataclass(frozen=True)
class SignAttention:
    """A model: T tokens, q of them selected, D dimensions; `query` says whether the query token is attended to."""

    T: int
    q: int
    D: int
    query: bool
    _tilts: dict[str, fmpq] = field(default_factory=dict, compare=False, repr=False)
    _last: dict[object, "_Tables"] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        assert 1 <= self.q <= self.T and self.D >= 1

    def selected(self, C: arb, effort: Effort) -> Range:
        """Return balls whose outer ends enclose P at C ≥ 0."""
        return self._below(C, 1, "selected", effort), self.selected_above(C, effort)

    def selected_above(self, C: arb, effort: Effort) -> arb:
        """Return a ball whose upper end is above P at C ≥ 0."""
        if self.query:
            return self._above(C, 1, "selected", effort).min(arb(1))
        return 1 - self._below(C, 1, "others", effort)

    def squares(self, C: arb, effort: Effort) -> Range:
        """Return balls whose outer ends enclose R at C ≥ 0."""
        above = sum((self._above(C, 2, place, effort) for place in self._places()), arb(0))
        return self.squares_below(C, effort), above.min(arb(1))

    def squares_below(self, C: arb, effort: Effort) -> arb:
        """Return a ball whose lower end is below R at C ≥ 0."""
        return sum((self._below(C, 2, place, effort) for place in self._places()), arb(0))

    def variance_above(self, C: arb, effort: Effort) -> arb:
        """Return a ball whose upper end is above E Var, for the softmax's variance Var of v without the query token.

        Var ≤ Σ p_i (v_i − m)² for any m, and x² ≤ 2cosh(x) − 2.
        """
        assert not self.query
        up, down = (
            sum((self._turned_above(C, arb(turn), place, effort) for place in self._places()), arb(0))
            for turn in (1, -1)
        )
        return 2 * (up * down).sqrt() - 2

    def _turned_above(self, C: arb, turn: arb, place: Place, effort: Effort) -> arb:
        """Return an upper bound of E Σ e^{turn·v_i} p_i over the tokens of a place."""
        tilt = C * self._tilt(C) / self.q
        moments = self.exponential_moments(C, place, C + turn, tilt, arb(0), tilt, effort.orders)
        return upper_bound(moments, 1, arb(self.q))

    def _places(self) -> tuple[Place, ...]:
        return ("selected", "others") if self.T > self.q else ("selected",)

    def _tilt(self, C: arb) -> fmpq:
        """Return t near P + q·(the query token's share), the slope of log N in C|u|²/q, from few moments."""
        key = str(C)
        if key not in self._tilts:
            half = C / 2 if self.query else C / (2 * self.q)
            shares = (
                float(lower_bound(self.exponential_moments(C, place, C, half, arb(0), half, _FIRST.orders), 1))
                for place in self._places()
            )
            selected, *others = (min(1.0, max(0.0, share)) for share in shares)
            slope = selected + self.q * max(0.0, 1 - selected - sum(others)) if self.query else selected
            self._tilts[key] = fmpq(round(_TILTS * slope), _TILTS)
        return self._tilts[key]

    def _above(self, C: arb, power: int, place: Place, effort: Effort) -> arb:
        best, least = arb(1), arb(1 if self.query else self.q)
        most = fmpq(self.q if self.query else 1)
        for tilt in {self._tilt(C), (most + self._tilt(C)) / 2, most}:
            try:
                best = best.min(upper_bound(self.moments(C, place, power, effort.orders, tilt=tilt), power, least))
            except UndecidedError:
                continue
        return best

    def _below(self, C: arb, power: int, place: Place, effort: Effort) -> arb:
        if place not in self._places():
            return arb(0)
        best = lower_bound(self.moments(C, place, power, effort.orders), power)
        for advance in () if self.query else effort.advances:
            try:
                best = best.max(lower_bound(self.moments(C, place, power, effort.orders, advance), power))
            except UndecidedError:
                continue
        return best

    def moments(
        self, C: arb, place: Place, power: int, orders: int, advance: fmpq | int = 0, tilt: fmpq | None = None
    ) -> list[arb]:
        """Return E Σ_i w_i^power X^k for k = 0 … orders, i over `place`.

        Here ℓ = ρ v_i + t|u|²/q with ρ = `advance` and t = `tilt`. By default t is 1 − ρ if ρ > 0, else a value at
        which X varies little.
        """
        share = tilt if tilt is not None else 1 - advance if advance else self._tilt(C)
        ahead, along = C * advance, C * share / self.q
        return self.exponential_moments(C, place, power * (C - ahead), power * along, ahead, along, orders)

    def exponential_moments(
        self, C: arb, place: Place, beta: arb, gamma: arb, ahead: arb, tilt: arb, orders: int
    ) -> list[arb]:
        """Return E Σ_{i in place} exp(β v_i − γ|u|²) Z^k for k = 0 … orders, Z = N exp(−ahead·v_i − tilt|u|²)."""
        tables = self._tables(C)
        sums = tables.sums
        first = [(-gamma * s * s / self.D).exp() / 2**self.q for s in sums]
        each = [(-tilt * s * s / self.D).exp() for s in sums]
        query = [(C * s * s / self.D).exp() for s in sums]
        found, chosen, others = [], None, None
        for k in range(orders + 1):
            if chosen is None or others is None or place == "selected" or ahead:
                weight = (beta - k * ahead) / self.D
                if chosen is None or (place == "selected" and ahead):
                    chosen = tables.of("selected", weight if place == "selected" else None, orders)
                if others is None or (place == "others" and ahead):
                    others = tables.of("others", weight if place == "others" else None, orders)
            total = arb(0)
            # k − j of the k factors belong to the query token.
            for j in range(k + 1) if self.query else [k]:
                scale = [f * e**k * y ** (k - j) for f, e, y in zip(first, each, query, strict=True)]
                total += math.comb(k, j) * self._paired(chosen, others, scale, j)
            found.append(total)
        return found

    def _tables(self, C: arb) -> "_Tables":
        """Return the tables at C; the tables of the last C are kept."""
        key = (flint.ctx.prec, *_exactly(C))
        if key not in self._last:
            self._last.clear()
            self._last[key] = _Tables(self.T, self.q, C / self.D)
        return self._last[key]

    def _paired(self, chosen: list[_Table], others: list[_Table], scale: list[arb], order: int) -> arb:
        """Return the sum of means over all ways to write an order as multiplicities of selected and other tokens."""
        total = arb(0)
        for m in range(order + 1):
            for count, row in chosen[m]:
                look_at_the_clock()
                scaled = [x * y for x, y in zip(row, scale, strict=True)]
                inner = arb(0)
                for times, column in others[order - m]:
                    mean = scaled[0] * column[0]
                    for x, y in zip(scaled[1:], column[1:], strict=True):
                        mean += x * y
                    inner += times * mean**self.D
                total += math.comb(order, m) * count * inner
        return total


class _Tables:
    """For each order and each place, the ways to write the order as multiplicities of tokens there, each computed once.

    Each way has one value for each |s|: a sum over signs for selected tokens, a product of hyperbolic cosines for the
    others. One token of the place has a weight, or none has.
    """

    def __init__(self, T: int, q: int, rate: arb) -> None:
        self.T, self.q, self.powers = T, q, _Exponentials(rate)
        self.sums = range(q % 2, q + 1, 2)
        self._made: dict[object, list[_Table]] = {}

    def of(self, place: Place, weight: arb | None, orders: int) -> list[_Table]:
        """Return the tables of a place, at least for orders 0 … `orders`; without a weighted token `weight` is None."""
        tables = self._made.setdefault((place, weight if weight is None else _exactly(weight)), [])
        write = self._chosen if place == "selected" else self._others
        extra = _Exponentials(arb(0) if weight is None else weight)
        while len(tables) <= orders:
            tables.append(list(write(len(tables), extra, weight is not None)))
        return tables

    def _chosen(self, order: int, extra: "_Exponentials", weighted: bool) -> Iterator[tuple[int, list[arb]]]:
        for own, others, count in _multiplicities(order, self.q, weighted):
            look_at_the_clock()
            row = dict.fromkeys(self.sums, arb(0))
            for (s, along, by), times in _signs(own, others, self.q):
                row[s] += times * self.powers[along] * extra[by]
            yield count, list(row.values())

    def _others(self, order: int, extra: "_Exponentials", weighted: bool) -> Iterator[tuple[int, list[arb]]]:
        for own, others, count in _multiplicities(order, self.T - self.q, weighted):
            look_at_the_clock()
            column = []
            for s in self.sums:
                product = arb(1) if own is None else ((own * self.powers.rate + extra.rate) * s).cosh()
                for a in others:
                    product *= self.powers.cosh(a * s)
                column.append(product)
            yield count, column


def _exactly(x: arb) -> tuple[object, ...]:
    """Return a ball's midpoint and radius, exactly."""
    return (*x.mid().man_exp(), *x.rad().man_exp()) if x.is_finite() else (str(x),)


class _Exponentials:
    """e^{rate·n} for integers n, each computed once."""

    def __init__(self, rate: arb) -> None:
        self.rate = rate
        self._known: dict[int, arb] = {}
        self._cosh: dict[int, arb] = {}

    def __getitem__(self, n: int) -> arb:
        if n not in self._known:
            self._known[n] = (self.rate * n).exp()
        return self._known[n]

    def cosh(self, n: int) -> arb:
        """Return cosh(rate·n)."""
        if n not in self._cosh:
            self._cosh[n] = (self.rate * n).cosh()
        return self._cosh[n]


@cache
def _multiplicities(order: int, tokens: int, weighted: bool) -> tuple[tuple[int | None, tuple[int, ...], int], ...]:
    """Return the ways to assign `order` factors to tokens, as (a, others, count).

    a is the multiplicity of the weighted token, None if there is none. `others` are the positive multiplicities of the
    other tokens, in descending order. count is the number of sequences of tokens, times the number of choices of the
    weighted token.
    """
    if not weighted:
        return tuple((None, parts, n) for parts in partitions(order, order) if (n := sequences(parts, tokens)))
    return tuple(
        (own, parts, n)
        for own in range(order + 1)
        for parts in partitions(order - own, order)
        if (n := tokens * math.comb(order, own) * sequences(parts, tokens - 1))
    )


@cache
def partitions(n: int, largest: int) -> tuple[tuple[int, ...], ...]:
    """Return the partitions of n into parts of at most `largest`, each in descending order."""
    return tuple(_descending(n, largest))


def _descending(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    if n == 0:
        yield ()
    for part in range(min(n, largest), 0, -1):
        yield from ((part, *rest) for rest in partitions(n - part, part))


def sequences(parts: Sequence[int], tokens: int) -> int:
    """Return the number of sequences of tokens in which the multiplicities are `parts`, in any order."""
    arrangements = math.factorial(sum(parts)) // math.prod(map(math.factorial, parts))
    symmetric = math.prod(map(math.factorial, Counter(parts).values()))
    return arrangements * math.perm(tokens, len(parts)) // symmetric if tokens >= len(parts) else 0


@cache
def _signs(own: int | None, others: tuple[int, ...], q: int) -> tuple[tuple[tuple[int, int, int], int], ...]:
    """Return counts of sign vectors in {±1}^q by (|s|, s Σ a_i ε_i, s ε); ε is the weighted token's sign, 0 if none."""
    states = {(0, 0, 0): 1} if own is None else {(e, own * e, e): 1 for e in (1, -1)}
    for a in others:
        grown: Counter[tuple[int, int, int]] = Counter()
        for (s, along, mark), times in states.items():
            for e in (1, -1):
                grown[s + e, along + a * e, mark] += times
        states = grown
    rest = q - len(others) - (own is not None)
    found: Counter[tuple[int, int, int]] = Counter()
    for (s, along, mark), times in states.items():
        for minus in range(rest + 1):
            total = s + rest - 2 * minus
            found[abs(total), total * along, total * mark] += times * math.comb(rest, minus)
    return tuple(found.items())


def outer(below: arb, above: arb) -> tuple[Fraction, Fraction]:
    """Return the lower end of one ball and the upper end of another. Raises UndecidedError if one is not finite."""
    if not (below.is_finite() and above.is_finite()):
        raise UndecidedError("the bounds are not finite")
    return _fraction(below.lower()), _fraction(above.upper())


def _fraction(point: arb) -> Fraction:
    mantissa, exponent = map(int, point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
