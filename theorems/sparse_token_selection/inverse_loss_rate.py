r"""The rate of Theorem 1: 1/L grows by 4η/(T−1) a step in the limit, for all q and d.

Suppose that the loss tends to 0 along the run. Write w = e^{−C} and α = 1/S + e, with P and S of Lemma 1
(`reduced_dynamics`). Because

    2qL/d = (T−q)w²/(q + (T−q)w²) + PS e²,

w → 0 and e → 0. C moves by m = C' − C of order w (w + |e|), so that 1/S moves by O(w² (w + |e|)), and

    |e'| ≤ (|1 − η/q| + o(1)) |e| + O(w³):

for 0 < η < 2q the gap e is of order w³. Let r = (T−q)w/q be the odds against a selected token, and let α = 1 + r − h r²
define the lag h. Therefore h tends to q/(T−q), the fixed point of its limit map

    h' → (1 − η/q) h + η/(T−q),

and there, with φ = (1 − e^{−m})/m → 1,

    1/L' − 1/L → 4ηφ/(T−1).

To the next order the attracting curve is h = q/(T−q) + λr, λ = q(T−1−d)/((T−q)(T−1)), on which

    1/L' − 1/L = 4η/(T−1) · (1 − κ r² + o(r²)),   κ = (d(T−q−η) + 2q(T−1)) / ((T−q)(T−1)),

so that the slope is approached from below if κ > 0, which holds for all η ≤ T − q and all η ≤ 4q²/(5q+2d). In the
scope of Theorem 1, and for all η ≤ 4q²/(5q+2d), the loss does tend to 0 (`one_hot_rate`).

Source: derived here; the caption of the paper's Figure 1 says "inverse loss increases linearly".
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import WANG2024
from theorems.sparse_token_selection.inverse_loss_steps import (
    DRIFT,
    INCREMENT,
    MOVE_OF_C,
    MOVE_OF_THE_BEST,
    NEXT_W,
    STEPS,
    VARIABLES,
    at_zero,
    h,
    h_fixed,
    inverse_loss_slope,
    phi,
    r,
)
from theorems.sparse_token_selection.reduced_dynamics import C, alpha, loss, step_alpha, step_C
from theorems.sparse_token_selection.task import (
    DESCENT_ON_MEANS,
    LENGTH,
    ONE_HOT_RUN,
    ONE_HOT_RUN_LABELS,
    RUNS_EXIST,
    STEP_SIZE,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    eta,
    formal,
    q,
)
from theorems.sparse_token_selection.trials import one_hot_runs
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)


def _substituted(expression: sp.Expr, alpha_value: sp.Expr, odds: sp.Expr) -> sp.Expr:
    """Return an expression of (α, C) at α = `alpha_value` and at the C with (T−q)e^{−C}/q = `odds`."""
    return expression.subs(C, -sp.log(q * odds / (T - q))).subs(alpha, alpha_value)  # pyright: ignore[reportReturnType]


alpha_now = 1 + r - h * r**2
move = sp.factor(_substituted(step_C - C, alpha_now, r))
alpha_next = _substituted(step_alpha, alpha_now, r)
r_next = r * (1 - phi * move)
h_next = (1 + r_next - alpha_next) / r_next**2

LAG_ATTRACTS = Hypothesis("lag_attracts", sp.Lt(eta, 2 * q))
RATE_HOLDS = (sp.Lt(eta, 2 * q), sp.Lt(q, T))
"""The conditions under which 1/L grows by 4η/(T−1) a step in the limit, if the loss tends to 0."""

increment = 1 / _substituted(loss, alpha_next, r_next) - 1 / _substituted(loss, alpha_now, r)

# These are the next-order terms, on the curve h = h_fixed + λr; e^{−m} is 1 − m + m²/2 up to terms of order r⁶.
lag_slope = q * (T - 1 - d) / ((T - q) * (T - 1))
correction = (d * (T - q - eta) + 2 * q * (T - 1)) / ((T - q) * (T - 1))


def _on_curve(expression: sp.Expr) -> sp.Expr:
    return expression.subs(phi, 1 - move / 2).subs(h, h_fixed + lag_slope * r)  # pyright: ignore[reportOperatorIssue, reportReturnType]


CLAIMS = (
    Identity("lag", at_zero(h_next), (1 - eta / q) * h + eta / (T - q), says="h' -> (1 - eta/q) h + eta/(T-q)"),
    Identity(
        "fixed_lag",
        ((1 - eta / q) * h + eta / (T - q)).subs(h, h_fixed),
        h_fixed,
        says="h = q/(T-q) is its fixed point",
    ),
    Identity(
        "rate",
        at_zero(increment.subs(h, h_fixed)),
        inverse_loss_slope * phi,
        says="1/L' - 1/L -> 4 eta phi/(T-1) at that h",
    ),
    Identity(
        "curve",
        at_zero((_on_curve(h_next) - h_fixed) / r),
        lag_slope,
        says="h = q/(T-q) + q(T-1-d)/((T-q)(T-1)) r is kept to this order",
    ),
    Identity(
        "correction",
        at_zero((_on_curve(increment) / inverse_loss_slope - 1) / r**2),
        -correction,
        says="there 1/L' - 1/L = 4 eta/(T-1) (1 - kappa r² + o(r²)), kappa = (d(T-q-eta) + 2q(T-1))/((T-q)(T-1))",
    ),
)


LIMITS = InWords("limits", "along the run the odds r tend to 0, and the lag h tends to q/(T-q)")
SLOPE = InWords("slope", "along the run 1/(t L_t) -> 4 eta/(T-1)")
EVALUATION_OF_THE_LIMITS = Evaluation(
    one_hot_runs.limits(h_fixed),
    "along the run the odds r tend to 0, and the lag h tends to q/T",
    one_hot_runs.limits(q / T),
    limit=True,
)
EVALUATION_OF_THE_SLOPE = Evaluation(
    one_hot_runs.slope(inverse_loss_slope),
    "along the run 1/(t L_t) -> 4 eta/T",
    one_hot_runs.slope(4 * eta / T),
    limit=True,
)
LOSS_VANISHES = Hypothesis("loss_vanishes", text="the loss tends to 0 along the run")

STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, STEP_SIZE),
    domain=(sp.Lt(q, T),),
    hypotheses=(LAG_ATTRACTS, LOSS_VANISHES, *ONE_HOT_RUN),
    variables=VARIABLES,
    claims=(*CLAIMS, LIMITS, SLOPE),
    steps=STEPS,
)
ARGUMENT = (
    Inference(
        "terms",
        "2qL/d is a sum of two nonnegative terms, s = (T−q)w²/(q + (T−q)w²) and PSe², and each of these tends to 0",
        ("loss_vanishes", "loss", "wang2024.lemma1", *ONE_HOT_RUN_LABELS),
        "nonnegative terms",
    ),
    Inference(
        "end",
        "w² = q s/((T−q)(1 − s)) tends to 0, so that P, S and 1/S tend to 1; as PSe² tends to 0, so does e: α tends to "
        "1",
        ("terms", "square_of_w"),
        "continuity",
    ),
    Inference(
        "move_of_C",
        "from some step on α ≤ 2, 1/S ≤ 2 and w ≤ 1: there |m| ≤ K w (2w + |e|) for m = C' − C and a constant K",
        ("move", "end", *(step.label for step in MOVE_OF_C)),
        "application",
    ),
    Inference("ratio", "so m → 0, and w'/w = e^{−m} → 1", ("move_of_C", "end", NEXT_W.label), "continuity"),
    Inference(
        "drift",
        "w' is the value of w e^{−t} at t = m, and between 0 and m this function's slope in t is at most w exp|m| in "
        "size: |w − w'| ≤ w |m| exp|m|. As m → 0, from some step on exp|m| ≤ 2, and |w − w'| ≤ 2w|m|",
        ("ratio", *(step.label for step in DRIFT)),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference(
        "move_of_the_best",
        "so 1/S moves by at most K w² (2w + |e|) from some step on, with another constant K",
        ("best_alpha", "move_of_C", "drift", "end", *(step.label for step in MOVE_OF_THE_BEST)),
        "application",
    ),
    Inference(
        "contracts",
        "|e'| ≤ (|1 − η/q| + (η/q)(1 − PS) + K w²) |e| + 2K w³, by `contraction` for e and x, and for −e and −x",
        ("gap", "move_of_the_best", "share_at_most", "contraction", "end"),
        "application",
    ),
    Inference(
        "order_of_the_gap",
        "b = |e|/w³ satisfies b' ≤ g ((|1 − η/q| + o(1)) b + 2K) with g = (w/w')³ → 1, and |1 − η/q| < 1: b is bounded",
        ("contracts", "ratio", "end", "next_cube", "per_cube", "rate_below_one", "lag_attracts"),
        rules.LINEAR_RECURRENCE,
    ),
    Inference(
        "limits",
        "h = (1 + r − 1/S)/r² − e/r²: the first term tends to q/(T−q) as r → 0, and the second is of order w",
        ("order_of_the_gap", "lag_of_the_best", "lag_in_parts", "gap_in_odds", "end"),
        "continuity",
    ),
    Inference(
        "odds",
        "r' = r e^{−m}; as e/r → 0, m/r² tends to ηd/(q(T−1)) q/(T−q), and (e^{2m} − 1)/m, defined as 2 at m = 0, "
        "tends to 2",
        ("move", "move_in_odds", "order_of_the_gap", "gap_in_odds", "ratio", "end"),
        "continuity",
    ),
    Inference(
        "increments",
        "PSe² = b s with b of order w⁴, so that 1/L = (2q/d) ((T−q)/(q r²) + 1) + o(1), and 1/L' − 1/L tends to the "
        "limit in `increment`",
        ("loss", "share_at_most", *(step.label for step in INCREMENT), "odds", "order_of_the_gap", "end"),
        "continuity",
    ),
    Inference("slope", "1/(t L_t) tends to the same limit", ("increments",), rules.STOLZ_CESARO),
)


def derivation() -> Derivation:
    """Return the steps: the move of C, the lag of α, the increment of the inverse loss."""
    lag, fixed, rate, curve, second = CLAIMS
    return Derivation(
        (
            Step(
                "C moves by m, of second order in the odds",
                at_zero(move / r**2),
                eta * d / ((T - 1) * (T - q)),
            ),
            Step(
                "the loss is of second order too",
                at_zero(_substituted(loss, alpha_now, r) / r**2),
                d / (2 * (T - q)),
            ),
            Step("the lag h follows a contraction in the limit", lag.left, lag.right),
            Step("with its fixed point", fixed.left, fixed.right),
            Step("the increment of 1/L there; φ → 1 since m → 0", rate.left, rate.right),
            Step("the curve to first order in r", curve.left, curve.right),
            Step("the increment on it to second order", second.left, second.right),
        )
    )


PHI_OF_THE_RUN = {"rate_phi": "run.step_at_odds.phi_of_the_recursion"}
STEP_AT_ODDS = {"rate_step": "run.step_at_odds.step_in_odds"}
CLAIMS_ON_A_STEP = {
    "lag": {"rate_lag": "run.step_at_odds.lag_of_a_step"},
    "rate": {"rate_rate": "run.step_at_odds.rate_of_a_step"},
    "curve": {"rate_curve": "run.step_at_odds.curve_of_lags"} | PHI_OF_THE_RUN,
    "correction": {"rate_correction": "run.step_at_odds.correction_of_the_rate"} | PHI_OF_THE_RUN,
}
_canary = partial(with_changes, STATEMENT)


inverse_loss_rate = Theorem(
    id="wang2024.inverse_loss_rate",
    title="If the loss tends to 0 and η < 2q, each step adds 4η/(T−1) to the inverse loss in the limit",
    source=Source("Figure 1's reading", "derived here", WANG2024, 'the caption says "inverse loss increases linearly"'),
    statement=replace(
        STATEMENT,
        formal={
            **{label: formal(**STEP_AT_ODDS, **claim) for label, claim in CLAIMS_ON_A_STEP.items()},
            "limits": formal(
                DESCENT_ON_MEANS,
                rate_limits="one_hot_rate.limits_of_odds_and_lag",
                kept="layer.reduced_dynamics.lemma1_kept",
                **RUNS_EXIST,
            ),
            "slope": formal(DESCENT_ON_MEANS, rate_slope="one_hot_rate.slope_of_inverse_loss"),
        },
    ),
    example={"T": 200, "q": 3, "d": 5, "eta": "1/500"},
    values={"inverse_loss_slope": inverse_loss_slope, "correction": correction},
    derivation=derivation,
    canaries=(
        _canary("T - 1 replaced by T", "rate", right=4 * eta * phi / T),
        _canary("the 1/2 of the loss dropped", "rate", right=2 * eta * phi / (T - 1)),
        _canary("a factor q", "rate", right=4 * eta * phi / (q * (T - 1))),
        _canary(
            "T - q replaced by T in the correction",
            "correction",
            right=-(d * (T - q - eta) + 2 * q * (T - 1)) / (T * (T - 1)),
        ),
        _canary("sign of the lag flipped", "lag", right=(1 - eta / q) * h - eta / (T - q)),
    ),
    evaluations={"limits": EVALUATION_OF_THE_LIMITS, "slope": EVALUATION_OF_THE_SLOPE},
    statement_uses=("wang2024.lemma1",),
    proof_uses=("wang2024.lemma1",),
    argument=ARGUMENT,
)
