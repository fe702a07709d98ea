"""Benchmark of Wishart trace moments, compared with the enumeration of pairings."""

from fractions import Fraction

import numpy as np

from tests.benchmarks.timing import median_seconds
from theorems.wishart.trace_moments import trace_moment

N, D = 20, 5
COMMON, LARGEST = 9, 26


def merging():
    """Return a compiled function that merges two labels and returns the number of labels removed."""
    from numba import njit

    @njit("int64(int64[::1], int64, int64, int64)")
    def merged(labels, count, a, b):
        if a == b:
            return 0
        for i in range(count):
            if labels[i] == a:
                labels[i] = b
        return 1

    return merged


def pairings():
    """Return a function that gives E tr (XXᵀ)^k: compiled code counts all (2k − 1)!! pairings by their free indices.

    tr (XXᵀ)^k is a cycle of 2k entries of X: entries 2i − 1 and 2i share a row, and entries 2i and 2i + 1 share a
    column. Paired entries have both indices in common.
    """
    from numba import njit

    merged = merging()

    @njit("void(int64[:,::1], int64[:,::1], int64[::1], int64, int64, int64, int64, int64[:,::1])")
    def enumerate_all(rows, columns, used, depth, order, free_rows, free_columns, found):
        if depth == order:
            found[free_rows, free_columns] += 1
            return
        first = 0
        while used[first]:
            first += 1
        used[first] = 1
        for other in range(first + 1, 2 * order):
            if not used[other]:
                used[other] = 1
                rows[depth + 1, :order] = rows[depth, :order]
                columns[depth + 1, :order] = columns[depth, :order]
                r, c = rows[depth + 1], columns[depth + 1]
                fewer_rows = merged(r, order, r[(first + 1) // 2 % order], r[(other + 1) // 2 % order])
                fewer_columns = merged(c, order, c[first // 2], c[other // 2])
                enumerate_all(
                    rows, columns, used, depth + 1, order, free_rows - fewer_rows, free_columns - fewer_columns, found
                )
                used[other] = 0
        used[first] = 0

    def moment(order):
        start = np.tile(np.arange(order), (order + 1, 1))
        found = np.zeros((order + 1, order + 1), dtype=np.int64)
        enumerate_all(start.copy(), start.copy(), np.zeros(2 * order, dtype=np.int64), 0, order, order, order, found)
        return sum(int(found[a, b]) * D**a * N**b for a, b in zip(*np.nonzero(found), strict=True))

    return moment


def partitions(order, n=N, d=D):
    """Return E tr (XXᵀ)^k by the expansion of the power sum p_k in zonal polynomials, a sum over partitions of k.

    The box in row i and column j, both from 0, has c = 2j − i, an arm a and a leg l. A partition has the term
    2k ∏' c ∏ (n + c)(d + c) / ∏ (2a + l + 1)(2a + l + 2), where ∏' leaves out the first box. The term is 0 if another
    box has c = 0, so the sum is over partitions that consist of at most two rows with a column of ones below.
    """
    total = Fraction(0)
    for first in range(1, order + 1):
        for second in range(min(first, order - first) + 1):
            ones = order - first - second
            height = 1 + (second > 0) + ones
            if height > d or (ones and not second):
                continue
            rows = [first, second][: 1 + (second > 0)] + [1] * ones
            columns = [height] + [2] * (second - 1) + [1] * (first - max(second, 1))
            above, below = 2 * order, 1
            for i, row in enumerate(rows):
                for j in range(row):
                    c, arm, leg = 2 * j - i, row - j - 1, columns[j] - i - 1
                    above *= (c or 1) * (n + c) * (d + c)
                    below *= (2 * arm + leg + 1) * (2 * arm + leg + 2)
            total += Fraction(above, below)
    return total


def ours(order):
    return trace_moment([order], N, D) * N**order


def bench_trace_moments(pair):
    definition = pairings()
    assert [definition(k) for k in range(1, 7)] == [ours(k) for k in range(1, 7)]
    orders = [*range(1, COMMON + 1), LARGEST]
    assert [partitions(k) for k in orders] == [ours(k) for k in orders]
    times = [median_seconds(lambda way=way: way(LARGEST), 5) for way in (partitions, ours)]
    pair(
        f"E tr S^{COMMON} of a Wishart matrix, n = {N}, d = {D}",
        lambda: ours(COMMON),
        lambda: definition(COMMON),
        best=lambda: partitions(COMMON),
        reach=0.5,
        rounds=5,
        note=f"The definition is an enumeration of all {2 * COMMON - 1}!! pairings (Isserlis), compiled; at order"
        f" {LARGEST} there are 3·10^33. The best plain way is a sum over partitions, the expansion of a power sum in"
        f" zonal polynomials, in plain Python: at order {LARGEST} it takes {times[0] * 1e3:.2g} ms and ours"
        f" {times[1] * 1e3:.2g} ms. Ours uses integration by parts, which also gives products of traces, and may"
        " take at most twice the time.",
    )


def bench_growth_with_order(growth):
    plain = pairings()
    growth(
        "E tr S^k of a Wishart matrix",
        "order k",
        {k: lambda k=k: ours(k) for k in (2, 3, 5, 7, 9, 12, 16, 20, LARGEST)},
        {k: lambda k=k: plain(k) for k in range(2, COMMON)},
        note="The plain way is the enumeration of pairings.",
    )


def bench_growth_with_dimension(growth):
    growth(
        f"E tr S^{COMMON} of a Wishart matrix, n = {N}",
        "dimension d",
        {d: lambda d=d: trace_moment([COMMON], N, d) for d in (2, 5, 20, 100, 1000, 10_000)},
    )


def bench_growth_with_examples(growth):
    growth(
        f"E tr S^{COMMON} of a Wishart matrix, d = {D}",
        "examples n",
        {n: lambda n=n: trace_moment([COMMON], n, D) for n in (2, 5, 20, 100, 1000, 10_000)},
    )
