"""Tests of the helpers that comparisons share: descents followed to their end, and modules loaded when used."""

import sys
from fractions import Fraction

import numpy as np
import pytest

from paper_checks.descents import OnPrompts, Settled, followed, settled
from paper_checks.expected import between, certified, evidence
from paper_checks.lazily import lazily
from paper_checks.margins import with_more_samples
from verify import Enclosure, Evidence, Outcome, Verdict

CURVATURE, LEAST = np.diag([1.0, 4.0, 100.0]), np.array([1.0, -2.0, 0.5])


def bowl(point):
    return 1 + (point - LEAST) @ CURVATURE @ (point - LEAST) / 2, CURVATURE @ (point - LEAST)


def test_a_descent_ends_at_the_minimum_within_what_it_says():
    end = settled(bowl, np.zeros(3))
    assert end.loss == pytest.approx(1) and np.allclose(end.hessian, CURVATURE, atol=1e-8)
    assert np.linalg.norm(end.point - LEAST) <= end.off(1e-15) < 1e-6


def test_a_descent_that_is_cut_is_not_near_its_end():
    end = settled(bowl, np.zeros(3), steps=1, passes=1)
    assert end.off(0.0) == 1e-3 < np.linalg.norm(end.point - LEAST)


def test_a_descent_that_is_followed_goes_on_to_its_end():
    steep = np.diag([1e-4, 1.0, 1e6])

    def narrow(point):
        return 1 + (point - LEAST) @ steep @ (point - LEAST) / 2, steep @ (point - LEAST)

    cut = settled(narrow, np.zeros(3), steps=1, passes=1)
    end = followed(narrow, cut, steps=2)
    assert np.abs(cut.point - LEAST).max() > 0.1 and np.abs(end.point - LEAST).max() < 1e-3


def test_a_valley_is_followed_to_ever_larger_weights():
    # (x²y − 1)² + 1/(1 + x²) falls along y = 1/x² as x grows, between ever steeper walls.
    def valley(point):
        x, y = point
        wall, top = x**2 * y - 1, 1 + x**2
        return wall**2 + 1 / top, np.array([4 * wall * x * y - 2 * x / top**2, 2 * wall * x**2])

    cut = settled(valley, np.array([3.0, 0.1]), steps=20, passes=1)
    assert followed(valley, cut, steps=20).point[0] > 4 * cut.point[0] > 0


def test_nothing_is_near_a_saddle():
    saddle = settled(lambda p: (p[0] ** 2 - p[1] ** 2, np.array([2 * p[0], -2 * p[1]])), np.zeros(2))
    assert saddle.off(1.0) == 0


def test_directions_of_a_symmetry_do_not_count():
    # (xy − 1)²/2 is constant along xy = 1.
    end = settled(lambda p: ((p[0] * p[1] - 1) ** 2 / 2, (p[0] * p[1] - 1) * p[::-1]), np.array([2.0, 0.3]))
    assert end.off(1e-12) < 1e-6 and abs(end.point[0] * end.point[1] - 1) < 1e-6


def test_a_module_is_loaded_when_it_is_used(monkeypatch):
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    module = lazily("wave")
    assert module.__test__ is False and "wave" not in sys.modules
    assert module.Error.__module__ == "wave" and "wave" in sys.modules


def test_a_module_that_is_not_there():
    with pytest.raises(ModuleNotFoundError, match="no module no_such_module"):
        lazily("no_such_module")


def test_abbreviations_of_expected_results():
    assert between("0.1", 2) == Enclosure(Fraction(1, 10), Fraction(2))
    assert certified("stays", holds=False) == {"clauses.stays.holds": False, "clauses.stays.evidence": "certified"}
    trusting = certified("floor", holds=True, trusting="attention/1")
    assert trusting["clauses.floor.evidence"] == "certified, trusting lemmascope.attention/1" == evidence("attention/1")


SPREAD = 1e-3 * np.random.default_rng(1).normal(size=(64, 2))
"""Slopes of 64 parts of a sample."""


@pytest.mark.parametrize(
    ("point", "slope", "curvatures", "outcome"),
    [
        ((1.0, 0.0), (0.0, 0.0), (1.0, 1.0), Outcome.VERIFIED),
        ((1.01, 0.0), (0.0, 0.0), (1.0, 1.0), Outcome.REFUTED),
        ((1.0, 0.01), (0.0, 0.0), (1.0, 1.0), Outcome.REFUTED),
        # In the last three cases the descent has not ended, chance hides the second entry, and the end is a saddle.
        ((1.0, 0.0), (1.0, 1.0), (1.0, 1.0), Outcome.INCONCLUSIVE),
        ((1.0, 40.0), (0.0, 0.0), (1.0, 1e-9), Outcome.INCONCLUSIVE),
        ((1.0, 0.0), (0.0, 0.0), (1.0, -1.0), Outcome.REFUTED),
    ],
)
def test_an_end_on_prompts_is_held_against_theory_where_chance_lets_it_be_told(point, slope, curvatures, outcome):
    end = Settled(np.array(point), 1.0, np.array(slope), np.diag(curvatures))
    found = OnPrompts(end, SPREAD).agrees(np.array([1.0, 0.0]), np.array([[1.0, 0.0]]), share=0.1)
    assert found.outcome is outcome, found.detail


@pytest.mark.parametrize(("decided_at", "drawn"), [(1, [1]), (4, [1, 4]), (16, [1, 4, 16]), (100, [1, 4, 16])])
def test_more_is_sampled_where_fewer_samples_leave_it_open(decided_at, drawn):
    asked = []

    def decide(more):
        asked.append(more)
        return Verdict(Outcome.VERIFIED if more >= decided_at else Outcome.INCONCLUSIVE, Evidence.SIMULATED, "")

    assert with_more_samples(decide).holds is (decided_at <= 16) and asked == drawn
