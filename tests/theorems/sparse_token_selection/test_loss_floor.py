"""Theorem 2 at instances: its values against sums over all signs, what is null, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

import verify
from tests.theorems.sparse_token_selection.test_sign_attention import means
from verify import Enclosure, InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.theorem2")
SIZES = {"T": 200, "q": 3, "d": 5, "d_e": 170, "eps": "1/10"}


@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
def test_the_floor_is_the_least_loss_over_a_grid(attend):
    T, q, d, D = 5, 3, 2, 3
    values = verify.check(THEOREM, T=T, q=q, d=d, d_e=D, eps=1, attend=attend).values
    floor = values["loss_floor"]
    pairs = [means(T, q, D, attend == "tokens_and_query", C) for C in np.linspace(0, 12, 241)]
    least = min(d / (2 * q) * (1 - P * P / (q * R)) for P, R in pairs)
    # Sums of 2^15 terms in float64.
    assert float(floor.lower) <= least + 1e-12
    P, R = means(T, q, D, attend == "tokens_and_query", float(values["C"]))
    reached = d / 2 * (float(values["alpha"]) ** 2 * R - 2 * float(values["alpha"]) * P / q + 1 / q)
    # α is given to seven digits, and the loss is quadratic in it.
    assert float(floor.lower) - 1e-9 <= reached <= float(floor.upper) + 1e-9


@pytest.mark.parametrize(
    ("attend", "outcome"), [("tokens", Outcome.VERIFIED), ("tokens_and_query", Outcome.OUT_OF_SCOPE)]
)
def test_the_papers_sizes(attend, outcome):
    result = verify.check(THEOREM, **SIZES, attend=attend)
    assert result.outcome is outcome
    floor = result.values["loss_floor"]
    assert floor.upper - floor.lower <= floor.lower / 100
    assert result.values["attained"] is True
    required = result.values["d_e_required"]
    assert (170 >= required.upper) is (outcome is Outcome.VERIFIED)


def test_two_selected_tokens_reach_no_floor():
    result = verify.check(THEOREM, T=20, q=2, d=1, d_e=15, eps="1/40")
    assert result.outcome is Outcome.VERIFIED
    assert result.values["attained"] is False
    assert result.values["alpha"] is None and result.values["C"] is None
    # d/4 E[k/(2+k)] is about d (T−2)/12 (3/4)^d_e, and no more.
    assert 0 < result.values["loss_floor"].lower <= Fraction(18, 12) * Fraction(3, 4) ** 15
    assert isinstance(result.values["d_e_required"], int | Fraction)


def test_too_few_dimensions_are_out_of_scope_and_the_clause_is_evaluated():
    result = verify.check(THEOREM, **SIZES | {"d_e": 100})
    assert result.outcome is Outcome.OUT_OF_SCOPE
    assert [h.label for h in result.hypotheses if not h.holds] == ["enough_dimensions"]
    assert {c.label: c.holds for c in result.clauses} == {"best_value_scale": True, "floor": False}
    assert isinstance(result.values["loss_floor"], Enclosure)


def test_the_range_of_the_dimension_is_shown():
    shown = verify.conditions(THEOREM, T=200, q=3, d=5, eps="1/10").ranges["d_e"]
    low, rest = shown.split(" ", 1)
    assert rest == "<= d_e, integer"
    # 149 or 150, by the enclosure of the crossing.
    assert int(low) == verify.check(THEOREM, **SIZES).values["d_e_required"].upper


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"q": 201}, "q = 201.*must satisfy q <= T"),
        ({"d_e": 0}, "d_e = 0.*integer >= 1"),
        ({"attend": "values"}, "attend = values.*one of tokens, tokens_and_query"),
        ({"eps": 0}, "eps = 0.*> 0"),
    ],
)
def test_bad_input_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        verify.check(THEOREM, **SIZES | wrong)


def test_a_step_size_is_held_against_the_largest():
    values = verify.check(THEOREM, **SIZES, eta="1/4").values
    # 2/(1 + 9·5·(200 + 2/3)/(8·170)) − 1/4.
    assert values["step_size_margin"] == 2 / (1 + Fraction(45 * 602, 3 * 1360)) - Fraction(1, 4)
    # The figures' step size where none is given; attending to the query's token no bound is known.
    assert verify.check(THEOREM, **SIZES).instance["eta"] == 1
    assert verify.check(THEOREM, **SIZES, attend="tokens_and_query").values["step_size_margin"] is None
    with pytest.raises(InputError, match="eta"):
        verify.check(THEOREM, **SIZES, eta=0)
