r"""P and R of attention by sign encodings for three selected tokens, at one C ≥ 0, by sums of positive terms.

Let m of the D coordinates have all three selected signs alike, binomial of D and 1/4; in each of the n = D − m others
one of the three, equally likely, has the opposite sign. With y for D times a logit over C, the selected tokens have
y = 3m + n − 2n_i, (n_1, n_2, n_3) multinomial of n and 1/3, the others are independent sums of m signs times 3 and n
signs, and the query's token has 9m + n. With N the sum of e^{C(y − y_0)/D} over all that is attended to, for any y_0,

    1/N = h Σ_k x_k e^{−x_k N} (1 + ε),    1/N² = h Σ_k x_k² e^{−x_k N} (1 + ε'),    x_k = e^{kh},

where by Poisson's summation |ε| ≤ 2 Σ_k |Γ(1 + 2πik/h)|, with Γ(2 + ·) for ε'. The mean of e^{−xN} given m is a
product of powers and of a coefficient of a cube, as Poisson weights with a given sum are multinomial.

m and n_i far out and x outside a range are left out, and bounded: without the query's token Σ p_i ≤ 1, with it p_i ≤
e^{C(y_i − |u|²)} ≤ e^{−6mC/D}; below the range e^{−xN} ≤ 1, and above it N ≥ N_0, the least N for any m that is kept,
as the selected tokens' y add up to 9m + n.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import binom, poisson

STEP, DEVIATIONS = 0.33, 6.5
"""The step h of log x, and how many standard deviations of m and n_i are gone through."""
LEAST, AMPLE = 1e-12, 45.0
"""The least x, and N_0 times the largest."""
ROUNDING = 1e-10
"""Relative: sums of positive terms, each of relative error some 1000 units in the last place at most."""
VANISHING = 1e-40
"""Nodes are left out where the others' part of the mean of e^{−xN} is below; there are far fewer than 10^20."""
_SHIFTS = (1, 3)
"""y_0/D without and with the query's token."""
Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


class Sizes(NamedTuple):
    """T tokens, dimension D, and 1 where the query's token is attended to, else 0; three tokens are selected."""

    T: int
    D: int
    query: int

    @property
    def spread(self) -> float:
        """The most by which two logits over C differ."""
        return 12.0 if self.query else 6.0


class Means(NamedTuple):
    """P and R but for what is left out, and their relative errors."""

    P: float
    R: float
    error: float


class Part(NamedTuple):
    """For one m: its probability, the law of the others' y and the weights of the n_i, by rising y and rising n_i."""

    m: int
    chance: float
    law: Floats
    first: int
    weights: Floats
    ways: float


def _kept(mean: float, deviation: float, most: int) -> tuple[int, int]:
    return max(0, math.floor(mean - DEVIATIONS * deviation)), min(most, math.ceil(mean + DEVIATIONS * deviation))


@lru_cache(maxsize=4)
def parts(D: int) -> tuple[tuple[Part, ...], float]:
    """Return the parts that are kept, and the largest probability that some n_i is not."""
    found, missed = list[Part](), 0.0
    low, high = _kept(D / 4, math.sqrt(3 * D / 16), D)
    for m in range(low, high + 1):
        n = D - m
        threes = np.zeros(3 * m + 1)
        threes[::3] = binom.pmf(np.arange(m + 1), m, 0.5)
        law = np.convolve(threes, binom.pmf(np.arange(n + 1), n, 0.5))
        first, last = _kept(n / 3, math.sqrt(2 * n / 9), n)
        missed = max(missed, 3 * float(binom.cdf(first - 1, n, 1 / 3) + binom.sf(last, n, 1 / 3)))
        weights = poisson.pmf(np.arange(first, last + 1), n / 3)
        found.append(Part(m, float(binom.pmf(m, D, 0.25)), law, first, weights, float(poisson.pmf(n, n))))
    return tuple(found), missed


def _cubed(one: Floats, others: tuple[Floats, ...], total: int) -> Floats:
    """Return, for each of the others and each row, the sum of one(i) one(j) other(k) over i + j + k = total."""
    length = one.shape[1]
    start, stop = max(0, total - length + 1), min(2 * length - 2, total)
    squares = np.array([np.convolve(f, f)[start : stop + 1] for f in one])
    return np.array([(squares * g[:, total - stop : total - start + 1][:, ::-1]).sum(axis=1) for g in others])


def quadrature(step: float) -> float:
    """Return a bound of the relative errors of both sums over all k."""
    omega = 2 * math.pi / step
    # |Γ(1 + iω)|² = πω/sinh πω, and each further term is below 1/100 of the one before.
    return 2.1 * math.sqrt((1 + omega**2) * math.pi * omega / math.sinh(math.pi * omega))


def means(sizes: Sizes, C: float) -> Means:
    """Return P and R with their errors; C is at least 0."""
    T, D, query = sizes
    kept, _ = parts(D)
    shift, m_0 = _SHIFTS[query] * D, kept[0].m
    own = (9 * m_0 + D - m_0) / D
    least = math.exp(C * (own - shift / D)) if query else 3 * math.exp(C * (own / 3 - shift / D))
    start = math.floor(math.log(LEAST) / STEP)
    x = np.exp(np.arange(start, math.ceil(math.log(AMPLE / least) / STEP) + 1) * STEP)
    y = np.arange(-3 * D, 3 * D + 1, 2)
    size = np.exp(C * (y - shift) / D)
    table = np.exp(-np.outer(x, size))
    P = R = one = two = 0.0
    for m, chance, law, first, weights, ways in kept:
        most, n = 3 * m + D - m, D - m
        at = slice((3 * D - most) // 2, (3 * D + most) // 2 + 1)
        others = table[:, at] @ law
        power = others ** (T - 4) * (np.exp(-x * math.exp(C * (9 * m + n - shift) / D)) if query else 1.0)
        rows = power > VANISHING
        squares = table[rows, at] @ (law * size[at] ** 2)
        chosen = (3 * D + most) // 2 - first - np.arange(len(weights))
        each, f = size[chosen], table[np.ix_(rows, chosen)] * weights
        plain, once, twice = _cubed(f, (f, f * each, f * each**2), n - 3 * first) / ways
        others, power, nodes = others[rows], power[rows], x[rows]
        P += 3 * chance * float((STEP * nodes * once * others * power).sum())
        R += chance * float((STEP * nodes**2 * (3 * twice * others + (T - 3) * squares * plain) * power).sum())
        # Bounds of the numerators' means.
        one += 3 * chance * float(each.max())
        two += chance * float(3 * each.max() ** 2 + (T - 3) * (law @ size[at] ** 2))
    return _with_errors((P, R), (one, two))


def _with_errors(found: tuple[float, float], numerators: tuple[float, float]) -> Means:
    """Return the means with the errors: of the sums over k, and of the ends of their range."""
    below = [LEAST**power * numerators[power - 1] / (1 - math.exp(-STEP)) for power in (1, 2)]
    # e^{-xN} ≤ e^{-x N_0} adds a share of at most this to the mean of 1/N and of 1/N².
    above = 4 * AMPLE**2 * math.exp(-AMPLE)
    error = quadrature(STEP) + above + ROUNDING + max(b / f for b, f in zip(below, found, strict=True))
    return Means(*found, error)


def left_out(sizes: Sizes, C: float) -> tuple[float, float]:
    """Return what P and R have beyond the m and n_i that are kept, at most; it does not rise in C."""
    T, D, query = sizes
    kept, missed = parts(D)
    m = np.arange(D + 1)
    outside = (m < kept[0].m) | (m > kept[-1].m)
    chances = (outside + missed) * binom.pmf(m, D, 0.25) * (T if query else 1)
    P, R = (float((chances * np.exp(-6 * power * query * C * m / D)).sum()) for power in (1, 2))
    return P, R
