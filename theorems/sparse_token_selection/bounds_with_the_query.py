"""Steps for descent with small step sizes, attending to [Z, z_query]: bounds of logits, Hessian and slope in C.

The proof that uses these steps is in `descent_with_the_query`, with the same names; `size` is w = q(1+q), `value` is α.
"""

import sympy as sp

from theorems.sparse_token_selection import share_slopes as slopes
from theorems.sparse_token_selection.descent_on_the_set import NEXT_C, C, beta, slope, square, u, w
from theorems.sparse_token_selection.invariant_set import (
    LOSS,
    SCALE_STEP,
    VALUE_STEP,
    P,
    P_slope,
    R,
    R_slope,
    alpha,
    t,
)
from theorems.sparse_token_selection.share_slopes import SCALED, root_d
from theorems.sparse_token_selection.task import T, d, d_e, eta, q
from verify import Identity, Implication, Inequality

kappa, scale = sp.symbols("kappa scale", positive=True)
root_R, root_share = sp.symbols("r a", nonnegative=True)
"""`root_R` is √R ≤ 1, and `root_share` is α√(qR) ≤ 2."""
root_q, root_e = sp.symbols("root_q root_e", positive=True)
size, value = sp.symbols("size value", nonnegative=True)
"""`size` is the bound q(1+q) of the logits' differences, and `value` is α."""
p, x, c, variance, d_alpha, d_C, curvature = sp.symbols("p x c variance d_alpha d_C curvature", real=True)
P_bend, R_bend = sp.symbols("P_bend R_bend", real=True)
entry, high, low, loss, part, other_part, share, ties, total, least, y = sp.symbols(
    "entry high low loss part other_part share ties total least y", nonnegative=True
)
number, power = sp.symbols("number power", positive=True)
VARIABLES = (
    *(entry, high, low, loss, part, other_part, share, ties, total, least, y, number, power),
    *(P, R, P_slope, R_slope, P_bend, R_bend, slopes.v, slopes.mean, slopes.moment),
    *(beta, u, w, kappa, scale, root_R, root_share, alpha, t, C, slope, square),
    *(p, x, c, variance, d_alpha, d_C, curvature, root_d, root_q, root_e, size, value),
)

BETA_SQUARED = 9 * d * q * (1 + q) ** 2 / d_e

LOGITS = (
    Implication(
        "at_most_square",
        (sp.Ge(entry * (entry - 1), 0),),
        sp.Le(entry, entry**2),
        says="s <= s^2 where s (s-1) >= 0, as for the size of an integer",
    ),
    Implication("square_at_most", (sp.Le(entry, q),), sp.Le(entry**2, q**2), says="s^2 <= q^2 where 0 <= s <= q"),
    Implication(
        "apart",
        (sp.Le(x, high), sp.Ge(x, -low), sp.Le(slopes.mean, high), sp.Ge(slopes.mean, -low)),
        sp.Le(sp.Abs(x - slopes.mean), high + low),
        says="|x - m| <= h + l where x and m are from -l to h, as for h = q^2, l = q, h + l = w",
    ),
    Implication(
        "variance_at_most",
        (sp.Le(x, high), sp.Ge(x, -low)),
        sp.Le((x - slopes.mean) ** 2, (high + low) ** 2 / 4 + (x - slopes.mean) * (high - low - 2 * slopes.mean)),
        says="(x - m)^2 <= (h + l)^2/4 + (x - m)(h - l - 2m) where -l <= x <= h, as for h = q^2, l = q, h + l = w",
    ),
    Implication(
        "square_less_variance",
        (sp.Le(sp.Abs(x), size), sp.Ge(variance, 0), sp.Le(variance, size**2 / 4)),
        sp.Le(sp.Abs(x**2 - variance), size**2),
        says="|x^2 - v| <= w^2 where |x| <= w, 0 <= v <= w^2/4",
    ),
)
RESIDUAL = (
    Identity(
        "square_of_the_residual",
        (alpha * p - 1 / q) ** 2,
        alpha**2 * p**2 - 2 * alpha * p / q + 1 / q**2,
        says="(alpha p - 1/q)^2 = alpha^2 p^2 - 2 alpha p/q + 1/q^2",
    ),
    Implication(
        "squares_at_most",
        (sp.Eq(total, 2 / d * loss), sp.Le(loss, d / (2 * q))),
        sp.Le(total, 1 / q),
        says="2L/d <= 1/q where L <= d/(2q)",
    ),
    Implication(
        "twice_the_root",
        (sp.Le(entry, part + other_part), sp.Le(part**2, y), sp.Le(other_part**2, y)),
        sp.Le(entry**2, 4 * y),
        says="x^2 <= 4y where 0 <= x <= g + h, g^2 <= y, h^2 <= y, as for y = 1/q",
    ),
    Implication(
        "negative_alpha",
        (sp.Lt(alpha, 0), sp.Gt(P, 0), sp.Gt(R, 0)),
        sp.Gt(LOSS, d / (2 * q)),
        says="L > d/(2q) where alpha < 0, P > 0, R > 0",
    ),
)
AT_MOST = (
    Implication("at_most_itself", (sp.Le(share, 1),), sp.Le(share**2, share), says="p^2 <= p for 0 <= p <= 1"),
    Implication(
        "root_at_most",
        (sp.Le(value**2 * root_q**2 * root_R**2, 4),),
        sp.Le(value * root_q * root_R, 2),
        says="alpha (qR)^(1/2) <= 2 where alpha^2 q R <= 4, alpha >= 0",
    ),
    Implication(
        "alpha_P_at_most",
        (sp.Le(P, root_q * root_R), sp.Le(value * root_q * root_R, 2)),
        sp.Le(value * P, 2),
        says="alpha P <= 2 where P <= (qR)^(1/2), alpha (qR)^(1/2) <= 2, alpha >= 0",
    ),
)
MOVED_RESIDUAL = (alpha + d_alpha * t) * p * (1 + x * d_C * t + (x**2 - variance) * (d_C * t) ** 2 / 2) - c
SECOND_VARIATION = Identity(
    "second_variation",
    sp.Subs(sp.Derivative(MOVED_RESIDUAL**2 / 2, t, 2), t, 0),
    (p * (d_alpha + alpha * x * d_C)) ** 2
    + (alpha * p - c) * p * (2 * x * d_alpha * d_C + alpha * (x**2 - variance) * d_C**2),
    says="the second derivative of r^2/2 is (p (m + alpha x n))^2 + r p (2 x m n + alpha (x^2 - v) n^2), for r = "
    "alpha p - c, moves m of alpha and n of C, p' = p x and p'' = p (x^2 - v)",
)
FIRST_VARIATION = Identity(
    "first_variation",
    sp.Subs(sp.Derivative(MOVED_RESIDUAL**2 / 2, t), t, 0),
    (alpha * p - c) * p * (d_alpha + alpha * x * d_C),
    says="the derivative of r^2/2 is r p (m + alpha x n), for r = alpha p - c, moves m of alpha and n of C, p' = p x",
)
FORM = Implication(
    "form",
    (sp.Le(root_R, 1), sp.Le(root_share, 2)),
    sp.Le(
        (root_R * u + root_share * kappa * w) ** 2 + 2 * root_R * kappa * u * w + root_share * (kappa * w) ** 2,
        (u + 3 * kappa * w) ** 2,
    ),
    says="(r u + a kappa w)^2 + 2 r kappa u w + a (kappa w)^2 <= (u + 3 kappa w)^2 for 0 <= r <= 1, 0 <= a <= 2",
)
HESSIAN = (
    Implication(
        "first_in_a_share",
        (sp.Le(x, size), sp.Ge(x, -size)),
        sp.Le((part + value * x * other_part) ** 2, (part + value * size * other_part) ** 2),
        says="(m + alpha x n)^2 <= (m + alpha w n)^2 where |x| <= w, for alpha, m, n >= 0",
    ),
    Implication(
        "second_in_a_share",
        (sp.Le(x, size), sp.Ge(x, -size), sp.Le(curvature, square), sp.Ge(curvature, -square)),
        sp.Le(sp.Abs(x * part + curvature * other_part), size * part + square * other_part),
        says="|x g + y h| <= w g + b h where |x| <= w, |y| <= b, for g, h >= 0, as for b = w^2, g = 2mn, h = alpha n^2",
    ),
    Identity(
        "first_part_of_the_form",
        root_d**2 * root_R**2 * (u / root_d + value * size * w / root_e) ** 2,
        (root_R * u + value * root_q * root_R * (root_d * size / (root_q * root_e)) * w) ** 2,
        says="d R (u/d^(1/2) + alpha w c/d_e^(1/2))^2 = (R^(1/2) u + a kappa c)^2 for a = alpha (q R)^(1/2), kappa = "
        "w (d/(q d_e))^(1/2)",
    ),
    Identity(
        "second_part_of_the_form",
        root_d**2 * root_R / root_q * (2 * size * u * w / (root_d * root_e) + value * size**2 * w**2 / root_e**2),
        2 * root_R * (root_d * size / (root_q * root_e)) * u * w
        + value * root_q * root_R * (root_d * size / (root_q * root_e)) ** 2 * w**2,
        says="d (R/q)^(1/2) (2 w u c/(d d_e)^(1/2) + alpha w^2 c^2/d_e) = 2 R^(1/2) kappa u c + a (kappa c)^2",
    ),
)
BETA = Implication(
    "beta_squared",
    (sp.Eq(size, q * (1 + q)), sp.Eq(y, d * size**2 / (q * d_e))),
    sp.Eq(9 * y, BETA_SQUARED),
    says="9 kappa^2 = 9dq(1+q)^2/d_e where kappa^2 = d w^2/(q d_e), w = q(1+q)",
)
SUMS = (
    Implication(
        "sum_of_falls",
        (sp.Le(eta / 8 * total, d / (2 * q)),),
        sp.Le(total, 4 * d / (q * eta)),
        says="total <= 4d/(q eta) where eta/8 total <= d/(2q)",
    ),
    Implication(
        "least_of_all",
        (sp.Le(number * least, total), sp.Le(total, 4 * d / (q * eta))),
        sp.Le(least, 4 * d / (q * eta * number)),
        says="least <= 4d/(q eta n) where n least <= total <= 4d/(q eta)",
    ),
)
SHORT_STEPS = (
    Implication(
        "product_of_the_roots",
        (sp.Le(part**2, y), sp.Le(other_part**2, 4 * y)),
        sp.Le(part * other_part, 2 * y),
        says="g h <= 2y where g^2 <= y, h^2 <= 4y, as for y = 1/q",
    ),
    Implication(
        "slope_at_most",
        (sp.Le(slope, d * size * part), sp.Le(part, 2 * y)),
        sp.Le(slope, 2 * d * size * y),
        says="slope <= 2d w y where slope <= d w g, g <= 2y, as for y = 1/q",
    ),
    Implication(
        "moves_at_most",
        (sp.Le(slope, 2 * d * size / q), sp.Eq(size, q * (1 + q)), sp.Le(12 * eta * d * q * (1 + q) ** 2 / d_e, 1)),
        sp.Le(eta / d_e * slope, 1 / (6 * q * (1 + q))),
        says="eta/d_e slope <= 1/(6w) where slope <= 2d w/q, w = q(1+q), 12 eta d q (1+q)^2/d_e <= 1",
    ),
)
GROWTH = (
    Implication(
        "slope_of_a_share",
        (sp.Le(sp.Abs(x), size),),
        sp.Le(sp.Abs(share * x), size * share),
        says="|p x| <= w p where |x| <= w, p >= 0",
    ),
    Implication(
        "slope_of_a_square",
        (sp.Le(sp.Abs(x), size),),
        sp.Le(sp.Abs(2 * share**2 * x), 2 * size * share**2),
        says="|2 p^2 x| <= 2w p^2 where |x| <= w",
    ),
    Implication(
        "growth_of_P",
        (sp.Le(6 * size * value, 1),),
        sp.Le(sp.exp(size * value), sp.exp(sp.Rational(1, 6))),
        says="e^(w C) <= e^(1/6) where 6 w C <= 1",
    ),
    Implication(
        "growth_of_R",
        (sp.Le(6 * size * value, 1),),
        sp.Le(sp.exp(2 * size * value), sp.exp(sp.Rational(1, 3))),
        says="e^(2w C) <= e^(1/3) where 6 w C <= 1",
    ),
)
BENDS = (
    Implication(
        "bend_of_a_square",
        (sp.Le(sp.Abs(x), size), sp.Ge(variance, 0)),
        sp.Le(share**2 * (4 * x**2 - 2 * variance), 4 * size**2 * share**2),
        says="p^2 (4x^2 - 2v) <= 4w^2 p^2 where |x| <= w, v >= 0",
    ),
    Implication(
        "bend_of_a_share",
        (sp.Le(variance, size**2 / 4),),
        sp.Le(-share * (x**2 - variance), size**2 / 4 * share),
        says="-p (x^2 - v) <= w^2 p/4 where v <= w^2/4, p >= 0",
    ),
    Implication(
        "bend_of_R",
        (sp.Le(R_bend, 4 * size**2 * share), sp.Le(share, part * R)),
        sp.Le(R_bend, 4 * size**2 * part * R),
        says="R'' <= 4w^2 g R where R'' <= 4w^2 z, z <= g R",
    ),
    Implication(
        "bend_of_P",
        (sp.Le(-P_bend, size**2 / 4 * share), sp.Le(share, part * P)),
        sp.Le(-P_bend, size**2 / 4 * part * P),
        says="-P'' <= w^2/4 h P where -P'' <= w^2/4 z, z <= h P",
    ),
    Implication(
        "bend_in_R",
        (sp.Le(R_bend, 4 * square * part * R), sp.Le(total * R, 4 * y)),
        sp.Le(total * R_bend, 16 * square * y * part),
        says="x R'' <= 16 b y g where R'' <= 4b g R, x R <= 4y, as for b = w^2, x = alpha^2, y = 1/q",
    ),
    Implication(
        "bend_in_P",
        (sp.Le(-P_bend, square / 4 * part * P), sp.Le(value * P, 2)),
        sp.Le(-2 * value * P_bend * y, square * y * part),
        says="-2 alpha P'' y <= b y h where -P'' <= b/4 h P, alpha P <= 2, as for b = w^2, y = 1/q",
    ),
)
CURVATURE_NEAR_ZERO = Implication(
    "curvature_of_C",
    (
        *(sp.Le(curvature, 16 * square * root_share), sp.Le(slope, square * root_R)),
        sp.Le(8 * root_share + root_R / 2, 12),
    ),
    sp.Le(d / 2 * (curvature + slope), 12 * d * square),
    says="d/2 (x + y) <= 12 d b where x <= 16 b g, y <= b h, 8g + h/2 <= 12, as for b = w^2/q",
)
EIGENVALUE = Inequality(
    "eigenvalue",
    sp.Le((u + beta * w) ** 2, (1 + beta**2) * (u**2 + w**2)),
    says="(u + beta w)^2 <= (1 + beta^2)(u^2 + w^2)",
)
SMALL_CURVATURE = Inequality(
    "small_curvature", sp.Le(eta * (1 + BETA_SQUARED), sp.Rational(7, 4)), says="eta (1 + beta^2) <= 7/4"
)
LARGEST_MULTIPLIER = Implication(
    "largest_multiplier",
    (sp.Ge(x, -sp.Rational(3, 4)), sp.Le(x, 1 - y)),
    sp.Le(sp.Abs(x), 1 - sp.Min(y, sp.Rational(1, 4))),
    says="|x| <= 1 - min(y, 1/4) where -3/4 <= x <= 1 - y, as for x = 1 - eta lambda' and y = eta lambda",
)
MULTIPLIER = Implication(
    "multiplier",
    (sp.Le(eta * (1 + square), sp.Rational(7, 4)), sp.Le(curvature, 1 + square)),
    sp.Ge(1 - eta * curvature, -sp.Rational(3, 4)),
    says="1 - eta lambda >= -3/4 where lambda <= 1 + b, eta (1 + b) <= 7/4",
)
DESCENT = Inequality(
    "descent",
    sp.Ge(eta * (1 - eta * (1 + BETA_SQUARED) / 2), eta / 8),
    says="eta (1 - eta (1 + beta^2)/2) >= eta/8",
)
STARTING_SLOPE = Inequality(
    "starting_slope",
    sp.Lt(-(scale**2) * 2 * q * (T - 1) / (T + 1) ** 3 - 2 * scale * (T + 1 - 2 * q) / (T + 1) ** 2, 0),
    says="alpha^2 R' - 2 alpha P'/q < 0 at C = 0 for alpha = scale > 0, where R' = -2q(T-1)/(T+1)^3 and P' = "
    "q(T+1-2q)/(T+1)^2",
)
AT_ZERO = (
    Identity(
        "slope_of_P_at_zero",
        (q - q * (2 * q / (T + 1))) / (T + 1),
        q * (T + 1 - 2 * q) / (T + 1) ** 2,
        says="(q - q 2q/(T+1))/(T+1) = q(T+1-2q)/(T+1)^2",
    ),
    Identity(
        "slope_of_R_at_zero",
        2 * (q - T * (2 * q / (T + 1))) / (T + 1) ** 2,
        -2 * q * (T - 1) / (T + 1) ** 3,
        says="2 (q - T 2q/(T+1))/(T+1)^2 = -2q(T-1)/(T+1)^3",
    ),
    Implication(
        "slope_in_a_step",
        (sp.Eq(slope, curvature / d_e), sp.Le(curvature, 12 * d * size**2 / q * value), sp.Eq(size, q * (1 + q))),
        sp.Le(slope, 12 * d * q * (1 + q) ** 2 / d_e * value),
        says="x/d_e <= 12dq(1+q)^2/d_e C where x <= 12d w^2/q C, w = q(1+q)",
    ),
)
NEAR_ZERO = Inequality(
    "near_zero",
    sp.Le(8 * sp.exp(sp.Rational(1, 3)) + sp.exp(sp.Rational(1, 6)) / 2, 12, evaluate=False),
    says="8 e^(1/3) + e^(1/6)/2 <= 12",
)
NOT_ACROSS = Inequality(
    "not_across",
    sp.Le(12 * eta * d * q * (1 + q) ** 2 / d_e, 1),
    says="12 eta d q (1+q)^2/d_e <= 1",
)
FIRST_LOSS = LOSS.subs({alpha: eta / (T + 1), P: q / (T + 1), R: T / (T + 1) ** 2}, simultaneous=True)
FIRST = Inequality(
    "first",
    sp.Lt(FIRST_LOSS, d / (2 * q) * (1 - q * eta / (T + 1) ** 2)),
    says="after the first step, at alpha = eta/(T+1) and C = 0, L < d/(2q) (1 - q eta/(T+1)^2)",
)

FAR_OUT = (
    Identity("own_sign", c**2 - x * c, c * (c - x), says="s^2 - e s = s (s - e), as for e = 1 or -1"),
    Implication(
        "tied_part",
        (sp.Le(part, ties),),
        sp.Le(part / (1 + ties) ** 2, ties / (1 + ties) ** 2),
        says="a/(1+k)^2 <= k/(1+k)^2 where a <= k",
    ),
    Implication(
        "ratio_at_most",
        (sp.Gt(R, 0), sp.Le(P**2, part * R)),
        sp.Le(P**2 / (q * R), part / q),
        says="P^2/(qR) <= a/q where P^2 <= a R, R > 0",
    ),
    Implication(
        "best_alpha",
        (sp.Gt(R, 0),),
        sp.Ge(LOSS, d / (2 * q) * (1 - P**2 / (q * R))),
        says="d/2 (alpha^2 R - 2 alpha P/q + 1/q) >= d/(2q) (1 - P^2/(qR)) for R > 0",
    ),
    Implication(
        "first_alpha",
        (sp.Eq(alpha, 0), sp.Eq(P, q / (T + 1))),
        sp.Eq(alpha - eta * (alpha * R - P / q), eta / (T + 1)),
        says="alpha - eta (alpha R - P/q) = eta/(T+1) where alpha = 0, P = q/(T+1)",
    ),
    Implication(
        "below_the_limit",
        (sp.Le((T + 1) ** 2, q * eta * power),),
        sp.Le(d / (2 * q) * (1 - q * eta / (T + 1) ** 2), d / (2 * q) * (1 - 1 / power)),
        says="d/(2q) (1 - q eta/(T+1)^2) <= d/(2q) (1 - 1/y) where (T+1)^2 <= q eta y, as for y = 2^d_e",
    ),
)
STEPS = (
    *(SECOND_VARIATION, FORM, EIGENVALUE, DESCENT, STARTING_SLOPE, NEAR_ZERO, NOT_ACROSS, NEXT_C, FIRST),
    *(*HESSIAN, CURVATURE_NEAR_ZERO, SMALL_CURVATURE, MULTIPLIER, LARGEST_MULTIPLIER, FIRST_VARIATION, BETA),
    *(*LOGITS, *RESIDUAL, *AT_MOST, *slopes.OF_THE_SHARES, *SCALED, *SUMS, *SHORT_STEPS, *GROWTH, *BENDS),
    *(*AT_ZERO, *FAR_OUT, VALUE_STEP, SCALE_STEP),
)
