"""Proofs that two expressions are one rational function, all divisors shown not to be 0."""

from collections.abc import Mapping
from typing import Any

from verify.formal.clauses import Clause
from verify.formal.expressions import Need, NotSaidError, Slope, put
from verify.formal.slacks import Slacks
from verify.rechecker.nodes import Node
from verify.rechecker.reading import Rejected

_SAID: Mapping[str, str] = {"nonzero": "{} <> 0", "positive": "0 < {}", "nonnegative": "0 <= {}"}


def by_field(clause: Clause, proof: Mapping[str, Any]) -> None:
    """Write a proof of kind `identity`."""
    clause.begin()
    for i, entry in enumerate(proof["factors"]):
        factor = clause.text(entry["factor"])
        lines = keeps_sign(Slacks(clause), clause.node(entry["factor"]), "nonzero")
        clause.say(f"assert (F_{i} : {factor} <> 0).", "{", *(f"  {line}" for line in lines or ["nonzero."]), "}")
    for slope in clause.goal.slopes.values():
        _differentiated(clause, slope)
    for need in clause.leaves():
        lines = keeps_sign(Slacks(clause), clause.node(need.of), need.sign)
        clause.show(lines or [f"{need.sign}."])
    clause.end()
    clause.say("equal.")


def _differentiated(clause: Clause, slope: Slope) -> None:
    """Write that there is a derivative, and first that the body has a value around the point."""
    clause.say("eexists; split; [|].", "{")
    if slope.needs:
        needs = list(clause.apart(slope.needs))
        everywhere = _everywhere(clause, slope, needs)
        if everywhere is None:
            clause.say("apply and_then.", "{", *_at_the_point(clause, slope, needs), "near.", "}")
        else:
            clause.say("apply and_then; [apply filter_forall; intro around; apply proj1 with (B := True) |].", "{")
            for lines in everywhere:
                clause.show(lines)
            clause.say("flat; exact I.", "}")
        clause.say("intro L; apply locally_singleton in L; cbv beta in L.")
        clause.say("repeat match goal with N : _ /\\ _ |- _ => destruct N end.")
    clause.say("derive.", "}")


def _everywhere(clause: Clause, slope: Slope, needs: list[Need]) -> list[list[str]] | None:
    """Return the proofs that a body has a value at every number; None where one is not found."""
    free = Slacks(clause, signs={slope.symbol: "real"}, texts={slope.symbol: "around"})
    found = [keeps_sign(free, clause.node(need.of, [slope.symbol]), need.sign) for need in needs]
    return [lines for lines in found if lines is not None] if None not in found else None


def _at_the_point(clause: Clause, slope: Slope, needs: list[Need]) -> list[str]:
    """Return the proof that a body has a value at the point."""
    written = list[str]()
    for i, need in enumerate(needs):
        of = put(clause.resolved(need.of), {slope.symbol: clause.resolved(slope.point)})
        said = _SAID[need.sign].format(clause.text(of))
        lines = keeps_sign(Slacks(clause), clause.node(of), need.sign) or [f"{need.sign}."]
        written += [f"assert (N_{i} : {said}).", "{", *(f"  {line}" for line in lines), "}"]
    return written


def keeps_sign(symbols: Slacks, node: Node, sign: str) -> list[str] | None:
    """Return the proof that something has a sign on the domain, by slacks of one relation; None where none shows it."""
    if node.head == "number":
        return [f"{sign}."]
    given = symbols.clause.given
    for shift in (None, *range(len(given.domain))):
        slacks, lines = symbols, list[str]()
        try:
            if shift is not None:
                slacks, lines = slacks.with_relation(shift)
            slacks, more = slacks.with_bounds(list(given.values))
            if not slacks.keeps_sign(node):
                continue
            return [*lines, *more, *slacks.leaf(sign, node)]
        except (Rejected, NotSaidError):
            continue
    return None
