"""The width of fully-connected nets: the proved formula, compared with first layers of all kinds.

Planted wrong first layers (measurements that know y, one too many, X masked by y) have losses below the formula.
"""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, strategies as st

import verify
from paper_checks.lazily import lazily
from paper_checks.wang2024 import width_lower_bound as widths
from theorems.sparse_token_selection.fully_connected_width import fcn_width
from verify import Crossing, InputError, Measurement, Outcome, agreement, load_experiment, load_theorem, over_drawn
from verify.outcomes import as_float

torch = lazily("torch")
fully_connected, linear_measurements, width_experiments = (
    lazily(f"numerics.sparse_token_selection.{name}")
    for name in ("fully_connected", "linear_measurements", "width_experiments")
)
COMPARISONS = [widths.fcn_width_at_length, widths.fcn_width_readings]
PLANTED_IN = [
    (crossing, label)
    for crossing in (widths.trained_nets, widths.best_first_layers, widths.random_first_layers)
    for label in crossing.planted
]


@pytest.mark.parametrize(
    "instance",
    [
        fcn_width.example,
        {"T": 10**6, "q": 3, "d": 5, "m": 500, "eps": "1/10"},
        {"T": 200, "q": 3, "d": 5, "m": 2, "eps": "1/10"},
        {"T": 7, "q": 7, "d": 2, "m": 14, "eps": 1},
    ],
)
def test_argued_for_all_parameters_from_steps_that_are_proved(ledger, instance):
    # At T = 10⁶ a measurement has millions of entries, and none is drawn.
    undecided = ("smallest", "nets") if instance["T"] == 10**6 else ()
    assert ledger.check(fcn_width, undecided=undecided, **instance).for_all_parameters.standing == "argued"


@pytest.mark.crossing(widths.trained_nets.id)
@given(instance=widths.trained_nets.instances)
def test_width_lower_bound_against_trained_nets(crossing, instance):
    crossing.holds(widths.trained_nets, instance)


@pytest.mark.crossing(widths.best_first_layers.id)
@given(instance=widths.best_first_layers.instances)
def test_width_lower_bound_against_optimised_first_layers(crossing, instance):
    crossing.holds(widths.best_first_layers, instance)


@pytest.mark.crossing(widths.random_first_layers.id)
@given(instance=widths.random_first_layers.instances)
def test_width_lower_bound_against_random_first_layers(crossing, instance):
    crossing.holds(widths.random_first_layers, instance)


@pytest.mark.parametrize(("about", "label"), PLANTED_IN, ids=[f"{about.id}: {label}" for about, label in PLANTED_IN])
def test_planted_errors_in_the_width_lower_bound_are_caught(crossing, about, label):
    crossing.catches(about, label)


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_first_layers(ledger, comparison):
    ledger.compare(comparison)


def test_a_uniformly_random_span_has_the_mean_that_is_said():
    # The mean is d/(2q) (1 − m/(Td)), which for m >= d is (T − 1)/(T − q) times the smallest loss.
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


def knows_y(measurements, subsets):
    """Return the conditional variance with the target's first component, for each y, as the first measurement."""
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


RANDOM, BEST, NETS = widths.random_first_layers, widths.best_first_layers, widths.trained_nets
AT_LENGTH, READINGS = widths.fcn_width_at_length, widths.fcn_width_readings
ONE_NET = widths.TrainedNet(4, 2, 1, 1, 2, "leaky_relu", "together", 0)
PLANTED = {
    "measurements that know y": ("conditional_variance", lambda _: knows_y, (RANDOM,)),
    "one measurement too many": ("random_measurements", too_many(1), (RANDOM, BEST, READINGS)),
    "eight measurements too many": ("random_measurements", too_many(8), (AT_LENGTH,)),
    "half of the loss": ("conditional_variance", halved, (RANDOM, AT_LENGTH)),
    "half of the decoder's loss": ("decoded_losses", halved, (READINGS,)),
    "half of the net's loss": ("net_losses", halved, (NETS,)),
}


@pytest.fixture
def found():
    """Return a function that runs a crossing or a comparison with the current simulation, without caches."""

    def run(about):
        if not isinstance(about, Crossing):
            return about.run(device="cpu")
        instances = st.just(ONE_NET) if about is NETS else about.instances
        examples = 1 if about is NETS else 30
        held = lambda drawn: about.held(about.theory, drawn, "cpu")  # noqa: E731
        return over_drawn(instances, held, examples=examples, seed=0, shrink=False)

    for kept in (widths.descended, widths.trained):
        kept.cache_clear()
    yield run
    for kept in (widths.descended, widths.trained):
        kept.cache_clear()


BUGS = [(bug, about) for bug, (_, _, several) in PLANTED.items() for about in several]


@pytest.mark.parametrize(("bug", "about"), BUGS, ids=[f"{bug}: {about.id}" for bug, about in BUGS])
def test_a_first_layer_that_a_bug_puts_below_is_caught(monkeypatch, found, bug, about):
    function, spoil, _ = PLANTED[bug]
    spoiled = spoil(getattr(width_experiments, function))
    monkeypatch.setattr(f"numerics.sparse_token_selection.width_experiments.{function}", spoiled)
    assert found(about).outcome is Outcome.REFUTED


def test_a_net_whose_first_layer_sees_the_selected_tokens_alone_is_caught(monkeypatch, found):
    right = fully_connected.Net.forward
    monkeypatch.setattr(fully_connected.Net, "forward", lambda net, X, y: right(net, X * y[:, None], y))
    seen = found(NETS)
    assert seen.outcome is Outcome.REFUTED and "against the smallest 0.125" in seen.detail


@pytest.mark.parametrize("about", [RANDOM, AT_LENGTH, BEST, READINGS, NETS], ids=lambda about: about.id)
def test_a_loss_that_is_not_a_number_never_passes(measured, found, about):
    measured(widths, {"loss": math.nan, "loss_0": math.nan})
    assert found(about).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("least", "measured", "outcome"),
    [
        (1.0, Measurement(1.0), Outcome.VERIFIED),
        (1.0, Measurement(1 - 1e-13), Outcome.VERIFIED),
        (1.0, Measurement(1 - 1e-9), Outcome.REFUTED),
        (0.0, Measurement(0.0), Outcome.VERIFIED),
        (0.0, Measurement(1e-30), Outcome.VERIFIED),
        # Differences of up to about five standard errors count as chance.
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
def test_measured_losses_are_judged_against_the_least_loss(least, measured, outcome):
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


@given(net=widths.nets())
def test_every_net_has_a_bound_to_fall_below(net):
    assert widths.bound(net.T, net.q, net.d, net.width) > 0


def test_separation_is_certified(ledger):
    theorem = load_theorem("wang2024.separation")
    ledger.check(theorem, **theorem.example)


@pytest.mark.audit
def test_the_widths_over_the_length():
    """Compare the widths with the abstract: Õ(d + q log T) for attention, Ω̃(Td) for nets."""
    found = load_experiment("wang2024.separation").run(lengths=(Fraction(50), Fraction(200)), q=3, d=20)
    widths = {name: [at.value for at in curve.measured] for name, curve in found.curves.items()}
    # The nets' width grows like T: Td (1 − (T−1)/(8(T−q))).
    assert widths["fully_connected"] == [20 * T * (1 - (T - 1) / (8 * (T - 3))) for T in (50, 200)]
    for name in ("attention_alone", "attention_with_query"):
        short, long = (width - 20 for width in widths[name])
        # Attention's width minus d grows by less than log² T, which grows by a factor of 1.83.
        assert 1 < long / short < (math.log(200) / math.log(50)) ** 2
    assert widths["attention_alone"][1] < widths["fully_connected"][1] / 15


@pytest.mark.audit
def test_the_separation_is_exponential_in_the_length_and_not_in_the_dimension():
    """At fixed d the nets' width grows like T, attention's width − d at most like log² T; their ratio is below T."""

    def widths_at(T, d):
        values = verify.check(load_theorem("wang2024.separation"), T=T, q=3, d=d, share="1/8").values
        return as_float(values["attention_width"]), as_float(values["fully_connected_width"])

    short, long = (widths_at(T, 5) for T in (50, 1000))
    assert long[1] / short[1] == pytest.approx(1000 / 50, rel=0.01)
    assert (long[0] - 5) / (short[0] - 5) < (math.log(1000) / math.log(50)) ** 2
    # σd/3 exp √(3σ(w − d)/q) at σ = 1/8, q = 3.
    for T, (attention, nets) in ((50, short), (1000, long)):
        assert nets >= 5 / 24 * math.exp(math.sqrt((attention - 5) / 8)), T
    ratios = [nets / attention for attention, nets in (widths_at(200, d) for d in (5, 50, 500))]
    assert ratios[0] < ratios[1] < ratios[2] < 200


@pytest.mark.parametrize("lengths", ["3,50", "50,20", "20,20", "41/2,50"])
def test_lengths_that_are_none_are_refused(lengths):
    with pytest.raises(InputError, match="must be integers above q = 3 that rise"):
        load_experiment("wang2024.separation").run(lengths=lengths)
