"""Files that are written whole or not at all."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

NAME = re.compile(r"[\w.-]+")
"""What an id or a label is to be, where it is part of a file's name."""


def part_of(path: Path) -> Path:
    """Return where a file is written before it takes its place; what a killed process left there is overwritten."""
    return path.with_name(path.name + ".part")


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a path beside another, which it becomes where nothing is raised: nobody reads half a file."""
    part = part_of(path)
    try:
        yield part
        part.replace(path)
    finally:
        # Moved or half written, it is never left behind, not even after Ctrl-C.
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file. Raises OSError."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8")
