"""Helpers that experiments share: parameters of settings, checks of sizes and counters, and timing."""

import time
from collections.abc import Callable
from typing import Any

from verify import InputError, Parameter


def integer(name: str, meaning: str, minimum: int = 1) -> Parameter:
    """Return an integer parameter >= `minimum` of a setting."""
    return Parameter(name, "integer", meaning, minimum=minimum)


def positive(name: str, meaning: str) -> Parameter:
    """Return a rational parameter > 0 of a setting."""
    return Parameter(name, "rational", meaning, above=0)


def at_least(name: str, value: int, least: int) -> None:
    """Check that a value is an integer >= `least`.

    Raises
    ------
    InputError
        If it is not; the error names the value.
    """
    if not isinstance(value, int) or value < least:
        raise InputError(name, value, f"must be an integer >= {least}")


def counted(key: int, step: int = 0) -> None:
    """Check that a key is an integer of 64 bits, and a step an integer from 0 to 2⁶³ - 1.

    Raises
    ------
    InputError
        If one of them is not; the error names it.
    """
    if not isinstance(key, int) or not 0 <= key < 2**64:
        raise InputError("key", key, "must be an integer from 0 to 2^64 - 1")
    if not isinstance(step, int) or not 0 <= step < 2**63:
        raise InputError("step", step, "must be an integer from 0 to 2^63 - 1")


def timed(act: Callable[[], Any], device: str, times: int) -> float:
    """Return the mean number of seconds that `act` takes, over `times` calls."""
    import torch

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    # Work that was given to the GPU before is not timed.
    wait()
    started = time.perf_counter()
    for _ in range(times):
        act()
    wait()
    return (time.perf_counter() - started) / times
