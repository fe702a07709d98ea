"""Inequalities proved for all parameters: no negative coefficient, in slacks over their bounds, squares aside.

Relations of the domain and hypotheses with a symbol on one side are used first: the larger side, a symbol, becomes the
smaller side plus a slack; the smaller side, a positive symbol, becomes the larger side over 1 plus a slack. Then every
parameter becomes its bound plus a slack. All slacks are ≥ 0, or > 0 where the relation or the bound is strict. Where
coefficients of both signs are left, squares times what is not negative are taken off. Which relations help, and which
squares, is searched for here; that the coefficients have the sign is all that a re-check has to see.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Any

import sympy as sp

from verify.certificates import number
from verify.language import to_data

if TYPE_CHECKING:
    from verify.statement import Statement

_MOST_RELATIONS, _MOST_OPERATIONS = 3, 200
_MOST_BESIDE_SQUARES, _MOST_TERMS = 1, 40
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
    strict = isinstance(relation, _STRICT)
    few = []
    for chosen, shifted in _shifted(margin, known, statement):
        if shifted.is_positive(strict=strict):
            return {"kind": "positive", **shifted.data(chosen)}
        if len(chosen) <= _MOST_BESIDE_SQUARES:
            few.append((chosen, shifted))
    for chosen, shifted in few:
        if (square := shifted.square(strict=strict)) is not None:
            factor, root = map(to_data, square)
            return {"kind": "squares", **shifted.data(chosen), "squares": [{"factor": factor, "root": root}]}
    return None


@dataclass(frozen=True)
class _Shifted:
    """A margin in slacks, and what each slack is in the statement's symbols."""

    margin: sp.Expr
    meaning: Mapping[sp.Symbol, sp.Expr]
    bounds: Mapping[str, Any]

    def data(self, chosen: Sequence[int]) -> dict[str, Any]:
        """Return the slacks as a certificate states them."""
        return {"shifts": {name: number(bound) for name, bound in self.bounds.items()}, "relations": list(chosen)}

    def parts(self) -> tuple[sp.Expr, sp.Expr, list[sp.Symbol]] | None:
        """Return numerator, denominator (positive) and symbols; None where it may be undefined or a symbol negative."""
        above, below = sp.fraction(sp.together(self.margin))
        symbols = sorted(self.margin.free_symbols, key=str)
        if not all(symbol.is_nonnegative for symbol in symbols):
            return None
        # What is cancelled was divided by all the same.
        divisors = [p.base for p in self.margin.atoms(sp.Pow) if p.exp.is_negative]
        for divisor in (*(sp.fraction(sp.together(base))[0] for base in divisors), below):
            sign = _sign(divisor, symbols)
            if sign is None or not sign[1]:
                return None
        turn = _sign(below, symbols)[0]  # type: ignore[index]
        return turn * above, turn * below, symbols

    def is_positive(self, *, strict: bool) -> bool:
        """Whether the numerator has no negative coefficient, and is not 0 where needed."""
        parts = self.parts()
        return parts is not None and _not_negative(parts[0], strict, parts[2])

    def square(self, *, strict: bool) -> tuple[sp.Expr, sp.Expr] | None:
        """Return a factor ≥ 0 and a root, in the statement's symbols; the margin less factor · root² is positive."""
        parts = self.parts()
        if parts is None or not parts[2]:
            return None
        above, below, symbols = parts
        if not all(coefficient.is_Rational for coefficient in sp.Poly(above, *symbols).coeffs()):
            return None
        for factor, root in _candidates(sp.Poly(above, *symbols)):
            left, divisor = sp.fraction(sp.together(above - factor * root**2))
            signs = [
                _not_negative(*part, symbols)
                for part in ((sp.fraction(sp.together(factor))[0], False), (left, strict), (divisor, True))
            ]
            if all(signs):
                return sp.together((factor / below).subs(self.meaning)), sp.together(root.subs(self.meaning))
        return None


def _shifted(margin: sp.Expr, known: Sequence[Any], statement: "Statement") -> Iterator[tuple[list[int], _Shifted]]:
    """Yield the margin over some of the relations that have a symbol of it on one side, then over all bounds."""
    usable = [i for i, relation in enumerate(known) if _bounded(relation) is not None]
    for count in range(min(_MOST_RELATIONS, len(usable)) + 1):
        for chosen in permutations(usable, count):
            shifted, meaning = margin, dict[sp.Symbol, sp.Expr]()
            for i in chosen:
                symbol, low, high = _bounded(known[i]), known[i].lts, known[i].gts
                if symbol not in shifted.free_symbols:
                    break
                slack = _slack(strict=isinstance(known[i], _STRICT))
                meaning[slack] = high - low if symbol == high else high / low - 1
                shifted = shifted.subs(symbol, low + slack if symbol == high else high / (1 + slack))
            else:
                ends = dict(_stated(statement, {symbol.name for symbol in shifted.free_symbols}))
                over = _slacks(statement, ends)
                meaning |= {slack: symbol - _rational(ends[symbol.name]) for symbol, slack in over.items()}
                put = {symbol: _rational(ends[symbol.name]) + slack for symbol, slack in over.items()}
                yield list(chosen), _Shifted(shifted.subs(put, simultaneous=True), meaning, ends)


def _bounded(relation: Any) -> sp.Symbol | None:
    """Return the symbol that a relation bounds: its larger side, or its smaller one where that is positive."""
    if isinstance(relation, sp.Eq):
        return None
    if isinstance(relation.gts, sp.Symbol):
        return relation.gts
    return relation.lts if isinstance(relation.lts, sp.Symbol) and relation.lts.is_positive else None


def _slack(*, strict: bool) -> sp.Symbol:
    return sp.Dummy(positive=True) if strict else sp.Dummy(nonnegative=True)


def _stated(statement: "Statement", names: set[str]) -> list[tuple[str, Any]]:
    ends = [(p.name, p.minimum if p.minimum is not None else p.above) for p in statement.parameters if p.name in names]
    return [(name, end) for name, end in ends if end is not None]


def _slacks(statement: "Statement", ends: Mapping[str, Any]) -> dict[sp.Symbol, sp.Symbol]:
    strict = {p.name for p in statement.parameters if p.minimum is None}
    return {symbol: _slack(strict=symbol.name in strict) for symbol in statement.symbols() if symbol.name in ends}


def _rational(value: Any) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _candidates(polynomial: sp.Poly) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """Yield factors and roots of squares that a polynomial may contain.

    Its own square factors; for each symbol, what completes the square of the constant, linear and quadratic terms.
    """
    if len(polynomial.terms()) > _MOST_TERMS:
        return
    constant, factors = polynomial.factor_list()
    root, rest = sp.Integer(1), constant
    for factor, times in factors:
        root *= factor.as_expr() ** (times // 2)
        rest *= factor.as_expr() ** (times % 2)
    if root != 1:
        yield rest, root
    for symbol in polynomial.gens:
        one = sp.Poly(polynomial.as_expr(), symbol)
        linear, square = (one.coeff_monomial(symbol**k) for k in (1, 2))
        if square != 0 and linear != 0:
            yield square, symbol + linear / (2 * square)


def _not_negative(polynomial: sp.Expr, strict: bool, symbols: Sequence[sp.Symbol]) -> bool:
    sign = _sign(polynomial, symbols)
    return sign is not None and sign[0] >= 0 and (sign[1] or not strict)


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
