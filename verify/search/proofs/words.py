"""Evaluation of claims in words at instances: the number of instances that verify each claim, or a violation."""

import random
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from verify.checking.theorem import Theorem
from verify.claims.in_words import InWords
from verify.errors import NoInstanceError, OutOfTimeError
from verify.evaluation.instances import completed, evaluate_hypothesis
from verify.evaluation.iteration import Progress
from verify.language.statement import Statement
from verify.outcomes import ClauseResult, Outcome, count_text
from verify.search.limits import PROVE
from verify.search.plans import plan
from verify.search.simplify import Instance
from verify.search.verdicts.decision import Judge


@dataclass
class Evaluated:
    """The evaluation of claims in words at drawn instances.

    Parameters
    ----------
    instances
        The number of instances at which each claim was evaluated and not violated, by label. The function `evaluated`
        counts the example, too.
    counterexample, clause
        An instance that violates a claim, and the claim's result there; None if no violation was found.
    """

    instances: dict[str, int] = field(default_factory=dict[str, int])
    counterexample: Instance | None = None
    clause: ClauseResult | None = None

    def text(self) -> str:
        """Return, as text, the number of instances at which each claim is verified."""
        counted = (f"{label} at {count_text(count, 'instance')}" for label, count in self.instances.items())
        return f"evaluated, and not violated: {', '.join(counted)}"


def evaluated(
    theorem: Theorem,
    claims: Sequence[InWords],
    stand: Collection[str],
    seconds: float,
    progress: Progress | None = None,
) -> Evaluated:
    """Evaluate claims in words at drawn instances in scope, until a claim is violated or the time or the draws end.

    `stand` has the labels of the claims that are verified at the example. The draws are the same in every run; the
    number of instances that fit into the time may differ.
    """
    deadline, statement = time.monotonic() + seconds, theorem.statement.alone(*claims)
    found = Evaluated({claim.label: int(claim.label in stand) for claim in claims})
    with suppress(NoInstanceError, OutOfTimeError):
        evaluate_at(theorem, statement, found, _drawn(statement, deadline), deadline, progress)
    return found


def evaluate_at(
    theorem: Theorem,
    statement: Statement,
    found: Evaluated,
    instances: Iterable[Instance],
    deadline: float,
    progress: Progress | None = None,
) -> None:
    """Evaluate claims in words at instances in scope, until a claim is violated or the time is over.

    Count in `found` the instances at which each claim is verified, and record a violation there.
    """
    judge = Judge(theorem, statement, most_draws=PROVE.draws)
    for number, instance in enumerate(instances, 1):
        for label in found.instances:
            if time.monotonic() > deadline:
                return
            result = judge.decide(label, instance, min(deadline, time.monotonic() + PROVE.evaluation))
            found.instances[label] += result.outcome is Outcome.VERIFIED
            if result.outcome is Outcome.REFUTED:
                found.counterexample, found.clause = instance, result
                return
        if progress:
            progress(number)


def _drawn(statement: Statement, deadline: float) -> Iterator[Instance]:
    """Yield random instances, each once, in the domain and within the hypotheses, as far as a draw can tell."""
    source, seen = random.Random(0), set[tuple[object, ...]]()

    def tick() -> None:
        if time.monotonic() > deadline:
            raise OutOfTimeError("the time ran out")

    relations = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]
    of_words = [each for each in statement.hypotheses if each.varies is not None]
    fill = partial(completed, statement, scan=True)
    walked = plan(statement.parameters, relations, {}, tick=tick, completed=fill)
    for _ in range(2 * PROVE.instances_in_words):
        tick()
        instance = walked.draw(source)
        # A plan draws all words, but a hypothesis may allow only one word.
        if instance is None or any(evaluate_hypothesis(each, instance).holds is False for each in of_words):
            continue
        key = tuple(instance.values())
        if key not in seen and len(seen) < PROVE.instances_in_words:
            seen.add(key)
            yield instance
