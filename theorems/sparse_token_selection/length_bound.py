r"""Length generalisation: a layer's loss at more tokens is at most an explicit multiple of its loss in training.

The encodings are drawn afresh for each sequence, so that a layer V = (α I, 0), W = diag(0, C I) means the same at any
length. For every α and C ≥ 0, attending to Z or to [Z, z_query], with as many tokens selected and T_test > T > q,

    L(T_test) ≤ (κ + c + c²) L(T),    κ = (T_test − q)/(T − q),    c = (T_test − T)/√(T − q):

where the loss in training tends to 0 for given T, T_test and q, that at test does so too, as the paper has it.

Idea. Over the tokens that are not selected the loss in training has their squared shares, and by exchange of tokens
that of each of the T_test − q at test too, whose shares are no larger. The selected ones lose the share of the new
tokens: at most the sum of the new tokens' shares in sequences of T, whose square is in the mean at most (their number)²
times that of one squared share. Attending to Z the factor is sharp up to q + 1/2: for d_e → ∞, C large and the best α
at T tokens, L(T_test)/L(T) tends to κ + c²/q, so that twice as many tokens cost a factor T/q or so, however small the
loss in training is. At a given d_e the loss at test is at least the floor of `loss_floor`; `length_generalisation` has
the numbers there.

Source: Wang et al. 2024, [abs]: trained at T with stochastic encoding the layer also solves other lengths; recalled
from a summary of the paper: where the loss in training tends to 0, so does that at other lengths. The bound is ours.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.invariant_set import SELECTED_PART, SQUARE_OF_THE_RESIDUAL, share
from theorems.sparse_token_selection.length_generalisation import (
    LOGIT_SCALE,
    SAME_LAWS,
    TEST_LENGTH,
    VALUE_SCALE,
    T_test,
    loss,
)
from theorems.sparse_token_selection.task import (
    ATTEND,
    ENCODING_DIMENSION,
    LENGTH,
    SIGNS_ARE_SYMMETRIC,
    SIGNS_ON_THE_SET,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    q,
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
)

a, b, c, each, group, kappa, m, others, selected = sp.symbols(
    "a b c each group kappa m others selected", nonnegative=True
)
before, after, loss_before, loss_after, part, root, squares = sp.symbols(
    "before after loss_before loss_after part root squares", nonnegative=True
)
own, first, new, rest = sp.symbols("own first new rest", positive=True)
value = sp.Symbol("value", real=True)

OTHERS = (T_test - q) / (T - q)
NEW = (T_test - T) / sp.sqrt(T - q)
FACTOR = OTHERS + NEW + NEW**2

LONGER = Hypothesis("longer", sp.Gt(T_test, T))
BOUND = Inequality(
    "bound",
    sp.Le(loss(T_test, q), FACTOR * loss(T, q)),
    says="the loss at T_test tokens is at most kappa + c + c^2 times that at T, kappa = (T_test-q)/(T-q), c = "
    "(T_test-T)/sqrt(T-q), and so tends to 0 with it",
)
TOGETHER = Implication(
    "together",
    (sp.Ge(kappa, 1), sp.Le(selected, (a + c * b) ** 2), sp.Le(others, kappa * b**2)),
    sp.Le(selected + others, (kappa + c + c**2) * (a**2 + b**2)),
    says="selected + others <= (kappa + c + c^2)(a^2 + b^2) where selected <= (a + cb)^2, others <= kappa b^2, "
    "kappa >= 1",
)
STEPS = (
    SQUARE_OF_THE_RESIDUAL,
    Implication(
        "smaller_square",
        (sp.Le(after, before),),
        sp.Le(value**2 * after**2, value**2 * before**2),
        says="alpha^2 x^2 <= alpha^2 y^2 where 0 <= x <= y",
    ),
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
    Implication(
        "share_of_a_group",
        (sp.Le(rest, first + new),),
        sp.Le(group / (first + new), group / rest),
        says="group/(first + new) <= group/rest where rest <= first + new",
    ),
    Implication(
        "at_most_itself", (sp.Le(share, 1), sp.Ge(share, 0)), sp.Le(share**2, share), says="p^2 <= p for 0 <= p <= 1"
    ),
    Implication(
        "lost_to_a_group",
        (sp.Le(squares, 1), sp.Le(group**2, m * others)),
        sp.Le(value**2 * squares * group**2, m * (value**2 * others)),
        says="alpha^2 squares group^2 <= m alpha^2 others where squares <= 1, group^2 <= m others",
    ),
    Implication(
        "root_of_a_group",
        (sp.Le(root**2, part**2),),
        sp.Le(root, part),
        says="x <= y where x^2 <= y^2 for x, y >= 0, as for y = m b/sqrt(T-q)",
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
STATEMENT = Statement(
    parameters=(
        *(LENGTH, TEST_LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION),
        *(ATTEND, LOGIT_SCALE, VALUE_SCALE),
    ),
    domain=(sp.Lt(q, T),),
    hypotheses=(*SIGNS_ON_THE_SET, SAME_LAWS, LONGER),
    variables=(
        *(a, b, c, each, group, kappa, m, others, selected, own, first, new, rest, share),
        *(before, after, loss_before, loss_after, part, root, squares, value),
    ),
    claims=(BOUND,),
    steps=STEPS,
)
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "in_parts",
        "2L/d at T tokens, and likewise at T_test, is the mean of Σ_y (αp_i − 1/q)², which is put to be a²/q, and of "
        "Σ_{j∉y} α²p_j², put to be b²/q: so a, b ≥ 0",
        (
            *("wang2024.lemma2:loss_on_the_set", "square_of_the_residual", "signs_are_symmetric", "gaussian_tokens"),
            *("zero_token", "on_the_set", "same_laws"),
        ),
        "linearity of expectation",
    ),
    Inference(
        "fewer_tokens",
        "the encodings are independent and of one law: of T_test tokens, the selected ones and any T − q others are a "
        "sequence of T tokens, in which each share is no smaller, as the softmax's denominator has fewer terms",
        ("sign_encoding", "same_laws", "on_the_set", "longer", "share_of_a_group"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "others",
        "α²p_j² has one mean for all j ∉ y, which at T_test is no larger than at T: q times that of Σ_{j∉y} α²p_j² at "
        "T_test is at most (T_test − q) b²/(T − q)",
        ("in_parts", "fewer_tokens", "smaller_square", "multiples"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "what_is_lost",
        "in groups of m ≤ T − q of the T_test − T new tokens: a selected token's share p_i falls by p_i times the sum "
        "of the groups' shares of the attention, each of which is at most that in a sequence of T tokens",
        ("fewer_tokens", "fall", "share_of_a_group"),
        "application",
    ),
    Inference(
        "a_group",
        "as Σ_y p_i² ≤ Σ_y p_i ≤ 1, and (a group's share)² is at most m times the sum of its p_j², q times the mean of "
        "Σ_y α²p_i² (a group's share)² is at most qm times that of the sum of its α²p_j², m numbers of one mean, and "
        "so at most m² b²/(T − q) (multiples for m²)",
        ("what_is_lost", "in_parts", "fewer_tokens", "at_most_itself", "lost_to_a_group", "multiples"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "selected",
        "a group's part has a root mean square of at most m b/√(T − q), and the groups' m add up to T_test − T: q "
        "times the mean of Σ_y (αp_i − 1/q)² at T_test is at most (a + cb)²",
        ("a_group", "what_is_lost", "in_parts", "root_of_a_group", "square_of_the_sum"),
        rules.MINKOWSKI_INEQUALITY,
    ),
    Inference(
        "bound",
        "2qL/d is at most (a + cb)² + κb² at T_test, and a² + b² at T",
        ("in_parts", "selected", "others", "together", "in_the_loss", "longer_ratio", "longer"),
        "application",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the loss of a fixed layer, a share's fall, the two parts together."""
    return Derivation(
        (
            SELECTED_PART,
            Step(
                "a weight's share falls, as others of weight `new` come, by itself times their share of the new sum",
                own / first - own / (first + new),
                own / first * (new / (first + new)),
            ),
            Step(
                "what (κ + c + c²)(a² + b²) has beyond (a + cb)² + κb²",
                (kappa + c + c**2) * (a**2 + b**2) - (a + c * b) ** 2 - kappa * b**2,
                (kappa - 1 + c**2) * a**2 + c * (a - b) ** 2,
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)

length_bound = Theorem(
    id="wang2024.length_bound",
    title="The loss at T_test > T tokens is at most an explicit multiple of that at T, for every layer on the set",
    source=Source(
        "Length generalisation", "derived here", WANG2024, "the paper's statement is not known to us in full"
    ),
    statement=STATEMENT,
    example={"T": 20, "T_test": 30, "q": 2, "d": 5, "d_e": 40, "attend": "tokens", "C": "4", "alpha": "1"},
    values={
        "loss_at_training_length": loss(T, q),
        "loss_at_test_length": loss(T_test, q),
        "factor": FACTOR,
    },
    derivation=derivation,
    canaries=(
        _canary("the loss is what it was in training", Inequality("bound", sp.Le(loss(T_test, q), loss(T, q)))),
        _canary(
            "as much as there are more other tokens", Inequality("bound", sp.Le(loss(T_test, q), OTHERS * loss(T, q)))
        ),
        _canary(
            "the new tokens' square forgotten",
            replace(TOGETHER, conclusion=sp.Le(selected + others, (kappa + c) * (a**2 + b**2))),
        ),
        _canary(
            "half of c", replace(TOGETHER, conclusion=sp.Le(selected + others, (kappa + c / 2 + c**2) * (a**2 + b**2)))
        ),
    ),
    statement_uses=("wang2024.lemma2",),
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
