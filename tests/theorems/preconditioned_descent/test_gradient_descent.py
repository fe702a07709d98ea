"""Lemma 1's counterexample, computed with the layer Z + (1/n) P Z M Zᵀ Q Z in exact arithmetic."""

from fractions import Fraction

import flint
import pytest

import verify


def read(text):
    return flint.fmpq_mat([[flint.fmpq(int(entry)) for entry in row.split()] for row in text.split(";")])


def stacked(upper, lower):
    rows = [[part[i, j] for j in range(part.ncols())] for part in (upper, lower) for i in range(part.nrows())]
    return flint.fmpq_mat(rows)


def beside(left, right):
    return stacked(left.transpose(), right.transpose()).transpose()


@pytest.mark.parametrize("transposed", [False, True])
def test_the_printed_lemma_fails_in_the_layer_itself_and_its_transpose_holds(transposed):
    result = verify.check("ahn2023.lemma1", d=2, n=2, preconditioner="any")
    printed = next(clause for clause in result.clauses if clause.label == "query_as_printed")
    X, x, w, v, A = (read(printed.witness[name]) for name in ("X", "x", "w", "v", "B"))
    n = X.ncols()
    Z = stacked(beside(X, x), beside((w - v).transpose() * X, -v.transpose() * x))
    P, Q, M = (flint.fmpq_mat(size, size) for size in (3, 3, n + 1))
    P[2, 2] = 1
    for i in range(n):
        M[i, i] = 1
    for i in range(2):
        for j in range(2):
            Q[i, j] = -A[i, j]
    after = Z + P * Z * M * Z.transpose() * Q * Z / flint.fmpq(n)
    moved = v - (A.transpose() if transposed else A) * (X * X.transpose() * (v - w) / flint.fmpq(n))
    found = after[2, n] - (-moved.transpose() * x)[0, 0]
    difference = Fraction(int(found.p), int(found.q))
    assert difference == (0 if transposed else printed.witness["left_minus_right"]) and (transposed or difference)
