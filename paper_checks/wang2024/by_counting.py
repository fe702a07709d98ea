"""P and R for two or three selected tokens, computed a second time by enumerating all counts of signs.

The formula for the loss in terms of P and R is the same as elsewhere.

The encodings e_i have D coordinates ±1/√D. Let u be the sum of the q selected encodings. Of the D coordinates of √D u,
m have the absolute value q; the others have 1 (q = 3) or 0 (q = 2). In a coordinate with the value 1, one of the three
signs differs from the other two; n_i is the number of coordinates in which this is token i's sign. With v_i = e_i · u
the logits of the tokens are C v_i, and the logit of the query is C|u|²:

    C v_i = C (q m + (D − m − 2 n_i)) / D  (q = 3),   C · 2m/D  (q = 2),    C|u|² = C (q² m + D − m)/D, or C · 4m/D,

and the v_i of the other tokens are independent given m. For the softmax's denominator N, 1/N = ∫ e^{−tN} dt and
1/N² = ∫ t e^{−tN} dt turn a mean over these tokens into a product. The sums are over all counts except those of
probability below 10⁻¹⁴. The integrals use the trapezoid rule in log t, whose error falls like e^{−π²/h} with its step
h. The numbers are in float64, and no code of `sign_attention` is used.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev

_RARE, _STEP, _LEFT, _RIGHT = 1e-14, 0.4, 30.0, 4.0


class Means(NamedTuple):
    """P, the mean attention on all selected tokens, and R, the mean sum of all tokens' squared attention."""

    P: float
    R: float


class _Case(NamedTuple):
    """Counts with the same m: their chances (k,), the selected tokens' v (k, q), |u|², the others' v and chances."""

    chances: np.ndarray
    selected: np.ndarray
    norm: float
    others: np.ndarray
    of_others: np.ndarray


def means(T: int, q: int, D: int, query: bool, C: float) -> Means:
    """Return P and R at C ≥ 0, for q = 2 or 3 of T > q tokens."""
    assert q in (2, 3) and T > q and C >= 0
    P = R = 0.0
    for case in cases(q, D):
        own, other = np.exp(C * case.selected), np.exp(C * case.others)
        fixed = own.sum(axis=1) + (np.exp(C * case.norm) if query else 0.0)
        low = -np.log(fixed.max() + (T - q) * other.max()) - _LEFT
        t = np.exp(np.arange(low, -np.log(fixed.min() + (T - q) * other.min()) + _RIGHT, _STEP))
        decay = np.exp(-np.outer(t, other))
        single = decay @ case.of_others
        squared = decay @ (case.of_others * other**2)
        # In x = log t, dt is t dx. For the term of another token, this token is taken out of the product.
        along = np.exp(-np.outer(fixed, t)) * t * _STEP
        once, twice = along @ single ** (T - q), (along * t) @ single ** (T - q)
        taken = (along * t) @ (single ** (T - q - 1) * squared)
        P += float(case.chances @ (own.sum(axis=1) * once))
        R += float(case.chances @ ((own**2).sum(axis=1) * twice + (T - q) * taken))
    return Means(P, R)


def loss(alpha: float, mean: Means, d: int, q: int) -> float:
    """Return the loss d/2 (Σ E(αp_i − 1/q)² + Σ E(αp_i)²) at α, from P and R.

    The first sum is over the selected tokens, the second over the others. The theorems use the same formula; only P and
    R are computed independently. `layer_losses` of `by_sampling` computes the loss from the residual, without P and R.
    """
    return d / 2 * (alpha**2 * mean.R - 2 * alpha * mean.P / q + 1 / q)


def interpolated(
    T: int, q: int, d: int, D: int, most: float, nodes: int = 15, query: bool = True
) -> Callable[[float, float], tuple[float, float]]:
    """Return the function that takes α and C, 0 ≤ C < most, to the loss's slopes in α and C, each up to a factor.

    A step of descent subtracts these values times the learning rate. They come from polynomials that interpolate the
    logarithms of P and R.
    """
    at = most * (1 - np.cos(np.pi * np.arange(nodes) / (nodes - 1))) / 2
    logs = np.log([means(T, q, D, query, C) for C in at]).T
    P_log, R_log = (Chebyshev.fit(at, row, nodes - 1, domain=[0, most]) for row in logs)
    # A step looks its values up in a fine table, with linear interpolation.
    table = np.linspace(0, most, 40_001)
    P, R = (np.exp(f(table)) for f in (P_log, R_log))
    rows = np.stack([P / q, R, P * P_log.deriv()(table) / q, R * R_log.deriv()(table)], axis=1).tolist()

    def slopes(alpha: float, C: float) -> tuple[float, float]:
        k = int(C / most * 40_000)
        over = C / most * 40_000 - k
        p, r, dp, dr = (x + over * (y - x) for x, y in zip(rows[k], rows[k + 1], strict=True))
        return alpha * r - p, d / (2 * D) * (alpha**2 * dr - 2 * alpha * dp)

    return slopes


def descent(
    slopes: Callable[[float, float], tuple[float, float]], rates: Iterable[float], wanted: Container[int]
) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield each wanted step of descent from zero, with α and C after it."""
    alpha = C = 0.0
    for step, rate in enumerate(rates, 1):
        by_alpha, by_C = slopes(alpha, C)
        alpha, C = alpha - rate * by_alpha, C - rate * by_C
        if step in wanted:
            yield step, (alpha, C)


@cache
def cases(q: int, D: int) -> list[_Case]:
    """Return the counts that are not rare, grouped by m."""
    return list(_each(q, D))


def _each(q: int, D: int) -> Iterator[_Case]:
    largest, step = (1 / 4, 1) if q == 3 else (1 / 2, 0)
    for m, chance in enumerate(_binomial(D, largest)):
        if chance < _RARE:
            continue
        rest = D - m
        counts, shares = _differing(rest) if q == 3 else (np.zeros((1, 2)), np.ones(1))
        # Another token's v is a sum of m signs times q and of the other signs times 1 or 0.
        large, small = _signs(m), _signs(rest if step else 0)
        others, place = np.unique(np.add.outer(q * large[0], small[0]), return_inverse=True)
        yield _Case(
            chance * shares,
            (q * m + step * (rest - 2 * counts)) / D,
            (q * q * m + step * rest) / D,
            others / D,
            np.bincount(place.ravel(), np.multiply.outer(large[1], small[1]).ravel()),
        )


def _log_factorials(n: int) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])


def _binomial(n: int, p: float) -> np.ndarray:
    """Return the chances of 0 to n successes."""
    logs, k = _log_factorials(n), np.arange(n + 1)
    return np.exp(logs[n] - logs - logs[::-1] + k * np.log(p) + (n - k) * np.log(1 - p))


def _signs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a sum of n signs and their chances, without the rarest."""
    chances = _binomial(n, 1 / 2)
    kept = chances > _RARE / 100
    return (2 * np.arange(n + 1) - n)[kept].astype(float), chances[kept]


def _differing(rest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of coordinates in which each of three signs differs, ascending, (k, 3), and their chances."""
    likely = np.flatnonzero(_binomial(rest, 1 / 3) > _RARE / 6)
    a, b = (each.ravel() for each in np.meshgrid(likely, likely))
    counts = np.stack([a, b, rest - a - b], axis=1)
    counts = counts[(a <= b) & (b <= rest - a - b)]
    a, b, c = counts.T
    orders = np.where(a == c, 1, np.where((a == b) | (b == c), 3, 6))
    logs = _log_factorials(rest)
    chances = orders * np.exp(logs[rest] - logs[counts].sum(axis=1) - rest * np.log(3))
    return counts[chances > _RARE], chances[chances > _RARE]
