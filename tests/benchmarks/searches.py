"""Numbers of examples that a search needs to refute a canary, guided and not."""

import pytest

from verify import ids, load_theorem
from verify.search.explore import explore
from verify.search.limits import EXPLORE


def needed(theorem, canary, seed, *, guided, most=EXPLORE.max_examples, seconds=600):
    """Return the number of examples that a search needs, or has tried if it refutes nothing, and whether it refutes.

    A counterexample is not simplified, and if nothing is found, no bound's sharpness is computed. An unguided search
    only draws: nothing is tried before, margins are no targets, and the nearest misses are not polished.
    """
    with pytest.MonkeyPatch.context() as patched:
        for name in ("_simplify", "sharpness"):
            patched.setattr(f"verify.search.explore.{name}", lambda *_: ())
        result = explore(
            theorem.variant(canary.statement), {}, max_examples=most, seconds=seconds, seed=seed, guided=guided
        )
    return result.needed or result.examples, result.needed is not None


def canaries():
    """Yield all theorems' canaries."""
    for name in ids("theorem"):
        theorem = load_theorem(name)
        yield from ((theorem, canary) for canary in theorem.canaries)
