"""The layer with small scores beside a gradient step, in NumPy; the derivatives by differences."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import special

import verify
from theorems.softmax_regression.first_order_layer import first_order_layer
from verify import InputError

softmax = partial(special.softmax, axis=-1)


def task(source, n, d):
    return source.normal(size=(n, d)), source.dirichlet(np.ones(n))


@pytest.mark.parametrize(("n", "d"), [(2, 1), (5, 3), (12, 4)])
@pytest.mark.parametrize("w", ["1", "1/10", "1/1000"])
def test_within_the_stated_distance_with_any_preconditioner(n, d, w):
    source, eta = np.random.default_rng(0), 3
    for _ in range(20):
        A, b = task(source, n, d)
        H = source.normal(size=(d, d))
        scores = A @ H @ A.T
        spread, beta = np.ptp(scores, axis=1).max(), np.ptp(b)
        given = {"n": n, "eta": eta, "w": w, "G": Fraction(spread), "beta": Fraction(beta)}
        values = verify.check(first_order_layer, **given).values
        layer = softmax(float(values["v"]) * softmax(float(Fraction(w)) * scores) @ (n * b))
        # At x = 0 the loss has the slopes J (p - b) in the logits, p = 1/n.
        slopes = (np.eye(n) / n - 1 / n**2) @ (1 / n - b)
        step = softmax(A @ (-eta * H @ A.T @ slopes))
        most = float(getattr(values["distance_at_most"], "midpoint", values["distance_at_most"]))
        assert np.linalg.norm(layer - step) <= most * (1 + 1e-9)


def test_one_row_is_not_in_its_domain():
    with pytest.raises(InputError, match="n = 1: must be an integer >= 2"):
        verify.check(first_order_layer, **first_order_layer.example | {"n": 1})


def test_the_mean_loss_tends_to_the_steps_on_data_without_a_bound():
    # |a_i|² has no mean under this law: tasks of Cauchy sizes.
    source, n, d, eta = np.random.default_rng(1), 6, 3, 3
    tasks = [(source.standard_cauchy() * A, b) for A, b in (task(source, n, d) for _ in range(2000))]

    def loss(output, b):
        return np.square(output - b).sum() / 2

    step = np.mean([loss(softmax(A @ A.T @ (eta / n * (b - 1 / n))), b) for A, b in tasks])
    gaps = []
    for w in (1e-2, 1e-4, 1e-6):
        layers = [loss(softmax(eta / (n * w) * softmax(w * (A @ A.T)) @ (n * b)), b) for A, b in tasks]
        gaps.append(abs(np.mean(layers) - step))
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 1e-3 < gaps[0]
