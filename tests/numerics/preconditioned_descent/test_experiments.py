"""Experiments compared with hand calculations and quadrature; their settings."""

import math

import pytest
import torch
from scipy import stats

from numerics.preconditioned_descent.experiments import (
    clipped,
    distance_to_identity,
    eigenvalues,
    evenly_spaced,
    linear_transformer,
    linear_transformer_training,
    random_rotation,
    relu_transformer,
)
from numerics.preconditioned_descent.reference import exact_gradient, exact_loss, pattern
from tests.numerics.devices import DEVICES
from verify import InputError, agreement

pytestmark = pytest.mark.usefixtures("one_thread")

EPS = torch.finfo(torch.float64).eps


def test_spectra():
    assert eigenvalues("printed", 5, 9).tolist() == [1, 1, 0.25, 0.0625, 1]
    assert eigenvalues("even", 3, 0.5).tolist() == [1, 0.75, 0.5]
    assert eigenvalues("even", 1, 0.5).tolist() == [1]
    assert evenly_spaced(3, 5, 2).tolist() == [3, 5]
    assert evenly_spaced(3, 5, 1).tolist() == [3]


def test_rotations_are_orthogonal_and_have_no_preferred_direction():
    generator = torch.Generator().manual_seed(1)
    drawn = torch.stack([random_rotation(3, generator) for _ in range(4000)])
    assert torch.allclose(drawn @ drawn.mT, torch.eye(3, dtype=torch.float64).expand(4000, 3, 3), atol=50 * EPS)
    # For d = 3 an entry is uniform on [-1, 1] (Archimedes): its mean is 0 and its variance 1/3; its square has the
    # mean 1/3 and the variance 4/45.
    z = stats.norm.isf(1e-6 / 2 / 18)
    assert (drawn.mean(dim=0).abs() < z * math.sqrt(1 / 3 / 4000)).all()
    assert ((drawn.square().mean(dim=0) - 1 / 3).abs() < z * math.sqrt(4 / 45 / 4000)).all()


def test_clipping_and_the_distance_to_the_identity():
    matrices = torch.tensor([[[3.0, 0], [0, 4]], [[0.3, 0], [0, 0.4]], [[0, 0], [0, 0]]], dtype=torch.float64)
    assert torch.allclose(clipped(matrices, 1)[0], matrices[0] / 5, rtol=4 * EPS, atol=0)
    assert torch.equal(clipped(matrices, 1)[1:], matrices[1:])
    # |diag(3, 4) - 3.5 I| = sqrt(1/2) and |diag(3, 4)| = 5.
    assert distance_to_identity(matrices[0]).item() == pytest.approx(math.sqrt(0.5) / 5, rel=10 * EPS)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("prior", ["inverse", "identity"])
@pytest.mark.parametrize(("L", "d", "n", "b"), [(1, 2, 2, 0), (2, 1, 3, "1/5"), (2, 2, 2, 0)])
def test_the_loss_of_linear_attention(L, d, n, b, prior, device):
    settings = {"L": L, "d": d, "n": n, "b": b, "a_first": "1/3", "a_last": "1/6", "least": "1/2", "prior": prior}
    found = linear_transformer.run(device=device, seed=2, prompts=100_000, **settings).measurements
    assert set(found) == {"loss"} and found["loss"].samples == 100_000
    spectrum = torch.tensor([1, 0.5][:d], dtype=torch.float64)
    identity = torch.eye(d, dtype=torch.float64)
    steps = torch.tensor([1 / 3, 1 / 6][:L], dtype=torch.float64)[:, None, None]
    layers = pattern(steps * (1 / spectrum).diag(), (0.2 if b else 0) * identity.expand(L, d, d))
    covariance = (1 / spectrum).diag() if prior == "inverse" else identity
    value = exact_loss(layers, n, spectrum.diag(), covariance).item()
    assert agreement(value, found["loss"], comparisons=6, resolution=value / 4).holds


@pytest.mark.parametrize("device", DEVICES)
def test_the_loss_of_relu_attention_by_hand(device):
    # d = n = 1: TF = w x max(a x x', 0). The event x x' > 0 has probability 1/2 and is independent of the squares, so
    # f = E w^2 (a^2 E x^4 E x'^2 / 2 - 2 a E x^2 E x'^2 / 2 + E x'^2) = 3 a^2/2 - a + 1.
    found = relu_transformer.run(device=device, seed=2, d=1, n=1, a="1/2", prompts=100_000).measurements
    assert agreement(3 / 8 - 1 / 2 + 1, found["loss"], comparisons=2, resolution=1 / 4).holds
    # With a = 0 the prediction is 0: the loss is E <w*, x'>^2 = d.
    found = relu_transformer.run(device=device, seed=2, d=3, n=4, a=0, prompts=100_000).measurements
    assert agreement(3, found["loss"], comparisons=2, resolution=1 / 2).holds


def test_prompts_are_sampled_in_chunks(monkeypatch):
    monkeypatch.setattr("numerics.preconditioned_descent.experiments._CHUNK_ELEMENTS", 1000)
    found = linear_transformer.run(device="cpu", L=1, d=1, n=1, a_first=0, prompts=20_001).measurements["loss"]
    assert found.samples == 20_001
    assert agreement(1, found, comparisons=1, resolution=1 / 5).holds


@pytest.mark.parametrize("experiment", [linear_transformer, relu_transformer])
def test_a_seed_repeats_and_another_differs(experiment):
    first, again, other = (experiment.run(device="cpu", prompts=100, seed=s).measurements for s in (1, 1, 2))
    assert first == again != other


TINY = {"L": 1, "d": 1, "n": 2, "batch": 500, "resample": 5, "prompts": 1000}


def test_the_first_step_of_training():
    # Adam's first step is eta g / (|g| + 1e-8) with g clipped to 1/100: about eta. At 0 the loss decreases in A.
    settings = {**TINY, "steps": 1, "eta": "1/10", "scale": "1e-12", "trained": "A"}
    found = linear_transformer_training.run(device="cpu", **settings).measurements
    assert set(found) == {"loss", "A0_diagonal", "A0_off_diagonal", "A0_distance"}
    assert found["A0_diagonal"].value == pytest.approx(0.1, rel=1e-5)
    assert found["A0_diagonal"].samples == 2 and found["loss"].samples == 2000


@pytest.mark.parametrize(("halving", "moved"), [(1, 0.15), (2, 0.2), (3, 0.2)])
def test_the_step_size_is_halved(halving, moved):
    # Both gradients are clipped to 1/100, so the second step is equal to the first, or half of it.
    settings = {**TINY, "steps": 2, "eta": "1/10", "scale": "1e-12", "trained": "A", "halving": halving}
    found = linear_transformer_training.run(device="cpu", **settings).measurements
    assert found["A0_diagonal"].value == pytest.approx(moved, rel=1e-5)


def test_a_batch_serves_the_steps_that_it_is_asked_to():
    one, same, fresh = (
        linear_transformer_training.run(device="cpu", **{**TINY, "steps": 40, "resample": count}).measurements
        for count in (40, 100, 39)
    )
    assert one == same != fresh


@pytest.mark.parametrize("device", DEVICES)
def test_one_layer_is_trained_to_the_least_loss(device):
    settings = {**TINY, "d": 2, "steps": 300, "halving": 50, "trained": "A", "least": "1/2"}
    found = linear_transformer_training.run(device=device, seed=1, **settings).measurements
    # With one layer the loss is quadratic in A, so the gradients at two multiples of Sigma^-1 give its minimum.
    spectrum = torch.tensor([1, 0.5], dtype=torch.float64)
    inverse = (1 / spectrum).diag()
    slopes = [
        (exact_gradient(pattern(a * inverse[None]), 2, spectrum.diag(), inverse).A[0] * inverse).sum().item()
        for a in (0, 1)
    ]
    best = slopes[0] / (slopes[0] - slopes[1])
    assert found["A0_diagonal"].value == pytest.approx(best, rel=0.1)
    assert found["A0_distance"].value < 0.1
    assert found["A0_off_diagonal"].value < 0.1 * best
    least = exact_loss(pattern(best * inverse[None]), 2, spectrum.diag(), inverse).item()
    assert abs(found["loss"].value - least) < 5 * found["loss"].standard_error + 0.02 * least


def test_training_moves_what_it_is_asked_to():
    settings = {**TINY, "L": 3, "d": 2, "steps": 2, "least": 1}
    found = linear_transformer_training.run(device="cpu", **settings).measurements
    assert {name[:2] for name in found} == {"lo", "A0", "A1", "A2", "B0", "B1"}
    first, again, other = (
        linear_transformer_training.run(device="cpu", seed=s, **settings).measurements for s in (1, 1, 2)
    )
    assert first == again != other


def test_training_from_the_printed_spectrum_runs():
    settings = {"d": 5, "spectrum": "printed", "steps": 2, "batch": 10, "prompts": 100}
    assert "B0_distance" in linear_transformer_training.run(device="cpu", **settings).measurements


@pytest.mark.parametrize(
    ("experiment", "settings", "message"),
    [
        (linear_transformer, {"L": 0}, "L = 0: must be an integer >= 1"),
        (linear_transformer, {"n": 0}, "n = 0: must be an integer >= 1"),
        (linear_transformer, {"spectrum": "printed", "d": 4}, "d = 4: must be 5 with the printed spectrum"),
        (linear_transformer, {"spectrum": "flat"}, "spectrum = flat: must be one of printed, even"),
        (linear_transformer, {"least": 0}, "least = 0: must be a number .* > 0"),
        (linear_transformer, {"prior": "flat"}, "prior = flat: must be one of inverse, identity"),
        (linear_transformer, {"a_first": "1e200", "prompts": 10}, "is not finite: .* diverges"),
        (relu_transformer, {"prompts": 1}, "prompts = 1: must be an integer >= 2"),
        (relu_transformer, {"L": 2}, "L = 2: is not a setting of ahn2023.relu_transformer"),
        (linear_transformer_training, {"d": 3, "spectrum": "printed"}, "d = 3: must be 5"),
        (linear_transformer_training, {"runs": 1}, "runs = 1: must be an integer >= 2"),
        (linear_transformer_training, {"eta": "1e80", "batch": 10}, "training diverges: no finite loss at step 1"),
    ],
)
def test_settings_that_do_not_fit(experiment, settings, message):
    with pytest.raises(InputError, match=message):
        experiment.run(device="cpu", **settings)
