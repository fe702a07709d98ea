"""Figures 1 to 5 of Ahn et al. 2023 by training: log losses, distances to the identity, the matrices at the end.

Figures 1 and 2 train the A_l of pattern (8), Figures 3 to 5 the A_l and B_l of pattern (11); x ~ N(0, Σ),
w* ~ N(0, Σ^{-1}), and each run has its own eigenvectors of Σ. Readings are taken at equally spaced steps, on fixed
prompts that are not used in training. A curve is the mean over the runs, with its standard error. For a single run, the
standard error of a loss is over the prompts, and a distance has none. Dist(M, I) = min_t |M − tI| / |M|. The heat maps
show the signs of A_l; the paper's figures show the opposite signs, of Q_l = −diag(A_l, 0).

`protocol` chooses the default settings. `code`, the protocol of `--full`, follows the authors' code
(github.com/chengxiang/LinearTransformer: `rotation demonstration-Adam-p0` for Figures 1 and 2, `rotation
demonstration-Adam` for Figures 3 to 5). `text` is the paper's protocol, with n = 10 in Figures 3 to 5. The paper does
not state the step size or its halvings, Adam's 0.9 and 0.9, or the scale of the initial entries: these are ours.
`quick` is ours and smaller.

In `code` and `text`, the numbers of unseen prompts and of readings are ours, and the seeds 0 to 4 or 0 to 2 are
replaced by 5 or 3 runs with our own draws. The code's Q is the transpose of the paper's, so that its A_l is our A_lᵀ;
this changes no distribution of a loss, no distance and no diagonal. The code's heat maps show Σ^½ A_l Σ^½ in the basis
of Σ's eigenvectors, 100 steps before the end.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.preconditioned_descent.experiments import CLIP, LEAST, SPECTRUM, D, L, N, distance_to_identity
from numerics.preconditioned_descent.reduced import Prompts, losses, mean_losses
from numerics.preconditioned_descent.trainer import Plan, Reading, Training, prompts_for, readings, task_of
from numerics.repeatable import one_thread, seeds_of_runs
from numerics.settings import integer, positive, timed
from verify import Curve, Experiment, HeatMap, Measurement, Parameter, Running, Setting, Source
from verify.language.parameters import Instance, Value

STEPS_TAKEN = "step of training"
LOG_LOSS = "ln of the loss on unseen prompts"
_CHUNK = 20_000
_REMEMBERED = 100

_TRAINED: dict[tuple[Plan, int, str], list[Reading]] = {}
"""Cache of the last trainings of this process, for figures that share a training."""


def plan_of(settings: Instance, trained: str, **changed: Any) -> Plan:
    """Return the plan of a training; `changed` replaces settings, or `read`, the steps at which matrices are kept."""
    chosen = {**settings, **changed}
    steps, count = int(chosen["steps"]), int(chosen.get("readings", 1))
    read = sorted({round(steps * i / (count - 1)) for i in range(count)}) if count > 1 else [steps]
    return Plan(
        trained=trained,
        read=tuple(chosen.get("read", read)),
        betas=(float(chosen["beta1"]), float(chosen["beta2"])),
        **{name: str(chosen[name]) for name in ("spectrum", "rotation", "dtype")},
        **{name: int(chosen[name]) for name in ("L", "d", "n", "batch", "resample", "halving")},
        **{name: float(chosen[name]) for name in ("least", "clip", "eta", "scale")},
    )


def trained(
    plan: Plan, seed: int, device: str, running: Running, part: str, told: Callable[[int], None]
) -> list[Reading]:
    """Return the readings of a training, from this process's cache if possible."""
    key = (plan, seed, device)
    if key not in _TRAINED:
        taken = list(readings(plan, seed, device, running=running, part=part, told=told))
        while len(_TRAINED) >= _REMEMBERED:
            del _TRAINED[next(iter(_TRAINED))]
        _TRAINED[key] = taken
    return _TRAINED[key]


def test_losses(
    A: Float64[Tensor, "L d d"], B: Float64[Tensor, "L d d"] | None, prompts: Prompts
) -> Float64[Tensor, "N"]:
    """Return the squared error of each prompt, (N,), computed in chunks."""
    parts = zip(*(part.split(_CHUNK, dim=-1) for part in prompts), strict=True)
    return torch.cat([losses(A, B, Prompts(*part)) for part in parts])


def losses_given_examples(
    A: Float64[Tensor, "L d d"], B: Float64[Tensor, "L d d"] | None, prompts: Prompts, root: Float64[Tensor, "d d"]
) -> Float64[Tensor, "N"]:
    """Return each prompt's squared error averaged over w* and the query, (N,), computed in chunks."""
    return torch.cat([mean_losses(A, B, part, root) for part in prompts.second_moment.split(_CHUNK, dim=-1)])


def measured(values: Float64[Tensor, "n"]) -> Measurement:
    """Return the mean of values (n,), with its standard error, which is None for a single value."""
    if len(values) == 1:
        return Measurement(float(values[0]), None)
    return Measurement(float(values.mean()), float(values.std(correction=1)) / math.sqrt(len(values)), len(values))


def _log(loss: Measurement) -> Measurement:
    """Return ln of a mean, with its standard error to first order."""
    error = None if loss.standard_error is None else loss.standard_error / loss.value
    return Measurement(math.log(loss.value), error, loss.samples)


def _training(pattern: str) -> Callable[..., Mapping[str, Measurement | Curve]]:
    """Return the function that measures Figure 1 or 3."""

    def measure(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement | Curve]:
        plan, count = plan_of(settings, pattern), int(settings["runs"])
        steps = plan.read[-1]
        at_readings: list[list[Measurement]] = []
        distances: list[list[dict[str, float]]] = []
        ends, given = [], []
        for i, own in enumerate(seeds_of_runs(seed, count)):
            run = trained(
                plan, own, device, running, f"run {i}", lambda s, i=i: running.steps(i * steps + s, count * steps)
            )
            unseen = prompts_for(plan, own, "unseen", int(settings["n_test"]), device)
            errors = [test_losses(reading.A, reading.B, unseen) for reading in run]
            at_readings.append([_log(measured(each)) for each in errors])
            root = task_of(plan, own, device).root
            distances.append([_distances(reading, root) for reading in run])
            given.append(losses_given_examples(run[-1].A, run[-1].B, unseen, root))
            ends.append(errors[-1])

        def curve(quantity: str, columns: list[tuple[Measurement, ...]]) -> Curve:
            over_runs = tuple(
                each[0] if count == 1 else measured(torch.tensor([m.value for m in each], dtype=torch.float64))
                for each in columns
            )
            return Curve(STEPS_TAKEN, quantity, tuple(map(float, plan.read)), over_runs)

        shown: dict[str, Measurement | Curve] = {"log_loss": curve(LOG_LOSS, list(zip(*at_readings, strict=True)))}
        for name in distances[0][0]:
            rows = [[Measurement(each[name]) for each in run] for run in distances]
            shown[name] = curve(_quantity(name), list(zip(*rows, strict=True)))
            shown[f"{name}_largest"] = Measurement(max(run[-1][name] for run in distances))
            shown[f"{name}_least"] = Measurement(min(run[-1][name] for run in distances))
        shown["test_loss"] = measured(torch.cat(ends))
        # The same loss, averaged over w* and the query: only the examples contribute to its spread.
        shown["test_loss_given_examples"] = measured(torch.cat(given))
        return shown | {f"test_loss_run{i}": measured(each) for i, each in enumerate(ends)}

    return measure


def _distances(reading: Reading, root: Float64[Tensor, "d d"]) -> dict[str, float]:
    """Return the distances to the identity, without the last B, which changes tokens that no later layer reads."""
    distances = {f"whitened_A{i}": float(distance_to_identity(root @ A @ root)) for i, A in enumerate(reading.A)}
    distances |= {f"A{i}": float(distance_to_identity(A)) for i, A in enumerate(reading.A)}
    B = [] if reading.B is None else reading.B[:-1]
    return distances | {f"B{i}": float(distance_to_identity(each)) for i, each in enumerate(B)}


def _quantity(name: str) -> str:
    letter = name.rpartition("_")[2][0]
    return "Dist(Σ^½ A_ℓ Σ^½, I)" if name.startswith("whitened") else f"Dist({letter}_ℓ, I)"


def _matrices(pattern: str, letter: str) -> Callable[..., Mapping[str, Measurement | HeatMap]]:
    """Return the function that measures Figure 2, 4 or 5: the matrices at the end of one run."""

    def measure(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement | HeatMap]:
        plan = plan_of(settings, pattern)
        steps = plan.read[-1]
        last = trained(plan, seed, device, running, "run 0", lambda s: running.steps(s, steps))[-1]
        task = task_of(plan, seed, device)
        if letter == "B":
            matrices, what = ([] if last.B is None else list(last.B[: max(1, plan.L - 1)])), "B_ℓ"
        else:
            side = task.root @ task.vectors if settings["basis"] == "eigenvectors" else task.root
            matrices, what = [side.T @ A @ side for A in last.A], "Σ^½ A_ℓ Σ^½"
        shown: dict[str, Measurement | HeatMap] = {}
        for i, matrix in enumerate(matrices):
            diagonal = matrix.diagonal()
            off = (matrix - diagonal.diag()).abs().max()
            shown[f"{letter}{i}"] = HeatMap("row", "column", f"entry of {what}", tuple(map(tuple, matrix.tolist())))
            shown[f"{letter}{i}_diagonal_least"] = Measurement(float(diagonal.min()))
            shown[f"{letter}{i}_diagonal_largest"] = Measurement(float(diagonal.max()))
            shown[f"{letter}{i}_off_diagonal"] = Measurement(float(off))
        return shown

    return measure


def expected_seconds(plan: Plan, device: str, runs: int, unseen: int) -> float:
    """Return the estimated seconds of `runs` runs, with a reading on `unseen` prompts at each step of `plan.read`."""
    training = Training(plan, 0, device)
    training.advance()
    draw, step = timed(training.draw_batch, device, 2), timed(training.gradient, device, 5)
    # The gradient takes most of a step's time. A reading computes no gradient: its time is overestimated.
    steps = plan.read[-1]
    each = steps * step + (steps / plan.resample + unseen / plan.batch) * draw
    return runs * (each + len(plan.read) * unseen / plan.batch * step)


RUNS = integer("runs", "independent runs, each with its own U")
UNSEEN = integer("n_test", "unseen prompts in each run", 2)
READINGS = integer("readings", "readings over training, the first and the last step included", 2)


PROTOCOL = Parameter(
    "protocol",
    "word",
    "source of the default settings: the authors' code, the paper's text, or our smaller settings",
    words=("code", "text", "quick"),
)
BASIS = Parameter("basis", "word", "basis in which Σ^1/2 A_l Σ^1/2 is shown", words=("standard", "eigenvectors"))
_TRAINING = (
    L,
    D,
    N,
    SPECTRUM,
    LEAST,
    Parameter("rotation", "word", "Sigma's eigenvectors", words=("uniform", "singular_vectors")),
    integer("steps", "steps of Adam"),
    positive("eta", "Adam's step size at the start"),
    integer("halving", "steps after which the step size is halved"),
    positive("beta1", "Adam's decay rate of the first moment"),
    positive("beta2", "Adam's decay rate of the second moment"),
    CLIP,
    integer("batch", "prompts in a batch"),
    integer("resample", "steps with the same batch"),
    positive("scale", "standard deviation of the initial entries"),
    Parameter("dtype", "word", "numbers that training computes with", words=("float64", "float32")),
    RUNS,
    UNSEEN,
    READINGS,
)
_TEXT = {"least": "1/4", "clip": "1/100", "beta1": "9/10", "beta2": "9/10", "scale": "1/100"}
_TEXT |= {"rotation": "uniform", "dtype": "float64"}
QUICK = _TEXT | {"spectrum": "even", "resample": 4}
TEXT = _TEXT | {"spectrum": "printed", "d": 5, "batch": 20_000, "resample": 100, "eta": "1/100"}
CODE = TEXT | {"beta1": "99/100", "scale": "1/10000", "rotation": "singular_vectors", "dtype": "float32"}
"""Settings of the protocol `code`; some figures change a few of them."""


def by_protocol(
    own: Iterable[Parameter], quick: Mapping[str, Value], code: Mapping[str, Value], text: Mapping[str, Value]
) -> dict[str, Any]:
    """Return an experiment's settings and protocols: its `own` parameters, and those of training that `quick` sets."""
    parameters = (*own, *(parameter for parameter in _TRAINING if parameter.name in quick))
    names = [parameter.name for parameter in parameters]
    columns = {"quick": quick, "code": code, "text": text}
    return {
        "settings": (
            Setting(PROTOCOL, "quick", "code"),
            *(Setting(parameter, quick[parameter.name], code[parameter.name]) for parameter in parameters),
        ),
        "protocols": {word: {name: column[name] for name in names} for word, column in columns.items()},
    }


_ONLY_A = (
    QUICK | {"L": 3, "d": 5, "n": 20, "steps": 400, "halving": 50, "eta": "3/20", "batch": 6000},
    CODE | {"L": 3, "n": 20, "steps": 30_000, "halving": 2000, "eta": "1/50"},
    TEXT | {"L": 3, "n": 20, "steps": 30_000, "halving": 3000},
)
_A_AND_B = (
    QUICK | {"L": 2, "d": 2, "n": 20, "steps": 1600, "halving": 240, "eta": "1/5", "batch": 1000},
    CODE | {"L": 3, "n": 20, "steps": 100_000, "halving": 4000, "eta": "1/10"},
    TEXT | {"L": 3, "n": 10, "steps": 100_000, "halving": 10_000},
)
_MANY = {"runs": 5, "n_test": 20_000, "readings": 51}
_OVER_RUNS = ({"runs": 3, "n_test": 20_000, "readings": 11}, _MANY | {"runs": 3}, _MANY)
# More prompts take little time compared with the training. Figure 3, whose losses have heavy tails, has as many prompts
# as a batch.
_OVER_RUNS_OF_A = (_OVER_RUNS[0], _MANY | {"n_test": 200_000}, _MANY | {"n_test": 200_000})
# A figure of heat maps shares its training with Figure 1 or 3 if both have the same readings.
_ONE_RUN = ({"readings": 11}, {"readings": 51}, {"readings": 51})
_SHOWN = tuple(
    one | {"basis": basis} for one, basis in zip(_ONE_RUN, ("standard", "eigenvectors", "standard"), strict=True)
)


def source(number: str) -> Source:
    """Return the source of a figure."""
    note = "arXiv 2306.00297, and the authors' code, github.com/chengxiang/LinearTransformer; assembled as in "
    note += "`reference`; the module's first lines say which choices are whose"
    return Source(f"Figure {number}", "printed", None, note)


def _figure(
    number: str, title: str, pattern: str, measure: Callable[..., Any], sizes: tuple[Any, ...], own: tuple[Any, ...]
) -> Experiment:
    def expect(settings: Instance, *, device: str) -> float:
        plan = plan_of(settings, pattern)
        return expected_seconds(plan, device, int(settings.get("runs", 1)), int(settings.get("n_test", 0)))

    return Experiment(
        id=f"ahn2023.figure{number}",
        title=title,
        source=source(number),
        measure=one_thread()(measure),
        resumable=True,
        expect=one_thread()(expect),
        **by_protocol(
            (BASIS,) if "basis" in own[0] else (), *(size | more for size, more in zip(sizes, own, strict=True))
        ),
    )


figure1 = _figure(
    *("1", "Training of A_l, pattern (8): log loss, distances to the identity of Σ^½ A_l Σ^½ and of A_l", "A"),
    *(_training("A"), _ONLY_A, _OVER_RUNS_OF_A),
)
figure2 = _figure(
    *("2", "Heat maps of the trained Σ^½ A_l Σ^½, pattern (8)", "A"),
    *(_matrices("A", "A"), _ONLY_A, _SHOWN),
)
figure3 = _figure(
    *("3", "Training of A_l and B_l, pattern (11): log loss and distances to the identity", "A_and_B"),
    *(_training("A_and_B"), _A_AND_B, _OVER_RUNS),
)
figure4 = _figure(
    *("4", "Heat maps of the trained B_l, pattern (11), all but the last, which has no effect", "A_and_B"),
    *(_matrices("A_and_B", "B"), _A_AND_B, _ONE_RUN),
)
figure5 = _figure(
    *("5", "Heat maps of the trained Σ^½ A_l Σ^½, pattern (11)", "A_and_B"),
    *(_matrices("A_and_B", "A"), _A_AND_B, _SHOWN),
)
