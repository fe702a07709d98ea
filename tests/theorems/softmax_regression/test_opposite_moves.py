"""A gradient step and an attention layer carried out in NumPy, and the norms that bound the scope."""

import math

import numpy as np

from theorems.softmax_regression.opposite_moves import opposite_moves
from verify import Evidence, Outcome


def softmax(z):
    weights = np.exp(z - z.max())
    return weights / weights.sum()


def test_a_step_and_a_layer_by_numpy():
    a, x, eta, w, v = 0.8, 0.6, 0.5, 0.7, 0.4
    A, b = np.array([a, -a]), np.array([1.0, 0.0])
    p = softmax(A * x)
    step = softmax(A * (x - eta * A @ (np.diag(p) - np.outer(p, p)) @ (p - b)))
    attention = np.stack([softmax(row) for row in np.outer(A * w, A)])
    layer = softmax((A + attention @ A * -v) * x)
    found = opposite_moves.check(a="4/5", x="3/5", eta="1/2", w="7/10", v="2/5", R=4)
    expected = {
        "gradient_shift": np.linalg.norm(step - p),
        "layer_shift": np.linalg.norm(layer - p),
        "difference": np.linalg.norm(step - layer),
    }
    for name, value in expected.items():
        assert math.isclose(found.values[name].midpoint, value, rel_tol=1e-12)
    assert math.isclose(expected["difference"], expected["gradient_shift"] + expected["layer_shift"], rel_tol=1e-12)
    for name in ("gradient_shift", "layer_shift"):
        assert found.values[name].upper <= found.values[f"{name}_at_most"].lower


def test_moves_outside_the_norms_are_out_of_scope():
    given = {"x": 1, "eta": 1, "w": 1, "v": 1}
    assert opposite_moves.check(a=3, R=4, **given).outcome is Outcome.OUT_OF_SCOPE
    assert opposite_moves.check(a=1, R=4, **given).evidence is Evidence.PROVED
