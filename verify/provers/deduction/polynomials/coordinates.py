# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Coordinates in which linear facts are signs: a coordinate is an atom, or a linear form that is ≥ 0 by a fact.

Of the linear facts of a group of symbols, only some are kept, from which the others follow. If the forms of the kept
facts are linearly independent, these forms are coordinates. If multiples of the coordinates add up to 1, as on an
interval or a simplex, powers of this sum make polynomials homogeneous.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import sympy as sp

from verify.provers.deduction.cone import Column, Powers, combination
from verify.provers.deduction.facts import Fact, Sign
from verify.provers.deduction.scope import Scope

_MOST_FORMS = 16
"""Maximum number of linear forms in one group of symbols."""
Vector: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Coordinate:
    """A coordinate: its symbol, its sign, and its form, which is `scale` times an atom or a fact's numerator."""

    symbol: sp.Symbol
    sign: Sign
    form: sp.Expr
    scale: sp.Rational
    fact: Fact | None


@dataclass(frozen=True)
class _Form:
    """A linear form in some symbols and 1, its sign, and its origin: an atom or a fact."""

    vector: Vector
    sign: Sign
    of: sp.Expr
    fact: Fact | None


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of some atoms.

    `values` has the atoms in terms of the coordinates, `sums` the places of each group of coordinates that add up to 1.
    `rest` has the inequalities that say more than signs of coordinates, and `equations` has the equations; both are
    given as polynomials in the coordinates.
    """

    parts: tuple[Coordinate, ...]
    values: dict[sp.Symbol, sp.Expr]
    sums: tuple[tuple[int, ...], ...]
    ring: Any
    rest: tuple[tuple[Fact, Any], ...] = ()
    equations: tuple[tuple[Fact, Any], ...] = ()

    @property
    def signs(self) -> list[Sign]:
        """The signs of the coordinates."""
        return [part.sign for part in self.parts]

    @property
    def beyond(self) -> tuple[tuple[Fact, Any], ...]:
        """The facts that say more than signs of coordinates."""
        return (*self.rest, *self.equations)

    def polynomial(self, expression: sp.Expr) -> Any:
        """Return a polynomial in atoms as one in coordinates. Raises ValueError if it is no polynomial."""
        total = self.ring.from_expr(sp.expand(expression.xreplace(self.values)))
        for places in self.sums:
            one = sum((self.ring.gens[i] for i in places), self.ring.zero)
            parts: dict[int, Any] = {}
            for powers, c in total.terms():
                degree = sum(powers[i] for i in places)
                parts[degree] = parts.get(degree, self.ring.zero) + self.ring({powers: c})
            most = max(parts, default=0)
            total = sum((part * one ** (most - degree) for degree, part in parts.items()), self.ring.zero)
        return total

    def expression(self, polynomial: Any) -> sp.Expr:
        """Return a polynomial in coordinates as one in atoms."""
        return polynomial.as_expr().xreplace({part.symbol: part.form for part in self.parts})

    def says(self, powers: Powers) -> tuple[sp.Expr, tuple[Fact, ...]]:
        """Return a product of coordinates as a factor that is seen to be ≥ 0, and facts to multiply."""
        factor, facts = sp.Integer(1), list[Fact]()
        for part, power in zip(self.parts, powers, strict=True):
            factor *= part.scale**power if part.fact is not None else part.form**power
            facts += [part.fact] * power if part.fact is not None else []
        return factor, tuple(facts)


def coordinates(scope: Scope, above: sp.Expr, powers: Mapping[sp.Symbol, sp.Expr]) -> Coordinates:
    """Return coordinates for the atoms in a polynomial; `powers` maps other atoms to expressions of these atoms."""
    atoms = sorted(above.free_symbols, key=lambda s: (s.name, getattr(s, "dummy_index", 0)))
    facts = [replace(f, above=f.above.xreplace(powers)) for f in scope.facts]
    facts = [f for f in facts if f.above.free_symbols and f.above.free_symbols <= {*atoms}]
    linear = [f for f in facts if f.relation != "Eq" and sp.Poly(f.above, *atoms).total_degree() == 1]
    parts, values, sums = list[Coordinate](), dict[sp.Symbol, sp.Expr](), list[tuple[int, ...]]()
    covered: list[Fact] = []
    for bound in _components(atoms, linear):
        inside = [f for f in linear if f.above.free_symbols <= {*bound}]
        forms = _forms(scope, bound, inside)
        found = _basis(bound, forms) if len(forms) <= _MOST_FORMS else None
        if found is None:
            found = [_Form(_unit(bound, s), scope.sign(s), s, None) for s in bound], []
            inside = [f for f in inside if len(f.above.free_symbols) == 1 and f.above.is_Symbol]
        chosen, shares = found
        scales = [sp.Rational(c.numerator, c.denominator) for c in shares] or [sp.Integer(1)] * len(chosen)
        new = [
            Coordinate(sp.Dummy("t", real=True), form.sign, sp.expand(scale * form.of), scale, form.fact)
            for form, scale in zip(chosen, scales, strict=True)
        ]
        values |= _solved(bound, new, homogeneous=bool(shares))
        if shares:
            sums.append(tuple(range(len(parts), len(parts) + len(new))))
        parts, covered = [*parts, *new], [*covered, *inside]
    ring = sp.ring([part.symbol for part in parts], sp.QQ)[0]
    found_all = Coordinates(tuple(parts), values, tuple(sums), ring)
    left = [(f, found_all.polynomial(f.above)) for f in facts if f not in covered]
    return replace(
        found_all,
        rest=tuple((f, p) for f, p in left if f.relation != "Eq"),
        equations=tuple((f, p) for f, p in left if f.relation == "Eq" and p),
    )


def _components(atoms: Sequence[sp.Symbol], linear: Sequence[Fact]) -> list[list[sp.Symbol]]:
    """Return the groups of atoms that are connected by linear facts."""
    groups: list[set[sp.Symbol]] = [{s} for s in atoms]
    for fact in linear:
        together = set[sp.Symbol]().union(*(g for g in groups if g & fact.above.free_symbols))
        groups = [*(g for g in groups if not g & together), together]
    return [[s for s in atoms if s in g] for g in groups]


def _unit(bound: Sequence[sp.Symbol], symbol: sp.Symbol) -> Vector:
    return (*(Fraction(int(s == symbol)) for s in bound), Fraction(0))


def _forms(scope: Scope, bound: Sequence[sp.Symbol], facts: Sequence[Fact]) -> list[_Form]:
    """Return the linear forms in some atoms that are ≥ 0, each once, with the positive forms first."""
    forms = [_Form(_unit(bound, s), sign, s, None) for s in bound if (sign := scope.sign(s)) != "real"]
    for fact in facts:
        polynomial = sp.Poly(fact.above, *bound)
        numbers = [*(polynomial.coeff_monomial(s) for s in bound), polynomial.eval((0,) * len(bound))]
        vector = tuple(Fraction(int(c.p), int(c.q)) for c in numbers)
        forms.append(_Form(vector, "positive" if fact.relation == "Gt" else "nonnegative", fact.above, fact))
    forms.sort(key=lambda form: (form.sign != "positive", form.fact is not None))
    seen: dict[Vector, _Form] = {}
    for form in forms:
        size = max(map(abs, form.vector))
        seen.setdefault(tuple(x / size for x in form.vector), form)
    return list(seen.values())


def _basis(bound: Sequence[sp.Symbol], forms: Sequence[_Form]) -> tuple[list[_Form], list[Fraction]] | None:
    """Return forms that are coordinates, and factors so that the multiples add up to 1, if such factors exist.

    None if the forms from which all others follow are not linearly independent, or if only some of them add up to 1.
    """
    kept = list(forms)
    for form in sorted(forms, key=lambda f: -sum(1 for x in f.vector if x)):
        others = [f for f in kept if f is not form]
        if _shares(form.vector, [*(f.vector for f in others), (*(Fraction(0),) * len(bound), Fraction(1))]) is not None:
            kept = others
    one = (*(Fraction(0),) * len(bound), Fraction(1))
    shares = _shares(one, [f.vector for f in kept])
    if shares is not None and not all(shares):
        return None
    vectors = [f.vector for f in kept] + ([one] if shares is None else [])
    if sp.Matrix(vectors).rank() < len(vectors):
        return None
    for symbol in bound if shares is None else ():
        more = [*vectors, _unit(bound, symbol)]
        if sp.Matrix(more).rank() == len(more):
            vectors = more
            kept.append(_Form(_unit(bound, symbol), "real", symbol, None))
    return None if len(vectors) != len(bound) + 1 else (kept, shares or [])


def _shares(vector: Vector, others: Sequence[Vector]) -> list[Fraction] | None:
    """Return coefficients ≥ 0 with which the vectors `others` add up to `vector`; None if there are none."""
    columns = [Column({(i,): x for i, x in enumerate(v) if x}, False, False, k) for k, v in enumerate(others)]
    found = combination({(i,): x for i, x in enumerate(vector) if x}, columns, strict=False)
    if found is None:
        return None
    coefficients = {column.says: c for c, column in found}
    return [coefficients.get(k, Fraction(0)) for k in range(len(others))]


def _solved(bound: Sequence[sp.Symbol], parts: Sequence[Coordinate], *, homogeneous: bool) -> dict[sp.Symbol, sp.Expr]:
    """Return each atom in terms of the coordinates, without a constant if the coordinates add up to 1."""
    total = sum((part.symbol for part in parts), sp.Integer(0)) if homogeneous else sp.Integer(1)
    equations = []
    for part in parts:
        constant = part.form.xreplace(dict.fromkeys(bound, sp.Integer(0)))
        equations.append(part.form - constant + constant * total - part.symbol)
    # If n + 1 coordinates add up to 1, one of the equations follows from the others.
    (solution,) = sp.linsolve(equations[: len(bound)], list(bound))
    return dict(zip(bound, map(sp.expand, solution), strict=True))
