"""Descent on the invariant set: the bound of the Hessian and the box, at small sizes over all signs."""

import math
from fractions import Fraction

import numpy as np
import pytest

import verify
from tests.theorems.evaluated import all_hold
from tests.theorems.sparse_token_selection.test_sign_attention import means
from verify import InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.descent_on_the_set")
H = 1e-3


def largest_step(T, q, d, D):
    return verify.check(THEOREM, T=T, q=q, d=d, d_e=D, eta=1).values["largest_step_size"]


def loss(sizes, alpha, C):
    T, q, d, D = sizes
    P, R = means(T, q, D, False, C)
    return d / 2 * (alpha**2 * R - 2 * alpha * P / q + 1 / q)


@pytest.mark.parametrize("sizes", [(4, 3, 2, 3), (5, 2, 3, 2), (3, 2, 1, 4)])
def test_no_curvature_in_the_box_is_above_the_bound(sizes):
    T, q, d, D = sizes
    bound = 2 / float(largest_step(*sizes))
    for alpha in np.linspace(0, math.sqrt(T / q), 4):
        for C in (-1.0, 0.0, 0.7, 2.0, 5.0):
            at = {(i, j): loss(sizes, alpha + i * H, C + j * H) for i in (-1, 0, 1) for j in (-1, 0, 1)}
            aa = (at[1, 0] - 2 * at[0, 0] + at[-1, 0]) / H**2 / d
            cc = (at[0, 1] - 2 * at[0, 0] + at[0, -1]) / H**2 / D
            ac = (at[1, 1] - at[1, -1] - at[-1, 1] + at[-1, -1]) / (4 * H**2) / math.sqrt(d * D)
            largest = np.abs(np.linalg.eigvalsh([[aa, ac], [ac, cc]])).max()
            # The errors of differences are about H² times a fourth derivative, plus 1e-15/H² from rounding.
            assert largest <= bound + 1e-4


@pytest.mark.parametrize("sizes", [(4, 3, 2, 3), (5, 2, 3, 2)])
def test_the_loss_falls_at_every_step_from_zero(sizes):
    T, q, d, D = sizes
    eta = min(1.0, 0.999 * float(largest_step(*sizes)))
    alpha = C = 0.0
    losses = [loss(sizes, alpha, C)]
    for _ in range(60):
        P, R = means(T, q, D, False, C)
        (below_P, below_R), (above_P, above_R) = (means(T, q, D, False, C + s * H) for s in (-1, 1))
        P1, R1 = (above_P - below_P) / (2 * H), (above_R - below_R) / (2 * H)
        alpha, C = alpha - eta * (alpha * R - P / q), C - eta * d / (2 * D) * (alpha**2 * R1 - 2 * alpha * P1 / q)
        losses.append(loss(sizes, alpha, C))
        assert 0 <= alpha <= math.sqrt(T / q)
    assert (np.diff(losses) < 0).all()


def test_the_step_size_of_the_figures_is_beyond_it():
    result = verify.check(THEOREM, T=200, q=3, d=5, d_e=170, eta=1)
    assert result.outcome is Outcome.OUT_OF_SCOPE
    # The largest step size is 2/(1 + 9·5·(200 + 2/3)/(8·170)).
    assert result.values["largest_step_size"] == 2 / (1 + Fraction(45 * 602, 3 * 1360))
    assert all_hold(verify.check(THEOREM, T=200, q=3, d=5, d_e=170, eta="1/4"))


def test_bad_input_is_refused():
    for wrong in ({"eta": 0}, {"q": 201}, {"d_e": 0}):
        with pytest.raises(InputError):
            verify.check(THEOREM, **{"T": 200, "q": 3, "d": 5, "d_e": 170, "eta": 1} | wrong)
