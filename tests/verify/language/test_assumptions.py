"""The assumptions that a symbol may have: SymPy simplifies with them when an expression is typed, before any check."""

from dataclasses import replace

import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line
from verify import (
    Bound,
    Dynamics,
    Hypothesis,
    Identity,
    Inequality,
    IsolatedRoot,
    LeastResidual,
    Outcome,
    Parameter,
    Reaches,
    Statement,
    TheoremError,
    ValueOver,
)
from verify.language.assumptions import is_integral

x, n = sp.Symbol("x", real=True), sp.Symbol("n", integer=True)
PARAMETERS = (Parameter("x", "rational", "x"), Parameter("n", "integer", "n"))
REAL = ({}, {"real": True})
BEYOND = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "even", "odd", "rational")


def bounded(left, **more):
    return Statement(PARAMETERS, (Inequality("c", sp.Le(left, x**2 + 5, evaluate=False)),), **more)


def defined(symbol, value=x):
    return bounded(symbol + x, definitions={symbol: value})


def followed(symbol, start=x):
    recursion = Dynamics((symbol,), (start,), (symbol + 2,), symbol)
    return Statement(PARAMETERS, (Reaches("c", recursion, sp.Integer(1)),))


WITHOUT_A_DOMAIN = {
    "definition": defined,
    "state": followed,
    "Subs": lambda symbol: bounded(sp.Subs(x * symbol, symbol, 3)),
    "Limit": lambda symbol: bounded(sp.Limit(x * symbol, symbol, 3)),
}


@pytest.mark.parametrize("assumed", [*BEYOND, "integer"])
@pytest.mark.parametrize("where", WITHOUT_A_DOMAIN)
def test_symbols_without_a_domain_assume_no_more_than_real(where, assumed):
    symbol = sp.Symbol("D", **{assumed: True})
    with pytest.raises(TheoremError, match=rf" D is declared {assumed}, .* sp.Symbol\(\"D\", real=True\)"):
        WITHOUT_A_DOMAIN[where](symbol)


@pytest.mark.parametrize("assumed", REAL, ids=str)
@pytest.mark.parametrize("where", WITHOUT_A_DOMAIN)
def test_symbols_without_a_domain_may_be_real(where, assumed):
    assert WITHOUT_A_DOMAIN[where](sp.Symbol("D", **assumed)).digest


def test_a_symbol_shown_to_be_integer_may_assume_it():
    D, E = sp.symbols("D E", integer=True)
    assert defined(D, n**2 - 3).digest and followed(D, n).digest
    assert bounded(E + x, definitions={D: 2 * n, E: D**2 + n}).digest
    for value in (n / 2, n * x, 1 / n, sp.sqrt(n), 2**n):
        assert not is_integral(value, {"n"})
        with pytest.raises(TheoremError, match="definition D is declared integer"):
            defined(D, value)
    with pytest.raises(TheoremError, match="the bound symbol D is declared integer"):
        followed(D, n / 2)


def test_a_state_is_positive_where_each_step_is_shown_to_be():
    z, u = sp.symbols("z u", positive=True)

    def run(*step, start=None):
        recursion = Dynamics((z, u)[: len(step)], (start or sp.Integer(2),) * len(step), step, z)
        return Statement(PARAMETERS, (Reaches("c", recursion, sp.Integer(1)),)).digest

    assert run(z) and run(z / 2 + sp.exp(-x * z)) and run(sp.sqrt(z) / (1 + z) ** x) and run(z * u, u / (z + u))
    for step in ((z - 2,), (z * x,), (z, u - z), (-z,), (sp.log(z),)):
        with pytest.raises(TheoremError, match=r"the bound symbol [uz] is declared positive"):
            run(*step)
    with pytest.raises(TheoremError, match="the bound symbol z is declared positive"):
        run(z, start=x**2)


@pytest.mark.parametrize("assumed", ["real", "positive", "negative", "nonzero"])
def test_both_sides_of_a_point_are_where_is_differentiated(assumed):
    v = sp.Symbol("v", **{assumed: True})
    assert bounded(sp.Derivative(x * v, v), variables=(v,)).digest


@pytest.mark.parametrize("assumed", ["nonnegative", "nonpositive", "integer", "rational", "even"])
def test_a_derivative_is_in_no_symbol_with_an_end_or_gaps(assumed):
    # SymPy simplifies sqrt(v²) to v for v ≥ 0. The derivative of v at 0 is 1, but |v| has no derivative there.
    v = sp.Symbol("v", **{assumed: True})
    with pytest.raises(TheoremError, match=f"Derivative: the bound symbol v is declared {assumed}"):
        bounded(sp.Derivative(x * v, v), variables=(v,))


def test_a_bound_symbol_is_refused_after_an_equal_expression_was_accepted():
    # SymPy treats two Subs as equal even if their bound symbols, of the same name, have different assumptions.
    def slope(v):
        return sp.Subs(sp.Derivative(v**3 * x, v), v, x)

    real, whole = sp.Symbol("v", real=True), sp.Symbol("v", integer=True)
    assert slope(real) == slope(whole)
    assert bounded(slope(real)).digest
    with pytest.raises(TheoremError, match="the bound symbol v is declared integer"):
        bounded(slope(whole))


def test_an_index_is_a_natural_number_and_an_unknown_what_its_box_is():
    index = {"integer": True, "nonnegative": True}
    moment = lambda k: (LeastResidual("c", sp.Integer(1), 1 / (k + 1), k),)  # noqa: E731
    assert Statement(PARAMETERS, moment(sp.Symbol("k", **index))).digest
    with pytest.raises(TheoremError, match="the bound symbol k is declared positive"):
        Statement(PARAMETERS, moment(sp.Symbol("k", integer=True, positive=True)))
    u = sp.Symbol("u", positive=True)
    root = IsolatedRoot("c", (u**2 - 2,), (u,), (sp.Rational(3, 2),), sp.Rational(1, 2))
    assert Statement(PARAMETERS, (root,)).digest


class Own(LeastResidual):
    """A kind of clause that is not part of `verify`."""


def test_a_kind_of_ones_own_says_what_its_bound_symbols_may_assume(monkeypatch):
    k = sp.Symbol("k", integer=True, nonnegative=True)
    clause = Own("c", sp.Integer(1), 1 / (k + 1), k, says="least")
    assert Statement(PARAMETERS, (clause,)).digest
    monkeypatch.setattr(Own, "bound_domains", lambda *_: {"k": {"real", "integer"}})
    with pytest.raises(TheoremError, match="the bound symbol k is declared rational"):
        Statement(PARAMETERS, (clause,))
    monkeypatch.setattr(Own, "bound_domains", None)
    with pytest.raises(TheoremError, match="the bound symbol k is declared integer"):
        Statement(PARAMETERS, (clause,))


def test_a_reported_value_binds_no_symbol_that_assumes_more(make_theorem):
    t = sp.Symbol("t", positive=True)
    with pytest.raises(TheoremError, match="Subs: the bound symbol t is declared positive"):
        make_theorem(
            Inequality("c", sp.Lt(x, 2)), parameters=PARAMETERS[:1], values={"v": sp.Subs(sp.sqrt(t**2), t, -3)}
        )


def test_without_the_assumption_the_false_root_is_refuted(make_theorem):
    # For D = x the sides of √(D²)·x = x² are −9 and 9 at x = −3.
    D = sp.Symbol("D")
    clause = Identity("root", sp.sqrt(D**2) * x, x**2)
    result = verify.check(make_theorem(clause, parameters=PARAMETERS[:1], definitions={D: x}), x=-3)
    assert result.outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("claim", "definitions"),
    [
        ('Identity("c", sp.sqrt(D**2) * x, x**2)', "{D: x}"),
        ('Inequality("c", sp.Le(sp.Subs(sp.sqrt(D**2) + x, D, -3), x - 3, evaluate=False))', "{}"),
        ('Inequality("c", sp.Le(sp.Limit(sp.sqrt(D**2) + x, D, -3), x - 3, evaluate=False))', "{}"),
        ('Reaches("c", Dynamics((D,), (sp.Integer(1),), (D - 2,), sp.sqrt(D**2)), sp.Integer(-5))', "{}"),
    ],
    ids=["definition", "Subs", "Limit", "state"],
)
def test_on_the_command_line_it_is_one_line(cli, theorem_file, claim, definitions):
    path = theorem_file(
        f'x, D = sp.Symbol("x", real=True), sp.Symbol("D", positive=True)\n'
        f'statement = Statement((Parameter("x", "rational", "x"),), ({claim},), definitions={definitions})\n'
    )
    assert_one_line(cli("check", path, "x=-3"), "D is declared positive")


def test_a_reported_value_has_the_symbols_of_its_statement(make_theorem):
    other = sp.Symbol("x", positive=True)
    for value in (sp.sqrt(other**2), other + 1):
        with pytest.raises(TheoremError, match=r"x: two symbols of this name|parameter x has no above=0"):
            make_theorem(Inequality("c", sp.Lt(x, 2)), parameters=PARAMETERS[:1], values={"v": value})
    assert make_theorem(Inequality("c", sp.Lt(x, 2)), parameters=PARAMETERS[:1], values={"v": x + 1}).values


EXTRA = (*PARAMETERS, Parameter("values", "rationals", "a list", above=0), Parameter("more", "rationals", "any list"))
e, s = sp.Symbol("e", positive=True), sp.Symbol("s", positive=True)


@pytest.fixture
def beside(make_theorem):
    """Return a function that makes a theorem with expressions outside its statement, where x is real, n an integer."""

    def make(default=None, **more):
        parameters = EXTRA if default is None else (*EXTRA, Parameter("y", "rational", "y", default=default))
        return replace(make_theorem(Inequality("c", sp.Lt(x, 2)), parameters=parameters), **more)

    return make


def default(expression):
    return {"default": expression}


def bound(expression):
    return {"bounds": {"c": Bound(proved=expression)}}


def free(expression):
    return {"bounds": {"c": Bound(free=expression)}}


def boundary(expression):
    return {"boundaries": {"user.other": Hypothesis("edge", sp.Le(expression, 3, evaluate=False))}}


def listed(expression):
    return {"values": {"v": ValueOver(expression + e, e, "values")}}


def summed(expression):
    return {"values": {"v": ValueOver(e + sp.Symbol("s"), e, "values", {sp.Symbol("s"): expression})}}


@pytest.mark.parametrize("place", [default, bound, free, boundary, listed, summed])
def test_expressions_beside_the_claims_have_the_symbols_of_the_statement(beside, place):
    assert beside(**place(x**2 + n))
    other = sp.Symbol("x", positive=True)
    # SymPy simplifies sqrt(x²) to x, but sqrt(x²) is -x at x = -3.
    for expression in (sp.sqrt(other**2), other + 1):
        with pytest.raises(TheoremError, match="x: two symbols of this name with different assumptions"):
            beside(**place(expression))
    whole = sp.Symbol("n", integer=True, positive=True)
    with pytest.raises(TheoremError, match="parameter n has no minimum=1, but its symbol is declared positive"):
        beside(**place(whole + 1))
    with pytest.raises(TheoremError, match="n: its assumptions are not all in the language"):
        beside(**place(sp.Symbol("n", algebraic=True) + 1))
    t = sp.Symbol("t", positive=True)
    with pytest.raises(TheoremError, match="Subs: the bound symbol t is declared positive"):
        beside(**place(sp.Subs(sp.sqrt(t**2) + x, t, -3)))


def test_an_entry_assumes_what_the_domain_of_its_list_implies(beside):
    assert beside(values={"v": ValueOver(sp.sqrt(e**2), e, "values")}).values
    why = "value v, entry e: parameter more has no above=0, but its symbol is declared positive"
    with pytest.raises(TheoremError, match=why):
        beside(values={"v": ValueOver(sp.sqrt(e**2), e, "more")})
    real = sp.Symbol("e", real=True)
    assert beside(values={"v": ValueOver(real**2, real, "more")}).values
    with pytest.raises(TheoremError, match="e: two symbols of this name"):
        beside(values={"v": ValueOver(sp.sqrt(e**2), real, "more")})


def test_a_sum_is_real_and_positive_only_where_its_terms_are(beside):
    for term in (e, 1 / e, sp.exp(x) * e + 2):
        assert beside(values={"v": ValueOver(e / s, e, "values", {s: term})}).values
    for term in (e - 1, x * e, sp.log(e), sp.Integer(0)):
        with pytest.raises(TheoremError, match=r"value v: the sum s is declared positive, .* real=True"):
            beside(values={"v": ValueOver(sp.sqrt(s**2), e, "values", {s: term})})
    with pytest.raises(TheoremError, match="value v: the sum s is declared integer"):
        beside(values={"v": ValueOver(e, e, "values", {sp.Symbol("s", integer=True): e})})
    with pytest.raises(TheoremError, match="s: two symbols of this name"):
        beside(values={"v": ValueOver(sp.sqrt(s**2), e, "values", {sp.Symbol("s", real=True): e - 1})})
