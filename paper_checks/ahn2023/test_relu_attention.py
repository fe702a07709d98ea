"""ReLU attention: proved, trainings of all entries of A, and the loss at random P and Q."""

from types import SimpleNamespace

import pytest
from hypothesis import given

import verify
from paper_checks.ahn2023 import relu_attention
from theorems.preconditioned_descent.relu_any_last_row import relu_any_last_row
from theorems.preconditioned_descent.relu_layer import theorem5
from verify import Outcome

TRAINED = relu_attention.relu_attention


@pytest.mark.parametrize("theorem", [theorem5, relu_any_last_row], ids=lambda theorem: theorem.id)
def test_argued_for_all_parameters_from_steps_that_are_proved(ledger, theorem):
    assert ledger.check(theorem, **theorem.example).for_all_parameters.standing == "argued"


@pytest.mark.crossing(TRAINED.id)
@given(instance=TRAINED.instances)
def test_preconditioner_with_relu_against_training(crossing, instance):
    crossing.holds(TRAINED, instance)


@pytest.mark.parametrize("label", TRAINED.planted)
def test_planted_errors_in_the_multiple_are_caught(crossing, label):
    crossing.catches(TRAINED, label)


@pytest.mark.parametrize(
    "comparison",
    [relu_attention.theorem5_sampled, relu_attention.relu_any_last_row_sampled],
    ids=lambda comparison: comparison.id,
)
def test_against_fresh_prompts(ledger, comparison):
    ledger.compare(comparison)


def test_a_wrong_multiple_is_refuted_on_fresh_prompts(monkeypatch):
    right = verify.check

    def spoiled(theorem, **instance):
        assert theorem is theorem5
        values = dict(right(theorem, **instance).values)
        return SimpleNamespace(values=values | {"a": 2 * values["a"]})

    monkeypatch.setattr(verify, "check", spoiled)
    assert relu_attention.theorem5_sampled.run(device="cpu").outcome is Outcome.REFUTED


def test_a_loss_in_closed_form_that_is_off_is_refuted(monkeypatch):
    right = relu_attention.any_last_row
    monkeypatch.setattr(relu_attention, "any_last_row", lambda *given: 1.2 * right(*given))
    assert relu_attention.relu_any_last_row_sampled.run(device="cpu").outcome is Outcome.REFUTED
