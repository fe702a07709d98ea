"""One trained self-attention layer compared with one gradient step on softmax regression (see `reference`).

The tasks, which are ours, have A with independent entries N(0, 1/d), and
- `teacher`: b = softmax(A x*), x* ~ N(0, d I), so that logits have variance d;
- `simplex`: b uniform on the simplex, independent of A;
- `outliers`: as `teacher`, with half of the target's mass moved to a row drawn uniformly.
The layer is trained by Adam on fresh tasks. The step size eta_GD of the gradient step has the least mean loss on search
tasks, on a grid refined once. Both models are then compared on the same test tasks, at several readings (numbers of
training steps); the first is before training and the last after it. If all repetitions find the same eta_GD on the
grid, its standard error is 0. An interrupted run continues with the next repetition. docs/howto/figures.md has the
paper's sizes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.settings import integer, timed
from numerics.softmax_regression import sensitivities
from numerics.softmax_regression.reference import attention_layer, gradient_step
from numerics.softmax_regression.sensitivities import of_gradient_step, of_layer
from verify import Curve, Experiment, InputError, Measurement, Parameter, Running, Setting, Source
from verify.language.parameters import Instance
from verify.runs.checkpoints import alike

TASKS = ("teacher", "simplex", "outliers")
_TOGETHER = 320_000
"""Number of attention weights, n² per task, that are computed at once, so that they fit into a processor's cache."""
_TIMED = 20
"""Number of training steps, and of tasks, in the estimate of a run's time."""


def sample_tasks(
    kind: str, count: int, n: int, d: int, generator: torch.Generator
) -> tuple[Float64[Tensor, "{count} {n} {d}"], Float64[Tensor, "{count} {n}"]]:
    """Return `count` tasks of a kind: A (count, n, d) and b (count, n), on the generator's device.

    Raises
    ------
    InputError
        If the kind is not one of `TASKS`.
    """
    if kind not in TASKS:
        raise InputError("tasks", kind, f"must be one of {', '.join(TASKS)}")
    like = {"generator": generator, "device": generator.device, "dtype": torch.float64}
    A = torch.randn(count, n, d, **like) / math.sqrt(d)
    if kind == "simplex":
        waits = -torch.log1p(-torch.rand(count, n, **like))
        return A, waits / waits.sum(dim=1, keepdim=True)
    teacher = torch.randn(count, d, **like) * math.sqrt(d)
    b = torch.softmax((A @ teacher[..., None])[..., 0], dim=1)
    if kind == "outliers":
        place = torch.randint(n, (count, 1), generator=generator, device=generator.device)
        b = b / 2 + torch.zeros_like(b).scatter_(1, place, 0.5)
    return A, b


def _chunks(A: Float64[Tensor, "count n d"], b: Float64[Tensor, "count n"]) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the tasks in chunks."""
    count = max(1, _TOGETHER // A.shape[1] ** 2)
    return zip(A.split(count), b.split(count), strict=True)


def _losses(output: Float64[Tensor, "count n"], b: Float64[Tensor, "count n"]) -> Float64[Tensor, "count"]:
    return (output - b).square().sum(dim=1) / 2


def line_search(A: Float64[Tensor, "count n d"], b: Float64[Tensor, "count n"]) -> float:
    """Return the step size of least mean loss on the tasks, from a grid of 4 points per decade, refined once to 40."""
    n = A.shape[1]

    def best(candidates: Tensor) -> float:
        return min(candidates.tolist(), key=lambda eta: float(_losses(gradient_step(A, b, eta).detach(), b).mean()))

    coarse = best(n * torch.logspace(-1, 4, 21, dtype=torch.float64))
    return best(coarse * torch.logspace(-0.25, 0.25, 21, dtype=torch.float64))


def trained_layer(
    kind: str, n: int, d: int, *, eta: float, read: Sequence[int], batch: int, generator: torch.Generator
) -> list[tuple[Float64[Tensor, "{d} {d}"], Float64[Tensor, ""]]]:
    """Return (W, v) after each number of steps in `read` (ascending) of Adam on fresh tasks, from small W and v = 1/10.

    Raises
    ------
    InputError
        If training diverges; the error names eta and the step.
    """
    W = 0.1 * torch.randn(d, d, generator=generator, dtype=torch.float64, device=generator.device)
    # From a negative v, training would have to pass v = 0, where the gradient in W is 0, and stay near it for long.
    v = torch.tensor(0.1, dtype=torch.float64, device=generator.device)
    layers = []
    optimizer = torch.optim.Adam([W.requires_grad_(), v.requires_grad_()], lr=eta)
    for step in range(read[-1] + 1):
        if step in read:
            layers.append((W.detach().clone(), v.detach().clone()))
        if step == read[-1]:
            break
        A, b = sample_tasks(kind, batch, n, d, generator)
        optimizer.zero_grad()
        for X, y in _chunks(A, b):
            value = _losses(attention_layer(X, y, W, v), y).sum() / batch
            if not bool(value.isfinite()):
                raise InputError("eta", eta, f"training diverges: no finite loss at step {step}")
            # The loss is of order 1/n. Scaled by n, its gradient is large compared with Adam's epsilon.
            (n * value).backward()
        optimizer.step()
    return layers


def compared(
    A: Float64[Tensor, "count n d"],
    b: Float64[Tensor, "count n"],
    eta: float,
    W: Float64[Tensor, "d d"],
    v: Float64[Tensor, ""],
) -> tuple[Float64[Tensor, "count"], Float64[Tensor, "count"]]:
    """Return for each task the norm of the difference of the two models' Jacobians in A, and their cosine."""
    each = _chunks(A, b)
    parts = [sensitivities.compared(of_gradient_step(X, y, eta), of_layer(X, y, W, v)) for X, y in each]
    difference, cosine = (torch.cat(part) for part in zip(*parts, strict=True))
    return difference, cosine


def _read_at(settings: Instance) -> list[int]:
    """Return the steps after which the models are compared: equally spaced up to rounding, with 0 and the last."""
    steps, readings = int(settings["steps"]), int(settings["readings"])
    return sorted({round(steps * i / (readings - 1)) for i in range(readings)})


def _repetition(settings: Instance, generator: torch.Generator) -> dict[str, list[float]]:
    """Return the measurements of one repetition: for each curve a number at each reading; for eta_GD one number."""
    kind, n, d = str(settings["tasks"]), int(settings["n"]), int(settings["d"])
    eta = line_search(*sample_tasks(kind, int(settings["search"]), n, d, generator))
    batch, eta_layer = int(settings["batch"]), float(settings["eta_SA"])
    layers = trained_layer(kind, n, d, eta=eta_layer, read=_read_at(settings), batch=batch, generator=generator)
    A, b = sample_tasks(kind, int(settings["test"]), n, d, generator)
    step = gradient_step(A, b, eta).detach()
    readings: dict[str, list[float]] = {name: [] for name in _ALONG}
    readings["uniform_loss"] = [float(_losses(torch.full_like(b, 1 / n), b).mean())] * len(layers)
    readings["gradient_loss"] = [float(_losses(step, b).mean())] * len(layers)
    some = int(settings["sensitivity"])
    for W, v in layers:
        output = torch.cat([attention_layer(X, y, W, v) for X, y in _chunks(A, b)])
        readings["layer_loss"].append(float(_losses(output, b).mean()))
        readings["prediction_difference"].append(float((output - step).norm(dim=1).mean()))
        difference, cosine = compared(A[:some], b[:some], eta, W, v)
        readings["sensitivity_difference"].append(float(difference.mean()))
        readings["cosine"].append(float(cosine.mean()))
    return readings | {"eta_GD": [eta]}


def _repetitions(settings: Instance, generator: torch.Generator, running: Running) -> list[dict[str, list[float]]]:
    """Return the measurements of each repetition; an interrupted run continues with the next repetition."""
    count, readings = int(settings["repetitions"]), len(_read_at(settings))
    like = {name: [0.0] * readings for name in _ALONG} | {"eta_GD": [0.0]}

    def fits(left: dict[str, Any]) -> bool:
        known = alike(left["generator"], generator.get_state()) and 0 < len(left["rows"]) <= count
        return known and all(alike(row, like) for row in left["rows"])

    left = running.left("repetitions", fits)
    rows = list(left["rows"]) if left else []
    if left:
        generator.set_state(left["generator"])
    while len(rows) < count:
        running.steps(len(rows), count)
        rows.append(_repetition(settings, generator))
        running.keep("repetitions", lambda: {"rows": list(rows), "generator": generator.get_state()})
    running.steps(count, count)
    return rows


_LOSS = "mean loss ½‖prediction − b‖²"
_ALONG = {
    "layer_loss": _LOSS,
    "gradient_loss": _LOSS,
    "uniform_loss": _LOSS,
    "prediction_difference": "mean ‖layer − gradient step‖₂\nof the predictions",
    "sensitivity_difference": "mean Frobenius norm of\nthe difference of the Jacobians in A",
    "cosine": "mean cosine of the Jacobians in A",
}
"""The curves over training, each with the label of its axis; all quantities are dimensionless."""


def _closeness(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement | Curve]:
    if int(settings["sensitivity"]) > int(settings["test"]):
        raise InputError("sensitivity", settings["sensitivity"], f"must be at most test = {settings['test']}")
    rows = _repetitions(settings, torch.Generator(device).manual_seed(seed), running)

    def measured(name: str) -> tuple[Measurement, ...]:
        """Return the mean over repetitions at each reading."""
        table = torch.tensor([row[name] for row in rows], dtype=torch.float64)
        error = table.std(dim=0, correction=1) / math.sqrt(len(rows))
        means = table.mean(dim=0).tolist()
        return tuple(Measurement(value, spread, len(rows)) for value, spread in zip(means, error.tolist(), strict=True))

    steps = tuple(float(step) for step in _read_at(settings))
    curves = {name: Curve("steps of training", label, steps, measured(name)) for name, label in _ALONG.items()}
    return {"eta_GD": measured("eta_GD")[0], **curves}


def _expected(settings: Instance, *, device: str) -> float:
    """Return the estimated seconds of a run, from the time of a few steps, search tasks and test tasks."""
    kind = str(settings["tasks"])
    n, d, search, some, batch = (int(settings[name]) for name in ("n", "d", "search", "sensitivity", "batch"))
    generator = torch.Generator(device).manual_seed(0)

    def train() -> Tensor:
        return trained_layer(kind, n, d, eta=0.0, read=[_TIMED], batch=batch, generator=generator)[0][0]

    W = train()
    tasks, chunk = (sample_tasks(kind, min(count, _TIMED), n, d, generator) for count in (search, some))
    step = timed(train, device, 1) / _TIMED
    searched = timed(lambda: line_search(*tasks), device, 1) * search / len(tasks[0])
    read = timed(lambda: compared(*chunk, 1.0, W, W.new_tensor(0.1)), device, 1) * some / len(chunk[0])
    each = int(settings["steps"]) * step + searched + len(_read_at(settings)) * read
    return int(settings["repetitions"]) * each


closeness = Experiment(
    id="li2024.closeness",
    title="A trained self-attention layer beside one gradient step: losses, predictions and sensitivities",
    source=Source("Experiments", "recalled", None, "arXiv 2304.13276; the tasks, the layer's form and Adam are ours"),
    settings=(
        Setting(Parameter("tasks", "word", "how A and b are drawn", words=TASKS), "teacher", "teacher"),
        Setting(integer("n", "rows of A: length of the document", 2), 25, 25),
        Setting(integer("d", "columns of A"), 20, 20),
        Setting(Parameter("eta_SA", "rational", "the layer's step size", above=0), "1/200", "1/200"),
        Setting(integer("steps", "steps of training", 0), 1000, 5000),
        Setting(integer("readings", "readings over training, the first and the last step included", 2), 5, 6),
        Setting(integer("batch", "tasks in a batch"), 32, 64),
        Setting(integer("search", "tasks of the line search"), 100, 1000),
        Setting(integer("test", "test tasks"), 200, 1000),
        Setting(integer("sensitivity", "test tasks whose Jacobians are compared"), 50, 1000),
        Setting(integer("repetitions", "independent repetitions", 2), 3, 10),
    ),
    measure=_closeness,
    resumable=True,
    expect=_expected,
)
