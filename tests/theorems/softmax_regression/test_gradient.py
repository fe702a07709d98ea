"""Closed forms of the gradient and the Hessian, compared with finite differences."""

import math

import numpy as np
import pytest
from scipy.special import softmax

import verify
from theorems.softmax_regression import gradient
from verify import Evidence, InputError


def loss(z, b):
    return ((softmax(z) - b) ** 2).sum() / 2


def at(expression, z, b):
    """Return the value of a closed form in x and y, the first two of n logits."""
    E = np.exp(z[2:])
    names = ("x", "y", "b_i", "b_j", "S", "Q", "C", "B")
    sums = (E.sum(), (E**2).sum(), (E * b[2:]).sum(), (b[2:] ** 2).sum())
    named = dict(zip(names, (*z[:2], *b[:2], *sums), strict=True))
    put = gradient.expanded(expression)
    return float(put.subs({symbol: named[symbol.name] for symbol in put.free_symbols}))


@pytest.mark.parametrize("n", [2, 3, 6])
def test_closed_forms_by_finite_differences(n):
    source = np.random.default_rng(n)
    z, b, e = source.normal(size=n), source.normal(size=n), 1e-4 * np.eye(n)

    def slope(v, w):
        return (loss(z + v + w, b) - loss(z + v - w, b) - loss(z - v + w, b) + loss(z - v - w, b)) / 4e-8

    # Central differences with step 10⁻⁴ have truncation errors of about 10⁻⁸ and rounding errors of 10⁻¹⁶/10⁻⁸.
    assert math.isclose(at(gradient.slope, z, b), (loss(z + e[0], b) - loss(z - e[0], b)) / 2e-4, abs_tol=1e-7)
    assert math.isclose(at(gradient.own, z, b), slope(e[0], e[0]), abs_tol=1e-6)
    assert math.isclose(at(gradient.other, z, b), slope(e[0], e[1]), abs_tol=1e-6)


def test_gradient_is_proved_for_any_number_of_rows():
    assert verify.check(gradient.gradient, n=10**6).evidence is Evidence.PROVED
    with pytest.raises(InputError, match="n = 1: must be an integer >= 2"):
        verify.check(gradient.gradient, n=1)
