r"""Attending to [Z, z_query]: population gradient descent on the set of Lemma 2 converges, for small steps.

On V = (α I, 0), W = diag(0, C I) the loss is L = d/2 E Σ_i r_i², r_i = αp_i − [i ∈ y]/q, and gradient descent on the
whole matrices is gradient descent in (√d α, √d_e C). The Frobenius norms of V and W are |√d α| and |√d_e C|.

The idea. If the query's own column is attended to, no bound of α is known that does not grow exponentially in d_e:
for large C almost all attention is on that column, whose value is 0, and a large α makes up for it. No such bound is
needed. The derivatives of p_i in C are p_i times powers of x_i = v_i − v̄, and the logits v over C are between −q and
q², so that |x_i| ≤ w = q(1+q). So α²R and E Σ r_i² bound the second derivatives of L. Where L ≤ L(0) = d/(2q),

    E Σ r_i² ≤ 1/q,    α²R ≤ 4/q.

With u, c the components of a direction and κ² = d w²/(q d_e), the Hessian's form there is at most (|u| + 3κ|c|)², so
that no eigenvalue is above 1 + β², β² = 9κ² = 9dq(1+q)²/d_e. This bound does not depend on T, and the descent lemma
applies in the region L ≤ L(0), which a short step does not leave.

C stays ≥ 0: for 2q ≤ T + 1 the slope of L in C is not positive at C = 0, and a short step does not cross C = 0. For
C → ∞ selected tokens keep attention only in draws in which their logit is the query's; in this limit L is at least
d/(2q) (1 − 2^{−d_e}). After the first step L is below this value if (T+1)² ≤ qη 2^{d_e}. Then C does not tend to
infinity, and (α, C) converges, because L is analytic.

The bounds are not sharp: at T = 4, q = 2, d_e = 2 the largest eigenvalue found is below 1 % of 1 + β². `paper_checks`
follow runs with larger steps (η = 1, as in the figures); `descent_in_balls` shows at one instance that the run from
zero converges to the point of least loss over all α and C. In general no proof says which stationary point is reached.

Source: Wang et al. 2024, Theorem 2, [abs]: gradient descent converges globally. The paper's step size is not known to
us; these bounds are derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection import share_slopes as slopes
from theorems.sparse_token_selection.bounds_with_the_query import (
    BENDS,
    DESCENT,
    EIGENVALUE,
    FIRST,
    FIRST_LOSS,
    GROWTH,
    HESSIAN,
    LOGITS,
    NEAR_ZERO,
    RESIDUAL,
    SHORT_STEPS,
    STEPS,
    SUMS,
    VARIABLES,
)
from theorems.sparse_token_selection.descent_on_the_set import beta, u, w
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
    TWO_SELECTED,
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
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)
from verify.language.parameters import Instance

FALLS = InWords("falls", "at every step the loss falls by at least eta/8 |grad L|^2, the gradient in W and V")
VANISHES = InWords(
    "vanishes", "the sum of |grad L|^2 over all steps is at most 4d/(q eta): in n steps one is at most 4d/(q eta n)"
)
NONNEGATIVE = InWords("nonnegative", "alpha >= 0 and C >= 0 at every step")
CONVERGES = InWords(
    "converges",
    "C tends to infinity, or (alpha, C) converges to one stationary point of L on the set, at which alpha > 0 and C > "
    "0; it converges where (T+1)^2 <= q eta 2^d_e",
)
GEOMETRIC = InWords(
    "geometric",
    "where the Hessian in (sqrt(d) alpha, sqrt(d_e) C) at that point has the least eigenvalue lambda > 0, each step in "
    "the end multiplies the distance to it in these coordinates by at most 1 - min(eta lambda, 1/4) + delta, for every "
    "delta > 0",
)


def _bounded(instance: Instance) -> bool:
    """Whether (T+1)² ≤ qη 2^{d_e}."""
    length, selected, step, dimension = (sp.Rational(instance[name]) for name in ("T", "q", "eta", "d_e"))
    return bool(sp.log((length + 1) ** 2 / (selected * step)) <= dimension * sp.log(2))


EVALUATIONS = {
    "falls": Evaluation(
        sign_runs.falls(True, eta / 8),
        "at every step the loss falls by at least eta |grad L|^2, the gradient in W and V",
        sign_runs.falls(True, eta),
        draws=100,
    ),
    "vanishes": Evaluation(
        sign_runs.vanishes(True, 4 * d / (q * eta)),
        "the sum of |grad L|^2 over all steps is at most d/(8 q eta)",
        sign_runs.vanishes(True, d / (8 * q * eta)),
        draws=100,
    ),
    "nonnegative": Evaluation(
        sign_runs.nonnegative(True),
        "alpha >= 1/1000 and C >= 1/1000 at every step but the start",
        sign_runs.nonnegative(True, least=1e-3),
        draws=100,
    ),
    "converges": Evaluation(
        sign_runs.converges(True, bounded=_bounded),
        "C tends to infinity, or (alpha, C/2) converges to a stationary point of L on the set",
        sign_runs.converges(True, place=0.5, bounded=_bounded),
        draws=100,
        limit=True,
    ),
    "geometric": Evaluation(
        sign_runs.geometric(True, lambda eta, least, _: 1 - min(eta * least, 1 / 4)),
        "the same with 1 - min(2 eta lambda, 1/4)",
        sign_runs.geometric(True, lambda eta, least, _: 1 - min(2 * eta * least, 1 / 4)),
        draws=100,
        limit=True,
    ),
}
WITH_THE_QUERY = Hypothesis("with_the_query", text="x_query = 0_d; the layer attends to [Z, z_query]")
AT_MOST_HALF = Hypothesis("at_most_half", sp.Le(2 * q, T + 1))
AT_MOST_ONE = Hypothesis("at_most_one", sp.Le(eta, 1))
SMALL_STEP = Hypothesis("small_step", sp.Le(12 * eta * d * q * (1 + q) ** 2, d_e), "12 eta d q (1+q)^2 <= d_e")
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, STEP_SIZE),
    domain=(SUBSET_FITS,),
    hypotheses=(
        *(GAUSSIAN_TOKENS, SIGN_ENCODING, WITH_THE_QUERY, ZERO_INITIALISATION, POPULATION_GRADIENT),
        *(TWO_SELECTED, AT_MOST_HALF, AT_MOST_ONE, SMALL_STEP),
    ),
    variables=VARIABLES,
    claims=(FALLS, VANISHES, NONNEGATIVE, CONVERGES, GEOMETRIC),
    steps=STEPS,
)
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "logits",
        "let s_k be √d_e times the entries of Σ_y e_i: integers of at most q in size. A token's logit over C is at "
        "most Σ|s_k|/d_e ≤ q in size, and the query's, Σ s_k²/d_e, is between any token's and q². So all differences "
        "x_i from their mean under the attention are at most w = q(1+q) in size. The mean of their squares, Var v, is "
        "at most w²/4, as the last term of variance_at_most has mean 0, and |x_i² − Var v| is at most w²",
        ("sign_encoding", "with_the_query", *(step.label for step in LOGITS)),
        "application",
    ),
    Inference(
        "shares",
        "P ≤ √(qR), over the selected tokens; and R ≤ 1, as p_i² ≤ p_i",
        ("with_the_query", "at_most_itself"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "of_the_shares",
        "P and R are means of sums of shares and their squares: P' = E Σ_y p_i x_i, P'' = E Σ_y p_i (x_i² − Var v), "
        "R' = 2 E Σ p_i² x_i and R'' = E Σ p_i² (4x_i² − 2 Var v)",
        ("wang2024.lemma2:steps", "signs_are_symmetric", "logits", *(step.label for step in slopes.OF_THE_SHARES)),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "residual",
        "where L ≤ d/(2q), E Σ r_i² = 2L/d ≤ 1/q for r_i = αp_i − [i ∈ y]/q. As E Σ_y 1/q² = 1/q, α²R ≤ 4/q "
        "(twice_the_root). As L exceeds d/(2q) for α < 0, α ≥ 0, and so α√(qR) ≤ 2; as P ≤ √(qR), αP ≤ 2",
        (
            *("wang2024.lemma2:loss_on_the_set", "signs_are_symmetric", "gaussian_tokens", "with_the_query", "shares"),
            *(*(step.label for step in RESIDUAL), "root_at_most", "alpha_P_at_most"),
        ),
        rules.MINKOWSKI_INEQUALITY,
    ),
    Inference(
        "hessian",
        "in a direction (u, c) of (√d α, √d_e C) the form is d E Σ ((δr_i)² + r_i δ²r_i), δr_i = p_i (u/√d + αx_i "
        "c/√d_e) and δ²r_i = p_i (2x_i uc/√(d d_e) + α(x_i² − Var v) c²/d_e). Let L ≤ d/(2q). By |x_i| ≤ w, "
        "|x_i² − Var v| ≤ w² and E Σ r_i² ≤ 1/q its two parts are at most those of the steps, with |u| and |c| for u "
        "and c (x_i absorbs a sign); by r = √R ≤ 1 and a = α√(qR) ≤ 2 the form is at most (|u| + 3κ|c|)²",
        (
            *("logits", "shares", "of_the_shares", "residual", "second_variation"),
            *(*(step.label for step in HESSIAN), "form"),
            *("wang2024.lemma2:loss_on_the_set", "signs_are_symmetric"),
        ),
        "Cauchy-Schwarz",
    ),
    Inference(
        "largest_curvature",
        "with β = 3κ, β² = 9dq(1+q)²/d_e, no eigenvalue of the Hessian is above 1 + β² where L ≤ d/(2q)",
        ("hessian", "beta_squared", "eigenvalue"),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "falls",
        "along a step from a point with L ≤ d/(2q) the loss stays below its first value as long as the bound of the "
        "curvature holds, and the bound holds as long as L ≤ d/(2q): so it holds on the whole step, and L falls by at "
        "least η/8 |∇L|²",
        (
            *("largest_curvature", "descent", "small_step", "at_most_one", "zero_initialisation"),
            *("scaled_norm", "scaled_step"),
            *("wang2024.lemma2:kept", "wang2024.lemma2:loss_on_the_set", "signs_are_symmetric", "population_gradient"),
        ),
        rules.DESCENT_LEMMA,
    ),
    Inference(
        "vanishes",
        "L is d/(2q) at the start and never negative: these falls add up to d/(2q) at most, and n times the least of n "
        "numbers is at most their sum",
        (
            *("falls", "wang2024.lemma2:loss_on_the_set", "signs_are_symmetric", "zero_initialisation"),
            *(step.label for step in SUMS),
        ),
        "telescoping",
    ),
    Inference(
        "short_steps",
        "|∂L/∂C| = d |E Σ r_i αp_i x_i| ≤ 2dw/q, so that a step moves C by at most 1/(6w)",
        (
            *("logits", "residual", "falls", "first_variation", "slope_of_a_share"),
            *(step.label for step in SHORT_STEPS),
            *("not_across", "small_step", "wang2024.lemma2:steps", "signs_are_symmetric"),
        ),
        "Cauchy-Schwarz",
    ),
    Inference(
        "growth_near_zero",
        "at a fixed α, from C ≤ 1/(6w) down to 0, R grows at most by the factor e^{1/3} and P at most by e^{1/6}, as "
        "|R'| ≤ 2wR and |P'| ≤ wP",
        ("logits", "of_the_shares", *(step.label for step in GROWTH)),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference(
        "curvature_near_zero",
        "between 0 and the step's C, R'' ≤ 4w²R and −P'' ≤ w²P/4, and R and P are at most g = e^{1/3} and h = e^{1/6} "
        "times their values at the step's C, where α²R ≤ 4/q and αP ≤ 2. So by `curvature_of_C`, with x = α²R'' and "
        "y = −2αP''/q, the second derivative of L in C, d/2 (x + y), is at most 12dw²/q",
        (
            *("growth_near_zero", "residual", "of_the_shares", "logits", *(step.label for step in BENDS)),
            *("near_zero", "curvature_of_C"),
            *("wang2024.lemma2:loss_on_the_set", "signs_are_symmetric"),
        ),
        "application",
    ),
    Inference(
        "slope_at_zero",
        "at C = 0 all shares are 1/(T+1). As E|Σ_y e_i|² = q, the means of Σ_y v_i, of Σ v_i over all tokens and of "
        "the query's logit over C are q, and that of v̄ is 2q/(T+1); this gives P' and R'. The slope in C at C = 0 is "
        "negative for α > 0, and 0 for α = 0",
        (
            *("of_the_shares", "slope_of_P_at_zero", "slope_of_R_at_zero", "starting_slope"),
            *("at_most_half", "sign_encoding", "with_the_query", "wang2024.lemma2:steps"),
        ),
        "linearity of expectation",
    ),
    Inference(
        "slope_near_zero",
        "on 0 ≤ C ≤ 1/(6w) the slope in C minus 12dw²C/q does not rise with C, and at C = 0 it is at most 0; so the "
        "slope at C is at most 12dw²C/q",
        ("curvature_near_zero", "slope_at_zero"),
        rules.SIGN_OF_THE_SLOPE,
    ),
    Inference(
        "nonnegative",
        "α ≥ 0 as L ≤ d/(2q) at every step; from C > 1/(6w) a step does not reach 0, and from 0 ≤ C ≤ 1/(6w) it leads "
        "to C' ≥ 0 (slope_in_a_step, next_C)",
        (
            *("falls", "residual", "short_steps", "slope_near_zero", "slope_in_a_step", "not_across", "next_C"),
            *("zero_initialisation", "wang2024.lemma2:steps", "signs_are_symmetric"),
        ),
        "induction",
    ),
    Inference(
        "ties",
        "for C → ∞ the shares tend to 1/(1+k) on the k tokens whose logit is the query's, and to 0 on the others. With "
        "a the number of selected ones of these, P² tends to (E a/(1+k))² ≤ E a · E k/(1+k)², as a ≤ k. R tends to the "
        "second factor. It is positive, as k ≥ 1 has a positive probability: if the selected encodings cancel in "
        "pairs, all logits are the query's for even q, and the unpaired token's logit is the query's for odd q. So "
        "the limit of P²/(qR) is at most E a/q",
        ("logits", "sign_encoding", "with_the_query", "tied_part", "ratio_at_most"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "rare",
        "in each coordinate let s be the sum of the selected tokens' signs and e the first selected token's sign. d_e "
        "times the query's logit over C less this token's is the sum over the coordinates of s² − e s = s (s − e), "
        "which is never negative, as |s| ≤ s². So E a/q is the probability that s is 0 or e in every coordinate. Given "
        "all other signs of a coordinate, at most one value of a second selected token's sign makes s 0 or e: "
        "E a/q ≤ 2^{−d_e}",
        ("logits", "own_sign", "at_most_square", "two_selected", "sign_encoding"),
        "independent factors",
    ),
    Inference(
        "bounded",
        "L ≥ d/(2q) (1 − P²/(qR)) is at least d/(2q) (1 − 2^{−d_e}) in the limit C → ∞. After the first step, which "
        "leaves C at 0, L is below this value if (T+1)² ≤ qη 2^{d_e}. As L does not rise, C then does not tend to "
        "infinity",
        (
            *("ties", "rare", "best_alpha", "first_alpha", "first", "below_the_limit", "at_most_one", "falls"),
            *("wang2024.lemma2:loss_on_the_set", "wang2024.lemma2:steps", "signs_are_symmetric"),
        ),
        "case distinction",
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
        "converges",
        "(α, C) tends to infinity, or converges to a point where the gradient vanishes. On a subsequence along which C "
        "is bounded, R is bounded from below, and so α, by α²R ≤ 4/q, from above: if C does not tend to infinity, the "
        "run converges. At the limit L < d/(2q), hence α > 0, and C = 0 is excluded by the slope",
        ("analytic", "falls", "vanishes", "nonnegative", "residual", "bounded", "slope_at_zero"),
        rules.DESCENT_OF_ANALYTIC_FUNCTIONS,
    ),
    Inference(
        "geometric",
        "a step's derivative at the limit is I − ηH, which is symmetric; its eigenvalues 1 − ηλ' are between −3/4 and "
        "1 − ηλ",
        (
            *("converges", "analytic", "largest_curvature", "small_curvature", "multiplier", "largest_multiplier"),
            *("small_step", "at_most_one"),
        ),
        rules.DERIVATIVE,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the bound of the form, the slopes of P and R at C = 0, the loss's fall in the first step."""
    a, r, k = sp.symbols("a r k", positive=True)
    return Derivation(
        (
            Step(
                "the form's bound: (δr)² and r δ²r together, with κ for w√(d/(q d_e)), a for α√(qR) and r for √R",
                (r * u + a * k * w) ** 2 + 2 * r * k * u * w + a * (k * w) ** 2,
                r**2 * u**2 + 2 * r * (a + 1) * k * u * w + (a**2 + a) * (k * w) ** 2,
            ),
            Step(
                "P' at C = 0: E Σ_y (v_i − v̄)/(T+1), the means of Σ_y v_i and the query's logit are q, v̄'s is 2q/(T+1)",
                (q - q * 2 * q / (T + 1)) / (T + 1),
                q * (T + 1 - 2 * q) / (T + 1) ** 2,
            ),
            Step(
                "R' at C = 0: 2 E Σ_i (v_i − v̄)/(T+1)², over the T tokens",
                2 * (q - T * 2 * q / (T + 1)) / (T + 1) ** 2,
                -2 * q * (T - 1) / (T + 1) ** 3,
            ),
            Step(
                "the fall of the loss in the first step",
                d / (2 * q) - FIRST_LOSS,
                d * eta / (2 * (T + 1) ** 2) * (2 - eta * T / (T + 1) ** 2),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


descent_with_the_query = Theorem(
    id="wang2024.descent_with_the_query",
    title="Stochastic encoding, attending to [Z, z_query]: small steps of population gradient descent converge",
    source=Source("Theorem 2's step size", "derived here", WANG2024, "the paper's is not known to us"),
    statement=STATEMENT,
    example={"T": 200, "q": 3, "d": 5, "d_e": 170, "eta": "1/20"},
    values={
        "step_size_bound": d_e / (12 * d * q * (1 + q) ** 2),
        "convergence_margin": d_e * sp.log(2) - sp.log((T + 1) ** 2 / (q * eta)),
    },
    derivation=derivation,
    canaries=(
        _canary(
            "the eigenvalue 1 + beta^2/2",
            replace(EIGENVALUE, relation=sp.Le((u + beta * w) ** 2, (1 + beta**2 / 2) * (u**2 + w**2))),
        ),
        _canary("four times the fall", replace(DESCENT, relation=sp.Ge(DESCENT.relation.lhs, eta / 2))),
        _canary("11 for 12 near zero", replace(NEAR_ZERO, relation=sp.Le(NEAR_ZERO.relation.lhs, 11, evaluate=False))),
        _canary(
            "the first step twice as far down",
            replace(FIRST, relation=sp.Lt(FIRST_LOSS, d / (2 * q) * (1 - 2 * q * eta / (T + 1) ** 2))),
        ),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
