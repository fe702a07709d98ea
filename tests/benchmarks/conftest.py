"""Fixtures of the benchmarks: `pair` against the plain way, `counted` for counts, `growth` along an axis.

`make bench` collects `bench_*.py`; `pytest tests` does not. Each fixture uses pytest-benchmark's `benchmark`, so that a
benchmark asks for one of them, once.
"""

import math
import re
import statistics
import time
from importlib import metadata
from pathlib import Path

import pytest

from tests.benchmarks.limits import rates
from tests.benchmarks.page import table
from tests.benchmarks.timing import median_seconds, on_the_best_threads

GROWTH = Path("build/benchmarks/growth")
"""Plots are copied from there when the page is written: what is measured is measured on a tree that stays as it was."""
ROWS = pytest.StashKey[list]()
PACKAGES = ("numpy", "scipy", "sympy", "python-flint", "torch", "numba", "hypothesis")


@pytest.fixture
def stored(request, benchmark):
    """Keep a row: in pytest-benchmark's JSON, and for the table at the end of the run."""

    def store(**row):
        on_device = "device" in request.fixturenames
        row |= {"on_device": on_device, "device": request.getfixturevalue("device") if on_device else "cpu"}
        benchmark.extra_info.update(row)
        request.config.stash.setdefault(ROWS, []).append(row)
        return row

    return store


@pytest.fixture
def pair(request, benchmark, stored):
    """Time two ways in turn, the plain one before each round of ours.

    `torch`: the plain way is PyTorch's, and runs on one thread or on all, whichever it is faster on here; what waits
    does not spin (OMP_WAIT_POLICY, set by `make bench`). `plain_times`: how often the plain way would have to be run
    for the same work. `cost`: the ratio is ours over the plain way, and is to be no larger than `reach`; else it is the
    plain way over ours, and no smaller.
    """

    def run(work, ours, plain, *, reach, rounds=7, plain_times=1.0, limit=None, note="", cost=False, torch=False):
        plainly = []
        if torch:
            plain, best = on_the_best_threads(plain)
            note = f"{note} PyTorch was the faster on {best.threads} of its threads.".lstrip()

        def setup():
            started = time.perf_counter()
            plain()
            plainly.append(time.perf_counter() - started)

        benchmark.pedantic(ours, setup=setup, rounds=rounds, iterations=1, warmup_rounds=1)
        if benchmark.stats is None:  # --benchmark-disable
            return None
        mine = list(benchmark.stats.stats.data)
        theirs = [plain_times * seconds for seconds in plainly[-len(mine) :]]
        ratios = [m / t if cost else t / m for m, t in zip(mine, theirs, strict=True)]
        row = {"kind": "pair", "work": work, "ours": mine, "plain": theirs, "plain_times": plain_times}
        row |= {"ratios": ratios, "cost": cost, "reach": reach, "limit": None, "note": note}
        if limit is not None:
            where = request.getfixturevalue("device") if "device" in request.fixturenames else "cpu"
            row["limit"] = {"name": limit.name, "seconds": limit.seconds(where)}
        return stored(**row)

    return run


@pytest.fixture
def counted(benchmark, stored):
    """Compare counts: `measure()` returns how many of something ours and the plain way need, in each of some runs.

    `note(ours, plain)` says what is to be said of them.
    """

    def run(work, unit, measure, *, reach, note):
        ours, plain = benchmark.pedantic(measure, rounds=1, iterations=1)
        if benchmark.stats is None:  # --benchmark-disable
            return None
        ratios = [p / o for o, p in zip(ours, plain, strict=True)]
        row = {"kind": "counted", "work": work, "unit": unit, "ours": list(ours), "plain": list(plain)}
        return stored(**row, ratios=ratios, cost=False, reach=reach, limit=None, note=note(ours, plain))

    return run


@pytest.fixture
def growth(benchmark, stored):
    """Time points along an axis, the median of a few runs each, and plot the times against it."""

    def run(work, axis, points, plain=None, *, times=3, note=""):
        def measure():
            return [
                {x: median_seconds(work, times) for x, work in some.items()} for some in (points, plain or {}) if some
            ]

        found = benchmark.pedantic(measure, rounds=1, iterations=1)
        if benchmark.stats is None:  # --benchmark-disable
            return None
        lines = [[[float(x), seconds] for x, seconds in line.items()] for line in found]
        file = f"{re.sub('[^a-z0-9]+', '_', work.lower()).strip('_')}.png"
        row = stored(
            kind="growth", work=work, axis=axis, lines=lines, slopes=[*map(_slope, lines)], file=file, note=note
        )
        _plot(row, GROWTH / file)
        return row

    return run


def _slope(line):
    """The exponent of a power law through the upper half of the points, by least squares."""
    upper = [(math.log(x), math.log(y)) for x, y in line[(len(line) - 1) // 2 :]]
    if len(upper) < 2:
        return None
    return statistics.linear_regression(*zip(*upper, strict=True)).slope


def _plot(row, path):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 3), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for line, label in zip(row["lines"], ("ours", "the plain way"), strict=False):
        axes.loglog(*zip(*line, strict=True), "o-", markersize=4, linewidth=1, label=label)
    axes.set(xlabel=row["axis"], ylabel="seconds")
    axes.set_title(row["work"], fontsize="small", wrap=True)
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(machine_info):
    """Keep what says of which kind the machine is, and nothing that says which one."""
    machine_info.pop("node", None)
    installed = {name: _version(name) for name in PACKAGES}
    machine_info["packages"] = {name: version for name, version in installed.items() if version}
    machine_info["rates"] = {"cpu": rates("cpu")}
    if _cuda():
        import torch

        machine_info |= {"card": torch.cuda.get_device_name()}
        machine_info["rates"]["cuda"] = rates("cuda")


def _version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cuda():
    import torch

    return torch.cuda.is_available()


def pytest_terminal_summary(terminalreporter, config):
    rows = [row for row in config.stash.get(ROWS, []) if row["kind"] != "growth"]
    if not rows:
        return
    terminalreporter.section("ours against the plain way")
    for line in table(rows):
        terminalreporter.write_line(line)
    written = config.getoption("benchmark_json", None)
    terminalreporter.write_line(f"\nevery number: {written.name}" if written else "\nnot kept (--benchmark-json FILE)")
