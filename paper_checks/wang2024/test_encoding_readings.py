"""The least loss on the set under several readings of Definition 3."""

import pytest

from paper_checks.wang2024 import encoding_readings
from paper_checks.wang2024.by_counting import means
from paper_checks.wang2024.encoding_readings import every_reading, loss_at
from verify import Measurement, Outcome

SIZES = {"T": 40, "q": 3, "d": 5, "d_e": 34}
MEASURED = {f"loss_{name}": Measurement(0.2, 0.002, 1000) for name in ("signs", "sphere", "harmonic")}
MEASURED["C_signs"] = Measurement(0.0, 0.0, 1)


def outcomes(*, floor=(0.199, 0.2), taken=(0.2005, 1e-4), bound=0.001, **other):
    measured = MEASURED | {f"loss_{name}": found for name, found in other.items()}
    return {name: verdict.outcome for name, verdict in every_reading(measured, SIZES, floor, taken, bound)}


@pytest.mark.audit
def test_no_reading_leaves_nothing(ledger):
    ledger.compare(encoding_readings.floor_under_every_reading)


def test_each_part_is_told_from_what_is_wrong():
    assert set(outcomes().values()) == {Outcome.VERIFIED}
    assert outcomes(taken=(0.23, 1e-4))["signs"] is Outcome.REFUTED
    # A loss below the floor, and a loss far above the floor.
    assert outcomes(floor=(0.3, 0.301))["floor"] is Outcome.REFUTED
    assert outcomes(floor=(0.1, 0.101))["floor"] is Outcome.REFUTED
    assert outcomes(bound=0.3)["sphere"] is Outcome.REFUTED
    assert outcomes(harmonic=Measurement(0.001, 1e-4, 1000))["positive"] is Outcome.REFUTED
    # One draw for all samples decides nothing.
    assert outcomes(fixed=Measurement(0.001, 1e-4, 1000))["positive"] is Outcome.VERIFIED


@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
def test_the_loss_at_a_scale_is_that_of_counted_signs(attend):
    found, off = loss_at(SIZES, attend, 2.3)
    P, R = means(40, 3, 34, attend == "tokens_and_query", 2.3)
    assert abs(found - 5 / 6 * (1 - P**2 / (3 * R))) <= off < 0.01 * found


def test_too_few_samples_decide_nothing():
    unsure = Measurement(0.2, 0.2, 4)
    found = outcomes(signs=unsure, sphere=unsure)
    assert {found[name] for name in ("signs", "sphere", "positive")} == {Outcome.INCONCLUSIVE}
