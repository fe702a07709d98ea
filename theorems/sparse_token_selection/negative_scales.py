r"""C ≤ 0: the selected tokens get little attention, and the loss on the set stays above its infimum over C ≥ 0.

On V = (α I, 0), W = diag(0, C I) a token has the logit C v_i, v_i = e_i·u with u the sum of the selected encodings. At
a negative C the smallest v_i has the largest share, and a selected token's v_i tends to be larger than another's:

    P ≤ q H/(T−q+1) ≤ a,    H = 1 + 1/2 + … + 1/(T−q+1),    a = q (1 + log(T−q+1))/(T−q+1),

for the mean P of the attention to the selected tokens, for all C ≤ 0, whether the query's token is attended to or not.
So at every α and C ≤ 0

    L ≥ d/(2q) (1 − G_0),    G_0 = a²/(a² + q (T/(T+1) − a)²/(T−q)),    if a ≤ T/(T+1).

If G_0 is below sup P²/(qR) over C ≥ 0 (`attention_gain`), the infimum of L over C ≥ 0 is its infimum over all real C.
At T = 200, q = 3, d_e = 170, G_0 is 0.42, and the supremum is 0.57 with the query's token and 0.89 without. The bound
of P needs no hypothesis on the sizes, and the bound of L only a ≤ T/(T+1).

*The idea.* Given u, in each coordinate the entry of a selected token has the sign of u's entry with a probability of at
least 1/2, independently over the coordinates. So there is a v_0 ≤ v_i that, given u, has the law of the other tokens'
v_j and is independent of them. Each token j ∉ y with v_j ≤ v_0 has at least the weight of token i, so that p_i ≤ 1/N,
where N is 1 plus the number of these tokens. Of T − q + 1 numbers, at least k are at most the k-th smallest; by
exchangeability E 1/N is at most the mean of 1/k over k = 1 … T − q + 1.

In samples P ≤ q/T: the factor of about 1 + log T is not sharp.

Source: Wang et al. 2024, Theorem 2, does not restrict the sign of C. The bounds are ours.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.gain_primitives import attention_gain
from theorems.sparse_token_selection.invariant_set import P, R, alpha
from theorems.sparse_token_selection.least_loss_without_the_query import SOME_OTHERS
from theorems.sparse_token_selection.slopes_on_the_set import BEST_VALUE_SCALE
from theorems.sparse_token_selection.task import (
    ATTEND,
    ENCODING_DIMENSION,
    GAUSSIAN_TOKENS,
    LENGTH,
    QUERY,
    SIGN_ENCODING,
    SIGNS_ARE_SYMMETRIC,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_TOKEN,
    T,
    d,
    d_e,
    q,
)
from theorems.sparse_token_selection.trials import negative_scales as trials
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Implication,
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)

OTHERS = T - q + 1
MOST = q * (1 + sp.log(OTHERS)) / OTHERS
GAIN = MOST**2 / (MOST**2 + q * (T / (T + 1) - MOST) ** 2 / (T - q))

ANY_SCALE = Hypothesis("on_the_set", text="V = (alpha I, 0), W = diag(0, C I), alpha and C real")
SMALL_SHARE = Hypothesis("small_share", sp.Le(MOST, T / (T + 1)), "a <= T/(T+1), a = q (1 + log(T-q+1))/(T-q+1)")
LARGER_GAIN = Hypothesis(
    "larger_gain",
    sp.Lt(GAIN, attention_gain(T, q, d_e, QUERY)),
    "a^2/(a^2 + q (T/(T+1) - a)^2/(T-q)) is below the supremum of P^2/(qR) over C >= 0",
)

c, v, w = sp.symbols("c v w", real=True)
s, x, y = sp.symbols("s x y", nonnegative=True)
k = sp.Symbol("k", integer=True, positive=True)
a, b, n, total, count, weight = sp.symbols("a b n total count weight", positive=True)
bound = sp.Symbol("bound", nonnegative=True)

MAJORITY = Implication(
    "majority",
    (sp.Le(s, q),),
    sp.Ge((q + s) / (2 * q), sp.Rational(1, 2)),
    says="of q signs with the sum s >= 0 the fraction (q+s)/(2q) is +, which is at least 1/2",
)
LARGER_WEIGHT = Implication(
    "larger_weight",
    (sp.Le(c, 0), sp.Le(v, w)),
    sp.Ge(c * v, c * w),
    says="c v >= c w where c <= 0, v <= w",
)
SHARE = Implication(
    "share",
    (sp.Ge(total, count * weight),),
    sp.Le(weight / total, 1 / count),
    says="weight/total <= 1/count where the total is at least count times the weight",
)
HARMONIC = Implication(
    "harmonic",
    (sp.Ge(k, 2),),
    sp.Le(1 / k, -sp.log(1 - 1 / k)),
    says="1/k <= -log(1 - 1/k) for k >= 2",
)
OWN_LOGIT = Implication("own_logit", (sp.Ge(s * (s - 1), 0),), sp.Ge(s**2, s), says="s^2 >= s where s = 0 or s >= 1")
COMPARED = Implication(
    "compared",
    (sp.Le(P, a), sp.Le(a, b), sp.Ge(P, 0)),
    sp.Ge((b - P) * a, (b - a) * P),
    says="(b - P) a >= (b - a) P where 0 <= P <= a <= b",
)
SQUARES = Implication("squares", (sp.Ge(x, y),), sp.Ge(x**2, y**2), says="x^2 >= y^2 where x >= y >= 0")
GAIN_AT_MOST = Implication(
    "gain_at_most",
    (sp.Ge(R, P**2 / q + (b - P) ** 2 / n), sp.Ge((b - P) ** 2 * a**2, (b - a) ** 2 * P**2)),
    sp.Ge(a**2 * q * R, P**2 * (a**2 + q * (b - a) ** 2 / n)),
    says="a^2 q R >= P^2 (a^2 + q (b-a)^2/n) where R >= P^2/q + (b-P)^2/n, (b-P)^2 a^2 >= (b-a)^2 P^2",
)
RATIO = Implication(
    "ratio",
    (sp.Gt(R, 0), sp.Ge(a**2 * q * R, P**2 * total)),
    sp.Le(P**2 / (q * R), a**2 / total),
    says="P^2/(qR) <= a^2/total where a^2 q R >= P^2 total, R > 0",
)
LOSS_AT_LEAST = Implication(
    "loss_at_least",
    (sp.Ge(R, 0), sp.Le(c, bound)),
    sp.Ge(d / (2 * q) * (1 - c) + d * R / 2 * v**2, d / (2 * q) * (1 - bound)),
    says="d/(2q) (1 - c) + dR/2 v^2 >= d/(2q) (1 - bound) where c <= bound, R >= 0",
)

ATTENTION = InWords(
    "attention",
    "for all C <= 0 the mean P of the attention to the selected tokens is at most q (1 + log(T-q+1))/(T-q+1)",
)
AT_LEAST = InWords(
    "loss",
    "for all alpha and C <= 0 the loss is at least d/(2q) (1 - a^2/(a^2 + q (T/(T+1) - a)^2/(T-q))), a = q (1 + "
    "log(T-q+1))/(T-q+1)",
)
LEAST = InWords("least", "at no alpha and C <= 0 is the loss as small as its infimum over alpha and C >= 0")
BELOW_ZERO = d / (2 * q) * (1 - GAIN)
EVALUATIONS = {
    "attention": Evaluation(
        trials.attention(MOST),
        "for all C <= 0 P is at most q/(2T)",
        trials.attention(q / (2 * T)),
        draws=300,
    ),
    "loss": Evaluation(
        trials.loss(BELOW_ZERO),
        "for all alpha and C <= 0 the loss is at least d/(2q)",
        trials.loss(d / (2 * q)),
        draws=300,
    ),
    "least": Evaluation(
        trials.lower(1),
        "at no alpha and C >= 0 is the loss as small as its infimum over alpha and C <= 0",
        trials.lower(-1),
        draws=300,
    ),
}
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, ATTEND),
    domain=(SUBSET_FITS,),
    hypotheses=(GAUSSIAN_TOKENS, SIGN_ENCODING, ZERO_TOKEN, ANY_SCALE, SOME_OTHERS, SMALL_SHARE, LARGER_GAIN),
    variables=(c, v, w, s, x, y, k, a, b, n, total, count, weight, bound, alpha, P, R),
    claims=(ATTENTION, AT_LEAST, LEAST),
    steps=(
        *(MAJORITY, LARGER_WEIGHT, SHARE, HARMONIC, OWN_LOGIT, COMPARED, SQUARES, GAIN_AT_MOST, RATIO),
        *(BEST_VALUE_SCALE, LOSS_AT_LEAST),
    ),
)
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "loss_by_means",
        "on the set L is d/2 (α²R − 2αP/q + 1/q), for C of either sign",
        ("wang2024.lemma2:loss_on_the_set", "signs_are_symmetric", "on_the_set", "gaussian_tokens", "zero_token"),
        "application",
    ),
    Inference(
        "positive",
        "the softmax's shares are positive, and so are P and R",
        ("on_the_set", "sign_encoding"),
        "nonnegative terms",
    ),
    Inference(
        "chances",
        "the q selected signs of a coordinate are exchangeable: given their sum s a selected token has the sign of s "
        "with the probability (q + |s|)/(2q), not below 1/2; given u this is independent over the coordinates, and of "
        "the tokens that are not selected",
        ("sign_encoding", "majority"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "coupled",
        "given u, change some of the signs of a selected token i that agree with u's, at random and independently over "
        "the coordinates, so that all its signs are fair: v_i becomes a v_0 ≤ v_i that is independent of the v_j, j ∉ "
        "y, and has their law",
        ("chances", "sign_encoding"),
        rules.COUPLING,
    ),
    Inference(
        "counted",
        "let N be 1 plus the number of j ∉ y with v_j ≤ v_0. For C ≤ 0 each of these j has C v_j ≥ C v_i, and so at "
        "least the weight of token i, as the exponential rises: p_i ≤ 1/N",
        ("coupled", "larger_weight", "share", "on_the_set"),
        "application",
    ),
    Inference(
        "ranks",
        "given u the T − q + 1 numbers v_0 and v_j are exchangeable; at least k of them are at most the k-th smallest, "
        "so that E 1/N is at most H/(T − q + 1), H the sum of 1/k over k ≤ T − q + 1",
        ("coupled", "counted"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "logarithm",
        "−log(1 − 1/k) = log k − log(k − 1), and from k = 2 to T − q + 1 these add up to log(T − q + 1): H ≤ 1 + "
        "log(T − q + 1)",
        ("harmonic",),
        "telescoping",
    ),
    Inference(
        "attention",
        "P is the sum of q means E p_i, each of them at most E 1/N",
        ("counted", "ranks", "logarithm"),
        "linearity of expectation",
    ),
    Inference(
        "own_share",
        "if the query's token is attended to, its logit is C|u|², and |u|² ≥ v_i for every token, as |s| ≤ s² for the "
        "integer s in each coordinate: for C ≤ 0 its weight is the least of T + 1, and its share at most 1/(T + 1)",
        ("own_logit", "larger_weight", "share", "sign_encoding", "on_the_set", "zero_token"),
        "application",
    ),
    Inference(
        "mean_squares",
        "with S the attention to y and O the attention to the other tokens, Σ_i p_i² ≥ S²/q + O²/(T − q), so that "
        "R ≥ P²/q + (E O)²/(T − q)",
        ("on_the_set", "some_others"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "others_get",
        "S + O is 1 if Z alone is attended to, and otherwise at least T/(T + 1): E O ≥ T/(T + 1) − P, which is not "
        "negative, so that (E O)² ≥ (T/(T + 1) − P)²",
        ("own_share", "attention", "small_share", "squares"),
        "application",
    ),
    Inference(
        "gain",
        "P²/(qR) ≤ a²/(a² + q (T/(T + 1) − a)²/(T − q)) for C ≤ 0: with b = T/(T + 1), (b − P) a ≥ (b − a) P ≥ 0, and "
        "their squares are in this order",
        (
            *("mean_squares", "others_get", "attention", "small_share", "positive", "compared", "squares"),
            *("gain_at_most", "ratio"),
        ),
        "application",
    ),
    Inference(
        "loss",
        "L is at least its least value over α, d/(2q) (1 − P²/(qR))",
        ("loss_by_means", "gain", "positive", "best_value_scale", "loss_at_least"),
        "application",
    ),
    Inference(
        "least",
        "the infimum over α and C ≥ 0 is d/(2q) (1 − sup P²/(qR)), and this supremum is larger than the bound of "
        "P²/(qR) at C ≤ 0",
        ("loss", "loss_by_means", "positive", "best_value_scale", "larger_gain"),
        "application",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the fraction of signs that are +, the mean of 1/k, the gain at the bound."""
    j = sp.Symbol("j", integer=True, positive=True)
    return Derivation(
        (
            Step(
                "of q signs with the sum s the part (q + s)/(2q) is +, which exceeds 1/2 by",
                (q + s) / (2 * q) - sp.Rational(1, 2),
                s / (2 * q),
            ),
            Step(
                "v_0 has rank 1, 2 or 3 among three: the mean of 1/rank",
                sp.Rational(1, 3) * sp.Sum(1 / j, (j, 1, 3)),
                sp.Rational(11, 18),
            ),
            Step(
                "(b − P) a is larger than (b − a) P by this, for P ≤ a ≤ b",
                (b - P) * a - (b - a) * P,
                b * (a - P),
            ),
            Step(
                "P²/(qR) at P = a, R = P²/q + (b − P)²/n",
                a**2 / (q * (a**2 / q + (b - a) ** 2 / n)),
                a**2 / (a**2 + q * (b - a) ** 2 / n),
            ),
        )
    )


_canary = partial(
    with_clause,
    replace(STATEMENT, hypotheses=tuple(h for h in STATEMENT.hypotheses if h not in (SMALL_SHARE, LARGER_GAIN))),
)
"""The steps hold without the two hypotheses on sizes, and without these the searches for canaries are quick."""


negative_scales = Theorem(
    id="wang2024.negative_scales",
    title="Sign encodings, C ≤ 0: the selected tokens' attention is at most q (1 + log(T−q+1))/(T−q+1), and the loss "
    "is above its infimum over C ≥ 0 if the bound of P²/(qR) at C ≤ 0 is below its supremum over C ≥ 0",
    source=Source("Theorem 2's loss at C ≤ 0", "derived here", WANG2024, "the paper's proof is not known to us"),
    statement=STATEMENT,
    example={"T": 60, "q": 2, "d": 1, "d_e": 20, "attend": "tokens"},
    values={"most_attention": MOST, "least_loss_below_zero": BELOW_ZERO},
    derivation=derivation,
    canaries=(
        _canary(
            "C of either sign", Implication("larger_weight", LARGER_WEIGHT.conditions[1:], LARGER_WEIGHT.conclusion)
        ),
        _canary("2/k for 1/k", Implication("harmonic", HARMONIC.conditions, sp.Le(2 / k, -sp.log(1 - 1 / k)))),
        _canary("any s up to 2", Implication("own_logit", (sp.Le(s, 2),), OWN_LOGIT.conclusion)),
        _canary("P above a", Implication("compared", COMPARED.conditions[1:], COMPARED.conclusion)),
        _canary(
            "a loss above the bound",
            Implication("loss_at_least", LOSS_AT_LEAST.conditions[:1], LOSS_AT_LEAST.conclusion),
        ),
    ),
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
    evaluations=EVALUATIONS,
)
