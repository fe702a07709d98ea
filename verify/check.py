"""Check a theorem at an instance: its hypotheses, then every clause of its claim, in scope or not."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from verify.claims import Context
from verify.conditions import check_domain, evaluate_hypothesis
from verify.dynamics import Progress
from verify.errors import InputError, NotExactError, UndefinedError
from verify.outcomes import CheckResult, ClauseResult, Outcome
from verify.parameters import parse_instance
from verify.statement import ClauseValue

if TYPE_CHECKING:
    from verify.statement import Theorem


def check(
    theorem: "Theorem",
    given: Mapping[str, Any],
    *,
    seconds: float = 60,
    digits: int = 17,
    seed: int = 0,
    progress: Progress | None = None,
) -> CheckResult:
    """Check `theorem` at an instance.

    Parameters
    ----------
    given
        Values of all parameters, as text or as exact numbers.
    seconds
        Time budget; what is not decided within it is inconclusive.
    digits
        Significant digits of enclosures.
    seed
        Seed of whatever is random; an exact check uses none and repeats it.
    progress
        Called now and then with the step at which a recursion stands.

    Raises
    ------
    InputError
        For a value that is not understood, missing, unknown or outside its domain.
    """
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    if not 1 <= digits <= 1000:
        raise InputError("digits", digits, "must be an integer from 1 to 1000")
    started = time.monotonic()
    statement = theorem.statement
    instance = parse_instance(statement.parameters, given, partial=False)
    check_domain(statement, instance)
    hypotheses = tuple(evaluate_hypothesis(hypothesis, instance) for hypothesis in statement.hypotheses)
    context = Context(statement, instance, theorem.proofs, started + seconds, digits, progress)
    clauses = tuple(_evaluate(clause, context) for clause in statement.clauses)
    found = {clause.label: clause.values for clause in clauses}
    values: dict[str, Any] = {}
    for name, value in theorem.values.items():
        values[name] = found[value.clause].get(value.name) if isinstance(value, ClauseValue) else context.value(value)
    return CheckResult(
        theorem.id,
        statement.digest,
        instance,
        hypotheses,
        clauses,
        values,
        seed,
        time.monotonic() - started,
        digits,
        context.interrupted,
    )


def _evaluate(clause: Any, context: Context) -> ClauseResult:
    try:
        return clause.evaluate(context)
    except (UndefinedError, NotExactError, ZeroDivisionError) as error:
        return ClauseResult(clause.label, clause.text, Outcome.INCONCLUSIVE, None, detail=f"no value here: {error}")
