"""The kinds of proof about relations and identities, and the table of all kinds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import ctx

from verify.recheck import algebra, boxes, roots, runs, tubes
from verify.recheck.attention import high, low
from verify.recheck.fields import Balls, Exact, NotExact, ball, evaluate
from verify.recheck.given import Given, decides, sides, with_units
from verify.recheck.polynomials import Quotients, Sign, admit_positive, refuse
from verify.recheck.positivity import cases, logarithms, over_bounds, positive, squares, with_slack
from verify.recheck.reading import Rejected, entries, items, rational, rationals, shown, whole, word
from verify.recheck.stationary import not_stationary, stationary
from verify.recheck.terms import Node, encloses, order


def exact(given: Given, clause: Any, proof: Any, where: str) -> bool:
    """`inequality`: the stated margin, larger minus smaller side, is the exact one and decides."""
    relation = given.relation(clause["relation"], "clause.relation")
    stated = rational(proof["margin"], f"{where}.margin")
    try:
        margin = given.margins(relation, None)
    except NotExact as error:
        raise Rejected(f"{where}: {error}") from None
    if margin != stated:
        raise Rejected(f"{where}.margin: is not larger minus smaller side at the instance")
    return decides(relation, stated, stated, f"{where}.margin")


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
        low = high = rational(proof["difference"], f"{where}.difference")
        try:
            small, large = evaluate(given.terms, nodes, Exact(given.effort))
        except NotExact as error:
            raise Rejected(f"{where}: {error}") from None
        if large - small != low:
            raise Rejected(f"{where}.difference: is not the difference of the sides at the point")
    else:
        low, high = _interval(proof["difference"], f"{where}.difference")
        with ctx.workprec(bits):
            small, large = evaluate(given.terms, nodes, Balls(given.effort, bits))
            _enclosed(large - small, (low, high), f"{where}.difference")
    if low <= 0 <= high if relation is None else decides(relation, low, high, f"{where}.difference"):
        raise Rejected(f"{where}.difference: refutes nothing")


@dataclass(frozen=True)
class Kind:
    """A kind of proof: the clauses and outcomes that it is for, its keys, and its check.

    A check raises Rejected, and returns whether the clause holds where it is for both outcomes.
    """

    clauses: tuple[str, ...]
    outcomes: tuple[str, ...]
    keys: str
    check: Callable[[Given, Any, Any, str], bool | None]


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
    "matrices": Kind(("matrix_identity",), ("refuted",), "scalars matrices place difference", algebra.matrices),
    "residual": Kind(("residual",), ("verified", "refuted"), "polynomial roots", algebra.residual),
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
    """Check one clause of the claim against what a certificate states of it."""
    if type(clause) is not dict:
        raise Rejected(f"{where}: the statement's clause is not an object")
    name = word(clause.get("kind"), f"{where}.kind", list(CLAUSE_KEYS))
    entries(clause, where, CLAUSE_KEYS[name], _OPTIONAL.get(name, ()))
    word(clause["says"], f"{where}.says")
    entries(stated, where, "label outcome evidence proof")
    label = word(clause["label"], f"{where}.label")
    if word(stated["label"], f"{where}.label") != label:
        raise Rejected(f"{where}.label: {shown(stated['label'])} is not the statement's {shown(label)}")
    outcome = word(stated["outcome"], f"{where}.outcome", ("verified", "refuted"))
    evidence = word(stated["evidence"], f"{where}.evidence", ("proved", "certified"))
    proof, at = stated["proof"], f"{where}.proof"
    if type(proof) is not dict or "kind" not in proof:
        raise Rejected(f"{at}.kind: missing")
    name = word(proof["kind"], f"{at}.kind", list(KINDS))
    kind = KINDS[name]
    entries(proof, at, f"kind {kind.keys}")
    outcomes = kind.outcomes or (("refuted",) if clause["kind"] == "reaches" else ("verified",))
    if clause["kind"] not in kind.clauses or outcome not in outcomes:
        raise Rejected(f"{at}.kind: {name} does not prove that a clause of kind {clause['kind']} is {outcome}")
    for_all = name in ("positive", "squares", "cases", "logarithms", "words") or (
        name == "identity" and proof["scope"] == "all"
    )
    if for_all and evidence == "proved" and not given.for_all(clause):
        raise Rejected(f"{where}.evidence: what is shown at the instance's words is not shown for all")
    # Words say nothing of an instance but its own words: where these choose, they show no more than that.
    for_all = for_all and (name != "words" or given.for_all(clause))
    if evidence != ("proved" if for_all else "certified"):
        raise Rejected(f"{where}.evidence: {evidence} is not what a proof of kind {name} gives")
    holds = kind.check(given, clause, proof, at)
    if holds is not None and holds != (outcome == "verified"):
        raise Rejected(f"{where}.outcome: the margin says otherwise")
    return label, outcome, evidence, name
