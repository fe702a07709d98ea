"""The layer and the gradient step, compared with direct computations, and violations of wrong claims."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy as sp
from scipy.special import softmax

from theorems.softmax_regression.trials import attention_layer
from verify import UndefinedError

INSTANCE = {"n": 6, "eta": 20, "w": Fraction(1, 1000), "G": 2, "beta": Fraction(1, 2)}


def task(n=5, d=3):
    random = np.random.default_rng(0)
    return attention_layer.drawn_task(random, n, random.normal(size=(d, d)))


def violated(trials, count=40, instance=INSTANCE):
    return any(trial.violates for trial in islice(trials(instance, np.random.default_rng(0)), count))


def test_the_step_is_that_of_a_gradient_by_differences():
    data, target, preconditioner = drawn = task()

    def loss(x):
        return np.sum((softmax(data @ x) - target) ** 2) / 2

    slopes = np.array([(loss(h) - loss(-h)) / 2e-5 for h in 1e-5 * np.eye(3)])
    assert np.allclose(attention_layer.step_logits(drawn, 7), data @ (-7 * preconditioner @ slopes), atol=1e-8)


@pytest.mark.parametrize("w", [1, 1e-3])
def test_the_layer_reads_by_the_softmax_of_its_scores(w):
    data, target, preconditioner = drawn = task()
    reading = softmax(w * data @ preconditioner @ data.T, axis=1) @ (5 * target)
    assert np.allclose(attention_layer.layer_logits(drawn, w, 2) + 2, 2 * reading, atol=1e-13)


def test_small_scores_lose_no_digits():
    drawn, eta = task(), 3
    step = attention_layer.step_logits(drawn, eta)
    layer = attention_layer.layer_logits(drawn, 1e-14, eta / (5 * 1e-14))
    assert np.allclose(layer - layer.mean(), step - step.mean(), atol=1e-12)
    assert np.linalg.norm(softmax(layer) - softmax(step)) <= attention_layer.rounding(drawn, eta, 1e-14) < 1e-11


def test_a_drawn_target_is_on_the_simplex_and_the_spread_that_of_a_row():
    data, target, preconditioner = drawn = task()
    assert target.min() >= 0 and target.sum() == pytest.approx(1, abs=1e-15)
    scores = data @ preconditioner @ data.T
    assert drawn.spread == max(row.max() - row.min() for row in scores)


def test_the_layer_is_close_to_the_step_and_with_a_larger_v_it_is_not():
    assert not violated(attention_layer.close()) and violated(attention_layer.close(factor=1.1))


def test_in_the_slow_task_only_two_rows_stay_with_the_step():
    for n in (4, 7, 12):
        slow = attention_layer.slow_task(n)
        assert slow.target.min() >= 0 and slow.target.sum() == pytest.approx(1, abs=1e-15) and slow.spread == 1
        step = attention_layer.step_logits(slow, 100)
        assert np.allclose(step[:2], 0, atol=1e-13) and np.allclose(step[2:], step[2]) and step[2] < -100 / n**2


def test_the_limit_of_small_scores_and_a_smaller_factor_that_is_exceeded():
    below, above = (attention_layer.slope_at_most(sp.Float(factor)) for factor in (0.0249, 0.0170))
    assert not violated(below, 20, INSTANCE | {"n": 8}) and violated(above, 20, INSTANCE | {"n": 8})
    # With three rows only random tasks are tried.
    assert not violated(below, 20, INSTANCE | {"n": 3})


def test_the_factor_that_is_needed_and_a_larger_one_that_is_not():
    n = sp.Symbol("n", integer=True, positive=True)
    at_six = 4 / n * sp.sqrt(2) / 64
    assert not violated(attention_layer.factor_needed(at_six))
    assert violated(attention_layer.factor_needed(sp.Rational(1001, 1000) * at_six))
    assert list(attention_layer.factor_needed(at_six)(INSTANCE | {"n": 3}, np.random.default_rng(0))) == []


def test_layers_reach_the_mean_loss_of_a_step_and_are_not_below_it_by_a_constant():
    assert not violated(attention_layer.least_mean_loss(), 10)
    assert violated(attention_layer.least_mean_loss(gain=0.01), 20)


def test_large_instances_have_no_verdict():
    with pytest.raises(UndefinedError, match="n = 1001: attention of n rows to n rows is drawn up to n = 1000"):
        violated(attention_layer.close(), instance=INSTANCE | {"n": 1001})
    with pytest.raises(UndefinedError, match="the scores of the layer are tried up to w G = 1"):
        violated(attention_layer.close(), instance=INSTANCE | {"w": 1})
