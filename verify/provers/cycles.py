"""An attracting cycle as an invariant set: a certificate that a recursion's observable never comes down to a level.

The run is followed in balls into a small ellipsoid z̃ + B u, |u| ≤ r, around a point z̃ of the cycle,
B made of the directions in which the cycle attracts. There the map is enclosed by its mean-value
form: with c_j the images of z̃ and M_j the product of the enclosed Jacobians with B,

    f^j(z̃ + B u) ∈ c_j + M_j u,   and the set is kept when |B⁻¹(c_K − z̃)| + ‖B⁻¹ M_K‖ r ≤ r.

The observable is above the level on the way in and on every image of the set, hence at every step.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
import sympy as sp

from verify.evaluation.arithmetic import Ball, Float64, balls, enclosure_of_ball
from verify.evaluation.iteration import INTERRUPTED, Passage, Values, first_passage, used_symbols
from verify.evaluation.programs import Program, compile_program
from verify.language.recursion import Dynamics

LONGEST_PERIOD = 8
_SETTLED, _LATEST = 10_000, 50_000
"""Steps after which a run has settled, or nothing is found; the last step at which it may enter the set."""
_BITS, _ENTRY_BITS = 192, 2**15
_CONTRACTION = 0.9999
QUICK_CONTRACTION = 0.98
"""A cycle that contracts by this in a period is entered, and certified, within a second."""


@dataclass(frozen=True)
class Cycle:
    """A set that a run enters at `entered_at` and never leaves, on which the observable is ≥ `lowest` > the level.

    `centre` (n numbers), `axes` (n×n, its columns the directions B) and `radius` describe it; `period`
    steps of the recursion map it into itself.
    """

    period: int
    entered_at: int
    centre: tuple[Fraction, ...]
    axes: tuple[tuple[Fraction, ...], ...]
    radius: Fraction
    lowest: Fraction
    passage: Passage
    bits: int = _BITS


@cache
def _jacobian(dynamics: Dynamics) -> tuple[sp.Expr, ...]:
    return tuple(sp.Matrix(dynamics.step).jacobian(list(dynamics.state)))


@cache
def _programs(dynamics: Dynamics, names: frozenset[str]) -> tuple[list[sp.Symbol], Program, Program, Program]:
    jacobian = _jacobian(dynamics)
    expressions = (*dynamics.step, dynamics.observable, *dynamics.initial, *jacobian)
    fixed = used_symbols(expressions, dict.fromkeys(names), dynamics.state)
    step = compile_program((dynamics.observable, *dynamics.step), dynamics.state, fixed)
    return fixed, step, compile_program(jacobian, dynamics.state, fixed), compile_program(dynamics.initial, fixed)


def avoids(dynamics: Dynamics, level: Fraction, values: Values, *, deadline: float) -> Cycle | None:
    """Return a certified cycle by which the run never comes down to the level; None where none is found."""
    found = approximate_cycle(dynamics, float(level), values)
    if found is None:
        return None
    period, centre, axes = found
    run = _run(dynamics, float(level), values, _LATEST)
    for exponent in range(4, 24, 2):
        radius = Fraction(1, 2**exponent)
        entered = _entry(run, centre, axes, float(radius) / 2)
        if entered is None:
            return None
        if cycle := _certify(dynamics, level, values, (period, entered, centre, axes, radius), deadline):
            return cycle
    return None


@np.errstate(all="ignore")
def approximate_cycle(
    dynamics: Dynamics, level: float, values: Values, contraction: float = _CONTRACTION
) -> tuple[int, np.ndarray, np.ndarray] | None:
    """Return, in float64, the period, a point of the cycle, and the directions in which it attracts, or None."""
    if any(expression.has(sp.Derivative, sp.Subs) for expression in _jacobian(dynamics)):
        # A primitive has no derivative in the language.
        return None
    run = _run(dynamics, level, values, _SETTLED)
    if len(run) <= _SETTLED:
        return None
    fixed, step, jacobian, _ = _programs(dynamics, frozenset(values))
    numbers = [float(values[symbol.name]) for symbol in fixed]
    advance, slopes = step.bind(Float64(), numbers), jacobian.bind(Float64(), numbers)
    for period in range(1, LONGEST_PERIOD + 1):
        centre = _fixed_point(advance, slopes, np.array(run[-1]), period)
        if centre is None:
            continue
        product = _power(advance, slopes, centre, period)[1]
        eigenvalues, vectors = np.linalg.eig(product)
        largest = float(np.abs(eigenvalues).max())
        axes = _real(eigenvalues, vectors)
        if not largest < contraction or np.linalg.cond(axes) > 1e6:
            continue
        return period, centre, axes
    return None


def _run(dynamics: Dynamics, level: float, values: Values, steps: int) -> list[tuple[float, ...]]:
    """Return the run's states in float64 while it is finite and above the level, at most some steps."""
    fixed, step, _, initial = _programs(dynamics, frozenset(values))
    numbers = [float(values[symbol.name]) for symbol in fixed]
    try:
        advance = step.bind(Float64(), numbers)
        state, states = tuple(float(x) for x in initial.bind(Float64())(*numbers)), []
    except (ArithmeticError, ValueError, TypeError):
        # Balls say whether it has a value.
        return []
    for _ in range(steps + 1):
        try:
            observed, *following = advance(*state)
        except (ArithmeticError, ValueError):
            break
        # A power of a negative number is complex.
        if isinstance(observed, complex) or not (math.isfinite(observed) and observed > level):
            break
        states.append(state)
        state = tuple(following)
    return states


def _power(advance: Any, slopes: Any, state: np.ndarray, times: int) -> tuple[np.ndarray, np.ndarray]:
    product = np.eye(len(state))
    for _ in range(times):
        product = np.array(slopes(*map(float, state))).reshape(product.shape) @ product
        state = np.array(advance(*map(float, state))[1:])
    return state, product


def _fixed_point(advance: Any, slopes: Any, state: np.ndarray, period: int) -> np.ndarray | None:
    """Return a point of period `period` near a state, by Newton's method."""
    start = state
    try:
        for _ in range(50):
            image, product = _power(advance, slopes, state, period)
            move = np.linalg.solve(np.eye(len(state)) - product, image - state)
            state = state + move
            if not np.all(np.isfinite(state)) or np.abs(state - start).max() > 1 + np.abs(start).max():
                return None
            if np.abs(move).max() <= 1e-12 * (1 + np.abs(state).max()):
                return state
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):
        return None
    return None


def _real(eigenvalues: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return real directions: eigenvectors, and real and imaginary parts of a complex pair's."""
    columns = []
    for value, vector in zip(eigenvalues, vectors.T, strict=True):
        columns.append(vector.real if value.imag >= 0 else vector.imag)
    return np.array(columns).T


def _entry(run: list[tuple[float, ...]], centre: np.ndarray, axes: np.ndarray, radius: float) -> int | None:
    inside = np.linalg.norm(np.linalg.solve(axes, (np.array(run) - centre).T), axis=0) <= radius
    return int(np.argmax(inside)) if inside.any() else None


def _certify(dynamics: Dynamics, level: Fraction, values: Values, candidate: Any, deadline: float) -> Cycle | None:
    """Enclose the images of the set, and the run that enters it."""
    period, entered, centre, axes, radius = candidate
    exact_centre, exact_axes = _exact(centre), _exact(axes)
    with balls(_BITS) as arithmetic:
        fixed, step, jacobian, _ = _programs(dynamics, frozenset(values))
        numbers = [arithmetic.number(values[symbol.name]) for symbol in fixed]
        advance, slopes = step.bind(arithmetic, numbers), jacobian.bind(arithmetic, numbers)
        middle, directions = _column(exact_centre, arithmetic), _matrix(exact_axes, arithmetic)
        box = flint.arb_mat([[flint.arb(0, arithmetic.number(radius))] for _ in exact_centre])
        back, bound, reach = directions.inv(), arithmetic.number(level), arithmetic.number(radius)
        point, spread, lowest = middle, directions, None
        for _ in range(period):
            region = point + spread * box
            observed = advance(*_entries(region))[0]
            if not (observed.is_finite() and observed > bound):
                return None
            lowest = observed.lower() if lowest is None or observed.lower() < lowest else lowest
            size = len(exact_centre)
            spread = flint.arb_mat(size, size, list(slopes(*_entries(region)))) * spread
            point = flint.arb_mat([[x] for x in advance(*_entries(point))[1:]])
        room = reach - _norm(back * (point - middle))
        if not (room > 0 and _norm_at_most(back * spread, room / reach)):
            return None
        inside = lambda state: _norm(back * (flint.arb_mat([[x] for x in state]) - middle)) <= reach  # noqa: E731
        found = _enter(dynamics, level, values, entered, inside, deadline)
        least = enclosure_of_ball(lowest).lower
    if found is None:
        return None
    return Cycle(period, found[0], exact_centre, exact_axes, radius, _rounded_down(Fraction(least), level), found[1])


def _enter(
    dynamics: Dynamics, level: Fraction, values: Values, expected: int, inside: Any, deadline: float
) -> tuple[int, Passage] | None:
    """Follow the run in balls, above the level, to a step near the expected one at which it is inside."""
    # Where a cycle attracts in a slow spiral, enclosures grow by a fraction of a bit a step on the way in.
    bits = {"first_bits": max(128, expected // 3), "last_bits": _ENTRY_BITS}
    passage = first_passage(dynamics, level, values, deadline=deadline, last_step=expected, **bits)
    if passage.why == INTERRUPTED:
        raise KeyboardInterrupt
    if passage.why != "last step":
        return None
    with balls(passage.bits) as arithmetic:
        fixed, step, _, _ = _programs(dynamics, frozenset(values))
        advance = step.bind(arithmetic, [arithmetic.number(values[symbol.name]) for symbol in fixed])
        bound, state = arithmetic.number(level), passage.state
        # Rounding may have put the run in float64 elsewhere on the cycle.
        for count in range(expected, expected + _LATEST // 10):
            observed, *following = advance(*state)
            if not observed > bound or time.monotonic() > deadline:
                return None
            if inside(state):
                return count, passage
            state = following
    return None


def _norm(column: Any) -> flint.arb:
    """Return an upper bound of the norm: the square of a ball about 0 would contain negative numbers."""
    return sum((abs(entry).upper() ** 2 for entry in _entries(column)), flint.arb(0)).sqrt()


def _norm_at_most(matrix: Any, bound: flint.arb) -> bool:
    """Whether the spectral norm is certified ≤ the bound: bound² I − MᵀM has positive leading minors."""
    size = matrix.nrows()
    gap = flint.arb_mat(size, size, [bound * bound * (i == j) for i in range(size) for j in range(size)])
    gap -= matrix.transpose() * matrix
    minors = (flint.arb_mat([[gap[i, j] for j in range(k)] for i in range(k)]).det() for k in range(1, size + 1))
    return all(minor > 0 for minor in minors)


def _entries(column: Any) -> list[flint.arb]:
    return [column[i, 0] for i in range(column.nrows())]


def _column(numbers: Sequence[Fraction], arithmetic: Ball) -> Any:
    return flint.arb_mat([[arithmetic.number(number)] for number in numbers])


def _matrix(rows: Sequence[Sequence[Fraction]], arithmetic: Ball) -> Any:
    return flint.arb_mat([[arithmetic.number(number) for number in row] for row in rows])


def _exact(array: np.ndarray) -> Any:
    """Return an array's floats as short rationals near them: any will do that lie near the cycle."""
    return tuple(Fraction(round(float(x) * 10**12), 10**12) if array.ndim == 1 else _exact(x) for x in array)


def _rounded_down(value: Fraction, level: Fraction) -> Fraction:
    """Return a short rational below the value and above the level, when there is one."""
    short = Fraction(math.floor(value * 10**12), 10**12)
    return short if short > level else value
