"""Proofs that two expressions are one rational function, all divisors shown not to be 0."""

from collections.abc import Mapping
from typing import Any

from verify.formal.clauses import Clause
from verify.formal.expressions import Need, NotSaidError
from verify.formal.slacks import Slacks
from verify.rechecker.nodes import Node
from verify.rechecker.reading import Rejected


def by_field(clause: Clause, proof: Mapping[str, Any]) -> None:
    """Write a proof of kind `identity`."""
    clause.begin()
    for i, entry in enumerate(proof["factors"]):
        factor = clause.text(entry["factor"])
        lines = keeps_sign(clause, clause.node(entry["factor"]), "nonzero")
        clause.say(f"assert (F_{i} : {factor} <> 0).", "{", *(f"  {line}" for line in lines or ["nonzero."]), "}")
    for need in clause.leaves():
        clause.show(_leaf(clause, need))
    clause.end()
    clause.say("equal.")


def _leaf(clause: Clause, need: Need) -> list[str]:
    lines = keeps_sign(clause, clause.node(need.of), need.sign)
    return [f"{need.sign}."] if lines is None else lines


def keeps_sign(clause: Clause, node: Node, sign: str) -> list[str] | None:
    """Return the proof that something has a sign on the domain, by slacks of one relation; None where none shows it."""
    if node.head == "number":
        return [f"{sign}."]
    for shift in (None, *range(len(clause.stated.data["domain"]))):
        slacks, lines = Slacks(clause), list[str]()
        try:
            if shift is not None:
                slacks, lines = slacks.with_relation(shift)
            slacks, more = slacks.with_bounds(list(clause.given.values))
            if not slacks.keeps_sign(node):
                continue
            return [*lines, *more, *slacks.leaf(sign, node)]
        except (Rejected, NotSaidError):
            continue
    return None
