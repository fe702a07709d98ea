r"""Theorem 5: one layer of ReLU attention, isotropic data, and the global minimiser.

With the last row of Q zero, the query x gives example i the weight σ(x_iᵀ v), v = A x. With (bᵀ, β) the last row of P
the loss is

    f = E ( (1/n) Σ_i (bᵀx_i + β w*ᵀx_i) σ(x_iᵀ v) + w*ᵀx )².

With y and z two different x_i, σ(s) = s θ(s) and h(y) = (b + β w*)ᵀy yᵀv, the loss f is the mean of

    (w*ᵀx)² + 2 w*ᵀx h(y) θ(yᵀv) + h(y)² θ(yᵀv)/n + (n−1)/n h(y) θ(yᵀv) h(z) θ(zᵀv).

So b adds κ_1 |Aᵀb|² + |b|² ‖A‖_F²/(2n), κ_1 = 1/n + (n−1)/(4n), and b = 0 is best. The rest is

    d + tr(βA) + κ ‖βA‖_F²,   κ = (n−1)/(4n) + (d+2)/(2n):

a quadratic function of βA alone. For βA = −a I + N with tr N = 0 it is d − a d + κ (a² d + ‖N‖²). Its minimum is
d (1 − a/2), at N = 0 and a = 1/(2κ) = 1/((n−1)/(2n) + (d+2)/n).

Source: Ahn et al. 2023, Theorem 5; the loss in closed form and the minimum are derived here.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.setting import (
    BLOCKS,
    DIMENSION,
    EXAMPLES,
    SHAPES,
    A,
    X,
    b,
    beta,
    d,
    n,
    p,
    t,
    w,
    x,
)
from theorems.preconditioned_descent.trials.closed_forms import Instance, Trials, value_of
from theorems.preconditioned_descent.trials.one_layer_minimum import DRAWS, least_relu_loss
from theorems.wishart.gaussian_moment import GaussianMoment
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
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
    Trial,
    matrix,
)

if TYPE_CHECKING:
    from numpy.random import Generator

a = sp.Symbol("a", real=True)
nu = sp.Symbol("nu", nonnegative=True)
s = sp.Symbol("s", real=True)

RELU_ATTENTION = Hypothesis("relu_attention", text="attention P Z M relu(Z' Q Z), L = 1")
ZERO_LAST_ROW = Hypothesis("zero_last_row", text="the last row of Q is zero; all other entries of P and Q are free")
ISOTROPIC = Hypothesis("isotropic", text="x_i ~ N(0, I) i.i.d., w* ~ N(0, I)")

kappa = (n - 1) / (4 * n) + (d + 2) / (2 * n)
best = 1 / ((n - 1) / (2 * n) + (d + 2) / n)


def loss(multiple: sp.Expr, off: sp.Expr = sp.S.Zero) -> sp.Expr:
    """Return f at βA = −multiple·I + N, where tr N = 0 and ‖N‖_F² = off."""
    return d - d * multiple + kappa * (d * multiple**2 + off)


kappa_1 = 1 / n + (n - 1) / (4 * n)
"""The factor of |Aᵀb|² in f."""
y, z, N = map(matrix, "yzN")
"""The tokens of two examples, and βA."""
label, attended, other_attended, seen, other_seen = sp.symbols("label h_y h_z theta_y theta_z", real=True)


def square_of_error(by: sp.Expr, other: sp.Expr) -> sp.Expr:
    """Return a polynomial whose mean is f; `by` is h(y) and `other` is h(z), for two examples y and z."""
    one = 2 * label * by * seen + by**2 * seen / n
    return label**2 + one + (n - 1) / n * by * seen * other * other_seen


def examples_attended(row: sp.Expr, direction: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
    """Return w*ᵀx, h(y) = rowᵀ y yᵀ direction, and h(z).

    `row` is b + β w* and `direction` is v, up to a factor β that may be moved from one to the other.
    """
    return {
        label: t(w) * x,
        attended: t(row) * y * t(y) * direction,
        other_attended: t(row) * z * t(z) * direction,
    }


def steps_along(direction: sp.Expr) -> dict[sp.Symbol, tuple[sp.Symbol, sp.Expr]]:
    """Return the step functions θ(yᵀv) and θ(zᵀv), where `direction` is v."""
    return {seen: (y, direction), other_seen: (z, direction)}


COLUMNS = dict.fromkeys((x, w, y, z), (d, sp.S.One))
NORMAL = dict.fromkeys(COLUMNS)
norm_Ab, norm_b, norm_A = sp.symbols("Ab2 b2 A2", nonnegative=True)
"""|Aᵀb|², |b|² and ‖A‖²."""


def _square(multiple: sp.Expr, says: str = "") -> Identity:
    """Return the identity f = f(multiple) + κ ‖βA + multiple·I‖²."""
    right = loss(multiple) + kappa * (d * (a - multiple) ** 2 + nu)
    return Identity("completed_square", loss(a, nu), right, says)


SQUARE = _square(best, "f = f(best) + kappa ||beta A + best I||^2 for all beta A = -a I + N, tr N = 0, nu = ||N||^2")
CONVEX = Inequality("convex", sp.Gt(kappa, 0, evaluate=False), "kappa > 0")
SEEN = MatrixIdentity(
    "seen",
    (t(p) * X + beta * (t(w) * X)) * (t(X) * A * x),
    t(p + beta * w) * X * t(X) * A * x,
    {letter: shape for letter, shape in {**SHAPES, **BLOCKS}.items() if letter in (X, x, w, A, p)},
    says="without relu, with Q's last row 0, P's last row (b', beta) and labels w*' X, the sum over the examples at "
    "the query x is (b + beta w*)' X X' A x",
)
MINIMUM = Identity("minimum", loss(best), d * (1 - best / 2), "the least f is d (1 - best/2)")

_NAMES = "label = w'x, h(y) = row y y'v, theta_y = theta(y'v), relu(s) = s theta(s)"
LOSS = GaussianMoment(
    "loss",
    square_of_error(attended, other_attended),
    loss(a, nu),
    {**COLUMNS, N: (d, d), A: (d, d)},
    NORMAL,
    examples_attended(w, N * x),
    {N: -d * a, N * t(N): d * a**2 + nu},
    steps=steps_along(A * x),
    says="E label^2 + 2 label h(y) theta_y + h(y)^2 theta_y/n + (n-1)/n h(y) theta_y h(z) theta_z is d - d a + kappa "
    f"(d a^2 + nu); {_NAMES}, row = beta w', v = A x, tr(beta A) = -d a, ||beta A||^2 = d a^2 + nu",
)
_with_b, _without_b = (examples_attended(row, A * x) for row in (b + beta * w, beta * w))
_other = {name: sp.Symbol(f"{name}_0", real=True) for name in (attended, other_attended)}
WITH_B = GaussianMoment(
    "with_b",
    square_of_error(attended, other_attended) - square_of_error(*_other.values()),
    kappa_1 * norm_Ab + norm_b * norm_A / (2 * n),
    {**COLUMNS, b: (d, sp.S.One), A: (d, d)},
    NORMAL,
    {**_with_b, **{_other[name]: _without_b[name] for name in _other}},
    {t(b) * A * t(A) * b: norm_Ab, t(b) * b: norm_b, A * t(A): norm_A},
    steps=steps_along(A * x),
    says="with row = b' + beta w' in place of beta w' the same mean is larger by kappa_1 |A'b|^2 + |b|^2 ||A||^2/(2n)",
)
NOT_LESS = Inequality(
    "with_b_not_less", sp.Ge(WITH_B.right, 0, evaluate=False), "kappa_1 |A'b|^2 + |b|^2 ||A||^2/(2n) >= 0"
)
one, total, of_one, of_total, same, apart = sp.symbols("one total of_one of_total same apart", real=True)
SQUARED = Identity(
    "squared",
    (one + total / n) ** 2,
    one**2 + 2 * one * total / n + total**2 / n**2,
    "(w'x + T/n)^2 = (w'x)^2 + 2 w'x T/n + T^2/n^2, T a sum over the examples",
)
PAIRS = Implication(
    "pairs",
    (sp.Eq(of_one, n * one), sp.Eq(of_total, n * same + n * (n - 1) * apart)),
    sp.Eq(2 * of_one / n + of_total / n**2, 2 * one + same / n + (n - 1) / n * apart),
    "2 p/n + q/n^2 = 2 u + v/n + (n-1)/n w where p = n u, q = n v + n (n-1) w",
)
IN_PARTS = MatrixIdentity(
    "in_parts",
    (N - a) * (t(N) - a),
    N * t(N) - a * N - a * t(N) + a**2,
    {N: (d, d)},
    says="(N - a I)(N' - a I) = N N' - a N - a N' + a^2 I, whose trace is d a^2 + ||N||^2 where tr N = 0",
)
GLOBAL = InWords(
    "global",
    "P = diag(0, 1), Q = -diag(a I, 0), a = 1/((n-1)/(2n) + (d+2)/n), minimise f over all P and Q, Q's last row 0; "
    "the least f is d (1 - a/2)",
)

STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(RELU_ATTENTION, ZERO_LAST_ROW, ISOTROPIC),
    variables=(a, nu, beta, norm_Ab, norm_b, norm_A, one, total, of_one, of_total, same, apart),
    claims=(GLOBAL,),
    steps=(SEEN, SQUARED, PAIRS, LOSS, WITH_B, NOT_LESS, IN_PARTS, SQUARE, CONVEX, MINIMUM),
)
ARGUMENT = (
    Inference(
        "residual",
        "with (b', β) the last row of P and A the first d rows and columns of Q, f is the mean square of "
        "(1/n) Σ (b'x_i + β w'x_i) σ(x_i'v) + w'x, v = Ax: no other entry matters",
        ("relu_attention", "zero_last_row", "seen"),
        "definition",
    ),
    Inference(
        "two_examples",
        "of the n² pairs of examples, n pair an example with itself, and the others are of two independent examples y "
        "and z: f is the mean in `loss` and `with_b`",
        ("residual", "isotropic", "squared", "pairs"),
        "linearity of expectation",
    ),
    Inference(
        "without_b",
        "b adds κ_1 |A'b|² + |b|²|A|²/(2n) to f, so that b = 0 is best",
        ("two_examples", "with_b", "with_b_not_less"),
        "nonnegative terms",
    ),
    Inference(
        "below",
        "with βA = −a I + N, tr N = 0, f is at least its value at βA = −best I",
        ("two_examples", "without_b", "loss", "in_parts", "completed_square", "convex"),
        "nonnegative terms",
    ),
    Inference(
        "global",
        "P = diag(0, 1) and Q = −diag(best I, 0) have b = 0 and βA = −best I, and attain this value",
        ("below", "two_examples", "loss", "minimum"),
        "lower bound attained",
    ),
)


def least_at(multiple: sp.Expr, *, zero_last_row: bool) -> Trials:
    """Return trials of the claim that f is least, with the value d (1 - a/2), at the multiple a of the identity."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        size, at = instance["d"], value_of(multiple, instance)
        return least_relu_loss(size, instance["n"], at, size * (1 - at / 2), random, zero_last_row=zero_last_row)

    return trials


def derivation() -> Derivation:
    """Return the steps: the moments on the half line, the loss at a multiple of I, its least value."""
    same, bell = (d + 2) / sp.Integer(2), sp.exp(-(s**2) / 2)
    return Derivation(
        (
            Step(
                "integrate from 0 to ∞: E s² 1(s > 0) = E 1(s > 0) = 1/2, so E x_i σ(x_iᵀv) = v/2 for |v| = 1, s = "
                "x_iᵀv",
                sp.Derivative(-s * bell, s),
                (s**2 - 1) * bell,
            ),
            Step(
                "and E s⁴ 1(s > 0) = 3/2, so E |x_i|² σ(x_iᵀv)² = 3/2 + (d − 1)/2",
                sp.Derivative(-(s**3 + 3 * s) * bell, s),
                (s**4 - 3) * bell,
            ),
            Step(
                "κ: n of n² pairs are of one example, the others independent",
                (n * same + n * (n - 1) / 4) / n**2,
                kappa,
            ),
            Step("the slope in a, which vanishes at 1/(2κ)", sp.Derivative(loss(a), a), d * (2 * kappa * a - 1)),
            Step("the least value", loss(best), d * (1 - best / 2)),
        )
    )


_canary = partial(with_clause, STATEMENT)


theorem5 = Theorem(
    id="ahn2023.theorem5",
    title="One layer of ReLU attention: the global minimiser and the loss in closed form",
    source=Source("Theorem 5", "printed", AHN2023, "the loss in closed form is derived here"),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={"a": best, "minimum_loss": d * (1 - best / 2)},
    derivation=derivation,
    canaries=(
        _canary("2(d + 1) for 2(d + 2)", _square(1 / ((n - 1) / (2 * n) + (d + 1) / n))),
        _canary("n for n - 1", _square(1 / (sp.Rational(1, 2) + (d + 2) / n))),
        _canary("the other sign", _square(-best)),
        _canary("the linear layer's multiple", _square(n / (n + d + 1))),
        _canary("d (1 - best) for the minimum", replace(MINIMUM, right=d * (1 - best), says="")),
    ),
    argument=ARGUMENT,
    evaluations={
        "global": Evaluation(
            least_at(best, zero_last_row=True),
            "P = diag(0, 1), Q = -diag(a I, 0), a = 1/((n-1)/(2n) + (d+1)/n), minimise f over all P and Q, Q's last "
            "row 0; the least f is d (1 - a/2)",
            least_at(1 / ((n - 1) / (2 * n) + (d + 1) / n), zero_last_row=True),
            DRAWS,
        )
    },
)
