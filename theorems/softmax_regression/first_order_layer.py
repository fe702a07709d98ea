r"""To first order in its scores a self-attention layer is a gradient step; the distance of the two.

A task is A ∈ R^{n×d} with rows a_i and b on the simplex. *Step*: f at x_1 = −η H ∇L(0), one step of size η from x = 0
with a preconditioner H (H = I: a plain one). At x = 0 the prediction is 1/n, so that its logits are

    z_i = (η/n) Σ_j a_iᵀHa_j (b_j − 1/n).

*Layer*: row i attends to all rows with scores s_ij = a_iᵀWa_j, to values n b_j, and the prediction is the softmax of v
times the rows' readings. Along scores t s_ij the reading of row i is φ(t) = E_t c, the mean of c_j = n b_j under the
softmax of t s_i, and

    φ(0) = 1,   φ'(0) = Σ_j s_ij (b_j − 1/n),   φ'' = E_t (c − E_t c)(s − E_t s)².

*A mixed third moment.* For c and s in [0, 1] under any law, m = E c, A the mean of s under the law with the density
c/m and B that with (1 − c)/(1 − m),

    E (c − E c)(s − E s)² ≤ m(1−m) (A(1−A) + (1−2m)(A−B)²) ≤ √3/18,

with equality for c = s = 1 with the chance m = (3 − √3)/6 and else 0; 1 − c in place of c bounds it from below. So
|φ''| ≤ nβ G²w² √3/18 for W = wH, with β = max b − min b and G the largest range of a_iᵀHa_j over j. With v = η/(nw) the
two logits therefore differ, but for v in every row, which moves nothing, by at most o = √3 ηβ w G²/36, and the
predictions by at most o/√2, for every n:

    ‖layer − step‖ ≤ √6 η β w G²/72.

*The best factor* of ηβ w G² is therefore between √2/64 = 0.0221 and √6/72 = 0.0340, uniformly in n. As w → 0 it is at
most 9√2/512 = 0.0249: the means are then those of one law in every row, and the moments of two rows differ by
(1−m)/8 + m(1−m)/4 ≤ 9/64 at most. A family reaches √2/64: four columns, b larger in two of them; the first row has the
scores 0, G, G/2, G/2, the second G/2, G/2, 0, G, and all others 0, 0, G, G. The step gives the first two one logit, and
moves all others away from them as η grows.

The distance tends to 0 with w, on tasks of bounded data all at once. Under any law of tasks, bounded or not, the
layers' mean loss tends to the step's, as losses are at most 1: the infimum over layers is at most the least mean loss
of a step. Such a layer has small scores and a large v: whether the two are close is decided by W and v, not by bounds
on the two shifts.

Source: the layer and the step are our reading of the experiment of Li et al. 2024; derived here.
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import LI2024
from theorems.softmax_regression.score_moments import (
    BEND,
    DISTANCE,
    FAMILY,
    FIRST,
    OF_THE_OUTPUTS,
    SLOPE,
    SMALL_FACTOR,
    STEPS,
    UNIT,
    VARIABLES,
    b_j,
    bend_of_the_mean,
    eta,
    k,
    m,
    mean_c,
    mean_cs,
    mean_s,
    mean_ss,
    n,
    s_j,
    t,
    target,
    total_b,
    u,
    w,
    x,
)
from theorems.softmax_regression.setting import JACOBIAN, JACOBIAN_VARIABLES, mean
from theorems.softmax_regression.shifts import SQUARE_OF_THE_SUM, SQUARES, negative, positive
from theorems.softmax_regression.trials.attention_layer import close, factor_needed, least_mean_loss, slope_at_most
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

NEEDED_FACTOR = sp.floor(n / 4) * 4 / n * sp.sqrt(2) / 64


TARGETS = Hypothesis("targets", text="b is on the simplex: b_i >= 0, sum b_i = 1, and max b - min b <= beta")
SCORES = Hypothesis("scores", text="for every row i the numbers a_i' H a_j differ by G at most over j")
MATCHED = Hypothesis("matched", text="W = w H and v = eta/(n w); the step starts at x = 0, with the preconditioner H")
CLOSE = InWords("close", "|layer - step| <= sqrt(6) eta beta w G^2/72")
IN_THE_LIMIT = InWords(
    "in_the_limit",
    "as w -> 0, on one task, with one H and one eta, |layer - step|/w has a limit of 9 sqrt(2)/512 eta beta G^2 at "
    "most",
)
NEEDED = InWords(
    "needed",
    "for no c below 4 floor(n/4)/n sqrt(2)/64 is |layer - step| <= c eta beta w G^2 for all tasks, H and eta, not even "
    "for all small w",
)
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
    variables=(*VARIABLES, positive, negative, mean, *JACOBIAN_VARIABLES),
    claims=(CLOSE, IN_THE_LIMIT, NEEDED, LEAST),
    steps=(*STEPS, *JACOBIAN, SQUARE_OF_THE_SUM, SQUARES),
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
        "means",
        "c and s in [0, 1] under any law, g = (s − E s)², m = E c strictly between 0 and 1: as c s² ≤ c s, the mean "
        "of g weighted by c is at most A(1 − A) + (1 − m)²(A − B)²; by 1 − c it is at least m²(A − B)²",
        ("square_below", "own_mean", "other_mean"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "moment",
        "E (c − E c) g, the covariance of c and g, is at most m(1 − m)(A(1 − A) + (1 − 2m)(A − B)²); it is 0 for m = "
        "0, 1",
        ("means", "split", "between", "weighted"),
        "application",
    ),
    Inference(
        "few",
        "for m ≤ 1/2 it is at most (1 − m) u (1 − 2u), u = mA, where B ≤ A; else 1 − s in place of s has the "
        "same moment, and 1 − A, 1 − B in place of A, B",
        ("moment", "low"),
        "case distinction",
    ),
    Inference(
        "many",
        "for m ≥ 1/2 it is at most m(1 − m)/4",
        ("moment", "flat", "weighted"),
        "application",
    ),
    Inference(
        "moment_at_most",
        "so it is at most √3/18, and with 1 − c in place of c at least −√3/18",
        ("few", "many", "fewer", "in_half", "top", "quarter", "below"),
        "case distinction",
    ),
    Inference(
        "second",
        "φ''(t) is such a moment times nβ(wG)² at most: n b has the range nβ, and s = w h the range wG",
        ("bend", "third_moment", "ranges", "times_the_ranges", "moment_at_most", "targets", "scores", "matched"),
        "application",
    ),
    Inference(
        "logits",
        "|φ(1) − 1 − φ'(0)| is at most half the bound on |φ''|: the layer's logits are v and the step's, each off by v "
        "times that at most",
        ("layer", "second"),
        rules.TAYLOR_THEOREM,
    ),
    Inference(
        "slope_of_softmax",
        "softmax p moves along e at the rates p_i e_i − Σ p_i p_j e_j, which add up to 0; where no |e_i| exceeds o, "
        "their absolute values add up to E|e − E e| under p, whose square is at most the variance, so to o at most: "
        "the positive ones and the negative ones, of equal sums, add up to o/2 at most each, and the squares to o²/2",
        (*(step.label for step in JACOBIAN), "square_of_the_sum", *(step.label for step in OF_THE_OUTPUTS)),
        "Cauchy-Schwarz",
    ),
    Inference(
        "close",
        "v in every row moves no output: the predictions differ by at most what a logit is off, over √2",
        ("logits", "slope_of_softmax", "together"),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference(
        "slopes_at_zero",
        "as w tends to 0 the logits' difference over w, but for what is the same in every row, tends to η/2 times the "
        "covariance C_i of b and (h − E h)², h the scores a_i'Ha_j, under the uniform law on the rows j; the "
        "predictions' over w tends to its image under the slope of softmax at the step",
        ("layer", "bend", "third_moment", "matched", "halfbend_of_the_mean"),
        rules.DERIVATIVE,
    ),
    Inference(
        "two_rows_apart",
        "two rows have the same law of b, and b or −b has a mean m ≤ 1/2 in its range: C_i and −C_j are βG² times "
        "such moments of numbers in [0, 1], which are at most (1 − m) u (1 − 2u) ≤ (1 − m)/8, for m, and m(1 − m)/4, "
        "for 1 − m, so that C_i − C_j is at most 9/64 βG²",
        (
            "slopes_at_zero",
            "few",
            "many",
            "ranges_of_the_task",
            "eighth",
            "weighted_eighth",
            "two_rows",
            "rows_apart",
            "targets",
            "scores",
        ),
        "case distinction",
    ),
    Inference(
        "in_the_limit",
        "but for what is the same in every row, no logit's difference over w exceeds η/2 times half of what two rows "
        "differ by, in the limit, and the predictions' is at most that over √2",
        ("slopes_at_zero", "two_rows_apart", "slope_of_softmax", "centred", "left_in_the_limit"),
        "application",
    ),
    Inference(
        "family",
        "with k = floor(n/4) and r = n − 4k let A = I and β ≤ 2/n; b is 1/n + β/2 in 2k columns, 1/n − β/2 in 2k "
        "others, 1/n in the last r. The first row of H is 0 in k of the first 2k columns, G in the other k, G/2 "
        "elsewhere; the second is 0 and G so in the second 2k columns, G/2 elsewhere; all other rows are 0, G and G/2 "
        "in the three. The step's logits are 0, 0 and −ηβGk/n, and the layer's, less v, differ from them by w times "
        "±ηβG²k/(8n) in the first two rows, as w tends to 0",
        ("layer", "first_row", *(step.label for step in FAMILY)),
        rules.DERIVATIVE,
    ),
    Inference(
        "needed",
        "where the step's first two outputs are p, their moves differ by `difference_of_two` at the rate ηβG²k/(4n) p, "
        "and the predictions' distance is at least that over √2; as η grows p tends to 1/2",
        ("family", "slopes_at_zero", "slope_of_softmax", "difference_of_two", "distance_of_two"),
        rules.LOWER_BOUND_APPROACHED,
    ),
    Inference(
        "each_task",
        "on each task G is finite and β ≤ 1, and the loss has slopes of √2 at most between outputs, whose difference "
        "from b has positive and negative parts of sum 1 at most: as w tends to 0, the layer's loss tends to the "
        "step's",
        ("targets", "close", "square_of_the_sum", "squares"),
        "squeeze",
    ),
    Inference(
        "mean",
        "a loss is half the square norm of an output less b, whose positive and negative parts have the sum 1 at most: "
        "it is between 0 and 1, and under every law of the tasks the layer's mean loss tends to the step's",
        ("targets", "each_task", "square_of_the_sum", "squares"),
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
    """Return the steps: the path of a mean under a tilted law, the moments' bounds, the step at equal logits."""
    M = sp.Symbol("M", real=True)
    return Derivation(
        (
            Step("φ' is a covariance", SLOPE.left, SLOPE.right),
            Step("φ'' is a mean of (c − E c)(s − E s)²", BEND.left, BEND.right),
            Step(
                "(c − C)(s − S)² expanded, term by term",
                (mean_c - M) * (mean_s - t) ** 2,
                mean_c * mean_s**2 - M * mean_s**2 - 2 * t * mean_c * mean_s + 2 * M * t * mean_s + (mean_c - M) * t**2,
            ),
            Step(
                "what 2x³ has beyond 3x²k − k³, with x = 1/√3 in the bound of k − k³",
                2 * x**3 - 3 * x**2 * k + k**3,
                (k - x) ** 2 * (k + 2 * x),
            ),
            Step(
                "what 9/64 has beyond the difference of two rows",
                sp.Rational(9, 64) - (1 - m) / 8 - m * (1 - m) / 4,
                (m - sp.Rational(1, 4)) ** 2 / 4,
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
        "|layer - step| <= sqrt(6) eta beta w G^2/72 for v = 5 eta/(4 n w)",
        close(factor=1.25),
        draws=40,
    ),
    "in_the_limit": Evaluation(
        slope_at_most(SMALL_FACTOR),
        "as w -> 0, on one task, with one H and one eta, |layer - step|/w has a limit of 1/60 eta beta G^2 at most",
        slope_at_most(sp.Rational(1, 60)),
        draws=20,
    ),
    "needed": Evaluation(
        factor_needed(NEEDED_FACTOR),
        "for no c below 4 floor(n/4)/n/40 is |layer - step| <= c eta beta w G^2 for all tasks, H and eta, not even for "
        "all small w",
        factor_needed(4 * sp.floor(n / 4) / n / 40),
        sampled=True,
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
    values={
        "distance_at_most": DISTANCE,
        "small_scores_at_most": SMALL_FACTOR * UNIT,
        "factor_needed": NEEDED_FACTOR,
        "v": eta / (n * w),
    },
    derivation=derivation,
    canaries=(
        _canary("a covariance without the means", "slope", right=mean_cs),
        _canary("c is not centred", "bend", right=bend_of_the_mean + mean_c * mean_ss),
        _canary("1/11 for sqrt(3)/18", "top", relation=sp.Le((k - k**3) / 4, sp.Rational(1, 11))),
        _canary("a ninth for an eighth", "eighth", relation=sp.Le(u * (1 - 2 * u), sp.Rational(1, 9))),
        _canary("the first order without 1/n", "first_order", right=s_j * b_j),
    ),
    evaluations=EVALUATIONS,
    argument=ARGUMENT,
)
