"""The primitives of the language that are known here, each computed anew, by another way than the library's."""

from fractions import Fraction
from functools import partial
from math import factorial, prod

from flint import ctx

from ..balls import high, low
from ..reading import Effort, Rejected, work
from ..registry import Enclosure, Primitive
from .attention import BITS, ORDERS, Attention, Undecided
from .attention_gain import MOST, Sizes, gain, least_dimension
from .full_gradient import less_means, off_the_set
from .whole_curvature import curvature_at_least_point
from .whole_gradient import at_idle_layers, at_least_point

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


_MOST_SELECTED, _LARGEST_C, _NARROW = 64, 10**4, Fraction(1, 2**40)


def _sizes(T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Sizes:
    """Return the sizes of attention by sign encodings: 1 ≤ q ≤ T tokens, D ≥ 1 dimensions, the query token or not."""
    if any(x.denominator != 1 for x in (T, q, D, query)) or not 1 <= q <= T or D < 1 or query not in (0, 1):
        raise Rejected("attention asks for integers 1 ≤ q ≤ T, D ≥ 1, and a query that is 0 or 1")
    if T > MOST or D > MOST or q > _MOST_SELECTED:
        raise Rejected(f"attention with T or D above {MOST}, or q above {_MOST_SELECTED}")
    return int(T), int(q), int(D), int(query)


def _attention(effort: Effort, sizes: Sizes, C: Fraction, power: int) -> Enclosure:
    T, q, _, query = sizes
    if not 0 <= C <= _LARGEST_C:
        raise Rejected(f"attention with a C that is not from 0 to {_LARGEST_C}")
    if C == 0:
        exact = Fraction(q, T + query) if power == 1 else Fraction(T, (T + query) ** 2)
        return exact, exact
    if power == 1 and q == T and not query:
        return Fraction(1), Fraction(1)
    lower, upper = Fraction(0), Fraction(1)
    with ctx.workprec(BITS):
        means = Attention(effort, sizes, C)
        for orders in (ORDERS[1], ORDERS[-1]):
            try:
                below, above = means.selected(orders) if power == 1 else means.squares(orders)
            except Undecided:
                continue
            lower, upper = max(lower, low(below)), min(upper, high(above))
            if upper - lower <= _NARROW * upper:
                break
    return lower, upper


def selected_attention(
    effort: Effort, T: Fraction, q: Fraction, D: Fraction, C: Fraction, query: Fraction
) -> Enclosure:
    """Enclose P = E Σ p_i over the selected tokens."""
    return _attention(effort, _sizes(T, q, D, query), C, 1)


def squared_attention(effort: Effort, T: Fraction, q: Fraction, D: Fraction, C: Fraction, query: Fraction) -> Enclosure:
    """Enclose R = E Σ p_i² over the tokens."""
    return _attention(effort, _sizes(T, q, D, query), C, 2)


def attention_gain(effort: Effort, T: Fraction, q: Fraction, D: Fraction, query: Fraction) -> Enclosure:
    """Enclose sup P²/(qR) over C ≥ 0."""
    return gain(effort, _sizes(T, q, D, query))


def least_encoding_dimension(
    effort: Effort, T: Fraction, q: Fraction, d: Fraction, eps: Fraction, query: Fraction
) -> Enclosure:
    """Enclose a D at which d/(2q)(1 − sup G) ≤ eps, and > eps at D − 1 or D = 1: the least, as that decreases in D."""
    sizes = _sizes(T, q, Fraction(1), query)
    if not d > 0 or eps < 0:
        raise Rejected("a least dimension asks for d > 0 and eps ≥ 0")
    first, last = least_dimension(effort, sizes, 1 - 2 * q * eps / d)
    return Fraction(first), Fraction(last)


PRIMITIVES = {
    "wishart_trace_moment/1": Primitive(3, wishart_trace_moment),
    "three_layer_loss/1": Primitive(7, three_layer_loss),
    "marchenko_pastur_moment/1": Primitive(2, marchenko_pastur_moment),
    "selected_attention/1": Primitive(5, None, selected_attention),
    "squared_attention/1": Primitive(5, None, squared_attention),
    "attention_gain/1": Primitive(4, None, attention_gain),
    "least_encoding_dimension/1": Primitive(5, None, least_encoding_dimension),
    "gradient_off_the_set/1": Primitive(9, None, off_the_set),
    "loss_less_means/1": Primitive(9, None, partial(less_means, "loss")),
    "value_slopes_less_means/1": Primitive(9, None, partial(less_means, "V")),
    "logit_slopes_less_means/1": Primitive(9, None, partial(less_means, "W")),
    "gradient_at_least_point/1": Primitive(5, None, partial(at_least_point, wishart_trace_moment)),
    "curvature_at_least_point/1": Primitive(5, None, partial(curvature_at_least_point, wishart_trace_moment)),
    "gradient_at_idle_layers/1": Primitive(5, None, partial(at_idle_layers, wishart_trace_moment)),
}
"""By name and version."""
