"""The separation's two widths, each against the theorem that it is from."""

import math
from fractions import Fraction

import pytest

import verify
from verify import InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.separation")


@pytest.mark.parametrize(("T", "q", "d", "share"), [(60, 3, 40, Fraction(1, 8)), (400, 2, 30, Fraction(1, 20))])
def test_the_widths_are_those_of_the_two_theorems(T, q, d, share):
    result = verify.check(THEOREM, T=T, q=q, d=d, share=share)
    assert result.outcome is Outcome.VERIFIED
    eps = share * d / (2 * q)
    nets = verify.check(load_theorem("wang2024.fcn_width"), T=T, q=q, d=d, m=0, eps=eps).values["width_lower_bound"]
    # The formula of m >= d; at a loss below that of m = d it is the larger.
    assert math.ceil(result.values["fully_connected_width"]) == nets
    required = verify.check(load_theorem("wang2024.theorem2"), T=T, q=q, d=d, d_e=1, eps=eps).values["d_e_required"]
    width = result.values["attention_width"]
    ends = [(end - d) for end in ((width, width) if isinstance(width, Fraction | int) else (width.lower, width.upper))]
    found = (required, required) if isinstance(required, Fraction | int) else (required.lower, required.upper)
    assert tuple(ends) == tuple(found)


def test_where_attention_is_not_known_to_be_narrower_is_out_of_scope():
    result = verify.check(THEOREM, T=60, q=3, d=1, share="1/8")
    assert [h.label for h in result.hypotheses if not h.holds] == ["long_enough"]


@pytest.mark.parametrize("wrong", [{"q": 60}, {"share": 0}, {"d": 0}, {"attend": "both"}])
def test_bad_input_is_refused(wrong):
    with pytest.raises(InputError):
        verify.check(THEOREM, **{"T": 60, "q": 3, "d": 20, "share": "1/8"} | wrong)


def test_attention_is_narrower_from_280_tokens_on():
    # The finding checks T = 280 itself. (4 · 2/(3/8) + 6) log²(T √8) + 6 against 5T (1 − (T−1)/(8(T−3))).
    for T, narrower in ((279, False), (280, True)):
        least = (64 / 3 + 6) * math.log(T * 8**0.5) ** 2 + 6
        assert (least <= 5 * T * (1 - (T - 1) / (8 * (T - 3)))) is narrower
    # From one length on for all: T_0 is in scope, and T is far beyond.
    result = verify.check(THEOREM, T=5000, T_0=280, q=3, d=5, share="1/8")
    assert result.outcome is Outcome.VERIFIED and str(result.for_all.standing) == "argued"


@pytest.mark.audit
def test_below_280_tokens_the_widths_are_certified_at_each_length(full):
    """At q = 3, d = 5 and an eighth of the zero predictor's loss attention is narrower from 12 tokens on."""
    for T in (*range(4, 41), *range(41, 280, 1 if full else 14)):
        result = verify.check(THEOREM, T=T, q=3, d=5, share="1/8")
        (narrower,) = (clause for clause in result.clauses if clause.label == "narrower")
        assert narrower.evidence == "certified" and narrower.rechecked and narrower.holds is (T >= 12), T
        assert "long_enough" in [h.label for h in result.hypotheses if not h.holds]


def test_a_shorter_sequence_than_the_first_is_out_of_scope():
    result = verify.check(THEOREM, T=12, T_0=13, q=2, d=20, share="1/2")
    assert [h.label for h in result.hypotheses if not h.holds] == ["later"]
