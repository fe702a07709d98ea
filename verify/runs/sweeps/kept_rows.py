"""What a store has kept of a sweep is believed where it fits: rows read by a schema, and compared with new ones."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from verify.checking.theorem import Theorem
from verify.outcomes import Evidence, Outcome, json_numbers
from verify.runs.sweeps.rows import Point, Row

_FIELDS = {*("instance", "in_scope", "outcome", "claim", "evidence", "clauses", "values", "detail", "error", "seconds")}
_OF_CLAUSE = {"label", "holds", "evidence", "rechecked", "margin", "error", "unchecked", "detail", "witness"}
_FLOATS_OF_CLAUSE = {"margin_float", "error_float"}
_EVIDENCE = [Evidence.PROVED, Evidence.CERTIFIED, Evidence.COMPUTED]
_CLAIMS = {Outcome.VERIFIED, Outcome.REFUTED, Outcome.INCONCLUSIVE}
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+|(\.[0-9]+)?(e-?[0-9]+)?)")
_FLOATS_DIFFER = 2e-9
"""Relative; a value of which only a float is shown is known to half of this."""
COMPARED = ("in_scope", "outcome", "claim", "evidence", "holds", "values")


def misfit(theorem: Theorem, point: Point, row: Mapping[str, Any]) -> str:
    """Return why what is kept of an instance cannot be a row of it; "" where it may be one."""
    if missing := sorted(_FIELDS ^ set(row)):
        return f"{missing[0]}: a field too many or too few"
    if wrong := next((name for name in ("instance", "values") if not isinstance(row[name], dict)), None):
        return f"{wrong}: must be an object"
    if not isinstance(row["clauses"], list) or not all(isinstance(clause, dict) for clause in row["clauses"]):
        return "clauses: must be a list of objects"
    if wrong := next((name for name in ("detail", "error") if not isinstance(row[name], str)), None):
        return f"{wrong}: must be text"
    if not _finite(row):
        return "a number is not finite"
    seconds = row["seconds"]
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds < 0:
        return "seconds: must be a number >= 0"
    asked = json_numbers(point)
    if any(row["instance"].get(name, math.nan) != value for name, value in asked.items()):
        return "instance: is another one"
    if row["outcome"] is None:
        nothing = all(row[name] is None for name in ("in_scope", "claim", "evidence"))
        empty = not row["clauses"] and not row["values"]
        return "" if nothing and empty and row["error"] else "outcome: none, beside what has one"
    return _of_words(row) or _of_clauses(theorem, row["clauses"]) or _of_values(theorem, row) or _consistent(row)


def _finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _of_words(row: Mapping[str, Any]) -> str:
    for name, words in (("outcome", set(Outcome)), ("claim", _CLAIMS), ("evidence", {None, *_EVIDENCE})):
        if not isinstance(row[name], str | None) or row[name] not in words:
            return f"{name}: {row[name]!r} is no word for it"
    return "" if row["in_scope"] is None or isinstance(row["in_scope"], bool) else "in_scope: must be true, false, null"


def _of_clauses(theorem: Theorem, clauses: list[dict[str, Any]]) -> str:
    for clause in clauses:
        if not _OF_CLAUSE <= set(clause) <= _OF_CLAUSE | _FLOATS_OF_CLAUSE:
            return "clauses: a field too many or too few"
        label, holds, evidence = clause["label"], clause["holds"], clause["evidence"]
        if not isinstance(evidence, str | None) or evidence not in {None, *_EVIDENCE}:
            return f"clause {label}: {evidence!r} is no evidence"
        if not (holds is None or isinstance(holds, bool)) or (holds is not None and evidence is None):
            return f"clause {label}: holds must be null, or true or false with an evidence"
        if clause["rechecked"] is not (evidence in _EVIDENCE[:2]):
            return f"clause {label}: what is re-checked is proved or certified, and nothing else is"
        if not all(isinstance(clause[name], str) for name in ("detail", "unchecked")):
            return f"clause {label}: detail and unchecked must be text"
        if not isinstance(clause["witness"], dict):
            return f"clause {label}: witness must be an object"
        if not all(_number(clause[name]) for name in ("margin", "error")):
            return f"clause {label}: margin and error must be numbers"
        if not all(isinstance(clause.get(name), int | float | None) for name in _FLOATS_OF_CLAUSE):
            return f"clause {label}: margin_float and error_float must be numbers"
    if [clause["label"] for clause in clauses] != [clause.label for clause in theorem.statement.clauses]:
        return "clauses: are not those of the statement"
    return ""


def _number(value: Any) -> bool:
    """Whether a value is a number as JSON objects of ours have it: exact, an enclosure, or null."""
    if isinstance(value, dict):
        return set(value) == {"lower", "upper"} and all(not isinstance(e, dict) and _number(e) for e in value.values())
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _of_values(theorem: Theorem, row: Mapping[str, Any]) -> str:
    if not _named(row["values"], set(theorem.values)):
        return "values: are not those of the theorem"
    parameters = {parameter.name for parameter in theorem.statement.parameters}
    return "" if _named(row["instance"], parameters) else "instance: its names are not the parameters"


def _named(values: Mapping[str, Any], names: set[str]) -> bool:
    """Whether values have these names, their floats beside them or not."""
    return names <= set(values) <= names | {f"{name}_float" for name in names}


def _consistent(row: Mapping[str, Any]) -> str:
    """Return why the headline cannot be that of the clauses."""
    held = [clause["holds"] for clause in row["clauses"]]
    claim = Outcome.REFUTED if False in held else Outcome.INCONCLUSIVE if None in held else Outcome.VERIFIED
    if row["claim"] != claim:
        return f"claim: {row['claim']}, where the clauses say {claim}"
    in_scope, outcome = row["in_scope"], row["outcome"]
    # In scope, what a proof rests on may be missing, or the re-checker find a hypothesis to fail.
    possible = {None: {Outcome.INCONCLUSIVE}, False: {Outcome.OUT_OF_SCOPE}}
    if outcome not in possible.get(in_scope, {claim, Outcome.INCONCLUSIVE}):
        return f"outcome: {outcome}, where the clauses say {claim}"
    decides = {Outcome.VERIFIED: True, Outcome.REFUTED: False, Outcome.INCONCLUSIVE: None}[claim]
    deciding = [clause["evidence"] for clause in row["clauses"] if clause["holds"] is decides]
    # What a proof rests on may make it less, and nothing makes it more.
    if row["evidence"] is not None and (
        None in deciding or any(_EVIDENCE.index(row["evidence"]) < _EVIDENCE.index(each) for each in deciding)
    ):
        return f"evidence: {row['evidence']}, which is better than the clauses'"
    return ""


def differences(kept: Row, computed: Row) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs between a kept row and a new one of the same instance: by name, as kept and as found.

    In_scope, outcome, claim, evidence, what each clause says, and the values; floats that stand for themselves may
    differ by as much as is not known of them.
    """
    for name in COMPARED:
        before, after = (_part(row, name) for row in (kept, computed))
        if not _same(before, after):
            yield name, before, after


def _part(row: Row, name: str) -> Any:
    return {clause["label"]: clause["holds"] for clause in row["clauses"]} if name == "holds" else row[name]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_FLOATS_DIFFER)
    if isinstance(one, dict) and isinstance(other, dict):
        return set(one) == set(other) and all(_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)
