# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""The search for a deduction: sums, means and squares first, then facts about functions, inductions, slopes and cases.

The search ends when a proof is found or nothing is left to try. It raises SpentError when its work is spent, and
OutOfTimeError when the time is over.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from verify.errors import UndecidedError, UndefinedError
from verify.evaluation.values import evaluate_rising
from verify.language.heads.scopes import BINDERS, SERIES, Iterate
from verify.outcomes import Enclosure
from verify.provers.deduction.account.record import told
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.branches.choices import Choices
from verify.provers.deduction.branches.radicals import lemma_of
from verify.provers.deduction.counting.floors import Floors
from verify.provers.deduction.counting.inductions import Inductions
from verify.provers.deduction.facts import Goal, Relation, Tree, data_of, places_in, stated
from verify.provers.deduction.functions.boxes import Boxes
from verify.provers.deduction.functions.tangents import Tangents
from verify.provers.deduction.functions.transforms import Transforms
from verify.provers.deduction.identities.angles import Angles
from verify.provers.deduction.identities.roots import Roots
from verify.provers.deduction.limits import PROGRAM, SEARCH
from verify.provers.deduction.polynomials.squares import means, squares
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.segments import Then, functions_in
from verify.provers.deduction.values import bound_of


class Search(Choices, Inductions, Angles, Floors, Roots, Tangents, Transforms, Boxes):
    """One search, with its work."""

    def is_seen(self, scope: Scope, of: sp.Expr, need: str) -> bool:
        """Whether the re-check sees by itself that an expression is `positive`, or `nonnegative`."""
        return self._is_seen(scope, of, need)

    def replaced(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof that replaces symbols by their values according to equations among the facts."""
        for fact in scope.facts:
            if fact.relation != "Eq" or fact.expression is None:
                continue
            for symbol in sorted(fact.expression.free_symbols, key=lambda s: s.name):
                slope = sp.diff(fact.expression, symbol)
                if slope not in (1, -1):
                    continue
                value = sp.expand(symbol - slope * fact.expression)
                after = replace(goal, expression=goal.expression.subs(symbol, value))
                inner = self._substituted(scope, symbol, value)
                tree = self.replaced(inner, after)
                names = {"in": data_of(symbol), "by": data_of(value), "fact": fact.place}
                return tree and {"rule": "replace", **names, "then": tree}
        return self.prove(scope, goal, SEARCH.depth)

    def _substituted(self, scope: Scope, symbol: sp.Symbol, value: sp.Expr) -> Scope:
        inner = replace(scope, facts=(), count=0)
        for fact in scope.facts:
            while inner.count < fact.place:
                inner = inner.skipped()
            expression = fact.expression.subs(symbol, value)  # pyright: ignore[reportOptionalMemberAccess]
            inner = (None if expression == 0 else self._with_fact(inner, expression, fact.relation)) or inner.skipped()
        while inner.count < scope.count:
            inner = inner.skipped()
        return inner

    def with_more(self, scope: Scope, goal: Goal) -> Scope | None:
        """Return the scope with one more fact; None if the fact is not seen to have a value."""
        return self._with_fact(scope, goal.expression, goal.relation)

    @told("")
    def prove(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal, None if none was found."""
        self.work.spend(20)
        if depth and (split := self.split(scope)) is not None:
            return self._after(*split, goal, depth)
        expression, of, thrice = self._resolved(scope, goal.expression)
        if of is not None:
            # An induction comes first: the choice is then decided in the parts of the induction, not in the whole goal.
            if (
                depth
                and goal.expression.has(*BINDERS)
                and (tree := self._by_induction(scope, goal, depth - 1)) is not None
            ):
                return tree
            resolved = replace(goal, expression=expression)
            return self.with_values(scope, of, depth, lambda inner: self._in_cases(inner, resolved, of, thrice, depth))
        if (decided := self.deciding(scope)) is not None:
            return self._in_cases(scope, goal, *decided, depth)
        if expression != goal.expression:
            return self._restated(scope, goal, expression, depth)
        if not goal.expression.free_symbols:
            return self._by_value(scope, goal)
        try:
            self.atoms.prepare(goal.expression)
        except NoAtomError:
            return None
        if not self._is_plausible(scope, goal):
            return None
        if not all(self.is_total(scope, state) for state in goal.expression.atoms(Iterate)):
            return self.by_invariants(scope, goal)
        return self.with_values(scope, goal.expression, depth, lambda inner: self._attempts(inner, goal, depth))

    def _after(self, scope: Scope, lemmas: Sequence[tuple[Goal, Tree]], goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal with some lemmas among the facts."""
        tree = self.prove(scope, goal, depth)
        for lemma, proof in reversed(lemmas) if tree else ():
            tree = lemma_of(lemma.expression, lemma.relation, proof, tree)
        return tree

    def _restated(self, scope: Scope, goal: Goal, expression: sp.Expr, depth: int) -> Tree | None:
        """Return a proof of a goal by a proof of `expression`, which is the goal with its choices made.

        If the proof of `expression` drops facts, the choices may be undecided at some of its places. This proof then
        becomes the proof of a lemma.
        """
        tree = self.prove(scope, replace(goal, expression=expression), depth)
        if tree is None or not _leaves_facts(tree):
            return tree
        then = {"rule": "sum", "times": ["Integer", "1"], "terms": [[["Integer", "1"], [scope.count], None]]}
        relation = stated(replace(goal, expression=expression))
        return {"rule": "lemma", "relation": relation, "proof": tree, "then": then}

    @told("cases")
    def _in_cases(self, scope: Scope, goal: Goal, of: sp.Expr, thrice: bool, depth: int) -> Tree | None:
        """Return a proof by the cases that an expression is ≥ 0 or < 0 or, if `thrice`, > 0, < 0 or 0."""
        self.work.spend(100)
        trees: list[Tree | None] = []
        cases: list[tuple[sp.Expr, Relation]] = [(of, "Gt" if thrice else "Ge"), (-of, "Gt")]
        for turned, relation in [*cases, *([(of, "Eq")] if thrice else [])]:
            inner = self._case(scope, turned, relation)
            tree = inner and (self._absurd(inner) or self.prove(inner, goal, depth))
            if not tree:
                return None
            trees.append(tree)
        above, below, *at = trees
        return {"rule": "cases", "of": data_of(of), "above": above, "at": at[0] if at else None, "below": below}

    def with_values(self, scope: Scope, expression: sp.Expr, depth: int, then: Then) -> Tree | None:
        """Return the proof by `then`, after the lemmas that an expression needs to have a value; or None."""
        for of, need in self._needs(expression):
            if self._is_seen(scope, of, need):
                continue
            strict = need != "nonnegative"
            for turned in (of, -of) if need == "nonzero" else (of,):
                need_of = Goal(turned, "Gt" if strict else "Ge")
                lemma = self.short(scope, need_of) or (self.prove(scope, need_of, min(depth, 1)) if depth else None)
                inner = None if lemma is None else scope.with_fact(turned, "Gt" if strict else "Ge")
                if inner is not None and self._is_seen(inner, of, need):
                    rest = self.with_values(inner, expression, depth, then)
                    relation = (sp.Gt if strict else sp.Ge)(turned, 0, evaluate=False)
                    return rest and {"rule": "lemma", "relation": data_of(relation), "proof": lemma, "then": rest}
            self.work.record.needs(of, need)
            return None
        return then(scope)

    def _by_value(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof of a goal that is a number, by the number's value."""
        try:
            margin, bits = evaluate_rising(goal.expression, {}, sign=True)
        except (UndefinedError, UndecidedError):
            return None
        if isinstance(margin, Fraction) or margin == 0:
            return scope.sum(goal, 0)
        if isinstance(margin, Enclosure) and margin.lower is not None and margin.lower > 0 and goal.relation != "Eq":
            return {"rule": "number", "bits": max(64, 2 * (bits or 64))}
        try:
            self.atoms.prepare(goal.expression)
            return scope.sum(goal, 0)
        except NoAtomError:
            return None

    def _attempts(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        ways: list[Callable[[], Tree | None]] = [
            lambda: scope.sum(goal, 0),
            lambda: self._by_angles(scope, goal, depth),
            lambda: self._by_floors(scope, goal),
            lambda: means(scope, goal),
            lambda: self._by_means(scope, goal),
            lambda: self.by_tangents(scope, goal),
        ]
        counts = depth > 0 and goal.expression.has(*SERIES, sp.factorial, sp.binomial)
        roots = [p for p in goal.expression.atoms(sp.Pow) if p.exp.is_Rational and not p.exp.is_Integer]
        by_roots, many = [lambda: self.by_roots(scope, goal, depth)], len(roots) > PROGRAM.roots
        ways += by_roots if many else []
        if depth:
            ways += [lambda: self.by_invariants(scope, goal)]
            # A goal with a sum, a product or a factorial up to n is seldom shown without an induction.
            ways += [lambda: self._by_induction(scope, goal, depth - 1)] if counts else []
        linear: list[Callable[[], Tree | None]] = [
            lambda: scope.sum(goal, 1),
            lambda: self._by_arc(scope, goal),
            lambda: self._on_circles(scope, goal),
            lambda: self.by_growth(scope, goal, levels=[0]),
            lambda: self._with_instances(scope, goal),
            lambda: self._by_constants(scope, goal),
        ]
        ways += [lambda: self.work.a_part(lambda: self.of_two_powers(scope, goal, depth - 1))] if depth else []
        programs: list[Callable[[], Tree | None]] = [lambda: squares(scope, goal)]
        programs += [lambda: squares(scope, goal, multiplied=True)] if depth == SEARCH.depth else []
        ways += [*programs, *linear] if len(goal.expression.free_symbols) > PROGRAM.few else [*linear, *programs]
        ways += [] if many else by_roots
        ways += [lambda: self.by_boxes(scope, goal)] if depth == SEARCH.depth else []
        if depth:
            ways += [lambda: self._by_factors(scope, goal, depth - 1)]
            ways += [lambda: self.by_growth(scope, goal, levels=[1])]
            by_induction = [] if counts else [lambda: self._by_induction(scope, goal, depth - 1)]
            # Integers first count as real numbers, unless a power with a base other than e has a symbolic exponent.
            real = not any(p.exp.free_symbols and p.base is not sp.E for p in goal.expression.atoms(sp.Pow))
            ways += [] if real else by_induction
            ways += [
                lambda: self._transformed(scope, goal, depth - 1),
                lambda: self._by_chain(scope, goal),
                lambda: self._by_closed_form(scope, goal, depth - 1),
                lambda: self._by_slope(scope, goal, depth - 1),
                lambda: self._by_cases(scope, goal, depth - 1),
                lambda: self._by_squares(scope, goal, depth - 1),
                lambda: self._by_both(scope, goal, min(depth - 1, 1)),
            ]
            ways += by_induction if real else []
        ways.append(lambda: scope.sum(goal, 2))
        return next((tree for way in ways if (tree := way()) is not None), None)

    def _by_both(self, scope: Scope, goal: Goal, depth: int = 0) -> Tree | None:
        """Return a proof of an equation by two inequalities."""
        if goal.relation != "Eq":
            return None
        above = self.prove(scope, Goal(goal.expression, "Ge"), depth)
        below = above and self.prove(scope, Goal(-goal.expression, "Ge"), depth)
        return below and {"rule": "both", "above": above, "below": below}

    @told("factors")
    def _by_factors(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof by the signs of the factors of the goal's numerator that occur an odd number of times."""
        parts = scope.fraction(goal.expression)
        if parts is None or goal.relation == "Eq" or parts[0] == 0:
            return None
        number, factors = sp.factor_list(parts[0])  # pyright: ignore[reportAssignmentType]
        if sum(k for _, k in factors) < 2:
            return None
        inner, lemmas, root = scope, list[tuple[sp.Expr, Tree]](), sp.Integer(1)
        places: list[int] = []
        for factor, power in factors:
            root *= factor ** (power // 2)
            if power % 2:
                signs = [Goal(sp.expand(turn * self.atoms.back(factor)), goal.relation) for turn in (1, -1)]
                found = ((s, tree) for s in signs if (tree := self.prove(inner, s, depth)) is not None)
                sign, tree = next(found, (None, None))
                if sign is None or tree is None or (after := inner.with_fact(sign.expression, goal.relation)) is None:
                    return None
                number = number if sign is signs[0] else -number
                lemmas, places, inner = [*lemmas, (sign.expression, tree)], [*places, inner.count], after
        if number < 0 or (goal.strict and root != 1):
            return None
        rest = inner.product(number, places, root, parts[1])
        for expression, tree in reversed(lemmas):
            relation = (sp.Gt if goal.strict else sp.Ge)(expression, 0, evaluate=False)
            rest = {"rule": "lemma", "relation": data_of(relation), "proof": tree, "then": rest}
        return rest

    @told("known facts")
    def _with_instances(
        self,
        scope: Scope,
        goal: Goal,
        among: Sequence[tuple[str, list[sp.Expr]]] | None = None,
        *,
        levels: Sequence[int] = (0, 1),
    ) -> Tree | None:
        """Return a proof by a sum, direct or by contradiction, with known facts about the goal's functions.

        After a proof is found, the search is repeated with only the instances that the proof uses, as `among`.
        """
        inner, used = scope, dict[int, tuple[str, list[sp.Expr]]]()
        for name, of in self._instances(scope, goal.expression) if among is None else among:
            new = self._instance(inner, name, of)
            if new is not None:
                used[inner.count] = name, of
                inner = new
        equal = goal.relation == "Eq"
        supposed = None if equal else inner.with_fact(-goal.expression, "Ge" if goal.strict else "Gt")
        for level in levels:
            tree = inner.sum(goal, level) if used else None
            if tree is None and supposed is not None:
                tree = supposed.sum(Goal(sp.Integer(0), "Gt"), level)
                tree = tree and {"rule": "contradiction", "then": tree}
            if tree is not None:
                needed = [used[place] for place in sorted(places_in(tree)) if place in used]
                if len(needed) < len(used):
                    return self._with_instances(scope, goal, needed, levels=levels)
                for name, of in reversed(used.values()):
                    tree = {"rule": "known", "name": name, "of": [data_of(e) for e in of], "then": tree}
                return tree
        return None

    @told("cases")
    def _by_cases(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof by the cases of a symbol's sign, of the order of two symbols, or of the order of all."""
        symbols = sorted(goal.expression.free_symbols, key=lambda s: s.name)
        candidates = [s for s in symbols if scope.sign(s) == "real"]
        candidates += [a - b for i, a in enumerate(symbols) for b in symbols[i + 1 :]]
        if 1 < len(symbols) <= SEARCH.ordered and not functions_in(goal.expression):
            tree = self._by_order(scope, goal, [a - b for i, a in enumerate(symbols) for b in symbols[i + 1 :]])
            if tree is not None:
                return tree
        tried = 0
        for of in candidates:
            if self._is_seen(scope, of, "nonnegative") or self._is_seen(scope, -of, "nonnegative"):
                continue
            tried += 1
            if tried > SEARCH.cases:
                return None
            trees: list[Tree] = []
            for turned, relation in ((of, "Ge"), (-of, "Gt")):
                inner = self._case(scope, turned, relation)
                tree = inner and self.prove(inner, goal, 0)
                if not tree:
                    break
                trees.append(tree)
            else:
                return {"rule": "cases", "of": data_of(of), "above": trees[0], "at": None, "below": trees[1]}
        return None

    @told("orders")
    def _by_order(self, scope: Scope, goal: Goal, differences: Sequence[sp.Expr]) -> Tree | None:
        """Return a proof by cases, one for each order of the symbols."""
        of = next((d for d in differences if not any(self._is_seen(scope, e, "nonnegative") for e in (d, -d))), None)
        if of is None:
            return next((tree for level in (1, 2) if (tree := scope.sum(goal, level)) is not None), None)
        trees: list[Tree] = []
        for turned, relation in ((of, "Ge"), (-of, "Gt")):
            inner = self._case(scope, turned, relation)
            tree = inner and (self._absurd(inner) or self._by_order(inner, goal, differences))
            if not tree:
                return None
            trees.append(tree)
        return {"rule": "cases", "of": data_of(of), "above": trees[0], "at": None, "below": trees[1]}

    def _is_plausible(self, scope: Scope, goal: Goal) -> bool:
        """Whether a goal holds, up to rounding, at all random points at which the facts hold.

        Return True if this cannot be tested, or if a fact is an equation.
        """
        if any(fact.relation == "Eq" for fact in scope.facts):
            return True
        if goal.expression.has(sp.floor, sp.ceiling):
            return self._holds_at_points(scope, goal)
        facts = [f.expression for f in scope.facts if f.expression is not None]
        symbols = sorted(set().union(*(e.free_symbols for e in (goal.expression, *facts))), key=lambda s: s.name)
        try:
            size = sp.Add(1, *(sp.Abs(term) for term in sp.Add.make_args(goal.expression)))
            values = sp.lambdify(symbols, [goal.expression, size, *facts], "math")
        except (KeyError, SyntaxError, TypeError, NotImplementedError):
            return True
        found = 0
        for _ in range(SEARCH.draws):
            point = [self._drawn(scope, s) for s in symbols]
            try:
                margin, most, *rest = values(*point)
                if all(value > 0 for value in rest):
                    found += 1
                    if margin < -SEARCH.rounding * most or (goal.relation == "Eq" and margin > SEARCH.rounding * most):
                        self.work.record.against(goal, dict(zip(symbols, point, strict=True)))
                        return False
            except (ValueError, ZeroDivisionError, OverflowError, TypeError, NameError):
                continue
            if found >= SEARCH.samples:
                break
        return True

    def _drawn(self, scope: Scope, symbol: sp.Symbol) -> float:
        bound = bound_of(self.parameters.get(symbol.name), zero=True)
        size = 10 ** self.random.uniform(-2, 1)
        if symbol.is_integer:
            return float(math.floor(bound[0] if bound else 0) + round(size))
        if bound is not None:
            return float(bound[0]) + size
        return size if scope.sign(symbol) != "real" else self.random.choice((-1, 1)) * size


def _leaves_facts(tree: Tree) -> bool:
    """Whether a proof uses a rule that differentiates or drops facts: choices may be undecided in its parts."""
    return tree["rule"] in ("slope", "concave", "induction", "range", "invariants") or any(
        _leaves_facts(part) for part in tree.values() if isinstance(part, dict)
    )
