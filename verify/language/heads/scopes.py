# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false
"""Heads that bind symbols or choose: sums, products, recursions, Piecewise; and their parts always computed."""

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

import sympy as sp


class Iterate(sp.Function):
    """Iterate(i, t, (k, x_0, …), (a_0, …), (f_0, …)): the state x_i after t steps x ← f from a.

    Parameters
    ----------
    *args
        The index i of a state; the number of steps t (there is a value for t = 0, 1, 2, … only); the symbols of the
        step's number k, counted from 0, and of the states; the states at the start; and the states after a step, in
        terms of k, the states before the step and other symbols.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Iterate
    >>> t, k, x, a = sp.symbols("t k x a", real=True)
    >>> sorted(map(str, Iterate(0, t, (k, x), (a,), (x / 2,)).free_symbols))
    ['a', 't']
    """

    nargs = (5,)
    is_real = True

    @property
    def variables(self) -> tuple[Any, ...]:
        """The bound symbols: the counter and the state."""
        return tuple(self.args[2])  # pyright: ignore[reportReturnType]

    @property
    def free_symbols(self) -> set[Any]:
        """The symbols in the number of steps and the start, and the unbound symbols of the step."""
        _, count, bound, start, step = self.args
        return count.free_symbols | start.free_symbols | (step.free_symbols - bound.free_symbols)


SERIES = (sp.Sum, sp.Product)
BINDERS = (*SERIES, Iterate)
SCOPES = (*BINDERS, sp.Piecewise)
"""Heads that may compute a part many times, or not at all."""
Change: TypeAlias = Callable[[Any, Collection[Any]], Any]
"""A function that changes a part, given the symbols that are bound in it."""


def outermost(series: Any) -> tuple[Any, tuple[Any, Any, Any]]:
    """Return the term of a sum or a product, and its symbol and ends.

    SymPy merges a sum of sums into one sum; its term is then the inner sum.
    """
    function, *inner, limits = series.args
    return series.func(function, *inner) if inner else function, tuple(limits)  # pyright: ignore[reportReturnType]


def always_computed(node: Any) -> tuple[Any, ...]:
    """Return the always computed parts: a sum's ends, a recursion's count and start, a first condition's sides."""
    if isinstance(node, SERIES):
        return outermost(node)[1][1:]
    if isinstance(node, Iterate):
        return (node.args[1], *node.args[3])  # pyright: ignore[reportGeneralTypeIssues]
    condition = node.args[0].args[1]
    return condition.args if isinstance(condition, sp.core.relational.Relational) else ()


def changed(node: Any, change: Change) -> Any:
    """Return a sum, a product, a recursion or a Piecewise with its parts changed."""
    if isinstance(node, SERIES):
        terms, (symbol, *ends) = outermost(node)
        return node.func(change(terms, (symbol,)), (symbol, *(change(end, ()) for end in ends)))
    if isinstance(node, Iterate):
        place, count, bound, start, step = node.args
        states = sp.Tuple(*(change(part, ()) for part in start))  # pyright: ignore[reportGeneralTypeIssues]
        steps = sp.Tuple(*(change(part, tuple(bound)) for part in step))  # pyright: ignore[reportGeneralTypeIssues]
        return Iterate(place, change(count, ()), bound, states, steps)
    return sp.Piecewise(*((change(value, ()), _condition(condition, change)) for value, condition in node.args))


def _condition(condition: Any, change: Change) -> Any:
    return condition.func(*(change(side, ()) for side in condition.args)) if condition.args else condition
