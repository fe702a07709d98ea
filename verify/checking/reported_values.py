"""Values that a check reports beside its clauses: data, like the statement, but outside its digest."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp
from sympy.core.relational import Relational


@dataclass(frozen=True)
class ClauseValue:
    """A reported value that the evaluation of a clause finds on its way."""

    clause: str
    name: str


@dataclass(frozen=True)
class ValueWhere:
    """A reported value that means something only where some relations hold; null elsewhere, and where undecided."""

    expression: sp.Expr
    relations: tuple[Relational, ...]


@dataclass(frozen=True)
class ValueLargest:
    """A reported value: the largest of some expressions; null unless all are rational."""

    expressions: tuple[sp.Expr, ...]


@dataclass(frozen=True)
class ValueLeast:
    """A reported value: the least integer from `lowest` to `highest` at which, put for a parameter, it is enough.

    It is enough where each of `expressions` is at most `level`; what has no value is not. `level` and the ends are
    without the parameter. Null where no integer of the range is enough, and where none is found: an end is not
    rational, a sign is not decided, the range is too long to be gone through, the time runs out. The check's detail
    says which.
    """

    expressions: tuple[sp.Expr, ...]
    parameter: str
    level: sp.Expr
    lowest: sp.Expr
    highest: sp.Expr

    def ends(self) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """Return what is without the parameter."""
        return sp.sympify(self.level), sp.sympify(self.lowest), sp.sympify(self.highest)


@dataclass(frozen=True)
class ValueOver:
    """A reported value for each entry of a parameter of kind `rationals`: a list, in the order given, or its sum.

    `entry` is the symbol of the entry in `expression`; `sums` are symbols that stand for sums, over all
    entries, of expressions in the entry.
    """

    expression: sp.Expr
    entry: sp.Symbol
    parameter: str
    sums: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    total: bool = False


Value = sp.Expr | Relational | ClauseValue | ValueWhere | tuple[ValueWhere, ...] | ValueLargest | ValueLeast | ValueOver
"""A relation is reported by whether it holds; of several `ValueWhere` the first that applies counts."""


def expressions_of(value: Value) -> tuple[sp.Basic, ...]:
    """Return what is evaluated for a value, in the statement's language."""
    match value:
        case ClauseValue():
            return ()
        case ValueLargest():
            return value.expressions
        case ValueLeast():
            return (*value.expressions, *value.ends())
        case ValueOver():
            return (value.expression,)
        case ValueWhere():
            return (value.expression, *value.relations)
        case tuple():
            return tuple(part for case in value for part in expressions_of(case))
    return (value,)
