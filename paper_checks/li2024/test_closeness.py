"""The readings of the paper's experiment, and their verdicts on measurements that are made up."""

import pytest

from paper_checks.li2024 import closeness
from verify import Measurement, Outcome

COMPARISONS = [
    closeness.losses_come_close,
    closeness.predictions_come_close,
    closeness.sensitivities_align,
    closeness.readings_need_a_teacher,
]


# The readings share their trainings: on one worker.
@pytest.mark.xdist_group("closeness")
@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_simulation(ledger, comparison):
    ledger.compare(comparison)


CLOSE = {
    "layer_loss_start": 1.0,
    "layer_loss_end": 0.2,
    "gradient_loss_end": 0.1,
    "prediction_difference_start": 1.0,
    "prediction_difference_end": 0.5,
    "cosine_start": 0.0,
    "cosine_end": 0.8,
}


@pytest.mark.parametrize(
    ("read", "change"),
    [
        (closeness.losses_close, {"layer_loss_end": 0.6}),
        (closeness.losses_close, {"layer_loss_end": -0.6}),
        (closeness.predictions_close, {"prediction_difference_end": 0.8}),
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
