"""The lower bound, compared with sums over all signs and with sampled encodings; its closed forms; refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest

import verify
from tests.theorems.sparse_token_selection.test_sign_attention import means
from verify import InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.dimension_lower_bound")
SIZES = {"T": 40, "q": 3, "d": 5, "d_e": 100}
SCALES = np.linspace(-4, 12, 65)


def shares(T, q, D, r):
    """Return two lower bounds of the mean of `lost` at the scale r: from the selected tokens, and from the others."""
    return min(r * r * (q - 2) / D, 1 / 3) / 16, min(1.0, 4.0**-r * (T - q) / q) / 16


def lost(v, q, r):
    """Return m = 1 − A²/(qB) for logits v (…, T), the first q of them selected, at the scale r."""
    weights = np.exp2(r * v - (r * v).max(axis=-1, keepdims=True))
    return 1 - weights[..., :q].sum(axis=-1) ** 2 / (q * (weights**2).sum(axis=-1))


@pytest.mark.parametrize(("T", "q", "D"), [(5, 3, 3), (7, 3, 2), (5, 4, 3)])
def test_the_two_bounds_of_the_proof_against_all_signs(T, q, D):
    signs = 1 - 2 * (np.arange(2 ** (T * D))[:, None] >> np.arange(T * D) & 1).reshape(-1, T, D)
    v = np.einsum("nik,nk->ni", signs, signs[:, :q].sum(axis=1)) / D
    differences = v[:, 0] - v[:, 1]
    assert math.isclose((differences**2).mean(), 2 * (q - 2) / D, rel_tol=1e-12)
    assert (differences**4).mean() <= 6 * (2 * (q - 2) / D) ** 2
    for r in SCALES[::8]:
        selected, others = shares(T, q, D, r)
        assert lost(v, q, r).mean() >= max(selected, others)


@pytest.mark.parametrize("law", ["signs", "sphere"])
@pytest.mark.parametrize(("T", "q", "D"), [(100, 3, 85), (60, 20, 500)])
def test_the_two_bounds_of_the_proof_against_sampled_encodings(law, T, q, D):
    drawn = np.random.default_rng(0).standard_normal((200, T, D))
    encodings = (
        np.sign(drawn) / math.sqrt(D) if law == "signs" else drawn / np.linalg.norm(drawn, axis=2, keepdims=True)
    )
    v = np.einsum("nik,nk->ni", encodings, encodings[:, :q].sum(axis=1))
    for r in SCALES:
        found = lost(v, q, r)
        assert found.mean() - 6 * found.std() / math.sqrt(len(v)) >= max(shares(T, q, D, r))
    # At this scale the larger of the two bounds is right up to a factor of 30.
    r = math.log2(T / q)
    assert lost(v, q, r).mean() <= 30 * max(shares(T, q, D, r))


@pytest.mark.parametrize("query", [False, True])
def test_loss_of_gain_is_at_least_the_mean_of_m(query):
    T, q, D, C = 5, 3, 3, 2.0
    P, R = means(T, q, D, query, C)
    signs = 1 - 2 * (np.arange(2 ** (T * D))[:, None] >> np.arange(T * D) & 1).reshape(-1, T, D)
    v = np.einsum("nik,nk->ni", signs, signs[:, :q].sum(axis=1)) / D
    assert 1 - P * P / (q * R) >= lost(v, q, C / math.log(2)).mean() - 1e-12


@pytest.mark.parametrize("s", [0, 1, 2, 4, 40])
@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
def test_the_bound_holds_for_every_s(s, attend):
    result = verify.check(THEOREM, **SIZES, s=s, attend=attend)
    assert result.outcome is Outcome.VERIFIED
    bound = float(result.values["loss_bound"])
    # The bound is at most d/(2q) times the smaller of the proof's two bounds, because it replaces min(y, x, 1/3) by the
    # smaller number 1/(1/y + 1/x + 3).
    selected, others = shares(40, 3, 100, float(s))
    assert 0 <= bound <= 5 / 6 * min(selected, others)
    assert bound <= float(result.values["loss_floor"].lower)


def test_the_bound_at_the_papers_sizes():
    result = verify.check(THEOREM, T=200, q=3, d=5, d_e=170, s=4)
    # The bound is 16/(32·(170 + 16·(3 + 256·3/197)))·5/3.
    assert result.values["loss_bound"] == Fraction(5 * 16, 96) / (170 + 16 * (3 + Fraction(768, 197)))


def test_two_selected_tokens_have_the_bound_0():
    result = verify.check(THEOREM, T=20, q=2, d=1, d_e=15)
    assert result.outcome is Outcome.VERIFIED and result.values["loss_bound"] == 0
    assert verify.check(THEOREM, T=20, q=1, d=1, d_e=15).outcome is Outcome.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"q": 40}, "must satisfy q < T"), ({"s": -1}, "s = -1.*>= 0"), ({"d_e": 0}, "d_e = 0.*integer >= 1")],
)
def test_bad_input_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        verify.check(THEOREM, **SIZES | wrong)
