r"""To first order in its scores, a self-attention layer is a gradient step; bounds on the distance between the two.

A task is A ∈ R^{n×d} with rows a_i and b on the simplex. *Step*: f at x_1 = −η H ∇L(0), one step of size η from x = 0
with a preconditioner H (H = I for plain gradient descent). At x = 0 every entry of the prediction is 1/n, so the logits
of the step are

    z_i = (η/n) Σ_j a_iᵀHa_j (b_j − 1/n).

*Layer*: row i attends to all rows with scores s_ij = a_iᵀWa_j and values n b_j. It reads the mean of the values under
the softmax of its scores, and the prediction is the softmax of v times the rows' readings. At scores t s_ij the reading
of row i is φ(t) = E_t c, the mean of c_j = n b_j under the softmax of t s_i, and

    φ(0) = 1,   φ'(0) = Σ_j s_ij (b_j − 1/n),   φ'' = E_t (c − E_t c)(s − E_t s)².

*A mixed third moment.* For c and s in [0, 1] under any law, m = E c, and A and B the means of s under the densities c/m
and (1 − c)/(1 − m),

    E (c − E c)(s − E s)² ≤ m(1−m) (A(1−A) + (1−2m)(A−B)²) ≤ √3/18,

with equality if c = s = 1 with probability m = (3 − √3)/6 and c = s = 0 otherwise; 1 − c in place of c gives the lower
bound −√3/18. So |φ''| ≤ nβ G²w² √3/18 for W = wH, with β = max b − min b and G the largest range of a_iᵀHa_j over j.
With v = η/(nw), each logit of the layer therefore differs from v plus the step's logit by at most o = √3 ηβ w G²/36.
Adding v to every logit does not change softmax, so the predictions differ by at most o/√2, for every n:

    ‖layer − step‖ ≤ √6 η β w G²/72.

*The best factor* of ηβ w G² for all n together is between √2/64 = 0.0221 and √6/72 = 0.0340. As w → 0 it is at most
9√2/512 = 0.0249: all rows then have the same (uniform) law of c, and the moments of two rows differ by at most
(1−m)/8 + m(1−m)/4 ≤ 9/64. A family with n = 4 reaches √2/64: b is larger in the first two entries, the first row has
the scores 0, G, G/2, G/2, the second G/2, G/2, 0, G, and all others 0, 0, G, G. The step gives the first two rows the
same logit, and lowers all other logits relative to it as η grows.

As w → 0 the distance tends to 0, uniformly over tasks with bounded data. Under any law of tasks, bounded or not, the
mean loss of the layers tends to that of the step, because losses are at most 1. So the infimum over layers is at most
the mean loss of any step. Such a layer has small scores and a large v: whether layer and step are close is decided by W
and v, not by bounds on their shifts.

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
SCORES = Hypothesis("scores", text="for every row i the numbers a_i' H a_j differ by at most G over j")
MATCHED = Hypothesis("matched", text="W = w H and v = eta/(n w); the step starts at x = 0, with the preconditioner H")
CLOSE = InWords("close", "|layer - step| <= sqrt(6) eta beta w G^2/72")
IN_THE_LIMIT = InWords(
    "in_the_limit",
    "as w -> 0, on one task, with one H and one eta, |layer - step|/w has a limit of at most "
    "9 sqrt(2)/512 eta beta G^2",
)
NEEDED = InWords(
    "needed",
    "no c below 4 floor(n/4)/n sqrt(2)/64 is enough for |layer - step| <= c eta beta w G^2 for all tasks, H and eta, "
    "not even if only small w are allowed",
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
        "at x = 0 every p_i is 1/n; by `at_zero`, row j of A has the factor (η/n)(b_j − 1/n) in x_1 = −η H ∇L(0), so "
        "that x_1 = (η/n) H Σ_j a_j (b_j − 1/n)",
        ("targets", "matched", "at_zero", "li2024.gradient:gradient"),
        "application",
    ),
    Inference(
        "layer",
        "row i of the layer reads φ(1), where φ(t) = E_t c is the mean of c = n b under the softmax of t s_i; φ(0) = Σ "
        "b_j = 1 and φ'(0) = Σ_j s_ij (b_j − 1/n), so that with W = wH and v = η/(nw) the step's logit of row i is v "
        "φ'(0)",
        ("targets", "matched", "step", "slope", "first_order", "matched_logit"),
        "linearity of expectation",
    ),
    Inference(
        "means",
        "let c and s be in [0, 1] under any law, g = (s − E s)², 0 < m = E c < 1, and A and B the means of s weighted "
        "by c and by 1 − c. Because c s² ≤ c s, the mean of g weighted by c is at most A(1 − A) + (1 − m)²(A − B)²; "
        "the mean of g weighted by 1 − c is at least m²(A − B)²",
        ("square_below", "own_mean", "other_mean"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "moment",
        "E (c − E c) g, the covariance of c and g, is at most m(1 − m)(A(1 − A) + (1 − 2m)(A − B)²); for m = 0 and "
        "m = 1 it is 0",
        ("means", "split", "between", "weighted"),
        "application",
    ),
    Inference(
        "few",
        "let m ≤ 1/2: if B ≤ A, the covariance of c and g is at most (1 − m) u (1 − 2u), u = mA; if B > A, 1 − s in "
        "place of s has the same covariance, with 1 − A and 1 − B in place of A and B",
        ("moment", "low"),
        "case distinction",
    ),
    Inference(
        "many",
        "for m ≥ 1/2 the covariance of c and g is at most m(1 − m)/4",
        ("moment", "flat", "weighted"),
        "application",
    ),
    Inference(
        "moment_at_most",
        "in both cases the covariance of c and g is at most √3/18; with 1 − c in place of c it is at least −√3/18",
        ("few", "many", "fewer", "in_half", "top", "quarter", "below"),
        "case distinction",
    ),
    Inference(
        "second",
        "φ''(t) = E_t (c − E_t c)(s − E_t s)² is at most √3/18 nβ(wG)² in absolute value: the range of c = n b is at "
        "most nβ, and that of the scores s_ij = w a_i'Ha_j of a row at most wG",
        ("bend", "third_moment", "ranges", "times_the_ranges", "moment_at_most", "targets", "scores", "matched"),
        "application",
    ),
    Inference(
        "logits",
        "|φ(1) − 1 − φ'(0)| is at most half the bound on |φ''|: each logit of the layer differs from v plus the step's "
        "logit by at most v times this half",
        ("layer", "second"),
        rules.TAYLOR_THEOREM,
    ),
    Inference(
        "slope_of_softmax",
        "if the logits move along e, softmax p moves at the rates p_i e_i − Σ_j p_i p_j e_j, which add up to 0. If no "
        "|e_i| exceeds o, the absolute values of the rates add up to E|e − E e| under p, whose square is at most the "
        "variance of e, and so to at most o. The positive and the negative rates have sums of the same size, at most "
        "o/2, so that the squares of all rates add up to at most o²/2",
        (*(step.label for step in JACOBIAN), "square_of_the_sum", *(step.label for step in OF_THE_OUTPUTS)),
        "Cauchy-Schwarz",
    ),
    Inference(
        "close",
        "adding v to every logit does not change softmax: the predictions differ by at most 1/√2 times the bound of "
        "`logits`",
        ("logits", "slope_of_softmax", "together"),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference(
        "slopes_at_zero",
        "let w tend to 0. In row i the difference of the layer's logit less v and the step's logit, over w, tends to "
        "η/2 times the covariance C_i of b and (h − E h)², with h_j = a_i'Ha_j, under the uniform law on the rows j; "
        "the difference of the predictions over w tends to the image of this limit under the Jacobian of softmax at "
        "the step",
        ("layer", "bend", "third_moment", "matched", "halfbend_of_the_mean"),
        rules.DERIVATIVE,
    ),
    Inference(
        "two_rows_apart",
        "b has the same law in all rows; scaled to c in [0, 1], it has a mean m, and m ≤ 1/2 for b or for −b. If m ≤ "
        "1/2, C_i is βG² times a covariance of c, at most (1 − m) u (1 − 2u) ≤ (1 − m)/8, and −C_j is βG² times a "
        "covariance of 1 − c, whose mean is 1 − m, at most m(1 − m)/4: so C_i − C_j ≤ 9/64 βG². With −b for b the rows "
        "i and j change places",
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
        "subtracting the same number from every logit does not change softmax. With the mean of the largest and the "
        "least C_i subtracted, the limit of each logit's difference over w is at most η/2 times half of the largest "
        "C_i − C_j, and that of the distance of the predictions over w at most 1/√2 times this",
        ("slopes_at_zero", "two_rows_apart", "slope_of_softmax", "centred", "left_in_the_limit"),
        "application",
    ),
    Inference(
        "family",
        "let k = floor(n/4), r = n − 4k, A = I and β ≤ 2/n. b is 1/n + β/2 in the first 2k entries, 1/n − β/2 in the "
        "next 2k, and 1/n in the last r. The first row of H is 0 in k of the first 2k columns, G in the other k of "
        "them, and G/2 elsewhere; the second row is 0 in k of the next 2k columns, G in the other k of them, and G/2 "
        "elsewhere; all other rows are 0 in the first 2k columns, G in the next 2k, and G/2 in the last r. The step's "
        "logits are 0 in the first two rows and −ηβGk/n in the others. In the first two rows the layer's logits less v "
        "differ from them by w times ±ηβG²k/(8n), to first order in w",
        ("layer", "first_row", *(step.label for step in FAMILY)),
        rules.DERIVATIVE,
    ),
    Inference(
        "needed",
        "let p be each of the step's first two outputs. By `difference_of_two`, the differences of the predictions in "
        "these two entries, over w, tend to limits that are ηβG²k/(4n) p apart, so that the limit of the distance of "
        "the predictions over w is at least 1/√2 times this; as η grows, p tends to 1/2",
        ("family", "slopes_at_zero", "slope_of_softmax", "difference_of_two", "distance_of_two"),
        rules.LOWER_BOUND_APPROACHED,
    ),
    Inference(
        "each_task",
        "on each task G is finite and β ≤ 1, and the slope of the loss between outputs is at most √2, because the "
        "positive and the negative part of an output less b each add up to at most 1: as w tends to 0, the layer's "
        "loss tends to the step's",
        ("targets", "close", "square_of_the_sum", "squares"),
        "squeeze",
    ),
    Inference(
        "mean",
        "a loss is half the squared norm of an output less b, whose positive and negative part each add up to at most "
        "1: the loss is between 0 and 1, and under every law of the tasks the layer's mean loss tends to the step's",
        ("targets", "each_task", "square_of_the_sum", "squares"),
        rules.BOUNDED_CONVERGENCE,
    ),
    Inference(
        "least",
        "the limit of the layers' mean losses is at least their infimum",
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
                "2x³ less 3x²k − k³ is not negative for k, x ≥ 0; with x = 1/√3 this bounds k − k³",
                2 * x**3 - 3 * x**2 * k + k**3,
                (k - x) ** 2 * (k + 2 * x),
            ),
            Step(
                "9/64 less the bound on the difference of two rows is a square",
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
        "as w -> 0, on one task, with one H and one eta, |layer - step|/w has a limit of at most 1/60 eta beta G^2",
        slope_at_most(sp.Rational(1, 60)),
        draws=20,
    ),
    "needed": Evaluation(
        factor_needed(NEEDED_FACTOR),
        "no c below 4 floor(n/4)/n/40 is enough for |layer - step| <= c eta beta w G^2 for all tasks, H and eta, not "
        "even if only small w are allowed",
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
