"""Drawn instances satisfy their relations by construction, ends and extreme ratios included."""

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings

from verify import Parameter, TheoremError, load_theorem
from verify.instances import Range, plan, values

THEOREM = load_theorem("wang2024.theorem1")
RELATIONS = [*THEOREM.statement.domain, *(h.relation for h in THEOREM.statement.hypotheses if h.relation is not None)]
PLAN = plan(THEOREM.statement.parameters, RELATIONS, {})
x, y = sp.symbols("x y", positive=True)


@settings(max_examples=100)
@given(PLAN.instances())
def test_every_drawn_instance_is_in_scope(instance):
    T, q, d, eta, eps = (instance[name] for name in ("T", "q", "d", "eta", "eps"))
    assert 2 <= q < Fraction(T, 4)
    assert 0 < eta <= Fraction(1, 20 * d * d)
    assert 0 < eps < Fraction(d * T, 100 * (T - q) * q)


def test_given_parameters_stay():
    fixed = plan(THEOREM.statement.parameters, RELATIONS, {"T": 40, "d": 5})

    @settings(max_examples=30)
    @given(fixed.instances())
    def stays(instance):
        assert (instance["T"], instance["d"]) == (40, 5)
        assert 2 <= instance["q"] <= 9 and 0 < instance["eta"] <= Fraction(1, 500)

    stays()


def test_the_ends_of_a_closed_range_are_drawn():
    seen = set()

    @settings(max_examples=60)
    @given(values(Range(Fraction(1), Fraction(2)), integer=False))
    def collect(value):
        assert 1 <= value <= 2
        seen.add(value)

    collect()
    assert {1, 2} <= seen and len(seen) > 10


def test_relations_that_contradict_each_other_have_no_plan():
    parameters = (Parameter("x", "rational", "", above=0), Parameter("y", "rational", "", above=0))
    with pytest.raises(TheoremError, match="no order"):
        plan(parameters, [sp.Lt(x, y), sp.Gt(x, y)], {})


def test_a_relation_that_is_not_affine_is_refused():
    with pytest.raises(TheoremError, match="not affine"):
        plan((Parameter("x", "rational", "", above=0),), [sp.Lt(x**2, 2)], {})


@pytest.mark.parametrize(
    ("one", "other", "empty"),
    [
        (Range(Fraction(1), Fraction(2)), Range(Fraction(2), None), False),
        (Range(Fraction(1), Fraction(2)), Range(Fraction(2), None, low_open=True), True),
        (Range(None, Fraction(1)), Range(Fraction(3, 2), None), True),
    ],
)
def test_meeting_ranges(one, other, empty):
    assert one.meet(other).empty is other.meet(one).empty is empty
