# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportMissingModuleSource=false
"""A polynomial as a combination of others with coefficients ≥ 0, by a linear program in floats, then exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import flint

Powers: TypeAlias = tuple[int, ...]
Polynomial: TypeAlias = Mapping[Powers, Any]
_TINY = 1e-7
"""A coefficient below this share of the largest coefficient counts as 0."""


@dataclass(frozen=True)
class Column:
    """A polynomial that is ≥ 0, or 0, at all points at which the facts hold.

    Parameters
    ----------
    polynomial
        The polynomial's coefficients by powers.
    strict
        Whether the polynomial is > 0 at all these points.
    free
        Whether the polynomial is 0 at all these points, so that its multiplier may have either sign.
    says
        The column's origin. For `Columns`: the monomial, the facts, and the root or None; `Columns.in_symbols` writes
        the monomial and the root as expressions.
    """

    polynomial: Polynomial
    strict: bool
    free: bool
    says: Any


def combination(goal: Polynomial, columns: Sequence[Column], *, strict: bool) -> list[tuple[Fraction, Column]] | None:
    """Return coefficients ≥ 0 (of any sign for a free column) so that the columns add up to `goal`; or None.

    If `strict`, at least one strict column has a positive coefficient.
    """
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, hstack

    rows = {powers: i for i, powers in enumerate(dict.fromkeys([*goal, *(k for c in columns for k in c.polynomial)]))}
    if not columns or not rows:
        return None if goal or strict else []
    entries = [(rows[k], j, float(v)) for j, c in enumerate(columns) for k, v in c.polynomial.items()]
    left, above, values = map(np.array, zip(*entries, strict=True))
    matrix = coo_array((values, (left, above)), shape=(len(rows), len(columns))).tocsr()
    target = np.zeros(len(rows))
    for powers, value in goal.items():
        target[rows[powers]] = float(value)
    bounds: list[tuple[float | None, float | None]] = [(None, None) if c.free else (0, None) for c in columns]
    costs, most = [0.0 if c.free else 1.0 for c in columns], {}
    if strict:
        # One more unknown is maximized: it is at most 1 and at most the sum of the coefficients of the strict columns.
        matrix, bounds, costs = (
            hstack([matrix, coo_array((len(rows), 1))]),
            [*bounds, (0, 1)],
            [*[0.0] * len(columns), -1.0],
        )
        most = {"A_ub": np.array([[*(-1.0 if c.strict else 0.0 for c in columns), 1.0]]), "b_ub": [0.0]}
    found = linprog(np.array(costs), A_eq=matrix, b_eq=target, bounds=bounds, method="highs-ds", **most)
    if found.status != 0 or (strict and found.fun > -_TINY):
        return None
    values = found.x[: len(columns)]
    size = float(np.abs(values).max(initial=0.0))
    support = [j for j, value in enumerate(values) if abs(value) > _TINY * size]
    return _exactly(goal, [columns[j] for j in support], strict=strict)


def _exactly(goal: Polynomial, columns: Sequence[Column], *, strict: bool) -> list[tuple[Fraction, Column]] | None:
    """Return rational coefficients, or None; a column that depends linearly on earlier columns gets coefficient 0.

    If the goal is 0 and the sum has to be strict, the first strict column has coefficient 1.
    """
    rows = list(dict.fromkeys([*goal, *(k for c in columns for k in c.polynomial)]))
    fixed: list[Column] = []
    if not goal and strict:
        fixed = [next(c for c in columns if c.strict)] if any(c.strict for c in columns) else []
        columns = [c for c in columns if c not in fixed]

    def entry(value: Any) -> flint.fmpq:
        return flint.fmpq(int(value.numerator), int(value.denominator))

    right = [entry(Fraction(goal.get(k, 0)) - sum(Fraction(c.polynomial.get(k, 0)) for c in fixed)) for k in rows]
    if not columns and any(right):
        return None
    table = [[*(entry(Fraction(c.polynomial.get(k, 0))) for c in columns), b] for k, b in zip(rows, right, strict=True)]
    reduced, rank = flint.fmpq_mat(table).rref() if columns else (flint.fmpq_mat(0, 1), 0)
    coefficients = [Fraction(0)] * len(columns)
    for i in range(rank):
        place = next(j for j in range(len(columns) + 1) if reduced[i, j] != 0)
        if place == len(columns):
            return None
        value = reduced[i, len(columns)]
        coefficients[place] = Fraction(int(value.p), int(value.q))
    found = [(c, column) for c, column in zip(coefficients, columns, strict=True) if c]
    found += [(Fraction(1), column) for column in fixed]
    if any(c < 0 and not column.free for c, column in found):
        return None
    return found if not strict or any(column.strict for _, column in found) else None
