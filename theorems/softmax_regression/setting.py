r"""Softmax regression, its shifts, and the largest eigenvalue of the softmax Jacobian.

Regression. A ∈ R^{n×d}, b ∈ R^n, f(x) = softmax(Ax) ∈ R^n; minimise ½‖f(x) − b‖². *Weight shift*: if x moves to x', the
target b̃ = b − f(x') + f(x) leaves the residual unchanged, f(x') − b = f(x) − b̃. *Data shift*: the same if A moves to
A'. In both cases b̃ − b is minus the move of the prediction.

Jacobian. With p = softmax(z), the Jacobian in the logits is J = diag(p) − ppᵀ, J1 = 0 and vᵀJv is the variance of v
under p. Let M, m be the largest and the least entry of v (n ≥ 2), μ its mean under p, and τ ≤ p_i for all i. For v ⟂ 1
let c = Σ_i (p_i − τ)(M − v_i)(v_i − m) ≥ 0. Then

    Var_p(v) = (M − μ)(μ − m) + τ(‖v‖² + n M m) − c,

and ‖v‖² = M² + m² + k with k ≥ 0. So, with q = (M + m)²,

    ½‖v‖² (1 − (n−2)τ) − Var_p(v) = k (1 − nτ)/2 + q (1 − 2nτ)/4 + (μ − (M + m)/2)² + c,

and the largest eigenvalue of J is at most (1 − (n−2)τ)/2 if τ ≤ 1/(2n), and so at most 1/2 for every p (τ = 0). The
first bound is reached at every τ by p = (s, s, τ … τ), and 1/2 by p = (½, ½, 0 …). In the clause the mean is in the
lower half of the range (otherwise take −v): μ − m = b, M − μ = b + e with b, e ≥ 0, and h = 1 − 2nτ.

Two logits of a vector in a ball of radius ρ differ by at most √2 ρ, so that p_i ≥ τ = 1/(1 + (n−1) e^{√2 ρ}), and
nτ ≤ 1/2 if √2 ρ ≥ log 3.

Free bounds, which need no norms. ‖f − f'‖ < √2 for any two softmax outputs. If every logit moves by a Δ with |Δ| ≤ ε,
y = e^Δ is between 1/B and B, B = e^ε. With g = E y and the chord of the convex (1 − y/g)₊ on [1/B, B], the total
variation is at most (B − g)(g − 1/B)/(g (B − 1/B)) ≤ (B − 1)/(B + 1) = tanh(ε/2). If the entries of w add up to 0,
‖w‖ ≤ ‖w‖₁/√2. So the prediction moves by at most √2 tanh(ε/2). At n = 2 it moves by this much from logits (−ε/2, ε/2)
to (ε/2, −ε/2).

Source: Li et al. 2024 for the regression and the shifts; the rest is derived here.
"""

from functools import partial

import sympy as sp

from theorems.formal_texts import formal_text_of
from verify import Hypothesis, Identity, Inequality, Parameter, Step

n, d = sp.symbols("n d", integer=True, positive=True)
R = sp.Symbol("R", positive=True)

ROWS = Parameter("n", "integer", "rows of A: length of the document", minimum=1)
DIMENSION = Parameter("d", "integer", "columns of A", minimum=1)
RADIUS = Parameter("R", "rational", "bound on the spectral norm of A and on the norm of x", above=0)
LARGE_RADIUS = Hypothesis("large_radius", sp.Ge(R, 4))

# An entry of the prediction before and after a move, and of the old and the new target.
before, after, target, new_target = sp.symbols("before after target new_target", real=True)

# Symbols for the bound of the largest eigenvalue; the docstring of this module defines them.
b, e, c, k, q, h = sp.symbols("b e c k q h", nonnegative=True)
# The difference of two logits.
apart = sp.Symbol("t", real=True)
# B − 1 and g of the free bounds.
rise, mean = sp.symbols("rise g", positive=True)
top = 1 + rise
tau, norm, variance = sp.symbols("tau norm variance", real=True)

VARIABLES = (before, after, target, b, e, c, k, q, h, rise, mean)
DEFINITIONS = {
    new_target: target - after + before,
    tau: (1 - h) / (2 * n),
    # M² + m² = ((M + m)² + (M − m)²)/2 and M m = ((M + m)² − (M − m)²)/4.
    norm: k + q / 2 + (2 * b + e) ** 2 / 2,
    variance: b * (b + e) - c + tau * (norm + n * (q - (2 * b + e) ** 2) / 4),
}

# A row's own logit and another row's; the exponentials of the remaining logits add up to S.
own_logit, other_logit = sp.symbols("z_i z_j", real=True)
others = sp.Symbol("S", positive=True)
_rows = sp.exp(own_logit) + sp.exp(other_logit) + others
_own, _other = (sp.exp(logit) / _rows for logit in (own_logit, other_logit))
JACOBIAN = (
    Identity(
        "own_logit", sp.Derivative(_own, own_logit), _own - _own * _own, "p_i has the slope p_i - p_i p_i in its logit"
    ),
    Identity(
        "other_logit",
        sp.Derivative(_own, other_logit),
        -_own * _other,
        "p_i has the slope -p_i p_j in another row's logit",
    ),
)
JACOBIAN_VARIABLES = (own_logit, other_logit, others)

RESIDUAL = Identity(
    "residual", after - target, before - new_target, "the new target b - f' + f leaves the residual as it is"
)
EIGENVALUE = Inequality(
    "eigenvalue",
    sp.Le(variance, norm * (1 - (n - 2) * tau) / 2),
    "v'(diag(p) - pp')v <= (1 - (n-2) tau)/2 |v|^2 for all v orthogonal to 1, where tau <= p_i and tau <= 1/(2n)",
)

HALF = R / 2
"""The bound on the move of the prediction at a move of length 1: ½ ‖A‖ ‖x' − x‖ or ½ ‖A' − A‖ ‖x‖."""
log_claimed = 3 * sp.log(n) / 2 + 10 * R**2
BOUND = Inequality("bound", sp.Le(sp.log(HALF), log_claimed), "R/2 <= n^(3/2) exp(10 R^2), in logarithms")
_least_value = 1 - 1 / (top * mean)
_chord = (top - mean) * (mean - 1 / top) / (mean * (top - 1 / top))
CHORD = Identity(
    "chord",
    (top - 1) / (top + 1) - _chord,
    top * (mean - 1) ** 2 / (mean * (top**2 - 1)),
    "(B-1)/(B+1) exceeds (B-g)(g-1/B)/(g(B-1/B)) by B(g-1)^2/(g(B^2-1))",
)
CHORD_VALUE = Identity(
    "chord_value",
    _least_value * (top - mean) / (top - 1 / top),
    _chord,
    "the chord of max(1 - y/g, 0) on [1/B, B] is (B-g)(g-1/B)/(g(B-1/B)) at y = g",
)
CHORD_ABOVE = Inequality(
    "chord_above",
    sp.Ge(CHORD.right, 0, evaluate=False),
    "B(g-1)^2/(g(B^2-1)) >= 0 for B > 1, g > 0",
)
MOVED_SHARE = Identity(
    "moved_share",
    sp.exp(own_logit + apart) / (others * mean),
    sp.exp(own_logit) / others * sp.exp(apart) / mean,
    "f' = f y/g at a logit that moves by t, y = e^t, where the sum S of the exponentials becomes S g",
)
HALF_TANGENT = Identity(
    "half_tangent",
    (sp.exp(apart) - 1) / (sp.exp(apart) + 1),
    (sp.exp(apart / 2) - sp.exp(-apart / 2)) / (sp.exp(apart / 2) + sp.exp(-apart / 2)),
    "(e^t - 1)/(e^t + 1) = tanh(t/2)",
)
ALONG_THE_PAIR = Identity(
    "along_the_pair",
    sp.Subs(sp.Derivative(sp.exp(R * apart) / (sp.exp(R * apart) + sp.exp(-R * apart)), apart), apart, 0),
    HALF,
    "at n = 2 and the logits R t, -R t, f_1 has the slope R/2 at t = 0",
)
PAIR = Identity(
    "pair",
    sp.Subs(sp.Derivative((sp.exp(apart) - 1) / (sp.exp(apart) + 1), apart), apart, 0),
    sp.S.Half,
    "at n = 2, f_1 - f_2 = (e^t - 1)/(e^t + 1), t the difference of the logits, has the slope 1/2 at t = 0",
)


def derivation_steps() -> tuple[Step, ...]:
    """Return the steps that both shifts share: the Jacobian, its largest eigenvalue, families, free bounds."""
    M, m, v, p, mu, total = sp.symbols("M m v p mu total", real=True)
    p1, p2, v1, v2, v3 = sp.symbols("p1 p2 v1 v2 v3", real=True)
    z, w, t, K, S = *sp.symbols("z w t K", real=True), sp.Symbol("S", positive=True)
    p3, own = 1 - p1 - p2, sp.exp(z) / (sp.exp(z) + S)
    s, spike = sp.exp(t) / (2 * sp.exp(t) + n - 2), sp.exp(t) / (sp.exp(t) + n - 1)
    # Moments under p: E v² is `second`, and Σ v_i = 0, so that Σ (M − v_i)(v_i − m) = −‖v‖² − n M m.
    second = (M + m) * mu - M * m - K + tau * (total + n * M * m)
    slack = (
        (total - M**2 - m**2) * (1 - n * tau) / 2 + (M + m) ** 2 * (1 - 2 * n * tau) / 4 + (mu - (M + m) / 2) ** 2 + K
    )
    return (
        Step("softmax: an entry's slope in its own logit is p(1 − p)", sp.Derivative(own, z), own * (1 - own)),
        Step(
            "and in another logit, whose exponential is part of S, −p p'",
            sp.Subs(sp.Derivative(sp.exp(z) / (sp.exp(z) + S + sp.exp(t)), t), t, w),
            -sp.exp(z) * sp.exp(w) / (sp.exp(z) + S + sp.exp(w)) ** 2,
        ),
        Step(
            "vᵀ(diag(p) − ppᵀ)v is a variance; three entries, p_1 + p_2 + p_3 = 1",
            p1 * v1**2 + p2 * v2**2 + p3 * v3**2 - (p1 * v1 + p2 * v2 + p3 * v3) ** 2,
            p1 * p2 * (v1 - v2) ** 2 + p1 * p3 * (v1 - v3) ** 2 + p2 * p3 * (v2 - v3) ** 2,
        ),
        Step(
            "one summand of c, which is not negative; with Σ p_i = 1 and Σ v_i = 0 the summands add up to c",
            (p - tau) * (M - v) * (v - m),
            (M + m) * p * v - p * v**2 - M * m * p - tau * (M + m) * v + tau * v**2 + tau * M * m,
        ),
        Step(
            "so the margin of the eigenvalue, with K for c, is a sum of terms that are not negative if 2nτ ≤ 1",
            total * (1 - (n - 2) * tau) / 2 - (second - mu**2),
            slack,
        ),
        Step(
            "a pair with logits t above the n − 2 others: 1/s = 2 + (n−2)e^{−t}; v = (1, −1, 0 …)/√2 has Jv = s v",
            1 / s,
            2 + (n - 2) * sp.exp(-t),
        ),
        Step(
            "shifted to mean 0 the pair's logits have norm² t²·2(n−2)/n",
            2 * (t * (n - 2) / n) ** 2 + (n - 2) * (2 * t / n) ** 2,
            2 * t**2 * (n - 2) / n,
        ),
        Step(
            "one logit t above the n − 1 others, P its probability: J v = P(1−P) n/(n−1) v for v = e_1 − 1/n",
            spike * (1 - 1 / n) - spike * (spike - 1 / n),
            spike * (1 - spike) * n / (n - 1) * (1 - 1 / n),
        ),
        Step("small moves: (B−1)/(B+1) is the largest total variation", CHORD.left, CHORD.right),
        Step("the new target leaves the residual unchanged", after - target, before - new_target),
    )


formal = partial(formal_text_of, "SoftmaxRegression")
"""Function that returns the formal text of a claim of this area."""
