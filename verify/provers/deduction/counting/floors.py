# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Goals about floors, proved by rounding bounds of integers to integers, and by cases of fractional parts.

Bounds of the integers in a goal are guessed from random points, and then proved.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

import sympy as sp

from verify.provers.deduction.facts import Goal, Relation, Tree, data_of, places_in
from verify.provers.deduction.instances import Instances
from verify.provers.deduction.scope import Scope

_MOST_FLOORS, _MOST_FORMS, _DEPTH = 6, 20, 3
_POINTS, _WIDEST, _ROUNDING = 120, 3, 1e-9
"""The number of points; the largest range of a form, or size of its bound, for a guess; the largest rounding error."""
_FRACTIONS = tuple(Fraction(k, d) for d in (1, 2, 3, 4, 5) for k in range(d))


@dataclass(frozen=True)
class _Form:
    """An integer form: a sum of floors and integers; `inside`, if given, is an expression whose floor is the form."""

    expression: sp.Expr
    inside: sp.Expr | None = None


class Floors(Instances):
    """Proofs about floors."""

    def _by_floors(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof of a goal about floors."""
        goal = replace(goal, expression=goal.expression.replace(sp.ceiling, lambda u: -sp.floor(-u)))
        floors = sorted(goal.expression.atoms(sp.floor), key=sp.default_sort_key)
        if not floors or len(floors) > _MOST_FLOORS:
            return None
        linear = {floor: _linear(floor.args[0]) for floor in floors}
        bases = _bases([shares for shares in linear.values() if shares is not None])
        new = [base for base in bases.values() if isinstance(base, sp.floor) and base not in linear]
        linear |= {base: _linear(base.args[0]) for base in new}
        floors += new
        forms: dict[sp.Expr, _Form] = {}
        for form in _forms(linear, bases):
            if form.expression.free_symbols and -form.expression not in forms:
                forms.setdefault(form.expression, form)
        return self._by_forms(scope, goal, floors, list(forms.values())[:_MOST_FORMS], _DEPTH)

    def _by_forms(
        self, scope: Scope, goal: Goal, floors: Sequence[sp.Expr], forms: Sequence[_Form], depth: int
    ) -> Tree | None:
        """Return a proof with bounds of some forms; if the bounds are not enough, by cases of a form's value."""
        points = self._points(scope, [*floors, *(f.expression for f in forms)])
        ranges = [_range(form.expression, points) for form in forms]
        tree = self._rounded(scope, goal, floors, forms, ranges)
        if tree is not None or not depth:
            return tree
        for form, ends in zip(forms, ranges, strict=True):
            if form.inside is None or ends is None or not 0 < ends[1] - ends[0] <= _WIDEST:
                continue
            of = sp.expand(form.inside - ends[0] - 1)
            trees: list[Tree] = []
            for turned, relation in ((of, "Ge"), (-of, "Gt")):
                inner = self._case(scope, turned, relation)
                part = inner and self._by_forms(inner, goal, floors, forms, depth - 1)
                if not part:
                    return None
                trees.append(part)
            return {"rule": "cases", "of": data_of(of), "above": trees[0], "at": None, "below": trees[1]}
        return None

    def _rounded(
        self,
        scope: Scope,
        goal: Goal,
        floors: Sequence[sp.Expr],
        forms: Sequence[_Form],
        ranges: Sequence[tuple[int, int] | None],
    ) -> Tree | None:
        """Return a proof by known facts of floors, and by bounds of forms, rounded to integers."""
        inner, wraps = scope, list[Tree]()
        for floor in floors:
            for name in ("floor_above", "floor_below"):
                after = self._instance(inner, name, [floor.args[0]])
                if after is not None:
                    inner = after
                    wraps.append({"rule": "known", "name": name, "of": [data_of(floor.args[0])]})
        beyond = [f for f in inner.facts if f.expression is None and not _is_linear(f.above)]
        few = replace(inner, facts=tuple(dict.fromkeys([*scope.facts, *beyond])))
        for form, ends in zip(forms, ranges, strict=True):
            for expression in _ends(form.expression, ends):
                lemma = self._whole(inner, inner, expression)
                after = lemma and inner.with_fact(expression, "Ge")
                if lemma and after:
                    inner, few = after, replace(after, facts=(*few.facts, after.facts[-1]))
                    wraps.append(
                        {"rule": "lemma", "relation": data_of(sp.Ge(expression, 0, evaluate=False)), "proof": lemma}
                    )
        tree = self._rounded_down(inner, few, goal)
        return tree and _wrapped(tree, wraps, scope.count)

    def _rounded_down(self, scope: Scope, few: Scope, goal: Goal) -> Tree | None:
        """Return a proof of a goal by a sum, rounded to an integer if needed; for an equation, by two inequalities."""
        if goal.relation == "Eq":
            above = self._rounded_down(scope, few, Goal(goal.expression, "Ge"))
            below = above and self._rounded_down(scope, few, Goal(-goal.expression, "Ge"))
            return below and {"rule": "both", "above": above, "below": below}
        tree = scope.sum(goal, 0) or few.sum(goal, 1)
        return tree or (None if goal.strict else self._whole(scope, few, goal.expression))

    def _whole(self, scope: Scope, few: Scope, expression: sp.Expr) -> Tree | None:
        """Return a proof that an integer is at least 0; only the facts in `few` are multiplied with each other."""
        if not _is_integer(expression):
            return None
        above = Goal(expression + 1, "Gt")
        tree = scope.sum(above, 0) or (few.sum(above, 1) if few is not scope else None)
        return tree and {"rule": "whole", "then": tree}

    def _holds_at_points(self, scope: Scope, goal: Goal) -> bool:
        """Whether a goal holds at all random points; their coordinates are short fractions."""
        values = [float(point[goal.expression]) for point in self._points(scope, [goal.expression])]
        return all(v > -_ROUNDING and (goal.relation != "Eq" or v < _ROUNDING) for v in values)

    def _points(self, scope: Scope, expressions: Sequence[sp.Expr]) -> list[Mapping[sp.Expr, Any]]:
        """Return the values of some expressions at points at which the facts hold."""
        facts = [(f.expression, f.relation) for f in scope.facts if f.expression is not None]
        everything = [*expressions, *(e for e, _ in facts)]
        symbols = sorted({s for e in everything for s in e.free_symbols}, key=lambda s: s.name)
        try:
            exact = {r: sp.Dummy() for e in everything for r in e.atoms(sp.Rational) if not r.is_Integer}
            parts = [[e.xreplace(exact) for e in part] for part in (expressions, [e for e, _ in facts])]
            values = sp.lambdify([*symbols, *exact.values()], parts, "math")
        except (KeyError, SyntaxError, TypeError, NotImplementedError):
            return []
        found: list[Mapping[sp.Expr, Any]] = []
        for _ in range(10 * _POINTS):
            point = [self._whole_or_not(s) for s in symbols] + [Fraction(int(r.p), int(r.q)) for r in exact]
            try:
                here, known = values(*point)
            except (ValueError, ZeroDivisionError, OverflowError, TypeError, NameError):
                continue
            if all(_holds(v, relation) for v, (_, relation) in zip(known, facts, strict=True)):
                found.append(dict(zip(expressions, here, strict=True)))
                if len(found) == _POINTS:
                    break
        return found

    def _whole_or_not(self, symbol: sp.Symbol) -> Fraction:
        whole = Fraction(round(10 ** self.random.uniform(0, 1.3)) - 1)
        if symbol.is_integer:
            return whole + self._least(symbol)
        sign = 1 if symbol.is_nonnegative else self.random.choice((-1, 1))
        return sign * (whole + self.random.choice(_FRACTIONS))


def _wrapped(tree: Tree, wraps: Sequence[Tree], count: int) -> Tree:
    """Return a proof preceded by those wraps (facts and lemmas) that it uses; the first wrap's place is `count`."""
    needed = places_in(tree)
    if _has_factors(tree):
        # A lemma that a floor is at least 0 may show the sign of a factor.
        needed |= {count + i for i, wrap in enumerate(wraps) if _headed(wrap, "floor")}
    for i in reversed(range(len(wraps))):
        if count + i in needed:
            needed |= {place for place in places_in(wraps[i]) if place < count + i}
    kept = [i for i in range(len(wraps)) if count + i in needed]
    new = {count + i: count + k for k, i in enumerate(kept)}
    tree = _numbered(tree, new, count + len(wraps), len(kept) - len(wraps))
    for k, i in reversed(list(enumerate(kept))):
        tree = {**_numbered(wraps[i], new, count + i, k - i), "then": tree}
    return tree


def _headed(wrap: Tree, head: str) -> bool:
    """Whether a wrap is a lemma that an expression with this head is at least 0."""
    return wrap["rule"] == "lemma" and wrap["relation"][1][0] == head


def _has_factors(tree: Tree) -> bool:
    """Whether a proof multiplies by a factor that is no number."""
    shares = [tree["times"], *(share for share, _, _ in tree["terms"])] if "terms" in tree else []
    inside = (_has_factors(part) for part in tree.values() if isinstance(part, dict))
    return any(share[0] not in ("Integer", "Rational") for share in shares) or any(inside)


def _numbered(tree: Tree, new: Mapping[int, int], count: int, shift: int) -> Tree:
    """Return a proof with new places of facts: as in `new` below `count`, shifted by `shift` from `count` on."""
    inner = {key: _numbered(part, new, count, shift) if isinstance(part, dict) else part for key, part in tree.items()}
    if "terms" in tree:
        places = [[new.get(p, p) if p < count else p + shift for p in used] for _, used, _ in tree["terms"]]
        inner["terms"] = [[share, used, root] for (share, _, root), used in zip(tree["terms"], places, strict=True)]
    return inner


def _holds(value: Any, relation: Relation) -> bool:
    return value > 0 if relation == "Gt" else value >= 0 if relation == "Ge" else value == 0


def _range(expression: sp.Expr, points: Sequence[Mapping[sp.Expr, Any]]) -> tuple[int, int] | None:
    """Return the least and the greatest value at some points."""
    values = [int(point[expression]) for point in points]
    return (min(values), max(values)) if values else None


def _ends(expression: sp.Expr, ends: tuple[int, int] | None) -> Iterator[sp.Expr]:
    """Yield expressions that seem ≥ 0: expression − low if |low| is small, high − expression if high − low is small."""
    if ends is None:
        return
    low, high = ends
    if abs(low) <= _WIDEST:
        yield sp.expand(expression - low)
    if high - low <= _WIDEST:
        yield sp.expand(high - expression)


def _linear(expression: sp.Expr) -> Mapping[sp.Expr, Fraction] | None:
    """Return the coefficients of symbols, floors and 1 in an expression; None if the expression is not linear."""
    shares: dict[sp.Expr, Fraction] = {}
    for term in sp.Add.make_args(sp.expand(expression)):
        share, part = term.as_coeff_Mul()
        if not share.is_Rational or not (part == 1 or part.is_Symbol or isinstance(part, sp.floor)):
            return None
        shares[part] = Fraction(int(share.p), int(share.q))
    return shares


def _bases(linear: Sequence[Mapping[sp.Expr, Fraction]]) -> dict[sp.Expr, sp.Expr]:
    """Return ⌊y/d⌋ for each part y, for the common denominator d of its coefficients; y for an integer y with d = 1."""
    below: dict[sp.Expr, int] = {}
    for shares in linear:
        for part, share in shares.items():
            below[part] = lcm(below.get(part, 1), share.denominator)
    parts = sorted((part for part in below if part != 1), key=sp.default_sort_key)
    return {part: part if part.is_integer and below[part] == 1 else sp.floor(part / below[part]) for part in parts}


def _forms(
    linear: Mapping[sp.Expr, Mapping[sp.Expr, Fraction] | None], bases: Mapping[sp.Expr, sp.Expr]
) -> Iterator[_Form]:
    """Yield integers whose bounds may help: floors minus linear parts, remainders, floors, differences of floors."""
    for floor, shares in linear.items():
        if shares is not None:
            parts = [part for part in shares if part != 1]
            # A term c y = c d (y/d), for an integer c d, is replaced by c d ⌊y/d⌋.
            times = {part: 1 if bases[part] is part else int(1 / _share(bases[part], part)) for part in parts}
            whole = sp.Add(*(int(shares[part] * times[part]) * bases[part] for part in parts))
            yield _Form(sp.expand(floor - whole), sp.expand(floor.args[0] - whole))
    for part, base in bases.items():
        if part.is_integer and base is not part:
            rest = part - int(1 / _share(base, part)) * base
            yield _Form(rest, rest)
    yield from (_Form(floor) for floor in linear)
    beyond = [floor for floor, shares in linear.items() if shares is None]
    yield from (_Form(one - other) for one, other in combinations(beyond, 2))


def _share(base: sp.Expr, part: sp.Expr) -> Fraction:
    """Return 1/d for the base ⌊y/d⌋ of a part y."""
    share = base.args[0].coeff(part)
    return Fraction(int(share.p), int(share.q))


def _is_linear(polynomial: sp.Expr) -> bool:
    return sp.Poly(polynomial, *sorted(polynomial.free_symbols, key=str)).total_degree() <= 1


def _is_integer(expression: sp.Expr) -> bool:
    """Whether an expression is a polynomial with whole coefficients in integers."""
    parts = expression.atoms(sp.floor) | expression.free_symbols
    atoms = {part: sp.Dummy(integer=True) for part in parts if part.is_integer}
    inside = expression.xreplace(atoms)
    if not inside.free_symbols <= set(atoms.values()) or not inside.is_polynomial():
        return False
    return all(c.is_Integer for c in sp.Poly(inside, *inside.free_symbols).coeffs()) if inside.free_symbols else True
