"""What ends a search: its number of instances, an interrupt, the time; what was found is kept."""

import time
from dataclasses import replace

import pytest
import sympy as sp

from tests.verify.searched import N, X, Y, n, theorem, x, y, z
from verify import Dynamics, Outcome, Reaches
from verify.language.expressions import primitive
from verify.search.explore import _Search, explore


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


def _slow(seconds, false=False):
    """Return a theorem whose every evaluation takes some time."""

    @primitive(1)
    def slowly(arithmetic, number):
        time.sleep(seconds)
        return number

    return theorem((X,), sp.Gt(slowly(x), 10 if false else 0))


@pytest.mark.parametrize("each", [0.001, 0.2])
def test_the_time_is_kept(each):
    started = time.monotonic()
    result = explore(_slow(each), {}, seconds=0.6, max_examples=10**6)
    assert time.monotonic() - started < 2.1 and 0.6 <= result.seconds < 2.1
    assert (result.stopped, result.counterexample, result.exit_code) == ("seconds", None, 0)


def test_the_time_is_kept_where_an_instance_takes_long_to_confirm():
    # Comes down to no level but 0, by halves of a tenth: 1 − 10^-9 a step, for ever.
    falling = Dynamics((z,), (sp.Integer(1),), (z * (1 - sp.Rational(1, 10**9)),), z)
    statement = theorem((N,), Reaches("claim", falling, sp.Rational(1, 2), within=10**9 / n))
    started = time.monotonic()
    result = explore(statement, {}, seconds=1)
    assert time.monotonic() - started < 2.5
    assert result.stopped in ("seconds", "found", "examples")


def test_what_is_found_is_not_confirmed_twice(monkeypatch):
    # Hypothesis runs what it found again; were it undecided then, as when time is short, it would call it flaky.
    confirmed, confirm = [], _Search.confirm

    def once(state, label, instance, *more):
        confirmed.append(dict(instance))
        result = confirm(state, label, instance, *more)
        return result if len(confirmed) == 1 else replace(result, outcome=Outcome.INCONCLUSIVE)

    monkeypatch.setattr(_Search, "confirm", once)
    result = explore(theorem((X,), sp.Gt(x, 100)), {})
    assert result.counterexample == confirmed[0] and result.stopped == "found"
    assert result.clause.outcome is Outcome.REFUTED
