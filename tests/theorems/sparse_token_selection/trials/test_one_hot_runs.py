"""The run with one-hot encodings: its loss and steps computed directly, and wrong rates that are refuted."""

from fractions import Fraction

import numpy as np
import pytest

from theorems.sparse_token_selection.inverse_loss_rate import h_fixed, inverse_loss_slope
from theorems.sparse_token_selection.trials import one_hot_runs as runs
from theorems.sparse_token_selection.trials.long_runs import ACCURACY, after, reached, smooth

RUN = runs.OneHotRun(7, 2, 3, 0.8)


def dense_loss(alpha, C):
    """Return d/2 Σ (αp_i − u_i)², summed token by token."""
    logits = C * (np.arange(7) < 2)
    p = np.exp(logits) / np.exp(logits).sum()
    return 3 / 2 * np.sum((alpha * p - (np.arange(7) < 2) / 2) ** 2)


def pair(g, C):
    return 1 + RUN.odds(C) - g, C


@pytest.mark.parametrize("state", [(3.5, 0.0), (1.2, 0.9), (0.01, 4.0), (-0.3, 2.0)])
def test_a_step_is_one_of_gradient_descent_on_the_loss(state):
    alpha, C = pair(*state)
    assert RUN.loss(*state) == pytest.approx(dense_loss(alpha, C), rel=1e-12)
    h = 1e-5
    slope_alpha = (dense_loss(alpha + h, C) - dense_loss(alpha - h, C)) / (2 * h)
    slope_C = (dense_loss(alpha, C + h) - dense_loss(alpha, C - h)) / (2 * h)
    moved = RUN.move(*state)
    found = np.subtract(pair(state[0] + moved[0], C + moved[1]), (alpha, C))
    np.testing.assert_allclose(found, (-0.8 * slope_alpha / 3, -0.8 * slope_C / 6), atol=1e-9)


def test_the_run_starts_at_zero():
    assert pair(*RUN.start) == (0, 0)


@pytest.mark.parametrize("run", [RUN, runs.OneHotRun(200, 3, 5, 1.0), runs.OneHotRun(40, 3, 50, 0.3)])
def test_steps_that_are_joined_are_those_one_by_one(run):
    start = smooth(run.move, run.start)
    state = after(run.move, start.state, 90_000)
    (at,) = reached(run.move, start, [run.mark(run.odds(state[1]))], (0.0, 1e-3))
    assert at.step == pytest.approx(start.step + 90_000, rel=ACCURACY / 10)
    assert at.state == pytest.approx(state, rel=ACCURACY / 10)


INSTANCE = {"T": 50, "q": 3, "d": 2, "eta": Fraction(1, 2)}
CASES = [(runs.slope, inverse_loss_slope), (runs.steps, 1 / inverse_loss_slope), (runs.limits, h_fixed)]


@pytest.mark.parametrize(("trials", "limit"), CASES)
def test_a_limit_is_approached_and_one_off_by_a_thousandth_is_not(trials, limit):
    found, wrong = (list(trials(number)(INSTANCE, np.random.default_rng(0))) for number in (limit, limit * 1.001))
    assert len(found) == 4 and not any(trial.violates for trial in found)
    assert any(trial.violates for trial in wrong)
