"""`python -m tests.outside.measure [FAMILY ...]` prints the percentage of draws at which each false statement fails.

At most MOST instances are drawn from the domains (see `reading`), and the first DRAWS instances that satisfy the
hypotheses count. A statement about a recursion fails at an instance if the claim fails at a step up to 20. The seed is
SEED and the statement's id.
"""

import random
import sys
from itertools import islice

from tests.outside import Outside, statements
from tests.outside.reading import Statement

SEED = 1
DRAWS = 10_000
MOST = 100_000


def inside(outside: Outside, most: int = MOST):
    """Yield each draw that satisfies a statement's hypotheses, and whether the claim fails there."""
    statement = Statement.read(outside.statement)
    generator = random.Random(f"{SEED} {outside.id}")
    for _ in range(most):
        instance = statement.draw(generator)
        violated = statement.violated(instance)
        if violated is not None:
            yield instance, violated


def violated_percent(outside: Outside) -> tuple[float, int]:
    """Return the percentage of draws in scope at which the claim fails, and the number of draws in scope."""
    found = [violated for _, violated in islice(inside(outside), DRAWS)]
    return 100 * sum(found) / len(found), len(found)


if __name__ == "__main__":
    for each in statements(*sys.argv[1:]):
        if not each.true:
            percent, draws = violated_percent(each)
            sys.stdout.write(f"{each.id} {percent:.4g} {draws}\n")
            sys.stdout.flush()
