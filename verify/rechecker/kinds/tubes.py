"""Long runs: a tube in which a recursion stays until it reaches a level, cell by cell, and bounds on the steps.

One variable, C, is slow, and moves by D = C' − C in one direction; the other variables α move by f = α' − α. Nodes
c_0, …, c_n are ordered in that direction. At each node every other variable has a lower and an upper edge; between
nodes, edges are linear. The tube is all (C, α) with C in [c_0, c_n] and each α between its edges.

A run that is in the tube at a step, with C before c_(n−1), is in the tube at the next step. Let C be in a cell. D is
positive (in the direction) and at most the next cell's length, so that C' is in this cell or in the next. The lower
edge l satisfies l(C') = l(C) + s D for some s between its slopes in the two cells. So y = α + f − s D − l(C) must not
be negative. It is linear in s, so that the two slopes are enough. It rises in α if 1 + ∂f/∂α − s ∂D/∂α ≥ 0, so that
the edge α = l(C) is enough, where y = f − s D. The other variables range over the tube. For upper edges, the signs
are reversed.

In cell i, of length b_i, let D be in [lo_i, hi_i], and let o_i ≤ hi_(i−1) be the distance behind the cell's beginning
at which the run enters it. The N_i steps in the cell move C by b_i + o_(i+1) − o_i, which is between N_i lo_i and N_i
hi_i. So Σ N_i is at most Σ b_i/lo_i + Σ o_i (1/lo_(i−1) − 1/lo_i) plus o/lo for the cell that is left last. It is at
least Σ b_i/hi_i − Σ o_i (1/hi_i − 1/hi_(i−1)) minus o_0/hi_0 for the first cell. The steps in the first cells, where
the observable is above the level, come before its first passage. The last cell, where the observable is not above the
level, is reached after the steps in all cells before it. Outputs are enclosed by mean-value forms on the hull of a
cell's part of the tube.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from ..balls import ball, cost
from ..given import Given
from ..nodes import Node
from ..reading import Data, Effort, Rejected, items, rationals, whole, work
from ..registry import Checked
from .boxes import vanishes
from .runs import BITS, MOST_STEPS, Program, Recursion, Run, allowed_steps, first_allowed, level_of

MOST_NODES = 100_000


@dataclass(frozen=True)
class Edge:
    """An edge in a cell: its value at the middle of the cell, and its slope."""

    middle: arb
    slope: arb


@dataclass(frozen=True)
class Part:
    """The enclosures on a cell: D, the observable and, for each other α, f and D on both edges, ∂f/∂α and ∂D/∂α."""

    edges: list[tuple[Edge, Edge]]
    move: arb
    observed: arb
    faces: list[list[tuple[arb, arb]]]
    across: list[tuple[arb, arb]]

    def keeps(self, edges: Sequence[tuple[Edge, Edge]]) -> bool:
        """Whether no step crosses the edges if they continue with the slopes of `edges`."""
        for pair, faces, (own, slow) in zip(edges, self.faces, self.across, strict=True):
            for edge, (f, d), side in zip(pair, faces, (1, -1), strict=True):
                if not (side * (f - edge.slope * d) >= 0 and 1 + own - edge.slope * slow >= 0):
                    return False
        return True


class Tube:
    """The recursion of a clause with its slow variable, in balls at the working precision."""

    def __init__(self, given: Given, recursion: Recursion, slow: int, form: Node, where: str, bits: int) -> None:
        terms, self.where = given.terms, where
        if not vanishes(given, terms.minus(form, recursion.observable)):
            raise Rejected(f"{where}.observable: is not shown to be the recursion's")
        self.order = [slow, *(i for i in range(len(recursion.state)) if i != slow)]
        self.others = len(self.order) - 1
        inputs, names = [recursion.state[i] for i in self.order], [recursion.names[i] for i in self.order]
        moves = [terms.minus(recursion.step[i], recursion.state[i]) for i in self.order]
        outputs = [*moves[1:], moves[0], form]
        slopes = [terms.slope(output, name) for output in outputs for name in names]
        self.values = Program(given, outputs, inputs, bits)
        self.slopes = Program(given, [*slopes, *outputs, recursion.observable], inputs, bits)
        points = 1 + 2 * self.others
        self.cost = points * self.values.cost + self.slopes.cost + 40 * (1 + self.others) ** 2 * cost(bits)

    def enclosed(self, start: Sequence[arb], end: Sequence[arb], where: str) -> Part:
        """Return the enclosures on a cell between two nodes; a node has the slow variable and pairs of edges.

        Raises Rejected if an enclosure is unbounded.
        """
        n = self.others
        length, middle = end[0] - start[0], (start[0] + end[0]) / 2
        along = start[0].union(end[0]) - middle
        edges: list[tuple[Edge, Edge]] = []
        hull, centre, tilt, room = [start[0].union(end[0])], [middle], list[arb](), list[arb]()
        for k in range(1, 2 * n + 1, 2):
            low, high = (Edge((start[i] + end[i]) / 2, (end[i] - start[i]) / length) for i in (k, k + 1))
            edges.append((low, high))
            hull.append(start[k].union(start[k + 1]).union(end[k]).union(end[k + 1]))
            centre.append((low.middle + high.middle) / 2)
            tilt.append((low.slope + high.slope) / 2)
            # Half the distance between the edges at both nodes; between the nodes it is at most the larger one.
            halves = [((node[k + 1] - node[k]) / 2).upper() for node in (start, end)]
            room.append(arb(0, max(*halves)))
        # The outputs are computed as well: they must have values wherever they have slopes.
        grid = self.slopes(*hull)
        if not all(x.is_finite() for x in grid):
            raise Rejected(f"{where}: the recursion is not enclosed from this node to the next")
        rows = [grid[i * (n + 1) : (i + 1) * (n + 1)] for i in range(n + 2)]

        def over(values: Sequence[arb], row: int, tilts: Sequence[arb], rooms: Sequence[arb | int]) -> arb:
            slope, beside = rows[row][0], arb(0)
            for partial, t, r in zip(rows[row][1:], tilts, rooms, strict=True):
                slope, beside = slope + partial * t, beside + partial * r
            return values[row] + slope * along + beside

        faces: list[list[tuple[arb, arb]]] = []
        for k, pair in enumerate(edges):
            faces.append([])
            for edge in pair:
                values = self.values(*centre[: k + 1], edge.middle, *centre[k + 2 :])
                tilts = [*tilt[:k], edge.slope, *tilt[k + 1 :]]
                rooms = [*room[:k], 0, *room[k + 1 :]]
                faces[k].append((over(values, k, tilts, rooms), over(values, n, tilts, rooms)))
        values = self.values(*centre)
        across = [(rows[k][k + 1], rows[n][k + 1]) for k in range(n)]
        return Part(edges, over(values, n, tilt, room), over(values, n + 1, tilt, room), faces, across)


class Count:
    """A lower bound on the step that leaves the cells above the level, an upper one on the step into the last cell."""

    def __init__(self, start: int, past: arb) -> None:
        self.least = self.most = arb(start)
        self.past = past
        self.slowest: arb | None = None

    def leave(self, length: arb, shortest: arb, longest: arb, *, above: bool) -> None:
        """Add the steps in a cell; the distance behind its beginning is used only if it makes the bounds weaker."""
        behind = -self.past / longest if self.slowest is None else min(arb(0), (1 - self.past / longest).lower())
        if above:
            self.least = self.least + length / longest + behind
        if self.slowest is not None:
            self.most = self.most + max(arb(0), (self.past / self.slowest - self.past / shortest).upper())
        self.most = self.most + length / shortest
        self.past, self.slowest = longest, shortest

    def bounds(self) -> tuple[arb, arb]:
        """Return both bounds; the upper one includes o/lo for the cell that is left last."""
        return self.least, self.most + (0 if self.slowest is None else self.past / self.slowest)


def _read(data: Data, where: str, others: int, effort: Effort) -> tuple[list[list[Fraction]], int]:
    """Return the nodes, and their direction: 1 if the slow variable increases, else −1."""
    listed = items(data, f"{where}.nodes")
    if not 2 <= len(listed) <= MOST_NODES:
        raise Rejected(f"{where}.nodes: is not a list of 2 to {MOST_NODES} nodes")
    nodes = [rationals(entry, f"{where}.nodes[{i}]", 2 * others + 1) for i, entry in enumerate(listed)]
    direction = 1 if nodes[1][0] > nodes[0][0] else -1
    for i, node in enumerate(nodes):
        effort.spend(sum(work(number, number) for number in node))
        if i and not direction * (node[0] - nodes[i - 1][0]) > 0:
            raise Rejected(f"{where}.nodes[{i}]: the nodes do not lie in one direction")
        if any(node[k] > node[k + 1] for k in range(1, 2 * others + 1, 2)):
            raise Rejected(f"{where}.nodes[{i}]: an upper edge is below the lower one")
    return nodes, direction


def tube(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`reaches`: the run first reaches the level at a step in `steps`; from `start` on it is in a tube.

    The clause is refuted if it allows none of these steps, and verified if it allows all of them.
    """
    bits, start = whole(proof["bits"], f"{where}.bits", *BITS), whole(proof["start"], f"{where}.start", 0, MOST_STEPS)
    first, last = rationals(proof["steps"], f"{where}.steps", 2)
    if first.denominator > 1 or last.denominator > 1 or not 0 <= first <= last:
        raise Rejected(f"{where}.steps: is not a first and a last whole number")
    holds = _allows(given, clause, first, last, where)
    with ctx.workprec(bits):
        recursion = Recursion(given, clause["dynamics"], where)
        slow = whole(proof["slow"], f"{where}.slow", 0, len(recursion.state) - 1)
        form = given.read(proof["observable"], f"{where}.observable", recursion.names)
        made = Tube(given, recursion, slow, form, where, bits)
        nodes, direction = _read(proof["nodes"], where, made.others, given.effort)
        above = whole(proof["above"], f"{where}.above", 0, len(nodes) - 2)
        given.effort.spend(len(nodes) * made.cost)
        run = Run(recursion, proof["checkpoints"], start, bits, where)
        level = level_of(given, clause, "level", bits)
        run.follow(start, level)
        run.observed()
        state = [run.state[i] for i in made.order]
        ends = [[ball(x) for x in node] for node in nodes]
        count, before = Count(start, direction * (state[0] - ends[0][0])), None
        for i in range(len(nodes) - 1):
            place = f"{where}.nodes[{i}]"
            part = made.enclosed(ends[i], ends[i + 1], place)
            length = direction * (ends[i + 1][0] - ends[i][0])
            if before is None:
                _enter(part, state, ends, direction, where)
            elif not before.keeps(part.edges):
                raise Rejected(f"{place}: the tube is not kept where a step crosses this node")
            elif not count.past <= length:
                raise Rejected(f"{place}: a step may be longer than the cell from this node on")
            if i < above and not part.observed > level:
                raise Rejected(f"{where}.above: the observable is not above the level from node {i} on")
            if i == len(nodes) - 2:
                if not part.observed <= level:
                    raise Rejected(f"{where}: the observable is not at or below the level in the last cell")
                break
            shortest, longest = _passed(part, direction, place)
            count.leave(length, shortest, longest, above=i < above)
            before = part
        least, most = count.bounds()
        if not (least >= ball(first) and most <= ball(last)):
            raise Rejected(f"{where}.steps: the first passage is not shown to be within these steps")
        return Checked(holds, hypotheses_used=False)


def _allows(given: Given, clause: dict[str, Data], first: Fraction, last: Fraction, where: str) -> bool:
    """Return True if the clause allows all steps from the first to the last, False if none; else raise Rejected."""
    allowed, earliest = allowed_steps(given, clause, where), first_allowed(given, clause, where)
    if last < earliest or (allowed is not None and first > allowed):
        return False
    if allowed is not None and last > allowed:
        raise Rejected(f"{where}.steps: the last one is later than the clause allows")
    if first < earliest:
        raise Rejected(f"{where}.steps: the first one is earlier than the clause allows")
    return True


def _passed(part: Part, direction: int, place: str) -> tuple[arb, arb]:
    """Check that a run in a cell stays between the edges and moves on. Return bounds on its move per step."""
    shortest, longest = (direction * part.move).lower(), (direction * part.move).upper()
    if not shortest > 0:
        raise Rejected(f"{place}: the slow variable is not shown to move on")
    if not part.keeps(part.edges):
        raise Rejected(f"{place}: the tube is not kept from this node on")
    return shortest, longest


def _enter(part: Part, state: Sequence[arb], ends: Sequence[Sequence[arb]], direction: int, where: str) -> None:
    """Check that the run is in the first cell, between the edges."""
    past = state[0] - ends[0][0]
    if not (direction * past >= 0 and direction * (ends[1][0] - state[0]) > 0):
        raise Rejected(f"{where}.start: the run is not between the first two nodes")
    for k, (x, (low, high)) in enumerate(zip(state[1:], part.edges, strict=True)):
        lower, upper = ends[0][2 * k + 1] + low.slope * past, ends[0][2 * k + 2] + high.slope * past
        if not lower <= x <= upper:
            raise Rejected(f"{where}.start: the run is not between the edges")
