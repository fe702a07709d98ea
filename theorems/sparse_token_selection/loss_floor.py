r"""Theorem 2: a sufficient dimension of sign encodings for a loss, and the least loss in a given dimension.

Population gradient descent from zero stays on the set V = (α I, 0), W = diag(0, C I) (Lemma 2). There, with P and R the
means of Σ_{i∈y} p_i and Σ_i p_i² (`sign_attention`),

    L(α, C) = d/2 (α²R − 2αP/q + 1/q) = d/(2q) (1 − G) + dR/2 (α − P/(qR))²,    G = P²/(qR),

so that the infimum over α and C ≥ 0 is d/(2q) (1 − sup G). `attention_gain` encloses sup G, and its docstring has the
proof. `negative_scales` treats C < 0. Attending to Z, the gradient flow from zero does not reach C < 0: at C = 0 the
slope in C is −(d/q) α P' < 0 for α > 0 and q < T, with P'(0) = (q/T)(1 − q/T) and R'(0) = 0. Attending to [Z, z_query],
the flow does not reach C < 0 for 2q ≤ T + 1, as P'(0) = q/(T+1) (1 − 2q/(T+1)) ≥ 0 and R'(0) < 0. For larger q it may,
and the statement is for C ≥ 0.

*Enough.* For ε = σ d/(2q), a share σ of the zero predictor's loss, the infimum is at most ε if

    d_e ≥ (4(q−1)(q−2)/(qσ) + q + 3) log² (3T/(q√σ)),                attending to Z,
    d_e ≥ ((q−1)(2q−3)/σ + q(3q+1)/8) log² (100T/(qσ)),   q ≥ 3,     attending to [Z, z_query].

Idea. The softmax's denominator is N ≥ q e^{C|u|²/q}, so that p_i ≤ e^{C(v_i − |u|²/q)}/q. At α = 1 the loss divided by
d/(2q) is then at most E e^{2C(v_1 − |u|²/q)} − 1, for the selected tokens' differences, plus
T(T−q)/q² E e^{2C(v_j − |u|²/q)}, for the other tokens. These means are d_e-th powers of means for one coordinate. They
are at most e^{(12/5)(q−1)(q−2)C²/(q d_e)} and e^{−2C + (2q+6)C²/d_e}, and C is taken to be log(3T/(q√σ)).
With the query's token N ≥ e^{C|u|²}, α compensates for the mean of e^{C(v_1 − |u|²)}, and C = log(100T/(qσ))/2.
The constants are not sharp: at T = 200, q = 3, σ = 1/8 the first bound is 1098, while 143 are enough
(`d_e_required`).

*q = 2, attending to Z.* Both selected tokens always have the largest logit. For C → ∞ L tends to its infimum,
d/4 E[k/(2+k)], with k the number of other tokens with the same logit. For T ≥ 3 the infimum is not attained; it is
exponentially small in d_e (`two_selected`).
*q ≥ 3.* The selected logits over C differ among themselves, with a mean variance of (q−1)(q−2)/(q d_e), and a large C
makes the layer choose among them: in all cases computed the infimum is attained at a finite C.

For d_e → ∞ and q ≥ 3 the infimum falls like d (q−1)(q−2)/(2q² d_e) · C², with C about ½ log(d_e T), by the
approximation of `approximate_gain`. So d_e has to grow like (d/ε) log² T, which `dimension_lower_bound` shows for ε
below d/(192q).
`descent_on_the_set` shows that gradient descent lowers the loss on the set for η < 2/(1 + β²), η ≤ 1;
`step_size_margin` is 2/(1 + β²) minus η.

Source: Wang et al. 2024, Theorem 2, whose constants are not known to us; the bounds and proofs are ours. We read the
stochastic encoding (Definitions 3 and 5) as follows: its entries are i.i.d. signs, and no encoding is shared between
samples.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.descent_on_the_set import BETA_SQUARED
from theorems.sparse_token_selection.enough_dimensions import ARGUMENT, enough
from theorems.sparse_token_selection.enough_dimensions_steps import (
    FEWEST_SELECTED,
    LOSS,
    STEPS,
    VARIABLES,
    P,
    R,
    alpha,
    theta,
    z,
)
from theorems.sparse_token_selection.gain_primitives import (
    attention_gain,
    best_logit_scale,
    best_value_scale,
    gain_is_attained,
    least_encoding_dimension,
)
from theorems.sparse_token_selection.invariant_set import SELECTED_PART
from theorems.sparse_token_selection.task import (
    ACCURACY,
    ATTEND,
    ENCODING_DIMENSION,
    LENGTH,
    QUERY,
    SIGNS_ON_THE_SET,
    STEP_SIZE,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    d_e,
    eps,
    eta,
    q,
)
from verify import (
    Derivation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Source,
    Statement,
    Step,
    Theorem,
    ValueWhere,
)

FIGURES_STEP_SIZE = replace(STEP_SIZE, default=sp.Integer(1))
"""The step size, 1 in the paper's figures. It is no part of the claim; `step_size_margin` is computed from it."""

SHARE = 2 * q * eps / d
"""ε as a share of the zero predictor's loss."""
D_E_ENOUGH = enough(SHARE)

SELECTED = Hypothesis("selected", sp.Ge(q, FEWEST_SELECTED), text="q >= 3 where the query's token is attended to")
ENOUGH_DIMENSIONS = Hypothesis(
    "enough_dimensions",
    sp.Ge(d_e, D_E_ENOUGH),
    text="d_e >= d_e_enough: with share = 2 q eps/d, (4(q-1)(q-2)/(q share) + q + 3) log(3T/(q sqrt(share)))^2; with "
    "the query's token ((q-1)(2q-3)/share + q(3q+1)/8) log(100T/(q share))^2",
)
FLOOR = d / (2 * q) * (1 - attention_gain(T, q, d_e, QUERY))

CLAUSES = (
    Identity(
        "best_value_scale",
        LOSS,
        d / (2 * q) * (1 - P**2 / (q * R)) + d * R / 2 * (alpha - P / (q * R)) ** 2,
        says="L(alpha, C) = d/(2q) (1 - P^2/(qR)) + dR/2 (alpha - P/(qR))^2",
    ),
    Inequality(
        "floor",
        sp.Le(FLOOR, eps),
        says="the infimum of L over alpha and C >= 0, d/(2q) (1 - sup P^2/(qR)), is at most eps",
    ),
)
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, ACCURACY, ATTEND, FIGURES_STEP_SIZE),
    domain=(SUBSET_FITS,),
    hypotheses=(*SIGNS_ON_THE_SET, SELECTED, ENOUGH_DIMENSIONS),
    variables=VARIABLES,
    claims=CLAUSES,
    steps=STEPS,
)


def derivation() -> Derivation:
    """Return the steps: the loss on the set, the best α, the slopes at C = 0."""
    return Derivation(
        (
            SELECTED_PART,
            Step(
                "the best α is where the slope vanishes",
                sp.Derivative(LOSS, alpha).subs(alpha, P / (q * R)),
                sp.Integer(0),
            ),
            Step("the loss there", LOSS.subs(alpha, P / (q * R)), d / (2 * q) * (1 - P**2 / (q * R))),
            Step(
                "at C = 0, attending to Z: P' = (1/T) E[|u|² − q v̄], E|u|² = q and E v̄ = q/T",
                (q - q * q / T) / T,
                q / T * (1 - q / T),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


theorem2 = Theorem(
    id="wang2024.theorem2",
    title="Stochastic encoding: a number of dimensions for which the infimum of the loss on the invariant set is at "
    "most ε",
    source=Source(
        "Theorem 2, the reachable loss",
        "derived here",
        WANG2024,
        "its constants are not known to us",
    ),
    statement=STATEMENT,
    example={"T": 40, "q": 3, "d": 5, "d_e": 190, "eps": "5/12"},
    values={
        "loss_floor": FLOOR,
        "attained": sp.Ge(gain_is_attained(T, q, d_e, QUERY), 1),
        "alpha": best_value_scale(T, q, d_e, QUERY),
        "C": best_logit_scale(T, q, d_e, QUERY),
        "d_e_enough": D_E_ENOUGH,
        "d_e_required": least_encoding_dimension(T, q, d, eps, QUERY),
        "step_size_margin": ValueWhere(2 / (1 + BETA_SQUARED) - eta, (sp.Eq(QUERY, 0),)),
    },
    derivation=derivation,
    canaries=(
        _canary("a floor of 0 at finite d_e", Inequality("floor", sp.Le(FLOOR, 0))),
        _canary("a tenth of eps", Inequality("floor", sp.Le(FLOOR, eps / 10))),
        _canary(
            "twice the dimensions do not lower the floor",
            Inequality("floor", sp.Le(FLOOR, d / (2 * q) * (1 - attention_gain(T, q, 2 * d_e, QUERY)))),
        ),
        _canary("5 for 6", Implication("rate_squared", (sp.Le(theta, 2 * z),), sp.Le(3 * theta**2 / 2, 5 * z**2))),
    ),
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
