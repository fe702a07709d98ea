"""Steps of `first_order_layer`: a mean's slopes, a mixed third moment, softmax's slope, and a family of tasks.

c and s are a target and a score of a row, E is the mean under the softmax of t s, and phi(t) = E c. m = E c; A and B
are the means of s weighted by c and by 1 − c, and K_1 and K_0 the means of (s − E s)² with these weights. The family of
tasks bounds the best factor from below.
"""

import sympy as sp

from verify import (
    Identity,
    Implication,
    Inequality,
)

n = sp.Symbol("n", integer=True, positive=True)
eta, w, spread, beta = sp.symbols("eta w G beta", positive=True)
t = sp.Symbol("t", real=True)
# Means under the softmax: of c, s, cs, s² and cs².
mean_c, mean_s, mean_cs, mean_ss, mean_css = sp.symbols("m_c m_s m_cs m_ss m_css", real=True)
# m = E c; A, B and K_1, K_0: the means of s and of (s - E s)², weighted by c and by 1 - c; u is m A.
m, A, B, u, k = sp.symbols("m A B u k", nonnegative=True)
own, other, x, y = sp.symbols("K_1 K_0 x y", real=True)
four, left = sp.Symbol("four", positive=True), sp.Symbol("left", nonnegative=True)
s_j, h_j, b_j, total_b, target = sp.symbols("s_j h_j b_j sum_b b_i", real=True)
v = sp.Symbol("v", positive=True)

# phi(t) by the means at t = 0, with e^(ts) to second order in t, which gives phi' and phi'' at 0 exactly.
_path = (mean_c + mean_cs * t + mean_css * t**2 / 2) / (1 + mean_s * t + mean_ss * t**2 / 2)
bend_of_the_mean = mean_css - mean_c * mean_ss - 2 * mean_s * mean_cs + 2 * mean_c * mean_s**2
UNIT = eta * beta * w * spread**2
DISTANCE = sp.sqrt(6) * UNIT / 72
SMALL_FACTOR = 9 * sp.sqrt(2) / 512

SLOPE = Identity(
    "slope",
    sp.Subs(sp.Derivative(_path, t), t, 0),
    mean_cs - mean_c * mean_s,
    "phi' is the covariance of c and s",
)
BEND = Identity(
    "bend", sp.Subs(sp.Derivative(_path, (t, 2)), t, 0), bend_of_the_mean, "phi'' is the mean of (c - E c)(s - E s)^2"
)
# c, s, their means under a law, and their lowest values.
own_c, own_s, c_mean, s_mean, low_c, low_s = sp.symbols("c s E_c E_s low_c low_s", real=True)
THIRD_MOMENT = Identity(
    "third_moment",
    (own_c - c_mean) * (own_s - s_mean) ** 2,
    own_c * own_s**2
    - c_mean * own_s**2
    - 2 * s_mean * own_c * own_s
    + 2 * c_mean * s_mean * own_s
    + s_mean**2 * (own_c - c_mean),
    "(c - C)(s - S)^2 = c s^2 - C s^2 - 2 S c s + 2 C S s + S^2 (c - C)",
)
RANGES = Identity(
    "ranges",
    (low_c + n * beta * own_c - (low_c + n * beta * c_mean))
    * (low_s + w * spread * own_s - (low_s + w * spread * s_mean)) ** 2,
    n * beta * (w * spread) ** 2 * ((own_c - c_mean) * (own_s - s_mean) ** 2),
    "with c = l + n beta c' and s = k + w G s', (c - E c)(s - E s)^2 = n beta (w G)^2 (c' - E c')(s' - E s')^2",
)
TIMES_THE_RANGES = Implication(
    "times_the_ranges",
    (sp.Le(x, y),),
    sp.Le(n * beta * (w * spread) ** 2 * x, n * beta * (w * spread) ** 2 * y),
    "n beta (w G)^2 x <= n beta (w G)^2 y where x <= y",
)
RANGES_OF_THE_TASK = Identity(
    "ranges_of_the_task",
    (low_c + beta * own_c - (low_c + beta * c_mean)) * (low_s + spread * own_s - (low_s + spread * s_mean)) ** 2,
    beta * spread**2 * ((own_c - c_mean) * (own_s - s_mean) ** 2),
    "with b = l + beta c and h = k + G s, (b - E b)(h - E h)^2 = beta G^2 (c - E c)(s - E s)^2",
)
SQUARE_BELOW = Implication(
    "square_below",
    (sp.Ge(own_s, 0), sp.Le(own_s, 1), sp.Ge(own_c, 0)),
    sp.Le(own_c * own_s**2, own_c * own_s),
    "c s^2 <= c s where c >= 0, 0 <= s <= 1",
)
SPLIT = Identity(
    "split",
    m * own - m * (m * own + (1 - m) * other),
    m * (1 - m) * (own - other),
    "the covariance of c and g is m (1-m) (K_1 - K_0), K_1 the mean of g weighted by c, and K_0 by 1 - c",
)
# E' is the mean weighted by c, and E' s = A.
OWN_MEAN = Implication(
    "own_mean",
    (sp.Le(mean_ss, A), sp.Eq(mean_s, m * A + (1 - m) * B)),
    sp.Le(mean_ss - 2 * mean_s * A + mean_s**2, A * (1 - A) + ((1 - m) * (A - B)) ** 2),
    "E' (s - E s)^2 <= A (1-A) + (1-m)^2 (A-B)^2 where E' s^2 <= E' s = A and E s = m A + (1-m) B",
)
# E' is the mean weighted by 1 - c, and E' s = B.
OTHER_MEAN = Implication(
    "other_mean",
    (sp.Ge(mean_ss, B**2), sp.Eq(mean_s, m * A + (1 - m) * B)),
    sp.Ge(mean_ss - 2 * mean_s * B + mean_s**2, (m * (A - B)) ** 2),
    "E' (s - E s)^2 >= m^2 (A-B)^2 where E' s^2 >= (E' s)^2 = B^2 and E s = m A + (1-m) B",
)
BETWEEN = Implication(
    "between",
    (sp.Le(own, k + ((1 - m) * x) ** 2), sp.Ge(other, (m * x) ** 2)),
    sp.Le(own - other, k + (1 - 2 * m) * x**2),
    "K_1 - K_0 <= k + (1-2m) x^2 where K_1 <= k + (1-m)^2 x^2 and K_0 >= m^2 x^2",
)
WEIGHTED = Implication(
    "weighted",
    (sp.Le(own - other, x), sp.Le(m, 1)),
    sp.Le(m * (1 - m) * (own - other), m * (1 - m) * x),
    "m (1-m) (K_1 - K_0) <= m (1-m) x where K_1 - K_0 <= x, for m <= 1",
)
LOW = Implication(
    "low",
    (sp.Le(B, A), sp.Le(2 * m, 1)),
    sp.Le(m * (1 - m) * (A * (1 - A) + (1 - 2 * m) * (A - B) ** 2), (1 - m) * (m * A) * (1 - 2 * m * A)),
    "m (1-m) (A (1-A) + (1-2m) (A-B)^2) <= (1-m) u (1-2u) at u = m A, where B <= A and m <= 1/2",
)
FLAT = Inequality(
    "flat", sp.Le(A * (1 - A) - k * (A - B) ** 2, sp.Rational(1, 4)), "A (1-A) - k (A-B)^2 <= 1/4 for k >= 0"
)
QUARTER = Inequality("quarter", sp.Le(m * (1 - m) / 4, sp.Rational(1, 16)), "m (1-m)/4 <= 1/16")
FEWER = Implication(
    "fewer",
    (sp.Le(A, 1), sp.Le(2 * m, 1)),
    sp.Le((1 - m) * (m * A) * (1 - 2 * m * A), (1 - m * A) * (m * A) * (1 - 2 * m * A)),
    "(1-m) u (1-2u) <= (1-u) u (1-2u) at u = m A, where A <= 1 and m <= 1/2",
)
TOP = Inequality("top", sp.Le((k - k**3) / 4, sp.sqrt(3) / 18), "(k - k^3)/4 <= sqrt(3)/18 for k >= 0")
IN_HALF = Identity(
    "in_half",
    (1 - u) * u * (1 - 2 * u),
    ((1 - 2 * u) - (1 - 2 * u) ** 3) / 4,
    "(1-u) u (1-2u) = (k - k^3)/4 at k = 1 - 2u",
)
BELOW = Inequality("below", sp.Le(sp.Rational(1, 16), sp.sqrt(3) / 18, evaluate=False), "1/16 <= sqrt(3)/18")
EIGHTH = Inequality("eighth", sp.Le(u * (1 - 2 * u), sp.Rational(1, 8)), "u (1-2u) <= 1/8")
TWO_ROWS = Inequality(
    "two_rows",
    sp.Le((1 - m) / 8 + m * (1 - m) / 4, sp.Rational(9, 64)),
    "(1-m)/8 + m (1-m)/4 <= 9/64",
)
ROWS_APART = Implication(
    "rows_apart",
    (
        *(sp.Eq(own, beta * spread**2 * x), sp.Eq(-other, beta * spread**2 * y)),
        *(sp.Le(x, A), sp.Le(y, k), sp.Le(A + k, sp.Rational(9, 64))),
    ),
    sp.Le(own - other, 9 * beta * spread**2 / 64),
    "C_1 - C_2 <= 9 beta G^2/64 where C_1 = beta G^2 x, -C_2 = beta G^2 y, x <= a, y <= b, a + b <= 9/64, "
    "as for a = (1-m)/8, b = m (1-m)/4",
)
WEIGHTED_EIGHTH = Implication(
    "weighted_eighth",
    (sp.Le(k, sp.Rational(1, 8)), sp.Le(m, 1)),
    sp.Le((1 - m) * k, (1 - m) / 8),
    "(1-m) k <= (1-m)/8 where k <= 1/8, m <= 1",
)
CENTRED = Implication(
    "centred",
    (sp.Le(x, own), sp.Ge(x, other)),
    sp.Le((x - (own + other) / 2) ** 2, ((own - other) / 2) ** 2),
    "(x - (p + q)/2)^2 <= ((p - q)/2)^2 where q <= x <= p",
)
MEAN_DEVIATION = Implication(
    "mean_deviation",
    (sp.Le(u**2, mean_ss - mean_s**2), sp.Le(mean_ss, k**2)),
    sp.Le(u, k),
    "x <= o where x^2 <= E e^2 - (E e)^2, E e^2 <= o^2, as for x = E |e - E e|",
)
HALF_OF_THE_SUM = Implication(
    "half_of_the_sum",
    (sp.Le(A + B, k), sp.Eq(A, B)),
    sp.Le(A, k / 2),
    "x <= o/2 where x + y <= o, x = y",
)
SQUARES_OF_HALVES = Implication(
    "squares_of_halves",
    (sp.Le(A, k / 2), sp.Le(B, k / 2)),
    sp.Le(A**2 + B**2, k**2 / 2),
    "x^2 + y^2 <= o^2/2 where x, y <= o/2",
)
OF_THE_OUTPUTS = (MEAN_DEVIATION, HALF_OF_THE_SUM, SQUARES_OF_HALVES)
LEFT_IN_THE_LIMIT = Implication(
    "left_in_the_limit",
    (sp.Le(x, 9 * beta * spread**2 / 64),),
    sp.Le(eta / 2 * (x / 2) / sp.sqrt(2), SMALL_FACTOR * eta * beta * spread**2),
    "(eta/2)(x/2)/sqrt(2) <= 9 sqrt(2)/512 eta beta G^2 where x <= 9 beta G^2/64",
)
FIRST_ROW = Identity(
    "first_row",
    sp.Subs(
        sp.Derivative(
            (four * (1 + sp.exp(2 * t)) - 2 * four * sp.exp(t))
            / (four * (1 + sp.exp(2 * t)) + (2 * four + left) * sp.exp(t)),
            (t, 2),
        ),
        t,
        0,
    ),
    2 * four / (4 * four + left),
    "(k (1 + e^2t) - 2k e^t)/(k (1 + e^2t) + (2k + r) e^t), the shares at scores 0 and 2t less those at t, has the "
    "second derivative 2k/(4k + r) at t = 0",
)
ON_THE_SIMPLEX = Implication(
    "on_the_simplex",
    (sp.Eq(n, 4 * k + left),),
    sp.Eq(2 * k * (1 / n + beta / 2) + 2 * k * (1 / n - beta / 2) + left / n, 1),
    "2k entries 1/n + beta/2, 2k entries 1/n - beta/2 and r entries 1/n add up to 1 where n = 4k + r",
)
LOGIT_OF_THE_FIRST = Implication(
    "logit_of_the_first",
    (sp.Eq(mean_s, -mean_c),),
    sp.Eq(eta / n * (k * spread * mean_s + 2 * k * (spread / 2) * mean_c), 0),
    "eta/n (k G p + 2k (G/2) q) = 0 where p = -q, as for p = beta/2, q = -beta/2",
)
LOGIT_OF_THE_OTHERS = Implication(
    "logit_of_the_others",
    (sp.Eq(mean_c, -beta / 2),),
    sp.Eq(eta / n * (2 * k * spread * mean_c), -eta * beta * spread * k / n),
    "eta/n 2k G q = -eta beta G k/n where q = -beta/2",
)
BEND_OF_THE_FIRST = Implication(
    "bend_of_the_first",
    (sp.Eq(n, 4 * k + left), sp.Eq(n * w * v, eta)),
    sp.Eq(
        v * (n * beta / 2) * ((w * spread / 2) ** 2 / 2 * (2 * k / (4 * k + left))),
        w * eta * beta * spread**2 * k / (8 * n),
    ),
    "v (n beta/2) (w G/2)^2/2 2k/(4k + r) = w eta beta G^2 k/(8n) where n = 4k + r, n w v = eta",
)
HALF_BEND = Implication(
    "halfbend_of_the_mean",
    (sp.Eq(n * v * w, eta),),
    sp.Eq(v * (n * w**2 * x / 2) / w, eta / 2 * x),
    "v (n w^2 x/2)/w = (eta/2) x where n w v = eta",
)
# Two entries of softmax have the same probability p, and their logits move at the rates x and -x. The entries then move
# at the rates p (x - e) and p (-x - e), e the mean rate of all logits under softmax.
DIFFERENCE_OF_TWO = Identity(
    "difference_of_two",
    m * (x - target) - m * (-x - target),
    2 * m * x,
    "the rates p (x - e) and p (-x - e) differ by 2 p x",
)
DISTANCE_OF_TWO = Inequality(
    "distance_of_two",
    sp.Ge(own**2 + other**2, (own - other) ** 2 / 2, evaluate=False),
    "x^2 + y^2 >= (x - y)^2/2",
)
MATCHED_LOGIT = Implication(
    "matched_logit",
    (sp.Eq(s_j, w * h_j), sp.Eq(n * w * v, eta)),
    sp.Eq(v * s_j * (b_j - 1 / n), eta / n * h_j * (b_j - 1 / n)),
    "v s_j (b_j - 1/n) = eta/n h_j (b_j - 1/n) where s_j = w h_j and n w v = eta",
)
TOGETHER = Implication(
    "together",
    (sp.Eq(n * w * v, eta),),
    sp.Eq(v * (n * beta * (w * spread) ** 2 * sp.sqrt(3) / 18) / 2 / sp.sqrt(2), DISTANCE),
    "v times half of n beta (w G)^2 sqrt(3)/18, over sqrt(2), is sqrt(6) eta beta w G^2/72 where n w v = eta",
)
FIRST = Identity(
    "first_order",
    n * b_j * s_j / n - s_j / n,
    s_j * (b_j - 1 / n),
    "at equal scores row j adds s_j (b_j - 1/n) to the covariance of n b and s",
)
# The slope of the loss in logit i is p_i (c_i - g), c here the residual p - b and g its mean under p; p_i = 1/n.
AT_ZERO = Implication(
    "at_zero",
    (sp.Eq(total_b, 1),),
    sp.Eq(-eta * (1 / n) * ((1 / n - target) - (1 - total_b) / n), eta / n * (target - 1 / n)),
    "at equal logits -eta p_i (c_i - g) = (eta/n) (b_i - 1/n) where sum b = 1",
)

FAMILY = (ON_THE_SIMPLEX, LOGIT_OF_THE_FIRST, LOGIT_OF_THE_OTHERS, BEND_OF_THE_FIRST)
VARIABLES = (
    *(t, mean_c, mean_s, mean_cs, mean_ss, mean_css, s_j, h_j, b_j, total_b, target, m, A, B, u, own, other, x, y, k),
    *(four, left, v, own_c, own_s, c_mean, s_mean, low_c, low_s),
)
STEPS = (
    *(SLOPE, BEND, THIRD_MOMENT, RANGES, SQUARE_BELOW, SPLIT, OWN_MEAN, OTHER_MEAN, BETWEEN, WEIGHTED, LOW, FLAT),
    *(QUARTER, FEWER, IN_HALF, TOP, BELOW, EIGHTH, TWO_ROWS, WEIGHTED_EIGHTH, TIMES_THE_RANGES, RANGES_OF_THE_TASK),
    *(ROWS_APART, CENTRED, LEFT_IN_THE_LIMIT),
    *(FIRST, MATCHED_LOGIT, AT_ZERO, HALF_BEND, DIFFERENCE_OF_TWO, DISTANCE_OF_TWO, FIRST_ROW, TOGETHER, *FAMILY),
    *OF_THE_OUTPUTS,
)
