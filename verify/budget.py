"""The time that a computation has: set by who asks for it, looked at by what may take long, such as a primitive."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from verify.errors import OutOfTimeError

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Give what is computed within this context until `deadline` (`time.monotonic()`), or less where it has less."""
    before = _DEADLINE.set(min(deadline, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(before)


def look_at_the_clock() -> None:
    """Raise OutOfTimeError where the time is over; called now and then by what may take long."""
    if time.monotonic() > _DEADLINE.get():
        raise OutOfTimeError("the time ran out")
