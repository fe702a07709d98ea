r"""For L ≥ 2 Theorem 4's infimum is below Theorem 3's least loss with L layers, not below that with (3^L − 1)/2.

On S, with Σ = I and c_l = a_l b_l, f = ∫ r_L² dμ, ∫ s^k dμ = E tr S^k, r_{l+1} = r_l (1 − a_l s g_l²), g_{l+1} =
g_l (1 − c_l s g_l²) (`preconditioned_tokens`).

*From below.* r_L is a polynomial of degree at most (3^L − 1)/2 with r_L(0) = 1. Over all such polynomials ∫ r² dμ is
least at the product of Theorem 3's factors 1 − a_l s, with that many layers.

*From above.* If all b_l are 0, f is Theorem 3's. At its least point p = ∏ (1 − a_l s) is orthogonal in s dμ to all
polynomials of degree below L. Moving c_0 changes r_L at the rate Σ_{l ≥ 1} 2 s (p/(1 − a_l s) − p), so that f has
the slope −4 (L − 1) a_0 ∫ s p² dμ < 0 in b_0.

*Signs.* At a critical point of f no a_l is negative, and a_{L−1} > 0. As a function of a_l, with all c_l and the other
steps fixed, f is ∫ ρ² (1 − a_l u)² dμ, where u = s g_l² ≥ 0 and ρ is the product of the other factors of r_L. This
integral falls for a_l ≤ 0. If a_l ≠ 0, the slopes in a_l and c_l vanish.

Source: derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.layers_of_tokens import in_product, in_step, rates, steps
from theorems.preconditioned_descent.multiples_of_the_inverse import INVERSE_PRIOR, k
from theorems.preconditioned_descent.preconditioned_tokens import (
    ALL_SLOPES,
    DENSITY,
    LAYERS_ON_S,
    LOSS_ON_S,
    MULTIPLES,
    PATTERN,
)
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LAYERS,
    LINEAR_ATTENTION,
    L,
    d,
    n,
    r,
    tau,
)
from theorems.preconditioned_descent.trials.token_claims import between, no_negative_step
from theorems.wishart.trace_moments import wishart_trace_moment
from verify import (
    ClauseValue,
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inference,
    InWords,
    LeastResidual,
    Source,
    Statement,
    Step,
    Theorem,
)

SEVERAL = Hypothesis("several_layers", sp.Ge(L, 2), "two layers or more")
a, c, s, u, rho = sp.symbols("a c s u rho", real=True)
DEGREE = (3**L - 1) / 2

MOVED = Identity(
    "moved",
    sp.Subs(sp.Derivative((rho * (1 - a * s * (1 - c * s) ** 2)) ** 2, c), c, 0),
    4 * (s * rho**2 * (1 - a * s) - s * rho**2 * (1 - a * s) ** 2),
    "the slope of (rho (1 - a s (1 - c s)^2))^2 in c at 0 is 4 (s p rho - s p^2), p = rho (1 - a s)",
)
FALLS = Identity(
    "falls",
    sp.Derivative((rho * (1 - a * u)) ** 2, a),
    -2 * u * (1 - a * u) * rho**2,
    "the slope of rho^2 (1 - a u)^2 in a is -2 u (1 - a u) rho^2",
)
NOT_RISING = Implication(
    "not_rising",
    (sp.Le(a, 0), sp.Ge(u, 0)),
    sp.Le(-2 * u * (1 - a * u) * rho**2, 0),
    "-2 u (1 - a u) rho^2 <= 0 for a <= 0, u >= 0",
)
FALLING = Implication(
    "falling",
    (sp.Le(a, 0), sp.Gt(u, 0), sp.Gt(rho**2, 0)),
    sp.Lt(-2 * u * (1 - a * u) * rho**2, 0),
    "-2 u (1 - a u) rho^2 < 0 for a <= 0, u > 0, rho not 0",
)
along, square = sp.symbols("along square", real=True)
"""∫ s p²/(1 − a_l s) dμ and ∫ s p² dμ."""
FALLS_IN_THE_RATE = Implication(
    "falls_in_the_rate",
    (sp.Ge(L, 2), sp.Gt(a, 0), sp.Gt(square, 0), sp.Eq(along, 0)),
    sp.Lt(a * 2 * (L - 1) * 2 * (along - square), 0),
    "4 (L-1) a (along - square) < 0 where L >= 2, a > 0, square > 0, along = 0",
)
DEGREE_AFTER = Implication(
    "degree_after",
    (sp.Eq(2 * u, rho - 1),),
    sp.Eq(2 * (u + 1 + 2 * u), 3 * rho - 1),
    "2 (g + 1 + 2g) = 3h - 1 where 2g = h - 1: where r and g have degree (3^l - 1)/2, r (1 - a s g^2) has (3^(l+1) - "
    "1)/2",
)
AS_MANY, MORE = (
    LeastResidual(
        name,
        factors=factors,
        moment=wishart_trace_moment(k, n, d),
        index=k,
        says=f"over A_l = a_l Sigma^-1, B_l = 0, f with {layers} layers is least at the steps of Theorem 3",
    )
    for name, factors, layers in (("as_many_layers", L, "L"), ("more_layers", DEGREE, "(3^L - 1)/2"))
)
BETWEEN = InWords(
    "between",
    "the infimum of f over S is below the least loss of Theorem 3 with L layers, and not below its least loss with "
    "(3^L - 1)/2 layers",
)
SIGNS = InWords("signs", "at every critical point of f over S all a_l >= 0, and a_{L-1} > 0")
STATEMENT = Statement(
    parameters=(LAYERS, DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, SEVERAL, GAUSSIAN_TOKENS, INVERSE_PRIOR, MULTIPLES),
    variables=(a, c, s, u, rho, along, square, in_step, in_product, r, steps[0], rates[0], tau),
    claims=(BETWEEN, SIGNS, AS_MANY, MORE),
    steps=(*LAYERS_ON_S, MOVED, FALLS, NOT_RISING, FALLING, FALLS_IN_THE_RATE, DEGREE_AFTER, *ALL_SLOPES),
)
_THEOREM3 = ("ahn2023.theorem3:minimum", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior")
ARGUMENT = (
    *LOSS_ON_S,
    DENSITY,
    Inference(
        "in_steps_and_products",
        "let c_l = a_l b_l. By the recursions of `polynomials`, g_l depends only on c_0 … c_{l−1}, and r_{l+1} on r_l, "
        "a_l and g_l: f = ∫ r_L² dμ is a polynomial F in the a_l and c_0 … c_{L−2}",
        ("loss_on_S", "polynomials", "token_layer", "label_layer"),
        "definition",
    ),
    Inference(
        "degree",
        "g_l and r_l have degree at most (3^l − 1)/2, and are 1 at 0",
        ("in_steps_and_products", "polynomials", "degree_after"),
        "induction",
    ),
    Inference(
        "as_many_layers",
        "with B_l = 0 the pattern is Theorem 3's, and so is the least loss with L layers",
        _THEOREM3,
        "application",
    ),
    Inference(
        "more_layers",
        "with B_l = 0 the least loss with (3^L − 1)/2 layers is Theorem 3's, too",
        _THEOREM3,
        "application",
    ),
    Inference(
        "from_below",
        "by Theorem 3's argument its least loss with (3^L − 1)/2 layers is the least ∫ r² dμ over all polynomials r of "
        "at most this degree with r(0) = 1, and so not above f",
        ("degree", "more_layers", "ahn2023.theorem3:minimum"),
        rules.ORTHOGONAL_PROJECTION,
    ),
    Inference(
        "orthogonal",
        "at Theorem 3's least point, with all b_l = 0, p = r_L is orthogonal in s dμ to each p/(1 − a_l s), which has "
        "degree L − 1",
        ("as_many_layers", "in_steps_and_products", "ahn2023.theorem3:minimum"),
        rules.ORTHOGONAL_PROJECTION,
    ),
    Inference(
        "positive_steps",
        "at this point all a_l > 0: they are the inverse roots of p, which is orthogonal in s dμ to all polynomials of "
        "degree below L",
        ("as_many_layers", "density", "ahn2023.theorem3:minimum"),
        rules.ZEROS_OF_ORTHOGONAL_POLYNOMIALS,
    ),
    Inference(
        "slope",
        "at this point, with c_0 moved from 0, g_l = 1 − c_0 s for l ≥ 1, so that r_L² has the slope Σ_{l≥1} 4 (s "
        "p²/(1 − a_l s) − s p²) in c_0. The slope of f in b_0 is a_0 times its integral, −4 (L − 1) a_0 ∫ s p² dμ, "
        "and so negative: ∫ s p² dμ > 0 by the density",
        (
            *("orthogonal", "as_many_layers", "in_steps_and_products", "positive_steps", "density", "moved"),
            *("polynomials", "several_layers", "falls_in_the_rate"),
        ),
        rules.CHAIN_RULE,
    ),
    Inference(
        "between",
        "so at some points near that point f is below Theorem 3's least loss with L layers; by `from_below` f is "
        "nowhere below Theorem 3's least loss with (3^L − 1)/2 layers",
        ("slope", "from_below", "as_many_layers"),
        rules.DERIVATIVE,
    ),
    Inference(
        "one_alone",
        "as a function of a_l alone F is ∫ ρ² (1 − a_l u)² dμ with u = s g_l² ≥ 0, and its slope is < 0 for a_l ≤ 0, "
        "because u and ρ are polynomials other than 0, and μ has a density > 0 on (0, ∞)",
        ("in_steps_and_products", "polynomials", "density", "falls", "not_rising", "falling"),
        "nonnegative terms",
    ),
    Inference(
        "slopes_in_steps_and_rates",
        "f has the slopes F_{a_l} + b_l F_{c_l} in a_l and a_l F_{c_l} in b_l, and does not depend on b_{L−1}",
        ("in_steps_and_products",),
        rules.CHAIN_RULE,
    ),
    Inference(
        "signs",
        "at a critical point F_{a_l} = 0 if a_l ≠ 0, and then a_l > 0 by `one_alone`; F_{a_{L−1}} = 0 in any case, so "
        "that a_{L−1} > 0",
        ("one_alone", "slopes_in_steps_and_rates", *(step.label for step in ALL_SLOPES)),
        "case distinction",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the slope of r_2 in c, the degrees of one to three layers, and the slope in a_l at 0."""
    b, e = sp.symbols("b e", real=True)
    two = (1 - a * s) * (1 - e * s * (1 - c * s) ** 2)
    return Derivation(
        (
            Step(
                "two layers: the slope of r_2 in c at 0",
                sp.Subs(sp.Derivative(two, c), c, 0),
                2 * s * ((1 - a * s) - (1 - a * s) * (1 - e * s)),
            ),
            Step("one layer has degree 1", sp.Subs(DEGREE, L, 1), 1),
            Step("two have 4", sp.Subs(DEGREE, L, 2), 4),
            Step("three have 13", sp.Subs(DEGREE, L, 3), 13),
            Step(
                "where a_l = 0 the slope in a_l is −2 ∫ u ρ² dμ",
                sp.Subs(sp.Derivative((rho * (1 - b * u)) ** 2, b), b, 0),
                -2 * u * rho**2,
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


EVALUATIONS = {
    "between": Evaluation(
        between(lambda layers: layers.least_without_rates(layers.degree)),
        "the infimum of f over S is not below the least loss of Theorem 3 with 3L - 1 layers",
        between(lambda layers: layers.least_without_rates(3 * layers.layers - 1)),
        draws=8,
    ),
    "signs": Evaluation(
        no_negative_step(),
        "at every critical point of f over S all a_l >= 0 and all b_l >= 0",
        no_negative_step(rates=True),
        draws=15,
    ),
}

token_layers_between = Theorem(
    id="ahn2023.token_layers_between",
    title="Theorem 4's least loss is below Theorem 3's, and not below Theorem 3's with (3^L - 1)/2 layers",
    source=Source("Theorem 4", "derived here", AHN2023, "compares the losses of Theorems 3 and 4"),
    statement=STATEMENT,
    example={"L": 3, "d": 5, "n": 20},
    values={
        "theorem3_loss": ClauseValue("as_many_layers", "minimum"),
        "lower_bound": ClauseValue("more_layers", "minimum"),
    },
    derivation=derivation,
    canaries=(
        _canary("tokens moved the other way", replace(MOVED, right=-MOVED.right, says="")),
        _canary("a slope without a", replace(FALLS, right=-2 * u * rho**2, says="")),
        _canary("the orthogonal polynomial of the spectrum itself", replace(MORE, shift=sp.S.Zero, says="")),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("ahn2023.theorem3", "ahn2023.lemma5"),
    argument=ARGUMENT,
)
