"""A cache of results, in the files of a folder `remembered`.

`HERE` keeps its files in `.lemmascope` of the working directory. `USER` keeps them in the folder that the environment
variable LEMMASCOPE_CACHE names or, if it is not set, in `lemmascope` of the user's cache folder. If the variable is
empty, `USER` keeps nothing.

Each file contains the digest of the sources of its result, and is used only for these sources. A file that is damaged,
or that came with a copied folder or from another machine, is ignored. A file forged in place is not detected. So the
folder of `USER` is not used if another user owns it or may write in it, on systems that report owners and permissions.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verify import files
from verify.errors import InputError

_LONGEST = 10_000_000
"""Maximum size of a file that is recalled, in bytes."""
_MOST = 1000
"""Maximum number of files kept for a user; the least recently used are removed."""


def digest_of(*parts: bytes) -> str:
    """Return a digest of the sources of a result, in their order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}\n".encode() + part)
    return digest.hexdigest()


def make_folder() -> None:
    """Make the folder `.lemmascope`, without which `HERE` remembers nothing; do nothing if it cannot be made."""
    with suppress(OSError):
        files.FOLDER.mkdir(exist_ok=True)


@dataclass(frozen=True)
class Memory:
    """A cache in the folder that `place(make)` returns; at most `most` files are kept, or all if `most` is None.

    `place(True)` makes the folder. An OSError of `place` means that there is no folder to use.
    """

    place: Callable[[bool], Path]
    most: int | None = None

    def knows(self, name: str) -> bool:
        """Whether there is a file for a name, with any digest of its sources."""
        path = self._path(name)
        with suppress(OSError):
            return path is not None and path.is_file()
        return False

    def recall(self, name: str, digest: str) -> Any:
        """Return the value remembered under a name with the digest of its sources, or None if there is none.

        `name` must be usable as a file name. The value is JSON data, and never None.
        """
        path = self._path(name)
        if path is None:
            return None
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            with path.open("rb") as file:
                kept = json.loads(file.read(_LONGEST))
            if kept["of"] == digest and kept["seal"] == _seal(path, digest, kept["found"]):
                with suppress(OSError):
                    # Mark the file as used, so that it is kept.
                    os.utime(path)
                return kept["found"]
        return None

    def _path(self, name: str) -> Path | None:
        """Return the path of a name's file; None without a folder."""
        with suppress(OSError):
            return self.place(False) / f"{name}.json"
        return None

    def remember(self, name: str, digest: str, found: Any) -> None:
        """Keep a result under a name, in place of any earlier one; do nothing if it cannot be written."""
        with suppress(OSError):
            path = self.place(True) / f"{name}.json"
            kept = {"of": digest, "found": found, "seal": _seal(path, digest, found)}
            with files.whole(path) as part:
                part.write_text(json.dumps(kept, allow_nan=False), encoding="utf-8", newline="\n")
            if self.most is not None:
                _keep_newest(path.parent, self.most)


def _keep_newest(folder: Path, most: int) -> None:
    """Remove all but the `most` most recently used files; temporary files of killed processes are counted too."""
    for old in sorted(folder.iterdir(), key=_used)[:-most]:
        with suppress(OSError):
            old.unlink()


def _used(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        # Another process has removed it.
        return 0


def _of_the_directory(make: bool) -> Path:
    """Return the folder in `.lemmascope`; make it if asked to. Making it raises OSError without `.lemmascope`."""
    folder = files.FOLDER / "remembered"
    if make:
        folder.mkdir(exist_ok=True)
    return folder


def _of_the_user(make: bool) -> Path:
    """Return the user's folder. Raises OSError if there is none, another user owns it, or others may write in it.

    An empty LEMMASCOPE_CACHE means that there is no folder. Raises InputError for any other value that is no absolute
    path.
    """
    named = os.environ.get("LEMMASCOPE_CACHE")
    if named == "":
        raise FileNotFoundError
    if named is not None and not Path(named).is_absolute():
        raise InputError("LEMMASCOPE_CACHE", named, "must be an absolute path, or empty to keep no cache")
    folder = (Path(named) if named is not None else _caches() / "lemmascope") / "remembered"
    if make:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        raise PermissionError(folder)
    return folder


def _caches() -> Path:
    """Return the folder of a user's caches, by the platform's convention. Raises OSError without a home."""
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError as error:
        raise OSError(str(error)) from error
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _seal(path: Path, digest: str, found: Any) -> str:
    """Return a digest of a file's name and contents and of its folder's inode; a copied folder has another inode."""
    folder = path.parent.stat()
    said = json.dumps([folder.st_dev, folder.st_ino, path.name, digest, found], sort_keys=True)
    return digest_of(said.encode())


HERE, USER = Memory(_of_the_directory), Memory(_of_the_user, _MOST)
