"""The separation's two widths, each compared with the theorem that it comes from."""

import math
from fractions import Fraction

import numpy as np
import pytest

import verify
from verify import InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.separation")


@pytest.mark.parametrize(
    ("T", "q", "d", "share"),
    [(60, 3, 40, Fraction(1, 8)), pytest.param(400, 2, 30, Fraction(1, 20), marks=pytest.mark.audit)],
)
def test_the_widths_are_those_of_the_two_theorems(T, q, d, share):
    result = verify.check(THEOREM, T=T, q=q, d=d, share=share)
    assert result.outcome is Outcome.VERIFIED
    eps = share * d / (2 * q)
    nets = verify.check(load_theorem("wang2024.fcn_width"), T=T, q=q, d=d, m=0, eps=eps).values["width_lower_bound"]
    # The statement's formula is for m >= d. For a loss below that at m = d, this formula gives the larger width.
    assert math.ceil(result.values["fully_connected_width"]) == nets
    required = verify.check(load_theorem("wang2024.theorem2"), T=T, q=q, d=d, d_e=1, eps=eps).values["d_e_required"]
    width = result.values["attention_width"]
    ends = [(end - d) for end in ((width, width) if isinstance(width, Fraction | int) else (width.lower, width.upper))]
    found = (required, required) if isinstance(required, Fraction | int) else (required.lower, required.upper)
    assert tuple(ends) == tuple(found)


@pytest.mark.parametrize(
    ("given", "fails"),
    [
        # T is below T_0, so attention is not known to be narrower.
        ({"T": 60, "q": 3, "d": 1, "share": "1/8"}, "long_enough"),
        ({"T": 12, "T_0": 13, "q": 2, "d": 20, "share": "1/2"}, "later"),
    ],
)
def test_instances_out_of_scope_fail_the_named_hypothesis(given, fails):
    result = verify.check(THEOREM, **given)
    assert [h.label for h in result.hypotheses if not h.holds] == [fails]


@pytest.mark.parametrize("wrong", [{"q": 60}, {"share": 0}, {"d": 0}, {"attend": "both"}])
def test_bad_input_is_refused(wrong):
    with pytest.raises(InputError):
        verify.check(THEOREM, **{"T": 60, "q": 3, "d": 20, "share": "1/8"} | wrong)


def test_attention_is_narrower_from_280_tokens_on():
    # The finding checks T = 280. Here (4 · 2/(3/8) + 6) log²(T √8) + 6 is compared with 5T (1 − (T−1)/(8(T−3))).
    for T, narrower in ((279, False), (280, True)):
        least = (64 / 3 + 6) * math.log(T * 8**0.5) ** 2 + 6
        assert (least <= 5 * T * (1 - (T - 1) / (8 * (T - 3)))) is narrower
    # With the query's token the width is (4 · 2 · 3/(1/8) + 15) (log(100 T · 8/3)/2)² + 6.
    for T, narrower in ((2069, False), (2070, True)):
        least = (192 + 15) * (math.log(800 * T / 3) / 2) ** 2 + 6
        assert (least <= 5 * T * (1 - (T - 1) / (8 * (T - 3)))) is narrower
        found = verify.conditions(THEOREM, T=T, T_0=T, q=3, d=5, share="1/8", attend="tokens_and_query")
        assert {h.label: h.holds for h in found.hypotheses}["long_enough"] is narrower
    # The claim is about all lengths from T_0 on: T_0 is in scope, and T is far larger.
    result = verify.check(THEOREM, T=5000, T_0=280, q=3, d=5, share="1/8")
    assert result.outcome is Outcome.VERIFIED and str(result.for_all_parameters.standing) == "argued"


@pytest.mark.audit
def test_below_280_tokens_the_widths_are_certified_at_each_length(full):
    """Check that attention is narrower from 12 tokens on, at q = 3, d = 5 and 1/8 of the zero predictor's loss."""
    for T in (*range(4, 41), *range(41, 280, 1 if full else 14)):
        result = verify.check(THEOREM, T=T, q=3, d=5, share="1/8")
        (narrower,) = (clause for clause in result.clauses if clause.label == "narrower")
        assert narrower.evidence == "certified" and narrower.rechecked and narrower.holds is (T >= 12), T
        assert "long_enough" in [h.label for h in result.hypotheses if not h.holds]


@pytest.mark.audit
def test_with_the_query_attention_is_wider_at_the_figures_length():
    result = verify.check(THEOREM, T=200, q=3, d=5, share="1/8", attend="tokens_and_query")
    (narrower,) = (clause for clause in result.clauses if clause.label == "narrower")
    assert (narrower.evidence, narrower.holds) == ("certified", False)
    nets = 5 * 200 * (1 - Fraction(199, 8 * 197))
    width = result.values["attention_width"]
    assert result.values["fully_connected_width"] == nets and nets < width.lower
    # With sampled encodings the least loss is above 5/48 in 869 dimensions, where attention is as wide as nets (873.7).
    # It is below 5/48 in 940 dimensions.
    (before, error), (after, other) = _least_loss(200, 869), _least_loss(200, 940)
    assert before - 4 * error > 5 / 48 > after + 4 * other and 869 + 5 < width.lower and width.upper < 940 + 5


@pytest.mark.audit
@pytest.mark.parametrize(
    ("T", "narrower"), [(12, False), (100, False), (211, False), *((T, True) for T in (215, 216, 300, 700, 2069))]
)
def test_with_the_query_the_widths_cross_between_211_and_215_tokens(T, narrower):
    result = verify.check(THEOREM, T=T, q=3, d=5, share="1/8", attend="tokens_and_query")
    (clause,) = (clause for clause in result.clauses if clause.label == "narrower")
    assert (clause.evidence, clause.holds, clause.rechecked) == ("certified", narrower, True)


def _least_loss(T, D, samples=40_000):
    """Return the minimum over C of d/(2q) (1 - P²/(qR)) at q = 3, d = 5 with the query's token; and its standard error.

    In a coordinate the three signs agree with probability 1/4, and then u is ±3/√D; otherwise u is ±1/√D.
    """
    source = np.random.default_rng(0)
    same = source.binomial(D, 1 / 4, samples)
    one = D - same
    differs = np.array([source.multinomial(k, [1 / 3] * 3) for k in one])
    selected, query = (3 * same[:, None] + one[:, None] - 2 * differs) / D, (9 * same + one) / D
    signs = [2 * source.binomial(k[:, None], 1 / 2, (samples, T - 3)) - k[:, None] for k in (one, same)]
    others, gains = (signs[0] + 3 * signs[1]) / D, []
    for C in np.linspace(2, 6, 9):
        own, rest = np.exp(C * selected), np.exp(C * others)
        norm = own.sum(1) + rest.sum(1) + np.exp(C * query)
        P, R = own.sum(1) / norm, ((own**2).sum(1) + (rest**2).sum(1)) / norm**2
        # To first order, the relative error of the gain is the error of the mean of 2P/E P - R/E R.
        off = (2 * P / P.mean() - R / R.mean()).std() / samples**0.5
        gains.append((P.mean() ** 2 / (3 * R.mean()), off))
    gain, off = max(gains)
    return 5 / 6 * (1 - gain), 5 / 6 * gain * off
