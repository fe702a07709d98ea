"""The report of a failed test: a check whose outcome is not the expected one."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sympy as sp

from verify.checking.theorem import Theorem, reference_of
from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation.values import evaluate_rising
from verify.language.parameters import Instance
from verify.language.statement import ClauseData
from verify.outcomes import CheckResult, Outcome, assignments_text, number_text

_DIGITS = 10


def failure_text(theorem: Theorem, result: CheckResult, expected: str, seconds: float) -> str:
    """Return the report of a failure: found and expected outcome, the sides of each unverified clause, and the command.

    `seconds` is the time budget of the check.
    """
    lines = [f"{theorem.id} at {assignments_text(result.instance)}: {result.outcome}, expected {expected}"]
    for hypothesis in result.hypotheses:
        if not hypothesis.holds:
            slack = "" if hypothesis.slack is None else f", slack {number_text(hypothesis.slack, _DIGITS)}"
            lines.append(f"  {hypothesis.status} {hypothesis.label}: {hypothesis.statement}{slack}")
    clauses = {clause.label: clause for clause in theorem.statement.clauses}
    for found in result.clauses:
        if found.outcome is Outcome.VERIFIED:
            continue
        evidence = f" ({found.how_sure})" if found.evidence else ""
        lines.append(f"  {found.outcome}{evidence} {found.label}: {found.claim}")
        lines += [f"    {name} = {side}" for name, side in sides(theorem, clauses[found.label], found.witness, result)]
        lines += [f"    {found.detail}"] if found.detail else []
    return "\n".join([*lines, f"rerun: {command_of(theorem, result.instance, seconds)}"])


def sides(
    theorem: Theorem, clause: ClauseData, witness: Mapping[str, Any], result: CheckResult
) -> Iterator[tuple[str, str]]:
    """Yield `left` and `right` of a clause with two sides, each with its value at the instance and the witness."""
    both = (getattr(clause, "left", None), getattr(clause, "right", None))
    if clause.relation is not None:
        both = clause.relation.args
    for name, side in zip(("left", "right"), both, strict=True):
        if side is None:
            continue
        known = {**{n: x for n, x in witness.items() if not isinstance(x, str)}, **result.instance}
        try:
            expanded = theorem.statement.expand(theorem.statement.specialise(sp.sympify(side), result.instance))
            value, _ = evaluate_rising(expanded, known, digits=_DIGITS)
        except (TheoremError, UndecidedError, UndefinedError) as error:
            yield name, f"{side}, without a value: {error}"
        else:
            yield name, f"{side} = {number_text(value, _DIGITS)}"


def command_of(theorem: Theorem, instance: Instance, seconds: float) -> str:
    """Return the command that checks a theorem at an instance again, or a text that says why there is none."""
    reference = reference_of(theorem)
    if reference is None:
        return "none: this theorem is not a named variable of a module"
    path, colon, name = reference[0].rpartition(":")
    if colon and Path(path).is_relative_to(Path.cwd()):
        path = str(Path(path).relative_to(Path.cwd()))
    words = [f"{path}{colon}{name}", *(f"{key}={number_text(value)}" for key, value in instance.items())]
    return shlex.join(["verify", "check", *words, "--seconds", f"{seconds:g}"])
