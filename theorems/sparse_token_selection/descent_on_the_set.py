r"""Population gradient descent on the set of Lemma 2: the loss falls at every step, and where the run ends.

On V = (α I, 0), W = diag(0, C I), attending to Z, gradient descent on the whole matrices is gradient descent on
L(a, c) in a = √d α, c = √d_e C, in which their Frobenius norms are |a| and |c|.

The idea. α stays in a box, 0 ≤ α ≤ √(T/q), as each step goes towards the best α for the present C and not past it. The
slopes of P and R in C are bounded by the variance under the attention of the logits over C, at most q in the mean.
That bounds the Hessian in the box, L_aa ≤ 1, |L_ac| ≤ β and |L_cc| ≤ β², and its eigenvalues by 1 + β², with

    β² = 9d(T + 2/q)/(8 d_e),

and the descent lemma gives the fall. The steps and the argument have the rest.

Where the factor of the fall is positive Σ ‖∇L‖² < ∞: the gradient tends to 0 along the run. L is analytic, so that
either |C| → ∞ or (α, C) converges to one stationary point of L on the set; it converges where L_t is once below what
any α reaches at |C| ≥ C_1. Where ηβ² ≤ 1 the run is at C ≥ 0 throughout,
and C ≥ C_1 is enough. Near a point with a positive definite Hessian, of eigenvalues from λ to Λ, the error falls
in the end like max(1 − ηλ, ηΛ − 1)^t, or nearly. That the point is the floor's minimiser is not proved;
`paper_checks` follow runs to it. Attending to [Z, z_query] α has no such bound: `descent_with_the_query` does without.
Box and curvatures are tested at small sizes.

Source: Wang et al. 2024, Theorem 2, [abs]: gradient descent converges globally; its step size and rate are not known
to us, and what is here is derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
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
    Inequality,
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)

A, beta, u, w = (sp.Symbol(name, positive=True) for name in ("A", "beta", "u", "w"))
excess = sp.Symbol("excess", nonnegative=True)

BETA_SQUARED = 9 * d * (T + 2 / q) / (8 * d_e)

STEP = Inequality(
    "step",
    sp.Le(eta / (1 + excess), 1, evaluate=False),
    says="eta R <= 1 for any R = 1/(1 + excess) <= 1: a step in alpha does not pass the best one",
)
CURVATURE = Inequality(
    "curvature",
    sp.Le(A**2 + A / q, (A + 1 / (2 * q)) ** 2),
    says="|L_cc| <= beta^2: A^2 + A/q is at most (A + 1/(2q))^2",
)
BOX = Identity(
    "box",
    (A + 1 / (2 * q)) ** 2 + 2 * (A / 4 - 1 / q) ** 2,
    9 * A**2 / 8 + 9 / (4 * q**2),
    says="(A + 1/(2q))^2 is 9A^2/8 + 9/(4q^2) less a square",
)
EIGENVALUE = Identity(
    "eigenvalue",
    (1 + beta**2) * (u**2 + w**2) - (u**2 + 2 * beta * u * w + beta**2 * w**2),
    (beta * u - w) ** 2,
    says="u^2 + 2 beta u w + beta^2 w^2 is (1 + beta^2)(u^2 + w^2) less a square",
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
    variables=(A, beta, u, w, excess),
    claims=(FALLS, VANISHES, NONNEGATIVE, CONVERGES, GEOMETRIC),
    steps=(STEP, CURVATURE, BOX, EIGENVALUE, DESCENT),
)
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "shares", "qR ≥ P², over the selected tokens, and TR ≥ 1, over all of them", ("zero_query",), "Cauchy-Schwarz"
    ),
    Inference(
        "best_alpha",
        "the best α, P/(qR), is at most both 1/P and TP/q, hence √(T/q)",
        ("shares", "wang2024.lemma2:steps", "signs_are_symmetric", "gaussian_tokens"),
        "substitution",
    ),
    Inference(
        "range",
        "each step of α goes towards the best one and not past it, so that 0 ≤ α ≤ A = √(T/q) along the run and on the "
        "segments between iterates",
        ("best_alpha", "step", "at_most_one", "zero_initialisation", "wang2024.lemma2", "signs_are_symmetric"),
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
        "the variance under the attention is at most |s|² too, and the mean of |s|² over the encodings is q",
        ("logit", "sign_encoding"),
        "linearity of expectation",
    ),
    Inference(
        "halves",
        "as Σ p_i x_i = 0, x_i = v_i − v̄, a part of that sum, and each p_i|x_i|, is at most half of Σ p_j|x_j|",
        ("zero_query",),
        rules.HALF_OF_A_VANISHING_SUM,
    ),
    Inference(
        "of_the_shares",
        "p_i' = p_i x_i and x_i' = −Var v, so that P' = E Σ_y p_i x_i, P'' = E Σ_y p_i (x_i² − Var v), "
        "R' = 2 E Σ p_i² x_i and R'' = E (4 Σ p_i² x_i² − 2 Var v Σ p_i²)",
        ("wang2024.lemma2:steps", "signs_are_symmetric", "logit"),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "derivatives",
        "|P'| ≤ √q/2, |R'| ≤ √q, |P''| ≤ q and |R''| ≤ 2q",
        ("of_the_shares", "halves", "variance"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "entries",
        "in √d α and √d_e C the Hessian's entries R, √(d/d_e)(αR' − P'/q) and d/(2d_e)(α²R'' − 2αP''/q) are in the "
        "box at most 1, β and β² in absolute value",
        ("range", "derivatives", "curvature", "box", "wang2024.lemma2:steps", "signs_are_symmetric"),
        "substitution",
    ),
    Inference(
        "largest_curvature",
        "(1 + β²)|v|² exceeds the Hessian's form by at least a square, so that no eigenvalue is above 1 + β²",
        ("entries", "eigenvalue"),
        "nonnegative terms",
    ),
    Inference(
        "falls",
        "in a step of size η the loss falls by at least η (1 − η(1 + β²)/2) |grad L|², whose factor is positive",
        (
            *("largest_curvature", "range", "wang2024.lemma2:kept", "signs_are_symmetric"),
            *("descent", "small_step", "population_gradient"),
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
        "nonnegative",
        "at C = 0 all shares are 1/T, so that R' = 0 and P' = (q/T)(1 − q/T): the slope in C is −dαP'/q ≤ 0 there, and "
        "at C > 0 it is at most d_e β² C, so that a step leads to (1 − ηβ²)C at least",
        ("entries", "range", "wang2024.lemma2:steps", "signs_are_symmetric", "zero_initialisation"),
        "induction",
    ),
    Inference(
        "analytic",
        "on the set L is a mean over finitely many encodings of functions of α and C that are analytic everywhere; "
        "each step is −η times its gradient in (√d α, √d_e C)",
        ("wang2024.lemma2:loss_on_the_set", "wang2024.lemma2:steps", "signs_are_symmetric"),
        "linearity of expectation",
    ),
    Inference(
        "one_limit",
        "each step's fall is at least a fixed share of |∇L| times its length, and a step is 0 where L does not fall: "
        "(α, C) tends to infinity or converges, to a point where the gradient vanishes; α is bounded",
        ("analytic", "falls", "vanishes", "range"),
        rules.DESCENT_OF_ANALYTIC_FUNCTIONS,
    ),
    Inference(
        "converges",
        "L does not rise: below its infimum over |C| ≥ C_1 the run is at |C| < C_1 from then on, and does not tend to "
        "infinity",
        ("one_limit", "falls"),
        "case distinction",
    ),
    Inference(
        "geometric",
        "a step's derivative at the limit is I − ηH, symmetric, with the eigenvalues 1 − ηλ, which are between −1 and "
        "1 as no curvature is above 1 + β² < 2/η",
        ("converges", "analytic", "largest_curvature", "small_step"),
        rules.DERIVATIVE,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the bound of the best α, of the Hessian's entries and of its eigenvalue, the descent."""
    gradient = sp.Symbol("gradient", positive=True)
    return Derivation(
        (
            Step(
                "the Hessian's bound [[1, β], [β, β²]] has the eigenvalue 1 + β², at (1, β): its second row",
                beta * 1 + beta**2 * beta,
                (1 + beta**2) * beta,
            ),
            Step(
                "what (A + 1/(2q))² has beyond A² + A/q",
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
            replace(EIGENVALUE, left=(1 + beta**2 / 2) * (u**2 + w**2) - (u**2 + 2 * beta * u * w + beta**2 * w**2)),
        ),
        _canary("1/(4q) for 1/(2q)", replace(CURVATURE, relation=sp.Le(A**2 + A / q, (A + 1 / (4 * q)) ** 2))),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
