"""How a sweep's instances are computed, in this process or in others.

Chunks of instances go out and rows come back, in any order; who computes writes nothing. A chunk that takes long
comes back unfinished, so that little is lost with a process.
"""

import ast
import contextlib
import hashlib
import re
import signal
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from verify.checking.theorem import Theorem, load_theorem
from verify.errors import InputError, OutOfTimeError, TheoremError
from verify.executor import unordered
from verify.runs.store import code_version
from verify.runs.sweeps.float_rows import Scan, scan_of
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.rows import Effort, Point, Row, checked_row

if TYPE_CHECKING:
    from distributed import Client

# FLINT's precision belongs to the process; a Dask worker may have several threads.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Task:
    """What is computed of each instance, such that another process finds it: and that it is the same there."""

    reference: str
    module: str
    statement_digest: str
    code: str
    effort: Effort


@dataclass(frozen=True)
class Failure:
    """An error of ours at an instance: nothing is kept of it."""

    why: str


Computed = list[tuple[Point, Row | Failure]]


class Rows:
    """A theorem's rows, in this process; what is compiled, and proved for all, is kept from chunk to chunk."""

    def __init__(self, theorem: Theorem, effort: Effort) -> None:
        self.theorem, self.effort = theorem, effort
        self.finished: Computed = []
        self._scans: dict[tuple[str, ...], Scan | None] = {}

    def compute(self, points: Sequence[Point]) -> Computed:
        """Return the rows of some instances, and the errors of ours; after `chunk_seconds`, of those done so far.

        These are in `finished` too, also where Ctrl-C ends it.
        """
        until = time.monotonic() + SWEEP.chunk_seconds
        rows = self.finished = []
        left: list[Point] = []
        for point, row in self._scanned(points):
            if row is None:
                left.append(point)
            else:
                rows.append((point, row))
        for point in left:
            if rows and time.monotonic() > until:
                break
            try:
                rows.append((point, checked_row(self.theorem, point, self.effort)))
            except TheoremError:
                # The author's fault, not ours: it is told as one, and not once an instance.
                raise
            except (Exception, OutOfTimeError) as error:
                rows.append((point, Failure(f"{type(error).__name__}: {error}")))
        return rows

    def _scanned(self, points: Sequence[Point]) -> Iterator[tuple[Point, Row | None]]:
        """Yield each instance, with its row where float64 decides it."""
        by_words: dict[tuple[str, ...], list[Point]] = {}
        for point in points:
            by_words.setdefault(tuple(v for v in point.values() if isinstance(v, str)), []).append(point)
        for words, some in by_words.items():
            try:
                scan = None if self.effort.certify else self._scan(words, some[0])
                rows = scan.rows(some, self.effort) if scan else [None] * len(some)
            except (InputError, TheoremError, ArithmeticError):
                # The exact check says at which instance, and why.
                rows = [None] * len(some)
            yield from zip(some, rows, strict=True)

    def _scan(self, words: tuple[str, ...], point: Point) -> Scan | None:
        if words not in self._scans:
            self._scans[words] = scan_of(self.theorem, point)
        return self._scans[words]


def code_of(theorem: Theorem, reference: str, module: str) -> str:
    """Return the version of all by which a theorem's rows are computed, what is outside of its statement too.

    A lone file is read anew, as it may be edited and loaded again; ours, and what it imports from beside it, are as
    they were when this process first asked. "" where sources are not to be found.
    """
    path = Path(reference.rpartition(":")[0]) if ".py:" in reference else None
    lone = path is not None and "." not in module and path.name != "__init__.py"
    parts = [code_version("verify" if lone else module)]
    if path is not None:
        if not path.is_file():
            return ""
        parts.append(_with_imported(path))
    # An address in a text is another one in each process.
    data = re.sub(r" at 0x[0-9a-fA-F]+", "", repr((sorted(theorem.values.items()), sorted(theorem.proofs.items()))))
    return " ".join([*parts, hashlib.sha256(data.encode()).hexdigest()]) if parts[0] else ""


def _with_imported(path: Path) -> str:
    """Return a digest of a file and of the modules beside it that it imports by an import statement, and so on."""
    digest, seen, left = hashlib.sha256(), {path.resolve()}, [(path.name, path.read_bytes())]
    while left:
        name, content = left.pop()
        digest.update(f"{name} {len(content)}\n".encode() + content)
        for imported in sorted(_imported(content)):
            beside = path.parent / imported
            for file in [beside.with_suffix(".py"), *sorted(beside.rglob("*.py"))]:
                if file.is_file() and file.resolve() not in seen:
                    seen.add(file.resolve())
                    left.append((file.relative_to(path.parent).as_posix(), _as_loaded(file.resolve())))
    return digest.hexdigest()


@cache
def _as_loaded(path: Path) -> bytes:
    """Return a module's source as it was when it was first asked for: what is imported is not loaded again."""
    return path.read_bytes()


def _imported(source: bytes) -> set[str]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return set()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in names}


@lru_cache(maxsize=4)
def _rows(task: Task) -> Rows:
    theorem = load_theorem(task.reference)
    if theorem.statement.digest != task.statement_digest or code_of(theorem, task.reference, task.module) != task.code:
        raise InputError(task.reference, "", "a worker has another version of the theorem or of lemmascope")
    return Rows(theorem, task.effort)


def compute(task: Task, points: Sequence[Point], own_process: bool) -> Computed:
    """Compute a chunk in another process, which loads the theorem by itself."""
    if own_process:
        # Ctrl-C reaches all processes of a terminal; the one that asked ends the others.
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a theorem's code prints is not our output.
    with _ONE_AT_A_TIME, contextlib.redirect_stdout(sys.stderr):
        return _rows(task).compute(points)


class Chunks:
    """The size of the next chunk: about as many instances as take `chunk_seconds`, from one on."""

    def __init__(self) -> None:
        self.size = 1

    def cut(self, points: Iterable[Point]) -> Iterator[list[Point]]:
        """Yield the instances in chunks; each is made when it is asked for."""
        left = iter(points)
        while chunk := list(islice(left, self.size)):
            yield chunk

    def took(self, rows: Computed) -> None:
        """Adapt to how long some rows took."""
        seconds = sum(row["seconds"] for _, row in rows if not isinstance(row, Failure)) or 1e-6
        fitting = int(SWEEP.chunk_seconds * max(1, len(rows)) / seconds)
        self.size = max(1, min(fitting, SWEEP.chunk_growth * self.size, SWEEP.largest_chunk))


def in_this_process(
    theorem: Theorem, effort: Effort, points: Iterable[Point], chunks: Chunks
) -> Generator[Computed, None, None]:
    """Yield the rows of instances that are computed in this process."""
    rows = Rows(theorem, effort)
    for chunk in chunks.cut(points):
        try:
            yield rows.compute(chunk)
        except (KeyboardInterrupt, TheoremError):
            yield rows.finished
            raise


def in_other_processes(
    task: Task, points: Iterable[Point], chunks: Chunks, *, jobs: int, client: "Client | None" = None
) -> Generator[Computed, None, None]:
    """Yield the rows of instances that `jobs` processes compute, or the workers of a Dask client. Raises LostError."""
    calls = ((task, chunk, client is None) for chunk in chunks.cut(points))
    yield from unordered(compute, calls, jobs=jobs, client=client)
