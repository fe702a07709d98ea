"""The ledger of the gap: its parts add up, errors planted in it are found, and invalid settings are refused."""

from dataclasses import replace

import pytest

from paper_checks.wang2024 import gap_ledger
from paper_checks.wang2024.by_softmax import descent_losses
from paper_checks.wang2024.gap_ledger import PARTS, Theory, judged, parts
from paper_checks.wang2024.predictions import one_hot_descent, rates_of
from verify import InputError, Measurement, Outcome, load_experiment

ONE_HOT = {"encoding": "one_hot", "attend": "tokens", "scale": 0, "T": 12, "d_e": 12}
SHORT = {"steps": 60, "late": 30, "readings": 2, "samples": 20_000, "n_test": 1000, "dtype": "float64"}


def run(**given):
    return load_experiment("wang2024.gap_ledger").run(device="cpu", **given).measurements


@pytest.mark.xdist_group("wang2024 ledger")
def test_the_gap_is_accounted_for(ledger):
    ledger.compare(gap_ledger.the_gap_is_accounted_for, expect=Outcome.VERIFIED)


@pytest.mark.parametrize("given", [{}, ONE_HOT])
def test_a_training_in_float64_has_no_rounding_and_the_parts_add_up(given):
    found = run(**(SHORT | given))
    assert found["trainings"].value == judged(found).trainings == 1
    assert found["rounding_sampled"] == Measurement(0.0)
    assert sum(found[name].value for name in PARTS) == pytest.approx(found["loss_measured"].value, rel=1e-12)
    of_the_sets = found["loss_measured"].value - found["loss_on_fresh_samples"].value
    of_the_fresh = found["loss_of_alpha_and_C_sampled"].value - found["loss_of_alpha_and_C_computed"].value
    assert found["chance_sampled"].value == pytest.approx(of_the_sets + of_the_fresh, abs=1e-9)
    assert judged(found).outcome is Outcome.VERIFIED


@pytest.mark.parametrize(
    ("name", "change", "outcome"),
    [
        ("finite_time_computed", lambda m: replace(m, value=1.5 * m.value), Outcome.REFUTED),
        ("step_noise_simulated", lambda m: replace(m, value=m.value + 0.1), Outcome.REFUTED),
        ("off_the_set_sampled", lambda m: replace(m, value=m.value + 0.1), Outcome.REFUTED),
        ("loss_of_alpha_and_C_computed", lambda m: replace(m, value=1.2 * m.value), Outcome.REFUTED),
        ("loss_of_alpha_and_C_sampled", lambda m: replace(m, value=0.8 * m.value), Outcome.REFUTED),
        ("loss_on_fresh_samples", lambda m: replace(m, value=0.8 * m.value), Outcome.REFUTED),
        # With so large a standard error a difference of a tenth may be chance.
        ("loss_of_alpha_and_C_sampled", lambda m: replace(m, standard_error=m.value / 20), Outcome.INCONCLUSIVE),
    ],
)
def test_an_error_is_found(name, change, outcome):
    found = run(**SHORT)
    assert judged(found).outcome is Outcome.VERIFIED
    assert judged({**found, name: change(found[name])}).outcome is outcome


VALIDATION, OFF, ROUNDING = Measurement(0.5, 0.01, 128), Measurement(0.02, 0.001, 2000), Measurement(1e-6, 1e-8, 2000)
SAID = Theory((0.3, 0.31), 0.4, 0.4005, 0.45, 1e-4)


def whole(said):
    return {
        **parts(said, VALIDATION, OFF, ROUNDING),
        "loss_measured": VALIDATION,
        "loss_on_fresh_samples": Measurement(0.45 + OFF.value + ROUNDING.value, 2e-3, 2000),
        "loss_of_alpha_and_C_computed": Measurement(said.at_the_end),
        "loss_of_alpha_and_C_sampled": Measurement(0.45, 1e-3, 2000),
        "computed_error": Measurement(said.error),
        "finite_time_computed_again": Measurement(said.again - said.least[1]),
        "trainings": Measurement(2),
    }


def test_the_parts_are_what_they_say():
    found = parts(SAID, VALIDATION, OFF, ROUNDING)
    assert [found[name].value for name in PARTS] == pytest.approx([0.3, 0.01, 0.09, 0.05, 0.02, 1e-6, 0.029999])
    left = found["chance_sampled"]
    assert left.samples == 128 and left.standard_error == pytest.approx((0.01**2 + 0.001**2) ** 0.5)
    assert found["step_noise_simulated"].standard_error is None
    assert judged(whole(SAID)).outcome is Outcome.VERIFIED and judged(whole(SAID)).trainings == 2


def test_an_error_that_is_not_known_is_not_taken_for_none():
    with pytest.raises(AssertionError):
        parts(SAID, VALIDATION, replace(OFF, standard_error=None), ROUNDING)


def test_remainder_does_not_decide_the_verdict():
    found = {**parts(SAID, replace(VALIDATION, value=0.9), OFF, ROUNDING)}
    assert found["chance_sampled"].value > 0.4
    assert judged({**whole(SAID), **found}).outcome is Outcome.VERIFIED


@pytest.mark.parametrize(
    "said",
    [
        # In the first case, population descent ends below the least loss. In the next two, its two computations differ,
        # which the sum does not show, because the step noise changes by as much. In the last, the layer's computed loss
        # is far from its sampled loss.
        SAID._replace(descent=0.299, again=0.299),
        SAID._replace(descent=5.0),
        SAID._replace(descent=0.42),
        SAID._replace(at_the_end=0.28),
    ],
)
def test_theory_that_does_not_fit_is_refuted(said):
    assert judged(whole(said)).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (ONE_HOT | {"attend": "tokens_and_query"}, "attend = tokens_and_query: must be tokens with one-hot encoding"),
        (ONE_HOT | {"scale": "1/50"}, "scale = 1/50: must be 0 with one-hot encoding"),
        (ONE_HOT | {"d_e": 13}, "d_e = 13: must be T = 12"),
        ({"encoding": "fixed"}, "encoding = fixed"),
        ({"attend": "tokens", "eta": 60}, "eta = 60: population descent leaves C >= 0"),
    ],
)
def test_settings_without_a_prediction_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        run(**(SHORT | given))


def test_the_softmaxs_own_descent_is_lemma_1s():
    settings = load_experiment("wang2024.gap_ledger").run(device="cpu", **(SHORT | ONE_HOT)).settings
    sizes = [int(settings[name]) for name in ("T", "q", "d")]
    assert list(descent_losses(*sizes, rates_of(settings))) == pytest.approx(
        [point.loss for point in one_hot_descent(settings)], rel=1e-9
    )


def test_seconds_of_a_run_are_estimated():
    experiment = load_experiment("wang2024.gap_ledger")
    settings = experiment.run(device="cpu", **SHORT).settings
    for number in ("float32", "float64"):
        assert 0 < experiment.expect({**settings, "dtype": number}, device="cpu") < 600
