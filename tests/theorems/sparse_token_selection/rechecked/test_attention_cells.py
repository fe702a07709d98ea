"""The re-checker's means of monomials and bounds on cells of C, compared with all signs at the smallest sizes."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import ctx

from theorems.sparse_token_selection.rechecked.attention import BITS, Attention, _nodes, about_shares, reciprocal
from theorems.sparse_token_selection.rechecked.attention_curvature import Curvature
from theorems.sparse_token_selection.rechecked.attention_gain import Search
from theorems.sparse_token_selection.rechecked.attention_hint import about_best
from verify.rechecker.balls import ball
from verify.rechecker.reading import Effort

SIZES = [(3, 1, 2, 1), (3, 2, 3, 0), (4, 3, 2, 0), (4, 2, 3, 1), (5, 3, 2, 1), (3, 3, 3, 1), (5, 4, 1, 0), (6, 1, 2, 0)]
CELLS = [(Fraction(0), Fraction(1, 4)), (Fraction(1), Fraction(3, 2)), (Fraction(3), Fraction(13, 4))]
RATES = [Fraction(0), Fraction(-1, 3), Fraction(3, 2)]


@cache
def factors(T, q, D, query):
    """Return y_i for all tokens and for an attended query, and |u|², at all sign configurations."""
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=T * D))).reshape(-1, T, D) / np.sqrt(D)
    u = signs[:, :q].sum(axis=1)
    v, square = np.einsum("ntd,nd->nt", signs, u), (u**2).sum(axis=1)
    return np.column_stack([v, square] if query else [v]), square


def softmax(sizes, C):
    y, _ = factors(*sizes)
    weights = np.exp(C * y)
    return weights / weights.sum(axis=1, keepdims=True), y


def means(sizes, C):
    """Return P and R at C, means over all sign configurations."""
    (T, q, *_), (p, _) = sizes, softmax(sizes, C)
    return p[:, :q].sum(axis=1).mean(), (p[:, :T] ** 2).sum(axis=1).mean()


def bends(sizes, C, start, rate):
    """Return −(fP)'' and (f²R)'' at C, for f = e^{rate (C − start)}."""
    (T, q, *_), (p, y), f = sizes, softmax(sizes, C), np.exp(rate * (C - start))
    x = y - (p * y).sum(axis=1, keepdims=True)
    variance = (p * x**2).sum(axis=1, keepdims=True)
    first = (p * ((x + rate) ** 2 - variance))[:, :q].sum(axis=1).mean()
    second = (p**2 * (4 * (x + rate) ** 2 - 2 * variance))[:, :T].sum(axis=1).mean()
    return -f * first, f**2 * second


def shares(sizes, C):
    a, b, _ = (Fraction(round(64 * x), 64) for x in about_shares(sizes, C))
    return (a, b, 1 - a - b) if sizes[3] else (a, 1 - a, Fraction(0))


def weights_of(sizes, given):
    """Return the weight π_i of each token and of an attended query."""
    (T, q, _, query), (a, b, c) = sizes, map(float, given)
    return np.array([a / q] * q + [b / max(T - q, 1)] * (T - q) + [c] * query)


@pytest.mark.parametrize("sizes", SIZES)
def test_moments(sizes):
    (T, q, _, query), C, tilt = sizes, Fraction(5, 4), Fraction(1, 3)
    y, square = factors(*sizes)
    each, turn = np.exp(1.25 * y), np.exp(-square / 3)
    N = each.sum(axis=1)
    selected, others = each[:, :q], each[:, q:T]
    numerators = {"A": selected.sum(axis=1), "A2": (selected**2).sum(axis=1)}
    numerators |= {"B": others.sum(axis=1), "B2": (others**2).sum(axis=1)} if T > q else {}
    numerators |= {"Q": each[:, -1]} if query else {}
    with ctx.workprec(BITS):
        at = Attention(Effort(1e12), sizes, C)
        for name, w in numerators.items():
            # The table is first computed for two moments, and then extended.
            at.moments(name, tilt, 2)
            for k, moment in enumerate(at.moments(name, tilt, 6)):
                exact = (w * N**k * turn ** (k + (2 if name[1:] else 1))).mean()
                assert float(moment) == pytest.approx(exact, rel=1e-12)
                assert moment.rad() < abs(moment) * ball(Fraction(1, 2**200))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("sizes", SIZES)
def test_curvature_is_what_it_says(sizes, rate):
    # The result is not only a bound: it is the mean in the docstring, up to rounding.
    T, q = sizes[:2]
    y, _ = factors(*sizes)
    for start, C in CELLS:
        given = shares(sizes, C)
        curvature, pi = Curvature(Effort(1e12), sizes, given, start, rate), weights_of(sizes, given)
        used, m, mu, f = pi > 0, float(curvature.middle), float(rate), np.exp(float(rate * (C - start)))
        entropy = -(pi[used] * np.log(pi[used])).sum()
        p = np.exp(-entropy + float(C) * (y - (y * pi).sum(axis=1, keepdims=True)))
        first = (p[:, :q, None] * p[:, None, :] * (y[:, None, :] - m) ** 2).sum(axis=(1, 2)).mean()
        squares = (y[:, :T, None] - y[:, None, :] + mu) ** 2
        second = (p[:, :T, None] ** 2 * p[:, None, :] * squares).sum(axis=(1, 2)).mean()
        with ctx.workprec(BITS):
            found = [float(x) for x in curvature.bounds(C)]
        assert found == pytest.approx([f * first, 4 * f**2 * second], rel=1e-11)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("sizes", SIZES)
def test_curvature_bounds_a_cell(sizes, rate):
    for start, end in CELLS:
        with ctx.workprec(BITS):
            curvature = Curvature(Effort(1e12), sizes, shares(sizes, (start + end) / 2), start, rate)
            both = [[float(x) for x in curvature.bounds(C)] for C in (start, end)]
        limits = np.max(both, axis=0)
        for C in np.linspace(float(start), float(end), 9):
            assert np.all(bends(sizes, C, float(start), float(rate)) <= limits + 1e-12)


def test_bends():
    # The test's own formulas are compared with differences.
    sizes, C, h, start, rate = (5, 3, 2, 1), 1.3, 1e-4, 1.0, 0.7
    scaled = np.array([means(sizes, C + k * h) for k in (-1, 0, 1)])
    f = np.exp(rate * (C + np.array([-h, 0, h]) - start))
    values = scaled * np.column_stack([f, f**2])
    second = (values[0] - 2 * values[1] + values[2]) / h**2
    assert np.array(bends(sizes, C, start, rate)) == pytest.approx([-second[0], second[1]], rel=1e-5)


@pytest.mark.parametrize("sizes", [s for s in SIZES if s[1] > 1])
def test_a_cell_is_refused_below_what_is_reached_in_it(sizes):
    q = sizes[1]
    search = Search(Effort(1e12), sizes)
    with ctx.workprec(BITS):
        for start, end in CELLS:
            # The means at the ends are widened by a bound of their rounding errors.
            ends = [means(sizes, float(C)) for C in (start, end)]
            ends = [(Fraction(P) + Fraction(1, 10**13), Fraction(R) - Fraction(1, 10**13)) for P, R in ends]
            gains = [P**2 / (q * R) for P, R in (means(sizes, C) for C in np.linspace(float(start), float(end), 33))]
            below, above = Fraction(max(gains)) - Fraction(1, 10**9), Fraction(max(gains)) + (end - start) ** 2 * 30
            assert not search._cell(start, end - start, *ends, below)[0]
            assert search._cell(start, end - start, *ends, above)[0]


@pytest.mark.parametrize(("K", "less"), [(Fraction(1, 3), 0), (0, Fraction(1, 5)), (Fraction(1, 3), Fraction(1, 5))])
def test_a_cell_whose_bends_are_all_used(monkeypatch, K, less):
    # P and R are parabolas with exactly these bends and equal ends, so G in the middle is the bound; less is refused.
    p, r, width, search = Fraction(1, 2), Fraction(1, 10), Fraction(1, 4), Search(Effort(1e12), (9, 3, 5, 0))
    monkeypatch.setattr(Curvature, "bounds", lambda *_: (ball(K), ball(less)))
    middle = (p + K * (width / 2) ** 2 / 2) ** 2 / (3 * (r - less * (width / 2) ** 2 / 2))
    with ctx.workprec(BITS):
        for factor, good in ((1 - Fraction(1, 10**12), False), (1 + Fraction(1, 10**12), True)):
            assert search._cell(Fraction(1), width, (p, r), (p, r), middle * factor)[0] is good


@pytest.mark.parametrize("sizes", [(4, 3, 3, 0), (4, 2, 3, 1), (5, 3, 2, 1)])
def test_attained_gains_are_not_excluded_by_the_bounds(sizes):
    q = sizes[1]
    gains = [(P**2 / (q * R), C) for C in np.linspace(0, 8, 161) for P, R in [means(sizes, C)]]
    best, C = max(gains)
    with ctx.workprec(BITS):
        search = Search(Effort(1e12), sizes)
        assert search.exceeds(Fraction(best) - Fraction(1, 10**9), Fraction(C)) is not None
        lower, upper = search.gain(Fraction(C), 11)
    assert float(lower) - 1e-12 <= best <= float(upper) + 1e-12


@pytest.mark.parametrize("atoms", [[2.0], [1.0, 3.0], [0.5, 1.0, 4.0], [1.0, 1.001, 1.002], [0.5, 1.0, 4.0, 9.0]])
def test_nodes(atoms):
    """Check that for a measure on few points the nodes are these points, and the bounds equal its mean."""
    with ctx.workprec(BITS):
        points, shares = [ball(Fraction(x)) for x in atoms], [ball(Fraction(1, k + 1)) for k in range(len(atoms))]
        moments = [sum((w * x**k for w, x in zip(shares, points, strict=True)), 0 * points[0]) for k in range(12)]
        found = _nodes(moments, len(atoms))
        assert found is not None
        assert sorted(float(x) for x in found) == pytest.approx(atoms, rel=1e-6)
        for power in (1, 2):
            exact = sum((w / x**power for w, x in zip(shares, points, strict=True)), 0 * points[0])
            assert reciprocal(moments, power) <= exact * ball(1 + Fraction(1, 2**200))
            if atoms[0] >= 1:
                assert reciprocal(moments, power, 1) >= exact * ball(1 - Fraction(1, 2**200))
            assert reciprocal(moments, power) > exact * ball(1 - Fraction(1, 10**6))


def test_bounds_hold_whatever_the_nodes():
    # The bounds hold although the nodes are not the measure's points.
    with ctx.workprec(BITS):
        points, power = [ball(Fraction(k, 7)) for k in range(8, 40, 3)], 2
        moments = [sum((x**k for x in points), 0 * points[0]) for k in range(9)]
        exact = sum((1 / x**power for x in points), 0 * points[0])
        for count in range(2, 9):
            assert reciprocal(moments[:count], power) < exact
            if count > 2:
                assert reciprocal(moments[:count], power, 1) > exact


def test_hints_are_near():
    # The values of sup G and of its maximiser C are those of the theorems' examples.
    for sizes, gain, C in (
        ((40, 3, 100, 0), 0.8974, 3.56),
        ((200, 3, 170, 1), 0.5731, 3.3),
        ((200, 3, 170, 0), 0.8924, 4.2),
    ):
        found, where = about_best(*sizes)
        assert abs(found - gain) < 0.1 * (1 - gain)
        assert abs(where - C) < 0.15 * C


def test_a_share_that_is_tiny_beside_the_query_keeps_its_digits():
    with ctx.workprec(BITS):
        at = Attention(Effort(1e12), (9, 8, 400, 1), Fraction(80))
        for moment in at.moments("A", at.tilt, 3):
            assert moment.rad() < moment * ball(Fraction(1, 2**200)) < ball(Fraction(1, 2**500))
        P, R = at.selected(5), at.squares(5)
    for less, more in (P, R):
        assert less > 0
        assert more <= less * ball(1 + Fraction(1, 2**20))
