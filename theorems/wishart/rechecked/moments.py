"""Moments of the Wishart matrix and of the Marchenko–Pastur law, by other formulas than the library's."""

from fractions import Fraction
from math import factorial, prod

from verify.rechecker.reading import Effort, Rejected, work

_HIGHEST_MOMENT = 200


def wishart_trace_moment(effort: Effort, order: Fraction, samples: Fraction, size: Fraction) -> Fraction:
    """Return E tr S^k for S = XXᵀ/n, X d×n of standard normal entries: by zonal polynomials.

    The power sum p_k is Σ_λ 2k a_λ/N_λ Z_λ, with a_λ the coefficient of p_k in Z_λ, N_λ its squared norm, and
    E Z_λ(XXᵀ) = ∏ (n + c)(d + c), c = 2(j−1) − (i−1) over the boxes (i, j) of λ; a_λ is the product of all c but
    the first. It is 0 for a λ with a box (3, 2), so that λ is (a, b, 1, …, 1). (Hanlon, Stanley, Stembridge 1992.)
    """
    if order.denominator != 1 or not 0 <= order <= _HIGHEST_MOMENT:
        raise Rejected(f"a moment of an order that is no integer from 0 to {_HIGHEST_MOMENT}")
    if not samples > 0 or not size > 0:
        raise Rejected("a Wishart matrix of no sample or no size")
    k, total = int(order), Fraction(0)
    grown = max(10, *(part.bit_length() for x in (samples, size) for part in (x.numerator, x.denominator))) * 2
    if k == 0:
        return size
    for a in range(1, k + 1):
        for b in range(min(a, k - a) + 1):
            ones = k - a - b
            if b or not ones:
                # k products that grow by the bits of n and d at each.
                effort.spend(20 + k * (3 + 2 * (grown * k / 1000) ** 2 + 0.001 * grown * k))
                contents = [*range(0, 2 * a, 2), *range(-1, 2 * b - 1, 2), *range(-2, -2 - ones, -1)]
                weight = prod((samples + c) * (size + c) for c in contents)
                total += Fraction(2 * k * prod(contents[1:]), _squared_norm(a, b, ones)) * weight
    return total / samples**k


def _squared_norm(a: int, b: int, ones: int) -> int:
    """Return ∏ (2·arm + leg + 1)(2·arm + leg + 2) over the boxes of (a, b, 1, …, 1)."""
    legs = ones + (b > 0)
    first = (2 * a + legs - 1) * (2 * a + legs)
    under = prod((2 * arm + 2) * (2 * arm + 3) for arm in range(a - b, a - 1)) if b else 1
    alone = factorial(2 * (a - max(b, 1)))
    second = (2 * b + ones - 1) * (2 * b + ones) * factorial(2 * (b - 1)) if b else 1
    return first * under * alone * second * factorial(ones) * factorial(ones + 1)


def marchenko_pastur_moment(effort: Effort, order: Fraction, ratio: Fraction) -> Fraction:
    """Return the moment as the (0, 0) entry of a power of the law's Jacobi matrix.

    Its diagonal is 1, 1 + c, 1 + c, …; the products of entries beside it are c. A row is multiplied k times.
    """
    if order.denominator != 1 or not 0 <= order <= _HIGHEST_MOMENT or not ratio > 0:
        raise Rejected(
            f"a moment of an order that is no integer from 0 to {_HIGHEST_MOMENT}, or a ratio that is not > 0"
        )
    row = [Fraction(1)]
    for _ in range(int(order)):
        effort.spend(sum(5 + 3 * work(x, ratio) for x in row))
        diagonal = [x * (1 + ratio) if j else x for j, x in enumerate(row)]
        row = [
            (diagonal[j] if j < len(row) else Fraction(0))
            + (row[j - 1] if j else 0)
            + (ratio * row[j + 1] if j + 1 < len(row) else 0)
            for j in range(len(row) + 1)
        ]
    return row[0]
