r"""Theorem 1's loss at d = 2 has a local minimum over all P and Q that is not global, for few examples.

Σ = diag(λ, ℓ), ℓ < λ, w* ~ N(0, I), t = tr Σ. The prediction sees the last row p = (v, β) of P and the columns
q_j = (u_j, τ_j) of Q, j = 1, 2. As in `components`, f = λ F_1 + ℓ F_2 with M_j the symmetric part of u_j vᵀ and

    F_j = E (tr(S M_j) + β τ_j wᵀSw)² + 1 + 2 λ_j c_jj + Σ_i g_i c_ji²,    c_j = β u_j + τ_j v,

g_i = λ_i ((n + 1) λ_i + t)/n. At p = (1, 0, 0), q_1 = (0, 0, −a), q_2 = 0 with a = λ/g_1, Theorem 1's a_1, the label
stands in Q in place of P: this step uses the first coordinate alone, and f exceeds its least value by ℓ² a_2, where
a_2 = ℓ/g_2.

With v_1 = 1 fixed by scaling, half the second derivative there is a sum of squares

    λ³ (n+2)/n (u_11 − κ β)² + (λ ℓ²/n)(u_22 + n β/λ)² + (λ² a² V − n ℓ²) β²/λ + (λ² ℓ/n) u_12² + (λ² ℓ (n+2)/n) u_21²
    + λ g_1 τ_1² + ℓ g_1 (τ_2 + ℓ v_2/g_1)² + (λ a² g_2 − ℓ³/g_1) v_2²,

where V is what is left of E (wᵀSw)² when S_11 is taken off. The last factor is positive as ℓ < λ, that of β² where
n ℓ² < λ² a² V: for few examples, or small ℓ. With λ and ℓ exchanged, the label in Q at the smaller eigenvalue, the last
factor is negative, and the point a saddle.

For any d the same point at an eigenvalue λ_k is, by hand, a local minimum where λ_k is above all others and
n Σ_{j≠k} λ_j² < λ_k² a_k² V, and f exceeds its least value there by Σ_{j≠k} λ_j² a_j: each j ≠ k has its own square
(u_jj + n β/λ_k)² and its own v_j². At d = 3 that is held against quadrature in `paper_checks`; the statement is for
d = 2.

Source: derived here; Ahn et al. 2023, Theorem 1, is about the global minimum.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.components import GAUSSIAN_TOKENS, ONE_LAYER, curvature, size
from theorems.preconditioned_descent.one_layer import PREDICTION, STANDARD_PRIOR
from theorems.preconditioned_descent.setting import EXAMPLES, LINEAR_ATTENTION, n, r
from theorems.wishart.word_moments import word_formula
from verify import (
    Derivation,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
)

lam, ell = sp.symbols("largest smaller", positive=True)
LARGEST = Parameter("largest", "rational", "the larger eigenvalue of Sigma", above=0)
SMALLER = Parameter("smaller", "rational", "the smaller one", above=0)
t, squares = lam + ell, lam**2 + ell**2
g1, g2 = (curvature(x, sp.S.One, t) for x in (lam, ell))
a, a2 = lam / g1, ell / g2
e, v2, beta, u11, u12, u21, u22, tau1, tau2, v1 = DIRECTION = sp.symbols(
    "e v_2 beta u_11 u_12 u_21 u_22 tau_1 tau_2 v_1", real=True
)
LABELS = (n + 2) / n * (t**2 + 2 * squares)
"""E (wᵀSw)²."""
LEFT = LABELS - (n * t + 2 * lam) ** 2 / (n * (n + 2))
"""V."""
SIGMA = sp.diag(lam, ell)


def loss(v: sp.Matrix, beta: sp.Expr, columns: tuple[sp.Matrix, sp.Matrix], last: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
    """Return f at P's last row (v, β) and Q's columns (u_j, τ_j)."""
    total = sp.S.Zero
    for j, (eigenvalue, u, tau) in enumerate(zip((lam, ell), columns, last, strict=True)):
        M = (u * v.T + v * u.T) / 2
        mean, corner = (SIGMA * M).trace(), beta * tau
        first, second = (beta * u[i] + tau * v[i] for i in range(2))
        own = (first, second)[j]
        even = mean**2 + 2 * (SIGMA * M * SIGMA * M).trace() / n
        even += 2 * corner * (mean * t + 2 * (SIGMA * SIGMA * M).trace() / n) + corner**2 * LABELS
        total += eigenvalue * (even + 1 + 2 * eigenvalue * own + g1 * first**2 + g2 * second**2)
    return total  # pyright: ignore[reportReturnType]


def near(position: sp.Expr) -> sp.Expr:
    """Return f at the point with τ_1 = −position, moved by e in all directions."""
    v = sp.Matrix([1 + e * v1, e * v2])
    columns = sp.Matrix([e * u11, e * u12]), sp.Matrix([e * u21, e * u22])
    return loss(v, e * beta, columns, (e * tau1 - position, e * tau2))


def _slope(position: sp.Expr) -> sp.Expr:
    return sp.diff(near(position), e).subs(e, 0)  # pyright: ignore[reportReturnType]


_KAPPA = a * (n * t + 2 * lam) / ((n + 2) * lam)
_LAST = lam * a**2 * g2 - ell**3 / g1
STATIONARY = Identity("stationary", _slope(a), sp.S.Zero, "all slopes of f vanish at the point")
CURVED = Identity(
    "curved",
    sp.diff(near(a).subs(v1, 0), e, 2).subs(e, 0) / 2,  # pyright: ignore[reportOperatorIssue]
    lam**3 * (n + 2) / n * (u11 - _KAPPA * beta) ** 2
    + lam * ell**2 / n * (u22 + n * beta / lam) ** 2
    + (lam**2 * a**2 * LEFT - n * ell**2) / lam * beta**2
    + lam**2 * ell / n * u12**2
    + lam**2 * ell * (n + 2) / n * u21**2
    + lam * g1 * tau1**2
    + ell * g1 * (tau2 + ell * v2 / g1) ** 2
    + _LAST * v2**2,
    "with v_1 = 1, half the second derivative is h_1 (u_11 - kappa beta)^2 + h_2 (u_22 + n beta/largest)^2 + h_3 "
    "(largest^2 a^2 V - n smaller^2) beta^2 + h_4 u_12^2 + h_5 u_21^2 + h_6 tau_1^2 + h_7 (tau_2 + smaller v_2/g_1)^2 "
    "+ c v_2^2, all h_i > 0",
)
POSITIVE = Inequality("c", sp.Gt(_LAST, 0, evaluate=False), "c > 0")
_EXCHANGED = _LAST.subs({lam: ell, ell: lam}, simultaneous=True)
NEGATIVE = Inequality("c_exchanged", sp.Lt(_EXCHANGED, 0, evaluate=False), "with largest and smaller exchanged, c < 0")
ABOVE = Identity(
    "above",
    near(a).subs(e, 0),
    lam * (1 - lam * a) + ell * (1 - ell * a2) + ell**2 * a2,
    "f there exceeds its least value by smaller^2 a_2, a_2 = 1/((n+1) smaller/n + (largest + smaller)/n)",
)
LOCAL = InWords(
    "local",
    "at P = e_3 e_1', Q = -a e_3 e_1' in an eigenbasis of Sigma, a = 1/((n+1) largest/n + (largest + smaller)/n), f "
    "over all P and Q has a local minimum that is not global, strict but for rescaling and what the prediction "
    "does not see",
)
SADDLE = InWords(
    "saddle",
    "at P = e_3 e_2', Q = -b e_3 e_2', e_2 the eigenvector of smaller and b = 1/((n+1) smaller/n + (largest + "
    "smaller)/n), all slopes of f over all P and Q vanish, and it is a saddle",
)
STATEMENT = Statement(
    parameters=(EXAMPLES, LARGEST, SMALLER),
    hypotheses=(
        LINEAR_ATTENTION,
        ONE_LAYER,
        GAUSSIAN_TOKENS,
        STANDARD_PRIOR,
        Hypothesis("two_dimensions", text="d = 2, Sigma has the eigenvalues largest and smaller"),
        Hypothesis("different", sp.Lt(ell, lam), "smaller < largest"),
        Hypothesis(
            "few_examples",
            sp.Lt(n * ell**2, lam**2 * a**2 * LEFT),
            "n smaller^2 < largest^2 a^2 V, V = (n+2)/n (t^2 + 2 tr Sigma^2) - (n t + 2 largest)^2/(n (n+2)), where t "
            "is tr Sigma",
        ),
    ),
    variables=(*DIRECTION, r, size),
    claims=(LOCAL, ABOVE, SADDLE),
    steps=(PREDICTION, STATIONARY, CURVED, POSITIVE, NEGATIVE),
)
ARGUMENT = (
    Inference(
        "seen",
        "in an eigenbasis of Σ the prediction sees the last row (v, β) of P and the columns (u_j, τ_j) of Q alone, and "
        "f is λ_1 F_1 + λ_2 F_2, F_j = E (p'Gq_j + w_j)²",
        ("prediction", "linear_attention", "one_layer", "gaussian_tokens", "two_dimensions"),
        "independent factors",
    ),
    Inference(
        "loss",
        "F_j is the mean square of its part tr(S M_j) + β τ_j w'Sw, which is even in w*, and that of its odd part, "
        "1 + 2 λ_j c_jj + Σ g_i c_ji²: f is the polynomial that the steps have",
        ("seen", "standard_prior", "gaussian_tokens"),
        "Gaussian moments",
    ),
    Inference(
        "definite",
        "at the point with v_1 = 1 all slopes vanish and the second derivatives are positive definite",
        ("loss", "stationary", "curved", "few_examples", "c"),
        "nonnegative terms",
    ),
    Inference(
        "rescaled",
        "near the point v_1 > 0, and P/v_1, Q v_1 has the same f and v_1 = 1",
        ("ahn2023.theorem1:rescaling", "definite"),
        "substitution",
    ),
    Inference(
        "minimum",
        "so f is nowhere lower near the point, and higher but for rescaling and what is not seen",
        ("definite", "rescaled", "seen"),
        "second-order condition",
    ),
    Inference(
        "local",
        "and it is not the least value of f",
        ("minimum", "above", "ahn2023.theorem1:global"),
        "substitution",
    ),
    Inference(
        "exchanged",
        "the slopes and the second derivative are as they are for any two positive eigenvalues: with largest and "
        "smaller exchanged, they are those at the smaller one",
        ("loss", "stationary", "curved"),
        "substitution",
    ),
    Inference(
        "saddle",
        "there the second derivative is negative along v_2 with tau_2 = -largest v_2/g, g = g_1 exchanged, and "
        "positive along tau_1",
        ("exchanged", "c_exchanged"),
        "indefinite Hessian",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the Gaussian moments of the even part, and the loss of the pattern."""
    moments = (word_formula(words, {"M", "I"}) for words in ([["M"], ["I"]], [["I"], ["I"]], [["I", "I"]]))
    # M = e_1 e_1'.
    traces = {("M",): lam, ("I",): t, ("I", "M"): lam**2, ("I", "I"): squares}
    mixed, one, two = (
        sum((c * sp.Mul(*(traces[tuple(sorted(word))] for word in key)) for key, c in moment.items()), sp.S.Zero)
        for moment in moments
    )
    x, y = sp.symbols("x y", real=True)
    pattern = loss(sp.zeros(2, 1), sp.S.One, (sp.Matrix([-x, 0]), sp.Matrix([0, -y])), (sp.S.Zero, sp.S.Zero))
    return Derivation(
        (
            Step("E S_11 tr S = E S_11² + E S_11 E S_22", mixed, lam**2 * (n + 2) / n + lam * ell),
            Step("E (w'Sw)² = E (tr S)² + 2 E tr S²", one + 2 * two, LABELS),
            Step(
                "the loss of pattern (8)",
                pattern,
                sum(z - 2 * z**2 * p + z * g * p**2 for z, g, p in ((lam, g1, x), (ell, g2, y))),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)

one_layer_local_minimum = Theorem(
    id="ahn2023.one_layer_local_minimum",
    title="One layer over all P and Q: a local minimum that is not global, with the label in Q in place of P",
    source=Source("Theorem 1, other minima", "derived here", AHN2023),
    statement=STATEMENT,
    example={"n": 1, "largest": 1, "smaller": "1/2"},
    values={
        "loss": lam * (1 - lam * a) + ell,
        "least_loss": lam * (1 - lam * a) + ell * (1 - ell * a2),
        "above": ell**2 * a2,
    },
    derivation=derivation,
    canaries=(
        _canary("a step without the trace", replace(STATIONARY, left=_slope(n / ((n + 1) * lam)), says="")),
        _canary("twice as curved", replace(CURVED, right=2 * CURVED.right, says="")),
        _canary("a saddle", replace(POSITIVE, relation=sp.Le(*POSITIVE.relation.args, evaluate=False), says="")),
        _canary(
            "a minimum at the smaller eigenvalue",
            replace(NEGATIVE, relation=sp.Ge(*NEGATIVE.relation.args, evaluate=False), says=""),
        ),
        _canary("the least value", replace(ABOVE, right=ABOVE.right - ell**2 * a2, says="")),
    ),
    proof_uses=("ahn2023.theorem1",),
    argument=ARGUMENT,
)
