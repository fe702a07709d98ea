"""Proofs about recursions, in balls: first passages, excesses, invariant sets around cycles.

A recursion is compiled into a list of binary operations. Its derivatives are found by forward differentiation of the
graph, each part once, and are compiled in the same way.
"""

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor
from typing import Any, TypeAlias

from flint import arb, arb_mat, ctx

from ..balls import ball, column, cost, inverse, listed, measured
from ..fields import Balls, NotExact, evaluate
from ..forms import INTEGRAL, POSITIVE, REAL, is_integral, is_positive
from ..given import Given
from ..nodes import Node
from ..reading import Data, Rejected, TooLarge, entries, items, rational, rationals, whole
from ..registry import Checked
from ..terms import Terms

BITS, MOST_ENTRY_BITS, MOST_STEPS, MOST_STATES, _FLOOR_BITS = (64, 8192), 2**16, 2 * 10**7, 16, 4096
_MEASURED = 64
"""Number of steps between two checks of the length of the state's exponents; each operation adds a few bits."""


Operation: TypeAlias = Callable[[Any, Any], arb]
"""An operation on two registers: two balls, a ball and an integer exponent, or a function's argument and 0."""
Operand: TypeAlias = Node | int


def _exp(x: arb, _: int) -> arb:
    return x.exp()


def _log(x: arb, _: int) -> arb:
    return x.log()


def _sqrt(x: arb, _: int) -> arb:
    return x.sqrt()


# typeshed has no types for the arguments of these two functions.
_DIVIDE: Operation = operator.truediv  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
_POWER: Operation = operator.pow  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
_WEIGHTS: dict[Operation, int] = {_exp: 30, _log: 30, _sqrt: 5, _DIVIDE: 3, _POWER: 4}


class Program:
    """A straight-line program on balls that computes some nodes at the working precision; constants only once."""

    def __init__(self, given: Given, outputs: Sequence[Node], inputs: Sequence[Node], bits: int) -> None:
        self.given, self.terms, self.inputs = given, given.terms, list(inputs)
        self.moving = 0
        for node in inputs:
            self.moving |= node.free
        steps: list[tuple[Node, Operation, Operand, Operand]] = []
        waiting: list[tuple[Operand, bool]] = [(node, False) for node in outputs]
        parts: dict[Node, tuple[Operation, Operand, Operand]] = {}
        constants: dict[Operand, int] = {}
        done: set[Operand] = set()
        while waiting:
            node, ready = waiting.pop()
            if node in done:
                continue
            if isinstance(node, int) or not node.free & self.moving:
                constants[node] = len(constants)
                done.add(node)
            elif node.head == "symbol":
                done.add(node)
            elif ready:
                done.add(node)
                steps.append((node, *parts[node]))
            else:
                given.effort.spend(5 + len(node.args))
                parts[node] = self._split(node)
                waiting.append((node, True))
                waiting.extend((a, False) for a in parts[node][1:] if a not in done)
        places: dict[Operand, int] = constants | {node: len(constants) + i for i, node in enumerate(self.inputs)}
        places |= {step[0]: len(constants) + len(self.inputs) + i for i, step in enumerate(steps)}
        self.code = [(operation, places[a], places[b]) for _, operation, a, b in steps]
        self.outputs = [places[node] for node in outputs]
        known = [node for node in constants if isinstance(node, Node)]
        values = dict(zip(known, evaluate(self.terms, known, Balls(given.effort, bits)), strict=True))
        self.constants: list[Any] = [values[node] if isinstance(node, Node) else node for node in constants]
        self.cost = sum(cost(bits, _WEIGHTS.get(step[0], 1)) for step in self.code) + 1

    def _split(self, node: Node) -> tuple[Operation, Operand, Operand]:
        """Return a node as an operation on two others."""
        terms, args = self.terms, node.args
        if node.head in ("Add", "Mul"):
            gather, plain, inverse = terms.add, operator.add, operator.sub
            if node.head == "Mul":
                gather, plain, inverse = terms.mul, operator.mul, _DIVIDE
            fixed = [a for a in args if not a.free & self.moving]
            if fixed and len(fixed) < len(args):
                moving = tuple(a for a in args if a.free & self.moving)
                return plain, terms.joined(node.head, moving), terms.joined(node.head, tuple(fixed))
            turned = dict.fromkeys(a for a in args if _turned(node, a))
            if turned:
                rest = tuple(a for a in args if a not in turned)
                left = terms.joined(node.head, rest) if rest else gather(())
                return inverse, left, gather(_turn(terms, a) for a in turned)
            half = len(args) // 2
            return plain, terms.joined(node.head, args[:half]), terms.joined(node.head, args[half:])
        if node.head == "Pow":
            return self._split_power(*args)
        if node.head in ("exp", "log"):
            return (_exp if node.head == "exp" else _log), args[0], 0
        raise Rejected(f"{node.head} has no value along a recursion")

    def _split_power(self, base: Node, exponent: Node) -> tuple[Operation, Operand, Operand]:
        terms = self.terms
        if exponent.head == "number":
            power = exponent.number
            if power < 0:
                return _DIVIDE, terms.one, terms.power(base, terms.number(-power))
            if power.denominator == 1:
                return (operator.mul, base, base) if power == 2 else (_POWER, base, int(power))
            if power.denominator == 2:
                root = terms.power(base, terms.number(Fraction(1, 2)))
                return (_sqrt, base, 0) if power == Fraction(1, 2) else (_POWER, root, power.numerator)
        return _exp, terms.mul((exponent, terms.log(base))), 0

    def __call__(self, *inputs: arb) -> list[arb]:
        """Return the outputs at balls; they are not finite if an operation was undefined."""
        registers = [*self.constants, *inputs]
        push = registers.append
        for operation, i, j in self.code:
            push(operation(registers[i], registers[j]))
        return [registers[i] for i in self.outputs]


def _turned(node: Node, part: Node) -> bool:
    """Whether a part is subtracted in a sum, or is a divisor in a product."""
    if part.head != ("Mul" if node.head == "Add" else "Pow"):
        return False
    number = part.args[0 if node.head == "Add" else 1]
    return number.head == "number" and number.number < 0


def _turn(terms: Terms, node: Node) -> Node:
    if node.head == "Pow":
        return terms.power(node.args[0], terms.number(-node.args[1].number))
    return terms.negative(node)


class Recursion:
    """The recursion of a clause, at the instance or, with `for_all`, for all parameters."""

    def __init__(self, given: Given, data: Data, where: str, *, for_all: bool = False) -> None:
        read = given.expression if for_all else given.read
        data = entries(data, where, "state initial step observable")
        states = [given.terms.expression(d, f"{where}.state") for d in items(data["state"], f"{where}.state")]
        self.names = [node.name for node in states if node.head == "symbol"]
        taken = {*given.parameters, *given.definitions, *given.variables}
        if not 0 < len(set(self.names) - taken) == len(states) <= MOST_STATES:
            raise Rejected(f"{where}.state: is not a list of at most {MOST_STATES} new symbols")
        self.given, self.state = given, states
        self.initial = [read(d, f"{where}.initial") for d in items(data["initial"], f"{where}.initial", len(states))]
        self.step = [read(d, f"{where}.step", self.names) for d in items(data["step"], f"{where}.step", len(states))]
        self.observable = read(data["observable"], f"{where}.observable", self.names)
        terms, parts = given.terms, (*self.initial, *self.step)
        whole, above = (
            {name for name in self.names if assumed in terms.assumptions[name]} for assumed in ("integer", "positive")
        )
        allowed = INTEGRAL if all(is_integral(given.effort, node, given.integers | whole) for node in parts) else REAL
        # At the instance, parameters are numbers; with `for_all`, no parameter counts as positive.
        allowed |= POSITIVE if all(is_positive(given.effort, node, above) for node in parts) else REAL
        for node in states:
            terms.refuse_beyond(node, allowed, f"{where}.state")


class Run:
    """A recursion iterated in balls at the working precision, from its start or from checkpoints that enclose it."""

    def __init__(self, recursion: Recursion, checkpoints: Data, last: int, bits: int, where: str) -> None:
        self.given, self.where = recursion.given, where
        self.program = Program(self.given, [recursion.observable, *recursion.step], recursion.state, bits)
        self.state: list[arb] = evaluate(self.given.terms, recursion.initial, Balls(self.given.effort, bits))
        self.step, before, size = 0, -1, len(self.state)
        self.checkpoints: list[tuple[int, list[list[Fraction]], str]] = []
        for i, entry in enumerate(items(checkpoints, f"{where}.checkpoints")):
            place = f"{where}.checkpoints[{i}]"
            step, balls = items(entry, place, 2)
            before = whole(step, f"{place}[0]", before + 1, last)
            read = [rationals(pair, f"{place}[1]", 2) for pair in items(balls, f"{place}[1]", size)]
            if any(radius < 0 or not (_dyadic(mid) and _dyadic(radius)) for mid, radius in read):
                raise Rejected(f"{place}: a midpoint or a radius that is not dyadic, or negative")
            self.checkpoints.append((before, read, place))
        self.checkpoints.reverse()

    def _restart(self) -> None:
        """Continue from the stated balls, after a check that the state is inside them."""
        _, stated, place = self.checkpoints.pop()
        for i, (mid, radius) in enumerate(stated):
            if not abs(self.state[i] - ball(mid)) <= ball(radius):
                raise Rejected(f"{place}: the state at this step is not inside the stated balls")
            self.state[i] = arb(ball(mid), ball(radius))

    def follow(self, until: int, above: arb | None = None) -> None:
        """Continue up to a step. Raises Rejected unless the observable is above `above` at every earlier step."""
        self.given.effort.spend(max(0, until - self.step) * self.program.cost)
        program, state = self.program, self.state
        while self.step < until:
            if self.checkpoints and self.checkpoints[-1][0] == self.step:
                self._restart()
            pause = min(until, self.checkpoints[-1][0]) if self.checkpoints else until
            state = self.state
            for step in range(self.step, pause):
                if not step % _MEASURED:
                    state = list(map(measured, state))
                observed, *state = program(*state)
                if above is not None and not (observed > above and observed.is_finite()):
                    raise Rejected(f"{self.where}: the observable is not above the level at step {step}")
                for x in state:
                    if not x.is_finite():
                        raise Rejected(f"{self.where}: the state is unbounded after step {step}")
            self.state, self.step = state, pause

    def observed(self) -> arb:
        """Return the observable at the step that was reached. Raises Rejected if it is unbounded."""
        if self.checkpoints and self.checkpoints[-1][0] == self.step:
            self._restart()
        observed = self.program(*self.state)[0]
        if not observed.is_finite():
            raise Rejected(f"{self.where}: the observable is unbounded at step {self.step}")
        return observed


def _dyadic(value: Fraction) -> bool:
    return value.denominator & (value.denominator - 1) == 0


def level_of(given: Given, clause: dict[str, Data], name: str, bits: int) -> arb:
    """Return a level of a clause as a ball."""
    return given.number(given.expression(clause[name], f"clause.{name}"), bits)


def allowed_steps(given: Given, clause: dict[str, Data], where: str) -> int | None:
    """Return the floor of a clause's `within`; None without one. Raises Rejected if it is undecided."""
    if clause["within"] is None:
        return None
    return _whole_part(given, given.expression(clause["within"], "clause.within"), where, "last")


def first_allowed(given: Given, clause: dict[str, Data], where: str) -> int:
    """Return the first step not before a clause's `not_before`; 0 without one. Raises Rejected if it is undecided."""
    if "not_before" not in clause:
        return 0
    node = given.expression(clause["not_before"], "clause.not_before")
    return -_whole_part(given, given.terms.negative(node), where, "first")


def _whole_part(given: Given, node: Node, where: str, which: str) -> int:
    try:
        return floor(given.number(node, None))
    except NotExact:
        pass
    with ctx.workprec(_FLOOR_BITS):
        value = given.number(node, _FLOOR_BITS)
        if not abs(value) < arb(2) ** _FLOOR_BITS:
            raise TooLarge(f"bits in the clause's {which} step", _FLOOR_BITS, where)
        part = value.floor().unique_fmpz()
    if part is None:
        raise Rejected(f"{where}: the whole part of the clause's {which} step is undecided")
    return int(part)


def passage(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`reaches`, verified: the observable is above the level at every step before `steps`, and not at `steps`."""
    bits, steps = whole(proof["bits"], f"{where}.bits", *BITS), whole(proof["steps"], f"{where}.steps", 0, MOST_STEPS)
    last = allowed_steps(given, clause, where)
    if last is not None and steps > last:
        raise Rejected(f"{where}.steps: {steps} is later than the clause allows")
    if steps < first_allowed(given, clause, where):
        raise Rejected(f"{where}.steps: {steps} is earlier than the clause allows")
    with ctx.workprec(bits):
        run = Run(Recursion(given, clause["dynamics"], where), proof["checkpoints"], steps, bits, where)
        level = level_of(given, clause, "level", bits)
        run.follow(steps, level)
        if not run.observed() <= level:
            raise Rejected(f"{where}.steps: the observable is not at or below the level at step {steps}")
    return Checked(True, hypotheses_used=False)


def early(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`reaches` not before some step, refuted: the observable is at or below the level before `not_before`."""
    bits, at = whole(proof["bits"], f"{where}.bits", *BITS), whole(proof["at"], f"{where}.at", 0, MOST_STEPS)
    if at >= first_allowed(given, clause, where):
        raise Rejected(f"{where}.at: {at} is not earlier than the clause allows")
    with ctx.workprec(bits):
        run = Run(Recursion(given, clause["dynamics"], where), proof["checkpoints"], at, bits, where)
        run.follow(at)
        if not run.observed() <= level_of(given, clause, "level", bits):
            raise Rejected(f"{where}.at: the observable is not at or below the level at step {at}")
    return Checked(False, hypotheses_used=False)


def above(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`reaches` within some steps, refuted: the observable is above the level at all steps allowed, if any are."""
    bits, last = whole(proof["bits"], f"{where}.bits", *BITS), whole(proof["last"], f"{where}.last", -1, MOST_STEPS)
    allowed = allowed_steps(given, clause, where)
    if allowed is None or max(allowed, -1) != last:
        raise Rejected(f"{where}.last: {last} is not the last step that the clause allows")
    with ctx.workprec(bits):
        run = Run(Recursion(given, clause["dynamics"], where), proof["checkpoints"], last, bits, where)
        level = level_of(given, clause, "level", bits)
        run.follow(last, level)
        if last >= 0 and not run.observed() > level:
            raise Rejected(f"{where}: the observable is not above the level at step {last}")
    return Checked(False, hypotheses_used=False)


def excess(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`stays`, refuted: the observable first reaches `reached` at a step, and is above `level` then or later."""
    bits = whole(proof["bits"], f"{where}.bits", *BITS)
    first = whole(proof["reached_at"], f"{where}.reached_at", 0, MOST_STEPS)
    later = whole(proof["above_at"], f"{where}.above_at", first, MOST_STEPS)
    with ctx.workprec(bits):
        run = Run(Recursion(given, clause["dynamics"], where), proof["checkpoints"], later, bits, where)
        reached, level = level_of(given, clause, "reached", bits), level_of(given, clause, "level", bits)
        run.follow(first, reached)
        if not run.observed() <= reached:
            raise Rejected(f"{where}.reached_at: the observable is not at or below the level at step {first}")
        run.follow(later)
        if not run.observed() > level:
            raise Rejected(f"{where}.above_at: the observable is not above the level at step {later}")
    return Checked(False, hypotheses_used=False)


def cycle(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`reaches`, refuted, or `stays`, verified because nothing is reached: the run stays in a set above the level.

    The set is {c + B u : |u| ≤ r}. Let c_j be the images of c, and M_j the product of B and of the
    Jacobians over the images of the set. By the mean value theorem, the j-th image of the set is inside
    {c_j + M_j u : |u| ≤ r}. After a period K the set is mapped into itself if |B⁻¹(c_K − c)| + ‖B⁻¹ M_K‖ r ≤ r.
    """
    name = "level" if clause["kind"] == "reaches" else "reached"
    if clause.get("within") is not None:
        raise Rejected(f"{where}: a clause with a last step is not refuted by a cycle")
    bits, entry_bits = (whole(proof[k], f"{where}.{k}", 64, MOST_ENTRY_BITS) for k in ("bits", "entry_bits"))
    period = whole(proof["period"], f"{where}.period", 1, 1000)
    entered = whole(proof["entered_at"], f"{where}.entered_at", 0, MOST_STEPS)
    recursion = Recursion(given, clause["dynamics"], where)
    size, terms = len(recursion.state), given.terms
    centre = rationals(proof["centre"], f"{where}.centre", size)
    axes = [rationals(row, f"{where}.axes", size) for row in items(proof["axes"], f"{where}.axes", size)]
    radius = rational(proof["radius"], f"{where}.radius")
    with ctx.workprec(entry_bits):
        run = Run(recursion, proof["checkpoints"], entered, entry_bits, where)
        level = level_of(given, clause, name, entry_bits)
        run.follow(entered, level)
        if not run.observed() > level:
            raise Rejected(f"{where}: the observable is not above the level at step {entered}")
    slopes = [terms.slope(step, x) for step in recursion.step for x in recursion.names]
    with ctx.workprec(bits):
        level, reach = level_of(given, clause, name, bits), ball(radius)
        if not reach > 0:
            raise Rejected(f"{where}.radius: is not positive")
        program = Program(given, [recursion.observable, *recursion.step, *slopes], recursion.state, bits)
        given.effort.spend(2 * period * (program.cost + 20 * size**3 * cost(bits)))
        middle, directions = column(map(ball, centre)), arb_mat([[ball(x) for x in row] for row in axes])
        back = inverse(directions, where)
        if not _norm(back * (column(run.state) - middle)) <= reach:
            raise Rejected(f"{where}.entered_at: the run is not inside the set at step {entered}")
        box = column([arb(0, reach)] * size)
        point, spread = middle, directions
        for _ in range(period):
            observed, *rest = program(*listed(point + spread * box))
            if not (observed > level and all(x.is_finite() for x in (observed, *rest))):
                raise Rejected(f"{where}: the observable is not above the level on an image of the set")
            spread = arb_mat(size, size, rest[size:]) * spread
            point = column(program(*listed(point))[1 : size + 1])
        room = reach - _norm(back * (point - middle))
        if not (room > 0 and _norm_at_most(back * spread, room / reach)):
            raise Rejected(f"{where}: the set is not mapped into itself")
    return Checked(clause["kind"] == "stays", hypotheses_used=False)


def _norm(column: arb_mat) -> arb:
    return sum((x * x for x in listed(column)), arb(0)).sqrt()


def _norm_at_most(matrix: arb_mat, bound: arb) -> bool:
    """Whether the spectral norm is < a positive bound: bound² I − MᵀM has positive leading minors (Sylvester)."""
    size = matrix.nrows()
    gap = arb_mat([[bound * bound if i == j else arb(0) for j in range(size)] for i in range(size)])
    gap -= matrix.transpose() * matrix
    return all(arb_mat([[gap[i, j] for j in range(k)] for i in range(k)]).det() > 0 for k in range(1, size + 1))
