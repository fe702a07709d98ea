r"""The approximate infimum of the loss of attention by sign encodings, in closed form: the scaling laws.

This file approximates 1 − G of `attention_gain`, without error bounds. The approximation gives the range in which C and
d_e are searched, and from which a search draws them. Its error is mostly a few per cent; with fewer than ten dimensions
it is up to a third, and beyond 10⁸ dimensions rounding errors show. The symbols u, v_i, P and R are those of
`sign_attention`. With S = |u|²/q, a_i = e^{C(v_i − S)} for selected tokens, and x = (1/q) Σ_{j∉y} e^{C(v_j − S)}, the
odds of the others,

    P = E[ā/(ā + x)],    qR = E[(mean of a_i² + (1/q) Σ_{j∉y} e^{2C(v_j − S)})/(ā + x)²],    ā the mean of the a_i.

E a, E a², E x, E x² and E Σ e^{2C(v_j − S)}/q² are exact (D-th powers of one coordinate's mean, D = d_e). ā is replaced
by its mean, and x is taken to be log-normal. For D → ∞ x tends to its mean ((T−q)/q) e^{−C}, and

    1 − G ≈ (q−1)(q−2)/(qD) · C² + ((T−q)/q) e^{−2C} + Var x,

where the first term is the mean variance of the selected tokens' logits, and C ≈ ½ log(D(T−q)/((q−1)(q−2)C)). So

    ε = d/(2q) (1 − G)    at    d_e ≈ (d/ε) (q−1)(q−2)/(2q²) · C²,

which is at most d/(2ε) C². If instead ε is a fixed share of d/(2q), rather than D → ∞ at fixed T, the logits of the
other tokens vary as well (C²q is not small compared with 2D), and C is nearer to log T. For q ≥ 3 the required d_e
grows like log² T in either case.

*With the query's token*, whose logit is C|u|² and whose share is nearly 1, the softmax's denominator is nearly
e^{C|u|²}: G ≈ (E Σ_y h)²/(q E Σ h²) with h_i = e^{C(v_i − |u|²)}; both means are exact. α compensates for the small
shares.
"""

import math
from functools import lru_cache

import numpy as np

_SMALLEST, _LARGEST, _COARSE, _FINE, _SUMMED = 0.02, 400.0, 60, 31, 256
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
_SHARES = _WEIGHTS / _WEIGHTS.sum()


@lru_cache(maxsize=65536)
def approximate_gain(T: int, q: int, D: int, query: bool) -> tuple[float, float]:
    """Return approximations of sup P²/(qR) over C ≥ 0 and of the C that attains it, for 1 ≤ q < T, D ≥ 1."""
    about = _with_query if query else _tokens_alone
    grid, best, gains = np.geomspace(_SMALLEST, _LARGEST, _COARSE), 0, np.zeros(1)
    for count in (_FINE, None):
        with np.errstate(over="ignore", invalid="ignore"):
            gains = np.nan_to_num(about(T, q, D, grid))
        best = int(np.argmax(gains))
        if count:
            grid = np.geomspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], count)
    return min(float(gains[best]), 1 - 1e-12), float(grid[best])


def approximate_dimension(T: int, q: int, query: bool, level: float) -> int:
    """Return an approximation of the least D at which sup P²/(qR) is at least `level` < 1; at most 2^40."""
    if q > _SUMMED:
        # This is the scaling law, with C ≈ log T, about its largest value.
        return min(2**40, math.ceil(q * math.log(T) ** 2 / (1 - level)))
    low, high = 0, 1
    while approximate_gain(T, q, high, query)[0] < level and high < 2**40:
        low, high = high, 2 * high
    while high - low > 1 + high // 500:
        middle = (low + high) // 2
        low, high = (low, middle) if approximate_gain(T, q, middle, query)[0] >= level else (middle, high)
    return high


def _tokens_alone(T: int, q: int, D: int, C: np.ndarray) -> np.ndarray:
    n, mean = T - q, _selected(q, D, C, 1 / q)
    first = math.log(n / q) + _others(q, D, C, 1 / q, 1) - mean
    own = math.log(n / q**2) + _others(q, D, 2 * C, 1 / q, 1) - 2 * mean
    pairs = math.log(n * (n - 1) / q**2) + _others(q, D, C, 1 / q, 2) - 2 * mean if n > 1 else -np.inf
    second = np.logaddexp(own, pairs)
    spread = np.maximum(second - 2 * first, 0)[:, None]
    odds = np.exp(first[:, None] - spread / 2 + np.sqrt(spread) * _NODES)
    selected = np.exp(_selected(q, D, 2 * C, 1 / q) - 2 * mean)[:, None]
    # The other tokens' part of R is approximated as a multiple of the square of the odds.
    squares = selected + q * np.exp(own - second)[:, None] * odds**2
    return (1 / (1 + odds) @ _SHARES) ** 2 / (squares / (1 + odds) ** 2 @ _SHARES)


def _with_query(T: int, q: int, D: int, C: np.ndarray) -> np.ndarray:
    twice = np.logaddexp(_selected(q, D, 2 * C, 1.0), math.log((T - q) / q) + _others(q, D, 2 * C, 1.0, 1))
    return np.exp(2 * _selected(q, D, C, 1.0) - twice)


def _selected(q: int, D: int, C: np.ndarray, share: float) -> np.ndarray:
    """Return log E exp(C(v_i − share·|u|²)) for a selected token: D times one coordinate's, with the sign ε_i = 1."""
    s = q - 2.0 * np.arange(q)
    return D * _log_mean(C[:, None] / D * (s - share * s * s), q - 1)


def _others(q: int, D: int, C: np.ndarray, share: float, tokens: int) -> np.ndarray:
    """Return log E exp(C Σ_j (v_j − share·|u|²)), with the sum over `tokens` = 1 or 2 other tokens j."""
    s, rate = q - 2.0 * np.arange(q + 1), C[:, None] / D
    cosh = np.logaddexp(rate * s, -rate * s) - math.log(2)
    return D * _log_mean(tokens * (cosh - rate * share * s * s), q)


def _log_mean(exponents: np.ndarray, n: int) -> np.ndarray:
    """Return log Σ_k 2^{−n} binom(n, k) e^{x_k} for each row x of exponents."""
    from scipy.special import gammaln

    k = np.arange(n + 1)
    weighted = exponents + gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) - n * math.log(2)
    most = weighted.max(axis=1, keepdims=True)
    return most[:, 0] + np.log(np.exp(weighted - most).sum(axis=1))
