r"""Second derivatives over all A_l (and B_l) at multiples of I, on each space that rotations leave invariant.

f = E tr K Kᵀ, where w*ᵀ K x is the label after L layers. f does not change if all matrices are conjugated by one
orthogonal matrix. So at multiples of I the Hessian splits into three kinds of directions, with no mixed derivatives
between two kinds: A_l → A_l + x_l M (and B_l likewise) with M a multiple of I; M symmetric with trace 0; M
antisymmetric. For each kind the Hessian is one matrix in the x_l, the same for all M of the kind with ‖M‖_F = 1.

In the eigenbasis of S = diag(s_i) an entry m_ij, i ≠ j, moves K_ij and K_ji at first order, and K_ii and K_jj at second
order. So the Hessian is a sum over pairs i < j and over i. The summand of a pair is the Hessian φ_±(s_i, s_j) of
tr K Kᵀ at the 2×2 matrices S = diag(s_i, s_j) and M = E_12 ± E_21. The summand of an i is the Hessian φ(s_i) of K(s_i)²
in the diagonal entry of M. Their entries are polynomials. Over rotations of M the means of m_ii² and m_ij², i ≠ j, are
(d − 1)/(d N) and 1/(2N) for M symmetric with trace 0, N = (d − 1)(d + 2)/2, and 0 and 1/(d (d − 1)) for M
antisymmetric:

    multiple of I: E Σ_i φ(s_i)/d;   symmetric: ((d − 1)/d E Σ_i φ(s_i) + ½ E Σ_{i<j} φ_+(s_i, s_j))/N;
    antisymmetric: E Σ_{i<j} φ_−(s_i, s_j)/(d (d − 1)).

E Σ_{i≠j} s_i^k s_j^m = E tr S^k tr S^m − E tr S^{k+m} is rational: exact weights on a grid of points give these means.
The point and the matrices are enclosed in balls. The balls decide whether a matrix is positive definite, unless it is
nearly singular.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np

import verify
from theorems.preconditioned_descent.preconditioned_tokens import theorem4
from theorems.preconditioned_descent.stationary_square.second_derivatives import Jet
from theorems.wishart.trace_moments import trace_moment
from verify import Enclosure, InputError
from verify.evaluation.arithmetic import balls, positive_definite

MOST_LAYERS, _DIGITS, _BITS = 3, 60, 320
_Matrix = list[list[Any]]


@dataclass(frozen=True)
class Curvature:
    """Whether the second derivatives are positive definite, by kind of direction; None if that is not decided.

    False means that there is a direction of the kind in which f falls. For d = 1 only the first kind of directions
    exists, and the other two are True.
    """

    on_set: bool | None
    symmetric: bool | None
    antisymmetric: bool | None

    @property
    def local_minimum(self) -> bool | None:
        """Whether a critical point is a local minimum over all matrices; False if f falls in some direction."""
        kinds = (self.on_set, self.symmetric, self.antisymmetric)
        return False if False in kinds else None if None in kinds else True


def second_derivatives(
    steps: Sequence[Enclosure | Fraction], rates: Sequence[Enclosure | Fraction] | None, d: int, n: int
) -> tuple[flint.arb_mat, ...]:
    """Return the matrices for M a multiple of I, symmetric with trace 0, and antisymmetric; for d = 1 only the first.

    M is scaled to tr M Mᵀ = 1. The point is A_l = a_l I, B_l = b_l I. The rows are those of the A_l, then those of the
    B_l except the last, which has no effect. If `rates` is None, the pattern is (8): B_l = 0 is fixed.

    Raises InputError for no layers, or more than MOST_LAYERS.
    """
    layers = len(steps)
    if not 1 <= layers <= MOST_LAYERS:
        raise InputError("layers", layers, f"must be from 1 to {MOST_LAYERS}")
    degree = 2 * layers if rates is None else 3**layers - 1
    with balls(_BITS) as arithmetic:
        point = [arithmetic.number(a) for a in steps]
        moved = [arithmetic.number(b) for b in rates[: layers - 1]] if rates is not None else []
        one, two = map(_balls, _weights(degree, d, n))
        nodes = np.array([flint.arb(k) for k in range(degree + 1)], object)
        single = _contracted(_on_diagonal(point, moved, nodes), one)
        if d == 1:
            return (single,)
        grid = np.repeat(nodes, degree + 1), np.tile(nodes, degree + 1)
        # The weights are of ordered pairs.
        even, odd = (_contracted(_off_diagonal(point, moved, *grid, sign), two) / 2 for sign in (1, -1))
        symmetric = (single * flint.arb(d - 1) / d + even / 2) * 2 / ((d - 1) * (d + 2))
        return single / d, symmetric, odd / (d * (d - 1))


def curvature(
    steps: Sequence[Enclosure | Fraction], rates: Sequence[Enclosure | Fraction] | None, d: int, n: int
) -> Curvature:
    """Return whether each matrix is positive definite; arguments and errors as for `second_derivatives`."""
    with balls(_BITS):
        on_set, *others = map(positive_definite, second_derivatives(steps, rates, d, n))
    return Curvature(on_set, *(others or (True, True)))


@lru_cache(maxsize=16)
def _weights(degree: int, d: int, n: int) -> tuple[list[flint.fmpq], list[flint.fmpq]]:
    """Return weights of points 0 … degree for E Σ_i φ(s_i), and of pairs of them for E Σ_{i≠j} φ(s_i, s_j)."""
    size = degree + 1
    exact = lambda x: flint.fmpq(x.numerator, x.denominator)  # noqa: E731
    single = [exact(Fraction(trace_moment([k], n, d))) for k in range(size)]
    inverse = flint.fmpq_mat(size, size, [flint.fmpq(p) ** k for k in range(size) for p in range(size)]).inv()
    pairs = [
        exact(Fraction(trace_moment([k, m], n, d))) - single[k + m] if k + m <= degree else flint.fmpq(0)
        for k in range(size)
        for m in range(size)
    ]
    one = inverse * flint.fmpq_mat(size, 1, single)
    two = inverse * flint.fmpq_mat(size, size, pairs) * inverse.transpose()
    return one.entries(), two.entries()


def _balls(weights: Sequence[flint.fmpq]) -> np.ndarray:
    return np.array([flint.arb(weight) for weight in weights], object)


def _contracted(jet: Jet, weights: np.ndarray) -> flint.arb_mat:
    assert jet.second is not None
    return flint.arb_mat((jet.second * weights).sum(axis=-1).tolist())


def _unknowns(point: Sequence[Any], moved: Sequence[Any]) -> list[np.ndarray]:
    """Return the slopes (p, 1) of the A_l, then those of the B_l."""
    count = len(point) + len(moved)
    return [np.array([[flint.arb(i == j)] for i in range(count)], object) for j in range(count)]


def _zero() -> np.ndarray:
    return np.array([flint.arb(0)], object)


def _on_diagonal(point: Sequence[Any], moved: Sequence[Any], nodes: np.ndarray) -> Jet:
    """Return K(s)², with its derivatives in the x_l of all A_l and B_l, at the nodes."""
    slopes = _unknowns(point, moved)
    values = [Jet(np.array([x], object), slope) for x, slope in zip([*point, *moved], slopes, strict=True)]
    tokens = label = Jet(_zero() + 1, 0 * slopes[0])
    for layer in range(len(point)):
        seen = values[layer] * tokens * tokens * nodes
        label = label - label * seen
        if layer < len(moved):
            tokens = tokens - values[len(point) + layer] * tokens * seen
    return label * label


def _off_diagonal(point: Sequence[Any], moved: Sequence[Any], first: np.ndarray, second: np.ndarray, sign: int) -> Jet:
    """Return tr K Kᵀ, with its derivatives, for S = diag(s, t) and M = E_12 ± E_21, at pairs (s, t)."""
    slopes = _unknowns(point, moved)
    none = 0 * slopes[0]
    nothing = Jet(_zero(), none)

    def unknown(place: int) -> _Matrix:
        diagonal = Jet(np.array([[*point, *moved][place]], object), none)
        return [[diagonal, Jet(_zero(), slopes[place])], [Jet(_zero(), sign * slopes[place]), diagonal]]

    identity = [[Jet(_zero() + 1, none), nothing], [nothing, Jet(_zero() + 1, none)]]
    tokens, label = identity, identity
    for layer in range(len(point)):
        # S Gᵀ A G
        seen = _times([list(row) for row in zip(*tokens, strict=True)], _times(unknown(layer), tokens))
        seen = [[entry * nodes for entry in row] for row, nodes in zip(seen, (first, second), strict=True)]
        label = _less(label, _times(label, seen))
        if layer < len(moved):
            tokens = _less(tokens, _times(unknown(len(point) + layer), _times(tokens, seen)))
    return sum((entry * entry for row in label for entry in row), nothing)


def _times(one: _Matrix, other: _Matrix) -> _Matrix:
    return [[row[0] * other[0][j] + row[1] * other[1][j] for j in range(2)] for row in one]


def _less(one: _Matrix, other: _Matrix) -> _Matrix:
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)]


def theorem4_curvatures(L: int, d: int, n: int, most: int | None = None) -> list[tuple[dict[str, Any], Curvature]]:
    """Return the critical points found for Theorem 4, or only the `most` of least loss, and the curvature at each."""
    points = verify.check(theorem4, L=L, d=d, n=n, digits=_DIGITS).values["critical_points"][:most]
    return [(point, curvature(point["a"], point["b"], d, n)) for point in points]
