"""Fixtures of the benchmarks: `pair` times work against two peers, `counted` compares counts, `growth` scans an axis.

A row has two peers: the definition, as a reader of the paper would run it, and the best plain way. The best plain way
is the fastest program that an able user would write with NumPy, SciPy, PyTorch or Numba in some 20 to 50 lines. A row
claims the ratio to the best plain way.

`make bench` collects `bench_*.py`; `pytest tests` does not. Each fixture uses pytest-benchmark's `benchmark`, which
runs once per test, so a benchmark uses one fixture, once.
"""

import math
import re
import statistics
import time
from importlib import metadata
from pathlib import Path

import pytest

from tests.benchmarks.limits import rates
from tests.benchmarks.page import is_pair, others_lines, table
from tests.benchmarks.timing import awaited, fastest, median_seconds, pause, repeated

GROWTH = Path("build/benchmarks/growth")
"""Folder of the plots. `make bench` copies them from here, so a measurement changes no tracked file."""
ROWS = pytest.StashKey[list]()
PACKAGES = ("numpy", "scipy", "sympy", "python-flint", "torch", "numba", "hypothesis")


@pytest.fixture
def stored(request, benchmark):
    """Return a function that keeps a row in pytest-benchmark's JSON and for the table at the end of the run."""

    def store(**row):
        on_device = "device" in request.fixturenames
        row |= {"on_device": on_device, "device": request.getfixturevalue("device") if on_device else "cpu"}
        benchmark.extra_info.update(row)
        request.config.stash.setdefault(ROWS, []).append(row)
        return row

    return store


def fastest_ways(peers, in_a_row, times):
    """Return the fastest way of each peer that is there, by the peer's name, and notes that name the ways.

    A peer is a name, a callable or a dict of callables, and the factor by which its calls are fewer than ours.
    """
    chosen, notes = {}, []
    for name, peer, fewer in peers:
        if isinstance(peer, dict):
            way, chosen[name] = fastest({way: in_a_row(call, fewer) for way, call in peer.items()}, times)
            among = f", the fastest of {len(peer)} ways here" if len(peer) > 1 else ""
            notes.append(f"Of the {name} ran: {way}{among}.")
        elif peer is not None:
            chosen[name] = in_a_row(peer, fewer)
    return chosen, notes


def ratios(mine, theirs, *, cost):
    """Return a peer's times divided by ours or, with `cost`, ours divided by the peer's."""
    return [m / t if cost else t / m for m, t in zip(mine, theirs, strict=True)]


@pytest.fixture
def pair(request, benchmark, stored):
    """Time three programs in turn: before each round of ours, the definition and the best plain way run once.

    A run of ours calls `ours` as often as `repeat` says, in a row, as a training takes its steps; a peer's calls are
    fewer by the factor `best_times` or `definition_times`. A pause precedes each run. If nothing is timed, each program
    is called once in each round.

    A peer is a callable, or a dict of callables by name; of a dict, the callable that is fastest on this machine is
    timed, and the note names it. Without `best` the definition is the best plain way. `best_times` and
    `definition_times` are the numbers of a peer's runs that do the work of one of ours. A ratio is a peer's time
    divided by ours, and the ratio to the best plain way must be at least `reach`. With `cost` a ratio is our time
    divided by a peer's, and the ratio to the best plain way must be at most `reach`.
    """

    def run(
        work, ours, definition, *, best=None, repeat=1, best_times=1.0, definition_times=1.0, reach=2.0, rounds=7,
        limit=None, note="", cost=False,
    ):  # fmt: skip
        device = request.getfixturevalue("device") if "device" in request.fixturenames else "cpu"

        def in_a_row(call, fewer):
            return awaited(device, repeated(call, 1 if benchmark.disabled else max(1, round(repeat / fewer))))

        peers = ("definition", definition, definition_times), ("best plain way", best, best_times)
        chosen, said = fastest_ways(peers, in_a_row, 1 if benchmark.disabled else 5)
        notes = [*([note] if note else []), *said]
        if best is None:
            notes.append("There is no better plain way than the definition: both columns have the same time.")
        taken = {name: [] for name in chosen}
        quiet = (lambda: None) if benchmark.disabled else pause

        def setup():
            for name, seconds in taken.items():
                quiet()
                started = time.perf_counter()
                chosen[name]()
                seconds.append(time.perf_counter() - started)
            quiet()

        benchmark.pedantic(in_a_row(ours, 1), setup=setup, rounds=rounds, iterations=1, warmup_rounds=1)
        if benchmark.stats is None:  # --benchmark-disable
            return None
        mine = list(benchmark.stats.stats.data)
        by_definition = [definition_times * seconds for seconds in taken["definition"][-len(mine) :]]
        if best is None:
            at_best = by_definition
        else:
            at_best = [best_times * seconds for seconds in taken["best plain way"][-len(mine) :]]
        row = {"kind": "pair", "work": work, "ours": mine, "best": at_best, "definition": by_definition}
        row["ratios"] = ratios(mine, at_best, cost=cost)
        row["ratios_to_definition"] = ratios(mine, by_definition, cost=cost)
        row |= {"cost": cost, "reach": reach, "limit": None, "note": " ".join(notes)}
        if limit is not None:
            row["limit"] = {"name": limit.name, "seconds": limit.seconds(device)}
        return stored(**row)

    return run


@pytest.fixture
def counted(benchmark, stored):
    """Compare counts: `measure()` returns two lists, our counts and the plain way's counts in the same runs.

    The plain way is used as both peers. `note(ours, plain)` returns the row's note.
    """

    def run(work, unit, measure, *, reach, note):
        ours, plain = benchmark.pedantic(measure, rounds=1, iterations=1)
        if benchmark.stats is None:  # --benchmark-disable
            return None
        ratios = [p / max(o, 1) for o, p in zip(ours, plain, strict=True)]
        row = {"kind": "counted", "work": work, "unit": unit, "ours": list(ours), "best": list(plain)}
        row |= {"definition": list(plain), "ratios": ratios, "ratios_to_definition": ratios}
        return stored(**row, cost=False, reach=reach, limit=None, note=note(ours, plain))

    return run


@pytest.fixture
def growth(benchmark, stored):
    """Time work at points along an axis, by the median of a few runs at each point, and plot the times."""

    def run(work, axis, points, plain=None, *, times=3, note=""):
        def measure():
            # With timing disabled, each line is run once, at its first point.
            several = [dict(list(some.items())[: 1 if benchmark.disabled else None]) for some in (points, plain or {})]
            runs = 1 if benchmark.disabled else times
            return [{x: median_seconds(work, runs) for x, work in some.items()} for some in several if some]

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
    """Return the exponent of a power law, fitted to the upper half of the points; None for one point."""
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
    """Record the kind of the machine, without its name."""
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
    stored = config.stash.get(ROWS, [])
    rows = [row for row in stored if is_pair(row)]
    others = others_lines([row for row in stored if row["kind"] == "others"])
    if not rows and not others:
        return
    terminalreporter.section("ours against the plain ways")
    for line in [*(table(rows) if rows else []), *others]:
        terminalreporter.write_line(line)
    written = config.getoption("benchmark_json", None)
    terminalreporter.write_line(f"\nevery number: {written.name}" if written else "\nnot kept (--benchmark-json FILE)")
