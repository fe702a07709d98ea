# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""The scope at a place of a deduction: its facts, the signs of atoms, and proofs of goals by sums of facts."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TypeVar

import sympy as sp

from verify.budget import look_at_the_clock
from verify.provers.deduction.account.record import Record
from verify.provers.deduction.atoms import Atoms, NoAtomError
from verify.provers.deduction.columns import Columns
from verify.provers.deduction.cone import Column, combination
from verify.provers.deduction.facts import (
    Canonical,
    Fact,
    Goal,
    Relation,
    Sign,
    Tree,
    canonical,
    data_of,
    rational,
)
from verify.provers.deduction.limits import PROGRAM

Found = TypeVar("Found")


class SpentError(Exception):
    """There is no work left."""


@dataclass
class Work:
    """The budget of a search: the number of columns of linear programs that may still be made."""

    left: int
    record: Record = field(default_factory=Record)

    def spend(self, amount: int) -> None:
        """Count some work. Raises SpentError if none is left, and OutOfTimeError if the time is over."""
        look_at_the_clock()
        self.left -= amount
        if self.left < 0:
            raise SpentError

    def a_part(self, find: Callable[[], Found | None]) -> Found | None:
        """Return the result of a search with a fifth of the work that is left; None if this fifth is spent."""
        before, part = self.left, self.left // 5
        self.left = part
        try:
            return find()
        except SpentError:
            return None
        finally:
            self.left = before - part + max(self.left, 0)


@dataclass(frozen=True)
class Scope:
    """The facts at a place of a proof; `count` is the next fact's number, `bound` counts names that the proof adds."""

    atoms: Atoms
    work: Work
    facts: tuple[Fact, ...] = ()
    count: int = 0
    bound: int = 0

    @cached_property
    def known(self) -> dict[Canonical, bool]:
        """The numerators of the facts that are inequalities, and whether each is > 0."""
        found: dict[Canonical, bool] = {}
        for fact in self.facts:
            if fact.relation != "Eq":
                key = canonical(fact.above)
                found[key] = found.get(key, False) or fact.relation == "Gt"
        return found

    @cached_property
    def _signs(self) -> dict[sp.Symbol, Sign]:
        return {}

    def sign(self, symbol: sp.Symbol) -> Sign:
        """Return the known sign of a symbol or an atom."""
        if symbol not in self._signs:
            self._signs[symbol] = "real"
            self._signs[symbol] = self._sign(symbol)
        return self._signs[symbol]

    def _sign(self, symbol: sp.Symbol) -> Sign:
        kind, base, _ = self.atoms.keys.get(symbol, ("", symbol, symbol))
        if kind == "exp" or (not kind and symbol.is_positive):
            return "positive"
        if (strict := self.known.get(frozenset({(frozenset({(symbol, 1)}), Fraction(1))}))) is not None:
            return "positive" if strict else "nonnegative"
        if kind in ("Pi", "factorial") or (kind == "log" and base.is_Rational):
            return "positive"
        if kind == "Abs":
            return "nonnegative"
        if kind in ("root", "power"):
            if self.shown(base, strict=True):
                return "positive"
            return "nonnegative" if kind == "root" or self.shown(base, strict=False) else "real"
        return "nonnegative" if not kind and symbol.is_nonnegative else "real"

    @cached_property
    def zeros(self) -> set[Canonical]:
        """The numerators of the facts that are equations, and their negatives: all are 0."""
        return {canonical(turn * fact.above) for fact in self.facts if fact.relation == "Eq" for turn in (1, -1)}

    def is_zero(self, expression: sp.Expr) -> bool:
        """Whether the re-check sees that a quotient in atoms is 0."""
        try:
            above, _ = self.atoms.folded(expression)
            return above == 0 or canonical(above) in self.zeros
        except (NoAtomError, sp.PolynomialError):
            return False

    def shown(self, expression: sp.Expr, *, strict: bool) -> bool:
        """Whether the re-check sees by itself that a quotient in atoms is ≥ 0, or > 0 if `strict`."""
        try:
            above, below = sp.fraction(sp.together(expression))
            turned = (t for t in (1, -1) if not strict and self._at_least(sp.expand(t * above), strict=False))
            if (turn := next(turned, None)) is not None:
                return self._turned(below) == turn
            return above != 0 and self._turned(above) * self._turned(below) == 1
        except (NoAtomError, sp.PolynomialError):
            return False

    def shown_by_facts(self, expression: sp.Expr) -> bool:
        """Whether the re-check sees that a quotient in atoms is ≥ 0, as a multiple of facts of several terms."""
        above, below = sp.fraction(sp.together(expression))
        if self._at_least(sp.expand(above), strict=False):
            return self._turned(below) == 1
        for fact in self.facts:
            if fact.relation != "Eq" and fact.above.is_Add and fact.above.free_symbols <= above.free_symbols:
                quotient, rest = sp.div(above, fact.above)
                if rest == 0 and self.shown_by_facts(quotient / below):
                    return True
        return False

    def _turned(self, polynomial: sp.Expr) -> int:
        """Return the sign of a polynomial, 1 or −1, if it is seen to have no zero; else 0."""
        for turn in (1, -1):
            if self._at_least(sp.expand(turn * polynomial), strict=True):
                return turn
        number, factors = sp.factor_list(polynomial)  # pyright: ignore[reportAssignmentType]
        sign = 1 if number > 0 else -1
        for factor, power in factors:
            turned = next((s for s in (1, -1) if self._at_least(sp.expand(s * factor), strict=True)), 0)
            if not turned:
                return self._turned_by_facts(polynomial)
            sign *= turned**power
        return sign

    def _turned_by_facts(self, polynomial: sp.Expr) -> int:
        """Return the sign of a polynomial that is divisible by a fact > 0 of several terms; 0 if it is unknown."""
        for fact in self.facts:
            if fact.relation == "Gt" and fact.above.is_Add and fact.above.free_symbols <= polynomial.free_symbols:
                quotient, rest = sp.div(polynomial, fact.above)
                if rest == 0:
                    return self._turned(quotient)
        return 0

    def _at_least(self, polynomial: sp.Expr, *, strict: bool) -> bool:
        if polynomial == 0:
            return not strict
        key = canonical(polynomial)
        if key in self.known and (self.known[key] or not strict):
            return True
        positive = False
        for monomial, c in key:
            if c < 0 or any(k % 2 and self.sign(s) == "real" for s, k in monomial):
                return False
            positive |= all(self.sign(s) == "positive" for s, _ in monomial)
        return positive or not strict

    def fraction(self, expression: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
        """Return an expression's numerator and denominator > 0, in atoms; None if the latter's sign is not seen."""
        return self.positive_fraction(*self.atoms.fraction(expression))

    def positive_fraction(self, above: sp.Expr, below: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
        """Return a fraction with a denominator > 0, both parts negated if needed; None if the sign is not seen."""
        try:
            turned = self._turned(below)
        except NoAtomError:
            return None
        return (sp.expand(turned * above), sp.expand(turned * below)) if turned else None

    def with_fact(self, expression: sp.Expr, relation: Relation) -> "Scope | None":
        """Return the scope with one more fact in the statement's symbols; None if its divisor has no known sign."""
        try:
            parts = self.fraction(expression)
        except NoAtomError:
            return None
        return None if parts is None else self._with(*parts, relation, expression)

    def with_atoms(self, value: sp.Expr, relation: Relation) -> "Scope | None":
        """Return the scope with one more fact in atoms; None if its divisor has no known sign."""
        parts = self.positive_fraction(*self.atoms.folded(value))
        return None if parts is None else self._with(*parts, relation, None)

    def _with(self, above: sp.Expr, below: sp.Expr, relation: Relation, expression: sp.Expr | None) -> "Scope":
        fact = Fact(above, below, relation, self.count, expression)
        return replace(self, facts=(*self.facts, fact), count=self.count + 1)

    def skipped(self) -> "Scope":
        """Return the scope with one fact number skipped, for a fact that cannot be used."""
        return replace(self, count=self.count + 1)

    def without(self, symbol: sp.Symbol) -> "Scope":
        """Return the scope without the facts that mention a symbol or have no expression."""
        kept = replace(self, facts=())
        for fact in self.facts:
            if fact.expression is not None and symbol not in fact.expression.free_symbols:
                kept = replace(kept, facts=(*kept.facts, fact))
        return kept

    def sum(self, goal: Goal, level: int, among: Collection[int] | None = None) -> Tree | None:
        """Return a proof of a goal as a sum of products of at most `level` + 1 facts; None if no proof was found.

        If `among` is given, only the facts at these places are used.
        """
        try:
            parts = self.fraction(goal.expression)
        except NoAtomError:
            return None
        if parts is None:
            return None
        above, below = parts
        facts = [fact for fact in self._relevant(above) if among is None or fact.place in among]
        if level and len(facts) > PROGRAM.facts:
            inside = set(self._symbols([above]))
            facts = [fact for fact in facts if fact.above.free_symbols <= inside]
        symbols = self._symbols([above, *(fact.above for fact in facts)])
        ring = sp.ring(symbols or [sp.Dummy()], sp.QQ)[0]
        try:
            wanted = ring.from_expr(above)
            polynomials = [ring.from_expr(fact.above) for fact in facts]
        except ValueError:
            return None
        signs, free = [self.sign(s) for s in ring.symbols], goal.relation == "Eq"
        made = Columns(signs, self.atoms.keys, ring, wanted, facts, polynomials, level, free=free)
        columns = list(islice(made.all(), PROGRAM.columns + 1))
        self.work.spend(50 + len(columns))
        self.work.record.program(len(columns))
        if len(columns) > PROGRAM.columns:
            return None
        target = {powers: rational(c) for powers, c in wanted.terms() if c}
        found = combination(target, columns, strict=goal.strict)
        return None if found is None else self.tree(below, [(c, made.in_symbols(column)) for c, column in found])

    def _symbols(self, polynomials: Sequence[sp.Expr]) -> list[sp.Symbol]:
        """Return the symbols of some polynomials, and for each atom u^(1/q) among these symbols also those of u."""
        found, new = set[sp.Symbol](), {s for p in polynomials for s in p.free_symbols}
        while new:
            found |= new
            keys = [self.atoms.keys[s] for s in new if s in self.atoms.keys]
            new = {s for kind, base, _ in keys if kind == "root" for s in base.free_symbols} - found
        return sorted(found, key=lambda s: (s.name, getattr(s, "dummy_index", 0)))

    def _relevant(self, above: sp.Expr) -> list[Fact]:
        """Return the facts without symbols and those linked to a goal by shared symbols; all for a goal without any."""
        reached, chosen, left = set(self._symbols([above])), list[Fact](), list(self.facts)
        while new := [f for f in left if not f.above.free_symbols or f.above.free_symbols & reached]:
            chosen += new
            left = [f for f in left if f not in new]
            reached |= set(self._symbols([f.above for f in new]))
        return sorted(chosen if above.free_symbols else list(self.facts), key=lambda f: f.place)

    def product(self, number: sp.Rational, places: Sequence[int], root: sp.Expr, below: sp.Expr) -> Tree:
        """Return a proof of a goal as one product of facts and a square."""
        facts = tuple(fact for fact in self.facts if fact.place in places)
        column = Column({}, False, False, (sp.Integer(1), facts, None if root == 1 else root))
        return self.tree(below, [(Fraction(int(number.p), int(number.q)), column)])

    def equation(self, shares: Sequence[tuple[sp.Expr, Fact]], below: sp.Expr) -> Tree:
        """Return a proof of a goal as a sum of multiples of facts, in atoms."""
        return self.tree(below, [(Fraction(1), Column({}, False, False, (share, (f,), None))) for share, f in shares])

    def tree(self, below: sp.Expr, found: Sequence[tuple[Fraction, Column]]) -> Tree:
        """Return a proof by columns that add up to a goal's numerator; `says` has a column's factor, facts and root."""
        terms, (number, below) = [], below.as_coeff_Mul()
        for coefficient, column in found:
            monomial, facts, root = column.says
            factor = sp.Rational(coefficient.numerator, coefficient.denominator) / number * monomial
            for fact in facts:
                factor *= fact.below
            root = None if root is None else data_of(self.atoms.back(root))
            terms.append([data_of(self.atoms.back(factor)), [fact.place for fact in facts], root])
        return {"rule": "sum", "times": data_of(self.atoms.back(below)), "terms": terms}
