"""All categories of drawn statements, and the drawing of a statement from its name."""

import random
from collections.abc import Callable

from tests.verify.statements import for_all, functions, matrix_monomials, measures, relations, reported, runs, slopes
from tests.verify.statements.numbers import UnsureError
from tests.verify.statements.specimens import Specimen
from tests.verify.statements.writing import NotWrittenError
from verify import TheoremError

Draw = Callable[[random.Random], Specimen]

CATEGORIES: dict[str, tuple[Draw, int]] = {
    "relations": (relations.relations, 14),
    "definitions": (relations.definitions, 11),
    "functions": (functions.functions, 14),
    "limits": (slopes.limits, 14),
    "derivatives": (slopes.derivatives, 9),
    "hypotheses": (slopes.hypotheses, 7),
    "cases": (slopes.cases, 7),
    "identities": (for_all.identities, 12),
    "inequalities": (for_all.inequalities, 8),
    "matrices": (matrix_monomials.matrix_identity, 8),
    "recursions": (runs.recursions, 10),
    "roots": (measures.roots, 5),
    "residuals": (measures.residuals, 6),
    "lists": (reported.lists, 5),
    "reported": (reported.reported, 10),
}
"""The function that draws each category of statements, and the category's share."""


def drawn(name: str) -> Specimen:
    """Return the statement with a name such as `limits:17`, drawn by the function of its category."""
    category, _, _ = name.partition(":")
    return drawn_by(CATEGORIES[category][0], name)


def drawn_by(make: Draw, name: str) -> Specimen:
    """Return the statement that a function draws for a name; draw again if the draw is refused or of unknown truth."""
    for attempt in range(200):
        draw = random.Random(f"{name}:{attempt}")
        try:
            return make(draw)
        except (NotWrittenError, UnsureError, TheoremError):
            continue
    raise AssertionError(f"{name}: nothing is drawn")


def names(count: int) -> list[str]:
    """Return the names of `count` statements, divided among the categories by their shares."""
    whole = sum(share for _, share in CATEGORIES.values())
    counts = {category: count * share // whole for category, (_, share) in CATEGORIES.items()}
    # The remainder of the rounding goes to the first category.
    counts["relations"] += count - sum(counts.values())
    return [f"{category}:{i}" for category, number in counts.items() for i in range(number)]
