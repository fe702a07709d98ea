"""Trials of a least loss find lower points if there are any; slopes and second derivatives are exact."""

from fractions import Fraction
from itertools import combinations_with_replacement, islice

import numpy as np
import pytest

from theorems.preconditioned_descent.trials.one_layer_losses import float_data, linear_loss
from theorems.preconditioned_descent.trials.one_layer_minimum import (
    DRAWS,
    MOVES,
    Least,
    descended,
    label_in_columns,
    least_linear_loss,
    least_pivot,
    least_relu_loss,
    moved,
    pattern,
    saddle,
    strict_local_minimum,
)
from verify import UndefinedError

TWO = (Fraction(1), Fraction(1, 2))


def one_dimension(step):
    """Return trials for n = 2 and Σ = 1: f = 1 − 2a + 2a² at P = diag(0, 1), Q = −diag(a, 0), with a = `step`."""
    return least_linear_loss(2, [Fraction(1)], [step], 1 - 2 * step + 2 * step**2, np.random.default_rng(0))


def test_a_least_loss_stands_and_one_beside_it_does_not():
    right, wrong = list(one_dimension(Fraction(1, 2))), list(one_dimension(Fraction(11, 20)))
    assert len(right) == DRAWS and not any(trial.violates for trial in right)
    # The first trial compares the claimed value with the loss 1 − 2a + 2a² at the claimed point.
    assert not wrong[0].violates
    moves, descents = wrong[1 : MOVES + 1], wrong[MOVES + 1 :]
    assert any(trial.violates for trial in moves) and all(trial.violates for trial in descents)


def test_a_wrong_least_value_is_found():
    trials = list(least_linear_loss(2, [Fraction(1)], [Fraction(1, 2)], Fraction(51, 100), np.random.default_rng(0)))
    assert [trial.violates for trial in trials] == [True] + [False] * (DRAWS - 1)
    assert trials[0].margin == pytest.approx(-0.01)


@pytest.mark.parametrize("kind", range(4))
def test_every_kind_of_move_but_points_afresh_finds_what_is_lower(kind):
    random = np.random.default_rng(1)
    claim = Least(linear_loss, float_data(2, [Fraction(1)]), [Fraction(3, 5)], Fraction(0))
    here, _ = claim.at(*claim.claimed)
    assert any(claim.at(*moved(claim, kind, random)[1:])[0] < here for _ in range(20)) == (kind != 1)


def test_a_descent_ends_at_the_least_loss():
    claim = Least(linear_loss, float_data(2, [Fraction(1)]), [Fraction(3, 5)], Fraction(0))
    value, _ = claim.at(*descended(claim, np.random.default_rng(2))[1:])
    assert 0.5 <= value < 0.5001


@pytest.mark.parametrize("zero_last_row", [True, False])
def test_the_last_row_of_q_is_held_or_free(zero_last_row):
    # For n = d = 1, f = 1 − a + 3a²/2, because s² and s⁴ have the means 1/2 and 3/2 over s > 0. The minimum is 5/6 at
    # a = 1/3.
    step, least = Fraction(1, 3), Fraction(5, 6)
    trials = list(least_relu_loss(1, 1, step, least, np.random.default_rng(0), zero_last_row=zero_last_row))
    assert not any(trial.violates for trial in trials)
    rows = [trial.tried["columns of Q"][0][-1] for trial in trials[1:]]
    assert all(row == 0 for row in rows) == zero_last_row
    wrong = least_relu_loss(1, 1, Fraction(2, 5), least, np.random.default_rng(0), zero_last_row=zero_last_row)
    assert any(trial.violates for trial in islice(wrong, MOVES + 1))


def test_a_loss_that_overflows_has_no_value():
    claim = Least(linear_loss, float_data(2, [Fraction(1)]), [Fraction(1, 2)], Fraction(1, 2))
    with pytest.raises(UndefinedError, match="no number in float64"):
        claim.at(np.array([1e200, 1]), np.ones((2, 1)) * 1e200)


def test_second_derivatives_are_mixed_differences_of_the_loss():
    point = label_in_columns(3, TWO, 0, Fraction(1, 3))
    found = point.second_derivatives()
    assert (found == found.T).all()

    def at(*moves):
        entries = np.concatenate((point.row, point.columns.ravel()))
        for place, step in moves:
            entries[place] += step
        return linear_loss(point.data, entries[:3], entries[3:].reshape(3, 2)).value

    # The loss is a quadratic function of each entry, so these differences are exact.
    for i, j in combinations_with_replacement(range(9), 2):
        if i == j:
            expected = at((i, 1)) - 2 * at() + at((i, -1))
        else:
            expected = sum(s * t * at((i, s), (j, t)) for s in (1, -1) for t in (1, -1)) / Fraction(4)
        assert found[i, j] == expected


def test_pivots_tell_definite_from_indefinite_and_not_from_singular():
    def whole(*rows):
        return np.array([[Fraction(value) for value in row] for row in rows], dtype=object)

    assert least_pivot(whole((2, 1), (1, 2))) == Fraction(3, 2)
    assert least_pivot(whole((1, 2), (2, 1))) == -3
    with pytest.raises(UndefinedError, match="singular"):
        least_pivot(whole((1, 1), (1, 1)))


def test_a_strict_local_minimum_needs_slopes_curvature_and_a_lower_point():
    # a_j = n/((n + 1) λ_j + t) with the trace t = 3/2, so a_j is 2/7 and 2/5 for n = 1.
    steps = Fraction(2, 7), Fraction(2, 5)
    lower, here = pattern(1, TWO, steps), label_in_columns(1, TWO, 0, steps[0])
    assert [trial.margin >= 0 for trial in strict_local_minimum(here, 0, lower)] == [True] * 3
    moved_on = label_in_columns(1, TWO, 0, Fraction(1, 4))
    assert next(strict_local_minimum(moved_on, 0, lower)).violates
    # With many examples the matrix of second derivatives is indefinite.
    many = Fraction(50) / (51 + Fraction(3, 2))
    assert [t.violates for t in strict_local_minimum(label_in_columns(50, TWO, 0, many), 0, lower)][:2] == [False, True]
    with pytest.raises(UndefinedError, match="the other point has the same loss"):
        list(strict_local_minimum(here, 0, here))


def test_a_saddle_is_told_from_a_local_minimum():
    flat = label_in_columns(1, TWO, 1, Fraction(2, 5))
    assert [trial.margin >= 0 for trial in saddle(flat, 1)] == [True] * 3
    assert next(saddle(label_in_columns(1, TWO, 1, Fraction(1, 3)), 1)).violates
    assert [t.violates for t in saddle(label_in_columns(1, TWO, 0, Fraction(2, 7)), 0)] == [False, True, False]
