"""Reasons why `prove` leaves a claim open: in text on one screen, and as data."""

import json
from dataclasses import replace

import pytest

import verify
from verify.errors import NoInstanceError
from verify.provers.deduction.proofs import deduction_proof
from verify.reports.text import prove_text
from verify.search.limits import PROVE
from verify.search.proofs.reasons import bounds_of

# If x + y is not positive, the logarithm has no value: no proof will be found.
NO_VALUE = "log(x + y) <= x + y for x > 0"
# The claim is false only at n = 1000, which is none of the points that a search for a proof draws.
FALSE = "2**n*(n - 1000)**2 >= 1 for integer n >= 0"


@pytest.fixture
def no_explore(monkeypatch):
    def nothing(*_, **__):
        raise NoInstanceError("none")

    monkeypatch.setattr("verify.search.proving.explore", nothing)


@pytest.mark.usefixtures("no_explore")
def test_a_search_that_is_over_says_what_it_tried_and_what_stays_open():
    result = verify.prove(FALSE, seconds=60)
    (reasons,) = result.reasons.values()
    text = prove_text(result)
    assert "      tried: constant, positive, squares, cases, logarithms, deduction: " in text
    assert "      nearest: by induction, 1 of its parts shown; open: " in text and len(text.splitlines()) < 24
    (row,) = result.to_json()["clauses"]
    assert row["reasons"] == reasons.to_json() and json.dumps(result.to_json(), allow_nan=False)
    assert row["reasons"]["work_limit"] == PROVE.work >= row["reasons"]["work"] > 0
    assert row["reasons"]["open_parts"] == reasons.record.open_parts()
    assert (result.to_json()["stopped"], result.exit_code) == (result.stopped, 3)
    # The reasons depend only on the work: a new search gives the same reasons.
    deduction_proof.cache_clear()
    assert list(verify.prove(FALSE, seconds=60).reasons["claim"].lines()) == list(reasons.lines())


@pytest.mark.usefixtures("no_explore")
def test_the_work_that_is_spent_is_said(monkeypatch):
    monkeypatch.setattr("verify.search.proving.PROVE", replace(PROVE, work=60))
    result = verify.prove(FALSE, seconds=60)
    assert "ended: the work was spent: 60 columns" in prove_text(result)
    assert result.stopped == "work" and "; the work is spent" in prove_text(result).splitlines()[-1]


def test_where_it_is_closest_to_fail_is_said_of_the_search_for_a_counterexample():
    result = verify.prove(NO_VALUE, seconds=20)
    assert result.stopped == "tried" and "; all that is known was tried" in prove_text(result).splitlines()[-1]
    body = result.to_json()["searched"]
    assert body["examples"] == body["clean"] + body["undecided"] + body["without_value"]
    assert 0 < body["smallest_margin"] < 1 and body["without_value"] > 0
    assert set(body["nearest"]) >= {"x", "y"}
    assert "no counterexample in " in prove_text(result)


def test_obstacles_are_said_with_the_facts_that_would_help():
    (reasons,) = verify.prove(NO_VALUE, seconds=10).reasons.values()
    said = list(reasons.lines())
    assert "no value: x + y is not shown to be > 0" in said
    assert "may help: a hypothesis, or a domain, by which x + y has that sign" in said
    assert "ended: all ways that the search knows were tried, with " in " ".join(said)
    assert "may help: the sign of y is not known: say `for y > 0`, or >= 0, where it is so" in said


@pytest.mark.parametrize(
    ("relation", "bounds"),
    [
        ("x**2 <= 1", "-1 <= x <= 1"),
        ("x**2 < x", "0 < x < 1"),
        ("4*x**2 <= 9", "-3/2 <= x <= 3/2"),
        ("x**3 > 8", "2 < x"),
        ("x**4 + 1 > x**4 + x", None),
        # Irrational ends, two intervals, one point, a linear relation, an equation, two symbols, an exponential.
        ("x**2 <= 2", None),
        ("x**2 >= 1", None),
        ("x**2 <= 0", None),
        ("x <= 1", None),
        ("x**2 == 1", None),
        ("x**2 + y**2 <= 1", None),
        ("exp(x) <= 1", None),
    ],
)
def test_bounds_that_say_what_a_hypothesis_does(relation, bounds):
    (hypothesis,) = verify.claim(f"x <= 5 if {relation}").statement.hypotheses
    assert bounds_of(hypothesis.relation) == bounds


def test_a_hypothesis_that_is_not_linear_is_said_with_its_bounds():
    (reasons,) = verify.prove(f"{NO_VALUE.replace(' for', ' if y**2 <= 4 for')}", seconds=10).reasons.values()
    assert "may help: y**2 <= 4 is not linear: write it as `-2 <= y <= 2`, from which slopes begin" in reasons.lines()


def test_a_proved_or_refuted_claim_has_no_reasons():
    for line, stopped in (("2*x*y <= x**2 + y**2", "proved"), ("x**2 >= x for x > 0", "refuted")):
        result = verify.prove(line, seconds=10)
        assert (result.reasons, result.searched, result.stopped) == ({}, None, stopped)
        assert [row["reasons"] for row in result.to_json()["clauses"]] == [None]


def test_the_time_that_is_over_is_said():
    result = verify.prove(NO_VALUE, seconds=1e-3)
    assert result.stopped == "seconds" and "; the time is over" in prove_text(result).splitlines()[-1]
