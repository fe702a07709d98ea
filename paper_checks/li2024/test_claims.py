"""The claims of Li et al. 2024, certified and held against simulation."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from paper_checks.li2024 import claims
from theorems.softmax_regression.data_shift import data_shift
from theorems.softmax_regression.gradient import gradient
from theorems.softmax_regression.opposite_moves import opposite_moves
from theorems.softmax_regression.weight_shift import weight_shift
from verify import Measurement, Outcome

COMPARISONS = [
    claims.shifts_within_half_the_radius,
    claims.reached_by_a_family,
    claims.reached_by_ascent,
    claims.gradient_by_autograd,
    claims.opposite_moves_by_the_definitions,
    claims.losses_come_close,
    claims.predictions_come_close,
    claims.sensitivities_align,
    claims.readings_need_a_teacher,
]


@pytest.mark.parametrize("theorem", [weight_shift, data_shift], ids=lambda theorem: theorem.id)
@pytest.mark.parametrize(("n", "d", "R"), [(1, 1, 4), (2, 1, 4), (50, 20, 4), (200, 1, 1000), (10**6, 3, "9/2")])
def test_the_shifts_are_certified(ledger, theorem, n, d, R):
    assert ledger.check(theorem, n=n, d=d, R=R).values["vacuous"]


@pytest.mark.parametrize("theorem", [gradient, opposite_moves], ids=lambda theorem: theorem.id)
def test_proved_for_all_parameters(ledger, theorem):
    assert ledger.check(theorem, **theorem.example).evidence == "proved"


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_simulation(ledger, comparison):
    ledger.compare(comparison)


@pytest.mark.parametrize("name", ["weight_shift", "data_shift"])
def test_one_per_cent_less_than_half_the_radius_is_refuted(monkeypatch, name):
    def less(**instance):
        n, R = instance["n"], float(instance["R"])
        return SimpleNamespace(values={"sharp_factor": Fraction(0 if n == 1 else 0.99 * R / 2)})

    monkeypatch.setattr(claims, name, SimpleNamespace(id=name, check=less))
    # Random moves come that near at two rows in one column, near logits of 0.
    monkeypatch.setattr(
        claims, "SIZES", claims.st.builds(lambda seed: claims.Drawn(2, 1, -2, -6, seed), claims.st.integers(0, 99))
    )
    monkeypatch.setattr(claims, "QUICK", 5)
    found = claims.shifts_within_half_the_radius.run(device="cpu")
    assert found.outcome is Outcome.REFUTED and name in found.detail


@pytest.mark.parametrize(
    ("name", "comparison", "key"),
    [
        ("weight_shift", "reached_by_a_family", "reached_factor"),
        ("opposite_moves", "opposite_moves_by_the_definitions", "difference"),
    ],
)
def test_values_off_by_a_little_are_refuted(monkeypatch, name, comparison, key):
    right = getattr(claims, name)

    def spoiled(**instance):
        values = dict(right.check(**instance).values)
        return SimpleNamespace(values=values | {key: Fraction(claims.as_float(values[key]) * (1 + 1e-9))})

    monkeypatch.setattr(claims, name, SimpleNamespace(check=spoiled))
    assert getattr(claims, comparison).run(device="cpu").outcome is Outcome.REFUTED


def test_a_wrong_hessian_is_refuted(monkeypatch):
    monkeypatch.setattr(claims.closed, "other", claims.closed.other * (1 + claims.closed.p_i / 10**6))
    assert claims.gradient_by_autograd.run(device="cpu").outcome is Outcome.REFUTED


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
        (claims.losses_close, {"layer_loss_end": 0.6}),
        (claims.losses_close, {"layer_loss_end": -0.6}),
        (claims.predictions_close, {"prediction_difference_end": 0.8}),
        (claims.cosine_rises, {"cosine_end": 0.4}),
        (claims.cosine_rises, {"cosine_start": 0.4}),
    ],
)
def test_a_reading_that_is_not_there_is_refuted(read, change):
    as_measured = lambda values: {name: Measurement(value) for name, value in values.items()}  # noqa: E731
    assert read(as_measured(CLOSE)).holds
    assert read(as_measured(CLOSE | change)).outcome is Outcome.REFUTED
    assert not claims.overtakes(as_measured(CLOSE)).holds


APART = CLOSE | {"layer_loss_end": 0.05, "cosine_end": 0.3, "prediction_difference_end": 1.0}


@pytest.mark.parametrize(
    ("read", "values", "name"),
    [
        (claims.losses_close, CLOSE, "layer_loss_end"),
        (claims.predictions_close, CLOSE, "prediction_difference_end"),
        (claims.cosine_rises, CLOSE, "cosine_start"),
        (claims.cosine_rises, CLOSE, "cosine_end"),
        (claims.overtakes, APART, "gradient_loss_end"),
        (claims.overtakes, APART, "prediction_difference_end"),
    ],
)
def test_a_reading_that_the_spread_does_not_decide_is_inconclusive(read, values, name):
    measured = {key: Measurement(value) for key, value in values.items()}
    assert read(measured).outcome is Outcome.VERIFIED
    measured[name] = Measurement(values[name], 1.0, 3)
    assert read(measured).outcome is Outcome.INCONCLUSIVE
