"""All real critical points of a polynomial in up to three unknowns, by elimination: a proof that none is missing.

In one unknown these are the real roots of the slope. In three unknowns the loss has to be quadratic in one of them, x:
its slope in x is D x − N with polynomials D and N in the other two, u and v. At a critical point either D = N = 0, or
x = N/D, which is substituted in the other two slopes. In both cases two polynomials in u and v vanish; with two
unknowns, these are the slopes. So irreducible factors A of one polynomial and B of the other vanish, and with them the
resultants of A and B in u and in v. The real roots of the resultants are isolated, and the pairs of roots at which A or
B is not 0 are excluded in balls. For D = N = 0 no pair may be left. Otherwise each pair that is left has to be, with
its x, in a box that is certified to contain exactly one critical point.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

import flint

from theorems.preconditioned_descent.stationary_square.critical_points import CriticalPoint
from theorems.preconditioned_descent.stationary_square.second_derivatives import Composed
from verify.errors import UndecidedError
from verify.evaluation.admissible_ranges import real_roots
from verify.evaluation.arithmetic import Exact, balls, flint_rational

_BITS = 1024
"""Bits of the balls in which pairs of roots are excluded, and compared with the boxes of the certified points."""
_MOST_TERMS = 400
"""Maximum number of terms of a loss whose resultants are computed; the resultants of longer losses take too long."""

Polynomial: TypeAlias = flint.fmpq_mpoly
Pair = tuple[flint.arb, flint.arb]


def all_found(problem: Composed, moments: Sequence[flint.fmpq], points: Sequence[CriticalPoint]) -> bool:
    """Return whether the certified `points`, in disjoint boxes, are proved to be all critical points.

    `moments` are the exact moments of the measure of the loss. The result is False if the elimination does not prove
    this, and for more than three unknowns.
    """
    size = len(problem.places)
    if not 0 < size <= 3:
        return False
    loss = _loss(problem, moments)
    if len(loss) > _MOST_TERMS:
        return False
    slopes = [loss.derivative(i) for i in range(size)]
    if not all(bool(slope) for slope in slopes):
        # The loss does not depend on one of the unknowns: no critical point is isolated.
        return False
    try:
        if size == 1:
            return len(real_roots(_univariate(slopes[0], 0))) == len(points)
        linear = [i for i in range(size) if slopes[i].degrees()[i] == 1]
        with balls(_BITS):
            if size == 2:
                pairs = _common(*slopes, 0, 1)  # pyright: ignore[reportCallIssue]
                return pairs is not None and all(_inside({0: u, 1: v}, points) for u, v in pairs)
            return bool(linear) and _three(slopes, linear[0], points)
    except UndecidedError:
        return False


def _loss(problem: Composed, moments: Sequence[flint.fmpq]) -> Polynomial:
    """Return the loss as a polynomial in the unknowns and one more variable, which does not occur."""
    context = flint.fmpq_mpoly_ctx.get([f"t{i}" for i in range(len(problem.places))] + ["s"], "lex")
    *unknowns, s = context.gens()
    end = problem.end(Exact(), unknowns, s, context.constant(0))
    terms: dict[tuple[int, ...], flint.fmpq] = {}
    for powers, c in (end * end).to_dict().items():
        *rest, power = map(int, powers)
        terms[*rest, 0] = terms.get((*rest, 0), flint.fmpq(0)) + c * moments[power]
    return context.from_dict(terms)


def _three(slopes: Sequence[Polynomial], i: int, points: Sequence[CriticalPoint]) -> bool:
    u, v = (k for k in range(3) if k != i)
    rest, factor = _by_powers(slopes[i], i)
    nowhere = _common(rest, factor, u, v)
    if nowhere is None or nowhere:
        return False
    first, second = (_factors(slopes[k]) for k in (u, v))
    for one in first:
        for other in second:
            ends = [_without(_substituted(part, i, -rest, factor), factor) for part in (one, other)]
            pairs = _common(*ends, u, v)  # pyright: ignore[reportCallIssue]
            if pairs is None or not all(_covered(pair, (u, v, i), (-rest, factor), points) for pair in pairs):
                return False
    return True


def _by_powers(polynomial: Polynomial, i: int) -> list[Polynomial]:
    """Return P_0, P_1, …, of P_0 + P_1 x_i + …, up to the degree in x_i."""
    parts: list[dict[tuple[int, ...], flint.fmpq]] = [{} for _ in range(int(polynomial.degrees()[i]) + 1)]
    for powers, c in polynomial.to_dict().items():
        parts[int(powers[i])][tuple(0 if k == i else int(power) for k, power in enumerate(powers))] = c
    return [polynomial.context().from_dict(part) for part in parts]


def _substituted(polynomial: Polynomial, i: int, above: Polynomial, below: Polynomial) -> Polynomial:
    """Return the numerator of a polynomial after above/below is substituted for x_i."""
    parts = _by_powers(polynomial, i)
    terms = (part * above**k * below ** (len(parts) - 1 - k) for k, part in enumerate(parts))
    return sum(terms, polynomial.context().constant(0))


def _without(polynomial: Polynomial, factor: Polynomial) -> Polynomial:
    """Return a polynomial without the irreducible factors that it shares with another, which is not 0 here."""
    result = polynomial.context().constant(1)
    for part in _factors(polynomial) if polynomial else ():
        if part.gcd(factor).is_constant():
            result = result * part
    return result if polynomial else polynomial


def _factors(polynomial: Polynomial) -> list[Polynomial]:
    return [part for part, _ in polynomial.factor()[1]]


def _common(one: Polynomial, other: Polynomial, u: int, v: int) -> list[Pair] | None:
    """Return balls that contain all common real roots in (x_u, x_v); None if these roots are not isolated."""
    if not one or not other:
        return None
    common: list[Pair] = []
    for a in _factors(one):
        for b in _factors(other):
            in_u, in_v = a.resultant(b, v), a.resultant(b, u)
            if not in_u or not in_v:
                return None
            sides = [_real(in_u, u), _real(in_v, v)]
            pairs = ((x, y) for x in sides[0] for y in sides[1])
            common += [pair for pair in pairs if all(_value_at(p, (u, v), pair).contains(0) for p in (a, b))]
    return common


def _real(polynomial: Polynomial, i: int) -> list[flint.arb]:
    if polynomial.is_constant():
        return []
    roots = [root for part in _factors(polynomial) for root in real_roots(_univariate(part, i))]
    return [flint.arb(flint_rational(low)).union(flint.arb(flint_rational(high))) for low, high in roots]


def _univariate(polynomial: Polynomial, i: int) -> flint.fmpq_poly:
    coefficients = [flint.fmpq(0)] * (int(polynomial.degrees()[i]) + 1)
    for powers, c in polynomial.to_dict().items():
        coefficients[int(powers[i])] = c
    return flint.fmpq_poly(coefficients)


def _value_at(polynomial: Polynomial, places: tuple[int, int], pair: Pair) -> flint.arb:
    """Return the value at a pair, by Horner's rule in its second number."""
    rows: dict[int, dict[int, flint.fmpq]] = {}
    for powers, c in polynomial.to_dict().items():
        rows.setdefault(int(powers[places[1]]), {})[int(powers[places[0]])] = c

    power, total = cache(lambda k: pair[0] ** k), flint.arb(0)
    for k in range(max(rows, default=0), -1, -1):
        total = total * pair[1] + sum((power(j) * flint.arb(c) for j, c in rows.get(k, {}).items()), flint.arb(0))
    return total


def _covered(
    pair: Pair, places: tuple[int, int, int], quotient: tuple[Polynomial, Polynomial], points: Sequence[CriticalPoint]
) -> bool:
    """Return whether a pair, with x = N/D at this pair, is in a box that contains exactly one critical point."""
    u, v, i = places
    above, below = (_value_at(part, (u, v), pair) for part in quotient)
    if below.contains(0):
        return False
    return _inside({u: pair[0], v: pair[1], i: above / below}, points)


def _inside(root: Mapping[int, flint.arb], points: Sequence[CriticalPoint]) -> bool:
    """Return whether a root, given as balls by place, is certified to be in the box of some point."""
    return any(
        all(bool(abs(x - flint_rational(p.centre[k])) < flint_rational(p.radius)) for k, x in root.items())
        for p in points
    )
