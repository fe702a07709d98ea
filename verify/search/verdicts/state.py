"""The state of a search: the instances tried, the nearest miss of each clause, and the counterexample."""

import json
import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from sympy.core.relational import Relational

from verify.budget import ended
from verify.checking.theorem import Theorem
from verify.claims.question import Clause
from verify.errors import InputError, OutOfTimeError, PrimitiveError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.iteration import Progress
from verify.language.parameters import Value
from verify.language.statement import Statement, is_builtin
from verify.outcomes import ClauseResult, Outcome
from verify.printing import text_of
from verify.search.limits import EXPLORE
from verify.search.plans import Plan
from verify.search.sharpness import Sharpness
from verify.search.simplify import Instance
from verify.search.verdicts.decision import Judge
from verify.search.verdicts.tally import Tally, Tried


@dataclass
class Search:
    """The state of one search, with the confirmed counterexample if there is one."""

    theorem: Theorem
    statement: Statement
    plan: Plan
    deadline: float
    guided: bool
    progress: Progress | None = None
    nearest: dict[str, tuple[float, Instance]] = field(default_factory=dict)
    """The nearest miss of each clause, by label: the smallest relative margin in float64, and its instance."""
    counterexample: tuple[Instance, ClauseResult] | None = None
    refuted: Tried | None = None
    """The first instance that was found to refute a clause."""
    needed: int | None = None
    tried: dict[tuple[Value, ...], Tried] = field(default_factory=dict)
    limited: int | None = None
    """Number of instances tried in the part of the search that `max_examples` limits; None until that part ends."""
    cut: bool = False
    """Whether the numerical search ended because its part of the time was over."""
    drawn: int = 0
    """Number of draws, including draws that gave no instance."""
    rejected: Counter[str] = field(default_factory=Counter[str])
    """Number of draws without an instance, by the hypothesis that left no value, or by the relation's text."""
    evaluated: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of instances at which each claim in words was evaluated and not violated."""
    degenerate: int = 0
    replayed: bool = False
    bounds: tuple[Sharpness, ...] = ()

    def rejects(self, relation: Relational | None) -> None:
        """Count a draw that gave no instance, under the relation that leaves no value for a parameter."""
        labels = (h.label for h in self.statement.hypotheses if h.relation == relation is not None)
        self.rejected[next(labels, "a default without a value" if relation is None else text_of(relation))] += 1

    def tick(self) -> None:
        """Raise OutOfTimeError when the search's time is over."""
        if time.monotonic() > self.deadline:
            raise OutOfTimeError("the time ran out")

    @property
    def hard_end(self) -> float:
        """The time at which code that does not check the clock is stopped."""
        return self.deadline + EXPLORE.grace

    @cached_property
    def tally(self) -> Tally:
        """The tally of the clauses' verdicts at the instances tried."""
        return Tally(Judge(self.theorem, self.statement))

    def margins(self, instance: Instance) -> dict[str, float]:
        """Return each clause's float64 margin at an instance; a first look may update the nearest misses."""
        return self.look_up(instance).margins

    def look_up(self, instance: Instance) -> Tried:
        """Return the record of an instance; at the first look, evaluate its margins in float64."""
        self.tick()
        key = tuple(instance.values())
        if key not in self.tried:
            statement = self.statement.specialised(instance)
            scanned = ended(self.hard_end, _scanned, statement, instance)
            silent = frozenset(label for label, margin in scanned.items() if margin == math.inf)
            # Like a clause without a value, a clause that is not evaluated does not steer the search.
            margins = {label: math.inf if math.isnan(margin) else margin for label, margin in scanned.items()}
            near = {label: margin for label, margin in margins.items() if margin > 0}
            self.tries(instance, Tried(instance, margins, silent), near)
        return self.tried[key]

    def tries(self, instance: Instance, tried: Tried, near: Mapping[str, float]) -> None:
        """Keep the record of an instance, and update the nearest misses by its margins in `near`."""
        self.tried[tuple(instance.values())] = tried
        if self.progress:
            self.progress(len(self.tried))
        for label, margin in near.items():
            self._near(label, margin, instance)

    def look_at_each(self, instances: Iterable[Instance]) -> bool:
        """Whether a clause is refuted at one of some instances; the first such instance is kept as counterexample."""
        return any(map(self.look, instances))

    def look(self, instance: Instance, label: str | None = None) -> bool:
        """Whether a clause, or the clause `label`, is refuted at an instance, which is then the counterexample."""
        result = self.refutes(instance, label)
        return result is not None and self.takes(instance, result)

    def takes(self, instance: Instance, result: ClauseResult) -> bool:
        """Whether a result is a refutation; if so, the instance is kept as the counterexample."""
        if result.outcome is not Outcome.REFUTED:
            return False
        self.counterexample, self.needed = (instance, result), len(self.tried)
        self.refuted = self.tried[tuple(instance.values())]
        return True

    def _near(self, label: str, margin: float, instance: Instance) -> None:
        if label not in self.nearest or margin < self.nearest[label][0]:
            self.nearest[label] = margin, instance

    def refutes(self, instance: Instance, label: str | None = None) -> ClauseResult | None:
        """Return the first refutation of a clause (or of the clause `label`) by rigorous arithmetic; None without one.

        The clauses that seem to fail are tried, and some clauses with a limit that have no value in float64. Without a
        label each clause is given little time, and the undecided ones are noted as `doubtful`.
        """
        margins, seconds = self.margins(instance), EXPLORE.confirm_seconds if label else EXPLORE.suspect_seconds
        suspects = sorted((name for name in margins if margins[name] <= 0), key=lambda name: margins[name])
        for suspect in (*suspects, *self._degenerate(margins)):
            if label in (None, suspect):
                before = margins[suspect]
                result = self.confirm(suspect, instance, seconds)
                if result.outcome is Outcome.REFUTED:
                    self._near(suspect, before, instance)
                    return result
                if result.outcome is Outcome.INCONCLUSIVE and label is None:
                    self.look_up(instance).doubtful.add(suspect)
                # A margin that only rounding made negative must not steer the search.
                margins[suspect] = 0.0 if result.margin == 0 else EXPLORE.rounded
                if result.outcome is Outcome.VERIFIED and result.margin == 0:
                    self._near(suspect, 0.0, instance)
        return None

    def _degenerate(self, margins: dict[str, float]) -> Iterator[str]:
        """Yield clauses with a limit that have no value in float64, at most `EXPLORE.degenerate` times in a search."""
        for name in self.with_limits:
            if margins[name] == math.inf and self.degenerate < EXPLORE.degenerate:
                self.degenerate += 1
                yield name

    @cached_property
    def with_limits(self) -> tuple[str, ...]:
        """The labels of the clauses with a limit; all clauses if a definition has a limit."""
        statement = json.loads(self.statement.canonical())
        everywhere = "Limit" in json.dumps(statement["definitions"])
        clauses = (*statement["claims"], *statement["steps"])
        return tuple(each["label"] for each in clauses if everywhere or '"Limit"' in json.dumps(each))

    def confirm(
        self,
        suspect: str,
        instance: Instance,
        seconds: float = EXPLORE.confirm_seconds,
        points: tuple[Mapping[str, Fraction], ...] = (),
    ) -> ClauseResult:
        """Decide a clause in rigorous arithmetic, at an instance in the domain that satisfies every hypothesis.

        If the clause is for all values of some variables, their values in `points` are tried first.
        """
        deadline = min(self.deadline, time.monotonic() + seconds)
        result = self.tally.judge.decide(suspect, instance, deadline, points)
        self.look_up(instance).note(suspect, result)
        return result


def _scanned(statement: Statement, instance: Instance) -> dict[str, float]:
    return {clause.label: scan(clause, statement, instance) for clause in statement.clauses}


def scan(clause: Clause, statement: Statement, instance: Mapping[str, Value]) -> float:
    """Return a clause's relative float64 margin at an instance, negative if the clause seems to fail.

    The margin is infinite if the clause has no value in float64, and NaN if the clause is not evaluated.
    """
    try:
        margin = clause.scan(statement, instance)
    except PrimitiveError:
        raise
    except UndecidedError:
        return math.nan
    except (UndefinedError, ZeroDivisionError, OverflowError, ValueError):
        return math.inf
    except Exception as error:
        if isinstance(error, InputError | TheoremError | OutOfTimeError) or is_builtin(clause):
            raise
        raise TheoremError(f"clause {clause.label}: {type(error).__name__}: {error}") from error
    # A power of a negative number is complex in float64.
    return math.inf if isinstance(margin, complex) or math.isnan(margin) else margin
