r"""Lemmas 5 and 6: a filled-in label is only added to the outputs, and the loss is the mean square of the last label.

In blocks P = [[B, b], [pᵀ, β]] and Q = [[A, s], [uᵀ, τ]], a column (x; y) becomes, with r = 1/n,

    x' = x + r (B X + b Y)(Xᵀ (A x + s y) + Yᵀ (uᵀ x + τ y)),    y' = y + r (pᵀ X + β Y)( … ).

The examples do not see the query. If the last column of Q is zero (s = 0, τ = 0, as in patterns (8) and (11)), a label
c in place of the query's 0 leaves the query's x' unchanged and adds c to its y'. Applied layer by layer, this is Lemma
6. With c = ⟨w*, x⟩ the last label is ȳ = c − TF, so that f = E ȳ², which is Lemma 5. With another last column of Q
neither lemma holds.

Source: Ahn et al. 2023, Lemmas 5 and 6; that only the last column of Q has to be zero is derived here.
"""

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from theorems.canaries import with_changes
from theorems.papers import AHN2023
from theorems.preconditioned_descent.setting import (
    BLOCKS,
    DIMENSION,
    EQUAL_MEANS,
    EXAMPLES,
    LINEAR_ATTENTION,
    SHAPES,
    B,
    X,
    Y,
    b,
    beta,
    column_after,
    formal,
    p,
    r,
    s,
    seen,
    t,
    tau,
    w,
    x,
    y,
)
from theorems.preconditioned_descent.trials.linear_layers import (
    DRAWS,
    SAMPLES,
    label_is_added,
    mean_square_of_the_label,
)
from verify import (
    Canary,
    Case,
    Derivation,
    Evaluation,
    FormalText,
    Hypothesis,
    Inference,
    InWords,
    MatrixIdentity,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    matrix,
)

c = matrix("c")
LAST_COLUMN = Parameter("last_column", "word", "last column of Q", words=("zero", "any"))
ZERO_LAST_COLUMN = Hypothesis(
    "zero_last_column", text="the last column of every Q_l is zero, as in patterns (8) and (11)", varies=LAST_COLUMN
)
_word = sp.Symbol("last_column")
_LAST = Case(_word, 0 * s, s), Case(_word, sp.S.Zero, tau)
LETTERS = {**SHAPES, **BLOCKS, c: SHAPES[y]}


def token_after(label: sp.Expr, *last: sp.Expr) -> sp.Expr:
    """Return the query's token after a layer, d×1; Q's last column is `last`, by default that of the hypothesis."""
    return column_after(x, label, *(last or _LAST))[0]


def label_after(label: sp.Expr, *last: sp.Expr) -> sp.Expr:
    """Return the query's label after a layer; arguments as for `token_after`."""
    return column_after(x, label, *(last or _LAST))[1]


TOKEN = MatrixIdentity(
    "token",
    token_after(y + c),
    token_after(y),
    LETTERS,
    says="if c is added to the query's label before a layer, its token after the layer is the same",
)
LABEL = MatrixIdentity(
    "label",
    label_after(y + c),
    label_after(y) + c,
    LETTERS,
    says="if c is added to the query's label before a layer, its label after the layer is larger by c",
)
LOSS = MatrixIdentity(
    "loss",
    (-y - c) * (-y - c),
    (y + c) * (y + c),
    LETTERS,
    says="with TF = -y and <w*, x> = c, (TF - c)^2 is the square of y + c, the last label with c filled in",
)


OUTPUTS = InWords(
    "outputs",
    "after every layer a label c in the place of the query's 0 has added c to the query's label, and nothing else has "
    "changed",
)
MEAN_SQUARE = InWords(
    "mean_square", "f is the mean square of the last label, with <w*, x> in the place of the query's 0"
)


ADDED = formal(lemma6_outputs="filled_label.label_is_added")


def _statement(claim: InWords, *clauses: MatrixIdentity, texts: Mapping[str, FormalText]) -> Statement:
    return Statement(
        parameters=(DIMENSION, EXAMPLES, LAST_COLUMN),
        hypotheses=(LINEAR_ATTENTION, ZERO_LAST_COLUMN),
        variables=(r, beta, tau),
        claims=(claim, *clauses),
        formal=texts,
    )


OUTPUTS_ARGUMENT = (
    Inference("examples", "the examples do not see the query's column", ("linear_attention",), "definition"),
    Inference(
        "outputs",
        "after every layer the query's token is the same as without c, and its label is larger by c",
        ("examples", "token", "label", "zero_last_column"),
        "induction",
    ),
)
MEAN_SQUARE_ARGUMENT = (
    Inference(
        "last_label",
        "TF is minus the last label without c, and the last label with c = <w*, x> filled in is larger by c",
        ("ahn2023.lemma6:outputs", "linear_attention", "zero_last_column"),
        "application",
    ),
    Inference(
        "mean_square",
        "the loss is the mean of (TF − <w*, x>)², which by `loss` is the square of the last label with c filled in",
        ("last_label", "loss"),
        "definition",
    ),
)


def _canary(name: str, statement: Statement, label: str, left: sp.Expr, right: sp.Expr) -> Canary:
    return with_changes(statement, name, label, left=left, right=right)


def _derivation6() -> Derivation:
    """Return the steps: the effect of an added label on the query's sums, on its label and on its token."""
    added = (t(X) * s + tau * t(Y)) * c
    return Derivation(
        (
            Step("the change of (X; Y)ᵀ Q z by a label c", seen(x, y + c) - seen(x, y), added),
            Step(
                "so the label is larger by c, if s = 0 and τ = 0",
                label_after(y + c, s, tau) - label_after(y, s, tau),
                c + r * (t(p) * X + beta * Y) * added,
            ),
            Step(
                "and the token is unchanged, if s = 0 and τ = 0",
                token_after(y + c, s, tau) - token_after(y, s, tau),
                r * (B * X + b * Y) * added,
            ),
        )
    )


def _derivation5() -> Derivation:
    """Return the steps: c = ⟨w*, x⟩ filled in, and the loss with TF = −y."""
    filled = t(w) * x
    return Derivation(
        (
            Step(
                "with c = ⟨w*, x⟩ filled in, the label is larger by c after a layer, if s = 0 and τ = 0",
                label_after(y + filled, s, tau) - label_after(y, s, tau),
                filled + r * (t(p) * X + beta * Y) * (t(X) * s + tau * t(Y)) * filled,
            ),
            Step(
                "the loss: the square of TF − c = −y − c",
                (-y - filled) * (-y - filled),
                y * y + y * filled + filled * y + filled * filled,
            ),
            Step(
                "the square of the last label with c filled in",
                (y + filled) * (y + filled),
                y * y + y * filled + filled * y + filled * filled,
            ),
        )
    )


LEMMA6 = _statement(OUTPUTS, TOKEN, LABEL, texts=dict.fromkeys(("outputs", "token", "label"), ADDED))
lemma6 = Theorem(
    id="ahn2023.lemma6",
    title="The query's label is only added to the outputs if the last column of every Q is zero",
    source=Source("Lemma 6", "printed", AHN2023, "the hypothesis on the last column is derived here"),
    statement=LEMMA6,
    example={"d": 2, "n": 3},
    derivation=_derivation6,
    canaries=(
        _canary("for any last column", LEMMA6, "label", label_after(y + c, s, tau), label_after(y, s, tau) + c),
        _canary("the token, for any last column", LEMMA6, "token", token_after(y + c, s, tau), token_after(y, s, tau)),
        _canary("the label scaled with beta", LEMMA6, "label", label_after(y + c), label_after(y) + beta * c),
        _canary("the token moves with the label", LEMMA6, "token", token_after(y + c), token_after(y) + b * c),
    ),
    argument=OUTPUTS_ARGUMENT,
    evaluations={
        "outputs": Evaluation(
            label_is_added(corner=False),
            "where the last column of every Q_l is zero but for its corner, after every layer a label c in the place "
            "of the query's 0 has added c to the query's label, and nothing else has changed",
            label_is_added(corner=True),
            DRAWS,
        )
    },
)

LEMMA5 = _statement(
    MEAN_SQUARE,
    LABEL,
    LOSS,
    texts={
        "mean_square": formal(EQUAL_MEANS, lemma5_mean_square="filled_label.loss_is_mean_square"),
        "label": ADDED,
        "loss": formal(lemma5_error="filled_label.error_is_filled_in_label"),
    },
)
lemma5 = Theorem(
    id="ahn2023.lemma5",
    title="The loss is the mean square of the last layer's label, with the query's true label filled in",
    source=Source("Lemma 5", "printed", AHN2023, "the hypothesis on the last column is derived here"),
    statement=LEMMA5,
    example={"d": 2, "n": 3},
    derivation=_derivation5,
    canaries=(
        _canary("for any last column", LEMMA5, "label", label_after(y + c, s, tau), label_after(y, s, tau) + c),
        _canary("the label that is not filled in", LEMMA5, "loss", (-y - c) * (-y - c), y * y),
        _canary("the label of the other sign", LEMMA5, "loss", (-y - c) * (-y - c), (y - c) * (y - c)),
        _canary("twice the label", LEMMA5, "loss", (-y - c) * (-y - c), (y + 2 * c) * (y + 2 * c)),
    ),
    statement_uses=("ahn2023.lemma6",),
    proof_uses=("ahn2023.lemma6",),
    argument=MEAN_SQUARE_ARGUMENT,
    evaluations={
        "mean_square": Evaluation(
            mean_square_of_the_label(Fraction(1)),
            "f is the mean square of the last label, with 9/10 <w*, x> in the place of the query's 0",
            mean_square_of_the_label(Fraction(9, 10)),
            SAMPLES,
        )
    },
)
