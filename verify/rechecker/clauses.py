"""The two tables, of the kinds of clause and of the kinds of proof, and the check of a clause by them.

A new kind of clause is a line in the first; each kind of proof that is for it a line in the second.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .given import Given
from .kinds import algebra, boxes, identities, positivity, relations, roots, runs, stationary, tubes
from .reading import Data, Rejected, Unknown, entries, shown, string


class Shown(NamedTuple):
    """What is accepted of one clause: its outcome, by which evidence (None for none), by which kind of proof."""

    label: str
    outcome: str
    evidence: str | None
    kind: str


@dataclass(frozen=True)
class ClauseKind:
    """A kind of clause: its keys, and `more` keys that it may have."""

    keys: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of proof: the outcomes that it shows of each kind of clause, its keys, its check, `more` keys it may have.

    A check raises Rejected, and returns whether the clause holds where the kind shows either outcome. What is shown is
    shown `for_all` parameters where a proof that states its scope says "all" there; `or_here` says that it is shown at
    the instance where that one's words choose the clause.
    """

    shows: Mapping[str, tuple[str, ...]]
    keys: str
    check: Callable[[Given, dict[str, Data], dict[str, Data], str], bool | None]
    more: tuple[str, ...] = ()
    for_all: bool = False
    or_here: bool = False


CLAUSES = {
    "inequality": ClauseKind("relation"),
    "identity": ClauseKind("left right"),
    "matrix_identity": ClauseKind("shapes left right"),
    "reaches": ClauseKind("level within dynamics", ("not_before",)),
    "stays": ClauseKind("reached level dynamics"),
    "root": ClauseKind("equations unknowns centre radius"),
    "residual": ClauseKind("factors moment index shift scale", ("minimum",)),
    "stationary": ClauseKind("layers variable moment index unknowns minimum dynamics", ("near", "radius")),
    "in_words": ClauseKind(""),
}
IN_WORDS = "in_words"
"""The kind of a clause that says in words what the language cannot: no proof shows it here."""
_HOLDS, _FAILS = ("verified",), ("refuted",)
_EITHER = (*_HOLDS, *_FAILS)
_RUN, _SET, _SLACKS = "bits checkpoints", "centre radius", "shifts relations"
KINDS = {
    "exact": Kind({"inequality": _EITHER}, "margin", relations.exact),
    "ball": Kind({"inequality": _EITHER}, "bits margin", relations.in_ball),
    "constant": Kind({"inequality": _HOLDS}, "bits margin", relations.constant, for_all=True),
    "positive": Kind({"inequality": _HOLDS}, _SLACKS, positivity.positive, for_all=True),
    "squares": Kind({"inequality": _HOLDS}, f"{_SLACKS} squares", positivity.squares, for_all=True),
    "cases": Kind({"inequality": _HOLDS}, f"{_SLACKS} cases", positivity.cases, for_all=True),
    "logarithms": Kind({"inequality": _HOLDS}, "logarithms left", positivity.logarithms, for_all=True),
    "identity": Kind({"identity": _HOLDS}, "scope factors", identities.identity, for_all=True),
    "point": Kind({"identity": _FAILS, "inequality": _FAILS}, "bits point difference", relations.point),
    "words": Kind({"matrix_identity": _HOLDS}, "", algebra.same_monomials, for_all=True, or_here=True),
    "words_here": Kind({"matrix_identity": _HOLDS}, "", algebra.same_monomials_here),
    "matrices": Kind({"matrix_identity": _FAILS}, "scalars matrices place difference", algebra.matrices),
    "residual": Kind({"residual": _EITHER}, "polynomial roots", algebra.residual, ("minimum",)),
    "passage": Kind({"reaches": _HOLDS}, f"{_RUN} steps", runs.passage),
    "tube": Kind({"reaches": _EITHER}, f"{_RUN} start slow observable nodes above steps", tubes.tube),
    "above": Kind({"reaches": _FAILS}, f"{_RUN} last", runs.above),
    "early": Kind({"reaches": _FAILS}, f"{_RUN} at", runs.early),
    "excess": Kind({"stays": _FAILS}, f"{_RUN} reached_at above_at", runs.excess),
    "cycle": Kind({"reaches": _FAILS, "stays": _HOLDS}, f"{_RUN} {_SET} entry_bits period entered_at axes", runs.cycle),
    "descent": Kind({"stays": _HOLDS}, "bits metric coordinates cuts", boxes.descent),
    "root": Kind({"root": _HOLDS}, f"bits {_SET}", roots.root),
    "no_root": Kind({"root": _FAILS}, "bits", roots.no_root),
    "stationary": Kind({"stationary": _HOLDS}, f"bits {_SET}", stationary.stationary),
    "not_stationary": Kind({"stationary": _FAILS}, "bits", stationary.not_stationary),
}


def is_for_all(proof: Data) -> bool:
    """Whether a proof is of a kind that shows a clause for all parameters, whatever it is of."""
    if type(proof) is not dict or type(name := proof.get("kind")) is not str or name not in KINDS:
        return False
    return KINDS[name].for_all and proof.get("scope", "all") == "all"


def check_clause(given: Given, clause: Data, stated: Data, where: str) -> Shown:
    """Check one clause of the statement against what a certificate states of it.

    Raises Rejected where the proof does not show what is stated, or is not read here.
    """
    stated = entries(stated, where, "label outcome evidence proof")
    if type(clause) is dict and clause.get("kind") == IN_WORDS:
        label = _label(clause, stated, where, "")
        if not str(clause["says"]).strip():
            raise Rejected(f"{where}.says: is empty")
        if (stated["outcome"], stated["evidence"], stated["proof"]) != ("inconclusive", None, None):
            raise Rejected(f"{where}: what is said in words is not shown here")
        return Shown(label, "inconclusive", None, IN_WORDS)
    evidence = string(stated["evidence"], f"{where}.evidence", ("proved", "certified"))
    return shown_of(given, clause, stated, where, evidence)


def _label(clause: dict[str, Data], stated: Mapping[str, Data], where: str, keys: str, more: Sequence[str] = ()) -> str:
    """Return a clause's label. Raises Rejected where the clause has other keys, or the label is not the stated one."""
    entries(clause, where, f"kind label says {keys}", more)
    string(clause["says"], f"{where}.says")
    label = string(clause["label"], f"{where}.label")
    if string(stated["label"], f"{where}.label") != label:
        raise Rejected(f"{where}.label: {shown(stated['label'])} is not the statement's {shown(label)}")
    return label


def shown_of(given: Given, clause: Data, stated: Mapping[str, Data], where: str, claimed: str | None = None) -> Shown:
    """Check the proof of a clause; the evidence is that which it gives, and `claimed`, if that is not None.

    Raises Rejected as `check_clause` does.
    """
    if type(clause) is not dict:
        raise Rejected(f"{where}: the statement's clause is not an object")
    if (said := string(clause.get("kind"), f"{where}.kind")) not in CLAUSES:
        raise Unknown(f"{where}.kind: {shown(said)} is not a kind of clause that this program knows")
    form = CLAUSES[said]
    label = _label(clause, stated, where, form.keys, form.more)
    outcome = string(stated["outcome"], f"{where}.outcome", ("verified", "refuted"))
    proof, inside = stated["proof"], f"{where}.proof"
    if type(proof) is not dict or "kind" not in proof:
        raise Rejected(f"{inside}.kind: missing")
    name = string(proof["kind"], f"{inside}.kind", list(KINDS))
    kind = KINDS[name]
    entries(proof, inside, f"kind {kind.keys}", kind.more)
    if outcome not in kind.shows.get(said, ()):
        raise Rejected(f"{inside}.kind: {name} does not prove that a clause of kind {said} is {outcome}")
    given.hypotheses_used = False
    everywhere = is_for_all(proof)
    for_all = everywhere and given.for_all(clause)
    # Monomials say nothing of an instance but its own words: where these choose, they show no more than that.
    if everywhere and not for_all and (not kind.or_here or claimed == "proved"):
        raise Rejected(f"{where}.evidence: what is shown at the instance's words is not shown for all")
    evidence = "proved" if for_all else "certified"
    if claimed not in (None, evidence):
        raise Rejected(f"{where}.evidence: {claimed} is not what a proof of kind {name} gives")
    holds = kind.check(given, clause, proof, inside)
    if for_all and not given.for_all(clause):
        raise Rejected(f"{where}.evidence: it uses a hypothesis, and in hypotheses the instance's words choose")
    if holds is not None and holds != (outcome == "verified"):
        raise Rejected(f"{where}.outcome: the margin says otherwise")
    return Shown(label, outcome, evidence, name)
