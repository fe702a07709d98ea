"""Drawn functions have the values found by hand; the re-checker, the reader of `tests/outside` and the engine agree.

A drawn certificate is written, read and accepted again. The audit compares more draws.
"""

import json
import random
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
import sympy as sp
from flint import arb, ctx
from mpmath import iv

import verify
from tests.outside.reading import EXACT, HIGH, NotExactError, _expression
from tests.verify.rechecker.certificates import given_at, recheck
from tests.verify.statements.applied import NAMES
from tests.verify.statements.drawn import drawn
from tests.verify.statements.functions import PI, call, expression, functions, iterated, pieces, series
from tests.verify.statements.numbers import UnsureError, lifted, sign
from tests.verify.statements.relations import with_value
from tests.verify.statements.specimens import small, symbols_of
from tests.verify.statements.trees import Tree, exp, log, sqrt, symbol, tree, value_at
from tests.verify.statements.writing import NotWrittenError, faithful, read
from verify import InputError, Iterate, TheoremError
from verify.checking.certificates import certificate_text
from verify.language.expressions import to_data
from verify.language.heads.table import CONSTANTS, FUNCTIONS
from verify.rechecker import Rejected
from verify.rechecker.balls import high, low
from verify.rechecker.functions import NotExact

X, Y, N, K, J, C, S, R = map(symbol, "xynkjcsr")
HALF = Fraction(1, 2)
AT = {"x": Fraction(-5, 2), "y": Fraction(3), "n": Fraction(4)}
SEEDS = 80
"""The number of drawn statements; every function of the language occurs in them."""
BITS = 200


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (call("abs", X), Fraction(5, 2)),
        (call("sign", X) + call("sign", 0 * X) + 3 * call("sign", Y), 2),
        (call("Max", X, Y, N), 4),
        (call("Min", Y, N, X), Fraction(-5, 2)),
        (call("floor", X), -3),
        (call("ceiling", X), -2),
        (call("floor", exp(Y)), 20),
        (call("ceiling", -exp(Y)), -20),
        (call("factorial", N), 24),
        (call("factorial", N - 4), 1),
        (call("factorial", N - 5), None),
        (call("factorial", X), None),
        (call("binomial", N, 2), 6),
        (call("binomial", N, 5), 0),
        (call("binomial", N, -1), 0),
        (call("binomial", N - 5, 1), None),
        (call("binomial", N, X), None),
        (series("Sum", K * X, "k", 1, N), -25),
        (series("Sum", 1 / K, "k", 1, 0), 0),
        (series("Sum", 1 / (K - 2), "k", 1, N), None),
        (series("Sum", K, "k", 1, X), None),
        (series("Sum", series("Sum", J * K, "j", 1, K), "k", 1, 3), 25),
        (series("Product", K, "k", 2, N), 24),
        (series("Product", K, "k", 2, -N), 1),
        (pieces((X, "<", Y, 7), last=1 / (N - 4)), 7),
        (pieces((X, ">", Y, 1 / (N - 4)), (N, "==", 4, 8), last=9), 8),
        (pieces((X, ">=", Y, 7), last=1 / (N - 4)), None),
        (pieces((1 / (N - 4), "<", 0, 7), last=8), None),
        (iterated(0, N, "cs", (X,), (S + C,)), Fraction(7, 2)),
        (iterated(1, 2, "csr", (X, Y), (R, S * R)), Fraction(-45, 2)),
        (iterated(0, 0, "cs", (X,), (1 / (N - 4),)), Fraction(-5, 2)),
        (iterated(0, -1, "cs", (X,), (S,)), None),
        (iterated(0, N / 3, "cs", (X,), (S,)), None),
        *((call(name, 0 * X), int(name in ("cos", "cosh"))) for name in ("sin", "cos", "tan", "atan", "sinh", "tanh")),
        (call("abs", log(X)), None),
        (call("Max", X, log(X)), None),
    ],
)
def test_values_by_hand(node, value):
    found = value_at(node, AT)
    assert found == value and (value is None or isinstance(found, Fraction))


@pytest.mark.parametrize(
    ("node", "digits"),
    [
        (PI, "3.14159265358979323846"),
        (call("sin", X), "-0.5984721441039564940519"),
        (call("cos", Y), "-0.9899924966004454572716"),
        (call("tan", N), "1.157821282349577583137"),
        (call("atan", X), "-1.190289949682531732928"),
        (call("sinh", X), "-6.05020448103978732145"),
        (call("cosh", Y), "10.06766199577776584195"),
        (call("tanh", X), "-0.9866142981514302888813"),
        (call("Max", exp(X), call("atan", Y)), "1.24904577239825442583"),
        (call("Min", exp(X), call("atan", Y)), "0.08208499862389879516953"),
        (call("abs", -PI), "3.14159265358979323846"),
    ],
)
def test_irrational_values_are_those_of_tables(node, digits):
    found, right = value_at(node, AT), Fraction(digits)
    width = Fraction(1, 10**20)
    assert (found > lifted(right - width)) is True and (found < lifted(right + width)) is True


def test_a_rounding_that_an_interval_does_not_decide_is_unsure():
    with pytest.raises(UnsureError):
        value_at(call("floor", call("sin", X) ** 2 + call("cos", X) ** 2), AT)
    with pytest.raises(UnsureError):
        value_at(call("factorial", sqrt(2 * N)), AT)


@cache
def specimen_of(i):
    """Return a drawn statement, once for all tests."""
    return drawn(f"functions:{i}")


def heads(specimen):
    """Return the names of the language's functions in a statement, as SymPy stores it."""
    parts = list(sp.preorder_traversal(_relation(specimen)))
    found = {name for name in FUNCTIONS if any(_is(part, name) for part in parts)}
    return found | {"Iterate"} if any(isinstance(part, Iterate) for part in parts) else found


def _relation(specimen) -> Any:
    (clause,) = specimen.theorem.statement.clauses
    return clause.relation


def _is(part, name):
    make = FUNCTIONS[name].make
    return isinstance(part, make) if isinstance(make, type) else part.is_Pow and part.exp == sp.Rational(1, 2)


def test_each_function_of_the_language_is_drawn():
    specimens = [specimen_of(i) for i in range(SEEDS)]
    assert set().union(*map(heads, specimens)) == {*FUNCTIONS, "Iterate"}
    states = {part.args[0] for specimen in specimens for part in _relation(specimen).find(Iterate)}
    assert states == {0, 1}
    constants = [_relation(specimen).has for specimen in specimens]
    assert all(any(has(constant) for has in constants) for constant, _ in CONSTANTS.values())
    kinds = Counter(specimen.kind for specimen in specimens)
    assert set(kinds) == {"heads", "law", "heads, cancelled", "law, cancelled"} and min(kinds.values()) > 1


def test_functions_with_values_elsewhere_are_read_back():
    for i in range(40):
        draw = random.Random(f"read:{i}")
        node = with_value(draw, lambda draw=draw: expression(draw), AT)[0]
        try:
            back = read(faithful(node, symbols_of([node, X, Y, N]), [AT]), {})
            assert (sign(value_at(back - node, AT)) if isinstance(value_at(node, AT), Fraction) else 0) == 0
        except NotWrittenError:
            continue


AUDITED = [pytest.param(range(300), marks=pytest.mark.audit)]


@pytest.mark.parametrize("seeds", [range(SEEDS), *AUDITED])
def test_the_re_checker_reads_the_same_values(seeds):
    compared = Counter()
    for i in seeds:
        specimen = specimen_of(i)
        instance = {name: str(value) for name, value in specimen.instance.items()}
        given = given_at(specimen.theorem.statement, instance)
        for side in _relation(specimen).args:
            right = _value(read(side, {}), specimen.instance)
            compared["without a value" if right is None else type(right).__name__] += 1
            assert _agrees(given, to_data(side), right), (i, side)
    assert compared["Fraction"] and compared["ivmpf"] and compared["without a value"]


def _value(node, at):
    try:
        return value_at(node, at)
    except UnsureError:
        return "unsure"


def _agrees(given, data, right):
    """Whether the re-checker's value is right; the re-checker must not refuse a rational value."""
    with ctx.workprec(BITS):
        try:
            node = given.expression(data, "here")
            found = _found(given, node) if isinstance(right, Fraction) else given.number(node, BITS)
        except Rejected:
            return not isinstance(right, Fraction)
        if right is None or isinstance(right, str):
            return right is not None
        ends = [lifted(end(found) if isinstance(found, arb) else Fraction(found)) for end in (low, high)]
        return (ends[0] > lifted(right)) is not True and (ends[1] < lifted(right)) is not True


def _found(given, node):
    """Return a value, exactly if the re-checker sees that it is rational; 0 times an irrational number is not exact."""
    try:
        return given.number(node, None)
    except NotExact:
        return given.number(node, BITS)


@pytest.mark.parametrize("seeds", [range(12), *AUDITED])
def test_a_certificate_of_drawn_functions_is_written_and_accepted_again(seeds):
    certified = Counter()
    for i in seeds:
        specimen = specimen_of(i)
        try:
            result = verify.check(specimen.theorem, specimen.instance)
        except TheoremError:
            continue
        (clause,) = result.clauses
        if clause.evidence is None:
            continue
        (again,) = recheck(json.loads(certificate_text(specimen.theorem, result))).claims
        assert (again.outcome, again.evidence) == (clause.outcome, clause.evidence)
        assert specimen.clauses["c0"](specimen.instance) is (clause.outcome == "verified")
        certified[str(clause.outcome)] += 1
    assert certified["verified"] > len(seeds) / 6 and certified["refuted"] > len(seeds) / 6


def line_of(node):
    """Return a tree as text for a statement in a line."""
    parts = [line_of(part) for part in node.parts]
    match node.op:
        case "number":
            return f"({node.label})"
        case "symbol":
            return node.label
        case "pi" | "infinity":
            return {"pi": "pi", "infinity": "oo"}[node.op]
        case "add" | "mul" | "power":
            return f"({ {'add': ' + ', 'mul': '*', 'power': '**'}[node.op].join(parts) })"
        case "exp" | "log" | "call":
            return f"{node.label or node.op}({', '.join(parts)})"
        case "limit":
            if node.parts[1].op != "infinity":
                raise NotWrittenError("the reader of `tests/outside` has no limits at numbers")
            return f"Limit({parts[0]}, {node.label}, {parts[1]})"
        case "Sum" | "Product":
            return f"{node.op}({parts[0]}, ({node.label}, {parts[1]}, {parts[2]}))"
        case "Piecewise":
            *flat, last = parts
            listed = zip(flat[::3], flat[1::3], flat[2::3], node.label, strict=True)
            return f"Piecewise({', '.join(f'({v}, {a} {sign} {b})' for a, b, v, sign in listed)}, ({last}, True))"
    raise NotWrittenError(node.op)


def second(text, at):
    """Return the value that the reader of `tests/outside` finds for a text, exact if possible."""
    for arithmetic in (EXACT, HIGH):
        names = arithmetic | {"ceiling": lambda x, floor=arithmetic["floor"]: -floor(-x)}
        names["binomial"] = lambda n, k, of=arithmetic["binomial"]: of(n, k) if k >= 0 else 0 * n
        try:
            return eval(_expression(text), names | {name: arithmetic["number"](value) for name, value in at.items()})
        except (NameError, NotExactError):
            continue
    raise AssertionError(text)


@pytest.mark.parametrize("seeds", [range(12), *AUDITED])
def test_a_line_has_the_same_value_for_all_readers(seeds):
    compared, refused = 0, []
    for i in seeds:
        draw = random.Random(f"line:{i}")
        at = {"x": small(draw), "y": small(draw), "n": Fraction(draw.randint(0, 5))}
        node, found = with_value(draw, lambda draw=draw: expression(draw), at)
        try:
            text = line_of(node)
        except NotWrittenError:
            continue
        near = 10**-8 if "Limit" in text else 10**-15
        shown = second(text, at)
        shown = lifted(shown) if isinstance(shown, Fraction) else iv.mpf(shown)
        assert (abs(lifted(found) - shown) < near * (1 + abs(lifted(found)))) is True, (i, text)
        compared += 1
        try:
            used = {name: value for name, value in at.items() if name in node.names()}
            result = verify.check(f"{text} >= 0{' for integer n >= 0' if 'n' in used else ''}", used)
        except InputError as error:
            refused.append(str(error))
            continue
        holds = result.clauses[0].holds
        assert holds is None or _holds(found) in (None, holds), (i, text)
    assert compared > len(seeds) / 2 and len(refused) < len(seeds) / 3, refused


def _holds(value):
    """Whether a value is at least 0; None if its interval does not decide it."""
    try:
        return sign(value) >= 0
    except UnsureError:
        return None


def test_names_are_those_of_the_language():
    assert {*NAMES, "exp", "log", "sqrt", "Sum", "Product", "Limit", "Piecewise"} == set(FUNCTIONS)
    with pytest.raises(KeyError):
        value_at(Tree("call", (tree(1),), "asin"), {})
    assert functions(random.Random("again")).category == "functions"
