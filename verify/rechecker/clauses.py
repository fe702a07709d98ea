"""The kinds of clause and of proof in the core, and the check of a clause by a registry.

A new kind of clause needs a line in the first table, and each kind of proof of such clauses a line in the second.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .given import Given
from .kinds import algebra, boxes, deductions, identities, positivity, relations, roots, runs, states, tubes
from .reading import SENTENCE, Data, Rejected, Unknown, entries, line, plain_label, shown, string
from .registry import Checked, ClauseKind, ProofKind, Registry, Trusted, guarded


class Shown(NamedTuple):
    """The accepted result of one clause: its outcome, its evidence (or None), and its kind of proof.

    `trusts` are the doors that the result rests on; there are none if the core alone accepts it.
    """

    label: str
    outcome: str
    evidence: str | None
    kind: str
    trusts: tuple[Trusted, ...] = ()


CLAUSES = {
    "inequality": ClauseKind("relation"),
    "implication": ClauseKind("conditions conclusion"),
    "identity": ClauseKind("left right"),
    "matrix_identity": ClauseKind("shapes left right"),
    "reaches": ClauseKind("level within dynamics", ("not_before",)),
    "stays": ClauseKind("reached level dynamics"),
    "root": ClauseKind("equations unknowns centre radius"),
    "residual": ClauseKind("factors moment index shift scale", ("minimum",)),
    "in_words": ClauseKind(""),
}
IN_WORDS = "in_words"
"""The kind of a clause in words, which the language cannot express: this program accepts no proof of it."""
_HOLDS, _FAILS = ("verified",), ("refuted",)
_EITHER = (*_HOLDS, *_FAILS)
_RELATIONS = ("inequality", "implication")
_RUN, _SET, _SLACKS = "bits checkpoints", "centre radius", "shifts relations"
_KEPT = "invariants start step values"
_CYCLE = "entry_bits period entered_at axes"
KINDS = {
    "exact": ProofKind({"inequality": _EITHER}, "margin", relations.exact),
    "ball": ProofKind({"inequality": _EITHER}, "bits margin", relations.in_ball),
    "constant": ProofKind({"inequality": _HOLDS}, "bits margin", relations.constant, for_all=True),
    "positive": ProofKind({"inequality": _HOLDS}, _SLACKS, positivity.positive, for_all=True),
    "squares": ProofKind({"inequality": _HOLDS}, f"{_SLACKS} squares", positivity.squares, for_all=True),
    "cases": ProofKind({"inequality": _HOLDS}, f"{_SLACKS} cases", positivity.cases, for_all=True),
    "logarithms": ProofKind({"inequality": _HOLDS}, "logarithms left", positivity.logarithms, for_all=True),
    "deduction": ProofKind(dict.fromkeys(_RELATIONS, _HOLDS), "relations tree", deductions.deduction, for_all=True),
    "identity": ProofKind({"identity": _HOLDS}, "scope factors", identities.identity, for_all=True),
    "point": ProofKind(dict.fromkeys(("identity", *_RELATIONS), _FAILS), "bits point difference", relations.point),
    "words": ProofKind({"matrix_identity": _HOLDS}, "", algebra.same_monomials, for_all=True, or_here=True),
    "words_here": ProofKind({"matrix_identity": _HOLDS}, "", algebra.same_monomials_here),
    "matrices": ProofKind({"matrix_identity": _FAILS}, "scalars matrices place difference", algebra.matrices),
    "residual": ProofKind({"residual": _EITHER}, "polynomial roots", algebra.residual, ("minimum",)),
    "passage": ProofKind({"reaches": _HOLDS}, f"{_RUN} steps", runs.passage),
    "tube": ProofKind({"reaches": _EITHER}, f"{_RUN} start slow observable nodes above steps", tubes.tube),
    "above": ProofKind({"reaches": _FAILS}, f"{_RUN} last", runs.above),
    "early": ProofKind({"reaches": _FAILS}, f"{_RUN} at", runs.early),
    "excess": ProofKind({"stays": _FAILS}, f"{_RUN} reached_at above_at", runs.excess),
    "cycle": ProofKind({"reaches": _FAILS, "stays": _HOLDS}, f"{_RUN} {_SET} {_CYCLE}", runs.cycle),
    "falls": ProofKind({"reaches": _HOLDS}, f"relations amount positive {_KEPT} falls", states.falls, for_all=True),
    "kept": ProofKind({"reaches": _FAILS, "stays": _HOLDS}, f"{_KEPT} above", states.kept),
    "descent": ProofKind({"stays": _HOLDS}, "bits metric coordinates cuts", boxes.descent),
    "root": ProofKind({"root": _HOLDS}, f"bits {_SET}", roots.root),
    "no_root": ProofKind({"root": _FAILS}, "bits", roots.no_root),
}
CORE = Registry(1, CLAUSES, KINDS)
"""The registry of this program without the additions of packages; it has no primitive."""


def is_for_all(proof: Data, registry: Registry) -> bool:
    """Whether a proof is of a kind that shows a clause for all parameters; the clause itself is not examined."""
    if type(proof) is not dict or type(name := proof.get("kind")) is not str or name not in registry.proofs:
        return False
    return registry.proofs[name].for_all and proof.get("scope", "all") == "all"


def check_clause(given: Given, clause: Data, stated: Data, where: str) -> Shown:
    """Check one clause of the statement against its entry in a certificate.

    Raises Rejected if the proof does not show the stated result, or cannot be read.
    """
    stated = entries(stated, where, "label outcome evidence proof")
    if type(clause) is dict and clause.get("kind") == IN_WORDS:
        label = _label(clause, stated, where, "")
        if not str(clause["says"]).strip():
            raise Rejected(f"{where}.says: is empty")
        if (stated["outcome"], stated["evidence"], stated["proof"]) != ("inconclusive", None, None):
            raise Rejected(f"{where}: a clause in words must be inconclusive, without evidence or proof")
        return Shown(label, "inconclusive", None, IN_WORDS)
    evidence = string(stated["evidence"], f"{where}.evidence", ("proved", "certified"))
    return shown_of(given, clause, stated, where, evidence)


def _label(clause: dict[str, Data], stated: Mapping[str, Data], where: str, keys: str, more: Sequence[str] = ()) -> str:
    """Return a clause's label. Raises Rejected if the clause has other keys, or the label is not the stated one."""
    entries(clause, where, f"kind label says {keys}", more)
    line(clause["says"], f"{where}.says", SENTENCE)
    label = plain_label(clause["label"], f"{where}.label")
    if string(stated["label"], f"{where}.label") != label:
        raise Rejected(f"{where}.label: {shown(stated['label'])} is not the statement's {shown(label)}")
    return label


def _checked(given: Given, clause: Data, proof: dict[str, Data], where: str) -> Checked:
    """Return the result of a proof's check. Raises Unknown if a package's check fails, or returns another type."""
    name, registry = str(proof["kind"]), given.registry
    check = registry.proofs[name].check
    if ("proofs", name) not in registry.brought:
        return check(given, clause, proof, where)
    found = guarded(lambda: check(given, clause, proof, where))
    if type(found) is not Checked:
        raise Unknown(f"{where}.kind: its check returned a {type(found).__name__}, not a Checked")
    return found


def shown_of(given: Given, clause: Data, stated: Mapping[str, Data], where: str, claimed: str | None = None) -> Shown:
    """Return the result of a clause whose proof is accepted. Its evidence must be `claimed`, if that is not None.

    Raises Rejected like `check_clause`.
    """
    if type(clause) is not dict:
        raise Rejected(f"{where}: the statement's clause is not an object")
    if (said := string(clause.get("kind"), f"{where}.kind")) not in given.registry.clauses:
        raise Unknown(f"{where}.kind: {shown(said)} is not a kind of clause that this program knows")
    form, proofs = given.registry.clauses[said], given.registry.proofs
    label = _label(clause, stated, where, form.keys, form.more)
    outcome = string(stated["outcome"], f"{where}.outcome", ("verified", "refuted"))
    proof, inside = stated["proof"], f"{where}.proof"
    if type(proof) is not dict or "kind" not in proof:
        raise Rejected(f"{inside}.kind: missing")
    if (name := string(proof["kind"], f"{inside}.kind")) not in proofs:
        raise Unknown(f"{inside}.kind: {shown(name)} is not a kind of proof that this program knows")
    kind = proofs[name]
    entries(proof, inside, f"kind {kind.keys}", kind.more)
    if outcome not in kind.shows.get(said, ()):
        raise Rejected(f"{inside}.kind: {name} does not prove that a clause of kind {said} is {outcome}")
    given.effort.spend(50)
    everywhere = is_for_all(proof, given.registry)
    for_all = everywhere and given.for_all(clause, hypotheses_used=False)
    # If other words may decide Cases differently, a proof for all parameters counts at the instance only, and only for
    # kinds with `or_here`, such as `words`.
    if everywhere and not for_all and (not kind.or_here or claimed == "proved"):
        raise Rejected(f"{where}.evidence: a proof at the instance's words is no proof for all parameters")
    evidence = "proved" if for_all else "certified"
    if claimed not in (None, evidence):
        raise Rejected(f"{where}.evidence: {claimed} is not the evidence of a proof of kind {name}")
    found = _checked(given, clause, proof, inside)
    if for_all and not given.for_all(clause, hypotheses_used=found.hypotheses_used):
        raise Rejected(
            f"{where}.evidence: it uses a hypothesis, and the instance's words decide a Case in the hypotheses"
        )
    if found.holds != (outcome == "verified"):
        raise Rejected(f"{where}.outcome: the check gives another outcome")
    hypotheses_used = found.hypotheses_used or (for_all and given.chooses(clause))
    trusts = given.trusts([clause, proof], [("clauses", said), ("proofs", name)], hypotheses_used=hypotheses_used)
    return Shown(label, outcome, evidence, name, trusts)
