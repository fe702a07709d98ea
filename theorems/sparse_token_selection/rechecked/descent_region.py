# C and D are the paper's letters, P, R and G too, and no constants.
# pyright: reportConstantRedefinition=false
r"""Where gradient descent for three selected tokens goes: curvature, fall and the one turn of the gain, enclosed.

S of `three_selected` is a sum of E A e^{−xN} with positive factors. For |Im C| ≤ θ/Y, 2Y the most by which the v of a
kept sample differ, Re N ≥ cos θ N(Re C), so that |S(C)| ≤ P(Re C)/cos θ for P, and R(Re C)/cos² θ for R. On an
ellipse with foci c ± ℓ and half axes ℓ(ρ ± 1/ρ)/2 where it is at most M, its interpolant at n + 1 Chebyshev nodes is
off by 4M Σ_{k>n} ρ^{−k} at most, and two slopes with factors k² and k²(k² − 1)/3 more, over ℓ and ℓ².
P and R grow by e^{wr} and e^{2wr} at most on a way r, w = 2Y.

On [0, reach], with G = P²/(3R) and α = (1 + z) P/(3R), L = d/6 (1 − G + G z²) is at most L(0) where |z| ≤ 1. The
Hessian in (√d α, √D C) has the entries

    R,    √(d/D) (αR' − P'/3),    d/(2D) α (αR'' − 2P''/3),

and 6√D/d |∇L| is √(4D/d P²z² + (1 + z)² (G' − zGR'/R)²). Where G' = 0 and z = 0 the determinant
is −d/(6D) R G (log G)''.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from flint import arb, arb_poly, ctx, fmpz_poly

from verify.rechecker.balls import ball, high, low
from verify.rechecker.reading import Effort, Rejected
from verify.rechecker.registry import Enclosure

from .attention_gain import gain_from
from .three_selected import BITS, Model, Pair, Rest, most_alike, numerators, rest, sums

_DEGREE, _POINTS, _SHARES = 16, 80, 100
_HALF = (Fraction(19, 10), Fraction(9, 5))
"""At most half the length of a cell, times 2Y, without and with the query's token."""
_PLACES = [Fraction(j * abs(j), _SHARES**2) for j in range(-_SHARES, _SHARES + 1)]
"""Ends of cells of z, finer near 0, where the least value is."""
_ROOM, _SPENT = Fraction(1, 10), 400
_AROUND = arb(0, 1)
_MOST_TOKENS, _MOST_DIMENSIONS, _FURTHEST = 10**4, 400, 16


class Curves(NamedTuple):
    """P and R with two slopes each."""

    P: list[arb]
    R: list[arb]

    def gain(self) -> arb:
        """Return G."""
        return self.P[0] ** 2 / (3 * self.R[0])

    def slope(self) -> arb:
        """Return (log G)'."""
        return 2 * self.P[1] / self.P[0] - self.R[1] / self.R[0]

    def bend(self) -> arb:
        """Return (log G)''."""
        (P, P1, P2), (R, R1, R2) = self
        return 2 * (P2 / P - (P1 / P) ** 2) - (R2 / R - (R1 / R) ** 2)


class Piece(NamedTuple):
    """The curves on an interval of C, from start to stop, and in its middle."""

    start: Fraction
    stop: Fraction
    everywhere: Curves
    middle: Curves

    def gain(self) -> arb:
        """Return G on the interval."""
        return self.middle.gain() + self._way() * self.everywhere.gain() * self.everywhere.slope()

    def slope(self) -> arb:
        """Return (log G)' on the interval."""
        return self.middle.slope() + self._way() * self.everywhere.bend()

    def _way(self) -> arb:
        return ball((self.stop - self.start) / 2) * _AROUND


class _Cell(NamedTuple):
    """Of an interval of C: its middle and half its length, both interpolants, errors of the values, and the rests."""

    middle: Fraction
    half: Fraction
    fits: list[arb_poly]
    errors: list[arb]
    rests: tuple[Rest, Rest]


def _width(model: Model) -> Fraction:
    """Return 2Y."""
    D, m = model.D, most_alike(model.D)
    return Fraction((D + 8 * m if model.query else D + 2 * m) + D + 2 * m, D)


def _cell(effort: Effort, model: Model, middle: Fraction, half: Fraction, degree: int) -> _Cell:
    n = degree + 1
    angles = [arb.pi() * (2 * i + 1) / (2 * n) for i in range(n)]
    found = [sums(effort, model, ball(middle) + ball(half) * angle.cos(), middle + half) for angle in angles]
    fits, errors = list[arb_poly](), list[arb]()
    for which in (0, 1):
        values, fit = [each[which] for each in found], arb_poly([0])
        for k in range(n):
            total = sum((value.mid() * (k * angle).cos() for value, angle in zip(values, angles, strict=True)), arb(0))
            fit += arb_poly(fmpz_poly.chebyshev_t(k)) * (total * (2 if k else 1) / n)
        fits.append(fit)
        errors.append(max((value.rad() for value in values), key=float))
    ends = [numerators(model, C) for C in (middle - half, middle + half)]
    above = ends[0][0].max(ends[1][0]), ends[0][1].max(ends[1][1])
    return _Cell(middle, half, fits, errors, rest(model, middle - half, above))


def _offs(model: Model, cell: _Cell, near: Pair, there: Pair) -> list[list[arb]]:
    """Bound by how much P, R and their slopes are off, by bounds of both along the ellipse and on the cell."""
    across = ball(Fraction(13, 5) / _width(model) / cell.half)
    rho, n = across + (1 + across**2).sqrt(), cell.fits[0].degree()
    angle, half = ball(Fraction(13, 10)).cos(), ball(cell.half)
    found: list[list[arb]] = []
    for power, along, on_cell, error, left in zip((1, 2), near, there, cell.errors, cell.rests, strict=True):
        size = 4 * along * (1 + left.relative[0]) / angle**power
        more = [on_cell * x + y + z for x, y, z in zip(*left, strict=True)]
        offs: list[arb] = []
        for i, slopes in enumerate((lambda k: 1, lambda k: k**2, lambda k: k**4 / arb(3))):
            # The terms from 4n on fall at least by half each.
            assert rho > 2
            series = sum((slopes(k) / rho**k for k in range(n + 1, 4 * n)), arb(0)) + 4 * slopes(4 * n) / rho ** (4 * n)
            values = 2 * error * sum((slopes(k) for k in range(n + 1)), arb(0))
            offs.append((size * series + values) / half**i + more[i])
        found.append(offs)
    return found


def _pieces(cell: _Cell, offs: list[list[arb]]) -> Iterator[Piece]:
    """Yield the pieces of a cell."""
    wide = 1 / arb(_POINTS)
    slopes = [[fit] for fit in cell.fits]
    for each in slopes:
        while len(each) < 5:
            each.append(each[-1].derivative())
    # On |t| ≤ 1 the fourth slope is at most the sum of its coefficients' sizes.
    fourth = [sum((abs(x).upper() for x in each[4].coeffs()), arb(0)) for each in slopes]
    for j in range(_POINTS):
        t = Fraction(2 * j + 1 - _POINTS, _POINTS)
        middle, everywhere = list[list[arb]](), list[list[arb]]()
        for each, most, off in zip(slopes, fourth, offs, strict=True):
            values = [fit(ball(t)) for fit in each[:4]]
            size, there = abs(values[3]).upper() + wide * most, list[arb]()
            for i in (2, 1, 0):
                there.insert(0, values[i] + wide * size * _AROUND)
                size = abs(there[0]).upper()
            scales = [1 / ball(cell.half) ** i for i in range(3)]
            middle.append([values[i] * scales[i] + off[i] * _AROUND for i in range(3)])
            everywhere.append([there[i] * scales[i] + off[i] * _AROUND for i in range(3)])
        start, stop = (cell.middle + cell.half * (t + e * Fraction(1, _POINTS)) for e in (-1, 1))
        yield Piece(start, stop, Curves(*everywhere), Curves(*middle))


def _grown(model: Model, cell: _Cell) -> Pair:
    """Return bounds of P and R along the ellipse, from the middle of the cell, at which there is a node."""
    width = ball(_width(model))
    far = (ball(cell.half) ** 2 + (ball(Fraction(13, 5)) / width) ** 2).sqrt()
    found: list[arb] = []
    for power, fit, left in zip((1, 2), cell.fits, cell.rests, strict=True):
        kept = (fit(0) + left.beside[0]) / (1 - left.relative[0])
        found.append((kept * (power * width * far).exp() + left.not_kept[0]).upper().min(arb(1)))
    return found[0], found[1]


def _curves(effort: Effort, model: Model, reach: Fraction) -> list[Piece]:
    """Return P and R with their slopes on the pieces of [0, reach]."""
    count = ceil(reach * _width(model) / (2 * _HALF[model.query]))
    half = reach / count / 2
    cells = [_cell(effort, model, half * (2 * i + 1), half, _DEGREE) for i in range(count)]
    rough = [_grown(model, cell) for cell in cells]
    first = [list(_pieces(cell, _offs(model, cell, most, most))) for cell, most in zip(cells, rough, strict=True)]
    above = [_above(pieces) for pieces in first]
    inner = ball(half) ** 2 + (ball(Fraction(13, 5)) / ball(_width(model))) ** 2 < (3 * ball(half)) ** 2
    found: list[Piece] = []
    for i, cell in enumerate(cells):
        near = above[max(0, i - 1) : i + 2]
        along = rough[i] if len(near) < 3 or not inner else _above_all(near)
        found.extend(_pieces(cell, _offs(model, cell, along, above[i])))
    effort.spend(count * _POINTS * _SPENT)
    return found


def _above_all(bounds: list[Pair]) -> Pair:
    return max((P for P, _ in bounds), key=float), max((R for _, R in bounds), key=float)


def _above(pieces: list[Piece]) -> Pair:
    return _above_all([(piece.everywhere.P[0].upper(), piece.everywhere.R[0].upper()) for piece in pieces])


_known: dict[tuple[Model, Fraction], list[Piece]] = {}
_turns: dict[tuple[Model, Fraction], list[Piece]] = {}


def _pieces_of(effort: Effort, model: Model, reach: Fraction) -> list[Piece]:
    """Return the pieces of [0, reach], from the last call where that was the same."""
    if (model, reach) not in _known:
        found = _curves(effort, model, reach)
        _known.clear()
        _known[model, reach] = found
    return _known[model, reach]


def _model(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Model:
    if any(x.denominator != 1 for x in (T, D, query)) or T < 4 or D < 1 or query not in (0, 1):
        raise Rejected("descent of three selected tokens asks for integers T ≥ 4, d_e ≥ 1 and a query that is 0 or 1")
    if T > _MOST_TOKENS or D > _MOST_DIMENSIONS or not 0 < reach <= _FURTHEST:
        raise Rejected(f"descent with T above {_MOST_TOKENS}, d_e above {_MOST_DIMENSIONS} or C above {_FURTHEST}")
    return Model(int(T), int(D), int(query))


def _size(value: arb) -> arb:
    return abs(value).upper()


def largest_curvature(
    effort: Effort, T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction
) -> Enclosure:
    """Enclose the largest absolute eigenvalue of the Hessian where |z| ≤ 1 and 0 ≤ C ≤ reach."""
    model, ratio = _model(T, D, query, reach), d / D
    with ctx.workprec(BITS):
        lower, upper = arb(0), arb(0)
        for piece in _pieces_of(effort, model, reach):
            (P, P1, P2), (R, R1, R2) = piece.everywhere
            best = P / (3 * R)
            # Both are linear in α, which is from 0 to twice the best one.
            mixed = _size(P1 / 3).max(_size(2 * best * R1 - P1 / 3)) * ball(ratio).sqrt()
            bend = _size(2 * P2 / 3).max(_size(2 * best * R2 - 2 * P2 / 3)) * best * ball(ratio)
            most = (R + bend) / 2 + (((R - bend) / 2) ** 2 + mixed**2).sqrt()
            lower, upper = max(lower, R.lower(), key=float), max(upper, most.upper(), key=float)
        return low(lower), high(upper)


def least_fall(effort: Effort, T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose ∫ min √(4D/d P²z² + (1 + z)² (G' − zGR'/R)²) over 0 ≤ C ≤ reach, the least over |z| ≤ 1."""
    model = _model(T, D, query, reach)
    with ctx.workprec(BITS):
        lower, upper, root = arb(0), arb(0), 2 * ball(D / d).sqrt()
        for piece in _pieces_of(effort, model, reach):
            gain, there = piece.gain(), piece.everywhere
            slope, tilt, across = gain * piece.slope(), gain * there.R[1] / there.R[0], root * there.P[0]
            least, most = _least(slope, tilt, across)
            wide = ball(piece.stop - piece.start)
            lower, upper = lower + wide * least, upper + wide * most
        effort.spend(len(_known[model, reach]) * _SHARES * 12)
        return low(lower), high(upper)


def _least(slope: arb, tilt: arb, across: arb) -> tuple[arb, arb]:
    """Bound the least of a²z² + (1 + z)² (s − zt)² over |z| ≤ 1, and return the roots of the bounds."""
    least, most = arb("inf"), arb("inf")
    for first, last in pairwise(_PLACES):
        z, cell = ball(last), ball((first + last) / 2) + ball((last - first) / 2) * _AROUND
        value = (across * abs(cell).lower()) ** 2 + ((1 + cell) * abs(slope - cell * tilt).lower()).lower() ** 2
        at = (across * z) ** 2 + ((1 + z) * (slope - z * tilt)) ** 2
        least, most = min(least, value.lower(), key=float), min(most, at.upper(), key=float)
    return max(least, arb(0), key=float).sqrt().lower(), most.sqrt().upper()


def _turn(effort: Effort, model: Model, reach: Fraction) -> list[Piece]:
    """Return what `_search` returns, from the last call where that was the same."""
    if (model, reach) not in _turns:
        found = _search(effort, model, reach)
        _turns.clear()
        _turns[model, reach] = found
    return _turns[model, reach]


def _search(effort: Effort, model: Model, reach: Fraction) -> list[Piece]:
    """Return the pieces that may hold the one zero of G' on [0, reach]; none where G' > 0 throughout.

    Raises Rejected where that was not shown.
    """
    pieces = _pieces_of(effort, model, reach)
    slopes = [piece.slope() for piece in pieces]
    if all(slope > 0 for slope in slopes):
        return []
    undecided = [i for i, slope in enumerate(slopes) if not (slope > 0 or slope < 0)]
    if not undecided or not 0 < undecided[0] <= undecided[-1] < len(pieces) - 1:
        raise Rejected("the gain is not shown to rise and then to fall")
    first, last = undecided[0], undecided[-1]
    if not (all(slope > 0 for slope in slopes[:first]) and all(slope < 0 for slope in slopes[last + 1 :])):
        raise Rejected("the gain is not shown to rise and then to fall")
    start, stop = pieces[first].start, pieces[last].stop
    room = max(Fraction(0), _ROOM - (stop - start) / 2)
    start, stop = max(Fraction(0), start - room), min(reach, stop + room)
    cell = _cell(effort, model, (start + stop) / 2, (stop - start) / 2, _DEGREE)
    most = _grown(model, cell)
    above = _above(list(_pieces(cell, _offs(model, cell, most, most))))
    near = list(_pieces(cell, _offs(model, cell, most, above)))
    if not all(piece.everywhere.bend() < 0 for piece in near):
        raise Rejected("the gain is not shown to turn once")
    return [piece for piece in near if not (piece.slope() > 0 or piece.slope() < 0)]


def turning_points(effort: Effort, T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Fraction:
    """Return how many zeros G' has on [0, reach], where that is 0 or 1."""
    model = _model(T, D, query, reach)
    with ctx.workprec(BITS):
        return Fraction(len(_turn(effort, model, reach)) > 0)


def _turned(effort: Effort, sizes: tuple[Fraction, Fraction, Fraction, Fraction]) -> list[Piece]:
    if not (found := _turn(effort, _model(*sizes), sizes[3])):
        raise Rejected("the gain rises up to there")
    return found


def turning_point(effort: Effort, T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose the one zero of G' on [0, reach]."""
    with ctx.workprec(BITS):
        found = _turned(effort, (T, D, query, reach))
        return found[0].start, found[-1].stop


def turning_gain(effort: Effort, T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose G there."""
    with ctx.workprec(BITS):
        gains = [piece.gain() for piece in _turned(effort, (T, D, query, reach))]
        return min(map(low, gains)), max(map(high, gains))


def least_curvature(
    effort: Effort, T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction
) -> Enclosure:
    """Enclose the least eigenvalue of the Hessian there, at z = 0: between determinant/trace and twice that."""
    with ctx.workprec(BITS):
        lower, upper = list[Fraction](), list[Fraction]()
        for piece in _turned(effort, (T, D, query, reach)):
            there = piece.everywhere
            unit, gain, bend = ball(d / D) / 6, there.gain(), there.bend()
            # There R'/R = 2P'/P.
            corner = unit * gain * (2 * (there.P[1] / there.P[0]) ** 2 - bend)
            quotient = -unit * there.R[0] * gain * bend / (there.R[0] + corner)
            lower.append(low(quotient))
            upper.append(2 * high(quotient))
        return min(lower), max(upper)


def rise(effort: Effort, T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose the largest C ≤ reach up to which P and P/R do not fall."""
    model, first = _model(T, D, query, reach), reach
    with ctx.workprec(BITS):
        for piece in reversed(_pieces_of(effort, model, reach)):
            (P, P1, _), (R, R1, _) = piece.everywhere
            if not (P1 > 0 and P1 / P > R1 / R):
                first = piece.start
        for piece in _pieces_of(effort, model, reach):
            (P, P1, _), (R, R1, _) = piece.everywhere
            if P1 < 0 or P1 / P < R1 / R:
                return first, piece.stop
    return first, reach


def gain_at(effort: Effort, T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose G at C = reach."""
    with ctx.workprec(BITS):
        gain = _pieces_of(effort, _model(T, D, query, reach), reach)[-1].gain()
        return low(gain), high(gain)


def largest_gain_from(effort: Effort, T: Fraction, D: Fraction, query: Fraction, C: Fraction) -> Enclosure:
    """Enclose sup G over all C from a positive one on."""
    model = _model(T, D, query, C)
    return gain_from(effort, (model.T, 3, model.D, model.query), C)
