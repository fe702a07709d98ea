"""How many examples refute the canaries, with the margins as a guide and without."""

import statistics

from tests.benchmarks.searches import canaries, needed

SEEDS, MOST, COSTLY = 20, 100, ("wang2024.length_generalization", "wang2024.separation", "wang2024.theorem2")


def bench_canaries_are_refuted(counted):
    # By seed 0 of the plain way, which is not among those that are counted.
    tried = [pair for pair in canaries() if pair[0].id not in COSTLY]
    chosen = [(t, c) for t, c in tried if needed(t, c, 0, guided=False, most=MOST, seconds=600) != (1, True)]
    missed, counts = {True: 0, False: 0}, {True: [], False: []}

    def total(seed, *, guided):
        in_all = 0
        for theorem, canary in chosen:
            count, found = needed(theorem, canary, seed, guided=guided, most=MOST, seconds=600)
            missed[guided] += not found
            # One that is not found counts as all that may be tried, whatever the polish beside it.
            counts[guided].append(min(count, MOST) if found else MOST)
            in_all += counts[guided][-1]
        return in_all

    def measure():
        pairs = ((total(seed, guided=True), total(seed, guided=False)) for seed in range(1, SEEDS + 1))
        return zip(*pairs, strict=True)

    def note(ours, plain):
        middle = {guided: statistics.median(counts[guided]) for guided in counts}
        return (
            f"Examples in all, for each of {SEEDS} seeds, over the {len(chosen)} of {len(tried)} canaries that the"
            " first example of another seed's plain search does not refute. The plain way is the same strategy without"
            f" targets and without the descent from the nearest miss. A search of {MOST} examples that finds nothing"
            f" counts as {MOST}: {missed[True]} of ours, {missed[False]} of the plain way, of {len(counts[True])}. What"
            f" bounds the ratio: most canaries are false at most instances; the median search needs {middle[True]:.0f}"
            f" examples, and {middle[False]:.0f} without a guide. Left out, as an evaluation takes seconds: the"
            f" canaries of {', '.join(COSTLY)}."
        )

    counted("canaries refuted by a search", "examples", measure, reach=5, note=note)
