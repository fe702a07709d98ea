"""The language expresses the statements: each is parsed and checked at instances."""

import random
from fractions import Fraction
from itertools import islice

import pytest

import verify
from tests.outside import statements
from tests.outside.measure import inside
from tests.outside.reading import Statement

TRUE = [pytest.param(each, id=each.id) for each in statements() if each.true]
FALSE = [pytest.param(each, id=each.id) for each in statements() if not each.true]
DRAWN = 2
STEPS = 8


@pytest.mark.parametrize("each", FALSE)
def test_a_false_one_is_refuted_at_its_witness_and_certified(each):
    witness = each.witness | ({"t": each.step} if " along " in each.statement else {})
    result = verify.check(each.statement, witness)
    assert (result.outcome, result.evidence) == ("refuted", "certified")


@pytest.mark.audit
@pytest.mark.parametrize("each", TRUE)
def test_a_true_one_is_not_refuted(each):
    theorem, generator = verify.claim(each.statement), random.Random(each.id)
    instances = [theorem.example]
    if not Statement.read(each.statement).given:
        steps = {"t": generator.randrange(STEPS)} if " along " in each.statement else {}
        drawn = (short(instance) for instance, _ in islice(inside(each, 200), DRAWN))
        instances += [instance | steps for instance in drawn]
    outcomes = {str(verify.check(theorem, instance).outcome) for instance in instances}
    assert outcomes <= {"verified", "inconclusive", "out_of_scope"}
    assert "verified" in outcomes or "==" in each.statement


def short(instance):
    """Return an instance rounded to fractions of a few digits; hypotheses may fail there."""
    return {name: Fraction(value).limit_denominator(1000) for name, value in instance.items()}
