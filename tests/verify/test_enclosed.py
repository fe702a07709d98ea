"""Primitives that are enclosed by a computation of their own: in clauses, in searches, and where they have no value."""

import math
from fractions import Fraction

import pytest
import sympy as sp

from verify import Case, Enclosure, Inequality, Parameter, Source, Statement, Theorem, enclosed
from verify.errors import TheoremError, UndefinedError
from verify.evaluation import evaluate_rising

n = sp.Symbol("n", integer=True, positive=True)
eps = sp.Symbol("eps", positive=True)
word = sp.Symbol("word")
COUNT = Parameter("n", "integer", "a number", minimum=1)
LEVEL = Parameter("eps", "rational", "a level", above=0)
calls: list[Fraction] = []


@enclosed(version=1, scan=math.sqrt)
def rough_root(x: Fraction) -> Enclosure | Fraction:
    """Return the square root of an integer to the next integers, exactly where it is one."""
    calls.append(x)
    if x < 0:
        raise UndefinedError("no root")
    low = math.isqrt(int(x))
    return Fraction(low) if low * low == x else Enclosure(low, low + 1)


def root_at_most_eps() -> Theorem:
    statement = Statement(parameters=(COUNT, LEVEL), clauses=(Inequality("root", sp.Le(rough_root(n) / 2, eps)),))
    return Theorem("test.root", "a root", Source("Lemma 1", "derived here"), statement, {"n": 4, "eps": 1})


@pytest.mark.parametrize(
    ("level", "outcome", "margin"),
    [
        # √5 is in [2, 3], half of it in [1, 3/2].
        ("2", "verified", (Fraction(1, 2), Fraction(1))),
        ("1/2", "refuted", (-1, Fraction(-1, 2))),
        ("5/4", "inconclusive", (Fraction(-1, 4), Fraction(1, 4))),
    ],
)
def test_the_margin_is_as_wide_as_the_enclosure(level: str, outcome: str, margin: tuple[Fraction, Fraction]) -> None:
    result = root_at_most_eps().check(n=5, eps=level)
    (clause,) = result.clauses
    assert result.outcome.value == outcome
    # Balls keep an enclosure's radius to 30 bits.
    for found, exact in zip((clause.margin.lower, clause.margin.upper), margin, strict=True):
        assert abs(found - exact) < Fraction(1, 10**8)


def test_an_exact_value_stays_exact() -> None:
    (clause,) = root_at_most_eps().check(n=9, eps="3/2").clauses
    assert clause.margin == 0
    assert clause.holds


def test_it_is_computed_once_whatever_the_bits() -> None:
    calls.clear()
    evaluate_rising(rough_root(n) * sp.exp(n), {"n": 5}, digits=50)
    assert calls == [5]


def test_arguments_are_rational_and_may_have_no_value() -> None:
    with pytest.raises(UndefinedError, match="arguments must be rational"):
        evaluate_rising(rough_root(sp.exp(n)), {"n": 5})
    with pytest.raises(UndefinedError, match="no root"):
        evaluate_rising(rough_root(-n), {"n": 5})
    assert root_at_most_eps().check(n=5, eps=1).outcome.value == "inconclusive"


def test_searches_use_its_approximation() -> None:
    theorem = root_at_most_eps()
    (clause,) = theorem.statement.clauses
    # (ε − √5/2)/(ε + √5/2).
    half = math.sqrt(5) / 2
    assert clause.scan(theorem.statement, {"n": 5, "eps": 2.0}) == pytest.approx((2 - half) / (2 + half))


def test_its_name_cannot_be_taken() -> None:
    def exp(x: Fraction) -> Fraction:
        return x

    with pytest.raises(TheoremError, match="the name is taken"):
        enclosed(version=1, scan=float)(exp)


def test_a_word_that_is_not_given_is_the_first() -> None:
    choice = Parameter("word", "word", "a choice", words=("one", "two"))
    statement = Statement(parameters=(COUNT, choice), clauses=(Inequality("small", sp.Le(n, Case(word, 1, 2))),))
    theorem = Theorem("test.word", "a word", Source("Lemma 1", "derived here"), statement, {"n": 1})
    assert theorem.check(n=2).instance == {"n": 2, "word": "one"}
    assert theorem.check(n=2).outcome.value == "refuted"
    assert theorem.check(n=2, word="two").outcome.value == "verified"
