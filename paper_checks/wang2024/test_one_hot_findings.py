"""The numbers of the findings about Theorem 1, derived again from the softmax itself, without Lemma 1's formulas."""

import math
from fractions import Fraction
from itertools import count, islice, pairwise, product, repeat

import numpy as np
import pytest
from mpmath import mp, mpf

from paper_checks.wang2024 import one_hot_findings
from paper_checks.wang2024.by_softmax import descent_losses


@pytest.fixture
def digits():
    before = mp.dps
    # At η = 5 > 2q a step multiplies an error by up to |1 − η/q| = 3/2, and 1600 steps by at most 10^282. The growth is
    # smaller in practice, because the first 500 steps contract. More than a hundred of the 400 digits are left.
    mp.dps = 400
    yield
    mp.dps = before


@pytest.mark.usefixtures("digits")
def test_the_loss_leaves_the_level_again():
    expected = one_hot_findings.stays_needs_a_step_size.expect
    run = list(islice(descent_losses(9, 2, 1, repeat(5), mp.exp, mpf), 1602))
    level = mpf(1) / 200
    reached = next(step for step, loss in enumerate(run) if loss <= level)
    assert reached == expected["values.steps_to_epsilon"] == expected["clauses.stays.witness.reached_at"]
    above = next(step for step in range(reached, len(run)) if run[step] > level)
    assert above == expected["clauses.stays.witness.above_at"]
    wanted = expected["clauses.stays.witness.observable"]
    lower, upper = (mpf(end.numerator) / end.denominator for end in (wanted.lower, wanted.upper))
    assert lower < run[above] < upper
    rounded = list(islice(descent_losses(9, 2, 1, repeat(5)), above))
    assert next(step for step in range(reached, above) if rounded[step] > 1 / 200) < above


@pytest.mark.usefixtures("digits")
def test_the_loss_leaves_the_level_on_the_way_below_the_stable_step_size():
    expected = one_hot_findings.stays_needs_more_than_stability.expect
    run = list(islice(descent_losses(1000, 2, 5000, repeat(mpf(37) / 10), mp.exp, mpf), 2000))
    reached = next(step for step, loss in enumerate(run) if loss <= 2)
    assert reached == expected["values.steps_to_epsilon"] == expected["clauses.stays.witness.reached_at"]
    above = [step for step in range(reached, len(run)) if run[step] > 2]
    assert above == list(range(expected["clauses.stays.witness.above_at"], 201))
    wanted = expected["clauses.stays.witness.observable"]
    lower, upper = (mpf(end.numerator) / end.denominator for end in (wanted.lower, wanted.upper))
    assert lower < run[above[0]] < upper
    # As the text says: 23 at step 185, more than eleven times the level.
    assert max(run[above[0] :]) == run[185] and 23 < run[185] < mpf("23.1") and run[0] == 1250
    largest = Fraction(2 * 2 * 999, 999 + 6 * 5000)
    assert largest == Fraction(1332, 10333)
    assert f"is {largest}, about {float(largest):.2f}" in one_hot_findings.stays_needs_more_than_stability.text
    # With this step size the loss falls at every step.
    run = list(islice(descent_losses(1000, 2, 5000, repeat(float(largest))), 5000))
    assert all(after < before for before, after in pairwise(run)) and run[-1] < 2


def test_the_level_is_reached_and_kept_where_the_sizes_are_not_the_papers():
    run = list(islice(descent_losses(3, 2, 2, repeat(1 / 80)), 5000))
    assert all(later < loss for loss, later in pairwise(run)) and run[-1] < 1 / 10
    # 2q(T − 1)/(T − 1 + 6d).
    assert one_hot_findings.needless_sizes.expect["values.largest_step_size"] == Fraction(8, 14)
    # ε = 1/10 is above d*T/(100*(T - q)*q).
    assert Fraction(2 * 3, 100 * 1 * 2) == Fraction(3, 100) < Fraction(1, 10)


def test_the_bound_on_the_steps_at_the_figures_step_size():
    ratio, excess, growth = 2500 / 3, 1000 / 597, 10 / 597 * 13 / 18
    bound = (ratio + 3.5 * (1 + excess) * math.log(1 + ratio) + (30 + 25 * excess) * 200 / 3) / growth
    wanted = one_hot_findings.every_level_at_the_figures_step.expect["values.steps_at_most"]
    assert wanted.lower < bound < wanted.upper


def test_the_bound_on_the_steps_from_below_at_the_figures_step_size():
    ratio, excess, growth = 2500 / 3, 1000 / 597, 10 / 597
    bound = (ratio - (2 * excess + 1.5 * growth) * math.sqrt(ratio) - 200 / 197) / growth
    wanted = one_hot_findings.steps_from_both_sides.expect
    assert wanted["values.steps_at_least"].lower < bound < wanted["values.steps_at_least"].upper
    # The bound is below the first-order number and below the recursion's number of steps.
    run = enumerate(descent_losses(200, 3, 5, repeat(1)))
    steps = next(step for step, loss in run if loss <= 1 / 1000)
    assert steps == 55766 and bound < 199 / 4 * 1000 < steps
    assert wanted["values.ratio_for_small_eps"] == 1 / (1 - Fraction(25, 90))


@pytest.mark.usefixtures("digits")
def test_the_loss_runs_into_a_cycle_of_two_steps():
    run = list(islice(descent_losses(9, 2, 3, repeat(6), mp.exp, mpf), 8001))
    assert min(run) > mpf(1) / 500
    one, other = run[-2:]
    # Near the cycle two steps reduce the distance from it by about 1/150; the run ends at the cycle to ten digits.
    assert abs(run[-3] - other) < 1e-10 and abs(one - other) > 1e-4
    wanted = one_hot_findings.may_never_reach.expect["clauses.reached.witness.lowest"]
    # The certified bound on a set around the cycle is below the losses on the cycle, and above the text's number.
    lower, upper = (mpf(end.numerator) / end.denominator for end in (wanted.lower, wanted.upper))
    assert lower == mpf(8) / 100 and lower < min(one, other) < upper < mpf("1.001") * min(one, other)


@pytest.mark.parametrize(("exp", "number"), [(math.exp, float), (np.exp, np.longdouble)])
def test_the_figures_step_size_reaches_the_level(exp, number):
    # A long double has a mantissa of 64 bits; on machines without one it is a float.
    run = descent_losses(200, 3, 5, repeat(1), exp, number)
    step, loss = next((step, loss) for step, loss in zip(count(), run, strict=False) if loss <= 1 / 1000)
    assert step == one_hot_findings.figures_step_size_out_of_scope.expect["values.steps_to_epsilon"]
    # 5·10⁴ contracting steps of some 30 roundings err by less than 10⁻⁹ of the loss; a step lowers it by 2·10⁻⁵ of it.
    assert 1e-6 < 1 - loss * 1000 < 2e-5


def test_the_rate_is_that_of_the_differential_equation():
    # dL/dt = −4ηL²/(T−1) at small L. The slope is read off the float run between L = 6·10⁻⁵ and 5·10⁻⁵.
    T, eta = 9, 1
    run = list(islice(descent_losses(T, 2, 1, repeat(eta)), 40_001))
    slope = (1 / run[40_000] - 1 / run[36_000]) / 4000
    # 1 − slope/limit = κ r², with κ < 1 and r² = 2 (T − q) L/d.
    assert 0 < 1 - slope * (T - 1) / (4 * eta) < 2 * 7 * run[36_000]
    assert one_hot_findings.exact_rate.expect["values.inverse_loss_slope"] * 199 == 4


def test_where_a_step_of_one_is_small_enough():
    """Check 2d ≤ q(4q − 5) case by case, and that the upper bound is 5/3 of the first order at the largest step."""
    for q, d in product(range(1, 12), range(1, 300)):
        largest = Fraction(4 * q**2, 5 * q + 2 * d)
        assert (largest >= 1) is (2 * d <= q * (4 * q - 5))
        assert 1 - largest * (5 * q + 2 * d) / (10 * q**2) == Fraction(3, 5)


def test_the_printed_limits_are_as_far_off_as_is_said():
    """Check the slacks of η ≤ 1/(20 d²), and the ratios of the step sizes to this limit."""
    for finding, d, eta, times in (
        (one_hot_findings.stays_needs_a_step_size, 1, 5, 100),
        (one_hot_findings.may_never_reach, 3, 6, 1080),
        (one_hot_findings.figures_step_size_out_of_scope, 5, 1, 500),
    ):
        limit = Fraction(1, 20 * d * d)
        assert finding.expect["hypotheses.step_size.slack"] == limit - eta and eta / limit == times


def test_the_largest_step_size():
    T, q, d, eps = 200, 3, 5, Fraction(1, 1000)
    largest = one_hot_findings.every_level_at_the_figures_step.expect["values.largest_step_size"]
    assert largest == Fraction(4 * q * q, 5 * q + 2 * d) == Fraction("1.44")
    # At this step size the loss of the softmax's own run falls at every step, and ends below ε.
    run = list(islice(descent_losses(T, q, d, repeat(1.44)), 40_001))
    assert all(after < before for before, after in pairwise(run)) and run[-1] < eps
    # The same holds at the larger limit, which comes without a bound on the number of steps.
    larger = one_hot_findings.larger_steps.expect["values.largest_step_size"]
    assert larger == Fraction(2 * q * (T - 1), T - 1 + 6 * d) and round(float(larger), 2) == 5.21
    run = list(islice(descent_losses(T, q, d, repeat(float(larger))), 40_001))
    assert all(after < before for before, after in pairwise(run)) and run[-1] < eps
    # Beyond 2q the loss need not fall: it rises on the cycle at T = 9, q = 2, d = 3 and η = 6.
    rising = list(islice(descent_losses(9, 2, 3, repeat(6)), 400))
    assert any(after > before for before, after in pairwise(rising))
