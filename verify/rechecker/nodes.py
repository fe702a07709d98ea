"""The nodes of the graph of a file's expressions, and the order in which they are visited."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import isqrt
from typing import NamedTuple, TypeAlias

from .reading import Effort, bits_of
from .registry import Primitive

Name: TypeAlias = str | tuple[str, "Name | int"]
"""The name of a symbol: the name in the file or, for a symbol of this program, its purpose and a name or a number."""

LARGEST_POWER, _FOLDED_BITS = 10_000, 2**14

Value: TypeAlias = Fraction | Name | Primitive | None
"""A number's Fraction, a symbol's name, a primitive, or None for an operation."""


class Node:
    """A node of the graph; only numbers have a `number`, only symbols a `name`; `free` is a mask of free symbols.

    `total` tells whether the node is known to have a value at all real values of its symbols.
    """

    __slots__ = ("args", "free", "head", "name", "number", "primitive", "serial", "total")
    number: Fraction
    name: Name
    primitive: Primitive | None

    def __init__(self, head: str, args: "tuple[Node, ...]", value: Value, free: int, serial: int, total: bool) -> None:
        self.head, self.args, self.free, self.serial, self.total = head, args, free, serial, total
        self.primitive = None
        if isinstance(value, Fraction):
            self.number = value
        elif isinstance(value, Primitive):
            self.primitive = value
        elif value is not None:
            self.name = value


def encloses(node: Node) -> bool:
    """Whether a node is a primitive whose value is known by an enclosure only."""
    return node.primitive is not None and node.primitive.encloses is not None


def square_root(value: Fraction) -> Fraction | None:
    """Return the square root if it is rational, else None."""
    if value < 0:
        return None
    p, q = isqrt(value.numerator), isqrt(value.denominator)
    return Fraction(p, q) if p * p == value.numerator and q * q == value.denominator else None


def folded(base: Fraction, power: Fraction) -> Fraction | None:
    """Return a power of a number as a number if it is small; else None.

    Only an integer exponent or, if the base has a rational square root, a half-integer is accepted. The caller ensures
    that the exponent of the base 0 is positive.
    """
    if base in (0, 1):
        return Fraction(base)
    if power.denominator == 2 and (root := square_root(base)) is not None:
        base, power = root, power * 2
    small = power.denominator == 1 and abs(power) <= LARGEST_POWER and bits_of(base) * abs(power) <= _FOLDED_BITS
    return base ** int(power) if small else None


def order(effort: Effort, roots: Iterable[Node], stop: Callable[[Node], bool] | None = None) -> list[Node]:
    """Return the parts of some nodes, each once, arguments first; a node that `stop` accepts is not entered."""
    ordered: dict[Node, None] = {}
    waiting: list[tuple[Node, bool]] = [(root, False) for root in roots]
    while waiting:
        node, ready = waiting.pop()
        if node in ordered:
            continue
        if ready or not node.args or (stop is not None and stop(node)):
            ordered[node] = None
        else:
            effort.spend(1 + len(node.args))
            waiting.append((node, True))
            waiting.extend((argument, False) for argument in node.args if argument not in ordered)
    return list(ordered)


ONE_ARGUMENT = (*("Abs", "sign", "floor", "ceiling", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "factorial"),)
FUNCTIONS = (*ONE_ARGUMENT, "Max", "Min", "binomial", "pi")
"""Heads whose value is a function of their arguments' values."""
TOTAL = (*(set(FUNCTIONS) - {"tan", "factorial", "binomial"}),)
SERIES = ("Sum", "Product")
SCOPES = (*SERIES, "Iterate", "Piecewise")
"""Heads that compute a part many times, or not at all."""
BINDERS = ("Subs", "Limit", *SERIES, "Iterate")


class Bound(NamedTuple):
    """The parts of a node that binds symbols: the parts in which they are bound, the symbols, and the other parts."""

    inside: tuple[Node, ...]
    symbols: tuple[Node, ...]
    outside: tuple[Node, ...]


def bound_in(node: Node) -> Bound:
    """Return the parts of a node that binds symbols."""
    if node.head != "Iterate":
        inside, symbol, *outside = node.args
        return Bound((inside,), (symbol,), tuple(outside))
    place, count, counter, *rest = node.args
    size = len(rest) // 3
    return Bound(tuple(rest[2 * size :]), (counter, *rest[:size]), (place, count, *rest[size : 2 * size]))


def with_parts(node: Node, inside: Sequence[Node], outside: Sequence[Node]) -> list[Node]:
    """Return the arguments of a node that binds symbols, with other inside and outside parts."""
    symbols = bound_in(node).symbols
    if node.head != "Iterate":
        return [*inside, *symbols, *outside]
    place, count, *start = outside
    return [place, count, *symbols, *start, *inside]


def free_in(nodes: Iterable[Node]) -> int:
    """Return the mask of the symbols that are free in some nodes."""
    mask = 0
    for node in nodes:
        mask |= node.free
    return mask
