"""Sweeps: a theorem checked over a grid of instances. The rows are stored, so that a sweep can be resumed."""

import contextlib
import hashlib
import heapq
import secrets
import shutil
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from verify.budget import require_effort
from verify.checking.processes.location import located
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.executor import DEATHS, LostError, Workers, refuse_both, workers
from verify.language.parameters import Value, parse_instance
from verify.outcomes import assignments_text, how_sure, json_numbers
from verify.runs.store import Key, Store
from verify.runs.sweeps.blocks import Block, Part, decoded, parts
from verify.runs.sweeps.float_rows import Scans
from verify.runs.sweeps.grids import Grid, grid
from verify.runs.sweeps.kept_rows import differences, fits
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.rows import NO_INSTANCE, Effort, Point, Row, key_of
from verify.runs.sweeps.workers import Chunks, Computed, Failure, Task, in_other_processes, in_this_process
from verify.shown import Plotted, Result, Tabled


@dataclass(frozen=True)
class Rechecked:
    """Rows from the store that were computed again: the numbers of rows asked for, computed, and different.

    The same `seed` draws the same rows. `differences` has the first rows that differ: the instance, and the differing
    values by name, as stored and as computed.
    """

    asked: int
    seed: int
    rows: int
    differing: int
    differences: tuple[dict[str, object], ...]


class Found(NamedTuple):
    """A row in the store, its instance, and its place in a part of the grid; `in_block` if the row is in a block."""

    part: Part
    place: int
    point: Point
    row: Row
    in_block: bool


@dataclass(frozen=True, kw_only=True, repr=False)
class SweepResult(Result, Tabled, Plotted):
    """The result of a sweep: the request, the store, and the number of rows of each kind.

    `replaced` counts the rows of the store that did not fit this sweep and were computed again. `counts` has the
    number of rows by headline outcome, `claims` by (`in_scope`, outcome of the claims), and `evidence` by evidence; a
    point that is not an instance counts as `no_instance`. `rows` yields the stored rows in the grid's order.
    """

    theorem: Theorem
    grid: Grid
    given: Mapping[str, Value]
    effort: Effort
    store: Store
    code: str
    served: int = 0
    failures: tuple[str, ...] = ()
    failed: int = 0
    stopped: str = ""
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    claims: Mapping[tuple[bool | None, str], int] = field(default_factory=dict)
    evidence: Mapping[str, int] = field(default_factory=dict)
    temporary: bool = False
    replaced: int = 0
    rechecked: Rechecked | None = None

    @property
    def done(self) -> int:
        """The number of points of the grid that have a row, including points that are no instance."""
        return sum(self.counts.values())

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the sweep."""
        return self.stopped == "interrupted"

    def rows(self) -> Iterator[tuple[Point, Row]]:
        """Yield the swept values and the row of each instance that has one, in the grid's order."""
        for part, block in self.parts():
            for found in self.found(part, block):
                yield {axis.name: found.point[axis.name] for axis in self.grid.axes}, found.row

    def found(self, part: Part, block: Block | None) -> Iterator["Found"]:
        """Yield the rows of a part that are in the store and fit, in the grid's order."""
        names = [parameter.name for parameter in self.theorem.statement.parameters]
        left = self.left(part, block)
        for place, point in enumerate(part.points()):
            if block is not None and block.kinds[place] >= 0:
                yield Found(part, place, point, block.row(place, point, names), in_block=True)
            else:
                _, _, row, fitting = next(left)
                if row is not None and fitting:
                    yield Found(part, place, point, row, in_block=False)

    def parts(self) -> Iterator[tuple[Part, Block | None]]:
        """Yield the grid's instances in parts, each with its block as `block` returns it."""
        for part in parts(self.grid, self.given):
            yield part, self.block(part)

    def block(self, part: Part) -> Block | None:
        """Return the block of a part in the store; None if there is no block or it does not fit."""
        kept = None if self.effort.certify else self.store.read_block(part.key(self.theorem, self.effort, self.code))
        return kept and decoded(self.theorem, part, *kept)

    def left(self, part: Part, block: Block | None) -> Iterator[tuple[Point, Key, Row | None, bool]]:
        """Yield the instances of a part that no block decides, each with its key, stored row, and whether the row fits.

        At most `SWEEP.block` rows are read at a time.
        """
        if block is not None and block.decided == len(part):
            return
        points = (point for place, point in enumerate(part.points()) if block is None or block.kinds[place] < 0)
        while some := list(islice(points, SWEEP.block)):
            keys = [self.key(point) for point in some]
            kept = self.store.read_many(keys, damaged=True)
            for point, key in zip(some, keys, strict=True):
                yield point, key, kept.get(key), key in kept and fits(self.theorem, point, kept[key])

    def key(self, point: Point) -> Key:
        """Return the store's key of an instance's row."""
        return key_of(self.theorem, point, self.effort, self.code)

    def to_json(self) -> dict[str, object]:
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
            "replaced": self.replaced,
            "rechecked": asdict(self.rechecked) if self.rechecked else None,
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
    theorem: Theorem,
    over: Mapping[str, object],
    given: Mapping[str, object],
    *,
    store: Store | Path | str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    seconds: float = SWEEP.seconds,
    seed: int = 0,
    certify: bool = False,
    recheck: int | None = None,
    recheck_seed: int | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Check a theorem at each instance of a grid.

    Without `certify`, and if the statement compiles to NumPy, float64 with error estimates decides the instances that
    it can, never as refuted. The evidence is `computed`, except for clauses that are proved for all parameters. All
    other instances are checked as `verify.checking.check.check` does.

    Parameters
    ----------
    over
        Grids by parameter name, as in `verify.runs.sweeps.grids.grid`.
    given
        Values of the parameters that stay fixed; those with a default may be absent.
    store
        The store of the rows; None keeps the rows only as long as the result exists.
    jobs, scheduler
        Number of local processes that compute rows, or the address of a Dask scheduler whose workers do.
    seconds
        Time budget of one instance; a clause that is not decided within it is inconclusive.
    seed
        Seed of the random numbers.
    certify
        Whether every instance is checked in exact or ball arithmetic, and claims in words are evaluated.
    recheck
        Number of rows from the store to compute again: those that differ are counted, and replaced by the new ones.
    recheck_seed
        Seed of the draw of these rows; None draws a new seed each time, so that nobody who alters the store can
        foresee the rows.
    tell
        `tell(done, total)` is called with the progress.

    Raises
    ------
    InputError
        For a grid, a value, a store or a scheduler that cannot be used, and for a theorem that is in no module if
        other processes or a store need one.
    """
    require_effort(seconds=seconds, jobs=jobs, recheck=recheck)
    refuse_both(jobs, scheduler)
    started, distributed = time.monotonic(), jobs > 1 or scheduler is not None
    points, fixed = _asked(theorem, over, given)
    loadable = located(theorem)
    code = loadable.code if loadable else ""
    if loadable is None and (store is not None or distributed):
        raise InputError(theorem.id, "", "is in no module: other processes cannot load it, and no store can keep it")
    folder = None if store is not None and code else Path(tempfile.mkdtemp(prefix="sweep-"))
    try:
        place = store if folder is None else folder / "rows"
        kept = place if isinstance(place, Store) else Store(Path(place))
        effort = Effort(float(seconds), seed, certify)
        drawing = secrets.randbelow(2**32) if recheck_seed is None else recheck_seed
        where = {"store": kept, "code": code, "temporary": folder is not None}
        run = _Run(
            SweepResult(theorem=theorem, grid=points, given=fixed, effort=effort, **where),
            tell,
            recheck or 0,
            drawing,
        )
        with workers(jobs, scheduler) as others:
            task = Task(loadable, effort) if loadable and others else None
            run.run(task, others)
        result = _counted(run, time.monotonic() - started)
    except BaseException:
        _remove(folder)
        raise
    weakref.finalize(result, _remove, folder)
    return result


def _remove(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _asked(theorem: Theorem, over: Mapping[str, object], given: Mapping[str, object]) -> tuple[Grid, dict[str, Value]]:
    """Return the grid and the fixed values; a word not given takes its first value, the paper's. Raises InputError."""
    parameters = theorem.statement.parameters
    points = grid(parameters, over, given)
    swept = {axis.name for axis in points.axes}
    papers = {p.name: p.words[0] for p in parameters if p.words and p.name not in swept}
    fixed = parse_instance(parameters, papers | dict(given), partial=True)
    there = swept | set(fixed)
    if missing := [p.name for p in parameters if p.default is None and p.name not in there]:
        raise InputError(", ".join(missing), "", "missing: neither fixed nor swept")
    return points, fixed


@dataclass
class _Run:
    """A running sweep, which alone writes its rows to the store."""

    asked: SweepResult
    tell: Callable[[int, int], None] | None
    again: int = 0
    drawing: int = 0
    served: int = 0
    done: int = 0
    misfits: set[str] = field(default_factory=set)
    replaced: int = 0
    drawn: dict[str, tuple[Point, Row]] = field(default_factory=dict)
    unfinished: list[Part] = field(default_factory=list)
    """The parts for which the store lacks a row, or has a row that does not fit."""
    compared: set[str] = field(default_factory=set)
    differing: int = 0
    differences: list[dict[str, object]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    answered: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, task: Task | None, others: Workers) -> None:
        """Decide blocks, then compute the rows that the store lacks, in rounds: chunks may come back unfinished."""
        try:
            self._look()
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        deaths, chunks = 0, Chunks()
        while not self.stopped:
            before, asked, self.answered = self.done, Counter[str](), 0
            points = self._missing(asked)
            try:
                if task is None:
                    computed = in_this_process(self.asked.theorem, self.asked.effort, points, chunks)
                else:
                    computed = in_other_processes(task, points, chunks, others)
                with contextlib.closing(computed):
                    for rows in computed:
                        chunks.took(rows)
                        self._keep(rows)
            except KeyboardInterrupt:
                self.stopped = "interrupted"
            except LostError as error:
                deaths = deaths + 1 if self.done == before else 1
                if deaths >= DEATHS:
                    self.stopped = f"the worker processes are lost: {error}"
            else:
                if asked["points"] == self.answered:
                    return

    def _look(self) -> None:
        """Decide the blocks that the store lacks, count the served rows, and draw the rows to be computed again."""
        asked, theorem, effort = self.asked, self.asked.theorem, self.asked.effort
        scans = Scans(theorem, effort)
        drawn: list[tuple[float, int, Found]] = []
        for part in parts(asked.grid, asked.given):
            key = part.key(theorem, effort, asked.code)
            kept = None if effort.certify else asked.store.read_block(key)
            block = kept and decoded(theorem, part, *kept)
            served = block.decided if block else 0
            self._draw(drawn, part, block)
            if block is None and not effort.certify and (made := scans.block(part)) is not None:
                asked.store.write_block(key, theorem.id, *made.encoded(), replace=kept is not None)
                # Another sweep may have written the block in the meantime: that block is used.
                block = asked.block(part)
                if block is not None:
                    self.replaced += block.decided if kept else 0
                    self._tell(block.decided)
            own = [(key.digest, row is None, fitting) for _, key, row, fitting in asked.left(part, block)]
            self.misfits |= {digest for digest, missing, fitting in own if not missing and not fitting}
            served += sum(fitting for _, _, fitting in own)
            if not all(fitting for _, _, fitting in own):
                self.unfinished.append(part)
            self.served += served
            self._tell(served)
        self._compare([found for _, _, found in sorted(drawn)], scans)

    def _draw(self, drawn: list[tuple[float, int, Found]], part: Part, block: Block | None) -> None:
        """Add a part's served rows to `drawn`, and keep the first `again` rows in the order that the seed draws."""
        for found in self.asked.found(part, block) if self.again else ():
            order = -_place(self.asked.key(found.point), self.drawing)
            heapq.heappush(drawn, (order, part.start + found.place, found))
            if len(drawn) > self.again:
                heapq.heappop(drawn)

    def _compare(self, drawn: Sequence[Found], scans: Scans) -> None:
        """Decide the blocks of the drawn rows anew, and compare the rows; other drawn rows are compared later."""
        theorem, asked = self.asked.theorem, self.asked
        names = [parameter.name for parameter in theorem.statement.parameters]
        by_part: dict[int, list[Found]] = {}
        for found in drawn:
            if found.in_block:
                by_part.setdefault(found.part.start, []).append(found)
            else:
                self.drawn[asked.key(found.point).digest] = found.point, found.row
        for some in by_part.values():
            part, different = some[0].part, False
            block = scans.block(part) or Block(np.full(len(part), -1))
            for _, place, point, row, _ in some:
                if block.kinds[place] >= 0:
                    self.compared.add(asked.key(point).digest)
                    different |= self._differs(point, row, block.row(place, point, names))
                else:
                    # Float64 leaves this instance open now: the row is compared after the exact check.
                    self.drawn[asked.key(point).digest] = point, row
                    different = True
            if different:
                key = part.key(theorem, asked.effort, asked.code)
                asked.store.write_block(key, theorem.id, *block.encoded(), replace=True)
                if part not in self.unfinished:
                    self.unfinished.append(part)

    def _missing(self, asked: Counter[str]) -> Iterator[Point]:
        """Yield the instances without a fitting row in the store, except failed instances, block by block.

        Instances whose rows are drawn to be computed again come last.
        """
        for part in self.unfinished:
            for point, key, row, fitting in self.asked.left(part, self.asked.block(part)):
                if (row is None or not fitting) and key.digest not in self.failed and key.digest not in self.drawn:
                    asked["points"] += 1
                    yield point
        for point, _ in list(self.drawn.values()):
            asked["points"] += 1
            yield point

    def _keep(self, part: Computed) -> None:
        rows, anew, more = [], [], 0
        for point, row in part:
            key = self.asked.key(point)
            kept = self.drawn.pop(key.digest, None)
            if kept is not None:
                self.compared.add(key.digest)
            if isinstance(row, Failure):
                self.failed[key.digest] = f"{assignments_text(point)}: {row.why}"
            elif kept is not None:
                # An equal row is written too: the block that had it may have been replaced by a block without it.
                (anew if self._differs(point, kept[1], row) else rows).append((key, row))
            elif key.digest in self.misfits:
                anew.append((key, row))
                self.misfits.remove(key.digest)
                self.replaced += 1
            else:
                rows.append((key, row))
            more += kept is None
        self.asked.store.write_many(self.asked.theorem.id, rows)
        self.asked.store.write_many(self.asked.theorem.id, anew, replace=True)
        self.answered += len(part)
        self._tell(more)

    def _differs(self, point: Point, kept: Row, computed: Row) -> bool:
        """Whether a computed row differs from the stored one; such rows are counted, and the first are recorded."""
        told = [{"what": name, "kept": before, "found": after} for name, before, after in differences(kept, computed)]
        if told:
            self.differing += 1
            if len(self.differences) < SWEEP.shown:
                self.differences.append({"instance": json_numbers(point), "differs": told})
        return bool(told)

    def _tell(self, more: int) -> None:
        # A thread of joblib makes chunks while this thread stores rows.
        with self.lock:
            self.done += more
            if self.tell is not None:
                self.tell(self.done, len(self.asked.grid))


def _place(key: Key, seed: int) -> float:
    """Return a row's place in [0, 1), which a seed draws; the rows with the smallest places are computed again."""
    drawn = hashlib.sha256(f"again {seed} {key.digest}".encode()).digest()
    return int.from_bytes(drawn[:8]) / 2**64


def _counted(run: _Run, seconds: float) -> SweepResult:
    """Return the result with the counts of its rows, which are read once from the store."""
    rechecked = Rechecked(run.again, run.drawing, len(run.compared), run.differing, tuple(run.differences))
    result = replace(
        run.asked,
        served=run.served,
        stopped=run.stopped,
        replaced=run.replaced,
        failures=tuple(run.failed.values())[: SWEEP.shown],
        failed=len(run.failed),
        seconds=seconds,
        rechecked=rechecked if run.again else None,
    )
    counts, claims, evidence = Counter[str](), Counter[tuple[bool | None, str]](), Counter[str]()

    def count(row: Mapping[str, Any], many: int) -> None:
        counts[row["outcome"] or NO_INSTANCE] += many
        claims[row["in_scope"], row["claim"] or NO_INSTANCE] += many
        evidence[how_sure(row["evidence"], row["trusts"]) or "none"] += many

    for part, block in result.parts():
        for head, many in block.counted() if block else ():
            count(head, many)
        for _, _, row, fitting in result.left(part, block):
            if row is not None and fitting:
                count(row, 1)
    return replace(result, counts=dict(counts), claims=dict(claims), evidence=dict(evidence))
