"""Search for counterexamples: guided by float64 margins, confirmed in exact or ball arithmetic, made readable."""

import contextlib
import json
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, islice, product
from pathlib import Path
from typing import NoReturn

import hypothesis
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

from verify.budget import ended, until
from verify.checking.decide import Decider
from verify.checking.theorem import Theorem
from verify.claims.context import Clause, Context
from verify.claims.in_words import in_words
from verify.errors import InputError, OutOfTimeError, PrimitiveError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.instances import check_domain, completed, evaluate_hypothesis, parse
from verify.evaluation.iteration import Progress
from verify.language.parameters import Value
from verify.language.statement import Statement, is_shipped
from verify.outcomes import ClauseResult, Evidence, Outcome, json_number
from verify.search.instance_strategies import Plan, plan
from verify.search.narrowing import fixed_values, told_to_drop, without
from verify.search.results import ExploreResult
from verify.search.sharpness import Sharpness, sharpness
from verify.search.simplify import Instance, neighbours, simplest
from verify.seeded_draws import own_draws

SECONDS = 30
"""Wall-clock time of a search that is not told another."""
MOST_EXAMPLES = 1000
"""Instances that a search tries, where it is not told another number."""
_CONFIRM_SECONDS = 10
"""For one instance that seems to be a counterexample: one that is not decided by then is counted and skipped."""
_NEAREST_SECONDS = 1
"""For the nearest miss of each clause, which is looked at where floats see nothing wrong: seldom is it refuted."""
_CONFIRMED_TRIALS = 60
"""Simpler counterexamples that are tried where margins mislead: each takes a decision in rigorous arithmetic."""
_LATE = 0.3
"""Seconds after the time is over at which what does not look at the clock is ended."""
_ROUNDED = 1.0
"""The margin of what seemed to fail and does not, or is not decided: large, so that nothing is steered by it."""
_LIMITS = 40
"""At how many instances a clause is decided exactly because its limit degenerates there, and floats have no value."""
_POLISHED = 300
"""How many instances the descent from each clause's nearest miss may try."""
_LEAPS = 12
"""Instances that the leaps from each clause's nearest miss may try, before any draw."""
_STEPS = 30
"""Instances that the steps after them may try."""
_FIRST = 50
"""Instances before any draw are a quarter of all at most, or so many where that is more and half of all at most."""
_SHARES = tuple(Fraction(1, 2**k) for k in (1, 3, 6, 10, 15, 21, 28, 40, 60))
"""By what parts of a value the descent moves; the last moves any integer by 1."""
_AS_NEAR = 1e-9
"""The nearest miss is shown by the simplest instance whose relative margin is larger by no more than this."""


class _StopSearchError(KeyboardInterrupt):
    """The time is over; not an Exception, so that Hypothesis lets it through."""


class _FoundError(KeyboardInterrupt):
    """A counterexample was found; as the other one, no Exception."""


@dataclass
class _Search:
    """State of one search: what was tried, the nearest miss of each clause, the confirmed counterexample."""

    theorem: Theorem
    statement: Statement
    plan: Plan
    deadline: float
    guided: bool
    progress: Progress | None = None
    nearest: dict[str, tuple[float, Instance]] = field(default_factory=dict)
    counterexample: tuple[Instance, ClauseResult] | None = None
    needed: int | None = None
    undecided: int = 0
    tried: dict[tuple[Value, ...], dict[str, float]] = field(default_factory=dict)
    limited: int | None = None
    """How many were tried where the number of instances was the limit; None while that goes on."""
    degenerate: int = 0
    replaying: bool = False
    bounds: tuple[Sharpness, ...] = ()

    def tick(self) -> None:
        """End the search when its time is over."""
        if time.monotonic() > self.deadline:
            raise _StopSearchError

    @property
    def late(self) -> float:
        """When what does not look at the clock is ended."""
        return self.deadline + _LATE

    def margins(self, instance: Instance) -> dict[str, float]:
        """Return each clause's float64 margin at an instance, and remember the smallest."""
        self.tick()
        key = tuple(instance.values())
        if key not in self.tried:
            statement = self.statement.specialised(instance)
            try:
                self.tried[key] = ended(self.late, _scanned, statement, instance)
            except OutOfTimeError:
                raise _StopSearchError from None
            if self.progress:
                self.progress(len(self.tried))
            for label, margin in self.tried[key].items():
                if margin > 0:
                    self._near(label, margin, instance)
        return self.tried[key]

    def look(self, instance: Instance, label: str | None = None) -> None:
        """End the search where a clause (that of a label) is refuted at an instance, the counterexample then."""
        result = self.refutes(instance, label)
        if result is not None:
            self.take(instance, result)

    def take(self, instance: Instance, result: ClauseResult) -> NoReturn:
        """End the search with a counterexample."""
        self.counterexample, self.needed = (instance, result), len(self.tried)
        raise _FoundError

    def _near(self, label: str, margin: float, instance: Instance) -> None:
        if label not in self.nearest or margin < self.nearest[label][0]:
            self.nearest[label] = margin, instance

    def refutes(self, instance: Instance, label: str | None = None) -> ClauseResult | None:
        """Return the clause (that of a label) which rigorous arithmetic refutes, of those that seem to fail."""
        margins = self.margins(instance)
        suspects = sorted((name for name in margins if margins[name] <= 0), key=lambda name: margins[name])
        for suspect in (*suspects, *self._degenerate(margins)):
            if label in (None, suspect):
                result = self.confirm(suspect, instance)
                if result.outcome is Outcome.REFUTED:
                    self._near(suspect, margins[suspect], instance)
                    return result
                # What only rounding made negative steers nothing.
                margins[suspect] = 0.0 if result.margin == 0 else _ROUNDED
                if result.outcome is Outcome.INCONCLUSIVE:
                    self.undecided += 1
                elif result.margin == 0:
                    self._near(suspect, 0.0, instance)
        return None

    def _degenerate(self, margins: dict[str, float]) -> Iterator[str]:
        """Yield the clauses with a limit that floats have no value of here: the limit of other leading terms, say."""
        for name in self.with_limits:
            if margins[name] == math.inf and self.degenerate < _LIMITS:
                self.degenerate += 1
                yield name

    @cached_property
    def with_limits(self) -> tuple[str, ...]:
        """The labels of the clauses that a limit is part of, or of a definition."""
        statement = json.loads(self.statement.canonical())
        everywhere = "Limit" in json.dumps(statement["definitions"])
        clauses = (*statement["claims"], *statement["steps"])
        return tuple(each["label"] for each in clauses if everywhere or '"Limit"' in json.dumps(each))

    def confirm(self, suspect: str, instance: Instance, seconds: float = _CONFIRM_SECONDS) -> ClauseResult:
        """Decide a clause in rigorous arithmetic, at an instance that keeps the domain and every hypothesis.

        Where it is refuted, the re-checker has to find the hypotheses to hold as well: else that is computed at most.
        """
        deadline = min(self.deadline, time.monotonic() + seconds)
        statement = self.statement.specialised(instance)
        place = next(i for i, clause in enumerate(statement.clauses) if clause.label == suspect)
        clause = statement.clauses[place]
        check_domain(self.statement, instance)
        context = Context(statement, instance, self.theorem.proofs, deadline, late=deadline + _LATE)
        decider = Decider(self.statement, context)
        try:
            with until(deadline):
                result = decider.clause(place)
                kept = statement.hypotheses if result.holds is False else ()
                held = [ended(context.late, evaluate_hypothesis, each, instance).holds for each in kept]
                confirmed = decider.scope()[0] if all(held) and held else True
        except (InputError, OutOfTimeError) as error:
            # An InputError says that the instance is too large to be decided.
            return ClauseResult.undecided(clause, str(error))
        if context.interrupted:
            raise KeyboardInterrupt
        for label, holds in zip((h.label for h in kept), held, strict=True):
            # Drawn by an approximation, it may be no instance of the statement.
            if holds is None:
                return ClauseResult.undecided(clause, f"{label} is not decided")
            if not holds:
                return replace(result, outcome=Outcome.OUT_OF_SCOPE, detail=f"breaks {label}")
        if confirmed is False:
            return ClauseResult.undecided(clause, "the re-checker finds a hypothesis to fail")
        if confirmed is None:
            why = "whether the hypotheses hold is not re-checked"
            return replace(result, evidence=Evidence.COMPUTED, rechecked=False, unchecked=why)
        return result


def _scanned(statement: Statement, instance: Instance) -> dict[str, float]:
    return {clause.label: scan(clause, statement, instance) for clause in statement.clauses}


def scan(clause: Clause, statement: Statement, instance: Mapping[str, Value]) -> float:
    """Return a clause's float64 margin at an instance: relative, negative where it seems to fail; inf if undefined."""
    try:
        margin = clause.scan(statement, instance)
    except PrimitiveError:
        raise
    except (UndefinedError, UndecidedError, ZeroDivisionError, OverflowError, ValueError):
        return math.inf
    except Exception as error:
        if isinstance(error, InputError | TheoremError | OutOfTimeError) or is_shipped(clause):
            raise
        raise TheoremError(f"clause {clause.label}: {type(error).__name__}: {error}") from error
    # A power of a negative number is complex in float64.
    return math.inf if isinstance(margin, complex) or math.isnan(margin) else margin


def explore(
    theorem: Theorem,
    given: Mapping[str, object],
    *,
    drop: Sequence[str] | str = (),
    max_examples: int = MOST_EXAMPLES,
    seconds: float = SECONDS,
    seed: int = 0,
    database: ExampleDatabase | None = None,
    guided: bool = True,
    progress: Progress | None = None,
) -> ExploreResult:
    """Search for an instance that satisfies the hypotheses, but those dropped, and refutes a clause.

    A claim or a step; a claim, where hypotheses are dropped.

    Parameters
    ----------
    given
        Values of parameters that are to stay fixed.
    drop
        Labels of hypotheses to leave out, or one label; a structural one only where a parameter varies it.
    max_examples, seconds
        The effort: wall-clock time, and instances: one in general position for each word, the simplest one,
        up to 12 leaps and 30 steps from the nearest miss of each clause, these in all a quarter of them, or 50
        and no more than half, and what is drawn. Beside these as many again at most, and no more than 300, polish
        the nearest miss of each clause, and as many make that one simple. A search repeats itself, unless the time
        ended it or left something undecided.
    seed
        Seed of the draws.
    database
        Where what was found is kept and replayed from; `None` for nowhere.
    guided
        Whether instances are tried before and after the draws, and margins steer these (to measure what that is
        worth).
    progress
        Called with the number of instances tried.

    Raises
    ------
    InputError
        For a hypothesis that is unknown or cannot be dropped, a bad value, or an empty effort.
    NoInstanceError
        Where no instance was found that keeps the hypotheses.
    """
    drop = (drop,) if isinstance(drop, str) else drop
    if max_examples < 1:
        raise InputError("max-examples", max_examples, "must be an integer >= 1")
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    started = time.monotonic()
    statement = without(theorem.statement, drop)
    if drop:
        # A step may need what the claims do not.
        statement = statement.alone(*statement.claims)
    fixed = fixed_values(statement, given)
    state = _Search(theorem, statement, Plan((), {}, fixed), started + seconds, guided, progress)
    # The seed is part of the key: a search repeats itself, whatever others have found.
    key = f"{statement.digest} {sorted(fixed.items())} {seed}".encode()
    with told_to_drop(statement, given):
        stopped = _run(state, partial(_search, state, database, key, most=max_examples, seed=seed, sharp=not drop))
    if state.counterexample is not None and database is not None:
        database.save(
            key, json.dumps({name: json_number(value) for name, value in state.counterexample[0].items()}).encode()
        )
    return _result(state, tuple(drop), stopped, seed, time.monotonic() - started)


def _run(state: _Search, search: Callable[[], None]) -> str:
    """Search until the time is over; return what ended it."""
    try:
        with until(state.deadline):
            ended(state.late + _LATE, search, error=_StopSearchError)
    except _StopSearchError:
        return "seconds"
    except KeyboardInterrupt:
        return "interrupted"
    return "examples" if state.counterexample is None else "found"


def _result(state: _Search, dropped: tuple[str, ...], stopped: str, seed: int, seconds: float) -> ExploreResult:
    names = [parameter.name for parameter in state.statement.parameters]
    examples = len(state.tried) if state.limited is None else state.limited
    margin, nearest = min(state.nearest.values(), key=lambda pair: pair[0], default=(math.inf, None))
    return ExploreResult(
        theorem=state.theorem.id,
        statement_digest=state.theorem.statement.digest,
        dropped=dropped,
        counterexample={name: state.counterexample[0][name] for name in names} if state.counterexample else None,
        clause=state.counterexample[1] if state.counterexample else None,
        smallest_margin=margin if math.isfinite(margin) else None,
        nearest=None if nearest is None else {name: nearest[name] for name in names},
        examples=examples,
        polished=len(state.tried) - examples,
        needed=state.needed,
        undecided=state.undecided,
        sharpness=state.bounds,
        stopped=stopped,
        replayed=state.replaying and state.counterexample is not None,
        seconds=seconds,
        seed=seed,
        in_words=tuple(sorted(in_words(state.statement))),
    )


def _search(state: _Search, database: ExampleDatabase | None, key: bytes, *, most: int, seed: int, sharp: bool) -> None:
    """Go through the ways to find something; what is found is in the state, whatever ends the search."""
    statement, guided = state.statement, state.guided
    relations = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]

    def with_defaults(drawn: Mapping[str, Value]) -> dict[str, Value]:
        try:
            return completed(statement, drawn, scan=True)
        except OutOfTimeError:
            raise _StopSearchError from None

    state.plan = plan(statement.parameters, relations, state.plan.given, tick=state.tick, completed=with_defaults)
    try:
        state.replaying = True
        _replay(state, database, key)
        state.replaying = False
        if guided:
            _begin(state, max(most // 4, min(_FIRST, (most + 1) // 2)), seed)
        if (left := most - len(state.tried)) > 0:
            _draw(state, left, seed)
        state.limited = len(state.tried)
        if guided:
            _polish(state, min(most, _POLISHED))
        if sharp:
            nearest = {label: instance for label, (_, instance) in state.nearest.items()}
            state.bounds = sharpness(state.theorem, state.plan, nearest)
    except _FoundError:
        state.limited = len(state.tried) if state.limited is None else state.limited
        _simplify(state)


def default_database() -> ExampleDatabase:
    """Return the database of the command line, in `.hypothesis` of the working directory."""
    return DirectoryBasedExampleDatabase(Path(".hypothesis") / "examples")


def _replay(state: _Search, database: ExampleDatabase | None, key: bytes) -> None:
    """Look again at what earlier searches of the same statement found."""
    for kept in sorted(database.fetch(key)) if database is not None else ():
        try:
            parsed = parse(state.statement, json.loads(kept))
        except (InputError, ValueError, TypeError, AttributeError, RecursionError):
            continue
        instance = {parameter.name: parsed[parameter.name] for parameter in state.plan.parameters}
        if state.plan.admits(instance):
            state.look(instance)


def _begin(state: _Search, most: int, seed: int) -> None:
    """Try what is most telling: instances in general position, where what is false is seldom true, and the simplest.

    Then leap from the nearest miss of each clause, one parameter at a time, as long as it helps, and descend a little.
    """
    general = state.plan.in_general_position(random.Random(f"{seed} in general position"))
    simple = (instance for instance in (state.plan.simplest_instance(),) if instance is not None)
    for instance in islice(chain(general, simple), most):
        state.look(instance)
    # Where evaluations are slow, most of the time is for the draws as well.
    ends = time.monotonic() + (state.deadline - time.monotonic()) / 4
    for label in sorted(state.nearest, key=lambda label: state.nearest[label][0]):
        last = min(most, len(state.tried) + _LEAPS)
        for name, up in product(state.nearest[label][1], (True, False)):
            before = math.inf
            while state.nearest[label][0] < before and len(state.tried) < last and time.monotonic() < ends:
                before, start = state.nearest[label]
                landed = state.plan.leap(start, name, up=up)
                if landed is not None and state.plan.admits(landed):
                    state.look(landed)
        _descend(state, label, min(most, len(state.tried) + _STEPS), ends)


def _draw(state: _Search, max_examples: int, seed: int) -> None:
    def looked(instance: Instance) -> bool:
        state.look(instance)
        if state.guided:
            for label, margin in state.margins(instance).items():
                hypothesis.target(-_bounded(margin), label=label)
        return False

    settings = hypothesis.settings(
        max_examples=max_examples,
        database=None,
        deadline=None,
        print_blob=False,
        # A counterexample ends it: `_simplify` makes it readable, in the parameters' own terms.
        phases=(hypothesis.Phase.generate, hypothesis.Phase.target),
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    # Nothing was found, or every draw was rejected: no instance was tried then, and the result says so.
    with contextlib.suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Unsatisfiable), own_draws():  # pyright: ignore[reportAttributeAccessIssue]
        hypothesis.find(state.plan.instances(tick=state.tick), looked, settings=settings, random=random.Random(seed))


def _bounded(margin: float) -> float:
    """Squash a margin into (−1, 1), as a target for the search."""
    return math.copysign(1.0, margin) if math.isinf(margin) else margin / (1 + abs(margin))


def _polish(state: _Search, most: int) -> None:
    """Descend from the nearest miss of each clause, one parameter at a time, by factors and steps that shrink."""
    for label in list(state.nearest):
        _descend(state, label, len(state.tried) + most)
        # The nearest miss is looked at rigorously: a margin may be positive by rounding alone.
        least, start = state.nearest[label]
        result = state.confirm(label, start, _NEAREST_SECONDS)
        if result.outcome is Outcome.REFUTED:
            state.take(start, result)
        as_near = lambda i: state.margins(i)[label] <= least + _AS_NEAR  # noqa: B023, E731
        near = simplest(state.plan, start, as_near, most_trials=most)[-1]
        state.look(near, label)
        state.nearest[label] = state.margins(near)[label], near


def _descend(state: _Search, label: str, last: int, ends: float = math.inf) -> None:
    """Descend from the nearest miss of a clause until so many instances have been tried in all, or the time is over.

    What has a default is moved as well: it may have other values.
    """
    for share in _SHARES:
        improved = True
        while improved and len(state.tried) < last and time.monotonic() < ends:
            before, start = state.nearest[label]
            for neighbour in neighbours(start, share, set(state.plan.given)):
                if len(state.tried) >= last:
                    return
                if state.plan.admits(neighbour):
                    state.look(neighbour)
            improved = state.nearest[label][0] < before


def _simplify(state: _Search) -> None:
    """Make the counterexample readable, guided by margins in float64; where these mislead, by confirming each."""
    assert state.counterexample is not None
    start, refuted = state.counterexample
    label = refuted.label

    def fails(instance: Instance) -> bool:
        margin = state.margins(instance)[label]
        # At 0 a relation may hold: a bound that is reached would end the path.
        return margin < 0 or (margin == 0 and state.refutes(instance, label) is not None)

    path = simplest(state.plan, start, fails)
    for instance in reversed(path[1:]):
        if result := state.refutes(instance, label):
            state.counterexample = instance, result
            break
    if state.counterexample[0] == path[-1]:
        return

    def confirmed(instance: Instance) -> bool:
        result = state.refutes(instance, label)
        if result is not None:
            state.counterexample = instance, result
        return result is not None

    simplest(state.plan, state.counterexample[0], confirmed, most_trials=_CONFIRMED_TRIALS)
