"""Conditional variances, compared with the joint covariance, a regression on samples and hand results; refusals."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from numerics.sparse_token_selection.linear_measurements import (
    KINDS,
    all_subsets,
    conditional_variance,
    descend,
    random_measurements,
    regression,
    sampled_subsets,
    target_functionals,
)
from numerics.sparse_token_selection.reference import sample_batch, target
from tests.numerics.devices import DEVICES
from verify import InputError


def generator(seed, device="cpu"):
    return torch.Generator(device).manual_seed(seed)


@st.composite
def drawn(draw):
    T, d = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    m, q = draw(st.integers(0, T * d)), draw(st.integers(1, T))
    A = random_measurements(draw(st.sampled_from(KINDS)), m, T, d, generator(draw(st.integers(0, 2**31))))
    return A, all_subsets(T, q), d


def test_all_subsets_are_there_once():
    found = all_subsets(5, 2)
    assert (
        found.shape == (10, 5) and (found.sum(dim=1) == 2).all() and len({tuple(row.tolist()) for row in found}) == 10
    )


def test_sampled_subsets_are_uniform():
    found = sampled_subsets(60_000, 4, 2, generator(1))
    counts = (found @ (2.0 ** torch.arange(4, dtype=torch.float64))).unique(return_counts=True)[1]
    # The number of draws of each of the six subsets has the mean 10000 and the standard deviation 91.
    assert len(counts) == 6 and (counts - 10_000).abs().max() < 6 * 91


def test_the_functionals_give_the_target():
    tokens, subsets = sample_batch(7, 4, 3, 2, generator(2))
    found = torch.einsum("nkx,nx->nk", target_functionals(subsets, 2), tokens.flatten(1))
    assert torch.allclose(found, target(tokens, subsets), rtol=0, atol=1e-14)


@given(drawn())
def test_the_conditional_variance_is_that_of_the_joint_covariance(case):
    # The expected value uses the Schur complement of Cov(u) in the covariance of (STS, u), u the measurements.
    A, subsets, d = case
    rows = A.numpy()
    inverse = np.linalg.pinv(rows @ rows.T, rcond=1e-11, hermitian=True) if len(rows) else np.zeros((0, 0))
    for found, y in zip(conditional_variance(A, subsets), subsets, strict=True):
        weights = np.kron(np.eye(d), y.numpy() / y.numpy().sum())
        cross = weights @ rows.T
        left = weights @ weights.T - cross @ inverse @ cross.T
        assert math.isclose(float(found), np.trace(left) / 2, rel_tol=0, abs_tol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
def test_the_regression_leaves_what_is_said_and_no_other_prediction_less(device):
    random = generator(3, device)
    A, subsets = random_measurements("gaussian", 3, 4, 2, random), all_subsets(4, 2, device=device)
    matrices, left = regression(A, subsets), conditional_variance(A, subsets)
    tokens = torch.randn(100_000, 2, 4, generator=random, dtype=torch.float64, device=device)
    for y, M, claimed in zip(subsets, matrices, left, strict=True):
        truth = target(tokens, y.expand(len(tokens), -1))
        measured = tokens.flatten(1) @ A.T
        errors = truth - measured @ M.T
        losses = errors.square().sum(dim=1) / 2
        assert abs(losses.mean() - claimed) < 6 * losses.std() / math.sqrt(len(losses))
        # The residual is uncorrelated with the measurements.
        products = errors[:, :, None] * measured[:, None]
        assert (products.mean(dim=0).abs() < 6 * products.std(dim=0) / math.sqrt(len(losses))).all()


def test_by_hand():
    # With T = 2, q = 1 and d = 1, measuring x_1 leaves the loss 0 for y = {1} and 1/2 for y = {2}. Measuring the mean
    # leaves 1/4 for both.
    subsets = all_subsets(2, 1)
    assert conditional_variance(torch.tensor([[3.0, 0.0]], dtype=torch.float64), subsets).tolist() == [0, 1 / 2]
    mean = conditional_variance(torch.tensor([[1.0, 1.0]], dtype=torch.float64), subsets)
    assert torch.allclose(mean, torch.full((2,), 1 / 4, dtype=torch.float64), atol=1e-15)
    nothing = conditional_variance(torch.zeros(0, 2, dtype=torch.float64), subsets)
    assert nothing.tolist() == [1 / 2, 1 / 2]
    assert torch.equal(nothing, conditional_variance(torch.zeros(1, 2, dtype=torch.float64), subsets))


def test_rows_that_depend_on_others_count_for_nothing_and_scale_does_not_matter():
    A, subsets = random_measurements("gaussian", 3, 4, 2, generator(4)), all_subsets(4, 2)
    least = conditional_variance(A, subsets)
    more = torch.cat([A, A.sum(dim=0, keepdim=True), 0 * A])
    scaled = A * torch.tensor([[1e-6], [1.0], [1e6]], dtype=torch.float64)
    for other in (more, scaled):
        assert torch.allclose(conditional_variance(other, subsets), least, rtol=1e-9)


def test_the_mean_over_chunks_is_the_mean(monkeypatch):
    A, subsets = random_measurements("gaussian", 3, 5, 2, generator(5)), all_subsets(5, 2)
    whole = conditional_variance(A, subsets)
    monkeypatch.setattr("numerics.sparse_token_selection.linear_measurements._CHUNK_ELEMENTS", 50)
    assert torch.allclose(conditional_variance(A, subsets), whole, rtol=0, atol=1e-15)


def test_the_kinds_are_what_they_are_called():
    made = {kind: random_measurements(kind, 6, 5, 2, generator(6)) for kind in KINDS}
    assert all(A.shape == (6, 10) and A.dtype == torch.float64 for A in made.values())
    assert torch.allclose(made["orthogonal"] @ made["orthogonal"].T, torch.eye(6, dtype=torch.float64), atol=1e-14)
    assert set(made["quantised"].unique().tolist()) == {-1, 0, 1}
    assert 0.5 < (made["sparse"] == 0).double().mean() < 0.95
    assert torch.equal(made["repeated"][:3], made["repeated"][3:])
    ranks = {kind: int(torch.linalg.matrix_rank(A)) for kind, A in made.items()}
    assert ranks["gaussian"] == 6 and ranks["repeated"] == 3
    assert all(random_measurements(kind, 0, 5, 2, generator(6)).shape == (0, 10) for kind in KINDS)


@pytest.mark.parametrize("device", DEVICES)
def test_descent_goes_down_and_repeats_itself(device):
    subsets = all_subsets(4, 2, device=device)
    start = random_measurements("gaussian", 3, 4, 2, generator(7, device))
    before = conditional_variance(start, subsets).mean()
    found = descend(start, subsets, steps=100)
    assert found.loss < before and torch.equal(found.loss, descend(start, subsets, steps=100).loss)
    assert torch.allclose(found.loss, conditional_variance(found.measurements, subsets).mean(), rtol=1e-10)
    assert torch.equal(start, random_measurements("gaussian", 3, 4, 2, generator(7, device)))
    # With T = 2, q = 1 and d = 1, each single measurement leaves the mean loss 1/4.
    one = descend(torch.tensor([[1.0, 0.2]], dtype=torch.float64), all_subsets(2, 1), steps=10)
    assert math.isclose(one.loss, 1 / 4, rel_tol=1e-12)
    empty = descend(torch.zeros(0, 4, dtype=torch.float64), all_subsets(4, 2), steps=5)
    assert empty.loss == 1 / 4 and empty.measurements.shape == (0, 4)


EYE = torch.eye(4, dtype=torch.float64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: all_subsets(3, 4), "q = 4: must be an integer >= 1 and <= 3"),
        (lambda: all_subsets(3, 0), "q = 0"),
        (lambda: all_subsets(60, 30), "subsets = .*at most 200000"),
        (lambda: sampled_subsets(5, 3, 4, generator(0)), "q = 4"),
        (lambda: target_functionals(EYE, 0), "d = 0"),
        (lambda: target_functionals(EYE[0], 1), "subsets = .*shape"),
        (lambda: conditional_variance(EYE[:, :3], all_subsets(4, 2)), "measurements = .*shape"),
        (lambda: conditional_variance(EYE[0], all_subsets(4, 2)), "measurements = .*shape"),
        (lambda: conditional_variance(EYE / 0, all_subsets(4, 2)), "measurements: must be finite"),
        (lambda: conditional_variance(EYE, EYE[0]), "subsets = .*shape"),
        (lambda: regression(EYE, EYE[:0]), "subsets = .*shape"),
        (lambda: random_measurements("dense", 1, 2, 1, generator(0)), "kind = dense: must be one of gaussian"),
        (lambda: random_measurements("sparse", 3, 2, 1, generator(0)), "m = 3: must be an integer >= 0 and <= 2"),
        (lambda: random_measurements("sparse", 1, 0, 1, generator(0)), "T = 0"),
        (lambda: descend(EYE, all_subsets(4, 2), steps=0), "steps = 0"),
        (lambda: descend(EYE[[0, 0]], all_subsets(4, 2), steps=5), "independent rows"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_invalid_arguments_of_measurements_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
