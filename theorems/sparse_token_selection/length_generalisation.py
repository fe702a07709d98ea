r"""Length generalisation: a layer that is nearly as good as can be at T tokens, held fixed, at another number of them.

The encodings are drawn afresh for each sequence, so that a layer V = (α I, 0), W = diag(0, C I) means the same at any
length: with P, R of `sign_attention` at T_test tokens of which q_test are selected its loss there is

    L_test(α, C) = d/2 (α²R − 2αP/q_test + 1/q_test).

α and C, where they are not given, are those at which the floor at (T, q, d_e) is reached (`attention_gain`), to within
the hypothesis: L(α, C) at T tokens is at most 1.02 times the infimum. Where the infimum is not reached (q ≤ 2,
attending to Z alone) they have to be given.

More tokens take attention from the selected ones, and α stays as trained on T tokens. While the floor is at most an
eighth of d/(2q), the zero predictor's, and there are at most twice as many other tokens as in training, the
loss stays below two fifths of it; at four times as many it does not (a canary). At the floor's minimiser the share
that is lost rises with T: where the others have nearly all the attention, twice as many of them halve all shares, and
1 − 2P + qR at the best α, 1 − G, becomes 1 − G + G (R_y/4 + R_o/2)/R ≥ 1 − 3G/4, R_y and R_o the selected and the
other tokens' parts of R: 0.344 at G = 7/8. Other layers within the hypothesis may lose a little more. This is held at
instances and searched, for at most 16 selected of 10⁶ tokens, and not proved for all; 3/10 in place of 2/5 is false
(T = 20000, q = 4, d_e = 932 loses 0.319).

Source: Wang et al. 2024, [abs]: trained at T with stochastic encoding the layer also solves other lengths. The
statement, its numbers and its range are ours.
"""

from dataclasses import replace

import sympy as sp

from theorems.papers import WANG2024
from theorems.sparse_token_selection.gain_primitives import (
    attention_gain,
    best_logit_scale,
    best_value_scale,
    least_encoding_dimension,
    selected_attention,
    squared_attention,
)
from theorems.sparse_token_selection.invariant_set import SELECTED_PART
from theorems.sparse_token_selection.task import (
    ATTEND,
    ENCODING_DIMENSION,
    LENGTH,
    QUERY,
    SIGNS_ON_THE_SET,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    TWO_SELECTED,
    T,
    d,
    d_e,
    q,
)
from verify import Canary, Derivation, Hypothesis, Inequality, Parameter, Source, Statement, Step, Theorem

T_test, q_test = sp.symbols("T_test q_test", integer=True, positive=True)
C = sp.Symbol("C", nonnegative=True)
alpha = sp.Symbol("alpha", real=True)

TEST_LENGTH = Parameter("T_test", "integer", "number of tokens at test", minimum=2)
TEST_SIZE = Parameter("q_test", "integer", "number of tokens that the query selects at test", minimum=1)
LOGIT_SCALE = Parameter("C", "rational", "W = diag(0, C I)", minimum=0, default=best_logit_scale(T, q, d_e, QUERY))
VALUE_SCALE = Parameter("alpha", "rational", "V = (alpha I, 0)", default=best_value_scale(T, q, d_e, QUERY))


def loss(length: sp.Expr, subset: sp.Expr, query: sp.Expr | int = QUERY) -> sp.Expr:
    """Return the loss of the layer (α, C) at `length` tokens, `subset` of them selected; `query`: 1 with its token."""
    P, R = (f(length, subset, d_e, C, query) for f in (selected_attention, squared_attention))
    return d / 2 * (alpha**2 * R - 2 * alpha * P / subset + 1 / subset)


NOTHING = d / (2 * q)
SLACK = sp.Rational(1, 50)
ENOUGH_DIMENSIONS = Hypothesis(
    "enough_dimensions",
    sp.Ge(d_e, least_encoding_dimension(T, q, d, NOTHING / 8, QUERY)),
    text="d_e >= the dimension at which the floor at T tokens comes down to an eighth of d/(2q)",
)
NEAR_FLOOR = Hypothesis(
    "near_floor",
    sp.Le(loss(T, q), (1 + SLACK) * NOTHING * (1 - attention_gain(T, q, d_e, QUERY))),
    text="(alpha, C) is nearly the best at T tokens: its loss there is at most 1.02 times the infimum",
)
HALF_SELECTED = Hypothesis("half_selected", sp.Le(2 * q, T))
LOOKED_AT = (Hypothesis("few_selected", sp.Le(q, 16)), Hypothesis("not_too_long", sp.Le(T_test, 10**6)))
SAME_LAWS = Hypothesis(
    "same_laws", text="the laws of the tokens, the subset and the encodings are the same at test, for the sizes there"
)
SAME_SUBSETS = Hypothesis("same_subsets", sp.Eq(q_test, q))
NOT_SHORTER = Hypothesis("not_shorter", sp.Ge(T_test, T))
RANGE = Hypothesis("range", sp.Le(T_test - q, 2 * (T - q)), text="at most twice as many other tokens as in training")

GENERALISES = Inequality(
    "loss", sp.Le(loss(T_test, q_test), 2 * NOTHING / 5), says="the loss at T_test tokens is at most 2/5 of d/(2q)"
)
STATEMENT = Statement(
    parameters=(
        *(LENGTH, TEST_LENGTH, SUBSET_SIZE, TEST_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION),
        *(ATTEND, LOGIT_SCALE, VALUE_SCALE),
    ),
    domain=(SUBSET_FITS, sp.Le(q_test, T_test)),
    hypotheses=(
        *(*SIGNS_ON_THE_SET, SAME_LAWS, TWO_SELECTED, HALF_SELECTED),
        *(ENOUGH_DIMENSIONS, NEAR_FLOOR, SAME_SUBSETS, NOT_SHORTER, RANGE, *LOOKED_AT),
    ),
    claims=(GENERALISES,),
)


def derivation() -> Derivation:
    """Return the steps: the loss of a fixed layer, and that with all attention on the selected tokens."""
    share, P, R, x = sp.symbols("share P R x", positive=True)
    return Derivation(
        (
            SELECTED_PART,
            Step(
                "equal shares S/q of the selected tokens, and none elsewhere: the loss of a scale that is off",
                d / 2 * (alpha**2 * R - 2 * alpha * P / q + 1 / q).subs({P: share, R: share**2 / q}),
                d / (2 * q) * (1 - alpha * share) ** 2,
            ),
            Step(
                "where that scale was the best for shares S/q, and they fall by the factor 1 − x",
                (d / 2 * (R / share**2 - 2 * P / (share * q) + 1 / q)).subs(
                    {P: share * (1 - x), R: share**2 * (1 - x) ** 2 / q}
                ),
                d / (2 * q) * x**2,
            ),
        )
    )


def _canary(label: str, clause: Inequality, *where: Hypothesis) -> Canary:
    """Return the statement with another clause, `where` it is to be looked for."""
    return Canary(label, replace(STATEMENT, claims=(clause,), hypotheses=(*STATEMENT.hypotheses, *where)), clause.label)


AT_THE_END = (
    *(Hypothesis("end_of_range", sp.Ge(T_test - q, 2 * (T - q))), Hypothesis("long", sp.Ge(T, 300))),
    *(Hypothesis("four_selected", sp.Ge(q, 4)), Hypothesis("five_selected", sp.Le(q, 5))),
    Hypothesis("large_scale", sp.Ge(C, 3)),
)
"""Sizes and scales at which an instance is quick to find and to confirm."""


_w = sp.exp(-C)
_ONE_HOT_P = q_test / (q_test + (T_test - q_test) * _w)
_ONE_HOT_R = (q_test + (T_test - q_test) * _w**2) / (q_test + (T_test - q_test) * _w) ** 2
_ONE_HOT = d / 2 * (alpha**2 * _ONE_HOT_R - 2 * alpha * _ONE_HOT_P / q_test + 1 / q_test)

length_generalization = Theorem(
    id="wang2024.length_generalization",
    title="The loss at T_test tokens of a layer that is nearly optimal at T tokens",
    source=Source("Length generalisation", "derived here", WANG2024, "the paper's statement is not known to us"),
    statement=STATEMENT,
    example={"T": 40, "T_test": 77, "q": 3, "q_test": 3, "d": 5, "d_e": 100},
    values={
        "loss_at_test_length": loss(T_test, q_test),
        "loss_at_training_length": loss(T, q),
        "share_of_answering_nothing": loss(T_test, q_test) * 2 * q_test / d,
    },
    derivation=derivation,
    canaries=(
        _canary(
            "a length range twice as long",
            replace(GENERALISES, relation=sp.Le(loss(q_test + 2 * (T_test - q_test), q_test), 2 * NOTHING / 5)),
            *AT_THE_END,
        ),
        _canary(
            "the query's own logit forgotten",
            Inequality("query", sp.Eq(loss(T_test, q_test), loss(T_test, q_test, 0))),
            Hypothesis("moderate_length", sp.Le(T, 1000)),
        ),
        _canary(
            "the one-hot formula used with stochastic encoding",
            Inequality("one_hot", sp.Eq(loss(T_test, q_test), _ONE_HOT)),
        ),
        _canary("the loss is what it was in training", Inequality("same", sp.Le(loss(T_test, q_test), loss(T, q)))),
    ),
    statement_uses=("wang2024.theorem2",),
)
