r"""Exact moments of words in the inverse of a sample covariance and given matrices, for any covariance.

W = Σ_i x_i x_iᵀ with x_1 … x_n ~ N(0, Σ) i.i.d. in R^d, Σ regular, S = W/n, V = W⁻¹ and N = n − d − 1. Haff's identity
(Gaussian integration by parts, with ∂V = −V ∂W V) is

    E tr(Σ⁻¹ G) = N E tr(V G) + 2 E tr(D G),    D_ij = (1 + δ_ij)/2 · ∂/∂W_ij,

for a function G of W. Let G = A F with A = M_1 V M_2 … V M_k and F a product of traces of such words:

    N E[tr(V A) F] = E[tr(Σ⁻¹ A) F] + Σ_{A = P V Q} E[(tr(V P) tr(V Q) + tr(V Pᵀ V Q)) F]
                     + Σ_{tr(V B) in F} E[tr(V (B + Bᵀ) V A) F / tr(V B)].

Only the first term has a lower order in V. So the mean is a sum over the pairings of 2k factors, as for W, and each
pairing leaves a product of traces of words in Σ⁻¹. The weight of a pairing is n^(number of columns) for W. For V it
depends on the numbers of V that share the columns, λ = (λ_1 … λ_r). It is c_λ(N), the solution of the linear equations

    (N − l + 1) c_{l, …} = [l = 1] c_{…} + Σ_{0<j<l} c_{j, l−j, …} + Σ_m 2m c_{l+m, …},

with l one of the λ_i and a summand for each m among the others; l + m replaces both l and m. These are Weingarten's
equations for the orthogonal group: c_λ(N) = (−1)^k Wg^O(λ; −N).

A mean of k factors V is finite if n > d + 2k − 1: no entry of V is above tr V, a sum of d inverses of multiples of
chi-squares with n − d + 1 degrees of freedom. With fewer samples some means are infinite, E tr V^k among them; then no
mean is returned.

References: von Rosen (1988), Moments for the inverted Wishart distribution; Graczyk, Letac and Massam (2005), The
hyperoctahedral group, symmetric group representations and the moments of the real Wishart distribution; Matsumoto
(2012), General moments of the inverse real Wishart distribution and orthogonal Weingarten functions.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.utilities.iterables import partitions

from theorems.wishart.by_parts import PairingSum, Traces, Weights, chain_sum, opened, pairing_sum
from theorems.wishart.trace_moments import d, n, require_positive
from theorems.wishart.word_moments import Chain, Matrix, Values, read_covariance
from verify import InputError

MOST_FACTORS = 8
"""Maximum number of factors S⁻¹; the pairings of more factors take minutes."""

_N, _D = sp.symbols("N d", positive=True)
_RATIONAL = sp.ZZ.frac_field(_N, _D)


def inverse_word_formula(words: Sequence[Sequence[str]], symmetric: Collection[str] = ()) -> dict[Traces, sp.Expr]:
    """Return E ∏ tr(S⁻¹ M_1 S⁻¹ M_2 … S⁻¹ M_k) over the words as the coefficients of products of traces.

    Words, letters and errors are those of `word_formula`, with two differences: a trace has Σ⁻¹ before each letter, and
    more than MOST_FACTORS factors raise InputError. Coefficients are rational functions of n and d, valid for
    n > d + 2k − 1 with k factors in all.
    """
    return _word_formula(words, symmetric, n, d)


def inverse_matrix_formula(letters: Sequence[str], symmetric: Collection[str] = ()) -> dict[Chain, sp.Expr]:
    """Return E[S⁻¹ M_1 S⁻¹ M_2 … M_{k−1} S⁻¹] as the coefficients of (letters, traces): a matrix times traces.

    The matrix ("N", "Mᵀ") is Σ⁻¹ N Σ⁻¹ Mᵀ Σ⁻¹, and () is Σ⁻¹. Names, errors and coefficients are those of
    `inverse_word_formula`.
    """
    return _matrix_formula(letters, symmetric, n, d)


def inverse_word_moment(words: Sequence[Sequence[Matrix]], n: Any, covariance: Matrix) -> sp.Expr:
    """Return E ∏ tr(S⁻¹ M_1 S⁻¹ M_2 … S⁻¹ M_k) over the words, each a sequence of d×d matrices M_1 … M_k.

    Matrices, numbers and errors are those of `word_moment`. Also raises InputError for a singular covariance, and for n
    known to be at most d + 2k − 1, with k factors in all. A symbolic n is assumed to be above d + 2k − 1.
    """
    values = _inverted(covariance)
    _require_finite(n, values.covariance.rows, sum(map(len, words)))
    names = [[values.name(matrix) for matrix in word] for word in words]
    return values.traces(_word_formula(names, values.symmetric, n, values.covariance.rows))


def inverse_matrix_moment(matrices: Sequence[Matrix], n: Any, covariance: Matrix) -> sp.Matrix:
    """Return the d×d matrix E[S⁻¹ M_1 S⁻¹ M_2 … M_{k−1} S⁻¹] for d×d matrices M_1 … M_{k−1}; without matrices, E S⁻¹.

    Numbers and errors are those of `inverse_word_moment`.
    """
    values = _inverted(covariance)
    _require_finite(n, values.covariance.rows, len(matrices) + 1)
    names = [values.name(matrix) for matrix in matrices]
    return values.chain(_matrix_formula(names, values.symmetric, n, values.covariance.rows))


def inverse_trace_moment(parts: Sequence[int], n: Any, d: Any) -> sp.Expr:
    """Return E ∏ tr S⁻ᵏ over the k in `parts`, for Σ = I.

    n and d may be ints, Fractions or SymPy expressions. Raises InputError without parts, for a part that is not a
    positive int, for a sum of the parts above MOST_FACTORS, for n or d known not to be positive, and for n known to be
    at most d + 2k − 1, with k the sum of the parts.
    """
    for k in parts:
        if not isinstance(k, int) or k < 1:
            raise InputError("k", k, "must be a positive integer")
    order = _admitted(sum(parts))
    require_positive("d", d)
    _require_finite(n, d, order)
    pairings = pairing_sum(["I" * k for k in parts], {"I"}, weight=1)
    total = _RATIONAL.zero
    for (columns, traces), times in pairings.items():
        total += times * _RATIONAL(_D) ** len(traces) * _cosets(order)[columns]
    return _written(total, order, n, d)


def _word_formula(words: Sequence[Sequence[str]], symmetric: Collection[str], n: Any, d: Any) -> dict[Traces, sp.Expr]:
    order = _admitted(sum(map(len, words)))
    return _formula(pairing_sum(words, symmetric, weight=1), order, n, d)


def _matrix_formula(letters: Sequence[str], symmetric: Collection[str], n: Any, d: Any) -> dict[Chain, sp.Expr]:
    order = _admitted(len(letters) + 1)
    formula = _formula(chain_sum(letters, symmetric, weight=1), order, n, d)
    return {opened(traces): value for traces, value in formula.items()}


def _formula(pairings: PairingSum, order: int, n: Any, d: Any) -> dict[Traces, sp.Expr]:
    # Many products of traces have the same counts of pairings: each sum of weights is computed once.
    counted: dict[Traces, list[tuple[Weights, int]]] = {}
    for (columns, traces), times in pairings.items():
        counted.setdefault(traces, []).append((columns, times))
    values = _cosets(order)

    @cache
    def coefficient(counts: tuple[tuple[Weights, int], ...]) -> sp.Expr:
        return _written(sum((times * values[columns] for columns, times in counts), _RATIONAL.zero), order, n, d)

    return {traces: coefficient(tuple(sorted(counts))) for traces, counts in counted.items()}


def _written(value: Any, order: int, n: Any, d: Any) -> sp.Expr:
    """Return n^order times a rational function of N and d, for S⁻¹ = n V."""
    n, d = sp.sympify(n), sp.sympify(d)
    return n**order * sp.factor(value.as_expr()).subs({_N: n - d - 1, _D: d}, simultaneous=True)


def _inverted(covariance: Matrix) -> Values:
    exact = read_covariance(covariance)
    if exact.det() == 0:
        raise InputError("covariance", exact, "must be regular")
    return Values(exact.inv())


def _admitted(order: int) -> int:
    if order > MOST_FACTORS:
        raise InputError("order", order, f"must be at most {MOST_FACTORS}")
    return order


def _require_finite(n: Any, d: Any, order: int) -> None:
    require_positive("n", n)
    if (sp.sympify(n) - sp.sympify(d) - (2 * order - 1)).is_nonpositive:
        raise InputError("n", n, f"must be above d + {2 * order - 1}: the mean need not be finite otherwise")


@cache
def _cosets(order: int) -> dict[Weights, Any]:
    """Return c_λ(N) for all partitions λ of `order`, the parts of each in ascending order."""
    if not order:
        return {(): _RATIONAL.one}
    types = [tuple(sorted(Counter(found).elements())) for found in partitions(order)]
    place = {columns: i for i, columns in enumerate(types)}
    matrix = [[_RATIONAL.zero] * len(types) for _ in types]
    right = [[_RATIONAL.zero] for _ in types]
    for row, (first, *rest) in enumerate(types):
        matrix[row][row] += _RATIONAL(_N) - (first - 1)
        for j in range(1, first):
            matrix[row][place[tuple(sorted((j, first - j, *rest)))]] -= 1
        for i, other in enumerate(rest):
            others = rest[:i] + rest[i + 1 :]
            matrix[row][place[tuple(sorted((first + other, *others)))]] -= 2 * other
        if first == 1:
            right[row][0] = _cosets(order - 1)[tuple(rest)]
    count = len(types)
    solved = DomainMatrix(matrix, (count, count), _RATIONAL).lu_solve(DomainMatrix(right, (count, 1), _RATIONAL))
    return {columns: value for columns, (value,) in zip(types, solved.to_list(), strict=True)}
