"""The end of a training: its validation loss, coefficients, and loss on fresh samples with and without a rest.

The rest is the matrices' difference from a multiple of the ground truth's, found by orthogonal projection.
With one-hot encoding W's multiple is of I − 11ᵀ/T. Differences are of losses on the same samples.
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
    """V's multiple of (I, 0), and W's of diag(0, I), or with one-hot encoding of diag(0, I − 11ᵀ/T)."""

    alpha: float
    C: float


class End(NamedTuple):
    """The measurements at a training's end.

    Parameters
    ----------
    validation
        The loss on the figure's validation set, evaluated in float64, of the matrices trained in the numbers asked for.
    start, end
        The coefficients in float64 before the first step and after the last.
    fresh
        The loss on fresh samples of the matrices trained in the numbers asked for.
    on_the_set
        The loss of the end's multiples of the ground truth on fresh samples.
    off_the_set
        The excess of the matrices' loss over it, on the same samples.
    rounding
        The excess of the loss of matrices trained with fewer digits over that of those trained in float64 on the same
        draws, on the same samples; 0 of a training in float64.
    """

    validation: Measurement
    start: Coefficients
    end: Coefficients
    fresh: Measurement
    on_the_set: Measurement
    off_the_set: Measurement
    rounding: Measurement


def end_of_training(settings: Instance, *, seed: int, device: str, running: Running) -> End:
    """Train as a figure does with these settings, in float64 as well, and look at the end.

    Parameters
    ----------
    settings
        Those of the figure, for one run, and `samples`: how many fresh ones there are, in whole batches.
    seed, device, running
        Those of an experiment.

    Raises
    ------
    InputError
        For settings that do not fit together, and where training diverges.
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
    """Return the matrices of which the end is to be multiples."""
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
