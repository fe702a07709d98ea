r"""Narrow enclosures of P and R of attention by sign encodings at a C, by the numbers of coordinates with each |s|.

In each coordinate of u = Σ_y e_i let s = Σ_{i∈y} ε_i be the sum of the signs ε_i. Let k be the numbers of coordinates
with each |s|. For q = 3 one number determines k: the number of coordinates whose signs agree. Given k, with
A = Σ_y e^{C v_i}, B = Σ_{j∉y} e^{C v_j} and Q = e^{C|u|²} if the query token is attended to, else 0:

- |u|² = Σ s²/D is a constant, and so is Q;
- A and B are independent, and B is a sum of T − q independent terms: the series Σ_j E B^j t^j/j! is the (T − q)-th
  power of one term's series, in which E e^{rCv} = ∏ cosh(rCs/D)^k, up to any order;
- E A^j is a sum, over partitions of j among the selected tokens, of products of k-th powers, and so are the moments
  with a factor A or A₂ = Σ_y e^{2C v_i}.

So the moments of δ = 1 − X/m, X = A + B + Q, for any m > 0, follow by multiplying polynomials. X varies little given k:
by 3 % at the figures' sizes. For even n, w ≥ 0 and X ≥ x₀ > 0

    0 ≤ E w/X − Σ_{j<n} E w δ^j/m ≤ E w δ^n/x₀,
    0 ≤ E w/X² − Σ_{j<n} (j+1) E w δ^j/m² ≤ E w δ^n (1/x₀² + n/(m x₀)),

as 1/X is the geometric series, and (1 − δ)² Σ_{j<n} (j+1)δ^j = 1 − δ^n (1 + n(1 − δ)). Here x₀ = Q + q e^{C|u|²/q} +
(T−q) e^{−Cλ}, λ = Σ|s|/D ≥ |v_j|. Its second term bounds A from below by the inequality of arithmetic and geometric
means, as Σ_y v_i = |u|².
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

from flint import arb, arb_poly, fmpq

from theorems.sparse_token_selection.sign_attention import partitions, sequences
from verify.budget import look_at_the_clock
from verify.errors import UndefinedError

BITS = 192
"""Precision of the balls, in bits: a mean of δ^n is much smaller than the moments in the sum that gives it."""
MOST_COUNTS = 2000
"""Maximum number of different k that are enumerated."""
_LEFT_OUT = fmpq(1, 2**52)


@dataclass(frozen=True)
class Count:
    """The numbers of coordinates with each |s|, for |s| from q down, their probability, |u|² (`square`), λ (`size`)."""

    numbers: tuple[int, ...]
    weight: fmpq
    square: fmpq
    size: fmpq


@dataclass(frozen=True)
class MeansByCounts:
    """Means for T tokens, q of them selected, in D dimensions; `query` says whether the query token is attended to."""

    T: int
    q: int
    D: int
    query: bool

    @cached_property
    def sums(self) -> tuple[int, ...]:
        """The values of |s|."""
        return tuple(range(self.q, -1, -2))

    @cached_property
    def _bulk(self) -> tuple[tuple[Count, ...], fmpq]:
        if math.comb(self.D + len(self.sums) - 1, len(self.sums) - 1) > 40 * MOST_COUNTS:
            raise UndefinedError(f"q = {self.q}, d_e = {self.D}: too many numbers of coordinates")
        chances = [fmpq(math.comb(self.q, (self.q - s) // 2) * (2 if s else 1), 2**self.q) for s in self.sums]
        every = []
        for numbers in _numbers(self.D, len(self.sums)):
            look_at_the_clock()
            weight = fmpq(math.factorial(self.D))
            for k, chance in zip(numbers, chances, strict=True):
                weight *= chance**k / math.factorial(k)
            square, size = (
                sum((fmpq(k * s**power, self.D) for k, s in zip(numbers, self.sums, strict=True)), fmpq(0))
                for power in (2, 1)
            )
            every.append(Count(numbers, weight, square, size))
        tail, rare = fmpq(0), set[tuple[int, ...]]()
        for count in sorted(every, key=lambda count: count.weight):
            if tail + count.weight > _LEFT_OUT:
                break
            tail += count.weight
            rare.add(count.numbers)
        if len(every) - len(rare) > MOST_COUNTS:
            raise UndefinedError(f"q = {self.q}, d_e = {self.D}: too many numbers of coordinates")
        return tuple(count for count in every if count.numbers not in rare), tail

    @property
    def counts(self) -> tuple[Count, ...]:
        """The k that are enumerated. Raises UndefinedError if there are too many."""
        return self._bulk[0]

    @property
    def left_out(self) -> fmpq:
        """The probability of the k that are left out, at most 2^−52."""
        return self._bulk[1]

    def at(self, C: arb, orders: int) -> list[tuple[arb, arb]]:
        """Return, for each k that is enumerated, its part of P and of R at C ≥ 0; `orders` is n, which must be even."""
        moments, found = _Moments(self, C, orders), []
        for i, count in enumerate(self.counts):
            look_at_the_clock()
            p, r = moments.given(i)
            found.append((count.weight * p, count.weight * r))
        return found


class _Moments:
    """The moments at one C; products of k-th powers of one coordinate's means are computed once for each k."""

    def __init__(self, model: MeansByCounts, C: arb, orders: int) -> None:
        self.model, self.C, self.orders, L = model, C, orders, orders + 3
        exponentials = {n: (C * n / model.D).exp() for n in range(-L * model.q, L * model.q + 1)}
        self.others = [
            self._means([(exponentials[r * s] + exponentials[-r * s]) / 2 for s in model.sums]) for r in range(L)
        ]
        self.selected: list[list[tuple[int, list[arb]]]] = []
        for order in range(L):
            row = []
            for parts in (each for each in partitions(order, order) if len(each) <= model.q):
                signs = [_signs(parts, model.q, s) for s in model.sums]
                means = [
                    sum((exponentials[s * a] for a in along), arb(0)) / len(along)
                    for s, along in zip(model.sums, signs, strict=True)
                ]
                ways = arb(fmpq(sequences(parts, model.q), math.factorial(order)))
                row.append((sum(part * (part - 1) for part in parts), self._means(means, ways)))
            self.selected.append(row)

    def _means(self, factors: list[arb], times: arb | int = 1) -> list[arb]:
        """Return, for each k, `times` ∏_s factors_s^{k_s}; `factors` has a coordinate's mean for each |s|."""
        counts = self.model.counts
        if len(factors) == 2:
            # From one k to the next, one more coordinate has the first |s|, and one fewer has the other.
            first, other = counts[0].numbers
            assert counts[-1].numbers[0] == first + len(counts) - 1
            found, ratio = [times * factors[0] ** first * factors[1] ** other], factors[0] / factors[1]
            while len(found) < len(counts):
                found.append(found[-1] * ratio)
            return found
        powers = [_powers(x, self.model.D) for x in factors]
        return [
            times * math.prod((table[k] for table, k in zip(powers, count.numbers, strict=True)), start=arb(1))
            for count in counts
        ]

    def given(self, i: int) -> tuple[arb, arb]:
        """Return E A/X and E (A₂ + B₂)/X² given the i-th k, B₂ = Σ_{j∉y} e^{2C v_j}."""
        count = self.model.counts[i]
        T, q, n = self.model.T, self.model.q, self.orders
        L, factorials = n + 1, [math.factorial(j) for j in range(n + 4)]
        # E A^j/j!, and E A₂ A^(j−2)/(j−2)!
        sums, squares = [], []
        for row in self.selected:
            total = square = arb(0)
            for pairs, means in row:
                total += means[i]
                if pairs:
                    square += pairs * means[i]
            sums.append(total)
            squares.append(square)
        of_A = arb_poly([(j + 1) * x for j, x in enumerate(sums[1 : L + 1])])
        of_squares = arb_poly(squares[2 : L + 2])
        own, middle, variance = arb(0), sums[1], 2 * sums[2] - sums[1] ** 2
        if T > q:
            term = [means[i] for means in self.others]
            middle += (T - q) * term[1]
            variance += (T - q) * (term[2] - term[1] ** 2)
            once, twice = (
                arb_poly([x / f for x, f in zip(term[first : first + L], factorials, strict=False)]) for first in (0, 2)
            )
            but_one = _power(once, T - q - 1, L)
            others = (but_one * once).truncate(L)
            of_A = (of_A * others).truncate(L)
            of_squares = of_squares * others + (T - q) * arb_poly(sums[:L]) * (but_one * twice).truncate(L)
        if self.model.query:
            own = (self.C * count.square).exp()
            middle += own
        # m is chosen above the mean, as X is skewed: the higher the power of δ that remains, the larger is m.
        middle = (middle + fmpq(n, 10) * abs(variance.mid()).sqrt()).mid()
        if not middle > 0:
            return arb("nan"), arb("nan")
        least = own + q * (self.C * count.square / q).exp() + (T - q) * (-self.C * count.size).exp()
        # As δ = 1 − Q/m − (X − Q)/m, its moments have the series of the moments of X − Q at −t/m times e^(t(1 − Q/m)).
        powers = _powers(-1 / middle, n)
        rest = arb_poly([x / f for x, f in zip(_powers(1 - own / middle, n), factorials, strict=False)])
        share, square = (arb_poly([c[j] * powers[j] for j in range(L)]) * rest for c in (of_A, of_squares))
        p = sum((factorials[j] * share[j] for j in range(n)), arb(0)) / middle
        r = sum((factorials[j + 1] * square[j] for j in range(n)), arb(0)) / middle**2
        over = 1 / least
        return (
            p + arb(0).union(factorials[n] * share[n] * over),
            r + arb(0).union(factorials[n] * square[n] * over * (over + n / middle)),
        )


def _powers(x: arb, most: int) -> list[arb]:
    found = [arb(1)]
    for _ in range(most):
        found.append(found[-1] * x)
    return found


def _power(polynomial: arb_poly, n: int, length: int) -> arb_poly:
    """Return the first `length` coefficients of the n-th power of a polynomial, by squaring."""
    found = arb_poly([1])
    while n:
        if n % 2:
            found = (found * polynomial).truncate(length)
        polynomial, n = (polynomial * polynomial).truncate(length), n // 2
    return found


def _numbers(total: int, classes: int) -> Iterator[tuple[int, ...]]:
    if classes == 1:
        yield (total,)
        return
    for k in range(total + 1):
        yield from ((k, *rest) for rest in _numbers(total - k, classes - 1))


@cache
def _signs(parts: tuple[int, ...], q: int, s: int) -> tuple[int, ...]:
    """Return Σ a_i ε_i for each choice of q signs ε_i with the sum s ≥ 0, where the a_i are `parts` and zeros."""
    factors = parts + (0,) * (q - len(parts))
    return tuple(
        sum(-a if i in minus else a for i, a in enumerate(factors)) for minus in combinations(range(q), (q - s) // 2)
    )
