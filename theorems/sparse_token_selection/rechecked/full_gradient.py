# C and D are the paper's letters, and no constants.
# pyright: reportConstantRedefinition=false
r"""The full gradient of attention with random encodings at V = α (I, v √κ 11ᵀ) and W = diag(0, C M), by pairings.

M is I or 11ᵀ. √κ times an encoding is a vector s of integers, σ the sum of its entries; h = αvσ, and V z = αx + h1,
x = 0 for the query's token. With p the shares, which do not depend on X, and t_j = 1/q at a selected token, else 0,

    f − STS = Σ r_j x_j + g1,   r_j = αp_j − t_j,   g = Σ p_j h_j,   ρ = Σ r_j p_j over the tokens.

The mean over X pairs each x with itself: that of Σ r_i x_i·x_j is d r_j, that of Σ p_j r x_jᵀ is ρI. With u the sum of
the selected s, left after the mean over X are, in these units,

    V:  ρ I in the token block,   g 1 (Σ p_j s_j)ᵀ in the positional one,
    W:  1 (Σ p_j (r_j (h_j − g) + αg (1 − p_j)) u)ᵀ in the (token, positional) block, over the tokens,
        Σ d p_j (α (r_j − ρ) + g (h_j − g)) s_j uᵀ in the positional one, with r = 0 at the query's token,

and the loss at v = 0 is d/2 Σ r_j². Over the encodings each is a sum of polynomials in x = e^{C/κ} over D³, D = Σ x^v
and v the logits times κ/C: those with the same D are added, and where all vanish the mean is 0 for every C.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any, NamedTuple, TypeAlias

from flint import arb, ctx

from verify.rechecker.balls import ball, high, low
from verify.rechecker.reading import Effort, Rejected

from .attention import BITS

Polynomial: TypeAlias = dict[int, Fraction]
Entries: TypeAlias = dict[tuple[int, ...], list[Polynomial]]
Interval: TypeAlias = tuple[Fraction, Fraction]
_LARGEST, _LARGEST_C, _MOST_BITS = 16, 10**4, 64
_POWER, _ENTRY, _TERM = 12, 3, 4
"""Nominal microseconds: of an exponential, of an entry of a gradient at one divisor, of one of its coefficients."""
_SIGNS, _AXES, _FIRST_PLUS = range(3)
_SET, _BESIDE, _ONES = range(3)


class Point(NamedTuple):
    """Sizes, α, C, the law of the encodings, where V and W are, and whether the query's token is attended to."""

    T: int
    q: int
    d: int
    D: int
    alpha: Fraction
    C: Fraction
    law: int
    place: int
    query: int

    @property
    def kappa(self) -> int:
        """κ."""
        return 1 if self.law == _AXES else self.D


def _point(T: Fraction, q: Fraction, d: Fraction, D: Fraction, *rest: Fraction) -> Point:
    """Return a point. Raises Rejected where there is none."""
    alpha, C, *words = rest
    if any(x.denominator != 1 for x in (T, q, d, D, *words)) or not (1 <= q <= T and d >= 1 and D >= 1):
        raise Rejected("a full gradient asks for integers 1 ≤ q ≤ T, d ≥ 1, D ≥ 1")
    law, place, query = map(int, words)
    if law not in (_SIGNS, _AXES, _FIRST_PLUS) or place not in (_SET, _BESIDE, _ONES) or query not in (0, 1):
        raise Rejected("a full gradient of a law, a place or a query that is not known here")
    if max(T, d, D) > _LARGEST or abs(C) > _LARGEST_C:
        raise Rejected(f"a full gradient with a size above {_LARGEST}, or a C above {_LARGEST_C}")
    _refuse_long(alpha, C)
    return Point(int(T), int(q), int(d), int(D), alpha, C, law, place, query)


def _refuse_long(*numbers: Fraction) -> None:
    """Raise Rejected for a number that is too long."""
    if max(x.bit_length() for part in numbers for x in (part.numerator, part.denominator)) > _MOST_BITS:
        raise Rejected(f"a full gradient with a number of more than {_MOST_BITS} bits")


def _vectors(point: Point) -> list[tuple[int, ...]]:
    """Return the possible vectors s of one token."""
    if point.law == _AXES:
        return [tuple(sign * (i == j) for j in range(point.D)) for i in range(point.D) for sign in (1, -1)]
    return [s for s in product((1, -1), repeat=point.D) if point.law == _SIGNS or s[0] == 1]


def _sum(*polynomials: Polynomial) -> Polynomial:
    total: dict[int, Fraction] = defaultdict(Fraction)
    for polynomial in polynomials:
        for exponent, coefficient in polynomial.items():
            total[exponent] += coefficient
    return total


def _product(factor: Fraction | int, *polynomials: Polynomial) -> Polynomial:
    found: Polynomial = {0: Fraction(factor)}
    for polynomial in polynomials:
        total: dict[int, Fraction] = defaultdict(Fraction)
        for one, x in found.items():
            for other, y in polynomial.items():
                total[one + other] += x * y
        found = total
    return found


class Draw(NamedTuple):
    """Shares of draws with the same logits and h: who is selected, v, h, D, and r over D, ρ over D², g over D."""

    selected: frozenset[int]
    v: tuple[int, ...]
    h: tuple[Fraction, ...]
    D: Polynomial
    r: list[Polynomial]
    rho: Polynomial
    g: Polynomial

    def p(self, j: int) -> Polynomial:
        """Return a share's numerator."""
        return {self.v[j]: Fraction(1)}


Gathered: TypeAlias = tuple[Draw, int, list[list[list[int]]], list[list[int]], list[int]]


def _draws(effort: Effort, point: Point) -> Iterator[Gathered]:
    """Yield draws with how many there are, and their sums of s_j uᵀ, of s_j and of u."""
    vectors, m, D = _vectors(point), point.T + point.query, point.D
    effort.spend(len(vectors) ** point.T * comb(point.T, point.q) * m * (4 + 0.8 * D * D))
    for y in combinations(range(point.T), point.q):
        found: dict[tuple[tuple[int, ...], tuple[int, ...]], list[tuple[tuple[int, ...], ...]]] = defaultdict(list)
        for drawn in product(vectors, repeat=point.T):
            u = tuple(sum(drawn[i][a] for i in y) for a in range(D))
            seen = (*drawn, u)[:m]
            sums = tuple(map(sum, seen))
            logits = (
                tuple(x * sum(u) for x in sums)
                if point.place == _ONES
                else tuple(sum(a * b for a, b in zip(s, u, strict=True)) for s in seen)
            )
            found[logits, sums if point.place == _BESIDE else ()].append((*seen, u))
        for (v, sums), samples in found.items():
            effort.spend(40 * m**3)
            outer = [[[sum(s[j][a] * s[-1][b] for s in samples) for b in range(D)] for a in range(D)] for j in range(m)]
            each = [[sum(s[j][a] for s in samples) for a in range(D)] for j in range(m + 1)]
            h = tuple(point.alpha * x for x in sums) or (Fraction(0),) * m
            yield _shares(point, frozenset(y), v, h), len(samples), outer, each[:-1], each[-1]


def _shares(point: Point, y: frozenset[int], v: tuple[int, ...], h: tuple[Fraction, ...]) -> Draw:
    divisor = _sum(*({x: Fraction(1)} for x in v))
    missing = Fraction(-1, point.q)
    r = [_sum({v[j]: point.alpha}, _product(missing * (j in y), divisor)) for j in range(point.T)]
    r += [{}] * point.query
    rho = _sum(*(_product(1, r[j], {v[j]: Fraction(1)}) for j in range(point.T)))
    return Draw(y, v, h, divisor, r, rho, _sum(*({x: c} for x, c in zip(v, h, strict=True))))


def _add(total: Entries, draw: Draw, polynomials: Sequence[Polynomial]) -> None:
    key = tuple(sorted(draw.v))
    before = total.get(key) or [{} for _ in polynomials]
    total[key] = [_sum(old, new) for old, new in zip(before, polynomials, strict=True)]


def _values(effort: Effort, point: Point, total: Entries) -> list[arb | Fraction]:
    """Return the means of the entries, over D³: exactly 0 where that is shown, and exact at C = 0."""
    rate, draws = point.C / point.kappa, len(_vectors(point)) ** point.T * comb(point.T, point.q)

    def of(coefficient: Fraction) -> arb | Fraction:
        return ball(coefficient) if rate else coefficient

    def power(s: int) -> arb | Fraction:
        return ball(rate * s).exp() if rate else Fraction(1)

    parts: list[list[arb | Fraction]] = [[] for _ in next(iter(total.values()))]
    for key, polynomials in total.items():
        effort.spend(sum(_ENTRY + _TERM * len(polynomial) for polynomial in polynomials))
        exponents = {s for polynomial in polynomials for s, c in polynomial.items() if c}
        if not exponents:
            continue
        effort.spend(_POWER * (len(key) + len(exponents)))
        top = max(key, key=lambda v: rate * v)
        divisor: Any = sum(power(v - top) for v in key)
        powers: dict[int, Any] = {s: power(s - 3 * top) for s in exponents}
        divisor = divisor**3
        for part, polynomial in zip(parts, polynomials, strict=True):
            if any(polynomial.values()):
                part.append(sum(of(c) * powers[s] for s, c in polynomial.items() if c) / divisor)
    return [sum(part[1:], part[0]) / draws if part else Fraction(0) for part in parts]


def _ends(value: arb | Fraction) -> Interval:
    return (value, value) if isinstance(value, Fraction) else (low(value), high(value))


def off_the_set(effort: Effort, *arguments: Fraction) -> Interval:
    """Enclose the sum of the squares of the gradient's entries, less its parts along the two identity blocks."""
    point, total = _point(*arguments), Entries()
    D, alpha, tokens = point.D, point.alpha, range(point.T)
    for draw, _, outer, each, u in _draws(effort, point):
        # Of h_j − g and r_j − ρ, times the divisor.
        away = [_sum(_product(h, draw.D), _product(-1, draw.g)) for h in draw.h]
        lag = [_sum(_product(alpha, r, draw.D), _product(-alpha, draw.rho)) for r in draw.r]
        weights = [
            _product(point.d, draw.p(j), _sum(one, _product(1, draw.g, other)))
            for j, (one, other) in enumerate(zip(lag, away, strict=True))
        ]
        longest = max(map(len, weights))
        effort.spend(_TERM * longest * (D * D * (len(weights) + 2) + 4 * D))
        block = [
            [_sum(*(_product(outer[j][a][b], weight) for j, weight in enumerate(weights))) for b in range(D)]
            for a in range(D)
        ]
        mean = _sum(*(_product(Fraction(1, D), block[a][a]) for a in range(D)))
        square = [_sum(block[a][b], _product(-(a == b), mean)) for a in range(D) for b in range(D)]
        mixed, values = Polynomial(), [Polynomial() for _ in range(D)]
        if point.place == _BESIDE:
            rest = [_sum(draw.D, _product(-1, draw.p(j))) for j in tokens]
            mixed = _sum(
                *(_product(1, draw.p(j), draw.r[j], away[j]) for j in tokens),
                *(_product(alpha, draw.p(j), draw.g, rest[j]) for j in tokens),
            )
            values = [_sum(*(_product(s[b], draw.g, draw.p(j), draw.D) for j, s in enumerate(each))) for b in range(D)]
        _add(total, draw, [*square, *(_product(x, mixed) for x in u), *values])
    with ctx.workprec(BITS):
        sizes = [Fraction(1, point.kappa**2)] * D**2 + [Fraction(point.d, point.kappa)] * (2 * D)
        return _squares(_values(effort, point, total), sizes)


def _squares(values: Sequence[arb | Fraction], weights: Sequence[Fraction]) -> Interval:
    """Enclose a weighted sum of squares."""
    exact = [value for value in values if isinstance(value, Fraction)]
    if len(exact) == len(values):
        return _ends(sum((w * v * v for w, v in zip(weights, exact, strict=True)), Fraction(0)))
    balls = [ball(value) if isinstance(value, Fraction) else value for value in values]
    return _ends(sum((ball(w) * v * v for w, v in zip(weights, balls, strict=True)), arb(0)))


def less_means(what: str, effort: Effort, *arguments: Fraction) -> Interval:
    """Enclose the loss minus a multiple of its formula in P and R, or the sum of squares for a block's diagonal.

    The squares are of the same difference at each diagonal entry of the gradient's block in V or W. In V's token block
    all diagonal entries are ρ.
    """
    *place, query, factor = arguments
    _refuse_long(factor)
    point, total = _point(*place, Fraction(_SET), query), Entries()
    alpha, q, tokens = point.alpha, point.q, range(point.T)
    for draw, count, outer, *_ in _draws(effort, point):
        D, centre = draw.D, _sum(*({x: Fraction(x)} for x in draw.v))
        slope = [_sum(_product(x, D), _product(-1, centre)) for x in draw.v]
        if what == "loss":
            own = [_product(Fraction(count * point.d, 2), D, _sum(*(_product(1, r, r) for r in draw.r)))]
            squares = _product(alpha**2, D, _sum(*(_product(1, draw.p(j), draw.p(j)) for j in tokens)))
            chosen = _product(-2 * alpha / q, D, D, _sum(*(draw.p(j) for j in draw.selected)))
            formula = _sum(squares, chosen, _product(Fraction(1, q), D, D, D))
        elif what == "V":
            own = [_product(count, draw.rho, D)] * point.d
            squares = _product(alpha, D, _sum(*(_product(1, draw.p(j), draw.p(j)) for j in tokens)))
            formula = _sum(squares, _product(Fraction(-1, q), D, D, _sum(*(draw.p(j) for j in draw.selected))))
        else:
            lag = [_sum(_product(1, r, D), _product(-1, draw.rho)) for r in draw.r]
            scale = alpha * point.d / point.kappa
            own = [
                _sum(*(_product(scale * block[a][a], draw.p(j), lag[j]) for j, block in enumerate(outer)))
                for a in range(point.D)
            ]
            squares = _sum(*(_product(2 * alpha**2, draw.p(j), draw.p(j), slope[j]) for j in tokens))
            chosen = _sum(*(_product(-2 * alpha / q, draw.p(j), slope[j], D) for j in draw.selected))
            formula = _product(Fraction(1, point.kappa), _sum(squares, chosen))
        _add(total, draw, [_sum(one, _product(-factor * count, formula)) for one in own])
    with ctx.workprec(BITS):
        values = _values(effort, point, total)
        return _ends(values[0]) if what == "loss" else _squares(values, [Fraction(1)] * len(values))
