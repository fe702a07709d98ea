r"""Two layers' loss f(A, B) at diagonal A and B, minus its minimum over multiples of I: a sum of squares, for all d, n.

Over multiples of I, f has its minimum f* at two steps with sum σ and product π (`two_layer_minimum`). Let
A = a I + diag(y_i) and B = b I + diag(z_i), Σ y_i = Σ z_i = 0, and q_i = y_i z_i − Σ_j y_j z_j / d. Then

    f(A, B) − f* = uᵀ G u + Σ_i (c_iᵀ R c_i + α (b y_i + (δ/α) a z_i)² + β (y_i − z_i)²)
                   + (α/d) Σ_{i<j} (y_i z_j − y_j z_i)²,

    u = (a + b − σ, a b − π, Σ_j y_j z_j / d),    c_i = (b y_i + q_i, y_i + z_i, a z_i),

where G and R are positive definite and α, β > 0; α, β and the entries of G and R are rational functions of d and n.
The identity holds for any δ; here δ = 4/n², for which β > 0.
"""

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from theorems.preconditioned_descent.setting import d, n
from theorems.preconditioned_descent.two_layer_loss import EXPECTED, in_traces
from theorems.preconditioned_descent.two_layer_minimum import PRODUCT, TOTAL, M

a, b = sp.symbols("a b", real=True)
"""tr A/d and tr B/d."""
DEVIATIONS = {(i, j): sp.Symbol(f"s_{i}{j}", real=True) for i, j in ((2, 0), (1, 1), (0, 2), (2, 1), (1, 2), (2, 2))}
"""Symbols for Σ_i y_i^j z_i^k, by (j, k)."""


def _both(*key: str) -> sp.Expr:
    """Return the coefficient of a product of traces of words, plus d times that with one more factor, tr I = d."""
    return EXPECTED[key] + d * EXPECTED["", *key]


def at_diagonal() -> sp.Expr:
    """Return f(A, B) in terms of a, b and the sums of products of the deviations."""
    s = DEVIATIONS
    return in_traces(
        {
            "A": d * a,
            "B": d * b,
            "AA": d * a**2 + s[2, 0],
            "AB": d * a * b + s[1, 1],
            "BB": d * b**2 + s[0, 2],
            "AAB": d * a**2 * b + b * s[2, 0] + 2 * a * s[1, 1] + s[2, 1],
            "ABB": d * a * b**2 + a * s[0, 2] + 2 * b * s[1, 1] + s[1, 2],
            "AABB": d * a**2 * b**2
            + b**2 * s[2, 0]
            + a**2 * s[0, 2]
            + 4 * a * b * s[1, 1]
            + 2 * (b * s[2, 1] + a * s[1, 2])
            + s[2, 2],
        }
    )


ALPHA = d * _both("AA", "BB")
DELTA = 4 / n**2
_THIRD, _FOURTH = -_both("ABB") / 2, _both("AABB")
_MIXED = _FOURTH + d * _both("A", "ABB") / 2
_CROSS = _both("AB") / 2 - TOTAL * _THIRD + PRODUCT * (_MIXED - DELTA)
BETA = (M[2] / d - _CROSS) / 2
G = sp.Matrix(
    [
        [M[2], -M[3], -d * _THIRD],
        [-M[3], M[4], d * (_MIXED - DELTA)],
        [-d * _THIRD, d * (_MIXED - DELTA), d * (_FOURTH + ALPHA)],
    ]
)
R = sp.Matrix(
    [
        [_FOURTH, -_THIRD, _MIXED],
        [-_THIRD, (M[2] / d + _CROSS) / 2, -M[3] / d],
        [_MIXED, -M[3] / d, M[4] / d - DELTA**2 / ALPHA],
    ]
)


LINEAR = sp.Matrix([[b, 0, 1], [1, 1, 0], [0, a, 0]])
"""The matrix that takes (y_i, z_i, q_i) to c_i."""
_BESIDE, _APART = sp.Matrix([b, DELTA / ALPHA * a, 0]), sp.Matrix([1, -1, 0])
FORM = LINEAR.T * R * LINEAR + ALPHA * _BESIDE * _BESIDE.T + BETA * _APART * _APART.T
"""The contribution of one entry, a quadratic form in (y, z, q): c'R c + α (b y + (δ/α) a z)² + β (y − z)²."""


def excess(along: sp.Expr, sums: sp.Matrix, areas: sp.Expr) -> sp.Expr:
    """Return the sum of squares from Σ y_i z_i, Σ (y_i, z_i, q_i)'(y_i, z_i, q_i) and Σ_{i<j} (y_i z_j − y_j z_i)²."""
    u = sp.Matrix([a + b - TOTAL, a * b - PRODUCT, along / d])
    return (u.T * G * u)[0] + (FORM * sums).trace() + ALPHA / d * areas  # pyright: ignore[reportReturnType]


def in_deviations() -> sp.Expr:
    """Return the sum of squares in terms of a, b and the sums of products of the deviations."""
    s = DEVIATIONS
    along = s[1, 1]
    sums = [[s[2, 0], along, s[2, 1]], [along, s[0, 2], s[1, 2]], [s[2, 1], s[1, 2], s[2, 2] - along**2 / d]]
    return excess(along, sp.Matrix(sums), s[2, 0] * s[0, 2] - along**2)


def minors(matrix: sp.Matrix) -> list[sp.Expr]:
    """Return a matrix's leading principal minors."""
    exact = DomainMatrix.from_Matrix(matrix).to_field()
    return [  # pyright: ignore[reportReturnType]
        sp.factor(exact.domain.to_sympy(exact.extract(range(size), range(size)).det()))
        for size in range(1, matrix.rows + 1)
    ]
