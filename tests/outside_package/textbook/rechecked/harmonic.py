"""The harmonic numbers by halves: the sum over an interval is the total of the sums over its two halves."""

from fractions import Fraction

from verify.rechecker.reading import Effort, Rejected


def harmonic_number(effort: Effort, n: Fraction) -> Fraction:
    """Return H_n. Raises Rejected unless n is an integer ≥ 1."""
    if n.denominator != 1 or n < 1:
        raise Rejected(f"harmonic_number: {n} is no integer >= 1")
    effort.spend(float(n) ** 2)

    def between(first: int, last: int) -> Fraction:
        if first == last:
            return Fraction(1, first)
        middle = (first + last) // 2
        return between(first, middle) + between(middle + 1, last)

    return between(1, int(n))
