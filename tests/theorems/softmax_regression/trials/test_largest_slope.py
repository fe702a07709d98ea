"""The largest eigenvalue of the softmax Jacobian: by differences, and over logits of three levels; violations."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy as sp
from scipy.special import softmax

from theorems.closed_forms import values_of
from theorems.softmax_regression.trials import largest_slope
from verify import UndefinedError

INSTANCE = {"n": 5, "R": Fraction(2)}
BEST = 2 / (2 + 3 * np.exp(-4 * np.sqrt(5 / 6)))
"""The best factor R/(2 + (n − 2) exp(−R² √(n/(2(n − 2))))) at `INSTANCE`."""


def in_reach(_):
    return [Fraction(1)]


def violated(trials, count=30, instance=INSTANCE):
    return any(trial.violates for trial in islice(trials(instance, np.random.default_rng(0)), count))


def test_eigenvalue_and_slopes_match_finite_differences():
    logits, steps = np.array([0.3, -1, 2, 0.5]), 1e-5 * np.eye(4)
    jacobian = np.array([(softmax(logits + h) - softmax(logits - h)) / 2e-5 for h in steps])
    value, slopes = largest_slope.largest_eigenvalue(logits)
    assert value == pytest.approx(np.linalg.norm(jacobian, 2), abs=1e-9)
    values = [[largest_slope.largest_eigenvalue(logits + sign * h)[0] for sign in (1, -1)] for h in steps]
    assert np.allclose(slopes, [(up - down) / 2e-5 for up, down in values], atol=1e-9)


def test_the_levels_are_those_of_a_grid():
    # An angle parametrises the vectors of three entries with sum 0 and norm 1.
    angles = np.linspace(0, 2 * np.pi, 2001)
    plane = np.linalg.svd(np.ones((1, 3)))[2][1:]
    grid = max(largest_slope.largest_eigenvalue(np.array([np.cos(t), np.sin(t)]) @ plane)[0] for t in angles)
    # On a grid with steps of about 1/300 the error of a maximum is at most 10⁻⁵.
    assert grid <= largest_slope.three_levels(3, 1) + 1e-12 and largest_slope.three_levels(3, 1) <= grid + 1e-5


def test_three_levels_are_best_and_one_row_above_is_not():
    assert not violated(largest_slope.largest_at(largest_slope.three_levels))
    assert violated(largest_slope.largest_at(largest_slope.one_row_above))


def test_the_best_factor_is_enough_and_no_smaller_or_larger_one_is_best():
    for factor, wrong in ((1, False), (0.98, True), (1.02, True)):
        assert violated(largest_slope.best_is(lambda _, f=factor: [Fraction(f * BEST)], in_reach)) is wrong


def test_out_of_reach_the_best_factor_is_not_tried():
    trials = largest_slope.best_is(lambda _: [Fraction(1)], lambda _: [Fraction(-1, 100)])
    with pytest.raises(UndefinedError, match=r"n = 5, R = 2: the room is -0\.01 here, and the claim is for 0 or"):
        next(trials(INSTANCE, np.random.default_rng(0)))


def test_the_bounds_hold_and_smaller_ones_do_not():
    n, R = sp.symbols("n R")
    # With the best factor in all three bounds, and E = n, the bounds hold.
    bounds = values_of(*[sp.Rational(Fraction(BEST))] * 3, 1 / n + 0 * R)
    assert not violated(largest_slope.at_most(bounds)) and violated(largest_slope.at_most(bounds, factor=0.99))
    # For E > n only the first bound applies.
    first = values_of(sp.Rational(Fraction(BEST)), sp.S.Zero, sp.S.Zero, 1 / (2 * n))
    assert not violated(largest_slope.at_most(first))


def test_large_instances_have_no_verdict():
    with pytest.raises(UndefinedError, match="n = 301: eigenvalues of n x n matrices are computed up to n = 300"):
        violated(largest_slope.largest_at(largest_slope.one_row_above), instance={"n": 301, "R": 4})
    with pytest.raises(UndefinedError, match="R = 101: logits of norm R\\^2 are tried up to R = 100"):
        violated(largest_slope.largest_at(largest_slope.one_row_above), instance={"n": 3, "R": 101})
