"""The facts at a place of a deduction, and known facts about some functions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from ..fields import evaluate
from ..given import Given
from ..nodes import Node
from ..polynomials import Quotient
from ..reading import Data, Rejected, TooLarge, whole
from ..terms import Names
from .atoms import Atoms
from .functions import free_in_recursion
from .growth import GROWTH
from .means import mean

Relation: TypeAlias = Literal["Ge", "Gt", "Eq"]
"""The sign of a value: ≥ 0, > 0, or = 0."""
_MOST_FACTS = 200


class Goal(NamedTuple):
    """An expression, and the sign that is to be shown: ≥ 0, > 0, or = 0."""

    node: Node
    relation: Relation


class Fact(NamedTuple):
    """A value, its sign, and the expression with this value, if there is one."""

    node: Node | None
    value: Quotient
    relation: Relation


@dataclass(frozen=True)
class Scope:
    """The facts at a place in a proof, None for each that is not known there; `bound` are the proof's own names."""

    given: Given
    field: Atoms
    facts: tuple[Fact | None, ...] = ()
    bound: tuple[str, ...] = ()

    def value(self, node: Node) -> Quotient:
        """Return the value of an expression. Raises Rejected if it is not shown to have one."""
        return evaluate(self.given.terms, [node], self.field)[0]

    def read(self, data: Data, where: str) -> Node:
        """Return an expression of a proof."""
        return self.given.expression(data, where, self.bound)

    def with_fact(self, node: Node | None, relation: Relation, value: Quotient | None = None) -> "Scope":
        """Return the scope with the sign of a value as one more fact."""
        if len(self.facts) >= _MOST_FACTS:
            raise TooLarge("facts", _MOST_FACTS)
        inner = replace(self, field=self.field.copied())
        known = inner.value(node) if value is None and node is not None else value
        assert known is not None
        if relation == "Eq":
            inner.field.know_zero(known)
        else:
            inner.field.know(known, strict=relation == "Gt")
        return replace(inner, facts=(*self.facts, Fact(node, known, relation)))

    def without(self, mask: int, values: Names | None = None) -> "Scope":
        """Return the scope without the facts that mention some symbols, and without conclusions from these facts.

        With `values`, the values replace the symbols in the facts. All facts are read twice, the second time with all
        of them known.
        """
        first = self._read_again(Atoms(self.given, self.field.units), mask, values)
        return self._read_again(first.field, mask, values)

    def _read_again(self, field: Atoms, mask: int, values: Names | None) -> "Scope":
        scope = replace(self, field=field, facts=())
        field.defined = frozenset(each for each in self.field.defined if not free_in_recursion(each) & mask)
        for fact in self.facts:
            node = None if fact is None else fact.node
            if node is not None and values is not None:
                node = self.given.terms.substitute(node, values)
            try:
                if fact is not None and node is not None and not node.free & mask:
                    scope = scope.with_fact(node, fact.relation)
                    continue
            except TooLarge:
                raise
            except Rejected:
                pass
            scope = replace(scope, facts=(*scope.facts, None))
        return scope

    def fact(self, number: Data, where: str) -> Fact:
        """Return a fact by its number. Raises Rejected if it does not hold here."""
        if (fact := self.facts[whole(number, where, 0, len(self.facts) - 1)]) is None:
            raise Rejected(f"{where}: fact {number} does not hold here")
        return fact


def _exponential(field: Atoms, u: Quotient) -> Quotient:
    """e^u ≥ 1 + u."""
    return field.minus(field.exp(u), field.plus(field.number(Fraction(1)), u))


def _logarithm(field: Atoms, u: Quotient) -> Quotient:
    """For u > 0: log u ≤ u − 1."""
    return field.minus(u, field.plus(field.number(Fraction(1)), field.log(u)))


def _product(field: Atoms, u: Quotient, v: Quotient) -> Quotient:
    """For u, v > 0: log(uv) = log u + log v."""
    return field.minus(field.log(field.times(u, v)), field.plus(field.log(u), field.log(v)))


def _monotone(field: Atoms, u: Quotient, v: Quotient, n: Quotient) -> Quotient:
    """(u^n − v^n)(u − v) ≥ 0 for u, v ≥ 0 and an integer n ≥ 0."""
    field.refuse_negative(u, v)
    difference = field.minus(field.whole_exponent(u, n), field.whole_exponent(v, n))
    return field.times(difference, field.minus(u, v))


def _tangent(field: Atoms, u: Quotient, v: Quotient, n: Quotient) -> Quotient:
    """v^n ≥ u^n + n u^(n − 1) (v − u) for u, v ≥ 0 and an integer n ≥ 1."""
    field.refuse_negative(u, v)
    slope = field.times(n, field.whole_exponent(u, field.minus(n, field.number(Fraction(1)))))
    tangent = field.plus(field.whole_exponent(u, n), field.times(slope, field.minus(v, u)))
    return field.minus(field.whole_exponent(v, n), tangent)


def _circle(field: Atoms, u: Quotient) -> Quotient:
    """(sin u)² + (cos u)² = 1."""
    squares = [field.times(part, part) for part in (field.function("sin", [u]), field.function("cos", [u]))]
    return field.minus(field.plus(*squares), field.number(Fraction(1)))


def _of_a_sum(head: str, field: Atoms, u: Quotient, v: Quotient) -> Quotient:
    """Addition theorems: sin(u + v) = sin u cos v + cos u sin v, and cos(u + v) = cos u cos v − sin u sin v."""
    (sin_u, cos_u), (sin_v, cos_v) = ([field.function(f, [each]) for f in ("sin", "cos")] for each in (u, v))
    if head == "sin":
        total = field.plus(field.times(sin_u, cos_v), field.times(cos_u, sin_v))
    else:
        total = field.minus(field.times(cos_u, cos_v), field.times(sin_u, sin_v))
    return field.minus(field.function(head, [field.plus(u, v)]), total)


def _bounded(head: str, turn: int, field: Atoms, u: Quotient) -> Quotient:
    """1 − t f(u) ≥ 0, for f the sine or the cosine; t = 1 gives the bound from above, t = −1 from below."""
    value = field.times(field.number(Fraction(turn)), field.function(head, [u]))
    return field.minus(field.number(Fraction(1)), value)


def _signed(head: str, strict: bool, field: Atoms, u: Quotient) -> Quotient:
    """For 0 < u < π: sin u > 0. For −π/2 < u < π/2: cos u > 0. On the closed intervals, both are ≥ 0."""
    pi, is_shown = field.function("pi", []), field.is_positive if strict else field.is_nonnegative
    above = u if head == "sin" else field.plus(field.times(field.number(Fraction(1, 2)), pi), u)
    if not (is_shown(above) and is_shown(field.minus(pi, above))):
        raise Rejected(f"the argument of a {head} is not shown to be between the ends")
    return field.function(head, [u])


def _arctangent(turn: int, field: Atoms, u: Quotient) -> Quotient:
    """π/2 − t atan u > 0; t = 1 gives the bound from above, t = −1 from below."""
    half, value = field.times(field.number(Fraction(1, 2)), field.function("pi", [])), field.function("atan", [u])
    return field.minus(half, field.times(field.number(Fraction(turn)), value))


def _floor(turn: int, field: Atoms, u: Quotient) -> Quotient:
    """From above, ⌊u⌋ ≤ u: u − ⌊u⌋ ≥ 0. From below, ⌊u⌋ > u − 1: ⌊u⌋ + 1 − u > 0."""
    above = field.minus(u, field.function("floor", [u]))
    return above if turn > 0 else field.minus(field.number(Fraction(1)), above)


_ENDS = {"above": 1, "below": -1}
KNOWN: Mapping[str, tuple[int | None, Relation, Callable[..., Quotient]]] = {
    "exp": (1, "Ge", _exponential),
    "log": (1, "Ge", _logarithm),
    "product": (2, "Eq", _product),
    "monotone": (3, "Ge", _monotone),
    "tangent": (3, "Ge", _tangent),
    "circle": (1, "Eq", _circle),
    **{f"{head}_sum": (2, "Eq", partial(_of_a_sum, head)) for head in ("sin", "cos")},
    **{f"{head}_{end}": (1, "Ge", partial(_bounded, head, t)) for head in ("sin", "cos") for end, t in _ENDS.items()},
    **{f"{head}_positive": (1, "Gt", partial(_signed, head, True)) for head in ("sin", "cos")},
    **{f"{head}_nonnegative": (1, "Ge", partial(_signed, head, False)) for head in ("sin", "cos")},
    **{f"atan_{end}": (1, "Gt", partial(_arctangent, t)) for end, t in _ENDS.items()},
    "floor_above": (1, "Ge", partial(_floor, 1)),
    "floor_below": (1, "Gt", partial(_floor, -1)),
    "mean": (None, "Ge", mean),
    **GROWTH,
}
"""Known facts by name: the number of expressions (None for any number), the sign, and the function for the value."""
