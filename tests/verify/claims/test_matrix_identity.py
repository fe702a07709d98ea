"""Identities of matrices: proved for all sizes as sums of words in the symbols, refuted at matrices of given sizes."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import verify
from verify import Evidence, Hypothesis, MatrixIdentity, Outcome, Parameter, TheoremError, matrix
from verify.language.expressions import from_data, to_data
from verify.language.noncommutative import monomials

A, B, v = matrix("A"), matrix("B"), matrix("v")
d, s = sp.Symbol("d", integer=True, positive=True), sp.Symbol("s", positive=True)
t = sp.transpose
SIZE = (Parameter("d", "integer", "size", minimum=1),)
SHAPES = {A: (d, d), B: (d, d), v: (d, 1)}


@pytest.fixture
def check(make_theorem):
    def run(left, right, size=2):
        clause = MatrixIdentity("same", left, right, SHAPES)
        return verify.check(make_theorem(clause, parameters=SIZE, variables=(s,)), d=size).clauses[0]

    return run


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((A + B) * (A - B), A**2 - A * B + B * A - B**2),
        (t(v) * (A + s * B) * v, t(v) * A * v + s * t(v) * B * v),
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [1, 3, 10**9])
def test_the_same_words_are_proved_for_all_sizes(check, left, right, size):
    result = check(left, right, size)
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.PROVED)


@pytest.mark.parametrize(
    ("left", "right"),
    [(A * B, B * A), (t(A * B), t(A) * t(B)), (t(v) * A * v, 2 * t(v) * A * v), (A, s * A), (A - A**2, 0 * A)],
    ids=str,
)
def test_different_words_are_refuted_by_a_witness_that_numpy_confirms(check, left, right):
    result = check(left, right)
    assert (result.outcome, result.evidence) == (Outcome.REFUTED, Evidence.CERTIFIED)
    named = {
        name: np.array([row.split() for row in result.witness[name].split("; ")], int).astype(object) for name in "ABv"
    }
    space = {**named, "transpose": np.transpose, "s": Fraction(result.witness.get("s", 1))}
    with sp.evaluate(True):
        sides = [_evaluated(side, space) for side in (left, right)]
    difference = np.broadcast_to(sides[0] - sides[1], sides[0].shape)
    assert difference[result.witness["entry"]] == result.margin != 0


def _evaluated(side, space):
    if isinstance(side, sp.Add):
        return sum(_evaluated(part, space) for part in side.args)
    if isinstance(side, sp.Mul):
        total = None
        for part in side.args:
            value = _evaluated(part, space)
            total = value if total is None else total @ value if np.ndim(total) and np.ndim(value) else total * value
        return total
    if isinstance(side, sp.Pow):
        return np.linalg.matrix_power(_evaluated(side.base, space), int(side.exp))
    if isinstance(side, sp.transpose):
        return _evaluated(side.args[0], space).T
    return int(side) if side.is_Integer else space[side.name]


def test_an_identity_true_at_one_size_alone_is_not_decided_there(check):
    assert check(A * B, B * A, 1).outcome is Outcome.INCONCLUSIVE
    assert check(A * B, B * A, 10**6).outcome is Outcome.INCONCLUSIVE


def test_a_search_finds_the_size(make_theorem):
    clause = MatrixIdentity("same", A * B, B * A, SHAPES)
    result = verify.explore(make_theorem(clause, parameters=SIZE), max_examples=50)
    assert result.counterexample == {"d": 2}


def test_words_are_what_the_definition_says():
    assert monomials(2 * A * t(B) + A**2 * s) == {((A, False), (B, True)): 2, ((A, False), (A, False)): s}
    with pytest.raises(TheoremError, match="not a matrix"):
        monomials(sp.exp(A))


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (A * v, v * A, "does not fit"),
        (A, v, "different shapes"),
        (A * matrix("C"), A, "the shape of C is not given"),
        (v + 1, v, "different shapes"),
    ],
    ids=["product", "sides", "no shape", "a number"],
)
def test_sides_without_fitting_shapes_are_refused(left, right, message):
    with pytest.raises(TheoremError, match=message):
        MatrixIdentity("same", left, right, SHAPES)


def _kept(head, *parts):
    return head(*parts, evaluate=False)


@pytest.mark.parametrize(
    "left",
    [
        _kept(sp.Add, _kept(sp.Mul, v, v), _kept(sp.Mul, -1, v, v), A),
        _kept(sp.Add, _kept(sp.Mul, 0, v, A), A),
        _kept(sp.Add, v, -v, A),
        _kept(sp.Add, A, _kept(sp.Pow, v, 2), -v * v),
        A * (v + 1),
    ],
    ids=["a product", "times 0", "a sum", "a power", "a number"],
)
def test_matrices_that_do_not_fit_are_refused_even_if_they_cancel(left):
    with pytest.raises(TheoremError, match=r"does not fit|different shapes"):
        MatrixIdentity("same", left, A, SHAPES)


@pytest.mark.parametrize(
    "part", [sp.exp(A), 2**A, A**-1, A**s, sp.sqrt(A), sp.Derivative(s * A, s), _kept(sp.Pow, A, 0)], ids=str
)
def test_non_polynomials_of_matrices_are_refused_even_if_they_cancel(part):
    with pytest.raises(TheoremError, match="no sum, product, power >= 1 or transpose of matrices"):
        MatrixIdentity("same", _kept(sp.Add, _kept(sp.Mul, -1, part), part, B), B, SHAPES)


X = sp.Symbol("x", positive=True)


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (sp.Rational(1, 2), "integer coefficients"),
        (d / 2, "integer coefficients"),
        (X, "integer coefficients"),
        (1 / d, "integer coefficients"),
        (_kept(sp.Pow, 0, -1), "integer coefficients"),
        (_kept(sp.log, -1), "integer coefficients"),
        (sp.Integer(-3), "at least 1"),
        (d - 1, "at least 1"),
    ],
    ids=str,
)
def test_a_length_that_is_none_is_refused(make_theorem, length, message):
    clause = MatrixIdentity("same", A - B, -B, {A: (length, d), B: (length, d)})
    with pytest.raises(TheoremError, match=f"clause same: A has .* rows or columns.*{message}"):
        make_theorem(clause, parameters=(*SIZE, Parameter("x", "rational", "x", above=0)))


def test_a_length_is_a_polynomial_that_the_scope_keeps_at_one(make_theorem):
    # The lengths are d − 1 with d ≥ 2, a definition, and a positive integer variable.
    wide, any_size = sp.Symbol("wide", real=True), sp.Symbol("r", integer=True, positive=True)
    lengths = {A: (d - 1, wide), B: (wide, any_size)}
    clause = MatrixIdentity("same", (s + 1) * A * B, s * A * B + A * B, lengths)
    theorem = make_theorem(
        clause,
        parameters=SIZE,
        variables=(s, any_size),
        definitions={wide: d**2 + 2 * d},
        hypotheses=(Hypothesis("two", sp.Ge(d, 2)),),
    )
    result = verify.check(theorem, d=3)
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.PROVED)


def test_a_number_among_square_matrices_is_a_multiple_of_the_identity(check):
    assert check((A + 1) * v, A * v + v, 3).evidence is Evidence.PROVED
    wrong = check(A + 1, A + 2, 2)
    assert (wrong.outcome, wrong.margin) == (Outcome.REFUTED, -1)


def test_matrices_stay_out_of_other_clauses(make_theorem):
    from verify import Identity

    with pytest.raises(TheoremError, match="which the statement does not introduce"):
        make_theorem(Identity("same", A * B, B * A), parameters=SIZE)
    with pytest.raises(TheoremError, match="matrices belong in a MatrixIdentity"):
        make_theorem(Identity("same", A * B, B * A), parameters=SIZE, variables=(A, B))


def test_the_data_keep_the_order_of_factors():
    for expression in (B * A, A * B, 2 * s * B * t(A) * B**2, t(v) * (B + A) * v):
        assert from_data(to_data(expression)) == expression
    assert to_data(A * B) != to_data(B * A)
    assert to_data(A + B) == to_data(B + A)
