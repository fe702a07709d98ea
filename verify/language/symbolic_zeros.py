# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Symbolic zeros: whether an expression vanishes identically, decided in a field of rational functions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import sympy as sp

from verify.errors import BeyondReachError, TheoremError, UndefinedError
from verify.language.definedness import evaluated, needs, provided, substituted, taken_apart
from verify.language.limits import proposed_limit, rational_limit
from verify.language.rational_functions import QuotientField
from verify.printing import text_of


def differentiate(expression: sp.Basic) -> sp.Basic:
    """Carry out the derivatives and substitutions of an expression, and leave its limits as they are.

    Raises TheoremError for a limit inside a derivative or a substitution, because their order would matter.
    """
    if isinstance(expression, sp.Subs | sp.Derivative | sp.Integral):
        if expression.has(sp.Limit):
            raise TheoremError(f"{text_of(expression)}: a limit inside a substitution or a derivative")
        return evaluated([expression], expression.doit())
    if not expression.has(sp.Subs, sp.Derivative, sp.Integral):
        return expression
    args = [differentiate(argument) for argument in expression.args]
    made = expression.func(*args)
    # The inside of a limit is checked when the limit is evaluated.
    return made if isinstance(expression, sp.Limit) else evaluated(args, made)


def substitute(expression: sp.Basic, values: Mapping[sp.Symbol, sp.Rational]) -> sp.Basic:
    """Return the expression with free symbols replaced by numbers; symbols that limits bind are kept."""
    if isinstance(expression, sp.Limit):
        inside, symbol, point, side = expression.args
        others = {name: value for name, value in values.items() if name != symbol}
        return sp.Limit(substitute(inside, others), symbol, substitute(point, values), side)
    if not expression.has(sp.Limit):
        return substituted(expression, values)
    replaced = expression.func(*(substitute(argument, values) for argument in expression.args))
    # Limits among the needed parts are checked when they are evaluated.
    needed = (part for part in needs(expression) if not part.has(sp.Limit))
    return provided(replaced, [part for old in needed for part in needs(substitute(old, values))])


def carry_out(expression: sp.Basic) -> tuple[sp.Basic, list[sp.Expr]]:
    """Carry out the derivatives, substitutions and limits of an expression; limits must be of rational functions.

    Also return the polynomials by which the limits divided. The result is valid where no such polynomial vanishes; the
    returned expression does not contain this condition. Raises UndefinedError for a limit that is infinite at almost
    all values of the other symbols.
    """
    done = differentiate(expression)
    divisors: list[sp.Expr] = []
    limits = {}
    for node in outermost_limits(done):
        symbol = node.args[1]
        whole, before = carry_out(node.args[0])
        inside, needed = taken_apart(whole)
        limit, met = rational_limit(inside, *node.args[1:3])
        limits[node] = provided(limit, (part for part in needed if not part.has(symbol)))
        before += [_divided_by(part, symbol) for part in needed if part.has(symbol)]
        # A divisor is not 0 near the point, unless it is 0 everywhere.
        divisors += [sp.LC(each, symbol) if each.has(symbol) else each for each in before] + met
    return substituted(done, limits) if limits else done, divisors


def _divided_by(part: sp.Basic, symbol: sp.Symbol) -> sp.Expr:
    """Return the numerator of a divisor inside a limit.

    Raises BeyondReachError for a part that is not an integer power of a rational function of the symbol.
    """
    if isinstance(part, sp.Pow) and part.exp.is_Integer and part.base.is_rational_function(symbol):
        return sp.fraction(sp.together(part.base))[0]
    raise BeyondReachError(f"{text_of(part)}: inside a limit, and not rational")


def outermost_limits(expression: sp.Basic) -> list[sp.Limit]:
    """Return the limits of an expression that are in no other limit, each once."""
    if isinstance(expression, sp.Limit):
        return [expression]
    if not expression.has(sp.Limit):
        return []
    return list(dict.fromkeys(limit for part in expression.args for limit in outermost_limits(part)))


def limits_at(expression: sp.Basic, values: Mapping[sp.Symbol, sp.Rational], *, proposed: bool = False) -> sp.Basic:
    """Return the expression with each limit evaluated if all its other symbols have values.

    The values are substituted first, so that a limit is correct also where a divisor vanishes. With `proposed`, SymPy's
    value is used for a limit that is not rational; the verdict must be re-checked. Raises UndefinedError if a limit is
    infinite, or if its expression has no value, and BeyondReachError if the value of a limit is not found.
    """
    limits: dict[sp.Basic, sp.Basic] = {}
    for node in outermost_limits(expression):
        limit = substitute(node, values)
        if limit.has(sp.zoo, sp.nan, sp.I) or limit.args[0].has(sp.oo):
            raise UndefinedError(f"{text_of(node)}: has no value here")
        if not limit.free_symbols:
            try:
                value, divisors = carry_out(limit)
            except BeyondReachError:
                found = proposed_limit(taken_apart(limit.args[0])[0], *limit.args[1:3]) if proposed else None
                if found is None:
                    raise
                value, divisors = found, []
            if not all(divisors):
                raise UndefinedError(f"{text_of(node)}: an inner limit divides by 0")
            limits[node] = value
    return substituted(expression, limits) if limits else expression


def zero_with_divisors(expression: sp.Expr) -> tuple[bool, list[sp.Expr]]:
    """Return whether the expression is identically 0, and the polynomials by which the computation divided.

    The answer is valid where no such polynomial vanishes; the function does not check that the parts as written are
    defined. Exponentials are replaced by positive symbols (`exp(2C) → w²`), after which the expression must be
    rational. True is always correct; False is correct if the exponents are linearly independent over ℚ.
    Raises TheoremError for an expression that is not rational in its symbols and exponentials.
    """
    done, divisors = carry_out(sp.sympify(expression))
    (rational,), _ = share_exponentials([taken_apart(done)[0]], numbers=True)
    field = QuotientField(sorted(rational.free_symbols, key=str))
    return not field.from_sympy(rational), divisors + field.divisors


def vanishes(expression: sp.Expr) -> bool:
    """Whether the expression is identically 0 on its domain of definition; see `zero_with_divisors`."""
    return zero_with_divisors(expression)[0]


def share_exponentials(
    expressions: Sequence[sp.Basic], *, numbers: bool = False
) -> tuple[list[sp.Basic], dict[sp.Symbol, sp.Expr]]:
    """Write exponentials exp(Σ r_i·g_i), r_i rational, as products of integer powers of one symbol per g_i.

    The result is the new expressions and each symbol's meaning, exp(g_i/n) or exp(−g_i/n). Without `numbers`, an
    exponential is kept if its exponent has a rational term, such as exp(x + 1); with `numbers`, e^(1/n) gets a symbol
    too.
    """
    nodes: set[sp.exp] = set().union(*(expression.atoms(sp.exp) for expression in expressions))
    terms_of = {node: _terms(node.args[0]) for node in nodes}
    exponents = {node: terms for node, terms in terms_of.items() if numbers or sp.S.One not in terms}
    units: dict[sp.Expr, sp.Rational] = {}
    for core in sorted({core for terms in exponents.values() for core in terms}, key=text_of):
        coefficients = [terms[core] for terms in exponents.values() if core in terms]
        sign = -1 if all(coefficient < 0 for coefficient in coefficients) else 1
        units[core] = sp.Rational(sign, sp.ilcm(*(coefficient.q for coefficient in coefficients), 1))
    symbols = {core: _symbol_of(core, unit) for core, unit in units.items()}
    replaced = {
        node: sp.Mul(*(symbols[core] ** (r / units[core]) for core, r in terms.items()))
        for node, terms in exponents.items()
    }
    meaning = {symbols[core]: sp.exp(unit * core) for core, unit in units.items()}
    return [expression.xreplace(replaced) for expression in expressions], meaning


@lru_cache(maxsize=4096)
def _symbol_of(core: sp.Expr, unit: sp.Rational) -> sp.Symbol:
    """Return the symbol of exp(unit·core), always the same one, so that cached results are found again."""
    return sp.Dummy(f"exp({core})", positive=True)


def _terms(exponent: sp.Expr) -> dict[sp.Expr, sp.Rational]:
    terms: dict[sp.Expr, sp.Rational] = {}
    for term in sp.Add.make_args(sp.expand(exponent)):
        coefficient, core = term.as_coeff_Mul()
        terms[core] = terms.get(core, sp.Integer(0)) + coefficient
    return terms


def sample_points(symbols: Iterable[sp.Symbol], count: int = 6) -> Iterable[dict[sp.Symbol, sp.Rational]]:
    """Yield small rational points at which a false identity is likely to fail."""
    ordered = sorted(symbols, key=str)
    for shift in range(count):
        point = {}
        for place, symbol in enumerate(ordered):
            value = sp.Integer(2 + shift + place) if symbol.is_integer else sp.Rational(2 * shift + 3, place + 3)
            value = 2 * value + (1 if symbol.is_odd else 0) if symbol.is_even or symbol.is_odd else value
            point[symbol] = -value if symbol.is_nonpositive else value
        yield point


def spread_points(symbols: Iterable[sp.Symbol]) -> Iterator[dict[sp.Symbol, sp.Rational]]:
    """Yield small rational points, and points at which one symbol is much larger or smaller than the others.

    Each point satisfies the symbols' assumptions.
    """
    ordered = list(symbols)
    points = list(sample_points(ordered))
    yield from points
    for symbol in ordered:
        # The factor is odd, so that odd numbers stay odd, and even numbers even.
        yield {**points[0], symbol: 1001 * points[0][symbol]}  # pyright: ignore[reportReturnType]
        if not symbol.is_integer:
            yield {**points[0], symbol: points[0][symbol] / 1001}  # pyright: ignore[reportReturnType]
