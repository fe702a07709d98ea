"""The evaluator's trees as SymPy expressions, written so that nothing cancels, and read back."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from tests.verify.statements.numbers import UnsureError, lifted
from tests.verify.statements.trees import INFINITY, Tree, symbol, value_at
from verify import Case
from verify.language.expressions import RELATIONS

HEADS = {"<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge", "==": "Eq"}


class NotWrittenError(ValueError):
    """SymPy does not keep the meaning of the expression."""


def written(node: Tree, symbols: Mapping[str, sp.Symbol], *, keep: bool = False) -> Any:
    """Return the tree as a SymPy expression; with `keep` nothing is evaluated, else only marked parts are kept."""
    name = node.label
    if node.op == "number":
        return sp.Rational(name.numerator, name.denominator)
    if node.op == "symbol":
        return symbols[name]
    if node.op == "infinity":
        return sp.oo
    parts = [written(part, symbols, keep=keep) for part in node.parts]
    heads = {"add": sp.Add, "mul": sp.Mul, "power": sp.Pow, "exp": sp.exp, "log": sp.log}
    if node.op in heads:
        return heads[node.op](*parts, evaluate=not (keep or node.kept))
    if node.op == "limit":
        return sp.Limit(parts[0], symbols[name], parts[1])
    if node.op == "derivative":
        return sp.Derivative(parts[0], (symbols[name[0]], name[1]))
    if node.op == "subs":
        return sp.Subs(parts[0], symbols[name], parts[1])
    return Case(symbols[name[0]], *parts)


def read(expression: Any, words: Mapping[str, tuple[str, ...]]) -> Tree:
    """Return a SymPy expression as a tree, node by node as SymPy stores it."""
    if isinstance(expression, sp.Rational):
        return Tree("number", (), Fraction(int(expression.p), int(expression.q)))
    if expression is sp.oo:
        return INFINITY
    if isinstance(expression, sp.Symbol):
        return symbol(expression.name)
    if isinstance(expression, sp.core.numbers.Exp1):
        return Tree("exp", (Tree("number", (), Fraction(1)),))
    arguments = expression.args
    if isinstance(expression, Case):
        return Tree("case", tuple(read(a, words) for a in arguments[1:]), (str(arguments[0]), words[str(arguments[0])]))
    if isinstance(expression, sp.Limit):
        return Tree("limit", (read(arguments[0], words), read(arguments[2], words)), arguments[1].name)
    if isinstance(expression, sp.Derivative):
        ((variable, order),) = expression.variable_count  # pyright: ignore[reportGeneralTypeIssues]
        return Tree("derivative", (read(arguments[0], words),), (variable.name, int(order)))
    if isinstance(expression, sp.Subs):
        inner, (variable,), (point,) = arguments
        return Tree("subs", (read(inner, words), read(point, words)), variable.name)
    heads = {sp.Add: "add", sp.Mul: "mul", sp.Pow: "power", sp.exp: "exp", sp.log: "log"}
    if type(expression) not in heads:
        raise NotWrittenError(f"{expression} is a {type(expression).__name__}")
    return Tree(heads[type(expression)], tuple(read(a, words) for a in arguments))


def faithful(
    node: Tree,
    symbols: Mapping[str, sp.Symbol],
    points: Iterable[Mapping[str, Any]],
    definitions: Mapping[str, Tree] | None = None,
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> Any:
    """Return the tree as a SymPy expression that, as stored, has a value exactly where the tree has, and the same one.

    If SymPy would cancel, nothing is evaluated. Raise NotWrittenError if that does not help either.
    """
    expected = []
    for point in points:
        try:
            expected.append((point, value_at(node, point, definitions)))
        except UnsureError:
            continue
    for keep in (False, True):
        expression = written(node, symbols, keep=keep)
        try:
            back = read(expression, words or {})
            if all(same(right, value_at(back, point, definitions)) for point, right in expected):
                return expression
        except (UnsureError, NotWrittenError):
            continue
    raise NotWrittenError(f"SymPy does not keep {node}")


def same(x: Any, y: Any) -> bool:
    """Whether two values may be equal, or both are missing."""
    if x is None or y is None:
        return x is y
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x == y
    # Two intervals that contain the same number overlap.
    x, y = lifted(x), lifted(y)
    return (x < y) is not True and (x > y) is not True


def relation_of(left: Any, relation: str, right: Any) -> Any:
    """Return the relation between two expressions, not evaluated."""
    return RELATIONS[HEADS[relation]](left, right, evaluate=False)
