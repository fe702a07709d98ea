"""Gaussian means of several kinds, and their values entry by entry, from the moments of one normal variable."""

from dataclasses import replace
from functools import cache

import sympy as sp

from theorems.wishart.gaussian_moment import GaussianMoment
from verify import Parameter, Statement, matrix

t = sp.transpose
d, n = sp.symbols("d n", integer=True, positive=True)
A, B, C, X, v, w, x, z = map(matrix, "ABCXvwxz")
f, g, h, step, other = sp.symbols("f g h theta phi", real=True)
a, b, c, e, k, m, q = VARIABLES = sp.symbols("a b c e k m q", real=True)
SIZES = (Parameter("d", "integer", "rows", minimum=1), Parameter("n", "integer", "columns", minimum=1))
S = X * t(X) / n


def stated(clause):
    """Return a statement with a clause as its only claim."""
    return Statement(SIZES, (clause,), variables=VARIABLES)


def completed(left, shapes, normal, random, traces, **more):
    """Return a clause with the given left side, and the engine's result as the right side."""
    clause = GaussianMoment("mean", left, sp.Dummy(), shapes, normal, random, traces, **more)
    return replace(clause, right=clause.mean(stated(replace(clause, right=sp.S.Zero))))


_square, _columns = {A: (d, d), B: (d, d)}, {x: (d, 1), z: (d, 1), v: (d, 1), w: (d, 1)}
CASES = {
    # The words contain an asymmetric matrix and its transpose.
    "two words": completed(
        f,
        {X: (d, n), A: (d, d)},
        {X: None},
        {f: (1 - S * A) * (1 - t(A) * S)},
        {A: a, A * t(A): b, A * A: c},
    ),
    "covariance": completed(
        f**2 + g,
        {X: (d, n), B: (d, d), C: (d, d)},
        {X: C},
        {f: B * X * t(X), g: S * B * S * S},
        {B * C: a, B * C * B * C: b, B * C * C: c, C * C: e, B * C * C * C: k, C: m},
        symmetric=(B,),
    ),
    "two normal letters": completed(
        (f + a * g) ** 2,
        {X: (d, n), w: (d, 1), B: (d, d)},
        {X: None, w: None},
        {f: S * B, g: t(w) * S * w},
        {B: b, B * B: c},
        symmetric=(B,),
    ),
    "not square": completed(
        f**2 * g + h,
        {X: (d, n), A: (n, d)},
        {X: None},
        {f: X * A, g: X * t(X), h: A * X * A * X},
        {A * t(A): a},
    ),
    # A word with two columns is a product of two numbers.
    "columns": completed(
        f**2 + g * h,
        {X: (d, n), **dict.fromkeys((x, v, w), (d, 1)), A: (d, d), C: (d, d)},
        {X: C, x: None},
        {f: t(v) * S * w, g: t(x) * v * t(w) * x, h: t(x) * A * x},
        {
            t(v) * C * w: a,
            t(v) * C * v: b,
            t(w) * C * w: c,
            t(v) * w: e,
            t(v) * A * w: k,
            t(w) * A * v: m,
            A: q,
        },
    ),
    "a step": completed(
        f * step * g * step.subs(step, other) + h**2 * step,
        {**_columns, **_square},
        {x: None, z: None},
        {f: t(x) * v * t(v) * x, g: t(z) * w * t(w) * A * z, h: t(x) * A * x},
        {t(v) * v: a, t(w) * A * w: b, A: c, A * A: e, A * t(A): k},
        steps={step: (x, v), other: (z, w)},
    ),
}
DATA = {A: [[1, -2], [3, 2]], B: [[2, -1], [-1, 3]], v: [[2], [-1]], w: [[1], [3]], C: [[1, 2], [2, 5]]}
"""Matrices of size at most 2×2; smaller sizes use their leading blocks."""
ROOT = sp.Matrix([[1, 0], [2, 1]])
"""A root of C, whose leading block is a root of C's leading block."""


def entry_by_entry(clause, sizes):
    """Return the mean of the left side at given sizes, with the values of the given letters in `DATA`."""
    entries, letters = [], {}
    for letter, shape in clause.shapes.items():
        rows, columns = (int(sp.sympify(side).subs(sizes)) for side in shape)
        if letter in clause.normal:
            own = sp.Matrix(rows, columns, lambda i, j, name=letter: sp.Symbol(f"{name}_{i}{j}", real=True))
            entries += list(own)
            letters[letter] = ROOT[:rows, :rows] * own if clause.normal[letter] else own
        else:
            letters[letter] = sp.Matrix(DATA[letter])[:rows, :columns]
    at = lambda matrix: evaluated(matrix.subs(sizes), letters)  # noqa: E731
    values = {name: at(part).trace() for name, part in clause.random.items()}
    left = sp.Poly(sp.expand(clause.left.subs(sizes).subs(values)), *entries, *clause.steps)
    total = sp.S.Zero
    for powers, coefficient in left.terms():
        of = dict(zip((*entries, *clause.steps), powers, strict=True))
        above = {
            entry: at(beside)[0]
            for name, (column, beside) in clause.steps.items()
            for entry in letters[column]
            if of[name]
        }
        total += coefficient * sp.Mul(*(normal(of[entry], above.get(entry)) for entry in entries))
    given = {value: at(word).trace() for word, value in clause.traces.items()}
    return total.subs(given), given


@cache
def normal(power, beside=None):
    """Return E s^power or, if `beside` is given, E s^power 1(s beside > 0), for a standard normal s, by an integral."""
    s = sp.Symbol("s", real=True)
    ends = (-sp.oo, sp.oo) if beside is None else (0, sp.oo) if beside > 0 else (-sp.oo, 0)
    return sp.integrate(s**power * sp.exp(-(s**2) / 2), (s, *ends)) / sp.sqrt(2 * sp.pi)


def evaluated(expression, letters):
    """Return the value of a polynomial in matrix letters at given matrices."""
    if expression in letters:
        return letters[expression]
    if expression.is_commutative:
        return expression
    if expression.is_Pow:
        return evaluated(expression.base, letters) ** expression.exp
    parts = [evaluated(part, letters) for part in expression.args]
    if isinstance(expression, sp.transpose):
        return parts[0].T
    if expression.is_Mul:
        return sp.prod(parts[1:], parts[0])
    shape = next(part.shape for part in parts if isinstance(part, sp.MatrixBase))
    return sum(
        (part if isinstance(part, sp.MatrixBase) else part * sp.eye(shape[0]) for part in parts), sp.zeros(*shape)
    )
