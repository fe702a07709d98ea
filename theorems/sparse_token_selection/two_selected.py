r"""Two selected tokens, sign encodings: the least loss is exponentially small in the encodings' dimension.

Attending to Z with q = 2, both selected tokens always have the largest logit: v_1 = v_2 = |u|²/2, and no v_j is larger.
On the set V = (α I, 0), W = diag(0, C I) the infimum of the loss is its limit for C → ∞ (`attention_gain`),

    inf L = d/4 · E[k/(2+k)],

with k the number of other tokens whose logit is as large; each other token is one of them with probability
(3/4)^{d_e}. For T ≥ 3 and any d, d_e

    0 < inf L ≤ d (T−2)/12 · (3/4)^{d_e},

with equality on the right for T = 3 alone, where k is 0 or 1. No enclosure decides an equality, so the statement is for
T ≥ 4. It follows that d_e ≥ log(d(T−2)/(12ε))/log(4/3) is enough for the loss ε: the width d + d_e of the layer grows
like d + log(T/ε)/log(4/3). The infimum is not attained at any finite (α, C). For q ≥ 3 the selected logits differ, and
no such bound holds for large d_e.

Source: Wang et al. 2024, Theorem 2 has the width Õ(d + q log T); its constants are not known to us, and the bounds are
ours. That stochastic encoding means i.i.d. signs ±1/√d_e is our reading of Definitions 3 and 5.
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.gain_primitives import attention_gain
from theorems.sparse_token_selection.task import (
    ACCURACY,
    ENCODING_DIMENSION,
    GAUSSIAN_TOKENS,
    LENGTH,
    ON_THE_SET,
    SIGN_ENCODING,
    SIGNS_ARE_SYMMETRIC,
    TOKEN_DIMENSION,
    ZERO_QUERY,
    T,
    d,
    d_e,
    eps,
)
from verify import (
    Derivation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    Source,
    Statement,
    Step,
    Theorem,
    ValueLeast,
)

k, lost, mean, p, squares = sp.symbols("k lost mean p squares", nonnegative=True)
x_1, x_2, x_3 = sp.symbols("x_1 x_2 x_3", real=True)
alpha, P = sp.symbols("alpha P", real=True)
R, m = sp.symbols("R m", positive=True)

TWO_SELECTED = Hypothesis("two_selected", text="q = 2 tokens are selected")
OTHERS = Hypothesis("others", sp.Ge(T, 4))

FLOOR = d / 4 * (1 - attention_gain(T, 2, d_e, 0))
BOUND = d * (T - 2) / 12 * sp.Rational(3, 4) ** d_e
ENOUGH_DIMENSIONS = Hypothesis("enough_dimensions", sp.Le(BOUND, eps))

EQUAL_LOGITS = Implication(
    "equal_logits",
    (sp.Eq(x_1**2, x_2**2),),
    sp.Eq(x_1 * (x_1 + x_2), x_2 * (x_1 + x_2)),
    says="x_1 (x_1 + x_2) = x_2 (x_1 + x_2) for entries of one size",
)
NO_LARGER = Implication(
    "no_larger",
    (sp.Eq(x_3**2, x_1**2),),
    sp.Le(2 * x_1 * x_3, 2 * x_1**2),
    says="2 x_1 x_3 <= 2 x_1^2 for entries of one size",
)
SHARES = Implication(
    "shares",
    (sp.Ge(squares, (2 + k) * p**2),),
    sp.Le((2 * p) ** 2, 4 / (2 + k) * squares),
    says="where the sum of all p_i^2 is at least (2+k) p^2, it is at least (2+k)/4 (2p)^2",
)
AT_MOST = Implication(
    "at_most",
    (sp.Le(P**2, 4 * m * R),),
    sp.Ge(d / 4 * (1 - P**2 / (2 * R)), d / 4 * (1 - 2 * m)),
    says="d/4 (1 - P^2/(2R)) >= d/4 (1 - 2m) where P^2 <= 4 m R",
)
LOST = Identity("lost", 1 - 2 / (2 + k), k / (2 + k), says="1 - 2/(2+k) = k/(2+k)")
TIES = Implication("ties", (sp.Ge(k * (k - 1), 0),), sp.Le(k / (2 + k), k / 3), says="k/(2+k) <= k/3 for k = 0, k >= 1")
EQUAL_SHARES = Implication(
    "equal_shares",
    (sp.Eq((2 + k) * p, 1),),
    sp.Eq((2 + k) * p**2, 1 / (2 + k)),
    says="(2+k) p^2 = 1/(2+k) where (2+k) p = 1",
)
LIMIT_OF_THE_RATIO = Implication(
    "limit_of_the_ratio",
    (sp.Eq(P, 2 * m), sp.Eq(R, m)),
    sp.Eq(P**2 / (2 * R), 2 * m),
    says="P^2/(2R) = 2m where P = 2m, R = m",
)
LOST_IS_POSITIVE = Implication(
    "lost_is_positive", (sp.Ge(k, 1),), sp.Gt(d / 4 * (k / (2 + k)), 0), says="d/4 k/(2+k) > 0 where k >= 1"
)
IN_THE_MEAN = Implication(
    "in_the_mean",
    (sp.Le(lost, mean / 3), sp.Eq(mean, (T - 2) * sp.Rational(3, 4) ** d_e)),
    sp.Le(d / 4 * lost, BOUND),
    says="d/4 E k/(2+k) <= d (T-2)/12 (3/4)^d_e where E k/(2+k) <= E k/3 and E k = (T-2)(3/4)^d_e",
)
LOSS = d / 2 * (alpha**2 * R - alpha * P + sp.Rational(1, 2))
AT_BEST_ALPHA = d / 4 * (1 - P**2 / (2 * R))
FROM_BELOW = Inequality(
    "from_below",
    sp.Ge(LOSS, AT_BEST_ALPHA),
    says="d/2 (alpha^2 R - alpha P + 1/2) >= d/4 (1 - P^2/(2R))",
)
REACHED = Identity(
    "reached",
    LOSS.subs(alpha, P / (2 * R)),
    AT_BEST_ALPHA,
    says="d/2 (alpha^2 R - alpha P + 1/2) = d/4 (1 - P^2/(2R)) at alpha = P/(2R)",
)
NOT_REACHED = Inequality("positive", sp.Gt(FLOOR, 0), says="the infimum of L over alpha and C >= 0 is above 0")
BOUNDED = Inequality("bound", sp.Le(FLOOR, BOUND), says="the infimum of L is at most d (T-2)/12 (3/4)^d_e")
SMALL = Inequality("floor", sp.Le(FLOOR, eps), says="the infimum of L is at most eps")
STATEMENT = Statement(
    parameters=(LENGTH, TOKEN_DIMENSION, ENCODING_DIMENSION, ACCURACY),
    hypotheses=(GAUSSIAN_TOKENS, SIGN_ENCODING, ZERO_QUERY, TWO_SELECTED, ON_THE_SET, OTHERS, ENOUGH_DIMENSIONS),
    variables=(k, lost, mean, p, squares, x_1, x_2, x_3, alpha, P, R, m),
    claims=(NOT_REACHED, BOUNDED, SMALL),
    steps=(
        *(FROM_BELOW, REACHED, EQUAL_LOGITS, NO_LARGER, SHARES, AT_MOST, EQUAL_SHARES, LIMIT_OF_THE_RATIO, LOST),
        *(LOST_IS_POSITIVE, TIES, IN_THE_MEAN),
    ),
)
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "best_alpha",
        "on the set d/4 (1 − P²/(2R)) is the least L over alpha",
        (
            *("wang2024.lemma2:loss_on_the_set", "signs_are_symmetric", "from_below", "reached", "on_the_set"),
            *("two_selected", "gaussian_tokens", "zero_query"),
        ),
        "lower bound attained",
    ),
    Inference(
        "logits",
        "let u be the sum of the two selected encodings. A token's logit is C times the inner product of its encoding "
        "with u, and each entry of u is 0 or twice a selected token's entry: the two selected tokens' logits are "
        "equal, and no other is larger",
        ("equal_logits", "no_larger", "on_the_set", "two_selected", "sign_encoding", "zero_query"),
        "case distinction",
    ),
    Inference(
        "selected_shares",
        "let p be the share of either selected token, which is the largest; k other tokens have the same logit and the "
        "same share. So S = 2p is the sum of the two selected shares, Σp_i² ≥ (2 + k)p², and S² ≤ 4/(2 + k) Σp_i²",
        ("logits", "shares"),
        "nonnegative terms",
    ),
    Inference("product", "P² = (E S)² ≤ R E 4/(2 + k), for every C", ("selected_shares",), "Cauchy-Schwarz"),
    Inference(
        "limit",
        "as C → ∞ the shares of these 2 + k tokens tend to 1/(2 + k), and all other shares to 0: P → 2m and R → m with "
        "m = E 1/(2 + k), and so P²/(2R) → 2m",
        ("logits", "equal_shares", "limit_of_the_ratio"),
        rules.BOUNDED_CONVERGENCE,
    ),
    Inference(
        "infimum",
        "d/4 (1 − 2m), that is d/4 E k/(2 + k), is the infimum of L over alpha and C ≥ 0",
        ("best_alpha", "product", "at_most", "lost", "limit"),
        rules.LOWER_BOUND_APPROACHED,
    ),
    Inference(
        "chance",
        "the d_e coordinates are independent. In each, u is 0 with probability 1/2; if it is not 0, another token's "
        "entry has the sign of u with probability 1/2. So another token is one of the k with probability (3/4)^d_e",
        ("logits", "sign_encoding"),
        "independent factors",
    ),
    Inference(
        "mean_of_the_ties",
        "E k = (T − 2)(3/4)^d_e",
        ("chance", "two_selected"),
        "linearity of expectation",
    ),
    Inference(
        "positive",
        "d/4 k/(2 + k) is 0 where k = 0, and above 0 where k ≥ 1, which has a positive probability as T ≥ 4",
        ("infimum", "chance", "others", "lost_is_positive"),
        "nonnegative terms",
    ),
    Inference(
        "bound",
        "as k is 0 or at least 1, E k/(2 + k) ≤ E k/3; with E k = (T − 2)(3/4)^d_e, d/4 E k/(2 + k) is at most "
        "d (T − 2)/12 (3/4)^d_e",
        ("infimum", "mean_of_the_ties", "ties", "in_the_mean"),
        "linearity of expectation",
    ),
    Inference("floor", "that bound is at most eps", ("bound", "enough_dimensions"), "application"),
)


def derivation() -> Derivation:
    """Return the steps: the selected logits, the chance of a tie, the bound."""
    a, b, k, x = sp.symbols("a b k x", real=True)
    quarter = sp.Rational(1, 4)
    return Derivation(
        (
            Step(
                "In a coordinate with signs a, b of the selected tokens, the second's part of v exceeds the first's by "
                "b(a + b) − a(a + b), which is 0 as a² = b² = 1",
                b * (a + b) - a * (a + b),
                b**2 - a**2,
            ),
            Step(
                "a coordinate of u is not 0 with probability 1/2, and another token has its sign there with "
                "probability x = 1/2; over two coordinates, m of them not 0, E x^m is the square of (1 + x)/2 = 3/4",
                quarter + x / 2 + quarter * x**2,
                ((1 + x) / 2) ** 2,
            ),
            Step(
                "k/3 less k/(2+k) is not negative for k = 0 and k >= 1; with E k = (T − 2)(3/4)^d_e the bound follows",
                k / 3 - k / (2 + k),
                k * (k - 1) / (3 * (2 + k)),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


two_selected = Theorem(
    id="wang2024.two_selected",
    title="q = 2 with sign encodings: the infimum of the loss is positive and at most d (T−2)/12 (3/4)^d_e",
    source=Source("Theorem 2 for q = 2", "derived here", WANG2024, "the paper's constants are not known to us"),
    statement=STATEMENT,
    example={"T": 200, "d": 5, "d_e": 30, "eps": "1/50"},
    values={
        "loss_floor": FLOOR,
        "bound": BOUND,
        "d_e_enough": ValueLeast((BOUND,), "d_e", eps, sp.Integer(1), sp.Integer(1000)),
    },
    derivation=derivation,
    canaries=(
        _canary("a floor of 0 at finite d_e", Inequality("positive", sp.Le(FLOOR, 0))),
        _canary("1/2 for 3/4", Inequality("bound", sp.Le(FLOOR, d * (T - 2) / 12 * sp.Rational(1, 2) ** d_e))),
        _canary("24 for 12", Inequality("bound", sp.Le(FLOOR, BOUND / 2))),
        _canary("k/4 for k/3", Implication("ties", TIES.conditions, sp.Le(k / (2 + k), k / 4))),
        _canary("T - 3 for T - 2", Inequality("bound", sp.Le(FLOOR, BOUND * (T - 3) / (T - 2)))),
    ),
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
