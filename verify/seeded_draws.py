"""Draws by Hypothesis that depend on their seed alone."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.internal.conjecture.providers import HypothesisProvider


@contextmanager
def own_draws() -> Iterator[None]:
    """Keep Hypothesis from drawing, now and then, a constant that it finds in the source of the modules loaded so far.

    With these constants the same seed would draw other instances in a process that has imported more. Hypothesis has no
    public switch for them: this is the one private name of it that is used, in the versions that `pyproject.toml`
    allows, and a test draws in two processes. Raises AttributeError in a version without it.
    """
    drawing = HypothesisProvider._maybe_draw_constant  # noqa: SLF001
    HypothesisProvider._maybe_draw_constant = lambda *_, **__: None  # noqa: SLF001
    try:
        yield
    finally:
        HypothesisProvider._maybe_draw_constant = drawing  # noqa: SLF001


def seed_of(text: str) -> int:
    """Return a seed that is made of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
