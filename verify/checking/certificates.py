"""Certificates: the decided clauses of a check as data that an independent program can re-check."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint

from verify import remembered
from verify.checking.doors import door
from verify.checking.theorem import Theorem, load_theorem
from verify.claims.in_words import in_words
from verify.errors import InputError
from verify.files import free_file, json_object, sources, write_whole
from verify.outcomes import CheckResult, ClauseResult, Enclosure, Outcome
from verify.provers.proof_data import inverse_roots, number
from verify.rechecker import Accepted, Rejected, Shown, Trusted, Unknown, Unreadable, recheck_text
from verify.rechecker.reading import MOST_BYTES

FORMAT, VERSION = "lemmascope-certificate", 3
# Computed at import: results cached under it belong to the running program, even if the files change later.
_RECHECKER = remembered.digest_of(
    *(part for name, path in sources("verify.rechecker") for part in (name.encode(), path.read_bytes())),
    f"{sys.version} python-flint {flint.__version__}".encode(),
)


def certificate(theorem: Theorem, result: CheckResult) -> dict[str, Any]:
    """Return the certificate of a check.

    Raises InputError if a clause that is not in words has no proof, or if it is undecided whether the instance is
    in scope.
    """
    said = in_words(theorem.statement)
    missing = [clause for clause in result.clauses if clause.proof is None and clause.label not in said]
    if missing:
        why = missing[0].unchecked or "it is not decided exactly"
        raise InputError("--certificate", missing[0].label, f"this clause has no certificate: {why}")
    undecided = [hypothesis.label for hypothesis in result.hypotheses if hypothesis.holds is None]
    if undecided and result.in_scope is None:
        raise InputError("--certificate", undecided[0], "whether this hypothesis holds is not decided")
    trusts = {*result.scope_trusts}.union(*(clause.trusts for clause in result.clauses))
    return {
        "format": FORMAT,
        "version": VERSION,
        "theorem": theorem.id,
        "statement": theorem.statement.to_data(),
        "statement_digest": theorem.statement.digest,
        "instance": {name: written(value) for name, value in result.instance.items()},
        "in_scope": result.in_scope,
        "uses": [[name, load_theorem(name).statement.digest] for name in sorted(theorem.proof_uses)],
        "trusts": [trust._asdict() for trust in sorted(trusts)],
        "clauses": [_not_shown(clause) if clause.label in said else stated(clause) for clause in result.clauses],
    }


def stated(clause: ClauseResult) -> dict[str, Any]:
    """Return a clause's entry in a certificate."""
    evidence = None if clause.evidence is None else str(clause.evidence)
    return {"label": clause.label, "outcome": str(clause.outcome), "evidence": evidence, "proof": clause.proof}


def _not_shown(clause: ClauseResult) -> dict[str, Any]:
    """Return the entry of a claim in words in a certificate: no re-checker evaluates it."""
    return {"label": clause.label, "outcome": str(Outcome.INCONCLUSIVE), "evidence": None, "proof": None}


def certificate_text(theorem: Theorem, result: CheckResult) -> str:
    """Return the certificate of a check as JSON text. Raises InputError like `certificate`."""
    data = certificate(theorem, result)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def certificate_file(name: str) -> Path:
    """Return the path of a file that a certificate can be written to; call this before anything is computed.

    Raises InputError for an empty name, a folder, a path that is no file, an existing file that is no certificate, and
    if the file's folder is missing or not writable.
    """

    def is_ours(content: bytes) -> bool:
        return json_object(content).get("format") == FORMAT

    return free_file("--certificate", name, "a certificate", is_ours)


def write_certificate(theorem: Theorem, result: CheckResult, path: Path) -> None:
    """Write the certificate of a check to a file, whole or not at all.

    Parameters
    ----------
    theorem
        The theorem that was checked.
    result
        The result of the check: its instance, and the proofs of its clauses.
    path
        The file, in a folder that exists.

    Raises
    ------
    InputError
        If there is nothing to certify, the file cannot be written, or the re-checker does not accept the certificate.

    Examples
    --------
    >>> from pathlib import Path
    >>> from verify import check, load_theorem, recheck, write_certificate
    >>> theorem = load_theorem("wang2024.lemma1")
    >>> write_certificate(theorem, check(theorem, T=4, q=2), Path("lemma1.json"))
    >>> recheck("lemma1.json").theorem
    'wang2024.lemma1'
    """
    text = certificate_text(theorem, result)
    try:
        recheck_text(text.encode(), door=door)
    except (Rejected, Unreadable) as error:
        raise InputError("--certificate", path, f"the re-checker does not accept it: {error}") from error
    path = certificate_file(str(path))
    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError("--certificate", path, f"cannot be written: {error.strerror}") from error


def written(value: Any) -> Any:
    """Return a parameter's value for a certificate: a word, the canonical text of a number, or a list of such texts."""
    if isinstance(value, tuple):
        return [number(entry) for entry in value]
    return value if isinstance(value, str) else number(value)


def accepted_file(path: Path) -> Accepted:
    """Return the `Accepted` of a certificate's file, from the user's cache if the same content was accepted before.

    The file is re-checked if its content, the re-checker's sources, the version of Python or of the ball library, or a
    door that the result rests on has changed. A refusal is not cached. `verify recheck` always asks the re-checker.
    Raises Rejected or Unreadable, and OSError if the file cannot be opened.
    """
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    digest = remembered.digest_of(_RECHECKER.encode(), content)
    kept = remembered.USER.recall(name := f"certificate.{digest[:32]}", digest)
    accepted = None if kept is None else _accepted(kept)
    if accepted is not None and not any(map(not_at_hand, accepted.trusts)):
        return accepted
    accepted = recheck_text(content, door=door)
    remembered.USER.remember(name, digest, asdict(accepted))
    return accepted


def _accepted(kept: Mapping[str, Any]) -> Accepted:
    """Return a cached `Accepted`, with the tuples that JSON turned into lists."""

    def trusted(listed: Sequence[Sequence[Any]]) -> tuple[Trusted, ...]:
        return tuple(Trusted(*each) for each in listed)

    shown = {
        part: tuple(
            Shown(label, outcome, evidence, kind, trusted(trusts))
            for label, outcome, evidence, kind, trusts in kept[part]
        )
        for part in ("claims", "steps")
    }
    uses = tuple((name, digest) for name, digest in kept["uses"])
    return Accepted(**{**kept, **shown, "uses": uses, "trusts": trusted(kept["trusts"])})


def not_at_hand(trusted: Trusted) -> str:
    """Return the reason why a door is not the one with which a result was accepted; "" if it is the same."""
    try:
        found = door(trusted.name)
    except Unknown as error:
        return str(error)
    same = (found.package, found.digest) == (trusted.package, trusted.digest)
    return "" if same else f"a different version of {trusted} is installed"


def stated_values(proof: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a proof states, by name; an accepted proof shows them."""
    match proof:
        case {"kind": "passage", "steps": int(steps)}:
            return {"steps": Enclosure(steps, steps)}
        case {"kind": "tube", "steps": [first, last]}:
            return {"steps": Enclosure(int(first), int(last))}
        case {"kind": "residual", "roots": roots, "minimum": minimum} if roots:
            return {"a": inverse_roots(roots), "minimum": Fraction(minimum), "attained": True}
    return {}
