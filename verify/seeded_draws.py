"""Draws by Hypothesis that depend on their seed alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants


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
