"""Zeros of a nonnegative polynomial: if the polynomial is a sum of squares, each square vanishes at all zeros.

Zeros are sought in floats, as minima on spheres; the polynomial is divided by its largest coefficient. Coordinates need
not be rational: a polynomial with rational coefficients that vanishes at a zero vanishes at its conjugates. If the
conjugates are among the zeros that are found, the echelon form of the values of monomials is rational, and the floats
are rounded to it. A wrong zero may leave too few squares for a proof, but leads to no wrong proof.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from verify.provers.orthant_cases import Powers, monomial

_STARTS = 40
"""Number of points from which minima are sought."""
_CONSTRAINED = 12
"""Number of points from which minima are sought under equations as constraints."""
_FLAT = 1e-9
"""A value below this counts as 0 where equations hold, because the equations hold only up to rounding."""
_STEPS = 60
"""Maximum number of Newton steps from a point: near a zero each of the last steps doubles the number of digits."""
_STILL = 1e-16
"""The search ends when a step changes no value by more than this."""
_ZERO = 1e-11
"""A value below this counts as 0; the largest coefficient is 1."""
_NEGATIVE = 1e-7
"""A value below −1e-7 counts as negative."""
_SMALL = 1e-5
"""A zero's coordinate, or the value of a monomial or a weight at a zero, counts as 0 below this."""
_RANK = 1e-4
"""A singular value below this share of the largest singular value counts as 0."""
_MOST_DENOMINATOR = 64
"""Largest denominator of an entry of an echelon form."""
_NEAR = 1e-5
"""Largest distance of an entry x from the rational that it is rounded to, as a share of max(1, |x|)."""

Terms = Mapping[Powers, Fraction]


@dataclass(frozen=True)
class Zeros:
    """Zeros of a polynomial: exact ones, and rows of floats in homogeneous coordinates.

    Parameters
    ----------
    exact
        Exact zeros.
    rows
        Zeros in floats, shape (zeros, variables + 1); the last coordinate is the homogeneous one, 0 at infinity.
    degree
        Degree of the polynomial.
    """

    exact: Sequence[Sequence[Fraction]]
    rows: "np.ndarray" = field(default_factory=lambda: np.zeros((0, 1)))
    degree: int = 0

    def are_zeros_of(self, powers: Powers) -> bool:
        """Whether a monomial is 0 at all zeros."""
        if any(monomial(zero, powers) for zero in self.exact):
            return False
        return not len(self.rows) or bool(np.abs(self._values([powers], self.degree)).max() < _SMALL)

    def vanishing(self, weight: Terms, monomials: Sequence[Powers]) -> list[list[Fraction]]:
        """Return equations for coefficients of monomials: the combination is 0 at zeros where the weight is not 0."""
        rows = [[monomial(zero, z) for z in monomials] for zero in self.exact if value_of(weight, zero)]
        if not len(self.rows) or not monomials:
            return rows
        most = max(map(sum, weight))
        weights = self._values(list(weight), most) @ np.array([float(c) for c in weight.values()])
        values = self._values(monomials, (self.degree - most) / 2)[np.abs(weights) > _SMALL]
        return [*rows, *_echelon(values)]

    def _values(self, monomials: Sequence[Powers], degree: float) -> "np.ndarray":
        """Return the values of monomials, made homogeneous of a degree, at all zeros: shape (zeros, monomials)."""
        powers = np.array([[*z, degree - sum(z)] for z in monomials], dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.prod(np.where(powers[None] == 0, 1.0, self.rows[:, None, :] ** powers[None]), axis=-1)


def value_of(terms: Mapping[Powers, Fraction | int], point: Sequence[Fraction]) -> Fraction:
    """Return the value of a polynomial at a point."""
    return sum((c * monomial(point, powers) for powers, c in terms.items()), Fraction(0))


def _echelon(rows: "np.ndarray") -> list[list[Fraction]]:
    """Return the reduced echelon form of rows of floats, rounded; [] if an entry is not near a simple rational."""
    sizes = np.linalg.norm(rows, axis=1)
    rows = rows[sizes > _SMALL] / sizes[sizes > _SMALL, None]
    if not len(rows):
        return []
    _, singular, axes = np.linalg.svd(rows)
    basis = axes[: int(np.count_nonzero(singular > _RANK * max(1.0, singular[0])))]
    place = 0
    for k in range(len(basis)):
        while place < basis.shape[1] and np.abs(basis[k:, place]).max() < 10 * _SMALL:
            place += 1
        if place == basis.shape[1]:
            break
        pivot = k + int(np.abs(basis[k:, place]).argmax())
        basis[[k, pivot]] = basis[[pivot, k]]
        basis[k] /= basis[k, place]
        others = np.arange(len(basis)) != k
        basis[others] -= np.outer(basis[others, place], basis[k])
        place += 1
    rounded = [[Fraction(float(x)).limit_denominator(_MOST_DENOMINATOR) for x in row] for row in basis]
    near = all(
        abs(float(r) - x) < _NEAR * max(1.0, abs(x))
        for some, row in zip(rounded, basis, strict=True)
        for r, x in zip(some, row, strict=True)
    )
    return rounded if near else []


def zeros_of(terms: Terms, real: Sequence[bool]) -> Zeros | None:
    """Return zeros of a polynomial; None if a negative value is found. A variable is ≥ 0 unless it is `real`."""
    degree = max(map(sum, terms))
    powers = np.array([[*k, degree - sum(k)] for k in terms])
    squared = np.array([*(not each for each in real), True])
    coefficients = np.array([float(c) for c in terms.values()])
    relative = _Relative(powers * np.where(squared, 2, 1), coefficients / np.abs(coefficients).max(), _groups(powers))
    points = np.random.default_rng(0).normal(size=(_STARTS, len(squared)))
    signs = min(_STARTS, 2 ** min(len(real), 4))
    points[:signs] = np.sign(points[:signs])
    if not powers[:, -1].any():
        points[:, -1] = 0
    points, values = relative.minima(points)
    if values.min() < -_NEGATIVE:
        return None
    rows = points[values < _ZERO]
    rows[np.abs(rows) < np.where(squared, _SMALL**0.5, _SMALL)] = 0
    rows[:, squared] **= 2
    if not powers[:, -1].any():
        rows[:, -1] = 1
    return Zeros([], rows, degree)


def zeros_on(terms: Terms, equations: Sequence[Terms], weights: Sequence[Terms], real: Sequence[bool]) -> Zeros | None:
    """Return zeros of a polynomial where equations hold and weights are ≥ 0; None if a negative value is found there.

    A variable is ≥ 0 unless it is `real`.
    """
    from scipy.optimize import minimize

    def constrained(polynomial: Terms) -> dict[str, Any]:
        powers = np.array(list(polynomial), dtype=float)
        coefficients = np.array([float(c) for c in polynomial.values()])
        coefficients /= np.abs(coefficients).max()

        def value(point: "np.ndarray") -> float:
            return float(np.prod(point**powers, axis=1) @ coefficients)

        return {"type": "eq", "fun": value}

    least = constrained(terms)["fun"]
    limits = [constrained(each) for each in equations] + [{**constrained(each), "type": "ineq"} for each in weights]
    found: list[np.ndarray] = []
    bounds = [(None, None) if each else (0, None) for each in real]
    ways: dict[str, Any] = {"method": "SLSQP", "bounds": bounds, "constraints": limits, "options": {"ftol": 1e-15}}
    for start in np.random.default_rng(0).normal(size=(_CONSTRAINED, len(real))):
        with np.errstate(all="ignore"):
            end = minimize(least, start, **ways)
            held = [each["fun"](end.x) for each in limits]
        exact, above = held[: len(equations)], held[len(equations) :]
        if end.success and max(map(abs, exact)) < _ZERO and min(above, default=0) >= -_ZERO:
            found.append(end.x)
    values = np.array([least(point) for point in found])
    if len(values) and values.min() < -_NEGATIVE:
        return None
    rows = np.array([[*point, 1.0] for point, value in zip(found, values, strict=True) if value < _FLAT])
    return Zeros([], rows.reshape(-1, len(real) + 1), max(map(sum, terms)))


def _groups(powers: "np.ndarray") -> list[list[int]]:
    """Return the smallest disjoint groups of variables in each of which the polynomial is homogeneous."""
    left, groups = [i for i in range(powers.shape[1]) if powers[:, i].any()], list[list[int]]()
    for size in range(1, len(left) + 1):
        for group in combinations(left, size):
            degrees = powers[:, group].sum(axis=1)
            if set(group) <= set(left) and degrees.min() == degrees.max():
                groups.append(list(group))
                left = [i for i in left if i not in group]
    return groups


class _Relative:
    """A polynomial on the product of the spheres of some groups of variables."""

    def __init__(self, powers: "np.ndarray", coefficients: "np.ndarray", groups: Sequence[Sequence[int]]) -> None:
        self.groups, self.most = groups, int(powers.max())
        self.value = powers, coefficients
        places = range(powers.shape[1])
        self.first = [_derived(powers, coefficients, i) for i in places]
        self.second = {(i, k): _derived(*self.first[i], k) for i in places for k in places if k <= i}

    def _at(self, table: "np.ndarray", part: "tuple[np.ndarray, np.ndarray]") -> "np.ndarray":
        """Return the values of a polynomial at points; `table` has the powers of their coordinates."""
        powers, coefficients = part
        used = coefficients != 0
        product = np.ones((table.shape[0], int(used.sum())))
        for i in range(powers.shape[1]):
            product *= table[:, i, powers[used, i]]
        return product @ coefficients[used]

    def _table(self, points: "np.ndarray") -> "np.ndarray":
        return points[:, :, None] ** np.arange(self.most + 1)

    def _scaled(self, points: "np.ndarray") -> "np.ndarray":
        points = points.copy()
        for group in self.groups:
            points[:, group] /= np.maximum(np.linalg.norm(points[:, group], axis=1, keepdims=True), 1e-30)
        return points

    def minima(self, points: "np.ndarray") -> "tuple[np.ndarray, np.ndarray]":
        """Return local minima, reached from the points by Newton steps that lower the value, and the values there."""
        points = self._scaled(points)
        values = self._at(self._table(points), self.value)
        for _ in range(_STEPS):
            steps = self._steps(points)
            before = values
            for share in (1.0, 0.25, 0.05, 0.005):
                tried = self._scaled(points + share * steps)
                after = self._at(self._table(tried), self.value)
                better = (after < values) & (values == before)
                points, values = np.where(better[:, None], tried, points), np.where(better, after, values)
            if values.min() < -_NEGATIVE or (before - values).max() < _STILL:
                break
        return points, values

    def _steps(self, points: "np.ndarray") -> "np.ndarray":
        """Return Newton steps along the spheres, of length at most 1/2, that descend along concave directions too."""
        table, count = self._table(points), points.shape[1]
        across = np.tile(np.eye(count), (len(points), 1, 1))
        for group in self.groups:
            part = np.zeros_like(points)
            part[:, group] = points[:, group]
            across -= part[:, :, None] * part[:, None, :]
        slope = np.stack([self._at(table, part) for part in self.first], axis=1)
        curve = np.zeros_like(across)
        for (i, k), part in self.second.items():
            curve[:, i, k] = curve[:, k, i] = self._at(table, part)
        sizes, axes = np.linalg.eigh(across @ curve @ across)
        along = np.einsum("pij,pi->pj", axes, np.einsum("pij,pj->pi", across, slope))
        steps = -np.einsum("pij,pj->pi", axes, along / np.maximum(np.abs(sizes), 1e-9))
        return steps * np.minimum(1.0, 0.5 / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-30))


def _derived(powers: "np.ndarray", coefficients: "np.ndarray", i: int) -> "tuple[np.ndarray, np.ndarray]":
    lower = powers.copy()
    lower[:, i] = np.maximum(lower[:, i] - 1, 0)
    return lower, coefficients * powers[:, i]
