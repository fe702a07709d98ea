"""The loss of three layers with two rates, from the values of its polynomial at points, and the moments."""

from fractions import Fraction

from verify.rechecker.reading import Effort, work

from ...wishart.rechecked.moments import wishart_trace_moment


def three_layer_loss(effort: Effort, samples: Fraction, size: Fraction, *weights: Fraction) -> Fraction:
    """Return E tr r_3(S)²: r_3 from its values at 14 points by divided differences, its square against the moments.

    With steps a_l and rates b_l of the layers, r = r (1 − a_l s g²) and g = g (1 − a_l b_l s g²), from 1.
    """
    *steps, first, second = weights
    points = [Fraction(k) for k in range(14)]
    table: list[Fraction] = []
    for s in points:
        g = r = Fraction(1)
        for step, rate in zip(steps, (first, second, Fraction(0)), strict=True):
            seen = step * s * g * g
            effort.spend(20 + 4 * work(g, g) + 2 * work(r, seen))
            g, r = g * (1 - rate * seen), r * (1 - seen)
        table.append(r)
    for k in range(1, 14):
        for j in range(13, k - 1, -1):
            effort.spend(2 + work(table[j], table[j - 1]))
            table[j] = (table[j] - table[j - 1]) / k
    polynomial: list[Fraction] = []
    for difference, point in zip(reversed(table), reversed(points), strict=True):
        # Horner's rule in Newton's form: times s − point, plus the difference.
        effort.spend(5 * len(polynomial) + sum(work(c, point) for c in polynomial))
        shifted = zip([Fraction(0), *polynomial], [*polynomial, Fraction(0)], strict=True)
        polynomial = [x - point * y for x, y in shifted]
        polynomial[0] += difference
    moments = [wishart_trace_moment(effort, Fraction(k), samples, size) for k in range(27)]
    effort.spend(196 * (5 + 3 * max(work(c, m) for c in polynomial for m in moments)))
    square = (x * y * moments[i + j] for i, x in enumerate(polynomial) for j, y in enumerate(polynomial))
    return sum(square, Fraction(0))
