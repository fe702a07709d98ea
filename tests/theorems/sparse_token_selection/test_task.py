"""The definitions of the task and the layer, written out at small sizes."""

import pytest
import sympy as sp

from theorems.sparse_token_selection.task import layer, one_hot, softmax, target

X = sp.Matrix(2, 3, sp.symbols("x:6"))


def test_target_is_the_mean_of_the_selected_tokens():
    assert target(X, [0, 2]) == sp.Matrix([(X[0, 0] + X[0, 2]) / 2, (X[1, 0] + X[1, 2]) / 2])


def test_target_of_no_token_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        target(X, [])


def test_softmax_by_hand():
    assert softmax([sp.log(2), 0, sp.log(3)]) == sp.Matrix([sp.Rational(1, 3), sp.Rational(1, 6), sp.Rational(1, 2)])


def test_zero_parameters_give_zero():
    assert layer(X, one_hot(3), [1], sp.zeros(5), sp.zeros(2, 5)) == sp.zeros(2, 1)


def test_uniform_attention_gives_the_mean_token_and_position():
    V = sp.eye(2).row_join(sp.Matrix([[1, 0, 0], [0, 0, 0]]))
    mean = sum((X[:, i] for i in range(3)), sp.zeros(2, 1)) / 3
    assert layer(X, one_hot(3), [1], sp.zeros(5), V) == mean + sp.Matrix([sp.Rational(1, 3), 0])


def test_selected_tokens_get_the_weight_of_the_identity_block():
    W = sp.diag(sp.zeros(2), sp.log(4) * sp.eye(3))
    V = sp.eye(2).row_join(sp.zeros(2, 3))
    # The attention's weights are 4/9, 1/9 and 4/9.
    assert layer(X, one_hot(3), [0, 2], W, V) == (4 * X[:, 0] + X[:, 1] + 4 * X[:, 2]) / 9


def test_shapes_that_do_not_fit_are_errors():
    with pytest.raises(sp.matrices.exceptions.ShapeError):
        layer(X, one_hot(3), [0], sp.eye(4), sp.zeros(2, 5))
