"""Benchmark of statements from other sources: the numbers proved and refuted in each family, and the cost of proofs.

A family takes some minutes.
"""

import pytest

import verify
from tests.outside import FAMILIES, statements
from tests.outside.proved import longest, proofs

SECONDS = 10
"""Time limit of a search for a counterexample, in seconds."""


def measured(family):
    """Return the results for a family's statements, with processor times in seconds."""
    each_true, each_false = ([s for s in statements(family) if s.true == true] for true in (True, False))
    found = [longest(proof) for each in each_true if (proof := proofs(each)) is not None]
    refuted = [verify.explore(each.statement, {}, seconds=SECONDS).counterexample is not None for each in each_false]
    characters, searched, rechecked = map(list, zip(*found, strict=True))
    return {
        "true": len(each_true),
        "proved": len(found),
        "false": len(each_false),
        "refuted": sum(refuted),
        "characters": characters,
        "searched": searched,
        "rechecked": rechecked,
        "late": sum(not each.in_time for each in found),
    }


@pytest.mark.parametrize("family", FAMILIES)
def bench_statements_of_others(benchmark, stored, family):
    row = benchmark.pedantic(measured, args=(family,), rounds=1, iterations=1)
    if benchmark.stats is not None:
        stored(kind="others", work=family, **row)
