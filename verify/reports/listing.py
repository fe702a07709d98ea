"""The list of theorems, with what is proved, from shipped certificates that are re-checked now."""

from typing import Any

from verify.checking.loading import load_theorem
from verify.checking.registry import theorem_ids
from verify.checking.standing import standing
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.outcomes import Evidence


def list_rows(paper: str | None = None) -> list[dict[str, Any]]:
    """Return a row a theorem, sorted by id. Raises InputError for a paper that has none."""
    ids = theorem_ids()
    if paper is not None:
        known = sorted({name.split(".")[0] for name in ids})
        ids = [name for name in ids if name.split(".")[0] == paper]
        if not ids:
            raise InputError("--paper", paper, f"has no theorems here; known are {', '.join(known)}")
    return [_row(load_theorem(name)) for name in ids]


def _row(theorem: Theorem) -> dict[str, Any]:
    known = standing(theorem)
    return {
        "id": theorem.id,
        "title": theorem.title,
        "paper": theorem.source.paper.key if theorem.source.paper else None,
        "source": str(theorem.source),
        "proved": known.evidence is Evidence.PROVED,
        "best_instance_evidence": known.evidence,
    }


def rows_text(rows: list[dict[str, Any]]) -> str:
    """Return the rows for people."""
    width = max(len(row["id"]) for row in rows)
    known = ["proved" if row["proved"] else row["best_instance_evidence"] or "-" for row in rows]
    pairs = zip(rows, known, strict=True)
    return "\n".join(f"{row['id']:{width}}  {evidence:9}  {row['title']}" for row, evidence in pairs)
