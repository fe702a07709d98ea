"""Primitives for statements about attention by sign encodings: their values are enclosed.

Arguments are exact: T tokens, q of them selected, d_e = D dimensions, and `query`, 1 if the query's token is attended
to, else 0. A primitive raises UndefinedError if there is no such model, or if a size is above its limit.
"""

import math
from fractions import Fraction
from functools import lru_cache

import flint
from flint import arb, fmpq

from theorems.sparse_token_selection.approximate_gain import approximate_dimension
from theorems.sparse_token_selection.attention_gain import Gain, estimated_gain, greatest_gain
from theorems.sparse_token_selection.encoding_dimension import MOST_DIMENSIONS, least_dimension
from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, SignAttention, outer
from verify import Enclosure, enclosed
from verify.errors import UndecidedError, UndefinedError

MOST_TOKENS = 10**6
MOST_SELECTED = 64
LARGEST_C = 10**4
_NARROW = Fraction(1, 10**4)
_SCANNED, _WIDE = 1, 0.05


def model_sizes(
    T: Fraction, q: Fraction, D: Fraction, query: Fraction, most: tuple[int, int, int] | None = None
) -> tuple[int, int, int, bool]:
    """Return a model's sizes as ints. Raises UndefinedError if there is no such model, or if a size is above `most`."""
    tokens, selected, dimensions = most or (MOST_TOKENS, MOST_SELECTED, MOST_DIMENSIONS)
    if not all(part.denominator == 1 for part in (T, q, D, query)) or not 1 <= q <= T or D < 1 or query not in (0, 1):
        raise UndefinedError(
            f"T = {T}, q = {q}, d_e = {D}, query = {query}: integers with 1 <= q <= T, d_e >= 1, 0 or 1"
        )
    if T > tokens or D > dimensions or q > selected:
        raise UndefinedError(f"T = {T}, q = {q}, d_e = {D}: at most {tokens}, {selected}, {dimensions} are supported")
    return int(T), int(q), int(D), bool(query)


def _scanned_sizes(T: float, q: float, D: float, query: float) -> tuple[int, int, int, bool]:
    return model_sizes(*(Fraction(round(part)) for part in (T, q, D, query)))


@enclosed(version=1, scan=lambda *sizes: estimated_gain(*_scanned_sizes(*sizes))[0])
def attention_gain(T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Enclosure:
    """Enclose sup P²/(qR) over C ≥ 0."""
    gain = greatest_gain(*model_sizes(T, q, D, query))
    return Enclosure(gain.lower, gain.upper)


def _scanned_dimension(T: float, q: float, d: float, eps: float, query: float) -> float:
    level = 1 - 2 * q * eps / d
    return 1.0 if level <= q / T else float(approximate_dimension(round(T), round(q), bool(query), level))


@enclosed(version=1, scan=_scanned_dimension)
def least_encoding_dimension(
    T: Fraction, q: Fraction, d: Fraction, eps: Fraction, query: Fraction
) -> Enclosure | Fraction:
    """Enclose a D at which the least loss, d/(2q) (1 − sup P²/(qR)), falls to eps.

    The least loss is at most eps at the upper end, and above eps at the integer below the lower end, unless the lower
    end is 1. The enclosure contains such a D; that there is only one is not proved.
    """
    T_, q_, _, attended = model_sizes(T, q, Fraction(1), query)
    if d.denominator != 1 or d < 1 or not eps > 0:
        raise UndefinedError(f"d = {d}, eps = {eps}: an integer >= 1 and a number > 0")
    lower, upper = least_dimension(T_, q_, int(d), eps, attended)
    return Fraction(lower) if lower == upper else Enclosure(lower, upper)


def _attained(T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Gain:
    gain = greatest_gain(*model_sizes(T, q, D, query))
    if gain.C is None:
        raise UndefinedError("the least loss is not attained")
    return gain


def _scanned_scale(T: float, q: float, D: float, query: float) -> float:
    C = estimated_gain(*_scanned_sizes(T, q, D, query))[1]
    if not math.isfinite(C):
        raise UndefinedError("the least loss is not attained")
    return max(1, round(C * 128)) / 128 if q < T else C


@enclosed(version=1, scan=_scanned_scale)
def best_logit_scale(T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Fraction:
    """Return a C at which P²/(qR) is at least the lower end of `attention_gain`. Raises UndefinedError if none is."""
    C = _attained(T, q, D, query).C
    assert C is not None
    return C


def _scanned_value_scale(T: float, q: float, D: float, query: float) -> float:
    C = _scanned_scale(T, q, D, query)
    P, R = (f(T, q, D, C, query) for f in (selected_attention.scan, squared_attention.scan) if f is not None)
    return P / (q * R)


@enclosed(version=1, scan=_scanned_value_scale)
def best_value_scale(T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Fraction:
    """Return a lower bound of the best α, P/(qR), at `best_logit_scale`, rounded to seven digits."""
    gain = _attained(T, q, D, query)
    exact = gain.selected / (int(q) * gain.squares)
    return Fraction(f"{float(exact):.7g}")


@enclosed(version=1, scan=lambda *sizes: float(estimated_gain(*_scanned_sizes(*sizes))[1] < math.inf))
def gain_is_attained(T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Fraction:
    """Return 1 if the supremum is attained at some C, 0 if not. Raises UndefinedError if that is open."""
    attained = greatest_gain(*model_sizes(T, q, D, query)).attained
    if attained is None:
        raise UndefinedError("whether the supremum is attained is open")
    return Fraction(attained)


@lru_cache(maxsize=4096)
def _scanned_mean(power: int, T: float, q: float, D: float, C: float, query: float) -> float:
    """Return an estimate of P (power 1) or R (power 2). Raises UndecidedError if the moments used are not enough."""
    if not 0 <= C <= LARGEST_C:
        raise UndefinedError(f"C = {C}: from 0 to {LARGEST_C}")
    sizes = _scanned_sizes(T, q, D, query)
    if C == 0 or (power == 1 and q == T and not query):
        return float(_mean(*sizes, Fraction(C), power, ())[0])
    with flint.ctx.workprec(BITS):
        model = SignAttention(*sizes)
        if power == 2 and not query:
            return float(model.squares_below(arb(C), EFFORTS[_SCANNED]))
        ends = (model.selected if power == 1 else model.squares)(arb(C), EFFORTS[_SCANNED])
        low, high = map(float, outer(*ends))
        if high - low > _WIDE * high:
            raise UndecidedError(f"C = {C}: the moments are not enough")
        return (low + high) / 2


def _enclosed_mean(T: Fraction, q: Fraction, D: Fraction, C: Fraction, query: Fraction, power: int) -> Enclosure:
    if not 0 <= C <= LARGEST_C:
        raise UndefinedError(f"C = {C}: from 0 to {LARGEST_C}")
    return Enclosure(*_mean(*model_sizes(T, q, D, query), C, power, EFFORTS[1:]))


def _mean(T: int, q: int, D: int, query: bool, C: Fraction, power: int, efforts: tuple) -> tuple[Fraction, Fraction]:
    """Return bounds of P (power 1) or R (power 2), from more and more moments until the bounds are narrow."""
    if C == 0:
        exact = Fraction(q, T + query) if power == 1 else Fraction(T, (T + query) ** 2)
        return exact, exact
    if power == 1 and q == T and not query:
        return Fraction(1), Fraction(1)
    lower, upper = Fraction(0), Fraction(1)
    with flint.ctx.workprec(BITS):
        model, at = SignAttention(T, q, D, query), arb(fmpq(C.numerator, C.denominator))
        for effort in efforts:
            try:
                less, more = outer(*(model.selected(at, effort) if power == 1 else model.squares(at, effort)))
            except UndecidedError:
                continue
            lower, upper = max(lower, less), min(upper, more)
            if upper - lower <= _NARROW * upper:
                break
    return lower, upper


@enclosed(version=1, scan=lambda *at: _scanned_mean(1, *at))
def selected_attention(T: Fraction, q: Fraction, D: Fraction, C: Fraction, query: Fraction) -> Enclosure:
    """Enclose P = E Σ p_i over the selected tokens, at W = diag(0, C I)."""
    return _enclosed_mean(T, q, D, C, query, 1)


@enclosed(version=1, scan=lambda *at: _scanned_mean(2, *at))
def squared_attention(T: Fraction, q: Fraction, D: Fraction, C: Fraction, query: Fraction) -> Enclosure:
    """Enclose R = E Σ p_i² over the tokens, at W = diag(0, C I)."""
    return _enclosed_mean(T, q, D, C, query, 2)
