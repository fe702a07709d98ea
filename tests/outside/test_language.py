"""The language expresses the statements: those that are parsed, and checks of true ones and of false ones."""

import random
from fractions import Fraction
from itertools import islice

import pytest

import verify
from tests.outside import statements
from tests.outside.measure import inside
from tests.outside.reading import Statement

BEYOND = {"limit_exp_second_order", "limit_arithmetic_mean"}
"""False statements with a limit of no quotient of polynomials, whose value at an instance is not computed."""
EVALUATED = [each for each in statements() if each.id.removeprefix("identities/") not in BEYOND]
TRUE = [pytest.param(each, id=each.id) for each in EVALUATED if each.true]
FALSE = [pytest.param(each, id=each.id) for each in EVALUATED if not each.true]
DRAWN = 2
STEPS = 8


def test_all_are_in_the_language_and_false_ones_beyond_are_not_verified():
    assert len(statements()) - len(EVALUATED) == len(BEYOND) == 2
    for each in statements():
        theorem = verify.claim(each.statement)
        if each not in EVALUATED:
            assert verify.check(theorem, each.witness).outcome == "inconclusive"


@pytest.mark.parametrize("each", FALSE)
def test_a_false_one_is_refuted_at_its_witness_and_certified(each):
    witness = each.witness | ({"t": each.step} if " along " in each.statement else {})
    result = verify.check(each.statement, witness)
    assert (result.outcome, result.evidence) == ("refuted", "certified")


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
    """Return an instance with fractions of a few digits; hypotheses may fail there."""
    return {name: Fraction(value).limit_denominator(1000) for name, value in instance.items()}
