r"""To first order in its scores a self-attention layer is a gradient step; how far the two are apart.

A task is A ∈ R^{n×d} with rows a_i and b on the simplex. *Step*: f at x_1 = −η H ∇L(0), one step of size η from x = 0
with a preconditioner H (H = I: a plain one). At x = 0 the prediction is 1/n, so that its logits are

    z_i = (η/n) Σ_j a_iᵀHa_j (b_j − 1/n).

*Layer*: row i attends to all rows with scores s_ij = a_iᵀWa_j, to values n b_j, and the prediction is the softmax of v
times what the rows read. Along scores t s_ij what row i reads is φ(t) = E_t c, the mean of c_j = n b_j under the
softmax of t s_i, and

    φ(0) = 1,   φ'(0) = Σ_j s_ij (b_j − 1/n),   φ'' = E_t (c − E_t c)(s − E_t s)²,

|φ''| ≤ nβ G²w²/4 for W = wH, with β = max b − min b and G the largest range of a_iᵀHa_j over j. With v = η/(nw) the two
logits therefore differ, but for v in every row, which moves nothing, by at most ηβ w G²/8, and the predictions by

    ‖layer − step‖ ≤ √n η β w G²/16.

It tends to 0 with w, on tasks of bounded data all at once. Under any law of tasks, bounded or not, the layers' mean
loss tends to the step's, as losses are at most 1: the infimum over layers is at most the least mean loss of a step.
Such a layer has small scores and a large v: whether the two are close is decided by W and v, not by bounds on the two
shifts.

Source: the layer and the step are our reading of the experiment of Li et al. 2024; derived here.
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import LI2024
from theorems.softmax_regression.setting import DEFINITIONS, EIGENVALUE, b, c, e, h, k, norm, q, tau, variance
from theorems.softmax_regression.trials.attention_layer import close, least_mean_loss
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
)

n = sp.Symbol("n", integer=True, positive=True)
eta, w, spread, beta = sp.symbols("eta w G beta", positive=True)
t = sp.Symbol("t", real=True)
# Means under the softmax: of c, s, cs, s² and cs².
mean_c, mean_s, mean_cs, mean_ss, mean_css = sp.symbols("m_c m_s m_cs m_ss m_css", real=True)
high, low = sp.symbols("high low", nonnegative=True)
s_j, h_j, b_j, total_b, target = sp.symbols("s_j h_j b_j sum_b b_i", real=True)
off, second_moment = sp.symbols("off second", nonnegative=True)
v = sp.Symbol("v", positive=True)

_path = (mean_c + mean_cs * t + mean_css * t**2 / 2) / (1 + mean_s * t + mean_ss * t**2 / 2)
_bend = mean_css - mean_c * mean_ss - 2 * mean_s * mean_cs + 2 * mean_c * mean_s**2
DISTANCE = sp.sqrt(n) * eta * beta * w * spread**2 / 16

SLOPE = Identity(
    "slope",
    sp.Subs(sp.Derivative(_path, t), t, 0),
    mean_cs - mean_c * mean_s,
    "phi' is the covariance of c and s",
)
BEND = Identity("bend", sp.Subs(sp.Derivative(_path, (t, 2)), t, 0), _bend, "phi'' is the mean of (c - E c)(s - E s)^2")
RANGE = Implication(
    "range",
    (sp.Ge((high + low) * mean_s - high * low, mean_ss),),
    sp.Le(mean_ss - mean_s**2, (high - low) ** 2 / 4),
    "E s^2 - (E s)^2 <= (max - min)^2/4 where the mean of (max - s)(s - min) is not negative",
)
RANGE_OF_SCORES = Implication(
    "range_of_scores",
    (sp.Ge(high - low, 0), sp.Le(high - low, w * spread)),
    sp.Le((high - low) ** 2 / 4, (w * spread) ** 2 / 4),
    "(max - min)^2/4 <= (w G)^2/4 where 0 <= max - min <= w G",
)
CURVED = Implication(
    "curved",
    (sp.Le(off, n * beta), sp.Le(second_moment, (w * spread) ** 2 / 4)),
    sp.Le(off * second_moment, n * beta * (w * spread) ** 2 / 4),
    "a bound n beta on |c - E c| times a variance of at most (w G)^2/4 is at most n beta (w G)^2/4",
)
MATCHED_LOGIT = Implication(
    "matched_logit",
    (sp.Eq(s_j, w * h_j), sp.Eq(n * w * v, eta)),
    sp.Eq(v * s_j * (b_j - 1 / n), eta / n * h_j * (b_j - 1 / n)),
    "v s_j (b_j - 1/n) = eta/n h_j (b_j - 1/n) where s_j = w h_j and n w v = eta",
)
TOGETHER = Implication(
    "together",
    (sp.Eq(n * w * v, eta),),
    sp.Eq(sp.sqrt(n) / 2 * v * (n * beta * (w * spread) ** 2 / 4) / 2, DISTANCE),
    "half of sqrt(n) times v times half of n beta (w G)^2/4 is sqrt(n) eta beta w G^2/16 where n w v = eta",
)
FIRST = Identity(
    "first_order",
    n * b_j * s_j / n - s_j / n,
    s_j * (b_j - 1 / n),
    "at equal scores row j adds s_j (b_j - 1/n) to the covariance of n b and s",
)
AT_ZERO = Implication(
    "at_zero",
    (sp.Eq(total_b, 1),),
    sp.Eq(-eta * (1 / n) * ((1 / n - target) - (1 - total_b) / n), eta / n * (target - 1 / n)),
    "at equal logits -eta p_i (c_i - g) = (eta/n) (b_i - 1/n) where sum b = 1",
)

TARGETS = Hypothesis("targets", text="b is on the simplex: b_i >= 0, sum b_i = 1, and max b - min b <= beta")
SCORES = Hypothesis("scores", text="for every row i the numbers a_i' H a_j differ by G at most over j")
MATCHED = Hypothesis("matched", text="W = w H and v = eta/(n w); the step starts at x = 0, with the preconditioner H")
CLOSE = InWords("close", "|layer - step| <= sqrt(n) eta beta w G^2/16")
LEAST = InWords(
    "least",
    "for every law of the tasks the infimum of the mean loss over all W and v is at most the mean loss of any gradient "
    "step from 0, whatever its size and preconditioner",
)
STATEMENT = Statement(
    parameters=(
        Parameter("n", "integer", "rows of A: length of the document", minimum=2),
        Parameter("eta", "rational", "step size of the gradient step", above=0),
        Parameter("w", "rational", "size of the layer's scores", above=0),
        Parameter("G", "rational", "how far scores of W = H differ within a row", above=0),
        Parameter("beta", "rational", "how far the targets differ", above=0),
    ),
    hypotheses=(TARGETS, SCORES, MATCHED),
    variables=(
        *(t, mean_c, mean_s, mean_cs, mean_ss, mean_css, high, low, s_j, h_j, b_j, total_b, target),
        *(off, second_moment, v),
        *(b, c, e, h, k, q),
    ),
    definitions={name: DEFINITIONS[name] for name in (tau, norm, variance)},
    claims=(CLOSE, LEAST),
    steps=(SLOPE, BEND, RANGE, RANGE_OF_SCORES, CURVED, FIRST, MATCHED_LOGIT, AT_ZERO, EIGENVALUE, TOGETHER),
)

ARGUMENT = (
    Inference(
        "step",
        "at x = 0 every p_i is 1/n, so that row j of A enters x_1 = −η H ∇L(0) with the factor that the step `at_zero` "
        "has: x_1 = (η/n) H Σ_j a_j (b_j − 1/n)",
        ("targets", "matched", "at_zero", "li2024.gradient:gradient"),
        "application",
    ),
    Inference(
        "layer",
        "row i reads φ(1), φ(t) = E_t c, c = n b, under the softmax of t s_i; φ(0) = Σ b_j = 1, and φ'(0) is the sum "
        "of s_ij (b_j − 1/n) over the rows j: with W = wH and v = η/(nw), v φ'(0) is the step's logit, row by row",
        ("targets", "matched", "step", "slope", "first_order", "matched_logit"),
        "linearity of expectation",
    ),
    Inference(
        "variance",
        "the mean of (max − s)(s − min) ≥ 0 is not negative, and max s − min s ≤ wG: the variance of s is at most "
        "(wG)²/4, under any weights",
        ("scores", "matched", "range", "range_of_scores"),
        "nonnegative terms",
    ),
    Inference(
        "second",
        "|φ''(t)| is at most the largest |c − E_t c|, which is at most nβ, times the variance of s",
        ("bend", "variance", "targets", "curved"),
        rules.HOLDER_INEQUALITY,
    ),
    Inference(
        "logits",
        "|φ(1) − 1 − φ'(0)| is at most half the bound on |φ''|: the layer's logits are v and the step's, each off by v "
        "times that at most",
        ("layer", "second"),
        rules.TAYLOR_THEOREM,
    ),
    Inference(
        "close",
        "v in every row moves no output, and the Jacobian of softmax has the norm ½ at most (the eigenvalue's bound at "
        "τ = 0): the predictions differ by at most half of √n times what a logit is off",
        ("logits", "eigenvalue", "together"),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference(
        "each_task",
        "on each task G is finite and β ≤ 1, and the loss has slopes of √2 at most between outputs: as w tends to 0, "
        "the layer's loss tends to the step's",
        ("targets", "close"),
        "squeeze",
    ),
    Inference(
        "mean",
        "losses are between 0 and 1: under every law of the tasks the layer's mean loss tends to the step's",
        ("targets", "each_task"),
        rules.BOUNDED_CONVERGENCE,
    ),
    Inference(
        "least",
        "what the layers' mean losses tend to is no smaller than their infimum",
        ("mean",),
        rules.LOWER_BOUND_APPROACHED,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the path of a mean under a tilted law, its range, the step at equal logits."""
    m = sp.Symbol("m", real=True)
    return Derivation(
        (
            Step("φ' is a covariance", SLOPE.left, SLOPE.right),
            Step("φ'' is a mean of (c − E c)(s − E s)²", BEND.left, BEND.right),
            Step(
                "(c − C)(s − S)² expanded, term by term",
                (mean_c - m) * (mean_s - t) ** 2,
                mean_c * mean_s**2 - m * mean_s**2 - 2 * t * mean_c * mean_s + 2 * m * t * mean_s + (mean_c - m) * t**2,
            ),
            Step(
                "a quarter of the range² less E (max − s)(s − min) less the variance is a square",
                (high - low) ** 2 / 4 - ((high + low) * mean_s - high * low - mean_ss) - (mean_ss - mean_s**2),
                (mean_s - (high + low) / 2) ** 2,
            ),
            Step("the covariance at equal scores", FIRST.left, FIRST.right),
            Step(
                "the slope at equal logits",
                (1 / n) * ((1 / n - target) - (1 - total_b) / n),
                (1 / n) * (1 / n - target) - (1 - total_b) / n**2,
            ),
        )
    )


_canary = partial(with_changes, STATEMENT)

EVALUATIONS = {
    "close": Evaluation(
        close(),
        "|layer - step| <= sqrt(n) eta beta w G^2/16 for v = 5 eta/(4 n w)",
        close(factor=1.25),
        draws=40,
    ),
    "least": Evaluation(
        least_mean_loss(),
        "the infimum of the mean loss over all W and v is below that of any gradient step from 0 by 1/100",
        least_mean_loss(gain=0.01),
        draws=15,
    ),
}

first_order_layer = Theorem(
    id="li2024.first_order_layer",
    title="With small scores a self-attention layer is a gradient step: how far the two predictions are apart",
    source=Source("when the layer and the step are close", "derived here", LI2024),
    statement=STATEMENT,
    proof_uses=("li2024.gradient",),
    example={"n": 25, "eta": 100, "w": "1/10000", "G": 4, "beta": "1/2"},
    values={"distance_at_most": DISTANCE, "v": eta / (n * w)},
    derivation=derivation,
    canaries=(
        _canary("a covariance without the means", "slope", right=mean_cs),
        _canary("c is not centred", "bend", right=_bend + mean_c * mean_ss),
        _canary("a fifth for a quarter", "range", conclusion=sp.Le(mean_ss - mean_s**2, (high - low) ** 2 / 5)),
        _canary("the first order without 1/n", "first_order", right=s_j * b_j),
    ),
    evaluations=EVALUATIONS,
    argument=ARGUMENT,
)
