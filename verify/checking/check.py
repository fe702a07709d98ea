"""Check a theorem at an instance: its hypotheses, then every claim and step, also out of scope."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from verify.budget import MOST_WORK, Budget, ended, require_effort, until
from verify.checking.certificates import stated_values
from verify.checking.decide import Decider, Rechecked, both, proofs_for_all, uninterrupted
from verify.checking.least_values import least
from verify.checking.reported_values import ClauseValue, ValueLargest, ValueLeast, ValueOver, ValueWhere
from verify.checking.standing import established, shipped_proofs, standing
from verify.checking.theorem import Theorem, load_theorem
from verify.claims.in_words import InWords
from verify.claims.inequality import Inequality
from verify.claims.question import Proof, Proofs, Question, exact_value
from verify.errors import InputError, OutOfTimeError, UndecidedError, UndefinedError, meant
from verify.evaluation.instances import evaluate_hypothesis, hypothesis_result, parse, with_past
from verify.evaluation.iteration import INTERRUPTED, Progress
from verify.language.definedness import substituted
from verify.language.statement import Hypothesis, Statement
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
from verify.provers.multipliers import Multipliers

_LEAST_WORK = 5e6
"""Minimum limit on the cost of re-checking, in nominal microseconds, for every time budget."""
_HARD_END = 1.1
"""Multiple of the time budget after which code that does not check the deadline is ended."""
_GRACE = 0.3
"""Seconds added to that time: a tenth of a small budget is too short for code that does check the deadline."""


def check(
    theorem: Theorem,
    given: Mapping[str, Any],
    *,
    seconds: float = 60,
    digits: int = 17,
    seed: int = 0,
    progress: Progress | None = None,
    use_certificate: bool = True,
) -> CheckResult:
    """Check `theorem` at an instance.

    Parameters
    ----------
    given
        Values of all parameters, as text or as exact numbers; those with a default may be absent.
    seconds
        Time budget; a clause that is not decided within it is inconclusive.
    digits
        Significant digits of enclosures.
    seed
        Seed of random draws; an exact check does not use it, and reports it unchanged.
    progress
        Function that is called now and then with the number of the current step of a recursion.
    use_certificate
        Whether to take a proof for all parameters from the certificate in the theorem's package, if the re-checker
        accepts it. Otherwise, and without a certificate, a proof is searched for.

    Raises
    ------
    InputError
        For a value that is not understood, missing, unknown or outside its domain, and for seconds or digits out of
        range.
    TheoremError
        If the theorem itself is at fault, for example one of its primitives.
    """
    require_effort(seconds=seconds, digits=digits)
    with until(time.monotonic() + seconds):
        kept = shipped_proofs(theorem, shared=True) if use_certificate else {}
        started, statement = time.monotonic(), theorem.statement
        budget = Budget(
            end=started + seconds,
            hard_end=started + _HARD_END * seconds + _GRACE,
            runs_end=started + 0.8 * seconds,
            work=min(MOST_WORK, max(_LEAST_WORK, 1e6 * seconds)),
        )
        instance = parse(statement, given)
        specialised = statement.specialised(instance)
        hypotheses = tuple(_held(hypothesis, instance, budget.hard_end) for hypothesis in specialised.hypotheses)
        in_scope = scope(hypotheses) is True
        question = Question(specialised, instance, budget, in_scope, digits, theorem.proofs, progress)
        question = replace(question, evaluations=theorem.evaluations, seed=seed)
        decider = Decider(statement, instance, budget.work)
        clauses, question = decider.clauses(question, _proofs(statement, question, kept))
        values, question = _values(theorem, clauses, decider, question)
        found, question = (
            uninterrupted(question, decider.scope, budget.hard_end) if in_scope else ((None, ""), question)
        )
        confirmed, doubt = found or (None, INTERRUPTED)
        return CheckResult(
            theorem=theorem.id,
            statement_digest=statement.digest,
            instance=instance,
            hypotheses=hypotheses,
            seed=seed,
            seconds=time.monotonic() - started,
            digits=digits,
            interrupted=question.interrupted,
            scope_trusts=decider.scope_trusts() if any(clause.rechecked for clause in clauses) else (),
            scope_confirmed=confirmed,
            scope_doubt=doubt,
            statement=statement,
            **values,
            **_standings(theorem, clauses, in_scope=in_scope),
        )


def check_wrong(
    theorem: Theorem, label: str, given: Mapping[str, Any], *, seconds: float = 60, seed: int = 0
) -> ClauseResult:
    """Return the result for the wrong variant of a claim in words at an instance; it should be a refutation.

    Raises InputError for a label without an evaluation.
    """
    evaluation = theorem.evaluations.get(label)
    if evaluation is None:
        raise InputError("label", label, meant(label, theorem.evaluations, "there are evaluations for"))
    end, statement = time.monotonic() + seconds, theorem.statement
    wrong = InWords(label, evaluation.wrong)
    # For a limit, a violation leaves the claim undecided, but it must refute the wrong variant.
    sampled = evaluation.sampled or evaluation.limit
    evaluations = {label: replace(evaluation, trials=evaluation.wrong_trials, sampled=sampled, limit=False)}
    instance = parse(statement, given)
    question = Question(statement.specialised(instance), instance, Budget(end), evaluations=evaluations, seed=seed)
    return Decider(statement, instance).decide(wrong, question)


def _proofs(statement: Statement, question: Question, kept: Mapping[str, Proof]) -> Iterator[Proofs]:
    """Yield each clause's proofs for all parameters; none if they would hold only for the words of the instance."""
    in_scope = question.in_scope
    for clause, specialised in zip(statement.clauses, question.statement.clauses, strict=True):
        if statement.for_all(clause, in_scope=in_scope, hypotheses=False):
            by = question.proofs.get(clause.label)
            by = by if isinstance(by, Multipliers) else None
            kept_here = by is None and (in_scope or not clause.rests_on_hypotheses)
            certificate = kept.get(clause.label) if kept_here else None
            hypotheses = in_scope and statement.for_all(clause, in_scope=True, hypotheses=True)
            more = {"certificate": certificate, "by": by, "hypotheses": hypotheses}
            yield proofs_for_all(specialised, question.statement, **more)
        else:
            yield iter(())


def _values(
    theorem: Theorem, clauses: Iterable[ClauseResult], decider: Decider, question: Question
) -> tuple[dict[str, Any], Question]:
    """Return the reported values, the reasons for absent ones, the re-checks, and the question with the time left."""
    results = {clause.label: clause for clause in clauses}
    values, without, rechecked = dict[str, Any](), dict[str, str](), dict[str, Rechecked]()
    for name, value in theorem.values.items():
        try:
            asked, hard_end = theorem.statement.specialise(value, question.instance), question.budget.hard_end
            values[name], rechecked[name] = ended(hard_end, _reported, asked, results, decider, question)
        except (UndefinedError, UndecidedError, OutOfTimeError) as error:
            values[name], without[name] = None, str(error)
        except KeyboardInterrupt:
            values[name], without[name], question = None, INTERRUPTED, question.after_interrupt()
    return {
        "values": values,
        "without": without,
        "rechecked": {name: known is not None for name, known in rechecked.items()},
        "value_trusts": {name: tuple(sorted(known)) for name, known in rechecked.items() if known},
    }, question


def _standings(theorem: Theorem, clauses: Iterable[ClauseResult], *, in_scope: bool) -> dict[str, Any]:
    """Return the clauses with their standings, and the standings of the claims and of the theorems used."""
    proved = {clause.label: clause.trusts for clause in clauses if clause.evidence is Evidence.PROVED}
    refuted = {c.label: "here" for c in clauses if in_scope and c.outcome is Outcome.REFUTED}
    by_clause, for_all = established(theorem, proved, refuted)
    return {
        "clauses": tuple(replace(clause, for_all_parameters=by_clause[clause.label]) for clause in clauses),
        "for_all_parameters": for_all,
        "rests_on": {name: standing(load_theorem(name)).for_all_parameters for name in theorem.proof_uses},
    }


def _reported(
    value: Any, results: Mapping[str, ClauseResult], decider: Decider, question: Question
) -> tuple[Any, Rechecked]:
    """Return a reported value (None if it does not apply here), and the trusts if the re-checker confirms it.

    Raises UndefinedError or UndecidedError if the value cannot be computed.
    """
    if isinstance(value, ClauseValue):
        clause = results[value.clause]
        number = clause.values.get(value.name)
        if number is not None and clause.evidence is Evidence.PROVED:
            # A proof for all parameters does not state the value at the instance: decide the clause there.
            (asked,) = (each for each in question.statement.clauses if each.label == value.clause)
            clause = decider.decide(asked, replace(question, for_all=iter(())))
        shown = clause.rechecked and stated_values(clause.proof or {}).get(value.name, ...) == number
        return number, frozenset(clause.trusts) if shown else None
    if isinstance(value, ValueWhere | tuple):
        return _first_applicable(value if isinstance(value, tuple) else (value,), decider, question)
    if isinstance(value, Relational):
        return _holds(value, decider, question)
    if isinstance(value, ValueLargest):
        numbers = [_valued(expression, decider, question, exact=True) for expression in value.expressions]
        return max(number for number, _ in numbers), both(*(same for _, same in numbers))
    if isinstance(value, ValueLeast):
        return least(value, question), None
    if isinstance(value, ValueOver):
        return _over(value, decider, question)
    return _valued(value, decider, question)


def _valued(
    expression: sp.Basic, decider: Decider, question: Question, *, exact: bool = False
) -> tuple[Fraction | Enclosure, Rechecked]:
    value = question.exact(expression) if exact else question.value(expression, question.digits)
    return value, decider.rechecks_value(expression, value)


def _first_applicable(cases: tuple[ValueWhere, ...], decider: Decider, question: Question) -> tuple[Any, Rechecked]:
    """Return the value of the first case whose relations hold, or None. Raises UndecidedError like `_holds`."""
    rechecked: Rechecked = frozenset()
    for case in cases:
        for relation in case.relations:
            holds, same = _holds(relation, decider, question)
            rechecked = both(rechecked, same)
            if not holds:
                break
        else:
            value, same = _valued(case.expression, decider, question)
            return value, both(rechecked, same)
    return None, rechecked


def _holds(relation: Relational, decider: Decider, question: Question) -> tuple[bool, Rechecked]:
    """Return whether a relation holds at the instance, and the trusts if the re-checker confirms the answer.

    Raises UndecidedError if the relation is not decided, because no later case may then be taken.
    """
    result = decider.decide(Inequality("holds", relation), question)
    if result.holds is None:
        raise UndecidedError(f"{text_of(relation)}: not decided here: {result.detail}")
    return result.holds, frozenset(result.trusts) if result.rechecked else None


def _over(value: ValueOver, decider: Decider, question: Question) -> tuple[Any, Rechecked]:
    """Return the exact value at each entry of a list, or the sum of these values, and the trusts if all are re-checked.

    Raises UndefinedError for an entry without a rational value, and if the time runs out.
    """

    def exact(term: sp.Expr, numbers: Mapping[sp.Symbol, Fraction]) -> tuple[Fraction, Rechecked]:
        if time.monotonic() > question.budget.end:
            raise UndefinedError("the time ran out")
        named = {symbol.name: x for symbol, x in numbers.items()}
        result = exact_value(question.statement, question.instance, term, **named)
        rationals = {symbol: sp.Rational(x.numerator, x.denominator) for symbol, x in numbers.items()}
        return result, decider.rechecks_value(substituted(sp.sympify(term), rationals), result)

    entries, sums, known = question.instance[value.parameter], dict[sp.Symbol, Fraction](), list[Rechecked]()
    for symbol, term in value.sums.items():
        terms = [exact(term, {value.entry: x}) for x in entries]  # pyright: ignore[reportGeneralTypeIssues]
        sums[symbol] = sum((number for number, _ in terms), Fraction(0))
        known += [same for _, same in terms]
    results = [exact(value.expression, {**sums, value.entry: x}) for x in entries]  # pyright: ignore[reportGeneralTypeIssues]
    numbers, same = [number for number, _ in results], both(*known, *(same for _, same in results))
    return sum(numbers, Fraction(0)) if value.total else numbers, same


def _held(hypothesis: Hypothesis, instance: Mapping[str, Any], hard_end: float) -> HypothesisResult:
    try:
        result = ended(hard_end, evaluate_hypothesis, hypothesis, instance)
        return ended(hard_end, with_past, hypothesis, result, instance)
    except OutOfTimeError as error:
        return hypothesis_result(hypothesis, holds=None, detail=f"undecided: {error}")
