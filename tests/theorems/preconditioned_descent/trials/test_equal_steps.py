"""The loss of equal steps, compared with pairings and with layers on random prompts."""

from collections import Counter
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from tests.theorems.wishart.pairings import classes, pairings
from theorems.preconditioned_descent.trials.equal_steps import DRAWS, loss, mean_trace, never_rises, partitions


def test_partitions_of_a_number():
    assert [*partitions(4, 4)] == [(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    assert [sum(1 for _ in partitions(k, k)) for k in (1, 5, 10)] == [1, 7, 42]


@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_moments_by_wicks_formula(power):
    # tr (GGᵀ)^k is the sum of the products G_{i_1 j_1} G_{i_2 j_1} G_{i_2 j_2} … of 2k entries of G.
    rows, columns = [(k + 1) // 2 % power for k in range(2 * power)], [k // 2 for k in range(2 * power)]
    terms = Counter(
        (
            classes(power, [(rows[a], rows[b]) for a, b in pairs]),
            classes(power, [(columns[a], columns[b]) for a, b in pairs]),
        )
        for pairs in pairings(list(range(2 * power)))
    )
    for d, m in ((1, 1), (2, 3), (5, 20)):
        expected = sum(count * d**row * m**column for (row, column), count in terms.items())
        assert mean_trace(power, d, m) == Fraction(expected, m**power)


def test_a_loss_is_that_of_the_layers_on_drawn_prompts():
    random, step, n, deviations = np.random.default_rng(2), 0.4, 4, np.array([1, 0.5])
    count = 100_000
    tokens = random.normal(size=(count, 2, n + 1)) * deviations[:, None]
    labels = ((random.normal(size=(count, 1, 2)) / deviations) @ tokens)[:, 0]
    wanted = labels[:, -1].copy()
    labels[:, -1] = 0
    Z = np.concatenate((tokens, labels[:, None]), axis=1)
    P, Q = np.diag([0, 0, 1]), -np.diag([*(step / deviations**2), 0])
    for _ in range(2):
        Z = Z + P @ Z @ np.diag([1] * n + [0]) @ (np.swapaxes(Z, 1, 2) @ Q @ Z) / n
    drawn = (-Z[:, -1, -1] - wanted) ** 2
    # The loss is within 6 standard errors, and a standard error is below 2 percent of the mean.
    error = drawn.std() / count**0.5
    assert error < 0.02 * drawn.mean()
    assert float(loss(Fraction(2, 5), 2, 2, n)) == pytest.approx(drawn.mean(), abs=6 * error)


def test_the_loss_never_rises_and_does_not_always_fall_as_one_over_m():
    right, wrong = (
        list(islice(never_rises(more)({"d": 5, "m": 100}, np.random.default_rng(0)), DRAWS)) for more in (0, 1)
    )
    assert not any(trial.violates for trial in right) and any(trial.violates for trial in wrong)
    assert {trial.tried["L"] for trial in right} == {1, 2, 3, 4, 5}
