# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""The needs of an expression: the parts that must have values so that it has one, kept if rewriting drops them.

An expression has a value only if all its parts, as SymPy stores them, have one: no divisor is 0, the arguments of
logarithms and roots are in their domains, limits exist, and a differentiated function has a value on both sides of the
point. SymPy simplifies as it substitutes: with d = sqrt(u), d² becomes u, which has a value at u = −3. Each rewriting
here compares the parts before with the parts after, and keeps the lost ones beside the result: `Provided(u, sqrt(u))`
is u where sqrt(u) has a value, and has none elsewhere. A part that is lost inside a limit, a substitution or a
derivative stays inside, because it may contain the symbol that is bound there.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import sympy as sp
from sympy.core.function import AppliedUndef

from verify.language.heads.scopes import SCOPES, always_computed, changed

Replaced: TypeAlias = Mapping[Any, sp.Basic]
"""Replacements of symbols or other nodes; the keys are Any, because the key type of a Mapping is invariant."""


class Provided(sp.Function):
    """Provided(e, p_1, …, p_k): e where all p_i have values; it has no value elsewhere."""

    def _eval_derivative(self, s: sp.Symbol) -> sp.Expr:
        value, *needed = self.args
        return provided(sp.diff(value, s), needed)  # pyright: ignore[reportReturnType]


def provided(value: sp.Basic, needed: Iterable[sp.Basic]) -> sp.Basic:
    """Return `value`, defined only where all needed parts have values; unchanged if that is so already."""
    lost = _without(needed, value)
    before = value.args if isinstance(value, Provided) else (value,)
    return Provided(*before, *lost) if lost else value  # pyright: ignore[reportReturnType]


def _without(needed: Iterable[sp.Basic], value: sp.Basic) -> list[sp.Basic]:
    """Return the needed parts that are not computed whenever the value is."""
    needed = dict.fromkeys(needed)
    there = _computed(value) if needed else frozenset()
    return [part for part in needed if part not in there]


@lru_cache(maxsize=2**14)
def needs(node: sp.Basic) -> tuple[sp.Basic, ...]:
    """Return the parts of an expression, as written, that may have no value, in the symbols that are free in it."""
    if not node.args:
        return (node,) if _is_none(node) else ()
    if isinstance(node, sp.Limit):
        inner, symbol, point, _ = node.args
        outside = () if point is sp.oo else needs(point)
        return _all((node,), (part for part in needs(inner) if symbol not in part.free_symbols), outside)
    if isinstance(node, sp.Subs):
        inner, symbols, points = node.args
        replaced = dict(zip(symbols, points, strict=True))  # pyright: ignore[reportCallIssue]
        return _all(*(needs(part.xreplace(replaced)) for part in needs(inner)), *map(needs, points))
    if isinstance(node, sp.Derivative):
        inside = needs(node.args[0])
        return _all(inside, _both_sides(inside, node.variables))
    if isinstance(node, SCOPES):
        return _all(*map(needs, always_computed(node)), (node,))
    below = _all(*map(needs, node.args))
    return _all(below, (node,)) if is_partial(node) else below


def _both_sides(inside: Iterable[sp.Basic], symbols: Iterable[sp.Basic]) -> Iterator[sp.Basic]:
    """Yield log u for each non-integer power u^r with `symbols` in u: a two-sided derivative needs u > 0."""
    for part in inside:
        if isinstance(part, sp.Pow) and not isinstance(part.exp, sp.Integer) and part.base.has(*symbols):
            yield sp.log(part.base)


def _all(*parts: Iterable[sp.Basic]) -> tuple[sp.Basic, ...]:
    return tuple(dict.fromkeys(part for some in parts for part in some))


def is_partial(node: sp.Basic) -> bool:
    """Whether a node may have no value where its arguments have one."""
    if isinstance(node, sp.Pow) and node.is_commutative:
        base, exponent = node.args
        if isinstance(exponent, sp.Integer) and exponent > 0:
            return False
        return not (isinstance(base, sp.Rational) and base > 0) and base is not sp.E
    return isinstance(node, sp.log | sp.Limit | sp.tan | sp.factorial | sp.binomial | AppliedUndef)


def _is_none(node: sp.Basic) -> bool:
    """Whether a node is a number that is not finite and real."""
    return isinstance(node, sp.Number | sp.core.numbers.ImaginaryUnit | sp.core.numbers.ComplexInfinity) and (
        node.is_real is not True or node.is_finite is not True
    )


@lru_cache(maxsize=2**12)
def _computed(node: sp.Basic) -> frozenset[sp.Basic]:
    """Return the nodes that are computed whenever `node` is."""
    if isinstance(node, sp.Limit):
        inside = (part for part in _computed(node.args[0]) if node.args[1] not in part.free_symbols)
        return frozenset((node, *inside)) | _computed(node.args[2])
    if isinstance(node, sp.Subs):
        return frozenset((node,)).union(*map(_computed, node.args[2]))
    if isinstance(node, sp.Derivative):
        return frozenset((node,))
    parts = always_computed(node) if isinstance(node, SCOPES) else node.args
    return frozenset((node,)).union(*map(_computed, parts))


def substituted(expression: sp.Basic, replaced: Replaced) -> sp.Basic:
    """Return an expression with nodes replaced; parts that this drops are kept as needs, in `Provided`."""
    return _substituted(expression, tuple(replaced.items()))


@lru_cache(maxsize=2**12)
def _substituted(expression: sp.Basic, pairs: tuple[tuple[sp.Basic, sp.Basic], ...]) -> sp.Basic:
    replaced = dict(pairs)
    # Inside a head that binds a symbol, nodes are replaced separately: the needs there may contain that symbol.
    hidden = {binder: sp.Dummy() for binder in _binders(expression) if binder not in replaced}
    if not hidden:
        return _replaced_in(expression, replaced)
    back = {dummy: _replaced_inside(binder, replaced) for binder, dummy in hidden.items()}
    visible = _replaced_in(expression.xreplace(hidden), replaced)
    lost = (binder for dummy, binder in back.items() if dummy not in visible.free_symbols)
    return provided(visible.xreplace(back), _all(*map(needs, lost)))


def _replaced_in(expression: sp.Basic, replaced: Replaced) -> sp.Basic:
    result = expression.xreplace(replaced)
    if result is expression:
        return expression
    parts = (*_outside(expression, replaced), *_inside(expression, replaced))
    # With its nodes replaced, a part may be a number without a value, or have fewer needs.
    return provided(result, (need for part in parts for need in needs(part.xreplace(replaced))))


_BINDERS = (sp.Limit, sp.Subs, sp.Derivative, *SCOPES)


def _binders(node: sp.Basic) -> Iterator[sp.Basic]:
    """Yield the outermost limits, substitutions, derivatives, sums, products, recursions and Piecewises."""
    if isinstance(node, _BINDERS):
        yield node
    elif node.has(*_BINDERS):
        for argument in node.args:
            yield from _binders(argument)


def _replaced_inside(binder: sp.Basic, replaced: Replaced) -> sp.Basic:
    if isinstance(binder, SCOPES):
        return changed(binder, lambda part, bound: substituted(part, _others(replaced, bound)))
    inner, symbols, *rest = binder.args
    if isinstance(binder, sp.Derivative):
        return binder.func(substituted(inner, replaced), symbols, *rest)
    bound = {symbols} if isinstance(symbols, sp.Symbol) else set(symbols)
    point, *direction = rest
    inside = substituted(inner, _others(replaced, bound))
    return binder.func(inside, symbols, substituted(point, replaced), *direction)


def _others(replaced: Replaced, bound: Collection[Any]) -> Replaced:
    return {key: value for key, value in replaced.items() if key not in bound}


def _outside(node: sp.Basic, replaced: Replaced) -> tuple[sp.Basic, ...]:
    """Return the needs of a node, except those that occur only within replaced nodes."""
    hidden = {key: sp.Dummy() for key in replaced if key.args and node.has(key)}
    if not hidden:
        return needs(node)
    back = {dummy: key for key, dummy in hidden.items()}
    return tuple(part.xreplace(back) for part in needs(node.xreplace(hidden)))


def _inside(node: sp.Basic, replaced: Replaced) -> Iterator[sp.Basic]:
    """Yield the needs of the replacements that occur."""
    for key, value in replaced.items():
        if node.has(key):
            yield from needs(sp.sympify(value))


def evaluated(before: Sequence[sp.Basic], after: sp.Basic) -> sp.Basic:
    """Return `after`, made of the expressions `before`; parts that were dropped are kept as needs, in `Provided`."""
    # SymPy rebuilds the needs: otherwise 1/(x − 1·3) as written is found in no result, and stays a need.
    return provided(after, _all(*(needs(_rebuilt(part)) for whole in before for part in needs(whole))))


@lru_cache(maxsize=2**12)
def rebuilt(expression: sp.Basic) -> sp.Basic:
    """Return an expression as SymPy evaluates it anew; parts that this drops are kept as needs, in `Provided`."""
    return evaluated([expression], _rebuilt(expression))


@lru_cache(maxsize=2**14)
def _rebuilt(node: sp.Basic) -> sp.Basic:
    if not node.args or isinstance(node, sp.Limit | sp.Derivative | sp.Subs | Provided):
        return node
    if isinstance(node, SCOPES):
        made = changed(node, lambda part, _: rebuilt(part))
    else:
        made = node.func(*map(_rebuilt, node.args))
    return node if made == node else made


@lru_cache(maxsize=2**12)
def taken_apart(expression: sp.Basic) -> tuple[sp.Basic, tuple[sp.Basic, ...]]:
    """Return an expression with every `Provided` outside of `SCOPES` replaced by its value, and their needed parts."""
    if not expression.has(Provided):
        return expression, ()
    provisos: dict[sp.Basic, None] = {}
    value = _taken(expression, provisos)
    return value, tuple(provisos)


def _taken(node: sp.Basic, provisos: dict[sp.Basic, None]) -> sp.Basic:
    # Parts of a sum, a recursion or a Piecewise are computed many times, or not at all: their needs stay inside.
    if not node.has(Provided) or isinstance(node, SCOPES):
        return node
    if isinstance(node, Provided):
        value, *needed = node.args
        for part in needed:
            inner, more = taken_apart(part)
            provisos.update(dict.fromkeys((*more, inner)))
        return _taken(value, provisos)
    return node.func(*(_taken(argument, provisos) for argument in node.args))
