r"""Theorem 3 with two layers, for every d and n: where the gradient vanishes, the minimum, its location and its value.

Over A_0 = a Σ^{-1}, A_1 = b Σ^{-1} the loss is f = ∫ p² dμ with p(s) = (1 − a s)(1 − b s) = 1 − σ s + π s², where
σ = a + b, π = a b and m_k = ∫ s^k dμ = E tr S^k. With M_k = m_k − σ m_{k+1} + π m_{k+2} = ∫ s^k p dμ:

*The minimum.* f is a quadratic function of (σ, π),

    f = f* + m_2 (σ − σ* − (m_3/m_2)(π − π*))² + (m_4 − m_3²/m_2)(π − π*)²,

with M_1 = M_2 = 0 at (σ*, π*), m_2 > 0 and m_2 m_4 > m_3². So f ≥ f*, with equality only at (σ*, π*). Because
σ*² > 4π*, σ* > 0 and π* > 0, these are the sum and the product of two real, different and positive steps, the only pair
that attains the minimum.

*Critical points.* The slope in a is −2(M_1 − b M_2), and the slope in b is −2(M_1 − a M_2). Both vanish at the minimum;
if a ≠ b they vanish nowhere else. If a = b = c both are −2 ∫ s (1 − c s)³ dμ, which has the derivative
6 ∫ s² (1 − c s)² dμ > 0 in c, so that they vanish at exactly one c. From this (c, c), f rises along (1, 1) and falls
along (1, −1), because f(c + e, c − e) = f(c, c) − 2e² ∫ s²(1 − c s)² dμ + e⁴ m_4: (c, c) is a saddle. Up to the
order of the steps f has two critical points, the minimum and this saddle.

*The whole space.* Let Σ = I and tr V = τ. At (a I, b I) the slope of f along V in A_0 is −2 E tr V (I − b S) p(S) S,
and along V in A_1 it is −2 E tr V p(S) (I − a S) S. Because E S^k is a multiple of I, these are τ/d times the slopes in
a and in b. So the gradient over all A_0 and A_1 is 0 at both points: the infimum of its norm is 0, as printed, and
attained.

For three layers see `three_layer_minimum`, and for any number of layers `multiples_of_the_inverse`.

Source: Ahn et al. 2023, Theorem 3, states the infimum of the squared gradient; the rest is derived here.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.closed_forms import values_of
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
from theorems.preconditioned_descent.trials.steps import (
    equal_pair,
    least_at_steps,
    saddle_at_equal_steps,
    strict_at_steps,
)
from theorems.preconditioned_descent.trials.two_layers import gradient_vanishes
from theorems.preconditioned_descent.two_layer_loss import WORDS, in_traces
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.trace_moments import trace_moment
from verify import (
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
    matrix,
)

MULTIPLES = Hypothesis("multiples", text="A_0 = a Sigma^{-1} and A_1 = b Sigma^{-1}")
TWO_LAYERS = Hypothesis("two_layers", text="L = 2")

a, b, c, e, tau = sp.symbols("a b c e tau", real=True)
m2, m3, m4 = MOMENTS = sp.symbols("m_2:5", real=True)
mean_1, mean_2, off_sum, off_product = sp.symbols("M_1 M_2 off_sum off_product", real=True)
det, form = sp.symbols("D form", real=True)
M: tuple[sp.Expr, ...] = tuple(sp.factor(trace_moment([order], n, d)) for order in range(5))  # pyright: ignore[reportAssignmentType]
"""m_0 … m_4."""


def _solved() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return σ*, π* and f* = ∫ p dμ."""
    total, product = sp.Matrix(2, 2, [M[2], -M[3], M[3], -M[4]]).LUsolve(sp.Matrix(M[1:3]))
    return tuple(map(sp.factor, (total, product, M[0] - total * M[1] + product * M[2])))  # pyright: ignore[reportReturnType]


TOTAL, PRODUCT, LEAST = _solved()
DETERMINANT = sp.factor(M[2] * M[4] - M[3] ** 2)


def loss(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """Return f at two steps, by the traces of words in A_0 and A_1."""
    return in_traces({word: d * first ** word.count("A") * second ** word.count("B") for word in WORDS})


def orthogonality(order: int, total: sp.Expr, product: sp.Expr) -> sp.Expr:
    """Return M_k = ∫ s^k p dμ."""
    return M[order] - total * M[order + 1] + product * M[order + 2]


def _slope(other: sp.Expr) -> sp.Expr:
    """Return −2(M_1 − b M_2), the slope in a where the other step is b."""
    return -2 * (orthogonality(1, a + b, a * b) - other * orthogonality(2, a + b, a * b))


_CURVATURE = M[2] - 2 * c * M[3] + c**2 * M[4]
"""∫ s² (1 − c s)² dμ."""
OFF_SUM, OFF_PRODUCT = a + b - TOTAL, a * b - PRODUCT

PRODUCT_OF_STEPS = Identity(
    "product_of_steps",
    (c + e) / 2 * ((c - e) / 2),
    (c**2 - e**2) / 4,
    "the product of (sigma + e)/2 and (sigma - e)/2 is (sigma^2 - e^2)/4",
)
PAIR = (
    PRODUCT_OF_STEPS,
    Implication(
        "smaller_step",
        (sp.Gt(c, 0), sp.Gt(c**2 - e**2, 0)),
        sp.Gt((c - e) / 2, 0),
        "(sigma - e)/2 > 0 where sigma > 0, sigma^2 - e^2 > 0",
    ),
    Identity(
        "same_pair",
        (c - a) * (c - b),
        c**2 - (a + b) * c + a * b,
        "(x - a)(x - b) = x^2 - (a + b) x + a b: a pair with the same sum and product has the same entries",
    ),
)
SLOPE = Identity("slope", sp.Derivative(loss(a, b), a), _slope(b), "the slope of f in a is -2 (M_1 - b M_2)")
OTHER_SLOPE = Identity(
    "other_slope", sp.Derivative(loss(a, b), b), _slope(a), "the slope of f in b is -2 (M_1 - a M_2)"
)
ORTHOGONAL = tuple(
    Identity(f"orthogonal_{order}", orthogonality(order, TOTAL, PRODUCT), sp.S.Zero, f"M_{order} = 0 at the minimum")
    for order in (1, 2)
)
SQUARES = Identity(
    "squares",
    loss(a, b),
    LEAST + M[2] * (OFF_SUM - M[3] / M[2] * OFF_PRODUCT) ** 2 + DETERMINANT / M[2] * OFF_PRODUCT**2,
    "f = f* + m_2 (off_sum - (m_3/m_2) off_product)^2 + (m_4 - m_3^2/m_2) off_product^2, where off_sum = a + b - "
    "sigma* and off_product = a b - pi*, with the sum sigma* and the product pi* of the steps at the minimum",
)
DIFFERENT, SUM, PROD, CURVED, DEFINITE = (
    Inequality(name, sp.Gt(value, 0, evaluate=False), says)
    for name, value, says in (
        ("different", TOTAL**2 - 4 * PRODUCT, "sigma*^2 > 4 pi*: the steps at the minimum are real and different"),
        ("sum", TOTAL, "sigma* > 0"),
        ("product", PRODUCT, "pi* > 0"),
        ("curved", M[2], "m_2 > 0"),
        ("definite", DETERMINANT, "m_2 m_4 > m_3^2"),
    )
)
OTHER_CURVED = Inequality(
    "other_curved", sp.Gt(DETERMINANT / M[2], 0, evaluate=False), "m_4 - m_3^2/m_2 = (m_2 m_4 - m_3^2)/m_2 > 0"
)
COORDINATES = Identity(
    "coordinates",
    sp.Derivative(a + b, a) * sp.Derivative(a * b, b) - sp.Derivative(a + b, b) * sp.Derivative(a * b, a),
    a - b,
    "the gradients (1, 1) of a + b and (b, a) of a b have the determinant a - b",
)
EQUATIONS = tuple(
    Identity(
        f"equation_{order}",
        orthogonality(order, a + b, a * b) - orthogonality(order, TOTAL, PRODUCT),
        -(M[order + 1] * OFF_SUM - M[order + 2] * OFF_PRODUCT),
        f"M_{order} less its value at the minimum is -(m_{order + 1} off_sum - m_{order + 2} off_product)",
    )
    for order in (1, 2)
)
EQUAL = Identity(
    "equal",
    _slope(b).subs({a: c, b: c}),
    -2 * (M[1] - 3 * c * M[2] + 3 * c**2 * M[3] - c**3 * M[4]),
    "where both steps are c the slopes are -2 (m_1 - 3 c m_2 + 3 c^2 m_3 - c^3 m_4)",
)
RISING = Identity(
    "rising",
    sp.Derivative(EQUAL.right, c),
    6 * M[4] * (c - M[3] / M[4]) ** 2 + 6 * DETERMINANT / M[4],  # pyright: ignore[reportOperatorIssue]
    "where both steps are c, the slope has the derivative 6 m_4 (c - m_3/m_4)^2 + 6 (m_2 m_4 - m_3^2)/m_4 in c",
)
APART = Identity(
    "apart",
    loss(c + e, c - e) - loss(c, c),
    -2 * e**2 * _CURVATURE + e**4 * M[4],
    "f(c + e, c - e) - f(c, c) = -2 e^2 (m_2 - 2 c m_3 + c^2 m_4) + e^4 m_4",
)
_V = matrix("V")
_moves = sp.Symbol("moves", real=True)
_first, _second = 1 - a * S, 1 - b * S
LOSS = GaussianMoment(
    "loss_in_steps",
    ERROR**2,
    loss(a, b),
    LETTERS,
    NORMAL,
    {ERROR: left_of(_first * _second)},
    says="E (w*'(I - aS)(I - bS)x)^2 is the polynomial f in a and b; S = XX'/n, and X, w* and x are standard normal",
)
WHOLE = tuple(
    GaussianMoment(
        f"whole_{name}",
        2 * ERROR * _moves,
        tau / d * slope.right,
        {**LETTERS, _V: (d, d)},
        NORMAL,
        {ERROR: left_of(_first * _second), _moves: left_of(moved)},
        {_V: tau},
        says=f"where A_{index} is moved by e V, tr V = tau, the slope of E (w*'(I - SA_0)(I - SA_1)x)^2 in e is tau/d "
        f"times its slope in {step}; it is twice the mean of w*'(I - aS)(I - bS)x times the slope of this error",
    )
    for name, moved, index, step, slope in (
        ("first", -S * _V * _second, 0, "a", SLOPE),
        ("second", -_first * S * _V, 1, "b", OTHER_SLOPE),
    )
)

SLOPE_POSITIVE = Implication(
    "slope_positive",
    (sp.Gt(m4, 0), sp.Gt(det, 0)),
    sp.Gt(6 * m4 * c**2 + 6 * det / m4, 0),
    "6 m_4 x^2 + 6 D/m_4 > 0 where m_4 > 0, D > 0",
)
BENT_DOWN = Identity(
    "bent_down",
    sp.Subs(sp.Derivative(-2 * e**2 * form + e**4 * m4, (e, 2)), e, 0),
    -4 * form,
    "-2 e^2 form + e^4 m_4 has the second derivative -4 form in e at 0",
)
SECOND_VANISHES = Implication(
    "second_vanishes",
    (sp.Eq(mean_1 - b * mean_2, 0), sp.Eq(mean_1 - a * mean_2, 0), sp.Gt((a - b) ** 2, 0)),
    sp.Eq(mean_2, 0),
    "M_2 = 0 where M_1 = b M_2 and M_1 = a M_2, a and b different",
)
FIRST_VANISHES = Implication(
    "first_vanishes",
    (sp.Eq(mean_1 - b * mean_2, 0), sp.Eq(mean_2, 0)),
    sp.Eq(mean_1, 0),
    "M_1 = 0 where M_1 = b M_2 and M_2 = 0",
)
_EQUATIONS = m2 * off_sum - m3 * off_product, m3 * off_sum - m4 * off_product
ELIMINATED = tuple(
    Identity(
        f"eliminated_{name}",
        first * _EQUATIONS[0] - second * _EQUATIONS[1],
        (m2 * m4 - m3**2) * off,
        f"{first} (m_2 off_sum - m_3 off_product) - {second} (m_3 off_sum - m_4 off_product) = (m_2 m_4 - m_3^2) {off}",
    )
    for name, first, second, off in (("product", m4, m3, off_sum), ("sum", m3, m2, off_product))
)
SAME = Implication(
    "same", (sp.Gt(det, 0), sp.Eq(det * off_sum, 0)), sp.Eq(off_sum, 0), "off = 0 where D off = 0 and D > 0"
)
FOURTH_POSITIVE = Implication(
    "fourth_positive", (sp.Gt(m2, 0), sp.Gt(m2 * m4 - m3**2, 0)), sp.Gt(m4, 0), "m_4 > 0 where m_2 > 0, m_2 m_4 > m_3^2"
)
FORM_TIMES_FOURTH = Implication(
    "form_times_fourth",
    (sp.Gt(m2 * m4 - m3**2, 0),),
    sp.Gt(m4 * (m2 - 2 * c * m3 + c**2 * m4), 0),
    "m_4 (m_2 - 2 c m_3 + c^2 m_4) > 0 where m_2 m_4 > m_3^2",
)
FORM_POSITIVE = Implication(
    "form_positive", (sp.Gt(m4, 0), sp.Gt(m4 * form, 0)), sp.Gt(form, 0), "form > 0 where m_4 form > 0, m_4 > 0"
)
FALLING = Implication("falling", (sp.Gt(form, 0),), sp.Lt(-4 * form, 0), "-4 form < 0 where form > 0")
LEAST_PAIR = InWords(
    "least",
    "f over S is least, with the value minimum_loss, at the pair of steps smaller_step and larger_step, which are "
    "different and positive, and at no other pair",
)
STRICT = InWords("strict", "at that pair the second derivatives of f over S are positive definite")
SADDLE = InWords("saddle", "at one other pair, of two equal steps, both slopes vanish; it is a saddle of f over S")
VANISHES = InWords(
    "vanishes", "at both pairs the gradient of f in all A_0 and A_1 vanishes: the infimum of its square is 0"
)

STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, TWO_LAYERS, GAUSSIAN_TOKENS, INVERSE_PRIOR, MULTIPLES),
    variables=(a, b, c, e, tau, *MOMENTS, mean_1, mean_2, off_sum, off_product, det, form, r),
    claims=(LEAST_PAIR, STRICT, SADDLE, VANISHES),
    steps=(
        *(
            WHITENED,
            LEFT,
            LOSS,
            SLOPE,
            OTHER_SLOPE,
            *ORTHOGONAL,
            SQUARES,
            CURVED,
            DEFINITE,
            OTHER_CURVED,
            COORDINATES,
            *EQUATIONS,
            DIFFERENT,
            SUM,
            PROD,
            *PAIR,
        ),
        *(SECOND_VANISHES, FIRST_VANISHES, *ELIMINATED, SAME, FOURTH_POSITIVE, FORM_TIMES_FOURTH, FORM_POSITIVE),
        *(EQUAL, RISING, SLOPE_POSITIVE, APART, BENT_DOWN, FALLING, *WHOLE),
    ),
)

ARGUMENT = (
    Inference(
        "whitened",
        "let Σ = RRᵀ and x = R x̃: the labels are (Rᵀw*)ᵀ x̃, Rᵀw* has covariance I, and the layer of A_l acts on x̃ "
        "as the layer of Rᵀ A_l R. A_l ↦ Rᵀ A_l R is a linear bijection that takes a_l Σ^{-1} to a_l I, so that Σ may "
        "be taken to be I: the gradient in the A_l vanishes if and only if that in the Rᵀ A_l R does",
        ("whitened_label", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
        rules.WHITENING,
    ),
    Inference(
        "residual",
        "layer l multiplies the residual w* − v by I − A_l' S: after two layers it is (I − A_1' S)(I − A_0' S) w*",
        ("ahn2023.lemma1", "whitened", "linear_attention", "pattern", "two_layers", "left_of_w"),
        "induction",
    ),
    Inference(
        "loss",
        "f is the mean square of w*'(I − S A_0)(I − S A_1)x: over A_0 = a I, A_1 = b I it is the polynomial of "
        "`loss_in_steps`, and along e V in A_0 or A_1 it has the slopes of `whole_first` and `whole_second`",
        ("residual", "multiples", "loss_in_steps", "whole_first", "whole_second"),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "quadratic",
        "f is f* plus a positive definite quadratic form in a + b − σ* and a b − π*",
        ("loss", "squares", "curved", "other_curved"),
        "nonnegative terms",
    ),
    Inference(
        "bounded",
        "f ≥ f*, with equality only if the steps have the sum σ* and the product π*",
        ("quadratic",),
        "nonnegative terms",
    ),
    Inference(
        "real_steps",
        "with e = √(σ*² − 4π*) > 0, σ* and π* are the sum and the product of the steps (σ* ± e)/2, which are different "
        "and positive, and of no other pair",
        ("different", "sum", "product", "product_of_steps", "smaller_step", "same_pair"),
        "application",
    ),
    Inference(
        "least", "f* is attained at that pair, and at no other", ("bounded", "real_steps"), "lower bound attained"
    ),
    Inference(
        "strict",
        "the two steps are different, so that their sum and product are coordinates near this pair; f is a positive "
        "definite form in these coordinates, and so its second derivatives in the steps are positive definite",
        ("quadratic", "real_steps", "coordinates"),
        rules.CHANGE_OF_COORDINATES,
    ),
    Inference(
        "critical",
        "if a ≠ b, both slopes vanish if and only if M_1 = M_2 = 0, that is, at the least pair and nowhere else: the "
        "sum and the product of the steps solve the same two linear equations as at the least pair",
        (
            *(
                "loss",
                "slope",
                "other_slope",
                "orthogonal_1",
                "orthogonal_2",
                "equation_1",
                "equation_2",
                "definite",
                "least",
            ),
            *("second_vanishes", "first_vanishes", "eliminated_product", "eliminated_sum", "same"),
        ),
        "application",
    ),
    Inference(
        "some_equal_pair",
        "at a = b = c both slopes are a cubic in c with the leading coefficient 2 m_4 > 0: they vanish at some c",
        ("equal", "curved", "definite", "fourth_positive"),
        rules.INTERMEDIATE_VALUE,
    ),
    Inference(
        "one_equal_pair",
        "the slopes at a = b = c rise with c, so that they vanish at no other c",
        ("some_equal_pair", "rising", "slope_positive", "curved", "definite", "fourth_positive"),
        rules.MONOTONICITY,
    ),
    Inference(
        "saddle",
        "at this c the second derivative of f is positive along (c, c) and negative along (c + e, c − e)",
        (
            *("one_equal_pair", "critical", "rising", "slope_positive", "apart", "bent_down", "curved", "definite"),
            *("falling", "fourth_positive", "form_times_fourth", "form_positive"),
        ),
        rules.INDEFINITE_HESSIAN,
    ),
    Inference(
        "vanishes",
        "along V of trace τ in A_0 or A_1 the slope is τ/d times the slope in a or b, which is 0 at both pairs; by "
        "`whitened` the gradient vanishes at every Σ",
        ("whitened", "loss", "critical", "one_equal_pair"),
        "application",
    ),
)


def derivation() -> Derivation:
    """Return the steps: f over multiples, the sum and the product in one dimension, the limit of many examples."""
    s = sp.Symbol("s", real=True)
    square = sp.Poly(((1 - a * s) * (1 - b * s)) ** 2, s)
    return Derivation(
        (
            Step("over multiples f is ∫ p² dμ", loss(a, b), sum(m * M[i] for (i,), m in square.terms())),
            Step("one dimension, by Laguerre's polynomial: the steps' sum", sp.Subs(TOTAL, d, 1), 2 * n / (n + 2)),
            Step("one dimension: the product", sp.Subs(PRODUCT, d, 1), n**2 / ((n + 2) * (n + 4))),
            Step(
                "many examples: S = I + G/√n, and n² f* tends to E tr G⁴ − (E tr G²)²/d",
                sp.Limit(n**2 * LEAST, n, sp.oo),
                2 * d**3 + 5 * d**2 + 5 * d - (d * (d + 1)) ** 2 / d,
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


SMALL, LARGE = ((TOTAL + sign * sp.sqrt(sp.factor(TOTAL**2 - 4 * PRODUCT))) / 2 for sign in (-1, 1))

_PAIR, _HALVES = values_of(SMALL, LARGE), values_of(TOTAL / 2, TOTAL / 2)
_LARGER = values_of(SMALL, LARGE, factors=(Fraction(1), Fraction(21, 20)))
EVALUATIONS = {
    "least": Evaluation(
        least_at_steps(_PAIR, values_of(LEAST)),
        "f over S is least, with the value minimum_loss, at the pair of steps smaller_step and 21/20 larger_step",
        least_at_steps(_LARGER, values_of(LEAST)),
        draws=30,
    ),
    "strict": Evaluation(
        strict_at_steps(_PAIR),
        "at two equal steps of the same sum the second derivatives of f over S are positive definite",
        strict_at_steps(_HALVES),
    ),
    "saddle": Evaluation(
        saddle_at_equal_steps(equal_pair, _PAIR),
        "at one other pair of steps, two equal ones of the same sum, both slopes vanish",
        saddle_at_equal_steps(_HALVES, _PAIR),
        draws=30,
    ),
    "vanishes": Evaluation(
        gradient_vanishes(_PAIR, equal_pair),
        "at smaller_step and 21/20 larger_step the gradient of f in all A_0 and A_1 vanishes",
        gradient_vanishes(_LARGER),
        draws=40,
    ),
}

two_layer_minimum = Theorem(
    id="ahn2023.two_layer_minimum",
    title="Theorem 3 with two layers, for every d and n: the minimum, its location and its value",
    source=Source("Theorem 3, L = 2", "derived here", AHN2023, "more than is printed, for two layers"),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={"smaller_step": SMALL, "larger_step": LARGE, "minimum_loss": LEAST},
    derivation=derivation,
    canaries=(
        _canary(
            "steps of a sum larger by 1/n",
            replace(ORTHOGONAL[0], left=orthogonality(1, TOTAL + 1 / n, PRODUCT), says=""),
        ),
        _canary("twice the quadratic form", replace(SQUARES, right=2 * SQUARES.right - LEAST, says="")),
        _canary("equal steps at the minimum", replace(DIFFERENT, relation=sp.Le(*DIFFERENT.relation.args), says="")),
        _canary("equal steps are a minimum", replace(APART, right=APART.right + 4 * e**2 * _CURVATURE, says="")),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("ahn2023.lemma1",),
    argument=ARGUMENT,
)
