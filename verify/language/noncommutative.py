# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Polynomials in letters that stand for matrices, as monomials with their coefficients."""

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

import sympy as sp

from verify.errors import TheoremError
from verify.language.expressions import Case
from verify.printing import text_of

Monomial = tuple[tuple[sp.Symbol, bool], ...]
"""Letters in order, and whether each is transposed."""
Shape: TypeAlias = tuple[sp.Expr, sp.Expr]
"""Rows and columns."""


def matrix(name: str) -> sp.Symbol:
    """Return a letter that stands for a matrix, for `MatrixIdentity`.

    Parameters
    ----------
    name
        The letter as it is written.

    Returns
    -------
    Symbol
        A symbol that does not commute.

    Examples
    --------
    >>> from verify import matrix
    >>> matrix("A") * matrix("B") == matrix("B") * matrix("A")
    False
    """
    return sp.Symbol(name, commutative=False)


def shape_of(expression: sp.Basic, shapes: Mapping[sp.Basic, Shape]) -> Shape | None:
    """Return the shape of a polynomial in matrices, with rows and columns expanded; None for a scalar.

    A scalar c that is added to square matrices stands for c times the identity. Raises TheoremError for any other
    expression, and if the shapes of matrices do not fit, even in terms that cancel.
    """
    if expression.is_commutative and not expression.has(*shapes):
        return None
    if isinstance(expression, sp.Symbol):
        rows, columns = (sp.expand(length) for length in shapes[expression])
        return rows, columns
    power = expression.exp if isinstance(expression, sp.Pow) else sp.S.One
    known = isinstance(expression, sp.Add | sp.Mul | sp.Pow | sp.transpose | Case)
    if not known or not isinstance(power, sp.Integer) or power < 1:
        raise TheoremError(f"{text_of(expression)}: no sum, product, power >= 1 or transpose of matrices")
    parts = [(part, shape_of(part, shapes)) for part in expression.args]
    if isinstance(expression, sp.transpose):
        ((_, shape),) = parts
        return shape and (shape[1], shape[0])
    if isinstance(expression, sp.Add | Case):
        # The number 0 has any shape.
        found = {shape for part, shape in parts[isinstance(expression, Case) :] if part is not sp.S.Zero}
        square = {shape for shape in found if shape and shape[0] == shape[1]}
        if len(found) > 1 and not (isinstance(expression, sp.Add) and len(square) == 1 and found <= square | {None}):
            raise TheoremError(f"{text_of(expression)}: matrices of different shapes")
        return next((shape for shape in found if shape), None)
    if isinstance(expression, sp.Pow):
        parts = parts[:1] * min(2, int(power))
    total = None
    for part, shape in parts:
        if total and shape and total[1] != shape[0]:
            raise TheoremError(f"{text_of(expression)}: {text_of(part)} does not fit the factor before it")
        total = (total[0], shape[1]) if total and shape else total or shape
    return total


@cache
def monomials(expression: sp.Expr) -> dict[Monomial, sp.Expr]:
    """Return a polynomial in matrices as monomials with their coefficients. Raises TheoremError for anything else."""
    collected: dict[Monomial, sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(expression)):
        scalars, factors = term.args_cnc()
        word = tuple(letter for factor in factors for letter in _letters(factor))
        collected[word] = collected.get(word, sp.Integer(0)) + sp.Mul(*scalars)
    expanded = {word: sp.expand(coefficient) for word, coefficient in collected.items()}
    return {word: coefficient for word, coefficient in expanded.items() if coefficient != 0}


def _letters(factor: sp.Expr) -> list[tuple[sp.Symbol, bool]]:
    if isinstance(factor, sp.Symbol):
        return [(factor, False)]
    if isinstance(factor, sp.transpose) and isinstance(factor.args[0], sp.Symbol):
        return [(factor.args[0], True)]
    if isinstance(factor, sp.Pow) and isinstance(factor.exp, sp.Integer) and factor.exp > 0:
        return _letters(factor.base) * int(factor.exp)
    raise TheoremError(f"{text_of(factor)}: not a matrix or the transpose of one")
