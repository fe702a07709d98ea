"""Expressions as text and in LaTeX: SymPy prints evaluated parts; unevaluated parts are printed as stored."""

import pytest
import sympy as sp

import verify
from verify import Inequality, Parameter, Source, Statement, Theorem
from verify.printing import latex_of, text_of

x, y = sp.symbols("x y", real=True)
HALF = sp.Rational(1, 2)


def add(*parts):
    return sp.Add(*parts, evaluate=False)


def mul(*parts):
    return sp.Mul(*parts, evaluate=False)


def power(base, exponent):
    return sp.Pow(base, exponent, evaluate=False)


ONE_OVER_LOG_1 = power(sp.log(1, evaluate=False), -1)


@pytest.mark.parametrize(
    ("expression", "text", "latex"),
    [
        (power(sp.Integer(-1), -2), "(-1)**(-2)", r"\left(-1\right)^{-2}"),
        (1 + ONE_OVER_LOG_1 * x, "1 + x/log(1)", r"1 + x \cdot \frac{1}{\log{\left(1 \right)}}"),
        (power(power(x, 0), -2), "(x**0)**(-2)", r"\left(x^{0}\right)^{-2}"),
        (power(x, power(x, 0)), "x**(x**0)", "x^{x^{0}}"),
        (power(sp.exp(add(add(-2, x), add(0, 0)), evaluate=False), HALF), "sqrt(exp((x - 2) + (0 + 0)))", None),
        (add(x, mul(-1, x), -3, HALF), "x - x - 3 + 1/2", r"x - x - 3 + \frac{1}{2}"),
        (mul(-2, -3), "-2*(-3)", r"-2 \left(-3\right)"),
        (mul(x, mul(2, x)), "x*(2*x)", r"x \left(2 x\right)"),
        (mul(x, power(power(x, 2), -1)), "x/(x**2)", None),
        (mul(power(x, -1), x), "1/x*x", None),
        (mul(-1, sp.exp(x), sp.exp(-2 * x)), "-1*exp(x)*exp(-2*x)", r"-1 e^{x} e^{- 2 x}"),
        (mul(x, power(x, 1), power(sp.Integer(2), -1)), "x*x**1/2", None),
        (power(add(x, 0), -1), "1/(x + 0)", r"\frac{1}{x + 0}"),
        (sp.Derivative(add(x, 0), x), "Derivative(x + 0, x)", None),
    ],
)
def test_unevaluated_parts_are_written_as_held(expression, text, latex):
    assert text_of(expression) == text
    assert latex is None or latex_of(expression) == latex


@pytest.mark.parametrize(
    "expression",
    [
        x**2 - 2 * x + 1,
        -x / (2 * y) + sp.sqrt(2) * sp.exp(-x) / 3,
        (x + y) ** -2 * sp.log(x / 3),
        -sp.exp(x) * sp.exp(y) / (x + sp.exp(x)) ** 2,
        2 * (x + y),
        sp.Limit(1 / x, x, 0),
        sp.Derivative(x**2, x),
        sp.Subs(x**2, x, y),
        sp.Le(x, 1 / y, evaluate=False),
        sp.Eq(x, 1 / y, evaluate=False),
        sp.Symbol("A", commutative=False) ** 2 * sp.Symbol("B", commutative=False),
        sp.oo,
        "text",
        3,
    ],
)
def test_evaluated_expressions_are_written_by_sympy(expression):
    assert text_of(expression) == sp.sstr(expression) and latex_of(expression) == sp.latex(expression)


def test_a_zero_that_does_not_look_like_one_is_no_error():
    zero = sp.sqrt(3 + 2 * sp.sqrt(2)) - 1 - sp.sqrt(2)
    assert zero.equals(0)
    for one_over_zero in (1 / zero + x, x * (1 / zero) + y, power(zero, -2) + x):
        assert "sqrt(2*sqrt(2) + 3)" in text_of(one_over_zero) and latex_of(one_over_zero)


def _stated(relation):
    statement = Statement((Parameter("x", "rational", "x"),), (Inequality("c", relation),))
    return Theorem("user.kept", "kept", Source("s", "derived here"), statement, {"x": 2})


ROOT = power(sp.exp(add(add(-2, x), add(0, 0)), evaluate=False), HALF)


@pytest.mark.parametrize(
    ("relation", "claim", "outcome"),
    [
        (sp.Le(power(sp.Integer(-1), -2), x, evaluate=False), "(-1)**(-2) <= x", "verified"),
        (sp.Le(1 + ONE_OVER_LOG_1 * x, x, evaluate=False), "1 + x/log(1) <= x", "inconclusive"),
        (
            sp.Eq(add(power(power(x, sp.Rational(2, 3)), 0), ONE_OVER_LOG_1), 1 / x, evaluate=False),
            "Eq((x**(2/3))**0 + 1/log(1), 1/x)",
            "inconclusive",
        ),
        (sp.Eq(power(power(x, 0), -2), 1, evaluate=False), "Eq((x**0)**(-2), 1)", "verified"),
        (sp.Gt(ROOT, add(0, ROOT), evaluate=False), None, "refuted"),
    ],
)
def test_a_check_of_what_is_kept_is_shown_in_every_form(relation, claim, outcome):
    result = verify.check(_stated(relation), x=2)
    assert str(result.outcome) == outcome
    assert claim is None or f"c: {claim}" in str(result)
    for value in (result, _stated(relation), verify.prove(_stated(relation), seconds=2)):
        assert all((repr(value), str(value), value._repr_html_(), value._repr_markdown_()))


def test_eps_is_a_letter_of_its_own():
    eps, epsilon, lam = sp.symbols("eps epsilon lam")
    assert latex_of(eps) == r"\varepsilon" and latex_of(epsilon) == r"\epsilon" and latex_of(lam) == "lam"
    assert latex_of(sp.Symbol("eps_0")) == latex_of(sp.Symbol("eps0")) == r"\varepsilon_{0}"
    assert [latex_of(sp.Symbol(name)) for name in ("eps1x", "epsx", "mu_eps")] == ["eps1x", "epsx", r"\mu_{eps}"]
    # A product with a kept part is not written by SymPy's own printer.
    assert latex_of(sp.Mul(eps, sp.log(1, evaluate=False), evaluate=False)).startswith(r"\varepsilon ")
    assert text_of(eps * lam) == "eps*lam"
