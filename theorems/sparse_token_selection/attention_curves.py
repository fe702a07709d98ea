r"""P, R and their slopes in C as functions on [0, reach], for three selected tokens, by interpolation on cells.

For |Im C| ≤ θ/Y, 2Y the most by which logits over C of a sample that is kept differ, an exponential e^{C(y − ȳ)} is
within an angle θ of the positive axis: |N(C)| ≥ cos θ N(Re C), so that

    |P(C)| ≤ P(Re C)/cos θ,    |R(C)| ≤ R(Re C)/cos² θ.

A function that is at most M in size in the ellipse with foci c ± ℓ and half axes ℓ(ρ ± 1/ρ)/2 has Chebyshev
coefficients of at most 2M ρ^{−k}. At n + 1 Chebyshev nodes T_k is aliased, for k > n, to one of lower degree at most:
the interpolant is off by at most 4M Σ_{k>n} ρ^{−k}, its slopes by the same with the largest slopes of T_k, k² and k²(k²
− 1)/3, over ℓ and ℓ². Errors δ of the values change its coefficients by at most 2δ.

The samples that are left out add positive parts: as p' = p x and p'' = p (x² − Var), these have slopes of at most Y'
and Y'² times their size in P, and 2Y' and 6Y'² in R, Y' the largest difference of logits over C.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.chebyshev import chebpts1

from theorems.sparse_token_selection.three_selected import Floats, Sizes, left_out, means, parts

ANGLE, DEGREE, POINTS = 1.3, 20, 100
HALF = (2.0, 1.7)
"""At most half the length of a cell, times the most by which logits differ, without and with the query's token."""
_NEAR = 2.8
"""An ellipse whose half axis across is so many half lengths of the cell ends within the neighbours."""
_SLOPES = (lambda k: k**0, lambda k: k**2, lambda k: k**2 * (k**2 - 1) / 3)
"""The largest values of a Chebyshev polynomial of degree k and of its slopes."""


@dataclass(frozen=True)
class Range:
    """Intervals, one an entry; roundings are far below the errors of what is enclosed."""

    low: Floats
    high: Floats

    @classmethod
    def around(cls, middle: Floats, radius: "Floats | float") -> "Range":
        """Return the intervals with these midpoints and radii."""
        return cls(middle - radius, middle + radius)

    def __add__(self, other: "Range") -> "Range":
        """Return the sums."""
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Range") -> "Range":
        """Return the differences."""
        return Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: "Range") -> "Range":
        """Return the products."""
        ends = [x * y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Range(np.minimum.reduce(ends), np.maximum.reduce(ends))

    def __truediv__(self, other: "Range") -> "Range":
        """Return the quotients by positive intervals."""
        return self * Range(1 / other.high, 1 / other.low)

    def times(self, factor: float) -> "Range":
        """Return the intervals times a positive number."""
        return Range(self.low * factor, self.high * factor)

    @property
    def size(self) -> Floats:
        """The largest absolute values."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def least(self) -> Floats:
        """The least absolute values."""
        return np.maximum(0.0, np.maximum(self.low, -self.high))


class Slopes(NamedTuple):
    """P and R with two slopes each, on intervals of C or at their middles."""

    P: tuple[Range, Range, Range]
    R: tuple[Range, Range, Range]

    @property
    def gain(self) -> Range:
        """G = P²/(3R)."""
        return self.P[0] * self.P[0] / self.R[0].times(3)

    @property
    def logarithmic(self) -> tuple[Range, Range]:
        """P'/P and R'/R."""
        return self.P[1] / self.P[0], self.R[1] / self.R[0]

    @property
    def slope(self) -> Range:
        """(log G)' = 2P'/P − R'/R."""
        of_P, of_R = self.logarithmic
        return of_P.times(2) - of_R

    @property
    def bend(self) -> Range:
        """(log G)''."""
        of_P, of_R = self.logarithmic
        return (self.P[2] / self.P[0] - of_P * of_P).times(2) - (self.R[2] / self.R[0] - of_R * of_R)


class Curves(NamedTuple):
    """P and R with their slopes on successive intervals of C, from `start` to `stop`, and at their middles."""

    start: Floats
    stop: Floats
    everywhere: Slopes
    middle: Slopes

    @property
    def gain(self) -> Range:
        """G on the intervals, by its slope from the middles on."""
        there = self.everywhere
        return self._from_middle(self.middle.gain, there.gain * there.slope)

    @property
    def slope(self) -> Range:
        """(log G)', by its own slope from the middles on."""
        return self._from_middle(self.middle.slope, self.everywhere.bend)

    def only(self, chosen: "np.ndarray[Any, np.dtype[np.bool_]]") -> "Curves":
        """Return the curves on some of the intervals."""
        parts_of = [
            _slopes(*([Range(x.low[chosen], x.high[chosen]) for x in each] for each in (place.P, place.R)))
            for place in (self.everywhere, self.middle)
        ]
        return Curves(self.start[chosen], self.stop[chosen], *parts_of)

    def _from_middle(self, value: Range, slope: Range) -> Range:
        radius = (self.stop - self.start) / 2 * slope.size
        return Range(value.low - radius, value.high + radius)


@dataclass(frozen=True)
class Cell:
    """P and R at the Chebyshev nodes of [middle − half, middle + half] as polynomials, and errors of the values."""

    middle: float
    half: float
    polynomials: tuple[Chebyshev, Chebyshev]
    errors: tuple[float, float]
    left_out: tuple[float, float]

    @property
    def degree(self) -> int:
        """The degree of the polynomials."""
        return len(self.polynomials[0].coef) - 1


def _cell(sizes: Sizes, middle: float, half: float, degree: int) -> Cell:
    nodes = middle + half * chebpts1(degree + 1)
    found = [means(sizes, float(C)) for C in nodes]
    values = [np.array(each) for each in zip(*((each.P, each.R) for each in found), strict=True)]
    error = max(each.error for each in found)
    fits = [Chebyshev.fit(nodes, each, degree, domain=[middle - half, middle + half]) for each in values]
    errors = [error * float(each.max()) for each in values]
    return Cell(middle, half, (fits[0], fits[1]), (errors[0], errors[1]), left_out(sizes, middle - half))


@dataclass(frozen=True)
class Strip:
    """A strip around the real axis: the most by which two logits over C differ in a kept sample."""

    width: float

    @classmethod
    def of(cls, sizes: Sizes) -> "Strip":
        """Return it for these sizes."""
        _, D, query = sizes
        m = parts(D)[0][-1].m
        return cls(((9 * m + D - m if query else D + 2 * m) + D + 2 * m) / D)

    def ratio(self, half: float) -> float:
        """Return the half axis of the ellipse across the cell over half of the cell's length."""
        return 2 * ANGLE / self.width / half


def _offs(sizes: Sizes, cell: Cell, largest: tuple[float, float]) -> list[list[float]]:
    """Return by how much P, R and their slopes are off, from bounds of both at the real parts of the ellipse."""
    across = Strip.of(sizes).ratio(cell.half)
    rho, n = across + math.hypot(1, across), cell.degree
    k, j = np.arange(n + 1, n + 400).astype(float), np.arange(n + 1).astype(float)
    found: list[list[float]] = []
    for power, most, error, missed in zip((1, 2), largest, cell.errors, cell.left_out, strict=True):
        size = 4 * most / math.cos(ANGLE) ** power
        left = (1.0, power * sizes.spread, (1 if power == 1 else 6) * sizes.spread**2)
        found.append(
            [
                (size * float((_SLOPES[i](k) * rho**-k).sum()) + 2 * error * float(_SLOPES[i](j).sum())) / cell.half**i
                + left[i] * missed
                for i in range(3)
            ]
        )
    return found


def _ranges(cell: Cell, offs: list[list[float]], points: int) -> Curves:
    """Return the curves on so many parts of a cell."""
    ends = np.linspace(cell.middle - cell.half, cell.middle + cell.half, points + 1)
    middle, wide = (ends[:-1] + ends[1:]) / 2, cell.half / points
    k = np.arange(cell.degree + 1).astype(float)
    both: list[tuple[list[Range], list[Range]]] = []
    for fit, off in zip(cell.polynomials, offs, strict=True):
        slopes = [fit, *(fit.deriv(i) for i in (1, 2, 3))]
        # No fourth slope of a Chebyshev polynomial is above k^8/105.
        fourth = float((np.abs(fit.coef) * k**8).sum()) / 105 / cell.half**4
        size: Floats = np.abs(slopes[3](middle)) + wide * fourth
        there, at = list[Range](), list[Range]()
        for slope, extra in zip(reversed(slopes[:3]), reversed(off), strict=True):
            at.insert(0, Range.around(slope(middle), extra))
            there.insert(0, Range.around(slope(middle), wide * size + extra))
            size = there[0].size
        both.append((there, at))
    (P, P_at), (R, R_at) = both
    return Curves(ends[:-1], ends[1:], _slopes(P, R), _slopes(P_at, R_at))


def _slopes(P: list[Range], R: list[Range]) -> Slopes:
    return Slopes((P[0], P[1], P[2]), (R[0], R[1], R[2]))


def _growth(sizes: Sizes, cell: Cell) -> tuple[float, float]:
    """Return bounds of P and R beside a cell, as far as its ellipse goes, from its middle: p' is at most width p."""
    far = cell.half * math.hypot(1, (strip := Strip.of(sizes)).ratio(cell.half))
    P, R = (
        min(1.0, (float(fit(cell.middle)) + 10 * error) * math.exp(power * strip.width * far))
        for power, fit, error in zip((1, 2), cell.polynomials, cell.errors, strict=True)
    )
    return P, R


@lru_cache(maxsize=8)
def curves(sizes: Sizes, reach: float) -> Curves:
    """Return P and R with their slopes on [0, reach]."""
    count = math.ceil(reach * Strip.of(sizes).width / (2 * HALF[sizes.query]))
    half = reach / count / 2
    cells = [_cell(sizes, half * (2 * i + 1), half, DEGREE) for i in range(count)]
    # First bounds of P and R come from a cell's middle, better ones from the neighbours'.
    rough = [_growth(sizes, cell) for cell in cells]
    first = [_ranges(cell, _offs(sizes, cell, most), POINTS) for cell, most in zip(cells, rough, strict=True)]
    above = [(float(each.everywhere.P[0].high.max()), float(each.everywhere.R[0].high.max())) for each in first]
    found: list[Curves] = []
    for i, cell in enumerate(cells):
        near = above[max(i - 1, 0) : i + 2]
        inner = len(near) == 3 and Strip.of(sizes).ratio(half) <= _NEAR
        most = (max(P for P, _ in near), max(R for _, R in near)) if inner else rough[i]
        found.append(_ranges(cell, _offs(sizes, cell, most), POINTS))
    return joined(found)


def joined(curves_of: list[Curves]) -> Curves:
    """Return curves on successive intervals as one."""

    def together(place: str) -> Slopes:
        rows = [getattr(each, place) for each in curves_of]
        return _slopes(*([_end_to_end([row[which][i] for row in rows]) for i in range(3)] for which in (0, 1)))

    start, stop = (np.concatenate([getattr(each, name) for each in curves_of]) for name in ("start", "stop"))
    return Curves(start, stop, together("everywhere"), together("middle"))


def _end_to_end(ranges: list[Range]) -> Range:
    return Range(np.concatenate([x.low for x in ranges]), np.concatenate([x.high for x in ranges]))


@lru_cache(maxsize=64)
def close(sizes: Sizes, start: float, stop: float) -> Curves:
    """Return P and R with their slopes on a short interval."""
    cell = _cell(sizes, (start + stop) / 2, (stop - start) / 2, DEGREE)
    return _ranges(cell, _offs(sizes, cell, _growth(sizes, cell)), POINTS)
