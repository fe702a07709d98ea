"""Deadlines: the earliest counts, and an endless computation is ended, whether or not it reads the clock."""

import ast
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import sympy as sp

import verify
from verify import Evidence, Hypothesis, Inequality, Outcome, Parameter, Source, Statement, Theorem, budget
from verify.budget import EFFORTS, ended, look_at_the_clock, require_effort, until
from verify.errors import InputError, OutOfTimeError, UndecidedError
from verify.evaluation.values import evaluate_rising
from verify.language.expressions import enclosed
from verify.rechecker import CORE


@pytest.mark.parametrize("name", EFFORTS)
def test_an_effort_that_is_none_is_refused(name):
    for bad in {"seconds": (0, -1, float("nan")), "digits": (0, 1001)}.get(name, (0, -1, 1.5, "two")):
        with pytest.raises(InputError, match=f"^{name.replace('_', '-')} = {bad}: must be a"):
            require_effort(**{name: bad})
    require_effort(**{name: 1})
    require_effort(**{name: None})


@enclosed(version=1, scan=lambda n: n)
def endless_test_sum(n):
    """Read the clock for ever."""
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


def test_a_check_and_a_search_end_in_time(clock):
    started = clock.now
    result = verify.check(THEOREM, n=3, seconds=0.3)
    assert result.outcome is Outcome.INCONCLUSIVE and "the time ran out" in result.clauses[0].detail
    assert clock.now - started < 0.5
    assert verify.explore(THEOREM, seconds=1, n=9).counterexample is None
    assert clock.now - started < 2


def test_out_of_time_is_undecided_to_whoever_evaluates():
    with until(time.monotonic() - 1), pytest.raises(UndecidedError, match="endless_test_sum: the time ran out"):
        evaluate_rising(endless_test_sum(n), {"n": 2})


def test_the_gain_of_attention_looks_at_the_clock():
    from theorems.sparse_token_selection.attention_gain import greatest_gain

    with until(time.monotonic() - 1), pytest.raises(OutOfTimeError):
        greatest_gain(301, 5, 171, True)


def spin(seconds):
    """Compute for some seconds without reading the engine's clock."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(1000))
    return "done"


@pytest.mark.audit
def test_the_systems_alarm_ends_a_computation():
    started = time.monotonic()
    with pytest.raises(OutOfTimeError, match="the time ran out"):
        ended(started + 0.1, spin, 60.0)
    # On an idle machine the call takes 0.101 s.
    assert 0.1 <= time.monotonic() - started < 0.31
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_functions_that_never_read_the_clock_are_interrupted(clock):
    started = clock.now
    with pytest.raises(OutOfTimeError, match="the time ran out"):
        ended(started + 0.1, clock.spin)
    assert 0.1 <= clock.now - started < 0.11
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and not clock.alarm
    clock.sleep(0.2)


def test_results_in_time_are_returned_even_just_after_the_deadline(clock):
    assert ended(clock.now + 5, clock.spin, 0.01) == "done" and ended(0.0, clock.spin, 0.01) == "done"
    with pytest.raises(ZeroDivisionError):
        ended(clock.now + 5, lambda: 1 // 0)
    assert not clock.alarm


def test_of_two_ends_the_sooner_counts(clock):
    def inner(deadline):
        try:
            return ended(deadline, clock.spin)
        except OutOfTimeError:
            return clock.spin()

    started = clock.now
    # The inner exception is caught, and the outer deadline ends the computation all the same.
    with pytest.raises(OutOfTimeError):
        ended(started + 0.3, inner, started + 0.1)
    assert 0.3 <= clock.now - started < 0.32
    started = clock.now
    with pytest.raises(OutOfTimeError):
        ended(started + 0.1, ended, started + 60, clock.spin)
    assert 0.1 <= clock.now - started < 0.12


def test_who_catches_an_end_is_ended_again(clock):
    def stubborn():
        for _ in range(3):
            try:
                clock.spin()
            except OutOfTimeError:
                caught.append(clock.now)
        return "done"

    caught = []
    assert ended(clock.now + 0.05, stubborn) == "done" and len(caught) == 3


def test_an_alarm_within_a_finalizer_is_silent_there_and_rings_again(clock, monkeypatch):
    class Finalized:
        def __init__(self, finalize):
            self.finalize = finalize

        def __del__(self):
            self.finalize()

    def leave(finalize):
        Finalized(finalize)
        clock.spin()

    ignored = []
    monkeypatch.setattr("sys.unraisablehook", lambda unraisable: ignored.append(unraisable.exc_type))
    hook = sys.unraisablehook
    started = clock.now
    with pytest.raises(OutOfTimeError):
        ended(started + 0.1, leave, clock.spin)
    assert clock.now - started < 0.2 and ignored == [] and sys.unraisablehook is hook
    with pytest.raises(OutOfTimeError):
        ended(clock.now + 0.1, leave, lambda: 1 // 0)
    assert ignored == [ZeroDivisionError]


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_an_interrupt_within_a_finalizer_is_not_lost(request, clock, monkeypatch, seconds):
    class Finalized:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def leave():
        Finalized()
        clock.spin(seconds)

    # A process that a shell runs in the background ignores SIGINT.
    request.addfinalizer(partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Pytest's own hook would record the exception.
    monkeypatch.setattr("sys.unraisablehook", pytest.fail)
    started = clock.now
    with pytest.raises(KeyboardInterrupt):
        ended(started + 100, leave)
    assert clock.now - started < 0.1 and not clock.alarm
    assert ended(clock.now + 100, clock.spin, 0.01) == "done"


def test_an_interrupt_that_is_noted_as_the_timer_is_put_back_leaves_no_alarm(clock, monkeypatch):
    set_timer = budget._set_timer

    def interrupted():
        set_timer()
        # Python passes a KeyboardInterrupt in a callback to this hook.
        sys.unraisablehook(SimpleNamespace(exc_value=KeyboardInterrupt(), exc_type=KeyboardInterrupt))

    monkeypatch.setattr("sys.unraisablehook", lambda _: None)
    monkeypatch.setattr("verify.budget._set_timer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ended(clock.now + 100, lambda: "done")
    assert not clock.alarm and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and budget._INTERRUPTS == []


def test_elsewhere_than_on_the_main_thread_and_beside_another_timer_it_takes_as_long_as_it_takes(monkeypatch):
    found = []
    thread = threading.Thread(target=lambda: found.append(ended(0.0, spin, 0.1)))
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        found.append(ended(0.0, spin, 0.1))
    finally:
        signal.signal(signal.SIGALRM, before)
    monkeypatch.setattr("verify.budget._has_timer", lambda: False)
    assert [*found, ended(0.0, spin, 0.1)] == ["done"] * 3


BOUNDED = Inequality("bounded", sp.Gt(n + 1, 0, evaluate=False))


def test_a_check_whose_clause_does_not_look_at_the_clock_is_inconclusive(clock, monkeypatch):
    monkeypatch.setattr(Inequality, "evaluate", lambda *_: clock.spin())
    started = clock.now
    result = verify.check(THEOREM, n=3, seconds=0.3)
    assert result.outcome is Outcome.INCONCLUSIVE and result.clauses[0].detail == "the time ran out"
    # A check may exceed its budget by a tenth plus 0.3 s.
    assert clock.now - started < 0.64


def test_a_recheck_that_does_not_end_proves_nothing(clock, monkeypatch):
    theorem = Theorem("user.s", "t", Source("t", "derived here"), Statement(STATEMENT.parameters, (BOUNDED,)), {"n": 1})
    assert verify.check(theorem, n=3).clauses[0].evidence is Evidence.PROVED
    monkeypatch.setattr("verify.rechecker.Instance.verdict", lambda *_: clock.spin())
    started = clock.now
    (clause,) = verify.check(theorem, n=3, seconds=0.3).clauses
    assert (clause.holds, clause.evidence, clause.detail) == (None, None, "the time ran out as it was re-checked")
    assert clock.now - started < 0.64


def test_a_check_of_the_re_checker_that_does_not_end_is_no_error_of_a_package(clock, monkeypatch):
    theorem = Theorem("user.s", "t", Source("t", "derived here"), Statement(STATEMENT.parameters, (BOUNDED,)), {"n": 1})
    for kind in CORE.proofs.values():
        monkeypatch.setitem(vars(kind), "check", lambda *_: clock.spin())
    (clause,) = verify.check(theorem, n=3, seconds=0.3).clauses
    assert (clause.holds, clause.evidence, clause.detail) == (None, None, "the time ran out as it was re-checked")


def test_a_search_whose_scan_does_not_look_at_the_clock_ends(clock, monkeypatch):
    monkeypatch.setattr(Inequality, "scan", lambda *_: clock.spin())
    started = clock.now
    result = verify.explore(THEOREM, seconds=0.3)
    assert (result.stopped, result.counterexample) == ("seconds", None) and clock.now - started < 1.45


def test_a_default_of_the_example_that_takes_longer_than_there_is_ends_nothing_else(clock):
    length = Parameter("m", "integer", "another", minimum=1, default=endless_test_sum(n))
    m = sp.Symbol("m", integer=True, positive=True)
    statement = Statement(
        (*STATEMENT.parameters, length),
        (Inequality("c", sp.Lt(n, m, evaluate=False)),),
        (Hypothesis("below", sp.Lt(n, m, evaluate=False)),),
    )
    theorem = Theorem("user.d", "t", Source("t", "derived here"), statement, {"n": 1})
    started = clock.now
    (need,) = verify.necessity(theorem, seconds=1).hypotheses
    # The search finds a violation, although the example's value of m is not computed in that time.
    assert need.status == "needed" and need.witness == {"n": 1, "m": 1} and clock.now - started < 2.5


def test_nothing_but_control_c_is_a_keyboard_interrupt():
    sources = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(verify.__file__).parent.rglob("*.py")]
    classes = [node for source in sources for node in ast.walk(source) if isinstance(node, ast.ClassDef)]
    bases = {node.name: {ast.unparse(base) for base in node.bases} for node in classes}
    assert "BaseException" in bases["OutOfTimeError"]
    assert [name for name in bases if "KeyboardInterrupt" in bases[name]] == []
