"""Drawn statements: the evaluator and generators are compared with values by hand, the judge with planted results."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import sympy as sp

from tests.verify.statements import matrix_monomials, measures, runs
from tests.verify.statements.drawn import CATEGORIES, drawn, names
from tests.verify.statements.for_all import added, as_tree, multiplied, polynomial
from tests.verify.statements.judge import RAISED, REFUTED, VERIFIED, agrees, judged, shown
from tests.verify.statements.numbers import NoValueError, UnsureError
from tests.verify.statements.trees import (
    INFINITY,
    Point,
    case,
    derivative,
    exp,
    limit,
    log,
    sqrt,
    subs,
    symbol,
    tree,
    truth,
    value_at,
)
from tests.verify.statements.writing import NotWrittenError, faithful, read
from verify import Enclosure, Evidence, Outcome
from verify.checking.check import check

A, T, U, X, D = map(symbol, "atuxd")
HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("node", "at", "value"),
    [
        (X / X, 0, None),
        (X / X, 2, 1),
        (X**0, 0, 1),
        ((1 / X) ** 0, 0, None),
        (X - X, 3, 0),
        (1 / X - 1 / X, 0, None),
        (0 * log(X), -1, None),
        (log(X), 1, 0),
        (log(X) - log(X), 0, None),
        (sqrt(X) ** 2, -3, None),
        (sqrt(X), 0, 0),
        (sqrt(X), Fraction(9, 4), Fraction(3, 2)),
        (X ** Fraction(1, 3), -8, None),
        (X ** Fraction(2, 3), 8, 4),
        (X ** Fraction(-1, 2), 0, None),
        (X**-2, 0, None),
        (exp(log(X)), -3, None),
        (exp(X - X), 5, 1),
        (X**X, -2, Fraction(1, 4)),
        (X**X, 0, 1),
        ((X**2 - 1) / (X - 1), 1, None),
        (derivative(X**3, "x"), 2, 12),
        (derivative(X**3, "x", 2), 2, 12),
        (derivative(log(X), "x"), -3, None),
        (derivative(log(X), "x"), 4, Fraction(1, 4)),
        (derivative(1 / X, "x", 2), 2, Fraction(1, 4)),
        (derivative(sqrt(X), "x", 2), 4, Fraction(-1, 32)),
        (derivative((X**2 - 1) / (X - 1), "x"), 1, None),
        (derivative(log(X) * X, "x", 2), 2, HALF),
        (derivative(derivative(X**4, "x"), "x"), 1, 12),
        (subs(derivative(U**2, "u"), "u", X + 1), 2, 6),
        (subs(1 / U, "u", X), 0, None),
        (limit((X * T + 1) / (X * T + 2), "t", INFINITY), 3, 1),
        (limit((X * T + 1) / (X * T + 2), "t", INFINITY), 0, HALF),
        (limit(T / (T + X), "t", tree(0)), 0, 1),
        (limit(T / (T + X), "t", tree(0)), 2, 0),
        (limit(1 / (T + X), "t", tree(0)), 0, None),
        (limit(X * T / (X * T), "t", INFINITY), 0, None),
        (limit((T**2 - X**2) / (T - X), "t", X), 3, 6),
        (limit(T**2 / (T + X), "t", INFINITY), 1, None),
        (limit(log(X) * T / T, "t", INFINITY), -1, None),
        (limit(T - T**2 / (T + X), "t", INFINITY), 5, 5),
    ],
)
def test_values_by_hand(node, at, value):
    found = value_at(node, {"x": Fraction(at)})
    assert found == value and (value is None or isinstance(found, Fraction))


def test_definitions_count_where_they_are_used():
    definitions = {"d": 1 / X, "e": D + 1}
    here = {"x": Fraction(0)}
    assert value_at(X + 1, here, definitions) == 1
    assert value_at(D * X, here, definitions) is None and value_at(symbol("e") ** 0, here, definitions) is None
    assert value_at(symbol("e"), {"x": HALF}, definitions) == 3


def test_cases_that_a_word_does_not_select_are_not_evaluated():
    node = case("w", ("one", "two"), X, 1 / X)
    assert value_at(node, {"x": Fraction(0), "w": "one"}) == 0
    assert value_at(node, {"x": Fraction(0), "w": "two"}) is None


def test_intervals_hold_what_they_enclose():
    found = value_at(exp(log(X) / 2), {"x": Fraction(2)})
    assert (found**2 - 2 < 10**-20) is True and (found**2 - 2 > -(10**-20)) is True
    assert truth(exp(X), ">", tree(Fraction(271828, 100000)), {"x": Fraction(1)}) is True
    assert truth(sqrt(X), "<", tree(Fraction(141421, 100000)), {"x": Fraction(2)}) is False


def test_truths_that_intervals_do_not_decide_are_unsure():
    root = sqrt(X)
    with pytest.raises(UnsureError):
        truth(root**2, "==", X, {"x": Fraction(2)})
    assert truth(root**2, "==", X, {"x": Fraction(2)}, equal=True) is True
    assert truth(root**2, "==", X, {"x": Fraction(-2)}, equal=True) is None
    with pytest.raises(AssertionError, match="built to be equal"):
        truth(X, "==", X + 1, {"x": Fraction(2)}, equal=True)


@pytest.mark.parametrize(
    ("node", "points"),
    [(X * (1 / X), (0, 2)), (sqrt(X) ** 2, (-3, 4)), (exp(log(X)), (-3,)), (X - X, (1,)), (0 * (1 / X), (0,))],
)
def test_sympy_holds_what_is_written(node, points):
    at = [{"x": Fraction(x)} for x in points]
    back = read(faithful(node, {"x": sp.Symbol("x")}, at), {})
    assert [value_at(back, x) for x in at] == [value_at(node, x) for x in at]


def test_expressions_that_sympy_does_not_keep_are_refused():
    with pytest.raises(NotWrittenError, match="does not keep"):
        faithful(X + 1, {"x": sp.Integer(5)}, [{"x": Fraction(2)}])


def test_polynomials_are_multiplied_out():
    draw = random.Random(0)
    for _ in range(30):
        p, q = (polynomial(draw, 2, 3) for _ in range(2))
        symbols = (X, A)
        for x, a in product(map(Fraction, (-2, 0, 1, 3)), repeat=2):
            at = {"x": x, "a": a}
            one, two = (value_at(as_tree(side, symbols), at) for side in (p, q))
            assert value_at(as_tree(multiplied(p, q), symbols), at) == one * two
            assert value_at(as_tree(added(p, q), symbols), at) == one + two


def test_products_are_expanded_and_transposed():
    draw = random.Random(1)
    matrices = {name: [[Fraction(draw.randint(-2, 2)) for _ in range(2)] for _ in range(2)] for name in "PQ"}
    factors = [[(tree(2), (("P", False),)), (tree(-1), (("Q", True),))], [(tree(1), (("Q", False),))]]
    sides = [matrix_monomials.value_of(factor, matrices, {}, {}) for factor in factors]
    expected = matrix_monomials.multiplied(*sides)
    assert matrix_monomials.value_of(matrix_monomials.expanded(factors), matrices, {}, {}) == expected
    turned = matrix_monomials.value_of(matrix_monomials.turned(matrix_monomials.expanded(factors)), matrices, {}, {})
    assert turned == [list(column) for column in zip(*expected, strict=True)]


def test_a_run_ends_where_it_reaches_or_has_no_value():
    halving = runs.Run(("z",), (X,), (symbol("z") / 2,), symbol("z"), {})
    assert runs.passage(halving, tree(1), {"x": Fraction(5)}, 9) == ("reached", 3)
    assert runs.passage(halving, tree(0), {"x": Fraction(5)}, 9) == ("above", 9)
    down = runs.Run(("z",), (X,), (symbol("z") - 1 + 0 / symbol("z"),), symbol("z"), {})
    assert runs.passage(down, tree(-2), {"x": Fraction(2)}, 9) == ("without a value", 3)
    assert runs.passage(down, tree(0), {"x": Fraction(2)}, 9) == ("reached", 2)


def test_moments_of_no_measure_are_told():
    uniform = [Fraction(1, k + 1) for k in range(8)]
    assert measures.is_measure(uniform, 3)
    # With the weights 1 at s = 1 and −7 at s = 0, the integral of 1 is −6.
    assert not measures.is_measure(measures.moments({Fraction(1): Fraction(1), Fraction(0): Fraction(-7)}, 8), 1)
    # By hand: 1 − 4s + (10/3) s² is orthogonal to s and s² on [0, 1].
    rows = [[uniform[i + j] for j in (1, 2)] for i in (1, 2)]
    assert measures.solved(rows, [-uniform[1], -uniform[2]]) == [-4, Fraction(10, 3)]


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_name_draws_one_statement(category):
    for number in range(2):
        one, again = drawn(f"{category}:{number}"), drawn(f"{category}:{number}")
        assert one.category == category and one.instance == again.instance
        assert one.theorem.statement.digest == again.theorem.statement.digest


def test_names_are_shared_out():
    assert len(names(2000)) == len(set(names(2000))) == 2000
    assert {name.partition(":")[0] for name in names(100)} == set(CATEGORIES)


def _says(outcome, holds):
    """Return a fake check that gives every clause the outcome, every hypothesis the truth, and every value 12345."""

    def fake(theorem, instance, *, seconds):
        result = check(theorem, instance, seconds=seconds)
        clauses = tuple(replace(c, outcome=outcome, evidence=Evidence.CERTIFIED) for c in result.clauses)
        hypotheses = tuple(replace(h, holds=holds) for h in result.hypotheses)
        return replace(result, clauses=clauses, hypotheses=hypotheses, values=dict.fromkeys(result.values, 12345))

    return fake


@pytest.mark.parametrize("category", [c for c in CATEGORIES if c not in ("lists", "reported")])
def test_a_check_that_says_the_same_of_all_is_caught(category):
    specimens = [drawn(f"{category}:{number}") for number in range(14)]
    for outcome, holds, kind in ((Outcome.VERIFIED, True, VERIFIED), (Outcome.REFUTED, False, REFUTED)):
        seen = False
        for specimen in specimens:
            faults, _, result = judged(specimen, _says(outcome, holds))
            truths = [at(specimen.instance) for at in specimen.clauses.values()]
            # A refused statement has no results that could be wrong.
            if not isinstance(result, Exception) and any(t is not (outcome is Outcome.VERIFIED) for t in truths):
                assert faults
            seen |= any(fault.kind == kind for fault in faults)
        assert seen


@pytest.mark.parametrize("category", ["lists", "reported"])
def test_a_wrong_value_is_caught(category):
    for number in range(14):
        specimen = drawn(f"{category}:{number}")
        faults, _, result = judged(specimen, _says(Outcome.VERIFIED, True))
        assert any(fault.kind == VERIFIED and "value" in fault.what for fault in faults)
        assert "12345" in shown(specimen, f"{category}:{number}", faults, result)


def test_errors_that_the_check_raises_are_shown():
    def failing(*_, **__):
        raise ZeroDivisionError("by accident")

    specimen = drawn("relations:0")
    (fault,), decided, _ = judged(specimen, failing)
    assert fault.kind == RAISED and "by accident" in fault.what and not decided


def test_nothing_is_wrong_where_nothing_is_said():
    specimen = next(s for s in map(drawn, names(60)) if not s.degenerate and not s.hypotheses)

    def silent(theorem, instance, *, seconds):
        result = check(theorem, instance, seconds=seconds)
        clauses = tuple(replace(c, outcome=Outcome.INCONCLUSIVE, evidence=None) for c in result.clauses)
        return replace(result, clauses=clauses)

    assert judged(specimen, silent)[:2] == ([], False)


def test_a_proof_for_all_is_held_against_other_instances():
    specimen = next(s for s in (drawn(f"relations:{i}") for i in range(99)) if s.clauses["c0"](s.instance) is True)
    wrong = replace(specimen, others=({"marked": 1},), clauses={"c0": lambda at: "marked" not in at})

    def proved(theorem, instance, *, seconds):
        result = check(theorem, instance, seconds=seconds)
        clauses = tuple(replace(c, outcome=Outcome.VERIFIED, evidence=Evidence.PROVED) for c in result.clauses)
        return replace(result, clauses=clauses)

    (fault,), *_ = judged(wrong, proved)
    assert fault.kind == VERIFIED and "proved for all" in fault.what
    assert judged(replace(wrong, others=()), proved)[0] == []


@pytest.mark.parametrize(
    ("reported", "right", "same"),
    [
        (Fraction(1), Fraction(1), True),
        (Fraction(1), Fraction(2), False),
        (1, None, False),
        (True, True, True),
        (True, False, False),
        (1, True, False),
        ([1, 2], [Fraction(1), Fraction(2)], True),
        ([1], [Fraction(1), Fraction(2)], False),
        (Enclosure(1, 2), Fraction(3, 2), True),
        (Enclosure(1, 2), Fraction(3), False),
        (Enclosure(5, None), ("any of", Fraction(5), Fraction(6)), True),
    ],
)
def test_reported_values_are_compared(reported, right, same):
    assert agrees(reported, right) is same


def test_a_value_that_is_irrational_is_in_its_enclosure():
    root = Point({"x": Fraction(2)}).value(sqrt(X))
    assert agrees(Enclosure(1, 2), root) and not agrees(Enclosure(2, 3), root) and not agrees(Fraction(3, 2), root)
    with pytest.raises(NoValueError):
        Point({"x": Fraction(-2)}).value(sqrt(X))
