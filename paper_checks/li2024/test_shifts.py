"""The bounds on the shifts are certified, and compared with softmax regression simulated from the definitions."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given

import verify
from paper_checks.li2024 import shifts
from theorems.softmax_regression.data_shift import data_shift
from theorems.softmax_regression.gradient import gradient
from theorems.softmax_regression.opposite_moves import opposite_moves
from theorems.softmax_regression.weight_shift import weight_shift
from verify import Outcome
from verify.outcomes import as_float

COMPARISONS = [
    shifts.gradient_by_autograd,
    shifts.opposite_moves_by_the_definitions,
]


@pytest.mark.parametrize("theorem", [weight_shift, data_shift], ids=lambda theorem: theorem.id)
@pytest.mark.parametrize(("n", "d", "R"), [(1, 1, 4), (2, 1, 4), (50, 20, 4), (200, 1, 1000), (10**6, 3, "9/2")])
def test_the_shifts_are_certified(ledger, theorem, n, d, R):
    # The trials of these claims draw A of up to 10⁵ entries, and take R up to 100.
    undecided = ("shift", "sharp", "free") if n * d > 10**5 else ("shift",) if R == 1000 else ()
    assert ledger.check(theorem, undecided=undecided, n=n, d=d, R=R).values["vacuous"]


def test_proved_for_all_parameters(ledger):
    assert ledger.check(gradient, **gradient.example).evidence == "proved"


@pytest.mark.parametrize("x", ["1/2", "1/1000"])
def test_the_two_predictions_move_apart(ledger, x):
    result = ledger.check(opposite_moves, **opposite_moves.example | {"x": x})
    assert result.evidence == "certified" and result.for_all_parameters.standing == "formal"
    assert {clause.evidence for clause in result.clauses if clause.role == "step"} == {"proved"}


@pytest.mark.crossing(shifts.softmax_shifts.id)
@given(instance=shifts.softmax_shifts.instances)
def test_softmax_shifts_along_training(crossing, instance):
    crossing.holds(shifts.softmax_shifts, instance)


@pytest.mark.parametrize("label", shifts.softmax_shifts.planted)
def test_planted_errors_in_the_shifts_are_caught(crossing, label):
    crossing.catches(shifts.softmax_shifts, label)


@pytest.mark.crossing(shifts.shifts_within_half_the_radius.id)
@given(instance=shifts.shifts_within_half_the_radius.instances)
def test_softmax_shifts_of_drawn_moves(crossing, instance):
    crossing.holds(shifts.shifts_within_half_the_radius, instance)


@pytest.mark.parametrize("factors", [shifts.Factors(weights=0.99), shifts.Factors(data=0.99)], ids=str)
def test_one_per_cent_less_than_half_the_radius_is_refuted(factors):
    # With two rows, one column and logits near 0, random moves come within 1 % of the bound.
    near = (shifts.Drawn(2, 1, -2, -6, seed) for seed in range(5))
    assert any(
        shifts.shifts_within_half_the_radius.held(factors, drawn, "cpu").outcome is Outcome.REFUTED for drawn in near
    )


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_simulation(ledger, comparison):
    ledger.compare(comparison)


@pytest.mark.parametrize("key", ["difference", "layer_loss_change"])
def test_values_off_by_a_little_are_refuted(monkeypatch, key):
    right = verify.check

    def spoiled(theorem, **instance):
        values = dict(right(theorem, **instance).values)
        return SimpleNamespace(values=values | {key: Fraction(as_float(values[key]) * (1 + 1e-9))})

    monkeypatch.setattr(verify, "check", spoiled)
    assert shifts.opposite_moves_by_the_definitions.run(device="cpu").outcome is Outcome.REFUTED


def test_a_wrong_hessian_is_refuted(monkeypatch):
    monkeypatch.setattr(shifts.closed, "other", shifts.closed.other * (1 + shifts.closed.p_i / 10**6))
    assert shifts.gradient_by_autograd.run(device="cpu").outcome is Outcome.REFUTED
