r"""The eigenvalues of J = diag(p) − ppᵀ at logits on three levels (α, β, γ, …, γ), α ≥ β ≥ γ: steps of `best_factor`.

σ is the sum of p_1 and p_2 and σt their difference; M = (α + β)/2 − γ, m = (α − β)/2. The eigenvalues are 0, p_3
(n − 3 times) and the roots of Q.
"""

import sympy as sp

from theorems.softmax_regression.setting import R, n
from verify import Identity, Implication, Inequality

sigma, t, level = sp.symbols("sigma t lambda", real=True)
short = sp.Symbol("short", nonnegative=True)
M, m = sp.symbols("M m", real=True)
# M_0; e^m, e^(−M), e^(−M_0); f, the odds over the odds at the pair; E, and a sum of exponentials that E bounds.
top, half, down, lowest, share, most, sums = sp.symbols("M_0 half down lowest f E sums", positive=True)
q, rest = sp.symbols("q rest", real=True)
VARIABLES = (sigma, t, level, short, M, m, top, half, down, lowest, share, most, sums, q, rest)

HALF_C = n / (2 * (n - 2))
LOW = n / (4 * (n - 1))
first_p, second_p, third_p = sigma * (1 + t) / 2, sigma * (1 - t) / 2, (1 - sigma) / (n - 2)
SUM_OF_ROOTS = 2 * first_p * second_p + (n - 1) * third_p * sigma


def characteristic(at: sp.Expr, both: sp.Expr, square: sp.Expr) -> sp.Expr:
    """Return Q(`at`) for σ = `both` and t² = `square`."""
    return (at - both / 2) * (at - HALF_C * both * (1 - both)) + square * both**2 / 2 * (at - HALF_C * (1 - both))


SECULAR = Identity(
    "secular",
    first_p * (level - second_p) * (level - third_p)
    + second_p * (level - first_p) * (level - third_p)
    + (n - 2) * third_p * (level - first_p) * (level - second_p),
    characteristic(level, sigma, t**2),
    "with three levels the sum of p_i prod (lambda - p_j), over j != i among the three, is Q(lambda)",
)
NORM = Identity(
    "norm",
    (M + m - 2 * M / n) ** 2 + (M - m - 2 * M / n) ** 2 + (n - 2) * (2 * M / n) ** 2,
    2 * m**2 + 2 * (n - 2) * M**2 / n,
    "three levels of sum 0 have the norm^2 2m^2 + 2(n-2)M^2/n",
)
ROOT_SUM = Identity(
    "root_sum",
    (n - 1) ** 2 / (2 * n * (n - 2)) - SUM_OF_ROOTS,
    HALF_C * (sigma - (n - 1) / n) ** 2 + sigma**2 * t**2 / 2,
    "the roots of Q add up to (n-1)^2/(2n(n-2)) minus squares",
)
LOW_ROOT = Identity(
    "low_root",
    characteristic(LOW, 2 * LOW - short, t**2),
    short
    / 2
    * HALF_C
    * ((n - 2) / (2 * (n - 1)) - (2 * LOW - short) * (1 - 2 * LOW + short) - (2 * LOW - short) ** 2 * t**2),
    "Q(n/(4(n-1))) at sigma = n/(2(n-1)) - short",
)
DETERMINANT = Identity(
    "determinant",
    q**2 * rest,
    level * (q * rest) - q * (level - q) * rest,
    "p_i^2 prod (lambda - p_j) over j != i is lambda p_i times that product, less p_i times the product over all j",
)
AT_THE_SECOND = Identity(
    "at_the_second",
    characteristic(second_p, sigma, t**2),
    -second_p * (first_p - second_p) * (second_p - third_p),
    "Q(p_2) = -p_2 (p_1 - p_2)(p_2 - p_3)",
)
# p_1 ≥ p_2 ≥ p_3, in σ and t.
_IN_ORDER = (sp.Ge(t, 0), sp.Gt(sigma, 0), sp.Le(t, 1), sp.Le(2 * (1 - sigma), (n - 2) * sigma * (1 - t)))
ORDER_STEPS = (
    Implication(
        "not_positive_at_the_second",
        _IN_ORDER,
        sp.Le(-second_p * (first_p - second_p) * (second_p - third_p), 0),
        "-p_2 (p_1 - p_2)(p_2 - p_3) <= 0 where p_1 >= p_2 >= p_3, p_2 >= 0",
    ),
    Implication("two_at_least", _IN_ORDER, sp.Ge(sigma, 2 / n), "sigma >= 2/n where p_1 >= p_2 >= p_3"),
)
ROOTS_BELOW = Implication(
    "roots_below",
    (sp.Ge(sigma, 2 / n), sp.Le(sigma, 1)),
    sp.Le(SUM_OF_ROOTS, sigma),
    "the roots of Q add up to sigma or less for 2/n <= sigma <= 1",
)
HALF_ROOT = Implication(
    "half_root",
    (sp.Ge(2 * (n - 1) * sigma, n),),
    sp.Ge(characteristic(sigma / 2, sigma, t**2), 0),
    "Q(sigma/2) = t^2 sigma^2/2 (sigma/2 - c(1 - sigma)) >= 0 where sigma >= n/(2(n-1))",
)
HEIGHT = Implication(
    "height",
    (sp.Le(2 * m**2 + 2 * (n - 2) * M**2 / n, 2 * (n - 2) * top**2 / n),),
    sp.Le(M, top),
    "M <= M_0 where 2m^2 + 2(n-2)M^2/n <= 2(n-2)M_0^2/n, M_0 > 0",
)
SPAN = Inequality(
    "span",
    sp.Le((M + m) ** 2, (n - 1) / (n - 2) * (2 * m**2 + 2 * (n - 2) * M**2 / n), evaluate=False),
    "(M + m)^2 <= (n-1)/(n-2) (2m^2 + 2(n-2)M^2/n)",
)
SHARE_BY_SUMS = Identity(
    "share_by_sums",
    (half + top) / (half + top + (n - 2) * down),
    1 / (1 + (n - 2) / (half / down + top / down)),
    "(x + y)/(x + y + (n-2) z) = 1/(1 + (n-2)/(x/z + y/z))",
)
SHARE = Identity(
    "share",
    (half + 1 / half + (n - 2) * down) / (half + 1 / half),
    1 + (n - 2) * down / (half + 1 / half),
    "1/sigma = 1 + (n-2) e^-M/(2 cosh m), the exponentials being e^m, e^-m and n - 2 times e^-M",
)
ODDS = Implication(
    "odds_at_least",
    (sp.Ge(down, lowest), sp.Eq(down / (half + 1 / half), lowest / 2 * share)),
    sp.Ge(share * (half + 1 / half), 2),
    "f >= 1/cosh m where e^-M/(2 cosh m) = f e^-M_0/2, e^-M >= e^-M_0",
)
TANH = Implication(
    "tanh",
    (sp.Ge(share * (half + 1 / half), 2),),
    sp.Ge(((half - 1 / half) / (half + 1 / half)) ** 2, 1 - share**2),
    "tanh(m)^2 >= 1 - f^2 where f >= 1/cosh m",
)
THIRD = Implication(
    "third",
    (sp.Le(2 * (1 - sigma), (n - 2) * sigma * (1 - t)),),
    sp.Le(sigma * t, 1 - n * (1 - sigma) / (n - 2)),
    "sigma t <= 1 - n (1 - sigma)/(n-2) where p_3 <= p_2, that is, 2(1 - sigma) <= (n-2) sigma (1 - t)",
)
LARGEST_SHARE = Implication(
    "largest_sum",
    (sp.Le(sums, most),),
    sp.Le(1 / (1 + (n - 2) / sums), 1 / (1 + (n - 2) / most)),
    "1/(1 + (n-2)/sums) <= 1/(1 + (n-2)/E) where sums <= E",
)
MANY, FEW = (
    Implication(
        name,
        (order(most, n),),
        order(1 / (1 + (n - 2) / most) / 2, LOW),
        f"1/(2(1 + (n-2)/E)) {sign} n/(4(n-1)) where E {sign} n",
    )
    for name, order, sign in (("large_exponentials", sp.Ge, ">="), ("small_exponentials", sp.Le, "<="))
)
SUM_IN_Q = Identity(
    "sum_in_Q",
    characteristic(level, sigma, t**2) - characteristic(sp.S.Zero, sigma, t**2),
    level**2 - SUM_OF_ROOTS * level,
    "Q(lambda) - Q(0) = lambda^2 - (the sum of the roots) lambda",
)
LARGER_OF_TWO = Implication(
    "larger_of_two",
    (sp.Ge((q - level) * (q - rest), 0), sp.Ge(2 * q, level + rest)),
    sp.Ge(q, level),
    "x >= lambda where (x - lambda)(x - mu) >= 0, 2x >= lambda + mu",
)
LOW_STEPS = (
    Implication(
        "others_at_least",
        (sp.Le(2 * (n - 1) * sigma, n),),
        sp.Ge(1 - sigma, (n - 2) / (2 * (n - 1))),
        "1 - sigma >= (n-2)/(2(n-1)) where sigma <= n/(2(n-1))",
    ),
    Implication(
        "square_at_most",
        (sp.Ge(q, 0), sp.Le(q, rest)),
        sp.Le(q**2, rest**2),
        "x^2 <= y^2 where 0 <= x <= y",
    ),
    Implication(
        "others_at_most",
        (sp.Ge(sigma, 2 / n),),
        sp.Le(1 - sigma, (n - 2) / n),
        "1 - sigma <= (n-2)/n where sigma >= 2/n",
    ),
    Implication(
        "low_factor",
        (sp.Le(q + rest, M), sp.Le(m, rest)),
        sp.Ge(short / 2 * HALF_C * (M - q - m), 0),
        "(short/2) c (k - x - z) >= 0 where x + y <= k, z <= y",
    ),
)
SUM_STEPS = (
    Implication("root", (sp.Le(q**2, top**2),), sp.Le(q, top), "x <= y where x^2 <= y^2, y > 0"),
    Implication("lower_level", (sp.Le(M, top), sp.Ge(m, 0)), sp.Le(M - m, top), "M - m <= M_0 where M <= M_0, m >= 0"),
    Implication(
        "sum_of_exponentials",
        (sp.Le(q, M), sp.Le(rest, m)),
        sp.Le(sp.exp(q) + sp.exp(rest), sp.exp(M) + sp.exp(m)),
        "e^x + e^y <= e^a + e^b where x <= a, y <= b",
    ),
)
AT_MOST_STEPS = (
    Implication(
        "half_of_the_largest",
        (sp.Le(level, sigma / 2), sp.Le(sigma, top)),
        sp.Le(level, top / 2),
        "lambda <= s/2 where lambda <= sigma/2, sigma <= s",
    ),
    Implication(
        "factor_at_most",
        (sp.Le(level, q),),
        sp.Le(R * level, R * q),
        "R lambda <= R x where lambda <= x",
    ),
)
PAIR_STEPS = (
    Implication(
        "odds_of_the_pair",
        (sp.Le((n - 1) * lowest, 1),),
        sp.Le((n - 1) * (n - 2) * lowest, n - 2),
        "(n-1)(n-2) e^-M_0 <= n-2 where (n-1) e^-M_0 <= 1",
    ),
    Implication(
        "pair_at_least",
        (sp.Le(2 * (n - 1) * lowest, n - 2),),
        sp.Ge(1 / (1 + lowest) / 2, (n - 1) / (3 * n - 4)),
        "1/(2(1 + e)) >= (n-1)/(3n-4) where 2(n-1) e <= n-2",
    ),
    Implication(
        "lower_odds",
        (sp.Gt(1 / (1 + lowest * share), 1 / (1 + lowest)),),
        sp.Lt(share, 1),
        "f < 1 where 1/(1 + e f) > 1/(1 + e)",
    ),
)
