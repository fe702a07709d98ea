"""The steps and symbols of the argument in `two_layers_of_tokens`."""

import sympy as sp

from theorems.preconditioned_descent.layers_of_tokens import eigenvalue, polynomials, rates, steps
from theorems.preconditioned_descent.preconditioned_tokens import BEST_STEP, ONE_LAYER, mean_trace
from theorems.preconditioned_descent.setting import (
    S,
    d,
    n,
)
from theorems.wishart.trace_moments import trace_moment
from verify import (
    Identity,
    Implication,
    Inequality,
)

(a0, a1, _), (b0, _), x = steps, rates, eigenvalue
p, t, u, kappa, h = sp.symbols("p t u kappa h", real=True)
"""p is a_0 b_0; t is a zero of q; u is 1/p; kappa is the limit of a_1 p²; h is −p."""
M = tuple(trace_moment([order], n, d) for order in range(7))
"""m_0 … m_6."""


def mean_of(polynomial: sp.Expr) -> sp.Expr:
    """Return ∫ q dμ for a polynomial q in the eigenvalue."""
    return sum((c * M[power] for (power,), c in sp.Poly(polynomial, x).terms()), sp.S.Zero)


q = 1 - a1 * x * (1 - p * x) ** 2
SQUARE = ((1 - a0 * x) * q) ** 2
POLYNOMIAL = Identity(
    "polynomial",
    polynomials(2, x),
    (1 - a0 * x) * (1 - a1 * x + 2 * a0 * a1 * b0 * x**2 - a0**2 * a1 * b0**2 * x**3),
    "r_2 = (1 - a_0 s) q, q = 1 - a_1 s + 2 a_1 p s^2 - a_1 p^2 s^3, p = a_0 b_0",
)
FIRST, SECOND, PRODUCT = (
    Identity(f"slope_{name}", sp.Derivative(SQUARE, symbol), slope, f"the slope of r_2^2 in {symbol}")
    for name, symbol, slope in (
        ("first", a0, -2 * x * (1 - a0 * x) * q**2),
        ("second", a1, -2 * (1 - a0 * x) ** 2 * q * x * (1 - p * x) ** 2),
        ("product", p, 4 * a1 * (1 - a0 * x) ** 2 * q * x**2 * (1 - p * x)),
    )
)
FIRST_FALLS, AT_LEAST_ONE, SECOND_FALLS = (
    Implication(
        "first_negative",
        (sp.Le(a0, 0), sp.Gt(x, 0), sp.Gt(u**2, 0)),
        sp.Lt(-2 * x * (1 - a0 * x) * u**2, 0),
        "-2 s (1 - a_0 s) u^2 < 0 for a_0 <= 0, s > 0, u not 0",
    ),
    Implication(
        "at_least_one",
        (sp.Le(a1, 0), sp.Ge(x, 0)),
        sp.Ge(1 - a1 * x * u**2, 1),
        "1 - a_1 s u^2 >= 1 for a_1 <= 0, s >= 0",
    ),
    Implication(
        "second_negative",
        (sp.Ge(u, 1), sp.Gt(x, 0), sp.Gt(h**2, 0), sp.Gt(t**2, 0)),
        sp.Lt(-2 * h**2 * u * x * t**2, 0),
        "-2 h^2 u s t^2 < 0 for u >= 1, s > 0, h and t not 0",
    ),
)
WITHOUT_FIRST = Identity(
    "without_first", sp.Subs(polynomials(2, x), a0, 0), 1 - a1 * x, "where a_0 = 0, r_2 is 1 - a_1 s"
)
SLOPE_OF_ONE = Identity(
    "slope_of_one",
    sp.Derivative(ONE_LAYER.right, a1),
    2 * (d * (n + d + 1) / n) * (a1 - BEST_STEP),
    "d - 2 a_1 d + a_1^2 d (n + d + 1)/n has the slope 2 d (n + d + 1)/n (a_1 - n/(n + d + 1))",
)
BEST_OF_ONE = Implication(
    "best_of_one", (sp.Gt(u, 0), sp.Eq(2 * u * t, 0)), sp.Eq(t, 0), "a - a* = 0 where 2 u (a - a*) = 0, u > 0"
)
_FACTOR = 2 * d * (d * n + d + n + 3) / (n + d + 1) ** 2
FACTOR = Inequality("factor", sp.Gt(_FACTOR, 0, evaluate=False), "2 d (d n + d + n + 3)/(n + d + 1)^2 > 0")
ONE_RATE = Implication(
    "one_rate",
    (sp.Eq(-u * (1 + 2 * b0), 0), sp.Gt(u, 0)),
    sp.Eq(b0, -sp.S.Half),
    "b_0 = -1/2 where -u (1 + 2 b_0) = 0, u > 0",
)
TOGETHER = Identity(
    "together",
    x * (1 - p * x) ** 2 + p * x**2 * (1 - p * x),
    x * (1 - p * x),
    "s (1 - p s)^2 + p s^2 (1 - p s) = s (1 - p s)",
)
MEANS_VANISH = (
    Implication(
        "second_mean_vanishes",
        (sp.Gt(a1, 0), sp.Eq(4 * a1 * u, 0)),
        sp.Eq(u, 0),
        "m = 0 where 4 a_1 m = 0, a_1 > 0",
    ),
    Implication(
        "first_mean_vanishes",
        (sp.Eq(-2 * t, 0), sp.Eq(u, 0)),
        sp.Eq(t + p * u, 0),
        "m' + p m = 0 where -2 m' = 0, m = 0",
    ),
)
RATE_POSITIVE = Implication(
    "rate_positive", (sp.Gt(a0, 0), sp.Gt(a0 * b0, 0)), sp.Gt(b0, 0), "b_0 > 0 where a_0 > 0, a_0 b_0 > 0"
)
CROSSES = Implication(
    "crosses",
    (sp.Gt(a1, 0), sp.Ge(h, 0), sp.Eq(a1 * x, 1)),
    sp.Le(1 - a1 * x * (1 + h * x) ** 2, 0),
    "1 - a_1 s (1 + h s)^2 <= 0 where a_1 s = 1, a_1 > 0, h >= 0",
)
FALLS = Identity(
    "falls",
    q.subs(p, -h) - q.subs({p: -h, x: t}, simultaneous=True),
    -a1 * (x - t) * (1 + 2 * h * (x + t) + h**2 * (x**2 + x * t + t**2)),
    "for p = -h, q(s) - q(t) = -a_1 (s - t) (1 + 2 h (s + t) + h^2 (s^2 + s t + t^2))",
)
_FALLEN = -a1 * (x - t) * (1 + 2 * h * (x + t) + h**2 * (x**2 + x * t + t**2))
NO_MEAN = Implication(
    "negative_but_at_the_zero",
    (sp.Gt(a1, 0), sp.Ge(h, 0), sp.Gt(x, 0), sp.Gt(t, 0), sp.Gt((x - t) ** 2, 0)),
    sp.Lt((x - t) * _FALLEN * (1 + h * x) * x, 0),
    "(s - t)(q(s) - q(t))(1 + h s) s < 0 for p = -h, a_1 > 0, h >= 0, s and t > 0, s not t",
)
SLOPE_IN_KAPPA = Identity(
    "slope_in_kappa",
    sp.Derivative((1 - kappa * x**3) ** 2, kappa),
    -2 * x**3 * (1 - kappa * x**3),
    "the slope of (1 - kappa s^3)^2 in kappa is -2 s^3 (1 - kappa s^3)",
)
KAPPA_POSITIVE = Implication(
    "kappa_positive",
    (sp.Le(kappa, 0), sp.Gt(x, 0)),
    sp.Gt(x**3 * (1 - kappa * x**3), 0),
    "s^3 (1 - kappa s^3) > 0 for kappa <= 0, s > 0",
)
NEAR_INFINITY = Implication(
    "near_infinity",
    (sp.Eq(p * u, 1),),
    sp.Eq(1 - kappa * u**2 * x * (1 - p * x) ** 2, 1 - kappa * x * (u - x) ** 2),
    "q = 1 - kappa s (u - s)^2 where a_1 = kappa u^2, p u = 1",
)
AT_INFINITY = Identity(
    "at_infinity",
    sp.Subs(sp.Derivative((1 - kappa * x * (u - x) ** 2) ** 2, u), u, 0),
    4 * kappa * x**2 * (1 - kappa * x**3),
    "(1 - kappa s (u - s)^2)^2 has the slope 4 kappa s^2 (1 - kappa s^3) in u at 0",
)
CUBIC = Implication(
    "cubic",
    (sp.Eq(kappa * t**3, 1),),
    sp.Eq(1 - kappa * x**3, -kappa * (x - t) * (x**2 + x * t + t**2)),
    "1 - kappa s^3 = -kappa (s - t) (s^2 + s t + t^2) where kappa t^3 = 1",
)
NO_MEAN_AT_INFINITY = Implication(
    "negative_at_infinity",
    (sp.Gt(kappa, 0), sp.Gt(x, 0), sp.Gt(t, 0), sp.Gt((x - t) ** 2, 0)),
    sp.Lt((x - t) * x**2 * -kappa * (x - t) * (x**2 + x * t + t**2), 0),
    "-(s - t) s^2 kappa (s - t) (s^2 + s t + t^2) < 0 for kappa, s and t > 0, s not t",
)
MEAN_POSITIVE = Implication(
    "mean_positive",
    (sp.Gt(kappa, 0), sp.Gt(t, 0), sp.Lt(-t * u, 0)),
    sp.Gt(4 * kappa * u, 0),
    "4 kappa m > 0 where -t m < 0, kappa and t > 0",
)
_SLOPE = 2 * a1 * b0 * x**2 - x * (1 - a1 * x)
SLOPE_AT_ZERO = Identity(
    "slope_at_zero",
    sp.Subs(sp.Derivative(polynomials(2, x), a0), a0, 0),
    _SLOPE,
    "where a_0 = 0 the slope of r_2 in a_0 is 2 a_1 b_0 s^2 - s (1 - a_1 s)",
)
MEAN_SLOPE = mean_trace(
    "mean_slope",
    2 * (1 - a1 * S) * (2 * a1 * b0 * S * S - S * (1 - a1 * S)),
    mean_of(sp.expand(2 * (1 - a1 * x) * _SLOPE)),
    "E tr 2 (1 - a_1 S)(2 a_1 b_0 S^2 - S (1 - a_1 S)) is a polynomial in a_1 and b_0",
)
IDLE = Identity(
    "idle_slope",
    sp.Subs(MEAN_SLOPE.right, a1, BEST_STEP),
    -_FACTOR * (1 + 2 * b0),
    "this mean is -2 d (d n + d + n + 3)/(n + d + 1)^2 (1 + 2 b_0) at a_1 = n/(n + d + 1)",
)
