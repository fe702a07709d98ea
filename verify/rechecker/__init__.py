"""The re-checker: a small program that accepts a certificate only when the proofs in it hold.

It trusts no computation of the engine. It reads the statement's data itself, and proves each clause again from the
data in the certificate, with the standard library's integers and fractions and with Arb's balls. It shares no code with
the search, the theorems or SymPy. An accepted certificate is about the statement that it contains, which its digest
identifies; this program does not judge the statement. `uses` names the theorems that the proof rests on, which are not
checked again. `trusts` names the doors, additions of packages (second computations, and kinds of clause or proof), that
the certificate rests on in addition to this program. The program looks them up among the installed doors, and loads
nothing that a file names.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypeVar

from flint import arb, ctx

from .clauses import CORE, IN_WORDS, KINDS, Shown, check_clause, is_for_all, shown_of
from .given import Given
from .kinds.relations import enclose
from .reading import (
    LONGEST_WORK,
    MOST_BYTES,
    NAME,
    Data,
    Effort,
    Rejected,
    TooLarge,
    Unknown,
    Unreadable,
    entries,
    items,
    line,
    parse,
    rational,
    shown,
    string,
)
from .registry import Door, Registry, Trusted, closed

__all__ = ["CORE", "IN_WORDS", "KINDS", "Accepted", "Instance", "Rejected", "Shown", "TooLarge", "Trusted", "Unknown"]
__all__ += ["Unreadable", "Verdict"]
__all__ += ["is_for_all", "recheck_file", "recheck_text"]

T = TypeVar("T")
Doors: TypeAlias = Callable[[str], Door]
"""A function that returns the installed door of a name. It raises Unknown if there is none."""
FORMAT, VERSION = "lemmascope-certificate", 3
_KEYS = "format version theorem statement statement_digest instance in_scope uses trusts clauses"
_ID = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST_DOORS = 100


@dataclass(frozen=True)
class Accepted:
    """The results of an accepted certificate.

    Parameters
    ----------
    theorem, statement_digest, instance
        The theorem's id in the file, the digest of its statement, and the instance as written.
    in_scope
        Whether all hypotheses hold at the instance.
    claims, steps
        Label, outcome, evidence and kind of proof of each claim and of each step.
    uses
        Ids and digests of the theorems that the proof rests on; their form is checked, and they agree with the pins.
    pinned
        Whether the pins have the theorem's id; if not, the id is only a name in the file.
    trusts
        The doors that the verdicts on clauses and scope rest on; none if the core alone accepts everything.
    """

    theorem: str
    statement_digest: str
    instance: Mapping[str, Data]
    in_scope: bool
    claims: tuple[Shown, ...]
    steps: tuple[Shown, ...]
    uses: tuple[tuple[str, str], ...]
    pinned: bool = False
    trusts: tuple[Trusted, ...] = ()

    @property
    def clauses(self) -> tuple[Shown, ...]:
        """Claims, then steps."""
        return (*self.claims, *self.steps)

    def to_json(self) -> dict[str, object]:
        """Return the result as an object of `verify recheck --json`."""
        plain = ("theorem", "statement_digest", "pinned", "in_scope")
        parts = (("claim", self.claims), ("step", self.steps))
        return {
            **{name: getattr(self, name) for name in plain},
            "instance": dict(self.instance),
            "clauses": [
                {**clause._asdict(), "role": role, "trusts": [each._asdict() for each in clause.trusts]}
                for role, part in parts
                for clause in part
            ],
            "trusts": [each._asdict() for each in self.trusts],
            "uses": [{"theorem": name, "statement_digest": digest} for name, digest in self.uses],
        }


def recheck_file(path: str | Path, pins: Mapping[str, str] | None = None, door: Doors = closed) -> Accepted:
    """Check the certificate in a file. Raises Rejected or Unreadable, and OSError if the file cannot be opened."""
    with Path(path).open("rb") as file:
        return recheck_text(file.read(MOST_BYTES + 1), pins, door)


def recheck_text(text: bytes, pins: Mapping[str, str] | None = None, door: Doors = closed) -> Accepted:
    """Check a certificate. Raises Rejected if it does not prove its claims, Unreadable if the text is no certificate.

    `pins` maps ids of theorems to the digests of their statements: a certificate that uses such an id for another
    statement, as its own id or in `uses`, is rejected. `door` returns the installed door of a name, or raises Unknown;
    by default, nothing beyond the core is accepted.
    """
    _self_test()
    return _within_limits(lambda: _checked(parse(text), pins or {}, door))


def _within_limits(work: Callable[[], T]) -> T:
    """Return `work()`. Raises TooLarge if the stack or the memory does not suffice."""
    try:
        return work()
    except RecursionError:
        lacked = TooLarge("calls in each other", sys.getrecursionlimit())
    except MemoryError:
        lacked = TooLarge("memory", None)
    # An error that is raised here has no reference to the objects that filled the memory.
    raise lacked


@dataclass(frozen=True)
class Verdict:
    """The verdict on one proof.

    Parameters
    ----------
    evidence
        `proved` or `certified` if the proof is accepted, else None.
    why
        The reason if the proof is not accepted.
    rejected
        Whether the proof was understood and does not prove its claim. If this is False and there is no evidence, the
        proof is beyond this program: it has an unknown primitive or form, or needs more work than is allowed.
    trusts
        The doors that the evidence rests on.
    """

    evidence: str | None
    why: str = ""
    rejected: bool = False
    trusts: tuple[Trusted, ...] = field(default=(), kw_only=True)


class Instance:
    """A statement at an instance in this process; proofs of its clauses and values are checked like those in a file."""

    def __init__(
        self, statement: object, instance: object, work: float = LONGEST_WORK, *, registry: Registry = CORE
    ) -> None:
        """Read a statement's data, or its JSON text; `work` bounds the cost of all checks, in nominal microseconds."""
        _self_test()
        self._given, self._failed = None, Verdict(None)

        def given() -> Given:
            # The data are written and read as in a file.
            text = statement if isinstance(statement, str) else json.dumps(statement)
            data = items(parse(f"[{text}, {json.dumps(instance)}]".encode()), "the statement and the instance", 2)
            return Given(data[0], data[1], Effort(work), registry)

        try:
            self._given = _within_limits(given)
        except (Rejected, Unreadable) as error:
            self._failed = _refusal(error)

    def verdict(self, clause: object, stated: object) -> Verdict:
        """Check a clause, given as data, against an outcome and its proof; the clause need not be in the statement."""
        given = self._given
        if given is None:
            return self._failed

        def shows() -> Verdict:
            read, said = items(parse(json.dumps([clause, stated]).encode()), "clause", 2)
            said = entries(said, "clause", "label outcome proof", ("evidence",))
            found = shown_of(given, read, said, "clause")
            return Verdict(found.evidence, trusts=found.trusts)

        try:
            return _within_limits(shows)
        except (Rejected, Unreadable) as error:
            return _refusal(error)

    def scope_trusts(self) -> tuple[Trusted, ...]:
        """Return the doors on which the verdict on the hypotheses rests."""
        return self._given.trusts([], hypotheses_used=True) if self._given is not None else ()

    def in_scope(self) -> tuple[bool | None, str]:
        """Return whether all hypotheses hold at the instance; None and the reason if that is not decided."""
        given = self._given
        if given is None:
            return None, self._failed.why
        try:
            return _within_limits(lambda: given.in_scope), ""
        except Rejected as error:
            return None, _refusal(error).why

    def encloses(self, expression: object, lower: Data, upper: Data, bits: int) -> Verdict:
        """Check that an expression's value is in [lower, upper]: in balls of `bits` bits, or exactly for equal ends."""
        given = self._given
        if given is None:
            return self._failed

        def enclosed() -> Verdict:
            data = parse(json.dumps(expression).encode())
            low, high = (rational(end, "value") for end in (lower, upper))
            enclose(given, given.expression(data, "value"), (low, high), bits, "value")
            return Verdict("certified", trusts=given.trusts([data], hypotheses_used=False))

        try:
            return _within_limits(enclosed)
        except (Rejected, Unreadable) as error:
            return _refusal(error)


def _refusal(error: Exception) -> Verdict:
    return Verdict(None, str(error), not isinstance(error, Unknown | TooLarge | Unreadable))


def _of_this_version(data: Data) -> dict[str, Data]:
    """Return the parts of a certificate. Raises Unreadable for another format or version."""
    if type(data) is not dict or data.get("format") != FORMAT:
        raise Unreadable(f"the file is no {FORMAT}")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        known = f"is not {VERSION}, the version that this program reads"
        earlier = "; lemmascope 0.1.0 reads it, `verify pin --migrate` rewrites it" if data.get("version") == 2 else ""
        how = "write the certificate anew (`verify check --certificate`)"
        raise Unreadable(f"version: {shown(data.get('version'))} {known}{earlier}: {how}")
    return entries(data, "the certificate", _KEYS)


def _used(data: Data) -> tuple[tuple[str, str], ...]:
    """Return the ids and digests of the statements that a certificate uses."""
    uses: list[tuple[str, str]] = []
    for i, pair in enumerate(items(data, "uses")):
        name, used = items(pair, f"uses[{i}]", 2)
        uses.append((_id(name, f"uses[{i}][0]"), _digest(used, f"uses[{i}][1]")))
    return tuple(uses)


def _trusted(data: Data, where: str) -> Trusted:
    """Return the door that an entry of a certificate's `trusts` names."""
    said = entries(data, where, "name version package digest")
    name, package = (line(said[part], f"{where}.{part}") for part in ("name", "package"))
    if type(version := said["version"]) is not int or version < 1:
        raise Rejected(f"{where}.version: {shown(version)} is no version: an integer from 1 on")
    return Trusted(name, version, package, _digest(said["digest"], f"{where}.digest"))


def _with_doors(trusts: Sequence[Trusted], door: Doors) -> Registry:
    """Return the core with the contents of some doors. Raises Unknown if one is not installed as named."""
    registry = CORE
    for i, trusted in enumerate(trusts):
        try:
            found = door(trusted.name)
            if found.package != trusted.package:
                raise Unknown(f"{trusted} is installed in the package {found.package}, not in {trusted.package}")
            if found.digest != trusted.digest:
                raise Unknown(f"{trusted} is installed with the digest {found.digest[:12]}, not {trusted.digest[:12]}")
            more = found.load()
            if more.version != trusted.version:
                raise Unknown(f"{trusted} is installed as version {more.version}")
            registry = registry.with_rechecks(trusted, more)
        except Unknown as error:
            raise Unknown(f"trusts[{i}]: {error}") from None
    return registry


def _checked(certificate: Data, pins: Mapping[str, str], door: Doors) -> Accepted:
    data = _of_this_version(certificate)
    theorem = _id(data["theorem"], "theorem")
    stated = _digest(data["statement_digest"], "statement_digest")
    # This is the canonical form of verify.language.expressions.digest; a test compares the two.
    canonical = json.dumps(data["statement"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    if hashlib.sha256(canonical.encode()).hexdigest() != stated:
        raise Rejected("statement_digest: is not the digest of the statement in the file")
    uses = _used(data["uses"])
    for name, digest, where in ((theorem, stated, "theorem"), *((*pair, "uses") for pair in uses)):
        if pins.get(name, digest) != digest:
            raise Rejected(f"{where}: {name} is another statement, of digest {pins[name][:12]}, not {digest[:12]}")
    trusts = [_trusted(each, f"trusts[{i}]") for i, each in enumerate(items(data["trusts"], "trusts"))]
    if len(trusts) > _MOST_DOORS:
        raise TooLarge("doors", _MOST_DOORS)
    given = Given(data["statement"], data["instance"], Effort(), _with_doors(trusts, door))
    in_scope = given.in_scope
    if type(data["in_scope"]) is not bool or data["in_scope"] != in_scope:
        raise Rejected(f"in_scope: {shown(data['in_scope'])} does not agree with the hypotheses at the instance")
    written = [*given.claims, *given.steps]
    clauses = items(data["clauses"], "clauses", len(written))
    shows = tuple(
        check_clause(given, clause, stated, f"clauses[{i}]")
        for i, (clause, stated) in enumerate(zip(written, clauses, strict=True))
    )
    if not given.claims:
        raise Rejected("statement.claims: is empty")
    labels = [*given.labels, *(clause.label for clause in shows)]
    if len(set(labels)) != len(labels):
        raise Rejected("statement: has two hypotheses or clauses of one label")
    if any(clause.kind == IN_WORDS for clause in shows[len(given.claims) :]):
        raise Rejected("statement.steps: a step needs a proof, and cannot be in words")
    claims, steps = shows[: len(given.claims)], shows[len(given.claims) :]
    used = {*given.trusts([], hypotheses_used=True)}.union(*(clause.trusts for clause in shows))
    return Accepted(
        theorem, stated, given.instance, in_scope, claims, steps, uses, theorem in pins, tuple(sorted(used))
    )


def _id(value: Data, where: str) -> str:
    """Return a theorem's id, followed by the labels of the hypotheses that are left out of the statement, if any."""
    text = line(value, where, 3 * NAME)
    name, _, without = text.partition(" without ")
    if len(name) > NAME or not _ID.fullmatch(name) or any(each in without for each in ".:;"):
        raise Unreadable(f"{where}: {shown(value)} is no id: parts of letters, digits, _ and - joined by '.'")
    return text


def _digest(value: Data, where: str) -> str:
    if not _DIGEST.fullmatch(text := string(value, where)):
        raise Rejected(f"{where}: {shown(value)} is not a SHA-256 in hexadecimal")
    return text


@cache
def _self_test() -> None:
    """Raise RuntimeError if the ball library's elementary operations are wrong (one release negated wrongly)."""
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
