"""Values of a claim's closed forms at an instance, and the type of a claim's trials."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from verify import Trial

if TYPE_CHECKING:
    from numpy.random import Generator

Instance: TypeAlias = Mapping[str, Any]
Trials: TypeAlias = "Callable[[Instance, Generator], Iterator[Trial]]"


def value_of(expression: sp.Expr, values: Instance) -> Fraction:
    """Return the value of a rational expression; `values` are the values of its symbols, by name."""
    put = {symbol: sp.Rational(values[str(symbol)]) for symbol in expression.free_symbols}
    return Fraction(str(expression.xreplace(put)))
