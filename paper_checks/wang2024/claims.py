"""Comparisons for Wang et al. 2024: the theorems' formulas held against the layer simulated from the definitions."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from numerics.sparse_token_selection.reference import (
    Gradient,
    SampledGradient,
    cosine_similarity,
    cubature_gradient,
    one_hot_encodings,
    sampled_gradient,
    train,
)
from theorems.sparse_token_selection.reduced_dynamics import C, alpha, lemma1
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import Statement
from verify.arithmetic import Float64
from verify.compile import Program, compile_program

EPS = float(np.finfo(float).eps)
FALSE_ALARM = 1e-6
"""Chance that any statistical comparison of this folder fails although theory and simulation agree."""
MOST_COMPARISONS = 10**6
"""Upper bound on their number, by which each one's share of FALSE_ALARM is cut."""


class Point(NamedTuple):
    """A point of the two-parameter set, and the loss there."""

    alpha: float
    C: float
    loss: float


@dataclass(frozen=True)
class Recursion:
    """What a statement of Lemma 1 says of the set at an instance (T, q, d, eta), in float64."""

    instance: tuple[int, int, int, float]
    program: Callable[[float, float], tuple[float, float, float]]

    def step(self, at: Point) -> Point:
        """Return (α', C') and the loss at (α, C)."""
        loss, alpha_next, C_next = (float(x) for x in self.program(at.alpha, at.C))
        return Point(alpha_next, C_next, loss)

    def points(self, steps: int) -> Iterator[Point]:
        """Yield the points 0..steps of the trajectory from zero, with their losses."""
        at = Point(0.0, 0.0, math.nan)
        for _ in range(steps + 1):
            following = self.step(at)
            yield Point(at.alpha, at.C, following.loss)
            at = following

    def gradient(self, at: Point) -> Gradient:
        """Return the loss and the gradient blocks that the recursion implies: everything else is zero."""
        length, _, size, rate = self.instance
        following = self.step(at)
        W, V = torch.zeros(2, size + length, size + length, dtype=torch.float64).unbind()
        W[size:, size:] = (at.C - following.C) / rate * _centred_identity(length)
        V[:size, :size] = (at.alpha - following.alpha) / rate * torch.eye(size, dtype=torch.float64)
        return Gradient(torch.tensor(following.loss, dtype=torch.float64), W, V[:size])


@cache
def _program(statement: Statement) -> Program:
    right = {clause.label: clause.right for clause in statement.clauses}
    return compile_program([right["loss"], right["step_alpha"], right["step_C"]], [alpha, C], [T, q, d, eta])


def recursion(instance: tuple[int, int, int, float], statement: Statement = lemma1.statement) -> Recursion:
    """Return Lemma 1's recursion, or that of another statement with its clauses, at (T, q, d, eta)."""
    bound = _program(statement).bind(Float64(), [np.float64(x) for x in instance])
    return Recursion(instance, lambda alpha, C: bound(np.float64(alpha), np.float64(C)))


def _centred_identity(length: int) -> Tensor:
    return torch.eye(length, dtype=torch.float64) - 1 / length


def matrices(instance: tuple[int, int, int, float], at: Point, device: str = "cpu") -> tuple[Tensor, Tensor, Tensor]:
    """Return W = diag(0, C(I − 11ᵀ/T)), V = (αI, 0) and the one-hot encodings."""
    length, _, size, _ = instance
    W = torch.zeros(size + length, size + length, dtype=torch.float64)
    W[size:, size:] = at.C * _centred_identity(length)
    V = torch.zeros(size, size + length, dtype=torch.float64)
    V[:, :size] = at.alpha * torch.eye(size, dtype=torch.float64)
    return W.to(device), V.to(device), one_hot_encodings(length, device=device)


class Verdict(NamedTuple):
    """Whether theory and simulation agree, and by how much they differ."""

    holds: bool
    detail: str


def rounding(theory: Recursion, at: Point) -> float:
    """Bound the rounding in an entry of a gradient, simulated or of the theory.

    A summand is at most M = Td (1 + |α|)² in size (a cubature point has norm √(Td), and so has a sample
    typically; a residual (1 + |α|)√(Td)); it is made in fewer than 100 roundings of relative size EPS, and
    the sums add fewer than 100 levels. The theory's difference quotients (α − α')/η and (C − C')/η add
    EPS (|α| + 1)/η and EPS (|C| + 1)/η.
    """
    length, _, size, rate = theory.instance
    magnitude = length * size * (1 + abs(at.alpha)) ** 2
    return EPS * (200 * magnitude + 4 * (2 + abs(at.alpha) + abs(at.C)) / rate)


def exact_gradient_agrees(theory: Recursion, at: Point, device: str = "cpu") -> Verdict:
    """Compare every entry of the population gradient, by exact cubature through the full layer, with the recursion."""
    found = cubature_gradient(*matrices(theory.instance, at, device), theory.instance[1])
    tolerance = rounding(theory, at)
    expected = theory.gradient(at)
    worst = max(float((mine.cpu() - its).abs().max()) for mine, its in zip(found, expected, strict=True))
    return Verdict(worst <= tolerance, f"largest difference of an entry {worst:.2e}, tolerance {tolerance:.2e}")


def sampled_gradient_agrees(
    theory: Recursion, at: Point, *, seed: int, batch_size: int, device: str = "cpu"
) -> Verdict:
    """Compare the gradient from fresh Gaussian batches with the recursion, block by block and entry by entry.

    Each entry, the coefficient of every identity block and the all-ones direction of W is a mean over
    64 batches; its difference from theory over its standard error is Student t with 63 degrees of
    freedom. A bound t with false-alarm chance FALSE_ALARM / MOST_COMPARISONS serves for all.
    """
    batches = 64
    length, subset, size, _ = theory.instance
    generator = torch.Generator(device).manual_seed(seed)
    sample = sampled_gradient(
        *matrices(theory.instance, at, device), subset, batches=batches, batch_size=batch_size, generator=generator
    )
    expected = theory.gradient(at)
    bound = float(stats.t.isf(FALSE_ALARM / MOST_COMPARISONS / 2, batches - 1))
    worst, where, floor = 0.0, "", rounding(theory, at)
    for name, functional in _functionals(size, length).items():
        values = functional(_on_cpu(sample))
        error = values.std(dim=0) / math.sqrt(batches)
        difference = (values.mean(dim=0) - functional(Gradient(*(x[None] for x in expected)))[0]).abs()
        # What vanishes in every sample (columns that multiply x_query = 0; sums over the logits) is rounding only.
        excess = (difference - floor).clamp(min=0)
        ratio = torch.where(error > 0, excess / error, torch.where(excess > 0, math.inf, 0.0))
        if float(ratio.max()) >= worst:
            worst, where = float(ratio.max()), name
    return Verdict(worst <= bound, f"largest t value {worst:.2f} ({where}), bound {bound:.2f}")


def _on_cpu(sample: SampledGradient) -> Gradient:
    return Gradient(*(values.cpu() for values in sample.batches))


def _functionals(size: int, length: int) -> Mapping:
    ones = torch.ones(length, dtype=torch.float64) / math.sqrt(length)
    positional = lambda g: g.W[:, size:, size:]  # noqa: E731 - a table of functionals
    return {
        "loss": lambda g: g.loss[:, None],
        "identity block of W": lambda g: (positional(g) * _centred_identity(length)).sum(dim=(1, 2))[:, None],
        "all-ones direction of W": lambda g: torch.cat([positional(g) @ ones, ones @ positional(g)], dim=1),
        "identity block of V": lambda g: g.V[:, :, :size].diagonal(dim1=1, dim2=2).mean(dim=1)[:, None],
        "entries of W": lambda g: g.W.flatten(1),
        "entries of V": lambda g: g.V.flatten(1),
    }


def training_agrees(theory: Recursion, steps: int, device: str = "cpu") -> Verdict:
    """Train the full matrices from zero by exact population gradients and compare every iterate with the recursion.

    Tolerance: a step adds an error of at most η·δ, δ as in `rounding`, and multiplies those before it by at
    most the norm of the step's Jacobian, here that of the recursion, measured along the run in the metric
    (d/η, (T−1)/η), which entries of W and V see stretched by at most √((T−1)/d) or √(d/(T−1)).
    """
    length, subset, size, rate = theory.instance
    W, V, encodings = matrices(theory.instance, Point(0.0, 0.0, math.nan), device)
    run = train(W, V, eta=rate, steps=steps, gradient=lambda W, V: cubature_gradient(W, V, encodings, subset))
    worst, added, growth = 0.0, 0.0, 1.0
    for iterate, point in zip(run, theory.points(steps), strict=True):
        expected_W, expected_V, _ = matrices(theory.instance, point)
        for found, expected in ((iterate.W, expected_W), (iterate.V, expected_V)):
            worst = max(worst, float((found.cpu() - expected).abs().max()))
        worst = max(worst, abs(float(iterate.loss) - point.loss))
        added += rate * rounding(theory, point)
        growth *= max(1.0, _expansion(theory, point))
    stretch = max((length - 1) / size, size / (length - 1)) ** 0.5
    tolerance = stretch * growth * added
    return Verdict(worst <= tolerance, f"largest difference over {steps} steps {worst:.2e}, tolerance {tolerance:.2e}")


def _expansion(theory: Recursion, at: Point) -> float:
    """Return the norm of the recursion's Jacobian in its metric, by central differences (relative error 1e-6)."""
    length, _, size, _ = theory.instance
    scale = np.sqrt([size, length - 1])
    step = 1e-5
    columns = []
    for moved in np.eye(2) * step:
        ahead, behind = (theory.step(Point(at.alpha + s * moved[0], at.C + s * moved[1], math.nan)) for s in (1, -1))
        columns.append([(ahead.alpha - behind.alpha) / (2 * step), (ahead.C - behind.C) / (2 * step)])
    jacobian = np.array(columns).T
    return float(np.linalg.norm(scale[:, None] * jacobian / scale, 2)) * (1 + 1e-6)


def point_with(theory: Recursion, C_target: float) -> Point:
    """Return a point of a trajectory from zero, the first with C ≥ the target or the 5000th, followed at step size 1.

    The set is the same for every step size, and small ones would take long to leave its start.
    """
    length, subset, size, _ = theory.instance
    at = Point(0.0, 0.0, math.nan)
    for at in recursion((length, subset, size, 1.0)).points(5000):
        if at.C >= C_target:
            break
    return at


@dataclass(frozen=True)
class Slope:
    """Mean increment of the trained layer's inverse loss over a window, and the odds r at its two ends."""

    slope: float
    odds_before: float
    odds_after: float


def trained_slope(instance: tuple[int, int, int, float], steps: int, window: int, device: str = "cpu") -> Slope:
    """Train the full layer from zero by exact population gradients and measure its inverse loss at the end."""
    length, subset, size, rate = instance
    W, V, encodings = matrices(instance, Point(0.0, 0.0, math.nan), device)
    run = train(W, V, eta=rate, steps=steps, gradient=lambda W, V: cubature_gradient(W, V, encodings, subset))
    seen = {iterate.step: iterate for iterate in run if iterate.step in (steps - window, steps)}
    first, last = seen[steps - window], seen[steps]

    def odds(W: Tensor) -> float:
        # A selected token's logit exceeds the others' by the identity block's diagonal less its other entries.
        return (length - subset) / subset * math.exp(-float(W[size, size] - W[size, size + 1]))

    return Slope((1 / float(last.loss) - 1 / float(first.loss)) / window, odds(first.W), odds(last.W))


@dataclass(frozen=True)
class Cosines:
    """Cosines after some steps: of W with I − 11ᵀ/T and with I in the positional block, of V with (I, 0)."""

    step: int
    W_centred: float
    W_identity: float
    V: float


def cosines_from_random(
    instance: tuple[int, int, int, float], *, scale: float, batch_size: int, at_steps: tuple[int, ...], seed: int
) -> list[Cosines]:
    """Train from i.i.d. N(0, scale²) entries on fresh batches, and return the cosines after the given steps."""
    length, subset, size, rate = instance
    generator = torch.Generator().manual_seed(seed)
    side = size + length
    W = scale * torch.randn(side, side, generator=generator, dtype=torch.float64)
    V = scale * torch.randn(size, side, generator=generator, dtype=torch.float64)
    truth = matrices(instance, Point(1.0, 1.0, math.nan))
    identity = torch.zeros_like(W)
    identity[size:, size:] = torch.eye(length, dtype=torch.float64)

    def gradient(W: Tensor, V: Tensor) -> Gradient:
        return sampled_gradient(W, V, truth[2], subset, batches=2, batch_size=batch_size // 2, generator=generator).mean

    return [
        Cosines(
            iterate.step,
            *(float(cosine_similarity(iterate.W, other)) for other in (truth[0], identity)),
            float(cosine_similarity(iterate.V, truth[1])),
        )
        for iterate in train(W, V, eta=rate, steps=max(at_steps), gradient=gradient)
        if iterate.step in at_steps
    ]
