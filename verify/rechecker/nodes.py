"""The nodes of the graph of a file's expressions, and the order in which they are gone through."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import isqrt
from typing import TypeAlias

from .primitives.table import PRIMITIVES

Name: TypeAlias = str | tuple[str, "Name | int"]
"""What a symbol is called: as in the file, or, where this program introduces it, what it is for and of what."""

Value: TypeAlias = Fraction | Name | None
"""A number's Fraction, a symbol's name, None for what is neither."""


class Node:
    """A node of the graph; numbers alone have a `number`, symbols alone a `name`; `free` is a mask of free symbols.

    `total`: it is known to have a value at all real values of its symbols.
    """

    __slots__ = ("args", "free", "head", "name", "number", "serial", "total")
    number: Fraction
    name: Name

    def __init__(self, head: str, args: "tuple[Node, ...]", value: Value, free: int, serial: int, total: bool) -> None:
        self.head, self.args, self.free, self.serial, self.total = head, args, free, serial, total
        if value is None:
            return
        if isinstance(value, Fraction):
            self.number = value
        else:
            self.name = value


def encloses(node: Node) -> bool:
    """Whether a node is a primitive whose value is known by an enclosure only."""
    return node.head in PRIMITIVES and PRIMITIVES[node.head].encloses is not None


def square_root(value: Fraction) -> Fraction | None:
    """Return the square root where it is rational."""
    if value < 0:
        return None
    p, q = isqrt(value.numerator), isqrt(value.denominator)
    return Fraction(p, q) if p * p == value.numerator and q * q == value.denominator else None


def order(roots: Iterable[Node], stop: Callable[[Node], bool] | None = None) -> list[Node]:
    """Return the parts of some nodes, each once, arguments first; nothing is looked for below where it stops."""
    ordered: dict[Node, None] = {}
    waiting: list[tuple[Node, bool]] = [(root, False) for root in roots]
    while waiting:
        node, ready = waiting.pop()
        if node in ordered:
            continue
        if ready or not node.args or (stop is not None and stop(node)):
            ordered[node] = None
        else:
            waiting.append((node, True))
            waiting.extend((argument, False) for argument in node.args if argument not in ordered)
    return list(ordered)
