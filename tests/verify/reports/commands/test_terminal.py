"""Output on a terminal that a pipe does not get: wrapped lines, colours."""

import io
import re

import pytest

from verify.reports.commands.terminal import for_stream, shown, width_of
from verify.reports.display.layout import WIDTH, fitted

LONG = "  holds    first: " + "a word " * 30 + "end"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lines_are_wrapped_with_what_goes_on_indented():
    lines = fitted([LONG], 60).split("\n")
    assert all(len(line) <= 60 for line in lines) and len(lines) > 3
    assert lines[0].startswith("  holds    first: a word") and all(line.startswith("      ") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == " ".join(LONG.split())


@pytest.mark.parametrize("text", ["", " " * 90, "short", "a\n\nb", "x" * 300, "  " + "9" * 150])
def test_short_lines_and_single_words_stay_whole(text):
    assert fitted(text.split("\n"), 60).strip() == text.strip()


def test_a_narrow_terminal_is_no_error():
    assert max(map(len, fitted([LONG], 3).split("\n"))) <= 40


def test_a_status_has_its_colour_and_mark_and_nothing_else_has():
    text = "  fails    step: it holds\nverified (certified)\n  opening: open\n  counterexample  x=1"
    assert shown(text, 100, colours=True) == (
        "\x1b[31m  fails\x1b[0m    step: it holds\n\x1b[32mverified\x1b[0m (certified)\n  opening: open\n"
        "\x1b[31m  counterexample\x1b[0m  x=1"
    )
    assert shown(text, 100, marks=True) == (
        "✗ fails    step: it holds\nverified (certified)\n  opening: open\n✗ counterexample  x=1"
    )
    assert shown(text, 100) == text


def test_a_line_that_goes_on_with_the_word_of_a_status_is_not_coloured_there():
    text = "open  there is nothing here that is\nfails  " + "a " * 16 + "proved by anyone"
    lines = shown(text, 40, colours=True, marks=True).split("\n")
    assert lines[0].startswith("\x1b[33mopen\x1b[0m") and lines[1].startswith("\x1b[31mfails\x1b[0m")
    assert lines[2:] == ["      proved by anyone"] and fitted(text.split("\n"), 40).split("\n")[2:] == lines[2:]


def test_text_that_was_laid_out_before_is_coloured_alike():
    text = fitted(["  step_size: eta <= 1/500; holds up to 36/25, argued by another theorem", "    proved  it"], 50)
    assert "\n        argued by" in text and "argued" not in _coloured(shown(text, 50, colours=True, marks=True))
    assert shown(text, 50, marks=True).endswith("\n  ✓ proved  it")


def _coloured(text):
    return re.findall(r"\x1b\[3.m *(?:[✓✗?] )?(\w+)", text)


def test_only_a_terminal_is_written_to_like_that(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    assert for_stream(LONG, io.StringIO()) == LONG == for_stream(LONG, None)
    said = for_stream(LONG, Terminal())
    assert "\x1b[32m  holds\x1b[0m" in said and max(map(len, said.split("\n"))) <= WIDTH + 9
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in for_stream(LONG, Terminal()) and "\n" in for_stream(LONG, Terminal())


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", "✓ holds"), ("ascii", "  holds"), (None, "  holds")])
def test_marks_are_written_where_the_encoding_has_them(monkeypatch, encoding, mark):
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    monkeypatch.setattr(Terminal, "encoding", encoding, raising=False)
    assert for_stream("  holds    x", terminal) == f"{mark}    x"


def test_the_width_is_that_of_the_terminal_up_to_a_hundred(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert width_of(Terminal()) == 60 and width_of(io.StringIO()) == width_of(None) == WIDTH == 100
    monkeypatch.setenv("COLUMNS", "300")
    assert width_of(Terminal()) == 100
