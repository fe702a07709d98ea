"""The re-checker's functions, pieces, sums, products and recursions: right values pass; wrong values and forms fail."""

import copy
import json
import random
from fractions import Fraction

import pytest
import sympy as sp
from flint import arb, ctx

import verify
from tests.verify.evaluation.heads import STATEMENTS, instances
from tests.verify.rechecker.certificates import X, Y, certificate, changed, given_at, one_clause, recheck, x
from verify import Inequality, Iterate
from verify.checking.certificates import certificate_text
from verify.language.expressions import to_data
from verify.rechecker import Rejected, TooLarge, Unknown
from verify.rechecker.balls import high, low
from verify.rechecker.functions import MOST_TERMS, NotExact, exactly, in_balls, integer
from verify.rechecker.reading import Undefined

k, t = sp.Symbol("k", integer=True), sp.Symbol("t", real=True)
ONE, TWO, K = ["Integer", "1"], ["Integer", "2"], to_data(k)
REAL_X = ["Symbol", "x", "real"]


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_wrong_margin_is_refused(name):
    theorem, generator = verify.claim(STATEMENTS[name]), random.Random(name)
    for instance in instances(theorem.statement.parameters, generator, 30):
        result = verify.check(theorem, instance)
        proof = result.clauses[0].proof
        if proof is not None and proof["kind"] in ("exact", "ball"):
            break
    made = json.loads(certificate_text(theorem, result))
    assert recheck(made)
    stated = made["clauses"][0]["proof"]["margin"]
    is_exact = isinstance(stated, str)
    for wrong in ("1", "-1", "1/1000000") if is_exact else ():
        with pytest.raises(Rejected, match=r"margin: is not larger minus smaller side|outcome"):
            recheck(changed(made, "clauses.0.proof.margin", str(Fraction(stated) + Fraction(wrong))))
    if not is_exact:
        width = Fraction(stated[1]) - Fraction(stated[0]) + Fraction(1, 10**9)
        for shift in (width, -width):
            moved = [str(Fraction(end) + shift) for end in stated]
            with pytest.raises(Rejected, match=r"does not contain the ball|does not decide|outcome"):
                recheck(changed(made, "clauses.0.proof.margin", moved))


FORMS = [
    (["Abs", ONE, TWO], Rejected, "Abs has 2 arguments"),
    (["Max", ONE], Rejected, "Max has 1 arguments"),
    (["pi", ONE], Rejected, "pi has 1 arguments"),
    (["asin", ONE], Unknown, "outside what this program checks"),
    (["Sum", REAL_X, ONE], Rejected, "Integer|number does not belong inside Sum"),
    (["Sum", ["Tuple", ONE], ["Tuple", K, ONE, TWO]], Rejected, "Tuple does not belong inside Sum"),
    (["Sum", REAL_X, ["Tuple", K, ONE]], Unknown, "this Sum is outside"),
    (["Sum", REAL_X, ["Tuple", ONE, ONE, TWO]], Unknown, "this Sum is outside"),
    (["Sum", REAL_X, ["Tuple", ["Symbol", "j", "positive"], ONE, TWO]], Rejected, "assumed positive"),
    (["Sum", ["Infinity"], ["Tuple", K, ONE, TWO]], Rejected, "Infinity does not belong"),
    (["Piecewise", REAL_X, ONE], Rejected, "Piecewise has 2 arguments"),
    (["Piecewise", ONE, ["Lt", REAL_X, ONE], TWO, TWO, ["Lt", ONE, TWO]], Rejected, "number does not belong"),
    (["Piecewise", ONE, REAL_X, TWO], Rejected, "symbol does not belong inside Piecewise"),
    (["Piecewise", ONE, ["Lt", REAL_X, ONE], TWO, ["Gt", REAL_X, ONE]], Rejected, "has no last piece"),
    (["Piecewise", ["Lt", REAL_X, ONE], ["Lt", REAL_X, ONE], TWO], Rejected, "Lt does not belong inside Piecewise"),
    (["Abs", ["Lt", REAL_X, ONE]], Rejected, "Lt does not belong inside Abs"),
    (
        ["Iterate", ["Integer", "2"], TWO, ["Tuple", K, ["Symbol", "s"]], ["Tuple", ONE], ["Tuple", ONE]],
        Unknown,
        "this",
    ),
    (["Iterate", ["Integer", "0"], TWO, ["Tuple", K], ["Tuple", ONE], ["Tuple", ONE]], Unknown, "this Iterate"),
    (["Iterate", ["Integer", "0"], TWO, ["Tuple", K, K], ["Tuple", ONE], ["Tuple", ONE]], Unknown, "this Iterate"),
    (["Iterate", REAL_X, TWO, ["Tuple", K, ["Symbol", "s"]], ["Tuple", ONE], ["Tuple", ONE]], Unknown, "this Iterate"),
]


@pytest.mark.parametrize(("data", "error", "why"), FORMS)
def test_a_form_that_is_none_is_refused(data, error, why):
    statement = one_clause(Inequality("c", sp.Lt(x, 2, evaluate=False)), X).to_data()
    statement["claims"][0]["relation"] = ["Lt", data, TWO]
    with pytest.raises(error, match=why):
        given_at(statement, {"x": "1"}).relation(statement["claims"][0]["relation"], "here")


def holds(relation, instance, *parameters):
    given = given_at(one_clause(Inequality("c", relation), *parameters), instance)
    return given.holds(given.relation(to_data(relation), "here"), "here")


def test_bound_symbols_are_local_to_their_binder():
    # x is the parameter; in `shadowed` the outer sum binds the symbol of the inner sum again.
    inner = sp.Sum(k * x, (k, 1, 3))
    nested = sp.Sum(sp.Symbol("j", integer=True) + inner, (sp.Symbol("j", integer=True), 1, 2))
    assert holds(sp.Eq(nested, 3 + 12 * x, evaluate=False), {"x": "5"}, X)
    given = given_at(one_clause(Inequality("c", sp.Lt(x, 2, evaluate=False)), X), {"x": "1"})
    shadowed = ["Sum", ["Sum", K, ["Tuple", K, ONE, K]], ["Tuple", K, ONE, ["Integer", "3"]]]
    assert given.number(given.expression(shadowed, "here"), None) == 1 + 3 + 6
    pieces = sp.Sum(sp.Piecewise((1 / (k - 2), k > 2), (x, True)), (k, 1, 4))
    assert holds(sp.Eq(pieces, 2 * x + sp.Rational(3, 2), evaluate=False), {"x": "7"}, X)
    state = sp.Symbol("s", real=True)
    run = Iterate(0, 3, (k, state), (x,), (state + sp.Sum(state * k, (k, 1, 2)),))
    assert holds(sp.Eq(run, 64 * x, evaluate=False), {"x": "2"}, X)


@pytest.mark.parametrize("name", ["y", "v", "d", "e"])
def test_a_symbol_that_the_statement_introduces_is_not_bound(name):
    v, d, e = sp.symbols("v d e", real=True)
    statement = one_clause(
        Inequality("c", sp.Lt(x + v, d + e)), X, Y, variables=(v,), definitions={d: x + 1, e: sp.Sum(k, (k, 1, 2))}
    )
    data = json.loads(json.dumps(statement.to_data()).replace(json.dumps(K), json.dumps(["Symbol", name, "real"])))
    with pytest.raises(Rejected, match=f"'{name}' is bound there, and introduced by the statement"):
        given_at(data, {"x": "1", "y": "2"})
    given_at(statement, {"x": "1", "y": "2"})


def test_substitution_does_not_capture_a_bound_symbol():
    data = one_clause(Inequality("c", sp.Lt(x, 2, evaluate=False)), X).to_data()
    given = given_at(data, {"x": "1"})
    terms = given.terms
    total = terms.expression(to_data(sp.Sum(k * x, (k, 1, 2))), "here")
    with pytest.raises(Rejected, match="the bound symbol 'k' is used with another meaning"):
        terms.substitute(total, {"x": terms.symbol("k")})
    assert terms.substitute(total, {"k": terms.one}) is total


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (sp.Sum(k, (k, 1, 10**6)), TooLarge),
        (sp.Product(k, (k, 1, MOST_TERMS + 1)), TooLarge),
        (Iterate(0, 10**6, (k, t), (x,), (t,)), TooLarge),
        (Iterate(0, -1, (k, t), (x,), (t,)), Undefined),
        (Iterate(0, x / 2, (k, t), (x,), (t,)), Undefined),
        (sp.Sum(k, (k, x / 2, 3)), Undefined),
        (sp.factorial(x - 2), Undefined),
        (sp.Derivative(sp.Sum(x**k, (k, 1, 2)), x), Rejected),
    ],
)
def test_expressions_undefined_or_too_large_are_errors(expression, error):
    data = one_clause(Inequality("c", sp.Lt(x, 2, evaluate=False)), X).to_data()
    given = given_at(data, {"x": "1"})
    with pytest.raises(error):
        given.number(given.expression(to_data(expression), "here"), None)


@pytest.mark.parametrize("head", [sp.sin, sp.cos, sp.tan, sp.atan, sp.sinh, sp.cosh, sp.tanh])
def test_slopes_are_those_of_sympy(head):
    data = one_clause(Inequality("c", sp.Lt(x, 2, evaluate=False)), X).to_data()
    given, inner = given_at(data, {"x": "2/3"}), head(x**2 + 1)
    slope = given.expression(to_data(sp.Derivative(inner, x)), "here")
    with ctx.workprec(200):
        found = given.number(slope, 200)
        right = sp.Rational(str(sp.N(sp.diff(inner, x).subs(x, sp.Rational(2, 3)), 50)))
        assert abs(high(found) - Fraction(int(right.p), int(right.q))) < Fraction(1, 10**45)
        assert high(found) - low(found) < Fraction(1, 10**45)


def test_values_of_numbers_and_of_balls():
    third, half = Fraction(1, 3), Fraction(-7, 2)
    assert [exactly(head, [half]) for head in ("Abs", "sign", "floor", "ceiling")] == [-half, -1, -4, -3]
    assert exactly("Max", [third, half]) == third and exactly("Min", [third, half]) == half
    assert exactly("factorial", [Fraction(0)]) == 1 and exactly("factorial", [Fraction(6)]) == 720
    assert [exactly("binomial", [Fraction(4), Fraction(j)]) for j in (-1, 0, 2, 5)] == [0, 1, 6, 0]
    assert [exactly(head, [Fraction(0)]) for head in ("sin", "cos", "tan", "atan", "cosh")] == [0, 1, 0, 0, 1]
    for head, arguments in (("sin", [third]), ("pi", []), ("factorial", [Fraction(10**6)])):
        with pytest.raises(NotExact):
            exactly(head, arguments)
    for head, arguments in (("factorial", [third]), ("binomial", [Fraction(-1), Fraction(0)])):
        with pytest.raises(Undefined):
            exactly(head, arguments)
    around = arb(2).union(arb(3))
    assert in_balls("floor", [around]).contains(2) and in_balls("floor", [around]).contains(3)
    assert in_balls("sign", [arb(-1).union(arb(1))]).contains(-1) and in_balls("sign", [arb(3)]) == 1
    assert [in_balls("binomial", [arb(4), arb(j)]).contains(v) for j, v in ((-1, 0), (2, 6), (5, 0))] == [True] * 3
    with pytest.raises(Undefined):
        in_balls("factorial", [around])
    with pytest.raises(Undefined):
        integer(arb(1) / 3)


def test_a_piece_is_not_chosen_by_the_certificate():
    relation = sp.Lt(sp.Piecewise((1, x**2 < 2), (5, True)), 3, evaluate=False)
    statement = one_clause(Inequality("c", relation), X)
    made = certificate(statement, {"x": "1"}, ("verified", "certified", {"kind": "exact", "margin": "2"}))
    assert recheck(made)
    elsewhere = copy.deepcopy(made) | {"instance": {"x": "2"}}
    with pytest.raises(Rejected, match="margin"):
        recheck(elsewhere)
