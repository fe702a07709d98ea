"""The functions of the language in every arithmetic, compared with a second reader of the same text."""

import random
from fractions import Fraction

import flint
import pytest
import sympy as sp

import verify
from tests.outside.reading import EXACT, HIGH, NotExactError, Statement
from tests.verify.evaluation.heads import STATEMENTS, instances
from verify.errors import NotExactError as NotRational, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import Exact, Float64, balls, enclosure_of_ball
from verify.evaluation.functions import FUNCTIONS, MOST_TERMS, function_of
from verify.evaluation.intervals import intervals
from verify.evaluation.programs import compile_program
from verify.evaluation.running_errors import Estimates
from verify.evaluation.values import evaluate_rising, scan_values
from verify.language.expressions import to_data
from verify.language.heads.table import FUNCTIONS as IN_LINES
from verify.rechecker.clauses import CORE
from verify.rechecker.given import Given
from verify.rechecker.reading import Effort

DRAWN = 40
BITS = 200
# The tolerance for values with 60 digits. Near 0 the error is relative to the cancelling terms, below 10^6 here.
NEAR = Fraction(1, 10**48)


def second(text, instance):
    """Return the value of the left side of a statement's claim, and whether it is exact; None if it has no value."""
    read = Statement.read(text.replace("ceiling(3*x) + ceiling(-y)", "-floor(-3*x) - floor(y)"))
    for arithmetic in (EXACT, HIGH):
        state = {key: value for key, value in instance.items() if key != "t"}
        values = read.values(state, arithmetic)
        try:
            here = values | {name: eval(start, values) for name, (_, start) in read.recursions.items()}
            for step in range(instance.get("t", 0)):
                here["t"] = values["number"](step)
                here |= {name: eval(rule, here) for name, (rule, _) in read.recursions.items()}
            here["t"] = values["number"](instance.get("t", 0))
            found = eval(read.claim[0][0], here)
        except (NameError, NotExactError):
            continue
        except ZeroDivisionError:
            return None
        return (found, True) if isinstance(found, Fraction) else (_fraction(found), False)
    raise AssertionError(text)


def given_at(data, instance):
    """Return a statement's data at an instance as the re-checker reads them, without packages' second computations."""
    return Given(data, {key: str(each) for key, each in instance.items()}, Effort(), CORE)


def _fraction(value):
    sign, mantissa, exponent, _ = value._mpf_
    return Fraction(mantissa) * Fraction(2) ** exponent * (-1 if sign else 1)


def assert_close(enclosure, value, *, exact=False):
    """Assert that an enclosure is narrow and contains a number near the value; if `exact`, both ends are the value."""
    lower, upper = enclosure
    room = 0 if exact else NEAR * max(1, abs(value))
    assert lower - room <= value <= upper + room
    assert upper - lower <= room


@pytest.mark.parametrize("name", STATEMENTS)
def test_all_arithmetics_and_the_re_checker_have_the_value_of_a_second_reading(name):
    theorem = verify.claim(STATEMENTS[name])
    statement, generator = theorem.statement, random.Random(name)
    expression = statement.expand(statement.claims[0].relation.args[0])
    symbols = {symbol.name: symbol for symbol in expression.free_symbols}
    program = compile_program([expression], tuple(symbols.values()))
    held, data, in_data = 0, statement.to_data(), to_data(expression)
    for instance in instances(statement.parameters, generator, DRAWN):
        there = second(STATEMENTS[name], instance)
        given = given_at(data, instance)
        node = given.expression(in_data, "here")
        if there is None:
            with pytest.raises(UndefinedError):
                evaluate_rising(expression, instance)
            with pytest.raises(ValueError, match="there is a division by zero"):
                given.number(node, None)
            continue
        (value, exact), held = there, held + 1
        found, bits = evaluate_rising(expression, instance, digits=50)
        assert bits is None or not exact
        if bits is None:
            assert found == given.number(node, None)
        assert_close((found, found) if bits is None else (found.lower, found.upper), value, exact=exact)
        with balls(BITS) as ball:
            (raw,) = program.bind(ball)(*(ball.number(instance[key]) for key in symbols))
            enclosed = enclosure_of_ball(raw)
            again = enclosure_of_ball(given.number(node, BITS))
        assert_close((enclosed.lower, enclosed.upper), value)
        assert_close((again.lower, again.upper), value)
        (near,) = scan_values((expression,), instance)
        assert near == pytest.approx(float(value), rel=1e-9, abs=1e-9)
    assert held >= DRAWN // 2


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_check_says_what_the_second_reading_says(name):
    theorem, generator = verify.claim(STATEMENTS[name]), random.Random(name)
    decided = set()
    for instance in instances(theorem.statement.parameters, generator, 12):
        if (there := second(STATEMENTS[name], instance)) is not None:
            value, _ = there
            result = verify.check(theorem, instance)
            if result.outcome == "inconclusive":
                assert abs(value) < NEAR
            else:
                assert result.outcome == ("verified" if value >= 0 else "refuted")
                assert result.evidence in ("certified", "proved")
                decided.add(str(result.outcome))
    assert decided >= {"verified"}


@pytest.mark.parametrize(
    ("text", "instance", "error"),
    [
        ("factorial(n) >= 0", {"n": -1}, UndefinedError),
        ("factorial(x) >= 0", {"x": Fraction(1, 2)}, UndefinedError),
        ("binomial(n, m) >= 0", {"n": -1, "m": 0}, UndefinedError),
        ("binomial(n, m) >= 0", {"n": 2, "m": Fraction(1, 2)}, UndefinedError),
        ("binomial(x*exp(y), m) >= 0", {"x": 2, "y": 1, "m": 1}, UndecidedError),
        ("Sum(k, (k, 1, x)) >= 0", {"x": Fraction(3, 2)}, UndefinedError),
        ("Sum(1/k, (k, x, 2)) >= 0", {"x": -1}, UndefinedError),
        ("Product(k, (k, 1, exp(x))) >= 0", {"x": 1}, UndecidedError),
        ("Sum(k, (k, 1, n)) >= 0", {"n": MOST_TERMS + 1}, UndecidedError),
        ("tan(pi*x) >= 0", {"x": Fraction(1, 2)}, UndefinedError),
        ("Piecewise((1, log(x) < 0), (2, True)) >= 0", {"x": -1}, (UndecidedError, UndefinedError)),
        ("Piecewise((1/x, x < 1), (2, True)) >= 0", {"x": 0}, UndefinedError),
        ("abs(log(x)) >= 0", {"x": -1}, UndefinedError),
    ],
)
def test_undefined_and_undecided_values_are_errors(text, instance, error):
    statement = line_statement(text)
    with pytest.raises(error):
        evaluate_rising(statement.claims[0].relation.args[0], instance)
    given = given_at(statement.to_data(), instance)
    with pytest.raises(ValueError, match=r"no|too large|division|unbounded"):
        given.holds(given.relation(to_data(statement.claims[0].relation), "here"), "here")


def line_statement(text):
    from verify.claims.line import statement_of

    return statement_of(text)


def test_a_piece_that_is_not_decided_is_what_contains_both():
    x = sp.Symbol("x", real=True)
    pieces = compile_program([sp.Piecewise((x + 1, x < 1), (3, True))], (x,))
    with balls(64) as ball:
        (raw,) = pieces.bind(ball)(ball.number(1).union(ball.number(Fraction(1, 2))))
        assert raw.contains(2) and raw.contains(3) and raw.contains(flint.fmpq(3, 2)) and raw.rad() < 1
        assert not raw.contains(flint.fmpq(7, 2))


def test_every_function_of_a_line_is_computed():
    other = {"exp", "log", "sqrt", "abs", "Sum", "Product", "Piecewise", "Limit"}
    assert set(IN_LINES) - other == set(FUNCTIONS)
    for arithmetic in (Exact(), Float64()):
        for name in (*FUNCTIONS, "Sum", "Product", "Piecewise", "Iterate", "pi"):
            assert function_of(name, arithmetic).__name__ != "absent", (name, arithmetic.name)


def test_functions_that_an_arithmetic_lacks_are_undecided():
    x = sp.Symbol("x", real=True)
    with intervals() as arithmetic:
        program = compile_program([sp.floor(x)], (x,)).bind(arithmetic)
        with pytest.raises(UndecidedError, match="floor is not computed in interval arithmetic"):
            program(arithmetic.rational(1, 2))
    with pytest.raises(UndecidedError, match="sin is not computed in float64 with errors"):
        function_of("sin", Estimates())(1)


def test_long_numbers_are_not_computed_exactly():
    exact = Exact()
    for name, arguments in (("factorial", (10**5,)), ("binomial", (10**18, 10**9)), ("sin", (1,)), ("pi", ())):
        with pytest.raises(NotRational):
            function_of(name, exact)(*map(flint.fmpq, arguments))
    x, t = sp.Symbol("x", real=True), sp.Symbol("t", integer=True, nonnegative=True)
    squares = verify.Iterate(0, t, (sp.Symbol("k", integer=True, nonnegative=True), x), (sp.Rational(1, 3),), (x**2,))
    found, bits = evaluate_rising(squares, {"t": 20})
    assert bits is not None and 0 < found.lower <= found.upper < Fraction(1, 10**100000)


def test_arrays_and_complex_numbers_in_float64():
    import numpy as np

    x = sp.Symbol("x", real=True)
    program = compile_program([sp.Max(x, sp.sin(x)) + sp.floor(x)], (x,)).bind(Float64())
    (found,) = program(np.array([-0.5, 2.5]))
    assert found == pytest.approx([np.sin(-0.5) - 1, 4.5])
    with pytest.raises(UndefinedError, match="no real value"):
        function_of("Max", Float64())(1j, 1.0)
