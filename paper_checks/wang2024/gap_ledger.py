"""Parts of the loss on the validation set at the end of a training of Figure 1, and the source of each.

- `floor_enclosed`, `floor_width_enclosed`: the lower end of the enclosure of the least loss on the set, in ball
  arithmetic, and the enclosure's width. They are not re-checked, unlike a check of wang2024.theorem2 at an ε. With
  one-hot encoding both are 0, the infimum of Lemma 1's loss.
- `finite_time_computed`: the loss at the end of population gradient descent, by the same schedule from the same start,
  minus the enclosure's upper end.
- `step_noise_simulated`: the loss on the set at the trained layer's α and C, minus the loss at the end of that descent.
  The layer comes from one training, so that the error of this part is not known.
- `off_the_set_sampled`: the loss of the matrices trained in float64 minus the loss of their projections on the set, on
  the same fresh samples.
- `rounding_sampled`: the loss after training in `dtype`, float32 by default, minus the loss after training in float64,
  from the same draws and on the same fresh samples.
- `chance_sampled`: the remainder, which is chance in the validation set and in the fresh samples.

The losses of α and C are computed from the enclosures of P and R, to within `computed_error`, or, with one-hot
encoding, from Lemma 1's formula. `computed_error` is the larger of the estimated errors at descent's end and at the
trained α and C: it leaves out errors that add up along the path of population descent. The end of descent is therefore
computed twice, and `test_schedule.py` compares it with a path computed from counted means.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from numerics.sparse_token_selection.settings import TRAINING, changed
from paper_checks.margins import FAMILY
from paper_checks.wang2024.by_softmax import descent_losses
from paper_checks.wang2024.on_the_set import CLOSE, COARSE
from paper_checks.wang2024.predictions import layer_of, one_hot_descent, rates_of, stochastic_descent
from paper_checks.wang2024.recursion import Point, recursion
from verify import (
    Comparison,
    Evidence,
    Experiment,
    InputError,
    Measurement,
    Parameter,
    Running,
    Setting,
    Source,
    Verdict,
    agreement,
    all_of,
    load_experiment,
    student_bound,
)
from verify.language.parameters import Instance

ENCODING = Parameter(
    "encoding", "word", "drawn anew at every forward pass, or unit vectors (d_e = T)", words=("stochastic", "one_hot")
)
SAMPLES = Parameter("samples", "integer", "fresh samples, in whole batches", minimum=2)
PARTS = (
    *("floor_enclosed", "floor_width_enclosed", "finite_time_computed", "step_noise_simulated"),
    *("off_the_set_sampled", "rounding_sampled", "chance_sampled"),
)
"""The parts of the loss on the validation set; the sum of all but the last estimates the loss on fresh samples."""
RESOLVED = 0.1
"""Largest difference of the two computations of the finite time, as a share of it."""
SPREAD = 2.0
"""Largest expected ratio of the standard deviation of a sample's losses to their mean.

Given the attention, the loss is a multiple of a χ² with d degrees of freedom, for which this ratio is √(2/d) ≤ √2.
"""


class Theory(NamedTuple):
    """Theory for a training: two bounds on the least loss, losses, and the largest of their errors.

    `again` is the loss of `descent` computed a second time.
    """

    least: tuple[float, float]
    descent: float
    again: float
    at_the_end: float
    error: float


def theory(settings: Mapping[str, Any], start: tuple[float, float], end: tuple[float, float]) -> Theory:
    """Return the losses of a training's α and C at the end and of population descent from its start.

    The descent is computed again from a coarser interpolation or, with one-hot encoding, from the softmax's own slopes.
    """
    sizes = tuple(int(settings[name]) for name in ("T", "q", "d"))
    if settings["encoding"] == "one_hot":
        last = one_hot_descent(settings)[-1].loss
        at_the_end = recursion((*sizes, 1.0)).step(Point(*end, math.nan)).loss  # type: ignore[arg-type]
        (again,) = deque(descent_losses(*sizes, rates_of(settings)), maxlen=1)
        return Theory((0.0, 0.0), last, again, at_the_end, error=0.0)
    steps = int(settings["steps"])
    close, coarse = (stochastic_descent(settings, *start, grid)[-1] for grid in (CLOSE, COARSE))
    for last in (close, coarse):
        if last.step != steps:
            raise InputError("eta", settings["eta"], f"population descent leaves C >= 0 at step {last.step + 1}")
    layer = layer_of(settings, grid=CLOSE)
    errors = layer.error(close.alpha, close.C), layer.error(*end)
    return Theory(layer.floor(), close.loss, coarse.loss, layer.loss(*end), max(errors))


def parts(said: Theory, validation: Measurement, off: Measurement, rounding: Measurement) -> dict[str, Measurement]:
    """Return the parts of the loss on the validation set, by the names of PARTS."""
    lower, upper = said.least
    measured = (validation, off, rounding)
    errors = [found.standard_error for found in measured]
    # None stands for an unknown error.
    assert all(error is not None for error in errors)
    # Student's t with the fewest values gives the widest bound.
    samples = min((found.samples for found in measured if found.standard_error), default=1)
    left = validation.value - (said.at_the_end + off.value + rounding.value)
    each = (
        Measurement(lower),
        Measurement(upper - lower),
        Measurement(said.descent - upper),
        Measurement(said.at_the_end - said.descent, None),
        off,
        rounding,
        Measurement(left, math.hypot(*errors), samples),  # type: ignore[arg-type]
    )
    split = dict(zip(PARTS, each, strict=True))
    assert math.isclose(sum(part.value for part in each), validation.value, rel_tol=1e-9, abs_tol=1e-12)
    return split


def ledger(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement]:
    """Return the parts, the loss that is split into them, and the numbers from which they are computed.

    Raises InputError if nothing is predicted: for one-hot encoding with a start other than 0 or attention to the query,
    and if population descent leaves C ≥ 0.
    """
    from numerics.sparse_token_selection.end_of_training import end_of_training

    if settings["encoding"] == "one_hot":
        for name, wanted in (("attend", "tokens"), ("scale", 0)):
            if settings[name] != wanted:
                raise InputError(name, settings[name], f"must be {wanted} with one-hot encoding, as in Lemma 1")
    found = end_of_training({**settings, **_FIXED}, seed=seed, device=device, running=running)
    said = theory(settings, found.start, found.end)
    return {
        **parts(said, found.validation, found.off_the_set, found.rounding),
        "loss_measured": found.validation,
        "loss_on_fresh_samples": found.fresh,
        "loss_of_alpha_and_C_computed": Measurement(said.at_the_end),
        "loss_of_alpha_and_C_sampled": found.on_the_set,
        "computed_error": Measurement(said.error),
        "finite_time_computed_again": Measurement(said.again - said.least[1]),
        "trainings": Measurement(len({"float64", str(settings["dtype"])})),
        "alpha": Measurement(found.end.alpha, None),
        "C": Measurement(found.end.C, None),
    }


_FIXED = {"runs": 1, "optimizer": "sgd"}
"""The settings of Figure 1 that are fixed here."""


def _expect(settings: Instance, *, device: str) -> float:
    """Return the estimated seconds of the trainings: one in float64, and one in another `dtype` if it is asked for."""
    expect = load_experiment("wang2024.figure1").expect
    assert expect is not None
    return sum(
        expect({**settings, **_FIXED, "dtype": number}, device=device) for number in {"float64", str(settings["dtype"])}
    )


gap_ledger = Experiment(
    id="wang2024.gap_ledger",
    title="The parts of the loss at the end of Figure 1's training, and how each was obtained",
    source=Source("Figure 1", "derived here", None, "arXiv 2406.06893; the training is that of wang2024.figure1"),
    settings=(
        Setting(ENCODING, "stochastic", "stochastic"),
        *(s for s in changed(TRAINING, dtype=("float32", "float32")) if s.parameter.name not in _FIXED),
        Setting(SAMPLES, 20_000, 20_000),
    ),
    measure=ledger,
    resumable=True,
    expect=_expect,
)


def judged(found: Mapping[str, Measurement]) -> Verdict:
    """Decide whether the numbers of a ledger are consistent.

    Population descent has to end above the floor. The sum of the parts does not depend on the finite time, so two
    computations of the finite time have to agree; for stochastic encoding these share the formula of a step, which
    `test_schedule.py` compares with counting. The parts without the last have to add up to the loss on fresh samples,
    up to chance. If they do, the last two verdicts test the same difference, the computed minus the sampled loss of α
    and C, at two resolutions. If they do not, the last verdict detects this. The remainder is shown and decides
    nothing, because by definition it is chance in both samples.
    """

    def verdicts() -> list[tuple[str, Verdict]]:
        computed, error = found["loss_of_alpha_and_C_computed"].value, found["computed_error"].value
        fresh, projected = found["loss_on_fresh_samples"], found["loss_of_alpha_and_C_sampled"]
        total = sum(found[name].value for name in PARTS[:-1])
        # The parts are sampled together, so the difference is the sampled minus the computed loss of α and C.
        whole = replace(projected, value=fresh.value)
        by_chance = SPREAD * student_bound(projected.samples, FAMILY) / math.sqrt(projected.samples)
        decided: dict[str, Any] = {"comparisons": FAMILY, "rounding": error}
        finite, again = (found[f"finite_time_computed{which}"].value for which in ("", "_again"))
        # This is the excess over the lower end of the floor's enclosure.
        above = found["floor_width_enclosed"].value + finite
        said = f"population descent ends {above:.3g} above the floor"
        return [
            ("floor", Verdict.when(above >= -error, said, Evidence.COMPUTED)),
            (
                "finite time",
                Verdict.within(
                    abs(finite - again), RESOLVED * abs(finite) + error, "again it is off by", Evidence.COMPUTED
                ),
            ),
            ("α and C", agreement(computed, projected, resolution=error + by_chance * computed, **decided)),
            ("fresh samples", agreement(total, whole, resolution=error + by_chance * fresh.value, **decided)),
        ]

    verdict = all_of(verdicts())
    table = ", ".join(f"{name} {found[name].value:.3g}" for name in PARTS)
    return replace(verdict, detail=f"{verdict.detail}; {table}", trainings=int(found["trainings"].value))


def _compare(*, device: str, full: bool, seed: int) -> Verdict:
    from verify.reports.simulate import usable_store

    store = usable_store(None) if full else None
    length = 200 if full else 12
    runs: dict[str, dict[str, object]] = {
        "stochastic": {},
        "one-hot": {"encoding": "one_hot", "attend": "tokens", "scale": 0, "T": length, "d_e": length},
    }
    return all_of(
        (name, judged(gap_ledger.run(device=device, full=full, seed=seed, store=store, **given).measurements))
        for name, given in runs.items()
    )


the_gap_is_accounted_for = Comparison(
    id="wang2024.the_gap_is_accounted_for",
    title="Figure 1's layer: on fresh samples its loss is floor, finite time, step noise, off the set and rounding",
    theorem="wang2024.theorem2",
    experiment="wang2024.gap_ledger",
    compare=_compare,
)
