"""The findings' numbers, derived a second time: the recursion from the softmax itself, without Lemma 1's formulas."""

import math
from itertools import count

import pytest
from mpmath import mp, mpf

from paper_checks.wang2024 import findings


def losses(exp, number, T, q, d, eta):
    """Yield the loss at steps 0, 1, … of gradient descent from zero, in the numbers of `number`.

    A selected token's logit exceeds the others' by C: attention s on each selected token and o on each
    other. With V = (αI, 0) the output is α Σ p_i x_i, and E‖Σ c_i x_i‖² = d Σ c_i² gives

        L = d/2 (q (αs − 1/q)² + (T−q) (αo)²),   ds/dC = s (1 − qs),   do/dC = −qso.

    W = C (I − 11ᵀ/T) in its positional block: dL/dW = g (I − 11ᵀ/T) has g = dL/dC / (T−1), the squared
    norm of I − 11ᵀ/T being T − 1; and dL/dV = (h I, 0) has h = dL/dα / d.
    """
    alpha, C, T, q, d, eta = (number(value) for value in (0, 0, T, q, d, eta))
    while True:
        s = 1 / (q + (T - q) * exp(-C))
        o = exp(-C) * s
        on, off = alpha * s - 1 / q, alpha * o
        yield d / 2 * (q * on**2 + (T - q) * off**2)
        by_alpha = d * (q * on * s + (T - q) * off * o)
        by_C = d * alpha * (q * on * s * (1 - q * s) - (T - q) * off * q * s * o)
        alpha, C = alpha - eta * by_alpha / d, C - eta * by_C / (T - 1)


@pytest.fixture
def digits():
    before = mp.dps
    # Beyond η = 2q an error grows by up to |1 − η/q| = 3/2 a step, by 10^282 in 1600 steps at most: in practice
    # less, as the steps before 500 contract. 400 digits leave more than a hundred.
    mp.dps = 400
    yield
    mp.dps = before


@pytest.mark.usefixtures("digits")
def test_the_loss_leaves_the_level_again():
    expected = findings.stays_needs_a_step_size.expect
    run = [loss for _, loss in zip(range(1602), losses(mp.exp, mpf, 9, 2, 1, 5), strict=False)]
    level = mpf(1) / 200
    reached = next(step for step, loss in enumerate(run) if loss <= level)
    assert reached == expected["values.steps_to_epsilon"] == expected["clauses.stays.witness.reached_at"]
    above = next(step for step in range(reached, len(run)) if run[step] > level)
    assert above == expected["clauses.stays.witness.above_at"]
    wanted = expected["clauses.stays.witness.observable"]
    lower, upper = (mpf(end.numerator) / end.denominator for end in (wanted.lower, wanted.upper))
    assert lower < run[above] < upper


@pytest.mark.usefixtures("digits")
def test_the_loss_runs_into_a_cycle_of_two_steps():
    run = [loss for _, loss in zip(range(8001), losses(mp.exp, mpf, 9, 2, 3, 6), strict=False)]
    assert min(run) > mpf(1) / 500
    one, other = run[-2:]
    # It contracts by about 1/150 in two steps: 3000 steps on, the cycle is met to ten digits.
    assert abs(run[-3] - other) < 1e-10 and abs(one - other) > 1e-4
    wanted = findings.may_never_reach.expect["clauses.reached.witness.lowest"]
    # What is certified on a set around the cycle is below the losses on it, and above what the text says.
    lower, upper = (mpf(end.numerator) / end.denominator for end in (wanted.lower, wanted.upper))
    assert lower == mpf(8) / 100 and lower < min(one, other) < upper < mpf("1.001") * min(one, other)


def test_the_figures_step_size_reaches_the_level():
    run = losses(math.exp, float, 200, 3, 5, 1)
    step, loss = next((step, loss) for step, loss in zip(count(), run, strict=False) if loss <= 1 / 1000)
    assert step == findings.figures_step_size_out_of_scope.expect["values.steps_to_epsilon"]
    # 5·10⁴ contracting steps of some 30 roundings err by less than 10⁻⁹ of the loss; a step lowers it by 4·10⁻⁵ of it.
    assert 1e-6 < 1 - loss * 1000 < 2e-5


def test_the_rate_is_that_of_the_differential_equation():
    # dL/dt = −4ηL²/(T−1) at small L; read off the float run between L = 6·10⁻⁵ and 5·10⁻⁵.
    T, eta = 9, 1
    run = [loss for _, loss in zip(range(40_001), losses(math.exp, float, T, 2, 1, eta), strict=False)]
    slope = (1 / run[40_000] - 1 / run[36_000]) / 4000
    # 1 − slope/limit = κ r², with κ < 1 and r² = 2 (T − q) L/d.
    assert 0 < 1 - slope * (T - 1) / (4 * eta) < 2 * 7 * run[36_000]
    assert findings.exact_rate.expect["values.inverse_loss_slope"] * 199 == 4
