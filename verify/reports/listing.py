"""The list of theorems, with what carries each, from shipped certificates that are re-checked now."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from verify.checking.loading import load_theorem
from verify.checking.registry import theorem_ids
from verify.checking.standing import standing
from verify.checking.theorem import Theorem
from verify.errors import InputError, meant
from verify.outcomes import ForAll


def list_rows(paper: str | None = None) -> list[dict[str, Any]]:
    """Return a row a theorem, sorted by id. Raises InputError for a paper that has none."""
    ids = theorem_ids()
    if paper is not None:
        known = sorted({name.split(".")[0] for name in ids})
        ids = [name for name in ids if name.split(".")[0] == paper]
        if not ids:
            raise InputError("--paper", paper, f"has no theorems here; {meant(paper, known)}")
    return [theorem_row(load_theorem(name)) for name in ids]


def theorem_row(theorem: Theorem) -> dict[str, Any]:
    """Return what the list has of a theorem."""
    known = standing(theorem)
    return {
        "id": theorem.id,
        "title": theorem.title,
        "paper": theorem.source.paper.key if theorem.source.paper else None,
        "source": str(theorem.source),
        "claims": [
            {"label": claim.label, "claim": claim.text, "for_all_parameters": known.clauses[claim.label].standing}
            for claim in theorem.statement.claims
        ],
        "for_all_parameters": known.for_all.standing,
        "inferences_argued": len(known.for_all.inferences),
        "inferences_own": len(theorem.argument),
        "proved": known.for_all.standing in (ForAll.FORMAL, ForAll.PROVED),
        "best_instance_evidence": known.evidence,
    }


def rows_text(rows: list[dict[str, Any]]) -> str:
    """Return the rows for people: what carries each for all parameters, and how sure it is at its example."""
    known = [(carried_text(row), row["best_instance_evidence"] or "-") for row in rows]
    width = max(len(row["id"]) for row in rows)
    wide = max(len(for_all) for for_all, _ in known)
    lines = [f"{'':{width}}  {'for all':{wide}}  at its example"]
    for row, (for_all, evidence) in zip(rows, known, strict=True):
        lines.append(f"{row['id']:{width}}  {for_all:{wide}}  {evidence:13}  {row['title']}")
        lines += (f"    {claim['for_all_parameters']:6}  {claim['label']}: {claim['claim']}" for claim in row["claims"])
    return "\n".join([*lines, standings_text(rows)])


def carried_text(row: Mapping[str, Any]) -> str:
    """Return a row's standing, with the number of inferences of its argument."""
    counted = f" ({row['inferences_argued']})" if row["for_all_parameters"] == ForAll.ARGUED else ""
    return f"{row['for_all_parameters']}{counted}"


def standings_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one line on some rows: how many stand how, and how many inferences are prose."""
    rows = list(rows)
    counts = Counter(row["for_all_parameters"] for row in rows)
    stands = ", ".join(f"{counts[each]} {each}" for each in ForAll if counts[each])
    return f"for all parameters: {stands}; argued inferences: {sum(row['inferences_own'] for row in rows)}"


def standings_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return, in Markdown, what carries each theorem, with how many inferences are prose in all."""
    rows = list(rows)
    lines = ["## What carries each theorem", "", f"{standings_text(rows).capitalize()}.", ""]
    lines += ["| theorem | for all parameters | inferences | claims |", "|---|---|---|---|"]
    for row in rows:
        claims = "; ".join(f"{claim['label']} ({claim['for_all_parameters']})" for claim in row["claims"])
        lines.append(f"| `{row['id']}` | {row['for_all_parameters']} | {row['inferences_argued']} | {claims} |")
    return "\n".join(["", *lines, ""])
