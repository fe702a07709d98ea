"""The full gradient on and near Lemma 2's set, compared with autograd from the definitions; its zero blocks."""

import itertools
from fractions import Fraction

import flint
import numpy as np
import pytest
import torch

from numerics.sparse_token_selection import reference
from theorems.sparse_token_selection.full_gradient import (
    ALL_ONES,
    AXES,
    FIRST_PLUS,
    ON_THE_SET,
    POSITIONAL_VALUES,
    SIGNS,
    Model,
    combined,
    encodings,
    means,
    tokens,
    worth,
)
from theorems.sparse_token_selection.gradient_primitives import (
    gradient_off_the_set,
    logit_slopes_less_means,
    loss_less_means,
    value_slopes_less_means,
)
from verify import Enclosure
from verify.errors import UndefinedError

SIZES = [(3, 2, 1, 2), (2, 1, 2, 2), (3, 1, 2, 1)]


def by_autograd(model, alpha, C):
    """Return the loss, dL/dW and dL/dV over all encodings and subsets, and X = ±√(T d) u_k with unit vectors u_k."""
    T, q, d, D = model[:4]
    kappa = D if model.law != AXES else 1
    drawn = torch.tensor(encodings(model)).double() / kappa**0.5
    subsets = torch.tensor([[i in y for i in range(T)] for y in itertools.combinations(range(T), q)]).double()
    points = torch.eye(T * d, dtype=torch.float64) * (T * d) ** 0.5
    points = torch.cat([points, -points]).view(-1, d, T)
    each = torch.cartesian_prod(*(torch.arange(len(these)) for these in (drawn, subsets, points))).T
    W, V = torch.zeros(d + D, d + D, dtype=torch.float64), torch.zeros(d, d + D, dtype=torch.float64)
    W[d:, d:] = C * (torch.ones(D, D) if model.place == ALL_ONES else torch.eye(D))
    V[:, :d] = alpha * torch.eye(d)
    V[:, d:] = alpha * kappa**0.5 * (model.place == POSITIONAL_VALUES)
    W, V = W.requires_grad_(), V.requires_grad_()
    attend = "tokens_and_query" if model.query else "tokens"
    loss = reference.loss(W, V, drawn[each[0]], points[each[2]], subsets[each[1]], attend=attend).mean()
    return loss.detach(), *torch.autograd.grad(loss, (W, V))


def summed(model, alpha, C):
    """Return the loss, dL/dW and dL/dV by the sums over all samples."""
    of, alpha, one, d, D = means(model), Fraction(alpha), Fraction(1), model.d, model.d_e
    kappa = D if model.law != AXES else 1
    parts = [
        [(alpha**2, of["L2"]), (alpha, of["L1"]), (one, of["L0"])],
        [(alpha**2, of["W2"]), (alpha, of["W1"])],
        [(alpha, of["V1"]), (one, of["V0"])],
    ]
    with flint.ctx.workprec(128):
        loss, W, V = ([float(x) for x in worth(combined(part), Fraction(C) / kappa)] for part in parts)
    # The sums omit entries that are exactly 0.
    W, V = np.array(W or np.zeros((d + D) ** 2)).reshape(d + D, d + D), np.array(V).reshape(d, d + D)
    W[d:] /= kappa**0.5
    W[:, d:] /= kappa**0.5
    V[:, d:] /= kappa**0.5
    return loss[0], W, V


@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize("place", [ON_THE_SET, POSITIONAL_VALUES, ALL_ONES])
@pytest.mark.parametrize("law", [SIGNS, AXES, FIRST_PLUS])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_gradient_is_autograds(sizes, law, place, query):
    model = Model(*sizes, law, place, query)
    for found, right in zip(summed(model, 1.25, -0.5), by_autograd(model, 1.25, -0.5), strict=True):
        # The means have at most 1152 samples of size 10, each with a few dozen rounding errors of 10⁻¹⁶.
        np.testing.assert_allclose(found, right.numpy(), rtol=0, atol=1e-12)
    for found, right in zip(summed(model, 1.25, 0.0), by_autograd(model, 1.25, 0.0), strict=True):
        np.testing.assert_allclose(found, right.numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("T", "d"), [(1, 1), (3, 2), (5, 1)])
def test_the_points_for_the_tokens_have_the_normal_moments_up_to_the_third(T, d):
    points = tokens(T, d).reshape(-1, T * d)
    assert np.array_equal(points.T @ points, len(points) * np.eye(T * d))
    assert not points.sum(axis=0).any()
    assert not np.einsum("xa,xb,xc->abc", points, points, points).any()


def test_the_draws_of_a_law_are_all_there_are():
    for law, count in ((SIGNS, 2**6), (AXES, 4**3), (FIRST_PLUS, 2**3)):
        model = Model(3, 2, 1, 2, law, ON_THE_SET, False)
        drawn = encodings(model)
        assert drawn.shape == (count, 2, 3)
        assert len(np.unique(drawn.reshape(count, -1), axis=0)) == count == model.draws // 3
        assert set(np.unique((drawn**2).sum(axis=1))) == {model.squared_scale}
        assert (drawn[:, 0] == 1).all() == (law == FIRST_PLUS)


AT = (Fraction(5, 4), Fraction(3, 2))


def exactly(primitive, *arguments):
    return primitive.evaluate(*map(Fraction, arguments))


@pytest.mark.parametrize("query", [0, 1])
@pytest.mark.parametrize("law", [SIGNS, AXES])
@pytest.mark.parametrize("sizes", SIZES)
def test_on_the_set_all_vanishes_exactly(sizes, law, query):
    _, _, d, D = sizes
    assert exactly(gradient_off_the_set, *sizes, *AT, law, ON_THE_SET, query) == 0
    assert exactly(loss_less_means, *sizes, *AT, law, query, Fraction(d, 2)) == 0
    assert exactly(value_slopes_less_means, *sizes, *AT, law, query, 1) == 0
    assert exactly(logit_slopes_less_means, *sizes, *AT, law, query, Fraction(d, 2 * D)) == 0


@pytest.mark.parametrize("query", [0, 1])
@pytest.mark.parametrize(("law", "place"), [(SIGNS, POSITIONAL_VALUES), (SIGNS, ALL_ONES), (FIRST_PLUS, ON_THE_SET)])
def test_off_the_set_it_is_what_autograd_leaves(law, place, query):
    model = Model(3, 2, 2, 2, law, place, bool(query))
    _, W, V = by_autograd(model, 1.25, 1.5)
    W[2:, 2:] -= W[2:, 2:].trace() / 2 * torch.eye(2)
    V[:, :2] -= V[:, :2].trace() / 2 * torch.eye(2)
    found = exactly(gradient_off_the_set, 3, 2, 2, 2, *AT, law, place, query)
    assert isinstance(found, Enclosure) and found.upper - found.lower < Fraction(1, 10**40)
    right = float((W**2).sum() + (V**2).sum())
    assert right > 1e-6 and float(found.midpoint) == pytest.approx(right, rel=1e-6)
    rest = (3.0, 2.0, 2.0, 2.0, 1.25, 1.5, float(law), float(place), float(query))
    assert gradient_off_the_set.scan(*rest) == float(found.midpoint)


def test_a_wrong_factor_is_seen():
    for primitive, right in ((loss_less_means, 1), (value_slopes_less_means, 1), (logit_slopes_less_means, "1/2")):
        for C in (0, 1):
            wrong = exactly(primitive, 3, 2, 2, 2, Fraction(5, 4), C, SIGNS, 0, Fraction(right) * Fraction(101, 100))
            assert wrong != 0
            assert not isinstance(wrong, Enclosure) or wrong.lower > 0 or wrong.upper < 0


REFUSED = [
    ((3, 4, 1, 2, 1, 1, 0, 0, 0), "1 <= q <= T"),
    ((3, 2, 1, 0, 1, 1, 0, 0, 0), "1 <= q <= T"),
    ((3, 2, 1, 2, 1, 1, 0, 0, 2), "1 <= q <= T"),
    ((3, 2, 1, 2, 1, 1, 3, 0, 0), "law = any"),
    ((3, 2, 1, 2, 1, 1, 0, 3, 0), "place 3"),
    ((3, 2, 1, 2, 1, 10**5, 0, 0, 0), "C = 100000"),
    ((200, 3, 5, 170, 1, 1, 0, 0, 0), "too many encodings"),
    ((6, 3, 1, 3, 1, 1, 0, 0, 0), "too many encodings"),
    ((3, 2, 16, 4, 1, 1, 0, 0, 0), "too many encodings"),
]


@pytest.mark.parametrize(("arguments", "why"), REFUSED)
def test_invalid_and_too_large_models_are_refused(arguments, why):
    with pytest.raises(UndefinedError, match=why):
        exactly(gradient_off_the_set, *arguments)


def test_a_search_goes_through_few_samples():
    with pytest.raises(UndefinedError, match="for a search"):
        loss_less_means.scan(4.0, 2.0, 1.0, 3.0, 1.0, 1.0, 0.0, 0.0, 0.5)
    assert loss_less_means.scan(3.0, 2.0, 1.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.5) == 0
