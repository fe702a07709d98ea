"""The evaluator's trees as SymPy expressions, written so that nothing cancels, and read back."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import sympy as sp

from tests.verify.statements.applied import NAMES
from tests.verify.statements.numbers import UnsureError, lifted
from tests.verify.statements.trees import INFINITY, Tree, symbol, value_at
from verify import Case, Iterate
from verify.language.expressions import RELATIONS
from verify.language.heads.scopes import outermost
from verify.language.heads.table import FUNCTIONS

HEADS = {"<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge", "==": "Eq"}
_SIGNS = {sp.Lt: "<", sp.Le: "<=", sp.Gt: ">", sp.Ge: ">=", sp.Eq: "=="}
_CALLS = {FUNCTIONS[name].make: name for name in NAMES}
_CONSTANTS = {"infinity": sp.oo, "pi": sp.pi}
_HEADS = {"add": sp.Add, "mul": sp.Mul, "power": sp.Pow, "exp": sp.exp, "log": sp.log}
_OPS = {head: op for op, head in _HEADS.items()}


class NotWrittenError(ValueError):
    """SymPy does not keep the meaning of the expression."""


def written(node: Tree, symbols: Mapping[str, sp.Symbol], *, keep: bool = False) -> Any:
    """Return the tree as a SymPy expression; with `keep` nothing is evaluated, otherwise all but marked parts."""
    name = node.label
    if node.op == "number":
        return sp.Rational(name.numerator, name.denominator)
    if node.op == "symbol":
        return symbols[name]
    if node.op in _CONSTANTS:
        return _CONSTANTS[node.op]
    parts, evaluate = [written(part, symbols, keep=keep) for part in node.parts], not (keep or node.kept)
    if node.op in _HEADS:
        return _HEADS[node.op](*parts, evaluate=evaluate)
    if node.op == "call":
        return FUNCTIONS[name].make(*parts, evaluate=evaluate)
    if node.op == "Piecewise":
        return _pieces(parts, name, evaluate=evaluate)
    return _BINDERS[node.op](parts, name, symbols)


def _limit(parts: list[Any], name: Any, symbols: Mapping[str, sp.Symbol]) -> Any:
    return sp.Limit(parts[0], symbols[name], parts[1])


def _derivative(parts: list[Any], name: Any, symbols: Mapping[str, sp.Symbol]) -> Any:
    return sp.Derivative(parts[0], (symbols[name[0]], name[1]))


def _subs(parts: list[Any], name: Any, symbols: Mapping[str, sp.Symbol]) -> Any:
    return sp.Subs(parts[0], symbols[name], parts[1])


def _case(parts: list[Any], name: Any, symbols: Mapping[str, sp.Symbol]) -> Any:
    return Case(symbols[name[0]], *parts)


def _sum(parts: list[Any], name: Any, symbols: Mapping[str, sp.Symbol]) -> Any:
    return sp.Sum(parts[0], (symbols[name], *parts[1:]))


def _product(parts: list[Any], name: Any, symbols: Mapping[str, sp.Symbol]) -> Any:
    return sp.Product(parts[0], (symbols[name], *parts[1:]))


def _iterate(parts: list[Any], name: Any, symbols: Mapping[str, sp.Symbol]) -> Any:
    (place, *bound), (count, *states) = name, parts
    split = len(bound) - 1
    return Iterate(place, count, tuple(symbols[each] for each in bound), tuple(states[:split]), tuple(states[split:]))


_BINDERS = {"limit": _limit, "derivative": _derivative, "subs": _subs, "case": _case}
_BINDERS |= {"Sum": _sum, "Product": _product, "Iterate": _iterate}


def _pieces(parts: list[Any], relations: tuple[str, ...], *, evaluate: bool) -> Any:
    *pieces, last = parts
    listed = [
        (value, relation_of(left, relation, right))
        for left, right, value, relation in zip(pieces[::3], pieces[1::3], pieces[2::3], relations, strict=True)
    ]
    return sp.Piecewise(*listed, (last, True), evaluate=evaluate)


def read(expression: Any, words: Mapping[str, tuple[str, ...]]) -> Tree:
    """Return a SymPy expression as a tree, node by node as SymPy stores it."""
    if isinstance(expression, sp.Rational):
        return Tree("number", (), Fraction(int(expression.p), int(expression.q)))
    if isinstance(expression, sp.Symbol):
        return symbol(expression.name)
    if isinstance(expression, sp.core.numbers.Exp1):
        return Tree("exp", (Tree("number", (), Fraction(1)),))
    if expression in _CONSTANTS.values():
        return INFINITY if expression is sp.oo else Tree("pi")
    found = next((reads for kind, reads in _READ.items() if isinstance(expression, kind)), None)
    if found is not None:
        return found(expression, words)
    kind, parts = type(expression), tuple(read(a, words) for a in expression.args)
    if kind in _CALLS:
        return Tree("call", parts, _CALLS[kind])
    if kind not in _OPS:
        raise NotWrittenError(f"{expression} is a {kind.__name__}")
    return Tree(_OPS[kind], parts)


Words: TypeAlias = Mapping[str, tuple[str, ...]]


def _read_case(expression: Any, words: Words) -> Tree:
    word, *choices = expression.args
    return Tree("case", tuple(read(a, words) for a in choices), (str(word), words[str(word)]))


def _read_limit(expression: Any, words: Words) -> Tree:
    inner, variable, point, *_ = expression.args
    return Tree("limit", (read(inner, words), read(point, words)), variable.name)


def _read_derivative(expression: Any, words: Words) -> Tree:
    ((variable, order),) = expression.variable_count
    return Tree("derivative", (read(expression.args[0], words),), (variable.name, int(order)))


def _read_subs(expression: Any, words: Words) -> Tree:
    inner, (variable,), (point,) = expression.args
    return Tree("subs", (read(inner, words), read(point, words)), variable.name)


def _read_series(expression: Any, words: Words) -> Tree:
    function, (bound, *ends) = outermost(expression)
    return Tree(type(expression).__name__, tuple(read(each, words) for each in (function, *ends)), bound.name)


def _read_pieces(expression: Any, words: Words) -> Tree:
    *pieces, (last, always) = expression.args
    if always != sp.true or any(type(condition) not in _SIGNS for _, condition in pieces):
        raise NotWrittenError(f"{expression} has other conditions")
    parts = [read(part, words) for value, condition in pieces for part in (*condition.args, value)]
    return Tree("Piecewise", (*parts, read(last, words)), tuple(_SIGNS[type(condition)] for _, condition in pieces))


def _read_iterate(expression: Any, words: Words) -> Tree:
    place, count, bound, starts, steps = expression.args
    parts = [read(part, words) for part in (count, *starts, *steps)]
    return Tree("Iterate", tuple(parts), (int(place), *(each.name for each in bound)))


_READ: Mapping[Any, Callable[[Any, Words], Tree]] = {
    Case: _read_case,
    sp.Limit: _read_limit,
    sp.Derivative: _read_derivative,
    sp.Subs: _read_subs,
    sp.Sum: _read_series,
    sp.Product: _read_series,
    sp.Piecewise: _read_pieces,
    Iterate: _read_iterate,
}


def faithful(
    node: Tree,
    symbols: Mapping[str, sp.Symbol],
    points: Iterable[Mapping[str, Any]],
    definitions: Mapping[str, Tree] | None = None,
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> Any:
    """Return the tree as a SymPy expression that, as stored, has the tree's value, or none, at each point.

    If SymPy's evaluation changes a value, nothing is evaluated. Raise NotWrittenError if a value still differs.
    """
    expected = []
    for point in points:
        try:
            expected.append((point, value_at(node, point, definitions)))
        except UnsureError:
            continue
    for keep in (False, True):
        try:
            expression = written(node, symbols, keep=keep)
            back = read(expression, words or {})
            if all(same(right, value_at(back, point, definitions)) for point, right in expected):
                return expression
        except (UnsureError, ValueError, TypeError):
            # NotWrittenError is a ValueError; SymPy raises others when it compares expressions that are not numbers.
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
    """Return the unevaluated relation between two expressions."""
    return RELATIONS[HEADS[relation]](left, right, evaluate=False)
