"""The readings of the paper's experiment, and their verdicts on invented measurements."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

import verify
from paper_checks.li2024 import closeness
from theorems.softmax_regression.first_order_layer import first_order_layer
from verify import Measurement, Outcome
from verify.outcomes import as_float

COMPARISONS = [
    closeness.losses_come_close,
    closeness.predictions_come_close,
    closeness.sensitivities_come_close,
    closeness.sensitivities_align,
    closeness.readings_need_a_teacher,
]


# The readings share their trainings, so one worker runs them all.
@pytest.mark.xdist_group("closeness")
@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_simulation(ledger, comparison):
    ledger.compare(comparison)


def test_layers_with_small_scores_are_gradient_steps(ledger):
    ledger.check(first_order_layer, **first_order_layer.example)
    ledger.compare(closeness.small_scores_are_a_step)


@pytest.mark.parametrize(
    ("key", "factor"), [("v", Fraction(101, 100)), ("v", -1), ("distance_at_most", Fraction(1, 1000))]
)
def test_a_wrong_layer_is_no_gradient_step(monkeypatch, key, factor):
    right = verify.check

    def spoiled(name, **instance):
        values = dict(right(name, **instance).values)
        return SimpleNamespace(values=values | {key: Fraction(as_float(values[key])) * factor})

    monkeypatch.setattr(closeness, "SIZES", closeness.SIZES[-1:])
    monkeypatch.setattr(verify, "check", spoiled)
    assert closeness.small_scores_are_a_step.run(device="cpu").outcome is Outcome.REFUTED


CLOSE = {
    "layer_loss_start": 1.0,
    "layer_loss_end": 0.2,
    "gradient_loss_end": 0.1,
    "prediction_difference_start": 1.0,
    "prediction_difference_end": 0.5,
    "sensitivity_difference_start": 1.0,
    "sensitivity_difference_end": 0.7,
    "cosine_start": 0.0,
    "cosine_end": 0.8,
}


@pytest.mark.parametrize(
    ("read", "change"),
    [
        (closeness.losses_close, {"layer_loss_end": 0.6}),
        (closeness.losses_close, {"layer_loss_end": -0.6}),
        (closeness.predictions_close, {"prediction_difference_end": 0.8}),
        (closeness.sensitivities_close, {"sensitivity_difference_end": 0.95}),
        (closeness.cosine_rises, {"cosine_end": 0.4}),
        (closeness.cosine_rises, {"cosine_start": 0.4}),
    ],
)
def test_a_reading_that_is_not_there_is_refuted(read, change):
    as_measured = lambda values: {name: Measurement(value) for name, value in values.items()}  # noqa: E731
    assert read(as_measured(CLOSE)).holds
    assert read(as_measured(CLOSE | change)).outcome is Outcome.REFUTED
    assert not closeness.overtakes(as_measured(CLOSE)).holds


APART = CLOSE | {"layer_loss_end": 0.05, "cosine_end": 0.3, "prediction_difference_end": 1.0}


@pytest.mark.parametrize(
    ("read", "values", "name"),
    [
        (closeness.losses_close, CLOSE, "layer_loss_end"),
        (closeness.predictions_close, CLOSE, "prediction_difference_end"),
        (closeness.sensitivities_close, CLOSE, "sensitivity_difference_end"),
        (closeness.cosine_rises, CLOSE, "cosine_start"),
        (closeness.cosine_rises, CLOSE, "cosine_end"),
        (closeness.overtakes, APART, "gradient_loss_end"),
        (closeness.overtakes, APART, "prediction_difference_end"),
    ],
)
def test_a_reading_that_the_spread_does_not_decide_is_inconclusive(read, values, name):
    measured = {key: Measurement(value) for key, value in values.items()}
    assert read(measured).outcome is Outcome.VERIFIED
    measured[name] = Measurement(values[name], 1.0, 3)
    assert read(measured).outcome is Outcome.INCONCLUSIVE
