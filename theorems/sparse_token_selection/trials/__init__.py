"""Trials of the claims in words: code that evaluates these claims at an instance, from the definitions."""

import sympy as sp

from verify.language.parameters import Instance


def value_at(expression: sp.Expr, instance: Instance) -> float:
    """Return the value of an expression of parameters at an instance."""
    values = {symbol: sp.Rational(instance[str(symbol)]) for symbol in expression.free_symbols}  # pyright: ignore[reportArgumentType]
    return float(expression.subs(values))  # pyright: ignore[reportArgumentType, reportCallIssue]
