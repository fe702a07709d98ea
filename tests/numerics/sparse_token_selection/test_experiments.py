"""The layer's experiments against hand calculations, and their settings."""

import math

import pytest
import torch

from numerics.sparse_token_selection.experiments import (
    ground_truth,
    one_hot_from_random,
    one_hot_gradient,
    one_hot_training,
)
from verify import InputError, agreement

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]


def test_the_ground_truth():
    truth = ground_truth(2, 1)
    assert truth.W.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert truth.W_centred.tolist() == [[0, 0, 0], [0, 0.5, -0.5], [0, -0.5, 0.5]]
    assert truth.V.tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("device", DEVICES)
def test_the_gradient_at_zero_value(device):
    # V = 0: L = ½ E‖target‖² = d/(2q); dL/dW = 0; with uniform attention f = 0, dL/dV's token block is
    # −E[target · (mean of X)ᵀ] = −I/T. 64 batches, three comparisons.
    found = one_hot_gradient.run(device=device, seed=3, T=6, q=2, d=3, W=0, V=0).measurements
    assert set(found) == {"loss", "gradient_W", "gradient_V"}
    for name, value in (("loss", 3 / 4), ("gradient_V", -1 / 6)):
        assert found[name].samples == 64
        assert agreement(value, found[name], comparisons=2, resolution=abs(value) / 2).holds, name
    assert found["gradient_W"].value == found["gradient_W"].standard_error == 0


def test_the_gradient_moves_attention_to_what_is_selected():
    # W = 0, V = (I, 0): dL/dW = −k (I − 11ᵀ/T), k > 0. By the softmax's derivative at uniform attention,
    # for one token selected of two, d = 1: f = (x_1 + x_2)/2, f − x_1 = (x_2 − x_1)/2, and with a = W_11 − W_21
    # df/da = (x_1 − x_2)/4, so dL/da = −E(x_1 − x_2)²/8 = −1/4. W_11 − W_21 and W_22 − W_12 each act for one of
    # the two subsets, so that dL/dW_11 = −1/8 = −dL/dW_21: the diagonal less the rest is −1/4.
    found = one_hot_gradient.run(device="cpu", seed=4, T=2, q=1, d=1, W=0, V=1, batch_size=500).measurements
    assert agreement(-1 / 4, found["gradient_W"], comparisons=2, resolution=1 / 10).holds
    # L = E(x_2 − x_1)²/8 = 1/4.
    assert agreement(1 / 4, found["loss"], comparisons=2, resolution=1 / 10).holds


def test_a_seed_repeats_and_another_differs():
    first, again, other = (one_hot_gradient.run(device="cpu", T=4, q=1, d=1, seed=s).measurements for s in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("device", DEVICES)
def test_the_first_step_of_training(device):
    # From zero V becomes η/T · (I, 0), and W stays 0: the loss is d/2 (q (1/T² − 1/q)² + (T − q)/T⁴) at η = 1.
    T, q, d = 5, 2, 1
    found = one_hot_training.run(device=device, T=T, q=q, d=d, eta=1, steps=1, window=1, eps=1).measurements
    after = d / 2 * (q * (1 / T**2 - 1 / q) ** 2 + (T - q) / T**4)
    # A few dozen roundings of values below 1.
    assert found["loss"].value == pytest.approx(after, rel=1e-13)
    assert found["inverse_loss_slope"].value == pytest.approx(1 / after - 2 * q / d, rel=1e-12)
    assert found["odds_before"].value == found["odds_after"].value == pytest.approx((T - q) / q, rel=1e-13)
    assert found["cosine_V_least"].value == pytest.approx(1, rel=1e-13)
    assert found["steps_to_epsilon"].value == 0
    assert found["largest_loss_after"].value == pytest.approx(d / (2 * q), rel=1e-13)
    assert "cosine_W_least" not in found
    assert all(measured.standard_error == 0 and measured.samples == 1 for measured in found.values())


def test_training_comes_down_to_the_level_and_measures_what_follows():
    found = one_hot_training.run(device="cpu", T=4, q=1, d=1, steps=60, window=10, eps="1/10").measurements
    reached = int(found["steps_to_epsilon"].value)
    # The loss falls at this step size: it is highest, after it came down, at that very step.
    before, at = (
        one_hot_training.run(device="cpu", T=4, q=1, d=1, steps=n, window=1).measurements["loss"].value
        for n in (reached - 1, reached)
    )
    assert before > 1 / 10 >= at == found["largest_loss_after"].value > found["loss"].value
    assert found["cosine_W_least"].value <= found["cosine_W_largest"].value < 1
    assert found["odds_after"].value < found["odds_before"].value < 3


def test_a_level_that_is_not_reached_is_not_reported():
    found = one_hot_training.run(device="cpu", T=4, q=1, d=1, steps=2, window=1, eps="1e-9").measurements
    assert "steps_to_epsilon" not in found and "largest_loss_after" not in found


def test_the_odds_of_all_tokens_are_none():
    # q = T: α → 1, where the loss is an exact 0 at some time and its inverse is not measured.
    found = one_hot_training.run(device="cpu", T=2, q=2, d=1, steps=200, window=10).measurements
    assert found["odds_after"].value == 0 and found["loss"].value < 1e-25
    assert ("inverse_loss_slope" in found) is (found["loss"].value > 0)


@pytest.mark.parametrize("device", DEVICES)
def test_cosines_from_random_matrices(device):
    settings = {"T": 6, "q": 2, "d": 1, "steps": 200, "middle": 20, "batch_size": 64}
    found = one_hot_from_random.run(device=device, seed=0, **settings).measurements
    assert len(found) == 9 and all(measured.samples == 2 for measured in found.values())
    value = {name: measured.value for name, measured in found.items()}
    assert all(-1 <= cosine <= 1 for cosine in value.values())
    assert value["W_centred_start"] < value["W_centred_end"] and value["V_start"] < value["V_end"]
    # The part of I along I − 11ᵀ/T: the cosine with I cannot exceed it by more than what W has along 11ᵀ.
    assert value["W_centred_end"] > 0.9
    assert value["W_identity_end"] == pytest.approx(math.sqrt(1 - 1 / 6) * value["W_centred_end"], abs=0.1)


@pytest.mark.parametrize(
    ("experiment", "settings", "message"),
    [
        (one_hot_gradient, {"q": 21, "T": 20}, "q = 21: must be an integer from 1 to T = 20"),
        (one_hot_gradient, {"batches": 1}, "batches = 1: must be an integer >= 2"),
        (one_hot_gradient, {"eta": 1}, "eta = 1: is no setting of wang2024.one_hot_gradient"),
        (one_hot_training, {"steps": 5, "window": 6}, "window = 6: must be at most steps = 5"),
        (one_hot_training, {"eta": 0}, "eta = 0: must be a number .* > 0"),
        (one_hot_training, {"T": 200, "q": 3}, "subsets times points"),
        (one_hot_training, {"eta": 10**9, "steps": 60}, "eta = 1000000000: training diverges: no finite loss at step"),
        (one_hot_from_random, {"steps": 5, "middle": 6}, "middle = 6: must be at most steps = 5"),
        (one_hot_from_random, {"runs": 1}, "runs = 1: must be an integer >= 2"),
        (one_hot_from_random, {"batch_size": 3}, "batch_size = 3: must be an integer >= 4"),
    ],
)
def test_settings_that_do_not_fit(experiment, settings, message):
    with pytest.raises(InputError, match=message):
        experiment.run(device="cpu", **settings)
