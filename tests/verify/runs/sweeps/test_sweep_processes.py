"""Sweeps in several processes that are killed or interrupted, or whose workers die: no row is lost or doubled."""

import json
import os
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

import verify
from tests.verify.command_line import body_of
from verify import InputError, Store, load_theorem
from verify.runs.sweeps.sweep import sweep

POINTS = 43
BODY = """
import os, time


@primitive(1)
def told_slowly(arithmetic, p):
    with open({trace!r}, "a") as trace:
        trace.write(f"{{os.getpid()}}\\n")
    time.sleep({seconds})
    return p


mine = theorem_of(Inequality("c", sp.Gt(told_slowly(x), 0)))
"""
ROOT = str(Path(load_theorem.__code__.co_filename).parents[2])


@pytest.fixture
def slow(theorem_file, tmp_path):
    """Return a function that writes a theorem file whose check takes a moment and adds its process id to a file."""

    def make(seconds=0.04):
        trace = tmp_path / "trace"
        trace.touch()
        return theorem_file(BODY.format(trace=str(trace), seconds=seconds)), trace

    return make


def told(trace):
    return [int(line) for line in trace.read_text().splitlines()]


def start(path, store, *more):
    command = [sys.executable, "-m", "verify", "sweep", path, "--over", f"x=1:{POINTS}:{POINTS}", "--store", store]
    environment = {**os.environ, "PYTHONPATH": ROOT}
    return subprocess.Popen(
        [*command, "--json", *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
        # A process that a shell runs in the background ignores the signal, and so do its child processes.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 -- it takes no lock
    )  # fmt: skip


def wait_for(condition, seconds=240):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to it"
        time.sleep(0.02)


def stored(store):
    if not Path(store).exists():
        return []
    with closing(sqlite3.connect(store, timeout=10)) as connection:
        try:
            return [json.loads(body)["instance"]["x"] for (body,) in connection.execute("SELECT body FROM results")]
        except sqlite3.OperationalError:
            return []


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.audit), "2"])
def test_a_sweep_that_is_killed_goes_on_without_a_lost_or_doubled_row(slow, tmp_path, jobs):
    (path, trace), store = slow(), str(tmp_path / "s")
    running = start(path, store, "--jobs", jobs)
    try:
        wait_for(lambda: len(stored(store)) >= 5)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
    before = stored(store)
    assert 5 <= len(before) < POINTS and len(set(before)) == len(before)
    trace.write_text("")
    again = start(path, store)
    out, err = again.communicate(timeout=300)
    body = body_of(out)
    assert (again.returncode, body["rows"], body["from_store"], body["failed"]) == (0, POINTS, len(before), 0), err
    assert sorted(stored(store)) == list(range(1, POINTS + 1))
    # The rows that were stored were not computed again: every other instance is recorded equally often.
    times, rest = divmod(len(told(trace)), POINTS - len(before))
    assert rest == 0 and 1 <= times <= 4


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.audit)])
def test_control_c_keeps_and_prints_what_was_found(slow, tmp_path, jobs):
    (path, _), store = slow(), str(tmp_path / "s")
    running = start(path, store, "--jobs", jobs)
    try:
        wait_for(lambda: len(stored(store)) >= 3)
        # The signal goes to all processes of the group, as from a terminal.
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=300)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    body = body_of(out)
    assert (running.returncode, body["stopped"], "Traceback" in err) == (130, "interrupted", False), err
    assert 3 <= body["rows"] == len(stored(store)) < POINTS == body["points"]


def killing(trace):
    """Return a list, and a listener that kills the last worker after four instances and lists its process id."""
    killed = []

    def tell(done, total):
        if done >= 4 and not killed:
            killed.append(told(trace)[-1])
            os.kill(killed[0], signal.SIGKILL)

    return killed, tell


def assert_complete(result, store):
    assert (result.done, result.stopped, result.counts) == (POINTS, "", {"verified": POINTS})
    assert sorted(stored(store.path)) == list(range(1, POINTS + 1))


def test_processes_compute_and_one_that_dies_is_made_good(slow, tmp_path):
    (path, trace), store = slow(0.06), Store(tmp_path / "s")
    killed, tell = killing(trace)
    result = sweep(load_theorem(path), {"x": f"1:{POINTS}:{POINTS}"}, {}, store=store, jobs=2, tell=tell)
    assert killed and os.getpid() not in set(told(trace))
    assert_complete(result, store)


@pytest.mark.audit
def test_a_dask_cluster_computes_and_a_worker_that_dies_is_made_good(slow, tmp_path):
    distributed = pytest.importorskip("distributed")
    (path, trace), store = slow(0.06), Store(tmp_path / "s")
    killed, tell = killing(trace)
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=3, **options) as cluster:
        address = cluster.scheduler_address
        result = sweep(load_theorem(path), {"x": f"1:{POINTS}:{POINTS}"}, {}, store=store, scheduler=address, tell=tell)
    pids = set(told(trace))
    assert killed and os.getpid() not in pids and len(pids) >= 2
    assert_complete(result, store)


def test_rows_are_the_same_however_they_are_computed(theorem_file, tmp_path):
    body = "mine = theorem_of(Inequality('c', sp.Lt(sp.sqrt(x), 2)), values={'third': x / 3})"
    theorem = load_theorem(theorem_file(body))
    results = [verify.sweep(theorem, {"x": "1:8:29"}, jobs=jobs, store=tmp_path / f"s{jobs}") for jobs in (1, 2)]
    one, two = ([{**row, "seconds": 0} for _, row in result.rows()] for result in results)
    for a, b in zip(one, two, strict=True):
        assert {**a, "clauses": [], "values": {}} == {**b, "clauses": [], "values": {}}
        assert [{**c, "detail": ""} for c in a["clauses"]] == [{**c, "detail": ""} for c in b["clauses"]]
        assert a["values"] == b["values"] and a["values"]
    assert results[0].counts == results[1].counts == {"verified": 12, "refuted": 17}
    assert [row["instance"] for row in one] == [row["instance"] for row in two]


def test_other_code_where_it_is_computed_is_one_line(slow, tmp_path, monkeypatch):
    path, _ = slow(0.0)
    theorem = load_theorem(path)
    Path(path).write_text(Path(path).read_text().replace("told_slowly(x), 0", "told_slowly(x), -1"))
    with pytest.raises(InputError, match="another version"):
        verify.sweep(theorem, {"x": "1:3:3"}, jobs=2)


@contextmanager
def listening(*greeting):
    """Open a port with a server that sends some greeting and is not a scheduler; yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    for part in greeting:
                        connection.sendall(part)
                    kept.append(connection)

        kept = []
        threading.Thread(target=greet, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    for connection in kept:
        connection.close()


@pytest.mark.parametrize("address", ["bogus", "nonsense://x", "tcp://x", "tcp://:1", "tcp://x:0", "tcp://x:99999", ""])
def test_malformed_addresses_are_refused_in_one_line(address):
    with pytest.raises(InputError, match=r"--scheduler.*: must be a scheduler's address, tcp://HOST:PORT or tls://"):
        verify.sweep(load_theorem("wang2024.lemma1"), {"T": "4:5:2"}, q=2, scheduler=address)


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch):
    monkeypatch.setattr("verify.executor._ANSWER_SECONDS", 1)
    for address in ("tcp://127.0.0.1:9", "tls://127.0.0.1:9", "tcp://[::1]:9", "tcp://no.such.host.invalid:9"):
        with pytest.raises(InputError, match="no Dask scheduler answers there"):
            verify.sweep(load_theorem("wang2024.lemma1"), {"T": "4:5:2"}, q=2, scheduler=address)


@pytest.mark.parametrize(
    ("greeting", "why"),
    [((), "no message was received in time"), ((b"SSH-2.0-OpenSSH_9\r\n",), "another service answers")],
)
def test_servers_other_than_schedulers_are_refused_in_one_line(monkeypatch, greeting, why):
    monkeypatch.setattr("verify.executor._ANSWER_SECONDS", 1)
    with listening(*greeting) as port, pytest.raises(InputError, match=f"no Dask scheduler answers there: {why}"):
        verify.sweep(load_theorem("wang2024.lemma1"), {"T": "4:5:2"}, q=2, scheduler=f"tcp://127.0.0.1:{port}")


def sweep_without_a_scheduler(path):
    with listening(struct.pack("<Q", 99)) as port:
        command = [sys.executable, "-m", "verify", "sweep", path, "--over", "x=1", "--scheduler"]
        return subprocess.run(
            [*command, f"tcp://127.0.0.1:{port + 1 if port < 65535 else 9}"],
            capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "PYTHONPATH": ROOT},
        )  # fmt: skip


def test_without_a_scheduler_nothing_but_the_line_is_said(slow):
    shown = sweep_without_a_scheduler(slow(0.0)[0])
    assert (shown.returncode, shown.stdout, shown.stderr.count("\n")) == (2, "", 1)


@pytest.mark.audit
def test_without_a_scheduler_the_line_is_said_at_once(slow):
    path, _ = slow(0.0)
    started = time.monotonic()
    sweep_without_a_scheduler(path)
    # On an idle machine the command takes 1 s.
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("package", "option"),
    [("joblib", "--jobs"), ("distributed", "--scheduler")],
)
def test_a_missing_package_is_one_line_that_says_what_to_install(monkeypatch, package, option):
    monkeypatch.setitem(sys.modules, package, None)
    more = {"jobs": 2} if option == "--jobs" else {"scheduler": "tcp://127.0.0.1:9"}
    with pytest.raises(InputError, match=rf"^{option} = \S+: needs {package}: python -m pip install .*\[sweep\]"):
        verify.sweep(load_theorem("wang2024.lemma1"), {"T": "4:5:2"}, q=2, **more)


def test_tls_needs_certificates():
    pytest.importorskip("distributed")
    with listening() as port, pytest.raises(InputError, match=r"--scheduler = tls://.*: needs TLS certificates"):
        verify.sweep(load_theorem("wang2024.lemma1"), {"T": "4:5:2"}, q=2, scheduler=f"tls://127.0.0.1:{port}")
