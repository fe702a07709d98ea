"""The trials of the landscape at Σ = I refute false claims, and no true claim."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from theorems.preconditioned_descent.isotropic_landscape import excess, rise, z
from theorems.preconditioned_descent.trials import isotropic_landscape as trials
from theorems.preconditioned_descent.trials.one_layer_losses import float_data, linear_loss
from verify import UndefinedError

INSTANCE = {"d": 2, "n": 20, "place": Fraction(1, 10)}


def violated(of, instance, count=40):
    return any(trial.violates for trial in islice(of(instance, np.random.default_rng(0)), count))


def test_the_best_columns_have_no_slopes():
    data, row = float_data(3, [Fraction(1)] * 3), np.array([1, -2, 0.5, 0.7])
    columns = trials.best_columns(data, row)
    assert np.abs(linear_loss(data, row, columns).in_columns).max() < 1e-12
    value, error = trials.loss_at(data, row, columns)
    assert all(trials.loss_at(data, row, columns + step)[0] > value + error for step in (0.01, -0.01))


def test_a_local_minimum_below_the_place_and_none_above_it():
    below, above = (trials.local_minimum(rise(z), excess, above=where) for where in (False, True))
    assert not violated(below, INSTANCE) and violated(above, INSTANCE)
    with pytest.raises(UndefinedError, match="K has no zero above the place"):
        violated(above, INSTANCE | {"place": Fraction(10)})


def test_the_loss_falls_towards_the_pattern_for_few_examples_alone():
    falls = trials.falls_towards_the_pattern(all_rows=False)
    assert not violated(falls, {"d": 5, "n": 20}) and violated(falls, {"d": 2, "n": 20}, 200)
    assert violated(trials.falls_towards_the_pattern(all_rows=True), {"d": 5, "n": 20})


def test_the_best_columns_of_many_dimensions_are_not_solved_for():
    with pytest.raises(UndefinedError, match="d = 9: the best Q is solved for up to d = 8"):
        violated(trials.falls_towards_the_pattern(all_rows=False), {"d": 9, "n": 20})
