"""An attracting cycle as an invariant set: a certificate that a recursion's observable never comes down to a level.

The run is followed in balls into a small ellipsoid z̃ + B u, |u| ≤ r, around a point z̃ of the cycle. The columns of B
are the directions in which the cycle attracts. On this set the map f is enclosed by its mean-value form. With c_j the
images of z̃, M_j the product of the enclosed Jacobians with B, and K the period,

    f^j(z̃ + B u) ∈ c_j + M_j u,   and the set is kept if |B⁻¹(c_K − z̃)| + ‖B⁻¹ M_K‖ r ≤ r.

The observable is above the level on the way in and on every image of the set, hence at every step.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import flint
import numpy as np
import sympy as sp

from verify.evaluation.arithmetic import Arithmetic, Ball, Float64, Raw, balls, fraction_of_point, positive_definite
from verify.evaluation.iteration import INTERRUPTED, Passage, Values, bind_recursion, first_passage, step_program
from verify.evaluation.programs import Program, compile_program
from verify.language.clause_data import Dynamics

Steps: TypeAlias = Callable[..., tuple[float, ...]]
"""A function of a state in float64: it gives the observable and the next state, or the Jacobian row by row."""
Candidate: TypeAlias = tuple[int, int, np.ndarray, np.ndarray, Fraction]
"""Period, step of entry, point of the cycle, directions and radius."""
LONGEST_PERIOD = 8
"""Longest period of the cycles that are sought; shorter periods are tried first."""
_SETTLED = 10_000
"""Number of steps after which a run has to be near its cycle."""
_LATEST = 50_000
"""The last step of the run in float64 at which its entry into the set is sought."""
_BITS = 192
"""Bits of the balls that enclose the images of the set."""
_ENTRY_BITS = 2**15
"""The most bits with which the run is followed into the set."""
_RADII = tuple(Fraction(1, 2**exponent) for exponent in range(4, 24, 2))
"""Radii of the set, tried in turn: a smaller set is entered later, and is more easily shown to be kept."""
_CONTRACTION = 0.9999
"""A cycle attracts if all eigenvalues of a period's Jacobian are smaller than this in size."""
_NEWTON_STEPS = 50
"""Maximum number of Newton steps towards a point of the cycle: if they do not converge, no point is found."""
_WORST_CONDITION = 1e6
"""Largest condition number of the matrix of directions for which its inverse is used."""
QUICK_CONTRACTION = 0.98
"""A cycle that contracts by this factor, or a smaller one, in a period is entered and certified within a second."""


@dataclass(frozen=True)
class Cycle:
    """A set that a run enters at step `entered_at`; from then on the observable is ≥ `lowest` > the level.

    `centre` (n numbers), `axes` (n×n, its columns the directions B) and `radius` describe the set; `period` steps of
    the recursion map it into itself.
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
def _programs(dynamics: Dynamics, names: frozenset[str]) -> tuple[list[sp.Symbol], Program, Program]:
    fixed, step, _ = step_program(dynamics, names)
    return fixed, step, compile_program(_jacobian(dynamics), dynamics.state, fixed)


def _bound(dynamics: Dynamics, values: Values, arithmetic: Arithmetic[Raw]) -> list[Callable[..., tuple[Raw, ...]]]:
    """Return the observable and the next state, and the Jacobian row by row, as functions of a state."""
    fixed, step, jacobian = _programs(dynamics, frozenset(values))
    numbers = [arithmetic.number(values[symbol.name]) for symbol in fixed]
    return [program.bind(arithmetic, numbers) for program in (step, jacobian)]


def avoids(dynamics: Dynamics, level: Fraction, values: Values, *, deadline: float) -> Cycle | None:
    """Return a certified cycle that keeps the run from ever coming down to the level; None if none is found.

    `deadline` is a time of `time.monotonic()`. Raises KeyboardInterrupt at Ctrl-C.
    """
    attracting = approximate_cycle(dynamics, float(level), values)
    if attracting is None:
        return None
    period, centre, axes = attracting
    run = _run(dynamics, float(level), values, _LATEST)
    for radius in _RADII:
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
    """Return, in float64, the period, a point of the cycle (n,), and the directions in which it attracts (n, n).

    Newton's method starts at the run's state after 10 000 steps. Return None if the run ends before, or if no cycle is
    found that contracts by a factor below `contraction` in a period.
    """
    if any(expression.has(sp.Derivative, sp.Subs) for expression in _jacobian(dynamics)):
        # A primitive has no derivative in the language.
        return None
    run = _run(dynamics, level, values, _SETTLED)
    if len(run) <= _SETTLED:
        return None
    advance, slopes = _bound(dynamics, values, Float64())
    for period in range(1, LONGEST_PERIOD + 1):
        centre = _fixed_point(advance, slopes, np.array(run[-1]), period)
        if centre is None:
            continue
        product = _power(advance, slopes, centre, period)[1]
        eigenvalues, vectors = np.linalg.eig(product)
        axes = _real(eigenvalues, vectors)
        if np.abs(eigenvalues).max() < contraction and not np.linalg.cond(axes) > _WORST_CONDITION:
            return period, centre, axes
    return None


def _run(dynamics: Dynamics, level: float, values: Values, steps: int) -> list[tuple[float, ...]]:
    """Return the run's states in float64, up to step `steps`, while the observable is finite and above the level."""
    try:
        advance, start = bind_recursion(dynamics, values, Float64())
        state, states = tuple(float(x) for x in start), []
    except (ArithmeticError, ValueError, TypeError):
        # Ball arithmetic decides whether the start has a value.
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


def _power(advance: Steps, slopes: Steps, state: np.ndarray, times: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the state after some steps, shape (n,), and the product of their Jacobians, shape (n, n)."""
    product = np.eye(len(state))
    for _ in range(times):
        state, product = _onward(advance, slopes, state, product)
    return state, product


def _onward(advance: Steps, slopes: Steps, state: np.ndarray, product: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the next state, and its Jacobian times a product."""
    jacobian = np.array(slopes(*map(float, state))).reshape(product.shape)
    return np.array(advance(*map(float, state))[1:]), jacobian @ product


def _fixed_point(advance: Steps, slopes: Steps, state: np.ndarray, period: int) -> np.ndarray | None:
    """Return a point of period `period` near a state, by Newton's method."""
    start = state
    with suppress(np.linalg.LinAlgError, ArithmeticError, ValueError):
        for _ in range(_NEWTON_STEPS):
            image, product = _power(advance, slopes, state, period)
            move = np.linalg.solve(np.eye(len(state)) - product, image - state)
            state = state + move
            if not np.all(np.isfinite(state)) or np.abs(state - start).max() > 1 + np.abs(start).max():
                return None
            if np.abs(move).max() <= 1e-12 * (1 + np.abs(state).max()):
                return state
    return None


def _real(eigenvalues: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return real directions: real eigenvectors, and the real and imaginary part of one vector of each complex pair."""
    pairs = zip(eigenvalues, vectors.T, strict=True)
    return np.array([vector.real if value.imag >= 0 else vector.imag for value, vector in pairs]).T


def _entry(run: list[tuple[float, ...]], centre: np.ndarray, axes: np.ndarray, radius: float) -> int | None:
    inside = np.linalg.norm(np.linalg.solve(axes, (np.array(run) - centre).T), axis=0) <= radius
    return int(np.argmax(inside)) if inside.any() else None


def _certify(
    dynamics: Dynamics, level: Fraction, values: Values, candidate: Candidate, deadline: float
) -> Cycle | None:
    """Return the cycle if enclosures show that the set is kept and that the run enters it; else None."""
    period, entered, centre, axes, radius = candidate
    exact_centre, exact_axes = _exact(centre), _exact(axes)
    with balls(_BITS) as arithmetic:
        advance, slopes = _bound(dynamics, values, arithmetic)
        middle, directions = _matrix([[x] for x in exact_centre], arithmetic), _matrix(exact_axes, arithmetic)
        box = flint.arb_mat([[flint.arb(0, arithmetic.number(radius))] for _ in exact_centre])
        back, bound, reach = directions.inv(), arithmetic.number(level), arithmetic.number(radius)
        point, spread, lowest = middle, directions, list[flint.arb]()
        for _ in range(period):
            region = point + spread * box
            observed = advance(*region.entries())[0]
            if not (observed.is_finite() and observed > bound):
                return None
            lowest.append(observed.lower())
            size = len(exact_centre)
            spread = flint.arb_mat(size, size, list(slopes(*region.entries()))) * spread
            point = flint.arb_mat([[x] for x in advance(*point.entries())[1:]])
        room = reach - _norm(back * (point - middle))
        if not (room > 0 and _norm_at_most(back * spread, room / reach)):
            return None
        inside = lambda state: _norm(back * (flint.arb_mat([[x] for x in state]) - middle)) <= reach  # noqa: E731
        entry = _enter(dynamics, level, values, entered, inside, deadline)
        if entry is None:
            return None
        least = _rounded_down(fraction_of_point(min(lowest)), level)
    return Cycle(period, entry[0], exact_centre, exact_axes, radius, least, entry[1])


def _enter(
    dynamics: Dynamics, level: Fraction, values: Values, expected: int, inside: Callable[..., bool], deadline: float
) -> tuple[int, Passage] | None:
    """Return a step, the expected one or a later one, at which the run is certified to be inside the set; or None.

    The second result is the passage to the expected step. The observable is above the level at each step.
    """
    # If a cycle attracts in a slow spiral, enclosures grow by a fraction of a bit in each step on the way in.
    bits = {"first_bits": max(128, expected // 3), "last_bits": _ENTRY_BITS}
    passage = first_passage(dynamics, level, values, deadline=deadline, last_step=expected, **bits)
    if passage.why == INTERRUPTED:
        raise KeyboardInterrupt
    if passage.why != "last step":
        return None
    with balls(passage.bits) as arithmetic:
        advance, _ = bind_recursion(dynamics, values, arithmetic)
        bound, state = arithmetic.number(level), passage.state
        # Because of rounding, the run in float64 may be at another point of the cycle.
        for count in range(expected, expected + _LATEST // 10):
            observed, *following = advance(*state)
            if not observed > bound or time.monotonic() > deadline:
                return None
            if inside(state):
                return count, passage
            state = following
    return None


def _norm(column: flint.arb_mat) -> flint.arb:
    """Return an upper bound of the norm, by upper bounds of entries: a ball's square may contain negative numbers."""
    return sum((abs(entry).upper() ** 2 for entry in column.entries()), flint.arb(0)).sqrt()


def _norm_at_most(matrix: flint.arb_mat, bound: flint.arb) -> bool:
    """Whether the spectral norm is certified ≤ the bound: bound² I − MᵀM is positive definite."""
    size = matrix.nrows()
    square = flint.arb_mat(size, size, [bound * bound * (i == j) for i in range(size) for j in range(size)])
    return positive_definite(square - matrix.transpose() * matrix) is True


def _matrix(rows: Sequence[Sequence[Fraction]], arithmetic: Ball) -> flint.arb_mat:
    return flint.arb_mat([[arithmetic.number(number) for number in row] for row in rows])


def _exact(array: np.ndarray) -> Any:
    """Return an array's floats as short rationals near them; any rationals near the cycle will do."""
    return tuple(Fraction(round(float(x) * 10**12), 10**12) if array.ndim == 1 else _exact(x) for x in array)


def _rounded_down(value: Fraction, level: Fraction) -> Fraction:
    """Return a short rational that is ≤ the value and > the level; the value itself if there is no such rational."""
    short = Fraction(math.floor(value * 10**12), 10**12)
    return short if short > level else value
