"""The steps of Theorem 2's argument (`enough_dimensions`), and their symbols."""

import sympy as sp

from theorems.sparse_token_selection import sums_of_signs
from theorems.sparse_token_selection.sums_of_signs import epsilon
from theorems.sparse_token_selection.task import QUERY, T, d, d_e, eps, q
from verify import Identity, Implication, Inequality

C, X, a, b, e, k, n, o, share, w = sp.symbols("C X a b e k n o share w", positive=True)
M, S, f, least, lost, mean, others, p, r, second, spread, squares, theta, y, z = sp.symbols(
    "M S f least lost mean others p r second spread squares theta y z", nonnegative=True
)
N, alpha, m, v, x = sp.symbols("N alpha m v x", real=True)
P, R = sp.symbols("P R", positive=True)
VARIABLES = (
    *(C, X, a, b, e, k, n, o, share, w),
    *(M, S, f, least, lost, mean, others, p, r, second, spread, squares, theta, y, z),
    *(N, alpha, m, v, x),
    *(P, R),
    *sums_of_signs.VARIABLES,
)
LOSS = d / 2 * (alpha**2 * R - 2 * alpha * P / q + 1 / q)

FOURTH = 3 * q**2 - 2 * q
"""E s⁴ for the sum s of q signs."""
SPREAD, SPREAD_WITH_QUERY = (q - 1) * (q - 2) / q, (q - 1) * (2 * q - 3)
LEAST, LEAST_WITH_QUERY = q + 3, q * (3 * q + 1) / 2
FEWEST_SELECTED = 1 + 2 * QUERY  # pyright: ignore[reportOperatorIssue]

SELECTED_RISE = sp.Rational(83, 100)
"""An upper bound of e^{3/5} − 1."""
F_DEFINED = sp.Eq(f, 4 * spread * C**2 / (share * d_e))
"""The definition of f; `spread` is SPREAD, or SPREAD_WITH_QUERY if the query's token is attended to."""
THREE_FIFTHS = sp.Rational(3, 5)

COMMON_STEPS = (
    Identity(
        "loss_in_shares",
        LOSS,
        d / (2 * q) * (q * alpha**2 * R - 2 * alpha * P + 1),
        says="d/2 (alpha^2 R - 2 alpha P/q + 1/q) = d/(2q) (q alpha^2 R - 2 alpha P + 1)",
    ),
    Implication(
        "zero_layer",
        (sp.Ge(2 * q * eps / d, 1), sp.Eq(alpha, 0)),
        sp.Le(LOSS, eps),
        says="L <= eps at alpha = 0 where the share 2 q eps/d is 1 or more",
    ),
    *sums_of_signs.STEPS,
    Implication(
        "third_moment_with_a_sign",
        (sp.Eq(q * x, FOURTH),),
        sp.Eq(x, 3 * q - 2),
        says="x = 3q - 2 where q x = 3q^2 - 2q",
    ),
    Implication(
        "square_of_the_difference",
        (sums_of_signs.IS_A_SIGN,),
        sp.Eq((epsilon * x - k * x**2) ** 2, x**2 - 2 * k * epsilon * x**3 + k**2 * x**4),
        says="(e x - k x^2)^2 = x^2 - 2k e x^3 + k^2 x^4 for a sign e, as for k = 1/q and k = 1",
    ),
    Implication(
        "enough",
        (sp.Ge(d_e, (4 * spread / share + least) * C**2), F_DEFINED),
        sp.Le(least * C**2 / d_e, 1 - f),
        says="least C^2/d_e <= 1 - f where d_e >= (4 spread/share + least) C^2, f = 4 spread C^2/(share d_e)",
    ),
    Implication(
        "at_most_one",
        (sp.Ge(d_e, (4 * spread / share + least) * C**2), F_DEFINED),
        sp.Le(f, 1),
        says="f <= 1 where d_e >= (4 spread/share + least) C^2, f = 4 spread C^2/(share d_e)",
    ),
    Implication(
        "share_of_the_loss",
        (sp.Eq(share * d, 2 * q * eps), sp.Le(lost, share)),
        sp.Le(d / (2 * q) * lost, eps),
        says="d/(2q) lost <= eps where lost <= share, share d = 2 q eps",
    ),
    Inequality(
        "growth",
        sp.Le(sp.Subs((sp.exp(x) - 1 - x) / x**2, x, sp.Rational(1, 2)), THREE_FIFTHS, evaluate=False),
        says="(e^x - 1 - x)/x^2 at x = 1/2 is at most 3/5",
    ),
    Implication(
        "from_the_quotient",
        (sp.Eq(x**2 * y, X - 1 - x), sp.Le(y, k)),
        sp.Le(X, 1 + x + k * x**2),
        says="X <= 1 + x + k x^2 where x^2 y = X - 1 - x, y <= k, as for X = e^x",
    ),
    Implication(
        "second_moment",
        (F_DEFINED,),
        sp.Eq((2 * C / d_e) ** 2 * spread, share * f / d_e),
        says="(2C/d_e)^2 spread = share f/d_e where f = 4 spread C^2/(share d_e)",
    ),
    Inequality("one_plus", sp.Le(1 + x, sp.exp(x), evaluate=False), says="1 + x <= e^x"),
    Inequality(
        "at_three_fifths", sp.Le(sp.exp(THREE_FIFTHS), 1 + SELECTED_RISE, evaluate=False), says="e^(3/5) <= 183/100"
    ),
    Implication(
        "at_most_the_chord",
        (sp.Le(X, 1 + k),),
        sp.Le(1 - y + y * X, 1 + k * y),
        says="1 - t + t X <= 1 + k t where X <= 1 + k, as for X = e^c, whose chord is on the left",
    ),
    Inequality("at_two", sp.Le(sp.exp(2), sp.Rational(37, 5), evaluate=False), says="e^2 <= 37/5"),
    Inequality("at_four", sp.Le(sp.exp(4), 55, evaluate=False), says="e^4 <= 55"),
    Implication(
        "power",
        (sp.Le(sp.log(X), x),),
        sp.Le(X**n, sp.exp(n * x)),
        says="X^n <= e^(nx) where log X <= x, as for n = d_e",
    ),
    Implication(
        "exponent_of_the_bound",
        (sp.Eq(d_e * x, 4 * C * v),),
        sp.Eq(x**2 / 8, 2 * (C / d_e) ** 2 * v**2),
        says="x^2/8 = 2 (C/d_e)^2 s^2 where d_e x = 4 C s",
    ),
    Identity(
        "exponent_of_the_square",
        2 * z**2 * x**2 - 2 * z * k * x**2,
        -2 * z * (k - z) * x**2,
        says="2 z^2 s^2 - 2 z k s^2 = -2z (k - z) s^2, as for k = 1/q and k = 1",
    ),
    Inequality("rate_at_most", sp.Le(2 * z * (1 - y), 2 * z, evaluate=False), says="2z (1 - y) <= 2z for y, z >= 0"),
    Inequality(
        "decay",
        sp.Le(1 - theta * q + theta**2 * FOURTH / 2, sp.exp(-theta * q + 3 * theta**2 * q**2 / 2)),
        says="1 - theta q + theta^2 (3q^2 - 2q)/2 <= e^(-theta q + 3 theta^2 q^2/2)",
    ),
    Implication(
        "rate_squared",
        (sp.Le(theta, 2 * z),),
        sp.Le(3 * theta**2 / 2, 6 * z**2),
        says="3 theta^2/2 <= 6 z^2 for 0 <= theta <= 2z",
    ),
    Implication(
        "at_most_one_in_share",
        (sp.Le(share, 1), sp.Le(f, 1)),
        sp.Le(share * f, 1),
        says="share f <= 1 for share <= 1, f <= 1",
    ),
)
ALONE_STEPS = (
    Implication(
        "share_at_most",
        (sp.Ge(N, q * sp.exp(m)),),
        sp.Le(sp.exp(v) / N, sp.exp(v - m) / q),
        says="e^v/N <= e^(v-m)/q where N >= q e^m",
    ),
    Implication(
        "share_squared",
        (sp.Le(p, sp.exp(v - m) / q),),
        sp.Le(q**2 * p**2, sp.exp(2 * (v - m))),
        says="q^2 p^2 <= e^(2(v-m)) where 0 <= p <= e^(v-m)/q",
    ),
    Implication(
        "in_parts",
        (sp.Le(S, 1), sp.Ge(q * squares, 1)),
        sp.Le(q * S**2 * squares - 2 * S + 1, q * squares - 1 + (1 - S) ** 2),
        says="q S^2 squares - 2S + 1 <= q squares - 1 + (1-S)^2 for S <= 1, squares, the sum of pi_i^2, at least 1/q",
    ),
    Implication(
        "others_together",
        (sp.Le(lost, (T - q) * others), sp.Le(q**2 * others, (T - q) * M)),
        sp.Le(lost + q * others, T * (T - q) / q**2 * M),
        says="lost + q others <= T (T-q)/q^2 M where lost <= (T-q) others, q^2 others <= (T-q) M",
    ),
    Implication(
        "scale",
        (sp.Le(share, 1),),
        sp.Ge(3 * T / (q * sp.sqrt(share)), 3),
        says="3T/(q sqrt(share)) >= 3 for share <= 1",
    ),
    Implication(
        "decay_at_this_scale",
        (sp.Eq(X, 3 * T / (q * sp.sqrt(share))),),
        sp.Eq(9 * T**2 * X**-2, q**2 * share),
        says="9 T^2 X^-2 = q^2 share where X = 3T/(q sqrt(share)), as for X = e^C",
    ),
    Implication("logarithm", (sp.Ge(X, 3),), sp.Ge(sp.log(X), 1), says="log X >= 1 for X >= 3"),
    Implication(
        "small",
        (sp.Ge(C, 1), sp.Le(LEAST * C**2 / d_e, 1 - f)),
        sp.Le(C * q, d_e),
        says="C q <= d_e for C >= 1, (q+3) C^2/d_e <= 1 - f",
    ),
    Inequality("largest", sp.Le(x - x**2 / q, q / 4), says="x - x^2/q <= q/4"),
    Implication(
        "exponent",
        (sp.Le(C * q, d_e), sp.Le(v, q / 4)),
        sp.Le(2 * C / d_e * v, sp.Rational(1, 2)),
        says="2C/d_e v <= 1/2 for C q <= d_e, v <= q/4",
    ),
    Identity(
        "spread",
        q - 2 * FOURTH / q / q + FOURTH / q**2,
        SPREAD,
        says="E (e_1 s - s^2/q)^2 = (q-1)(q-2)/q for the sign e_1 of a selected token",
    ),
    Implication(
        "other_exponent",
        (
            *(sp.Eq(d_e * z, C), sp.Eq(q * theta, 2 * z * (1 - z * q))),
            *(sp.Le(LEAST * C**2 / d_e, 1 - f), sp.Le(3 * (q * theta) ** 2 / 2, 6 * z**2)),
        ),
        sp.Le(d_e * (-theta * q + 3 * theta**2 * q**2 / 2), -2 * C + 2 * (1 - f)),
        says="d_e (-theta q + 3 theta^2 q^2/2) <= -2C + 2(1-f) where z = C/d_e, theta q = 2z (1 - zq), 3 (theta q)^2/2 "
        "<= 6 z^2, (q+3) C^2/d_e <= 1 - f",
    ),
    Implication(
        "rate_from_zero",
        (sp.Eq(d_e * z, C), sp.Le(C * q, d_e)),
        sp.Ge(2 * z * (1 / q - z), 0),
        says="2z (1/q - z) >= 0 where z = C/d_e, C q <= d_e",
    ),
    Implication(
        "product_of_exponentials",
        (sp.Ge(y, sp.exp(x)), sp.Ge(k, sp.exp(v))),
        sp.Le(sp.exp(x + v), y * k),
        says="e^(x+v) <= y k where y >= e^x, k >= e^v, as for x = -2C, v = 2(1-f)",
    ),
    Implication(
        "others_at_this_scale",
        (sp.Eq(9 * T**2 * y, q**2 * share), sp.Le(M, y * k)),
        sp.Le(T * (T - q) / q**2 * M, share * k / 9),
        says="T (T-q)/q^2 M <= share k/9 where 9 T^2 y = q^2 share, M <= y k",
    ),
    Implication(
        "alone_together",
        (
            sp.Le(f, 1),
            sp.Le(mean, 1 + SELECTED_RISE * share * f),
            sp.Le(others, share * k / 9),
            sp.Le(k, 8 - 7 * f),
        ),
        sp.Le(mean - 1 + others, share),
        says="mean - 1 + others <= share where mean - 1 <= 83 share f/100, others <= share k/9, k <= 8 - 7f, f <= 1",
    ),
)
WITH_QUERY_STEPS = (
    Identity(
        "shifted_share",
        sp.exp(v) / (sp.exp(m) + X),
        sp.exp(v - m) / (1 + sp.exp(-m) * X),
        says="e^v/(e^m + X) = e^(v-m)/(1 + e^(-m) X)",
    ),
    Implication("reciprocal", (sp.Ge(X, 1),), sp.Ge(w / X, w * (2 - X)), says="w/X >= w (2 - X) for w > 0, X >= 1"),
    Implication("squared", (sp.Ge(X, 1),), sp.Le(w**2 / X**2, w**2), says="(w/X)^2 <= w^2 for w > 0, X >= 1"),
    Implication(
        "best_scale",
        (sp.Eq(alpha, 1 / (q * a)), sp.Le(R, q * b + (T - q) * o), sp.Ge(P, q * (a - r))),
        sp.Le(q * alpha**2 * R - 2 * alpha * P + 1, b / a**2 - 1 + (T - q) / q * o / a**2 + 2 * r / a),
        says="q alpha^2 R - 2 alpha P + 1 <= b/a^2 - 1 + (T-q)/q o/a^2 + 2r/a where alpha = 1/(q a), R <= q b + "
        "(T-q) o, P >= q (a - r)",
    ),
    Implication(
        "scale_with_query",
        (sp.Le(share, 1),),
        sp.Ge(100 * T / (q * share), 100),
        says="100T/(q share) >= 100 for share <= 1",
    ),
    Implication(
        "decay_at_this_scale_with_query",
        (sp.Eq(X, 100 * T / (q * share)),),
        sp.Eq(100 * T * X**-1, q * share),
        says="100 T X^-1 = q share where X = 100T/(q share), as for X = e^(2C), X^-1 = w^2",
    ),
    Implication("logarithm_with_query", (sp.Ge(X, 100),), sp.Ge(sp.log(X) / 2, 1), says="log(X)/2 >= 1 for X >= 100"),
    Implication(
        "square_of_w",
        (sp.Le(share, 1), sp.Eq(100 * T * y, q * share)),
        sp.Le(y, sp.Rational(1, 100)),
        says="y <= 1/100 for 100 T y = q share, share <= 1",
    ),
    Implication(
        "tenth", (sp.Le(w**2, sp.Rational(1, 100)),), sp.Le(w, sp.Rational(1, 10)), says="w <= 1/10 for w^2 <= 1/100"
    ),
    Inequality("least_with_query", sp.Le(4 * (q - 1), LEAST_WITH_QUERY, evaluate=False), says="4 (q-1) <= q(3q+1)/2"),
    Implication(
        "small_with_query",
        (sp.Ge(C, 1), sp.Le(4 * (q - 1), least), sp.Le(least * C**2 / d_e, 1 - f)),
        sp.Le(4 * C * (q - 1), d_e),
        says="4 C (q-1) <= d_e for C >= 1, 4 (q-1) <= least, least C^2/d_e <= 1 - f",
    ),
    Implication(
        "below_zero",
        (sp.Ge(x * (x - 1), 0), sp.Eq(x**2, v**2)),
        sp.Le(2 * C / d_e * (x - v**2), 0),
        says="2C/d_e (x - s^2) <= 0 where x^2 = s^2, x (x-1) >= 0, as for integers",
    ),
    Implication(
        "mean_at_least",
        (sp.Le(4 * C * (q - 1), d_e),),
        sp.Ge(-2 * C * (q - 1) / d_e, -sp.Rational(1, 2)),
        says="-2C (q-1)/d_e >= -1/2 where 4 C (q-1) <= d_e",
    ),
    Identity(
        "spread_with_query",
        q - 2 * FOURTH / q + FOURTH - (q - 1) ** 2,
        SPREAD_WITH_QUERY,
        says="the variance of e_1 s - s^2 is (q-1)(2q-3)",
    ),
    Implication(
        "other_exponent_with_query",
        (
            *(sp.Eq(d_e * z, C), sp.Eq(theta, 2 * z * (1 - z)), sp.Le(3 * theta**2 / 2, 6 * z**2)),
            sp.Le(LEAST_WITH_QUERY * C**2 / d_e, 1 - f),
        ),
        sp.Le(d_e * (-theta * q + 3 * theta**2 * q**2 / 2), -2 * C * q + 4 * (1 - f)),
        says="d_e (-theta q + 3 theta^2 q^2/2) <= -2C q + 4(1-f) where z = C/d_e, theta = 2z (1 - z), 3 theta^2/2 <= "
        "6 z^2, q(3q+1)/2 C^2/d_e <= 1 - f",
    ),
    Implication(
        "rate_from_zero_with_query",
        (sp.Ge(q, 3), sp.Eq(d_e * z, C), sp.Le(4 * C * (q - 1), d_e)),
        sp.Ge(2 * z * (1 - z), 0),
        says="2z (1 - z) >= 0 where z = C/d_e, 4 C (q-1) <= d_e, q >= 3",
    ),
    Identity(
        "exponents",
        sp.exp(-2 * C * q + 4 * (1 - f)),
        sp.exp(-C * (q - 1)) ** 2 * sp.exp(-C) ** 2 * sp.exp(4 * (1 - f)),
        says="e^(-2Cq + 4(1-f)) = (e^(-C(q-1)))^2 w^2 e^(4(1-f)) for w = e^(-C)",
    ),
    Implication(
        "ratio",
        (sp.Ge(a, e), sp.Le(b, e**2 * k)),
        sp.Le(b / a**2, k),
        says="b/a^2 <= k where a >= e, b <= e^2 k",
    ),
    Implication(
        "half_ratio",
        (sp.Ge(a, e), sp.Le(b, e**2 * k)),
        sp.Le(b / a, e * k),
        says="b/a <= e k where a >= e, b <= e^2 k",
    ),
    Implication(
        "mixed_ratio",
        (sp.Le(b / a**2, sp.exp(2 * x)), sp.Le(o, sp.exp(2 * v)), sp.Le(r**2, b * o)),
        sp.Le((r / a) ** 2, sp.exp(x + v) ** 2),
        says="(r/a)^2 <= (e^x e^v)^2 where b/a^2 <= e^(2x), o <= e^(2v), r^2 <= b o",
    ),
    Implication("root", (sp.Le(M**2, y**2),), sp.Le(M, y), says="x <= y where x^2 <= y^2 for x, y >= 0"),
    Identity(
        "weight_in_powers",
        sp.exp(-C * (q - 1)),
        sp.exp(-C) ** 2 * sp.exp(-C * (q - 3)),
        says="e^(-C(q-1)) = w^2 n for w = e^(-C), n = e^(-C(q-3))",
    ),
    Identity(
        "mixed_in_powers",
        sp.exp(sp.Rational(3, 10) * share * f) * sp.exp(-C * q + 2 * (1 - f)),
        sp.exp(-C) ** 3 * sp.exp(-C * (q - 3)) * sp.exp(sp.Rational(3, 10) * share * f + 2 * (1 - f)),
        says="e^(3 share f/10) e^(-Cq + 2(1-f)) = w^3 n e^(3 share f/10 + 2(1-f)) for w = e^(-C), n = e^(-C(q-3))",
    ),
    Implication(
        "inverse_at_most",
        (sp.Le(1 + C * (q - 3), sp.exp(C * (q - 3))),),
        sp.Le(sp.exp(-C * (q - 3)) * (1 + C * (q - 3)), 1),
        says="n (1 + C (q-3)) <= 1 for n = e^(-C(q-3)), where 1 + C (q-3) <= e^(C(q-3))",
    ),
    Implication(
        "largest_rise",
        (sp.Le(share * f, 1), sp.Le(k, 1 + SELECTED_RISE * share * f)),
        sp.Le(k, sp.Rational(183, 100)),
        says="k <= 183/100 where k <= 1 + 83 share f/100, share f <= 1",
    ),
    Implication(
        "tangent",
        (sp.Ge(q, 3), sp.Ge(C, 1), sp.Le(n * (1 + C * (q - 3)), 1)),
        sp.Le(q * n, 3),
        says="q n <= 3 where n (1 + C (q-3)) <= 1, q >= 3, C >= 1",
    ),
    Implication(
        "small_power",
        (sp.Le(q * n, 3), sp.Eq(100 * T * w**2, q * share), sp.Le(k, sp.Rational(183, 100))),
        sp.Le(q * w**2 * n * k, 3 * sp.Rational(183, 100) * share / 100),
        says="q w^2 n k <= 3 (183/100) share/100 where q n <= 3, 100 T w^2 = q share, k <= 183/100",
    ),
    Implication(
        "smaller_power",
        (
            *(sp.Le(q * n, 3), sp.Eq(100 * T * w**2, q * share)),
            *(sp.Le(w, sp.Rational(1, 10)), sp.Le(k, sp.Rational(37, 5))),
        ),
        sp.Le(T * w**3 * n * k, 3 * sp.Rational(37, 5) * share / 1000),
        says="T w^3 n k <= 3 (37/5) share/1000 where q n <= 3, 100 T w^2 = q share, w <= 1/10, k <= 37/5",
    ),
    Implication(
        "others_with_query",
        (sp.Eq(100 * T * y, q * share), sp.Le(M, y * k)),
        sp.Le((T - q) / q * M, share * k / 100),
        says="(T-q)/q M <= share k/100 where 100 T y = q share, M <= y k",
    ),
    Implication(
        "mixed_exponent",
        (sp.Le(share, 1), sp.Le(f, 1)),
        sp.Le(sp.Rational(3, 10) * share * f + 2 * (1 - f), 2),
        says="3 share f/10 + 2(1-f) <= 2 for share <= 1, f <= 1",
    ),
    Implication(
        "rest_in_parts",
        (sp.Le(r, q * b + (T - q) * y),),
        sp.Le(r / a, q * (b / a) + T * (y / a)),
        says="r/a <= q b/a + T x/a where r <= q b + (T-q) x, a > 0, x >= 0",
    ),
    Implication(
        "with_query_together",
        (
            sp.Le(f, 1),
            sp.Le(mean, 1 + SELECTED_RISE * share * f),
            sp.Le(others, share * k / 100),
            sp.Le(k, 55 - 54 * f),
            sp.Le(b, sp.Rational(3, 100) * share * sp.Rational(183, 100)),
            sp.Le(r, sp.Rational(3, 1000) * share * sp.Rational(37, 5)),
        ),
        sp.Le(mean - 1 + others + 2 * (b + r), share),
        says="mean - 1 + others + 2 (b + r) <= share where mean - 1 <= 83 share f/100, others <= share k/100, "
        "k <= 55 - 54f, b <= 3 (183/100) share/100, r <= 3 (37/5) share/1000, f <= 1",
    ),
)
STEPS = (*COMMON_STEPS, *ALONE_STEPS, *WITH_QUERY_STEPS)
