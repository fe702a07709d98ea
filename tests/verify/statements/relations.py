"""Relations between two expressions at an instance, with definitions; the evaluator decides which are true."""

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tests.verify.statements.numbers import UnsureError
from tests.verify.statements.specimens import Claim, Specimen, a_number, small, statement_at
from tests.verify.statements.trees import RELATIONS, Tree, exp, kept, log, sqrt, symbol, tree, value_at


def instance_of(draw: random.Random, names: str, *, zero: bool = True) -> dict[str, Fraction]:
    """Return small numbers for some names."""
    return {name: small(draw, zero=zero) for name in names}


def rational(draw: random.Random, names: str, depth: int) -> Tree:
    """Return a random rational expression."""
    if depth == 0:
        return symbol(draw.choice(names)) if draw.random() < 0.7 else a_number(draw)
    x, y = (rational(draw, names, draw.randint(0, depth - 1)) for _ in range(2))
    return draw.choice([x + y, x - y, x * y, x / y, x ** draw.choice((-2, -1, 2, 3)), x * y + 1])


def expression(draw: random.Random, names: str, depth: int) -> Tree:
    """Return a random expression with exponentials, logarithms and roots."""
    x = rational(draw, names, depth)
    y = rational(draw, names, 1)
    third = Fraction(draw.choice((-2, -1, 1, 2, 4)), 3)
    choices = [exp(x / 5), log(x), sqrt(x), x**third, log(x) * y, exp(y / 3) + x, sqrt(x) / y, y - sqrt(x), x**y]
    made = draw.choice(choices)
    return draw.choice([made, made, made + y, made * log(y + 6)])


def with_value(draw: random.Random, make: Any, values: Mapping[str, Any]) -> tuple[Tree, Any]:
    """Draw trees until a tree has a value that is neither long nor large; return both."""
    while True:
        node = make()
        try:
            found = value_at(node, values)
        except UnsureError:
            continue
        if isinstance(found, Fraction) and max(abs(found.numerator), found.denominator) < 10**5:
            return node, found
        if found is not None and not isinstance(found, Fraction) and (abs(found) < 10**6) is True:
            return node, found


def singular(draw: random.Random, values: Mapping[str, Fraction]) -> Tree:
    """Return an expression that has no value at the instance."""
    name = draw.choice(sorted(values))
    x, at = symbol(name), values[name]
    zero = draw.choice([x - at, x**2 - at**2, 2 * x - 2 * at])
    negative = draw.choice([x - at - 1, x - at - draw.randint(1, 3), -((x - at) ** 2) - 2])
    choices = [1 / zero, zero**-2, log(zero), log(negative), sqrt(negative), zero ** Fraction(-1, 2)]
    return draw.choice([*choices, negative ** Fraction(1, 3), exp(1 / zero), (1 + x**2) ** (1 / zero)])


def cancelling(draw: random.Random, s: Tree) -> Tree:
    """Return an expression in which `s` cancels; wherever it has a value, the value is 0."""
    choices = [
        kept(s + kept(-1 * s)),
        kept(0 * s),
        kept(kept(s**0) - 1),
        kept(log(kept(exp(s)))) - s,
        kept(s**2) - kept(s * s),
    ]
    return draw.choice(choices)


def spoiled(draw: random.Random, node: Tree, values: Mapping[str, Fraction]) -> Tree:
    """Return an expression that is equal to a given one by algebra, and has no value at the instance."""
    s = singular(draw, values)
    name = draw.choice(sorted(values))
    zero = symbol(name) - values[name]
    negative = symbol(name) - values[name] - draw.randint(1, 3)
    choices = [
        node + cancelling(draw, s),
        node * kept(kept(s**0)),
        node * kept(zero * kept(zero**-1)),
        node * (symbol(name) ** 2 - values[name] ** 2) / (zero * (symbol(name) + values[name])),
        node + kept(kept(sqrt(negative)) ** 2) - negative,
        node + kept(exp(kept(log(negative)))) - negative,
        (node * zero + zero**2) / zero - zero,
    ]
    return draw.choice(choices)


def compare(draw: random.Random, node: Tree, found: Any, other: Tree, equal: Tree | None = None) -> Claim:
    """Return a claim that compares a tree with another tree, a nearby number, its own value, or an equal tree."""
    kind = draw.randrange(4)
    if kind == 0 and equal is not None:
        return Claim(node, draw.choice(("==", "<=", ">=", "<", ">")), equal, equal=True)
    if kind == 1 and isinstance(found, Fraction):
        return Claim(node, draw.choice(RELATIONS), tree(found))
    if kind == 2 and isinstance(found, Fraction):
        return Claim(
            node, draw.choice(RELATIONS), tree(found + Fraction(draw.choice((-1, 1)), draw.choice((1, 7, 1000))))
        )
    return Claim(node, draw.choice(RELATIONS), other)


def turned(draw: random.Random, claim: Claim) -> Claim:
    """Return the claim, at times with its sides exchanged."""
    opposite = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
    if draw.random() < 0.5:
        return claim
    return Claim(claim.right, opposite[claim.relation], claim.left, claim.equal)


def rational_relation(draw: random.Random) -> Specimen:
    """Return a relation of rational expressions, at times with a cancelling part that has no value."""
    values = instance_of(draw, "xyz"[: draw.randint(1, 3)])
    names = "".join(values)
    a, b, c = (with_value(draw, lambda: rational(draw, names, draw.randint(0, 2)), values)[0] for _ in range(3))
    node = a * (b + c)
    found = value_at(node, values)
    claim = compare(draw, node, found, with_value(draw, lambda: rational(draw, names, 2), values)[0], a * b + a * c)
    return _relation(draw, "relations", "rational", values, claim)


def irrational_relation(draw: random.Random) -> Specimen:
    """Return a relation with exponentials, logarithms, roots and powers."""
    values = instance_of(draw, "xyz"[: draw.randint(1, 2)])
    names = "".join(values)
    node, found = with_value(draw, lambda: expression(draw, names, 2), values)
    other = with_value(draw, lambda: expression(draw, names, 1), values)[0]
    if draw.random() < 0.4:
        other = with_value(draw, lambda: rational(draw, names, 1), values)[0]
    return _relation(draw, "relations", "irrational", values, compare(draw, node, found, other))


def law(draw: random.Random) -> Specimen:
    """Return an equality by a law of exponentials, logarithms and powers, or an inequality that such a law decides."""
    values = instance_of(draw, "xy", zero=False)
    x, y = symbol("x"), symbol("y")
    p, q = 1 + x**2, 2 + y**2
    left, right = draw.choice(
        [
            (exp(x) * exp(y), exp(x + y)),
            (log(p * q), log(p) + log(q)),
            (sqrt(p) * sqrt(q), sqrt(p * q)),
            (exp(2 * log(p)), p**2),
            (p**x * p**y, p ** (x + y)),
        ]
    )
    hard = True
    relation = "=="
    if draw.random() < 0.7:
        right, relation, hard = right + Fraction(draw.choice((-1, 1)), 9), draw.choice(RELATIONS), False
    claim = Claim(left, relation, right, equal=hard)
    return _relation(draw, "relations", "law", values, claim, hard=hard)


def _relation(
    draw: random.Random, category: str, kind: str, values: dict[str, Fraction], claim: Claim, *, hard: bool = False
) -> Specimen:
    if draw.random() < 0.4:
        kind += ", cancelled"
        both = draw.random() < 0.3
        if both:
            s = singular(draw, values)
            claim = Claim(claim.left + s, claim.relation, claim.right + s, claim.equal)
        else:
            claim = Claim(spoiled(draw, claim.left, values), claim.relation, claim.right, claim.equal)
    return statement_at(draw, category, kind, values, [turned(draw, claim)], hard=hard)


def even_root(draw: random.Random) -> Specimen:
    """Return a claim with the square of a square root that SymPy keeps: it has no value at a negative number."""
    u = symbol("u")
    values = {"u": draw.choice([Fraction(-1), small(draw), Fraction(4)])}
    claim = Claim(kept(sqrt(u) ** 2), draw.choice((">=", ">")), tree(-1))
    return statement_at(draw, "relations", "kept square of a root", values, [turned(draw, claim)])


def factor_one(draw: random.Random) -> Specimen:
    """Return a claim with factors 1 and terms 0 that SymPy keeps."""
    x, values = symbol("x"), {"x": small(draw)}
    n, c = draw.choice((1, 2, 3)), draw.randint(-3, 3)
    left = draw.choice(
        [kept(1 * x**n) + c * x, kept(kept(1 * x**n) + c * x), kept(c * x + kept(0 * x)), kept(x**1) + c * x**n]
    )
    right = draw.choice([x**n + c * x, x**n * c + x, tree(small(draw)), tree(value_at(left, values))])
    return statement_at(
        draw, "relations", "kept 1*x", values, [turned(draw, Claim(left, draw.choice(RELATIONS), right))]
    )


def relations(draw: random.Random) -> Specimen:
    """Return a relation at an instance."""
    made = (rational_relation, rational_relation, irrational_relation, irrational_relation, law, even_root, factor_one)
    return draw.choice(made)(draw)


def definitions(draw: random.Random) -> Specimen:
    """Return a claim that uses definitions: a definition that is used must have a value, an unused one need not."""
    return draw.choice((_inverse_pair, _inverse_pair, _chain, _random_definitions, _random_definitions))(draw)


def _inverse_pair(draw: random.Random) -> Specimen:
    """Return a claim with d = f(u) in which the inverse of f is applied to d, often where f has no value."""
    u, d = symbol("u"), symbol("d")
    first, use, kind, without = draw.choice(
        [
            (sqrt(u), (d**2, u), "d = sqrt(u), d**2 = u", (-3, -1)),
            (1 / u, (d * u, tree(1)), "d = 1/u, d*u = 1", (0,)),
            (log(u), (exp(d), u), "d = log(u), exp(d) = u", (-3, 0)),
            (1 / (u - 1), (d * (u - 1) + u, u + 1), "d = 1/(u - 1)", (1,)),
            (u ** Fraction(-1, 2), (d**-2, u), "d = u**(-1/2)", (-2, 0)),
            (u ** Fraction(1, 3), (d**3 + 1, u + 1), "d = u**(1/3)", (-8,)),
            (log(u - 2), (exp(2 * d), (u - 2) ** 2), "d = log(u - 2)", (1, 2)),
            (1 / u, ((u**2 * d) / 3, u / 3), "d = 1/u, u**2*d = u", (0,)),
        ]
    )
    at = Fraction(draw.choice(without)) if draw.random() < 0.5 else small(draw)
    left, right = use
    claim = Claim(left, draw.choice(("==", "==", "<=", ">=")), right, equal=True)
    # Digits do not show that irrational numbers are equal.
    hard = not kind.startswith("d = 1/")
    if draw.random() < 0.3:
        claim, hard = Claim(left, draw.choice(RELATIONS), right + draw.choice((-1, 1))), False
    claim = turned(draw, claim)
    return statement_at(draw, "definitions", kind, {"u": at}, [claim], definitions={"d": first}, hard=hard)


def _chain(draw: random.Random) -> Specimen:
    """Return a claim that uses a chain of definitions; at times the first definition cancels."""
    values = instance_of(draw, "xy")
    names = "".join(values)
    first = (
        singular(draw, values) if draw.random() < 0.5 else with_value(draw, lambda: rational(draw, names, 2), values)[0]
    )
    d, e, f = symbol("d"), symbol("e"), symbol("f")
    chain = {"d": first, "e": d + symbol("x"), "f": draw.choice([e - d, kept(e * 0) + symbol("y"), e - 2 * d, d / e])}
    used = draw.choice([f, f + symbol("x"), e - d, symbol("x") * 2, kept(f**0)])
    claim = Claim(used, draw.choice(RELATIONS), rational(draw, names, 1))
    return statement_at(
        draw, "definitions", "chain", values, [claim, Claim(symbol("x"), "<", symbol("x") + 1)], definitions=chain
    )


def _random_definitions(draw: random.Random) -> Specimen:
    """Return a claim with two definitions; one of them may have no value, and may be used or not."""
    values = instance_of(draw, "xy")
    names = "".join(values)
    good = with_value(draw, lambda: rational(draw, names, 2), values)[0]
    bad = (
        singular(draw, values)
        if draw.random() < 0.6
        else with_value(draw, lambda: expression(draw, names, 1), values)[0]
    )
    d, e = symbol("d"), symbol("e")
    use = draw.choice([d, d + e, d + kept(e - kept(e * 1)), d * kept(e**0), d + 1, d**2 + d])
    right = with_value(draw, lambda: rational(draw, names, 1), values)[0]
    claim = Claim(use, draw.choice(RELATIONS), right)
    return statement_at(draw, "definitions", "two", values, [turned(draw, claim)], definitions={"d": good, "e": bad})
