"""What the fixtures write of work whose cost is known."""

import json

import pytest

pytest_plugins = ["pytester"]
BENCHMARKS = """
    import time
    from tests.benchmarks import timing

    def sleeping(milliseconds):
        return lambda: time.sleep(milliseconds / 1000)

    def pretending(seconds):
        return lambda: timing.time.go_on(seconds)

    def bench_pair(pair):
        pair("sleep", sleeping(5), sleeping(20), reach=3, rounds=5, plain_times=2.0, note="So.")

    def bench_cost(pair):
        pair("cost", sleeping(20), sleeping(5), reach=3, rounds=5, cost=True)

    def bench_counted(counted):
        counted("count", "coins", lambda: ([2, 4], [6, 8]), reach=2, note=lambda ours, plain: f"{ours} {plain}")

    def bench_growth(growth):
        growth("Naps & more", "n", {n: pretending(4 * n) for n in (1, 2, 4)}, {n: pretending(n**2) for n in (1, 2, 4)})
"""


class Clock:
    """A clock that work moves."""

    now = 0.0

    def perf_counter(self):
        return self.now

    def go_on(self, seconds):
        self.now += seconds


@pytest.fixture
def measured(pytester, monkeypatch, tmp_path):
    """Run the benchmarks, and return what became of them, the rows by their work and the folder of plots."""
    # The run within forgets what it imports, and these must not be imported twice.
    for name in ("matplotlib.pyplot", "torch"):
        pytest.importorskip(name)
    rates = {"copy_bytes": 1.0, "float32_operations": 1.0, "float64_operations": 1.0}
    monkeypatch.setattr("tests.benchmarks.conftest.rates", lambda device: rates)
    monkeypatch.setattr("tests.benchmarks.conftest.GROWTH", tmp_path / "growth")
    monkeypatch.setattr("tests.benchmarks.timing.time", Clock())
    # pytest-benchmark does nothing where it meets another's workers.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    pytester.makepyfile(bench_it=BENCHMARKS)

    def run(*options):
        found = pytester.runpytest_inprocess(
            "-p", "tests.benchmarks.conftest", "-p", "no:xdist", "-o", "python_files=bench_*.py",
            "-o", "python_functions=bench_*", "--benchmark-json", tmp_path / "found.json", *options,
        )  # fmt: skip
        text = (tmp_path / "found.json").read_text() if (tmp_path / "found.json").exists() else ""
        rows = [each["extra_info"] for each in json.loads(text or '{"benchmarks": []}')["benchmarks"]]
        return found, {row["work"]: row for row in rows if row}, tmp_path / "growth"

    return run


def test_rows_say_what_was_measured(measured):
    found, rows, plots = measured()
    found.assert_outcomes(passed=4)
    sleep, cost, count, naps = (rows[name] for name in ("sleep", "cost", "count", "Naps & more"))
    # Both ways take longer than they sleep, and were run once before.
    assert len(sleep["ours"]) == len(sleep["plain"]) == len(sleep["ratios"]) == 5 and sleep["note"] == "So."
    assert min(sleep["ours"]) >= 0.005 and min(sleep["plain"]) >= 2 * 0.02
    assert sleep["ratios"] == [plain / ours for ours, plain in zip(sleep["ours"], sleep["plain"], strict=True)]
    assert cost["ratios"] == [ours / plain for ours, plain in zip(cost["ours"], cost["plain"], strict=True)]
    assert count["ratios"] == [3.0, 2.0] and count["note"] == "[2, 4] [6, 8]" and count["unit"] == "coins"
    assert naps["lines"] == [[[1, 4], [2, 8], [4, 16]], [[1, 1], [2, 4], [4, 16]]] and naps["file"] == "naps_more.png"
    assert naps["slopes"] == pytest.approx([1, 2])
    assert (plots / "naps_more.png").read_bytes().startswith(b"\x89PNG")
    found.stdout.fnmatch_lines(["*ours against the plain way*", "sleep *", "every number: *"])


def test_nothing_is_written_where_benchmarks_are_disabled(measured):
    found, rows, plots = measured("--benchmark-disable")
    found.assert_outcomes(passed=4)
    assert not rows and not plots.exists() and "ours against the plain way" not in found.stdout.str()
