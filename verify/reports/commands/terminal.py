"""Text for a terminal: wrapped to its width, with colours and marks if it can show them; in a pipe, unchanged."""

import os
import re
import shutil
from typing import TextIO

from verify.reports.display.layout import WIDTH, wrapped

_GREEN, _RED, _YELLOW, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
_GOOD = ("holds", "verified", "proved", "formal", "reproduced")
_BAD = ("fails", "refuted", "counterexample")
_UNDECIDED = ("needs", "inconclusive", "undecided", "open", "argued")
_COLOURS = {**dict.fromkeys(_GOOD, _GREEN), **dict.fromkeys(_BAD, _RED), **dict.fromkeys(_UNDECIDED, _YELLOW)}
_MARKS = {**dict.fromkeys(_GOOD, "✓"), **dict.fromkeys(_BAD, "✗"), **dict.fromkeys(_UNDECIDED, "?")}
# Continuation lines are indented by six or more columns, so that no word at their beginning is taken for a status.
_STATUS = re.compile(rf"( {{0,4}})({'|'.join(_COLOURS)})(?=[ ;(]|$)")


def width_of(stream: TextIO | None) -> int:
    """Return the number of columns for text on a stream: those of a terminal, at most 100; 100 without a terminal."""
    if stream is None or not stream.isatty():
        return WIDTH
    return min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)


def for_stream(text: str, stream: TextIO | None) -> str:
    """Return text for a stream: wrapped, coloured and marked for a terminal, unchanged for any other stream."""
    if stream is None or not stream.isatty():
        return text
    # https://no-color.org: if NO_COLOR is not empty, no colours are used.
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return shown(text, width_of(stream), colours=not plain, marks=_writes(stream, "✓✗"))


def shown(text: str, width: int, *, colours: bool = False, marks: bool = False) -> str:
    """Return wrapped text; `marks` and `colours` add a mark and a colour to a status at the beginning of a line.

    The mark replaces part of the line's indentation.
    """
    lines = []
    for whole in text.split("\n"):
        first, *more = wrapped(whole, width)
        lines += [_marked(first, colours=colours, marks=marks), *more]
    return "\n".join(lines)


def _marked(line: str, *, colours: bool, marks: bool) -> str:
    if (found := _STATUS.match(line)) is None:
        return line
    indent, status = found.groups()
    if marks and len(indent) >= 2:
        indent = f"{indent[:-2]}{_MARKS[status]} "
    word = f"{_COLOURS[status]}{indent}{status}{_PLAIN}" if colours else f"{indent}{status}"
    return f"{word}{line[found.end() :]}"


def _writes(stream: TextIO, text: str) -> bool:
    """Whether a stream's encoding has the letters of a text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
