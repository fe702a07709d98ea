"""Sums whose terms are differences: Σ (G(k + 1) − G(k)) over k from a to b is G(b + 1) − G(a)."""

from dataclasses import replace
from typing import NamedTuple

from ..forms import INTEGRAL
from ..nodes import Node
from ..reading import Data, Rejected, items, shown
from .facts import Goal, Scope
from .integers import is_integer


class Telescope(NamedTuple):
    """The scope at a term, the goal for each term, and the conclusion."""

    inner: Scope
    step: Goal
    fact: Node


def telescope(scope: Scope, tree: dict[str, Data], where: str) -> Telescope:
    """Return the goal Σ c f(k) = G(k + 1) − G(k) for integers k from a to b, and the equation of sums that follows.

    The equation follows if b ≥ a − 1 and the goal has a value at each k: then G has a value from a to b + 1.
    Raises Rejected if a and b are not shown to be integers with b ≥ a − 1.
    """
    terms, name = scope.given.terms, scope.given.new_name(tree["in"], f"{where}.in", INTEGRAL)
    if name in scope.bound:
        raise Rejected(f"{where}.in: {shown(name)} is taken")
    symbol = terms.symbol(name)
    first, last = (scope.read(tree[key], f"{where}.{key}") for key in ("from", "to"))
    ends = [scope.value(first), scope.value(last)]
    count = scope.value(terms.minus(terms.add((last, terms.one)), first))
    if not all(is_integer(scope.field, end) for end in ends):
        raise Rejected(f"{where}: the ends are not shown to be integers")
    if not (scope.field.is_nonnegative(count) or scope.field.is_whole(count)):
        raise Rejected(f"{where}: the number of terms is not shown to be >= 0")
    inner = _at_a_term(scope, symbol, first, last)
    primitive = inner.read(tree["of"], f"{where}.of")
    steps, sums = list[Node](), list[Node]()
    for i, data in enumerate(items(tree["sums"], f"{where}.sums")):
        share, term = items(data, f"{where}.sums[{i}]", 2)
        factor, summand = scope.read(share, f"{where}.sums[{i}][0]"), inner.read(term, f"{where}.sums[{i}][1]")
        steps.append(terms.mul((factor, summand)))
        sums.append(terms.mul((factor, terms.build("Sum", [summand, symbol, first, last]))))
    after = [terms.substitute(primitive, {name: terms.add((k, terms.one))}) for k in (symbol, last)]
    before = [primitive, terms.substitute(primitive, {name: first})]
    step, fact = (
        terms.minus(terms.add(parts), terms.minus(high, low))
        for parts, high, low in zip((steps, sums), after, before, strict=True)
    )
    return Telescope(inner, Goal(step, "Eq"), fact)


def _at_a_term(scope: Scope, symbol: Node, first: Node, last: Node) -> Scope:
    """Return the scope at an integer between two ends."""
    terms = scope.given.terms
    inner = replace(scope, field=scope.field.copied(), bound=(*scope.bound, str(symbol.name)))
    (key,) = inner.field.symbol(symbol).numerator
    (place,) = inner.field.inside(key)
    inner.field.whole[place] = 0
    if inner.field.is_nonnegative(inner.value(first)):
        # The symbol is at least the first end, so it is ≥ 0, or > 0, as well.
        inner.field.know(inner.value(symbol), strict=inner.field.is_positive(inner.value(first)))
    return inner.with_fact(terms.minus(symbol, first), "Ge").with_fact(terms.minus(last, symbol), "Ge")
