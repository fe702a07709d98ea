"""The list of theorems, with the standing of each, from shipped certificates that the re-checker accepts.

The rows are cached together with the state of every file that they depend on, so that listing them need not load SymPy.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify import remembered
from verify.checking.doors import doors
from verify.checking.registry import ids, listed, package_folder, packages
from verify.errors import InputError, meant
from verify.files import sources
from verify.outcomes import ForAll, Formal, Trust, count_text, how_sure
from verify.reports.display.layout import WIDTH, fitted
from verify.reports.findings import WRITTEN_BY

# This module loads SymPy.
if TYPE_CHECKING:
    from verify.checking.theorem import Theorem


def list_rows(
    paper: str | None = None, *, tell: Callable[[int, int], None] | None = None, keep: bool = False
) -> list[dict[str, Any]]:
    """Return a row for each theorem, sorted by id; from the cache if no file that the rows depend on has changed.

    Parameters
    ----------
    paper
        The paper of the theorems, or None for all.
    tell
        `tell(done, total)` is called with the progress, in theorems.
    keep
        Whether to cache the rows. They are cached only if they cover all theorems and no module of the packages was
        loaded before: a loaded module may be older than its file.

    Raises
    ------
    InputError
        For a paper that has no theorems.
    """
    before = {name.partition(".")[0] for name in sys.modules}
    every = ids("theorem")
    if paper is not None:
        known = sorted({name.split(".")[0] for name in every})
        if paper not in known:
            raise InputError("--paper", paper, f"has no theorems here; {meant(paper, known)}")
    asked = [name for name in every if paper in (None, name.split(".")[0])]
    digest = _digest() if keep or remembered.USER.knows(kept_as()) else ""
    kept = remembered.USER.recall(kept_as(), digest)
    if kept is not None and kept["others"] == [_state(file) for file, *_ in kept["others"]]:
        return [row for row in kept["rows"] if row["id"] in asked]
    rows = []
    for name in asked:
        rows.append(_row(name))
        if tell:
            tell(len(rows), len(asked))
    if keep and before.isdisjoint(packages()) and asked == every and digest == _digest():
        remembered.USER.remember(kept_as(), digest, {"others": list(_others()), "rows": rows})
    return rows


def kept_as() -> str:
    """Return the name under which the rows are cached; it depends on the folders from which modules are loaded."""
    # The path's first entry depends on how the program was started: the working directory or the script's folder.
    return f"theorems.{remembered.digest_of(repr(sys.path[1:]).encode())[:16]}"


def _row(name: str) -> dict[str, Any]:
    from verify.checking.theorem import load_theorem

    return theorem_row(load_theorem(name))


def _digest() -> str:
    """Return a digest of everything that the rows are made from, except modules of other packages.

    It covers the version of Python, the module folders, the listed theorems, the doors (`verify.checking.doors`), the
    sources of `verify`, and all files of the packages.
    """
    parts = [sys.version.encode(), kept_as().encode(), str(listed("theorem")).encode()]
    parts += [each.digest.encode() for each in doors()[0]]
    for name, path in (*sources("verify"), *(file for package in packages() for file in _files(package))):
        parts += [name.encode(), path.read_bytes()]
    return remembered.digest_of(*parts)


def _files(package: str) -> Iterator[tuple[str, Path]]:
    try:
        folder = package_folder(package)
    except InputError:
        # The package is a single module, which has no files beside it.
        yield from sources(package)
        return
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.parent.name != "__pycache__":
            yield path.relative_to(folder.parent).as_posix(), path


def _others() -> Iterator[list[Any]]:
    """Yield the state of the file of every other loaded module, such as SymPy's."""
    ours = {"verify", *packages()}
    files = {
        getattr(module, "__file__", None) for name, module in sys.modules.items() if name.split(".")[0] not in ours
    }
    yield from map(_state, sorted(file for file in files if isinstance(file, str)))


def _state(file: str) -> list[Any]:
    try:
        status = Path(file).stat()
    except OSError:
        return [file]
    return [file, status.st_size, status.st_mtime_ns]


def theorem_row(theorem: "Theorem") -> dict[str, Any]:
    """Return the row of a theorem in the list."""
    from verify.checking.formal.record import recorded
    from verify.checking.standing import standing

    known, claims = standing(theorem), [claim.label for claim in theorem.statement.claims]
    return {
        "id": theorem.id,
        "title": theorem.title,
        "paper": theorem.source.paper.key if theorem.source.paper else None,
        "source": str(theorem.source),
        "claims": [
            {"label": claim.label, "claim": claim.text, "for_all_parameters": known.clauses[claim.label].standing}
            for claim in theorem.statement.claims
        ],
        "for_all_parameters": known.for_all_parameters.standing,
        "why": known.why,
        "inferences_argued": len(known.for_all_parameters.inferences),
        "inferences_own": known.for_all_parameters.own,
        "formal": known.for_all_parameters.formal_to_json(),
        "formal_claims": [label for label in claims if known.clauses[label].standing is ForAll.FORMAL],
        "not_formal": recorded(theorem).not_formal,
        "proved": known.for_all_parameters.standing in (ForAll.FORMAL, ForAll.PROVED),
        "best_instance_evidence": known.evidence,
        "trusts": [trust._asdict() for trust in known.trusts],
        "for_all_trusts": [trust._asdict() for trust in sorted(known.for_all_parameters.trusts)],
    }


def rows_text(rows: list[dict[str, Any]], columns: int = WIDTH) -> str:
    """Return the rows for people: each theorem's title, its standing for all parameters, and its evidence."""
    lines = []
    for row in rows:
        evidence = how_sure(row["best_instance_evidence"], _trusts(row["trusts"]))
        known = f"{established_text(row)}; at its example: {evidence}" if evidence else established_text(row)
        lines += [f"{row['id']}: {row['title']}", f"    {known}"]
    return fitted([*lines, standings_text(rows), "verify show THEOREM: its claims, and what establishes each"], columns)


def established_text(row: Mapping[str, Any]) -> str:
    """Return a row's standing for all parameters as text.

    The text also has the trusted packages and, if they apply, the numbers of own and inherited inferences, the formal
    claims, and the reason why the theorem is open or not formal.
    """
    own = row["inferences_own"]
    inherited = f", {more} inherited" if (more := row["inferences_argued"] - own) else ""
    argued = row["for_all_parameters"] == ForAll.ARGUED
    counted = f" ({count_text(own, 'inference')}{inherited})" if argued else ""
    counted = _stated(row) or counted
    # No proof is looked for here: a claim without a certificate is open, but `verify pin` may find its proof.
    counted = f" ({row['why']})" if row["for_all_parameters"] == ForAll.OPEN and row["why"] else counted
    some = "" if row["formal"] or not row["formal_claims"] else f"; formal: {', '.join(row['formal_claims'])}"
    some += f"; not formal: {row['not_formal']}" if row["not_formal"] else ""
    return how_sure(f"{row['for_all_parameters']}{counted}", _trusts(row["for_all_trusts"])) + some


def _stated(row: Mapping[str, Any]) -> str:
    formal = row["formal"]
    return f" ({Formal.stated_text(formal['stated'], formal['besides'])})" if formal else ""


def _trusts(listed: Iterable[dict[str, Any]]) -> list[Trust]:
    return [Trust(**trust) for trust in listed]


def standings_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one line that counts the rows of each standing, the inferences, and the rows that trust a package."""
    rows = list(rows)
    counts = Counter(row["for_all_parameters"] for row in rows)
    recorded = sorted({by for row in rows if row["formal"] for by in row["formal"]["by"]})
    meant = {ForAll.FORMAL: f" ({' and '.join(recorded)})"}
    stands = ", ".join(f"{counts[each]} {each}{meant.get(each, '')}" for each in ForAll if counts[each])
    helped = [sum(bool(row[trusts]) for row in rows) for trusts in ("for_all_trusts", "trusts")]
    of = ("for all parameters", "at the example")
    more = "".join(f"; trusting a package {each}: {n}" for each, n in zip(of, helped, strict=True) if n)
    return f"for all parameters: {stands}; argued inferences: {sum(row['inferences_own'] for row in rows)}{more}"


def standings_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return, in Markdown, the standing of each theorem, with the numbers of its own and inherited inferences."""
    rows = list(rows)
    said = standings_text(rows)
    lines = ["# How each theorem is established", "", f"{said[0].upper()}{said[1:]}. {WRITTEN_BY}.", ""]
    lines += ["| theorem | for all parameters | own inferences | inherited | claims |", "|---|---|---|---|---|"]
    for row in rows:
        claims = "; ".join(f"{claim['label']} ({claim['for_all_parameters']})" for claim in row["claims"])
        own = row["inferences_own"]
        counts = f"{own} | {row['inferences_argued'] - own}"
        lines.append(f"| `{row['id']}` | {row['for_all_parameters']}{_stated(row)} | {counts} | {claims} |")
    return "\n".join([*lines, ""])
