# ruff: noqa: D102 -- the methods of a field are said once, in `Field`
"""Values of expressions in a field: exact rationals, balls, and (elsewhere) intervals and rational functions."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Generic, Protocol, TypeAlias, TypeVar

from flint import arb

from .balls import ball, cost, measured
from .functions import NotExact, exactly, in_balls, integer, scope_value
from .nodes import FUNCTIONS, LARGEST_POWER, SCOPES, Node, order, square_root
from .reading import Effort, Rejected, Undefined, Unknown, bits_of, shown
from .registry import Enclosure, computed
from .terms import Terms

_MOST_BITS, _SERIES_TERMS, _LARGEST_SERIES_POWER = 10**6, (6, 12, 24), 100
_FUNCTION = 100
"""What a function costs, in multiplications."""
_LAZY = ("Limit", *SCOPES)
"""Heads whose parts are computed many times, or not at all."""


V = TypeVar("V")


class Field(Protocol[V]):
    """What expressions have values in; operations raise Rejected where there is no value, or none that is known."""

    effort: Effort

    def number(self, value: Fraction) -> V: ...

    def symbol(self, node: Node) -> V:
        raise Rejected(f"{shown(node.name)} has no value here")

    def primitive_value(self, node: Node) -> V:
        """Return the value of a node that is no operation; where a number may be known by two bounds, a primitive's."""
        raise Rejected(f"{node.head} has no value here")

    def plus(self, left: V, right: V) -> V: ...

    def times(self, left: V, right: V) -> V: ...

    def inverse(self, value: V) -> V: ...

    def whole_power(self, value: V, power: int) -> V:
        """Return a power; the exponent is not negative."""
        ...

    def real_power(self, base: V, power: V | Fraction) -> V: ...

    def exp(self, value: V) -> V: ...

    def log(self, value: V) -> V: ...

    def is_zero(self, value: V) -> bool:
        """Whether a value is known to be 0, which limits ask for."""
        raise Unknown("a limit is outside what has a value here")

    def function(self, head: str, args: Sequence[V]) -> V:
        """Return the value of a function beyond powers, exp and log."""
        raise Rejected(f"{head} has no value here")

    def integer(self, value: V) -> int:
        """Return a value that is an integer, which sums and recursions ask for."""
        raise Rejected("a sum, a product or a recursion has no value here")

    def sign(self, value: V) -> int | None:
        """Return the sign of a value, None where it is not decided, which pieces ask for."""
        raise Rejected("pieces have no value here")

    def hull(self, one: V, other: V) -> V:
        """Return what contains two values."""
        raise Rejected("which of some pieces holds is not decided")

    def scope(self, node: Node, evaluate: "EvaluateIn[V]", symbols: Mapping[Node, V]) -> V:
        """Return the value of pieces, a sum, a product or a recursion; `symbols` have values that may be bound."""
        return scope_value(node, self, partial(evaluate, self))


class Exact(Field[Fraction]):
    """Exact rationals."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort

    def _kept(self, value: Fraction) -> Fraction:
        bits = bits_of(value)
        if bits > _MOST_BITS:
            raise NotExact(f"an exact number of more than {_MOST_BITS} bits comes up")
        # A product and the greatest common divisor that reduces it.
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
    """Real balls at the precision in force; what is not finite is refused."""

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
            # Of a ball around 0 FLINT has no power.
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
            raise Undefined("a power of what is not known to be positive")
        return self.exp(exponent * self.log(base))

    def exp(self, value: arb) -> arb:
        return self._kept(value.exp(), 30)

    def log(self, value: arb) -> arb:
        if not value > 0:
            raise Undefined("a logarithm of what is not known to be positive")
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


EvaluateIn: TypeAlias = Callable[[Field[V], Sequence[Node], Mapping[Node, V]], list[V]]
"""What returns the values of nodes in a field, those of some being known."""


def _bounds(effort: Effort, node: Node) -> Enclosure:
    """Return the two bounds of a primitive of numbers. Raises Rejected for any other node."""
    if node.primitive is None or node.primitive.encloses is None:
        raise Rejected(f"{node.head} has no value here")
    if any(argument.head != "number" for argument in node.args):
        raise Rejected(f"{node.head}: an argument is no exact rational number here")
    return computed(effort, node.primitive, tuple(argument.number for argument in node.args))


def evaluate(terms: Terms, roots: Sequence[Node], field: Field[V], known: Mapping[Node, V] | None = None) -> list[V]:
    """Return the values of some nodes in a field; some may be known. Raises Rejected where one has none."""
    values = dict(known or {})
    for node in order(terms.effort, roots, lambda n: n in values or n.head in _LAZY):
        if node not in values:
            values[node] = value_of(terms, node, field, values)
    return [values[root] for root in roots]


def value_of(terms: Terms, node: Node, field: Field[V], values: Mapping[Node, V]) -> V:
    """Return the value of a node whose arguments' values are known. Raises Rejected where it has none."""
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
            return _limit(terms, node, field)
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


class _TooFewTerms(ArithmeticError):  # noqa: N818
    """All known coefficients cancelled."""


def _limit(terms: Terms, node: Node, field: Field[V]) -> V:
    """Return a limit by a truncated Laurent series x^v Σ c_i x^i around the point, known up to O(x^(v + terms)).

    The coefficients are in the field; whatever is divided by is a leading coefficient, so that the
    limit holds where none of these vanishes. At ∞ the series is in 1/x.
    """
    inner, symbol, point = node.args
    if point.head == "Infinity":
        inner = terms.substitute(inner, {symbol.name: terms.power(symbol, -1)})
    elif point is not terms.zero:
        inner = terms.substitute(inner, {symbol.name: terms.add((point, symbol))})
    roots = [inner] if point.head == "Infinity" else [inner, point]
    # A limit inside that depends on the symbol is none of the constants, and is not read.
    parts = order(terms.effort, roots, lambda n: not n.free & symbol.free or n.head == "Limit")
    constants = [n for n in parts if not n.free & symbol.free]
    known = dict(zip(constants, evaluate(terms, constants, field), strict=True))
    for count in _SERIES_TERMS:
        try:
            valuation, series = _Series(field, symbol, count, known).expand(inner)
        except _TooFewTerms:
            continue
        if valuation + len(series) > 0:
            if valuation < 0:
                raise Rejected("a limit is infinite, or its series is undecided")
            return series[0] if valuation == 0 else field.number(Fraction(0))
    raise Rejected("a limit was not found in 24 terms of its series")


_Laurent: TypeAlias = tuple[int, list[V]]


class _Series(Generic[V]):
    def __init__(self, field: Field[V], symbol: Node, count: int, known: Mapping[Node, V]) -> None:
        self.field, self.symbol, self.count, self.known = field, symbol, count, known
        self.zero = field.number(Fraction(0))

    def expand(self, root: Node) -> _Laurent[V]:
        parts: dict[Node, _Laurent[V]] = {}
        for node in order(self.field.effort, [root], lambda n: n in self.known):
            if node in self.known:
                parts[node] = self.stripped(0, [self.known[node]] + [self.zero] * (self.count - 1))
            elif node is self.symbol:
                parts[node] = (1, [self.field.number(Fraction(1))] + [self.zero] * (self.count - 1))
            elif node.head == "Add":
                parts[node] = self.sum([parts[a] for a in node.args])
            elif node.head == "Mul":
                parts[node] = parts[node.args[0]]
                for argument in node.args[1:]:
                    parts[node] = self.product(parts[node], parts[argument])
            elif node.head == "Pow" and node.args[1].head == "number" and node.args[1].number.denominator == 1:
                parts[node] = self.power(parts[node.args[0]], int(node.args[1].number))
            else:
                raise Unknown(f"a limit of what is not rational ({node.head})")
        return parts[root]

    def stripped(self, valuation: int, coefficients: list[V]) -> _Laurent[V]:
        skip = next((i for i, c in enumerate(coefficients) if not self.field.is_zero(c)), len(coefficients))
        return valuation + skip, coefficients[skip:]

    def sum(self, parts: list[_Laurent[V]]) -> _Laurent[V]:
        low = min(valuation for valuation, _ in parts)
        known = min(valuation + len(series) for valuation, series in parts) - low
        total = [self.zero] * known
        for valuation, series in parts:
            for i, coefficient in enumerate(series[: max(0, known - (valuation - low))]):
                total[valuation - low + i] = self.field.plus(total[valuation - low + i], coefficient)
        return self.stripped(low, total)

    def convolved(self, left: list[V], right: list[V], k: int, start: int = 0) -> V:
        total = self.zero
        for i in range(start, k + 1):
            if not (self.field.is_zero(left[i]) or self.field.is_zero(right[k - i])):
                total = self.field.plus(total, self.field.times(left[i], right[k - i]))
        return total

    def product(self, left: _Laurent[V], right: _Laurent[V]) -> _Laurent[V]:
        known = min(len(left[1]), len(right[1]))
        self.field.effort.spend(known * known)
        return self.stripped(left[0] + right[0], [self.convolved(left[1], right[1], k) for k in range(known)])

    def power(self, base: _Laurent[V], power: int) -> _Laurent[V]:
        if abs(power) > _LARGEST_SERIES_POWER:
            raise Rejected(f"a power of more than {_LARGEST_SERIES_POWER} in a limit")
        factor = base if power > 0 else self.inverse(base)
        result = factor
        for _ in range(abs(power) - 1):
            result = self.product(result, factor)
        return result

    def inverse(self, series: _Laurent[V]) -> _Laurent[V]:
        valuation, coefficients = series
        if not coefficients:
            raise _TooFewTerms
        first = self.field.inverse(coefficients[0])
        minus, result = self.field.times(self.field.number(Fraction(-1)), first), [first]
        for k in range(1, len(coefficients)):
            result.append(self.field.times(self.convolved(coefficients, result, k, 1), minus))
        return -valuation, result
