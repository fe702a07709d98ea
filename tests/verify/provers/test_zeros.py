"""Zeros of polynomials, found in floats, also at infinity; rational forms that vanish at irrational zeros."""

from fractions import Fraction

from verify.provers.zeros import Zeros, zeros_of, zeros_on

SQUARES = [(2, 0), (1, 1), (0, 2)]


def polynomial(pairs):
    return {powers: Fraction(c) for powers, c in pairs.items()}


def equations(found, monomials, weight=None):
    """Return the equations for the coefficients of a combination that vanishes at the zeros, without 0 = 0."""
    rows = found.vanishing(weight or {(0,) * len(monomials[0]): Fraction(1)}, monomials)
    return [[str(c) for c in row] for row in rows if any(row)]


def test_a_square_has_the_zeros_of_its_root():
    found = zeros_of(polynomial({(2, 0): 1, (1, 1): -2, (0, 2): 1}), [True, True])
    assert equations(found, [(1, 0), (0, 1)]) == [["1", "1"]]
    assert not found.are_zeros_of((1, 1))


def test_of_irrational_zeros_the_equations_are_rational():
    # The polynomial is (x² − 2y²)².
    found = zeros_of(polynomial({(4, 0): 1, (2, 2): -4, (0, 4): 4}), [True, True])
    assert equations(found, SQUARES) == [["1", "0", "1/2"], ["0", "1", "0"]]


def test_without_their_conjugates_irrational_zeros_say_nothing():
    found = zeros_of(polynomial({(4, 0): 1, (2, 2): -4, (0, 4): 4}), [False, False])
    assert len(found.rows) and equations(found, SQUARES) == []


def test_a_negative_polynomial_has_none():
    assert zeros_of(polynomial({(2, 0): 1, (1, 1): -3, (0, 2): 1}), [True, True]) is None
    assert zeros_of(polynomial({(1, 0): 1, (0, 1): 1}), [False, True]) is None


def test_a_positive_one_has_none_either():
    assert not len(zeros_of(polynomial({(2, 0): 1, (0, 2): 1, (0, 0): 1}), [True, True]).rows)


def test_a_zero_may_be_at_infinity():
    # (x − y)² + 1 is small relative to its terms far out on the diagonal.
    found = zeros_of(polynomial({(2, 0): 1, (1, 1): -2, (0, 2): 1, (0, 0): 1}), [True, True])
    assert equations(found, [(1, 0), (0, 1), (0, 0)]) == [["1", "1", "0"]]


def test_zeros_of_a_weight_do_not_count():
    # y (x − y)² is also 0 at y = 0.
    found = zeros_of(polynomial({(2, 1): 1, (1, 2): -2, (0, 3): 1}), [False, False])
    assert equations(found, [(1, 0), (0, 1)], {(0, 1): Fraction(1)}) == [["1", "1"]]


def test_exact_zeros_are_told_exactly():
    found = Zeros([(Fraction(1), Fraction(1, 3))])
    assert found.vanishing({(0, 0): Fraction(1)}, [(1, 0), (0, 1)]) == [[Fraction(1), Fraction(1, 3)]]
    assert found.vanishing({(1, 0): Fraction(1), (0, 0): Fraction(-1)}, [(1, 0), (0, 1)]) == []
    assert not found.are_zeros_of((1, 0)) and Zeros([]).are_zeros_of((1, 0))


CIRCLE = polynomial({(2, 0): 1, (0, 2): 1, (0, 0): -1})


def test_zeros_where_an_equation_holds():
    # On the circle, 5 − 3x − 4y is 0 only at (3/5, 4/5).
    found = zeros_on(polynomial({(0, 0): 5, (1, 0): -3, (0, 1): -4}), [CIRCLE], [], [True, True])
    assert equations(found, [(0, 0), (1, 0), (0, 1)]) == [["1", "3/5", "4/5"]]
    # On the circle, 1 − 4x²y² is 0 at (±√(1/2), ±√(1/2)); the equations for 1, x², xy and y² are rational.
    found = zeros_on(polynomial({(0, 0): 1, (2, 2): -4}), [CIRCLE], [], [True, True])
    assert equations(found, [(0, 0), *SQUARES])[0] == ["1", "1/2", "0", "1/2"]


def test_an_upper_half_of_the_circle_has_other_zeros():
    # 1 + y is 0 at (0, −1), which the weight y excludes.
    above = polynomial({(0, 0): 1, (0, 1): 1})
    assert len(zeros_on(above, [CIRCLE], [], [True, True]).rows)
    assert not len(zeros_on(above, [CIRCLE], [polynomial({(0, 1): 1})], [True, True]).rows)
    assert not len(zeros_on(above, [CIRCLE], [], [True, False]).rows)


def test_a_polynomial_that_is_negative_on_the_circle_has_none():
    assert zeros_on(polynomial({(0, 0): 4, (1, 0): -3, (0, 1): -4}), [CIRCLE], [], [True, True]) is None
