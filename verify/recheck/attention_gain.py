r"""The most that attention by sign encodings can gain, sup G over C ≥ 0 with G = P²/(qR), and the dimension it needs.

*T = q.* G(0) = 1, and G ≤ 1 always.

*q ≤ 2, tokens alone.* The selected v_i are equal and no other is larger. Let k be the number of others that are equal
to them, S* = q/(q + k), S = Σ p_i. Σ p_i² ≥ (q + k)(S/q)² = S²/(qS*), so that by Cauchy and Schwarz P² ≤ E[S²/S*] E
S* ≤ qR E S* (with the query token too), and G → E S* for C → ∞: the supremum is 1 − E k/(q + k). k is binomial, of T
− q and 2^−m for m coordinates with u ≠ 0: m = D for q = 1, and for q = 2 binomial of D and ½. From E k(k−1)…(k−j) by

    k/(q+1) − k(k−1)/((q+1)(q+2)) ≤ k/(q+k) ≤ k/(q+1)

or, for few dimensions, by summation over m, as q/(q+k) = q ∫ t^(q+k−1) dt over [0, 1].

*Cells.* Where −P'' ≤ K and R'' ≤ K' on [C₁, C₂], δ = C₂ − C₁, chords give P ≤ p + Kδ²/8, R ≥ r − K'δ²/8; (linear)² −
g·linear is convex, so that G ≤ the larger of (P + Kδ²/8)²/(q(R − K'δ²/8)) at both ends, where the divisors are
positive. Let p be the softmax, x_i the distance of a logit's factor of C from its mean, Var = Σ p_i x_i²:

    P'' = E Σ_y p_i (x_i² − Var) ≥ −E Var,    R'' = E Σ p_i² (4x_i² − 2Var) ≤ 2E Var,

the latter as p_i|x_i| ≤ ½ Σ p_j|x_j|. Tokens alone, |v_i| ≤ λ = Σ|s_k|/D ≤ q, so that Var ≤ λ²; and p_i(C) ≤ e^{2qδ}
p_i(C₁), so that Var(C) ≤ e^{2qδ} Var(C₁), Var ≤ Σ p_i (2cosh(v_i − m) − 2) for any m, where E Var ≤ 2√(E Σ p_i
e^{v_i} E Σ p_i e^{−v_i}) − 2. With the query token |v_i| ≤ λ ≤ |u|², so that Var ≤ |u|⁴. There also, for X_i = v_i −
|u|² ≤ 0, y_i = X_i + μ, N = 1 + Σ e^{CX_j}, n = Σ X_j² e^{CX_j},

    −(e^{Cy}/N)'' ≤ e^{Cy} n,    (e^{2Cy}/N²)'' ≤ 8e^{2Cy} (y² + n):

bounds for P e^{μC}, R e^{2μC}, whose G is the same. But for e^{μδ} they do not grow with C. X² ≤ (2cosh θX − 2)/θ².

*Beyond the last cell.* Tokens alone, R' = 2E Σ p_i·p_i x_i ≥ 0 as p_i grows with x_i; P ≤ 1, so that G ≤ 1/(qR(C₁)).
With the query token let M(C) = E Σ_y e^{CX_i}; 1 ≤ N ≤ 1 + T, so that G ≤ (1+T)² M(C)²/(qM(2C)), which does not grow
as log M is convex. On u = 0, of probability ω (q even), p = 1/(1+T): P ≤ M − qω + qω/(1+T), R ≥ ωT/(1+T)². On X_i =
0, of probability ω (q odd: the other signs add up to 0 in each coordinate), N ≥ 2 and E N = 2 + (T−1)((1 +
e^{−2C/D})/2)^D: P ≤ M − qω/2, R ≥ qω/(E N)².
"""

from collections.abc import Callable
from fractions import Fraction
from math import comb, inf, log

from flint import arb, ctx

from verify.recheck.attention import BITS, ORDERS, Attention, Undecided, high, low, number
from verify.recheck.reading import Effort, Rejected

Sizes = tuple[int, int, int, int]
Interval = tuple[Fraction, Fraction]
_SLACKS = tuple(Fraction(n, 1000) for n in (4, 10, 25, 80, 250, 600))
"""How far above the best that was found, relative to what is missing to 1, the bound is tried."""
MOST, _SUMMED, _FURTHEST, _FINEST, _GRID = 10**6, 256, 400, Fraction(1, 1024), 256
_THETA = Fraction(1, 2)


def _closed(sizes: Sizes) -> Interval | None:
    """Return the supremum where there is a closed form."""
    T, q, D, query = sizes
    if q == T:
        return Fraction(1), Fraction(1)
    if q > 2 or query:
        return None
    n = T - q
    with ctx.workprec(BITS + 8 * _SUMMED):
        if D > _SUMMED:
            once, twice = (arb(2) ** (-j * D) if q == 1 else ((1 + arb(2) ** -j) / 2) ** D for j in (1, 2))
            most = n * once / (q + 1)
            return 1 - high(most), 1 - low(most - n * (n - 1) * twice / ((q + 1) * (q + 2)))
        total = arb(0)
        for m in [D] if q == 1 else range(D + 1):
            p = arb(2) ** -m
            some = 1 - (1 - p) ** (n + 1)
            share = some / ((n + 1) * p)
            if q == 2:
                share = 2 * (share - (some - (n + 1) * p * (1 - p) ** (n + 1)) / ((n + 1) * (n + 2) * p**2))
            total += share * (1 if q == 1 else arb(comb(D, m)) / 2**D)
        return low(total), high(total)


class Search:
    """Bounds of G at some sizes."""

    def __init__(self, effort: Effort, sizes: Sizes) -> None:
        self.effort, self.sizes, self.known = effort, sizes, dict[Fraction, Attention]()
        self.variances: dict[Fraction, Fraction] = {}
        alone = _closed((*sizes[:3], 0))
        self.most = alone[1] if alone else Fraction(1)
        self.T, self.q, D, self.query = sizes
        q, signs = self.q, [(abs(self.q - 2 * j), Fraction(comb(self.q, j), 2**self.q)) for j in range(self.q + 1)]
        first = sum(s * w for s, w in signs)
        # E|u|⁴ from E s² = q, E s⁴ = 3q² − 2q; E λ² from E|s|, E s².
        self.K = q * q + Fraction(2 * q * (q - 1), D) if self.query else first**2 + (q - first**2) / D

    def at(self, C: Fraction) -> Attention:
        """Return the means at C."""
        if C not in self.known:
            if len(self.known) > 64:
                self.known.clear()
            self.known[C] = Attention(self.effort, self.sizes, C, _THETA if self.query else Fraction(1))
        return self.known[C]

    def gain(self, C: Fraction, orders: int) -> Interval:
        """Return bounds of G at C."""
        (p, most), (r, above) = self.at(C).selected(orders), self.at(C).squares(orders)
        least = low(r)
        bound = high(most) ** 2 / (self.q * least) if least > 0 else Fraction(1)
        return max(low(p), Fraction(0)) ** 2 / (self.q * high(above)), min(bound, Fraction(1))

    def near(self) -> Fraction:
        """Return about where G is largest."""

        def value(C: Fraction, trust: float = 0.5) -> float:
            try:
                below, above = self.gain(C, ORDERS[0])
            except Undecided:
                return 0.0
            trust = trust if 2 * below >= above else 0.5
            return float(below) ** (1 - trust) * float(above) ** trust

        best, C, missed = (0.0, Fraction(0)), Fraction(1, 2), 0
        while missed < 3 and C < _FURTHEST:
            found = value(C)
            best, missed = ((found, C), 0) if found > best[0] else (best, missed + 1)
            C = Fraction(round(C * 5 / 4 * _GRID), _GRID)
        # Not far from there, tokens alone, the bound from above is much the closer one.
        trust = 0.5 if self.query else 1.0
        best, step = (value(best[1], trust), best[1]), best[1] / 8
        while step > max(best[1] / 300, Fraction(1, _GRID)):
            tried = [(value(C, trust), C) for C in (best[1] - step, best[1] + step)]
            best, step = max(best, *tried), Fraction(round(step * _GRID / 2), _GRID)
        return best[1]

    def below(self, C: Fraction, enough: Callable[[Fraction, Fraction], bool]) -> Fraction:
        """Return a lower bound of sup G, from G at C with as many moments as are needed."""
        best = Fraction(self.q, self.T)
        for orders in ORDERS:
            try:
                less, more = self.gain(C, orders)
            except Undecided:
                continue
            best = max(best, less)
            if enough(best, more):
                break
        return best

    def exceeds(self, goal: Fraction, C: Fraction) -> bool:
        """Whether G ≤ goal was not shown for all C ≥ 0; at the given one it is largest, about."""
        if goal >= self.most:
            return False
        if not self._bounds(C, goal)[2] or (end := self._end(goal, C)) is None:
            return True
        here, width, rate = Fraction(0), Fraction(1, 8), Fraction(0)
        p, r, _ = self._bounds(here, goal)
        while here < end:
            width = min(width, end - here)
            while not (found := self._next(here, width, rate, (p, r), goal)):
                width *= Fraction(2, 3)
                if width < _FINEST:
                    return True
            if self.query and found[1] > 0:
                rate = Fraction(round(max(0.0, log(r / found[1])) / float(2 * width) * 64), 64)
            here, width, (p, r) = here + width, min(width * 3 / 2, Fraction(1)), found
        return False

    def _next(self, here: Fraction, width: Fraction, rate: Fraction, ends: Interval, goal: Fraction) -> Interval | None:
        """Return bounds P ≤ p, R ≥ r at the end of a cell on which G ≤ goal, from those at its beginning; else None."""
        p, r = ends
        for turned in (False, True):
            K, less = self._curvatures(here, width, rate) if turned else (self.K, 2 * self.K)
            more, less = K * width**2 / 8, less * width**2 / 8
            if not self._within(p + more, r - less, goal):
                continue
            far, near, _ = self._bounds(here + width, goal)
            # R does not decrease, tokens alone.
            near = near if self.query else max(near, r)
            turn = number(rate * width * turned).exp()
            if self._within(high(turn * number(far)) + more, low(turn**2 * number(near)) - less, goal):
                return far, near
        return None

    def _within(self, p: Fraction, r: Fraction, goal: Fraction) -> bool:
        return r > 0 and p**2 <= goal * self.q * r

    def _bounds(self, C: Fraction, goal: Fraction) -> tuple[Fraction, Fraction, bool]:
        """Return bounds P ≤ p, R ≥ r with as many moments as put G under the goal with some room, and whether it is."""
        p, r = Fraction(1), Fraction(0)
        for orders in ORDERS:
            try:
                p = min(p, high(self.at(C).selected_above(orders)))
                r = max(r, low(self.at(C).squares_below(orders)))
            except Undecided:
                continue
            if self._within(p, r, goal - (1 - goal) / 500):
                break
        return p, r, self._within(p, r, goal)

    def _curvatures(self, C: Fraction, width: Fraction, rate: Fraction) -> tuple[Fraction, Fraction]:
        """Return K, K′ on [C, C + width], of P e^{rate (C′ − C)} and R e^{2 rate (C′ − C)}."""
        if not self.query:
            if C not in self.variances:
                self.variances[C] = self._variance(C)
            K = self.variances[C] * high(number(2 * self.q * width).exp())
            return K, 2 * K
        at, turn, bend = self.at(C), number(rate * width).exp(), number(rate * _THETA).exp()
        first, second = arb(0), arb(0)
        for place in "AB" if self.T > self.q else "A":
            # E Σ e^{CX_i} n over the selected, and E Σ e^{2CX_i} (n + y_i²).
            for m, weight in ((1, 1), (-1, 1), (0, -2)):
                if place == "A":
                    first += weight * self._pairs(at, place, 1, m)
                second += weight * (self._pairs(at, place, 2, m) + bend**m * self._power_sum(at, place, (2, m)))
        theta = number(_THETA) ** 2
        K, less = high(turn * first / theta), high(turn**2 * 8 * second / theta)
        return K, less

    def _power_sum(self, at: Attention, place: str, *exponents: tuple[int, int], other: bool = False) -> arb:
        """Return E Σ_i e^{(aC + mθ)X_i} over a place, times another over it or over the other place."""
        own, more = exponents[:1], exponents[1:]
        h = -sum((a * at.C + m * _THETA for a, m in exponents), Fraction(0))
        pair = (own, more) if other else ((*own, *more), ())
        return at.mean(*(pair if place == "A" else pair[::-1]), number(h))

    def _pairs(self, at: Attention, place: str, a: int, m: int) -> arb:
        """Return E Σ_i e^{aCX_i} Σ_j e^{(C + mθ)X_j}, i over a place and j over all tokens."""
        return sum((self._power_sum(at, place, (a, 0), (1, m), other=other) for other in (False, True)), arb(0))

    def _variance(self, C: Fraction) -> Fraction:
        """Return a bound of E Var at C, tokens alone."""
        at, total = self.at(C), [arb(0), arb(0)]
        try:
            for place in "ab" if self.T > self.q else "a":
                for i, m in enumerate("+-"):
                    total[i] += at.above(f"{place}{m}1", 1, ORDERS[0])
        except Undecided:
            return self.K
        return high(2 * (total[0] * total[1]).sqrt() - 2)

    def _end(self, goal: Fraction, C: Fraction) -> Fraction | None:
        """Return a C beyond which G ≤ goal; None where none was found."""
        best, missed = inf, 0
        while C < _FURTHEST and missed < 4:
            try:
                found = self._beyond(C)
            except Undecided:
                found = Fraction(1)
            if found <= goal:
                return C
            best, missed = (float(found), 0) if found < best or self.query else (best, missed + (best < 1))
            C = Fraction(round(C * 9 / 8 * _GRID) + 1, _GRID)
        return None

    def _beyond(self, C: Fraction) -> Fraction:
        """Return a bound of G from C on."""
        q, D, at = self.q, self.sizes[2], self.at(C)
        if not self.query:
            least = low(at.squares_below(ORDERS[2]))
            return min(1 / (q * least), Fraction(1)) if least > 0 else Fraction(1)
        one, two = (self._power_sum(at, "A", (a, 0)) for a in (1, 2))
        most, least = one, two / (1 + self.T) ** 2
        bounds = [one**2 / (q * two) * (1 + self.T) ** 2]
        if q % 2 == 0:
            chance = (arb(comb(q, q // 2)) / 2**q) ** D
            most, least = one - q * chance + q * chance / (1 + self.T), chance * self.T / (1 + self.T) ** 2
        else:
            chance = (arb(comb(q - 1, q // 2)) / 2 ** (q - 1)) ** D
            count = 2 + (self.T - 1) * ((1 + number(-2 * C / D).exp()) / 2) ** D
            most, least = one - q * chance / 2, q * chance / count**2
        bounds.append(most**2 / (q * least))
        return min(Fraction(1), *map(high, bounds))


def gain(effort: Effort, sizes: Sizes) -> Interval:
    """Enclose sup G; 1 − sup G to within 1 % where the moments are good enough."""
    if closed := _closed(sizes):
        return closed
    with ctx.workprec(BITS):
        search = Search(effort, sizes)
        C = search.near()
        best = search.below(C, lambda less, more: more - less <= (1 - less) / 1000)
        for slack in _SLACKS:
            goal = best + (1 - best) * slack
            if not search.exceeds(goal, C):
                return best, min(goal, search.most)
        return best, search.most


def least_dimension(effort: Effort, sizes: Sizes, goal: Fraction) -> tuple[int, int]:
    """Enclose a D ≥ 1 at which sup G ≥ goal, but not at D − 1; the D of the sizes is not used."""
    T, q, _, query = sizes
    if q == T or goal <= 0:
        return 1, 1
    if goal >= 1:
        # sup G < 1: with a chance that does not depend on C all encodings are the same, and all tokens' p_i too.
        raise Rejected("no dimension makes the loss so small")

    def reached(D: int) -> bool:
        effort.spend(100)
        if closed := _closed((T, q, D, query)):
            return closed[0] >= goal
        search = Search(effort, (T, q, D, query))
        return search.below(search.near(), lambda less, more: less >= goal or more < goal) >= goal

    with ctx.workprec(BITS):
        under, D = 0, 1
        while not reached(D):
            under, D = D, 2 * D
            if D > 2 * MOST:
                raise Rejected(f"the least dimension is above {MOST}")
        while D - under > 1:
            middle = (under + D) // 2
            under, D = (under, middle) if reached(middle) else (middle, D)
        step = max(1, D // 200) if _closed((T, q, D, query)) is None else 1
        below, step = D - step, 2 * step
        while below > 0 and not _missed(effort, (T, q, below, query), goal):
            below, step = below - step, 2 * step
    return max(below, 0) + 1, D


def _missed(effort: Effort, sizes: Sizes, goal: Fraction) -> bool:
    """Whether sup G < goal is shown."""
    if closed := _closed(sizes):
        return closed[1] < goal
    search = Search(effort, sizes)
    return not search.exceeds(goal - (1 - goal) / 2**40, search.near())
