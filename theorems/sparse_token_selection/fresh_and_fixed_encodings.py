r"""Length generalisation as stated: for fresh encodings the loss at other lengths tends to 0 if the training loss does.

Take a layer V = (A, 0), W = diag(B, M) with any matrices A, B and M of the right sizes. Because x_query = 0, the logits
e_i'M Σ_{j∈y} e_j depend on the encodings alone, and with the attention's shares p_i the loss is

    L = ½ E Σ_i |p_i A − [i ∈ y] I/q|²  (Frobenius norm).

*Encodings drawn afresh* for each sequence, independent and identically distributed, with any law:

    L(T_test) ≤ (κ + c + c²) L(T)   for T_test > T > q,    κ = (T_test − q)/(T − q),  c = (T_test − T)/√(T − q),
    L(T_test) ≤ (1 + T − T_test) L(T)   for q ≤ T_test ≤ T,

with q tokens selected at both lengths. So if the loss at T tends to 0, the loss at T_test tends to 0 as well. This
holds for all layers on the set that population descent from zero does not leave, and for many others. For T = q it need
not hold: there the layer A = I, M = 0 has the loss 0.

*Idea.* For more tokens: the training loss contains the squared shares of the tokens that are not selected. At test each
of the T_test − q such tokens has at most the share that it has in a sequence of T tokens. A selected token's share
falls by itself times the new tokens' share. The new tokens' share is at most the sum of their shares in sequences of T
tokens. The mean square of the sum is at most (number of new tokens)² times the mean of one squared share. For fewer
tokens: together, the remaining tokens gain the share of the removed tokens. The square of this share is at most
T − T_test times the sum of the squared shares of the removed tokens.

*One draw that is kept.* Let e_1 … e_{T+1} be linearly independent, as one-hot encodings are, and as T + 1 random sign
vectors nearly always are if d_e is well above T. Take f_i with f_i'e_j = [i = j], A = I, and

    M = C (Σ_{i≤T} f_i f_i' − 2 f f'),    f = Σ_{i≤T} f_i.

The first T tokens have the logits C ([i ∈ y] − 2h), where h of them are selected, and the last token has the logit 0.
At T tokens the loss tends to 0 for C → ∞, as h = q in all logits. At T + 1 tokens the last one takes all the attention,
selected or not: the loss tends to d/(2q) (q + 1 − 2q/(T+1)), about q + 1 times the zero predictor's loss. For q ≥ 2 the
same holds with the query's token: its logit C (h − 2h²) is at most the logits of the selected tokens. For q = 1,
attending to Z, a last token that is selected has the share 1/(T+1), and the limit is d/2 (2T/(T+1) + T/(T+1)²). These
layers are not on the set W = diag(0, C I), and no training is shown to lead to them.

Source: Wang et al. 2024, Definitions 3 and 5, [abs], and recalled from a summary of the paper: if the training loss
tends to 0, so does the loss at other lengths. The bounds and the counterexample are derived here.
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import WANG2024
from theorems.sparse_token_selection.invariant_set import share
from theorems.sparse_token_selection.length_generalisation import (
    SAME_LAWS,
    SHARE_OF_A_GROUP,
    SMALLER_SQUARE,
    TEST_LENGTH,
    T_test,
    after,
    before,
    first,
    group,
    new,
    rest,
    scale,
)
from theorems.sparse_token_selection.task import (
    GAUSSIAN_TOKENS,
    LENGTH,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_TOKEN,
    T,
    d,
    q,
)
from theorems.sparse_token_selection.trials import lengths
from verify import (
    Derivation,
    Evaluation,
    Identity,
    Implication,
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)

a, b, c, each, kappa, m, others, selected = sp.symbols("a b c each kappa m others selected", nonnegative=True)
loss_before, loss_after, part, root, squares = sp.symbols("loss_before loss_after part root squares", nonnegative=True)
C, h = sp.symbols("C h", positive=True)
own = sp.Symbol("own", positive=True)
value = sp.Symbol("value", real=True)

OTHERS = (T_test - q) / (T - q)
NEW = (T_test - T) / sp.sqrt(T - q)
LONGER = OTHERS + NEW + NEW**2
SHORTER = 1 + T - T_test
ON_THE_NEW_TOKEN = d / (2 * q) * (q + 1 - 2 * q / (T + 1))
ONE_SELECTED = d / 2 * (2 * T / (T + 1) + T / (T + 1) ** 2)
"""The limits of the loss at T + 1 tokens, for q ≥ 2 and q = 1, of layers that have learnt T fixed encodings."""

TOGETHER = Implication(
    "together",
    (sp.Ge(kappa, 1), sp.Le(selected, (a + c * b) ** 2), sp.Le(others, kappa * b**2)),
    sp.Le(selected + others, (kappa + c + c**2) * (a**2 + b**2)),
    says="selected + others <= (kappa + c + c^2)(a^2 + b^2) where selected <= (a + cb)^2, others <= kappa b^2, "
    "kappa >= 1",
)
MORE_TOKENS = (
    SMALLER_SQUARE,
    Implication(
        "multiples",
        (sp.Le(q * (T - q) * each, b**2),),
        sp.Le(q * m * each, m / (T - q) * b**2),
        says="q m each <= m b^2/(T-q) where q (T-q) each <= b^2",
    ),
    Identity(
        "fall",
        own / first - own / (first + new),
        own / first * (new / (first + new)),
        says="own/first - own/(first + new) = own/first new/(first + new)",
    ),
    SHARE_OF_A_GROUP,
    Implication(
        "at_most_itself", (sp.Le(share, 1), sp.Ge(share, 0)), sp.Le(share**2, share), says="p^2 <= p for 0 <= p <= 1"
    ),
    Implication(
        "lost_to_a_group",
        (sp.Le(squares, 1), sp.Le(group**2, m * others)),
        sp.Le(value**2 * squares * group**2, m * (value**2 * others)),
        says="v^2 squares group^2 <= m v^2 others where squares <= 1, group^2 <= m others",
    ),
    Implication(
        "root_of_a_square",
        (sp.Le(root**2, part**2),),
        sp.Le(root, part),
        says="x <= y where x^2 <= y^2 for x, y >= 0, as for y = m b/sqrt(T-q) and y = cb",
    ),
    Implication(
        "square_of_the_sum",
        (sp.Le(root, a + c * b),),
        sp.Le(root**2, (a + c * b) ** 2),
        says="x^2 <= (a + cb)^2 where 0 <= x <= a + cb",
    ),
    Implication(
        "longer_ratio",
        (sp.Gt(T_test, T),),
        sp.Ge(OTHERS, 1),
        says="(T_test-q)/(T-q) >= 1 for T_test > T",
    ),
    TOGETHER,
    Implication(
        "in_the_loss",
        (
            *(sp.Eq(loss_after, d / (2 * q) * new), sp.Eq(loss_before, d / (2 * q) * (a**2 + b**2))),
            sp.Le(new, kappa * (a**2 + b**2)),
        ),
        sp.Le(loss_after, kappa * loss_before),
        says="L_test <= k L where L_test = d/(2q) x, L = d/(2q) (a^2 + b^2), x <= k (a^2 + b^2)",
    ),
)
FEWER_TOKENS = (
    Identity(
        "rise",
        own / first - own / (first + new),
        new / (first + new) * (own / first),
        says="own/first - own/(first + new) = new/(first + new) own/first",
    ),
    Implication(
        "gained",
        (sp.Le(squares, group**2), sp.Le(group**2, m * others)),
        sp.Le(value**2 * squares, m * (value**2 * others)),
        says="v^2 squares <= m v^2 others where squares <= group^2, group^2 <= m others",
    ),
    Implication(
        "square_of_two_roots",
        (sp.Le(root, a + c * b),),
        sp.Le(root**2, (1 + c**2) * (a**2 + b**2)),
        says="x^2 <= (1 + c^2)(a^2 + b^2) where 0 <= x <= a + cb",
    ),
)
_SELECTED = q / (T + 1)
KEPT_DRAW = (
    Identity(
        "on_the_new_token",
        d / 2 * ((1 - _SELECTED) * (1 + q * (1 / q) ** 2) + _SELECTED * ((1 - 1 / q) ** 2 + (q - 1) * (1 / q) ** 2)),
        ON_THE_NEW_TOKEN,
        says="d/2 ((1-p)(1 + q/q^2) + p ((1 - 1/q)^2 + (q-1)/q^2)) = d/(2q) (q + 1 - 2p) for p = q/(T+1)",
    ),
    Identity(
        "one_selected",
        d / 2 * (T / (T + 1) * 2 + 1 / (T + 1) * ((1 / (T + 1) - 1) ** 2 + T / (T + 1) ** 2)),
        ONE_SELECTED,
        says="d/2 (2T/(T+1) + ((1/(T+1) - 1)^2 + T/(T+1)^2)/(T+1)) = d/2 (2T/(T+1) + T/(T+1)^2)",
    ),
    Identity(
        "own_logit",
        C * (h - 2 * h**2) - C * (1 - 2 * h),
        C * (h - 1) * (1 - 2 * h),
        says="C (h - 2 h^2) - C (1 - 2h) = C (h - 1)(1 - 2h)",
    ),
)

FRESH = InWords(
    "fresh",
    "for encodings that are drawn afresh for each sequence, independently of each other, of X and y, and of one law, "
    "whichever it is, and for all matrices A, B and M: attending to Z or to [Z, z_query], V = (A, 0), W = diag(B, M) "
    "has at T_test tokens, as many of them selected, a loss of at most kappa + c + c^2 times the loss at T where "
    "T_test > T, kappa = (T_test-q)/(T-q), c = (T_test-T)/sqrt(T-q), and at most 1 + T - T_test times the loss at T "
    "where T_test <= T: where the loss at T tends to 0, so does the loss at T_test",
)
FIXED = InWords(
    "fixed",
    "for one draw of encodings that is kept, with e_1 ... e_{T+1} linearly independent, there is a sequence of layers "
    "V = (I, 0), W = diag(0, M_k) whose loss at T tokens tends to 0, and whose loss at T+1 tokens tends to d/(2q) (q "
    "+ 1 - 2q/(T+1)): for q >= 2, attending to Z or to [Z, z_query]; for q = 1, attending to Z, the limit is d/2 "
    "(2T/(T+1) + T/(T+1)^2)",
)
EVALUATIONS = {
    "fresh": Evaluation(
        lengths.fresh(LONGER, SHORTER),
        "the same with half of the factors",
        lengths.fresh(LONGER / 2, SHORTER / 2),
        draws=300,
    ),
    "fixed": Evaluation(
        lengths.fixed(ON_THE_NEW_TOKEN, ONE_SELECTED),
        "the loss at T+1 tokens tends to half of this limit",
        lengths.fixed(ON_THE_NEW_TOKEN / 2, ONE_SELECTED / 2),
        draws=20,
    ),
}
STATEMENT = Statement(
    parameters=(LENGTH, TEST_LENGTH, SUBSET_SIZE, TOKEN_DIMENSION),
    domain=(sp.Lt(q, T), sp.Le(q, T_test)),
    hypotheses=(GAUSSIAN_TOKENS, ZERO_TOKEN, SAME_LAWS),
    variables=(
        *(a, b, c, each, group, kappa, m, others, selected, own, first, new, rest, share),
        *(before, after, scale, loss_before, loss_after, part, root, squares, value, C, h),
    ),
    claims=(FRESH, FIXED),
    steps=(*MORE_TOKENS, *FEWER_TOKENS, *KEPT_DRAW),
)
ARGUMENT = (
    Inference(
        "shares_alone",
        "as x_query = 0, the value of the query's token is A x_query = 0, and with u = Σ_{j∈y} e_j a token's logit is "
        "e_i'Mu, the query's u'Mu. So f − STS = Σ_i (p_i A − [i ∈ y] I/q) x_i, and 2L is the mean of the sum of these "
        "matrices' squared norms: the x_i are independent of the p_i and of each other, with mean 0 and covariance I",
        ("zero_token", "gaussian_tokens"),
        "independent factors",
    ),
    Inference(
        "in_parts",
        "with v² = |A|²/d, 2L/d at T tokens is the mean of Σ_y |p_i A − I/q|²/d plus the mean of Σ_{j∉y} v²p_j²; let "
        "a, b ≥ 0 be such that these means are a²/q and b²/q. At T_test, 2L/d is the sum of these two means there",
        ("shares_alone", "same_laws"),
        "definition",
    ),
    Inference(
        "subsequences",
        "for `fresh`: take the selected tokens of the longer sequence, and as many of its other tokens as the shorter "
        "sequence has. They have the law of a sequence of the shorter length, as the encodings are independent and of "
        "one law, and a weight depends on e_i and u alone. Each share is at least as large in this sequence, as the "
        "softmax's denominator has fewer terms",
        ("shares_alone", "same_laws", "share_of_a_group"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "others",
        "let T_test > T. The mean of v²p_j² is the same for all j ∉ y, and no larger at T_test than at T. So q times "
        "the mean of Σ_{j∉y} v²p_j² is at most (T_test − q) b²/(T − q) at T_test",
        ("in_parts", "subsequences", "smaller_square", "multiples"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "share_of_new_tokens",
        "split the T_test − T new tokens into groups of m ≤ T − q. A selected token's share p_i falls by p_i times the "
        "sum of the groups' shares of the attention, and each group's share is at most its share at T tokens",
        ("subsequences", "fall", "share_of_a_group"),
        "application",
    ),
    Inference(
        "a_group",
        "let g be a group's share. As Σ_y p_i² ≤ Σ_y p_i ≤ 1, and g² is at most m times the sum of the group's p_j², q "
        "times the mean of Σ_y v²p_i² g² is at most qm times the mean of the sum of the group's v²p_j². These m "
        "numbers have one mean, so that the bound is at most m² b²/(T − q) (multiples for m²)",
        ("share_of_new_tokens", "in_parts", "subsequences", "others", "at_most_itself", "lost_to_a_group", "multiples"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "selected",
        "a group's part in the fall has a root mean square of at most m b/√(T − q), and the groups' m add up to "
        "T_test − T: q times the mean of Σ_y |p_i A − I/q|²/d at T_test is at most (a + cb)²",
        ("a_group", "share_of_new_tokens", "in_parts", "root_of_a_square", "square_of_the_sum"),
        rules.MINKOWSKI_INEQUALITY,
    ),
    Inference(
        "more_tokens",
        "2qL/d is at most (a + cb)² + κb² at T_test > T, and a² + b² at T",
        ("in_parts", "selected", "others", "together", "in_the_loss", "longer_ratio"),
        "application",
    ),
    Inference(
        "gains",
        "let T_test ≤ T, and let g be the share at T of the m = T − T_test removed tokens. The share of each remaining "
        "token, and of the query, rises by its share at T_test times g. As the shares at T_test add up to 1, these "
        "rises, which are not negative, add up to g; the sum of their squares is at most g², which is at most m times "
        "the sum of the squared shares of the removed tokens",
        ("subsequences", "rise", "gained"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "fewer_tokens",
        "let a²/q now be the remaining tokens' part of 2L/d at T tokens, b²/q the removed tokens' part, and c² = m. "
        "Then q times the mean of v² Σ (rises)² is at most c²b², and the root of 2qL/d at T_test is at most a + cb",
        ("gains", "in_parts", "root_of_a_square", "square_of_two_roots", "in_the_loss"),
        rules.MINKOWSKI_INEQUALITY,
    ),
    Inference(
        "fresh",
        "T_test > T and T_test ≤ T are the only cases; the factors do not depend on the layer, nor on the law",
        ("more_tokens", "fewer_tokens"),
        "case distinction",
    ),
    Inference(
        "learnt_logits",
        "with f_i'e_j = [i = j] for i, j ≤ T+1, f = Σ_{i≤T} f_i and M = C (Σ_{i≤T} f_i f_i' − 2 f f'), Mu is C Σ_{i≤T} "
        "([i ∈ y] − 2h) f_i, h the number of selected tokens among the first T: the logit is C ([i ∈ y] − 2h) for i ≤ "
        "T, 0 for i = T+1, and C (h − 2h²) for the query",
        ("shares_alone",),
        rules.DUAL_BASIS,
    ),
    Inference(
        "at_training_length",
        "at T tokens h = q: for C → ∞ the selected tokens share the attention equally, as the query's logit is below "
        "theirs by (q − 1)(2q − 1) C, which grows for q ≥ 2, and Σ_i |p_i − [i ∈ y]/q|² tends to 0",
        ("learnt_logits", "own_logit"),
        "continuity",
    ),
    Inference(
        "at_one_more",
        "at T + 1 tokens, where h ≥ 1, all logits but the last token's tend to −∞: it takes all the attention, whether "
        "it is selected, with probability q/(T+1), or not. For q = 1 and y = {T+1}, attending to Z, all logits are 0",
        ("learnt_logits", "gaussian_tokens"),
        "continuity",
    ),
    Inference(
        "fixed",
        "with A = I the loss is d/2 times the mean of Σ_i |p_i − [i ∈ y]/q|²",
        ("at_training_length", "at_one_more", "shares_alone", "on_the_new_token", "one_selected"),
        "application",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the fall of a share, and the two bounds of sums of squares."""
    return Derivation(
        (
            Step(
                "if weights with the sum `new` are added, a share falls by itself times their share of the new sum",
                own / first - own / (first + new),
                own / first * (new / (first + new)),
            ),
            Step(
                "(κ + c + c²)(a² + b²) less (a + cb)² + κb²",
                (kappa + c + c**2) * (a**2 + b**2) - (a + c * b) ** 2 - kappa * b**2,
                (kappa - 1 + c**2) * a**2 + c * (a - b) ** 2,
            ),
            Step(
                "(1 + c²)(a² + b²) less (a + cb)²",
                (1 + c**2) * (a**2 + b**2) - (a + c * b) ** 2,
                (c * a - b) ** 2,
            ),
        )
    )


_canary = partial(with_changes, STATEMENT)

fresh_and_fixed_encodings = Theorem(
    id="wang2024.fresh_and_fixed_encodings",
    title="With fresh encodings the loss at any other length is at most a multiple of the training loss; with one draw "
    "that is kept no multiple is enough for all layers",
    source=Source(
        "Length generalisation", "derived here", WANG2024, "the paper's statement is not known to us in full"
    ),
    statement=STATEMENT,
    example={"T": 4, "T_test": 7, "q": 2, "d": 1},
    values={
        "factor": sp.Piecewise((LONGER, sp.Gt(T_test, T)), (SHORTER, True)),
        "loss_at_one_more_token": sp.Piecewise((ON_THE_NEW_TOKEN, sp.Ge(q, 2)), (ONE_SELECTED, True)),
    },
    derivation=derivation,
    canaries=(
        _canary(
            "the new tokens' square forgotten",
            "together",
            conclusion=sp.Le(selected + others, (kappa + c) * (a**2 + b**2)),
        ),
        _canary("half of c", "together", conclusion=sp.Le(selected + others, (kappa + c / 2 + c**2) * (a**2 + b**2))),
        _canary("c^2 for 1 + c^2", "square_of_two_roots", conclusion=sp.Le(root**2, c**2 * (a**2 + b**2))),
        _canary("a squared share of 2", "at_most_itself", conditions=(sp.Le(share, 2), sp.Ge(share, 0))),
        _canary("one token in T for one in T + 1", "on_the_new_token", right=d / (2 * q) * (q + 1 - 2 * q / T)),
    ),
    argument=ARGUMENT,
    evaluations=EVALUATIONS,
)
