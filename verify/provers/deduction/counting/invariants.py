# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""The search for relations of a recursion's states, shown together by induction on the number of steps."""

import math
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import sympy as sp

from verify.language.heads.scopes import Iterate
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.counting.ratios import Ratios
from verify.provers.deduction.facts import Goal, Relation, Tree, data_of, places_in, stated
from verify.provers.deduction.limits import SEARCH
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.segments import functions_in


@dataclass(frozen=True)
class Recursion:
    """A recursion, the symbol that counts its steps, and symbols for its states."""

    state: sp.Expr
    symbols: tuple[sp.Symbol, ...]

    @property
    def count(self) -> sp.Symbol:
        """The symbol that counts the steps."""
        return self.state.args[1]

    @property
    def start(self) -> tuple[sp.Expr, ...]:
        """The states at the start."""
        return tuple(self.state.args[3])  # pyright: ignore[reportGeneralTypeIssues]

    @property
    def stepped(self) -> tuple[sp.Expr, ...]:
        """The states after a step, in the symbols."""
        _, count, bound, _, step = self.state.args
        values = dict(zip(bound, (count, *self.symbols), strict=True))
        return tuple(part.xreplace(values) for part in step)  # pyright: ignore[reportGeneralTypeIssues]

    def states(self) -> dict[sp.Expr, sp.Symbol]:
        """Return the symbol of each state."""
        rest = self.state.args[1:]
        return {Iterate(sp.Integer(i), *rest): symbol for i, symbol in enumerate(self.symbols)}

    def put(self, goal: Goal, count: sp.Expr, states: Sequence[sp.Expr]) -> Goal:
        """Return a relation with the symbols replaced by a number of steps and by states."""
        values = dict(zip((self.count, *self.symbols), (count, *states), strict=True))
        return replace(goal, expression=goal.expression.xreplace(values))


class Invariants(Ratios, ABC):
    """Relations of a recursion's states that are proved together."""

    def by_invariants(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof that a relation of a recursion's states holds after any number of steps, or None."""
        recursion = self._recursion(scope, goal.expression)
        if recursion is None:
            return None
        wanted = replace(goal, expression=goal.expression.xreplace(recursion.states()))
        others = scope.without(recursion.count)
        known = self._reached(others, recursion, wanted)
        if not known or not _holds(wanted, known) or (first := self._first(others, recursion, wanted, 1)) is None:
            return None
        firsts = {wanted: first}
        delays = list(self._delayed(recursion, wanted))
        equation = [replace(wanted, relation="Eq")] if wanted.relation == "Ge" else []
        for guess in (*equation, *self._guesses(others, recursion), *delays):
            stronger = {replace(guess, relation=relation) for relation in ("Gt", "Eq")}
            if guess in firsts or stronger & firsts.keys() or not _holds(guess, known):
                continue
            if (first := self._first(others, recursion, guess, 0)) is not None:
                firsts[guess] = first
        guesses = [guess for guess in firsts if guess != wanted]
        few = [g for g in guesses if g.expression.is_Symbol or g.relation == "Eq" or g in delays]
        for some in (few, guesses):
            if some is few or len(few) < len(guesses):
                found = self._together(others, recursion, {g: firsts[g] for g in (*some, wanted)}, wanted)
                if found is not None:
                    return self._told(scope, recursion, wanted, found)
        return None

    def _recursion(self, scope: Scope, expression: sp.Expr) -> Recursion | None:
        states = sorted(expression.atoms(Iterate), key=sp.default_sort_key)
        if not states or len({state.args[1:] for state in states}) > 1:
            return None
        state = states[0]
        symbols = tuple(sp.Symbol(f"s_{scope.bound + i}", real=True) for i in range(len(state.args[3])))
        count, depends = state.args[1], state.args[3].free_symbols | (state.args[4].free_symbols - set(state.args[2]))
        counts = count.is_Symbol and count.is_integer and count.name in self.parameters and self._least(count) == 0
        if not counts or count in depends or any(s.name in self.parameters for s in symbols):
            return None
        return Recursion(state, symbols)

    def is_total(self, scope: Scope, state: sp.Expr) -> bool:
        """Whether a recursion's step has a value for every state."""
        return all(self._has_value(scope, part) for part in state.args[4])  # pyright: ignore[reportGeneralTypeIssues]

    def _has_value(self, scope: Scope, expression: sp.Expr) -> bool:
        try:
            self.atoms.prepare(expression)
            seen = all(self._is_seen(scope, *need) for need in self._needs(expression))
            return seen and scope.fraction(expression) is not None
        except NoAtomError:
            return False

    def _guesses(self, scope: Scope, recursion: Recursion) -> Iterator[Goal]:
        """Yield candidate relations: signs, constant changes, facts about the start, orders of states and starts."""
        symbols, start, stepped = recursion.symbols, recursion.start, recursion.stepped
        for symbol in symbols:
            yield Goal(symbol, "Gt")
            yield Goal(symbol, "Ge")
        for symbol, first, after in zip(symbols, start, stepped, strict=True):
            change = sp.expand(after - symbol)
            if change.is_Rational:
                yield Goal(symbol - first - change * recursion.count, "Eq")
            for expression, relation in _known(scope) if first.is_Symbol else ():
                if first in expression.free_symbols:
                    yield Goal(expression.xreplace({first: symbol}), relation)
            yield Goal(symbol - first, "Ge")
            yield Goal(first - symbol, "Ge")
            for other in symbols:
                if other != symbol:
                    yield Goal(symbol - other, "Ge")

    def _delayed(self, recursion: Recursion, goal: Goal) -> Iterator[Goal]:
        """Yield the goal one step earlier, if one state is always the previous value of another state."""
        for symbol, after in zip(recursion.symbols, recursion.stepped, strict=True):
            if after in recursion.symbols and after != symbol and symbol not in goal.expression.free_symbols:
                before = {recursion.count: recursion.count - 1, after: symbol}
                yield replace(goal, expression=goal.expression.xreplace(before))

    def _reached(self, scope: Scope, recursion: Recursion, goal: Goal) -> list[Mapping[sp.Symbol, float]]:
        """Return points: parameter values at which the facts hold, with the states reached from there."""
        facts = list(_known(scope))
        parts = [goal.expression, *recursion.start, *recursion.stepped, *(expression for expression, _ in facts)]
        inside = set().union(*(part.free_symbols for part in parts)) - {recursion.count, *recursion.symbols}
        symbols, found = sorted(inside, key=lambda s: s.name), list[Mapping[sp.Symbol, float]]()
        for _ in range(SEARCH.draws):
            point = {symbol: self._drawn(scope, symbol) for symbol in symbols}
            try:
                margins = [(_value(expression, point), relation) for expression, relation in facts]
                if all(margin > 0 or (margin == 0 and relation != "Gt") for margin, relation in margins):
                    found += _run(recursion, point)
            except (ArithmeticError, ValueError, TypeError):
                continue
            if len(found) > SEARCH.samples * 2:
                break
        return found

    def _first(self, scope: Scope, recursion: Recursion, goal: Goal, depth: int) -> Tree | None:
        return self.prove(scope, recursion.put(goal, sp.Integer(0), recursion.start), depth)

    def _together(
        self, scope: Scope, recursion: Recursion, firsts: Mapping[Goal, Tree], goal: Goal
    ) -> list[tuple[Goal, Tree, Tree]] | None:
        """Return relations, including the goal, each with proofs at the start and of the step; or None.

        A relation proved at the start is left out if its step is not shown, or if the relation is no sign and no
        step's proof uses it.
        """
        left = list(firsts)
        while goal in left:
            inner, kept = replace(scope, bound=scope.bound + len(recursion.symbols)), dict[int, Goal]()
            for each in left:
                after = self._with_fact(inner, each.expression, each.relation)
                if after is not None:
                    kept[inner.count], inner = each, after
            if goal not in kept.values() or not all(self._has_value(inner, part) for part in recursion.stepped):
                return None
            steps = self._steps(inner, recursion, kept, goal)
            if goal not in steps:
                return None
            if len(steps) == len(left):
                return [(g, firsts[g], steps[g]) for g in left]
            left = [g for g in left if g in steps]
        return None

    def _steps(self, scope: Scope, recursion: Recursion, kept: Mapping[int, Goal], goal: Goal) -> dict[Goal, Tree]:
        """Return proofs of the step for the goal, for signs if found, and for the relations that these proofs use.

        The result is empty if the goal's step has no proof.
        """
        waiting = [goal, *(g for g in kept.values() if g.expression.is_Symbol)]
        done, steps = set[Goal](), dict[Goal, Tree]()
        while waiting:
            each = waiting.pop(0)
            if each in done:
                continue
            done.add(each)
            tree = self._step(scope, recursion.put(each, recursion.count + 1, recursion.stepped), guessed=each != goal)
            if tree is not None:
                steps[each] = tree
                waiting += [kept[place] for place in sorted(places_in(tree)) if place in kept]
            elif each == goal:
                return {}
        return steps

    def _step(self, scope: Scope, after: Goal, *, guessed: bool) -> Tree | None:
        if not self._is_plausible(scope, after):
            return None
        if guessed:
            tree = scope.sum(after, 0) or scope.sum(after, 1) or self._with_instances(scope, after)
        else:
            tree = scope.sum(after, 0) or self.by_ratio(scope, after)
            tree = tree or self.prove(scope, after, 2 if after.relation == "Eq" else 0)
        if tree is None and after.relation != "Eq" and functions_in(after.expression):
            tree = self._by_slope(scope, after, 2)
        return tree

    def _told(self, scope: Scope, recursion: Recursion, goal: Goal, found: Sequence[tuple[Goal, Tree, Tree]]) -> Tree:
        place = scope.count + [each for each, _, _ in found].index(goal)
        return {
            "rule": "invariants",
            "of": data_of(recursion.state),
            "as": [symbol.name for symbol in recursion.symbols],
            "relations": [stated(each) for each, _, _ in found],
            "first": [first for _, first, _ in found],
            "step": [step for _, _, step in found],
            "then": {"rule": "sum", "times": ["Integer", "1"], "terms": [[["Integer", "1"], [place], None]]},
        }


def _known(scope: Scope) -> Iterator[tuple[sp.Expr, Relation]]:
    """Yield the facts without recursions."""
    for fact in scope.facts:
        if fact.expression is not None and not fact.expression.has(Iterate):
            yield fact.expression, fact.relation


@cache
def _function(symbols: tuple[sp.Symbol, ...], expression: sp.Expr) -> Callable[..., Any]:
    return sp.lambdify(symbols, expression, "math")


def _value(expression: sp.Expr, point: Mapping[sp.Symbol, float]) -> float:
    value = _function(tuple(point), expression)(*point.values())
    if isinstance(value, complex) or not math.isfinite(value):
        raise ValueError(value)
    return value


def _run(recursion: Recursion, point: Mapping[sp.Symbol, float]) -> list[Mapping[sp.Symbol, float]]:
    """Return the states reached from a point in the first steps."""
    names, found = [recursion.count, *recursion.symbols], list[Mapping[sp.Symbol, float]]()
    states = [_value(part, point) for part in recursion.start]
    for n in range(SEARCH.steps):
        now = {**point, **dict(zip(names, [float(n), *states], strict=True))}
        found.append(now)
        states = [_value(part, now) for part in recursion.stepped]
    return found


def _holds(goal: Goal, reached: Sequence[Mapping[sp.Symbol, float]]) -> bool:
    """Whether a relation holds in all reached states in which it has a value; ≥ and = are tested up to rounding."""
    for now in reached:
        try:
            margin = _value(goal.expression, now)
            terms = [abs(_value(term, now)) for term in sp.Add.make_args(goal.expression)]
        except (ArithmeticError, ValueError, TypeError, NameError, KeyError):
            continue
        error = SEARCH.rounding * (1 + sum(terms))
        if margin < -error or (goal.relation == "Eq" and margin > error) or (goal.strict and margin <= 0):
            return False
    return True
