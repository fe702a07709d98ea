"""The supremum of P²/(qR), compared with scans of the sum over all signs and with a simulation of ties."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.theorems.sparse_token_selection.test_sign_attention import means
from theorems.sparse_token_selection.attention_gain import estimated_gain, greatest_gain, reaches, stays_below


def scanned(T: int, q: int, D: int, query: bool) -> float:
    """Return the largest P²/(qR) on a fine grid of C from 0 to 12."""
    pairs = (means(T, q, D, query, C) for C in np.linspace(0, 12, 241))
    return max(P * P / (q * R) for P, R in pairs)


@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize(
    ("T", "q", "D"),
    [
        pytest.param(4, 3, 3, marks=pytest.mark.audit),
        (5, 3, 2),
        pytest.param(4, 2, 3, marks=pytest.mark.audit),
        (6, 4, 2),
        pytest.param(5, 2, 2, marks=pytest.mark.audit),
    ],
)
def test_the_enclosure_contains_a_scan_of_all_signs(T: int, q: int, D: int, query: bool) -> None:
    best = scanned(T, q, D, query)
    gain = greatest_gain(T, q, D, query)
    assert gain.lower <= gain.upper
    # The sums have at most 2^12 terms in float64, with an error of about 10⁻¹⁶ per term.
    rounding = 1e-12
    assert best <= float(gain.upper) + rounding
    # If the supremum is a limit, ties determine it. For q = 2 the v_i differ by multiples of 4/D, so at C = 200 a
    # token below the largest v_i has at most e^{−200·4/3} < 10⁻¹¹⁵ of the largest attention.
    P, R = means(T, q, D, query, 200 if gain.C is None else float(gain.C))
    reached = P * P / (q * R)
    assert float(gain.lower) - rounding <= reached <= float(gain.upper) + rounding


@pytest.mark.parametrize(("T", "q", "D"), [(6, 2, 5), (9, 2, 3), (5, 1, 3)])
def test_one_or_two_selected_tokens_win_up_to_ties(T: int, q: int, D: int) -> None:
    """Simulate the gain E[q/(q+k)], where k is the number of other tokens whose logit equals the selected ones'."""
    n = 200_000
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], size=(n, T, D))
    v = np.einsum("nik,nk->ni", signs, signs[:, :q].sum(axis=1))
    assert (v[:, :q] == v.max(axis=1, keepdims=True)).all()
    shares = q / (v == v.max(axis=1, keepdims=True)).sum(axis=1)
    gain = greatest_gain(T, q, D, False)
    assert gain.attained is False
    assert gain.C is None
    assert gain.upper - gain.lower < Fraction(1, 10**30)
    assert abs(float(gain.lower) - shares.mean()) < 5.5 * shares.std() / math.sqrt(n)


@pytest.mark.parametrize(
    ("query", "alpha", "C", "sampled", "error"),
    [(False, "58443/40000", "77/16", 0.08929, 0.00045), (True, "3064/25", "53/16", 0.3545, 0.0025)],
)
def test_the_papers_sizes(query: bool, alpha: str, C: str, sampled: float, error: float) -> None:
    # The sampled loss and its standard error are printed by
    #   verify simulate wang2024.length_generalisation T=200 q=3 d=5 d_e=170 T_test=4 q_test=1 samples=20000
    #       --seed 1 --device cpu, with attend=tokens (with the query tokens_and_query) and alpha, C from above.
    gain = greatest_gain(200, 3, 170, query)
    assert gain.attained is True
    assert gain.C == Fraction(C)
    low, high = (float(5 * (1 - end) / 6) for end in (gain.upper, gain.lower))
    assert high - low < 0.01 * low
    # At this C, a nonoptimal α adds d/2 R (α − P/(qR))² to the loss.
    added = 5 / 2 * float(gain.squares) * (float(Fraction(alpha)) - float(gain.selected / (3 * gain.squares))) ** 2
    assert added < 1e-6
    # Five standard errors are allowed: the probability of a false alarm is about 10⁻⁶.
    assert low - 5 * error <= sampled <= high + added + 5 * error


def test_all_tokens_selected() -> None:
    gain = greatest_gain(4, 4, 5, False)
    assert gain.lower == gain.upper == 1
    assert gain.C == 0


@pytest.mark.parametrize("sizes", [(20, 4, 200, False), (20, 3, 60, True), (10, 3, 5, False)])
def test_the_estimate_is_near(sizes: tuple[int, int, int, bool]) -> None:
    gain = greatest_gain(*sizes)
    found, C = estimated_gain(*sizes)
    # The differences from 1 agree within 10 per cent.
    assert 1 - found == pytest.approx(float(1 - gain.lower), rel=0.1)
    assert pytest.approx(float(gain.C), rel=0.35) == C


def test_bounds_of_the_supremum_on_one_side() -> None:
    for sizes in ((20, 3, 60, False), (20, 2, 12, False), (5, 5, 4, True)):
        gain = greatest_gain(*sizes)
        assert not reaches(*sizes, gain.upper + Fraction(1, 10**9))
        assert reaches(*sizes, gain.lower - (1 - gain.lower) / 100)
        assert not stays_below(*sizes, gain.lower)
        assert stays_below(*sizes, gain.upper + (1 - gain.upper) / 50 + Fraction(1, 10**9))
