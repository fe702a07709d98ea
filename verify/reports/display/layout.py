"""Text laid out in columns: lines wrapped with an indent, and tables of limited width."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from verify.shown import visible

WIDTH = 100
"""Number of columns in which text is laid out, unless the terminal has fewer."""
_NARROWEST = 40
_HANGING = 6
_GAP = 2
_LEAST = 20
"""Minimum number of columns for a table's text and for its notes, even if the table then exceeds its width."""


def fitted(lines: Iterable[str], width: int = WIDTH) -> str:
    """Return lines as text wrapped to `width` columns, at least 40; continuation lines are indented by six more.

    Invisible characters, including line breaks, are written as `visible` writes them.
    """
    return "\n".join(part for line in lines for part in wrapped(visible(line), width))


def wrapped(line: str, width: int = WIDTH) -> list[str]:
    """Return the parts of a line wrapped as in `fitted`; an overlong word stays whole, so that it can be copied."""
    width = max(width, _NARROWEST)
    if len(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip()) + _HANGING
    return textwrap.wrap(line, width, subsequent_indent=" " * indent, **_OPTIONS) or [""]


_OPTIONS = {"break_long_words": False, "break_on_hyphens": False, "drop_whitespace": True, "replace_whitespace": False}


def stated_table(
    title: str, beside: str, rows: Iterable[Sequence[str]], width: int = WIDTH, indent: int = 2
) -> Iterator[str]:
    """Yield a table: rows of some short cells, a text that is wrapped, and a note beside the text.

    Parameters
    ----------
    title, beside
        The heading of the table, and the heading above the notes.
    rows
        Rows of cells; the last two cells are the text and its note. A text without a note takes the note's room too.
    width
        Number of columns of the whole table.
    indent
        Number of columns before a row.
    """
    rows = [tuple(map(visible, row)) for row in rows]
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 2)]
    start = indent + sum(column + _GAP for column in wide)
    note = max(len(row[-1]) for row in rows)
    # At most half of the room is reserved for the notes; they also take the room that the texts leave.
    headed = min(max(note, len(beside)), (width - start) // 2) if note else 0
    noted = max((len(row[-2]) for row in rows if row[-1]), default=0)
    most = max(width - start - headed - _GAP, _LEAST)
    text = min(noted, most)
    yield f"{title.ljust(start + text + _GAP)}{beside}" if note and beside else title
    for row in rows:
        cells = _GAP * " "
        first = " " * indent + "".join(cell.ljust(column) + cells for cell, column in zip(row, wide, strict=False))
        room = text if row[-1] else max(width - start, _LEAST)
        said = textwrap.wrap(row[-2], room, **_OPTIONS) or [""]
        notes = textwrap.wrap(row[-1], max(width - start - text - _GAP, _LEAST), **_OPTIONS) or [""]
        for number, (part, right) in enumerate(zip_longest(said, notes, fillvalue="")):
            left = " " * start if number else first
            yield f"{left}{part.ljust(text) + cells if right else part}{right}".rstrip()
