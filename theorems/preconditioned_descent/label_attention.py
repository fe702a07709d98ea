r"""Theorem 3's least point with two layers is not critical over all P and Q: f has a nonzero slope in an entry of Q.

Pattern (8) leaves the corner of Q at 0. Let Q_1 = diag(−A_1, t), with the rest as in pattern (8), A_0 = a I, A_1 = b I
and Σ = I (by whitening; labels are the same). Then the second layer also weighs examples by the product of their label
with the query's. Let S = XXᵀ/n, p(s) = (1 − a s)(1 − b s) and u(s) = s (1 − a s)². The labels after the first layer
have the mean square w*ᵀ u(S) w*, and up to its sign the error of the prediction is

    w*ᵀ p(S) x − t a (w*ᵀ u(S) w*) (w*ᵀ S x),

so that f = E tr p(S)² − 2 t a c + t² a² E (w*ᵀ u w*)² w*ᵀ S² w*, and by Wick's rule over w* and x

    c = E (w*ᵀ p x) (w*ᵀ u w*) (w*ᵀ S x) = E tr u tr S p + 2 E tr u S p.

At Theorem 3's minimum a + b and a b are rational (`two_layer_minimum`), and a² = (a + b) a − a b makes c affine in a,
c = α + β a. The two orders of the steps give c_1 and c_2; their sum and product are rational functions of n and d, and
positive: so c_1, c_2 > 0, and ∂f/∂t = −2 a c < 0 for every d and n, in either order. A small t > 0 lowers the loss; the
best t lowers it by c² / E (w*ᵀ u w*)² w*ᵀ S² w*.

Theorem 3 says that the gradient in all A_l vanishes, which is true. The gradient in all entries of P and Q is not 0.

Source: derived here; Ahn et al. 2023 look only at the gradient in the A_l.
"""

from itertools import product

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.both_orders import STEPS as BOTH_ORDERS, U, W
from theorems.preconditioned_descent.multiples_of_the_inverse import INVERSE_PRIOR, WHITENED
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LINEAR_ATTENTION,
    SHAPES,
    X,
    d,
    label_after,
    n,
    r,
    t,
    w,
    x,
)
from theorems.preconditioned_descent.two_layer_minimum import (
    PRODUCT,
    PRODUCT_OF_STEPS,
    TOTAL,
    det,
    e,
    form,
)
from theorems.stored_forms import Forms, stored
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.trace_moments import trace_moment
from verify import (
    Canary,
    Derivation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    MatrixIdentity,
    Source,
    Statement,
    Step,
    Theorem,
)

LABELS_READ = Hypothesis(
    "labels_read", text="L = 2, P_l = diag(0, 1), Q_0 = -diag(A_0, 0), Q_1 = diag(-A_1, t), A_l = a_l Sigma^{-1}"
)
a, b, s, corner, total, prod, c = sp.symbols("a b s corner total prod c", real=True)
"""a_0, a_1, an eigenvalue, t, a_0 + a_1, a_0 a_1 and c."""


def label(with_corner: sp.Expr) -> sp.Expr:
    """Return the query's label after both layers at Σ = I if it is 0 at first; `with_corner` is t."""
    labels, query = t(w) * X, sp.S.Zero
    labels, query = label_after(labels, labels, X, a), label_after(labels, query, x, a)
    return label_after(labels, query, x, b) + r * labels * t(labels) * with_corner * query


def mean(*polynomials: sp.Expr) -> sp.Expr:
    """Return E of the product of tr φ(S) over polynomials φ in s."""
    terms = product(*(sp.Poly(polynomial, s).terms() for polynomial in polynomials))
    return sp.Add(
        *(sp.Mul(*(c for _, c in each)) * trace_moment(sorted(power for (power,), _ in each), n, d) for each in terms)
    )


SEEN = s * (1 - a * s) ** 2
_ERROR = s * (1 - total * s + prod * s**2)
AT_MINIMUM = {total: TOTAL, prod: PRODUCT}
_SQUARE = d**6 * n**6 * (d - n) ** 2


def derived_forms() -> Forms:
    """Return c, α, β, the sum of c over both orders, the parts of the product, and the coefficient of t² a²."""
    coupling = sp.collect(sp.expand(mean(SEEN, _ERROR) + 2 * mean(sp.expand(SEEN * _ERROR))), a)
    quotient, left = (
        part.as_expr().subs(AT_MINIMUM) for part in sp.div(sp.Poly(coupling, a), sp.Poly(a**2 - total * a + prod, a))
    )
    alpha: sp.Expr
    beta: sp.Expr
    alpha, beta = (sp.factor(left.coeff(a, power)) for power in (0, 1))  # pyright: ignore[reportAssignmentType]
    both = alpha**2 + alpha * beta * TOTAL + beta**2 * PRODUCT
    factor = 4 * d**2 * (d + 2) ** 2 * (n + 2) ** 2 / sp.denom(sp.factor(both))
    squared = sp.expand(SEEN**2)
    strength = (
        mean(SEEN, SEEN, s**2)
        + 2 * mean(squared, s**2)
        + 4 * mean(SEEN, sp.expand(SEEN * s**2))
        + 8 * mean(sp.expand(squared * s**2))
    )
    return {
        "coupling": coupling,
        "at_minimum": coupling.subs(AT_MINIMUM),
        "quotient": quotient,
        "alpha": alpha,
        "beta": beta,
        "sum": sp.factor(2 * alpha + beta * TOTAL),
        "factor": factor,
        "rest": sp.factor(both / factor - _SQUARE),
        "strength": sp.collect(sp.expand(strength), a),
        "without_wick": sp.expand(mean(SEEN, _ERROR)).subs(AT_MINIMUM),
    }  # pyright: ignore[reportReturnType]


FORMS = stored(derived_forms, d, n, a, total, prod)
COUPLING = FORMS["coupling"]
"""c in terms of a, a + b and a b."""
ALPHA, BETA = FORMS["alpha"], FORMS["beta"]
ROOT = sp.sqrt(TOTAL**2 - 4 * PRODUCT)
STEPS = ((TOTAL - ROOT) / 2, (TOTAL + ROOT) / 2)
SLOPES = tuple(-2 * step * (ALPHA + BETA * step) for step in STEPS)
"""∂f/∂t at Theorem 3's minimum, for a_0 the smaller and the larger step."""
STRENGTH = FORMS["strength"]
"""E (w*ᵀ u w*)² w*ᵀ S² w*, by Wick's rule: t = c/(a STRENGTH) lowers f by c²/STRENGTH."""
GAINS = tuple((ALPHA + BETA * step) ** 2 / STRENGTH.subs(a, step) for step in STEPS)

_S, _SAMPLE = r * X * t(X), X * t(X) / n
LABEL = MatrixIdentity(
    "label",
    label(corner),
    t(w) * ((1 - a * _S) * (1 - b * _S) - 1) * x
    - corner * a * (t(w) * (_S - 2 * a * _S * _S + a**2 * _S * _S * _S) * w) * (t(w) * _S * x),
    {letter: SHAPES[letter] for letter in (X, x, w)},
    says="at Sigma = I the query's label after two layers is w' (p(S) - 1) x - t a_0 (w' u(S) w) (w' S x)",
)
_error, _seen, _moved = sp.symbols("error seen moved", real=True)
COUPLED = GaussianMoment(
    "coupled",
    _error * _seen * _moved,
    COUPLING.subs({total: a + b, prod: a * b}),
    {letter: SHAPES[letter] for letter in (X, x, w)},
    dict.fromkeys((X, x, w)),
    {
        _error: t(w) * (1 - a * _SAMPLE) * (1 - b * _SAMPLE) * x,
        _seen: t(w) * _SAMPLE * (1 - a * _SAMPLE) ** 2 * w,
        _moved: t(w) * _SAMPLE * x,
    },
    says="E (w'p(S)x)(w'u(S)w)(w'Sx) is c, a polynomial in a, a_0 + a_1 and a_0 a_1; S = XX'/n, p(s) = "
    "(1 - a_0 s)(1 - a_1 s), u(s) = s (1 - a_0 s)^2, and X, w and x are standard normal",
)
AFFINE = Identity(
    "affine",
    FORMS["at_minimum"],
    ALPHA + BETA * a + FORMS["quotient"] * (a**2 - TOTAL * a + PRODUCT),
    says="c is affine in a at Theorem 3's minimum, where a is a root of s^2 - (a_0 + a_1) s + a_0 a_1",
)
_parts = sp.symbols("kept pulled", real=True)
SLOPE = Identity(
    "slope",
    sp.Subs(sp.Derivative((_parts[0] - corner * a * _parts[1]) ** 2, corner), corner, 0),
    -2 * a * _parts[0] * _parts[1],
    "(p - t a q)^2 has the slope -2 a p q in t at t = 0",
)
SUM_OF_BOTH = Identity(
    "sum_of_both",
    2 * ALPHA + BETA * TOTAL,
    FORMS["sum"],
    "the sum of c over both orders of the steps is 2 alpha + beta (a_0 + a_1), as one fraction",
)
PRODUCT_SIGN = Implication(
    "product_positive",
    (sp.Gt(det, 0), sp.Gt(form, 0)),
    sp.Gt(det * (c**2 + form), 0),
    "k (x^2 + y) > 0 where k > 0, y > 0",
)
SUM = Inequality(
    "sum",
    sp.Gt(FORMS["sum"], 0, evaluate=False),
    "the sum of c over both orders of the steps is > 0",
)
_FACTOR, _REST = FORMS["factor"], FORMS["rest"]
BOTH = Identity(
    "both",
    ALPHA**2 + ALPHA * BETA * TOTAL + BETA**2 * PRODUCT,
    _FACTOR * (_SQUARE + _REST),
    "the product of c over both orders of the steps is a factor times the sum of (d^3 n^3 (d - n))^2 and a rest",
)
FACTOR = Inequality("factor", sp.Gt(_FACTOR, 0, evaluate=False), "the factor in `both` is > 0")
REST = Inequality("rest", sp.Gt(_REST, 0, evaluate=False), "the rest in `both` is > 0")
SMALLER, LARGER = (
    Inequality(
        name, sp.Lt(slope, 0, evaluate=False), f"at Theorem 3's minimum with a_0 the {which} step, df/dt < 0 at t = 0"
    )
    for name, which, slope in zip(("smaller_first", "larger_first"), ("smaller", "larger"), SLOPES, strict=True)
)
DOWNHILL = Implication("downhill", (sp.Gt(a, 0), sp.Gt(c, 0)), sp.Lt(-2 * a * c, 0), "-2 a c < 0 where a > 0, c > 0")
STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, LABELS_READ, GAUSSIAN_TOKENS, INVERSE_PRIOR),
    variables=(r, a, b, corner, c, e, U, W, det, form, *_parts),
    claims=(LABEL, SMALLER, LARGER),
    steps=(
        *(WHITENED, SLOPE, COUPLED, AFFINE, SUM_OF_BOTH, SUM, BOTH, FACTOR, REST, PRODUCT_SIGN),
        *(PRODUCT_OF_STEPS, *BOTH_ORDERS, DOWNHILL),
    ),
)
ARGUMENT = (
    Inference(
        "whitened",
        "let Σ = RRᵀ and x = R x̃: the labels are (Rᵀw*)ᵀ x̃, Rᵀw* ~ N(0, I), and the layer of A_l acts on x̃ as the "
        "layer of Rᵀ A_l R, with the same t: Σ may be taken to be I",
        ("whitened_label", "linear_attention", "labels_read", "gaussian_tokens", "inverse_prior"),
        rules.WHITENING,
    ),
    Inference(
        "coupling",
        "w* and x are normal and independent of S and of each other, with covariance I: f is the mean square of "
        "w*'p(S)x − t a (w*'u(S)w*)(w*'Sx), a quadratic polynomial in t whose slope at t = 0 is −2 a c",
        ("label", "whitened", "gaussian_tokens", "inverse_prior", "slope", "coupled"),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "positive",
        "at Theorem 3's minimum the steps are positive, and c is α + β a. c is positive in both orders of the steps: "
        "the two values of c have a positive sum, and their product is a factor > 0 times the sum of a square and a "
        "rest > 0",
        (
            "coupling",
            "affine",
            "sum_of_both",
            "sum",
            "both",
            "factor",
            "rest",
            "product_positive",
            "product_of_steps",
            "sum_in_both_orders",
            "in_both_orders",
            "both_positive",
            "ahn2023.two_layer_minimum:least",
        ),
        "application",
    ),
    Inference(
        "smaller_first",
        "if a is the smaller step, the slope −2 a c is negative",
        ("coupling", "positive", "downhill"),
        "application",
    ),
    Inference(
        "larger_first",
        "if a is the larger step, the slope −2 a c is negative, too",
        ("coupling", "positive", "downhill"),
        "application",
    ),
)


def derivation() -> Derivation:
    """Return the steps: Wick's rule at d = 2, the coupling at d = 1 and n = 1 by the moments of a normal number."""
    first, second = sp.symbols("w_1 w_2", real=True)
    u, v = (sp.symbols(f"{letter}_1:3", real=True) for letter in "uv")
    seen, error = (each[0] * first**2 + each[1] * second**2 for each in (u, v))
    normal = lambda power: sp.factorial2(power - 1) if power else sp.S.One  # noqa: E731

    def wick(polynomial: sp.Expr) -> sp.Expr:
        terms = sp.Poly(sp.expand(polynomial), first, second).terms()
        return sp.Add(*(c * normal(i) * normal(j) for (i, j), c in terms))

    trace = lambda *each: sp.Add(*(sp.Mul(*parts) for parts in zip(*each, strict=True)))  # noqa: E731
    # At d = n = 1, E w*⁴ = 3, and S is the square of a standard normal number independent of w*.
    alone = 3 * sp.Add(
        *(c * normal(2 * k) for (k,), c in sp.Poly(sp.expand(SEEN * s * (1 - a * s) * (1 - b * s)), s).terms())
    )
    return Derivation(
        (
            Step(
                "E (wᵀuw)(wᵀvw) = tr u tr v + 2 tr uv, at d = 2",
                wick(seen * error),
                trace(u) * trace(v) + 2 * trace(u, v),
            ),
            Step(
                "E (wᵀuw)² wᵀvw, at d = 2",
                wick(seen**2 * error),
                trace(u) ** 2 * trace(v) + 2 * trace(u, u) * trace(v) + 4 * trace(u) * trace(u, v) + 8 * trace(u, u, v),
            ),
            Step(
                "c at d = n = 1",
                alone,
                COUPLING.subs({total: a + b, prod: a * b, d: 1, n: 1}),
            ),
        )
    )


def _slope(name: str, clause: Inequality, slope: sp.Expr) -> Canary:
    changed = Inequality(clause.label, sp.Lt(slope, 0, evaluate=False))
    return with_clause(STATEMENT, name, changed)


label_attention = Theorem(
    id="ahn2023.label_attention",
    title="Two layers: Theorem 3's least point is not critical over all P and Q, for any d and n",
    source=Source("Theorem 3", "derived here", AHN2023, "the paper looks at the gradient in the A_l alone"),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={
        f"{name}_{order}_first": value
        for name, pair in (("slope", SLOPES), ("gain", GAINS))
        for order, value in zip(("smaller", "larger"), pair, strict=True)
    },
    derivation=derivation,
    canaries=(
        _slope("c without its part in a", SMALLER, -2 * STEPS[0] * ALPHA),
        _slope("c without its part in a, in the other order", LARGER, -2 * STEPS[1] * ALPHA),
        with_clause(
            STATEMENT,
            "Wick's 2 forgotten",
            Identity("affine", FORMS["without_wick"], AFFINE.right),
        ),
        with_clause(
            STATEMENT, "the slope is positive", Inequality("larger_first", sp.Gt(SLOPES[1], 0, evaluate=False))
        ),
        with_clause(
            STATEMENT,
            "labels of the first layer are not moved",
            MatrixIdentity(
                "label",
                LABEL.left,
                t(w) * ((1 - a * _S) * (1 - b * _S) - 1) * x - corner * a * (t(w) * _S * w) * (t(w) * _S * x),
                LABEL.shapes,
            ),
        ),
    ),
    proof_uses=("ahn2023.two_layer_minimum",),
    argument=ARGUMENT,
)
