# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""What a clause is evaluated in, and what the engine asks of it."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import sympy as sp

from verify.budget import EndError
from verify.errors import TheoremError, UndecidedError, UndefinedError
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
    from verify.provers.cycles import Cycle


MOST_WORK = 60e6
"""What re-checking all that is decided at an instance may cost, in nominal microseconds: as for a certificate."""
Proof: TypeAlias = Mapping[str, Any]
"""A proof as the re-checker reads it: its kind, and what that kind states."""
_LOOK_FOR_CYCLE = 2000
"""A run that has not reached its level by this step may never do so."""


@dataclass
class Context:
    """What a clause is evaluated in: the statement, the instance, the proof data and the time left.

    Parameters
    ----------
    statement, instance
        What is checked, and where.
    proofs
        Data of proofs by clause, as a `Theorem` has them.
    deadline
        When the time is over, by `time.monotonic()`, in seconds.
    digits
        Significant digits that are asked for.
    progress
        `progress(step)` is called while a recursion is followed.
    passages
        First passages that were found already.
    iterate_until
        Until when recursions are followed, in seconds, so that some time is left for what comes after.
    in_scope
        Whether all hypotheses hold at the instance, so that a proof for all parameters may use them.
    for_all
        The clauses of which what is proved is proved for all parameters, and not for the instance's words alone: by
        label, whether a proof may use the hypotheses. None for all clauses.
    interrupted
        Whether Ctrl-C ended a computation.
    shipped
        Proofs for all parameters by clause, of which the re-checker will say whether they are accepted.
    work
        What all that the re-checker checks may cost, in nominal microseconds.
    late
        When a computation that does not look at the clock is ended, in seconds.
    clause
        The clause that is decided.
    offered, doubts, withheld
        Proofs for all parameters that clauses were given; why one was not accepted; clauses whose own was not.

    Examples
    --------
    >>> import time
    >>> import verify
    >>> theorem = verify.load_theorem("wang2024.stationary_points")
    >>> context = verify.Context(theorem.statement, {"T": 9, "q": 2, "d": 1}, {}, time.monotonic() + 1)
    >>> context.in_scope
    False
    """

    statement: Statement
    instance: Instance
    proofs: Mapping[str, object]
    deadline: float
    digits: int = DIGITS
    progress: Progress | None = None
    passages: dict[tuple[Dynamics, Fraction, object], Any] = field(default_factory=dict)
    iterate_until: float | None = None
    in_scope: bool = False
    for_all: Mapping[str, bool] | None = None
    interrupted: bool = False
    shipped: Mapping[str, Proof] = field(default_factory=dict)
    work: float = MOST_WORK
    late: float = math.inf
    clause: "Clause | None" = None
    offered: dict[str, Proof] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)

    def withhold(self, label: str, proof: Proof | None) -> bool:
        """Give up a proof for all parameters that is not accepted; return whether another way is left."""
        if label in self.shipped:
            self.shipped = {other: kept for other, kept in self.shipped.items() if other != label}
            return True
        if proof is None or proof is not self.offered.get(label) or label in self.withheld:
            return False
        self.withheld.add(label)
        return True

    def proof_for_all(self) -> Proof | None:
        """Return a proof for all parameters of the clause that is decided, the shipped one or its own; None for none.

        `doubts` says then why there is none, where the clause does.
        """
        assert self.clause is not None
        clause, label = self.clause, self.clause.label
        if label in self.withheld or not (self.for_all is None or label in self.for_all):
            return None
        proof = self.shipped.get(label) if self.in_scope or not clause.rests_on_hypotheses else None
        if proof is None:
            try:
                usable = self.in_scope and (self.for_all is None or self.for_all[label])
                proof = clause.prove(self.statement, hypotheses=usable)
            except (TheoremError, UndefinedError, UndecidedError) as error:
                self.doubts[label] = str(error)
        if proof is not None:
            self.offered[label] = proof
        return proof

    def value(self, expression: sp.Basic) -> Fraction | Enclosure:
        """Return the value of an expression of the parameters; what is found does not depend on the digits shown."""
        return self._to(expression, DIGITS)

    def shown(self, expression: sp.Basic) -> Fraction | Enclosure:
        """Return the value of an expression of the parameters, to the digits that are shown, where these are more."""
        return self._to(expression, max(DIGITS, self.digits))

    def _to(self, expression: sp.Basic, digits: int) -> Fraction | Enclosure:
        return evaluate_rising(self.statement.expand(expression), self.instance, digits=digits)[0]

    def exact(self, expression: sp.Basic) -> Fraction:
        """Return the exact value of an expression; UndefinedError where it is not rational."""
        return exact_value(self.statement, self.instance, expression)

    def expanded(self, dynamics: Dynamics) -> Dynamics:
        """Return the recursion with the statement's definitions put in."""
        return expanded(self.statement, dynamics)

    def passage(self, dynamics: Dynamics, level: Fraction, last_step: int | None = None) -> Passage:
        """Return the first passage of the level, computed once for all clauses."""
        key = (dynamics, level, last_step)
        if key not in self.passages:
            until = self.iterate_until or self.deadline
            self.passages[key] = first_passage(
                dynamics, level, self.instance, deadline=until, last_step=last_step, progress=self.progress
            )
        if self.passages[key].why == INTERRUPTED:
            self.interrupt()
        return self.passages[key]

    def tube(self, dynamics: Dynamics) -> Tube | None:
        """Return the theorem's tube for a recursion, None for none."""
        return next((p for p in self.proofs.values() if isinstance(p, Tube) and p.slow in dynamics.state), None)

    def run(self, dynamics: Dynamics, level: Fraction) -> "Passage | Cycle | Horizon":
        """Return the first passage of the level, a cycle by which it is never reached, or a tube that encloses it."""
        first = self.passage(dynamics, level, _LOOK_FOR_CYCLE)
        if first.reached or first.why in ("time", INTERRUPTED):
            return first
        key = (dynamics, level, "far")
        if key not in self.passages:
            from verify.provers.cycles import avoids

            until = self.iterate_until or self.deadline
            try:
                self.passages[key] = avoids(dynamics, level, self.instance, deadline=until)
                tube = self.tube(dynamics)
                if tube is not None and self.passages[key] is None:
                    # Half the time is left for the run itself.
                    half = (time.monotonic() + until) / 2
                    tube = tube.expanded(self.statement.expand)
                    self.passages[key] = enclose_passage(
                        dynamics, tube, level, self.instance, deadline=half, progress=self.progress
                    )
            except EndError:
                raise
            except KeyboardInterrupt:
                self.passages[key] = replace(first, why=INTERRUPTED)
        run = self.passages[key]
        if run is not None:
            if isinstance(run, Passage) and run.why == INTERRUPTED:
                self.interrupt()
            return run
        rest = self.passage(dynamics, level)
        # What was looked for in between may have left too little time to come as far again.
        return replace(first, why="time") if rest.why == "time" and rest.step < first.step else rest

    def interrupt(self) -> None:
        """Note Ctrl-C: a moment is left for what does not need a long run."""
        self.interrupted, self.deadline = True, min(self.deadline, time.monotonic() + 1)


def exact_value(statement: Statement, instance: Instance, expression: sp.Basic, **more: int) -> Fraction:
    """Return an expression's exact value, with `more` than the instance; UndefinedError where it is not rational."""
    value, _ = evaluate_rising(statement.expand(sp.sympify(expression)), {**instance, **more})
    if not isinstance(value, Fraction):
        raise UndefinedError(f"{text_of(expression)}: a rational value is needed here")
    return value


@cache
def expanded(statement: Statement, dynamics: Dynamics) -> Dynamics:
    """Return a recursion with the statement's definitions put in."""
    if not statement.definitions:
        return dynamics
    initial, step = (tuple(map(statement.expand, parts)) for parts in (dynamics.initial, dynamics.step))
    return Dynamics(dynamics.state, initial, step, statement.expand(dynamics.observable))


class Clause(ClauseData, Protocol):
    """One labelled clause of a statement, and what the engine asks of it: what a kind of clause has to provide.

    The digest covers the data that `to_data` returns, and the re-checker reads them. A kind that is not part of
    `verify` returns those of one that is, whose `text` is then what the data say (`says`), or data of a kind that its
    package brings to the re-checker (`lemmascope.rechecks`); another is computed at most.

    Examples
    --------
    >>> import verify
    >>> claim = verify.load_theorem("wang2024.stationary_points").statement.claims[0]
    >>> bool(claim.label), bool(claim.text)
    (True, True)
    """

    def evaluate(self, context: Context) -> ClauseResult:
        """Decide the clause at the instance of the context: an outcome, and the proof that the re-checker reads.

        It asks the context for a proof for all parameters (`proof_for_all`, which asks `prove`). A number without a
        value raises UndefinedError, one that is not decided UndecidedError.
        """
        ...

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return a proof for all parameters, in scope where `hypotheses` may be used; None where none is found.

        Raises UndefinedError or UndecidedError, which say why there is none.
        """
        ...

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return the clause's relative margin in float64, for a search: ≤ 0 where it seems to fail."""
        ...
