"""The loss of two layers with any matrices, compared with layers on random prompts; its slopes, and violations."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from tests.theorems.preconditioned_descent.trials.layers import block, residuals, within_error
from theorems.preconditioned_descent.trials import two_layers
from verify import UndefinedError

D, N = 2, 3
INSTANCE = {"d": D, "n": N}


def steps(*values):
    return lambda instance: [Fraction(value) for value in values]


def drawn(trials, count, instance=INSTANCE):
    return list(islice(trials(instance, np.random.default_rng(0)), count))


def test_the_loss_is_that_of_layers_on_prompts():
    random = np.random.default_rng(0)
    laws = two_layers.drawn_laws(random, D)
    first, second = 0.15 * random.normal(size=(2, D, D))
    parameters = [(block(np.zeros((D, D)), 1), -block(A, 0)) for A in (first, second)]
    squares = residuals(random, 400_000, N, parameters, laws.root) ** 2
    exact = two_layers.loss(first, second, N, laws)
    assert within_error(squares, exact) and not within_error(squares, 1.2 * exact)
    stacked = two_layers.loss(np.stack([first, second]), np.stack([second, first]), N, laws)
    assert np.allclose(stacked, [exact, two_layers.loss(second, first, N, laws)], rtol=1e-13)


def test_the_laws_fit_together():
    laws = two_layers.drawn_laws(np.random.default_rng(0), 3)
    assert np.allclose(laws.root @ laws.root, laws.tokens) and np.allclose(laws.tokens @ laws.prior, np.eye(3))


def test_rounding_covers_the_error_of_a_loss_that_is_known():
    # The loss is d at A_0 = A_1 = 0. At A_0 = 10⁴ I its rounding errors are visible.
    zero, laws = np.zeros((D, D)), two_layers.standard(D)
    assert two_layers.loss(zero, zero, N, laws) == D
    large = 1e4 * np.eye(D)
    moments = [D, D, D * (N + D + 1) / N]
    exact = moments[0] - 2e4 * moments[1] + 1e8 * moments[2]
    error = abs(two_layers.loss(large, zero, N, laws) - exact)
    assert error <= two_layers.rounding(large, zero, N, laws) < 1e-9 * exact


# The best steps for d = n = 1: their sum is 2/3 and their product 1/15.
BEST = steps("0.1225148226554414", "0.5441518440112253")


@pytest.mark.parametrize(
    ("trials", "wrong"),
    [
        (two_layers.least_over_symmetric, steps("0.1225148226554414", "0.57")),
        (two_layers.gradient_vanishes, steps("0.1225148226554414", "0.55")),
        (two_layers.positive_definite, steps("1/3", "1/3")),
        (two_layers.strict_minimum, steps("0.1225148226554414", "0.57")),
    ],
)
def test_the_least_point_in_one_dimension_has_no_violation_and_another_has(trials, wrong):
    one = {"d": 1, "n": 1}
    assert not any(trial.violates for trial in drawn(trials(BEST), 40, one))
    assert any(trial.violates for trial in drawn(trials(wrong), 40, one))


def test_a_dimension_that_is_too_large_has_no_verdict():
    with pytest.raises(UndefinedError, match="d = 25: means over all matrices are computed up to d = 24"):
        drawn(two_layers.gradient_vanishes(BEST), 1, {"d": 25, "n": 1})
