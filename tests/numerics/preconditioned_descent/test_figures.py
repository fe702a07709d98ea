"""Figures 1 to 5: measurements, refused settings, and bitwise repetition, even after a run is killed."""

import math

import pytest
import torch

from numerics.preconditioned_descent import figures
from numerics.preconditioned_descent.experiments import distance_to_identity
from numerics.preconditioned_descent.reduced import losses
from numerics.preconditioned_descent.trainer import Training, prompts_for, task_of
from tests.numerics.devices import DEVICES
from tests.numerics.killed import assert_resumes
from verify import InputError, Running, load_experiment

TINY = {"L": 2, "d": 2, "n": 3, "spectrum": "even", "least": "1/4", "steps": 12, "halving": 5, "batch": 8}
TINY |= {"resample": 3, "readings": 4}
OVER = {"runs": 2, "n_test": 20}
NAMES = [f"ahn2023.figure{i}" for i in range(1, 6)]


@pytest.fixture(autouse=True)
def _forgotten():
    figures._TRAINED.clear()


def run(name, device="cpu", **more):
    own = OVER if name in (NAMES[0], NAMES[2]) else {}
    return load_experiment(name).run(device=device, **{**TINY, **own, **more})


def chosen(name, **more):
    own = OVER if name in (NAMES[0], NAMES[2]) else {}
    return load_experiment(name)._chosen({**TINY, **own, **more}, full=False)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", [pytest.param(NAMES[0], marks=pytest.mark.audit), *NAMES[1:]])
def test_a_figure_repeats_from_its_seed(name, device):
    first = run(name, device, seed=3)
    figures._TRAINED.clear()
    again, other = run(name, device, seed=3), run(name, device, seed=4)
    assert first.measurements == again.measurements and first.curves == again.curves
    assert first.heat_maps == again.heat_maps and first.measurements != other.measurements


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_the_same_on_each_device(name, device):
    found = run(name, device).measurements
    figures._TRAINED.clear()
    for key, expected in run(name).measurements.items():
        # Adam divides by the root of the mean square, so small entries agree to fewer digits.
        assert found[key].value == pytest.approx(expected.value, rel=1e-6, abs=1e-8)


def test_the_number_of_threads_has_no_say_and_stays():
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            figures._TRAINED.clear()
            found.append(run(NAMES[2], d=6, batch=4000, resample=2).measurements)
            assert torch.get_num_threads() == threads
        assert found[0] == found[1]
    finally:
        torch.set_num_threads(before)


def test_trainings_are_shared_by_figures_that_have_the_same():
    run(NAMES[0])
    kept = dict(figures._TRAINED)
    run(NAMES[1])
    assert figures._TRAINED == kept and len(kept) == 2
    for name in NAMES[2:]:
        run(name)
    assert len(figures._TRAINED) == 4


def test_readings_and_test_prompts_do_not_change_the_training():
    few, many = (run(NAMES[0], readings=readings) for readings in (2, 7))
    assert all(few.curves[name].measured[-1] == many.curves[name].measured[-1] for name in few.curves)
    assert many.curves["log_loss"].points == (0, 2, 4, 6, 8, 10, 12)
    figures._TRAINED.clear()
    assert run(NAMES[0], n_test=50).curves["A0"] == run(NAMES[0]).curves["A0"]


@pytest.mark.parametrize(("name", "pattern"), [(NAMES[0], "A"), (NAMES[2], "A_and_B")])
def test_a_single_run_is_read_as_it_is(name, pattern):
    found = run(name, runs=1)
    plan = figures.plan_of(chosen(name, runs=1), pattern)
    training = Training(plan, 0, "cpu")
    root = task_of(plan, 0, "cpu").root
    unseen = prompts_for(plan, 0, "unseen", 20, "cpu")
    for i, step in enumerate(plan.read):
        while training.step < step:
            training.advance()
        A, *B = training.matrices
        errors = losses(A, B[0] if B else None, unseen)
        log = found.curves["log_loss"].measured[i]
        assert log.value == pytest.approx(math.log(errors.mean()), abs=1e-12) and log.samples == 20
        assert log.standard_error == pytest.approx(float(errors.std() / errors.mean()) / math.sqrt(20))
        expected = {f"whitened_A{j}": root @ M @ root for j, M in enumerate(A)} | {f"A{j}": M for j, M in enumerate(A)}
        expected |= {"B0": B[0][0]} if B else {}
        for key, matrix in expected.items():
            assert found.curves[key].measured[i].value == pytest.approx(float(distance_to_identity(matrix)))
    assert set(found.curves) == {"log_loss", *expected}  # pyright: ignore[reportPossiblyUnboundVariable]
    assert found.measurements["test_loss"].value == pytest.approx(float(errors.mean()))  # pyright: ignore[reportPossiblyUnboundVariable]


def test_several_runs_give_the_spread_of_runs():
    found = run(NAMES[2], runs=3)
    assert all(m.samples == 3 and m.standard_error > 0 for curve in found.curves.values() for m in curve.measured)
    each = [found.measurements[f"test_loss_run{i}"] for i in range(3)]
    pooled = found.measurements["test_loss"]
    assert pooled.samples == 60 and pooled.value == pytest.approx(sum(m.value for m in each) / 3)
    logs = sum(math.log(m.value) for m in each) / 3
    assert found.curves["log_loss"].measured[-1].value == pytest.approx(logs)
    low, high = (found.measurements[f"A0_{end}"].value for end in ("least", "largest"))
    assert low < found.curves["A0"].measured[-1].value < high
    # With runs=3, the first run is the same as with runs=1. Each run has its own Σ.
    assert run(NAMES[2], runs=1).measurements["test_loss"] == each[0]
    assert found.curves["whitened_A0"].quantity == found.curves["whitened_A1"].quantity
    assert found.curves["A0"].quantity == "Dist(A_ℓ, I)" and found.curves["B0"].quantity == "Dist(B_ℓ, I)"


@pytest.mark.parametrize(("name", "letter", "count"), [(NAMES[1], "A", 2), (NAMES[3], "B", 1), (NAMES[4], "A", 2)])
def test_heat_maps_are_the_matrices(name, letter, count):
    found = run(name)
    pattern = "A" if name == NAMES[1] else "A_and_B"
    plan = figures.plan_of(chosen(name), pattern)
    last = figures.trained(plan, 0, "cpu", Running(), "x", id)[-1]
    root = task_of(plan, 0, "cpu").root
    matrices = [root @ A @ root for A in last.A] if letter == "A" else list(last.B[:-1])
    assert set(found.heat_maps) == {f"{letter}{i}" for i in range(count)} and len(matrices) == count
    for i, matrix in enumerate(matrices):
        assert found.heat_maps[f"{letter}{i}"].values == tuple(map(tuple, matrix.tolist()))
        get = {key: found.measurements[f"{letter}{i}_{key}"].value for key in ("diagonal_least", "off_diagonal")}
        assert get["diagonal_least"] == float(matrix.diagonal().min())
        assert get["off_diagonal"] == max(abs(float(matrix[0, 1])), abs(float(matrix[1, 0])))


@pytest.mark.parametrize("name", [NAMES[1], NAMES[4]])
def test_heat_maps_in_the_basis_of_eigenvectors(name):
    found, plan = run(name, basis="eigenvectors"), figures.plan_of(chosen(name), "A" if name == NAMES[1] else "A_and_B")
    vectors = task_of(plan, 0, "cpu").vectors
    for key, shown in run(name).heat_maps.items():
        expected = vectors.T @ torch.tensor(shown.values, dtype=torch.float64) @ vectors
        torch.testing.assert_close(torch.tensor(found.heat_maps[key].values, dtype=torch.float64), expected)
        assert (expected - torch.tensor(shown.values, dtype=torch.float64)).abs().max() > 1e-4


COMMON = {"L": "3", "d": "5", "batch": "20000", "resample": "100", "spectrum": "printed", "clip": "1/100"}
"""Settings that the authors' code and the paper's text share."""
OWN = {
    "code": {"beta1": "99/100", "beta2": "9/10", "scale": "1/10000", "rotation": "singular_vectors", "n": "20"},
    "text": {"beta1": "9/10", "beta2": "9/10", "scale": "1/100", "rotation": "uniform"},
}
STEPS = {
    ("code", False): {"steps": "30000", "eta": "1/50", "halving": "2000", "runs": "5"},
    ("code", True): {"steps": "100000", "eta": "1/10", "halving": "4000", "runs": "3"},
    ("text", False): {"steps": "30000", "n": "20", "runs": "5"},
    ("text", True): {"steps": "100000", "n": "10", "runs": "5"},
}


@pytest.mark.parametrize("protocol", ["code", "text"])
@pytest.mark.parametrize("name", NAMES)
def test_the_settings_of_the_code_and_of_the_text(name, protocol):
    full = load_experiment(name)._chosen({} if protocol == "code" else {"protocol": protocol}, full=True)
    assert full == load_experiment(name)._chosen({"protocol": protocol}, full=False)
    expected = COMMON | OWN[protocol] | STEPS[protocol, name in NAMES[2:]] | {"protocol": protocol}
    assert expected.items() - {("runs", expected["runs"])} <= {(key, str(value)) for key, value in full.items()}
    assert str(full.get("runs", expected["runs"])) == expected["runs"]
    assert full["dtype"] == ("float32" if protocol == "code" else "float64")
    assert int(full.get("n_test", 0)) in (0, 20_000 if name in NAMES[2:] else 200_000)
    assert str(full.get("basis", "")) in ("", "eigenvectors" if protocol == "code" else "standard")


def test_quick_settings_are_neither():
    assert chosen(NAMES[0])["protocol"] == "quick" and chosen(NAMES[0])["dtype"] == "float64"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (NAMES[0], {"spectrum": "printed"}, "d = 2: must be 5 with the printed spectrum"),
        (NAMES[0], {"eta": "1e80"}, "training diverges"),
        (NAMES[0], {"readings": 1}, "readings = 1: must be an integer >= 2"),
        (NAMES[0], {"n_test": 1}, "n_test = 1: must be an integer >= 2"),
        (NAMES[0], {"scale": 0}, "scale = 0: must be a number .* > 0"),
        (NAMES[1], {"runs": 2}, "runs = 2: is not a setting of ahn2023.figure2"),
        (NAMES[3], {"batch": 0}, "batch = 0: must be an integer >= 1"),
    ],
)
def test_settings_that_do_not_fit(name, given, message):
    with pytest.raises(InputError, match=message):
        run(name, **given)


@pytest.mark.parametrize(("name", "runs", "unseen"), [(NAMES[0], 2, 20), (NAMES[1], 1, 0), (NAMES[4], 1, 0)])
def test_the_expected_time_counts_steps_draws_and_readings(monkeypatch, name, runs, unseen):
    times = iter([30.0, 2.0])
    monkeypatch.setattr(figures, "timed", lambda *_: next(times))
    # 12 steps take 2 s each, and 4 draws of 8 prompts take 30 s each. The draw of unseen prompts and 4 readings on them
    # take times in proportion to the number of prompts.
    each = 12 * 2 + 4 * 30 + unseen / 8 * 30 + 4 * unseen / 8 * 2
    assert load_experiment(name).expect(chosen(name), device="cpu") == runs * each


COMMAND = ["ahn2023.figure3", "L=2", "d=2", "n=3", "batch=8", "resample=7", "n_test=20", "readings=4", "runs=2"]
COMMAND += ["steps=600", "halving=200", "--device", "cpu", "--seed", "5", "--json"]


@pytest.mark.audit
def test_a_figure_that_is_killed_goes_on_to_the_same_numbers(tmp_path):
    assert_resumes(COMMAND, tmp_path)
