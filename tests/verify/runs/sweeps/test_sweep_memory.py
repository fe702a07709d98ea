# ruff: noqa: T201 -- an audit prints its figures
"""A sweep of 10⁵ cheap instances needs no more memory than one of 10⁴: no list of rows is kept, not even for files."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.audit

BODY = """
y = sp.Symbol("y", positive=True)
PARAMETERS = (*PARAMETERS, Parameter("y", "rational", "y", above=0))
# The claim is true and not proved, so that each instance is computed.
mine = theorem_of(Inequality("below", sp.Le(sp.log(x) ** 2, x**2 + 1 + y)), values={"sum": x + y})
"""
MEASURED = """
import json, resource, sys, time
from pathlib import Path
from verify import sweep
from verify.reports.formats.sweep_files import write_sweep

started = time.monotonic()
result = sweep(sys.argv[1], {"x": f"1/3:1e6:{sys.argv[2]}:log", "y": "1/7:2:100"}, store=sys.argv[3])
swept = time.monotonic() - started
write_sweep(result, Path(sys.argv[3]).parent)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"done": result.done, "evidence": result.evidence, "peak": peak, "seconds": swept}))
"""


def test_memory_is_flat(theorem_file, tmp_path, capsys):
    path = theorem_file(BODY)
    found = []
    for count in (100, 1000):
        command = [sys.executable, "-c", MEASURED, path, str(count), str(tmp_path / f"{count}.sqlite")]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
        found.append(json.loads(shown.stdout))
    with capsys.disabled():
        print(*(f"\n{one}" for one in found))
    small, large = found
    assert (small["done"], large["done"]) == (10_000, 100_000) and large["evidence"]["computed"] > 99_000
    # The peaks are in KiB. The plot needs a few bytes per instance; both sweeps fill a whole group of the Parquet file.
    assert large["peak"] < small["peak"] + 60_000
