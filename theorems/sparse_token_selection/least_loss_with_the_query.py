r"""Attending to [Z, z_query]: in population descent from zero, α and C rise to the point of the least loss.

On V = (α I, 0), W = diag(0, C I), the set of Lemma 2, the loss is L = d/2 (α²R − 2αP/q + 1/q), and a step subtracts
η_t f from α and η_t g from C,

    f = αR − P/q,    g = κ(α²R' − 2αP'/q),    κ = d/(2d_e).

At a C the least L over α is d/(2q) (1 − G), G = P²/(qR), at α = P/(qR). The least loss is the least L over α and C ≥ 0.

*The idea.* While the query's own column takes attention from all tokens, R falls in C. Then the rise of α favours the
rise of C, and conversely: where f < 0 and g < 0 the mixed derivative d(αR' − P'/q) is negative, since αR' < 0 ≤ P'/q or
αR' ≤ 2P'/q < P'/q. So a step along which the second derivatives are below 1/η leaves both slopes negative: each slope
shrinks by a fraction of itself, which its own second derivative bounds, and the move of the other variable adds a
negative term to it. Both variables rise at every step, C from the second one on.

Where R' < 0, g ≤ 0 means that α ≥ 2P'/(qR'), and f < 0 that α < P/(qR). At the C where log G has the slope 2P'/P − R'/R
= 0 both bounds are the same, so that no step crosses this C: α and C are bounded, and converge to a stationary point,
which is the first one. If log G is concave up to C_1 and its slope negative at C_1, G has one turn on [0, C_1], and is
largest at this turn; beyond C_1 an enclosure shows that G is smaller.

The step size is bounded by ηT < (T+1)² and ηκb < 1, where b bounds α²R'' − 2αP''/q along the run: at the figures'
sizes, T = 200, q = 3, d = 5, d_e = 170, κb is below 0.04.

The hypotheses on P and R are checked by enclosures at an instance (`share_curves`), and not proved for all sizes. The
Hessian at the limit is positive definite because log G is concave. Distances are measured in (√d α, √d_e C): gradient
descent on the whole matrices is gradient descent on L in these coordinates.

Source: Wang et al. 2024, Theorem 2, [abs]: gradient descent converges globally. The proof is ours.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection import share_slopes as slopes
from theorems.sparse_token_selection.descent_with_the_query import AT_MOST_HALF, WITH_THE_QUERY
from theorems.sparse_token_selection.invariant_set import LOSS, SCALE_STEP, VALUE_STEP, P, P_slope, R, R_slope, alpha, t
from theorems.sparse_token_selection.share_curve_primitives import (
    gain_beyond,
    largest_gain,
    largest_gain_bend,
    largest_gain_slope,
    largest_logit_curvature,
    largest_squares_slope,
)
from theorems.sparse_token_selection.slopes_on_the_set import (
    BEST_VALUE_SCALE,
    CURVATURE_AT_MOST,
    DETERMINANT,
    F_AFTER_A_STEP,
    FACTOR,
    G_SLOPE,
    IN_A_STEP,
    MIXED,
    OF_THE_SHARES,
    POSITIVE_DEFINITE,
    SECOND_DERIVATIVES,
    SLOPE_IN_C,
    STATIONARY,
    VARIABLES,
    F,
    most,
    step,
    x,
)
from theorems.sparse_token_selection.task import (
    ENCODING_DIMENSION,
    GAUSSIAN_TOKENS,
    LENGTH,
    POPULATION_GRADIENT,
    SIGN_ENCODING,
    SIGNS_ARE_SYMMETRIC,
    STEP_SIZE,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_INITIALISATION,
    T,
    d,
    d_e,
    eta,
    q,
)
from theorems.sparse_token_selection.trials import sign_runs
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Implication,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
)

C_1 = sp.Symbol("C_1", positive=True)
MIXED_IS_NEGATIVE = (
    Implication(
        "mixed_where_P_rises",
        (sp.Gt(alpha, 0), sp.Lt(R_slope, 0), sp.Ge(P_slope, 0)),
        sp.Lt(MIXED, 0),
        says="alpha R' - P'/q < 0 where alpha > 0, R' < 0, P' >= 0",
    ),
    Implication(
        "mixed_where_P_falls",
        (sp.Le(FACTOR, 0), sp.Lt(P_slope, 0)),
        sp.Lt(MIXED, 0),
        says="alpha R' - P'/q < 0 where alpha R' - 2P'/q <= 0, P' < 0",
    ),
)
NOT_CROSSED = (
    Implication(
        "product_at_the_turn",
        (sp.Gt(R, 0), sp.Eq(2 * P_slope * R, P * R_slope), sp.Le(FACTOR, 0)),
        sp.Le(F * R_slope, 0),
        says="(alpha R - P/q) R' <= 0 where 2P'R = PR', R > 0, alpha R' - 2P'/q <= 0",
    ),
    Implication(
        "not_crossed",
        (sp.Lt(R_slope, 0), sp.Le(x * R_slope, 0)),
        sp.Ge(x, 0),
        says="x >= 0 where x R' <= 0, R' < 0",
    ),
)
FIRST_STEP = (
    F_AFTER_A_STEP,
    Implication(
        "g_after_a_step",
        (sp.Gt(alpha, 0), sp.Lt(R_slope, 0), sp.Ge(P_slope, 0)),
        sp.Lt(G_SLOPE, 0),
        says="d/(2 d_e) (alpha^2 R' - 2 alpha P'/q) < 0 where alpha > 0, R' < 0, P' >= 0",
    ),
    Implication(
        "slope_of_P_at_zero",
        (sp.Le(2 * q, T + 1), sp.Eq(P_slope, (q - q * (2 * q / (T + 1))) / (T + 1))),
        sp.Ge(P_slope, 0),
        says="P' >= 0 where P' = (q - q 2q/(T+1))/(T+1), 2q <= T+1",
    ),
    Implication(
        "slope_of_G_at_zero",
        (sp.Gt(P, 0), sp.Gt(R, 0), sp.Lt(R_slope, 0), sp.Ge(P_slope, 0)),
        sp.Gt(2 * P_slope / P - R_slope / R, 0),
        says="2P'/P - R'/R > 0 where P > 0, R > 0, R' < 0, P' >= 0",
    ),
)
STEPS = (
    *(*SECOND_DERIVATIVES, *SLOPE_IN_C, *MIXED_IS_NEGATIVE, *CURVATURE_AT_MOST, *IN_A_STEP, *NOT_CROSSED),
    *(
        *FIRST_STEP,
        *slopes.OF_THE_SHARES,
        *STATIONARY,
        BEST_VALUE_SCALE,
        DETERMINANT,
        POSITIVE_DEFINITE,
        VALUE_STEP,
        SCALE_STEP,
    ),
)

END = Parameter("C_1", "rational", "C up to which log G is concave", above=0)
SHORT_STEP = Hypothesis("short_step", sp.Lt(eta * (T / (T + 1) ** 2), 1), "eta T < (T+1)^2")
SQUARES_FALL = Hypothesis(
    "squares_fall",
    sp.Lt(largest_squares_slope(T, q, d_e, 0, C_1, 1), 0),
    "R, the mean of the sum of p_i^2 over the T tokens, falls in C on [0, C_1]",
)
CONCAVE = Hypothesis(
    "concave",
    sp.Lt(largest_gain_bend(T, q, d_e, 0, C_1, 1), 0),
    "log G is concave on [0, C_1], G = P^2/(qR), P the mean of the sum of p_i over y: its second derivative is below 0",
)
FALLS_AT_THE_END = Hypothesis(
    "falls_at_the_end", sp.Lt(largest_gain_slope(T, q, d_e, C_1, C_1, 1), 0), "log G falls in C at C_1"
)
SMALLER_BEYOND = Hypothesis(
    "smaller_beyond",
    sp.Lt(gain_beyond(T, q, d_e, C_1, 1), largest_gain(T, q, d_e, 0, C_1, 1)),
    "the supremum of G over C >= C_1 is less than its largest value on [0, C_1]",
)
SMALL_STEP = Hypothesis(
    "small_step",
    sp.Lt(eta * d / (2 * d_e) * largest_logit_curvature(T, q, d_e, 0, C_1, 1), 1),
    "eta d/(2 d_e) b < 1, b the largest a^2 max(R'', 0) + 2a max(-P'', 0)/q on [0, C_1], a = P/(qR)",
)
RISES = InWords(
    "rises",
    "for any step sizes eta_t in (0, eta] descent stays on V = (alpha I, 0), W = diag(0, C I); alpha rises at every "
    "step, and C at every step but the first; C stays below the one C at which G is largest",
)
CONVERGES = InWords(
    "converges",
    "(alpha, C) converges to the one point of the least loss over all alpha and C >= 0, if the step sizes eta_t in (0, "
    "eta] add up to infinity, as those do that are constant, or eta first and eta/3 later",
)
GEOMETRIC = InWords(
    "geometric",
    "the Hessian in (sqrt(d) alpha, sqrt(d_e) C) at the limit has a least eigenvalue lambda > 0, and for constant step "
    "sizes eta each step in the end multiplies the distance to the limit in these coordinates by at most 1 - eta "
    "lambda + delta, for every delta > 0",
)
EVALUATIONS = {
    "rises": Evaluation(
        sign_runs.rises(),
        "for any step sizes eta_t in (0, eta] alpha rises by at least eta_t at every step, and C at every step but the "
        "first",
        sign_runs.rises(least=1.0),
        draws=100,
    ),
    "converges": Evaluation(
        sign_runs.ends_at_the_least_loss(),
        "(alpha, C) converges to a point at which C is half of that of the least loss over alpha and C >= 0",
        sign_runs.ends_at_the_least_loss(place=0.5),
        draws=100,
        limit=True,
    ),
    "geometric": Evaluation(
        sign_runs.geometric(True, lambda eta, least, _: 1 - eta * least),
        "the same with 1 - 2 eta lambda",
        sign_runs.geometric(True, lambda eta, least, _: 1 - 2 * eta * least),
        draws=100,
        limit=True,
    ),
}
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, STEP_SIZE, END),
    domain=(SUBSET_FITS,),
    hypotheses=(
        *(GAUSSIAN_TOKENS, SIGN_ENCODING, WITH_THE_QUERY, ZERO_INITIALISATION, POPULATION_GRADIENT, AT_MOST_HALF),
        *(SHORT_STEP, SQUARES_FALL, CONCAVE, FALLS_AT_THE_END, SMALLER_BEYOND, SMALL_STEP),
    ),
    variables=VARIABLES,
    claims=(RISES, CONVERGES, GEOMETRIC),
    steps=STEPS,
)
_LEMMA = ("wang2024.lemma2:loss_on_the_set", "wang2024.lemma2:steps", "signs_are_symmetric")
_MIXED = ("factors_of_g", "positive_factor", *(clause.label for clause in MIXED_IS_NEGATIVE))
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    OF_THE_SHARES,
    Inference(
        "slopes",
        "a step subtracts η_t f from α and η_t g from C; ∂f/∂α = R, ∂f/∂C = αR' − P'/q, ∂g/∂α = d/d_e (αR' − P'/q) and "
        "∂g/∂C = d/(2d_e) (α²R'' − 2αP''/q)",
        (
            *(*_LEMMA, "population_gradient", "value_step", "scale_step", "of_the_shares"),
            *(clause.label for clause in SECOND_DERIVATIVES),
        ),
        "definition",
    ),
    Inference(
        "at_zero",
        "at C = 0 all shares are 1/(T+1), so that R = T/(T+1)². As E|Σ_y e_i|² = q, the means of Σ_y v_i and of the "
        "query's logit over C are q, and that of v̄ is 2q/(T+1): P' = (q − q 2q/(T+1))/(T+1) is not negative",
        ("of_the_shares", "sign_encoding", "with_the_query", "at_most_half", "slope_of_P_at_zero"),
        "linearity of expectation",
    ),
    Inference(
        "one_turn",
        "the slope of log G falls on [0, C_1], is positive at 0 and negative at C_1: it is 0 at one C_* in (0, C_1). G "
        "rises before C_* and falls after it",
        ("of_the_shares", "at_zero", "slope_of_G_at_zero", "squares_fall", "concave", "falls_at_the_end"),
        rules.INTERMEDIATE_VALUE,
    ),
    Inference(
        "mixed_is_negative",
        "where α > 0, 0 ≤ C ≤ C_1 and g ≤ 0, αR' − P'/q < 0",
        ("squares_fall", *_MIXED),
        "case distinction",
    ),
    Inference(
        "curvature",
        "if f ≤ 0 as well, α ≤ P/(qR), so that ∂g/∂C is at most B = d/(2d_e) b, and ηB < 1; R is at most R_0 = "
        "T/(T+1)², as R falls, and ηR_0 < 1",
        (
            *("of_the_shares", "at_zero", "squares_fall", "slopes", "small_step", "short_step"),
            *(clause.label for clause in CURVATURE_AT_MOST),
        ),
        "application",
    ),
    Inference(
        "as_far_as",
        "let f = f_0 and g = g_0 at the start of a step, and let α > 0, 0 ≤ C < C_*, f < 0 and g < 0 at its points for "
        "all step sizes from 0 to below s, 0 < s ≤ η_t. At its point for step size s, f ≤ f_0 (1 − sR_0) and g ≤ "
        "g_0 (1 − sB), both negative",
        ("slopes", "mixed_is_negative", "curvature", "one_turn", *(clause.label for clause in IN_A_STEP)),
        rules.SIGN_OF_THE_SLOPE,
    ),
    Inference(
        "below_the_turn",
        "at step size s, C ≠ C_*: at C_*, g ≤ 0 would make f ≥ 0 (not_crossed). α and C do not fall in the step",
        (
            *("as_far_as", "one_turn", "of_the_shares", "squares_fall", "factors_of_g", "positive_factor"),
            *(clause.label for clause in NOT_CROSSED),
        ),
        "case distinction",
    ),
    Inference(
        "whole_steps",
        "so the step sizes up to which α > 0, 0 ≤ C < C_*, f < 0 and g < 0 form a set that is open and closed in "
        "[0, η_t], as f and g are continuous: these hold on the whole step",
        ("as_far_as", "below_the_turn", "of_the_shares"),
        rules.CONNECTEDNESS,
    ),
    Inference(
        "first",
        "the first step leaves C at 0, as g = 0 at α = 0, and leads to α = η_0 P/q > 0, where f < 0 and g < 0",
        (
            *("slopes", "at_zero", "of_the_shares", "squares_fall", "zero_initialisation", "short_step"),
            *("f_after_a_step", "g_after_a_step", "share_below_one"),
        ),
        "application",
    ),
    Inference(
        "rises",
        "from there on f < 0, g < 0 and C < C_* at every step: α and C rise",
        ("first", "whole_steps", "slopes", "one_turn", "smaller_beyond", "wang2024.lemma2:kept"),
        "induction",
    ),
    Inference(
        "limit",
        "C < C_*, and α < P/(qR), which is bounded on [0, C_*]: (α, C) converges, with α > 0 and C > 0 in the limit, "
        "and f and g tend to their values there",
        ("rises", "of_the_shares"),
        rules.MONOTONE_SEQUENCES,
    ),
    Inference(
        "stationary_limit",
        "if the η_t add up to infinity, f and g are 0 at the limit: if f or g were negative there, from some step on α "
        "or C would rise by at least a fixed multiple of η_t, and so without bound. So α = P/(qR) there, and the slope "
        "of log G is 0, so that C = C_*",
        (
            "limit",
            "slopes",
            "factors_of_g",
            "positive_factor",
            "negative_factor",
            "best_alpha",
            "stationary",
            "one_turn",
            "of_the_shares",
        ),
        "telescoping",
    ),
    Inference(
        "converges",
        "L is at least d/(2q) (1 − G), with equality for α = P/(qR) alone; G is largest over [0, C_1] at C_* alone, "
        "and over C ≥ C_1 it is smaller",
        ("stationary_limit", "best_value_scale", "one_turn", "smaller_beyond", "of_the_shares", *_LEMMA),
        "lower bound attained",
    ),
    Inference(
        "positive_definite",
        "in (√d α, √d_e C) the Hessian has R and d/(2d_e) (α²R'' − 2αP''/q) on the diagonal, and the square of the "
        "mixed entry is d/d_e (αR' − P'/q)². At the limit R > 0, and the determinant, −d/(2d_e) (P/q)² (log G)'', is "
        "positive: so is the least eigenvalue λ",
        ("stationary_limit", "slopes", "concave", "determinant", "positive_determinant", "of_the_shares"),
        rules.SYLVESTER_CRITERION,
    ),
    Inference(
        "perron",
        "a step's derivative there is I − ηH, symmetric; its entries 1 − ηR, 1 − η∂g/∂C and −η times the mixed one are "
        "not negative: no eigenvalue is larger in size than the largest, 1 − ηλ",
        (
            "positive_definite",
            "stationary_limit",
            "mixed_is_negative",
            "curvature",
            "share_below_one",
            "small_curvature",
        ),
        rules.PERRON_THEOREM,
    ),
    Inference(
        "geometric",
        "near the limit a step multiplies the distance to it by at most 1 − ηλ + δ, as its derivative there is I − ηH",
        ("perron", "converges"),
        rules.DERIVATIVE,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the slope of the loss in C at the best α, the slope of P at C = 0, and the slope of G."""
    a = P / (q * R)
    return Derivation(
        (
            Step(
                "at the best α the slope in C is that of the least loss over α",
                (d / (2 * d_e) * (a**2 * R_slope - 2 * a * P_slope / q)),
                -d / (2 * d_e * q) * P**2 / (q * R) * (2 * P_slope / P - R_slope / R),
            ),
            Step(
                "P' at C = 0: E Σ_y (v_i − v̄)/(T+1), the means of Σ_y v_i and the query's logit are q, v̄'s is 2q/(T+1)",
                (q - q * 2 * q / (T + 1)) / (T + 1),
                q * (T + 1 - 2 * q) / (T + 1) ** 2,
            ),
            Step(
                "the slope of G = P²/(qR) in C is G times that of log G",
                sp.Subs(sp.Derivative((P + P_slope * t) ** 2 / (q * (R + R_slope * t)), t), t, 0),
                P**2 / (q * R) * (2 * P_slope / P - R_slope / R),
            ),
        )
    )


ENCLOSED = (SQUARES_FALL, CONCAVE, FALLS_AT_THE_END, SMALLER_BEYOND, SMALL_STEP)
"""The hypotheses on P and R over intervals. The steps hold without them, and canaries are refuted sooner without
them."""
_canary = partial(
    with_clause, replace(STATEMENT, hypotheses=tuple(h for h in STATEMENT.hypotheses if h not in ENCLOSED))
)


least_loss_with_the_query = Theorem(
    id="wang2024.least_loss_with_the_query",
    title="Stochastic encoding, attending to [Z, z_query]: population gradient descent converges to the least loss on "
    "the set, over C ≥ 0",
    source=Source("Theorem 2's convergence", "derived here", WANG2024, "the paper's proof is not known to us"),
    statement=STATEMENT,
    example={"T": 4, "q": 2, "d": 1, "d_e": 2, "eta": "1/200", "C_1": "1"},
    values={
        "least_loss": d / (2 * q) * (1 - largest_gain(T, q, d_e, 0, C_1, 1)),
        "step_size_bound": sp.Min((T + 1) ** 2 / T, 2 * d_e / (d * largest_logit_curvature(T, q, d_e, 0, C_1, 1))),
    },
    derivation=derivation,
    canaries=(
        _canary(
            "R may rise where P does",
            replace(
                MIXED_IS_NEGATIVE[0],
                conditions=(MIXED_IS_NEGATIVE[0].conditions[0], MIXED_IS_NEGATIVE[0].conditions[2]),
                says="",
            ),
        ),
        _canary(
            "R may rise",
            replace(NOT_CROSSED[1], conditions=NOT_CROSSED[1].conditions[1:], says=""),
        ),
        _canary(
            "twice the loss of an α that is not the best",
            replace(
                BEST_VALUE_SCALE,
                conclusion=sp.Eq(LOSS, d / (2 * q) * (1 - P**2 / (q * R)) + d * R * (alpha - P / (q * R)) ** 2),
                says="",
            ),
        ),
        _canary(
            "steps up to 2/b",
            replace(IN_A_STEP[2], conditions=(*IN_A_STEP[2].conditions[:3], sp.Lt(step * most, 2)), says=""),
        ),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
