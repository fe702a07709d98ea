"""The evidence graph: what each theorem is known by, from shipped certificates that are re-checked.

A package ships the certificate of a theorem's example as `certificates/ID.json`. A theorem's own
evidence is that of its weakest clause there; its standing is no stronger than that of the weakest
theorem which its proof uses, down to the leaves.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from verify.checking.loading import load_theorem
from verify.checking.registry import package_folder, package_of, packages
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.outcomes import Evidence
from verify.rechecker import Accepted, Rejected, Unreadable, is_for_all, recheck_file

DIGESTS = "statement_digests.json"
"""Where a package says which statement each of its theorems has."""


@dataclass(frozen=True)
class Standing:
    """What a theorem is known by: its own evidence, and that with all its proof rests on; `why` says why it is None."""

    theorem: str
    own: Evidence | None
    evidence: Evidence | None
    why: str = ""


def pins() -> dict[str, str]:
    """Return, by the ids of installed theorems, the digests that their packages pin. Raises InputError."""
    return {name: digest for package in packages() for name, digest in pinned_digests(package).items()}


def pinned_digests(package: str) -> dict[str, str]:
    """Return the digests that a package pins; none where it can hold no files. Raises InputError for a bad file."""
    try:
        path = package_folder(package) / DIGESTS
    except InputError:
        return {}
    try:
        pinned = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise InputError("digests", path, f"cannot be read: {error}") from error
    if not isinstance(pinned, dict) or not all(isinstance(x, str) for pair in pinned.items() for x in pair):
        raise InputError("digests", path, "must map ids to digests")
    return pinned


def shipped_path(theorem_id: str) -> Path:
    """Return where the package of a theorem ships its certificate, whether it is there or not."""
    return package_folder(package_of(theorem_id)) / "certificates" / f"{theorem_id}.json"


def rechecked(theorem_id: str) -> Accepted | str:
    """Return the re-checked certificate that a theorem's package ships, or why there is none."""
    try:
        path = shipped_path(theorem_id)
    except InputError as error:
        return f"no certificate is shipped: {error}"
    if not path.is_file():
        return "no certificate is shipped"
    status = path.stat()
    return _rechecked(path, status.st_mtime_ns, status.st_size)


@cache
def _rechecked(path: Path, changed: int, size: int) -> Accepted | str:
    """Re-check a file; a changed one has another time or size, and is read again."""
    try:
        return recheck_file(path)
    except (Rejected, Unreadable) as error:
        return f"the shipped certificate is not accepted: {error}"


def shipped_proofs(theorem: Theorem) -> Mapping[str, Any]:
    """Return, by clause, the proofs for all parameters of the certificate that a theorem's package ships, unchecked.

    None of a certificate that cannot be read, or is of another statement.
    """
    try:
        # One that is not installed has no path.
        path = shipped_path(theorem.id)
        status = path.stat()
        digest, proofs = _proofs(path, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return proofs if digest == theorem.statement.digest else {}


@cache
def _proofs(path: Path, changed: int, size: int) -> tuple[str, dict[str, Any]]:
    data = json.loads(path.read_text(encoding="utf-8"))
    # What is said to be proved, and is of a kind that is: the re-checker reads it when it is used.
    proved = (c for c in data["clauses"] if c["evidence"] == str(Evidence.PROVED) and is_for_all(c["proof"]))
    return data["statement_digest"], {clause["label"]: clause["proof"] for clause in proved}


def standing(
    theorem: Theorem,
    *,
    certificate: Callable[[str], Accepted | str] = rechecked,
    load: Callable[[str], Theorem] = load_theorem,
) -> Standing:
    """Return a theorem's standing: its certificate's evidence, lowered to that of the weakest that its proof uses."""
    known: dict[str, Standing | None] = {}

    def known_by(used: Theorem) -> Standing:
        # None stands for one that is being looked at: what uses it is part of a circle, and stands on nothing.
        if used.id not in known:
            known[used.id] = None
            known[used.id] = _standing(used, certificate, load, known_by)
        return known[used.id] or Standing(used.id, None, None, "its proof uses itself")

    return known_by(theorem)


def _standing(
    theorem: Theorem,
    certificate: Callable[[str], Accepted | str],
    load: Callable[[str], Theorem],
    known_by: Callable[[Theorem], Standing],
) -> Standing:
    accepted = certificate(theorem.id)
    if isinstance(accepted, str):
        return Standing(theorem.id, None, None, accepted)
    if (accepted.theorem, accepted.statement_digest) != (theorem.id, theorem.statement.digest):
        return Standing(theorem.id, None, None, "the certificate is of another statement")
    if sorted(name for name, _ in accepted.uses) != sorted(theorem.proof_uses):
        return Standing(theorem.id, None, None, "the certificate was made with a proof that uses other theorems")
    if not (accepted.in_scope and all(outcome == "verified" for _, outcome, _, _ in accepted.clauses)):
        return Standing(theorem.id, None, None, "the certificate does not verify the theorem")
    own = Evidence.weakest([Evidence(evidence) for _, _, evidence, _ in accepted.clauses])
    lowered, made_with = own, dict(accepted.uses)
    for name in theorem.proof_uses:
        used = load(name)
        if made_with.get(name) != used.statement.digest:
            return Standing(theorem.id, own, None, f"the certificate was made with another statement of {name}")
        below = known_by(used)
        if below.evidence is None:
            return Standing(theorem.id, own, None, f"its proof uses {name}: {below.why}")
        lowered = Evidence.weakest([lowered, below.evidence])
    return Standing(theorem.id, own, lowered)
