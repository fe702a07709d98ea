"""Figures 6 and 7 of Ahn et al. 2023: the trained transformer next to gradient descent and least squares.

The transformer is trained anew for each number of examples or of layers, and tested with the same number of examples.
Gradient descent takes as many steps as there are layers. Standard errors are those of the mean over the prompts of all
runs, given the trained matrices and the step sizes. An error of 0 cannot be shown on a logarithmic axis.

With `protocol=text` the training is that of Figure 1 (A_l of pattern (8); `trained=A_and_B` is pattern (11)). All
predictors see all n examples of the same prompts, which are used neither in training nor in fitting. The step sizes of
plain descent and of descent with the preconditioner Σ^{-1} are the best real ones for `n_fit` prompts (`predictors`),
one for each step. If complex step sizes were allowed, some of the best might not be real; their number is reported.
Least squares has error 0 from d examples on. For fewer it is the solution of least norm; the paper does not name the
norm, and both the Euclidean and the Σ-norm are shown.

With `protocol=code`, the protocol of `--full`, the comparison follows the authors' code
(github.com/chengxiang/LinearTransformer, `variable_N_exp` and `variable_L_exp`). It differs from `text` in these
points:
- A_l and B_l are trained. Near the end the matrices are kept every 100 steps; the best on a separate batch are tested.
- All predictors except the transformer leave out one of the n examples.
- All steps of gradient descent are equal: the best of nine (`predictors.GRID`) for `n_fit` prompts of the first run.

The code solves least squares in whitened coordinates, which gives the solution of least Σ-norm.

Four choices are ours. The whole grid is tried; the code tries only its six largest steps for plain descent in Figure 7
and for preconditioned descent in Figure 6. The last matrices are those at the end of training, 100 steps later than the
code's. The prompts with n − 1 examples are drawn separately; their distribution is that of prompts with n examples
after one example is left out. There are more test prompts, the same number for all predictors.

The docstring of `figures` says which of the other choices are the paper's, the code's or ours.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.preconditioned_descent.experiments import TRAINED
from numerics.preconditioned_descent.figures import (
    CODE,
    QUICK,
    TEXT,
    by_protocol,
    expected_seconds,
    integer,
    measured,
    plan_of,
    positive,
    source,
    test_losses,
    trained,
)
from numerics.preconditioned_descent.predictors import (
    best_of_grid,
    best_real_steps,
    least_norm_losses,
    power_errors,
)
from numerics.preconditioned_descent.trainer import Plan, Reading, prompts_for, task_of
from numerics.repeatable import one_thread, seeds_of_runs
from verify import Curve, Experiment, InputError, Measurement, Parameter, Running
from verify.language.parameters import Instance

LOSS = "loss on unseen prompts"
STEP = "equal step size for the mean over the examples"
_APART = 100
"""Number of steps between the matrices that are kept; the best of them are tested."""
_FEW = 5
"""Number of examples below which the authors' code has a smaller step size."""
OVER = {"n": "n: examples in the prompt", "L": "L: layers, or steps"}
DESCENTS = ("gradient_descent", "preconditioned_gradient_descent")


def whole_numbers(settings: Instance, name: str) -> list[int]:
    """Return a setting's list of integers.

    Raises
    ------
    InputError
        If a number is not an integer, or occurs twice.
    """
    values = settings[name]
    assert isinstance(values, tuple)
    if any(value.denominator != 1 for value in values) or len(set(values)) < len(values):
        raise InputError(name, ",".join(map(str, values)), "must be integers, all different")
    return [int(value) for value in values]


def _plans(settings: Instance, along: str) -> list[tuple[int, Plan]]:
    """Return the points of a figure's axis `along`, n or L, each with the plan of its training.

    Raises
    ------
    InputError
        If a point is not an integer or occurs twice, more matrices are to be kept than the steps allow, or all examples
        are left out.
    """
    points = whole_numbers(settings, {"n": "examples", "L": "layers"}[along])
    steps, kept, left_out = (int(settings[name]) for name in ("steps", "kept", "left_out"))
    if _APART * (kept - 1) > steps:
        raise InputError("kept", kept, f"must be at most steps/{_APART} + 1 = {steps // _APART + 1}")
    least = min(points) if along == "n" else int(settings["n"])
    if left_out >= least:
        raise InputError("left_out", left_out, f"must be below the number of examples, {least}")
    read = [steps - _APART * i for i in reversed(range(kept))]
    return [
        (
            value,
            plan_of(
                settings,
                str(settings["trained"]),
                read=read,
                **{along: value},
                **({"eta": settings["eta_few"]} if along == "n" and value < _FEW else {}),
            ),
        )
        for value in points
    ]


class _Losses:
    """The losses of each predictor in all runs at one point of a figure, and data on the step sizes."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Tensor]] = {}
        self.not_real = dict.fromkeys(DESCENTS, 0)
        self.equal_steps: dict[str, np.ndarray] = {}

    def add(self, name: str, values: Float64[Tensor, "N"]) -> None:
        self.rows.setdefault(name, []).append(values)

    def add_run(self, plan: Plan, seed: int, device: str, settings: Instance, readings: list[Reading]) -> None:
        """Add a run's losses: of its best matrices, and of the other predictors, which omit `left_out` examples."""
        count, task = int(settings["n_test"]), task_of(plan, seed, device)
        unseen = prompts_for(plan, seed, "unseen", count, device)
        self.add("transformer", test_losses(*_best(readings, plan, seed, device), unseen))
        if left_out := int(settings["left_out"]):
            plan = replace(plan, n=plan.n - left_out)
            unseen = prompts_for(plan, seed, "unseen by others", count, device)
        fitted = prompts_for(plan, seed, "fitted", int(settings["n_fit"]), device)
        identity = torch.eye(plan.d).to(task.root)
        for name, K in zip(DESCENTS, (identity, task.inverse), strict=True):
            errors = power_errors(K, fitted, plan.L)
            if settings["steps_from"] == "grid":
                if name not in self.equal_steps:
                    self.equal_steps[name] = best_of_grid(errors, plan.n)
                steps = self.equal_steps[name]
            else:
                steps, not_real = best_real_steps(errors)
                self.not_real[name] += not_real
            p = torch.tensor(np.poly(steps)).to(task.root)
            self.add(name, (p @ power_errors(K, unseen, plan.L)).square())
        for name, root in (("least_squares_Euclidean_norm", identity), ("least_squares_Sigma_norm", task.root)):
            self.add(name, least_norm_losses(unseen, plan.n, root))


def _best(
    readings: list[Reading], plan: Plan, seed: int, device: str
) -> tuple[Float64[Tensor, "L d d"], Float64[Tensor, "L d d"] | None]:
    """Return the A and B, among the readings, with the least loss on a separate batch of prompts."""
    if len(readings) == 1:
        return readings[0].A, readings[0].B
    prompts = prompts_for(plan, seed, "validation", plan.batch, device)
    best = min(readings, key=lambda reading: float(test_losses(reading.A, reading.B, prompts).mean()))
    return best.A, best.B


def _compared(along: str) -> Callable[..., Mapping[str, Measurement | Curve]]:
    """Return the function that measures a figure along n or L."""

    def measure(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement | Curve]:
        plans, count = _plans(settings, along), int(settings["runs"])
        steps = plans[0][1].read[-1]
        total = len(plans) * count * steps
        points = []
        for place, (value, plan) in enumerate(plans):
            losses = _Losses()
            for i, own in enumerate(seeds_of_runs(seed, count)):
                before = (place * count + i) * steps
                part = f"{along} = {value}, run {i}"
                read = trained(plan, own, device, running, part, lambda s, b=before: running.steps(b + s, total))
                losses.add_run(plan, own, device, settings, read)
            points.append(losses)
        positions = tuple(float(value) for value, _ in plans)

        def curve(name: str) -> Curve:
            values = tuple(measured(torch.cat(point.rows[name])) for point in points)
            return Curve(OVER[along], LOSS, positions, values, logarithmic=True)

        shown: dict[str, Measurement | Curve] = {name: curve(name) for name in points[0].rows}
        for name in DESCENTS:
            if settings["steps_from"] == "grid":
                chosen = tuple(Measurement(float(point.equal_steps[name][0])) for point in points)
                shown[f"{name}_steps"] = Curve(OVER[along], STEP, positions, chosen)
            else:
                wrong = sum(point.not_real[name] for point in points)
                shown[f"{name}_complex_steps"] = Measurement(float(wrong))
        return shown

    return measure


EXAMPLES = Parameter("examples", "rationals", "numbers of examples, in training and in the test", minimum=1)
LAYERS = Parameter("layers", "rationals", "numbers of layers, and of steps", minimum=1)
_OWN = (
    TRAINED,
    integer("left_out", "examples that all but the transformer leave out", 0),
    Parameter("steps_from", "word", "step sizes of descent: each the best, or equal", words=("best", "grid")),
    integer("kept", f"last matrices, {_APART} steps apart, of which the best are tested"),
    integer("n_fit", "prompts for which step sizes are the best, of each run", 10),
)
_ALL = {"trained": "A", "left_out": 0, "steps_from": "best", "kept": 1}
_QUICK = QUICK | _ALL | {"n_fit": 50_000, "d": 3, "steps": 500, "halving": 60, "eta": "3/20", "batch": 4000}
_QUICK |= {"runs": 1, "n_test": 100_000}
_TEXT = TEXT | _ALL | {"n_fit": 1_000_000, "steps": 30_000, "halving": 3000, "runs": 5, "n_test": 200_000}
_CODE = CODE | {"trained": "A_and_B", "left_out": 1, "steps_from": "grid", "n_fit": 5000, "eta": "1/100", "runs": 5}
_CODE |= {"n_test": 200_000}
_OVER_EXAMPLES = (
    _QUICK | {"L": 2, "examples": "2,4,8,16", "eta_few": "3/20"},
    _CODE
    | {"L": 3, "examples": "2,4,6,8,10,12,14,16,18,20", "eta_few": "1/1000", "steps": 8000, "halving": 2000}
    | {"batch": 40_000, "resample": 1, "clip": "1/1000", "beta2": "99/100", "kept": 10},
    _TEXT | {"L": 3, "examples": "2,4,6,8,10,12,14,16,18,20,22", "eta_few": "1/100"},
)
_OVER_LAYERS = (
    _QUICK | {"n": 20, "layers": "1,2,3"},
    _CODE | {"n": 20, "layers": "1,2,3,4", "steps": 20_000, "halving": 4000, "kept": 20},
    _TEXT | {"n": 20, "layers": "1,2,3,4"},
)


def _figure(number: str, title: str, along: str, own: tuple[Parameter, ...], columns: tuple[Any, ...]) -> Experiment:
    def expect(settings: Instance, *, device: str) -> float:
        prompts = int(settings["n_test"]) + int(settings["n_fit"])
        return sum(
            expected_seconds(plan, device, int(settings["runs"]), prompts) for _, plan in _plans(settings, along)
        )

    return Experiment(
        id=f"ahn2023.figure{number}",
        title=title,
        source=source(number),
        measure=one_thread()(_compared(along)),
        resumable=True,
        expect=one_thread()(expect),
        **by_protocol((*own, *_OWN), *columns),
    )


figure6 = _figure(
    *("6", "Loss against the number of examples: transformer, gradient descent, least squares", "n"),
    (EXAMPLES, positive("eta_few", f"Adam's step size at the start with fewer than {_FEW} examples")),
    _OVER_EXAMPLES,
)
figure7 = _figure(
    *("7", "Loss against the number of layers: transformer, gradient descent, least squares", "L"),
    (LAYERS,),
    _OVER_LAYERS,
)
