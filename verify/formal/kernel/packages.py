"""The `.v` files of a package are compiled, each after the files that it needs."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from verify.checking.formal.sources import Sources
from verify.formal.kernel.running import Ran, ran


class Failure(NamedTuple):
    """Rocq's message on the first file that it refuses, by its path in the package."""

    file: str
    message: str


def options(sources: Sources) -> list[str]:
    """Return the options by which Rocq finds the files."""
    here = sources.folder.resolve()
    return [part for name, folder in sources.roots.items() for part in ("-Q", str(here / folder), name)]


def compiled(sources: Sources, modules: Iterable[str]) -> Failure | None:
    """Compile modules and all that they need, where that is not done; return the first failure, None for none."""
    for module in sources.closure(modules):
        # Beside the compiled files stands the digest of all their sources.
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
    """Compile a text beside the compiled files."""
    path = sources.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    # Its own folder may be a new one.
    return ran(sources.folder, "coqc", "-q", *options(Sources(sources.folder)), name)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
