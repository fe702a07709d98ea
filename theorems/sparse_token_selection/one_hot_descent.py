r"""Theorem 1 for all q ≥ 2, T > 4q, d: the loss falls at every step; a bound on the steps until it is below any ε.

With w = e^{−C}, N = q + (T−q)w and M = q + (T−q)w², Lemma 1's P, S are q/N, M/N. Write m = P/S = q/M and
α = (1 + ρ)/S, and ℓ = 2qL/d = 1 − 2αP + α²PS. Then

    ℓ = (1 − m) + mρ²,      g_α = αPS − P = Pρ,      g_C = αP(1−P)(1 − αP(1−w)) = (1 + ρ) m B,
    B = (1 − m) − ρ m z,    z = (1−P)(1−w) ∈ [0, 1),

and the steps are α′ = α − (η/q) g_α, C′ = C + ηd/(q(T−1)) g_C: gradient steps of L, whose slopes are d/q g_α and
−d/q g_C, scaled by η/d and η/(T−1). Box, curvature and descent are shown together, from step to step: ℓ is 1 at the
start, and no larger as far as the run has come.

*Idea.* While ℓ ≤ 1 the run stays in the box 0 ≤ α ≤ √(T/q), C ≥ 0, where in coordinates scaled by the steps the
Hessian is at most β = (η/q)(1 + 2d/(5q)) ≤ 4/5. So ℓ falls in a step by at least (6η/(5q)) G, and G dominates ℓ²:

    G = P²ρ² + d/(T−1) (1+ρ)² m² B² ≥ κ ℓ²,   κ = d q²/(4T²(T−1+d)),

so that 1/ℓ grows by k = (6η/(5q)) κ a step at least, from 1; once ℓ ≤ 1/2 by k₂ with κ₂ = dq/(16(dT + q(T−1))). Hence

    L_t ≤ ε for all t ≥ 10T²(T−1+d)/(3dqη) + 20(T−1+dT/q)/(3ηε).

For ε → 0 the true number is about (T−1)/(4ηε). Nothing but q ≥ 2, T > 4q and η ≤ 4q²/(5q+2d) is used: Theorem 1's
η ≤ 1/(20d²) is within it, and so is η = 1 for 2d ≤ q(4q−5).

Source: Wang et al. 2024, Theorem 1; its proof and its time bound are not known to us, and what is here is derived here.
"""

from dataclasses import replace

import sympy as sp

from theorems.papers import WANG2024
from theorems.sparse_token_selection import reduced_dynamics as reduced
from theorems.sparse_token_selection.one_hot_convergence import NEVER_INCREASES, REACHED, SLOW, STAYS
from theorems.sparse_token_selection.task import (
    ACCURACY,
    GAUSSIAN_TOKENS,
    LENGTH,
    ONE_HOT,
    POPULATION_GRADIENT,
    STEP_SIZE,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_INITIALISATION,
    ZERO_QUERY,
    T,
    d,
    eps,
    eta,
    q,
)
from verify import Canary, Derivation, Hypothesis, Identity, Inequality, Inference, Source, Statement, Step, Theorem

v, x, g = (sp.Symbol(name, nonnegative=True) for name in ("v", "x", "g"))
rho = sp.Symbol("rho", real=True)
b, c, u, y = (sp.Symbol(name, real=True) for name in ("b", "c", "u", "y"))

w = 1 / (1 + v)
N, M = q + (T - q) * w, q + (T - q) * w**2
P, S, m = q / N, M / N, q / M
z = (1 - P) * (1 - w)
scale = (1 + rho) / S
r = 2 + g
"""√(T/q), which is above 2."""

LARGEST_STEP = 4 * q**2 / (5 * q + 2 * d)
DOMINATION = d * q**2 / (4 * T**2 * (T - 1 + d))
BETA = eta * (5 * q + 2 * d) / (5 * q**2)
LATE = d * q / (16 * (d * T + q * (T - 1)))
GROWTH, LATE_GROWTH = (6 * eta / (5 * q) * kappa for kappa in (DOMINATION, LATE))
STEPS = 10 * T**2 * (T - 1 + d) / (3 * d * q * eta) + 20 * (T - 1 + d * T / q) / (3 * eta * eps)


def _at_most(label: str, left: sp.Expr, right: sp.Expr | int, says: str) -> Inequality:
    return Inequality(label, sp.Le(left, right, evaluate=False), says=says)


FAR = _at_most("far", DOMINATION, P**2 / 4, "P^2/4 >= d q^2/(4 T^2 (T-1+d))")
NEAR = _at_most(
    "near",
    4 / S**2 + 4 * (T - 1) / (d * m**2),
    1 / DOMINATION,
    "4/S^2 + 4 (T-1)/(d m^2) <= 4 T^2 (T-1+d)/(d q^2)",
)
CURVATURE_C = _at_most(
    "curvature_C",
    r / 5 + sp.Rational(16, 27) * r**2,
    sp.Rational(7, 10) * r**2,
    "2r/10 + 16 r^2/27 <= 7 r^2/10 for r = sqrt(T/q) >= 2",
)
MIXED = _at_most("mixed", x / (1 + x) ** 3, sp.Rational(4, 27), "P^2 (1-P) <= 4/27, with P = 1/(1+x)")
BETA_AT_MOST = _at_most("beta", BETA, sp.Rational(4, 5), "beta = (eta/q) (1 + 2d/(5q)) <= 4/5")
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, STEP_SIZE, ACCURACY),
    domain=(SUBSET_FITS,),
    hypotheses=(
        Hypothesis("subset_of_two", sp.Ge(q, 2)),
        Hypothesis("subset_below_quarter", sp.Ge(T, 4 * q + 1), text="q < T/4, of integers: T >= 4 q + 1"),
        Hypothesis("small_step", sp.Le(eta, LARGEST_STEP), text="eta <= 4 q^2/(5 q + 2 d)"),
        *(GAUSSIAN_TOKENS, ONE_HOT, ZERO_QUERY, ZERO_INITIALISATION, POPULATION_GRADIENT),
    ),
    variables=(v, x, g, rho, b, c, u, y),
    claims=(
        replace(
            REACHED, within=STEPS, says="L_t <= eps at a step t <= 10T^2(T-1+d)/(3dq eta) + 20(T-1+dT/q)/(3eta eps)"
        ),
        STAYS,
        _at_most("papers_step", 1 / (20 * d**2), LARGEST_STEP, "Theorem 1's 1/(20 d^2) <= 4 q^2/(5 q + 2 d)"),
    ),
    steps=(
        Identity(
            "loss", 1 - 2 * scale * P + scale**2 * P * S, (1 - m) + m * rho**2, says="l = (1 - m) + m rho^2, 2qL/d"
        ),
        Identity("slope_alpha", scale * P * S - P, P * rho, says="alpha P S - P = P rho"),
        Identity(
            "slope_C",
            scale * P * (1 - P) * (1 - scale * P * (1 - w)),
            (1 + rho) * m * (1 - m - rho * m * z),
            says="alpha P (1-P) (1 - alpha P (1-w)) = (1 + rho) m (1 - m - rho m z)",
        ),
        _at_most("share", P * S, 1, "P S <= 1"),
        _at_most("scale", q * N**2, T * M**2, "S^2 >= q/T"),
        _at_most("between", eta, q, "eta <= q"),
        _at_most("stays_positive", 2 * eta * d, q * (T - 1), "eta d/(q(T-1)) <= 1/2"),
        MIXED,
        _at_most("bend", x * (1 - x) / (1 + x) ** 3, sp.Rational(1, 10), "-P (1-P) (1-2P) <= 1/10, with P = 1/(1+x)"),
        _at_most("other_mixed", sp.Rational(1, 2), 16 * r / 27, "1/2 <= 16 r/27 for r = sqrt(T/q) >= 2"),
        _at_most(
            "turn",
            (2 - 3 / (1 + x)) * (1 - w) + w,
            2,
            "(2 - 3P)(1-w) + w <= 2, with P = 1/(1+x)",
        ),
        CURVATURE_C,
        _at_most(
            "entry_C",
            sp.Rational(7, 20) * eta * d * T / ((T - 1) * q**2),
            sp.Rational(2, 5) * eta * d / q**2,
            "eta/(T-1) d/(2q) 7T/(10q) <= (eta/q) 2d/(5q)",
        ),
        _at_most(
            "entry_mixed",
            sp.Rational(64, 729) * eta**2 * d * T / ((T - 1) * q**3),
            sp.Rational(2, 5) * eta**2 * d / q**3,
            "the square of the mixed entry is at most (eta/q)^2 2d/(5q)",
        ),
        Identity(
            "eigenvalue",
            (1 + c) * (u**2 + y**2) - (u**2 + 2 * b * u * y + c * y**2),
            (c - b**2) * u**2 + (b * u - y) ** 2,
            says="u^2 + 2b uy + c y^2 is (1 + c)(u^2 + y^2) less (c - b^2) u^2 and a square",
        ),
        BETA_AT_MOST,
        Identity(
            "cauchy",
            (u**2 + y**2) * (b**2 + c**2) - (u * b + y * c) ** 2,
            (u * c - y * b) ** 2,
            says="(u^2 + y^2)(b^2 + c^2) - (ub + yc)^2 is a square",
        ),
        FAR,
        NEAR,
        _at_most("late_far", LATE, q / (16 * T), "q/(16 T) >= d q/(16 (d T + q (T-1)))"),
        _at_most(
            "late_near",
            4 * T / q + 16 * (T - 1) / d,
            1 / LATE,
            "4 T/q + 16 (T-1)/d <= 16 (d T + q (T-1))/(d q)",
        ),
        _at_most("rounded", LATE_GROWTH, 1, "k2 <= 1"),
        Identity(
            "steps",
            1 / GROWTH + d / (2 * q * eps * LATE_GROWTH),
            STEPS,
            says="1/k + d/(2 q eps k2) = 10 T^2 (T-1+d)/(3 d q eta) + 20 (T-1+dT/q)/(3 eta eps)",
        ),
    ),
)
ARGUMENT = (
    Inference(
        "coordinates",
        "with w = e^{−C}, P and S as in Lemma 1, m = P/S, α = (1 + ρ)/S, z = (1 − P)(1 − w) and B = 1 − m − ρmz: "
        "ℓ = 2qL/d = (1 − m) + mρ², and its slopes in α and C are 2Pρ and −2(1 + ρ)mB",
        (
            *("wang2024.lemma1:population_loss", "loss", "slope_alpha", "slope_C"),
            *("gaussian_tokens", "one_hot", "zero_query"),
        ),
        "substitution",
    ),
    Inference(
        "range",
        "with r = √(T/q): while C ≥ 0, a step takes α towards 1/S ≤ r and not past it, so that it stays in [0, r]",
        ("wang2024.lemma1", "gaussian_tokens", "one_hot", "zero_query", "between", "share", "scale"),
        "substitution",
    ),
    Inference(
        "excess",
        "while ℓ ≤ 1, |ρ| ≤ 1, and αP = (1 + ρ) m ≤ 2",
        ("coordinates",),
        "substitution",
    ),
    Inference(
        "C_stays_positive",
        "while ℓ ≤ 1, C falls only where w < 1/2, and by at most 1 − 2w ≤ −ln w = C: it stays ≥ 0",
        ("wang2024.lemma1", "range", "excess", "stays_positive"),
        "tangent of the logarithm",
    ),
    Inference(
        "mixed_entry",
        "ℓ_αC = 4αP²(1−P)(1−w) − 2P(1−P), of which the last is at most 1/2, is between −16r/27 and 16r/27 in the box: "
        "neither of its two terms, of opposite signs, is larger",
        (
            "range",
            "C_stays_positive",
            "wang2024.lemma1:population_loss",
            "subset_below_quarter",
            "mixed",
            "other_mixed",
        ),
        "case distinction",
    ),
    Inference(
        "other_entries",
        "ℓ_αα ≤ 2 and ℓ_CC ≤ 7r²/10 in the box",
        (
            *("range", "C_stays_positive", "wang2024.lemma1:population_loss", "subset_below_quarter"),
            *("share", "bend", "turn", "mixed", "curvature_C"),
        ),
        "substitution",
    ),
    Inference(
        "largest_curvature",
        "in coordinates that are scaled by the steps no eigenvalue of the Hessian is above β ≤ 4/5",
        ("mixed_entry", "other_entries", "entry_C", "entry_mixed", "eigenvalue", "beta"),
        "nonnegative terms",
    ),
    Inference(
        "falls",
        "while ℓ ≤ 1, it falls in a step by at least (6η/(5q)) G, G = P²ρ² + d/(T−1) (1+ρ)² m² B²",
        ("largest_curvature", "range", "C_stays_positive", "wang2024.lemma1", "coordinates"),
        "descent lemma",
    ),
    Inference(
        "box_and_descent",
        "α = C = 0 and ℓ = 1 at the start, and each step from within the box keeps both bounds and lowers ℓ: so "
        "along the whole run",
        ("range", "C_stays_positive", "falls", "wang2024.lemma1", "zero_initialisation", "population_gradient"),
        "induction",
    ),
    Inference(
        "loss_near_the_best",
        "while ℓ ≤ 1, ℓ = B + ρmz + mρ² ≤ |B| + 2m|ρ|",
        ("coordinates", "excess", "C_stays_positive"),
        "substitution",
    ),
    Inference(
        "near_the_best",
        "where ρ ≥ −1/2, so that (1 + ρ)² ≥ 1/4, ℓ² ≤ G (4/S² + 4(T−1)/(d m²))",
        ("loss_near_the_best", "cauchy"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "domination",
        "G ≥ κ ℓ², κ = d q²/(4T²(T−1+d)): where ρ ≤ −1/2 as G ≥ P²/4, elsewhere by `near_the_best`",
        ("near_the_best", "far", "near", "box_and_descent"),
        "case distinction",
    ),
    Inference(
        "late_share",
        "once ℓ ≤ 1/2, m ≥ 1 − ℓ ≥ 1/2 and so P² = m²S² ≥ q/(4T)",
        ("coordinates", "scale", "box_and_descent"),
        "substitution",
    ),
    Inference(
        "late_domination",
        "from then on κ₂ = dq/(16(dT + q(T−1))) can replace κ",
        ("late_share", "near_the_best", "late_far", "late_near", "scale", "box_and_descent"),
        "case distinction",
    ),
    Inference(
        "growth",
        "1/ℓ grows by at least (6η/(5q)) κ a step, and by (6η/(5q)) κ₂ once ℓ ≤ 1/2; ℓ stays positive, as m < 1",
        ("box_and_descent", "domination", "late_domination"),
        "substitution",
    ),
    Inference(
        "reached",
        "1/ℓ is 1 at the start, at least 2 after ⌈1/k⌉ steps, and d/(2qε) after at most d/(2qεk₂) − 2/k₂ + 1 more: as "
        "k₂ ≤ 1, within the bound; where d/(2qε) < 2 the first ⌈1/k⌉ ≤ 1/k + 1 steps are enough, and none where it is "
        "at most 1",
        ("growth", "rounded", "steps", "box_and_descent"),
        "telescoping",
    ),
    Inference("stays", "what falls at every step stays below what it was", ("box_and_descent",), "induction"),
)


def derivation() -> Derivation:
    """Return the steps: slopes and curvatures of the loss in α and C, the Hessian's bound, the growth of 1/ℓ."""
    alpha, C, share, other = reduced.alpha, reduced.C, reduced.P, reduced.w
    loss, total = reduced.loss, reduced.S
    level, fall = (sp.Symbol(name, positive=True) for name in ("level", "fall"))
    return Derivation(
        (
            Step("the slope in α", sp.Derivative(loss, alpha), d / q * (alpha * share * total - share)),
            Step(
                "the slope in C",
                sp.Derivative(loss, C),
                -d / q * alpha * share * (1 - share) * (1 - alpha * share * (1 - other)),
            ),
            Step("the curvature in α", sp.Derivative(loss, alpha, 2), d / (2 * q) * 2 * share * total),
            Step(
                "the mixed curvature",
                sp.Derivative(loss, alpha, C),
                d / (2 * q) * (4 * alpha * share**2 * (1 - share) * (1 - other) - 2 * share * (1 - share)),
            ),
            Step(
                "the curvature in C",
                sp.Derivative(loss, C, 2),
                d
                / (2 * q)
                * (
                    -2 * alpha * share * (1 - share) * (1 - 2 * share)
                    + 2 * alpha**2 * share**2 * (1 - share) * ((2 - 3 * share) * (1 - other) + other)
                ),
            ),
            Step(
                "what falls by k ℓ² at least has an inverse that grows by k at least, as it stays positive",
                1 / (level - fall * level**2) - 1 / level - fall,
                fall**2 * level / (1 - fall * level),
            ),
        ),
        shorthands=reduced.SHORTHANDS,
    )


def _canary(label: str, clause: Inequality, *hypotheses: Hypothesis) -> Canary:
    """Return a step's false variant, alone: the claims follow a recursion, which takes long."""
    alone = replace(STATEMENT, hypotheses=(*STATEMENT.hypotheses, *hypotheses)).alone(clause)
    return Canary(label, alone, clause.label)


one_hot_descent = Theorem(
    id="wang2024.one_hot_descent",
    title="One-hot encoding, q ≥ 2, T > 4q, η ≤ 4q²/(5q + 2d): the loss falls below every ε and stays there, with a "
    "bound on the steps",
    source=Source("Theorem 1's number of steps", "derived here", WANG2024, "the paper's time bound is not known to us"),
    statement=STATEMENT,
    example={"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    values={"steps_at_most": STEPS, "largest_step_size": LARGEST_STEP},
    derivation=derivation,
    proofs={"reached": SLOW, "stays": NEVER_INCREASES},
    canaries=(
        _canary("a share of 1/10 for 4/27", replace(MIXED, relation=sp.Le(x / (1 + x) ** 3, sp.Rational(1, 10)))),
        _canary("P^2/40 for P^2/4", replace(FAR, relation=sp.Le(DOMINATION, P**2 / 40))),
        _canary(
            "T for T^2 in the domination",
            replace(NEAR, relation=sp.Le(NEAR.relation.lts, NEAR.relation.gts * q / T)),  # pyright: ignore[reportAttributeAccessIssue]
        ),
        _canary("3/5 r^2 for 7/10 r^2", replace(CURVATURE_C, relation=sp.Le(CURVATURE_C.relation.lts, 3 * r**2 / 5))),  # pyright: ignore[reportAttributeAccessIssue]
        _canary("beta below 1/2", replace(BETA_AT_MOST, relation=sp.Le(BETA, sp.Rational(1, 2)))),
    ),
    proof_uses=("wang2024.lemma1",),
    argument=ARGUMENT,
)
