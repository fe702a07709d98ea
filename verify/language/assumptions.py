# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""The assumptions that a symbol may have: SymPy simplifies with them when an expression is typed, before any check.

A parameter may assume all that its domain implies, and a variable is declared by its symbol. A definition, a state and
a bound symbol have no declared domain: with D > 0 assumed, SymPy turns sqrt(D²) into D, which is false at D = −3. All
may assume `real`; a definition or a state also `integer`, and a state `positive`, if its values are shown to be so.
`refuse_bound_assumptions` lists the other assumptions of bound symbols.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import sympy as sp

from verify.errors import TheoremError
from verify.language.expressions import Case, contents, from_data, to_data
from verify.language.heads.scopes import SERIES, Iterate
from verify.language.parameters import Parameter

REAL = frozenset({"real"})
INTEGRAL = REAL | {"integer", "rational"}
POSITIVE = REAL | {"positive", "nonnegative", "nonzero"}
NATURAL = INTEGRAL | {"nonnegative"}
"""The assumptions that the symbol of an order k = 0, 1, 2, … may have."""
_OPEN = REAL | {"positive", "negative", "nonzero", "nonnegative", "nonpositive"}
"""The assumptions that a variable of differentiation may have if it is assumed > 0 or < 0, an open domain."""
_KINKED = (
    *(sp.Abs, sp.Max, sp.Min, sp.sign, sp.floor, sp.ceiling, sp.factorial, sp.binomial, sp.Piecewise, *SERIES),
    Iterate,
)
"""Functions that have no derivative at some points, or whose derivatives are outside the language."""
_STRONGEST = ("even", "odd", "positive", "negative", "integer", "rational")


def declared(symbol: sp.Basic) -> tuple[str, ...]:
    """Return the assumptions of a symbol, the strongest first."""
    assumed = tuple(map(str, to_data(symbol)[2:]))
    return (*(a for a in _STRONGEST if a in assumed), *(a for a in assumed if a not in _STRONGEST))


def refuse_beyond(what: str, symbol: sp.Basic, allowed: Collection[str]) -> None:
    """Raise TheoremError for a symbol that assumes more than is allowed; `what` begins the message."""
    beyond = [assumed for assumed in declared(symbol) if assumed not in allowed]
    if beyond:
        way = f'declare it real, by sp.Symbol("{symbol}", real=True)'
        raise TheoremError(f"{what} {symbol} is declared {beyond[0]}, which its domain does not imply; {way}")


def is_integral(expression: sp.Basic, integers: Collection[str]) -> bool:
    """Whether an expression is written as a polynomial with integer coefficients in symbols named in `integers`."""
    expression = sp.sympify(expression)
    if isinstance(expression, sp.Symbol):
        return expression.name in integers
    if isinstance(expression, sp.Pow):
        base, power = expression.args
        return isinstance(power, sp.Integer) and power > 0 and is_integral(base, integers)
    parts = expression.args[1:] if isinstance(expression, Case) else expression.args
    made = isinstance(expression, sp.Add | sp.Mul | Case) and all(is_integral(part, integers) for part in parts)
    return made or isinstance(expression, sp.Integer)


def is_positive(expression: sp.Basic, positives: Collection[str]) -> bool:
    """Whether an expression is made from positive rationals, symbols in `positives` and exp(…) by +, * and powers."""
    expression = sp.sympify(expression)
    if isinstance(expression, sp.Symbol):
        return expression.name in positives
    if isinstance(expression, sp.Pow):
        return is_positive(expression.args[0], positives)
    made = isinstance(expression, sp.Add | sp.Mul) and all(is_positive(part, positives) for part in expression.args)
    return made or isinstance(expression, sp.exp) or (isinstance(expression, sp.Rational) and expression > 0)


def refuse_bound_assumptions(expression: sp.Basic) -> None:
    """Raise TheoremError for a bound symbol with a forbidden assumption, and for a derivative of a kinked function.

    The symbol of a Subs or a Limit and a recursion's state may be assumed real; the symbol of a sum or a product also
    integer; a recursion's counter also nonnegative. A derivative is two-sided: its symbol may also be assumed nonzero,
    > 0 or < 0, but neither integer nor >= 0 alone.
    """
    for node, symbol in _bound(expression):
        is_derivative = isinstance(node, sp.Derivative)
        if is_derivative and (kinks := node.args[0].atoms(*_KINKED)):
            raise TheoremError(
                f"{min(map(str, kinks))} is not differentiated: its derivative does not exist everywhere"
            )
        open_side = is_derivative and bool(symbol.is_positive or symbol.is_negative)
        allowed = _OPEN if open_side else REAL | {"nonzero"} if is_derivative else REAL
        if isinstance(node, SERIES) or (isinstance(node, Iterate) and symbol == node.variables[0]):
            allowed = INTEGRAL if isinstance(node, SERIES) else NATURAL
        refuse_beyond(f"{type(node).__name__}: the bound symbol", symbol, allowed)


def _bound(expression: sp.Basic) -> Iterator[tuple[sp.Basic, Any]]:
    for node in contents(sp.sympify(expression)).binding:
        for symbol in node.args[1:2] if isinstance(node, sp.Limit) else tuple(node.variables):  # pyright: ignore[reportArgumentType]
            yield node, symbol


def refuse_misused(
    symbols: Iterable[sp.Symbol], known: dict[str, sp.Symbol], parameters: Mapping[str, Parameter]
) -> None:
    """Add `symbols` to `known`. Raise TheoremError for unequal symbols of one name, and forbidden assumptions."""
    for symbol in sorted(symbols, key=str):
        if known.setdefault(symbol.name, symbol) != symbol:
            raise TheoremError(f"{symbol}: two symbols of this name with different assumptions")
        if from_data(to_data(symbol)) != symbol:
            raise TheoremError(f"{symbol}: its assumptions are not all in the language")
        if symbol.name in parameters and (lacking := not_implied(symbol, parameters[symbol.name])):
            raise TheoremError(f"parameter {symbol} {lacking}")


def not_implied(symbol: sp.Symbol, parameter: Parameter) -> str:
    """Return an assumption of a parameter's symbol that its domain does not imply, with the remedy; "" for none."""
    at_least = parameter.minimum if parameter.minimum is not None else parameter.above
    positive = at_least is not None and (at_least > 0 or (at_least == 0 and parameter.minimum is None))
    least = "minimum=1" if parameter.kind == "integer" else "above=0"
    for assumed, implied, needed in (
        ("integer", parameter.kind == "integer", 'is not of kind "integer"'),
        ("positive", positive, f"has no {least}"),
        ("nonnegative", at_least is not None and at_least >= 0, "has no minimum=0"),
        ("nonzero", positive, f"has no {least}"),
    ):
        if getattr(symbol, f"is_{assumed}") and not implied:
            return f"{needed}, but its symbol is declared {assumed}"
    for assumed in ("nonpositive", "even", "odd"):
        if getattr(symbol, f"is_{assumed}"):
            return f"has a symbol declared {assumed}, which no parameter's domain says: leave it out of the symbol"
    return ""
