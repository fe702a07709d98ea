r"""Steps for the one-hot run: the squares of the slopes dominate the square of the loss; the number of steps.

The proof that uses these steps is in `one_hot_descent`, with the same names: `lag` is ρ, `size` is |ρ|, `left` is
h = 1 − ℓ, `level` is ℓ, `near` is |B|, `reach` is z + |ρ|, `squares` is G, `root` is √A, and `low` is h².
"""

import sympy as sp

from theorems.sparse_token_selection.one_hot_box import curve, level, low, m, size
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import Identity, Implication, Inequality

share, left, near, reach, squares, root, grown, first, second, odds, rest = sp.symbols(
    "share left near reach squares root grown first second odds rest", nonnegative=True
)
ahead, behind = sp.symbols("ahead behind", nonnegative=True)
"""`ahead` is 1 + ρ, and `behind` is 1 − ρ."""
S, K = sp.symbols("S k", positive=True)
lag, bound, other_bound, excess = sp.symbols("lag bound other_bound excess", real=True)
g, x = sp.symbols("g x", nonnegative=True)
t = sp.Symbol("t", positive=True)
VARIABLES = (
    *(share, left, near, reach, squares, root, grown, first, second, odds, rest, ahead, behind),
    *(S, K, lag, bound, other_bound, excess),
)

D = d / (T - 1)

FAR = (
    Implication(
        "square_of_the_share",
        (sp.Ge(share, left * S),),
        sp.Ge(share**2, left**2 * S**2),
        says="P^2 >= h^2 S^2 where P >= hS",
    ),
    Implication(
        "share_of_the_slope",
        (sp.Ge(bound, low * other_bound), sp.Ge(other_bound, odds)),
        sp.Ge(bound * grown, low * odds * grown),
        says="P^2 rho^2 >= h^2 k rho^2 where P^2 >= h^2 S^2, S^2 >= k",
    ),
    Implication(
        "far",
        (sp.Gt(low, 0), sp.Lt(low * bound, low * other_bound)),
        sp.Lt(bound, other_bound),
        says="x < y where h^2 x < h^2 y, h^2 > 0",
    ),
    Implication(
        "lag_where_far",
        (sp.Lt(q / T * bound, other_bound),),
        sp.Lt(bound, T / q * other_bound),
        says="x < T/q y where q/T x < y, as for x = rho^2, y = d/(T-1) l^2, for which T/q y = A l^2",
    ),
)
_SLOPES = (m * S) ** 2 * size**2 + D * ahead**2 * m**2 * near**2
_WEIGHTS = behind**2 / D + (ahead * m * behind) ** 2 * reach**2 / S**2
NEAR = (
    Identity(
        "cauchy_of_the_loss",
        _SLOPES * _WEIGHTS - (ahead * m * behind) ** 2 * (near + m * size * reach) ** 2,
        (m * S * size * behind - D * ahead * m * near * ahead * m * behind * reach / S) ** 2 / D,
        says="G ((T-1)/d (1-rho)^2 + h^2 k^2/S^2) - h^2 (|B| + m |rho| k)^2 is (T-1)/d times a square, for P = mS, "
        "h = (1+rho) m (1-rho)",
    ),
    Implication(
        "square_of_the_loss",
        (sp.Le(level, bound), sp.Le(left**2 * bound**2, other_bound)),
        sp.Le(left**2 * level**2, other_bound),
        says="h^2 l^2 <= y where 0 <= l <= x, h^2 x^2 <= y",
    ),
)
OTHERS = (
    Implication(
        "reach_over_S",
        (sp.Le(reach, share),),
        sp.Le((reach / S) ** 2, (share / S) ** 2),
        says="(z/S)^2 <= (p/S)^2 where 0 <= z <= p, S > 0, as for p = 1 - P",
    ),
    Implication(
        "lag_over_S",
        (sp.Gt(m, 0), sp.Ge(S**2, q / T)),
        sp.Le((size / S) ** 2, T / (q * m) * (m * size**2)),
        says="(rho/S)^2 <= T/(qm) m rho^2 where S^2 >= q/T, m > 0",
    ),
    Implication(
        "product_of_squares",
        (sp.Le(first**2, bound), sp.Le(second**2, other_bound)),
        sp.Le((first * second) ** 2, bound * other_bound),
        says="(u v)^2 <= x y where u^2 <= x, v^2 <= y",
    ),
    Implication(
        "twice_the_product",
        (sp.Le(first**2, odds * rest),),
        sp.Le((2 * first) ** 2, (odds + rest) ** 2),
        says="(2n)^2 <= (x + y)^2 where n^2 <= x y",
    ),
    Implication("root", (sp.Le(size**2, S**2),), sp.Le(size, S), says="n <= x where n^2 <= x^2, x > 0"),
    Implication(
        "square_of_a_sum",
        (
            *(sp.Le(first**2, odds * bound), sp.Le(second**2, rest * other_bound)),
            sp.Le(2 * first * second, odds * other_bound + rest * bound),
        ),
        sp.Le((first + second) ** 2, (odds + rest) * (bound + other_bound)),
        says="(u + v)^2 <= (a + b)(x + y) where u^2 <= a x, v^2 <= b y, 2uv <= a y + b x",
    ),
    Implication(
        "others_at_most",
        (sp.Le(bound, odds * level),),
        sp.Le(low * bound, low * odds * level),
        says="h^2 x <= h^2 k l where x <= k l",
    ),
    Implication(
        "spread_of_the_others",
        (sp.Le(bound, rest),),
        sp.Le(bound * level, rest * level),
        says="h^2 k l <= y l where h^2 k <= y",
    ),
)
DOMINATION = (
    Implication(
        "enough_alone",
        (sp.Le(bound, squares),),
        sp.Le(bound, (1 + curve * level) * squares),
        says="x <= (1 + a l) G where x <= G, and G, a, l >= 0",
    ),
    Implication(
        "in_the_steps",
        (sp.Le(bound, squares * (other_bound / D + rest)), sp.Le(rest, 2 * T / q * level)),
        sp.Le(D * bound, squares * (other_bound + 2 * (d * T / (q * (T - 1))) * level)),
        says="d/(T-1) x <= G (y + 2A l) where x <= G ((T-1)/d y + z), z <= 2T l/q",
    ),
    Implication(
        "square_of_the_lag",
        (sp.Ge(lag, -size), sp.Le(lag, size), sp.Le(size, 1)),
        sp.Le((1 - lag) ** 2, 1 + 3 * size),
        says="(1 - rho)^2 <= 1 + 3 |rho| where |rho| <= 1",
    ),
    Implication(
        "dominates",
        (
            *(sp.Le(bound, squares * (other_bound + 2 * excess * level)), sp.Le(other_bound, 1 + 3 * size)),
            *(sp.Le(size, root * level), sp.Le(3 * root + 2 * excess, curve)),
        ),
        sp.Le(bound, (1 + curve * level) * squares),
        says="x <= (1 + a l) G where x <= G (y + 2A l), y <= 1 + 3 |rho|, |rho| <= A^(1/2) l, 3 A^(1/2) + 2A <= a",
    ),
)

STEP = 2 * eta / q
COUNTING = (
    Implication(
        "left_at_first",
        (sp.Ge(m, S), sp.Le(lag**2, 1)),
        sp.Ge((1 + lag) * m * (1 - lag), S * (1 - lag**2)),
        says="(1 + rho) m (1 - rho) >= k (1 - rho^2) where m >= k, rho^2 <= 1",
    ),
    Implication(
        "lag_at_first",
        (sp.Lt(S * (1 - size), S / 2),),
        sp.Gt(size, sp.Rational(1, 2)),
        says="rho^2 > 1/2 where k (1 - rho^2) < k/2, as for k = q/T",
    ),
    Implication(
        "square_of_the_least_share",
        (sp.Ge(share, q / T),),
        sp.Ge(share**2, (q / T) ** 2),
        says="P^2 >= (q/T)^2 where P >= q/T",
    ),
    Implication(
        "fall_at_first",
        (sp.Ge(bound, (q / T) ** 2), sp.Ge(size, sp.Rational(1, 2)), sp.Le(other_bound, sp.Rational(4, 5))),
        sp.Ge(STEP * (1 - other_bound / 2) * bound * size, 3 * eta * q / (5 * T**2)),
        says="2 eta/q (1 - beta/2) P^2 rho^2 >= 3 eta q/(5T^2) where beta <= 4/5, P^2 >= (q/T)^2, rho^2 >= 1/2",
    ),
    Implication(
        "steps_of_alpha",
        (sp.Le(grown * 3 * eta * q / (5 * T**2), q / (2 * T)),),
        sp.Le(grown, 5 * T / (6 * eta)),
        says="n <= 5T/(6 eta) where n 3 eta q/(5T^2) <= q/(2T)",
    ),
    Implication(
        "least_growth",
        (sp.Le(rest, sp.Rational(1, 6)), sp.Le(left, sp.Rational(2, 3))),
        sp.Ge(rest / (1 + rest * left), 9 * rest / 10),
        says="c/(1 + c h) >= 9c/10 where c <= 1/6, h <= 2/3",
    ),
    Identity(
        "steps_of_C",
        (2 * T / q - sp.Rational(3, 2)) / (sp.Rational(9, 10) * K / (9 + 3 * curve)),
        20 * (3 + curve) * T / (3 * q * K) - 5 * (3 + curve) / K,
        says="(2T/q - 3/2)/(9c/10) = 20 (3+a) T/(3qk) - 5 (3+a)/k for c = k/(9 + 3a)",
    ),
    Inequality("log_of_t", sp.Le(sp.log(S), sp.log(1 + S)), says="ln t <= ln(1 + t)"),
    Implication(
        "rise_of_the_potential",
        (sp.Le(bound, other_bound), sp.Ge(first, sp.Rational(1, 2))),
        sp.Le(
            (S + (2 + curve) * bound - (1 + curve) / S) - (2 + (2 + curve) * first - (1 + curve) / 2),
            1 + S + (2 + curve) * other_bound,
        ),
        says="t + (2+a) x - (1+a)/t - (2 + (2+a) z - (1+a)/2) <= (1 + t) + (2+a) y where x <= y, z >= 1/2, as for "
        "x = ln t, y = ln(1 + t), z = ln 2",
    ),
    Inequality(
        "log_of_the_next",
        sp.Le((2 + curve) * sp.log(1 + S), (2 + curve) * sp.log(2 + S)),
        says="(2+a) ln(1 + t) <= (2+a) ln(2 + t), as for 1 + t = Y",
    ),
    Implication(
        "all_steps",
        (sp.Le(bound + other_bound, rest), sp.Le(3 * K, low)),
        sp.Le((bound + other_bound - low + grown) / K + 3, (grown + rest) / K),
        says="(x + y - c + n)/k + 3 <= (n + z)/k where x + y <= z, 3k <= c",
    ),
)
POTENTIAL = t + (2 + g) * sp.log(t) - (1 + g) / t
SLOPE_IN_LOSS = (1 + t) ** 3 * (1 + g + t) / t**2
OF_THE_POTENTIAL = (
    Identity(
        "slope_of_t",
        sp.Derivative((1 - S) / S, S),
        -((1 + (1 - S) / S) ** 2),
        says="t = (1 - l)/l has the slope -(1 + t)^2 in l",
    ),
    Identity(
        "potential",
        (1 + t) ** 2 * sp.Derivative(POTENTIAL, t),
        SLOPE_IN_LOSS,
        says="F = t + (2+a) ln t - (1+a)/t has (1+t)^2 F' = (1+t)^3 (1+a+t)/t^2",
    ),
    Identity(
        "slope_in_loss",
        SLOPE_IN_LOSS,
        (1 + g / (1 + t)) / ((1 / (1 + t)) ** 2 * (t / (1 + t)) ** 2),
        says="which is (1 + a l)/(l^2 (1-l)^2) at l = 1/(1+t)",
    ),
    Identity(
        "bend_of_the_potential",
        sp.Derivative(SLOPE_IN_LOSS, t),
        (1 + t) ** 2 * (2 * t**2 - 2 + g * (t - 2)) / t**3,
        says="its slope in t is (1+t)^2 (2t^2 - 2 + a(t-2))/t^3",
    ),
    Implication(
        "rise_of_one_step",
        (sp.Ge(x, K * S**2 * t**2 / (1 + g * S)),),
        sp.Ge((1 + g * S) / (S**2 * t**2) * x, K),
        says="(1 + a l)/(l^2 h^2) x >= k where x >= k l^2 h^2/(1 + a l)",
    ),
)
STEPS_OF_THE_DOMINATION = (*FAR, *NEAR, *OTHERS, *DOMINATION, *COUNTING)
