"""P and R over intervals of C, compared with all signs of small models; refusals; agreement of two computations."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from theorems.sparse_token_selection import share_curve_primitives as primitives
from theorems.sparse_token_selection.rechecked import RECHECKS
from verify.errors import UndefinedError
from verify.rechecker import Rejected
from verify.rechecker.reading import Effort
from verify.rechecker.registry import computed

SIZES = [(4, 2, 2, 1), (4, 3, 3, 0), (3, 1, 3, 1), (3, 2, 2, 0), (3, 3, 3, 0)]
LAST = Fraction(3, 4)
NAMES = [name for name in vars(primitives) if name.startswith("largest_")]


@cache
def products(T, q, D, query):
    """Return the logits of all sign configurations, divided by C; an attended query's logit is the last."""
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=T * D))).reshape(-1, T, D)
    u = signs[:, :q].sum(axis=1)
    v = np.einsum("ntd,nd->nt", signs, u) / D
    return np.column_stack([v, (u**2).sum(axis=1) / D]) if query else v


@cache
def derivatives(T, q, D, query, C):
    """Return P and R with two derivatives each, from the definition of the softmax."""
    v = products(T, q, D, query)
    p = np.exp(C * v)
    p /= p.sum(axis=1, keepdims=True)
    x = v - (p * v).sum(axis=1, keepdims=True)
    spread = (p * x**2).sum(axis=1, keepdims=True)
    selected = (p, p * x, p * (x**2 - spread))
    squares = (p**2, 2 * p**2 * x, p**2 * (4 * x**2 - 2 * spread))
    return [f[:, :q].sum(axis=1).mean() for f in selected], [f[:, :T].sum(axis=1).mean() for f in squares]


def by_the_definition(name, sizes, C):
    """Return the value at C of the function of P and R with the given name."""
    q = sizes[1]
    (P, P1, P2), (R, R1, R2) = derivatives(*sizes, C)
    a = P / (q * R)
    return {
        "largest_gain": P**2 / (q * R),
        "largest_gain_slope": 2 * P1 / P - R1 / R,
        "largest_gain_bend": 2 * (P2 / P - (P1 / P) ** 2) - (R2 / R - (R1 / R) ** 2),
        "largest_squares_slope": R1 / R,
        "largest_squares_bend": max(R2, 0) / R,
        "largest_selected_bend": max(-P2, 0) / (q * R),
        "largest_logit_curvature": a**2 * max(R2, 0) + 2 * a * max(-P2, 0) / q,
        "largest_value_scale": a,
        "largest_value_scale_fall": R1 / R - P1 / P,
    }[name]


def both(name, sizes, first, last):
    """Return the enclosures of the engine and of the second computation."""
    T, q, D, query = sizes
    at = tuple(map(Fraction, (T, q, D, first, last, query)))
    found = getattr(primitives, name).evaluate(*at)
    return [(found.lower, found.upper), computed(Effort(1e12), RECHECKS.primitives[f"{name}/1"], at)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_the_largest_value_is_the_one_over_all_signs(name, sizes):
    grid = np.linspace(0, float(LAST), 61)
    best = max(by_the_definition(name, sizes, C) for C in grid)
    # Between two grid points a value exceeds both by at most about half the largest change between neighbours.
    values = [by_the_definition(name, sizes, C) for C in grid]
    between = max(np.abs(np.diff(values)).max() / 2, 1e-9)
    for lower, upper in both(name, sizes, 0, LAST):
        assert float(lower) <= best + between
        assert best <= float(upper) + 1e-12
        # In few dimensions not all second derivatives are enclosed tightly, so only this size is tested.
        if sizes == (4, 2, 2, 1):
            assert upper - lower <= Fraction(1, 10) * abs(upper) + Fraction(1, 1000)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("C", [Fraction(0), Fraction(1, 2)])
def test_a_value_at_a_point_is_the_one_over_all_signs(name, sizes, C):
    exact = by_the_definition(name, sizes, float(C))
    for lower, upper in both(name, sizes, C, C):
        assert float(lower) - 1e-12 <= exact <= float(upper) + 1e-12
        assert upper - lower < Fraction(1, 3)


@pytest.mark.parametrize("sizes", [(4, 2, 2, 1), (4, 3, 3, 0), (3, 1, 3, 1)])
def test_the_gain_beyond(sizes):
    T, q, D, query = sizes
    best = max(by_the_definition("largest_gain", sizes, C) for C in np.concatenate([np.linspace(1, 12, 45), [20, 60]]))
    at = tuple(map(Fraction, (T, q, D, 1, query)))
    found = primitives.gain_beyond.evaluate(*at)
    for lower, upper in ((found.lower, found.upper), computed(Effort(1e12), RECHECKS.primitives["gain_beyond/1"], at)):
        assert float(lower) <= best + 1e-9
        assert best <= float(upper) + 1e-9


def test_the_gain_beyond_in_closed_form():
    # If all tokens are selected, G(0) = 1, and beyond C only G <= 1 is known. With two selected tokens and attention to
    # Z, the gain beyond C is the limit.
    assert primitives.gain_beyond.evaluate(*map(Fraction, (3, 3, 2, 1, 0))).upper == 1
    found = primitives.gain_beyond.evaluate(*map(Fraction, (4, 2, 2, 1, 0)))
    limit = by_the_definition("largest_gain", (4, 2, 2, 0), 60.0)
    assert float(found.lower) - 1e-9 <= limit <= float(found.upper) + 1e-9


@pytest.mark.parametrize(
    "at", [(3, 4, 2, 0, 1, 0), (3, 2, 2, 1, 0, 0), (3, 2, 2, 0, 17, 0), (3, 2, 2, 0, 1, 2), (3, 2, 3000, 0, 1, 0)]
)
def test_invalid_arguments_are_refused(at):
    exact = tuple(map(Fraction, at))
    with pytest.raises(UndefinedError):
        primitives.largest_gain.evaluate(*exact)
    with pytest.raises(Rejected):
        computed(Effort(1e12), RECHECKS.primitives["largest_gain/1"], exact)
    with pytest.raises(UndefinedError):
        primitives.largest_gain.scan(*map(float, at))


def test_beyond_zero_is_refused():
    at = tuple(map(Fraction, (4, 2, 2, 0, 1)))
    with pytest.raises(UndefinedError):
        primitives.gain_beyond.evaluate(*at)
    with pytest.raises(Rejected):
        computed(Effort(1e12), RECHECKS.primitives["gain_beyond/1"], at)


def test_long_ends_are_rejected_and_work_is_counted():
    name = "largest_gain/1"
    with pytest.raises(Rejected, match="bits"):
        computed(Effort(1e12), RECHECKS.primitives[name], tuple(map(Fraction, (4, 2, 2, 0, Fraction(1, 3**50), 1))))
    with pytest.raises(Rejected, match="work"):
        computed(Effort(1e5), RECHECKS.primitives[name], tuple(map(Fraction, (200, 3, 170, 0, 4, 1))))
