"""What a package ships beside its theorems, written anew where it no longer fits them: `verify pin`.

These are the digests of the statements, a certificate of each example, the map of which hypotheses are needed, and
FINDINGS.md. What still fits is left as it is.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.checking.certificates import write_certificate, written
from verify.checking.check import check
from verify.checking.loading import load_theorem
from verify.checking.registry import finding_ids, package_folder, package_of, theorem_ids
from verify.checking.standing import DIGESTS, rechecked, shipped_path, standing
from verify.errors import InputError, TheoremError
from verify.evaluation.instances import parse
from verify.reports import necessity_map
from verify.reports.findings import findings_text, load_finding
from verify.search.necessity import necessity

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem


@dataclass(frozen=True)
class Pinned:
    """One thing that did not fit, a `digest`, `certificate`, `map` or `findings`: of what, where, and what was wrong.

    `failed` says why it could not be written, nothing where it was.
    """

    what: str
    id: str
    path: str
    why: str
    failed: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of `verify pin --json`."""
        return asdict(self)


def pin(package: str | None, *, seconds: float) -> Iterator[Pinned]:
    """Write what does not fit the theorems of a package, and yield each thing once it is written.

    Parameters
    ----------
    package
        A top-level package; None for the one whose folder is in the working directory.
    seconds
        Time budget for the check of an example, and for each hypothesis.

    Raises
    ------
    InputError
        For a package that has no theorems, or is no project's own: there is no `pyproject.toml` above it.
    """
    package, root = _project(package)
    theorems = {name: load_theorem(name) for name in theorem_ids(package)}
    yield from _digests(package, theorems.values())
    for theorem in _used_first(theorems):
        yield from _certificate(theorem, seconds)
    for theorem in theorems.values():
        yield from _map(theorem, seconds)
    yield from _left_over(package, set(theorems))
    yield from _findings(package, root, theorems.values())


def _project(package: str | None) -> tuple[str, Path]:
    """Return a package and the folder of the project that it is in. Raises InputError."""
    known = sorted({package_of(name) for name in theorem_ids()})
    if package is None:
        near = [name for name in known if package_folder(name).is_relative_to(Path.cwd())]
        if len(near) != 1:
            found = f"are {', '.join(near)}" if near else f"is none; known are {', '.join(known)}"
            raise InputError("package", Path.cwd(), f"must be named: of those with theorems, in this folder {found}")
        (package,) = near
    if package not in known:
        raise InputError("package", package, f"has no theorems; known are {', '.join(known)}")
    folder = package_folder(package)
    root = next((above for above in folder.parents if (above / "pyproject.toml").is_file()), None)
    if root is None:
        raise InputError("package", package, f"is no project of yours: there is no pyproject.toml above {folder}")
    return package, root


def _used_first(theorems: dict[str, "Theorem"]) -> Iterator["Theorem"]:
    """Yield theorems, each after those that its proof uses."""
    left = dict(theorems)
    while left:
        free = [name for name, theorem in left.items() if not set(theorem.proof_uses) & (set(left) - {name})]
        for name in free or list(left):
            yield left.pop(name)


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _digests(package: str, theorems: "Iterable[Theorem]") -> Iterator[Pinned]:
    path = package_folder(package) / DIGESTS
    pinned = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    digests = {theorem.id: theorem.statement.digest for theorem in theorems}
    if digests == pinned:
        return
    _replace(path, json.dumps(digests, indent=2) + "\n")
    for name in sorted(digests.keys() | pinned.keys()):
        before, now = pinned.get(name, "none"), digests.get(name, "none")
        if before != now:
            yield Pinned("digest", name, str(path), f"it was {before[:12]} and is {now[:12]}")


def _certificate(theorem: "Theorem", seconds: float) -> Iterator[Pinned]:
    path, why = shipped_path(theorem.id), standing(theorem).why
    found = rechecked(theorem.id)
    example = {name: written(value) for name, value in parse(theorem.statement, theorem.example).items()}
    if not why and not isinstance(found, str) and dict(found.instance) != example:
        why = "it is of another instance than the example"
    if not why:
        return
    before = path.read_bytes() if path.is_file() else b""
    path.parent.mkdir(exist_ok=True)
    try:
        # Proofs are found anew, and not taken from the file.
        write_certificate(theorem, check(theorem, theorem.example, seconds=seconds, shipped=False), path)
    except (InputError, TheoremError) as error:
        yield Pinned("certificate", theorem.id, str(path), why, failed=str(error))
        return
    if path.read_bytes() != before:
        yield Pinned("certificate", theorem.id, str(path), why)
    if left := standing(theorem).why:
        yield Pinned("certificate", theorem.id, str(path), why, failed=left)


def _map(theorem: "Theorem", seconds: float) -> Iterator[Pinned]:
    shipped = necessity_map.shipped(theorem)
    refused = (necessity_map.refusal(theorem, row) for row in shipped.hypotheses)
    why = shipped.why or next(filter(None, refused), "")
    if not why:
        return
    folder, failed = necessity_map.folder(theorem.id), ""
    try:
        result = necessity(theorem, seconds=seconds)
        if result.interrupted:
            raise KeyboardInterrupt
        necessity_map.write(theorem, result, folder)
    except (InputError, TheoremError) as error:
        failed = str(error)
    yield Pinned("map", theorem.id, str(folder / f"{theorem.id}.json"), why, failed)


def _left_over(package: str, ids: set[str]) -> Iterator[Pinned]:
    """Remove the files of theorems that there are no more."""
    folder = package_folder(package)
    for path in sorted([*folder.glob("certificates/*.json"), *folder.glob("necessity/*.json")]):
        of = path.name.removesuffix(".json")
        if of not in ids and not any(of.startswith(f"{name}.") and of.endswith(".certificate") for name in ids):
            path.unlink()
            what = "certificate" if path.parent.name == "certificates" else "map"
            yield Pinned(what, of, str(path), "it is of no theorem: removed")


def _findings(package: str, root: Path, theorems: "Iterable[Theorem]") -> Iterator[Pinned]:
    path, findings = root / "FINDINGS.md", [load_finding(name) for name in finding_ids(package)]
    if not findings and not path.is_file():
        return
    text = findings_text(findings) + necessity_map.map_text(theorems)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        _replace(path, text)
        yield Pinned("findings", package, str(path), "the text was another")
