"""Number of examples that a guided or an unguided search needs to refute a canary."""

import pytest

from verify import ids, load_theorem
from verify.search.explore import explore
from verify.search.limits import EXPLORE


def needed(theorem, canary, seed, *, guided, most=EXPLORE.max_examples, seconds=600):
    """Return the number of examples tried until the search refutes or ends, and whether the search refutes.

    No counterexample is simplified, and no bound's sharpness is computed. An unguided search only draws instances: it
    tries none before the draws, does not use margins, and does not polish the nearest misses.
    """
    with pytest.MonkeyPatch.context() as patched:
        for name in ("_simplify", "sharpness"):
            patched.setattr(f"verify.search.explore.{name}", lambda *_: ())
        result = explore(
            theorem.variant(canary.statement), {}, max_examples=most, seconds=seconds, seed=seed, guided=guided
        )
    return result.needed or result.examples, result.needed is not None


def canaries():
    """Yield each canary with its theorem."""
    for name in ids("theorem"):
        theorem = load_theorem(name)
        yield from ((theorem, canary) for canary in theorem.canaries)
