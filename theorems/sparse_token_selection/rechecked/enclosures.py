# C is the paper's letter, and no constant.
# pyright: reportConstantRedefinition=false
"""Attention by sign encodings: its means, its gain and a least dimension, enclosed; other sizes are rejected."""

from fractions import Fraction

from flint import ctx

from verify.rechecker.balls import high, low
from verify.rechecker.reading import Effort, Rejected
from verify.rechecker.registry import Enclosure

from .attention import BITS, ORDERS, Attention, Undecided
from .attention_gain import MOST, Sizes, gain, least_dimension

_MOST_SELECTED, _LARGEST_C, _NARROW = 64, 10**4, Fraction(1, 2**40)


def _sizes(T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Sizes:
    """Return the sizes of attention by sign encodings: 1 ≤ q ≤ T tokens, D ≥ 1 dimensions, the query token or not."""
    if any(x.denominator != 1 for x in (T, q, D, query)) or not 1 <= q <= T or D < 1 or query not in (0, 1):
        raise Rejected("attention asks for integers 1 ≤ q ≤ T, D ≥ 1, and a query that is 0 or 1")
    if T > MOST or D > MOST or q > _MOST_SELECTED:
        raise Rejected(f"attention with T or D above {MOST}, or q above {_MOST_SELECTED}")
    return int(T), int(q), int(D), int(query)


def _attention(effort: Effort, sizes: Sizes, C: Fraction, power: int) -> Enclosure:
    T, q, _, query = sizes
    if not 0 <= C <= _LARGEST_C:
        raise Rejected(f"attention with a C that is not from 0 to {_LARGEST_C}")
    if C == 0:
        exact = Fraction(q, T + query) if power == 1 else Fraction(T, (T + query) ** 2)
        return exact, exact
    if power == 1 and q == T and not query:
        return Fraction(1), Fraction(1)
    lower, upper = Fraction(0), Fraction(1)
    with ctx.workprec(BITS):
        means = Attention(effort, sizes, C)
        for orders in (ORDERS[1], ORDERS[-1]):
            try:
                below, above = means.selected(orders) if power == 1 else means.squares(orders)
            except Undecided:
                continue
            lower, upper = max(lower, low(below)), min(upper, high(above))
            if upper - lower <= _NARROW * upper:
                break
    return lower, upper


def selected_attention(
    effort: Effort, T: Fraction, q: Fraction, D: Fraction, C: Fraction, query: Fraction
) -> Enclosure:
    """Enclose P = E Σ p_i over the selected tokens."""
    return _attention(effort, _sizes(T, q, D, query), C, 1)


def squared_attention(effort: Effort, T: Fraction, q: Fraction, D: Fraction, C: Fraction, query: Fraction) -> Enclosure:
    """Enclose R = E Σ p_i² over the tokens."""
    return _attention(effort, _sizes(T, q, D, query), C, 2)


def attention_gain(effort: Effort, T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Enclosure:
    """Enclose sup P²/(qR) over C ≥ 0."""
    return gain(effort, _sizes(T, q, D, query))


def least_encoding_dimension(
    effort: Effort, T: Fraction, q: Fraction, d: Fraction, eps: Fraction, query: Fraction
) -> Enclosure:
    """Enclose a D at which d/(2q)(1 − sup G) ≤ eps, and > eps at D − 1 or D = 1: the least, as that decreases in D."""
    sizes = _sizes(T, q, Fraction(1), query)
    if not d > 0 or eps < 0:
        raise Rejected("a least dimension asks for d > 0 and eps ≥ 0")
    first, last = least_dimension(effort, sizes, 1 - 2 * q * eps / d)
    return Fraction(first), Fraction(last)
