"""Theorem 1 at the paper's sizes and around them, and Figure 1's readings on the one-hot layer."""

import math
from fractions import Fraction

import pytest

from paper_checks.wang2024 import claims
from paper_checks.wang2024.layer import falls_as_bounded
from theorems.sparse_token_selection.inverse_loss_rate import inverse_loss_rate
from theorems.sparse_token_selection.one_hot_convergence import theorem1
from theorems.sparse_token_selection.one_hot_descent import one_hot_descent
from theorems.sparse_token_selection.stationary_points import stationary_points
from verify import Evidence, Outcome

SPREAD = [
    {"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    {"T": 13, "q": 3, "d": 2, "eta": "1/80", "eps": "1/200"},
    {"T": 20, "q": 3, "d": 5, "eta": "1/500", "eps": "1/60"},
    {"T": 33, "q": 8, "d": 2, "eta": "1/80", "eps": "1/310"},
    {"T": 50, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    {"T": 29, "q": 7, "d": 3, "eta": "1/180", "eps": "1/180"},
]


FAR = [
    {"T": 200, "q": 3, "d": 5, "eta": "1/500", "eps": "1e-9"},
    {"T": 33, "q": 8, "d": 2, "eta": "1/80", "eps": "1e-12"},
]


@pytest.mark.parametrize("instance", SPREAD, ids=lambda instance: f"T={instance['T']}")
def test_reached_and_kept(ledger, instance):
    result = ledger.check(theorem1, **instance)
    steps = result.values["steps_to_epsilon"]
    assert steps.lower == steps.upper > 0


@pytest.mark.parametrize("instance", FAR, ids=lambda instance: f"T={instance['T']}")
def test_reached_and_kept_after_more_steps_than_can_be_made(ledger, instance):
    result = ledger.check(theorem1, **instance)
    steps, slope = result.values["steps_to_epsilon"], result.values["inverse_loss_slope"]
    assert 10**13 < steps.lower < steps.upper < steps.lower * 1.01
    # Figure 1's reading: 1/L_t ends as a line, of this slope; what goes before it adds some steps, far fewer than 1 %.
    assert abs(1 - float(1 / (slope * Fraction(instance["eps"]) * steps.midpoint))) < 0.01


def test_reached_and_kept_at_the_papers_dimension(ledger, full):
    """q = 3, d = 5, the largest step size and nearly the largest ε of the theorem.

    A third of a million steps at T = 50, which are followed twice, by the check and by the re-check; at the
    paper's T = 200 some four million, which are enclosed.
    """
    length, accuracy = (200, "1/60") if full else (50, "1/57")
    result = ledger.check(theorem1, T=length, q=3, d=5, eta="1/500", eps=accuracy, seconds=240)
    steps = result.values["steps_to_epsilon"]
    assert steps.lower <= steps.upper <= steps.lower * (1.01 if full else 1)


def test_the_figures_step_size_is_out_of_scope_and_works(ledger):
    result = ledger.check(theorem1, expect=Outcome.OUT_OF_SCOPE, T=200, q=3, d=5, eta=1, eps="1/1000", seconds=120)
    assert [h.label for h in result.hypotheses if not h.holds] == ["step_size"]
    assert result.claim_outcome is Outcome.VERIFIED


@pytest.mark.parametrize("instance", [FAR[1], {"T": 200, "q": 3, "d": 5, "eta": 1, "eps": "1e-9"}], ids=str)
def test_its_inequalities_are_proved_at_any_size_and_at_the_figures_step(ledger, instance):
    result = ledger.check(one_hot_descent, **instance)
    assert result.evidence is Evidence.PROVED


def test_what_rises_or_falls_more_slowly_than_it_is_to_is_refuted():
    instance = (9, 2, 1, 1.0)
    growth = claims.growth_of(instance)
    assert falls_as_bounded(instance, growth, 30).outcome is Outcome.VERIFIED
    # The bound is a rough one: 18 times as much is what this run has.
    assert falls_as_bounded(instance, 20 * growth, 30).outcome is Outcome.REFUTED
    assert falls_as_bounded((9, 2, 1, 12.0), growth, 30).outcome is Outcome.REFUTED


def test_no_finite_stationary_point(ledger):
    ledger.check(stationary_points, T=200, q=3, d=5)


@pytest.mark.parametrize("instance", [*claims.LAYER_SLOPES, *claims.RECURSION_SLOPES])
def test_the_inverse_loss_becomes_linear(ledger, instance):
    ledger.check(inverse_loss_rate, **dict(zip(("T", "q", "d", "eta"), instance, strict=True)))


@pytest.mark.parametrize(
    "comparison",
    [
        claims.theorem1_steps,
        claims.loss_falls,
        claims.inverse_loss_of_the_layer,
        claims.inverse_loss_of_the_recursion,
        claims.cosines_from_zero,
        claims.cosines_from_random,
    ],
    ids=lambda comparison: comparison.id,
)
def test_against_training(ledger, comparison):
    ledger.compare(comparison)


@pytest.mark.parametrize(
    ("slope", "odds", "outcome"),
    [
        # 4η/(T−1) = 1/2 and κ = 19/28 at T = 9, q = 2, d = 1, η = 1: κr² = 0.0068 at r = 0.1.
        (0.5 * (1 - 0.0068), (0.11, 0.09), Outcome.VERIFIED),
        (0.5, (0.11, 0.09), Outcome.REFUTED),
        (0.5 * (1 + 0.0068), (0.11, 0.09), Outcome.REFUTED),
        (0.25 * (1 - 0.0068), (0.11, 0.09), Outcome.REFUTED),
        (math.nan, (0.11, 0.09), Outcome.REFUTED),
        (0.5 * (1 - 0.0068), (1.5, 0.09), Outcome.INCONCLUSIVE),
    ],
)
def test_a_wrong_slope_is_refuted(slope, odds, outcome):
    assert claims.linear((9, 2, 1, 1.0), slope, *odds).outcome is outcome
