"""The theorem gallery, from the catalogue: a page for each theorem, and a table of them all for each paper."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from docs.extensions.markdown import plain, table
from verify.checking.registry import ids
from verify.checking.theorem import Theorem, load_theorem
from verify.outcomes import number_text
from verify.reports.display.pages import page_of
from verify.reports.display.rendering import markdown
from verify.reports.findings import Finding, load_finding
from verify.reports.listing import established_text, list_rows, standings_text

ROOT = Path(__file__).parents[2]
_INTRODUCTION = """\
All theorems of the library. *For all parameters* says how a theorem's claims are established: `formal`, `proved`,
`argued` (with the number of inferences in prose) or `open`; *at its example* is the weakest evidence of its claims at
one instance. The [glossary](../reference/glossary.md) defines these words.
"""


def pages() -> dict[str, str]:
    """Return the gallery's pages by name."""
    rows = {row["id"]: row for row in list_rows(keep=True)}
    found = by_theorem()
    theorems = {name: load_theorem(name) for name in ids("theorem")}
    made = {name: page(theorem, rows[name], found.get(name, [])) for name, theorem in theorems.items()}
    return made | {"index": "\n\n".join(_index(theorems, rows))}


def by_theorem() -> dict[str, list[Finding]]:
    """Return the findings by the theorem that their command is about."""
    found: dict[str, list[Finding]] = {}
    for finding in map(load_finding, ids("finding")):
        found.setdefault(shlex.split(finding.command)[2], []).append(finding)
    return found


def _index(theorems: dict[str, Theorem], rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield "# Theorem gallery"
    yield _INTRODUCTION
    yield f"{standings_text(rows.values()).capitalize()}."
    for key, names in groupby(theorems, key=lambda name: name.split(".")[0]):
        paper = theorems[f"{key}.{(of_paper := [name.split('.')[1] for name in names])[0]}"].source.paper
        yield f"## {plain(paper.citation if paper else key)}"
        shown = [f"{key}.{name}" for name in of_paper]
        cells = ((f"[{plain(name)}]({name}.md)", plain(theorems[name].title), *_standing(rows[name])) for name in shown)
        yield table(("theorem", "title", "for all parameters", "at its example"), cells)
    yield "```{toctree}\n:hidden:\n\n" + "\n".join(theorems) + "\n```"


def _standing(row: dict[str, Any]) -> tuple[str, str]:
    return established_text(row), row["best_instance_evidence"] or "in words"


def page(theorem: Theorem, row: dict[str, Any], findings: Iterable[Finding] = ()) -> str:
    """Return the page of a theorem, with its row of the list and its findings."""
    return "\n\n".join(_parts(theorem, row, list(findings))) + "\n"


def _parts(theorem: Theorem, row: dict[str, Any], findings: list[Finding]) -> Iterator[str]:
    yield f"# {plain(theorem.id)}"
    yield f"**{plain(theorem.title)}.** {plain(str(theorem.source))}."
    standing, evidence = _standing(row)
    yield f"For all parameters: **{standing}**. At its example: **{evidence}**."
    if theorem.proof_uses:
        yield f"Its proof uses {', '.join(f'[{plain(name)}]({name}.md)' for name in theorem.proof_uses)}."
    # The theorem's own page has headings in italics above its tables; they become headings of sections.
    for part in markdown(replace(page_of(theorem), lines=())).split("\n\n")[1:]:
        yield f"## {part.strip('*').capitalize()}" if part.startswith("*") else part
    yield "## Check it"
    instance = " ".join(f"{name}={_typed(value)}" for name, value in theorem.example.items())
    yield f"```sh\nverify check {theorem.id} {instance}\nverify prove {theorem.id}\n```"
    if findings:
        yield "## Findings"
        yield "\n".join(f"- [{plain(each.heading)}]({_link(each)}): {plain(each.summary)}" for each in findings)


def _link(finding: Finding) -> str:
    key, _, name = finding.id.partition(".")
    return f"../findings/{key}.md#{name}"


def findings_index() -> str:
    """Return the text of FINDINGS.md without its title, with links relative to `docs/`."""
    text = (ROOT / "FINDINGS.md").read_text(encoding="utf-8")
    return text.partition("\n")[2].replace("(docs/findings/", "(findings/")


def _typed(value: object) -> str:
    return ",".join(map(_typed, value)) if isinstance(value, tuple | list) else number_text(value)  # pyright: ignore[reportArgumentType]
