"""Least residual polynomials: measures with known answers, wrong claims, and refusals."""

from fractions import Fraction

import pytest
import sympy as sp

import verify
from verify import Evidence, InputError, LeastResidual, Outcome, Parameter, TheoremError
from verify.errors import UndecidedError

L, k = sp.Symbol("L", integer=True, positive=True), sp.Symbol("k", integer=True, nonnegative=True)
q = sp.Symbol("q", positive=True)
LAYERS = (Parameter("L", "integer", "factors", minimum=1), Parameter("q", "rational", "q", above=0))
UNIFORM = 1 / (k + 1)
"""The moments of the uniform measure on [0, 1]: ∫_0^1 s^k ds."""


@pytest.fixture
def check(make_theorem):
    def run(factors, moment=UNIFORM, q=1, **changes):
        clause = LeastResidual("least", L, moment, k, **changes)
        return verify.check(make_theorem(clause, parameters=LAYERS), L=factors, q=q).clauses[0]

    return run


@pytest.mark.parametrize("factors", [1, 2, 3, 7, 20])
def test_the_uniform_measure_gives_the_christoffel_function_of_legendre(check, factors):
    # The normalised Legendre polynomial of degree i on [0, 1] has the square 2i + 1 at 0. The sum over i <= L is
    # (L + 1)², and the minimum is the reciprocal of this sum.
    result = check(factors)
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    assert result.values["minimum"] == Fraction(1, (factors + 1) ** 2) and result.values["attained"] is True
    assert len(result.values["a"]) == factors


def test_the_roots_for_two_factors_are_enclosed_narrowly(check):
    # p = 1 − 4s + (10/3) s², orthogonal to s and s² on [0, 1] by hand: a = 2 ± √(2/3).
    small, large = check(2).values["a"]
    for a, sign in ((small, -1), (large, 1)):
        assert (a.lower - 2) * sign > 0 and a.upper - a.lower < Fraction(1, 10**100)
        ends = sorted(((a.lower - 2) ** 2, (a.upper - 2) ** 2))
        assert ends[0] <= Fraction(2, 3) <= ends[1]


def test_one_factor_is_exact(check):
    # The only factor has a = (∫ s ds)/(∫ s² ds) = 3/2.
    assert check(1).values["a"] == [Fraction(3, 2)]


def test_a_measure_on_as_many_points_as_factors_is_annihilated(check):
    # Half the mass is at 1 and half at 2, where (1 − s)(1 − s/2) vanishes.
    result = check(2, (1 + 2**k) / 2)
    assert result.values == {"a": [Fraction(1, 2), 1], "minimum": 0, "attained": True}


def test_an_atom_at_zero_stays(check):
    # The mass of 3/4 at 0 cannot be removed, because p(0) = 1; the mass of 1/4 is at 3.
    moment = (sp.Integer(3) ** k + 3 * sp.Integer(0) ** k) / 4
    assert check(1, moment).values["minimum"] == Fraction(3, 4)


@pytest.mark.parametrize(
    ("changes", "order"),
    # With shift 0, p is orthogonal to 1, s and s²: the integrals of p s and p s² are 0, and the integral of p s³ is
    # not 0.
    [({"shift": sp.Integer(0)}, 3), ({"shift": sp.Integer(2)}, 1), ({"scale": sp.Integer(-1)}, 1), ({"scale": q}, 1)],
    ids=str,
)
def test_another_polynomial_is_refuted_with_a_moment_that_is_not_zero(check, changes, order):
    result = check(3, q=Fraction(3, 2), **changes)
    assert result.outcome is Outcome.REFUTED and result.margin != 0
    assert result.witness["order"] == order and result.witness["integral"] == result.margin


def test_a_scale_of_one_is_no_change(check):
    assert check(3, q=1, scale=q).outcome is Outcome.VERIFIED


@pytest.mark.parametrize(
    ("moment", "factors", "why"),
    [
        # Two points apart from 0 do not determine three factors.
        ((1 + 2**k) / 2, 3, "measure with more than 2 points"),
        # The moment ∫ s² would be −1.
        (1 - 2 * sp.Integer(0) ** (2 - k), 1, "measure with more than 0 points"),
        # The measure is symmetric about 0, so with one factor p is 1, which has no root.
        ((1 + (-1) ** k) / 2 * 3**k, 1, "not all real"),
        (sp.sqrt(k + 2), 1, "a rational value is needed"),
    ],
    ids=["too few points", "no measure", "symmetric", "irrational"],
)
def test_a_residual_that_is_not_shown_is_inconclusive(check, moment, factors, why):
    result = check(factors, moment)
    assert result.outcome is Outcome.INCONCLUSIVE and why in result.detail


def test_too_many_factors_are_refused_with_the_reason(check):
    with pytest.raises(InputError, match=r"L = 21: must be <= 20: its 42 moments and 21 roots are computed exactly"):
        check(21)


def test_a_shift_that_is_no_integer_means_nothing(check):
    result = check(2, q=Fraction(1, 2), shift=q)
    assert result.outcome is Outcome.INCONCLUSIVE and "must be an integer >= 0" in result.detail


def test_the_scan_agrees_with_the_check(make_theorem):
    right, wrong = LeastResidual("least", L, UNIFORM, k), LeastResidual("least", L, UNIFORM, k, scale=1 + q)
    for clause, sign in ((right, 1), (wrong, -1)):
        statement = make_theorem(clause, parameters=LAYERS).statement
        assert all(clause.scan(statement, {"L": count, "q": 1}) * sign > 0 for count in range(1, 9))
        with pytest.raises(UndecidedError, match="not scanned"):
            clause.scan(statement, {"L": 10**18, "q": 1})


def test_a_search_refutes_the_wrong_one(make_theorem):
    clause = LeastResidual("least", L, UNIFORM, k, scale=q)
    result = verify.explore(make_theorem(clause, parameters=LAYERS), max_examples=50)
    assert result.counterexample is not None and result.counterexample["L"] == 1


def test_the_index_may_not_be_a_parameter(make_theorem):
    with pytest.raises(TheoremError, match="the name q is taken"):
        make_theorem(LeastResidual("least", L, UNIFORM, q), parameters=LAYERS)


@pytest.mark.parametrize(("claimed", "outcome"), [(1 / (L + 1) ** 2, Outcome.VERIFIED), (1 / L**2, Outcome.REFUTED)])
def test_a_claimed_minimum_is_held_against_the_exact_one(check, claimed, outcome):
    result = check(4, minimum=claimed)
    assert result.outcome is outcome
    if outcome is Outcome.REFUTED:
        assert result.witness["minimum"] == Fraction(1, 25) and result.margin == Fraction(1, 25) - Fraction(1, 16)


def test_moments_too_long_to_go_on_with_are_inconclusive_at_once(check):
    result = check(12, q**k, q=Fraction(1, 10**400))
    assert result.outcome is Outcome.INCONCLUSIVE and "more than 10000 bits" in result.detail


@pytest.mark.parametrize("changes", [{"scale": sp.S.Zero}, {"shift": sp.Integer(11)}], ids=str)
def test_a_scale_of_zero_and_a_large_shift_mean_nothing(check, changes):
    assert check(2, **changes).outcome is Outcome.INCONCLUSIVE
