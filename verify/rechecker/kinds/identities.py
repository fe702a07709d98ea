"""The kind of proof that two expressions are the same rational function of symbols and exponentials."""

from collections.abc import Sequence
from fractions import Fraction

from ..fields import evaluate
from ..given import Given, with_units
from ..nodes import SCOPES, Name, Node, order
from ..polynomials import Exponent, Quotients, Sign, admit_positive, refuse
from ..reading import Data, Rejected, TooLarge, entries, items, string, whole
from ..registry import Checked
from .positivity import over_bounds, with_slack


def identity(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`identity`, verified: both sides are the same rational function of the symbols and of exponentials.

    Every divisor is a product of atoms that are nowhere zero and of the listed factors, and each
    factor has one sign on the domain. A divisor that cancelled is such a product or has one sign;
    an argument of a logarithm or a root that cancelled is positive.
    """
    everywhere = string(proof["scope"], f"{where}.scope", ("all", "instance")) == "all"
    nodes = [given.expression(clause[side], f"clause.{side}") for side in ("left", "right")]
    factors: list[Node] = []
    for i, data in enumerate(items(proof["factors"], f"{where}.factors")):
        place = f"{where}.factors[{i}]"
        entry = entries(data, place, "factor shift")
        node = given.expression(entry["factor"], f"{place}.factor")
        node = node if everywhere else given.at_instance(node)
        shift = None if entry["shift"] is None else whole(entry["shift"], f"{place}.shift", 0, len(given.domain) - 1)
        if shift is not None and not everywhere:
            raise Rejected(f"{place}.shift: an instance has no shifts")
        _keeps_sign(given, node, shift, place)
        factors.append(node)
    if not everywhere:
        nodes = [given.at_instance(node) for node in nodes]
    nodes, lost = cancelled(given, nodes)
    divisors = _unsigned_divisors(given, lost, range(len(given.domain) if everywhere else 0), where)

    def vanishes(units: dict[Exponent, Fraction]) -> bool:
        field = Quotients(given.effort, given.sign_of, refuse, units)
        for i, node in enumerate(factors):
            (value,) = evaluate(given.terms, [node], field)
            if len(value.numerator) < 2 and 0 in value.numerator:
                raise Rejected(f"{where}.factors[{i}]: is a constant")
            field.factors.append(field.primitive(value.numerator))
        left, right, *others = evaluate(given.terms, [*nodes, *divisors], field)
        for divisor in others:
            field.inverse(divisor)
        return field.is_zero(field.plus(left, field.times(field.number(Fraction(-1)), right)))

    if not with_units(vanishes):
        raise Rejected(f"{where}: the two sides are not the same rational function")
    return Checked(True, hypotheses_used=False)


def cancelled(given: Given, nodes: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Return nodes without products that have a factor 0, and these products; limits and `SCOPES` are not searched."""
    nodes, lost, terms = list(nodes), list[Node](), given.terms
    while True:
        done: dict[Node, Node] = {}
        before, parts = len(lost), order(given.effort, nodes, lambda n: n.head in ("Limit", *SCOPES))
        for part in parts:
            if part.head == "Mul" and part.args[0] is terms.zero:
                lost.append(part)
                done[part] = terms.zero
            else:
                args = [done.get(a, a) for a in part.args]
                done[part] = terms.build(part.head, args) if args != list(part.args) else part
        nodes = [done[node] for node in nodes]
        if len(lost) == before:
            return nodes, lost


def _unsigned_divisors(given: Given, lost: list[Node], shifts: Sequence[int], where: str) -> list[Node]:
    """Return the cancelled divisors without a proved sign. Raises Rejected for another part that may have no value."""
    left: list[Node] = []
    for node in order(given.effort, lost):
        if node.total or node.head in ("number", "symbol", "Add", "Mul", "exp"):
            continue
        divides = node.head == "Pow" and node.args[1].head == "number" and node.args[1].number.denominator == 1
        if divides and node.args[1].number > 0:
            continue
        shown = node.head in ("Pow", "log") and any(
            _shows_sign(given, node.args[0], shift, where, positive=not divides) for shift in (None, *shifts)
        )
        if not shown and not divides:
            raise Rejected(f"{where}: a {node.head} that cancels is not shown to have a value")
        left += [] if shown else [node.args[0]]
    return left


def _shows_sign(given: Given, node: Node, shift: int | None, where: str, *, positive: bool) -> bool:
    try:
        _keeps_sign(given, node, shift, where, positive=positive)
    except TooLarge:
        raise
    except Rejected:
        return False
    return True


def _keeps_sign(given: Given, node: Node, shift: int | None, where: str, *, positive: bool = False) -> None:
    """Check that a factor has no zero on the domain or, with `positive`, is > 0 there: its coefficients have one sign.

    The factor is written in slacks. First the symbol that a relation of the domain bounds is written by
    `with_slack`. Then every parameter is written as its lower bound plus another slack.
    """
    signs: dict[Name, Sign] = {}
    if shift is not None:
        node = given.terms.substitute(node, with_slack(given, given.domain[shift], shift, signs, where))
    node = given.terms.substitute(node, over_bounds(given, given.values, signs))

    def good(units: dict[Exponent, Fraction]) -> bool:
        field = Quotients(given.effort, lambda name: signs.get(name) or given.sign_of(name), admit_positive, units)
        (value,) = evaluate(given.terms, [node], field)
        sign = field.one_sign(value.numerator) if value.numerator else 0
        return sign == 1 and field.is_signed() if positive else sign != 0

    if not with_units(good):
        raise Rejected(f"{where}: the factor is not shown to keep one sign on the domain")
