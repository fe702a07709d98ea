"""The inequality of the arithmetic and the geometric mean."""

from fractions import Fraction

from ..polynomials import Quotient
from ..reading import Rejected
from .atoms import Atoms


def mean(field: Atoms, *values: Quotient) -> Quotient:
    """Σ u_i ≥ n v for n values u_i ≥ 0 whose product is at least v^n; v is the first argument.

    If v > 0, then v ≤ (Π u_i)^(1/n) ≤ Σ u_i / n. A u_i with an integer weight is repeated among the arguments.
    """
    if len(values) < 2:
        raise Rejected("a mean of nothing")
    v, *parts = values
    field.refuse_negative(*parts)
    product, total = field.number(Fraction(1)), field.times(field.number(Fraction(-len(parts))), v)
    for u in parts:
        product, total = field.times(product, u), field.plus(total, u)
    field.refuse_negative(field.minus(product, field.whole_power(v, len(parts))))
    return total
