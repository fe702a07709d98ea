"""Stored rows of a sweep: only rows that fit a schema are used, and they can be compared with new rows."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from types import UnionType

from verify.checking.theorem import Theorem
from verify.outcomes import Evidence, Outcome, json_numbers
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.rows import Point, Row

_Kinds = Mapping[str, type | UnionType]
_ROW: _Kinds = {
    **dict.fromkeys(("outcome", "claim", "evidence"), str | None),
    **dict.fromkeys(("detail", "error"), str),
    **dict.fromkeys(("instance", "values"), dict),
    "in_scope": bool | None,
    "clauses": list,
    "trusts": list,
    "seconds": int | float,
}
"""The fields of a row, with the type of each."""
_FLOATS_OF_CLAUSE = dict.fromkeys(("margin_float", "error_float"), int | float | None)
_CLAUSE: _Kinds = {
    **dict.fromkeys(("label", "detail", "unchecked"), str),
    "holds": bool | None,
    "evidence": str | None,
    "rechecked": bool,
    "trusts": list,
    "witness": dict,
    **dict.fromkeys(("margin", "error"), object),
    **_FLOATS_OF_CLAUSE,
}
_EVIDENCE = [Evidence.PROVED, Evidence.CERTIFIED, Evidence.COMPUTED]
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+|(\.[0-9]+)?(e-?[0-9]+)?)")
_TRUSTED = re.compile(r"[^\s,]+/[1-9][0-9]*")
COMPARED = ("in_scope", "outcome", "claim", "evidence", "trusts", "holds", "evidence of clauses", "values")


def fits(theorem: Theorem, point: Point, row: Row) -> bool:
    """Whether a stored object may be the row of an instance."""
    if not _has(row, _ROW) or not _finite(row) or isinstance(row["seconds"], bool) or row["seconds"] < 0:
        return False
    if any(row["instance"].get(name, math.nan) != value for name, value in json_numbers(point).items()):
        return False
    if row["outcome"] is None:
        beside = [row[name] for name in ("in_scope", "claim", "evidence")]
        return beside == [None] * 3 and not row["clauses"] and not row["values"] and row["error"] != ""
    labels = [clause.label for clause in theorem.statement.clauses]
    return (
        row["evidence"] in (None, *_EVIDENCE)
        and _trusts_fit(row["trusts"])
        and all(map(_clause_fits, row["clauses"]))
        and [clause["label"] for clause in row["clauses"]] == labels
        and _named(row["values"], set(theorem.values))
        and _named(row["instance"], {parameter.name for parameter in theorem.statement.parameters})
        and _consistent(row, {claim.label for claim in theorem.statement.claims})
    )


def _has(body: Row, kinds: _Kinds) -> bool:
    """Whether an object has exactly these fields, each of its type."""
    return body.keys() == kinds.keys() and all(isinstance(body[name], kind) for name, kind in kinds.items())


def _finite(row: Row) -> bool:
    try:
        json.dumps(row, allow_nan=False)
    except ValueError:
        return False
    return True


def _clause_fits(clause: object) -> bool:
    if not isinstance(clause, dict) or not _has(dict.fromkeys(_FLOATS_OF_CLAUSE) | clause, _CLAUSE):
        return False
    holds, evidence = clause["holds"], clause["evidence"]
    # A clause is re-checked if and only if its evidence is proved or certified.
    if evidence not in (None, *_EVIDENCE) or clause["rechecked"] is not (evidence in _EVIDENCE[:2]):
        return False
    if not _trusts_fit(clause["trusts"]) or (clause["trusts"] and not clause["rechecked"]):
        return False
    return (holds is None or evidence is not None) and _number(clause["margin"]) and _number(clause["error"])


def _trusts_fit(trusts: list[object]) -> bool:
    """Whether a list consists of names with versions, sorted, each once."""
    names = [each for each in trusts if isinstance(each, str) and _TRUSTED.fullmatch(each)]
    return len(names) == len(trusts) and names == sorted(set(names))


def _number(value: object) -> bool:
    """Whether a value is a number as our JSON objects represent it: exact, an enclosure, or null."""
    if isinstance(value, dict):
        return set(value) == {"lower", "upper"} and all(not isinstance(e, dict) and _number(e) for e in value.values())
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _named(values: Row, names: set[str]) -> bool:
    """Whether values have these names, with or without their floats beside them."""
    return names <= set(values) <= names | {f"{name}_float" for name in names}


def _consistent(row: Row, claims: set[str]) -> bool:
    """Whether a row's outcome, claim, evidence and trusts can follow from the entries of its claims."""
    clauses = [clause for clause in row["clauses"] if clause["label"] in claims]
    held = [clause["holds"] for clause in clauses]
    claim = Outcome.REFUTED if False in held else Outcome.INCONCLUSIVE if None in held else Outcome.VERIFIED
    # In scope, the outcome is inconclusive if the re-checker finds that a hypothesis fails.
    possible = {None: {Outcome.INCONCLUSIVE}, False: {Outcome.OUT_OF_SCOPE}}
    if row["claim"] != claim or row["outcome"] not in possible.get(row["in_scope"], {claim, Outcome.INCONCLUSIVE}):
        return False
    decides = {Outcome.VERIFIED: True, Outcome.REFUTED: False, Outcome.INCONCLUSIVE: None}[claim]
    deciding = [clause for clause in clauses if clause["holds"] is decides]
    if row["evidence"] not in _EVIDENCE[:2]:
        trusts_fit = not row["trusts"]
    else:
        # The scope may have further trusts.
        trusts_fit = {each for clause in deciding for each in clause["trusts"]} <= set(row["trusts"])
    if row["evidence"] is None:
        return trusts_fit
    # A scope that is not re-checked may weaken the evidence, and nothing strengthens it.
    place, known = _EVIDENCE.index(row["evidence"]), [clause["evidence"] for clause in deciding]
    return trusts_fit and None not in known and all(_EVIDENCE.index(each) <= place for each in known)


def differences(kept: Row, computed: Row) -> Iterator[tuple[str, object, object]]:
    """Yield the differences of a stored row from a new one of the same instance: the name, the stored and new value.

    Compared are `in_scope`, outcome, claim, evidence, trusts, each clause's verdict with its evidence, and the values.
    Floats may differ by a relative error of 2 * SWEEP.float_error.
    """
    for name in COMPARED:
        before, after = (_part(row, name) for row in (kept, computed))
        if not _same(before, after):
            yield name, before, after


def _part(row: Row, name: str) -> object:
    if name in ("holds", "evidence of clauses"):
        return {clause["label"]: clause[name.partition(" ")[0]] for clause in row["clauses"]}
    return row[name]


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=2 * SWEEP.float_error)
    if isinstance(one, dict) and isinstance(other, dict):
        return set(one) == set(other) and all(_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)
