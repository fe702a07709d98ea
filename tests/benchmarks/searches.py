"""How many examples a search needs to refute a canary, guided and not."""

import contextlib
from unittest import mock

import verify.search.explore
from verify import ids, load_theorem
from verify.search.explore import MOST_EXAMPLES


def needed(theorem, canary, seed, *, guided, most=MOST_EXAMPLES, seconds=600):
    """Return how many examples a search needs, or, where it refutes nothing, how many it has tried; and whether.

    What is found is not made readable, and where nothing is found no bound's sharpness is asked. An unguided search
    draws alone: nothing is tried before, margins are no targets, and the nearest misses are not polished.
    """
    with contextlib.ExitStack() as stack:
        for name in ("_simplify", "sharpness"):
            stack.enter_context(mock.patch.object(verify.search.explore, name, return_value=()))
        result = verify.search.explore.explore(
            theorem.variant(canary.statement), {}, max_examples=most, seconds=seconds, seed=seed, guided=guided
        )
    return result.needed or result.examples, result.needed is not None


def canaries():
    """Yield all theorems' canaries."""
    for name in ids("theorem"):
        theorem = load_theorem(name)
        yield from ((theorem, canary) for canary in theorem.canaries)
