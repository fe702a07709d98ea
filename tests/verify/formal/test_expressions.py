"""Expressions as terms over the reals, each with the conditions under which it has a value."""

import pytest
import sympy as sp

from verify import to_data
from verify.formal.expressions import MOST_ORDER, NotSaidError, Terms
from verify.rechecker import terms

x, y = sp.symbols("x y", real=True)
n = sp.Symbol("n", integer=True)
X, Y = ["Symbol", "x", "real"], ["Symbol", "y", "real"]
SYMBOLS = {"x": "x", "y": "y", "n": "IZR n"}


def written(expression):
    terms = Terms(SYMBOLS, {"n": "n"})
    return terms.term(to_data(expression)), [need.text for need in terms.needs.values()]


@pytest.mark.parametrize(
    ("expression", "term", "needs"),
    [
        (x**2 + 1, "1 + x ^ 2", []),
        (-x * y, "- (x * y)", []),
        (1 / x, "/ x", ["x <> 0"]),
        (1 / (x - 1), "/ (- 1 + x)", ["- 1 + x <> 0"]),
        (x**-2, "/ x ^ 2", ["x <> 0"]),
        (sp.sqrt(x), "sqrt x", ["0 <= x"]),
        (1 / sp.sqrt(x), "/ sqrt x", ["0 < x"]),
        (sp.log(x + 1), "ln (1 + x)", ["0 < 1 + x"]),
        (sp.exp(-x), "exp (- x)", []),
        (sp.Max(1, x), "Rmax 1 x", []),
        (sp.Abs(x), "Rabs x", []),
        (sp.floor(x), "whole_part x", []),
        (sp.tan(x), "tan x", ["cos x <> 0"]),
        (x ** (n - 1), "powerRZ x (((-1) + n))", ["(x <> 0 \\/ (0 <= ((-1) + n))%Z)"]),
        (x**y, "real_power x y", ["real_power_defined x y"]),
        (x ** sp.Rational(1, 3), "real_power x (1 / 3)", ["0 <= x"]),
        (sp.log(1 / x), "ln (/ x)", ["x <> 0", "0 < / x"]),
    ],
)
def test_a_term_comes_with_its_needs(expression, term, needs):
    assert written(expression) == (term, needs)


@pytest.mark.parametrize(
    ("data", "term"),
    [
        (["Add", X, ["Mul", ["Integer", "-1"], Y]], "x - y"),
        (["Add", X, ["Mul", ["Integer", "-2"], ["Add", X, Y]]], "x - 2 * (x + y)"),
        (["Mul", ["Rational", "-3/20"], X], "- (3 / 20 * x)"),
        (["Mul", Y, ["Pow", X, ["Integer", "-2"]]], "y / x ^ 2"),
        (["Pow", ["Mul", X, Y], ["Integer", "2"]], "(x * y) ^ 2"),
        (["Add", X, ["Integer", "-1"]], "x - 1"),
    ],
)
def test_signs_and_quotients_are_written_as_such(data, term):
    assert Terms(SYMBOLS).term(data) == term


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (sp.Derivative(x**2 * y, x, y), "several symbols"),
        (sp.Subs(sp.Derivative(x**2 * y, x, y), x, 1), "several symbols"),
        (sp.Subs(sp.Derivative(x**2 * y, x), (x, y), (1, 2)), "several symbols"),
        (sp.Derivative(sp.exp(n), (n, 2)), "in an integer"),
        (sp.Derivative(sp.exp(x), (x, n)), "another order than 1 to 20"),
        (sp.Derivative(x**3, (x, 21)), "another order than 1 to 20"),
        (sp.Derivative(sp.Subs(sp.Derivative(x**2 * y, x), x, 3), y), "inside another one"),
        (sp.Limit(n, n, 0, "+"), "in an integer"),
        (sp.Limit(x, x, 0, "+-"), "other than from above"),
        (sp.Limit(1 / x, x, 0, "-"), "other than from above"),
        (sp.Limit(sp.exp(-x), x, sp.oo), "Infinity"),
    ],
)
def test_other_derivatives_than_in_one_symbol_and_other_limits_than_from_above_are_refused(expression, why):
    with pytest.raises(NotSaidError, match=why):
        written(expression)


def test_the_order_that_is_exported_is_the_one_that_the_re_checker_reads():
    assert MOST_ORDER == terms._MOST_ORDER == 20


def test_a_divisor_that_is_a_power_is_not_0():
    power = ["Pow", ["Pow", X, Y], ["Integer", "-1"]]
    terms = Terms(SYMBOLS)
    assert terms.term(power) == "/ real_power x y"
    assert "real_power x y <> 0" in terms.needs and "real_power_defined x y" in terms.needs


@pytest.mark.parametrize("expression", [sp.Sum(x, (n, 1, 3)), sp.factorial(n)])
def test_a_form_that_is_not_exported_is_refused_by_name(expression):
    with pytest.raises(NotSaidError, match=type(expression).__name__):
        written(expression)


def at(body, symbol, point):
    return ["Subs", body, ["Tuple", symbol], ["Tuple", point]]


def test_an_expression_at_a_point_has_the_point_in_the_symbols_place():
    slope = ["Derivative", ["Mul", X, ["Pow", Y, ["Integer", "2"]]], ["Tuple", Y, ["Integer", "1"]]]
    terms = Terms(SYMBOLS)
    assert terms.term(at(["Add", X, Y], X, ["Integer", "3"])) == "3 + y"
    assert terms.term(at(slope, X, ["Integer", "3"])) == "slope_0"
    assert "fun y : R => 3 * y ^ 2" in next(iter(terms.slopes))


def test_a_derivative_of_second_order_has_one_of_first_order_around_the_point():
    terms = Terms(SYMBOLS)
    assert terms.term(to_data(sp.Derivative(1 / x, (x, 2)))) == "slope_0"
    (slope,) = terms.slopes.values()
    assert slope.said == (
        "locally x (fun x : R => x <> 0)",
        "locally x (fun x : R => ex_derive_n (fun x : R => / x) 1%nat x)",
        "is_derive_n (fun x : R => / x) 2%nat x slope_0",
    )


def test_a_limit_has_values_above_the_point():
    terms = Terms(SYMBOLS)
    assert terms.term(to_data(sp.Limit(y / x, x, 0, "+"))) == "limit_0"
    (slope,) = terms.slopes.values()
    assert slope.said == (
        "at_right 0 (fun x : R => x <> 0)",
        "filterlim (fun x : R => / x * y) (at_right 0) (locally limit_0)",
    )


SLOPE_IN_Y = ["Derivative", ["Mul", X, Y], ["Tuple", Y, ["Integer", "1"]]]
LIMIT_IN_Y = ["Limit", ["Add", X, Y], Y, ["Integer", "0"], ["Symbol", "+"]]


@pytest.mark.parametrize(
    ("body", "symbol", "point"),
    [
        (SLOPE_IN_Y, X, Y),
        (LIMIT_IN_Y, X, Y),
        # Only the first Y is the symbol of Subs; the derivative's Y is bound.
        (["Add", Y, SLOPE_IN_Y], Y, ["Integer", "0"]),
        (["Mul", Y, LIMIT_IN_Y], Y, X),
    ],
)
def test_a_symbol_or_a_point_that_is_bound_in_the_expression_is_refused(body, symbol, point):
    with pytest.raises(NotSaidError, match="bound in the expression"):
        Terms(SYMBOLS).term(at(body, symbol, point))


TWICE, N = ["Symbol", "twice", "real"], ["Symbol", "n", "integer"]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (["Derivative", ["Add", TWICE, Y], ["Tuple", Y, ["Integer", "1"]]], "y"),
        (["Limit", ["Add", TWICE, Y], Y, *LIMIT_IN_Y[3:]], "y"),
        (at(["Add", TWICE, X], X, ["Integer", "2"]), "x"),
        (at(["Add", TWICE, N], N, ["Integer", "2"]), "n"),
    ],
)
def test_a_definition_that_takes_a_symbol_which_is_bound_around_it_is_refused(data, name):
    terms = Terms(SYMBOLS, {"n": "n"}, definitions={"twice": ("def_twice n x y", "")})
    with pytest.raises(NotSaidError, match=f"a definition that takes {name}, which is bound"):
        terms.term(data)
