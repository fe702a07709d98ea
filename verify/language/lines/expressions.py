# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false
"""Expressions and relations in text: Python's operators over a closed table of names; nothing is evaluated as code.

The text is parsed by `ast`, and each node is either in a table here or refused, with its column.
"""

import ast
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import sympy as sp

from verify.errors import InputError, TheoremError, meant
from verify.language.definedness import Provided, evaluated
from verify.language.expressions import RELATIONS
from verify.language.heads.scopes import SERIES
from verify.language.heads.table import ALIASES, CONSTANTS, FUNCTIONS, Head
from verify.language.labels import refuse_bad_name
from verify.language.parameters import LARGEST_EXPONENT, LONGEST_NUMBER, MOST_DIGITS

LONGEST = 2000
"""Maximum number of characters of a line."""
_DEEPEST = 150
"""Maximum nesting depth of an expression; each term of a sum adds one."""
_LARGEST_FACTORIAL = 500
"""Largest number that may be an argument of a factorial or a binomial."""
_LONGEST_ROOT = 60
"""Maximum number of digits of a number under a root, which SymPy factors."""

Relation: TypeAlias = sp.core.relational.Relational

_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "Eq",
    ast.Lt: "Lt",
    ast.LtE: "Le",
    ast.Gt: "Gt",
    ast.GtE: "Ge",
}
_INSTEAD: Mapping[type[ast.AST], str] = {
    ast.BitXor: "a power is written **",
    ast.NotEq: "an inequation has no sign; claim > or <, such as 0 < abs(x - y), or give a domain",
    ast.Or: "alternatives are outside the language: write a statement for each",
    ast.Not: "write the opposite relation",
    ast.IfExp: "write Piecewise((value, condition), …, (value, True))",
    ast.Mod: "the remainder of x by y is x - y*floor(x/y)",
    ast.FloorDiv: "write floor(x/y)",
}


_OPERATORS = ("and", "or", "not", "if", "else", "in", "is", "True", "False", "None")
"""Keywords of Python that are not typed as names by mistake."""
_REMEDIES: Mapping[str, str] = {
    r"=[<>]|<>|≠": "comparisons are <, <=, >, >= and ==",
    r"[²³]": "a power is written x**2",
    r"(?<![<>=!])=(?!=)": "equality is written ==",
    r"\b(where|such|all|every|when|with|given|subject)\b": "hypotheses follow `if`, and domains `for`",
    r"(?<![\w.])\d+(\.\d*)?[A-Za-z(]": "a product is written 2*x",
    r"\|": "an absolute value is written abs(x); norms and vectors are outside the language",
    r"[{}\\]": "formulas are written as in Python, such as x_1**2/(1 + y)",
    r"!": "a factorial is written factorial(n)",
}
"""Common mistakes as patterns, each with the way to write it."""


@dataclass(frozen=True)
class Part:
    """A part of a line: its text, and its first column, counted from 1; `name` is what errors call the line."""

    line: str
    text: str
    column: int
    name: str = "statement"

    def parsed(self) -> ast.expr:
        """Return the syntax tree. Raises InputError for text that is no Python expression, empty or nested too deep."""
        if not self.text.strip():
            raise self.error(None, "an expression is missing")
        try:
            tree = ast.parse(f"({self.text})", mode="eval").body
        except SyntaxError as error:
            shift = min(max((error.offset or 2) - 2, 0), len(self.text) - 1)
            said = "; ".join(filter(None, (error.msg, _remedy(self.text))))
            raise InputError(self.name, self.line, f"column {self.column + shift}: {said}") from None
        except (ValueError, RecursionError, MemoryError):
            raise self.error(None, "it cannot be parsed") from None
        if _depth(tree) > _DEEPEST:
            raise self.error(None, f"its parts are more than {_DEEPEST} deep inside one another")
        return tree

    def error(self, node: ast.AST | None, why: str) -> InputError:
        """Return the error that refuses a node, with its column, or the part, with the part's column."""
        column = self.column
        if isinstance(node, ast.expr):
            # Python counts bytes, and also counts the parenthesis that was put before the text.
            column += len(f"({self.text})".encode()[: node.col_offset].decode()) - 1
        return InputError(self.name, self.line, f"column {column}: {why}")

    def split(self) -> Iterator["Part"]:
        """Yield the parts between the commas that are in no parentheses."""
        begin = depth = 0
        for place, letter in enumerate(f"{self.text},"):
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and (depth <= 0 or place == len(self.text)):
                yield Part(self.line, self.text[begin:place], self.column + begin, self.name)
                begin = place + 1

    def source(self, node: ast.expr) -> str:
        """Return a node's source text."""
        return ast.get_source_segment(f"({self.text})", node) or ""


def _remedy(text: str) -> str:
    """Return the way to write a text that is no expression, if it has a common mistake; else ""."""
    names = [word for word in re.findall(r"\w+", text) if keyword.iskeyword(word) and word not in _OPERATORS]
    if names:
        return f"{names[0]} is a word of Python and cannot be a name: write {names[0]}_"
    return next((way for pattern, way in _REMEDIES.items() if re.search(pattern, text)), "")


def _depth(tree: ast.AST) -> int:
    """Return the nesting depth of a tree's expressions."""
    deepest, left = 0, [(tree, 1)]
    while left:
        node, depth = left.pop()
        deepest = max(deepest, depth)
        left += [(inner, depth + 1) for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.expr)]
    return deepest


def names_in(part: Part) -> list[tuple[str, int]]:
    """Return the free names of numbers in a part, each with its column, in order."""
    return sorted(((node.id, part.column + node.col_offset - 1) for node in _names(part, part.parsed())), key=_column)


def _column(name: tuple[str, int]) -> int:
    return name[1]


def _names(part: Part, node: ast.AST) -> Iterator[ast.Name]:
    """Yield the free names of numbers in a node."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        is_limit = _is_limit(node)
        arguments = [each for each in node.args if not (is_limit and _is_infinity(each))]
        inside = [name for argument in arguments for name in _names(part, argument)]
        has_bound = is_limit or (node.func.id in ("Sum", "Product") and _has_ends(node))
        bound = _bound(node).id if has_bound else None
        yield from (name for name in inside if name.id != bound)
    elif isinstance(node, ast.Name):
        if node.id == "oo":
            raise part.error(node, "oo belongs in a limit alone: a sum without end is Limit(Sum(f, (k, a, n)), n, oo)")
        if node.id in FUNCTIONS or node.id in ALIASES:
            raise part.error(node, f"{node.id} is a function: write {node.id}(…)")
        if node.id not in CONSTANTS:
            yield node
    else:
        for inner in ast.iter_child_nodes(node):
            yield from _names(part, inner)


def _has_ends(node: ast.Call) -> bool:
    """Whether a sum or a product has the form f, (k, a, b)."""
    ends = node.args[1] if len(node.args) == 2 else None
    return isinstance(ends, ast.Tuple) and len(ends.elts) == 3 and isinstance(ends.elts[0], ast.Name)


def _is_limit(node: ast.Call) -> bool:
    """Whether a call has the form Limit(f, x, a)."""
    called = isinstance(node.func, ast.Name) and node.func.id == "Limit"
    return called and len(node.args) == 3 and isinstance(node.args[1], ast.Name)


def _is_infinity(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "oo"


def _bound(node: ast.Call) -> ast.Name:
    """Return the name that a sum, a product or a limit binds, in the forms of `_has_ends` and `_is_limit`."""
    return node.args[1] if _is_limit(node) else node.args[1].elts[0]  # pyright: ignore[reportAttributeAccessIssue, reportReturnType]


def relations(part: Part, symbols: Mapping[str, sp.Symbol]) -> list[Relation]:
    """Return the relations of a part: comparisons, chains of them, joined by `and` or, as a list, by commas.

    Parameters
    ----------
    part
        The text.
    symbols
        The symbols that the part may use, by name.

    Raises
    ------
    InputError
        For a part outside the language, with its column.
    """
    tree = part.parsed()
    items = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    return [relation for item in items for relation in _compared(part, item, symbols)]


def _compared(part: Part, node: ast.expr, symbols: Mapping[str, sp.Symbol]) -> list[Relation]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [relation for value in node.values for relation in _compared(part, value, symbols)]
    if not isinstance(node, ast.Compare):
        inner = node.op if isinstance(node, ast.BoolOp | ast.UnaryOp) else node
        raise part.error(node, _INSTEAD.get(type(inner), "a relation is needed here, such as x <= y"))
    sides = [_expression(part, side, symbols) for side in (node.left, *node.comparators)]
    found: list[Relation] = []
    for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
        if (name := _COMPARISONS.get(type(operator))) is None:
            raise part.error(node, _INSTEAD.get(type(operator), "relations are <, <=, >, >= and =="))
        found.append(RELATIONS[name](left, right, evaluate=False))
    return found


def expression(part: Part, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return the expression of a part. Raises InputError for a part outside the language, with its column."""
    return _expression(part, part.parsed(), symbols)


def _expression(part: Part, node: ast.expr, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    match node:
        case ast.Constant():
            return _number(part, node)
        case ast.Name(id=name):
            return _named(part, node, name, symbols)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_expression(part, inner, symbols)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _expression(part, inner, symbols)
        case ast.BinOp(left=left, op=operator, right=right):
            return _operated(part, node, operator, [_expression(part, side, symbols) for side in (left, right)])
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return _applied(part, node, ALIASES.get(name, name), symbols)
        case _:
            raise part.error(node, _INSTEAD.get(type(node), "this is outside the language of statements"))


def _number(part: Part, node: ast.Constant) -> sp.Expr:
    text = part.source(node)
    if type(node.value) not in (int, float) or not text.replace(".", "").replace("_", "").isalnum():
        text = text if "e" in text.lower() and type(node.value) is float else ""
    if type(node.value) not in (int, float) or not text:
        raise part.error(node, "this is no number")
    exponent = text.lower().partition("e")[2] if type(node.value) is float else ""
    if exponent and abs(int(exponent)) > LARGEST_EXPONENT:
        raise part.error(node, f"decimal exponents are limited to ±{LARGEST_EXPONENT}")
    value = Fraction(node.value if type(node.value) is int else text)
    return _bounded(part, node, sp.Rational(value.numerator, value.denominator))


def _named(part: Part, node: ast.expr, name: str, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    if name in CONSTANTS:
        return CONSTANTS[name][0]
    if name not in symbols:
        raise part.error(node, f"{name} is not introduced; {meant(name, symbols)}")
    return symbols[name]


def _applied(part: Part, node: ast.Call, name: str, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return the application of a function to its arguments."""
    if name not in FUNCTIONS:
        near = meant(name, FUNCTIONS, "it has")
        listed = f"{near}{'' if near.endswith('?') else ';'} `verify language` lists all"
        raise part.error(node, f"{name} is no function of the language; {listed}")
    head, count = FUNCTIONS[name], len(node.args)
    if count < head.least or count > (head.most or count):
        raise part.error(node, f"write {head.written}: {name} has {count} argument{'' if count == 1 else 's'} here")
    if name in ("Sum", "Product"):
        return _series(part, node, head, symbols)
    if name == "Limit":
        return _limit(part, node, head, symbols)
    if name == "Piecewise":
        return _pieces(part, node, symbols)
    arguments = [_expression(part, argument, symbols) for argument in node.args]
    if name == "sqrt":
        return _power(part, node, arguments[0], sp.Rational(1, 2))
    if name in ("exp", "log"):
        return _bounded(part, node, head.make(*arguments), *arguments)
    if name in ("factorial", "binomial"):
        _refuse_long(part, node, arguments)
    held = head.make(*arguments, evaluate=False)
    value = _bounded(part, node, head.make(*arguments), held)
    # SymPy turns abs(x**n) into abs(x)**n, which does not show where x**n has a value.
    return held if held.free_symbols and isinstance(evaluated([held], value), Provided) else value


def _refuse_long(part: Part, node: ast.Call, arguments: Sequence[sp.Expr]) -> None:
    """Raise InputError if an argument of a factorial or binomial is a fraction, too large or (the first) negative."""
    numbers = [argument for argument in arguments if isinstance(argument, sp.Rational)]
    if any(number.q != 1 or number > _LARGEST_FACTORIAL for number in numbers):
        raise part.error(node, f"a number in it must be an integer up to {_LARGEST_FACTORIAL}")
    if numbers and numbers[0] is arguments[0] and numbers[0] < 0:
        raise part.error(node, f"{part.source(node)} has no value")


def _series(part: Part, node: ast.Call, head: Head, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return a sum or a product."""
    if not _has_ends(node):
        raise part.error(node, f"write {head.written}")
    name, (_, *ends) = _bound(node), node.args[1].elts  # pyright: ignore[reportAttributeAccessIssue]
    _refuse_bound(part, name, symbols)
    symbol = sp.Symbol(name.id, integer=True)
    inside = _expression(part, node.args[0], {**symbols, name.id: symbol})
    lower, upper = (_expression(part, end, symbols) for end in ends)
    return _bounded(part, node, head.make(inside, (symbol, lower, upper)))


def _refuse_bound(part: Part, name: ast.Name, symbols: Mapping[str, sp.Symbol]) -> None:
    """Raise InputError for a name that cannot be bound."""
    if name.id in symbols or name.id in CONSTANTS:
        raise part.error(name, f"{name.id} has another meaning: give the bound symbol another name")
    try:
        refuse_bad_name("bound symbol", name.id)
    except TheoremError as error:
        raise part.error(name, str(error)) from None


def _limit(part: Part, node: ast.Call, head: Head, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return a limit at a number, from both sides, or at infinity."""
    if not _is_limit(node):
        raise part.error(node, f"write {head.written}")
    name, symbol, point = _bound(node), sp.Symbol(_bound(node).id, real=True), node.args[2]
    _refuse_bound(part, name, symbols)
    inside = _expression(part, node.args[0], {**symbols, name.id: symbol})
    if _is_infinity(point):
        return _bounded(part, node, sp.Limit(inside, symbol, sp.oo))
    return _bounded(part, node, sp.Limit(inside, symbol, _expression(part, point, symbols), dir="+-"))


def _pieces(part: Part, node: ast.Call, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return a Piecewise, whose last piece has the condition True."""
    pieces: list[tuple[sp.Expr, sp.Basic]] = []
    for place, piece in enumerate(node.args, 1):
        if not (isinstance(piece, ast.Tuple) and len(piece.elts) == 2):
            raise part.error(piece, f"write {FUNCTIONS['Piecewise'].written}")
        value, condition = piece.elts
        is_otherwise = isinstance(condition, ast.Constant) and condition.value is True
        if is_otherwise != (place == len(node.args)):
            raise part.error(condition, "the last piece, and no other, has the condition True")
        pieces.append((_expression(part, value, symbols), sp.true if is_otherwise else _held(part, condition, symbols)))
    return _bounded(part, node, sp.Piecewise(*pieces))


def _held(part: Part, node: ast.expr, symbols: Mapping[str, sp.Symbol]) -> sp.Basic:
    """Return the evaluated condition, which must be one comparison."""
    found = _compared(part, node, symbols)
    if len(found) != 1:
        raise part.error(node, "a condition is one comparison")
    return found[0].func(*found[0].args)


def _operated(part: Part, node: ast.expr, operator: ast.operator, sides: Sequence[sp.Expr]) -> sp.Expr:
    left, right = sides
    match operator:
        case ast.Add():
            return _bounded(part, node, left + right, left, right)
        case ast.Sub():
            return _bounded(part, node, left - right, left, right)
        case ast.Mult():
            return _bounded(part, node, left * right, left, right)
        case ast.Div():
            return _bounded(part, node, left / right, left, 1 / right)
        case ast.Pow():
            return _power(part, node, left, right)
        case _:
            raise part.error(node, _INSTEAD.get(type(operator), "operators are +, -, *, / and **"))


def _power(part: Part, node: ast.expr, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    if isinstance(base, sp.Rational) and isinstance(exponent, sp.Rational):
        longer, whole = max(abs(int(base.p)), int(base.q)), int(abs(exponent))
        bits = longer.bit_length()
        # The first bound is below the power's number of bits, so that a long power is refused without computing it.
        if (bits - 1) * whole > LONGEST_NUMBER.bit_length() or longer**whole >= LONGEST_NUMBER:
            raise part.error(node, f"a number has more than {MOST_DIGITS} digits")
        if exponent.q != 1 and bits > _LONGEST_ROOT * 10 // 3:
            raise part.error(node, f"a number under a root has more than {_LONGEST_ROOT} digits")
    return _bounded(part, node, base**exponent, base, exponent)


def _bounded(part: Part, node: ast.expr, value: sp.Expr, *of: sp.Expr) -> sp.Expr:
    """Return a value made of the expressions `of`. Raises InputError for a number that is too long or not real.

    Raises InputError as well if SymPy lost a condition: it evaluates x/x to 1, which has a value at x = 0.
    """
    if isinstance(value, sp.Rational) and max(abs(int(value.p)), int(value.q)) >= LONGEST_NUMBER:
        raise part.error(node, f"a number has more than {MOST_DIGITS} digits")
    if value.has(sp.I, sp.zoo, sp.nan):
        raise part.error(node, f"{part.source(node)} has no real value")
    if lost := frozenset[sp.Symbol]().union(*map(_excluded, of)) - _excluded(value):
        name = min(lost, key=str)
        raise part.error(node, f"{part.source(node)} cancels, and may have no value at some {name}; leave it out")
    return value


def _excluded(expression: sp.Expr) -> frozenset[sp.Symbol]:
    """Return the symbols, not known to be positive, in parts that may have no value, such as divisors and roots."""
    parts = [node.args[0] for node in expression.atoms(sp.log, sp.tan, sp.factorial)]
    parts += expression.atoms(sp.binomial, *SERIES)
    parts += [p.args[0] for p in expression.atoms(sp.Pow) if not (p.args[1].is_integer and p.args[1].is_nonnegative)]
    return frozenset(symbol for each in parts for symbol in each.free_symbols if not symbol.is_positive)  # pyright: ignore[reportReturnType]
