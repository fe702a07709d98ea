r"""Population gradient descent on the set of Lemma 2: the loss falls at every step, and the run converges or |C| → ∞.

On V = (α I, 0), W = diag(0, C I), attending to Z, gradient descent on the whole matrices is gradient descent on L(a, c)
in a = √d α, c = √d_e C. The Frobenius norms of V and W are |a| and |c|.

The idea. α stays in the box 0 ≤ α ≤ √(T/q), because each step moves α towards the best α for the current C and not past
it. Let v be the logits over C. The mean of their variance under the attention is at most q, and bounds the slopes of P
and R in C. So the Hessian in the box has L_aa ≤ 1, |L_ac| ≤ β and L_cc ≤ β², and eigenvalues of at most 1 + β², with

    β² = 9d(T + 2/q)/(8 d_e),

and the descent lemma gives the fall of L. The steps and the argument contain the rest of the proof.

If the factor of the fall is positive, Σ ‖∇L‖² < ∞: the gradient tends to 0 along the run. L is analytic, so that
either |C| → ∞ or (α, C) converges to one stationary point of L on the set. (α, C) converges if some L_t is below the
infimum of L over α and |C| ≥ C_1. If ηβ² ≤ 1, C ≥ 0 throughout the run, and C ≥ C_1 is enough. Near a point with a
positive definite Hessian, of eigenvalues from λ to Λ, each step in the end multiplies the error by at most
max(1 − ηλ, ηΛ − 1) + δ, for every δ > 0. It is not proved that the limit has the least loss; `paper_checks` follow runs
to their limits. The proof of `descent_with_the_query` needs no box. The box and the curvatures are tested at small
sizes.

Source: Wang et al. 2024, Theorem 2, [abs]: gradient descent converges globally. The paper's step size and rate are not
known to us; these bounds are derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection import share_slopes as slopes
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
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)

A, beta, u, w = (sp.Symbol(name, positive=True) for name in ("A", "beta", "u", "w"))
best, pull, square = sp.symbols("best pull square", nonnegative=True)
P_bend, R_bend, cross, h_a, h_m, h_c, slope, C = sp.symbols("P_bend R_bend cross h_a h_m h_c slope C", real=True)
VARIABLES = (
    *(A, beta, u, w, best, pull, square, alpha, t, P, R, P_slope, R_slope),
    *(P_bend, R_bend, cross, h_a, h_m, h_c, slope, C, slopes.root_d, *slopes.VARIABLES),
)

BETA_SQUARED = 9 * d * (T + 2 / q) / (8 * d_e)

BEST_ALPHA = (
    Implication(
        "best_at_most_inverse",
        (sp.Gt(P, 0), sp.Gt(R, 0), sp.Ge(q * R, P**2)),
        sp.Le(P / (q * R), 1 / P),
        says="P/(qR) <= 1/P where q R >= P^2, P > 0, R > 0",
    ),
    Implication(
        "best_at_most_multiple",
        (sp.Gt(P, 0), sp.Gt(R, 0), sp.Ge(T * R, 1)),
        sp.Le(P / (q * R), T * P / q),
        says="P/(qR) <= T P/q where T R >= 1, P > 0, R > 0",
    ),
    Implication(
        "best_squared",
        (sp.Gt(P, 0), sp.Le(best, 1 / P), sp.Le(best, T * P / q)),
        sp.Le(q * best**2, T),
        says="q best^2 <= T where 0 <= best <= 1/P, best <= T P/q, P > 0",
    ),
)
NEXT_ALPHA = (
    Implication("step", (sp.Le(R, 1),), sp.Le(eta * R, 1), says="eta R <= 1 where R <= 1"),
    Implication(
        "next_alpha",
        (sp.Gt(R, 0),),
        sp.Eq(alpha - eta * (alpha * R - P / q), (1 - eta * R) * alpha + eta * R * (P / (q * R))),
        says="alpha - eta (alpha R - P/q) = (1 - eta R) alpha + eta R P/(qR) where R > 0",
    ),
    Implication(
        "between",
        (sp.Le(pull, 1), sp.Le(alpha, A), sp.Le(best, A)),
        sp.Le((1 - pull) * alpha + pull * best, A),
        says="(1 - pull) alpha + pull best <= A where 0 <= pull <= 1, alpha <= A, best <= A",
    ),
    Implication(
        "not_below",
        (sp.Le(pull, 1), sp.Ge(alpha, 0)),
        sp.Ge((1 - pull) * alpha + pull * best, 0),
        says="(1 - pull) alpha + pull best >= 0 where 0 <= pull <= 1, alpha >= 0, best >= 0",
    ),
)
MOVED_TWICE = LOSS.subs(
    {P: P + P_slope * t + P_bend * t**2 / 2, R: R + R_slope * t + R_bend * t**2 / 2}, simultaneous=True
)
SECOND_DERIVATIVES = (
    Identity("bend_in_alpha", sp.Derivative(LOSS, alpha, 2) / d, R, says="(1/d) d^2L/dalpha^2 = R"),
    Identity(
        "mixed_bend",
        sp.Subs(sp.Derivative(d * (alpha * (R + R_slope * t) - (P + P_slope * t) / q), t), t, 0),
        d * (alpha * R_slope - P_slope / q),
        says="d^2L/(dalpha dC), the slope of d (alpha R - P/q) in C, is d (alpha R' - P'/q)",
    ),
    Identity(
        "bend_in_C",
        sp.Subs(sp.Derivative(MOVED_TWICE, t, 2), t, 0) / d_e,
        d / (2 * d_e) * (alpha**2 * R_bend - 2 * alpha * P_bend / q),
        says="(1/d_e) d^2L/dC^2 = d/(2 d_e) (alpha^2 R'' - 2 alpha P''/q)",
    ),
)
TWICE_ALPHA = q * alpha**2 / 4 + 4 / q
MIXED_BOUND = 9 * h_a**2 / 8 + 9 * h_c**2
ENTRIES = (
    Implication(
        "first_part",
        (sp.Le(q * alpha**2, T), sp.Le(R_slope**2, q)),
        sp.Le((alpha * R_slope) ** 2, T),
        says="(alpha R')^2 <= T where q alpha^2 <= T, R'^2 <= q",
    ),
    Implication(
        "second_part",
        (sp.Le(4 * P_slope**2, q),),
        sp.Le(4 * q * (P_slope / q) ** 2, 1),
        says="4 q (P'/q)^2 <= 1 where 4 P'^2 <= q",
    ),
    Inequality("parts", sp.Le((h_a - h_c) ** 2, MIXED_BOUND), says="(x - y)^2 <= 9 x^2/8 + 9 y^2"),
    Implication(
        "mixed_entry",
        (sp.Le((h_a - h_c) ** 2, MIXED_BOUND), sp.Le(h_a**2, T), sp.Le(4 * q * h_c**2, 1)),
        sp.Le(d / d_e * (h_a - h_c) ** 2, BETA_SQUARED),
        says="d/d_e (x - y)^2 <= beta^2 where (x - y)^2 <= 9 x^2/8 + 9 y^2, x^2 <= T, 4 q y^2 <= 1",
    ),
    Implication(
        "third_part",
        (sp.Le(q * alpha**2, T), sp.Le(R_bend, 2 * q)),
        sp.Le(alpha**2 * R_bend, 2 * T),
        says="alpha^2 R'' <= 2T where q alpha^2 <= T, R'' <= 2q",
    ),
    Implication(
        "fourth_part",
        (sp.Ge(alpha, 0), sp.Ge(P_bend, -q)),
        sp.Le(-2 * alpha * P_bend / q, 2 * alpha),
        says="-2 alpha P''/q <= 2 alpha where alpha >= 0, P'' >= -q",
    ),
    Inequality("twice_alpha", sp.Le(2 * alpha, TWICE_ALPHA), says="2 alpha <= q alpha^2/4 + 4/q"),
    Implication(
        "third_and_fourth",
        (sp.Le(h_a, 2 * T), sp.Le(h_c, 2 * alpha), sp.Le(2 * alpha, TWICE_ALPHA), sp.Le(q * alpha**2, T)),
        sp.Le(h_a + h_c, 9 * T / 4 + 4 / q),
        says="x + y <= 9T/4 + 4/q where x <= 2T, y <= 2 alpha <= q alpha^2/4 + 4/q, q alpha^2 <= T",
    ),
    Implication(
        "entry_of_C",
        (sp.Le(h_c, 9 * T / 4 + 4 / q),),
        sp.Le(d / (2 * d_e) * h_c, BETA_SQUARED),
        says="d/(2 d_e) x <= beta^2 where x <= 9T/4 + 4/q",
    ),
)
PRODUCT = Inequality("product", sp.Le(2 * h_m * u * w, h_m**2 * u**2 + w**2), says="2 h u w <= h^2 u^2 + w^2")
EIGENVALUE = Implication(
    "eigenvalue",
    (sp.Le(h_a, 1), sp.Le(h_m**2, square), sp.Le(h_c, square), sp.Le(2 * h_m * u * w, h_m**2 * u**2 + w**2)),
    sp.Le(h_a * u**2 + 2 * h_m * u * w + h_c * w**2, (1 + square) * (u**2 + w**2)),
    says="h_a u^2 + 2 h u w + h_c w^2 <= (1 + b)(u^2 + w^2) where h_a <= 1, h^2 <= b, h_c <= b, "
    "2 h u w <= h^2 u^2 + w^2",
)
NEXT_C = Implication(
    "next_C",
    (sp.Ge(C, 0), sp.Le(slope, square * C), sp.Le(eta * square, 1)),
    sp.Ge(C - eta * slope, 0),
    says="C - eta slope >= 0 where C >= 0, slope <= b C, eta b <= 1",
)
SLOPE_AT_ZERO = Implication(
    "slope_at_zero",
    (sp.Ge(alpha, 0), sp.Eq(R_slope, 0), sp.Eq(P_slope, (q - q * (q / T)) / T)),
    sp.Le(d / (2 * d_e) * (alpha**2 * R_slope - 2 * alpha * P_slope / q), 0),
    says="d/(2 d_e) (alpha^2 R' - 2 alpha P'/q) <= 0 where alpha >= 0, R' = 0, P' = (q - q q/T)/T",
)
MULTIPLIER = Implication(
    "multiplier",
    (sp.Lt(eta * (1 + square), 2), sp.Le(h_a, 1 + square)),
    sp.Gt(1 - eta * h_a, -1),
    says="1 - eta lambda > -1 where lambda <= 1 + b, eta (1 + b) < 2",
)
DESCENT = Inequality(
    "descent",
    sp.Gt(eta * (1 - eta * (1 + BETA_SQUARED) / 2), 0),
    says="eta (1 - eta (1 + beta^2)/2) > 0: with a curvature of at most 1 + beta^2 each step lowers the loss",
)
FALLS = InWords(
    "falls",
    "at every step the loss falls by at least eta (1 - eta (1 + beta^2)/2) |grad L|^2, beta^2 = 9d(T+2/q)/(8 d_e)",
)
VANISHES = InWords(
    "vanishes",
    "the sum of |grad L|^2 over all steps is at most d/(2q) over eta (1 - eta (1+beta^2)/2): the gradient tends to 0",
)
NONNEGATIVE = InWords("nonnegative", "where eta beta^2 <= 1, C >= 0 at every step")
CONVERGES = InWords(
    "converges",
    "either |C| tends to infinity, or (alpha, C) converges to one stationary point of L on the set; it converges if "
    "at a step L is below its infimum over alpha and |C| >= C_1, for some C_1",
)
GEOMETRIC = InWords(
    "geometric",
    "where the Hessian in (sqrt(d) alpha, sqrt(d_e) C) at that point has eigenvalues from lambda > 0 to Lambda, each "
    "step in the end multiplies the distance to it in these coordinates by at most max(1 - eta lambda, eta Lambda - "
    "1) + delta, for every delta > 0; the maximum is below 1",
)
FALL = eta * (1 - eta * (1 + BETA_SQUARED) / 2)
SHARE_OF_THE_LENGTH = Implication(
    "share_of_the_length",
    (sp.Ge(h_a, FALL * u**2), sp.Eq(w, eta * u)),
    sp.Ge(h_a, (1 - eta * (1 + BETA_SQUARED) / 2) * u * w),
    says="x >= (1 - eta (1 + beta^2)/2) g l where x >= eta (1 - eta (1 + beta^2)/2) g^2, l = eta g",
)
EVALUATIONS = {
    "falls": Evaluation(
        sign_runs.falls(False, FALL),
        "at every step the loss falls by at least eta |grad L|^2",
        sign_runs.falls(False, eta),
        draws=100,
    ),
    "vanishes": Evaluation(
        sign_runs.vanishes(False, d / (2 * q) / FALL),
        "the sum of |grad L|^2 over all steps is at most d/(4 q eta)",
        sign_runs.vanishes(False, d / (4 * q * eta)),
        draws=100,
    ),
    "nonnegative": Evaluation(
        sign_runs.nonnegative(False, slack=1 - eta * BETA_SQUARED),
        "where eta beta^2 <= 1, C >= 1/1000 at every step but the start",
        sign_runs.nonnegative(False, least=1e-3, slack=1 - eta * BETA_SQUARED),
        draws=100,
    ),
    "converges": Evaluation(
        sign_runs.converges(False),
        "either |C| tends to infinity, or (alpha, C/2) converges to a stationary point of L on the set",
        sign_runs.converges(False, place=0.5),
        draws=100,
        limit=True,
    ),
    "geometric": Evaluation(
        sign_runs.geometric(False, lambda eta, least, largest: max(1 - eta * least, eta * largest - 1)),
        "the same with max(1 - 2 eta lambda, eta Lambda - 1)",
        sign_runs.geometric(False, lambda eta, least, largest: max(1 - 2 * eta * least, eta * largest - 1)),
        draws=100,
        limit=True,
    ),
}
SMALL_STEP = Hypothesis("small_step", sp.Lt(eta * (1 + BETA_SQUARED), 2), text="eta (1 + beta^2) < 2")
AT_MOST_ONE = Hypothesis("at_most_one", sp.Le(eta, 1))
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, STEP_SIZE),
    domain=(SUBSET_FITS,),
    hypotheses=(
        *(GAUSSIAN_TOKENS, SIGN_ENCODING, ZERO_QUERY, ZERO_INITIALISATION, POPULATION_GRADIENT),
        *(AT_MOST_ONE, SMALL_STEP),
    ),
    variables=VARIABLES,
    claims=(FALLS, VANISHES, NONNEGATIVE, CONVERGES, GEOMETRIC),
    steps=(
        *(*BEST_ALPHA, *NEXT_ALPHA, *slopes.OF_THE_SHARES, *slopes.FOR_AN_ENCODING, *slopes.DERIVATIVES),
        *(*SECOND_DERIVATIVES, *ENTRIES, PRODUCT, EIGENVALUE, DESCENT, NEXT_C, SLOPE_AT_ZERO, MULTIPLIER),
        *(SHARE_OF_THE_LENGTH, VALUE_STEP, SCALE_STEP, *slopes.SCALED),
    ),
)
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "shares", "qR ≥ P², over the selected tokens, and TR ≥ 1, over all of them", ("zero_query",), "Cauchy-Schwarz"
    ),
    Inference(
        "best_alpha",
        "the best α, P/(qR), is at most both 1/P and TP/q, hence √(T/q)",
        ("shares", *(step.label for step in BEST_ALPHA)),
        "application",
    ),
    Inference(
        "range",
        "as R ≤ Σ p_i = 1, a step takes α to a value between α and the best α, so that 0 ≤ α ≤ A = √(T/q) along the "
        "run and on the segments between iterates",
        (
            *("best_alpha", *(step.label for step in NEXT_ALPHA), "square_of_a_share", "at_most_one"),
            "zero_initialisation",
            *("wang2024.lemma2", "signs_are_symmetric", "gaussian_tokens"),
        ),
        "induction",
    ),
    Inference(
        "logit",
        "a token's logit over C is the inner product of its encoding, whose entries are ±1/√d_e, with s = Σ_y e_i: its "
        "square is at most |s|²",
        ("sign_encoding", "zero_query"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "variance",
        "the variance of the logits over C under the attention is at most |s|² too, and E|s|² over the encodings is q",
        ("logit", "sign_encoding", "variance_at_most"),
        "linearity of expectation",
    ),
    Inference(
        "halves",
        "Σ p_i x_i = 0 for x_i = v_i − v̄: any part of this sum, and each p_i x_i, is at most Σ p_j|x_j|/2 in size",
        ("zero_query",),
        rules.HALF_OF_A_VANISHING_SUM,
    ),
    Inference(
        "of_the_shares",
        "P and R are means of sums of shares and their squares: P' = E Σ_y p_i x_i, P'' = E Σ_y p_i (x_i² − Var v), "
        "R' = 2 E Σ p_i² x_i and R'' = E (4 Σ p_i² x_i² − 2 Var v Σ p_i²)",
        ("wang2024.lemma2:steps", "signs_are_symmetric", "logit", *(step.label for step in slopes.OF_THE_SHARES)),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "for_an_encoding",
        "let s = Σ p_j|x_j|, whose square is at most Var v: |Σ_y p_i x_i| is at most s/2, and so is Σ p_i²|x_i|, "
        "because Σ p_i = 1; Σ p_i² x_i² is at most s²/2; Σ_y p_i x_i² ≤ Var v, and Σ_y p_i and Σ p_i² are at most 1",
        ("halves", "variance", "share_of_a_term", "square_of_a_term", "square_of_a_share"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "derivatives",
        "|P'| ≤ √q/2, |R'| ≤ √q, |P''| ≤ q and |R''| ≤ 2q: for one encoding the steps give these bounds with |s|² for "
        "q; for the mean use (E|s|)² ≤ E|s|² = q",
        ("of_the_shares", "for_an_encoding", "variance", *(step.label for step in slopes.DERIVATIVES)),
        "Cauchy-Schwarz",
    ),
    Inference(
        "entries",
        "in (√d α, √d_e C) the second derivatives in α, mixed and in C are divided by d, √(d d_e) and d_e; in the box "
        "these entries h_a, h and h_c of the Hessian satisfy h_a ≤ 1, h² ≤ β² and h_c ≤ β²",
        (
            *("range", "derivatives", *(step.label for step in (*SECOND_DERIVATIVES, *ENTRIES))),
            *("wang2024.lemma2:loss_on_the_set", "wang2024.lemma2:steps", "signs_are_symmetric"),
        ),
        rules.CHAIN_RULE,
    ),
    Inference(
        "largest_curvature",
        "the Hessian's form is at most (1 + β²)|v|², so that no eigenvalue is above 1 + β²",
        ("entries", "product", "eigenvalue"),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "falls",
        "a step is −η times the gradient in √d α and √d_e C, whose norm is |grad L|: the loss falls by at least "
        "η (1 − η(1 + β²)/2) |grad L|², whose factor is positive",
        (
            *("largest_curvature", "range", "wang2024.lemma2:kept", "signs_are_symmetric"),
            *("descent", "small_step", "population_gradient", "scaled_norm", "scaled_step"),
        ),
        rules.DESCENT_LEMMA,
    ),
    Inference(
        "vanishes",
        "L is d/(2q) at the start, where α = C = 0, and never negative: these falls add up to d/(2q) at most",
        ("falls", "wang2024.lemma2:loss_on_the_set", "signs_are_symmetric", "zero_initialisation"),
        "telescoping",
    ),
    Inference(
        "slope_in_C",
        "at C = 0 all shares are 1/T: R' = 0, as Σ x_i = 0, and P' = (q − q q/T)/T, as E Σ_y v_i = E|s|² = q and "
        "E v̄ = q/T. So the slope in C is at most 0 there, and at C > 0 at most d_e β² C",
        (
            *("entries", "range", "of_the_shares", "variance", "slope_at_zero"),
            *("wang2024.lemma2:steps", "signs_are_symmetric"),
        ),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference(
        "nonnegative",
        "C = 0 at the start, and a step from C ≥ 0 leads to C ≥ 0",
        ("slope_in_C", "next_C", "wang2024.lemma2:steps", "signs_are_symmetric", "zero_initialisation"),
        "induction",
    ),
    Inference(
        "analytic",
        "on the set L is a mean over finitely many encodings of functions of α and C that are analytic everywhere; "
        "a step adds −η/d ∂L/∂α to α and −η/d_e ∂L/∂C to C: it is −η times the gradient in (√d α, √d_e C)",
        (
            *("wang2024.lemma2:loss_on_the_set", "wang2024.lemma2:steps", "signs_are_symmetric"),
            *("value_step", "scale_step", "scaled_step"),
        ),
        "linearity of expectation",
    ),
    Inference(
        "one_limit",
        "each step lowers L by at least a fixed multiple of |∇L| times the step's length, and a step is 0 if L does "
        "not fall: (α, C) tends to infinity, or converges to a point where the gradient vanishes; α is bounded",
        ("analytic", "falls", "vanishes", "range", "share_of_the_length", "descent"),
        rules.DESCENT_OF_ANALYTIC_FUNCTIONS,
    ),
    Inference(
        "converges",
        "L does not rise: once it is below its infimum over |C| ≥ C_1, |C| < C_1 from then on, and the run does not "
        "tend to infinity",
        ("one_limit", "falls"),
        "case distinction",
    ),
    Inference(
        "geometric",
        "a step's derivative at the limit is I − ηH, symmetric, with the eigenvalues 1 − ηλ, which are between −1 and "
        "1, as no eigenvalue of H is above 1 + β² < 2/η",
        ("converges", "analytic", "largest_curvature", "small_step", "multiplier"),
        rules.DERIVATIVE,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the eigenvalue of the Hessian's bound, a completed square, the change of the loss in a step."""
    gradient = sp.Symbol("gradient", positive=True)
    return Derivation(
        (
            Step(
                "the Hessian's bound [[1, β], [β, β²]] has the eigenvalue 1 + β², at (1, β): its second row",
                beta * 1 + beta**2 * beta,
                (1 + beta**2) * beta,
            ),
            Step(
                "(A + 1/(2q))² exceeds A² + A/q by",
                (A + 1 / (2 * q)) ** 2 - A**2 - A / q,
                1 / (4 * q**2),
            ),
            Step(
                "a step −η∇L along a curvature of at most 1 + β² changes the loss by at most",
                -eta * gradient**2 + (1 + beta**2) * (eta * gradient) ** 2 / 2,
                -eta * (1 - eta * (1 + beta**2) / 2) * gradient**2,
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


descent_on_the_set = Theorem(
    id="wang2024.descent_on_the_set",
    title="Stochastic encoding, attending to Z: population gradient descent lowers the loss and converges, or |C| → ∞",
    source=Source("Theorem 2's step size", "derived here", WANG2024, "the paper's is not known to us"),
    statement=STATEMENT,
    example={"T": 200, "q": 3, "d": 5, "d_e": 1700, "eta": "1"},
    values={"largest_step_size": 2 / (1 + BETA_SQUARED)},
    derivation=derivation,
    canaries=(
        _canary("twice the step", replace(DESCENT, relation=sp.Gt(eta * (1 - eta * (1 + BETA_SQUARED)), 0))),
        _canary(
            "the eigenvalue 1 + beta^2/2",
            replace(
                EIGENVALUE,
                conclusion=sp.Le(h_a * u**2 + 2 * h_m * u * w + h_c * w**2, (1 + square / 2) * (u**2 + w**2)),
            ),
        ),
        _canary("8 for 9", replace(ENTRIES[2], relation=sp.Le((h_a - h_c) ** 2, 8 * (h_a**2 / 8 + h_c**2)))),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
