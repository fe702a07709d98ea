"""Theorem 1: proved, and trainings of all entries of P and Q end at its matrix, or with the label in Q."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import verify
from paper_checks.ahn2023 import one_layer_preconditioner as one_layer
from paper_checks.ahn2023.label_in_q import labels_in_q
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.preconditioned_descent.one_layer import theorem1
from theorems.preconditioned_descent.one_layer_local_minimum import one_layer_local_minimum

TRAINED, EXACT = one_layer.one_layer_preconditioner, one_layer.theorem1_exact


def test_theorem_1_is_formal(ledger):
    assert ledger.check(theorem1, **theorem1.example).for_all_parameters.standing == "formal"


@pytest.mark.crossing(TRAINED.id)
@given(instance=TRAINED.instances)
def test_preconditioner_against_training(crossing, instance):
    crossing.holds(TRAINED, instance)


@pytest.mark.parametrize("label", TRAINED.planted)
def test_planted_errors_in_the_preconditioner_are_caught(crossing, label):
    crossing.catches(TRAINED, label)


ENDS_WITH_THE_LABEL_IN_Q = [
    one_layer.OneLayer(2, 1, (0.125, 0.125), 165, 0.3),
    one_layer.OneLayer(2, 1, (0.5, 1.0), 56325017, 0.1),
    one_layer.OneLayer(2, 2, (1.0, 1.0), 1958713715, 0.3),
]


@pytest.mark.parametrize("drawn", ENDS_WITH_THE_LABEL_IN_Q)
def test_planted_errors_are_caught_at_the_other_local_minima(drawn):
    verdict = TRAINED.held(TRAINED.theory, drawn, "cpu")
    assert verdict.holds
    assert "the label in Q" in verdict.detail
    assert not any(TRAINED.held(theory, drawn, "cpu").holds for theory in TRAINED.planted.values())


@pytest.mark.audit
@pytest.mark.parametrize(
    ("d", "n", "spectrum"),
    [(1, 1, (0.5,)), (1, 3, (2.0,)), (2, 1, (1.0, 0.5)), (2, 1, (1.0, 1.0)), (2, 2, (0.25, 2.0))],
)
def test_trainings_from_near_the_pattern_end_at_the_matrix(d, n, spectrum):
    # A training from near the pattern may also end with the label in Q, but most do not.
    drawn = [one_layer.OneLayer(d, n, spectrum, seed, 0.1) for seed in range(4)]
    ends = [TRAINED.held(TRAINED.theory, each, "cpu").detail for each in drawn]
    assert sum("Theorem 1's matrix" in end for end in ends) >= 3


@pytest.mark.crossing(EXACT.id)
@given(instance=EXACT.instances)
def test_preconditioner_by_exact_quadrature(crossing, instance):
    crossing.holds(EXACT, instance)


@pytest.mark.parametrize("label", EXACT.planted)
def test_planted_errors_in_the_minimum_are_caught(crossing, label):
    crossing.catches(EXACT, label)


def test_one_layer_has_the_same_minimum_by_both_theorems():
    # At Σ = I the priors agree, and so do Theorems 1 and 3 for L = 1: the step is n/(n + d + 1), and the loss
    # d(d + 1)/(n + d + 1).
    for d, n in ((1, 1), (3, 4), (5, 20)):
        first = verify.check(theorem1, n=n, eigenvalues=[1] * d).values
        third = verify.check(theorem3, L=1, d=d, n=n).values
        assert first["preconditioner"] == third["a"] * d == [Fraction(n, n + d + 1)] * d
        assert first["minimum_loss"] == third["minimum_loss"] == Fraction(d * (d + 1), n + d + 1)


def test_the_other_local_minimum_is_argued_from_steps_that_are_proved(ledger):
    result = ledger.check(one_layer_local_minimum, **one_layer_local_minimum.example)
    assert result.for_all_parameters.standing == "argued"


def label_in_Q(n, spectrum):  # noqa: N802
    """Return the P and Q at which Q reads the label, at the first eigenvalue."""
    point = np.zeros((2, len(spectrum) + 1, len(spectrum) + 1))
    point[0, -1, 0], point[1, -1, 0] = 1, -n / ((n + 1) * spectrum[0] + sum(spectrum))
    return point


def curvatures(n, spectrum, point):
    """Return the loss at a stationary point (P, Q), and the number of negative eigenvalues of the Hessian."""
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient

    d = len(spectrum)
    sigma, prior = torch.diag(torch.tensor(spectrum, dtype=torch.float64)), torch.eye(d, dtype=torch.float64)

    def found(entries):
        P, Q = torch.from_numpy(entries.reshape(2, 1, d + 1, d + 1))
        gradient = exact_gradient((P, Q), n, sigma, prior)
        return float(gradient.loss), torch.cat([gradient.P.flatten(), gradient.Q.flatten()]).numpy()

    loss, slopes = found(point.ravel())
    assert np.abs(slopes).max() < 1e-11
    moves = 1e-4 * np.eye(point.size)
    second = np.stack([(found(point.ravel() + m)[1] - found(point.ravel() - m)[1]) / 2e-4 for m in moves])
    values = np.linalg.eigvalsh((second + second.T) / 2)
    # The flat directions are rescaling, all rows of P but the last, Q's last column, and rotations of the first
    # eigenvector into others with the same eigenvalue. Central differences have errors of about 10⁻⁷.
    assert sum(abs(x) < 1e-5 for x in values) == (d + 1) ** 2 + 1 + sum(x == spectrum[0] for x in spectrum[1:])
    return loss, sum(x < -1e-3 for x in values)


CASES = [(1, (1, 0.5), 0), (2, (2, 0.25), 0), (2, (1, 0.95), 1), (1, (0.5, 1), 2), (1, (1, 1), 0), (2, (2, 2), 1)]


@pytest.mark.parametrize(("n", "spectrum", "below"), CASES)
def test_the_other_local_minimum_by_exact_quadrature(n, spectrum, below):
    largest, smaller = (Fraction(x) for x in spectrum)
    result = verify.check(one_layer_local_minimum, n=n, largest=largest, smaller=smaller)
    assert result.in_scope == (not below)
    loss, found = curvatures(n, spectrum, label_in_Q(n, spectrum))
    assert loss == pytest.approx(float(result.values["loss"]), rel=1e-12)
    assert found == below
    if not below:
        matrix = verify.check(theorem1, n=n, eigenvalues=[largest, smaller]).values["preconditioner"]
        (only,) = labels_in_q(n, spectrum, [float(a) for a in matrix])
        assert only.beta == 0
        assert only.above == pytest.approx(float(result.values["above"]), rel=1e-12)


@pytest.mark.parametrize("n", range(1, 8))
def test_at_equal_eigenvalues_only_one_example_is_few(n):
    assert verify.check(one_layer_local_minimum, n=n, largest=3, smaller=3).in_scope == (n == 1)


@pytest.mark.parametrize(("n", "spectrum"), [(2, (1, 1)), (2, (1, 0.98)), (1, (1.875, 1.25, 1.75))])
def test_past_few_examples_there_are_two_local_minima_by_exact_quadrature(n, spectrum):
    values = verify.check(theorem1, n=n, eigenvalues=[Fraction(x) for x in spectrum]).values
    (only,) = labels_in_q(n, spectrum, [float(a) for a in values["preconditioner"]])
    assert only.beta > 0
    basis = np.eye(len(spectrum))
    for e in (basis[0], -basis[0]):
        loss, below = curvatures(n, spectrum, only.matrices(basis, e))
        assert loss == pytest.approx(float(values["minimum_loss"]) + only.above, rel=1e-12)
        assert below == 0
    assert curvatures(n, spectrum, label_in_Q(n, spectrum))[1] == 1


def test_with_many_directions_alike_no_label_is_in_Q():  # noqa: N802
    assert all(labels_in_q(n, [1.0] * 3, [n / (n + 4)] * 3) == [] for n in (1, 2, 5))


@pytest.mark.parametrize("spectrum", [(1, 0.5, 0.25), (1, 0.9, 0.9), (0.5, 1, 0.25)])
def test_the_other_local_minimum_in_three_dimensions_by_exact_quadrature(spectrum):
    n, first, rest = 1, spectrum[0], spectrum[1:]
    trace, square = sum(spectrum), sum(x * x for x in spectrum)
    a = [n / ((n + 1) * x + trace) for x in spectrum]
    left = (n + 2) / n * (trace**2 + 2 * square) - (n * trace + 2 * first) ** 2 / (n * (n + 2))
    in_labels = n * sum(x * x for x in rest) > first**2 * a[0] ** 2 * left
    loss, below = curvatures(n, spectrum, label_in_Q(n, spectrum))
    assert below == in_labels + sum(x > first for x in rest)
    least = verify.check(theorem1, n=n, eigenvalues=[Fraction(x) for x in spectrum]).values["minimum_loss"]
    assert loss - float(least) == pytest.approx(sum(x**2 * y for x, y in zip(rest, a[1:], strict=True)), rel=1e-9)
