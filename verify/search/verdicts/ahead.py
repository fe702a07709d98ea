"""Parallel search: other processes look at instances ahead of a search, which uses their findings in order."""

import math
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache

from verify.budget import until
from verify.checking.processes.location import Located
from verify.errors import OutOfTimeError
from verify.executor import Workers
from verify.outcomes import ClauseResult
from verify.search.limits import EXPLORE
from verify.search.narrowing import searched
from verify.search.plans import Plan
from verify.search.simplify import Instance
from verify.search.verdicts.state import Search
from verify.search.verdicts.tally import Tried

Look = Callable[[Iterable[Instance]], bool]
"""A function that says whether a clause is refuted at one of some instances: `Search.look_at_each` or `Ahead.look`."""


@dataclass(frozen=True)
class Sought:
    """The statement of a search, for another process: a theorem, the dropped hypotheses, and the settled steps."""

    theorem: Located
    dropped: tuple[str, ...]
    settled: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Looked:
    """The findings at one instance.

    `tried` is the instance's record, `near` has the margins by which the instance may be a clause's nearest miss, and
    `refuted` is the result of the refuted clause, if any. `degenerate` counts the clauses with a limit that were
    decided because they have no value in float64.
    """

    tried: Tried
    near: dict[str, float]
    refuted: ClauseResult | None
    degenerate: int
    seconds: float


class Ahead:
    """Looks at instances of a search in other processes, if this is expected to take long enough."""

    def __init__(self, state: Search, others: Workers, sought: Sought) -> None:
        self.state, self.others, self.sought = state, others, sought
        self._seconds, self._count = 0.0, 0

    def look(self, instances: Iterable[Instance]) -> bool:
        """Whether a clause is refuted at one of some instances, with the effects of `Search.look_at_each`."""
        left = iter(instances)
        while self._count < EXPLORE.timed and (first := next(left, None)) is not None:
            if self._timed([first]):
                return True
        rest = list(left)
        new = [*{key: each for each in rest if (key := tuple(each.values())) not in self.state.tried}.values()]
        if self._count and self._seconds / self._count * len(new) >= EXPLORE.worth_sending:
            return self._look_ahead(rest, new)
        return self._timed(rest)

    def _timed(self, instances: Sequence[Instance]) -> bool:
        before, begun = len(self.state.tried), time.monotonic()
        found = self.state.look_at_each(instances)
        self._took(time.monotonic() - begun, len(self.state.tried) - before)
        return found

    def _took(self, seconds: float, count: int = 1) -> None:
        self._seconds, self._count = self._seconds + seconds, self._count + count

    def _look_ahead(self, instances: Sequence[Instance], new: Sequence[Instance]) -> bool:
        with closing(self._looked(new)) as arriving:
            for instance in instances:
                looked = None if tuple(instance.values()) in self.state.tried else next(arriving, None)
                if looked is not None and self.state.degenerate + looked.degenerate <= EXPLORE.degenerate:
                    found = self._takes(instance, looked)
                elif time.monotonic() > self.state.deadline:
                    # A worker may have looked at later instances in time.
                    continue
                else:
                    found = self.state.look(instance)
                if found:
                    return True
        self.state.tick()
        return False

    def _looked(self, instances: Sequence[Instance]) -> Generator[Looked | None, None, None]:
        """Yield the findings at each of some instances, None for an instance that no worker reached."""
        size = max(1, min(int(EXPLORE.sent_seconds * self._count / self._seconds), EXPLORE.most_sent))
        ends = time.time() + self.state.deadline - time.monotonic()
        calls = (
            (self.sought, instances[place : place + size], self.state.degenerate, ends)
            for place in range(0, len(instances), size)
        )
        with closing(self.others.in_order(look_at, calls, _refuted)) as parts:
            for part in parts:
                yield from part

    def _takes(self, instance: Instance, looked: Looked) -> bool:
        self._took(looked.seconds)
        self.state.degenerate += looked.degenerate
        self.state.tries(instance, looked.tried, looked.near)
        return looked.refuted is not None and self.state.takes(instance, looked.refuted)


def _refuted(part: Sequence[Looked | None]) -> bool:
    return any(looked is not None and looked.refuted is not None for looked in part)


@lru_cache(maxsize=4)
def _search(sought: Sought) -> Search:
    theorem = sought.theorem.loaded()
    return Search(theorem, searched(theorem, sought.dropped, sought.settled), Plan((), {}, {}), math.inf, guided=False)


def look_at(sought: Sought, instances: Sequence[Instance], degenerate: int, ends: float) -> list[Looked | None]:
    """Look at instances, in the process of a worker, up to the first that refutes a clause or to the time `ends`.

    `ends` is a time of `time.time()`. The list has None for each instance that was not looked at.
    """
    state, found = _search(sought), list[Looked | None]()
    state.deadline = time.monotonic() + ends - time.time()
    for instance in instances:
        begun = time.monotonic()
        state.nearest, state.tried, state.degenerate = {}, {}, degenerate
        try:
            with until(state.deadline):
                refuted = state.refutes(instance)
        except OutOfTimeError:
            break
        (tried,), near = state.tried.values(), {label: margin for label, (margin, _) in state.nearest.items()}
        found.append(Looked(tried, near, refuted, state.degenerate - degenerate, time.monotonic() - begun))
        if refuted is not None:
            break
    return found + [None] * (len(instances) - len(found))
