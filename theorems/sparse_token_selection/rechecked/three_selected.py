# C and D are the paper's letters, P and R too, and no constants.
# pyright: reportConstantRedefinition=false
r"""Sums near P and R at one C ≥ 0 for three selected tokens, in balls, and bounds of what they leave out.

In a coordinate the three selected signs are alike with probability 1/4, m times of D; else one of them differs. With
n = D − m, D v_i = 3m + n − 2n_i for the selected tokens, where the probability of (n_1, n_2, n_3) is ∏ w(n_i)/W, w and
W Poisson's of mean n/3 at n_i and of mean n at n; D|u|² = 9m + n; the others' v are independent. With A the sum of
e^{rC(v_i − v_0)} over the tokens that are asked for and N that of e^{C(v − v_0)} over all,

    E A/N^r = S + rest,    S = h Σ_k x_k^r E A e^{−x_k N},    x_k = 2^{3k/4}, k from a first to a last,

and the mean of e^{−xN} is, for given m, a product of powers and a coefficient of a cube. The rest and two slopes of it:
by Poisson's summation Σ over all k is E A N^{−r} and terms Γ(r + iω) E A N^{−r−iω}, ω a multiple of 2π/h; in these a
slope brings a factor of at most (r + |r + iω|) Y, Y the most that |v − v_0| is. Below the first x, e^{−xN} ≤ 1 and
xN e^{−xN} ≤ 1. Above the last x, which is the same up to some C, xN ≥ 32 for all m that are kept, and a slope brings
(r + xN) Y. And m and n_i that are not kept have Σ p_i ≤ 1, or with the query's token p_i ≤ e^{C(v_i − |u|²)} ≤
e^{−6mC/D}.
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, exp, floor, log, sqrt
from typing import NamedTuple

from flint import arb, arb_mat, arb_poly, ctx

from verify.rechecker.balls import ball
from verify.rechecker.reading import Effort

BITS = 96
_DEVIATIONS, _FIRST, _AMPLE = 5.2, -27, 32
"""How far m and n_i go; k of the least x; N times the largest x."""
_BELOW = 7.0
"""How far m goes below its mean with the query's token, whose small m have the larger attention."""
_TINY = arb(2) ** -130
"""Below it the others' part of the mean of e^{−xN} is left out."""
_ROW, _ENTRY = 40, 1.0
"""Nominal microseconds of a product of three polynomials, and of an entry of the table."""
Pair = tuple[arb, arb]


class Model(NamedTuple):
    """T tokens, dimension D, and 1 where the query's token is attended to, else 0."""

    T: int
    D: int
    query: int


class _Part(NamedTuple):
    m: int
    chance: arb
    first: int
    weights: list[arb]
    ways: arb


class _Kept(NamedTuple):
    """The kept laws: by m, those of the others' v as columns, and a bound of the probability that an n_i is not."""

    parts: list[_Part]
    laws: arb_mat
    missed: arb


def _range(mean: float, deviation: float, most: int, below: float = _DEVIATIONS) -> tuple[int, int]:
    return max(0, floor(mean - below * deviation)), min(most, ceil(mean + _DEVIATIONS * deviation))


def _law(m: int, n: int) -> list[arb]:
    """Return the probabilities of D v = −3D … 3D by twos, for the others."""
    threes = [arb(0)] * (3 * m + 1)
    threes[::3] = [arb(comb(m, i)) / 2**m for i in range(m + 1)]
    law = (arb_poly(threes) * arb_poly([arb(comb(n, i)) / 2**n for i in range(n + 1)])).coeffs()
    return [arb(0)] * n + law + [arb(0)] * n


@lru_cache(maxsize=4)
def _kept(D: int, query: int) -> _Kept:
    with ctx.workprec(BITS):
        low, high = _range(D / 4, sqrt(3 * D / 16), D, _BELOW if query else _DEVIATIONS)
        parts, laws, missed = list[_Part](), list[list[arb]](), arb(0)
        for m in range(low, high + 1):
            n = D - m
            first, last = _range(n / 3, sqrt(2 * n / 9), n)
            inside = sum(comb(n, i) * 2 ** (n - i) for i in range(first, last + 1))
            missed = missed.max(3 * ball(1 - Fraction(inside, 3**n)))
            each = [(-ball(Fraction(n, 3))).exp()]
            for i in range(1, last + 1):
                each.append(each[-1] * n / (3 * i))
            ways = arb(n) ** n * arb(-n).exp() / arb(n).fac() if n else arb(1)
            parts.append(_Part(m, ball(chance(D, m)), first, each[first:], ways))
            laws.append(_law(m, n))
        return _Kept(parts, arb_mat(laws).transpose(), missed)


def chance(D: int, m: int) -> Fraction:
    """Return the probability that m coordinates have the selected signs alike."""
    return Fraction(comb(D, m) * 3 ** (D - m), 4**D)


def most_alike(D: int) -> int:
    """Return the largest m that is kept."""
    return _kept(D, 0).parts[-1].m


def _left_out(model: Model, C: Fraction, power: int) -> arb:
    """Return a bound of what P (power 1) or R (power 2) has beyond the m and n_i that are kept, at C and beyond."""
    T, D, query = model
    kept, total = _kept(D, query), arb(0)
    for m in range(D + 1):
        share = kept.missed if kept.parts[0].m <= m <= kept.parts[-1].m else arb(1)
        size = (T * ball(-6 * power * C * m / D).exp()).min(arb(1)) if query else arb(1)
        total += share * ball(chance(D, m)) * size
    return total


class Rest(NamedTuple):
    """Of P or R and two slopes: what S is off by, relative to E A/N^r and beside that, and what is not kept."""

    relative: list[arb]
    beside: list[arb]
    not_kept: list[arb]


class _Table(NamedTuple):
    """For D v = −3D … 3D by twos: e^{C(v − 1)}; e^{C(v_0 − 1)}; x; for each x e^{−x e^{C(v − v_0)}} and its product.

    v_0 is 1, or 3 with the query's token. The products are with the laws, plain and times e^{2C(v − 1)}.
    """

    sizes: list[arb]
    scale: arb
    x: list[arb]
    rows: list[list[arb]]
    others: arb_mat
    squares: arb_mat


def _xs(model: Model, C: Fraction) -> list[arb]:
    kept = _kept(model.D, model.query).parts[0]
    own = float(Fraction(8 * kept.m + model.D, model.D))
    least = exp(float(C) * (own - 3)) if model.query else 3 * exp(float(C) * (own / 3 - 1))
    # With a little room for rounding.
    last = ceil(4 / 3 * log(_AMPLE / (0.999 * least)) / log(2))
    root = arb(8).root(4)
    return [root**k if k >= 0 else 1 / root**-k for k in range(_FIRST, last + 1)]


def _table(effort: Effort, model: Model, C: arb, furthest: Fraction) -> _Table:
    _, D, query = model
    sizes = [(C * (y - D) / D).exp() for y in range(-3 * D, 3 * D + 1, 2)]
    scale, x, laws = (2 * C * query).exp(), _xs(model, furthest), _kept(D, query).laws
    effort.spend(len(x) * len(sizes) * (_ENTRY + 0.05 * laws.ncols()))
    shifted = [size / scale for size in sizes]
    rows = [[(-each * size).exp() for size in shifted] for each in x]
    doubled = arb_mat([[row[i] * size * size for i, size in enumerate(sizes)] for row in rows])
    return _Table(sizes, scale, x, rows, arb_mat(rows) * laws, doubled * laws)


def sums(effort: Effort, model: Model, C: arb, furthest: Fraction) -> Pair:
    """Return S for P and for R at C; each is one function up to the furthest C."""
    table = _table(effort, model, C, furthest)
    P, R = arb(0), arb(0)
    for column, part in enumerate(_kept(*model[1:]).parts):
        one, two = _given(effort, model, C, (column, part), table)
        P, R = P + part.chance * one, R + part.chance * two
    h = 3 * arb(2).log() / 4
    return h * P / table.scale, h * R / table.scale**2


def numerators(model: Model, C: Fraction) -> Pair:
    """Return bounds of E A for P and R at C, which are convex in C."""
    T, D, query = model
    P, R, shift = arb(0), arb(0), 3 if query else 1
    for part in _kept(D, query).parts:
        most = 2 * part.m + D
        each = ball(C * (Fraction(most - 2 * part.first, D) - shift)).exp()
        P += part.chance * 3 * each
        R += part.chance * (3 * each**2 + (T - 3) * ball(2 * C * (Fraction(most, D) - shift)).exp())
    return P, R


def _given(effort: Effort, model: Model, C: arb, which: tuple[int, _Part], table: _Table) -> Pair:
    """Return the sums over x of x E A e^{−xN} for P and x² E A e^{−xN} for R, for one m, times powers of the scale."""
    (T, D, query), (column, part) = model, which
    most, n, length = 2 * part.m + D, D - part.m, len(part.weights)
    top, total = (3 * D + most) // 2 - part.first, n - 3 * part.first
    each = [table.sizes[top - j] for j in range(length)]
    own = (C * (8 * part.m - 2 * D) / D).exp()
    factors, chosen = list[tuple[arb, arb, arb, arb]](), list[list[arb]]()
    for i, (x, row) in enumerate(zip(table.x, table.rows, strict=True)):
        one = table.others[i, column]
        rest = one ** (T - 4)
        if not rest < _TINY:
            factors.append((x, one, table.squares[i, column], rest * (-x * own).exp() if query else rest))
            chosen.append(_thirds([row[top - j] * w for j, w in enumerate(part.weights)], total))
    effort.spend(len(chosen) * _ROW)
    first = max(0, total - 2 * length + 2)
    scales = arb_mat([[arb(1), e, e * e] for e in each[first : first + len(chosen[0])]])
    largest = table.sizes[(3 * D + most) // 2] ** 2
    bounds = 3 * each[0], 3 * each[0] ** 2 + (T - 3) * largest
    missing = len(table.x) * _TINY * table.x[-1] ** 2 * arb(0.5, 0.5)
    P, R = missing * bounds[0], missing * bounds[1]
    thirds = arb_mat(chosen) * scales
    for i, (x, one, squares, rest) in enumerate(factors):
        P += 3 * x * thirds[i, 1] / part.ways * one * rest
        R += x * x * (3 * thirds[i, 2] * one + (T - 3) * squares * thirds[i, 0]) / part.ways * rest
    return P, R


def _thirds(f: list[arb], total: int) -> list[arb]:
    """Return, for the third index k from its least to its most, the sum of f(i) f(j) f(k) over i + j = total − k."""
    square = (arb_poly(f) * arb_poly(f)).coeffs()
    square += [arb(0)] * (2 * len(f) - 1 - len(square))
    return [square[total - k] * f[k] for k in range(max(0, total - len(square) + 1), min(len(f) - 1, total) + 1)]


def rest(model: Model, C: Fraction, above_A: Pair) -> tuple[Rest, Rest]:
    """Bound P − S, R − S and two slopes of each on an interval from C on, from bounds of E A there."""
    D, query = model.D, model.query
    h = 3 * arb(2).log() / 4
    far = ball(Fraction(D + 2 * most_alike(D), D)) + (3 if query else 1)
    wide, omega = arb(12 if query else 6), 2 * arb.pi() / h
    gamma, found = (arb.pi() * omega / (arb.pi() * omega).sinh()).sqrt() * 21 / 10, list[Rest]()
    for power, numerator in zip((1, 2), above_A, strict=True):
        turn = (power**2 + omega**2).sqrt()
        # Each further ω adds less than a hundredth of the one before, with its slopes.
        poisson = gamma * (turn if power == 2 else 1)
        below = h * (1 / arb(8).root(4) ** (-_FIRST * power)) * numerator * 3
        above = 4 * arb(_AMPLE) ** (power + 2) * arb(-_AMPLE).exp()
        missed, factors = _left_out(model, C, power), (1, power * wide, (1 if power == 1 else 6) * wide**2)
        found.append(
            Rest(
                [poisson * ((power + 1 + turn) * far) ** i + above * (2 * far) ** i for i in range(3)],
                [below * ((power + 2) * far) ** i for i in range(3)],
                [missed * factor for factor in factors],
            )
        )
    return found[0], found[1]
