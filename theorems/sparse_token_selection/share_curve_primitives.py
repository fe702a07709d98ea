"""Primitives for statements about P and R over an interval of C: largest values, enclosed.

Arguments are exact: T tokens, q of them selected, d_e = D dimensions, the ends of the interval, and `query`, 1 if the
query's token is attended to, else 0. G = P²/(qR) is the gain, and P/(qR) the best α at a C. A primitive raises
UndefinedError if there is no such model, or if a size is above its limit.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import flint
from flint import arb, fmpq

from theorems.sparse_token_selection import attention_gain
from theorems.sparse_token_selection.gain_primitives import model_sizes
from theorems.sparse_token_selection.means_by_counts import BITS
from theorems.sparse_token_selection.share_curves import Jet, share_curves
from verify import Enclosure, enclosed
from verify.errors import UndefinedError

MOST, LARGEST_C = (10**4, 6, 2000), 16
_ACCURACY = fmpq(1, 50)


def gain(jet: Jet, q: int) -> arb:
    """Return G = P²/(qR)."""
    return jet.P * jet.P / (q * jet.R)


def gain_slope(jet: Jet, q: int) -> arb:
    """Return (log G)' = 2P'/P − R'/R."""
    return 2 * jet.P1 / jet.P - jet.R1 / jet.R


def gain_bend(jet: Jet, q: int) -> arb:
    """Return (log G)''."""
    p, r = jet.P1 / jet.P, jet.R1 / jet.R
    return 2 * (jet.P2 / jet.P - p * p) - (jet.R2 / jet.R - r * r)


def squares_slope(jet: Jet, q: int) -> arb:
    """Return (log R)' = R'/R."""
    return jet.R1 / jet.R


def logit_curvature(jet: Jet, q: int) -> arb:
    """Return a² max(R'', 0) + 2a max(−P'', 0)/q for the best value scale a = P/(qR)."""
    scale = jet.P / (q * jet.R)
    return scale * (scale * jet.R2.max(arb(0)) + 2 * (-jet.P2).max(arb(0)) / q)


def value_scale(jet: Jet, q: int) -> arb:
    """Return P/(qR)."""
    return jet.P / (q * jet.R)


def value_scale_fall(jet: Jet, q: int) -> arb:
    """Return −(log P/(qR))'."""
    return jet.R1 / jet.R - jet.P1 / jet.P


def squares_bend(jet: Jet, q: int) -> arb:
    """Return max(R'', 0)/R."""
    return jet.R2.max(arb(0)) / jet.R


def selected_bend(jet: Jet, q: int) -> arb:
    """Return max(−P'', 0)/(qR)."""
    return (-jet.P2).max(arb(0)) / (q * jet.R)


@lru_cache(maxsize=64)
def _largest(
    part: Callable[[Jet, int], arb], sizes: tuple[int, int, int, bool], first: Fraction, last: Fraction
) -> Enclosure:
    if not 0 <= first <= last <= LARGEST_C:
        raise UndefinedError(f"from {first} to {last}: an interval in [0, {LARGEST_C}]")
    low, high = (fmpq(end.numerator, end.denominator) for end in (first, last))
    with flint.ctx.workprec(BITS):
        return Enclosure(*share_curves(*sizes).largest(lambda jet: part(jet, sizes[1]), low, high, _ACCURACY))


def _over(part: Callable[[Jet, int], arb], at: tuple[Fraction, ...]) -> Enclosure:
    T, q, D, first, last, query = at
    return _largest(part, model_sizes(T, q, D, query, MOST), first, last)


def _scanned(*at: float) -> float:
    """Raise UndefinedError: an enclosure takes too long for the draws of a search."""
    raise UndefinedError(f"{', '.join(map(str, at))}: P and R over an interval take too long for a search")


@enclosed(version=1, scan=_scanned)
def largest_gain(*at: Fraction) -> Enclosure:
    """Enclose the largest G."""
    return _over(gain, at)


@enclosed(version=1, scan=_scanned)
def largest_gain_slope(*at: Fraction) -> Enclosure:
    """Enclose the largest slope of log G."""
    return _over(gain_slope, at)


@enclosed(version=1, scan=_scanned)
def largest_gain_bend(*at: Fraction) -> Enclosure:
    """Enclose the largest second derivative of log G: if it is negative, log G is concave."""
    return _over(gain_bend, at)


@enclosed(version=1, scan=_scanned)
def largest_squares_slope(*at: Fraction) -> Enclosure:
    """Enclose the largest slope of log R."""
    return _over(squares_slope, at)


@enclosed(version=1, scan=_scanned)
def largest_logit_curvature(*at: Fraction) -> Enclosure:
    """Enclose the largest a² max(R'', 0) + 2a max(−P'', 0)/q, a = P/(qR): a bound of α²R'' − 2αP''/q, 0 ≤ α ≤ a."""
    return _over(logit_curvature, at)


@enclosed(version=1, scan=_scanned)
def largest_value_scale(*at: Fraction) -> Enclosure:
    """Enclose the largest P/(qR)."""
    return _over(value_scale, at)


@enclosed(version=1, scan=_scanned)
def largest_value_scale_fall(*at: Fraction) -> Enclosure:
    """Enclose the largest slope of −log(P/(qR)): if it is negative, P/(qR) rises."""
    return _over(value_scale_fall, at)


@enclosed(version=1, scan=_scanned)
def largest_squares_bend(*at: Fraction) -> Enclosure:
    """Enclose the largest max(R'', 0)/R."""
    return _over(squares_bend, at)


@enclosed(version=1, scan=_scanned)
def largest_selected_bend(*at: Fraction) -> Enclosure:
    """Enclose the largest max(−P'', 0)/(qR)."""
    return _over(selected_bend, at)


@enclosed(version=1, scan=_scanned)
def gain_beyond(T: Fraction, q: Fraction, D: Fraction, start: Fraction, query: Fraction) -> Enclosure:
    """Enclose sup G over C ≥ start."""
    if not 0 < start <= LARGEST_C:
        raise UndefinedError(f"C >= {start}: from above 0 to {LARGEST_C}")
    return Enclosure(*attention_gain.gain_beyond(*model_sizes(T, q, D, query, MOST), start))
