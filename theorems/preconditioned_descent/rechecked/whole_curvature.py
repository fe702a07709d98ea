# L is the paper's letter, and no constant.
# pyright: reportConstantRedefinition=false
r"""The least second derivative of linear attention's loss where all A_l are multiples of I: by projections.

With K = ∏ (I − S A_l) and A_l = a_l I + x_l M, f = E tr K Kᵀ has the second order terms, P_l = ∏_{i<l} (1 − a_i s),
Q_l = ∏_{i>l}, R_lm = ∏_{l<i<m} and p = ∏ over all i,

    Σ_{l,m} x_l x_m E tr M (Q_l Q_m) Mᵀ (S² P_l P_m) + 2 Σ_{l<m} x_l x_m E tr M (S R_lm) M (S Q_m p P_l).

Rotating all eigenvectors together does not change the law of S. So M ⊗ M may be replaced by its mean over rotations,
which is the projection onto the matrices of M's kind over their number:

    E tr M U Mᵀ V = E tr UV/d;   ((E tr U tr V + E tr UV)/2 − E tr UV/d)/N, N = (d − 1)(d + 2)/2;
    (E tr U tr V − E tr UV)/2/N, N = d(d − 1)/2,

for M = I/√d, symmetric of trace 0, and antisymmetric, when that of M U M V has the other sign.

With W = XXᵀ = nS and Δ the Laplacian in the entries of X, E F(X) = (Δ/2)^k F/k! for F of degree 2k: for F = ∏ tr W^m

    2k E F = Σ_m E (Δ tr W^m) F/tr W^m + Σ over ordered pairs of factors 4 m m' E tr W^{m+m'−1} F/(tr W^m tr W^{m'}),
    Δ tr W^m = 2m ((n + m − 1) tr W^{m−1} + Σ_{r=1}^{m−1} tr W^{r−1} tr W^{m−r}).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import TypeAlias

from flint import acb_mat, arb, arb_mat, ctx

from verify.rechecker.balls import ball, high, low
from verify.rechecker.reading import Effort, Rejected, work

from .whole_gradient import Moment, layers_of, orthogonal

_MOST_LAYERS, _BITS, _ROOT_BITS = 3, 256, 200
_LARGEST = 10**6
_ON_SET, _SYMMETRIC, _ = range(3)
_OPERATION = 1.0
"""Nominal microseconds: of a product of two balls."""

Polynomial: TypeAlias = list[arb]


class _Means:
    """E tr S^j tr S^k, and E tr S^k."""

    def __init__(self, effort: Effort, n: int, d: int) -> None:
        self.effort, self.n, self.d = effort, n, d
        self._known: dict[tuple[int, ...], int] = {(): 1}
        self._balls: dict[tuple[int, ...], arb] = {}

    def __call__(self, *orders: int) -> arb:
        if orders not in self._balls:
            self._balls[orders] = ball(Fraction(self._mean(*orders), self.n ** sum(orders)))
        return self._balls[orders]

    def _mean(self, *orders: int) -> int:
        """Return E ∏ tr W^m."""
        key = tuple(sorted(m for m in orders if m))
        if key not in self._known:
            self.effort.spend(20 * len(key) ** 2 + 20 * sum(key))
            total = 0
            for i, m in enumerate(key):
                rest = key[:i] + key[i + 1 :]
                total += 2 * m * (self.n + m - 1) * self._mean(m - 1, *rest)
                total += sum(2 * m * self._mean(r - 1, m - r, *rest) for r in range(1, m))
                for j, other in enumerate(rest):
                    total += 4 * m * other * self._mean(m + other - 1, *rest[:j], *rest[j + 1 :])
            self._known[key] = total // (2 * sum(key))
        return self.d ** orders.count(0) * self._known[key]


class _Kind:
    """The mean of tr M U Mᵀ V over rotations of M, for a kind of M."""

    def __init__(self, means: _Means, kind: int) -> None:
        self.means, self.kind = means, kind

    def mean(self, one: Polynomial, other: Polynomial, sign: int = 1) -> arb:
        """Return the mean of tr M U Mᵀ V, or of tr M U M V with the kind's sign."""
        d, together, apart = self.means.d, arb(0), arb(0)
        self.means.effort.spend(4 * _OPERATION * len(one) * len(other))
        for i, x in enumerate(one):
            for j, y in enumerate(other):
                together += x * y * self.means(i + j)
                if self.kind != _ON_SET:
                    apart += x * y * self.means(i, j)
        if self.kind == _ON_SET:
            return together / d
        if self.kind == _SYMMETRIC:
            return ((apart + together) / 2 - together / d) / ((d - 1) * (d + 2)) * 2
        return sign * (apart - together) / (d * (d - 1))


def _times(*polynomials: Sequence[arb]) -> Polynomial:
    found = [arb(1)]
    for polynomial in polynomials:
        total = [arb(0)] * (len(found) + len(polynomial) - 1)
        for i, x in enumerate(found):
            for j, y in enumerate(polynomial):
                total[i + j] += x * y
        found = total
    return found


def _second(kind: _Kind, steps: Sequence[arb]) -> arb_mat:
    """Return the matrix of second derivatives in the x_l."""
    count, s = len(steps), [arb(0), arb(1)]

    def factors(first: int, end: int) -> Polynomial:
        return _times(*([arb(1), -step] for step in steps[first:end]))

    before = [factors(0, i) for i in range(count)]
    after = [factors(i + 1, count) for i in range(count)]
    whole = factors(0, count)
    found = [[arb(0)] * count for _ in steps]
    for i in range(count):
        for j in range(i, count):
            value = kind.mean(_times(after[i], after[j]), _times(s, s, before[i], before[j]))
            if i < j:
                between = _times(s, factors(i + 1, j))
                value += kind.mean(between, _times(s, after[j], whole, before[i]), -1)
            found[i][j] = found[j][i] = 2 * value
    return arb_mat(found)


def _least(matrix: arb_mat) -> tuple[Fraction, Fraction]:
    """Enclose the least eigenvalue: by a vector's quotient from above, by elimination from below."""
    size = matrix.nrows()
    middle = acb_mat(matrix.mid())
    values, vectors = middle.eig(right=True, algorithm="approx")
    place = min(range(size), key=lambda i: float(values[i].real.mid()))
    vector = [vectors[i, place].real.mid() for i in range(size)]
    square = sum((x * x for x in vector), arb(0))
    if not square > 0:
        raise Rejected("a matrix of second derivatives whose least eigenvalue is not found")
    form = sum((x * matrix[i, j] * y for i, x in enumerate(vector) for j, y in enumerate(vector)), arb(0))
    upper = high(form / square)
    lower = upper - max(abs(upper), Fraction(1)) / 2**60
    rows = [[matrix[i, j] - (ball(lower) if i == j else 0) for j in range(size)] for i in range(size)]
    for i in range(size):
        if not rows[i][i] > 0:
            raise Rejected("a matrix of second derivatives whose least eigenvalue is not enclosed")
        for j in range(i + 1, size):
            ratio = rows[j][i] / rows[i][i]
            rows[j] = [x - ratio * y for x, y in zip(rows[j], rows[i], strict=True)]
    return lower, upper


def _roots(effort: Effort, polynomial: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Return intervals around all roots, each with a change of sign. Raises Rejected where they are not all real."""
    count = len(polynomial) - 1

    def at(x: Fraction) -> Fraction:
        value = Fraction(0)
        for c in reversed(polynomial):
            effort.spend(3 + 2 * work(value, x))
            value = value * x + c
        return value

    # Approximate eigenvalues of the companion matrix.
    leading = polynomial[-1]
    if not leading:
        raise Rejected("a polynomial of a degree that is too low")
    companion = [[arb(j == i + 1) for j in range(count)] for i in range(count - 1)]
    companion.append([ball(-c / leading) for c in polynomial[:-1]])
    about = [root.real.mid() for root in acb_mat(arb_mat(companion).mid()).eig(algorithm="approx")]
    found: list[tuple[Fraction, Fraction]] = []
    for root in sorted(map(low, about)):
        away = abs(root) / 2**_ROOT_BITS
        ends = root - away, root + away
        if (found and not found[-1][1] < ends[0]) or not away or at(ends[0]) * at(ends[1]) >= 0:
            raise Rejected("steps that are not real and different numbers")
        found.append(ends)
    return found


def curvature_at_least_point(
    moment: Moment, effort: Effort, L: Fraction, n: Fraction, d: Fraction, kind: Fraction, scale: Fraction
) -> tuple[Fraction, Fraction]:
    """Enclose the least second derivative over all orders, at a_l = scale/root for the roots of Theorem 3's p."""
    count = layers_of(L, n, d)
    if count > _MOST_LAYERS or not 2 <= d <= _LARGEST or n > _LARGEST or kind not in (0, 1, 2) or not scale:
        raise Rejected(
            f"a curvature asks for L ≤ {_MOST_LAYERS}, 2 ≤ d ≤ {_LARGEST}, n ≤ {_LARGEST}, a kind 0, 1 or 2 and a "
            "scale that is not 0"
        )
    with ctx.workprec(_BITS):
        moments = [moment(effort, Fraction(k), n, d) for k in range(2 * count + 1)]
        roots = _roots(effort, orthogonal(effort, moments, count, 1))
        steps = [ball(scale) / ball(lower).union(ball(upper)) for lower, upper in roots]
        law = _Kind(_Means(effort, int(n), int(d)), int(kind))
        found = [_least(_second(law, order)) for order in permutations(steps)]
    return min(lower for lower, _ in found), min(upper for _, upper in found)
