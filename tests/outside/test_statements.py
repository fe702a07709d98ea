"""The statements' sources, witnesses and percentages are right, and no drawn instance violates a true statement."""

import json
from collections import Counter
from fractions import Fraction
from itertools import islice

import pytest

from tests.outside import FAMILIES, FOLDER, Outside, statements
from tests.outside.measure import inside, violated_percent
from tests.outside.reading import Domain, Statement, split

ALL = statements()
TRUE = [each for each in ALL if each.true]
FALSE = [each for each in ALL if not each.true]
DRAWN = 200
SOME = 50
"""Number of draws for slow statements (with sums, products or recursions), and for statements with several hypotheses,
which rarely hold."""

OUTCOMES = {"proved", "not proved", "not expressed", "out of time"}
"""The outcomes of z3 that `tests/benchmarks/peers_outside.py` records."""


def test_there_are_enough_of_each_kind():
    counts = Counter((each.family, each.true) for each in ALL)
    assert set(counts) == {(family, true) for family in FAMILIES for true in (True, False)}
    assert min(counts.values()) >= 12 and len(TRUE) >= 120 and len(FALSE) >= 120


def test_ids_and_texts_are_unique():
    assert len({each.id for each in ALL}) == len({each.statement for each in ALL}) == len(ALL)


def test_each_has_a_source_and_what_its_truth_or_change_is():
    assert all(each.source for each in ALL)
    assert all(each.why and each.level and not each.changed and not each.witness for each in TRUE)
    assert all(each.changed and not each.why for each in FALSE)


def test_a_third_is_hard_and_a_third_has_exponentials_logarithms_roots_or_integer_exponents():
    levels = Counter(each.level for each in TRUE)
    assert set(levels) == {"easy", "exercise", "hard"} and levels["hard"] >= len(TRUE) / 3
    words = ("exp(", "log(", "sqrt(", "**n", "**t", "**(n", "**(2*t")
    functions = [each for each in ALL if any(word in each.statement for word in words)]
    assert len(functions) >= len(ALL) / 3


def test_half_of_the_false_ones_are_rarely_violated():
    assert sum(each.violated_percent < 1 for each in FALSE) >= len(FALSE) / 2


def test_z3_was_asked_for_each_true_statement_and_proves_at_most_55_percent():
    record = json.loads((FOLDER / "z3.json").read_text(encoding="utf-8"))
    outcomes = record["outcomes"]
    assert set(outcomes) == {each.id for each in TRUE} and set(outcomes.values()) == OUTCOMES
    proved = sum(outcome == "proved" for outcome in outcomes.values())
    assert proved == record["proved"] <= 0.55 * len(TRUE)


def test_the_tree_of_the_set_proves_at_most_35_percent():
    record = json.loads((FOLDER / "before.json").read_text(encoding="utf-8"))
    outcomes = record["outcomes"]
    assert set(outcomes) == {each.id for each in TRUE} and record["of"] == len(TRUE)
    assert set(outcomes.values()) == {"proved", "not proved", "no example", "not expressed"}
    proved = sum(outcome == "proved" for outcome in outcomes.values())
    assert 0 < proved == record["proved"] <= 0.35 * len(TRUE)


@pytest.mark.parametrize("each", FALSE, ids=lambda each: each.id)
def test_a_witness_violates_a_false_statement(each):
    assert Statement.read(each.statement).refuted_by(each.witness, each.step)


@pytest.mark.parametrize("each", TRUE, ids=lambda each: each.id)
def test_no_draw_violates_a_true_statement(each):
    statement = Statement.read(each.statement)
    is_long = statement.recursions or "(k, " in each.statement or len(statement.hypotheses) > 1
    found = [violated for _, violated in islice(inside(each), SOME if is_long else DRAWN)]
    assert found and not any(found)


@pytest.mark.parametrize("name", ["polynomials/am_gm_two_sharper", "integers/power_times_gap_sharper"])
def test_the_share_of_violations_is_as_committed(name):
    (each,) = (each for each in FALSE if each.id == name)
    assert violated_percent(each)[0] == each.violated_percent


@pytest.mark.parametrize(
    ("text", "witness", "step"),
    [
        ("x < 1 for 0 <= x <= 1", {"x": 1}, 0),
        ("x**2 == 2 if x**2 < 4", {"x": 1}, 0),
        ("sqrt(x) <= 1 for x >= 0", {"x": 2}, 0),
        ("Sum(k, (k, 1, n)) <= 5 for integer n >= 1", {"n": 3}, 0),
        ("Product(k, (k, 1, n)) <= factorial(n)/2 for integer n >= 1", {"n": 3}, 0),
        ("Piecewise((x, x < 0), (-x, True)) < 0", {"x": 0}, 0),
        ("x <= 4 along x -> 2*x from a for a > 0", {"a": 1}, 3),
        ("Limit((1 + g/n)**n, n, oo) <= 2", {"g": 1}, 0),
    ],
)
def test_a_violation_is_recognised(text, witness, step):
    read = Statement.read(text)
    assert read.refuted_by({name: Fraction(value) for name, value in witness.items()}, step)


@pytest.mark.parametrize(
    ("text", "witness", "step"),
    [
        ("x < 1 for 0 <= x <= 1", {"x": "1/2"}, 0),
        ("x <= 1 for 0 <= x <= 1", {"x": 2}, 0),
        ("x <= 1 for x >= 0", {"x": 2, "y": 1}, 0),
        ("x**2 == 2 if x**2 < 4", {"x": 2}, 0),
        ("n < 2 for integer n >= 1", {"n": "5/2"}, 0),
        ("x <= 4 along x -> 2*x from a for a > 0", {"a": 1}, 2),
        ("exp(log(x)) == x for x > 0", {"x": 3}, 0),
    ],
)
def test_values_without_a_violation_are_no_witness(text, witness, step):
    read = Statement.read(text)
    assert not read.refuted_by({name: Fraction(value) for name, value in witness.items()}, step)


def test_a_false_statement_taken_for_a_true_one_is_noticed():
    wrong = Outside("none", "x**2 >= x/2", "folklore", true=True)
    assert any(violated for _, violated in islice(inside(wrong), DRAWN))


@pytest.mark.parametrize(
    ("text", "name", "inside_it", "outside_it"),
    [
        ("x > 0", "x", 1, 0),
        ("0 <= p < 1", "p", 0, 1),
        ("y real", "y", -5, None),
        ("integer n >= 2", "n", 2, 1),
        ("integer 1 <= k <= 5", "k", 5, Fraction(3, 2)),
        ("x <= 9/5", "x", Fraction(9, 5), 2),
    ],
)
def test_domains_are_read(text, name, inside_it, outside_it):
    domain = Domain.read(text)
    assert domain.name == name and inside_it in domain
    assert outside_it is None or outside_it not in domain


def test_commas_inside_parentheses_do_not_split():
    assert split("a <= Max(b, c), d > 0") == ["a <= Max(b, c)", "d > 0"]
