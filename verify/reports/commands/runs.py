"""Commands that run over many instances, or train."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from verify.errors import InputError
from verify.installed import lack
from verify.reports.commands.frame import (
    INTERNAL_ERROR,
    INTERRUPTED,
    AsJson,
    OverGrids,
    answer,
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
"""Maximum number of digits of each number of steps."""


_ResultsFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="database of results; default .lemmascope/results.sqlite")
]
_StoredSeed = Annotated[int, typer.Option(help="seed of the random numbers", min=0, max=2**63 - 1)]


@verb("sweep", "wang2024.theorem1 --over eta=1/20:8:5:log T=9 q=2 d=1 eps=1/200", verbs.sweep)
def _sweep(
    theorem: str,
    given: Mapping[str, str],
    over: OverGrids = None,
    store: _ResultsFile = None,
    seed: _StoredSeed = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="write THEOREM.sweep.csv, .parquet, .json and a plot")
    ] = None,
    as_json: AsJson = False,
    **effort: Any,
) -> None:
    """Exits 0 when the grid is done, whatever the outcomes, but 1 when --recheck finds that a stored row differs."""
    from verify.checking.theorem import load_theorem
    from verify.executor import refuse_both
    from verify.reports.simulate import make_folder, refuse_others, usable_store
    from verify.reports.text import sweep_text
    from verify.runs.sweeps.grids import read_over

    grids = read_over(over or [])
    refuse_both(effort["jobs"], effort["scheduler"])
    loaded = load_theorem(theorem)
    if out is not None:
        make_folder(out)
        refuse_others(out, f"{loaded.id}.sweep")
    kept = usable_store(store)
    with bar_shown(loaded.id) as tell:
        result = verbs.sweep(loaded, grids, given, store=kept, seed=seed, tell=tell, **effort)
    files = _write_sweep(result, out) if out is not None else []
    if as_json:
        print_json({**result.to_json(), "files": files})
    else:
        say("\n".join([sweep_text(result, columns()), *map(visible, files)]))
    lost = result.failed or result.stopped or result.done < len(result.grid)
    differs = result.rechecked is not None and result.rechecked.differing > 0
    raise typer.Exit(INTERRUPTED if result.interrupted else INTERNAL_ERROR if lost else int(differs))


@verb("observe", "wang2024.theorem1 T=200 q=3 d=5 eta=1 --at 1000,10000", verbs.observe)
def _observe(
    theorem: str,
    given: Mapping[str, str],
    at: Annotated[
        str, typer.Option("--at", metavar="STEP,...", help="numbers of steps, increasing", show_default=False)
    ] = "",
    over: OverGrids = None,
    as_json: AsJson = False,
) -> None:
    from verify.runs.sweeps.grids import read_over

    if not all(part.strip().isdecimal() and len(part) <= _DIGITS for part in at.split(",")):
        raise InputError("--at", at, "must be one or more numbers of steps >= 0, increasing")
    steps = [int(part) for part in at.split(",")]
    result = verbs.observe(theorem, steps, read_over(over or []), given)
    answer(result, "json" if as_json else "table")


def _write_sweep(result: Any, folder: Path) -> list[str]:
    from verify.reports.formats.sweep_files import write_sweep
    from verify.reports.plots.sweep_plots import why_no_plot

    files = [str(path) for path in write_sweep(result, folder)]
    if lacking := lack("pyarrow"):
        warn(f"verify: no Parquet file is written: that {lacking}")
    if why := why_no_plot(result):
        warn(f"verify: no plot is drawn: {why}")
    return files


@verb("simulate", "wang2024.one_hot_training T=9 q=2 --seed 1", verbs.simulate)
def _simulate(
    experiment: str,
    settings: Mapping[str, str],
    device: str,
    full: bool,
    jobs: int,
    scheduler: str | None,
    seed: _StoredSeed = 0,
    store: _ResultsFile = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="write EXPERIMENT.json, and a plot to EXPERIMENT.png")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="run again, and store nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """NAME=V1,V2,... varies a setting."""
    from verify.reports.plots.experiment_plots import why_no_plot
    from verify.reports.simulate import announced, make_folder, refuse_others, usable_store, write_run
    from verify.reports.text import experiment_text
    from verify.runs.devices import DEVICES
    from verify.runs.experiments import load_experiment

    if no_cache and store is not None:
        raise InputError("--store", store, "cannot be combined with --no-cache, which stores nothing")
    if device not in DEVICES:
        raise InputError("device", device, f"must be one of {', '.join(DEVICES)}")
    loaded = load_experiment(experiment)
    loaded.refuse_options(settings)
    if out is not None:
        make_folder(out)
        refuse_others(out, loaded.id)
    kept = None if no_cache else usable_store(store)
    announce = announced(loaded, kept) if full else None
    with bar_shown(loaded.id) as tell:
        options = {"seed": seed, "device": device, "full": full, "jobs": jobs, "scheduler": scheduler}
        result = verbs.simulate(loaded, settings, store=kept, tell=tell, announce=announce, **options)
    files = []
    if out is not None:
        files = [str(path) for path in write_run(result, out)]
        if (result.curves or result.heat_maps) and (why := why_no_plot(result)):
            warn(f"verify: no plot is drawn: {why}")
    if as_json:
        print_json(result.to_json())
    else:
        say("\n".join([experiment_text(result, columns()), *map(visible, files)]))
    raise typer.Exit(INTERRUPTED if result.interrupted else 0)
