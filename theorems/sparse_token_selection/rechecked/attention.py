r"""Softmax attention by random sign encodings: the means of its first and second powers, enclosed by moments.

T tokens have encodings e_i ∈ R^D with independent entries ±1/√D, q of them are selected, u is the selected ones' sum,
v_i = e_i·u, and the logits are C v_i, with the query token's C|u|² beside them or not. With A = Σ e^{C v_i} over the
selected tokens, B over the others, Q = e^{C|u|²} or 0, A₂ and B₂ the sums of squares, and N = A + B + Q,

    P = E A/N = 1 − E (B + Q)/N,    R = E (A₂ + B₂)/N².

*Means of monomials.* In a coordinate with signs ε_i let s = Σ ε_i over the selected tokens; v_i adds up s ε_i/D and
|u|² adds up s²/D. For exponents a_i on selected tokens, b_j on others, and h,

    E exp(Σ a_i v_i + Σ b_j v_j + h|u|²) = ( E exp(s (Σ a_i ε_i + h s)/D) ∏ cosh(b_j s/D) )^D.

*Means of products.* A^j is the sum over all ways to give j factors e^{C v} to tokens. Those by which the tokens' shares
are a partition λ of j have one mean, and there are j!/∏ λ_i! times the ways to put λ on the tokens. Of the ways to give
the n factors of N^n, the share j/n has the first on a selected token, for A N^{n−1}, and Σ λ_i(λ_i − 1)/(n(n − 1)) the
first two on the same one, for A₂ N^{n−2}. So one table of means, by the partitions on the selected and on the other
tokens and the power of Q, has E w N^k e^{−t(k+r)|u|²} for all numerators w of E w/N^r.

*Means of quotients.* For w ≥ 0, X > 0, nodes x_i > 0, π = ∏ (1 − x/x_i)², and c = −π'(0), so that c > 0:

    1/x ≥ (1 − π)/x,    1/x² ≥ (1 − (1 + cx) π)/x²,

polynomials on the right. With a factor 1 − x/x₀ in π they are upper bounds where x ≥ x₀ > 0. And E w/X^r is at least
(E w)^{r+1}/(E w X)^r, by Jensen, and at most E w/x₀^r. Here w = numerator·e^{−r
t|u|²} and X = N e^{−t|u|²}, for any t; as Σ v_i = |u|² over the selected, A ≥ q e^{C|u|²/q}, so that X ≥ q for 0 ≤ t
≤ C/q, and X ≥ 1 with the query token for 0 ≤ t ≤ C.
"""

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import acos, comb, cos, cosh, exp, factorial, inf, log, perm, pi, prod, sqrt

from flint import acb_mat, arb, arb_mat, arb_poly, ctx

from verify.rechecker.balls import ball, high
from verify.rechecker.reading import Effort

BITS, ORDERS = 256, (3, 5, 7, 9, 11)
"""Bits of the balls; the highest moments that are used, from coarse to fine."""

_CLEAR, _MOST = (1e-9, 1e-4), 1e9
"""Bounds of the variance, relative to the squared mean, between which double precision finds two or three nodes."""

_AGREED = Fraction(101, 100)
"""Upper bounds from several tilts agree where they are at most so many times the best."""


class Undecided(ArithmeticError):  # noqa: N818
    """No bound was found."""


@lru_cache(maxsize=1024)
def partitions(degree: int, tokens: int, largest: int) -> tuple[tuple[int, ...], ...]:
    """Return the partitions of `degree` into at most `tokens` parts of at most `largest`, in descending order."""
    if degree == 0:
        return ((),)
    if tokens == 0:
        return ()
    return tuple(
        (part, *rest)
        for part in range(min(degree, largest), 0, -1)
        for rest in partitions(degree - part, min(tokens - 1, degree - part), part)
    )


def spread(degree: int, tokens: int) -> tuple[tuple[int, ...], ...]:
    """Return the exponents that the monomials of a power of Σ_i e^{v_i} over some tokens have."""
    return partitions(degree, min(tokens, degree), degree)


def ways(parts: tuple[int, ...], tokens: int) -> int:
    """Return how many monomials of (Σ_i e^{v_i})^j over some tokens, j = Σ parts, have these exponents."""
    places = perm(tokens, len(parts)) // prod(map(factorial, Counter(parts).values()))
    return factorial(sum(parts)) // prod(map(factorial, parts)) * places


@lru_cache(maxsize=256)
def _rows(q: int, query: int, degree: int) -> tuple[tuple[int, int, int], ...]:
    """Return, for the monomials of (A + Q)^degree, their numbers, Σ λ_i(λ_i − 1), and the power of Q."""
    return tuple(
        (comb(degree, i) * ways(parts, q), sum(p * (p - 1) for p in parts), i)
        for i in range(degree + 1 if query else 1)
        for parts in spread(degree - i, q)
    )


@lru_cache(maxsize=256)
def _columns(tokens: int, degree: int) -> arb_mat:
    """Return, by the monomials of B^degree, their numbers, and those times Σ λ_i(λ_i − 1)."""
    rows = [(ways(parts, tokens), sum(p * (p - 1) for p in parts)) for parts in spread(degree, tokens)]
    return arb_mat([[n, n * pairs] for n, pairs in rows])


@lru_cache(maxsize=256)
def _signs(q: int, degree: int) -> tuple[arb_mat, ...]:
    """Return, by |s|, how many signs of q tokens have each Σ λ_i ε_i s/|s|: rows by λ, columns from −degree by twos."""
    sums = range(q % 2, q + 1, 2)
    counts: list[list[list[int]]] = [[] for _ in sums]
    for parts in spread(degree, q):
        states = {(0, 0): 1}
        for part in parts:
            grown: dict[tuple[int, int], int] = {}
            for (total, along), count in states.items():
                for e in (1, -1):
                    key = total + e, along + e * part
                    grown[key] = grown.get(key, 0) + count
            states = grown
        rest = q - len(parts)
        for s, rows in zip(sums, counts, strict=True):
            row = [0] * (degree + 1)
            for (total, along), count in states.items():
                if abs(s - total) <= rest:
                    # s and −s are alike.
                    row[(along + degree) // 2] += (2 if s else 1) * count * comb(rest, (rest + s - total) // 2)
            rows.append(row)
    return tuple(map(arb_mat, counts))


class Table:
    """The means of all monomials in e^{C v_i − t|u|²} and, with the query token, e^{(C − t)|u|²}, at one C and t."""

    def __init__(self, attention: "Attention", tilt: Fraction) -> None:
        self.attention = attention
        self.turn = [(ball(-tilt / attention.D) * s * s).exp() for s in attention.sums]
        self._signs: list[list[list[arb]]] = []
        self._sums: dict[tuple[int, int], list[arb]] = {}
        self._degree = -1

    def means(self, degree: int) -> dict[tuple[int, int], list[arb]]:
        """Return E (A + Q)^i B^j, tilted, by (i, j), for i + j up to a degree at least.

        All of it, times deg λ, Σ λ_i(λ_i − 1) and the power of Q, and times Σ λ_j(λ_j − 1) on the others.
        """
        for others in range(degree + 1 if self.attention.T > self.attention.q else 1):
            first = max(0, self._degree + 1 - others)
            if first <= degree - others:
                self._extend(first, degree - others, others)
        self._degree = max(self._degree, degree)
        return self._sums

    def _row(self, degree: int) -> list[list[arb]]:
        """Return a coordinate's factors by the monomials of (A + Q)^degree, with the tilt in them, at each |s|."""
        while len(self._signs) <= degree:
            attention, d = self.attention, len(self._signs)
            turn, rows = [x**d for x in self.turn], list[list[arb]]()
            for i in range(d + 1 if attention.query else 1):
                extra = [x * y**i for x, y in zip(turn, attention.own, strict=True)] if i else turn
                rows.extend([x * y for x, y in zip(row, extra, strict=True)] for row in attention.selected_signs(d - i))
            self._signs.append(rows)
        return self._signs[degree]

    def _extend(self, first: int, last: int, others: int) -> None:
        """Find the means of B^others times (A + Q) to the powers from the first to the last."""
        attention, turn = self.attention, [x**others for x in self.turn]
        rows = [row for degree in range(first, last + 1) for row in self._row(degree)]
        columns = [[x * y for x, y in zip(row, turn, strict=True)] for row in attention.others_signs(others)]
        attention.effort.spend(20 + len(rows) * (2 + len(columns) * attention.each))
        each = arb_mat(rows) * arb_mat(columns).transpose()
        powers = arb_mat(len(rows), len(columns), [x**attention.D for x in each.entries()])
        means = iter((powers * _columns(attention.T - attention.q, others)).tolist())
        for degree in range(first, last + 1):
            total, chosen, squares, own, twice = (arb(0) for _ in range(5))
            for many, square, i in _rows(attention.q, attention.query, degree):
                plain, doubled = next(means)
                plain *= many
                total += plain
                if square:
                    squares += square * plain
                if attention.query:
                    # By itself, not as a difference: A may be tiny beside Q.
                    chosen += (degree - i) * plain
                    own += i * plain
                if others > 1:
                    twice += many * doubled
            self._sums[degree, others] = [total, chosen if attention.query else degree * total, squares, own, twice]


class Attention:
    """The means at some sizes and one C ≥ 0."""

    def __init__(self, effort: Effort, sizes: tuple[int, int, int, int], C: Fraction) -> None:
        self.effort, self.C = effort, C
        self.T, self.q, self.D, self.query = sizes
        self.sums = range(self.q % 2, self.q + 1, 2)
        unit = ball(C / self.D)
        self.own = [(unit * s * s).exp() for s in self.sums]
        self._up = [(unit * s).exp() for s in self.sums]
        self._powers: list[list[arb]] = [[arb(1)] for _ in self.sums]
        self._down = [1 / x for x in self._up]
        self._inverses: list[list[arb]] = [[arb(1)] for _ in self.sums]
        self._selected: dict[int, list[list[arb]]] = {}
        self._others: dict[tuple[int, ...], list[arb]] = {(): [arb(1) for _ in self.sums]}
        self._tables: dict[Fraction, Table] = {}
        self._tilts: dict[tuple[str, int], list[Fraction]] = {}
        self._moments: dict[tuple[str, Fraction], list[arb]] = {}
        # The cost of a mean of a monomial.
        self.each = 1.5 + 0.08 * self.D.bit_length() + 0.1 * len(self.sums)
        effort.spend(40 + 4 * len(self.sums))

    def _grow(self, degree: int) -> None:
        for known, by in ((self._powers, self._up), (self._inverses, self._down)):
            for row, x in zip(known, by, strict=True):
                while len(row) <= degree:
                    row.append(row[-1] * x)

    def selected_signs(self, degree: int) -> list[list[arb]]:
        """Return Σ e^{C s Σ λ_i ε_i/D} over the signs of the selected by |s|, divided by 2^q, for each λ."""
        if degree not in self._selected:
            self._grow(degree)
            sums: list[list[arb]] = []
            for signs, up, down in zip(_signs(self.q, degree), self._powers, self._inverses, strict=True):
                each = [up[x] if x >= 0 else down[-x] for x in range(-degree, degree + 1, 2)]
                sums.append((signs * arb_mat(degree + 1, 1, each)).entries())
            self.effort.spend(len(self.sums) * (4 + len(sums[0]) * (1 + 0.1 * degree)))
            self._selected[degree] = [[x / 2**self.q for x in row] for row in zip(*sums, strict=True)]
        return self._selected[degree]

    def others_signs(self, degree: int) -> list[list[arb]]:
        """Return ∏ cosh(C s b_j/D) by |s|, for each partition b over the other tokens."""
        self._grow(degree)
        cosines = [self._cosines(parts) for parts in spread(degree, self.T - self.q)]
        self.effort.spend(len(self.sums) * (4 + len(cosines)))
        return cosines

    def _cosines(self, parts: tuple[int, ...]) -> list[arb]:
        if parts not in self._others:
            part, *rest = parts
            pairs = zip(self._powers, self._inverses, self._cosines(tuple(rest)), strict=True)
            self._others[parts] = [(up[part] + down[part]) / 2 * x for up, down, x in pairs]
        return self._others[parts]

    def moments(self, numerator: str, tilt: Fraction, orders: int) -> list[arb]:
        """Return E w X^k, k = 0 … orders, for the numerator A, B, Q, A2 or B2."""
        if tilt not in self._tables:
            self._tables[tilt] = Table(self, tilt)
        power = 2 if numerator[1:] else 1
        which = {"A": 1, "B": 0, "Q": 3, "A2": 2, "B2": 4}[numerator]
        means, moments = self._tables[tilt].means(orders + power), self._moments.setdefault((numerator, tilt), [])
        for degree in range(len(moments) + power, orders + power + 1):
            total = arb(0)
            for others in range(degree + 1 if self.T > self.q else 1):
                mean = means[degree - others, others][which]
                total += comb(degree, others) * (others if numerator == "B" else 1) * mean
            moments.append(total / (degree if power == 1 else degree * (degree - 1)))
        return moments[: orders + 1]

    @property
    def tilt(self) -> Fraction:
        """About the slope of log N in |u|²: any number would do."""
        a, b, c = about_shares((self.T, self.q, self.D, self.query), self.C)
        slope = a / self.q + b * min(float(self.C) / (2 * self.D), 0.5) + c
        limit = Fraction(1) if self.query else Fraction(1, self.q)
        return self.C * min(limit, Fraction(round(64 * self.q * slope), 64 * self.q))

    def below(self, numerator: str, power: int, orders: int) -> arb:
        """Return a lower bound of E numerator/N^power."""
        if self.T == self.q and "B" in numerator:
            return arb(0)
        self.effort.spend(50 + 15 * orders)
        return reciprocal(self.moments(numerator, self.tilt, orders), power)

    def above(self, numerator: str, power: int, orders: int) -> arb:
        """Return an upper bound of E numerator/N^power, at most 1, from some tilts, or the best if all do well."""
        few = min(orders, ORDERS[2])
        if (numerator, few) not in self._tilts:
            most = self.C if self.query else self.C / self.q
            tilts = [self.tilt, (self.tilt + most) / 2, most] if most - self.tilt > most / 50 else [most]
            bounds = [self._upper(numerator, power, tilt, few) for tilt in tilts]
            best = min(zip(map(high, bounds), tilts, strict=True))
            agreed = high(bounds[0]) <= best[0] * _AGREED and high(bounds[-1]) <= best[0] * _AGREED
            self._tilts[numerator, few] = [best[1]] if agreed else tilts
        best = arb(1)
        for tilt in self._tilts[numerator, few]:
            best = best.min(self._upper(numerator, power, tilt, orders))
        return best

    def _upper(self, numerator: str, power: int, tilt: Fraction, orders: int) -> arb:
        least = (self.q if tilt * self.q <= self.C else 0) + self.query
        self.effort.spend(50 + 15 * orders)
        try:
            return arb(1).min(reciprocal(self.moments(numerator, tilt, orders), power, least))
        except Undecided:
            return arb(1)

    def selected(self, orders: int) -> tuple[arb, arb]:
        """Return balls whose outer ends enclose P."""
        if self.C == 0:
            exact = arb(self.q) / (self.T + self.query)
            return exact, exact
        return self.below("A", 1, orders).max(arb(0)), self.selected_above(orders)

    def selected_above(self, orders: int) -> arb:
        """Return an upper bound of P."""
        if self.C == 0:
            return self.selected(orders)[1]
        best = 1 - self.below("B", 1, orders)
        return (best - self.below("Q", 1, orders)).min(self.above("A", 1, orders)) if self.query else best

    def squares_below(self, orders: int) -> arb:
        """Return a lower bound of R."""
        if self.C == 0:
            return arb(self.T) / (self.T + self.query) ** 2
        return (self.below("A2", 2, orders) + self.below("B2", 2, orders)).max(arb(0))

    def squares(self, orders: int) -> tuple[arb, arb]:
        """Return balls whose outer ends enclose R."""
        if self.C == 0:
            return self.squares_below(orders), self.squares_below(orders)
        above = self.above("A2", 2, orders) + (self.above("B2", 2, orders) if self.T > self.q else 0)
        return self.squares_below(orders), above.min(arb(1))


def about_shares(sizes: tuple[int, int, int, int], C: Fraction) -> tuple[float, float, float]:
    """Return an approximation of the shares of A, B and Q in N, with |u|² = q and the selected v_i = 1."""
    (T, q, D, query), x = sizes, float(C)
    y = x * sqrt(q) / D
    others = log(T - q) + D * (log(cosh(y)) if y < 20 else y - log(2)) if T > q else -inf
    logs = log(q) + x, others, x * q if query else -inf
    shares = [exp(part - max(logs)) for part in logs]
    a, b, c = (share / sum(shares) for share in shares)
    return a, b, c


def reciprocal(moments: list[arb], power: int, least: int | None = None) -> arb:
    """Return a lower bound of E w/X^power, or an upper one where X ≥ least > 0, from E w X^k, k = 0, 1 and on.

    Fewer nodes are taken where those of the most are so close together that the ball is wide.
    """
    if not moments[1] > 0:
        raise Undecided
    if least is None:
        weighted, best = moments, (moments[0] ** (power + 1) / moments[1] ** power).lower()
    else:
        weighted, best = [m - least * k for k, m in pairwise(moments)], (moments[0] / least**power).upper()
    for count in range(len(weighted) // 2, 0, -1):
        if nodes := _nodes(weighted, count):
            polynomial = arb_poly([1]) if least is None else arb_poly([1, -arb(1) / least])
            for node in nodes:
                polynomial *= arb_poly([1, -2 / node, 1 / node**2])
            if power == 2:
                polynomial *= arb_poly([1, -polynomial[1]])
            total = arb(0)
            for k, coefficient in enumerate(polynomial.coeffs()[power:]):
                total -= coefficient * moments[k]
            if total.is_finite():
                # The end that is a bound whatever the ball's width.
                end, before = total.lower() if least is None else total.upper(), best
                best = best.max(end) if least is None else best.min(end)
                # Nodes that are no good, as all X are nearly alike, leave the bound as it was.
                if total.rad() < arb(2) ** -40 * abs(total) and (end > before if least is None else end < before):
                    return best
    return best


def _nodes(moments: list[arb], count: int) -> list[arb] | None:
    """Return approximations of Gauss's nodes, or None if they are not positive: any positive nodes are enough."""
    if not (moments[0] > 0 and moments[1] > 0):
        return None
    scale = (moments[1] / moments[0]).mid()
    if count <= 3 and (
        nodes := _quickly([float(m / moments[0] / scale**k) for k, m in enumerate(moments[: 2 * count])])
    ):
        return [arb(x) * scale for x in nodes]
    middle = [(m / moments[0] / scale**k).mid() for k, m in enumerate(moments[: 2 * count])]
    hankel, shifted = (
        arb_mat(count, count, [middle[i + j + shift] for i in range(count) for j in range(count)]) for shift in (0, 1)
    )
    try:
        solved = hankel.solve(shifted)
        with ctx.workprec(BITS // 2):
            roots = acb_mat(solved.mid()).eig(algorithm="approx")
    except (ZeroDivisionError, ValueError):
        return None
    nodes = [(scale * root.real.mid()).mid() for root in roots]
    good = all(abs(float(r.imag)) < 1e-9 for r in roots) and all(bool(x > 0) and x.is_finite() for x in nodes)
    return nodes if good else None


def _quickly(m: list[float]) -> list[float] | None:
    """Return one, two or three nodes from moments whose first two are 1; None where double precision is too little.

    They are 1 + y, with y the zeros of the polynomial that is orthogonal to those of lower degree.
    """
    if len(m) == 2:
        return [1.0]
    # Moments about 1.
    c = [sum(comb(k, j) * (-1.0) ** (k - j) * m[j] for j in range(k + 1)) for k in range(len(m))]
    if not _CLEAR[len(m) // 2 - 2] < c[2] < _MOST:
        return None
    if len(m) == 4:
        half = c[3] / (2 * c[2])
        root = sqrt(half * half + c[2])
        nodes = [1 + half - root, 1 + half + root]
    else:
        # y³ + a y² + b y + e against 1, y, y².
        det = c[2] * (c[4] - c[2] ** 2) - c[3] ** 2
        if not _CLEAR[0] * c[2] ** 3 < det < _MOST:
            return None
        a = -(c[2] * (c[5] - c[2] * c[3]) - c[3] * c[4]) / det
        b = -(c[4] + a * c[3]) / c[2]
        e = -c[3] - a * c[2]
        third, p = a / 3, b - a * a / 3
        if not p < 0:
            return None
        size = sqrt(-p / 3)
        turn = acos(max(-1.0, min(1.0, -(2 * third**3 - third * b + e) / (2 * size**3)))) / 3
        nodes = [1 + 2 * size * cos(turn - 2 * pi * k / 3) - third for k in range(3)]
    return nodes if min(nodes) > _CLEAR[0] and max(nodes) < _MOST else None
