"""`verify pin`: update the files that a package ships beside its theorems.

The files are the catalogue, the digests of the statements, a certificate of each example, a map of each theorem's
hypotheses, and FINDINGS.md with the pages that it links to. A file that matches the theorems is kept. A certificate or
a map is also kept if it shows more than a new search finds.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.checking.certificates import VERSION, not_at_hand, write_certificate, written
from verify.checking.check import check, check_wrong
from verify.checking.doors import door, with_doors
from verify.checking.registry import CATALOGUE, KINDS, catalogue, catalogued, ids, package_folder, packages
from verify.checking.standing import DIGESTS, pinned_digests, rechecked, shipped_path, standing
from verify.checking.theorem import load_theorem
from verify.claims.in_words import in_words
from verify.errors import InputError, TheoremError, meant
from verify.evaluation.instances import parse
from verify.files import json_object, write_whole
from verify.outcomes import Evidence, Outcome, count_text
from verify.rechecker import Accepted, Rejected, Trusted, Unreadable, recheck_text
from verify.reports import necessity_map
from verify.reports.catalogue import catalogue_text
from verify.reports.findings import PAGES, WRITTEN_BY, Finding, findings_pages, load_finding
from verify.reports.listing import standings_table, theorem_row
from verify.search.necessity import necessity

if TYPE_CHECKING:
    from collections.abc import Collection

    from verify.checking.theorem import Theorem
    from verify.outcomes import CheckResult

_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Pinned:
    """A file that did not match the theorems.

    `what` is its kind: `catalogue`, `digest`, `certificate`, `map` or `findings`. `id` is its theorem or package, and
    `why` the reason why it did not match. `failed` is the reason why it was not written, empty if it was.
    """

    what: str
    id: str
    path: str
    why: str
    failed: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify pin --json`."""
        return asdict(self)

    def text(self) -> str:
        """Return the line of `verify pin`."""
        of, before = f"{self.what} of {self.id}", f"(before: {self.why})"
        return f"not written: {of}: {self.failed} {before}" if self.failed else f"wrote the {of}: {self.path} {before}"


def pin(package: str | None, *, seconds: float, tell: Callable[[int, int], None] | None = None) -> Iterator[Pinned]:
    """Write the files that do not match the theorems of a package; yield each after it is written or has failed.

    Parameters
    ----------
    package
        A top-level package; None for the only package whose folder is in the working directory.
    seconds
        Time budget for the check of each example, and for each hypothesis of a map.
    tell
        Called as `tell(done, total)`, where both count certificates and maps.

    Raises
    ------
    InputError
        If the package has no theorems or belongs to no project, or if a theorem, a finding or a file cannot be read.
    KeyboardInterrupt
        If Ctrl-C ends a check or a search; its file is then not written.
    """
    package, root = _project(package)
    yield from _catalogue(package)
    theorems = {name: load_theorem(name) for name in ids("theorem", package)}
    findings, pinned = [load_finding(name) for name in ids("finding", package)], pinned_digests(package)
    yield from _digests(package, theorems, pinned)
    yield from (renewed for renewed in migrate(package) if not renewed.failed)
    parts = [(_certificate, theorem) for theorem in _used_first(theorems)]
    parts += [(_map, theorem) for theorem in theorems.values()]
    for done, (part, theorem) in enumerate(parts):
        if tell:
            tell(done, len(parts))
        yield from part(theorem, seconds)
    if findings:
        yield from _findings(package, root, findings, theorems.values())


def migrate(package: str | None) -> Iterator[Pinned]:
    """Rewrite the certificates of the previous version or with changed doors; keep their statements and proofs.

    `verify.checking.doors` explains doors. Each certificate is re-checked with the doors on which it rests before it is
    written. Raises InputError as `pin` does.
    """
    package, _ = _project(package)
    for name in ids("theorem", package):
        for path in (shipped_path(name), *sorted(necessity_map.folder(name).glob(f"{name}.*.certificate.json"))):
            data = json_object(path.read_bytes()) if path.is_file() else {}
            if why := _outdated(data):
                proofs = count_text(len(data.get("clauses", ())), "proof")
                why += f"; the statement {str(data.get('statement_digest'))[:12]} and its {proofs} stay as they are"
                yield Pinned("certificate", name, str(path), why, _tried(partial(_renewed, path, data)))


def _outdated(data: dict[str, Any]) -> str:
    """Return the reason to rewrite a certificate whose proofs may still hold; "" if there is none."""
    if data.get("version") == VERSION - 1:
        return f"version {VERSION - 1}"
    try:
        return next(filter(None, (not_at_hand(Trusted(**each)) for each in data["trusts"])), "")
    except (AttributeError, KeyError, TypeError):
        # The data are not a certificate of this version.
        return ""


def _renewed(path: Path, data: dict[str, Any]) -> str | None:
    """Write a certificate in the current version, with the current doors; return the reason if it is refused."""

    def text(trusts: Iterable[Trusted]) -> str:
        now = {**data, "version": VERSION, "trusts": [each._asdict() for each in trusts]}
        return json.dumps(now, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"

    registry, refused = with_doors()
    try:
        # A re-check with all doors finds those on which the certificate rests.
        used = recheck_text(text(sorted(set(registry.brought.values()))).encode(), door=door).trusts
        recheck_text(text(used).encode(), door=door)
    except (Rejected, Unreadable) as error:
        return "; ".join([str(error), *refused])
    return write_whole(path, text(used))


def _project(package: str | None) -> tuple[str, Path]:
    """Return a package's name and the folder of its project. Raises InputError if one is not found or not unique."""
    roots = {name: _root(name) for name in sorted({*packages(), *catalogued()})}
    if package is None:
        near = [name for name, root in roots.items() if root and package_folder(name).is_relative_to(Path.cwd())]
        if len(near) != 1:
            ids("theorem")
            why = f"here are {', '.join(near)}" if near else f"none with theorems is here; known: {', '.join(roots)}"
            raise InputError("package", Path.cwd(), f"must be named: {why}")
        (package,) = near
    # `ids` raises InputError for a catalogue that cannot be read.
    if package not in roots and not ids("theorem", package):
        raise InputError("package", package, f"has no theorems; {meant(package, roots)}")
    folder, root = package_folder(package), roots[package]
    if root is None:
        why = f"{folder} is installed, or has no pyproject.toml above it"
        raise InputError("package", package, f"is not in a project: {why}")
    return package, root


def _root(package: str) -> Path | None:
    """Return the folder with the `pyproject.toml` of a package's project; None if it is only installed or not found."""
    try:
        folder = package_folder(package)
    except InputError:
        return None
    for above in folder.parents:
        if above.name in _INSTALLED or (above / "pyvenv.cfg").is_file():
            return None
        if (above / "pyproject.toml").is_file():
            return above
    return None


def _used_first(theorems: dict[str, "Theorem"]) -> Iterator["Theorem"]:
    """Yield the theorems in an order in which each follows the theorems that its proof uses."""
    left = dict(theorems)
    while left:
        free = [name for name, theorem in left.items() if not set(theorem.proof_uses) & (set(left) - {name})]
        for name in free or list(left):
            yield left.pop(name)


def _tried(write: Callable[[], str | None]) -> str:
    """Call `write`; return the reason of a failure, "" for success."""
    try:
        return write() or ""
    except (InputError, TheoremError) as error:
        return str(error)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"


def _catalogue(package: str) -> Iterator[Pinned]:
    """Write a package's catalogue if an entry point names the package and the entries have changed.

    Raises InputError as `catalogue_text` does.
    """
    if package not in catalogued():
        return
    path, text = package_folder(package) / CATALOGUE, catalogue_text(package)
    before, now = (
        {(kind, *entry) for kind in KINDS for entry in part.get(f"{kind}s", {}).items()}
        for part in (catalogue(package), json.loads(text))
    )
    if before != now:
        why = f"its entries differed for {', '.join(sorted({name for _, name, _ in before ^ now}))}"
        yield Pinned(
            "catalogue",
            package,
            str(path),
            why if before else "it is missing",
            _tried(partial(write_whole, path, text)),
        )


def _digests(package: str, theorems: dict[str, "Theorem"], pinned: dict[str, str]) -> Iterator[Pinned]:
    path, digests = package_folder(package) / DIGESTS, {name: t.statement.digest for name, t in theorems.items()}
    changed = [name for name in sorted(digests.keys() | pinned.keys()) if digests.get(name) != pinned.get(name)]
    failed = _tried(lambda: write_whole(path, json.dumps(digests, indent=2) + "\n")) if changed else ""
    for name in changed:
        before, now = pinned.get(name, "none"), digests.get(name, "none")
        yield Pinned("digest", name, str(path), f"it was {before[:12]} and is {now[:12]}", failed)


def _certificate(theorem: "Theorem", seconds: float) -> Iterator[Pinned]:
    path, known, certificate = shipped_path(theorem.id), standing(theorem), rechecked(theorem.id)
    why = known.why
    if not isinstance(certificate, str):
        try:
            example = {name: written(value) for name, value in parse(theorem.statement, theorem.example).items()}
        except InputError as error:
            yield Pinned("certificate", theorem.id, str(path), "the example cannot be read", str(error))
            return
        why = why or ("" if dict(certificate.instance) == example else "it is of another instance than the example")
    said = in_words(theorem.statement)
    if unevaluated := sorted(said - theorem.evaluations.keys()):
        refused = f"nothing evaluates the claim in words {unevaluated[0]}: give the theorem an Evaluation of it"
        yield Pinned("certificate", theorem.id, str(path), why or "a claim is only stated", refused)
        return
    if not why:
        return
    yield Pinned(
        "certificate", theorem.id, str(path), why, _tried(partial(_certify, theorem, path, certificate, seconds))
    )


def _certify(theorem: "Theorem", path: Path, certificate: "Accepted | str", seconds: float) -> str | None:
    """Replace the certificate of a theorem's example; return the reason if it is kept or no new one is possible."""
    # The search for proofs is repeated: none is taken from the shipped file.
    result, said = check(theorem, theorem.example, seconds=seconds, use_certificate=False), in_words(theorem.statement)
    if result.interrupted:
        raise KeyboardInterrupt
    if refused := _refused(theorem, result, said, seconds):
        return refused
    if not isinstance(certificate, str) and certificate.statement_digest == theorem.statement.digest:
        before = _weakest(clause.evidence for clause in certificate.clauses)
        own = _weakest(clause.evidence for clause in result.clauses if clause.label not in said)
        if before is not None and own is not None and Evidence.weakest([before, own]) is not before:
            return f"the new evidence is {own}, and the shipped evidence {before}"
        trusted = {(trust.name, trust.version) for trust in certificate.trusts}
        more = sorted({str(trust) for trust in result.trusts if (trust.name, trust.version) not in trusted})
        if before is not None and more:
            return f"the new certificate trusts {', '.join(more)}, and the shipped one does not"
    path.parent.mkdir(exist_ok=True)
    return write_certificate(theorem, result, path)


def _refused(theorem: "Theorem", result: "CheckResult", said: "Collection[str]", seconds: float) -> str:
    """Return why an example cannot be certified; "" if it can.

    It cannot if it is out of scope, a clause is not verified, or the wrong variant of a claim in words is not refuted.
    """
    if any(clause.outcome is not Outcome.VERIFIED for clause in result.clauses) or not result.in_scope:
        return f"the example is {result.outcome}: {result.detail}"
    for label in sorted(said):
        wrong = check_wrong(theorem, label, theorem.example, seconds=seconds)
        if wrong.outcome is not Outcome.REFUTED:
            return f"the wrong variant of {label} is {wrong.outcome} at the example: {wrong.detail}"
    return ""


def _weakest(evidence: "Iterable[str | None]") -> Evidence | None:
    known = [Evidence(each) for each in evidence if each is not None]
    return Evidence.weakest(known) if known else None


def _map(theorem: "Theorem", seconds: float) -> Iterator[Pinned]:
    shipped, folder, refused = necessity_map.shipped(theorem), necessity_map.folder(theorem.id), list[str]()
    try:
        refused += [necessity_map.refusal(theorem, row) for row in shipped.hypotheses]
    except (InputError, OSError, KeyError, TypeError, AttributeError, StopIteration):
        refused.append("the map cannot be read")
    rows = zip(shipped.hypotheses, refused, strict=False)
    before = 0 if shipped.why else sum(not refusal and row["status"] != "undecided" for row, refusal in rows)

    def write() -> str | None:
        result = necessity(theorem, seconds=seconds)
        if result.interrupted:
            raise KeyboardInterrupt
        decided = sum(need.status != "undecided" for need in result.hypotheses)
        if decided < before:
            return f"the new map decides {decided} of the hypotheses, and the shipped one {before}"
        return necessity_map.write(theorem, result, folder)

    if why := shipped.why or next(filter(None, refused), ""):
        yield Pinned("map", theorem.id, str(folder / f"{theorem.id}.json"), why, _tried(write))


def pages(findings: "Iterable[Finding]", theorems: "Iterable[Theorem]") -> dict[str, str]:
    """Return the text of FINDINGS.md and of each page that it links to, by path."""
    theorems = list(theorems)
    standings, hypotheses = standings_table(map(theorem_row, theorems)), necessity_map.map_text(theorems)
    return findings_pages(findings) | {f"{PAGES}/standing.md": standings, f"{PAGES}/hypotheses.md": hypotheses}


def _findings(package: str, root: Path, findings: list[Finding], theorems: "Iterable[Theorem]") -> Iterator[Pinned]:
    for name, text in pages(findings, theorems).items():
        path = root / name
        before = path.read_bytes() if path.is_file() else b""
        if before != text.encode():
            why = "its text has changed" if before else "it is missing"
            yield Pinned("findings", package, str(path), why, _tried(partial(_page, path, text)))


def _page(path: Path, text: str) -> str | None:
    if path.is_file() and WRITTEN_BY not in path.read_text(encoding="utf-8"):
        return f"the file does not say {WRITTEN_BY!r}: it may be yours"
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_whole(path, text)
