"""Check a theorem at an instance: its hypotheses, then every claim and step, in scope or not."""

import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from verify.budget import ended, until
from verify.checking.certificates import stated_values
from verify.checking.decide import Decider, Rechecked, both
from verify.checking.least_values import least
from verify.checking.reported_values import ClauseValue, ValueLargest, ValueLeast, ValueOver, ValueWhere
from verify.checking.standing import carried, shipped_proofs, standing
from verify.checking.theorem import Theorem, load_theorem
from verify.claims.context import MOST_WORK, Context
from verify.claims.inequality import Inequality
from verify.errors import InputError, OutOfTimeError, UndecidedError, UndefinedError
from verify.evaluation.instances import evaluate_hypothesis, hypothesis_result, parse, with_past
from verify.evaluation.iteration import Progress
from verify.evaluation.values import evaluate_rising
from verify.language.definedness import substituted
from verify.language.statement import Hypothesis
from verify.outcomes import (
    CheckResult,
    ClauseResult,
    Enclosure,
    Evidence,
    HypothesisResult,
    Outcome,
    scope,
)
from verify.printing import text_of

_LEAST_WORK = 5e6
"""What re-checking may cost where little time is given, in nominal microseconds."""
_LATE = 1.1
"""Times the time budget: when what does not look at the clock is ended, so that what does may end by itself."""
_PARTING = 0.3
"""Seconds added to that: a tenth of a small budget is little to end in."""


def check(
    theorem: Theorem,
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
        Values of all parameters, as text or as exact numbers; those with a default may be absent.
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
        For a value that is not understood, missing, unknown or outside its domain, and for seconds or digits out of
        range.
    TheoremError
        Where the theorem itself, such as a primitive of its own, is at fault.
    """
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    if not 1 <= digits <= 1000:
        raise InputError("digits", digits, "must be an integer from 1 to 1000")
    with until(time.monotonic() + seconds):
        proofs = shipped_proofs(theorem) if shipped else {}
        started, statement = time.monotonic(), theorem.statement
        instance = parse(statement, given)
        specialised = statement.specialised(instance)
        # What does not look at the clock is ended a little later.
        late = started + _LATE * seconds + _PARTING
        hypotheses = tuple(_held(hypothesis, instance, late) for hypothesis in specialised.hypotheses)
        in_scope = scope(hypotheses) is True
        context = Context(
            specialised,
            instance,
            theorem.proofs,
            started + seconds,
            digits=digits,
            progress=progress,
            iterate_until=started + 0.8 * seconds,
            in_scope=in_scope,
            for_all={
                c.label: statement.for_all(c, in_scope=in_scope, hypotheses=True)
                for c in statement.clauses
                if statement.for_all(c, in_scope=in_scope, hypotheses=False)
            },
            shipped=proofs,
            work=min(MOST_WORK, max(_LEAST_WORK, 1e6 * seconds)),
            late=late,
        )
        decider = Decider(statement, context)
        clauses = decider.clauses()
        results = {clause.label: clause for clause in clauses}
        values, without, rechecked = dict[str, Any](), dict[str, str](), dict[str, Rechecked]()
        for name, value in theorem.values.items():
            try:
                asked = statement.specialise(value, instance)
                values[name], rechecked[name] = ended(late, _reported, asked, results, decider)
            except (UndefinedError, UndecidedError, OutOfTimeError) as error:
                values[name], without[name] = None, str(error)
        proved = {clause.label: clause.trusts for clause in clauses if clause.evidence is Evidence.PROVED}
        refuted = {c.label: "here" for c in clauses if in_scope and c.outcome is Outcome.REFUTED}
        by_clause, for_all = carried(theorem, proved, refuted)
        confirmed, doubt = decider.scope() if in_scope else (None, "")
        return CheckResult(
            theorem=theorem.id,
            statement_digest=statement.digest,
            instance=instance,
            hypotheses=hypotheses,
            clauses=clauses,
            values=values,
            seed=seed,
            seconds=time.monotonic() - started,
            digits=digits,
            interrupted=context.interrupted,
            for_all=for_all,
            carried=by_clause,
            rests_on={name: standing(load_theorem(name)).for_all for name in theorem.proof_uses},
            without=without,
            rechecked={name: known is not None for name, known in rechecked.items()},
            value_trusts={name: tuple(sorted(known)) for name, known in rechecked.items() if known},
            scope_confirmed=confirmed,
            scope_doubt=doubt,
            scope_trusts=decider.scope_trusts() if any(clause.rechecked for clause in clauses) else (),
            statement=theorem.statement,
        )


def _reported(value: Any, results: Mapping[str, ClauseResult], decider: Decider) -> tuple[Any, Rechecked]:
    """Return a reported value, None where it means nothing, and whether the re-checker finds it too.

    UndefinedError or UndecidedError where there is none.
    """
    context = decider.context
    if isinstance(value, ClauseValue):
        clause = results[value.clause]
        number = clause.values.get(value.name)
        shown = clause.rechecked and stated_values(clause.proof or {}).get(value.name, ...) == number
        return number, frozenset(clause.trusts) if shown else None
    if isinstance(value, ValueWhere | tuple):
        return _first_applicable(value if isinstance(value, tuple) else (value,), decider)
    if isinstance(value, Relational):
        return _holds(value, decider)
    if isinstance(value, ValueLargest):
        numbers = [_valued(expression, decider, exact=True) for expression in value.expressions]
        return max(number for number, _ in numbers), both(*(same for _, same in numbers))
    if isinstance(value, ValueLeast):
        return least(value, context), None
    if isinstance(value, ValueOver):
        return _over(value, decider)
    return _valued(value, decider)


def _valued(expression: sp.Basic, decider: Decider, *, exact: bool = False) -> tuple[Fraction | Enclosure, Rechecked]:
    context = decider.context
    value = context.exact(expression) if exact else context.shown(expression)
    return value, decider.rechecks_value(expression, value)


def _first_applicable(cases: tuple[ValueWhere, ...], decider: Decider) -> tuple[Any, Rechecked]:
    """Return the value of the first case that applies, None where none does. Raises UndecidedError."""
    rechecked: Rechecked = frozenset()
    for case in cases:
        for relation in case.relations:
            holds, same = _holds(relation, decider)
            rechecked = both(rechecked, same)
            if not holds:
                break
        else:
            value, same = _valued(case.expression, decider)
            return value, both(rechecked, same)
    return None, rechecked


def _holds(relation: Relational, decider: Decider) -> tuple[bool, Rechecked]:
    """Return whether a relation holds at the instance, and whether that was re-checked.

    Raises UndecidedError where it is not decided: no other case may then count.
    """
    result = decider.decide(Inequality("holds", relation))
    if result.holds is None:
        raise UndecidedError(f"{text_of(relation)}: not decided here: {result.detail}")
    return result.holds, frozenset(result.trusts) if result.rechecked else None


def _over(value: ValueOver, decider: Decider) -> tuple[Any, Rechecked]:
    """Return a value at each entry of a list, exactly, or the sum of all, and whether each was found again.

    Raises UndefinedError for one without a value.
    """
    context = decider.context

    def exact(term: sp.Expr, numbers: Mapping[sp.Symbol, Fraction]) -> tuple[Fraction, Rechecked]:
        if time.monotonic() > context.deadline:
            raise UndefinedError("the time ran out")
        expression = sp.sympify(term)
        result, _ = evaluate_rising(expression, {**context.instance, **{s.name: x for s, x in numbers.items()}})
        if not isinstance(result, Fraction):
            raise UndefinedError(f"{text_of(expression)}: a rational value is needed here")
        rationals = {symbol: sp.Rational(x.numerator, x.denominator) for symbol, x in numbers.items()}
        return result, decider.rechecks_value(substituted(expression, rationals), result)

    entries, sums, known = context.instance[value.parameter], dict[sp.Symbol, Fraction](), list[Rechecked]()
    for symbol, term in value.sums.items():
        terms = [exact(term, {value.entry: x}) for x in entries]  # pyright: ignore[reportGeneralTypeIssues]
        sums[symbol] = sum((number for number, _ in terms), Fraction(0))
        known += [same for _, same in terms]
    results = [exact(value.expression, {**sums, value.entry: x}) for x in entries]  # pyright: ignore[reportGeneralTypeIssues]
    numbers, same = [number for number, _ in results], both(*known, *(same for _, same in results))
    return sum(numbers, Fraction(0)) if value.total else numbers, same


def _held(hypothesis: Hypothesis, instance: Mapping[str, Any], late: float) -> HypothesisResult:
    try:
        result = ended(late, evaluate_hypothesis, hypothesis, instance)
        return ended(late, with_past, hypothesis, result, instance)
    except OutOfTimeError as error:
        return hypothesis_result(hypothesis, holds=None, detail=f"undecided: {error}")
