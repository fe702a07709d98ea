"""Drawn statements, many to be refused: symbols have unfounded assumptions, or matrices that cancel do not fit.

Whether a statement is allowed is known by construction, or by an evaluation with numbers for the sizes.
"""

import random
from collections.abc import Callable
from typing import Any, TypeAlias

import sympy as sp

from verify import Dynamics, Inequality, MatrixIdentity, Parameter, Reaches, Statement, matrix

X, N = sp.Symbol("x", real=True), sp.Symbol("n", integer=True)
PARAMETERS = (Parameter("x", "rational", "x"), Parameter("n", "integer", "n"))
BEYOND = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "integer", "even", "odd", "rational")
Kept: TypeAlias = tuple[Any, ...]


def integral(draw: random.Random, depth: int) -> sp.Expr:
    """Return a polynomial with integer coefficients in n."""
    if not depth or draw.random() < 0.3:
        return draw.choice([N, sp.Integer(draw.randint(-3, 3))])
    parts = [integral(draw, depth - 1) for _ in range(2)]
    return draw.choice([parts[0] + parts[1], parts[0] * parts[1], parts[0] ** draw.randint(1, 3)])


def assumed(draw: random.Random) -> tuple[Callable[[], Statement], bool, str]:
    """Return a function that makes a statement, whether its assumption on a symbol is allowed, and a description."""
    beyond, role = draw.choice([*BEYOND, "real", ""]), draw.choice(["definition", "state", "Subs", "Limit"])
    symbol = sp.Symbol("D", **({beyond: True} if beyond else {}))
    whole = integral(draw, 3)
    value = draw.choice([whole, whole + X, whole * X + 1, whole / 2 + N / 3, sp.sqrt(X**2 + 1) + whole])
    is_whole = value is whole or isinstance(value, sp.Integer)
    shown = is_whole and role in ("definition", "state") and beyond in ("integer", "rational")
    # A state that is only assumed rational has the step D − 2, which is not shown to be an integer.
    shown = shown and not (role == "state" and beyond == "rational")

    def made() -> Statement:
        more: dict[str, Any] = {}
        if role == "definition":
            claim: Any = Inequality("c", sp.Le(symbol * X, X**2 + symbol, evaluate=False))
            more = {"definitions": {symbol: value}}
        elif role == "state":
            claim = Reaches("c", Dynamics((symbol,), (value,), (symbol - 2,), symbol), X)
        else:
            node = sp.Subs(symbol * X, symbol, value) if role == "Subs" else sp.Limit(symbol * X, symbol, 3)
            claim = Inequality("c", sp.Le(node, X**2, evaluate=False))
        return Statement(PARAMETERS, (claim,), **more)

    return made, shown or beyond in ("real", ""), f"{role} {symbol} = {value}, {beyond or 'nothing'} assumed"


LETTERS = {"A": ("n", "n"), "B": ("n", "m"), "C": ("m", "n"), "v": ("n", "1")}
SIZES = {"n": 3, "m": 5, "1": 1}


def product(draw: random.Random, depth: int) -> Kept:
    """Return a polynomial in matrices, as nested tuples; its matrices may fit or not."""
    if not depth or draw.random() < 0.2:
        return ("letter", draw.choice(sorted(LETTERS)))
    head = draw.choice(["Mul", "Mul", "Mul", "Add", "transpose", "scaled", "Pow"])
    if head in ("Mul", "Add"):
        return (head, *(product(draw, depth - 1) for _ in range(2)))
    inner = product(draw, depth - 1)
    return (head, inner, draw.randint(2, 3)) if head in ("Pow", "scaled") else (head, inner)


def shape(part: Kept) -> tuple[int, int] | None:
    """Return the numbers of rows and columns, with SIZES for the sizes; None if matrices do not fit."""
    head, *rest = part
    if head == "letter":
        rows, columns = (SIZES[side] for side in LETTERS[rest[0]])
        return rows, columns
    shapes = [shape(inner) for inner in rest if isinstance(inner, tuple)]
    if None in shapes:
        return None
    first, last = shapes[0], shapes[-1]
    assert first is not None and last is not None
    if head == "transpose":
        return first[::-1]
    if head == "Add":
        return first if first == last else None
    if head in ("Mul", "Pow"):
        return (first[0], last[1]) if first[1] == last[0] else None
    return first


def as_sympy(part: Kept) -> sp.Expr:
    """Return the polynomial as an unevaluated SymPy expression."""
    head, *rest = part
    if head == "letter":
        return matrix(rest[0])
    inner = [as_sympy(each) if isinstance(each, tuple) else sp.Integer(each) for each in rest]
    if head == "transpose":
        return sp.transpose(inner[0])
    if head == "scaled":
        return sp.Mul(inner[1], inner[0], evaluate=False)
    return getattr(sp, head)(*inner, evaluate=False)


def as_data(part: Kept) -> Any:
    """Return the polynomial as the data of a certificate."""
    head, *rest = part
    if head == "letter":
        return ["Symbol", rest[0], "noncommutative"]
    inner = [as_data(each) if isinstance(each, tuple) else ["Integer", str(each)] for each in rest]
    return ["Mul", inner[1], inner[0]] if head == "scaled" else [head, *inner]


def cancelled(part: Kept) -> Kept:
    """Return `part` − `part` + A, of which the first two terms cancel."""
    return ("Add", ("Add", part, ("scaled", part, -1)), ("letter", "A"))


def identity(part: Kept) -> MatrixIdentity:
    """Return the claim that the cancelling terms leave A. Raise TheoremError if a shape does not fit."""
    size = {name: sp.Symbol(name, integer=True, positive=True) if name != "1" else sp.Integer(1) for name in SIZES}
    shapes = {matrix(letter): (size[rows], size[columns]) for letter, (rows, columns) in LETTERS.items()}
    return MatrixIdentity("c", as_sympy(cancelled(part)), matrix("A"), shapes)


def certificate_data(part: Kept) -> dict[str, Any]:
    """Return the data of a statement with that claim, as a forger would write it."""
    names = {
        side: ["Symbol", side, "integer", "rational", "positive", "nonnegative", "nonzero", "real"] for side in "nm"
    }
    names["1"] = ["Integer", "1"]  # type: ignore[assignment]
    shapes = [
        [["Symbol", letter, "noncommutative"], names[rows], names[columns]]
        for letter, (rows, columns) in LETTERS.items()
    ]
    claim = {"kind": "matrix_identity", "label": "c", "says": "", "shapes": shapes}
    claim |= {"left": as_data(cancelled(part)), "right": ["Symbol", "A", "noncommutative"]}
    whole = {"kind": "integer", "words": [], "minimum": "1", "above": None}
    return {
        "parameters": [{"name": name, **whole} for name in "nm"],
        "variables": [],
        "domain": [],
        "hypotheses": [],
        "definitions": [],
        "claims": [claim],
        "steps": [],
    }
