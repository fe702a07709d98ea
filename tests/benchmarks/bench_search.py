"""Benchmark of the numbers of examples that a guided and an unguided search need to refute the canaries.

A guided search also tries instances in general position, and instances at which margins are small.
"""

import statistics
from functools import cache

from tests.benchmarks.searches import canaries, needed
from verify.search.limits import EXPLORE

SEEDS, COSTLY = 20, ("wang2024.length_generalization", "wang2024.separation", "wang2024.theorem2")
HOW = (
    f" Total numbers of examples, for each of {SEEDS} seeds. The plain way only draws from the same ranges; it is both"
    f" peers, so both columns have the same number. A search of {EXPLORE.max_examples} examples that finds nothing"
    f" counts as {EXPLORE.max_examples}, or as all it has tried. Left out, as an evaluation takes seconds: the"
    f" canaries of {', '.join(COSTLY)}."
)


@cache
def measured():
    """Return, for each seed from 0 on, two lists of the numbers of examples per canary: guided, and unguided."""
    tried = [pair for pair in canaries() if pair[0].id not in COSTLY]

    def one_seed(seed):
        found = {way: [needed(*pair, seed, guided=way) for pair in tried] for way in (True, False)}
        return [
            [count if there else max(count, EXPLORE.max_examples) for count, there in found[way]]
            for way in (True, False)
        ]

    return [one_seed(seed) for seed in range(SEEDS + 1)]


def totals(places):
    """Return two lists of the total number of examples over some canaries, per seed except 0: guided, and unguided."""
    return [[sum(seed[way][i] for i in places) for seed in measured()[1:]] for way in (0, 1)]


def bench_canaries_are_refuted(counted):
    places = range(len(measured()[0][0]))

    def note(ours, plain):
        most = statistics.median(plain) / len(places)
        return (
            f"All {len(places)} canaries. The bound: each needs an example, and the plain way needs"
            f" {statistics.median(plain):.0f} in all, as most canaries are false nearly everywhere: no search is more"
            f" than {most:.1f} times better.{HOW}"
        )

    counted("canaries refuted by a search, all", "examples", lambda: totals(places), reach=5, note=note)


def bench_canaries_that_take_a_search(counted):
    # Seed 0 selects the canaries, and the counts leave it out.
    first = measured()[0]
    places = [i for i in range(len(first[0])) if not first[0][i] == first[1][i] == 1]

    def note(ours, plain):
        middle = [statistics.median(seed[way][i] for seed in measured()[1:] for i in places) for way in (0, 1)]
        return (
            f"The {len(places)} of {len(first[0])} canaries that, with another seed, one of the two searches does not"
            f" refute at its first example. The median search needs {middle[0]:.0f}, the plain one {middle[1]:.0f}. The"
            f" sizes of the numbers in general position were chosen with these canaries in view.{HOW}"
        )

    counted("canaries refuted by a search, those that take one", "examples", lambda: totals(places), reach=5, note=note)
