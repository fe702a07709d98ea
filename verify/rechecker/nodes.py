"""The nodes of the graph of a file's expressions, and the order in which they are gone through."""

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt
from typing import Any

from .primitives.table import PRIMITIVES


class Node:
    """A node of the graph; `value` is a number's Fraction or a symbol's name, `free` a mask of free symbols.

    `total`: it is known to have a value at all real values of its symbols.
    """

    __slots__ = ("args", "free", "head", "serial", "total", "value")

    def __init__(self, head: str, args: "tuple[Node, ...]", value: Any, free: int, serial: int, total: bool) -> None:
        self.head, self.args, self.value, self.free, self.serial = head, args, value, free, serial
        self.total = total


def encloses(node: Node) -> bool:
    """Whether a node is a primitive whose value is known by an enclosure only."""
    return node.head in PRIMITIVES and PRIMITIVES[node.head].encloses is not None


def square_root(value: Fraction) -> Fraction | None:
    """Return the square root where it is rational."""
    if value < 0:
        return None
    p, q = isqrt(value.numerator), isqrt(value.denominator)
    return Fraction(p, q) if p * p == value.numerator and q * q == value.denominator else None


def order(roots: Iterable[Node], stop: Any = None) -> list[Node]:
    """Return the parts of some nodes, each once, arguments first; nothing is looked for below where it stops."""
    found: dict[Node, None] = {}
    waiting: list[tuple[Node, bool]] = [(root, False) for root in roots]
    while waiting:
        node, ready = waiting.pop()
        if node in found:
            continue
        if ready or not node.args or (stop is not None and stop(node)):
            found[node] = None
        else:
            waiting.append((node, True))
            waiting.extend((argument, False) for argument in node.args if argument not in found)
    return list(found)
