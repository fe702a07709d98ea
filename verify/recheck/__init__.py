"""The re-checker: a small program that accepts a certificate only when the proofs in it hold.

It trusts nothing that the engine did. It reads the statement's data itself, and proves each clause
again from what the certificate lists, with the standard library's integers and fractions and, for
balls, Arb's; it shares no code with the search, the theorems or SymPy. What it trusts is in a
file's statement: an accepted certificate is about the statement that it contains, named by its
digest. `uses` names what the theorem's proof rests on, and is carried through.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flint import arb, ctx

from verify.recheck.given import Given
from verify.recheck.kinds import KINDS, check_clause
from verify.recheck.reading import MOST_BYTES, Effort, Rejected, Unreadable, entries, items, parse, shown, word

__all__ = ["KINDS", "Accepted", "Rejected", "Unreadable", "recheck_file", "recheck_text", "refusals"]

FORMAT, VERSION = "lemmascope-certificate", 1
_KEYS = "format version theorem statement statement_digest instance in_scope uses clauses"
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Accepted:
    """What an accepted certificate proves.

    Parameters
    ----------
    theorem, statement_digest, instance
        Which statement (by its digest; the id is what the file calls it), at which instance, as written.
    in_scope
        Whether all hypotheses hold there.
    clauses
        Label, outcome, evidence and kind of proof of each clause of the claim.
    uses
        Ids and digests of what the proof rests on; checked for their form only.
    """

    theorem: str
    statement_digest: str
    instance: Mapping[str, Any]
    in_scope: bool
    clauses: tuple[tuple[str, str, str, str], ...]
    uses: tuple[tuple[str, str], ...]


def recheck_file(path: str | Path) -> Accepted:
    """Check the certificate in a file. Raises Rejected or Unreadable, and OSError where it cannot be opened."""
    with Path(path).open("rb") as file:
        return recheck_text(file.read(MOST_BYTES + 1))


def recheck_text(text: bytes) -> Accepted:
    """Check a certificate; raises Rejected (it does not prove what it claims) or Unreadable (it is none)."""
    _self_test()
    data = parse(text)
    if type(data) is not dict or data.get("format") != FORMAT:
        raise Unreadable(f"the file is no {FORMAT}")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise Unreadable(f"version: {shown(data.get('version'))} is not {VERSION}, the one known here")
    try:
        return _checked(data)
    except RecursionError:
        raise Rejected("the certificate's parts are nested too deeply") from None


def refusals(statement: Any, instance: Any, clauses: Sequence[Any]) -> dict[str, str]:
    """Check some clauses of a statement, each as a certificate states it; return, by label, why one is not accepted.

    The statement's other clauses may be of any kind, and undecided.
    """
    _self_test()
    labels, found = [clause["label"] for clause in clauses], dict[str, str]()
    try:
        # As a file would say it.
        text = json.dumps({"statement": statement, "instance": instance, "clauses": clauses})
        data = parse(text.encode())
        given = Given(data["statement"], data["instance"], Effort())
    except (Rejected, Unreadable, RecursionError) as error:
        return dict.fromkeys(labels, _reason(error))
    for label, stated in zip(labels, data["clauses"], strict=True):
        said = [clause for clause in given.claim if type(clause) is dict and clause.get("label") == label]
        try:
            check_clause(given, said[0] if said else None, stated, label)
        except (Rejected, RecursionError) as error:
            found[label] = _reason(error)
    return found


def _reason(error: Exception) -> str:
    return "the statement's parts are nested too deeply" if isinstance(error, RecursionError) else str(error)


def _checked(data: Any) -> Accepted:
    entries(data, "the certificate", _KEYS)
    theorem = _id(data["theorem"], "theorem")
    stated = _digest(data["statement_digest"], "statement_digest")
    # As verify.language.digest writes it; a test holds the two together.
    canonical = json.dumps(data["statement"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    if hashlib.sha256(canonical.encode()).hexdigest() != stated:
        raise Rejected("statement_digest: is not the digest of the statement in the file")
    uses = []
    for i, pair in enumerate(items(data["uses"], "uses")):
        name, used = items(pair, f"uses[{i}]", 2)
        uses.append((_id(name, f"uses[{i}][0]"), _digest(used, f"uses[{i}][1]")))
    given = Given(data["statement"], data["instance"], Effort())
    in_scope = given.in_scope
    if type(data["in_scope"]) is not bool or data["in_scope"] != in_scope:
        raise Rejected(f"in_scope: {shown(data['in_scope'])} is not what the hypotheses say at the instance")
    clauses = items(data["clauses"], "clauses", len(given.claim))
    pairs = enumerate(zip(given.claim, clauses, strict=True))
    found = tuple(check_clause(given, clause, stated, f"clauses[{i}]") for i, (clause, stated) in pairs)
    labels = [label for label, *_ in found]
    if not labels or len(set(labels)) != len(labels):
        raise Rejected("statement.claim: has no clause, or two of one label")
    return Accepted(theorem, stated, dict(data["instance"]), in_scope, found, tuple(uses))


def _id(value: Any, where: str) -> str:
    if not word(value, where).isprintable() or not 0 < len(value) <= 200:
        raise Rejected(f"{where}: {shown(value)} is no id")
    return value


def _digest(value: Any, where: str) -> str:
    if not _DIGEST.fullmatch(word(value, where)):
        raise Rejected(f"{where}: {shown(value)} is not a SHA-256 in hexadecimal")
    return value


@cache
def _self_test() -> None:
    """Refuse a ball library whose elementary operations are wrong (one release negated wrongly)."""
    with ctx.workprec(128):
        third, wide = arb(1) / 3, arb(1, 2)
        right = (
            bool(-third < 0)
            and bool(3 * third - 1 < arb(2) ** -100)
            and not third > arb(1) / 3
            and bool(abs(wide) <= 4)
            and not bool(wide > -1)
            and bool(arb(1).exp() > arb(271828) / 100000)
            and bool(arb(2).sqrt() * arb(2).sqrt() <= arb(2) + arb(2) ** -100)
            and not (1 / wide).is_finite()
            and not (wide.log() * 0).is_finite()
        )
    if not right:
        raise RuntimeError("python-flint's balls fail their self-test; install another version")
