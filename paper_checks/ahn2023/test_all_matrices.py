"""Descents over all matrices of the layers end at the least losses over multiples of the identity, or above."""

import pytest

from paper_checks.ahn2023 import all_matrices
from paper_checks.ahn2023.all_matrices import least_loss, not_below
from verify import Comparison, Measurement, Outcome

COMPARISONS = [value for value in vars(all_matrices).values() if isinstance(value, Comparison)]


@pytest.mark.parametrize("comparison", COMPARISONS[:3], ids=lambda comparison: comparison.id)
def test_no_descent_ends_below_the_least_loss(ledger, comparison):
    ledger.compare(comparison)


@pytest.mark.audit
def test_no_descent_over_all_matrices_of_three_layers_of_tokens_ends_below(ledger):
    ledger.compare(COMPARISONS[3])


def test_an_end_below_refutes_and_none_there_decides_nothing():
    ends = {"lowest": Measurement(0.5)} | {
        f"{name}_{method}": Measurement(1.0) for name in ("at_the_least", "elsewhere") for method in ("bfgs", "lbfgs")
    }
    assert not_below(0.5, ends, 2).outcome is Outcome.VERIFIED
    assert not_below(0.505, ends, 2).outcome is Outcome.REFUTED
    assert not_below(0.495, ends, 2).outcome is Outcome.INCONCLUSIVE


def test_the_least_losses_are_those_of_the_papers_sets():
    # Two layers' least loss as in `two_layer_minimum`, three layers' by orthogonal polynomials: at n = 1 by hand.
    assert least_loss("ahn2023.theorem2", 2, 1) == pytest.approx(4 / 3)
    assert least_loss("ahn2023.theorem3", 3, 1) == pytest.approx(5 / 4)
