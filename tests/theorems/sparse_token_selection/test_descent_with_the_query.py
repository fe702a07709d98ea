"""Descent with attention to [Z, z_query]: the argument's claims about P and R, at small sizes over all signs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import verify
from tests.theorems.evaluated import all_hold
from verify import InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.descent_with_the_query")
SIZES = [(4, 2, 3, 2), (5, 3, 1, 2), (3, 2, 2, 3), (5, 2, 1, 3)]


def means(T, q, D, C):
    """Return P, R and their first and second derivatives, from the definition of the softmax, over all signs."""
    signs = np.array(list(itertools.product((1, -1), repeat=T * D))).reshape(-1, D, T)
    u = signs[:, :, :q].sum(axis=2)
    v = np.concatenate([np.einsum("nbt,nb->nt", signs, u), (u**2).sum(axis=1, keepdims=True)], axis=1) / D
    p = np.exp(C * (v - (C >= 0) * v.max(axis=1, keepdims=True)))
    p /= p.sum(axis=1, keepdims=True)
    x = v - (p * v).sum(axis=1, keepdims=True)
    spread = (p * x**2).sum(axis=1, keepdims=True)
    selected = (p, p * x, p * (x**2 - spread))
    squares = (p**2, 2 * p**2 * x, p**2 * (4 * x**2 - 2 * spread))
    return [f[:, :q].sum(axis=1).mean() for f in selected], [f[:, :T].sum(axis=1).mean() for f in squares]


def bounds(T, q, d, D):
    w = q * (1 + q)
    return 1 + 9 * d * w**2 / (q * D), 12 * d * w**2 / q


@pytest.mark.parametrize("sizes", SIZES)
def test_curvature_and_share_where_the_loss_is_below_its_start(sizes):
    T, q, d, D = sizes
    largest, _ = bounds(*sizes)
    for C in (-8.0, -1.0, 0.0, 0.3, 1.0, 3.0, 12.0):
        (P, P1, P2), (R, R1, R2) = means(T, q, D, C)
        # L <= L(0) is equivalent to 0 <= alpha <= 2P/(qR).
        for alpha in np.linspace(0, 2 * P / (q * R), 5):
            assert alpha**2 * R <= 4 / q
            mixed = math.sqrt(d / D) * (alpha * R1 - P1 / q)
            hessian = [[R, mixed], [mixed, d / (2 * D) * (alpha**2 * R2 - 2 * alpha * P2 / q)]]
            assert np.linalg.eigvalsh(hessian).max() <= largest


@pytest.mark.parametrize("sizes", SIZES)
def test_near_zero(sizes):
    T, q, d, D = sizes
    _, most = bounds(*sizes)
    (_, P1, _), (_, R1, _) = means(T, q, D, 0.0)
    assert P1 == pytest.approx(q * (T + 1 - 2 * q) / (T + 1) ** 2, abs=1e-12)
    assert R1 == pytest.approx(-2 * q * (T - 1) / (T + 1) ** 3, rel=1e-12)
    reach = 1 / (6 * q * (1 + q))
    for C in np.linspace(0, reach, 4):
        (P, *_), (R, *_) = means(T, q, D, C)
        for below in np.linspace(0, C, 4):
            (_, _, P2), (_, _, R2) = means(T, q, D, below)
            for alpha in np.linspace(0, 2 * P / (q * R), 5):
                assert d / 2 * (alpha**2 * R2 - 2 * alpha * P2 / q) <= most


@pytest.mark.parametrize(("q", "bounded"), [(1, False), (2, True), (3, True)])
def test_gain_at_a_large_scale_is_bounded_with_several_selected(q, bounded):
    T, D = 4, 3
    (P, *_), (R, *_) = means(T, q, D, 200.0)
    assert (P**2 / (q * R) <= 2.0**-D) == bounded


@pytest.mark.audit
def test_the_step_size_of_the_figures_is_beyond_it():
    result = verify.check(THEOREM, T=200, q=3, d=5, d_e=170, eta=1)
    assert result.outcome is Outcome.OUT_OF_SCOPE
    # The bound of the step size is 170/(12·5·3·16).
    assert result.values["step_size_bound"] == Fraction(170, 2880)
    assert all_hold(verify.check(THEOREM, T=200, q=3, d=5, d_e=170, eta="17/288"))


def test_bad_input_is_refused():
    for wrong in ({"eta": 0}, {"q": 201}, {"d_e": 0}):
        with pytest.raises(InputError):
            verify.check(THEOREM, **{"T": 200, "q": 3, "d": 5, "d_e": 170, "eta": "1/20"} | wrong)
