"""Compilation of a theorem with Rocq: of its formal texts, and of the export of its statement."""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from verify.checking.formal.propositions import check_text, modules_of, sources_of
from verify.checking.formal.record import Kernel, kernel_of, typed_digest
from verify.checking.formal.sources import Sources
from verify.checking.standing import shipped_proofs
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.formal.export import FILES, Export, export
from verify.formal.kernel.compiling import accepted_part, logical_name
from verify.formal.kernel.packages import asked, compiled, options
from verify.formal.kernel.running import axioms_printed, not_allowed, not_run, rocq_version

_CHECKS = "rocq_checks", "RocqChecks"
"""The folder of the files that check that each proof has its proposition as type, and the folder's name in Rocq."""


@dataclass(frozen=True)
class Acceptance:
    """The parts of a theorem that Rocq accepted, and why it refused the rest.

    `entry` is the theorem's entry in the record. `modules` are the compiled files of formal texts for `coqchk`,
    `exported` are the compiled files of the export, and `roots` are the options with which `coqchk` finds them.
    `others` are the clauses with a proof that is not exported, each with the reason.
    """

    entry: dict[str, Any]
    refused: tuple[str, ...]
    modules: tuple[str, ...]
    roots: tuple[str, ...]
    exported: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def accepted(theorem: Theorem, folder: Path, *, seconds: float = 60) -> Acceptance:
    """Compile a theorem's formal texts and its export below a folder, and return the parts that Rocq accepted."""
    typed_part, exported_part = _typed(theorem, folder), _exported(theorem, folder, seconds)
    entry = {"statement_digest": theorem.statement.digest, "rocq": rocq_version()}
    entry |= {"typed": typed_part.entry, "exported": exported_part.entry}
    parts = (typed_part, exported_part)
    return Acceptance(
        entry,
        tuple(each for part in parts for each in part.refused),
        typed_part.modules,
        tuple(each for part in parts for each in part.roots),
        exported_part.exported,
        exported_part.others,
    )


def compiled_now(theorem: Theorem, *, seconds: float = 60) -> Kernel:
    """Return the kernel's verdict on a theorem, compiled in a temporary folder. Raises InputError without Rocq."""
    if why := not_run():
        raise InputError("--formal", theorem.id, why)
    with TemporaryDirectory() as folder:
        found = accepted(theorem, Path(folder), seconds=seconds)
    kernel = kernel_of(theorem, found.entry, f"compiled with Rocq {found.entry['rocq']}")
    return replace(kernel, not_formal="; ".join(found.refused))


def exported_digest(exported: Export) -> str:
    """Return a digest of exported files."""
    digest = hashlib.sha256()
    for name, text in exported.files.items():
        digest.update(f"{name} {len(text)}\n{text}".encode())
    return digest.hexdigest()


def exported_again(theorem: Theorem, refused: Collection[str]) -> str:
    """Export a theorem again without the proofs that Rocq refused, and return the digest of the files."""
    return exported_digest(export(theorem, without=refused))


def compile_texts(theorem: Theorem, folder: Path) -> tuple[Sources | None, str]:
    """Compile the files of a theorem's formal texts below a folder.

    Return the files, None if there are no formal texts, and Rocq's refusal, "" if there is none.
    """
    texts = theorem.statement.formal
    if not texts:
        return None, ""
    (package,) = {text.package for text in texts.values()}
    sources = sources_of(package).copied(folder / "typed" / package)
    failure = compiled(sources, modules_of(texts))
    return sources, f"{failure.file}: {failure.message[-400:]}" if failure else ""


def _typed(theorem: Theorem, folder: Path) -> Acceptance:
    texts = theorem.statement.formal
    sources, failure = compile_texts(theorem, folder)
    if sources is None or failure:
        return _none("claims", *([failure] if failure else []))
    name = f"of_{re.sub(r'[^A-Za-z0-9]', '_', theorem.id)}"
    found = asked(sources, check_text(texts), f"{_CHECKS[0]}/{name}.v")
    if why := not_allowed(axioms_printed(found.printed)) if found.good else found.error:
        return _none("claims", f"the formal text: {why}")
    roots = tuple(options(Sources(sources.folder)))
    return Acceptance({"claims": sorted(texts), "files": typed_digest(theorem)}, (), (f"{_CHECKS[1]}.{name}",), roots)


def _exported(theorem: Theorem, folder: Path, seconds: float) -> Acceptance:
    here = folder / theorem.id
    exported, found, without = accepted_part(theorem, here, seconds=seconds)
    proved = [clause.label for clause in exported.clauses if clause.exported == "proof"]
    shipped = shipped_proofs(theorem)
    others = tuple(f"{c.label}: {c.why}" for c in exported.clauses if c.exported != "proof" and c.label in shipped)
    if not found.accepted:
        return replace(_none("clauses", found.refused), others=others)
    why = ["the example is not proved to satisfy the hypotheses"] if proved and not exported.example else []
    clauses = proved if exported.example else []
    entry = {"clauses": clauses, "files": exported_digest(exported), "without": list(without)}
    name = logical_name(here)
    files = tuple(f"{name}.{file.removesuffix('.v')}" for file in FILES)
    return Acceptance(entry, tuple(why), (), ("-R", str(here.resolve()), name), files, others)


def _none(what: str, *why: str) -> Acceptance:
    return Acceptance({what: [], "files": ""}, why, (), ())
