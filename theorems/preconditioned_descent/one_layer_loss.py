"""Steps to the components F_j of one layer's loss, in terms of P's last row (p, β) and Q's columns (u_j, τ_j).

The error of the prediction is cᵀx, where x is the query's token, c_j = (pᵀ, β) G (u_j; τ_j) + w_j and G is as in
`components`.
"""

import sympy as sp

from theorems.preconditioned_descent.components import size
from theorems.preconditioned_descent.setting import X, beta, n, p, r, t, tau, u, w
from theorems.wishart.gaussian_moment import GaussianMoment
from verify import MatrixIdentity, matrix

_COLUMN = (size, sp.S.One)
_S = r * X * t(X)
ROW_BY_COLUMN = MatrixIdentity(
    "row_by_column",
    r * (t(p) * X + beta * t(w) * X) * (t(X) * u + tau * t(X) * w),
    t(p) * _S * u + beta * t(w) * _S * u + tau * t(p) * _S * w + beta * tau * t(w) * _S * w,
    {X: (size, n), **dict.fromkeys((p, u, w), _COLUMN)},
    "with labels w'X the row (p, beta) times G times the column (u, tau) is p'Su + beta w'Su + tau p'Sw + "
    "beta tau w'Sw, S = XX'/n",
)
ODD_IN_W = MatrixIdentity(
    "odd_in_w",
    beta * t(w) * _S * u + tau * t(t(p) * _S * w),
    t(w) * _S * (beta * u + tau * p),
    {X: (size, n), **dict.fromkeys((p, u, w), _COLUMN)},
    "the part that is odd in w, beta w'Su + tau p'Sw, is w'S(beta u + tau p), because the number p'Sw is w'Sp",
)
_c, _token, _sigma = map(matrix, ("reader", "token", "Sigma"))
_reading = sp.Symbol("reading", real=True)
square_of_c = sp.Symbol("square_of_c", real=True)
QUERY = GaussianMoment(
    "query",
    _reading**2,
    square_of_c,
    {**dict.fromkeys((_c, _token), _COLUMN), _sigma: (size, size)},
    {_token: _sigma},
    {_reading: t(_c) * _token},
    {t(_c) * _sigma * _c: square_of_c},
    says="E (c'x)^2 = c'Sigma c for c fixed and x ~ N(0, Sigma)",
)
STEPS = (ROW_BY_COLUMN, ODD_IN_W, QUERY)
