"""Gradient, Hessian and opposite moves against finite differences and by hand."""

import math

import numpy as np
import pytest

from theorems.softmax_regression import gradient
from theorems.softmax_regression.opposite_moves import opposite_moves
from verify import Evidence, InputError, Outcome


def softmax(z):
    weights = np.exp(z - z.max())
    return weights / weights.sum()


def loss(z, b):
    return ((softmax(z) - b) ** 2).sum() / 2


def at(expression, z, b):
    """The value of a closed form in the first two logits of any number."""
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

    # Central differences with 10⁻⁴: truncation 10⁻⁸, rounding 10⁻¹⁶/10⁻⁸.
    assert math.isclose(at(gradient.slope, z, b), (loss(z + e[0], b) - loss(z - e[0], b)) / 2e-4, abs_tol=1e-7)
    assert math.isclose(at(gradient.own, z, b), slope(e[0], e[0]), abs_tol=1e-6)
    assert math.isclose(at(gradient.other, z, b), slope(e[0], e[1]), abs_tol=1e-6)


def test_it_is_proved_for_any_number_of_rows():
    assert gradient.gradient.check(n=10**6).evidence is Evidence.PROVED
    with pytest.raises(InputError, match="n = 1: must be an integer >= 2"):
        gradient.gradient.check(n=1)


def test_a_step_and_a_layer_by_numpy():
    a, x, eta, w, v = 0.8, 0.6, 0.5, 0.7, 0.4
    A, b = np.array([a, -a]), np.array([1.0, 0.0])
    p = softmax(A * x)
    step = softmax(A * (x - eta * A @ (np.diag(p) - np.outer(p, p)) @ (p - b)))
    attention = np.stack([softmax(row) for row in np.outer(A * w, A)])
    layer = softmax((A + attention @ A * -v) * x)
    found = opposite_moves.check(a="4/5", x="3/5", eta="1/2", w="7/10", v="2/5", R=4)
    expected = {
        "gradient_shift": np.linalg.norm(step - p),
        "layer_shift": np.linalg.norm(layer - p),
        "difference": np.linalg.norm(step - layer),
    }
    for name, value in expected.items():
        assert math.isclose(found.values[name].midpoint, value, rel_tol=1e-12)
    assert math.isclose(expected["difference"], expected["gradient_shift"] + expected["layer_shift"], rel_tol=1e-12)
    for name in ("gradient_shift", "layer_shift"):
        assert found.values[name].upper <= found.values[f"{name}_at_most"].lower


def test_moves_outside_the_norms_are_out_of_scope():
    given = {"x": 1, "eta": 1, "w": 1, "v": 1}
    assert opposite_moves.check(a=3, R=4, **given).outcome is Outcome.OUT_OF_SCOPE
    assert opposite_moves.check(a=1, R=4, **given).evidence is Evidence.PROVED
