r"""Critical points of Theorem 3's loss up to the order of the steps: one for each tuple of multiplicities.

f(a) = ∫ p² dμ with p(s) = ∏_l (1 − a_l s) has the slope −2 ∫ s p²/(1 − a_l s) dμ in a_l. At a critical point of f let
b_1 < … < b_m be the values of the a_l, with multiplicities ν_1 … ν_m that add up to L. Then b is a critical point of

    f_ν(b) = ∫ ∏_j (1 − b_j s)^{2 ν_j} dμ,

and each critical point of f_ν is one of f. For each ν there is at least one with b_1 < … < b_m (Ghizzetti and Ossicini,
Quadrature Formulae, on power-orthogonal polynomials), so that f has at least 2^{L−1} up to the order of the steps. Here
one for each ν is found by a damped Newton's method, which starts at means of groups of the minimiser's steps.
Krawczyk's test certifies the point, and a check shows that b_1 < … < b_m. Only the point with m = L is a local minimum
(`multiples_of_the_inverse`). There are no other critical points for L ≤ 2, nor for L = 3 if a polynomial in b has only
two real roots:

- m = 1: the slope ∫ s (1 − b s)^{2L−1} dμ falls with b.
- m = L: the orthogonality of p to s … s^L is a regular linear system for the coefficients of p.
- L = 3, a value b twice and a value c ≠ b once. With w = s (1 − b s)³ and A_i = ∫ s^i w dμ the slopes are combinations
  of A_0 − c A_1 and A_1 − c A_2. Both of these vanish, so that A_0 A_2 = A_1², a polynomial equation in b.
  A_0 − b A_1 = ∫ s (1 − b s)⁴ dμ > 0, so that A_0 and A_1 are not both 0. If A_2 = 0, then A_1 = 0 and A_0 ≠ 0, and
  there is no c; otherwise c = A_1/A_2. So each root b has at most one c. The certified points with c > b and with c < b
  have different b: if A_0 A_2 − A_1² has only two real roots, there are no other points.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import flint

import verify
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.preconditioned_descent.stationary_square.critical_points import CriticalPoint, certify
from theorems.preconditioned_descent.stationary_square.second_derivatives import Values
from theorems.wishart.trace_moments import trace_moments
from verify import Enclosure, InputError
from verify.errors import UndecidedError
from verify.evaluation.admissible_ranges import real_roots
from verify.evaluation.arithmetic import Ball, balls
from verify.outcomes import DIGITS, as_float

MOST_LAYERS = 10
"""Maximum number of layers; the number of points doubles with each layer."""
_MOST_STEPS, _LEAST_DAMPING, _NEAR = 1000, 1e-3, 1e-9


@dataclass(frozen=True)
class CriticalSteps:
    """Values b_1 < … < b_m, multiplicities among the L steps, the loss, and whether the steps are a local minimum."""

    steps: tuple[Enclosure, ...]
    multiplicities: tuple[int, ...]
    loss: Enclosure
    local_minimum: bool


class AllCriticalSteps(NamedTuple):
    """Critical points, lowest loss first, and whether they are shown to be all, up to the order of the steps."""

    points: list[CriticalSteps]
    complete: bool


def critical_points(L: int, d: int, n: int, *, digits: int = DIGITS) -> AllCriticalSteps:
    """Return Theorem 3's critical points at L layers, dimension d and n examples, 2^{L−1} of them, each certified.

    Raises InputError for L above MOST_LAYERS and for sizes that Theorem 3 refuses, and UndecidedError if a point is not
    certified.
    """
    if isinstance(L, int) and L > MOST_LAYERS:
        raise InputError("L", L, f"must be <= {MOST_LAYERS}: there are 2^(L-1) points")
    least = [as_float(a) for a in verify.check(theorem3, L=L, d=d, n=n).values["a"]]
    moments = [flint.fmpq(m.numerator, m.denominator) for m in trace_moments(2 * L, n, d)]
    points = [_certified(multiplicities, least, moments, digits) for multiplicities in compositions(L)]
    points.sort(key=lambda point: Fraction(point.loss.lower or 0))
    complete = L < 3 or (L == 3 and len(_others(moments)) == 2)
    return AllCriticalSteps(points, complete)


def compositions(total: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write an integer >= 1 as an ordered sum of positive ones."""
    yield (total,)
    for first in range(1, total):
        for rest in compositions(total - first):
            yield (first, *rest)


@dataclass(frozen=True)
class _Grouped:
    """f_ν, with the derivatives for Krawczyk's test."""

    multiplicities: tuple[int, ...]

    def in_balls(self, arithmetic: Ball, point: Sequence[Any], moments: Sequence[Any]) -> Values:
        """Return f_ν with its first and second derivatives at a point."""
        powers = self.multiplicities
        base = [flint.arb_poly([1, -b]) for b in point]
        common = flint.arb_poly([1])
        for factor, power in zip(base, powers, strict=True):
            common *= factor ** (2 * power - 2)

        def integral(order: int, left: dict[int, int]) -> Any:
            product = common
            for j, factor in enumerate(base):
                product *= factor ** (2 - left.get(j, 0))
            return sum((c * moments[i + order] for i, c in enumerate(product.coeffs())), flint.arb(0))

        gradient = [-2 * power * integral(1, {j: 1}) for j, power in enumerate(powers)]
        second = [[flint.arb(0)] * len(base) for _ in base]
        for j, power in enumerate(powers):
            second[j][j] = 2 * power * (2 * power - 1) * integral(2, {j: 2})
            for k in range(j):
                second[j][k] = second[k][j] = 4 * power * powers[k] * integral(2, {j: 1, k: 1})
        return Values(integral(0, {}), gradient, flint.arb_mat(second))


def _certified(
    multiplicities: tuple[int, ...], least: Sequence[float], moments: Sequence[Any], digits: int
) -> CriticalSteps:
    problem, last = _Grouped(multiplicities), 0
    start = []
    for power in multiplicities:
        group, last = least[last : last + power], last + power
        start.append(power / sum(1 / a for a in group))
    with balls(64 + 32 * sum(multiplicities)) as arithmetic:
        near = _descended(problem, arithmetic, start, [flint.arb(m) for m in moments])
    # There is no deadline, because the precision of the test is bounded.
    point = certify(problem, moments, near, digits, math.inf)
    if point is None or not _ascending(point):
        raise UndecidedError(f"no critical point of multiplicities {multiplicities} is certified")
    simple = len(multiplicities) == len(least)
    return CriticalSteps(tuple(point.coordinates()), multiplicities, point.loss, simple)


def _ascending(point: CriticalPoint) -> bool:
    return all(y - x > 2 * point.radius for x, y in pairwise(point.centre))


def _descended(problem: _Grouped, arithmetic: Ball, start: Sequence[float], moments: Sequence[Any]) -> list[Fraction]:
    """Return the last point of a Levenberg–Marquardt iteration; each step lowers f_ν and keeps the values ascending."""
    point, damping = [arithmetic.number(Fraction(x)) for x in start], 0.0
    here = problem.in_balls(arithmetic, point, moments)
    for _ in range(_MOST_STEPS):
        second, slopes = here.second.mid(), flint.arb_mat([[slope.mid()] for slope in here.gradient])
        for i in range(len(point)):
            second[i, i] *= 1 + damping
        step = second.solve(slopes)
        moved = [(x - step[i, 0]).mid() for i, x in enumerate(point)]
        there = problem.in_balls(arithmetic, moved, moments)
        if all(x < y for x, y in pairwise(moved)) and there.value.mid() < here.value.mid():
            size = max(float((abs(x - y) / abs(y)).mid()) for x, y in zip(moved, point, strict=True))
            point, here, damping = moved, there, damping / 8 if damping > _LEAST_DAMPING else 0.0
            if size < _NEAR:
                break
        else:
            damping = max(8 * damping, _LEAST_DAMPING)
    return [Fraction(x.mid().str(40, radius=False)) for x in point]


def _others(moments: Sequence[Any]) -> list[Any]:
    """Return the real roots b of A_0 A_2 − A_1², each once."""
    b = flint.fmpq_poly([0, 1])
    expanded = flint.fmpq_poly([1, -1]) ** 3
    A = [
        sum((c * moments[i + j + 1] * b**i for i, c in enumerate(expanded.coeffs())), flint.fmpq_poly([0]))
        for j in range(3)
    ]
    return list(real_roots(A[0] * A[2] - A[1] * A[1]))
