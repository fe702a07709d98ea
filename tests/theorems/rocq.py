"""Compile the `.v` files of an area of `theorems` with Rocq in a temporary folder, and test them."""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

import theorems
from verify.checking.formal.sources import Sources
from verify.formal.kernel import packages
from verify.formal.kernel.running import AXIOMS, axioms_printed, checked

ALLOWED = AXIOMS
UNPROVED = re.compile(r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Unset|bypass_check)\b")
SHARED = "formal"
"""The folder with the files that all areas share."""


@dataclass(frozen=True)
class Area:
    """An area of the theorems: its folder in `theorems`, and its name in Rocq."""

    folder: str
    name: str

    @property
    def path(self):
        """Return the area's folder."""
        return Path(theorems.__file__).parent / self.folder

    def sources(self):
        """Return the names of the area's `.v` files."""
        return sorted(path.relative_to(self.path).as_posix() for path in self.path.rglob("*.v"))

    def unproved(self):
        """Return the names of the area's and the shared files that contain an axiom or an unfinished proof."""
        files = [path for path in self.files() if UNPROVED.search(path.read_text(encoding="utf-8"))]
        return sorted(path.relative_to(self.path.parent).as_posix() for path in files)

    def files(self):
        """Return the area's and the shared `.v` files."""
        return [*self.path.rglob("*.v"), *(self.path.parent / SHARED).rglob("*.v")]

    def copied(self, folder, **changes):
        """Copy the area's and the shared `.v` files; `recursion=(old, new)` replaces `old` by `new` in recursion.v."""
        for path in self.files():
            text = path.read_text(encoding="utf-8")
            old, new = changes.get(path.stem, ("", "")) if path.is_relative_to(self.path) else ("", "")
            assert not old or text.count(old) == 1
            to = folder / path.relative_to(self.path.parent)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(text.replace(old, new) if old else text, encoding="utf-8")
        return folder

    def module(self, name):
        """Return a file's module name in Rocq."""
        return f"{self.name}." + name.removesuffix(".v").replace("/", ".")

    def compiled(self, folder, *targets):
        """Compile files with their dependencies; return the first failure, or None."""
        failure = packages.compiled(Sources(folder), map(self.module, targets))
        return failure and failure._replace(file=failure.file.removeprefix(f"{self.folder}/"))

    def refuses(self, folder, name, old, new, place):
        """Return whether formal/`place`.v is the first file to fail after replacing `old` by `new` in `name`.v."""
        failure = self.compiled(self.copied(folder, **{name: (old, new)}), f"formal/{place}.v")
        return failure is not None and failure.file == f"formal/{place}.v"

    def asked(self, folder, text):
        """Compile a text that may use the compiled files; return whether Rocq accepts it, and Rocq's output."""
        found = packages.asked(Sources(folder), text)
        return found.good, found.printed if found.good else found.said

    def statements(self, proofs):
        """Return a text that asserts that each theorem has its claim as its type, and that prints the axioms."""
        modules = sorted({name.rpartition(".")[0] for name in proofs} | {"claims"})
        lines = [f"Require {self.name}.formal.{module}." for module in modules]
        for name, claim in proofs.items():
            lines.append(f"Definition its_{claim} : {self.name}.formal.claims.{claim} := {self.name}.formal.{name}.")
        everything = ", ".join(f"its_{claim}" for claim in proofs.values())
        lines.append(f"Definition everything := ({everything}).\nPrint Assumptions everything.")
        return "\n".join(lines)

    def checked(self, folder):
        """Return the axioms that Rocq's checker lists for the compiled files, or None if the checker refuses a file."""
        refused, axioms = checked(folder, packages.options(Sources(folder)), [*map(self.module, self.sources())])
        return None if refused else axioms


axioms = axioms_printed


def near(value):
    """Return the Rocq statement that |g − value| ≤ 10⁻⁹, for a float."""
    return f"Rabs (g - ({Fraction(value)})) <= 1 / 10 ^ 9"


def folder_of(area, *targets):
    """Return a fixture that compiles files of an area, by default all, and returns the folder."""

    @pytest.fixture(scope="module")
    def compiled(tmp_path_factory):
        folder = area.copied(tmp_path_factory.mktemp("area"))
        failure = area.compiled(folder, *(targets or area.sources()))
        assert failure is None, failure
        return folder

    return compiled


class ProofsOfAnArea:
    """The tests of an area's proofs; a subclass sets `AREA`, `PROOFS` (claims by theorem) and `OTHER` (a wrong pair).

    The subclass's module defines the fixture `area`, the folder in which all files are compiled.
    """

    def test_nothing_is_left_unproved(self):
        assert len(self.AREA.sources()) > 5
        assert self.AREA.unproved() == []

    @pytest.mark.formal
    def test_the_claims_follow_from_the_definitions(self, area):
        good, answer = self.AREA.asked(area, self.AREA.statements(self.PROOFS))
        assert good and axioms(answer) == ALLOWED

    @pytest.mark.formal
    def test_a_theorem_of_another_claim_is_refused(self, area):
        good, answer = self.AREA.asked(area, self.AREA.statements(self.OTHER))
        assert not good and all(claim in answer for claim in self.OTHER.values())

    @pytest.mark.formal
    @pytest.mark.audit
    def test_the_checker_lists_no_other_axiom(self, area):
        assert self.AREA.checked(area) == ALLOWED
