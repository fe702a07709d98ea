r"""The rate of Theorem 1: 1/L grows by 4η/(T−1) a step in the limit, whatever q and d.

Suppose that the loss tends to 0 along the run. Write w = e^{−C} and α = 1/S + e. As

    2qL/d = (T−q)w²/(q + (T−q)w²) + PS e²,

w → 0 and e → 0. C moves by m = C' − C of order w (w + |e|), so that 1/S moves by O(w² (w + |e|)), and

    |e'| ≤ (|1 − η/q| + o(1)) |e| + O(w³):

for 0 < η < 2q the gap e is of order w³. With the odds r = (T−q)w/q against a selected token and α = 1 + r − h r²
the lag h therefore tends to q/(T−q), the fixed point of its limit map

    h' → (1 − η/q) h + η/(T−q),

and there, with φ = (1 − e^{−m})/m → 1,

    1/L' − 1/L → 4ηφ/(T−1).

To the next order the attracting curve is h = q/(T−q) + λr, λ = q(T−1−d)/((T−q)(T−1)), on which

    1/L' − 1/L = 4η/(T−1) · (1 − κ r² + O(r³)),   κ = (d(T−q−η) + 2q(T−1)) / ((T−q)(T−1)),

so that the slope is approached from below where κ > 0, as for all η ≤ T − q and all η ≤ 4q²/(5q+2d). In the scope of
Theorem 1, and for all η ≤ 4q²/(5q+2d), the loss does tend to 0 (`one_hot_rate`).

Source: derived here; the paper's Figure 1 reads "inverse loss increases linearly".
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import WANG2024
from theorems.sparse_token_selection.reduced_dynamics import C, P, S, alpha, loss, step_alpha, step_C
from theorems.sparse_token_selection.task import (
    LENGTH,
    ONE_HOT_RUN,
    ONE_HOT_RUN_LABELS,
    STEP_SIZE,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    eta,
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

r, h, phi, w, w_next = sp.symbols("r h phi w w_next", positive=True)
rho = sp.Symbol("rho", real=True)
e = sp.Symbol("e", real=True)


def _substituted(expression: sp.Expr, alpha_value: sp.Expr, odds: sp.Expr) -> sp.Expr:
    """Return an expression of (α, C) at α and at the C with (T−q)e^{−C}/q = odds."""
    return expression.subs(C, -sp.log(q * odds / (T - q))).subs(alpha, alpha_value)  # pyright: ignore[reportReturnType]


alpha_now = 1 + r - h * r**2
move = sp.factor(_substituted(step_C - C, alpha_now, r))
alpha_next = _substituted(step_alpha, alpha_now, r)
r_next = r * (1 - phi * move)
h_next = (1 + r_next - alpha_next) / r_next**2
h_fixed = q / (T - q)
inverse_loss_slope = 4 * eta / (T - 1)

LAG_ATTRACTS = Hypothesis("lag_attracts", sp.Lt(eta, 2 * q))
RATE_HOLDS = (sp.Lt(eta, 2 * q), sp.Lt(q, T))
"""Where the slope is what the recursion tends to."""

increment = 1 / _substituted(loss, alpha_next, r_next) - 1 / _substituted(loss, alpha_now, r)

# The next order: on the curve h = h_fixed + λr, where e^{−m} = 1 − m + m²/2 up to terms of order r⁶.
lag_slope = q * (T - 1 - d) / ((T - q) * (T - 1))
correction = (d * (T - q - eta) + 2 * q * (T - 1)) / ((T - q) * (T - 1))


def _on_curve(expression: sp.Expr) -> sp.Expr:
    return expression.subs(phi, 1 - move / 2).subs(h, h_fixed + lag_slope * r)  # pyright: ignore[reportOperatorIssue, reportReturnType]


def _at_zero(expression: sp.Expr) -> sp.Limit:
    """Return the limit as r → 0, in a symbol that is assumed to be real and no more."""
    return sp.Limit(expression.subs(r, rho), rho, 0)


CLAIMS = (
    Identity("lag", _at_zero(h_next), (1 - eta / q) * h + eta / (T - q), says="h' -> (1 - eta/q) h + eta/(T-q)"),
    Identity(
        "fixed_lag",
        ((1 - eta / q) * h + eta / (T - q)).subs(h, h_fixed),
        h_fixed,
        says="h = q/(T-q) is its fixed point",
    ),
    Identity(
        "rate",
        _at_zero(increment.subs(h, h_fixed)),
        inverse_loss_slope * phi,
        says="1/L' - 1/L -> 4 eta phi/(T-1) at that h",
    ),
    Identity(
        "curve",
        _at_zero((_on_curve(h_next) - h_fixed) / r),
        lag_slope,
        says="h = q/(T-q) + q(T-1-d)/((T-q)(T-1)) r is kept to this order",
    ),
    Identity(
        "correction",
        _at_zero((_on_curve(increment) / inverse_loss_slope - 1) / r**2),
        -correction,
        says="there 1/L' - 1/L = 4 eta/(T-1) (1 - kappa r² + O(r³)), kappa = (d(T-q-eta) + 2q(T-1))/((T-q)(T-1))",
    ),
)


def _at(expression: sp.Expr, other: sp.Expr = w) -> sp.Expr:
    """Return an expression of C at e^{−C} = w, or another number."""
    return expression.subs(C, -sp.log(other))  # pyright: ignore[reportReturnType]


P_w, S_w, S_next = _at(P), _at(S), _at(S, w_next)
alpha_w = 1 / S_w + e
pull = eta * P_w * S_w / q
spread = (T - q) * w**2 / (q + (T - q) * w**2)
STEPS = (
    Identity(
        "loss",
        _at(loss).subs(alpha, alpha_w),
        d / (2 * q) * (spread + P_w * S_w * e**2),
        says="with w = e^(-C), alpha = 1/S + e: 2qL/d = (T-q) w²/(q + (T-q) w²) + P S e²",
    ),
    Identity(
        "move",
        _at(step_C - C).subs(alpha, alpha_w),
        eta * d / (q * (T - 1)) * alpha_w * P_w * (1 - P_w) * (w / S_w - P_w * (1 - w) * e),
        says="C' - C = eta d/(q(T-1)) alpha P (1-P) (w/S - P (1-w) e)",
    ),
    Identity(
        "best_alpha",
        1 / S_w - 1 / S_next,
        (T - q)
        * (w - w_next)
        * (q * (1 - w - w_next) - (T - q) * w * w_next)
        / ((q + (T - q) * w**2) * (q + (T - q) * w_next**2)),
        says="1/S - 1/S' has the factor w - w'",
    ),
    Identity(
        "gap",
        _at(step_alpha).subs(alpha, alpha_w) - 1 / S_next,
        (1 - pull) * e + 1 / S_w - 1 / S_next,
        says="e' = (1 - eta P S/q) e + 1/S - 1/S'",
    ),
    Identity(
        "lag_of_the_best",
        (1 + r - 1 / S_w.subs(w, h_fixed * r)) / r**2,
        h_fixed * (1 + r) / (1 + h_fixed * r**2),
        says="(1 + r - 1/S)/r² = (1 + r) h/(1 + h r²) with h = q/(T-q)",
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
    variables=(h, phi, r, w, w_next, e),
    claims=(*CLAIMS, LIMITS, SLOPE),
    steps=STEPS,
)
ARGUMENT = (
    Inference(
        "end",
        "the loss is a sum of two nonnegative terms, and each tends to 0: with (T−q)w²/(q + (T−q)w²) also w, so that P "
        "and S tend to 1, and with PSe² also e",
        ("loss_vanishes", "loss", "wang2024.lemma1", *ONE_HOT_RUN_LABELS),
        "nonnegative terms",
    ),
    Inference(
        "move_of_C",
        "with 1 − P ≤ (T−q)w/q and α → 1, m = C' − C is at most K w (w + |e|) in size from some step on, K a number",
        ("move", "end"),
        "substitution",
    ),
    Inference("ratio", "so m → 0, and w'/w = e^{−m} → 1", ("move_of_C", "end"), "continuity"),
    Inference(
        "drift",
        "|w − w'| ≤ w |m| exp|m|, so that 1/S moves by at most K w² (w + |e|) from some step on, with another K",
        ("best_alpha", "move_of_C", "ratio", "end"),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference(
        "contraction",
        "|e'| ≤ (|1 − η/q| + o(1)) |e| + K w³, as PS → 1 and w → 0",
        ("gap", "drift", "end"),
        "substitution",
    ),
    Inference(
        "order_of_the_gap",
        "b = |e|/w³ has b' ≤ (|1 − η/q| + o(1)) b + 2K, and |1 − η/q| < 1: it is bounded",
        ("contraction", "ratio", "lag_attracts"),
        rules.LINEAR_RECURRENCE,
    ),
    Inference(
        "limits",
        "h = (1 + r − 1/S)/r² − e/r², whose first part tends to q/(T−q) with r → 0, and whose second is of order w",
        ("order_of_the_gap", "lag_of_the_best", "end"),
        "continuity",
    ),
    Inference(
        "increments",
        "as PSe² is of order w⁶, 1/L = (2q/d) ((T−q)/(q r²) + 1) + o(1); r' = r e^{−m}, and m/r² → ηd/((T−1)(T−q)), so "
        "that 1/L' − 1/L tends to (2(T−q)/d) · 2ηd/((T−1)(T−q)) = 4η/(T−1)",
        ("loss", "move", "order_of_the_gap", "ratio", "end"),
        "substitution",
    ),
    Inference("slope", "1/L_t divided by t tends to the same", ("increments",), rules.STOLZ_CESARO),
)


def derivation() -> Derivation:
    """Return the steps: the move of C, the lag of α, the increment of the inverse loss."""
    lag, fixed, rate, curve, second = CLAIMS
    return Derivation(
        (
            Step(
                "C moves by m, of second order in the odds",
                _at_zero(move / r**2),
                eta * d / ((T - 1) * (T - q)),
            ),
            Step(
                "the loss is of second order too",
                _at_zero(_substituted(loss, alpha_now, r) / r**2),
                d / (2 * (T - q)),
            ),
            Step("the lag h follows a contraction in the limit", lag.left, lag.right),
            Step("with its fixed point", fixed.left, fixed.right),
            Step("the increment of 1/L there; φ → 1 since m → 0", rate.left, rate.right),
            Step("the curve to first order in r", curve.left, curve.right),
            Step("the increment on it to second order", second.left, second.right),
        )
    )


_canary = partial(with_changes, STATEMENT)


inverse_loss_rate = Theorem(
    id="wang2024.inverse_loss_rate",
    title="If the loss tends to 0 and η < 2q, each step adds 4η/(T−1) to the inverse loss in the limit",
    source=Source("Figure 1's reading", "derived here", WANG2024, 'the caption says "inverse loss increases linearly"'),
    statement=STATEMENT,
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
