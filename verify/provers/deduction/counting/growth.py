# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs by instances of known facts about powers, exponentials and logarithms."""

from abc import ABC
from collections.abc import Iterator, Sequence
from itertools import chain, permutations
from typing import TypeAlias

import sympy as sp

from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.facts import Goal, Tree, data_of, places_in, stated
from verify.provers.deduction.limits import SEARCH
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.segments import Segments

Instance: TypeAlias = tuple[str, tuple[sp.Expr, ...]]


class Growth(Segments, ABC):
    """Proofs by sums with instances of known facts about growth."""

    def by_growth(self, scope: Scope, goal: Goal, *before: sp.Expr, levels: Sequence[int] = (0, 1)) -> Tree | None:
        """Return a proof by facts about the functions in a goal and in an induction hypothesis, `before`."""
        try:
            parts = None if goal.relation == "Eq" else scope.fraction(goal.expression)
            groups = [list(group) for group in self._groups(scope, goal.expression, before)] if parts else []
        except NoAtomError:
            return None
        for level in levels:
            for group in groups:
                tree = group and self._by_numerator(scope, goal, parts or (), list(dict.fromkeys(group)), level)
                if tree:
                    return tree
        return None

    def _scaled(self, scope: Scope, group: Sequence[Instance]) -> list[sp.Expr]:
        """Return the factors tried on the goal in turn: 1, and each exponential in a denominator of an instance."""
        facts = [self._instance(scope, name, list(of)) for name, of in group]
        inside = set().union(*(fact.facts[-1].below.free_symbols for fact in facts if fact))
        scales = [symbol for symbol in sorted(inside, key=str) if self.atoms.keys.get(symbol, ("",))[0] == "exp"]
        return [sp.Integer(1), *scales]

    def _by_numerator(
        self, scope: Scope, goal: Goal, parts: Sequence[sp.Expr], group: Sequence[Instance], level: int
    ) -> Tree | None:
        """Return a proof by some instances, without those factors of the numerator that are seen to be positive."""
        _, factors = sp.factor_list(parts[0])  # pyright: ignore[reportAssignmentType]
        positive = sp.Mul(*(f**power for f, power in factors if scope.shown(f, strict=True)))
        for scale in self._scaled(scope, group) if level else (sp.Integer(1),):
            if positive == scale == 1:
                tree = self._by_instances(scope, goal, group, level)
                if tree:
                    return tree
                continue
            rest = Goal(self.atoms.back(sp.expand(sp.cancel(parts[0] / positive) * scale)), goal.relation)
            tree = self._by_instances(scope, rest, group, level)
            if tree:
                times, factor = (data_of(self.atoms.back(each)) for each in (parts[1] * scale, positive))
                then = {"rule": "sum", "times": times, "terms": [[factor, [scope.count], None]]}
                return {"rule": "lemma", "relation": stated(rest), "proof": tree, "then": then}
        return None

    def _by_instances(self, scope: Scope, goal: Goal, group: Sequence[Instance], level: int) -> Tree | None:
        """Return a proof by a sum with instances of a group; the proof states only the instances that it uses."""
        inner, used = scope, dict[int, Instance]()
        for name, of in group:
            new = self._instance(inner, name, list(of))
            if new is not None:
                used[inner.count], inner = (name, of), new
        # Facts in one symbol are short; the last fact of the scope is the induction hypothesis.
        few = {fact.place for fact in scope.facts if len(fact.above.free_symbols) == 1 or fact is scope.facts[-1]}
        tree = inner.sum(goal, level, {*used, *few}) if used else None
        tree = inner.sum(goal, level) if used and tree is None else tree
        if tree is None and used and level and len(inner.facts) <= SEARCH.wider:
            tree = inner.sum(goal, level + 1)
        if tree is None:
            return None
        needed = [used[place] for place in sorted(places_in(tree)) if place in used]
        if len(needed) < len(used) and (shorter := self._by_instances(scope, goal, needed, level)) is not None:
            return shorter
        for name, of in reversed(used.values()):
            tree = {"rule": "known", "name": name, "of": [data_of(e) for e in of], "then": tree}
        return tree

    def _groups(self, scope: Scope, after: sp.Expr, before: Sequence[sp.Expr]) -> Iterator[Iterator[Instance]]:
        """Yield groups of instances, each of which may be enough for a proof."""
        together = sp.Tuple(after, *before)
        integers = list(_of_integers(together))
        yield iter(integers)
        has_exp = together.has(sp.exp, sp.E)
        for exponent, found in self._powers(scope, after, *before).items():
            bases = [base for base in found if not base.is_Rational]
            for u, v in permutations(bases[: SEARCH.pairs], 2):
                yield self._of_bases(scope, u, v, exponent, has_exp=has_exp)
            for base in bases[: SEARCH.pairs]:
                yield chain(integers, self._of_base(scope, base, exponent, has_exp=has_exp))
        yield chain(*(self._of_tangents(after, before, *kind) for kind in ((sp.exp, "exp_from"), (sp.log, "log_from"))))

    @staticmethod
    def _of_tangents(after: sp.Expr, before: Sequence[sp.Expr], kind: type[sp.Expr], name: str) -> Iterator[Instance]:
        """Yield tangents between arguments in the goal and the hypothesis, or within the goal if only it has some."""
        later, earlier = (_arguments(e, kind)[: SEARCH.pairs] for e in (after, sp.Tuple(*before)))
        for u in later:
            for v in earlier or later:
                if u != v:
                    yield name, (u, v)
                    yield name, (v, u)

    def _of_base(self, scope: Scope, base: sp.Expr, n: sp.Expr, *, has_exp: bool) -> Iterator[Instance]:
        """Yield facts about powers of a base ≤ 1."""
        if self._is_seen(scope, 1 - base, "nonnegative") and has_exp:
            yield "exp", (base - 1,)
            yield "rises", (sp.exp(base - 1), base, n)
            yield "exp", (n * (1 - base) - 1,)
        elif self._is_seen(scope, 1 - base, "nonnegative"):
            yield "rises", (sp.Integer(1), base, n)
            yield "rises", (sp.Integer(1), base, n - 1)

    def _of_bases(self, scope: Scope, u: sp.Expr, v: sp.Expr, n: sp.Expr, *, has_exp: bool) -> Iterator[Instance]:
        """Yield facts about two bases with the exponent n, and with n + 1."""
        positive = all(self._is_seen(scope, base, "positive") for base in (u, v))
        if positive and has_exp and self._is_seen(scope, u - v, "nonnegative"):
            less = sp.log(u) - sp.log(v)
            yield "log_from", (u, v)
            yield "log_from", (v, u)
            yield "exp", (sp.expand(1 - n * less),)
            yield "exp", (sp.expand((n + 1) * less - 1),)
        elif positive and not has_exp:
            yield "tangent", (sp.Integer(1), u / v, n)
            yield "tangent", (sp.Integer(1), u / v, n + 1)
        elif not has_exp:
            yield "tangent", (u, v, n)
            yield from self._of_base(scope, u, n, has_exp=False)


def _of_integers(expressions: sp.Expr) -> Iterator[Instance]:
    """Yield facts about integer exponents n: n (n − 1) ≥ 0, and three terms of a binomial power."""
    powers = [p.exp for p in expressions.atoms(sp.Pow) if p.exp.is_Symbol and p.exp.is_integer]
    for n in sorted(set(powers), key=sp.default_sort_key):
        yield "integer", (n,)
    for power in sorted(expressions.atoms(sp.Pow), key=sp.default_sort_key):
        if power.exp in powers and power.base.is_Add:
            yield "three_terms", (power.base - 1, power.exp)


def _arguments(expression: sp.Expr, kind: type[sp.Expr]) -> list[sp.Expr]:
    return sorted({e.args[0] for e in expression.atoms(kind)}, key=sp.default_sort_key)
