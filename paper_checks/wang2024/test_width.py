"""The width of fully-connected nets: the formula proved, held against first layers of all kinds, and bugs caught.

First layers that are planted wrong (measurements that know y, one too many, X masked by y) fall below it.
"""

import math
from itertools import product
from types import SimpleNamespace

import pytest
import torch

from numerics.sparse_token_selection import fully_connected, linear_measurements, width_experiments
from paper_checks.wang2024 import widths
from theorems.sparse_token_selection.fully_connected_width import fcn_width
from verify import Measurement, Outcome, agreement

COMPARISONS = [
    widths.fcn_width_random_layers,
    widths.fcn_width_at_length,
    widths.fcn_width_best_layers,
    widths.fcn_width_readings,
    widths.fcn_width_trained_nets,
]
WRONG = {canary.label: canary for canary in fcn_width.canaries if canary.clause in ("few", "many")}


@pytest.mark.parametrize(
    "instance",
    [
        fcn_width.example,
        {"T": 10**6, "q": 3, "d": 5, "m": 500, "eps": "1/10"},
        {"T": 200, "q": 3, "d": 5, "m": 2, "eps": "1/10"},
        {"T": 7, "q": 7, "d": 2, "m": 14, "eps": 1},
    ],
)
def test_proved_for_all_parameters(ledger, instance):
    assert ledger.check(fcn_width, **instance).evidence == "proved"


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_first_layers(ledger, comparison):
    ledger.compare(comparison)


def test_a_uniformly_random_span_has_the_mean_that_is_said():
    # d/(2q) (1 − m/(Td)), (T − 1)/(T − q) times the smallest for m >= d.
    T, q, d, m = 6, 3, 2, 5
    generator, subsets = torch.Generator().manual_seed(0), linear_measurements.all_subsets(T, q)
    drawn = (linear_measurements.random_measurements("orthogonal", m, T, d, generator) for _ in range(400))
    losses = torch.stack([linear_measurements.conditional_variance(A, subsets).mean() for A in drawn])
    found = Measurement(float(losses.mean()), float(losses.std()) / 20, 400)
    expected = d / (2 * q) * (1 - m / (T * d))
    assert agreement(expected, found, comparisons=1, resolution=0.05 * expected).holds
    assert math.isclose(expected, (T - 1) / (T - q) * widths.bound(T, q, d, m), rel_tol=1e-12)


@pytest.mark.parametrize(("q", "m"), [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2)])
def test_the_least_over_all_first_layers_of_weights_in_minus_one_to_one_is_the_formula(q, m):
    # Three tokens, d = 1: all 3^(3m) matrices; (1, 1, 1) and (1, −1, 0) are among the rows.
    subsets = linear_measurements.all_subsets(3, q)
    entries = torch.tensor(list(product((-1.0, 0.0, 1.0), repeat=3 * m)), dtype=torch.float64)
    losses = [linear_measurements.conditional_variance(A.reshape(m, 3), subsets).mean() for A in entries]
    assert math.isclose(min(losses), widths.bound(3, q, 1, m), rel_tol=0, abs_tol=widths.ROUNDING)


@pytest.mark.parametrize("label", WRONG)
def test_a_wrong_formula_is_refuted_by_the_best_first_layers(monkeypatch, label):
    sides = {clause.label: clause.right for clause in WRONG[label].statement.clauses if clause.label in ("few", "many")}

    def wrong(T, q, d, m):
        side = sides["few" if m <= d else "many"]
        return float(side.subs({symbol: {"T": T, "q": q, "d": d, "m": m}[symbol.name] for symbol in side.free_symbols}))

    monkeypatch.setattr(widths, "bound", wrong)
    assert widths.fcn_width_best_layers.run(device="cpu").outcome is Outcome.REFUTED


def knows_y(measurements, subsets):
    """What is left of measurements the first of which is chosen for each y: of the target's first component."""
    right = linear_measurements.conditional_variance
    d, rows = measurements.shape[1] // subsets.shape[1], measurements[1:]
    if not len(measurements):
        return right(measurements, subsets)
    functionals = linear_measurements.target_functionals(subsets, d)[:, 0]
    return torch.cat([right(torch.cat([a[None], rows]), y[None]) for a, y in zip(functionals, subsets, strict=True)])


def too_many(count):
    return lambda right: lambda kind, m, T, d, generator: right(kind, min(m + count, T * d), T, d, generator)


def halved(right):
    return lambda *given, **more: right(*given, **more) / 2


RANDOM, AT_LENGTH, BEST, READINGS, NETS = "random_layers", "at_length", "best_layers", "readings", "trained_nets"
PLANTED = {
    "measurements that know y": ("conditional_variance", lambda _: knows_y, (RANDOM,)),
    "one measurement too many": ("random_measurements", too_many(1), (RANDOM, BEST, READINGS)),
    "eight measurements too many": ("random_measurements", too_many(8), (AT_LENGTH,)),
    "half of the loss": ("conditional_variance", halved, (RANDOM, AT_LENGTH)),
    "half of the decoder's loss": ("decoded_losses", halved, (READINGS,)),
    "half of the net's loss": ("net_losses", halved, (NETS,)),
}


@pytest.fixture
def one_net(monkeypatch):
    """Let one small net be trained."""
    monkeypatch.setattr(widths, "NETS", (widths.NetSettings(4, 2, 1, 1, 2, "leaky_relu", "together"),))


@pytest.mark.usefixtures("one_net")
@pytest.mark.parametrize(("bug", "name"), [(bug, name) for bug, (_, _, names) in PLANTED.items() for name in names])
def test_a_first_layer_that_a_bug_puts_below_is_caught(monkeypatch, bug, name):
    function, spoil, _ = PLANTED[bug]
    monkeypatch.setattr(width_experiments, function, spoil(getattr(width_experiments, function)))
    assert getattr(widths, f"fcn_width_{name}").run(device="cpu").outcome is Outcome.REFUTED


@pytest.mark.usefixtures("one_net")
def test_a_net_whose_first_layer_sees_the_selected_tokens_alone_is_caught(monkeypatch):
    right = fully_connected.Net.forward
    monkeypatch.setattr(fully_connected.Net, "forward", lambda net, X, y: right(net, X * y[:, None], y))
    found = widths.fcn_width_trained_nets.run(device="cpu")
    assert found.outcome is Outcome.REFUTED and "against the smallest 0.125" in found.detail


@pytest.mark.usefixtures("one_net")
@pytest.mark.parametrize("name", [RANDOM, AT_LENGTH, BEST, READINGS, NETS])
def test_a_loss_that_is_not_a_number_never_passes(monkeypatch, name):
    spoiled = {"loss": Measurement(math.nan), "loss_0": Measurement(math.nan)}
    experiment = SimpleNamespace(run=lambda **_: SimpleNamespace(measurements=spoiled))
    monkeypatch.setattr(widths, "load_experiment", lambda _: experiment)
    assert getattr(widths, f"fcn_width_{name}").run(device="cpu").outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("least", "measured", "outcome"),
    [
        (1.0, Measurement(1.0), Outcome.VERIFIED),
        (1.0, Measurement(1 - 1e-13), Outcome.VERIFIED),
        (1.0, Measurement(1 - 1e-9), Outcome.REFUTED),
        (0.0, Measurement(0.0), Outcome.VERIFIED),
        (0.0, Measurement(1e-30), Outcome.VERIFIED),
        # Some five standard errors are chance.
        (1.0, Measurement(0.97, 0.01, 1000), Outcome.VERIFIED),
        (1.0, Measurement(0.9, 0.01, 1000), Outcome.REFUTED),
        (1.0, Measurement(0.9, 0.1, 1000), Outcome.INCONCLUSIVE),
        (1.0, Measurement(1.1, 0.1, 1000), Outcome.INCONCLUSIVE),
        (1.0, Measurement(2.0, 0.1, 1000), Outcome.VERIFIED),
        (1.0, Measurement(math.nan, 0.1, 1000), Outcome.REFUTED),
        (1.0, Measurement(math.nan), Outcome.REFUTED),
        (1.0, Measurement(math.inf), Outcome.REFUTED),
    ],
)
def test_what_counts_as_below(least, measured, outcome):
    assert widths.not_below(least, measured, comparisons=1, resolution=0.051).outcome is outcome


def test_the_best_measurements_are_sums_then_contrasts():
    rows = widths.best_measurements(3, 2, 6).reshape(6, 2, 3).tolist()
    assert rows[:2] == [[[1, 1, 1], [0, 0, 0]], [[0, 0, 0], [1, 1, 1]]]
    assert (
        rows[2][0] == [1, -1, 0]
        and rows[4][0] == [1, 1, -2]
        and torch.linalg.matrix_rank(torch.tensor(rows).flatten(1)) == 6
    )


def test_kinds_and_activations_are_those_that_the_simulation_has():
    activations = fully_connected.ACTIVATIONS.items()
    assert widths.KINDS == linear_measurements.KINDS and set(widths.ON_AN_INTERVAL) == set(dict(activations))
    assert set(widths.STRICTLY_MONOTONE) == {name for name, each in activations if each.monotone}
    assert {*widths.ODD_PART_MONOTONE, *widths.STRICTLY_MONOTONE} == {
        name for name, each in activations if each.centre is not None
    }


def test_every_net_has_a_bound_to_fall_below():
    for net in (*widths.NETS, *widths.NETS_IN_FULL):
        assert widths.bound(net.T, net.q, net.d, net.width) > 0
