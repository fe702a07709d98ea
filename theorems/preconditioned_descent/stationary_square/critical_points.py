"""Critical points of the integrated square of a recursion's end: found in floats, certified in balls.

Points are *found* by Newton's method from random starts. Half of the starts use the absolute values of the eigenvalues
of the second derivatives, which leads to minima. Points are *certified* by Krawczyk's test for the gradient G, with
second derivatives H. Let c be the centre of a box X, and Y an approximation of H(c)^{-1}. If

    K(X) = c − Y G(c) + (I − Y H(X)) (X − c)

lies in the interior of X, there is exactly one critical point in X. If H is positive definite on all of X, shown by
elimination in balls, the point is a local minimum; if a pivot or a minor is negative, it is not.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from theorems.preconditioned_descent.stationary_square.second_derivatives import Composed, Rule, Values
from verify.evaluation.arithmetic import LAST_BITS, Ball, Float64, balls, enclosure_of_ball, positive_definite
from verify.outcomes import Enclosure

_BATCH = 128
"""Number of starts that are followed together, in one array; the deadline is checked between such batches."""
_STEPS = 80
"""Maximum number of Newton steps from a start; with steps of 0.4 of its size an unknown can grow by 1.4^80."""
_LONGEST_STEP = 0.4
"""Longest step, relative to an unknown's size; a longer step may jump over a critical point."""
_CONVERGED = 1e-10
"""Length of a step, relative to the unknowns, below which Newton's method has converged."""
_FARTHEST = 1e5
"""Maximum size of an unknown; a start beyond it is abandoned, because the loss has flat directions to infinity."""
_SINGULAR = 1e-11
"""Least curvature, in scaled unknowns, at which a point counts as isolated; balls certify no point below it."""
_SPREAD = 1.3
"""Standard deviation of the logarithms of a start's unknowns, which span about four decades."""
_NEGATIVE = 0.15
"""Share of unknowns that start negative."""
_NEAR = 1e-6
"""Relative distance below which two points are the same; also the least curvature used downhill."""
_NEWTON_IN_BALLS = 12
"""Maximum number of Newton steps in balls, from a float's 16 digits on; each doubles the digits."""


@dataclass(frozen=True)
class CriticalPoint:
    """A critical point: a box that contains only this one, the value of f, and whether it is a minimum, if decided."""

    centre: tuple[Fraction, ...]
    radius: Fraction
    loss: Enclosure
    minimum: bool | None
    bits: int

    def coordinates(self) -> list[Enclosure]:
        """Return an enclosure of each unknown."""
        return [Enclosure(x - self.radius, x + self.radius) for x in self.centre]


def search(problem: Composed, rule: Rule, starts: int, deadline: float) -> tuple[list[np.ndarray], int]:
    """Return critical points in floats, each of shape (p,), the lowest loss first, and the number of starts made.

    Starts are drawn with a fixed seed: the logarithm of each unknown's size is from N(0, 1.3²), and an unknown is
    negative with probability 0.15. No start is made after the deadline, a time of `time.monotonic()`.
    """
    source, size = np.random.default_rng(0), len(problem.places)
    ends, tried = [np.zeros((0, size))], 0
    while tried < starts and time.monotonic() < deadline:
        count = min(_BATCH, starts - tried)
        points = np.exp(source.normal(scale=_SPREAD, size=(count, size)))
        points *= np.where(source.random((count, size)) < _NEGATIVE, -1, 1)
        ends.append(_converged(problem, rule, points, downhill=tried // _BATCH % 2 == 1))
        tried += count
    points = np.concatenate(ends)
    values = problem.at_points(Float64(), points, rule).value
    distinct: list[np.ndarray] = []
    for place in np.argsort(values, kind="stable"):
        point = points[place]
        if all(np.abs(point - other).max() > _NEAR * (1 + np.abs(point).max()) for other in distinct):
            distinct.append(point)
    return distinct, tried


def newton(problem: Composed, rule: Rule, start: Sequence[float]) -> np.ndarray | None:
    """Return the critical point, of shape (p,), that Newton's method finds from one start; None if it finds none."""
    ends = _converged(problem, rule, np.array([start], float), downhill=False)
    return ends[0] if len(ends) else None


def _converged(problem: Composed, rule: Rule, points: np.ndarray, *, downhill: bool) -> np.ndarray:
    """Return the limits of Newton's method, with steps of at most 0.4 of an unknown's size."""
    ended = [points[:0]]
    for _ in range(_STEPS):
        with np.errstate(all="ignore"):
            loss = problem.at_points(Float64(), points, rule)
            sizes = np.sqrt(np.abs(np.einsum("kii->ki", loss.second)))
            sizes[sizes == 0] = 1
            scaled, slope = loss.second / (sizes[:, :, None] * sizes[:, None]), loss.gradient / sizes
            good = np.isfinite(scaled).all((1, 2)) & np.isfinite(slope).all(1) & (np.abs(points) < _FARTHEST).all(1)
        points, sizes, scaled, slope = points[good], sizes[good], scaled[good], slope[good]
        if not len(points):
            break
        curvatures, axes = np.linalg.eigh(scaled)
        if downhill:
            curvatures = np.maximum(np.abs(curvatures), _NEAR)
        regular = np.abs(curvatures).min(axis=1) > _SINGULAR
        curvatures[np.abs(curvatures) < _SINGULAR] = _SINGULAR
        steps = np.einsum("kij,kj->ki", axes, np.einsum("kij,ki->kj", axes, slope) / curvatures) / sizes
        lengths = (np.abs(steps) / (np.abs(points) + 0.05)).max(axis=1)
        points = points - steps * np.minimum(1, _LONGEST_STEP / np.maximum(lengths, _CONVERGED))[:, None]
        done = lengths < _CONVERGED
        ended.append(points[done & regular])
        points = points[~done]
        if not len(points):
            break
    return np.concatenate(ended)


def certify(
    problem: Composed, moments: Sequence[flint.fmpq], start: Sequence[float | Fraction], digits: int, deadline: float
) -> CriticalPoint | None:
    """Return the critical point near a start, certified by Krawczyk's test to `digits` decimal digits, or None.

    `moments` are the exact moments of the measure of the loss; `deadline` is a time of `time.monotonic()`.
    """
    target = int(3.33 * digits) + 24
    bits = 2 * target + 128
    while bits <= 2 * LAST_BITS + 256 and time.monotonic() < deadline:
        with balls(bits) as arithmetic:
            point = _certified(problem, arithmetic, [flint.arb(m) for m in moments], start, target, bits)
        if point is not None:
            return point
        bits *= 2
    return None


def _certified(
    problem: Composed,
    arithmetic: Ball,
    moments: Sequence[flint.arb],
    start: Sequence[float | Fraction],
    target: int,
    bits: int,
) -> CriticalPoint | None:
    point = [arithmetic.number(Fraction(x)).mid() for x in start]
    for _ in range(_NEWTON_IN_BALLS):
        moved = _newton_step(problem.in_balls(arithmetic, point, moments), point)
        if moved is None:
            return None
        step = max(float(abs(x - y).upper()) for x, y in zip(moved, point, strict=True))
        point = moved
        if step < 2.0 ** -(0.6 * target):
            break
    unit = 2 ** (target + 20)
    centre = tuple(Fraction(int((x * unit).mid().floor().unique_fmpz()), unit) for x in point)
    radius = Fraction(1, 2**target)
    test = krawczyk(problem, arithmetic, centre, radius, moments)
    if test is None or not test[0]:
        return None
    box = test[1]
    middle = problem.in_balls(arithmetic, [arithmetic.number(x) for x in centre], moments).value
    # |f(x) − f(c)| is at most Σ |G_i| on the box times the radius.
    off = sum((abs(slope) for slope in box.gradient), flint.arb(0)) * arithmetic.number(radius)
    loss = enclosure_of_ball(middle + flint.arb(0, off.upper()))
    return CriticalPoint(centre, radius, loss, positive_definite(box.second), bits)


def _newton_step(loss: Values, point: Sequence[flint.arb]) -> list[flint.arb] | None:
    try:
        step = loss.second.mid().solve(flint.arb_mat([[slope.mid()] for slope in loss.gradient]))
    except ZeroDivisionError:
        return None
    moved = [(x - step[i, 0]).mid() for i, x in enumerate(point)]
    return moved if all(x.is_finite() for x in moved) else None


def krawczyk(
    problem: Composed, arithmetic: Ball, centre: Sequence[Fraction], radius: Fraction, moments: Sequence[flint.arb]
) -> tuple[bool, Values] | None:
    """Return whether K(X) lies in the interior of X, and f on X; None if no inverse of H(c) is found.

    X has a centre of p numbers and a radius; the `moments` are balls.
    """
    middle, reach, size = [arithmetic.number(x) for x in centre], arithmetic.number(radius), len(centre)
    side = flint.arb(0, reach)
    point, box = (problem.in_balls(arithmetic, part, moments) for part in (middle, [x + side for x in middle]))
    try:
        inverse = point.second.inv().mid()
    except ZeroDivisionError:
        return None
    identity = flint.arb_mat([[flint.arb(i == j) for j in range(size)] for i in range(size)])
    sides, slopes = flint.arb_mat([[side]] * size), flint.arb_mat([[slope] for slope in point.gradient])
    moved = (identity - inverse * box.second) * sides - inverse * slopes
    return all(bool(abs(moved[i, 0]) < reach) for i in range(size)), box


def disjoint(points: Sequence[CriticalPoint]) -> Iterator[CriticalPoint]:
    """Yield the points whose boxes are disjoint from those of all points yielded before."""
    kept: list[CriticalPoint] = []
    for point in points:
        apart = (
            any(abs(x - y) > point.radius + other.radius for x, y in zip(point.centre, other.centre, strict=True))
            for other in kept
        )
        if all(apart):
            kept.append(point)
            yield point
