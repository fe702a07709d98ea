"""Moves of softmax regression: the norms stay bounded, both kinds come near the bounds, and violations are found."""

import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from theorems.softmax_regression.trials import moves
from verify import UndefinedError

INSTANCE = {"n": 6, "d": 3, "R": Fraction(4)}
BOTH = pytest.mark.parametrize("draw", [moves.data_move, moves.weight_move])
PAIRS = pytest.mark.parametrize("pair", [moves.data_pair, moves.weight_pair])


def violated(trials, count=60, instance=INSTANCE):
    return any(trial.violates for trial in islice(trials(instance, np.random.default_rng(0)), count))


@BOTH
@pytest.mark.parametrize(("n", "d", "R"), [(1, 2, 4), (2, 1, 4), (3, 1, 1), (6, 3, 4), (9, 2, 30)])
@pytest.mark.parametrize("small", [True, False])
def test_moves_keep_the_norms_and_small_ones_are_small(draw, n, d, R, small):
    random = np.random.default_rng(0)
    for _ in range(50):
        move = draw(random, n, d, R, small)
        for data, weights in (move[:2], move[2:]):
            assert max(np.linalg.norm(data, 2), np.linalg.norm(weights)) <= R * (1 + 1e-12)
        assert (move.data == move.new_data).all() or (move.weights == move.new_weights).all()
        logits = move.new_data @ move.new_weights - move.data @ move.weights
        assert not small or abs(logits).max() < 0.01


def test_change_of_the_prediction_and_size_of_the_move():
    move = moves.Move(np.zeros((2, 1)), np.array([2.0]), np.array([[0.0], [1.0]]), np.array([2.0]))
    # The logits become 0 and 2, so the first probability changes from 1/2 to 1/(1 + e²).
    assert move.moved() == pytest.approx(math.sqrt(2) * (0.5 - 1 / (1 + math.exp(2))), rel=1e-14)
    assert move.size == 1
    assert moves.Move(np.ones((3, 2)), np.zeros(2), np.ones((3, 2)), np.array([3.0, 4.0])).size == 5


@BOTH
def test_no_move_is_beyond_the_bounds_and_closer_bounds_are_violated(draw):
    assert not violated(moves.shift_within(draw)) and violated(moves.shift_within(draw, factor=0.45))
    assert not violated(moves.predictions_within(draw)) and violated(moves.predictions_within(draw, widest=1 / 220))


@BOTH
def test_rows_and_radii_at_the_ends(draw):
    for instance in ({"n": 1, "d": 1, "R": 4}, {"n": 2, "d": 1, "R": 10**6}, {"n": 50, "d": 20, "R": 10**100}):
        assert not violated(moves.predictions_within(draw), instance=instance)
        if instance["R"] > moves.LARGEST_RADIUS:
            # With norms up to 100, the change of the prediction is far below R/2 times the move.
            with pytest.raises(UndefinedError, match="A and x of norms above 100 are not drawn"):
                violated(moves.shift_within(draw), instance=instance)
        else:
            assert not violated(moves.shift_within(draw), instance=instance)


@PAIRS
def test_two_rows_need_the_factor_and_no_larger_one(pair):
    for R in (4, 10**6, 10**100):
        assert not violated(moves.needed_at_two_rows(pair), instance={"n": 7, "d": 2, "R": R})
        assert violated(moves.needed_at_two_rows(pair, factor=0.51), instance={"n": 7, "d": 2, "R": R})


def test_too_many_rows_have_no_verdict():
    with pytest.raises(UndefinedError, match="n d = 1000000: moves are drawn up to n d = 100000"):
        violated(moves.shift_within(moves.data_move), instance={"n": 10**6, "d": 1, "R": 4})
