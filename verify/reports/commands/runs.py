"""Commands that go along many instances, or train."""

from pathlib import Path
from typing import Annotated, Any

import typer

from verify.errors import InputError
from verify.installed import lack
from verify.reports.commands.frame import (
    INTERNAL_ERROR,
    INTERRUPTED,
    AsJson,
    Assignments,
    OverGrids,
    TheoremArgument,
    assigned,
    bar_shown,
    columns,
    print_json,
    say,
    verb,
    warn,
)
from verify.reports.verbs import runs as verbs
from verify.shown import visible

_DIGITS = 18
"""Of a number of steps."""


@verb("sweep", "wang2024.theorem1 --over eta=1/20:8:5:log T=9 q=2 d=1 eps=1/200")
def sweep_theorem(
    theorem: TheoremArgument,
    given: Assignments = None,
    over: OverGrids = None,
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="database of rows; default .lemmascope/results.sqlite", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option(help="number of local processes")] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="address of a Dask scheduler, such as tcp://…", show_default=False),
    ] = None,
    seconds: Annotated[float, typer.Option(help="time budget per instance, in seconds")] = 10,
    seed: Annotated[int, typer.Option(help="seed of the random numbers", min=0, max=2**63 - 1)] = 0,
    certify: Annotated[
        bool, typer.Option("--certify", help="decide every instance by the exact check, none by float64 alone")
    ] = False,
    recheck: Annotated[
        int | None,
        typer.Option(metavar="K", help="how many of the reused rows to recompute, drawn by a seed", show_default=False),
    ] = None,
    recheck_seed: Annotated[
        int | None, typer.Option(help="seed that draws the rows of --recheck; default a new one", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="write THEOREM.sweep.csv, .parquet, .json and a plot", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a theorem at every instance of a grid; rows are stored, and those of earlier runs are reused.

    Always exits 0 when the grid is done, except 1 when --recheck finds that a stored row differs.
    """
    from verify.checking.theorem import load_theorem
    from verify.reports.simulate import make_folder, refuse_others, usable_store
    from verify.reports.text import sweep_text
    from verify.runs.sweeps.grids import read_over
    from verify.runs.sweeps.sweep import refuse_effort

    assignments, grids = assigned(given), read_over(over or [])
    refuse_effort(jobs, scheduler, seconds, recheck)
    loaded = load_theorem(theorem)
    if out is not None:
        make_folder(out)
        refuse_others(out, f"{loaded.id}.sweep")
    workers: dict[str, Any] = {"jobs": jobs, "scheduler": scheduler, "store": usable_store(store)}
    effort: dict[str, Any] = {"seconds": seconds, "seed": seed, "certify": certify, "recheck": recheck}
    effort["recheck_seed"] = recheck_seed
    with bar_shown(loaded.id) as tell:
        result = verbs.sweep(loaded, grids, assignments, tell=tell, **workers, **effort)
    files = _write_sweep(result, out) if out is not None else []
    if as_json:
        print_json({**result.to_json(), "files": files})
    else:
        say("\n".join([sweep_text(result, columns()), *map(visible, files)]))
    lost = result.failed or result.stopped or result.done < len(result.grid)
    differs = result.rechecked is not None and result.rechecked.differing > 0
    raise typer.Exit(INTERRUPTED if result.interrupted else INTERNAL_ERROR if lost else int(differs))


@verb("observe", "wang2024.theorem1 T=200 q=3 d=5 eta=1 --at 1000,10000")
def observe_recursion(
    theorem: TheoremArgument,
    given: Assignments = None,
    at: Annotated[
        str, typer.Option("--at", metavar="STEP,...", help="numbers of steps, increasing", show_default=False)
    ] = "",
    over: OverGrids = None,
    as_json: AsJson = False,
) -> None:
    """Iterate the theorem's recursion in float64, at one or many instances; nothing is proved."""
    from verify.runs.sweeps.grids import read_over

    if not all(part.strip().isdecimal() and len(part) <= _DIGITS for part in at.split(",")):
        raise InputError("--at", at, "must be one or more numbers of steps >= 0, increasing")
    steps = [int(part) for part in at.split(",")]
    grids, assignments = read_over(over or []), assigned(given)
    result = verbs.observe(theorem, steps, grids, assignments)
    if as_json:
        print_json(result.to_json())
    else:
        say(result.text())


def _write_sweep(result: Any, folder: Path) -> list[str]:
    from verify.reports.plots.sweep_plots import why_no_plot
    from verify.reports.sweep_files import write_sweep

    files = [str(path) for path in write_sweep(result, folder)]
    if lacking := lack("pyarrow"):
        warn(f"verify: no Parquet file is written: that {lacking}")
    if why := why_no_plot(result):
        warn(f"verify: no plot is drawn: {why}")
    return files


@verb("simulate", "wang2024.one_hot_training T=9 q=2 --seed 1")
def simulate_experiment(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="an id, or file.py:name", show_default=False)],
    given: Assignments = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="where to run")] = "auto",
    seed: Annotated[int, typer.Option(help="seed of the random numbers", min=0, max=2**63 - 1)] = 0,
    full: Annotated[bool, typer.Option("--full", help="use the paper's own settings")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="write EXPERIMENT.json, and a plot to EXPERIMENT.png", show_default=False),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="database of results; default .lemmascope/results.sqlite", show_default=False
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="run again, and store nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment and report its measurements with standard errors. NAME=V1,V2,... varies a setting."""
    from verify.reports.plots.experiment_plots import why_no_plot
    from verify.reports.simulate import announced, make_folder, refuse_others, usable_store, write_run
    from verify.reports.text import experiment_text
    from verify.runs.devices import DEVICES
    from verify.runs.experiments import load_experiment

    if no_cache and store is not None:
        raise InputError("--store", store, "cannot be combined with --no-cache, which stores nothing")
    if device not in DEVICES:
        raise InputError("device", device, f"must be one of {', '.join(DEVICES)}")
    assignments = assigned(given)
    loaded = load_experiment(experiment)
    loaded.refuse_options(assignments)
    if out is not None:
        make_folder(out)
        refuse_others(out, loaded.id)
    kept = None if no_cache else usable_store(store)
    announce = announced(loaded, kept) if full else None
    with bar_shown(loaded.id) as tell:
        options = {"seed": seed, "device": device, "full": full, "store": kept, "tell": tell, "announce": announce}
        result = verbs.simulate(loaded, assignments, **options)
    if out is not None:
        write_run(result, out)
        if (result.curves or result.heat_maps) and (why := why_no_plot(result)):
            warn(f"verify: no plot is drawn: {why}")
    if as_json:
        print_json(result.to_json())
    else:
        say(experiment_text(result, columns()))
