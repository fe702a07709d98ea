"""Experiments along a setting in several processes have the same curves as in one; Ctrl-C leaves the values so far."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import verify
from tests.verify.command_line import assert_one_line, body_of
from verify import Experiment, InputError, Measurement, Parameter, Setting, Source, Store, load_experiment

ROOT = str(Path(load_experiment.__code__.co_filename).parents[2])
BODY = """
import os, time


def measure(settings, *, seed, device):
    with open({trace!r}, "a") as trace:
        trace.write(f"{{os.getpid()}}\\n")
    time.sleep({seconds})
    return {{"double": Measurement(2.0 * float(settings["n"]) + seed)}}


sizes = Setting(Parameter("n", "integer", "a size", minimum=1), 3, 30)
slow = Experiment("user.slow", "a title", Source("1", "derived here"), (sizes,), measure)
"""


def told(trace):
    return [int(line) for line in trace.read_text().splitlines()] if trace.exists() else []


@pytest.fixture
def slow(theorem_file, tmp_path):
    def make(seconds):
        trace = tmp_path / "trace"
        return f"{theorem_file(BODY.format(trace=str(trace), seconds=seconds))}:slow", trace

    return make


def test_curves_are_those_of_one_process_and_are_kept(slow, tmp_path):
    path, trace = slow(0.05)
    one = verify.simulate(path, n="1,2,3,5", seed=4, device="cpu")
    assert set(told(trace)) == {os.getpid()}
    store, progress = Store(tmp_path / "s"), []
    options = {"n": "1,2,3,5", "seed": 4, "device": "cpu", "store": store}
    two = verify.simulate(path, jobs=2, tell=lambda *done: progress.append(done), **options)
    assert one.curves == two.curves and one.settings == two.settings == {"n": (1, 2, 3, 5)}
    assert os.getpid() not in told(trace)[4:] and len(told(trace)) == 8
    assert progress == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert verify.simulate(path, **options).from_store and len(told(trace)) == 8


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.audit)])
def test_control_c_leaves_the_values_that_were_measured(slow, tmp_path, jobs):
    path, trace = slow(0.2)
    values = ",".join(map(str, range(1, 200)))
    running = subprocess.Popen(
        [sys.executable, "-m", "verify", "simulate", path, f"n={values}", "--device", "cpu", "--jobs", jobs, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ROOT},
        start_new_session=True,
        # A process that a shell runs in the background ignores the signal, and so do its child processes.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 -- it takes no lock
    )  # fmt: skip
    try:
        until = time.monotonic() + 200
        while len(told(trace)) < 8:
            assert time.monotonic() < until and running.poll() is None, "it did not come to it"
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, "Traceback" in err) == (130, False), err
    body = body_of(out)
    measured = body["settings"]["n"]
    assert body["interrupted"] and 5 <= len(measured) < 199 and measured == sorted(measured)
    assert body["curves"]["double"]["value"] == [2 * n for n in measured]


def test_runs_that_other_processes_cannot_do_are_refused(cli, slow):
    path, _ = slow(0)
    words = ("simulate", path, "n=1,2", "--device", "cpu")
    assert_one_line(cli(*words, "--jobs", "0"), "jobs = 0: must be an integer >= 1")
    assert_one_line(cli(*words, "--jobs", "2", "--scheduler", "tcp://x:1"), "jobs = 2", "this machine")
    assert_one_line(cli(*words, "--scheduler", "bogus"), "--scheduler = bogus", "tcp://HOST:PORT")
    # A wrong scheduler is also refused for a single run, which needs only one process.
    assert_one_line(cli("simulate", path, "--device", "cpu", "--scheduler", "bogus"), "--scheduler = bogus")
    with pytest.raises(InputError, match=r"user\.slow: is in no module: other processes cannot load it"):
        verify.simulate(replace(load_experiment(path)), n="1,2", device="cpu", jobs=2)
    with pytest.raises(InputError, match="a worker has another version"):
        load_experiment(path).run_of("other", device="cpu")


def test_a_curve_has_the_points_at_which_its_measurement_is():
    def measure(settings, *, seed, device):
        n = int(settings["n"])
        return {"size": Measurement(float(n))} | ({"half": Measurement(n / 2)} if n % 2 == 0 else {})

    sizes = Setting(Parameter("n", "integer", "a size", minimum=1), 3, 30)
    made = Experiment("user.halves", "a title", Source("1", "derived here"), (sizes,), measure)
    curves = made.along("n", (1, 2, 3, 4), device="cpu", seed=0).curves
    assert {name: curve.points for name, curve in curves.items()} == {"size": (1.0, 2.0, 3.0, 4.0), "half": (2.0, 4.0)}
    assert [measured.value for measured in curves["half"].measured] == [1.0, 2.0]
