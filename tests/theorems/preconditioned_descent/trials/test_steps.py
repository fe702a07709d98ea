"""The loss as a function of the steps, compared with layers on random prompts; its derivatives, and violations."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from tests.theorems.preconditioned_descent.trials.layers import block, residuals, within_error
from theorems.preconditioned_descent.trials import steps

INSTANCE = {"d": 2, "n": 3}
ONE = {"d": 1, "n": 1}


def given(*values):
    return lambda instance: [Fraction(value) for value in values]


def drawn(trials, count, instance=ONE):
    return list(islice(trials(instance, np.random.default_rng(0)), count))


@pytest.mark.parametrize("at", [("1/2",), ("1/4", "3/4"), ("1/4", "1/2", "-1/8")])
def test_the_loss_is_that_of_layers_on_prompts(at):
    random, root = np.random.default_rng(0), np.array([[1.0, 0.5], [0, 0.75]])
    inverse = np.linalg.inv(root @ root.T)
    parameters = [(block(np.zeros((2, 2)), 1), -block(float(Fraction(a)) * inverse, 0)) for a in at]
    squares = residuals(random, 400_000, 3, parameters, root) ** 2
    exact = float(steps.loss_of_steps(len(at), INSTANCE)(*map(Fraction, at)))
    assert within_error(squares, exact) and not within_error(squares, 1.2 * exact)


def test_second_differences_are_exact():
    # For d = n = 1, f = ∫ (1 - a s)² (1 - b s)² dμ with the moments 1, 1, 3, 15, 105 of a squared Gaussian.
    loss = steps.loss_of_steps(2, ONE)
    assert loss(Fraction(1), Fraction(0)) == 1 - 2 + 3
    assert steps.second_differences(loss, [Fraction(0), Fraction(0)]) == (6, 12, 6)
    assert steps.slope(loss, Fraction(0), Fraction(0)) == -2
    both = steps.equal_pair(ONE)
    assert both[0] == both[1] and abs(steps.slope(loss, *both)) < Fraction(1, 10**40)


# The best steps for d = n = 1: their sum is 2/3, their product 1/15, and f = 8/15.
BEST = given("0.12251482265544137786674043", "0.54415184401122528879992623")


def test_the_least_pair_in_one_dimension_has_no_violation_and_others_have():
    def of(trials):
        # Violations below 10⁻²⁴ are ignored, because the steps above have 26 digits.
        return [trial for trial in drawn(trials, 20) if trial.margin < -max(trial.error, Fraction(1, 10**24))]

    assert not of(steps.least_at_steps(BEST, given("8/15")))
    assert of(steps.least_at_steps(BEST, given("9/15"))) and of(steps.least_at_steps(BEST, given("7/15")))
    assert of(steps.least_at_steps(given("1/8", "11/20"), given("8/15")))
    assert of(steps.least_at_steps(given("1/3", "1/3"), given("8/15")))
    assert not of(steps.strict_at_steps(BEST)) and of(steps.strict_at_steps(given("1/3", "1/3")))
    assert not of(steps.saddle_at_equal_steps(steps.equal_pair, BEST))
    assert of(steps.saddle_at_equal_steps(given("1/3", "1/3"), BEST))
    assert of(steps.saddle_at_equal_steps(steps.equal_pair, given("1/10", "1/2")))
