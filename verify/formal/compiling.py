"""Rocq is run on exported files: they compile, rest on the axioms of the reals alone, and its checker accepts them."""

import re
import shutil
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from verify.checking.theorem import Theorem
from verify.formal.export import FILES, Export, export

_AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec": "Coq.Reals.ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec": "Coq.Reals.ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep": (
        "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep"
    ),
    "Classical_Prop.classic": "Coq.Logic.Classical_Prop.classic",
}
"""The axioms that Rocq's real numbers rest on, as `Print Assumptions` and as `coqchk` names them."""
NEEDED = "the Debian packages coq and libcoq-coquelicot"
_SECONDS = 600
_PROOF_LINE = re.compile(r'^File "\S*Proof\.v", line (\d+)')
_LISTED = re.compile(r"^    (\S+)$", re.MULTILINE)
_SAFE = re.compile(r"\* (Constants/Inductives relying on .*|Inductives whose positivity is assumed): <none>")
_HEADINGS = ("Axioms:", "Closed under the global context")
_PARTS = 3


@dataclass(frozen=True)
class Compiled:
    """Rocq's verdict on exported files: why it refuses them, if it does, and at which line of `Proof.v`."""

    refused: str
    axioms: frozenset[str] = frozenset()
    line: int = 0

    @property
    def accepted(self) -> bool:
        """Whether it accepts them."""
        return not self.refused


def not_run(*libraries: str) -> str:
    """Return why Rocq is not run, nothing where it and Coquelicot are installed, and some more libraries."""
    if shutil.which("coqc") and shutil.which("coqchk"):
        there = Path(_run(["coqc", "-where"], Path()).stdout.strip(), "user-contrib")
        if all((there / library).is_dir() for library in ("Coquelicot", *libraries)):
            return ""
    packages = ", ".join([NEEDED, *(f"libcoq-{library.lower()}" for library in libraries)])
    return f"rocq: not run; it needs {packages}"


def compiled(folder: Path) -> Compiled:
    """Compile the files of a folder, and compare the axioms that all proofs rest on with those that may be assumed."""
    output = ""
    for name in FILES:
        try:
            ended = _run(["coqc", "-q", "-R", ".", logical_name(folder), name], folder)
        except subprocess.TimeoutExpired:
            return Compiled(f"{name}: it takes more than {_SECONDS} s")
        if ended.returncode:
            said = _first_error(ended.stderr)
            place = _PROOF_LINE.search(said)
            return Compiled(f"{name}: {said}", line=int(place[1]) if place else 0)
        output = ended.stdout
    # Each is named at the beginning of a line, and its type is after that or further in.
    named = [line for line in output.splitlines() if line.strip() not in _HEADINGS and not line.startswith(" ")]
    return _of_axioms({line.split()[0] for line in named if line}, _AXIOMS)


def accepted_part(theorem: Theorem, folder: Path) -> tuple[Export, Compiled, tuple[str, ...]]:
    """Export a theorem and compile it, without the proofs that Rocq refuses; these are the labels at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    refused: tuple[str, ...] = ()
    while True:
        exported = export(theorem, without=refused)
        exported.write(folder)
        found = compiled(folder)
        label = exported.proof_at(found.line) if found.line else ""
        if not label:
            return exported, found, refused
        refused += (label,)


def rechecked(folders: Sequence[Path]) -> Compiled:
    """Have Rocq's checker read all compiled files and the libraries below them again, by its kernel alone."""
    roots = [part for folder in folders for part in ("-R", str(folder.resolve()), logical_name(folder))]
    checks = [f"{logical_name(folder)}.Check" for folder in folders]
    ended = _run(["coqchk", "-silent", "-o", *roots, *checks], folders[0])
    said = ended.stdout + ended.stderr
    if ended.returncode:
        return Compiled(f"coqchk: {_first_error(said)}")
    if len(_SAFE.findall(said)) != _PARTS:
        return Compiled("coqchk: a check of the kernel is switched off somewhere")
    return _of_axioms({*_LISTED.findall(said)}, _AXIOMS.values())


def logical_name(folder: Path) -> str:
    """Return what Rocq calls a folder."""
    return "Lemmascope_" + re.sub(r"\W", "_", folder.name, flags=re.ASCII)


def _of_axioms(axioms: Collection[str], allowed: Collection[str]) -> Compiled:
    more = sorted(set(axioms) - set(allowed))
    return Compiled(f"{more[0]} is assumed, which is none of Rocq's real numbers" if more else "", frozenset(axioms))


def _first_error(said: str) -> str:
    """Return the last place that is named, with what is said of it: warnings come before an error."""
    return " ".join(said[max(0, said.rfind("File ")) :].split())[:400]


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # The command is one of those above, and no shell reads its arguments.
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
