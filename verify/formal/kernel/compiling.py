"""Tests that Rocq compiles exported files, that they use only the axioms of the reals, and that coqchk accepts them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verify.checking.theorem import Theorem
from verify.formal.export import FILES, Export, export
from verify.formal.kernel.running import axioms_printed, checked, not_allowed, ran

_PROOF_LINE = re.compile(r'^File "\S*Proof\.v", line (\d+)')


@dataclass(frozen=True)
class Compiled:
    """Rocq's verdict on exported files: the refusal, if any, the axioms, and the refused line of `Proof.v`."""

    refused: str
    axioms: frozenset[str] = frozenset()
    line: int = 0

    @property
    def accepted(self) -> bool:
        """Whether Rocq accepts the files."""
        return not self.refused


def compiled(folder: Path) -> Compiled:
    """Compile the files of a folder, and return the verdict; proofs with axioms that may not be assumed are refused."""
    printed = ""
    for name in FILES:
        found = ran(folder, "coqc", "-q", "-R", ".", logical_name(folder), name)
        if not found.good:
            place = _PROOF_LINE.search(found.error)
            return Compiled(f"{name}: {found.error}", line=int(place[1]) if place else 0)
        printed = found.printed
    axioms = axioms_printed(printed)
    return Compiled(not_allowed(axioms), axioms)


def accepted_part(theorem: Theorem, folder: Path, *, seconds: float = 60) -> tuple[Export, Compiled, tuple[str, ...]]:
    """Export and compile a theorem without the proofs that Rocq refuses.

    Return the export, Rocq's verdict, and the labels of the refused proofs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    refused: tuple[str, ...] = ()
    while True:
        exported = export(theorem, seconds=seconds, without=refused)
        exported.write(folder)
        found = compiled(folder)
        label = exported.proof_at(found.line) if found.line else ""
        if not label:
            return exported, found, refused
        refused += (label,)


def rechecked(folders: Sequence[Path]) -> Compiled:
    """Check all compiled files and the libraries that they use with Rocq's checker, which runs only the kernel."""
    roots = [part for folder in folders for part in ("-R", str(folder.resolve()), logical_name(folder))]
    return Compiled(*checked(folders[0], roots, [f"{logical_name(folder)}.Check" for folder in folders]))


def logical_name(folder: Path) -> str:
    """Return a folder's logical name in Rocq."""
    return "Lemmascope_" + re.sub(r"\W", "_", folder.name, flags=re.ASCII)
