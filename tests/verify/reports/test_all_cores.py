"""Whole folders are tested on all cores, by processes with one thread each."""

import os
from types import SimpleNamespace

import pytest

from verify.reports.pytest_plugin import use_all_cores


@pytest.mark.parametrize(("given", "processes", "threads"), [(0, "auto", "1"), (2, 2, None)])
def test_processes_on_all_cores_have_one_thread_each(monkeypatch, tmp_path, given, processes, threads):
    # These two calls make monkeypatch restore the variable after the test.
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("OMP_NUM_THREADS")
    option = SimpleNamespace(numprocesses=given or None, collectonly=False, usepdb=False)
    use_all_cores(SimpleNamespace(option=option, args=[str(tmp_path)]))
    assert (option.numprocesses, os.environ.get("OMP_NUM_THREADS")) == (processes, threads)
