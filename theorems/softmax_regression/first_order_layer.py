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
    Inequality,
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
s_j, b_j, total_b, target = sp.symbols("s_j b_j sum_b b_i", real=True)

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
RANGE = Inequality(
    "range",
    sp.Le(high * low, (high + low) ** 2 / 4, evaluate=False),
    "(max - mean)(mean - min) is at most a quarter of the range^2",
)
FIRST = Identity(
    "first_order",
    n * b_j * s_j / n - s_j / n,
    s_j * (b_j - 1 / n),
    "at equal scores row j adds s_j (b_j - 1/n) to the covariance of n b and s",
)
AT_ZERO = Identity(
    "at_zero",
    (1 / n) * ((1 / n - target) - (1 - total_b) / n),
    (1 / n) * (1 / n - target) - (1 - total_b) / n**2,
    "at equal logits the slope p_i (c_i - g) is (1/n - b_i)/n, less (1 - sum b)/n^2",
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
        *(t, mean_c, mean_s, mean_cs, mean_ss, mean_css, high, low, s_j, b_j, total_b, target),
        *(b, c, e, h, k, q),
    ),
    definitions={name: DEFINITIONS[name] for name in (tau, norm, variance)},
    claims=(CLOSE, LEAST),
    steps=(SLOPE, BEND, RANGE, FIRST, AT_ZERO, EIGENVALUE),
)

ARGUMENT = (
    Inference(
        "step",
        "at x = 0 every p_i is 1/n and the loss has the slopes (1/n − b_i)/n in the logits, so that x_1 = "
        "(η/n) H Σ_j a_j (b_j − 1/n)",
        ("targets", "matched", "at_zero", "li2024.gradient:gradient"),
        "substitution",
    ),
    Inference(
        "layer",
        "what row i reads is φ(1), φ(t) = E_t c, c = n b, under the softmax of t s_i; φ(0) = 1 and φ'(0) = "
        "Σ_j s_ij (b_j − 1/n): with W = wH and v = η/(nw), v φ'(0) is the step's logit",
        ("targets", "matched", "step", "slope", "first_order"),
        "substitution",
    ),
    Inference(
        "variance",
        "as (max − s)(s − min) ≥ 0, the variance of s is at most (max − mean)(mean − min), a quarter of (wG)² at most",
        ("scores", "matched", "range"),
        "nonnegative terms",
    ),
    Inference(
        "second",
        "|c − E_t c| ≤ nβ, so that |φ''| ≤ nβ (wG)²/4 for every t",
        ("bend", "variance", "targets"),
        "substitution",
    ),
    Inference(
        "logits",
        "|φ(1) − 1 − φ'(0)| ≤ nβ (wG)²/8: the layer's logits are v and the step's, each off by v times that at most",
        ("layer", "second"),
        rules.TAYLOR_THEOREM,
    ),
    Inference(
        "close",
        "v in every row moves no output, and the Jacobian of softmax has the norm ½ at most (the eigenvalue's bound at "
        "τ = 0): the predictions differ by at most half of √n times that",
        ("logits", "eigenvalue"),
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
                "a quarter of the range² less the product is a square",
                (high + low) ** 2 / 4 - high * low,
                (high - low) ** 2 / 4,
            ),
            Step("the covariance at equal scores", FIRST.left, FIRST.right),
            Step("the slope at equal logits", AT_ZERO.left, AT_ZERO.right),
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
        _canary("a fifth for a quarter", "range", relation=sp.Le(high * low, (high + low) ** 2 / 5, evaluate=False)),
        _canary("the first order without 1/n", "first_order", right=s_j * b_j),
    ),
    evaluations=EVALUATIONS,
    argument=ARGUMENT,
)
