r"""Theorem 4: layers that also precondition their tokens, A_l = a_l Σ^{-1}, B_l = b_l I: points of zero gradient.

With x ~ N(0, Σ) and w* ~ N(0, Σ^{-1}) whitening makes Σ = I. Pattern (11), with c_l = a_l b_l, the missing label
filled in (Lemma 5) and S = XXᵀ/n, is

    X_{l+1} = X_l − c_l S_l X_l,    y_{l+1} = y_l − a_l (Y_l X_lᵀ/n) x_l,    S_l = X_l X_lᵀ/n.

All are polynomials in the one matrix S: X_l = g_l(S) X, the row of labels Y_l = w*ᵀ r_l(S) X, S_l = S g_l(S)²,

    g_{l+1} = g_l (1 − c_l s g_l²),    r_{l+1} = r_l (1 − a_l s g_l²),    g_0 = r_0 = 1,

and f = E tr r_L(S)² = ∫ r_L² dμ, with ∫ s^k dμ = E tr S^k. r_L has degree (3^L − 1)/2; b_{L−1} has no effect.

*On S*, the set of these A_l and B_l, f is a polynomial in the a_l and b_l. A critical point is found in floats, and
Krawczyk's test proves that exactly one is in a small box around it: the infimum of the squared gradient over S is 0 and
is attained. The second derivatives in the box decide whether the point is a local minimum *on S*. For one and two
layers the list of points is proved to be complete, by resultants; for three layers it has the points that a search from
random starts finds. If a_l = 0, layer l does nothing, and b_l does not affect f, but it affects the slope of f in a_l,
which is then affine in b_l. If the coefficient of b_l is not 0, there is one b_l with which a critical point of the
other layers is a critical point of all, and it is a saddle. The infimum of the loss is between the least losses of
Theorem 3 with (3^L − 1)/2 and with L layers (`token_layers_between`), and with two layers it is attained for all d and
n (`two_layers_of_tokens`).

*For all L, d and n.* One critical point is rational: all layers but the last are idle, a_l = 0 and b_l = −1/2 for
l < L − 1, and a_{L−1} = a = n/(n + d + 1), the best step of one layer. The slope of r_L in an idle a_l is
−s + (1 + 2 b_l) a s² = −s, the same as in a_{L−1}. So all slopes of f are 0, because the slope of one layer is 0 at a.
Here f = d(d + 1)/(n + d + 1), and the infimum of the squared gradient is 0 as printed, for every L. For L ≥ 2 the point
is a saddle: the second derivative in b_l is 0, and the mixed derivative in a_l and b_l is
4a ∫ s² (1 − a s) dμ = −4d (dn + d + n + 3)/(n + d + 1)² < 0.

*The whole space.* f does not change if all A_l and B_l are conjugated by one orthogonal matrix, and at a point of S
they are multiples of I. So the gradient in each A_l and B_l commutes with all orthogonal matrices. It is a multiple of
I, with the slope in a_l or b_l as its trace, and vanishes wherever the slopes on S do. At the rational point
`whole_gradient` sums the squares of all its entries, exactly. `whole_curvature` decides which local minima on S are
local minima over all matrices.

`paper_checks` checks by exact quadrature that the whole gradient vanishes where the slopes do.

Source: Ahn et al. 2023, Theorem 4, which says that the infimum of the squared gradient over S is 0. Derived here: it
is attained, the points where it is, and the losses.
"""

from dataclasses import replace

import sympy as sp

from theorems import rules
from theorems.papers import AHN2023
from theorems.preconditioned_descent.layers_of_tokens import (
    LABEL_LAYER,
    RECURSION,
    STATIONARY,
    THREE,
    TOKEN,
    TOKEN_LAYER,
    TWO,
    a,
    b,
    eigenvalue,
    g,
    in_product,
    in_step,
    polynomials,
    rates,
    s,
    steps,
)
from theorems.preconditioned_descent.multiples_of_the_inverse import INVERSE_PRIOR, PRODUCT_OF_ERRORS, WHITENED, k
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LAYERS,
    LINEAR_ATTENTION,
    SHAPES,
    L,
    S,
    X,
    d,
    n,
    r,
    tau,
)
from theorems.preconditioned_descent.stationary_square.clause import StationarySquare
from theorems.preconditioned_descent.whole_gradient import gradient_at_idle_layers
from theorems.stored_forms import Forms, stored
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.trace_moments import trace_moment, wishart_trace_moment
from verify import (
    Canary,
    ClauseValue,
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

PATTERN = Hypothesis("pattern", text="P_l = diag(B_l, 1) and Q_l = -diag(A_l, 0)")
MULTIPLES = Hypothesis("multiples", text="A_l = a_l Sigma^{-1} and B_l = b_l I")

ALL_SLOPES = (
    Implication(
        "slope_in_the_product",
        (sp.Gt(steps[0] ** 2, 0), sp.Eq(steps[0] * in_product, 0)),
        sp.Eq(in_product, 0),
        "F_c = 0 where a F_c = 0, a not 0",
    ),
    Implication(
        "slope_in_the_step",
        (sp.Eq(in_product, 0), sp.Eq(in_step + rates[0] * in_product, 0)),
        sp.Eq(in_step, 0),
        "F_a = 0 where F_a + b F_c = 0 and F_c = 0",
    ),
)
IDLE_POINT = {steps[0]: sp.S.Zero, rates[0]: -sp.S.Half, steps[1]: n / (n + d + 1)}


def _mean(polynomial: sp.Expr) -> sp.Expr:
    """Return ∫ q dμ of a polynomial q in s."""
    terms = sp.Poly(polynomial, s).terms()
    return sum((c * trace_moment([power], n, d) for (power,), c in terms), sp.S.Zero)


IDLE = Identity(
    "idle",
    sp.Subs(sp.Derivative(polynomials(2, eigenvalue), steps[0]), steps[0], 0),
    -eigenvalue + (1 + 2 * rates[0]) * steps[1] * eigenvalue**2,
    "at a_0 = 0 the slope of r_2 in a_0 is -s + (1 + 2 b_0) a_1 s^2",
)
_TWO = polynomials(2, eigenvalue)
IDLE_AT_HALF = Identity(
    "idle_at_half",
    sp.Subs(sp.Derivative(_TWO.subs(rates[0], -sp.S.Half), steps[0]), steps[0], 0),
    sp.Derivative(1 - steps[1] * eigenvalue, steps[1]),
    "at a_0 = 0, b_0 = -1/2 the slope of r_2 in a_0 is that of 1 - a_1 s in a_1",
)
IDLE_RATE = Identity(
    "idle_rate", sp.Subs(sp.Derivative(_TWO, rates[0]), steps[0], 0), sp.S.Zero, "at a_0 = 0 r_2 has slope 0 in b_0"
)
BEST_STEP = n / (n + d + 1)
_TRACE = sp.Symbol("trace", real=True)


def mean_trace(label: str, polynomial: sp.Expr, mean: sp.Expr, says: str) -> GaussianMoment:
    """Return the clause that the trace of a polynomial in S has this mean."""
    return GaussianMoment(label, _TRACE, mean, {X: SHAPES[X]}, {X: None}, {_TRACE: polynomial}, says=says)


ONE_LAYER = mean_trace(
    "one_layer_loss",
    (1 - steps[1] * S) * (1 - steps[1] * S),
    d - 2 * steps[1] * d + steps[1] ** 2 * d * (n + d + 1) / n,
    "E tr (1 - a_1 S)^2 = d - 2 a_1 d + a_1^2 d (n + d + 1)/n; S = XX'/n, X standard normal",
)
LAST = Identity(
    "last",
    ONE_LAYER.right,
    d * (d + 1) / (n + d + 1) + d * (n + d + 1) / n * (steps[1] - BEST_STEP) ** 2,
    "d - 2 a_1 d + a_1^2 d (n + d + 1)/n = d (d + 1)/(n + d + 1) + d (n + d + 1)/n (a_1 - n/(n + d + 1))^2",
)
LAST_CURVED = Inequality("last_curved", sp.Gt(d * (n + d + 1) / n, 0, evaluate=False), "d (n + d + 1)/n > 0")


def derived_forms() -> Forms:
    """Return the determinant of the second derivatives of E tr r_2(S)² in a_0 and b_0 at IDLE_POINT."""
    squared = sp.expand(polynomials(2, s) ** 2)
    pairs = (2 * steps[:1], (steps[0], rates[0]), 2 * rates[:1])
    in_a, mixed, in_b = (_mean(sp.diff(squared, *pair).subs(IDLE_POINT)) for pair in pairs)
    return {"saddle": sp.factor(in_a * in_b - mixed**2)}  # pyright: ignore[reportReturnType]


_SLOPE = (
    2
    * (1 - steps[1] * eigenvalue)
    * (2 * rates[0] * steps[1] * eigenvalue**2 - eigenvalue * (1 - steps[1] * eigenvalue))
)
_MIXED = 4 * steps[1] * eigenvalue**2 * (1 - steps[1] * eigenvalue)
OF_THE_SQUARE = (
    Identity(
        "slope_of_the_square",
        sp.Subs(sp.Derivative(_TWO**2, steps[0]), steps[0], 0),
        _SLOPE,
        "at a_0 = 0 the slope of r_2^2 in a_0 is 2 (1 - a_1 s)(2 b_0 a_1 s^2 - s (1 - a_1 s))",
    ),
    Identity(
        "mixed_of_the_square",
        sp.Derivative(_SLOPE, rates[0]),
        _MIXED,
        "2 (1 - a_1 s)(2 b_0 a_1 s^2 - s (1 - a_1 s)) has the slope 4 a_1 s^2 (1 - a_1 s) in b_0",
    ),
)
MEAN_OF_MIXED = mean_trace(
    "mean_of_the_mixed",
    4 * steps[1] * S * S * (1 - steps[1] * S),
    4 * steps[1] * _mean(s**2) - 4 * steps[1] ** 2 * _mean(s**3),
    "E tr 4 a_1 S^2 (1 - a_1 S) = 4 a_1 (d (n + d + 1)/n) - 4 a_1^2 d (d^2 + 3 d n + 3 d + n^2 + 3 n + 4)/n^2",
)
MIXED = Identity(
    "mixed_derivative",
    sp.Subs(MEAN_OF_MIXED.right, steps[1], BEST_STEP),
    -4 * d * (d * n + d + n + 3) / (n + d + 1) ** 2,
    "this mean is -4 d (d n + d + n + 3)/(n + d + 1)^2 at a_1 = n/(n + d + 1)",
)
MIXED_NEGATIVE = Inequality(
    "mixed_is_negative", sp.Lt(MIXED.right, 0, evaluate=False), "-4 d (d n + d + n + 3)/(n + d + 1)^2 < 0"
)
_in_a, _mixed, _in_b = sp.symbols("in_a mixed in_b", real=True)
DETERMINANT = Implication(
    "determinant",
    (sp.Eq(_in_b, 0), sp.Lt(_mixed, 0)),
    sp.Lt(_in_a * _in_b - _mixed**2, 0),
    "u w - v^2 < 0 where w = 0, v < 0",
)
NO_BEND = Identity(
    "no_bend_in_the_rate",
    sp.Subs(sp.Derivative(_TWO**2, (rates[0], 2)), steps[0], 0),
    sp.S.Zero,
    "at a_0 = 0 the second derivative of r_2^2 in b_0 is 0",
)

FORMS = stored(derived_forms, d, n)
SADDLE = Inequality(
    "saddle",
    sp.Lt(FORMS["saddle"], 0, evaluate=False),
    "two layers with a_0 = 0, b_0 = -1/2 and a_1 = n/(n + d + 1) are a saddle of f over S: the second derivatives of "
    "E tr r_2(S)^2 in a_0 and b_0 have a determinant < 0",
)
VANISHES = Inequality(
    "vanishes",
    sp.Eq(gradient_at_idle_layers(L, n, d, -sp.S.Half, n / (n + d + 1)), 0),
    says="where a_l = 0, b_l = -1/2 for all layers but the last, and a_{L-1} = n/(n + d + 1), the gradient of f in all "
    "entries of all A_l and B_l vanishes: the infimum of the sum of their squares over S is 0, and attained",
)
LAYERS_ON_S = (WHITENED, TOKEN, TOKEN_LAYER, LABEL_LAYER, PRODUCT_OF_ERRORS)
"""The steps of `LOSS_ON_S`."""
STATEMENT = Statement(
    parameters=(LAYERS, DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, GAUSSIAN_TOKENS, INVERSE_PRIOR, MULTIPLES),
    variables=(r, eigenvalue, *steps, *rates, tau, _in_a, _mixed, _in_b),
    claims=(VANISHES, STATIONARY, TWO, THREE, SADDLE),
    steps=(
        *(IDLE, IDLE_AT_HALF, IDLE_RATE, ONE_LAYER, LAST, LAST_CURVED),
        *(*OF_THE_SQUARE, MEAN_OF_MIXED, MIXED, MIXED_NEGATIVE, NO_BEND, DETERMINANT, *LAYERS_ON_S),
    ),
)
LOSS_ON_S = (
    Inference(
        "whitened",
        "let Σ = RRᵀ, x = R x̃ and B_l = R C_l: the labels are (Rᵀw*)ᵀ x̃, Rᵀw* has covariance I, and the layer of A_l "
        "and B_l acts on x̃ as the layer of Rᵀ A_l R and C_l R. This is a linear bijection that takes a_l Σ^{-1} and "
        "b_l I to a_l I and b_l I, so that Σ may be taken to be I: the gradient vanishes before it if and only if it "
        "vanishes after it",
        (
            *("whitened_label", "whitened_token", "linear_attention", "pattern"),
            *("gaussian_tokens", "inverse_prior", "multiples"),
        ),
        rules.WHITENING,
    ),
    Inference(
        "polynomials",
        "at Σ = I, with S = XX'/n and the missing label filled in, the examples and the query have the tokens g_l(S) X "
        "and g_l(S) x and the labels w*' r_l(S) X and w*' r_l(S) x after l layers, where r_0 = g_0 = 1, "
        "g_{l+1} = g_l (1 − a_l b_l S g_l²) and r_{l+1} = r_l (1 − a_l S g_l²): polynomials in S are symmetric and "
        "commute",
        ("whitened", "linear_attention", "pattern", "multiples", "token_layer", "label_layer"),
        "induction",
    ),
    Inference(
        "loss_on_S",
        "w* and x are independent of S and of each other, with covariance I: f = E tr r_L(S)²",
        ("polynomials", "ahn2023.lemma5", "whitened", "product_of_errors"),
        "independent factors",
    ),
)
"""The loss on S, under the hypotheses of Theorem 4."""
DENSITY = Inference(
    "density",
    "μ, with ∫ s^k dμ = E tr S^k, has a density > 0 on (0, ∞), and besides it at most an atom at 0",
    ("loss_on_S", "gaussian_tokens"),
    rules.WISHART_EIGENVALUES,
)
ARGUMENT = (
    *LOSS_ON_S,
    Inference(
        "idle_layers",
        "a layer with a_l = 0 leaves g and r unchanged, so that with one a_l moved from 0, layer l and the last layer "
        "are two layers: at b_l = −1/2 the slope of r_L in a_l is that in a_{L−1}, and the slope in b_l is 0; b_{L−1} "
        "does not occur in r_L",
        ("loss_on_S", "polynomials", "idle_at_half", "idle_rate"),
        "definition",
    ),
    Inference(
        "last_layer",
        "at a_{L−1} = n/(n + d + 1) the slope in a_{L−1} is 0: the loss of one layer is least there",
        ("loss_on_S", "idle_layers", "one_layer_loss", "last", "last_curved"),
        rules.SLOPES_AT_A_LEAST_POINT,
    ),
    Inference("stationary", "at that point all slopes of f on S vanish", ("idle_layers", "last_layer"), "application"),
    Inference(
        "mixed",
        "for l < L − 1 layer l and the last layer are two layers, because the others are idle: the second derivative "
        "in b_l is 0, and the mixed one in a_l and b_l, the mean of `mixed_of_the_square`, is < 0",
        (
            *("loss_on_S", "polynomials", "idle", "idle_layers", *(step.label for step in OF_THE_SQUARE)),
            *("mean_of_the_mixed", "mixed_derivative", "mixed_is_negative", "no_bend_in_the_rate"),
        ),
        "linearity of expectation",
    ),
    Inference(
        "saddle",
        "so the second derivatives in a_l and b_l have a determinant < 0 there, and take both signs, for any L ≥ 2",
        ("stationary", "mixed", "determinant"),
        rules.INDEFINITE_HESSIAN,
    ),
    Inference(
        "unchanged",
        "at Σ = I, f does not change when all A_l and B_l are conjugated by the same orthogonal matrix",
        (
            *("whitened", "whitened_label", "whitened_token", "linear_attention", "pattern"),
            *("gaussian_tokens", "inverse_prior"),
        ),
        rules.INVARIANCE_OF_THE_LAW,
    ),
    Inference(
        "commutes",
        "if all A_l and B_l are multiples of I, the gradient in each of them commutes with all orthogonal matrices",
        ("unchanged",),
        rules.SYMMETRIC_CRITICALITY,
    ),
    Inference("multiple", "so this gradient is a multiple of I", ("commutes",), rules.SCHUR_LEMMA),
    Inference(
        "entries",
        "for any A_l and B_l the filled-in label is a sum of words in them, S, w* and x. If all are multiples of I and "
        "one of them moves by M, f moves to first order by E tr(M φ(S)); the case M = I gives φ, which is 2 r_L times "
        "the slope of r_L in this multiple: the gradient has the entries of E φ(S)ᵀ",
        ("ahn2023.lemma5", "linear_attention", "pattern", "polynomials", "whitened", "product_of_errors"),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "vanishes",
        "the trace of the gradient in A_l or B_l is the slope in a_l or b_l, which is 0 at a critical point on S; so "
        "the gradient vanishes there, and by `whitened` it does so for every Σ",
        ("multiple", "entries", "stationary", "whitened"),
        rules.MULTIPLE_OF_THE_IDENTITY,
    ),
)


def derivation() -> Derivation:
    """Return the steps: one layer's loss, r_2 in general and in special cases, and the slopes at a_0 = 0."""
    (a0, a1, _), (b0, _) = steps, rates
    one, two = (sp.expand(polynomials(layers, s)) for layers in (1, 2))
    skipped = sp.expand(two.subs(a0, 0))
    return Derivation(
        (
            Step("one layer: the loss", _mean(one**2), d * (1 - 2 * a0 + a0**2 * (n + d + 1) / n)),
            Step("two layers: r_2", two, (1 - a0 * s) * (1 - a1 * s * (1 - a0 * b0 * s) ** 2)),
            Step("with b_0 = 0 these are Theorem 3's", two.subs(b0, 0), (1 - a0 * s) * (1 - a1 * s)),
            Step("a layer with a_0 = 0 does nothing", sp.Subs(two, a0, 0), 1 - a1 * s),
            Step(
                "b_0 acts through a_0 b_0: the slope in b_0 is 0 at a_0 = 0",
                sp.Subs(sp.Derivative(two, b0), a0, 0),
                sp.S.Zero,
            ),
            Step(
                "the slope in a_0 at a_0 = 0 is affine in b_0: it vanishes for one b_0",
                _mean(sp.expand(2 * skipped * sp.diff(two, a0).subs(a0, 0))),
                -2 * _mean(sp.expand(s * skipped**2)) + 4 * a1 * b0 * _mean(sp.expand(s**2 * skipped)),
            ),
        )
    )


def _near(layers: int, *point: str, **changes: object) -> StationarySquare:
    """Return the claim of a critical point within 10⁻⁹ of a point, at d = 5 and n = 20."""
    box = {"near": tuple(map(sp.Rational, point)), "radius": sp.Rational(1, 10**9), "says": ""}
    moment = wishart_trace_moment(k, 20, 5)
    return replace(STATIONARY, layers=sp.Integer(layers), moment=moment, **{**box, **changes})


BEST_OF_TWO = ("0.5167623197", "3.4746636202", "0.8684594863", "0")
"""a_0, a_1, b_0, b_1 (without effect) to ten decimals, at d = 5 and n = 20."""
SADDLE_OF_TWO = ("0.6345319340", "2.7175988227", "0.4832123689", "0")
BEST_OF_THREE = ("0.3382970590", "2.0908414247", "8.5680568113", "0.8775780472", "0.5781621424", "0")


def _canary(name: str, clause: StationarySquare) -> Canary:
    return Canary(name, lambda: STATEMENT.alone(clause), "stationary")


def _moved(point: tuple[str, ...], place: int) -> tuple[str, ...]:
    return tuple(str(sp.Rational(x) + (sp.Rational(1, 10) if i == place else 0)) for i, x in enumerate(point))


_OFF = IDLE.right.subs(rates[0], rates[0] + sp.S.Half)
_NOT_IDLE = sp.Eq(gradient_at_idle_layers(L, n, d, -1, n / (n + d + 1)), 0)
_ONLY_LABELS = replace(RECURSION, step=(g, RECURSION.step[1]))
_OTHER_SIGN = replace(RECURSION, step=(g * (1 + a * b * s * g**2), RECURSION.step[1]))

theorem4 = Theorem(
    id="ahn2023.theorem4",
    title="Layers that also precondition their tokens: critical points over multiples of the inverse covariance",
    source=Source(
        "Theorem 4",
        "printed",
        AHN2023,
        "the infimum is 0; that it is attained, where, the losses, and which are local minima: derived here",
    ),
    statement=STATEMENT,
    example={"L": 2, "d": 5, "n": 20},
    values={
        "critical_points": ClauseValue("stationary", "critical_points"),
        "complete": ClauseValue("stationary", "complete"),
    },
    derivation=derivation,
    canaries=(
        _canary("the best of three layers, a_1 larger by 0.1", _near(3, *_moved(BEST_OF_THREE, 1))),
        _canary("the best of three layers, b_0 larger by 0.1", _near(3, *_moved(BEST_OF_THREE, 3))),
        _canary("a saddle of two layers declared a minimum", _near(2, *SADDLE_OF_TWO, minimum=True)),
        Canary(
            "an idle layer at b_0 = -1",
            lambda: replace(STATEMENT, claims=(STATIONARY,), steps=(replace(IDLE, right=_OFF, says=""),)),
            "idle",
        ),
        _canary("the loss of pattern (8)", _near(2, *BEST_OF_TWO, recursion=_ONLY_LABELS)),
        Canary(
            "the gradient vanishes at idle layers with b_l = -1",
            lambda: replace(STATEMENT, claims=(STATIONARY, replace(VANISHES, relation=_NOT_IDLE, says=""))),
            "vanishes",
        ),
        _canary("tokens moved the other way", _near(2, *BEST_OF_TWO, recursion=_OTHER_SIGN)),
    ),
    proof_uses=("ahn2023.lemma5",),
    argument=ARGUMENT,
)
