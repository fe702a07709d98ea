# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false
"""Inequalities of the parameters that float64 decides, because the margin exceeds a running error bound."""

from collections.abc import Sequence

import sympy as sp
from sympy.core.function import AppliedUndef

from verify.evaluation.values import estimated_values, symbols_by_name
from verify.language.expressions import PRIMITIVES
from verify.language.parameters import Instance
from verify.language.statement import ClauseData, Statement


def has_float_sides(clause: ClauseData, statement: Statement, numbers: set[str]) -> bool:
    """Whether a clause is an inequality between expressions of numerical parameters, so that floats may decide it."""
    if isinstance(clause.relation, sp.Eq | None):
        return False
    sides = sp.Tuple(*(statement.expand(side) for side in clause.relation.args))
    return set(symbols_by_name(sides)) <= numbers


def floats_decide(clause: ClauseData, statement: Statement, numbers: set[str]) -> bool:
    """Whether float64 decides an inequality with a large margin; False for primitives, whose error has no bound."""
    if not has_float_sides(clause, statement, numbers):
        return False
    assert clause.relation is not None
    applied = sp.Tuple(*map(statement.expand, clause.relation.args)).atoms(AppliedUndef)
    return not any(node.func.__name__ in PRIMITIVES for node in applied)


def smaller_first(clause: ClauseData) -> tuple[sp.Basic, sp.Basic]:
    """Return an inequality's sides, first the side that is claimed to be smaller."""
    assert clause.relation is not None
    left, right = clause.relation.args
    return (right, left) if is_upward(clause) else (left, right)  # type: ignore[return-value]


def is_upward(clause: ClauseData) -> bool:
    """Whether an inequality claims that its left side is the larger one."""
    return isinstance(clause.relation, sp.StrictGreaterThan | sp.GreaterThan)


def surely_hold(clause: ClauseData, statement: Statement, instances: Sequence[Instance]) -> list[bool]:
    """Return for each instance whether an inequality holds by more than float64's error bound, if `floats_decide` it.

    False means that this is not known: rounding may decide, or a number is beyond float64's range.
    """
    assert clause.relation is not None
    # The sides are in the order in which a scan takes them, so that they are compiled once.
    left, right = estimated_values(tuple(map(statement.expand, clause.relation.args)), instances)
    margin = left - right if is_upward(clause) else right - left
    return margin.sign()[0].tolist()
