# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Clauses about a recursion: its observable falls to a level, and stays at or below it."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import sympy as sp

from verify.budget import proof_work
from verify.claims.defaults import ClauseDefaults
from verify.claims.question import Proof, Question, expanded
from verify.errors import OutOfTimeError, TheoremError
from verify.evaluation.iteration import INTERRUPTED, MOST_EVALUATIONS, Passage, first_excess, scan_trajectory
from verify.evaluation.values import scan_values
from verify.language.clause_data import Dynamics
from verify.language.expressions import to_data
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.outcomes import ClauseResult, Enclosure, Outcome, count_text
from verify.printing import text_of
from verify.provers.descent_lemma import Descent, certify_descent
from verify.provers.proof_data import (
    above_proof,
    cycle_proof,
    descent_proof,
    early_proof,
    excess_proof,
    passage_proof,
    tube_proof,
)
from verify.provers.recursions.cycles import QUICK_CONTRACTION, Cycle, approximate_cycle
from verify.provers.recursions.states import Kept
from verify.provers.tubes import Horizon

if TYPE_CHECKING:
    from verify.evaluation.numerical.arrays import Arrays
    from verify.evaluation.numerical.runs import Margins

SCAN_STEPS = 200_000
"""Maximum number of steps that a search computes in float64; confirming a later step in balls would take long."""


@dataclass(frozen=True)
class Reaches(ClauseDefaults):
    """A clause: the observable of a recursion is at most `level` at some step.

    Parameters
    ----------
    label
        The clause's name.
    dynamics
        The recursion.
    level
        The level.
    within
        The number of steps within which the level is claimed to be reached; None if no such number is claimed.
    not_before
        The number of steps before which the level is claimed not to be reached; None if no such number is claimed.
    says
        The clause in words.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Dynamics, Reaches
    >>> z, eps = sp.symbols("z eps", positive=True)
    >>> Reaches("reached", Dynamics((z,), (sp.Integer(1),), (z / 2,), z), eps).label
    'reached'
    """

    label: str
    dynamics: Dynamics
    level: sp.Expr
    within: sp.Expr | None = None
    says: str = ""
    not_before: sp.Expr | None = None

    def __post_init__(self) -> None:
        _refuse_state(self.label, self.dynamics, self.level, self.within, self.not_before)

    def in_symbols(self) -> str:
        """Return the clause in words."""
        within = "" if self.within is None else f", with t <= {text_of(self.within)}"
        first = "" if self.not_before is None else f", and at none before {text_of(self.not_before)}"
        return f"{text_of(self.dynamics.observable)} <= {text_of(self.level)} at some step t{within}{first}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the recursion's expressions, the level and the bounds on the steps."""
        yield from _dynamics_expressions(self.dynamics, self.level)
        yield from (bound for bound in (self.within, self.not_before) if bound is not None)

    def bound_names(self) -> set[str]:
        """Return the names of the state."""
        return {symbol.name for symbol in self.dynamics.state}

    def bound_domains(self, integers: Collection[str], positives: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return the assumptions that the state may have."""
        return self.dynamics.domains(integers, positives)

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        within = None if self.within is None else to_data(sp.sympify(self.within))
        parts = {"level": to_data(self.level), "within": within, "dynamics": self.dynamics.to_data()}
        if self.not_before is not None:
            parts |= {"not_before": to_data(sp.sympify(self.not_before))}
        return {"kind": "reaches", "label": self.label, "says": self.says} | parts

    def evaluate(self, question: Question) -> ClauseResult:
        """Iterate the recursion in balls to its first step at or below the level, or into an invariant set above it."""
        level, dynamics = question.exact(self.level), expanded(question.statement, self.dynamics)
        last, first = None, 0
        if self.not_before is not None:
            below = _whole(question.value(-self.not_before))
            if below is None:
                return ClauseResult.undecided(self, f"the whole part of {text_of(self.not_before)} is undecided")
            first = -below
        if self.within is not None:
            last = _whole(question.value(self.within))
            if last is None:
                return ClauseResult.undecided(self, f"the whole part of {text_of(self.within)} is undecided")
            if last < 0:
                witness = {**question.instance, "within": last}
                detail = "the bound is negative"
                return ClauseResult.refuted(self, above_proof(None, -1), detail=detail, witness=witness)
        passage = _followed(question, dynamics, level, last)
        if isinstance(passage, Cycle):
            return self._never(question, level, passage)
        if isinstance(passage, Kept):
            return self._kept(question, level, passage)
        if isinstance(passage, Horizon):
            found = self._enclosed(question, level, passage, first, last)
        else:
            found = self._step_by_step(question, level, passage, first)
        return found if found.outcome is Outcome.REFUTED else _for_all(found, question)

    @property
    def above(self) -> sp.Expr:
        """The observable minus the level."""
        return self.dynamics.observable - self.level

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return a proof that each step above the level lowers the observable by a fixed amount, or None."""
        # This import loads SciPy.
        from verify.provers.recursions.states import falling_proof

        if self.within is not None or self.not_before is not None:
            return None
        level, dynamics = statement.expand(sp.sympify(self.level)), expanded(statement, self.dynamics)
        return falling_proof(dynamics, level, statement, proof_work(), hypotheses=hypotheses)

    def _step_by_step(self, question: Question, level: Fraction, passage: Passage, first: int) -> ClauseResult:
        margin = _below(level, passage.observable)
        if passage.reached and passage.step < first:
            witness = {**question.instance, "step": passage.step, "observable": passage.observable}
            detail = f"reached at step {passage.step}, before step {first}"
            shown = {"detail": detail, "witness": witness, "bits": passage.bits}
            return ClauseResult.refuted(self, early_proof(passage), **shown)
        if passage.reached:
            steps = {"steps": Enclosure(passage.step, passage.step)}
            detail = f"reached at step {passage.step}, above the level at every earlier step"
            proof, bits = passage_proof(passage), passage.bits
            return ClauseResult.verified(self, proof, margin=margin, detail=detail, bits=bits, values=steps)
        values = {"steps": Enclosure(passage.step + (passage.why in ("time", "last step")), None)}
        if passage.why == "last step":
            witness = {**question.instance, "step": passage.step, "observable": passage.observable}
            detail = f"still above the level at step {passage.step}"
            shown = {"margin": margin, "detail": detail, "witness": witness, "bits": passage.bits, "values": values}
            return ClauseResult.refuted(self, above_proof(passage, passage.step), **shown)
        known = {
            "time": "the time ran out",
            INTERRUPTED: INTERRUPTED,
            "undecided": f"rounding was undecided at {passage.bits} bits",
        }
        why = known.get(passage.why, "the enclosure grew without bound")
        detail = f"{why} at step {passage.step}, not reached before"
        return ClauseResult.undecided(self, detail, margin=margin, values=values, bits=passage.bits)

    def _enclosed(
        self, question: Question, level: Fraction, horizon: Horizon, first: int, last: int | None
    ) -> ClauseResult:
        (low, high), proof, bits = horizon.steps, tube_proof(horizon), horizon.bits
        steps = Enclosure(low, high)
        between = f"reached between steps {low} and {high}"
        if high < first or (last is not None and low > last):
            detail = f"{between}, all " + (f"before step {first}" if high < first else f"after step {last}")
            witness = {**question.instance, "steps": steps}
            shown = {"detail": detail, "witness": witness, "bits": bits, "values": {"steps": steps}}
            return ClauseResult.refuted(self, proof, **shown)
        if low < first:
            detail = f"{between}, claimed not before {first}"
            return ClauseResult.undecided(self, detail, values={"steps": steps}, bits=bits)
        detail = f"{between}, above the level before: from step {horizon.start.step} on "
        detail += f"the run is in a tube ({len(horizon.nodes) - 1} cells)"
        margin = Enclosure(0, level - horizon.lowest)
        return ClauseResult.verified(self, proof, margin=margin, detail=detail, bits=bits, values={"steps": steps})

    def _never(self, question: Question, level: Fraction, cycle: Cycle) -> ClauseResult:
        detail = f"never reached: from step {cycle.entered_at} on the run is in an invariant set around an attracting "
        detail += f"cycle of period {cycle.period}, where the observable is at least {float(cycle.lowest):.6g}"
        around = {f"cycle_{z.name}": x for z, x in zip(self.dynamics.state, cycle.centre, strict=True)}
        witness = {**question.instance, "entered_at": cycle.entered_at, "period": cycle.period, **around}
        witness |= {"radius": cycle.radius, "lowest": cycle.lowest}
        margin = Enclosure(None, level - cycle.lowest)
        proof, bits = cycle_proof(cycle), cycle.passage.bits
        return ClauseResult.refuted(self, proof, margin=margin, detail=detail, witness=witness, bits=bits)

    def _kept(self, question: Question, level: Fraction, kept: Kept) -> ClauseResult:
        back = "" if kept.period is None else f", and after {count_text(kept.period, 'step')} it is back at its start"
        detail = f"never reached: at every step {' and '.join(map(text_of, kept.invariants))}{back}"
        witness, at_start = dict(question.instance), question.value(kept.at_start)
        witness |= {"observable_at_start": at_start} | ({} if kept.period is None else {"period": kept.period})
        return ClauseResult.refuted(self, kept.proof, detail=detail, witness=witness)

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return the clause's relative margin.

        With `within`, the margin is (level − smallest value up to this step)/|level|, or 1 if the step is beyond
        `SCAN_STEPS` and no violation is seen before. Without `within`, it is 1 if the level is reached. If the level is
        reached at a step t < `not_before`, the margin is at most t/not_before − 1.

        Without `within`, a run that does not reach the level has a small positive margin. It counts as a violation only
        if it never comes below its start, or settles on a cycle above the level. The margin is then negative and small,
        because such a violation is costly to confirm.
        """
        (level,) = scan_values((statement.expand(self.level),), instance)
        dynamics, last, room = expanded(statement, self.dynamics), SCAN_STEPS, 1.0
        (first,) = (0.0,) if self.not_before is None else scan_values((statement.expand(self.not_before),), instance)
        if self.within is not None:
            (within,) = scan_values((statement.expand(self.within),), instance)
            last = math.floor(within)
            if last < 0:
                return -1.0
            if last > SCAN_STEPS and self.not_before is None:
                return 1.0
        smallest, run = math.inf, scan_trajectory(dynamics, instance, min(last, SCAN_STEPS))
        for step, observed in run:
            smallest = min(smallest, observed)
            if smallest <= level:
                room = min(room, step / first - 1) if first > 0 else room
                return min(room, _relative(level, smallest)) if self.within is not None else room
        if self.within is not None:
            return _relative(level, smallest) if last <= SCAN_STEPS else 1.0
        if run and smallest >= run[0][1]:
            # The observable never came below its start: the run may diverge.
            return -1e-3
        steady = run[-1][0] > MOST_EVALUATIONS
        if not steady and approximate_cycle(dynamics, level, instance, QUICK_CONTRACTION) is not None:
            return -1e-3
        return 1 / (1 + math.log1p(max(0.0, -_relative(level, smallest)))) if math.isfinite(smallest) else 1.0

    def over_arrays(self, statement: Statement, names: frozenset[str], arrays: "Arrays") -> "Margins":
        """Return the function that gives the margins at many points at once, for the numerical search."""
        from verify.evaluation.numerical.runs import reaching

        level, within, first = (
            None if each is None else statement.expand(sp.sympify(each))
            for each in (self.level, self.within, self.not_before)
        )
        return reaching(expanded(statement, self.dynamics), level, within, first, names, arrays)


def _for_all(found: ClauseResult, question: Question) -> ClauseResult:
    """Return a result at an instance, with the proof for all parameters, if there is one, in place of its own proof."""
    try:
        shown, _ = question.proof_for_all()
    except OutOfTimeError:
        return found
    if shown is None:
        return found
    detail = "; ".join(
        filter(None, ("each step above the level lowers the observable, for all parameters", found.detail))
    )
    return replace(found, outcome=Outcome.VERIFIED, proof=shown, detail=detail)


def _followed(
    question: Question, dynamics: Dynamics, level: Fraction, last: int | None
) -> "Passage | Cycle | Kept | Horizon":
    """Return a run's first passage of a level, up to the step `last` if given, or a proof or enclosure beyond it."""
    if last is None:
        return question.run(dynamics, level)
    if question.tube(dynamics) is not None:
        # The tube encloses the run beyond the steps that can be computed.
        far = question.run(dynamics, level)
        if isinstance(far, Horizon) and not far.steps[0] <= last < far.steps[1]:
            return far
        if isinstance(far, Passage) and far.reached and far.step <= last:
            return far
    return question.passage(dynamics, level, last)


@dataclass(frozen=True)
class Stays(ClauseDefaults):
    """A clause: once the observable of a recursion is at most `reached`, it is at most `level` from then on.

    Parameters
    ----------
    label
        The clause's name.
    dynamics
        The recursion.
    reached, level
        The two levels.
    says
        The clause in words.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Dynamics, Stays
    >>> z, eps = sp.symbols("z eps", positive=True)
    >>> Stays("stays", Dynamics((z,), (sp.Integer(1),), (z / 2,), z), eps, eps).label
    'stays'
    """

    label: str
    dynamics: Dynamics
    reached: sp.Expr
    level: sp.Expr
    says: str = ""

    def __post_init__(self) -> None:
        _refuse_state(self.label, self.dynamics, self.reached, self.level)

    def in_symbols(self) -> str:
        """Return the clause in words."""
        observable = text_of(self.dynamics.observable)
        after = f"at all steps s >= t, where t is the first step with {observable} <= {text_of(self.reached)}"
        return f"{observable} <= {text_of(self.level)} {after}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the recursion's expressions and both levels."""
        yield from _dynamics_expressions(self.dynamics, self.level)
        yield self.reached

    def bound_names(self) -> set[str]:
        """Return the names of the state."""
        return {symbol.name for symbol in self.dynamics.state}

    def bound_domains(self, integers: Collection[str], positives: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return the assumptions that the state may have."""
        return self.dynamics.domains(integers, positives)

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        levels = {"reached": to_data(self.reached), "level": to_data(self.level)}
        data = {"kind": "stays", "label": self.label, "says": self.says}
        return {**data, **levels, "dynamics": self.dynamics.to_data()}

    def evaluate(self, question: Question) -> ClauseResult:
        """Look for a later step above the level; certify that the observable never increases; else look further."""
        reached, level = question.exact(self.reached), question.exact(self.level)
        dynamics = expanded(question.statement, self.dynamics)
        passage, question = question.run(dynamics, reached), question.left()
        if isinstance(passage, Cycle | Kept):
            detail = "the level is never reached, so that there is nothing to keep"
            kept = isinstance(passage, Kept)
            proof, bits = (passage.proof, None) if kept else (cycle_proof(passage), passage.passage.bits)
            return ClauseResult.verified(self, proof, detail=detail, bits=bits)
        far = isinstance(passage, Horizon)
        passage = passage.start if isinstance(passage, Horizon) else passage
        excess, why = self._excess(question, passage, reached, level, MOST_EVALUATIONS), "no invariant region is known"
        proof = question.proofs.get(self.label)
        if excess is None and isinstance(proof, Descent) and reached <= level:
            descent = certify_descent(dynamics, proof, question.instance, deadline=question.budget.end)
            why = descent.why
            if descent.holds and descent.bits is not None:
                detail = f"the observable never increases on an invariant box ({descent.boxes} parts)"
                # If `reached` was not reached yet, only `observable <= reached` is known of later values.
                margin = _below(level, passage.observable) if passage.reached else Enclosure(level - reached, None)
                shown = descent_proof(proof.metric, proof.coordinates, descent.cuts, descent.bits)
                return ClauseResult.verified(self, shown, margin=margin, detail=detail, bits=passage.bits)
        excess = excess or self._excess(question, passage, reached, level, passage.step)
        if excess is None:
            after = "; later steps are not computed" if far else "; the level was not reached"
            why += "" if passage.reached else after
            return ClauseResult.undecided(self, why, bits=passage.bits)
        step, value, bits = excess
        witness = {**question.instance, "reached_at": passage.step, "above_at": step, "observable": value}
        detail = f"reached at step {passage.step}, above {level} at step {step}"
        proof, margin = excess_proof(passage, step, bits), _below(level, value)
        return ClauseResult.refuted(self, proof, margin=margin, detail=detail, witness=witness, bits=bits)

    def _excess(
        self, question: Question, passage: Passage, reached: Fraction, level: Fraction, steps: int
    ) -> tuple[int, Enclosure, int] | None:
        """Return a step at which the observable is certified above the level, its value there, and the bits.

        At most `steps` steps after the passage are computed; None if there is no passage, or no such step is found.
        """
        if not passage.reached:
            return None
        dynamics, end = expanded(question.statement, self.dynamics), question.budget.end
        return first_excess(dynamics, reached, level, question.instance, passage, steps=steps, deadline=end)

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return (level − largest value after `reached` is reached)/|level|; above 2 if `reached` is not reached."""
        reached, level = scan_values((statement.expand(self.reached), statement.expand(self.level)), instance)
        smallest, largest = math.inf, -math.inf
        for _, observed in scan_trajectory(expanded(statement, self.dynamics), instance, SCAN_STEPS):
            if smallest <= reached or observed <= reached:
                largest = max(largest, observed)
                if _relative(level, largest) < -1:
                    break
            smallest = min(smallest, observed)
        return _relative(level, largest) if smallest <= reached else 2 - _relative(reached, smallest)

    def over_arrays(self, statement: Statement, names: frozenset[str], arrays: "Arrays") -> "Margins":
        """Return the function that gives the margins at many points at once, for the numerical search."""
        from verify.evaluation.numerical.runs import staying

        reached, level = (statement.expand(sp.sympify(each)) for each in (self.reached, self.level))
        return staying(expanded(statement, self.dynamics), reached, level, names, arrays)


def _relative(level: float, observed: float) -> float:
    """Return (level − observed)/|level|, or with |observed| if the level is 0; −∞ if `observed` is not finite."""
    return (level - observed) / (abs(level) or abs(observed) or 1.0) if math.isfinite(observed) else -math.inf


def _dynamics_expressions(dynamics: Dynamics, level: sp.Expr) -> Iterator[sp.Basic]:
    yield from (*dynamics.initial, *dynamics.step, dynamics.observable, sp.sympify(level))


def _refuse_state(label: str, dynamics: Dynamics, *levels: sp.Expr | None) -> None:
    state = {symbol.name for symbol in dynamics.state}
    for level in levels:
        if used := sorted(s.name for s in sp.sympify(level or 0).free_symbols if s.name in state):  # pyright: ignore[reportAttributeAccessIssue]
            raise TheoremError(f"clause {label}: {text_of(level)} uses {used[0]}, which the recursion binds")


def _below(level: Fraction, observable: Enclosure | None) -> Enclosure | None:
    if observable is None or observable.lower is None or observable.upper is None:
        return None
    return Enclosure(level - observable.upper, level - observable.lower)


def _whole(value: Fraction | Enclosure) -> int | None:
    """Return the floor of a value, or None if its enclosure does not decide it."""
    if isinstance(value, Fraction):
        return math.floor(value)
    assert value.lower is not None and value.upper is not None
    low, high = math.floor(value.lower), math.floor(value.upper)
    return low if low == high else None
