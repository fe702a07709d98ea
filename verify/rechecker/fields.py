# ruff: noqa: D102 -- the methods of a field are documented once, in `Field`
"""Values of expressions in a field: exact rationals, balls, and (elsewhere) intervals and rational functions."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

from flint import arb

from .balls import ball, cost, measured
from .functions import NotExact, exactly, in_balls, integer, scope_value
from .nodes import FUNCTIONS, LARGEST_POWER, SCOPES, Node, order, square_root
from .reading import Effort, Rejected, Undefined, Unknown, bits_of, shown
from .registry import Enclosure, computed
from .series import Series, TooFewTerms
from .terms import Terms

_MOST_BITS, _SERIES_TERMS = 10**6, (6, 12, 24)
_FUNCTION = 100
"""The cost of a function, in multiplications."""
_LAZY = ("Limit", *SCOPES)
"""Heads whose parts are computed many times, or not at all."""


V = TypeVar("V")


class Field(Protocol[V]):
    """A field for the values of expressions; an operation raises Rejected if its value is undefined or unknown."""

    effort: Effort

    def number(self, value: Fraction) -> V: ...

    def symbol(self, node: Node) -> V:
        raise Rejected(f"{shown(node.name)} has no value here")

    def primitive_value(self, node: Node) -> V:
        """Return the value of a node that is no operation, such as a primitive with a lower and an upper bound."""
        raise Rejected(f"{node.head} has no value here")

    def plus(self, left: V, right: V) -> V: ...

    def times(self, left: V, right: V) -> V: ...

    def inverse(self, value: V) -> V: ...

    def whole_power(self, value: V, power: int) -> V:
        """Return a power with an integer exponent ≥ 0."""
        ...

    def real_power(self, base: V, power: V | Fraction) -> V: ...

    def exp(self, value: V) -> V: ...

    def log(self, value: V) -> V: ...

    def is_zero(self, value: V) -> bool:
        """Whether a value is known to be 0; limits need this."""
        raise Unknown("a limit is outside what has a value here")

    def function(self, head: str, args: Sequence[V]) -> V:
        """Return the value of a function beyond powers, exp and log."""
        raise Rejected(f"{head} has no value here")

    def integer(self, value: V) -> int:
        """Return a value that is an integer; sums and recursions need this."""
        raise Rejected("a sum, a product or a recursion has no value here")

    def sign(self, value: V) -> int | None:
        """Return the sign of a value, None if it is not decided; a Piecewise needs this."""
        raise Rejected("pieces have no value here")

    def hull(self, one: V, other: V) -> V:
        """Return a value of the field that contains both given values."""
        raise Rejected("which of some pieces holds is not decided")

    def scope(self, node: Node, evaluate: "EvaluateIn[V]", symbols: Mapping[Node, V]) -> V:
        """Return the value of a Piecewise, a sum, a product or a recursion; `symbols` has the known symbols' values."""
        return scope_value(node, self, partial(evaluate, self))


class Exact(Field[Fraction]):
    """Exact rationals."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort

    def _kept(self, value: Fraction) -> Fraction:
        bits = bits_of(value)
        if bits > _MOST_BITS:
            raise NotExact(f"an exact number of more than {_MOST_BITS} bits occurs")
        # The cost of a product, and of the greatest common divisor that reduces it.
        self.effort.spend(1 + (bits / 1000) ** 2)
        self.effort.make(bits / 3)
        return value

    def number(self, value: Fraction) -> Fraction:
        return value

    def primitive_value(self, node: Node) -> Fraction:
        lower, upper = _bounds(self.effort, node)
        if lower != upper:
            raise NotExact("a primitive's value is not known exactly")
        return lower

    def plus(self, left: Fraction, right: Fraction) -> Fraction:
        return self._kept(left + right)

    def times(self, left: Fraction, right: Fraction) -> Fraction:
        return self._kept(left * right)

    def inverse(self, value: Fraction) -> Fraction:
        if not value:
            raise Undefined("there is a division by zero")
        return 1 / value

    def whole_power(self, value: Fraction, power: int) -> Fraction:
        if power > LARGEST_POWER or bits_of(value) * power > _MOST_BITS:
            raise NotExact("an exact power is too large")
        return self._kept(value**power)

    def real_power(self, base: Fraction, power: Fraction) -> Fraction:
        if power.denominator == 1:
            return self.whole_power(base if power >= 0 else self.inverse(base), abs(int(power)))
        self.effort.spend(1 + (bits_of(base) / 1000) ** 2)
        if base == 1 or (base == 0 and power > 0):
            return base
        root = square_root(base) if power.denominator == 2 else None
        if root is None:
            raise NotExact("a power is not known to be rational")
        return self.real_power(root, power * 2)

    def exp(self, value: Fraction) -> Fraction:
        if value:
            raise NotExact("exp of a rational other than 0 is not rational")
        return Fraction(1)

    def log(self, value: Fraction) -> Fraction:
        if value != 1:
            raise NotExact("log of a rational other than 1 is not rational")
        return Fraction(0)

    def is_zero(self, value: Fraction) -> bool:
        return not value

    def function(self, head: str, args: Sequence[Fraction]) -> Fraction:
        self.effort.spend(_FUNCTION)
        return self._kept(exactly(head, args))

    def integer(self, value: Fraction) -> int:
        return integer(value)

    def sign(self, value: Fraction) -> int:
        return (value > 0) - (value < 0)


class Balls(Field[arb]):
    """Real balls at the working precision; a ball that is not finite is refused."""

    def __init__(self, effort: Effort, bits: int) -> None:
        self.effort, self.bits = effort, bits

    def _kept(self, value: arb, weight: int = 1) -> arb:
        self.effort.spend(cost(self.bits, weight))
        if not value.is_finite():
            raise Undefined("a ball is unbounded: a division by an enclosure of 0, or too few bits")
        return value

    def number(self, value: Fraction) -> arb:
        return self._kept(ball(value))

    def primitive_value(self, node: Node) -> arb:
        lower, upper = _bounds(self.effort, node)
        return self._kept(ball(lower).union(ball(upper)))

    def plus(self, left: arb, right: arb) -> arb:
        return self._kept(left + right)

    def times(self, left: arb, right: arb) -> arb:
        return self._kept(left * right)

    def inverse(self, value: arb) -> arb:
        return self._kept(1 / value, 3)

    def whole_power(self, value: arb, power: int) -> arb:
        raised = value**power
        if not raised.is_finite():
            # FLINT returns no finite power of some balls around 0.
            raised = arb(1)
            for digit in bin(power)[2:]:
                raised = raised * raised * (value if digit == "1" else 1)
        return measured(self._kept(raised, 2 * power.bit_length()))

    def real_power(self, base: arb, power: arb | Fraction) -> arb:
        if isinstance(power, Fraction) and power.denominator == 2:
            root = self._kept(base.sqrt(), 5)
            return self.whole_power(root if power > 0 else self.inverse(root), abs(power.numerator))
        exponent = ball(power) if isinstance(power, Fraction) else power
        if exponent.is_exact() and exponent.is_integer() and abs(exponent) < LARGEST_POWER:
            times = integer(exponent)
            return self.whole_power(base if times >= 0 else self.inverse(base), abs(times))
        if base == 0 and exponent > 0:
            return base
        if not base > 0:
            raise Undefined("a power of a value that is not known to be positive")
        return self.exp(exponent * self.log(base))

    def exp(self, value: arb) -> arb:
        return self._kept(value.exp(), 30)

    def log(self, value: arb) -> arb:
        if not value > 0:
            raise Undefined("a logarithm of a value that is not known to be positive")
        return self._kept(value.log(), 30)

    def is_zero(self, value: arb) -> bool:
        return bool(value == 0)

    def function(self, head: str, args: Sequence[arb]) -> arb:
        return self._kept(in_balls(head, args), _FUNCTION)

    def integer(self, value: arb) -> int:
        return integer(value)

    def sign(self, value: arb) -> int | None:
        return (value > 0) - (value < 0) if value > 0 or value < 0 or value == 0 else None

    def hull(self, one: arb, other: arb) -> arb:
        return self._kept(one.union(other))


Ends: TypeAlias = tuple[Fraction, Fraction]
"""A lower and an upper bound of a symbol."""


class Boxes(Balls):
    """Balls for all values of the symbols between the bounds that `ends` returns."""

    def __init__(self, effort: Effort, bits: int, ends: Callable[[Node], Ends]) -> None:
        super().__init__(effort, bits)
        self.ends = ends
        self.known: dict[Node, arb] = {}

    def symbol(self, node: Node) -> arb:
        if node not in self.known:
            low, high = map(ball, self.ends(node))
            self.known[node] = self._kept(low.union(high))
        return self.known[node]

    def is_zero(self, value: arb) -> bool:
        raise Unknown("whether a coefficient is 0 is not known for all values: a limit has no value here")


EvaluateIn: TypeAlias = Callable[[Field[V], Sequence[Node], Mapping[Node, V]], list[V]]
"""A function that returns the values of nodes in a field, given the values of some nodes."""


def _bounds(effort: Effort, node: Node) -> Enclosure:
    """Return the two bounds of a primitive whose arguments are numbers. Raises Rejected for any other node."""
    if node.primitive is None or node.primitive.encloses is None:
        raise Rejected(f"{node.head} has no value here")
    if any(argument.head != "number" for argument in node.args):
        raise Rejected(f"{node.head}: an argument is no exact rational number here")
    return computed(effort, node.primitive, tuple(argument.number for argument in node.args))


def evaluate(terms: Terms, roots: Sequence[Node], field: Field[V], known: Mapping[Node, V] | None = None) -> list[V]:
    """Return the values of `roots` in a field; `known` has values of some nodes. Raises Rejected without a value."""
    values = dict(known or {})
    for node in order(terms.effort, roots, lambda n: n in values or n.head in _LAZY):
        if node not in values:
            values[node] = value_of(terms, node, field, values)
    return [values[root] for root in roots]


def value_of(terms: Terms, node: Node, field: Field[V], values: Mapping[Node, V]) -> V:
    """Return the value of a node whose arguments' values are known. Raises Rejected if the node has no value."""
    terms.effort.spend(1)
    match node.head:
        case "number":
            return field.number(node.number)
        case "symbol":
            return field.symbol(node)
        case "Add" | "Mul":
            combine = field.plus if node.head == "Add" else field.times
            total = values[node.args[0]]
            for argument in node.args[1:]:
                total = combine(total, values[argument])
            return total
        case "Pow":
            return _power(node, field, values)
        case "exp" | "log":
            return (field.exp if node.head == "exp" else field.log)(values[node.args[0]])
        case "Limit":
            return _limit(terms, node, field, values)
        case _ if node.head in SCOPES:
            symbols = {part: value for part, value in values.items() if part.head == "symbol"}
            return field.scope(
                node, lambda inner, parts, bound: evaluate(terms, parts, inner, {**symbols, **bound}), symbols
            )
        case _ if node.head in FUNCTIONS:
            return field.function(node.head, [values[argument] for argument in node.args])
        case _:
            return field.primitive_value(node)


def _power(node: Node, field: Field[V], values: Mapping[Node, V]) -> V:
    base, exponent = node.args
    if exponent.head != "number":
        return field.real_power(values[base], values[exponent])
    power = exponent.number
    if power.denominator > 1:
        return field.real_power(values[base], power)
    raised = field.whole_power(values[base], abs(int(power)))
    return raised if power > 0 else field.inverse(raised)


def _limit(terms: Terms, node: Node, field: Field[V], values: Mapping[Node, V]) -> V:
    """Return a limit by a truncated Laurent series x^v Σ c_i x^i around the point, known up to O(x^(v + terms)).

    The coefficients are in the field. All divisors are leading coefficients, so that the limit is valid where none of
    them is 0. At ∞ the series is in 1/x. Symbols that are bound outside of the limit have values.
    """
    inner, symbol, point = node.args
    bound = {part: value for part, value in values.items() if part.head == "symbol" and part is not symbol}
    if point.head == "Infinity":
        inner = terms.substitute(inner, {symbol.name: terms.power(symbol, -1)})
    elif point is not terms.zero:
        inner = terms.substitute(inner, {symbol.name: terms.add((point, symbol))})
    roots = [inner] if point.head == "Infinity" else [inner, point]
    # An inner limit that depends on the symbol is no constant, and its parts are not visited.
    parts = order(terms.effort, roots, lambda n: not n.free & symbol.free or n.head == "Limit")
    constants = [n for n in parts if not n.free & symbol.free]
    known = dict(zip(constants, evaluate(terms, constants, field, bound), strict=True))
    for count in _SERIES_TERMS:
        try:
            valuation, series = Series(field, symbol, count, known, above=point.head == "Infinity").expand(inner)
        except TooFewTerms:
            continue
        if valuation + len(series) > 0:
            if valuation < 0:
                raise Rejected("a limit is infinite, or its series is undecided")
            return series[0] if valuation == 0 else field.number(Fraction(0))
    raise Rejected("a limit was not found in 24 terms of its series")
