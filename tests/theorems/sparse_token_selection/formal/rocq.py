"""The `.v` files of the area, compiled in a temporary folder by Rocq."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import theorems.sparse_token_selection as area

AREA = Path(area.__file__).parent
NAME = "SparseTokenSelection"
ALLOWED = frozenset({"sig_not_dec", "sig_forall_dec", "functional_extensionality_dep", "classic"})
"""The axioms of the classical reals, on which Coquelicot's derivatives and limits rest."""

needs_rocq = pytest.mark.skipif(shutil.which("coqc") is None, reason="rocq: not run")


@dataclass(frozen=True)
class Failure:
    """Rocq's message about the first file that it refuses; `file` is relative to the area."""

    file: str
    message: str


def sources():
    """Return the names of the area's `.v` files."""
    return sorted(path.relative_to(AREA).as_posix() for path in AREA.rglob("*.v"))


def copied(folder, **changes):
    """Copy the area's `.v` files; `recursion=(old, new)` replaces a text that stands once in recursion.v."""
    for name in sources():
        text = (AREA / name).read_text(encoding="utf-8")
        old, new = changes.get(Path(name).stem, ("", ""))
        assert not old or text.count(old) == 1
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
    return folder


def ran(folder, *command):
    """Return what a command says and whether it ended well."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def needed(folder, *targets):
    """Return the files that some need, themselves included, in the order of compilation."""
    _, lines = ran(folder, "coqdep", "-Q", ".", NAME, *sources())
    needs = dict(re.findall(r"^(\S+)\.vo .*?: \1\.v ?(.*)$", lines, re.MULTILINE))
    order = []

    def visit(name):
        for other in re.findall(r"(\S+)\.vo", needs[name]):
            if other in needs:
                visit(other)
        if name not in order:
            order.append(name)

    for target in targets:
        visit(target.removesuffix(".v"))
    return [f"{name}.v" for name in order]


def compiled(folder, *targets):
    """Compile some files and all that they need; return the first failure, or None."""
    for name in needed(folder, *targets):
        good, message = ran(folder, "coqc", "-q", "-Q", ".", NAME, name)
        if not good:
            return Failure(name, message)
    return None


def asked(folder, text):
    """Compile a text beside the compiled files; return whether Rocq accepts it, and its answers."""
    (folder / "asked.v").write_text(text, encoding="utf-8")
    return ran(folder, "coqc", "-q", "-Q", ".", NAME, "asked.v")


def axioms(answer):
    """Return the axioms' names that `Print Assumptions` lists."""
    return {name.rpartition(".")[2] for name in re.findall(r"^(\w[\w.']*)\s*:", answer, re.MULTILINE)} - {"Axioms"}
