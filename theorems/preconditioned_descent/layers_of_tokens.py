"""Layers that change tokens: steps for `preconditioned_tokens`, about tokens and labels as polynomials in S."""

import sympy as sp

from theorems.preconditioned_descent.multiples_of_the_inverse import k
from theorems.preconditioned_descent.setting import (
    SHAPES,
    A,
    C,
    L,
    R,
    X,
    d,
    n,
    r,
    t,
    w,
    x,
)
from theorems.preconditioned_descent.stationary_square.clause import StationarySquare
from theorems.wishart.trace_moments import wishart_trace_moment
from verify import (
    Dynamics,
    MatrixIdentity,
    matrix,
)

a, b, s, g, residual = sp.symbols("a b s g residual", real=True)
eigenvalue = sp.Symbol("eigenvalue", real=True)
steps, rates = sp.symbols("a0:3", real=True), sp.symbols("b0:2", real=True)
"""a_0, a_1, a_2 and b_0, b_1."""
in_step, in_product = sp.symbols("F_a F_c", real=True)
"""∂F/∂a and ∂F/∂c, for the loss f(a, b) = F(a, c) with c = a b."""
G, Q = map(matrix, ("G", "Q"))
"""Polynomials in S."""

RECURSION = Dynamics(
    (g, residual), (sp.S.One, sp.S.One), (g * (1 - a * b * s * g**2), residual * (1 - a * s * g**2)), residual
)
STATIONARY = StationarySquare(
    "stationary",
    layers=L,
    recursion=RECURSION,
    unknowns=(a, b),
    variable=s,
    moment=wishart_trace_moment(k, n, d),
    index=k,
    says="f = E tr r_L(S)^2, with S = XX'/n at Sigma = I, has a critical point in the a_l and b_l, where "
    "r_{l+1} = r_l (1 - a_l S g_l^2), g_{l+1} = g_l (1 - a_l b_l S g_l^2), r_0 = g_0 = 1",
)


def token_after(token: sp.Expr, preconditioner: sp.Expr, mover: sp.Expr) -> sp.Expr:
    """Return a column's token after a layer of pattern (11) with A = `preconditioner` and B = `mover`."""
    return token - r * mover * X * t(X) * preconditioner * token


def label(layers: int) -> sp.Expr:
    """Return the query's label, filled in as w*ᵀ x at first, after `layers` layers at Σ = I, from X, x and w."""
    tokens, labels, token, filled = X, t(w) * X, x, t(w) * x
    for step, rate in zip(steps[:layers], (*rates, sp.S.Zero), strict=False):
        # (X; Y)ᵀ Q z for the examples and for the query.
        seen, here = (-step * t(tokens) * z for z in (tokens, token))
        tokens, labels, token, filled = (
            tokens + r * rate * tokens * seen,
            labels + r * labels * seen,
            token + r * rate * tokens * here,
            filled + r * labels * here,
        )
    return filled


def polynomials(layers: int, variable: sp.Expr) -> sp.Expr:
    """Return r_L in a variable, by the recursion."""
    tokens = found = sp.S.One
    for step, rate in zip(steps[:layers], (*rates, sp.S.Zero), strict=False):
        put = {a: step, b: rate, s: variable, g: tokens, residual: found}
        tokens, found = (part.subs(put, simultaneous=True) for part in RECURSION.step)
    return found


def _in_matrices(layers: int) -> sp.Expr:
    """Return w*ᵀ r_L(S) x, S = XXᵀ/n."""
    terms = sp.Poly(polynomials(layers, s), s).terms()
    return sum((coefficient * t(w) * (r * X * t(X)) ** power * x for (power,), coefficient in terms), sp.S.Zero)


TWO, THREE = (
    MatrixIdentity(
        f"{name}_layers",
        label(layers),
        _in_matrices(layers),
        {letter: SHAPES[letter] for letter in (X, x, w)},
        says=f"at Sigma = I the query's label, filled in as w*' x at first, is w*' r_{layers}(S) x after {name} layers",
    )
    for layers, name in ((2, "two"), (3, "three"))
)
TOKEN = MatrixIdentity(
    "whitened_token",
    token_after(R * x, A, R * C).subs(X, R * X),
    R * token_after(x, t(R) * A * R, C * R),
    {letter: SHAPES[letter] for letter in (X, x)} | dict.fromkeys((A, C, R), (d, d)),
    says="for any R, a layer of A and B = R C takes a token R x, with examples R X, to R times the token to which a "
    "layer of R' A R and C R takes x, with examples X",
)
_S = r * X * t(X)
TOKEN_LAYER = MatrixIdentity(
    "token_layer",
    G * x - steps[0] * rates[0] * r * (G * X) * t(G * X) * (G * x),
    (G - steps[0] * rates[0] * G * _S * t(G) * G) * x,
    {X: SHAPES[X], x: SHAPES[x], G: (d, d)},
    says="at Sigma = I a layer of A = a I and B = b I, tokens G X, takes the token G x to (G - a b G S G' G) x",
)
LABEL_LAYER = MatrixIdentity(
    "label_layer",
    t(w) * Q * x - steps[0] * r * (t(w) * Q * X) * t(G * X) * (G * x),
    t(w) * (Q - steps[0] * Q * _S * t(G) * G) * x,
    {X: SHAPES[X], x: SHAPES[x], w: SHAPES[w], G: (d, d), Q: (d, d)},
    says="at Sigma = I a layer of A = a I and B = b I, tokens G X and labels w*' Q X, takes the label w*' Q x of the "
    "token G x to w*' (Q - a Q S G' G) x",
)
