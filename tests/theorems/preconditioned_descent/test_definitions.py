"""Lemmas 1, 4, 5 and 6 are checked from the definitions at small sizes; all entries of all matrices are symbols.

Z, M, P and Q are explicit matrices; only the tests of a layer in blocks use the library's matrix letters.
"""

import pytest
import sympy as sp

from theorems.preconditioned_descent import setting


def symbols(name, rows, columns):
    return sp.Matrix(rows, columns, lambda i, j: sp.Symbol(f"{name}{i}{j}"))


def layer(Z, P, Q, n):
    mask = sp.diag(*[1] * n, 0)
    return (Z + P * Z * mask * (Z.T * Q * Z) / n).applyfunc(sp.expand)


def prompt(d, n, label=0):
    tokens, weights = symbols("x", d, n + 1), symbols("w", d, 1)
    labels = weights.T * tokens
    labels[n] = label if label != "filled" else labels[n]
    return tokens, weights, tokens.col_join(labels)


def patterns(L, d, *, tokens_move):
    """Yield P_l and Q_l of pattern (8), or of (11) if the tokens move; all entries of A_l and B_l are symbols."""
    for i in range(L):
        B = symbols(f"B{i}", d, d) if tokens_move else sp.zeros(d)
        yield sp.diag(B, 1), -sp.diag(symbols(f"A{i}", d, d), 0)


def run(Z, layers, n):
    for P, Q in layers:
        Z = layer(Z, P, Q, n)
    return Z


@pytest.mark.parametrize(("L", "d", "n"), [(1, 2, 2), (2, 2, 1), (3, 1, 1), (2, 1, 2)])
def test_lemma_1_with_the_transpose_and_not_without(L, d, n):
    tokens, weights, Z = prompt(d, n)
    label = run(Z, patterns(L, d, tokens_move=False), n)[d, n]
    for turned in (True, False):
        iterate = sp.zeros(d, 1)
        for i in range(L):
            A = symbols(f"A{i}", d, d)
            X = tokens[:, :n]
            gradient = X * X.T * (iterate - weights) / n
            iterate = iterate - (A.T if turned else A) * gradient
        difference = sp.expand(label + (iterate.T * tokens[:, n])[0])
        assert (difference == 0) == (turned or d == 1)


@pytest.mark.parametrize(("d", "n"), [(2, 2), (1, 3)])
def test_lemma_4_and_that_it_needs_multiples_of_one_matrix(d, n):
    _, _, Z = prompt(d, n)
    a, b, K = sp.Symbol("a"), sp.Symbol("b"), symbols("K", d, d)

    def after(*matrices):
        return run(Z, [(sp.diag(sp.zeros(d), 1), -sp.diag(A, 0)) for A in matrices], n)

    assert after(a * K, b * K) == after(b * K, a * K)
    if d > 1:
        G, H = symbols("G", d, d), symbols("H", d, d)
        assert after(G, H) != after(H, G)


@pytest.mark.parametrize("tokens_move", [False, True])
@pytest.mark.parametrize(("L", "d", "n"), [(1, 2, 1), (2, 1, 1)])
def test_lemmas_5_and_6(tokens_move, L, d, n):
    c = sp.Symbol("c")
    without, filled = (run(prompt(d, n, label)[2], patterns(L, d, tokens_move=tokens_move), n) for label in (0, c))
    added = sp.zeros(d + 1, n + 1)
    added[d, n] = c
    assert (filled - without).applyfunc(sp.expand) == added
    # Lemma 5: TF − ⟨w*, x⟩ is minus the last label that results if the prompt's last label is ⟨w*, x⟩ instead of 0.
    tokens, weights, Z = prompt(d, n, "filled")
    last = run(Z, patterns(L, d, tokens_move=tokens_move), n)[d, n]
    assert sp.expand(-without[d, n] - (weights.T * tokens[:, n])[0] + last) == 0


def test_a_last_column_of_q_breaks_lemma_6():
    d, n, c = 1, 1, sp.Symbol("c")
    P, Q = symbols("P", 2, 2), symbols("Q", 2, 2)
    difference = layer(prompt(d, n, c)[2], P, Q, n) - layer(prompt(d, n)[2], P, Q, n)
    assert sp.expand(difference[d, n] - c) != 0
    assert sp.expand((difference[d, n] - c).subs({Q[0, 1]: 0, Q[1, 1]: 0})) == 0  # pyright: ignore[reportUnhashable]


@pytest.mark.parametrize(("d", "n"), [(1, 1), (2, 2)])
def test_a_layer_in_blocks_is_the_layer(d, n):
    tokens, labels = symbols("x", d, n + 1), symbols("y", 1, n + 1)
    P, Q = symbols("P", d + 1, d + 1), symbols("Q", d + 1, d + 1)
    whole = layer(tokens.col_join(labels), P, Q, n)
    put = {
        setting.X: tokens[:, :n],
        setting.Y: labels[:, :n],
        setting.x: tokens[:, n],
        setting.y: labels[:, n],
        setting.B: P[:d, :d],
        setting.b: P[:d, d],
        setting.p: P[d, :d].T,
        setting.A: Q[:d, :d],
        setting.s: Q[:d, d],
        setting.u: Q[d, :d].T,
    }
    scalars = {setting.r: sp.Rational(1, n), setting.beta: P[d, d], setting.tau: Q[d, d]}
    for letters, expected in zip(setting.column_after(setting.x, setting.y), (whole[:d, n], whole[d:, n]), strict=True):
        found = evaluated(sp.expand(letters), put, scalars)
        assert (found - expected).applyfunc(sp.expand) == sp.zeros(*expected.shape)


def evaluated(letters, put, scalars):
    """Return the value of a sum of products of letters at given matrices."""
    total = None
    for term in sp.Add.make_args(letters):
        scalar, factors = term.args_cnc()
        product = None
        for factor in factors:
            value = put[factor.args[0]].T if isinstance(factor, sp.transpose) else put[factor]
            product = value if product is None else product * value
        product = product * sp.Mul(*scalar).subs(scalars)
        total = product if total is None else total + product
    return total


def test_a_label_after_pattern_8_is_that_of_the_blocks():
    pattern = {setting.p: 0, setting.s: 0, setting.u: 0, setting.b: 0, setting.B: 0, setting.beta: 1, setting.tau: 0}
    general = setting.column_after(setting.x, setting.y)[1].subs(pattern)
    ours = setting.label_after(setting.Y, setting.y, setting.x, -setting.A)
    assert sp.expand(general - ours) == 0
