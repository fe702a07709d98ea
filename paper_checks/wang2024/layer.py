"""Lemma 1's recursion compared with the layer simulated from the definitions: gradients and whole trainings."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor

from numerics.sparse_token_selection.experiments import ground_truth
from numerics.sparse_token_selection.reference import (
    Gradient,
    Iterate,
    cubature_gradient,
    one_hot_encodings,
    sampled_gradient,
    train,
)
from paper_checks.margins import MOST_COMPARISONS
from paper_checks.wang2024.recursion import ZERO, Instance, Point, Recursion, expansion, rounding
from verify import Evidence, Outcome, Verdict, student_bound

BATCHES = 64


def matrices(instance: Instance, at: Point, device: str = "cpu") -> tuple[Tensor, Tensor, Tensor]:
    """Return W = diag(0, C(I − 11ᵀ/T)), V = (αI, 0) and the one-hot encodings."""
    length, _, size, _ = instance
    truth = ground_truth(length, size, device)
    return at.C * truth.W_centred, at.alpha * truth.V, one_hot_encodings(length, device=device)


def implied_gradient(theory: Recursion, at: Point) -> Gradient:
    """Return the loss and the gradient that the recursion implies: multiples of diag(0, I − 11ᵀ/T) and of (I, 0)."""
    length, _, size, rate = theory.instance
    following = theory.step(at)
    truth = ground_truth(length, size)
    return Gradient(
        torch.tensor(following.loss, dtype=torch.float64),
        (at.C - following.C) / rate * truth.W_centred,
        (at.alpha - following.alpha) / rate * truth.V,
    )


def _not_finite(found: Iterable[Tensor]) -> str:
    """Return a message if a number is not finite: comparisons with NaN are false, and a maximum may ignore NaN."""
    return "" if all(bool(value.isfinite().all()) for value in found) else "the simulation is not finite"


def exact_gradient(instance: Instance, at: Point, device: str = "cpu") -> Gradient:
    """Return the population gradient by exact cubature through the full layer."""
    found = cubature_gradient(*matrices(instance, at, device), instance[1])
    return Gradient(*(value.cpu() for value in found))


def exact_gradient_agrees(theory: Recursion, at: Point, found: Gradient) -> Verdict:
    """Compare every entry of the population gradient with the recursion; the tolerance is derived in `rounding`."""
    if wild := _not_finite(found):
        return Verdict(Outcome.REFUTED, Evidence.COMPUTED, wild)
    tolerance = rounding(theory, at)
    expected = implied_gradient(theory, at)
    worst = max(float((mine - its).abs().max()) for mine, its in zip(found, expected, strict=True))
    return Verdict.within(worst, tolerance, "an entry is", Evidence.COMPUTED)


def batch_gradients(instance: Instance, at: Point, *, seed: int, batch_size: int, device: str = "cpu") -> Gradient:
    """Return the gradients of BATCHES fresh Gaussian batches through the full layer; the first axis is the batch."""
    found = sampled_gradient(
        *matrices(instance, at, device),
        instance[1],
        batches=BATCHES,
        batch_size=batch_size,
        generator=torch.Generator(device).manual_seed(seed),
    )
    return Gradient(*(values.cpu() for values in found.batches))


def sampled_gradient_agrees(theory: Recursion, at: Point, found: Gradient) -> Verdict:
    """Compare the gradient from fresh Gaussian batches with the recursion, block by block and entry by entry.

    Each entry, the coefficient of every identity block and the all-ones direction of W is a mean over
    BATCHES batches; its difference from theory over its standard error has nearly Student's t distribution with BATCHES
    − 1 degrees of freedom. One bound on |t|, with the false-alarm chance FALSE_ALARM / MOST_COMPARISONS, serves for
    all. The loss is compared too.
    """
    if wild := _not_finite(found):
        return Verdict(Outcome.REFUTED, Evidence.SIMULATED, wild)
    length, _, size, _ = theory.instance
    expected = implied_gradient(theory, at)
    bound = student_bound(BATCHES, MOST_COMPARISONS)
    worst, where, floor = 0.0, "", rounding(theory, at)
    for name, functional in _functionals(size, length).items():
        values = functional(found)
        error = values.std(dim=0) / math.sqrt(BATCHES)
        difference = (values.mean(dim=0) - functional(Gradient(*(x[None] for x in expected)))[0]).abs()
        # Entries that vanish in every sample (columns of x_query = 0; sums over the logits) contain rounding only.
        excess = (difference - floor).clamp(min=0)
        ratio = torch.where(error > 0, excess / error, torch.where(excess > 0, math.inf, 0.0))
        if float(ratio.max()) >= worst:
            worst, where = float(ratio.max()), name
    return Verdict.within(worst, bound, f"{where}: in standard errors", Evidence.SIMULATED)


def _functionals(size: int, length: int) -> Mapping:
    ones = torch.ones(length, dtype=torch.float64) / math.sqrt(length)
    centred = torch.eye(length, dtype=torch.float64) - 1 / length
    positional = lambda g: g.W[:, size:, size:]  # noqa: E731 - a table of functionals
    return {
        "loss": lambda g: g.loss[:, None],
        "identity block of W": lambda g: (positional(g) * centred).sum(dim=(1, 2))[:, None],
        "all-ones direction of W": lambda g: torch.cat([positional(g) @ ones, ones @ positional(g)], dim=1),
        "identity block of V": lambda g: g.V[:, :, :size].diagonal(dim1=1, dim2=2).mean(dim=1)[:, None],
        "entries of W": lambda g: g.W.flatten(1),
        "entries of V": lambda g: g.V.flatten(1),
    }


@lru_cache(maxsize=64)
def trained(instance: Instance, steps: int, device: str) -> tuple[Iterate, ...]:
    """Return the iterates of the full matrices' training from zero by exact population gradients, on the CPU."""
    return tuple(_iterates(instance, steps, device))


def _iterates(instance: Instance, steps: int, device: str) -> Iterator[Iterate]:
    _, subset, _, rate = instance
    W, V, encodings = matrices(instance, ZERO, device)
    run = train(W, V, eta=rate, steps=steps, gradient=lambda W, V: cubature_gradient(W, V, encodings, subset))
    return (Iterate(i.step, i.W.cpu(), i.V.cpu(), i.loss.cpu()) for i in run)


def training_agrees(theory: Recursion, steps: int, device: str = "cpu") -> Verdict:
    """Compare every iterate of a training from zero by exact population gradients with the recursion, entry by entry.

    Tolerance: a step adds an error of at most η·δ, with the δ of `rounding`, and multiplies earlier errors by at most
    the norm of its Jacobian. We take the norm of the recursion's Jacobian along the run, in the metric
    (d/η, (T−1)/η), which stretches entries of W and V by at most √((T−1)/d) or √(d/(T−1)). This norm is assumed to
    bound errors across the set as well. It did so in all draws with η at most 1, but not at large step sizes: at
    T = 7, q = 6, d = 7 and η = 6, below 2q, rounding alone takes the matrices off the set.
    """
    length, _, size, rate = theory.instance
    worst, added, growth = 0.0, 0.0, 1.0
    for iterate, point in zip(trained(theory.instance, steps, device), theory.points(steps), strict=True):
        if wild := _not_finite(iterate[1:]):
            return Verdict(Outcome.REFUTED, Evidence.COMPUTED, f"{wild} at step {iterate.step}", trainings=1)
        expected_W, expected_V, _ = matrices(theory.instance, point)
        for found, expected in ((iterate.W, expected_W), (iterate.V, expected_V)):
            worst = max(worst, float((found - expected).abs().max()))
        worst = max(worst, abs(float(iterate.loss) - point.loss))
        added += rate * rounding(theory, point)
        growth *= max(1.0, expansion(theory, point))
    stretch = max((length - 1) / size, size / (length - 1)) ** 0.5
    verdict = Verdict.within(worst, stretch * growth * added, f"over {steps} steps an entry is", Evidence.COMPUTED)
    # A bound above 10⁻⁶ would say little.
    return replace(verdict, outcome=_only_if(verdict, stretch * growth * added < 1e-6), trainings=1)


def _only_if(verdict: Verdict, sharp: bool) -> Outcome:
    return Outcome.INCONCLUSIVE if verdict.holds and not sharp else verdict.outcome


def falls_as_bounded(
    instance: Instance, least_fall: Callable[[float], float], steps: int, device: str = "cpu"
) -> Verdict:
    """Decide whether ℓ_t = 2qL_t/d never rises, and falls by at least `least_fall(ℓ_t)`, in a training from zero.

    1e-12 is allowed for rounding, because a loss is a mean of squares of size 1. The run ends at the first violation.
    """
    _, subset, size, _ = instance
    before, rises, margin = math.inf, -math.inf, math.inf
    for step, iterate in enumerate(_iterates(instance, steps, device)):
        level = 2 * subset / size * float(iterate.loss)
        if not math.isfinite(level):
            return Verdict(Outcome.REFUTED, Evidence.COMPUTED, "a loss is not finite", trainings=1)
        if step:
            rises, margin = max(rises, level - before), min(margin, before - level - least_fall(before))
        before = level
        # Steps after a rise decide nothing, and at large step sizes rounding then takes the run off the set.
        if not (rises < 1e-12 and margin > -1e-12):
            break
    detail = f"over {step} steps l changes by {rises:.2e} at most; its least fall is {margin:.2e} above the bound"  # pyright: ignore[reportPossiblyUnboundVariable]
    return replace(Verdict.when(rises < 1e-12 and margin > -1e-12, detail, Evidence.COMPUTED), trainings=1)
