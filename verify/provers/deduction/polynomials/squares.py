# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Goals, in coordinates, as sums of squares times facts by semidefinite programs, and as sums of means."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import sympy as sp

from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.cone import Column, Powers
from verify.provers.deduction.facts import Fact, Goal, Tree, data_of, rational
from verify.provers.deduction.limits import MEANS, PROGRAM
from verify.provers.deduction.polynomials.coordinates import coordinates
from verify.provers.deduction.polynomials.means import Mean, covered
from verify.provers.deduction.scope import Scope
from verify.provers.sums_of_squares import squares_with
from verify.provers.zeros import Zeros, zeros_of, zeros_on


class _Posed:
    """A goal's numerator in coordinates, and its denominator."""

    def __init__(self, scope: Scope, goal: Goal, above: sp.Expr, below: sp.Expr) -> None:
        self.scope, self.goal, self.below = scope, goal, below
        powers = _powers_of_roots(scope, above)
        self.to = coordinates(scope, above.xreplace(powers), powers)
        self.polynomial = self.to.polynomial(above.xreplace(powers))

    @classmethod
    def of(cls, scope: Scope, goal: Goal) -> "_Posed | None":
        """Return an inequality in coordinates, with a polynomial as numerator.

        Return None for an equation, and for a numerator that is 0 or has no symbols or too many symbols.
        """
        try:
            parts = None if goal.relation == "Eq" else scope.fraction(goal.expression)
            if parts is None or not parts[0].free_symbols or len(parts[0].free_symbols) > PROGRAM.variables:
                return None
            posed = cls(scope, goal, *parts)
        except (NoAtomError, ValueError):
            return None
        return posed if posed.polynomial else None

    @property
    def terms(self) -> dict[Powers, Fraction]:
        """The coefficients by powers."""
        return _terms(self.polynomial)

    @property
    def real(self) -> list[bool]:
        """For each coordinate, whether it may be negative."""
        return [sign == "real" for sign in self.to.signs]

    def product(self, powers: Sequence[int]) -> Column:
        """Return a product of coordinates that is ≥ 0 as a column."""
        factor, facts = self.to.says(tuple(powers))
        return Column({}, False, False, (factor, facts, None))


def _terms(polynomial: Any) -> dict[Powers, Fraction]:
    """Return the coefficients of a polynomial in coordinates, by powers."""
    return {k: rational(c) for k, c in polynomial.terms()}


def _powers_of_roots(scope: Scope, above: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
    """Return each symbol x with a root x^(1/n) in the polynomial as the nth power of this root.

    Raises NoAtomError if a symbol has two roots, or for a root of any other expression.
    """
    powers: dict[sp.Symbol, sp.Expr] = {}
    for root in above.free_symbols:
        kind, base, order = scope.atoms.keys.get(root, ("", root, 1))
        if kind == "root":
            if not base.is_Symbol or base in powers:
                raise NoAtomError(str(base))
            powers[base] = root**order
    return powers


def means(scope: Scope, goal: Goal) -> Tree | None:
    """Return a proof of a goal by arithmetic-geometric means of its terms; None if none was found."""
    posed = _Posed.of(scope, goal)
    if posed is None or len(posed.terms) > MEANS.terms:
        return None
    scope.work.spend(MEANS.work * sum(c < 0 for c in posed.terms.values()))
    found = covered(posed.terms, posed.to.signs, strict=goal.strict)
    if found is None:
        return None
    known, columns = list[Mean](), list[tuple[Fraction, Column]]()
    for share, column in found:
        if isinstance(column.says, Mean):
            fact = Fact(sp.Integer(0), sp.Integer(1), "Ge", scope.count + len(known), None)
            known.append(column.says)
            columns.append((share, Column({}, False, False, (sp.Integer(1), (fact,), None))))
        else:
            columns.append((share, posed.product(column.says)))
    tree = scope.tree(posed.below, columns)
    for mean in reversed(known):
        of = [
            posed.to.expression(posed.to.ring({k: sp.QQ(c.numerator, c.denominator)})) for k, c in (mean.v, *mean.parts)
        ]
        tree = {"rule": "known", "name": "mean", "of": [data_of(scope.atoms.back(e)) for e in of], "then": tree}
    return tree


def squares(scope: Scope, goal: Goal, *, multiplied: bool = False) -> Tree | None:
    """Return a proof of a goal as squares times facts, by a semidefinite program; None if none was found.

    If `multiplied`, the proof is of the goal times a sum of squares, or of coordinates.
    """
    posed = _Posed.of(scope, goal)
    if posed is None or (multiplied and (goal.strict or any(f.expression is None for f, _ in posed.to.beyond))):
        return None
    scope.work.spend(PROGRAM.program)
    scope.work.record.squares += 1
    zeros = _zeros(posed, posed.polynomial)
    if zeros is None:
        return None
    if multiplied:
        found = (_multiplied(posed, zeros, over) for over in _multipliers(posed))
        return next((tree for tree in found if tree is not None), None)
    columns = _columns(posed, posed.polynomial, zeros)
    return None if columns is None else scope.tree(posed.below, columns)


def _zeros(posed: _Posed, polynomial: Any) -> "Zeros | None":
    """Return zeros of a polynomial at which the facts hold.

    Return None if a negative value is found. No negative value is searched for if some facts are inequalities that say
    more than signs of coordinates, and there are no equations.
    """
    terms = _terms(polynomial)
    if not posed.to.beyond:
        return zeros_of(terms, posed.real)
    if posed.to.equations:
        equations, weights = ([_terms(p) for _, p in some] for some in (posed.to.equations, posed.to.rest))
        return zeros_on(terms, equations, weights, posed.real)
    points = (z for z in _grid(len(posed.real)) if _is_zero(z, polynomial, posed))
    return Zeros(list(points))


def _is_zero(point: Sequence[Fraction], polynomial: Any, posed: _Posed) -> bool:
    if any(x < 0 and not real for x, real in zip(point, posed.real, strict=True)):
        return False
    values = [sp.QQ(x.numerator, x.denominator) for x in point]
    return not polynomial(*values) and all(weight(*values) >= 0 for _, weight in posed.to.rest)


def _columns(posed: _Posed, polynomial: Any, zeros: Zeros) -> list[tuple[Fraction, Column]] | None:
    """Return squares and products of coordinates and facts that add up to a polynomial in coordinates."""
    ring, real = posed.to.ring, posed.real
    single = [
        (g, posed.to.says(tuple(int(g == h) for h in ring.gens)))
        for g, each in zip(ring.gens, real, strict=True)
        if not each
    ]
    single += [(weight, (sp.Integer(1), (fact,))) for fact, weight in posed.to.rest]
    weights = [(ring.one, (sp.Integer(1), ())), *single]
    if len(single) <= PROGRAM.paired:
        weights += [(a * b, (m * n, (*f, *g))) for (a, (m, f)), (b, (n, g)) in combinations(single, 2)]
    degree = max(map(sum, (*polynomial, *(k for _, p in posed.to.equations for k in p))))
    weights = [w for w in weights if max(map(sum, w[0])) <= degree]
    multiples = list(_multiples(posed, degree))
    even = [
        each and all(k[i] % 2 == 0 for p in (polynomial, *(w for _, w in posed.to.beyond)) for k in p)
        for i, each in enumerate(real)
    ]
    terms, *others = map(_terms, (polynomial, *(w for w, _ in (*weights, *multiples))))
    found = squares_with(terms, others[: len(weights)], zeros, real, even, others[len(weights) :])
    if found is None:
        return None
    left, columns = polynomial, list[tuple[Fraction, Column]]()
    for square in found:
        weight, (factor, facts) = (*weights, *multiples)[square.place]
        root = ring({k: sp.QQ(c.numerator, c.denominator) for k, c in square.root.items()})
        left -= weight * root * root * sp.QQ(square.factor.numerator, square.factor.denominator)
        shown = None if root == ring.one else posed.to.expression(root)
        columns.append((square.factor, Column({}, False, False, (factor, facts, shown))))
    positive = [sign == "positive" for sign in posed.to.signs]
    strict = any(all(not k or each for k, each in zip(powers, positive, strict=True)) for powers in left)
    columns += [(rational(c), posed.product(powers)) for powers, c in left.terms()]
    return columns if strict or not posed.goal.strict else None


def _multiples(posed: _Posed, degree: int) -> Iterator[tuple[Any, tuple[sp.Expr, tuple[Fact, ...]]]]:
    """Yield the products of equations and monomials, up to a degree."""
    places = range(len(posed.real))
    for fact, polynomial in posed.to.equations:
        for more in range(degree - max(map(sum, polynomial)) + 1):
            for inside in combinations_with_replacement(places, more):
                monomial = posed.to.ring({tuple(map(inside.count, places)): sp.QQ(1)})
                yield polynomial * monomial, (posed.to.expression(monomial), (fact,))


def _multipliers(posed: _Posed) -> Iterator[tuple[int, ...]]:
    """Yield the places of the first two, then of all, real coordinates that occur only in even powers.

    Then yield the places of the first two, and of all, coordinates that are ≥ 0.
    """
    even = [i for i, real in enumerate(posed.real) if real and all(k[i] % 2 == 0 for k in posed.polynomial)]
    signed = [i for i, real in enumerate(posed.real) if not real]
    for places in (even, signed):
        if len(places) > 1:
            yield from dict.fromkeys((tuple(places[:2]), tuple(places)))


def _multiplied(posed: _Posed, zeros: Zeros, over: Sequence[int]) -> Tree | None:
    """Return a proof that multiplies the goal by the sum of some coordinates, or of their squares if they are real.

    The case in which the first of these coordinates is 0 is shown separately.
    """
    ring, scope = posed.to.ring, posed.scope
    parts = [ring.gens[i] ** (2 if posed.real[i] else 1) for i in over]
    multiplied = posed.polynomial * sum(parts, ring.zero)
    columns = _columns(posed, multiplied, replace(zeros, degree=zeros.degree + max(map(sum, parts[0]))))
    if columns is None:
        return None
    (first, at_first) = over[0], posed.polynomial
    without = ring({k: c for k, c in at_first.terms() if not k[first]})
    rest = (at_first - without).quo(parts[0])
    zeros_at = _zeros(posed, without) if without else None
    at = _columns(posed, without, zeros_at) if zeros_at is not None else None if without else []
    if at is None:
        return None
    facts = [Fact(posed.to.expression(parts[0]), sp.Integer(1), "Eq", scope.count, None)]
    at.append((Fraction(1), Column({}, False, False, (posed.to.expression(rest), tuple(facts), None))))
    one, made = ["Integer", "1"], [_part(posed, i) for i in over]
    total = scope.atoms.back(posed.to.expression(sum(parts, ring.zero)))
    lemma = {"rule": "sum", "times": one, "terms": [[one, [scope.count], None], *made[1:]]}
    above = scope.tree(sp.expand(posed.below * posed.to.expression(sum(parts, ring.zero))), columns)
    relation = data_of(sp.Gt(total, 0, evaluate=False))
    absurd = {"rule": "sum", "times": one, "terms": [[one, [scope.count], None], made[0]]}
    return {
        "rule": "cases",
        "of": data_of(scope.atoms.back(posed.to.expression(parts[0]))),
        "above": {"rule": "lemma", "relation": relation, "proof": lemma, "then": above},
        "at": scope.tree(posed.below, at),
        "below": {"rule": "contradiction", "then": absurd},
    }


def _part(posed: _Posed, place: int) -> list[Any]:
    """Return a coordinate, or the square of a real one, as a term of a sum."""
    back = posed.scope.atoms.back
    if posed.real[place]:
        return [["Integer", "1"], [], data_of(back(posed.to.parts[place].form))]
    factor, facts = posed.to.says(tuple(int(i == place) for i in range(len(posed.real))))
    for fact in facts:
        factor *= fact.below
    return [data_of(back(factor)), [fact.place for fact in facts], None]


def _grid(count: int) -> Iterator[tuple[Fraction, ...]]:
    """Yield points at which inequalities are often tight."""
    values = [Fraction(0), Fraction(1), Fraction(-1)]
    if count <= PROGRAM.fine:
        values += [Fraction(1, 2), Fraction(1, 3), Fraction(2), Fraction(3)]
    yield from product(values, repeat=count)
