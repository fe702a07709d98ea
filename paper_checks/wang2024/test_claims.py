"""The comparisons with measurements that are made up: right ones pass, wrong ones are refuted."""

import math
from types import SimpleNamespace

import pytest

from paper_checks.wang2024 import claims
from verify import Measurement, Outcome

COSINE = math.sqrt(1 - 1 / 9)


@pytest.fixture
def measured(monkeypatch):
    """Let every experiment measure the given numbers, or what a function of its settings gives."""

    def measure(given):
        def run(**settings):
            found = given(settings) if callable(given) else given
            return SimpleNamespace(
                measurements={k: v if isinstance(v, Measurement) else Measurement(v) for k, v in found.items()}
            )

        monkeypatch.setattr(claims, "load_experiment", lambda _: SimpleNamespace(run=run))

    return measure


def gradient_at_length(**changed):
    """What the recursion says at α = 1, C = 4, T = 200, q = 3, d = 5, from the softmax itself; 10⁻³ of it as error."""
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
    measured(gradient_at_length(**changed))
    assert claims.lemma1_gradient_at_length.run(device="cpu").outcome is outcome


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
    def found(settings):
        instance = {name: settings[name] for name in ("T", "q", "d", "eta")}
        right = claims.theorem1.check(**instance, eps="1/200").values["steps_to_epsilon"].lower
        return (
            {} if late is None else {"steps_to_epsilon": right + late, "largest_loss_after": largest[settings["eta"]]}
        )

    measured(found)
    assert claims.theorem1_steps.run(device="cpu").outcome is outcome


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
    found = {"cosine_W_least": least, "cosine_W_largest": largest, "cosine_V_least": V, "cosine_V_largest": 1.0}
    measured(found)
    assert claims.cosines_from_zero.run(device="cpu").outcome is outcome


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
    measured(RISING | changed)
    assert claims.cosines_from_random.run(device="cpu").outcome is outcome
