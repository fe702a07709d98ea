"""Points other than Theorem 1's matrix where one layer's descent can end: points at which Q reads the label.

Let P's last row be (e, β), with e an eigenvector of Σ for its largest eigenvalue λ_k. The loss is quadratic in Q: its
least value over Q exceeds Theorem 1's least loss by

    R(s) = λ_k³ D s/(g_k² (L s² + (D/g_k − 2C) s + B)) + Σ_{j≠k} λ_j³ h_j/(g_j (h_j + g_j s)),    s = β²,

where g_i = λ_i/a_i with the eigenvalues a_i of Theorem 1's matrix, t = tr Σ, h_j = λ_k λ_j/n, B = λ_k² (n+2)/n,
C = λ_k (t + 2λ_k/n), L = E (wᵀSw)² = (n+2)/n (t² + 2 tr Σ²) and D = BL − C². The local minimum of
`theorems.preconditioned_descent.one_layer_local_minimum` is at s = 0, and its hypothesis few_examples is R'(0) > 0. If
R'(0) < 0, R can have minima at s > 0; each minimum gives two points, one for each sign of β. The formula is derived by
hand. Quadrature at instances tests that these points are local minima of the loss.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial


class LabelInQ(NamedTuple):
    """A point: P's last row is (e, β), Q's upper left block u eeᵀ + Σ_j rest_j e_j e_jᵀ, and Q's last row (τ e, 0).

    The sum runs over the eigenvectors e_j of Σ other than e; `rest` has an entry for each eigenvalue, λ_k included.
    `above` is the excess of the loss over Theorem 1's least loss.
    """

    above: float
    beta: float
    u: float
    tau: float
    rest: list[float]

    def matrices(self, basis: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return P and Q, (2, d+1, d+1), for Σ's eigenvectors as rows of `basis` and a unit eigenvector e of λ_k."""
        d = len(e)
        P, Q = np.zeros((2, d + 1, d + 1))
        P[-1] = [*e, self.beta]
        along = e @ basis.T @ np.diag(self.rest) @ basis @ e
        Q[:-1, :-1] = basis.T @ np.diag(self.rest) @ basis + (self.u - along) * np.outer(e, e)
        Q[-1, :-1] = self.tau * e
        return np.stack([P, Q])


def labels_in_q(n: int, spectrum: Sequence[float], preconditioner: Sequence[float]) -> list[LabelInQ]:
    """Return the points of R's local minima, with β ≥ 0, for Σ's eigenvalues and those of Theorem 1's matrix."""
    eigenvalues = np.array(spectrum)
    g, trace, k = eigenvalues / preconditioner, eigenvalues.sum(), int(eigenvalues.argmax())
    first, own, others = eigenvalues[k], g[k], np.arange(len(g)) != k
    B, C = first**2 * (n + 2) / n, first * (trace + 2 * first / n)
    L = (n + 2) / n * (trace**2 + 2 * (eigenvalues**2).sum())
    D, h = B * L - C**2, first * eigenvalues / n
    terms = [(Polynomial([0, first**3 * D]), Polynomial([B, D / own - 2 * C, L]) * own**2)]
    for x, y, z in zip(eigenvalues[others], h[others], g[others], strict=True):
        terms.append((Polynomial([x**3 * y]), Polynomial([y, z]) * z))
    slope = Polynomial([0.0])
    for i, (above, below) in enumerate(terms):
        rest = math.prod((q**2 for j, (_, q) in enumerate(terms) if j != i), start=Polynomial([1.0]))
        slope += (above.deriv() * below - above * below.deriv()) * rest
    roots = [x.real for x in slope.roots() if x.real > 0 and abs(x.imag) < 1e-9 * abs(x)]
    least = [s for s in [0.0] if slope(s) > 0] + [s for s in roots if slope.deriv()(s) > 0]

    def point(s: float) -> LabelInQ:
        beta = math.sqrt(s)
        slopes = [[B + own * s, beta * (C + own)], [beta * (C + own), L * s + own]]
        u, tau = -first * np.linalg.solve(slopes, [beta, 1.0])
        rest = list(-eigenvalues * beta / (h + g * s))
        return LabelInQ(sum(float(p(s) / q(s)) for p, q in terms), beta, float(u), float(tau), rest)

    return [point(s) for s in least]
