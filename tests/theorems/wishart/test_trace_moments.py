"""Moments of traces, compared with pairings, the definition, zonal polynomials, a recursion, limits and samples."""

from collections import Counter
from fractions import Fraction
from math import comb, prod

import flint
import numpy as np
import pytest
import sympy as sp

import verify
from tests.theorems.wishart.pairings import classes, pairings
from tests.theorems.wishart.zonal import trace_of_power
from theorems.wishart import trace_moments as module
from theorems.wishart.trace_moments import (
    LARGEST_ORDER,
    d,
    n,
    trace_moment,
    trace_moment_polynomial,
    trace_moments,
    wishart_trace_moment,
)
from verify import Inequality, InputError, Parameter, Source, Statement, Theorem
from verify.errors import UndecidedError, UndefinedError
from verify.evaluation.values import evaluate_rising
from verify.language.expressions import from_data, to_data
from verify.outcomes import Evidence, Outcome

SMALL = [(1,), (2,), (3,), (1, 1), (1, 2), (2, 2), (4,), (1, 3), (1, 1, 2), (5,), (2, 3), (1, 2, 2)]
LONG = [(26,), (13, 13), (1,) * 26, (5, 5, 5, 5, 6), (2,) * 13]


def by_pairings(parts, samples, dimension):
    """Return E ∏ tr W^k by all pairings of the factors X_{a_p i_p} X_{a_{p+1} i_p}, with p around each trace."""
    row, start = {}, 0
    for k in parts:
        for p in range(start, start + k):
            row[2 * p] = p
            row[2 * p + 1] = start + (p + 1 - start) % k
        start += k
    total = 0
    for pairing in pairings(list(range(2 * start))):
        columns = classes(start, [(a // 2, b // 2) for a, b in pairing])
        rows = classes(start, [(row[a], row[b]) for a, b in pairing])
        total += samples**columns * dimension**rows
    return total


def by_definition(parts, samples, dimension):
    """Return E ∏ tr W^k from the polynomial in X's entries, by the Gaussian mean of each monomial."""
    names = [f"x{a}_{i}" for a in range(dimension) for i in range(samples)]
    ring, *entries = sp.ring(names, sp.ZZ)
    X = [entries[a * samples : (a + 1) * samples] for a in range(dimension)]
    W = [
        [sum((X[a][i] * X[b][i] for i in range(samples)), ring(0)) for b in range(dimension)] for a in range(dimension)
    ]
    product = ring(1)
    for k in parts:
        power = W
        for _ in range(k - 1):
            power = [
                [sum((r[c] * W[c][b] for c in range(dimension)), ring(0)) for b in range(dimension)] for r in power
            ]
        product *= sum((power[a][a] for a in range(dimension)), ring(0))
    means = (0 if any(e % 2 for e in powers) else prod(sp.factorial2(e - 1) for e in powers) for powers in product)
    return sum(int(c * mean) for c, mean in zip(product.values(), means, strict=True))


def by_zonal_polynomials(k, samples, dimension):
    """Return E tr W^k from E Z_λ(W) = ∏ (n + 2j − i)(d + 2j − i) over the boxes."""
    total = Fraction(0)
    for coefficient, boxes in trace_of_power(k):
        total += coefficient * prod((samples + 2 * j - i) * (dimension + 2 * j - i) for i, j in boxes)
    return total


def by_the_largest_first(parts, samples, dimension, known):
    """Return E ∏ tr W^k by integration by parts, applied to another trace than in the library."""
    parts = tuple(sorted(parts))
    if not parts:
        return 1
    if parts[0] == 0:
        return dimension * by_the_largest_first(parts[1:], samples, dimension, known)
    if parts not in known:
        *rest, k = parts
        found = (samples + k - 1) * by_the_largest_first([*rest, k - 1], samples, dimension, known)
        for j in range(k - 1):
            found += by_the_largest_first([*rest, j + 1, k - 2 - j], samples, dimension, known)
        for m, times in Counter(rest).items():
            others = list(rest)
            others.remove(m)
            found += 2 * m * times * by_the_largest_first([*others, k - 1 + m], samples, dimension, known)
        known[parts] = found
    return known[parts]


def rising(start, order):
    """Return start (start + 2) … with `order` factors: E x^order for a chi-square x with `start` degrees of freedom."""
    return prod(start + 2 * j for j in range(order))


@pytest.mark.parametrize(
    ("parts", "polynomial"),
    [
        ((0,), d),
        ((1,), n * d),
        ((2,), n * d * (n + d + 1)),
        ((3,), n * d * (n**2 + d**2 + 3 * n * d + 3 * n + 3 * d + 4)),
        ((1, 1), n * d * (n * d + 2)),
        ((2, 1), (n * d + 4) * n * d * (n + d + 1)),
        ((2, 0, 0), d**2 * n * d * (n + d + 1)),
    ],
)
def test_by_hand(parts, polynomial):
    assert trace_moment_polynomial(parts) == sp.Poly(polynomial, n, d)
    assert trace_moment(parts, 3, 7) == Fraction(int(polynomial.subs({n: 3, d: 7})), 3 ** sum(parts))


@pytest.mark.parametrize("parts", SMALL)
@pytest.mark.parametrize(("samples", "dimension"), [(2, 5), (4, 3), (1, 1)])
def test_by_pairings(parts, samples, dimension):
    assert trace_moment(parts, samples, dimension) * samples ** sum(parts) == by_pairings(parts, samples, dimension)


@pytest.mark.parametrize("parts", [(2,), (1, 2), (3,), (2, 2), (4,)])
@pytest.mark.parametrize(("samples", "dimension"), [(2, 3), (3, 2)])
def test_by_definition(parts, samples, dimension):
    assert trace_moment(parts, samples, dimension) * samples ** sum(parts) == by_definition(parts, samples, dimension)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 12, 26])
def test_by_zonal_polynomials(k):
    for samples, dimension in [(1, 1), (3, 8), (100, 57)]:
        assert trace_moment([k], samples, dimension) * samples**k == by_zonal_polynomials(k, samples, dimension)


@pytest.mark.parametrize("parts", LONG)
def test_whichever_trace_is_integrated_by_parts(parts):
    for samples, dimension in [(9, 40), (31, 4)]:
        known = by_the_largest_first(parts, samples, dimension, {})
        assert trace_moment(parts, samples, dimension) * samples ** sum(parts) == known


@pytest.mark.parametrize("parts", [*SMALL, *LONG, (40,)])
def test_scalar_limits(parts):
    order = sum(parts)
    assert trace_moment(parts, 6, 1) == Fraction(rising(6, order), 6**order)
    assert trace_moment(parts, 1, 6) == rising(6, order)


@pytest.mark.parametrize("times", [1, 2, 7, 26])
def test_the_trace_alone_is_a_chi_square(times):
    assert trace_moment([1] * times, 4, 9) == Fraction(rising(36, times), 4**times)


@pytest.mark.parametrize("parts", [*SMALL, (8,), (3, 5), (13, 13)])
def test_samples_and_dimension_change_roles(parts):
    polynomial = trace_moment_polynomial(parts)
    swapped = {(b, a): c for (a, b), c in polynomial.terms()}
    assert dict(polynomial.terms()) == swapped
    # Every coefficient counts some pairings, and the coefficients' sum counts all pairings.
    assert all(c > 0 for c in swapped.values())
    assert polynomial.eval({n: 1, d: 1}) == sp.factorial2(2 * sum(parts) - 1)


@pytest.mark.parametrize("k", [1, 2, 5, 11])
def test_the_leading_terms_are_those_of_marchenko_and_pastur(k):
    coefficients = dict(trace_moment_polynomial([k]).terms())
    top = {powers: c for powers, c in coefficients.items() if sum(powers) == k + 1}
    assert top == {(a, k + 1 - a): comb(k, a) * comb(k, a - 1) // k for a in range(1, k + 1)}
    assert max(map(sum, coefficients)) == k + 1


@pytest.mark.parametrize("parts", [(3,), (2, 2), (8,), (1, 2, 3), (0, 2)])
def test_numbers_expressions_and_other_rings_agree(parts):
    at = Fraction(7, 2), Fraction(5, 3)
    exact = trace_moment(parts, *at)
    m = sp.Symbol("m", positive=True)
    assert isinstance(exact, Fraction)
    assert trace_moment(parts, n, d).subs({n: sp.Rational(7, 2), d: sp.Rational(5, 3)}) == exact
    assert trace_moment(parts, m + 1, sp.Rational(5, 3)).subs(m, sp.Rational(5, 2)) == exact
    assert trace_moment(parts, *(flint.fmpq(x.numerator, x.denominator) for x in at)) == flint.fmpq(
        exact.numerator, exact.denominator
    )
    assert trace_moment(parts, at[0], sp.Rational(5, 3)) == exact
    modulus = 10007
    whole = trace_moment(parts, 8, 3)
    assert trace_moment(parts, flint.nmod(8, modulus), flint.nmod(3, modulus)) == flint.nmod(
        whole.numerator, modulus
    ) / flint.nmod(whole.denominator, modulus)


def test_in_symbols():
    assert sp.expand(trace_moment([2], n, d) - d * (n + d + 1) / n) == 0
    assert trace_moment([2], 4, 3) == 6


@pytest.mark.parametrize("size", [(1000.0, 700.0), (20.0, 3000.0)])
def test_nothing_cancels_in_floats(size):
    exact = trace_moment([26], *map(int, size))
    assert trace_moment([26], *size) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize(("samples", "dimension"), [(5, 2), (30, 11), (3, 8)])
def test_the_list_of_moments(samples, dimension):
    found = trace_moments(12, samples, dimension)
    assert found == [trace_moment([k], samples, dimension) for k in range(13)]
    assert found[:2] == [dimension, dimension]
    assert trace_moments(3, n, d)[2] == trace_moment([2], n, d)
    assert trace_moments(0, samples, dimension) == [dimension]


@pytest.mark.parametrize("parts", [(1,), (2,), (3,), (2, 1), (2, 2)])
@pytest.mark.parametrize(("samples", "dimension"), [(3, 5), (6, 2)])
def test_against_samples(parts, samples, dimension):
    X = np.random.default_rng(7).standard_normal((100_000, dimension, samples))
    S = X @ X.transpose(0, 2, 1) / samples
    traces = [np.trace(np.linalg.matrix_power(S, k), axis1=1, axis2=2) for k in parts]
    products = np.prod(traces, axis=0)
    error = products.std(ddof=1) / np.sqrt(len(products))
    assert abs(products.mean() - float(trace_moment(parts, samples, dimension))) <= 6 * error


@pytest.mark.parametrize(("parts", "products"), [((26,), 506), ((40,), 2256), ((13, 13), 472), ((1,) * 26, 26)])
def test_few_products_occur(parts, products):
    known = {}
    module._moment(parts, 5, 7, known)
    assert len(known) == products


@pytest.mark.parametrize("parts", [*LONG, (40,), (20, 20)])
def test_high_orders_take_little_time(parts):
    assert trace_moment(parts, 1000, 57) > 0


def test_polynomials_take_little_time():
    assert trace_moment_polynomial([26]).total_degree() == 27


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "parts: at least one is needed"),
        ([2, -1], "k = -1: must be a non-negative integer"),
        ([Fraction(1, 2)], "k = 1/2: must be a non-negative integer"),
        ([2.0], "k = 2.0: must be a non-negative integer"),
        ([LARGEST_ORDER, 1], f"order = {LARGEST_ORDER + 1}: must be at most {LARGEST_ORDER}"),
    ],
)
def test_powers_that_are_refused(parts, message):
    with pytest.raises(InputError) as first:
        trace_moment(parts, 3, 4)
    with pytest.raises(InputError) as second:
        trace_moment_polynomial(parts)
    assert str(first.value) == str(second.value) == message


@pytest.mark.parametrize("up_to", [-1, Fraction(1, 2), LARGEST_ORDER + 1])
def test_lists_that_are_refused(up_to):
    with pytest.raises(InputError):
        trace_moments(up_to, 3, 4)


@pytest.mark.parametrize("size", [0, -2, Fraction(-1, 2), sp.Integer(0), -n])
def test_sizes_that_are_refused(size):
    for function, first in ((trace_moment, [2]), (trace_moments, 2)):
        with pytest.raises(InputError, match=r"^n = .*: must be positive$"):
            function(first, size, 4)
        with pytest.raises(InputError, match=r"^d = .*: must be positive$"):
            function(first, 4, size)


K, A, B = sp.symbols("k a b", positive=True)


@pytest.mark.parametrize("k", [0, 1, 2, 5, 26])
def test_the_primitive_is_exact_at_rationals(k):
    found = evaluate_rising(wishart_trace_moment(K, A, B), {"k": k, "a": 9, "b": Fraction(5, 2)})
    assert found == (trace_moment([k], 9, Fraction(5, 2)), None)


@pytest.mark.parametrize("k", [0, 1, 2, 8, 26])
def test_the_primitive_in_balls(k):
    found, bits = evaluate_rising(
        wishart_trace_moment(sp.Integer(k), sp.sqrt(A), sp.exp(B)), {"a": 2, "b": 1}, digits=30
    )
    right = sp.N(trace_moment([k], sp.sqrt(2), sp.E), 60)
    assert bits == 128
    assert found.lower <= sp.Rational(right) <= found.upper
    assert found.upper - found.lower < Fraction(1, 10**30) * found.upper


@pytest.mark.parametrize("k", [-1, Fraction(5, 2), LARGEST_ORDER + 1])
def test_powers_at_which_the_primitive_is_undefined(k):
    with pytest.raises(UndefinedError, match="k: must be an integer from 0"):
        evaluate_rising(wishart_trace_moment(K, A, B), {"k": k, "a": 9, "b": 4})
    with pytest.raises(UndefinedError, match="k: must be an integer from 0"):
        evaluate_rising(wishart_trace_moment(K, sp.sqrt(A), B), {"k": k, "a": 2, "b": 4})


def test_no_sample_is_a_division_by_zero_for_the_primitive():
    with pytest.raises(UndefinedError, match="division by zero"):
        evaluate_rising(wishart_trace_moment(K, A, B), {"k": 2, "a": 0, "b": 4})


def test_a_power_that_no_precision_decides():
    with pytest.raises(UndecidedError):
        evaluate_rising(wishart_trace_moment(sp.sqrt(A) * sp.sqrt(B), A, B), {"a": 2, "b": 2})


def test_the_primitive_in_a_statement():
    moment = wishart_trace_moment(K, A, B)
    assert from_data(to_data(moment)) == moment
    names = tuple(Parameter(name, "integer", name, minimum=1) for name in "kab")
    clauses = (
        Inequality("cauchy_schwarz", sp.Ge(moment * B, wishart_trace_moment(K / 2, A, B) ** 2)),
        Inequality("jensen", sp.Gt(moment, B * sp.exp(-1 / A))),
        Inequality("too_small", sp.Le(moment, B)),
    )
    theorem = Theorem(
        "user.moments", "a title", Source("1", "derived here"), Statement(names, clauses), {"k": 4, "a": 3, "b": 5}
    )
    result = verify.check(theorem, k=4, a=3, b=5)
    assert [clause.outcome for clause in result.clauses] == [Outcome.VERIFIED, Outcome.VERIFIED, Outcome.REFUTED]
    assert all(clause.evidence is Evidence.CERTIFIED for clause in result.clauses)
