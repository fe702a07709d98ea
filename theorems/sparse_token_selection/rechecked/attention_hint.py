# C is the paper's letter, and no constant.
# pyright: reportConstantRedefinition=false
r"""About how much attention by sign encodings can gain, and where: in double precision, and only to know where to look.

With h_i = e^{C(v_i − σ|u|²)}, its sums over the selected, a, and over the others, b, have first and second moments in
closed form. Tokens alone σ = 1/q, a is put at its mean, and b/a taken to be log-normal; with the query token σ = 1,
and N is put at e^{C|u|²}.
"""

from functools import lru_cache
from math import comb, cosh, exp, log, sqrt

_NODES = ((-2.85697, 0.011257), (-1.355626, 0.222076), (0.0, 0.533333), (1.355626, 0.222076), (2.85697, 0.011257))
"""Gauss's for the normal distribution."""
_WIDEST, _LEAST, _COARSE, _POINTS, _FINE = 300.0, 0.25, 1.35, 24, 1.01


@lru_cache(maxsize=4096)
def about_gain(T: int, q: int, D: int, query: int, C: float) -> float:
    """Return an approximation of G at C, or 0 if it is out of the range of double precision."""
    if 2 * C * q * q / D > _WIDEST:
        return 0.0
    try:
        return min(1.0, (_with_query if query else _tokens_alone)(T, q, D, C))
    except (ValueError, OverflowError):
        return 0.0


def _selected(q: int, D: int, c: float, share: float) -> float:
    """Return log E e^{c(v_i − share·|u|²)} at a selected token."""
    own = ((q - 2 * k, comb(q - 1, k) / 2 ** (q - 1)) for k in range(q))
    return D * log(sum(w * exp(c / D * (s - share * s * s)) for s, w in own))


def _others(q: int, D: int, c: float, share: float, tokens: int) -> float:
    """Return log E e^{c Σ_j (v_j − share·|u|²)} over one or two other tokens."""
    sums = ((q - 2 * k, comb(q, k) / 2**q) for k in range(q + 1))
    return D * log(sum(w * cosh(c * s / D) ** tokens * exp(-c / D * tokens * share * s * s) for s, w in sums))


def _with_query(T: int, q: int, D: int, C: float) -> float:
    twice = log(T - q) + _others(q, D, 2 * C, 1, 1)
    return exp(2 * _selected(q, D, C, 1) + log(q) - _added(log(q) + _selected(q, D, 2 * C, 1), twice))


def _tokens_alone(T: int, q: int, D: int, C: float) -> float:
    n, mean = T - q, log(q) + _selected(q, D, C, 1 / q)
    twice = log(n) + _others(q, D, 2 * C, 1 / q, 1) - 2 * mean
    first = log(n) + _others(q, D, C, 1 / q, 1) - mean
    second = _added(twice, log(n * (n - 1)) + _others(q, D, C, 1 / q, 2) - 2 * mean) if n > 1 else twice
    spread, own = max(0.0, second - 2 * first), exp(log(q) + _selected(q, D, 2 * C, 1 / q) - 2 * mean)
    p = r = 0.0
    for node, weight in _NODES:
        odds = exp(min(_WIDEST, first - spread / 2 + sqrt(spread) * node))
        p += weight / (1 + odds)
        # The others' part of R goes with the square of the odds.
        r += weight * (own + exp(twice - second) * odds**2) / (1 + odds) ** 2
    return p * p / (q * r)


def _added(one: float, other: float) -> float:
    most = max(one, other)
    return most + log(exp(one - most) + exp(other - most))


def about_best(T: int, q: int, D: int, query: int, near: float | None = None) -> tuple[float, float]:
    """Return approximations of sup G and of a C at which it is reached; the search starts at `near` if it is given."""

    def gain(C: float) -> float:
        return about_gain(T, q, D, query, C)

    C, step = near or max((_LEAST * _COARSE**k for k in range(_POINTS)), key=gain), sqrt(_COARSE)
    while step > _FINE:
        better = max((C / step, C, C * step), key=gain)
        C, step = better, sqrt(step) if better == C else step
    return gain(C), C


def about_dimension(T: int, q: int, query: int, goal: float, most: int) -> int:
    """Return an approximation of the least D at which sup G reaches a goal < 1."""
    low, high, near = 0, 1, None
    while high < most:
        gain, near = about_best(T, q, high, query, near if high > 16 else None)
        if gain >= goal:
            break
        low, high = high, 2 * high
    while high - low > 1 + high // 200:
        middle = (low + high) // 2
        gain, near = about_best(T, q, middle, query, near)
        low, high = (low, middle) if gain >= goal else (middle, high)
    return min(high, most)
