"""Search for counterexamples: guided by float64 margins, confirmed in exact or ball arithmetic, made readable."""

import contextlib
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain, islice, product
from pathlib import Path

import hypothesis
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

from verify.budget import ended, require_effort, until
from verify.checking.theorem import Theorem
from verify.claims.in_words import in_words
from verify.errors import InputError, OutOfTimeError
from verify.evaluation.instances import completed, parse
from verify.evaluation.iteration import Progress
from verify.language.parameters import Value
from verify.outcomes import Outcome, json_number
from verify.search.instance_strategies import Plan, plan
from verify.search.narrowing import fixed_values, told_to_drop, without
from verify.search.results import ExploreResult
from verify.search.sharpness import sharpness
from verify.search.simplify import Instance, neighbours, simplest
from verify.search.verdicts.decision import PARTING
from verify.search.verdicts.state import FoundError, Search, StopSearchError
from verify.search.verdicts.tally import Tried, Verdict
from verify.seeded_draws import own_draws

SECONDS = 30
"""Wall-clock time of a search that is not told another."""
MOST_EXAMPLES = 1000
"""Instances that a search tries, where it is not told another number."""
_NEAREST_SECONDS = 1
"""For the nearest miss of each clause, which is looked at where floats see nothing wrong: seldom is it refuted."""
_CONFIRMED_TRIALS = 60
"""Simpler counterexamples that are tried where margins mislead: each takes a decision in rigorous arithmetic."""
_VERDICTS, _FEW_VERDICTS = 0.1, 0.02
"""The part of the time that is left for verdicts on what was tried, and where float64 or one proof gives nearly all."""
_LEAST_VERDICTS = 1.0
"""Seconds for verdicts, of what is left of the time; where the search itself took longer, as long again."""
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
        the nearest miss of each clause, and as many make that one simple. Verdicts that float64 cannot give take as
        long again at most. A search repeats itself, unless the time ended it or left something undecided.
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
    require_effort(max_examples=max_examples, seconds=seconds)
    started = time.monotonic()
    statement = without(theorem.statement, drop)
    if drop:
        # A step may need what the claims do not.
        statement = statement.alone(*statement.claims)
    fixed = fixed_values(statement, given)
    state = Search(theorem, statement, Plan((), {}, fixed), started + seconds, guided, progress)
    state.deadline -= seconds * (_FEW_VERDICTS if state.tally.takes_little() else _VERDICTS)
    # The seed is part of the key: a search repeats itself, whatever others have found.
    key = f"{statement.digest} {sorted(fixed.items())} {seed}".encode()
    with told_to_drop(statement, given):
        stopped = _run(state, partial(_search, state, database, key, most=max_examples, seed=seed, sharp=not drop))
        state.tally.by_floats(state.tried.values())
        if stopped in ("examples", "seconds"):
            now = time.monotonic()
            state.deadline = min(started + seconds, now + max(_LEAST_VERDICTS, now - started))
            judged = _run(state, partial(_judge, state))
            stopped = judged if judged in ("found", "interrupted") else stopped
    if state.counterexample is not None and database is not None:
        database.save(
            key, json.dumps({name: json_number(value) for name, value in state.counterexample[0].items()}).encode()
        )
    return _result(state, tuple(drop), stopped, seed, time.monotonic() - started)


def _run(state: Search, search: Callable[[], None]) -> str:
    """Search until the time is over; return what ended it."""
    try:
        with until(state.deadline):
            ended(state.hard_end + PARTING, search, error=StopSearchError)
    except (StopSearchError, OutOfTimeError):
        # The latter where what looks at the clock does so outside a verdict, as a domain's primitive.
        return "seconds"
    except KeyboardInterrupt:
        return "interrupted"
    return "examples" if state.counterexample is None else "found"


def _result(state: Search, dropped: tuple[str, ...], stopped: str, seed: int, seconds: float) -> ExploreResult:
    names = [parameter.name for parameter in state.statement.parameters]
    counted = _counted(state)
    verdicts = Counter(map(state.tally.verdict, counted))
    looked_up = [state.tried[tuple(instance.values())] for _, instance in state.nearest.values()]
    margin, nearest = state.tally.smallest(counted, looked_up) or (None, None)
    if state.counterexample is not None:
        margin, nearest = min(state.nearest.values(), key=lambda pair: pair[0], default=(None, None))
    return ExploreResult(
        theorem=state.theorem.id,
        statement_digest=state.theorem.statement.digest,
        dropped=dropped,
        counterexample={name: state.counterexample[0][name] for name in names} if state.counterexample else None,
        clause=state.counterexample[1] if state.counterexample else None,
        smallest_margin=margin if margin is not None and math.isfinite(margin) else None,
        nearest=None if nearest is None else {name: nearest[name] for name in names},
        examples=len(counted),
        clean=verdicts[Verdict.CLEAN],
        refuted=verdicts[Verdict.REFUTED],
        undecided=verdicts[Verdict.UNDECIDED],
        not_reached=sum(map(state.tally.is_late, counted)),
        without_value=verdicts[Verdict.WITHOUT_VALUE],
        polished=len(state.tried) - len(counted),
        needed=state.needed,
        sharpness=state.bounds,
        stopped=stopped,
        replayed=state.replaying and state.counterexample is not None,
        seconds=seconds,
        seed=seed,
        looked_at=state.tally.labels,
        in_words=tuple(sorted(in_words(state.statement))),
    )


def _counted(state: Search) -> list[Tried]:
    """Return what the number of instances limits, and the one that is refuted, wherever it was met."""
    tried = list(state.tried.values())
    counted = tried if state.limited is None else tried[: state.limited]
    first = state.refuted
    return counted if first is None or any(each is first for each in counted) else [*counted, first]


def _judge(state: Search) -> None:
    """Decide what float64 left open: by proofs for all parameters, then one instance after the other."""
    tried = _counted(state)
    tried += [state.tried[tuple(instance.values())] for _, instance in state.nearest.values()]
    try:
        state.tally.by_proofs(state.tried.values(), state.deadline)
        for each, result in state.tally.one_by_one(tried, state.deadline):
            state.take(each.instance, result)
    except FoundError:
        _simplify(state)


def _search(state: Search, database: ExampleDatabase | None, key: bytes, *, most: int, seed: int, sharp: bool) -> None:
    """Go through the ways to find something; what is found is in the state, whatever ends the search."""
    statement, guided = state.statement, state.guided
    relations = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]

    def with_defaults(drawn: Mapping[str, Value]) -> dict[str, Value]:
        try:
            return completed(statement, drawn, scan=True)
        except OutOfTimeError:
            raise StopSearchError from None

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
    except FoundError:
        state.limited = len(state.tried) if state.limited is None else state.limited
        _simplify(state)


def default_database() -> ExampleDatabase:
    """Return the database of the command line, in `.hypothesis` of the working directory."""
    return DirectoryBasedExampleDatabase(Path(".hypothesis") / "examples")


def _replay(state: Search, database: ExampleDatabase | None, key: bytes) -> None:
    """Look again at what earlier searches of the same statement found."""
    for kept in sorted(database.fetch(key)) if database is not None else ():
        try:
            parsed = parse(state.statement, json.loads(kept))
        except (InputError, ValueError, TypeError, AttributeError, RecursionError):
            continue
        instance = {parameter.name: parsed[parameter.name] for parameter in state.plan.parameters}
        if state.plan.admits(instance):
            state.look(instance)


def _begin(state: Search, most: int, seed: int) -> None:
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


def _draw(state: Search, max_examples: int, seed: int) -> None:
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


def _polish(state: Search, most: int) -> None:
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


def _descend(state: Search, label: str, last: int, ends: float = math.inf) -> None:
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


def _simplify(state: Search) -> None:
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
