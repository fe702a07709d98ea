"""Lemma 1's two-number recursion in float64, compiled from the statement, with bounds on its rounding."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from theorems.sparse_token_selection.reduced_dynamics import C, alpha, lemma1
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import Identity, Statement
from verify.evaluation.arithmetic import Float64
from verify.evaluation.programs import Program, compile_program

EPS = float(np.finfo(float).eps)

Instance = tuple[int, int, int, float]
"""(T, q, d, eta)."""


class Point(NamedTuple):
    """A point of the two-parameter set, and the loss there."""

    alpha: float
    C: float
    loss: float


ZERO = Point(0.0, 0.0, math.nan)


@dataclass(frozen=True)
class Recursion:
    """A statement of Lemma 1 on the set at an instance (T, q, d, eta), in float64."""

    instance: Instance
    program: Callable[[float, float], tuple[float, float, float]]

    def step(self, at: Point) -> Point:
        """Return (α', C') and the loss at (α, C)."""
        loss, alpha_next, C_next = (float(x) for x in self.program(at.alpha, at.C))
        return Point(alpha_next, C_next, loss)

    def points(self, steps: int) -> Iterator[Point]:
        """Yield the points 0..steps of the trajectory from zero, with their losses."""
        at = ZERO
        for _ in range(steps + 1):
            following = self.step(at)
            yield Point(at.alpha, at.C, following.loss)
            at = following


@cache
def _program(statement: Statement) -> Program:
    right = {clause.label: clause.right for clause in statement.clauses if isinstance(clause, Identity)}
    return compile_program([right["loss"], right["step_alpha"], right["step_C"]], [alpha, C], [T, q, d, eta])


def recursion(instance: Instance, statement: Statement = lemma1.statement) -> Recursion:
    """Return the recursion of Lemma 1, or of a statement with clauses of the same labels, at (T, q, d, eta)."""
    bound = _program(statement).bind(Float64(), [np.float64(x) for x in instance])
    return Recursion(instance, lambda alpha, C: bound(np.float64(alpha), np.float64(C)))


def point_with(theory: Recursion, C_target: float) -> Point:
    """Return the first point with C ≥ the target, or the 5000th, of the trajectory from zero with step size 1.

    The set is the same for every step size, and small steps would take long to leave its start.
    """
    length, subset, size, _ = theory.instance
    at = ZERO
    for at in recursion((length, subset, size, 1.0)).points(5000):
        if at.C >= C_target:
            break
    return at


def rounding(theory: Recursion, at: Point) -> float:
    """Return a bound on the rounding error of an entry of a gradient, simulated or from theory.

    A gradient is a sum whose summands are at most M = Td (1 + |α|)² in size: a cubature point has norm √(Td), as a
    sample has typically, and a residual has norm (1 + |α|)√(Td). A summand takes fewer than 100 roundings of relative
    size EPS, and the summation adds fewer than 100. The theory's difference quotients (α − α')/η and (C − C')/η add EPS
    (|α| + 1)/η and EPS (|C| + 1)/η.
    """
    length, _, size, rate = theory.instance
    magnitude = length * size * (1 + abs(at.alpha)) ** 2
    return EPS * (200 * magnitude + 4 * (2 + abs(at.alpha) + abs(at.C)) / rate)


def expansion(theory: Recursion, at: Point) -> float:
    """Return the norm of the recursion's Jacobian in the metric (d, T − 1), by differences (relative error 1e-6)."""
    length, _, size, _ = theory.instance
    scale = np.sqrt([size, length - 1])
    step = 1e-5
    columns = []
    for moved in np.eye(2) * step:
        ahead, behind = (theory.step(Point(at.alpha + s * moved[0], at.C + s * moved[1], math.nan)) for s in (1, -1))
        columns.append([(ahead.alpha - behind.alpha) / (2 * step), (ahead.C - behind.C) / (2 * step)])
    jacobian = np.array(columns).T
    return float(np.linalg.norm(scale[:, None] * jacobian / scale, 2)) * (1 + 1e-6)
