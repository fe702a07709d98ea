"""Samples of sign encodings, compared with the enumeration of all signs, and their interpolation."""

import numpy as np
import pytest

from tests.theorems.sparse_token_selection.test_sign_attention import means
from theorems.sparse_token_selection.trials.sign_encodings import Interpolated, SignSample, Sizes, draw
from verify.errors import UndefinedError


@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize(("T", "q", "D"), [(4, 2, 3), (5, 3, 2), (3, 1, 4), (3, 3, 2)])
def test_the_means_are_those_over_all_signs(T, q, D, query):
    sample = draw(Sizes(T, q, 1, D, 1.0, query), np.random.default_rng(0))
    for C in (-0.5, 0.7, 2.5):
        found, expected = sample.shares(C)[:2], np.array(means(T, q, D, query, C))
        errors = 6 * found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
        assert (abs(found.mean(axis=1) - expected) <= errors + 1e-12).all()


@pytest.mark.parametrize("query", [False, True])
def test_loss_and_gradient_are_those_of_the_residuals(query):
    sizes = Sizes(5, 2, 3, 7, 1.0, query)
    selected, others, own = (np.random.default_rng(1).standard_normal(shape) for shape in ((2, 2), (2, 3), 2))
    sample = SignSample(sizes, selected, others, own)

    def loss(alpha, C):
        total = 0.0
        for i in (0, 1):
            logits = np.concatenate([selected[i], others[i], [own[i]] if query else []])
            p = np.exp(C * logits) / np.exp(C * logits).sum()
            total += 3 / 2 * np.square(alpha * p[:5] - np.array([0.5, 0.5, 0, 0, 0])).sum() / 2
        return total

    alpha, C, h = 1.3, 0.8, 1e-5
    shares = sample.shares(C)
    assert shares.shape == (4, 1)
    assert sizes.loss(alpha, *shares[:2])[0] == pytest.approx(loss(alpha, C), rel=1e-12)
    x, y = sizes.gradient(alpha, *shares)
    assert x[0] * np.sqrt(3) == pytest.approx((loss(alpha + h, C) - loss(alpha - h, C)) / (2 * h), abs=1e-9)
    assert y[0] * np.sqrt(7) == pytest.approx((loss(alpha, C + h) - loss(alpha, C - h)) / (2 * h), abs=1e-9)


@pytest.mark.parametrize("query", [False, True])
def test_cubics_between_the_nodes_are_near_the_means(query):
    sample = draw(Sizes(30, 3, 2, 20, 0.5, query), np.random.default_rng(2))
    between = Interpolated(sample)
    for C in (-0.31, 0.0, 0.123, 1.77, 6.02):
        P, R, P_slope, R_slope = between.shares(C)
        assert (P, R) == pytest.approx(tuple(sample.shares(C)[:2].mean(axis=1)), abs=1e-5)
        h = 1e-6
        assert P_slope == pytest.approx((between.shares(C + h)[0] - between.shares(C - h)[0]) / (2 * h), abs=1e-6)
        assert R_slope == pytest.approx((between.shares(C + h)[1] - between.shares(C - h)[1]) / (2 * h), abs=1e-6)


@pytest.mark.parametrize(("T", "q", "D"), [(10**4, 3, 10), (10, 3, 10**6)])
def test_large_sizes_have_no_sample(T, q, D):
    with pytest.raises(UndefinedError, match="too many signs for a sample"):
        draw(Sizes(T, q, 1, D, 1.0, False), np.random.default_rng(0))
