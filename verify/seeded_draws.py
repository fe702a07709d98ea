"""Draws by Hypothesis that depend on their seed alone, and its two private names that this takes."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import seed
from hypothesis.internal.conjecture.providers import HypothesisProvider


@contextmanager
def own_draws() -> Iterator[None]:
    """Keep Hypothesis from drawing, now and then, a constant that it finds in the source of the modules loaded so far.

    With these constants the same seed would draw other instances in a process that has imported more. Hypothesis has no
    public switch for them: a private name of it is used, in the versions that `pyproject.toml` allows, and a test draws
    in two processes. Raises AttributeError in a version without it.
    """
    drawing = HypothesisProvider._maybe_draw_constant  # noqa: SLF001
    HypothesisProvider._maybe_draw_constant = lambda *_, **__: None  # noqa: SLF001
    try:
        yield
    finally:
        HypothesisProvider._maybe_draw_constant = drawing  # noqa: SLF001


def seed_draws(test: Any, number: int) -> None:
    """Let a test of Hypothesis draw from a seed, and keep its settings.

    Hypothesis's own `seed` takes away the database, in which a fresh run keeps its failures. Raises AttributeError in a
    version whose tests keep their settings elsewhere.
    """
    kept = test._hypothesis_internal_use_settings  # noqa: SLF001
    seed(number)(test)
    test._hypothesis_internal_use_settings = kept  # noqa: SLF001


def seed_of(text: str) -> int:
    """Return a seed that is made of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
