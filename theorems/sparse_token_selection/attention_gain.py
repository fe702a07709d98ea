r"""The infimum of the loss of attention by sign encodings: the supremum of P²/(qR) over C ≥ 0, enclosed.

With P, R of `sign_attention` the loss on the set is d/2 (α²R − 2αP/q + 1/q), least at α = P/(qR):

    inf_α L = d/(2q) (1 − G(C)),    G = P²/(qR) ≤ 1.

*All tokens selected* (T = q): G(0) = 1.

*q ≤ 2, tokens alone.* The v_i on y are all equal, and no v_j is larger. Let k be the number of other tokens with this
value of v_j. Then S = Σ_y p_i ≤ S* = q/(q+k) and Σ p_i² ≥ (q+k)(S/q)² = S²/(q S*), so that by Cauchy and Schwarz
P² ≤ E[S²/S*] E[S*] ≤ qR E[S*]: G < E[S*], which is the limit of G for C → ∞. The supremum E[q/(q+k)] is not attained.
Given the number m of nonzero coordinates of u, k is binomial (T − q, 2^{−m}).

*q ≥ 3 or with the query's token: cells.* On [C_1, C_2], δ = C_2 − C_1, let −P'' ≤ K and R'' ≤ K'. P is at most its
chord plus Kδ²/8, and R is at least its chord minus K'δ²/8. For linear functions l, l' of C and any number g, l² − g l'
is convex, so that its largest value on the cell is at an end. So

    G ≤ max over both ends of (P + Kδ²/8)²/(q(R − K'δ²/8))    on the whole cell.

With v̄, Var the softmax's mean and variance of v and x_i = v_i − v̄: P'' = E Σ_y p_i(x_i² − Var) and
R'' = E Σ p_i²(4x_i² − 2Var). As Σ p_i x_i = 0, p_i|x_i| ≤ ½ Σ p|x|, hence Σ p_i²x_i² ≤ ½Var; and |v_i| ≤ λ, with
λ = Σ_k|s_k|/D, so Var ≤ λ² (with the query's token, whose logit is |u|² ≥ λ, Var ≤ |u|⁴): K = E λ², K' = 2K.
For tokens alone, K can also be e^{2qδ} E Var(C_1), because no p_i grows by more than the factor e^{2qδ} on the
cell.
*Tokens alone, beyond the last cell:* Σ p_i² does not decrease in C (its slope is 2 Σ p_i²x_i, and p grows with x),
so that G ≤ 1/(qR(C_1)) for all C ≥ C_1.

*With the query's token.* X_i = v_i − |u|² ≤ 0 (in each coordinate |s_k| ≤ s_k²), h_i = e^{C X_i}, N = 1 + Σ h_j and
p_i = h_i/N. G does not change when P is multiplied by e^{μC} and R by e^{2μC}; with y_i = X_i + μ and n = Σ_j h_j X_j²,

    −(e^{Cy}/N)'' ≤ e^{Cy} n,    (e^{2Cy}/N²)'' ≤ 8 e^{2Cy} (y² + n),

The means of these bounds are bounded by means of exponentials, as X² ≤ (2cosh θX − 2)/θ². On the cell these are at most
e^{μδ} and e^{2μδ} times their values at C_1. *Beyond the last cell:* 1 ≤ N ≤ 1 + T, so G ≤ (1+T)² M(C)²/(q M(2C)) with
M(C) = E Σ_y e^{C X_i}; log M is convex, so that M(C)²/M(2C) does not increase. For even q, let ω be the probability of
u = 0, where all logits are 0: then also P ≤ ωq/(1+T) + M(C) − qω and R ≥ ωT/(1+T)². For odd q, let ω be the probability
of X_i = 0 for a selected token (in each coordinate s_k = ε_ik, so that the other signs of y add up to 0): if X_i = 0,
then N ≥ 2, and the mean of N is n = 2 + (T−1)((1 + e^{−2C/D})/2)^D, which falls with C, so that P ≤ M(C) − qω/2 and
R ≥ qω/n².
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import flint
from flint import arb, fmpq

from theorems.sparse_token_selection.approximate_gain import approximate_gain
from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, Place, SignAttention, outer
from verify.budget import look_at_the_clock
from verify.errors import UndecidedError

ACCURACY = Fraction(1, 120)
"""Target for the width of the least loss's enclosure, relative to the least loss."""

_FINEST, _COARSEST = Fraction(1, 512), Fraction(1)
_NARROWER, _WIDER, _MARGIN = Fraction(3, 4), Fraction(5, 4), Fraction(1, 500)
_FURTHEST, _FURTHER, _PATIENCE = 400, Fraction(9, 8), 3
_TAIL_EFFORT = 3
_ROUNDED = 128
_TURN = Fraction(1, 2)
_STRIDE, _MOST_STRIDES, _MANY, _BELOW_ONE = 1.12, 4, 8, 1 - 1e-15
_SUMMED = 256


@dataclass(frozen=True)
class Gain:
    """Bounds of sup G. G reaches `lower` at `C`, which is None if the supremum is the limit for C → ∞.

    `attained` says whether the supremum is reached at some C; it is None if that is open. At `C`, P is at least
    `selected` and R at most `squares`.
    """

    lower: Fraction
    upper: Fraction
    C: Fraction | None
    attained: bool | None
    selected: Fraction = Fraction(1)
    squares: Fraction = Fraction(1)


@dataclass(frozen=True)
class _Point:
    """Bounds at C: P ≤ most, R ≥ least."""

    C: Fraction
    most: Fraction
    least: Fraction


@lru_cache(maxsize=512)
def greatest_gain(T: int, q: int, D: int, query: bool, accuracy: Fraction = ACCURACY) -> Gain:
    """Return bounds of sup G over C ≥ 0 that enclose 1 − sup G to about a relative accuracy, for 1 ≤ q ≤ T and D ≥ 1.

    If the accuracy is out of reach (as in few dimensions, where even the best C leaves most of the loss), the upper
    bound is the best that was found.
    """
    if q == T:
        return Gain(Fraction(1), Fraction(1), Fraction(0), True, Fraction(1), Fraction(1, q))
    if q <= 2 and not query:
        return _limit(T, q, D)
    with flint.ctx.workprec(BITS):
        search = _Search(SignAttention(T, q, D, query))
        best = search.best(accuracy / 3)
        assert best.C is not None
        goal = best.lower + accuracy * 2 / 3 * (1 - best.lower)
        upper, beyond = search.bound(goal, best.C)
        return replace(best, upper=upper, attained=True if beyond < best.lower else None)


@lru_cache(maxsize=4096)
def estimated_gain(T: int, q: int, D: int, query: bool) -> tuple[float, float]:
    """Return fast approximations of sup G and of a C at which it is reached (infinite if there is none)."""
    if q == T:
        return 1.0, 0.0
    if q <= 2 and not query:
        return float(_limit(T, q, D).lower), math.inf
    with flint.ctx.workprec(BITS):
        return _Search(SignAttention(T, q, D, query)).estimate()


def reaches(T: int, q: int, D: int, query: bool, level: Fraction) -> bool:
    """Whether sup G ≥ level is shown."""
    if _closed(T, q, query):
        return greatest_gain(T, q, D, query).lower >= level
    with flint.ctx.workprec(BITS):
        return _Search(SignAttention(T, q, D, query)).reaches(level)


def stays_below(T: int, q: int, D: int, query: bool, level: Fraction) -> bool:
    """Whether sup G < level is shown."""
    if _closed(T, q, query):
        return greatest_gain(T, q, D, query).upper < level
    with flint.ctx.workprec(BITS):
        search = _Search(SignAttention(T, q, D, query))
        best = search.best(ACCURACY)
        goal = level - (1 - level) * _MARGIN / 4
        assert best.C is not None
        return best.lower < goal and search.bound(goal, best.C, give_up=True)[0] < level


@lru_cache(maxsize=64)
def gain_beyond(T: int, q: int, D: int, query: bool, start: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of sup G over C ≥ start > 0.

    The goal for the upper bound is halfway from G(start) to sup G over C ≥ 0. Raises UndecidedError if the moments give
    no bounds.
    """
    if q == T:
        return Fraction(0), Fraction(1)
    if q <= 2 and not query:
        limit = _limit(T, q, D)
        return limit.lower, limit.upper
    with flint.ctx.workprec(BITS):
        search = _Search(SignAttention(T, q, D, query))
        best = search.best(ACCURACY)
        lower, upper, *_ = search.gain(start, len(EFFORTS) - 1)
        goal = max(upper, (lower + best.lower) / 2)
        assert best.C is not None
        if goal >= 1:
            return lower, Fraction(1)
        return lower, search.bound(goal, max(start, best.C), first=start)[0]


def _closed(T: int, q: int, query: bool) -> bool:
    return q == T or (q <= 2 and not query)


def _limit(T: int, q: int, D: int) -> Gain:
    """Return bounds of E[q/(q+k)] for q ≤ 2, where k is binomial given the number m of nonzero coordinates of u.

    In many dimensions they follow from k/(q+1) − k(k−1)/((q+1)(q+2)) ≤ k/(q+k) ≤ k/(q+1) and k's factorial moments.
    """
    if D > _SUMMED:
        with flint.ctx.workprec(BITS):
            n = T - q
            once, twice = (arb(2) ** (-j * D) if q == 1 else ((1 + arb(2) ** -j) / 2) ** D for j in (1, 2))
            lower = 1 - n * once / (q + 1)
            return Gain(*outer(lower, lower + n * (n - 1) * twice / ((q + 1) * (q + 2))), None, False)
    with flint.ctx.workprec(BITS + 4 * D):
        total = arb(0)
        for m in [D] if q == 1 else range(D + 1):
            weight = arb(1) if q == 1 else arb(math.comb(D, m)) / 2**D
            total += weight * _mean_share(T - q, q, arb(2) ** -m)
        lower, upper = outer(total, total)
    return Gain(lower, upper, None, False)


def _mean_share(n: int, q: int, p: arb) -> arb:
    """Return E[q/(q+k)] = q ∫_0^1 t^{q−1} (1 − p + pt)^n dt for k binomial (n, p) and q = 1 or 2."""
    if p == 1:
        return arb(q) / (q + n)
    first = (1 - (1 - p) ** (n + 1)) / (n + 1)
    if q == 1:
        return first / p
    return 2 * ((1 - (1 - p) ** (n + 2)) / (n + 2) - (1 - p) * first) / p**2


class _Search:
    def __init__(self, model: SignAttention) -> None:
        self.model = model
        self.points: dict[tuple[Fraction, int], _Point] = {}
        self.variances: dict[Fraction, Fraction] = {}
        q, D = model.q, model.D
        signs = [(abs(q - 2 * k), Fraction(math.comb(q, k), 2**q)) for k in range(q + 1)]
        mean, square = sum(s * w for s, w in signs), q
        spread = mean**2 + (square - mean**2) / D
        self.curvature = q**2 + Fraction(2 * q * (q - 1), D) if model.query else Fraction(spread)

    def point(self, C: Fraction, effort: int) -> _Point:
        """Return bounds of P and R at C, exact at C = 0. Raises UndecidedError and OutOfTimeError."""
        look_at_the_clock()
        T, q, query = self.model.T, self.model.q, self.model.query
        if C == 0:
            return _Point(C, Fraction(q, T + query), Fraction(T, (T + query) ** 2))
        if (C, effort) not in self.points:
            most = _rational(self.model.selected_above(_arb(C), EFFORTS[effort]))
            least = -_rational(-self.model.squares_below(_arb(C), EFFORTS[effort]))
            self.points[C, effort] = _Point(C, most, max(least, Fraction(0)))
        return self.points[C, effort]

    def gain(self, C: Fraction, effort: int) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """Return both bounds of G at C, a lower bound of P and an upper bound of R. Raises OutOfTimeError."""
        look_at_the_clock()
        less, most = outer(*self.model.selected(_arb(C), EFFORTS[effort]))
        least, above = outer(*self.model.squares(_arb(C), EFFORTS[effort]))
        q = self.model.q
        upper = most**2 / (q * least) if least > 0 else Fraction(1)
        return max(less, Fraction(0)) ** 2 / (q * above), min(upper, Fraction(1)), less, above

    def estimate(self) -> tuple[float, float]:
        """Return estimates of sup G and its C, by ascent from the C of `approximate_gain` and then a fitted parabola.

        Far from this C the bounds of G are wide and misleading. If the layer attends to the tokens alone, the upper
        bound is closer to G than the lower bound, except in few dimensions.
        """
        model = self.model
        start = approximate_gain(model.T, model.q, model.D, model.query)[1]
        known: dict[int, float] = {}

        def at(step: int) -> float:
            if step not in known:
                known[step] = self._about(_grid_point(start * _STRIDE**step))
            return known[step]

        step = 0
        while (uphill := max((step - 1, step, step + 1), key=at)) != step and abs(uphill) < _MOST_STRIDES:
            step = uphill
        left, middle, right = (math.log1p(-min(at(k), _BELOW_ONE)) for k in (step - 1, step, step + 1))
        bend = left - 2 * middle + right
        offset = max(-1.0, min(1.0, (left - right) / (2 * bend))) if bend > 0 else 0.0
        C = start * _STRIDE ** (step + offset)
        return max((self._about(_grid_point(C)), C), (at(step), start * _STRIDE**step))

    def _about(self, C: Fraction) -> float:
        """Return an estimate of G at C, or 0 if the moments give no bounds."""
        try:
            if not self.model.query and self.model.D >= _MANY * self.model.q:
                return float(self._at(self.point(C, 0)))
            low, high, *_ = self.gain(C, 1)
            return math.sqrt(float(low) * float(high))
        except UndecidedError:
            return 0.0

    def best(self, accuracy: Fraction) -> Gain:
        """Return a C near the best, with bounds of G there."""
        found = None
        for gain in self._closer(accuracy):
            if found is None or gain.lower > found.lower:
                found = gain
        assert found is not None
        return found

    def reaches(self, level: Fraction) -> bool:
        """Whether G ≥ level is shown at a C near the best, with no more moments than are needed."""
        for gain in self._closer(ACCURACY / 3):
            if gain.lower >= level or gain.upper < level:
                return gain.lower >= level
        return False

    def _closer(self, accuracy: Fraction) -> Iterator[Gain]:
        """Yield bounds of G at a C near the best, from more and more moments, until they have the accuracy."""
        C = _grid_point(self.estimate()[1])
        for effort in range(1, len(EFFORTS)):
            lower, upper, selected, squares = self.gain(C, effort)
            yield Gain(lower, upper, C, None, selected, squares)
            if upper - lower <= accuracy * (1 - lower):
                return

    def bound(
        self, goal: Fraction, start: Fraction, *, first: Fraction = Fraction(0), give_up: bool = False
    ) -> tuple[Fraction, Fraction]:
        """Return upper bounds of G over all C ≥ `first` and beyond the last cell, which ends at `start` or later.

        The first bound is `goal`, or a larger one if the bound found on a cell or beyond the cells is above `goal`.
        With `give_up`, the search ends and the first bound is 1 as soon as a bound found is above `goal`.

        Raises UndecidedError if G is not bounded at `first`.
        """
        end, beyond = self._end(goal, start)
        if give_up and beyond > goal + _MARGIN / 4 * (1 - goal):
            return Fraction(1), beyond
        goal = max(goal, beyond)
        here, width = self.point(first, len(EFFORTS) - 1), Fraction(1, 8)
        while here.C < end:
            width = min(width, end - here.C)
            there, found = self._cell(here, width, goal)
            while found > goal and width > _FINEST and self._at(there) < goal:
                width *= _NARROWER
                there, found = self._cell(here, width, goal)
            if found > goal:
                if give_up:
                    return Fraction(1), beyond
                # From here on this larger bound is the goal.
                goal = found + _MARGIN * (1 - found)
            here, width = there, min(width * _WIDER, _COARSEST)
        return min(goal, Fraction(1)), beyond

    def _end(self, goal: Fraction, start: Fraction) -> tuple[Fraction, Fraction]:
        """Return a C and a bound of G beyond it: the first C with a bound ≤ `goal`, else the C with the least bound."""
        best, C, missed = (start, Fraction(1)), start, 0
        while missed < _PATIENCE and best[1] > goal and C < _FURTHEST:
            try:
                found = self._beyond(C)
            except UndecidedError:
                found = Fraction(1)
            missed = 0 if found < best[1] or self.model.query else missed + (best[1] < 1)
            best = min(best, (C, found), key=lambda pair: pair[1])
            C = Fraction(round(C * _FURTHER * _ROUNDED) + 1, _ROUNDED)
        return best

    def _cell(self, here: _Point, width: Fraction, goal: Fraction) -> tuple[_Point, Fraction]:
        """Return the cell's other end and a bound of G on the cell, from as many moments as the goal needs."""
        there, found = _Point(here.C + width, Fraction(1), here.least), Fraction(1)
        for effort in range(len(EFFORTS)):
            try:
                there = self.point(here.C + width, effort)
            except UndecidedError:
                continue
            if not self.model.query:
                # R does not decrease.
                there = replace(there, least=max(there.least, here.least))
            found = self._bounded(here, there, goal)
            if found <= goal or self._at(there) < goal - (1 - goal) * _MARGIN:
                # Better bounds at the ends would not compensate for the curvature.
                break
        return there, found

    def _at(self, point: _Point) -> Fraction:
        """Return the bound of G at a point."""
        bound = point.most**2 / (self.model.q * point.least) if point.least > 0 else Fraction(1)
        return min(bound, Fraction(1))

    def _bounded(self, here: _Point, there: _Point, goal: Fraction) -> Fraction:
        """Return a bound of G between two points."""
        width = there.C - here.C
        eighth = width**2 / 8
        found = self._ends(here, there, self.curvature * eighth, 2 * self.curvature * eighth)
        if found <= goal or not there.least > 0:
            return found
        if not self.model.query:
            curvature = self._variance(here.C) * _rational(_arb(2 * self.model.q * width).exp())
            return min(found, self._ends(here, there, curvature * eighth, 2 * curvature * eighth))
        if not here.least > 0:
            return found
        rate = max(0.0, math.log(float(here.least / there.least)) / float(2 * width))
        mu = Fraction(round(rate * _ROUNDED), _ROUNDED)
        grown = _arb(mu * width).exp()
        above, below = self._exponential_curvatures(here.C, mu)
        turned = replace(
            there, most=_rational(grown * _arb(there.most)), least=-_rational(-(grown**2) * _arb(there.least))
        )
        more, less = _rational(grown * above), _rational(grown**2 * below)
        return min(found, self._ends(here, turned, more * eighth, less * eighth))

    def _variance(self, C: Fraction) -> Fraction:
        if C not in self.variances:
            try:
                above = _rational(self.model.variance_above(_arb(C), EFFORTS[0]))
            except UndecidedError:
                above = self.curvature
            self.variances[C] = min(above, self.curvature)
        return self.variances[C]

    def _ends(self, here: _Point, there: _Point, more: Fraction, less: Fraction) -> Fraction:
        if min(here.least, there.least) <= less:
            return Fraction(1)
        return max((end.most + more) ** 2 / (self.model.q * (end.least - less)) for end in (here, there))

    def _exponential_curvatures(self, C: Fraction, mu: Fraction) -> tuple[arb, arb]:
        """Return bounds of E Σ_y e^{CX_i} n and of 8 E Σ_i e^{2CX_i} (y_i² + n)."""
        at, theta, shift = _arb(C), _arb(_TURN), _arb(_TURN * mu)

        def mean(place: Place, rate: arb, others: arb) -> arb:
            """Return E Σ_i e^{rate X_i} (1 + Σ_j e^{others X_j}); the 1 adds X = 0 to the sum over j."""
            return self.model.exponential_moments(others, place, rate, rate, arb(0), others, 1)[1]

        def squared(up: arb, middle: arb, down: arb) -> arb:
            """Return a bound of E X² w from those of e^{θX} w, w and e^{−θX} w."""
            return (up + down - 2 * middle) / theta**2

        turns = (at + theta, at, at - theta)
        more = squared(*(mean("selected", at, rate) for rate in turns))
        less = arb(0)
        places: tuple[Place, ...] = ("selected", "others")
        for place in places:
            less += squared(*(mean(place, 2 * at, rate) for rate in turns))
            own = (
                self.model.exponential_moments(at, place, rate, rate, arb(0), at, 0)[0] * turn.exp()
                for rate, turn in ((2 * at + theta, shift), (2 * at, arb(0)), (2 * at - theta, -shift))
            )
            less += squared(*own)
        return more, 8 * less

    def _beyond(self, C: Fraction) -> Fraction:
        """Return a bound of G from C on. Raises UndecidedError."""
        q, at = self.model.q, _arb(C)
        if not self.model.query:
            least = -_rational(-self.model.squares_below(at, EFFORTS[_TAIL_EFFORT]))
            return min(1 / (q * least), Fraction(1)) if least > 0 else Fraction(1)
        one, two = (self.model.exponential_moments(at, "selected", k * at, k * at, arb(0), at, 0)[0] for k in (1, 2))
        found = (1 + self.model.T) ** 2 * one**2 / (q * two)
        if q % 2 == 0:
            # If u = 0, all logits are 0; otherwise e^{CX_i} does not grow with C.
            none = (arb(math.comb(q, q // 2)) / 2**q) ** self.model.D
            found = found.min(((1 + self.model.T) * (one - q * none) + q * none) ** 2 / (q * none * self.model.T))
        else:
            # If X_i = 0 (|s_k| = 1 and e_i along u), two terms of N are 1, and the others fall with C.
            agree = (arb(math.comb(q - 1, (q - 1) // 2)) / 2 ** (q - 1)) ** self.model.D
            count = 2 + (self.model.T - 1) * ((1 + (-2 * at / self.model.D).exp()) / 2) ** self.model.D
            found = found.min((one - q * agree / 2) ** 2 * count**2 / (q * q * agree))
        return min(_rational(found), Fraction(1))


def _grid_point(C: float) -> Fraction:
    return Fraction(max(1, round(C * _ROUNDED)), _ROUNDED)


def _arb(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _rational(ball: arb) -> Fraction:
    """Return a ball's upper end."""
    return outer(ball, ball)[1]
