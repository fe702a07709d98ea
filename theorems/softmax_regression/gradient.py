r"""Gradient and Hessian of softmax regression in closed form, for any number of rows.

The loss L = ½‖p − b‖², p = softmax(z), is a function of two logits z_i, z_j. The other n − 2 rows enter only through
the sums S, Q, C and B of their E_k = exp(z_k), E_k², b_k E_k and b_k², so that the following identities hold for every
n ≥ 2. With c = p − b, g = Σ_k p_k c_k and r = Σ_k p_k²,

    ∂L/∂z_i = p_i (c_i − g),                 that is, J c with J = diag(p) − ppᵀ,
    ∂²L/∂z_i² = p_i (p_i + c_i − g) − p_i² (2p_i + 2c_i − 2g − r),
    ∂²L/∂z_i∂z_j = − p_i p_j (p_i + p_j + c_i + c_j − 2g − r).

In x, with z = Ax, the gradient is AᵀJc and the Hessian Aᵀ(∂²L/∂z²)A. The loss is not convex: at n = 2 and b = (1, 0)
the second derivative in the difference of the logits changes its sign.

Source: Li et al. 2024 for the regression; derived here.
"""

from dataclasses import replace

import sympy as sp

from theorems.canaries import with_clause
from theorems.papers import LI2024
from theorems.softmax_regression.setting import formal
from verify import Canary, Derivation, Identity, Parameter, Source, Statement, Step, Theorem

x, y, b_i, b_j, C, B = sp.symbols("x y b_i b_j C B", real=True)
S, Q = sp.symbols("S Q", nonnegative=True)
p_i, p_j, g, r, loss = sp.symbols("p_i p_j g r loss", real=True)

total = sp.exp(x) + sp.exp(y) + S
DEFINITIONS = {
    p_i: sp.exp(x) / total,
    p_j: sp.exp(y) / total,
    g: p_i * (p_i - b_i) + p_j * (p_j - b_j) + Q / total**2 - C / total,
    r: p_i**2 + p_j**2 + Q / total**2,
    loss: ((p_i - b_i) ** 2 + (p_j - b_j) ** 2 + Q / total**2 - 2 * C / total + B) / 2,
}


def expanded(expression: sp.Expr) -> sp.Expr:
    """Return an expression in terms of x and y, so that it can be differentiated."""
    for name, value in reversed(DEFINITIONS.items()):
        expression = expression.subs(name, value)
    return expression


slope = p_i * (p_i - b_i - g)
own = p_i * (2 * p_i - b_i - g) - p_i**2 * (4 * p_i - 2 * b_i - 2 * g - r)
other = -p_i * p_j * (2 * p_i - b_i + 2 * p_j - b_j - 2 * g - r)
SLOPE = Identity("gradient", sp.Derivative(expanded(loss), x), slope, "dL/dz_i = p_i (p_i - b_i - g): J (p - b)")
OWN = Identity("hessian_diagonal", sp.Derivative(expanded(slope), x), own, "the Hessian's entry (i, i)")
OTHER = Identity("hessian_off_diagonal", sp.Derivative(expanded(slope), y), other, "the Hessian's entry (i, j)")
STATEMENT = Statement(
    parameters=(Parameter("n", "integer", "rows of A: length of the document", minimum=2),),
    variables=(x, y, b_i, b_j, S, Q, C, B),
    definitions=DEFINITIONS,
    claims=(SLOPE, OWN, OTHER),
)


def derivation() -> Derivation:
    """Return the steps: the Jacobian, the gradient, the Hessian; at n = 2 the second derivative changes its sign."""
    t = sp.Symbol("t", real=True)
    p = sp.exp(t) / (1 + sp.exp(t))
    two = p * (1 - p) * 2 * (p - 1)
    return Derivation(
        (
            Step("∂p_i/∂z_i", sp.Derivative(expanded(p_i), x), p_i * (1 - p_i)),
            Step("∂p_j/∂z_i", sp.Derivative(expanded(p_j), x), -p_i * p_j),
            Step("the gradient", sp.Derivative(expanded(loss), x), slope),
            Step("the Hessian on the diagonal", sp.Derivative(expanded(slope), x), own),
            Step("the Hessian off the diagonal", sp.Derivative(expanded(slope), y), other),
            Step(
                "n = 2, b = (1, 0): slope of L = (1 − p)² in the logits' difference t",
                sp.Derivative((p - 1) ** 2, t),
                two,
            ),
            Step(
                "its second derivative changes sign at p = 1/3",
                sp.Derivative(two, t),
                2 * p * (1 - p) ** 2 * (3 * p - 1),
            ),
        ),
        DEFINITIONS,
    )


def _canary(name: str, clause: Identity, right: sp.Expr) -> Canary:
    return with_clause(STATEMENT, name, replace(clause, right=right, says=""))


gradient = Theorem(
    id="li2024.gradient",
    title="Gradient and Hessian of softmax regression in the logits, for any number of rows",
    source=Source("gradient and Hessian", "derived here", LI2024),
    statement=replace(
        STATEMENT,
        formal={
            "gradient": formal(gradient="gradient.gradient_holds", gradient_in_x="gradient.gradient_in_x_holds"),
            "hessian_diagonal": formal(hessian_diagonal="gradient.hessian_diagonal_holds"),
            "hessian_off_diagonal": formal(hessian_off_diagonal="gradient.hessian_off_diagonal_holds"),
        },
    ),
    example={"n": 50},
    derivation=derivation,
    canaries=(
        _canary("without the mean of the residual", SLOPE, p_i * (p_i - b_i)),
        _canary("Gauss-Newton's for the Hessian", OTHER, -p_i * p_j * (p_i + p_j - r)),
        _canary("the diagonal's first term alone", OWN, p_i * (2 * p_i - b_i - g)),
        _canary("the other sign", SLOPE, -slope),
    ),
)
