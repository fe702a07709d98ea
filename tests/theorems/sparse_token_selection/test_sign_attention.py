"""The enclosures of P and R, compared with the sum over all signs and with sampling from the definitions."""

import itertools
import math
from functools import cache
from itertools import pairwise

import flint
import numpy as np
import pytest
from flint import arb

from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, SignAttention, outer

SIZES = [(4, 2, 3), (5, 3, 2), (3, 3, 3), (4, 1, 3), (5, 2, 2), (6, 4, 2)]


@cache
def configurations(T: int, q: int, D: int) -> tuple[np.ndarray, np.ndarray]:
    """Return v and |u|² for all signs, with the shapes (configurations, T) and (configurations,)."""
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=T * D))).reshape(-1, T, D) / math.sqrt(D)
    u = signs[:, :q].sum(axis=1)
    return np.einsum("nik,nk->ni", signs, u), (u * u).sum(axis=1)


def means(T: int, q: int, D: int, query: bool, C: float) -> tuple[float, float]:
    """Return P and R, from the definition of the softmax."""
    v, own = configurations(T, q, D)
    weights = np.exp(C * v)
    p = weights / (weights.sum(axis=1) + (np.exp(C * own) if query else 0))[:, None]
    return p[:, :q].sum(axis=1).mean(), (p * p).sum(axis=1).mean()


@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize("C", [0.25, 1.0, 3.0])
@pytest.mark.parametrize(("T", "q", "D"), SIZES)
def test_the_enclosures_contain_the_sum_over_all_signs(T: int, q: int, D: int, C: float, query: bool) -> None:
    P, R = means(T, q, D, query, C)
    # The sum has at most 2^12 terms in float64, with an error of about 10⁻¹⁶ each.
    rounding = 1e-13
    widths = []
    with flint.ctx.workprec(BITS):
        model = SignAttention(T, q, D, query)
        for effort in EFFORTS:
            low, high = map(float, outer(*model.selected(arb(C), effort)))
            assert low - rounding <= P <= high + rounding
            least, most = map(float, outer(*model.squares(arb(C), effort)))
            assert least - rounding <= R <= most + rounding
            widths.append(most - least + high - low)
    # The denominator varies most for few dimensions and large C; with 12 moments the enclosure's width is then a tenth.
    assert widths[-1] < (2e-3 if C <= 1 else 0.1)
    assert widths[-1] <= widths[0] + rounding


@pytest.mark.parametrize("query", [False, True])
def test_a_bound_does_not_depend_on_those_before_it(query: bool) -> None:
    used = SignAttention(20, 3, 7, query)
    for bits in (BITS, 80):
        with flint.ctx.workprec(bits):
            for effort in (EFFORTS[1], EFFORTS[3], EFFORTS[0]):
                for C in (arb(2), arb("2 +/- 1e-20"), arb(2)):
                    fresh = SignAttention(20, 3, 7, query)
                    assert [str(end) for end in used.squares(C, effort)] == [
                        str(end) for end in fresh.squares(C, effort)
                    ]


def test_the_enclosures_are_tight_at_the_papers_sizes_and_contain_samples() -> None:
    T, q, D, C, n = 200, 3, 170, 4.75, 4000
    rng = np.random.default_rng(1)
    sums = []
    for _ in range(n // 500):
        signs = rng.choice([-1.0, 1.0], size=(500, T, D)) / math.sqrt(D)
        v = np.einsum("nik,nk->ni", signs, signs[:, :q].sum(axis=1))
        p = np.exp(C * v)
        p /= p.sum(axis=1, keepdims=True)
        sums.append(np.stack([p[:, :q].sum(axis=1), (p * p).sum(axis=1)]))
    samples = np.concatenate(sums, axis=1)
    with flint.ctx.workprec(BITS):
        model = SignAttention(T, q, D, False)
        found = [outer(*model.selected(arb(C), EFFORTS[2])), outer(*model.squares(arb(C), EFFORTS[2]))]
    for values, (low, high) in zip(samples, found, strict=True):
        # For each of two means, 5.5 standard errors are allowed: the probability of a false alarm is about 10⁻⁷.
        error = 5.5 * values.std(ddof=1) / math.sqrt(n)
        assert low - error <= values.mean() <= high + error
        assert high - low < 2e-4 * high


@pytest.mark.parametrize("C", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("T", "q", "D"), [(4, 3, 3), (5, 3, 2), (5, 2, 2)])
def test_the_variance_is_bounded(T: int, q: int, D: int, C: float) -> None:
    v, _ = configurations(T, q, D)
    p = np.exp(C * v)
    p /= p.sum(axis=1, keepdims=True)
    exact = ((p * v * v).sum(axis=1) - (p * v).sum(axis=1) ** 2).mean()
    # The inequality x² ≤ 2cosh(x) − 2 at x = v_i − m gives e^{−m} up + e^m down − 2, which is least if both terms are
    # equal.
    up, down = ((p * np.exp(turn * v)).sum(axis=1).mean() for turn in (1, -1))
    bound = 2 * math.sqrt(up * down) - 2
    with flint.ctx.workprec(BITS):
        model = SignAttention(T, q, D, False)
        found = [float(model.variance_above(arb(C), effort).upper()) for effort in EFFORTS]
    # The sums have at most 2^12 terms in float64, with an error of about 10⁻¹⁶ each.
    rounding = 1e-12
    assert exact <= bound + rounding
    assert bound <= min(found) + rounding
    # The moments determine up and down only up to a remainder, which is added. More moments leave a smaller remainder;
    # 12 moments leave a fiftieth at C = 2.
    assert all(more <= fewer + rounding for fewer, more in pairwise(found))
    assert found[-1] <= bound * (1.02 if C > 1 else 1 + 1e-5)
