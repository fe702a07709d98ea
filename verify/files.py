"""Files that are written whole or not at all, and the sources of a package."""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

NAME = re.compile(r"[\w.-]+")
"""What an id or a label is to be, where it is part of a file's name."""
FOLDER = Path(".lemmascope")
"""Where the command line keeps what it found, in the working directory."""


def part_of(path: Path) -> Path:
    """Return where a file is written before it takes its place; what a killed process left there is overwritten."""
    return path.with_name(path.name + ".part")


@contextlib.contextmanager
def whole(path: Path, *, shared: bool = False) -> Iterator[Path]:
    """Yield a path beside another, which it becomes where nothing is raised: nobody reads half a file.

    A file that is `shared` may be written by several processes at once, each beside it under a name of its own.
    """
    part = part_of(path.with_name(f"{path.name}.{os.getpid()}") if shared else path)
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
        part.write_text(text, encoding="utf-8", newline="\n")


def sources(package: str) -> Iterator[tuple[str, Path]]:
    """Yield the Python files of a package, or of a module, by their path in it; none where they are not to be found."""
    loaded = sys.modules.get(package)
    spec = getattr(loaded, "__spec__", None) or (None if package == "__main__" else find_spec(package))
    file = spec.origin if spec else getattr(loaded, "__file__", None)
    # A folder that is on the path twice is a namespace package's twice.
    folders = sorted({Path(folder).resolve() for folder in spec.submodule_search_locations or ()}) if spec else []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            yield path.relative_to(folder).as_posix(), path
    if not folders and file and Path(file).is_file():
        yield Path(file).name, Path(file)
