# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Inductions over an integer that is an exponent or a count, between two ends or from the integer's least value."""

from abc import ABC
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import sympy as sp

from verify.language.heads.scopes import SERIES, Iterate, outermost
from verify.provers.deduction.account.record import told
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.counting.invariants import Invariants
from verify.provers.deduction.counting.telescoping import Telescoping
from verify.provers.deduction.facts import Goal, Relation, Tree, data_of, stated
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.values import bound_of

Step: TypeAlias = Callable[[Scope, Goal, Goal, sp.Symbol], Tree | None]
"""A prover of the step of an induction over n, given the scope, the goal at n, the goal at n + 1, and n."""


class Inductions(Invariants, Telescoping, ABC):
    """Proofs by induction."""

    @told("induction")
    def _by_induction(self, scope: Scope, goal: Goal, depth: int, *, alone: bool = False) -> Tree | None:
        """Return a proof by induction over an exponent or a count; if `alone`, without invariants."""
        powers = {s for p in goal.expression.atoms(sp.Pow, sp.exp) for s in p.exp.free_symbols}
        counted = goal.expression.atoms(*SERIES, Iterate, sp.factorial, sp.binomial)
        exponents = {s for part in counted for s in _ends(part).free_symbols} | powers
        integers = (n for n in sorted(exponents, key=lambda s: s.name) if n.is_integer)
        bounded = [n for n in integers if bound_of(self.parameters.get(n.name), zero=True) is not None]
        tries = [(n, ends) for n in bounded for ends in self._ranges(scope, n)]
        # With several integers, the quick proof by the ratio of factorials is tried for all integers first.
        factorials = goal.expression.has(sp.factorial, sp.binomial)
        for by_ratio, (n, ends) in product((True, False) if factorials else (False,), tries):
            step = self._step_by_ratio if by_ratio else partial(self._step_of_induction, alone=alone)
            tree = self._induction(scope, goal, n, ends, depth, step)
            if tree is not None:
                return tree
        return None

    def _ranges(self, scope: Scope, n: sp.Symbol) -> Iterator[tuple[sp.Expr | None, sp.Expr | None]]:
        """Yield starts and ends of inductions: bounds from facts, if any, then (None, None); see `_induction`."""
        ends: dict[int, sp.Expr] = {}
        bounds = [f.expression for f in scope.facts if f.expression is not None and f.relation != "Eq"]
        for bound, side in product(bounds, (1, -1)):
            end = sp.expand(n - side * bound)
            if end.free_symbols and n not in end.free_symbols and self.atoms.whole(end) is not None:
                ends.setdefault(side, end)
        if ends:
            yield ends.get(1), ends.get(-1)
        yield None, None

    def _induction(
        self,
        scope: Scope,
        goal: Goal,
        n: sp.Symbol,
        ends: tuple[sp.Expr | None, sp.Expr | None],
        depth: int,
        proved: Step,
    ) -> Tree | None:
        """Return a proof by induction over n, from the start (None: n's least value) to the end (None: no end)."""
        least, end = sp.Integer(self._least(n)) if ends[0] is None else ends[0], ends[1]
        others = scope.without(n)
        at_first = self._unfolded(goal.expression.subs(n, least))
        first = at_first is not None and self.prove(others, replace(goal, expression=at_first), depth)
        inner = first and others.with_fact(n - least, "Ge")
        for expression, relation in () if end is None else ((end - n - 1, "Ge"), (end - n, "Gt")):
            inner = inner and inner.with_fact(expression, relation)
        try:
            self.atoms.prepare(goal.expression, goal.expression.subs(n, n + 1))
        except NoAtomError:
            return None
        inner = inner and self._with_fact(inner, goal.expression, goal.relation)
        after = replace(goal, expression=self._unfolded(goal.expression.subs(n, n + 1)))
        step = inner and proved(inner, goal, after, n)
        if not step:
            return None
        if ends == (None, None):
            return {"rule": "induction", "in": n.name, "first": first, "step": step}
        told = (None if each is None else data_of(each) for each in ends)
        return {
            "rule": "range",
            "in": n.name,
            **dict(zip(("from", "to"), told, strict=True)),
            "first": first,
            "step": step,
        }

    def _step_by_ratio(self, scope: Scope, before: Goal, after: Goal, n: sp.Symbol) -> Tree | None:
        """Return a proof of an induction's step by telescoping, or by the ratio of a fact's successive values."""
        return self._by_telescoping(scope, before, n) or self.by_ratio(scope, after)

    def _step_of_induction(self, scope: Scope, before: Goal, after: Goal, n: sp.Symbol, *, alone: bool) -> Tree | None:
        """Return a proof of an induction's step; if `alone`, without invariants."""
        return (
            self._by_telescoping(scope, before, n)
            or self.by_growth(scope, after, before.expression, levels=[0])
            or self.prove(scope, after, 0)
            or self.by_growth(scope, after, before.expression, levels=[1])
            or (None if alone else self._with_invariants(scope, after, n))
        )

    def _unfolded(self, expression: sp.Expr) -> sp.Expr | None:
        """Return an expression with its states after L + c steps in terms of the states after L steps, or None."""
        for state in sorted(expression.atoms(Iterate), key=sp.default_sort_key):
            place, count, bound, start, step = state.args
            try:
                base, more = self.atoms.apart(count)
            except NoAtomError:
                return None
            if base != 0 and more == 0:
                continue
            value: Any = start[int(place)]  # pyright: ignore[reportIndexIssue]
            if more:
                states = [Iterate(sp.Integer(i), count - 1, bound, start, step) for i in range(len(start))]
                value = step[int(place)].xreplace(dict(zip(bound, [count - 1, *states], strict=True)))  # pyright: ignore[reportIndexIssue]
            return self._unfolded(expression.xreplace({state: value}))
        return expression

    def _with_invariants(self, scope: Scope, goal: Goal, n: sp.Symbol) -> Tree | None:
        """Return a proof with invariants of a recursion: the sign of each state, and known facts of its start."""
        states = sorted((s for s in goal.expression.atoms(Iterate)), key=sp.default_sort_key)
        lemmas: list[tuple[Any, Relation]] = []
        for state in states:
            place, _, bound, start, step = state.args
            here = Iterate(place, n, bound, start, step)
            first: Any = start[int(place)]  # pyright: ignore[reportIndexIssue]
            known = [(f.expression, f.relation) for f in scope.facts if f.expression is not None and first.is_Symbol]
            known = [(e, relation) for e, relation in known if first in e.free_symbols and not e.has(Iterate)]
            lemmas.extend((e.xreplace({first: here}), relation) for e, relation in known)
            lemmas.append((here, "Ge"))
            lemmas.append((first - here, "Ge"))
        inner, found = scope, list[tuple[sp.Expr, Relation, Tree]]()
        for expression, relation in dict.fromkeys(lemmas):
            lemma = None if relation == "Eq" else self._by_induction(inner, Goal(expression, relation), 0, alone=True)
            after = lemma and self._with_fact(inner, expression, relation)
            if lemma and after:
                inner, found = after, [*found, (expression, relation, lemma)]
        tree = self.prove(inner, goal, 0) if found else None
        for expression, relation, lemma in reversed(found) if tree else ():
            tree = {"rule": "lemma", "relation": stated(Goal(expression, relation)), "proof": lemma, "then": tree}
        return tree


def _ends(part: sp.Expr) -> sp.Expr:
    """Return the last index of a sum or a product, the number of steps of a recursion, or n of n! or binomial(n, k)."""
    if isinstance(part, SERIES):
        return outermost(part)[1][2]
    return part.args[1] if isinstance(part, Iterate) else part.args[0]
