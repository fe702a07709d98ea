"""A gradient step and an attention layer, computed in NumPy, and the norms that bound the scope."""

import math

import numpy as np
from scipy.special import softmax

import verify
from theorems.softmax_regression.opposite_moves import opposite_moves
from verify import Evidence, Outcome


def test_a_step_and_a_layer_by_numpy():
    a, x, eta, w, v = 0.8, 0.6, 0.5, 0.7, 0.4
    A, b = np.array([a, -a]), np.array([1.0, 0.0])
    p = softmax(A * x)
    step = softmax(A * (x - eta * A @ (np.diag(p) - np.outer(p, p)) @ (p - b)))
    attention = np.stack([softmax(row) for row in np.outer(A * w, A)])
    layer = softmax((A + attention @ A * -v) * x)
    found = verify.check(opposite_moves, a="4/5", x="3/5", eta="1/2", w="7/10", v="2/5", R=4)
    expected = {
        "gradient_shift": np.linalg.norm(step - p),
        "layer_shift": np.linalg.norm(layer - p),
        "difference": np.linalg.norm(step - layer),
        "gradient_loss_change": (np.sum((step - b) ** 2) - np.sum((p - b) ** 2)) / 2,
        "layer_loss_change": (np.sum((layer - b) ** 2) - np.sum((p - b) ** 2)) / 2,
    }
    assert expected["gradient_loss_change"] < 0 < expected["layer_loss_change"]
    for name, value in expected.items():
        assert math.isclose(found.values[name].midpoint, value, rel_tol=1e-12)
    assert math.isclose(expected["difference"], expected["gradient_shift"] + expected["layer_shift"], rel_tol=1e-12)
    for name in ("gradient_shift", "layer_shift"):
        assert found.values[name].upper <= found.values[f"{name}_at_most"].lower


def test_moves_outside_the_norms_are_out_of_scope():
    given = opposite_moves.example
    result = verify.check(opposite_moves, **given)
    assert result.evidence is Evidence.CERTIFIED and result.for_all_parameters.standing == "formal"
    for changed, labels in (
        ({"R": 3}, ["large_radius"]),
        # If the layer hardly moves the data, the new rows are nearly the old rows, and both norms are too large.
        ({"a": 3, "eta": "1/1000", "v": "1/1000"}, ["data_norm", "moved_data_norm"]),
        ({"v": 7, "x": "1/10000"}, ["moved_data_norm"]),
        ({"x": "399/100", "a": "1/1000", "eta": 100}, ["weight_norm"]),
        ({"eta": "1/20"}, ["small_step"]),
        ({"v": "1/30"}, ["small_layer"]),
    ):
        result = verify.check(opposite_moves, **given | changed)
        assert result.outcome is Outcome.OUT_OF_SCOPE and result.claim_outcome is Outcome.VERIFIED
        assert [h.label for h in result.hypotheses if not h.holds] == labels


def test_no_logit_moves_by_a_hundredth_where_the_small_moves_hold():
    """Compute the moves at the largest eta and v that the hypotheses admit, for several a and x."""
    b = np.array([1.0, 0.0])
    most = dict.fromkeys(("step", "layer"), 0.0)
    for a in (0.1, 1.0, 2.8):
        A = np.array([a, -a])
        for x in np.linspace(0.01, 3.5, 60):
            eta, v = 27 / (1600 * a**2), 1 / (100 * a * x)
            p = softmax(A * x)
            step = A * (x - eta * A @ (np.diag(p) - np.outer(p, p)) @ (p - b)) - A * x
            layer = -v * np.stack([softmax(9 * row) for row in np.outer(A, A)]) @ A * x
            most = {"step": max(most["step"], abs(step).max()), "layer": max(most["layer"], abs(layer).max())}
    # The bound p(1 − p)² ≤ 4/27 is attained at p = 1/3, but here p > 1/2. The bound tanh < 1 is nearly attained.
    assert most["step"] < 0.01
    assert 0.0099 < most["layer"] < 0.01 + 1e-15  # tanh is 1 in float64


def test_the_second_derivative_of_the_loss_is_a_sixth_at_most():
    """Compute second derivatives by differences of the loss; the largest is between 0.15 and 1/6."""
    D, h = np.linspace(-12, 12, 4001), 1e-3
    bends = np.diff((1 + np.exp(D[:, None] + h * np.arange(-1, 2))) ** -2.0, n=2) / h**2
    assert 0.15 < bends.max() < 1 / 6 and -1 / 6 < bends.min() < -0.12
