# C, D, P, R and T are the paper's letters, and no constants.
# pyright: reportConstantRedefinition=false
r"""P and R over intervals of C, with two derivatives: the largest values of functions of them, enclosed.

*At a C.* Let k be the numbers of coordinates with each |s|, s the sum of a coordinate's q selected signs, u the sum of
the selected encodings. Given k, Q = e^{C|u|²} (or 0) is fixed, A = Σ_y e^{C v_i} and B, over the others, are
independent, and B is a sum of T − q independent terms e^{C v}, E e^{rCv} = ∏ cosh(rCs/D)^k. The generating function of
moments, Σ E w(X − m)^j t^j/j! for X = A + B + Q, is a product of three; and for even n, w ≥ 0 and X ≥ x₀ > 0

    0 ≤ E w/X − Σ_{j<n} (−1)^j E w(X−m)^j/m^{j+1} ≤ E w(X−m)^n/(m^n x₀),
    0 ≤ E w/X² − Σ_{j<n} (−1)^j (j+1) E w(X−m)^j/m^{j+2} ≤ E w(X−m)^n/m^n (1/x₀² + n/(m x₀)).

The k of small probability are left out: in all ε at most.

*Between.* The logits over C are in a range of length 2ρ given k: from −λ, λ = Σ|s|/D, to |u|², or to λ without the
query's token. For z = x + iτ the numbers e^{zv} are within the angle |τ|ρ of one direction, so that |N(z)| ≥ cos(τρ)
N(x) and |p_i(z)| ≤ p_i(x)/cos(τρ); and p_i grows by e^{2ρδ} at most over δ. On circles of the radius θ/ρ, with the
power j = 1 for P_k and 2 for R_k,

    |f⁽ᵐ⁾|/m! ≤ f (ρ/θ)^m e^{2jθ}/cos^j θ.

A polynomial p through values at n nodes is off by f[…, x] ω(x), ω = ∏(x − x_i), and divided differences of n + m + 1
points are at most |f⁽ⁿ⁺ᵐ⁾|/(n+m)! somewhere, also as derivatives of f[…, x], divided by m!. The parts that are left
out are at most these bounds too, with the largest ρ there is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, comb, cos, factorial, floor, pi, prod
from weakref import WeakKeyDictionary

from flint import arb, arb_poly, ctx

from verify.rechecker.balls import ball, high, low
from verify.rechecker.reading import Effort, Rejected, bits_of
from verify.rechecker.registry import Enclosure

from .attention import spread, ways
from .attention_gain import beyond

BITS = 224
_ORDERS, _CLOSE = (6, 8, 10, 12, 14, 16, 18, 20), arb(2) ** -34
_WIDTH, _NODES, _THETA = Fraction(1, 2), 20, Fraction(5, 4)
_RARE = Fraction(1, 2**52)
_MOST_TOKENS, _MOST_SELECTED, _MOST_DIMENSIONS, _MOST_COUNTS, _LARGEST_C = 10**4, 6, 2000, 2000, 16
_LONGEST = 64
_SLICES = 64
_NARROWEST, _NEAR, _NEGLIGIBLE = Fraction(1, 2**13), Fraction(1, 20), Fraction(1, 2**30)

Sizes = tuple[int, int, int, int]
Triple = tuple[arb, arb, arb]
"""A function and two derivatives over an interval."""


@dataclass(frozen=True)
class Coordinates:
    """Numbers of coordinates by |s| in descending order, their probability, |u|² and λ."""

    numbers: tuple[int, ...]
    weight: Fraction
    square: Fraction
    length: Fraction


def _sums(q: int) -> range:
    return range(q, -1, -2)


@lru_cache(maxsize=8)
def _coordinates(q: int, D: int) -> tuple[list[Coordinates], Fraction]:
    """Return the numbers that are gone through, and the probability of the others."""
    chance = [Fraction(comb(q, (q - s) // 2) * (2 if s else 1), 2**q) for s in _sums(q)]
    every: list[tuple[int, ...]] = [()]
    for i in range(len(chance)):
        left = i == len(chance) - 1
        every = [(*some, more) for some in every for more in ([D - sum(some)] if left else range(D - sum(some) + 1))]
    found = []
    for numbers in every:
        weight = factorial(D) * prod(c**k / factorial(k) for c, k in zip(chance, numbers, strict=True))
        square, length = (Fraction(sum(k * s**p for k, s in zip(numbers, _sums(q), strict=True)), D) for p in (2, 1))
        found.append(Coordinates(numbers, Fraction(weight), square, length))
    found.sort(key=lambda each: -each.weight)
    rest = Fraction(0)
    while len(found) > 1 and rest + found[-1].weight <= _RARE:
        rest += found.pop().weight
    return found, rest


class _Values:
    """The means at one C."""

    def __init__(self, sizes: Sizes, C: Fraction, orders: int) -> None:
        self.T, self.q, self.D, self.query = sizes
        self.coordinates = _coordinates(self.q, self.D)[0]
        numbers = zip(*(each.numbers for each in self.coordinates), strict=True)
        self.ends = [(min(column), max(column)) for column in numbers]
        self.C, self.orders = C, orders
        self.unit = ball(C / self.D)
        self._exp = {x: (self.unit * x).exp() for x in range(-self.q * (orders + 2), self.q * (orders + 2) + 1)}
        # By order and partition on the selected: the number over the order's factorial, Σ λ(λ − 1), and the means.
        self.selected = [
            [
                (ball(Fraction(ways(parts, self.q), factorial(j))), sum(p * (p - 1) for p in parts), self._means(parts))
                for parts in spread(j, self.q)
            ]
            for j in range(orders + 3)
        ]
        self.others = [
            self._powers([(self._exp[r * s] + self._exp[-r * s]) / 2 for s in _sums(self.q)]) for r in range(orders + 3)
        ]

    def _powers(self, means: list[arb]) -> list[list[arb]]:
        """Return the powers of numbers whose exponents occur, by these, and 0 for the others."""
        found = []
        for row, x in enumerate(means):
            least, most = self.ends[row]
            powers = [arb(0)] * least + [x**least]
            while len(powers) <= most:
                powers.append(powers[-1] * x)
            found.append(powers)
        return found

    def _means(self, parts: tuple[int, ...]) -> list[list[arb]]:
        """Return the mean of e^{C s Σ λ_i ε_i/D} over the signs with each sum s ≥ 0, in its powers."""
        totals: list[arb] = []
        states = {(0, 0): 1}
        for part in (*parts, *(0 for _ in range(self.q - len(parts)))):
            grown: dict[tuple[int, int], int] = {}
            for (s, along), count in states.items():
                for sign in (1, -1):
                    key = s + sign, along + sign * part
                    grown[key] = grown.get(key, 0) + count
            states = grown
        for s in _sums(self.q):
            here = [(along, count) for (total, along), count in states.items() if total == s]
            total = sum((count * self._exp[s * along] for along, count in here), arb(0))
            totals.append(total / sum(count for _, count in here))
        return self._powers(totals)

    def given(self, each: Coordinates) -> tuple[arb, arb]:
        """Return P and R given the numbers of coordinates."""
        T, q, n = self.T, self.q, self.orders
        sums, squares = [], []
        for row in self.selected:
            total = square = arb(0)
            for number, pairs, means in row:
                mean = number * self._mean(means, each)
                total += mean
                square += pairs * mean
            sums.append(total)
            squares.append(square)
        selected, twice = [(j + 1) * sums[j + 1] for j in range(n + 1)], squares[2 : n + 3]
        own = ball(self.C * each.square).exp() if self.query else arb(0)
        middle, variance = sums[1] + own, 2 * sums[2] - sums[1] ** 2
        if T > q:
            moments = [self._mean(means, each) for means in self.others]
            one = [x / factorial(r) for r, x in enumerate(moments[: n + 1])]
            fewer = _power(one, T - q - 1)
            other_squares = _times(fewer, [(T - q) * x / factorial(r) for r, x in enumerate(moments[2 : n + 3])])
            others = _times(fewer, one)
            middle += (T - q) * moments[1]
            variance += (T - q) * (moments[2] - moments[1] ** 2)
            twice = [x + y for x, y in zip(_times(twice, others), _times(sums[: n + 1], other_squares), strict=True)]
            selected = _times(selected, others)
        # Any number above 0 will do: X is skewed, and a high power is smallest about a larger one than the mean.
        middle = (middle + n * abs(variance.mid()).sqrt() / 10).mid()
        if not middle > 0:
            raise Rejected("attention whose means are not enclosed")
        shift = [(own - middle) ** j / factorial(j) for j in range(n + 1)]
        share, square = ([factorial(j) * x for j, x in enumerate(_times(about, shift))] for about in (selected, twice))
        least = own + q * ball(self.C * each.square / q).exp() + (T - q) * ball(-self.C * each.length).exp()
        over = [(-1 / middle) ** j for j in range(n + 1)]
        first = sum((x * y for x, y in zip(share[:n], over[:n], strict=True)), arb(0)) / middle
        second = sum(((j + 1) * square[j] * over[j] for j in range(n)), arb(0)) / middle**2
        more = share[n] * over[n] / least
        both = square[n] * over[n] * (1 / least**2 + n / (middle * least))
        return first + arb(0).union(more), second + arb(0).union(both)

    def _mean(self, powers: list[list[arb]], each: Coordinates) -> arb:
        return prod((row[k] for row, k in zip(powers, each.numbers, strict=True)), start=arb(1))


def _times(one: list[arb], other: list[arb]) -> list[arb]:
    """Return the first coefficients of a product."""
    product = arb_poly(one) * arb_poly(other)
    return [product[j] for j in range(len(one))]


def _power(series: list[arb], n: int) -> list[arb]:
    """Return the first coefficients of a power, by Miller's recurrence; the first coefficient is not 0."""
    found = [series[0] ** n]
    for k in range(1, len(series)):
        total = sum(((n * i - (k - i)) * series[i] * found[k - i] for i in range(1, k + 1)), arb(0))
        found.append(total / (k * series[0]))
    return found


@dataclass(frozen=True)
class _Curve:
    """A function between two C: a polynomial in C less the middle through values, and bounds of what it is off by.

    |f⁽ᵐ⁾|/m! for m = n, n + 1, n + 2, and the errors of the polynomial and two derivatives by those of the values.
    """

    polynomial: arb_poly
    bounds: Triple
    errors: Triple


def _over(curves: tuple[_Curve, ...], start: arb, half: arb) -> tuple[Triple, ...]:
    """Return functions over an interval, by its middle less the piece's and half of its length."""
    x = arb(0, half.upper())
    w = _derivatives(_nodes()[1], start, x)
    found = []
    for curve in curves:
        # f[…, x] and its derivatives.
        off = [factorial(m) * arb(0, bound.upper()) for m, bound in enumerate(curve.bounds)]
        remainder = off[0] * w[0], off[1] * w[0] + off[0] * w[1], off[2] * w[0] + 2 * off[1] * w[1] + off[0] * w[2]
        parts = zip(_derivatives(curve.polynomial, start, x), remainder, curve.errors, strict=True)
        value, slope, bend = (p + r + arb(0, error.upper()) for p, r, error in parts)
        found.append((value, slope, bend))
    return (*found,)


def _derivatives(polynomial: arb_poly, start: arb, x: arb) -> list[arb]:
    """Return a polynomial and two derivatives at start + x."""
    moved, found = polynomial(arb_poly([start, 1])), []
    for _ in range(3):
        found.append(moved(x))
        moved = moved.derivative()
    return found


@lru_cache(maxsize=1)
def _nodes() -> tuple[list[Fraction], arb_poly, arb]:
    """Return the nodes about the middle, near the zeros of Chebyshev's polynomial; ω; and a Lebesgue constant.

    By the latter, times their errors, the polynomial through some values is off where these are: the sum of the largest
    sizes of the polynomials that are 1 at a node and 0 at the others.
    """
    n = _NODES
    nodes = [_WIDTH / 2 * Fraction(round(2**40 * cos(pi * (2 * k + 1) / (2 * n))), 2**40) for k in range(n)]
    total = arb(0)
    omega = prod((arb_poly([ball(-node), 1]) for node in nodes), start=arb_poly([1]))
    for i, node in enumerate(nodes):
        others = [other for j, other in enumerate(nodes) if j != i]
        polynomial = prod((arb_poly([ball(-other), 1]) for other in others), start=arb_poly([1]))
        scale, most = ball(prod(node - other for other in others)), arb(0)
        for k in range(_SLICES):
            at = ball(_WIDTH * Fraction(2 * k + 1, 2 * _SLICES) - _WIDTH / 2)
            size = abs(polynomial(arb_poly([at, 1]))(arb(0, ball(_WIDTH / (2 * _SLICES)).upper())) / scale)
            most = most.max(size.upper())
        total += most
    return nodes, omega, total


_MADE: "WeakKeyDictionary[Effort, dict[tuple[Sizes, int], tuple[_Curve, _Curve]]]" = WeakKeyDictionary()
"""The pieces that were made for a file, which has paid for them."""


def _cost(sizes: Sizes, counts: int, orders: int) -> float:
    """Return the nominal microseconds of the means at one C."""
    q = sizes[1]
    rows = sum(len(spread(j, q)) for j in range(orders + 3))
    return 2000 + counts * (300 + 50 * orders + 1.3 * rows * (2 + q // 2))


def _curves(effort: Effort, sizes: Sizes, number: int) -> tuple[_Curve, _Curve]:
    """Return P and R from number/2 to (number + 1)/2."""
    made = _MADE.setdefault(effort, {})
    if (sizes, number) not in made:
        made[sizes, number] = _new_curves(effort, sizes, number)
    return made[sizes, number]


def _new_curves(effort: Effort, sizes: Sizes, number: int) -> tuple[_Curve, _Curve]:
    _, q, D, query = sizes
    middle, n = (number + Fraction(1, 2)) * _WIDTH, _NODES
    coordinates, rare = _coordinates(q, D)
    nodes, _, lebesgue = _nodes()
    orders = _ORDERS[0]
    for orders in _ORDERS:
        effort.spend(_cost(sizes, len(coordinates), orders))
        sums = [sum(parts, arb(0)) for parts in zip(*_weighted(_Values(sizes, middle, orders)), strict=True)]
        if all(bool(x.rad() < _CLOSE * abs(x)) for x in sums):
            break
    effort.spend(n * _cost(sizes, len(coordinates), orders))
    parts = [_weighted(_Values(sizes, middle + node, orders)) for node in nodes]
    ranges = [ball((each.length + (each.square if query else each.length)) / 2) for each in coordinates]
    widest = ball(Fraction(q + (q * q if query else q), 2))
    theta = ball(_THETA)
    ends = sorted([-_WIDTH / 2, *nodes, _WIDTH / 2])
    # No point is farther than that from a node: half of the way between two, the whole way beyond the last.
    gap = ball(max(ends[1] - ends[0], ends[-1] - ends[-2], *((b - a) / 2 for a, b in pairwise(ends[1:-1]))))
    # Markov's bounds of the derivatives of a polynomial of degree n − 1 on an interval.
    steep = ball((2 / _WIDTH) * (n - 1) ** 2)
    markov = arb(1), steep, steep * ball((2 / _WIDTH) * Fraction((n - 1) ** 2 - 1, 3))
    found = []
    for j in (1, 2):
        constant = (2 * j * theta).exp() / theta.cos() ** j
        bounds = []
        for m in (n, n + 1, n + 2):
            factors = [(rho / theta) ** m * (2 * j * rho * gap).exp() for rho in ranges]
            sums = [sum((x[j - 1] * y for x, y in zip(each, factors, strict=True)), arb(0)) for each in parts]
            bounds.append(constant * _most(sums))
        at = [sum((part[j - 1] for part in each), arb(0)) for each in parts]
        wide = lebesgue * _most([value.rad() for value in at])
        errors = [
            wide * slope + ball(rare) * constant * factorial(m) * (widest / theta) ** m
            for m, slope in enumerate(markov)
        ]
        found.append(_Curve(_through(nodes, [value.mid() for value in at]), (*bounds,), (*errors,)))
    return found[0], found[1]


def _most(values: list[arb]) -> arb:
    most = values[0].upper()
    for value in values[1:]:
        most = most.max(value.upper())
    return most


def _weighted(values: _Values) -> list[tuple[arb, arb]]:
    found = []
    for each in values.coordinates:
        weight, (p, r) = ball(each.weight), values.given(each)
        found.append((weight * p, weight * r))
    return found


def _through(nodes: list[Fraction], values: list[arb]) -> arb_poly:
    """Return the polynomial through some values, by Newton's divided differences."""
    differences = list(values)
    for order in range(1, len(nodes)):
        for k in range(len(nodes) - 1, order - 1, -1):
            differences[k] = (differences[k] - differences[k - 1]) / ball(nodes[k] - nodes[k - order])
    found = arb_poly([differences[-1]])
    for node, difference in zip(reversed(nodes[:-1]), reversed(differences[:-1]), strict=True):
        found = found * arb_poly([ball(-node), 1]) + arb_poly([difference])
    return found


def _numbers(first: Fraction, last: Fraction) -> range:
    """Return the numbers of the pieces that an interval lies in."""
    end = max(1, ceil(last / _WIDTH))
    return range(floor(first / _WIDTH) if first < last else end - 1, end)


def _jets(sizes: Sizes, first: Fraction, last: Fraction, effort: Effort) -> tuple[Triple, Triple]:
    """Return P and R over an interval in one piece."""
    number = _numbers(first, last)[0]
    middle = (number + Fraction(1, 2)) * _WIDTH
    effort.spend(400)
    P, R = _over(_curves(effort, sizes, number), ball((first + last) / 2 - middle), ball((last - first) / 2))
    return P, R


Part = Callable[[Triple, Triple, int], arb]


def gain(P: Triple, R: Triple, q: int) -> arb:
    """Return P²/(qR)."""
    return P[0] ** 2 / (q * R[0])


def gain_slope(P: Triple, R: Triple, q: int) -> arb:
    """Return the slope of log P² − log R."""
    return 2 * P[1] / P[0] - R[1] / R[0]


def gain_bend(P: Triple, R: Triple, q: int) -> arb:
    """Return the second derivative of log P² − log R."""
    return 2 * (P[2] * P[0] - P[1] * P[1]) / (P[0] * P[0]) - (R[2] * R[0] - R[1] * R[1]) / (R[0] * R[0])


def squares_slope(P: Triple, R: Triple, q: int) -> arb:
    """Return the slope of log R."""
    return R[1] / R[0]


def logit_curvature(P: Triple, R: Triple, q: int) -> arb:
    """Return a² max(R'', 0) + 2a max(−P'', 0)/q, a = P/(qR)."""
    a = P[0] / (q * R[0])
    return a * (a * arb(0).max(R[2]) - 2 * arb(0).min(P[2]) / q)


def value_scale(P: Triple, R: Triple, q: int) -> arb:
    """Return P/(qR)."""
    return P[0] / (q * R[0])


def value_scale_fall(P: Triple, R: Triple, q: int) -> arb:
    """Return the slope of log R − log P."""
    return R[1] / R[0] - P[1] / P[0]


def squares_bend(P: Triple, R: Triple, q: int) -> arb:
    """Return max(R'', 0)/R."""
    return arb(0).max(R[2]) / R[0]


def selected_bend(P: Triple, R: Triple, q: int) -> arb:
    """Return max(−P'', 0)/(qR)."""
    return -arb(0).min(P[2]) / (q * R[0])


PARTS: dict[str, Part] = {
    "largest_gain": gain,
    "largest_gain_slope": gain_slope,
    "largest_gain_bend": gain_bend,
    "largest_squares_slope": squares_slope,
    "largest_squares_bend": squares_bend,
    "largest_selected_bend": selected_bend,
    "largest_logit_curvature": logit_curvature,
    "largest_value_scale": value_scale,
    "largest_value_scale_fall": value_scale_fall,
}
"""The functions of P and R whose largest values are enclosed, by the names of the primitives."""


def _sizes(T: Fraction, q: Fraction, D: Fraction, query: Fraction, *ends: Fraction) -> Sizes:
    """Return the sizes as ints. Raises Rejected where there is no such model, or it is too large, or an end is."""
    if any(x.denominator != 1 for x in (T, q, D, query)) or not 1 <= q <= T or D < 1 or query not in (0, 1):
        raise Rejected("attention asks for integers 1 ≤ q ≤ T, D ≥ 1, and a query that is 0 or 1")
    if T > _MOST_TOKENS or q > _MOST_SELECTED or D > _MOST_DIMENSIONS:
        raise Rejected("attention at sizes that are too large")
    if list(ends) != sorted(ends) or not 0 <= ends[0] or ends[-1] > _LARGEST_C or max(map(bits_of, ends)) > _LONGEST:
        raise Rejected(f"attention over C that are not from 0 to {_LARGEST_C}, or have more than {_LONGEST} bits")
    return int(T), int(q), int(D), int(query)


def largest(
    part: Part, effort: Effort, T: Fraction, q: Fraction, D: Fraction, first: Fraction, last: Fraction, query: Fraction
) -> Enclosure:
    """Enclose the largest value of a function of P and R on an interval."""
    sizes = _sizes(T, q, D, query, first, last)
    numbers = comb(sizes[2] + sizes[1] // 2, sizes[1] // 2)
    if numbers > 40 * _MOST_COUNTS:
        raise Rejected("attention with too many numbers of coordinates")
    effort.spend((200 + sizes[2]) * numbers)
    if len(_coordinates(sizes[1], sizes[2])[0]) > _MOST_COUNTS:
        raise Rejected("attention with too many numbers of coordinates")
    with ctx.workprec(BITS):
        edges = [number * _WIDTH for number in _numbers(first, last)]
        return _searched(lambda a, b: part(*_jets(sizes, a, b, effort), sizes[1]), first, last, edges)


def _searched(
    value: Callable[[Fraction, Fraction], arb], first: Fraction, last: Fraction, edges: list[Fraction]
) -> Enclosure:
    """Enclose the largest value: the best at middles of pieces, and the largest bound of a piece."""
    ends = sorted({first, last, *(edge for edge in edges if first < edge < last)})
    waiting = list(pairwise(ends)) or [(first, last)]
    pieces: list[tuple[Fraction, Fraction, Fraction]] = []
    best: Fraction | None = None
    while True:
        while waiting:
            a, b = waiting.pop()
            over, inside = value(a, b), value((a + b) / 2, (a + b) / 2)
            if not (over.is_finite() and inside.is_finite()):
                if b - a <= _NARROWEST:
                    raise Rejected("attention whose means are not enclosed closely enough")
                waiting += [(a, (a + b) / 2), ((a + b) / 2, b)]
                continue
            best = low(inside) if best is None else max(best, low(inside))
            pieces.append((high(over), a, b))
        upper, a, b = max(pieces)
        assert best is not None
        if upper - best <= max(_NEAR * abs(upper), _NEGLIGIBLE) or b - a <= _NARROWEST:
            return best, upper
        pieces.remove((upper, a, b))
        waiting = [(a, (a + b) / 2), ((a + b) / 2, b)]


def gain_beyond(effort: Effort, T: Fraction, q: Fraction, D: Fraction, start: Fraction, query: Fraction) -> Enclosure:
    """Enclose sup P²/(qR) over C ≥ start > 0."""
    if start == 0:
        raise Rejected("attention beyond a C that is 0")
    return beyond(effort, _sizes(T, q, D, query, start), start)
