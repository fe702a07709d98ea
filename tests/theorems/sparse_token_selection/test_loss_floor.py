"""Theorem 2 at instances: its values compared with sums over all signs, null values, and refusals."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

import verify
from tests.theorems.sparse_token_selection.test_sign_attention import means
from theorems.sparse_token_selection import task
from theorems.sparse_token_selection.loss_floor import D_E_ENOUGH
from verify import Enclosure, InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.theorem2")
SIZES = {"T": 200, "q": 3, "d": 5, "d_e": 170, "eps": "1/10"}


def logarithm(T, q, share, query):
    return math.log(100 * T / (q * share)) if query else math.log(3 * T / (q * math.sqrt(share)))


def formula(T, q, share, query):
    """Return the number of dimensions from the formula in the theorem's docstring."""
    if query:
        least = (q - 1) * (2 * q - 3) / share + q * (3 * q + 1) / 8
    else:
        least = 4 * (q - 1) * (q - 2) / (q * share) + q + 3
    return least * logarithm(T, q, share, query) ** 2


def bound(T, q, D, C, query):
    """Return a bound of qα²R − 2αP + 1 at the α of the theorem's argument, from exact means over one coordinate."""
    mean, pick = dict.fromkeys(("own", "own_squared", "other_squared", "both"), mpmath.mpf(0)), math.comb
    less = (lambda s: s * s) if query else (lambda s: mpmath.mpf(s * s) / q)
    for k in range(q + 1):
        s = q - 2 * k
        for sign, ways in ((1, pick(q - 1, k)), (-1, pick(q - 1, k - 1) if k else 0)):
            share = mpmath.mpf(ways) / 2**q
            mean["own"] += share * mpmath.exp(C / D * (sign * s - less(s)))
            mean["own_squared"] += share * mpmath.exp(2 * C / D * (sign * s - less(s)))
            mean["both"] += share * mpmath.exp(C / D * (sign * s - 2 * less(s))) * mpmath.cosh(C * s / D)
        mean["other_squared"] += (
            mpmath.mpf(pick(q, k)) / 2**q * mpmath.cosh(2 * C * s / D) * mpmath.exp(-2 * C / D * less(s))
        )
    own, own_squared, other_squared, both = (
        mean[name] ** D for name in ("own", "own_squared", "other_squared", "both")
    )
    if not query:
        # Here α = 1 and p_i ≤ e^{C(v_i − |u|²/q)}/q.
        return own_squared - 1 + mpmath.mpf(T * (T - q)) / q**2 * other_squared
    # Here α = 1/(q E w_1), p_i = w_i/X, and 1/X ≥ 2 − X.
    excess = 2 * (q * own_squared + (T - q) * both) / own
    return own_squared / own**2 - 1 + mpmath.mpf(T - q) / q * other_squared / own**2 + excess


@pytest.mark.parametrize(("q", "query"), [(2, False), *itertools.product((3, 4, 9, 40), (False, True))])
def test_the_dimensions_are_enough_by_exact_means_of_one_coordinate(q, query):
    with mpmath.workdps(50):
        for T in (q, 4 * q, 200, 10**6):
            for share in (1, 0.5, 0.125, 1e-3):
                C = logarithm(T, q, share, query) / (2 if query else 1)
                assert bound(T, q, math.ceil(formula(T, q, share, query)), mpmath.mpf(C), query) <= share


@pytest.mark.parametrize("q", [1, 2, 3, 4, 7])
def test_moments_of_the_sum_of_the_selected_signs(q):
    signs = np.array(list(itertools.product((1, -1), repeat=q)))
    s, own = signs.sum(axis=1), signs[:, 0]
    assert ((s**2).mean(), (s**4).mean(), (own * s).mean()) == (q, 3 * q**2 - 2 * q, 1)
    assert (own * s - s**2 / q).var() == pytest.approx((q - 1) * (q - 2) / q)
    assert (own * s - s**2).var() == pytest.approx((q - 1) * (2 * q - 3))
    assert (own * s - s**2 / q).max() <= q / 4 and (own * s - s**2).max() <= 0


def test_sufficient_dimension_is_the_formula():
    said = D_E_ENOUGH.subs({task.T: 200, task.q: 3, task.d: 5, task.eps: sp.Rational(1, 10)}).args[1:]
    assert list(map(float, said)) == pytest.approx([formula(200, 3, 0.12, query) for query in (False, True)])


@pytest.mark.parametrize("attend", ["tokens", pytest.param("tokens_and_query", marks=pytest.mark.audit)])
def test_the_floor_is_the_least_loss_over_a_grid(attend):
    T, q, d, D = 5, 3, 2, 3
    values = verify.check(THEOREM, T=T, q=q, d=d, d_e=D, eps=1, attend=attend).values
    floor = values["loss_floor"]
    pairs = [means(T, q, D, attend == "tokens_and_query", C) for C in np.linspace(0, 12, 49)]
    least = min(d / (2 * q) * (1 - P * P / (q * R)) for P, R in pairs)
    # The sums have 2^15 terms in float64.
    assert float(floor.lower) <= least + 1e-12
    P, R = means(T, q, D, attend == "tokens_and_query", float(values["C"]))
    reached = d / 2 * (float(values["alpha"]) ** 2 * R - 2 * float(values["alpha"]) * P / q + 1 / q)
    # α is given to seven digits, and the loss is quadratic in α.
    assert float(floor.lower) - 1e-9 <= reached <= float(floor.upper) + 1e-9


@pytest.mark.parametrize(
    ("attend", "reached"), [("tokens", True), pytest.param("tokens_and_query", False, marks=pytest.mark.audit)]
)
def test_the_papers_sizes(attend, reached):
    result = verify.check(THEOREM, **SIZES, attend=attend)
    assert result.outcome is Outcome.OUT_OF_SCOPE
    assert {c.label: c.holds for c in result.clauses if c.role == "claim"}["floor"] is reached
    floor = result.values["loss_floor"]
    assert floor.upper - floor.lower <= floor.lower / 100
    assert result.values["attained"] is True
    required = result.values["d_e_required"]
    assert (170 >= required.upper) is reached


def test_two_selected_tokens_reach_no_floor():
    result = verify.check(THEOREM, T=20, q=2, d=1, d_e=15, eps="1/40")
    assert result.outcome is Outcome.OUT_OF_SCOPE and all(c.holds for c in result.clauses)
    assert result.values["attained"] is False
    assert result.values["alpha"] is None and result.values["C"] is None
    # d/4 E[k/(2+k)] is at most d (T−2)/12 (3/4)^d_e, and nearly equal to it.
    assert 0 < result.values["loss_floor"].lower <= Fraction(18, 12) * Fraction(3, 4) ** 15
    assert isinstance(result.values["d_e_required"], int | Fraction)


def test_too_few_dimensions_are_out_of_scope_and_the_clause_is_evaluated():
    result = verify.check(THEOREM, **SIZES | {"d_e": 100})
    assert result.outcome is Outcome.OUT_OF_SCOPE
    assert [h.label for h in result.hypotheses if not h.holds] == ["enough_dimensions"]
    claims = {c.label: c.holds for c in result.clauses if c.role == "claim"}
    assert claims == {"best_value_scale": True, "floor": False}
    assert isinstance(result.values["loss_floor"], Enclosure)


def test_the_range_of_the_dimension_is_shown():
    shown = verify.conditions(THEOREM, T=200, q=3, d=5, eps="1/10").ranges["d_e"]
    low, rest = shown.split(" ", 1)
    assert rest == "<= d_e, integer"
    assert int(low) == math.ceil(formula(200, 3, 0.12, False))


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
    # The margin is 2/(1 + 9·5·(200 + 2/3)/(8·170)) − 1/4.
    assert values["step_size_margin"] == 2 / (1 + Fraction(45 * 602, 3 * 1360)) - Fraction(1, 4)
    # The default step size is that of the figures. With attention to the query's token, no bound is known.
    assert verify.check(THEOREM, **SIZES).instance["eta"] == 1
    assert verify.check(THEOREM, **SIZES, attend="tokens_and_query").values["step_size_margin"] is None
    with pytest.raises(InputError, match="eta"):
        verify.check(THEOREM, **SIZES, eta=0)
