"""The W* block: along training, from zero and from random entries, and verdicts on made-up measurements."""

import math

import pytest
from hypothesis import given

from paper_checks.wang2024 import w_star_block
from verify import Outcome

BLOCK = w_star_block.W_star_block
COSINE = math.sqrt(1 - 1 / 9)


@pytest.mark.crossing(BLOCK.id)
@given(instance=BLOCK.instances)
def test_W_star_block_against_training(crossing, instance):  # noqa: N802 - the paper's W*
    crossing.holds(BLOCK, instance)


@pytest.mark.audit
@given(instance=w_star_block.OFF_THE_SET)
def test_W_star_block_is_left_from_elsewhere(crossing, instance):  # noqa: N802 - the paper's W*
    crossing.fails(BLOCK, instance)


@pytest.mark.parametrize("label", BLOCK.planted)
def test_planted_errors_in_the_W_star_block_are_caught(crossing, label):  # noqa: N802 - the paper's W*
    crossing.catches(BLOCK, label)


@pytest.mark.parametrize(
    "comparison",
    [w_star_block.cosines_from_zero, w_star_block.cosines_from_random],
    ids=lambda comparison: comparison.id,
)
def test_cosines_against_training(ledger, comparison):
    ledger.compare(comparison)


@pytest.mark.parametrize(
    ("least", "largest", "V", "outcome"),
    [
        (COSINE, COSINE, 1.0, Outcome.VERIFIED),
        (COSINE, 1.0, 1.0, Outcome.REFUTED),
        (0.9, COSINE, 1.0, Outcome.REFUTED),
        (COSINE, COSINE, 0.99, Outcome.REFUTED),
    ],
)
def test_cosines_from_zero(measured, least, largest, V, outcome):
    cosines = {"cosine_W_least": least, "cosine_W_largest": largest, "cosine_V_least": V, "cosine_V_largest": 1.0}
    measured(w_star_block, cosines)
    assert w_star_block.cosines_from_zero.run(device="cpu").outcome is outcome


RISING = {
    "W_centred_start": 0.1,
    "W_centred_middle": 0.995,
    "W_centred_end": 0.9999,
    "V_middle": 0.995,
    "V_end": 0.9999,
    "W_identity_end": math.sqrt(1 - 1 / 10),
}


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, Outcome.VERIFIED),
        ({"W_centred_start": 0.6}, Outcome.REFUTED),
        ({"W_centred_middle": 0.98}, Outcome.REFUTED),
        ({"W_centred_end": 0.996}, Outcome.REFUTED),
        ({"V_middle": 0.98}, Outcome.REFUTED),
        ({"V_end": 0.996}, Outcome.REFUTED),
        ({"W_identity_end": 1.0}, Outcome.REFUTED),
    ],
)
def test_cosines_from_random_matrices(measured, changed, outcome):
    measured(w_star_block, RISING | changed)
    assert w_star_block.cosines_from_random.run(device="cpu").outcome is outcome
