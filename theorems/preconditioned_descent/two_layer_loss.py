r"""The loss of two layers of pattern (8) at Σ = Ψ = I with symmetric A_0 = A, A_1 = B, for all d and n.

By Lemma 1 the error of the prediction is w*ᵀ(I − S A)(I − S B) x, S = XXᵀ/n, and f(A, B) is its mean square E tr M Mᵀ
with M = (I − B S)(I − A S): by Gaussian integration by parts (`wishart`) a sum of products of traces of words in A and
B. Let A and D be diagonal and O symmetric with a zero diagonal. Traces of words with one O are 0, and two B in a word
are always neighbours, unlike in A B A B. So f(A, D + O) exceeds f(A, D) by

    α tr O² + β tr A O² + γ tr A² O² = Σ_{i<j} (k(x_i) + k(x_j)) o_ij²,    k(x) = α + β x + γ x²,

where the x_i are the entries of A, and α, β, γ depend on t_1 = tr A, t_2 = tr A², d, n. For x = x_i, let v be the mean
of the other x_j, and t_2 = x² + w. Then k is a combination of two squares, 1 and w − (d − 1) v² ≥ 0. The coefficients
are positive, except that the coefficient of the second square is 0 for d = 1.
"""

from collections.abc import Mapping
from itertools import product

import sympy as sp

from theorems.preconditioned_descent.setting import ERROR, LETTERS, NORMAL, STAR, S, X, left_of, r, t
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.trace_moments import d
from theorems.wishart.word_moments import word_formula
from verify import MatrixIdentity, matrix

Word = str
Expected = dict[tuple[Word, ...], sp.Expr]


def _least(word: Word) -> Word:
    """Return the least form of a word of symmetric letters, up to rotation and transposition."""
    return min(form[i:] + form[:i] for form in (word, word[::-1]) for i in range(max(len(word), 1)))


def expected() -> Expected:
    """Return f as the coefficients of products of traces of words; "" is tr I = d."""
    # M = I − B S − A S + B S A S: the letters before and between the S of each term, and its sign.
    terms: tuple[tuple[int, tuple[Word, ...]], ...] = (
        (1, ("",)),
        (-1, ("B", "")),
        (-1, ("A", "")),
        (1, ("B", "A", "")),
    )
    found: Expected = {}
    for (sign, left), (other, right) in product(terms, terms):
        # tr(L_0 S L_1 … S L_k L'_m S … L'_0) with L_k = I = L'_m, rotated to begin with an S.
        first, *between = (*left[:-1], "", *right[-2::-1])
        formula: Mapping = {((),): 1}
        if between:
            letters = [*between[:-1], between[-1] + first]
            formula = word_formula([[letter or "I" for letter in letters]], {"I", "A", "B", "AA", "BB"})
        for traces, coefficient in formula.items():
            words = ("".join(x[-2::-1] if x.endswith("ᵀ") else x.strip("I") for x in trace) for trace in traces)
            key = tuple(sorted(map(_least, words)))
            found[key] = found.get(key, sp.S.Zero) + sign * other * coefficient
    return {key: value for key, value in found.items() if sp.expand(value) != 0}


EXPECTED = expected()


def in_traces(traces: Mapping[Word, sp.Expr]) -> sp.Expr:
    """Return f at given traces of words; tr I = d."""
    known = {"": d, **traces}
    return sp.Add(*(coefficient * sp.Mul(*(known[word] for word in key)) for key, coefficient in EXPECTED.items()))


WORDS = sorted({word for key in EXPECTED for word in key} - {""})
t1, t2, x, v, w = sp.symbols("t_1 t_2 x v w", real=True)
TRACES = {word: sp.Symbol(f"tr_{word}", real=True) for word in WORDS} | {"A": t1, "AA": t2}
O0, O1, O2 = sp.symbols("o_0 o_1 o_2", real=True)
"""tr O², tr A O², tr A² O²."""
WITH_O = {"BB": O0, "ABB": O1, "AABB": O2}
assert not any("BAB" in word for word in WORDS)

A, B = map(matrix, "AB")
LOSS = GaussianMoment(
    "in_traces",
    ERROR**2,
    in_traces(TRACES),
    {**LETTERS, A: (d, d), B: (d, d)},
    NORMAL,
    {ERROR: left_of((1 - S * A) * (1 - S * B))},
    {sp.prod({"A": A, "B": B}[letter] for letter in word): TRACES[word] for word in WORDS},
    symmetric=(A, B),
    says="E (w*'(I - SA)(I - SB)x)^2 is the sum of products of traces of words in A and B, both symmetric, that the "
    "other steps are about; S = XX'/n, and X, w* and x are standard normal",
)


_STATE = matrix("state")
LEFT_OF_W = MatrixIdentity(
    "left_of_w",
    STAR - (_STATE - r * t(A) * X * t(X) * (_STATE - STAR)),
    (1 - r * t(A) * X * t(X)) * (STAR - _STATE),
    {X: LETTERS[X], A: (d, d)} | dict.fromkeys((_STATE, STAR), LETTERS[STAR]),
    says="with v' = v - A' S (v - w*), S = XX'/n, w* - v' = (I - A' S)(w* - v)",
)


def _part(word: Word) -> sp.Expr:
    """Return the coefficient of tr O², tr A O² or tr A² O² in f."""
    return sp.diff(in_traces(TRACES), TRACES[word])


alpha, beta, gamma = map(_part, WITH_O)
k = alpha + beta * x + gamma * x**2


def _completed() -> tuple[dict[str, sp.Expr], sp.Expr]:
    """Return p_1 … p_4, and k as a sum of squares."""
    p4 = sp.diff(k, t2)
    form = sp.Poly(sp.expand(k.subs({t1: x + (d - 1) * v, t2: x**2 + (d - 1) * v**2})), x, v)
    at = lambda i, j: sp.factor(form.coeff_monomial(x**i * v**j))  # noqa: E731
    p1 = at(2, 0)
    l1, l2 = (sp.factor(at(1, j) / (2 * p1)) for j in (1, 0))
    p2 = sp.factor(at(0, 2) - p1 * l1**2)
    l3 = sp.factor((at(0, 1) - 2 * p1 * l1 * l2) / (2 * p2))
    p3 = sp.factor(at(0, 0) - p1 * l2**2 - p2 * l3**2)
    parts = {"p_1": p1, "p_2": p2, "p_3": p3, "p_4": sp.factor(p4)}
    return parts, p1 * (x + l1 * v + l2) ** 2 + p2 * (v + l3) ** 2 + p3 + p4 * (w - (d - 1) * v**2)


SIZES, SQUARES = _completed()
