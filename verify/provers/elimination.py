"""All real critical points of a polynomial in up to three unknowns, by elimination: a proof that none is missing.

In one unknown these are the real roots of the slope. In three the loss has to be quadratic in one, x: its slope in x is
D x − N with D and N in the other two, u and v. At a critical point either D = N = 0, or x = N/D, which is put into the
other two slopes. Either way, and in two unknowns at once, two polynomials in u and v vanish, and with them, for
irreducible factors A of one and B of the other, the resultants of A and B in u and in v. Their real roots are isolated;
of all pairs of these, those at which A or B is not 0 are excluded in balls.
Each pair that is left has to lie, with its x, in a box that is certified to hold exactly one critical point.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import flint

from verify.errors import UndecidedError
from verify.evaluation.admissible_ranges import real_roots
from verify.evaluation.arithmetic import Exact, balls
from verify.evaluation.second_derivatives import Composed
from verify.provers.critical_points import CriticalPoint

_BITS = 1024
_MOST_TERMS = 400
"""Of a loss that is looked at: resultants of more would take long."""

Pair = tuple[flint.arb, flint.arb]


def all_found(problem: Composed, moments: Sequence[Any], points: Sequence[CriticalPoint]) -> bool:
    """Return whether it is proved that there are no critical points but some certified ones, in boxes far apart."""
    size = len(problem.places)
    if not 0 < size <= 3:
        return False
    loss = _loss(problem, moments)
    if len(loss) > _MOST_TERMS:
        return False
    slopes = [loss.derivative(i) for i in range(size)]
    if not all(bool(slope) for slope in slopes):
        # Nothing depends on one of the unknowns: no point is alone.
        return False
    try:
        if size == 1:
            return bool(slopes[0]) and len(real_roots(_univariate(slopes[0], 0))) == len(points)
        linear = [i for i in range(size) if slopes[i].degrees()[i] == 1]
        with balls(_BITS):
            return _two(slopes, points) if size == 2 else bool(linear) and _three(slopes, linear[0], points)
    except UndecidedError:
        return False


def _loss(problem: Composed, moments: Sequence[Any]) -> Any:
    """Return the loss as a polynomial in the unknowns, and a variable that does not occur."""
    context = flint.fmpq_mpoly_ctx.get([f"t{i}" for i in range(len(problem.places))] + ["s"], "lex")
    *unknowns, s = context.gens()
    end = problem.end(Exact(), unknowns, s, context.constant(0))
    found: dict[tuple[int, ...], Any] = {}
    for powers, c in (end * end).to_dict().items():
        *rest, power = map(int, powers)
        found[*rest, 0] = found.get((*rest, 0), flint.fmpq(0)) + c * moments[power]
    return context.from_dict(found)


def _two(slopes: Sequence[Any], points: Sequence[CriticalPoint]) -> bool:
    pairs = _common(*slopes, 0, 1)
    return pairs is not None and all(_inside({0: u, 1: v}, points) for u, v in pairs)


def _three(slopes: Sequence[Any], i: int, points: Sequence[CriticalPoint]) -> bool:
    u, v = (k for k in range(3) if k != i)
    rest, factor = _split(slopes[i], i)
    nowhere = _common(rest, factor, u, v)
    if nowhere is None or nowhere:
        return False
    first, second = (_factors(slopes[k]) for k in (u, v))
    for one in first:
        for other in second:
            ends = [_without(_substituted(part, i, -rest, factor), factor) for part in (one, other)]
            pairs = _common(*ends, u, v)
            if pairs is None or not all(_covered(pair, (u, v, i), (-rest, factor), points) for pair in pairs):
                return False
    return True


def _split(polynomial: Any, i: int) -> tuple[Any, Any]:
    """Return P_0 and P_1, of P_0 + P_1 x_i."""
    parts: list[dict[tuple[int, ...], Any]] = [{}, {}]
    for powers, c in polynomial.to_dict().items():
        parts[int(powers[i])][_lowered(powers, i)] = c
    rest, factor = (polynomial.context().from_dict(part) for part in parts)
    return rest, factor


def _lowered(powers: Sequence[Any], i: int) -> tuple[int, ...]:
    return tuple(0 if k == i else int(power) for k, power in enumerate(powers))


def _substituted(polynomial: Any, i: int, above: Any, below: Any) -> Any:
    """Return the numerator of a polynomial with above/below for x_i."""
    context, highest = polynomial.context(), int(polynomial.degrees()[i])
    parts: list[dict[tuple[int, ...], Any]] = [{} for _ in range(highest + 1)]
    for powers, c in polynomial.to_dict().items():
        parts[int(powers[i])][_lowered(powers, i)] = c
    terms = (context.from_dict(part) * above**k * below ** (highest - k) for k, part in enumerate(parts))
    return sum(terms, context.constant(0))


def _without(polynomial: Any, factor: Any) -> Any:
    """Return a polynomial without the irreducible factors of another, which is not 0 here."""
    result = polynomial.context().constant(1)
    for part, _ in polynomial.factor()[1] if polynomial else ():
        if part.gcd(factor).is_constant():
            result = result * part
    return result if polynomial else polynomial


def _factors(polynomial: Any) -> list[Any]:
    return [part for part, _ in polynomial.factor()[1]]


def _common(one: Any, other: Any, u: int, v: int) -> list[Pair] | None:
    """Return balls that hold all common real roots in (x_u, x_v), None where they are not isolated."""
    if not one or not other:
        return None
    found: list[Pair] = []
    for a in _factors(one):
        for b in _factors(other):
            in_u, in_v = a.resultant(b, v), a.resultant(b, u)
            if not in_u or not in_v:
                return None
            sides = [_real(in_u, u), _real(in_v, v)]
            pairs = ((x, y) for x in sides[0] for y in sides[1])
            found += [pair for pair in pairs if all(_value_at(p, (u, v), pair).contains(0) for p in (a, b))]
    return found


def _real(polynomial: Any, i: int) -> list[flint.arb]:
    if polynomial.is_constant():
        return []
    roots = [root for part in _factors(polynomial) for root in real_roots(_univariate(part, i))]
    return [_ball(low).union(_ball(high)) for low, high in roots]


def _ball(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _univariate(polynomial: Any, i: int) -> flint.fmpq_poly:
    coefficients = [flint.fmpq(0)] * (int(polynomial.degrees()[i]) + 1)
    for powers, c in polynomial.to_dict().items():
        coefficients[int(powers[i])] = c
    return flint.fmpq_poly(coefficients)


def _value_at(polynomial: Any, places: tuple[int, int], pair: Pair) -> flint.arb:
    """Return the value at a pair, by Horner's rule in the second."""
    rows: dict[int, dict[int, Any]] = {}
    for powers, c in polynomial.to_dict().items():
        rows.setdefault(int(powers[places[1]]), {})[int(powers[places[0]])] = c

    @cache
    def power(k: int) -> flint.arb:
        return pair[0] ** k

    total = flint.arb(0)
    for k in range(max(rows, default=0), -1, -1):
        total = total * pair[1] + sum((power(j) * flint.arb(c) for j, c in rows.get(k, {}).items()), flint.arb(0))
    return total


def _covered(pair: Pair, places: tuple[int, int, int], quotient: tuple[Any, Any], points: Any) -> bool:
    """Return whether a pair lies, with x = N/D there, in a box that holds exactly one critical point."""
    u, v, i = places
    above, below = (_value_at(part, (u, v), pair) for part in quotient)
    if below.contains(0):
        return False
    return _inside({u: pair[0], v: pair[1], i: above / below}, points)


def _inside(at: Mapping[int, flint.arb], points: Sequence[CriticalPoint]) -> bool:
    return any(all(bool(abs(at[k] - _ball(p.centre[k])) < _ball(p.radius)) for k in at) for p in points)
