"""Compiled programs, compared with SymPy's exact substitution and with mpmath."""

import math
import operator
from fractions import Fraction

import flint
import mpmath
import pytest
import sympy as sp
from hypothesis import assume, given, settings, strategies as st

from verify.errors import NotExactError, TheoremError, UndefinedError
from verify.evaluation.arithmetic import Exact, balls, enclosure_of_ball, exact_fraction
from verify.evaluation.programs import compile_program
from verify.evaluation.values import evaluate_rising
from verify.language.expressions import primitive

x, y, z = sp.symbols("x y z", positive=True)
EXACT = Exact()

RATIONAL = st.recursive(
    st.sampled_from([x, y, z, sp.Integer(2), sp.Rational(-1, 3), sp.Integer(-1)]),
    lambda inner: (
        st.builds(sp.Add, inner, inner)
        | st.builds(sp.Mul, inner, inner)
        | st.builds(operator.sub, inner, inner)
        | st.builds(lambda e, k: (e**2 + 1) ** k, inner, st.integers(-2, 3))
    ),
    max_leaves=10,
)
TRANSCENDENTAL = st.recursive(
    st.sampled_from([x, y, z, sp.Rational(1, 2), sp.Integer(-2)]),
    lambda inner: (
        st.builds(sp.Add, inner, inner)
        | st.builds(sp.Mul, inner, inner)
        | st.builds(lambda e: sp.exp(e / (1 + e**2)), inner)
        | st.builds(lambda e: sp.exp(-2 * x + y / 3) / (1 + e**2), inner)
        | st.builds(lambda e: sp.log(1 + e**2), inner)
        | st.builds(lambda e: (1 + e**2) ** sp.Rational(-3, 2), inner)
    ),
    max_leaves=6,
)
POINTS = st.tuples(*[st.fractions(Fraction(1, 4), 3, max_denominator=20)] * 3)


def _rational(value):
    return sp.Rational(value.numerator, value.denominator)


@settings(max_examples=100)
@given(RATIONAL, POINTS, st.permutations([x, y, z]), st.integers(0, 3))
def test_a_rational_expression_has_the_value_that_sympy_gives(expression, point, symbols, fixed):
    values = dict(zip(symbols, point, strict=True))
    expected = sp.sympify(expression).subs({s: _rational(v) for s, v in values.items()})
    assume(expected.is_finite)
    program = compile_program([expression], symbols[fixed:], symbols[:fixed])
    numbers = [EXACT.number(values[s]) for s in symbols]
    (raw,) = program.bind(EXACT, numbers[:fixed])(*numbers[fixed:])
    assert exact_fraction(raw) == Fraction(int(expected.p), int(expected.q))


@settings(max_examples=60)
@given(TRANSCENDENTAL, POINTS, st.integers(0, 3))
def test_an_expression_in_balls_contains_the_value_that_mpmath_gives(expression, point, fixed):
    expression = sp.sympify(expression)
    program = compile_program([expression], (x, y, z)[fixed:], (x, y, z)[:fixed])
    bits = 200
    with balls(bits) as ball:
        numbers = [ball.number(value) for value in point]
        (raw,) = program.bind(ball, numbers[:fixed])(*numbers[fixed:])
        found = enclosure_of_ball(raw)
    with mpmath.workprec(3 * bits):
        arguments = [mpmath.mpf(v.numerator) / v.denominator for v in point]
        true = sp.lambdify((x, y, z), expression, "mpmath")(*arguments)
        lower, upper = (mpmath.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper))
        slop = (1 + abs(true)) * mpmath.mpf(2) ** (-2 * bits)
        assert lower - slop <= true <= upper + slop
        # There are at most some 30 roundings of values between 2^-40 and 2^40. The bound 2^-100 is not tight, but far
        # below the error of an operation in floats.
        assert upper - lower <= (1 + abs(true)) * mpmath.mpf(2) ** -100


def test_results_come_in_order_and_share_what_they_share():
    program = compile_program([x + y, x - y, (x + y) ** 2], (x, y))
    assert [exact_fraction(r) for r in program.bind(EXACT)(flint.fmpq(2), flint.fmpq(5))] == [7, -3, 49]
    assert compile_program([], (x,)).bind(EXACT)(flint.fmpq(1)) == ()


def test_derivatives_substitutions_and_limits_are_carried_out():
    expressions = [
        sp.Derivative(x**3, x),
        sp.Subs(sp.Derivative(y**2 * x, y), y, x + 1),
        sp.Limit((z**2 - 1) / z, z, 1),
    ]
    program = compile_program(expressions, (x,))
    # At x = 2 the values are 3·x², 2·(x + 1)·x and 0.
    assert [exact_fraction(value) for value in program.bind(EXACT)(flint.fmpq(2))] == [12, 12, 0]


def test_exponentials_of_multiples_share_one_call():
    program = compile_program([sp.exp(2 * x) + sp.exp(-x / 3)], (x,))
    assert program.source.count("exp(") == 1


def test_terms_in_fixed_inputs_alone_are_computed_once():
    calls = []

    @primitive(1)
    def counted(arithmetic, a):
        calls.append(a)
        return a * a

    program = compile_program([counted(x) * y + counted(x + 1)], (y,), (x,))
    bound = program.bind(EXACT, [flint.fmpq(3)])
    assert len(calls) == 2
    # The value is 9·y + 16.
    assert [exact_fraction(bound(flint.fmpq(k))[0]) for k in (0, 1, 2)] == [16, 25, 34]
    assert len(calls) == 2


def test_a_symbol_without_a_value_is_refused():
    with pytest.raises(TheoremError, match="y: a symbol without a value"):
        compile_program([x + y], (x,))


@pytest.mark.parametrize("expression", [sp.asin(x), sp.Float(0.5) * x, sp.GoldenRatio * x])
def test_expressions_that_cannot_be_evaluated_are_refused(expression):
    with pytest.raises(TheoremError, match="cannot be evaluated"):
        compile_program([expression], (x,))


@pytest.mark.parametrize("expression", [sp.I * x, sp.oo * x, -sp.oo * x, sp.zoo * x, sp.nan])
def test_infinite_and_complex_constants_have_no_value(expression):
    # The language has no such constants: they arise when values are substituted.
    with pytest.raises(UndefinedError, match="there is a"):
        compile_program([expression], (x,))


def test_nothing_that_an_author_named_enters_the_source():
    hostile = sp.Symbol("__import__('os').abort()")
    program = compile_program([hostile + 1], (hostile,))
    assert "import" not in program.prelude + program.source
    assert program.bind(EXACT)(flint.fmpq(1)) == (flint.fmpq(2),)


@pytest.mark.parametrize("value", [0, -1])
def test_a_value_that_does_not_exist_is_no_value(value):
    division = compile_program([1 / x], (x,)).bind(EXACT)
    assert division(flint.fmpq(2)) == (flint.fmpq(1, 2),)
    if value == 0:
        with pytest.raises(ZeroDivisionError):
            division(flint.fmpq(0))
    with balls(64) as ball:
        (logarithm,) = compile_program([sp.log(x)], (x,)).bind(ball)(flint.arb(value))
        assert not logarithm.is_finite()


def test_positive_terms_come_first_so_that_bounds_do_not_begin_with_a_negation():
    program = compile_program([-x + y], (x, y))
    assert program.source.strip() == "return ((x1 - x0), )"


@pytest.mark.parametrize(("power", "value"), [(1, "3/2"), (3, "27/8"), (-1, "2/3"), (-3, "8/27")])
def test_half_powers_of_squares_are_exact(power, value):
    program = compile_program([x ** sp.Rational(power, 2)], (x,)).bind(EXACT)
    assert exact_fraction(program(flint.fmpq(9, 4))[0]) == Fraction(value)
    if power > 0:
        assert program(flint.fmpq(0)) == (flint.fmpq(0),)


def test_a_power_with_a_symbolic_exponent_goes_through_the_logarithm():
    with balls(128) as ball:
        (raw,) = compile_program([x**y], (x, y)).bind(ball)(flint.arb(3), flint.arb(4))
        assert raw.contains(81) and raw.rad() < flint.arb(2) ** -100


def test_a_power_too_long_to_be_written_out_is_enclosed():
    # FLINT would end the process if an exact power did not fit in memory.
    (number,) = compile_program([(1 + x) ** 10**9], [x]).bind(EXACT)(flint.fmpq(-2))
    assert number == 1
    with pytest.raises(NotExactError, match="too long"):
        compile_program([(1 + x) ** 10**9], [x]).bind(EXACT)(flint.fmpq(10**18))
    with pytest.raises(NotExactError, match="too long"):
        compile_program([x ** sp.Rational(10**9 + 1, 2)], [x]).bind(EXACT)(flint.fmpq(10**18))
    # (1 + 1/n)^n = e (1 − 1/(2n) + …).
    near_e = evaluate_rising((1 + x) ** 10**9, {"x": Fraction(1, 10**9)}, digits=10)[0]
    assert near_e.upper - near_e.lower < 1e-8 and abs(float(near_e.upper) - math.e * (1 - 5e-10)) < 1e-8
    with pytest.raises(UndefinedError, match="not written out"):
        evaluate_rising((1 + x) ** 10**9, {"x": 10**18}, digits=10)
