"""Stationary points: the gradient does not vanish on a grid, and its limits are confirmed numerically."""

import pytest
import sympy as sp

from theorems.sparse_token_selection.reduced_dynamics import C, alpha, loss
from theorems.sparse_token_selection.task import T, d, q

SIZES = {T: 9, q: 2, d: 3}
gradient = sp.lambdify((alpha, C), [sp.diff(loss.subs(SIZES), x) for x in (alpha, C)], "mpmath")


def test_no_zero_of_the_gradient_on_a_grid():
    smallest = min(sum(abs(x) for x in gradient(a / 10, c / 5)) for a in range(-50, 51) for c in range(-40, 41))
    # The slopes' factors satisfy S e_C − P(1−w) e_α = w ≥ e^{−8}, so they cannot both be small.
    assert smallest > 1e-9


@pytest.mark.parametrize(("far", "rest"), [(40, 1), (-40, 0)])
def test_the_limits_at_infinity(far, rest):
    with sp.evaluate(True):
        slope_alpha, slope_C = gradient(rest, sp.Float(far, 40))
    # The tolerance is e^{−40} < 1e-17 times constants below 100.
    assert abs(slope_alpha) < 1e-14 and abs(slope_C) < 1e-14
    assert abs(gradient(rest + 1, far)[0]) > 0.1
