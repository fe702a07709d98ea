"""Theorem 4 at two layers: critical points at many sizes, the least loss by descent, and the limit loss on a grid."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import roots_genlaguerre

import verify
from tests.theorems.evaluated import all_hold
from theorems.preconditioned_descent.token_layers_between import token_layers_between
from theorems.preconditioned_descent.two_layers_of_tokens import two_layers_of_tokens
from verify import InputError
from verify.outcomes import as_float


def one_dimension(examples):
    """Return the nodes and weights of a Gauss rule for s = x/n, where x is chi-squared with n degrees of freedom."""
    nodes, weights = roots_genlaguerre(12, examples / 2 - 1)
    return 2 * nodes / examples, weights / weights.sum()


def loss(a, b, examples):
    """Return E r_2(s)² at d = 1, computed layer by layer."""
    s, weights = one_dimension(examples)
    tokens, label = np.ones_like(s), np.ones_like(s)
    for step, rate in zip(a, (b, 0.0), strict=True):
        seen = step * s * tokens**2
        tokens, label = tokens * (1 - rate * seen), label * (1 - seen)
    return float(weights @ label**2)


def signs_hold(values, dimension, examples):
    """Return whether exactly one critical point has an idle first layer, and all others have positive coordinates."""
    idle = 0
    for point in values["critical_points"]:
        first, second, rate = point["a"][0], point["a"][1], point["b"][0]
        if first.lower <= 0 <= first.upper:
            best = Fraction(examples, examples + dimension + 1)
            idle += second.lower <= best <= second.upper and rate.lower <= Fraction(-1, 2) <= rate.upper
        elif not all(x.lower > 0 for x in (first, second, rate)):
            return False
    return idle == 1


@pytest.mark.parametrize(("dimension", "examples"), [(1, 1), (2, 3), (5, 20)])
def test_critical_points_and_what_they_are_between(dimension, examples):
    result = verify.check(two_layers_of_tokens, d=dimension, n=examples)
    values = result.values
    assert all_hold(result) and values["complete"] and values["limits_complete"]
    assert signs_hold(values, dimension, examples)
    least = values["critical_points"][0]["loss"]
    assert values["theorem3_four_layers"] < least.lower < least.upper < values["theorem3_two_layers"]
    assert least.upper < values["limits"][0]["loss"].lower < values["theorem3_two_layers"]


@pytest.mark.audit
def test_small_sizes_have_seven_critical_points_and_three_minima():
    for examples in range(1, 5):
        for dimension in range(1, examples + 1):
            values = verify.check(two_layers_of_tokens, d=dimension, n=examples).values
            points = values["critical_points"]
            assert values["complete"] and signs_hold(values, dimension, examples)
            assert len(points) == 7 and sum(point["local_minimum"] for point in points) == 3


def test_descent_in_one_dimension_finds_nothing_lower():
    examples = 3
    values = verify.check(two_layers_of_tokens, d=1, n=examples).values
    least, valley = as_float(values["critical_points"][0]["loss"]), as_float(values["limits"][0]["loss"])
    source, found = np.random.default_rng(0), []
    for _ in range(8):
        start = source.normal(size=3) * (1, 2, 2)
        end = minimize(lambda x: loss(x[:2], x[2], examples), start, method="Nelder-Mead", options={"maxiter": 3000})
        found.append(end.fun)
        assert end.x[0] > 0 or end.fun > valley
    assert min(found) == pytest.approx(least, rel=1e-6) and min(found) > least * (1 - 1e-9)


@pytest.mark.parametrize("examples", [1, 3])
def test_the_limit_loss_by_a_grid(examples):
    s, weights = one_dimension(examples)
    best = np.inf
    for product in np.linspace(-1, 1, 4001):
        direction = s * (1 - product * s) ** 2
        best = min(best, 1 - (weights @ direction) ** 2 / (weights @ direction**2))
    found = as_float(verify.check(two_layers_of_tokens, d=1, n=examples).values["limits"][0]["loss"])
    assert best == pytest.approx(found, rel=1e-5) and best >= found * (1 - 1e-9)


@pytest.mark.parametrize("examples", [1, 4])
def test_random_weights_of_three_layers_in_one_dimension_are_not_below_the_bound(examples):
    result = verify.check(token_layers_between, L=3, d=1, n=examples)
    bound, at_rest = (float(result.values[name]) for name in ("lower_bound", "theorem3_loss"))
    assert all_hold(result) and bound < at_rest
    # The bound is 1/Σ_k p_k(0)² with the orthonormal Laguerre polynomials p_0 … p_13, where p_k(0)² is a product.
    alpha = examples / 2 - 1
    squares = sum(np.prod([(j + alpha) / j for j in range(1, degree + 1)]) for degree in range(14))
    assert bound == pytest.approx(1 / squares, rel=1e-12)
    s, weights = roots_genlaguerre(28, alpha)
    s, weights, source, found = 2 * s / examples, weights / weights.sum(), np.random.default_rng(0), []
    for _ in range(300):
        tokens, label = np.ones_like(s), np.ones_like(s)
        for step, rate in np.exp(source.normal(size=(3, 2))) / (1, 2):
            seen = step * s * tokens**2
            tokens, label = tokens * (1 - rate * seen), label * (1 - seen)
        found.append(weights @ label**2)
    assert bound < min(found) < 3 * at_rest


def test_the_derivation_is_checked_and_sizes_below_one_are_refused():
    assert len(list(token_layers_between.derivation().checked_steps())) == 5
    assert len(list(two_layers_of_tokens.derivation().checked_steps())) == 4
    with pytest.raises(InputError, match="n = 0"):
        verify.check(two_layers_of_tokens, d=3, n=0)
