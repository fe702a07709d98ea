"""Wishart trace moments against the enumeration of pairings."""

import numpy as np

from theorems.wishart.trace_moments import trace_moment

N, D = 20, 5
COMMON, LARGEST = 9, 26


def pairings():
    """The enumeration, compiled: how many of the (2k − 1)!! pairings leave so many free row and column indices.

    tr (XXᵀ)^k is a cycle of 2k entries of X; the entries at 2i − 1 and 2i share a row, those at 2i and 2i + 1 a column.
    Entries that are paired have both indices in common.
    """
    from numba import njit

    @njit("int64(int64[::1], int64, int64, int64)")
    def merged(labels, count, a, b):
        if a == b:
            return 0
        for i in range(count):
            if labels[i] == a:
                labels[i] = b
        return 1

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


def ours(order):
    return trace_moment([order], N, D) * N**order


def bench_trace_moments(pair):
    plain = pairings()
    assert [plain(k) for k in range(1, 7)] == [ours(k) for k in range(1, 7)]
    pair(
        f"E tr S^{COMMON} of a Wishart matrix, n = {N}, d = {D}",
        lambda: ours(COMMON),
        lambda: plain(COMMON),
        reach=1e3,
        rounds=5,
        note=f"The plain way enumerates all {2 * COMMON - 1}!! pairings (Isserlis), compiled; at order {LARGEST}"
        " there are 3·10^33.",
    )


def bench_growth_with_order(growth):
    plain = pairings()
    growth(
        "E tr S^k of a Wishart matrix",
        "order k",
        {k: lambda k=k: ours(k) for k in (2, 3, 5, 7, 9, 12, 16, 20, LARGEST)},
        {k: lambda k=k: plain(k) for k in range(2, COMMON)},
    )
