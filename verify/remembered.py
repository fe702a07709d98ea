"""Results that were found and would be found again, in files of `.lemmascope/remembered` in the working directory.

Each file has the digest of its sources, and is believed for exactly these: a damaged one is none, nor is one
that came with a copied folder, or from another machine. Who forges a file in this folder of yours, on this machine, is
believed: whoever can do that can change the program too.
"""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from verify import files

_LONGEST = 10_000_000
"""Bytes of a file that is read."""


def digest_of(*parts: bytes) -> str:
    """Return a digest of some contents, in their order: the sources of a result."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}\n".encode() + part)
    return digest.hexdigest()


def make_folder() -> None:
    """Make the folder of the working directory without which nothing is remembered; none where that cannot be."""
    with suppress(OSError):
        files.FOLDER.mkdir(exist_ok=True)


def knows(name: str) -> bool:
    """Whether there is something under a name, whatever it is of."""
    return _path(name).is_file()


def recall(name: str, digest: str) -> Any:
    """Return the value remembered under a name with the digest of its sources; None without one.

    `name` is to be one of a file. The value is data of JSON, and not None.
    """
    path = _path(name)
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        with path.open("rb") as file:
            kept = json.loads(file.read(_LONGEST))
        if kept["of"] == digest and kept["seal"] == _seal(path, digest, kept["found"]):
            return kept["found"]
    return None


def remember(name: str, digest: str, found: Any) -> None:
    """Keep a result in place of the one under the name; nothing is kept where nothing can be written.

    Nothing is kept, either, in a working directory that has no `.lemmascope`.
    """
    path = _path(name)
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        kept = {"of": digest, "found": found, "seal": _seal(path, digest, found)}
        with files.whole(path) as part:
            part.write_text(json.dumps(kept, allow_nan=False), encoding="utf-8", newline="\n")


def _path(name: str) -> Path:
    return files.FOLDER / "remembered" / f"{name}.json"


def _seal(path: Path, digest: str, found: Any) -> str:
    """Return a digest of a file's contents and of its folder, which a copy does not have."""
    folder = path.parent.stat()
    said = json.dumps([folder.st_dev, folder.st_ino, path.name, digest, found], sort_keys=True)
    return digest_of(said.encode())
