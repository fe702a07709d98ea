"""Primitives that enclose their own values: in clauses, in searches, and where they have no value."""

import math
import random
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
import sympy as sp

import verify
from verify import Case, Enclosure, Hypothesis, Inequality, Parameter, Source, Statement, Theorem, enclosed
from verify.errors import InputError, TheoremError, UndefinedError
from verify.evaluation.instances import completed
from verify.evaluation.values import evaluate_rising
from verify.search.plans import plan

n = sp.Symbol("n", integer=True, positive=True)
eps = sp.Symbol("eps", positive=True)
word = sp.Symbol("word")
COUNT = Parameter("n", "integer", "a number", minimum=1)
LEVEL = Parameter("eps", "rational", "a level", above=0)
calls: list[Fraction] = []


@enclosed(version=1, scan=math.sqrt)
def rough_root(x: Fraction) -> Enclosure | Fraction:
    """Return the square root of an integer: exactly if the root is an integer, else between two integers."""
    calls.append(x)
    if x < 0:
        raise UndefinedError("no root")
    low = math.isqrt(int(x))
    return Fraction(low) if low * low == x else Enclosure(low, low + 1)


def root_at_most_eps() -> Theorem:
    statement = Statement(parameters=(COUNT, LEVEL), claims=(Inequality("root", sp.Le(rough_root(n) / 2, eps)),))
    return Theorem("test.root", "a root", Source("Lemma 1", "derived here"), statement, {"n": 4, "eps": 1})


@pytest.mark.parametrize(
    ("level", "outcome", "margin"),
    [
        # √5 is in [2, 3], so √5/2 is in [1, 3/2].
        ("2", "verified", (Fraction(1, 2), Fraction(1))),
        ("1/2", "refuted", (-1, Fraction(-1, 2))),
        ("5/4", "inconclusive", (Fraction(-1, 4), Fraction(1, 4))),
    ],
)
def test_the_margin_is_as_wide_as_the_enclosure(level: str, outcome: str, margin: tuple[Fraction, Fraction]) -> None:
    result = verify.check(root_at_most_eps(), n=5, eps=level)
    (clause,) = result.clauses
    assert result.outcome.value == outcome
    # The margin is affine in the single enclosure, so its ends are exact.
    assert (clause.margin.lower, clause.margin.upper) == margin


def test_an_exact_value_stays_exact() -> None:
    (clause,) = verify.check(root_at_most_eps(), n=9, eps="3/2").clauses
    assert clause.margin == 0
    assert clause.holds


def test_an_enclosed_primitive_is_computed_once_whatever_the_bits() -> None:
    calls.clear()
    evaluate_rising(rough_root(n) * sp.exp(n), {"n": 5}, digits=50)
    assert calls == [5]


def test_arguments_are_rational_and_may_have_no_value() -> None:
    with pytest.raises(UndefinedError, match="arguments must be rational"):
        evaluate_rising(rough_root(sp.exp(n)), {"n": 5})
    with pytest.raises(UndefinedError, match="no root"):
        evaluate_rising(rough_root(-n), {"n": 5})
    assert verify.check(root_at_most_eps(), n=5, eps=1).outcome.value == "inconclusive"


def test_searches_use_its_approximation() -> None:
    theorem = root_at_most_eps()
    (clause,) = theorem.statement.clauses
    # The relative margin is (ε − √5/2)/(ε + √5/2).
    half = math.sqrt(5) / 2
    assert clause.scan(theorem.statement, {"n": 5, "eps": 2.0}) == pytest.approx((2 - half) / (2 + half))


def test_its_name_cannot_be_taken() -> None:
    def exp(x: Fraction) -> Fraction:
        return x

    with pytest.raises(TheoremError, match="the name is taken"):
        enclosed(version=1, scan=float)(exp)


def test_a_word_that_is_not_given_is_the_first() -> None:
    choice = Parameter("word", "word", "a choice", words=("one", "two"))
    statement = Statement(parameters=(COUNT, choice), claims=(Inequality("small", sp.Le(n, Case(word, 1, 2))),))
    theorem = Theorem("test.word", "a word", Source("Lemma 1", "derived here"), statement, {"n": 1})
    assert verify.check(theorem, n=2).instance == {"n": 2, "word": "one"}
    assert verify.check(theorem, n=2).outcome.value == "refuted"
    assert verify.check(theorem, n=2, word="two").outcome.value == "verified"


def with_hypothesis(relation: sp.Basic, claim: sp.Basic, *parameters: Parameter) -> Theorem:
    statement = Statement(
        parameters=(COUNT, LEVEL, *parameters),
        claims=(Inequality("claim", claim),),
        hypotheses=(Hypothesis("enough", relation),),
    )
    return Theorem("test.enough", "enough", Source("Lemma 1", "derived here"), statement, {"n": 4, "eps": 3})


def test_a_hypothesis_is_drawn_by_the_approximation_and_confirmed_by_the_enclosure() -> None:
    # A scan requires only ε ≥ √n; the enclosure requires ε ≥ 3 at n = 5.
    theorem = with_hypothesis(sp.Ge(eps, rough_root(n)), sp.Ge(eps**2, n))
    assert verify.explore(theorem, max_examples=60).counterexample is None
    false = with_hypothesis(sp.Ge(eps, rough_root(n)), sp.Ge(eps**2, n + 1))
    found = verify.explore(false, max_examples=60).counterexample
    assert found is not None
    result = verify.check(false, **found)
    assert result.in_scope is True
    assert result.outcome.value == "refuted"
    # At n = 5 the claim is false only for ε near 5/2, where the enclosure does not show that the hypothesis holds.
    between = with_hypothesis(sp.Ge(eps, rough_root(n)), sp.Gt((eps - sp.Rational(5, 2)) ** 2, sp.Rational(1, 100)))
    assert verify.explore(between, max_examples=100, n=5).counterexample is None


@pytest.mark.parametrize(("level", "in_scope"), [("3", True), ("5/2", None), ("1", False)])
def test_a_hypothesis_is_undecided_inside_the_enclosure(level: str, in_scope: bool | None) -> None:
    theorem = with_hypothesis(sp.Ge(eps, rough_root(n)), sp.Ge(eps, 0, evaluate=False))
    assert verify.conditions(theorem, n=5, eps=level).in_scope is in_scope


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        (sp.Ge(eps, rough_root(n)), "3 <= eps"),
        (sp.Gt(eps, rough_root(n)), "3 < eps"),
        (sp.Le(eps, rough_root(n)), "0 < eps <= 2"),
        (sp.Ge(rough_root(n), eps), "0 < eps <= 2"),
    ],
)
def test_the_range_that_is_shown_is_the_one_that_is_certain(relation: sp.Basic, text: str) -> None:
    theorem = with_hypothesis(relation, sp.Ge(eps, 0, evaluate=False))
    assert verify.conditions(theorem, n=5).ranges["eps"] == text


def test_a_hypothesis_on_a_word_is_decided_by_it() -> None:
    choice = Parameter("word", "word", "a choice", words=("one", "four"))
    theorem = with_hypothesis(sp.Ge(eps, rough_root(n * Case(word, 1, 4))), sp.Ge(eps**2, 3 * n), choice)
    assert verify.conditions(theorem, n=4).ranges["eps"] == "2 <= eps"
    assert verify.conditions(theorem, n=4, word="four").ranges["eps"] == "4 <= eps"
    assert verify.explore(theorem, max_examples=60, word="four").counterexample is None
    found = verify.explore(theorem, max_examples=60).counterexample
    assert found is not None
    assert found["word"] == "one"
    with pytest.raises(InputError, match="breaks enough"):
        verify.explore(theorem, n=4, eps=3, word="four")


def test_the_value_alone_is_the_enclosure_itself() -> None:
    assert evaluate_rising(rough_root(n), {"n": 5}, digits=30)[0] == Enclosure(2, 3)


def test_a_parameter_takes_its_default() -> None:
    root = sp.Symbol("root", positive=True)
    choice = Parameter("word", "word", "a choice", words=("one", "four"))
    scale = Parameter("root", "rational", "a root", above=0, default=rough_root(n * Case(word, 1, 4)))
    statement = Statement(parameters=(COUNT, choice, scale), claims=(Inequality("claim", sp.Ge(root**2, n)),))
    theorem = Theorem("test.default", "a default", Source("Lemma 1", "derived here"), statement, {"n": 4})
    assert verify.check(theorem, n=9).instance == {"n": 9, "word": "one", "root": 3}
    assert verify.check(theorem, n=9, word="four").instance["root"] == 6
    assert verify.check(theorem, n=9, root="1/2").outcome.value == "refuted"
    assert verify.conditions(theorem, n=9).given == {"n": 9}
    with pytest.raises(InputError, match=r"root: missing, and it has no default here: .*is not rational"):
        verify.check(theorem, n=5)
    with pytest.raises(InputError, match="n: missing"):
        verify.check(theorem)
    # A search takes the approximation of the root, or a simpler value that satisfies the hypotheses: at n = 2 the claim
    # fails with the value 1 instead of √2.
    found = plan(statement.parameters, [], {"word": "one"}, completed=partial(completed, statement, scan=True))
    drawn = [found.draw(random.Random(seed)) for seed in range(99)]
    assert {"n": 5, "word": "one", "root": Fraction(math.sqrt(5))} in drawn
    assert verify.explore(theorem, max_examples=40, word="one").counterexample == {"n": 2, "word": "one", "root": 1}
    with pytest.raises(TheoremError, match="the default of root uses k"):
        Statement(parameters=(COUNT, replace(scale, default=sp.Symbol("k"))), claims=statement.claims)
    with pytest.raises(TheoremError, match="only a number has a default"):
        Parameter("word", "word", "a choice", words=("one", "two"), default=sp.Integer(1))


def test_a_default_keeps_the_domain_and_may_stay_open() -> None:
    root = sp.Symbol("root", positive=True)
    scale = Parameter("root", "rational", "a root", above=0, default=rough_root(n))
    clause = Inequality("claim", sp.Ge(root**2, n))
    statement = Statement(parameters=(COUNT, scale), claims=(clause,), domain=(sp.Le(root, 2),))
    theorem = Theorem("test.domain", "a domain", Source("Lemma 1", "derived here"), statement, {"n": 4})
    assert verify.check(theorem, n=4).outcome.value == "verified"
    with pytest.raises(InputError, match=r"root = 3.*must satisfy"):
        verify.check(theorem, n=9)
    with pytest.raises(InputError, match=r"root = 3.*must satisfy"):
        verify.conditions(theorem, n=9)
    # √5 is not rational, so the parameter `root`, which is not given, stays open.
    assert verify.conditions(theorem, n=5).ranges["root"] == "0 < root <= 2"
