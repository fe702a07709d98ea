"""The verdict of a check on a drawn statement, compared with the truth."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.verify.statements.numbers import UnsureError, lifted
from tests.verify.statements.specimens import Specimen
from verify import Enclosure, Evidence, InputError, Outcome, TheoremError

VERIFIED, REFUTED, RAISED = "wrongly verified", "wrongly refuted", "raised"
SECONDS = 2


@dataclass(frozen=True)
class Fault:
    """One wrong verdict: its kind, and its description."""

    kind: str
    what: str


def judged(specimen: Specimen, check: Any) -> tuple[list[Fault], bool, Any]:
    """Check a statement; return the wrong verdicts, whether everything of known truth was decided, and the result."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = check(specimen.theorem, specimen.instance, seconds=SECONDS)
    except (InputError, TheoremError) as error:
        # Inside the domain a refused clause is not decided, but nothing false is said about it.
        return [], specimen.refused and isinstance(error, InputError), error
    except Exception as error:
        return [Fault(RAISED, f"{type(error).__name__}: {error}")], False, error
    if specimen.refused:
        return [Fault(VERIFIED, f"outside the domain, and not refused: {result.outcome}")], False, result
    faults = [*_hypotheses(specimen, result), *_clauses(specimen, result), *_values(specimen, result)]
    faults += _headline(specimen, result) if not faults else []
    return faults, not faults and _decided(specimen, result), result


def _hypotheses(specimen: Specimen, result: Any) -> list[Fault]:
    found = []
    for held in result.hypotheses:
        right = specimen.hypotheses[held.label](specimen.instance)
        if held.holds is not None and held.holds != right:
            kind = VERIFIED if held.holds else REFUTED
            found.append(Fault(kind, f"hypothesis {held.label} is {right}, and is said to be {held.holds}"))
    return found


def _clauses(specimen: Specimen, result: Any) -> list[Fault]:
    found = []
    for clause in result.clauses:
        right = specimen.clauses[clause.label](specimen.instance)
        if clause.outcome is Outcome.VERIFIED and right is not True:
            found.append(Fault(VERIFIED, f"clause {clause.label} is {_shown(right)}"))
        if clause.outcome is Outcome.REFUTED and right is not False:
            found.append(Fault(REFUTED, f"clause {clause.label} is {_shown(right)}"))
        if clause.outcome is Outcome.VERIFIED and clause.evidence is Evidence.PROVED and not found:
            found += _for_all(specimen, clause.label)
    return found


def _for_all(specimen: Specimen, label: str) -> list[Fault]:
    """Return the faults at other instances in scope, where a clause that is proved for all parameters must hold too."""
    for other in specimen.others:
        try:
            right = not specimen.in_scope(other) or specimen.clauses[label](other)
        except UnsureError:
            continue
        if right is not True:
            return [Fault(VERIFIED, f"clause {label} is proved for all parameters, and is {_shown(right)} at {other}")]
    return []


def _shown(truth: bool | None) -> str:
    return "without a value" if truth is None else str(truth).lower()


def _values(specimen: Specimen, result: Any) -> list[Fault]:
    found = []
    for name, expected in specimen.values.items():
        right, reported = expected(specimen.instance), result.values[name]
        if reported is not None and not agrees(reported, right):
            found.append(Fault(VERIFIED, f"value {name} is {right}, and {reported} is reported"))
    return found


def agrees(reported: Any, right: Any) -> bool:
    """Whether a reported value is right; an enclosure must contain the right value."""
    if right is None:
        return False
    if isinstance(right, tuple) and right and right[0] == "any of":
        return any(agrees(reported, one) for one in right[1:])
    if isinstance(right, list):
        same_length = isinstance(reported, list | tuple) and len(reported) == len(right)
        return same_length and all(agrees(x, y) for x, y in zip(reported, right, strict=True))
    if isinstance(right, bool) or isinstance(reported, bool):
        return reported is right
    if isinstance(reported, Enclosure):
        low, high = (None if end is None else lifted(Fraction(end)) for end in (reported.lower, reported.upper))
        right = lifted(Fraction(right)) if isinstance(right, int) else lifted(right)
        return (low is None or (low > right) is not True) and (high is None or (high < right) is not True)
    if isinstance(right, Fraction | int):
        return reported == right
    # The interval is so narrow that it contains a wrong number only by accident.
    exact = lifted(Fraction(reported))
    return (exact < right) is not True and (exact > right) is not True


def _headline(specimen: Specimen, result: Any) -> list[Fault]:
    """Return the faults of the headline, which must not claim more than the clauses."""
    truths = [truth(specimen.instance) for truth in specimen.clauses.values()]
    scope = specimen.in_scope(specimen.instance)
    if result.outcome is Outcome.VERIFIED and not (scope and all(truth is True for truth in truths)):
        return [Fault(VERIFIED, "the whole")]
    if result.outcome is Outcome.REFUTED and not (scope and False in truths):
        return [Fault(REFUTED, "the whole")]
    if result.outcome is Outcome.OUT_OF_SCOPE and scope:
        return [Fault(REFUTED, "the whole is in scope")]
    return []


def _decided(specimen: Specimen, result: Any) -> bool:
    if not specimen.in_scope(specimen.instance):
        return result.outcome is Outcome.OUT_OF_SCOPE
    known = [clause for clause in result.clauses if specimen.clauses[clause.label](specimen.instance) is not None]
    wanted = [name for name, expected in specimen.values.items() if expected(specimen.instance) is not None]
    return all(clause.holds is not None for clause in known) and all(result.values[n] is not None for n in wanted)


def shown(specimen: Specimen, seed: str, faults: list[Fault], result: Any) -> str:
    """Return a wrong verdict's statement and result as text, with the command that draws the statement again."""
    statement = specimen.theorem.statement
    lines = [f"{seed} ({specimen.kind}) at {_instance(specimen.instance)}"]
    lines += [f"  {name} = {value}" for name, value in statement.definitions.items()]
    lines += [f"  for all {v} {sorted(k for k, w in v.assumptions0.items() if w)}" for v in statement.variables]
    lines += [f"  domain {relation}" for relation in statement.domain]
    lines += [f"  hypothesis {h.label}: {h.statement}" for h in statement.hypotheses]
    lines += [f"  clause {clause.label}: {clause.text}" for clause in statement.clauses]
    lines += [f"  from {d.initial} by {d.step}" for c in statement.clauses if (d := getattr(c, "dynamics", None))]
    lines += [f"  value {name}: {value}" for name, value in specimen.theorem.values.items()]
    lines += [f"  {fault.kind}: {fault.what}" for fault in faults]
    for clause in getattr(result, "clauses", ()):
        lines.append(f"  said of {clause.label}: {clause.outcome} ({clause.evidence}) {clause.detail}")
    lines.append(f"  again: AUDIT={seed} python -m pytest tests/verify/statements --audit -m audit")
    return "\n".join(lines)


def _instance(instance: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in instance.items())
