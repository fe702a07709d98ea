# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Polynomials without zeros: a small sufficient test on a domain of parameters."""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import sympy as sp

from verify.language.expressions import STRICT
from verify.language.parameters import Parameter

_LARGEST_DEGREE = 256
"""Maximum total degree of a polynomial that is factored: beyond it FLINT may take hours, and no timer interrupts it."""


def factored(polynomial: sp.Expr) -> tuple[Any, list[tuple[Any, int]]]:
    """Return the constant factor of a polynomial, and the other factors with their multiplicities.

    A factor of too high a degree is not split.
    """
    plain, whole = [], []
    for part in sp.Mul.make_args(polynomial):
        base, _ = part.as_base_exp()
        high = base.free_symbols and sp.Poly(base).total_degree() > _LARGEST_DEGREE
        (whole if high else plain).append(part)
    constant, factors = sp.factor_list(sp.Mul(*plain))  # pyright: ignore[reportAssignmentType]
    return constant, [*factors, *((part, 1) for part in whole)]


def nowhere_zero(polynomial: sp.Expr, parameters: Sequence[Parameter], domain: Sequence[sp.Basic]) -> bool:
    """Whether a polynomial is shown to have no zero on the domain; False decides nothing."""
    return polynomial != 0 and None not in factor_signs(polynomial, parameters, domain).values()


def positive(expression: sp.Expr, parameters: Sequence[Parameter], domain: Sequence[sp.Basic]) -> bool:
    """Whether a rational expression is shown to be positive on the domain; False decides nothing."""
    parts = sp.fraction(sp.together(expression))
    return prod(_sign(part, tuple(parameters), tuple(domain)) for part in parts) > 0


def shown_positive(polynomial: sp.Expr, parameters: Sequence[Parameter], relations: Sequence[sp.Basic]) -> bool:
    """Whether a polynomial is shown to be > 0, using at most one of the relations; the re-checker tries the same."""
    shifted = [polynomial, *(polynomial.subs(*shift) for shift in filter(None, map(_relation_shift, relations)))]
    return any(_one_sign(_over_minimum(each, parameters)) > 0 for each in shifted)  # pyright: ignore[reportArgumentType]


@lru_cache(maxsize=4096)
def _sign(polynomial: sp.Expr, parameters: tuple[Parameter, ...], domain: tuple[sp.Basic, ...]) -> int:
    """Return the sign that a polynomial is shown to have on the domain; 0 if none is shown."""
    constant, factors = factored(polynomial)
    shifts = [{}, *({name: value} for name, value in filter(None, map(_relation_shift, domain)))]
    total = int(sp.sign(constant))
    for factor, times in factors:
        signs = (_one_sign(_over_minimum(factor.subs(shift), parameters)) for shift in shifts)
        total *= next((sign for sign in signs if sign), 0) ** times
    return total


def factor_signs(
    polynomial: sp.Expr, parameters: Sequence[Parameter], domain: Sequence[sp.Basic]
) -> dict[sp.Expr, int | None]:
    """Return, for each factor of a polynomial, the index of a relation that excludes its zeros; −1 if none is needed.

    None stands for a factor that may have zeros. Each factor is written in the slacks of the
    parameters over their minima and, for one relation b > a or b >= a at a time (b a symbol), with
    b = a + slack. It has no zero if its coefficients have one sign, its symbols are all nonnegative,
    and at least one of its terms never vanishes.
    """
    return dict(_factor_signs(polynomial, tuple(parameters), tuple(domain)))


@lru_cache(maxsize=4096)
def _factor_signs(
    polynomial: sp.Expr, parameters: tuple[Parameter, ...], domain: tuple[sp.Basic, ...]
) -> tuple[tuple[sp.Expr, int | None], ...]:
    # A statement's clauses divide by the same few polynomials again and again.
    shifts = {i: shift for i, relation in enumerate(domain) if (shift := _relation_shift(relation)) is not None}
    candidates = {-1: {}} | {i: {name: value} for i, (name, value) in shifts.items()}
    return tuple(
        (
            factor,
            -1
            if factor.is_Symbol and factor.is_nonzero
            else next(
                (i for i, shift in candidates.items() if _one_sign(_over_minimum(factor.subs(shift), parameters))), None
            ),
        )
        for factor, _ in factored(polynomial)[1]
    )


def _relation_shift(relation: sp.Basic) -> tuple[sp.Symbol, sp.Expr] | None:
    """Return the larger side of an inequality, and the smaller plus a slack; None if the larger is not a symbol."""
    if not isinstance(relation, sp.LessThan | sp.StrictLessThan | sp.GreaterThan | sp.StrictGreaterThan):
        return None
    slack = new_slack("slack", strict=isinstance(relation, STRICT))
    return (relation.gts, relation.lts + slack) if isinstance(relation.gts, sp.Symbol) else None


def new_slack(name: str, *, strict: bool) -> sp.Symbol:
    """Return a new symbol for the difference of a relation's sides: > 0 if it is strict, else ≥ 0."""
    return sp.Dummy(name, positive=True) if strict else sp.Dummy(name, nonnegative=True)


def _over_minimum(factor: sp.Expr, parameters: Sequence[Parameter]) -> sp.Expr:
    for parameter in parameters:
        for symbol in factor.free_symbols:
            if symbol.name == parameter.name and parameter.minimum is not None:  # pyright: ignore[reportAttributeAccessIssue]
                over = sp.Dummy(symbol.name, nonnegative=True)  # pyright: ignore[reportAttributeAccessIssue]
                factor = factor.subs(symbol, parameter.minimum + over)  # pyright: ignore[reportAssignmentType]
    return factor


def _one_sign(factor: sp.Expr) -> int:
    """Return the sign of all values of a polynomial in nonnegative symbols; 0 if none is shown."""
    symbols = sorted(factor.free_symbols, key=str)
    if not symbols:
        return int(sp.sign(factor))
    sign = sign_of(factor, symbols) if all(symbol.is_nonnegative for symbol in symbols) else None
    return sign[0] if sign and sign[1] else 0


def sign_of(polynomial: sp.Expr, symbols: Sequence[sp.Symbol]) -> tuple[int, bool] | None:
    """Return the common sign of all coefficients (0 without any), and whether some term is never 0.

    The result is None if the signs differ, and for an expression that is no polynomial over ℚ in the symbols.
    """
    symbols = symbols or (sp.Dummy(),)
    try:
        # The ring's arithmetic is used, because expanding a long expression takes many times as long.
        terms = sp.ring(symbols, sp.QQ)[0].from_expr(polynomial).terms()
    except ValueError:
        # There is a symbol in an exponent, or a coefficient that is not rational.
        return None
    signs = {1 if coefficient > 0 else -1 for _, coefficient in terms}
    if len(signs) > 1:
        return None
    if not signs:
        return 0, False
    stays = any(all(s.is_positive or not k for s, k in zip(symbols, powers, strict=True)) for powers, _ in terms)
    return signs.pop(), stays
