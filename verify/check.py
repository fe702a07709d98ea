"""Check a theorem at an instance: its hypotheses, then every clause of its claim, in scope or not."""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.relational import Relational

from verify.budget import ended, until
from verify.certificates import refused
from verify.claims import Context, Inequality
from verify.conditions import evaluate_hypothesis
from verify.dynamics import Progress
from verify.errors import InputError, NotExactError, OutOfTimeError, UndecidedError, UndefinedError
from verify.evaluation import evaluate_rising, sign_of
from verify.evidence import shipped_proofs, standing
from verify.outcomes import CheckResult, ClauseResult, Evidence, HypothesisResult, Outcome, scope
from verify.registry import load_theorem
from verify.values import ClauseValue, ValueLargest, ValueLeast, ValueOver, ValueWhere

if TYPE_CHECKING:
    from verify.statement import Hypothesis, Statement
    from verify.theorem import Theorem

_LATE, _PARTING = 1.1, 0.3
"""Times the time budget, and so many seconds: when what does not look at the clock is ended."""


def check(
    theorem: "Theorem",
    given: Mapping[str, Any],
    *,
    seconds: float = 60,
    digits: int = 17,
    seed: int = 0,
    progress: Progress | None = None,
    shipped: bool = True,
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
    shipped
        Whether a proof for all parameters that the theorem's package ships is taken where the re-checker accepts it;
        else, and where there is none, one is looked for.

    Raises
    ------
    InputError
        For a value that is not understood, missing, unknown or outside its domain.
    """
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    if not 1 <= digits <= 1000:
        raise InputError("digits", digits, "must be an integer from 1 to 1000")
    with until(time.monotonic() + seconds):
        return _checked(theorem, given, seconds, digits, seed, progress, shipped_proofs(theorem) if shipped else {})


def _checked(
    theorem: "Theorem",
    given: Mapping[str, Any],
    seconds: float,
    digits: int,
    seed: int,
    progress: Progress | None,
    shipped: Mapping[str, Any],
) -> CheckResult:
    started = time.monotonic()
    statement = theorem.statement
    instance = statement.parse(given)
    # What does not look at the clock is ended a little later.
    late = started + _LATE * seconds + _PARTING
    hypotheses = tuple(_held(hypothesis, instance, late) for hypothesis in statement.at(instance).hypotheses)
    in_scope = scope(hypotheses) is True
    context = Context(
        statement.at(instance),
        instance,
        theorem.proofs,
        started + seconds,
        digits=digits,
        progress=progress,
        iterate_until=started + 0.8 * seconds,
        in_scope=in_scope,
        for_all=frozenset(c.label for c in statement.clauses if statement.for_all(c, in_scope=in_scope)),
        shipped=shipped,
    )
    found_here = tuple(_evaluate(clause, context, late) for clause in context.statement.clauses)
    clauses = _accepted(statement, context, found_here, late)
    found = {clause.label: clause.values for clause in clauses}
    values: dict[str, Any] = {}
    without: dict[str, str] = {}
    for name, value in theorem.values.items():
        try:
            values[name] = ended(late, _reported, statement.decided(value, instance), found, context)
        except (UndefinedError, UndecidedError, OutOfTimeError) as error:
            values[name], without[name] = None, str(error)
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
        {name: standing(load_theorem(name)).evidence for name in theorem.proof_uses},
        without,
    )


def _reported(value: Any, found: Mapping[str, Mapping[str, Any]], context: Context) -> Any:
    """Return a reported value, None where it means nothing. UndefinedError or UndecidedError where there is none."""
    if isinstance(value, ClauseValue):
        return found[value.clause].get(value.name)
    if isinstance(value, ValueWhere | tuple):
        cases = value if isinstance(value, tuple) else (value,)
        return next((context.value(c.expression) for c in cases if _all_hold(c.relations, context)), None)
    if isinstance(value, Relational):
        return _holds(value, context)
    if isinstance(value, ValueLargest):
        return max(map(context.exact, value.expressions))
    if isinstance(value, ValueLeast):
        return _least(value, context)
    if isinstance(value, ValueOver):
        return _over(value, context)
    return context.value(value)


def _holds(relation: Relational, context: Context) -> bool:
    """Return whether a relation holds at the instance. Raises UndecidedError where that is not decided."""
    found = Inequality("holds", relation).evaluate(context).holds
    if found is None:
        raise UndecidedError(f"{relation}: not decided here")
    return found


def _all_hold(relations: Iterable[Relational], context: Context) -> bool:
    """Whether all relations hold. Raises UndecidedError where one is not decided: no other case may then count."""
    return all(_holds(relation, context) for relation in relations)


def _least(value: ValueLeast, context: Context) -> int:
    """Return the least value in the range that is enough, by bisection; each comparison is rigorous.

    That the value is enough, and the one below it, where the range has it, is not, are the last comparisons made.
    UndefinedError where one is undecided, or no value in the range is enough.
    """
    level, lowest, highest = value.ends()
    low, high = math.ceil(context.exact(lowest)), math.floor(context.exact(highest))
    excesses = [context.statement.expand(expression - level) for expression in value.expressions]

    def enough(at: int) -> bool:
        for excess in excesses:
            if time.monotonic() > context.deadline:
                raise UndefinedError("the time ran out")
            sign = sign_of(evaluate_rising(excess, {**context.instance, value.parameter: at}, sign=True)[0])
            if sign is None:
                raise UndefinedError(f"{excess}: the sign is undecided at {value.parameter} = {at}")
            if sign > 0:
                return False
        return True

    if low > high or not enough(high):
        raise UndefinedError(f"no integer from {low} to {high} is enough")
    if enough(low):
        return low
    # Always: not enough at `low`, enough at `high`.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _over(value: ValueOver, context: Context) -> Any:
    """Return a value at each entry of a list, exactly, or the sum of all. Raises UndefinedError for one without."""

    def exact(expression: sp.Expr, **more: Any) -> Fraction:
        if time.monotonic() > context.deadline:
            raise UndefinedError("the time ran out")
        found, _ = evaluate_rising(sp.sympify(expression), {**context.instance, **more})
        if not isinstance(found, Fraction):
            raise UndefinedError(f"{expression}: a rational value is needed here")
        return found

    entries, name = context.instance[value.parameter], value.entry.name
    sums = {
        symbol.name: sum((exact(term, **{name: x}) for x in entries), Fraction(0))
        for symbol, term in value.sums.items()
    }
    listed = [exact(value.expression, **sums, **{name: x}) for x in entries]
    return sum(listed, Fraction(0)) if value.total else listed


def _held(hypothesis: "Hypothesis", instance: Mapping[str, Any], late: float) -> HypothesisResult:
    try:
        return ended(late, evaluate_hypothesis, hypothesis, instance)
    except OutOfTimeError as error:
        shown = hypothesis.label, hypothesis.kind, hypothesis.statement
        return HypothesisResult(*shown, holds=None, slack=None, detail=f"undecided: {error}")


def _accepted(
    statement: "Statement", context: Context, clauses: tuple[ClauseResult, ...], late: float
) -> tuple[ClauseResult, ...]:
    """Return the clauses, proved only where the re-checker accepts it, else as they are found at the instance."""
    proved = [clause for clause in clauses if clause.evidence is Evidence.PROVED]
    if not proved:
        return clauses
    try:
        why = ended(late, refused, statement, context.instance, proved)
    except OutOfTimeError as error:
        why = {clause.label: str(error) for clause in proved}
    except KeyboardInterrupt:
        context.interrupt()
        why = {clause.label: "interrupted" for clause in proved}
    if why.keys() & context.shipped.keys() and not context.interrupted:
        # What was shipped is not accepted, or not here: what is found is.
        context.shipped = {}
        fresh = {c.label: _evaluate(c, context, late) for c in context.statement.clauses if c.label in why}
        return _accepted(statement, context, tuple(fresh.get(clause.label, clause) for clause in clauses), late)
    context.for_all = frozenset()
    again = {c.label: _evaluate(c, context, late) for c in context.statement.clauses if c.label in why}
    said = {label: f"{found.detail}; a proof for all is not accepted: {why[label]}" for label, found in again.items()}
    found = {label: replace(result, detail=said[label]) for label, result in again.items()}
    return tuple(found.get(clause.label, clause) for clause in clauses)


def _evaluate(clause: Any, context: Context, late: float) -> ClauseResult:
    try:
        return ended(late, clause.evaluate, context)
    except OutOfTimeError as error:
        return ClauseResult(clause.label, clause.text, Outcome.INCONCLUSIVE, None, detail=str(error))
    except KeyboardInterrupt:
        context.interrupt()
        return ClauseResult(clause.label, clause.text, Outcome.INCONCLUSIVE, None, detail="interrupted")
    except (UndefinedError, UndecidedError, NotExactError, ZeroDivisionError) as error:
        return ClauseResult(clause.label, clause.text, Outcome.INCONCLUSIVE, None, detail=f"no value here: {error}")
