"""Polynomials with known roots, and weights at finitely many points; not all weights are measures."""

import random
from fractions import Fraction
from typing import Any

import sympy as sp

from tests.verify.statements.specimens import Specimen, Values, small, theorem_of
from tests.verify.statements.trees import Tree, exp, kept, log, symbol, tree
from tests.verify.statements.writing import faithful
from verify import IsolatedRoot, LeastResidual, Parameter, Statement

X, P, K = symbol("x"), symbol("p"), symbol("k")
PARAMETERS = (Parameter("p", "rational", "p"),)
SYMBOLS = {"p": sp.Symbol("p"), "x": sp.Symbol("x", real=True), "k": sp.Symbol("k", integer=True, nonnegative=True)}


def in_sympy(x: Fraction) -> sp.Rational:
    return sp.Rational(x.numerator, x.denominator)  # pyright: ignore[reportReturnType]


def roots(draw: random.Random) -> Specimen:
    """Return a claim that a polynomial with known roots has exactly one root in a box."""
    at = {"p": Fraction(draw.choice((0, 0, 0, 1, 1, 1, 2, 3)))}
    known = [small(draw) for _ in range(draw.randint(1, 3))]
    centre = draw.choice([draw.choice(known) + Fraction(draw.choice((0, 1, -1)), 20), small(draw)])
    radius = Fraction(1, draw.choice((5, 10, 20, 50)))
    coefficients = [Fraction(1)]
    for root in known:
        coefficients = [
            a - root * b for a, b in zip([Fraction(0), *coefficients], [*coefficients, Fraction(0)], strict=True)
        ]
    equation: Tree = tree(coefficients[0])
    for i, c in enumerate(coefficients[1:], 1):
        equation = equation + tree(c) * X**i
    spoil, singular_at = draw.random() < 0.85, None
    kind, zero_at = "polynomial", None
    if spoil:
        # If the only root in the box cancels, no root is left.
        place = draw.choice([min(known, key=lambda root: abs(root - centre)), centre + 3])
        choices = [
            (equation * kept(P * kept(1 / P)), 0, None, "p/p"),
            (equation + kept(kept(1 / (P - 1)) * 0), 1, None, "0/(p - 1)"),
            (equation * kept((X - place) * kept(1 / (X - place))), None, place, "kept (x - c)/(x - c)"),
            (kept(exp(kept(log(P)))) - P + equation, 0, None, "exp(log(p))"),
        ]
        equation, zero_at, singular_at, kind = draw.choice(choices)
    elif draw.random() < 0.1:
        radius, kind = -radius, "negative radius"
    inside = {root for root in known if abs(root - centre) <= radius}

    def truth(values: Values) -> bool | None:
        if zero_at is not None and values["p"] == zero_at:
            return None
        return len(inside - {singular_at}) == 1

    points = [
        {"p": Fraction(a), "x": x}
        for a in (0, 1, 2, 3)
        for x in (*known, centre, Fraction(5), *([singular_at] if singular_at is not None else []))
    ]
    clause = IsolatedRoot(
        "c0", (faithful(equation, SYMBOLS, points),), (SYMBOLS["x"],), (in_sympy(centre),), in_sympy(radius)
    )
    # Krawczyk's test needs a slope of one sign; it does not decide on a double root, a root on the edge, or two roots.
    slopes = [_slope(known, centre + step * radius / 2) for step in range(-4, 5)]
    simple = len(inside) <= 1 and all(abs(root - centre) < radius for root in inside)
    simple &= min(slopes) > max(slopes) / 3 > 0 or max(slopes) < min(slopes) / 3 < 0
    others = tuple({"p": Fraction(a)} for a in (0, 1))
    statement = Statement(PARAMETERS, (clause,))
    missing = truth(at) is None
    hard = not simple or radius < 0 or singular_at is not None
    return Specimen(
        "roots",
        kind,
        theorem_of(statement),
        at,
        {"c0": truth},
        degenerate=missing or radius < 0 or singular_at in inside,
        hard=hard,
        others=others,
    )


def _slope(known: list[Fraction], x: Fraction) -> Fraction:
    """Return the derivative of the product of all x − root."""
    total = Fraction(0)
    for i in range(len(known)):
        term = Fraction(1)
        for root in known[:i] + known[i + 1 :]:
            term *= x - root
        total += term
    return total


def moments(points: dict[Fraction, Fraction], count: int) -> list[Fraction]:
    """Return the integrals of s^k for weights at points; 0^0 is 1."""
    return [sum((w * s**k for s, w in points.items()), Fraction(0)) for k in range(count)]


def determinant(rows: list[list[Fraction]]) -> Fraction:
    """Return the determinant, by expansion along the first row."""
    if not rows:
        return Fraction(1)
    minors = ([row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows)))
    return sum(
        ((-1) ** j * x * determinant(minor) for j, (x, minor) in enumerate(zip(rows[0], minors, strict=True))),
        Fraction(0),
    )


def solved(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Return the solution of linear equations by Cramer's rule; None if there is not exactly one solution."""
    whole = determinant(rows)
    if not whole:
        return None
    put = (
        [[right[i] if k == j else x for k, x in enumerate(row)] for i, row in enumerate(rows)] for j in range(len(rows))
    )
    return [determinant(changed) / whole for changed in put]


def is_measure(found: list[Fraction], factors: int) -> bool:
    """Whether some numbers can be the moments of a measure: no leading minor of their Hankel matrix is negative."""
    corners = range(1, factors + 2)
    return all(determinant([[found[i + j] for j in range(n)] for i in range(n)]) >= 0 for n in corners)


def drawn_measure(draw: random.Random, least: int) -> tuple[dict[Fraction, Fraction], bool]:
    """Return weights at points, and whether all are positive."""
    sites = draw.sample(
        [Fraction(1), Fraction(2), Fraction(3), Fraction(1, 2), Fraction(1, 3), Fraction(5)], draw.randint(least, 4)
    )
    points = {site: Fraction(draw.randint(1, 5), draw.choice((1, 2, 3))) for site in sites}
    if draw.random() < 0.4:
        points[Fraction(0)] = Fraction(draw.choice((1, 2, -7, -7, -3)))
    elif draw.random() < 0.2:
        points[sites[0]] *= -1
    return points, all(w > 0 for w in points.values())


def moment_of(points: dict[Fraction, Fraction], spoil: Tree | None) -> Tree:
    total: Tree | None = None
    for site, weight in points.items():
        term = tree(weight) * tree(site) ** K
        total = term if total is None else total + term
    assert total is not None
    return total if spoil is None else total * spoil


def drawn_spoil(draw: random.Random) -> tuple[Tree | None, Any]:
    """Return a factor that is 1 but has no value at one value of the parameter, and this value of the parameter."""
    if draw.random() > 0.45:
        return None, None
    return draw.choice(
        [(kept(P * kept(1 / P)), 0), (kept(kept(1 / (P - 1)) ** 0), 1), (kept(kept((P - 2) ** -1) * (P - 2)), 2)]
    )


def residuals(draw: random.Random) -> Specimen:
    """Return a claim about the least residual polynomial of weights at finitely many points, a measure or not."""
    at = {"p": Fraction(draw.choice((0, 1, 2)))}
    factors = draw.randint(1, 3)
    points, positive = drawn_measure(draw, factors)
    planted = draw.random() < 0.1
    if planted:
        # The integral of (1 − s)² would be −6.
        factors, points, positive = 1, {Fraction(1): Fraction(1), Fraction(0): Fraction(-6)}, False
    found = moments(points, 2 * factors + 2)
    spoil, zero_at = drawn_spoil(draw)
    shift, scale = draw.choice((1, 1, 1, 0, 2)), draw.choice((1, 1, 1, 1, 2))
    exact = solved(
        [[found[i + j] for j in range(1, factors + 1)] for i in range(1, factors + 1)],
        [-found[i] for i in range(1, factors + 1)],
    )
    least = None if exact is None else found[0] + sum((c * found[j] for j, c in enumerate(exact, 1)), Fraction(0))
    stated = None if least is None or draw.random() < 0.4 else least + draw.choice((0, 0, Fraction(1, 7)))
    if stated is not None and max(abs(stated.numerator), stated.denominator) > 10**6:
        stated = None

    def truth(values: Values) -> bool | None:
        if (zero_at is not None and values["p"] == zero_at) or not is_measure(found, factors) or exact is None:
            return None
        claimed = solved(
            [[found[i + j] for j in range(1, factors + 1)] for i in range(shift, shift + factors)],
            [-found[i] for i in range(shift, shift + factors)],
        )
        if claimed is None:
            return None
        scaled = [c * scale**j for j, c in enumerate(claimed, 1)]
        return scaled == exact and stated in (None, least)

    symbols = SYMBOLS
    looked = [{"p": Fraction(a), "k": Fraction(n)} for a in (0, 1, 2) for n in range(4)]
    moment = faithful(moment_of(points, spoil), symbols, looked)
    minimum = None if stated is None else in_sympy(stated)
    clause = LeastResidual(
        "c0", sp.Integer(factors), moment, symbols["k"], sp.Integer(shift), sp.Integer(scale), minimum
    )
    others = tuple({"p": Fraction(a)} for a in (0, 1, 2))
    kind = "measure" if positive else "weights of both signs"
    unusual = truth(at) is None
    # Weights of both signs may have the moments of a measure.
    hard = not positive or exact is None
    return Specimen(
        "residuals",
        kind + (", p/p" if spoil else ""),
        theorem_of(Statement(PARAMETERS, (clause,))),
        at,
        {"c0": truth},
        degenerate=unusual,
        hard=hard,
        others=others,
    )
