"""Theorem 1: proved, and trainings of all entries of P and Q end at its matrix."""

from fractions import Fraction

import pytest
from hypothesis import given

import verify
from paper_checks.ahn2023 import one_layer_preconditioner as one_layer
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.preconditioned_descent.one_layer import theorem1

TRAINED, EXACT = one_layer.one_layer_preconditioner, one_layer.theorem1_exact


def test_theorem_1_is_argued_from_steps_that_are_proved(ledger):
    assert ledger.check(theorem1, **theorem1.example).for_all.standing == "argued"


@pytest.mark.crossing(TRAINED.id)
@given(instance=TRAINED.instances)
def test_preconditioner_against_training(crossing, instance):
    crossing.holds(TRAINED, instance)


@pytest.mark.parametrize("label", TRAINED.planted)
def test_planted_errors_in_the_preconditioner_are_caught(crossing, label):
    crossing.catches(TRAINED, label)


@pytest.mark.crossing(EXACT.id)
@given(instance=EXACT.instances)
def test_preconditioner_by_exact_quadrature(crossing, instance):
    crossing.holds(EXACT, instance)


@pytest.mark.parametrize("label", EXACT.planted)
def test_planted_errors_in_the_minimum_are_caught(crossing, label):
    crossing.catches(EXACT, label)


def test_one_layer_has_the_same_minimum_by_both_theorems():
    # At Σ = I the priors agree, and so do Theorems 1 and 3 for L = 1: n/(n + d + 1), the loss d(d + 1)/(n + d + 1).
    for d, n in ((1, 1), (3, 4), (5, 20)):
        first = verify.check(theorem1, n=n, eigenvalues=[1] * d).values
        third = verify.check(theorem3, L=1, d=d, n=n).values
        assert first["preconditioner"] == third["a"] * d == [Fraction(n, n + d + 1)] * d
        assert first["minimum_loss"] == third["minimum_loss"] == Fraction(d * (d + 1), n + d + 1)
