"""The rate against the recursion itself, in many digits, at a point far along a run."""

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
        # r = 1e-4 is where a run is after some 1e8 steps; from there the lag settles as (1 − η/q)^t, to e^{−60}.
        odds = mpmath.mpf(10) ** -4
        at = (mpmath.mpf(1), mpmath.log((length - subset) / (subset * odds)))
        for _ in range(int(60 * subset / sp.Rational(rate))):
            now, *at = step(*at)
        following = step(*at)[0]
        odds = (length - subset) / subset * mpmath.exp(-at[1])
        excess = (1 / following - 1 / now) / slope - 1  # pyright: ignore[reportPossiblyUnboundVariable]
        # The next term is of order r³ = 1e-12, against κr² of 1e-9 to 1e-8.
        assert abs(excess + kappa * odds**2) < 100 * odds**3
        assert abs(excess) > odds**2 / 20
