"""Polynomials as sums of inequalities of arithmetic and geometric means, which bound each negative term.

Let b = Σ w_i a_i with Σ w_i = 1 and w_i ≥ 0, and let the terms x^(a_i) be ≥ 0. For a point p > 0,
x^b / p^b ≤ Σ w_i x^(a_i) / p^(a_i), with equality at p. A linear program finds multiples of such inequalities that add
up to the polynomial.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from verify.provers.deduction.cone import Column, Powers, combination
from verify.provers.deduction.facts import Sign
from verify.provers.deduction.limits import MEANS
from verify.provers.orthant_cases import Orthant, Spent, monomial

Terms = Mapping[Powers, Fraction]
_DENOMINATORS = 8
"""Largest denominator of the coordinates of a point that is no exact zero."""
_LEAST = -1e-9
"""If ln(positive terms/negative terms) is below this, the polynomial is negative beyond rounding errors."""
_LONG = 10**4
"""Largest coordinate of a point, and largest denominator of a coordinate: larger numbers make long coefficients."""


@dataclass(frozen=True)
class Mean:
    """A term `v`, and terms ≥ 0, `parts`, whose mean is at least `v`; each term has exponents and a coefficient."""

    v: tuple[Powers, Fraction]
    parts: tuple[tuple[Powers, Fraction], ...]

    @property
    def column(self) -> Column:
        """The sum of the n parts minus n v."""
        total: dict[Powers, Fraction] = {self.v[0]: -len(self.parts) * self.v[1]}
        for powers, c in self.parts:
            total[powers] = total.get(powers, Fraction(0)) + c
        return Column({k: c for k, c in total.items() if c}, False, False, self)


def covered(terms: Terms, signs: Sequence[Sign], *, strict: bool) -> list[tuple[Fraction, Column]] | None:
    """Return means and terms, with coefficients, that add up to a polynomial; None if no such sum was found.

    The field `says` of a column is its `Mean`, or the powers of its single term.
    """
    good = [k for k, c in terms.items() if c > 0 and _is_signed(k, signs)]
    bad = [k for k in terms if k not in good]
    if not bad or not good or len(terms) > MEANS.terms:
        return None
    points = list(_points(terms, bad))
    if not points:
        return None
    columns = [Column({k: Fraction(1)}, _is_strict(k, signs), False, k) for k in good]
    for target in bad:
        covers = list(dict.fromkeys(_covers(target, good)))
        if not covers:
            return None
        turn = 1 if terms[target] < 0 else -1
        columns += [_mean(target, turn, cover, point).column for cover in covers for point in points]
    return combination(terms, columns, strict=strict)


def _is_signed(powers: Powers, signs: Sequence[Sign]) -> bool:
    return all(k % 2 == 0 or sign != "real" for k, sign in zip(powers, signs, strict=True))


def _is_strict(powers: Powers, signs: Sequence[Sign]) -> bool:
    return all(not k or sign == "positive" for k, sign in zip(powers, signs, strict=True))


def _mean(target: Powers, turn: int, cover: Sequence[tuple[Powers, int]], point: Sequence[Fraction]) -> Mean:
    parts = [(k, 1 / monomial(point, k)) for k, times in cover for _ in range(times)]
    return Mean((target, turn / monomial(point, target)), tuple(parts))


def _points(terms: Terms, bad: Sequence[Powers]) -> Iterator[tuple[Fraction, ...]]:
    """Yield (1, …, 1), and points > 0 at which the polynomial, with its `bad` terms made negative, may be 0.

    Yield no point if this polynomial is seen to be negative somewhere: then no means cover the `bad` terms.
    """
    scale = lcm(*(c.denominator for c in terms.values()))
    least = {k: int(-abs(c * scale) if k in bad else c * scale) for k, c in terms.items()}
    content = gcd(*least.values())
    count = len(next(iter(terms)))
    one = (Fraction(1),) * count
    orthant = Orthant({k: c // content for k, c in least.items()}, tuple(range(count)), (True,) * count, False)
    try:
        minima = orthant.minima()
    except Spent:
        return
    if minima[0][0] < _LEAST or orthant.value_at(one) < 0:
        return
    found = [one]
    for _, point in minima[: MEANS.points]:
        rounded = orthant.zero(point) or tuple(Fraction(x).limit_denominator(_DENOMINATORS) for x in point)
        if all(0 < x <= _LONG and x.denominator <= _LONG for x in rounded):
            found.append(rounded)
    yield from dict.fromkeys(found)


def _covers(target: Powers, good: Sequence[Powers]) -> Iterator[tuple[tuple[Powers, int], ...]]:
    """Yield tuples of exponents in `good`, with integer weights, whose weighted mean is `target`."""
    import numpy as np
    from scipy.optimize import linprog

    draw = random.Random(1)  # noqa: S311 -- in which direction a mean is looked for
    matrix = np.array([*zip(*good, strict=True), (1,) * len(good)], dtype=float)
    for turn in range(MEANS.covers):
        costs = [float(np.square(np.subtract(k, target)).sum()) if not turn else draw.random() for k in good]
        found = linprog(costs, A_eq=matrix, b_eq=[*target, 1], bounds=(0, None), method="highs-ds")
        if found.status != 0:
            return
        weights = [Fraction(float(w)).limit_denominator(MEANS.parts) for w in found.x]
        used = [(k, w) for k, w in zip(good, weights, strict=True) if w]
        count = lcm(*(w.denominator for _, w in used))
        exact = all(sum(w * k[i] for k, w in used) == b for i, b in enumerate(target))
        if exact and sum(w for _, w in used) == 1 and count <= MEANS.parts:
            yield tuple((k, int(w * count)) for k, w in used)
