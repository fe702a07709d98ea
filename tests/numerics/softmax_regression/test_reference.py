"""Softmax regression and the layer, compared with NumPy loops; arguments that are refused."""

import math

import numpy as np
import pytest
import torch

from numerics.softmax_regression import reference
from verify import InputError


def drawn(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_hand(A, x):
    weights = [math.exp(sum(a * y for a, y in zip(row, x, strict=True))) for row in A]
    return [weight / sum(weights) for weight in weights]


def test_prediction_and_loss_by_hand():
    A, x, b = drawn(0, 4, 3), drawn(1, 3), drawn(2, 4)
    expected = by_hand(A.tolist(), x.tolist())
    assert np.allclose(reference.prediction(A, x), expected, rtol=1e-14, atol=0)
    value = sum((p - c) ** 2 for p, c in zip(expected, b.tolist(), strict=True)) / 2
    assert math.isclose(reference.loss(A, x, b), value, rel_tol=1e-14)


def test_a_saturated_prediction_is_a_corner():
    A = torch.tensor([[1e6], [-1e6], [0.0]], dtype=torch.float64)
    assert reference.prediction(A, torch.tensor([1e6], dtype=torch.float64)).tolist() == [1, 0, 0]


def test_the_gradient_by_finite_differences():
    A, x, b = drawn(0, 4, 3), drawn(1, 3), drawn(2, 4)
    found = reference.gradient(A, x, b).detach()
    for i, e in enumerate(1e-5 * torch.eye(3, dtype=torch.float64)):
        slope = (reference.loss(A, x + e, b) - reference.loss(A, x - e, b)) / 2e-5
        # The truncation error is about 10⁻¹⁰, and the rounding error about 10⁻¹⁶/10⁻⁵.
        assert math.isclose(found[i], slope, abs_tol=1e-9)


def test_the_new_target_leaves_the_residual():
    A, b, x, y = drawn(0, 4, 3), drawn(1, 4), drawn(2, 3), drawn(3, 3)
    before, after = reference.prediction(A, x), reference.prediction(A, y)
    target = reference.new_target(b, before, after)
    assert torch.allclose(after - b, before - target, rtol=0, atol=1e-15)
    assert not torch.allclose(after - b, before - reference.new_target(b, after, before), atol=1e-3)


def test_batches_are_what_each_task_gives():
    A, b, W, v = drawn(0, 5, 4, 3), drawn(1, 5, 4).abs(), drawn(2, 3, 3), drawn(3)
    for i in range(5):
        step, layer = reference.gradient_step(A[i], b[i], 2.0), reference.attention_layer(A[i], b[i], W, v)
        assert torch.allclose(reference.gradient_step(A, b, 2.0)[i], step, rtol=0, atol=1e-14)
        assert torch.allclose(reference.attention_layer(A, b, W, v)[i], layer, rtol=0, atol=1e-14)


def test_a_gradient_step_from_zero_by_hand():
    # At x = 0 the prediction is uniform and the gradient is Aᵀ(1/n)(I − 11ᵀ/n)(1/n − b).
    A, b = drawn(0, 4, 3), drawn(1, 4)
    residual = 0.25 - b
    x = -3.0 * A.T @ (residual - residual.mean()) / 4
    assert torch.allclose(reference.gradient_step(A, b, 3.0), reference.prediction(A, x), rtol=0, atol=1e-14)


def test_the_layer_by_loops():
    A, b, W, v = drawn(0, 4, 3).numpy(), drawn(1, 4).numpy(), drawn(2, 3, 3).numpy(), 0.7
    logits = []
    for i in range(4):
        weights = np.exp([A[i] @ W @ A[j] for j in range(4)])
        logits.append(v * sum(weights[j] / weights.sum() * 4 * b[j] for j in range(4)))
    expected = np.exp(logits) / np.exp(logits).sum()
    found = reference.attention_layer(*map(torch.tensor, (A, b, W)), torch.tensor(v, dtype=torch.float64))
    assert np.allclose(found, expected, rtol=1e-13, atol=0)


def test_the_data_after_attention_by_loops():
    A, W, V = drawn(0, 4, 3).numpy(), drawn(1, 3, 3).numpy(), drawn(2, 3, 3).numpy()
    rows = []
    for i in range(4):
        weights = np.exp([A[i] @ W @ A[j] for j in range(4)])
        rows.append(A[i] + sum(weights[j] / weights.sum() * A[j] for j in range(4)) @ V)
    assert np.allclose(reference.data_after_attention(*map(torch.tensor, (A, W, V))), rows, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reference.prediction(drawn(0, 3), drawn(1, 3)), "A = .*must have the shape"),
        (lambda: reference.prediction(drawn(0, 0, 3), drawn(1, 3)), "A = .*n, d >= 1"),
        (lambda: reference.prediction(drawn(0, 4, 3), drawn(1, 2)), r"x = .*\(\.\.\., 3\)"),
        (lambda: reference.loss(drawn(0, 4, 3), drawn(1, 3), drawn(2, 3)), r"b = .*\(\.\.\., 4\)"),
        (lambda: reference.attention_layer(drawn(0, 4, 3), drawn(1, 4), drawn(2, 4, 4), drawn(3)), r"W = .*\(3, 3\)"),
        (lambda: reference.data_after_attention(drawn(0, 4, 3), drawn(1, 3, 3), drawn(2, 4, 4)), r"V = .*\(3, 3\)"),
        (lambda: reference.gradient_step(drawn(0, 4, 3), drawn(1, 3), 1.0), r"b = .*\(\.\.\., 4\)"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_tensors_of_wrong_shape_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
