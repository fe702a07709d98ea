"""Atomic writing of files, and the source files of a package."""

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
"""The form of an id or a label that is part of a file's name."""
_LONGEST_NAME = 100
"""Maximum length of such an id or label, in characters."""
_OWN_PART = 150
"""Maximum number of characters of the final name with which a temporary file's name begins."""
_LONGEST_READ = 64_000_000
"""Maximum number of bytes that are read to decide whether this program wrote a file; none of its files is longer."""
FOLDER = Path(".lemmascope")
"""The folder, in the working directory, of the command line's stored results."""


def name_in_file(what: str, text: str) -> str:
    """Return an id, label or value if it may be part of a file's name; it then cannot lead to another folder.

    Raises InputError for a text that is too long, or whose dot-separated parts are not all made of ASCII letters,
    digits, `_` and `-`.
    """
    if len(text) > _LONGEST_NAME or not NAME.fullmatch(text):
        shown = text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
        why = "cannot be part of a file's name: it must be letters, digits, _ and -, joined by dots, "
        raise InputError(what, repr(shown), f"{why}{_LONGEST_NAME} characters at most")
    return text


def parts_of(path: Path) -> list[Path]:
    """Return the temporary files that killed processes left beside a file that they were writing."""
    beside = re.compile(re.escape(path.name[:_OWN_PART]) + r"\.[0-9a-f]{16}\.part")
    return sorted(each for each in path.parent.glob("*.part") if beside.fullmatch(each.name))


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside a path, and move it to the path if nothing is raised.

    So no reader sees half a file. The temporary file's name is random, and must be unused, so that several processes
    may write at once, and no other file is overwritten. Raises OSError.
    """
    part = path.with_name(f"{path.name[:_OWN_PART]}.{secrets.token_hex(8)}.part")
    part.open("xb").close()
    try:
        yield part
        part.replace(path)
    finally:
        # Remove the temporary file if it was not moved, also after Ctrl-C.
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def replaceable(path: Path, is_ours: Callable[[bytes], bool]) -> bool:
    """Whether a path may be written to without loss: there is no file, or it is empty, or `is_ours(content)`.

    False for a folder, a device and a broken link. Raises OSError for a file that cannot be read.
    """
    if not os.path.lexists(path):
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        content = file.read(_LONGEST_READ)
    return not content or is_ours(content)


def free_file(option: str, name: str, what: str, is_ours: Callable[[bytes], bool]) -> Path:
    """Return the path of a file that can be written to; call this before anything is computed.

    Raises InputError for an empty name, a folder, a device, a file that is unreadable or of another kind than `what`,
    and if the file's folder is missing or not writable.
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
    """Return the JSON object of a file's content; an empty object if the content is anything else."""
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
    """Write files into a folder; an existing file is replaced only if it is empty or begins with `mark`.

    Raises InputError for any other existing file, before anything is written, and for a folder that cannot be written
    to.
    """
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
    """Yield each Python file of a package or module, as relative path and path; nothing if none is found."""
    loaded = sys.modules.get(package)
    spec = getattr(loaded, "__spec__", None) or (None if package == "__main__" else find_spec(package))
    file = spec.origin if spec else getattr(loaded, "__file__", None)
    # A namespace package lists a folder twice if it is on the path twice.
    folders = sorted({Path(folder).resolve() for folder in spec.submodule_search_locations or ()}) if spec else []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            yield path.relative_to(folder).as_posix(), path
    if not folders and file and Path(file).is_file():
        yield Path(file).name, Path(file)
