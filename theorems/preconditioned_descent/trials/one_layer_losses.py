r"""Losses of one layer, from the definitions: given w*, the examples are independent Gaussian vectors.

With p the last row of P and K the first d columns of Q, the query (x; 0) gets the label (1/n) Σ_i pᵀz_i · s_i,
z_i = (x_i; w*ᵀx_i), where s_i is z_iᵀ K x, or σ(z_iᵀ K x) for ReLU attention; no other entry of P and Q has an effect,
and f is E (label + w*ᵀx)². The mean over x and the examples is taken in closed form given w*. It is a polynomial of
degree 4 in w*, whose mean is a sum over finitely many w* (`gaussian_rule`).

Σ is taken to be diagonal: a rotation to its eigenvectors acts on the tokens, w*, P and Q alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from verify import UndefinedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[Any]
    """Arrays of float64, or of Fractions."""

MOST_DIMENSIONS = 30
"""Largest dimension of a token: the sums over w* have about 2 d² terms."""
LARGEST = Fraction(10) ** 100
"""Largest n, eigenvalue or reciprocal of one: products of three of them do not overflow in float64."""
ULP = 2.0**-53


def gaussian_rule(d: int) -> tuple[list[list[int]], list[Fraction]]:
    r"""Return nodes and weights with the moments of N(0, I_d) up to degree 5.

    The nodes are 0, ±e_i, ±2e_i and ±e_i ± e_j. Odd moments vanish by symmetry. E w_i² w_j² = 1 gives the weight 1/4 of
    ±e_i ± e_j; E w_i⁴ = 3 and E w_i² = 1 give the weights 1/12 of ±2e_i and 1/6 − (d − 1)/2 of ±e_i.
    """
    one, two, pair = Fraction(1, 6) - Fraction(d - 1, 2), Fraction(1, 12), Fraction(1, 4)
    nodes, weights = [[0] * d], [1 - 2 * d * (one + two) - 2 * d * (d - 1) * pair]
    for i, (value, weight) in product(range(d), ((1, one), (-1, one), (2, two), (-2, two))):
        nodes.append([value if k == i else 0 for k in range(d)])
        weights.append(weight)
    for (i, j), (first, second) in product(combinations(range(d), 2), product((1, -1), repeat=2)):
        nodes.append([first if k == i else second if k == j else 0 for k in range(d)])
        weights.append(pair)
    return nodes, weights


@dataclass(frozen=True)
class Data:
    """n, Σ (d×d), and N values of w* (N×d) with their weights (N)."""

    n: Any
    sigma: "Numbers"
    targets: "Numbers"
    weights: "Numbers"

    @property
    def d(self) -> int:
        """Number of coordinates of a token."""
        return self.sigma.shape[0]

    @cached_property
    def absolute(self) -> "Data":
        """The same data with absolute values."""
        return Data(self.n, abs(self.sigma), abs(self.targets), abs(self.weights))

    @property
    def rounding(self) -> float:
        """Relative error of a sum of positive terms: a term goes through fewer than N + 20 (d + 1) roundings."""
        return 1.01 * ULP * (len(self.weights) + 20 * (self.d + 1))

    def covered(self, vectors: "Numbers") -> "Numbers":
        """Return C y for each w*, C = J Σ Jᵀ, J = (I; w*ᵀ); y is one vector for each w* (N×(d+1)), or one for all."""
        import numpy as np

        first = (vectors[..., :-1] + self.targets * vectors[..., -1:]) @ self.sigma
        return np.concatenate((first, (self.targets * first).sum(1)[:, None]), axis=1)

    @cached_property
    def covariances(self) -> "Numbers":
        """C for each w* (N×(d+1)×(d+1))."""
        import numpy as np

        return np.stack([self.covered(row) for row in np.eye(self.d + 1, dtype=int)], axis=1)


def float_data(n: int, eigenvalues: Sequence[Fraction], variances: Sequence[Fraction] | None = None) -> Data:
    """Return float64 data with w* ~ N(0, diag(variances)), of variances 1 by default.

    Raises UndefinedError if there are too many dimensions, or if a number is too large or too small.
    """
    import numpy as np

    refuse_many(len(eigenvalues))
    for number in (Fraction(n), *eigenvalues):
        if not 1 / LARGEST <= number <= LARGEST:
            raise UndefinedError("n and the eigenvalues have to be between 1e-100 and 1e100 for the loss in float64")
    nodes, weights = gaussian_rule(len(eigenvalues))
    scales = np.sqrt([float(variance) for variance in variances or [1] * len(eigenvalues)])
    sigma = np.diag([float(eigenvalue) for eigenvalue in eigenvalues])
    return Data(float(n), sigma, np.array(nodes) * scales, np.array([float(weight) for weight in weights]))


def exact_data(n: int, eigenvalues: Sequence[Fraction]) -> Data:
    """Return exact data with w* ~ N(0, I)."""
    import numpy as np

    nodes, weights = gaussian_rule(len(eigenvalues))
    sigma = np.diag(np.array([*map(Fraction, eigenvalues)], dtype=object))
    return Data(Fraction(n), sigma, np.array(nodes, dtype=object), np.array(weights, dtype=object))


def refuse_many(d: int) -> None:
    """Raise UndefinedError for too many dimensions."""
    if d > MOST_DIMENSIONS:
        raise UndefinedError(f"d = {d}: the loss over all P and Q is tried up to d = {MOST_DIMENSIONS}")


class Loss(NamedTuple):
    """A loss, with its slopes in p (d+1) and K ((d+1)×d)."""

    value: Any
    in_row: "Numbers"
    in_columns: "Numbers"


LossOf: TypeAlias = "Callable[[Data, Numbers, Numbers], Loss]"


def linear_loss(data: Data, row: "Numbers", columns: "Numbers") -> Loss:
    """Return f of linear attention at p = row, K = columns.

    The label is pᵀ G K x, G = (1/n) Σ_i z_i z_iᵀ, and by Isserlis' theorem E G A G = C A C + (C A C + tr(A C) C)/n for
    a symmetric A. With A = K Σ Kᵀ f is, given w*, pᵀ (E G A G) p + 2 w*ᵀ Σ Kᵀ C p + w*ᵀ Σ w*.
    """
    import numpy as np

    sigma, w, weights, once = data.sigma, data.targets, data.weights, 1 / data.n
    Cp, A = data.covered(row), columns @ sigma @ columns.T
    seen, wanted = Cp @ columns, w @ sigma
    through, length, square = (1 + once) * (seen @ sigma), Cp @ row, (wanted * w).sum(1)
    # tr(A C) = tr(Σ Jᵀ A J).
    spread = (A[:-1, :-1] * sigma).sum() + 2 * (wanted @ A[:-1, -1]) + A[-1, -1] * square
    values = (seen * through + 2 * wanted * seen).sum(1) + once * spread * length + square
    back = data.covered((through + wanted) @ columns.T)
    in_row = 2 * (weights @ (back + (once * spread)[:, None] * Cp))
    # E |pᵀz|² C.
    each = weights * length
    mean = np.block([[each.sum() * sigma, (each @ wanted)[:, None]], [(each @ wanted)[None], each @ square]])
    in_columns = 2 * ((weights[:, None] * Cp).T @ (through + wanted) + once * (mean @ columns @ sigma))
    return Loss(weights @ values, in_row, in_columns)


def relu_loss(data: Data, row: "Numbers", columns: "Numbers") -> Loss:
    """Return f of ReLU attention at p = row, K = columns, Σ = I.

    Given w* and x an example adds cᵀx_i σ(vᵀx_i)/n, c = (I, w*) p, v = (I, w*) K x. Along v/|v| and across it x_i is
    normal, so that cᵀx_i σ(vᵀx_i) has the mean h cᵀv and the mean square k (cᵀv)² + h (|c|²|v|² − (cᵀv)²), where
    h = E σ(s)² and k = E σ(s)⁴ for s ~ N(0, 1). The mean square error given w* and x is a quadratic form in x: its mean
    over x is the sum over the unit vectors.
    """
    import numpy as np

    h, k = half_line(2), half_line(4)
    w, weights, once = data.targets, data.weights, 1 / data.n
    b, beta, A, u = row[:-1], row[-1], columns[:-1], columns[-1]
    # V = A + w uᵀ, for each w.
    c = b + w * beta
    cw, ww, wA, size = (c * w).sum(1), (w * w).sum(1), w @ A, (c * c).sum(1)
    along = c @ A + cw[:, None] * u
    lengths = (A * A).sum() + 2 * (wA @ u) + ww * (u @ u)
    square = (1 - once) * h * h + once * (k - h)
    values = ww + (2 * h * w * along + square * along * along).sum(1) + once * h * lengths * size
    slopes, each = 2 * (h * w + square * along), 2 * once * h * weights * size
    in_c = weights[:, None] * (slopes @ A.T + w * (slopes @ u)[:, None] + (2 * once * h * lengths)[:, None] * c)
    in_A = (weights[:, None] * c).T @ slopes + each.sum() * A + np.outer(each @ w, u)
    in_u = (weights * cw) @ slopes + each @ wA + (each @ ww) * u
    return Loss(weights @ values, np.append(in_c.sum(0), (in_c * w).sum()), np.vstack((in_A, in_u)))


def half_line(power: int) -> float:
    """Return E max(s, 0)^k, s ~ N(0, 1), for k = `power` ≥ 1: 2^{k/2 - 1} Γ((k + 1)/2)/√π."""
    from math import gamma, pi, sqrt

    return 2 ** (power / 2 - 1) * gamma((power + 1) / 2) / sqrt(pi)


def component_loss(data: Data, j: int, M: "Numbers") -> float:
    """Return f_j = E (tr(G M) + w_j)² at a matrix M.

    Given w* tr(G M) has the mean tr(C M) and, by Isserlis' theorem, the variance tr(C M C M + C M C Mᵀ)/n.
    """
    C = data.covariances
    twice = C @ M @ C
    mean = (C * M).sum((1, 2)) + data.targets[:, j]
    return data.weights @ (mean**2 + (twice * (M + M.T)).sum((1, 2)) / data.n)
