"""Draws by Hypothesis that depend on their seed alone."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from hypothesis import core
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from hypothesis.internal.entropy import deterministic_PRNG


@contextmanager
def own_draws() -> Iterator[None]:
    """Keep Hypothesis from drawing, now and then, a constant that it finds in the source of the modules loaded so far.

    With them the same seed would draw other instances in a process that has imported more. Its own list of constants,
    which is fixed, is still drawn from. Hypothesis has no setting for this, and another backend would do without its
    guided search as well: these are names of its inside, and a test sees whether they still do what they did.
    """
    nothing = Constants()
    with patch.multiple(providers, create=True, _get_local_constants=lambda: nothing, CONSTANTS_CACHE={}):
        yield


def seed_hypothesis(text: str) -> None:
    """Seed, from a text, what Hypothesis takes the seeds of its runs from.

    A seed that is forced on a run would keep it from its database of failures. These are names of its inside as well.
    """
    # Hypothesis makes its source, and remembers to put it back around an example, where it needs it first.
    with deterministic_PRNG():
        pass
    core.threadlocal._hypothesis_global_random.seed(hashlib.sha256(text.encode()).digest())  # noqa: SLF001
