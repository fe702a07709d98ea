r"""Theorem 4 with two layers, for every d and n: where critical points are, and that the least loss is attained.

On S, with Σ = I, p = a_0 b_0 and q(s) = 1 − a_1 s (1 − p s)², the loss is f(a_0, a_1, b_0) = F(a_0, a_1, p), F a
polynomial,

    F = ∫ (1 − a_0 s)² q² dμ,    ∫ s^k dμ = m_k = E tr S^k.

*Critical points.* If a_0 = 0, then a_1 = n/(n + d + 1) and b_0 = −1/2: the slope in a_0 is a multiple of 1 + 2 b_0.
Else all slopes of F vanish. That in a_0 is negative for a_0 ≤ 0, so a_0 > 0, and likewise a_1 > 0. The slopes in a_1
and p are 0 where s (1 − p s) q and s² (1 − p s) q have the mean 0 in (1 − a_0 s)² dμ. For p ≤ 0, q falls on (0, ∞) from
1 to −∞ and has one zero t; then (s − t) s (1 − p s) q ≤ 0 would have the mean 0. So p > 0, and b_0 > 0.

*The least loss is attained.* Where F is bounded so are a_0, a_1, a_1 p and a_1 p². So a sequence along which F tends to
its infimum has a limit, or p → ±∞, q → 1 − κ s³ and F → H(a_0, κ) = ∫ (1 − a_0 s)² (1 − κ s³)² dμ. But at the least H,
F with a_1 = κ u² and p = 1/u has the slope 4κ ∫ s² (1 − κ s³) (1 − a_0 s)² dμ > 0 in u at 0: it is below H for some
u < 0. So F is least somewhere, with a_0 > 0, and f at b_0 = p/a_0. It is below Theorem 3's least loss with two layers,
where b_0 = 0, and not below that with four, as r_2 has degree 4. Where all critical points are found the best is least.

*The valley.* F falls with a_0 where a_0 ≤ 0. So over a_0 < 0 the infimum of f is

    V = min G(a_1, p),    G = F(0, a_1, p) = ∫ (1 − a_1 s (1 − p s)²)² dμ,

which G attains at some a_1, p > 0, by the same arguments, and f not: it tends to V along a_0 → 0, b_0 = p/a_0 → −∞.
At a given p the least G is d − N²/D, N = m_1 − 2p m_2 + p² m_3, D = m_2 − 4p m_3 + 6p² m_4 − 4p³ m_5 + p⁴ m_6, and p is
a root of 2N'D − ND', a polynomial of degree 4. V is above the least f.

Source: Ahn et al. 2023, Theorem 4, has the infimum of the squared gradient over S; all of this is derived here.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.closed_forms import values_of
from theorems.papers import AHN2023
from theorems.preconditioned_descent.multiples_of_the_inverse import INVERSE_PRIOR, k as index
from theorems.preconditioned_descent.preconditioned_tokens import (
    ALL_SLOPES,
    DENSITY,
    LAST_CURVED,
    LAYERS_ON_S,
    LOSS_ON_S,
    MULTIPLES,
    ONE_LAYER,
    PATTERN,
    STATIONARY,
    eigenvalue,
    in_product,
    in_step,
    mean_trace,
    polynomials,
    rates,
    residual,
    s,
    steps,
)
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LINEAR_ATTENTION,
    S,
    d,
    n,
    r,
    tau,
)
from theorems.preconditioned_descent.stationary_square.clause import StationarySquare
from theorems.preconditioned_descent.trials.token_claims import between, least_within, positive_but_one, valley
from theorems.preconditioned_descent.trials.token_layers import POSITIVE as POSITIVE_POINTS
from theorems.wishart.trace_moments import trace_moment, wishart_trace_moment
from verify import (
    ClauseValue,
    Derivation,
    Dynamics,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    LeastResidual,
    Source,
    Statement,
    Step,
    Theorem,
)

TWO_LAYERS = Hypothesis("two_layers", text="L = 2")

(a0, a1, _), (b0, _), x = steps, rates, eigenvalue
p, t, u, kappa, h = sp.symbols("p t u kappa h", real=True)
"""a_0 b_0; where q is 0; 1/p; the limit of a_1 p²; −p."""
M = tuple(trace_moment([order], n, d) for order in range(7))
"""m_0 … m_6."""
BEST_STEP = n / (n + d + 1)


def _mean(polynomial: sp.Expr) -> sp.Expr:
    """Return ∫ of a polynomial in the eigenvalue."""
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
    _mean(sp.expand(2 * (1 - a1 * x) * _SLOPE)),
    "E tr 2 (1 - a_1 S)(2 a_1 b_0 S^2 - S (1 - a_1 S)) is a polynomial in a_1 and b_0",
)
IDLE = Identity(
    "idle_slope",
    sp.Subs(MEAN_SLOPE.right, a1, BEST_STEP),
    -_FACTOR * (1 + 2 * b0),
    "this mean is -2 d (d n + d + n + 3)/(n + d + 1)^2 (1 + 2 b_0) at a_1 = n/(n + d + 1)",
)

_MOMENT = wishart_trace_moment(index, n, d)
OF_TWO = replace(STATIONARY, layers=sp.Integer(2), says=STATIONARY.says.replace("r_L", "r_2"))
one, product = sp.symbols("a rate", real=True)
LIMIT = StationarySquare(
    "limit",
    layers=sp.S.One,
    recursion=Dynamics((residual,), (sp.S.One,), (residual * (1 - one * s * (1 - product * s) ** 2),), residual),
    unknowns=(one, product),
    variable=s,
    moment=_MOMENT,
    index=index,
    says="G = E tr (1 - a S (1 - rate S)^2)^2 has a critical point",
)
OTHERS = tuple(
    LeastResidual(
        f"{name}_layers_of_theorem3",
        factors=sp.Integer(layers),
        moment=_MOMENT,
        index=index,
        says=f"over A_l = a_l Sigma^-1, B_l = 0, f with {name} layers is least at the steps of Theorem 3",
    )
    for name, layers in (("two", 2), ("four", 4))
)
POSITIVE = InWords(
    "positive",
    "but for the last layer's b_1, which has no effect, one of the critical points of f over S has a_0 = 0, "
    "a_1 = n/(n + d + 1) and b_0 = -1/2, and all others have a_0, a_1, b_0 > 0",
)
ATTAINED = InWords("attained", "f over S attains its least value, at a_0, a_1, b_0 > 0")
BETWEEN = InWords(
    "between", "it is below the least loss of Theorem 3 with two layers, and not below that with four layers"
)
VALLEY = InWords(
    "valley",
    "over a_0 < 0 the infimum of f is the least value V of G, which is attained at a_1, p > 0; f comes near to V as "
    "a_0 -> 0 and b_0 = p/a_0 -> -infinity, and is above V at every a_0 < 0; V is above the least f",
)
STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, TWO_LAYERS, GAUSSIAN_TOKENS, INVERSE_PRIOR, MULTIPLES),
    variables=(a0, a1, b0, x, p, t, u, kappa, h, in_step, in_product, r, tau),
    claims=(POSITIVE, ATTAINED, OF_TWO, BETWEEN, VALLEY, LIMIT, *OTHERS),
    steps=(
        *(*LAYERS_ON_S, POLYNOMIAL, FIRST, FIRST_FALLS, SECOND, AT_LEAST_ONE, SECOND_FALLS, PRODUCT, WITHOUT_FIRST),
        *(ONE_LAYER, SLOPE_OF_ONE, LAST_CURVED, BEST_OF_ONE, SLOPE_AT_ZERO, MEAN_SLOPE, IDLE, FACTOR, ONE_RATE),
        *(*ALL_SLOPES, TOGETHER, *MEANS_VANISH, RATE_POSITIVE, CROSSES, FALLS, NO_MEAN, SLOPE_IN_KAPPA),
        *(KAPPA_POSITIVE, NEAR_INFINITY, AT_INFINITY, CUBIC, NO_MEAN_AT_INFINITY, MEAN_POSITIVE),
    ),
)

ARGUMENT = (
    *LOSS_ON_S,
    Inference(
        "in_steps_and_product",
        "f = ∫ r_2² dμ is F(a_0, a_1, p) at p = a_0 b_0, F = ∫ (1 − a_0 s)² q² dμ",
        ("loss_on_S", "polynomials", "polynomial", "two_layers"),
        "definition",
    ),
    DENSITY,
    Inference(
        "first_falls",
        "for a_0 ≤ 0, as μ has a density > 0 on (0, ∞), F has a slope < 0 in a_0",
        ("in_steps_and_product", "density", "slope_first", "first_negative"),
        "nonnegative terms",
    ),
    Inference(
        "second_falls",
        "likewise for a_1 ≤ 0 in a_1, where q ≥ 1",
        ("in_steps_and_product", "density", "slope_second", "at_least_one", "second_negative"),
        "nonnegative terms",
    ),
    Inference(
        "slopes",
        "f has the slopes F_{a_0} + b_0 F_p, F_{a_1} and a_0 F_p in a_0, a_1 and b_0",
        ("in_steps_and_product",),
        rules.CHAIN_RULE,
    ),
    Inference(
        "one_layer",
        "at a point with a_0 = 0 f is the loss of one layer, ∫ (1 − a_1 s)² dμ, and its slope in a_0 is the mean of "
        "2 r_2 times that of r_2",
        ("loss_on_S", "polynomials", "two_layers", "without_first", "one_layer_loss", "slope_at_zero", "mean_slope"),
        "linearity of expectation",
    ),
    Inference(
        "first_is_zero",
        "at a critical point with a_0 = 0, a_1 = n/(n + d + 1), and the slope in a_0 vanishes for b_0 = −1/2 alone",
        ("one_layer", "slope_of_one", "last_curved", "best_of_one", "idle_slope", "factor", "one_rate"),
        "application",
    ),
    Inference(
        "first_is_not",
        "at one with a_0 ≠ 0 all slopes of F vanish, and so a_0, a_1 > 0, as they do not elsewhere",
        ("slopes", *(step.label for step in ALL_SLOPES), "first_falls", "second_falls"),
        "application",
    ),
    Inference(
        "orthogonal",
        "where a_1 > 0 and F's slopes in a_1 and p vanish, q (1 − p s) s and q (1 − p s) s² have the mean 0 in "
        "(1 − a_0 s)² dμ",
        (
            *("slope_second", "slope_product", "together", "in_steps_and_product"),
            *(step.label for step in MEANS_VANISH),
        ),
        "linearity of expectation",
    ),
    Inference(
        "zero_of_q",
        "where a_1 > 0 and p ≤ 0, q is 1 at 0 and at most 0 at 1/a_1: it has a zero t > 0",
        ("in_steps_and_product", "crosses"),
        rules.INTERMEDIATE_VALUE,
    ),
    Inference(
        "rate_is_positive",
        "then p > 0: for p ≤ 0, with a zero t of q, (s − t) q (1 − p s) s is < 0 for all s > 0 but t, and cannot have "
        "the mean 0",
        ("orthogonal", "density", "zero_of_q", "falls", "negative_but_at_the_zero"),
        "nonnegative terms",
    ),
    Inference(
        "positive",
        "in the second case p = a_0 b_0 > 0 and a_0 > 0: b_0 > 0",
        ("first_is_zero", "first_is_not", "rate_is_positive", "rate_positive"),
        "case distinction",
    ),
    Inference(
        "bounded",
        "where F is bounded, the coefficients of r_2 are, the inverses of its roots, and so a_0 and the coefficients "
        "of q: a_1, a_1 p, a_1 p²",
        ("in_steps_and_product", "density", "polynomial"),
        rules.NORMS_OF_POLYNOMIALS,
    ),
    Inference(
        "limits",
        "a sequence along which F tends to its infimum, over all a_0 or at a_0 = 0, has a part along which a_0, a_1, p "
        "converge, and F is least at the limit, or p → ±∞, and then a_1 and a_1 p → 0, a_1 p² → κ, and the infimum is "
        "H(a_0, κ) = ∫ (1 − a_0 s)² (1 − κ s³)² dμ at some a_0 (or 0) and κ",
        ("bounded", "in_steps_and_product"),
        rules.BOLZANO_WEIERSTRASS,
    ),
    Inference(
        "limits_are_least",
        "H is a limit of F everywhere, so that it is least there, over κ at this a_0, and its slope in κ vanishes: "
        "s³ (1 − κ s³) has the mean 0 in (1 − a_0 s)² dμ, and κ > 0",
        ("limits", "density", "slope_in_kappa", "kappa_positive"),
        rules.SLOPES_AT_A_LEAST_POINT,
    ),
    Inference(
        "above_at_infinity",
        "with κ t³ = 1, (s − t) s² (1 − κ s³) is < 0 for all s > 0 but t, and its mean is −t times that of "
        "s² (1 − κ s³): 4κ times the latter is > 0",
        ("limits_are_least", "density", "cubic", "negative_at_infinity", "mean_positive"),
        "nonnegative terms",
    ),
    Inference(
        "not_at_infinity",
        "so F at this a_0 rises with u at u = 0, and is below the infimum for some a_1 = κ u², p = 1/u, u < 0: p does "
        "not tend to infinity",
        ("above_at_infinity", "near_infinity", "at_infinity", "in_steps_and_product", "limits", "limits_are_least"),
        rules.DERIVATIVE,
    ),
    Inference(
        "least_of_F",
        "F attains its infimum; F's slopes vanish there, so that a_0, a_1, p > 0",
        ("limits", "not_at_infinity", "first_falls", "second_falls", "rate_is_positive"),
        rules.SLOPES_AT_A_LEAST_POINT,
    ),
    Inference(
        "attained",
        "f is nowhere below it, and equal to it at b_0 = p/a_0",
        ("least_of_F", "in_steps_and_product", "rate_positive"),
        "lower bound attained",
    ),
    Inference("stationary", "the least point is critical", ("attained",), rules.SLOPES_AT_A_LEAST_POINT),
    Inference(
        "two_layers_of_theorem3",
        "it is Theorem 3's least loss, L = 2: its pattern (8) is B_l = 0 here",
        ("ahn2023.theorem3:minimum", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
        "application",
    ),
    Inference(
        "four_layers_of_theorem3",
        "it is Theorem 3's least loss, L = 4: its pattern (8) is B_l = 0 here",
        ("ahn2023.theorem3:minimum", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
        "application",
    ),
    Inference(
        "between",
        "at b_0 = 0, f is Theorem 3's, and is not least; and r_2 is a polynomial of degree 4 at most, 1 at 0: Theorem "
        "3's argument has the least ∫ r² dμ over all of these",
        (
            *("attained", "positive", "polynomial", "two_layers_of_theorem3", "four_layers_of_theorem3"),
            "ahn2023.theorem3:minimum",
        ),
        rules.ORTHOGONAL_PROJECTION,
    ),
    Inference(
        "limit_is_attained",
        "G, which is F at a_0 = 0, attains its infimum V; its slopes vanish there, so that a_1, p > 0",
        ("limits", "not_at_infinity", "second_falls", "rate_is_positive"),
        rules.SLOPES_AT_A_LEAST_POINT,
    ),
    Inference("limit", "a least point of G is critical", ("limit_is_attained",), rules.SLOPES_AT_A_LEAST_POINT),
    Inference(
        "above_V",
        "for a_0 < 0, F(a_0, a_1, p) > F(0, a_1, p) ≥ V, and for some a_0 > 0, F is below V at the least point of G",
        ("first_falls", "limit_is_attained"),
        rules.SIGN_OF_THE_SLOPE,
    ),
    Inference(
        "valley",
        "f(a_0, a_1, p/a_0) = F(a_0, a_1, p) → V as a_0 → 0 from below, at the least point of G",
        ("above_V", "in_steps_and_product", "limit_is_attained"),
        rules.LOWER_BOUND_APPROACHED,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the loss in moments at a given p, its least value over a_1, the degree, one dimension."""
    mean_N, mean_D = (_mean(sp.expand(x**power * (1 - p * x) ** (2 * power))) for power in (1, 2))
    in_moments = M[0] - 2 * a1 * mean_N + a1**2 * mean_D
    return Derivation(
        (
            Step("G in a_1, by N and D", _mean(sp.expand(q**2)), in_moments),
            Step("its least value at a p", sp.Subs(in_moments, a1, mean_N / mean_D), M[0] - mean_N**2 / mean_D),
            Step(
                "r_2 has degree 4, with the last coefficient",
                sp.Subs(sp.Derivative(polynomials(2, x), (x, 4)), x, 0) / 24,
                a0**3 * a1 * b0**2,
            ),
            Step("one dimension: m_1 m_3 − m_2²", sp.Subs(M[1] * M[3] - M[2] ** 2, d, 1), 2 * (n + 2) / n**2),
        )
    )


_canary = partial(with_clause, STATEMENT)


EVALUATIONS = {
    "positive": Evaluation(
        positive_but_one(values_of(sp.S.Zero, BEST_STEP, -sp.S.Half)),
        "one of the critical points of f over S has a_0 = 0, a_1 = n/(n + d + 1) and b_0 = -3/5",
        positive_but_one(values_of(sp.S.Zero, BEST_STEP, -sp.Rational(3, 5))),
        draws=20,
    ),
    "attained": Evaluation(
        least_within(POSITIVE_POINTS),
        "f over S attains its least value, at a_0, a_1 > 0 and b_0 = 0",
        least_within([*POSITIVE_POINTS[:2], (0, 0)]),
        draws=16,
    ),
    "between": Evaluation(
        between(lambda layers: layers.least_without_rates(4)),
        "the least value is not below 11/10 of the least loss of Theorem 3 with four layers",
        between(lambda layers: Fraction(11, 10) * layers.least_without_rates(4)),
        draws=12,
    ),
    "valley": Evaluation(
        valley(),
        "over a_0 < 0 the infimum of f is 101/100 of V",
        valley(Fraction(101, 100)),
        draws=24,
    ),
}

two_layers_of_tokens = Theorem(
    id="ahn2023.two_layers_of_tokens",
    title="Theorem 4 with two layers, for every d and n: the least loss is attained, at positive steps and rate",
    source=Source("Theorem 4, L = 2", "derived here", AHN2023, "more than is printed, for two layers"),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={
        "critical_points": ClauseValue("stationary", "critical_points"),
        "complete": ClauseValue("stationary", "complete"),
        "limits": ClauseValue("limit", "critical_points"),
        "limits_complete": ClauseValue("limit", "complete"),
        "theorem3_two_layers": ClauseValue("two_layers_of_theorem3", "minimum"),
        "theorem3_four_layers": ClauseValue("four_layers_of_theorem3", "minimum"),
    },
    derivation=derivation,
    canaries=(
        _canary("b_0 = 1/2 where a_0 = 0", replace(IDLE, right=IDLE.right.subs(b0, -b0), says="")),
        _canary("F falls with u at infinity", replace(AT_INFINITY, right=-AT_INFINITY.right, says="")),
        _canary("q of p, not of -p", replace(FALLS, right=FALLS.right.subs(h, -h), says="")),
        _canary("half the slope in p", replace(PRODUCT, right=PRODUCT.right / 2, says="")),
        _canary("the orthogonal polynomial of the spectrum itself", replace(OTHERS[1], shift=sp.S.Zero, says="")),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("ahn2023.theorem3", "ahn2023.lemma5"),
    argument=ARGUMENT,
)
