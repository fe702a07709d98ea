"""Lemma 1, compared at tiny sizes with every entry of the full layer's exact population gradient."""

from fractions import Fraction
from itertools import combinations, product
from math import prod

import pytest
import sympy as sp

from theorems.sparse_token_selection import reduced_dynamics as reduced
from theorems.sparse_token_selection.task import T, d, eta, layer, one_hot, q, target

ALPHA, WEIGHT = sp.Rational(3, 2), sp.Integer(2)
GAUSSIAN = {0: 1, 1: 0, 2: 1, 3: 0, 4: 3, 5: 0, 6: 15}


def population_mean(polynomial, symbols, moments):
    """Return the mean of a polynomial in i.i.d. symbols with the given moments, monomial by monomial."""
    terms = sp.Poly(sp.expand(polynomial), *symbols).terms()
    return sum((c * prod(moments[k] for k in powers) for powers, c in terms), sp.Integer(0))


def full_gradient(length, subset_size, size, moments):
    """Return the full layer's loss and gradient (W, V) at V = (αI, 0), W = diag(0, log(2) I), over subsets and X."""
    X = sp.Matrix(size, length, sp.symbols(f"x:{size * length}"))
    side, t = size + length, sp.Symbol("t")
    # The identity block differs from I − 11ᵀ/T by a shift, and softmax is invariant under it.
    W = sp.diag(sp.zeros(size), sp.log(WEIGHT) * sp.eye(length))
    V = (ALPHA * sp.eye(size)).row_join(sp.zeros(size, length))
    subsets = list(combinations(range(length), subset_size))

    def mean_over(function):
        values = (population_mean(function(y), list(X), moments) for y in subsets)
        return sp.nsimplify(sp.simplify(sum(values) / len(subsets)))

    def loss(y, W, V):
        residual = layer(X, one_hot(length), y, W, V) - target(X, y)
        return (residual.T * residual)[0] / 2

    def slope(y, of_W, entry):
        shift = sp.zeros(*(W if of_W else V).shape)
        shift[entry] = t
        moved = loss(y, W + shift, V) if of_W else loss(y, W, V + shift)
        return sp.diff(moved, t).subs(t, 0)

    gradient_W = sp.Matrix(side, side, lambda i, j: mean_over(lambda y: slope(y, True, (i, j))))
    gradient_V = sp.Matrix(size, side, lambda i, j: mean_over(lambda y: slope(y, False, (i, j))))
    return mean_over(lambda y: loss(y, W, V)), gradient_W, gradient_V


def at(expression, length, subset_size, size):
    values = {T: length, q: subset_size, d: size, reduced.alpha: ALPHA, reduced.C: sp.log(WEIGHT), eta: 1}
    return sp.simplify(expression.doit().subs(values))


@pytest.mark.parametrize(("length", "subset_size", "size"), [(3, 1, 1), (3, 2, 1), (4, 2, 1), (3, 1, 2)])
def test_the_recursion_is_the_full_layers_gradient(length, subset_size, size):
    sizes = (length, subset_size, size)
    loss, gradient_W, gradient_V = full_gradient(*sizes, GAUSSIAN)
    assert loss == at(reduced.loss, *sizes)
    centred = sp.eye(length) - sp.ones(length) / length
    # For η = 1 a step is minus the gradient.
    step_alpha = at(reduced.step_alpha - reduced.alpha, *sizes)
    step_C = at(reduced.step_C - reduced.C, *sizes)
    assert gradient_V == (-step_alpha * sp.eye(size)).row_join(sp.zeros(size, length))
    assert gradient_W == sp.diag(sp.zeros(size), -step_C * centred)
    assert step_alpha and step_C


def test_the_blocks_that_vanish_do_so_by_odd_moments_only():
    """Check that the blocks are not zero for tokens of mean 1/3, and that they are as the definitions say."""
    length, subset_size = 3, 1
    mean = sp.Rational(1, 3)
    bernoulli = {k: mean if k else sp.Integer(1) for k in range(7)}
    _, gradient_W, gradient_V = full_gradient(length, subset_size, 1, bernoulli)
    definitions = {**reduced.DEFINITIONS, reduced.mu_1: mean, reduced.mu_2: mean, reduced.mu_3: mean}

    def claimed(expression, **extra):
        for name, value in reversed(definitions.items()):
            expression = expression.subs(name, value)
        return at(expression.subs(extra), length, subset_size, 1)

    assert {gradient_W[0, j] for j in range(1, 4)} == {claimed(reduced.W_TOKEN_ROWS)} != {0}  # pyright: ignore[reportUnhashable]
    assert gradient_V[0, 0] == claimed(reduced.V_DIAGONAL)
    # The mean of p_k over subsets: a token has attention 2/4 if it is selected, and 1/4 otherwise.
    mean_attention = sp.Rational(1, 3) * sp.Rational(1, 2) + sp.Rational(2, 3) * sp.Rational(1, 4)
    assert {gradient_V[0, j] for j in range(1, 4)} == {claimed(reduced.V_POSITIONAL.subs(reduced.p_k, mean_attention))}  # pyright: ignore[reportUnhashable]
    assert gradient_V[0, 1] != 0


@pytest.mark.parametrize(("length", "subset_size"), [(4, 1), (5, 2), (6, 6), (7, 4)])
def test_the_law_of_the_subset_by_enumeration(length, subset_size):
    subsets = list(combinations(range(length), subset_size))
    both = Fraction(sum({0, 1} <= set(y) for y in subsets), len(subsets))
    one = Fraction(sum(0 not in y and 1 in y for y in subsets), len(subsets))
    for expression, expected in ((reduced.BOTH_SELECTED, both), (reduced.ONE_SELECTED, one)):
        assert expression.subs({T: length, q: subset_size}) == sp.Rational(expected.numerator, expected.denominator)


def test_loss_at_the_start_is_half_the_targets_variance():
    # STS has d coordinates of variance 1/q.
    assert reduced.loss.subs(reduced.alpha, 0) == d / (2 * q)


def test_over_tokens_by_enumeration():
    for length, selected in product((3, 5), (1, 2)):
        values = [sp.Integer(7)] * selected + [sp.Integer(11)] * (length - selected)
        assert reduced.over_tokens(sp.Integer(7), sp.Integer(11)).subs({T: length, q: selected}) == sum(values)
