"""The findings' numbers, derived a second time from the softmax itself.

Without Lemma 1's formulas, and with sampled sign encodings without the moments that enclose their means.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import count

import numpy as np
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


T, D, D_E = 200, 5, 170
SAMPLES = 10_000
CHUNK = 500


@cache
def scores(q):
    """Return e_i·u of SAMPLES draws of the encodings (SAMPLES, T), u the sum of the first q, and |u|² (SAMPLES,)."""
    random, found = np.random.default_rng(q), []
    for _ in range(SAMPLES // CHUNK):
        bits = np.unpackbits(np.frombuffer(random.bytes(CHUNK * T * D_E // 8), np.uint8))
        signs = 2 * bits.reshape(CHUNK, T, D_E).astype(np.float32) - 1
        u = signs[:, :q].sum(axis=1)
        # Sums of at most 170 integers below 7: exact in float32.
        found.append((np.matmul(signs, u[:, :, None])[:, :, 0], (u**2).sum(axis=1)))
    return tuple(np.concatenate(each).astype(float) / D_E for each in zip(*found, strict=True))


def shares(q, C, query):
    """Return the softmax's weights of the tokens, (SAMPLES, T); with the query's own token beside them, or without."""
    own, norm = scores(q)
    logits = np.concatenate([C * own, C * norm[:, None]], axis=1) if query else C * own
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights[:, :T] / weights.sum(axis=1, keepdims=True)


def layer_losses(q, alpha, C, query):
    """Return d/2 Σ r_i², r_i = αp_i − 1{i ≤ q}/q, of each draw: the mean over X ~ N(0, I) of ½‖Σ r_i x_i‖²."""
    residual = alpha * shares(q, C, query)
    residual[:, :q] -= 1 / q
    return D / 2 * (residual**2).sum(axis=1)


@cache
def best_layer(query):
    """Return the best C of a grid on [−2, 8], and the best α there, of the sampled draws for q = 3."""

    def gain(C):
        p = shares(3, C, query)
        return p[:, :3].sum(axis=1).mean() ** 2 / (3 * (p**2).sum(axis=1).mean())

    C = max(np.arange(-8, 33) / 4, key=gain)
    p = shares(3, C, query)
    return p[:, :3].sum(axis=1).mean() / (3 * (p**2).sum(axis=1).mean()), C


def is_sampled(wanted, losses):
    """Whether the interval, five standard errors to each side, agrees with sampled losses to five of the difference."""
    lower, upper = float(wanted.lower), float(wanted.upper)
    error = math.hypot((upper - lower) / 10, losses.std(ddof=1) / math.sqrt(SAMPLES))
    # The false-alarm rate of a difference of five standard errors is 6·10⁻⁷.
    return abs(losses.mean() - (lower + upper) / 2) <= 5 * error < losses.mean() / 15


@pytest.mark.parametrize(
    ("query", "finding", "least"),
    [
        (True, findings.figure1_cannot_reach_zero, "0.35"),
        (False, findings.figure1_cannot_reach_zero_over_tokens, "0.088"),
    ],
)
def test_the_least_loss_at_the_figures_setting(query, finding, least):
    wanted = finding.expect["values.loss_floor"]
    alpha, C = best_layer(query)
    # The grid's step changes the least loss by less than a hundredth of it.
    assert 2 < C < 6
    losses = layer_losses(3, alpha, C, query)
    assert is_sampled(wanted, losses)
    assert not is_sampled(wanted, 1.1 * losses) and not is_sampled(wanted, 0.9 * losses)
    assert least in finding.title
    assert Fraction(least) < wanted.lower
    assert 1 / wanted.lower < 3 or not query


def test_the_two_least_losses_are_a_quarter_apart():
    over_tokens, with_query = (
        finding.expect["values.loss_floor"]
        for finding in (findings.figure1_cannot_reach_zero_over_tokens, findings.figure1_cannot_reach_zero)
    )
    assert Fraction(24, 100) < over_tokens.lower / with_query.upper < over_tokens.upper / with_query.lower < 0.26


def test_fewer_selected_tokens_at_test():
    expect = findings.fewer_selected_at_test.expect
    # The layer that the command reports, near the sampled best one.
    alpha, C = 612793 / 5000, 53 / 16
    assert abs(best_layer(True)[1] - C) < 1 / 4
    losses = layer_losses(2, alpha, C, query=True)
    wanted = expect["values.loss_at_test_length"]
    assert is_sampled(wanted, losses)
    assert not is_sampled(wanted, layer_losses(2, alpha, C, query=False))
    assert wanted.lower > 50
    nothing = Fraction(D, 4)
    share = expect["values.share_of_answering_nothing"]
    assert abs(share.lower - wanted.lower / nothing) < Fraction(1, 100) > abs(share.upper - wanted.upper / nothing)
    # The share of the attention that the query's token leaves.
    assert shares(3, C, query=True).sum(axis=1).mean() < 0.02
    assert shares(2, C, query=True)[:, :2].sum(axis=1).mean() > 5 * shares(3, C, query=True)[:, :3].sum(axis=1).mean()


@pytest.mark.parametrize("q_test", [4, 5, 6])
def test_more_selected_tokens_at_test_cost_a_little_less_than_nothing(q_test):
    saved = D / (2 * q_test) - layer_losses(q_test, 612793 / 5000, 53 / 16, query=True)
    error = saved.std(ddof=1) / math.sqrt(SAMPLES)
    assert 5 * error < saved.mean() < D / (20 * q_test) - 5 * error


def test_fewer_selected_tokens_are_no_harm_without_the_query():
    assert layer_losses(2, *best_layer(False), query=False).mean() < D / 40
