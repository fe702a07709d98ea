"""What an expression needs to have a value: kept by each rewriting, and by nothing more than is needed."""

import pytest
import sympy as sp

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
def test_what_is_dropped_as_something_is_put_in_is_still_needed(expression, put, expected):
    assert substituted(expression, put) == expected


def test_what_was_kept_from_being_evaluated_is_needed_when_it_is():
    assert rebuilt(sp.Pow(sp.sqrt(u), 2, **KEPT)) == Provided(u, sp.sqrt(u))
    assert rebuilt(sp.Mul(x, 1 / x, **KEPT)) == Provided(1, 1 / x)
    pair = sp.Mul(a, sp.exp(1 / (x - 1)), sp.exp(-1 / (x - 1)), **KEPT)
    assert rebuilt(pair) == Provided(a, 1 / (x - 1))
    # What is needed is written as SymPy writes it: a second look finds nothing more.
    odd = sp.Pow(sp.Add(x, sp.Mul(-1, 3, **KEPT), **KEPT), -1, **KEPT)
    assert rebuilt(odd) == 1 / (x - 3) and rebuilt(rebuilt(pair)) == rebuilt(pair)
    # As it was written, SymPy's own search for common parts would lose a term: x³ + 3x became 2x³.
    assert rebuilt(sp.Add(sp.Mul(1, x**3, **KEPT), 3 * x, **KEPT)) == x**3 + 3 * x


def test_what_an_expression_needs():
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
