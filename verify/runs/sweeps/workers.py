"""Exact rows of a sweep, computed in this process or in others.

Chunks of instances are sent out, and rows are returned in any order; a worker does not write to the store. A chunk
that takes long is returned unfinished, so that little is lost if a process ends.
"""

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from verify.checking.processes.location import Located
from verify.checking.theorem import Theorem
from verify.errors import OutOfTimeError, TheoremError
from verify.executor import Workers
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.rows import Effort, Point, Row, checked_row


@dataclass(frozen=True)
class Task:
    """The theorem and the effort of a sweep, in a form that another process can load."""

    theorem: Located
    effort: Effort


@dataclass(frozen=True)
class Failure:
    """An internal error at an instance, for which no row is stored."""

    why: str


Computed = list[tuple[Point, Row | Failure]]


class Rows:
    """A theorem's rows, in this process."""

    def __init__(self, theorem: Theorem, effort: Effort) -> None:
        self.theorem, self.effort = theorem, effort
        self.finished: Computed = []

    def compute(self, points: Sequence[Point]) -> Computed:
        """Return the rows, or internal errors, of some instances; after `chunk_seconds`, of the instances done by then.

        The rows are in `finished` too, even if Ctrl-C ends the computation.
        """
        until = time.monotonic() + SWEEP.chunk_seconds
        rows = self.finished = []
        for point in points:
            if rows and time.monotonic() > until:
                break
            try:
                rows.append((point, checked_row(self.theorem, point, self.effort)))
            except TheoremError:
                # An error of the theorem's author, not an internal one: it is reported once, not for each instance.
                raise
            except (Exception, OutOfTimeError) as error:
                rows.append((point, Failure(f"{type(error).__name__}: {error}")))
        return rows


@lru_cache(maxsize=4)
def _rows(task: Task) -> Rows:
    return Rows(task.theorem.loaded(), task.effort)


def compute(task: Task, points: Sequence[Point]) -> Computed:
    """Compute a chunk in another process, which loads the theorem itself."""
    return _rows(task).compute(points)


class Chunks:
    """Cuts instances into chunks that each take about `chunk_seconds`; the first chunk has one instance."""

    def __init__(self) -> None:
        self.size = 1

    def cut(self, points: Iterable[Point]) -> Iterator[list[Point]]:
        """Yield the instances in chunks, each of which is made when it is requested."""
        left = iter(points)
        while chunk := list(islice(left, self.size)):
            yield chunk

    def took(self, rows: Computed) -> None:
        """Adapt the size of the next chunk to the time that some rows took."""
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
    task: Task, points: Iterable[Point], chunks: Chunks, others: Workers
) -> Generator[Computed, None, None]:
    """Yield the rows of instances that other processes compute. Raises LostError."""
    yield from others.unordered(compute, ((task, chunk) for chunk in chunks.cut(points)))
