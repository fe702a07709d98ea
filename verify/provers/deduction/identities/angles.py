# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs by the addition formulas, which write sines and cosines of sums and multiples in terms of base angles."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm
from typing import TypeAlias

import sympy as sp

from verify.provers.deduction.facts import Goal, Tree, data_of, places_in
from verify.provers.deduction.instances import Instances
from verify.provers.deduction.polynomials.squares import squares
from verify.provers.deduction.scope import Scope

Multiples: TypeAlias = tuple[int, ...]
"""An angle's coefficients in the base angles."""
_MOST_PARTS = 12
"""The largest allowed sum |k_1| + |k_2| + … of the coefficients of an angle."""


class Angles(Instances, ABC):
    """Proofs that write all sines and cosines in terms of the sines and cosines of a few base angles."""

    @abstractmethod
    def prove(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal, None if none was found."""

    def _by_angles(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof by the addition formulas, None if none was found.

        The goal is divided by the formulas. If the remainder is 0, the formulas prove the goal. A nonzero remainder
        of an inequality is a simpler goal, which is proved as a lemma.
        """
        parts = scope.fraction(goal.expression)
        angles = [] if parts is None else self._angles([parts[0], *(f.above for f in scope.facts)])
        bases, multiples = _bases(angles)
        if parts is None or all(sum(map(abs, each)) == 1 for each in multiples):
            return None
        if max(sum(map(abs, each)) for each in multiples) > _MOST_PARTS:
            return None
        return self._by_formulas(scope, goal, parts, list(_formulas(bases, multiples)), depth)

    def _by_formulas(
        self,
        scope: Scope,
        goal: Goal,
        parts: tuple[sp.Expr, sp.Expr],
        formulas: Sequence[tuple[str, list[sp.Expr]]],
        depth: int,
    ) -> Tree | None:
        """Return a proof by some formulas; the proof states only the formulas that it uses."""
        inner, used = scope, dict[int, tuple[str, list[sp.Expr]]]()
        for name, of in formulas:
            after = self._instance(inner, name, of)
            if after is not None:
                used[inner.count] = name, of
                inner = after
        tree = self._reduced(scope, inner, goal, parts, depth)
        needed = [used[place] for place in sorted(places_in(tree or {})) if place in used]
        if tree and len(needed) < len(used):
            return self._by_formulas(scope, goal, parts, needed, depth)
        for name, of in reversed(used.values()) if tree else ():
            tree = {"rule": "known", "name": name, "of": [data_of(e) for e in of], "then": tree}
        return tree

    def _on_circles(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof by squares, with sin² + cos² = 1 for each angle."""
        angles = sorted({f.args[0] for f in goal.expression.atoms(sp.sin, sp.cos)}, key=sp.default_sort_key)
        inner: Scope | None = scope
        for angle in angles:
            inner = inner and self._instance(inner, "circle", [angle])
        tree = squares(inner, goal) if angles and inner else None
        for angle in reversed(angles) if tree else ():
            tree = {"rule": "known", "name": "circle", "of": [data_of(angle)], "then": tree}
        return tree

    def _angles(self, polynomials: Sequence[sp.Expr]) -> list[sp.Expr]:
        """Return the angles whose sines or cosines are atoms of some polynomials."""
        atoms = sorted({s for p in polynomials for s in p.free_symbols}, key=lambda s: getattr(s, "dummy_index", 0))
        kinds = {s: self.atoms.keys.get(s, ("",))[0] for s in atoms}
        return list(dict.fromkeys(self.atoms.meaning[s].args[0] for s in atoms if kinds[s] in ("sin", "cos")))

    def _reduced(
        self, scope: Scope, inner: Scope, goal: Goal, parts: tuple[sp.Expr, sp.Expr], depth: int
    ) -> Tree | None:
        """Return a proof by dividing the goal by the equations: the remainder is 0 or, for an inequality, a lemma."""
        equations = [fact for fact in reversed(inner.facts) if fact.relation == "Eq"]
        symbols = {s for p in (parts[0], *(f.above for f in equations)) for s in p.free_symbols}
        order = sorted(symbols, key=lambda s: (self._rank(s, inner), s.name, getattr(s, "dummy_index", 0)))
        self.work.spend(100 + 20 * len(equations))
        shares, rest = sp.reduced(parts[0], [fact.above for fact in equations], *order, order="lex")
        used = [(share, fact) for share, fact in zip(shares, equations, strict=True) if share != 0]
        if rest == 0:
            return inner.equation(used, parts[1])
        if goal.relation == "Eq" or not depth or not used:
            return None
        left = self.atoms.back(rest / parts[1])
        lemma = self.prove(replace(inner, facts=scope.facts), Goal(left, goal.relation), depth - 1)
        after = lemma and inner.with_fact(left, goal.relation)
        if not after:
            return None
        relation = (sp.Gt if goal.strict else sp.Ge)(left, 0, evaluate=False)
        then = after.equation([*used, (sp.Integer(1), after.facts[-1])], parts[1])
        return {"rule": "lemma", "relation": data_of(relation), "proof": lemma, "then": then}

    def _rank(self, atom: sp.Symbol, inner: Scope) -> int:
        """Return the rank of an atom in the monomial order; sines and cosines of a sum come before those of its parts.

        The atoms of other functions come first.
        """
        if self.atoms.keys.get(atom, ("",))[0] not in ("sin", "cos"):
            return 0
        made = [fact.place for fact in inner.facts if fact.expression is None and atom in fact.above.free_symbols]
        return inner.count - min(made, default=inner.count)


def _formulas(bases: Sequence[sp.Expr], multiples: Sequence[Multiples]) -> Iterator[tuple[str, list[sp.Expr]]]:
    """Yield sin² + cos² = 1 for each base angle, then addition formulas: those for an angle's parts come first."""
    yield from (("circle", [base]) for base in bases)
    made = set[Multiples]()

    def parts_of(angle: Multiples) -> Iterator[tuple[str, list[sp.Expr]]]:
        if angle in made or sum(map(abs, angle)) < 2:
            return
        made.add(angle)
        one = _half(angle)
        other = tuple(k - h for k, h in zip(angle, one, strict=True))
        for part in (one, other):
            yield from parts_of(part)
        sides = [sp.expand(sp.Add(*(k * b for k, b in zip(part, bases, strict=True)))) for part in (one, other)]
        yield from ((name, sides) for name in ("sin_sum", "cos_sum"))

    for each in multiples:
        yield from parts_of(each)


def _half(angle: Multiples) -> Multiples:
    """Return a part of an angle Σ k_i b_i: the first term k b or, if this is the only term, ⌈k/2⌉ b."""
    first = next(i for i, k in enumerate(angle) if k)
    several = any(angle[first + 1 :])
    return tuple((k if several else k - k // 2) if i == first else 0 for i, k in enumerate(angle))


def _bases(angles: Sequence[sp.Expr]) -> tuple[list[sp.Expr], list[Multiples]]:
    """Return base angles, and the integer coefficients of each angle in the base angles."""
    written = [_terms(angle) for angle in angles]
    shares: dict[sp.Expr, list[Fraction]] = {}
    for terms in written:
        for monomial, share in terms.items():
            shares.setdefault(monomial, []).append(share)
    units = {
        m: Fraction(gcd(*(c.numerator for c in all_)), lcm(*(c.denominator for c in all_)))
        for m, all_ in shares.items()
    }
    bases = [sp.Rational(unit.numerator, unit.denominator) * m for m, unit in units.items()]
    return bases, [tuple(int(terms.get(m, 0) / unit) for m, unit in units.items()) for terms in written]


def _terms(angle: sp.Expr) -> Mapping[sp.Expr, Fraction]:
    """Return the rational coefficients of the monomials in an angle."""
    parts = [term.as_coeff_Mul() for term in sp.Add.make_args(sp.expand(angle))]
    return {monomial: Fraction(int(share.p), int(share.q)) for share, monomial in parts if share.is_Rational}
