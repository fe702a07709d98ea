"""Theorem 1: proved, and trainings of all entries of P and Q end at its matrix."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import verify
from paper_checks.ahn2023 import one_layer_preconditioner as one_layer
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.preconditioned_descent.one_layer import theorem1
from theorems.preconditioned_descent.one_layer_local_minimum import one_layer_local_minimum

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


def test_the_other_local_minimum_is_argued_from_steps_that_are_proved(ledger):
    result = ledger.check(one_layer_local_minimum, **one_layer_local_minimum.example)
    assert result.for_all.standing == "argued"


def curvatures_with_the_label_in_Q(n, spectrum):  # noqa: N802
    """The loss where the label is read by Q at the first eigenvalue, and the eigenvalues of the second derivatives."""
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient

    d = len(spectrum)
    sigma, prior = torch.diag(torch.tensor(spectrum, dtype=torch.float64)), torch.eye(d, dtype=torch.float64)

    def found(entries):
        P, Q = torch.from_numpy(entries.reshape(2, 1, d + 1, d + 1))
        gradient = exact_gradient((P, Q), n, sigma, prior)
        return float(gradient.loss), torch.cat([gradient.P.flatten(), gradient.Q.flatten()]).numpy()

    point = np.zeros((2, d + 1, d + 1))
    point[0, d, 0], point[1, d, 0] = 1, -n / ((n + 1) * spectrum[0] + sum(spectrum))
    loss, slopes = found(point.ravel())
    assert np.abs(slopes).max() < 1e-11
    moves = 1e-4 * np.eye(point.size)
    second = np.stack([(found(point.ravel() + m)[1] - found(point.ravel() - m)[1]) / 2e-4 for m in moves])
    curvatures = np.linalg.eigvalsh((second + second.T) / 2)
    # Rescaling, the rows of P but the last, and Q's last column; central differences are off by 10⁻⁷ or so.
    assert sum(abs(x) < 1e-5 for x in curvatures) == (d + 1) ** 2 + 1
    return loss, sum(x < -1e-3 for x in curvatures)


CASES = [(1, (1, 0.5), 0), (2, (2, 0.25), 0), (2, (1, 0.95), 1), (1, (0.5, 1), 2)]


@pytest.mark.parametrize(("n", "spectrum", "below"), CASES)
def test_the_other_local_minimum_by_exact_quadrature(n, spectrum, below):
    largest, smaller = (Fraction(x) for x in spectrum)
    result = verify.check(one_layer_local_minimum, n=n, largest=largest, smaller=smaller)
    assert result.in_scope == (not below)
    loss, found = curvatures_with_the_label_in_Q(n, spectrum)
    assert loss == pytest.approx(float(result.values["loss"]), rel=1e-12)
    assert found == below


@pytest.mark.parametrize("spectrum", [(1, 0.5, 0.25), (1, 0.9, 0.9), (0.5, 1, 0.25)])
def test_the_other_local_minimum_in_three_dimensions_by_exact_quadrature(spectrum):
    n, first, rest = 1, spectrum[0], spectrum[1:]
    trace, square = sum(spectrum), sum(x * x for x in spectrum)
    a = [n / ((n + 1) * x + trace) for x in spectrum]
    left = (n + 2) / n * (trace**2 + 2 * square) - (n * trace + 2 * first) ** 2 / (n * (n + 2))
    in_labels = n * sum(x * x for x in rest) > first**2 * a[0] ** 2 * left
    loss, below = curvatures_with_the_label_in_Q(n, spectrum)
    assert below == in_labels + sum(x > first for x in rest)
    least = verify.check(theorem1, n=n, eigenvalues=[Fraction(x) for x in spectrum]).values["minimum_loss"]
    assert loss - float(least) == pytest.approx(sum(x**2 * y for x, y in zip(rest, a[1:], strict=True)), rel=1e-9)
