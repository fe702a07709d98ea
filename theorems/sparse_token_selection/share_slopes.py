r"""Steps for sign encodings: the slopes of softmax's shares p_i in C, and bounds of them by the logits' variance.

With the logits C v_i the shares have the slopes p_i x_i, x_i = v_i − v̄. If C moves by t, a share becomes p_i e^{v_i t}
divided by the mean of e^{v t} under the shares. To second order in t only the first two moments of v matter.

Slopes in α and C are scaled to slopes in √d α and √d_e C.
"""

import sympy as sp

from theorems.sparse_token_selection.invariant_set import slope
from theorems.sparse_token_selection.task import d, eta
from verify import Identity, Implication

spread, variance, part = sp.symbols("spread variance part", nonnegative=True)
p, v, mean, moment, bound, t = sp.symbols("p v mean moment bound t", real=True)
root_d = sp.Symbol("root_d", positive=True)
VARIABLES = (spread, variance, part, p, v, mean, moment, bound)

_MOVED = p * sp.exp(v * t) / (1 + mean * t + moment * t**2 / 2)
_X, _VAR = v - mean, moment - mean**2


def _slope(expression: sp.Expr, order: int) -> sp.Subs:
    return sp.Subs(sp.Derivative(expression, (t, order)), t, 0)


SHARE_SLOPE = Identity("share_slope", _slope(_MOVED, 1), p * _X, says="p' = p x, x = v less its mean under the shares")
OF_A_SHARE = (p, v, mean, moment)
OF_THE_SHARES = (
    SHARE_SLOPE,
    Identity("share_bend", _slope(_MOVED, 2), p * (_X**2 - _VAR), says="p'' = p (x^2 - Var v)"),
    Identity("square_slope", _slope(_MOVED**2, 1), 2 * p**2 * _X, says="(p^2)' = 2 p^2 x"),
    Identity("square_bend", _slope(_MOVED**2, 2), p**2 * (4 * _X**2 - 2 * _VAR), says="(p^2)'' = p^2 (4x^2 - 2 Var)"),
)
_SPREAD = sp.Le(spread**2, variance)
FOR_AN_ENCODING = (
    Implication(
        "variance_at_most",
        (sp.Le(moment, bound),),
        sp.Le(moment - mean**2, bound),
        says="Var v = E v^2 - (E v)^2 <= b where E v^2 <= b",
    ),
    Implication(
        "share_of_a_term",
        (sp.Le(bound, spread / 2),),
        sp.Le(part * bound, part * spread / 2),
        says="p (p |x|) <= p s/2 where p |x| <= s/2, p >= 0",
    ),
    Implication(
        "square_of_a_term",
        (sp.Ge(bound, 0), sp.Le(bound, spread / 2)),
        sp.Le(bound**2, spread / 2 * bound),
        says="(p |x|)^2 <= s/2 p |x| where 0 <= p |x| <= s/2",
    ),
    Implication("square_of_a_share", (sp.Le(part, 1),), sp.Le(part**2, part), says="p^2 <= p where 0 <= p <= 1"),
)
"""Bounds of the second moment about the mean, and of the sums over the tokens, term by term."""
DERIVATIVES = (
    Implication(
        "square_of_a_part",
        (sp.Le(bound, spread / 2), sp.Ge(bound, -spread / 2), _SPREAD),
        sp.Le(4 * bound**2, variance),
        says="4 x^2 <= Var where |x| <= s/2, s^2 <= Var",
    ),
    Implication(
        "part_of_the_variance",
        (sp.Ge(bound, 0), sp.Le(bound, variance), sp.Le(part, 1)),
        sp.Le((bound - part * variance) ** 2, variance**2),
        says="|x - a Var| <= Var where 0 <= x <= Var, 0 <= a <= 1",
    ),
    Implication(
        "bend_at_most",
        (sp.Le(bound, spread**2 / 2), _SPREAD),
        sp.Le(4 * bound - 2 * part * variance, 2 * variance),
        says="4x - 2 a Var <= 2 Var where x <= s^2/2, s^2 <= Var, a >= 0",
    ),
    Implication(
        "bend_at_least",
        (sp.Ge(bound, 0), sp.Le(part, 1)),
        sp.Ge(4 * bound - 2 * part * variance, -2 * variance),
        says="4x - 2 a Var >= -2 Var where x >= 0, a <= 1",
    ),
)
SCALED = (
    Implication(
        "scaled_norm",
        (sp.Eq(root_d**2, d),),
        sp.Eq(d * (slope / d) ** 2, (slope / root_d) ** 2),
        says="d (g/d)^2 = (g/d^(1/2))^2, and so for d_e: the square norm of a multiple of I, and of a scaled slope",
    ),
    Implication(
        "scaled_step",
        (sp.Eq(root_d**2, d),),
        sp.Eq(root_d * (eta / d * slope), eta * (slope / root_d)),
        says="d^(1/2) (eta/d) g = eta (g/d^(1/2)), and so for d_e",
    ),
)
"""The square norm of the gradient, and a step of size η, by the slopes g in α and g/√d in √d α."""
