"""Commands about files: certificates, exports, a package's pinned files, the report, and new theorem files."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from verify.errors import InputError
from verify.outcomes import Trust, count_text, how_sure
from verify.reports.commands.frame import (
    INCONCLUSIVE,
    INPUT_ERROR,
    INTERRUPTED,
    AsJson,
    bar_shown,
    fail,
    print_json,
    say,
    verb,
    warn,
)
from verify.reports.verbs import files as verbs
from verify.reports.verbs.theorems import list_language
from verify.shown import visible

_LONGEST_FORM = 44
_BELOW = "\n    "
_EXPORTED = {"proof": "with a proof", "statement": "without", "nothing": "not exported"}


@verb("recheck", "certificate.json", verbs.recheck)
def _recheck(
    files: Annotated[list[Path], typer.Argument(metavar="CERTIFICATE ...", show_default=False)],
    core: bool,
    as_json: AsJson = False,
) -> None:
    """Exits 0 if all certificates are accepted, 1 if not, 2 if one is unreadable."""
    from verify.rechecker import Rejected, TooLarge, Unknown, Unreadable

    rows, code = [], 0
    with bar_shown("certificates") as tell:
        for file in files:
            row: dict[str, Any] = {"path": str(file)}
            try:
                row |= {"status": "accepted", **verbs.recheck(file, core=core).to_json()}
            except Rejected as error:
                row |= {"status": "unknown" if isinstance(error, Unknown) else "rejected", "reason": str(error)}
                if isinstance(error, TooLarge):
                    row["limit"] = {"of": error.limited, "most": error.most}
                code = max(code, 1)
            except (Unreadable, InputError) as error:
                reason = error.requirement if isinstance(error, InputError) else str(error)
                row |= {"status": "unreadable", "reason": reason}
                code = INPUT_ERROR
            rows.append(row)
            if not as_json:
                (say if row["status"] == "accepted" else warn)(_recheck_line(row))
            if tell:
                tell(len(rows), len(files))
    if as_json:
        print_json({"files": rows})
    raise typer.Exit(code)


@verb("export", "wang2024.lemma1 --to rocq --out build", verbs.export)
def _export(
    theorem: str,
    to: str,
    out: Annotated[Path, typer.Option(metavar="DIR", help="where the files are written")] = Path(),
    as_json: AsJson = False,
    **effort: Any,
) -> None:
    """Rocq is not run here: compile the files to check the proofs."""
    result = verbs.export(theorem, to=to, out=out, **effort)
    files = [str(out / name) for name in result.files]
    if as_json:
        print_json({**result.to_json(), "files": files})
    elif to == "latex":
        known = result.to_json()["for_all_parameters"]
        say(visible(f"{result.theorem}: for all parameters {known}; wrote {', '.join(files)}"))
    else:
        say(visible(f"{_export_lines(result)}\nwrote {', '.join(files)}", lines=True))


def _export_lines(result: Any) -> str:
    counts = {of: sum(clause.exported == of for clause in result.clauses) for of in ("proof", "statement", "nothing")}
    clauses = count_text(len(result.clauses), "clause")
    of = ", ".join(f"{count} {_EXPORTED[of]}" for of, count in counts.items())
    rest = [f"{c.label}: {c.why}" for c in result.clauses if c.exported != "proof"]
    return "\n".join([f"{result.theorem}: {clauses}: {of}", *rest])


_PLAIN = re.compile(r"[\w./,+~-]+")


def _quoted(text: object) -> str:
    """Return a value as text, in quotation marks if it could be misread as other parts of the line."""
    return json.dumps(text, ensure_ascii=False) if isinstance(text, str) and not _PLAIN.fullmatch(text) else str(text)


def _recheck_line(row: dict[str, Any]) -> str:
    if row["status"] != "accepted":
        return visible(f"{row['path']}: {row['status']}: {' '.join(row['reason'].split())}")
    instance = "".join(f" {name}={_quoted(value)}" for name, value in row["instance"].items())
    clauses = ", ".join(
        f"{c['label']} {c['outcome']} ({_evidence(c)})" if c["evidence"] else f"{c['label']} in words, not shown"
        for c in row["clauses"]
    )
    scope = "" if row["in_scope"] else "; out of scope"
    of_clauses = {name for c in row["clauses"] for name in _trusts(c)}
    beside = [name for name in _trusts(row) if name not in of_clauses]
    scope += f"; the scope is certified, trusting {', '.join(beside)}" if beside else ""
    scope += "" if row["pinned"] else "; no package here pins a statement by this id"
    statement = f"{row['theorem']} {row['statement_digest'][:12]}"
    return visible(f"{row['path']}: accepted: {statement}{instance}{scope}: {clauses}")


def _trusts(part: dict[str, Any]) -> list[str]:
    return [str(Trust(**trust)) for trust in part["trusts"]]


def _evidence(clause: dict[str, Any]) -> str:
    return how_sure(f"{clause['evidence']}, {clause['kind']}", _trusts(clause))


@verb("language", "", list_language)
def _language(as_json: AsJson = False) -> None:
    rows = list_language()
    if as_json:
        print_json({"language": rows})
    else:
        short = [row["form"] for row in rows if len(row["form"]) <= _LONGEST_FORM]
        wide = max(map(len, short))
        say("\n".join(f"{r['form']:{wide}}{'  ' if r['form'] in short else _BELOW}{r['says']}" for r in rows))


@verb("pin", "theorems", verbs.pin)
def _pin(
    package: Annotated[str | None, typer.Argument(metavar="[PACKAGE]", show_default=False)] = None,
    as_json: AsJson = False,
    **effort: Any,
) -> None:
    """Exits 3 if a file cannot be updated."""
    found, code = [], 0
    try:
        with bar_shown("certificates and maps") as tell:
            for one in verbs.pin(package, tell=tell, **effort):
                found.append(one)
                code = INCONCLUSIVE if one.failed else code
                if not as_json:
                    (warn if one.failed else say)(visible(one.text()))
    except KeyboardInterrupt:
        code = fail("interrupted; the files written so far are kept", INTERRUPTED)
    if as_json:
        print_json({"pinned": [one.to_json() for one in found]})
    elif not found and not code:
        say("up to date")
    raise typer.Exit(code)


@verb("report", "--out build", verbs.report)
def _report(
    full: bool,
    out: Annotated[Path, typer.Option(metavar="DIR", help="where report.html is written")] = Path(),
    as_json: AsJson = False,
) -> None:
    """The first report takes some two minutes, and a report with --full takes tens of minutes."""
    from verify.reports.simulate import usable_store

    store = usable_store(None)
    with bar_shown("report") as tell:
        path = verbs.report(out, full=full, store=store, tell=tell)
    if as_json:
        print_json({"file": str(path), "full": full})
    else:
        say(visible(str(path)))


@verb("new", "my_lemma.py --kind inequality", verbs.new)
def _new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="file to write, NAME.py", show_default=False)],
    kind: str,
    as_json: AsJson = False,
) -> None:
    path = verbs.new(file, kind)
    if as_json:
        print_json({"file": str(path), "kind": kind})
    else:
        say(visible(f"{path}: its last lines are the commands to try"))
