"""Experiments: settings are validated, defaults are quick or full, and measurements are finite."""

import math
from fractions import Fraction

import pytest

from verify import (
    Experiment,
    InputError,
    Measurement,
    Outcome,
    Parameter,
    Setting,
    Source,
    Store,
    TheoremError,
    agreement,
    chance,
    student_bound,
)
from verify.reports.text import experiment_text

SETTINGS = (
    Setting(Parameter("n", "integer", "a size", minimum=1), 3, 30),
    Setting(Parameter("rate", "rational", "a rate", above=0), "1/10", "1/100"),
    Setting(Parameter("attend", "word", "to what", words=("tokens", "all")), "tokens", "all"),
)


def measure(settings, *, seed, device):
    assert device == "cpu"
    return {"product": Measurement(float(settings["n"] * settings["rate"])), "seed": Measurement(seed, 0.5, 4)}


def experiment(settings=SETTINGS, run=measure):
    return Experiment("user.experiment", "a title", Source("Figure 1", "printed"), settings, run)


def test_quick_and_full_values_and_those_given():
    quick = experiment().run(device="cpu")
    assert quick.settings == {"n": 3, "rate": Fraction(1, 10), "attend": "tokens"}
    assert quick.measurements == {"product": Measurement(0.3), "seed": Measurement(0, 0.5, 4)}
    assert (quick.experiment, quick.seed, quick.device) == ("user.experiment", 0, "cpu") and quick.seconds >= 0
    full = experiment().run(device="cpu", full=True, seed=7, n=2)
    assert full.settings == {"n": 2, "rate": Fraction(1, 100), "attend": "all"}
    assert full.measurements["seed"].value == 7


def by_protocol(protocols):
    words = Parameter("protocol", "word", "whose", words=("code", "text", "quick"))
    settings = (Setting(words, "quick", "code"), *SETTINGS)
    return Experiment("user.experiment", "a", Source("a", "printed"), settings, measure, protocols=protocols)


def test_a_protocol_stands_in_the_place_of_quick_and_full_values():
    made = by_protocol({"text": {"n": 7}, "code": {"n": 30}})
    assert made.run(device="cpu").settings["n"] == 3
    assert made.run(device="cpu", full=True).settings == {
        "protocol": "code",
        "n": 30,
        "rate": Fraction(1, 100),
        "attend": "all",
    }
    for full, rate in ((False, Fraction(1, 10)), (True, Fraction(1, 100))):
        assert made.run(device="cpu", full=full, protocol="text").settings == {
            "protocol": "text",
            "n": 7,
            "rate": rate,
            "attend": "all" if full else "tokens",
        }
    # A given value takes precedence over the protocol's.
    assert made.run(device="cpu", protocol="text", n=8).settings["n"] == 8
    with pytest.raises(InputError, match="protocol = paper: must be one of code, text, quick"):
        made.run(device="cpu", protocol="paper")


@pytest.mark.parametrize(
    ("protocols", "message"),
    [
        ({"text": {"m": 1}}, "m, of protocol text, is not a setting"),
        ({"paper": {}}, "protocol = paper: must be one of"),
    ],
)
def test_protocols_of_what_is_no_setting_are_refused(protocols, message):
    with pytest.raises((InputError, TheoremError), match=message):
        by_protocol(protocols)
    with pytest.raises(TheoremError, match="protocol, of protocol text, is not a setting"):
        Experiment("user.a", "a", Source("a", "printed"), SETTINGS, measure, protocols={"text": {}})


def test_values_are_read_exactly():
    assert experiment().run(device="cpu", rate=0.1, n="4").settings == {
        "n": 4,
        "rate": Fraction(1, 10),
        "attend": "tokens",
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"m": 1}, "m = 1: is not a setting of user.experiment; its settings are n, rate, attend"),
        ({"n": 0}, "n = 0: must be an integer >= 1"),
        ({"n": 1.5}, "n = 1.5: must be an integer"),
        ({"rate": "fast"}, "rate = fast: must be a number"),
        ({"attend": "query"}, "attend = query: must be one of tokens, all"),
        ({"rate": "1e400"}, "rate = 1e400: must be a number in float64's range"),
        ({"device": "tpu"}, "device = tpu"),
    ],
)
def test_invalid_settings_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        experiment().run(**({"device": "cpu"} | given))


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("where", ["value", "standard_error"])
def test_a_run_that_diverges_is_no_measurement(value, where):
    spoiled = Measurement(**({"value": 1.0, "standard_error": 0.1, "samples": 3} | {where: value}))
    with pytest.raises(InputError, match=r"loss = .*: is not finite: user\.experiment diverges"):
        experiment(run=lambda *_, **__: {"loss": spoiled}).run(device="cpu")


def test_a_standard_error_that_is_not_known_is_not_0():
    measured = Measurement(1.0, None)
    assert measured != Measurement(1.0) and measured.band() == (1.0, 1.0)
    assert chance(measured, 1) == math.inf and chance(Measurement(1.0), 1) == 0
    assert chance(Measurement(1.0, 0.1, 5), 1) == 0.1 * student_bound(5, 1)
    # Such a measurement neither agrees nor disagrees with any theory.
    for theory in (1.0, 2.0):
        assert agreement(theory, measured, comparisons=1).outcome is Outcome.INCONCLUSIVE
    assert agreement(2.0, Measurement(1.0), comparisons=1).outcome is Outcome.REFUTED
    found = experiment(run=lambda *_, **__: {"x": measured}).run(device="cpu")
    assert "x = 1 (one sample)" in experiment_text(found)


@pytest.mark.parametrize(("error", "samples"), [(-0.1, 3), (0.1, 1), (0.0, 0)])
def test_a_measurement_that_cannot_be(error, samples):
    with pytest.raises(TheoremError, match="sample"):
        Measurement(1.0, error, samples)


@pytest.mark.parametrize("name", ["seed", "device", "full"])
def test_a_name_of_the_engine_is_no_setting(name):
    with pytest.raises(TheoremError, match=f"the setting's name {name} is taken"):
        experiment((Setting(Parameter(name, "integer", "x"), 1, 1),))


def test_a_name_is_given_once():
    with pytest.raises(TheoremError, match="the setting's name n is taken"):
        experiment((SETTINGS[0], SETTINGS[0]))


@pytest.mark.parametrize("values", [(0, 1), (1, 0)])
def test_the_authors_own_values_are_in_the_domain(values):
    with pytest.raises(InputError, match="n = 0: must be an integer >= 1"):
        experiment((Setting(SETTINGS[0].parameter, *values),))


def test_stored_results_are_read_without_a_run(tmp_path):
    runs = []

    def counted(settings, *, seed, device):
        runs.append(seed)
        return measure(settings, seed=seed, device=device)

    store, counting = Store(tmp_path / "store.sqlite"), experiment(run=counted)
    assert counting.stored(store, device="cpu") is None and runs == []
    ran = counting.run(device="cpu", store=store, seed=3)
    found = counting.stored(store, device="cpu", seed=3)
    assert found is not None and found.from_store and found.measurements == ran.measurements and runs == [3]
    for other in ({"seed": 4}, {"seed": 3, "full": True}, {"seed": 3, "n": 4}):
        assert counting.stored(store, device="cpu", **other) is None
    with pytest.raises(InputError, match="m = 1: is not a setting"):
        counting.stored(store, device="cpu", m=1)


def test_how_long_a_run_takes_is_asked_for_without_one():
    expecting = Experiment(
        "user.experiment", "a title", Source("Figure 1", "printed"), SETTINGS, measure, expect=lambda s, device: s["n"]
    )
    assert expecting.expected(device="cpu") == 3 and expecting.expected(device="cpu", full=True) == 30
    assert expecting.expected(device="cpu", n=7) == 7 and experiment().expected(device="cpu") is None
    with pytest.raises(InputError, match="n = 0: must be"):
        expecting.expected(device="cpu", n=0)
