r"""Exact moments of words in a sample covariance and given matrices, for any covariance.

x_1 … x_n ~ N(0, Σ) i.i.d. in R^d, W = Σ_i x_i x_iᵀ, S = W/n. A pairing (`by_parts`) that leaves m sums over columns and
a product of traces adds n^m times this product to the moment of W.
"""

from collections.abc import Collection, Sequence
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from theorems.wishart.by_parts import Letters, PairingSum, Traces, chain_sum, opened, pairing_sum
from theorems.wishart.trace_moments import n, require_positive
from verify import InputError

Matrix = sp.MatrixBase | Sequence[Sequence[Any]]
Chain = tuple[Letters, Traces]
"""A matrix Σ M_1 Σ … Σ, given by its letters, times a product of traces."""


def word_formula(words: Sequence[Sequence[str]], symmetric: Collection[str] = ()) -> dict[Traces, sp.Expr]:
    """Return E ∏ tr(S M_1 S M_2 … S M_k) over the words as the coefficients of products of traces.

    A word is the sequence of the names of M_1 … M_k; "Nᵀ" is the transpose of "N", and N = Nᵀ for the names in
    `symmetric`. The identity matrix needs a letter, too. E tr(S N S N) has the coefficient 1 at (("N", "N"),), which is
    tr(Σ N Σ N), 1/n at (("N", "Nᵀ"),) and 1/n at (("N",), ("N",)). Raises InputError without words, for a word without
    letters, a letter without a name, and more than MOST_PAIRINGS pairings.
    """
    return _word_formula(words, symmetric, n)


def matrix_formula(letters: Sequence[str], symmetric: Collection[str] = ()) -> dict[Chain, sp.Expr]:
    """Return E[S M_1 S M_2 … M_{k−1} S] as the coefficients of (letters, traces): a matrix times traces.

    The matrix ("N", "Mᵀ") is Σ N Σ Mᵀ Σ, and () is Σ. E[S N S] has the coefficient 1 at (("N",), ()), 1/n at
    (("Nᵀ",), ()) and 1/n at ((), (("N",),)). Names and errors are those of `word_formula`.
    """
    return _matrix_formula(letters, symmetric, n)


def word_moment(words: Sequence[Sequence[Matrix]], n: Any, covariance: Matrix) -> sp.Expr:
    """Return E ∏ tr(S M_1 S M_2 … S M_k) over the words, each a sequence of d×d matrices M_1 … M_k.

    Matrices are SymPy matrices or nested sequences; their entries are exact numbers or symbols. n is an int, a Fraction
    or a SymPy expression. Raises InputError for words that `word_formula` refuses, for n known not to be positive, for
    matrices that are not d×d or have floats, and for a covariance that is not symmetric or known not to be positive
    semidefinite.
    """
    require_positive("n", n)
    values = Values(read_covariance(covariance))
    names = [[values.name(matrix) for matrix in word] for word in words]
    return values.traces(_word_formula(names, values.symmetric, sp.sympify(n)))


def matrix_moment(matrices: Sequence[Matrix], n: Any, covariance: Matrix) -> sp.Matrix:
    """Return the d×d matrix E[S M_1 S M_2 … M_{k−1} S] for d×d matrices M_1 … M_{k−1}; without matrices, E S = Σ.

    Numbers and errors are those of `word_moment`.
    """
    require_positive("n", n)
    values = Values(read_covariance(covariance))
    names = [values.name(matrix) for matrix in matrices]
    return values.chain(_matrix_formula(names, values.symmetric, sp.sympify(n)))


def _word_formula(words: Sequence[Sequence[str]], symmetric: Collection[str], n: sp.Expr) -> dict[Traces, sp.Expr]:
    return _formula(pairing_sum(words, symmetric), sum(map(len, words)), n)


def _matrix_formula(letters: Sequence[str], symmetric: Collection[str], n: sp.Expr) -> dict[Chain, sp.Expr]:
    formula = _formula(chain_sum(letters, symmetric), len(letters) + 1, n)
    return {opened(traces): value for traces, value in formula.items()}


def _formula(pairings: PairingSum, order: int, n: sp.Expr) -> dict[Traces, sp.Expr]:
    formula: dict[Traces, sp.Expr] = {}
    for (columns, traces), times in pairings.items():
        formula[traces] = formula.get(traces, sp.S.Zero) + times * n ** (len(columns) - order)
    return formula


def read_covariance(covariance: Matrix) -> sp.ImmutableMatrix:
    """Return a covariance as a matrix, or raise InputError."""
    exact = _exact("covariance", covariance)
    if not exact.is_symmetric():
        raise InputError("covariance", exact, "must be symmetric")
    if not exact.free_symbols and exact.is_positive_semidefinite is False:
        raise InputError("covariance", exact, "must be positive semidefinite")
    return exact


class Values:
    """Names of matrices and values of their products with a covariance Σ.

    Equal matrices have one name M, and their transposes have Mᵀ.
    """

    def __init__(self, covariance: sp.ImmutableMatrix) -> None:
        self.covariance = covariance
        self.names: dict[sp.ImmutableMatrix, str] = {}
        self.symmetric: set[str] = set()
        self.given: dict[str, DomainMatrix] = {}
        self.known: dict[Letters, DomainMatrix] = {}

    def traces(self, formula: dict[Traces, sp.Expr]) -> sp.Expr:
        """Return the value of a formula of traces."""
        return sp.Add(*(value * self.product(traces) for traces, value in formula.items()))

    def chain(self, formula: dict[Chain, sp.Expr]) -> sp.Matrix:
        """Return the value of a formula of matrices times traces."""
        total = self.matrix(()).to_Matrix() * 0
        for (letters, closed), value in formula.items():
            total += value * self.product(closed) * self.matrix(letters).to_Matrix()
        return total

    def name(self, matrix: Matrix) -> str:
        """Return the name of a d×d matrix."""
        matrix = _exact("matrix", matrix)
        if matrix.shape != self.covariance.shape:
            d = self.covariance.rows
            raise InputError("matrix", matrix, f"must be {d}×{d}, as the covariance is")
        if matrix not in self.names:
            name = f"M{len(self.names)}"
            self.names |= {matrix.T: f"{name}ᵀ", matrix: name}
            if matrix == matrix.T:
                self.symmetric.add(name)
        return self.names[matrix]

    def matrix(self, letters: Letters) -> DomainMatrix:
        """Return Σ M_1 Σ M_2 … M_k Σ."""
        if not self.known:
            matrices = [self.covariance, *self.names]
            known = DomainMatrix.unify(*map(DomainMatrix.from_Matrix, matrices), fmt="dense")
            self.given = dict(zip(self.names.values(), known[1:], strict=True))
            self.known[()] = known[0]
        if letters not in self.known:
            self.known[letters] = self.matrix(letters[:-1]) * self.given[letters[-1]] * self.known[()]
        return self.known[letters]

    def product(self, traces: Traces) -> sp.Expr:
        """Return the product of traces."""
        return sp.Mul(*(self._trace(trace) for trace in traces))

    def _trace(self, letters: Letters) -> sp.Expr:
        product = self.matrix(letters[:-1]) * self.given[letters[-1]]
        return product.to_Matrix().trace()  # pyright: ignore[reportReturnType]


def _exact(name: str, matrix: Matrix) -> sp.ImmutableMatrix:
    exact = sp.ImmutableMatrix(matrix)
    if exact.rows != exact.cols or not exact.rows:
        raise InputError(name, f"{exact.rows}×{exact.cols}", "must be square")
    if exact.has(sp.Float):
        raise InputError(name, exact, "must have exact entries, without floats")
    return exact
