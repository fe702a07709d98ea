"""Expressions as trees, and their values by a small evaluator that shares nothing with the engine.

The evaluator returns a Fraction, or an mpmath interval that contains the value. An expression has a value only if all
of its parts as written have one, including parts that cancel and all definitions that are used. x**0 is 1, and so is
0**0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial
from typing import Any

from mpmath import iv

from tests.verify.statements import applied
from tests.verify.statements.numbers import (
    LARGEST_POWER,
    PRECISIONS,
    NoValueError,
    UnsureError,
    convolved,
    exp_series,
    exponential,
    log_series,
    logarithm,
    plus,
    power,
    powered,
    product_of,
    sign,
    summed,
    times,
)


@dataclass(frozen=True)
class Tree:
    """An operation and its parts; `label` is other data, such as a leaf's number or name, or a bound symbol.

    If `kept` is true, SymPy must keep the node as it is written.
    """

    op: str
    parts: tuple["Tree", ...] = ()
    label: Any = None
    kept: bool = field(default=False, compare=False)

    def __add__(self, other):
        return Tree("add", (self, tree(other)))

    def __radd__(self, other):
        return tree(other) + self

    def __mul__(self, other):
        return Tree("mul", (self, tree(other)))

    def __rmul__(self, other):
        return tree(other) * self

    def __neg__(self):
        return tree(-1) * self

    def __sub__(self, other):
        return self + -tree(other)

    def __rsub__(self, other):
        return tree(other) - self

    def __pow__(self, other):
        return Tree("power", (self, tree(other)))

    def __truediv__(self, other):
        return self * tree(other) ** -1

    def __rtruediv__(self, other):
        return tree(other) / self

    def names(self) -> frozenset[str]:
        """Return the names of all symbols in the tree, including bound ones."""
        mine = frozenset((self.label,)) if self.op == "symbol" else frozenset()
        return mine.union(*(part.names() for part in self.parts))


def tree(value: "Tree | Fraction | int") -> Tree:
    """Return a number as a tree; return a tree unchanged."""
    return value if isinstance(value, Tree) else Tree("number", (), Fraction(value))


def symbol(name: str) -> Tree:
    """Return a symbol as a tree."""
    return Tree("symbol", (), name)


def kept(node: Tree) -> Tree:
    """Return the node, marked to be kept as it is written."""
    return Tree(node.op, node.parts, node.label, True)


def exp(part: Tree) -> Tree:
    """Return an exponential."""
    return Tree("exp", (tree(part),))


def log(part: Tree) -> Tree:
    """Return a logarithm."""
    return Tree("log", (tree(part),))


def sqrt(part: Tree) -> Tree:
    """Return a square root."""
    return tree(part) ** Fraction(1, 2)


INFINITY = Tree("infinity")


def limit(inner: Tree, name: str, point: Tree) -> Tree:
    """Return the limit of a rational function as a symbol tends to a point, or to INFINITY."""
    return Tree("limit", (tree(inner), tree(point)), name)


def derivative(inner: Tree, name: str, order: int = 1) -> Tree:
    """Return the derivative of an order with respect to a symbol, at that symbol's value."""
    return Tree("derivative", (tree(inner),), (name, order))


def subs(inner: Tree, name: str, at: Tree) -> Tree:
    """Return the expression with a symbol replaced by another expression."""
    return Tree("subs", (tree(inner), tree(at)), name)


def case(name: str, words: tuple[str, ...], *choices: Tree) -> Tree:
    """Return a tree that selects one of the choices by a parameter's word."""
    return Tree("case", tuple(map(tree, choices)), (name, words))


_SERIES = {"exp": exp_series, "log": log_series}


class Point:
    """Values of parameters and variables by name, and definitions, which are evaluated when they are used."""

    def __init__(self, values: Mapping[str, Any], definitions: Mapping[str, Tree] | None = None) -> None:
        self.values, self.definitions = dict(values), dict(definitions or {})

    def value(self, node: Tree) -> Any:
        """Return the value of a node. Raise NoValueError if there is none."""
        match node.op:
            case "number":
                return node.label
            case "symbol":
                known = node.label in self.values
                return self.values[node.label] if known else self.value(self.definitions[node.label])
            case "add":
                return summed([self.value(part) for part in node.parts])
            case "mul":
                return product_of([self.value(part) for part in node.parts])
            case "power":
                return power(self.value(node.parts[0]), self.value(node.parts[1]))
            case "exp":
                return exponential(self.value(node.parts[0]))
            case "log":
                return logarithm(self.value(node.parts[0]))
            case "case":
                word, words = node.label
                return self.value(node.parts[words.index(self.values[word])])
        return self.series(node, None, 0)[0]

    def with_values(self, **values: Any) -> "Point":
        """Return the point with additional values."""
        return Point(self.values | values, self.definitions)

    def series(self, node: Tree, name: str | None, order: int) -> list[Any]:
        """Return a node's Taylor coefficients in a symbol, at the symbol's value, up to an order."""
        constant = [Fraction(0)] * order
        match node.op:
            case "number":
                return [node.label, *constant]
            case "symbol":
                return self._symbol(node.label, name, order)
            case "add":
                return [summed(terms) for terms in zip(*(self.series(p, name, order) for p in node.parts), strict=True)]
            case "mul":
                return self._product([self.series(part, name, order) for part in node.parts], order)
            case "power":
                return powered(*(self.series(part, name, order) for part in node.parts))
            case "exp" | "log":
                return _SERIES[node.op](self.series(node.parts[0], name, order))
            case "case":
                word, words = node.label
                return self.series(node.parts[words.index(self.values[word])], name, order)
            case "derivative":
                return self._derivative(node, name, order)
        if name is not None and name in node.names() | self._used(node):
            raise UnsureError("a series of a limit or a substitution")
        return [self._at_a_point(node), *constant]

    def _product(self, factors: list[list[Any]], order: int) -> list[Any]:
        result = [Fraction(1)] + [Fraction(0)] * order
        for factor in factors:
            result = convolved(result, factor)
        return result

    def _at_a_point(self, node: Tree) -> Any:
        """Return the value of a substitution, of a limit, or of a function that `applied` computes."""
        if node.op == "subs":
            at = self.value(node.parts[1])
            return self.with_values(**{node.label: at}).value(node.parts[0])
        return self._limit(node) if node.op == "limit" else applied.value_of(node, self)

    def _used(self, node: Tree) -> frozenset[str]:
        used = [self.definitions[n] for n in node.names() if n in self.definitions]
        return frozenset().union(*(d.names() | self._used(d) for d in used))

    def _symbol(self, mine: str, name: str | None, order: int) -> list[Any]:
        if mine not in self.values:
            return self.series(self.definitions[mine], name, order)
        slope = [Fraction(int(mine == name))] if order else []
        return [self.values[mine], *slope, *[Fraction(0)] * (order - 1)]

    def _derivative(self, node: Tree, name: str | None, order: int) -> list[Any]:
        mine, times_taken = node.label
        inner = node.parts[0]
        if name not in (None, mine):
            if name in inner.names() | self._used(inner):
                raise UnsureError("a mixed derivative")
            order = 0
        found = self.series(inner, mine, order + times_taken)
        return [
            times(Fraction(factorial(i + times_taken), factorial(i)), found[i + times_taken]) for i in range(order + 1)
        ]

    def _limit(self, node: Tree) -> Fraction:
        """Return the limit of a rational function, from its lowest or leading coefficients."""
        inner, at = node.parts
        above, below = _Quotients(self, node.label).expand(inner)
        if at.op == "infinity":
            degrees = (len(above), len(below))
            if degrees[0] > degrees[1]:
                raise NoValueError("an infinite limit")
            return above[-1] / below[-1] if above and degrees[0] == degrees[1] else Fraction(0)
        place = self.value(at)
        if not isinstance(place, Fraction):
            raise UnsureError("a limit at a point that is not rational")
        if not above:
            return Fraction(0)
        above, below = _moved(above, place), _moved(below, place)
        orders = [next(i for i, c in enumerate(p) if c) for p in (above, below)]
        if orders[0] < orders[1]:
            raise NoValueError("an infinite limit")
        return above[orders[0]] / below[orders[1]] if orders[0] == orders[1] else Fraction(0)


Quotient = tuple[list[Fraction], list[Fraction]]
"""Coefficients of a numerator and a denominator, the lowest first."""


class _Quotients:
    """Rational functions of one symbol, as two lists of rational coefficients, the lowest first."""

    def __init__(self, point: Point, name: str) -> None:
        self.point, self.name = point, name

    def expand(self, node: Tree) -> Quotient:
        """Return numerator and denominator. Raise NoValueError for a tree that has no value at any point."""
        if self.name not in node.names():
            value = self.point.value(node)
            if not isinstance(value, Fraction):
                raise UnsureError("a limit with coefficients that are not rational")
            return _short([value]), [Fraction(1)]
        match node.op:
            case "symbol":
                return [Fraction(0), Fraction(1)], [Fraction(1)]
            case "add":
                return _total(map(self.expand, node.parts))
            case "mul":
                return _product(map(self.expand, node.parts))
            case "power":
                exponent = node.parts[1].label
                if node.parts[1].op == "number" and exponent.denominator == 1 and abs(exponent) <= LARGEST_POWER:
                    base = self.expand(node.parts[0])
                    if exponent < 0 and not base[0]:
                        raise NoValueError("division by what is 0 everywhere")
                    base = base[::-1] if exponent < 0 else base
                    return _product([base] * abs(int(exponent)))
        raise UnsureError(f"a limit of {node.op}")


def _total(terms: Iterable[Quotient]) -> Quotient:
    above, below = [], [Fraction(1)]
    for p, q in terms:
        crossed = (_multiplied(above, q), _multiplied(p, below))
        length = max(map(len, crossed))
        padded = [c + [Fraction(0)] * (length - len(c)) for c in crossed]
        above, below = _short([x + y for x, y in zip(*padded, strict=True)]), _multiplied(below, q)
    return above, below


def _product(factors: Iterable[Quotient]) -> Quotient:
    above, below = [Fraction(1)], [Fraction(1)]
    for p, q in factors:
        above, below = _multiplied(above, p), _multiplied(below, q)
    return above, below


def _short(coefficients: list[Fraction]) -> list[Fraction]:
    while coefficients and not coefficients[-1]:
        coefficients = coefficients[:-1]
    return coefficients


def _multiplied(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    if not p or not q:
        return []
    product = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, x in enumerate(p):
        for j, y in enumerate(q):
            product[i + j] += x * y
    return product


def _moved(p: list[Fraction], place: Fraction) -> list[Fraction]:
    """Return the coefficients of a polynomial in t in powers of t − place."""
    result: list[Fraction] = []
    for c in reversed(p):
        raised = _multiplied(result, [place, Fraction(1)]) or [Fraction(0)]
        result = [raised[0] + c, *raised[1:]]
    return result


def value_at(node: Tree, values: Mapping[str, Any], definitions: Mapping[str, Tree] | None = None) -> Any:
    """Return the value of a tree, a fraction or an interval, or None if there is none.

    Raise UnsureError if the intervals do not decide.
    """
    for bits in PRECISIONS:
        iv.prec = bits
        try:
            return Point(values, definitions).value(node)
        except NoValueError:
            return None
        except UnsureError:
            if bits == PRECISIONS[-1]:
                raise
    raise AssertionError


RELATIONS = ("<", "<=", ">", ">=", "==")


def compared(left: Any, relation: str, right: Any) -> bool:
    """Return whether two values satisfy a relation. Raise UnsureError if their intervals do not decide it."""
    return _in_relation(sign(plus(left, times(Fraction(-1), right))), relation)


def _in_relation(difference: int, relation: str) -> bool:
    return {
        "<": difference < 0,
        "<=": difference <= 0,
        ">": difference > 0,
        ">=": difference >= 0,
        "==": difference == 0,
    }[relation]


def truth(
    left: Tree,
    relation: str,
    right: Tree,
    values: Mapping[str, Any],
    definitions: Mapping[str, Tree] | None = None,
    *,
    equal: bool = False,
) -> bool | None:
    """Return whether a relation holds; None if a side has no value. Raise UnsureError if the intervals do not decide.

    With `equal` the sides are equal by construction, so overlapping intervals count as equal.
    """
    for bits in PRECISIONS:
        iv.prec = bits
        try:
            point = Point(values, definitions)
            sides = point.value(left), point.value(right)
            difference = sign(plus(sides[0], times(Fraction(-1), sides[1])))
        except NoValueError:
            return None
        except UnsureError:
            continue
        assert not (equal and difference), "what was built to be equal is not"
        return _in_relation(difference, relation)
    if not equal:
        raise UnsureError("the sides are too close to each other")
    # The loop above may have ended before it found that a side has no value, so both sides are evaluated here.
    if None in (value_at(left, values, definitions), value_at(right, values, definitions)):
        return None
    return _in_relation(0, relation)
