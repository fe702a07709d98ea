"""Limits and derivatives in claims, definitions and hypotheses."""

import random
from fractions import Fraction
from typing import Any

from tests.verify.statements.numbers import UnsureError
from tests.verify.statements.relations import instance_of, rational, singular, turned, with_value
from tests.verify.statements.specimens import Claim, Specimen, a_number, small, statement_at
from tests.verify.statements.trees import (
    INFINITY,
    RELATIONS,
    Tree,
    case,
    derivative,
    exp,
    kept,
    limit,
    log,
    sqrt,
    subs,
    symbol,
    tree,
    value_at,
)

A, B, T, U, X = map(symbol, "abtux")


def _coefficient(draw: random.Random) -> Tree:
    """Return a coefficient that vanishes at some of the instances."""
    return draw.choice([A, B, A - 1, A * B, A + B, A**2 - A, tree(draw.randint(1, 3)), 2 * A, A - B, tree(0)])


def _polynomial(draw: random.Random, degree: int) -> tuple[Tree, list[Tree]]:
    coefficients = [_coefficient(draw) for _ in range(degree + 1)]
    total = coefficients[0]
    for i, c in enumerate(coefficients[1:], 1):
        total = total + c * T**i
    return total, coefficients


def _limit(draw: random.Random) -> tuple[Tree, list[Tree], list[Tree]]:
    """Return a limit of a rational function, its generic values, and coefficients that must not be 0 for them."""
    degree = draw.randint(1, 2)
    above, p = _polynomial(draw, degree)
    below, q = _polynomial(draw, degree)
    kind = draw.randrange(4)
    if kind <= 1:
        return limit(above / below, "t", INFINITY), [p[-1] / q[-1]], [p[-1], q[-1]]
    if kind == 2:
        return limit(above / below, "t", tree(0)), [p[0] / q[0]], [p[0], q[0]]
    place = draw.choice([A, B, B / 2, tree(1)])
    factor = T - place
    inner = draw.choice([above * factor / (factor * (T + 3)), (above + factor) / (T + 1), factor / (factor + A)])
    return limit(inner, "t", place), [], [A]


def limits(draw: random.Random) -> Specimen:
    """Return a claim with a limit, at parameters that often make a leading coefficient vanish."""
    planted = draw.random()
    values = {"a": Fraction(draw.choice((0, 0, 1, 1, 2, 3))), "b": small(draw)}
    if planted < 0.2:
        return _planted(draw, values)
    found, generic, leading = _limit(draw)
    if not generic or draw.random() < 0.4:
        generic = [with_value(draw, lambda: rational(draw, "ab", 1), values)[0]]
    at = value_at(found, values)
    if isinstance(at, Fraction) and draw.random() < 0.5:
        moved = at if draw.random() < 0.5 else at + Fraction(draw.choice((-1, 1)), draw.choice((1, 8)))
        generic = [tree(moved)]
    degenerate = any(value_at(part, values) in (0, None) for part in leading)
    claim = turned(draw, Claim(found, draw.choice((*RELATIONS, "==", "==")), generic[0]))
    where = draw.randrange(5)
    more: dict[str, Any] = {}
    claims = [claim]
    if where == 0:
        use = draw.choice([symbol("d"), symbol("d") + A, kept(symbol("d") * 0), symbol("d") ** 2])
        claims, more["definitions"] = [Claim(use, claim.relation, generic[0])], {"d": found}
    if where == 1:
        claims, more["hypotheses"] = [Claim(A, "<", A + 1)], [claim]
    if where == 2:
        second = _limit(draw)[0]
        claims = [Claim(found + kept(second - kept(second * 1)), claim.relation, generic[0])]
        if draw.random() < 0.5:
            claims = [Claim(found, claim.relation, second)]
    return statement_at(
        draw,
        "limits",
        ("clause", "definition", "hypothesis", "two", "clause")[where],
        values,
        claims,
        degenerate=degenerate,
        **more,
    )


def _planted(draw: random.Random, values: dict[str, Fraction]) -> Specimen:
    """Return a claim with a limit that changes where a coefficient vanishes."""
    first = limit((A * T + 1) / (A * T + 2), "t", INFINITY)
    second = limit(T / (T + A), "t", tree(0))
    third = limit((A * T + 1) / (T + A), "t", INFINITY)
    fourth = limit(A * T / (A * T), "t", INFINITY)
    chosen, right = draw.choice(
        [
            (first, tree(1)),
            (first, tree(1)),
            (first, tree(1)),
            (first, tree(Fraction(1, 2))),
            (second, tree(0)),
            (second, tree(1)),
            (third, A),
            (fourth, tree(1)),
        ]
    )
    degenerate = values["a"] == 0
    return statement_at(
        draw, "limits", "planted", {"a": values["a"]}, [Claim(chosen, "==", right)], degenerate=degenerate
    )


def _with_slope(draw: random.Random) -> tuple[Tree, Tree]:
    """Return an expression in u, and its derivative by the rules of differentiation."""
    c, n = a_number(draw, zero=False), draw.choice((-2, -1, 2, 3, 4))
    return draw.choice(
        [
            (log(U), 1 / U),
            (U**n, n * U ** (n - 1)),
            (c / (U + 1), -c * (U + 1) ** -2),
            (log(U + c), 1 / (U + c)),
            (log(U**3), 3 / U),
            ((U**2 - 1) / (U - 1), tree(1)),
            (log(U) ** 2 / 2, log(U) / U),
            (kept(log(U) - kept(log(U) * 1)), tree(0)),
            (sqrt(U), 1 / (2 * sqrt(U))),
            (exp(c * U), c * exp(c * U)),
            (U * log(U) - U, log(U)),
            (exp(log(U) * 2), 2 * U),
        ]
    )


def derivatives(draw: random.Random) -> Specimen:
    """Return a claim about a derivative at an instance, at times where the function has no value."""
    values = {
        "u": draw.choice((Fraction(-3), Fraction(0), Fraction(1), small(draw), -abs(small(draw)), abs(small(draw)) + 1))
    }
    if draw.random() < 0.15:
        # The formula of a logarithm's derivative also has a value where the logarithm has none.
        inner, slope = draw.choice([(log(U), 1 / U), (log(U - 1), 1 / (U - 1)), (log(1 / U), -1 / U)])
        claim = turned(draw, Claim(derivative(inner, "u"), draw.choice(("==", "<=")), slope, equal=True))
        return statement_at(draw, "derivatives", "of a logarithm", values, [claim])
    inner, slope = _with_slope(draw)
    form = draw.randrange(5)
    equal = True
    if form == 0:
        inner = with_value(draw, lambda: rational(draw, "ux", 2), values | {"x": values["u"]})[0]
        inner, equal = _renamed(inner, "x", "u"), False
    if form == 1:
        inner, equal = inner + rational(draw, "u", 1), False
    node = derivative(inner, "u", 1)
    if form == 2:
        node = subs(derivative(_renamed(inner, "u", "x"), "x", 1), "x", U)
    if form == 3:
        node, equal = derivative(inner, "u", 2), False
    if form == 4 and draw.random() < 0.5:
        other = singular(draw, values)
        node = derivative(inner + kept(other - kept(other * 1)), "u", 1)
    try:
        found = value_at(node, values)
        at = value_at(slope, values)
    except UnsureError:
        found = at = None
    right, hard = slope, equal and not (isinstance(found, Fraction) and isinstance(at, Fraction))
    relation = draw.choice(("==", "==", "<=", ">="))
    if not equal or draw.random() < 0.4:
        right = tree(found if isinstance(found, Fraction) and found.denominator < 1000 else 1)
        if draw.random() < 0.5 or not isinstance(found, Fraction):
            right = right + Fraction(draw.choice((-1, 1)), 4)
        relation, equal, hard = draw.choice(RELATIONS), False, False
    claim = turned(draw, Claim(node, relation, right, equal))
    return statement_at(draw, "derivatives", f"form {form}", values, [claim], hard=hard and found is not None)


def _renamed(node: Tree, name: str, other: str) -> Tree:
    if node.op == "symbol":
        return symbol(other) if node.label == name else node
    return Tree(node.op, tuple(_renamed(part, name, other) for part in node.parts), node.label, node.kept)


def hypotheses(draw: random.Random) -> Specimen:
    """Return a statement with hypotheses, and at times a domain, which do not hold if they have no value."""
    values = instance_of(draw, "xy", zero=draw.random() < 0.5)
    names = "".join(values)
    assumed, domain = [], []
    for _ in range(draw.randint(1, 2)):
        left = with_value(draw, lambda: rational(draw, names, 2), values)[0]
        if draw.random() < 0.4:
            bad = singular(draw, values)
            left = draw.choice(
                [left + bad, left + kept(bad - kept(bad * 1)), kept(bad * 0) + left, left * kept(bad**0)]
            )
        right = with_value(draw, lambda: rational(draw, names, 1), values)[0]
        assumed.append(turned(draw, Claim(left, draw.choice(("<", "<=", ">", ">=", ">=", "==")), right)))
    if draw.random() < 0.3:
        domain.append(
            Claim(
                symbol("x"),
                draw.choice(("<=", ">=", "<", ">")),
                draw.choice([symbol("y"), symbol("y") + 2, tree(1), 1 / symbol("y")]),
            )
        )
    claim = Claim(rational(draw, names, 1), draw.choice(RELATIONS), rational(draw, names, 1))
    return statement_at(draw, "hypotheses", "relations", values, [claim], hypotheses=assumed, domain=domain)


def cases(draw: random.Random) -> Specimen:
    """Return a statement with a word: the cases that the word does not choose do not matter."""
    words = ("plain", "scaled", "none")[: draw.randint(2, 3)]
    numbers = instance_of(draw, "xy")
    names = "".join(numbers)
    chosen = draw.choice(words)
    values: dict[str, Any] = {**numbers, "w": chosen}
    choices = []
    for _word in words:
        node = with_value(draw, lambda: rational(draw, names, 1), numbers)[0]
        wrong = singular(draw, numbers)
        bad = draw.random() < 0.45
        choices.append(draw.choice([wrong, node + wrong, node + kept(wrong - kept(wrong * 1))]) if bad else node)
    picked = case("w", words, *choices)
    right = with_value(draw, lambda: rational(draw, names, 1), numbers)[0]
    where, more = draw.randrange(4), {}
    claims = [turned(draw, Claim(picked, draw.choice(RELATIONS), right))]
    if where == 1:
        claims, more["definitions"] = [Claim(symbol("d") + 1, draw.choice(RELATIONS), right)], {"d": picked}
    if where == 2:
        claims, more["hypotheses"] = [Claim(symbol("x"), "<=", symbol("x") + 1)], claims
    if where == 3:
        more["structural"] = ("w",)
    return statement_at(
        draw,
        "cases",
        ("clause", "definition", "hypothesis", "structural")[where],
        values,
        claims,
        words={"w": words},
        **more,
    )
