# L is the paper's letter, and no constant.
# pyright: reportConstantRedefinition=false
r"""The gradient in all entries of the matrices of linear attention, where these are multiples of I: by traces.

Changing the sign of the i-th coordinate of every token turns the entries (i, j), j ≠ i, of a power of S into their
negatives, and exchanging two coordinates exchanges entries of the diagonal; neither changes the law. So E S^k is
(m_k/d) I, m_k = E tr S^k, and E φ(S) has the square norm (Σ φ_k m_k)²/d.

With p(s) = ∏(1 − a_l s) the gradient in A_l is E φ_l(S), φ_l = −2 s p²/(1 − a_l s); the sum over l of a polynomial in
a_l is its trace at a matrix whose eigenvalues are the a_l. p is found one condition at a time.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from verify.rechecker.reading import Effort, Rejected, work

Matrix: TypeAlias = list[list[Fraction]]
Moment: TypeAlias = Callable[[Effort, Fraction, Fraction, Fraction], Fraction]
_MOST_LAYERS, _LARGEST_SHIFT = 20, 10


def layers_of(L: Fraction, n: Fraction, d: Fraction) -> int:
    """Return L. Raises Rejected for sizes that are not positive integers, and for too many layers."""
    if any(x.denominator != 1 or x < 1 for x in (L, n, d)) or L > _MOST_LAYERS:
        raise Rejected(f"linear attention asks for integers n, d ≥ 1 and 1 ≤ L ≤ {_MOST_LAYERS}")
    return int(L)


def _product(effort: Effort, one: Sequence[Fraction], other: Sequence[Fraction]) -> list[Fraction]:
    total = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            effort.spend(3 + 2 * work(x, y))
            total[i + j] += x * y
    return total


def _mean(effort: Effort, polynomial: Sequence[Fraction], moments: Sequence[Fraction]) -> Fraction:
    total = Fraction(0)
    for x, m in zip(polynomial, moments, strict=False):
        effort.spend(3 + 2 * work(x, m))
        total += x * m
    return total


def orthogonal(effort: Effort, moments: Sequence[Fraction], L: int, first: int) -> list[Fraction]:
    """Return p of degree L with p(0) = 1 that is orthogonal to s^first … s^(first + L − 1), one condition at a time.

    Each condition removes one direction in which p can still move; at first these are s … s^L.
    """
    p = [Fraction(int(k == 0)) for k in range(L + 1)]
    free = [[Fraction(int(i == k)) for k in range(L + 1)] for i in range(1, L + 1)]
    for order in range(first, first + L):
        values = [_mean(effort, direction, moments[order:]) for direction in free]
        if not any(values):
            raise Rejected("a polynomial that its conditions do not determine")
        place = next(i for i, value in enumerate(values) if value)
        along, value = free.pop(place), values.pop(place)
        p = _less(effort, p, _mean(effort, p, moments[order:]) / value, along)
        free = [_less(effort, each, other / value, along) for each, other in zip(free, values, strict=True)]
    return p


def _less(effort: Effort, one: Sequence[Fraction], share: Fraction, other: Sequence[Fraction]) -> list[Fraction]:
    effort.spend(sum(5 + 3 * work(share, y) for y in other))
    return [x - share * y for x, y in zip(one, other, strict=True)]


def at_least_point(
    moment: Moment, effort: Effort, L: Fraction, n: Fraction, d: Fraction, shift: Fraction, scale: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the sum of the squares over all A_l where 1/a_l are the roots of p over scale, twice."""
    count = layers_of(L, n, d)
    if shift.denominator != 1 or not 0 <= shift <= _LARGEST_SHIFT:
        raise Rejected(f"a shift that is no integer from 0 to {_LARGEST_SHIFT}")
    moments = [moment(effort, Fraction(k), n, d) for k in range(2 * count + int(shift) + 1)]
    p = [c * scale**k for k, c in enumerate(orthogonal(effort, moments, count, int(shift)))]
    # The matrix of a's multiplication modulo ∏ (a − a_l) = a^L + c_1 a^(L−1) + …
    companion = [[Fraction(int(i == j + 1)) for j in range(count)] for i in range(count)]
    for i in range(count):
        companion[i][count - 1] = -p[count - i]
    # p/(1 − a s) = Σ_j s^j q_j(a), q_0 = 1 and q_j = a q_{j−1} + c_j, as matrices.
    power = _identity(count, Fraction(1))
    total = _identity(count, Fraction(0))
    for j in range(count):
        weight = -2 * _mean(effort, p, moments[j + 1 :])
        total = [[x + weight * y for x, y in zip(a, b, strict=True)] for a, b in zip(total, power, strict=True)]
        power = _times(effort, power, companion)
        for i in range(count):
            power[i][i] += p[j + 1]
    square = _times(effort, total, total)
    value = sum((square[i][i] for i in range(count)), Fraction(0)) / d
    return value, value


def _identity(size: int, factor: Fraction) -> Matrix:
    return [[factor * (i == j) for j in range(size)] for i in range(size)]


def _times(effort: Effort, one: Matrix, other: Matrix) -> Matrix:
    columns = list(zip(*other, strict=True))
    return [[_mean(effort, row, column) for column in columns] for row in one]


def at_idle_layers(
    moment: Moment, effort: Effort, L: Fraction, n: Fraction, d: Fraction, b: Fraction, a: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the sum of the squares over all A_l and B_l where all layers but the last have A = 0, twice.

    An idle layer's derivative is that of r² in x at x = 0, for two layers with tokens g = 1 − x b s after the first and
    the label r = (1 − x s)(1 − a s g²). The derivatives in b are 0, and the derivative in a is that of (1 − a s)².
    """
    layers = layers_of(L, n, d)
    moments = [moment(effort, Fraction(k), n, d) for k in range(4)]
    label = [Fraction(1), -a]
    first = [Fraction(0), Fraction(-1)]
    # (1 − a s g²)' = 2 a b s², at g = 1.
    slope = [
        x + y for x, y in zip([*_product(effort, first, label)], [Fraction(0), Fraction(0), 2 * a * b], strict=True)
    ]
    idle = 2 * _mean(effort, _product(effort, label, slope), moments)
    last = 2 * _mean(effort, _product(effort, label, first), moments)
    value = ((layers - 1) * idle**2 + last**2) / d
    return value, value
