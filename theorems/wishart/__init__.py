"""Exact moments of real Wishart matrices and of their inverses, for any number of samples and any dimension.

S = (1/n) Σ_i x_i x_iᵀ with x_1 … x_n ~ N(0, Σ) i.i.d. in R^d. Words are products S M_1 S M_2 …, the M_i given.
`word_moment` is the mean of a product of traces of words, `matrix_moment` the mean of one word. `word_formula` and
`matrix_formula` give both in symbols, for all n, d, Σ and M_i. The functions `inverse_…` have S⁻¹ in place of S.
`trace_moment` reaches high powers of S at Σ = I.
"""

from theorems.wishart.inverse_moments import (
    inverse_matrix_formula,
    inverse_matrix_moment,
    inverse_trace_moment,
    inverse_word_formula,
    inverse_word_moment,
)
from theorems.wishart.trace_moments import d, n, trace_moment, trace_moment_polynomial
from theorems.wishart.word_moments import matrix_formula, matrix_moment, word_formula, word_moment

__all__ = [
    "d",
    "inverse_matrix_formula",
    "inverse_matrix_moment",
    "inverse_trace_moment",
    "inverse_word_formula",
    "inverse_word_moment",
    "matrix_formula",
    "matrix_moment",
    "n",
    "trace_moment",
    "trace_moment_polynomial",
    "word_formula",
    "word_moment",
]
