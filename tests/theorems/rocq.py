"""The `.v` files of an area of `theorems`, compiled in a temporary folder by Rocq."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import theorems
from verify.formal.compiling import not_run

ALLOWED = frozenset({"sig_not_dec", "sig_forall_dec", "functional_extensionality_dep", "classic"})
"""The axioms of the classical reals, on which Coquelicot's derivatives and limits rest."""
UNPROVED = re.compile(r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Unset|bypass_check)\b")

NOT_RUN = not_run("Interval")
needs_rocq = pytest.mark.skipif(bool(NOT_RUN), reason=NOT_RUN or "rocq: run")


@dataclass(frozen=True)
class Failure:
    """Rocq's message about the first file that it refuses; `file` is relative to the area."""

    file: str
    message: str


@dataclass(frozen=True)
class Area:
    """An area: its folder in `theorems`, and its name in Rocq."""

    folder: str
    name: str

    @property
    def path(self):
        """The area's folder."""
        return Path(theorems.__file__).parent / self.folder

    def sources(self):
        """Return the names of the area's `.v` files."""
        return sorted(path.relative_to(self.path).as_posix() for path in self.path.rglob("*.v"))

    def unproved(self):
        """Return the names of the files in which something is taken for granted."""
        return [name for name in self.sources() if UNPROVED.search((self.path / name).read_text(encoding="utf-8"))]

    def copied(self, folder, **changes):
        """Copy the area's `.v` files; `recursion=(old, new)` replaces a text that stands once in recursion.v."""
        for name in self.sources():
            text = (self.path / name).read_text(encoding="utf-8")
            old, new = changes.get(Path(name).stem, ("", ""))
            assert not old or text.count(old) == 1
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
        return folder

    def needed(self, folder, *targets):
        """Return the files that some need, themselves included, in the order of compilation."""
        _, lines = ran(folder, "coqdep", "-Q", ".", self.name, *self.sources())
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

    def compiled(self, folder, *targets):
        """Compile some files and all that they need; return the first failure, or None."""
        for name in self.needed(folder, *targets):
            good, message = ran(folder, "coqc", "-q", "-Q", ".", self.name, name)
            if not good:
                return Failure(name, message)
        return None

    def asked(self, folder, text):
        """Compile a text beside the compiled files; return whether Rocq accepts it, and its answers."""
        (folder / "asked.v").write_text(text, encoding="utf-8")
        return ran(folder, "coqc", "-q", "-Q", ".", self.name, "asked.v")

    def statements(self, proofs):
        """Return a text that Rocq accepts if each theorem has its claim as its type; it asks for the axioms."""
        modules = sorted({name.rpartition(".")[0] for name in proofs} | {"claims"})
        lines = [f"Require {self.name}.formal.{module}." for module in modules]
        for name, claim in proofs.items():
            lines.append(f"Definition its_{claim} : {self.name}.formal.claims.{claim} := {self.name}.formal.{name}.")
        everything = ", ".join(f"its_{claim}" for claim in proofs.values())
        lines.append(f"Definition everything := ({everything}).\nPrint Assumptions everything.")
        return "\n".join(lines)

    def checked(self, folder):
        """Return the axioms that the checker lists for all files, compiled before; None if it refuses them."""
        modules = [f"{self.name}." + name.removesuffix(".v").replace("/", ".") for name in self.sources()]
        good, answer = ran(folder, "coqchk", "-silent", "-o", "-Q", ".", self.name, *modules)
        listed = answer.partition("* Axioms:")[2].partition("* Constants")[0]
        found = {line.strip().rpartition(".")[2] for line in listed.splitlines() if line.strip()}
        return found if good and answer.count("<none>") == 3 else None


def ran(folder, *command):
    """Return what a command says and whether it ended well."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def axioms(answer):
    """Return the axioms' names that `Print Assumptions` lists."""
    return {name.rpartition(".")[2] for name in re.findall(r"^(\w[\w.']*)\s*:", answer, re.MULTILINE)} - {"Axioms"}
