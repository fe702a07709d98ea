"""The minimum at two layers, compared with Theorem 3 at instances, Laguerre polynomials, grids and a saddle."""

import math

import numpy as np
import pytest
from scipy.special import roots_genlaguerre

import verify
from tests.theorems.evaluated import all_hold, evaluated
from theorems.preconditioned_descent import two_layer_minimum as module
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.preconditioned_descent.two_layer_minimum import two_layer_minimum
from theorems.wishart.trace_moments import trace_moments
from verify import Evidence, InputError
from verify.outcomes import as_float

SIZES = [(1, 1), (1, 7), (2, 1), (5, 3), (5, 20), (40, 2)]


def values(dimension, examples):
    """Return the smaller step, the larger step and the least loss by the formulas, in floats."""
    at = {module.d: dimension, module.n: examples}
    return [float(expression.subs(at)) for expression in two_layer_minimum.values.values()]


def loss(moments, a, b):
    """Return ∫ (1 − a s)² (1 − b s)² dμ."""
    p = np.convolve([1, -a], [1, -b])
    return float(np.convolve(p, p) @ moments)


def test_all_of_it_is_proved():
    result = verify.check(two_layer_minimum, d=3, n=4)
    assert all_hold(result) and {clause.evidence for clause in evaluated(result)} == {Evidence.PROVED}
    assert len(list(two_layer_minimum.derivation().checked_steps())) == 4


@pytest.mark.parametrize(("dimension", "examples"), SIZES)
def test_theorem_3_certifies_the_same(dimension, examples):
    certified = verify.check(theorem3, L=2, d=dimension, n=examples).values
    expected = [*(as_float(step) for step in certified["a"]), float(certified["minimum_loss"])]
    assert np.allclose(values(dimension, examples), expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("examples", [1, 2, 9])
def test_in_one_dimension_the_steps_are_inverse_roots_of_laguerres_polynomial(examples):
    # s = x/(n/2), where x has a density proportional to x^{n/2 − 1} e^{−x}. So s dμ is the weight of the Laguerre
    # polynomials L^{(n/2)}.
    roots, _ = roots_genlaguerre(2, examples / 2)
    small, large, least = values(1, examples)
    assert np.allclose(sorted(examples / 2 / roots), (small, large), rtol=1e-12)
    assert math.isclose(least, 8 / ((examples + 2) * (examples + 4)), rel_tol=1e-12)


@pytest.mark.parametrize(("dimension", "examples"), SIZES)
def test_nothing_on_a_grid_is_lower_and_equal_steps_are_a_saddle(dimension, examples):
    moments = np.array([float(m) for m in trace_moments(4, examples, dimension)])
    small, large, least = values(dimension, examples)
    assert math.isclose(loss(moments, small, large), least, rel_tol=1e-9)
    steps = np.linspace(-large, 3 * large, 81)
    assert min(loss(moments, a, b) for a in steps for b in steps) >= least * (1 - 1e-9)
    _, m1, m2, m3, m4 = moments
    (equal,) = (root.real for root in np.roots([-m4, 3 * m3, -3 * m2, m1]) if abs(root.imag) < 1e-9 * abs(root))
    there, e = loss(moments, equal, equal), 1e-3 * equal
    assert loss(moments, equal + e, equal - e) < there < min(loss(moments, equal + f, equal + f) for f in (e, -e))


def test_sizes_below_one_are_refused():
    with pytest.raises(InputError, match="n = 0"):
        verify.check(two_layer_minimum, d=3, n=0)
