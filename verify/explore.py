"""Search for counterexamples: guided by float64 margins, confirmed in exact or ball arithmetic, made readable."""

import contextlib
import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

from verify.claims import Clause, Context
from verify.conditions import check_domain, evaluate_hypothesis
from verify.dynamics import Progress
from verify.errors import InputError, UndefinedError
from verify.instances import Plan, plan
from verify.outcomes import ClauseResult, Outcome, json_numbers
from verify.parameters import Value, parse_instance

if TYPE_CHECKING:
    from verify.statement import Statement, Theorem

SECONDS, MOST_EXAMPLES = 30, 1000
_CONFIRM_SECONDS = 10


@dataclass(frozen=True)
class ExploreResult:
    """What a search found; the effort (examples, seconds, seed) is part of it.

    A counterexample is always confirmed in exact or ball arithmetic. `smallest_margin` is the
    smallest float64 margin met, relative to the size of what is compared.
    """

    theorem: str
    statement_digest: str
    dropped: tuple[str, ...]
    counterexample: Mapping[str, Value] | None
    clause: ClauseResult | None
    smallest_margin: float | None
    nearest: Mapping[str, Value] | None
    examples: int
    seconds: float
    seed: int
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """1 for a counterexample, 0 for none."""
        return Outcome.VERIFIED.exit_code if self.counterexample is None else Outcome.REFUTED.exit_code

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify explore --json`, without `schema` and `version`."""
        found = self.counterexample
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "dropped": list(self.dropped),
            "counterexample": None if found is None else json_numbers(found),
            "clause": self.clause.label if self.clause else None,
            "certified": self.clause is not None,
            "witness": json_numbers(self.clause.witness) if self.clause else None,
            "detail": self.clause.detail if self.clause else "no counterexample found",
            "smallest_margin": self.smallest_margin,
            "nearest": None if self.nearest is None else json_numbers(self.nearest),
            "examples": self.examples,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
        }


class _StopSearchError(KeyboardInterrupt):
    """The time is over; not an Exception, so that Hypothesis lets it through."""


@dataclass
class _Search:
    """State of one search: what was tried, the nearest miss, the confirmed counterexamples by simplicity."""

    theorem: "Theorem"
    statement: "Statement"
    plan: Plan
    deadline: float
    guided: bool
    progress: Progress | None = None
    examples: int = 0
    margin: float = math.inf
    nearest: dict[str, Value] | None = None
    found: dict[str, Value] | None = None
    clause: ClauseResult | None = None
    tried: dict[tuple[Value, ...], ClauseResult | None] = field(default_factory=dict)

    def look(self, instance: dict[str, Value]) -> ClauseResult | None:
        """Scan the clauses at an instance in float64, and confirm in rigorous arithmetic one that seems to fail."""
        if time.monotonic() > self.deadline:
            raise _StopSearchError
        key = tuple(instance.values())
        if key not in self.tried:
            self.examples += 1
            if self.progress:
                self.progress(self.examples)
            self.tried[key] = self._judge(instance)
        return self.tried[key]

    def _judge(self, instance: dict[str, Value]) -> ClauseResult | None:
        margins = [(scan(clause, self.statement, instance), clause) for clause in self.statement.clauses]
        lowest = min(margin for margin, _ in margins)
        if lowest < self.margin:
            self.margin, self.nearest = lowest, instance
        for margin, clause in sorted(margins, key=lambda pair: pair[0]):
            if margin > 0:
                return None
            result = self._confirm(clause, instance)
            if result.outcome is Outcome.REFUTED:
                if self.found is None or simplicity(instance) < simplicity(self.found):
                    self.found, self.clause = instance, result
                return result
        return None

    def _confirm(self, clause: Clause, instance: dict[str, Value]) -> ClauseResult:
        deadline = min(self.deadline, time.monotonic() + _CONFIRM_SECONDS)
        context = Context(self.statement, instance, self.theorem.proofs, deadline)
        try:
            return clause.evaluate(context)
        except UndefinedError as error:
            return ClauseResult(clause.label, clause.text, Outcome.INCONCLUSIVE, None, detail=str(error))

    def admits(self, instance: Mapping[str, Value]) -> bool:
        """Whether the instance satisfies the domain and every hypothesis that was kept."""
        try:
            check_domain(self.statement, instance)
            checked = parse_instance(self.statement.parameters, instance, partial=False)
        except InputError:
            return False
        return all(evaluate_hypothesis(h, checked).holds for h in self.statement.hypotheses)


def scan(clause: Clause, statement: "Statement", instance: Mapping[str, Value]) -> float:
    """Return a clause's float64 margin at an instance: relative, negative where it seems to fail; inf if undefined."""
    try:
        margin = clause.scan(statement, instance)
    except (UndefinedError, ZeroDivisionError, OverflowError, ValueError):
        return math.inf
    return math.inf if math.isnan(margin) else margin


def explore(
    theorem: "Theorem",
    given: Mapping[str, Any],
    *,
    drop: Sequence[str] = (),
    max_examples: int = MOST_EXAMPLES,
    seconds: float = SECONDS,
    seed: int = 0,
    database: ExampleDatabase | None = None,
    guided: bool = True,
    progress: Progress | None = None,
) -> ExploreResult:
    """Search for an instance that satisfies the hypotheses, but those dropped, and refutes a clause.

    Parameters
    ----------
    given
        Values of parameters that are to stay fixed.
    drop
        Labels of hypotheses to leave out.
    max_examples, seconds
        The effort: instances drawn, and wall-clock time.
    seed
        Seed of the draws.
    database
        Where found instances are kept and replayed from; `None` for nowhere.
    guided
        Whether the margin steers the draws (to measure what steering is worth).
    progress
        Called with the number of instances tried.

    Raises
    ------
    InputError
        For an unknown or structural hypothesis to drop, a bad value, or an empty effort.
    """
    if max_examples < 1:
        raise InputError("max-examples", max_examples, "must be an integer >= 1")
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    statement = without(theorem.statement, drop)
    fixed = parse_instance(statement.parameters, given, partial=True)
    check_domain(statement, fixed)
    relations = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]
    started = time.monotonic()
    state = _Search(
        theorem, statement, plan(statement.parameters, relations, fixed), started + seconds, guided, progress
    )
    interrupted = False
    try:
        _draw(state, max_examples, seed, database)
        if state.found is None and state.nearest is not None:
            _polish(state, seed)
        if state.found is not None:
            _simplify(state)
    except _StopSearchError:
        pass
    except KeyboardInterrupt:
        interrupted = True
    return ExploreResult(
        theorem.id,
        theorem.statement.digest,
        tuple(drop),
        state.found,
        state.clause,
        state.margin if math.isfinite(state.margin) else None,
        state.nearest,
        state.examples,
        time.monotonic() - started,
        seed,
        interrupted,
    )


def default_database() -> ExampleDatabase:
    """Return the database of the command line, in `.hypothesis` of the working directory."""
    return DirectoryBasedExampleDatabase(Path(".hypothesis") / "examples")


def without(statement: "Statement", labels: Sequence[str]) -> "Statement":
    """Return the statement without some of its parametric hypotheses. Raises InputError for any other label."""
    known = {hypothesis.label: hypothesis for hypothesis in statement.hypotheses}
    parametric = ", ".join(label for label, hypothesis in known.items() if hypothesis.relation is not None)
    for label in labels:
        if label not in known:
            raise InputError("--drop", label, f"is no hypothesis of this theorem; it has {', '.join(known)}")
        if known[label].relation is None:
            raise InputError("--drop", label, f"is structural and no variation is coded; can be dropped: {parametric}")
    kept = tuple(hypothesis for hypothesis in statement.hypotheses if hypothesis.label not in labels)
    return replace(statement, hypotheses=kept)


def _draw(state: _Search, max_examples: int, seed: int, database: ExampleDatabase | None) -> None:
    def refutes(instance: dict[str, Value]) -> bool:
        result = state.look(instance)
        if state.guided:
            margin = min(scan(clause, state.statement, instance) for clause in state.statement.clauses)
            hypothesis.target(-_bounded(margin))
        return result is not None

    settings = hypothesis.settings(
        max_examples=max_examples,
        database=database,
        deadline=None,
        print_blob=False,
        # A first counterexample is enough: `_simplify` makes it readable, in the parameters' own terms.
        report_multiple_bugs=False,
        phases=(hypothesis.Phase.reuse, hypothesis.Phase.generate, hypothesis.Phase.target),
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    key = f"{state.statement.digest} {sorted(state.plan.given.items())}".encode()
    source = random.Random(seed)
    with contextlib.suppress(hypothesis.errors.NoSuchExample):
        hypothesis.find(state.plan.instances(), refutes, settings=settings, random=source, database_key=key)


def _bounded(margin: float) -> float:
    """Squash a margin into (−1, 1), as a target for the search."""
    return math.copysign(1.0, margin) if math.isinf(margin) else margin / (1 + abs(margin))


def _polish(state: _Search, seed: int) -> None:
    """Descend from the nearest miss, one parameter at a time, by factors and steps that shrink."""
    for share in (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64), Fraction(1, 1024)):
        improved = True
        while improved and state.found is None:
            assert state.nearest is not None
            before, start = state.margin, state.nearest
            for neighbour in _neighbours(start, share, set(state.plan.given)):
                if state.admits(neighbour):
                    state.look(neighbour)
            improved = state.margin < before


def _neighbours(instance: Mapping[str, Value], share: Fraction, fixed: set[str]) -> Iterator[dict[str, Value]]:
    for name, value in instance.items():
        if name in fixed or isinstance(value, str):
            continue
        for factor in (1 - share, 1 + share):
            if isinstance(value, int):
                moved: Value = value + (1 if factor > 1 else -1) * max(1, int(abs(value) * share))
            else:
                moved = value * factor
            yield {**instance, name: moved}


def _simplify(state: _Search) -> None:
    """Replace values by simpler ones while the counterexample stays one."""
    improved = True
    while improved:
        assert state.found is not None
        start = state.found
        for name in start:
            if name in state.plan.given:
                continue
            for value in simpler_values(state.found[name]):
                if any(
                    state.admits(candidate) and state.look(candidate) is not None
                    for candidate in ({**state.found, name: value}, _carried(state.plan, state.found, name, value))
                ):
                    break
        improved = simplicity(state.found) < simplicity(start)


def _carried(found: Plan, instance: Mapping[str, Value], name: str, value: Value) -> dict[str, Value]:
    """Return the instance with one value changed, and later rationals at the same place of their new ranges."""
    changed: dict[str, Value] = {**instance, name: value}
    later = False
    for parameter in found.parameters:
        old = instance[parameter.name]
        if later and parameter.name not in found.given and isinstance(old, Fraction):
            before, after = found.range(parameter, instance), found.range(parameter, changed)
            if before.low is not None and before.high is not None and after.low is not None and after.high is not None:
                place = (old - before.low) / (before.high - before.low or 1)
                changed[parameter.name] = after.low + place * (after.high - after.low)
        later = later or parameter.name == name
    return changed


def simplicity(instance: Mapping[str, Value]) -> tuple[int, ...]:
    """Return a key by which readable instances come first: digits in all, then the sizes themselves."""
    numbers = [Fraction(value) for value in instance.values() if not isinstance(value, str)]
    sizes = [size for number in numbers for size in (abs(number.numerator), number.denominator)]
    return (sum(len(str(size)) for size in sizes), sum(sizes))


def simpler_values(value: Value) -> Iterator[Value]:
    """Yield values simpler than `value`, the simplest first: small integers, or the simplest nearby fractions."""
    if isinstance(value, str):
        return
    if isinstance(value, int):
        size = abs(value)
        yield from sorted({v for v in (*range(min(size, 12)), size // 2, size * 9 // 10, size - 1) if 0 <= v < size})
        return
    seen = {value}
    for share in (Fraction(9, 10), Fraction(1, 2), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10000)):
        candidate = simplest_between(value - abs(value) * share, value + abs(value) * share)
        if candidate not in seen and simplicity({"": candidate}) < simplicity({"": value}):
            seen.add(candidate)
            yield candidate


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of smallest denominator in [low, high], by the Stern–Brocot tree."""
    if low > high:
        raise InputError("low", low, f"must be <= high = {high}")
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = low.__floor__()
    if whole == low or whole + 1 <= high:
        return Fraction(whole if whole == low else whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
