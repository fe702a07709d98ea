"""Relations with the language's functions, sums, products, recursions and pieces; values exist by construction.

Factorials are of small integers, sums and products have few terms, and recursions have few steps. In some draws a part
has no value; often this part cancels.
"""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.verify.statements.relations import cancelling, compare, rational, singular, spoiled, turned, with_value
from tests.verify.statements.specimens import Claim, Specimen, a_number, small, statement_at
from tests.verify.statements.trees import INFINITY, RELATIONS, Tree, exp, kept, limit, log, sqrt, symbol, tree
from verify import Parameter

X, Y, N, K, J, C, S, R = map(symbol, "xynkjcsr")
PI = Tree("pi")
SMOOTH = ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")
INTEGER = Parameter("n", "integer", "n", minimum=0)


def call(name: str, *args: Any) -> Tree:
    """Return a function of the language."""
    return Tree("call", tuple(map(tree, args)), name)


def series(head: str, term: Any, name: str, low: Any, high: Any) -> Tree:
    """Return a sum, or a product, of a term from one integer to another."""
    return Tree(head, (tree(term), tree(low), tree(high)), name)


def pieces(*parts: tuple[Any, str, Any, Any], last: Any) -> Tree:
    """Return pieces: each is left side, relation, right side and value."""
    flat = [tree(part) for left, _, right, value in parts for part in (left, right, value)]
    return Tree("Piecewise", (*flat, tree(last)), tuple(relation for _, relation, _, _ in parts))


def iterated(place: int, count: Any, names: str, starts: tuple[Any, ...], steps: tuple[Any, ...]) -> Tree:
    """Return a state of a recursion after a number of steps; the first name is the name of the step's number."""
    return Tree("Iterate", tuple(map(tree, (count, *starts, *steps))), (place, *names))


Make = Callable[[random.Random], Tree]


def _rational(draw: random.Random) -> Tree:
    return rational(draw, draw.choice(("xy", "xyn")), draw.choice((0, 1, 1, 2)))


def _whole(draw: random.Random) -> Tree:
    """Return an expression whose value is an integer, which is small if n and x are small."""
    return draw.choice([N, N, N + 1, N + 2, tree(draw.randint(0, 6)), call("abs", N - 3), call("floor", X) + 4])


def _of_one(draw: random.Random, names: tuple[str, ...]) -> Tree:
    inside = draw.choice([_rational(draw), _rational(draw), 3 * X - Y, X - Y, Y, X / 2, PI * X / 3, sqrt(X**2 + 1)])
    return call(draw.choice(names), inside)


def _sign(draw: random.Random) -> Tree:
    """Return the sign of an expression that is often 0, plus y."""
    return call("sign", draw.choice([X - Y, X * Y, X - call("abs", X), N - 3])) + Y


def _extreme(draw: random.Random) -> Tree:
    more = draw.choice([[], [a_number(draw)], [exp(X / 4)], [exp(tree(1))]])
    args = [_rational(draw) for _ in range(draw.randint(2, 3))] + more
    return call(draw.choice(("Max", "Min")), *args)


def _counting(draw: random.Random) -> Tree:
    if draw.random() < 0.5:
        return call("factorial", _whole(draw))
    return call("binomial", _whole(draw), draw.choice([_whole(draw), tree(draw.randint(-1, 4)), N - 2]))


def _series(draw: random.Random) -> Tree:
    low = draw.choice([tree(0), tree(1), tree(1), tree(2), N - 1])
    high = draw.choice([N, N, N + 1, tree(draw.randint(-1, 5)), call("floor", X) + 3, 2 * N - 1])
    terms = [K, X**K, X + K, K**2 - Y, 1 / (K + 2), call("abs", K - X), call("factorial", call("abs", K))]
    terms += [call("binomial", N, K) * Y, call("sin", K * X / 3), call("Max", K, X), tree(-1) ** K * X]
    terms += [series("Sum", J * X + K, "j", 1, K), pieces((K, "<", X, Y), last=K), exp(-K * Y / 5)]
    return series(draw.choice(("Sum", "Product")), draw.choice(terms), "k", low, high)


def _pieces(draw: random.Random) -> Tree:
    parts = [(_rational(draw), draw.choice(RELATIONS), _rational(draw), _rational(draw)) for _ in range(2)]
    guarded = (X - Y, draw.choice((">", "<")), tree(0), draw.choice([1 / (X - Y), log((X - Y) ** 2), Y]))
    return pieces(*draw.choice([parts, parts[:1], [guarded], [guarded, *parts[:1]]]), last=_rational(draw))


def _iterated(draw: random.Random) -> Tree:
    count = draw.choice([N, N, N + 1, tree(draw.randint(0, 4)), call("abs", N - 2)])
    of_one = [S / 2 + Y, S**2 / 3 - X, 2 * S + C, call("Max", S - 1, X), (S + 2) / (S**2 + 1), S * (C + 1)]
    of_one += [pieces((S, "<", Y, 2 * S + 1), last=S / 3), call("abs", S - 2), call("sin", S), S + X**C]
    if draw.random() < 0.6:
        return iterated(0, count, "cs", (draw.choice([X, Y, tree(1)]),), (draw.choice(of_one),))
    of_two = [(R, S + R), (S / 2 - R * Y, R + C), (call("Max", S, R), S - R), (S - X, S * R / 2)]
    return iterated(draw.randint(0, 1), count, "csr", (X, a_number(draw)), draw.choice(of_two))


def _older(draw: random.Random) -> Tree:
    """Return an exponential, a logarithm, a root or a limit."""
    t = symbol("t")
    of_all = [exp(_rational(draw) / 5), log(_rational(draw)), sqrt(_rational(draw)), exp(tree(1)) * X]
    return draw.choice([*of_all, limit((X * t + 1) / (t + 2), "t", INFINITY), limit((t**2 - 4) / (t - 2) + Y, "t", 2)])


HEADS: tuple[Make, ...] = (
    lambda draw: _of_one(draw, ("abs", "sign", "floor", "ceiling")),
    lambda draw: _of_one(draw, SMOOTH),
    lambda draw: _of_one(draw, SMOOTH),
    _sign,
    _extreme,
    _counting,
    _series,
    _series,
    _pieces,
    _iterated,
    _iterated,
    _older,
)
"""The functions that draw an expression of each kind."""


def expression(draw: random.Random) -> Tree:
    """Return an expression with one or two heads, at times inside each other."""
    one = draw.choice(HEADS)(draw)
    if draw.random() < 0.4:
        return one
    other = draw.choice(HEADS)(draw)
    inside = call(draw.choice(("abs", "sign", "floor", "atan", "tanh")), one + X)
    return draw.choice([one + other, one * other, one - other, call("Max", one, other), inside, one / (2 + other**2)])


def without_value(draw: random.Random, values: dict[str, Fraction]) -> Tree:
    """Return an expression that has no value at the instance."""
    n = int(values["n"])
    half = draw.choice((Fraction(1, 2), Fraction(-1, 3)))
    bad = [
        call("factorial", N - n - draw.randint(1, 3)),
        call("factorial", N + half),
        call("binomial", N - n - 1, 2),
        call("binomial", N, half),
        series("Sum", K, "k", 1, N + half),
        series("Product", X + K, "k", half, 3),
        series("Sum", 1 / (K - n - 1), "k", 0, N + 2),
        series("Product", log(K), "k", 0, N),
        iterated(0, N - n - draw.randint(1, 2), "cs", (X,), (S / 2,)),
        iterated(0, N + half, "cs", (X,), (S / 2,)),
        iterated(0, N + 1, "cs", (N - n,), (1 / S,)),
        pieces((N, ">=", n, 1 / (N - n)), last=X),
        pieces((1 / (N - n), ">", tree(0), X), last=Y),
        call("abs", singular(draw, values)),
        call("Max", X, singular(draw, values)),
        call(draw.choice(("sin", "atan", "cosh", "floor")), singular(draw, values)),
    ]
    return draw.choice(bad)


def laws(draw: random.Random) -> tuple[Tree, Tree, bool]:
    """Return two sides that are equal wherever both have a value, and whether their values are rational."""
    x, y = draw.choice([(X, Y), (X - Y, Y), (2 * X, X + 1), (X, tree(small(draw)))])
    of = {name: call(name, x) for name in ("abs", "sign", "floor", "ceiling", *SMOOTH)}
    n = call("abs", N)
    rational_ones = [
        (of["abs"], call("Max", x, -x)),
        (call("Min", x, y) + call("Max", x, y), x + y),
        (of["sign"] * of["abs"], x),
        (of["ceiling"], -call("floor", -x)),
        (call("floor", x + N), of["floor"] + N),
        (call("factorial", n + 1), (n + 1) * call("factorial", n)),
        (call("binomial", n + 1, 2), call("binomial", n, 1) + call("binomial", n, 2)),
        (call("binomial", n, 2), n * (n - 1) / 2),
        (series("Sum", K, "k", 1, n), n * (n + 1) / 2),
        (series("Product", K, "k", 1, n), call("factorial", n)),
        (series("Sum", call("binomial", n, K), "k", 0, n), tree(2) ** n),
        (series("Sum", x * K + y, "k", 0, n), x * n * (n + 1) / 2 + y * (n + 1)),
        (pieces((x, ">", y, x), last=y), call("Max", x, y)),
        (pieces((x, "<", 0, -x), (x, "==", 0, tree(0)), last=x), of["abs"]),
        (iterated(0, n, "cs", (x,), (S + y,)), x + n * y),
        (iterated(0, n, "cs", (x,), (2 * S,)), tree(2) ** n * x),
        (iterated(0, n, "cs", (tree(0),), (S + C,)), n * (n - 1) / 2),
        (iterated(1, n, "csr", (x, y), (R, S)), pieces((call("floor", n / 2) * 2, "==", n, y), last=x)),
    ]
    others = [
        (of["sin"] ** 2 + of["cos"] ** 2, tree(1)),
        (of["cosh"] ** 2 - of["sinh"] ** 2, tree(1)),
        (of["tan"], of["sin"] / of["cos"]),
        (of["tanh"], 1 - 2 / (exp(2 * x) + 1)),
        (call("sin", x + y), of["sin"] * call("cos", y) + of["cos"] * call("sin", y)),
        (call("tan", of["atan"]), x),
        (of["sinh"] + of["cosh"], exp(x)),
        (call("cos", PI * N), tree(-1) ** N),
    ]
    exactly = draw.random() < 0.7
    left, right = draw.choice(rational_ones if exactly else others)
    return left, right, exactly


def functions(draw: random.Random) -> Specimen:
    """Return a relation with functions at an instance; in two fifths of the draws a part has no value."""
    x = small(draw)
    values = {"x": x, "y": draw.choice([small(draw), small(draw), Fraction(0), x]), "n": Fraction(draw.randint(0, 5))}
    hard, kind = False, "heads"
    if draw.random() < 0.35:
        left, right, exactly = laws(draw)
        claim, kind = Claim(left, draw.choice(RELATIONS), right, equal=True), "law"
        hard = not exactly
        if draw.random() < 0.5:
            claim, hard = Claim(left, draw.choice(RELATIONS), right + Fraction(draw.choice((-1, 1)), 9)), False
    else:
        node, found = with_value(draw, lambda: expression(draw), values)
        claim = compare(draw, node, found, with_value(draw, lambda: expression(draw), values)[0])
    if draw.random() < 0.4:
        claim, kind = _spoiled(draw, claim, values), f"{kind}, cancelled"
    return statement_at(draw, "functions", kind, values, [turned(draw, claim)], parameters={"n": INTEGER}, hard=hard)


def _spoiled(draw: random.Random, claim: Claim, values: dict[str, Fraction]) -> Claim:
    """Return the claim with a part that has no value; at times it is on both sides, or cancels, or is not computed."""
    bad, choice = without_value(draw, values), draw.randrange(5)
    left = claim.left
    if choice == 0:
        return Claim(left + bad, claim.relation, claim.right + bad, claim.equal)
    if choice == 1:
        return Claim(spoiled(draw, left, values), claim.relation, claim.right, claim.equal)
    if choice == 2:
        # Pieces after the first that holds, and the terms of an empty sum, need no value.
        unused = [pieces((N, ">=", 0, left), last=bad), left + series("Sum", bad * K, "k", 1, 0)]
        return Claim(draw.choice(unused), claim.relation, claim.right, claim.equal)
    return Claim(left + draw.choice([cancelling(draw, bad), kept(0 * bad)]), claim.relation, claim.right, claim.equal)
