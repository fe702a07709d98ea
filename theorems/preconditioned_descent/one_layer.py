r"""Theorem 1: one layer of linear attention, and the global minimiser over all P and Q.

With x ~ N(0, Σ), Σ = U diag(λ) Uᵀ, and w* ~ N(0, I), a global minimiser of f(P, Q) is P = diag(0, 1),
Q = −diag(A, 0) with A = U diag(a_1 … a_d) Uᵀ,

    a_j = 1 / ((n+1) λ_j/n + Σ_k λ_k / n).

For d ≥ 2 it is unique up to P ← γP, Q ← Q/γ and up to entries that do not affect the prediction (all of P except its
last row, and the last column of Q). The minimum is Σ_j λ_j (1 − λ_j a_j).

The relaxed problems of `components` decouple. As a function of c_j, f_j = f_j(−a_j) + g_j (c_j + a_j)², and the
parameters above attain every f_j(−a_j) at once: q_j pᵀ = −a_j e_j e_{d+1}ᵀ. Conversely, let q_j = (u_j, τ_j) be the
columns of Q and p = (v, β) the last row of P at a minimiser. The even part vanishes, so that u_j vᵀ + v u_jᵀ = 0 and
τ_j β = 0, and c = β u_j + τ_j v = −a_j e_j. If β were 0, v would be parallel to every e_j, which d ≥ 2 excludes. So
τ_j = 0, u_j = −a_j e_j/β and v = 0. (For d = 1 there are also minimisers with β = 0 and u = 0.)

Source: Ahn et al. 2023, Theorem 1; the minimum is derived here.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent import setting
from theorems.preconditioned_descent.components import (
    ALONG_AN_EIGENVECTOR,
    GAUSSIAN_TOKENS,
    ODD_NAMES,
    ODD_PART,
    ONE_LAYER,
    QUADRATIC,
    A,
    along,
    c,
    component,
    curvature,
    lam,
    moments,
    size,
    trace,
)
from theorems.preconditioned_descent.setting import (
    BLOCKS,
    EXAMPLES,
    LINEAR_ATTENTION,
    NORMAL_MEAN,
    SHAPES,
    X,
    Y,
    beta,
    column_after,
    d,
    formal,
    n,
    p,
    r,
    t,
    u,
    w,
    x,
)
from theorems.preconditioned_descent.trials.closed_forms import Instance, Trials, value_of
from theorems.preconditioned_descent.trials.one_layer_minimum import DRAWS, least_linear_loss
from theorems.wishart.gaussian_moment import GaussianMoment
from verify import (
    Canary,
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    InWords,
    MatrixIdentity,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    Trial,
    ValueOver,
    matrix,
)

if TYPE_CHECKING:
    from numpy.random import Generator

EIGENVALUES = Parameter("eigenvalues", "rationals", "eigenvalues of Sigma, in any order", above=0)
gamma, delta = sp.symbols("gamma delta", positive=True)
STANDARD_PRIOR = Hypothesis("standard_prior", text="w* ~ N(0, I)")
standard = {"variance": sp.S.One, "mixed": trace}
g = curvature(lam, **standard)


def _square(position: sp.Expr, says: str = "") -> Identity:
    """Return the identity f_j(c) = f_j(position) + g_j (c − position)²."""
    return Identity(
        "completed_square",
        component(c, **standard),
        component(position, **standard) + g * (c - position) ** 2,
        says,
    )


SQUARE = _square(-A, "f_j(c) = f_j(-A_j) + g_j (c + A_j)^2 for every eigenvalue lambda of Sigma and trace t")
CONVEX = Inequality("convex", sp.Gt(g, 0, evaluate=False), "g_j > 0")
MINIMUM = Identity("minimum", component(-A, **standard), 1 - lam * A, "the least f_j is 1 - lambda A_j")

GLOBAL = InWords(
    "global",
    "P = diag(0, 1), Q = -diag(A, 0) minimise f over all P and Q, A = U diag(a_j) U', "
    "a_j = 1/((n+1) lambda_j/n + sum_k lambda_k/n); the least f is sum_j lambda_j (1 - lambda_j a_j)",
)

_SHAPES = {key: tuple(size if part == d else part for part in shape) for key, shape in {**SHAPES, **BLOCKS}.items()}


def _prediction(of_row: sp.Expr = sp.S.One, of_columns: sp.Expr = sp.S.One) -> sp.Expr:
    """Return the query's label after a layer if it was 0 before, with P's last row and Q's columns times factors."""
    row = of_row * t(p) * X + of_row * beta * Y
    return r * row * (of_columns * t(X) * setting.A + of_columns * t(Y) * t(u)) * x


PREDICTION = MatrixIdentity(
    "prediction",
    column_after(x, sp.S.Zero)[1],
    _prediction(),
    _SHAPES,
    "the prediction depends only on the last row of P and the first d columns of Q",
)
_U = matrix("U")
_S = r * X * t(X)
TURNED = MatrixIdentity(
    "turned",
    _prediction().subs({X: _U * X, t(X): t(_U * X), x: _U * x}, simultaneous=True),
    r * (beta * Y + t(p) * _U * X) * (t(X) * (t(_U) * setting.A * _U) + t(Y) * (t(u) * _U)) * x,
    {**_SHAPES, _U: (size, size)},
    "for any U, the prediction from tokens U X and U x with the row (p', beta) of P and the columns (A; u') of Q is "
    "the prediction from X and x with the row (p'U, beta) and the columns (U'A U; u'U)",
)
IN_BLOCKS = MatrixIdentity(
    "in_blocks",
    _prediction().subs({Y: t(w) * X, t(Y): t(X) * w}, simultaneous=True),
    (t(p) * _S * setting.A + t(p) * _S * w * t(u) + beta * t(w) * _S * setting.A + beta * t(w) * _S * w * t(u)) * x,
    _SHAPES,
    "if the examples have the labels w'X, the prediction is (p'S A + p'Sw u' + beta w'S A + beta w'Sw u') x; entry j "
    "of this row is (p', beta) G q_j",
)
_V, _SIGMA, _ERROR = matrix("v"), matrix("Sigma"), sp.Symbol("error", real=True)
OVER_THE_QUERY = GaussianMoment(
    "over_the_query",
    _ERROR**2,
    along,
    {x: (size, sp.S.One), _V: (size, sp.S.One), _SIGMA: (size, size)},
    {x: _SIGMA},
    {_ERROR: t(_V) * x},
    {t(_V) * _SIGMA * _V: along},
    says="E (v'x)^2 = v'Sigma v for x ~ N(0, Sigma)",
)
RESCALING = MatrixIdentity(
    "rescaling",
    _prediction(gamma, delta),
    gamma * delta * _prediction(),
    _SHAPES,
    "gamma P and delta Q predict gamma delta times what P and Q predict, so that gamma P and Q/gamma predict the same "
    "as P and Q",
)

STATEMENT = Statement(
    parameters=(EXAMPLES, EIGENVALUES),
    hypotheses=(LINEAR_ATTENTION, ONE_LAYER, GAUSSIAN_TOKENS, STANDARD_PRIOR),
    variables=(lam, trace, size, c, r, beta, gamma, delta, *ODD_NAMES),
    claims=(GLOBAL, RESCALING),
    steps=(
        *(TURNED, PREDICTION, IN_BLOCKS, OVER_THE_QUERY),
        *(ODD_PART, ALONG_AN_EIGENVECTOR, SQUARE, CONVEX, MINIMUM),
    ),
    formal={
        "global": formal(
            NORMAL_MEAN,
            theorem1_global="one_layer.minimum.global_minimum_of_one_layer",
            theorem1_minimum="one_layer.minimum.minimum_of_one_layer",
            covariance_exists="one_layer.component.covariance_exists",
            normal_mean_exists="one_layer.normal_mean.normal_mean_exists",
        ),
        "rescaling": formal(theorem1_rescaling="one_layer.minimum.one_layer_rescaled"),
    },
)
ARGUMENT = (
    Inference(
        "eigenbasis",
        "U'x and U'w* have the covariances diag(λ_j) and I, and with P and Q rotated by diag(U, 1) the prediction from "
        "U'x is the same: Σ may be taken to be diagonal",
        ("gaussian_tokens", "standard_prior", "linear_attention", "prediction", "turned"),
        rules.INVARIANCE_OF_THE_LAW,
    ),
    Inference(
        "components",
        "the error is Σ_j x_j (tr(G q_j p') + w_j), where x is the query's token, which is independent of the rest: "
        "f = Σ_j λ_j f_j, f_j = E (tr(G q_j p') + w_j)²",
        ("eigenbasis", "prediction", "in_blocks", "over_the_query", "one_layer", "gaussian_tokens"),
        "independent factors",
    ),
    QUADRATIC,
    Inference(
        "below",
        "for any matrix in the place of q_j p', f_j exceeds 1 − λ_j a_j by at least g_j (c_j + a_j)² plus the sum of "
        "g_k c_k² over k ≠ j",
        ("components", "quadratic", "completed_square", "convex", "minimum"),
        "nonnegative terms",
    ),
    Inference(
        "global",
        "q_j p' = −a_j e_j e_{d+1}' attains all these bounds at once",
        ("below", "components", "quadratic", "completed_square", "minimum", "eigenbasis"),
        "lower bound attained",
    ),
)


def _least(preconditioner: sp.Expr) -> Trials:
    """Return trials of the claim that f is least at A.

    `preconditioner` is A's eigenvalue as an expression in n, Σ's eigenvalue lambda and t = tr Σ.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        given = instance["eigenvalues"]
        known = {"n": instance["n"], "t": sum(given)}
        found = [value_of(preconditioner, {**known, "lambda": value}) for value in given]
        least = sum(value * (1 - value * at) for value, at in zip(given, found, strict=True))
        return least_linear_loss(instance["n"], given, found, least, random)

    return trials


def derivation() -> Derivation:
    """Return the steps: the moments, the componentwise loss, its least value, the isotropic case."""
    return Derivation(
        (
            *moments(),
            Step("the least f_j for Ψ = I", component(-A, lam, sp.S.One, trace), 1 - lam * A),
            Step("for Σ = I, the paper's (7)", A.subs({lam: 1, trace: d}), 1 / ((n - 1) / n + (d + 2) / n)),
        )
    )


_canary = partial(with_clause, STATEMENT)


def _under_the_other_prior() -> Canary:
    """Return the canary that claims Theorem 1's formula under Theorem 3's prior, N(0, Σ^{-1})."""
    other = {"variance": 1 / lam, "mixed": size}
    square = curvature(lam, 1 / lam, size) * (c + A) ** 2
    return _canary(
        "under the prior N(0, Sigma^{-1})",
        Identity("completed_square", component(c, **other), component(-A, **other) + square),
    )


theorem1 = Theorem(
    id="ahn2023.theorem1",
    title="One layer: the global minimiser over all P and Q is one step of preconditioned gradient descent",
    source=Source("Theorem 1", "printed", AHN2023, "the minimum is derived here"),
    statement=STATEMENT,
    example={"n": 20, "eigenvalues": "1,1,1/4,1/16,1"},
    values={
        "preconditioner": ValueOver(A, lam, "eigenvalues", {trace: lam}),
        "minimum_loss": ValueOver(lam * (1 - lam * A), lam, "eigenvalues", {trace: lam}, total=True),
    },
    derivation=derivation,
    canaries=(
        _canary("n - 1 for n + 1", _square(-1 / ((n - 1) / n * lam + trace / n))),
        _canary("the trace dropped", _square(-n / ((n + 1) * lam))),
        _canary("the other sign", _square(A)),
        _canary("1 + lambda A for the minimum", replace(MINIMUM, right=1 + lam * A, says="")),
        _under_the_other_prior(),
    ),
    statement_uses=("ahn2023.lemma2", "ahn2023.lemma3"),
    argument=ARGUMENT,
    evaluations={
        "global": Evaluation(
            _least(A),
            "P = diag(0, 1), Q = -diag(A, 0) minimise f over all P and Q, A = U diag(a_j) U', "
            "a_j = 1/((n+2) lambda_j/n + sum_k lambda_k/n); the least f is sum_j lambda_j (1 - lambda_j a_j)",
            _least(1 / ((n + 2) / n * lam + trace / n)),
            DRAWS,
        )
    },
)
