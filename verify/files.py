"""Files that are written whole or not at all, and the sources of a package."""

import contextlib
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from verify.errors import InputError

NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", re.ASCII)
"""The requirement on an id or a label that is part of a file's name."""
_LONGEST_NAME = 100
"""Characters of such an id or label."""
_OWN_PART = 150
"""Characters of a file's name that the name beside it, under which it is written, begins with."""
_LONGEST_READ = 64_000_000
"""Bytes of a file that are read to see whether it is ours: more than any of ours has."""
FOLDER = Path(".lemmascope")
"""Where the command line keeps what it found, in the working directory."""


def name_in_file(what: str, text: str) -> str:
    """Return an id, label or value as a part of a file's name: the one check that it leads to no other folder.

    Raises InputError for one that is not of ASCII letters, digits, `_` and `-`, joined by dots, or that is too long.
    """
    if len(text) > _LONGEST_NAME or not NAME.fullmatch(text):
        shown = text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
        why = "cannot be part of a file's name: it must be letters, digits, _ and -, joined by dots, "
        raise InputError(what, repr(shown), f"{why}{_LONGEST_NAME} characters at most")
    return text


def parts_of(path: Path) -> list[Path]:
    """Return what processes that were killed left of a file that they were writing."""
    beside = re.compile(re.escape(path.name[:_OWN_PART]) + r"\.[0-9a-f]{16}\.part")
    return sorted(each for each in path.parent.glob("*.part") if beside.fullmatch(each.name))


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a new file beside a path, which becomes that where nothing is raised: nobody reads half a file.

    Its name is drawn, and it is made where nothing is, a link included, so that several processes may write at once and
    nothing else is written to. Raises OSError.
    """
    part = path.with_name(f"{path.name[:_OWN_PART]}.{secrets.token_hex(8)}.part")
    part.open("xb").close()
    try:
        yield part
        part.replace(path)
    finally:
        # Moved or half written, it is never left behind, not even after Ctrl-C.
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def replaceable(path: Path, is_ours: Callable[[bytes], bool]) -> bool:
    """Whether nothing is lost where a file is written: there is none, or an empty one, or one that is ours.

    A folder, a device or a link that leads nowhere is not. Raises OSError for what cannot be read.
    """
    if not os.path.lexists(path):
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        content = file.read(_LONGEST_READ)
    return not content or is_ours(content)


def free_file(option: str, name: str, what: str, is_ours: Callable[[bytes], bool]) -> Path:
    """Return the path of a file that can be written to; to be asked before anything is computed.

    Raises InputError for an empty name, a folder, what is no file, a file that is there and is not `what` is written,
    and where its folder is missing or not writable.
    """
    path = Path(name)
    if not name.strip():
        raise InputError(option, repr(name), "must name a file")
    try:
        mode, folder = path.stat().st_mode if path.exists() else None, path.resolve().parent
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(option, name, f"cannot be written: {error}") from error
    if mode is not None and not stat.S_ISREG(mode):
        raise InputError(option, name, f"must name a file: it is {'a folder' if stat.S_ISDIR(mode) else 'none'}")
    try:
        lost = not replaceable(path, is_ours)
    except OSError as error:
        raise InputError(option, name, f"exists and cannot be read: {error.strerror}") from error
    if lost:
        raise InputError(option, name, f"exists and is not {what}; not overwritten")
    if not folder.is_dir():
        raise InputError(option, name, f"cannot be written: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(option, name, f"the folder {folder} cannot be written to")
    return path


def json_object(content: bytes) -> dict[str, Any]:
    """Return the JSON object that a file's content is, an empty one for anything else."""
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def write_whole(path: Path, text: str) -> None:
    """Write a text file. Raises OSError."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_ours(folder: Path, files: Mapping[str, str], mark: str, what: str) -> list[Path]:
    """Write files into a folder, in place of what begins with a mark. Raises InputError where one there does not."""
    paths = [folder / name for name in files]
    try:
        for path in paths:
            if not replaceable(path, lambda content: content.startswith(mark.encode())):
                raise InputError("--out", path, f"exists and is not {what}; not overwritten")
        for path in paths:
            write_whole(path, files[path.name])
    except OSError as error:
        raise InputError("--out", folder, f"cannot be written: {error.strerror}") from error
    return paths


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
