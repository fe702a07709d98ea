"""Layers in integer arithmetic agree with the definition, and the wrong variant of each claim is refuted."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from theorems.preconditioned_descent.trials.linear_layers import (
    DRAWS,
    MOST_PRODUCTS,
    SAMPLES,
    Draws,
    Layer,
    descent_in_every_layer,
    label_is_added,
    layer_after,
    mean_square_of_the_label,
    runs,
    same_in_every_order,
)
from verify import UndefinedError

AT = {"d": 2, "n": 3, "preconditioner": "symmetric", "preconditioners": "multiples", "last_column": "zero"}


def found(trials, most=DRAWS, **other):
    return list(islice(trials({**AT, **other}, np.random.default_rng(0)), most))


def test_a_layer_is_that_of_the_definition_entry_by_entry():
    draws = Draws(AT, np.random.default_rng(1))
    _, _, Z = draws.prompt()
    P, Q = draws.whole(3, 3), 3 * draws.whole(3, 3)
    (after,) = runs(Z, [Layer(P, Q)], 3)
    for i in range(3):
        for j in range(4):
            attended = (
                sum(Z[k, e] * Z[a, e] for e in range(3)) * Q[a, c] * Z[c, j]
                for k in range(3)
                for a in range(3)
                for c in range(3)
            )
            weights = (P[i, k] for k in range(3) for a in range(3) for c in range(3))
            assert after[i, j] == Z[i, j] + Fraction(sum(p * x for p, x in zip(weights, attended, strict=True)), 3)
    many = layer_after(np.stack([Z, Z]).astype(float), Layer(P.astype(float), Q.astype(float)), 3, np.divide)
    assert np.allclose(many, after.astype(float), rtol=1e-12)


@pytest.mark.parametrize("word", ["symmetric", "any"])
def test_descent_stands_and_a_mean_over_one_example_more_does_not(word):
    assert all(trial.margin == 0 for trial in found(descent_in_every_layer(0), preconditioner=word))
    assert any(trial.violates for trial in found(descent_in_every_layer(1), preconditioner=word))


def test_orders_are_alike_for_multiples_of_one_matrix_alone():
    right, wrong = (found(same_in_every_order(turned=turned)) for turned in (False, True))
    assert all(trial.margin == 0 for trial in right) and any(trial.violates for trial in wrong)
    assert any(trial.violates for trial in found(same_in_every_order(turned=False), preconditioners="any"))


def test_a_label_is_added_where_the_last_column_is_zero_alone():
    right, wrong = (found(label_is_added(corner=corner)) for corner in (False, True))
    assert all(trial.margin == 0 for trial in right) and all(trial.violates for trial in wrong[:1])
    assert any(trial.violates for trial in found(label_is_added(corner=False), last_column="any"))


def test_the_loss_is_the_mean_square_of_the_filled_in_label_alone():
    right, wrong = (found(mean_square_of_the_label(share), SAMPLES) for share in (Fraction(1), Fraction(9, 10)))
    assert len(right) == SAMPLES and not any(trial.violates for trial in right)
    assert any(trial.violates for trial in wrong)
    assert any(trial.violates for trial in found(mean_square_of_the_label(Fraction(1)), SAMPLES, last_column="any"))


def test_layers_that_are_too_large_have_no_trials():
    with pytest.raises(UndefinedError, match=f"layers are run up to .* = {MOST_PRODUCTS}"):
        found(label_is_added(corner=False), n=10**6)
    with pytest.raises(UndefinedError, match="a sample of prompts is drawn up to"):
        found(mean_square_of_the_label(Fraction(1)), n=10**6)
