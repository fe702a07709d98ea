"""Benchmark of the numbers of examples that a guided and an unguided search try in vain before they refute a canary.

A guided search also tries instances in general position, and instances at which margins are small. Before its examples
it looks at many points in float64, which are no examples and are not counted.
"""

import statistics

from tests.benchmarks.searches import canaries, needed
from verify.search.limits import EXPLORE

SEEDS, COSTLY = 20, ("wang2024.length_generalization", "wang2024.separation", "wang2024.theorem2")


def in_vain(pairs, seed, *, guided):
    """Return the total number of examples, over canaries, that a search tries and that refute nothing."""
    total = 0
    for pair in pairs:
        tried, refuted = needed(*pair, seed, guided=guided)
        total += tried - 1 if refuted else max(tried, EXPLORE.max_examples)
    return total


def bench_canaries_are_refuted(counted):
    tried = [pair for pair in canaries() if pair[0].id not in COSTLY]

    def measure():
        return [[in_vain(tried, seed, guided=guided) for seed in range(SEEDS)] for guided in (True, False)]

    def note(ours, plain):
        whole = [statistics.median(counts) + len(tried) for counts in (ours, plain)]
        return (
            f"Total numbers of examples that refute nothing, over {len(tried)} canaries, for each of {SEEDS} seeds."
            f" With the refuting examples, which any search needs, the medians are {whole[0]:.0f} and {whole[1]:.0f}."
            " Before its examples our search looks at many points in float64, which are not counted. The plain way only"
            " draws from the same ranges; it is both peers, so both columns have the same number. A search that refutes"
            f" nothing counts as {EXPLORE.max_examples}, or as all it has tried, if that is more. The sizes of the"
            " numbers in general position were chosen with these canaries in view. Left out, as an evaluation takes"
            f" seconds: the canaries of {', '.join(COSTLY)}."
        )

    counted("canaries refuted by a search: examples tried in vain", "examples", measure, reach=5, note=note)
