"""Hypotheses at partial instances: slack computed by hand, and ranges compared with a scan by independent formulas."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import assume, given, settings, strategies as st

import verify
from verify import (
    Enclosure,
    Hypothesis,
    Inequality,
    InputError,
    Parameter,
    Source,
    Statement,
    Theorem,
    load_theorem,
)
from verify.evaluation.instances import check_domain, conditions, evaluate_hypothesis, with_past

x, y = sp.symbols("x y", real=True)
a, b = sp.symbols("a b", positive=True)
THEOREM = load_theorem("wang2024.theorem1")
HOLDS = Inequality("c", sp.Gt(x, -99))


def _holds(T, q, d, eta, eps):
    """Whether the hypotheses of Theorem 1 and q ≤ T hold, with denominators cleared by hand."""
    return q >= 2 and 4 * q < T and q < T and 100 * (T - q) * q * eps < d * T and 20 * d * d * eta <= 1


def _inside(text, name, value):
    """Whether a value is in a range, given as the text that `conditions` returns."""
    text = text.removesuffix(", integer")
    if text == f"no value of {name}":
        return False
    if text == f"any {name}":
        return True
    exact = re.sub(r"\d+", lambda digits: f"Fraction({digits[0]})", text.replace(" = ", " == "))
    return eval(exact, {"Fraction": Fraction, name: value, "sqrt": lambda v: sp.sqrt(sp.Rational(v))})


PARTS = st.fixed_dictionaries(
    {
        "T": st.integers(2, 60),
        "q": st.integers(1, 9),
        "d": st.integers(1, 8),
        "eta": st.fractions(Fraction(1, 2000), Fraction(1, 10), max_denominator=2000),
        "eps": st.fractions(Fraction(1, 1000), Fraction(1, 5), max_denominator=1000),
    }
).filter(lambda values: values["q"] <= values["T"])


@settings(max_examples=15)
@given(PARTS, st.sampled_from(["T", "q", "d"]))
def test_the_range_of_an_integer_is_what_a_scan_finds(values, name):
    partial = conditions(THEOREM, {key: value for key, value in values.items() if key != name})
    assume(partial.in_scope is not False)
    text = partial.ranges[name]
    assert text.endswith(", integer") or text == f"no value of {name}"
    for candidate in range(2 if name == "T" else 1, 80):
        assert _inside(text, name, candidate) is _holds(**{**values, name: candidate})
    assert not _inside(text, name, 1 if name == "T" else 0)


def test_the_range_of_an_integer_may_end_at_a_huge_irrational():
    # The bound on d, √(10^400/20), has 200 digits, too many for SymPy's floor.
    text = conditions(THEOREM, {"T": 9, "q": 2, "eta": Fraction(1, 10**400), "eps": Fraction(1, 1000)}).ranges["d"]
    assert _inside(text, "d", math.isqrt(10**400 // 20)) and not _inside(text, "d", math.isqrt(10**400 // 20) + 1)


def test_a_bound_that_is_infinite_at_the_given_values_admits_nothing():
    # At q = T the bound on eps, d·T/(100·(T − q)·q), has the divisor 0.
    partial = conditions(THEOREM, {"T": 9, "q": 9, "d": 1, "eta": Fraction(1, 20)})
    assert partial.in_scope is False and set(partial.ranges) == {"eps"}
    # Without a value of d, SymPy's bound would be zoo*d.
    assert not any("zoo" in text for text in conditions(THEOREM, {"T": 9, "q": 9}).ranges.values())


@pytest.mark.parametrize(
    ("limit", "text"), [(sp.log(-3, evaluate=False), "log(-3)"), (sp.Pow(sp.log(1, evaluate=False), -1), "1/log(1)")]
)
def test_a_limit_that_is_no_real_number_is_shown_as_it_is(limit, text):
    def ranges(kept):
        relation = sp.Le(x * kept, y, evaluate=False)
        statement = Statement((Parameter("x", "rational", "x"), Parameter("y", "rational", "y")), (HOLDS,))
        theorem = Theorem("user.kept", "kept", Source("s", "derived here"), statement, {"x": 1, "y": 1})
        return conditions(theorem.variant(replace(statement, hypotheses=(Hypothesis("h", relation),))), {"x": 1}).ranges

    assert ranges(limit)["y"].endswith(f"x*{text} <= y" if "log(-" in text else "x/log(1) <= y")
    assert ranges(sp.Integer(2))["y"] == "2 <= y"


@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(1, 40), st.integers(1, 4), st.sampled_from(["eta", "eps"]))
def test_the_range_of_a_rational_ends_where_the_hypotheses_do(q, more, d, name):
    values = {"T": 4 * q + more, "q": q, "d": d, "eta": Fraction(1, 500), "eps": Fraction(1, 1000)}
    partial = conditions(THEOREM, {key: value for key, value in values.items() if key != name})
    assert partial.in_scope is not False
    end = {"eta": Fraction(1, 20 * values["d"] ** 2)}.get(
        name, Fraction(values["d"] * values["T"], 100 * (values["T"] - values["q"]) * values["q"])
    )
    tiny = Fraction(1, 10**9)
    for candidate in (end - tiny, end, end + tiny, tiny, values[name]):
        if candidate > 0:
            expected = _holds(**{**values, name: candidate})
            assert _inside(partial.ranges[name], name, candidate) is expected
    assert not _inside(partial.ranges[name], name, Fraction(0)) and not _inside(partial.ranges[name], name, -tiny)


@settings(max_examples=30)
@given(PARTS)
def test_every_hypothesis_of_a_full_instance_has_its_slack(values):
    result = conditions(THEOREM, values)
    T, q, d, eta, eps = (values[name] for name in ("T", "q", "d", "eta", "eps"))
    slack = {h.label: h.slack for h in result.hypotheses}
    assert slack["subset_of_two"] == q - 2
    assert slack["subset_below_quarter"] == Fraction(T, 4) - q
    assert slack["step_size"] == Fraction(1, 20 * d * d) - eta
    if q < T:
        assert slack["accuracy"] == Fraction(d * T, 100 * (T - q) * q) - eps
        assert result.in_scope is _holds(**values)
    assert result.ranges == {}
    assert result.exit_code == (0 if result.in_scope else 4)


def test_the_example_of_the_design():
    failing = conditions(THEOREM, {"T": 200, "q": 3, "d": 5, "eta": 1})
    by_label = {h.label: h for h in failing.hypotheses}
    assert failing.in_scope is False and failing.exit_code == 4
    assert by_label["step_size"].status == "fails" and by_label["step_size"].slack == Fraction(-499, 500)
    assert (by_label["accuracy"].status, by_label["accuracy"].needs) == ("needs", ("eps",))
    assert failing.ranges == {"eps": "0 < eps < 10/591"}
    waiting = conditions(THEOREM, {"T": 200, "q": 3, "d": 5, "eta": Fraction(1, 500)})
    assert waiting.in_scope is None and waiting.exit_code == 3


def test_structural_hypotheses_are_assumed_and_have_no_slack():
    structural = [h for h in conditions(THEOREM, {}).hypotheses if h.kind == "structural"]
    assert len(structural) == 5
    assert all(h.status == "assumed" and h.holds and h.slack is None and h.needs == () for h in structural)


def test_an_empty_instance_needs_everything_and_shows_open_relations():
    result = conditions(THEOREM, {})
    assert result.in_scope is None
    assert {h.label: h.needs for h in result.hypotheses if h.needs} == {
        "subset_of_two": ("q",),
        "subset_below_quarter": ("T", "q"),
        "accuracy": ("T", "d", "eps", "q"),
        "step_size": ("d", "eta"),
    }
    assert set(result.ranges) == {"T", "q", "d", "eta", "eps"}
    assert result.ranges["eta"] == "0 < eta and eta <= 1/(20*d**2)"
    assert result.ranges["q"].startswith("2 <= q, integer and q <= T and q < T/4")


def test_values_outside_the_domain_are_input_errors():
    for given_, message in (
        ({"q": 10, "T": 9}, r"q = 10: must satisfy q <= T \(here T = 9\)"),
        ({"T": 1}, "must be an integer >= 2"),
        ({"depth": 1}, "is not a parameter"),
        ({"eta": 0}, "> 0"),
    ):
        with pytest.raises(InputError, match=message):
            conditions(THEOREM, given_)
    assert conditions(THEOREM, {"q": 10}).given == {"q": 10}


@pytest.mark.parametrize(
    ("relation", "values", "holds", "slack"),
    [
        (sp.Lt(x, 2), {"x": 1}, True, 1),
        (sp.Lt(x, 2), {"x": 2}, False, 0),
        (sp.Le(x, 2), {"x": 2}, True, 0),
        (sp.Le(x, 2), {"x": Fraction(5, 2)}, False, Fraction(-1, 2)),
        (sp.Gt(x, 2), {"x": 3}, True, 1),
        (sp.Gt(x, 2), {"x": 2}, False, 0),
        (sp.Ge(x, 2), {"x": 2}, True, 0),
        (sp.Ge(x, 2), {"x": 0}, False, -2),
        (sp.Lt(1 / x, 2), {"x": 0}, False, None),
        # The slack of an equation is −|left − right|.
        (sp.Eq(x, 2), {"x": 2}, True, 0),
        (sp.Eq(x, 2), {"x": 3}, False, -1),
        (sp.Eq(x, 2), {"x": Fraction(1, 2)}, False, Fraction(-3, 2)),
    ],
)
def test_each_relation_holds_inside_and_has_its_slack(relation, values, holds, slack):
    result = evaluate_hypothesis(Hypothesis("h", relation), values)
    assert (result.holds, result.slack) == (holds, slack)
    assert result.status == ("holds" if holds else "fails")


def test_an_irrational_slack_is_enclosed_with_its_sign():
    for value, holds in ((Fraction(1), True), (Fraction(21, 20), True), (Fraction(11, 10), False)):
        result = evaluate_hypothesis(Hypothesis("h", sp.Le(sp.exp(x), 3)), {"x": value})
        assert result.holds is holds and isinstance(result.slack, Enclosure)
        assert (result.slack.lower > 0) is holds is (result.slack.upper > 0)
        # The values are below 2^3, and are computed in 128 bits.
        assert result.slack.upper - result.slack.lower < Fraction(1, 2**115)


def test_a_hypothesis_that_no_precision_decides_is_not_called_false():
    # √a·√b ≤ 2 holds with equality at a = b = 2, and every ball around the slack contains 0.
    result = evaluate_hypothesis(Hypothesis("h", sp.Le(sp.sqrt(a) * sp.sqrt(b), 2)), {"a": 2, "b": 2})
    assert result.holds is not False


def test_a_domain_without_a_symbol_on_the_left_is_checked_too(make_theorem):
    theorem = make_theorem(HOLDS, domain=(sp.Le(2, x, evaluate=False),))
    check_domain(theorem.statement, {"x": 3})
    with pytest.raises(InputError, match="must satisfy 2 <= x"):
        check_domain(theorem.statement, {"x": 1})


@pytest.mark.parametrize(
    ("relations", "text"),
    [
        ((sp.Lt(x**2, 4),), "-2 < x < 2"),
        ((sp.Ge(x**2, 4),), "x <= -2 or 2 <= x"),
        ((sp.Le(x**2, 4), sp.Gt(x, 1)), "1 < x <= 2"),
        ((sp.Eq(x**2, 4),), "x = -2 or x = 2"),
        ((sp.Lt(x, 1), sp.Gt(x, 2)), "no value of x"),
        ((sp.Ge(x**2 * y, -1),), "any x"),
        ((sp.Le(sp.exp(x) + x, 4),), "any x and x + exp(x) <= 4"),
        ((sp.Lt(y, x),), "any x and x > y"),
        ((sp.Gt(y + 1, x),), "any x and x < y + 1"),
    ],
)
def test_ranges_are_solved_where_the_others_are_known_else_shown(make_theorem, relations, text):
    given_ = {} if sp.Lt(y, x) in relations or sp.Gt(y + 1, x) in relations else {"y": 0}
    hypotheses = tuple(Hypothesis(f"h{i}", relation) for i, relation in enumerate(relations))
    theorem = make_theorem(HOLDS, names="x y", hypotheses=hypotheses)
    assert conditions(theorem, given_).ranges["x"] == text


def test_integer_ranges_are_cut_to_integers(make_theorem):
    n = sp.Symbol("n", real=True)
    parameter = Parameter("n", "integer", "n")
    for relation, text in (
        (sp.Lt(n**2, 7), "-2 <= n <= 2, integer"),
        (sp.Lt(n, 5), "n <= 4, integer"),
        (sp.Gt(2 * n, 5), "3 <= n, integer"),
        (sp.Lt((2 * n - 5) ** 2, 1), "no value of n"),
        (sp.Le((2 * n - 5) ** 2, 1), "2 <= n <= 3, integer"),
        (sp.Le((n - 3) ** 2, 0), "n = 3, integer"),
        (sp.Eq((2 * n - 5) ** 2, 9), "n = 1 or n = 4, integer"),
        (sp.Eq((2 * n - 5) ** 2, 4), "no value of n"),
    ):
        theorem = make_theorem(
            Inequality("c", sp.Gt(n, -99)),
            parameters=(parameter,),
            hypotheses=(Hypothesis("h", relation),),
        )
        assert conditions(theorem, {}).ranges["n"] == text


def test_an_end_of_too_many_digits_is_shown_as_its_relation(make_theorem):
    relation = sp.Ge(x, sp.Pow(3, y, evaluate=False), evaluate=False)
    theorem = make_theorem(HOLDS, names="x y", hypotheses=(Hypothesis("h", relation),))
    assert conditions(theorem, {"y": 20000}).ranges["x"] == "any x and x >= 3**y"
    assert conditions(theorem, {"y": 3}).ranges["x"] == "27 <= x"


def test_the_range_of_a_word_is_its_words(make_theorem):
    word = Parameter("mode", "word", "mode", words=("tokens", "all"))
    theorem = make_theorem(HOLDS, parameters=(Parameter("x", "rational", "x"), word))
    assert conditions(theorem, {"x": 1}).ranges == {"mode": "one of tokens, all"}
    assert conditions(theorem, {"mode": "all"}).given == {"mode": "all"}


def test_the_json_has_the_fields_of_the_contract():
    body = conditions(THEOREM, {"T": 200, "q": 3, "d": 5, "eta": 1}).to_json()
    assert list(body) == ["theorem", "given", "hypotheses", "ranges", "reaches", "in_scope"]
    assert body["theorem"] == "wang2024.theorem1" and body["in_scope"] is False
    step_size = next(h for h in body["hypotheses"] if h["label"] == "step_size")
    assert step_size == {
        "label": "step_size",
        "kind": "parametric",
        "statement": "eta <= 1/(20*d**2)",
        "status": "fails",
        "needs": [],
        "slack": "-499/500",
        "slack_float": -0.998,
    }


def test_hypotheses_that_sympy_cannot_solve_are_shown_unsolved(make_theorem):
    a, t = sp.Symbol("a", positive=True), sp.Symbol("t", real=True)
    limit = Hypothesis("limit", sp.Lt(sp.Limit((a * t + 1) / (t + 2), t, sp.oo), 1, evaluate=False))
    theorem = make_theorem(
        Inequality("c", sp.Lt(a, 5)), parameters=(Parameter("a", "rational", "a", above=0),), hypotheses=(limit,)
    )
    found = verify.conditions(theorem)
    assert (found.hypotheses[0].status, found.hypotheses[0].needs, found.exit_code) == ("needs", ("a",), 3)
    assert found.ranges["a"].startswith("0 < a and Limit(") and found.ranges["a"].endswith("< 1")
    assert verify.conditions(theorem, a="1/2").in_scope is True and verify.conditions(theorem, a=2).in_scope is False


@pytest.mark.parametrize(
    ("relation", "instance", "past"),
    [
        (sp.Le(a, b / 20), {"a": 1, "b": 1}, "20 times the limit"),
        (sp.Ge(a, 8), {"a": 2}, "1/4 of the limit"),
        (sp.Lt(a, sp.sqrt(b)), {"a": 3, "b": 2}, "2.12 times the limit"),
        # The limited side is the only side that is a symbol, or else the only side with symbols, or else the left side.
        (sp.Ge(a, b), {"a": 10, "b": 20}, "1/2 of the limit"),
        (sp.Le(a, b), {"a": 20, "b": 10}, "2 times the limit"),
        (sp.Gt(b / 20, a, evaluate=False), {"a": 1, "b": 1}, "20 times the limit"),
        (sp.Le(8, a * b, evaluate=False), {"a": 1, "b": 2}, "1/4 of the limit"),
        (sp.Le(a, 1), {"a": "1.0001"}, "just past the limit"),
        (sp.Ge(a, 1), {"a": "0.9999"}, "just past the limit"),
        (sp.Le(a, b), {"a": 320_000_000, "b": 1}, "3.2e8 times the limit"),
        (sp.Ge(a, b), {"a": 1, "b": 10**300}, "1/1e300 of the limit"),
        (sp.Lt(a, b), {"a": 1, "b": 1}, ""),
        (sp.Le(a, b), {"a": 1, "b": 1}, ""),
        (sp.Le(x, -1), {"x": 3}, ""),
        (sp.Le(x, y - 1, evaluate=False), {"x": 3, "y": 1}, ""),
        (sp.Eq(a, b), {"a": 1, "b": 2}, ""),
    ],
)
def test_how_far_past_its_limit_one_that_fails_is(relation, instance, past):
    hypothesis = Hypothesis("h", relation)
    instance = {name: Fraction(value) for name, value in instance.items()}
    result = evaluate_hypothesis(hypothesis, instance)
    assert with_past(hypothesis, result, instance).past == past and result.past == ""
