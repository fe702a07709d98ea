"""Canaries: false variants of a statement that differ from it by one clause."""

from dataclasses import replace
from typing import Any

from verify import Canary, Clause, Statement


def with_clause(statement: Statement, name: str, clause: Clause) -> Canary:
    """Return the statement with a clause in the place of its own of the same label."""
    changed = lambda own: clause if own.label == clause.label else own  # noqa: E731
    return Canary(name, lambda: statement.with_clauses(changed), clause.label)


def with_changes(statement: Statement, name: str, label: str, **changes: Any) -> Canary:
    """Return the statement with other parts of the clause of a label, which then says nothing in words."""
    changed = lambda own: replace(own, says="", **changes) if own.label == label else own  # noqa: E731
    return Canary(name, lambda: statement.with_clauses(changed), label)
