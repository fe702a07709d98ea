"""Identities and inequalities for all values of variables, which are true by construction or false at a point."""

import random
from fractions import Fraction
from itertools import product
from typing import Any

from tests.verify.statements.numbers import UnsureError
from tests.verify.statements.relations import instance_of
from tests.verify.statements.specimens import Claim, Specimen, Values, _other, symbols_of, theorem_of
from tests.verify.statements.trees import INFINITY, Tree, derivative, exp, kept, limit, log, sqrt, symbol, tree
from tests.verify.statements.writing import faithful, relation_of
from verify import Identity, Inequality, Parameter, Statement

A, X, Y, Z, T, D, E = map(symbol, "axyztde")
_ALL = tuple(Fraction(n, 2) for n in (-6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6))
GRIDS = {
    "": _ALL,
    "real": _ALL,
    "positive": (*tuple(x for x in _ALL if x > 0), Fraction(7), Fraction(1, 9)),
    "nonnegative": (*tuple(x for x in _ALL if x >= 0), Fraction(7)),
    "nonzero": tuple(x for x in _ALL if x),
    "integer": tuple(map(Fraction, range(-4, 6))),
}
"""Values of a variable for each assumption.

If a claim has no value at some point, it has none at some point of these grids.
"""
_MORE_POINTS = 9


def points_of(assumed: dict[str, str], values: Values) -> list[dict[str, Any]]:
    """Return points at which an identity is evaluated: small numbers, and the parameters' values, as coordinates."""
    numbers = [v for v in values.values() if isinstance(v, Fraction)]
    axes = []
    for assumption in assumed.values():
        near = [s * v for v in numbers for s in (1, -1)]
        whole = assumption == "integer"
        allowed = [v for v in near if not whole or v.denominator == 1]
        allowed = [v for v in allowed if assumption != "positive" or v > 0]
        allowed = [v for v in allowed if assumption != "nonnegative" or v >= 0]
        allowed = [v for v in allowed if assumption != "nonzero" or v]
        axes.append(sorted({*GRIDS[assumption], *allowed}))
    found = [dict(zip(assumed, point, strict=True)) for point in product(*axes)]
    # Points with at most one coordinate ≠ 1, or with equal coordinates, include singular points; some others are added.
    crossed = [p for p in found if sum(v != 1 for v in p.values()) <= 1 or len(set(p.values())) == 1]
    return [{**values, **point} for point in [*crossed, *found[:: max(1, len(found) // _MORE_POINTS)]]]


def for_all(claim: Claim, assumed: dict[str, str], values: Values, definitions: dict[str, Tree]) -> bool | None:
    """Return whether a claim holds at all values of its variables.

    Return False if a point refutes it, and True if it is built to hold. Return None if a side has no value somewhere,
    and no point is found at which both have a value and the claim fails. Raise UnsureError if the claim was not built
    to be true, and no point refutes it.
    """
    missing = False
    for point in points_of(assumed, values):
        try:
            found = Claim(claim.left, claim.relation, claim.right).truth(point, definitions)
        except UnsureError:
            if not claim.equal:
                raise
            found = True
        missing |= found is None
        if found is False:
            return False
    if missing:
        return None
    if not claim.equal:
        raise UnsureError("neither built to be true nor false at a point")
    return True


def statement_for_all(
    draw: random.Random,
    category: str,
    kind: str,
    claim: Claim,
    *,
    assumed: dict[str, str],
    values: dict[str, Any] | None = None,
    definitions: dict[str, Tree] | None = None,
    degenerate: bool = False,
    hard: bool = False,
) -> Specimen:
    """Return a claim for all values of its variables, which is an identity if the relation is equality."""
    values, definitions = values or {"p": Fraction(1)}, definitions or {}
    used = [claim.left, claim.right, *definitions.values(), *map(symbol, [*values, *assumed, *definitions])]
    symbols = symbols_of(used, {v: {a: True} for v, a in assumed.items() if a})
    listed = {name: Parameter(name, "rational", name) for name in values}
    others = tuple(_other(draw, values, listed) for _ in range(2))
    points = [point for at in (values, *others) for point in points_of(assumed, at)]
    put = {symbols[name]: faithful(node, symbols, points, definitions) for name, node in definitions.items()}
    left, right = (faithful(side, symbols, points, definitions) for side in (claim.left, claim.right))
    if claim.relation == "==":
        clause: Any = Identity("c0", left, right)
    else:
        clause = Inequality("c0", relation_of(left, claim.relation, right))
    statement = Statement(
        tuple(listed.values()), (clause,), variables=tuple(symbols[name] for name in assumed), definitions=put
    )
    known: dict[Any, bool | None] = {}

    def truth(at: Values) -> bool | None:
        key = tuple(at.items())
        if key not in known:
            known[key] = for_all(claim, assumed, at, definitions)
        return known[key]

    truths = {"c0": truth}
    missing = truths["c0"](values) is None
    return Specimen(
        category,
        kind,
        theorem_of(statement),
        values,
        truths,
        degenerate=degenerate or missing,
        hard=hard,
        others=others,
    )


Polynomial = dict[tuple[int, ...], Fraction]


def polynomial(draw: random.Random, count: int, terms: int, *, positive: bool = False) -> Polynomial:
    """Return a random polynomial in `count` symbols, as coefficients by exponents."""
    made: Polynomial = {}
    for _ in range(terms):
        powers = tuple(draw.choice((0, 0, 1, 1, 2)) for _ in range(count))
        made[powers] = Fraction(draw.randint(1, 4) if positive else draw.choice((-3, -2, -1, 1, 2, 3)))
    return made


def multiplied(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the product of two polynomials, term by term."""
    made: Polynomial = {}
    for a, x in p.items():
        for b, y in q.items():
            powers = tuple(i + j for i, j in zip(a, b, strict=True))
            made[powers] = made.get(powers, Fraction(0)) + x * y
    return {powers: c for powers, c in made.items() if c}


def added(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the sum of two polynomials."""
    made = {powers: p.get(powers, Fraction(0)) + q.get(powers, Fraction(0)) for powers in {*p, *q}}
    return {powers: c for powers, c in sorted(made.items()) if c}


def as_tree(p: Polynomial, symbols: tuple[Tree, ...]) -> Tree:
    """Return a polynomial as a sum of terms."""
    total: Tree | None = None
    for powers, c in p.items():
        term = tree(c)
        for s, n in zip(symbols, powers, strict=True):
            term = term * s**n if n > 1 else term * s if n else term
        total = term if total is None else total + term
    return tree(0) if total is None else total


def _variables(draw: random.Random, kinds: tuple[str, ...]) -> dict[str, str]:
    return {name: draw.choice(kinds) for name in "xy"}


def _clean(draw: random.Random, assumed: dict[str, str]) -> tuple[Tree, Tree]:
    """Return two sides that are equal and have values at all values of the variables."""
    both = (X, Y, A)
    p, q, r = (polynomial(draw, 3, draw.randint(1, 3)) for _ in range(3))
    one, two, three = (as_tree(side, both) for side in (p, q, r))
    choices = [
        (one * (two + three), as_tree(added(multiplied(p, q), multiplied(p, r)), both)),
        (one * two * three, as_tree(multiplied(multiplied(p, q), r), both)),
        ((one + two) ** 2, as_tree(multiplied(added(p, q), added(p, q)), both)),
        (one * exp(X) * exp(Y), one * exp(X + Y)),
        ((exp(X) + exp(-X)) ** 2, exp(2 * X) + 2 + exp(-2 * X)),
        (exp(X) / (1 + exp(X)), 1 - 1 / (1 + exp(X))),
        (exp(one) * exp(-one) * two, two),
        (derivative(X**3 * Y + A, "x"), 3 * X**2 * Y),
        (limit((X * T + 1) / (T + Y), "t", INFINITY) + one, X + one),
    ]
    if set(assumed.values()) == {"positive"}:
        d = as_tree(added(polynomial(draw, 2, 2, positive=True), {(0, 0): Fraction(1)}), (X, Y))
        choices += [
            (one / d + two / d, (one + two) / d),
            (one * d / d, one),
            (1 / (X + 1) - 1 / (X + 2), 1 / ((X + 1) * (X + 2))),
            (1 / X + 1 / Y, (X + Y) / (X * Y)),
            (derivative(1 / (X + 1), "x"), -((X + 1) ** -2)),
        ] * 2
    return draw.choice(choices)


def _cancelled(draw: random.Random) -> tuple[Tree, Tree, dict[str, Tree], str]:
    """Return two sides that are equal where both have values; at some points a side may have no value."""
    p = as_tree(polynomial(draw, 3, 2), (X, Y, A))
    c = draw.choice((0, 1, -1, 2))
    z = draw.choice([X - c, X - Y, X + Y - c, X - A, X * Y - c, 2 * X + 1])
    return draw.choice(
        [
            (A * exp(1 / (X - 1)) * exp(-1 / (X - 1)), A, {}, "exp(1/(x - 1))*exp(-1/(x - 1))"),
            ((X**2 - c**2) / (X - c), X + c, {}, "a quotient of polynomials"),
            (p * kept(z * kept(1 / z)), p, {}, "kept z/z"),
            (
                as_tree(multiplied({(1, 0): Fraction(1), (0, 0): Fraction(-c)}, {(0, 1): Fraction(1)}), (X, Y))
                / (X - c),
                Y,
                {},
                "expanded",
            ),
            (p * (Y + 1) + 1 / z, p * Y + p + 1 / z, {}, "the same term on both sides"),
            (kept(exp(kept(log(X)))) * p, X * p, {}, "exp(log(x))"),
            (kept(kept(sqrt(X)) ** 2) + p, X + p, {}, "sqrt(x)**2"),
            (D * X * p, p, {"d": 1 / X}, "d = 1/x"),
            (exp(D) * exp(-D) * p, p, {"d": 1 / (X - c)}, "exp(d)*exp(-d)"),
            (E * D + p, p + 1, {"d": X - Y, "e": 1 / D}, "e = 1/d"),
            (derivative(log(X), "x"), 1 / X, {}, "the derivative of log(x)"),
            (limit(T / (T + X), "t", tree(0)), tree(0), {}, "lim t/(t + x)"),
            (limit((X * T + 1) / (X * T + 2), "t", INFINITY), tree(1), {}, "lim (x t + 1)/(x t + 2)"),
            (p + kept(kept(1 / z) * 0), p, {}, "0/z"),
            (p * X / A, X * p * A / A**2, {}, "a parameter in a denominator"),
            (A * D * p, p, {"d": 1 / A}, "d = 1/a"),
        ]
    )


def identities(draw: random.Random) -> Specimen:
    """Return an identity for all values of variables."""
    kinds = draw.choice(
        (("positive",), ("positive",), ("real", ""), ("real",), ("nonnegative", "real"), ("nonzero",), ("integer",))
    )
    assumed = _variables(draw, kinds)
    values = instance_of(draw, "a", zero=draw.random() < 0.4)
    values = {"a": Fraction(draw.choice((0, 1, 2, -1, 3)))} if draw.random() < 0.5 else values
    definitions: dict[str, Tree] = {}
    if draw.random() < 0.7:
        left, right, definitions, kind = _cancelled(draw)
    else:
        (left, right), kind = _clean(draw, assumed), "clean"
    if draw.random() < 0.25:
        right, kind = right + draw.choice([tree(1), X, X * Y, tree(Fraction(1, 7)), X**2]), kind + ", changed"
    claim = Claim(left, "==", right, equal=True)
    # In a limit, a check does not always show that the divisor has no zero on the domain.
    hard = kind.startswith("lim")
    return statement_for_all(
        draw, "identities", kind, claim, assumed=assumed, values=values, definitions=definitions, hard=hard
    )


def inequalities(draw: random.Random) -> Specimen:
    """Return an inequality for all values of variables.

    It is true by construction (squares, signs, bounds of exp, log and sqrt), or false at a point.
    """
    assumption = draw.choice(("positive", "positive", "positive", "real", "nonnegative"))
    assumed = {"x": assumption, "y": assumption}
    values = {"a": Fraction(draw.choice((0, 1, 2, 3)))}
    p, q = (polynomial(draw, 2, 2) for _ in range(2))
    squares = added(multiplied(p, p), multiplied(q, q))
    choices = [
        (as_tree(squares, (X, Y)), ">=", tree(0)),
        (X**2 + Y**2, ">=", 2 * X * Y),
        (X**2 + Y**2 + 1, ">", X * Y),
        ((X + Y) ** 2, ">=", 4 * X * Y),
        (exp(X), ">=", 1 + X),
        (exp(X) + exp(-Y), ">=", 2 + X - Y),
        (X**2, ">=", log(1 + X**2)),
    ]
    if assumption != "real":
        m, n = (as_tree(polynomial(draw, 2, 2, positive=True), (X, Y)) for _ in range(2))
        choices += [
            (m * n, ">=", tree(0)),
            ((m + 1) * (n + 1), ">", m * n),
            (m / (m + 1), "<", tree(1)),
            ((X + 1) / (X + 2), "<=", (X + 2) / (X + 3)),
            (m, ">=", -n),
            (X, ">=", log(1 + X)),
            (sqrt(X) + sqrt(Y), ">=", sqrt(X + Y)),
            (X * exp(Y), ">=", X + X * Y),
        ] * 2
    if assumption == "positive":
        choices += [(X + 1 / X, ">=", tree(2)), (X / Y + Y / X, ">=", tree(2)), (1 / X + 1 / Y, ">", 1 / (X + Y))] * 2
        choices += [(X - 1, ">=", log(X)), (X + Y, ">=", 2 * sqrt(X * Y)), (log(1 + X), ">", X / (1 + X))]
    left, relation, right = draw.choice(choices)
    kind, hard = "clean", False
    if draw.random() < 0.3:
        shift = draw.choice((1, 3))
        right = right + shift * (1 + X**2) * (1 + left - right) ** 2 if relation[0] == ">" else right - 3 - X
        kind = "changed"
    if draw.random() < 0.55:
        c = draw.choice((1, 2, Fraction(1, 2)))
        z = draw.choice([X - c, X - Y, X - A, A, A * X])
        bad = draw.choice([kept(z * kept(1 / z)), kept(kept(1 / z) ** 0), exp(1 / z) * exp(-1 / z)])
        left, kind = left * bad, kind + ", cancelled"
        if draw.random() < 0.3:
            left, right, kind = left / bad + 1 / z, right + 1 / z, kind + " on both sides"
    claim = Claim(left, relation, right, equal=kind.startswith("clean"))
    # Some true claims are not proved for all values: those with cancelling parts, and long sums of squares.
    hard = kind.startswith("clean") and ("cancelled" in kind or ("real" in assumed.values() and len(squares) > 2))
    return statement_for_all(draw, "inequalities", kind, claim, assumed=assumed, values=values, hard=hard)
