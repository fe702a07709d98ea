"""Parameters that are lists: they are read, reported entry by entry, drawn, simplified and written as JSON."""

import json
import random
from fractions import Fraction

import pytest
import sympy as sp

import verify
from verify import Identity, Inequality, Parameter, TheoremError, ValueOver
from verify.evaluation.instances import simplicity
from verify.search.plans import plan
from verify.search.simplify import simpler_values, simplest

u, t, n = sp.Symbol("u", positive=True), sp.Symbol("t", positive=True), sp.Symbol("n", integer=True, positive=True)
LIST = Parameter("values", "rationals", "some numbers", above=0)
COUNT = Parameter("n", "integer", "a number", minimum=1)
CLAUSE = Identity("square", (u + t) ** 2, u**2 + 2 * u * t + t**2)
SHARE, TOTAL = ValueOver(n * u / t, u, "values", {t: u}), ValueOver(u**2 + t, u, "values", {t: 1 / u}, total=True)


@pytest.fixture
def theorem(make_theorem):
    return make_theorem(CLAUSE, parameters=(COUNT, LIST), variables=(u, t), values={"share": SHARE, "total": TOTAL})


def test_values_over_a_list_are_in_its_order(theorem):
    result = verify.check(theorem, n=3, values="2,1,1/2")
    # The values are n·u/Σu, and Σ(u² + Σ1/u) = 21/4 + 3·(1/2 + 1 + 2).
    assert result.values == {"share": [Fraction(12, 7), Fraction(6, 7), Fraction(3, 7)], "total": Fraction(63, 4)}
    assert result.instance["values"] == (2, 1, Fraction(1, 2))


def test_json_has_lists_and_their_floats(theorem):
    data = json.loads(json.dumps(verify.check(theorem, n=1, values="1,1/2").to_json()))
    assert data["instance"]["values"] == [1, "1/2"] and data["instance"]["values_float"] == [1.0, 0.5]
    assert data["values"]["share"] == ["2/3", "1/3"]


def test_conditions_say_what_a_list_may_be(theorem):
    assert "numbers separated by commas" in verify.conditions(theorem, n=1).ranges["values"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"v": ValueOver(u, u, "n")}, "n is not a parameter of kind rationals"),
        ({"v": ValueOver(u + 0.1, u, "values")}, "float"),
    ],
    ids=["no list", "float"],
)
def test_a_value_over_no_list_is_refused(make_theorem, values, message):
    with pytest.raises(TheoremError, match=message):
        make_theorem(CLAUSE, parameters=(COUNT, LIST), variables=(u, t), values=values)


def test_a_list_stays_out_of_claims_and_hypotheses(make_theorem):
    with pytest.raises(TheoremError, match="uses the list values; only a reported value may"):
        make_theorem(Inequality("c", sp.Gt(sp.Symbol("values"), 0)), parameters=(LIST,))


FOUND = plan((COUNT, LIST), (), {})


@pytest.mark.parametrize("seed", range(50))
def test_drawn_lists_are_in_the_domain(seed):
    instance = FOUND.draw(random.Random(seed))
    assert FOUND.admits(instance) and 1 <= len(instance["values"]) <= 5
    assert all(isinstance(x, Fraction) and x > 0 for x in instance["values"])


def test_a_list_becomes_short_and_plain():
    start = {"n": 1, "values": (Fraction(7, 3), Fraction(41, 17), Fraction(22, 7))}

    def holds(instance):
        return sum(instance["values"]) > 2 and len(instance["values"]) >= 2

    last = simplest(FOUND, start, holds)[-1]
    assert holds(last) and len(last["values"]) == 2
    assert simplicity(last) <= simplicity({"n": 1, "values": (Fraction(1), Fraction(2))})


def test_an_entry_alone_is_not_dropped():
    assert all(len(value) == 1 for value in simpler_values((Fraction(7, 3),)))
    assert list(simpler_values((Fraction(0),))) == []


def test_a_search_over_lists_ends_and_replays(theorem):
    result = verify.explore(theorem, max_examples=30)
    assert result.counterexample is None and result.examples >= 10
    again = verify.explore(theorem, max_examples=30, values=[1, "1/2"])
    assert again.nearest is None or again.nearest["values"] == (1, Fraction(1, 2))
