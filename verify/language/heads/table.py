# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""The table of the forms that a statement in a line may contain: the parser reads it, `verify language` prints it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import sympy as sp


class Head(NamedTuple):
    """A function of the language.

    `make` constructs it from `least` to `most` arguments (None: no limit). `written` is its form, `says` its meaning.
    """

    make: Callable[..., Any]
    least: int
    most: int | None
    written: str
    says: str


_ONE = (1, 1)
FUNCTIONS: Mapping[str, Head] = {
    "exp": Head(sp.exp, *_ONE, "exp(x)", "e to the x"),
    "log": Head(sp.log, *_ONE, "log(x)", "the natural logarithm; no value unless x > 0"),
    "sqrt": Head(sp.sqrt, *_ONE, "sqrt(x)", "the root that is >= 0; no value where x < 0"),
    "abs": Head(sp.Abs, *_ONE, "abs(x)", "the absolute value; Abs(x) is the same"),
    "sign": Head(sp.sign, *_ONE, "sign(x)", "1, 0 or -1; sign(0) is 0"),
    "Max": Head(sp.Max, 2, None, "Max(x, y, ...)", "the largest of two or more"),
    "Min": Head(sp.Min, 2, None, "Min(x, y, ...)", "the smallest of two or more"),
    "floor": Head(sp.floor, *_ONE, "floor(x)", "the largest integer <= x, which is x at integers"),
    "ceiling": Head(sp.ceiling, *_ONE, "ceiling(x)", "the smallest integer >= x, which is x at integers"),
    "factorial": Head(sp.factorial, *_ONE, "factorial(n)", "1*2*...*n, and 1 at 0; no value unless n = 0, 1, 2, ..."),
    "binomial": Head(
        *(sp.binomial, 2, 2, "binomial(n, k)"),
        "0 where k < 0 or k > n; no value unless n = 0, 1, 2, ... and k is an integer",
    ),
    "sin": Head(sp.sin, *_ONE, "sin(x)", "the sine of x radians"),
    "cos": Head(sp.cos, *_ONE, "cos(x)", "the cosine of x radians"),
    "tan": Head(sp.tan, *_ONE, "tan(x)", "sin(x)/cos(x); no value where cos(x) = 0"),
    "atan": Head(sp.atan, *_ONE, "atan(x)", "the inverse of tan between -pi/2 and pi/2"),
    "sinh": Head(sp.sinh, *_ONE, "sinh(x)", "(exp(x) - exp(-x))/2"),
    "cosh": Head(sp.cosh, *_ONE, "cosh(x)", "(exp(x) + exp(-x))/2"),
    "tanh": Head(sp.tanh, *_ONE, "tanh(x)", "sinh(x)/cosh(x)"),
    "Sum": Head(
        *(sp.Sum, 2, 2, "Sum(f, (k, a, b))"),
        "f at k = a, a + 1, ..., b added; 0 where b < a; no value unless a and b are integers",
    ),
    "Product": Head(
        *(sp.Product, 2, 2, "Product(f, (k, a, b))"),
        "the same multiplied; 1 where b < a",
    ),
    "Limit": Head(
        *(sp.Limit, 3, 3, "Limit(f, x, a)"),
        "the limit of f as x tends to a number a, from both sides, or to oo; no value where there is none",
    ),
    "Piecewise": Head(
        *(sp.Piecewise, 2, None, "Piecewise((f, x < 0), ..., (g, True))"),
        "the first whose comparison holds; the others need no value; the last has True",
    ),
}
"""The functions by name. `Sum`, `Product` and `Piecewise` take tuples; `Limit` binds its second argument."""
ALIASES: Mapping[str, str] = {"Abs": "abs", "arctan": "atan", "ln": "log", "max": "Max", "min": "Min"}
CONSTANTS: Mapping[str, tuple[Any, str]] = {
    "E": (sp.E, "e, the base of the natural logarithm"),
    "pi": (sp.pi, "half the circumference of a circle of radius 1"),
}
FORMS: Mapping[str, str] = {
    "CLAIM [along RECURSION] [if HYPOTHESES] [for DOMAINS]": "a statement, for all values in the domains",
    "x <= y": "a claim: <, <=, >, >= (≤, ≥) or ==, a chain such as 0 <= x < y, or several joined by `and`",
    "along x -> f from a, y -> g from b": (
        "x and y after t steps from a and b, for t = 0, 1, 2, ...; each step uses the values before it, and may use t"
    ),
    "if x**2 <= y, ...": (
        "hypotheses: comparisons and chains, separated by commas; if no rational x is f, x == f makes x a definition"
    ),
    "for x > 0, 0 <= p < 1, y real, integer n >= 2": (
        "domains: ends are rational numbers, each included or not; a name without a domain is a real number; "
        "x, y > 0 is x > 0, y > 0; the end of integers n, m >= 1 is that of both; any x, y and all x, y > 0 may be "
        "written; another relation, such as p <= q, is a hypothesis"
    ),
    "7, 0.25, 1e-3, 1/3": "exact numbers",
    "x + y, x - y, x*y, x/y": "x/y has no value at y = 0",
    "x**y": "x**0 is 1, 0**0 too; 0**y is 0 for y > 0, no value for y < 0; where x < 0, y must be an integer",
}
"""The parts of a line other than functions and constants, each with its meaning."""


def rows() -> list[tuple[str, str]]:
    """Return the forms, constants and functions that a statement in a line may contain, each with its meaning."""
    functions = [(head.written, head.says) for head in FUNCTIONS.values()]
    return [*FORMS.items(), *((name, says) for name, (_, says) in CONSTANTS.items()), *functions]
