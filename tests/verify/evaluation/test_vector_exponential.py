"""The compiled exponential is within two units in the last place of the C library's."""

import math

import numpy as np
from numba import njit

from verify.evaluation.vector_exponential import compiled_exponential

exponential = compiled_exponential()


def test_exponential_is_within_two_units_in_the_last_place():
    for at in (*np.linspace(-708, 709.4, 2001), *np.linspace(-1, 1, 2001), 0.0, -0.0):
        assert abs(exponential(at) - math.exp(at)) <= 2 * math.ulp(math.exp(at))
    assert exponential(0.0) == 1.0


def test_a_caller_with_sums_in_any_order_does_not_change_it():
    anew = compiled_exponential.__wrapped__()

    @njit(fastmath=True)
    def called(x):
        return anew(x)

    assert all(abs(called(x) - math.exp(x)) <= 2 * math.ulp(math.exp(x)) for x in np.linspace(-30, 30, 201))


def test_exponential_is_0_or_infinite_beyond_the_range_of_floats():
    ends = (-708.5, -math.inf, 709.5, math.inf)
    assert [exponential(end) for end in ends] == [0, 0, math.inf, math.inf]
    assert math.isnan(exponential(math.nan))
