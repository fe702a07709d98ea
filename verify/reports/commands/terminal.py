"""Text as a terminal shows it: wrapped, with colours where it has them. In a pipe lines stay whole and plain."""

import os
import re
import shutil
import textwrap
from typing import TextIO

WIDEST = 100
"""Columns to which lines are wrapped where the terminal is wider."""
_NARROWEST = 40
_GREEN, _RED, _YELLOW, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
_COLOURS = {
    **dict.fromkeys(("holds", "verified", "proved", "formal", "reproduced"), _GREEN),
    **dict.fromkeys(("fails", "refuted", "counterexample"), _RED),
    **dict.fromkeys(("needs", "inconclusive", "undecided", "open", "argued"), _YELLOW),
}
_STATUS = re.compile(rf"^( *)({'|'.join(_COLOURS)})(?=[ ;(]|$)", re.MULTILINE)


def for_stream(text: str, stream: TextIO | None) -> str:
    """Return text as it is to be written to a stream: fitted and coloured for a terminal, else as it is."""
    if stream is None or not stream.isatty():
        return text
    width = min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)
    # https://no-color.org: set to anything, it asks for none.
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return fitted(text, width, colours=not plain)


def fitted(text: str, width: int, *, colours: bool = False) -> str:
    """Return text with lines of at most so many columns, at least 40; what goes on is indented by four more.

    With colours a line's status has its own, and a word with which one goes on has none, whatever it is.
    """
    shown = []
    for whole in text.split("\n"):
        first, *more = _wrapped(whole, max(width, _NARROWEST))
        shown += [coloured(first) if colours else first, *more]
    return "\n".join(shown)


def _wrapped(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip()) + 4
    # A word that is longer, such as a number or a path, stays whole, to be copied.
    options = {"break_long_words": False, "break_on_hyphens": False, "drop_whitespace": True}
    return textwrap.wrap(line, width, subsequent_indent=" " * indent, replace_whitespace=False, **options) or [""]


def coloured(text: str) -> str:
    """Return text with the status at the beginning of a line in green, red or yellow."""
    return _STATUS.sub(lambda match: f"{match[1]}{_COLOURS[match[2]]}{match[2]}{_PLAIN}", text)
