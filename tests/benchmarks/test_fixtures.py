"""The fixtures write the right rows for work whose cost is known."""

import json

import pytest
import torch  # noqa: F401 -- otherwise pytester would load PyTorch twice, which fails

pytest_plugins = ["pytester"]
BENCHMARKS = """
    import time
    from tests.benchmarks import timing

    def sleeping(milliseconds):
        return lambda: (time.sleep(milliseconds / 1000), timing.time.go_on(milliseconds / 1000))

    def pretending(seconds):
        return lambda: timing.time.go_on(seconds)

    def bench_pair(pair):
        ways = {"slowly": sleeping(40), "quickly": sleeping(10)}
        pair("sleep", sleeping(5), sleeping(20), best=ways, best_times=3.0, definition_times=2.0, rounds=5, note="So.")

    def bench_cost(pair):
        pair("cost", sleeping(20), sleeping(5), reach=3, rounds=5, cost=True)

    def bench_counted(counted):
        counted("count", "coins", lambda: ([2, 4], [6, 8]), reach=2, note=lambda ours, plain: f"{ours} {plain}")

    def bench_growth(growth):
        growth("Naps & more", "n", {n: pretending(4 * n) for n in (1, 2, 4)}, {n: pretending(n**2) for n in (1, 2, 4)})
"""


class Clock:
    """A clock that advances only when the work advances it."""

    now = 0.0

    def perf_counter(self):
        return self.now

    def go_on(self, seconds):
        self.now += seconds

    sleep = go_on


@pytest.fixture
def measured(pytester, monkeypatch, tmp_path):
    """Return a function that runs BENCHMARKS and returns pytest's result, the rows by their work, the plots' folder."""
    # The inner run unloads the modules that it imports, and these two modules cannot be imported twice.
    for name in ("matplotlib.pyplot", "torch"):
        pytest.importorskip(name)
    rates = {"copy_bytes": 1.0, "float32_operations": 1.0, "float64_operations": 1.0}
    monkeypatch.setattr("tests.benchmarks.conftest.rates", lambda device: rates)
    monkeypatch.setattr("tests.benchmarks.conftest.GROWTH", tmp_path / "growth")
    monkeypatch.setattr("tests.benchmarks.timing.time", Clock())
    # pytest-benchmark disables itself in workers of pytest-xdist.
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
    # Each program takes at least as long as it sleeps; its first run is not counted.
    assert {len(sleep[name]) for name in ("ours", "best", "definition", "ratios", "ratios_to_definition")} == {5}
    assert min(sleep["ours"]) >= 0.005 and min(sleep["best"]) >= 3 * 0.01 and min(sleep["definition"]) >= 2 * 0.02
    assert (
        sleep["note"] == "So. Of the best plain way ran: quickly, the fastest of 2 ways here." and sleep["reach"] == 2
    )
    for name, peer in (("ratios", "best"), ("ratios_to_definition", "definition")):
        assert sleep[name] == [theirs / ours for ours, theirs in zip(sleep["ours"], sleep[peer], strict=True)]
        assert cost[name] == [ours / theirs for ours, theirs in zip(cost["ours"], cost[peer], strict=True)]
    assert cost["best"] == cost["definition"] and "both columns have the same time" in cost["note"]
    assert count["best"] == count["definition"] == [6, 8]
    assert count["ratios"] == [3.0, 2.0] and count["note"] == "[2, 4] [6, 8]" and count["unit"] == "coins"
    assert naps["lines"] == [[[1, 4], [2, 8], [4, 16]], [[1, 1], [2, 4], [4, 16]]] and naps["file"] == "naps_more.png"
    assert naps["slopes"] == pytest.approx([1, 2])
    assert (plots / "naps_more.png").read_bytes().startswith(b"\x89PNG")
    found.stdout.fnmatch_lines(["*ours against the plain ways*", "sleep *", "every number: *"])


def test_nothing_is_written_where_benchmarks_are_disabled(measured):
    found, rows, plots = measured("--benchmark-disable")
    found.assert_outcomes(passed=4)
    assert not rows and not plots.exists() and "ours against the plain ways" not in found.stdout.str()
