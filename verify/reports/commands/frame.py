"""The common part of the commands: their derivation from the verbs, their output, and their progress bars.

A verb's signature and docstring are written once, for Python and for a shell. A parameter becomes an option if its
value is a number, a word, or a switch that is off by default. The help of an option is the parameter's text in the
docstring's `Parameters`, and the help of a command begins as the docstring does.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from datetime import timedelta
from inspect import Parameter, Signature, getdoc, signature
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_args, get_origin

import typer
from typer.core import TyperCommand

from verify.budget import EFFORTS, require_effort
from verify.errors import InputError
from verify.reports.commands.terminal import for_stream, width_of
from verify.shown import visible

if TYPE_CHECKING:
    from rich.progress import Progress

Command = Callable[..., None]

INPUT_ERROR = 2
INCONCLUSIVE = 3
INTERNAL_ERROR = 70
INTERRUPTED = 130

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Verify theorems of machine-learning theory: hypotheses, claims, derivations. "
    "Exit codes: 0 verified or done, 1 refuted, 2 input not understood, 3 inconclusive, 4 out of scope, "
    "70 internal error, 130 interrupted.",
)

_NAMED = "an id, or file.py:name, whose code is run"
_ASSIGNMENTS = Annotated[list[str] | None, typer.Argument(metavar="[name=value ...]", show_default=False)]
_BY_PLACE: Mapping[str, Any] = {
    "theorem": Annotated[str, typer.Argument(metavar="THEOREM", help=f"a statement in a line, {_NAMED}")],
    "experiment": Annotated[str, typer.Argument(metavar="EXPERIMENT", help=_NAMED)],
    "given": _ASSIGNMENTS,
    "settings": _ASSIGNMENTS,
}
"""The positional arguments of the commands, by the name of the verb's parameter."""
_ALWAYS = "keep"
"""A parameter that is no option: the commands always pass True, while the default in Python is False."""
_METAVARS = {
    "device": "auto|cpu|cuda",
    "kind": "inequality|identity|recursion|argument",
    "recheck": "K",
    "scheduler": "ADDRESS",
    "to": "rocq|latex",
}
"""Placeholders for the values of options in the help, if the value's type says too little."""
_DESCRIPTION = re.compile(r"^(\w+)\n((?: {4}.+\n?)+)", re.MULTILINE)
"""A parameter's name in a docstring, and its indented description."""
_NEGATIVE = re.compile(r"-(?!-[\w-]+=(?!=)).*(<|>|==)", re.DOTALL)
"""A word that begins with a minus sign, contains a sign of comparison, and is not an option `--name=value`."""

OverGrids = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=START:STOP:COUNT[:log]", help="a grid including both ends, or NAME=v1,v2,…", show_default=False
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="table|json|markdown|latex",
        help="output format; latex is a complete document, and --json is short for json",
    ),
]
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


_FIRST = """verify theorems of machine-learning theory: the commands to begin with

  verify list                        the theorems, and what establishes each
  verify show THEOREM                what a theorem says
  verify check THEOREM NAME=VALUE …  whether it holds at an instance
  verify explore THEOREM             a search for a counterexample
  verify prove THEOREM               a proof for all parameters

THEOREM is an id, a statement such as "2*x*y <= x**2 + y**2", or a file of your own, which `verify new FILE` begins.
verify --help has the other commands."""


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="print the version and exit")
    ] = False,
) -> None:
    """Take the options before a verb; without a verb, print the commands for a beginner."""
    if context.invoked_subcommand is None:
        typer.echo(_FIRST)


class _Command(TyperCommand):
    """A command that reads a word such as `-x <= 0` as a statement, and not as options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command, with the options first if one is a statement that begins with -."""
        if any(map(_NEGATIVE.match, args)):
            valued = [each for each in self.params if not getattr(each, "is_flag", True)]
            args = _options_first(args, {name for option in valued for name in option.opts})
        return super().parse_args(ctx, args)


def _options_first(words: list[str], with_value: Collection[str]) -> list[str]:
    """Return words with the options first, and the other words in their order after `--`."""
    options, others, rest = list[str](), list[str](), iter(words)
    for word in rest:
        if word == "--":
            others += rest
        elif not word.startswith("-") or _NEGATIVE.match(word):
            others.append(word)
        else:
            options += [word, *islice(rest, int(word in with_value))]
    # An option without its value would take `--` as its value.
    return options if options and options[-1] in with_value else [*options, "--", *others]


def verb(name: str, example: str, function: Callable[..., Any] = lambda: None) -> Callable[[Command], Command]:
    """Register the command of a verb, with an example for its help.

    The decorated function is called with the typed values, all by keyword. Its parameters with annotations for Typer
    replace the verb's parameters of the same name, or follow them; its docstring follows the verb's in the help. While
    it runs, text that a theorem's code prints goes to standard error; only our own text goes to standard output.
    """

    def register(body: Command) -> Command:
        parameters = list(_parameters(function, body))

        def command(**typed: Any) -> None:
            require_effort(**{each: typed[each] for each in EFFORTS if each in typed})
            values = {each: _assigned(typed[each]) for each in typed if _BY_PLACE.get(each) is _ASSIGNMENTS}
            before = _OUTPUT.set(sys.stdout)
            try:
                with redirect_stdout(sys.stderr):
                    body(**typed | values)
            finally:
                _OUTPUT.reset(before)

        # Typer reads the signature for the order, and the annotations for the types.
        vars(command)["__signature__"] = Signature(parameters)
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        said = "\n\n".join(filter(None, (_prose(function), _prose(body))))
        app.command(name, cls=_Command, help=said, epilog=f"Example: verify {name} {example}".rstrip())(command)
        return body

    return register


def _parameters(function: Callable[..., Any], body: Command) -> Iterator[Parameter]:
    """Yield a command's parameters for Typer: the verb's parameters that can be typed, and the command's own."""
    own = {n: p for n, p in signature(body).parameters.items() if get_origin(p.annotation) is Annotated}
    helps = {n: " ".join(text.split()).removesuffix(".") for n, text in _DESCRIPTION.findall(getdoc(function) or "")}
    for name, parameter in {**signature(function).parameters, **own}.items():
        kinds = {*get_args(parameter.annotation)} or {parameter.annotation}
        if name in own:
            typed = parameter.annotation
        elif name in _BY_PLACE:
            typed = _BY_PLACE[name]
        elif kinds <= {bool, float, int, str, type(None)} and parameter.default is not True and name != _ALWAYS:
            said = helps.get(name, "")
            option = typer.Option(
                f"--{name.replace('_', '-')}", metavar=_METAVARS.get(name), help=said[:1].lower() + said[1:]
            )
            typed = Annotated[parameter.annotation, option]
        else:
            # A parameter for Python only, such as a callback.
            continue
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=typed)


def _prose(function: Callable[..., Any]) -> str:
    """Return a docstring up to its sections, each paragraph on one line, because the help keeps line breaks."""
    said = re.split(r"\n\n(?:Parameters|Returns)\n", getdoc(function) or "")[0]
    return "\n\n".join(" ".join(part.split()) for part in said.split("\n\n"))


def _assigned(words: list[str] | None) -> dict[str, str]:
    """Return the values that `name=value` words assign. Raises InputError."""
    from verify.language.parameters import read_assignments

    return read_assignments(words or [])


def form_of(form: str, *, as_json: bool, plain: str = "table") -> str:
    """Return the requested output format; `--json` means the format `json`. Raises InputError."""
    known = (plain, "json", "markdown", "latex")
    if form not in known:
        raise InputError("--format", form, f"must be one of {', '.join(known)}")
    if as_json and form not in (plain, "json"):
        raise InputError("--format", form, "cannot be combined with --json, which is short for --format json")
    return "json" if as_json else form


def say(text: str) -> None:
    """Print lines to standard output, wrapped and coloured on a terminal; invisible characters as escapes."""
    stream = _OUTPUT.get()
    with _bar_aside():
        typer.echo(for_stream(visible(text, lines=True), stream), file=stream)


def columns() -> int:
    """Return the number of columns for text on standard output."""
    return width_of(_OUTPUT.get())


def answer(result: Any, form: str) -> None:
    """Write a result in one of the forms of `--format`."""
    from verify.reports.display import forms

    if form == "json":
        print_json(result.to_json())
    elif form == "table":
        say(forms.text(result, columns()))
    else:
        say_whole(forms.markdown(result) if form == "markdown" else forms.document(result))


def say_whole(text: str) -> None:
    """Print a text for a program or a compiler to standard output, unchanged even on a terminal."""
    typer.echo(text, file=_OUTPUT.get())


def warn(text: str) -> None:
    """Print a line to standard error, invisible characters as escapes."""
    with _bar_aside():
        typer.echo(visible(text), err=True)


@contextmanager
def _bar_aside() -> Iterator[None]:
    """Remove a progress bar while a line is printed in its place."""
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
def progress_shown(
    unit: str = "step", most: int | None = None, seconds: float = math.inf
) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback that shows a count after two seconds; None if standard error is not a terminal.

    `most` is the largest count, None if it is unknown. The remaining time is shown as in `bar_shown`.
    """
    with bar_shown(unit, seconds) as tell:
        yield None if tell is None else lambda count: tell(count if most is None else min(count, most), most)


@contextmanager
def bar_shown(name: str, seconds: float = math.inf) -> Iterator[Callable[[int, int | None], None] | None]:
    """Yield a callback that shows a progress bar after two seconds; None if standard error is not a terminal.

    The callback takes the number done and the total, which is None if it is unknown. The remaining time is estimated
    from the pace so far, and is at most the time left of `seconds`.
    """
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    started = time.monotonic()

    class Remaining(ProgressColumn):
        def render(self, task: Task) -> Text:
            left = max(0.0, started + seconds - time.monotonic())
            return Text(remaining_text(task.time_remaining, left), style="progress.remaining")

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), Remaining())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task, before = progress.add_task(visible(name), total=None), _BAR.set(progress)
    try:

        def show(done: int, total: int | None) -> None:
            if time.monotonic() - started > 2:
                progress.start()
                progress.update(task, completed=done, total=total)

        yield show
    finally:
        _BAR.reset(before)
        progress.stop()


def remaining_text(estimated: float | None, left: float) -> str:
    """Return the remaining time as text: `estimated`, None if unknown, but at most `left`; both are in seconds."""
    remaining = min(math.inf if estimated is None else estimated, left)
    return "-:--:--" if remaining == math.inf else str(timedelta(seconds=math.ceil(remaining)))
