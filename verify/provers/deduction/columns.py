# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""The columns of a linear program that shows a goal: products of facts, of monomials that are ≥ 0, and of squares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations_with_replacement, islice
from operator import add
from typing import Any, NamedTuple

import sympy as sp

from verify.provers.deduction.atoms import Key
from verify.provers.deduction.cone import Column, Powers
from verify.provers.deduction.facts import Fact, Sign, rational
from verify.provers.deduction.limits import PROGRAM


class _Part:
    """A polynomial with its terms, its degree, and its largest power of each symbol."""

    def __init__(self, polynomial: Any) -> None:
        self.polynomial = polynomial
        self.terms: list[tuple[Powers, Fraction]] = [(k, rational(c)) for k, c in polynomial.terms() if c]

    @cached_property
    def degree(self) -> int:
        """The largest degree of a term; 0 without terms."""
        return max((sum(k) for k, _ in self.terms), default=0)

    @cached_property
    def most(self) -> list[int]:
        """The largest power of each symbol."""
        return list(map(max, zip(*(k for k, _ in self.terms), strict=True)))


class _Monomial(NamedTuple):
    """A monomial's powers, its degree, and whether its symbols' signs make it at least 0."""

    powers: Powers
    degree: int
    signed: bool


class Columns:
    """The columns of a linear program: products of facts, of monomials that are ≥ 0, and of squares."""

    def __init__(
        self,
        signs: Sequence[Sign],
        keys: Mapping[sp.Symbol, Key],
        ring: Any,
        goal: Any,
        facts: Sequence[Fact],
        polynomials: Sequence[Any],
        level: int,
        *,
        free: bool = False,
    ) -> None:
        self.signs, self.keys, self.ring, self.level, self.free = signs, keys, ring, level, free
        self.symbols, self.tried = list(ring.symbols), 0
        self.facts = list(zip(facts, polynomials, strict=True))
        everything = [goal, *polynomials]
        self.most = [max((p.degree(g) for p in everything if p), default=0) for g in ring.gens]
        degrees = [max((sum(k) for k in p), default=0) for p in everything]
        self.degree = max([degrees[0] if goal else 2, *degrees[1:]], default=0) + max(0, level - 1)
        if not goal:
            self.most, self.degree = [2 * k for k in self.most], 2 * self.degree
        elif level >= 2:
            self.most = [k + 1 for k in self.most]
        self.goal = goal
        self.roots = [self._root(i) for i in range(len(self.symbols))]
        for i, root in enumerate(self.roots):
            if root and root[1]:
                self.most = [max(a, root[1].degree(g)) for a, g in zip(self.most, ring.gens, strict=True)]
                self.most[i] = max(self.most[i], root[0])

    def _root(self, place: int) -> tuple[int, Any] | None:
        """Return the order and the base of a root; None for a symbol that is no root.

        The base is None if it is no polynomial.
        """
        kind, base, order = self.keys.get(self.symbols[place], ("", None, 0))
        if kind != "root":
            return None
        try:
            return int(order), self.ring.from_expr(sp.expand(base))
        except ValueError:
            return int(order), None

    def _folded(self, polynomial: Any) -> Any:
        """Return a polynomial with powers of roots below their orders; 0 if a base needed for this is no polynomial."""
        for i, root in enumerate(self.roots):
            if root is None or not polynomial or polynomial.degree(self.ring.gens[i]) < root[0]:
                continue
            order, base = root
            if base is None:
                return self.ring.zero
            total = self.ring.zero
            for powers, c in polynomial.terms():
                left = tuple(k % order if j == i else k for j, k in enumerate(powers))
                total += self.ring({left: c}) * base ** (powers[i] // order)
            return self._folded(total)
        return polynomial

    def all(self) -> Iterator[Column]:
        """Yield the columns: products of at most `level` + 1 facts, and squares; or multiples of equations, if `free`.

        A column's `says` has the powers of its monomial and its root in the ring; `in_symbols` makes them expressions.
        """
        seen = set[tuple[Any, bool, bool]]()
        for column in self._made():
            key = frozenset(column.polynomial.items()), column.strict, column.free
            if column.polynomial and key not in seen:
                seen.add(key)
                yield column

    def in_symbols(self, column: Column) -> Column:
        """Return a column with its monomial and its root as expressions; called only for the few columns in use."""
        powers, facts, root = column.says
        monomial = sp.Mul(*(s**k for s, k in zip(self.symbols, powers, strict=True)))
        return replace(column, says=(monomial, facts, None if root is None else root.as_expr()))

    def _made(self) -> Iterator[Column]:
        monomials = [_Monomial(k, sum(k), self._signed(k)) for k in self._monomials(self.degree)]
        if self.free:
            equations = (fact for fact in self.facts if fact[0].relation == "Eq")
            yield from chain.from_iterable(self._with_facts([fact], monomials) for fact in equations)
            return
        yield from self._products(monomials)
        yield from self._squares()

    def _products(self, monomials: Sequence[_Monomial]) -> Iterator[Column]:
        for times in range(self.level + 2 if len(self.facts) <= PROGRAM.facts else 2):
            for chosen in combinations_with_replacement(self.facts, times):
                yield from self._with_facts(chosen, monomials)

    def _squares(self) -> Iterator[Column]:
        none, facts = (0,) * len(self.symbols), [(fact, _Part(polynomial)) for fact, polynomial in self.facts]
        for root in list(self._roots()):
            square = _Part(self._folded(root * root))
            if not square.terms or not self._fits(square):
                continue
            yield self._column(square, none, (), root)
            if self.level:
                for i, sign in enumerate(self.signs):
                    if sign != "real":
                        yield self._column(square, tuple(int(i == j) for j in range(len(self.signs))), (), root)
                for fact, part in facts:
                    # The degree of a product is the sum of the degrees of its factors.
                    if self._fits(square, part.degree, part.most):
                        yield self._column(_Part(square.polynomial * part.polynomial), none, (fact,), root)

    def _with_facts(self, chosen: Sequence[tuple[Fact, Any]], monomials: Sequence[_Monomial]) -> Iterator[Column]:
        total = self.ring.one
        for _, polynomial in chosen:
            total *= polynomial
        part = _Part(self._folded(total))
        if not part.terms or not self._fits(part):
            return
        facts = tuple(fact for fact, _ in chosen)
        equal = any(fact.relation == "Eq" for fact in facts)
        if equal and len(facts) > 1:
            return
        for powers, degree, signed in monomials:
            self.tried += 1
            if self.tried > PROGRAM.tried:
                return
            if (equal or signed) and self._fits(part, degree, powers):
                yield self._column(part, powers, facts, None)

    def _column(self, part: _Part, powers: Powers, facts: tuple[Fact, ...], root: Any) -> Column:
        if any(self.roots):
            shifted = dict(_Part(self._folded(part.polynomial * self.ring({powers: 1}))).terms)
        else:
            shifted = {tuple(map(add, k, powers)): c for k, c in part.terms}
        strict = root is None and all(fact.relation == "Gt" for fact in facts)
        strict = strict and all(not k or sign == "positive" for k, sign in zip(powers, self.signs, strict=True))
        free = any(fact.relation == "Eq" for fact in facts)
        return Column(shifted, strict and not free, free, (powers, facts, root))

    def _signed(self, powers: Powers) -> bool:
        return all(k % 2 == 0 or sign != "real" for k, sign in zip(powers, self.signs, strict=True))

    def _fits(self, part: _Part, degree: int = 0, powers: Sequence[int] = ()) -> bool:
        """Whether a polynomial times another polynomial, of this degree and these largest powers, is in the limits."""
        more = powers or (0,) * len(self.symbols)
        # A polynomial that is 0 has no largest powers.
        return part.degree + degree <= self.degree and all(
            a + b <= most for a, b, most in zip(part.most, more, self.most, strict=False)
        )

    def _monomials(self, degree: int) -> Iterator[Powers]:
        most = [k if root is None else min(k, root[0] - 1) for k, root in zip(self.most, self.roots, strict=True)]
        if len(most) > 8:
            yield from islice(_low(len(most), most, min(degree, 3)), PROGRAM.columns)
        else:
            yield from islice(_within(most, degree), PROGRAM.columns)

    def _roots(self) -> Iterator[Any]:
        """Yield sums of two monomials whose squares fit, with coefficients ±1, or such that they complete a square."""
        half = [k for k in self._monomials(self.degree // 2) if self._fits(_Part(self._folded(self.ring({k: 1}) ** 2)))]
        half = half[: PROGRAM.monomials]
        for i, one in enumerate(half):
            for other in half[:i]:
                yield self.ring({one: 1, other: -1})
                yield self.ring({one: 1, other: 1})
                yield from self._completed(one, other)

    def _completed(self, one: Powers, other: Powers) -> Iterator[Any]:
        both = self.goal.get(tuple(map(add, one, other)), 0)
        for first, second in ((one, other), (other, one)):
            diagonal = self.goal.get(tuple(2 * k for k in first), 0)
            if both and diagonal and abs(both) != 2 * abs(diagonal):
                yield self.ring({first: 1, second: both / (2 * diagonal)})


def _within(most: Sequence[int], degree: int) -> Iterator[Powers]:
    """Yield exponents, each up to its limit in `most`, with sum at most `degree`, in lexicographic order."""
    if not most:
        yield ()
        return
    for power in range(min(most[0], degree) + 1):
        for rest in _within(most[1:], degree - power):
            yield (power, *rest)


def _low(count: int, most: Sequence[int], degree: int) -> Iterator[Powers]:
    """Yield exponents, each up to its limit in `most`, by increasing sum up to `degree`."""
    for total in range(degree + 1):
        for chosen in combinations_with_replacement(range(count), total):
            powers = tuple(chosen.count(i) for i in range(count))
            if all(a <= b for a, b in zip(powers, most, strict=True)):
                yield powers
