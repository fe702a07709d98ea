"""The command line: `verify VERB …`, the same as `python -m verify VERB …`.

A verb's modules are imported when the verb is called, so that the help loads neither SymPy nor other heavy modules.
"""

import gc
import io
import re
import sys
from contextlib import suppress
from itertools import pairwise

import typer

from verify.errors import InputError, OutOfTimeError, TheoremError, explained, is_contradiction
from verify.installed import lacked_by

# Importing these modules registers the commands, in the order of the help.
# isort: off
from verify.reports.commands import theorems, runs, files, completion  # noqa: F401

# isort: on
from verify.reports.commands.frame import INPUT_ERROR, INTERNAL_ERROR, INTERRUPTED, app, fail
from verify.shown import visible

_NO_NUMBER = re.compile(r"Input should be a valid (number|integer), unable to parse.*")
_OF_A_FILE = re.compile(r"\.py(:[^:]*)?$")
"""The end of a reference to a user's own theorem, `FILE.py` or `FILE.py:NAME`."""
_KINDS = {"number": "must be a number", "integer": "must be an integer"}


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code; every error is one line on standard error."""
    # SymPy makes many objects and few cycles, so garbage is collected more rarely.
    gc.set_threshold(100_000)
    try:
        code = typer.main.get_command(app)(arguments, prog_name="verify", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except typer.Exit as stop:
        return stop.exit_code
    except typer.TyperException as error:
        return fail(_shown(_plain(error.format_message(), arguments), arguments) or "see verify --help", INPUT_ERROR)
    except (InputError, TheoremError) as error:
        return fail(str(error), INPUT_ERROR)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):
            # Typer ends the program, because the reader of the output, such as `head`, has closed it.
            return INTERRUPTED
        return fail(f"theorem: its code ended the program: SystemExit: {stop.code}", INPUT_ERROR)
    except (KeyboardInterrupt, typer.Abort):
        return fail("interrupted", INTERRUPTED)
    except (Exception, OutOfTimeError) as error:
        return _unforeseen(error, arguments)


def _unforeseen(error: BaseException, arguments: list[str]) -> int:
    """Report an error that no command is expected to raise, and return the exit code."""
    if lacking := lacked_by(error):
        return fail(f"this {lacking}", INPUT_ERROR)
    said = f"{type(error).__name__}: {error}"
    if is_contradiction(error):
        said = explained(error)
        if any(map(_OF_A_FILE.search, arguments)):
            return fail(f"theorem: {said}", INPUT_ERROR)
    return fail(f"internal error, please report it: {said}", INTERNAL_ERROR)


def _shown(message: str, arguments: list[str]) -> str:
    """Return a message of the parser with the unprintable characters of the arguments made visible."""
    for word in arguments:
        message = message.replace(word, visible(word)) if not word.isprintable() else message
    return message


def _plain(message: str, arguments: list[str]) -> str:
    """Return a message of the parser in plain words, with the refused value or a remedy if one is known."""
    verb = arguments[0] if arguments else ""
    if extra := re.fullmatch(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", message):
        if verb == "list":
            return f"list takes options only: write verify list --paper {extra[1]}"
        if "=" in extra[1]:
            return f"{verb} takes no values, as its answer covers all of them: leave out {extra[1]}"
    if option := re.match(r"No such option: (--?([A-Za-z_]\w*))", message):
        after = [b for a, b in pairwise(arguments) if a == option[1]]
        after += [word.partition("=")[2] for word in arguments if word.startswith(f"{option[1]}=")]
        unlike = message == option[0] and after[:1] != [""]
        # A refused command does not run the code of a user's file.
        named = len(arguments) > 1 and not _OF_A_FILE.search(arguments[1]) and option[2] in _parameters(arguments[1])
        if after and (unlike or named):
            return f"{option[0]}; the value of a parameter is written {option[2]}={after[0]}"
    return _NO_NUMBER.sub(lambda found: _KINDS[found[1]], _with_value(message, arguments))


def _parameters(theorem: str) -> list[str]:
    """Return the names of a theorem's parameters; none if the theorem is not found."""
    from verify.checking.theorem import load_theorem

    with suppress(InputError, TheoremError):
        return [parameter.name for parameter in load_theorem(theorem).statement.parameters]
    return []


def _with_value(message: str, arguments: list[str]) -> str:
    """Return a message of the parser with the value of the option that it refuses."""
    option = re.search(r"Invalid value for '(--[a-z-]+)'", message)
    if option is None or option[1] not in arguments[:-1]:
        return message
    value = arguments[arguments.index(option[1]) + 1]
    return message.replace(option[0], f"{option[1]} = {value}")


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # If the encoding lacks a letter such as η, show the letter's code instead of failing.
            stream.reconfigure(errors="backslashreplace")
    if sys.argv[1:2] == [completion.CALL]:
        # A shell asks for completions while a line is typed: errors are not reported.
        print("\n".join(map(visible, completion.complete(" ".join(sys.argv[2:])))))  # noqa: T201
        sys.exit(0)
    sys.exit(run(sys.argv[1:]))
