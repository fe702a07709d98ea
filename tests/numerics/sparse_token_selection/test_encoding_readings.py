"""Frames, and the least loss on the invariant set under each reading of Definition 3."""

import math

import pytest
import torch

from numerics.sparse_token_selection import encoding_readings
from numerics.sparse_token_selection.encoding_readings import (
    READINGS,
    Layers,
    attention,
    gaussian_encodings,
    harmonic_frame,
    least_loss,
    random_subsets,
    simplex_frame,
)
from numerics.sparse_token_selection.experiments import ground_truth
from numerics.sparse_token_selection.stochastic import loss_averaged_over_tokens
from verify import InputError, Measurement, load_experiment

EXPERIMENT = load_experiment("wang2024.encoding_readings")
SIZES = {"T": 12, "q": 3, "d": 2, "d_e": 10, "samples": 400}


@pytest.mark.parametrize("frame", [harmonic_frame, simplex_frame])
@pytest.mark.parametrize(("T", "d_e"), [(12, 10), (12, 11), (13, 9), (200, 170)])
def test_frames_are_of_unit_vectors(frame, T, d_e):
    vectors = frame(T, d_e)
    assert vectors.shape == (d_e, T)
    assert torch.allclose(vectors.square().sum(dim=0), torch.ones(T, dtype=torch.float64))


@pytest.mark.parametrize(("T", "d_e"), [(12, 10), (13, 9), (200, 170)])
def test_the_harmonic_frame_reaches_the_least_mean_square(T, d_e):
    products = harmonic_frame(T, d_e).T @ harmonic_frame(T, d_e)
    # Welch's bound: the sum of all squared inner products is at least T²/d_e.
    assert float(products.square().sum()) == pytest.approx(T**2 / d_e, rel=1e-12)


def test_simplices_have_two_inner_products():
    vectors = simplex_frame(13, 10)
    products = vectors.T @ vectors
    # There are three simplices, with 5, 4 and 4 vertices.
    expected = torch.block_diag(*(torch.full((g, g), -1 / (g - 1), dtype=torch.float64) for g in (5, 4, 4)))
    assert torch.allclose(products, expected.fill_diagonal_(1))


@pytest.mark.parametrize(
    ("frame", "T", "d_e"),
    [(harmonic_frame, 10, 10), (harmonic_frame, 10, 0), (simplex_frame, 9, 9), (simplex_frame, 10, 4)],
)
def test_frames_that_do_not_exist_are_refused(frame, T, d_e):
    with pytest.raises(InputError, match=f"d_e = {d_e}: must be from"):
        frame(T, d_e)


def test_gaussian_encodings():
    drawn = gaussian_encodings(400, 5, 50, torch.Generator().manual_seed(0))
    # The mean of 10⁵ squared standard Gaussians has the standard error √2/√10⁵.
    assert abs(float(drawn.square().sum(dim=1).mean()) - 1) < 6 * math.sqrt(2 / 1e5)
    with pytest.raises(InputError, match="n = 0"):
        gaussian_encodings(0, 5, 50, torch.Generator())


@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
def test_the_loss_is_that_of_the_layer(attend):
    T, q, d, d_e, C, alpha = 12, 3, 2, 10, 1.5, 1.2
    subsets = random_subsets(50, T, q, torch.Generator().manual_seed(0))
    assert subsets.sum(dim=1).eq(q).all()
    vectors = harmonic_frame(T, d_e)
    layers = Layers(subsets @ (vectors.T @ vectors), subsets, Measurement(0.0, 0.0, 1))
    P, R = (part.mean() for part in attention(layers, C, attend))
    truth = ground_truth(d_e, d)
    reference = loss_averaged_over_tokens(C * truth.W, alpha * truth.V, vectors, subsets, attend=attend)
    assert float(d / 2 * (alpha**2 * R - 2 * alpha * P / q + 1 / q)) == pytest.approx(
        float(reference.mean()), rel=1e-12
    )


def test_the_best_scale_is_that_of_all_that_are_tried(monkeypatch):
    layers = READINGS["signs"](400, 12, 3, 10, torch.Generator().manual_seed(0))
    best, C = least_loss(layers, 3, 2, "tokens")
    assert C in encoding_readings._SCALES.tolist() and best.samples == 200
    for other in (C / 2, 2 * C):
        monkeypatch.setattr(encoding_readings, "_SCALES", torch.tensor([other], dtype=torch.float64))
        assert least_loss(layers, 3, 2, "tokens")[0].value > best.value


@pytest.mark.audit
def test_the_standard_error_is_that_of_repeated_draws():
    runs = [READINGS["sphere"](400, 12, 3, 10, torch.Generator().manual_seed(seed)) for seed in range(30)]
    found = [least_loss(layers, 3, 2, "tokens")[0] for layers in runs]
    spread = torch.tensor([each.value for each in found]).std()
    claimed = torch.tensor([each.standard_error for each in found]).mean()
    # The sample deviation of 30 draws is right within a factor of 2, except with probability below 10⁻⁶. Choosing C
    # adds little.
    assert claimed / 2 < spread < 2 * claimed


def test_readings_differ_as_their_inner_products_do():
    found = EXPERIMENT.run(seed=0, device="cpu", **SIZES, attend="tokens").measurements
    assert set(found) == {f"{part}_{name}" for part in ("loss", "C", "coherence") for name in READINGS}
    assert found["loss_harmonic"].value < found["loss_signs"].value < found["loss_gaussian"].value
    assert found["coherence_harmonic"].value < found["coherence_signs"].value
    assert found["coherence_fixed"] == found["coherence_whitened"]


@pytest.mark.parametrize(("name", "value"), [("q", 13), ("d_e", 12), ("d_e", 5), ("samples", 3), ("attend", "values")])
def test_bad_settings_are_refused(name, value):
    with pytest.raises(InputError, match=name):
        EXPERIMENT.run(**SIZES | {name: value})
