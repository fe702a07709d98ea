r"""Theorem 1's loss for Σ = I over all P and Q: its landscape, with and without other local minima.

x, w* ~ N(0, I). The prediction depends only on the last row p = (v, β) of P and the columns (u_j, τ_j) of Q, j = 1 … d.
For p ≠ 0 the loss is quadratic and strictly convex in these columns. By rotations of the tokens and w*, its least value
over them depends only on z = β²/|v|². With v = e_1 the least value is the sum of

    F_1: least of B u² + 2Cβuτ + Lβ²τ² + 1 + 2(βu + τ) + g(βu + τ)²    over u = u_11, τ = τ_1,
    F_j: least of h y² + 1 + 2βy + g z y²                              over y = u_jj, j ≥ 2;

the other entries of the columns add positive definite forms to the loss, and are 0 at its least value. Here G = n + d +
1 and

    g = G/n, h = 1/n, B = E S_11² = (n+2)/n, C = E S_11 tr S = d + 2/n, L = E (wᵀSw)² = (n+2)d(d+2)/n.

The least value exceeds the least loss d(1 − 1/g), which v = 0 attains, by R(z). For d ≥ 2 R is positive; it tends to 0
as z → ∞, and

    R'(z) = a positive number times K(z),
    K(z) = E (1 − d(d+2)z²)(1 + Gz)² − (d−1)(n+2) (G(1 + d(d+2)z²) + 2(d−1)(d+2)z)²,   E = 2dG² − 2(d−1)²(d+2).

So the local minima of f with v ≠ 0 are at local minima of R. If K < 0 for all z > 0, every local minimum of f is
global; if K(z) > 0 for some z, there is another local minimum at a smaller z. With x = z√(d(d+2)),
a = G/√(d(d+2)) and M = E − 2(d−1)²(d+2)(n+2),

    K(z) ≤ (1 − x²)(E + 2aMx + Ea²x²) − (d−1)(n+2)G²(1 + x²)²,
    (1 − x²)(1, 2x, x²) ≤ (1, 1/2, 1/8)(1 + x²)²,

the second line because (1+x²)² − 4x(1−x²) and (1+x²)² − 8x²(1−x²) are squares. For x ≥ 1, K < 0. So K < 0 for all x
if E + a max(M, 0)/2 + Ea²/8 < (d−1)(n+2)G². For d = 3, 4 and 5 this holds up to n = 15, 44 and 80, also with
b = G (2d(d+2) + 1)/(2d(d+1)(d+2)) ≥ a in place of a.
For d = 2 there are other local minima for all n, because K(1/10) > 0. By exact counts of the zeros of K, the first n
with other local minima is 24, 53 and 89 for d = 3, 4 and 5. This is about 4d², as the leading terms of K for large n
and x of order 1 suggest: 2G⁴x²(1−x²)/(d+2) − (d−1)G³(1+x²)².

Source: derived here; Ahn et al. 2023, Theorem 1, is about the global minimum.
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.components import ONE_LAYER, size
from theorems.preconditioned_descent.isotropic_bounds import (
    BOUNDS_OF_K,
    CROSS,
    E_POSITIVE,
    IN_X,
    INVERSE_ROOT,
    ROOT_ABOVE,
    E,
    G,
    M,
    b_0,
    c,
    e,
    m,
    place,
    tau_1,
    u,
    x,
    y,
    z,
)
from theorems.preconditioned_descent.one_layer import PREDICTION, STANDARD_PRIOR
from theorems.preconditioned_descent.one_layer_loss import ODD_IN_W, QUERY, ROW_BY_COLUMN, square_of_c
from theorems.preconditioned_descent.setting import EXAMPLES, LINEAR_ATTENTION, beta, d, n, r, tau
from theorems.preconditioned_descent.trials.isotropic_landscape import falls_towards_the_pattern, local_minimum
from theorems.wishart.gaussian_moment import GaussianMoment
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    matrix as letter,
)

height = sp.Symbol("height", real=True)

DIMENSION = Parameter("d", "integer", "dimension of a token", minimum=2)
PLACE = Parameter("place", "rational", "a value of beta^2/|v|^2, P's last row being (v, beta)", above=0)

g, h = G / n, 1 / n
B, C, L = (n + 2) / n, d + 2 / n, (n + 2) * d * (d + 2) / n
GAP = B * L - C**2


def form(z: sp.Expr) -> sp.Expr:
    """Return q(z); g q is the determinant of half the Hessian of F_1 in (u, τ)."""
    return L * z**2 + (GAP / g - 2 * C) * z + B


def excess(z: sp.Expr) -> sp.Expr:
    """Return R(z), the least loss at a last row of P with this z minus the least loss over all P and Q."""
    return GAP * z / (g**2 * form(z)) + (d - 1) * h / (g * (h + g * z))


def sides(z: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return two terms; K is the first minus the second."""
    square = G * (1 + d * (d + 2) * z**2) + 2 * (d - 1) * (d + 2) * z
    return E * (1 - d * (d + 2) * z**2) * (1 + G * z) ** 2, (d - 1) * (n + 2) * square**2


def rise(z: sp.Expr) -> sp.Expr:
    """Return K, which has the sign of R'."""
    first, second = sides(z)
    return first - second


def slope_by(height: sp.Expr) -> sp.Expr:
    """Return R'(z) for K(z) = `height`."""
    return (n + 2) * height / (n**5 * g**2 * form(z) ** 2 * (h + g * z) ** 2)


_OWN = 1 - 1 / g + GAP * b_0**2 / (g**2 * form(b_0**2))
_U = u + b_0 * (L * b_0**2 - C) / (g * form(b_0**2))
_TAU = tau_1 + (B - C * b_0**2) / (g * form(b_0**2))
_PIVOT = B + g * b_0**2
_X, _w, _v, _u, _e = map(letter, ("X", "w", "V", "U", "unit"))
_S = _X * sp.transpose(_X) / n
_read, _label, _odd = sp.symbols("read label odd", real=True)
vv, vu, uu, ev, eu = INNER = sp.symbols("v_v v_u u_u e_v e_u", real=True)
others = sp.Symbol("others", nonnegative=True)


def component(vv: sp.Expr, vu: sp.Expr, uu: sp.Expr, ev: sp.Expr, eu: sp.Expr) -> sp.Expr:
    """Return F_j at P's last row (v, b_0) and Q's column (u, τ), e = e_j, from the inner products of v, u and e."""
    even = vu**2 + (vv * uu + vu**2) / n + 2 * b_0 * tau_1 * C * vu + L * b_0**2 * tau_1**2
    return even + 1 + 2 * (b_0 * eu + tau_1 * ev) + g * (b_0**2 * uu + 2 * b_0 * tau_1 * vu + tau_1**2 * vv)


COMPONENT = GaussianMoment(
    "component",
    (_read + b_0 * tau_1 * _label + _odd) ** 2,
    component(*INNER),
    {_X: (d, n), **dict.fromkeys((_w, _v, _u, _e), (d, 1))},
    {_X: None, _w: None},
    {
        _read: sp.transpose(_v) * _S * _u,
        _label: sp.transpose(_w) * _S * _w,
        _odd: sp.transpose(_w) * (_S * (b_0 * _u + tau_1 * _v) + _e),
    },
    {
        sp.transpose(_v) * _v: vv,
        sp.transpose(_v) * _u: vu,
        sp.transpose(_u) * _u: uu,
        sp.transpose(_e) * _v: ev,
        sp.transpose(_e) * _u: eu,
        sp.transpose(_e) * _e: sp.S.One,
    },
    says="E (v'Su + b_0 tau w'Sw + w'(S(b_0 u + tau v) + e))^2 is (v'u)^2 + (v'v u'u + (v'u)^2)/n + 2 b_0 tau C v'u + "
    "L b_0^2 tau^2 + 1 + 2(b_0 e'u + tau e'v) + g |b_0 u + tau v|^2; e'e = 1, S is the mean of n squares x x', x and "
    "w ~ N(0, I)",
)
OWN = Identity(
    "own",
    B * u**2 + 2 * C * b_0 * u * tau_1 + L * b_0**2 * tau_1**2 + 1 + 2 * (b_0 * u + tau_1) + g * (b_0 * u + tau_1) ** 2,
    _OWN + (_PIVOT * _U + b_0 * (C + g) * _TAU) ** 2 / _PIVOT + g * form(b_0**2) / _PIVOT * _TAU**2,
    "F_1 less 1 - 1/g + (BL - C^2) z/(g^2 q), z = b_0^2, is a sum of two squares with the factors 1/(B + g z) and "
    "g q/(B + g z)",
)
REST = Identity(
    "rest",
    h * y**2 + 1 + 2 * b_0 * y + g * b_0**2 * y**2,
    1 - b_0**2 / (h + g * b_0**2) + (h + g * b_0**2) * (y + b_0 / (h + g * b_0**2)) ** 2,
    "F_j less 1 - z/(h + g z), z = b_0^2, is (h + g z)(y + b_0/(h + g z))^2",
)
LABEL_ALONE = Identity(
    "label_alone",
    1 + 2 * b_0 * y + g * b_0**2 * y**2,
    1 - 1 / g + g * (b_0 * y + 1 / g) ** 2,
    "1 + 2 b_0 y + g b_0^2 y^2 is 1 - 1/g + g (b_0 y + 1/g)^2",
)
OTHERS = Identity(
    "others",
    B * u**2 + 2 * C * b_0 * u * tau_1 + L * b_0**2 * tau_1**2 + g * (b_0 * u + tau_1) ** 2,
    (B * u + C * b_0 * tau_1) ** 2 / B + GAP / B * (b_0 * tau_1) ** 2 + g * (b_0 * u + tau_1) ** 2,
    "the form in u_j1 and tau_j, j > 1, is a sum of three squares, with the factors 1/B, (BL - C^2)/B and g",
)
GAP_POSITIVE = Inequality("gap", sp.Gt(GAP, 0, evaluate=False), "B L - C^2 > 0")
_LEFT_OVER = (h + g * b_0**2) * others
COMPONENTS = (
    Identity(
        "first_component",
        component(sp.S.One, u, u**2 + others, sp.S.One, u),
        OWN.left + _LEFT_OVER,
        "F_1 at v = e_1 is the form of `own` plus (h + g b_0^2) times the sum of the u_i1^2, i >= 2",
    ),
    Identity(
        "other_component",
        component(sp.S.One, u, u**2 + y**2 + others, sp.S.Zero, y),
        REST.left + OTHERS.left + _LEFT_OVER,
        "F_j at v = e_1, j >= 2, is the forms of `rest` and `others` plus (h + g b_0^2) times the sum of the other "
        "u_ij^2",
    ),
    Identity(
        "component_without_v",
        component(sp.S.Zero, sp.S.Zero, y**2 + others, sp.S.Zero, y),
        LABEL_ALONE.left + g * b_0**2 * others + L * b_0**2 * tau_1**2,
        "F_j at v = 0 is 1 + 2 b_0 y + g b_0^2 y^2 plus g b_0^2 times the sum of the other u_ij^2 and L b_0^2 tau^2",
    ),
)
FORM_POSITIVE = Inequality("form_positive", sp.Gt(form(b_0**2), 0, evaluate=False), "q > 0 at z = b_0^2")
LEAST_LOSS = Identity(
    "least_loss",
    d * (1 - 1 / ((n + 1) / n + d / n)),
    d * (1 - 1 / g),
    "at Sigma = I Theorem 1's least f, the sum of d times 1 - 1/((n+1)/n + d/n), is d (1 - 1/g)",
)
FORM = Identity(
    "form",
    G * n * form(z),
    (n + 2) * (G * (1 + d * (d + 2) * z**2) + 2 * (d - 1) * (d + 2) * z),
    "G n q = (n+2) (G (1 + d(d+2) z^2) + 2(d-1)(d+2) z)",
)
EXCESS = Identity(
    "excess",
    1 - 1 / g + GAP * b_0**2 / (g**2 * form(b_0**2)) + (d - 1) * (1 - b_0**2 / (h + g * b_0**2)),
    d * (1 - 1 / g) + excess(b_0**2),
    "the sum of the least F_j is d (1 - 1/g) + R(z), z = b_0^2, R(z) = (BL - C^2) z/(g^2 q) + (d-1) h/(g (h + g z))",
)
SLOPE = Identity(
    "slope",
    sp.Derivative(excess(z), z),
    slope_by(rise(z)),
    "R'(z) = (n+2) K(z)/(n^5 g^2 q^2 (h + g z)^2)",
)
RISING, FALLING = (
    Implication(
        name,
        (order(height, 0),),
        order(slope_by(height), 0),
        f"(n+2) K/(n^5 g^2 q^2 (h + g z)^2) {sign} 0 where K {sign} 0",
    )
    for name, order, sign in (("rising", sp.Gt, ">"), ("falling", sp.Lt, "<"))
)
_CORNER = component(sp.S.Zero, sp.S.Zero, uu, sp.S.Zero, eu).subs(b_0, beta)
FROM_ZERO = Identity(
    "from_zero",
    sp.Subs(sp.Derivative(_CORNER, beta), beta, 0),
    2 * eu,
    "at v = 0 and beta = 0 the slope of F_j in beta is 2 e_j'u_j",
)
POSITIVE = Inequality("excess_positive", sp.Gt(excess(b_0**2), 0, evaluate=False), "R(z) > 0, z = b_0^2")
STEPS = (
    PREDICTION,
    ROW_BY_COLUMN,
    ODD_IN_W,
    QUERY,
    COMPONENT,
    *COMPONENTS,
    OWN,
    REST,
    LABEL_ALONE,
    OTHERS,
    GAP_POSITIVE,
    FORM,
    FORM_POSITIVE,
    EXCESS,
    LEAST_LOSS,
    SLOPE,
)

TWO_DIMENSIONS = Inequality(
    "two_dimensions",
    sp.Gt(rise(sp.Rational(1, 10)).subs(d, 2), 0, evaluate=False),
    "at d = 2, K(1/10) > 0 for all n",
)
_EVEN, _SQUARES = E * (1 + G**2 / (8 * d * (d + 2))), (d - 1) * (n + 2) * G**2
# The bound on K for x <= 1 contains max(M, 0). The first hypothesis says that the bound is negative if M <= 0, with the
# exact a²; the second hypothesis says the same if M >= 0, with the rational bound b on a.
FEW = (
    Hypothesis(
        "few_examples",
        sp.Lt(_EVEN, _SQUARES),
        "E (1 + a^2/8) < (d-1)(n+2) G^2, G = n+d+1, a^2 = G^2/(d(d+2)), E = 2dG^2 - 2(d-1)^2 (d+2)",
    ),
    Hypothesis(
        "few_beside_M",
        sp.Lt(_EVEN + G * INVERSE_ROOT * M / 2, _SQUARES),
        "E (1 + a^2/8) + b M/2 < (d-1)(n+2) G^2, b = G (2d(d+2) + 1)/(2d(d+1)(d+2)), M = E - 2(d-1)^2 (d+2)(n+2)",
    ),
)

ISOTROPIC = Hypothesis("isotropic", text="x_i ~ N(0, I) i.i.d.")
STRUCTURE = (LINEAR_ATTENTION, ONE_LAYER, ISOTROPIC, STANDARD_PRIOR)
VARIABLES = (z, u, tau_1, y, b_0, beta, tau, r, size, *INNER, others, height, square_of_c)
COMMON = (
    Inference(
        "seen",
        "the prediction depends only on the last row p = (v, β) of P and the columns q_j = (u_j, τ_j) of Q; the "
        "query's token is independent of the rest, so that f is the sum of the F_j = E (p'Gq_j + w_j)²",
        ("prediction", "query", "linear_attention", "one_layer", "isotropic"),
        "independent factors",
    ),
    Inference(
        "rotated",
        "rotations of the tokens and w* preserve their law, so that f is the same at P and Q rotated by them; for v ≠ "
        "0 one of them takes v to a multiple of e_1. f is also the same at cP, Q/c: it is enough to consider v = e_1, "
        "β = b_0 ≥ 0 and v = 0",
        ("seen", "isotropic", "standard_prior", "ahn2023.theorem1:rescaling"),
        rules.INVARIANCE_OF_THE_LAW,
    ),
    Inference(
        "quadratic",
        "p'Gq_j is v'Su_j + w'S(βu_j + τ_j v) + βτ_j w'Sw, so that F_j is the polynomial of `component`. At v = e_1 it "
        "is given by `first_component` for j = 1 and by `other_component` for j ≥ 2, and at v = 0 by "
        "`component_without_v`",
        (
            *("rotated", "isotropic", "standard_prior", "row_by_column", "odd_in_w", "component"),
            *(step.label for step in COMPONENTS),
        ),
        "definition",
    ),
    Inference(
        "convex",
        "because q > 0, for v ≠ 0 the loss is strictly convex in the columns (u_j, τ_j) of Q, with the least value "
        "d(1 − 1/g) + R(z), z = β²/|v|²; for v = 0, β ≠ 0 its least value is d(1 − 1/g)",
        ("quadratic", "own", "rest", "label_alone", "others", "gap", "form", "form_positive", "excess"),
        "nonnegative terms",
    ),
)
SOME = InWords(
    "some",
    "f over all P and Q has a local minimum that is not global, where P's last row is (v, sqrt(z) |v|), v != 0, for an "
    "z < place; its loss exceeds the least by at most R(place)",
)
some_statement = Statement(
    parameters=(DIMENSION, EXAMPLES, PLACE),
    hypotheses=(*STRUCTURE, Hypothesis("rises", sp.Gt(rise(place), 0), "K(place) > 0")),
    variables=VARIABLES,
    claims=(SOME, TWO_DIMENSIONS),
    steps=(*STEPS, RISING, POSITIVE),
)
SOME_ARGUMENT = (
    *COMMON,
    Inference(
        "least_before",
        "R is continuous on [0, place], and R'(place) > 0: R is least on [0, place] at a z_0 < place, which is a local "
        "minimum of R on z ≥ 0",
        ("rises", "slope", "rising", "form_positive"),
        rules.EXTREME_VALUE,
    ),
    Inference(
        "some",
        "at v = e_1, β² = z_0 and the best Q, f is at most its least value over Q at every nearby last row of P: this "
        "is a local minimum. It exceeds the least loss by R(z_0) > 0, and R(z_0) ≤ R(place)",
        ("least_before", "convex", "excess_positive", "least_loss", "ahn2023.theorem1:global"),
        "application",
    ),
)
NONE = InWords("none", "every local minimum of f over all P and Q is global")
none_statement = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(*STRUCTURE, *FEW),
    variables=(*VARIABLES, x, e, m, c),
    claims=(NONE,),
    steps=(*STEPS, FALLING, FROM_ZERO, IN_X, CROSS, E_POSITIVE, ROOT_ABOVE, *BOUNDS_OF_K),
)
NONE_ARGUMENT = (
    *COMMON,
    Inference(
        "negative",
        "K(z) < 0 for all z > 0. Let x = z√(d(d+2)), so that Gz = ax. For x ≥ 1 this is `negative_from_one_on`. For x "
        "≤ 1 it follows from the other bounds: the last one, `below_the_squares`, has i < j by `few_examples` if M ≤ "
        "0, and by `few_beside_M` if M ≥ 0",
        (
            *("slope", "in_x", "cross", "e_positive", "root_above", "few_examples", "few_beside_M"),
            *(step.label for step in BOUNDS_OF_K),
        ),
        "nonnegative terms",
    ),
    Inference(
        "falls",
        "R'(z) < 0 for all z > 0, and R is continuous at 0. At v ≠ 0 and the best Q, a slightly larger |β| with its "
        "own best Q has a lower loss; that Q is near, because the best Q is a rational function of v and β",
        ("negative", "slope", "falling", "form_positive", "convex"),
        rules.DERIVATIVE,
    ),
    Inference(
        "at_zero",
        "at p = 0, f is d for every Q, and its slope in β is the sum of the 2 e_j'u_j. If the slope is not 0, f is "
        "lower nearby. If it is 0, it is not 0 at Q + diag(cI, 0) for any c ≠ 0, where f is also d: for small c, f is "
        "lower near that point, and so near Q",
        ("seen", "quadratic", "component", "from_zero"),
        rules.DERIVATIVE,
    ),
    Inference(
        "none",
        "at a local minimum p ≠ 0, by `at_zero`; Q is the best for this p, by convexity; and so v = 0, by `falls`: the "
        "loss there is d(1 − 1/g), the least",
        ("falls", "at_zero", "convex", "least_loss", "ahn2023.theorem1:global"),
        "case distinction",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the determinant g q, a factor of the slope R', E, and the two squares in the bound on K."""
    q = sp.Symbol("q")
    return Derivation(
        (
            Step(
                "half the Hessian of F_1 has the determinant g q",
                (B + g * z) * (L * z + g) - z * (C + g) ** 2,
                g * form(z),
            ),
            Step(
                "the numerator of the slope of z/(Lz² + qz + B) in z",
                L * z**2 + q * z + B - z * (2 * L * z + q),
                B - L * z**2,
            ),
            Step("E is n² (BL − C²)", n**2 * GAP, E),
            Step("(1+x²)² − 4x(1−x²)", (1 + x**2) ** 2 - 4 * x * (1 - x**2), (x**2 + 2 * x - 1) ** 2),
            Step("(1+x²)² − 8x²(1−x²)", (1 + x**2) ** 2 - 8 * x**2 * (1 - x**2), (1 - 3 * x**2) ** 2),
        )
    )


_SOURCE = Source("Theorem 1, the landscape", "derived here", AHN2023)
_VALUES = {"least_loss": d * (1 - 1 / g)}
_canary = partial(with_clause, some_statement)

isotropic_other_minima = Theorem(
    id="ahn2023.isotropic_other_minima",
    title="One layer over all P and Q, Σ = I: where a local minimum is not global",
    source=_SOURCE,
    statement=some_statement,
    example={"d": 2, "n": 20, "place": "1/10"},
    values={**_VALUES, "excess_at_most": excess(place)},
    derivation=derivation,
    canaries=(
        _canary(
            "the label's part forgotten",
            Identity("slope", SLOPE.left, slope_by(sides(z)[0])),
        ),
        _canary("1/100 for 1/10", Inequality("two_dimensions", sp.Gt(rise(sp.Rational(1, 100)).subs(d, 2), 0))),
        _canary("d^2 for d(d+2)", Identity("form", G * n * form(z), FORM.right.subs(d * (d + 2), d**2))),
    ),
    proof_uses=("ahn2023.theorem1",),
    argument=SOME_ARGUMENT,
    evaluations={
        "some": Evaluation(
            local_minimum(rise(z), excess, above=False),
            "f over all P and Q has a local minimum that is not global, where P's last row is (v, sqrt(z) |v|), v != "
            "0, for a z > place; its loss exceeds the least by at most R(place)",
            local_minimum(rise(z), excess, above=True),
            draws=40,
        )
    },
)

_none_canary = partial(with_clause, none_statement)

isotropic_landscape = Theorem(
    id="ahn2023.isotropic_landscape",
    title="One layer over all P and Q, Σ = I and few examples: every local minimum is global",
    source=_SOURCE,
    statement=none_statement,
    example={"d": 5, "n": 20},
    values=_VALUES,
    derivation=derivation,
    canaries=(
        _none_canary("a tenth for an eighth", Identity("in_x", IN_X.left - c / 40 * (1 + x**2) ** 2, IN_X.right)),
        _none_canary("E < 0", Inequality("e_positive", sp.Lt(E, 0))),
        _none_canary("twice the square", Inequality("cross", sp.Ge(CROSS.relation.lhs, 2 * G**2 * (1 + x**2) ** 2))),
    ),
    proof_uses=("ahn2023.theorem1",),
    argument=NONE_ARGUMENT,
    evaluations={
        "none": Evaluation(
            falls_towards_the_pattern(all_rows=False),
            "f over all P and Q has no local minimum",
            falls_towards_the_pattern(all_rows=True),
            draws=20,
        )
    },
)
