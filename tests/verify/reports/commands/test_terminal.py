"""What a terminal shows, and a pipe does not: wrapped lines, colours."""

import io

import pytest

from verify.reports.commands.terminal import WIDEST, coloured, fitted, for_stream

LONG = "  holds    first: " + "a word " * 30 + "end"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lines_are_wrapped_with_what_goes_on_indented():
    lines = fitted(LONG, 60).split("\n")
    assert all(len(line) <= 60 for line in lines) and len(lines) > 3
    assert lines[0].startswith("  holds    first: a word") and all(line.startswith("      ") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == " ".join(LONG.split())


@pytest.mark.parametrize("text", ["", " " * 90, "short", "a\n\nb", "x" * 300, "  " + "9" * 150])
def test_what_is_short_or_one_word_stays_whole(text):
    assert fitted(text, 60).strip() == text.strip()


def test_a_narrow_terminal_is_no_error():
    assert max(map(len, fitted(LONG, 3).split("\n"))) <= 40


def test_a_status_has_its_colour_and_nothing_else_has():
    text = "  fails    step: it holds\nverified (certified)\n  opening: open\ncounterexample  x=1"
    assert coloured(text) == (
        "  \x1b[31mfails\x1b[0m    step: it holds\n\x1b[32mverified\x1b[0m (certified)\n  opening: open\n"
        "\x1b[31mcounterexample\x1b[0m  x=1"
    )


def test_a_line_that_goes_on_with_the_word_of_a_status_is_not_coloured_there():
    text = "open  there is nothing here that is\nfails  " + "a " * 16 + "proved by anyone"
    lines = fitted(text, 40, colours=True).split("\n")
    assert lines[0].startswith("\x1b[33mopen\x1b[0m") and lines[1].startswith("\x1b[31mfails\x1b[0m")
    assert lines[2:] == ["    proved by anyone"] and fitted(text, 40).split("\n")[2:] == lines[2:]


def test_only_a_terminal_is_written_to_like_that(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    assert for_stream(LONG, io.StringIO()) == LONG == for_stream(LONG, None)
    shown = for_stream(LONG, Terminal())
    assert "\x1b[32mholds\x1b[0m" in shown and max(map(len, shown.split("\n"))) <= WIDEST + 9
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in for_stream(LONG, Terminal()) and "\n" in for_stream(LONG, Terminal())
