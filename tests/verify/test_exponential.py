"""The exponential is the C library's."""

import math

import numpy as np

from verify.exponential import exponential


def test_it_is_to_two_units_in_the_last_place():
    for at in (*np.linspace(-708, 709.4, 2001), *np.linspace(-1, 1, 2001), 0.0, -0.0):
        assert abs(exponential(at) - math.exp(at)) <= 2 * math.ulp(math.exp(at))
    assert exponential(0.0) == 1.0


def test_it_ends_where_numbers_do():
    ends = (-708.5, -math.inf, 709.5, math.inf)
    assert [exponential(end) for end in ends] == [0, 0, math.inf, math.inf]
    assert math.isnan(exponential(math.nan))
