"""Sweeps: a theorem checked over a grid of instances, a row each in a store, resumed where it was left."""

import contextlib
import shutil
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.errors import InputError
from verify.grids import Grid, grid
from verify.outcomes import json_numbers
from verify.parameters import Value, parse_instance
from verify.registry import reference_of
from verify.rows import Effort, Point, Row, key_of
from verify.store import Key, Store
from verify.workers import Chunks, Computed, Failure, LostError, Task, cluster, code_of, elsewhere, here, needs

if TYPE_CHECKING:
    from verify.theorem import Theorem

SECONDS = 10.0
"""Time budget of one instance."""
_BLOCK = 500
_SHOWN = 3
"""Errors of ours that are shown; all are counted."""
_DEATHS = 3
"""How often processes of ours may die, with nothing done in between, before a sweep gives up."""
NO_INSTANCE = "no_instance"
OUTCOMES = ("verified", "refuted", "inconclusive", NO_INSTANCE)


@dataclass(frozen=True)
class SweepResult:
    """A sweep: what was asked for, where its rows are, and how many of each kind there are.

    `claims` counts, by (`in_scope`, outcome of the clauses), `counts` by the headline, `evidence` by its evidence; a
    point that is no instance counts as `no_instance`. `rows` yields the rows in the grid's order from the store.
    """

    theorem: "Theorem"
    grid: Grid
    given: Mapping[str, Value]
    effort: Effort
    store: Store
    code: str
    served: int
    failures: tuple[str, ...]
    failed: int
    stopped: str
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    claims: Mapping[tuple[bool | None, str], int] = field(default_factory=dict)
    evidence: Mapping[str, int] = field(default_factory=dict)
    temporary: bool = False

    @property
    def done(self) -> int:
        """How many instances have a row."""
        return sum(self.counts.values())

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.stopped == "interrupted"

    def rows(self) -> Iterator[tuple[Point, Row]]:
        """Yield the swept values and the row of each instance that has one, in the grid's order; none is held."""
        for block in _blocks(self.grid.points(), _BLOCK):
            keys = [_key(self.theorem, self.given, point, self.effort, self.code) for point in block]
            kept = self.store.read_many(keys)
            yield from ((point, kept[key]) for point, key in zip(block, keys, strict=True) if key in kept)

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify sweep --json`, without `schema`, `version` and `files`."""
        scopes = {True: "in_scope", False: "out_of_scope", None: "undecided"}
        claims: dict[str, dict[str, int]] = {}
        for (scope, outcome), count in self.claims.items():
            claims.setdefault(scopes[scope], {})[outcome] = count
        return {
            "theorem": self.theorem.id,
            "statement_digest": self.theorem.statement.digest,
            "over": {axis.name: axis.to_json() for axis in self.grid.axes},
            "given": json_numbers(self.given),
            "points": len(self.grid),
            "rows": self.done,
            "counts": dict(self.counts),
            "claims": claims,
            "evidence": dict(self.evidence),
            "from_store": self.served,
            "failed": self.failed,
            "failures": list(self.failures),
            "stopped": self.stopped,
            "store": None if self.temporary else str(self.store.path),
            "seconds_per_instance": self.effort.seconds,
            "certify": self.effort.certify,
            "seconds": round(self.seconds, 3),
            "seed": self.effort.seed,
        }


def sweep(
    theorem: "Theorem",
    over: Mapping[str, Any],
    given: Mapping[str, Any],
    *,
    store: Store | Path | str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    seconds: float = SECONDS,
    seed: int = 0,
    certify: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Check a theorem at each instance of a grid.

    Where the statement compiles to NumPy, float64 with error estimates decides what it can (evidence `computed`, and
    never a refutation); all else is checked as `verify.check.check` does.

    Parameters
    ----------
    over
        By a parameter's name a grid, as in `verify.grids.grid`.
    given
        Values of the parameters that stay fixed; those with a default may be absent.
    store
        Where rows are kept and served from; None keeps them as long as the result is there.
    jobs, scheduler
        How many processes of this machine compute, or the address of a Dask scheduler whose workers do.
    seconds
        Time budget of one instance; what is not decided within it is inconclusive.
    seed
        Seed of whatever is random.
    certify
        Whether every instance is checked in exact or ball arithmetic.
    tell
        `tell(done, total)` hears of the progress.

    Raises
    ------
    InputError
        For a grid, a value, a store or a scheduler that cannot be used, and for a theorem that is in no module where
        other processes or a store need it.
    """
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    if jobs < 1:
        raise InputError("jobs", jobs, "must be an integer >= 1")
    if scheduler is not None and jobs > 1:
        raise InputError("jobs", jobs, "is for this machine; the workers of --scheduler are as many as they are")
    started = time.monotonic()
    points, fixed = _asked(theorem, over, given)
    if jobs > 1 or scheduler:
        needs("joblib", "--scheduler" if scheduler else "--jobs", scheduler or jobs)
    found = reference_of(theorem)
    code = code_of(theorem, *found) if found else ""
    if found is None and (store is not None or jobs > 1 or scheduler):
        raise InputError(theorem.id, "", "is in no module: other processes cannot load it, and no store can keep it")
    kept_for_good = store is not None and bool(code)
    folder = None if kept_for_good else Path(tempfile.mkdtemp(prefix="sweep-"))
    try:
        kept = (
            store if isinstance(store, Store) and kept_for_good else Store(folder / "rows" if folder else Path(store))
        )
        run = _Run(theorem, points, fixed, Effort(float(seconds), seed, certify), kept, code, tell)
        with cluster(scheduler) as client:
            task = Task(*found, theorem.statement.digest, code, run.effort) if found else None
            run.run(task if jobs > 1 or client else None, jobs, client)
        result = _counted(run, time.monotonic() - started, temporary=folder is not None)
    except BaseException:
        _remove(folder)
        raise
    weakref.finalize(result, _remove, folder)
    return result


def _remove(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _asked(theorem: "Theorem", over: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[Grid, dict[str, Value]]:
    """Return the grid and the fixed values, a word being the paper's where it is absent. Raises InputError."""
    parameters = theorem.statement.parameters
    points = grid(parameters, over, given)
    swept = {axis.name for axis in points.axes}
    papers = {p.name: p.words[0] for p in parameters if p.words and p.name not in swept}
    fixed = parse_instance(parameters, papers | dict(given), partial=True)
    there = swept | set(fixed)
    if missing := [p.name for p in parameters if p.default is None and p.name not in there]:
        raise InputError(", ".join(missing), "", "missing: neither fixed nor swept")
    return points, fixed


def _blocks(points: Iterator[Point], size: int) -> Iterator[list[Point]]:
    while block := list(islice(points, size)):
        yield block


def _key(theorem: "Theorem", fixed: Point, point: Point, effort: Effort, code: str) -> Key:
    return key_of(theorem, {**fixed, **point}, effort, code)


@dataclass
class _Run:
    """A sweep while it runs: only this writes to the store."""

    theorem: "Theorem"
    grid: Grid
    given: Mapping[str, Value]
    effort: Effort
    store: Store
    code: str
    tell: Callable[[int, int], None] | None
    served: int = 0
    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    answered: int = 0
    looked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, task: Task | None, jobs: int, client: Any) -> None:
        """Compute what the store lacks, round after round until nothing is lacking: chunks may come back unfinished."""
        deaths, chunks = 0, Chunks()
        while not self.stopped:
            before, asked, self.answered = self.done, Counter[str](), 0
            points = self._missing(asked)
            try:
                with contextlib.closing(self._parts(points, chunks, task, jobs, client)) as parts:
                    for part in parts:
                        chunks.took(part)
                        self._keep(part)
            except KeyboardInterrupt:
                self.stopped = "interrupted"
            except LostError as error:
                deaths = deaths + 1 if self.done == before else 1
                if deaths >= _DEATHS:
                    self.stopped = f"those who compute are lost: {error}"
            else:
                if asked["points"] == self.answered:
                    return

    def _parts(
        self, points: Iterator[Point], chunks: Chunks, task: Task | None, jobs: int, client: Any
    ) -> Generator[Computed, None, None]:
        if task is None:
            return here(self.theorem, self.effort, points, chunks)
        return elsewhere(task, points, chunks, jobs=jobs, client=client)

    def _missing(self, asked: Counter[str]) -> Iterator[Point]:
        """Yield the instances that the store lacks, but those that failed; it is asked block by block."""
        for i, block in enumerate(_blocks(self.grid.points(), _BLOCK)):
            keys = [_key(self.theorem, self.given, point, self.effort, self.code) for point in block]
            kept = self.store.known(keys)
            if i == self.looked:
                self.looked += 1
                self.served += len(kept)
                self._tell(len(kept))
            for point, key in zip(block, keys, strict=True):
                if key not in kept and key.digest not in self.failed:
                    asked["points"] += 1
                    yield {**self.given, **point}

    def _keep(self, part: list[tuple[Point, Any]]) -> None:
        rows = []
        for point, row in part:
            key = key_of(self.theorem, point, self.effort, self.code)
            if isinstance(row, Failure):
                self.failed[key.digest] = f"{' '.join(f'{name}={value}' for name, value in point.items())}: {row.why}"
            else:
                rows.append((key, row))
        self.store.write_many(self.theorem.id, rows)
        self.answered += len(part)
        self._tell(len(part))

    def _tell(self, more: int) -> None:
        # Chunks are made in a thread of joblib's, while rows are kept in this one.
        with self.lock:
            self.done += more
            if self.tell is not None:
                self.tell(self.done, len(self.grid))


def _counted(run: _Run, seconds: float, *, temporary: bool) -> SweepResult:
    """Return the result, its rows read once from the store and counted."""
    result = SweepResult(
        *(run.theorem, run.grid, run.given, run.effort, run.store, run.code, run.served),
        *(tuple(run.failed.values())[:_SHOWN], len(run.failed), run.stopped, seconds),
        temporary=temporary,
    )
    counts, claims, evidence = Counter[str](), Counter[tuple[bool | None, str]](), Counter[str]()
    for _, row in result.rows():
        counts[row["outcome"] or NO_INSTANCE] += 1
        claims[row["in_scope"], row["claim"] or NO_INSTANCE] += 1
        evidence[row["evidence"] or "none"] += 1
    return replace(result, counts=dict(counts), claims=dict(claims), evidence=dict(evidence))
