"""The population loss on the set of Lemma 2 with sign encodings, as a mean over drawn encodings.

At V = (α I, 0), W = diag(0, C I) token i has the logit C v_i, v_i = e_i·u with u = Σ_{j∈y} e_j. The query's token, if
it is attended to, has the logit C |u|² and the value 0. The tokens x_i are independent and of variance 1. So with the
softmax's shares p_i the loss is d/2 E Σ_i (αp_i − [i ∈ y]/q)², that is d/2 (α²R − 2αP/q + 1/q) with P = E Σ_{i∈y} p_i
and R = E Σ_i p_i².
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from theorems.sparse_token_selection.trials.long_runs import State
from verify.errors import UndefinedError
from verify.language.parameters import Value

if TYPE_CHECKING:
    from numpy.random import Generator

Array: TypeAlias = "Any"
"""A NumPy array."""
_LOGITS, _SIGNS, _FEWEST, _MOST = 40_000, 3 * 10**7, 64, 1_000
_MOST_CELLS = 2_000


@dataclass(frozen=True)
class Sizes:
    """T tokens of dimension d, q selected; encodings of dimension D; step size; whether the query is attended to."""

    T: int
    q: int
    d: int
    D: int
    eta: float
    query: bool

    @staticmethod
    def of(instance: Mapping[str, Value], query: bool) -> "Sizes":
        """Return the sizes of an instance."""
        T, q, d, D = (int(instance[name]) for name in ("T", "q", "d", "d_e"))  # pyright: ignore[reportArgumentType]
        return Sizes(T, q, d, D, float(instance["eta"]), query)  # pyright: ignore[reportArgumentType]

    def loss(self, alpha: float, P: Array, R: Array) -> Array:
        """Return the loss at P and R; for the values of single draws, return the losses of the draws."""
        return self.d / 2 * (alpha**2 * R - 2 * alpha * P / self.q + 1 / self.q)

    def gradient(self, alpha: float, P: Array, R: Array, P_slope: Array, R_slope: Array) -> tuple[Array, Array]:
        """Return the slopes in √d α and √D C: their squares add up to the squared norm of the gradient in V and W."""
        return (
            math.sqrt(self.d) * (alpha * R - P / self.q),
            self.d / (2 * math.sqrt(self.D)) * (alpha**2 * R_slope - 2 * alpha * P_slope / self.q),
        )

    def pair(self, a: float, c: float) -> State:
        """Return α and C at the state (a, c) = (√d α, √D C)."""
        return a / math.sqrt(self.d), c / math.sqrt(self.D)


@dataclass(frozen=True)
class SignSample:
    """Logits over C of drawn encodings: (n, q) of selected tokens, (n, T − q) of others, (n,) of the query's token.

    The encodings of the others are drawn in pairs that differ in sign: those of the second half of the sample are minus
    those of the first half.
    """

    sizes: Sizes
    selected: Array
    others: Array
    own: Array

    def shares(self, C: float) -> Array:
        """Return P, R, and their slopes in C of each pair of drawn encodings, (4, n/2)."""
        import numpy as np

        logits = [self.selected, self.others, *([self.own[:, None]] if self.sizes.query else [])]
        v = np.concatenate(logits, axis=1)
        weights = np.exp(C * v - (C * v).max(axis=1, keepdims=True))
        p = weights / weights.sum(axis=1, keepdims=True)
        moved = p * (v - (p * v).sum(axis=1, keepdims=True))
        q, T = self.sizes.q, self.sizes.T
        found = np.stack(
            [
                p[:, :q].sum(axis=1),
                np.square(p[:, :T]).sum(axis=1),
                moved[:, :q].sum(axis=1),
                2 * (p[:, :T] * moved[:, :T]).sum(axis=1),
            ]
        )
        return found.reshape(4, 2, -1).mean(axis=1)


def draw(sizes: Sizes, random: "Generator") -> SignSample:
    """Return a sample of encodings. Raises UndefinedError if T or d_e is too large for a sample.

    Given the selected tokens' signs, with the sum s in each coordinate, another token's logit over C is Σ ± s/D: of the
    coordinates with |s| = j, a binomial number has the sign +.
    """
    import numpy as np

    T, q, D = sizes.T, sizes.q, sizes.D
    pairs = min(_LOGITS // T, _SIGNS // (q * D), _MOST) // 2
    if pairs < _FEWEST // 2:
        raise UndefinedError(f"T = {T}, q = {q}, d_e = {D}: too many signs for a sample")
    signs = random.integers(0, 2, (pairs, q, D), dtype=np.int8) * np.int8(2) - np.int8(1)
    sums = signs.sum(axis=1, dtype=np.int64)
    selected = np.einsum("nqk,nk->nq", signs, sums) / D
    others = np.zeros((pairs, T - q))
    for j in range(1, q + 1):
        count = (np.abs(sums) == j).sum(axis=1)
        if count.any():
            others += j * (2 * random.binomial(count[:, None], 0.5, (pairs, T - q)) - count[:, None]) / D
    own = np.square(sums).sum(axis=1) / D
    return SignSample(
        sizes, np.concatenate([selected, selected]), np.concatenate([others, -others]), np.concatenate([own, own])
    )


@dataclass(frozen=True)
class Interpolated:
    """The means of P and R over a sample, interpolated in C by cubics with the values and slopes at multiples of h.

    h = 1/(5(1+q)). For the tokens that get attention a logit over C differs from the mean by about 1 + q. So a cubic is
    off by about h⁴ (1+q)⁴/384 < 1e-5.
    """

    sample: SignSample
    _cells: dict[int, tuple[State, ...]] = field(default_factory=dict, compare=False, repr=False)
    _nodes: dict[int, Array] = field(default_factory=dict, compare=False, repr=False)

    @property
    def width(self) -> float:
        """The distance h of the nodes."""
        return 1 / (5 * (1 + self.sample.sizes.q))

    def _node(self, k: int) -> Array:
        if k not in self._nodes:
            if len(self._nodes) > _MOST_CELLS:
                raise UndefinedError("the run goes through too many values of C")
            self._nodes[k] = self.sample.shares(k * self.width).mean(axis=1)
        return self._nodes[k]

    def _cell(self, k: int) -> tuple[State, ...]:
        """Return the coefficients of 1, t, t², t³ for P and R, t = C/h − k."""
        if k not in self._cells:
            (P0, R0, P1, R1), (P2, R2, P3, R3) = self._node(k), self._node(k + 1)
            h = self.width
            ends = ((P0, P1 * h, P2, P3 * h), (R0, R1 * h, R2, R3 * h))
            cubics = [(f, m, 3 * (g - f) - 2 * m - n, 2 * (f - g) + m + n) for f, m, g, n in ends]
            self._cells[k] = tuple((float(a), float(b)) for a, b in zip(*cubics, strict=True))
        return self._cells[k]

    def shares(self, C: float) -> tuple[float, float, float, float]:
        """Return P, R and their slopes in C."""
        h = self.width
        k = math.floor(C / h)
        t = C / h - k
        (f0, g0), (f1, g1), (f2, g2), (f3, g3) = self._cell(k)
        return (
            f0 + t * (f1 + t * (f2 + t * f3)),
            g0 + t * (g1 + t * (g2 + t * g3)),
            (f1 + t * (2 * f2 + 3 * t * f3)) / h,
            (g1 + t * (2 * g2 + 3 * t * g3)) / h,
        )

    def loss(self, a: float, c: float) -> float:
        """Return the loss at (√d α, √D C)."""
        sizes = self.sample.sizes
        alpha, C = sizes.pair(a, c)
        return sizes.loss(alpha, *self.shares(C)[:2])

    def gradient(self, a: float, c: float) -> State:
        """Return the gradient of the loss at (√d α, √D C)."""
        alpha, C = self.sample.sizes.pair(a, c)
        return self.sample.sizes.gradient(alpha, *self.shares(C))

    def move(self, a: float, c: float) -> State:
        """Return the change of the state in a step of gradient descent."""
        x, y = self.gradient(a, c)
        return -self.sample.sizes.eta * x, -self.sample.sizes.eta * y
