"""Points of the numerical search: simple points in their boxes come first; coordinates map back to the points."""

from fractions import Fraction

import numpy as np
import pytest

from verify.evaluation.admissible_ranges import Range
from verify.evaluation.numerical.points import (
    Box,
    all_values,
    coordinates_of,
    cost,
    drawn,
    lattice,
    simplest_near,
    values_at,
)

ANY = Range(None, None)
POSITIVE = Range(Fraction(0), None, low_open=True)
UNIT = Range(Fraction(0), Fraction(1))
BELOW = Range(None, Fraction(-2))
SHIFTED = Range(Fraction(7, 3), None)
BOXES = [Box(each, integer=False) for each in (ANY, POSITIVE, UNIT, BELOW, SHIFTED)]
WHOLE = [Box(each, integer=True) for each in (ANY, Range(Fraction(1), None), Range(Fraction(0), Fraction(9)))]


@pytest.mark.parametrize("box", [*BOXES, *WHOLE])
def test_simple_values_are_inside_and_different(box):
    few, many = box.simple(8), box.simple(60)
    assert 1 < len(few) <= 8 and len(few) < len(many) <= 60 and len(set(many)) == len(many)
    assert all(value in box.range and (not box.integer or value.denominator == 1) for value in many)


def test_the_simplest_are_among_few():
    assert {Fraction(1), Fraction(2), Fraction(1, 2)} <= set(Box(POSITIVE, integer=False).simple(12))
    assert {Fraction(0), Fraction(1), Fraction(-1)} <= set(Box(ANY, integer=False).simple(12))
    assert Fraction(7, 3) in Box(SHIFTED, integer=False).simple(12)
    # Some of the values are very large or very small.
    positive = Box(POSITIVE, integer=False).simple(24)
    assert max(positive) >= 1000 and min(positive) <= Fraction(1, 1000)


@pytest.mark.parametrize("box", [*BOXES, *WHOLE])
def test_coordinates_lead_back(box):
    values = np.array([[float(value)] for value in box.simple(40)])
    back = values_at([box], coordinates_of([box], values))
    # At the ends of a box and at 0, the value that is mapped back is only approximately equal.
    assert back == pytest.approx(values, rel=1e-9, abs=1e-5)


def test_draws_are_inside_and_of_all_magnitudes():
    boxes = [*BOXES, *WHOLE]
    points = values_at(boxes, drawn(boxes, 5000, np.random.default_rng(0)))
    for i, box in enumerate(boxes):
        assert all(Fraction(value) in box.range for value in points[:, i]) and len(set(points[:, i])) > 9
        assert not box.integer or (points[:, i] == np.round(points[:, i])).all()
    assert points[:, 1].min() < 1e-5 and points[:, 1].max() > 1e4 and np.median(points[:, 1]) < 10
    assert np.array_equal(points, values_at(boxes, drawn(boxes, 5000, np.random.default_rng(0))))


def test_a_lattice_has_all_combinations_the_simplest_first():
    boxes = [BOXES[1], WHOLE[2]]
    for indices, values in lattice(boxes, 1000):
        assert len(indices) == len(values[0]) * len(values[1]) == len({tuple(each) for each in indices}) <= 1000
        sums = [cost(values[0][i])[0] + cost(values[1][j])[0] for i, j in indices]
        assert sums == sorted(sums)
    # An empty range has no points.
    assert not list(lattice([Box(Range(Fraction(2), Fraction(1)), integer=True)], 1000))


def test_the_simplest_number_near_one():
    assert simplest_near(0.3333, 1e-2) == Fraction(1, 3) and simplest_near(-2.71, 0.5) == -2
    assert abs(simplest_near(0.1234567, 1e-6) - Fraction(0.1234567)) <= Fraction(1, 10**7)


def test_of_few_integers_a_lattice_has_all_points_once():
    boxes = [Box(Range(Fraction(-2), Fraction(3)), integer=True), Box(Range(Fraction(0), Fraction(1)), integer=True)]
    ((indices, values),) = lattice(boxes, 12)
    points = {tuple(int(of[i]) for of, i in zip(values, each, strict=True)) for each in indices}
    assert points == {(a, b) for a in range(-2, 4) for b in range(2)} and len(indices) == 12
    assert (
        all_values(boxes, 11) is None and all_values([*boxes, Box(Range(Fraction(0), None), integer=True)], 99) is None
    )
