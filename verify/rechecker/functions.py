"""Functions other than powers, exp and log, exact and in balls; Piecewise, sums, products, recursions in a field."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, comb, factorial, floor
from typing import Protocol, TypeVar

from flint import arb

from .nodes import Node, bound_in
from .reading import Rejected, TooLarge, Undefined

V = TypeVar("V")
MOST_TERMS, LONGEST = 100_000, 20_000
"""Maximum number of terms of a sum and of steps of a recursion; largest argument of an exact factorial or binomial."""
_SMOOTH = ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")
_AT_ZERO = dict.fromkeys(_SMOOTH, Fraction(0)) | {"cos": Fraction(1), "cosh": Fraction(1)}
_RELATIONS = {"Eq": (0,), "Lt": (1,), "Le": (0, 1), "Gt": (-1,), "Ge": (-1, 0)}
"""The signs of (right side − left side) for which a relation holds."""
_BALLS: Mapping[str, Callable[[arb], arb]] = {
    **{head: getattr(arb, head) for head in (*_SMOOTH, "floor")},
    "Abs": abs,
    "sign": arb.sgn,
    "ceiling": arb.ceil,
}


class NotExact(Rejected):
    """The value is not known to be rational, or is too large to be computed as a rational number."""


def exactly(head: str, args: Sequence[Fraction]) -> Fraction:
    """Return a function's value at rational numbers. Raises NotExact if it is irrational, Undefined without a value."""
    match head:
        case "Max" | "Min":
            return max(args) if head == "Max" else min(args)
        case "Abs":
            return abs(args[0])
        case "sign":
            return Fraction((args[0] > 0) - (args[0] < 0))
        case "floor" | "ceiling":
            return Fraction(floor(args[0]) if head == "floor" else ceil(args[0]))
        case "factorial" | "binomial":
            return _counting(head, args)
        case _ if head in _AT_ZERO and not args[0]:
            return _AT_ZERO[head]
        case _:
            raise NotExact(f"{head} is not rational there")


def _counting(head: str, args: Sequence[Fraction]) -> Fraction:
    """Return a factorial or a binomial."""
    if any(x.denominator > 1 for x in args) or args[0] < 0:
        raise Undefined(f"a {head} of a number that is not 0, 1, 2, …")
    n, k = int(args[0]), int(args[-1])
    if n > LONGEST:
        raise NotExact(f"a {head} is too long")
    return Fraction(factorial(n) if head == "factorial" else comb(n, k) if k >= 0 else 0)


def in_balls(head: str, args: Sequence[arb]) -> arb:
    """Return a ball around the values of a function on balls. Raises Rejected if it may have no value."""
    if head == "pi":
        return arb.pi()
    if head in ("Max", "Min"):
        first, *others = args
        for other in others:
            first = first.max(other) if head == "Max" else first.min(other)
        return first
    if head in _BALLS:
        return _BALLS[head](args[0])
    n, k = integer(args[0]), integer(args[-1])
    if n < 0:
        raise Undefined(f"a {head} of a negative number")
    if head == "factorial":
        return arb(n + 1).gamma()
    if n <= LONGEST or not 0 <= k <= n:
        return arb(comb(n, k) if k >= 0 else 0)
    return (arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()).exp()


def integer(value: Fraction | arb) -> int:
    """Return a number as an integer. Raises Undefined for another number, and for a ball that is no exact integer."""
    if isinstance(value, Fraction):
        if value.denominator > 1:
            raise Undefined("a number that is no integer, where one is needed")
        return int(value)
    whole = value.unique_fmpz() if value.is_exact() and value.is_integer() else None
    if whole is None:
        raise Undefined("a number that is not known to be an integer, where one is needed")
    return int(whole)


class _Computes(Protocol[V]):
    """The operations of a field that Piecewise, sums, products and recursions need."""

    def number(self, value: Fraction) -> V: ...
    def plus(self, left: V, right: V) -> V: ...
    def times(self, left: V, right: V) -> V: ...
    def integer(self, value: V) -> int: ...
    def sign(self, value: V) -> int | None: ...
    def hull(self, one: V, other: V) -> V: ...


Evaluate = Callable[[Sequence[Node], Mapping[Node, V]], list[V]]
"""A function that returns the values of nodes, given the values of some nodes."""


def scope_value(node: Node, field: _Computes[V], evaluate: Evaluate[V]) -> V:
    """Return the value of a Piecewise, a sum, a product or a recursion. Raises Rejected if it has none."""
    if node.head == "Piecewise":
        return _piecewise(node, field, evaluate)
    inside, symbols, outside = bound_in(node)
    if node.head == "Iterate":
        place, count, *start = outside
        (steps,) = evaluate([count], {})
        return _states(field, evaluate, inside, symbols, evaluate(start, {}), field.integer(steps))[int(place.number)]
    first, last = map(field.integer, evaluate(outside, {}))
    combine, total = (field.plus, Fraction(0)) if node.head == "Sum" else (field.times, Fraction(1))
    value = field.number(total)
    for k in _counted(first, last):
        value = combine(value, *evaluate(inside, {symbols[0]: field.number(Fraction(k))}))
    return value


def _counted(first: int, last: int) -> range:
    if last - first >= MOST_TERMS:
        raise TooLarge("terms of a sum, or steps of a recursion", MOST_TERMS)
    return range(first, last + 1)


def _states(
    field: _Computes[V],
    evaluate: Evaluate[V],
    step: Sequence[Node],
    symbols: Sequence[Node],
    states: list[V],
    steps: int,
) -> list[V]:
    """Return the states after `steps` steps from `states`; the first symbol counts the steps."""
    if steps < 0:
        raise Undefined("a recursion of fewer than 0 steps")
    for k in _counted(0, steps - 1):
        states = evaluate(step, dict(zip(symbols, [field.number(Fraction(k)), *states], strict=True)))
    return states


def _piecewise(node: Node, field: _Computes[V], evaluate: Evaluate[V]) -> V:
    """Return the value of the first piece whose relation holds, or a hull of all possible ones if that is undecided."""
    *pieces, last = node.args
    met: list[V] = []
    for value, relation in zip(pieces[::2], pieces[1::2], strict=True):
        left, right = evaluate(relation.args, {})
        sign = field.sign(field.plus(right, field.times(field.number(Fraction(-1)), left)))
        if sign is None or sign in _RELATIONS[relation.head]:
            met += evaluate([value], {})
            if sign is not None:
                break
    else:
        met += evaluate([last], {})
    total, *others = met
    for other in others:
        total = field.hull(total, other)
    return total
