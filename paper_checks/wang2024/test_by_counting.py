"""The counted means, compared with an enumeration of all signs and with the enclosures."""

import math
from itertools import product

import flint
import numpy as np
import pytest

from paper_checks.wang2024 import by_counting, on_the_set
from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, SignAttention, outer


def gone_through(T, q, D, query, C):
    """Return the means over all 2^(TD) encodings, the first q tokens selected, from the softmax."""
    signs = np.array(list(product((-1, 1), repeat=T * D))).reshape(-1, T, D) / math.sqrt(D)
    u = signs[:, :q].sum(axis=1)
    logits = C * np.einsum("ntd,nd->nt", signs, u)
    if query:
        logits = np.concatenate([logits, C * (u**2).sum(axis=1, keepdims=True)], axis=1)
    shares = np.exp(logits)
    shares = (shares / shares.sum(axis=1, keepdims=True))[:, :T]
    return shares[:, :q].sum(axis=1).mean(), (shares**2).sum(axis=1).mean()


@pytest.mark.parametrize("C", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("query", [True, False])
@pytest.mark.parametrize(("T", "q", "D"), [(4, 2, 3), (5, 2, 2), (4, 3, 4), (5, 3, 2)])
def test_the_counts_are_those_of_all_encodings(T, q, D, query, C):
    # For R the trapezoid rule's error relative to an integral is about |Γ(2 + 2πi/h)|, 3·10⁻⁹.
    assert by_counting.means(T, q, D, query, C) == pytest.approx(gone_through(T, q, D, query, C), rel=1e-8)


@pytest.fixture
def no_counts():
    by_counting.cases.cache_clear()
    yield
    by_counting.cases.cache_clear()


@pytest.mark.usefixtures("no_counts")
def test_a_wrong_count_is_seen(monkeypatch):
    right = by_counting.means(4, 3, 4, True, 1.0)
    by_counting.cases.cache_clear()
    monkeypatch.setattr(by_counting, "_differing", lambda rest: (np.array([[0, 0, rest]]), np.ones(1)))
    assert by_counting.means(4, 3, 4, True, 1.0).P != pytest.approx(right.P, rel=1e-3)


def test_all_chances_are_there():
    for q, D in ((2, 32), (3, 32), (3, 170)):
        assert sum(case.chances.sum() for case in by_counting.cases(q, D)) == pytest.approx(1, abs=1e-10)
        assert all(case.of_others.sum() == pytest.approx(1, abs=1e-10) for case in by_counting.cases(q, D))


def test_four_selected_tokens_are_not_counted():
    with pytest.raises(AssertionError):
        by_counting.means(8, 4, 3, True, 1.0)


@pytest.mark.parametrize(("query", "C"), [(True, 2.79), (False, 4.8)])
def test_the_enclosures_at_the_figures_sizes_hold_the_means(query, C):
    found = by_counting.means(200, 3, 170, query, C)
    model = SignAttention(200, 3, 170, query)
    with flint.ctx.workprec(BITS):
        for mean, enclosed in zip(found, (model.selected, model.squares), strict=True):
            low, high = map(float, outer(*enclosed(flint.arb(C), EFFORTS[2])))
            assert low * (1 - 1e-8) <= mean <= high * (1 + 1e-8) and high < low * (1 + 1e-4)


@pytest.mark.audit
def test_the_interpolation_is_as_close_as_it_says():
    for grid, close in ((on_the_set.COARSE, 2e-3), (on_the_set.CLOSE, 1e-4)):
        layer = on_the_set.layer(16, 3, 2, 32, True, grid)
        for C in (0.3, 0.55, 1.2, 1.87):
            P, R, *_ = layer.means(C)
            right = by_counting.means(16, 3, 32, True, C)
            assert max(abs(P / right.P - 1), abs(R / right.R - 1)) < layer.off(C) < close
