"""Clauses that prove D > 0 for a determinant D = U + W a; if the steps a and b are exchanged, D becomes U + W b."""

import sympy as sp

from theorems.preconditioned_descent.two_layer_minimum import a, b, det, form
from verify import Identity, Implication

U, W = sp.symbols("U W", real=True)

IN_BOTH_ORDERS = Identity(
    "in_both_orders",
    (U + W * a) * (U + W * b),
    U**2 + (a + b) * U * W + a * b * W**2,
    "(U + W a)(U + W b) = U^2 + (a + b) U W + a b W^2",
)
SUM_IN_BOTH_ORDERS = Identity(
    "sum_in_both_orders",
    (U + W * a) + (U + W * b),
    2 * U + (a + b) * W,
    "(U + W a) + (U + W b) = 2 U + (a + b) W",
)
BOTH_POSITIVE = Implication(
    "both_positive",
    (sp.Gt(det + form, 0), sp.Gt(det * form, 0)),
    sp.Gt(det, 0),
    "D > 0 where D + form > 0 and D form > 0",
)
STEPS = (SUM_IN_BOTH_ORDERS, IN_BOTH_ORDERS, BOTH_POSITIVE)
