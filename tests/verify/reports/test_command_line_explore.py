"""`verify explore`: replays, time limits, interrupts, and statements that cannot be searched."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.verify.command_line import THEOREM, assert_one_line, body_of
from verify import load_theorem

SEARCHED = """
below = theorem_of(Inequality("c", sp.Lt(x, 50)))
positive = theorem_of(Inequality("c", sp.Gt(x, 0, evaluate=False)))
"""
SLOW = """
import os, time


@primitive(1)
def told_slowly(arithmetic, p):
    with open({trace!r}, "a") as trace:
        trace.write("x")
    time.sleep(0.02)
    return p


mine = theorem_of(Inequality("c", sp.Gt(told_slowly(x), 0)))
"""


@pytest.mark.parametrize("line", ["2*x*y <= 0.999*(x**2 + y**2)", "0 <= x <= 1"])
def test_explore_writes_a_test_that_fails(cli, tmp_path, line):
    file = tmp_path / "test_found.py"
    code, _, err = cli("explore", line, "--test", str(file))
    assert (code, err) == (1, "")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(file)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 1 and "AssertionError: " in run.stdout and " fails" in run.stdout, run.stdout
    # A file that explore wrote is replaced; if nothing is found, nothing is written.
    assert cli("explore", line, "--test", str(file))[0] == 1
    assert cli("explore", "0 <= x**2", "--test", str(tmp_path / "none.py"), "--max-examples", "20")[0] == 0
    assert not (tmp_path / "none.py").exists()
    other = tmp_path / "mine.py"
    other.write_text("mine = 1\n")
    for name in (str(other), str(tmp_path / "no" / "test.py"), ""):
        assert_one_line(cli("explore", line, "--test", name), "--test")
    assert other.read_text() == "mine = 1\n"


def test_the_test_finds_the_theorem_from_its_own_folder(cli, theorem_file, tmp_path):
    odd = """
claims, small = (Inequality("at most 50 (i)", sp.Lt(x, 50)),), Hypothesis("small", sp.Le(x, 40))
below = Theorem("user.b", "t", Source("1", "derived here"), Statement(PARAMETERS, claims, (small,)), {"x": 1})
"""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    file = folder / "test_found.py"
    assert cli("explore", f"{theorem_file(odd)}:below", "--drop", "small", "--test", str(file))[0] == 1
    assert "without small" in file.read_text() and "def test_at_most_50__i_():" in file.read_text()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", file.name]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 1 and "AssertionError: " in run.stdout and " fails" in run.stdout, run.stdout


def test_explore_replays_what_it_found(cli, theorem_file, kept):
    command = ("explore", f"{theorem_file(SEARCHED)}:below", "--json")
    code, out, err = cli(*command)
    first = body_of(out)
    assert (code, err, first["counterexample"]["x"], first["certified"]) == (1, "", 50, True)
    assert kept.is_dir()
    code, out, _ = cli(*command, "--max-examples", "1")
    again = body_of(out)
    assert (code, again["counterexample"], again["needed"]) == (1, first["counterexample"], 1)
    # The search of the file's other theorem replays nothing, and finds nothing.
    code, out, _ = cli("explore", f"{theorem_file(SEARCHED)}:positive", "--json", "--max-examples", "30")
    none = body_of(out)
    assert (code, none["counterexample"], none["clause"], none["certified"]) == (0, None, None, False)
    assert none["stopped"] == "examples" and none["smallest_margin"] > 0 and none["examples"] == none["clean"] >= 20


def test_explore_keeps_its_time(cli, theorem_file, tmp_path, monkeypatch, clock):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    path = theorem_file(SLOW.format(trace=str(tmp_path / "trace")))
    started = clock.now
    code, out, err = cli("explore", path, "--seconds", "1", "--max-examples", "1000000", "--json")
    assert clock.now - started < 2.5
    body = body_of(out)
    assert (code, err, body["stopped"], body["counterexample"]) == (0 if body["clean"] else 3, "", "seconds", None)
    assert 10 < body["examples"] <= 60 and 1 <= body["seconds"] < 2.5


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
def test_control_c_ends_a_search_with_what_it_met(theorem_file, tmp_path, as_json):
    trace = tmp_path / "trace"
    command = [
        sys.executable,
        "-m",
        "verify",
        "explore",
        theorem_file(SLOW.format(trace=str(trace))),
        "--seconds",
        "600",
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(load_theorem.__code__.co_filename).parents[2])]),
    }
    running = subprocess.Popen(
        [*command, *(["--json"] if as_json else [])],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment,
        # A process that a shell runs in the background ignores the signal, and so do its child processes.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 -- it takes no lock
    )  # fmt: skip
    try:
        until = time.monotonic() + 600
        while not (trace.exists() and trace.stat().st_size > 5):
            assert time.monotonic() < until and running.poll() is None, "it did not come to it"
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=600)
    finally:
        running.kill()
    assert running.returncode == 130 and "Traceback" not in out + err
    if as_json:
        body = body_of(out)
        assert (body["stopped"], body["counterexample"]) == ("interrupted", None)
        assert 5 <= body["examples"] < 500 and body["undecided"] == body["examples"]
    else:
        # A margin without an error bound is not reported.
        assert "no instance is clean" in out and "interrupted" in out and "smallest relative margin" not in out


def test_explore_of_what_cannot_be_searched_is_one_line(cli, theorem_file, kept):
    path = f"{theorem_file(SEARCHED)}:below"
    assert_one_line(cli("explore", path, "x=0"), "x = 0", "must be a number", "> 0")
    assert_one_line(cli("explore", path, "--drop", "h"), "--drop = h", "is not a hypothesis", "can be dropped: none\n")
    assert_one_line(cli("explore", path, "--seconds", "0"), "seconds = 0")
    assert_one_line(cli("explore", path, "--max-examples", "0"), "max-examples = 0")
    assert_one_line(cli("explore", THEOREM, "eta=1"), "eta = 1")
    assert not kept.exists()


def test_explore_names_what_can_be_dropped(cli):
    labels = "can be dropped: subset_of_two, subset_below_quarter, accuracy, step_size\n"
    assert_one_line(cli("explore", THEOREM, "--drop", "nonsense"), "--drop = nonsense", labels)
    told = "with eta = 1/2; to leave a hypothesis out: --drop step_size\n"
    assert_one_line(cli("explore", THEOREM, "eta=1/2", "--max-examples", "5"), "no instance was found", told)
