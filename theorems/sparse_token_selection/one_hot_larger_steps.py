r"""Theorem 1's conclusion for η < 2q (T−1)/(T−1+6d): the loss never rises, and falls below every ε.

In the coordinates of `one_hot_descent`, ℓ = 2qL/d = (1 − m) + mρ², let a = αP = (1 + ρ)m. Where ℓ ≤ 1 and C ≥ 0, ρ² ≤ 1
and so 0 ≤ a ≤ 2. There, in coordinates scaled by the steps, the Hessian is (η/q) times the matrix with the entries

    PS ≤ 1,   √(d/(T−1)) P(1−P)(2a(1−w) − 1),   d/(T−1) a(1−P)(a((2−3P)(1−w) + w) − (1−2P)),

in α, mixed, and in C. The last entry is at most 6d/(T−1), and so is the square of the mixed entry, so that no
eigenvalue is above β = (η/q)(1 + 6d/(T−1)) < 2. The region where ℓ ≤ 1 is not convex, but a step stays in it: along the
step ℓ falls as long as it has stayed at most 1. So L never rises. Where ℓ ≥ x, the weighted sum G of the squared slopes
is at least (q/T)² x² min(1/16, 9d/(64(T−1))), so that ℓ falls below every x.

For T → ∞ the bound on η tends to 2q, beyond which the approach to zero loss is unstable (`inverse_loss_rate`). If
T > 6q or T > 4d, it is above the bound 4q²/(5q+2d) of `one_hot_descent`, which bounds the number of steps too. For
q < T `inverse_loss_rate` gives 1/(t L_t) → 4η/(T−1) here as well. For η between the larger of the two bounds and 2q
nothing is shown for all sizes: the loss may rise on its way to 0 (finding `wang2024.stays_needs_more_than_stability`).

Source: derived here; Wang et al. 2024, Theorem 1, has η ≤ 1/(20d²).
"""

from dataclasses import replace

import sympy as sp

from theorems import rules
from theorems.papers import WANG2024
from theorems.sparse_token_selection import reduced_dynamics as reduced
from theorems.sparse_token_selection.one_hot_box import (
    FALL_OF_C,
    LAG,
    RANGE_OF_ALPHA,
    SECOND_DERIVATIVES,
    SLOPES,
    VARIABLES,
    alpha,
    b,
    curve,
    fall,
    level,
    low,
    m,
    other as w,
    part,
    rho,
    size,
    z,
)
from theorems.sparse_token_selection.one_hot_convergence import LARGER_STEP, NEVER_INCREASES, REACHED, SLOW, STAYS
from theorems.sparse_token_selection.one_hot_curvature import (
    FALL_IN_PARTS,
    FORM,
    VARIABLES as OF_THE_FORM,
    share as own,
)
from theorems.sparse_token_selection.one_hot_descent import COORDINATES, RANGE, P, at_most, m as whole_m, u, v, x
from theorems.sparse_token_selection.task import (
    ACCURACY,
    DESCENT_ON_MEANS,
    LENGTH,
    ONE_HOT_RUN,
    RUNS_EXIST,
    STEP_SIZE,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    eta,
    formal,
    q,
)
from verify import (
    Canary,
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

p = sp.Symbol("p", nonnegative=True)

BETA = eta / q * (1 + 6 * d / (T - 1))
share, other, attended = 1 / (1 + p), 1 / (1 + v), 2 / (1 + x)
"""P and w in (0, 1] and a in (0, 2], as functions of nonnegative variables."""
MIXED = share * (1 - share) * (2 * attended * (1 - other) - 1)
BEND = attended * (1 - share) * (attended * ((2 - 3 * share) * (1 - other) + other) - (1 - 2 * share))

CURVATURE_C = at_most("curvature_C", BEND, 6, "a(1-P)(a((2-3P)(1-w) + w) - (1-2P)) <= 6 for 0 <= a <= 2")
CURVATURE_MIXED = at_most("curvature_mixed", MIXED**2, 6, "(P(1-P)(2a(1-w) - 1))^2 <= 6 for 0 <= a <= 2")
BETA_BELOW = Inequality("beta", sp.Lt(BETA, 2, evaluate=False), says="beta = (eta/q)(1 + 6d/(T-1)) < 2")
_OTHERS = 1 - own
ENTRIES = (
    Identity(
        "mixed_in_a",
        4 * alpha * own**2 * _OTHERS * (1 - w) - 2 * own * _OTHERS,
        2 * (own * _OTHERS * (2 * (alpha * own) * (1 - w) - 1)),
        says="4 alpha P^2 (1-P)(1-w) - 2P(1-P) = 2 P(1-P)(2a(1-w) - 1) for a = alpha P",
    ),
    Identity(
        "bend_in_a",
        -2 * alpha * own * _OTHERS * (1 - 2 * own) + 2 * alpha**2 * own**2 * _OTHERS * ((2 - 3 * own) * (1 - w) + w),
        2 * (alpha * own * _OTHERS * (alpha * own * ((2 - 3 * own) * (1 - w) + w) - (1 - 2 * own))),
        says="-2 alpha P(1-P)(1-2P) + 2 alpha^2 P^2 (1-P)((2-3P)(1-w) + w) = 2 a(1-P)(a((2-3P)(1-w) + w) - (1-2P))",
    ),
    Implication(
        "scaled_entry_of_alpha",
        (sp.Le(u, 1),),
        sp.Le(eta / d * (d / (2 * q) * (2 * u)), eta / q),
        says="(eta/d) (d/(2q)) 2x <= eta/q where x <= 1",
    ),
    Implication(
        "scaled_entry_of_C",
        (sp.Le(u, 6),),
        sp.Le(eta / (T - 1) * (d / (2 * q) * (2 * u)), eta / q * (6 * d / (T - 1))),
        says="(eta/(T-1)) (d/(2q)) 2x <= (eta/q) 6d/(T-1) where x <= 6",
    ),
    Implication(
        "scaled_entry_mixed",
        (sp.Le(u**2, 6),),
        sp.Le(eta**2 / (d * (T - 1)) * (d / (2 * q) * (2 * u)) ** 2, (eta / q) ** 2 * (6 * d / (T - 1))),
        says="eta^2/(d(T-1)) (d/(2q) 2x)^2 <= (eta/q)^2 6d/(T-1) where x^2 <= 6",
    ),
)
SMALL_FALL = (
    *FALL_OF_C[:2],
    Implication(
        "fall_per_step",
        (sp.Le(curve, sp.Rational(1, 3)), sp.Le(part, 1), sp.Le(fall, 2 * (1 - 2 * w)), sp.Le(2 * w, 1)),
        sp.Le(curve * part * fall, sp.Rational(2, 3) * (1 - 2 * w)),
        says="s p x <= 2(1 - 2w)/3 where s <= 1/3, p <= 1, x <= 2(1 - 2w), w <= 1/2",
    ),
)
LEAST_SLOPES = (
    Implication(
        "slope_far",
        (sp.Ge(part, low), sp.Ge(size, level / 4)),
        sp.Ge(part**2 * size**2, low**2 * level**2 / 16),
        says="P^2 rho^2 >= y^2 x^2/16 where P >= y, |rho| >= x/4, as for y = q/T",
    ),
    Implication(
        "lag_near",
        (sp.Le(rho, level / 4), sp.Ge(rho, -level / 4)),
        sp.Le(rho**2, level**2 / 16),
        says="rho^2 <= x^2/16 where -x/4 <= rho <= x/4",
    ),
    Implication(
        "left_near",
        (sp.Le(rho**2, level**2 / 16), sp.Ge((1 - m) + m * rho**2, level), sp.Le(m, 1)),
        sp.Ge(1 - m, level - level**2 / 16),
        says="1 - m >= x - x^2/16 where rho^2 <= x^2/16, (1 - m) + m rho^2 >= x, m <= 1",
    ),
    Implication(
        "slope_near",
        (
            *(sp.Ge(1 - m, level - level**2 / 16), sp.Le(rho, level / 4), sp.Ge(z, 0), sp.Le(z, 1), sp.Le(m, 1)),
            sp.Le(level / 2, level - level**2 / 16 - level / 4),
        ),
        sp.Ge(1 - m - rho * m * z, level / 2),
        says="B = 1 - m - rho m z >= x/2 where 1 - m >= x - x^2/16, rho <= x/4, 0 <= z <= 1, m <= 1, x/2 <= x - x^2/16 "
        "- x/4",
    ),
    Implication(
        "product_near",
        (sp.Ge(size, sp.Rational(3, 4)), sp.Ge(m, low), sp.Ge(b, level / 2)),
        sp.Ge(size * m * b, sp.Rational(3, 8) * low * level),
        says="(1 + rho) m B >= 3/8 y x where 1 + rho >= 3/4, m >= y, B >= x/2",
    ),
    Implication(
        "square_near",
        (sp.Ge(b, sp.Rational(3, 8) * low * level),),
        sp.Ge(d / (T - 1) * b**2, d / (T - 1) * sp.Rational(9, 64) * low**2 * level**2),
        says="d/(T-1) s^2 >= d/(T-1) 9/64 y^2 x^2 where s >= 3/8 y x",
    ),
)
POSITIVE_SHARE = Implication(
    "positive_share",
    (sp.Gt(part, 0), sp.Le(part, 1), sp.Lt(curve, 2)),
    sp.Gt(part * (1 - curve * part / 2), 0),
    says="s (1 - beta s/2) > 0 where 0 < s <= 1, beta < 2",
)
SPEED = at_most("speed", eta * d / (q * (T - 1)), sp.Rational(1, 3), "eta d/(q(T-1)) <= 1/3")
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, STEP_SIZE, ACCURACY),
    domain=(SUBSET_FITS,),
    hypotheses=(
        Hypothesis("below_the_limit", sp.Lt(eta, LARGER_STEP), text="eta < 2q(T-1)/(T-1+6d)"),
        *ONE_HOT_RUN,
    ),
    variables=tuple(dict.fromkeys((v, x, p, rho, u, *VARIABLES, *OF_THE_FORM))),
    claims=(REACHED, STAYS),
    steps=(
        *COORDINATES,
        RANGE[0],
        *(*SLOPES, *SECOND_DERIVATIVES, *LAG),
        CURVATURE_C,
        CURVATURE_MIXED,
        *ENTRIES,
        *FORM,
        FALL_IN_PARTS,
        *SMALL_FALL,
        *LEAST_SLOPES,
        RANGE_OF_ALPHA[0],
        BETA_BELOW,
        POSITIVE_SHARE,
        SPEED,
        at_most("fall_of_C", sp.Rational(2, 3) * (1 - 2 * other), 1 - other, "2(1 - 2w)/3 <= 1 - w"),
        at_most("least_C", 1 - other, sp.log(1 + v), "1 - w <= -ln w, with w = 1/(1+v)"),
        at_most("least_share", q / T, P, "P >= q/T"),
        at_most("least_m", q / T, whole_m, "m >= q/T"),
        at_most(
            "left_for_C",
            1 / (1 + x) / 2,
            1 / (1 + x) - 1 / (16 * (1 + x) ** 2) - 1 / (4 * (1 + x)),
            "l/2 <= l - (l/4)^2 - l/4 for l = 1/(1+x) <= 1",
        ),
    ),
)
ARGUMENT = (
    Inference(
        "coordinates",
        "with w = e^{−C}, P and S as in Lemma 1, m = P/S, α = (1 + ρ)/S, z = (1 − P)(1 − w) and B = 1 − m − ρmz: "
        "ℓ = 2qL/d = (1 − m) + mρ², and its slopes in α and C are 2Pρ and −2(1 + ρ)mB",
        (
            *("wang2024.lemma1:population_loss", "loss", *(step.label for step in SLOPES), "slope_alpha", "slope_C"),
            *("gaussian_tokens", "one_hot", "zero_query"),
        ),
        "definition",
    ),
    Inference(
        "excess",
        "where ℓ ≤ 1, |ρ| ≤ 1, and 0 ≤ a = (1 + ρ)m ≤ 2",
        ("coordinates", *(step.label for step in LAG)),
        "application",
    ),
    Inference(
        "largest_curvature",
        "where ℓ ≤ 1 and C ≥ 0, in coordinates scaled by the steps, in which the second derivatives of L are "
        "multiplied by η/d, η/√(d(T−1)) and η/(T−1), no eigenvalue of the Hessian is above β < 2",
        (
            *("coordinates", "excess", "wang2024.lemma1:population_loss"),
            *(step.label for step in SECOND_DERIVATIVES),
            *("share", "curvature_C", "curvature_mixed", "beta", *(step.label for step in (*ENTRIES, *FORM))),
        ),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "C_stays_positive",
        "where ℓ ≤ 1 and C ≥ 0, C falls only where a(1−w) > 1, and so w < 1/2, and by at most (1/3) 2(1−2w) ≤ 1−w ≤ "
        "−ln w = C: it stays ≥ 0",
        ("wang2024.lemma1", "excess", "speed", *(step.label for step in SMALL_FALL), "fall_of_C", "least_C"),
        "case distinction",
    ),
    Inference(
        "along_a_step",
        "let a step begin where ℓ ≤ 1 and C ≥ 0: both hold on the segment to the next point. C ≥ 0 at its two ends. "
        "Unless the slopes vanish, ℓ falls at the beginning of the segment, and it goes on falling as long as it is at "
        "most 1: so it does not return to its first value",
        (
            *("largest_curvature", "C_stays_positive", "wang2024.lemma1", "coordinates", "positive_share"),
            RANGE_OF_ALPHA[0].label,
        ),
        rules.DESCENT_LEMMA,
    ),
    Inference(
        "fall",
        "ℓ falls in a step by at least (2η/q)(1 − β/2) G, G = P²ρ² + d/(T−1) (1+ρ)² m² B²",
        ("along_a_step", "largest_curvature", "coordinates", "beta", "fall_in_parts"),
        rules.DESCENT_LEMMA,
    ),
    Inference(
        "whole_run",
        "α = C = 0 and ℓ = 1 at the start, and each step from a point with ℓ ≤ 1 and C ≥ 0 keeps both: so both hold "
        "along the whole run",
        (
            *("fall", "along_a_step", "C_stays_positive"),
            *("wang2024.lemma1", "zero_initialisation", "population_gradient"),
        ),
        "induction",
    ),
    Inference(
        "least_slopes",
        "let C ≥ 0 and 1 ≥ ℓ ≥ x. If |ρ| ≥ x/4, then G ≥ (q/T)² x²/16; otherwise B ≥ x/2, 1 + ρ ≥ 3/4 and "
        "G ≥ d/(T−1) (9/64) (q/T)² x²",
        ("whole_run", "coordinates", "least_share", "least_m", "left_for_C", *(step.label for step in LEAST_SLOPES)),
        "case distinction",
    ),
    Inference(
        "reached",
        "while ℓ ≥ x > 0, each step lowers ℓ by at least the same positive number: so ℓ < x at some step. With x the "
        "smaller of 2qε/d and 1, L ≤ ε at that step",
        ("whole_run", "fall", "least_slopes", "positive_share"),
        "telescoping",
    ),
    Inference("stays", "no step raises L: once L ≤ ε holds, it holds from then on", ("whole_run", "fall"), "induction"),
)


def derivation() -> Derivation:
    """Return the steps: the curvatures with a = αP, and the distance of the limit on the step size below 2q."""
    alpha, C, own, w = reduced.alpha, reduced.C, reduced.P, reduced.w
    loss, a = reduced.loss, reduced.alpha * reduced.P
    return Derivation(
        (
            Step(
                "the mixed curvature, with a = αP",
                sp.Derivative(loss, alpha, C),
                d / q * own * (1 - own) * (2 * a * (1 - w) - 1),
            ),
            Step(
                "the curvature in C",
                sp.Derivative(loss, C, 2),
                d / q * a * (1 - own) * (a * ((2 - 3 * own) * (1 - w) + w) - (1 - 2 * own)),
            ),
            Step("the limit is below 2q by", 2 * q - LARGER_STEP, 12 * q * d / (T - 1 + 6 * d)),
        ),
        shorthands=reduced.SHORTHANDS,
    )


def _canary(label: str, clause: Inequality | Identity) -> Canary:
    """Return a canary: a false step, without the claims, whose check takes long because they follow a recursion."""
    return Canary(label, lambda: STATEMENT.alone(clause), clause.label)


one_hot_larger_steps = Theorem(
    id="wang2024.one_hot_larger_steps",
    title="One-hot encoding, η < 2q(T − 1)/(T − 1 + 6d): the loss never rises, and falls below every ε",
    source=Source("Theorem 1's step sizes", "derived here", WANG2024, "the paper has η ≤ 1/(20 d²)"),
    statement=replace(
        STATEMENT,
        formal={
            "reached": formal(
                DESCENT_ON_MEANS, larger_steps_reached="one_hot_convergence.larger_steps_reach", **RUNS_EXIST
            ),
            "stays": formal(DESCENT_ON_MEANS, larger_steps_stays="one_hot_convergence.larger_steps_stay"),
        },
    ),
    example={"T": 9, "q": 2, "d": 1, "eta": "2", "eps": "1/200"},
    values={"largest_step_size": LARGER_STEP},
    derivation=derivation,
    proofs={"reached": SLOW, "stays": NEVER_INCREASES},
    canaries=(
        _canary("1 for 6 in the curvature", replace(CURVATURE_C, relation=sp.Le(BEND, 1))),
        _canary("1/100 for the mixed entry", replace(CURVATURE_MIXED, relation=sp.Le(MIXED**2, sp.Rational(1, 100)))),
        _canary("beta below 1", replace(BETA_BELOW, relation=sp.Lt(BETA, 1))),
        _canary("a speed of 1/4", replace(SPEED, relation=sp.Le(eta * d / (q * (T - 1)), sp.Rational(1, 4)))),
    ),
    proof_uses=("wang2024.lemma1",),
    argument=ARGUMENT,
)
