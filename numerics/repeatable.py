"""Helpers for runs that are reproducible to the last bit: a generator for each purpose, and a single thread."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def _derived(seed: int, purpose: str) -> bytes:
    return hashlib.sha256(f"{seed} {purpose}".encode()).digest()


def generator_for(seed: int, purpose: str, device: str) -> torch.Generator:
    """Return the generator of a seed for one purpose, independent of the generators for other purposes."""
    return torch.Generator(device).manual_seed(int.from_bytes(_derived(seed, purpose)[:7]))


def key_for(seed: int, purpose: str) -> int:
    """Return a 64-bit key for a counter-based generator, derived from a seed and a purpose."""
    return int.from_bytes(_derived(seed, purpose)[:8])


def seeds_of_runs(seed: int, count: int) -> Iterator[int]:
    """Yield the seeds of `count` runs; the seed of the first run is `seed` itself."""
    for i in range(count):
        yield seed if i == 0 else generator_for(seed, f"run {i}", "cpu").initial_seed()


@contextmanager
def one_thread() -> Iterator[None]:
    """Make PyTorch use one thread: sums do not depend on the number of cores, and small ones do not wait for threads.

    Work that `verify.cores` distributes still uses all cores, because its result does not depend on their number.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
