"""Guesses of a tube's nodes, computed with midpoints of balls; the cells certify them afterwards.

In a step of the recursion a fast variable α changes by f and the slow variable C by D. The path follows dα/dC = f/D in
implicit Euler steps, which are stable during the fast moves at the start, too. The edges around the path approach each
other at most half as fast as the recursion brings states together.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import flint

from verify.evaluation.arithmetic import flint_rational, fraction_of_point

Program: TypeAlias = Callable[..., Sequence[flint.arb]]
"""A function of the slow variable and the others, as `Builder` compiles it."""
_NEWTON_STEPS = 4
"""Number of Newton steps in an implicit Euler step. Their error only moves a node, which is certified afterwards."""
_NARROW = 1 / 4000
"""Relative variation of D and the observable from the tube's middle to an edge, in the cells with the most steps."""
_EDGE = 64
"""The unit to which edges are rounded is at most the tube's half-width divided by this."""
_FIRST_STEPS = 64
"""Length of the first cell, in steps of the recursion."""
_FEWEST_STEPS = 2
"""A cell that is no longer than this many steps of the recursion is not tried."""
_GROWTH = 1.5
"""Maximum ratio of the length of a cell to the length of the cell before."""
_FASTER = 1.02
"""After a cell was shortened, the largest growth factor is 1; then it is multiplied by this number in each cell."""
_DIGITS = 8
"""Number of binary digits of a cell's length: a certificate states the nodes exactly."""
_ALONG = 1 / 500
"""Relative variation of D along a cell, in the cells with the most steps."""
_LOOSEST = 32
"""In other cells both variations may be larger by the factor √(all steps / steps so far), capped at this."""
_MOST_GUESSED = 3000
"""Maximum number of cells of an estimate: a path that has not met the level by then is assumed never to meet it."""
_SHARP = 16
"""A cell in which the level may be met is shorter than the others by up to this factor."""


@dataclass(frozen=True)
class Node:
    """An end of a cell: the slow variable, and the lower and upper edge for each other variable."""

    slow: Fraction
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]


@dataclass(frozen=True)
class PathPoint:
    """A point of the path: its state (slow, others), its moves, and its distances from the edges.

    `moves` has the moves of the other variables, the move of the slow variable, and the observable. `rows` has the
    derivatives of each of these in the state. For each other variable `rooms` has the half-width of the tube, `units`
    the unit to which its edges are rounded, and `largest` the variable's largest absolute value so far.
    """

    state: tuple[flint.arb, ...]
    moves: list[flint.arb]
    rows: list[list[flint.arb]]
    rooms: list[flint.arb]
    units: list[flint.arb]
    largest: list[flint.arb]

    @property
    def pace(self) -> Fraction:
        """The size of the slow variable's move; 0 if it is not known."""
        move = abs(self.moves[-2])
        return lower_end(move) if move.is_finite() else Fraction(0)


class Path:
    """The path from a state; `values` and `slopes` are those of `Builder`, `sign` is the slow variable's direction.

    `steps` of the `expected` steps were made so far. A cell goes from `current` to `candidate`.
    """

    def __init__(
        self,
        values: Program,
        slopes: Program,
        state: Sequence[flint.arb],
        steps: float,
        expected: float,
    ) -> None:
        self.values, self.slopes, self.steps, self.expected = values, slopes, max(steps, 1.0), expected
        self.current = self.candidate = self._point([x.mid() for x in state], None, flint.arb(1) / 2**20)
        self.sign = 1 if self.current.moves[-2] > 0 else -1
        self.length = self.usual = (
            _short(_FIRST_STEPS * self.current.pace, _DIGITS) if self.current.pace else Fraction(0)
        )
        self.growth, self.sharp = _GROWTH, False

    @property
    def looseness(self) -> float:
        """The factor by which variations may be larger in the current cell than in the cells with the most steps."""
        return min(max(math.sqrt(self.expected / self.steps), 1.0), _LOOSEST)

    def _point(self, state: Sequence[flint.arb], before: PathPoint | None, step: flint.arb) -> PathPoint:
        """Return the point at a state, after a step of the slow variable from the point `before`, if that is given."""
        n = len(state) - 1
        moves = [x.mid() for x in self.values(*state)]
        grid = [x.mid() for x in self.slopes(*state)]
        rows = [grid[i * (n + 1) : (i + 1) * (n + 1)] for i in range(n + 2)]
        rooms, units, largests = [], [], []
        for k in range(n):
            sizes = [abs(moves[i] / rows[i][k + 1]) for i in (n, n + 1)]
            largest = abs(state[k + 1]) if before is None else max(before.largest[k], abs(state[k + 1]))
            largests.append(largest.mid())
            smallest = min(x for x in (*sizes, largest or flint.arb(1)) if x.is_finite() and x > 0)
            room = _NARROW * self.looseness * smallest
            together = abs(rows[k][k + 1] * step / moves[n]) / 2
            if before is not None:
                room = max(room, before.rooms[k] / (1 + together))
            rooms.append(room.mid())
            # The unit is so small that rounding hardly changes the edges' slopes.
            units.append((room / _EDGE * min(flint.arb(1), together)).mid())
        return PathPoint(tuple(state), moves, rows, rooms, units, largests)

    def first(self, slow: flint.arb) -> Node:
        """Return the node at which the run enters the tube, a little before the run's state."""
        unit = _short(self.current.pace, 1) / 2
        behind = lower_end((self.sign * slow).lower()) // unit * unit
        return _node(self.sign * behind, self.current)

    def ahead(self, last: Node) -> Node | None:
        """Return the next node at the current length; None if the length is only a few steps, or no point is found."""
        if not self.length > _FEWEST_STEPS * self.current.pace:
            return None
        slow = last.slow + self.sign * self.length
        point = self._step(_number(slow), _number(slow - last.slow))
        if point is None or not point.pace or not all(room.is_finite() and room > 0 for room in point.rooms):
            return None
        self.candidate = point
        return _node(slow, point)

    def _step(self, slow: flint.arb, step: flint.arb) -> PathPoint | None:
        """Return the point at the end of an implicit Euler step: (α − α₀) D(α) = step · f(α), by Newton's method."""
        before, rows = self.current.state[1:], self.current.rows
        n = len(before)
        others = [
            x + (f / self.current.moves[n] * step).mid() for x, f in zip(before, self.current.moves, strict=False)
        ]
        for _ in range(_NEWTON_STEPS if n else 0):
            *moves, pace, _ = (x.mid() for x in self.values(slow, *others))
            tilts = [((x - y) / step).mid() for x, y in zip(others, before, strict=True)]
            residual = flint.arb_mat([[(f - t * pace).mid()] for f, t in zip(moves, tilts, strict=True)])
            matrix = [
                [(rows[i][j + 1] - tilts[i] * rows[n][j + 1] - (pace / step if i == j else 0)).mid() for j in range(n)]
                for i in range(n)
            ]
            try:
                moved = flint.arb_mat(matrix).solve(residual)
            except ZeroDivisionError:
                return None
            others = [(x - moved[i, 0]).mid() for i, x in enumerate(others)]
        return self._point([slow.mid(), *others], self.current, step) if all(x.is_finite() for x in others) else None

    def shorten(self) -> None:
        """Try a shorter cell; the next cells grow less for a while."""
        self.length, self.growth = self.length / 2, 1.0

    def back(self, point: PathPoint, length: Fraction) -> None:
        """Go back to a point, and try a cell of half the given length from there."""
        self.current = self.candidate = point
        self.length, self.growth = length / 2, 1.0

    def sharpen(self) -> None:
        """Go on in short cells of equal length, because the level is met within a few cells of the usual length."""
        if not self.sharp:
            self.sharp, self.length = True, max(self.usual / _SHARP, 2 * _FEWEST_STEPS * self.current.pace)

    def meets(self, level: flint.arb) -> bool:
        """Whether the observable seems to come down to a level within about two cells."""
        before, after = self.current.moves[-1], self.candidate.moves[-1]
        return bool(after - level <= 2 * abs(before - after))

    def go_on(self) -> None:
        """Accept the node ahead; unless `sharp`, choose the next cell's length by the variation of D along this one."""
        if not self.sharp:
            varies = abs(1 - self.current.moves[-2] / self.candidate.moves[-2])
            aim = _ALONG * self.looseness / max(float(varies), 1e-9)
            self.steps += float(self.length / self.candidate.pace)
            self.length = self.usual = _short(self.length * Fraction(min(max(aim, 0.5), self.growth)), _DIGITS)
            self.growth = min(_GROWTH, self.growth * _FASTER)
        self.current = self.candidate


def estimate(values: Program, slopes: Program, state: Sequence[flint.arb], steps: int, level: flint.arb) -> float:
    """Return an estimate, by long cells, of the number of steps to a level; 0 if the level seems never to be met."""
    path = Path(values, slopes, state, steps, math.inf)
    slow = lower_end(path.current.state[0])
    for _ in range(_MOST_GUESSED):
        node = path.ahead(Node(slow, (), ()))
        if node is None or not path.candidate.moves[-1].is_finite():
            return 0.0
        if path.candidate.moves[-1] <= level:
            return path.steps
        slow = node.slow
        path.go_on()
    return 0.0


def _node(slow: Fraction, point: PathPoint) -> Node:
    """Return the node at a point, its edges rounded outwards."""
    lower, upper = [], []
    for x, room, share in zip(point.state[1:], point.rooms, point.units, strict=True):
        middle, half, unit = lower_end(x), lower_end(room), _short(lower_end(share), 1)
        lower.append((middle - half) // unit * unit)
        upper.append(-((-middle - half) // unit) * unit)
    return Node(slow, tuple(lower), tuple(upper))


def lower_end(ball: flint.arb) -> Fraction:
    """Return the lower end of a ball, exactly."""
    return fraction_of_point(ball.lower())


def _number(value: Fraction) -> flint.arb:
    return flint.arb(flint_rational(value)).mid()


def unit_of(value: Fraction, digits: int) -> Fraction:
    """Return the power of two u for which value/u has `digits` binary digits, or one more; the value is positive."""
    return Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - digits)


def _short(value: Fraction, digits: int) -> Fraction:
    """Return a positive number rounded down to `digits` binary digits, or to one more."""
    unit = unit_of(value, digits)
    return value // unit * unit
