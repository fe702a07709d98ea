"""Decisions of one clause at one instance in rigorous arithmetic, and cached proofs for all parameters."""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any

from verify.budget import Budget, ended, until
from verify.checking.decide import Decider, proofs_for_all
from verify.checking.standing import shipped_proofs
from verify.checking.theorem import Theorem
from verify.claims.question import MOST_DRAWS, Question
from verify.errors import InputError, OutOfTimeError
from verify.evaluation.instances import check_domain, evaluate_hypothesis
from verify.evaluation.iteration import Passage
from verify.language.statement import Statement
from verify.outcomes import ClauseResult, Evidence, Outcome
from verify.search.limits import EXPLORE
from verify.search.simplify import Instance


@dataclass
class Judge:
    """Decides a statement's clauses at instances that satisfy its hypotheses.

    `proved` says whether the re-checker accepts a proof of a clause for all parameters, by the values of the word
    parameters and the clause's label; it has no entry if no proof was looked for. `most_draws` is the maximum number of
    random trials of a claim in words.
    """

    theorem: Theorem
    statement: Statement
    proved: dict[tuple[tuple[object, ...], str], bool] = field(default_factory=dict)
    most_draws: int = MOST_DRAWS
    _last: Question | None = None

    @cached_property
    def _shipped(self) -> Mapping[str, Any]:
        return shipped_proofs(self.theorem, shared=True)

    def words_of(self, instance: Instance) -> tuple[object, ...]:
        """Return the instance's values of the word parameters."""
        return tuple(instance[parameter.name] for parameter in self.statement.parameters if parameter.words)

    def decide(
        self, label: str, instance: Instance, deadline: float, points: tuple[Mapping[str, Fraction], ...] = ()
    ) -> ClauseResult:
        """Decide a clause at an instance, without a proof for all parameters; `points` is as in `Question`.

        The evidence of a refutation is stronger than "computed" only if the re-checker also finds that the hypotheses
        hold.
        """
        place, question, decider = self._prepared(label, instance, deadline)
        question = replace(question, points=points)
        statement, hard_end = question.statement, question.budget.hard_end
        try:
            with until(deadline):
                result = decider.clause(place, question)
                kept = statement.hypotheses if result.holds is False else ()
                held = [ended(hard_end, evaluate_hypothesis, each, instance).holds for each in kept]
                confirmed = decider.scope(hard_end)[0] if all(held) and held else True
        except (InputError, OutOfTimeError) as error:
            # An InputError means that the instance is too large to be decided.
            kept, held, confirmed = (), [], True
            result = ClauseResult.undecided(statement.clauses[place], str(error))
        if question.interrupted:
            raise KeyboardInterrupt
        for broken, holds in zip((h.label for h in kept), held, strict=True):
            # An instance drawn by an approximate solution may violate a hypothesis.
            if holds is None:
                return ClauseResult.undecided(statement.clauses[place], f"{broken} is not decided")
            if not holds:
                return replace(result, outcome=Outcome.OUT_OF_SCOPE, detail=f"breaks {broken}")
        if confirmed is False:
            return ClauseResult.undecided(statement.clauses[place], "the re-checker finds that a hypothesis fails")
        if confirmed is None:
            why = "whether the hypotheses hold is not re-checked"
            evidence = Evidence.weakest([result.evidence or Evidence.COMPUTED, Evidence.COMPUTED])
            return replace(result, evidence=evidence, rechecked=False, unchecked=why, trusts=())
        trusts = {*result.trusts, *(decider.scope_trusts() if held and result.rechecked else ())}
        return replace(result, trusts=tuple(sorted(trusts)))

    def prove(self, label: str, instance: Instance, deadline: float) -> bool:
        """Whether a clause is proved for all parameters in scope that have the instance's words."""
        key = self.words_of(instance), label
        if key not in self.proved:
            self.proved[key] = self._proved(label, instance, deadline)
        return self.proved[key]

    def _proved(self, label: str, instance: Instance, deadline: float) -> bool:
        place, question, decider = self._prepared(label, instance, deadline)
        clause, certificate = question.statement.clauses[place], self._shipped.get(label)
        proofs = proofs_for_all(clause, question.statement, certificate=certificate, hypotheses=True)
        result = None
        with suppress(InputError, OutOfTimeError), until(deadline):
            first = ended(question.budget.hard_end, lambda: next(proofs))
            if first[0] is not None:
                # The proof is passed on, so that it is not looked for again.
                question = replace(question, in_scope=True, for_all=chain([first], proofs))
                result = decider.clause(place, question)
        if question.interrupted:
            raise KeyboardInterrupt
        return result is not None and result.holds is True and result.evidence is Evidence.PROVED

    def _prepared(self, label: str, instance: Instance, deadline: float) -> tuple[int, Question, Decider]:
        statement = self.statement.specialised(instance)
        place = next(i for i, clause in enumerate(statement.clauses) if clause.label == label)
        check_domain(self.statement, instance)
        now, last = time.monotonic(), self._last
        # First passages that were found at the same instance for the previous clause are used again.
        kept = last.runs if last is not None and last.instance == instance else {}
        runs = {key: run for key, run in kept.items() if isinstance(run, Passage) and run.reached}
        budget = Budget(deadline, hard_end=deadline + EXPLORE.grace, runs_end=now + EXPLORE.followed * (deadline - now))
        question = Question(statement, instance, budget, proofs=self.theorem.proofs, runs=runs)
        question = replace(question, evaluations=self.theorem.evaluations, most_draws=self.most_draws)
        self._last = question
        return place, question, Decider(self.statement, instance)
