"""Values that a check reports: over lists, least sufficient values, largest values, relations, conditional values."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from tests.verify.statements.numbers import summed
from tests.verify.statements.relations import (
    cancelling,
    expression,
    instance_of,
    rational,
    singular,
    spoiled,
    with_value,
)
from tests.verify.statements.specimens import Specimen, Values, small, symbols_of, theorem_of
from tests.verify.statements.trees import RELATIONS, Tree, exp, kept, log, sqrt, symbol, tree, truth, value_at
from tests.verify.statements.writing import faithful, relation_of
from verify import Inequality, Parameter, Statement, ValueLargest, ValueLeast, ValueOver, ValueWhere

M, N, U, T, X, Y = map(symbol, "mnutxy")


def _specimen(
    category: str,
    kind: str,
    parameters: dict[str, Parameter],
    instance: dict[str, Any],
    reported: dict[str, Any],
    expected: dict[str, Callable[[Values], Any]],
    *,
    definitions: dict[Any, Any] | None = None,
    degenerate: bool = False,
    hard: bool = False,
) -> Specimen:
    """Return a statement with a simple clause, and the values that are reported beside it."""
    name = next(n for n, p in parameters.items() if p.kind != "rationals")
    assumed = {"integer": True} if parameters[name].kind == "integer" else {}
    s = sp.Symbol(name, **assumed)
    clause = Inequality("c0", sp.Lt(s, s + 1, evaluate=False))
    statement = Statement(tuple(parameters.values()), (clause,), definitions=definitions or {})
    return Specimen(
        category,
        kind,
        theorem_of(statement, reported),
        instance,
        {"c0": lambda _: True},
        values=expected,
        degenerate=degenerate or None in [value(instance) for value in expected.values()],
        hard=hard,
    )


def lists(draw: random.Random) -> Specimen:
    """Return values over the entries of a list, with sums over it."""
    entries = tuple(small(draw, zero=draw.random() < 0.4) for _ in range(draw.randint(1, 5)))
    numbers = {"n": small(draw)}
    base = {**numbers, "u": entries[0]}
    term = draw.choice([U, U**2, 1 / U, U * N, tree(1), U + cancelling(draw, singular(draw, numbers))])
    inner = draw.choice([N * U / T, U**2 + T, (U - T) / (U + N), U * T - N, 1 / (U - 1), U, (U**2 - 1) / (U - 1)])
    if draw.random() < 0.3:
        bad = draw.choice([singular(draw, numbers), 1 / U, 1 / (U - 1), log(U), sqrt(U - 1)])
        inner = draw.choice([inner + cancelling(draw, bad), inner * kept(kept(bad**0)), inner * kept(U * kept(1 / U))])
    total = draw.random() < 0.4

    def expected(_: Values) -> Any:
        terms = [value_at(term, {**numbers, "u": x}) for x in entries]
        if "t" in inner.names():
            if None in terms:
                return None
            here = {**numbers, "t": summed(terms)}
        else:
            here = numbers
        found = [value_at(inner, {**here, "u": x}) for x in entries]
        if None in found:
            return None
        # A number that is not known to be rational is compared as an interval.
        return summed(found) if total else found

    symbols = symbols_of([inner, term, U, T, N])
    points = [
        {**base, "u": x, "t": t, "n": n}
        for x in entries
        for t in (Fraction(2), Fraction(0))
        for n in (numbers["n"], Fraction(7))
    ]
    sums = {symbols["t"]: faithful(term, symbols, points)} if "t" in inner.names() else {}
    value = ValueOver(faithful(inner, symbols, points), symbols["u"], "values", sums, total=total)
    parameters = {"n": Parameter("n", "rational", "n"), "values": Parameter("values", "rationals", "values")}
    return _specimen("lists", "over a list", parameters, {**numbers, "values": entries}, {"v": value}, {"v": expected})


def least(draw: random.Random) -> Specimen:
    """Return a reported least integer at which expressions are at most a level; the expressions may rise and fall."""
    values = {"m": Fraction(draw.randint(0, 9)), "x": abs(small(draw, zero=False))}
    low, high = draw.choice((0, 0, 1, 4)), draw.randint(20, 41)
    r, s = draw.randint(5, 9), draw.randint(10, 15)
    falling = [X / (M + 1), -M * X, tree(Fraction(1, 2)) ** M, X - M, (X + 3) / (M + 2) ** 2, exp(-M) * X, 100 - M**2]
    uneven = [
        (M - 3) * (M - r) * (40 - M),
        (M - r) * (M - s) * (s + 9 - M),
        X * (M - s) * (s + 2 - M) * (M - r),
        tree(-1) ** M * X,
        (M - s) ** 2,
        M - r,
    ]
    undefined = [
        1 / (M - r),
        1 / (M - r) - X / (M + 1),
        log(M - r + 1) * 0 - M,
        M - kept((M - s) * kept(1 / (M - s))) * 12,
        (M - s) ** -2,
    ]
    kind, choices = draw.choice(
        (("falling", falling), ("falling", falling), ("uneven", uneven), ("uneven", uneven), ("undefined", undefined))
    )
    nodes = [draw.choice(choices)]
    if draw.random() < 0.25:
        nodes.append(draw.choice(falling))
    level = tree(draw.choice((Fraction(0), Fraction(0), Fraction(1, 3), Fraction(-1, 50), Fraction(-20))))
    degenerate = kind != "falling"
    if kind == "uneven":
        high = 41

    def enough(at: Values) -> bool:
        return all(truth(node, "<=", level, at) is True for node in nodes)

    def expected(at: Values) -> Any:
        return next((m for m in range(low, high + 1) if enough({**at, "m": Fraction(m)})), None)

    symbols = symbols_of([*nodes, level, M, X], {"m": {"integer": True}})
    points = [{**values, "m": Fraction(m)} for m in range(low, high + 1)]
    value = ValueLeast(
        tuple(faithful(node, symbols, points) for node in nodes),
        "m",
        faithful(level, symbols, points),
        sp.Integer(low),
        sp.Integer(high),
    )
    parameters = {"m": Parameter("m", "integer", "m", minimum=0), "x": Parameter("x", "rational", "x")}
    instance = {"m": int(values["m"]), "x": values["x"]}
    return _specimen(
        "reported", "least, " + kind, parameters, instance, {"v": value}, {"v": expected}, degenerate=degenerate
    )


def _plain(draw: random.Random, names: str, values: dict[str, Fraction]) -> Tree:
    node = with_value(draw, lambda: rational(draw, names, 2), values)[0]
    return spoiled(draw, node, values) if draw.random() < 0.25 else node


def _irrational(draw: random.Random, names: str, values: dict[str, Fraction]) -> Tree:
    node = with_value(draw, lambda: expression(draw, names, 2), values)[0]
    return spoiled(draw, node, values) if draw.random() < 0.4 else node


def _largest(nodes: list[Tree], at: Values, definitions: dict[str, Tree]) -> Any:
    found = [value_at(node, at, definitions) for node in nodes]
    return max(found) if all(isinstance(x, Fraction) for x in found) else None


def _of_first_case(cases: list[Tree], applies: Callable[[int, Values], Any], at: Values) -> Any:
    """Return the value of the first case that applies; None if it is not known whether an earlier case does."""
    for i, case in enumerate(cases):
        known = applies(i, at)
        if known is None:
            return None
        if known:
            return value_at(case, at)
    return None


def plain(draw: random.Random) -> Specimen:
    """Return a value: an expression, a relation, the largest of some expressions, or a value under conditions."""
    values = instance_of(draw, "xy")
    names = "".join(values)
    kind = draw.choice(("expression", "irrational", "relation", "largest", "where", "cases", "definition", "kept"))
    nodes = [_plain(draw, names, values) for _ in range(3)]
    bounds = [with_value(draw, lambda: rational(draw, names, 1), values)[0] for _ in range(3)]
    relation = [draw.choice(RELATIONS) for _ in range(3)]
    if kind == "irrational":
        nodes[0] = _irrational(draw, names, values)
    definitions: dict[str, Tree] = {}
    if kind == "definition":
        bad = singular(draw, values)
        definitions = {"d": bad if draw.random() < 0.5 else nodes[1]}
        d = symbol("d")
        nodes[0] = draw.choice([d + 1, kept(d**0) + X, nodes[0], d * 2 - kept(d * 1), kept(d - kept(d * 1))])
    if kind == "kept":
        # A factor 1 or a term 0 that SymPy keeps.
        c = draw.randint(-3, 3)
        nodes[0] = draw.choice(
            [kept(kept(1 * X**3) + c * X), kept(kept(1 * X**2) + (c * X + Y)), kept(X**1 + c * X**2)]
        )
    symbols = symbols_of([*nodes, *bounds, X, Y, *definitions.values(), *map(symbol, definitions)])
    other = [{n: small(draw) for n in names} for _ in range(2)]
    points = [values, *other]
    write = lambda node: faithful(node, symbols, points, definitions)  # noqa: E731
    put = {symbols[n]: write(node) for n, node in definitions.items()}
    related = lambda i: relation_of(write(nodes[i]), relation[i], write(bounds[i]))  # noqa: E731
    holds = lambda i, at: truth(nodes[i], relation[i], bounds[i], at, definitions)  # noqa: E731
    value: Any
    expected: Callable[[Values], Any]
    if kind == "relation":
        value, expected = related(0), lambda at: holds(0, at)
    elif kind == "largest":
        value, expected = ValueLargest(tuple(map(write, nodes))), lambda at: _largest(nodes, at, definitions)
    elif kind == "where":
        value = ValueWhere(write(nodes[2]), (related(0), related(1)))
        expected = lambda at: value_at(nodes[2], at, definitions) if holds(0, at) and holds(1, at) else None  # noqa: E731
    elif kind == "cases":
        value = (ValueWhere(write(bounds[0]), (related(0),)), ValueWhere(write(bounds[1]), (related(1),)))
        expected = lambda at: _of_first_case(bounds[:2], holds, at)  # noqa: E731
    else:
        value, expected = write(nodes[0]), lambda at: value_at(nodes[0], at, definitions)
    parameters = {name: Parameter(name, "rational", name) for name in names}
    return _specimen("reported", kind, parameters, values, {"v": value}, {"v": expected}, definitions=put)


def reported(draw: random.Random) -> Specimen:
    """Return a reported value."""
    return draw.choice((least, plain, plain))(draw)
