r"""P and R of attention by sign encodings as functions of C, with two derivatives each, enclosed over intervals.

*Strips.* Given the numbers k of coordinates with each |s| (`means_by_counts`), the attended tokens' logits over C are
between −λ and |u|² (between −λ and λ without the query's token). Let ρ be half of the length of this range. For
z = x + iτ, |τ|ρ < π/2, the arguments of the terms e^{z v} of N are within |τ|ρ of one angle, so that
|N(z)| ≥ cos(τρ) N(x): on the strip

    |p_i(z)| ≤ p_i(x)/cos(τρ),    p_i(x') ≤ p_i(x) e^{2ρ|x' − x|},

the latter because p_i' = p_i (v_i − v̄). So Cauchy's bounds over circles of radius τ = θ/ρ, 0 < θ < π/2, are

    |P_k⁽ᵐ⁾(x)|/m! ≤ P_k(x) (ρ/θ)^m e^{2θ}/cos θ,    |R_k⁽ᵐ⁾(x)|/m! ≤ R_k(x) (ρ/θ)^m e^{4θ}/cos² θ.

*Interpolation.* On an interval of length h let p be the polynomial of degree n − 1 through a function's values f at the
n zeros of ω = 2 (h/4)^n T_n. With B_m a bound of |f⁽ᵐ⁾|/m!, and as (f − p)(x) = f[…, x] ω(x) with divided differences,

    |f − p| ≤ B_n W,    |f' − p'| ≤ B_{n+1} W + B_n W',    |f'' − p''| ≤ 2B_{n+2} W + 2B_{n+1} W' + B_n W'',

where W = 2 (h/4)^n, W' = (2/h) n² W and W'' = (2/h)² n²(n²−1)/3 W bound ω and its derivatives. Errors of at most ε in
the values change p by at most (1 + log n) ε, and its derivatives by at most Markov's factors W'/W and W''/W times that.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise

import flint
from flint import arb, arb_poly, fmpq, fmpz_poly

from theorems.sparse_token_selection.means_by_counts import BITS, MeansByCounts
from theorems.sparse_token_selection.sign_attention import outer
from verify.budget import look_at_the_clock
from verify.errors import UndecidedError

_ANGLE = fmpq(4, 3)
_LENGTH, _NODES = fmpq(1, 2), 20
_ORDERS, _SMALL = (6, 8, 10, 12, 14, 16, 18, 20), arb(2) ** -34
_NARROWEST, _NEGLIGIBLE = fmpq(1, 2**14), arb(2) ** -30
_POLYNOMIAL_BITS = 384


@dataclass(frozen=True)
class Jet:
    """P and R with two derivatives in C, in balls over an interval."""

    P: arb
    P1: arb
    P2: arb
    R: arb
    R1: arb
    R2: arb


@dataclass(frozen=True)
class _Curve:
    """A function on a cell: a polynomial in C less the cell's middle, with error bounds for it and two derivatives."""

    polynomial: arb_poly
    off: tuple[arb, arb, arb]

    def over(self, start: arb, half: arb) -> tuple[arb, arb, arb]:
        """Return the function and two derivatives over an interval; `start` is its middle less the cell's middle."""
        moved, x = self.polynomial(arb_poly([start, 1])), arb(0, half.upper())
        found = []
        for off in self.off:
            found.append(moved(x) + arb(0, off.upper()))
            moved = moved.derivative()
        return found[0], found[1], found[2]


@dataclass
class ShareCurves:
    """P and R of a model as functions of C; cells are computed on demand."""

    model: MeansByCounts
    _cells: dict[int, tuple[_Curve, _Curve]] = field(default_factory=dict)

    def over(self, low: fmpq, high: fmpq) -> Jet:
        """Return P, R and their derivatives over [low, high], 0 ≤ low ≤ high, inside one cell of length 1/2."""
        number = _number(low) if low < high or low == 0 else int((low / _LENGTH).ceil()) - 1
        middle = (number + fmpq(1, 2)) * _LENGTH
        assert abs(low - middle) <= _LENGTH / 2 and abs(high - middle) <= _LENGTH / 2
        with flint.ctx.workprec(_POLYNOMIAL_BITS):
            at, half = arb((low + high) / 2 - middle), arb((high - low) / 2)
            curves = self._cell(number)
            return Jet(*curves[0].over(at, half), *curves[1].over(at, half))

    def largest(self, part: Callable[[Jet], arb], low: fmpq, high: fmpq, accuracy: fmpq) -> tuple[Fraction, Fraction]:
        """Return bounds of the largest value of a function of P, R and their derivatives over [low, high].

        The relative width is at most `accuracy`, or the width at most 2⁻³⁰, if the balls allow it. Raises
        UndecidedError if they are infinite.
        """
        pieces: list[tuple[Fraction, fmpq, fmpq, arb]] = []
        best = arb("-inf")

        def add(first: fmpq, last: fmpq) -> None:
            nonlocal best
            look_at_the_clock()
            upper = part(self.over(first, last))
            inside = part(self.over((first + last) / 2, (first + last) / 2)).lower()
            if not (upper.is_finite() and inside.is_finite()):
                if last - first <= _NARROWEST:
                    raise UndecidedError("P and R are not enclosed closely enough")
                middle = (first + last) / 2
                add(first, middle)
                add(middle, last)
                return
            best = best.max(inside)
            heappush(pieces, (-outer(upper, upper)[1], first, last, upper.upper()))

        edges = [low, min(high, (_number(low) + 1) * _LENGTH)]
        while edges[-1] < high:
            edges.append(min(high, edges[-1] + _LENGTH))
        for first, last in pairwise(edges):
            add(first, last)
        while True:
            _, first, last, upper = heappop(pieces)
            if upper - best <= abs(upper) * accuracy or upper - best <= _NEGLIGIBLE:
                return outer(best, upper)
            if last - first <= _NARROWEST:
                return outer(best, upper)
            add(first, (first + last) / 2)
            add((first + last) / 2, last)

    def _cell(self, number: int) -> tuple[_Curve, _Curve]:
        if number not in self._cells:
            self._cells[number] = self._made(number)
        return self._cells[number]

    def _made(self, number: int) -> tuple[_Curve, _Curve]:
        n, h, model = _NODES, arb(_LENGTH), self.model
        middle = arb((number + fmpq(1, 2)) * _LENGTH)
        angles = [arb(fmpq(2 * k + 1, 2 * n)).cos_pi() for k in range(n)]
        with flint.ctx.workprec(BITS):
            orders = next((orders for orders in _ORDERS if _narrow(model.at(middle, orders))), _ORDERS[-1])
            parts = [model.at(middle + h / 2 * u, orders) for u in angles]
        theta = arb(_ANGLE)
        ranges = [arb((count.size + (count.square if model.query else count.size)) / 2) for count in model.counts]
        most = arb((model.q + (model.q**2 if model.query else model.q)) * fmpq(1, 2))
        # `gap` is the largest distance from a point of the cell to the nearest node.
        gap = h / 4 * _most([2 * (1 - angles[0]), *(one - other for one, other in pairwise(angles))])
        W = 2 * (h / 4) ** n
        slopes = arb(1), 2 / h * n**2, (2 / h) ** 2 * n**2 * (n**2 - 1) / 3
        curves = []
        for j, constant in ((0, (2 * theta).exp() / theta.cos()), (1, (4 * theta).exp() / theta.cos() ** 2)):
            values = [sum((part[j] for part in each), arb(0)) for each in parts]
            # These bound |f⁽ᵐ⁾|/m! on the cell, by the values at the nearest node.
            bounds = []
            for m in (n, n + 1, n + 2):
                factors = [(rho / theta) ** m * (2 * (j + 1) * rho * gap).exp() for rho in ranges]
                sums = [sum((x[j] * f for x, f in zip(each, factors, strict=True)), arb(0)).upper() for each in parts]
                bounds.append(constant * _most(sums))
            off = (
                bounds[0] * W,
                bounds[1] * W + bounds[0] * W * slopes[1],
                2 * bounds[2] * W + 2 * bounds[1] * W * slopes[1] + bounds[0] * W * slopes[2],
            )
            wide = (1 + arb(n).log()) * _most([value.rad() for value in values])
            # These bound the derivatives of the left-out part, by the same strips.
            rest = [arb(model.left_out) * constant * math.factorial(m) * (most / theta) ** m for m in range(3)]
            errors = tuple(x + wide * y + z for x, y, z in zip(off, slopes, rest, strict=True))
            curves.append(_Curve(_interpolated([value.mid() for value in values], angles, h), errors))
        return curves[0], curves[1]


def _number(low: fmpq) -> int:
    """Return the number of the cell that contains C = `low`; a cell contains its lower end, and not its upper end."""
    return int((low / _LENGTH).floor())


def _narrow(parts: list[tuple[arb, arb]]) -> bool:
    totals = [sum((part[j] for part in parts), arb(0)) for j in (0, 1)]
    return all(bool(total.rad() < _SMALL * abs(total)) for total in totals)


def _most(values: list[arb]) -> arb:
    """Return a bound of all values."""
    most = values[0].upper()
    for value in values[1:]:
        most = most.max(value.upper())
    return most


def _interpolated(values: list[arb], angles: list[arb], h: arb) -> arb_poly:
    """Return the polynomial through values at h/2 times the zeros of T_n, cos of odd multiples of π/(2n)."""
    n, found = len(values), arb_poly([0])
    for j in range(n):
        cosines = [arb(fmpq(j * (2 * k + 1), 2 * n)).cos_pi() for k in range(n)]
        coefficient = sum((x * y for x, y in zip(values, cosines, strict=True)), arb(0)) * (2 if j else 1) / n
        found += coefficient * arb_poly(fmpz_poly.chebyshev_t(j))
    return found(arb_poly([0, 2 / h]))


@lru_cache(maxsize=16)
def share_curves(T: int, q: int, D: int, query: bool) -> ShareCurves:
    """Return P and R as functions of C for a model's sizes."""
    return ShareCurves(MeansByCounts(T, q, D, query))
