"""The end of a training: multiples of the ground truth, losses on the same samples, and the effect of float32."""

from dataclasses import replace

import pytest
import torch

from numerics.repeatable import key_for
from numerics.sparse_token_selection import figures
from numerics.sparse_token_selection.batches import Batches, Sizes
from numerics.sparse_token_selection.end_of_training import end_of_training
from numerics.sparse_token_selection.reference import loss
from numerics.sparse_token_selection.trainer import Training
from tests.numerics.devices import DEVICES
from verify import InputError, Measurement, Running, load_experiment

TINY = {"T": 6, "q": 2, "d": 1, "d_e": 8, "steps": 12, "late": 6, "batch_size": 8, "n_test": 20, "readings": 4}


@pytest.fixture(autouse=True)
def _forgotten():
    figures._TRAINED.clear()


def settings(**more):
    return {**load_experiment("wang2024.figure1")._chosen({**TINY, **more}, full=False), "samples": 50}


def end(device="cpu", seed=0, **more):
    return end_of_training(settings(**more), seed=seed, device=device, running=Running())


@pytest.mark.parametrize("device", DEVICES)
def test_the_validation_loss_and_the_coefficients_are_the_figures(device):
    found, figure = end(device), load_experiment("wang2024.figure1").run(device=device, **TINY)
    assert found.validation == figure.measurements["loss_end"]
    for when in ("start", "end"):
        for name in ("alpha", "C"):
            value = getattr(getattr(found, when), name)
            assert value == pytest.approx(figure.measurements[f"{name}_{when}"].value, rel=1e-12)


def test_the_losses_are_the_references_on_fresh_samples():
    found = end(scale="1/2")
    chosen = settings(scale="1/2")
    plan = figures.plan_of(chosen, "stochastic")
    last = figures.trained_readings(plan, 0, "cpu", Running(), "x", 0, 1)[-1]
    batches = Batches(Sizes(8, 6, 2, 1, 8), key_for(0, "fresh samples at the end"), torch.float64)
    W, V = torch.zeros_like(last.W), torch.zeros_like(last.V)
    W[1:, 1:] = found.end.C * torch.eye(8)
    V[:, :1] = found.end.alpha
    losses = []
    for step in range(7):
        encodings, tokens, members = batches.drawn(step)
        subsets = torch.zeros(8, 6, dtype=torch.float64).scatter_(1, members, 1.0)
        losses.append(
            [loss(*pair, encodings, tokens, subsets, attend="tokens_and_query") for pair in ((W, V), (last.W, last.V))]
        )
    projected, whole = (torch.cat(column) for column in zip(*losses, strict=True))
    assert found.on_the_set.samples == 56 and found.on_the_set.value == pytest.approx(float(projected.mean()))
    assert found.off_the_set.value == pytest.approx(float((whole - projected).mean()))
    assert abs(found.off_the_set.value) > 1e-3
    assert found.fresh.value == pytest.approx(float(whole.mean())) and found.fresh.samples == 56


@pytest.mark.audit
def test_in_float32_a_training_begins_and_draws_as_in_float64():
    plan = figures.plan_of(settings(), "stochastic")
    single, double = (Training(replace(plan, dtype=dtype), 0, "cpu") for dtype in ("float32", "float64"))
    assert torch.equal(single.W, double.W.float()) and single.W.dtype == torch.float32
    rounded, exact = end(dtype="float32"), end()
    assert exact.rounding == Measurement(0.0) and 0 < abs(rounded.rounding.value) < 1e-6
    assert rounded.fresh.value - exact.fresh.value == pytest.approx(rounded.rounding.value, rel=1e-3)
    assert rounded.end == exact.end and rounded.off_the_set == exact.off_the_set
    assert 0 < abs(rounded.validation.value - exact.validation.value) < 1e-6


def test_one_hot_encodings_have_the_multiple_of_the_centred_identity():
    given = {"encoding": "one_hot", "attend": "tokens", "scale": 0, "d_e": 6}
    found = end(**given)
    plan = figures.plan_of(settings(**given), "one_hot")
    last = figures.trained_readings(plan, 0, "cpu", Running(), "x", 0, 1)[-1]
    block = last.W[1:, 1:]
    centred = torch.eye(6, dtype=torch.float64) - 1 / 6
    assert found.end.C == pytest.approx(float((block * centred).sum()) / 5)
    assert found.start == (0, 0)


def test_invalid_sizes_are_refused():
    with pytest.raises(InputError, match="q = 7: must be at most T = 6"):
        end(q=7)
    with pytest.raises(InputError, match="d_e = 8: must be T = 6"):
        end(encoding="one_hot")
