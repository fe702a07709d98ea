"""Values that a check reports beside its clauses: data, like the statement, but outside its digest."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp
from sympy.core.relational import Relational


@dataclass(frozen=True)
class ClauseValue:
    """A reported value that the evaluation of a clause finds.

    Parameters
    ----------
    clause
        Label of the clause.
    name
        Name of the value among those that the clause finds, such as `steps`.

    Examples
    --------
    >>> from verify import ClauseValue
    >>> ClauseValue("reached", "first_step").clause
    'reached'
    """

    clause: str
    name: str


@dataclass(frozen=True)
class ValueWhere:
    """A reported value that is meaningful only if some relations hold; null if one does not, or is undecided.

    Parameters
    ----------
    expression
        The value.
    relations
        Relations on the parameters.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import ValueWhere
    >>> T = sp.Symbol("T", positive=True)
    >>> ValueWhere(1 / (T - 1), (sp.Gt(T, 1),)).expression
    1/(T - 1)
    """

    expression: sp.Expr
    relations: tuple[Relational, ...]


@dataclass(frozen=True)
class ValueLargest:
    """A reported value: the largest of some expressions; null unless all are rational.

    Parameters
    ----------
    expressions
        Expressions of the parameters.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import ValueLargest
    >>> T, d = sp.symbols("T d", positive=True)
    >>> len(ValueLargest((T / 4, d)).expressions)
    2
    """

    expressions: tuple[sp.Expr, ...]


@dataclass(frozen=True)
class ValueLeast:
    """A reported value: the least value of an integer parameter in a range at which all expressions are <= a level.

    The value is null if no integer of the range is enough, or if none is found because an end is not rational, a sign
    is not decided, the range is too long, or the time runs out. The check's detail gives the reason.

    Parameters
    ----------
    expressions
        Expressions that have to be at most `level`; an integer at which one has no value is not enough.
    parameter
        The parameter that the integer replaces.
    level
        The level, which does not depend on the parameter.
    lowest, highest
        The ends of the range, which do not depend on the parameter.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import ValueLeast
    >>> T, m, eps = sp.symbols("T m eps", positive=True)
    >>> width = ValueLeast((1 - m / T,), "m", eps, sp.Integer(1), T)
    >>> width.parameter
    'm'
    """

    expressions: tuple[sp.Expr, ...]
    parameter: str
    level: sp.Expr
    lowest: sp.Expr
    highest: sp.Expr

    def ends(self) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """Return the level and both ends of the range, as SymPy expressions."""
        return sp.sympify(self.level), sp.sympify(self.lowest), sp.sympify(self.highest)


@dataclass(frozen=True)
class ValueOver:
    """A reported value for each entry of a parameter of kind `rationals`: a list in the order given, or its sum.

    Parameters
    ----------
    expression
        The value at an entry.
    entry
        The symbol of the entry in `expression`.
    parameter
        The parameter whose entries are taken.
    sums
        Symbols for sums over all entries, each with its summand: an expression in `entry`.
    total
        Whether the sum over the entries is reported.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import ValueOver
    >>> e, trace = sp.symbols("e trace", positive=True)
    >>> ValueOver(e / trace, e, "eigenvalues", {trace: e}).parameter
    'eigenvalues'
    """

    expression: sp.Expr
    entry: sp.Symbol
    parameter: str
    sums: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    total: bool = False


Value = sp.Expr | Relational | ClauseValue | ValueWhere | tuple[ValueWhere, ...] | ValueLargest | ValueLeast | ValueOver
"""Kinds of reported value. A relation's value is its truth; of several `ValueWhere`, the first that applies counts."""


def expressions_of(value: Value) -> tuple[sp.Basic, ...]:
    """Return the expressions in the statement's language that are evaluated for a value."""
    match value:
        case ClauseValue():
            return ()
        case ValueLargest():
            return value.expressions
        case ValueLeast():
            return (*value.expressions, *value.ends())
        case ValueOver():
            return (value.expression, value.entry, *value.sums, *map(sp.sympify, value.sums.values()))
        case ValueWhere():
            return (value.expression, *value.relations)
        case tuple():
            return tuple(part for case in value for part in expressions_of(case))
    return (value,)
