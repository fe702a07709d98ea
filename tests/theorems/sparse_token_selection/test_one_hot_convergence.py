"""Theorem 1 is compared with independent iterations, and the parts of its invariant box are tested."""

import math
import time
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given, settings, strategies as st

import verify
from tests.verify.clock import Clock
from theorems.sparse_token_selection.one_hot_convergence import DYNAMICS, NEVER_INCREASES, theorem1
from verify import Outcome
from verify.provers.descent_lemma import certify_descent


def textbook_steps(T, q, d, eta, eps, digits=50):
    """Return the first step with L ≤ ε and the loss at this step, computed in many digits from the stated gradient."""
    with mpmath.workdps(digits):
        eta, eps = mpmath.mpf(eta.numerator) / eta.denominator, mpmath.mpf(eps.numerator) / eps.denominator
        alpha, C, step = mpmath.mpf(0), mpmath.mpf(0), 0
        while True:
            total = q * mpmath.exp(C) + T - q
            inside, outside = mpmath.exp(C) / total, 1 / total
            residual_in, residual_out = alpha * inside - mpmath.mpf(1) / q, alpha * outside
            loss = mpmath.mpf(d) / 2 * (q * residual_in**2 + (T - q) * residual_out**2)
            if loss <= eps:
                return step, loss
            mixed = q * residual_in * inside + (T - q) * residual_out * outside
            slope_selected = alpha * d * inside * (residual_in - mixed)
            alpha, C = alpha - eta * mixed, C - eta * slope_selected * q / (T - 1)
            step += 1


@st.composite
def quick_instances(draw):
    length = draw(st.integers(9, 60))
    subset = draw(st.integers(2, (length - 1) // 4))
    size = draw(st.integers(1, 3))
    rate = draw(st.fractions(Fraction(1, 2), 3, max_denominator=7))
    level = Fraction(size * length, 100 * (length - subset) * subset) * draw(
        st.fractions(Fraction(1, 3), 2, max_denominator=5)
    )
    return {"T": length, "q": subset, "d": size, "eta": rate, "eps": level}


def agree(instance):
    result = verify.check(theorem1, **instance, seconds=600)
    step, loss = textbook_steps(**instance)
    found = result.values["steps_to_epsilon"]
    assert (found.lower, found.upper) == (step, step)
    margin = result.clauses[0].margin
    # The enclosure contains the 50-digit value, up to the error of this value.
    exact = instance["eps"] - Fraction(mpmath.nstr(loss, 48))
    assert margin.lower - Fraction(1, 10**40) <= exact <= margin.upper + Fraction(1, 10**40)
    # The precision is raised until the comparison is decided, so the enclosure's width is at most the margin.
    assert 0 <= margin.upper - margin.lower <= margin.upper


# The example's margin is smaller than the width of the states that a certificate keeps as checkpoints. So its
# certificate has none, and the re-check follows the whole run.
@settings(max_examples=8)
@example({"T": 46, "q": 2, "d": 1, "eta": Fraction(1, 2), "eps": Fraction(23, 13200)})
@given(quick_instances())
def test_the_first_step_agrees_with_a_textbook_iteration(instance):
    agree(instance)


@pytest.mark.audit
@settings(max_examples=100)
@given(quick_instances())
def test_the_first_step_agrees_with_a_textbook_iteration_at_length(instance):
    agree(instance)


@settings(max_examples=40)
@given(st.integers(2, 300), st.data())
def test_stays_is_certified_throughout_the_scope(q, data):
    T = data.draw(st.integers(4 * q + 1, 10**6))
    d = data.draw(st.integers(1, 1000))
    eta = Fraction(1, 20 * d * d) / data.draw(st.integers(1, 10))
    values = {"T": T, "q": q, "d": d, "eta": eta, "eps": Fraction(1)}
    assert certify_descent(DYNAMICS, NEVER_INCREASES, values, deadline=time.monotonic() + 600).holds


@pytest.mark.parametrize(("T", "q"), [(9, 2), (50, 3), (1000, 7)])
def test_the_box_contains_every_resting_alpha(T, q):
    """Check the resting α = 1/S = (q + (T − q)w)/(q + (T − q)w²) on a fine grid of w = e^(−C) in [0, 1].

    It is at most (1 + √(T/q))/2, which is at most the box's √(T/q).
    """
    largest = max((q + (T - q) * w) / (q + (T - q) * w * w) for w in (k / 100_000 for k in range(100_001)))
    bound = (1 + math.sqrt(T / q)) / 2
    # The grid's maximum is below the true one by at most the curvature times the squared spacing.
    assert bound * (1 - 1e-4) < largest <= bound * (1 + 1e-12)
    assert bound < math.sqrt(T / q)


@pytest.fixture
def clock(monkeypatch):
    """Install a clock that advances by 10 ms at each reading; runs read the clock every 1024 steps."""
    Clock(tick=0.01).install(monkeypatch)


@pytest.mark.usefixtures("clock")
def test_a_large_step_size_is_not_certified_to_stay():
    result = verify.check(theorem1, T=9, q=2, d=1, eta=30, eps="1/200", seconds=2)
    assert not result.in_scope
    assert result.clauses[1].outcome is not Outcome.VERIFIED
    assert result.clauses[1].detail.startswith("the conditions fail at a point of the box")


@pytest.mark.usefixtures("clock")
def test_time_running_out_is_inconclusive_with_a_lower_bound():
    result = verify.check(theorem1, T=200, q=3, d=5, eta="1/500", eps="1e-9", seconds=2)
    steps = result.values["steps_to_epsilon"]
    assert result.outcome is Outcome.INCONCLUSIVE
    assert steps.upper is None and steps.lower > 1000
