r"""Steps for the one-hot run: the slopes of the loss, the box 0 ≤ α ≤ √(T/q), C ≥ 0, and the bound on ρ from ℓ ≤ 1.

The proof that uses these steps is in `one_hot_descent`, with the same names.
"""

import sympy as sp

from theorems.sparse_token_selection import reduced_dynamics as reduced
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import Identity, Implication, Inequality

m, a, other, part, fall, pull, best, size, low, curve, level, factor = sp.symbols(
    "m a w part fall pull best size low curve level factor", nonnegative=True
)
top, scale, ratio = sp.symbols("top scale ratio", positive=True)
rho, b, z = sp.symbols("rho b z", real=True)
alpha, C = sp.symbols("value logit", real=True)
"""α and C under other names: in the claims `alpha` and `C` are the recursion's state."""
P, S, loss, w = (
    each.subs({reduced.alpha: alpha, reduced.C: C}) for each in (reduced.P, reduced.S, reduced.loss, reduced.w)
)
VARIABLES = (
    m,
    a,
    other,
    part,
    fall,
    pull,
    best,
    size,
    low,
    curve,
    level,
    factor,
    top,
    scale,
    ratio,
    rho,
    b,
    z,
    alpha,
    C,
)

SLOPES = (
    Identity(
        "dL_dalpha", sp.Derivative(loss, alpha), d / q * (alpha * P * S - P), says="dL/dalpha = d/q (alpha P S - P)"
    ),
    Identity(
        "dL_dC",
        sp.Derivative(loss, C),
        -d / q * alpha * P * (1 - P) * (1 - alpha * P * (1 - w)),
        says="dL/dC = -d/q alpha P (1-P) (1 - alpha P (1-w))",
    ),
)
SECOND_DERIVATIVES = (
    Identity(
        "bend_in_alpha",
        sp.Derivative(loss, alpha, 2),
        d / (2 * q) * 2 * P * S,
        says="d^2L/dalpha^2 = d/(2q) 2 P S",
    ),
    Identity(
        "mixed_bend",
        sp.Derivative(d / q * (alpha * P * S - P), C),
        d / (2 * q) * (4 * alpha * P**2 * (1 - P) * (1 - w) - 2 * P * (1 - P)),
        says="d^2L/(dalpha dC), the slope of d/q (alpha P S - P) in C, is d/(2q) (4 alpha P^2 (1-P)(1-w) - 2 P (1-P))",
    ),
    Identity(
        "bend_in_C",
        sp.Derivative(loss, C, 2),
        d
        / (2 * q)
        * (-2 * alpha * P * (1 - P) * (1 - 2 * P) + 2 * alpha**2 * P**2 * (1 - P) * ((2 - 3 * P) * (1 - w) + w)),
        says="d^2L/dC^2 = d/(2q) (-2 alpha P (1-P)(1-2P) + 2 alpha^2 P^2 (1-P)((2-3P)(1-w) + w))",
    ),
)
RANGE_OF_ALPHA = (
    Identity(
        "step_of_alpha",
        alpha - eta / q * (alpha * a * scale - a),
        (1 - eta * (a * scale) / q) * alpha + eta * (a * scale) / q / scale,
        says="alpha - (eta/q)(alpha P S - P) = (1 - c) alpha + c/S for c = eta P S/q, S > 0",
    ),
    Implication(
        "square_of_the_best",
        (sp.Ge(scale**2, 1 / ratio), sp.Eq(top**2, ratio)),
        sp.Ge((top * scale) ** 2, 1),
        says="(r S)^2 >= 1 where S^2 >= 1/x, r^2 = x, as for x = T/q",
    ),
    Implication(
        "best_at_most",
        (sp.Ge((top * scale) ** 2, 1),),
        sp.Le(1 / scale, top),
        says="1/S <= r where (r S)^2 >= 1, r and S > 0",
    ),
    Implication("pull", (sp.Le(part, 1),), sp.Le(eta * part / q, 1), says="eta PS/q <= 1 where PS <= 1"),
    Implication(
        "not_past",
        (sp.Le(pull, 1), sp.Le(alpha, top), sp.Le(best, top)),
        sp.Le((1 - pull) * alpha + pull * best, top),
        says="(1 - c) alpha + c best <= r where 0 <= c <= 1, alpha <= r, best <= r",
    ),
    Implication(
        "not_below",
        (sp.Le(pull, 1), sp.Ge(alpha, 0)),
        sp.Ge((1 - pull) * alpha + pull * best, 0),
        says="(1 - c) alpha + c best >= 0 where 0 <= c <= 1, alpha >= 0, best >= 0",
    ),
)
LAG = (
    Implication(
        "lag_at_most_one",
        (sp.Gt(m, 0), sp.Le((1 - m) + m * size, 1)),
        sp.Le(size, 1),
        says="rho^2 <= 1 where (1 - m) + m rho^2 <= 1, m > 0",
    ),
    Implication(
        "attention",
        (sp.Le(m, 1), sp.Le(rho**2, 1)),
        sp.Le((1 + rho) * m, 2),
        says="(1 + rho) m <= 2 where m <= 1, rho^2 <= 1",
    ),
)
FALL_OF_C = (
    Implication(
        "late",
        (sp.Le(a, 2), sp.Le(other, 1), sp.Gt(a * (1 - other), 1)),
        sp.Lt(other, sp.Rational(1, 2)),
        says="w < 1/2 where a (1 - w) > 1, a <= 2, w <= 1",
    ),
    Implication(
        "by_at_most",
        (sp.Le(a, 2), sp.Le(other, 1), sp.Gt(a * (1 - other), 1)),
        sp.Le(a * (a * (1 - other) - 1), 2 * (1 - 2 * other)),
        says="a (a (1-w) - 1) <= 2 (1 - 2w) where a (1 - w) > 1, a <= 2, w <= 1",
    ),
    Implication(
        "attention_of_others",
        (sp.Le(other, 1),),
        sp.Le((T - q) * other / (q + (T - q) * other), (T - q) * other / q),
        says="1 - P = (T-q) w/N <= (T-q) w/q",
    ),
    Implication(
        "fall_per_step",
        (
            *(sp.Le(part, (T - q) * other / q), sp.Le(fall, 2 * (1 - 2 * other))),
            sp.Le(other * (1 - 2 * other), sp.Rational(1, 8)),
        ),
        sp.Le(part * fall, (T - q) / (4 * q)),
        says="p x <= (T-q)/(4q) where p <= (T-q) w/q, x <= 2 (1 - 2w), w (1 - 2w) <= 1/8",
    ),
    Implication(
        "fall_of_C",
        (sp.Le(fall, (T - q) / (4 * q)),),
        sp.Le(eta * d / (q * (T - 1)) * fall, sp.Rational(1, 2)),
        says="eta d/(q(T-1)) x <= 1/2 where x <= (T-q)/(4q)",
    ),
    Inequality("log_of_two", sp.Gt(sp.log(2), sp.Rational(1, 2), evaluate=False), says="log 2 > 1/2"),
)
REST = (
    Identity(
        "left",
        (1 + rho) * m * (1 - rho),
        1 - ((1 - m) + m * rho**2),
        says="(1 + rho) m (1 - rho) = h = 1 - l",
    ),
    Inequality(
        "left_at_most", sp.Le((1 + rho) * m * (1 - rho), m, evaluate=False), says="h = (1 + rho) m (1 - rho) <= m"
    ),
    Implication(
        "excess_of_alpha",
        (sp.Le(m, 1), sp.Le(rho**2, 1)),
        sp.Le(rho**2, (1 - m) + m * rho**2),
        says="rho^2 <= l = (1 - m) + m rho^2 where m <= 1, rho^2 <= 1",
    ),
    Implication(
        "parts_of_the_loss",
        (sp.Ge(z, 0), sp.Le(rho, size), sp.Eq(rho**2, size**2), sp.Le(1 - m - rho * m * z, b)),
        sp.Le((1 - m) + m * rho**2, b + m * size * (z + size)),
        says="(1 - m) + m rho^2 <= b + m |rho| (z + |rho|) where 1 - m - rho m z <= b, z >= 0",
    ),
    Implication(
        "quotient",
        (sp.Le(low, (1 + curve * level) * fall),),
        sp.Ge(factor * fall, factor * low / (1 + curve * level)),
        says="c G >= c x/(1 + a l) where x <= (1 + a l) G, c >= 0",
    ),
)
STEPS_OF_THE_BOX = (*SLOPES, *SECOND_DERIVATIVES, *RANGE_OF_ALPHA, *LAG, *FALL_OF_C, *REST)
