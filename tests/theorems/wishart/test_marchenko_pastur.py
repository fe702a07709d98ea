"""Moments of the Marchenko–Pastur law: Narayana's sums, compared with limits of Wishart moments and with integrals."""

import math
from fractions import Fraction

import pytest
from scipy import integrate

from theorems.wishart.marchenko_pastur import marchenko_pastur, marchenko_pastur_moment
from theorems.wishart.rechecked import RECHECKS
from theorems.wishart.trace_moments import n, trace_moment_polynomial
from verify import InputError
from verify.rechecker.reading import Effort, Rejected


@pytest.mark.parametrize("order", range(1, 8))
def test_the_limit_of_the_trace_moments(order):
    # Only the terms of total degree order + 1 in n^order E tr S^order remain in the limit. A term with d^k contributes
    # its coefficient times c^(k − 1).
    leading = {powers: int(c) for powers, c in trace_moment_polynomial([order]).terms() if sum(powers) == order + 1}
    c = Fraction(2, 7)
    assert sum(count * c ** (d - 1) for (_, d), count in leading.items()) == marchenko_pastur(order, c)


@pytest.mark.parametrize("c", [0.25, 0.9])
@pytest.mark.parametrize("order", range(6))
def test_the_integral_over_the_density(order, c):
    low, high = (1 - math.sqrt(c)) ** 2, (1 + math.sqrt(c)) ** 2
    found, error = integrate.quad(lambda s: s ** (order - 1), low, high, weight="alg", wvar=(0.5, 0.5))
    assert abs(found / (2 * math.pi * c) - marchenko_pastur(order, c)) < 1e-8 + error


@pytest.mark.parametrize("k", [-1, 1.5, "2"])
def test_an_order_that_is_none(k):
    with pytest.raises(InputError, match="must be a non-negative integer"):
        marchenko_pastur(k, 1)


def test_the_rechecker_finds_the_same_numbers_by_the_jacobi_matrix():
    value = RECHECKS.primitives["marchenko_pastur_moment/1"].value
    for c in (Fraction(1, 4), Fraction(5, 3), Fraction(1)):
        for order in range(12):
            assert value(Effort(), Fraction(order), c) == marchenko_pastur(order, c)
    for order, c in ((Fraction(1, 2), Fraction(1)), (Fraction(201), Fraction(1)), (Fraction(2), Fraction(0))):
        with pytest.raises(Rejected, match="no integer from 0 to 200, or a ratio"):
            value(Effort(), order, c)


def test_moment_is_a_primitive_of_the_language():
    assert str(marchenko_pastur_moment(n, 2)) == "marchenko_pastur_moment(n, 2)"
