r"""Theorem 5 without its hypothesis on Q: the last row of Q need not be zero for the minimiser to be global.

Let (bᵀ, β) be the last row of P and (A; qᵀ) the first d columns of Q. The query x gives example i the weight σ(x_iᵀ v),
v = A x + (qᵀx) w*. With c = b + β w* the mean squared error over the examples is, for given w* and x,

    (w*ᵀx)² + (w*ᵀx)(cᵀv) + κ_1 (cᵀv)² + |c|² |v|²/(2n),    κ_1 = 1/n + (n−1)/(4n).

With N = βA, R = b qᵀ and M = N + R, f exceeds Theorem 5's d + tr M + κ‖M‖² by κ_1 times a mean of squares and by a
positive multiple of u² + d(d+2) v² − 2(d−2) ⟨N, R⟩, where v is now the number |β|‖q‖ and u = ‖b‖‖A‖. Because
|⟨N, R⟩| ≤ u v, this expression is a sum of squares.

Source: derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.relu_layer import (
    COLUMNS,
    ISOTROPIC,
    NORMAL,
    RELU_ATTENTION,
    attended,
    best,
    examples_attended,
    kappa,
    kappa_1,
    least_at,
    other_attended,
    square_of_error,
    steps_along,
)
from theorems.preconditioned_descent.setting import DIMENSION, EXAMPLES, A, X, b, beta, d, n, t, w, x
from theorems.preconditioned_descent.trials.one_layer_minimum import DRAWS
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.word_moments import word_formula
from verify import (
    Derivation,
    Evaluation,
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    MatrixIdentity,
    Source,
    Statement,
    Step,
    Theorem,
    matrix,
)

trace, rho, s = sp.symbols("tr_M rho s", real=True)
norm_N, norm_R, even = sp.symbols("N2 R2 even", nonnegative=True)
u, v = sp.symbols("u v", nonnegative=True)

norm_M = norm_N + norm_R + 2 * rho
loss = d + trace + kappa_1 * (norm_M + even) + (d * (norm_N + norm_R) + 4 * rho + u**2 + d * (d + 2) * v**2) / (2 * n)
"""f in terms of tr M, ‖N‖², ‖R‖², ρ = ⟨N, R⟩, u, v and the mean square `even` of bᵀA x + β (qᵀx) |w*|²."""
with_zero_row = d + trace + kappa * norm_M
tr_A, q_b, dot, norm_A, norm_b, norm_q, norm_Ab = ENTRIES = sp.symbols("trA q_b bAq A2 b2 q2 Ab2", real=True)
"""tr A, qᵀb, bᵀA q, ‖A‖², |b|², |q|² and |Aᵀb|²."""
_q = matrix("q")
_direction = A * x + w * t(_q) * x
SEEN = MatrixIdentity(
    "seen",
    (t(b) * X + beta * t(w) * X) * (t(X) * A + t(X) * w * t(_q)) * x,
    t(b + beta * w) * X * t(X) * _direction,
    {X: (d, n), A: (d, d), **dict.fromkeys((b, w, _q, x), (d, sp.S.One))},
    says="without relu, with P's last row (b', beta), Q's columns (A; q') and labels w'X, the sum over the examples at "
    "the query x is (b + beta w)' X X'v, v = A x + w q'x",
)
LOSS = GaussianMoment(
    "loss",
    square_of_error(attended, other_attended),
    loss.subs(
        {
            trace: beta * tr_A + q_b,
            norm_N: beta**2 * norm_A,
            norm_R: norm_b * norm_q,
            rho: beta * dot,
            u**2: norm_b * norm_A,
            v**2: beta**2 * norm_q,
            even: norm_Ab + 2 * beta * d * dot + beta**2 * d * (d + 2) * norm_q,
        }
    ),
    {**COLUMNS, b: (d, sp.S.One), _q: (d, sp.S.One), A: (d, d)},
    NORMAL,
    examples_attended(b + beta * w, _direction),
    {
        A: tr_A,
        t(_q) * b: q_b,
        t(b) * A * _q: dot,
        A * t(A): norm_A,
        t(b) * b: norm_b,
        t(_q) * _q: norm_q,
        t(b) * A * t(A) * b: norm_Ab,
    },
    steps=steps_along(_direction),
    says="E label^2 + 2 label h(y) theta_y + h(y)^2 theta_y/n + (n-1)/n h(y) theta_y h(z) theta_z is d + tr M + "
    "kappa_1 (||M||^2 + even) + (d (||N||^2 + ||R||^2) + 4 rho + u^2 + d(d+2) v^2)/(2n); label = w'x, "
    "h(y) = (b + beta w)' y y'v, theta_y = theta(y'v), relu(s) = s theta(s), v = A x + (q'x) w, N = beta A, "
    "R = b q', M = N + R, rho = <N, R>, u = |b| ||A||, v^2 = beta^2 |q|^2, "
    "even = |A'b|^2 + 2 beta d b'Aq + beta^2 d(d+2) |q|^2",
)
_one, _two = sp.symbols("one two", real=True)
SQUARE_OF_ERROR = Identity(
    "square_of_error",
    (_one + _two / n) ** 2,
    _one**2 + 2 * _one * (_two / n) + _two**2 / n**2,
    "the square of label + sum/n is label^2 + 2 label sum/n + sum^2/n^2",
)
PAIRS = Identity(
    "pairs",
    (n * _one + (n**2 - n) * _two) / n**2,
    _one / n + (n - 1) / n * _two,
    "of n^2 pairs, n are of one example and n^2 - n of two: (n p + (n^2 - n) q)/n^2 = p/n + (n-1)/n q",
)
_part = sp.Symbol("part", real=True)
EVEN_SQUARE = GaussianMoment(
    "even_square",
    _part**2,
    norm_Ab + 2 * beta * d * dot + beta**2 * d * (d + 2) * norm_q,
    {x: (d, sp.S.One), w: (d, sp.S.One), b: (d, sp.S.One), _q: (d, sp.S.One), A: (d, d)},
    {x: None, w: None},
    {_part: t(b) * A * x + beta * t(_q) * x * t(w) * w},
    {t(b) * A * t(A) * b: norm_Ab, t(b) * A * _q: dot, t(_q) * _q: norm_q},
    says="E (b'Ax + beta (q'x) |w|^2)^2 is even, |A'b|^2 + 2 beta d b'Aq + beta^2 d(d+2) |q|^2",
)
excess = u**2 + d * (d + 2) * v**2 - 2 * (d - 2) * rho

EXCESS = Identity(
    "excess",
    loss - with_zero_row,
    kappa_1 * even + excess / (2 * n),
    says="f exceeds d + tr M + kappa ||M||^2 by kappa_1 E(even part)^2 + (u^2 + d(d+2) v^2 - 2(d-2) rho)/(2n)",
)
SQUARES = Identity(
    "squares",
    excess.subs(rho, s * u * v),
    (u - (d - 2) * s * v) ** 2 + (6 * d - 4 + (d - 2) ** 2 * (1 - s**2)) * v**2,
    says="with rho = s u v the excess is (u - (d-2) s v)^2 + (6d - 4 + (d-2)^2 (1 - s^2)) v^2",
)
ABOVE = Implication(
    "positive_factor",
    (sp.Le(s**2, 1),),
    sp.Gt(6 * d - 4 + (d - 2) ** 2 * (1 - s**2), 0),
    "6d - 4 + (d-2)^2 (1 - s^2) > 0 where s^2 <= 1",
)
WITHOUT_R = Identity(
    "without_r",
    loss.subs(dict.fromkeys((norm_R, rho, even, u, v), sp.S.Zero)),
    d + trace + kappa * norm_N,
    says="where R, u, v and the even part are 0, f is d + tr M + kappa ||N||^2",
)
POSITIVE = Inequality("positive", sp.Gt(6 * d - 4, 0, evaluate=False), "6d - 4 > 0")

GLOBAL = InWords("global", "Theorem 5's P and Q minimise f over all P and Q, the last row of Q free as well")

STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(RELU_ATTENTION, ISOTROPIC),
    variables=(trace, rho, s, norm_N, norm_R, even, u, v, beta, *ENTRIES, _one, _two),
    claims=(GLOBAL,),
    steps=(SEEN, SQUARE_OF_ERROR, PAIRS, LOSS, EVEN_SQUARE, EXCESS, SQUARES, POSITIVE, ABOVE, WITHOUT_R),
)
ARGUMENT = (
    Inference(
        "loss_of_two_examples",
        "let c = b + βw* and v = Ax + (q'x)w*. By `seen` an example x_i adds c'x_i σ(x_i'v), so that f is the mean "
        "square of (1/n) Σ c'x_i σ(x_i'v) + w*'x. Of the n² pairs of examples, n pair an example with itself, and the "
        "others are of two independent examples: f is the mean in `loss`",
        ("relu_attention", "isotropic", "seen", "square_of_error", "pairs", "loss"),
        "linearity of expectation",
    ),
    Inference(
        "even_part",
        "the number `even` in this mean is E (b'Ax + β (q'x)|w*|²)², and so not negative",
        ("isotropic", "even_square"),
        "nonnegative terms",
    ),
    Inference("correlation", "|⟨N, R⟩| ≤ u v, u = |b||A|, v = |β||q|", ("loss_of_two_examples",), "Cauchy-Schwarz"),
    Inference(
        "above",
        "f is at least Theorem 5's d + tr M + κ|M|²",
        (
            *("loss_of_two_examples", "even_part", "correlation"),
            *("excess", "squares", "positive", "positive_factor"),
        ),
        "nonnegative terms",
    ),
    Inference(
        "same_form",
        "at b = 0 and q = 0, N = M, and R, u, v and the even part are 0, so that f is d + tr M + κ|M|²",
        ("loss_of_two_examples", "without_r"),
        "application",
    ),
    Inference(
        "global",
        "d + tr M + κ|M|² is the value of f at parameters that Theorem 5 admits, and so not below Theorem 5's least "
        "value, which Theorem 5's minimiser attains here, too",
        ("above", "same_form", "ahn2023.theorem5:global", "relu_attention", "isotropic"),
        "lower bound attained",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the fourth moment of w*, the excess, the excess as squares."""
    # w*w*ᵀ is a Wishart matrix of one sample: E (tr w*w*ᵀ)², with tr I = d.
    fourth = sum(c.subs(n, 1) * d ** len(traces) for traces, c in word_formula([["I"], ["I"]], {"I"}).items())
    return Derivation(
        (
            Step("E |w|⁴ by Gaussian integration by parts, the weight of v²", fourth, d * (d + 2)),
            Step("the excess of f over Theorem 5's", EXCESS.left, EXCESS.right),
            Step("as squares, with ρ = s u v", SQUARES.left, SQUARES.right),
        )
    )


_canary = partial(with_clause, STATEMENT)


relu_any_last_row = Theorem(
    id="ahn2023.relu_any_last_row",
    title="Theorem 5's minimiser is global over all P and Q: the last row of Q need not be zero",
    source=Source("Theorem 5 without its hypothesis on Q", "derived here", AHN2023),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={"a": best, "minimum_loss": d * (1 - best / 2)},
    derivation=derivation,
    canaries=(
        _canary("6d - 9 > 0", replace(POSITIVE, relation=sp.Gt(6 * d - 9, 0, evaluate=False), says="")),
        _canary("d + 2 for d - 2", replace(EXCESS, right=EXCESS.right.subs(d - 2, d + 2), says="")),
        _canary("d^2 for d(d + 2)", replace(SQUARES, left=excess.subs(d + 2, d).subs(rho, s * u * v), says="")),
        _canary("the even part left out", replace(EXCESS, right=excess / (2 * n), says="")),
    ),
    statement_uses=("ahn2023.theorem5",),
    proof_uses=("ahn2023.theorem5",),
    argument=ARGUMENT,
    evaluations={
        "global": Evaluation(
            least_at(best, zero_last_row=False),
            "P = diag(0, 1), Q = -diag(a I, 0), a = 1/((n-1)/(2n) + (d+3)/n), minimise f over all P and Q, the last "
            "row of Q free as well",
            least_at(1 / ((n - 1) / (2 * n) + (d + 3) / n), zero_last_row=False),
            DRAWS,
        )
    },
)
