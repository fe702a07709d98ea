"""Recursions on two numbers, followed over more steps than can be computed one by one."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from verify.errors import UndefinedError

State: TypeAlias = tuple[float, float]
Move: TypeAlias = Callable[[float, float], State]
"""The increments of the two numbers in a step."""
Mark: TypeAlias = Callable[[float, float], float]
"""A function of the two numbers that is positive until the run reaches a place, and 0 there."""

ACCURACY = 1e-6
"""Bound on the relative error of numbers computed from a state that `reached` returns. The integrator's tolerance is
1e-8 a step; its results differ from the results of single steps by less than 1e-7 (`test_long_runs`)."""
_STEPS, _MOST_STEPS = 10_000, 100_000
_SMOOTH, _TOLERANCE, _MOST_VELOCITIES = 0.01, 1e-8, 30_000


@dataclass(frozen=True)
class Reached:
    """A state of a run, and the step, to within 1, at which the curve that joins the steps reaches it."""

    step: float
    state: State


def after(move: Move, state: State, steps: int) -> State:
    """Return the state after `steps` steps. Raises UndefinedError if it is not finite."""
    x, y = state
    try:
        for _ in range(steps):
            u, v = move(x, y)
            x, y = x + u, y + v
    except OverflowError:
        x = math.inf
    if not (math.isfinite(x) and math.isfinite(y)):
        raise UndefinedError("the run leaves the range of floating point")
    return x, y


def velocity(move: Move, x: float, y: float) -> State:
    """Return the velocity of the curve through the iterates: Δ − Δ²/2 + Δ³/3, the first terms of D = log(1 + Δ).

    D is the derivative along the curve, and Δ the difference of a step.
    """
    a, b = move(x, y)
    a1, b1 = move(x + a, y + b)
    a2, b2 = move(x + a + a1, y + b + b1)
    return (11 * a - 7 * a1 + 2 * a2) / 6, (11 * b - 7 * b1 + 2 * b2) / 6


def _is_smooth(move: Move, state: State) -> bool:
    """Whether the next term of the series, Δ⁴/4, is at most 1 % of the first, or negligible, in both numbers."""
    moves, (x, y), none = [], state, 1e-12 * (1 + max(map(abs, state)))
    for _ in range(4):
        moves.append(move(x, y))
        x, y = x + moves[-1][0], y + moves[-1][1]
    differences = ((abs(d - 3 * c + 3 * b - a), abs(a)) for a, b, c, d in zip(*moves, strict=True))
    return all(fourth <= 4 * _SMOOTH * first + none for fourth, first in differences)


def smooth(move: Move, start: State) -> Reached:
    """Return the first checked state at which a run is smooth, by single steps. Raises UndefinedError if none is."""
    state, step = after(move, start, _STEPS), _STEPS
    while not _is_smooth(move, state):
        if step >= _MOST_STEPS:
            raise UndefinedError(f"the run is not smooth after {step} steps")
        state, step = after(move, state, _STEPS), step + _STEPS
    return Reached(step, state)


def reached(move: Move, start: Reached, marks: Sequence[Mark], least: State, last_step: float = 1e30) -> list[Reached]:
    """Return the states at the marks' first zeros along the run; the run reaches the marks in the given order.

    The curve through the iterates is integrated from a state where the run is smooth, in the logarithm of the step.
    `least` are the sizes of the two numbers below which their relative error does not matter.

    Raises UndefinedError if the last mark is not reached before the last step, or if the run is too stiff.
    """

    def event(mark: Mark) -> Callable[[float, Sequence[float]], float]:
        def value(_: float, y: Sequence[float]) -> float:
            return mark(y[0], y[1])

        value.terminal = mark is marks[-1]  # pyright: ignore[reportFunctionMemberAccess]
        return value

    found = _joined(move, start, least, last_step, events=[event(mark) for mark in marks])
    if found.status != 1:
        raise UndefinedError(f"the run has not reached its last mark after {last_step:.0e} steps")
    return [
        Reached(math.exp(times[0]), (float(states[0][0]), float(states[0][1])))
        for times, states in zip(found.t_events, found.y_events, strict=True)
    ]


def at_steps(move: Move, start: Reached, steps: Sequence[float], least: State) -> list[Reached]:
    """Return the states at some later steps, by the integration of `reached`. Raises UndefinedError if it fails."""
    found = _joined(move, start, least, steps[-1], t_eval=[math.log(step) for step in steps])
    if found.status != 0:
        raise UndefinedError(f"the run is not followed to step {steps[-1]:.0e}")
    return [Reached(step, (float(x), float(y))) for step, x, y in zip(steps, *found.y, strict=True)]


def _joined(move: Move, start: Reached, least: State, last_step: float, **options: Any) -> Any:
    from scipy.integrate import solve_ivp

    count = 0

    def slope(u: float, y: Sequence[float]) -> State:
        nonlocal count
        count += 1
        if count > _MOST_VELOCITIES:
            raise UndefinedError(f"the run is not followed from step {start.step:.0e}: it is too stiff")
        a, b = velocity(move, y[0], y[1])
        return math.exp(u) * a, math.exp(u) * b

    span, sizes = (math.log(start.step), math.log(last_step)), [_TOLERANCE * size for size in least]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return solve_ivp(slope, span, start.state, method="LSODA", rtol=_TOLERANCE, atol=sizes, **options)
        except UserWarning as failure:
            raise UndefinedError(f"the run is not followed from step {start.step:.0e}: {failure}") from failure
