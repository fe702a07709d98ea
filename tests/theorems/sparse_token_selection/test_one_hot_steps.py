"""Bounds of the number of steps to ε: C never decreases, the potential increases on runs, and the bounds hold."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import sympy as sp

import verify
from tests.theorems.sparse_token_selection.test_one_hot_descent import SIZES, SMALL, run
from tests.theorems.sparse_token_selection.test_one_hot_rate import first_steps
from theorems.sparse_token_selection.one_hot_steps import LEAST_STEPS, STATEMENT, STEPS, one_hot_steps
from theorems.sparse_token_selection.task import T, d, eps, eta, q
from verify import InputError, Outcome

OTHERS = [sizes for sizes in (*SIZES, *SMALL, (2, 1, 1000), (50, 46, 100), (4, 2, 1000)) if sizes[0] > sizes[1]]


def largest(sizes):
    """Return the largest admitted step size."""
    _, subset, dimension = sizes
    return 4 * subset**2 / (5 * subset + 2 * dimension)


@pytest.mark.parametrize("sizes", OTHERS)
def test_the_logit_never_falls_and_the_potential_rises_no_faster_than_bounded(sizes):
    length, subset, dimension = sizes
    others = length - subset
    for step_size in (largest(sizes), largest(sizes) / 7):
        kappa = 2 * step_size * dimension / (subset * (length - 1))
        points = list(run(*sizes, step_size, 2000))
        turned = False
        for (a, c, _), (_, c_next, _) in pairwise(points):
            weight = math.exp(-c)
            share, inverse = subset / (subset + others * weight), subset / (others * weight**2)
            lag = a * (share + (1 - share) * weight) - 1
            steepness = (1 - weight) * share / weight
            assert c_next >= c
            assert steepness >= 1 or lag <= 1e-12
            turned |= steepness > 1
            after = subset / others * math.exp(2 * c_next)
            rise = after - inverse - 1.5 * kappa * math.log((1 + after) / (1 + inverse))
            assert rise <= kappa * (1 + lag * (1 - steepness)) + 1e-12 * after
        assert turned or length >= 200


@pytest.mark.parametrize("sizes", OTHERS)
def test_no_level_is_reached_before_the_bound(sizes):
    length, subset, dimension = sizes
    nearest = 0.0
    for step_size in (largest(sizes), largest(sizes) / 50):
        bound = sp.lambdify(eps, LEAST_STEPS.subs({T: length, q: subset, d: dimension, eta: step_size}))
        for step, (_, _, value) in enumerate(run(*sizes, step_size, 4000)):
            assert step >= bound(dimension / (2 * subset) * value)
            nearest = max(nearest, bound(dimension / (2 * subset) * value) / (step + 1))
    # At the ends of these runs 2A√Y is well below Y.
    assert nearest > 0.5 or length > 40 or dimension > 3 * subset


@pytest.mark.parametrize(("sizes", "step_size"), [((9, 2, 3), "1/2"), ((5, 4, 2), "1"), ((20, 3, 5), "1")])
def test_the_bound_comes_to_the_number_of_steps_as_the_level_falls(sizes, step_size):
    levels = [1e-2, 1e-3, 1e-5]
    rate = float(sp.Rational(step_size))
    shares = []
    for level, steps in zip(levels, first_steps(*sizes, rate, levels), strict=True):
        bound = LEAST_STEPS.subs({**dict(zip((T, q, d), sizes, strict=True)), eta: rate, eps: level})
        shares.append(float(bound) / steps)
    assert shares[0] < shares[1] < shares[2] < 1 and shares[2] > 0.95


def test_bounds_on_steps_are_decided_and_a_too_large_one_is_refuted():
    sizes = {"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"}
    result = verify.check(one_hot_steps, sizes)
    low, steps, high = (result.values[f"steps_{end}"] for end in ("at_least", "to_epsilon", "at_most"))
    # Y = 50, A = 9/16 and κ = 1/160, so the bound is (50 − (9/8 + 3/320)·√50 − 9/7)·160.
    assert math.isclose(float(low.midpoint), (50 - (9 / 8 + 3 / 320) * math.sqrt(50) - 9 / 7) * 160, rel_tol=1e-12)
    assert low.upper < steps.lower == steps.upper < high.lower and result.values["ratio_for_small_eps"] == sp.Rational(
        200, 197
    )
    (claim,) = STATEMENT.claims
    wrong = one_hot_steps.variant(STATEMENT.alone(replace(claim, not_before=2 * LEAST_STEPS)))
    refuted = verify.check(wrong, sizes)
    assert refuted.outcome is Outcome.REFUTED and refuted.clauses[0].witness["step"] == steps.lower


@pytest.mark.parametrize("bounds", [{"not_before": 2 * LEAST_STEPS}, {"within": STEPS / 2}], ids=["least", "most"])
def test_a_wrong_bound_on_steps_that_no_run_can_follow_is_refuted(bounds):
    # 1/L grows by about 4η/(T − 1) = 1/40 per step, so the run has about 4·10¹⁰ steps, which a tube encloses.
    (claim,) = STATEMENT.claims
    wrong = one_hot_steps.variant(STATEMENT.alone(replace(claim, **{"within": None, "not_before": None} | bounds)))
    refuted = verify.check(wrong, {"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1e-9"})
    assert (refuted.outcome, refuted.evidence) == (Outcome.REFUTED, "certified")
    steps = refuted.clauses[0].witness["steps"]
    assert 3.9e10 < steps.lower < steps.upper < 4.1e10


def test_with_no_other_token_it_is_out_of_scope_and_bad_input_is_refused():
    all_selected = verify.check(one_hot_steps, T=3, q=3, d=1, eta=1, eps="1/10")
    assert [h.label for h in all_selected.hypotheses if h.holds is False] == ["others"]
    too_large = verify.check(one_hot_steps, T=4, q=3, d=1, eta="37/17", eps="1/10")
    assert [h.label for h in too_large.hypotheses if h.holds is False] == ["small_step"]
    assert all_selected.outcome is too_large.outcome is Outcome.OUT_OF_SCOPE
    for wrong in ({"eta": 0}, {"q": 201}, {"eps": 0}, {"T": 1}):
        with pytest.raises(InputError):
            verify.check(one_hot_steps, **{"T": 200, "q": 3, "d": 5, "eta": 1, "eps": 1} | wrong)
