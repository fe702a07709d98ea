# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Runs of recursions at many points at once in float64, and the margins of claims about them; they prove nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from verify.errors import TheoremError
from verify.evaluation.iteration import step_program, used_symbols
from verify.evaluation.numerical.arrays import Arrays
from verify.evaluation.numerical.limits import NUMERICAL
from verify.evaluation.programs import Program, compile_program
from verify.language.clause_data import Dynamics

Points = Mapping[str, np.ndarray]
"""The values at n points, by the name of their symbol: arrays of shape (n,)."""
Margins = Callable[[Points], np.ndarray]
"""A claim's relative margins at points: in [-1, 3], negative if the claim seems to fail, infinite without a value."""


@dataclass(frozen=True)
class _Runs:
    """The programs of a recursion and of the bounds of a claim about it.

    The programs of the recursion take the values of the names in `fixed`; the program of the bounds takes the values of
    the names in `compared`.
    """

    fixed: tuple[str, ...]
    step: Program
    initial: Program
    compared: tuple[str, ...]
    bounds: Program
    arrays: Arrays

    def bounds_at(self, points: Points) -> list[np.ndarray]:
        """Return the values of the bounds."""
        count = len(next(iter(points.values())))
        values = self.bounds.bind(self.arrays)(*(points[name] for name in self.compared))
        return [np.broadcast_to(np.asarray(each, float), count) for each in values]

    def observed(self, points: Points, last: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Return the observable at n points, an array of shape (steps, n); it is NaN after the end of a run.

        A run ends some steps after it diverges, reaches its level, or makes its last step. It has no steps if `last`
        is negative.
        """
        places, columns = np.flatnonzero(last >= 0), [points[name] for name in self.fixed]
        most = int(min(NUMERICAL.run_steps, last.max(initial=0)))
        seen = np.full((most + 1, len(last)), np.nan)
        columns, state, program = _at(columns, places), None, None
        for count in range(most + 1 if len(places) else 0):
            self.arrays.tick()
            program = program or self.step.bind(self.arrays, columns)
            state = state or self.initial.bind(self.arrays)(*columns)
            seen[count, places], *state = program(*state)
            if (count + 1) % NUMERICAL.run_block == 0:
                rows = seen[count + 1 - NUMERICAL.run_block : count + 1, places]
                going = np.isfinite(rows[-1]) & (last[places] > count) & ~(rows <= level[places]).any(axis=0)
                if not going.all():
                    state = _at([np.broadcast_to(each, going.shape) for each in state], going)
                    places, columns, program = places[going], _at(columns, going), None
                if not len(places):
                    break
        return seen


def _runs(dynamics: Dynamics, bounds: Sequence[sp.Expr], names: frozenset[str], arrays: Arrays) -> _Runs:
    fixed, step, initial = step_program(dynamics, names)
    compared = used_symbols(bounds, names)
    compiled = compile_program(bounds, compared)
    if step.primitives or initial.primitives or compiled.primitives:
        raise TheoremError("primitives are not run over arrays")
    of_runs, of_bounds = (tuple(symbol.name for symbol in symbols) for symbols in (fixed, compared))
    return _Runs(of_runs, step, initial, of_bounds, compiled, arrays)


def _at(values: Sequence[Any], places: np.ndarray) -> list[np.ndarray]:
    return [each[places] for each in values]


def _relative(level: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return (level − observed)/size, clipped to [-1, 1]; -1 if the observed value is not finite.

    The size is |level| or, if that is 0, |observed|.
    """
    size = np.where(level != 0, np.abs(level), np.where(observed != 0, np.abs(observed), 1.0))
    return np.where(np.isfinite(observed), np.clip((level - observed) / size, -1, 1), -1.0)


def reaching(
    dynamics: Dynamics,
    level: sp.Expr,
    within: sp.Expr | None,
    not_before: sp.Expr | None,
    names: frozenset[str],
    arrays: Arrays,
) -> Margins:
    """Return the margins of the claim that the observable reaches `level`, by the step `within` if that is given.

    The claim also says that the observable does not reach the level before the step `not_before`; if it does, the
    margin is negative. If `within` is given, the margin is at most the share of the steps that is left when the level
    is reached. Otherwise a run is suspected if it seems to settle above the level.

    Raises
    ------
    TheoremError, UndefinedError
        For an expression that is not computed over arrays.
    """
    bounds = (level, sp.Integer(0) if within is None else within, sp.Integer(0) if not_before is None else not_before)
    runs = _runs(dynamics, bounds, names, arrays)

    def margins(points: Points) -> np.ndarray:
        bound, last, first = runs.bounds_at(points)
        last = np.full(len(bound), np.inf) if within is None else np.floor(last)
        known = np.isfinite(bound) & ~np.isnan(last) & np.isfinite(first)
        seen = runs.observed(points, np.where(known, last, -1), bound)
        reached, step, crossed = _first(seen, bound)
        if within is None:
            late, never = 1.0, _settling(seen, bound)
        else:
            # Nothing is known about a run after its last computed step.
            late, never = _left(step, crossed, last), np.where(last < len(seen), -1.0, 1.0)
        room = np.where(first > 0, np.clip(step / first - 1, -1, 1), 1.0)
        return np.where(known, np.where(reached, np.minimum(room, late), never), np.inf)

    return margins


def _first(seen: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return whether a level is reached, the first step at which it is, and the interpolated step at the crossing."""
    at_most = seen <= level
    step, places = np.argmax(at_most, axis=0), np.arange(len(level))
    after, before = seen[step, places], seen[np.maximum(step - 1, 0), places]
    part = np.where(before > after, (level - after) / (before - after), 0.0)
    return np.asarray(at_most.any(axis=0)), step, step - np.clip(np.nan_to_num(part), 0, 1)


def _left(step: np.ndarray, crossed: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the share of the steps 0 to `last` that is left at the crossing; negative for a crossing after `last`."""
    left = (last + 1 - crossed) / (last + 1)
    return np.where(last < 0, -1.0, np.where(step <= last, left, np.maximum((last - step) / (last + 1), -1)))


def _settling(seen: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the margins of runs that do not reach a level.

    The margin is the fall in the second half of the steps, divided by the distance from the level at half time. It is
    small and negative if the run did not come below its start, or if the run moved towards the level and has slowed so
    much that a geometric series of its next falls ends above the level.
    """
    steps = len(seen)
    half, later, last = (np.fmin.reduce(seen[:end], axis=0) for end in (steps // 2 + 1, steps - steps // 4, steps))
    fallen, then = half - later, later - last
    rest = np.where(then > 0, then**2 / (fallen - then), 0.0)
    moved = seen[0] - last > NUMERICAL.moved * (seen[0] - level)
    slowed = moved & (then <= NUMERICAL.slowed * fallen)
    settles = ~(last < seen[0]) | (slowed & (last - rest - level > NUMERICAL.moved * (half - level)))
    way = np.clip(np.nan_to_num((half - last) / (half - level), nan=1.0), 0, 1)
    return np.where(settles, NUMERICAL.suspected, way)


def staying(dynamics: Dynamics, reached: sp.Expr, level: sp.Expr, names: frozenset[str], arrays: Arrays) -> Margins:
    """Return the margins of the claim that once the observable is at most `reached` it is at most `level`.

    The margins are above 2 if the observable does not reach `reached`. Raises the errors of `reaching`.
    """
    runs = _runs(dynamics, (reached, level), names, arrays)

    def margins(points: Points) -> np.ndarray:
        first, bound = runs.bounds_at(points)
        known = np.isfinite(first) & np.isfinite(bound)
        seen = runs.observed(points, np.where(known, np.inf, -1), np.full(len(first), -np.inf))
        after = np.logical_or.accumulate(seen <= first, axis=0)
        largest = np.fmax.reduce(np.where(after, seen, np.nan), axis=0)
        margin = np.where(after[-1], _relative(bound, largest), 2 - _relative(first, np.fmin.reduce(seen, axis=0)))
        return np.where(known, margin, np.inf)

    return margins
