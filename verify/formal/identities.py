"""Proofs that two expressions are one rational function, all divisors shown not to be 0."""

from collections.abc import Mapping
from typing import Any

from verify.formal.clauses import Clause
from verify.formal.expressions import NotSaidError, Slope
from verify.formal.slacks import Slacks
from verify.rechecker.nodes import Node
from verify.rechecker.reading import Rejected


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
    """Write that there is a derivative: the body has a value at every number, not only around the point."""
    clause.say("eexists; split; [|].", "{")
    if slope.needs:
        clause.say("apply and_then; [apply filter_forall; intro around; apply proj1 with (B := True) |].", "{")
        free = Slacks(clause, signs={slope.symbol: "real"}, texts={slope.symbol: "around"})
        for need in clause.apart(slope.needs):
            lines = keeps_sign(free, clause.node(need.of, [slope.symbol]), need.sign)
            if lines is None:
                raise NotSaidError("a proof about a derivative of what does not have a value everywhere")
            clause.show(lines)
        clause.say("flat; exact I.", "}", "intro L; apply locally_singleton in L; cbv beta in L.")
        clause.say("repeat match goal with N : _ /\\ _ |- _ => destruct N end.")
    clause.say("derive.", "}")


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
