"""The reasons why a search ends: its number of instances, an interrupt, the time; the results are kept."""

import time
from dataclasses import replace

import pytest
import sympy as sp

from tests.verify.searched import M, N, X, Y, m, n, theorem, x, y, z
from verify import Dynamics, Hypothesis, Inequality, Outcome, Reaches
from verify.errors import OutOfTimeError
from verify.evaluation.numerical.limits import NUMERICAL
from verify.language.expressions import primitive
from verify.outcomes import ClauseResult
from verify.search.explore import explore
from verify.search.verdicts.decision import Judge
from verify.search.verdicts.state import Search, scan


def test_progress_is_told_the_number_of_instances():
    told = []
    result = explore(theorem((X,), sp.Gt(x, 0, evaluate=False)), {}, max_examples=50, progress=told.append)
    assert told == list(range(1, result.examples + 1)) and result.stopped == "examples"


def test_an_interrupt_ends_it_with_what_was_met():
    def interrupt(count):
        if count >= 17:
            raise KeyboardInterrupt

    result = explore(theorem((X,), sp.Gt(x, 0, evaluate=False)), {}, progress=interrupt)
    assert (result.stopped, result.interrupted, result.counterexample) == ("interrupted", True, None)
    assert result.examples == 17 and result.smallest_margin == 1.0 and result.nearest is not None
    assert result.to_json()["stopped"] == "interrupted"


def test_an_interrupt_while_it_computes_a_margin():
    calls = []

    @primitive(1)
    def interrupted_later(arithmetic, number):
        calls.append(number)
        if len(calls) > 30:
            raise KeyboardInterrupt
        return number

    result = explore(theorem((X,), sp.Gt(interrupted_later(x), 0)), {})
    assert result.stopped == "interrupted" and 0 < result.examples <= 31


def test_an_interrupt_while_it_is_made_readable_keeps_what_was_found():
    def interrupt(count):
        if count >= 30:
            raise KeyboardInterrupt

    result = explore(theorem((X, Y), sp.Le(x, 10**5 * y)), {}, progress=interrupt)
    assert result.stopped == "interrupted" and result.counterexample is not None and result.exit_code == 1
    assert result.counterexample["x"] > 10**5 * result.counterexample["y"]


def _slow(sleep, seconds):
    """Return a theorem whose evaluations each take some time."""

    @primitive(1)
    def slowly(arithmetic, number):
        sleep(seconds)
        return number

    return theorem((X,), sp.Gt(slowly(x), 0))


def test_a_verdict_that_is_ended_with_the_search_is_no_interrupt(clock, monkeypatch):
    # A verdict takes longer than the search itself may take.
    monkeypatch.setattr(Inequality, "evaluate", lambda *_: clock.sleep(1000))
    result = explore(theorem((X,), sp.Ge(x, x, evaluate=False)), {}, max_examples=10)
    assert (result.stopped, result.interrupted, result.clean) == ("seconds", False, 0)


@pytest.mark.parametrize("each", [0.001, 0.2])
def test_the_time_is_kept(clock, each):
    started = clock.now
    result = explore(_slow(clock.sleep, each), {}, seconds=0.6, max_examples=10**6)
    assert 0.6 <= result.seconds <= clock.now - started < 2.1
    assert (result.stopped, result.counterexample) == ("seconds", None)
    assert result.exit_code == (0 if result.clean else 3) and result.clean + result.undecided == result.examples


def test_the_time_is_kept_where_an_instance_takes_long_to_confirm(clock):
    # The state shrinks by the factor 1 − 10^-9 per step, so it reaches 1/2 only after some 7·10^8 steps.
    falling = Dynamics((z,), (sp.Integer(1),), (z * (1 - sp.Rational(1, 10**9)),), z)
    statement = theorem((N,), Reaches("claim", falling, sp.Rational(1, 2), within=10**9 / n))
    started = clock.now
    clock.tick = 0.01
    result = explore(statement, {}, seconds=1)
    # No instance is verified in time; if the search reaches a large n, the claim is refuted there.
    assert clock.now - started < 2.5 and result.clean == 0
    assert result.stopped == ("seconds" if result.counterexample is None else "found")


def test_a_found_counterexample_is_not_confirmed_twice(monkeypatch):
    # A second decision of the counterexample, when time is short, might leave it undecided.
    confirmed, confirm = [], Search.confirm

    def once(state, label, instance, *more):
        confirmed.append(dict(instance))
        result = confirm(state, label, instance, *more)
        return result if len(confirmed) == 1 else replace(result, outcome=Outcome.INCONCLUSIVE)

    monkeypatch.setattr(Search, "confirm", once)
    result = explore(theorem((X,), sp.Gt(x, 100)), {})
    assert result.counterexample == confirmed[0] and result.stopped == "found"
    assert result.clause.outcome is Outcome.REFUTED


@pytest.mark.parametrize("place", ["verdicts.state.Search.margins", "verdicts.decision.check_domain"])
def test_a_clock_that_is_looked_at_anywhere_ends_it(monkeypatch, place):
    def late(*_):
        raise OutOfTimeError("the time ran out")

    made = theorem((X,), Reaches("claim", Dynamics((z,), (x,), (z / 2,), z), sp.Rational(1, 2)))
    assert explore(made, {}, max_examples=10).clean > 0
    monkeypatch.setattr(f"verify.search.{place}", late)
    result = explore(made, {}, max_examples=10)
    assert (result.counterexample, result.clean, result.exit_code) == (None, 0, 3)


def test_no_more_instances_are_tried_than_are_allowed():
    # `polished` counts the instances of the polish, at most `most`, and those of the simplification of its result.
    for most in (1, 2, 5, 20):
        result = explore(theorem((N, X), sp.Ge(n + x, 0, evaluate=False)), {}, max_examples=most)
        assert result.examples == result.clean <= most and result.polished <= 2 * most
        plain = explore(theorem((N, X), sp.Ge(n + x, 0, evaluate=False)), {}, max_examples=most, guided=False)
        assert plain.examples <= most and plain.polished == 0


def test_most_instances_are_drawn_however_many_clauses_there_are(monkeypatch):
    clauses = tuple(Inequality(f"claim_{i}", sp.Ge(n * m + i, i, evaluate=False)) for i in range(40))
    many = theorem((N, M), sp.Ge(n, 0, evaluate=False))
    many = replace(many, statement=replace(many.statement, claims=clauses))
    left = []

    def none(state, most, _):
        left.append((most, len(state.tried)))
        yield from ()

    monkeypatch.setattr("verify.search.explore._drawn", none)
    for most, before in ((1000, 250), (120, 50), (20, 10), (2, 1)):
        explore(many, {}, max_examples=most)
        last, tried = left.pop()
        assert last == most and 0 < tried <= before


def test_draws_have_most_of_the_time(clock, monkeypatch):
    left = []

    def slow(clause, statement, instance):
        clock.sleep(0.1)
        return scan(clause, statement, instance)

    def none(state, *_):
        left.append(state.deadline - clock.now)
        yield from ()

    monkeypatch.setattr("verify.search.verdicts.state.scan", slow)
    monkeypatch.setattr("verify.search.explore._drawn", none)
    explore(theorem((N, M), sp.Ge(n * m, 1, evaluate=False)), {}, seconds=4)
    assert 2.5 < left[0] < 3.5


def test_instances_left_open_in_little_time_are_decided_after_the_draws(clock, monkeypatch):
    decide, little = Judge.decide, []

    def slow(judge, label, instance, deadline, *points):
        if deadline - time.monotonic() < 5:
            little.append(instance["n"])
            return ClauseResult.undecided(judge.statement.claims[0], "the time ran out")
        assert len(set(little)) == len(little) > 3
        return decide(judge, label, instance, deadline, *points)

    monkeypatch.setattr(Judge, "decide", slow)
    result = explore(theorem((N,), Inequality("claim", sp.Le(n, 20))), {}, max_examples=40, seconds=60, guided=False)
    assert result.counterexample == {"n": 21} and result.needed == 40 and min(little) > 20


def test_draws_that_come_to_nothing_are_counted_by_what_rejects_them():
    square = Hypothesis("square", sp.Eq(n, m**2))
    solved = explore(theorem((M, N), Inequality("claim", sp.Ge(n, m)), square), {}, max_examples=30)
    assert solved.counterexample is None and solved.drawn > 10 and solved.dead_ends == ""
    assert 0 < sum(solved.rejected.values()) < solved.drawn / 2
    circle = Hypothesis("circle", sp.Eq(x**2 + y**2, 1))
    found = explore(theorem((X, Y), Inequality("claim", sp.Le(x * y, 1)), circle), {}, max_examples=30)
    assert set(found.rejected) == {"circle"} and found.drawn // 2 < found.rejected["circle"] < found.drawn
    told = f"{found.rejected['circle']} of {found.drawn} draws were rejected, most often by circle"
    assert told in found.dead_ends and found.dead_ends in str(found)
    assert found.to_json()["rejected"] == found.rejected and found.to_json()["drawn"] == found.drawn


def test_a_numerical_search_that_its_time_ends_is_said_to_be(monkeypatch):
    whole = explore(theorem((X, Y), sp.Ge(x**2 + y**2, 0, evaluate=False)), {}, max_examples=20)
    monkeypatch.setattr("verify.search.explore.NUMERICAL", replace(NUMERICAL, share=0.0))
    cut = explore(theorem((X, Y), sp.Ge(x**2 + y**2, 0, evaluate=False)), {}, max_examples=20)
    assert (whole.stopped, cut.stopped) == ("examples", "seconds") and cut.examples == 20


def test_a_leap_finds_what_is_false_at_a_far_end(monkeypatch):
    monkeypatch.setattr("verify.search.explore.suspects", lambda *_: iter(()))
    bounded = theorem((N, X), sp.Le(n, 10**6 * (1 + x)))
    result = explore(bounded, {"x": 1}, max_examples=20)
    # The search tries at most 5 general positions and the simplest instance, and leaps to values 17 times as large.
    assert result.needed <= 8 and result.counterexample == {"n": 2 * 10**6 + 1, "x": 1}
    assert explore(bounded, {"x": 1}, max_examples=1).needed is None
