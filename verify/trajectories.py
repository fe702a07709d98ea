"""Clauses about a recursion: its observable comes down to a level, and stays there."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from verify.claims import Context
from verify.descent import Descent, certify_descent
from verify.dynamics import INTERRUPTED, Dynamics, first_excess
from verify.language import to_data
from verify.outcomes import ClauseResult, Enclosure, Evidence, Outcome


@dataclass(frozen=True)
class Reaches:
    """The observable of a recursion is ≤ `level` at some step, and (`within`) at one no later than that."""

    label: str
    dynamics: Dynamics
    level: sp.Expr
    within: sp.Expr | None = None
    says: str = ""

    @property
    def text(self) -> str:
        """The clause in words."""
        within = "" if self.within is None else f", with t <= {self.within}"
        return self.says or f"{self.dynamics.observable} <= {self.level} at some step t{within}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the recursion's expressions and the level."""
        yield from _dynamics_expressions(self.dynamics, self.level)
        if self.within is not None:
            yield self.within

    def bound_names(self) -> set[str]:
        """Return the names of the state."""
        return {symbol.name for symbol in self.dynamics.state}

    def to_data(self) -> dict[str, Any]:
        """Return what the digest covers."""
        within = None if self.within is None else to_data(sp.sympify(self.within))
        data = {"kind": "reaches", "label": self.label, "level": to_data(self.level), "within": within}
        return data | {"dynamics": self.dynamics.to_data()}

    def evaluate(self, context: Context) -> ClauseResult:
        """Follow the recursion in balls to its first step at or below the level."""
        level = context.value(self.level)
        assert isinstance(level, Fraction)
        last = None
        if self.within is not None:
            within = context.value(self.within)
            last = int(within if isinstance(within, Fraction) else _floor(within))
        passage = context.passage(self.dynamics, level, last)
        margin = _below(level, passage.observable)
        if passage.reached:
            steps = Enclosure(passage.step, passage.step)
            detail = f"reached at step {passage.step}, above the level at every earlier step"
            return ClauseResult(
                self.label,
                self.text,
                Outcome.VERIFIED,
                Evidence.CERTIFIED,
                margin,
                detail,
                {},
                {"steps": steps},
                passage.bits,
            )
        values = {"steps": Enclosure(passage.step + (passage.why != "undecided"), None)}
        if passage.why == "last step":
            witness = dict(context.instance) | {"step": passage.step, "observable": passage.observable}
            detail = f"still above the level at step {passage.step}"
            return ClauseResult(
                self.label,
                self.text,
                Outcome.REFUTED,
                Evidence.CERTIFIED,
                margin,
                detail,
                witness,
                values,
                passage.bits,
            )
        why = {
            "time": "the time ran out",
            INTERRUPTED: INTERRUPTED,
            "undecided": f"rounding was undecided at {passage.bits} bits",
        }
        detail = (
            f"{why.get(passage.why, 'the enclosure grew without bound')} at step {passage.step}, not reached before"
        )
        return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, margin, detail, {}, values, passage.bits)


@dataclass(frozen=True)
class Stays:
    """Once the observable of a recursion is ≤ `reached`, it is ≤ `level` at that and at all later steps."""

    label: str
    dynamics: Dynamics
    reached: sp.Expr
    level: sp.Expr
    says: str = ""

    @property
    def text(self) -> str:
        """The clause in words."""
        after = f"for all steps s >= t, t the first with <= {self.reached}"
        return self.says or f"{self.dynamics.observable} <= {self.level} {after}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the recursion's expressions and both levels."""
        yield from _dynamics_expressions(self.dynamics, self.level)
        yield self.reached

    def bound_names(self) -> set[str]:
        """Return the names of the state."""
        return {symbol.name for symbol in self.dynamics.state}

    def to_data(self) -> dict[str, Any]:
        """Return what the digest covers."""
        data = {"kind": "stays", "label": self.label, "reached": to_data(self.reached), "level": to_data(self.level)}
        return data | {"dynamics": self.dynamics.to_data()}

    def evaluate(self, context: Context) -> ClauseResult:
        """Certify that the observable never increases, else look for a later step above the level."""
        reached, level = context.value(self.reached), context.value(self.level)
        assert isinstance(reached, Fraction) and isinstance(level, Fraction)
        passage = context.passage(self.dynamics, reached)
        proof, why = context.proofs.get(self.label), "no invariant region is known"
        if isinstance(proof, Descent) and reached <= level:
            descent = certify_descent(self.dynamics, proof, context.instance, deadline=_at_least(context.deadline, 5))
            why = descent.why
            if descent.holds:
                now = passage.observable if passage.reached else Enclosure(0, level)
                detail = f"the observable never increases on an invariant box ({descent.boxes} parts)"
                return ClauseResult(
                    self.label,
                    self.text,
                    Outcome.VERIFIED,
                    Evidence.CERTIFIED,
                    _below(level, now),
                    detail,
                    bits=passage.bits,
                )
        if not passage.reached:
            return ClauseResult(
                self.label, self.text, Outcome.INCONCLUSIVE, None, detail=f"{why}; the level was not reached"
            )
        found = first_excess(
            self.dynamics,
            level,
            context.instance,
            passage,
            steps=max(1000, passage.step),
            deadline=_at_least(context.deadline, 1),
        )
        if found is None:
            return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, detail=why, bits=passage.bits)
        step, value = found
        witness = dict(context.instance) | {"reached_at": passage.step, "above_at": step, "observable": value}
        detail = f"reached at step {passage.step}, above {level} at step {step}"
        return ClauseResult(
            self.label,
            self.text,
            Outcome.REFUTED,
            Evidence.CERTIFIED,
            _below(level, value),
            detail,
            witness,
            bits=passage.bits,
        )


def _dynamics_expressions(dynamics: Dynamics, level: sp.Expr) -> Iterator[sp.Basic]:
    yield from (*dynamics.initial, *dynamics.step, dynamics.observable, sp.sympify(level))


def _below(level: Fraction, observable: Enclosure | None) -> Enclosure | None:
    if observable is None or observable.lower is None or observable.upper is None:
        return None
    return Enclosure(level - observable.upper, level - observable.lower)


def _floor(value: Enclosure) -> Fraction:
    assert value.lower is not None
    return Fraction(value.lower.__floor__())


def _at_least(deadline: float, seconds: float) -> float:
    return max(deadline, time.monotonic() + seconds)
