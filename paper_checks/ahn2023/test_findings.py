"""The findings' numbers, derived a second time: Wishart moments by enumerating pairings, roots in floating point."""

import math
from fractions import Fraction

import numpy as np
import pytest

from paper_checks.ahn2023 import findings


def pairings(slots):
    """Yield all ways to pair some slots."""
    if not slots:
        yield []
        return
    first, *rest = slots
    for i, other in enumerate(rest):
        for pairs in pairings(rest[:i] + rest[i + 1 :]):
            yield [(first, other), *pairs]


def trace_moment(order, n, d):
    """E tr (XXᵀ)^k by Wick: factor 2j is X_{a_j i_j}, factor 2j + 1 is X_{a_{j+1} i_j}; paired factors share both."""
    rows = [j // 2 if j % 2 == 0 else (j // 2 + 1) % order for j in range(2 * order)]
    columns = [j // 2 for j in range(2 * order)]
    return sum(
        d ** classes(order, [(rows[a], rows[b]) for a, b in pairs])
        * n ** classes(order, [(columns[a], columns[b]) for a, b in pairs])
        for pairs in pairings(list(range(2 * order)))
    )


def classes(count, equal):
    """How many of `count` indices are free under some equations."""
    leader = list(range(count))
    for a, b in equal:
        leader = [leader[a] if x == leader[b] else x for x in leader]
    return len(set(leader))


@pytest.fixture(scope="module")
def least():
    """p with p(0) = 1 orthogonal to s, s², s³, for L = 3, d = 5, n = 20, in fractions: its coefficients and ∫ p."""
    n, d, L = 20, 5, 3
    m = [Fraction(d), *(Fraction(trace_moment(k, n, d), n**k) for k in range(1, 2 * L + 1))]
    rows = [[m[i + j] for j in range(1, L + 1)] + [-m[i]] for i in range(1, L + 1)]
    for k in range(L):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(L):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    coefficients = [Fraction(1), *(row[-1] for row in rows)]
    return coefficients, sum(c * x for c, x in zip(coefficients, m, strict=False))


def test_the_least_loss(least):
    assert least[1] == findings.theorem3_is_attained.expect["values.minimum_loss"]
    # The text's figures: 2.7 % of d, and the logarithm.
    assert 0.0265 < least[1] / 5 < 0.0275 and -2.02 < math.log(least[1]) < -2.005


def test_figure_2(least):
    roots = np.roots([float(c) for c in reversed(least[0])])
    steps = sorted(1 / roots.real)
    assert np.allclose(roots.imag, 0) and np.allclose(steps, [0.42240853, 0.68912608, 1.71421737], atol=1e-8, rtol=0)
    for i, a in enumerate(steps):
        printed = findings.figure2_is_theorem3s_point.expect[f"values.a.{i}"]
        assert printed.lower < a < printed.upper
    # The other order of rounding would not do: the intervals are narrow against what separates the steps.
    assert not any(0.435 < a < 0.685 for a in steps)


def test_theorem_5_at_the_findings_sizes():
    # f = d − d a + κ d a² at its vertex, κ from E|x|²s²1(s>0) = (d+2)/2 and E x s 1(s>0) = 1/2 over n² pairs.
    d, n = 5, 20
    kappa = Fraction(n * (d + 2), 2 * n * n) + Fraction(n * (n - 1), 4 * n * n)
    expected = findings.theorem5_last_row_is_needless.expect
    assert expected["values.a"] == 1 / (2 * kappa)
    assert expected["values.minimum_loss"] == d - Fraction(d) / (4 * kappa)


def test_lemma_1_by_hand():
    """One layer from w = 0 at x_1 = (1, 0), x_2 = 0, w* = (1, 0), A = [[0, 1], [0, 0]], query (0, 1)."""
    examples, weights, A, query = np.array([[1.0, 0], [0, 0]]), np.array([1.0, 0]), np.array([[0, 1.0], [0, 0]]), [0, 1]
    labels = weights @ examples
    label = -(labels @ (examples.T @ A @ query)) / 2
    gradient = -examples @ (examples.T @ weights) / 2
    assert label == -0.5
    assert -(-A.T @ gradient) @ query == label and -(-A @ gradient) @ query == 0
