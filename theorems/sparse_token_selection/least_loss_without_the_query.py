r"""Attending to Z: population descent from zero converges to the point of the least loss on the set, over C ≥ 0.

The names are those of `least_loss_with_the_query`: a step subtracts η_t f from α and η_t g from C,

    f = αR − P/q,    g = κ(α²R' − 2αP'/q),    κ = d/(2d_e),    m = αR' − P'/q,    r = √(d_e/d),

so that rC and α are √d_e C and √d α divided by √d. log G has the slope 2P'/P − R'/R.

*The idea.* Without the query's column R rises in C, and near the point of the least loss m is positive: a larger α
slows C down. But α moves faster: the curvature R in α is above the curvature in C, h = κ(α²R'' − 2αP''/q). So no step
leaves the cone

    |f| ≤ r |g|,    g < 0:

each of f − rg ≥ 0 and −f − rg ≥ 0 shrinks by a fraction of itself and grows by r|g|(R − h) ≥ 0, and |g| shrinks by a
fraction of itself. In the cone C rises. C does not reach the C_* at which G is largest: there g = κα(R'/R) f, and
r|g| < |f|, as rκαR'/R < 1. So C converges, and so does α, as |f| ≤ r|g|. The limit is a stationary point, and C_* is
the only C of a stationary point.

*Into the cone.* At first g = 0. While P/(qR), the best α, rises in C, m < 0 where f < 0, and both slopes stay negative
as in `least_loss_with_the_query`. Outside the cone α grows by more than r times the growth of C. As α is below the best
α, the run enters the cone before C reaches the C_0 with √(d/d_e) P/(qR) < C_0.

The step size is bounded by ηM < 1, where M bounds R + |m|/r: M < 0.43 at T = 200, q = 3, d = 5, d_e = 170. For q ≤ 2,
G has no largest value, and `smaller_beyond` fails.

The hypotheses on P and R are checked by enclosures at an instance (`share_curves`), and not proved for all sizes.

Source: Wang et al. 2024, Theorem 2, [abs]: gradient descent converges globally. The proof is ours.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection import share_slopes, slopes_on_the_set as slopes
from theorems.sparse_token_selection.cone_of_slopes import (
    AT_THE_TURN,
    C_0,
    CONE,
    FIRST_STEP,
    SIZES,
    WHILE_THE_SCALE_RISES,
    C,
    bend_of_selected,
    bend_of_squares,
    bound,
    ratio,
    steepness,
    total,
    weight,
    z,
)
from theorems.sparse_token_selection.descent_on_the_set import NEXT_ALPHA as BETWEEN
from theorems.sparse_token_selection.gain_primitives import squared_attention
from theorems.sparse_token_selection.invariant_set import SCALE_STEP, VALUE_STEP, P, R, alpha
from theorems.sparse_token_selection.least_loss_with_the_query import C_1, CONVERGES, END, GEOMETRIC
from theorems.sparse_token_selection.share_curve_primitives import (
    gain_beyond,
    largest_gain,
    largest_gain_bend,
    largest_gain_slope,
    largest_selected_bend,
    largest_squares_bend,
    largest_squares_slope,
    largest_value_scale,
    largest_value_scale_fall,
)
from theorems.sparse_token_selection.slopes_on_the_set import (
    BEST_VALUE_SCALE,
    CURVATURE_AT_MOST,
    DETERMINANT,
    IN_A_STEP,
    NEXT_ALPHA,
    OF_THE_SHARES,
    POSITIVE_DEFINITE,
    SECOND_DERIVATIVES,
    SLOPE_IN_C,
    STATIONARY,
    P_slope,
    curvature,
    f,
    g,
    mixed,
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
    ZERO_QUERY,
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
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
)

_ALPHA = sorted({symbol for clause in BETWEEN[2:] for symbol in clause.conclusion.free_symbols}, key=str)
VARIABLES = tuple(
    dict.fromkeys(
        (
            *slopes.VARIABLES,
            *(ratio, bound, steepness, total, bend_of_squares, bend_of_selected, C, weight, z, *_ALPHA),
        )
    )
)
STEPS = (
    *(*share_slopes.OF_THE_SHARES, *SECOND_DERIVATIVES, *SLOPE_IN_C, *CURVATURE_AT_MOST[:2], *IN_A_STEP[:3]),
    *(NEXT_ALPHA, *BETWEEN[2:], *WHILE_THE_SCALE_RISES, *CONE, *AT_THE_TURN, *SIZES, *FIRST_STEP, *STATIONARY),
    *(BEST_VALUE_SCALE, DETERMINANT, POSITIVE_DEFINITE, VALUE_STEP, SCALE_STEP),
)

BEGINNING = Parameter("C_0", "rational", "C up to which P/(qR) rises", above=0)
_A = largest_value_scale(T, q, d_e, 0, C_1, 0)
_L = largest_squares_slope(T, q, d_e, 0, C_1, 0)
_RATIO = sp.sqrt(d / d_e)
SOME_OTHERS = Hypothesis("some_others", sp.Lt(q, T))
ENDS_IN_ORDER = Hypothesis("ends_in_order", sp.Le(C_0, C_1))
SCALE_RISES = Hypothesis(
    "scale_rises",
    sp.Lt(largest_value_scale_fall(T, q, d_e, 0, C_0, 0), 0),
    "P/(qR), the best alpha at a C, rises in C on [0, C_0], P and R the means of the sums of p_i over y and of p_i^2 "
    "over all T",
)
FAR_ENOUGH = Hypothesis(
    "far_enough",
    sp.Lt(_RATIO * largest_value_scale(T, q, d_e, C_0, C_0, 0), C_0),
    "(d/d_e)^(1/2) P/(qR) < C_0 at C_0",
)
CONCAVE = Hypothesis(
    "concave",
    sp.Lt(largest_gain_bend(T, q, d_e, 0, C_1, 0), 0),
    "log G is concave on [0, C_1], G = P^2/(qR): its second derivative is negative",
)
FALLS_AT_THE_END = Hypothesis(
    "falls_at_the_end", sp.Lt(largest_gain_slope(T, q, d_e, C_1, C_1, 0), 0), "log G falls in C at C_1"
)
SMALLER_BEYOND = Hypothesis(
    "smaller_beyond",
    sp.Lt(gain_beyond(T, q, d_e, C_1, 0), largest_gain(T, q, d_e, 0, C_1, 0)),
    "the supremum of G over C >= C_1 is less than its largest value on [0, C_1]",
)
ALPHA_IS_FASTER = Hypothesis(
    "alpha_is_faster",
    sp.Le(
        d
        / (2 * d_e)
        * (_A**2 * largest_squares_bend(T, q, d_e, 0, C_1, 0) + 2 * _A * largest_selected_bend(T, q, d_e, 0, C_1, 0)),
        1,
    ),
    "d/(2 d_e) (A^2 b_R + 2 A b_P) <= 1, A, b_R and b_P the largest P/(qR), max(R'', 0)/R and max(-P'', 0)/(qR) on [0, "
    "C_1]",
)
NOT_STEEP = Hypothesis(
    "not_steep",
    sp.Lt(_RATIO * _A * _L, 2),
    "(d/d_e)^(1/2) A l < 2, l the largest R'/R on [0, C_1]",
)
SMALL_STEP = Hypothesis(
    "small_step",
    sp.Lt(eta * squared_attention(T, q, d_e, C_1, 0) * (1 + _RATIO * _A * (1 + _L)), 1),
    "eta R (1 + (d/d_e)^(1/2) A (1 + l)) < 1 for R at C_1",
)
RISES = InWords(
    "rises",
    "for any step sizes eta_t in (0, eta] descent stays on V = (alpha I, 0), W = diag(0, C I); C rises at every step "
    "but the first, and stays below the one C at which G is largest",
)
EVALUATIONS = {
    "rises": Evaluation(
        sign_runs.rises(query=False),
        "for any step sizes eta_t in (0, eta] C rises by at least eta_t at every step but the first",
        sign_runs.rises(query=False, least=1.0),
        draws=100,
    ),
    "converges": Evaluation(
        sign_runs.ends_at_the_least_loss(query=False),
        "(alpha, C) converges to a point at which C is half of that of the least loss over alpha and C >= 0",
        sign_runs.ends_at_the_least_loss(query=False, place=0.5),
        draws=100,
        limit=True,
    ),
    "geometric": Evaluation(
        sign_runs.geometric(False, lambda eta, least, _: 1 - eta * least),
        "the same with 1 - 2 eta lambda",
        sign_runs.geometric(False, lambda eta, least, _: 1 - 2 * eta * least),
        draws=100,
        limit=True,
    ),
}
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, STEP_SIZE, BEGINNING, END),
    domain=(SUBSET_FITS,),
    hypotheses=(
        *(GAUSSIAN_TOKENS, SIGN_ENCODING, ZERO_QUERY, ZERO_INITIALISATION, POPULATION_GRADIENT, SOME_OTHERS),
        *(ENDS_IN_ORDER, SCALE_RISES, FAR_ENOUGH, CONCAVE, FALLS_AT_THE_END, SMALLER_BEYOND, ALPHA_IS_FASTER),
        *(NOT_STEEP, SMALL_STEP),
    ),
    variables=VARIABLES,
    claims=(RISES, CONVERGES, GEOMETRIC),
    steps=STEPS,
)
_LEMMA = ("wang2024.lemma2:loss_on_the_set", "wang2024.lemma2:steps", "signs_are_symmetric")
_FACTORS = ("factors_of_g", "positive_factor", "negative_factor")
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    OF_THE_SHARES,
    Inference(
        "squares_rise",
        "R' = 2E Σ p_i · p_i (v_i − v̄) ≥ 0 for C ≥ 0, as Σ p_i (v_i − v̄) = 0 and p_i rises with v_i",
        ("of_the_shares", "zero_query"),
        rules.CHEBYSHEV_SUM_INEQUALITY,
    ),
    Inference(
        "slopes",
        "a step subtracts η_t f from α and η_t g from C; ∂f/∂α = R, ∂f/∂C = m, ∂g/∂α = d/d_e m and ∂g/∂C = d/(2d_e) "
        "(α²R'' − 2αP''/q), m = αR' − P'/q",
        (
            *(*_LEMMA, "population_gradient", "value_step", "scale_step", "of_the_shares"),
            *(clause.label for clause in SECOND_DERIVATIVES),
        ),
        "definition",
    ),
    Inference(
        "at_zero",
        "at C = 0 all shares are 1/T: P = q/T, and R' = 0, as Σ (v_i − v̄) = 0; as E|Σ_y e_i|² = q = E Σ_y v_i and E "
        "v̄ = q/T, P' = (q − q q/T)/T, which is positive, and the slope of log G is at most 2",
        ("of_the_shares", "sign_encoding", "zero_query", "some_others", "slope_of_P_at_zero", "slope_of_G_at_zero"),
        "linearity of expectation",
    ),
    Inference(
        "one_turn",
        "the slope of log G falls on [0, C_1] from 2P'/P, which is positive and at most 2, to a negative value at C_1: "
        "it is 0 at one C_* in (0, C_1). G rises before C_* and falls after it, and P' ≥ 0 on [0, C_*], as R' ≥ 0",
        ("of_the_shares", "at_zero", "squares_rise", "concave", "falls_at_the_end"),
        rules.INTERMEDIATE_VALUE,
    ),
    Inference(
        "alpha_in_a_box",
        "as R ≤ R(C_1), ηR < 1: a step takes α to a value between α and P/(qR) at the step's C. So, from α = 0 on, as "
        "long as 0 ≤ C ≤ C_1 at all iterates so far, 0 ≤ α ≤ A at these iterates and on the steps from them",
        (
            *("of_the_shares", "squares_rise", "slopes", "zero_initialisation", "small_step", "next_alpha"),
            *(clause.label for clause in BETWEEN[2:]),
        ),
        "induction",
    ),
    Inference(
        "sizes",
        "for 0 ≤ α ≤ A and 0 ≤ C ≤ C_*: R + |m|/r ≤ M = R(C_1) (1 + A(1 + l)/r), as R rises, R' ≤ lR and 0 ≤ P' ≤ (1 + "
        "l/2) P, P ≤ qAR; and ηM < 1; and h = ∂g/∂C ≤ R",
        (
            *("of_the_shares", "squares_rise", "one_turn", "at_zero", "alpha_is_faster", "not_steep", "small_step"),
            *("slopes", "bend_of_R", "bend_of_P", *(clause.label for clause in SIZES[:-1])),
        ),
        "application",
    ),
    Inference(
        "mixed_is_negative",
        "on [0, C_0] P'/P > R'/R, so that m < 0 where f ≤ 0, and the slope of log G is positive there: C_0 < C_*",
        (
            *("of_the_shares", "squares_rise", "scale_rises", "ends_in_order", "one_turn"),
            *("product_while_the_scale_rises", "factor_below_zero", "slope_of_G_while_the_scale_rises"),
        ),
        "application",
    ),
    Inference(
        "as_far_as",
        "let f = f_0 and g = g_0 at the start of a step, and let α > 0, 0 ≤ C < C_0, f < 0 and g < 0 at its points for "
        "all step sizes from 0 to below s, 0 < s ≤ η_t, so that α < P/(qR) ≤ A there. At its point for step size s, "
        "f ≤ f_0 (1 − sM) and g ≤ g_0 (1 − sM), both negative",
        ("of_the_shares", "slopes", "mixed_is_negative", "sizes", *(clause.label for clause in IN_A_STEP[:3])),
        rules.SIGN_OF_THE_SLOPE,
    ),
    Inference(
        "first",
        "the first step leaves C at 0, as g = 0 at α = 0, and leads to α = η_0 P/q > 0, where f < 0 and g < 0",
        (
            *("slopes", "at_zero", "of_the_shares", "some_others", "zero_initialisation", "small_step", "sizes"),
            *("f_after_a_step", "g_after_a_step"),
        ),
        "application",
    ),
    Inference(
        "whole_steps_outside",
        "let a step begin with f < 0, g < 0 and rC ≤ α, outside the cone |f| ≤ −rg. On the step α − rC rises, so that "
        "rC ≤ α. If moreover f ≤ 0 at a point of the step, α ≤ P/(qR) there, which is at most its value at C_0 and so "
        "below rC_0: C < C_0 (beyond_the_end). So the step sizes up to which C < C_0, f < 0 and g < 0 form a set that "
        "is open and closed in [0, η_t]: these hold on the whole step",
        ("as_far_as", "of_the_shares", "scale_rises", "far_enough", "beyond_the_end", "slopes"),
        rules.CONNECTEDNESS,
    ),
    Inference(
        "outside",
        "from the first step's end on, α > 0, rC ≤ α, C < C_0, f < 0 and g < 0 as long as the run is outside the cone, "
        "and at the first step in it",
        ("first", "whole_steps_outside"),
        "induction",
    ),
    Inference(
        "enters",
        "if the η_t add up to infinity, the run enters the cone. If it stayed outside, α and C would rise, be bounded, "
        "and converge. With f or g negative in the limit, α or C would rise without bound; so the limit would be a "
        "stationary point with C ≤ C_0, but the slope of log G is positive on [0, C_0]",
        (
            *("outside", "mixed_is_negative", "best_alpha", "stationary", *_FACTORS),
            *("of_the_shares", "slopes"),
        ),
        rules.MONOTONE_SEQUENCES,
    ),
    Inference(
        "in_the_cone",
        "let a step begin in the cone, g_0 < 0 and |f_0| ≤ −rg_0, with 0 ≤ α ≤ A and 0 ≤ C < C_*, and let C < C_* at "
        "its points for step sizes below s. At all its points up to step size s, f − rg ≥ (1 − sM)(f_0 − rg_0) ≥ 0, "
        "−f − rg ≥ (1 − sM)(−f_0 − rg_0) ≥ 0 and g ≤ (1 − sM) g_0 < 0, and C has not fallen, as g_0 < 0",
        (
            *("slopes", "sizes", "alpha_in_a_box", "still_nonnegative", "still_negative"),
            *(clause.label for clause in CONE[:-1]),
        ),
        rules.SIGN_OF_THE_SLOPE,
    ),
    Inference(
        "below_the_turn",
        "moreover C ≠ C_* at these points: at C_*, g = κα(R'/R) f, so that g < 0 would make f < rg, but f − rg ≥ 0",
        (
            *("in_the_cone", "one_turn", "of_the_shares", "squares_rise", "not_steep", "alpha_in_a_box"),
            *(clause.label for clause in AT_THE_TURN),
        ),
        "case distinction",
    ),
    Inference(
        "stays_in_the_cone",
        "so the step sizes up to which C < C_* form a set that is open and closed in [0, η_t]: the whole step is in "
        "the cone, with C < C_*",
        ("in_the_cone", "below_the_turn"),
        rules.CONNECTEDNESS,
    ),
    Inference(
        "rises",
        "at every step but the first g < 0 and C < C_*, both outside the cone, where C < C_0 < C_*, and in the cone",
        (
            *("first", "outside", "stays_in_the_cone", "slopes", "one_turn", "mixed_is_negative", "alpha_in_a_box"),
            *("smaller_beyond", "wang2024.lemma2:kept"),
        ),
        "induction",
    ),
    Inference(
        "limit",
        "C rises and is bounded: it converges. If the η_t add up to infinity, the run is in the cone from some step "
        "on, and there α moves by at most r times as much as C, whose moves have a finite sum: α converges too, and f "
        "and g tend to their values at the limit, with |f| ≤ −rg",
        ("rises", "enters", "stays_in_the_cone", "slopes", "of_the_shares"),
        rules.MONOTONE_SEQUENCES,
    ),
    Inference(
        "stationary_limit",
        "if the η_t add up to infinity, g = 0 at the limit: if g were negative there, from some step on C would rise "
        "by at least a fixed multiple of η_t, and so without bound. Then f = 0 as well, so that α = P/(qR) > 0, and "
        "the slope of log G is 0 there: C = C_*",
        ("limit", "slopes", "best_alpha", "stationary", *_FACTORS, "one_turn", "of_the_shares"),
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
        "mixed entry is d/d_e m². At the limit R > 0, and the determinant, −d/(2d_e) (P/q)² (log G)'', is positive: "
        "so is the least eigenvalue λ",
        ("stationary_limit", "slopes", "concave", "determinant", "positive_determinant", "of_the_shares"),
        rules.SYLVESTER_CRITERION,
    ),
    Inference(
        "eigenvalues",
        "the Hessian's form is at most M |v|², so that its eigenvalues are from λ to M < 1/η",
        ("positive_definite", "sizes", "form_at_most"),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "geometric",
        "a step's derivative at the limit is I − ηH, symmetric, with eigenvalues in (0, 1 − ηλ]",
        ("eigenvalues", "converges"),
        rules.DERIVATIVE,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the slopes at the turn of G, and the cone's sides."""
    u = sp.Symbol("u", real=True)
    return Derivation(
        (
            Step(
                "at the turn of log G, R' = 2P'R/P, the slope in C vanishes with that in α",
                alpha * (2 * P_slope * R / P) - 2 * P_slope / q,
                2 * P_slope / P * (alpha * R - P / q),
            ),
            Step(
                "the change of f − rg, for f = u + rg",
                (-R * (u + ratio * g) - mixed * g) - ratio * (-mixed / ratio**2 * (u + ratio * g) - curvature * g),
                -(R - mixed / ratio) * u + ratio * g * (curvature - R),
            ),
            Step(
                "the change of −f − rg, for f = −u − rg",
                -(R * (u + ratio * g) - mixed * g) - ratio * (mixed / ratio**2 * (u + ratio * g) - curvature * g),
                -(R + mixed / ratio) * u + ratio * g * (curvature - R),
            ),
        )
    )


ENCLOSED = (SCALE_RISES, FAR_ENOUGH, CONCAVE, FALLS_AT_THE_END, SMALLER_BEYOND, ALPHA_IS_FASTER, NOT_STEEP, SMALL_STEP)
"""The hypotheses on P and R over intervals. The steps hold without them, and canaries are refuted sooner without
them."""
_canary = partial(
    with_clause, replace(STATEMENT, hypotheses=tuple(h for h in STATEMENT.hypotheses if h not in ENCLOSED))
)


least_loss_without_the_query = Theorem(
    id="wang2024.least_loss_without_the_query",
    title="Stochastic encoding, attending to Z: population gradient descent converges to the least loss on the set, "
    "over C ≥ 0",
    source=Source("Theorem 2's convergence", "derived here", WANG2024, "the paper's proof is not known to us"),
    statement=STATEMENT,
    example={"T": 6, "q": 3, "d": 1, "d_e": 12, "eta": "1/200", "C_0": "1/2", "C_1": "3/2"},
    values={
        "least_loss": d / (2 * q) * (1 - largest_gain(T, q, d_e, 0, C_1, 0)),
        "step_size_bound": 1 / (squared_attention(T, q, d_e, C_1, 0) * (1 + _RATIO * _A * (1 + _L))),
    },
    derivation=derivation,
    canaries=(
        _canary(
            "a cone in which α is slower",
            replace(CONE[0], conditions=tuple(c for c in CONE[0].conditions if c != sp.Le(curvature, R)), says=""),
        ),
        _canary(
            "twice the slope at the turn",
            replace(AT_THE_TURN[2], conditions=(sp.Eq(g, x / ratio**2 * f), *AT_THE_TURN[2].conditions[1:]), says=""),
        ),
        _canary(
            "P/(qR) may fall",
            replace(WHILE_THE_SCALE_RISES[3], conditions=WHILE_THE_SCALE_RISES[3].conditions[:3], says=""),
        ),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
