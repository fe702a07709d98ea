"""Timing of work, and the choice of the fastest of several programs."""

import statistics
import time
from collections.abc import Callable


def pause() -> None:
    """Wait until the last program's idle threads sleep; BLAS's and OpenMP's spin for up to 0.1 s, and take a core."""
    time.sleep(0.25)


def seconds_of(work: Callable[[], object], times: int) -> list[float]:
    """Return the times of some runs in a row, after a first run that is not timed, and a pause."""
    work()
    pause()
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return seconds


def median_seconds(work: Callable[[], object], times: int) -> float:
    """Return the median time of some runs, after a first run that is not timed."""
    return statistics.median(seconds_of(work, times))


def awaited(device: str, work: Callable[[], object]) -> Callable[[], None]:
    """Return a callable that does the work and, on a GPU, waits until the GPU has finished."""
    import torch

    def run() -> None:
        work()
        if device == "cuda":
            torch.cuda.synchronize()

    return run


def repeated(work: Callable[[], object], times: int) -> Callable[[], None]:
    """Return a callable that does the work some times in a row, as a training takes its steps."""

    def run() -> None:
        for _ in range(times):
            work()

    return run


def fastest(ways: dict[str, Callable[[], object]], times: int) -> tuple[str, Callable[[], object]]:
    """Return the name of the callable with the smallest median time, and the callable."""
    taken = {name: median_seconds(work, times) for name, work in ways.items()}
    name = min(taken, key=taken.__getitem__)
    return name, ways[name]


def on_threads(name: str, work: Callable[[], object]) -> dict[str, Callable[[], object]]:
    """Return, by names with the number of threads, the work on one of PyTorch's threads and on all of them."""
    import torch

    all_of_them = torch.get_num_threads()

    def on(threads: int) -> Callable[[], object]:
        def run() -> object:
            torch.set_num_threads(threads)
            try:
                return work()
            finally:
                torch.set_num_threads(all_of_them)

        return run

    return {f"{name}, threads: {threads}": on(threads) for threads in sorted({1, all_of_them})}
