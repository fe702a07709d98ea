"""Rows of a sweep: the stored result of one instance, as a JSON object, and its key.

A row has the instance (exact), `in_scope`, the headline `outcome`, its `evidence` and `trusts`, `claim` (the claims'
outcome, in scope or not), the clauses, the reported values, `detail` and `seconds`. If the point is not an instance of
the statement, `outcome` and `claim` are null and `error` says why.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from verify.checking.check import check
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.language.parameters import Value
from verify.outcomes import CheckResult, Trust, json_numbers
from verify.runs.store import Key, settings_digest

DEVICE = "cpu"
NO_INSTANCE = "no_instance"
"""The outcome of a point that is not an instance of the statement."""
OUTCOMES = ("verified", "refuted", "inconclusive", NO_INSTANCE)
Row = dict[str, Any]
Point = Mapping[str, Value]


@dataclass(frozen=True)
class Effort:
    """The effort at each instance of a sweep, as in `verify.check`; with `certify` no instance is decided in float64.

    Claims in words are evaluated only with `certify`: their trials take longer than all else.
    """

    seconds: float
    seed: int
    certify: bool = False


def key_of(theorem: Theorem, instance: Point, effort: Effort, code: str) -> Key:
    """Return the store's key of a row: statement, instance, effort, code, seed."""
    asked = {
        "statement": theorem.statement.digest,
        "seconds": repr(float(effort.seconds)),
        "certify": str(effort.certify),
    }
    settings = {**{f"{name}=": value for name, value in instance.items()}, **asked}
    return Key(settings_digest(f"sweep {theorem.id}", settings), code, effort.seed, DEVICE)


def checked_row(theorem: Theorem, instance: Point, effort: Effort) -> Row:
    """Return the row of an instance by the exact check. Raises KeyboardInterrupt if Ctrl-C ended the check."""
    theorem = theorem if effort.certify else replace(theorem, evaluations={})
    try:
        result = check(theorem, instance, seconds=effort.seconds, seed=effort.seed)
    except InputError as error:
        # The point is outside the statement's domain, or a default has no value there.
        undecided = dict.fromkeys(("in_scope", "outcome", "claim", "evidence"))
        nothing = {"trusts": [], "clauses": [], "values": {}, "detail": "", "error": str(error), "seconds": 0.0}
        return {"instance": json_numbers(instance), **undecided, **nothing}
    if result.interrupted:
        raise KeyboardInterrupt
    return row_of(result)


def trusted(trusts: Iterable[Trust]) -> list[str]:
    """Return trusts as text, each with its name and version, sorted.

    Rows leave out the trusts' digests, which the code version in the key covers.
    """
    return sorted(map(str, trusts))


_SAID_ELSEWHERE = ("claim", "role", "for_all_parameters")
"""The keys of a clause that rows leave out: its claim and role, the same in every row, and its standing for all
parameters, which is not a result of the instance."""


def row_of(result: CheckResult) -> Row:
    """Return the row of a check."""
    body = result.to_json()
    clauses = [
        {name: part for name, part in clause.items() if name not in _SAID_ELSEWHERE} | {"trusts": trusted(found.trusts)}
        for clause, found in zip(body["clauses"], result.clauses, strict=True)
    ]
    return {
        "instance": body["instance"],
        "in_scope": result.in_scope,
        "outcome": result.outcome,
        "claim": result.claim_outcome,
        "evidence": result.evidence,
        "trusts": trusted(result.trusts),
        "clauses": clauses,
        "values": body["values"],
        "detail": result.detail,
        "error": "",
        "seconds": body["seconds"],
    }
