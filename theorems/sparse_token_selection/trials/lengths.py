"""Trials of layers V = (A, 0), W = diag(B, M) at two lengths, with fresh encodings or with one draw that is kept.

As x_query = 0 the attention's shares p_i depend on the encodings alone, and the loss is ½ E Σ_i |p_i A − [i ∈ y] I/q|².
"""

import math
from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from theorems.sparse_token_selection.trials import value_at
from verify import Trial
from verify.errors import UndefinedError
from verify.language.parameters import Instance

if TYPE_CHECKING:
    from numpy.random import Generator

    from verify.claims.in_words import Trials

Array: TypeAlias = "Any"
"""A NumPy array."""
_EPS = 2.0**-52
_MOST_CELLS, _MOST_LARGE = 10**6, 500
"""Maximum number of pairs (h, g) in `_loss`; maximum of T if encodings are drawn, and of d."""
_SUBSETS = 40
"""Number of drawn subsets of each kind."""
_LARGE = 60.0
"""C of layers that have learnt a draw: exp(−60) is far below a rounding error."""
_REPEATS = 1e-12
"""Bound on the probability that two tokens have the same encoding, if encodings are taken to be distinct."""


def _sizes(instance: Instance) -> tuple[int, ...]:
    return tuple(int(instance[name]) for name in ("T", "T_test", "q", "d"))


def _log_binomial(n: int, chance: float) -> Array:
    """Return the logarithms of the probabilities of 0 … n successes."""
    import numpy as np
    from scipy.special import gammaln

    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return ways + k * math.log(chance) + (n - k) * math.log1p(-chance)


def _loss(T: int, q: int, A: Array, encodings: Array, chance: float, M: Array, query: bool) -> float:
    """Return the loss if each encoding is the first of two with a given probability, else the second.

    The numbers h of selected tokens and g of other tokens that have the first encoding are binomial.
    """
    import numpy as np

    h, g = np.arange(q + 1)[:, None], np.arange(T - q + 1)
    first, second = encodings
    sums = h * first + (q - h) * second
    logits = np.stack([sums @ M.T @ first, sums @ M.T @ second, np.einsum("hk,kl,hl->h", sums, M, sums)])[:, :, None]
    counts = np.stack([h + g, T - h - g, np.full((q + 1, T - q + 1), int(query))])
    present = np.where(counts > 0, logits, -np.inf)
    w = np.exp(present - present.max(axis=0))
    total = (counts * w).sum(axis=0)
    p = w[:2] / total
    norm, trace = float((A**2).sum()), float(np.trace(A))
    own = norm * p**2 - 2 * p * trace / q + len(A) / q**2
    parts = h * own[0] + (q - h) * own[1] + norm * (g * p[0] ** 2 + (T - q - g) * p[1] ** 2)
    weights = np.exp(_log_binomial(q, chance)[:, None] + _log_binomial(T - q, chance))
    return float((weights * parts).sum()) / 2


def _of_two(sizes: tuple[int, ...], random: "Generator") -> tuple[list[float], float, dict[str, float]]:
    """Return the losses at both lengths of a random layer for a random law of two encodings, |A|², and details."""
    import numpy as np

    T, T_test, q, d = sizes
    dimension, chance = int(random.integers(1, 4)), float(random.uniform(0.02, 0.98))
    encodings = random.standard_normal((2, dimension))
    M = 10 ** random.uniform(-1, 1) * random.standard_normal((dimension, dimension))
    scale, noise = 10 ** random.uniform(-1, 1), random.choice([0.0, 0.3])
    A, query = scale * (np.eye(d) + noise * random.standard_normal((d, d))), bool(random.integers(2))
    losses = [_loss(n, q, A, encodings, chance, M, query) for n in (T, T_test)]
    return losses, float((A**2).sum()), {"query": float(query)}


def _of_many(sizes: tuple[int, ...], random: "Generator") -> tuple[list[float], float, dict[str, float]]:
    """Return the same as `_of_two` for distinct orthonormal encodings, M = C I, and A = αI with about the best α at T.

    The law is uniform on so many orthonormal vectors that two tokens have the same vector with a probability below
    1e-12.
    """
    T, T_test, q, d = sizes
    C = float(random.uniform(0, 8))
    w, own = math.exp(-C), math.exp(C * (q - 1)) if random.integers(2) and C * q < 20 else 0.0

    selected, other = _distinct_shares(T, q, w, own)
    alpha = selected / (q * selected**2 + (T - q) * other**2) * random.choice([1.0, 1.0, random.uniform(0.5, 1.5)])
    losses = [_distinct_loss(n, q, d, alpha, w, own) for n in (T, T_test)]
    return losses, d * alpha**2, {"C": C, "query": float(own > 0)}


def _distinct_shares(n: int, q: int, w: float, own: float) -> tuple[float, float]:
    """Return a selected token's share and another token's, if their weights are 1 and w, and the query's is `own`."""
    total = q + (n - q) * w + own
    return 1 / total, w / total


def _distinct_loss(n: int, q: int, d: int, alpha: float, w: float, own: float) -> float:
    """Return the loss of A = αI at the shares of `_distinct_shares`."""
    selected, other = _distinct_shares(n, q, w, own)
    return d / 2 * (q * (alpha * selected - 1 / q) ** 2 + (n - q) * (alpha * other) ** 2)


def fresh(longer: sp.Expr, shorter: sp.Expr) -> "Trials":
    """Return trials of: the loss at T_test is at most `longer` (or `shorter` if T_test ≤ T) times the loss at T.

    Every second trial is of a law of two random encodings, in one to three dimensions, with random matrices. The others
    are of nearly orthonormal encodings, at which `longer` is sharp up to a factor of q + 1/2. The layers attend to Z or
    to [Z, z_query].
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        sizes = T, T_test, q, d = _sizes(instance)
        if (q + 1) * (max(T, T_test) - q + 1) > _MOST_CELLS or d > _MOST_LARGE:
            raise UndefinedError(f"T = {T}, T_test = {T_test}, q = {q}, d = {d}: too many tokens to be counted")
        times = value_at(longer if T_test > T else shorter, instance)
        for draw in cycle((_of_two, _of_many)):
            losses, square, detail = draw(sizes, random)
            # A loss is a sum of T terms, each rounded by about T ulps of |A|² + d/q. This is far above the effect of
            # the logits' rounding on shares of at most 1. Tokens with the same encoding change a loss by at most
            # |A|² + d/q.
            error = (64 * _EPS * max(T, T_test) + _REPEATS) * (1 + times) * (square + d / q)
            yield Trial(times * losses[0] - losses[1], error, {"loss": losses[0], "loss_test": losses[1]} | detail)

    return trials


def fixed(on_the_new: sp.Expr, one_selected: sp.Expr) -> "Trials":
    """Return trials of layers that have learnt T encodings: their loss is nearly 0 at T, and as claimed at T + 1.

    The encodings are T + 1 random unit vectors of dimension 2T + 2, and C = 60. The claimed loss is `on_the_new` for
    q ≥ 2, else `one_selected`, which holds for attention to Z alone.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        import numpy as np

        T, _, q, d = _sizes(instance)
        if T > _MOST_LARGE:
            raise UndefinedError(f"T = {T}: too many encodings to be drawn")
        claimed = value_at(on_the_new if q >= 2 else one_selected, instance)
        for query in cycle((False, True) if q >= 2 else (False,)):
            E = random.standard_normal((2 * T + 2, T + 1))
            E /= np.sqrt((E**2).sum(axis=0))
            dual = np.linalg.pinv(E)[:T]
            total = dual.sum(axis=0)
            M = _LARGE * (dual.T @ dual - 2 * np.outer(total, total))
            # A logit is rounded by about T ulps of the sizes of its terms, and a share by as much.
            off = 32 * (T + 1) * _EPS * float((abs(E.T) @ abs(M) @ abs(E).sum(axis=1)).max())
            error = d * (8 * off + T * math.exp(off - _LARGE))
            trained = _mean_loss(E[:, :T], M, q, d, random, 0.0, query)
            beyond = _mean_loss(E, M, q, d, random, q / (T + 1), query)
            yield Trial(-abs(trained), error, {"loss": trained, "query": float(query)})
            yield Trial(-abs(beyond - claimed), error, {"loss": beyond, "query": float(query)})

    return trials


def _mean_loss(E: Array, M: Array, q: int, d: int, random: "Generator", chance: float, query: bool) -> float:
    """Return d/2 times the mean of Σ (p_i − [i ∈ y]/q)² over subsets with the last token with probability `chance`.

    All subsets with the last token have the same sum, and so have all without it, because a logit depends only on
    whether its token is selected, another, or the last. Some subsets of each kind are drawn.
    """
    import numpy as np

    T = E.shape[1]
    mean = 0.0
    for last, weight in ((True, chance), (False, 1 - chance)):
        if not weight:
            continue
        sums = []
        for _ in range(_SUBSETS):
            y = np.zeros(T)
            free = T - 1 if chance else T
            y[random.permutation(free)[: q - last]] = 1
            if last:
                y[-1] = 1
            u = E @ y
            logits = np.append(E.T @ M @ u, u @ M @ u if query else -np.inf)
            w = np.exp(logits - logits.max())
            sums.append(float((((w / w.sum())[:T] - y / q) ** 2).sum()))
        mean += weight * float(np.mean(sums))
    return d / 2 * mean
