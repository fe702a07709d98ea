"""The figures: their measurements and refusals, repetition, and the resumption of a killed run with the same bits."""

from itertools import combinations

import pytest
import torch

from numerics.repeatable import seeds_of_runs
from numerics.sparse_token_selection import figures
from numerics.sparse_token_selection.reference import loss
from numerics.sparse_token_selection.trainer import fixed_encodings
from numerics.sparse_token_selection.validation import Validation, late_change
from tests.numerics.devices import DEVICES
from tests.numerics.killed import assert_resumes
from verify import InputError, Running, load_experiment

TINY = {"T": 6, "q": 2, "d": 1, "d_e": 8, "steps": 12, "late": 6, "batch_size": 8, "n_test": 20, "readings": 4}
PAIR = {
    "wang2024.figure2": {"T_test": "7,9", "runs": 1},
    "wang2024.figure4": {"T_test": 9, "q_test": "1,3", "runs": 1},
}
PAIR["wang2024.figure5"] = PAIR["wang2024.figure4"]
NAMES = [f"wang2024.figure{i}" for i in range(1, 6)]


@pytest.fixture(autouse=True)
def _forgotten():
    figures._TRAINED.clear()


def run(name, device="cpu", **more):
    return load_experiment(name).run(device=device, **{**TINY, **PAIR.get(name, {}), **more})


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_a_figure_repeats_from_its_seed(name, device):
    first = run(name, device, seed=3)
    figures._TRAINED.clear()
    again, other = run(name, device, seed=3), run(name, device, seed=4)
    assert first.measurements == again.measurements and first.curves == again.curves
    assert first.heat_maps == again.heat_maps and first.measurements != other.measurements


def test_the_number_of_threads_has_no_say_and_stays():
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            figures._TRAINED.clear()
            found.append(run("wang2024.figure1", T=40, d_e=60, batch_size=64).measurements)
            assert torch.get_num_threads() == threads
        assert found[0] == found[1]
    finally:
        torch.set_num_threads(before)


def test_trainings_are_shared_by_figures_that_have_the_same():
    run("wang2024.figure1")
    kept = dict(figures._TRAINED)
    run("wang2024.figure3")
    assert figures._TRAINED == kept
    run("wang2024.figure2")
    assert len(figures._TRAINED) == 2


def test_readings_and_test_samples_do_not_change_the_training():
    few, many = (run("wang2024.figure1", readings=readings) for readings in (2, 7))
    for name in ("alpha", "C", "cosine_W", "cosine_V"):
        assert few.curves[name].measured[-1] == many.curves[name].measured[-1]
    assert many.curves["loss"].points == (0, 2, 4, 6, 8, 10, 12)
    figures._TRAINED.clear()
    assert run("wang2024.figure1", n_test=50).curves["C"] == run("wang2024.figure1").curves["C"]


@pytest.mark.parametrize(("encoding", "d_e"), [("stochastic", 8), ("fixed", 8), ("one_hot", 6)])
def test_the_first_loss_is_the_references_at_the_initial_matrices(encoding, d_e):
    settings = {"encoding": encoding, "d_e": d_e, "scale": "1/2"}
    found = run("wang2024.figure1", **settings)
    chosen = load_experiment("wang2024.figure1")._chosen({**TINY, **settings}, full=False)
    plan = figures.plan_of(chosen, encoding)
    reading = figures.trained_readings(plan, 0, "cpu", Running(), "x", 0, 1)[0]
    validation = Validation.drawn(plan, 0, "cpu", n=20, T=6, q=2)
    _, tokens, members = validation.whole
    subsets = torch.zeros(20, 6, dtype=torch.float64).scatter_(1, members, 1.0)
    losses = loss(reading.W, reading.V, validation.draw(20), tokens, subsets, attend="tokens_and_query")
    assert found.measurements["loss_start"].value == pytest.approx(float(losses.mean()), rel=1e-12)
    assert found.measurements["loss_start"].samples == 20


def test_the_validation_set_stays_and_stochastic_encodings_do_not():
    chosen = load_experiment("wang2024.figure1")._chosen(TINY, full=False)
    for encoding, changes in (("stochastic", True), ("fixed", False)):
        plan = figures.plan_of(chosen, encoding)
        validation = Validation.drawn(plan, 0, "cpu", n=20, T=6, q=2)
        W, V = torch.ones(9, 9, dtype=torch.float64) / 5, torch.ones(1, 9, dtype=torch.float64)
        tokens = validation.whole.tokens.clone()
        one, other = validation.losses(plan, W, V), validation.losses(plan, W, V)
        assert torch.equal(one, other) is not changes and torch.equal(tokens, validation.whole.tokens)


def test_the_inverse_loss_and_the_cosines_of_zero():
    found = run("wang2024.figure1", scale=0)
    for measured, inverse in zip(found.curves["loss"].measured, found.curves["inverse_loss"].measured, strict=True):
        assert inverse.value * measured.value == pytest.approx(1)
        assert inverse.standard_error / inverse.value == pytest.approx(measured.standard_error / measured.value)
    # A zero matrix has no cosine.
    assert found.curves["loss"].points[0] == 0 and found.curves["cosine_V"].points[0] == 4
    assert found.curves["C"].measured[0].value == 0


def test_several_runs_give_the_spread_of_runs():
    found = run("wang2024.figure1", runs=3)
    for name in ("loss", "C", "cosine_W"):
        assert all(m.samples == 3 and m.standard_error > 0 for m in found.curves[name].measured)
    single = run("wang2024.figure1")
    assert {(m.samples, m.standard_error) for m in single.curves["C"].measured} == {(1, None)}
    assert all(m.samples == 20 and m.standard_error > 0 for m in single.curves["loss"].measured)
    # Each of several runs equals a single run with its seed.
    seeds = list(seeds_of_runs(0, 3))
    ends = [run("wang2024.figure1", seed=seed).measurements["loss_end"].value for seed in seeds]
    assert found.measurements["loss_end"].value == pytest.approx(sum(ends) / 3) and len(set(seeds)) == 3


@pytest.mark.parametrize("name", ["wang2024.figure2", "wang2024.figure4", "wang2024.figure5"])
def test_several_runs_of_both_encodings_have_draws_of_their_own(name):
    found = run(name, runs=3)
    assert all(m.samples == 3 and m.standard_error > 0 for curve in found.curves.values() for m in curve.measured)
    trained = {(plan.encoding, seed) for plan, seed, _ in figures._TRAINED}
    assert len(trained) == 6
    draws = [fixed_encodings(seed, 6, 8, torch.float64, "cpu") for encoding, seed in trained if encoding == "fixed"]
    assert not any(torch.equal(a, b) for a, b in combinations(draws, 2))


def test_rises_and_ends_are_measured_beside_the_curves():
    several, single = (run("wang2024.figure4", runs=runs).measurements for runs in (3, 1))
    for encoding in ("stochastic", "fixed"):
        rise = several[f"{encoding}_rise_q1_to_q3"]
        ends = [several[f"{encoding}_q{size}_end"] for size in (1, 3)]
        assert rise.value == pytest.approx(ends[1].value - ends[0].value) and rise.samples == 3
        assert single[f"{encoding}_rise_q1_to_q3"].standard_error is None
        for name in ("cosine_W", "cosine_V", "C", "alpha"):
            assert several[f"{encoding}_{name}_end"].samples == 3
            assert single[f"{encoding}_{name}_end"].standard_error is None
    one = run("wang2024.figure1").measurements
    assert single["stochastic_cosine_W_end"] == one["cosine_W_end"]


def test_the_late_change_is_that_of_the_last_quarter_run_by_run():
    readings = [torch.tensor([x, x + 1], dtype=torch.float64) for x in (9.0, 5.0, 3.0, 2.0, 1.5)]
    other = [reading + 7 for reading in readings]
    one, two = late_change([readings]), late_change([readings, other])
    # All points and all runs change by the same amount, so the standard error of the change is 0.
    assert (one.value, one.standard_error, one.samples) == (-0.5, 0, 2)
    assert (two.value, two.standard_error, two.samples) == (-0.5, 0, 2)
    assert late_change([readings[:2]]).value == -4


def test_heat_maps_are_the_matrices():
    found = run("wang2024.figure3")
    chosen = load_experiment("wang2024.figure3")._chosen(TINY, full=False)
    readings = figures.trained_readings(figures.plan_of(chosen, "stochastic"), 0, "cpu", Running(), "x", 0, 1)
    for name, reading in (("before", readings[0]), ("after", readings[-1])):
        assert found.heat_maps[f"W_{name}"].values == tuple(map(tuple, reading.W.tolist()))
        assert found.heat_maps[f"V_{name}"].values == tuple(map(tuple, reading.V.tolist()))
        positional = reading.W[1:, 1:]
        assert found.measurements[f"identity_W_{name}"].value == pytest.approx(float(positional.trace()) / 8)
        rest = reading.W.clone()
        rest[1:, 1:].fill_diagonal_(0.0)
        assert found.measurements[f"largest_off_W_{name}"].value == float(rest.abs().max())
        assert found.measurements[f"largest_off_W_{name}"].standard_error is None
    grown = readings[-1].W.abs() - readings[0].W.abs()
    grown[1:, 1:].fill_diagonal_(0.0)
    assert found.measurements["largest_off_W_growth"].value == float(grown.max())
    identity = [found.measurements[f"identity_W_{name}"].value for name in ("before", "after", "growth")]
    assert identity[2] == pytest.approx(identity[1] - identity[0])
    # The columns of W that have no effect, because x_query = 0, keep their initial values.
    assert torch.equal(readings[0].W[:, :1], readings[-1].W[:, :1])


def test_both_encodings_at_every_length_and_subset_size():
    assert set(run("wang2024.figure2").curves) == {f"{e}_T{T}" for e in ("stochastic", "fixed") for T in (7, 9)}
    found = run("wang2024.figure4")
    names = {f"{e}_{w}" for e in ("stochastic", "fixed") for w in ("T9", "q1", "q3", "over_q")}
    assert set(found.curves) == names and found.curves["fixed_over_q"].points == (1, 3)
    assert found.curves["fixed_over_q"].measured[1] == found.curves["fixed_q3"].measured[-1]
    assert found.curves["fixed_T9"].quantity == found.curves["stochastic_T9"].quantity


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("wang2024.figure1", {"q": 7}, "q = 7: must be at most T = 6"),
        ("wang2024.figure1", {"encoding": "one_hot"}, "d_e = 8: must be T = 6 for one-hot encoding"),
        ("wang2024.figure2", {"T_test": "7,7"}, "T_test = 7,7: must be integers, all different"),
        ("wang2024.figure2", {"T_test": "15/2"}, "must be integers, all different"),
        ("wang2024.figure2", {"T_test": "7,1"}, "T_test = 1: must be at least q = 2"),
        ("wang2024.figure4", {"T_test": 1}, "T_test = 1: must be at least q = 2"),
        ("wang2024.figure4", {"q_test": "1,7"}, "q_test = 7: must be from 1 to T = 6"),
        ("wang2024.figure1", {"eta": "1e300"}, "training diverges"),
    ],
)
def test_settings_that_do_not_fit_together(name, given, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        run(name, **given)
    if "diverges" not in message:
        assert not figures._TRAINED, "it is refused before it trains"


@pytest.mark.parametrize(
    ("name", "trainings", "sets"),
    [(NAMES[0], 1, 1), (NAMES[1], 2, 2), (NAMES[2], 1, 1), (NAMES[3], 2, 2), (NAMES[4], 2, 2)],
)
def test_the_expected_time_counts_steps_and_readings(monkeypatch, name, trainings, sets):
    times = iter([2.0, 3.0] * trainings)
    monkeypatch.setattr(figures, "timed", lambda *_: next(times))
    experiment = load_experiment(name)
    chosen = experiment._chosen({**TINY, **PAIR.get(name, {})}, full=False)
    # There are 12 steps of 2 seconds, and 4 readings of 3 seconds on each set. Readings count twice, because a set may
    # have longer sequences.
    assert experiment.expect(chosen, device="cpu") == trainings * (12 * 2 + 2 * sets * 4 * 3)


COMMAND = ["wang2024.figure4", "T=6", "q=2", "d=1", "d_e=8", "batch_size=8", "n_test=20", "readings=4"]
COMMAND += ["T_test=9", "q_test=1,3", "steps=1200", "late=600", "runs=2", "--device", "cpu", "--seed", "5", "--json"]


@pytest.mark.audit
def test_a_figure_that_is_killed_goes_on_to_the_same_numbers(tmp_path):
    assert_resumes(COMMAND, tmp_path)
