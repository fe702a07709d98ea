"""Steps for population descent attending to Z: the run enters the cone |f| ≤ r|g| of its slopes, and C < C_* there.

The proof that uses these steps is in `least_loss_without_the_query`, with the same names: `curvature` is ∂g/∂C, `mixed`
is m, `total` is M.
"""

import sympy as sp

from theorems.sparse_token_selection.invariant_set import P, P_slope, R, R_slope, alpha
from theorems.sparse_token_selection.slopes_on_the_set import (
    F_AFTER_A_STEP,
    G_SLOPE,
    MIXED,
    F,
    curvature,
    f,
    g,
    length,
    mixed,
    square,
    step,
    x,
    y,
)
from theorems.sparse_token_selection.task import T, d, d_e, q
from verify import Implication, Inequality

C_0 = sp.Symbol("C_0", positive=True)
ratio, bound, total = sp.symbols("r A M", positive=True)
"""r = √(d_e/d); A is a bound of P/(qR), and M a bound of R + |m|/r."""
steepness, bend_of_squares, bend_of_selected, C, weight, z = sp.symbols("l b_R b_P C weight z", nonnegative=True)
"""l, b_R and b_P are bounds of R'/R, max(R'', 0)/R and max(−P'', 0)/(qR); the others are nonnegative numbers."""
WHILE_THE_SCALE_RISES = (
    Implication(
        "product_while_the_scale_rises",
        (sp.Gt(R, 0), sp.Ge(R_slope, 0), sp.Gt(P_slope * R, P * R_slope), sp.Le(F, 0)),
        sp.Lt(MIXED * R, 0),
        says="(alpha R' - P'/q) R < 0 where alpha R - P/q <= 0, R' >= 0, P'R > PR', R > 0",
    ),
    Implication("factor_below_zero", (sp.Gt(R, 0), sp.Lt(x * R, 0)), sp.Lt(x, 0), says="x < 0 where x R < 0, R > 0"),
    Implication(
        "beyond_the_end",
        (sp.Ge(C, C_0), sp.Le(ratio * C, alpha)),
        sp.Ge(alpha, ratio * C_0),
        says="alpha >= r C_0 where C >= C_0, r C <= alpha, r > 0",
    ),
    Implication(
        "slope_of_G_while_the_scale_rises",
        (sp.Gt(P, 0), sp.Gt(R, 0), sp.Ge(R_slope, 0), sp.Gt(P_slope * R, P * R_slope)),
        sp.Gt(2 * P_slope / P - R_slope / R, 0),
        says="2P'/P - R'/R > 0 where P'R > PR', R' >= 0, P > 0, R > 0",
    ),
)
_F_CHANGE = -R * f - mixed * g
_G_CHANGE = -mixed / ratio**2 * f - curvature * g
_IN_THE_CONE = (sp.Ge(f - ratio * g, 0), sp.Ge(-f - ratio * g, 0), sp.Lt(g, 0))
_BOUNDS = (sp.Le(curvature, R), sp.Le(mixed, ratio * (total - R)), sp.Ge(mixed, -ratio * (total - R)))
CONE = (
    Implication(
        "one_side",
        (*_IN_THE_CONE, *_BOUNDS),
        sp.Ge(_F_CHANGE - ratio * _G_CHANGE, -total * (f - ratio * g)),
        says="(-R f - m g) - r (-m/r^2 f - h g) >= -M (f - r g) where |f| <= -r g, g < 0, h <= R, R + |m|/r <= M",
    ),
    Implication(
        "other_side",
        (*_IN_THE_CONE, *_BOUNDS),
        sp.Ge(-_F_CHANGE - ratio * _G_CHANGE, -total * (-f - ratio * g)),
        says="-(-R f - m g) - r (-m/r^2 f - h g) >= -M (-f - r g) where |f| <= -r g, g < 0, h <= R, R + |m|/r <= M",
    ),
    Implication(
        "slope_in_the_cone",
        (*_IN_THE_CONE, *_BOUNDS),
        sp.Le(_G_CHANGE, -total * g),
        says="-m/r^2 f - h g <= -M g where |f| <= -r g, g < 0, h <= R, R + |m|/r <= M",
    ),
    Implication(
        "still_nonnegative",
        (sp.Ge(x, weight - length * total * weight), sp.Le(length, step), sp.Lt(step * total, 1)),
        sp.Ge(x, 0),
        says="x >= 0 where x >= w - s M w, w >= 0, 0 <= s <= t, t M < 1, M > 0",
    ),
)
AT_THE_TURN = (
    Implication(
        "g_at_the_turn",
        (sp.Gt(R, 0), sp.Eq(2 * P_slope * R, P * R_slope)),
        sp.Eq(G_SLOPE, d / (2 * d_e) * alpha * (R_slope / R) * F),
        says="d/(2 d_e) (alpha^2 R' - 2 alpha P'/q) = d/(2 d_e) alpha R'/R (alpha R - P/q) where 2P'R = PR', R > 0",
    ),
    Implication(
        "multiple_at_most",
        (sp.Ge(alpha, 0), sp.Le(alpha, bound), sp.Le(z, steepness), sp.Lt(bound * steepness, 2 * ratio)),
        sp.Lt(alpha * z, 2 * ratio),
        says="alpha z < 2r where 0 <= alpha <= A, 0 <= z <= l, A l < 2r",
    ),
    Implication(
        "outside_the_cone",
        (sp.Eq(g, x / (2 * ratio**2) * f), sp.Ge(x, 0), sp.Lt(x, 2 * ratio), sp.Lt(g, 0)),
        sp.Lt(f, ratio * g),
        says="f < r g where g = x/(2r^2) f < 0, 0 <= x < 2r",
    ),
)
SIZES = (
    Implication(
        "slope_of_P_at_most",
        (sp.Gt(P, 0), sp.Gt(R, 0), sp.Le(2 * P_slope / P - R_slope / R, 2), sp.Le(R_slope / R, steepness)),
        sp.Le(P_slope, (1 + steepness / 2) * P),
        says="P' <= (1 + l/2) P where 2P'/P - R'/R <= 2, R'/R <= l, P > 0, R > 0",
    ),
    Implication(
        "mixed_at_most",
        (
            *(sp.Ge(alpha, 0), sp.Le(alpha, bound), sp.Gt(R, 0), sp.Ge(R_slope, 0), sp.Le(R_slope, steepness * R)),
            sp.Ge(P_slope, 0),
        ),
        sp.Le(MIXED, bound * (1 + steepness) * R),
        says="alpha R' - P'/q <= A (1 + l) R where 0 <= alpha <= A, 0 <= R' <= l R, P' >= 0, R > 0",
    ),
    Implication(
        "mixed_at_least",
        (
            *(sp.Ge(alpha, 0), sp.Gt(R, 0), sp.Ge(R_slope, 0), sp.Le(P_slope, (1 + steepness / 2) * P)),
            sp.Le(P, q * bound * R),
        ),
        sp.Ge(MIXED, -bound * (1 + steepness) * R),
        says="alpha R' - P'/q >= -A (1 + l) R where alpha >= 0, R' >= 0, P' <= (1 + l/2) P, P <= q A R, R > 0, l >= 0",
    ),
    Implication(
        "total_at_most",
        (sp.Le(R, square), sp.Le(mixed, bound * (1 + steepness) * R), sp.Gt(R, 0)),
        sp.Le(R + mixed / ratio, square * (1 + bound * (1 + steepness) / ratio)),
        says="R + m/r <= b (1 + A (1 + l)/r) where 0 < R <= b, m <= A (1 + l) R, r > 0, l >= 0, A > 0",
    ),
    Implication(
        "bends_at_most",
        (sp.Le(x, bound**2 * bend_of_squares * R), sp.Le(y, bound * bend_of_selected * q * R)),
        sp.Le(x + 2 * y / q, (bound**2 * bend_of_squares + 2 * bound * bend_of_selected) * R),
        says="x + 2z/q <= (A^2 b_R + 2 A b_P) R where x <= A^2 b_R R, z <= A b_P q R",
    ),
    Implication(
        "curvature_at_a_multiple",
        (sp.Le(x, weight * R),),
        sp.Le(d / (2 * d_e) * x, d / (2 * d_e) * weight * R),
        says="d/(2 d_e) x <= d/(2 d_e) b R where x <= b R",
    ),
    Implication(
        "multiple_of_R",
        (sp.Gt(R, 0), sp.Le(z, 1)),
        sp.Le(z * R, R),
        says="z R <= R where z <= 1, R > 0",
    ),
    Implication(
        "form_at_most",
        (sp.Le(curvature, R), sp.Le(mixed, ratio * (total - R)), sp.Ge(mixed, -ratio * (total - R))),
        sp.Le(R * f**2 + 2 * mixed / ratio * f * g + curvature * g**2, total * (f**2 + g**2)),
        says="R u^2 + 2 m/r u w + h w^2 <= M (u^2 + w^2) where h <= R, R + |m|/r <= M, r > 0",
    ),
)
FIRST_STEP = (
    F_AFTER_A_STEP,
    Implication(
        "slope_of_P_at_zero",
        (sp.Lt(q, T),),
        sp.Gt((q - q * (q / T)) / T, 0),
        says="(q - q q/T)/T > 0 where q < T",
    ),
    Implication(
        "g_after_a_step",
        (sp.Gt(alpha, 0), sp.Eq(R_slope, 0), sp.Gt(P_slope, 0)),
        sp.Lt(G_SLOPE, 0),
        says="d/(2 d_e) (alpha^2 R' - 2 alpha P'/q) < 0 where alpha > 0, R' = 0, P' > 0",
    ),
    Inequality(
        "slope_of_G_at_zero",
        sp.Le(2 * ((q - q * (q / T)) / T) / (q / T), 2),
        says="2P'/P <= 2 for P = q/T, P' = (q - q q/T)/T",
    ),
)
