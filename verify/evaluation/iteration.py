"""Runs of recursions: certified in balls, and in float64 for a search."""

import math
import time
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import TypeAlias

import flint
import sympy as sp

from verify.evaluation.arithmetic import FIRST_BITS, LAST_BITS, Arithmetic, Float64, Raw, balls, enclosure_of_ball
from verify.evaluation.programs import Program, compile_program
from verify.evaluation.values import Values
from verify.language.clause_data import Dynamics
from verify.language.parameters import Value
from verify.outcomes import Enclosure

_STEPS_BETWEEN_LOOKS = 1024
"""Number of steps in balls between two checks of the clock, two reports of progress, and two possible checkpoints."""
EXACT_STEPS = 1000
"""Number of steps up to which a scan in float64 takes every step."""
MOST_EVALUATIONS = 5 * EXACT_STEPS
"""Number of steps and leaps after which a scan ends, whether or not its displacements became steady."""
_STEPS_BETWEEN_LEAPS = 4
"""Minimum number of single steps between two leaps; they damp the fast components."""
INTERRUPTED = "interrupted"
Checkpoint: TypeAlias = tuple[int, tuple[flint.arb, ...]]
"""The number of a step of a run, and the state at this step."""


def used_symbols(
    expressions: Sequence[sp.Basic], values: Container[str], without: Sequence[sp.Symbol] = ()
) -> list[sp.Symbol]:
    """Return the expressions' free symbols whose names are in `values`, sorted, except those in `without`."""
    free = set[sp.Basic]().union(*(expression.free_symbols for expression in expressions)) - set(without)
    return sorted((symbol for symbol in free if symbol.name in values), key=str)  # pyright: ignore[reportAttributeAccessIssue, reportReturnType]


@cache
def step_program(dynamics: Dynamics, names: frozenset[str]) -> tuple[list[sp.Symbol], Program, Program]:
    """Return the symbols in `names`, the program of the observable and next state, and the initial state's program."""
    expressions = (*dynamics.step, dynamics.observable, *dynamics.initial)
    fixed = used_symbols(expressions, names, dynamics.state)
    step = compile_program((dynamics.observable, *dynamics.step), dynamics.state, fixed)
    return fixed, step, compile_program(dynamics.initial, fixed)


@dataclass(frozen=True)
class Passage:
    """A trajectory computed up to a step, and whether its observable fell to a level.

    The observable is certified above the level at every step before `step`. If `reached`, it is certified at or below
    the level at `step` itself; otherwise `why` says why the run ended. `observable` encloses its value at `step`, if
    that was computed and is finite. `state` has the balls of the state at `step`.
    """

    reached: bool
    step: int
    observable: Enclosure | None
    state: tuple[flint.arb, ...]
    bits: int
    why: str = ""
    checkpoints: tuple[Checkpoint, ...] = ()


Progress = Callable[[int], None]


def first_passage(
    dynamics: Dynamics,
    level: Fraction,
    values: Values,
    *,
    deadline: float,
    last_step: int | None = None,
    progress: Progress | None = None,
    first_bits: int = FIRST_BITS,
    last_bits: int = LAST_BITS,
) -> Passage:
    """Iterate the recursion in balls to the first step at which the observable is certified ≤ `level`.

    If a comparison is undecided, the run starts again with twice the bits, so that rounding cannot move the answer. The
    run ends unreached at `last_step`, at the deadline (a time of `time.monotonic()`), at Ctrl-C, or if `last_bits` do
    not decide; `why` says which.
    """
    bits = first_bits
    while True:
        with balls(bits) as arithmetic:
            recursion, bound = bind_recursion(dynamics, values, arithmetic), arithmetic.number(level)
            passage = _follow(*recursion, bound, bits, deadline, last_step, progress)
        if passage.why != "undecided" or 2 * bits > last_bits:
            return passage
        bits *= 2


def bind_recursion(
    dynamics: Dynamics, values: Values, arithmetic: Arithmetic[Raw]
) -> tuple[Callable[..., tuple[Raw, ...]], tuple[Raw, ...]]:
    """Return the observable and the next state as a function of a state, and the initial state.

    Raises the arithmetic's error if a value is not a number of the arithmetic, or if the initial state has no value.
    """
    fixed, step, initial = step_program(dynamics, frozenset(values))
    numbers = [arithmetic.number(values[symbol.name]) for symbol in fixed]
    return step.bind(arithmetic, numbers), initial.bind(arithmetic)(*numbers)


def _follow(
    program: Callable[..., tuple[flint.arb, ...]],
    state: tuple[flint.arb, ...],
    bound: flint.arb,
    bits: int,
    deadline: float,
    last_step: int | None,
    progress: Progress | None,
) -> Passage:
    """Return the passage of a run that starts at `state`, at the working precision, which is `bits`."""
    count = 0
    checkpoints: list[Checkpoint] = []
    try:
        while True:
            observed, *following = program(*state)
            if not observed > bound:
                return _not_above(observed, bound, count, state, bits, checkpoints)
            if last_step is not None and count >= last_step:
                return Passage(False, count, enclosure_of_ball(observed), state, bits, "last step", tuple(checkpoints))
            if count % _STEPS_BETWEEN_LOOKS == 0:
                if count and count & (count - 1) == 0:
                    checkpoints.append((count, state))
                if progress:
                    progress(count)
                if time.monotonic() > deadline:
                    return Passage(False, count, enclosure_of_ball(observed), state, bits, "time")
            state = tuple(following)
            count += 1
    except KeyboardInterrupt:
        # Every step before `count` was certified above the level, wherever in a step the interrupt came.
        return Passage(False, count, None, state, bits, INTERRUPTED)


def _not_above(
    observed: flint.arb,
    bound: flint.arb,
    step: int,
    state: tuple[flint.arb, ...],
    bits: int,
    checkpoints: Sequence[Checkpoint],
) -> Passage:
    """Return the passage at the first step at which the observable is not certified above the level."""
    enclosure = enclosure_of_ball(observed) if observed.is_finite() else None
    if observed <= bound:
        return Passage(True, step, enclosure, state, bits, "", tuple(checkpoints))
    return Passage(False, step, enclosure, state, bits, "undecided")


def first_excess(
    dynamics: Dynamics,
    reached: Fraction,
    level: Fraction,
    values: Values,
    start: Passage,
    *,
    steps: int,
    deadline: float,
) -> tuple[int, Enclosure, int] | None:
    """Return the first of `steps` steps, from the first passage `start` on, at which the observable is > `level`.

    `start` is the first passage of the level `reached`. The result is the step, the observable there, and the bits that
    decided it. If a comparison is undecided, the run starts again with twice the bits, as in `first_passage`. The
    result is None if there is no such step, or if the deadline (a time of `time.monotonic()`) or the largest number of
    bits comes first.
    """
    while True:
        with balls(start.bits) as arithmetic:
            program, _ = bind_recursion(dynamics, values, arithmetic)
            bound, state = arithmetic.number(level), start.state
            for count in range(start.step, start.step + steps):
                observed, *following = program(*state)
                if not observed <= bound:
                    if observed > bound and observed.is_finite():
                        return count, enclosure_of_ball(observed), start.bits
                    break
                if count % _STEPS_BETWEEN_LOOKS == 0 and time.monotonic() > deadline:
                    return None
                state = tuple(following)
            else:
                return None
        if 2 * start.bits > LAST_BITS or time.monotonic() > deadline:
            return None
        start = first_passage(dynamics, reached, values, deadline=deadline, first_bits=2 * start.bits)
        if not start.reached:
            return None


@lru_cache(maxsize=8)
def _scanned(
    dynamics: Dynamics, values: tuple[tuple[str, Value | Enclosure], ...], steps: int
) -> tuple[tuple[int, float], ...]:
    return tuple(_scan(dynamics, dict(values), steps))


def scan_trajectory(dynamics: Dynamics, values: Values, steps: int) -> tuple[tuple[int, float], ...]:
    """Return numbers of steps up to `steps`, each with the observable in float64; a divergent run ends early, with inf.

    From step `EXACT_STEPS` on, a run whose displacement hardly changes from step to step continues by leaps: a leap
    repeats the displacement n/50 times after n steps. A few single steps between leaps damp the fast components. The
    numbers of steps are then approximate, with an error of a few per cent. Every run ends after `MOST_EVALUATIONS`.
    """
    return _scanned(dynamics, tuple(values.items()), steps)


def _scan(dynamics: Dynamics, values: Values, steps: int) -> Iterator[tuple[int, float]]:
    program, start = bind_recursion(dynamics, values, Float64())
    state = [float(x) for x in start]
    count, since, before = 0, 0, None
    for _ in range(MOST_EVALUATIONS):
        if count > steps:
            return
        try:
            observed, *following = program(*state)
        except (ArithmeticError, ValueError):
            observed, following = math.inf, state
        # A power of a negative number is complex in float64.
        if isinstance(observed, complex) or not math.isfinite(observed):
            yield count, math.inf
            return
        yield count, observed
        leap = 1
        if count >= EXACT_STEPS:
            since += 1
            if since >= _STEPS_BETWEEN_LEAPS:
                move = [b - a for a, b in zip(state, following, strict=True)]
                if before is not None and all(abs(m - b) <= 1e-3 * abs(m) for m, b in zip(move, before, strict=True)):
                    leap, since, move = max(1, count // 50), 0, None
                    following = [x + leap * (y - x) for x, y in zip(state, following, strict=True)]
                before = move
        count, state = count + leap, following
