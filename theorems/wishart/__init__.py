"""Exact moments of real Wishart matrices and of their inverses, any number of samples, any dimension.

S = (1/n) Σ_i x_i x_iᵀ with x_1 … x_n ~ N(0, Σ) i.i.d. in R^d. Words are products S M_1 S M_2 … with given matrices M_i:
`word_moment` is the mean of a product of their traces, `matrix_moment` of the word itself, and the functions in
`formula` give both in symbols, for all n, d, Σ and M_i. Those in `inverse` take S⁻¹ for S. `trace_moment` reaches high
powers of S at Σ = I.
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
