"""Expressions, compared with SymPy and with a direct evaluation of their data: derivatives, definitions, cancelling."""

import contextlib
import random
from fractions import Fraction

import pytest
import sympy as sp
from flint import arb, ctx

from tests.verify.rechecker.certificates import X, certificate, given_at, integer, one_clause, recheck, u, x, y
from tests.verify.rechecker.expressions import FREE, A, B, random_expression
from verify import Identity, Inequality, Parameter
from verify.language.expressions import to_data
from verify.rechecker import Rejected
from verify.rechecker.kinds import runs


def test_a_definition_is_not_put_into_a_derivative_that_binds_what_it_uses():
    # d(y²)/du with y := u is 0 if y is kept fixed, and 2u otherwise: the re-checker does not guess which is meant.
    clause = Identity("same", sp.Derivative(y**2, u), sp.Integer(0))
    statement = one_clause(clause, X, variables=(u,), definitions={y: u})
    proof = {"kind": "identity", "scope": "all", "factors": []}
    with pytest.raises(Rejected, match="bound symbol 'u'"):
        recheck(certificate(statement, {"x": "1"}, ("verified", "proved", proof)))


@pytest.mark.parametrize("expression", [sp.Derivative(y * u, y), sp.Subs(y * u, y, x), sp.Limit(y * u, y, 0)])
@pytest.mark.parametrize("value", [u, u**2, x + 1, sp.Integer(1)])
def test_a_definition_is_no_variable(expression, value):
    # For any y, d(yu)/dy is u, yu at y = x is xu, and yu tends to 0 at y = 0. A definition must not be substituted for
    # the bound y, so no other value is accepted.
    meanings = {sp.Derivative: u, sp.Subs: x * u, sp.Limit: sp.Integer(0)}
    data = one_clause(Identity("same", x, u), X, variables=(u,), definitions={y: value}).to_data()
    proof = {"kind": "identity", "scope": "all", "factors": []}
    for right in (u, x * u, 0 * u, 2 * u, 3 * u**2, u**2, x**2, x):
        data["claims"][0] |= {"left": to_data(expression), "right": to_data(right)}
        made = certificate(data, {"x": "3"}, ("verified", "proved", proof))
        if meanings[type(expression)] != right or isinstance(expression, sp.Derivative):
            with pytest.raises(Rejected, match=r"bound symbol|not the same"):
                recheck(made)
        else:
            with contextlib.suppress(Rejected):
                recheck(made)


def _enclosures(found, reference):
    """Whether a ball is within 10^-50 (1 + |v|) of v, a number of 60 digits, with a radius <= 2^-60 (1 + |v|)."""
    value = arb(str(reference))
    slack = abs(value) * arb(10) ** -50 + arb(10) ** -50
    return abs(found - value) <= slack and found.rad() <= abs(value) * arb(2) ** -60 + arb(2) ** -60


def test_values_and_derivatives_are_those_of_another_program():
    # SymPy gives derivatives, and values to 60 digits; the graph and the straight-line program compute with 256 bits.
    draw = random.Random(7)
    for _ in range(150):
        expression = random_expression(draw, 3, rational=False)
        at = {s: sp.Rational(draw.randint(1, 30), draw.randint(1, 12)) for s in (A, B)}
        given = given_at(one_clause(Inequality("bound", sp.Lt(A, B)), *FREE), {"x": str(at[A]), "y": str(at[B])})
        node = given.terms.expression(to_data(expression), "here")
        nodes = [node, given.terms.slope(node, "x"), given.terms.slope(given.terms.slope(node, "x"), "y")]
        wanted = [expression, sp.diff(expression, A), sp.diff(expression, A, B)]
        with ctx.workprec(256):
            inputs = [given.terms.symbol(name) for name in ("x", "y")]
            point = [given.number(symbol, 256) for symbol in inputs]
            straight = runs.Program(given, nodes, inputs, 256)(*point)
            graph = [given.number(n, 256) for n in nodes]
            for reference, one, other in zip(wanted, straight, graph, strict=True):
                number = sp.N(reference.subs(at), 60)
                assert _enclosures(one, number) and _enclosures(other, number), expression


_U, _X, _M = ["Symbol", "u", "real"], ["Symbol", "x", "real"], ["Symbol", "m"]
_LESS = ["Add", _X, integer(-1)]
_PARTIAL = {"divisor": ["Pow", _LESS, integer(-1)], "log": ["log", _LESS], "root": ["Pow", _LESS, ["Rational", "1/2"]]}
# Each expression is 0 if its part p has a value, as p has for x > 1. The symbol m is defined as p.
_VANISHING = {
    "difference": lambda p: ["Add", p, ["Mul", integer(-1), p]],
    "times 0": lambda p: ["Mul", integer(0), p],
    "times 0, in steps": lambda p: ["Mul", ["Add", _U, ["Mul", integer(-1), _U]], ["exp", p]],
    "power 0": lambda p: ["Add", ["Pow", p, integer(0)], integer(-1)],
    "definition": lambda p: ["Add", _M, ["Mul", integer(-1), _M]],
    "definition, inside": lambda p: ["Add", ["exp", _M], ["Mul", integer(-1), ["exp", _M]]],
    "derivative": lambda p: ["Derivative", p, ["Tuple", _U, integer(1)]],
    "derivative of a sum": lambda p: ["Add", ["Derivative", ["Add", _U, p], ["Tuple", _U, integer(1)]], integer(-1)],
    "substitution": lambda p: ["Subs", integer(0), ["Tuple", ["Symbol", "v"]], ["Tuple", p]],
    "difference, substituted": lambda p: [
        *("Subs", ["Add", ["Symbol", "m"], ["Mul", integer(-1), ["Symbol", "m"]]]),
        *(["Tuple", ["Symbol", "m"]], ["Tuple", p]),
    ],
    "limit": lambda p: ["Limit", integer(0), ["Symbol", "v"], p, ["Symbol", "+"]],
}


def _vanishing(how, what, minimum=None):
    """Return a statement about an expression that is 0 whenever it has a value."""
    p = _PARTIAL[what]
    parameters = (Parameter("x", "rational", "x", minimum=minimum), Parameter("u", "rational", "u"))
    data = one_clause(Inequality("c", sp.Lt(x, 1)), *parameters).to_data() | {"definitions": [[_M, p]]}
    return data, _VANISHING[how](p)


@pytest.mark.parametrize("what", _PARTIAL)
@pytest.mark.parametrize("how", _VANISHING)
def test_cancelling_parts_need_a_value_at_the_instance(how, what):
    data, left = _vanishing(how, what)
    data["claims"][0]["relation"] = ["Lt", left, integer(1)]
    proofs = {"kind": "exact", "margin": "1"}, {"kind": "ball", "bits": 64, "margin": ["1/2", "2"]}
    bad = {"divisor": ["1"], "log": ["1", "0"], "root": ["0"]}[what]
    for proof in proofs[how == "limit" and what != "divisor" :]:
        assert recheck(certificate(data, {"x": "3", "u": "1"}, ("verified", "certified", proof)))
        for value in bad:
            with pytest.raises(Rejected):
                recheck(certificate(data, {"x": value, "u": "1"}, ("verified", "certified", proof)))


@pytest.mark.parametrize("what", _PARTIAL)
@pytest.mark.parametrize("how", _VANISHING)
def test_cancelling_parts_of_an_identity_need_a_value_for_all(how, what):
    # Inside a limit only listed divisors are allowed.
    listed = [{"factor": _LESS, "shift": None}] if how == "limit" else []
    for minimum in (2, None, 1):
        proof = {"kind": "identity", "scope": "all", "factors": listed}
        data, left = _vanishing(how, what, minimum)
        data["claims"] = [{"kind": "identity", "label": "c", "says": "", "left": left, "right": integer(0)}]
        made = certificate(data, {"x": "3", "u": "1"}, ("verified", "proved", proof))
        if minimum == 2 and (how, what) not in [("limit", "log"), ("limit", "root")]:
            assert recheck(made)
        else:
            with pytest.raises(Rejected):
                recheck(made)


def _plain(data, values):
    """Return the value of an expression, computed as it is written. Raise ZeroDivisionError if it has none."""
    head, *args = data
    if head in ("Integer", "Rational"):
        return Fraction(args[0])
    if head == "Symbol":
        return values[args[0]]
    found = [_plain(argument, values) for argument in args]
    return found[0] ** int(found[1]) if head == "Pow" else sum(found) if head == "Add" else found[0] * found[1]


def _written(draw, depth):
    if depth == 0:
        return draw.choice([_X, _U, integer(0), integer(1), integer(-1), ["Rational", "1/2"]])
    head = draw.choice(["Add", "Add", "Mul", "Mul", "Pow"])
    first = _written(draw, depth - 1)
    second = integer(draw.choice([-2, -1, 0, 2])) if head == "Pow" else draw.choice([first, _written(draw, depth - 1)])
    return [head, first, second]


def test_an_expression_has_a_value_exactly_where_it_has_one_as_it_is_written():
    draw, undefined = random.Random(17), 0
    statement = one_clause(Inequality("c", sp.Lt(x, u)), X, Parameter("u", "rational", "u"))
    places = {(a, b): given_at(statement, {"x": str(a), "u": str(b)}) for a in (-1, 0, 1) for b in (-1, 0, 1)}
    for _ in range(3000):
        data = _written(draw, draw.randint(1, 5))
        values = {name: Fraction(draw.randint(-1, 1)) for name in ("x", "u")}
        given = places[values["x"], values["u"]]
        try:
            wanted = _plain(data, values)
        except ZeroDivisionError:
            undefined += 1
            with pytest.raises(Rejected):
                given.number(given.expression(data, "here"), None)
        else:
            assert given.number(given.expression(data, "here"), None) == wanted
    assert 300 < undefined < 2000


@pytest.mark.parametrize("exponent", ["1/2", "3/2", "-1/2", "2/3"])
def test_a_derivative_of_a_root_has_no_value_at_its_end(exponent):
    root = ["Pow", ["Symbol", "x", "real"], ["Rational", exponent]]
    slope = ["Derivative", root, ["Tuple", ["Symbol", "x", "real"], integer(1)]]
    made = one_clause(Inequality("c", sp.Le(x, 100)), X).to_data()
    made["claims"][0]["relation"] = ["Le", ["Mul", integer(0), slope], integer(0)]
    proof = ("verified", "certified", {"kind": "exact", "margin": "0"})
    assert recheck(certificate(made, {"x": "1"}, proof)).clauses[0].outcome == "verified"
    with pytest.raises(Rejected, match=r"not known to be positive|division by zero|log of a rational"):
        recheck(certificate(made, {"x": "0"}, proof))
