r"""Length generalisation on the set: the loss at more tokens is at most an explicit multiple of the training loss.

`fresh_and_fixed_encodings` applies to a layer V = (α I, 0), W = diag(0, C I) with signs drawn afresh: for every α and
C ≥ 0, attending to Z or to [Z, z_query], with q tokens selected at both lengths and T_test > T > q,

    L(T_test) ≤ (κ + c + c²) L(T),    κ = (T_test − q)/(T − q),    c = (T_test − T)/√(T − q).

Here both sides are enclosed at an instance. Attending to Z the bound is sharp up to a factor of q + 1/2: for d_e → ∞,
then C → ∞, at the best α at T tokens, L(T_test)/L(T) tends to κ + c²/q, and κ + c + c² ≤ (q + 1/2)(κ + c²/q), as
c ≤ (q − 1/2)κ + c²/(2q). So with twice as many tokens the loss may be about T/q times as large, however small the loss
in training is. At a given d_e the loss at test is at least the floor of `loss_floor`; `length_generalisation` has the
bound 2L + d/(7q), for at most twice as many other tokens.

Source: Wang et al. 2024, [abs]: trained at T with stochastic encoding the layer also solves other lengths; recalled
from a summary of the paper: if the loss in training tends to 0, so does the loss at other lengths. The bound is ours.
"""

from functools import partial

import sympy as sp

from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.fresh_and_fixed_encodings import LONGER as FACTOR, OTHERS
from theorems.sparse_token_selection.invariant_set import SELECTED_PART
from theorems.sparse_token_selection.length_generalisation import (
    LOGIT_SCALE,
    SAME_LAWS,
    TEST_LENGTH,
    VALUE_SCALE,
    T_test,
    alpha,
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
from verify import Derivation, Hypothesis, Inequality, Inference, Source, Statement, Step, Theorem

MORE_TOKENS = Hypothesis("longer", sp.Gt(T_test, T))
BOUND = Inequality(
    "bound",
    sp.Le(loss(T_test, q), FACTOR * loss(T, q)),
    says="the loss at T_test tokens is at most kappa + c + c^2 times the loss at T, kappa = (T_test-q)/(T-q), c = "
    "(T_test-T)/sqrt(T-q), and so tends to 0 with it",
)
STATEMENT = Statement(
    parameters=(
        *(LENGTH, TEST_LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION),
        *(ATTEND, LOGIT_SCALE, VALUE_SCALE),
    ),
    domain=(sp.Lt(q, T),),
    hypotheses=(*SIGNS_ON_THE_SET, SAME_LAWS, MORE_TOKENS),
    claims=(BOUND,),
)
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "bound",
        "apply `fresh_and_fixed_encodings:fresh` with A = αI and M = C I: independent signs are independent encodings "
        "of one law, and with either attention the loss at α and C is d/2 (α²R − 2αP/q + 1/q)",
        (
            *("wang2024.fresh_and_fixed_encodings:fresh", "wang2024.lemma2:loss_on_the_set", "signs_are_symmetric"),
            *("sign_encoding", "on_the_set", "gaussian_tokens", "zero_token", "same_laws", "longer"),
        ),
        "application",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the terms of the loss; the loss of a layer at C = 0, and its slope in T."""
    return Derivation(
        (
            SELECTED_PART,
            Step(
                "at C = 0, attending to Z, all shares are 1/T: the loss is that of the mean of all tokens times α",
                d / 2 * (q * (alpha / T - 1 / q) ** 2 + (T - q) * (alpha / T) ** 2),
                d / 2 * (alpha**2 / T - 2 * alpha / T + 1 / q),
            ),
            Step(
                "at C = 0 the loss falls with T for α > 2, and rises with T for 0 < α < 2",
                sp.Derivative(d / 2 * (alpha**2 / T - 2 * alpha / T + 1 / q), T),
                d / 2 * alpha * (2 - alpha) / T**2,
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)

length_bound = Theorem(
    id="wang2024.length_bound",
    title="The loss at T_test > T tokens is at most an explicit multiple of the loss at T, for every layer on the set",
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
            "the loss grows at most by the ratio of the numbers of other tokens",
            Inequality("bound", sp.Le(loss(T_test, q), OTHERS * loss(T, q))),
        ),
        _canary("half of the factor", Inequality("bound", sp.Le(loss(T_test, q), FACTOR / 2 * loss(T, q)))),
    ),
    statement_uses=("wang2024.lemma2",),
    proof_uses=("wang2024.fresh_and_fixed_encodings", "wang2024.lemma2"),
    argument=ARGUMENT,
)
