# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Exact limits of rational functions, by truncated Laurent series over the field of the other symbols.

SymPy's general limit algorithm is slow on expressions with many symbols, and wrong on some of
them; the limit of a rational function needs only the first non-zero coefficient of its series.
"""

import sympy as sp

from verify.errors import BeyondReachError, UndefinedError
from verify.language.rational_functions import Quotient, QuotientField
from verify.printing import text_of

_FIRST_TERMS, _LAST_TERMS = 6, 24
_PROPOSED = 60
"""Maximum number of operations of an expression whose limit SymPy computes; a longer one may take minutes."""

Series = tuple[int, list[Quotient]]
"""x^valuation · Σ coefficients[i] x^i + O(x^(valuation + number of coefficients))."""


def rational_limit(expression: sp.Expr, symbol: sp.Symbol, point: sp.Expr) -> tuple[sp.Expr, list[sp.Expr]]:
    """Return the limit of an expression rational in all its symbols, and the polynomials that were divided by.

    The limit is valid where none of these polynomials vanishes. Raises UndefinedError for an infinite limit,
    TheoremError for an expression that is not rational, or whose limit needs too many terms of a series.
    """
    moved = expression.subs(symbol, 1 / symbol if point in (sp.oo, -sp.oo) else point + symbol)
    others = sorted(moved.free_symbols - {symbol}, key=str)
    terms = _FIRST_TERMS
    while terms <= _LAST_TERMS:
        field = QuotientField(others)
        try:
            valuation, coefficients = _Expansion(symbol, field, terms).expand(moved)
        except _TooFewTermsError:
            terms *= 2
            continue
        if valuation + len(coefficients) <= 0:
            terms *= 2
        elif valuation < 0:
            raise UndefinedError(f"the limit of {text_of(expression)} as {symbol} -> {text_of(point)} is infinite")
        else:
            return (field.to_sympy(coefficients[0]) if valuation == 0 else sp.Integer(0)), field.divisors
    raise BeyondReachError(f"the limit of {text_of(expression)} as {symbol} -> {text_of(point)} was not found")


def proposed_limit(inside: sp.Expr, symbol: sp.Symbol, point: sp.Expr) -> sp.Expr | None:
    """Return SymPy's value of a limit, from above if the point is finite.

    The result is None for a long expression, and if SymPy finds no finite value. The value may be wrong: a proof or a
    verdict that rests on it counts only if the re-checker finds the limit itself.
    """
    if inside.count_ops() > _PROPOSED:
        return None
    try:
        value = sp.limit(inside, symbol, point)
    except (NotImplementedError, ArithmeticError, ValueError, TypeError):
        return None
    return None if value.has(sp.Limit, sp.oo, sp.zoo, sp.nan, sp.AccumBounds) else value


class _TooFewTermsError(ArithmeticError):
    """All known coefficients cancelled."""


class _Expansion:
    """The series of a node and of all nodes below it, each computed once."""

    def __init__(self, symbol: sp.Symbol, field: QuotientField, terms: int) -> None:
        self.symbol, self.field, self.terms = symbol, field, terms
        self.known: dict[sp.Basic, Series] = {}

    def expand(self, node: sp.Basic) -> Series:
        if node not in self.known:
            self.known[node] = self._expand(node)
        return self.known[node]

    def _expand(self, node: sp.Basic) -> Series:
        field, terms = self.field, self.terms
        if not node.has(self.symbol):
            value = field.from_sympy(node)
            return (0, [value] + [field.zero] * (terms - 1)) if value else (terms, [field.zero] * terms)
        if node == self.symbol:
            return 1, [field.one] + [field.zero] * (terms - 1)
        if isinstance(node, sp.Add):
            return _sum([self.expand(argument) for argument in node.args], field)
        if isinstance(node, sp.Mul):
            product = self.expand(node.args[0])
            for argument in node.args[1:]:
                product = _product(product, self.expand(argument), field)
            return product
        if isinstance(node, sp.Pow) and node.exp.is_Integer:
            base = self.expand(node.base)
            factor = base if node.exp > 0 else _inverse(base, field)
            power = factor
            for _ in range(abs(int(node.exp)) - 1):
                power = _product(power, factor, field)
            return power
        raise BeyondReachError(f"{text_of(node)}: not rational, so no exact limit")


def _sum(parts: list[Series], field: QuotientField) -> Series:
    low = min(valuation for valuation, _ in parts)
    known = min(valuation + len(coefficients) for valuation, coefficients in parts) - low
    total = [field.zero] * known
    for valuation, coefficients in parts:
        for i, coefficient in enumerate(coefficients[: max(0, known - (valuation - low))]):
            total[valuation - low + i] = total[valuation - low + i] + coefficient
    return _stripped(low, total)


def _product(left: Series, right: Series, field: QuotientField) -> Series:
    known = min(len(left[1]), len(right[1]))
    product = [sum((left[1][i] * right[1][k - i] for i in range(k + 1)), field.zero) for k in range(known)]
    return _stripped(left[0] + right[0], product)


def _inverse(series: Series, field: QuotientField) -> Series:
    valuation, coefficients = series
    if not coefficients or not coefficients[0]:
        raise _TooFewTermsError
    inverse = [field.inverse(coefficients[0])]
    for k in range(1, len(coefficients)):
        rest = sum((coefficients[i] * inverse[k - i] for i in range(1, k + 1)), field.zero)
        inverse.append(-rest * inverse[0])
    return -valuation, inverse


def _stripped(valuation: int, coefficients: list[Quotient]) -> Series:
    while coefficients and not coefficients[0]:
        valuation, coefficients = valuation + 1, coefficients[1:]
    return valuation, coefficients
