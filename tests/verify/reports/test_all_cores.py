"""Whole folders are tested on all cores, by processes with one thread each."""

import os
from types import SimpleNamespace

import pytest

from verify.reports.pytest_plugin import use_all_cores


@pytest.mark.parametrize(
    ("given", "dist", "processes", "threads", "distributed"),
    [
        (0, "no", "auto", "1", "worksteal"),
        (0, "load", "auto", "1", "load"),
        (2, "no", 2, None, "worksteal"),
    ],
)
def test_processes_on_all_cores_have_one_thread_each(
    monkeypatch, tmp_path, given, dist, processes, threads, distributed
):
    # These two calls make monkeypatch restore the variable after the test.
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("OMP_NUM_THREADS")
    option = SimpleNamespace(numprocesses=given or None, dist=dist, collectonly=False, usepdb=False)
    use_all_cores(SimpleNamespace(option=option, args=[str(tmp_path)]))
    assert (option.numprocesses, os.environ.get("OMP_NUM_THREADS")) == (processes, threads)
    assert option.dist == distributed
