"""Fixed steps at other numbers of examples, compared with Theorem 3's polynomial, chi-squares and critical points."""

from fractions import Fraction
from math import comb

import pytest
import sympy as sp

import verify
from tests.theorems.evaluated import all_hold
from theorems.preconditioned_descent import fixed_steps as module
from theorems.preconditioned_descent.critical_steps import critical_points
from theorems.preconditioned_descent.fixed_steps import fixed_steps
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.wishart.trace_moments import trace_moments
from verify import InputError


def integral(square, examples, size):
    """Return ∫ q dμ for a number of examples and a dimension; `square` has the coefficients of q."""
    return sum(c * m for c, m in zip(square, trace_moments(len(square) - 1, examples, size), strict=True))


def squared(coefficients):
    """Return the coefficients of p²."""
    product = [Fraction(0)] * (2 * len(coefficients) - 1)
    for i, x in enumerate(coefficients):
        for j, y in enumerate(coefficients):
            product[i + j] += x * y
    return product


@pytest.fixture(scope="module")
def three():
    """Return p² for the best three steps, from Theorem 3's certificate."""
    proof = verify.check(theorem3, L=3, d=5, n=20).clauses[0].proof
    polynomial = [Fraction(c) for c in proof["polynomial"]]
    return squared([c / polynomial[0] for c in polynomial])


def test_all_of_it_holds():
    result = verify.check(fixed_steps, d=3, n=4, m=9)
    assert all_hold(result) and len(list(fixed_steps.derivation().checked_steps())) == 6


def test_the_loss_of_three_steps_is_least_at_57_examples(three):
    losses = {m: integral(three, m, 5) for m in range(1, 121)}
    assert all((losses[m + 1] > losses[m]) == (m >= module.TURN) for m in range(1, 120))
    found = verify.check(fixed_steps, d=1, n=1, m=31).values
    assert found["three_layer_loss"] == losses[31] and found["three_layer_loss_at_57"] == losses[57]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 8), (9, 2)])
def test_one_layer_in_one_dimension(n, m):
    # S is a chi-square variable with m degrees of freedom, divided by m, so its variance is 2/m.
    a = Fraction(n, n + 2)
    expected = (1 - a) ** 2 + a**2 * Fraction(2, m)
    assert verify.check(fixed_steps, d=1, n=n, m=m).values["one_layer_loss"] == expected


@pytest.mark.parametrize("a", [Fraction(1, 3), Fraction(6, 5), Fraction(-2)])
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_equal_steps_never_lose_by_an_example_more(layers, a):
    power = [comb(2 * layers, k) * (-a) ** k for k in range(2 * layers + 1)]
    losses = [integral(power, m, 4) for m in range(1, 40)]
    assert losses == sorted(losses, reverse=True)


def test_one_step_for_three_layers_is_the_critical_point_of_equal_steps():
    (point,) = (found for found in critical_points(3, 5, 20).points if found.multiplicities == (3,))
    step, loss = (Fraction(x.lower) for x in (point.steps[0], point.loss))
    assert float(module.SHARED.subs(module.a, sp.Rational(step.numerator, step.denominator))) == pytest.approx(
        float(loss), rel=1e-12
    )
    assert Fraction(67, 250) < loss < Fraction(269, 1000)


def test_no_examples_are_refused():
    with pytest.raises(InputError, match="m = 0"):
        verify.check(fixed_steps, d=3, n=2, m=0)
