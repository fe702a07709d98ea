"""The kinds of proof about values at an instance: a margin, exact or in a ball, and a point at which sides differ."""

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, ctx

from ..balls import ball, high, low
from ..fields import Balls, Exact, NotExact, evaluate
from ..given import Given, decides, sides
from ..nodes import Name, Node, encloses, order
from ..reading import Data, Rejected, entries, rational, rationals, whole
from ..registry import Checked
from .deductions import supposed
from .runs import BITS

_BALL_BITS = 256
"""Bits of balls for values that are not computed exactly."""


def exact(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`inequality`: the stated margin, larger minus smaller side, is the exact margin, or is in a ball around it.

    The ball is used if the sides are not computed exactly. The exact margin or the ball decides.
    """
    relation = given.relation(clause["relation"], "clause.relation")
    stated = rational(proof["margin"], f"{where}.margin")
    small, large = sides(relation)
    nodes = [given.at_instance(small), given.at_instance(large)]
    ends = _difference(given, nodes, stated, f"{where}.margin: is not larger minus smaller side at the instance")
    return Checked(decides(relation, *ends, f"{where}.margin"), hypotheses_used=False)


def _difference(given: Given, nodes: Sequence[Node], stated: Fraction, why: str) -> tuple[Fraction, Fraction]:
    """Return the second minus the first value, as an interval: one point if both are exact, else the ends of a ball.

    Raises Rejected, with `why`, if `stated` is not in the interval.
    """
    try:
        small, large = evaluate(given.terms, nodes, Exact(given.effort))
    except NotExact:
        # An expression may be rational although its parts are not: e^x e^{-x}.
        with ctx.workprec(_BALL_BITS):
            lower, upper = evaluate(given.terms, nodes, Balls(given.effort, _BALL_BITS))
            ends = low(upper - lower), high(upper - lower)
        if not ends[0] <= stated <= ends[1]:
            raise Rejected(why) from None
        return ends
    if large - small != stated:
        raise Rejected(why)
    return stated, stated


def in_ball(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`inequality`: the margin, recomputed in balls, is inside the stated interval, which decides.

    If a primitive is known only by an enclosure, the stated interval and the enclosure computed here need not contain
    each other: they must overlap, and decide the relation alike.
    """
    relation = given.relation(clause["relation"], "clause.relation")
    bits, interval = whole(proof["bits"], f"{where}.bits", *BITS), _interval(proof["margin"], f"{where}.margin")
    with ctx.workprec(bits):
        margin = given.margin(relation, bits)
        if not any(map(encloses, order(given.effort, [relation]))):
            _enclosed(margin, interval, f"{where}.margin")
            return Checked(decides(relation, *interval, f"{where}.margin"), hypotheses_used=False)
        least, most = low(margin), high(margin)
    if least > interval[1] or most < interval[0]:
        raise Rejected(f"{where}.margin: does not meet the enclosure that is computed here")
    holds = decides(relation, *interval, f"{where}.margin")
    if decides(relation, least, most, f"{where}: the enclosure that is computed here") != holds:
        raise Rejected(f"{where}.margin: the enclosure that is computed here decides otherwise")
    return Checked(holds, hypotheses_used=False)


def constant(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`inequality` of numbers alone, verified: the margin, found as for `ball`, is the same for all parameters."""
    if given.relation(clause["relation"], "clause.relation").free:
        raise Rejected(f"{where}.kind: the relation has parameters or variables")
    return in_ball(given, clause, proof, where)


def enclose(given: Given, node: Node, interval: tuple[Fraction, Fraction], bits: int, where: str) -> None:
    """Check that an expression's value is in an interval; if the ends are equal, that it is exactly equal to them.

    Raises Rejected if not.
    """
    if interval[0] == interval[1]:
        try:
            value = given.number(node, None)
        except NotExact as error:
            raise Rejected(f"{where}: {error}") from None
        if value != interval[0]:
            raise Rejected(f"{where}: another value is computed here")
        return
    with ctx.workprec(bits):
        enclosure = given.number(node, bits)
        if low(enclosure) < interval[0] or high(enclosure) > interval[1]:
            raise Rejected(f"{where}: the enclosure that is computed here is not inside")


def _interval(data: Data, where: str) -> tuple[Fraction, Fraction]:
    low, high = rationals(data, where, 2)
    if low > high:
        raise Rejected(f"{where}: its ends are in the wrong order")
    return low, high


def _enclosed(value: arb, interval: tuple[Fraction, Fraction], where: str) -> None:
    low, high = map(ball, interval)
    if not (value >= low and value <= high):
        raise Rejected(f"{where}: does not contain the ball that is computed at these bits")


def point(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`identity`, `inequality` or `implication`, refuted: the sides' values at the instance and a point contradict it.

    `difference` states the left minus the right side of an identity, else the larger minus the smaller side of the
    inequality or of the implication's conclusion: as a number or, with `bits`, as an interval. `point` has values of
    variables, which satisfy the variables' assumptions and an implication's conditions.
    """
    bits = None if proof["bits"] is None else whole(proof["bits"], f"{where}.bits", *BITS)
    stated = entries(proof["point"], f"{where}.point", "", given.variables)
    values = {name: rational(value, f"{where}.point.{name}") for name, value in stated.items()}
    for name, value in values.items():
        given.keeps_assumptions(name, value, f"{where}.point.{name}")
    numbers: dict[Name, Node] = {name: given.terms.number(value) for name, value in values.items()}
    conditions, relation = ([], None) if clause["kind"] == "identity" else supposed(given, clause)
    if relation is None:
        small, large = (given.expression(clause[side], f"clause.{side}") for side in ("right", "left"))
    else:
        small, large = sides(relation)
    nodes = [given.at_instance(side, numbers) for side in (small, large)]
    if bits is None:
        difference = rational(proof["difference"], f"{where}.difference")
        ends = _difference(
            given, nodes, difference, f"{where}.difference: is not the difference of the sides at the point"
        )
    else:
        ends = _interval(proof["difference"], f"{where}.difference")
        with ctx.workprec(bits):
            least, most = evaluate(given.terms, nodes, Balls(given.effort, bits))
            _enclosed(most - least, ends, f"{where}.difference")
    if ends[0] <= 0 <= ends[1] if relation is None else decides(relation, *ends, f"{where}.difference"):
        raise Rejected(f"{where}.difference: refutes nothing")
    for i, condition in enumerate(conditions):
        if not _holds_at(given, condition, numbers, bits, f"clause.conditions[{i}]"):
            raise Rejected(f"{where}.point: does not keep clause.conditions[{i}]")
    return Checked(False, hypotheses_used=False)


def _holds_at(given: Given, relation: Node, numbers: dict[Name, Node], bits: int | None, where: str) -> bool:
    """Whether a relation holds at the instance and a point, exactly or in balls. Raises Rejected if it is undecided."""
    nodes = [given.at_instance(side, numbers) for side in sides(relation)]
    try:
        small, large = evaluate(given.terms, nodes, Exact(given.effort))
    except NotExact:
        bits = bits or _BALL_BITS
        with ctx.workprec(bits):
            small, large = evaluate(given.terms, nodes, Balls(given.effort, bits))
            return decides(relation, low(large - small), high(large - small), where)
    return decides(relation, large - small, large - small, where)
