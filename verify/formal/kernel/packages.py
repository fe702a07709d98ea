"""Compilation of the `.v` files of a package, each after the files that it needs."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from verify.checking.formal.sources import Sources
from verify.formal.kernel.running import Ran, ran


class Failure(NamedTuple):
    """The first file that Rocq refuses, by its path in the package, and Rocq's message."""

    file: str
    message: str


def options(sources: Sources) -> list[str]:
    """Return the options with which Rocq finds the files."""
    here = sources.folder.resolve()
    return [part for name, folder in sources.roots.items() for part in ("-Q", str(here / folder), name)]


def compiled(sources: Sources, modules: Iterable[str]) -> Failure | None:
    """Compile modules and all modules that they need, unless up to date; return the first failure, or None."""
    for module in sources.closure(modules):
        # A `.made` file beside each compiled file contains the digest of its source and of all sources that it needs.
        path, digest = sources.files[module], sources.digest([module])
        made = path.with_suffix(".made")
        if _text(made) != digest or not path.with_suffix(".vo").is_file():
            made.unlink(missing_ok=True)
            found = ran(sources.folder, "coqc", "-q", *options(sources), sources.file(module))
            if not found.good:
                return Failure(sources.file(module), found.said)
            made.write_text(digest, encoding="utf-8", newline="\n")
    return None


def asked(sources: Sources, text: str, name: str = "asked.v") -> Ran:
    """Write a text beside the compiled files, compile it, and return the run."""
    path = sources.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    # The options are computed anew, because the text's folder may be new.
    return ran(sources.folder, "coqc", "-q", *options(Sources(sources.folder)), name)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
