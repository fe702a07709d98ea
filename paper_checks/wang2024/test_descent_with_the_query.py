"""Descent attending to [Z, z_query], compared with trainings of the full matrices over all signs."""

from fractions import Fraction
from itertools import pairwise

import pytest

from paper_checks.wang2024.stochastic_encoding import Exactly, trained
from verify import load_theorem

THEOREM = load_theorem("wang2024.descent_with_the_query")
STEPS = 40
ROUNDING = 1e-13
"""Bound on the rounding of sums of numbers of size at most 1."""


def step_size(T, q, d, d_e):
    """Return the largest step that the hypotheses allow."""
    return float(min(Fraction(1), Fraction(d_e, 12 * d * q * (1 + q) ** 2)))


def violations(drawn):
    """Return the claims that the training of all entries of W and V violates."""
    run, found = trained(drawn, STEPS, "cpu"), set()
    total = 0.0
    for (W, V, loss), (next_W, next_V, next_loss) in pairwise(run):
        moved = float((next_W - W).square().sum() + (next_V - V).square().sum())
        # |grad L|^2 is |step|^2/eta^2.
        total += moved / drawn.eta**2
        if loss - next_loss < moved / (8 * drawn.eta) - ROUNDING:
            found.add("falls")
        alpha, C = next_V.diagonal().mean(), next_W[drawn.d :, drawn.d :].diagonal().mean()
        if min(float(alpha), float(C)) < -ROUNDING:
            found.add("nonnegative")
    if total > 4 * drawn.d / (drawn.q * drawn.eta) + ROUNDING:
        found.add("vanishes")
    return found


@pytest.mark.parametrize("instance", [{}, {"T": 40, "q": 2, "d": 1, "d_e": 216, "eta": 1}])
def test_the_theorem(ledger, instance):
    ledger.check(THEOREM, **{**THEOREM.example, **instance})


@pytest.mark.parametrize("sizes", [(3, 2, 1, 3), (4, 2, 1, 2), (4, 2, 2, 2), (3, 2, 2, 2)])
def test_the_training_keeps_what_is_claimed(sizes):
    T, q, d, d_e = sizes
    largest = step_size(*sizes)
    assert violations(Exactly(T, q, d, d_e, "tokens_and_query", largest)) == set()
    # The first step alone, from the definitions and in closed form.
    (_, _, start), (_, _, first) = trained(Exactly(T, q, d, d_e, "tokens_and_query", largest), STEPS, "cpu")[:2]
    fall = d * largest / (2 * (T + 1) ** 2) * (2 - largest * T / (T + 1) ** 2)
    assert start - first == pytest.approx(fall, abs=ROUNDING)


def test_instances_out_of_scope_violate_the_theorem():
    # Three of four selected: 2q > T + 1, and C falls from the start.
    assert violations(Exactly(4, 3, 1, 2, "tokens_and_query", step_size(4, 3, 1, 2))) == {"nonnegative"}
    # A step size far above the largest that the hypotheses allow.
    assert "falls" in violations(Exactly(3, 2, 1, 3, "tokens_and_query", 40.0))
