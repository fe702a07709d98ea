"""A cell of a tube: its enclosures, and the conditions on them under which no step leaves the tube."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import flint
import sympy as sp

from verify.errors import TheoremError
from verify.evaluation.arithmetic import Ball
from verify.evaluation.iteration import Values, used_symbols
from verify.evaluation.programs import Program, compile_program
from verify.language.clause_data import Dynamics
from verify.language.symbolic_zeros import vanishes
from verify.provers.tube_paths import Node

Pair: TypeAlias = tuple[flint.arb, flint.arb]
_WIDER = 2
"""Radii of enclosed slopes are multiplied by this: a re-check encloses them in another order of operations."""


@dataclass(frozen=True)
class Tube:
    """Proof data: which variable of a recursion is slow, and how to write its observable.

    The engine finds and certifies the tube itself.

    Parameters
    ----------
    slow
        The slow variable of the state.
    observable
        An expression equal to the recursion's observable; the width of the enclosures depends on its form. A small
        observable is best written as a sum of small terms of one sign. None stands for the recursion's own form.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Tube
    >>> Tube(sp.Symbol("C")).slow
    C
    """

    slow: sp.Symbol
    observable: sp.Expr | None = None

    def expanded(self, expand: Callable[[sp.Expr], sp.Expr]) -> "Tube":
        """Return the proof data with a statement's definitions substituted."""
        return self if self.observable is None else Tube(self.slow, expand(self.observable))


@cache
def _programs(dynamics: Dynamics, tube: Tube, names: frozenset[str]) -> tuple[list[sp.Symbol], Program, Program]:
    """Return the symbols with fixed values, and two programs of the slow variable and the others.

    The first gives the moves of the others, the move of the slow variable, and the observable. The second gives the
    derivatives of these outputs, row by row, then the outputs, and the observable as the recursion states it.
    """
    if tube.slow not in dynamics.state:
        raise TheoremError(f"{tube.slow}: is not in the recursion's state")
    form = dynamics.observable if tube.observable is None else tube.observable
    if tube.observable is not None and not vanishes(form - dynamics.observable):
        raise TheoremError(f"{form}: is not shown to be the recursion's observable")
    moves = {z: step - z for z, step in zip(dynamics.state, dynamics.step, strict=True)}
    variables = (tube.slow, *(z for z in dynamics.state if z != tube.slow))
    outputs = (*(moves[z] for z in (*variables[1:], tube.slow)), form)
    slopes = [sp.diff(output, z) for output in outputs for z in variables]
    if any(slope.has(sp.Derivative, sp.Subs) for slope in slopes):
        raise TheoremError("a primitive has no derivative in the language")
    fixed = used_symbols((*outputs, dynamics.observable), names, variables)
    values = compile_program(outputs, variables, fixed)
    return fixed, values, compile_program((*slopes, *outputs, dynamics.observable), variables, fixed)


@dataclass
class Cell:
    """The enclosures on a cell, in balls.

    D is the move of the slow variable; D times the sign of its direction is between `lo` and `hi`. For each other
    variable α, `slopes` has the slopes of its lower and upper edge, `faces` has the move of α and D on either edge, and
    `own` the derivatives in α of the move of α and of D. `observed` encloses the observable.
    """

    slopes: list[Pair]
    lo: flint.arb
    hi: flint.arb
    observed: flint.arb
    faces: list[tuple[Pair, Pair]]
    own: list[Pair]

    def keeps(self, slopes: Sequence[Pair]) -> bool:
        """Whether a step from this cell stays between the edges if the edges go on with the given slopes."""
        return all(
            f_low - low * d_low >= 0
            and f_high - high * d_high <= 0
            and 1 + own - low * across >= 0
            and 1 + own - high * across >= 0
            for ((f_low, d_low), (f_high, d_high)), (own, across), (low, high) in zip(
                self.faces, self.own, slopes, strict=True
            )
        )


class Builder:
    """Encloses cells, at the current precision.

    `values` and `slopes` are functions of the slow variable and the others, in `order`, as `_programs` gives them.
    `sign` is the direction of the slow variable. Raises TheoremError if the slow variable is not in the recursion's
    state, the observable is not shown to be the recursion's, or an output has no derivative in the language.
    """

    def __init__(self, dynamics: Dynamics, tube: Tube, values: Values, level: Fraction, arithmetic: Ball) -> None:
        fixed, *programs = _programs(dynamics, tube, frozenset(values))
        numbers = [arithmetic.number(values[symbol.name]) for symbol in fixed]
        self.values, self.slopes = (program.bind(arithmetic, numbers) for program in programs)
        self.arithmetic, self.level, self.others = arithmetic, arithmetic.number(level), len(dynamics.state) - 1
        self.order = [dynamics.state.index(tube.slow), *(i for i, z in enumerate(dynamics.state) if z != tube.slow)]
        self.form = dynamics.observable if tube.observable is None else tube.observable
        self.sign = 1

    def enclose(self, first: Node, second: Node) -> Cell | None:
        """Return the enclosures of the cell between two nodes; None if an enclosure is unbounded."""
        number, n = self.arithmetic.number, self.others
        c, e = number(first.slow), number(second.slow)
        middle, cell, width = (c + e) / 2, c.union(e), e - c
        along = cell - middle
        lows, highs = (
            [(number(a), number(b)) for a, b in zip(*edges, strict=True)]
            for edges in ((first.lower, second.lower), (first.upper, second.upper))
        )
        slopes = [((b - a) / width, (y - x) / width) for (a, b), (x, y) in zip(lows, highs, strict=True)]
        hull = [a.union(b).union(x).union(y) for (a, b), (x, y) in zip(lows, highs, strict=True)]
        # The outputs are checked too: the mean-value form needs values on the whole cell, not only derivatives.
        grid = self.slopes(cell, *hull)
        if not all(x.is_finite() for x in grid):
            return None
        grid = [flint.arb(x.mid(), _WIDER * x.rad()) for x in grid]
        rows = [grid[i * (n + 1) : (i + 1) * (n + 1)] for i in range(n + 2)]
        centres = [(a + b + x + y) / 4 for (a, b), (x, y) in zip(lows, highs, strict=True)]
        tilts = [(low + high) / 2 for low, high in slopes]
        rooms = [_about_zero((x - a) / 2, (y - b) / 2) for (a, b), (x, y) in zip(lows, highs, strict=True)]

        def mean_value(
            values: Sequence[flint.arb], row: int, face: int | None = None, tilt: flint.arb | int = 0
        ) -> flint.arb:
            """Return an output's mean-value form over the cell or, if `face` is given, over an edge of slope `tilt`."""
            own, *others = rows[row]
            across = flint.arb(0)
            for k in range(n):
                own += others[k] * (tilt if k == face else tilts[k])
                if k != face:
                    across += others[k] * rooms[k]
            return values[row] + own * along + across

        values = self.values(middle, *centres)
        move = self.sign * mean_value(values, n)
        faces = []
        for k in range(n):
            sides = []
            for ends, tilt in ((lows, slopes[k][0]), (highs, slopes[k][1])):
                edge = self.values(middle, *(centres[j] if j != k else (ends[k][0] + ends[k][1]) / 2 for j in range(n)))
                sides.append((mean_value(edge, k, k, tilt), mean_value(edge, n, k, tilt)))
            faces.append(tuple(sides))
        own = [(rows[k][k + 1], rows[n][k + 1]) for k in range(n)]
        return Cell(slopes, move.lower(), move.upper(), mean_value(values, n + 1), faces, own)


def _about_zero(one: flint.arb, other: flint.arb) -> flint.arb:
    size = max(one.upper(), other.upper())
    return (-size).union(size)
