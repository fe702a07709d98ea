"""Calls in other processes: answers come in order, up to the first sufficient one, even if a worker dies."""

import os
import signal
import threading
import time

import pytest

from verify import InputError
from verify.executor import LostError, Workers, cancelling, refuse_both, workers


def squared(number, folder):
    """Square a number, more slowly if it is below 2, and record the call in a folder."""
    (folder / f"{number}").touch()
    time.sleep(0.2 if number < 2 else 0.01)
    return number**2


def refused(number):
    if number >= 2:
        raise InputError("number", number, "must be < 2")
    return number


def dies_once(number, folder):
    try:
        (folder / "died").touch(exist_ok=False)
    except FileExistsError:
        return number
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def dies(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_answers_come_in_order(tmp_path):
    found = list(Workers(2).in_order(squared, ((number, tmp_path) for number in range(9))))
    assert found == [number**2 for number in range(9)]


def test_calls_after_the_first_sufficient_answer_are_not_begun(tmp_path):
    calls = ((number, tmp_path) for number in range(2000))
    # The third answer, 4, is sufficient, so no later call is needed.
    found = list(Workers(2).in_order(squared, calls, lambda square: square >= 4))
    assert found == [0, 1, 4]
    assert len(list(tmp_path.iterdir())) < 200


def test_an_error_is_raised_in_its_place():
    answers = Workers(2).in_order(refused, ((number,) for number in range(50)))
    assert [next(answers), next(answers)] == [0, 1]
    with pytest.raises(InputError, match="number = 2: must be < 2"):
        next(answers)


class _ExecutorManagerThread(threading.Thread):
    """A thread that raises an error; the class has the name of a class of joblib."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def run(self):
        raise self.error


@pytest.mark.parametrize(
    ("error", "seen"), [(KeyError(20), []), (ValueError("20"), [ValueError]), (IndexError("20"), [IndexError])]
)
def test_a_cancelled_call_that_joblib_misses_is_no_error_and_others_are(monkeypatch, error, seen):
    found = []
    monkeypatch.setattr(threading, "excepthook", lambda raised: found.append(raised.exc_type))
    with cancelling():
        thread = _ExecutorManagerThread(error)
        thread.start()
        thread.join()
    assert found == seen


def test_calls_of_a_dead_process_are_repeated(tmp_path):
    assert list(Workers(2).in_order(dies_once, ((number, tmp_path) for number in range(6)))) == list(range(6))


def test_a_process_that_dies_while_calls_are_dealt_out_is_lost(monkeypatch):
    def dealing(*_):
        raise RuntimeError("a worker was terminated")

    monkeypatch.setattr("joblib.Parallel.__call__", dealing)
    with pytest.raises(LostError, match="RuntimeError: a worker was terminated"):
        list(Workers(2).unordered(squared, []))


def test_where_all_die_they_are_lost():
    with pytest.raises(LostError, match="Terminated"):
        list(Workers(2).in_order(dies, ((number,) for number in range(3))))


def test_one_process_needs_no_other():
    with workers(1, None) as nobody:
        assert not nobody
    with workers(2, None) as others:
        assert others


@pytest.mark.parametrize(("jobs", "scheduler", "message"), [(0, None, "jobs = 0: must be"), (2, "tcp://x:1", "jobs")])
def test_invalid_numbers_of_jobs_are_refused(jobs, scheduler, message):
    with pytest.raises(InputError, match=message), workers(jobs, scheduler):
        pass


def test_jobs_are_for_this_machine_only():
    with pytest.raises(InputError, match="this machine only"):
        refuse_both(2, "tcp://x:1")
    refuse_both(1, "tcp://x:1")
