r"""Closed form of Theorem 3's point in the limit of many examples and dimensions, d/n → c.

E tr S^k / d tends to the moments of the Marchenko–Pastur law μ. In terms of y = (s − 1 − c)/(2√c), the measure s dμ is
the semicircle law, whose orthogonal polynomials are the Chebyshev polynomials of the second kind. So

    a_l → 1 / (1 + c + 2√c cos(πl/(L+1))),  l = 1 … L,

and the loss per dimension tends to

    c^L (1 − c) / (1 − c^{L+1}) = 1 / (1 + 1/c + … + 1/c^L):

for c < 1 and large L, each additional layer multiplies the loss by about c. At the sizes of Figure 1 (c = 1/4, L = 3)
the limit is 1/85 per dimension, and 5/85 = 0.059 in total; the loss at d = 5, n = 20 is 0.134.

Source: derived here.
"""

from dataclasses import replace

import sympy as sp

from theorems import rules
from theorems.papers import AHN2023
from theorems.preconditioned_descent.setting import GAUSSIAN_TOKENS, LAYERS, LINEAR_ATTENTION, PATTERN, L
from theorems.wishart.marchenko_pastur import marchenko_pastur, marchenko_pastur_moment
from theorems.wishart.trace_moments import trace_moment
from verify import (
    Canary,
    ClauseValue,
    Derivation,
    Hypothesis,
    Identity,
    Implication,
    Inference,
    LeastResidual,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
)

c = sp.Symbol("c", positive=True)
k = sp.Symbol("k", integer=True, nonnegative=True)
RATIO = Parameter("c", "rational", "limit of d/n", above=0)
FEWER = Hypothesis("fewer_dimensions", sp.Lt(c, 1), "fewer dimensions than examples: c < 1")
INVERSE_PRIOR = Hypothesis(
    "inverse_prior", text="w* ~ N(0, Sigma^{-1}), A_l = a_l Sigma^{-1}, n and d growing, d/n -> c"
)

least = c**L * (1 - c) / (1 - c ** (L + 1))

MINIMUM = LeastResidual(
    "minimum",
    factors=L,
    moment=marchenko_pastur_moment(k, c),
    index=k,
    minimum=least,
    says="the limit of f/d is least at the inverse roots of the orthogonal polynomial of s times the "
    "Marchenko-Pastur law, where it is c^L (1 - c)/(1 - c^(L+1))",
)
y = sp.Symbol("y", real=True)
# root is √c, t is 1/√c, and power is a power of t.
root, t, power = sp.symbols("root t power", positive=True)
in_s, in_y = sp.symbols("in_s in_y", nonnegative=True)
s, q = sp.symbols("s q", real=True)
_SPECTRUM = 1 + root**2 + 2 * root * y
SEMICIRCLE = Identity(
    "semicircle",
    ((1 + root) ** 2 - _SPECTRUM) * (_SPECTRUM - (1 - root) ** 2),
    4 * root**2 * (1 - y**2),
    "at s = 1 + c + 2 root y, root = c^(1/2), ((1 + root)^2 - s)(s - (1 - root)^2) = 4c (1 - y^2)",
)
SECOND, IN_Y = (
    Identity(
        "second_integral",
        sp.Subs((s - 1 - root**2) / root, s, 1),
        -root,
        "(s - 1 - c)/root is -root at s = 1, c = root^2",
    ),
    Identity(
        "twice_y",
        sp.Subs(s - 1 - root**2, s, _SPECTRUM),
        root * (2 * y),
        "s - 1 - c = 2 root y at s = 1 + c + 2 root y, c = root^2",
    ),
)
before, now, after = sp.symbols("before now after", real=True)
INTEGRALS = Implication(
    "integrals",
    (sp.Eq(now, -root * before), sp.Eq(root * (after + before), -(1 + root**2) * now)),
    sp.Eq(after, -root * now),
    "I'' = -root I' where I' = -root I and root (I'' + I) = -(1 + root^2) I'",
)
TWICE_Y_AT_ZERO = Identity(
    "twice_y_at_zero",
    sp.Subs((s - 1 - root**2) / root, s, 0),
    -(1 / root + root),
    "(s - 1 - c)/root is -(1/root + root) at s = 0, c = root^2",
)
SECOND_AT_ZERO = Identity(
    "second_at_zero", t**2 - 1 / t**2, (t + 1 / t) * (t - 1 / t), "t^2 - t^-2 = (t + 1/t)(t - 1/t)"
)
sign, value, at = sp.symbols("sign value at", real=True)
AT_ZERO = Identity(
    "at_zero",
    sign * (power * t**2 - 1 / (power * t**2)),
    -(t + 1 / t) * (-sign * (power * t - 1 / (power * t))) - sign * (power - 1 / power),
    "u (t^(l+2) - t^-(l+2)) = -(t + 1/t) (-u) (t^(l+1) - t^-(l+1)) - u (t^l - t^-l), with power = t^l, u = (-1)^l",
)
POSITIVE_ROOT = Implication(
    "positive_root", (sp.Gt(y, -1),), sp.Gt(_SPECTRUM, 0), "1 + root^2 + 2 root y > 0 for y > -1"
)
width = sp.Symbol("width", positive=True)
ABOVE_ONE = Implication(
    "above_one",
    (sp.Lt(root**2, 1), sp.Eq(root * t, 1)),
    sp.Gt(t, 1),
    "t > 1 where root^2 < 1, root t = 1, root > 0",
)
ROOT_OF_THE_SQUARE = Implication(
    "root_of_the_square",
    (sp.Eq(in_s**2, width**2),),
    sp.Eq(in_s, width),
    "in_s = 2 root in_y where in_s^2 = (2 root in_y)^2, in_s >= 0 and 2 root in_y > 0",
)
DENSITY = Implication(
    "density_in_y",
    (sp.Eq(in_s, 2 * root * in_y),),
    sp.Eq(in_s / (2 * root**2) * 2 * root, 2 * in_y),
    "in_s/(2c) 2 root = 2 in_y where in_s = 2 root in_y; in_s and in_y are √(((1 + root)^2 - s)(s - (1 - root)^2)) and "
    "√(1 - y^2)",
)
SPLIT = Identity("split", (1 + s * q) ** 2 - (1 + s * q), s * q * (1 + s * q), "with p = 1 + s q, p^2 - p = s q p")
above, below, inverse = sp.symbols("above below inverse", real=True)
OVER_THE_VALUE = Implication(
    "over_the_value",
    (sp.Eq(sign**2, 1), sp.Eq(at * below, sign * above), sp.Eq(value * at, sign * inverse)),
    sp.Eq(value * above, below * inverse),
    "value X = Y t^-L where value U = u t^-L, U Y = u X, u^2 = 1; X = t^(L+1) - t^-(L+1), Y = t - 1/t, u = (-1)^L",
)
LEAST_VALUE = Implication(
    "least_value",
    (sp.Gt(t, 1), sp.Ge(power, 1), sp.Eq(value * (power * t - 1 / (power * t)), (t - 1 / t) / power)),
    sp.Eq(value, (1 - 1 / t**2) / power**2 / (1 - 1 / (power * t) ** 2)),
    "value = c^L (1 - c)/(1 - c^(L+1)) where value (t^(L+1) - t^-(L+1)) = t^-L (t - 1/t), t > 1, with power = t^L >= 1 "
    "and c = 1/t^2",
)
STATEMENT = Statement(
    parameters=(LAYERS, RATIO),
    hypotheses=(LINEAR_ATTENTION, PATTERN, GAUSSIAN_TOKENS, INVERSE_PRIOR, FEWER),
    variables=(y, root, t, power, in_s, in_y, s, q, before, now, after, sign, value, at, width, above, below, inverse),
    claims=(MINIMUM,),
    steps=(
        *(SEMICIRCLE, ROOT_OF_THE_SQUARE, DENSITY, POSITIVE_ROOT, SPLIT, SECOND, IN_Y, INTEGRALS),
        *(TWICE_Y_AT_ZERO, SECOND_AT_ZERO, AT_ZERO, ABOVE_ONE, OVER_THE_VALUE, LEAST_VALUE),
    ),
)
ARGUMENT = (
    Inference(
        "limit_of_the_loss",
        "f = E tr p(S)², p(s) = ∏ (1 − a_l s), and f/d tends to ∫ p² dμ, μ the Marchenko-Pastur law, of mass "
        "1 and mean 1",
        ("ahn2023.theorem3:minimum", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
        rules.MARCHENKO_PASTUR_LAW,
    ),
    Inference(
        "density",
        "for c < 1, s dμ has the density √(((1 + √c)² − s)(s − (1 − √c)²))/(2πc)",
        ("limit_of_the_loss", "fewer_dimensions"),
        "definition",
    ),
    Inference("norm", "by its density, ∫ p² dμ is 0 only for p = 0", ("density",), rules.IDENTITY_OF_POLYNOMIALS),
    Inference(
        "nearest",
        "among all p of degree ≤ L with p(0) = 1, ∫ p² dμ is least for exactly one p, which is orthogonal to s … s^L",
        ("limit_of_the_loss", "norm"),
        rules.ORTHOGONAL_PROJECTION,
    ),
    Inference(
        "law_of_y",
        "in terms of y = (s − 1 − c)/(2√c), ds = 2√c dy, s dμ has the density (2/π) √(1 − y²): the semicircle law",
        ("density", "semicircle", "root_of_the_square", "density_in_y"),
        rules.CHANGE_OF_INTEGRATION_VARIABLE,
    ),
    Inference(
        "recursion",
        "let U_0 = 1, U_1 = 2y and U_{l+1} + U_{l−1} = 2y U_l. These are orthogonal polynomials of s dμ; ∫ s U_l dμ = "
        "0 for l ≥ 1, because U_l is orthogonal to U_0",
        ("law_of_y",),
        rules.CHEBYSHEV_POLYNOMIALS,
    ),
    Inference(
        "polynomial",
        "the nearest p is U_L(y) over its value at s = 0; its roots s = 1 + c + 2√c cos(πl/(L + 1)) are positive and "
        "different, so that p = ∏ (1 − a_l s), a_l = 1/root",
        ("nearest", "law_of_y", "positive_root"),
        rules.CHEBYSHEV_POLYNOMIALS,
    ),
    Inference(
        "least_integral",
        "p − 1 is s times a polynomial q of degree below L, to which p is orthogonal in s dμ: ∫ p² dμ = ∫ p dμ",
        ("nearest", "split"),
        "linearity of expectation",
    ),
    Inference(
        "integrals_of_u",
        "∫ U_l dμ = (−√c)^l: for l = 0 and 1 it is 1 and −√c, because μ has mass 1 and mean 1, and √c (U_{l+1} + "
        "U_{l−1}) = (s − 1 − c) U_l, where ∫ s U_l dμ = 0 for l ≥ 1",
        ("limit_of_the_loss", "recursion", "second_integral", "twice_y", "integrals"),
        "induction",
    ),
    Inference(
        "value_at_zero",
        "at s = 0, with t = 1/√c, 2y = −(t + 1/t) and U_{l+1} = −(t + 1/t) U_l − U_{l−1}, so that U_l = (−1)^l "
        "(t^{l+1} − t^{−l−1})/(t − 1/t)",
        ("recursion", "twice_y", "twice_y_at_zero", "second_at_zero", "at_zero"),
        "induction",
    ),
    Inference(
        "minimum",
        "the least value is ∫ p dμ = (−√c)^L over the value of U_L at s = 0, which is c^L (1 − c)/(1 − c^{L+1})",
        (
            *("polynomial", "least_integral", "integrals_of_u", "value_at_zero", "fewer_dimensions"),
            *("above_one", "over_the_value", "least_value"),
        ),
        "lower bound attained",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the limits of the moments, and the least loss of one and of two layers."""
    d = sp.Symbol("d", integer=True, positive=True)
    limits = tuple(
        Step(
            f"E tr S^{order} / d in the limit n = d/c → ∞",
            sp.Limit(sp.together(sp.sympify(trace_moment([order], d / c, d)) / d), d, sp.oo),
            marchenko_pastur(order, c),
        )
        for order in (2, 3, 4)
    )
    m = [marchenko_pastur(order, c) for order in range(5)]
    two = sp.Matrix(2, 2, [m[2], m[3], m[3], m[4]]).LUsolve(sp.Matrix([-m[1], -m[2]]))
    return Derivation(
        (
            *limits,
            Step("one layer: the least loss, m_0 − m_1²/m_2", 1 - 1 / m[2], least.subs(L, 1)),
            Step(
                "two layers: ∫ p dμ for p orthogonal to s and s²", 1 + two[0] * m[1] + two[1] * m[2], least.subs(L, 2)
            ),
        )
    )


def _canary(name: str, **changes: sp.Expr) -> Canary:
    return Canary(name, lambda: replace(STATEMENT, claims=(replace(MINIMUM, says="", **changes),)), "minimum")


proportional_limit = Theorem(
    id="ahn2023.proportional_limit",
    title="The limit, as d/n → c, of the loss of L layers over multiples has the minimum c^L (1 − c)/(1 − c^(L+1)) per "
    "dimension",
    source=Source("Theorem 3's point in the proportional limit", "derived here", AHN2023),
    statement=STATEMENT,
    example={"L": 3, "c": "1/4"},
    values={
        "a": ClauseValue("minimum", "a"),
        "minimum_loss_per_dimension": ClauseValue("minimum", "minimum"),
    },
    derivation=derivation,
    canaries=(
        _canary("c^L for the minimum", minimum=c**L),
        _canary("one layer more", minimum=least.subs(L, L + 1)),
        _canary("the polynomial of the law itself", minimum=None, shift=sp.S.Zero),
        _canary("steps longer by 1 + c", scale=1 + c),
    ),
    statement_uses=("ahn2023.theorem3",),
    proof_uses=("ahn2023.theorem3",),
    argument=ARGUMENT,
)
