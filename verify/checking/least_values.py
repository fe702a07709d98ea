"""The least integer of a range at which some expressions, monotone or not, are at most a level, computed exactly.

An integer at which all expressions are at most the level is enough. If the expressions are rational in the integer's
symbol, they cross the level, or have no value, only at the real roots of some polynomials. So the least integer that is
enough is the first integer of the range, or next to a root. Otherwise the range is searched from its first integer on.
"""

import math
import time
from collections.abc import Iterable, Iterator
from fractions import Fraction

import flint
import sympy as sp

from verify.checking.reported_values import ValueLeast
from verify.claims.question import Question
from verify.errors import UndecidedError, UndefinedError
from verify.evaluation.admissible_ranges import real_roots
from verify.evaluation.values import evaluate_rising, exact_values, sign_of
from verify.language.definedness import needs, taken_apart
from verify.language.expressions import difference
from verify.language.symbolic_zeros import substitute
from verify.printing import text_of

_MOST_TRIED = 10_000
"""Maximum difference between the last and the first integer tried, if possible changes of sign are unknown."""


def least(value: ValueLeast, question: Question) -> int:
    """Return the least integer in the range that is enough, by exact decisions on the candidates up to it.

    Raises UndefinedError if an end is not rational, a comparison is undecided, the range is too long to be searched,
    the time runs out, or no integer in the range is enough.
    """
    level, lowest, highest = value.ends()
    low, high = math.ceil(question.exact(lowest)), math.floor(question.exact(highest))
    relations = (question.statement.expand(sp.Le(e, level, evaluate=False)) for e in value.expressions)
    rooms = [difference(relation) for relation in relations]
    for candidate in _candidates(value.parameter, rooms, low, high, question):
        if time.monotonic() > question.budget.end:
            raise UndefinedError("the time ran out")
        if all(_enough(room, value.parameter, candidate, question) for room in rooms):
            return candidate
    raise UndefinedError(f"no integer from {low} to {high} is enough")


def _enough(room: sp.Expr, name: str, candidate: int, question: Question) -> bool:
    try:
        sign = sign_of(evaluate_rising(room, {**question.instance, name: candidate}, sign=True)[0])
    except UndecidedError:
        sign = None
    except UndefinedError:
        # An expression without a value is not at most the level.
        return False
    if sign is None:
        raise UndefinedError(f"{text_of(room)}: the sign is undecided at {name} = {candidate}")
    return sign >= 0


def _candidates(name: str, rooms: Iterable[sp.Expr], low: int, high: int, question: Question) -> Iterable[int]:
    """Return integers of the range, in order; the least integer that is enough, if there is one, is among them."""
    known = {other: value for other, value in question.instance.items() if other != name}
    places = {low}
    for room in rooms:
        reduced = substitute(room, exact_values(room.free_symbols, known))
        symbols = {symbol for symbol in reduced.free_symbols if symbol.name == name}  # pyright: ignore[reportAttributeAccessIssue]
        if reduced.free_symbols - symbols:
            return _gone_through(name, low, high)
        for symbol in symbols:
            for part in (taken_apart(reduced)[0], *needs(reduced)):
                ends = _critical(part, symbol)
                if ends is None:
                    return _gone_through(name, low, high)
                places.update(n for first, last in ends for n in range(math.floor(first), math.ceil(last) + 2))
    return sorted(n for n in places if low <= n <= high)


def _critical(part: sp.Expr, symbol: sp.Symbol) -> list[tuple[Fraction, Fraction]] | None:
    """Return intervals around the real zeros and poles of an expression; None unless it is rational over ℚ."""
    if not part.is_rational_function(symbol):
        return None
    try:
        polynomials = [sp.Poly(each, symbol) for each in sp.fraction(sp.together(part))]
        coefficients = [[flint.fmpq(int(c.p), int(c.q)) for c in reversed(p.all_coeffs())] for p in polynomials]
    except (sp.PolynomialError, AttributeError):
        return None
    return [root for p in map(flint.fmpq_poly, coefficients) if p != 0 for root in real_roots(p)]


def _gone_through(name: str, low: int, high: int) -> Iterator[int]:
    yield from range(low, min(high, low + _MOST_TRIED) + 1)
    if high > low + _MOST_TRIED:
        raise UndefinedError(f"none of the first {_MOST_TRIED} values of {name} is enough; no other is tried")
