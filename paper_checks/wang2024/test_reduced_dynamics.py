"""Lemma 1 and Theorem 1: two numbers describe population gradient descent of the full layer, proved and as trained."""

import math
from fractions import Fraction

import pytest
from hypothesis import given

import verify
from paper_checks.wang2024 import reduced_dynamics
from paper_checks.wang2024.recursion import point_with, recursion
from theorems.sparse_token_selection.inverse_loss_rate import inverse_loss_rate
from theorems.sparse_token_selection.one_hot_convergence import theorem1
from theorems.sparse_token_selection.one_hot_descent import one_hot_descent
from theorems.sparse_token_selection.one_hot_larger_steps import one_hot_larger_steps
from theorems.sparse_token_selection.one_hot_steps import one_hot_steps
from theorems.sparse_token_selection.reduced_dynamics import lemma1
from theorems.sparse_token_selection.stationary_points import stationary_points
from verify import Evidence, Measurement, Outcome

DYNAMICS = reduced_dynamics.reduced_dynamics
EXACT = reduced_dynamics.exact_gradient_of_the_layer
SAMPLED = reduced_dynamics.sampled_gradient_of_the_layer
FALLS = reduced_dynamics.loss_falls
COMPARISONS = [
    reduced_dynamics.lemma1_gradient_at_length,
    reduced_dynamics.theorem1_steps,
    reduced_dynamics.steps_between_the_bounds,
    reduced_dynamics.inverse_loss_of_the_layer,
    reduced_dynamics.inverse_loss_of_the_recursion,
]


def test_proved_for_all_parameters(ledger):
    ledger.check(lemma1, **lemma1.example)


@pytest.mark.crossing(DYNAMICS.id)
@given(instance=DYNAMICS.instances)
def test_reduced_dynamics_against_training(crossing, instance):
    crossing.holds(DYNAMICS, instance)


@pytest.mark.parametrize("label", DYNAMICS.planted)
def test_planted_errors_in_the_reduced_dynamics_are_caught(crossing, label):
    crossing.catches(DYNAMICS, label)


@pytest.mark.crossing(EXACT.id)
@given(instance=EXACT.instances)
def test_population_gradient_by_exact_cubature(crossing, instance):
    crossing.holds(EXACT, instance)


@pytest.mark.parametrize("label", EXACT.planted)
def test_planted_errors_in_the_population_gradient_are_caught(crossing, label):
    crossing.catches(EXACT, label)


@pytest.mark.crossing(SAMPLED.id)
@given(instance=SAMPLED.instances)
def test_gradient_on_fresh_batches(crossing, instance):
    crossing.holds(SAMPLED, instance)


@pytest.mark.parametrize("label", SAMPLED.planted)
def test_planted_errors_in_the_gradient_on_fresh_batches_are_caught(crossing, label):
    crossing.catches(SAMPLED, label)


@pytest.mark.crossing(FALLS.id)
@given(instance=FALLS.instances)
def test_loss_falls_along_training(crossing, instance):
    crossing.holds(FALLS, instance)


@given(instance=reduced_dynamics.FAR_TOO_LARGE)
def test_loss_rises_at_far_larger_step_sizes(crossing, instance):
    crossing.fails(FALLS, instance)


@pytest.mark.parametrize("label", FALLS.planted)
def test_planted_errors_in_the_fall_of_the_loss_are_caught(crossing, label):
    crossing.catches(FALLS, label)


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_simulation(ledger, comparison):
    ledger.compare(comparison)


def test_a_simulation_that_is_not_finite_never_agrees():
    from paper_checks.wang2024.layer import (
        batch_gradients,
        exact_gradient,
        exact_gradient_agrees,
        sampled_gradient_agrees,
    )

    instance = (9, 2, 2, 1 / 80)
    right = recursion(instance)
    point = point_with(right, 1.0)
    exact, sampled = exact_gradient(instance, point), batch_gradients(instance, point, seed=1, batch_size=50)
    for agrees, found in ((exact_gradient_agrees, exact), (sampled_gradient_agrees, sampled)):
        assert agrees(right, point, found).holds
        for name in ("loss", "W", "V"):
            spoiled = getattr(found, name).clone()
            spoiled.view(-1)[-1] = float("nan")
            assert not agrees(right, point, found._replace(**{name: spoiled})).holds


SPREAD = [
    {"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    {"T": 13, "q": 3, "d": 2, "eta": "1/80", "eps": "1/200"},
    {"T": 50, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    {"T": 29, "q": 7, "d": 1, "eta": "1/20", "eps": "1/540"},
]
LONG = [
    {"T": 20, "q": 3, "d": 5, "eta": "1/500", "eps": "1/60"},
    {"T": 33, "q": 8, "d": 2, "eta": "1/80", "eps": "1/310"},
    {"T": 29, "q": 7, "d": 3, "eta": "1/180", "eps": "1/180"},
]
"""Instances whose runs have up to 260 442 steps, each followed twice."""


FAR = [
    {"T": 200, "q": 3, "d": 5, "eta": "1/500", "eps": "1e-9"},
    {"T": 33, "q": 8, "d": 2, "eta": "1/80", "eps": "1e-12"},
]


def _by_length(instances, marks=()):
    return [pytest.param(instance, id=f"T={instance['T']} d={instance['d']}", marks=marks) for instance in instances]


@pytest.mark.parametrize("instance", [*_by_length(SPREAD), *_by_length(LONG, pytest.mark.audit)])
def test_reached_and_kept(ledger, instance):
    result = ledger.check(theorem1, **instance)
    steps = result.values["steps_to_epsilon"]
    assert steps.lower == steps.upper > 0


@pytest.mark.parametrize("instance", _by_length(FAR))
def test_reached_and_kept_after_more_steps_than_can_be_made(ledger, instance):
    result = ledger.check(theorem1, **instance)
    steps, slope = result.values["steps_to_epsilon"], result.values["inverse_loss_slope"]
    assert 10**13 < steps.lower < steps.upper < steps.lower * 1.01
    # As in Figure 1, 1/L_t ends as a line of this slope; the steps before the line add far less than 1 %.
    assert abs(1 - float(1 / (slope * Fraction(instance["eps"]) * steps.midpoint))) < 0.01


@pytest.mark.audit
def test_reached_and_kept_at_the_papers_dimension(ledger, full):
    """Check the theorem at q = 3, d = 5, its largest step size and nearly its largest ε.

    At T = 50 a third of a million steps are followed twice, by the check and by the re-check. At the paper's T = 200
    some four million steps are enclosed.
    """
    length, accuracy = (200, "1/60") if full else (50, "1/57")
    result = ledger.check(theorem1, T=length, q=3, d=5, eta="1/500", eps=accuracy, seconds=240)
    steps = result.values["steps_to_epsilon"]
    assert steps.lower <= steps.upper <= steps.lower * (1.01 if full else 1)


def test_the_figures_step_size_is_out_of_scope_and_works(ledger):
    result = ledger.check(theorem1, expect=Outcome.OUT_OF_SCOPE, T=200, q=3, d=5, eta=1, eps="1/1000", seconds=120)
    assert [h.label for h in result.hypotheses if not h.holds] == ["step_size"]
    assert result.claim_outcome is Outcome.VERIFIED


@pytest.mark.parametrize("eta", ["1/20", 1])
def test_the_steps_at_most_are_argued_and_certified_at_any_size_and_at_the_figures_step(ledger, eta):
    result = ledger.check(one_hot_descent, T=200, q=3, d=5, eta=eta, eps="1e-9")
    assert result.evidence is Evidence.CERTIFIED and result.for_all_parameters.standing == "argued"


def test_larger_step_sizes_are_formal_and_certified(ledger):
    result = ledger.check(one_hot_larger_steps, T=200, q=3, d=5, eta=3, eps="1/1000")
    assert result.evidence is Evidence.CERTIFIED and result.for_all_parameters.standing == "formal"


@pytest.mark.parametrize(("T", "q", "d"), [(4, 3, 2), (9, 2, 1), (9, 2, 8), (13, 1, 3)])
def test_the_full_layers_loss_falls_up_to_the_larger_limit(T, q, d):
    from paper_checks.wang2024.layer import falls_as_bounded

    result = verify.check(one_hot_larger_steps, T=T, q=q, d=d, eta=1, eps=1)
    below = 0.99 * float(result.values["largest_step_size"])
    assert falls_as_bounded((T, q, d, below), lambda _: 0.0, 60).holds
    # Far beyond 2q the loss does not always fall.
    assert falls_as_bounded((T, q, d, 8.0 * q), lambda _: 0.0, 60).outcome is Outcome.REFUTED


def test_the_steps_are_argued_from_both_sides(ledger):
    result = ledger.check(one_hot_steps, T=20, q=3, d=2, eta=1, eps="1/1000")
    assert result.evidence is Evidence.CERTIFIED and result.for_all_parameters.standing == "argued"
    steps, least = result.values["steps_to_epsilon"], result.values["steps_at_least"]
    assert 3 / 4 < float(least.midpoint) / steps.lower < 1


def test_no_finite_stationary_point(ledger):
    ledger.check(stationary_points, T=200, q=3, d=5)


@pytest.mark.parametrize("instance", [*reduced_dynamics.LAYER_SLOPES, *reduced_dynamics.RECURSION_SLOPES])
def test_the_inverse_loss_becomes_linear(ledger, instance):
    ledger.check(inverse_loss_rate, **dict(zip(("T", "q", "d", "eta"), instance, strict=True)))


def gradient_at_length(**changed):
    """Return loss and gradient at α = 1, C = 4, T = 200, q = 3, d = 5, from the softmax, with relative errors 10⁻³."""
    s = 1 / (3 + 197 * math.exp(-4))
    o = s * math.exp(-4)
    found = {
        "loss": 5 / 2 * (3 * (s - 1 / 3) ** 2 + 197 * o**2),
        # dL/dC / (T − 1), with ds/dC = s (1 − qs) and do/dC = −qso; dL/dα / d.
        "gradient_W": 5 * (3 * (s - 1 / 3) * s * (1 - 3 * s) - 197 * o * 3 * s * o) / 199,
        "gradient_V": 3 * (s - 1 / 3) * s + 197 * o * o,
    } | changed
    return {k: v if isinstance(v, Measurement) else Measurement(v, abs(v) / 1000, 64) for k, v in found.items()}


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, Outcome.VERIFIED),
        ({"loss": 1.0}, Outcome.REFUTED),
        ({"gradient_W": Measurement(0.0, 1e-6, 64)}, Outcome.REFUTED),
        ({"gradient_V": Measurement(0.0, 1.0, 64)}, Outcome.INCONCLUSIVE),
    ],
)
def test_the_gradient_at_the_papers_length(measured, changed, outcome):
    measured(reduced_dynamics, gradient_at_length(**changed))
    assert reduced_dynamics.lemma1_gradient_at_length.run(device="cpu").outcome is outcome


@pytest.mark.parametrize(
    ("late", "largest", "outcome"),
    [
        (0, {1: 1 / 250, 2: 1 / 250}, Outcome.VERIFIED),
        (1, {1: 1 / 250, 2: 1 / 250}, Outcome.REFUTED),
        (0, {1: 1 / 100, 2: 1 / 250}, Outcome.REFUTED),
        (0, {1: 1 / 250, 2: 1 / 100}, Outcome.REFUTED),
        (None, {1: 0, 2: 0}, Outcome.REFUTED),
    ],
)
def test_the_steps_to_a_level(measured, late, largest, outcome):
    def steps(settings):
        instance = {name: settings[name] for name in ("T", "q", "d", "eta")}
        right = verify.check(reduced_dynamics.theorem1, **instance, eps="1/200").values["steps_to_epsilon"].lower
        return (
            {} if late is None else {"steps_to_epsilon": right + late, "largest_loss_after": largest[settings["eta"]]}
        )

    measured(reduced_dynamics, steps)
    assert reduced_dynamics.theorem1_steps.run(device="cpu").outcome is outcome


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
    assert reduced_dynamics.linear((9, 2, 1, 1.0), slope, *odds).outcome is outcome


# Lower bounds, by hand: (Y − (2A + 3κ/2)√Y − T/(T−q))/κ with Y = d/(2qε), A = dT/(q(T−1)), κ = 2ηd/(q(T−1)).
@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ({5: 315, 4: 175}, Outcome.VERIFIED),
        ({5: 314, 4: 175}, Outcome.REFUTED),
        ({5: 315, 4: 173}, Outcome.REFUTED),
        ({5: 846, 4: 1710}, Outcome.VERIFIED),
        ({5: 847, 4: 175}, Outcome.REFUTED),
        ({5: 315}, Outcome.REFUTED),
    ],
)
def test_steps_outside_the_bounds_are_refuted(measured, steps, outcome):
    measured(
        reduced_dynamics, lambda settings: {"steps_to_epsilon": steps[settings["T"]]} if settings["T"] in steps else {}
    )
    assert reduced_dynamics.steps_between_the_bounds.run(device="cpu").outcome is outcome
