# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Points on a segment at which signs are tested in floats before a proof is tried; the test proves nothing."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from random import Random
from typing import Any

import sympy as sp

from verify.language.heads.scopes import BINDERS
from verify.language.parameters import Parameter
from verify.provers.deduction.limits import CHAIN
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.values import bound_of

_FAILS = (
    ValueError,
    ZeroDivisionError,
    OverflowError,
    TypeError,
    NameError,
    KeyError,
    SyntaxError,
    NotImplementedError,
)

_SIMPLE = [sp.Rational(turn * p, q) for p, q in ((1, 1), (1, 2), (2, 1), (1, 3), (2, 3), (3, 1)) for turn in (1, -1)]


@dataclass(frozen=True)
class Points:
    """Points: values of `symbols`, and the start of the segment and an inner value of the symbol that runs along it."""

    symbols: Sequence[sp.Symbol]
    inside: Sequence[tuple[Sequence[float], float, float]]

    def sign(self, expression: sp.Expr, symbol: sp.Symbol) -> int:
        """Return 1 or −1 if an expression has that sign at all points, else 0."""
        values = self._values(expression, symbol)
        signs = {0 if abs(v) <= CHAIN.rounding * size else 1 if v > 0 else -1 for v, size in values}
        return signs.pop() if len(signs) == 1 else 0

    def may_hold(self, expression: sp.Expr, symbol: sp.Symbol, *, at_start: bool = False) -> bool:
        """Whether an expression has a value at every point, and no value is negative beyond rounding."""
        values = self._values(expression, symbol, at_start=at_start)
        return bool(values) and all(v >= -CHAIN.rounding * size for v, size in values)

    def _values(self, expression: sp.Expr, symbol: sp.Symbol, *, at_start: bool = False) -> list[tuple[float, float]]:
        """Return an expression's value at each point and the size of its terms; [] if it has no value at a point."""
        size = sp.Add(1, *(sp.Abs(term) for term in sp.Add.make_args(expression)))
        try:
            compute = sp.lambdify([*self.symbols, symbol], [expression, size], "math")
            return [
                tuple(map(float, compute(*others, start if at_start else here))) for others, start, here in self.inside
            ]
        except _FAILS:
            return []


def points_of(
    scope: Scope, symbol: sp.Symbol, start: sp.Expr, parameters: Mapping[str, Parameter], random: Random
) -> Points | None:
    """Return points on segments whose ends satisfy the facts of a scope; None if too few points are found."""
    facts = [f.expression for f in scope.facts if f.expression is not None and not f.expression.atoms(*BINDERS)]
    symbols = sorted(set().union({symbol}, start.free_symbols, *(f.free_symbols for f in facts)), key=lambda s: s.name)
    others = [s for s in symbols if s != symbol]
    ends = [_ends(s, facts, bound_of(parameters.get(s.name), zero=True)) for s in symbols]
    found: list[tuple[Sequence[float], float, float]] = []
    try:
        holds = sp.lambdify(symbols, [*facts, start], "math")
    except _FAILS:
        return None
    for _ in range(CHAIN.draws):
        point = [_drawn(*end, random) for end in ends]
        try:
            *values, first = holds(*point)
        except _FAILS:
            continue
        if all(value > 0 for value in values):
            place = dict(zip(symbols, point, strict=True))
            part = random.choice((random.random(), 1 - 10 ** random.uniform(-3, 0)))
            here = first + part * (place[symbol] - first)
            found.append(([place[s] for s in others], float(first), here))
            if len(found) == CHAIN.points:
                break
    return Points(others, found) if len(found) >= CHAIN.least else None


def tiny_at(expression: sp.Expr, symbol: sp.Symbol) -> list[sp.Expr]:
    """Return the simple numbers at which an expression in one symbol may be 0."""
    size = sp.Add(1, *(sp.Abs(term) for term in sp.Add.make_args(expression)))
    compute, found = sp.lambdify([symbol], [expression, size], "math"), list[sp.Expr]()
    for number in _SIMPLE:
        with suppress(*_FAILS):
            value, most = compute(float(number))
            found += [number] if abs(value) <= CHAIN.rounding * most else []
    return found


def _ends(symbol: sp.Symbol, facts: Sequence[sp.Expr], bound: Any) -> tuple[float | None, float | None]:
    """Return the greatest lower and the least upper bound of a symbol by facts about it alone; None for no bound."""
    low, high = ([float(bound[0])] if bound else [0.0] if symbol.is_nonnegative else []), list[float]()
    for fact in facts:
        slope = sp.diff(fact, symbol) if fact.free_symbols == {symbol} else sp.Integer(0)
        if slope.is_number and slope != 0:
            (low if slope > 0 else high).append(float(-fact.subs(symbol, 0) / slope))
    return max(low, default=None), min(high, default=None)


def _drawn(low: float | None, high: float | None, random: Random) -> float:
    size = 10 ** random.uniform(-2, 1)
    if low is not None and high is not None and isfinite(high - low):
        part = random.choice((random.random(), 10 ** random.uniform(-3, 0), 1 - 10 ** random.uniform(-3, 0)))
        return low + part * (high - low)
    if low is not None:
        return low + size
    return random.choice((-1, 1)) * size if high is None else high - size
