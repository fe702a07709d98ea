"""Searches in several processes have the results of a search in one process; Ctrl-C leaves the results so far."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

import verify
from tests.verify.command_line import assert_one_line, body_of
from verify import InputError, load_theorem

ROOT = str(Path(load_theorem.__code__.co_filename).parents[2])
NEEDED = """
claims = (Inequality("square", sp.Lt(x**2, 10)),)
hypotheses = (
    Hypothesis("positive", sp.Gt(x, sp.Rational(-1, 2), evaluate=False)),
    Hypothesis("small", sp.Le(x, 3)),
    Hypothesis("bounded", sp.Le(x, 4)),
)
statement = Statement(PARAMETERS, claims, hypotheses)
mine = Theorem("user.mine", "a title", Source("1", "derived here"), statement, {"x": 1})
"""
SLOW = """
import os, time


@primitive(1)
def told_slowly(arithmetic, p):
    with open({trace!r}, "a") as trace:
        trace.write(f"{{os.getpid()}}\\n")
    time.sleep({seconds})
    return p


"""
OPEN = """
hypotheses = (
    Hypothesis("drawn", text="the draws are Gaussian"),
    Hypothesis("first", sp.Le(x, 3)),
    Hypothesis("second", sp.Ge(x, sp.Rational(1, 10))),
)
statement = Statement(PARAMETERS, (Inequality("c", sp.Gt(told_slowly(x), 0)),), hypotheses)
mine = Theorem("user.mine", "a title", Source("1", "derived here"), statement, {"x": 1})
"""

SEARCHED = """
positive = theorem_of(Inequality("c", sp.Gt(told_slowly(x), 0)))
seldom = theorem_of(Inequality("c", sp.Lt(sp.sin(1000 * told_slowly(x)), sp.Rational(999, 1000))))
"""


def told(trace):
    return [int(line) for line in trace.read_text().splitlines()] if trace.exists() else []


def start(*words, cwd):
    return subprocess.Popen(
        [sys.executable, "-m", "verify", *words, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, env={**os.environ, "PYTHONPATH": ROOT},
        start_new_session=True,
        # A process that a shell runs in the background ignores the signal, and so do its child processes.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 -- it takes no lock
    )  # fmt: skip


def interrupted(running, condition):
    """Send Ctrl-C, as a terminal does, once a condition holds; return the JSON output."""
    try:
        until = time.monotonic() + 600
        while not condition():
            assert time.monotonic() < until and running.poll() is None, "it did not come to it"
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=600)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, "Traceback" in err) == (130, False), err
    return body_of(out)


def test_each_hypothesis_is_decided_as_in_one_process(theorem_file):
    path, told_of = theorem_file(NEEDED), []
    one = verify.necessity(path, seconds=600).to_json()
    two = verify.necessity(path, seconds=600, jobs=2, tell=lambda *progress: told_of.append(progress)).to_json()
    assert [need["status"] for need in one["hypotheses"]] == ["redundant", "needed", "redundant"]
    assert {**one, "seconds": 0} == {**two, "seconds": 0} and told_of == [(1, 3), (2, 3), (3, 3)]


def test_each_line_of_how_far_claims_hold_is_as_in_one_process(theorem_file):
    path = theorem_file(NEEDED.replace("sp.Le(x, 4)", "sp.Le(x, 40)"))
    one, two = (verify.necessity(path, x=1, seconds=600, jobs=jobs).to_json() for jobs in (1, 2))
    lines = [[{**line, "effort": ""} for line in found["reaches"]] for found in (one, two)]
    assert lines[0] == lines[1] and any(line["violated"] for line in lines[0])


def test_control_c_leaves_the_hypotheses_that_were_decided(theorem_file, tmp_path):
    trace = tmp_path / "trace"
    path = theorem_file(SLOW.format(trace=str(trace), seconds=0.05) + OPEN)
    running = start("necessity", path, "--jobs", "2", "--seconds", "300", cwd=tmp_path)
    # Now two processes work on two hypotheses, long after the first hypothesis was decided.
    body = interrupted(running, lambda: sorted(Counter(told(trace)).values())[-2:-1] >= [20])
    assert body["interrupted"] and [need["label"] for need in body["hypotheses"]] == ["drawn"]
    # Without Ctrl-C some 1500 values are recorded.
    assert len(told(trace)) < 500


@pytest.mark.parametrize(("name", "guided"), [("positive", True), ("seldom", False)])
def test_a_search_finds_what_it_finds_in_one_process(theorem_file, tmp_path, name, guided):
    trace = tmp_path / "trace"
    path = theorem_file(SLOW.format(trace=str(trace), seconds=0.02) + SEARCHED)
    effort = {"max_examples": 50, "seconds": 600, "guided": guided}
    one = verify.explore(f"{path}:{name}", **effort).to_json()
    assert set(told(trace)) == {os.getpid()} and (one["counterexample"] is not None) == (name == "seldom")
    two = verify.explore(f"{path}:{name}", jobs=2, **effort).to_json()
    # The number of verdicts in the time depends on the machine.
    same = ("counterexample", "clause", "certified", "examples", "polished", "needed", "stopped")
    assert [one[key] for key in same] == [two[key] for key in same] and len(set(told(trace))) == 3


def test_control_c_ends_a_search_in_processes_with_what_was_looked_at(theorem_file, tmp_path):
    trace = tmp_path / "trace"
    path = theorem_file(SLOW.format(trace=str(trace), seconds=0.1) + SEARCHED)
    running = start("explore", f"{path}:positive", "--jobs", "2", "--seconds", "600", cwd=tmp_path)

    def all_work():
        workers = Counter(pid for pid in told(trace) if pid != running.pid)
        return len(workers) == 2 and min(workers.values()) >= 9

    body = interrupted(running, all_work)
    assert (body["stopped"], body["counterexample"]) == ("interrupted", None)
    # Without Ctrl-C the search has 1000 examples, and some 1300 values are recorded.
    assert 5 <= body["examples"] == body["undecided"] < 500 and len(told(trace)) < 500


@pytest.mark.parametrize("verb", [verify.explore, verify.necessity])
def test_searches_that_other_processes_cannot_do_are_one_line(cli, theorem_file, verb):
    path = theorem_file(NEEDED)
    assert_one_line(cli(verb.__name__, path, "--jobs", "0"), "jobs = 0: must be an integer >= 1")
    assert_one_line(cli(verb.__name__, path, "--jobs", "2", "--scheduler", "tcp://x:1"), "jobs = 2", "this machine")
    assert_one_line(cli(verb.__name__, path, "--scheduler", "bogus"), "--scheduler = bogus", "tcp://HOST:PORT")
    from dataclasses import replace

    with pytest.raises(InputError, match=r"user\.mine: is in no module: other processes cannot load it"):
        verb(replace(load_theorem(path)), jobs=2)
