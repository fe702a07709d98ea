r"""Theorem 4 with two layers, for every d and n: signs of the critical points, and a least loss that is attained.

On S, with Σ = I, p = a_0 b_0 and q(s) = 1 − a_1 s (1 − p s)², the loss is f(a_0, a_1, b_0) = F(a_0, a_1, p), F a
polynomial,

    F = ∫ (1 − a_0 s)² q² dμ,    ∫ s^k dμ = m_k = E tr S^k.

*Critical points.* If a_0 = 0, then a_1 = n/(n + d + 1) and b_0 = −1/2: the slope in a_0 is a multiple of 1 + 2 b_0.
Otherwise all slopes of F vanish. The slope in a_0 is negative for a_0 ≤ 0, so that a_0 > 0, and likewise a_1 > 0. If
the slopes in a_1 and p are 0, s (1 − p s) q and s² (1 − p s) q have mean 0 under (1 − a_0 s)² dμ, and so has
(s − t) s (1 − p s) q for any t. For p ≤ 0, q falls on (0, ∞) from 1 to −∞; with t its zero, (s − t) s (1 − p s) q < 0
for all s > 0 except t, a contradiction. So p > 0, and b_0 > 0.

*The least loss is attained.* If F is bounded, so are a_0, a_1, a_1 p and a_1 p². So a sequence with F tending to its
infimum has a subsequence that converges, or along which p → ±∞, q → 1 − κ s³ and F → H(a_0, κ) = ∫ (1 − a_0 s)² (1 − κ
s³)² dμ. But at the least H, F with a_1 = κ u² and p = 1/u has the slope 4κ ∫ s² (1 − κ s³) (1 − a_0 s)² dμ > 0 in u at
0: F is below H for some u < 0. So F attains its infimum, with a_0 > 0, and f attains it at b_0 = p/a_0. This value is
below Theorem 3's least loss with two layers, where b_0 = 0, and not below that with four layers, because r_2 has degree
4. If all critical points are found, the best of them is the least.

*The valley.* F falls with a_0 for a_0 ≤ 0. So over a_0 < 0 the infimum of f is

    V = min G(a_1, p),    G = F(0, a_1, p) = ∫ (1 − a_1 s (1 − p s)²)² dμ.

G attains V at some a_1, p > 0, by the same arguments. f does not attain V there: it tends to V as a_0 → 0 from below
and b_0 = p/a_0 → −∞.
At a given p the least G is d − N²/D, N = m_1 − 2p m_2 + p² m_3, D = m_2 − 4p m_3 + 6p² m_4 − 4p³ m_5 + p⁴ m_6, and p is
a root of 2N'D − ND', a polynomial of degree 4. V is above the least f.

Source: Ahn et al. 2023, Theorem 4, states the infimum of the squared gradient over S; all of this is derived here.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.closed_forms import values_of
from theorems.papers import AHN2023
from theorems.preconditioned_descent.layers_of_tokens import STATIONARY, in_product, in_step, polynomials, residual, s
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
)
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LINEAR_ATTENTION,
    d,
    n,
    r,
    tau,
)
from theorems.preconditioned_descent.stationary_square.clause import StationarySquare
from theorems.preconditioned_descent.trials.token_claims import between, least_within, positive_but_one, valley
from theorems.preconditioned_descent.trials.token_layers import POSITIVE as POSITIVE_POINTS
from theorems.preconditioned_descent.two_layers_of_tokens_steps import (
    AT_INFINITY,
    AT_LEAST_ONE,
    BEST_OF_ONE,
    BEST_STEP,
    CROSSES,
    CUBIC,
    FACTOR,
    FALLS,
    FIRST,
    FIRST_FALLS,
    IDLE,
    KAPPA_POSITIVE,
    MEAN_POSITIVE,
    MEAN_SLOPE,
    MEANS_VANISH,
    NEAR_INFINITY,
    NO_MEAN,
    NO_MEAN_AT_INFINITY,
    ONE_RATE,
    POLYNOMIAL,
    PRODUCT,
    RATE_POSITIVE,
    SECOND,
    SECOND_FALLS,
    SLOPE_AT_ZERO,
    SLOPE_IN_KAPPA,
    SLOPE_OF_ONE,
    TOGETHER,
    WITHOUT_FIRST,
    M,
    a0,
    a1,
    b0,
    h,
    kappa,
    mean_of,
    p,
    q,
    t,
    u,
    x,
)
from theorems.wishart.trace_moments import wishart_trace_moment
from verify import (
    ClauseValue,
    Derivation,
    Dynamics,
    Evaluation,
    Hypothesis,
    Inference,
    InWords,
    LeastResidual,
    Source,
    Statement,
    Step,
    Theorem,
)

TWO_LAYERS = Hypothesis("two_layers", text="L = 2")


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
    "up to the last layer's b_1, which has no effect, one of the critical points of f over S has a_0 = 0, "
    "a_1 = n/(n + d + 1) and b_0 = -1/2, and all others have a_0, a_1, b_0 > 0",
)
ATTAINED = InWords("attained", "f over S attains its least value, at a_0, a_1, b_0 > 0")
BETWEEN = InWords(
    "between",
    "the least f over S is below Theorem 3's least loss with two layers, and not below Theorem 3's least loss with "
    "four layers",
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
        "because μ has a density > 0 on (0, ∞), F has a slope < 0 in a_0 for a_0 ≤ 0",
        ("in_steps_and_product", "density", "slope_first", "first_negative"),
        "nonnegative terms",
    ),
    Inference(
        "second_falls",
        "likewise F has a slope < 0 in a_1 for a_1 ≤ 0, because q ≥ 1 there",
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
        "at a point with a_0 = 0, f is the loss of one layer, ∫ (1 − a_1 s)² dμ, and the slope of f in a_0 is the mean "
        "of 2 r_2 times the slope of r_2",
        ("loss_on_S", "polynomials", "two_layers", "without_first", "one_layer_loss", "slope_at_zero", "mean_slope"),
        "linearity of expectation",
    ),
    Inference(
        "first_is_zero",
        "at a critical point with a_0 = 0, a_1 is n/(n + d + 1), and the slope in a_0 vanishes only for b_0 = −1/2",
        ("one_layer", "slope_of_one", "last_curved", "best_of_one", "idle_slope", "factor", "one_rate"),
        "application",
    ),
    Inference(
        "first_is_not",
        "at a critical point with a_0 ≠ 0 all slopes of F vanish, so that a_0 > 0 by `first_falls` and a_1 > 0 by "
        "`second_falls`",
        ("slopes", *(step.label for step in ALL_SLOPES), "first_falls", "second_falls"),
        "application",
    ),
    Inference(
        "orthogonal",
        "if a_1 > 0 and F's slopes in a_1 and p vanish, q (1 − p s) s and q (1 − p s) s² have mean 0 under "
        "(1 − a_0 s)² dμ",
        (
            *("slope_second", "slope_product", "together", "in_steps_and_product"),
            *(step.label for step in MEANS_VANISH),
        ),
        "linearity of expectation",
    ),
    Inference(
        "zero_of_q",
        "if a_1 > 0 and p ≤ 0, q is 1 at 0 and at most 0 at 1/a_1: it has a zero t > 0",
        ("in_steps_and_product", "crosses"),
        rules.INTERMEDIATE_VALUE,
    ),
    Inference(
        "rate_is_positive",
        "under the conditions of `orthogonal` p > 0: if p ≤ 0 and t is a zero of q, (s − t) q (1 − p s) s is < 0 for "
        "all s > 0 but t, and cannot have mean 0",
        ("orthogonal", "density", "zero_of_q", "falls", "negative_but_at_the_zero"),
        "nonnegative terms",
    ),
    Inference(
        "positive",
        "if a_0 = 0, the point is that of `first_is_zero`; otherwise a_0, a_1 > 0 and p = a_0 b_0 > 0, so that b_0 > 0",
        ("first_is_zero", "first_is_not", "rate_is_positive", "rate_positive"),
        "case distinction",
    ),
    Inference(
        "bounded",
        "if F is bounded, so are the coefficients of r_2 and the inverses of its roots, and so a_0 and, as "
        "coefficients of q, a_1, a_1 p and a_1 p²",
        ("in_steps_and_product", "density", "polynomial"),
        rules.NORMS_OF_POLYNOMIALS,
    ),
    Inference(
        "limits",
        "a sequence along which F tends to its infimum, over all a_0 or at a_0 = 0, has a subsequence of one of two "
        "kinds. Either a_0, a_1 and p converge, and F is least at the limit; or p → ±∞, a_1 and a_1 p → 0, a_1 p² → κ, "
        "and the infimum is H(a_0, κ) = ∫ (1 − a_0 s)² (1 − κ s³)² dμ at the limits a_0 (or 0) and κ",
        ("bounded", "in_steps_and_product"),
        rules.BOLZANO_WEIERSTRASS,
    ),
    Inference(
        "limits_are_least",
        "every value of H is a limit of values of F, so that at this a_0 H is least at this κ, and its slope in κ "
        "vanishes: s³ (1 − κ s³) has mean 0 under (1 − a_0 s)² dμ, and κ > 0",
        ("limits", "density", "slope_in_kappa", "kappa_positive"),
        rules.SLOPES_AT_A_LEAST_POINT,
    ),
    Inference(
        "above_at_infinity",
        "let κ t³ = 1: (s − t) s² (1 − κ s³) is < 0 for all s > 0 but t, and its mean is −t times that of "
        "s² (1 − κ s³), so that 4κ times the mean of s² (1 − κ s³) is > 0",
        ("limits_are_least", "density", "cubic", "negative_at_infinity", "mean_positive"),
        "nonnegative terms",
    ),
    Inference(
        "not_at_infinity",
        "so F at this a_0, a_1 = κ u² and p = 1/u rises with u at u = 0, and is below the infimum for some u < 0, a "
        "contradiction: p does not tend to infinity",
        ("above_at_infinity", "near_infinity", "at_infinity", "in_steps_and_product", "limits", "limits_are_least"),
        rules.DERIVATIVE,
    ),
    Inference(
        "least_of_F",
        "F attains its infimum, and its slopes vanish there, so that a_0, a_1, p > 0",
        ("limits", "not_at_infinity", "first_falls", "second_falls", "rate_is_positive"),
        rules.SLOPES_AT_A_LEAST_POINT,
    ),
    Inference(
        "attained",
        "f is nowhere below the least F, and is equal to it at b_0 = p/a_0",
        ("least_of_F", "in_steps_and_product", "rate_positive"),
        "lower bound attained",
    ),
    Inference("stationary", "the least point is critical", ("attained",), rules.SLOPES_AT_A_LEAST_POINT),
    Inference(
        "two_layers_of_theorem3",
        "with B_l = 0 the pattern is Theorem 3's pattern (8): this is Theorem 3's least loss with L = 2",
        ("ahn2023.theorem3:minimum", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
        "application",
    ),
    Inference(
        "four_layers_of_theorem3",
        "with B_l = 0 the pattern is Theorem 3's pattern (8): this is Theorem 3's least loss with L = 4",
        ("ahn2023.theorem3:minimum", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
        "application",
    ),
    Inference(
        "between",
        "at b_0 = 0, f is Theorem 3's loss with two layers, and is not least, because no critical point has b_0 = 0; "
        "and r_2 is a polynomial of degree at most 4 that is 1 at 0: by Theorem 3's argument its least loss with four "
        "layers is the least ∫ r² dμ over all such polynomials",
        (
            *("attained", "positive", "polynomial", "two_layers_of_theorem3", "four_layers_of_theorem3"),
            "ahn2023.theorem3:minimum",
        ),
        rules.ORTHOGONAL_PROJECTION,
    ),
    Inference(
        "limit_is_attained",
        "G, which is F at a_0 = 0, attains its infimum V, and its slopes vanish there, so that a_1, p > 0",
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
    mean_N, mean_D = (mean_of(sp.expand(x**power * (1 - p * x) ** (2 * power))) for power in (1, 2))
    in_moments = M[0] - 2 * a1 * mean_N + a1**2 * mean_D
    return Derivation(
        (
            Step("G in a_1, by N and D", mean_of(sp.expand(q**2)), in_moments),
            Step("the least G at a given p", sp.Subs(in_moments, a1, mean_N / mean_D), M[0] - mean_N**2 / mean_D),
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
