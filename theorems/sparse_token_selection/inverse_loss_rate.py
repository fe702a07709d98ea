r"""The rate of Theorem 1: 1/L grows by 4η/(T−1) a step in the limit, whatever q and d.

Write r = (T−q)e^{−C}/q for the odds against a selected token and α = 1 + r − h r². Then r' = r e^{−m}
with m = C' − C of order r², and as r → 0

    h' → (1 − η/q) h + η/(T−q),   with the fixed point h = q/(T−q),

which attracts for 0 < η < 2q; there, with φ = (1 − e^{−m})/m → 1,

    1/L' − 1/L → 4ηφ/(T−1).

To the next order the attracting curve is h = q/(T−q) + λr, λ = q(T−1−d)/((T−q)(T−1)), on which

    1/L' − 1/L = 4η/(T−1) · (1 − κ r² + O(r³)),   κ = (d(T−q−η) + 2q(T−1)) / ((T−q)(T−1)),

so that the slope is approached from below. That every run in the scope of Theorem 1 has such limits
is a hypothesis here, and assumed.

Source: derived here; the paper's Figure 1 reads "inverse loss increases linearly".
"""

from functools import partial

import sympy as sp

from theorems.canaries import with_changes
from theorems.papers import WANG2024
from theorems.sparse_token_selection.reduced_dynamics import C, alpha, loss, step_alpha, step_C
from theorems.sparse_token_selection.task import (
    GAUSSIAN_TOKENS,
    LENGTH,
    ONE_HOT,
    POPULATION_GRADIENT,
    STEP_SIZE,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_INITIALISATION,
    ZERO_QUERY,
    T,
    d,
    eta,
    q,
)
from verify import Derivation, Hypothesis, Identity, Inference, InWords, Source, Statement, Step, Theorem

r, h, phi = sp.symbols("r h phi", positive=True)


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
    return expression.subs(phi, 1 - move / 2).subs(h, h_fixed + lag_slope * r)  # pyright: ignore[reportReturnType]


CLAUSES = (
    Identity("lag", sp.Limit(h_next, r, 0), (1 - eta / q) * h + eta / (T - q), says="h' -> (1 - eta/q) h + eta/(T-q)"),
    Identity(
        "fixed_lag",
        ((1 - eta / q) * h + eta / (T - q)).subs(h, h_fixed),
        h_fixed,
        says="h = q/(T-q) is its fixed point",
    ),
    Identity(
        "rate",
        sp.Limit(increment.subs(h, h_fixed), r, 0),
        inverse_loss_slope * phi,
        says="1/L' - 1/L -> 4 eta phi/(T-1) at that h",
    ),
    Identity(
        "curve",
        sp.Limit((_on_curve(h_next) - h_fixed) / r, r, 0),
        lag_slope,
        says="h = q/(T-q) + q(T-1-d)/((T-q)(T-1)) r is kept to this order",
    ),
    Identity(
        "correction",
        sp.Limit((_on_curve(increment) / inverse_loss_slope - 1) / r**2, r, 0),
        -correction,
        says="there 1/L' - 1/L = 4 eta/(T-1) (1 - kappa r² + O(r³)), kappa = (d(T-q-eta) + 2q(T-1))/((T-q)(T-1))",
    ),
)

CLAIMS, STEPS = CLAUSES[2:], CLAUSES[:2]
SLOPE = InWords("slope", "along a run whose odds tend to 0 and whose lag tends to a limit, 1/(t L_t) -> 4 eta/(T-1)")
LIMITS = Hypothesis("limits", text="along the run the odds r tend to 0, and the lag h tends to a limit")

STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, STEP_SIZE),
    domain=(sp.Lt(q, T),),
    hypotheses=(LAG_ATTRACTS, LIMITS, GAUSSIAN_TOKENS, ONE_HOT, ZERO_QUERY, ZERO_INITIALISATION, POPULATION_GRADIENT),
    variables=(h, phi, r),
    claims=(*CLAIMS, SLOPE),
    steps=STEPS,
)
ARGUMENT = (
    Inference(
        "exponent",
        "m, the move of C, is of second order in the odds, so that φ = (1 − e^{−m})/m → 1",
        (
            *("limits", "wang2024.lemma1", "gaussian_tokens", "one_hot", "zero_query"),
            *("zero_initialisation", "population_gradient"),
        ),
        "continuity",
    ),
    Inference(
        "limit_of_the_lag",
        "the next lag is a continuous function of r, h and φ: in the limit h = (1 − η/q) h + η/(T−q), which only "
        "q/(T−q) solves",
        ("limits", "lag", "fixed_lag", "exponent"),
        "continuity",
    ),
    Inference(
        "increments",
        "the increment of 1/L is a continuous function of r, h and φ, at r = 0 too: along the run it tends to its "
        "value at r = 0, h = q/(T−q), φ = 1, which is 4η/(T−1)",
        ("rate", "exponent", "limit_of_the_lag", "limits", "wang2024.lemma1"),
        "continuity",
    ),
    Inference("slope", "1/L_t divided by t tends to the same", ("increments",), "Stolz-Cesàro"),
)


def derivation() -> Derivation:
    """Return the steps: the move of C, the lag of α, the increment of the inverse loss."""
    lag, fixed, rate, curve, second = CLAUSES
    return Derivation(
        (
            Step(
                "C moves by m, of second order in the odds",
                sp.Limit(move / r**2, r, 0),
                eta * d / ((T - 1) * (T - q)),
            ),
            Step(
                "the loss is of second order too",
                sp.Limit(_substituted(loss, alpha_now, r) / r**2, r, 0),
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
    title="If the odds and the lag tend to their limits, each step adds 4η/(T−1) to the inverse loss in the limit",
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
    statement_uses=("wang2024.lemma1",),
    proof_uses=("wang2024.lemma1",),
    argument=ARGUMENT,
)
