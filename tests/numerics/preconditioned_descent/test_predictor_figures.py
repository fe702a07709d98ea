"""Figures 6 and 7: each predictor's loss equals its definition on the same prompts; settings that are refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from numerics.preconditioned_descent import figures, predictor_figures
from numerics.preconditioned_descent.predictors import best_real_steps, least_norm_losses, power_errors
from numerics.preconditioned_descent.reduced import losses
from numerics.preconditioned_descent.trainer import Training, prompts_for, task_of
from numerics.repeatable import seeds_of_runs
from tests.numerics.devices import DEVICES
from verify import InputError, Running, load_experiment

TINY = {"d": 2, "spectrum": "even", "least": "1/4", "steps": 12, "halving": 5, "batch": 8, "resample": 3}
TINY |= {"runs": 2, "n_test": 30, "n_fit": 50}
OWN = {"ahn2023.figure6": {"examples": "1,4", "L": 2}, "ahn2023.figure7": {"layers": "1,3", "n": 4}}
NAMES = list(OWN)
PREDICTORS = {"transformer", "gradient_descent", "preconditioned_gradient_descent"}
PREDICTORS |= {"least_squares_Euclidean_norm", "least_squares_Sigma_norm"}


@pytest.fixture(autouse=True)
def _forgotten():
    figures._TRAINED.clear()


def run(name, device="cpu", **more):
    return load_experiment(name).run(device=device, **{**TINY, **OWN[name], **more})


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_a_figure_repeats_from_its_seed(name, device):
    first = run(name, device, seed=3)
    figures._TRAINED.clear()
    again, other = run(name, device, seed=3), run(name, device, seed=4)
    assert first.curves == again.curves and first.curves != other.curves and set(first.curves) == PREDICTORS
    assert {m.samples for curve in first.curves.values() for m in curve.measured} == {60}
    assert len({(curve.over, curve.quantity) for curve in first.curves.values()}) == 1


@pytest.mark.parametrize(("name", "trained"), [(NAMES[0], "A"), (NAMES[1], "A"), (NAMES[0], "A_and_B")])
def test_losses_are_those_of_each_predictor(name, trained):
    found = run(name, runs=1, trained=trained)
    experiment = load_experiment(name)
    settings = experiment._chosen({**TINY, **OWN[name], "trained": trained}, full=False)
    for place, (value, plan) in enumerate(predictor_figures._plans(settings, "n" if name == NAMES[0] else "L")):
        assert found.curves["transformer"].points[place] == value and value in (plan.n, plan.L)
        training = Training(plan, 0, "cpu")
        for _ in range(12):
            training.advance()
        A, *B = training.matrices
        assert len(B) == (trained == "A_and_B")
        task = task_of(plan, 0, "cpu")
        unseen, fitted = (prompts_for(plan, 0, what, k, "cpu") for what, k in (("unseen", 30), ("fitted", 50)))
        expected = {"transformer": losses(A, B[0] if B else None, unseen)}
        identity = torch.eye(2, dtype=torch.float64)
        for descent, K in (("gradient_descent", identity), ("preconditioned_gradient_descent", task.inverse)):
            steps, _ = best_real_steps(power_errors(K, fitted, plan.L))
            p = torch.tensor(np.poly(steps))
            expected[descent] = (p @ power_errors(K, unseen, plan.L)).square()
        expected["least_squares_Euclidean_norm"] = least_norm_losses(unseen, plan.n, identity)
        expected["least_squares_Sigma_norm"] = least_norm_losses(unseen, plan.n, task.root)
        for key, values in expected.items():
            measured = found.curves[key].measured[place]
            assert measured.value == pytest.approx(float(values.mean()), rel=1e-12)
            assert measured.standard_error == pytest.approx(float(values.std()) / math.sqrt(30))


def test_runs_are_pooled():
    both, first = run(NAMES[1]), run(NAMES[1], runs=1)
    for curve, alone in ((both.curves[k], first.curves[k]) for k in ("transformer", "gradient_descent")):
        assert curve.measured[0].value != alone.measured[0].value
    assert len(figures._TRAINED) == 4


def test_step_sizes_that_are_not_real_are_counted(monkeypatch):
    found = run(NAMES[0], n_fit=20_000)
    assert {found.measurements[f"{name}_complex_steps"].value for name in predictor_figures.DESCENTS} == {0}
    monkeypatch.setattr(predictor_figures, "best_real_steps", lambda _: (np.array([0.5, 0.5]), 2))
    found = run(NAMES[0])
    # Two complex steps at each of two points, in each of two runs.
    assert found.measurements["gradient_descent_complex_steps"].value == 8


IN_THE_CODE = {"left_out": 1, "steps_from": "grid", "kept": 2, "steps": 200, "trained": "A_and_B", "halving": 100}


@pytest.mark.audit
@pytest.mark.parametrize("name", NAMES)
def test_losses_are_those_of_the_authors_code(name):
    own = IN_THE_CODE | {"examples": "2,7", "eta_few": "1/50"} if name == NAMES[0] else IN_THE_CODE
    found = run(name, **own)
    settings = load_experiment(name)._chosen({**TINY, **OWN[name], **own}, full=False)
    identity = torch.eye(2, dtype=torch.float64)
    for place, (value, plan) in enumerate(predictor_figures._plans(settings, "n" if name == NAMES[0] else "L")):
        assert plan.read == (100, 200) and plan.eta == (0.02 if name == NAMES[0] and value < 5 else 0.15)
        fewer, rows = replace(plan, n=plan.n - 1), {}
        for seed in seeds_of_runs(0, 2):
            training, kept = Training(plan, seed, "cpu"), []
            while training.step < 200:
                training.advance()
                if training.step % 100 == 0:
                    kept.append([matrix.clone() for matrix in training.matrices])
            own_prompts = prompts_for(plan, seed, "validation", plan.batch, "cpu")
            A, B = min(kept, key=lambda pair: losses(*pair, own_prompts).mean())
            rows.setdefault("transformer", []).append(losses(A, B, prompts_for(plan, seed, "unseen", 30, "cpu")))
            unseen = prompts_for(fewer, seed, "unseen by others", 30, "cpu")
            task = task_of(plan, seed, "cpu")
            for descent, K in (("gradient_descent", identity), ("preconditioned_gradient_descent", task.inverse)):
                a = found.curves[f"{descent}_steps"].measured[place].value
                # Preconditioned gradient descent by its definition: w ← w − a K S (w − w*), from 0.
                w = torch.zeros_like(unseen.weights)
                for _ in range(plan.L):
                    w = w - a * K @ torch.einsum("ijp,jp->ip", unseen.second_moment, w - unseen.weights)
                errors = ((w - unseen.weights) * unseen.query).sum(dim=0)
                rows.setdefault(descent, []).append(errors.square())
            least = least_norm_losses(unseen, fewer.n, task.root)
            rows.setdefault("least_squares_Sigma_norm", []).append(least)
        for key, values in rows.items():
            mean = float(torch.cat(values).mean())
            assert found.curves[key].measured[place].value == pytest.approx(mean, rel=1e-9), key


def test_equal_steps_are_the_best_of_the_grid():
    found = run(NAMES[1], layers="1,2", steps_from="grid", left_out=1, n=4)
    settings = load_experiment(NAMES[1])._chosen({**TINY, **OWN[NAMES[1]], "layers": "1,2", "n": 3}, full=False)
    for place, (L, plan) in enumerate(predictor_figures._plans(settings, "L")):
        fitted, task = prompts_for(plan, 0, "fitted", 50, "cpu"), task_of(plan, 0, "cpu")
        tried = {}
        for step in (0.001, 0.002, 0.004, 0.008, 0.01, 0.02, 0.04, 0.08, 0.16):
            gradient = 3 * step * task.inverse @ fitted.second_moment.permute(2, 0, 1)
            left = torch.linalg.matrix_power(torch.eye(2, dtype=torch.float64) - gradient, L)
            errors = torch.einsum("pij,jp,ip->p", left, fitted.weights, fitted.query)
            tried[3 * step] = float(errors.square().mean())
        chosen = found.curves["preconditioned_gradient_descent_steps"].measured[place].value
        assert chosen == pytest.approx(min(tried, key=lambda a: tried[a]))


COMMON = {"d": "5", "trained": "A_and_B", "left_out": "1", "steps_from": "grid", "n_fit": "5000", "runs": "5"}
COMMON |= {"eta": "1/100", "scale": "1/10000", "dtype": "float32", "rotation": "singular_vectors", "beta1": "99/100"}
OF_FIGURE = [
    {"L": "3", "steps": "8000", "halving": "2000", "batch": "40000", "resample": "1", "clip": "1/1000", "kept": "10"}
    | {"beta2": "99/100", "eta_few": "1/1000"},
    {"n": "20", "steps": "20000", "halving": "4000", "batch": "20000", "resample": "100", "clip": "1/100"}
    | {"kept": "20", "beta2": "9/10"},
]


def test_the_settings_of_the_code_and_of_the_text():
    for name, own in zip(NAMES, OF_FIGURE, strict=True):
        code = {key: str(value) for key, value in load_experiment(name)._chosen({}, full=True).items()}
        assert (COMMON | own | {"protocol": "code"}).items() <= code.items()
        text = load_experiment(name)._chosen({"protocol": "text"}, full=True)
        sizes = {key: int(text[key]) for key in ("d", "batch", "resample", "steps", "runs", "left_out", "kept")}
        assert sizes == {"d": 5, "batch": 20_000, "resample": 100, "steps": 30_000, "runs": 5, "left_out": 0, "kept": 1}
        assert text["trained"] == "A" and text["steps_from"] == "best"
    figure6, figure7 = map(load_experiment, NAMES)
    for protocol, last in (("code", 20), ("text", 22)):
        points = figure6._chosen({"protocol": protocol}, full=True)["examples"]
        assert tuple(map(int, points)) == tuple(range(2, last + 1, 2))
        full = figure7._chosen({"protocol": protocol}, full=True)
        assert tuple(map(int, full["layers"])) == (1, 2, 3, 4) and int(full["n"]) == 20


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (NAMES[0], {"examples": "4,4"}, "examples = 4,4: must be integers, all different"),
        (NAMES[0], {"examples": "5/2"}, "must be integers, all different"),
        (NAMES[0], {"examples": "0,4"}, "examples = 0,4: .*>= 1"),
        (NAMES[1], {"layers": "1,1"}, "layers = 1,1: must be integers, all different"),
        (NAMES[0], {"n": 4}, "n = 4: is not a setting of ahn2023.figure6"),
        (NAMES[1], {"L": 4}, "L = 4: is not a setting of ahn2023.figure7"),
        (NAMES[1], {"n_fit": 5}, "n_fit = 5: must be an integer >= 10"),
        (NAMES[1], {"layers": "12", "n_fit": 11}, "n_fit = 11: must be at least 13"),
        (NAMES[0], {"spectrum": "printed"}, "d = 2: must be 5 with the printed spectrum"),
        (NAMES[0], {"eta": "1e80", "eta_few": "1e80"}, "training diverges"),
        (NAMES[0], {"left_out": 1}, "left_out = 1: must be below the number of examples, 1"),
        (NAMES[1], {"left_out": 4}, "left_out = 4: must be below the number of examples, 4"),
        (NAMES[1], {"kept": 2}, "kept = 2: must be at most steps/100 \\+ 1 = 1"),
    ],
)
def test_settings_that_do_not_fit(name, given, message):
    with pytest.raises(InputError, match=message):
        run(name, **given)


@pytest.mark.parametrize("name", NAMES)
def test_the_expected_time_is_that_of_all_trainings(monkeypatch, name):
    monkeypatch.setattr(predictor_figures, "expected_seconds", lambda plan, device, runs, unseen: runs * unseen)
    chosen = load_experiment(name)._chosen({**TINY, **OWN[name]}, full=False)
    assert load_experiment(name).expect(chosen, device="cpu") == 2 * 2 * 80


def test_finished_trainings_are_not_repeated(tmp_path):
    running = Running(tmp_path / "state.pt", every=0.0)
    experiment = load_experiment(NAMES[0])
    chosen = experiment._chosen({**TINY, **OWN[NAMES[0]]}, full=False)
    first = experiment.measure(chosen, seed=1, device="cpu", running=running)
    figures._TRAINED.clear()
    told = []
    again = Running(tmp_path / "state.pt", tell=lambda *done: told.append(done))
    assert experiment.measure(chosen, seed=1, device="cpu", running=again) == first and told == []
