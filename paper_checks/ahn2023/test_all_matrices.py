"""Descents over all matrices of the layers end at the least losses over multiples of the identity, or above."""

import pytest

import verify
from paper_checks.ahn2023 import all_matrices
from paper_checks.ahn2023.all_matrices import least_loss, not_below
from verify import Measurement, Outcome, load_theorem
from verify.outcomes import as_float

COMPARISONS = [
    all_matrices.two_layers_over_all_matrices,
    all_matrices.three_layers_over_all_matrices,
    all_matrices.two_layers_of_tokens_over_all_matrices,
    pytest.param(all_matrices.three_layers_of_tokens_over_all_matrices, marks=pytest.mark.audit),
]


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_no_descent_ends_below_the_least_loss(ledger, comparison):
    ledger.compare(comparison)


def test_an_end_below_refutes_and_none_there_decides_nothing():
    ends = {"lowest": Measurement(0.5)} | {
        f"{name}_{method}": Measurement(1.0) for name in ("at_the_least", "elsewhere") for method in ("bfgs", "lbfgs")
    }
    assert not_below(0.5, ends, 2, alone=False).outcome is Outcome.VERIFIED
    assert not_below(0.505, ends, 2, alone=False).outcome is Outcome.REFUTED
    assert not_below(0.495, ends, 2, alone=False).outcome is Outcome.INCONCLUSIVE
    # If all ends are claimed to be at the least loss, one end elsewhere refutes the claim.
    assert not_below(0.5, ends, 2, alone=True).outcome is Outcome.REFUTED


def test_the_least_losses_are_those_of_the_papers_sets():
    # By hand at n = 1: two layers by the formula of `two_layer_minimum`, three by orthogonal polynomials.
    assert least_loss("ahn2023.theorem2", 2, 1) == pytest.approx(4 / 3)
    assert least_loss("ahn2023.theorem3", 3, 1) == pytest.approx(5 / 4)
    # For Theorem 4 with two layers, `two_layers_of_tokens` finds all critical points.
    two_layers = verify.check(load_theorem("ahn2023.two_layers_of_tokens"), d=2, n=20).values
    least = min(as_float(point["loss"]) for point in two_layers["critical_points"])
    assert least_loss("ahn2023.theorem4", 2, 20) == pytest.approx(least)
