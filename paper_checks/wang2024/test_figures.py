"""The figures' captions on trained layers, their verdicts on measurements that are made up, and the theory drawn."""

import math

import pytest

from paper_checks import margins
from paper_checks.wang2024 import captions, figures, on_the_set, predictions
from verify import Curve, Measurement, Outcome, load_experiment, load_prediction
from verify.simulate import with_theory

VERIFIED, REFUTED, INCONCLUSIVE = Outcome.VERIFIED, Outcome.REFUTED, Outcome.INCONCLUSIVE
EXPECTED = {
    "Figures 1 and 3": {
        figures.figure1_loss_to_zero: REFUTED,
        figures.figure1_loss_to_zero_on_tokens: REFUTED,
        figures.figure1_inverse_loss_linear: REFUTED,
        figures.figure1_cosines_to_one: VERIFIED,
        figures.figure1_sgd_is_near_population_descent: VERIFIED,
        figures.figure1_one_hot_sgd_is_near_the_recursion: VERIFIED,
        figures.figure3_identity_blocks_survive: VERIFIED,
    },
    "Figures 2 and 4": {
        figures.figure2_lengths_are_predicted: VERIFIED,
        figures.figure2_fixed_stays_above_a_constant: VERIFIED,
        figures.figure4_length_to_zero: REFUTED,
        figures.figure4_fixed_ends_above: VERIFIED,
        figures.figure4_unseen_sizes_to_zero: REFUTED,
        figures.figure4_stochastic_is_quicker: VERIFIED,
        figures.figure4_fixed_is_worse_with_q: VERIFIED,
    },
    "Figure 5": {
        figures.figure5_length_to_zero: REFUTED,
        figures.figure5_fixed_ends_above: VERIFIED,
        figures.figure5_unseen_sizes_to_zero: REFUTED,
        figures.figure5_stochastic_is_quicker: VERIFIED,
        figures.figure5_fixed_is_worse_with_q: VERIFIED,
    },
    "the figures' own sizes": {figures.figure2_after_ten_thousand_steps: INCONCLUSIVE},
}


@pytest.mark.parametrize("group", EXPECTED)
def test_captions(ledger, group):
    """Of one group in one test, so that parallel workers do not train the same twice."""
    for comparison, expected in EXPECTED[group].items():
        ledger.compare(comparison, expect=expected)


def test_no_caption_is_left_out():
    own = {value for value in vars(figures).values() if isinstance(value, figures.Comparison)}
    assert own == {comparison for group in EXPECTED.values() for comparison in group}


LAYER = on_the_set.layer(16, 3, 2, 32, True)


@pytest.mark.parametrize(("query", "alpha", "C"), [(True, 1.0, 0.8), (True, 8.0, 1.0), (False, 0.5, 1.6)])
def test_a_step_of_population_descent_is_the_sampled_gradient(query, alpha, C):
    import torch

    from numerics.sparse_token_selection.experiments import ground_truth
    from numerics.sparse_token_selection.stochastic import measurement
    from numerics.sparse_token_selection.trainer import SignEncodings, batch_gradient, draw_batch

    layer = on_the_set.layer(16, 3, 2, 32, query)
    _, after = layer.descent(alpha, C, iter([1.0]))
    truth, generator = ground_truth(32, 2), torch.Generator().manual_seed(0)
    source, found = SignEncodings(32, torch.float64, "cpu"), {"alpha": [], "C": [], "loss": []}
    for _ in range(60):
        batch = draw_batch(1000, 3, 2, source(1000, 16, generator), generator, torch.float64)
        slope = batch_gradient(C * truth.W, alpha * truth.V, batch, "tokens_and_query" if query else "tokens")
        found["alpha"].append(slope.V[:, :2].trace() / 2)
        found["C"].append(slope.W[2:].trace() / 32)
        found["loss"].append(slope.loss)
    expected = {"alpha": alpha - after.alpha, "C": C - after.C, "loss": layer.loss(alpha, C)}
    for name, values in found.items():
        measured = measurement(torch.stack(values))
        low, high = margins.ends(measured)
        assert low <= expected[name] <= high and high - low < 0.3 * abs(expected[name]) + 1e-3, name


def test_the_least_loss_is_where_the_two_numbers_end():
    lower, upper = LAYER.floor(figures.POSITIVE)
    *_, last = LAYER.descent(3.0, 1.2, iter([1.0] * 8000))
    assert lower <= last.loss + 1e-4 and last.loss < upper * 1.001
    assert LAYER.error(last.alpha, last.C) < 1e-2 * last.loss


def test_a_wrong_recursion_is_refuted(monkeypatch):
    run = figures.trained("1", "cpu", False, 0, attend="tokens_and_query")
    right = {p.step: p.loss for p in predictions.stochastic_descent(run.settings)}
    curve = run.curves["loss"]
    assert captions.near(*captions.second_half(curve, right), figures.NEAR).outcome is VERIFIED
    for factor in (0.8, 1.25):
        wrong = {step: factor * loss for step, loss in right.items()}
        assert captions.near(*captions.second_half(curve, wrong), figures.NEAR).outcome is REFUTED


def curve(*values, error=1e-3, samples=5000):
    return Curve(
        "step", "loss", tuple(float(i) for i in range(len(values))), tuple(measured(v, error, samples) for v in values)
    )


def measured(value, error=1e-3, samples=5000):
    return Measurement(value, error, samples)


@pytest.mark.parametrize(
    ("end", "floor", "outcome"),
    [
        (measured(0.14), (0.139, 0.141), REFUTED),
        (measured(0.3), (0.139, 0.141), REFUTED),
        # Below what theory allows: training has left the set, and theory says nothing.
        (measured(0.05), (0.139, 0.141), INCONCLUSIVE),
        (measured(0.01), (0.0, 0.001), INCONCLUSIVE),
        # Not told from 0.
        (measured(0.14, 0.1), (0.139, 0.141), INCONCLUSIVE),
    ],
)
def test_converges_to_zero(end, floor, outcome):
    assert margins.to_zero(end, floor).outcome is outcome


@pytest.mark.parametrize(
    ("values", "error", "outcome"),
    [
        ((1, 2, 3, 4, 5), 1e-3, VERIFIED),
        ((1, 2, 3, 3.1, 3.2), 1e-3, REFUTED),
        ((1, 2, 3, 4, 5), 1.0, INCONCLUSIVE),
    ],
)
def test_increases_linearly(values, error, outcome):
    assert captions.linear(curve(*values, error=error)).outcome is outcome


@pytest.mark.parametrize(
    ("values", "outcome"),
    [((0, 0.995, 0.999), VERIFIED), ((0, 0.95, 0.98), REFUTED), ((0, 0.999, 0.995), REFUTED)],
)
def test_tends_to_one(values, outcome):
    assert captions.to_one(curve(*values, error=0.0, samples=1)).outcome is outcome


@pytest.mark.parametrize(
    ("found", "error", "outcome"),
    [(1.02, 1e-3, VERIFIED), (1.2, 1e-3, REFUTED), (0.8, 1e-3, REFUTED), (1.02, 0.1, INCONCLUSIVE)],
)
def test_near(found, error, outcome):
    verdict = captions.near([1.0, 1.0], [measured(1.0, error), measured(found, error)], 0.1)
    assert verdict.outcome is outcome and verdict.instances == 2 and f"{found - 1:+.2%}" in verdict.detail


@pytest.mark.parametrize(
    ("values", "error", "outcome"),
    [((0.3, 0.2, 0.25), 1e-3, VERIFIED), ((0.3, 0.05, 0.25), 1e-3, REFUTED), ((0.3, 0.11, 0.2), 0.01, INCONCLUSIVE)],
)
def test_stays_above(values, error, outcome):
    assert captions.stays_above(curve(*values, error=error), 0.1).outcome is outcome


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ((1, 0.5, 0.5, 0.5), (1, 0.8, 0.5, 0.5), VERIFIED),
        ((1, 0.8, 0.5, 0.5), (1, 0.5, 0.5, 0.5), REFUTED),
        ((1, 0.5, 0.5, 0.5), (1, 0.5, 0.5, 0.5), INCONCLUSIVE),
        # What dips and comes back has not settled.
        ((1, 0.5, 0.9, 0.5), (1, 0.8, 0.5, 0.5), REFUTED),
    ],
)
def test_slightly_quicker(first, second, outcome):
    assert captions.sooner(curve(*first), curve(*second)).outcome is outcome


@pytest.mark.parametrize(
    ("values", "error", "outcome"),
    [((1, 2, 3), 1e-3, VERIFIED), ((1, 3, 2), 1e-3, REFUTED), ((1, 2, 2.001), 1e-3, INCONCLUSIVE)],
)
def test_worse_as_q_grows(values, error, outcome):
    assert captions.rising(curve(*values, error=error)).outcome is outcome


@pytest.mark.parametrize(("share", "outcome"), [(0.95, VERIFIED), (0.7, INCONCLUSIVE), (0.3, REFUTED)])
def test_after_about_ten_thousand_steps(share, outcome):
    assert captions.about_ten_thousand(share) is outcome


TINY = {"T": 6, "q": 2, "d": 1, "d_e": 8, "steps": 12, "late": 6, "batch_size": 8, "n_test": 20, "readings": 4}


@pytest.mark.parametrize(
    ("name", "given", "names"),
    [
        ("figure1", {}, {"loss": 2, "inverse_loss": 2, "alpha": 1, "C": 1}),
        ("figure1", {"optimizer": "adam"}, {"loss": 1, "inverse_loss": 1}),
        ("figure1", {"encoding": "fixed"}, {}),
        ("figure1", {"encoding": "one_hot", "d_e": 6}, {}),
        (
            "figure1",
            {"encoding": "one_hot", "d_e": 6, "attend": "tokens", "scale": 0},
            {"loss": 1, "inverse_loss": 1, "alpha": 1, "C": 1},
        ),
        ("figure2", {"T_test": "7,9"}, {"stochastic_T7": 1, "stochastic_T9": 1}),
        ("figure4", {"T_test": 7, "q_test": "1,3"}, {f"stochastic_{w}": 1 for w in ("T7", "q1", "q3", "over_q")}),
        ("figure5", {"T_test": 7, "q_test": "1,3"}, {"stochastic_T7": 1}),
    ],
)
def test_what_is_predicted_is_drawn_over_its_curve(name, given, names):
    result = load_experiment(f"wang2024.{name}").run(device="cpu", **(TINY | given))
    theory = with_theory(result).theory
    wanted = [(result.curves[key].over, result.curves[key].quantity) for key, n in names.items() for _ in range(n)]
    assert sorted((each.over, each.quantity) for each in theory.values()) == sorted(wanted)
    for each in theory.values():
        assert all(math.isfinite(x) for x in (*each.lower, *each.upper))
        assert all(low <= high for low, high in zip(each.lower, each.upper, strict=True))


def test_predictions_end_where_training_does():
    result = load_experiment("wang2024.figure1").run(device="cpu", **TINY)
    said = load_prediction("wang2024.figure1").predict(result)["population_gradient_descent"]
    assert (said.at[0], said.at[-1]) == (0, 12)
