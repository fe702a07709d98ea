"""Time limits of computations: the caller sets a deadline, and long computations, such as a proof search, check it.

Code that never checks the deadline, such as an algorithm of SymPy, is interrupted by a timer, if the system has one.
Invalid values of effort parameters, such as `seconds=0`, are refused here.
"""

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from verify.errors import InputError, OutOfTimeError

Result = TypeVar("Result")

MOST_WORK = 60e6
"""Maximum cost of re-checking all clauses at an instance, in nominal microseconds; the same as for a certificate."""
_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)
_PROOF_WORK: ContextVar[int] = ContextVar("proof_work", default=4000)
"""Maximum work, in columns of linear programs, of a search for a proof for all parameters during a check."""
_ALARM: ContextVar[float] = ContextVar("alarm", default=math.inf)
_LEAST_SECONDS = 0.02
"""Minimum time in seconds granted even after the deadline; most checks finish within it."""
_AGAIN = 0.05
"""Seconds between two alarms; the second is needed if the computation caught the exception of the first."""
_SOON = 1e-3
"""Delay in seconds of an alarm that is due at once."""
_INTERRUPTS: list[BaseException] = []
"""Keyboard interrupts that arrived during a callback, which cannot raise; they are raised later."""


def _counts(value: object) -> bool:
    return isinstance(value, int) and value >= 1


EFFORTS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "seconds": ("must be a number > 0", lambda value: value > 0),
    "digits": ("must be an integer from 1 to 1000", lambda value: 1 <= value <= 1000),
    "max_examples": ("must be an integer >= 1", _counts),
    "jobs": ("must be an integer >= 1", _counts),
    "recheck": ("must be a number of rows, an integer >= 1", _counts),
}
"""The requirement on each effort parameter, in words and as a test, by the parameter's name."""


def require_effort(**given: Any) -> None:
    """Raise InputError for an invalid value of an effort parameter, such as 0 seconds; None means "not given"."""
    for name, value in given.items():
        requirement, fits = EFFORTS[name]
        if value is not None and not fits(value):
            raise InputError(name.replace("_", "-"), value, requirement)


@dataclass(frozen=True)
class Budget:
    """The time and the work that deciding a statement's clauses at an instance may take.

    Parameters
    ----------
    end
        The deadline of computations that check the clock, in seconds of `time.monotonic()`.
    hard_end
        The time at which a computation that does not check the clock is interrupted, in the same seconds.
    runs_end
        The deadline for iterating recursions; `check` sets it before `end`, so that time is left for later work.
    work
        The maximum total cost of the re-checker's checks, in nominal microseconds.
    interrupted
        Whether Ctrl-C ended a computation.
    """

    end: float = math.inf
    hard_end: float = math.inf
    runs_end: float = math.inf
    work: float = MOST_WORK
    interrupted: bool = False


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Set a deadline for computations within this context, in seconds of `time.monotonic()`, unless one is earlier."""
    before = _DEADLINE.set(min(deadline, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(before)


@contextmanager
def proving(work: int) -> Iterator[None]:
    """Set the work that a search for a proof may take within this context, in columns of linear programs."""
    before = _PROOF_WORK.set(work)
    try:
        yield
    finally:
        _PROOF_WORK.reset(before)


def proof_work() -> int:
    """Return the work that a search for a proof may take; it does not depend on the clock."""
    return _PROOF_WORK.get()


def look_at_the_clock() -> None:
    """Raise OutOfTimeError after the deadline; long computations call this now and then."""
    if time.monotonic() > _DEADLINE.get():
        raise OutOfTimeError("the time ran out")


def ended(deadline: float, function: Callable[..., Result], *arguments: Any) -> Result:
    """Return `function(*arguments)`; raise OutOfTimeError soon after the deadline, whatever the function is then doing.

    The system's timer interrupts the function, on the main thread of a process. On another thread, on a system without
    this timer, or if other code handles the timer's signal, the function runs to its end. The deadline of `until` is
    separate from this one.
    """
    if not (_has_timer() and threading.current_thread() is threading.main_thread()):
        return function(*arguments)
    outer, handler, hook = _ALARM.get(), signal.getsignal(signal.SIGALRM), sys.unraisablehook
    if handler not in (signal.SIG_DFL, _ring):
        return function(*arguments)
    try:
        _ALARM.set(min(outer, max(deadline, time.monotonic() + _LEAST_SECONDS)))
        sys.unraisablehook = _ringing_again(hook)
        signal.signal(signal.SIGALRM, _ring)
        _set_timer()
        result = function(*arguments)
    finally:
        # An alarm may still interrupt one of the next lines; there is time to run them again before the next alarm.
        while True:
            try:
                _ALARM.set(outer)
                # The hook sets the timer when it notes an interrupt, so remove the hook before restoring the timer.
                sys.unraisablehook = hook
                _set_timer()
                if outer == math.inf:
                    signal.signal(signal.SIGALRM, handler)
                break
            except (OutOfTimeError, KeyboardInterrupt) as end:
                if isinstance(end, KeyboardInterrupt):
                    _INTERRUPTS.append(end)
        # If another error is being raised, the interrupt takes precedence.
        _raise_what_is_due()
    return result


def _ringing_again(hook: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a hook for errors in a callback, such as the garbage collector's, which cannot raise.

    An interrupt is noted, and an alarm raises it soon after. An OutOfTimeError is dropped, because its alarm repeats.
    Any other error goes to the previous hook.
    """

    def again(unraisable: Any) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            _INTERRUPTS.append(unraisable.exc_value)
            signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN)
        elif not isinstance(unraisable.exc_value, OutOfTimeError):
            hook(unraisable)

    return again


def _raise_what_is_due() -> None:
    """Raise the first of the noted interrupts, if any, and forget the others."""
    if _INTERRUPTS:
        noted = _INTERRUPTS[0]
        _INTERRUPTS.clear()
        raise noted


def _has_timer() -> bool:
    return hasattr(signal, "setitimer")


def _set_timer() -> None:
    left = _ALARM.get() - time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, *((0, 0) if left == math.inf else (max(left, _SOON), _AGAIN)))


def _ring(*_: object) -> None:
    _raise_what_is_due()
    if time.monotonic() >= _ALARM.get():
        raise OutOfTimeError("the time ran out")
