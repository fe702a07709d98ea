r"""Bounds of Theorem 1's number of steps: a lower bound, (T−1)/(4ηε) to first order for ε → 0, and an upper bound.

In the coordinates of `one_hot_descent`, let δ = 1 − αP(1−w) = (1−m)(1−ρσ)/(1−P) and

    κ = 2ηd/(q(T−1)),   X = m/(1−m) = q e^{2C}/(T−q),   σ = q(1−w)/(wN).

*C never falls.* C falls only where δ < 0, and there ρ > 0. Before the turn, while N(1−w) ≤ Tw, that is σ ≤ 1, S falls
as C rises, so that α, which moves towards 1/S and not past it, stays below 1/S: ρ ≤ 0. Beyond the turn, a step from
δ ≥ 0 ends at δ' ≥ 0:

    (1−w)(N' − qα'(1−w')) ≥ (1−w') N δ (1 − (η/q)(P²(1−w) + AΞ)),   Ξ = P(1−P) w αP/(1−w'),   A = dT/(q(T−1)),

where AΞ ≤ d/(2q).

*Counting.* y = 2(C' − C) = κ(1+ρ)m(1−m)(1−ρσ) is at most κ/4 ≤ 1, and X' = X e^y. The potential X − (3κ/2) ln(1+X)
rises in a step by at most

    κ (1 + ρ(1−σ)) = κ + (2d/(T−1)) ψ (α' − α),   ψ = (σ−1)/P = 1/w − 2 − (T−q)w/q,

as α' − α = −(η/q)Pρ. Since ψ does not fall and α ≥ 0, ψ(α' − α) ≤ ψ'α' − ψα: the sum of these terms up to step t is at
most ψα ≤ √(T/q)/w. The loss bounds X: 1/ℓ ≤ 1/(1−m) = 1 + X. With Y = d/(2qε), every step t with L_t ≤ ε has

    t ≥ (Y − (2A + 3κ/2) √Y − T/(T−q)) / κ.

For ε → 0 this bound is Y/κ = (T−1)/(4ηε), the true number to first order (`one_hot_rate`); the upper bound of
`one_hot_descent` is 1/(1 − η(5q+2d)/(10q²)) times this number, a factor of at most 5/3.

Source: Wang et al. 2024, Theorem 1, whose time bound is not known to us. The bounds are ours.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection import one_hot_counting as counting
from theorems.sparse_token_selection.one_hot_box import (
    LAG,
    RANGE_OF_ALPHA,
    SLOPES,
    VARIABLES,
    alpha,
    other,
    part,
    pull,
)
from theorems.sparse_token_selection.one_hot_convergence import REACHED, SLOW
from theorems.sparse_token_selection.one_hot_descent import (
    COORDINATES,
    RANGE,
    SCOPE,
    STEPS,
    A,
    K,
    M,
    N,
    P,
    Y,
    at_most,
    b,
    c,
    eps,
    m,
    rho,
    t,
    v,
    w,
    z,
)
from theorems.sparse_token_selection.task import (
    ACCURACY,
    LENGTH,
    STEP_SIZE,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    eta,
    q,
)
from verify import (
    ClauseValue,
    Derivation,
    Hypothesis,
    Identity,
    Implication,
    Inference,
    Source,
    Statement,
    Step,
    Theorem,
)

gap, least_gap, delta = sp.symbols("gap least_gap delta", real=True)
later, y, xi = sp.symbols("later y xi", nonnegative=True)
share = counting.share
sigma = q * (1 - w) / (w * N)
KAPPA = 2 * eta * d / (q * (T - 1))
LEAST_STEPS = (Y - (2 * A + 3 * KAPPA / 2) * sp.sqrt(Y) - T / (T - q)) / KAPPA

COUNTED = replace(
    REACHED,
    label="counted",
    within=STEPS,
    not_before=LEAST_STEPS,
    says="the first step t with L_t <= eps is at least (Y - (2A + 3k/2) Y^(1/2) - T/(T-q))/k, Y = d/(2q eps), "
    "A = dT/(q(T-1)), k = 2 eta d/(q(T-1)), and at most the bound of one_hot_descent",
)
BEFORE = at_most(
    "before_the_turn",
    4 * T * q**2 * (T - q) * w**2,
    (T - 1) * N**2 * M,
    "4T q^2 (T-q) w^2 <= (T-1) N^2 M",
)
AFTER = at_most("after_the_turn", 2 * q * (T - q), T * (T - 1), "2q (T-q) <= T (T-1)")
XI_BEFORE = Identity(
    "xi_before",
    T / (T - 1) * (P * (1 - P) * w * 2 * m),
    4 * T * q**2 * (T - q) * w**2 / ((T - 1) * N**2 * M) / 2,
    says="T/(T-1) 2 P (1-P) w m is half of 4T q^2 (T-q) w^2 over (T-1) N^2 M",
)
ROOM = at_most("room", eta * (2 * q + d) / (2 * q**2), 1, "(eta/q) (1 + d/(2q)) <= 1")
MOVE = at_most("move", KAPPA / 4, 1, "kappa/4 <= 1")
SECOND_ORDER = at_most("second_order", 3 * q**2 * (T - q) * w * (1 - w), (T - 1) * M * N, "3q/(T-1) m (1-P) (1-w) <= 1")
LOGARITHM = at_most("logarithm", 4 * sp.log(t), t**2, "4 ln t <= t^2, which is ln Z <= Z^(1/2) for Z = t^4")
NEXT_GAP = (
    Identity(
        "gap_at_next_alpha",
        N - q * ((1 - pull) * alpha + pull * N / M) * (1 - w),
        N * ((1 - pull) * (1 - alpha * P * (1 - w)) + pull * w * N / M),
        says="N - q alpha' (1-w) = N ((1-a) delta + a w/S) for alpha' = (1-a) alpha + a/S, delta = 1 - alpha P (1-w)",
    ),
    Implication(
        "mean_of_gaps",
        (sp.Le(delta, 1),),
        sp.Ge(N * ((1 - pull) * delta + pull * part), N * delta * (1 - pull + pull * part)),
        says="N ((1-a) delta + a x) >= N delta (1 - a + a x) for delta <= 1, a x >= 0",
    ),
    Identity(
        "rest_of_pull",
        1 - eta * P * M / (q * N) * (1 - w * N / M),
        1 - eta / q * P**2 * (1 - w),
        says="1 - a + a w/S = 1 - (eta/q) P^2 (1-w) for a = eta P S/q",
    ),
    at_most("exponential", 1 - b, sp.exp(-b), "e^(-y/2) >= 1 - y/2"),
    Identity(
        "past",
        (1 - b) * (q + (T - q) * c - rho * (1 - c)),
        (1 - c) * (q + (T - q) * b - rho * (1 - b)) - T * (b - c),
        says="(1-w)(N' - x (1-w')) = (1-w')(N - x (1-w)) - T (w-w')",
    ),
    Implication(
        "gap_after_a_move",
        (sp.Ge(gap, least_gap), sp.Le(later, 1), sp.Ge(later, other * (1 - y))),
        sp.Ge((1 - later) * gap - T * (other - later), (1 - later) * least_gap - T * other * y),
        says="(1-w') gap - T (w-w') >= (1-w') g - T w y/2 where gap >= g, w' <= 1, w' >= w (1 - y/2)",
    ),
    Implication(
        "move_in_the_gap",
        (sp.Eq(share, q / counting.N),),
        sp.Eq(T * (eta * d / (q * (T - 1)) * y), counting.N * (eta / q) * A * (share * y)),
        says="T (eta d/(q(T-1))) x = N (eta/q) A P x where P = q/N, as for x = w alpha P (1-P) delta",
    ),
    Identity(
        "gap_with_the_move",
        (1 - later) * (gap * (1 - b)) - gap * eta / q * c * ((1 - later) * xi),
        (1 - later) * gap * (1 - (b + eta / q * c * xi)),
        says="(1-w') G (1 - x) - G (eta/q) A (1-w') Xi = (1-w') G (1 - (x + (eta/q) A Xi))",
    ),
)
_now, _next = (q + (T - q) * each for each in (other, counting.later))
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, STEP_SIZE, ACCURACY),
    domain=(SUBSET_FITS,),
    hypotheses=(Hypothesis("others", sp.Ge(T, q + 1), text="q < T, of integers: T >= q + 1"), *SCOPE),
    variables=tuple(
        dict.fromkeys((v, rho, b, c, t, gap, least_gap, delta, later, y, xi, *VARIABLES, *counting.VARIABLES))
    ),
    claims=(COUNTED,),
    steps=(
        *COORDINATES,
        *RANGE,
        *(*SLOPES, *RANGE_OF_ALPHA, LAG[0]),
        Identity(
            "move_of_C",
            (1 + rho) * m * (1 - m - rho * m * z),
            (1 + rho) * m * (1 - m) * (1 - rho * sigma),
            says="(1 + rho) m (1 - m - rho m z) = (1 + rho) m (1 - m)(1 - rho sigma)",
        ),
        Identity("turn", q * (1 - w) - w * N, N * (1 - w) - T * w, says="q(1-w) - wN = N(1-w) - Tw"),
        Identity(
            "total",
            (q + (T - q) * other**2) / _now - (q + (T - q) * counting.later**2) / _next,
            (T - q)
            * (other - counting.later)
            * (((T - q) * counting.later**2 + 2 * q * counting.later - q) + (other - counting.later) * _next)
            / (_now * _next),
            says="S - S' = M/N - M'/N' = (T-q)(w-w')((T-q)w'^2 + 2qw' - q + (w-w')N')/(N N')",
        ),
        Identity(
            "next_w",
            sp.exp(-(rho + y / 2)),
            sp.exp(-rho) * sp.exp(-y / 2),
            says="w' = e^(-C - y/2) is w e^(-y/2), for w = e^(-C), C' = C + y/2",
        ),
        Identity(
            "next_X",
            sp.exp(2 * (rho + y / 2)),
            sp.exp(2 * rho) * sp.exp(y),
            says="e^(2C + y) = e^(2C) e^y, so that X' = X e^y for X = q e^(2C)/(T-q), C' = C + y/2",
        ),
        *NEXT_GAP,
        *counting.STEPS_OF_THE_COUNT,
        Identity(
            "rise_of_alpha",
            KAPPA * rho * (1 - sigma),
            2 * d / (T - 1) * ((sigma - 1) / P) * (-eta / q * P * rho),
            says="kappa rho (1 - sigma) = 2d/(T-1) psi (alpha' - alpha) for alpha' - alpha = -(eta/q) P rho",
        ),
        BEFORE,
        XI_BEFORE,
        AFTER,
        ROOM,
        at_most("largest_kappa", KAPPA, 4 * q / (T - 1), "kappa <= 4q/(T-1)"),
        MOVE,
        Identity("odds", (1 - m) / m, (T - q) * w**2 / q, says="1/X = (1 - m)/m = (T-q)w^2/q"),
        Implication(
            "odds_at_first",
            (sp.Eq((T - q) * y, q),),
            sp.Eq((T - q) * (1 + y), T),
            says="(T-q)(1 + X) = T where (T-q) X = q",
        ),
        Identity("sigma", m * z, (1 - m) * sigma, says="m z = (1 - m) sigma"),
        Identity("product", (1 + b) * (1 - b * c), 1 + b * (1 - c) - b**2 * c, says="(1+r)(1-rs) = 1 + r(1-s) - r^2 s"),
        SECOND_ORDER,
        Identity("psi", (sigma - 1) / P, 1 / w - 2 - (T - q) * w / q, says="(sigma - 1)/P = 1/w - 2 - (T-q)w/q"),
        LOGARITHM,
    ),
)
_RUN = ("gaussian_tokens", "one_hot", "zero_query", "zero_initialisation", "population_gradient")
ARGUMENT = (
    Inference(
        "coordinates",
        "ℓ = 2qL/d = (1 − m) + mρ², and the steps are α' = α − (η/q)Pρ and C' = C + y/2, y = κ(1+ρ)m(1−m)(1−ρσ)",
        (
            *("wang2024.lemma1:population_loss", "wang2024.lemma1", *(s.label for s in (*COORDINATES, *SLOPES))),
            *("move_of_C", RANGE_OF_ALPHA[0].label, *_RUN[:3]),
        ),
        "definition",
    ),
    Inference(
        "lag",
        "the loss is d/(2q) at the start, and stays at or below this value: ℓ ≤ 1, and so |ρ| ≤ 1",
        ("wang2024.one_hot_descent:stays", "coordinates", LAG[0].label, "small_step", *_RUN),
        "application",
    ),
    Inference(
        "small_move",
        "y ≤ κ/4 ≤ 1. For ρ ≤ 0 this holds because z ≤ 1. For ρ > 0, suppose that σ ≥ 1, which the induction of "
        "C_never_falls gives, and that y ≥ 0 (for y < 0 there is nothing to show)",
        ("coordinates", "lag", "move", *(s.label for s in counting.SMALL_MOVE)),
        "case distinction",
    ),
    Inference(
        "towards",
        "while C ≥ 0, a step takes α to between itself and 1/S ≤ √(T/q): α stays in [0, √(T/q)]",
        ("wang2024.lemma1", "coordinates", "share", "scale", "between", *(s.label for s in RANGE_OF_ALPHA)),
        "application",
    ),
    Inference(
        "below_before_the_turn",
        "suppose that C has not fallen so far. While N(1−w) ≤ Tw, which is σ ≤ 1 and (T−q)w² + 2qw ≥ q, S falls as w "
        "does: α is at most 1/S at the start and remains at most 1/S, so that ρ ≤ 0",
        ("towards", "turn", "total", "zero_initialisation", *(s.label for s in counting.BEFORE_THE_TURN)),
        "induction",
    ),
    Inference(
        "next_gap",
        "with δ = 1 − αP(1−w) ∈ [0, 1], a = ηPS/q, w' = we^{−y/2} and y/2 = (ηd/(q(T−1))) αP(1−P)δ, the steps bound "
        "the gap N − qα'(1−w), and so (1−w)(N' − qα'(1−w')), from below: by (1−w')Nδ(1 − (η/q)(P²(1−w) + AΞ)), "
        "Ξ = P(1−P)w αP/(1−w')",
        ("coordinates", "towards", "share", "between", "next_w", *(s.label for s in NEXT_GAP)),
        "application",
    ),
    Inference(
        "enough_room",
        "let the step end beyond the turn, where w' < 1/2. Then (T/(T−1))Ξ ≤ 1/2: if it begins before the turn, where "
        "ρ ≤ 0, by `pull_before`, `xi_before` and `half_of_a_ratio`; if it begins beyond the turn with δ ≥ 0, so that "
        "w' ≤ w, by `pull_after`, `xi_after` and `half_after`. So AΞ ≤ d/(2q); as P²(1−w) ≤ 1, the last factor in "
        "`next_gap` is at least 0",
        (
            *("next_gap", "below_before_the_turn", "before_the_turn", "after_the_turn", "room", "turn", "small_step"),
            *("turn_in_w", "xi_before", *(s.label for s in counting.ENOUGH_ROOM)),
        ),
        "case distinction",
    ),
    Inference(
        "C_never_falls",
        "δ ≥ 0 at every step, so that y ≥ 0: before the turn because ρ ≤ 0; beyond the turn by induction over the "
        "steps. A step that ends there begins at w < 1: from w = 1, y ≤ 1 leads to w' ≥ e^{−1/2} > 1/2",
        (
            *("next_gap", "enough_room", "below_before_the_turn", "small_move", "coordinates", "attended_behind"),
            *(s.label for s in counting.NO_FALL),
        ),
        "induction",
    ),
    Inference(
        "series",
        "e^y ≤ 1 + y + 3y²/4 for 0 ≤ y ≤ 1",
        ("exponential_at_one",),
        rules.REMAINDER_OF_THE_EXPONENTIAL,
    ),
    Inference(
        "growth",
        "1 + X = 1/(1−m) and X = q e^{2C}/(T−q), so that X' = X e^y ≤ X(1 + y + 3y²/4), and ln((1+X')/(1+X)) = "
        "ln(1 − m + me^y) ≥ my, as the logarithm is concave",
        (
            *("C_never_falls", "small_move", "coordinates", "odds", "m_in_odds", "odds_and_one", "next_X", "series"),
            "mean_of_growth",
        ),
        "Jensen's inequality",
    ),
    Inference(
        "potential",
        "X − (3κ/2) ln(1+X) rises by at most Xy + (3/4)y(Xy − 2κm) ≤ κ(1 + ρ(1−σ)), with Xy = κm²g, "
        "g = (1+ρ)(1−ρσ) ≥ 0. If mg ≤ 2, which holds for ρ ≥ 0, the last bound is `rise_where_small`; otherwise it "
        "follows by the steps after `rise_where_small`, with s = −ρ and mz = (1−m)σ",
        (
            *("growth", "C_never_falls", "lag", "product", "second_order", "largest_kappa", "sigma", "odds"),
            *("rise_in_parts", *(s.label for s in counting.POTENTIAL)),
        ),
        "case distinction",
    ),
    Inference(
        "sum_of_moves",
        "κρ(1−σ) = (2d/(T−1))ψ(α' − α), and ψ(α' − α) ≤ ψ'α' − ψα: the sum over the steps before t is at most "
        "(2d/(T−1))√(T/q)/w ≤ 2A√X at step t, as α(0) = 0, α ≤ √(T/q), ψ ≤ 1/w and 1/w² = (T−q)X/q",
        (
            *("potential", "psi", "C_never_falls", "towards", "coordinates", "odds", "zero_initialisation"),
            *("rise_of_alpha", *(s.label for s in counting.SUM_OF_MOVES)),
        ),
        "telescoping",
    ),
    Inference(
        "not_before",
        "up to step t, X − (3κ/2) ln(1+X) has risen by at most κt + 2A√X. With Z = 1 + X and ln Z ≤ √Z the steps give "
        "Z − (2A + 3κ/2)√Z ≤ T/(T−q) + κt. If ℓ ≤ 1/Y at step t, then Z ≥ Y, and t is at least the lower bound (which "
        "is negative for √Y ≤ 2A + 3κ/2)",
        (
            *("sum_of_moves", "potential", "logarithm", "odds", "odds_at_first", "coordinates"),
            *("root", *(s.label for s in counting.NOT_BEFORE)),
        ),
        "telescoping",
    ),
    Inference(
        "counted",
        "no step before the lower bound has L ≤ ε, and some step within the upper bound has",
        ("not_before", "wang2024.one_hot_descent:reached", "small_step", *_RUN),
        "application",
    ),
)


def derivation() -> Derivation:
    """Return the steps: part of the potential's rise, the lower bound to first order, the upper bound's ratio to it."""
    return Derivation(
        (
            Step(
                "ρ's part κρ(1 − σ) of the bound of the potential's rise, as a multiple of the move of α",
                KAPPA * rho * (1 - sigma),
                2 * d / (T - 1) * (1 / w - 2 - (T - q) * w / q) * (-eta / q * P * rho),
            ),
            Step("the lower bound, to first order for ε → 0", Y / KAPPA, T / (4 * eta * eps) - 1 / (4 * eta * eps)),
            Step(
                "the upper bound over the lower bound, to first order for ε → 0",
                (Y / K) / (Y / KAPPA),
                10 * q**2 / (10 * q**2 - eta * (5 * q + 2 * d)),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)

one_hot_steps = Theorem(
    id="wang2024.one_hot_steps",
    title="One-hot encoding, q < T, η ≤ 4q²/(5q + 2d): bounds of the number of steps to ε; the lower bound is "
    "(T − 1)/(4ηε) to first order for small ε",
    source=Source("Theorem 1's number of steps", "derived here", WANG2024, "the paper's time bound is not known to us"),
    statement=STATEMENT,
    example={"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    values={
        "steps_to_epsilon": ClauseValue("counted", "steps"),
        "steps_at_least": LEAST_STEPS,
        "steps_at_most": STEPS,
        "ratio_for_small_eps": KAPPA / K,
    },
    derivation=derivation,
    proofs={"counted": SLOW},
    canaries=(
        _canary(
            "not before (T-1)/(4 eta eps)",
            replace(COUNTED, within=None, not_before=(T - 1) / (4 * eta * eps), says=""),
        ),
        _canary(
            "5 for 4 before the turn",
            replace(BEFORE, relation=sp.Le(5 * T * q**2 * (T - q) * w**2, (T - 1) * N**2 * M)),
        ),
        _canary("3 for 2 beyond the turn", replace(AFTER, relation=sp.Le(3 * q * (T - q), T * (T - 1)))),
        _canary("d/q for d/(2q)", replace(ROOM, relation=sp.Le(eta * (q + d) / q**2, 1))),
        _canary("moves of at most kappa", replace(MOVE, relation=sp.Le(KAPPA, 1))),
        _canary("6 ln t for 4 ln t", replace(LOGARITHM, relation=sp.Le(6 * sp.log(t), t**2))),
    ),
    proof_uses=("wang2024.lemma1", "wang2024.one_hot_descent"),
    argument=ARGUMENT,
)
