r"""Theorem 3: any number of layers, A_l = a_l Σ^{-1}: the minimum, and other points where the gradient vanishes.

With x ~ N(0, Σ) and w* ~ N(0, Σ^{-1}) whitening makes Σ = I and A_l = a_l I. By Lemma 1 the residual of the
prediction is ∏_l (I − a_l S) applied to w*, S = XXᵀ/n, so that

    f(a) = E tr p(S)² = ∫ p² dμ,    p(s) = ∏_l (1 − a_l s),    ∫ s^k dμ = E tr S^k.

*The minimum.* Over all p of degree at most L with p(0) = 1, ∫ p² dμ is least for exactly one p, the orthogonal
polynomial of degree L of s dμ(s). Its roots are real, positive and distinct, so that it is a product ∏_l (1 − a_l s).
So the infimum over the a_l is attained, and only at a_l = 1/root and its permutations.

*Other critical points.* The slope in a_l is −2 ∫ s p²/(1 − a_l s) dμ. At a critical point no a_l is 0, because
∫ s p² dμ > 0. If all a_l differ, the p/(1 − a_l s) span the polynomials of degree below L, and p is the minimiser. So
every other critical point has two equal a_l. None of these is a local minimum: with a_l = a_m = a moved apart to a ± e,

    f changes by −2 e² ∫ s² (p/(1 − a s))² dμ + O(e⁴).

With multiplicities ν_1 … ν_m at values b_1 … b_m, q = ∏ (1 − b_j s) is orthogonal to all polynomials of degree < m in
the measure s ∏ (1 − b_j s)^{2ν_j − 2} dμ: q is a power-orthogonal polynomial. There is one for each order of the
multiplicities along the line (Ghizzetti and Ossicini, as we recall it). This would give 2^{L−1} critical points up to
permutations; here that number is shown for L ≤ 3 only.

*The whole space.* The slope of f at a_l I in direction M is −2 E tr(M S p(S)²/(1 − a_l S)), and the mean of a
polynomial in S commutes with rotations: it is a multiple of I. So the slope is tr(M)/d times the slope in a_l, and the
gradient in all entries of the A_l vanishes if the slopes in all a_l do. At an instance `whole_gradient` sums the
squares of all entries of the gradient: with p rational, the sum is a rational number, and it is 0.

*Global and local minima over all A_l.* For L = 1 the point is a global minimiser (Theorem 1, at Σ = I). For more
layers, f is a convex quadratic function of one A_l with the others fixed. If the others are multiples of I, the mean of
a best A_l over rotations is no worse, so that a multiple of I is best: no single layer can be improved. For L = 2 the
point is the global minimiser over symmetric A_l at Σ = I (`two_layers`); for L ≥ 3 nothing more is proved here. Descent
over all entries from random starts found nothing lower (`pytest paper_checks -k random_starts`: L = 2, d = 2, n = 1,
and with `--full` n = 2 and L = 3). The point is a strict local minimum over all A_l: this is certified at instances, up
to L = 3 (`least_point_curvature`), and for two layers holds at all d and n (`two_layer_curvature`).

Source: Ahn et al. 2023, Theorem 3, which says that the infimum of the squared gradient over S is 0, and leaves open
whether it is attained. Derived here: it is attained, the points where it is, and the least loss.
"""

from dataclasses import replace

import sympy as sp

from theorems import rules
from theorems.papers import AHN2023
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    ERROR,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LAYERS,
    LETTERS,
    LINEAR_ATTENTION,
    PATTERN,
    QUERY,
    SHAPES,
    STAR,
    A,
    K,
    L,
    R,
    X,
    d,
    label_after,
    left_of,
    n,
    r,
    t,
    tau,
    w,
    x,
)
from theorems.preconditioned_descent.whole_gradient import gradient_at_least_point
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.trace_moments import trace_moment, wishart_trace_moment
from verify import (
    Canary,
    ClauseValue,
    Derivation,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    LeastResidual,
    MatrixIdentity,
    Source,
    Statement,
    Step,
    Theorem,
    matrix,
)

k, v = sp.Symbol("k", integer=True, nonnegative=True), matrix("v")
s, step, rest = sp.symbols("s step rest", real=True)
INVERSE_PRIOR = Hypothesis("inverse_prior", text="w* ~ N(0, Sigma^{-1})")

MINIMUM = LeastResidual(
    "minimum",
    factors=L,
    moment=wishart_trace_moment(k, n, d),
    index=k,
    says="over A_l = a_l Sigma^{-1}, f = E tr p(S)^2, S = XX'/n at Sigma = I, is least where the a_l are the inverse "
    "roots of the polynomial of degree L that is orthogonal to s … s^L in the mean of tr S^k, and there alone",
)
VANISHES = Inequality(
    "vanishes",
    sp.Eq(gradient_at_least_point(L, n, d, 1, 1), 0),
    says="at this minimum the gradient of f in all entries of all A_l vanishes: the infimum of the sum of their "
    "squares over A_l = a_l Sigma^{-1} is 0, and attained",
)
WHITENED = MatrixIdentity(
    "whitened_label",
    label_after(t(w) * R * K * X, t(w) * R * K * x, R * x, A).subs(t(X), t(R * X)),
    t(w) * R * K * (x - r * X * t(X) * t(R) * A * R * x),
    {letter: SHAPES[letter] for letter in (X, x, w)} | dict.fromkeys((A, K, R), (d, d)),
    says="with tokens R x and labels w*' R K x, a layer of A takes K to K (I - S R' A R), S = XX'/n",
)
LEFT = MatrixIdentity(
    "left_of_w",
    w - (v - r * t(A) * X * t(X) * (v - w)),
    (1 - r * t(A) * X * t(X)) * (w - v),
    {X: SHAPES[X], A: (d, d)} | dict.fromkeys((v, w), SHAPES[x]),
    says="with v' = v - A' S (v - w*), S = XX'/n, w* - v' = (I - A' S)(w* - v)",
)
_N, _V, _moved = matrix("N"), matrix("V"), sp.Symbol("moved", real=True)
PRODUCT_OF_ERRORS = GaussianMoment(
    "product_of_errors",
    ERROR * _moved,
    tau,
    {_N: (d, d), _V: (d, d), STAR: LETTERS[STAR], QUERY: LETTERS[QUERY]},
    dict.fromkeys((STAR, QUERY)),
    {ERROR: left_of(_N), _moved: left_of(_V)},
    {_N * t(_V): tau},
    says="E w*'Nx w*'Vx = tr NV', and so E (w*'Nx)^2 = tr NN'; w* and x are standard normal",
)
"""The mean, over w* and the query's token, of the square of an error and of an error times its slope."""
MOVED_LAYER = MatrixIdentity(
    "moved_layer",
    K * (1 - r * X * t(X) * (step + _V)) * R,
    K * (1 - step * r * X * t(X)) * R - K * r * X * t(X) * _V * R,
    {X: SHAPES[X]} | dict.fromkeys((K, R, _V), (d, d)),
    says="K (I - S(a I + V)) R = K (I - a S) R - K S V R, S = XX'/n",
)
SLOPE_IN_A_STEP = Identity(
    "slope_in_a_step",
    (1 - step * s) * sp.Derivative((rest * (1 - step * s)) ** 2, step),
    -2 * s * (rest * (1 - step * s)) ** 2,
    "(1 - a s) times the slope of p^2 in a is -2 s p^2, p = rho (1 - a s)",
)
STATEMENT = Statement(
    parameters=(LAYERS, DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, GAUSSIAN_TOKENS, INVERSE_PRIOR),
    variables=(r, s, step, rest, tau),
    claims=(MINIMUM, VANISHES),
    steps=(WHITENED, LEFT, PRODUCT_OF_ERRORS, MOVED_LAYER, SLOPE_IN_A_STEP),
)
LAW = Inference(
    "whitened",
    "let Σ = RRᵀ and x = R x̃: the labels are (Rᵀw*)ᵀ x̃, Rᵀw* has covariance I, and the layer of A_l acts on x̃ as "
    "the layer of Rᵀ A_l R. A_l ↦ Rᵀ A_l R is a linear bijection that takes a_l Σ^{-1} to a_l I, so that Σ may be "
    "taken to be I: the gradient in the A_l vanishes if and only if that in the Rᵀ A_l R does",
    ("whitened_label", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
    rules.WHITENING,
)
"""Whitening: the tokens are R times standard normal vectors, Σ = R Rᵀ."""
ARGUMENT = (
    LAW,
    Inference(
        "residual",
        "layer l multiplies the residual w* − v by I − a_l S: after L layers it is p(S) w*, p(s) = ∏ (1 − a_l s)",
        ("ahn2023.lemma1", "whitened", "left_of_w"),
        "induction",
    ),
    Inference(
        "loss_on_S",
        "w* and x are independent of S and of each other, with covariance I: f = E tr p(S)² = ∫ p² dμ",
        ("residual", "whitened", "product_of_errors"),
        "independent factors",
    ),
    Inference(
        "norm",
        "∫ p² dμ = E tr p(S)² is 0 only for p = 0",
        ("loss_on_S", "gaussian_tokens"),
        rules.IDENTITY_OF_POLYNOMIALS,
    ),
    Inference(
        "nearest",
        "among all p of degree ≤ L with p(0) = 1, ∫ p² dμ is least for exactly one p, which is orthogonal to s … s^L",
        ("loss_on_S", "norm"),
        rules.ORTHOGONAL_PROJECTION,
    ),
    Inference(
        "real_roots",
        "this p is the orthogonal polynomial of degree L of the measure s dμ on (0, ∞): it has L different roots, all "
        "real and positive",
        ("nearest",),
        rules.ZEROS_OF_ORTHOGONAL_POLYNOMIALS,
    ),
    Inference(
        "minimum",
        "so the nearest p is a product ∏ (1 − a_l s), a_l = 1/root",
        ("nearest", "real_roots"),
        "lower bound attained",
    ),
    Inference(
        "unchanged",
        "at Σ = I, f does not change when all A_l are conjugated by the same orthogonal matrix",
        ("whitened", "whitened_label", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
        rules.INVARIANCE_OF_THE_LAW,
    ),
    Inference(
        "commutes",
        "if all A_l are multiples of I, the gradient in each of them commutes with all orthogonal matrices",
        ("unchanged",),
        rules.SYMMETRIC_CRITICALITY,
    ),
    Inference("multiple", "so this gradient is a multiple of I", ("commutes",), rules.SCHUR_LEMMA),
    Inference(
        "entries",
        "for any A_l the residual is the product of the I − A_l' S times w*. If all A_l are a_l I and one of them "
        "moves by M, f moves to first order by E tr(M φ(S)), where φ = −2 s p²/(1 − a_l s) is the slope of p² in a_l: "
        "the gradient has the entries of E φ(S)",
        (
            *("ahn2023.lemma1", "linear_attention", "pattern", "whitened", "left_of_w"),
            *("moved_layer", "product_of_errors", "slope_in_a_step"),
        ),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "vanishes",
        "the trace of the gradient in A_l is the slope in a_l, which is 0 where f over A_l = a_l I is least; so the "
        "gradient vanishes there, and by `whitened` it does so for every Σ",
        ("multiple", "entries", "minimum", "whitened"),
        rules.MULTIPLE_OF_THE_IDENTITY,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the moments, one layer, the slope in a step, the effect of moving equal steps apart."""
    a, b, e, s = sp.symbols("a b e s", real=True)
    m = [trace_moment([order], n, d) for order in range(5)]

    def mean(polynomial: sp.Expr) -> sp.Expr:
        return sum(c * m[i] for i, c in enumerate(reversed(sp.Poly(polynomial, s).all_coeffs())))  # pyright: ignore[reportReturnType]

    one = mean((1 - a * s) ** 2)
    apart = mean(((1 - (a + e) * s) * (1 - (a - e) * s)) ** 2) - mean((1 - a * s) ** 4)
    return Derivation(
        (
            Step("E tr S²", m[2], d * (n + d + 1) / n),
            Step("one layer: the loss", one, d * (1 - 2 * a + a**2 * (n + d + 1) / n)),
            Step("its least value, at a = n/(n + d + 1)", one.subs(a, n / (n + d + 1)), d * (d + 1) / (n + d + 1)),
            Step(
                "two layers: the slope in a is −2 ∫ s (1 − a s)(1 − b s)² dμ",
                sp.Derivative(mean(sp.expand(((1 - a * s) * (1 - b * s)) ** 2)), a),
                -2 * mean(sp.expand(s * (1 - a * s) * (1 - b * s) ** 2)),
            ),
            Step(
                "two equal steps moved apart",
                apart,
                -2 * e**2 * mean(sp.expand(s**2 * (1 - a * s) ** 2)) + e**4 * m[4],
            ),
        )
    )


def _canary(name: str, **changes: sp.Expr) -> Canary:
    claims = (replace(MINIMUM, says="", **changes), VANISHES)
    return Canary(name, lambda: replace(STATEMENT, claims=claims), "minimum")


def _slope(name: str, shift: sp.Expr, scale: sp.Expr) -> Canary:
    changed = replace(VANISHES, relation=sp.Eq(gradient_at_least_point(L, n, d, shift, scale), 0), says="")
    return Canary(name, lambda: replace(STATEMENT, claims=(MINIMUM, changed)), "vanishes")


theorem3 = Theorem(
    id="ahn2023.theorem3",
    title="Any number of layers: the minimum over multiples of the inverse covariance and its location",
    source=Source(
        "Theorem 3", "printed", AHN2023, "the infimum is 0; that it is attained, where, and the loss: derived here"
    ),
    statement=STATEMENT,
    example={"L": 3, "d": 5, "n": 20},
    values={
        "a": ClauseValue("minimum", "a"),
        "minimum_loss": ClauseValue("minimum", "minimum"),
        "attained": ClauseValue("minimum", "attained"),
    },
    derivation=derivation,
    canaries=(
        _canary("the orthogonal polynomial of the spectrum itself", shift=sp.S.Zero),
        _canary("orthogonal to s^2 and on", shift=sp.Integer(2)),
        _canary("the other sign", scale=sp.Integer(-1)),
        _canary("steps longer by (n + 1)/n", scale=(n + 1) / n),
        _slope("the gradient vanishes at steps longer by (n + 1)/n", sp.S.One, (n + 1) / n),
        _slope("the gradient vanishes where p is orthogonal to s^2 and on", sp.Integer(2), sp.S.One),
    ),
    proof_uses=("ahn2023.lemma1",),
    argument=ARGUMENT,
)
