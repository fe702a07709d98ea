"""Exact means over S, compared with quadrature and with `theorems.wishart`, which uses other formulas."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize

from theorems.preconditioned_descent.trials import wishart_means
from theorems.wishart.trace_moments import trace_moments
from theorems.wishart.word_moments import word_moment


@pytest.mark.parametrize(("n", "d"), [(20, 5), (3, 7), (1, 4), (6, 1), (1, 1)])
def test_trace_moments_are_those_by_integration_by_parts(n, d):
    assert wishart_means.trace_moments(12, n, d) == trace_moments(12, n, d)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_traces_of_words_are_those_of_the_exact_formula(length):
    random = np.random.default_rng(length)
    factors = random.integers(-3, 4, size=(length, 2, 2))
    exact = word_moment([[sp.Matrix(factor.tolist()) for factor in factors]], 3, sp.eye(2))
    stacked = [np.stack([factor, 2 * factor]).astype(float) for factor in factors]
    assert np.allclose(wishart_means.mean_trace(stacked, 3), [float(exact), float(exact) * 2**length], rtol=1e-13)


@pytest.mark.parametrize(("n", "d"), [(20, 5), (1, 4), (2, 1)])
def test_the_gauss_rule_has_all_its_moments_and_no_more(n, d):
    nodes, weights = wishart_means.gauss_rule(4, n, d)
    moments = [min(n, d), *(float(m) for m in trace_moments(8, n, d)[1:])]
    found = [weights @ nodes**k for k in range(9)]
    assert np.allclose(found[:8], moments[:8], rtol=1e-10) and found[8] < moments[8] * (1 - 1e-6)


def test_the_least_square_is_that_of_a_search_and_of_one_layer():
    # With one factor 1 - a s the least mean square is d - m_1²/m_2.
    m = trace_moments(4, 6, 3)
    assert wishart_means.least_square(1, 6, 3) == m[0] - m[1] ** 2 / m[2]
    numbers = [float(x) for x in m]

    def square(c):
        p = np.convolve([1, *c], [1, *c])
        return p @ numbers

    found = minimize(square, [-1, 0.1], tol=1e-14).fun
    assert found == pytest.approx(float(wishart_means.least_square(2, 6, 3)), rel=1e-9)
    assert isinstance(wishart_means.least_square(2, 6, 3), Fraction)
