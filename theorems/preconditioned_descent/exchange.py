r"""Lemma 4: under Theorem 3's set-up, exchanging two of the a_l changes neither the loss nor any prediction.

With A_l = a_l K for one matrix K, two consecutive layers commute: whatever the labels before these layers, the labels
of the examples and of the query after them do not depend on the order of the two. Exchanges of neighbours generate
every permutation.

Source: Ahn et al. 2023, Lemma 4; the proof here shows it for the predictions too.
"""

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import AHN2023
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EQUAL_MEANS,
    EXAMPLES,
    LINEAR_ATTENTION,
    PATTERN,
    SHAPES,
    X,
    Y,
    d,
    formal,
    label_after,
    r,
    x,
    y,
)
from theorems.preconditioned_descent.trials.linear_layers import DRAWS, same_in_every_order
from verify import (
    Canary,
    Case,
    Derivation,
    Evaluation,
    Hypothesis,
    Inference,
    InWords,
    MatrixIdentity,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    matrix as letter,
)

a, b = sp.symbols("a b", real=True)
K, G, H = letter("K"), letter("G"), letter("H")
MULTIPLES = Parameter("preconditioners", "word", "whether all A_l are multiples of one", words=("multiples", "any"))
SCALAR = Hypothesis("multiples", text="A_l = a_l Sigma^{-1}, one matrix for all layers", varies=MULTIPLES)
word = sp.Symbol("preconditioners")
first, second = Case(word, a * K, G), Case(word, b * K, H)
LETTERS = {letter: SHAPES[letter] for letter in (X, Y, x, y)} | dict.fromkeys((K, G, H), (d, d))


def examples(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    """Return the examples' labels, 1×n, after two layers with these matrices."""
    once = label_after(Y, Y, X, one)
    return label_after(once, once, X, other)


def query(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    """Return the query's label after two layers with these matrices."""
    return label_after(label_after(Y, Y, X, one), label_after(Y, y, x, one), x, other)


CLAUSES = (
    MatrixIdentity(
        "examples",
        examples(first, second),
        examples(second, first),
        LETTERS,
        says="labels of the examples: the same in both orders",
    ),
    MatrixIdentity(
        "query", query(first, second), query(second, first), LETTERS, says="label of the query: the same in both orders"
    ),
)

EVERY_ORDER = InWords("every_order", "no order of the a_l changes the prediction, nor the loss")

STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES, MULTIPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, SCALAR),
    variables=(r, a, b),
    claims=(EVERY_ORDER, *CLAUSES),
    formal={
        "every_order": formal(
            EQUAL_MEANS, lemma4_every_order="exchange.every_order", lemma4_loss="exchange.loss_in_every_order"
        ),
        **dict.fromkeys(("examples", "query"), formal(lemma4_every_order="exchange.every_order")),
    },
)
ARGUMENT = (
    Inference(
        "neighbours",
        "exchanging two neighbouring layers changes no label after them, and so no input of a later layer",
        ("linear_attention", "pattern", "multiples", "examples", "query"),
        "application",
    ),
    Inference(
        "every_order",
        "every permutation of the layers is a sequence of such exchanges, and changes neither the prediction nor the "
        "loss",
        ("neighbours",),
        rules.EXCHANGES_OF_NEIGHBOURS,
    ),
)


def derivation() -> Derivation:
    """Return the steps: two layers, in both orders."""
    step = sp.transpose(X) * K
    return Derivation(
        (
            Step(
                "two layers on the query: symmetric in a and b",
                query(a * K, b * K) - y,
                -r * (a + b) * Y * step * x + r**2 * a * b * Y * step * X * step * x,
            ),
            Step("two layers on the query, exchanged", query(a * K, b * K), query(b * K, a * K)),
            Step("two layers on the examples, exchanged", examples(a * K, b * K), examples(b * K, a * K)),
        )
    )


def _canary(name: str, label: str, left: sp.Expr, right: sp.Expr) -> Canary:
    return with_changes(STATEMENT, name, label, left=left, right=right)


lemma4 = Theorem(
    id="ahn2023.lemma4",
    title="Exchanging two step sizes changes no prediction",
    source=Source("Lemma 4", "printed", AHN2023),
    statement=STATEMENT,
    example={"d": 2, "n": 3},
    derivation=derivation,
    canaries=(
        _canary("for any two matrices", "query", query(G, H), query(H, G)),
        _canary(
            "a matrix and its transpose", "query", query(a * K, b * sp.transpose(K)), query(b * sp.transpose(K), a * K)
        ),
        _canary("the step sizes added in one layer", "query", query(a * K, b * K), label_after(Y, y, x, (a + b) * K)),
        _canary("the examples, for any two matrices", "examples", examples(G, H), examples(H, G)),
    ),
    argument=ARGUMENT,
    evaluations={
        "every_order": Evaluation(
            same_in_every_order(turned=False),
            "no order of the layers changes the prediction, nor the loss, if A_0 = a_0 K' and all other A_l = a_l K",
            same_in_every_order(turned=True),
            DRAWS,
        )
    },
)
