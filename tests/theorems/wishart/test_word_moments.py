"""Moments of words, compared with the definition entry by entry, pairings, samples, scalar cases and pure traces."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
import sympy as sp

from tests.theorems.wishart.pairings import pairings
from theorems.wishart.trace_moments import n, trace_moment, trace_moment_polynomial
from theorems.wishart.word_moments import matrix_formula, matrix_moment, word_formula, word_moment
from verify import InputError

# L Lᵀ = COVARIANCE. The letters are not symmetric, and no two of them commute.
L = sp.Matrix([[2, 0], [-1, 1]])
COVARIANCE = L * L.T
A, B, C, D = (sp.Matrix(rows) for rows in ([[1, 2], [-1, 3]], [[0, 1], [2, 5]], [[1, 1], [0, -2]], [[3, -1], [4, 1]]))
WORDS = [
    [[A]],
    [[A, B]],
    [[A, A]],
    [[A, A.T]],
    [[A], [B]],
    [[A, B, C]],
    [[A, B], [C]],
    [[A, A.T], [A]],
    [[A], [B], [C]],
    [[A, B, C, D]],
    [[A, B], [C, D]],
    [[A, B, A], [B.T]],
    [[A, A, B, B]],
]
CHAINS = [[], [A], [A, B], [A, A.T], [A, B, C], [A, A, A]]


def gaussian_mean(polynomial):
    """Return the mean of a polynomial in independent standard Gaussians, monomial by monomial."""
    mean = sp.Integer(0)
    for powers, coefficient in polynomial.terms():
        if not any(e % 2 for e in powers):
            mean += coefficient * prod(sp.factorial2(e - 1) for e in powers)
    return mean


def by_definition(product, samples):
    """Return the mean of product(S), a SymPy expression or matrix, for S made from `samples` vectors L g."""
    g = sp.Matrix(2, samples, sp.symbols(f"g:{2 * samples}"))
    S = (L * g * g.T * L.T / samples).expand()
    mean = product(S)
    if isinstance(mean, sp.MatrixBase):
        return mean.applyfunc(lambda entry: gaussian_mean(sp.Poly(entry, *g)))
    return gaussian_mean(sp.Poly(mean, *g))


def word(S, matrices):
    product = sp.eye(S.rows)
    for matrix in matrices:
        product = (product * S * matrix).expand()
    return product


def chain(S, matrices):
    return (word(S, matrices) * S).expand()


def cycles(pairs, links):
    """Return the cycles of two perfect matchings; a cycle is the list of the slots from which it follows a link."""
    partner = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    across = {a: b for link in links for a, b in (link, link[::-1])}
    left, found = set(across), []
    while left:
        slot, cycle = min(left), []
        while slot in left:
            cycle.append(slot)
            left -= {slot, across[slot]}
            slot = partner[across[slot]]
        found.append(cycle)
    return found


def by_pairings(words, samples, covariance):
    """Return E ∏ tr(S M_1 … S M_k); S_p has the slots 2p and 2p + 1, and M_p links 2p + 1 to the word's next S."""
    links, matrices, start = [], {}, 0
    for letters in words:
        for p, matrix in enumerate(letters):
            out, into = 2 * (start + p) + 1, 2 * (start + (p + 1) % len(letters))
            links.append((out, into))
            matrices |= {out: matrix, into: matrix.T}
        start += len(letters)
    total = sp.Integer(0)
    for pairing in pairings(list(range(2 * start))):
        columns = len(cycles(pairing, [(2 * p, 2 * p + 1) for p in range(start)]))
        traces = sp.Integer(1)
        for cycle in cycles(pairing, links):
            traces *= sp.prod([covariance * matrices[slot] for slot in cycle], sp.eye(covariance.rows)).trace()
        total += sp.Integer(samples) ** (columns - start) * traces
    return total


def evaluated(formula, letters, samples, covariance):
    """Return the value of a formula of `word_formula` at matrices."""
    total = sp.Integer(0)
    for traces, coefficient in formula.items():
        values = []
        for trace in traces:
            product = sp.eye(covariance.rows)
            for letter in trace:
                matrix = letters[letter[0]]
                product *= covariance * (matrix.T if letter.endswith("ᵀ") else matrix)
            values.append(product.trace())
        total += coefficient.subs(n, samples) * sp.prod(values)
    return total


@pytest.mark.parametrize("words", WORDS)
def test_by_definition(words):
    right = by_definition(lambda S: sp.prod([word(S, letters).trace() for letters in words]), 2)
    assert word_moment(words, 2, COVARIANCE) == right


@pytest.mark.parametrize("matrices", CHAINS)
def test_a_matrix_by_definition(matrices):
    assert matrix_moment(matrices, 2, COVARIANCE) == by_definition(lambda S: chain(S, matrices), 2)


@pytest.mark.parametrize("words", [*WORDS, [[A, B, C, D, A]], [[A, B], [C, D], [A]]])
@pytest.mark.parametrize("samples", [1, 7])
def test_by_pairings(words, samples):
    assert word_moment(words, samples, COVARIANCE) == by_pairings(words, samples, COVARIANCE)


@pytest.mark.parametrize("matrices", [*CHAINS, [A, B, C, D]])
def test_a_matrix_by_pairings(matrices):
    found = matrix_moment(matrices, 3, COVARIANCE)
    for a in range(2):
        for b in range(2):
            unit = sp.zeros(2, 2)
            unit[b, a] = 1
            assert found[a, b] == by_pairings([[*matrices, unit]], 3, COVARIANCE)


@pytest.mark.parametrize("words", ["A", "AB", "AA", "ABC", "ABCD", "ABAB", "A B", "AB C", "AB CD", "AAB B", "A A A A"])
def test_a_formula_at_matrices(words):
    letters = {"A": A, "B": B, "C": C, "D": D}
    words = words.split()
    formula = word_formula(words)
    given = [[letters[letter] for letter in letters_of] for letters_of in words]
    assert evaluated(formula, letters, 5, COVARIANCE) == by_pairings(given, 5, COVARIANCE)
    # At n = 1 each pairing counts once.
    assert sum(formula.values()).subs(n, 1) == sp.factorial2(2 * sum(map(len, words)) - 1)


def test_formulas_by_hand():
    assert word_formula([["N"]]) == {(("N",),): 1}
    assert word_formula([["N", "N"]]) == {(("N", "N"),): 1, (("N", "Nᵀ"),): 1 / n, (("N",), ("N",)): 1 / n}
    assert word_formula([["N"], ["N"]]) == {(("N",), ("N",)): 1, (("N", "N"),): 1 / n, (("N", "Nᵀ"),): 1 / n}
    assert word_formula([["N", "Nᵀ"]]) == {(("N", "Nᵀ"),): 1, (("N", "N"),): 1 / n, (("N",), ("N",)): 1 / n}
    assert word_formula([["N", "Nᵀ"]], {"N"}) == {(("N", "N"),): 1 + 1 / n, (("N",), ("N",)): 1 / n}
    assert word_formula([["Nᵀᵀ"]]) == word_formula([["N"]]) == word_formula([["Nᵀ"]])
    assert word_formula([["N", "Nᵀ", "M"]], {"N"}) == word_formula([["N", "N", "M"]], {"N"})
    assert matrix_formula([]) == {((), ()): 1}
    assert matrix_formula(["N"]) == {(("N",), ()): 1, (("Nᵀ",), ()): 1 / n, ((), (("N",),)): 1 / n}
    assert matrix_formula(["N"], {"N"}) == {(("N",), ()): 1 + 1 / n, ((), (("N",),)): 1 / n}


def test_the_cube_of_the_sample_covariance():
    # E S³ = (1 + 3/n + 4/n²) Σ³ + 2 (1/n + 1/n²) tr(Σ) Σ² + (1/n + 1/n²) tr(Σ²) Σ + tr(Σ)² Σ/n².
    found = matrix_formula(["I", "I"], {"I"})
    one, two = ("I",), ("I", "I")
    expected = {
        (two, ()): 1 + 3 / n + 4 / n**2,
        (one, (one,)): 2 / n + 2 / n**2,
        ((), (two,)): 1 / n + 1 / n**2,
        ((), (one, one)): 1 / n**2,
    }
    assert found.keys() == expected.keys()
    assert all(sp.expand(found[key] - value) == 0 for key, value in expected.items())
    assert sp.expand(sum(found.values()) - (n + 2) * (n + 4) / n**2) == 0


def test_the_matrix_by_hand():
    found = matrix_moment([A], n, COVARIANCE)
    hand = COVARIANCE * A * COVARIANCE + (COVARIANCE * A.T + (COVARIANCE * A).trace() * sp.eye(2)) * COVARIANCE / n
    assert (found - hand).expand() == sp.zeros(2, 2)
    assert matrix_moment([], 4, COVARIANCE) == COVARIANCE


def test_symbolic_entries():
    a, b, c, s, t = sp.symbols("a b c s t")
    M = sp.Matrix([[a, b], [0, c]])
    covariance = sp.Matrix([[1, s], [s, t]])
    values = {a: 2, b: sp.Rational(-1, 3), c: 5, s: sp.Rational(1, 2), t: 3}
    assert word_moment([[M, A], [M]], n, covariance).subs(values | {n: 6}) == word_moment(
        [[M.subs(values), A], [M.subs(values)]], 6, covariance.subs(values)
    )
    assert (matrix_moment([M, A], n, covariance).subs(values | {n: 6})) == matrix_moment(
        [M.subs(values), A], 6, covariance.subs(values)
    )
    assert sp.expand(word_moment([[M]], n, covariance) - (covariance * M).trace()) == 0


@pytest.mark.parametrize("parts", [(1,), (2,), (3,), (1, 2), (2, 2), (4,), (1, 1, 3), (8,), (2, 6)])
def test_of_the_identity_it_is_the_moment_of_traces(parts):
    formula = word_formula([["I"] * k for k in parts], {"I"})
    d = sp.Symbol("d", integer=True, positive=True)
    total = sum(coefficient * d ** len(traces) for traces, coefficient in formula.items())
    assert sp.expand(total * n ** sum(parts)) == trace_moment_polynomial(parts).as_expr()
    eye = sp.eye(3)
    assert word_moment([[eye] * k for k in parts], 2, eye) == trace_moment(parts, 2, 3)


@pytest.mark.parametrize("lengths", [(1,), (3,), (2, 2), (1, 4), (6,)])
def test_in_one_dimension(lengths):
    # S is σ²/n times a chi-square with n degrees of freedom.
    order, samples, variance, letter = sum(lengths), 5, Fraction(2, 3), Fraction(-3, 4)
    found = word_moment([[[[letter]]] * k for k in lengths], samples, [[variance]])
    moment = prod(samples + 2 * j for j in range(order))
    assert found == sp.sympify((variance * letter / samples) ** order * moment)
    chain = matrix_moment([[[letter]]] * (order - 1), samples, [[variance]])
    assert chain == sp.Matrix([[sp.sympify((variance / samples) ** order * letter ** (order - 1) * moment)]])


@pytest.mark.parametrize("lengths", [(1,), (3,), (2, 2), (1, 4), (7,)])
def test_of_one_sample(lengths):
    # tr S^k = |x|^{2k}.
    order = sum(lengths)
    found = word_moment([[sp.eye(4)] * k for k in lengths], 1, sp.eye(4))
    assert found == prod(4 + 2 * j for j in range(order))


@pytest.mark.parametrize("words", [[[A, B]], [[A, A.T], [C]], [[A, B, C, D]], [[A, B], [C, D]]])
@pytest.mark.parametrize("samples", [1, 5])
def test_against_samples(words, samples):
    draws = 100_000
    g = np.random.default_rng(11).standard_normal((draws, 2, samples))
    X = np.array(L, dtype=float) @ g
    S = X @ X.transpose(0, 2, 1) / samples
    products = np.ones(draws)
    for letters in words:
        product = np.eye(2)
        for matrix in letters:
            product = product @ S @ np.array(matrix, dtype=float)
        products *= np.trace(product, axis1=1, axis2=2)
    error = products.std(ddof=1) / np.sqrt(draws)
    assert abs(products.mean() - float(word_moment(words, samples, COVARIANCE))) <= 6 * error


def test_a_matrix_against_samples():
    draws, samples = 200_000, 3
    g = np.random.default_rng(12).standard_normal((draws, 2, samples))
    X = np.array(L, dtype=float) @ g
    S = X @ X.transpose(0, 2, 1) / samples
    products = S @ np.array(A, dtype=float) @ S @ np.array(B, dtype=float) @ S
    error = products.std(axis=0, ddof=1) / np.sqrt(draws)
    right = np.array(matrix_moment([A, B], samples, COVARIANCE), dtype=float)
    assert (abs(products.mean(axis=0) - right) <= 6 * error).all()


def test_a_singular_covariance_and_nested_lists():
    assert word_moment([[[[1, 2], [3, Fraction(1, 2)]]]], 3, [[1, 1], [1, 1]]) == sp.Rational(13, 2)
    assert matrix_moment([A], 3, sp.zeros(2, 2)) == sp.zeros(2, 2)
    assert word_moment([[A, B]], Fraction(5, 2), COVARIANCE) == word_moment([[A, B]], n, COVARIANCE).subs(
        n, sp.Rational(5, 2)
    )


@pytest.mark.parametrize(
    ("moment", "given", "samples", "covariance", "message"),
    [
        (word_moment, [], 3, COVARIANCE, r"^words: at least one is needed"),
        (word_moment, [[A], []], 3, COVARIANCE, r"^word: at least one letter is needed"),
        (word_moment, [[A]], 0, COVARIANCE, r"^n = 0: must be positive"),
        (word_moment, [[A]], sp.Integer(-1), COVARIANCE, r"^n = -1: must be positive"),
        (word_moment, [[sp.ones(2, 3)]], 3, COVARIANCE, r"^matrix = 2×3: must be square"),
        (word_moment, [[sp.eye(3)]], 3, COVARIANCE, r"^matrix = .*: must be 2×2, as the covariance is"),
        (word_moment, [[A * sp.Float(0.5)]], 3, COVARIANCE, r"^matrix = .*: must have exact entries"),
        (word_moment, [[A]], 3, sp.ones(2, 3), r"^covariance = 2×3: must be square"),
        (word_moment, [[sp.Matrix([])]], 3, sp.Matrix([]), r"^covariance = 0×0: must be square"),
        (word_moment, [[A]], 3, A, r"^covariance = .*: must be symmetric"),
        (word_moment, [[A]], 3, sp.Matrix([[1, 2], [2, 1]]), r"^covariance = .*: must be positive semidefinite"),
        (
            word_moment,
            [[A, B, C, D] * 3],
            3,
            COVARIANCE,
            r"^words = 12 factors: have 316234143225 pairings, .* at most 150000",
        ),
        (matrix_moment, [A], 0, COVARIANCE, r"^n = 0: must be positive"),
        (matrix_moment, [sp.ones(2, 3)], 3, COVARIANCE, r"^matrix = 2×3: must be square"),
        (matrix_moment, [A, sp.eye(3)], 3, COVARIANCE, r"^matrix = .*: must be 2×2, as the covariance is"),
        (matrix_moment, [], 3, A, r"^covariance = .*: must be symmetric"),
        (matrix_moment, [A, B, C, D] * 3, 3, COVARIANCE, r"^words = 13 factors: have 7905853580625 pairings"),
    ],
)
def test_invalid_arguments_are_refused(moment, given, samples, covariance, message):
    with pytest.raises(InputError, match=message):
        moment(given, samples, covariance)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], r"^words: at least one is needed"),
        ([["N"], []], r"^word: at least one letter is needed"),
        ([["N", ""]], r"^letter = '': must have a name"),
        ([["ᵀ"]], r"^letter = 'ᵀ': must have a name"),
        (["ABCDEFGH"], r"^words = 8 factors: have 2027025 pairings, 2027025 up to exchanges of equal letters"),
        (["N" * 11], r"^words = 11 factors: have 13749310575 pairings, 352716 up to exchanges"),
    ],
)
def test_formulas_that_are_refused(words, message):
    with pytest.raises(InputError, match=message):
        word_formula(words)


def test_matrix_formulas_that_are_refused():
    with pytest.raises(InputError, match="must have a name"):
        matrix_formula(["N", ""])
    with pytest.raises(InputError, match="8 factors: have 2027025 pairings"):
        matrix_formula("ABCDEFG")


def test_equal_letters_make_high_orders_possible():
    # The coefficients at n = 1 count all 316234143225 pairings.
    assert sum(word_formula(["I" * 12], {"I"}).values()).subs(n, 1) == sp.factorial2(23)
