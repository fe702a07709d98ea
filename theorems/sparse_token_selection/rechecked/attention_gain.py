# C and D are the paper's letters, and no constants.
# pyright: reportConstantRedefinition=false
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
positive. The same holds of P e^{μ(C − C₁)} and R e^{2μ(C − C₁)}, whose G is the same. K and K' are those of
`attention_curvature`, or without a factor K = E max |y|², K' = 2K: −P'' ≤ E Var, R'' ≤ 2E Var as p_i|x_i| ≤ ½ Σ
p_j|x_j|, and Var ≤ λ², λ = Σ|s_k|/D ≥ |v_i|, tokens alone, Var ≤ |u|⁴ with the query token, where λ ≤ |u|².

*Beyond the last cell.* Tokens alone, R' = 2E Σ p_i·p_i x_i ≥ 0 as p_i grows with x_i; P ≤ 1, so that G ≤ 1/(qR(C₁)).
With the query token let M(C) = E Σ_y e^{CX_i}; 1 ≤ N ≤ 1 + T, so that G ≤ (1+T)² M(C)²/(qM(2C)), which does not grow
as log M is convex. On u = 0, of probability ω (q even), p = 1/(1+T): P ≤ M − qω + qω/(1+T), R ≥ ωT/(1+T)². On X_i =
0, of probability ω (q odd: the other signs add up to 0 in each coordinate), N ≥ 2 and E N = 2 + (T−1)((1 +
e^{−2C/D})/2)^D: P ≤ M − qω/2, R ≥ qω/(E N)².
"""

from collections.abc import Callable
from fractions import Fraction
from math import comb, inf, log, sqrt
from typing import TypeAlias

from flint import arb, ctx

from verify.rechecker.balls import ball, high, low
from verify.rechecker.reading import Effort, Rejected

from .attention import BITS, ORDERS, Attention, Undecided, about_shares
from .attention_curvature import Curvature
from .attention_hint import about_best, about_dimension

Sizes: TypeAlias = tuple[int, int, int, int]
Interval: TypeAlias = tuple[Fraction, Fraction]
_SLACKS = tuple(Fraction(n, 1000) for n in (4, 10, 25, 80, 250, 600))
"""Slacks above the best value found, relative to 1 minus it, at which the bound is tried."""
MOST, _SUMMED, _FURTHEST, _FINEST, _GRID = 10**6, 256, 400, Fraction(1, 1024), 256
_STRIDE, _MOST_STRIDES, _FEW_STRIDES, _SHARP = 1.12, 12, 3, 0.02
_HUGE = Fraction(10**30)
_PROBED = (Fraction(1, 2), Fraction(2), Fraction(4), Fraction(8))
"""Multiples of the C that was found, where G is looked at when a goal was not shown."""
_ROOM = (Fraction(3, 10), *(Fraction(1, 500) for _ in ORDERS[1:]))
"""Room below the goal, relative to 1 minus it, at which no more moments are used."""


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
        self._near: Fraction | None = None
        alone = _closed((*sizes[:3], 0))
        self.most = alone[1] if alone else Fraction(1)
        self.T, self.q, self.D, self.query = sizes
        q, signs = self.q, [(abs(self.q - 2 * j), Fraction(comb(self.q, j), 2**self.q)) for j in range(self.q + 1)]
        first = sum((s * w for s, w in signs), Fraction(0))
        # E|u|⁴ from E s² = q, E s⁴ = 3q² − 2q; E λ² from E|s|, E s².
        self.K = q * q + Fraction(2 * q * (q - 1), self.D) if self.query else first**2 + (q - first**2) / self.D

    def attention(self, C: Fraction) -> Attention:
        """Return the means at C."""
        if C not in self.known:
            if len(self.known) > 64:
                self.known.clear()
            self.known[C] = Attention(self.effort, self.sizes, C)
        return self.known[C]

    def gain(self, C: Fraction, orders: int) -> Interval:
        """Return bounds of G at C."""
        (r, above), (p, most) = self.attention(C).squares(orders), self.attention(C).selected(orders)
        least = low(r)
        bound = high(most) ** 2 / (self.q * least) if least > 0 else Fraction(1)
        return max(low(p), Fraction(0)) ** 2 / (self.q * high(above)), min(bound, Fraction(1))

    def surely(self, C: Fraction) -> Interval:
        """Return bounds of G at C from the most moments; 0 and 1 where they say nothing."""
        try:
            return self.gain(C, ORDERS[-1])
        except Undecided:
            return Fraction(0), Fraction(1)

    def near(self) -> Fraction:
        """Return an approximation of the C at which G is largest."""
        if self._near is None:
            self._near = self._uphill()
        return self._near

    def _uphill(self) -> Fraction:
        """Return the C near the largest G, by ascent from `about_best`."""
        self.effort.spend(2000 + 200 * self.q)
        start, known = about_best(*self.sizes)[1], dict[int, float]()
        sharp = self._about(_on_grid(start), ORDERS[1])[1]

        def value(step: int) -> float:
            if step not in known:
                known[step] = self._about(_on_grid(start * _STRIDE**step), None if sharp else ORDERS[2])[0]
            return known[step]

        best, most = 0, _MOST_STRIDES if sharp else _FEW_STRIDES
        while (better := max((best - 1, best, best + 1), key=value)) != best and abs(better) <= most:
            best = better
        left, middle, right = (log(max(1 - value(k), 1e-300)) for k in (best - 1, best, best + 1))
        bend = left - 2 * middle + right
        offset = max(-0.5, min(0.5, (left - right) / (2 * bend))) if bend > 0 else 0.0
        return _on_grid(start * _STRIDE ** (best + offset))

    def _about(self, C: Fraction, orders: int | None) -> tuple[float, bool]:
        """Return an approximation of G at C, and whether its bounds are close.

        With no orders, attending to the tokens alone, it is the upper bound, and the bounds count as close.
        """
        try:
            if orders is None and not self.query:
                means = self.attention(C)
                r, p = low(means.squares_below(ORDERS[1])), high(means.selected_above(ORDERS[1]))
                return float(self._level(p, r)), True
            below, above = map(float, self.gain(C, orders or ORDERS[1]))
        except Undecided:
            return 0.0, False
        return sqrt(below * above), above - below < _SHARP * (1 - below)

    def below(self, C: Fraction, enough: Callable[[Fraction, Fraction], bool]) -> Interval:
        """Return a lower bound of sup G, and an upper one of G at C, with as many moments as are needed."""
        best, least = Fraction(self.q, self.T), Fraction(1)
        for orders in ORDERS[1:]:
            try:
                less, more = self.gain(C, orders)
            except Undecided:
                continue
            best, least = max(best, less), min(least, more)
            if enough(best, least):
                break
        return best, least

    def exceeds(self, goal: Fraction, C: Fraction, first: Fraction = Fraction(0)) -> Fraction | None:
        """Return None where G ≤ goal is shown for all C ≥ `first`, else about the least goal that might be.

        About the given C it is largest there.
        """
        if goal >= self.most:
            return None
        level = self._level(*self._bounds(C, goal))
        if level > goal or (end := self._end(goal, C)) is None:
            return max(level, goal)
        start, width, ends = first, Fraction(1, 4), self._bounds(first, goal)
        while start < end:
            width = min(width, end - start)
            beyond = self._bounds(start + width, goal)
            if not self.query:
                # R does not decrease.
                beyond = beyond[0], max(beyond[1], ends[1])
            good, wide = self._cell(start, width, ends, beyond, goal)
            if good:
                start, ends = start + width, beyond
            elif width < _FINEST:
                return max(goal, self._level(*ends), self._level(*beyond))
            else:
                wide = min(max(wide, 0.25 * float(width)), 0.8 * float(width))
            width = max(Fraction(round(wide * 4096), 4096), _FINEST / 2)
        return None

    def _cell(
        self, start: Fraction, width: Fraction, ends: Interval, beyond: Interval, goal: Fraction
    ) -> tuple[bool, float]:
        """Whether G ≤ goal on a cell, from bounds P ≤ p, R ≥ r at its ends; and about how wide the next should be."""
        (p, r), (far, near) = ends, beyond
        if not (r > 0 and near > 0):
            return False, float(width) / 2
        eighth = width**2 / 8
        rate = Fraction(round((_log(r) - _log(near)) / float(2 * width) * 64), 64)
        curvature = Curvature(self.effort, self.sizes, self._shares(start + width / 2, (p + far) / 2), start, rate)
        bounds = [curvature.bounds(C) for C in (start, start + width)]
        K, less = (max(high(one), high(other)) for one, other in zip(*bounds, strict=True))
        turn = ball(rate * width).exp()
        good = self._within(p + K * eighth, r - less * eighth, goal) and self._within(
            high(turn * ball(far)) + K * eighth, low(turn**2 * ball(near)) - less * eighth, goal
        )
        good = good or all(self._within(x + self.K * eighth, y - 2 * self.K * eighth, goal) for x, y in (ends, beyond))
        # Where the room to the goal at the next cell's ends is as now, or shrinks as it did, relative to R.
        bend = float(min(_HUGE, less / r + 2 * K / p))
        now, then = (float(max(Fraction(0), 1 - x * x / (goal * self.q * y))) for x, y in (ends, beyond))
        if not good:
            return False, 0.9 * sqrt(8 * min(now, then) / bend)
        slope, wide = (then - now) / float(width), 2 * float(width)
        for _ in range(3):
            wide = 0.9 * sqrt(8 * max(0.2 * then, min(then, then + slope * wide)) / bend)
        return True, min(wide, 3 * float(width))

    def _shares(self, C: Fraction, p: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """Return an approximation of the mean shares of A, B and Q in N."""
        a, b, _ = about_shares(self.sizes, C)
        if not self.query:
            a, b = float(p), 1 - float(p)
        first = Fraction(round(min(max(a, 2**-40), 1) * 2**40), 2**40)
        second = min(1 - first, Fraction(round(max(b, 2**-40) * 2**40), 2**40)) if self.T > self.q else Fraction(0)
        if not self.query:
            return (first, 1 - first, Fraction(0)) if second else (Fraction(1), Fraction(0), Fraction(0))
        return first, second, 1 - first - second

    def _level(self, p: Fraction, r: Fraction) -> Fraction:
        return min(Fraction(1), p**2 / (self.q * r)) if r > 0 else Fraction(1)

    def _within(self, p: Fraction, r: Fraction, goal: Fraction) -> bool:
        return r > 0 and p**2 <= goal * self.q * r

    def _bounds(self, C: Fraction, goal: Fraction) -> Interval:
        """Return bounds P ≤ p, R ≥ r with as many moments as put G under the goal with some room."""
        p, r = Fraction(1), Fraction(0)
        for orders, room in zip(ORDERS, _ROOM, strict=True):
            try:
                r = max(r, low(self.attention(C).squares_below(orders)))
                p = min(p, high(self.attention(C).selected_above(orders)))
            except Undecided:
                continue
            if self._within(p, r, goal - (1 - goal) * room):
                break
        return p, r

    def _end(self, goal: Fraction, start: Fraction) -> Fraction | None:
        """Return a C beyond which G ≤ goal; None where none was found."""
        for orders in ORDERS[1:3]:
            best, missed, C = inf, 0, start
            while C < _FURTHEST and missed < 3:
                try:
                    bound = self._beyond(C, orders)
                except Undecided:
                    bound = Fraction(1)
                if bound <= goal:
                    return C
                best, missed = (float(bound), 0) if bound < best or self.query else (best, missed + (best < 1))
                C = Fraction(round(C * 5 / 4 * _GRID) + 1, _GRID)
        return None

    def _beyond(self, C: Fraction, orders: int) -> Fraction:
        """Return a bound of G from C on."""
        q, D = self.q, self.D
        if not self.query:
            least = low(self.attention(C).squares_below(orders))
            return min(1 / (q * least), Fraction(1)) if least > 0 else Fraction(1)
        one, two = self._power_sum(C), self._power_sum(2 * C)
        most, least = one, two / (1 + self.T) ** 2
        bounds = [one**2 / (q * two) * (1 + self.T) ** 2]
        if q % 2 == 0:
            chance = (arb(comb(q, q // 2)) / 2**q) ** D
            most, least = one - q * chance + q * chance / (1 + self.T), chance * self.T / (1 + self.T) ** 2
        else:
            chance = (arb(comb(q - 1, q // 2)) / 2 ** (q - 1)) ** D
            count = 2 + (self.T - 1) * ((1 + ball(-2 * C / D).exp()) / 2) ** D
            most, least = one - q * chance / 2, q * chance / count**2
        bounds.append(most**2 / (q * least))
        return min(Fraction(1), *map(high, bounds))

    def _power_sum(self, C: Fraction) -> arb:
        """Return E Σ e^{C(v_i − |u|²)} over the selected; in a coordinate s times a selected sign is alike for all."""
        unit, total = ball(C / self.D), arb(0)
        for k in range(self.q):
            s = self.q - 2 * k
            total += comb(self.q - 1, k) * (unit * (s - s * s)).exp()
        return self.q * (total / 2 ** (self.q - 1)) ** self.D


def _log(value: Fraction) -> float:
    """Return an approximation of the logarithm; the number may be out of the range of floats."""
    return log(value.numerator) - log(value.denominator)


def _on_grid(C: float) -> Fraction:
    return Fraction(max(1, round(C * _GRID)), _GRID)


def gain(effort: Effort, sizes: Sizes) -> Interval:
    """Enclose sup G; 1 − sup G to within 1 % where the moments are good enough."""
    if closed := _closed(sizes):
        return closed
    with ctx.workprec(BITS):
        search = Search(effort, sizes)
        C = search.near()
        best, _ = search.below(C, lambda less, more: more - less <= (1 - less) / 1000)
        level, slacks, probed = best, list(_SLACKS), False
        while slacks:
            goal = best + (1 - best) * slacks.pop(0)
            if goal < level:
                continue
            failed = search.exceeds(goal, C)
            if failed is None:
                return best, min(goal, search.most)
            level = max(level, failed)
            if not probed:
                probed, others = True, [(*search.surely(C * factor), C * factor) for factor in _PROBED]
                level = max(level, *(more for _, more, _ in others))
                less, _, best_C = max(others)
                if less > best:
                    best, C, slacks = less, best_C, list(_SLACKS)
        return best, search.most


def beyond(effort: Effort, sizes: Sizes, first: Fraction) -> Interval:
    """Enclose sup G over C ≥ first > 0: the bound is nearer to G there than to sup G over all C, where one is shown."""
    if closed := _closed(sizes):
        # G is 1 at T = q, and otherwise rises to its supremum.
        return (Fraction(0) if sizes[0] == sizes[1] else closed[0]), closed[1]
    with ctx.workprec(BITS):
        search = Search(effort, sizes)
        best, _ = search.below(search.near(), lambda less, more: more - less <= (1 - less) / 1000)
        less, more = search.surely(first)
        for goal in (less + max(best - less, Fraction(0)) * share / 8 for share in (2, 4, 6)):
            if goal >= more and search.exceeds(goal, first, first) is None:
                return less, goal
        return less, search.most


class _Gains:
    """Bounds of sup G against a goal, with T and q of some sizes, at any D."""

    def __init__(self, effort: Effort, sizes: Sizes, goal: Fraction) -> None:
        self.effort, self.sizes, self.goal = effort, sizes, goal
        self._searches: dict[int, Search] = {}

    def ends(self, D: int) -> Interval:
        """Enclose sup G so closely that it is at or above the goal, or below it."""
        self.effort.spend(100)
        if closed := _closed(self._at(D)):
            return closed
        search, goal = self._search(D), self.goal
        return search.below(search.near(), lambda less, more: less >= goal or more < goal)

    def missed(self, D: int) -> bool:
        """Whether sup G is shown to be below the goal."""
        if closed := _closed(self._at(D)):
            return closed[1] < self.goal
        search = self._search(D)
        return search.exceeds(self.goal - (1 - self.goal) / 2**40, search.near()) is None

    def _at(self, D: int) -> Sizes:
        T, q, _, query = self.sizes
        return T, q, D, query

    def _search(self, D: int) -> Search:
        if D not in self._searches:
            self._searches[D] = Search(self.effort, self._at(D))
        return self._searches[D]


def least_dimension(effort: Effort, sizes: Sizes, goal: Fraction) -> tuple[int, int]:
    """Enclose a D ≥ 1 at which sup G ≥ goal, but not at D − 1; the D of the sizes is not used."""
    T, q, _, query = sizes
    if q == T or goal <= 0:
        return 1, 1
    if goal >= 1:
        # sup G < 1: with a chance that does not depend on C all encodings are the same, and all tokens' p_i too.
        raise Rejected("no dimension makes the loss so small")

    gains = _Gains(effort, sizes, goal)
    with ctx.workprec(BITS):
        under, D, guess, step, tries = 0, None, 1, 1, 0
        if _closed((T, q, 1, query)) is None:
            effort.spend(30000 + 2000 * q)
            guess = about_dimension(T, q, query, float(goal), MOST)
        while D is None or D - under > 1:
            less, more = gains.ends(guess)
            under, D = (under, guess) if less >= goal else (guess, D)
            if D is None and under >= MOST:
                raise Rejected(f"the least dimension is above {MOST}")
            # The distance to 1 is about like 1/D; on one side of it, steps grow.
            aim, tries = round(guess * min(Fraction(2), (2 - less - more) / (2 * (1 - goal)))), tries + 1
            if D is None:
                guess, step = min(MOST, max(aim, under + step)), 2 * step
            elif under == 0:
                guess, step = max(1, min(aim, D - step)), 2 * step
            else:
                guess = min(max(aim, under + 1), D - 1) if tries % 3 else (under + D) // 2
        step = max(1, D // 200) if _closed((T, q, D, query)) is None else 1
        below, step = D - step, 2 * step
        while below > 0 and not gains.missed(below):
            below, step = below - step, 2 * step
    return max(below, 0) + 1, D
