"""The tally of the instances tried: each is clean, refuted, undecided, or has no value.

A clause is known to hold at an instance if its float64 margin exceeds a running bound of the error, if exact or ball
arithmetic decides that it holds, or if it is proved for all parameters. An instance is clean if all clauses that are
not in words are known to hold, and at least one of them is a claim.
"""

import math
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from verify.claims.defaults import Equality
from verify.claims.float_signs import floats_decide, surely_hold
from verify.claims.in_words import InWords
from verify.evaluation.instances import simplicity
from verify.language.statement import Statement
from verify.outcomes import ClauseResult, Outcome
from verify.search.limits import EXPLORE
from verify.search.simplify import Instance
from verify.search.verdicts.decision import Judge


class Verdict(StrEnum):
    """The class of an instance that was tried."""

    CLEAN = "clean"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    WITHOUT_VALUE = "without_value"


@dataclass
class Tried:
    """An instance that was tried.

    Parameters
    ----------
    instance
        The values of the instance.
    margins
        The relative margin of each clause in float64, which steers the search; infinite if it has no value.
    silent
        The clauses that have no value in float64.
    holds
        The clauses known to hold, each with its relative margin in float64, or None without a margin.
    left_open
        The clauses that rigorous arithmetic did not decide.
    doubtful
        The clauses in `left_open` that seem to fail and were given little time.
    refuted
        Whether a clause is refuted.
    """

    instance: Instance
    margins: dict[str, float]
    silent: frozenset[str] = frozenset()
    holds: dict[str, float | None] = field(default_factory=dict)
    left_open: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    refuted: bool = False

    def note(self, label: str, result: ClauseResult) -> None:
        """Record the result of rigorous arithmetic for a clause."""
        if result.outcome is Outcome.VERIFIED:
            self.take(label)
        elif result.outcome is Outcome.REFUTED:
            self.refuted = True
        else:
            self.left_open.add(label)

    def take(self, label: str) -> None:
        """Record that a clause holds. A margin that rounding made negative is recorded as 0."""
        margin = self.margins[label]
        self.holds[label] = max(margin, 0.0) if math.isfinite(margin) else None


class Tally:
    """The clauses of a statement that are looked at, and their verdicts at the instances tried."""

    def __init__(self, judge: Judge) -> None:
        """Begin with a judge of the statement."""
        self.judge, self.statement = judge, judge.statement
        self.labels = tuple(c.label for c in self.statement.clauses if not isinstance(c, InWords))
        self._claims = {claim.label for claim in self.statement.claims} & set(self.labels)
        # An equality has no margin.
        self._measured = {c.label for c in self.statement.clauses if not isinstance(c, Equality)}
        self._numbers = {p.name for p in self.statement.parameters if p.kind in ("integer", "rational")}

    def takes_little(self) -> bool:
        """Whether each clause that is looked at takes little time: float64 can decide it, or it is an equality."""
        first = self.statement.specialised({p.name: p.words[0] for p in self.statement.parameters if p.words})
        looked_at = (clause for clause in first.clauses if clause.label in self.labels)
        return all(isinstance(c, Equality) or floats_decide(c, first, self._numbers) for c in looked_at)

    def by_floats(self, tried: Iterable[Tried]) -> None:
        """Record the clauses and instances at which the float64 margin exceeds its error."""
        for statement, group in self._by_words(tried):
            for clause in statement.clauses:
                if clause.label in self.labels and floats_decide(clause, statement, self._numbers):
                    open_ = [e for e in self._open_at(clause.label, group) if 0 < e.margins[clause.label] < math.inf]
                    sure = surely_hold(clause, statement, [each.instance for each in open_])
                    for each in (each for each, holds in zip(open_, sure, strict=True) if holds):
                        each.take(clause.label)

    def by_proofs(self, tried: Iterable[Tried], deadline: float) -> None:
        """Look for a proof of each clause that is open at an instance, and record the proved clauses."""
        for _, group in self._by_words(tried):
            for label in self.labels:
                open_, left = self._open_at(label, group, ever=True), deadline - time.monotonic()
                until = time.monotonic() + EXPLORE.proof_share * left
                if open_ and left > 0 and self.judge.prove(label, open_[0].instance, until):
                    for each in open_:
                        each.take(label)

    def one_by_one(self, tried: Collection[Tried], deadline: float) -> Iterator[tuple[Tried, ClauseResult]]:
        """Decide open clauses in rigorous arithmetic until the time is over, simplest instances first.

        Yield each instance that is refuted, with the result.
        """
        simplest_first = sorted(tried, key=lambda each: simplicity(each.instance))
        for seconds in EXPLORE.clause_seconds:
            missed = dict.fromkeys(self.labels, 0)
            for each in simplest_first:
                # If a clause takes too long, its instance waits for the next round. The slowest clause comes first.
                for label in sorted(self._open_labels(each), key=lambda label: -missed[label]):
                    begun = time.monotonic()
                    if begun >= deadline:
                        return
                    if missed[label] >= EXPLORE.misses:
                        break
                    result = self.judge.decide(label, each.instance, min(deadline, begun + seconds))
                    # A recursion is followed in only a part of the time.
                    if result.holds is None and time.monotonic() - begun >= EXPLORE.followed * seconds:
                        missed[label] += 1
                        break
                    missed[label] = 0
                    each.note(label, result)
                    if result.outcome is Outcome.REFUTED:
                        yield each, result

    def verdict(self, tried: Tried) -> Verdict:
        """Return the verdict on an instance."""
        if tried.refuted:
            return Verdict.REFUTED
        missing = set(self.labels) - tried.holds.keys()
        if self._claims and not missing:
            return Verdict.CLEAN
        return Verdict.WITHOUT_VALUE if missing & tried.silent & tried.left_open else Verdict.UNDECIDED

    def is_unreached(self, tried: Tried) -> bool:
        """Whether an instance is undecided because rigorous arithmetic reached none of its open clauses in time."""
        asked, missing = tried.left_open & set(self.labels), set(self.labels) - tried.holds.keys()
        return bool(missing) and not asked and self.verdict(tried) is Verdict.UNDECIDED

    def smallest(self, tried: Iterable[Tried], first: Iterable[Tried]) -> tuple[float, Instance] | None:
        """Return the smallest margin of a clause that holds, with its instance; of equal margins, one of `first`."""
        known = [
            (margin, each.instance)
            for each in (*first, *tried)
            for label, margin in each.holds.items()
            if margin is not None and label in self._measured
        ]
        return min(known, key=lambda pair: pair[0], default=None)

    def _by_words(self, tried: Iterable[Tried]) -> list[tuple[Statement, list[Tried]]]:
        groups: dict[tuple[object, ...], list[Tried]] = {}
        for each in tried:
            groups.setdefault(self.judge.words_of(each.instance), []).append(each)
        return [(self.statement.specialised(group[0].instance), group) for group in groups.values()]

    def _open_at(self, label: str, tried: Iterable[Tried], *, ever: bool = False) -> list[Tried]:
        """Return the instances at which a clause is not known to hold.

        Without `ever`, leave out the instances at which rigorous arithmetic did not decide the clause.
        """
        return [e for e in tried if label not in e.holds and (ever or label not in e.left_open)]

    def _open_labels(self, tried: Tried) -> Iterator[str]:
        if not tried.refuted:
            yield from (label for label in self.labels if label not in tried.holds and label not in tried.left_open)
