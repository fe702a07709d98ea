r"""Softmax attention by random sign encodings: the means of its first and second powers, enclosed by moments.

T tokens have encodings e_i ∈ R^D with independent entries ±1/√D, q of them are selected, u is the selected ones' sum,
v_i = e_i·u, and the logits are C v_i, with the query token's C|u|² beside them or not. With A = Σ e^{C v_i} over the
selected tokens, B over the others, Q = e^{C|u|²} or 0, A₂ and B₂ the sums of squares, and N = A + B + Q,

    P = E A/N = 1 − E (B + Q)/N,    R = E (A₂ + B₂)/N².

*Means of monomials.* In a coordinate with signs ε_i let s = Σ ε_i over the selected tokens; v_i adds up s ε_i/D and
|u|² adds up s²/D. For exponents a_i on selected tokens, b_j on others, and h,

    E exp(Σ a_i v_i + Σ b_j v_j + h|u|²) = ( E exp(s (Σ a_i ε_i + h s)/D) ∏ cosh(b_j s/D) )^D.

A product of power sums Σ_i e^{c v_i} is a sum of such monomials: each factor falls on a token that has an exponent, or
on one that has none. Equal ones are counted together.

*Means of quotients.* For w ≥ 0, X > 0, nodes x_i > 0, π = ∏ (1 − x/x_i)², and c = −π'(0), so that c > 0:

    1/x ≥ (1 − π)/x,    1/x² ≥ (1 − (1 + cx) π)/x²,

polynomials on the right. With a factor 1 − x/x₀ in π they are upper bounds where x ≥ x₀ > 0. Here w = numerator·e^{−r
t|u|²} and X = N e^{−t|u|²}, for any t; as Σ v_i = |u|² over the selected, A ≥ q e^{C|u|²/q}, so that X ≥ q for 0 ≤ t
≤ C/q, and X ≥ 1 with the query token for 0 ≤ t ≤ C.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb

from flint import acb_mat, arb, arb_mat, arb_poly, fmpq

from verify.recheck.reading import Effort

BITS, ORDERS = 256, (5, 7, 9, 11)
"""Bits of the balls; the highest moments that are used, from coarse to fine."""

Exponent = tuple[int, int]
"""(a, m) is the exponent aC + mθ."""

_ONE, _TWO = (1, 0), (2, 0)


class Undecided(ArithmeticError):  # noqa: N818
    """No bound was found."""


def number(value: Fraction | int) -> arb:
    """Return a rational number as a ball."""
    return arb(fmpq(value.numerator, value.denominator))


def rational(point: arb) -> Fraction:
    """Return a ball's midpoint."""
    mantissa, exponent = map(int, point.mid().man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def low(value: arb) -> Fraction:
    """Return a ball's lower end."""
    return rational(value.lower())


def high(value: arb) -> Fraction:
    """Return a ball's upper end."""
    return rational(value.upper())


@lru_cache(maxsize=4096)
def monomials(factors: tuple[Exponent, ...], tokens: int) -> tuple[tuple[tuple[Exponent, ...], int], ...]:
    """Return the exponents that a product of power sums puts on tokens, with their numbers."""
    if not factors:
        return (((), 1),)
    (a, m), found = factors[-1], dict[tuple[Exponent, ...], int]()
    for parts, count in monomials(factors[:-1], tokens):
        grown = [tuple(sorted((*parts[:i], (b + a, n + m), *parts[i + 1 :]))) for i, (b, n) in enumerate(parts)]
        for key, times in (*((key, 1) for key in grown), (tuple(sorted((*parts, (a, m)))), tokens - len(parts))):
            if times:
                found[key] = found.get(key, 0) + count * times
    return tuple(found.items())


@lru_cache(maxsize=4096)
def _signs(parts: tuple[Exponent, ...], q: int) -> tuple[tuple[tuple[int, int, int], int], ...]:
    """Return the numbers of signs of q tokens by (|s|, s Σ a_i ε_i, s Σ m_i ε_i)."""
    states = {(0, 0, 0): 1}
    for a, m in parts:
        grown: dict[tuple[int, int, int], int] = {}
        for (s, x, y), count in states.items():
            for key in ((s + 1, x + a, y + m), (s - 1, x - a, y - m)):
                grown[key] = grown.get(key, 0) + count
        states = grown
    found: dict[tuple[int, int, int], int] = {}
    rest = q - len(parts)
    for (s, x, y), count in states.items():
        for plus in range(rest + 1):
            total = s + 2 * plus - rest
            key = (abs(total), total * x, total * y)
            found[key] = found.get(key, 0) + count * comb(rest, plus)
    return tuple(found.items())


class Attention:
    """The means at some sizes and one C ≥ 0; θ is the unit of the exponents' second part."""

    def __init__(self, effort: Effort, sizes: tuple[int, int, int, int], C: Fraction, theta: Fraction) -> None:
        self.effort, self.C = effort, C
        self.T, self.q, self.D, self.query = sizes
        self.units = number(C / self.D), number(theta / self.D)
        self.sums = range(self.q % 2, self.q + 1, 2)
        self._tables: dict[tuple[tuple[Exponent, ...], bool], tuple[list[int], list[list[arb]]]] = {}
        self._exponentials: tuple[dict[int, arb], dict[int, arb]] = ({}, {})
        self._moments: dict[tuple[str, int, Fraction], list[arb]] = {}
        self._tilt: Fraction | None = None

    def _exp(self, a: int, m: int) -> arb:
        found = []
        for n, unit, known in zip((a, m), self.units, self._exponentials, strict=True):
            if n not in known:
                known[n] = (unit * n).exp()
            found.append(known[n])
        return found[0] * found[1] if m else found[0]

    def _table(self, factors: tuple[Exponent, ...], selected: bool) -> tuple[list[int], list[list[arb]]]:
        """Return numbers of monomials, and a coordinate's factors at each |s|: sums over signs, or cosines."""
        if (factors, selected) not in self._tables:
            tokens, rows, counts = self.q if selected else self.T - self.q, [], []
            for parts, count in monomials(factors, tokens):
                counts.append(count)
                if selected:
                    row = dict.fromkeys(self.sums, arb(0))
                    for (s, a, m), times in _signs(parts, self.q):
                        row[s] += times * self._exp(a, m)
                    rows.append([x / 2**self.q for x in row.values()])
                else:
                    rows.append([arb(1) for _ in self.sums])
                    for a, m in parts:
                        halves = ((self._exp(a * s, m * s) + self._exp(-a * s, -m * s)) / 2 for s in self.sums)
                        rows[-1] = [x * y for x, y in zip(rows[-1], halves, strict=True)]
                self.effort.spend(4 * len(self.sums) * (1 + len(parts)) ** 2)
            self._tables[factors, selected] = counts, rows
        return self._tables[factors, selected]

    def mean(self, selected: tuple[Exponent, ...], others: tuple[Exponent, ...], h: arb) -> arb:
        """Return E e^{h|u|²} times power sums over the selected and over the other tokens."""
        (left, rows), (right, columns) = self._table(selected, True), self._table(others, False)
        if not left or not right:
            return arb(0)
        self.effort.spend(20 + len(left) * len(right) * (5 + 0.3 * self.D.bit_length() + 0.3 * len(self.sums)))
        scale = [(h * s * s / self.D).exp() for s in self.sums]
        scaled = arb_mat([[x * y for x, y in zip(row, scale, strict=True)] for row in rows])
        each = iter((scaled * arb_mat(columns).transpose()).entries())
        return sum((sum((n * next(each) ** self.D for n in right), arb(0)) * m for m in left), arb(0))

    def moments(self, numerator: str, power: int, tilt: Fraction, orders: int) -> list[arb]:
        """Return E w X^k, k = 0 … orders; the numerator is one of A B Q or those of A_2 B_2, a or b with a θ more."""
        own = {"A": ((_ONE,), ()), "B": ((), (_ONE,)), "Q": ((), ()), "A2": ((_TWO,), ()), "B2": ((), (_TWO,))}
        own |= {f"{n}{m:+}": (((1, m),), ()) if n == "a" else ((), ((1, m),)) for n in "ab" for m in (1, -1)}
        selected, others = own[numerator]
        found = self._moments.setdefault((numerator, power, tilt), [])
        for k in range(len(found), orders + 1):
            total = arb(0)
            for i in range(k + 1 if self.query else 1):
                h = number(self.C * (i + (numerator == "Q")) - tilt * (k + power))
                for j in range(k - i + 1):
                    ways = comb(k, i) * comb(k - i, j)
                    total += ways * self.mean(selected + (_ONE,) * j, others + (_ONE,) * (k - i - j), h)
            found.append(total)
        return found[: orders + 1]

    @property
    def tilt(self) -> Fraction:
        """About the slope of log N in |u|²: C times the query's share and 1/q of the selected tokens'."""
        if self._tilt is None:
            start = self.C / 2 if self.query else self.C / (2 * self.q)
            names = "AB"[: 1 + (self.T > self.q)] + "Q" * self.query
            shares = {n: max(0.0, float(reciprocal(self.moments(n, 1, start, 3), 1))) for n in names}
            slope = (shares["A"] / self.q + shares.get("Q", 0.0)) / (sum(shares.values()) or 1.0)
            most = Fraction(1) if self.query else Fraction(1, self.q)
            self._tilt = min(self.C * most, self.C * Fraction(round(64 * self.q * slope), 64 * self.q))
        return self._tilt

    def below(self, numerator: str, power: int, orders: int) -> arb:
        """Return a lower bound of E numerator/N^power."""
        if self.T == self.q and "B" in numerator:
            return arb(0)
        self.effort.spend(40 * orders)
        return reciprocal(self.moments(numerator, power, self.tilt, orders), power)

    def above(self, numerator: str, power: int, orders: int) -> arb:
        """Return an upper bound of E numerator/N^power, at most 1 but for exponents with θ."""
        turned, most = numerator[0] in "ab", self.C if self.query else self.C / self.q
        best = None if turned else arb(1)
        for tilt in dict.fromkeys((self.tilt, *(() if turned else ((self.tilt + most) / 2, most)))):
            least = (self.q if tilt * self.q <= self.C else 0) + self.query
            self.effort.spend(40 * orders)
            try:
                bound = reciprocal(self.moments(numerator, power, tilt, orders), power, least)
            except Undecided:
                continue
            best = bound if best is None else best.min(bound)
        if best is None:
            raise Undecided
        return best

    def selected(self, orders: int) -> tuple[arb, arb]:
        """Return balls whose outer ends enclose P."""
        if self.C == 0:
            return (arb(self.q) / (self.T + self.query),) * 2
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
            return (self.squares_below(orders),) * 2
        above = self.above("A2", 2, orders) + (self.above("B2", 2, orders) if self.T > self.q else 0)
        return self.squares_below(orders), above.min(arb(1))


def reciprocal(moments: list[arb], power: int, least: int | None = None) -> arb:
    """Return a lower bound of E w/X^power, or an upper one where X ≥ least > 0, from E w X^k, k = 0, 1 and on.

    Fewer nodes are taken where those of the most are so close together that the ball is wide.
    """
    weighted = moments if least is None else [m - least * k for k, m in pairwise(moments)]
    best: arb | None = None
    for count in range(len(weighted) // 2, 0, -1):
        if nodes := _nodes(weighted, count):
            polynomial = arb_poly([1]) if least is None else arb_poly([1, -arb(1) / least])
            for node in nodes:
                polynomial *= arb_poly([1, -1 / node]) ** 2
            if power == 2:
                polynomial *= arb_poly([1, -polynomial[1]])
            total = arb(0)
            for k in range(power, polynomial.length()):
                total -= polynomial[k] * moments[k - power]
            if total.is_finite():
                # The end that is a bound whatever the ball's width.
                end = total.lower() if least is None else total.upper()
                best = end if best is None else best.max(end) if least is None else best.min(end)
                if total.rad() < arb(2) ** -40 * abs(total):
                    return best
    if best is None:
        raise Undecided
    return best


def _nodes(moments: list[arb], count: int) -> list[arb] | None:
    """Return about the nodes of Gauss's quadrature, None where they are not positive: any positive ones will do."""
    middle = [m.mid() for m in moments[: 2 * count]]
    if not (middle[0] > 0 and middle[1] > 0):
        return None
    scale = (middle[1] / middle[0]).mid()
    middle = [(m / middle[0] / scale**k).mid() for k, m in enumerate(middle)]
    hankel, shifted = (
        arb_mat(count, count, [middle[i + j + shift] for i in range(count) for j in range(count)]) for shift in (0, 1)
    )
    try:
        solved = hankel.solve(shifted)
        roots = acb_mat(solved.mid()).eig(algorithm="approx")
    except (ZeroDivisionError, ValueError):
        return None
    found = [(scale * root.real.mid()).mid() for root in roots]
    good = all(abs(float(r.imag)) < 1e-9 for r in roots) and all(bool(x > 0) and x.is_finite() for x in found)
    return found if good else None
