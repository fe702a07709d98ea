r"""Theorem 3 with three layers, for every d and n: the least loss over multiples of Σ^{-1}, in closed form.

Over A_l = a_l Σ^{-1} the loss is f = ∫ p² dμ, p(s) = ∏ (1 − a_l s) = 1 − e_1 s + e_2 s² − e_3 s³, where the e_k are the
elementary symmetric functions of the steps and m_k = ∫ s^k dμ = E tr S^k. f is a quadratic function of the e_k,

    f = f* + Σ_{i,j} (−1)^{i+j} m_{i+j} (e_i − e_i*)(e_j − e_j*),

and the form is positive definite by its leading minors. The e_k* and the minors are rational functions of d and n. The
cubic whose roots are the steps has a positive discriminant and coefficients of alternating signs: for every d and n the
steps are real, different and positive. So f* is attained, only at these three steps.

With many examples S ≈ I + G/√n, where G is symmetric with entries N(0, 1) off and N(0, 2) on the diagonal. With
h_k = E tr G^k,

    n³ f* → h_6 − h_4²/h_2,    while at three steps 1, n³ f = n³ E tr (I − S)^6 → h_6.

`multiples_of_the_inverse` has Theorem 3's minimum for any number of layers, for every d and n; a closed form for all d
and n is only here and in `two_layer_minimum`.

Source: derived here; Ahn et al. 2023, Theorem 3, states only that the infimum of the squared gradient over
A_l = a_l Σ^{-1} is 0.
"""

from dataclasses import replace
from fractions import Fraction

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from theorems import rules
from theorems.closed_forms import roots_of, values_of
from theorems.papers import AHN2023
from theorems.preconditioned_descent.multiples_of_the_inverse import INVERSE_PRIOR, LEFT, WHITENED
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    ERROR,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LETTERS,
    LINEAR_ATTENTION,
    NORMAL,
    PATTERN,
    S,
    d,
    left_of,
    n,
    r,
)
from theorems.preconditioned_descent.trials.steps import least_at_steps
from theorems.stored_forms import Forms, stored
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.trace_moments import trace_moment
from verify import (
    Canary,
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)

MULTIPLES = Hypothesis("multiples", text="A_l = a_l Sigma^{-1}")
THREE_LAYERS = Hypothesis("three_layers", text="L = 3")

SYMMETRIC = e1, e2, e3 = sp.symbols("e_1 e_2 e_3", real=True)
STEPS = a_0, a_1, a_2 = sp.symbols("a_0:3", real=True)
s = sp.Symbol("s", real=True)
M = tuple(trace_moment([order], n, d) for order in range(7))
"""m_0 … m_6."""


_FRACTIONS = sp.QQ.frac_field(d, n)


def _signed(first: int, last: int) -> sp.Matrix:
    """Return the matrix of (−1)^{i+j} m_{i+j}, i and j from the first to the last."""
    return sp.Matrix(last - first + 1, last - first + 1, lambda i, j: (-1) ** (i + j) * M[i + j + 2 * first])


def _solved() -> tuple[tuple[sp.Expr, ...], sp.Expr]:
    """Return e_1* … e_3* and f*, each as one fraction."""
    form, right = (
        DomainMatrix.from_Matrix(matrix).convert_to(_FRACTIONS)
        for matrix in (_signed(1, 3), sp.Matrix([(-1) ** (k + 1) * M[k] for k in range(1, 4)]))
    )
    solution = form.lu_solve(right)
    loss = _FRACTIONS.from_sympy(M[0]) - (right.transpose() * solution).to_list()[0][0]
    return tuple(solution.to_Matrix()), _FRACTIONS.to_sympy(loss)


def loss(first: sp.Expr, second: sp.Expr, third: sp.Expr) -> sp.Expr:
    """Return f in terms of the elementary symmetric functions of the steps."""
    p = sp.Matrix([1, first, second, third])
    return (p.T * _signed(0, 3) * p)[0]  # pyright: ignore[reportReturnType]


def discriminant(first: sp.Expr, second: sp.Expr, third: sp.Expr) -> sp.Expr:
    """Return the discriminant of x³ − e_1 x² + e_2 x − e_3."""
    return (first * second) ** 2 - 4 * second**3 - 4 * first**3 * third + 18 * first * second * third - 27 * third**2


def derived_forms() -> Forms:
    """Return the least point, the loss there, the minors of the form and the discriminant, each as one fraction."""
    from theorems.preconditioned_descent.two_layer_squares import minors

    least_at, least = _solved()
    minor = dict(enumerate(minors(_signed(1, 3)), 1))
    return {
        **{f"e_{k}": at for k, at in enumerate(least_at, 1)},
        "least": least,
        **{f"minor_{size}": value for size, value in minor.items()},
        "discriminant": _FRACTIONS.to_sympy(discriminant(*map(_FRACTIONS.from_sympy, least_at))),
    }


FORMS = stored(derived_forms, d, n)
LEAST_AT, LEAST = tuple(FORMS[f"e_{k}"] for k in (1, 2, 3)), FORMS["least"]
_OFF = sp.Matrix([e - at for e, at in zip(SYMMETRIC, LEAST_AT, strict=True)])
LOSS = GaussianMoment(
    "loss_in_steps",
    ERROR**2,
    loss(*SYMMETRIC),
    LETTERS,
    NORMAL,
    {ERROR: left_of(1 - e1 * S + e2 * S * S - e3 * S * S * S)},
    says="E (w*'(I - e_1 S + e_2 S^2 - e_3 S^3)x)^2 is the quadratic polynomial f in the e_i; S = XX'/n, and X, w* and "
    "x are standard normal",
)
SQUARES = Identity(
    "form",
    loss(*SYMMETRIC),
    LEAST + (_OFF.T * _signed(1, 3) * _OFF)[0],
    "f = f* + the sum of (-1)^(i+j) m_(i+j) (e_i - e_i*)(e_j - e_j*) over i, j = 1, 2, 3",
)
DEFINITE = tuple(
    Inequality(
        f"minor_{size}", sp.Gt(FORMS[f"minor_{size}"], 0, evaluate=False), f"the leading minor of size {size} is > 0"
    )
    for size in (1, 2, 3)
)


def _determinant(size: int) -> sp.Expr:
    """Return the leading minor of a size, expanded along its first row."""
    entries = _signed(1, size)
    return entries.det(method="laplace")  # pyright: ignore[reportReturnType]


MINORS = tuple(
    Identity(
        f"determinant_{size}",
        _determinant(size),
        FORMS[f"minor_{size}"],
        f"the leading minor of size {size} of the form's matrix, (-1)^(i+j) m_(i+j) at (i, j), as one fraction",
    )
    for size in (2, 3)
)
DISCRIMINANT = Identity(
    "discriminant",
    discriminant(*LEAST_AT),
    FORMS["discriminant"],
    "the discriminant of x^3 - e_1* x^2 + e_2* x - e_3* as one fraction",
)
POSITIVE = tuple(
    Inequality(f"positive_{k}", sp.Gt(at, 0, evaluate=False), f"e_{k}* > 0") for k, at in enumerate(LEAST_AT, 1)
)
DIFFERENT = Inequality(
    "different",
    sp.Gt(FORMS["discriminant"], 0, evaluate=False),
    "the discriminant of x^3 - e_1* x^2 + e_2* x - e_3* is > 0",
)
EXPANDED = Identity(
    "expanded",
    sp.prod(1 - step * s for step in STEPS),
    1 - sum(STEPS) * s + (a_0 * a_1 + a_0 * a_2 + a_1 * a_2) * s**2 - a_0 * a_1 * a_2 * s**3,
    "(1 - a_0 s)(1 - a_1 s)(1 - a_2 s) = 1 - e_1 s + e_2 s^2 - e_3 s^3",
)
NOT_AT_MOST_0 = Implication(
    "not_at_most_0",
    (sp.Gt(e1, 0), sp.Gt(e2, 0), sp.Gt(e3, 0), sp.Le(s, 0)),
    sp.Lt(s**3 - e1 * s**2 + e2 * s - e3, 0),
    "x^3 - e_1 x^2 + e_2 x - e_3 < 0 for x <= 0 and positive e_1, e_2, e_3",
)
LEAST_STEPS = InWords(
    "least",
    "over A_l = a_l Sigma^{-1}, f is least, with the value minimum_loss, at three real, different and positive steps "
    "a_l, whose sum, sum of pairwise products and product are the values sum, pairs and product, and at no others",
)
STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, THREE_LAYERS, GAUSSIAN_TOKENS, INVERSE_PRIOR, MULTIPLES),
    variables=(*SYMMETRIC, *STEPS, s, r),
    claims=(LEAST_STEPS,),
    steps=(
        *(WHITENED, LEFT, EXPANDED, LOSS, SQUARES, *MINORS, *DEFINITE, *POSITIVE, DISCRIMINANT, DIFFERENT),
        NOT_AT_MOST_0,
    ),
)
ARGUMENT = (
    Inference(
        "whitened",
        "let Σ = RRᵀ and x = R x̃: the labels are (Rᵀw*)ᵀ x̃, Rᵀw* has covariance I, and the layer of A_l acts on x̃ "
        "as the layer of Rᵀ A_l R. A_l ↦ Rᵀ A_l R is a linear bijection that takes a_l Σ^{-1} to a_l I: Σ may be "
        "taken to be I",
        ("whitened_label", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior", "multiples"),
        rules.WHITENING,
    ),
    Inference(
        "residual",
        "layer l multiplies the residual w* − v by I − a_l S: after three layers it is p(S) w*, p(s) = ∏ (1 − a_l s)",
        ("ahn2023.lemma1", "whitened", "three_layers", "left_of_w"),
        "induction",
    ),
    Inference(
        "loss",
        "w* and x are normal and independent of S and of each other, with covariance I: f is the mean square of "
        "w*'p(S)x, a quadratic function of e_1, e_2, e_3",
        ("residual", "whitened", "expanded", "loss_in_steps"),
        "definition",
    ),
    Inference(
        "definite",
        "the form is positive definite",
        ("form", "minor_1", "determinant_2", "minor_2", "determinant_3", "minor_3"),
        rules.SYLVESTER_CRITERION,
    ),
    Inference(
        "bounded",
        "f ≥ f*, with equality only if all e_k = e_k*",
        ("loss", "form", "definite"),
        "nonnegative terms",
    ),
    Inference(
        "real_steps",
        "the e_k* are the elementary symmetric functions of three different real numbers, none of which is ≤ 0",
        ("discriminant", "different", "positive_1", "positive_2", "positive_3", "not_at_most_0"),
        rules.CUBIC_DISCRIMINANT,
    ),
    Inference(
        "least", "f* is attained at these steps, and at no others", ("bounded", "real_steps"), "lower bound attained"
    ),
)


def derivation() -> Derivation:
    """Return the derivation: f in terms of the a_l, the discriminant, the case d = 1, the limits for many examples."""
    a, b, c = sp.symbols("a b c", real=True)
    symmetric = (a + b + c, a * b + a * c + b * c, a * b * c)
    square = sp.Poly(((1 - a * s) * (1 - b * s) * (1 - c * s)) ** 2, s)
    second, fourth, sixth = d * (d + 1), 2 * d**3 + 5 * d**2 + 5 * d, 5 * d**4 + 22 * d**3 + 52 * d**2 + 41 * d
    return Derivation(
        (
            Step("f = ∫ p² dμ", sum(value * M[i] for (i,), value in square.terms()), loss(*symmetric)),
            Step("the discriminant", discriminant(*symmetric), ((a - b) * (a - c) * (b - c)) ** 2),
            Step("one dimension, by Laguerre's polynomial: the sum", sp.Subs(LEAST_AT[0], d, 1), 3 * n / (n + 2)),
            Step("one dimension: the product", sp.Subs(LEAST_AT[2], d, 1), n**3 / ((n + 2) * (n + 4) * (n + 6))),
            Step("many examples: three steps 1", sp.Limit(n**3 * loss(3, 3, 1), n, sp.oo), sixth),  # pyright: ignore[reportArgumentType]
            Step("many examples: the minimum", sp.Limit(n**3 * LEAST, n, sp.oo), sixth - fourth**2 / second),
        )
    )


def _canary(name: str, clause: Identity | Inequality) -> Canary:
    return Canary(name, lambda: STATEMENT.alone(clause), clause.label)


_LARGER_SUM = values_of(*LEAST_AT, factors=(Fraction(51, 50), Fraction(1), Fraction(1)))
EVALUATIONS = {
    "least": Evaluation(
        least_at_steps(roots_of(values_of(*LEAST_AT)), values_of(LEAST)),
        "over A_l = a_l Sigma^{-1}, f is least, with the value minimum_loss, at three steps whose sum is 51/50 of the "
        "value sum",
        least_at_steps(roots_of(_LARGER_SUM), values_of(LEAST)),
        draws=30,
    )
}

three_layer_minimum = Theorem(
    id="ahn2023.three_layer_minimum",
    title="Theorem 3 with three layers, for every d and n: the minimum in closed form, at three real steps",
    source=Source("Theorem 3, L = 3", "derived here", AHN2023, "more than is printed, for three layers"),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={"sum": LEAST_AT[0], "pairs": LEAST_AT[1], "product": LEAST_AT[2], "minimum_loss": LEAST},
    derivation=derivation,
    canaries=(
        _canary("twice the form", replace(SQUARES, right=2 * SQUARES.right - LEAST, says="")),
        _canary("a least loss larger by 1/n", replace(SQUARES, right=SQUARES.right + 1 / n, says="")),
        _canary(
            "a step that is not positive", replace(POSITIVE[2], relation=sp.Le(*POSITIVE[2].relation.args), says="")
        ),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("ahn2023.lemma1",),
    argument=ARGUMENT,
)
