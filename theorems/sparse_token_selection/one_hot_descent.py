r"""Theorem 1 for all T, q and d: the loss never rises; a bound on the number of steps until it is at most any ε.

With w = e^{−C}, N = q + (T−q)w and M = q + (T−q)w², Lemma 1's P, S are q/N, M/N. Write m = P/S = q/M and
α = (1 + ρ)/S, and ℓ = 2qL/d = 1 − 2αP + α²PS. Then

    ℓ = (1 − m) + mρ²,      g_α = αPS − P = Pρ,      g_C = αP(1−P)(1 − αP(1−w)) = (1 + ρ) m B,
    B = (1 − m) − ρ m z,    z = (1−P)(1−w) ∈ [0, 1),

and the steps are α′ = α − (η/q) g_α, C′ = C + ηd/(q(T−1)) g_C: gradient steps of L, whose slopes are d/q g_α and
−d/q g_C, scaled by η/d and η/(T−1). Box, curvature and descent are shown together by induction over the steps: ℓ is 1
at the start, and does not rise.

*Idea.* While ℓ ≤ 1 the run stays in the box 0 ≤ α ≤ √(T/q), C ≥ 0, where in coordinates scaled by the steps the
Hessian is at most β = (η/q)(1 + 2d/(5q)) ≤ 4/5. So ℓ falls in a step by at least (2η/q)(1 − β/2) G, and G dominates ℓ²:

    G = P²ρ² + d/(T−1) (1+ρ)² m² B²,    d/(T−1) ℓ²(1 − ℓ)² ≤ (1 + aℓ) G,    a = (3 + 7A)/2,  A = dT/(q(T−1)),

by Cauchy-Schwarz if |ρ| is at most of the order of ℓ, and by G's first term otherwise. Hence

    ℓ − ℓ′ ≥ k ℓ²(1 − ℓ)²/(1 + aℓ),    k = (2ηd/(q(T−1))) (1 − β/2).

For ℓ near 1 this bound is small. At first the first term of G lowers ℓ; then 1 − ℓ grows in each step by at least a
multiple of its own square. From ℓ = 1/3 on a convex function of ℓ, F = t + (2 + a) ln t − (1 + a)/t with t = (1−ℓ)/ℓ,
grows by at least k a step. With Y = d/(2qε), L_s ≤ ε for all

    s ≥ (Y + (7/2)(1 + A) ln(1 + Y) + (30 + 25A) T/q) / k.

To first order for ε → 0, this bound is (T−1)/(4ηε) · 1/(1 − β/2), and for q < T the true number is (T−1)/(4ηε)
(`one_hot_rate`; `one_hot_steps` bounds it from below), so the bound is at most 5/3 of the true number. The last part of
the bound, for the start of the run, is rough. Nothing but η ≤ 4q²/(5q+2d) is used. Theorem 1's η ≤ 1/(20d²) satisfies
this, and so does η = 1 for 2d ≤ q(4q−5); neither q ≥ 2 nor q < T/4 is needed.

Source: Wang et al. 2024, Theorem 1, whose proof and time bound are not known to us. The bounds are ours.
"""

from dataclasses import replace

import sympy as sp

from theorems import rules
from theorems.papers import WANG2024
from theorems.sparse_token_selection import (
    one_hot_curvature as entries,
    one_hot_domination as domination,
    reduced_dynamics as reduced,
)
from theorems.sparse_token_selection.one_hot_box import (
    FALL_OF_C,
    LAG,
    RANGE_OF_ALPHA,
    SECOND_DERIVATIVES,
    SLOPES,
    STEPS_OF_THE_BOX,
    VARIABLES,
)
from theorems.sparse_token_selection.one_hot_convergence import NEVER_INCREASES, REACHED, SLOW, STAYS
from theorems.sparse_token_selection.one_hot_domination import POTENTIAL, g, t, x
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
    eps,
    eta,
    formal,
    q,
)
from verify import (
    Canary,
    Derivation,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    Source,
    Statement,
    Step,
    Theorem,
)

v = sp.Symbol("v", nonnegative=True)
rho = sp.Symbol("rho", real=True)
b, c, u, y = (sp.Symbol(name, real=True) for name in ("b", "c", "u", "y"))

w = 1 / (1 + v)
N, M = q + (T - q) * w, q + (T - q) * w**2
P, S, m = q / N, M / N, q / M
z = (1 - P) * (1 - w)
scale = (1 + rho) / S
r = 1 + g
"""√(T/q), which is at least 1."""

LARGEST_STEP = 4 * q**2 / (5 * q + 2 * d)
BETA = eta * (5 * q + 2 * d) / (5 * q**2)
A = d * T / (q * (T - 1))
K = 2 * eta * d / (q * (T - 1)) * (1 - BETA / 2)
EXCESS = (3 + 7 * A) / 2
Y = d / (2 * q * eps)
STEPS = (Y + 7 * (1 + A) / 2 * sp.log(1 + Y) + (30 + 25 * A) * T / q) / K

level = sp.Symbol("level", positive=True)
LEAST_FALL = K * level**2 * (1 - level) ** 2 / (1 + EXCESS * level)
"""Lower bound of the fall of ℓ = 2qL/d in a step from ℓ = `level`."""


def at_most(label: str, left: sp.Expr, right: sp.Expr | int, says: str) -> Inequality:
    """Return the inequality left <= right."""
    return Inequality(label, sp.Le(left, right, evaluate=False), says=says)


COORDINATES = (
    Identity("loss", 1 - 2 * scale * P + scale**2 * P * S, (1 - m) + m * rho**2, says="l = (1 - m) + m rho^2, 2qL/d"),
    Identity("slope_alpha", scale * P * S - P, P * rho, says="alpha P S - P = P rho"),
    Identity(
        "slope_C",
        scale * P * (1 - P) * (1 - scale * P * (1 - w)),
        (1 + rho) * m * (1 - m - rho * m * z),
        says="alpha P (1-P) (1 - alpha P (1-w)) = (1 + rho) m (1 - m - rho m z)",
    ),
)
RANGE = (
    at_most("share", P * S, 1, "P S <= 1"),
    at_most("scale", q * N**2, T * M**2, "S^2 >= q/T"),
    at_most("between", eta, 4 * q / 5, "eta <= 4q/5"),
)
_share = 1 / (1 + x)
"""A share P in (0, 1]."""
MIXED = at_most("mixed", _share**2 * (1 - _share), sp.Rational(4, 27), "P^2 (1-P) <= 4/27, with P = 1/(1+x)")
BETA_AT_MOST = at_most("beta", BETA, sp.Rational(4, 5), "beta = (eta/q) (1 + 2d/(5q)) <= 4/5")
SPREAD = at_most(
    "spread",
    (T - q) / q / ((1 + x) ** 3 * (1 + g) ** 2) + T / q / ((1 + x) * (1 + g) ** 2),
    2 * T / q,
    "h^2 ((T-q)m/q + T/(qm)) <= 2T/q, with m = 1/(1+x), h = m/(1+g)",
)
ROOT = Identity(
    "square",
    (3 + 7 * y**2) / 2 - 3 * y - 2 * y**2,
    3 * (1 - y) ** 2 / 2,
    says="a - 3 A^(1/2) - 2A is a square, with y^2 = A",
)
START = at_most(
    "start",
    sp.Rational(20, 3) * (3 + EXCESS) * T / q + sp.Rational(5, 3) * A,
    (30 + 25 * A) * T / q,
    "20 (3 + a) T/(3q) + 5A/3 <= (30 + 25A) T/q",
)


def _bounds_of_curvature(length: sp.Expr, subset: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return a bound of ℓ_CC, and the value that this bound must not exceed."""
    ratio = length / subset
    return (ratio + 4) / 20 + 8 * ratio / 27, sp.Rational(4, 5) * (length - 1) / subset


CURVATURE, CURVATURE_LIMIT = _bounds_of_curvature(3 + g + x, 2 + g)
CURVATURE_C = at_most(
    "curvature_C",
    CURVATURE,
    CURVATURE_LIMIT,
    "(T/q + 4)/20 + 8T/(27q) <= 4(T-1)/(5q) for q = 2 + g, T = 3 + g + x",
)
PAPERS_STEP = at_most("papers_step", 1 / (20 * d**2), LARGEST_STEP, "Theorem 1's 1/(20 d^2) <= 4 q^2/(5 q + 2 d)")
SCOPE = (
    Hypothesis("small_step", sp.Le(eta, LARGEST_STEP), text="eta <= 4 q^2/(5 q + 2 d)"),
    *ONE_HOT_RUN,
)
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, STEP_SIZE, ACCURACY),
    domain=(SUBSET_FITS,),
    hypotheses=SCOPE,
    variables=tuple(dict.fromkeys((v, x, g, rho, b, y, t, *VARIABLES, *entries.VARIABLES, *domination.VARIABLES))),
    claims=(
        replace(
            REACHED,
            within=STEPS,
            says="L_t <= eps at a step t <= (Y + 7(1+A)/2 ln(1+Y) + (30+25A) T/q)/k, Y = d/(2q eps), A = dT/(q(T-1)), "
            "k = 2 eta d/(q(T-1)) (1 - eta(5q+2d)/(10q^2))",
        ),
        STAYS,
        PAPERS_STEP,
    ),
    steps=(
        *COORDINATES,
        *RANGE,
        *STEPS_OF_THE_BOX,
        *entries.STEPS_OF_THE_ENTRIES,
        *domination.STEPS_OF_THE_DOMINATION,
        at_most("steps_at_first", 5 * T * K / (6 * eta), 5 * A / 3, "5T/(6 eta) <= 5A/(3k)"),
        at_most("roundings", 3 * K, 5 * (3 + EXCESS), "3k <= 5 (3 + a)"),
        at_most("eighth", w * (1 - 2 * w), sp.Rational(1, 8), "w (1 - 2w) <= 1/8"),
        MIXED,
        at_most(
            "bend",
            -_share * (1 - _share) * (1 - 2 * _share),
            sp.Rational(1, 10),
            "-P (1-P) (1-2P) <= 1/10, with P = 1/(1+x)",
        ),
        at_most("other_mixed", sp.Rational(1, 2), 16 * r / 27, "1/2 <= 16 r/27 for r = sqrt(T/q) >= 1"),
        at_most(
            "turn",
            _share**2 * (1 - _share) * (2 - 3 * _share),
            sp.Rational(4, 27),
            "P^2 (1-P)(2 - 3P) <= 4/27, with P = 1/(1+x)",
        ),
        at_most("mean", r, (r**2 + 4) / 4, "r <= (r^2 + 4)/4"),
        CURVATURE_C,
        at_most(
            "curvature_of_one",
            *_bounds_of_curvature(3 + x, sp.Integer(1)),
            "(T/q + 4)/20 + 8T/(27q) <= 4(T-1)/(5q) for q = 1, T = 3 + x",
        ),
        at_most(
            "curvature_of_two_tokens",
            w * (3 * (1 - w) / (1 + w) ** 3 + 4 * (4 * w - 1 - w**2) / (1 + w) ** 4),
            sp.Rational(4, 5),
            "3w(1-w)/(1+w)^3 + 4w(4w-1-w^2)/(1+w)^4 <= 4/5",
        ),
        at_most(
            "entry_mixed",
            sp.Rational(64, 729) * eta**2 * d * T / ((T - 1) * q**3),
            sp.Rational(2, 5) * eta**2 * d / q**3,
            "64/729 eta^2 d T/((T-1) q^3) <= (eta/q)^2 2d/(5q)",
        ),
        Identity("beta_in_parts", eta / q * (1 + 2 * d / (5 * q)), BETA, says="(eta/q) (1 + 2d/(5q)) = beta"),
        BETA_AT_MOST,
        Identity("attended", ((1 - P) / S) ** 2, (T - q) / q * m * (1 - m), says="((1 - P)/S)^2 = (T-q)/q m (1 - m)"),
        SPREAD,
        ROOT,
        at_most("sixth", 6 * K, 9 + 3 * EXCESS, "6k <= 9 + 3a"),
        at_most("least_share", q / T, P, "P >= q/T"),
        at_most("least_m", q / T, m, "m >= q/T"),
        at_most(
            "third",
            1 / (9 + 3 * g),
            ((1 + x) / 3) ** 2 / (1 + g * (1 + x) / 3),
            "l^2/(1 + a l) >= 1/(9 + 3a) for l = (1+x)/3 >= 1/3",
        ),
        Identity("inverse", 1 / t - 1 / (t + g * t**2), g / (1 + g * t), says="1/h - 1/(h + c h^2) = c/(1 + c h)"),
        *domination.OF_THE_POTENTIAL,
        at_most("convex", 0, 2 * (2 + x) ** 2 - 2 + g * x, "2t^2 - 2 + a(t-2) >= 0 for t = 2 + x >= 2"),
        START,
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
        "range",
        "with r = √(T/q) and c = ηPS/q: while C ≥ 0, a step takes α to (1 − c)α + c/S, and 1/S ≤ r, so that α stays in "
        "[0, r]",
        (
            *("wang2024.lemma1", "gaussian_tokens", "one_hot", "zero_query", "between", "share", "scale"),
            *(step.label for step in RANGE_OF_ALPHA),
        ),
        "application",
    ),
    Inference(
        "excess",
        "while ℓ ≤ 1, |ρ| ≤ 1, and a = αP = (1 + ρ) m ≤ 2",
        ("coordinates", *(step.label for step in LAG)),
        "application",
    ),
    Inference(
        "C_stays_positive",
        "while ℓ ≤ 1, C falls only where a(1−w) > 1, so that w < 1/2 and C > ln 2 > 1/2, and a step lowers it by at "
        "most 1/2: C ≥ 0",
        ("wang2024.lemma1", "range", "excess", "eighth", *(step.label for step in FALL_OF_C)),
        "case distinction",
    ),
    Inference(
        "mixed_entry",
        "ℓ_αC = 4αP²(1−P)(1−w) − 2P(1−P) is between −16r/27 and 16r/27 in the box",
        (
            *("coordinates", "range", "C_stays_positive", "wang2024.lemma1:population_loss"),
            *("dL_dalpha", "mixed_bend", "mixed", "other_mixed"),
            *(step.label for step in entries.MIXED_ENTRY),
        ),
        "application",
    ),
    Inference(
        "entry_of_C",
        "ℓ_CC = −2αP(1−P)(1−2P) + 2α²P²(1−P)((2−3P)(1−w) + w) ≤ 4(T−1)/(5q) in the box: for q < T and T > 2 by "
        "`entry_at_most` and `curvature_C` or `curvature_of_one`; for T = 2, q = 1, where P = 1/(1+w), by the steps of "
        "two tokens, whether or not the second term is negative; for q = T ℓ_CC is 0, as P = 1",
        (
            *("coordinates", "range", "C_stays_positive", "wang2024.lemma1:population_loss"),
            *("bend_in_C", "bend", "turn", "mixed"),
            *("mean", "curvature_C", "curvature_of_one", "curvature_of_two_tokens"),
            *(step.label for step in entries.ENTRY_OF_C),
        ),
        "case distinction",
    ),
    Inference(
        "entry_of_alpha",
        "ℓ_αα = 2PS ≤ 2 in the box",
        ("coordinates", "wang2024.lemma1:population_loss", "bend_in_alpha", "share"),
        "application",
    ),
    Inference(
        "largest_curvature",
        "in the box and in coordinates that are scaled by the steps, in which the second derivatives of L are "
        "multiplied by η/d, η/√(d(T−1)) and η/(T−1), no eigenvalue of the Hessian is above β ≤ 4/5",
        (
            *("coordinates", "wang2024.lemma1", "mixed_entry", "entry_of_C", "entry_of_alpha", "entry_mixed"),
            *("beta_in_parts", "beta", *(step.label for step in entries.SCALED)),
        ),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "fall",
        "while ℓ ≤ 1, a step lowers ℓ by at least (2η/q)(1 − β/2) G, G = P²ρ² + d/(T−1) (1+ρ)² m² B²",
        ("largest_curvature", "range", "C_stays_positive", "wang2024.lemma1", "coordinates", "fall_in_parts"),
        rules.DESCENT_LEMMA,
    ),
    Inference(
        "box_and_descent",
        "α = C = 0 and ℓ = 1 at the start, and each step from a point of the box with ℓ ≤ 1 ends in the box and does "
        "not raise ℓ: so this holds along the whole run",
        ("range", "C_stays_positive", "fall", "wang2024.lemma1", "zero_initialisation", "population_gradient"),
        "induction",
    ),
    Inference(
        "rest",
        "with h = 1 − ℓ: (1 + ρ) m (1 − ρ) = h ≤ m, and ρ² ≤ ℓ",
        ("coordinates", "excess", "box_and_descent", "left", "left_at_most", "excess_of_alpha"),
        "application",
    ),
    Inference(
        "far_or_near",
        "if P²ρ² ≥ d/(T−1) ℓ²h², then G ≥ d/(T−1) ℓ²h². Otherwise, as P = mS ≥ hS and S² ≥ q/T, ρ² < Aℓ² for h > 0, "
        "A = dT/(q(T−1)), so that |ρ| ≤ √A ℓ",
        ("rest", "scale", "coordinates", *(step.label for step in domination.FAR), "root"),
        "case distinction",
    ),
    Inference(
        "loss_near_the_best",
        "ℓ ≤ |B| + m|ρ|(z + |ρ|)",
        ("coordinates", "box_and_descent", "parts_of_the_loss"),
        "application",
    ),
    Inference(
        "near_the_best",
        "ℓ²h² ≤ G ((T−1)/d (1−ρ)² + h²(z+|ρ|)²/S²)",
        ("loss_near_the_best", "rest", *(step.label for step in domination.NEAR)),
        "application",
    ),
    Inference(
        "of_the_others",
        "z ≤ 1 − P, so that (z + |ρ|)²/S² ≤ ((T−q)m/q + T/(qm)) ((1 − m) + mρ²), and h² times it is at most 2Tℓ/q",
        (
            *("attended", "scale", "spread", "rest", "box_and_descent"),
            *(step.label for step in domination.OTHERS),
        ),
        "application",
    ),
    Inference(
        "domination",
        "d/(T−1) ℓ²h² ≤ (1 + aℓ) G: in the first case of `far_or_near` G alone is enough; in the second case this is "
        "`dominates`; at h = 0 the left side is 0",
        (
            *("far_or_near", "near_the_best", "of_the_others", "square", "rest"),
            *(step.label for step in domination.DOMINATION),
        ),
        "case distinction",
    ),
    Inference(
        "least_fall",
        "the fall is at least cG, c = (2η/q)(1 − β/2), and so at least k ℓ²h²/(1 + aℓ), k = cd/(T−1)",
        ("fall", "domination", "box_and_descent", "beta", "quotient"),
        "application",
    ),
    Inference(
        "start_of_alpha",
        "while h < q/(2T) the fall is at least 3ηq/(5T²): h ≥ q/(2T) after at most 5T/(6η) + 1 steps",
        (
            *("rest", "least_m", "least_share", "fall", "beta", "box_and_descent"),
            *("left_at_first", "lag_at_first", "square_of_the_least_share", "fall_at_first", "steps_of_alpha"),
        ),
        "telescoping",
    ),
    Inference(
        "start_of_C",
        "from there on 1/h ≤ 2T/q. While ℓ ≥ 1/3, each step lowers 1/h by at least c/(1 + ch), c = k/(9 + 3a), which "
        "is at least 9c/10, as c ≤ 1/6 and h ≤ 2/3. So after at most one step more than the number in `steps_of_C`, "
        "ℓ ≤ 1/3, where 1/h ≤ 3/2",
        ("least_fall", "third", "inverse", "sixth", "start_of_alpha", "least_growth", "steps_of_C"),
        "telescoping",
    ),
    Inference(
        "potential_grows",
        "as a function of ℓ, with dt/dℓ = −(1+t)², F has the slope −(1 + aℓ)/(ℓ²h²), which rises up to ℓ = 1/3, where "
        "t = 2. So F is convex there, and a step adds to F at least the fall of ℓ times the size of this slope, which "
        "is at least k, while ℓ > 0",
        (
            *("least_fall", "slope_of_t", "potential", "slope_in_loss", "bend_of_the_potential", "convex"),
            *("rise_of_one_step", "start_of_C"),
        ),
        rules.TANGENT,
    ),
    Inference(
        "reached",
        "let Y ≥ 3. F at ℓ = 1/Y, where t = Y − 1, exceeds F at ℓ = 1/3 by at most Y + (2 + a) ln Y, as ln 2 ≥ 1/2, "
        "and so by at most Y + (2 + a) ln(1 + Y), 2 + a = 7(1+A)/2. `all_steps` adds up the three parts of the run, "
        "with one step for each rounding: ℓ ≤ 1/Y within the bound. For 1 < Y < 3 the steps to ℓ ≤ 1/3 are enough, and "
        "for Y ≤ 1 none are needed",
        (
            *("potential_grows", "start_of_alpha", "start_of_C", "start", "steps_at_first", "roundings", "log_of_two"),
            *("log_of_t", "rise_of_the_potential", "log_of_the_next", "all_steps", "box_and_descent"),
        ),
        "telescoping",
    ),
    Inference("stays", "no step raises L: once L ≤ ε holds, it holds from then on", ("box_and_descent",), "induction"),
)


def derivation() -> Derivation:
    """Return the steps: the slopes and curvatures of the loss in α and C, the slope of F, and the change of 1/h."""
    return Derivation(
        (
            *(Step(clause.says, clause.left, clause.right) for clause in (*SLOPES, *SECOND_DERIVATIVES)),
            Step("the slope of F in t = (1 − ℓ)/ℓ", sp.Derivative(POTENTIAL, t), (1 + t) * (1 + g + t) / t**2),
            Step(
                "1/h when h grows by c h²",
                1 / t - 1 / (t + g * t**2),
                g / (1 + g * t),
            ),
        ),
        shorthands=reduced.SHORTHANDS,
    )


def _canary(label: str, clause: Inequality | Identity, *hypotheses: Hypothesis) -> Canary:
    """Return a canary: a false step under further hypotheses, without the claims, whose check takes long."""
    where = (*STATEMENT.hypotheses, *hypotheses)
    return Canary(label, lambda: replace(STATEMENT, hypotheses=where).alone(clause), clause.label)


one_hot_descent = Theorem(
    id="wang2024.one_hot_descent",
    title="One-hot encoding, η ≤ 4q²/(5q + 2d): the loss falls below every ε and stays there, with a bound "
    "on the steps",
    source=Source("Theorem 1's number of steps", "derived here", WANG2024, "the paper's time bound is not known to us"),
    statement=replace(
        STATEMENT,
        formal={
            "stays": formal(DESCENT_ON_MEANS, small_steps_stays="one_hot_convergence.small_steps_stay", **RUNS_EXIST),
        },
    ),
    example={"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    values={"steps_at_most": STEPS, "largest_step_size": LARGEST_STEP},
    derivation=derivation,
    proofs={"reached": SLOW, "stays": NEVER_INCREASES},
    canaries=(
        _canary(
            "a share of 1/10 for 4/27", replace(MIXED, relation=sp.Le(_share**2 * (1 - _share), sp.Rational(1, 10)))
        ),
        _canary("T/(10q) for 2T/q", replace(SPREAD, relation=sp.Le(SPREAD.relation.lts, T / (10 * q)))),  # pyright: ignore[reportAttributeAccessIssue]
        _canary("5A/2 for 7A/2", replace(ROOT, left=(3 + 5 * y**2) / 2 - 3 * y - 2 * y**2)),
        _canary("20 for 30 at the start", replace(START, relation=sp.Le(START.relation.lts, (20 + 25 * A) * T / q))),  # pyright: ignore[reportAttributeAccessIssue]
        _canary("twice the curvature", replace(CURVATURE_C, relation=sp.Le(2 * CURVATURE, CURVATURE_LIMIT))),
        _canary("beta below 1/2", replace(BETA_AT_MOST, relation=sp.Le(BETA, sp.Rational(1, 2)))),
    ),
    proof_uses=("wang2024.lemma1",),
    argument=ARGUMENT,
)
