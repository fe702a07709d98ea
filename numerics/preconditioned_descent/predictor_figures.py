"""Figures 6 and 7 of Ahn et al. 2023: the trained transformer next to gradient descent and least squares.

Our readings: the transformer is trained anew for each number of examples and of layers, by the training of Figure 1
(A_l of pattern (8); `trained=A_and_B` is pattern (11)), and tested with as many examples. Gradient descent takes as
many steps as there are layers. Its step sizes, and those with the preconditioner Σ^{-1}, are the best real ones for
`n_fit` prompts (`predictors`), where the paper searched a grid; how many of the best complex ones are not real is said
beside. Least squares is 0 from d examples on; for fewer it is
the solution of least norm, which the paper does not name: both norms are shown. All are tested on the same prompts,
which neither training nor fitting has seen; standard errors are those of the mean over the prompts of all runs, given
the trained matrices and the step sizes. An error of 0 has no place on a logarithmic axis.

What else is ours is in `figures`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.preconditioned_descent.experiments import TRAINED
from numerics.preconditioned_descent.figures import (
    expected_seconds,
    integer,
    measured,
    plan_of,
    source,
    test_losses,
    trained,
    training_settings,
)
from numerics.preconditioned_descent.predictors import (
    best_real_steps,
    least_norm_losses,
    power_errors,
)
from numerics.preconditioned_descent.trainer import Plan, prompts_for, task_of
from numerics.repeatable import one_thread, seeds_of_runs
from verify import Curve, Experiment, InputError, Measurement, Parameter, Running, Setting
from verify.language.parameters import Instance

LOSS = "loss on unseen prompts"
OVER = {"n": "n: examples in the prompt", "L": "L: layers, or steps"}
DESCENTS = ("gradient_descent", "preconditioned_gradient_descent")


def whole_numbers(settings: Instance, name: str) -> list[int]:
    """Return a setting's list of integers.

    Raises
    ------
    InputError
        For numbers that are not whole, and for one that is there twice.
    """
    values = settings[name]
    assert isinstance(values, tuple)
    if any(value.denominator != 1 for value in values) or len(set(values)) < len(values):
        raise InputError(name, ",".join(map(str, values)), "must be integers, all different")
    return [int(value) for value in values]


def _plans(settings: Instance, along: str) -> list[tuple[int, Plan]]:
    """Return what is trained at each point of a figure, whose list of points is the setting of that name."""
    name = {"n": "examples", "L": "layers"}[along]
    return [
        (value, plan_of(settings, str(settings["trained"]), **{along: value}))
        for value in whole_numbers(settings, name)
    ]


class _Losses:
    """The losses of each predictor at one point, of all runs, and how many of the best step sizes are not real."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Tensor]] = {}
        self.not_real = dict.fromkeys(DESCENTS, 0)

    def add(self, name: str, values: Float64[Tensor, "N"]) -> None:
        self.rows.setdefault(name, []).append(values)

    def add_run(
        self,
        plan: Plan,
        seed: int,
        device: str,
        settings: Instance,
        A: Float64[Tensor, "L d d"],
        B: Float64[Tensor, "L d d"] | None,
    ) -> None:
        """Add what a run's prompts say."""
        unseen = prompts_for(plan, seed, "unseen", int(settings["n_test"]), device)
        fitted = prompts_for(plan, seed, "fitted", int(settings["n_fit"]), device)
        task = task_of(plan, seed, device)
        self.add("transformer", test_losses(A, B, unseen))
        identity = torch.eye(plan.d).to(task.root)
        for name, K in zip(DESCENTS, (identity, task.inverse), strict=True):
            steps, not_real = best_real_steps(power_errors(K, fitted, plan.L))
            p = torch.tensor(np.poly(steps)).to(task.root)
            self.add(name, (p @ power_errors(K, unseen, plan.L)).square())
            self.not_real[name] += not_real
        for name, root in (("least_squares_Euclidean_norm", identity), ("least_squares_Sigma_norm", task.root)):
            self.add(name, least_norm_losses(unseen, plan.n, root))


def _compared(along: str) -> Callable[..., Mapping[str, Measurement | Curve]]:
    """Return what measures a figure along n or L."""

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
                end = trained(plan, own, device, running, part, lambda s, b=before: running.steps(b + s, total))[-1]
                losses.add_run(plan, own, device, settings, end.A, end.B)
            points.append(losses)
        positions = tuple(float(value) for value, _ in plans)

        def curve(name: str) -> Curve:
            values = tuple(measured(torch.cat(point.rows[name])) for point in points)
            return Curve(OVER[along], LOSS, positions, values, logarithmic=True)

        complex_steps = {
            f"{name}_complex_steps": Measurement(float(sum(point.not_real[name] for point in points)))
            for name in DESCENTS
        }
        return {name: curve(name) for name in points[0].rows} | complex_steps

    return measure


def _figure(
    number: str, title: str, along: str, own: Iterable[Setting], quick: dict[str, Any], full: dict[str, Any]
) -> Experiment:
    def expect(settings: Instance, *, device: str) -> float:
        prompts = int(settings["n_test"]) + int(settings["n_fit"])
        return sum(
            expected_seconds(plan, device, int(settings["runs"]), prompts) for _, plan in _plans(settings, along)
        )

    ours = (
        Setting(TRAINED, "A", "A"),
        Setting(integer("n_fit", "prompts for which step sizes are the best, of each run", 10), 50_000, 1_000_000),
    )
    sizes = {"d": 3, "spectrum": "even", "steps": 500, "halving": 60, "eta": "3/20", "batch": 4000, "resample": 4}
    sizes |= {"runs": 1, "n_test": 100_000}
    paper = {"d": 5, "spectrum": "printed", "steps": 30_000, "halving": 3000, "runs": 5, "n_test": 200_000}
    return Experiment(
        id=f"ahn2023.figure{number}",
        title=title,
        source=source(number),
        settings=(*own, *ours, *training_settings(sizes | quick, paper | full)),
        measure=one_thread()(_compared(along)),
        resumable=True,
        expect=one_thread()(expect),
    )


EXAMPLES = Parameter("examples", "rationals", "numbers of examples, in training and in the test", minimum=1)
LAYERS = Parameter("layers", "rationals", "numbers of layers, and of steps", minimum=1)

figure6 = _figure(
    *("6", "Loss against the number of examples: transformer, gradient descent, least squares", "n"),
    (Setting(EXAMPLES, "2,4,8,16", "2,4,6,8,10,12,14,16,18,20,22"),),
    *({"L": 2}, {"L": 3}),
)
figure7 = _figure(
    *("7", "Loss against the number of layers: transformer, gradient descent, least squares", "L"),
    (Setting(LAYERS, "1,2,3", "1,2,3,4"),),
    *({"n": 20}, {"n": 20}),
)
