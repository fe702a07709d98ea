"""The few pieces of Markdown that generated pages are made of."""

import re
from collections.abc import Iterable, Sequence
from inspect import cleandoc

_SPECIAL = re.compile(r"[\\`*_\[\]#|~$<>]")
_CODE = re.compile(r"(`[^`]+`)")


def plain(text: str) -> str:
    """Return text that Markdown shows as it is, in one line; text between backticks is code."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(
        part.replace("|", r"\|") if i % 2 else _SPECIAL.sub(r"\\\g<0>", part) for i, part in enumerate(parts)
    )


def code(text: str) -> str:
    """Return text as code within a line."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}".replace("|", r"\|")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(cell.replace(chr(10), ' ') for cell in row)} |" for row in rows]
    return "\n".join(lines)


def first_paragraph(documentation: str | None) -> str:
    """Return the first paragraph of a docstring."""
    return cleandoc(documentation or "").split("\n\n")[0]
