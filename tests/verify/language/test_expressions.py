"""The language of statements: its data form and the digest."""

import hashlib
import json
import random
import sys
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import assume, given, settings, strategies as st
from sympy.core.cache import clear_cache
from sympy.core.facts import InconsistentAssumptions

from verify import Hypothesis, Inequality, Parameter, Statement, TheoremError, primitive
from verify.language.expressions import PRIMITIVES, digest, from_data, refuse_float, to_data

x, y, z = sp.symbols("x y z", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
alpha = sp.Symbol("alpha", real=True)
free = sp.Symbol("free")
v = sp.Symbol("x", real=True)

LEAVES = st.sampled_from([x, y, n, alpha, free]) | st.integers(-5, 5).map(sp.Integer)
LEAVES |= st.fractions(-3, 3, max_denominator=9).map(sp.Rational)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(sp.Add, inner, inner)
        | st.builds(sp.Mul, inner, inner)
        | st.builds(sp.Pow, inner, st.integers(-3, 3))
        | st.builds(sp.exp, inner)
        | st.builds(lambda e: sp.log(x + y + e**2), inner)
        | st.builds(lambda e: sp.sqrt(x + e**2), inner)
    ),
    max_leaves=8,
)
OUTSIDE = (sp.zoo, sp.nan, sp.I, sp.E, sp.pi, sp.S.NegativeInfinity, sp.oo)


KEPT = {
    "-1*0": lambda: sp.Mul(-1, 0, evaluate=False),
    "x - 1*0": lambda: sp.Add(x, sp.Mul(-1, 0, evaluate=False), evaluate=False),
    "alpha**(0*1)": lambda: sp.Pow(sp.Symbol("alpha", real=True), sp.Mul(0, 1, evaluate=False), evaluate=False),
    "0*(1 - 1)": lambda: sp.Mul(0, sp.Add(1, -1, evaluate=False), evaluate=False),
}


@pytest.mark.parametrize("name", KEPT)
def test_of_a_factor_0_that_is_kept_sympy_does_not_contradict_itself(name, monkeypatch):
    assumptions = sys.modules["sympy.core.assumptions"]
    facts = sorted({*sp.Symbol("all", zero=True).assumptions0, "antihermitian"})
    for leaf in (sp.S.Zero, sp.S.One, sp.S.NegativeOne, x):
        # All facts about these leaves are computed first, so they do not depend on what ran before.
        assert all(hasattr(leaf, f"is_{fact}") for fact in facts)

    def contradictions(prepare):
        count = 0
        for seed in range(500):
            # SymPy asks for facts in a random order; here the seed determines the order. Earlier answers are deleted.
            order = random.Random(seed).sample(facts, len(facts))
            monkeypatch.setattr(assumptions, "shuffle", lambda asked, order=order: asked.sort(key=order.index))
            clear_cache()
            prepare(expression := KEPT[name]())
            try:
                for fact in ("real", "even", "zero", "positive", "negative"):
                    getattr(expression, f"is_{fact}")
            except InconsistentAssumptions:
                count += 1
        return count

    assert contradictions(lambda expression: None) > 0
    assert contradictions(to_data) == 0


@settings(max_examples=150)
@given(EXPRESSIONS)
def test_an_expression_comes_back_from_its_data(expression):
    assume(not expression.has(*OUTSIDE))
    assume(all(max(abs(r.p), r.q) <= 10**6 for r in expression.atoms(sp.Rational)))
    assert from_data(json.loads(json.dumps(to_data(expression)))) == expression


@pytest.mark.parametrize(
    "expression",
    [
        sp.Limit((x + 1) / x, x, sp.oo),
        sp.Limit(x, x, 0),
        sp.Derivative(x**2 * y, x),
        sp.Derivative(x**3 * y, x, x, y),
        sp.Subs(sp.Derivative(x**2, x), x, 3),
        sp.Tuple(x, sp.Rational(1, 2)),
        sp.Lt(x, y),
        sp.Le(x, 2),
        sp.Gt(x, y),
        sp.Ge(x**2, y),
        sp.Eq(x, y),
        sp.Rational(1, 3),
        sp.sqrt(2),
    ],
)
def test_each_head_comes_back_from_its_data(expression):
    assert from_data(to_data(expression)) == expression


@pytest.mark.parametrize("assumption", ["integer", "positive", "nonnegative", "real", "negative", "nonzero", "even"])
def test_the_assumptions_of_a_symbol_come_back(assumption):
    # Otherwise two statements that differ only in an assumption would have the same digest.
    symbol = sp.Symbol("s", **{assumption: True})
    assert from_data(to_data(symbol)) == symbol


def test_the_data_form_is_what_it_is_documented_to_be():
    assert to_data(2 * x + 1) == ["Add", ["Integer", "1"], ["Mul", ["Integer", "2"], to_data(x)]]
    assert to_data(free / 3) == ["Mul", ["Rational", "1/3"], ["Symbol", "free"]]
    assert to_data(n) == ["Symbol", "n", "integer", "rational", "positive", "nonnegative", "nonzero", "real"]


@given(st.permutations([x, 2 * y, x * y, sp.exp(x), sp.Rational(1, 3)]), st.sampled_from([sp.Add, sp.Mul]))
def test_the_order_of_commuting_arguments_does_not_show(arguments, head):
    typed = head(*arguments, evaluate=False)
    assert digest({"e": to_data(typed)}) == digest({"e": to_data(head(*sorted(arguments, key=str), evaluate=False))})


def test_the_order_of_other_arguments_shows():
    assert to_data(x**y) != to_data(y**x)
    assert to_data(sp.Lt(x, y)) != to_data(sp.Lt(y, x))


@pytest.mark.parametrize(
    "expression",
    [
        sp.Float("0.5"), 0.5 * x, sp.I, sp.zoo, sp.nan, sp.cot(x), sp.asin(alpha), sp.Function("unknown")(x),
        sp.Ne(x, y), sp.true, sp.Rational(0.1), x + sp.sympify(Fraction(0.1)), sp.GoldenRatio, -sp.oo,
        sp.Integral(n, (n, 1, 3)), sp.Max(sp.Float("0.5"), x), sp.Sum(sp.erf(n), (n, 1, 3)),
    ],
)  # fmt: skip
def test_expressions_outside_the_language_are_refused(expression):
    with pytest.raises(TheoremError, match=r"outside the language|float's expansion"):
        to_data(expression)


def test_a_refused_function_comes_with_the_command_that_lists_functions():
    with pytest.raises(TheoremError, match=r": asin is outside .*; `verify language` lists functions that are in it$"):
        to_data(sp.asin(alpha))
    with pytest.raises(TheoremError, match=r": a float is outside the language of statements$"):
        to_data(sp.Float("0.5"))


def test_a_sum_of_sums_is_one_inside_the_other():
    i, j = sp.symbols("i j", integer=True)
    inner, outer = sp.Sum(i * j, (i, 1, j)), sp.Sum(sp.Sum(i * j, (i, 1, j)), (j, 1, n))
    assert len(outer.args) == 3
    assert to_data(outer) == ["Sum", to_data(inner), to_data(sp.Tuple(j, 1, n))] and from_data(to_data(outer)) == outer


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (sp.Piecewise((x, x > 1), (y, x < 0)), "the last piece needs the condition True"),
        (sp.Piecewise((x, sp.And(x > 1, y > 1)), (y, True)), "is not one comparison"),
    ],
)
def test_a_form_of_a_head_that_is_outside_is_named(expression, why):
    with pytest.raises(TheoremError, match=why):
        to_data(expression)


@pytest.mark.parametrize("number", [sp.Integer(10) ** 5000, sp.Rational(1, 10**5000), -(sp.Integer(10) ** 1200)])
def test_a_number_that_is_too_long_to_be_written_is_refused(number):
    with pytest.raises(TheoremError, match="a number has more than 1200 digits; write it as a power"):
        to_data(x + number)
    assert to_data(sp.Pow(10, 5000, evaluate=False)) == ["Pow", ["Integer", "10"], ["Integer", "5000"]]


@pytest.mark.parametrize("data", [["cot", ["Integer", "1"]], [], ["Float", "0.1"], ["Primitive", "none_such", 1], "x"])
def test_malformed_data_are_refused(data):
    with pytest.raises(TheoremError):
        from_data(data)


# A float is recognised if its numerator has between 41 and 53 bits.
@given(st.integers(2**40 + 1, 2**53 - 1).map(lambda k: k | 1), st.integers(1, 200))
def test_the_expansion_of_a_float_is_refused(numerator, power):
    with pytest.raises(TheoremError, match="float's expansion"):
        refuse_float(numerator, 2**power)
    with pytest.raises(TheoremError, match="float's expansion"):
        refuse_float(-numerator, 2**power)


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_a_fraction_that_someone_wrote_is_not_refused(numerator, denominator):
    refuse_float(numerator, denominator)
    refuse_float(numerator, 10**12)


@pytest.mark.parametrize(("p", "q"), [(1, 2), (3, 8), (-(2**10), 2**15), (10**30, 1)])
def test_short_dyadics_and_integers_are_not_refused(p, q):
    refuse_float(p, q)


def test_a_primitive_is_written_with_its_version():
    @primitive(3)
    def moment(arithmetic, a, b):
        return a + b

    assert to_data(moment(x, 2)) == ["Primitive", "moment", 3, to_data(x), ["Integer", "2"]]
    assert from_data(to_data(moment(x, 2))) == moment(x, 2)
    with pytest.raises(TheoremError, match="version 2: not known"):
        from_data(["Primitive", "moment", 2, ["Integer", "1"], ["Integer", "2"]])


def test_a_primitive_cannot_take_a_name_that_is_taken():
    def exp(arithmetic, a):
        return a

    with pytest.raises(TheoremError, match="exp: the name is taken"):
        primitive(1)(exp)

    def other(arithmetic, a):
        return a

    primitive(1)(other)
    stranger = type(other)(other.__code__, {"__name__": "elsewhere"}, "other")
    stranger.__module__ = "elsewhere"
    with pytest.raises(TheoremError, match="other: the name is taken"):
        primitive(1)(stranger)
    assert PRIMITIVES["other"].evaluate is other


def test_the_digest_is_the_sha256_of_canonical_json():
    text = '{"a":[1,"\\u03b7"],"b":null}'
    assert digest({"b": None, "a": [1, "η"]}) == hashlib.sha256(text.encode()).hexdigest()
    with pytest.raises(ValueError, match="Out of range float"):
        digest({"a": float("nan")})


def _statement(clause=None, hypotheses=None, **more):
    clause = Inequality("claim", sp.Lt(v, 2)) if clause is None else clause
    default = (Hypothesis("small", sp.Le(v, 1)), Hypothesis("large", sp.Ge(v, sp.Rational(1, 2))))
    return Statement(
        (Parameter("x", "rational", "x"),), (clause,), default if hypotheses is None else hypotheses, **more
    )


@pytest.mark.parametrize(
    "changed",
    [
        _statement(Inequality("claim", sp.Lt(v, 3))),
        _statement(Inequality("claim", sp.Gt(v, 2))),
        _statement(Inequality("claim", sp.Le(v, 2))),
        _statement(Inequality("renamed", sp.Lt(v, 2))),
        _statement(hypotheses=(Hypothesis("small", sp.Le(v, 1)),)),
        _statement(hypotheses=(Hypothesis("small", sp.Lt(v, 1)), Hypothesis("large", sp.Ge(v, sp.Rational(1, 2))))),
        _statement(domain=(sp.Le(v, 7),)),
        _statement(variables=(y,)),
        _statement(definitions={sp.Symbol("y", real=True): v + 1}),
        Statement((Parameter("x", "rational", "x", minimum=0),), _statement().clauses, _statement().hypotheses),
        Statement((Parameter("x", "integer", "x"),), _statement().clauses, _statement().hypotheses),
    ],
)
def test_a_changed_statement_has_another_digest(changed):
    assert changed.digest != _statement().digest


def test_a_retyped_statement_has_the_same_digest():
    typed = Inequality("claim", sp.Lt(sp.Symbol("x", real=True), sp.Integer(4) / 2))
    assert _statement(typed).digest == _statement().digest
    shown = Inequality("claim", sp.Lt(v, 2), says="x is below two")
    assert _statement(shown).digest != _statement().digest


def test_another_version_of_a_primitive_gives_another_digest():
    def evaluate(arithmetic, a):
        return a

    evaluate.__name__ = "versioned"
    digests = [_statement(Inequality("c", sp.Lt(primitive(v)(evaluate)(v), 2))).digest for v in (1, 2, 1)]
    assert digests[0] == digests[2] != digests[1]
