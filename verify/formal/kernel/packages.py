"""The `.v` files of a package are compiled, each after what it needs."""

from collections.abc import Iterable
from typing import NamedTuple

from verify.checking.formal.sources import Sources
from verify.formal.kernel.running import Ran, ran


class Failure(NamedTuple):
    """Rocq's message on the first file that it refuses, by its path in the package."""

    file: str
    message: str


def options(sources: Sources) -> list[str]:
    """Return the options by which Rocq finds the files."""
    return [part for name, folder in sources.roots.items() for part in ("-Q", folder, name)]


def compiled(sources: Sources, modules: Iterable[str]) -> Failure | None:
    """Compile modules and all that they need, where that is not done; return the first failure, None for none."""
    for module in sources.closure(modules):
        if not sources.files[module].with_suffix(".vo").is_file():
            found = ran(sources.folder, "coqc", "-q", *options(sources), sources.file(module))
            if not found.good:
                return Failure(sources.file(module), found.said)
    return None


def asked(sources: Sources, text: str, name: str = "asked.v") -> Ran:
    """Compile a text beside the compiled files."""
    (sources.folder / name).write_text(text, encoding="utf-8")
    return ran(sources.folder, "coqc", "-q", *options(sources), name)
