"""Proofs by cases that a polynomial with integer coefficients is nowhere negative on an orthant.

A polynomial is a mapping {powers: coefficient}. Its variables are ≥ 0, some of them > 0. A polynomial with negative
coefficients is multiplied by powers of 1 plus the sum of the variables (Pólya), or the orthant is split. A split
compares a variable x with t, which is a number or a multiple of another variable: either x = t/(1 + s) with s > 0, or
x = t + s with s ≥ 0. If x may be 0, x = 0 is a case of its own. For x = t/(1 + s) the coefficients in s are Bernstein
coefficients. Splits go through points at which the polynomial is smallest relative to the size of its terms. The work
is counted, not timed: the result does not depend on the time it takes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb, gcd, log, prod
from typing import TYPE_CHECKING, TypeAlias

from verify.provers.proof_data import Proof

if TYPE_CHECKING:
    import numpy as np

Powers = tuple[int, ...]
Name: TypeAlias = str | int
"""The name of a variable in a certificate."""
_MOST_POWER = 6
"""Highest power of 1 plus the sum of the variables: a higher power has many terms, and near a zero no power helps."""
_MOST_DEPTH = 5
"""Maximum depth of nested splits: with three splits tried at each place, a sixth level makes 3^6 sequences."""
_MOST_TRIED = 3
"""Maximum number of splits tried at a place; splits with the fewest negative terms come first."""
_POINTS = 200
"""Number of random points among which the smallest values of a polynomial are sought."""
_STARTS = 3
"""Number of points, those with the lowest values, at which Newton's method starts: there may be several zeros."""
_NEWTON = 30
"""Maximum number of Newton steps: if there is no minimum, the steps do not converge."""
_MINIMA = 300
"""Work counted for a search for minima, in addition to the work at the points."""
_ZERO = 1e-9
"""A number below this may be a rounding error: if ln(positive/negative terms) < −1e-9, the polynomial is negative."""
_NEAR = 1e-4
"""A minimum below this may be a zero, whose coordinates are rounded and tried exactly."""
_FAR = 12.0
"""Largest logarithm of a variable: e^12 is far enough for one term to be the largest."""
_STILL = 1e-15
"""The search ends when a Newton step changes every value by less than this."""
_ZERO_DENOMINATORS = (1, 4, 30, 1000)
"""Largest denominators, tried in turn, of the rounded coordinates of a zero."""
_CUT_DENOMINATORS = (1, 2, 3, 5, 10, 100, 10**6)
"""Largest denominators, tried in turn, of the number at which a variable is split; large ones lengthen coefficients."""


class Spent(Exception):  # noqa: N818
    """The budget of work is used up."""


@dataclass
class Work:
    """A budget of work: the number of coefficients that may still be computed."""

    left: int = 12_000

    def spend(self, amount: int) -> None:
        """Count some work. Raises `Spent` if none is left."""
        self.left -= amount
        if self.left < 0:
            raise Spent


@dataclass(frozen=True)
class Orthant:
    """A polynomial that is to be shown > 0 if `strict`, else ≥ 0, with each variable's name and whether it is > 0."""

    terms: Mapping[Powers, int]
    names: tuple[Name, ...]
    positive: tuple[bool, ...]
    strict: bool
    work: Work = field(default_factory=Work, compare=False)

    def is_shown(self) -> bool:
        """Whether no coefficient is negative and, if `strict`, some term is nowhere 0."""
        if any(c < 0 for c in self.terms.values()):
            return False
        ends = [i for i, positive in enumerate(self.positive) if not positive]
        return not self.strict or any(not any(powers[i] for i in ends) for powers in self.terms)

    def multiplied(self) -> Proof | None:
        """Return a leaf that shows the sign by the least possible power of 1 plus the sum of the variables, or None."""
        times, unit = self, (0,) * len(self.names)
        factor = {unit: 1} | {(*unit[:i], 1, *unit[i + 1 :]): 1 for i in range(len(unit))}
        for power in range(_MOST_POWER + 1):
            if times.is_shown():
                multipliers = [{"over": list(self.names), "power": power}] if power else []
                return {"multipliers": multipliers, "squares": []}
            self.work.spend(len(times.terms) * len(factor))
            times = replace(times, terms=_product(times.terms, factor))
        return None

    def tree(self, depth: int = _MOST_DEPTH) -> Proof | None:
        """Return a tree of cases that shows the sign, as a certificate states it; None if no tree is found.

        Raises Spent if the budget of work is used up.
        """
        if self.is_shown():
            return {"multipliers": [], "squares": []}
        if not self.may_be_shown():
            return None
        value, point = self.minima()[0]
        zero = self.zero(point) if value < _NEAR else None
        if value < -_ZERO or (zero is not None and self._excluded(zero)):
            return None
        leaf = self.multiplied()
        if leaf is not None or not depth:
            return leaf
        ranked = sorted(self._splits(zero or point, exact=zero is not None), key=_Split.badness)[:_MOST_TRIED]
        return next((tree for split in ranked if (tree := split.tree(depth - 1)) is not None), None)

    def may_be_shown(self) -> bool:
        """Whether some coefficient is negative, but not that of the lexicographically first or last term.

        Each of these two terms exceeds the sum of all others in size at some point.
        """
        if min(self.terms.values(), default=0) >= 0:
            # Either the sign is shown already, or the polynomial is 0 where all variables that may be 0 are 0.
            return False
        return self.terms[min(self.terms)] > 0 and self.terms[max(self.terms)] > 0

    def minima(self) -> list[tuple[float, tuple[float, ...]]]:
        """Return approximate local minima of ln(P/N), the smallest first, each with the variables there.

        P is the sum of the polynomial's positive terms, and −N is the sum of its negative terms. The Newton steps end
        once a value below 0 is seen.
        """
        # Imported here because most inequalities do not need NumPy, and their proof takes less time than its import.
        import numpy as np

        self.work.spend(_MINIMA + _POINTS * len(self.terms) // 20)
        powers = np.array(list(self.terms), dtype=float)
        sizes = np.array([log(abs(c)) for c in self.terms.values()])
        negative = np.array([c < 0 for c in self.terms.values()])
        sides = [(powers[side], sizes[side]) for side in (~negative, negative)]

        def value(logs: "np.ndarray") -> "np.ndarray":
            above, below = (np.logaddexp.reduce(logs @ p.T + c, axis=-1) for p, c in sides)
            return above - below

        points = np.random.default_rng(0).normal(scale=2.0, size=(_POINTS, len(self.names)))
        points[0] = 0
        points = points[np.argsort(value(points), kind="stable")[:_STARTS]]
        before = np.full(_STARTS, np.inf)
        for _ in range(_NEWTON):
            values = value(points)
            if values.min() < -_ZERO or np.abs(values - before).max() < _STILL:
                break
            before = values
            (slope, curved), (less, flat) = (_moments(points @ p.T + c, p) for p, c in sides)
            sizes, axes = np.linalg.eigh(curved - flat)
            along = np.einsum("kij,ki->kj", axes, less - slope) / np.maximum(np.abs(sizes), 1e-6)
            steps = np.einsum("kij,kj->ki", axes, along)
            steps /= np.maximum(1, np.linalg.norm(steps, axis=-1, keepdims=True))
            tried = np.clip(np.stack([points, points + steps, points + steps / 4]), -_FAR, _FAR)
            points = np.take_along_axis(tried, value(tried).argmin(axis=0)[None, :, None], 0)[0]
        found = [tuple(float(np.exp(x)) for x in logs) for logs in points]
        return sorted(zip(value(points).tolist(), found, strict=True), key=lambda pair: pair[0])

    def zero(self, near: tuple[float, ...]) -> tuple[Fraction, ...] | None:
        """Return the first zero among the roundings of a point by _ZERO_DENOMINATORS; None if no rounding is a zero."""
        for most in _ZERO_DENOMINATORS:
            point = tuple(Fraction(x).limit_denominator(most) for x in near)
            if not self.value_at(point):
                return point
        return None

    def zeros(self) -> list[tuple[Fraction, ...]] | None:
        """Return zeros that are found near minima; None if the claim is seen not to hold at a point."""
        minima = self.minima()
        if minima[0][0] < -_ZERO:
            return None
        near = (self.zero(point) for value, point in minima if value < _NEAR)
        zeros = list(dict.fromkeys(zero for zero in near if zero is not None))
        return None if any(map(self._excluded, zeros)) else zeros

    def _excluded(self, zero: tuple[Fraction, ...]) -> bool:
        """Whether the claim excludes that the polynomial is 0 at this point."""
        return self.strict and all(x or not positive for x, positive in zip(zero, self.positive, strict=True))

    def value_at(self, point: tuple[Fraction, ...]) -> Fraction:
        """Return the value at a point."""
        return sum((c * monomial(point, powers) for powers, c in self.terms.items()), Fraction(0))

    def _splits(self, point: Sequence[float | Fraction], *, exact: bool) -> "Iterator[_Split]":
        """Yield splits through a point; a split compares a variable with a number or a multiple of another variable."""
        mixed = [i for i in range(len(self.names)) if point[i] and any(c < 0 and p[i] for p, c in self.terms.items())]
        fixed = self._fixed()
        for i in mixed:
            if fixed[i]:
                yield self._split(i, None, _simple(point[i], exact=exact))
            for j in mixed:
                if j < i:
                    yield self._split(i, j, _simple(point[i] / point[j], exact=exact))

    def _fixed(self) -> list[bool]:
        """Return, for each variable, whether scalings that multiply all terms by one factor leave it unchanged."""
        import numpy as np

        powers = np.array(list(self.terms), dtype=float)
        _, sizes, ways = np.linalg.svd(powers - powers[0])
        alike = ways[np.count_nonzero(sizes > _ZERO) :]
        return [not alike.size or bool(np.abs(alike[:, i]).max() < _ZERO) for i in range(len(self.names))]

    def _split(self, i: int, j: int | None, cut: Fraction) -> "_Split":
        self.work.spend(2 * len(self.terms))
        zero = None if self.positive[i] else self.changed({p: c for p, c in self.terms.items() if not p[i]})
        below = self.changed(_on_side(self.terms, i, j, cut, below=True), i, positive=True)
        above = self.changed(_on_side(self.terms, i, j, cut, below=False), i, positive=False)
        below = below if j is None else below.changed(below.terms, j, positive=True)
        return _Split(self.names[i], cut, None if j is None else self.names[j], zero, below, above)

    def changed(self, terms: Mapping[Powers, int], i: int | None = None, *, positive: bool = False) -> "Orthant":
        """Return the orthant with new terms over their gcd; `positive` says whether variable i, if any, is > 0."""
        self.work.spend(len(terms))
        content = gcd(*terms.values()) or 1
        signs = tuple(positive if k == i else was for k, was in enumerate(self.positive))
        return replace(self, terms={p: c // content for p, c in terms.items()}, positive=signs)


@dataclass(frozen=True)
class _Split:
    """The goals in the cases of a split: a variable is below or above t, where t is `cut` or `cut` times `times`.

    `times` is another variable. `zero` is the goal for the variable equal to 0; None if the variable is > 0.
    """

    name: Name
    cut: Fraction
    times: Name | None
    zero: Orthant | None
    below: Orthant
    above: Orthant

    def badness(self) -> float:
        """Return the sum, over both sides, of the share of negative terms plus a thousandth of their number."""
        negative = ((sum(c < 0 for c in side.terms.values()), len(side.terms)) for side in (self.below, self.above))
        return sum(count / max(1, size) + count / 1000 for count, size in negative)

    def tree(self, depth: int) -> Proof | None:
        """Return the cases with their proofs; None if a case is not shown."""
        tree: Proof = {"slack": self.name, "at": str(self.cut), "times": self.times}
        for side, part in (("below", self.below), ("above", self.above)):
            tree[side] = part.tree(depth)
            if tree[side] is None:
                return None
        if self.zero is None:
            return tree
        nought = self.zero.tree(depth)
        return nought and {"slack": self.name, "at": "0", "times": None, "below": nought, "above": tree}


def _moments(exponents: "np.ndarray", powers: "np.ndarray") -> "tuple[np.ndarray, np.ndarray]":
    """Return the slope and the curvature of log Σ exp: mean and covariance of the powers."""
    import numpy as np

    shares = np.exp(exponents - exponents.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mean = shares @ powers
    return mean, np.einsum("kt,ti,tj->kij", shares, powers, powers) - mean[:, :, None] * mean[:, None, :]


def monomial(point: Sequence[Fraction], powers: Powers) -> Fraction:
    """Return the value of a product of powers of the variables at a point."""
    return prod((x**power for x, power in zip(point, powers, strict=True)), start=Fraction(1))


def _simple(value: float | Fraction, *, exact: bool) -> Fraction:
    """Return the number itself if it is exact, else a close rational with a small denominator; 1 if none is close."""
    if exact:
        return Fraction(value)
    top = Fraction(float(value))
    near = (top.limit_denominator(most) for most in _CUT_DENOMINATORS)
    return next((x for x in near if abs(x - top) < top / 8), Fraction(1))


def _product(left: Mapping[Powers, int], right: Mapping[Powers, int]) -> dict[Powers, int]:
    result: dict[Powers, int] = {}
    for mine, a in left.items():
        for other, b in right.items():
            powers = tuple(x + y for x, y in zip(mine, other, strict=True))
            result[powers] = result.get(powers, 0) + a * b
    return {powers: c for powers, c in result.items() if c}


def _on_side(terms: Mapping[Powers, int], i: int, j: int | None, cut: Fraction, *, below: bool) -> dict[Powers, int]:
    """Return a polynomial with the i-th variable replaced by t/(1 + s), if `below`, or by t + s.

    t is the cut, or the cut times the j-th variable. The result is multiplied by powers of 1 + s and of the cut's
    denominator, so that it is a polynomial with integer coefficients.
    """
    degree = max((powers[i] for powers in terms), default=0)
    result: dict[Powers, int] = {}
    for powers, c in terms.items():
        top = degree - powers[i] if below else powers[i]
        for more in range(top + 1):
            power = powers[i] if below else top - more
            place = _moved(powers, i, more, j, power)
            scaled = c * comb(top, more) * cut.numerator**power * cut.denominator ** (degree - power)
            result[place] = result.get(place, 0) + scaled
    return {powers: c for powers, c in result.items() if c}


def _moved(powers: Powers, i: int, power: int, j: int | None, more: int) -> Powers:
    """Return powers with the i-th replaced by `power`, and the j-th raised by `more`."""
    return tuple(power if k == i else p + more if k == j else p for k, p in enumerate(powers))
