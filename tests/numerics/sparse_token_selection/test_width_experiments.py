"""The experiments with first layers: values computed by hand, repetition with a seed, and settings that are refused."""

import math

import pytest

from numerics.sparse_token_selection.width_experiments import (
    first_layer_readings,
    fully_connected_nets,
    optimised_first_layers,
    random_first_layers,
)
from verify import InputError, agreement

QUICK_NET = {"T": 3, "q": 1, "width": 2, "hidden": 4, "steps": 5, "batch": 8, "samples": 20_500}


def measured(experiment, **settings):
    return experiment.run(device="cpu", **settings).measurements


@pytest.mark.parametrize("kind", ["gaussian", "sparse", "orthogonal", "quantised", "repeated"])
def test_no_measurements_leave_half_the_variance(kind):
    # Without measurements the loss is d/(2q).
    assert math.isclose(measured(random_first_layers, m=0, kind=kind)["loss"].value, 2 / 4, rel_tol=1e-14)


def test_as_many_measurements_as_coordinates_leave_nothing():
    assert measured(random_first_layers, T=4, q=2, d=2, m=8)["loss"].value < 1e-20


def test_sampled_subsets_agree_with_all():
    sizes = {"T": 6, "q": 3, "d": 1, "m": 2, "seed": 5}
    every, sampled = (measured(random_first_layers, subsets=n, **sizes)["loss"] for n in (0, 2000))
    assert every.standard_error == 0 and sampled.samples == 2000
    assert agreement(every.value, sampled, comparisons=1, resolution=0.1 * every.value).holds


def test_descent_reports_its_lowest_and_highest_end():
    found = measured(optimised_first_layers, T=4, m=3, starts=3, descent_steps=2)
    assert found["loss"].value < found["loss_highest"].value
    one = measured(optimised_first_layers, T=4, m=3, starts=1)
    assert one["loss"] == one["loss_highest"]


@pytest.mark.parametrize("design", ["one_more", "pairs", "none_more"])
def test_readings_by_design(design):
    settings = {"design": design, "spacing": 20 * (design == "none_more")}
    found = measured(first_layer_readings, activation="tanh", samples=500, **settings)["loss"]
    assert found.samples == 500 and 0.1 < found.value < 0.4


def test_each_run_of_a_net_is_measured_on_all_samples():
    found = measured(fully_connected_nets, runs=2, **QUICK_NET)
    assert set(found) == {"loss_0", "loss_1"} and found["loss_0"] != found["loss_1"]
    assert all(each.samples == 20_500 and each.value > 0 for each in found.values())
    assert found == measured(fully_connected_nets, runs=2, **QUICK_NET)
    assert found != measured(fully_connected_nets, runs=2, seed=1, **QUICK_NET)


@pytest.mark.parametrize(
    ("experiment", "settings", "message"),
    [
        (random_first_layers, {"T": 3, "q": 4}, "q = 4: must be an integer >= 1 and <= 3"),
        (random_first_layers, {"subsets": 1}, "subsets = 1: must be 0, or at least 2"),
        (random_first_layers, {"m": 13}, "m = 13: must be an integer >= 0 and <= 12"),
        (random_first_layers, {"kind": "dense"}, "kind = dense"),
        (optimised_first_layers, {"T": 3, "q": 4}, "q = 4"),
        (optimised_first_layers, {"m": -1}, "m = -1"),
        (first_layer_readings, {"m": 0}, "m = 0"),
        (first_layer_readings, {"design": "none_more"}, "spacing = 0.0: must be > 0"),
        (first_layer_readings, {"spacing": 20}, "spacing = 20.0: must be 0"),
        (first_layer_readings, {"spacing": -1}, "spacing = -1: "),
        (first_layer_readings, {"activation": "sine"}, "activation = sine: must be one of"),
        (first_layer_readings, {"design": "one_more"}, "activation = relu: must be one of"),
        (first_layer_readings, {"design": "two_more"}, "design = two_more"),
        (fully_connected_nets, {"T": 3, "q": 4}, "q = 4"),
        (fully_connected_nets, {"activation": "step"}, "activation = step"),
        (fully_connected_nets, {**QUICK_NET, "eta": "1e300", "activation": "linear"}, "training diverges"),
    ],
)
def test_settings_that_do_not_fit_are_refused(experiment, settings, message):
    with pytest.raises(InputError, match=message):
        experiment.run(device="cpu", **settings)
