"""Traces of powers in zonal polynomials: p_(k) = Σ_λ c_λ Z_λ over |λ| = k (Hanlon, Stanley, Stembridge 1992)."""

from fractions import Fraction
from math import prod

from sympy.utilities.iterables import partitions


def trace_of_power(k):
    """Yield c_λ, and the boxes (i, j) of λ counted from 0.

    c_λ = [p_(k)] Z_λ · ⟨p_(k), p_(k)⟩ / ⟨Z_λ, Z_λ⟩ with ⟨p_(k), p_(k)⟩ = 2k. Z_λ(I) is ∏ (d + 2j − i) over the boxes.
    """
    for parts in partitions(k):
        rows = sorted((length for length, times in parts.items() for _ in range(times)), reverse=True)
        boxes = [(i, j) for i, length in enumerate(rows) for j in range(length)]
        coefficient = prod(2 * j - i for i, j in boxes if (i, j) != (0, 0))
        norm = 1
        for i, j in boxes:
            arm, leg = rows[i] - j - 1, sum(length > j for length in rows) - i - 1
            norm *= (2 * arm + leg + 1) * (2 * arm + 2 + leg)
        yield Fraction(2 * k * coefficient, norm), boxes
