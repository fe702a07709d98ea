"""The end of a training: its validation loss, coefficients, and loss on fresh samples with and without the rest.

The rest is the difference of each matrix from its orthogonal projection on the multiples of the ground truth. With
one-hot encoding, W is projected on the multiples of diag(0, I − 11ᵀ/T). Differences of losses are on the same samples.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.repeatable import key_for
from numerics.sparse_token_selection.batches import Batches, Sizes
from numerics.sparse_token_selection.experiments import ground_truth
from numerics.sparse_token_selection.figures import plan_of, trained_readings
from numerics.sparse_token_selection.stochastic import measurement
from numerics.sparse_token_selection.trainer import Plan, Reading, batch_losses, shared_encodings
from numerics.sparse_token_selection.validation import losses_at
from verify import Measurement, Running
from verify.language.parameters import Instance


class Coefficients(NamedTuple):
    """The coefficients of V on (I, 0), and of W on diag(0, I), or with one-hot encoding on diag(0, I − 11ᵀ/T)."""

    alpha: float
    C: float


class End(NamedTuple):
    """The measurements at a training's end.

    Parameters
    ----------
    validation
        The loss on the figure's validation set, evaluated in float64, of the matrices trained in the setting `dtype`.
    start, end
        The coefficients of the training in float64, before the first step and after the last.
    fresh
        The loss on fresh samples of the matrices trained in `dtype`.
    on_the_set
        The loss on fresh samples of the multiples of the ground truth with the coefficients `end`.
    off_the_set
        The loss of the matrices trained in float64 minus `on_the_set`, on the same samples.
    rounding
        The loss of the matrices trained in `dtype` minus that of the matrices trained in float64 with the same draws,
        on the same samples; 0 if `dtype` is float64.
    """

    validation: Measurement
    start: Coefficients
    end: Coefficients
    fresh: Measurement
    on_the_set: Measurement
    off_the_set: Measurement
    rounding: Measurement


def end_of_training(settings: Instance, *, seed: int, device: str, running: Running) -> End:
    """Train as a figure does with these settings, and also in float64, and measure the end.

    Parameters
    ----------
    settings
        The settings of the figure, for one run, and `samples`, the number of fresh samples (rounded up to batches).
    seed, device, running
        As for an experiment.

    Raises
    ------
    InputError
        If the settings do not fit together, or training diverges.
    """
    encoding, dtype = str(settings["encoding"]), str(settings["dtype"])
    numbers = dict.fromkeys(("float64", dtype))
    plans = {number: plan_of({**settings, "dtype": number}, encoding) for number in numbers}
    total = sum(plan.read[-1] for plan in plans.values())
    taken: dict[str, list[Reading]] = {}
    for i, (number, plan) in enumerate(plans.items()):
        before = i * plan.read[-1]
        taken[number] = trained_readings(plan, seed, device, running, f"{encoding} {number}", before, total)
    plan, run = plans["float64"], taken["float64"]
    rounded = [Reading(at.step, at.W.double(), at.V.double()) for at in taken[dtype]]
    validation = losses_at(plan, seed, device, rounded, n=int(settings["n_test"]), T=plan.T, q=plan.q)[-1]
    start, end = (_coefficients(plan, reading) for reading in (run[0], run[-1]))
    ends = [(at.W, at.V) for at in (run[-1], rounded[-1])]
    batches = _fresh(plan, seed, device, int(settings["samples"]), [_multiples(plan, end, device), *ends])
    projected, whole, other = (torch.cat(losses) for losses in zip(*batches, strict=True))
    return End(
        measurement(validation),
        start,
        end,
        measurement(other),
        measurement(projected),
        measurement(whole - projected),
        Measurement(0.0) if dtype == "float64" else measurement(other - whole),
    )


def _directions(plan: Plan, device: str) -> tuple[Float64[Tensor, "D D"], Float64[Tensor, "d D"]]:
    """Return the matrices on whose multiples W and V are projected."""
    truth = ground_truth(plan.d_e, plan.d, device)
    return truth.W_centred if plan.encoding == "one_hot" else truth.W, truth.V


def _coefficients(plan: Plan, reading: Reading) -> Coefficients:
    W, V = _directions(plan, str(reading.W.device))
    C, alpha = ((own * true).sum() / true.square().sum() for own, true in ((reading.W, W), (reading.V, V)))
    return Coefficients(float(alpha), float(C))


def _multiples(plan: Plan, at: Coefficients, device: str) -> tuple[Float64[Tensor, "D D"], Float64[Tensor, "d D"]]:
    W, V = _directions(plan, device)
    return at.C * W, at.alpha * V


def _fresh(
    plan: Plan, seed: int, device: str, samples: int, layers: list[tuple[Tensor, Tensor]]
) -> Iterator[tuple[Float64[Tensor, "n"], ...]]:
    """Yield the losses of each layer on the same fresh batches, in float64, (n,) each."""
    shared = None if plan.encoding == "stochastic" else shared_encodings(plan, seed, plan.T, device)
    sizes = Sizes(plan.batch_size, plan.T, plan.q, plan.d, plan.d_e)
    batches = Batches(sizes, key_for(seed, "fresh samples at the end"), plan.precision, shared, device)
    for step in range(-(-samples // plan.batch_size)):
        batch = batches.drawn(step)
        yield tuple(batch_losses(W, V, batch, plan.attend).cpu() for W, V in layers)
