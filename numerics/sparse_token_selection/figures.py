"""The figures of Wang et al. 2024 by training: losses, cosines, heat maps, unseen lengths and unseen subset sizes.

A figure trains the layer on fresh batches. Readings are taken at equally spaced steps, on a fixed validation set of
n_test samples (X, y). Stochastic encodings are drawn anew at every forward pass, in validation too. Fixed encodings are
the first T_test of the seed's single draw; training uses only the first T. Validation has its own generators, so
that it does not change the training. With one run, the standard errors of losses are those of the mean over the
validation set, given the trained matrices, and numbers computed from the matrices have none. With several runs, each
with its own draw of fixed encodings, all standard errors are those of the mean over the runs.

Our own choices are the scale of the initial entries (the paper says random), q_test, Adam's step size, and the number
of readings. `--full` says before it starts how long a run with the full settings takes on this machine.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.repeatable import one_thread, seeds_of_runs
from numerics.settings import integer, timed
from numerics.sparse_token_selection.experiments import ground_truth
from numerics.sparse_token_selection.reference import cosine_similarity
from numerics.sparse_token_selection.settings import TRAINING, changed
from numerics.sparse_token_selection.stochastic import measurement
from numerics.sparse_token_selection.trainer import Plan, Reading, Training, readings
from numerics.sparse_token_selection.validation import (
    LOSS,
    STEPS_TAKEN,
    Validation,
    inverse,
    late_change,
    loss_curve,
    losses_at,
)
from verify import Curve, Experiment, HeatMap, InputError, Measurement, Parameter, Running, Setting, Source
from verify.language.parameters import Instance

_REMEMBERED = 48
_COMPARED = ("stochastic", "fixed")

_TRAINED: dict[tuple[Plan, int, str], list[Reading]] = {}
"""Cache of the last trainings of this process, for figures that share a training."""


def plan_of(settings: Instance, encoding: str) -> Plan:
    """Return the plan of a training. Raises InputError for settings that do not fit together."""
    sizes = {name: int(settings[name]) for name in ("T", "q", "d", "d_e", "late", "batch_size")}
    rates = {name: float(settings[name]) for name in ("eta", "eta_late", "scale")}
    if sizes["q"] > sizes["T"]:
        raise InputError("q", sizes["q"], f"must be at most T = {sizes['T']}")
    if encoding == "one_hot" and sizes["d_e"] != sizes["T"]:
        raise InputError("d_e", sizes["d_e"], f"must be T = {sizes['T']} for one-hot encoding")
    steps, count = int(settings["steps"]), int(settings["readings"])
    return Plan(
        encoding=encoding,
        **sizes,
        **rates,
        **{name: str(settings[name]) for name in ("attend", "optimizer", "dtype")},
        read=tuple(sorted({round(steps * i / (count - 1)) for i in range(count)})),
    )


def _whole(settings: Instance, name: str) -> list[int]:
    """Return a setting's list of integers. Raises InputError if a number is not an integer, or occurs twice."""
    values = settings[name]
    assert isinstance(values, tuple)
    if any(value.denominator != 1 for value in values) or len(set(values)) < len(values):
        raise InputError(name, ",".join(map(str, values)), "must be integers, all different")
    return [int(value) for value in values]


def trained_readings(
    plan: Plan, seed: int, device: str, running: Running, part: str, before: int, total: int
) -> list[Reading]:
    """Return the readings of a training.

    The figure takes `total` steps in all, of which its earlier trainings have taken `before`.
    """
    key = (plan, seed, device)
    if key not in _TRAINED:
        taken = list(
            readings(plan, seed, device, running=running, part=part, told=lambda s: running.steps(before + s, total))
        )
        while len(_TRAINED) >= _REMEMBERED:
            del _TRAINED[next(iter(_TRAINED))]
        _TRAINED[key] = taken
    return _TRAINED[key]


class _Runs(NamedTuple):
    """Independent trainings of a plan on a device, each with its seed and readings."""

    plan: Plan
    device: str
    trained: list[tuple[int, list[Reading]]]

    def losses(self, n: int, T: int, q: int) -> list[list[Float64[Tensor, "n"]]]:
        """Return each run's validation losses at each reading."""
        return [losses_at(self.plan, seed, self.device, run, n=n, T=T, q=q) for seed, run in self.trained]

    def ends(self) -> dict[str, Measurement]:
        """Return the cosines and coefficients at the end."""
        truth = ground_truth(self.plan.d_e, self.plan.d, self.device)
        rows = [_coefficients(run[-1], truth.W, truth.V) for _, run in self.trained]
        return {f"{name}_end": _over_runs(row[name] for row in rows) for name in rows[0]}


def _runs(
    settings: Instance, encoding: str, seed: int, device: str, running: Running, others: tuple[int, int] = (0, 1)
) -> _Runs:
    """Return the trainings of one encoding.

    `others` is a pair: the encoding's place among the figure's encodings, and their number.
    """
    plan, count = plan_of(settings, encoding), int(settings["runs"])
    (number, encodings), steps = others, plan.read[-1]
    trained = []
    for i, own in enumerate(seeds_of_runs(seed, count)):
        before = (number * count + i) * steps
        run = trained_readings(plan, own, device, running, f"{encoding} {i}", before, encodings * count * steps)
        trained.append((own, run))
    return _Runs(plan, device, trained)


def _over_runs(values: Iterable[float]) -> Measurement:
    """Return the mean over runs, with its standard error, which is None for a single run."""
    each = torch.tensor(list(values), dtype=torch.float64)
    return measurement(each) if len(each) > 1 else Measurement(float(each[0]), None)


def _figure1(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement | Curve]:
    runs = _runs(settings, str(settings["encoding"]), seed, device, running)
    plan, truth = runs.plan, ground_truth(int(settings["d_e"]), int(settings["d"]), device)
    rows = [[_coefficients(reading, truth.W, truth.V) for reading in run] for _, run in runs.trained]
    loss = loss_curve(plan, runs.losses(int(settings["n_test"]), plan.T, plan.q))

    def curve(name: str, quantity: str) -> Curve | None:
        """Return the curve of numbers computed from the matrices, without the steps at which a cosine is undefined."""
        known = [k for k in range(len(plan.read)) if all(name in row[k] for row in rows)]
        if not known:
            return None
        measured = tuple(_over_runs(row[k][name] for row in rows) for k in known)
        return Curve(STEPS_TAKEN, quantity, tuple(float(plan.read[k]) for k in known), measured)

    inverses = Curve(STEPS_TAKEN, "inverse validation loss", loss.points, tuple(map(inverse, loss.measured)))
    cosines, sizes = "cosine with the ground truth", "coefficient of the identity block"
    others = {
        "cosine_W": curve("cosine_W", cosines),
        "cosine_V": curve("cosine_V", cosines),
        "C": curve("C", sizes),
        "alpha": curve("alpha", sizes),
    }
    return {"loss": loss, "inverse_loss": inverses} | {name: line for name, line in others.items() if line is not None}


def _coefficients(reading: Reading, W_true: Float64[Tensor, "D D"], V_true: Float64[Tensor, "d D"]) -> dict[str, float]:
    """Return the identity blocks' coefficients, and the nonzero matrices' cosines with the ground truth."""
    coefficients = {}
    for name, scale, matrix, true in (("W", "C", reading.W, W_true), ("V", "alpha", reading.V, V_true)):
        matrix = matrix.to(torch.float64)  # noqa: PLW2901
        coefficients[scale] = float((matrix * true).sum() / true.sum())
        if matrix.any():
            coefficients[f"cosine_{name}"] = float(cosine_similarity(matrix, true))
    return coefficients


def _identity(matrix: Float64[Tensor, "rows D"], true: Float64[Tensor, "rows D"]) -> float:
    """Return the mean diagonal entry of the identity block."""
    return float((matrix * true).sum() / true.sum())


def _both(settings: Instance, seed: int, device: str, running: Running) -> Iterator[tuple[str, _Runs]]:
    """Yield the two encodings that a figure compares, with their trainings."""
    for i, encoding in enumerate(_COMPARED):
        yield encoding, _runs(settings, encoding, seed, device, running, (i, len(_COMPARED)))


def _figure2(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement | Curve]:
    lengths, n = _whole(settings, "T_test"), int(settings["n_test"])
    _refuse_lengths(settings, lengths)
    curves = {}
    for encoding, runs in _both(settings, seed, device, running):
        for length in lengths:
            losses = runs.losses(n, length, runs.plan.q)
            curves[f"{encoding}_T{length}"] = loss_curve(runs.plan, losses, f"{LOSS}\nat T_test = {length}")
    return curves


def _refuse_lengths(settings: Instance, lengths: list[int]) -> None:
    """Refuse, before training, a length below q."""
    for length in lengths:
        if length < int(settings["q"]):
            raise InputError("T_test", length, f"must be at least q = {settings['q']}")


def _figure3(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement | HeatMap]:
    """Measure Figure 3: heat maps of the first run, and means over all runs of entries and their growth."""
    runs = _runs(settings, str(settings["encoding"]), seed, device, running)
    truth = ground_truth(runs.plan.d_e, runs.plan.d, device)
    shown: dict[str, Measurement | HeatMap] = {}
    for name, true, rows in (("W", truth.W, "row: d of tokens, then d_e"), ("V", truth.V, "row: d")):
        before, after = ([getattr(run[place], name).to(torch.float64) for _, run in runs.trained] for place in (0, -1))
        for when, matrices in (("before", before), ("after", after)):
            values = tuple(map(tuple, matrices[0].tolist()))
            shown[f"{name}_{when}"] = HeatMap(rows, "column: d of tokens, then d_e", f"entry of {name}", values)
        for when, matrices in (("before", before), ("after", after)):
            shown[f"identity_{name}_{when}"] = _over_runs(_identity(m, true) for m in matrices)
            shown[f"largest_off_{name}_{when}"] = _over_runs(float((m * (1 - true)).abs().max()) for m in matrices)
        pairs = list(zip(before, after, strict=True))
        shown[f"identity_{name}_growth"] = _over_runs(_identity(b - a, true) for a, b in pairs)
        shown[f"largest_off_{name}_growth"] = _over_runs(
            float(((b.abs() - a.abs()) * (1 - true)).max()) for a, b in pairs
        )
    return shown


def _generalisation(
    settings: Instance, *, seed: int, device: str, running: Running
) -> Mapping[str, Measurement | Curve]:
    length, sizes, n = int(settings["T_test"]), _whole(settings, "q_test"), int(settings["n_test"])
    _refuse_lengths(settings, [length])
    for size in sizes:
        if not 1 <= size <= int(settings["T"]):
            raise InputError("q_test", size, f"must be from 1 to T = {settings['T']}")
    lengths, subsets, ends, rest = {}, {}, {}, {}
    for encoding, runs in _both(settings, seed, device, running):
        plan = runs.plan
        losses = runs.losses(n, length, plan.q)
        lengths[f"{encoding}_T{length}"] = loss_curve(plan, losses, f"{LOSS}\nat T_test = {length}")
        by_size = {size: runs.losses(n, plan.T, size) for size in sizes}
        for size, losses in by_size.items():
            subsets[f"{encoding}_q{size}"] = loss_curve(plan, losses, f"{LOSS}\nat q_test = {size}")
            rest[f"{encoding}_q{size}_late_change"] = late_change(losses)
        measured = tuple(subsets[f"{encoding}_q{size}"].measured[-1] for size in sizes)
        ends[f"{encoding}_over_q"] = Curve(
            "q_test: tokens selected", f"{LOSS}\nat the end", tuple(map(float, sizes)), measured
        )
        for low, high in pairwise(sizes):
            # The difference is taken within each run, so that an effect of the draw on both losses cancels.
            rises = (float(b[-1].mean() - a[-1].mean()) for a, b in zip(by_size[low], by_size[high], strict=True))
            rest[f"{encoding}_rise_q{low}_to_q{high}"] = _over_runs(rises)
        rest |= {f"{encoding}_{name}": measured for name, measured in runs.ends().items()}
    return lengths | ends | subsets | rest


def _expect(encodings: Callable[[Instance], tuple[str, ...]]) -> Callable[..., float]:
    """Return a function that times a few steps and one reading of each training, and extrapolates."""

    def expect(settings: Instance, *, device: str) -> float:
        total = 0.0
        for encoding in encodings(settings):
            plan = plan_of(settings, encoding)
            training = Training(plan, 0, device)
            validation = Validation.drawn(plan, 0, device, n=int(settings["n_test"]), T=plan.T, q=plan.q)
            training.advance()
            step = timed(training.advance, device, 5)
            reading = timed(lambda v=validation, p=plan, t=training: v.losses(p, t.W, t.V), device, 2)
            sets = max(len(settings[name]) if isinstance(settings.get(name), tuple) else 1 for name in _LISTS)
            total += int(settings.get("runs", 1)) * (plan.read[-1] * step + 2 * sets * len(plan.read) * reading)
        return total

    return expect


_LISTS = ("T_test", "q_test")


ENCODING = Parameter(
    "encoding",
    "word",
    "drawn anew at every forward pass, one draw, or unit vectors (d_e = T)",
    words=("stochastic", "fixed", "one_hot"),
)
LENGTHS = Parameter("T_test", "rationals", "numbers of tokens in the test", minimum=1)
SUBSETS = Parameter("q_test", "rationals", "numbers of selected tokens in the test", minimum=1)

# The quick settings have many short runs, because runs differ by their draws of encodings.
_BOTH = changed(
    TRAINING, late=(200, 50_000), steps=(400, 100_000), batch_size=(64, 256), readings=(11, 51), runs=(20, 1)
)
_ADAM = changed(
    changed(_BOTH, optimizer=("adam", "adam"), eta=("1/50", "1/1000"), eta_late=("1/150", "1/3000")),
    late=(125, 50_000),
    steps=(250, 100_000),
)
_ONE_LENGTH = Setting(integer("T_test", "number of tokens in the test"), 32, 400)
_UNSEEN = Setting(SUBSETS, "4,5,6", "4,6,8")


def _source(number: str) -> Source:
    note = "arXiv 2406.06893; assembled as in `reference`; our choices are in the module's first lines"
    return Source(f"Figure {number}", "printed", None, note)


def _figure(
    number: str, title: str, measure: Callable[..., Any], *own: Setting, base: tuple[Setting, ...] = TRAINING
) -> Any:
    one = any(setting.parameter is ENCODING for setting in own)
    return Experiment(
        id=f"wang2024.figure{number}",
        title=title,
        source=_source(number),
        settings=(*own, *base),
        measure=one_thread()(measure),
        resumable=True,
        expect=one_thread()(_expect((lambda settings: (str(settings["encoding"]),)) if one else (lambda _: _COMPARED))),
    )


figure1 = _figure(
    *(
        "1",
        "Training: loss, inverse loss, cosines with the ground truth, coefficients of the identity blocks",
        _figure1,
    ),
    Setting(ENCODING, "stochastic", "stochastic"),
)
figure2 = _figure(
    *("2", "Validation loss at longer sequences over training, stochastic and fixed encoding", _figure2),
    Setting(LENGTHS, "20,24,28,32", "250,300,350,400"),
    base=_BOTH,
)
figure3 = _figure(
    *("3", "Heat maps of W and V at random initialisation and after training", _figure3),
    Setting(ENCODING, "stochastic", "stochastic"),
)
figure4 = _figure(
    *("4", "A longer sequence, and subset sizes not seen in training, stochastic and fixed encoding", _generalisation),
    _ONE_LENGTH,
    _UNSEEN,
    base=_BOTH,
)
figure5 = _figure(
    *("5", "Trained by Adam: a longer sequence, and unseen subset sizes, both encodings", _generalisation),
    _ONE_LENGTH,
    _UNSEEN,
    base=_ADAM,
)
