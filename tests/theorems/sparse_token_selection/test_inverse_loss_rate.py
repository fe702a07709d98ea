"""The rate, compared with the recursion in many digits at a point far along a run."""

import math

import mpmath
import pytest
import sympy as sp

import verify
from theorems.sparse_token_selection.inverse_loss_rate import inverse_loss_rate
from theorems.sparse_token_selection.reduced_dynamics import C, alpha, loss, step_alpha, step_C
from theorems.sparse_token_selection.task import T, d, eta, q


@pytest.mark.parametrize(("length", "subset", "size", "rate"), [(9, 2, 3, "1/2"), (20, 3, 5, "1"), (50, 12, 2, "1/3")])
def test_increments_far_along_a_run(length, subset, size, rate):
    values = {T: length, q: subset, d: size, eta: sp.Rational(rate)}
    step = sp.lambdify((alpha, C), [e.subs(values) for e in (loss, step_alpha, step_C)], "mpmath")
    theory = verify.check(inverse_loss_rate, T=length, q=subset, d=size, eta=rate).values
    slope, kappa = (
        mpmath.mpf(x.numerator) / x.denominator for x in (theory["inverse_loss_slope"], theory["correction"])
    )
    with mpmath.workdps(50):
        # A run has the odds r = 1e-4 after about 1e8 steps. The start here has a wrong lag, whose error decays like
        # (1 − η/q)^t to e^{−60}.
        odds = mpmath.mpf(10) ** -4
        at = (mpmath.mpf(1), mpmath.log((length - subset) / (subset * odds)))
        for _ in range(int(60 * subset / sp.Rational(rate))):
            now, *at = step(*at)
        following = step(*at)[0]
        odds = (length - subset) / subset * mpmath.exp(-at[1])
        excess = (1 / following - 1 / now) / slope - 1  # pyright: ignore[reportPossiblyUnboundVariable]
        # The next term is of order r³ = 1e-12, whereas κr² is 1e-9 to 1e-8.
        assert abs(excess + kappa * odds**2) < 100 * odds**3
        assert abs(excess) > odds**2 / 20


@pytest.mark.parametrize(("sizes", "rate"), [((9, 2, 3), 1.0), ((9, 2, 3), 3.0), ((20, 3, 5), 1.0), ((7, 5, 2), 2.0)])
def test_along_runs_from_zero_the_gap_is_of_the_third_order_and_the_lag_settles(sizes, rate):
    length, subset, size = sizes
    step = sp.lambdify((alpha, C), [e.subs({T: length, q: subset, d: size, eta: rate}) for e in (step_alpha, step_C)])
    at, seen = (0.0, 0.0), []
    for count in range(20_001):
        if count % 5000 == 0 and count:
            odds = (length - subset) / subset * math.exp(-at[1])
            weight = math.exp(-at[1])
            best = (1 + odds) / (1 + odds * weight)
            # b = |e|/w³ stays bounded, where e is the lag. The number h is defined by α = 1 + r − h r².
            seen.append((abs(at[0] - best) / weight**3, abs((1 + odds - at[0]) / odds**2 - subset / (length - subset))))
        at = tuple(map(float, step(*at)))
    gaps, lags = zip(*seen, strict=True)
    assert max(gaps) < 1.2 * min(gaps) and max(gaps) < 100
    assert sorted(lags, reverse=True) == list(lags) and lags[-1] < 0.05 * subset / (length - subset)


def test_the_loss_is_the_sum_of_its_two_terms():
    spread = {c.label: c for c in inverse_loss_rate.statement.steps}["loss"]
    values = {"T": 9, "q": 2, "d": 3, "w": 0.3, "e": -0.4}
    right = float(spread.right.subs({s: values[s.name] for s in spread.right.free_symbols}))
    # The loss is d/2 Σ_i (α p_i − 1_y/q)² with the shares p_i.
    share = 1 / (2 + 7 * 0.3)
    mass = 2 * share + 7 * share * 0.3**2
    value = (2 * share + 7 * share * 0.3) / mass - 0.4
    assert math.isclose(right, 1.5 * (2 * (value * share - 0.5) ** 2 + 7 * (value * share * 0.3) ** 2), rel_tol=1e-12)
