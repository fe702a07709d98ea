"""Search for counterexamples: guided by float64 margins, confirmed in exact or ball arithmetic, and simplified."""

import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice, product

from verify import remembered
from verify.budget import ended, require_effort, until
from verify.checking.processes.location import located_for_others
from verify.checking.theorem import Theorem
from verify.claims.in_words import in_words
from verify.errors import InputError, NoInstanceError, OutOfTimeError
from verify.evaluation.instances import completed, parse
from verify.evaluation.iteration import Progress
from verify.evaluation.numerical.limits import NUMERICAL
from verify.evaluation.numerical.suspects import Suspect, suspects
from verify.executor import Workers, workers
from verify.language.parameters import Value
from verify.outcomes import json_number
from verify.search.limits import EXPLORE, PROVE
from verify.search.narrowing import fixed_values, searched, settled_in_time, told_to_drop
from verify.search.plans import Plan, plan, quick_plan
from verify.search.proofs.words import Evaluated, evaluate_at
from verify.search.results import ExploreResult
from verify.search.sharpness import sharpness
from verify.search.simplify import Instance, neighbours, simplest
from verify.search.verdicts.ahead import Ahead, Look, Sought
from verify.search.verdicts.state import Search
from verify.search.verdicts.tally import Tried, Verdict

_KEPT = "counterexample.{}"
"""The name under which a counterexample is kept."""


def explore(
    theorem: Theorem,
    given: Mapping[str, object],
    *,
    drop: Sequence[str] | str = (),
    max_examples: int = EXPLORE.max_examples,
    seconds: float = EXPLORE.seconds,
    seed: int = 0,
    keep: bool = False,
    guided: bool = True,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> ExploreResult:
    """Search for an instance that satisfies the hypotheses, except the dropped ones, and refutes a clause.

    The clauses searched are the claims, and the steps that no certificate in the theorem's package proves for all
    instances in scope. If a hypothesis is dropped, only the claims are searched.

    Parameters
    ----------
    given
        Values of parameters that are to stay fixed.
    drop
        Labels of hypotheses to leave out, or one label; a structural hypothesis only if a parameter varies it.
    max_examples, seconds
        Maximum number of instances, and wall-clock time. At most a quarter of the instances (or 50 if that is more, but
        no more than half of them) are tried first: suspects of a numerical search in float64, one instance in general
        position for each word, the simplest one, and up to 12 leaps and 30 steps from the nearest miss of each clause.
        The others are random draws. The numerical search evaluates about 100 points for each of the `max_examples`
        instances, or 20 if a clause is about a recursion. In addition, `max_examples` instances, at most 300, polish
        the nearest miss of each clause, and as many simplify it. Verdicts that float64 cannot give take at most as long
        as the search, within `seconds`. The numerical part has a quarter of the time. A search is repeatable unless the
        time left something undecided or ended a part; `stopped` is "seconds" if the time ended the search or the
        numerical part.
    seed
        Seed of the draws.
    keep
        Whether a counterexample is kept in `.lemmascope` of the working directory, and tried first the next time.
    guided
        Whether instances are also tried before and after the draws, and a quarter of the draws are near the nearest
        misses. A search without guidance measures the gain of guidance.
    jobs, scheduler
        Number of local processes that look at instances, or the address of a Dask scheduler whose workers do. The
        instances and the result do not depend on it.
    progress
        Called with the number of instances tried.

    Raises
    ------
    InputError
        If a hypothesis is unknown or cannot be dropped, a value is bad, a limit is not positive, the scheduler does
        not answer, or other processes cannot load the theorem.
    NoInstanceError
        If no instance was found that satisfies the hypotheses.
    """
    drop = (drop,) if isinstance(drop, str) else drop
    require_effort(max_examples=max_examples, seconds=seconds)
    started = time.monotonic()
    settled = frozenset[str]() if drop else settled_in_time(theorem, EXPLORE.settling * seconds)
    statement = searched(theorem, drop, settled)
    fixed = fixed_values(statement, given)
    state = Search(theorem, statement, Plan((), {}, fixed), started + seconds, guided, progress)
    said = () if drop or theorem.is_variant else _evaluations(theorem)
    state.deadline -= seconds * (EXPLORE.few_verdicts if state.tally.takes_little() else EXPLORE.verdicts)
    state.deadline -= seconds * (PROVE.in_words if said else 0)
    # The seed is part of the key, so that a search does not depend on counterexamples found with other seeds.
    searching = f"{theorem.statement.digest} {sorted(drop)} {sorted(fixed.items())} {seed}"
    key = remembered.digest_of(searching.encode()) if keep else ""
    with workers(jobs, scheduler) as others, told_to_drop(statement, given):
        look = _look_of(state, others, tuple(drop), settled)
        stopped = _run(state, partial(_search, state, look, key, most=max_examples, seed=seed, sharp=not drop))
        stopped = "seconds" if stopped == "examples" and state.cut else stopped
        state.tally.by_floats(state.tried.values())
        if stopped in ("examples", "seconds"):
            now = time.monotonic()
            state.deadline = min(started + seconds, now + max(EXPLORE.least_verdicts, now - started))
            judged = _run(state, partial(_judge, state))
            stopped = judged if judged in ("found", "interrupted") else stopped
        if said and stopped in ("examples", "seconds"):
            state.deadline = min(started + seconds, time.monotonic() + PROVE.in_words * seconds)
            judged = _run(state, partial(_evaluate, state, said))
            stopped = judged if judged in ("found", "interrupted") else stopped
    if state.counterexample is not None and keep:
        remembered.make_folder()
        found = {name: json_number(value) for name, value in state.counterexample[0].items()}
        remembered.HERE.remember(_KEPT.format(key), key, found)
    return _result(state, tuple(drop), stopped, seed, time.monotonic() - started)


def _look_of(state: Search, others: Workers, dropped: tuple[str, ...], settled: frozenset[str]) -> Look:
    """Return the function that looks at instances, in this process or in others."""
    if not others:
        return state.look_at_each
    return Ahead(state, others, Sought(located_for_others(state.theorem), dropped, settled)).look


def _run(state: Search, search: Callable[[], None]) -> str:
    """Run a part of a search until the time is over; return the cause of the end."""
    try:
        with until(state.deadline):
            ended(state.hard_end + EXPLORE.grace, search)
    except OutOfTimeError:
        return "seconds"
    except KeyboardInterrupt:
        return "interrupted"
    return "examples" if state.counterexample is None else "found"


def _result(state: Search, dropped: tuple[str, ...], stopped: str, seed: int, seconds: float) -> ExploreResult:
    names = [parameter.name for parameter in state.statement.parameters]
    whole, counted = state.theorem.statement, _counted(state)
    verdicts = Counter(map(state.tally.verdict, counted))
    looked_up = [state.tried[tuple(instance.values())] for _, instance in state.nearest.values()]
    margin, nearest = state.tally.smallest(counted, looked_up) or (None, None)
    if state.counterexample is not None:
        margin, nearest = min(state.nearest.values(), key=lambda pair: pair[0], default=(None, None))
    return ExploreResult(
        theorem=state.theorem.id,
        statement_digest=whole.digest,
        dropped=dropped,
        counterexample={name: state.counterexample[0][name] for name in names} if state.counterexample else None,
        clause=state.counterexample[1] if state.counterexample else None,
        smallest_margin=margin if margin is not None and math.isfinite(margin) else None,
        nearest=None if nearest is None else {name: nearest[name] for name in names},
        examples=len(counted),
        clean=verdicts[Verdict.CLEAN],
        refuted=verdicts[Verdict.REFUTED],
        undecided=verdicts[Verdict.UNDECIDED],
        not_reached=sum(map(state.tally.is_unreached, counted)),
        without_value=verdicts[Verdict.WITHOUT_VALUE],
        polished=len(state.tried) - len(counted),
        needed=state.needed,
        sharpness=state.bounds,
        stopped=stopped,
        replayed=state.replayed,
        seconds=seconds,
        seed=seed,
        drawn=state.drawn,
        rejected=dict(state.rejected.most_common()),
        looked_at=state.tally.labels,
        settled=() if dropped else tuple(step.label for step in whole.steps if step not in state.statement.steps),
        in_words=tuple(sorted(in_words(state.statement))),
        evaluated=dict(state.evaluated),
    )


def _evaluations(theorem: Theorem) -> tuple[str, ...]:
    """Return the labels of the claims in words that code of a theorem evaluates."""
    return tuple(sorted(in_words(theorem.statement) & theorem.evaluations.keys()))


def _evaluate(state: Search, labels: Sequence[str]) -> None:
    """Evaluate claims in words at the instances tried, in their order."""
    found = Evaluated(dict.fromkeys(labels, 0))
    instances = [each.instance for each in islice(_counted(state), PROVE.instances_in_words)]
    state.evaluated = found.instances
    evaluate_at(state.theorem, state.statement, found, instances, state.deadline)
    if (
        found.counterexample is not None
        and found.clause is not None
        and state.takes(found.counterexample, found.clause)
    ):
        state.tried[tuple(found.counterexample.values())].refuted = True


def _counted(state: Search) -> list[Tried]:
    """Return the instances that `max_examples` limits, and the refuted instance even if it was found after them."""
    tried = list(state.tried.values())
    counted = tried if state.limited is None else tried[: state.limited]
    first = state.refuted
    return counted if first is None or any(each is first for each in counted) else [*counted, first]


def _judge(state: Search) -> None:
    """Decide the clauses that float64 left open: by proofs for all parameters, then one instance after the other."""
    tried = _counted(state)
    tried += [state.tried[tuple(instance.values())] for _, instance in state.nearest.values()]
    state.tally.by_proofs(state.tried.values(), state.deadline)
    decided = state.tally.one_by_one(tried, state.deadline)
    if any(state.takes(each.instance, result) for each, result in decided):
        _simplify(state)


def _search(state: Search, look: Look, key: str, *, most: int, seed: int, sharp: bool) -> None:
    """Try the ways to find a counterexample in turn; a counterexample that is found is kept in the state."""
    statement, guided = state.statement, state.guided
    relations = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]
    with_defaults = partial(completed, statement, scan=True)
    state.plan = quick_plan(statement.parameters, relations, state.plan.given, completed=with_defaults)
    state.replayed = any(map(state.look, _kept(state, key)))
    before_draws = max(most // 4, min(EXPLORE.before_draws, (most + 1) // 2))
    silent = list[Suspect]()
    found = state.replayed or (guided and _numerically(state, most, before_draws, seed, silent))
    if not found:
        with suppress(NoInstanceError) if state.tried else nullcontext():
            # An equation may have few rational solutions, so that all draws meet dead ends.
            given, walked = state.plan.given, partial(plan, tick=state.tick, completed=with_defaults)
            state.plan = walked(statement.parameters, relations, given)
        first = _first(state, before_draws, seed) if guided else ()
        found = any(map(look, chain(first, _drawn(state, most, seed))))
        found = found or _confirms(state, silent, last=True) or _reconsiders(state)
    state.limited = len(state.tried)
    if found or (guided and _polish(state, look, min(most, EXPLORE.polished))):
        _simplify(state)
    elif sharp:
        nearest = {label: instance for label, (_, instance) in state.nearest.items()}
        state.bounds = sharpness(state.theorem, state.plan, nearest)


class _EnoughError(Exception):
    """The numerical search has used its part of the time."""


def _suspects(state: Search, most: int, seed: int) -> Iterator[Suspect]:
    """Yield the suspects of the numerical search that the plan admits, within this search's part of the time."""
    ends = time.monotonic() + NUMERICAL.share * (state.deadline - time.monotonic())

    def tick() -> None:
        state.tick()
        if time.monotonic() > ends:
            raise _EnoughError

    try:
        for found in suspects(state.statement, state.plan.given, NUMERICAL.points * most, seed, tick):
            instance = {parameter.name: found.instance[parameter.name] for parameter in state.plan.parameters}
            if state.plan.admits(instance):
                yield replace(found, instance=instance)
    except _EnoughError:
        state.cut = True


def _numerically(state: Search, most: int, before_draws: int, seed: int, silent: list[Suspect]) -> bool:
    """Whether a clause is refuted at a suspect of the numerical search.

    Suspects without a value in float64 are added to `silent`, and get a short time after the others.
    """
    for found in _suspects(state, most, seed):
        if len(state.tried) + len(silent) >= before_draws:
            break
        if found.silent:
            silent.append(found)
        elif state.look(found.instance) or (found.point and _confirms(state, [found], last=True)):
            return True
    return _confirms(state, silent, last=False)


def _confirms(state: Search, suspected: Iterable[Suspect], *, last: bool) -> bool:
    """Whether rigorous arithmetic refutes a clause at a suspect, without a scan; the `last` round has more time."""
    seconds = NUMERICAL.silent_seconds[last]
    found = ((s.instance, state.confirm(s.label, s.instance, seconds, (s.point,))) for s in suspected)
    return any(state.takes(*each) for each in found)


def _reconsiders(state: Search) -> bool:
    """Whether a clause is refuted at an instance at which it seemed to fail and was left undecided in a short time."""
    doubtful = [(each.instance, label) for each in state.tried.values() for label in sorted(each.doubtful)]
    return any(state.takes(instance, state.confirm(label, instance)) for instance, label in doubtful)


def _kept(state: Search, key: str) -> Iterator[Instance]:
    """Yield the counterexample that an earlier search of the same statement kept, if the plan still admits it."""
    found = remembered.HERE.recall(_KEPT.format(key), key) if key else None
    if isinstance(found, dict) and found.keys() == {parameter.name for parameter in state.plan.parameters}:
        with suppress(InputError):
            parsed = parse(state.statement, found)
            instance = {parameter.name: parsed[parameter.name] for parameter in state.plan.parameters}
            if state.plan.admits(instance):
                yield instance


def _first(state: Search, most: int, seed: int) -> Iterator[Iterable[Instance]]:
    """Yield groups of instances: first those in general position, where a false claim is seldom true, and the simplest.

    The next groups are leaps from the nearest miss of each clause, one parameter at a time, as long as they help, and a
    descent.
    """
    general = state.plan.in_general_position(random.Random(f"{seed} in general position"))
    simple = (instance for instance in (state.plan.simplest_instance(),) if instance is not None)
    yield islice(chain(general, simple), max(0, most - len(state.tried)))
    # If evaluations are slow, most of the time is still left for the draws.
    ends = time.monotonic() + (state.deadline - time.monotonic()) / 4
    for label in sorted(state.nearest, key=lambda label: state.nearest[label][0]):
        last = min(most, len(state.tried) + EXPLORE.leaps)
        for name, up in product(state.nearest[label][1], (True, False)):
            before = math.inf
            while state.nearest[label][0] < before and len(state.tried) < last and time.monotonic() < ends:
                before, start = state.nearest[label]
                landed = state.plan.leap(start, name, up=up)
                if landed is not None and state.plan.admits(landed):
                    yield [landed]
        yield from _descent(state, label, min(most, len(state.tried) + EXPLORE.steps), ends)


def _drawn(state: Search, most: int, seed: int) -> Iterator[Iterable[Instance]]:
    """Yield groups of drawn instances, until `most` instances have been tried in all or nothing new is drawn.

    Some draws are near the nearest misses known before the group. The draws leave some time for doubtful instances.
    """
    source, fruitless = random.Random(seed), 0
    ends = time.monotonic() + (1 - EXPLORE.confirming) * (state.deadline - time.monotonic())

    def goes_on() -> bool:
        in_time = time.monotonic() < ends or not any(each.doubtful for each in state.tried.values())
        return in_time and fruitless < EXPLORE.fruitless

    def draws(misses: list[Instance], most: int) -> Iterator[Instance]:
        nonlocal fruitless
        new = set[tuple[Value, ...]]()
        while len(new) < most and goes_on():
            state.tick()
            near = source.choice(misses) if misses and source.random() < EXPLORE.near else None
            instance = state.plan.draw(source, near, state.rejects)
            state.drawn += 1
            fruitless += 1
            if instance is not None and (key := tuple(instance.values())) not in state.tried and key not in new:
                fruitless = 0
                new.add(key)
                yield instance

    while (left := most - len(state.tried)) > 0 and goes_on():
        misses = [instance for _, instance in state.nearest.values()] if state.guided else []
        yield draws(misses, min(left, max(EXPLORE.drawn_at_once, int(EXPLORE.drawn_share * len(state.tried)))))


def _polish(state: Search, look: Look, most: int) -> bool:
    """Whether a clause is refuted in a descent from its nearest miss, which is decided rigorously and simplified.

    The nearest miss is decided even if its margin is positive, because rounding alone may make a margin positive.
    """
    for label in list(state.nearest):
        if any(map(look, _descent(state, label, len(state.tried) + most))):
            return True
        least, start = state.nearest[label]
        if state.takes(start, state.confirm(label, start, EXPLORE.nearest_seconds)):
            return True
        as_near = lambda i: state.margins(i)[label] <= least + EXPLORE.as_near  # noqa: B023, E731
        near = simplest(state.plan, start, as_near, most_trials=most)[-1]
        if state.look(near, label):
            return True
        state.nearest[label] = state.margins(near)[label], near
    return False


def _descent(state: Search, label: str, last: int, ends: float = math.inf) -> Iterator[Iterable[Instance]]:
    """Yield instances near a clause's nearest miss, with one parameter moved, by steps that shrink when none improves.

    End when `last` instances have been tried in all, or the time is over. A parameter with a default is moved as well:
    it may have other values.
    """
    for share in EXPLORE.shares:
        improved = True
        while improved and len(state.tried) < last and time.monotonic() < ends:
            before, start = state.nearest[label]
            yield _admitted(state, neighbours(start, share, set(state.plan.given)), last)
            improved = state.nearest[label][0] < before


def _admitted(state: Search, instances: Iterable[Instance], last: int) -> Iterator[Instance]:
    """Yield the admitted instances, until the instances tried and the new ones are `last` in all."""
    new, most = set[tuple[Value, ...]](), last - len(state.tried)
    for instance in instances:
        if len(new) >= most:
            return
        if state.plan.admits(instance):
            if (key := tuple(instance.values())) not in state.tried:
                new.add(key)
            yield instance


def _simplify(state: Search) -> None:
    """Simplify the counterexample, guided by float64 margins or, if these mislead, by confirming each instance."""
    assert state.counterexample is not None
    start, refuted = state.counterexample
    label = refuted.label

    def fails(instance: Instance) -> bool:
        margin = state.margins(instance)[label]
        # At margin 0 a relation may hold with equality: rigorous arithmetic decides.
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

    simplest(state.plan, state.counterexample[0], confirmed, most_trials=EXPLORE.confirmed)
