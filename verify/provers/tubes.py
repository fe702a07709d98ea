"""Long runs enclosed: a tube that a recursion does not leave, and how many steps it spends in each cell of it.

One variable, the slow one, C, moves in one direction, D = C' − C; the others, α, lie between edges l(C) and
h(C) that are linear on the cells c_0, c_1, … of a grid. A step keeps α above l where, on the edge and for the
slopes s of l in the cell and in the next one,

    α' − α − s D ≥ 0    and    ∂(α' − s D)/∂α ≥ 0 all over the cell,

since l(C') is l(C) + s D for an s between the two, as D is no longer than the next cell. The same holds with
the signs turned for h. With D in [lo, hi], lo > 0, the N steps made in a cell of length b move C by b, less
what it was entered behind its start, and more by what the next one is: between N lo and N hi. All is enclosed by
mean-value forms.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import LAST_BITS, Ball, balls
from verify.evaluation.iteration import INTERRUPTED, Passage, Progress, Values, first_passage
from verify.language.recursion import Dynamics
from verify.provers.tube_cells import Builder, Cell, Tube
from verify.provers.tube_paths import Node, Path, end, estimate

MOST_CELLS = 60_000
WIDEST = Fraction(1, 100)
"""A tube whose count of steps is enclosed to this, relative to it, is not made again from a later start."""
NEAR = 1_500_000
"""A level that is met within so many steps is left to be met step by step."""
_STARTS = (2**14, 2**17)
_CELLS_BETWEEN_LOOKS = 64
_MOST_UNDECIDED, _TRIES = 500, 3
_LOOSE = "the observable is not enclosed well enough"


@dataclass(frozen=True)
class Horizon:
    """A tube that a run enters at step `start.step`, and leaves above the level; `steps` encloses its first passage.

    The observable is above the level on the first `above` cells, and at or below it, but at least
    `lowest`, on the last one, as it is on those in between.
    """

    start: Passage
    nodes: tuple[Node, ...]
    above: int
    steps: tuple[int, int]
    lowest: Fraction
    slow: int
    observable: sp.Expr
    bits: int

    @property
    def width(self) -> Fraction:
        """How wide the enclosure of the steps is, relative to them."""
        low, high = self.steps
        return Fraction(high - low, max(high, 1))


def enclose_passage(
    dynamics: Dynamics,
    tube: Tube,
    level: Fraction,
    values: Values,
    *,
    deadline: float,
    progress: Progress | None = None,
) -> Passage | Horizon | None:
    """Return the first passage of a level, or a tube that encloses it where it is far off; None for neither.

    A tube begins where the run was followed to, as late as is needed for what is slow to lead the rest. Ctrl-C ends the
    work, and what is returned is how far the run was followed.
    """
    best: Horizon | None = None
    for last in _STARTS:
        start = first_passage(dynamics, level, values, deadline=deadline, last_step=last, progress=progress)
        if start.why == INTERRUPTED:
            return start
        if start.why != "last step":
            return start if start.reached else best
        try:
            found = certify_tube(dynamics, tube, level, values, start, deadline=deadline, progress=progress)
        except KeyboardInterrupt:
            return replace(start, why=INTERRUPTED)
        if found is None:
            return best
        if isinstance(found, Horizon) and (best is None or found.width < best.width):
            best = found
        if best and best.width <= WIDEST:
            break
    return best


def certify_tube(
    dynamics: Dynamics,
    tube: Tube,
    level: Fraction,
    values: Values,
    start: Passage,
    *,
    deadline: float,
    progress: Progress | None = None,
    near: int = NEAR,
) -> Horizon | str | None:
    """Return a tube around a run from where it was followed to, or why none is found; None for a level that is near."""
    # What is small at the level is a difference of what is not.
    bits = max(start.bits, 128) + 4 * max(0, level.denominator.bit_length() - abs(level.numerator).bit_length())
    found: Horizon | str | None = "the level is too small"
    while bits <= LAST_BITS:
        with balls(bits) as arithmetic:
            try:
                builder = Builder(dynamics, tube, values, level, arithmetic)
                found = _build(builder, start, deadline, progress, near)
            except (TheoremError, UndefinedError, UndecidedError, ArithmeticError, ValueError) as error:
                # Not smooth, or a number that is not finite.
                return str(error)
        if not isinstance(found, str) or time.monotonic() > deadline:
            break
        bits *= 4
    return found


def _build(
    builder: Builder, start: Passage, deadline: float, progress: Progress | None, near: int
) -> Horizon | str | None:
    entry, arithmetic = [start.state[i] for i in builder.order], builder.arithmetic
    expected = estimate(builder.at, builder.slopes, entry, start.step, builder.level)
    if 0 < expected <= near:
        return None
    path = Path(builder.at, builder.slopes, entry, start.step, expected)
    builder.sign = path.sign
    if not path.here.pace > 0:
        return "the slow variable does not move"
    nodes, cells, places = [path.first(entry[0])], list[Cell](), [path.here]
    above, undecided, tries, why = 0, 0, 0, ""
    while len(nodes) < MOST_CELLS and time.monotonic() < deadline:
        if progress and len(nodes) % _CELLS_BETWEEN_LOOKS == 0:
            progress(int(path.steps))
        node = path.ahead(nodes[-1])
        if node is None:
            return why or "no tube is found"
        cell = builder.enclose(nodes[-1], node)
        landed = cell is not None and bool(cell.observed <= builder.level)
        why = _fault(cell, nodes, node, cells, landed)
        if not why and cell is not None and not landed and not cell.observed > builder.level:
            if path.meets(builder.level) and not path.sharp:
                path.sharpen()
                continue
            why = "" if path.sharp else _LOOSE
            undecided += not why
        if why or cell is None:
            tries += 1
            path.shorten()
            if tries > _TRIES and cells and not undecided:
                # The last cell leaves no room to turn from it: it was too long.
                length = abs(nodes.pop().slow - nodes[-1].slow)
                above -= 1
                cells.pop()
                places.pop()
                path.back(places[-1], length)
                tries = 0
            continue
        tries = 0
        if undecided > _MOST_UNDECIDED:
            return _LOOSE
        if not cells and not _inside(entry, nodes[0], node, cell, arithmetic, builder.sign):
            return "the run is not in the tube where it begins"
        cells.append(cell)
        nodes.append(node)
        if not landed:
            above += not undecided
            path.go_on()
            places.append(path.here)
            continue
        steps = _steps(entry[0], nodes, cells, above, start.step, arithmetic)
        least = min(end(c.observed.lower()) for c in cells[above:])
        return Horizon(start, tuple(nodes), above, steps, least, builder.order[0], builder.form, arithmetic.bits)
    return "the time ran out" if time.monotonic() >= deadline else f"more than {MOST_CELLS} cells"


def _fault(cell: Cell | None, nodes: list[Node], node: Node, cells: list[Cell], landed: bool) -> str:
    """Say why a cell cannot be the next one; nothing where it can."""
    if cell is None:
        return "the recursion is not enclosed"
    width = abs(node.slow - nodes[-1].slow)
    if cells and not (cells[-1].keeps(cell.slopes) and end(cells[-1].hi) <= width):
        return "a tube is not kept from cell to cell"
    if landed:
        return ""
    if not cell.lo > 0:
        return "the slow variable is not shown to move"
    # Of the next cell's slopes nothing is known yet: they may change as they did before.
    before = cells[-1].slopes if cells else cell.slopes
    after = [tuple(2 * b - a for a, b in zip(*pair, strict=True)) for pair in zip(before, cell.slopes, strict=True)]
    return "" if cell.keeps(cell.slopes) and cell.keeps(after) else "a tube is not kept in a cell"


def _inside(entry: Sequence[Any], first: Node, second: Node, cell: Cell, arithmetic: Ball, sign: int) -> bool:
    """Whether the state with which the run goes on is in the first cell, between the edges."""
    number = arithmetic.number
    past = entry[0] - number(first.slow)
    if not (sign * past >= 0 and sign * (number(second.slow) - entry[0]) > 0):
        return False
    sides = zip(entry[1:], first.lower, first.upper, cell.slopes, strict=True)
    return all(number(a) + low * past <= x <= number(b) + high * past for x, a, b, (low, high) in sides)


def _steps(
    slow: Any, nodes: list[Node], cells: list[Cell], above: int, start: int, arithmetic: Ball
) -> tuple[int, int]:
    """Return bounds on the first passage: all cells but the last are left, the first of them above the level."""
    past = abs(slow - arithmetic.number(nodes[0].slow))
    low, high = flint.arb(start), flint.arb(start)
    left = cells[:-1]
    for i, cell in enumerate(left):
        width = arithmetic.number(abs(nodes[i + 1].slow - nodes[i].slow))
        if i < above:
            low += width / cell.hi - (past / cell.hi if i == 0 else max(flint.arb(0), (past / cell.hi - 1).upper()))
        high += width / cell.lo
        if i:
            high += max(flint.arb(0), (past / left[i - 1].lo - past / cell.lo).upper())
        past = cell.hi
    if left:
        high += past / left[-1].lo
    slack = 1 + flint.arb(2) ** -40
    return math.ceil(end((low / slack).lower())), math.floor(end((high * slack).upper()))
