"""The figures' comparisons, on trained transformers and on made-up measurements, and the predictions in the plots."""

import math
from fractions import Fraction
from types import SimpleNamespace

import pytest

import verify
from paper_checks import margins
from paper_checks.ahn2023 import captions, figures, predictions, printed_layers
from paper_checks.lazily import lazily
from verify import HeatMap, InputError, Measurement, Outcome, load_experiment, load_prediction
from verify.reports.simulate import with_theory

tokens = lazily("theorems.preconditioned_descent.preconditioned_tokens")
VERIFIED, REFUTED, INCONCLUSIVE = Outcome.VERIFIED, Outcome.REFUTED, Outcome.INCONCLUSIVE
EXPECTED = {
    "Figures 1 and 2": {
        figures.figure1_reaches_theorem3s_minimum: VERIFIED,
        figures.figure1_loss_to_zero: REFUTED,
        figures.figure1_distances: VERIFIED,
        figures.figure2_trained_weights_are_printed: INCONCLUSIVE,
    },
    "Figures 3 to 5": {
        figures.figure3_ends_at_a_local_minimum: VERIFIED,
        figures.figure3_log_loss_at_ten_examples: INCONCLUSIVE,
        figures.figure3_log_loss_trained_at_ten: INCONCLUSIVE,
        figures.figure3_log_loss_trained_at_twenty: INCONCLUSIVE,
        figures.figures_4_and_5_trained_weights_are_printed: INCONCLUSIVE,
        figures.figures_4_and_5_trained_weights_at_ten: INCONCLUSIVE,
    },
    "Figure 6": {
        figures.figure6_transformer_is_preconditioned_descent: VERIFIED,
        figures.figure6_below_gradient_descent: VERIFIED,
        figures.figure6_least_squares: VERIFIED,
        figures.figure6_equal_steps_in_the_code: VERIFIED,
        figures.figure6_transformer_is_below_in_the_code: VERIFIED,
        figures.figure6_least_squares_in_the_code: VERIFIED,
    },
    "Figure 7": {
        figures.figure7_transformer_is_preconditioned_descent: VERIFIED,
        figures.figure7_below_gradient_descent: VERIFIED,
        figures.figure7_loss_falls_with_layers: VERIFIED,
        figures.figure7_equal_steps_in_the_code: VERIFIED,
        figures.figure7_transformer_is_below_in_the_code: VERIFIED,
    },
}
BY_FULL = {
    # The outcomes of full runs, each of one training.
    figures.figure2_trained_weights_are_printed: VERIFIED,
    figures.figure3_log_loss_trained_at_twenty: VERIFIED,
    figures.figures_4_and_5_trained_weights_are_printed: INCONCLUSIVE,
    # Trainings as in the text: both outcomes are accepted.
    figures.figure3_log_loss_trained_at_ten: (VERIFIED, REFUTED),
    figures.figures_4_and_5_trained_weights_at_ten: (VERIFIED, REFUTED),
}
"""The outcomes under `--full` of the comparisons that quick runs do not decide."""


def expected_of(comparison, full):
    """Return the expected outcome of a comparison, or all accepted outcomes."""
    (quick,) = (group[comparison] for group in EXPECTED.values() if comparison in group)
    return BY_FULL.get(comparison, quick) if full else quick


# The comparisons of a group share trainings, so that one worker runs the whole group.
READINGS = [
    pytest.param(comparison, id=comparison.id, marks=pytest.mark.xdist_group(f"ahn2023 {group}"))
    for group, several in EXPECTED.items()
    for comparison in several
]


@pytest.mark.parametrize("comparison", READINGS)
def test_figure_against_training(ledger, full, comparison):
    ledger.compare(comparison, expect=expected_of(comparison, full))


def test_full_runs_have_their_own_expected_outcomes():
    assert all(expected_of(comparison, full=False) is INCONCLUSIVE for comparison in BY_FULL)
    assert expected_of(figures.figure2_trained_weights_are_printed, full=True) is VERIFIED
    assert expected_of(figures.figure3_log_loss_trained_at_ten, full=True) == (VERIFIED, REFUTED)
    assert expected_of(figures.figure1_distances, full=True) is VERIFIED


def test_an_unfinished_training_does_not_reach_the_minimum(monkeypatch):
    right = figures.trained
    monkeypatch.setattr(figures, "trained", lambda *about, **more: right(*about, **more, steps=150))
    assert figures.figure1_reaches_theorem3s_minimum.run(device="cpu").outcome is not VERIFIED
    assert figures.figure1_distances.run(device="cpu").outcome is not VERIFIED


def test_every_reading_has_an_expected_outcome():
    own = {value for value in vars(figures).values() if isinstance(value, figures.Comparison)}
    assert own == {comparison for group in EXPECTED.values() for comparison in group}


def test_a_minimum_off_by_a_tenth_is_refuted(monkeypatch):
    right = predictions.least_loss
    for factor in (0.9, 1.1):
        monkeypatch.setattr(figures, "least_loss", lambda factor=factor, **own: factor * right(**own))
        for comparison in (
            figures.figure1_reaches_theorem3s_minimum,
            figures.figure6_transformer_is_preconditioned_descent,
        ):
            assert comparison.run(device="cpu").outcome is REFUTED, comparison.id


def measured(value, error=1e-3, samples=5000):
    return Measurement(value, error, samples)


@pytest.mark.parametrize(
    ("loss", "outcome"),
    [
        (measured(1.003), VERIFIED),
        (measured(1.02), REFUTED),
        (measured(0.98), REFUTED),
        (measured(1.02, 0.1), INCONCLUSIVE),
        (measured(5.0, 0.1), REFUTED),
    ],
)
def test_a_loss_agrees_with_theory_within_its_error(loss, outcome):
    assert captions.agrees(1.0, loss).outcome is outcome


@pytest.mark.parametrize(
    ("begun", "whitened", "plain", "outcome"),
    [
        ((1.0, 0.95), (0.03, 0.09), (0.7, 0.75), VERIFIED),
        ((1.0, 0.95), (0.03, 0.2), (0.7, 0.75), INCONCLUSIVE),
        ((1.0, 0.95), (0.03, 0.6), (0.7, 0.75), REFUTED),
        ((1.0, 0.95), (0.03, 0.09), (0.05, 0.75), REFUTED),
        ((1.0, 0.95), (0.03, 0.09), (0.3, 0.75), INCONCLUSIVE),
        # The second layer starts at 0.09, and no distance falls to a tenth of that.
        ((1.0, 0.09), (0.03, 0.09), (0.7, 0.75), REFUTED),
        ((1.0, 0.5), (0.03, 0.09), (0.7, 0.75), INCONCLUSIVE),
    ],
)
def test_one_distance_falls_and_the_other_does_not(begun, whitened, plain, outcome):
    given = ([Measurement(x) for x in each] for each in (begun, whitened, plain))
    assert captions.fallen(*given, 0.784).outcome is outcome


@pytest.mark.parametrize(
    ("matrices", "outcome"),
    [
        ([(0.416, 0.434), (1.69, 1.72)], VERIFIED),
        ([(0.40, 0.434), (1.69, 1.72)], INCONCLUSIVE),
        ([(0.416, 0.434), (1.69, 1.80)], INCONCLUSIVE),
        ([(0.35, 0.434), (1.69, 1.72)], REFUTED),
        ([(0.416, 0.434), (1.69, 2.0)], REFUTED),
    ],
)
def test_weights_are_as_printed(matrices, outcome):
    printed = [(Fraction("0.415"), Fraction("0.435")), (Fraction("1.685"), Fraction("1.725"))]
    assert captions.as_printed(matrices, printed).outcome is outcome


@pytest.mark.parametrize(
    ("losses", "outcome"),
    [
        ((measured(1.0), measured(2.003)), VERIFIED),
        ((measured(1.0), measured(1.5)), REFUTED),
        ((measured(1.0), measured(1.5, 0.4)), INCONCLUSIVE),
    ],
)
def test_each_loss_is_at_one_of_the_minima(losses, outcome):
    assert captions.at_one_of(losses, [1.0, 2.0]).outcome is outcome


@pytest.mark.parametrize(
    ("losses", "outcome"), [((0.1, 0.2), VERIFIED), ((0.4, 0.5), REFUTED), ((0.1, 0.5), INCONCLUSIVE)]
)
def test_losses_end_below_a_level(losses, outcome):
    assert captions.ended_below(losses, 0.3).outcome is outcome
    # A search that finds no loss below the level does not refute that such a loss exists.
    found = captions.found_below(losses, 0.3)
    assert found.outcome is (VERIFIED if outcome is VERIFIED else INCONCLUSIVE)
    assert ("is not shown" in found.detail) == (outcome is not VERIFIED)


@pytest.mark.parametrize(
    ("losses", "outcome"),
    [
        ((measured(3.0, 0.02), measured(1.0, 0.02)), VERIFIED),
        ((measured(3.0, 0.02), measured(1.3, 0.02)), REFUTED),
        ((measured(3.0, 0.5), measured(1.0, 0.02)), INCONCLUSIVE),
    ],
)
def test_least_squares_loses_d_minus_n_for_fewer_than_d_examples(losses, outcome):
    assert captions.least_squares_as_said((2, 4), losses, 5).outcome is outcome


def test_least_squares_solves_prompts_of_at_least_d_examples(monkeypatch):
    assert captions.solved([0.1, 1.0]).outcome is VERIFIED and captions.solved([0.1, 2.0]).outcome is REFUTED
    right = figures.solving_errors_at
    assert 0 < max(right([1.0, 0.5], 2, "cpu", 0)) <= 1
    monkeypatch.setattr(figures, "solving_errors_at", lambda *about: [*right(*about), 1e3])
    assert figures.figure6_least_squares.run(device="cpu").outcome is REFUTED


@pytest.mark.parametrize(
    ("values", "error", "outcome"),
    [((3, 2, 1), 1e-3, VERIFIED), ((3, 1, 2), 1e-3, REFUTED), ((3, 2, 1.999), 1e-3, INCONCLUSIVE)],
)
def test_a_loss_falls_from_each_point_to_the_next(values, error, outcome):
    assert captions.falls([measured(x, error) for x in values]).outcome is outcome


def test_a_constant_loss_is_not_seen_to_fall():
    assert captions.falls([measured(1.0, 0.0), measured(1.0, 0.0)]).outcome is INCONCLUSIVE
    with pytest.raises(ValueError, match="no margin"):
        captions.falls([measured(1.0)])


class Made:
    """A made-up result of a figure: matrices with constant diagonals."""

    def __init__(self, letter, diagonals, off=0.0):
        names = [f"{letter}{i}" for i in range(len(diagonals))]
        self.heat_maps = dict.fromkeys(names, HeatMap("row", "column", "entry", ((0.0,),)))
        pairs = zip(names, diagonals, strict=True)
        self.measurements = {
            f"{name}_diagonal_{end}": Measurement(x) for name, x in pairs for end in ("least", "largest")
        } | {f"{name}_off_diagonal": Measurement(off) for name in names}


@pytest.mark.parametrize(
    ("diagonals", "off", "outcome"),
    [
        ((0.69, 1.70, 0.425), 0.01, VERIFIED),
        ((0.69, 1.70, 0.425), 0.02, INCONCLUSIVE),
        ((0.69, 1.70, 0.425), 0.06, REFUTED),
        ((0.70, 1.70, 0.425), 0.01, INCONCLUSIVE),
        ((0.69, 1.70, 0.69), 0.01, REFUTED),
    ],
)
def test_made_up_weights_are_held_against_figure_2(monkeypatch, diagonals, off, outcome):
    monkeypatch.setattr(figures, "trained", lambda *_, **__: Made("A", diagonals, off))
    assert figures.figure2_trained_weights_are_printed.run(device="cpu", full=True).outcome is outcome


@pytest.mark.parametrize(
    ("A", "B", "outcome"),
    [
        ((0.38, 2.4, 9.5), (0.905, 0.565), VERIFIED),
        ((0.36, 2.4, 9.5), (0.905, 0.565), INCONCLUSIVE),
        # The printed weights are not Theorem 4's best point.
        ((0.338, 2.091, 8.568), (0.878, 0.578), REFUTED),
    ],
)
def test_made_up_diagonals_are_held_against_figures_4_and_5(monkeypatch, A, B, outcome):
    asked = []

    def trained(figure, device, full, seed, **settings):
        asked.append((figure, full, settings))
        return Made("A", A) if figure == "5" else Made("B", B)

    monkeypatch.setattr(figures, "trained", trained)
    found = figures.figures_4_and_5_trained_weights_are_printed
    assert found.run(device="cpu", full=True).outcome is outcome
    assert asked == [("5", True, {"protocol": "code"}), ("4", True, {"protocol": "code"})]
    assert found.run(device="cpu").outcome is INCONCLUSIVE and len(asked) == 2
    assert figures.figures_4_and_5_trained_weights_at_ten.run(device="cpu", full=True).outcome is outcome
    assert asked[2:] == [("5", True, {"protocol": "text"}), ("4", True, {"protocol": "text"})]


@pytest.mark.parametrize(
    ("losses", "outcome"), [((1e-3, 2e-3), VERIFIED), ((1e-3, 3e-3), INCONCLUSIVE), ((3e-3, 1.0), REFUTED)]
)
def test_made_up_losses_are_held_against_figure_3(monkeypatch, losses, outcome):
    asked = []

    def trained(figure, device, full, seed, **settings):
        asked.append((figure, full, settings))
        return SimpleNamespace(
            settings={"runs": 2}, measurements={f"test_loss_run{i}": Measurement(x) for i, x in enumerate(losses)}
        )

    monkeypatch.setattr(figures, "trained", trained)
    for found in (figures.figure3_log_loss_trained_at_ten, figures.figure3_log_loss_trained_at_twenty):
        assert found.run(device="cpu", full=True).outcome is outcome
        assert found.run(device="cpu").outcome is INCONCLUSIVE
    assert asked == [("3", True, {"protocol": "text"}), ("3", True, {"protocol": "code"})]


@pytest.mark.parametrize(("distance", "outcome"), [(0.1, REFUTED), (0.5, INCONCLUSIVE)])
def test_a_loss_at_the_least_on_the_set_refutes_zero_only_near_the_set(monkeypatch, distance, outcome):
    ends = {f"whitened_A{i}_largest": Measurement(distance) for i in range(3)}
    made = SimpleNamespace(settings={"L": 3, "d": 5, "n": 20}, measurements=ends | {"test_loss": measured(0.134)})
    monkeypatch.setattr(figures, "trained", lambda *_, **__: made)
    found = figures.figure1_loss_to_zero.run(device="cpu")
    assert found.outcome is outcome and ("not near the set" in found.detail) == (outcome is INCONCLUSIVE)


def test_one_start_finds_the_least_loss_that_several_starts_find():
    # The one start is near Theorem 4's best point at n = 20.
    one, several = (
        printed_layers.descended(20, "cpu", 0, starts)[0]
        for starts in (printed_layers.STARTS[:1], printed_layers.STARTS)
    )
    assert several <= one and several == pytest.approx(one, rel=1e-3) and several < figures.LEVEL3


def test_least_losses_of_theory():
    assert predictions.least_loss(3, 5, 20) == pytest.approx(12138645 / 90852389)
    points = verify.check(tokens.theorem4, L=1, d=2, n=4).values["critical_points"]
    # For one layer there is one critical point, and its loss is d(d + 1)/(n + d + 1).
    assert len(points) == 1 and predictions.local_minima(1, 2, 4) == pytest.approx((6 / 7,))


def test_the_distance_of_the_inverse():
    # tr Σ^{-1} = 23 and tr Σ^{-2} = 275 for the printed spectrum.
    printed = predictions.spectrum_of({"spectrum": "printed", "d": 5, "least": 1})
    assert predictions.distance_of_inverse(printed) == pytest.approx(math.sqrt(1 - 23**2 / (5 * 275)))
    assert predictions.distance_of_inverse([2.0, 2.0]) == 0


@pytest.mark.parametrize(
    ("found", "protocol"),
    [
        (figures.figure1_reaches_theorem3s_minimum, "code"),
        (figures.figure2_trained_weights_are_printed, "code"),
        (figures.figure6_below_gradient_descent, "text"),
        (figures.figure6_least_squares_in_the_code, "code"),
        (figures.figure7_loss_falls_with_layers, "text"),
        (figures.figure7_equal_steps_in_the_code, "code"),
    ],
)
def test_full_runs_follow_the_protocol_of_the_reading(monkeypatch, found, protocol):
    asked = []

    class Asked(Exception):  # noqa: N818
        pass

    def trained(figure, device, full, seed, **settings):
        asked.append((full, settings))
        raise Asked

    monkeypatch.setattr(figures, "trained", trained)
    for full in (True, False):
        with pytest.raises(Asked):
            found.run(device="cpu", full=full)
    assert asked[0] == (True, {"protocol": protocol})
    assert not asked[1][0] and "protocol" not in asked[1][1]


def test_the_loss_of_equal_steps():
    # The loss of one step a on n examples is d − 2ad + a² E tr S², and E tr S² = d (n + d + 1)/n.
    assert predictions.loss_of_equal_steps(1, 3, 7, 0.5) == pytest.approx(3 - 3 + 0.25 * 3 * 11 / 7)
    # The best step has Theorem 3's least loss for one layer; two equal steps exceed the least loss for two layers.
    assert predictions.loss_of_equal_steps(1, 2, 4, 4 / 7) == pytest.approx(predictions.least_loss(1, 2, 4))
    best = min(predictions.loss_of_equal_steps(2, 2, 4, i / 1000) for i in range(1, 1000))
    assert best > 1.01 * predictions.least_loss(2, 2, 4)


def test_the_loss_for_another_number_of_examples_is_refuted(monkeypatch):
    right = predictions.loss_of_equal_steps
    monkeypatch.setattr(predictions, "loss_of_equal_steps", lambda L, d, n, a: right(L, d, n + 1, a))
    assert figures.figure6_equal_steps_in_the_code.run(device="cpu").outcome is REFUTED


TINY = {"d": 2, "spectrum": "even", "least": "1/4", "steps": 12, "halving": 5, "batch": 8, "resample": 3, "n_test": 20}


@pytest.mark.parametrize(
    ("name", "given", "drawn"),
    [
        ("figure1", {"L": 2, "n": 5, "runs": 1, "readings": 3}, {"log_loss": 1, "A0": 1}),
        ("figure3", {"L": 1, "n": 4, "runs": 2, "readings": 3}, {"log_loss": 1, "A0": 1}),
        ("figure3", {"L": 4, "n": 5, "runs": 1, "readings": 3}, {}),
        ("figure6", {"L": 2, "examples": "1,4", "n_fit": 50}, {"transformer": 2}),
        ("figure6", {"L": 2, "examples": "3,4", "n_fit": 50}, {"transformer": 1}),
        ("figure7", {"n": 5, "layers": "1,2", "n_fit": 50}, {"transformer": 1}),
    ],
)
def test_predictions_are_drawn_over_their_curves(name, given, drawn):
    result = load_experiment(f"ahn2023.{name}").run(device="cpu", **TINY, **given)
    theory = with_theory(result).theory
    wanted = [(result.curves[key].over, result.curves[key].quantity) for key, n in drawn.items() for _ in range(n)]
    assert sorted((each.over, each.quantity) for each in theory.values()) == sorted(wanted)
    for each in theory.values():
        assert all(math.isfinite(x) for x in (*each.lower, *each.upper)) and each.lower == each.upper


def test_predictions_are_the_least_losses_of_theorem_3():
    result = load_experiment("ahn2023.figure7").run(device="cpu", **TINY, n=5, layers="1,2", n_fit=50)
    (said,) = load_prediction("ahn2023.figure7").predict(result).values()
    assert said.points == (1, 2) and said.lower == tuple(predictions.least_loss(L, 2, 5) for L in (1, 2))
    result = load_experiment("ahn2023.figure6").run(device="cpu", **TINY, L=2, examples="1,4", n_fit=50)
    found = load_prediction("ahn2023.figure6").predict(result)
    assert found["d_-_n"].points == (1,) and found["d_-_n"].lower == (1,)


def test_predictions_for_the_comparison_of_the_authors_code():
    own = {"trained": "A_and_B", "left_out": 1, "steps_from": "grid", "n_fit": 50}
    result = load_experiment("ahn2023.figure6").run(device="cpu", **TINY, **own, L=1, examples="2,3,5")
    found = load_prediction("ahn2023.figure6").predict(result)
    # Least squares sees n − 1 examples. Theorem 3's least loss is not drawn, because the B_l are trained too.
    assert (
        found["d_-_n"].points == (2,)
        and found["d_-_n"].lower == (1,)
        and set(found)
        == {
            "d_-_n",
            "equal_preconditioned_steps",
        }
    )
    steps = [m.value for m in result.curves["preconditioned_gradient_descent_steps"].measured]
    expected = [2 - 4 * a + a**2 * 2 * (n + 2) / (n - 1) for a, n in zip(steps, (2, 3, 5), strict=True)]
    assert found["equal_preconditioned_steps"].lower == pytest.approx(expected)


def test_a_wrong_setting_is_named_in_the_error():
    with pytest.raises(InputError, match="d = 3: must be 5 with the printed spectrum"):
        figures.trained("1", "cpu", False, 0, d=3, spectrum="printed")


@pytest.mark.parametrize(
    ("end", "floor", "outcome"),
    [
        (measured(0.14), (0.139, 0.141), REFUTED),
        (measured(0.05), (0.139, 0.141), INCONCLUSIVE),
        (measured(0.14, 0.1), (0.139, 0.141), INCONCLUSIVE),
    ],
)
def test_convergence_to_zero_is_held_against_the_least_loss(end, floor, outcome):
    assert margins.to_zero(end, floor).outcome is outcome


def test_figures_2_4_and_5_print_these_numbers():
    assert set(printed_layers.printed.PRINTED) == {"a0", "a1", "a2", "b0", "b1"}
    assert figures.PRINTED2[1] == ("0.69", "0.69")
