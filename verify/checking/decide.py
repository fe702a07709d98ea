"""Decide clauses: evaluate a clause, re-check its proof, and set the evidence by the re-checker's verdict.

The evaluation of a clause returns an outcome and proof data, and no evidence. If the re-checker accepts the proof, its
verdict is that the clause is proved or certified. If it cannot read the proof, for example because it does not know a
primitive, the evidence is computed at most. If it reads the proof and rejects it, the clause is undecided.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import sympy as sp

from verify.budget import MOST_WORK, Budget, Result, ended
from verify.checking.certificates import stated, written
from verify.checking.doors import asks_for_doors, with_doors
from verify.claims.in_words import InWords
from verify.claims.question import Clause, Proof, ProofForAll, Proofs, Question
from verify.errors import (
    BeyondReachError,
    InputError,
    NotExactError,
    OutOfTimeError,
    TheoremError,
    UndecidedError,
    UndefinedError,
)
from verify.evaluation.iteration import INTERRUPTED
from verify.language.expressions import to_data
from verify.language.statement import Statement, is_builtin
from verify.outcomes import ClauseResult, Enclosure, Evidence, Outcome, Trust
from verify.provers.multipliers import Multipliers
from verify.provers.proof_data import rational
from verify.rechecker import Instance, Verdict
from verify.shown import Witness

_VALUE_BITS = 512
"""Bits with which the re-checker computes a reported value."""
_ALONE = 10.0
"""Default time in seconds for deciding a single clause."""


Rechecked: TypeAlias = frozenset[Trust] | None
"""The trusts of a re-checked value beyond the re-checker's core; None for a value that is not re-checked."""


def proofs_for_all(
    clause: Clause,
    statement: Statement,
    *,
    certificate: Proof | None = None,
    by: Multipliers | None = None,
    hypotheses: bool,
) -> Proofs:
    """Yield the proofs for all parameters of a clause: the certificate's, if given, then those that a search finds.

    A proof is searched for only when the iterator asks for it; with `hypotheses` it may use the hypotheses. With the
    multipliers `by`, the proof that they give is taken in place of a search.
    """
    if certificate is not None:
        yield ProofForAll(certificate), ""
    try:
        if by is None:
            own = clause.prove(statement, hypotheses=hypotheses)
        else:
            own = by.prove(clause.relation, statement, hypotheses=hypotheses)
    except (TheoremError, UndefinedError, UndecidedError) as error:
        yield None, str(error)
        return
    # A proof that is no mapping is refused with the result.
    yield (ProofForAll(own) if isinstance(own, Mapping) else own), ""
    # If the re-checker refuses this proof, a clause may have another one.
    otherwise = getattr(clause, "prove_otherwise", None) if by is None and own is not None else None
    with suppress(TheoremError, UndefinedError, UndecidedError):
        other = None if otherwise is None else otherwise(statement, hypotheses=hypotheses)
        if other is not None and other != own:
            yield ProofForAll(other), ""


class Decider:
    """Decides clauses at an instance of a statement; the statement still contains its Cases, as the digested data do.

    The data for the re-checker are read at the start, so that no clause's evaluation can change them. All re-checks by
    the core together cost at most `work`, in nominal microseconds; so do all re-checks that need doors. `clauses`
    handles Ctrl-C; the other methods let it pass.
    """

    def __init__(self, statement: Statement, instance: Mapping[str, Any], work: float = MOST_WORK) -> None:
        self.statement, self._work = statement, work
        self._text = statement.canonical()
        self._data = data = json.loads(self._text)
        self._clauses = (*data["claims"], *data["steps"])
        self._instance = {name: written(value) for name, value in instance.items()}

    @cached_property
    def _core(self) -> Instance:
        """The statement at the instance, as the re-checker's core reads it."""
        return Instance(self._text, self._instance, self._work)

    @cached_property
    def _helped(self) -> Instance:
        """The statement at the instance, read by the re-checker's core with the packages' additions."""
        return Instance(self._text, self._instance, self._work, registry=with_doors()[0])

    @cached_property
    def _asks_for_doors(self) -> bool:
        return asks_for_doors(self._data, clauses=self._clauses)

    def rechecker(self, *data: Any, clause: Any = None, proof: Any = None) -> Instance:
        """Return the statement as the re-checker reads it for these data, with the packages' additions if needed."""
        return self._helped if self._needs_doors(*data, clauses=[clause], proofs=[proof]) else self._core

    def _needs_doors(self, *data: Any, clauses: Iterable[Any], proofs: Iterable[Any]) -> bool:
        return self._asks_for_doors or asks_for_doors(*data, clauses=clauses, proofs=proofs)

    def clauses(self, question: Question, proofs: Iterable[Proofs]) -> tuple[tuple[ClauseResult, ...], Question]:
        """Decide all clauses of the statement, claims before steps, given each clause's proofs for all parameters.

        Returns the results, and the question with the remaining budget.
        """
        results = list[ClauseResult]()
        for place, (clause, for_all) in enumerate(zip(question.statement.clauses, proofs, strict=True)):
            result, question = uninterrupted(question, self.clause, place, replace(question, for_all=for_all))
            role = self.statement.role(clause.label)
            results.append(result or ClauseResult.undecided(clause, INTERRUPTED, role=role))
        return tuple(results), question

    def clause(self, place: int, question: Question) -> ClauseResult:
        """Decide a clause of the statement, by its place."""
        clause = question.statement.clauses[place]
        return replace(self._decided(clause, self._clauses[place], question), role=self.statement.role(clause.label))

    def decide(self, clause: Clause, question: Question) -> ClauseResult:
        """Decide a clause in terms of the statement's parameters and definitions; it need not be in the statement."""
        return self._decided(clause, clause.to_data(), question)

    def _decided(self, clause: Clause, data: Any, question: Question, refused: Proof | None = None) -> ClauseResult:
        result = _evaluated(clause, question)
        if result.holds is None:
            return result
        if isinstance(clause, InWords):
            evidence = Evidence.SIMULATED if result.draws else Evidence.COMPUTED
            return replace(result, evidence=evidence, unchecked="in words: nothing re-checks it")
        hard_end = question.budget.hard_end
        try:
            verdict = self._verdict(data, result, hard_end)
            if verdict.rejected and (plain := _without_checkpoints(result)) is not None:
                again = self._verdict(data, plain, hard_end)
                result, verdict = (result, verdict) if again.rejected else (plain, again)
        except OutOfTimeError:
            return ClauseResult.undecided(clause, "the time ran out as it was re-checked", margin=result.margin)
        if verdict.evidence is not None:
            margin = _proved_margin(result)
            trusts = tuple(Trust(*trusted) for trusted in verdict.trusts)
            return replace(result, evidence=Evidence(verdict.evidence), rechecked=True, margin=margin, trusts=trusts)
        if question.interrupted:
            return ClauseResult.undecided(clause, INTERRUPTED)
        if isinstance(result.proof, ProofForAll) and result.proof is not refused:
            # Evaluate again with the next proof, or with none: the result at the instance may be accepted.
            again = self._decided(clause, data, question, result.proof)
            return replace(again, detail=f"{again.detail}; a proof for all is not accepted: {verdict.why}".lstrip("; "))
        if verdict.rejected:
            why = f"the re-checker does not accept what was found: {verdict.why}"
            return ClauseResult.undecided(clause, why, margin=result.margin, bits=result.bits, unchecked=verdict.why)
        unread = with_doors()[1] if self._needs_doors(clauses=[data], proofs=[result.proof]) else ()
        why = "; ".join((verdict.why, *(f"refused: {line}" for line in unread)))
        if self._has_limit(clause):
            return ClauseResult.undecided(clause, "a limit's value is not re-checked", bits=result.bits, unchecked=why)
        return replace(result, evidence=Evidence.COMPUTED, proof=None, unchecked=why)

    def _has_limit(self, clause: Clause) -> bool:
        """Whether a clause contains a limit; a value that SymPy gives to a limit counts only if it is re-checked."""
        return any(self.statement.expand(sp.sympify(each)).has(sp.Limit) for each in clause.expressions())

    def _verdict(self, data: Any, result: ClauseResult, hard_end: float) -> Verdict:
        proof = stated(result)
        try:
            json.dumps([data, proof], allow_nan=False)
        except (TypeError, ValueError) as error:
            return Verdict(None, f"its proof is no data: {error}", rejected=True)
        return ended(hard_end, lambda: self.rechecker(clause=data, proof=proof["proof"]).verdict(data, proof))

    def scope_trusts(self) -> tuple[Trust, ...]:
        """Return the trusts, beyond the re-checker's core, of its verdict on the hypotheses."""
        return tuple(Trust(*trusted) for trusted in self.rechecker().scope_trusts())

    def scope(self, hard_end: float) -> tuple[bool | None, str]:
        """Return whether the re-checker finds all hypotheses to hold; None and the reason if it does not decide."""
        try:
            # Reading the statement counts towards the time as well.
            return ended(hard_end, lambda: self.rechecker().in_scope())
        except OutOfTimeError as error:
            return None, str(error)

    def rechecks_value(self, expression: sp.Basic, value: Fraction | Enclosure | int) -> Rechecked:
        """Return the trusts if the re-checker finds an expression's value equal to `value` or inside it; else None."""
        ends = (value.lower, value.upper) if isinstance(value, Enclosure) else (value, value)
        if None in ends:
            return None
        try:
            data = to_data(sp.sympify(expression), written=False)
        except TheoremError:
            return None
        low, high = map(written, ends)
        verdict = self.rechecker(data).encloses(data, low, high, _VALUE_BITS)
        return None if verdict.evidence is None else frozenset(Trust(*trusted) for trusted in verdict.trusts)


def both(*found: Rechecked) -> Rechecked:
    """Return the union of the trusts of some values; None if a value is not re-checked."""
    trusts = [each for each in found if each is not None]
    return frozenset[Trust]().union(*trusts) if len(trusts) == len(found) else None


def decided(
    statement: Statement, instance: Mapping[str, Any], clause: Clause, *, seconds: float = _ALONE
) -> ClauseResult:
    """Decide one clause at an instance; the statement must be `specialised` to the instance's words already."""
    end, proofs = time.monotonic() + seconds, proofs_for_all(clause, statement, hypotheses=False)
    question = Question(statement, instance, Budget(end, runs_end=end), for_all=proofs)
    return Decider(statement, instance).decide(clause, question)


def uninterrupted(
    question: Question, function: Callable[..., Result], *arguments: Any
) -> tuple[Result | None, Question]:
    """Return a function's result (None if Ctrl-C ended it), and the question with the time that is left."""
    try:
        return function(*arguments), question.left()
    except KeyboardInterrupt:
        return None, question.after_interrupt()


def _evaluated(clause: Clause, question: Question) -> ClauseResult:
    try:
        result = ended(question.budget.hard_end, clause.evaluate, question)
    except OutOfTimeError as error:
        return ClauseResult.undecided(clause, str(error))
    except BeyondReachError as error:
        return ClauseResult.undecided(clause, f"not evaluated here: {error}")
    except (UndefinedError, UndecidedError, NotExactError, ZeroDivisionError) as error:
        return ClauseResult.undecided(clause, f"no value here: {error}")
    except Exception as error:
        if isinstance(error, InputError | TheoremError) or is_builtin(clause):
            raise
        raise TheoremError(f"clause {clause.label}: {type(error).__name__}: {error}") from error
    _refuse_ill_typed(clause, result)
    # Label and text are the clause's own, and only a refutation has a witness.
    witness = Witness(result.witness if result.holds is False else {}, frozenset(question.instance))
    return replace(result, label=clause.label, claim=clause.text, witness=witness, evidence=None, rechecked=False)


def _refuse_ill_typed(clause: Clause, result: Any) -> None:
    """Raise TheoremError if an evaluation returns no ClauseResult, or one with parts of the wrong types."""
    if not isinstance(result, ClauseResult):
        raise TheoremError(f"clause {clause.label}: evaluates to a {type(result).__name__}, not to a ClauseResult")
    if result.outcome not in (Outcome.VERIFIED, Outcome.REFUTED, Outcome.INCONCLUSIVE):
        raise TheoremError(f"clause {clause.label}: {result.outcome!r} is not an outcome of a clause")
    if not isinstance(result.proof, Mapping | None):
        raise TheoremError(f"clause {clause.label}: its proof is a {type(result.proof).__name__}, not a mapping")
    if not isinstance(result.margin, int | Fraction | Enclosure | None):
        raise TheoremError(f"clause {clause.label}: its margin {result.margin!r} is not an exact number")


def _without_checkpoints(result: ClauseResult) -> ClauseResult | None:
    """Return the result with its proof's checkpoints removed; None if the proof has none.

    The balls of a checkpoint are several times wider than the run's, and may be too wide to decide a comparison.
    """
    proof = result.proof
    return replace(result, proof={**proof, "checkpoints": []}) if proof and proof.get("checkpoints") else None


def _proved_margin(result: ClauseResult) -> Any:
    """Return the margin that a clause's proof states, or the clause's own if it lies within the proof's interval."""
    match result.proof:
        case {"kind": "exact", "margin": str(exactly)}:
            return rational(exactly)
        case {"kind": "ball", "margin": [low, high]}:
            margin, low, high = result.margin, rational(low), rational(high)
            ends = (margin.lower, margin.upper) if isinstance(margin, Enclosure) else (None, None)
            inside = all(end is not None and low <= end <= high for end in ends)
            return margin if inside else Enclosure(low, high)
    return result.margin
