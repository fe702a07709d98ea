"""Theorem 1 at the paper's sizes and around them, and Figure 1's readings on the one-hot layer."""

import math

import pytest

from paper_checks.wang2024.claims import cosines_from_random, recursion, trained_slope
from theorems.sparse_token_selection.inverse_loss_rate import inverse_loss_rate
from theorems.sparse_token_selection.one_hot_convergence import theorem1
from theorems.sparse_token_selection.stationary_points import stationary_points
from verify import Outcome

SPREAD = [
    {"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    {"T": 13, "q": 3, "d": 2, "eta": "1/80", "eps": "1/200"},
    {"T": 20, "q": 3, "d": 5, "eta": "1/500", "eps": "1/100"},
    {"T": 33, "q": 8, "d": 2, "eta": "1/80", "eps": "1/400"},
    {"T": 50, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    {"T": 41, "q": 10, "d": 3, "eta": "1/180", "eps": "1/500"},
]


@pytest.mark.parametrize("instance", SPREAD, ids=lambda instance: f"T={instance['T']}")
def test_reached_and_kept(ledger, instance):
    result = ledger.check(theorem1, **instance)
    steps = result.values["steps_to_epsilon"]
    assert steps.lower == steps.upper > 0


def test_reached_and_kept_at_the_papers_size(ledger):
    """T = 200, q = 3, d = 5, the largest step size and nearly the largest ε of the theorem: some four million steps."""
    result = ledger.check(theorem1, T=200, q=3, d=5, eta="1/500", eps="1/60", seconds=240)
    steps = result.values["steps_to_epsilon"]
    assert steps.lower == steps.upper


def test_the_figures_step_size_is_out_of_scope_and_works(ledger):
    result = ledger.check(theorem1, expect=Outcome.OUT_OF_SCOPE, T=200, q=3, d=5, eta=1, eps="1/1000", seconds=120)
    assert [h.label for h in result.hypotheses if not h.holds] == ["step_size"]
    assert result.claim_outcome is Outcome.VERIFIED


def test_no_finite_stationary_point(ledger):
    ledger.check(stationary_points, T=200, q=3, d=5)


def linear(theory, slope, before, after):
    """Whether the slope of 1/L over a window is 4η/(T−1) (1 − κr² + …), r falling from `before` to `after` over it.

    The terms that follow are of order r³: a share r of the second-order term is allowed for them.
    """
    limit, kappa = float(theory["inverse_loss_slope"]), float(theory["correction"])
    least, most = kappa * after**2, kappa * before**2
    detail = f"slope {slope:.6g} = {limit:.6g} (1 - {1 - slope / limit:.3g}), theory {least:.3g} to {most:.3g}"
    return least * (1 - before) <= 1 - slope / limit <= most * (1 + before), detail


@pytest.mark.parametrize("instance", [(9, 2, 1, 1.0), (9, 3, 2, 1.0)])
def test_the_layers_inverse_loss_becomes_linear(ledger, device, instance):
    theory = ledger.check(inverse_loss_rate, **dict(zip(("T", "q", "d", "eta"), instance, strict=True))).values
    seen = trained_slope(instance, steps=1000, window=100, device=device)
    holds, detail = linear(theory, seen.slope, seen.odds_before, seen.odds_after)
    ledger.compare("wang2024.figure1: the layer's inverse loss", holds, detail, device=device, evidence="computed")


@pytest.mark.parametrize("instance", [(200, 3, 5, 1.0), (20, 3, 5, 1.0), (50, 12, 2, 0.5)])
def test_the_recursions_inverse_loss_becomes_linear_at_the_papers_length(ledger, instance):
    length, subset, _, _ = instance
    theory = ledger.check(inverse_loss_rate, **dict(zip(("T", "q", "d", "eta"), instance, strict=True))).values
    points = list(recursion(instance).points(50_000))
    first, last = points[-5001], points[-1]
    before, after = ((length - subset) / subset * math.exp(-point.C) for point in (first, last))
    holds, detail = linear(theory, (1 / last.loss - 1 / first.loss) / 5000, before, after)
    ledger.compare("wang2024.figure1: the recursion's inverse loss", holds, detail, device="cpu", evidence="computed")


def test_cosines_tend_to_one_from_random_initialisation(ledger):
    """Figure 1's cosines: from zero they are constant; from small random matrices they rise to 1.

    For W only up to the all-ones direction: with the identity itself the cosine tends to √(1 − 1/T).
    """
    length = 10
    seen = cosines_from_random((length, 2, 2, 1.0), scale=0.02, batch_size=256, at_steps=(0, 100, 2000), seed=0)
    start, middle, end = seen
    ledger.compare(
        "wang2024.figure1: cosines tend to 1",
        start.W_centred < 0.5
        and 1 - middle.W_centred < 1e-2
        and 1 - end.W_centred < (1 - middle.W_centred) / 2
        and 1 - middle.V < 1e-2
        and 1 - end.V < (1 - middle.V) / 2
        and abs(end.W_identity - math.sqrt(1 - 1 / length)) < 1e-3,
        f"after 2000 steps: W {end.W_centred:.5f} (with the identity {end.W_identity:.5f}), V {end.V:.5f}",
        device="cpu",
    )
