"""The kinds of proof about relations and identities, and the table of all kinds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import ctx

from .fields import Balls, Exact, NotExact, ball, evaluate
from .given import Given, decides, sides, with_units
from .kinds import algebra, boxes, roots, runs, tubes
from .kinds.positivity import cases, logarithms, over_bounds, positive, squares, with_slack
from .kinds.stationary import not_stationary, stationary
from .nodes import Node, encloses, order
from .polynomials import Quotients, Sign, admit_positive, refuse
from .primitives.attention import high, low
from .reading import Rejected, Unknown, entries, items, rational, rationals, shown, whole, word

_BALL_BITS = 256
"""Bits of what is rational, and not computed as such."""


def exact(given: Given, clause: Any, proof: Any, where: str) -> bool:
    """`inequality`: the stated margin, larger minus smaller side, is the exact one and decides."""
    relation = given.relation(clause["relation"], "clause.relation")
    stated = rational(proof["margin"], f"{where}.margin")
    small, large = sides(relation)
    nodes = [given.here(small), given.here(large)]
    ends = _difference(given, nodes, stated, f"{where}.margin: is not larger minus smaller side at the instance")
    return decides(relation, *ends, f"{where}.margin")


def _difference(given: Given, nodes: Sequence[Node], stated: Fraction, why: str) -> tuple[Fraction, Fraction]:
    """Return the second less the first of two values; an interval around what is stated where that is not exact.

    Raises Rejected, and says why, where it is not what is stated.
    """
    try:
        small, large = evaluate(given.terms, nodes, Exact(given.effort))
    except NotExact:
        # What is rational in the end need not be so in all its parts: e^x e^{-x}.
        with ctx.workprec(_BALL_BITS):
            small, large = evaluate(given.terms, nodes, Balls(given.effort, _BALL_BITS))
            ends = low(large - small), high(large - small)
        if not ends[0] <= stated <= ends[1]:
            raise Rejected(why) from None
        return ends
    if large - small != stated:
        raise Rejected(why)
    return stated, stated


def in_ball(given: Given, clause: Any, proof: Any, where: str) -> bool:
    """`inequality`: the margin recomputed in balls lies in the stated interval, which decides.

    With a primitive whose value is known by an enclosure only, the two enclosures of the margin are made in different
    ways, and neither need lie in the other: then they overlap, and each decides as the other does.
    """
    relation = given.relation(clause["relation"], "clause.relation")
    bits, interval = whole(proof["bits"], f"{where}.bits", *runs.BITS), _interval(proof["margin"], f"{where}.margin")
    with ctx.workprec(bits):
        margin = given.margins(relation, bits)
        if not any(map(encloses, order([relation]))):
            _enclosed(margin, interval, f"{where}.margin")
            return decides(relation, *interval, f"{where}.margin")
        least, most = low(margin), high(margin)
    if least > interval[1] or most < interval[0]:
        raise Rejected(f"{where}.margin: does not meet the enclosure that is computed here")
    holds = decides(relation, *interval, f"{where}.margin")
    if decides(relation, least, most, f"{where}: the enclosure that is computed here") != holds:
        raise Rejected(f"{where}.margin: the enclosure that is computed here decides otherwise")
    return holds


def enclose(given: Given, node: Node, interval: tuple[Fraction, Fraction], bits: int, where: str) -> None:
    """See that the value of an expression is in an interval: exactly, where both ends are one."""
    low_, high_ = interval
    if low_ == high_:
        try:
            found = given.number(node, None)
        except NotExact as error:
            raise Rejected(f"{where}: {error}") from None
        if found != low_:
            raise Rejected(f"{where}: another value is computed here")
        return
    with ctx.workprec(bits):
        found = given.number(node, bits)
        if low(found) < low_ or high(found) > high_:
            raise Rejected(f"{where}: the enclosure that is computed here is not inside")


def _interval(data: Any, where: str) -> tuple[Fraction, Fraction]:
    low, high = rationals(data, where, 2)
    if low > high:
        raise Rejected(f"{where}: its ends are in the wrong order")
    return low, high


def _enclosed(value: Any, interval: tuple[Fraction, Fraction], where: str) -> None:
    low, high = map(ball, interval)
    if not (value >= low and value <= high):
        raise Rejected(f"{where}: does not contain the ball that is computed at these bits")


def identity(given: Given, clause: Any, proof: Any, where: str) -> None:
    """`identity`, verified: both sides are one rational function of the symbols and of exponentials.

    Everything that is divided by is a product of atoms that are nowhere zero and of the listed
    factors, each of which keeps one sign on the domain. What was divided by and cancelled is such a
    product or keeps one sign; what is under a logarithm or a root and cancelled is positive.
    """
    everywhere = word(proof["scope"], f"{where}.scope", ("all", "instance")) == "all"
    nodes = [given.expression(clause[side], f"clause.{side}") for side in ("left", "right")]
    factors = []
    for i, entry in enumerate(items(proof["factors"], f"{where}.factors")):
        at = f"{where}.factors[{i}]"
        entries(entry, at, "factor shift")
        node = given.expression(entry["factor"], f"{at}.factor")
        node = node if everywhere else given.here(node)
        shift = None if entry["shift"] is None else whole(entry["shift"], f"{at}.shift", 0, len(given.domain) - 1)
        if shift is not None and not everywhere:
            raise Rejected(f"{at}.shift: an instance has no shifts")
        _keeps_sign(given, node, shift, at)
        factors.append(node)
    if not everywhere:
        nodes = [given.here(node) for node in nodes]
    nodes, cancelled = given.terms.cancelled(nodes)
    divisors = _unsigned_divisors(given, cancelled, range(len(given.domain) if everywhere else 0), where)

    def vanishes(units: dict[Any, int]) -> bool:
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


def _unsigned_divisors(given: Given, cancelled: list[Node], shifts: Sequence[int], where: str) -> list[Node]:
    """Return the divisors in what cancels that are not shown to keep a sign; Rejected for a logarithm or a root."""
    left = []
    for node in order(cancelled):
        if node.total or node.head in ("number", "symbol", "Add", "Mul", "exp"):
            continue
        divides = node.head == "Pow" and node.args[1].head == "number" and node.args[1].value.denominator == 1
        if divides and node.args[1].value > 0:
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
    except Rejected:
        return False
    return True


def _keeps_sign(given: Given, node: Node, shift: int | None, where: str, *, positive: bool = False) -> None:
    """See that a factor has no zero on the domain, or is positive: in slacks, its coefficients have one sign.

    First the larger side of a relation of the domain, a symbol, is written as the smaller plus a
    slack; then every parameter as its minimum (or the bound that it is above) plus another.
    """
    signs: dict[Any, Sign] = {}
    if shift is not None:
        node = given.terms.substitute(node, with_slack(given, given.domain[shift], shift, signs, where))
    node = given.terms.substitute(node, over_bounds(given, given.values, signs))

    def good(units: dict[Any, int]) -> bool:
        field = Quotients(given.effort, lambda name: signs.get(name) or given.sign_of(name), admit_positive, units)
        (value,) = evaluate(given.terms, [node], field)
        sign = field.one_sign(value.numerator) if value.numerator else 0
        return sign == 1 and field.is_signed() if positive else sign != 0

    if not with_units(good):
        raise Rejected(f"{where}: the factor is not shown to keep one sign on the domain")


def point(given: Given, clause: Any, proof: Any, where: str) -> None:
    """`identity` or `inequality`, refuted: at the instance and a point of the variables both sides have values.

    Those of an identity differ by what is stated; larger minus smaller side of an inequality is what is stated.
    """
    bits = None if proof["bits"] is None else whole(proof["bits"], f"{where}.bits", *runs.BITS)
    entries(proof["point"], f"{where}.point", "", given.variables)
    values = {name: rational(value, f"{where}.point.{name}") for name, value in proof["point"].items()}
    for name, value in values.items():
        given.keeps_assumptions(name, value, f"{where}.point.{name}")
    put = {name: given.terms.number(value) for name, value in values.items()}
    relation = given.relation(clause["relation"], "clause.relation") if clause["kind"] == "inequality" else None
    if relation is None:
        ends = [given.expression(clause[side], f"clause.{side}") for side in ("right", "left")]
    else:
        ends = list(sides(relation))
    nodes = [given.here(end, put) for end in ends]
    if bits is None:
        stated = rational(proof["difference"], f"{where}.difference")
        ends = _difference(given, nodes, stated, f"{where}.difference: is not the difference of the sides at the point")
    else:
        ends = _interval(proof["difference"], f"{where}.difference")
        with ctx.workprec(bits):
            small, large = evaluate(given.terms, nodes, Balls(given.effort, bits))
            _enclosed(large - small, ends, f"{where}.difference")
    if ends[0] <= 0 <= ends[1] if relation is None else decides(relation, *ends, f"{where}.difference"):
        raise Rejected(f"{where}.difference: refutes nothing")


@dataclass(frozen=True)
class Kind:
    """A kind of proof: the clauses and outcomes that it is for, its keys, its check, and `more` keys it may have.

    A check raises Rejected, and returns whether the clause holds where it is for both outcomes.
    """

    clauses: tuple[str, ...]
    outcomes: tuple[str, ...]
    keys: str
    check: Callable[[Given, Any, Any, str], bool | None]
    more: tuple[str, ...] = ()


_RUN, _SET = "bits checkpoints", "centre radius"
KINDS = {
    "exact": Kind(("inequality",), ("verified", "refuted"), "margin", exact),
    "ball": Kind(("inequality",), ("verified", "refuted"), "bits margin", in_ball),
    "positive": Kind(("inequality",), ("verified",), "shifts relations", positive),
    "squares": Kind(("inequality",), ("verified",), "shifts relations squares", squares),
    "cases": Kind(("inequality",), ("verified",), "shifts relations cases", cases),
    "logarithms": Kind(("inequality",), ("verified",), "logarithms left", logarithms),
    "identity": Kind(("identity",), ("verified",), "scope factors", identity),
    "point": Kind(("identity", "inequality"), ("refuted",), "bits point difference", point),
    "words": Kind(("matrix_identity",), ("verified",), "", algebra.words),
    "words_here": Kind(("matrix_identity",), ("verified",), "", algebra.words_here),
    "matrices": Kind(("matrix_identity",), ("refuted",), "scalars matrices place difference", algebra.matrices),
    "residual": Kind(("residual",), ("verified", "refuted"), "polynomial roots", algebra.residual, ("minimum",)),
    "passage": Kind(("reaches",), ("verified",), f"{_RUN} steps", runs.passage),
    "tube": Kind(("reaches",), ("verified",), f"{_RUN} start slow observable nodes above steps", tubes.tube),
    "above": Kind(("reaches",), ("refuted",), f"{_RUN} last", runs.above),
    "excess": Kind(("stays",), ("refuted",), f"{_RUN} reached_at above_at", runs.excess),
    "cycle": Kind(("reaches", "stays"), (), f"{_RUN} {_SET} entry_bits period entered_at axes", runs.cycle),
    "descent": Kind(("stays",), ("verified",), "bits metric coordinates cuts", boxes.descent),
    "root": Kind(("root",), ("verified",), f"bits {_SET}", roots.root),
    "no_root": Kind(("root",), ("refuted",), "bits", roots.no_root),
    "stationary": Kind(("stationary",), ("verified",), f"bits {_SET}", stationary),
    "not_stationary": Kind(("stationary",), ("refuted",), "bits", not_stationary),
}
_FOR_ALL = ("positive", "squares", "cases", "logarithms", "words", "identity")
CLAUSE_KEYS = {
    "inequality": "kind label says relation",
    "identity": "kind label says left right",
    "reaches": "kind label says level within dynamics",
    "stays": "kind label says reached level dynamics",
    "root": "kind label says equations unknowns centre radius",
    "matrix_identity": "kind label says shapes left right",
    "residual": "kind label says factors moment index shift scale",
    "stationary": "kind label says layers variable moment index unknowns minimum dynamics",
}
_OPTIONAL = {"residual": ("minimum",), "stationary": ("near", "radius")}


def check_clause(given: Given, clause: Any, stated: Any, where: str) -> tuple[str, str, str, str]:
    """Check one clause of the claim against what a certificate states of it: label, outcome, evidence and proof."""
    entries(stated, where, "label outcome evidence proof")
    evidence = word(stated["evidence"], f"{where}.evidence", ("proved", "certified"))
    return shown_of(given, clause, stated, where, evidence)


def shown_of(
    given: Given, clause: Any, stated: Any, where: str, claimed: str | None = None
) -> tuple[str, str, str, str]:
    """Check the proof of a clause; return label, outcome, the evidence that it gives (`claimed`, if any), its kind."""
    if type(clause) is not dict:
        raise Rejected(f"{where}: the statement's clause is not an object")
    if word(clause.get("kind"), f"{where}.kind") not in CLAUSE_KEYS:
        raise Unknown(f"{where}.kind: {shown(clause['kind'])} is no kind of clause that this program knows")
    entries(clause, where, CLAUSE_KEYS[clause["kind"]], _OPTIONAL.get(clause["kind"], ()))
    word(clause["says"], f"{where}.says")
    label = word(clause["label"], f"{where}.label")
    if word(stated["label"], f"{where}.label") != label:
        raise Rejected(f"{where}.label: {shown(stated['label'])} is not the statement's {shown(label)}")
    outcome = word(stated["outcome"], f"{where}.outcome", ("verified", "refuted"))
    proof, at = stated["proof"], f"{where}.proof"
    if type(proof) is not dict or "kind" not in proof:
        raise Rejected(f"{at}.kind: missing")
    name = word(proof["kind"], f"{at}.kind", list(KINDS))
    kind = KINDS[name]
    entries(proof, at, f"kind {kind.keys}", kind.more)
    outcomes = kind.outcomes or (("refuted",) if clause["kind"] == "reaches" else ("verified",))
    if clause["kind"] not in kind.clauses or outcome not in outcomes:
        raise Rejected(f"{at}.kind: {name} does not prove that a clause of kind {clause['kind']} is {outcome}")
    evidence = _evidence(given, clause, proof, claimed, where)
    holds = kind.check(given, clause, proof, at)
    if holds is not None and holds != (outcome == "verified"):
        raise Rejected(f"{where}.outcome: the margin says otherwise")
    return label, outcome, evidence, name


def _evidence(given: Given, clause: Any, proof: Any, claimed: str | None, where: str) -> str:
    """Return what a proof gives: `proved` for all parameters, or `certified` at the instance."""
    name, evidence = proof["kind"], "certified"
    if name in _FOR_ALL and (name != "identity" or proof["scope"] == "all"):
        for_all = given.for_all(clause)
        # Words say nothing of an instance but its own words: where these choose, they show no more than that.
        if not for_all and (name != "words" or claimed == "proved"):
            raise Rejected(f"{where}.evidence: what is shown at the instance's words is not shown for all")
        evidence = "proved" if for_all else "certified"
    if claimed not in (None, evidence):
        raise Rejected(f"{where}.evidence: {claimed} is not what a proof of kind {name} gives")
    return evidence
