"""How long work takes, and on how many of PyTorch's threads it takes least."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


def seconds_of(work: Callable[[], object], times: int) -> list[float]:
    """Return the times of some runs, after one that does not count."""
    work()
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return seconds


def median_seconds(work: Callable[[], object], times: int) -> float:
    """Return the median time of some runs, after one that does not count."""
    return statistics.median(seconds_of(work, times))


def awaited(device: str, work: Callable[[], object]) -> Callable[[], None]:
    """Return the work, and the wait for a card to have done it."""
    import torch

    def run() -> None:
        work()
        if device == "cuda":
            torch.cuda.synchronize()

    return run


class Best(NamedTuple):
    """The number of threads that work is the fastest on, and what it takes on it."""

    threads: int
    seconds: float


def on_the_best_threads(work: Callable[[], object]) -> tuple[Callable[[], object], Best]:
    """Return work as it is done on one of PyTorch's threads or on all, whichever is faster here."""
    import torch

    all_of_them, taken = torch.get_num_threads(), dict[int, float]()

    def on(threads: int) -> Callable[[], object]:
        def run() -> object:
            torch.set_num_threads(threads)
            try:
                return work()
            finally:
                torch.set_num_threads(all_of_them)

        return run

    for threads in sorted({1, all_of_them}):
        taken[threads] = median_seconds(on(threads), 5)
    best = min(taken, key=taken.__getitem__)
    return on(best), Best(best, taken[best])
