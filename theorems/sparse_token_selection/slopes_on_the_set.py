"""Steps for population descent on the set of Lemma 2: the slopes f and g in α and C, their derivatives and zeros.

A step subtracts η_t f from α and η_t g from C, f = αR − P/q and g = d/(2d_e) (α²R' − 2αP'/q). The proofs that use these
steps are in `least_loss_with_the_query` and `least_loss_without_the_query`, with the same names.
"""

import sympy as sp

from theorems import rules
from theorems.sparse_token_selection import share_slopes as slopes
from theorems.sparse_token_selection.invariant_set import LOSS, P, P_slope, R, R_slope, alpha, t
from theorems.sparse_token_selection.task import d, d_e, eta, q
from verify import Identity, Implication, Inference

P_bend, R_bend, mixed, curvature, f, g, new_f, x, y = sp.symbols(
    "P_bend R_bend mixed curvature f g new_f x y", real=True
)
step, length, most, square, bend, part, other_part = sp.symbols(
    "step length most square bend part other_part", nonnegative=True
)
"""`step` is a step size, `length` is a part of it, and the others are bounds."""
VARIABLES = (
    *(P, R, P_slope, R_slope, P_bend, R_bend, alpha, t, mixed, curvature, f, g, new_f, x, y),
    *(step, length, most, square, bend, part, other_part, *slopes.OF_A_SHARE),
)

F, G_SLOPE = alpha * R - P / q, d / (2 * d_e) * (alpha**2 * R_slope - 2 * alpha * P_slope / q)
MIXED = alpha * R_slope - P_slope / q
BEND = alpha**2 * R_bend - 2 * alpha * P_bend / q


def _at_zero(expression: sp.Expr) -> sp.Subs:
    return sp.Subs(sp.Derivative(expression, t), t, 0)


SECOND_DERIVATIVES = (
    Identity("f_in_alpha", sp.Derivative(F, alpha), R, says="df/dalpha = R for f = alpha R - P/q"),
    Identity(
        "f_in_C",
        _at_zero(alpha * (R + R_slope * t) - (P + P_slope * t) / q),
        MIXED,
        says="df/dC = alpha R' - P'/q",
    ),
    Identity(
        "g_in_alpha",
        sp.Derivative(G_SLOPE, alpha),
        d / d_e * MIXED,
        says="dg/dalpha = d/d_e (alpha R' - P'/q) for g = d/(2 d_e) (alpha^2 R' - 2 alpha P'/q)",
    ),
    Identity(
        "g_in_C",
        _at_zero(
            d / (2 * d_e) * (alpha**2 * (R_slope + R_bend * t) - 2 * alpha * (P_slope + P_bend * t) / q),
        ),
        d / (2 * d_e) * BEND,
        says="dg/dC = d/(2 d_e) (alpha^2 R'' - 2 alpha P''/q)",
    ),
)
SLOPE_IN_C = (
    Identity(
        "factors_of_g",
        G_SLOPE,
        d / (2 * d_e) * (alpha * (alpha * R_slope - 2 * P_slope / q)),
        says="d/(2 d_e) (alpha^2 R' - 2 alpha P'/q) = d/(2 d_e) (alpha (alpha R' - 2P'/q))",
    ),
    Implication(
        "positive_factor",
        (sp.Gt(alpha, 0), sp.Gt(x, 0)),
        sp.Gt(d / (2 * d_e) * (alpha * x), 0),
        says="d/(2 d_e) (alpha x) > 0 where alpha > 0, x > 0",
    ),
    Implication(
        "negative_factor",
        (sp.Gt(alpha, 0), sp.Lt(x, 0)),
        sp.Lt(d / (2 * d_e) * (alpha * x), 0),
        says="d/(2 d_e) (alpha x) < 0 where alpha > 0, x < 0",
    ),
)
FACTOR = alpha * R_slope - 2 * P_slope / q
CURVATURE_AT_MOST = (
    Implication(
        "bend_of_R",
        (sp.Ge(alpha, 0), sp.Le(alpha, x), sp.Le(R_bend, bend)),
        sp.Le(alpha**2 * R_bend, x**2 * bend),
        says="alpha^2 R'' <= x^2 z where 0 <= alpha <= x, R'' <= z, z >= 0",
    ),
    Implication(
        "bend_of_P",
        (sp.Ge(alpha, 0), sp.Le(alpha, x), sp.Le(-P_bend, bend)),
        sp.Le(-alpha * P_bend, x * bend),
        says="-alpha P'' <= x z where 0 <= alpha <= x, -P'' <= z, z >= 0",
    ),
    Implication(
        "curvature_at_most",
        (sp.Le(x, part), sp.Le(y, other_part), sp.Le(part + 2 * other_part / q, most)),
        sp.Le(d / (2 * d_e) * (x + 2 * y / q), d / (2 * d_e) * most),
        says="d/(2 d_e) (x + 2y/q) <= d/(2 d_e) b where x <= g, y <= h, g + 2h/q <= b",
    ),
)
IN_A_STEP = (
    Implication(
        "f_along_a_step",
        (sp.Lt(f, 0), sp.Lt(g, 0), sp.Le(mixed, 0), sp.Le(R, square)),
        sp.Le(R * (-step * f) + mixed * (-step * g), -step * square * f),
        says="R (-s f) + m (-s g) <= -s r f where f < 0, g < 0, m <= 0, R <= r, s >= 0",
    ),
    Implication(
        "g_along_a_step",
        (sp.Lt(f, 0), sp.Lt(g, 0), sp.Le(mixed, 0), sp.Le(curvature, most)),
        sp.Le(d / d_e * mixed * (-step * f) + curvature * (-step * g), -step * most * g),
        says="d/d_e m (-s f) + h (-s g) <= -s b g where f < 0, g < 0, m <= 0, h <= b, s >= 0",
    ),
    Implication(
        "still_negative",
        (sp.Lt(f, 0), sp.Le(new_f, f - length * most * f), sp.Le(length, step), sp.Lt(step * most, 1)),
        sp.Lt(new_f, 0),
        says="x < 0 where x <= f - s b f, f < 0, 0 <= s <= t, t b < 1, b >= 0",
    ),
    Implication(
        "share_below_one",
        (sp.Lt(eta * bend, 1), sp.Le(step, eta), sp.Le(square, bend)),
        sp.Lt(step * square, 1),
        says="t r < 1 where 0 <= t <= eta, 0 <= r <= b, eta b < 1",
    ),
    Implication(
        "small_curvature",
        (sp.Lt(eta * d / (2 * d_e) * most, 1), sp.Le(step, eta)),
        sp.Lt(step * (d / (2 * d_e) * most), 1),
        says="t d/(2 d_e) b < 1 where eta d/(2 d_e) b < 1, 0 <= t <= eta, b >= 0",
    ),
)
F_AFTER_A_STEP = Implication(
    "f_after_a_step",
    (sp.Gt(P, 0), sp.Lt(step * R, 1)),
    sp.Lt(step * P / q * R - P / q, 0),
    says="alpha R - P/q < 0 for alpha = s P/q where s R < 1, P > 0",
)
NEXT_ALPHA = Implication(
    "next_alpha",
    (sp.Gt(R, 0),),
    sp.Eq(alpha - step * (alpha * R - P / q), (1 - step * R) * alpha + step * R * (P / (q * R))),
    says="alpha - t (alpha R - P/q) = (1 - t R) alpha + t R P/(qR) where R > 0",
)
STATIONARY = (
    Implication(
        "best_alpha",
        (sp.Gt(R, 0), sp.Eq(F, 0)),
        sp.Eq(alpha, P / (q * R)),
        says="alpha = P/(qR) where alpha R - P/q = 0, R > 0",
    ),
    Implication(
        "stationary",
        (sp.Gt(P, 0), sp.Gt(R, 0), sp.Eq(P / (q * R) * R_slope - 2 * P_slope / q, 0)),
        sp.Eq(2 * P_slope / P - R_slope / R, 0),
        says="2P'/P - R'/R = 0 where P/(qR) R' - 2P'/q = 0, P > 0, R > 0",
    ),
)
BEST_VALUE_SCALE = Implication(
    "best_value_scale",
    (sp.Gt(R, 0),),
    sp.Eq(LOSS, d / (2 * q) * (1 - P**2 / (q * R)) + d * R / 2 * (alpha - P / (q * R)) ** 2),
    says="L = d/(2q) (1 - P^2/(qR)) + dR/2 (alpha - P/(qR))^2 where R > 0",
)
DETERMINANT = Implication(
    "determinant",
    (sp.Gt(P, 0), sp.Gt(R, 0), sp.Eq(alpha, P / (q * R)), sp.Eq(R_slope, 2 * P_slope * R / P)),
    sp.Eq(
        R * BEND - 2 * MIXED**2,
        -((P / q) ** 2) * (2 * (P_bend / P - (P_slope / P) ** 2) - (R_bend / R - (R_slope / R) ** 2)),
    ),
    says="R (alpha^2 R'' - 2 alpha P''/q) - 2 (alpha R' - P'/q)^2 = -(P/q)^2 (2 (P''/P - P'^2/P^2) - (R''/R - "
    "R'^2/R^2)) where alpha = P/(qR), R' = 2P'R/P",
)
POSITIVE_DEFINITE = Implication(
    "positive_determinant",
    (sp.Gt(P, 0), sp.Lt(x, 0)),
    sp.Gt(d / (2 * d_e) * (-((P / q) ** 2) * x), 0),
    says="d/(2 d_e) (-(P/q)^2 x) > 0 where x < 0, P > 0",
)
OF_THE_SHARES = Inference(
    "of_the_shares",
    "P and R are means of sums of shares and of their squares, whose slopes are bounded: P' = E Σ_y p_i (v_i − v̄) and "
    "R' = 2E Σ p_i² (v_i − v̄), v_i the logits over C and v̄ their mean under the attention; P and R are positive, and "
    "have continuous second derivatives",
    ("wang2024.lemma2:loss_on_the_set", "signs_are_symmetric", *(step.label for step in slopes.OF_THE_SHARES)),
    rules.DIFFERENTIATION_UNDER_THE_MEAN,
)
