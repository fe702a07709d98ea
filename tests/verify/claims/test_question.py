"""Identities and inequalities that are verified, refuted or undecided, with margins and witnesses computed by hand."""

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st

from verify import Evidence, Identity, Inequality, Outcome, Parameter, Question, Statement, TheoremError
from verify.checking.decide import decided
from verify.language.expressions import primitive

x, y = sp.symbols("x y", real=True)
a, b, n = sp.symbols("a b n", real=True)


@pytest.fixture
def evaluate(make_theorem):
    """Return a function that decides a clause at an instance; the names in the instance are the parameters."""

    def run(clause, variables=(), definitions=None, **instance):
        names = " ".join(instance) or "unused"
        theorem = make_theorem(clause, names=names, variables=variables, definitions=definitions or {})
        return decided(theorem.statement, instance, clause)

    return run


def test_an_identity_is_proved_for_all_parameters(evaluate):
    result = evaluate(Identity("i", (x + y) ** 2, x**2 + 2 * x * y + y**2), variables=(y,), x=3)
    assert (result.outcome, result.evidence, result.margin, result.error) == (Outcome.VERIFIED, Evidence.PROVED, 0, 0)
    assert result.holds is True and result.witness == {}


def test_an_identity_at_one_instance_is_certified_there(evaluate):
    clause = Identity("i", (x - 2) * y, sp.Integer(0))
    at_two = evaluate(clause, variables=(y,), x=2)
    assert (at_two.outcome, at_two.evidence, at_two.detail) == (
        Outcome.VERIFIED,
        Evidence.CERTIFIED,
        "symbolic zero at this instance",
    )
    at_three = evaluate(clause, variables=(y,), x=3)
    assert at_three.outcome is Outcome.REFUTED


def test_a_false_identity_is_refuted_by_a_point_and_its_difference(evaluate):
    result = evaluate(Identity("i", (x + y) ** 2, x**2 + y**2), variables=(y,), x=Fraction(1, 2))
    assert (result.outcome, result.evidence, result.holds) == (Outcome.REFUTED, Evidence.CERTIFIED, False)
    assert result.witness["x"] == Fraction(1, 2)
    # The difference is 2xy = y at x = 1/2.
    assert result.witness["left_minus_right"] == result.margin == result.witness["y"] != 0


def test_a_false_identity_with_exponentials_is_refuted_by_an_enclosure(evaluate):
    result = evaluate(Identity("i", sp.exp(2 * x), sp.exp(x) + 1), x=1)
    with mpmath.workdps(60):
        true = mpmath.exp(2) - mpmath.exp(1) - 1
        lower, upper = (
            mpmath.mpf(end.numerator) / end.denominator for end in (result.margin.lower, result.margin.upper)
        )
        assert lower <= true <= upper
        # The width comes from one difference of values below 8 in 128 bits.
        assert upper - lower < mpmath.mpf(2) ** -115
    assert (result.outcome, result.bits) == (Outcome.REFUTED, 128)


def test_an_identity_that_is_not_rational_is_inconclusive_when_no_point_refutes_it(evaluate):
    hidden = evaluate(Identity("i", sp.sqrt(3 + 2 * sp.sqrt(a)), 1 + sp.sqrt(a)), a=2)
    assert (hidden.outcome, hidden.evidence) == (Outcome.INCONCLUSIVE, None) and "not rational" in hidden.detail
    refuted = evaluate(Identity("i", sp.sqrt(3 + 2 * sp.sqrt(a)), 1 + sp.sqrt(a)), a=3)
    assert refuted.outcome is Outcome.REFUTED


def test_an_identity_that_is_rational_only_at_the_instance_is_decided_there(evaluate):
    # With a symbolic exponent the power is not rational; at n = 2 the identity is (1 + x)² = 1 + 2x + x².
    result = evaluate(Identity("i", (1 + x) ** n, 1 + 2 * x + x**2), variables=(x,), n=2)
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)


@pytest.mark.parametrize(
    ("left", "right", "at"), [((x**2 - 1) / (x - 1), x + 1, {"x": 1}), (x / y, 0 * x, {"x": 0, "y": 0})]
)
def test_an_identity_is_not_verified_where_a_side_has_no_value(evaluate, left, right, at):
    # The left side is 0/0 at these instances, although the difference vanishes as a rational function.
    result = evaluate(Identity("i", left, sp.sympify(right)), **at)
    assert result.outcome is Outcome.INCONCLUSIVE


def test_a_definition_is_put_in_before_an_identity_is_tested(evaluate):
    w = sp.Symbol("w", real=True)
    found = evaluate(Identity("i", w**2 - 1, x * (x + 2)), definitions={w: x + 1}, x=3)
    assert found.evidence is Evidence.PROVED


def test_the_symbol_of_a_limit_is_its_own(evaluate):
    # The limit is y + 1 for every x. At x = 3, y = 2 the x inside the limit must not be replaced by 3.
    limit = sp.Limit(x + y + 1 / (1 + x), x, 0)
    assert evaluate(Identity("i", limit, y + 1), x=3, y=2).evidence is Evidence.PROVED
    here = evaluate(Identity("i", limit, x), x=3, y=2)
    assert (here.outcome, here.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    for right in (x + y, x + y + sp.Rational(1, 4), x - 1):
        wrong = evaluate(Identity("i", limit, right), x=3, y=2)
        assert (wrong.outcome, wrong.margin) == (Outcome.REFUTED, 3 - right.subs({x: 3, y: 2}))
    # Outside the limit the same symbol is an ordinary variable.
    assert evaluate(Identity("i", limit + x, y + 1 + x), variables=(x,), y=2).evidence is Evidence.PROVED
    refuted = evaluate(Identity("i", limit + x, y + 1 + 2 * x), variables=(x,), y=2)
    assert refuted.outcome is Outcome.REFUTED and refuted.margin == -refuted.witness["x"]


RELATIONS = [
    (sp.Lt(x, 2), {1: True, 2: False, 3: False}),
    (sp.Le(x, 2), {1: True, 2: True, 3: False}),
    (sp.Gt(x, 2), {1: False, 2: False, 3: True}),
    (sp.Ge(x, 2), {1: False, 2: True, 3: True}),
    (sp.Eq(x, 2), {1: False, 2: True, 3: False}),
]


@pytest.mark.parametrize(("relation", "truth"), RELATIONS)
def test_a_rational_inequality_is_decided_exactly(evaluate, relation, truth):
    for value, holds in truth.items():
        result = evaluate(Inequality("c", relation), x=value)
        assert (result.holds, result.evidence, result.bits) == (holds, Evidence.CERTIFIED, None)
        assert abs(result.margin) == abs(value - 2) and result.error == 0
        assert result.witness == ({} if holds else {"x": value})
        if not isinstance(relation, sp.Eq):
            assert (result.margin > 0) is (holds and value != 2)


@settings(max_examples=40)
@given(st.fractions(-3, 3, max_denominator=50))
def test_the_margin_of_a_transcendental_inequality_is_enclosed(value):
    # e^x < 3 for x < log 3
    statement = Statement((Parameter("x", "rational", "x"),), (Inequality("c", sp.Lt(sp.exp(x), 3)),))
    result = decided(statement, {"x": value}, statement.clauses[0])
    with mpmath.workdps(60):
        true = 3 - mpmath.exp(mpmath.mpf(value.numerator) / value.denominator)
        assert result.holds is bool(true > 0)
        if value:
            lower, upper = (mpmath.mpf(e.numerator) / e.denominator for e in (result.margin.lower, result.margin.upper))
            assert lower <= true <= upper
            # The width comes from four roundings, to 128 bits, of values of at most e³ < 2^5.
            assert upper - lower < mpmath.mpf(2) ** -118
        else:
            assert result.margin == 2


def test_bits_rise_until_the_sign_is_decided(evaluate):
    gap = Fraction(1, 10**60)
    for sign in (1, -1):
        result = evaluate(Inequality("c", sp.Gt(sp.exp(a), sp.exp(b))), a=1 + sign * gap, b=1)
        # The sign depends on a gap of 10^-60 = 2^-199.3, which takes 256 bits.
        assert (result.holds, result.bits) == (sign > 0, 256)


def test_an_inequality_that_no_precision_decides_is_inconclusive(evaluate):
    for relation in (sp.Le(sp.sqrt(a) * sp.sqrt(b), 2), sp.Eq(sp.sqrt(a) * sp.sqrt(b), 2)):
        result = evaluate(Inequality("c", relation), a=2, b=2)
        assert (result.outcome, result.evidence, result.bits) == (Outcome.INCONCLUSIVE, None, 4096)
        assert result.margin.lower < 0 < result.margin.upper and result.error < Fraction(1, 2**4000)
        assert "undecided at 4096 bits" in result.detail


def test_an_equality_of_irrationals_is_refuted_when_an_enclosure_excludes_zero(evaluate):
    result = evaluate(Inequality("c", sp.Eq(sp.sqrt(a) * sp.sqrt(b), 2)), a=2, b=3)
    assert (result.holds, result.evidence) == (False, Evidence.CERTIFIED)


@pytest.mark.parametrize(
    ("relation", "at"), [(sp.Lt(1 / x, 2), 0), (sp.Lt(sp.log(x), 2), -1), (sp.Lt(sp.sqrt(x), 2), -1)]
)
def test_an_inequality_without_a_value_is_inconclusive(evaluate, relation, at):
    result = evaluate(Inequality("c", relation), x=at)
    assert (result.outcome, result.evidence, result.margin) == (Outcome.INCONCLUSIVE, None, None)
    assert result.detail


def test_a_primitive_that_compares_is_given_more_bits(evaluate):
    @primitive(1)
    def larger(arithmetic, p, q):
        return p if p > q else q

    gap = Fraction(1, 10**60)
    decided = evaluate(Inequality("c", sp.Gt(larger(sp.exp(a), sp.exp(b)), sp.exp(b))), a=1 + gap, b=1)
    assert decided.holds is True
    never = evaluate(Inequality("c", sp.Gt(larger(sp.sqrt(a) * sp.sqrt(b), sp.Integer(2)), 0)), a=2, b=2)
    assert never.outcome is Outcome.INCONCLUSIVE


def test_only_relations_are_inequalities():
    for relation in (x, sp.true, sp.Lt(1, 2), sp.Ne(x, 2), sp.And(x > 1, x < 2)):
        with pytest.raises(TheoremError, match="is not a relation between expressions"):
            Inequality("c", relation)


def test_clauses_say_what_they_claim():
    assert Identity("i", x, y).text == "x = y" and Identity("i", x, y, says="same").text == "same"
    assert Inequality("c", sp.Lt(x, y)).text == "x < y" and Inequality("c", sp.Lt(x, y), says="less").text == "less"
    assert Identity("i", x, y).to_data()["kind"] == "identity"
    assert Inequality("c", sp.Lt(x, y)).to_data() == {
        "kind": "inequality",
        "label": "c",
        "says": "",
        "relation": ["Lt", ["Symbol", "x", "real"], ["Symbol", "y", "real"]],
    }
    assert list(Identity("i", x, y).expressions()) == [x, y] == list(Inequality("c", sp.Lt(x, y)).expressions())


def test_a_question_gives_values_to_the_digits_asked_for(make_theorem):
    theorem = make_theorem(Inequality("c", sp.Gt(x, 0)), definitions={y: x**2})
    question = Question(theorem.statement, {"x": 3}, digits=30)
    assert question.value(y + 1, question.digits) == 10
    found = question.value(sp.sqrt(y + 1), question.digits)
    assert 0 < found.upper - found.lower < Fraction(1, 10**29)
    assert found.lower**2 <= 10 <= found.upper**2
