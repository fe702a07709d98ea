# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""The question to a clause, and the methods that the engine calls on a clause."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import sympy as sp

from verify.budget import Budget, proof_work
from verify.errors import UndefinedError
from verify.evaluation.iteration import INTERRUPTED, Passage, Progress, first_passage
from verify.evaluation.values import evaluate_rising
from verify.language.clause_data import Dynamics
from verify.language.parameters import Instance
from verify.language.statement import ClauseData, Statement
from verify.outcomes import DIGITS, ClauseResult, Enclosure
from verify.printing import text_of
from verify.provers.tube_cells import Tube
from verify.provers.tubes import Horizon, enclose_passage

if TYPE_CHECKING:
    from verify.provers.recursions.cycles import Cycle
    from verify.provers.recursions.states import Kept


Proof: TypeAlias = Mapping[str, Any]
"""A proof as the re-checker reads it: its kind, and the data of that kind."""
Runs: TypeAlias = dict[tuple[Dynamics, Fraction, object], Any]
"""First passages by recursion, level and last step.

The value of a key with "far" in place of the last step is a cycle, a kept set of states or an enclosure in a tube; the
value of a key with "kept" is a kept set. The value is None if none was found.
"""
MOST_DRAWS = 10**6
"""Default maximum number of drawn trials of a claim in words."""
_LOOK_FOR_CYCLE = 2000
"""Number of steps after which a run above its level is examined for a cycle, a kept set or a tube."""


class ProofForAll(dict[str, Any]):
    """A proof for all parameters; if the re-checker rejects it, the clause is evaluated with the next proof."""


Proofs: TypeAlias = Iterator[tuple[ProofForAll | None, str]]
"""Pairs of a proof for all parameters of a clause and "", or of None and the reason, in order."""


@dataclass(frozen=True)
class Question:
    """The question to a clause: whether it holds at an instance, within a budget.

    Parameters
    ----------
    statement, instance
        The statement that is checked, and the parameters' values.
    budget
        The time and the work that the evaluation may take.
    in_scope
        Whether all hypotheses hold at the instance.
    digits
        Number of significant digits requested.
    proofs
        Data of proofs by clause, as a `Theorem` has them.
    progress
        `progress(step)` is called while a recursion is iterated.
    runs
        First passages and runs that were found already, cached for all clauses at the instance.
    for_all
        Proofs for all parameters of the clause, each with the reason if it is None; an evaluation takes one.
    points
        Values of variables at which a claim for all values is tried first; with None, an inequality searches for some.
    evaluations
        Evaluations of claims in words, by label, as a `Theorem` has them.
    seed, most_draws
        Seed of the evaluations' draws, and the maximum number of drawn trials of each.

    Examples
    --------
    >>> import sympy as sp
    >>> import verify
    >>> theorem = verify.load_theorem("wang2024.stationary_points")
    >>> verify.Question(theorem.statement, {"T": 9, "q": 2, "d": 1}).exact(sp.Symbol("T") / 2)
    Fraction(9, 2)
    """

    statement: Statement
    instance: Instance
    budget: Budget = field(default_factory=Budget)
    in_scope: bool = False
    digits: int = DIGITS
    proofs: Mapping[str, object] = field(default_factory=dict)
    progress: Progress | None = None
    runs: Runs = field(default_factory=dict, repr=False)
    for_all: Proofs = field(default_factory=lambda: iter(()), repr=False)
    points: tuple[Mapping[str, Fraction], ...] | None = None
    evaluations: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    most_draws: int = MOST_DRAWS

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended a computation, or a run."""
        return self.budget.interrupted or any(
            isinstance(run, Passage) and run.why == INTERRUPTED for run in self.runs.values()
        )

    def left(self) -> "Question":
        """Return the question, with only the time that Ctrl-C leaves if it ended a computation or a run."""
        return self.after_interrupt() if self.interrupted else self

    def after_interrupt(self) -> "Question":
        """Return the question with the time that Ctrl-C leaves: at most a second, for evaluations without long runs."""
        end = min(self.budget.end, time.monotonic() + 1)
        return replace(self, budget=replace(self.budget, end=end, interrupted=True))

    def proof_for_all(self) -> tuple[ProofForAll | None, str]:
        """Return a proof for all parameters of the clause, or None and the reason if it is known.

        An evaluation calls this once. If the re-checker does not accept the proof, the clause is evaluated again, with
        the next proof.
        """
        return next(self.for_all, (None, ""))

    def value(self, expression: sp.Basic, digits: int = DIGITS) -> Fraction | Enclosure:
        """Return the value of an expression of the parameters, to `digits` digits and at least to `DIGITS`."""
        return evaluate_rising(self.statement.expand(expression), self.instance, digits=max(DIGITS, digits))[0]

    def exact(self, expression: sp.Basic) -> Fraction:
        """Return the exact value of an expression; UndefinedError if it is not rational."""
        return exact_value(self.statement, self.instance, expression)

    def passage(self, dynamics: Dynamics, level: Fraction, last_step: int | None = None) -> Passage:
        """Return the first passage of the level, computed once for all clauses."""
        key = (dynamics, level, last_step)
        if key not in self.runs:
            self.runs[key] = first_passage(
                dynamics,
                level,
                self.instance,
                deadline=self.budget.runs_end,
                last_step=last_step,
                progress=self.progress,
            )
        return self.runs[key]

    def tube(self, dynamics: Dynamics) -> Tube | None:
        """Return the theorem's tube for a recursion, or None if there is none."""
        return next((p for p in self.proofs.values() if isinstance(p, Tube) and p.slow in dynamics.state), None)

    def run(self, dynamics: Dynamics, level: Fraction) -> "Passage | Cycle | Kept | Horizon":
        """Return the first passage of the level, a proof that it is never reached, or a tube that encloses the run."""
        try:
            first = self.passage(dynamics, level, _LOOK_FOR_CYCLE)
        except UndefinedError:
            # A number has too many digits to be computed: the run may never reach the level.
            if (kept := self._kept(dynamics, level)) is None:
                raise
            return kept
        if first.reached or first.why in ("time", INTERRUPTED):
            return first
        key = (dynamics, level, "far")
        if key not in self.runs:
            try:
                self.runs[key] = self._beyond(dynamics, level)
            except KeyboardInterrupt:
                self.runs[key] = replace(first, why=INTERRUPTED)
        if (run := self.runs[key]) is not None:
            return run
        rest = self.passage(dynamics, level)
        # The search may have left too little time for the new run to reach the last step of the first run.
        return replace(first, why="time") if rest.why == "time" and rest.step < first.step else rest

    def _kept(self, dynamics: Dynamics, level: Fraction) -> "Kept | None":
        """Return a set of states above the level that each step keeps, or None if none is found; searched for once."""
        from verify.provers.recursions.states import kept_above

        key = (dynamics, level, "kept")
        if key not in self.runs:
            self.runs[key] = kept_above(dynamics, level, self.instance, proof_work())
        return self.runs[key]

    def _beyond(self, dynamics: Dynamics, level: Fraction) -> "Passage | Cycle | Kept | Horizon | None":
        """Return a kept set or a cycle above the level, or the enclosure in the theorem's tube, or None."""
        from verify.provers.recursions.cycles import avoids

        until, tube = self.budget.runs_end, self.tube(dynamics)
        if (kept := self._kept(dynamics, level)) is not None:
            return kept
        cycle = avoids(dynamics, level, self.instance, deadline=until)
        if cycle is not None or tube is None:
            return cycle
        # Half the time is left for the run itself.
        half, expand = (time.monotonic() + until) / 2, self.statement.expand
        return enclose_passage(
            dynamics, tube.expanded(expand), level, self.instance, deadline=half, progress=self.progress
        )


def exact_value(statement: Statement, instance: Instance, expression: sp.Basic, **more: Fraction | int) -> Fraction:
    """Return an expression's exact value at the instance and the values `more`; UndefinedError if not rational."""
    value, _ = evaluate_rising(statement.expand(sp.sympify(expression)), {**instance, **more})
    if not isinstance(value, Fraction):
        raise UndefinedError(f"{text_of(expression)}: a rational value is needed here")
    return value


@cache
def expanded(statement: Statement, dynamics: Dynamics) -> Dynamics:
    """Return a recursion with the statement's definitions substituted."""
    if not statement.definitions:
        return dynamics
    initial, step = (tuple(map(statement.expand, parts)) for parts in (dynamics.initial, dynamics.step))
    return Dynamics(dynamics.state, initial, step, statement.expand(dynamics.observable))


class Clause(ClauseData, Protocol):
    """The protocol of a kind of clause: one labelled clause of a statement, with the methods that the engine calls.

    The digest covers the data that `to_data` returns, and the re-checker reads them. A kind that is not part of
    `verify` returns the data of a shipped kind, or data of a kind that its package adds to the re-checker
    (`lemmascope.rechecks`); its `text` is the one in the data (`says`). The evidence of any other kind is at most
    `computed`.

    Examples
    --------
    >>> import verify
    >>> claim = verify.load_theorem("wang2024.stationary_points").statement.claims[0]
    >>> bool(claim.label), bool(claim.text)
    (True, True)
    """

    def evaluate(self, question: Question) -> ClauseResult:
        """Decide the clause at the question's instance: an outcome, and the proof that the re-checker reads.

        A proof for all parameters comes from the question (`proof_for_all`, which calls `prove`). An expression without
        a value raises UndefinedError; one whose value is not decided raises UndecidedError.
        """
        ...

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return a proof for all parameters, which may use the hypotheses if `hypotheses` is true; None without one.

        Raises UndefinedError or UndecidedError with the reason why there is no proof.
        """
        ...

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return the clause's relative margin in float64, for a search: ≤ 0 if it seems to fail."""
        ...
