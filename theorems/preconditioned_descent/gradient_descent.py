r"""Lemma 1: under pattern (8) the forward pass is preconditioned gradient descent, with A_lᵀ as preconditioner.

Let R(v) = (1/2n) Σ_i ⟨v − w*, x^(i)⟩², so that ∇R(v) = (1/n) X Xᵀ (v − w*). If after l layers the examples' labels are
(w* − v)ᵀ X and the query's is −vᵀ x, then after another layer they have the same form with v replaced by

    v' = v − A_lᵀ ∇R(v).

Before the first layer v = 0. The paper prints A_l in place of A_lᵀ, which is right for symmetric A_l only.

Source: Ahn et al. 2023, Lemma 1.
"""

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import AHN2023
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    LINEAR_ATTENTION,
    PATTERN,
    SHAPES,
    X,
    Y,
    d,
    formal,
    label_after,
    n,
    r,
    t,
    w,
    x,
)
from theorems.preconditioned_descent.trials.linear_layers import DRAWS, descent_in_every_layer
from verify import (
    Canary,
    Case,
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
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

v, B = letter("v"), letter("B")
SYMMETRY = Parameter("preconditioner", "word", "whether A_l is symmetric", words=("symmetric", "any"))
SYMMETRIC = Hypothesis("symmetric", text="A_l is symmetric", varies=SYMMETRY)
# A symmetric matrix is (B + Bᵀ)/2.
A = Case(sp.Symbol("preconditioner"), (B + t(B)) / 2, B)
LETTERS = {letter: SHAPES[letter] for letter in (X, x, w)} | {v: SHAPES[x], B: (d, d)}

labels, label = t(w - v) * X, -t(v) * x
gradient = X * t(X) * (v - w) / n


def _mean(expression: sp.Expr) -> sp.Expr:
    """Return an expression with r, the factor of a layer, set to 1/n."""
    return expression.subs(r, 1 / n)  # pyright: ignore[reportReturnType]


def _examples(forward: sp.Expr, descent: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return two forms of the examples' labels, 1×n.

    They are the labels after a layer with A = `forward`, and (w* − v')ᵀX with v' = v − `descent` ∇R(v).
    """
    return _mean(label_after(labels, labels, X, forward)), t(w - (v - descent * gradient)) * X


def _query(forward: sp.Expr, descent: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return two forms of the query's label.

    They are the label after a layer with A = `forward`, and −v'ᵀx with v' = v − `descent` ∇R(v).
    """
    return _mean(label_after(labels, label, x, forward)), -t(v - descent * gradient) * x


EVERY_LAYER = InWords(
    "every_layer",
    "after l layers the labels of the examples are (w* - v_l)' X and the query's is -v_l' x, where v_0 = 0 and "
    "v_{l+1} = v_l - A_l' grad R(v_l)",
)
CLAUSES = (
    EVERY_LAYER,
    MatrixIdentity(
        "examples",
        *_examples(B, t(B)),
        LETTERS,
        says="labels of the examples: (w* - v')' X, v' = v - B' grad R(v), any A = B",
    ),
    MatrixIdentity(
        "query", *_query(B, t(B)), LETTERS, says="label of the query: -(v')' x, v' = v - B' grad R(v), any A = B"
    ),
    MatrixIdentity(
        "examples_as_printed",
        *_examples(A, A),
        LETTERS,
        says="labels of the examples: (w* - v')' X, v' = v - A grad R(v)",
    ),
    MatrixIdentity(
        "query_as_printed", *_query(A, A), LETTERS, says="label of the query: -(v')' x, v' = v - A grad R(v)"
    ),
)

residual, move = sp.symbols("residual move", real=True)
TERM = Identity(
    "slope_of_a_term",
    sp.Subs(sp.Derivative((residual + move) ** 2 / 2, move), move, 0),
    residual,
    "e^2/2, e = (v - w*)'x_i, has the slope e in e: R(v) = (1/2n) sum of ((v - w*)'x_i)^2 has the gradient "
    "(1/n) sum of (v - w*)'x_i x_i",
)
STEPS_EXIST = {"lemma1_step_exists": "gradient_descent.step_exists"}
STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES, SYMMETRY),
    hypotheses=(LINEAR_ATTENTION, PATTERN, SYMMETRIC),
    variables=(residual, move),
    claims=CLAUSES,
    steps=(TERM,),
    formal={
        "every_layer": formal(
            lemma1_every_layer="gradient_descent.every_layer",
            lemma1_descent_exists="gradient_descent.descent_exists",
        ),
        **dict.fromkeys(("examples", "query"), formal(lemma1_one_layer="gradient_descent.one_layer", **STEPS_EXIST)),
        **dict.fromkeys(
            ("examples_as_printed", "query_as_printed"),
            formal(lemma1_one_layer_as_printed="gradient_descent.one_layer_as_printed", **STEPS_EXIST),
        ),
    },
)
ARGUMENT = (
    Inference(
        "gradient",
        "R(v) = (1/2n) Σ ⟨v − w*, x_i⟩² has the gradient (1/n) XX'(v − w*)",
        ("slope_of_a_term",),
        rules.CHAIN_RULE,
    ),
    Inference(
        "every_layer",
        "before the first layer the labels are w*' X and 0, those at v_0 = 0; a layer takes the labels at v_l to those "
        "at v_{l+1}",
        ("linear_attention", "pattern", "gradient", "examples", "query"),
        "induction",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the gradient of R in a layer, both labels after it."""
    layer = -Y * t(X) * B * x / n
    return Derivation(
        (
            Step(
                "a layer's change of the query's label, if the examples' labels are (w* − v)ᵀX",
                layer.subs(Y, labels),
                t(gradient) * B * x,
            ),
            Step("so the examples' labels become those of v − Bᵀ∇R(v)", *_examples(B, t(B))),
            Step("so the query's label becomes that of v − Bᵀ∇R(v)", *_query(B, t(B))),
        )
    )


def _canary(name: str, label: str, sides: tuple[sp.Expr, sp.Expr]) -> Canary:
    return with_changes(STATEMENT, name, label, left=sides[0], right=sides[1])


lemma1 = Theorem(
    id="ahn2023.lemma1",
    title="Under pattern (8) the forward pass is gradient descent preconditioned by the transpose of A",
    source=Source("Lemma 1", "printed", AHN2023, "with A in the place of its transpose"),
    statement=STATEMENT,
    example={"d": 2, "n": 3},
    derivation=derivation,
    canaries=(
        _canary("A in the place of its transpose, for any A", "query", _query(B, B)),
        _canary("ascent", "query", _query(B, -t(B))),
        _canary("twice the step", "examples", _examples(B, 2 * t(B))),
        _canary("A in the place of its transpose in the examples' labels, for any A", "examples", _examples(B, B)),
    ),
    argument=ARGUMENT,
    evaluations={
        "every_layer": Evaluation(
            descent_in_every_layer(0),
            "after l layers the labels of the examples are (w* - v_l)' X and the query's is -v_l' x, where v_0 = 0 and "
            "v_{l+1} = v_l - n/(n+1) A_l' grad R(v_l)",
            descent_in_every_layer(1),
            DRAWS,
        )
    },
)
