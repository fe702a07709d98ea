"""Moments of words in S⁻¹, by Bartlett's decomposition, Weingarten's matrix, zonal polynomials and samples."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
import sympy as sp

from tests.theorems.wishart.pairings import classes, pairings
from tests.theorems.wishart.zonal import trace_of_power
from theorems.wishart import (
    inverse_matrix_formula,
    inverse_matrix_moment,
    inverse_trace_moment,
    inverse_word_formula,
    inverse_word_moment,
    word_moment,
)
from theorems.wishart.inverse_moments import MOST_FACTORS
from theorems.wishart.trace_moments import d, n
from verify import InputError

A = sp.Matrix([[1, 2], [0, -1]])
B = sp.Matrix([[2, 0], [1, 3]])
C = sp.Matrix([[1, 1], [1, 0]])
L = sp.Matrix([[1, 0], [sp.Rational(1, 2), 2]])
COVARIANCE = L * L.T
WORDS = [[[A]], [[A, B]], [[A], [B]], [[A, A.T]], [[A, B, C]], [[A, B], [C]], [[A, B, A.T]], [[A], [B], [A]]]


def by_bartlett(product, samples):
    """Return the mean of product(S⁻¹) at d = 2, by Bartlett's decomposition W = L T Tᵀ Lᵀ with T = [[a, 0], [c, b]].

    a² and b² are chi-squares with n and n − 1 degrees of freedom, c is a standard Gaussian, and
    E a^(−2k) = 1/((n − 2) … (n − 2k)).
    """
    a, b, c = sp.symbols("a b c", positive=True)
    half = sp.Matrix([[a, 0], [-c * b * a, b]]) * L.inv()
    # In `half` the symbols a and b stand for the inverses of T's diagonal entries.
    found = product((samples * half.T * half).expand())
    entries = found if isinstance(found, sp.MatrixBase) else sp.Matrix([[found]])

    def mean(entry):
        total = sp.Integer(0)
        for (i, j, k), coefficient in sp.Poly(entry, a, b, c).terms():
            if k % 2 == 0:
                assert i % 2 == j % 2 == 0
                lower = prod(samples - 2 * m for m in range(1, i // 2 + 1))
                lower *= prod(samples - 1 - 2 * m for m in range(1, j // 2 + 1))
                total += coefficient * sp.factorial2(k - 1) / lower
        return total

    return entries.applyfunc(mean) if isinstance(found, sp.MatrixBase) else mean(found)


def word(V, matrices):
    product = sp.eye(V.rows)
    for matrix in matrices:
        product = (product * V * matrix).expand()
    return product


def by_zonal_polynomials(k, samples, dimension):
    """Return E tr V^k from E Z_λ(V) = Z_λ(I) ∏ 1/(n − d + i − 2j) over the boxes, with i and j from 1."""
    total = Fraction(0)
    for coefficient, boxes in trace_of_power(k):
        at_identity = prod(dimension + 2 * j - i for i, j in boxes)
        total += coefficient * at_identity / prod(samples - dimension - 1 + i - 2 * j for i, j in boxes)
    return total


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("samples", [8, 11])
def test_by_bartlett(words, samples):
    right = by_bartlett(lambda V: sp.prod([word(V, letters).trace() for letters in words]), samples)
    assert inverse_word_moment(words, samples, COVARIANCE) == right


@pytest.mark.parametrize("matrices", [[], [A], [A, B], [A, A]])
def test_a_matrix_by_bartlett(matrices):
    right = by_bartlett(lambda V: (word(V, matrices) * V).expand(), 9)
    assert inverse_matrix_moment(matrices, 9, COVARIANCE) == right


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(("samples", "dimension"), [(10, 2), (13, 4)])
def test_a_formula_is_a_row_of_the_inverse_of_weingartens_matrix(order, samples, dimension):
    # Matsumoto's matrix has the entry (−1)^k (−N)^(number of cycles) for two pairings, with N = n − d − 1.
    slots = list(range(2 * order))
    found = list(pairings(slots))
    free = samples - dimension - 1
    gram = sp.Matrix(
        len(found),
        len(found),
        lambda i, j: (-1) ** order * sp.Integer(-free) ** classes(2 * order, [*found[i], *found[j]]),
    )
    # The pairing of 2p with 2p + 1 joins both sides of each factor.
    straight = found.index([(2 * p, 2 * p + 1) for p in range(order)])
    counts = gram.inv()[straight, :]
    # All letters are different, so each pairing has a different product of traces.
    formula = inverse_word_formula(["ABC"[:order]])
    values = sorted(coefficient.subs({n: samples, d: dimension}) for coefficient in formula.values())
    assert values == sorted(samples**order * count for count in counts)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
def test_by_zonal_polynomials(k):
    samples, dimension = 30, 6
    expected = by_zonal_polynomials(k, samples, dimension) * samples**k
    assert inverse_trace_moment([k], samples, dimension) == sp.sympify(expected)


@pytest.mark.parametrize("parts", [(1,), (2,), (1, 1), (3,), (1, 2), (1, 1, 2)])
def test_in_one_dimension(parts):
    # S⁻¹ is n/σ² times the inverse of a chi-square with n degrees of freedom.
    order = sum(parts)
    lower = prod(n - 2 * j for j in range(1, order + 1))
    assert sp.simplify(inverse_trace_moment(parts, n, 1) - n**order / lower) == 0
    letter, variance = Fraction(-3, 4), Fraction(2, 3)
    found = inverse_word_moment([[[[letter]]] * k for k in parts], 12, [[variance]])
    assert found == sp.sympify((letter / variance * 12) ** order / prod(12 - 2 * j for j in range(1, order + 1)))


def test_by_hand():
    free = n - d - 1
    assert sp.simplify(inverse_matrix_formula([])[(), ()] - n / free) == 0
    # von Rosen (1988): E V A V = ((N − 1) Σ⁻¹ A Σ⁻¹ + Σ⁻¹ Aᵀ Σ⁻¹ + tr(A Σ⁻¹) Σ⁻¹) / (N (N + 1) (N − 2)).
    found, common = inverse_matrix_formula(["A"]), n**2 / (free * (free + 1) * (free - 2))
    expected = {(("A",), ()): (free - 1) * common, (("Aᵀ",), ()): common, ((), (("A",),)): common}
    assert found.keys() == expected.keys()
    assert all(sp.simplify(found[key] - value) == 0 for key, value in expected.items())
    assert sp.simplify(inverse_trace_moment([2], n, d) - d * n**2 * (n - 1) / ((n - d) * free * (free - 2))) == 0
    symmetric = inverse_matrix_formula(["A"], {"A"})
    assert sp.simplify(symmetric[("A",), ()] - free * common) == 0


def test_symbols_and_numbers_agree():
    m, s = sp.symbols("m s", positive=True)
    covariance = sp.Matrix([[1, s], [s, 2]])
    values = {m: 17, s: sp.Rational(1, 3)}
    found = inverse_word_moment([[A, B], [C]], m, covariance)
    assert sp.simplify(found.subs(values)) == inverse_word_moment([[A, B], [C]], 17, covariance.subs(values))
    whole = inverse_matrix_moment([A, B], m, covariance)
    assert sp.simplify(whole.subs(values)) == inverse_matrix_moment([A, B], 17, covariance.subs(values))
    assert inverse_trace_moment([2, 1], Fraction(41, 2), 3) == inverse_trace_moment([2, 1], m, 3).subs(
        m, sp.Rational(41, 2)
    )
    assert inverse_trace_moment([2, 1], n, d).subs({n: 20, d: 3}) == inverse_trace_moment([2, 1], 20, 3)


def test_of_the_identity_it_is_the_moment_of_traces():
    formula = inverse_word_formula(["II", "I"], {"I"})
    total = sum(coefficient * d ** len(traces) for traces, coefficient in formula.items())
    assert sp.simplify(total - inverse_trace_moment([2, 1], n, d)) == 0


@pytest.mark.parametrize("words", [[[A, B]], [[A], [A, A.T]]])
def test_with_many_samples_it_is_the_inverse_covariance(words):
    m = sp.Symbol("m", positive=True)
    inverse = COVARIANCE.inv()
    limit = sp.prod([word(inverse, letters).trace() for letters in words])
    assert sp.limit(inverse_word_moment(words, m, COVARIANCE), m, sp.oo) == limit
    assert sp.limit(word_moment(words, m, inverse), m, sp.oo) == limit


@pytest.mark.parametrize("words", [[[A]], [[A, B]], [[A], [C]]])
def test_against_samples(words):
    # n exceeds d + 8k − 1, so the fourth moments are finite and the standard error is reliable.
    draws, samples = 100_000, 25
    g = np.random.default_rng(11).standard_normal((draws, 2, samples))
    X = np.array(L, dtype=float) @ g
    V = np.linalg.inv(X @ X.transpose(0, 2, 1) / samples)
    products = np.ones(draws)
    for letters in words:
        product = np.eye(2)
        for matrix in letters:
            product = product @ V @ np.array(matrix, dtype=float)
        products *= np.trace(product, axis1=1, axis2=2)
    error = products.std(ddof=1) / np.sqrt(draws)
    assert abs(products.mean() - float(inverse_word_moment(words, samples, COVARIANCE))) <= 6 * error


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: inverse_word_moment([[A, B]], 5, COVARIANCE), r"^n = 5: must be above d \+ 3: the mean need not be"),
        (lambda: inverse_matrix_moment([], 3, COVARIANCE), r"^n = 3: must be above d \+ 1"),
        (lambda: inverse_matrix_moment([A], 5, COVARIANCE), r"^n = 5: must be above d \+ 3"),
        (lambda: inverse_trace_moment([1, 2], 9, 4), r"^n = 9: must be above d \+ 5"),
        (lambda: inverse_trace_moment([1], d, d), r"^n = d: must be above d \+ 1"),
        (lambda: inverse_trace_moment([1], 0, 1), r"^n = 0: must be positive"),
        (lambda: inverse_trace_moment([1], 9, 0), r"^d = 0: must be positive"),
        (lambda: inverse_trace_moment([0], 9, 2), r"^k = 0: must be a positive integer"),
        (lambda: inverse_trace_moment([], 9, 2), r"^words: at least one is needed"),
        (lambda: inverse_trace_moment([MOST_FACTORS, 1], n, d), r"^order = 9: must be at most 8"),
        (lambda: inverse_word_formula(["I" * 9], {"I"}), r"^order = 9: must be at most 8"),
        (lambda: inverse_matrix_formula("ABCDEFG"), r"^words = 8 factors: have 2027025 pairings"),
        (lambda: inverse_word_formula([[""]]), r"^letter = '': must have a name"),
        (lambda: inverse_word_moment([[A]], 9, sp.ones(2, 2)), r"^covariance = .*: must be regular"),
        (lambda: inverse_word_moment([[A]], 9, A), r"^covariance = .*: must be symmetric"),
        (lambda: inverse_word_moment([[sp.eye(3)]], 9, COVARIANCE), r"^matrix = .*: must be 2×2"),
    ],
)
def test_invalid_arguments_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_least_number_of_samples_is_admitted():
    assert inverse_trace_moment([2], 6, 2) > 0
    assert inverse_trace_moment([1], 4, 2) > 0
