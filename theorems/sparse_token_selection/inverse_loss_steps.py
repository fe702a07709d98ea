"""Steps for the rate of 1/L: the moves of C and of the best α, the order of the gap, the increment of 1/L.

The proof that uses these steps is in `inverse_loss_rate`, with the same names; `size` is |e|, `moved` is |m| or
|w − w'|.
"""

import sympy as sp

from theorems.sparse_token_selection.reduced_dynamics import C, P, S, alpha, loss, step_alpha, step_C
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import Identity, Implication, Inequality

r, r_after, h, phi, w, w_next = sp.symbols("r r_after h phi w w_next", positive=True)
rho = sp.Symbol("rho", real=True)
e = sp.Symbol("e", real=True)
size, moved, most, rate, K, b = sp.symbols("size moved most rate K b", nonnegative=True)
value, share, others, inverse, part = sp.symbols("value share others inverse part", nonnegative=True)
cube, next_cube, growth, both = sp.symbols("cube next_cube growth both", positive=True)
x, y, m = sp.symbols("x y m", real=True)
VARIABLES = (
    *(h, phi, r, r_after, w, w_next, e, size, moved, most, rate, K, b, value, share, others, inverse, part),
    *(cube, next_cube, growth, both, x, y, m),
)

h_fixed = q / (T - q)
inverse_loss_slope = 4 * eta / (T - 1)


def at_zero(expression: sp.Expr) -> sp.Limit:
    """Return the limit as r → 0, with r replaced by a symbol that is only assumed to be real."""
    return sp.Limit(expression.subs(r, rho), rho, 0)


def _at(expression: sp.Expr, other: sp.Expr = w) -> sp.Expr:
    """Return an expression of C at the C with e^{−C} = w, or with e^{−C} = `other`."""
    return expression.subs(C, -sp.log(other))  # pyright: ignore[reportReturnType]


P_w, S_w, S_next = _at(P), _at(S), _at(S, w_next)
alpha_w = 1 / S_w + e
pull = eta * P_w * S_w / q
spread = (T - q) * w**2 / (q + (T - q) * w**2)
speed = eta * d / (q * (T - 1))
INVERSE = 2 * q / d * ((T - q) / (q * r**2) + 1)
"""The inverse of d/(2q) (T−q)w²/(q + (T−q)w²) as a function of r = (T−q)w/q."""
AT_MOST_SIZE = (sp.Le(e, size), sp.Ge(e, -size))
MOVE_OF_C = (
    Inequality("others_at_most", sp.Le(1 - P_w, (T - q) * w / q), says="1 - P <= (T-q) w/q"),
    Implication(
        "pull_at_most",
        (sp.Le(share, 1), sp.Le(inverse, 2), sp.Le(w, 1), *AT_MOST_SIZE),
        sp.Le(w * inverse - share * (1 - w) * e, 2 * w + size),
        says="w/S - P (1-w) e <= 2w + |e| where 1/S <= 2, w <= 1",
    ),
    Implication(
        "pull_at_least",
        (sp.Le(share, 1), sp.Le(inverse, 2), sp.Le(w, 1), *AT_MOST_SIZE),
        sp.Ge(w * inverse - share * (1 - w) * e, -2 * w - size),
        says="w/S - P (1-w) e >= -2w - |e| where 1/S <= 2, w <= 1",
    ),
    Implication(
        "attended_at_most",
        (sp.Le(value, 2), sp.Le(share, 1), sp.Le(others, (T - q) * w / q), sp.Le(x, size), sp.Ge(x, -size)),
        sp.Le(value * share * others * x, 2 * (T - q) * w / q * size),
        says="alpha P p x <= 2 (T-q)/q w |x| where alpha <= 2, P <= 1, p <= (T-q) w/q",
    ),
    Implication(
        "move_at_most",
        (sp.Le(x, most),),
        sp.Le(speed * x, speed * most),
        says="eta d/(q(T-1)) x <= eta d/(q(T-1)) y where x <= y",
    ),
)
MOVE_OF_THE_BEST = (
    Implication(
        "factor_at_most",
        (sp.Le(w, 1), sp.Le(w_next, 1)),
        sp.Le(q * (1 - w - w_next) - (T - q) * w * w_next, T),
        says="q (1 - w - w') - (T-q) w w' <= T where w, w' <= 1",
    ),
    Implication(
        "factor_at_least",
        (sp.Le(w, 1), sp.Le(w_next, 1)),
        sp.Ge(q * (1 - w - w_next) - (T - q) * w * w_next, -T),
        says="q (1 - w - w') - (T-q) w w' >= -T where w, w' <= 1",
    ),
    Inequality(
        "both_at_least",
        sp.Ge((q + (T - q) * w**2) * (q + (T - q) * w_next**2), q**2),
        says="(q + (T-q) w²)(q + (T-q) w'²) >= q²",
    ),
    Implication(
        "product_at_most",
        (sp.Le(x, moved), sp.Ge(x, -moved), sp.Le(y, T), sp.Ge(y, -T)),
        sp.Le(x * y, T * moved),
        says="x y <= T |x| where |y| <= T",
    ),
    Implication(
        "moved_by",
        (sp.Le(moved, 2 * w * x), sp.Le(x, K * w * size)),
        sp.Le(T * moved, 2 * T * K * w**2 * size),
        says="T y <= 2T K w² z where y <= 2w x, x <= K w z, as for y = |w - w'|, x = |C' - C|, z = 2w + |e|",
    ),
    Implication(
        "best_moves_by",
        (sp.Le(y, most), sp.Ge(both, q**2)),
        sp.Le((T - q) * y / both, (T - q) * most / q**2),
        says="(T-q) y/D <= (T-q) k/q² where y <= k, k >= 0, D >= q²",
    ),
)
ORDER_OF_THE_GAP = (
    Implication("share_at_most", (sp.Le(w, 1),), sp.Le(P_w * S_w, 1), says="P S <= 1 where w <= 1"),
    Inequality("rate_below_one", sp.Lt((1 - eta / q) ** 2, 1), says="(1 - eta/q)² < 1"),
    Implication(
        "contraction",
        (
            *(sp.Le(part, 1), *AT_MOST_SIZE, sp.Ge(rate, 1 - eta / q), sp.Ge(rate, eta / q - 1)),
            sp.Le(x, K * w**2 * (2 * w + size)),
        ),
        sp.Le((1 - eta * part / q) * e + x, (rate + eta / q * (1 - part) + K * w**2) * size + 2 * K * w**3),
        says="(1 - eta PS/q) e + x <= (|1 - eta/q| + eta/q (1 - PS) + K w²) |e| + 2K w³ where PS <= 1, "
        "x <= K w² (2w + |e|)",
    ),
    Implication(
        "next_cube",
        (sp.Le(x, most), sp.Le(cube, growth * next_cube)),
        sp.Le(x / next_cube, growth * most / cube),
        says="x/w'³ <= g y/w³ where x <= y, y >= 0, w³ <= g w'³",
    ),
    Identity("per_cube", (rate * size + 2 * K * cube) / cube, rate * size / cube + 2 * K, says="(c |e| + 2K w³)/w³"),
    Identity("lag_in_parts", (1 + r - (x + e)) / r**2, (1 + r - x) / r**2 - e / r**2, says="h for alpha = 1/S + e"),
    Implication(
        "gap_in_odds",
        (sp.Le(size, b * w**3),),
        sp.Le(size / ((T - q) * w / q) ** 2, h_fixed**2 * b * w),
        says="|e|/r² <= (q/(T-q))² b w where |e| <= b w³",
    ),
)
NEXT_W = Identity(
    "next_w", sp.exp(-(x + m)), sp.exp(-x) * sp.exp(-m), says="w' = e^(-C - m) is w e^(-m), for w = e^(-C), C' = C + m"
)
DRIFT = (
    NEXT_W,
    Implication(
        "slope_on_the_way",
        (sp.Le(x, moved), sp.Ge(x, -moved)),
        sp.Le(w * sp.exp(-x), w * sp.exp(moved)),
        says="w e^(-t) <= w e^m where -m <= t <= m, as for m = |C' - C|",
    ),
    Implication(
        "drift_at_most", (sp.Le(y, 2),), sp.Le(w * moved * y, 2 * w * moved), says="w m x <= 2 w m where x <= 2, m >= 0"
    ),
)
INCREMENT = (
    Implication(
        "gap_in_the_loss",
        (sp.Le(e, b * w**3), sp.Ge(e, -b * w**3), sp.Le(part, 1)),
        sp.Le(part * e**2, b**2 * w**4 * w**2),
        says="P S e² <= b² w⁴ w² where |e| <= b w³, P S <= 1",
    ),
    Implication(
        "square_in_the_loss",
        (sp.Le(w, 1),),
        sp.Le(w**2, T / (T - q) * spread),
        says="w² <= T/(T-q) s, s = (T-q) w²/(q + (T-q) w²), where w <= 1",
    ),
    Identity(
        "inverse_loss",
        1 / (d / (2 * q) * (1 + b) * spread.subs(w, h_fixed * r)),
        INVERSE / (1 + b),
        says="the inverse of d/(2q) (1 + b) (T-q)w²/(q + (T-q)w²) is (2q/d) ((T-q)/(q r²) + 1)/(1 + b)",
    ),
    Identity("inverse_in_parts", x / (1 + b), x - x * b / (1 + b), says="x/(1 + b) = x - x b/(1 + b)"),
    Identity(
        "inverse_in_w",
        INVERSE.subs(r, (T - q) * w / q),
        2 * q / d * (q / (T - q) + w**2) / w**2,
        says="(2q/d) ((T-q)/(q r²) + 1) = (2q/d) (q/(T-q) + w²)/w² for r = (T-q) w/q",
    ),
    Implication(
        "rest_of_the_inverse", (sp.Le(b, K * w**4),), sp.Le(b / w**2, K * w**2), says="b/w² <= K w² where b <= K w⁴"
    ),
    Identity(
        "change_of_the_inverse",
        INVERSE.subs(r, r_after) - INVERSE,
        2 * (T - q) / d * (1 / r_after**2 - 1 / r**2),
        says="(2q/d) ((T-q)/(q r²) + 1) changes by 2(T-q)/d (1/r'² - 1/r²)",
    ),
    Identity(
        "inverse_square",
        1 / (r * sp.exp(-m)) ** 2 - 1 / r**2,
        m / r**2 * (sp.exp(2 * m) - 1) / m,
        says="1/r'² - 1/r² = m/r² (e^(2m) - 1)/m for r' = r e^(-m)",
    ),
    Identity(
        "move_in_odds",
        (speed * value * P_w * (1 - P_w) * (w * inverse - P_w * (1 - w) * e)).subs(w, h_fixed * r) / r**2,
        speed * value / (1 + r) ** 2 * (h_fixed * inverse - (1 - h_fixed * r) / (1 + r) * e / r),
        says="m/r² = eta d/(q(T-1)) alpha/(1+r)² (q/(T-q)/S - (1-w)/(1+r) e/r)",
    ),
    Identity(
        "increment",
        at_zero(2 * (T - q) / d * 2 * speed / (1 + r) ** 2 * h_fixed),
        inverse_loss_slope,
        says="2(T-q)/d 2 eta d/(q(T-1)) 1/(1+r)² q/(T-q) -> 4 eta/(T-1) for r -> 0",
    ),
)
STEPS = (
    Identity(
        "loss",
        _at(loss).subs(alpha, alpha_w),
        d / (2 * q) * (spread + P_w * S_w * e**2),
        says="with w = e^(-C), alpha = 1/S + e: 2qL/d = (T-q) w²/(q + (T-q) w²) + P S e²",
    ),
    Identity(
        "move",
        _at(step_C - C).subs(alpha, alpha_w),
        eta * d / (q * (T - 1)) * alpha_w * P_w * (1 - P_w) * (w / S_w - P_w * (1 - w) * e),
        says="C' - C = eta d/(q(T-1)) alpha P (1-P) (w/S - P (1-w) e)",
    ),
    Identity(
        "best_alpha",
        1 / S_w - 1 / S_next,
        (T - q)
        * (w - w_next)
        * (q * (1 - w - w_next) - (T - q) * w * w_next)
        / ((q + (T - q) * w**2) * (q + (T - q) * w_next**2)),
        says="1/S - 1/S' has the factor w - w'",
    ),
    Identity(
        "gap",
        _at(step_alpha).subs(alpha, alpha_w) - 1 / S_next,
        (1 - pull) * e + 1 / S_w - 1 / S_next,
        says="e' = (1 - eta P S/q) e + 1/S - 1/S'",
    ),
    Identity(
        "lag_of_the_best",
        (1 + r - 1 / S_w.subs(w, h_fixed * r)) / r**2,
        h_fixed * (1 + r) / (1 + h_fixed * r**2),
        says="(1 + r - 1/S)/r² = (1 + r) h/(1 + h r²) with h = q/(T-q)",
    ),
    Identity("square_of_w", q * spread / ((T - q) * (1 - spread)), w**2, says="q s/((T-q)(1 - s)) = w² for that s"),
    *MOVE_OF_C,
    *MOVE_OF_THE_BEST,
    *ORDER_OF_THE_GAP,
    *DRIFT,
    *INCREMENT,
)
