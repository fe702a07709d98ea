"""Runs of Rocq's programs, and the axioms that they print."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

_ROOTS = {"ClassicalDedekindReals": "Coq.Reals", "FunctionalExtensionality": "Coq.Logic", "Classical_Prop": "Coq.Logic"}
AXIOMS = frozenset(
    {
        "Coq.Reals.ClassicalDedekindReals.sig_forall_dec",
        "Coq.Reals.ClassicalDedekindReals.sig_not_dec",
        "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep",
        "Coq.Logic.Classical_Prop.classic",
    }
)
"""The axioms on which Rocq's real numbers rest; no other axiom may be assumed."""
NEEDED = "the Debian packages coq and libcoq-coquelicot"
SECONDS = 600
"""Maximum number of seconds that one program may take."""
_LISTED = re.compile(r"^    (\S+)$", re.MULTILINE)
_SAFE = re.compile(r"\* (Constants/Inductives relying on .*|Inductives whose positivity is assumed): <none>")
_PARTS = 3
_HEADINGS = ("Axioms:", "Closed under the global context")


class Ran(NamedTuple):
    """The run of a program: whether it succeeded, its output with warnings and errors, and its standard output."""

    good: bool
    said: str
    printed: str = ""

    @property
    def error(self) -> str:
        """The last message with a place in a file; an error comes after the warnings."""
        return " ".join(self.said[max(0, self.said.rfind("File ")) :].split())[:400]


def not_run(*libraries: str) -> str:
    """Return the reason why Rocq is not run; "" if Rocq, Coquelicot and the given libraries are installed."""
    if shutil.which("coqc") and shutil.which("coqchk"):
        there = Path(ran(Path(), "coqc", "-where").printed.strip(), "user-contrib")
        if all((there / library).is_dir() for library in ("Coquelicot", *libraries)):
            return ""
    packages = ", ".join([NEEDED, *(f"libcoq-{library.lower()}" for library in libraries)])
    return f"rocq: not run; it needs {packages}"


def rocq_version() -> str:
    """Return Rocq's version."""
    return ran(Path(), "coqc", "--print-version").printed.split()[0]


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that proofs use, from their Debian packages."""
    if not shutil.which("dpkg-query"):
        return {"Coquelicot": "unknown"}
    found = ran(Path(), "dpkg-query", "--show", "--showformat", "${Version}", "libcoq-coquelicot")
    return {"Coquelicot": found.printed if found.good else "unknown"}


def ran(folder: Path, *command: str) -> Ran:
    """Run a program in a folder."""
    try:
        # The command is one of Rocq's, and no shell reads its arguments.
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Ran(False, f"it takes more than {SECONDS} s")
    return Ran(done.returncode == 0, done.stdout + done.stderr, done.stdout)


def axioms_printed(printed: str) -> frozenset[str]:
    """Return the axioms that `Print Assumptions` lists, with the full names of the axioms of the real numbers.

    `Print Assumptions` shortens these names to the last module if no file imports it.
    """
    # An axiom's name begins a line; its type follows on the same line or on indented lines.
    named = [line for line in printed.splitlines() if line.strip() not in _HEADINGS and line[:1].strip()]
    return frozenset(_whole(line.split()[0]) for line in named)


def _whole(name: str) -> str:
    module = name.partition(".")[0]
    return f"{_ROOTS[module]}.{name}" if f"{_ROOTS.get(module, '')}.{name}" in AXIOMS else name


def not_allowed(axioms: Iterable[str]) -> str:
    """Return a message about the first axiom that may not be assumed; "" if all may be."""
    more = sorted({*axioms} - AXIOMS)
    return f"{more[0]} is assumed, which is not an axiom of Rocq's real numbers" if more else ""


def checked(folder: Path, options: Sequence[str], modules: Sequence[str]) -> tuple[str, frozenset[str]]:
    """Check compiled files and the libraries that they use with `coqchk`, which runs only the kernel.

    Return the reason why `coqchk` refuses them ("" if it accepts them), and the axioms that it lists.
    """
    refused, axioms = _read(folder, *options, *modules)
    return refused or not_allowed(axioms), axioms


def checked_alone(folder: Path, options: Sequence[str], modules: Sequence[str]) -> str:
    """Check compiled files with `coqchk`, without their libraries; return why it refuses them, or "".

    `coqchk` then lists as axioms the parts of libraries that a signature hides. It may list no axiom of the files.
    """
    refused, axioms = _read(folder, *options, *(part for module in modules for part in ("-norec", module)))
    return refused or not_allowed(axiom for axiom in axioms if axiom.startswith(tuple(f"{each}." for each in modules)))


def _read(folder: Path, *arguments: str) -> tuple[str, frozenset[str]]:
    found = ran(folder, "coqchk", "-silent", "-o", *arguments)
    if not found.good:
        return f"coqchk: {found.error}", frozenset()
    if len(_SAFE.findall(found.said)) != _PARTS:
        return "coqchk: a check of the kernel is switched off somewhere", frozenset()
    return "", frozenset(_LISTED.findall(found.said.partition("* Axioms:")[2].partition("\n* ")[0]))
