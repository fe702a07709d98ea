# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Goals and facts of a deduction, and the polynomials in atoms that represent them."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import sympy as sp

from verify.language.expressions import to_data
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.cone import Powers

Relation: TypeAlias = Literal["Ge", "Gt", "Eq"]
Sign: TypeAlias = Literal["positive", "nonnegative", "real"]
Tree: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Goal:
    """The claim that an expression is ≥ 0, > 0, or 0."""

    expression: sp.Expr
    relation: Relation

    @property
    def strict(self) -> bool:
        """Whether the expression is to be shown > 0."""
        return self.relation == "Gt"


@dataclass(frozen=True)
class Fact:
    """An expression with a known sign: `above`/`below` in atoms, `below` > 0; `place` is its number in the proof."""

    above: sp.Expr
    below: sp.Expr
    relation: Relation
    place: int
    expression: sp.Expr | None
    """The same expression in the statement's symbols; None if it is given in atoms only."""


Canonical: TypeAlias = frozenset[tuple[frozenset[tuple[sp.Symbol, int]], Fraction]]


def terms_of(polynomial: sp.Expr) -> tuple[list[sp.Symbol], dict[Powers, Fraction]]:
    """Return the symbols and coefficients of a polynomial over ℚ. Raises NoAtomError for any other expression."""
    symbols = sorted(polynomial.free_symbols, key=lambda s: (s.name, getattr(s, "dummy_index", 0)))
    try:
        element = sp.ring(symbols or [sp.Dummy()], sp.QQ)[0].from_expr(polynomial)
    except ValueError:
        raise NoAtomError(str(polynomial)) from None
    return symbols, {k[: len(symbols)]: rational(c) for k, c in element.terms() if c}


def stated(goal: Goal) -> Any:
    """Return the data of a goal's relation to 0; the margin of the relation is the goal's expression."""
    if goal.relation == "Eq":
        return data_of(sp.Eq(0, goal.expression, evaluate=False))
    return data_of((sp.Gt if goal.strict else sp.Ge)(goal.expression, 0, evaluate=False))


def data_of(expression: sp.Basic) -> Any:
    """Return an expression as data of a certificate; its numbers are computed, so they may be long."""
    return to_data(expression, written=False)


@lru_cache(maxsize=4096)
def rational(number: Any) -> Fraction:
    """Return a SymPy number as a fraction."""
    return Fraction(int(sp.QQ.numer(number)), int(sp.QQ.denom(number)))


def canonical(polynomial: sp.Expr) -> Canonical:
    """Return the canonical form that a polynomial shares with its positive multiples."""
    symbols, terms = terms_of(polynomial)
    size = abs(sum((abs(c) for c in terms.values()), Fraction(0))) or Fraction(1)
    return frozenset(
        (frozenset((s, k) for s, k in zip(symbols, p, strict=True) if k), c / size) for p, c in terms.items()
    )


def places_in(tree: Tree) -> set[int]:
    """Return the places of the facts that the sums and replacements in a proof use."""
    parts = [each for part in tree.values() for each in (part if isinstance(part, list) else [part])]
    inside = (places_in(part) for part in parts if isinstance(part, dict))
    named = {place for _, places, _ in tree.get("terms", ()) for place in places}
    return named.union({tree["fact"]} if "fact" in tree else (), *inside)
