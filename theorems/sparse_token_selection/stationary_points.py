r"""All stationary points of the one-hot recursion: none is finite, and two are at infinity.

With e_α = 1 − αS and e_C = 1 − αP(1−w),

    ∂L/∂α = −(d/q) P e_α,    ∂L/∂C = −(d/q) α P (1−P) e_C,    S e_C − P(1−w) e_α = w.

At finite C, P and w are positive and P < 1, so a stationary point has e_α = 0, hence α ≠ 0 and
e_C = 0, hence w = 0: there is none. As C → +∞ the slope in α tends to d(α − 1)/q, so α = 1,
where L = 0; as C → −∞ (all attention on the other tokens) it tends to dα/(T−q), so α = 0, where
L = d/(2q). Training from zero has C ≥ 0, so that only the first is relevant. During training W keeps the direction of
I − 11ᵀ/T, whose cosine with W* = diag(0, I_T) is √(1 − 1/T), and V keeps the direction of V*.

Source: derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems.canaries import with_changes
from theorems.papers import WANG2024
from theorems.sparse_token_selection.reduced_dynamics import SHORTHANDS, C, P, Q, S, alpha, loss, w
from theorems.sparse_token_selection.task import (
    GAUSSIAN_TOKENS,
    LENGTH,
    LOSS_ON_THE_SET,
    NORMAL_MEAN,
    ONE_HOT,
    POPULATION_GRADIENT,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_QUERY,
    T,
    d,
    formal,
    q,
)
from verify import Derivation, Identity, Source, Statement, Step, Theorem

u = sp.Symbol("u", real=True)

e_alpha = 1 - alpha * S
e_C = 1 - alpha * P * (1 - w)

slope_alpha = sp.Derivative(loss, alpha)
slope_C = sp.Derivative(loss, C)


def _limit(expression: sp.Expr, *, others: bool = False) -> sp.Limit:
    """Return the limit as C → +∞ (u = e^{−C} → 0) or, for all attention on the others, as C → −∞ (u = e^C → 0)."""
    return sp.Limit(expression.doit().subs(C, sp.log(u) if others else -sp.log(u)), u, 0)


# I − 11ᵀ/T has T entries 1 − 1/T and T(T−1) entries −1/T; its inner product with I is its trace.
trace = T * (1 - 1 / T)
norm_squared = T * (1 - 1 / T) ** 2 + T * (T - 1) / T**2

CLAUSES = (
    Identity("slope_alpha", slope_alpha, -d / q * P * e_alpha, says="dL/dalpha = -(d/q) P (1 - alpha S)"),
    Identity("slope_C", slope_C, -d / q * alpha * P * Q * e_C, says="dL/dC = -(d/q) alpha P (1-P) (1 - alpha P (1-w))"),
    Identity("none_finite", S * e_C - P * (1 - w) * e_alpha, w, says="both slopes vanish only where w = exp(-C) = 0"),
    Identity(
        "alpha_at_plus_infinity",
        _limit(slope_alpha),
        d * (alpha - 1) / q,
        says="C -> +oo: dL/dalpha -> d (alpha - 1)/q",
    ),
    Identity("slope_C_at_plus_infinity", _limit(slope_C), sp.Integer(0), says="C -> +oo: dL/dC -> 0"),
    Identity(
        "loss_at_plus_infinity", _limit(loss), d * (alpha - 1) ** 2 / (2 * q), says="C -> +oo: L -> d (alpha - 1)²/(2q)"
    ),
    Identity(
        "alpha_at_minus_infinity",
        _limit(slope_alpha, others=True),
        d * alpha / (T - q),
        says="C -> -oo: dL/dalpha -> d alpha/(T-q)",
    ),
    Identity("slope_C_at_minus_infinity", _limit(slope_C, others=True), sp.Integer(0), says="C -> -oo: dL/dC -> 0"),
    Identity(
        "loss_at_minus_infinity",
        _limit(loss, others=True),
        d / (2 * q) + d * alpha**2 / (2 * (T - q)),
        says="C -> -oo: L -> d/(2q) + d alpha²/(2(T-q))",
    ),
    Identity("cosine", trace**2 / (norm_squared * T), 1 - 1 / T, says="cos(W, W*)² = 1 - 1/T for W along I - 11'/T"),
)

STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION),
    domain=(sp.Lt(q, T),),
    hypotheses=(GAUSSIAN_TOKENS, ONE_HOT, ZERO_QUERY, POPULATION_GRADIENT),
    variables=(alpha, C),
    claims=CLAUSES,
)


def derivation() -> Derivation:
    """Return the steps: the slopes factored, their combination, the limits, the direction."""
    by_label = {clause.label: clause for clause in CLAUSES}
    why = {
        "slope_alpha": "the slope in α",
        "slope_C": "the slope in C",
        "none_finite": "a combination of the two factors is w > 0: they do not vanish together at finite C",
        "alpha_at_plus_infinity": "the slope in α as C → +∞, zero at α = 1",
        "loss_at_plus_infinity": "the loss there, zero at α = 1",
        "alpha_at_minus_infinity": "the slope in α as C → −∞, zero at α = 0",
        "loss_at_minus_infinity": "the loss there",
        "cosine": "squared cosine of I − 11ᵀ/T with the identity",
    }
    steps = tuple(Step(text, by_label[label].left, by_label[label].right) for label, text in why.items())
    return Derivation(steps, shorthands=SHORTHANDS)


_canary = partial(with_changes, STATEMENT)


stationary_points = Theorem(
    id="wang2024.stationary_points",
    title="The one-hot recursion has no finite stationary point; at infinity α = 1 has loss 0 and α = 0 has d/(2q)",
    source=Source("stationary points", "derived here", WANG2024),
    statement=replace(
        STATEMENT,
        formal={
            "cosine": formal(stationary_cosine="stationary_points.cosine_holds"),
            **{
                label: formal(
                    NORMAL_MEAN, **{f"stationary_{label}": f"stationary_points.{label}_holds"}, **LOSS_ON_THE_SET
                )
                for label in (clause.label for clause in CLAUSES if clause.label != "cosine")
            },
        },
    ),
    example={"T": 200, "q": 3, "d": 5},
    derivation=derivation,
    canaries=(
        _canary("alpha tends to q instead of 1", "alpha_at_plus_infinity", right=d * (alpha - q) / q),
        _canary("a finite stationary point", "none_finite", right=sp.Integer(0)),
        _canary("the loss at minus infinity without the other tokens", "loss_at_minus_infinity", right=d / (2 * q)),
        _canary("the cosine is 1", "cosine", right=sp.Integer(1)),
    ),
    statement_uses=("wang2024.lemma1",),
    proof_uses=("wang2024.lemma1",),
)
