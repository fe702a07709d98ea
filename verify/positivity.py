"""Inequalities proved for all parameters: no negative coefficient once each parameter is its bound plus a slack.

Relations of the domain and hypotheses whose larger side is a symbol are used first, the symbol
becoming the smaller side plus a slack; then every parameter becomes its bound plus a slack. All
slacks are ≥ 0, or > 0 where the relation or the bound is strict. Which relations help is searched
for here; that the coefficients have the sign is all that a re-check has to see.
"""

from collections.abc import Sequence
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Any

import sympy as sp

from verify.certificates import number

if TYPE_CHECKING:
    from verify.statement import Statement

_MOST_RELATIONS, _MOST_OPERATIONS = 3, 200
_STRICT = (sp.StrictLessThan, sp.StrictGreaterThan)


@cache
def positive_proof(relation: sp.core.relational.Relational, statement: "Statement", *, hypotheses: bool) -> Any:
    """Return the proof of an inequality for all parameters (in scope, when hypotheses may be used), or None."""
    if isinstance(relation, sp.Eq):
        return None
    margin = statement.expand(relation.gts) - statement.expand(relation.lts)
    if not margin.is_rational_function(*margin.free_symbols) or margin.count_ops() > _MOST_OPERATIONS:
        return None
    known = [*statement.domain]
    if hypotheses:
        known += [h.relation for h in statement.hypotheses if h.relation is not None]
    usable = [i for i, r in enumerate(known) if not isinstance(r, sp.Eq) and isinstance(r.gts, sp.Symbol)]
    for count in range(min(_MOST_RELATIONS, len(usable)) + 1):
        for chosen in permutations(usable, count):
            shifted = margin
            for i in chosen:
                slack = sp.Dummy(positive=True) if isinstance(known[i], _STRICT) else sp.Dummy(nonnegative=True)
                shifted = shifted.subs(known[i].gts, known[i].lts + slack)
            names = {symbol.name for symbol in shifted.free_symbols}
            bounds = _bounds(statement, names)
            if _positive(shifted.subs(bounds, simultaneous=True), strict=isinstance(relation, _STRICT)):
                shifts = {name: number(bound) for name, bound in _stated(statement, names)}
                return {"kind": "positive", "shifts": shifts, "relations": list(chosen)}
    return None


def _stated(statement: "Statement", names: set[str]) -> list[tuple[str, Any]]:
    ends = [(p.name, p.minimum if p.minimum is not None else p.above) for p in statement.parameters if p.name in names]
    return [(name, end) for name, end in ends if end is not None]


def _bounds(statement: "Statement", names: set[str]) -> dict[sp.Symbol, sp.Expr]:
    ends = dict(_stated(statement, names))
    strict = {p.name for p in statement.parameters if p.minimum is None}
    return {
        symbol: sp.Rational(ends[symbol.name].numerator, ends[symbol.name].denominator)
        + (sp.Dummy(positive=True) if symbol.name in strict else sp.Dummy(nonnegative=True))
        for symbol in statement.symbols()
        if symbol.name in ends
    }


def _positive(margin: sp.Expr, *, strict: bool) -> bool:
    """Whether numerator and denominator have coefficients of one and the same sign, and are not 0 where needed."""
    above, below = sp.fraction(sp.together(margin))
    symbols = sorted(margin.free_symbols, key=str)
    if not all(symbol.is_nonnegative for symbol in symbols):
        return False
    # What is cancelled was divided by all the same.
    for power in margin.atoms(sp.Pow):
        if power.exp.is_negative:
            sign = _sign(sp.fraction(sp.together(power.base))[0], symbols)
            if sign is None or not sign[1]:
                return False
    signs = [_sign(part, symbols) for part in (above, below)]
    if None in signs:
        return False
    (top, surely), (bottom, defined) = signs  # type: ignore[misc]
    return bool(defined and top in (0, bottom) and (surely or not strict))


def _sign(polynomial: sp.Expr, symbols: Sequence[sp.Symbol]) -> tuple[int, bool] | None:
    """Return the sign that all coefficients have (0: there are none), and whether some term is never 0; else None."""
    terms = sp.Poly(polynomial, *symbols).terms() if symbols else [((), polynomial)]
    if not all(coefficient.is_Rational for _, coefficient in terms):
        return None
    found = {int(sp.sign(coefficient)) for _, coefficient in terms if coefficient != 0}
    if len(found) > 1:
        return None
    if not found:
        return 0, False
    stays = any(all(s.is_positive or not k for s, k in zip(symbols, powers, strict=True)) for powers, _ in terms)
    return found.pop(), stays
