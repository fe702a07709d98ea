"""The re-checker's Wishart moments, by zonal polynomials, equal the library's, by integration by parts."""

from fractions import Fraction

import pytest

from theorems.wishart.rechecked import RECHECKS
from theorems.wishart.trace_moments import trace_moments
from verify.rechecker.reading import Effort, Rejected

value = RECHECKS.primitives["wishart_trace_moment/1"].value


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (2, 5), (20, 5), (1, 9), (Fraction(7, 2), Fraction(1, 3))])
def test_the_same_numbers(n, d):
    found = [value(Effort(), Fraction(k), Fraction(n), Fraction(d)) for k in range(15)]
    assert found == trace_moments(14, n, d)


@pytest.mark.parametrize(("k", "n", "d"), [(-1, 1, 1), (Fraction(1, 2), 1, 1), (201, 1, 1), (2, 0, 1), (2, 1, -1)])
def test_invalid_moments_are_rejected(k, n, d):
    with pytest.raises(Rejected):
        value(Effort(), Fraction(k), Fraction(n), Fraction(d))


def test_computing_a_moment_spends_effort():
    with pytest.raises(Rejected, match="microseconds of work"):
        value(Effort(1000), Fraction(100), Fraction(2), Fraction(2))
