"""A negative term is covered by an arithmetic mean of positive terms if there is such a mean, and only then."""

from fractions import Fraction

import pytest

from verify.provers.deduction.polynomials.means import Mean, covered


def found(terms, signs, *, strict=False):
    """Return the means and terms that add up to a polynomial; assert that they do."""
    terms = {powers: Fraction(c) for powers, c in terms.items()}
    columns = covered(terms, signs, strict=strict)
    if columns is None:
        return None
    total = {}
    for share, column in columns:
        assert share > 0
        for powers, c in column.polynomial.items():
            total[powers] = total.get(powers, 0) + share * c
    assert {powers: c for powers, c in total.items() if c} == terms
    return [column.says for _, column in columns]


REAL, SIGNED = ["real", "real"], ["nonnegative", "nonnegative"]
MOTZKIN = {(4, 2): 1, (2, 4): 1, (2, 2): -3, (0, 0): 1}


def test_the_parts_of_a_mean_have_its_product():
    (mean,) = found(MOTZKIN, REAL)
    assert isinstance(mean, Mean) and len(mean.parts) == 3
    powers = [sum(k[i] for k, _ in mean.parts) for i in range(2)]
    assert powers == [3 * k for k in mean.v[0]]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_term_of_either_sign_is_covered(sign):
    assert found({(2, 0): 1, (1, 1): 2 * sign, (0, 2): 1}, REAL)


def test_terms_are_covered_that_are_equal_elsewhere_than_at_1():
    # 8x³ + y³ + 1 − 6xy, which is 0 at (1/2, 1).
    assert found({(3, 0): 8, (0, 3): 1, (0, 0): 1, (1, 1): -6}, SIGNED)


def test_positive_polynomial_is_strictly_covered_and_a_square_is_not():
    assert found({(2, 0): 1, (1, 0): -1, (0, 0): 1}, REAL, strict=True)
    assert found({(2, 0): 1, (1, 0): -2, (0, 0): 1}, REAL, strict=True) is None


@pytest.mark.parametrize(
    ("terms", "signs"),
    [
        (MOTZKIN | {(2, 2): -Fraction(301, 100)}, REAL),
        ({(2, 0): 1, (1, 1): 2, (0, 2): Fraction(99, 100)}, REAL),
        ({(3, 0): 8, (0, 3): 1, (0, 0): 1, (1, 1): -6}, ["nonnegative", "real"]),
        # The exponents of the negative term are outside the convex hull of the others, or no term is negative.
        ({(2, 0): 1, (0, 2): 1, (3, 0): -1}, REAL),
        ({(2, 0): 1, (0, 2): 1}, REAL),
        ({(2, 0): -1, (1, 0): 1}, SIGNED),
    ],
)
def test_polynomials_that_no_means_cover_are_not_shown(terms, signs):
    assert found(terms, signs) is None
