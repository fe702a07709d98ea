"""Results that were found and would be found again, in files of a folder `remembered`.

`HERE` remembers in `.lemmascope` of the working directory; `USER` in the folder that the environment's LEMMASCOPE_CACHE
names, or in that of the user's caches.

Each file has the digest of its sources, and is believed for exactly these: a damaged one is none, nor is one
that came with a copied folder, or from another machine. A file that is forged there, on this machine, is believed. So
the folder of `USER` is not read if it is another user's, or if others may write in it, where the system tells that.
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
"""Bytes of a file that is read."""
_MOST = 1000
"""Number of files that are kept for a user: those that were used last."""


def digest_of(*parts: bytes) -> str:
    """Return a digest of some contents, in their order: the sources of a result."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}\n".encode() + part)
    return digest.hexdigest()


def make_folder() -> None:
    """Make the folder of the working directory without which `HERE` remembers nothing; none where that cannot be."""
    with suppress(OSError):
        files.FOLDER.mkdir(exist_ok=True)


@dataclass(frozen=True)
class Memory:
    """Results in the files of a folder, which `place(make)` returns; at most `most` files are kept, None keeps all.

    `place` makes the folder if it is asked to, and raises OSError without one.
    """

    place: Callable[[bool], Path]
    most: int | None = None

    def knows(self, name: str) -> bool:
        """Whether there is something under a name, whatever it is of."""
        path = self._path(name)
        with suppress(OSError):
            return path is not None and path.is_file()
        return False

    def recall(self, name: str, digest: str) -> Any:
        """Return the value remembered under a name with the digest of its sources; None without one.

        `name` is to be one of a file. The value is data of JSON, and not None.
        """
        path = self._path(name)
        if path is None:
            return None
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            with path.open("rb") as file:
                kept = json.loads(file.read(_LONGEST))
            if kept["of"] == digest and kept["seal"] == _seal(path, digest, kept["found"]):
                with suppress(OSError):
                    # The file is used, and so is kept.
                    os.utime(path)
                return kept["found"]
        return None

    def _path(self, name: str) -> Path | None:
        """Return the file of a name; None without a folder."""
        with suppress(OSError):
            return self.place(False) / f"{name}.json"
        return None

    def remember(self, name: str, digest: str, found: Any) -> None:
        """Keep a result in place of the one under the name; if nothing can be written, nothing is kept."""
        with suppress(OSError):
            path = self.place(True) / f"{name}.json"
            kept = {"of": digest, "found": found, "seal": _seal(path, digest, found)}
            with files.whole(path) as part:
                part.write_text(json.dumps(kept, allow_nan=False), encoding="utf-8", newline="\n")
            if self.most is not None:
                _keep_newest(path.parent, self.most)


def _keep_newest(folder: Path, most: int) -> None:
    """Remove the files that were used first, also those that killed processes left."""
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
    """Return the folder in `.lemmascope` of the working directory. Raises OSError without that."""
    folder = files.FOLDER / "remembered"
    if make:
        folder.mkdir(exist_ok=True)
    return folder


def _of_the_user(make: bool) -> Path:
    """Return the folder of a user. Raises OSError without one, and if others may write in it.

    Raises InputError for a LEMMASCOPE_CACHE that is no absolute path.
    """
    named = os.environ.get("LEMMASCOPE_CACHE")
    if named == "":
        raise FileNotFoundError
    if named is not None and not Path(named).is_absolute():
        raise InputError("LEMMASCOPE_CACHE", named, "must be an absolute path, or empty for no memory")
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
    """Return a digest of a file's contents and of its folder, which a copy does not have."""
    folder = path.parent.stat()
    said = json.dumps([folder.st_dev, folder.st_ino, path.name, digest, found], sort_keys=True)
    return digest_of(said.encode())


HERE, USER = Memory(_of_the_directory), Memory(_of_the_user, _MOST)
