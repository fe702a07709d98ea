"""Expressions that are kept as they are written, with zeros and ones, and their text read back as a tree."""

import ast
import random
from fractions import Fraction
from functools import reduce

from tests.verify.statements.trees import Tree, exp, log, sqrt, symbol, tree

NAMES = "xy"
_EXPONENTS = [Fraction(n) for n in (-2, -1, 0, 1, 2, 3)]
_EXPONENTS += [Fraction(n, d) for n, d in ((1, 2), (-1, 2), (2, 3), (-1, 3), (-3, 2))]
_NUMBERS = [Fraction(n) for n in (-3, -2, -1, 0, 0, 1, 1, 2, 4, 12)]
_NUMBERS += [Fraction(n, d) for n, d in ((1, 2), (-1, 2), (2, 3), (-7, 4))]


def kept_tree(draw: random.Random, depth: int) -> Tree:
    """Return a random tree of sums, products, powers, exponentials and logarithms, to be written unevaluated."""
    if depth == 0 or draw.random() < 0.1:
        return symbol(draw.choice(NAMES)) if draw.random() < 0.5 else tree(draw.choice(_NUMBERS))
    part = lambda: kept_tree(draw, depth - 1)  # noqa: E731
    match draw.randrange(8):
        case 0 | 1:
            return Tree("add", tuple(part() for _ in range(draw.choice((2, 2, 3)))))
        case 2 | 3:
            return Tree("mul", tuple(part() for _ in range(draw.choice((2, 2, 3)))))
        case 4 | 5:
            return part() ** draw.choice(_EXPONENTS)
        case 6:
            return draw.choice((exp, log))(part())
        case _:
            return part() ** part()


def read_text(text: str) -> Tree:
    """Return the tree of a text, by Python's grammar."""
    return _read(ast.parse(text, mode="eval").body)


def _read(node: ast.expr) -> Tree:
    match node:
        case ast.Constant(value=int(number)):
            return tree(number)
        case ast.Name(id=name):
            return tree(1) if name == "" else exp(tree(1)) if name == "E" else symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_read(inner)
        case ast.Call(func=ast.Name(id=name), args=[inner]):
            return {"exp": exp, "log": log, "sqrt": sqrt}[name](_read(inner))
        case ast.BinOp(left=left, op=operation, right=right):
            return _joined(operation, _number(_read(left)), _number(_read(right)))
    raise AssertionError(ast.unparse(node))


def _joined(operation: ast.operator, left: Tree, right: Tree) -> Tree:
    match operation:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case ast.Pow():
            return left**right
    raise AssertionError(operation)


def _number(node: Tree) -> Tree:
    """Return a fraction, which Python parses as a product, as one number, so that its root is taken exactly."""
    if node.op == "mul" and all(part.op == "number" for part in node.parts):
        return tree(reduce(lambda x, y: x * y, (part.label for part in node.parts)))
    inverse = node.op == "mul" and node.parts[1].op == "power" and node.parts[0].op == "number"
    if inverse and node.parts[1].parts[0].op == "number" and node.parts[1].parts[1] == tree(-1):
        below = node.parts[1].parts[0].label
        return tree(node.parts[0].label / below) if below else node
    return node
