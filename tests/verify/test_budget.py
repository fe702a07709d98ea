"""Time: the least of what was given counts, and a primitive that looks at the clock is inconclusive, not endless."""

import time

import pytest
import sympy as sp

from verify import Inequality, Outcome, Parameter, Source, Statement, Theorem
from verify.budget import look_at_the_clock, until
from verify.errors import OutOfTimeError, UndecidedError
from verify.evaluation import evaluate_rising
from verify.language import enclosed


@enclosed(version=1, scan=lambda n: n)
def endless_test_sum(n):
    """Count for ever."""
    while True:
        look_at_the_clock()


n = sp.Symbol("n", integer=True, positive=True)
CLAUSE = Inequality("bound", sp.Le(endless_test_sum(n), 5, evaluate=False))
STATEMENT = Statement((Parameter("n", "integer", "a number", minimum=1),), (CLAUSE,))
THEOREM = Theorem("user.t", "t", Source("t", "derived here"), STATEMENT, example={"n": 1})


def test_without_a_deadline_nothing_is_raised():
    look_at_the_clock()


def test_the_least_deadline_counts_and_goes_with_its_context():
    now = time.monotonic()
    with until(now - 1), pytest.raises(OutOfTimeError, match="the time ran out"), until(now + 100):
        look_at_the_clock()
    look_at_the_clock()


def test_a_check_and_a_search_end_in_time():
    started = time.monotonic()
    result = THEOREM.check(n=3, seconds=0.3)
    assert result.outcome is Outcome.INCONCLUSIVE and "the time ran out" in result.clauses[0].detail
    assert THEOREM.explore(seconds=1, n=9).counterexample is None
    assert time.monotonic() - started < 30


def test_out_of_time_is_undecided_to_whoever_evaluates():
    with until(time.monotonic() - 1), pytest.raises(UndecidedError, match="endless_test_sum: the time ran out"):
        evaluate_rising(endless_test_sum(n), {"n": 2})


def test_the_gain_of_attention_looks_at_the_clock():
    from theorems.sparse_token_selection.attention_gain import greatest_gain

    with until(time.monotonic() - 1), pytest.raises(OutOfTimeError):
        greatest_gain(301, 5, 171, True)
