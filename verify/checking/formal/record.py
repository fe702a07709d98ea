"""The record of the claims that a proof assistant's kernel accepted, and the test that the record is up to date.

`formal.json` in a package's folder has an entry for each theorem: the statement's digest, the versions of Rocq and of
its libraries, and the axioms. It lists the claims accepted as typed in `.v` files and those accepted as exported from
the statement's data, each with the digest of its files. `make formal` writes the record.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from verify.checking.formal.propositions import check_text, modules_of, sources_of
from verify.checking.registry import package_folder, package_of
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.files import write_whole
from verify.outcomes import Formal, count_text

RECORD = "formal.json"


@dataclass(frozen=True)
class Kernel:
    """The clauses of a theorem that the kernel accepted, by label, each with the way in which it was stated for Rocq.

    `not_formal` says why a record does not count, or why the kernel refuses a part.
    """

    clauses: Mapping[str, Formal] = field(default_factory=dict[str, Formal])
    not_formal: str = ""


NOTHING = Kernel()


def entries(package: str) -> Mapping[str, Any]:
    """Return the entries that a package records, by theorem; none if it has no folder. Raises InputError.

    The result is cached, and must not be changed.
    """
    try:
        path = package_folder(package) / RECORD
    except InputError:
        return {}
    try:
        read = _read(path.read_bytes()) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise InputError("record", path, f"cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise InputError("record", path, "must map ids to what Rocq accepted")
    return read


@lru_cache(maxsize=16)
def _read(content: bytes) -> Any:
    return json.loads(content.decode())


def recorded(theorem: Theorem) -> Kernel:
    """Return the accepted clauses of a theorem; none if it is not installed, or its entry is missing or outdated."""
    try:
        package = package_of(theorem.id)
    except InputError:
        # The theorem is of no installed package.
        return NOTHING
    try:
        entry = entries(package).get(theorem.id)
    except InputError as error:
        return Kernel(not_formal=str(error))
    try:
        if entry is None or not (entry["exported"]["clauses"] or entry["typed"]["claims"]):
            return NOTHING
        if newer := outdated(theorem, entry):
            return Kernel(not_formal=f"the record is older than {newer}")
        return kernel_of(theorem, entry, f"as recorded with Rocq {entry['rocq']}")
    except (KeyError, TypeError, AttributeError) as error:
        return Kernel(not_formal=f"the record is not read: {error!r}")


def write(found: Mapping[str, Mapping[str, Any]]) -> None:
    """Add entries, by theorem, to the records of the theorems' packages. Raises InputError and OSError."""
    for package in {package_of(name) for name in found}:
        now = {**entries(package)} | {name: entry for name, entry in found.items() if package_of(name) == package}
        write_whole(package_folder(package) / RECORD, json.dumps(dict(sorted(now.items())), indent=1) + "\n")


def outdated(theorem: Theorem, entry: Mapping[str, Any]) -> str:
    """Return the part that has changed since the record: the statement, or its propositions' files; "" if none has."""
    if entry["statement_digest"] != theorem.statement.digest:
        return "the statement"
    if entry["typed"]["claims"] and entry["typed"]["files"] != typed_digest(theorem):
        return "the files that it compiled"
    return ""


def kernel_of(theorem: Theorem, entry: Mapping[str, Any], by: str) -> Kernel:
    """Return the accepted clauses of an entry. Raises KeyError for a typed claim without a formal text."""
    texts = theorem.statement.formal
    names = {name for text in texts.values() for name in text.definitions}
    how = f"statement typed, {count_text(len(names), 'definition')}"
    typed = {label: Formal(how, by, texts[label].besides) for label in entry["typed"]["claims"]}
    return Kernel(dict.fromkeys(entry["exported"]["clauses"], Formal("statement exported", by)) | typed)


def typed_digest(theorem: Theorem) -> str:
    """Return a digest of the files of formal texts and proofs, and of `check_text`; a message if a file is missing."""
    texts = theorem.statement.formal
    try:
        (package,) = {text.package for text in texts.values()}
        files = sources_of(package).digest(modules_of(texts))
    except KeyError as error:
        return f"there is no file of {error}"
    return hashlib.sha256(f"{files}\n{check_text(texts)}".encode()).hexdigest()
