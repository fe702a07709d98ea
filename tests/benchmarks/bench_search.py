"""How many examples refute the canaries, with general positions and margins as a guide and without."""

import statistics

from tests.benchmarks.searches import canaries, needed
from verify.explore import MOST_EXAMPLES

SEEDS, COSTLY = 20, ("wang2024.length_generalization", "wang2024.separation", "wang2024.theorem2")


def bench_canaries_are_refuted(counted):
    # By seed 0, which is not among those that are counted.
    tried = [pair for pair in canaries() if pair[0].id not in COSTLY]
    easy = [pair for pair in tried if all(needed(*pair, 0, guided=way) == (1, True) for way in (True, False))]
    chosen = [pair for pair in tried if pair not in easy]
    missed, counts = {True: 0, False: 0}, {True: [], False: []}

    def total(seed, *, guided):
        in_all = 0
        for theorem, canary in chosen:
            count, found = needed(theorem, canary, seed, guided=guided)
            missed[guided] += not found
            # One that is not found counts as all that may be tried, whatever the polish beside it.
            counts[guided].append(min(count, MOST_EXAMPLES) if found else MOST_EXAMPLES)
            in_all += counts[guided][-1]
        return in_all

    def measure():
        pairs = ((total(seed, guided=True), total(seed, guided=False)) for seed in range(1, SEEDS + 1))
        return zip(*pairs, strict=True)

    def note(ours, plain):
        middle = {guided: statistics.median(counts[guided]) for guided in counts}
        either = (statistics.median(plain) + len(easy)) / (statistics.median(ours) + len(easy))
        return (
            f"Examples in all, for each of {SEEDS} seeds, over the {len(chosen)} of {len(tried)} canaries that the"
            " first example of another seed does not refute in both ways; with the others, for which nobody needs less"
            f" than one, the ratio is {either:.2g}. The plain way is the same strategy without instances in general"
            f" position, targets and descents. A search of {MOST_EXAMPLES} examples that finds nothing counts as"
            f" {MOST_EXAMPLES}: {missed[True]} of ours, {missed[False]} of the plain way, of {len(counts[True])}. The"
            f" median search needs {middle[True]:.0f}, the plain one {middle[False]:.0f}. Left out, as an evaluation"
            f" takes seconds: the canaries of {', '.join(COSTLY)}."
        )

    counted("canaries refuted by a search", "examples", measure, reach=5, note=note)
