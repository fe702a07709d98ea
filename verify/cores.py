"""Threads on all cores, for functions that release Python's global interpreter lock."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Event, Lock


def on_all_cores(count: int, work: Callable[[int], object], *, alone: bool = False) -> None:
    """Call `work` with each of 0 … count − 1, in any order, on this thread and others; with `alone`, only on this one.

    The results of `work` must not depend on the order. `work` must not call `on_all_cores`: all threads could then wait
    for each other. If a call raises, or Ctrl-C is pressed, no further call starts. Once all running calls have ended,
    the exception of this thread, or else of another, is raised.
    """
    left, taking, failed = iter(range(count)), Lock(), Event()

    def some() -> None:
        try:
            while not failed.is_set():
                with taking:
                    piece = next(left, None)
                if piece is None:
                    return
                work(piece)
        except BaseException:
            failed.set()
            raise

    helpers = 0 if alone else min(cores(), count) - 1
    others = [_pool(os.getpid()).submit(some) for _ in range(helpers)]
    try:
        some()
    finally:
        # Wait for the other threads; their errors are raised below.
        failures = [other.exception() for other in others]
    for failure in failures:
        if failure is not None:
            raise failure


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the thread pool of a process; a forked process does not inherit its parent's threads."""
    return ThreadPoolExecutor(cores())
