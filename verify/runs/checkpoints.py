"""Checkpoints of a long measurement: the state of an unfinished run, its file, and the run's progress."""

import contextlib
import math
import os
import pickle
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verify.errors import InputError
from verify.files import parts_of, whole

SECONDS_BETWEEN = 30.0
"""Seconds between two checkpoints; a killed run loses little more than this time."""


@dataclass
class Running:
    """A run of a measurement: its checkpoint, if any, and its progress.

    A measurement has named parts, such as trainings. `left` returns the last state that `keep` wrote for a part,
    however the process ended. A state consists of tensors, numbers, strings, lists and dicts. `seconds_before` is the
    run's duration up to the loaded checkpoint, in seconds.

    Parameters
    ----------
    file
        The checkpoint's file; None keeps nothing.
    tell
        `tell(done, total)` is called at each call of `steps`.
    every
        Seconds between two checkpoints.

    Raises
    ------
    InputError
        For a file that is not a checkpoint.

    Examples
    --------
    >>> from verify import Running
    >>> running = Running(tell=lambda done, total: print(f"{done}/{total}"))
    >>> running.steps(1, 10)
    1/10
    >>> running.left("training") is None
    True
    """

    file: Path | None = None
    tell: Callable[[int, int], None] | None = None
    every: float = SECONDS_BETWEEN
    seconds_before: float = field(default=0.0, init=False)
    _parts: dict[str, object] = field(default_factory=dict, init=False)
    _begun: float = field(default_factory=time.monotonic, init=False)
    _kept: float = field(default_factory=time.monotonic, init=False)

    def __post_init__(self) -> None:
        if self.file is not None and self.file.exists():
            self._parts, self.seconds_before = _read(self.file)

    def left(self, part: str, fits: Callable[[Any], bool] | None = None) -> Any:
        """Return the state in which a part was left; None if no state of the part was kept.

        Raises InputError for a state that is not of this run, for which `fits(state)` is false or raises.
        """
        state = self._parts.get(part)
        with contextlib.suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RuntimeError):
            if state is None or fits is None or fits(state):
                return state
        raise InputError("checkpoint", self.file, f"has no valid state of {part}; remove it to start over")

    def keep(self, part: str, state: Callable[[], object], *, now: bool = False) -> None:
        """Write `state()` as a part's state if `every` seconds have passed since the last write, or if `now`.

        The object that `state()` returns may not change later, because later writes contain it again.
        Raises InputError if the checkpoint cannot be written.
        """
        if self.file is None or not (now or time.monotonic() - self._kept >= self.every):
            return
        self._parts[part] = state()
        self._kept = time.monotonic()
        _write(self.file, self._parts, self.seconds_before + self._kept - self._begun)

    def steps(self, done: int, total: int) -> None:
        """Report the progress of the run."""
        if self.tell is not None:
            self.tell(done, total)

    def forget(self) -> None:
        """Remove the checkpoint and half-written checkpoints, and then their folder if it is empty."""
        if self.file is not None:
            self.file.unlink(missing_ok=True)
            _remove_parts(self.file)
            with contextlib.suppress(OSError):
                self.file.parent.rmdir()


def _remove_parts(file: Path) -> None:
    for part in parts_of(file):
        part.unlink(missing_ok=True)


def alike(state: object, like: object) -> bool:
    """Whether a state has the form of another state: types, keys, lengths, and the tensors' shapes and dtypes."""
    if type(state) is not type(like):
        return False
    if isinstance(state, dict) and isinstance(like, dict):
        return state.keys() == like.keys() and all(alike(state[name], like[name]) for name in like)
    if isinstance(state, list) and isinstance(like, list):
        return len(state) == len(like) and all(map(alike, state, like))
    return all(getattr(state, name, None) == getattr(like, name, None) for name in ("shape", "dtype"))


def kept_by(steps: Sequence[int], step: int, count: int) -> bool:
    """Whether a training at `step` can have kept `count` readings, taken at the ascending `steps`."""
    return 0 <= step <= steps[-1] and sum(s < step for s in steps) <= count <= sum(s <= step for s in steps)


@contextlib.contextmanager
def alone(file: Path | None) -> Iterator[None]:
    """Lock a checkpoint, so that no two processes continue it. Raises InputError if another process has locked it.

    The lock is an SQLite lock on a file beside the checkpoint; the system releases the lock however a process ends.
    """
    if file is None:
        yield
        return
    lock = file.with_name(f"{file.name}.lock")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(lock, timeout=0, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise InputError("checkpoint", file, f"cannot be written: {error}") from error
    with contextlib.closing(connection):
        try:
            # Nothing is written, so a journal would only be left behind.
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            taken = "locked" in str(error)
            why = "another process is doing the same run; wait for it" if taken else f"cannot be locked: {error}"
            raise InputError("checkpoint", file, why) from error
        try:
            yield
        finally:
            # Windows does not remove an open file: there the lock file is left.
            with contextlib.suppress(OSError):
                lock.unlink()
                file.parent.rmdir()


def _read(file: Path) -> tuple[dict[str, object], float]:
    # PyTorch is heavy, and most runs have no checkpoint.
    import torch

    try:
        body = torch.load(file, weights_only=True)
        parts, seconds = body["parts"], body["seconds"]
    except (OSError, EOFError, RuntimeError, ValueError, LookupError, TypeError, pickle.UnpicklingError) as error:
        raise InputError("checkpoint", file, "cannot be read; remove it to start over") from error
    named = isinstance(parts, dict) and all(isinstance(name, str) for name in parts)
    if not named or not isinstance(seconds, float | int) or not 0 <= seconds < math.inf:
        raise InputError("checkpoint", file, "has no valid state of a run; remove it to start over")
    return parts, float(seconds)


def _write(file: Path, parts: Mapping[str, object], seconds: float) -> None:
    """Write a checkpoint so that, whenever the process ends, the file has the whole old or the whole new checkpoint."""
    import torch

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Only this run writes the checkpoint: a half-written file was left by a killed process.
        _remove_parts(file)
        with whole(file) as part, part.open("wb") as target:
            torch.save({"parts": parts, "seconds": seconds}, target)
            target.flush()
            os.fsync(target.fileno())
    except OSError as error:
        raise InputError("checkpoint", file, f"cannot be written: {error.strerror}") from error
