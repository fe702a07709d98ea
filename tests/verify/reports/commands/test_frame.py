"""A command is derived from its verb: its arguments and options, and its help."""

import math
from inspect import signature
from typing import Annotated

import pytest
import typer

import verify
from verify.reports.command_line import app
from verify.reports.commands import frame


def tries(
    theorem: "verify.Theorem | str",
    given=None,
    /,
    *,
    seconds: float = 3,
    most: int | None = None,
    quick: bool = False,
    guided: bool = True,
    store: "verify.Store | None" = None,
    tell=None,
    **values,
):
    """Try it.

    Twice,
    at least.

    Parameters
    ----------
    seconds
        Time budget,
        in seconds.
    quick
        Try less.
    most, guided
        Not said of each.

    Returns
    -------
    quick
    """


@pytest.fixture
def command(monkeypatch):
    """Return the verb's command as Typer reads it, and a dict that receives the arguments of its body."""
    monkeypatch.setattr(frame, "app", typer.Typer(add_completion=False))

    def body(over: Annotated[str, typer.Option(help="its own")] = "", **typed):
        """And then."""
        got.update(typed, over=over)

    got = {}
    frame.verb("tries", "mine x=1", tries)(body)
    return typer.main.get_command(frame.app), got


def test_the_options_are_those_that_a_shell_can_give_and_the_commands_own(command):
    made, got = command
    assert made.help == "Try it.\n\nTwice, at least.\n\nAnd then." and "verify tries mine x=1" in made.epilog
    options = {each.opts[0]: (each.default, each.help) for each in made.params if each.param_type_name == "option"}
    said = {"--seconds": (3, "time budget, in seconds"), "--most": (None, ""), "--quick": (False, "try less")}
    assert options == said | {"--over": ("", "its own")}
    made(["mine", "x=1", "y=2", "--most", "4", "--over", "z"], standalone_mode=False)
    asked = {"theorem": "mine", "given": {"x": "1", "y": "2"}, "seconds": 3, "most": 4, "quick": False}
    assert got == asked | {"over": "z"}


@pytest.mark.parametrize("words", [["--over", "-a<b"], ["--over=-a<b"]])
def test_a_statement_that_begins_with_a_minus_sign_is_no_option(command, words):
    made, got = command
    for statement in ("-x**2 <= 0", "--x>0", "-x==y"):
        made([*words, statement, "x=1", "--most", "4", "y=2", "--quick"], standalone_mode=False)
        asked = {"theorem": statement, "given": {"x": "1", "y": "2"}, "seconds": 3, "most": 4, "quick": True}
        assert got == asked | {"over": "-a<b"}
    made(["--most", "4", "--", "-x < 1", "y=2"], standalone_mode=False)
    assert (got["theorem"], got["given"], got["most"]) == ("-x < 1", {"y": "2"}, 4)


@pytest.mark.parametrize(("words", "said"), [(["--seconds", "0"], "seconds = 0"), (["x"], "must have the form name=v")])
def test_invalid_arguments_are_refused_before_the_command_runs(command, words, said):
    with pytest.raises(verify.InputError, match=said):
        command[0](["mine", *words], standalone_mode=False)
    assert not command[1]


def test_a_commands_own_options_have_the_verbs_defaults():
    compared = []
    for name, each in typer.main.get_command(app).commands.items():
        function = getattr(verify, {"list": "list_theorems", "language": "list_language"}.get(name, name), None)
        for option in each.params if function else ():
            assert option.help or option.param_type_name == "argument", (name, option.name)
            known = signature(function).parameters.get(option.name)
            if known and option.param_type_name == "option":
                compared.append(name)
                # For a repeatable option Typer has None instead of an empty list, and a path may be text in Python.
                assert str(option.default or "") == str(known.default or ""), (name, option.name)
    assert len(set(compared)) > 8


@pytest.mark.parametrize(
    ("estimated", "left", "text"),
    [(None, math.inf, "-:--:--"), (61.2, math.inf, "0:01:02"), (61.2, 30.0, "0:00:30"), (None, 7.5, "0:00:08")],
)
def test_the_remaining_time_is_no_more_than_what_is_left(estimated, left, text):
    assert frame.remaining_text(estimated, left) == text
