"""Rejected certificates: a symbol assumes more than its domain implies, or a proof out of scope uses a hypothesis."""

import copy

import pytest
import sympy as sp

from tests.verify.rechecker.cases import ACCEPTED, positive
from tests.verify.rechecker.certificates import (
    X,
    certificate,
    changed,
    given_at,
    integer,
    one_clause,
    recheck,
    respelled,
    x,
)
from verify import Identity, Inequality
from verify.rechecker import Rejected


def _everywhere(value, put):
    """Yield a copy of a value for each place of the symbol x in it, with `put` at this place."""
    if value == ["Symbol", "x", "real"]:
        yield put
    elif isinstance(value, list | dict):
        for key in range(len(value)) if isinstance(value, list) else value:
            for other in _everywhere(value[key], put):
                made = copy.copy(value)
                made[key] = other
                yield made


def test_no_symbol_of_a_parameter_assumes_more_than_its_domain_wherever_it_occurs_first():
    data = one_clause(Inequality("bound", sp.Lt(x**2, 5)), X).to_data()
    one = {"kind": "identity", "label": "same", "says": "", "left": integer(1), "right": integer(1)}
    exact = {"kind": "exact", "margin": "1"}
    factor = {"kind": "identity", "scope": "all", "factors": [{"factor": ["Symbol", "x", "real"], "shift": None}]}
    tried = 0
    for put in (["Symbol", "x", "positive"], ["Symbol", "x", "integer", "real"], ["Symbol", "x", "nonzero"]):
        for claim in _everywhere(data["claims"], put):
            made = certificate(data | {"claims": claim}, {"x": "-2"}, ("verified", "certified", exact))
            with pytest.raises(Rejected, match="assumes more than the parameter's domain"):
                recheck(made)
            tried += 1
        for proof in _everywhere(factor, put):
            made = certificate(data | {"claims": [one]}, {"x": "-2"}, ("verified", "proved", proof))
            with pytest.raises(Rejected, match="assumes more than the parameter's domain"):
                recheck(made)
            tried += 1
    assert tried == 6


def test_an_instance_out_of_scope_may_use_no_hypothesis():
    made = changed(changed(positive(), "instance.x", "3"), "in_scope", False)
    with pytest.raises(Rejected, match="out of scope"):
        recheck(made)


D, WHOLE = ["Symbol", "D"], ["Symbol", "n", "integer", "rational", "real"]
EXACT = ("verified", "certified", {"kind": "exact", "margin": "0"})


def _with(left, right, *, definitions=(), names=(("x", "rational"),)):
    """Return a certificate of left >= right made of JSON alone: neither SymPy nor the language has checked it."""
    parameters = [{"name": name, "kind": kind, "words": [], "minimum": None, "above": None} for name, kind in names]
    claim = {"kind": "inequality", "label": "c", "says": "", "relation": ["Ge", left, right]}
    data = one_clause(Inequality("bound", sp.Lt(x**2, 5)), X).to_data()
    data |= {"parameters": parameters, "definitions": list(definitions), "claims": [claim]}
    return certificate(data, {name: "-3" for name, _ in names}, EXACT)


SYMBOL_X = ["Symbol", "x", "real"]
AT = {
    "definition": lambda symbol: _with(symbol, SYMBOL_X, definitions=[[symbol, SYMBOL_X]]),
    "Subs": lambda symbol: _with(["Subs", symbol, ["Tuple", symbol], ["Tuple", SYMBOL_X]], SYMBOL_X),
    "Limit": lambda symbol: _with(["Limit", symbol, symbol, SYMBOL_X, ["Symbol", "+"]], SYMBOL_X),
}


@pytest.mark.parametrize("where", AT)
def test_a_symbol_without_a_domain_is_real_and_no_more(where):
    for assumed in ((), ("real",)):
        assert recheck(AT[where]([*D, *assumed])).clauses[0].outcome == "verified"
    for assumed in ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "integer", "even", "rational"):
        with pytest.raises(Rejected, match=f"'D' is assumed {assumed}, which its domain does not imply"):
            recheck(AT[where]([*D, assumed]))


def test_a_definition_is_integer_where_it_is_shown_to_be():
    whole, twice = ["Symbol", "D", "integer", "rational", "real"], ["Mul", integer(2), WHOLE]
    names = (("n", "integer"),)
    assert recheck(_with(whole, twice, definitions=[[whole, twice]], names=names)).clauses[0].outcome == "verified"
    for value in (["Mul", ["Rational", "1/2"], WHOLE], ["Pow", WHOLE, integer(-1)], ["exp", WHOLE]):
        with pytest.raises(Rejected, match="'D' is assumed integer"):
            recheck(_with(whole, value, definitions=[[whole, value]], names=names))


@pytest.mark.parametrize("assumed", [("nonnegative", "real"), ("integer", "rational", "real"), ("nonpositive",)])
def test_a_derivative_has_both_sides(assumed):
    v = ["Symbol", "v", *assumed]
    made = one_clause(
        Identity("same", sp.Derivative(x * sp.Symbol("v"), sp.Symbol("v")), x), X, variables=(sp.Symbol("v"),)
    )
    proof = ("verified", "proved", {"kind": "identity", "scope": "all", "factors": []})
    good = certificate(made, {"x": "2"}, proof)
    assert recheck(good).clauses[0].evidence == "proved"
    with pytest.raises(Rejected, match="'v' is assumed"):
        recheck(respelled(good, repr(["Symbol", "v"]), repr(v)))


@pytest.mark.parametrize("name", ["within", "cycle", "small_descent", "tube"])
@pytest.mark.parametrize("assumed", ["negative", "nonzero", "even"])
def test_a_state_is_real_and_no_more(name, assumed):
    made = ACCEPTED[name]()
    (state, *_) = made["statement"]["claims"][0]["dynamics"]["state"]
    with pytest.raises(Rejected, match=f"is assumed {assumed}, which its domain does not imply"):
        recheck(respelled(made, repr(state), repr([*state[:2], assumed])))


def test_a_state_is_positive_where_each_step_is_shown_to_be():
    made = ACCEPTED["within"]()
    (state,) = made["statement"]["claims"][0]["dynamics"]["state"]
    positive = repr([*state[:2], "positive", "nonnegative", "nonzero", "real"])
    assert recheck(respelled(made, repr(state), positive)).clauses[0].outcome == "verified"
    less = changed(made, "statement.claims.0.dynamics.step.0", ["Add", state, integer(-2)])
    with pytest.raises(Rejected, match="is assumed positive, which its domain does not imply"):
        recheck(respelled(less, repr(state), positive))


def test_no_root_is_missed_in_a_box_that_an_assumption_excludes():
    u = ["Symbol", "u", "positive"]
    claim = {"kind": "root", "label": "c", "says": "", "equations": [["Add", u, integer(-3)]], "unknowns": [u]}
    data = one_clause(Inequality("bound", sp.Lt(x**2, 5)), X).to_data()
    data["claims"] = [claim | {"centre": [integer(-3)], "radius": integer(1)}]
    proof = ("refuted", "certified", {"kind": "no_root", "bits": 64})
    with pytest.raises(Rejected, match="points that a symbol's assumptions exclude"):
        recheck(certificate(data, {"x": "1"}, proof))
    data["claims"][0]["centre"] = [integer(9)]
    assert recheck(certificate(data, {"x": "1"}, proof)).clauses[0].outcome == "refuted"


def test_an_index_is_a_natural_number():
    whole = "'i', 'integer', 'rational', 'nonnegative', 'real'"
    with pytest.raises(Rejected, match="'i' is assumed positive"):
        recheck(respelled(ACCEPTED["residual"](), whole, "'i', 'positive'"))


class Parity:
    """The integers modulo 2, a field that a package defines."""

    number = staticmethod(lambda value: value.numerator % 2)
    plus = staticmethod(lambda left, right: (left + right) % 2)
    times = staticmethod(lambda left, right: left * right)
    whole_power = staticmethod(lambda value, power: value if power else 1)

    def symbol(self, node):
        return {"u": 1}[node.name]

    def inverse(self, value):
        raise Rejected("parity: a division")


def test_an_expression_has_a_value_in_a_field_of_a_packages_own():
    given = given_at(one_clause(Inequality("bound", sp.Lt(x**2, 5)), X), {"x": "3"})
    U = ["Symbol", "u", "real"]
    read = [given.read(data, "here", ["u"]) for data in (["Pow", U, integer(3)], ["Add", U, ["Symbol", "x", "real"]])]
    assert given.evaluated(read, Parity()) == [1, 0]
    with pytest.raises(Rejected, match="parity: a division"):
        given.evaluated([given.read(["Pow", U, integer(-1)], "here", ["u"])], Parity())
