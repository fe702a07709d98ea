"""The conditions under which an expression has a value: every rewriting keeps them, and adds none."""

import pytest
import sympy as sp

import verify
from verify import Identity, Inequality, Outcome
from verify.language.definedness import Provided, evaluated, needs, provided, rebuilt, substituted, taken_apart
from verify.language.expressions import Case, decided

a, d, e, t, u, x, y = sp.symbols("a d e t u x y")
KEPT = {"evaluate": False}


@pytest.mark.parametrize(
    ("expression", "put", "expected"),
    [
        (d**2, {d: sp.sqrt(u)}, Provided(u, sp.sqrt(u))),
        (d * x, {d: 1 / x}, Provided(1, 1 / x)),
        (sp.exp(d), {d: sp.log(u)}, Provided(u, sp.log(u))),
        (d - d * 1 + y + d, {d: 1 / x}, y + 1 / x),
        (y * d, {d: 1 / x}, y / x),
        (0 * x + d, {d: x**2}, x**2),
        (d * e, {d: 1 / x, e: x}, Provided(1, 1 / x)),
        (1 / d, {d: 1 / x}, Provided(x, 1 / x)),
        (sp.Limit(d * a * t / (t + 1), t, sp.oo), {d: 1 / a}, sp.Limit(Provided(t / (t + 1), 1 / a), t, sp.oo)),
        (sp.Limit(d * t, t, 0) + 1, {d: 1 / t}, sp.Limit(Provided(1, 1 / t), t, 0) + 1),
        (sp.Subs(d * t, t, d), {d: 1 / t}, sp.Subs(Provided(1, 1 / t), t, 1 / t)),
        (sp.Derivative(d * t * u, u), {d: 1 / t}, sp.Derivative(Provided(u, 1 / t), u)),
        (sp.Limit(d * t / (t + 1), t, sp.oo), {d: 1 / a}, sp.Limit(t / (a * (t + 1)), t, sp.oo)),
    ],
    ids=str,
)
def test_needs_of_parts_that_a_substitution_drops_are_kept(expression, put, expected):
    assert substituted(expression, put) == expected


def test_needs_of_unevaluated_parts_are_kept_by_evaluation():
    assert rebuilt(sp.Pow(sp.sqrt(u), 2, **KEPT)) == Provided(u, sp.sqrt(u))
    assert rebuilt(sp.Mul(x, 1 / x, **KEPT)) == Provided(1, 1 / x)
    pair = sp.Mul(a, sp.exp(1 / (x - 1)), sp.exp(-1 / (x - 1)), **KEPT)
    assert rebuilt(pair) == Provided(a, 1 / (x - 1))
    # The conditions are in SymPy's evaluated form, so a second rebuilding finds no further conditions.
    odd = sp.Pow(sp.Add(x, sp.Mul(-1, 3, **KEPT), **KEPT), -1, **KEPT)
    assert rebuilt(odd) == 1 / (x - 3) and rebuilt(rebuilt(pair)) == rebuilt(pair)
    # In the unevaluated form, SymPy's search for common parts would lose a term: x³ + 3x would become 2x³.
    assert rebuilt(sp.Add(sp.Mul(1, x**3, **KEPT), 3 * x, **KEPT)) == x**3 + 3 * x


def test_an_expression_needs_its_parts_that_may_lack_a_value():
    assert needs(x**2 + sp.exp(y) * 3 + sp.sqrt(2)) == ()
    assert needs(sp.log(1 / x)) == (1 / x, sp.log(1 / x))
    assert needs(sp.Derivative(sp.log(u), u)) == (sp.log(u),)
    assert needs(sp.Subs(sp.log(u), u, x - 1)) == (sp.log(x - 1),)
    limit = sp.Limit(t / (t + a) + 1 / y, t, 0)
    assert set(needs(limit)) == {limit, 1 / y}
    assert needs(sp.zoo + x) == (sp.zoo,) and needs(1 / sp.Symbol("z") ** 0) == ()


def test_of_a_case_only_what_is_chosen_is_needed():
    words, w = {"w": ("one", "two")}, sp.Symbol("w")
    case = Case(w, sp.sqrt(u), 1 / x)
    assert decided(case**2, words, {"w": "one"}) == Provided(u, sp.sqrt(u))
    assert decided(case * x, words, {"w": "two"}) == Provided(1, 1 / x)
    nested = Case(w, Case(w, x, 1 / y), sp.log(y)) + 1
    assert decided(nested, words, {"w": "one"}) == x + 1


def test_taken_apart_and_put_together():
    both = provided(y, [1 / x, sp.log(u)]) * 2 + 1
    value, needed = taken_apart(both)
    assert value == 2 * y + 1 and set(needed) == {1 / x, sp.log(u)}
    assert taken_apart(x + 1) == (x + 1, ())
    assert provided(1 / x, [1 / x]) == 1 / x
    assert evaluated([1 / x, y + 1 / x], y) == Provided(y, 1 / x)
    assert sp.diff(provided(x**2, [1 / x]), x) == Provided(2 * x, 1 / x)


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        (x ** sp.Rational(3, 2), sp.log(x)),
        (sp.exp((2 * x + 1) ** sp.Rational(5, 2)), sp.log(2 * x + 1)),
        (x ** sp.Symbol("power"), sp.log(x)),
        (x**3 + 1 / x, None),
        (2**x * sp.sqrt(u), None),
    ],
)
def test_a_derivative_is_two_sided(expression, needed):
    derivative = sp.Derivative(expression, x)
    assert {need for need in needs(derivative) if isinstance(need, sp.log)} == ({needed} if needed else set())


ROOT = sp.Rational(3, 2)


@pytest.mark.parametrize(
    "slope",
    [
        sp.Derivative(x**ROOT, x),
        sp.Subs(sp.Derivative(u**ROOT, u), u, x),
        sp.Derivative(sp.exp(x**ROOT), x),
        sp.Derivative(x + x**ROOT, x),
    ],
    ids=str,
)
def test_at_the_end_of_a_root_there_is_no_slope(make_theorem, slope):
    # x^(3/2) has no value for x < 0, so it has no derivative at 0, although the formula for the derivative is 0 there.
    below = make_theorem(Inequality("c", sp.Le(slope, 100, evaluate=False)))
    exact = make_theorem(Identity("c", slope, slope + x**2))
    for theorem in (below, exact):
        result = verify.check(theorem, x=0)
        assert (result.outcome, result.evidence) == (Outcome.INCONCLUSIVE, None)
    assert verify.check(below, x=1).outcome is Outcome.VERIFIED
    assert verify.check(exact, x=1).outcome is Outcome.REFUTED
