r"""The dimension of sign encodings for a given loss: an interval with a D at which d/(2q) (1 − sup G) falls to ε.

G is defined in `attention_gain`. The search starts near the D of `approximate_gain`, corrected by this approximation's
error factor nearby. Two facts are certified: the least loss is at most ε at the upper end, and above ε at the integer
below the lower end. It is neither proved nor claimed that the least loss falls with D everywhere.
"""

from fractions import Fraction
from functools import lru_cache

from theorems.sparse_token_selection.approximate_gain import approximate_dimension, approximate_gain
from theorems.sparse_token_selection.attention_gain import estimated_gain, greatest_gain, reaches, stays_below
from verify.errors import UndefinedError

MOST_DIMENSIONS = 2**20
_ASIDE = 0.003
"""Relative distance from ε at which the search for an end starts. It exceeds the enclosures' relative width there."""
_STEPS, _TRIALS, _FEW = 6, 4, 8


@lru_cache(maxsize=512)
def least_dimension(T: int, q: int, d: int, eps: Fraction, query: bool) -> tuple[int, int]:
    """Return an interval that contains a D ≥ 1 at which the least loss, d/(2q) (1 − sup G), falls to eps > 0.

    The least loss is at most eps at the upper end, and above eps at the integer below the lower end, unless the lower
    end is 1. Raises UndefinedError if more than MOST_DIMENSIONS are needed.
    """
    level = 1 - 2 * q * eps / Fraction(d)
    if level <= Fraction(q, T):
        # With or without the query's token, G(0) = q/T reaches the level.
        return 1, 1
    if q <= 2 and not query:
        return _in_closed_form(T, q, level)
    off = _off(T, q, query, float(1 - level))

    def aside(share: float) -> int:
        """Return an approximation of the D at which 1 − sup G is (1 + share)(1 − level)."""
        return approximate_dimension(T, q, query, 1 - (1 + share) * float(1 - level) / off)

    upper = _reaching(T, q, query, level, aside(-_ASIDE))
    lower, step = min(aside(_ASIDE), upper), 1 + upper // 200
    # In few dimensions the bounds are wide: if `stays_below` fails near `upper`, it fails further below as well.
    for _ in range(_TRIALS if upper > _FEW * q else 1):
        if lower <= 1 or stays_below(T, q, lower - 1, query, level):
            return max(lower, 1), upper
        lower, step = lower - step, 2 * step
    return 1, upper


def _reaching(T: int, q: int, query: bool, level: Fraction, start: int) -> int:
    """Return a D ≥ `start` at which `reaches` shows that sup G ≥ level.

    If D > `start`, `reaches` fails at some D' with D − D' ≤ 1 + D'/200. `reaches` takes long if it fails at a D close
    to the least D at which it succeeds. So the steps grow until it succeeds, and the last step is then bisected.
    """
    _refuse(start)
    if reaches(T, q, start, query, level):
        return start
    low, high, step = start, start, 1 + start // 200
    while low == high:
        tried = low + step
        _refuse(tried)
        if reaches(T, q, tried, query, level):
            high = tried
        else:
            low, high, step = tried, tried, 2 * step
    while high - low > 1 + low // 200:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(T, q, middle, query, level) else (middle, high)
    return high


def _off(T: int, q: int, query: bool, missing: float) -> float:
    """Return 1 − sup G divided by its approximation, at a D at which 1 − sup G is about `missing`."""
    off, seen = 1.0, set[int]()
    while (D := approximate_dimension(T, q, query, 1 - missing / off)) not in seen and len(seen) < _STEPS:
        _refuse(D)
        seen.add(D)
        off = (1 - estimated_gain(T, q, D, query)[0]) / (1 - approximate_gain(T, q, D, query)[0])
    return off


def _in_closed_form(T: int, q: int, level: Fraction) -> tuple[int, int]:
    """Return bounds of the least D, for a closed form of sup G that rises with D; they differ only at a tie."""
    low, high = 0, 1
    while greatest_gain(T, q, high, False).lower < level:
        low, high = high, 2 * high
        _refuse(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if greatest_gain(T, q, middle, False).lower >= level else (middle, high)
    lower = high
    while lower > 1 and greatest_gain(T, q, lower - 1, False).upper >= level:
        lower -= 1
    return lower, high


def _refuse(D: int) -> None:
    if D > MOST_DIMENSIONS:
        raise UndefinedError(f"more than {MOST_DIMENSIONS} dimensions are needed")
