"""What the commands share: how a verb is registered, what its arguments are, how it speaks and shows progress."""

import functools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from verify.errors import InputError
from verify.reports.commands.terminal import for_stream, width_of
from verify.shown import visible

if TYPE_CHECKING:
    from rich.progress import Progress

INPUT_ERROR = 2
INCONCLUSIVE = 3
INTERNAL_ERROR = 70
INTERRUPTED = 130

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Verify theorems of machine-learning theory: hypotheses, claims, derivations. "
    "Exit codes: 0 verified or done, 1 refuted, 2 input not understood, 3 inconclusive, 4 out of scope, "
    "70 internal error, 130 interrupted.",
)

TheoremArgument = Annotated[
    str, typer.Argument(metavar="THEOREM", help="an id, or file.py:name, whose code is run", show_default=False)
]
Assignments = Annotated[list[str] | None, typer.Argument(metavar="[name=value ...]", show_default=False)]
OverGrids = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=START:STOP:COUNT[:log]", help="a grid including both ends, or NAME=v1,v2,…", show_default=False
    ),
]
Format = Annotated[
    str,
    typer.Option("--format", metavar="table|json|markdown|latex", help="output format; latex is a complete document"),
]


def positive_seconds(value: float) -> float:
    """Return a time budget, before any theorem's code is run. Raises InputError for none."""
    return _required("seconds", value, "must be a number > 0", fits=value > 0)


def positive_examples(value: int) -> int:
    """Return a number of instances, before any theorem's code is run. Raises InputError for none."""
    return _required("max-examples", value, "must be an integer >= 1", fits=value >= 1)


def known_digits(value: int) -> int:
    """Return a number of digits, before any theorem's code is run. Raises InputError for one that is not shown."""
    return _required("digits", value, "must be an integer from 1 to 1000", fits=1 <= value <= 1000)


def _required(name: str, value: Any, requirement: str, *, fits: bool) -> Any:
    if not fits:
        raise InputError(name, value, requirement)
    return value


Seconds = Annotated[float, typer.Option(help="time budget, in seconds", callback=positive_seconds)]
AsJson = Annotated[bool, typer.Option("--json", help="print one JSON object")]


_OUTPUT: ContextVar[TextIO | None] = ContextVar("output", default=None)
"""Standard output as it was when a verb began."""
_BAR: ContextVar["Progress | None"] = ContextVar("bar", default=None)
"""The progress bar that is shown."""


def _tell_version(asked: bool) -> None:
    if asked:
        from verify.installed import version

        typer.echo(f"lemmascope {version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="print the version and exit")
    ] = False,
) -> None:
    """Take the options that come before a verb; the help of the whole is that of `app`."""


def verb(name: str, example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command, with an example of it for its help.

    What a theorem's code prints while it runs goes to standard error; ours alone to output.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        # A paragraph on one line: where its lines end in the source, the help's would, too.
        said = "\n\n".join(" ".join(part.split()) for part in (function.__doc__ or "").split("\n\n"))

        @functools.wraps(function)
        def run_verb(*arguments: Any, **options: Any) -> None:
            before = _OUTPUT.set(sys.stdout)
            try:
                with redirect_stdout(sys.stderr):
                    function(*arguments, **options)
            finally:
                _OUTPUT.reset(before)

        return app.command(name, help=said, epilog=f"Example: verify {name} {example}".rstrip())(run_verb)

    return register


def form_of(form: str, *, as_json: bool, plain: str = "table") -> str:
    """Return the form that is asked for, of which `--json` is another name for one. Raises InputError."""
    known = (plain, "json", "markdown", "latex")
    if form not in known:
        raise InputError("--format", form, f"must be one of {', '.join(known)}")
    if as_json and form not in (plain, "json"):
        raise InputError("--format", form, "cannot be combined with --json, which is short for --format json")
    return "json" if as_json else form


def assigned(words: list[str] | None) -> dict[str, str]:
    """Return the values that `name=value` words assign. Raises InputError."""
    from verify.language.parameters import read_assignments

    return read_assignments(words or [])


def say(text: str) -> None:
    """Print lines to standard output, wrapped and coloured where that is a terminal; what does not show, as escapes."""
    stream = _OUTPUT.get()
    with _bar_aside():
        typer.echo(for_stream(visible(text, lines=True), stream), file=stream)


def columns() -> int:
    """Return the columns that text for standard output is laid out in."""
    return width_of(_OUTPUT.get())


def answer(result: Any, form: str, text: Callable[[Any, int], str]) -> None:
    """Write a result in one of the forms of `--format`; as a table it is what `text` returns for it and the columns."""
    if form == "json":
        print_json(result.to_json())
    elif form == "table":
        say(text(result, columns()))
    else:
        from verify.reports.display import forms

        say_whole(forms.markdown(result) if form == "markdown" else forms.document(result))


def say_whole(text: str) -> None:
    """Print to standard output what is to be read by a program, or compiled: as it is, on a terminal too."""
    typer.echo(text, file=_OUTPUT.get())


def warn(text: str) -> None:
    """Print a line to standard error, what does not show in it as escapes."""
    with _bar_aside():
        typer.echo(visible(text), err=True)


@contextmanager
def _bar_aside() -> Iterator[None]:
    """Take a progress bar away while a line is printed in its place."""
    bar = _BAR.get()
    shown = bar is not None and bar.live.is_started
    if bar is not None:
        bar.stop()
    try:
        yield
    finally:
        if bar is not None and shown:
            bar.start()


def print_json(body: dict[str, Any]) -> None:
    """Print one JSON object, with `schema` and `version`."""
    from verify.installed import version
    from verify.outcomes import SCHEMA

    say_whole(json.dumps({"schema": SCHEMA, "version": version(), **body}, allow_nan=False))


def fail(message: str, code: int) -> int:
    """Print one line to standard error, and return the exit code."""
    warn("verify: " + " ".join(message.split()))
    return code


@contextmanager
def progress_shown(unit: str = "step") -> Iterator[Callable[[int], None] | None]:
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
def bar_shown(name: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback that shows a progress bar on standard error, on a terminal and after two seconds; else None."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    started = time.monotonic()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task, before = progress.add_task(visible(name), total=None), _BAR.set(progress)
    try:

        def show(done: int, total: int) -> None:
            if time.monotonic() - started > 2:
                progress.start()
                progress.update(task, completed=done, total=total)

        yield show
    finally:
        _BAR.reset(before)
        progress.stop()
