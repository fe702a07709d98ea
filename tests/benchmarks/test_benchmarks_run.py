"""Every benchmark still runs, and its assertions hold; nothing is timed."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
COLLECTED = ("-o", "python_files=bench_*.py", "-o", "python_functions=bench_*", "-p", "no:xdist")

QUICK = {"bench_cold_start.py", "bench_critical_points.py", "bench_growth_sgd.py"}
"""Benchmarks that take 2 to 4 seconds of a processor each, and run in `make test`.

`make audit` runs the others: `bench_sweep.py` takes 5 seconds, `bench_moments.py` 9, `bench_adam_step.py` 16,
`bench_recursion.py` 41 and `bench_sgd_step.py` 43.
"""
LONG = {"bench_search.py", "bench_outside.py"}
"""Benchmarks that take half an hour or more each; `test_searches.py` and `tests/outside` test their parts."""


def in_their_target(names):
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.audit) for name in sorted(names)]


@pytest.mark.parametrize("name", in_their_target({path.name for path in FOLDER.glob("bench_*.py")} - LONG))
def test_a_benchmark_runs(name):
    command = [sys.executable, "-m", "pytest", str(FOLDER / name), *COLLECTED, "--benchmark-disable", "-q"]
    root = FOLDER.parent.parent
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-4000:]
