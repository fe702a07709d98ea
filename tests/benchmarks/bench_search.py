"""Benchmark of the numbers of examples that a guided and an unguided search try in vain before they refute a canary.

A guided search also tries instances in general position, and instances at which margins are small.
"""

import statistics

from tests.benchmarks.searches import canaries, needed
from verify.search.limits import EXPLORE

SEEDS, COSTLY = 10, ("wang2024.length_generalization", "wang2024.separation", "wang2024.theorem2")


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
        first = [statistics.median(counts) / len(tried) for counts in (ours, plain)]
        return (
            f"Total numbers of examples that refute nothing, over {len(tried)} canaries, for each of {SEEDS} seeds:"
            f" {first[0]:.2f} a canary, and {first[1]:.2f} in the plain way. Each canary also takes the example that"
            " refutes it, in both ways. The plain way only draws from the same ranges; it is both peers, so both"
            f" columns have the same number. A search that refutes nothing counts as {EXPLORE.max_examples}, or as all"
            " it has tried. The sizes of the numbers in general position were chosen with these canaries in view. Left"
            f" out, as an evaluation takes seconds: the canaries of {', '.join(COSTLY)}."
        )

    counted("canaries refuted by a search: examples tried in vain", "examples", measure, reach=5, note=note)
