"""Draws by Hypothesis that depend only on their seed; this module uses two private names of Hypothesis."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import seed
from hypothesis.internal.conjecture.providers import HypothesisProvider


@contextmanager
def own_draws() -> Iterator[None]:
    """Keep Hypothesis from drawing constants that it finds in the source of the modules loaded so far.

    With these constants the same seed would draw other instances in a process that has imported more modules.
    Hypothesis has no public switch for them, so a private name is replaced. `pyproject.toml` limits Hypothesis's
    version, and a test compares the draws of two processes. Raises AttributeError in a version without the name.
    """
    drawing = HypothesisProvider._maybe_draw_constant  # noqa: SLF001
    HypothesisProvider._maybe_draw_constant = lambda *_, **__: None  # noqa: SLF001
    try:
        yield
    finally:
        HypothesisProvider._maybe_draw_constant = drawing  # noqa: SLF001


def seed_draws(test: Any, number: int) -> None:
    """Make a Hypothesis test draw from a seed, and keep its settings.

    Hypothesis's own `seed` also removes the database, in which failures are kept. Raises AttributeError in a version
    whose tests keep their settings elsewhere.
    """
    kept = test._hypothesis_internal_use_settings  # noqa: SLF001
    seed(number)(test)
    test._hypothesis_internal_use_settings = kept  # noqa: SLF001


def seed_of(text: str) -> int:
    """Return the SHA-256 digest of a text as a number, for a seed."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
