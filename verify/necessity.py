"""Which hypotheses a theorem needs: each left out in turn, searched, proved without, and its limit looked for.

Needed: an instance that keeps all other hypotheses refutes a clause, certified. Redundant: every clause is proved for
all parameters without it, or the others imply it; what a docstring argues beyond its clauses is not looked at. Else
undecided, with the effort that was made. A refuted instance is
then moved towards the hypothesis: along each parameter in it, the others as they are, and by searching instances at
which the hypothesis fails by a smaller factor. What is clear of violations is what was looked at, and no proof.
"""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import sympy as sp

from verify.certificates import certificate
from verify.conditions import evaluate_hypothesis
from verify.dynamics import Progress
from verify.errors import InputError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation import evaluate_rising
from verify.explore import MOST_EXAMPLES, explore, without
from verify.outcomes import Enclosure, Evidence, Outcome, Quantity, json_numbers
from verify.positivity import positive_proof
from verify.ranges import Range, solvable
from verify.simplify import Instance, simplest_between

if TYPE_CHECKING:
    from verify.statement import Hypothesis, Statement
    from verify.theorem import Theorem

Status = Literal["needed", "redundant", "undecided"]
SECONDS = 60
_CHECK_SECONDS = 10
_HALVINGS = 12
"""Of the way from the hypothesis's end to the violation, along one parameter."""
_CLOSE = Fraction(1, 100)
_PAST = tuple(map(Fraction, ("1/50", "1/4", "1", "4", "100")))
"""How far past the hypothesis to look from the example, relative to where it ends."""
_ROUNDS, _TIGHT = 4, 1.05
"""Searches at smaller factors; two factors are told apart where their ratio exceeds the latter."""


@dataclass(frozen=True)
class Threshold:
    """How far past the hypothesis violations begin, along one parameter with the others as at the witness.

    At `end` the hypothesis ends. `clear` is the furthest value past it at which the clause was looked at and not
    refuted, with what it was found to be; None where the nearest violation is next to the end. At `violated` it is
    refuted, certified.
    """

    parameter: str
    end: Fraction | int
    clear: Fraction | int | None
    clear_outcome: str | None
    violated: Fraction | int

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of `verify necessity --json`."""
        numbers = {"end": self.end, "clear": self.clear, "violated": self.violated}
        return {"parameter": self.parameter, "clear_outcome": self.clear_outcome, **json_numbers(numbers)}


@dataclass(frozen=True)
class Relaxed:
    """The hypothesis small <= large, relaxed to small <= factor · large, over all instances of the others.

    At `violated` there is a certified violation; up to `clear` a search of so many `examples` found none (1: none was
    made below `violated`).
    """

    clear: Quantity
    violated: Quantity
    examples: int

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of `verify necessity --json`."""
        return {**json_numbers({"clear": self.clear, "violated": self.violated}), "examples": self.examples}


@dataclass(frozen=True)
class Need:
    """What was found about one hypothesis.

    Parameters
    ----------
    label, kind, statement
        The hypothesis, as everywhere.
    status, why
        needed, redundant or undecided; the reason in words, with the effort where it is undecided.
    clause, witness, slack
        The clause that is refuted, where, and the hypothesis's slack there.
    thresholds, relaxed
        Where violations begin; empty and None where nothing continuous was to be moved.
    certificate
        Of the statement without the hypothesis, with that clause alone, refuted at the witness.
    """

    label: str
    kind: str
    statement: str
    status: Status
    why: str
    clause: str | None = None
    witness: Mapping[str, Any] | None = None
    slack: Quantity | None = None
    thresholds: tuple[Threshold, ...] = ()
    relaxed: Relaxed | None = None
    certificate: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of `verify necessity --json`."""
        return {
            "label": self.label,
            "kind": self.kind,
            "statement": self.statement,
            "status": self.status,
            "why": self.why,
            "clause": self.clause,
            "witness": None if self.witness is None else json_numbers(self.witness),
            **json_numbers({"slack": self.slack}),
            "thresholds": [threshold.to_json() for threshold in self.thresholds],
            "relaxed": self.relaxed and self.relaxed.to_json(),
        }


@dataclass(frozen=True)
class NecessityResult:
    """What was found about each hypothesis of a theorem."""

    theorem: str
    statement_digest: str
    hypotheses: tuple[Need, ...]
    seconds: float
    seed: int
    interrupted: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify necessity --json`, without `schema` and `version`."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "hypotheses": [need.to_json() for need in self.hypotheses],
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "interrupted": self.interrupted,
        }


def necessity(
    theorem: "Theorem", *, seconds: float = SECONDS, seed: int = 0, progress: Progress | None = None
) -> NecessityResult:
    """Decide for each hypothesis whether it is needed, redundant, or neither was found.

    Parameters
    ----------
    seconds
        Time for each hypothesis.
    seed
        Seed of the draws.
    progress
        Called with the number of instances tried.

    Raises
    ------
    InputError
        For an empty effort.
    """
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    started, needs, interrupted = time.monotonic(), list[Need](), False
    for hypothesis in theorem.statement.hypotheses:
        try:
            needs.append(_decided(theorem, hypothesis, time.monotonic() + seconds, seed, progress))
        except KeyboardInterrupt:
            interrupted = True
            break
    digest = theorem.statement.digest
    return NecessityResult(theorem.id, digest, tuple(needs), time.monotonic() - started, seed, interrupted)


def _decided(
    theorem: "Theorem", hypothesis: "Hypothesis", deadline: float, seed: int, progress: Progress | None
) -> Need:
    shown = (hypothesis.label, hypothesis.kind, hypothesis.statement)
    if hypothesis.relation is None and hypothesis.varies is None:
        return Need(*shown, "undecided", "structural: no variation is coded")
    statement = without(theorem.statement, [hypothesis.label])
    if why := _redundant(theorem, statement, hypothesis):
        return Need(*shown, "redundant", why)
    # Half of the time to find a violation, half to come near to the hypothesis.
    half = time.monotonic() + (deadline - time.monotonic()) / 2
    label, violation, effort = _beside_the_example(theorem, statement, hypothesis, half)
    if violation is None:
        left = max(half - time.monotonic(), (deadline - half) / 2)
        found = explore(theorem, {}, drop=[hypothesis.label], seconds=left, seed=seed, progress=progress)
        if found.interrupted:
            raise KeyboardInterrupt
        if found.counterexample is None or found.clause is None:
            effort += f"{found.examples} instances, seed {seed}, ended by {found.stopped}"
            least = found.smallest_margin
            effort += "" if least is None or least <= 0 else f", smallest relative margin {least:.3g}"
            effort += f", {found.undecided} not decided" if found.undecided else ""
            return Need(*shown, "undecided", f"no violation found: {effort}")
        label, violation = found.clause.label, found.counterexample
    approach = _Approach(theorem, statement, hypothesis, label, deadline)
    witness, thresholds, relaxed = approach.nearest(dict(violation), seed)
    return Need(
        *shown,
        "needed",
        f"without it {label} is refuted, certified",
        label,
        witness,
        None if hypothesis.relation is None else evaluate_hypothesis(approach.at(witness), witness).slack,
        thresholds,
        relaxed,
        approach.certificate(witness),
    )


def _beside_the_example(
    theorem: "Theorem", statement: "Statement", hypothesis: "Hypothesis", deadline: float
) -> tuple[str, Instance | None, str]:
    """Look past the hypothesis from the theorem's example, along each of its parameters in turn.

    Returns the clause that is refuted and where, None where none is, and the effort in words.
    """
    start, tried = theorem.statement.parse(theorem.example), 0
    variant = replace(theorem.variant(statement), values={})
    for name, end in _ends(theorem.statement, hypothesis, start):
        parameter = next(p for p in statement.parameters if p.name == name)
        outward = 1 if Fraction(start[name]) <= end else -1  # type: ignore[arg-type]
        for share in _PAST:
            step = share * abs(end) if end else share
            value = end + outward * (max(1, round(step)) if parameter.kind == "integer" else step)
            value = (math.floor if outward > 0 else math.ceil)(value) if parameter.kind == "integer" else value
            if time.monotonic() > deadline:
                break
            try:
                result = variant.check(**{**start, name: value}, seconds=_CHECK_SECONDS)
            except InputError:
                continue
            tried += 1
            refuted = [clause.label for clause in result.clauses if clause.outcome is Outcome.REFUTED]
            if result.in_scope and refuted:
                return refuted[0], dict(result.instance), ""
    return "", None, f"{tried} instances beside the example, " if tried else ""


def _redundant(theorem: "Theorem", statement: "Statement", hypothesis: "Hypothesis") -> str:
    """Return the proof, in words, that a hypothesis is not needed; "" where there is none."""
    if hypothesis.relation is not None and positive_proof(hypothesis.relation, statement, hypotheses=True):
        return "implied by the others: proved"
    found = theorem.variant(statement).check(**theorem.example, seconds=_CHECK_SECONDS)
    if all(clause.evidence is Evidence.PROVED and clause.holds for clause in found.clauses):
        return "every clause is proved for all parameters without it"
    return ""


class _Approach:
    """The way from a violation to the hypothesis, each step confirmed by a check of the clause alone."""

    def __init__(
        self, theorem: "Theorem", statement: "Statement", hypothesis: "Hypothesis", label: str, deadline: float
    ) -> None:
        clause = next(clause for clause in statement.clauses if clause.label == label)
        self.weakened = replace(theorem.variant(replace(statement, clauses=(clause,))), values={})
        self.statement, self.hypothesis, self.deadline = theorem.statement, hypothesis, deadline

    def at(self, instance: Mapping[str, Any]) -> "Hypothesis":
        """Return the hypothesis with every Case in it decided by the instance's words."""
        return self.statement.decided(self.hypothesis, instance)

    def outcome(self, instance: Mapping[str, Any]) -> Outcome:
        """Return what the clause is found to be where all other hypotheses hold."""
        try:
            return self.weakened.check(**instance, seconds=_CHECK_SECONDS).outcome
        except InputError:
            # Outside a parameter's domain, or too large.
            return Outcome.OUT_OF_SCOPE

    def certificate(self, witness: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the certificate of the violation."""
        found = self.weakened.check(**witness)
        if found.outcome is not Outcome.REFUTED and not any(c.outcome is Outcome.REFUTED for c in found.clauses):
            raise TheoremError(f"{self.weakened.id}: the violation of {self.hypothesis.label} is not found again")
        return certificate(self.weakened, found)

    def nearest(self, witness: Instance, seed: int) -> tuple[Instance, tuple[Threshold, ...], Relaxed | None]:
        """Return the nearest violation that was found, where violations begin around it, and by what factor."""
        if self.hypothesis.relation is None:
            return witness, (), None
        witness, thresholds = self._along_each(witness)
        factor = self._factor(witness)
        if factor is None:
            return witness, thresholds, None
        clear, examples = Fraction(1), 0
        for _ in range(_ROUNDS):
            left = self.deadline - time.monotonic()
            if left <= 0 or _above(factor) < _TIGHT * clear:
                break
            tried = simplest_between(*_around(math.sqrt(float(clear) * float(_above(factor)))))
            found = explore(self._relaxed(tried), {}, seconds=left / 2, max_examples=MOST_EXAMPLES, seed=seed)
            if found.interrupted:
                raise KeyboardInterrupt
            if found.counterexample is None:
                if found.examples:
                    clear, examples = tried, found.examples
                continue
            moved, along = self._along_each(dict(found.counterexample))
            nearer = self._factor(moved)
            if nearer is None or _above(nearer) >= _above(factor):
                break
            witness, thresholds, factor = moved, along, nearer
        return witness, thresholds, Relaxed(clear, factor, examples)

    def _along_each(self, witness: Instance) -> tuple[Instance, tuple[Threshold, ...]]:
        found: dict[str, Threshold] = {}
        for name in _numbers(self.statement, self.hypothesis):
            end = _end(self.statement, self.hypothesis, name, witness)
            if end is not None:
                threshold = self._along(name, end, witness)
                # What was found along another parameter is of an instance that is left.
                found = {} if threshold.violated != witness[name] else found
                found[name] = threshold
                witness = {**witness, name: threshold.violated}
        return witness, tuple(found.values())

    def _along(self, name: str, end: Fraction, witness: Instance) -> Threshold:
        parameter = next(p for p in self.weakened.statement.parameters if p.name == name)
        violated, clear, said, low = Fraction(witness[name]), None, None, end  # type: ignore[arg-type]
        for _ in range(_HALVINGS):
            gap = violated - low
            if abs(gap) <= _CLOSE * max(abs(violated), abs(low)) or time.monotonic() > self.deadline:
                break
            if parameter.kind == "integer":
                middle: Fraction | int = round(low + gap / 2)
                if middle in (low, violated):
                    break
            else:
                ends = sorted((low + 2 * gap / 5, low + 3 * gap / 5))
                middle = simplest_between(*ends)
            outcome = self.outcome({**witness, name: middle})
            if outcome is Outcome.REFUTED:
                violated = Fraction(middle)
            else:
                low = clear = Fraction(middle)
                said = str(outcome)
        whole = (lambda x: x if x is None else int(x)) if parameter.kind == "integer" else (lambda x: x)
        return Threshold(name, end if end.denominator > 1 else int(end), whole(clear), said, whole(violated))

    def _factor(self, witness: Mapping[str, Any]) -> Quantity | None:
        """Return by what factor the smaller side exceeds the larger one; None where one is not positive."""
        relation = self.at(witness).relation
        if relation is None or isinstance(relation, sp.Eq):
            return None
        try:
            small, large = (evaluate_rising(side, witness)[0] for side in (relation.lts, relation.gts))
            if min(_above(small), _above(large)) <= 0:
                return None
            factor = evaluate_rising(relation.lts / relation.gts, witness)[0]
        except (UndefinedError, UndecidedError):
            return None
        return factor if _above(factor) > 1 else None

    def _relaxed(self, factor: Fraction) -> "Theorem":
        relation = self.hypothesis.relation
        assert relation is not None
        large = sp.Rational(factor.numerator, factor.denominator) * relation.gts
        kept = replace(self.hypothesis, relation=type(relation)(*_ordered(relation, large), evaluate=False))
        statement = self.weakened.statement
        return self.weakened.variant(replace(statement, hypotheses=(*statement.hypotheses, kept)))


def _numbers(statement: "Statement", hypothesis: "Hypothesis") -> list[str]:
    """Return the numbers that a hypothesis is about, without those that take their default."""
    used = set() if hypothesis.relation is None else {symbol.name for symbol in hypothesis.relation.free_symbols}  # type: ignore[attr-defined]
    return [p.name for p in statement.parameters if p.kind in ("integer", "rational") and p.name in used]


def _ends(statement: "Statement", hypothesis: "Hypothesis", instance: Instance) -> Iterator[tuple[str, Fraction]]:
    """Yield the numbers along which a hypothesis ends, and where, nearest to an instance."""
    for name in _numbers(statement, hypothesis):
        if (end := _end(statement, hypothesis, name, instance)) is not None:
            yield name, end


def _end(statement: "Statement", hypothesis: "Hypothesis", name: str, instance: Instance) -> Fraction | None:
    names = frozenset(instance) - {name}
    parameter = next(p for p in statement.parameters if p.name == name)
    low = parameter.minimum if parameter.minimum is not None else parameter.above
    domain = Range(None if low is None else Fraction(low), None, low_open=parameter.minimum is None)
    solved = solvable(statement.decided(hypothesis, instance).relation, name, names)
    try:
        parts = solved.ranges({other: instance[other] for other in names}, domain)
    except (UndefinedError, UndecidedError, ZeroDivisionError):
        return None
    at = Fraction(instance[name])  # type: ignore[arg-type]
    ends = [end for part in parts for end in (part.low, part.high) if end is not None and end != low]
    return min(ends, key=lambda end: abs(end - at), default=None)


def _ordered(relation: Any, large: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    return (relation.lts, large) if relation.lhs == relation.lts else (large, relation.lts)


def _above(value: Quantity) -> Fraction:
    upper = value.upper if isinstance(value, Enclosure) else value
    assert upper is not None
    return Fraction(upper)


def _around(value: float) -> tuple[Fraction, Fraction]:
    return Fraction(value) * Fraction(99, 100), Fraction(value) * Fraction(101, 100)
