"""Canaries: false variants of a statement, each with one clause changed."""

from dataclasses import replace
from typing import Any

from verify import Canary, Clause, Statement


def with_clause(statement: Statement, name: str, clause: Clause) -> Canary:
    """Return a canary: the statement with `clause` in place of its own clause of the same label."""

    def stated() -> Statement:
        return statement.with_clauses(lambda own: clause if own.label == clause.label else own)

    return Canary(name, stated, clause.label)


def with_changes(statement: Statement, name: str, label: str, **changes: Any) -> Canary:
    """Return a canary: the statement with `changes` made to its clause `label`, and with the clause's `says` empty."""

    def stated() -> Statement:
        return statement.with_clauses(lambda own: replace(own, says="", **changes) if own.label == label else own)

    return Canary(name, stated, label)
