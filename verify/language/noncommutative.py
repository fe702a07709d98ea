# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Polynomials in letters that stand for matrices, as monomials with their coefficients."""

from functools import cache

import sympy as sp

from verify.errors import TheoremError

Monomial = tuple[tuple[sp.Symbol, bool], ...]
"""Letters in order, and whether each is transposed."""


def matrix(name: str) -> sp.Symbol:
    """Return a letter that stands for a matrix, for `MatrixIdentity`.

    Parameters
    ----------
    name
        How it is written.

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
    raise TheoremError(f"{factor}: not a matrix or the transpose of one")
