"""Every benchmark still runs, with its assertions on its own results; nothing is timed."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
COLLECTED = ("-o", "python_files=bench_*.py", "-o", "python_functions=bench_*", "-p", "no:xdist")


LONG = {"bench_search.py", "bench_outside.py"}
"""Benchmarks that search for half an hour; `test_searches.py` and `tests/outside` test their parts."""


# One benchmark takes from seconds to a minute, all of them some minutes.
@pytest.mark.audit
@pytest.mark.parametrize("name", sorted({path.name for path in FOLDER.glob("bench_*.py")} - LONG))
def test_a_benchmark_runs(name):
    command = [sys.executable, "-m", "pytest", str(FOLDER / name), *COLLECTED, "--benchmark-disable", "-q"]
    root = FOLDER.parent.parent
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-4000:]
