"""Enclosures of long runs: a tube that a run does not leave, and bounds on its number of steps in each cell.

The slow variable C moves in one direction, by D = C' − C in a step. The other variables α lie between edges l(C) and
h(C) that are linear on the cells c_0, c_1, … of a grid. A step keeps α above l if, for the slopes s of l in the cell
and in the next cell,

    α' − α − s D ≥ 0 on the edge    and    ∂(α' − s D)/∂α ≥ 0 all over the cell.

The reason is that |D| is at most the length of the next cell: then l(C') = l(C) + s D for an s between these two
slopes. For h the first inequality is reversed. Let |D| be in [lo, hi], lo > 0. Let a run enter a cell of length b at
distance u from the cell's start, and the next cell at distance v from the next cell's start. Then N steps begin in the
cell, with N lo ≤ b − u + v ≤ N hi. The moves of C and α are enclosed by mean-value forms.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import flint
import sympy as sp

from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import LAST_BITS, Ball, balls
from verify.evaluation.iteration import INTERRUPTED, Passage, Progress, Values, first_passage
from verify.language.clause_data import Dynamics
from verify.provers.tube_cells import Builder, Cell, Tube
from verify.provers.tube_paths import Node, Path, PathPoint, estimate, lower_end

MOST_CELLS = 60_000
"""Largest number of cells of a tube: a certificate states each node."""
WIDEST = Fraction(1, 100)
"""If a tube's enclosure of the steps has at most this relative width, no tube is made from a later start."""
NEAR = 1_500_000
"""If a level is expected within so many steps, no tube is made, and the run is followed step by step."""
_STARTS = (2**14, 2**17)
"""Numbers of steps after which a tube begins: the second is used if the first gives no tube that is narrow enough."""
_CELLS_BETWEEN_LOOKS = 64
"""Number of cells between two reports of progress."""
_MOST_UNDECIDED = 500
"""Largest number of cells on which it is undecided whether the level is met; with more, the enclosure is too wide."""
_TRIES = 3
"""If a cell fails at more lengths than this, each half the previous length, the cell before it is removed."""
_LOOSE = "the observable is not enclosed well enough"


@dataclass(frozen=True)
class Horizon:
    """A tube that a run enters at step `start.step`; `steps` encloses the first passage of the level.

    On the first `above` cells the observable is above the level; on the last cell it is at or below the level. On the
    last cell and on the cells in between, the observable is at least `lowest`.
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
        """The relative width of the enclosure of the steps."""
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
    """Return the first passage of a level or, if it takes too many steps, a tube that encloses it; or None.

    A tube begins at the step up to which the run was followed; by then the other variables must be close to functions
    of the slow one. After Ctrl-C the followed part of the run is returned. The deadline is a time of
    `time.monotonic()`.
    """
    best: Horizon | None = None
    for last in _STARTS:
        start = first_passage(dynamics, level, values, deadline=deadline, last_step=last, progress=progress)
        if start.why == INTERRUPTED:
            return start
        if start.why != "last step":
            return start if start.reached else best
        try:
            tried = certify_tube(dynamics, tube, level, values, start, deadline=deadline, progress=progress)
        except KeyboardInterrupt:
            return replace(start, why=INTERRUPTED)
        if tried is None:
            return best
        if isinstance(tried, Horizon) and (best is None or tried.width < best.width):
            best = tried
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
    """Return a tube that continues a run, or the reason why none is found; None if the level is near.

    `near` is in steps of the recursion; the deadline is a time of `time.monotonic()`.
    """
    # An observable that is small at the level is a difference of larger numbers, which takes more bits.
    bits = max(start.bits, 128) + 4 * max(0, level.denominator.bit_length() - abs(level.numerator).bit_length())
    result: Horizon | str | None = "the level is too small"
    while bits <= LAST_BITS:
        with balls(bits) as arithmetic:
            try:
                builder = Builder(dynamics, tube, values, level, arithmetic)
                result = _build(builder, start, deadline, progress, near)
            except (TheoremError, UndefinedError, UndecidedError, ArithmeticError, ValueError) as error:
                # The recursion is not smooth, or a number is not finite.
                return str(error)
        if not isinstance(result, str) or time.monotonic() > deadline:
            break
        bits *= 4
    return result


@dataclass
class _Construction:
    """A tube under construction: nodes, the point of the path at each node, and the cells between the nodes.

    The observable is above the level on the first `above` cells. `undecided` counts the cells on which it is undecided
    whether the level is met, and `tries` the lengths at which the next cell failed.
    """

    path: Path
    nodes: list[Node]
    points: list[PathPoint]
    cells: list[Cell] = field(default_factory=list)
    above: int = 0
    undecided: int = 0
    tries: int = 0

    def fault(self, cell: Cell | None, node: Node, *, landed: bool) -> str:
        """Return the reason why a cell cannot be the next cell of the tube; "" if it can.

        If `landed`, the observable is at most the level on the cell, which is then the last one.
        """
        if cell is None:
            return "the recursion is not enclosed"
        last = self.cells[-1] if self.cells else None
        width = abs(node.slow - self.nodes[-1].slow)
        if last and not (last.keeps(cell.slopes) and lower_end(last.hi) <= width):
            return "a step may leave the tube between two cells"
        if landed:
            return ""
        if not cell.lo > 0:
            return "the slow variable is not shown to move"
        # The slopes of the next cell are not known yet: they are expected to change as the last ones did.
        before = last.slopes if last else cell.slopes
        after = [tuple(2 * b - a for a, b in zip(*pair, strict=True)) for pair in zip(before, cell.slopes, strict=True)]
        return "" if cell.keeps(cell.slopes) and cell.keeps(after) else "a step may leave the tube within a cell"

    def extend(self, cell: Cell, node: Node) -> None:
        """Add a cell to the tube, and the node at the cell's end."""
        self.cells.append(cell)
        self.nodes.append(node)
        self.tries = 0

    def go_on(self) -> None:
        """Go on from the end of the last cell, on which the observable is not certified to be at or below the level."""
        self.above += not self.undecided
        self.path.go_on()
        self.points.append(self.path.current)

    def shorten(self) -> None:
        """Try a shorter cell; after some tries remove the last cell, from which no next cell was possible."""
        self.tries += 1
        self.path.shorten()
        if self.tries > _TRIES and self.cells and not self.undecided:
            length = abs(self.nodes.pop().slow - self.nodes[-1].slow)
            self.above -= 1
            self.cells.pop()
            self.points.pop()
            self.path.back(self.points[-1], length)
            self.tries = 0

    def steps(self, slow: flint.arb, start: int, arithmetic: Ball) -> tuple[int, int]:
        """Return bounds on the step of the first passage; at step `start` the slow variable is `slow`.

        The lower bound is on the step that leaves the first `above` cells, the upper bound on the step that enters the
        last cell.
        """
        past = abs(slow - arithmetic.number(self.nodes[0].slow))
        low, high = flint.arb(start), flint.arb(start)
        left = self.cells[:-1]
        for i, cell in enumerate(left):
            width = arithmetic.number(abs(self.nodes[i + 1].slow - self.nodes[i].slow))
            if i < self.above:
                low += width / cell.hi - (past / cell.hi if i == 0 else max(flint.arb(0), (past / cell.hi - 1).upper()))
            high += width / cell.lo
            if i:
                high += max(flint.arb(0), (past / left[i - 1].lo - past / cell.lo).upper())
            past = cell.hi
        if left:
            high += past / left[-1].lo
        slack = 1 + flint.arb(2) ** -40
        return math.ceil(lower_end((low / slack).lower())), math.floor(lower_end((high * slack).upper()))


def _build(
    builder: Builder, start: Passage, deadline: float, progress: Progress | None, near: int
) -> Horizon | str | None:
    """Return the result of `certify_tube` at the present precision."""
    entry = [start.state[i] for i in builder.order]
    expected = estimate(builder.values, builder.slopes, entry, start.step, builder.level)
    if 0 < expected <= near:
        return None
    path = Path(builder.values, builder.slopes, entry, start.step, expected)
    builder.sign = path.sign
    if not path.current.pace > 0:
        return "the slow variable does not move"
    return _construct(builder, start, entry, path, deadline, progress)


def _construct(
    builder: Builder,
    start: Passage,
    entry: Sequence[flint.arb],
    path: Path,
    deadline: float,
    progress: Progress | None,
) -> Horizon | str:
    """Return a tube along a path, built cell by cell down to the level, or the reason why none is found."""
    tube, why, level = _Construction(path, [path.first(entry[0])], [path.current]), "", builder.level
    nodes, cells = tube.nodes, tube.cells
    while len(nodes) < MOST_CELLS and time.monotonic() < deadline:
        if progress and len(nodes) % _CELLS_BETWEEN_LOOKS == 0:
            progress(int(path.steps))
        node = path.ahead(nodes[-1])
        if node is None:
            return why or "no tube is found"
        cell = builder.enclose(nodes[-1], node)
        landed = cell is not None and bool(cell.observed <= level)
        why = tube.fault(cell, node, landed=landed)
        if not why and cell is not None and not landed and not cell.observed > level:
            if path.meets(level) and not path.sharp:
                path.sharpen()
                continue
            why = "" if path.sharp else _LOOSE
            tube.undecided += not why
        if why or cell is None:
            tube.shorten()
            continue
        if tube.undecided > _MOST_UNDECIDED:
            return _LOOSE
        if not cells and not _inside(entry, nodes[0], node, cell, builder.arithmetic, builder.sign):
            return "the run is not in the tube at its start"
        tube.extend(cell, node)
        if landed:
            steps = tube.steps(entry[0], start.step, builder.arithmetic)
            least = min(lower_end(c.observed.lower()) for c in cells[tube.above :])
            slow, bits = builder.order[0], builder.arithmetic.bits
            return Horizon(start, tuple(nodes), tube.above, steps, least, slow, builder.form, bits)
        tube.go_on()
    return "the time ran out" if time.monotonic() >= deadline else f"more than {MOST_CELLS} cells"


def _inside(entry: Sequence[flint.arb], first: Node, second: Node, cell: Cell, arithmetic: Ball, sign: int) -> bool:
    """Whether the state `entry`, from which the run goes on, is in the first cell, between the edges."""
    number = arithmetic.number
    past = entry[0] - number(first.slow)
    if not (sign * past >= 0 and sign * (number(second.slow) - entry[0]) > 0):
        return False
    sides = zip(entry[1:], first.lower, first.upper, cell.slopes, strict=True)
    return all(number(a) + low * past <= x <= number(b) + high * past for x, a, b, (low, high) in sides)
