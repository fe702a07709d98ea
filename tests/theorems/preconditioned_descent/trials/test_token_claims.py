"""Claims about token-preconditioning layers: true claims are not violated, and similar false claims are violated."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from theorems.preconditioned_descent.trials import token_claims, token_layers
from verify import UndecidedError

TWO = {"d": 2, "n": 3}


def drawn(trials, count, instance=TWO):
    return list(islice(trials(instance, np.random.default_rng(0)), count))


def violated(trials, count=16, instance=TWO):
    return any(trial.violates for trial in drawn(trials, count, instance))


def test_the_point_without_a_first_step_is_critical_and_another_is_not():
    # The known critical point has a_0 = 0, a_1 = n/(n + d + 1) = 1/2 and b_0 = -1/2.
    assert not violated(token_claims.positive_but_one(lambda instance: [Fraction(0), Fraction(1, 2), Fraction(-1, 2)]))
    assert violated(token_claims.positive_but_one(lambda instance: [Fraction(0), Fraction(1, 2), Fraction(-3, 5)]))
    assert violated(token_claims.positive_but_one(lambda instance: [Fraction(0), Fraction(2, 5), Fraction(-1, 2)]))


def test_the_least_value_is_attained_at_positive_numbers_and_not_at_a_negative_rate():
    assert not violated(token_claims.least_within(token_layers.POSITIVE))
    assert violated(token_claims.least_within([*token_layers.POSITIVE[:2], (-token_layers.INFINITY, 0)]))


def test_loss_is_above_that_of_four_layers_without_rates_not_of_three():
    assert not violated(token_claims.between(lambda layers: layers.least_without_rates(4)))
    assert violated(token_claims.between(lambda layers: layers.least_without_rates(3)))


def test_where_no_descent_sees_the_lower_point_nothing_is_decided():
    trials = token_claims.between(lambda layers: layers.least_without_rates(4))
    with pytest.raises(UndecidedError, match="no lower point was found"):
        drawn(trials, 1, {"d": 10**9, "n": 20})


def test_the_valley_is_at_its_value_and_at_no_other():
    assert not violated(token_claims.valley(), 24)
    assert violated(token_claims.valley(Fraction(101, 100)), 24)
    assert violated(token_claims.valley(Fraction(99, 100)), 24)


def test_steps_are_not_negative_and_rates_may_be():
    three = {"L": 3, **TWO}
    assert not violated(token_claims.no_negative_step(), instance=three)
    assert violated(token_claims.no_negative_step(rates=True), instance=three)
