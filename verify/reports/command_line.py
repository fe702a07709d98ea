"""The command line: `verify VERB …`, the same as `python -m verify VERB …`.

What a verb needs is imported when it is called, so that the help does without SymPy and the other heavy ones.
"""

import functools
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from verify.errors import InputError, TheoremError
from verify.reports import verbs

INPUT_ERROR = 2
INCONCLUSIVE = 3
INTERNAL_ERROR = 70
INTERRUPTED = 130
_DIGITS = 18
"""Of a number of steps."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Verify theorems of machine-learning theory: hypotheses, claims, derivations. "
    "Exit codes: 0 verified or done, 1 refuted, 2 input not understood, 3 inconclusive, 4 out of scope, "
    "70 an error of ours, 130 interrupted.",
)

TheoremArgument = Annotated[str, typer.Argument(metavar="THEOREM", help="an id, or file.py:name", show_default=False)]
Assignments = Annotated[list[str] | None, typer.Argument(metavar="[name=value ...]", show_default=False)]
OverGrids = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=START:STOP:COUNT[:log]", help="a grid, ends included, or NAME=v1,v2,…", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="print one JSON object")]


_OUTPUT: ContextVar[TextIO | None] = ContextVar("output", default=None)
"""Standard output as it was when a verb began."""


def _verb(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command. What a theorem's code prints while it runs goes to standard error; ours alone to output."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run_verb(*arguments: Any, **options: Any) -> None:
            before = _OUTPUT.set(sys.stdout)
            try:
                with redirect_stdout(sys.stderr):
                    function(*arguments, **options)
            finally:
                _OUTPUT.reset(before)

        return app.command(name)(run_verb)

    return register


def _assigned(words: list[str] | None) -> dict[str, str]:
    from verify.language.parameters import read_assignments

    return read_assignments(words or [])


def _say(text: str) -> None:
    typer.echo(text, file=_OUTPUT.get())


def _warn(text: str) -> None:
    typer.echo(text, err=True)


def _print_json(body: dict[str, Any]) -> None:
    from verify.outcomes import SCHEMA
    from verify.version import version

    _say(json.dumps({"schema": SCHEMA, "version": version(), **body}, allow_nan=False))


@_verb("list")
def list_theorems(
    paper: Annotated[str | None, typer.Option(help="only this paper's, such as wang2024", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List the theorems, with what is proved and the evidence at their example instances."""
    from verify.reports.listing import rows_text

    rows = verbs.list_theorems(paper)
    if as_json:
        _print_json({"theorems": rows})
    else:
        _say(rows_text(rows))


@_verb("conditions")
def show_conditions(theorem: TheoremArgument, given: Assignments = None, as_json: AsJson = False) -> None:
    """Say which hypotheses hold, fail or need a parameter; a partial instance will do."""
    from verify.reports.text import conditions_text

    result = verbs.conditions(theorem, _assigned(given))
    if as_json:
        _print_json(result.to_json())
    else:
        _say(conditions_text(result))
    raise typer.Exit(result.exit_code)


@_verb("check")
def check_theorem(
    theorem: TheoremArgument,
    given: Assignments = None,
    seconds: Annotated[float, typer.Option(help="time budget")] = 60,
    digits: Annotated[int, typer.Option(help="significant digits of enclosures")] = 17,
    seed: Annotated[int, typer.Option(help="seed of whatever is random")] = 0,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="write a certificate for `verify recheck`", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the hypotheses and the claim at an instance."""
    from verify.checking.certificates import certificate_file, write_certificate
    from verify.checking.loading import load_theorem
    from verify.reports.text import check_text

    file = None if certificate is None else certificate_file(certificate)
    loaded, assignments = load_theorem(theorem), _assigned(given)
    with _progress() as progress:
        result = verbs.check(loaded, assignments, seconds=seconds, digits=digits, seed=seed, progress=progress)
    if as_json:
        _print_json(result.to_json())
    else:
        _say(check_text(result))
    if file is not None:
        write_certificate(loaded, result, file)
    raise typer.Exit(INTERRUPTED if result.interrupted else result.outcome.exit_code)


@_verb("derive")
def derive_theorem(
    theorem: TheoremArgument,
    form: Annotated[str, typer.Option("--format", metavar="text|latex", help="text or latex")] = "text",
    as_json: AsJson = False,
) -> None:
    """Print the derivation's steps; each is checked by SymPy when it is printed."""
    from verify.checking.loading import load_theorem
    from verify.reports.text import derivation_json, derivation_lines

    if form not in ("text", "latex"):
        raise InputError("--format", form, "must be text or latex")
    loaded = load_theorem(theorem)
    if loaded.derivation is None:
        raise InputError("theorem", theorem, "has no derivation")
    if as_json:
        _print_json(derivation_json(loaded, form))
        return
    for line in derivation_lines(loaded, form):
        _say(line)


@_verb("explore")
def explore_theorem(
    theorem: TheoremArgument,
    given: Assignments = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="HYPOTHESIS", help="leave this hypothesis out")] = None,
    max_examples: Annotated[int, typer.Option(help="instances to draw")] = 1000,
    seconds: Annotated[float, typer.Option(help="time budget")] = 30,
    seed: Annotated[int, typer.Option(help="seed of the draws")] = 0,
    as_json: AsJson = False,
) -> None:
    """Search for a counterexample; what is found is confirmed in exact or ball arithmetic."""
    from verify.checking.loading import load_theorem
    from verify.reports.text import explore_text
    from verify.search.explore import default_database

    loaded, assignments = load_theorem(theorem), _assigned(given)
    effort = {"max_examples": max_examples, "seconds": seconds, "seed": seed, "database": default_database()}
    with _progress("instance") as progress:
        result = verbs.explore(loaded, assignments, drop=drop or [], progress=progress, **effort)
    if as_json:
        _print_json(result.to_json())
    else:
        _say(explore_text(result))
    raise typer.Exit(INTERRUPTED if result.interrupted else result.exit_code)


@_verb("necessity")
def map_necessity(
    theorem: TheoremArgument,
    seconds: Annotated[float, typer.Option(help="time for each hypothesis")] = 60,
    seed: Annotated[int, typer.Option(help="seed of the draws")] = 0,
    as_json: AsJson = False,
) -> None:
    """Leave out each hypothesis in turn: needed (a certified violation), redundant (a proof), or undecided."""
    from verify.reports.text import necessity_text

    with _progress("instance") as progress:
        result = verbs.necessity(theorem, seconds=seconds, seed=seed, progress=progress)
    if as_json:
        _print_json(result.to_json())
    else:
        _say(necessity_text(result))
    raise typer.Exit(INTERRUPTED if result.interrupted else 0)


@_verb("sweep")
def sweep_theorem(
    theorem: TheoremArgument,
    given: Assignments = None,
    over: OverGrids = None,
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="where rows are kept, else .lemmascope/results.sqlite", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option(help="processes of this machine")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="a Dask cluster's, such as tcp://…", show_default=False)
    ] = None,
    seconds: Annotated[float, typer.Option(help="time budget of one instance")] = 10,
    seed: Annotated[int, typer.Option(help="seed of whatever is random", min=0, max=2**63 - 1)] = 0,
    certify: Annotated[bool, typer.Option("--certify", help="no instance by float64 alone")] = False,
    recheck: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="share, in (0, 1], of the served rows to compute again", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="write THEOREM.sweep.csv, .parquet, .json and a plot", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a grid of instances, a row each in a store: what is there is not computed again.

    0 whatever is found, 1 where a row that --recheck computes again comes out otherwise than it was kept.
    """
    from verify.checking.loading import load_theorem
    from verify.reports.simulate import make_folder, usable_store
    from verify.reports.text import sweep_text
    from verify.runs.sweeps.grids import read_over

    loaded, assignments, grids = load_theorem(theorem), _assigned(given), read_over(over or [])
    if out is not None:
        make_folder(out)
    workers: dict[str, Any] = {"jobs": jobs, "scheduler": scheduler, "store": usable_store(store)}
    effort: dict[str, Any] = {"seconds": seconds, "seed": seed, "certify": certify, "recheck": recheck}
    with _bar(loaded.id) as tell:
        result = verbs.sweep(loaded, grids, assignments, tell=tell, **workers, **effort)
    files = _write_sweep(result, out) if out is not None else []
    if as_json:
        _print_json({**result.to_json(), "files": files})
    else:
        _say("\n".join([sweep_text(result), *files]))
    lost = result.failed or result.stopped or result.done < len(result.grid)
    differs = result.rechecked is not None and result.rechecked.differing > 0
    raise typer.Exit(INTERRUPTED if result.interrupted else INTERNAL_ERROR if lost else int(differs))


@_verb("observe")
def observe_recursion(
    theorem: TheoremArgument,
    given: Assignments = None,
    at: Annotated[
        str, typer.Option("--at", metavar="STEP,...", help="after how many steps, rising", show_default=False)
    ] = "",
    over: OverGrids = None,
    as_json: AsJson = False,
) -> None:
    """Follow the theorem's recursion in float64, at many instances at once, with no claim to proof."""
    from verify.runs.sweeps.grids import read_over

    if not all(part.strip().isdecimal() and len(part) <= _DIGITS for part in at.split(",")):
        raise InputError("--at", at, "must be one or more numbers of steps, from 0 on, rising")
    steps = [int(part) for part in at.split(",")]
    result = verbs.observe(theorem, steps, read_over(over or []), _assigned(given))
    if as_json:
        _print_json(result.to_json())
    else:
        _say(result.text())


def _write_sweep(result: Any, folder: Path) -> list[str]:
    from verify.reports.plots.sweep_plots import why_no_plot
    from verify.reports.sweep_files import WITHOUT_PARQUET, write_sweep

    files = [str(path) for path in write_sweep(result, folder)]
    if not any(name.endswith(".parquet") for name in files):
        _warn(f"verify: {WITHOUT_PARQUET}")
    if why := why_no_plot(result):
        _warn(f"verify: {why}")
    return files


@_verb("simulate")
def simulate_experiment(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="an id", show_default=False)],
    given: Assignments = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="where to run")] = "auto",
    seed: Annotated[int, typer.Option(help="seed of the draws", min=0, max=2**63 - 1)] = 0,
    full: Annotated[bool, typer.Option("--full", help="the paper's own settings")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="write EXPERIMENT.json, and a plot to EXPERIMENT.png", show_default=False),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="where results are kept, else .lemmascope/results.sqlite", show_default=False
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="measure anew, and keep nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment: settings to measurements with standard errors. NAME=V1,V2,... measures along a setting."""
    from verify.reports.simulate import announced, make_folder, usable_store, write_run
    from verify.reports.text import experiment_text
    from verify.runs.experiments import load_experiment

    loaded, assignments = load_experiment(experiment), _assigned(given)
    loaded.refuse_options(assignments)
    if no_cache and store is not None:
        raise InputError("--store", store, "is not for --no-cache, which keeps nothing")
    if out is not None:
        make_folder(out)
    kept = None if no_cache else usable_store(store)
    announce = announced(loaded, kept) if full else None
    with _bar(loaded.id) as tell:
        options = {"seed": seed, "device": device, "full": full, "store": kept, "tell": tell, "announce": announce}
        result = verbs.simulate(loaded, assignments, **options)
    if out is not None:
        write_run(result, out)
    if as_json:
        _print_json(result.to_json())
    else:
        _say(experiment_text(result))


@_verb("recheck")
def recheck_certificates(
    files: Annotated[list[Path], typer.Argument(metavar="CERTIFICATE ...", show_default=False)], as_json: AsJson = False
) -> None:
    """Check certificates with a program of its own, which knows no theorem: 0 accepted, 1 rejected, 2 unreadable."""
    from verify.rechecker import Rejected, Unreadable

    rows, code = [], 0
    for file in files:
        row: dict[str, Any] = {"file": str(file), "accepted": False}
        try:
            found = verbs.recheck(file)
        except Rejected as error:
            row["reason"], code = str(error), max(code, 1)
        except (Unreadable, OSError) as error:
            row["reason"] = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            code = INPUT_ERROR
        else:
            row |= {"accepted": True, **found.to_json()}
        rows.append(row)
        if not as_json:
            (_say if row["accepted"] else _warn)(_recheck_line(row))
    if as_json:
        _print_json({"certificates": rows})
    raise typer.Exit(code)


def _recheck_line(row: dict[str, Any]) -> str:
    if not row["accepted"]:
        return " ".join(f"{row['file']}: not accepted: {row['reason']}".split())
    instance = "".join(f" {name}={value}" for name, value in row["instance"].items())
    clauses = ", ".join(f"{c['label']} {c['outcome']} ({c['evidence']}, {c['kind']})" for c in row["clauses"])
    scope = "" if row["in_scope"] else "; out of scope"
    scope += "" if row["pinned"] else "; no package here pins a statement by this id"
    return f"{row['file']}: accepted: {row['theorem']} {row['statement_digest'][:12]}{instance}{scope}: {clauses}"


@_verb("pin")
def pin_package(
    package: Annotated[str | None, typer.Argument(metavar="[PACKAGE]", show_default=False)] = None,
    seconds: Annotated[float, typer.Option(help="time budget for each example and each hypothesis")] = 60,
    as_json: AsJson = False,
) -> None:
    """Write the digests, certificates, maps and findings of what changed: 0 done, 3 where one cannot be written."""
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    found, code = [], 0
    try:
        for one in verbs.pin(package, seconds=seconds):
            found.append(one)
            code = INCONCLUSIVE if one.failed else code
            if not as_json:
                (_warn if one.failed else _say)(one.text())
    except KeyboardInterrupt:
        code = _fail("interrupted; what was written is kept", INTERRUPTED)
    if as_json:
        _print_json({"pinned": [one.to_json() for one in found]})
    elif not found and not code:
        _say("all fits")
    raise typer.Exit(code)


@contextmanager
def _progress(unit: str = "step") -> Iterator[Callable[[int], None] | None]:
    """Yield a callback that shows a count on standard error, on a terminal and after two seconds; else None."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console

    started = time.monotonic()
    with Console(stderr=True).status("") as status:
        status.stop()

        def show(count: int) -> None:
            if time.monotonic() - started > 2:
                status.start()
                status.update(f"{unit} {count}")

        yield show


@contextmanager
def _bar(name: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback that shows a progress bar on standard error, on a terminal and after two seconds; else None."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    started = time.monotonic()
    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task(name, total=None)
    try:

        def show(done: int, total: int) -> None:
            if time.monotonic() - started > 2:
                progress.start()
                progress.update(task, completed=done, total=total)

        yield show
    finally:
        progress.stop()


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code; every error is one line on standard error."""
    try:
        code = typer.main.get_command(app)(arguments, prog_name="verify", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except typer.Exit as stop:
        return stop.exit_code
    except typer.TyperException as error:
        return _fail(_with_value(error.format_message(), arguments) or "see verify --help", INPUT_ERROR)
    except (InputError, TheoremError) as error:
        return _fail(str(error), INPUT_ERROR)
    except SystemExit as stop:
        return _fail(f"theorem: its code ended the program: SystemExit: {stop.code}", INPUT_ERROR)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED)
    except Exception as error:
        return _fail(f"an error of ours, please report it: {type(error).__name__}: {error}", INTERNAL_ERROR)


def _with_value(message: str, arguments: list[str]) -> str:
    """Add an option's value to a message that names the option only."""
    option = re.search(r"Invalid value for '(--[a-z-]+)'", message)
    if option is None or option[1] not in arguments[:-1]:
        return message
    value = arguments[arguments.index(option[1]) + 1]
    return message.replace(option[0], f"{option[1]} = {value}")


def _fail(message: str, code: int) -> int:
    _warn("verify: " + " ".join(message.split()))
    return code


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Where the encoding lacks a letter such as η, show its code rather than fail.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))
