# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs about all states of a recursion.

The observable comes down to a level for all parameters, or stays above a level at an instance.

`verify/rechecker/kinds/states.py` states the relations between a state, the next state and the level that are deduced.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import sympy as sp

from verify.errors import TheoremError
from verify.evaluation.iteration import Values
from verify.language.clause_data import Dynamics
from verify.language.parameters import Parameter
from verify.language.statement import Statement
from verify.provers.deduction.facts import Goal, Tree, data_of
from verify.provers.deduction.limits import SEARCH
from verify.provers.deduction.proofs import as_goal
from verify.provers.deduction.scope import Scope, SpentError
from verify.provers.deduction.search import Search
from verify.provers.deduction.segments import TRIVIAL
from verify.provers.proof_data import Proof

_PERIODS = 8
"""Longest period of the exact cycles that are sought."""
_TESTED = 200
"""Number of steps in float64 for which a set has to be kept before a proof is tried."""
_ROUNDING = 1e-12
_MOST_FACTORS = 4
"""Maximum number of states, each multiplied by a factor in a step, for trying all pairs of factors."""
_ERRORS = (ArithmeticError, ValueError, TypeError, SpentError, TheoremError, sp.PolynomialError, NotImplementedError)
"""The errors of SymPy on parts without a value, and of a search that has spent its work: they mean "not found"."""


@dataclass(frozen=True)
class Kept:
    """Invariants of a run's states that keep the observable above a level.

    Parameters
    ----------
    proof
        The proof, of kind "kept".
    invariants
        The relations, at the instance.
    at_start
        The observable at the start.
    period
        Number of steps after which the run is back at its start; None if it is not back within a few steps.
    """

    proof: Proof
    invariants: tuple[Any, ...]
    at_start: sp.Expr
    period: int | None


@dataclass(frozen=True)
class _Extended:
    """A stand-in for a statement in a search: its parameters are those of `statement`, if given, and the states."""

    dynamics: Dynamics
    level: sp.Expr
    statement: Statement | None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, and the states."""
        states = tuple(Parameter(state.name, "rational", "a state") for state in self.dynamics.state)
        return (*(() if self.statement is None else self.statement.parameters), *states)

    def symbols(self) -> frozenset[sp.Symbol]:
        """Return the symbols of the recursion, the level and the statement."""
        dynamics = self.dynamics
        written = sp.Tuple(*dynamics.state, *dynamics.initial, *dynamics.step, dynamics.observable, self.level)
        return written.free_symbols | (frozenset() if self.statement is None else self.statement.symbols())

    def expand(self, expression: sp.Basic) -> sp.Basic:
        """Return an expression with the definitions substituted."""
        return expression if self.statement is None else self.statement.expand(expression)


@dataclass(frozen=True)
class _Deduced:
    """Deduces relations of a recursion's states from the relations of a statement, within one search's work."""

    dynamics: Dynamics
    search: Search
    first: Scope
    relations: list[int | str]

    @staticmethod
    def of(
        dynamics: Dynamics, statement: Statement | None, level: sp.Expr, work: int, *, hypotheses: bool
    ) -> "_Deduced":
        """Begin a search whose facts are a statement's relations, or none; the states are any real numbers."""
        known = [] if statement is None else [*statement.domain]
        said = () if statement is None or not hypotheses else statement.hypotheses
        known += [h.relation for h in said if h.relation is not None]
        extended = _Extended(dynamics, level, statement)
        search = Search(extended, work)
        goals = [as_goal(extended, relation) for relation in known]
        return _Deduced(
            dynamics, search, *search.begun({i: (goal.expression, goal.relation) for i, goal in enumerate(goals)})
        )

    def after(self, expression: sp.Expr, state: Sequence[sp.Expr]) -> sp.Expr:
        """Return an expression of the state, evaluated at another state."""
        return expression.subs(dict(zip(self.dynamics.state, state, strict=True)), simultaneous=True)

    def shown(self, scope: Scope | None, goal: Goal) -> Tree | None:
        """Return a proof of a goal from the facts of a scope."""
        return None if scope is None else self.search.prove(scope, goal, SEARCH.depth)

    def inside(self, goals: Sequence[Goal]) -> Scope | None:
        """Return the scope with facts about a state; None if a fact is not seen to have a value."""
        scope: Scope | None = self.first
        for goal in goals:
            scope = None if scope is None else self.search.with_more(scope, goal)
        return scope

    def keeps(self, invariants: Sequence[Goal], inside: Scope | None) -> dict[str, list[Tree]] | None:
        """Return proofs that invariants hold at the start and after a step from `inside`; None if a proof is not found.

        Under "values" are proofs that the start, and the state after a step, have values.
        """
        found: dict[str, list[Tree]] = {"start": [], "step": []}
        ends = ((self.first, self.dynamics.initial), (inside, self.dynamics.step))
        for key, (scope, state) in zip(("start", "step"), ends, strict=True):
            for goal in invariants:
                tree = self.shown(scope, Goal(self.after(goal.expression, state), goal.relation))
                if tree is None:
                    return None
                found[key].append(tree)
        found["values"] = [self._valued(scope, state) for scope, state in ends]
        return found if all(found["values"]) else None

    def _valued(self, scope: Scope | None, state: Sequence[sp.Expr]) -> Tree | None:
        """Return a proof that a state has a value: lemmas, then the proof of a trivial claim; None if not found."""
        if scope is None or not state:
            return None if scope is None else TRIVIAL
        rest = lambda inner: self._valued(inner, state[1:])  # noqa: E731
        return self.search.with_values(scope, state[0], SEARCH.depth, rest)


@cache
def falling_proof(
    dynamics: Dynamics, level: sp.Expr, statement: Statement, work: int, *, hypotheses: bool
) -> Proof | None:
    """Return the proof, of kind "falls", that the observable comes down to a level for all parameters, or None.

    `dynamics` and `level` must have the definitions substituted. Above the level each step lowers the observable by at
    least an amount that depends on the parameters alone. Signs of the states are used as invariants if needed.
    """
    if _is_beyond(dynamics):
        return None
    try:
        deduced = _Deduced.of(dynamics, statement, level, work, hypotheses=hypotheses)
        fall = dynamics.observable - deduced.after(dynamics.observable, dynamics.step)
        above = Goal(dynamics.observable - level, "Gt")
        for amount in dict.fromkeys(_amounts(dynamics, fall, level)):
            positive = deduced.shown(deduced.first, Goal(amount, "Gt"))
            for invariants in _signs(dynamics) if positive else ():
                inside = deduced.inside([*invariants, above])
                falls = deduced.shown(inside, Goal(fall - amount, "Ge"))
                if falls is not None and (kept := deduced.keeps(invariants, inside)) is not None:
                    parts = {"amount": data_of(amount), "positive": positive, "falls": falls}
                    return _stated("falls", invariants, kept) | parts | {"relations": deduced.relations}
    except _ERRORS:
        return None
    return None


@cache
def _is_beyond(dynamics: Dynamics) -> bool:
    """Whether a recursion is too long, or a state has an assumption besides being real, which these proofs ignore."""
    written = (*dynamics.initial, *dynamics.step, dynamics.observable)
    if sum(sp.sympify(expression).count_ops() for expression in written) > SEARCH.operations:
        return True
    return any(state.is_integer or state.is_nonnegative or state.is_nonzero for state in dynamics.state)


def _stated(kind: str, invariants: Sequence[Goal], kept: dict[str, list[Tree]]) -> Proof:
    """Return a proof with its kind, its invariants, and the proofs that these are kept."""
    relations = {"Ge": sp.Ge, "Gt": sp.Gt, "Eq": sp.Eq}
    stated = [data_of(relations[goal.relation](goal.expression, 0, evaluate=False)) for goal in invariants]
    return {"kind": kind, "invariants": stated, **kept}


def _amounts(dynamics: Dynamics, fall: sp.Expr, level: sp.Expr) -> Iterator[sp.Expr]:
    """Yield amounts, in the parameters alone, by which the observable may fall at each step above the level."""
    states = set(dynamics.state)
    ratio = sp.cancel(sp.together(fall / dynamics.observable))
    if not ratio.free_symbols & states:
        yield sp.factor(ratio) * level
    plain = sp.cancel(sp.together(sp.expand(fall)))
    if not plain.free_symbols & states:
        yield plain
    if dynamics.observable in states and plain.free_symbols & states == {dynamics.observable}:
        yield plain.subs(dynamics.observable, level)
    # A state that is multiplied by c loses the share (1 - c) (1 + c) of its square. A sum of squares loses at least the
    # least of these shares.
    factors = [sp.cancel(sp.together(step / state)) for state, step in zip(dynamics.state, dynamics.step, strict=True)]
    if len(factors) in range(2, _MOST_FACTORS + 1) and not sp.Tuple(*factors).free_symbols & states:
        yield from (sp.factor(1 - one) * sp.factor(1 + other) * level for one, other in product(factors, repeat=2))


def _signs(dynamics: Dynamics) -> Iterator[tuple[Goal, ...]]:
    """Yield the invariants that are tried: none; all states are ≥ 0; all states are > 0."""
    yield ()
    for relation in ("Ge", "Gt"):
        yield tuple(Goal(state, relation) for state in dynamics.state)


def kept_above(dynamics: Dynamics, level: Fraction, values: Values, work: int) -> Kept | None:
    """Return invariants that keep a run above a level at an instance; None if none are found.

    An example is a step that multiplies each state by a factor of size at least 1; another is a cycle.
    """
    if _is_beyond(dynamics):
        return None
    names = {s: sp.Rational(v.numerator, v.denominator) for s, v in _numbers(dynamics, values)}
    try:
        initial, step = (tuple(e.subs(names) for e in parts) for parts in (dynamics.initial, dynamics.step))
        here = Dynamics(dynamics.state, initial, step, dynamics.observable.subs(names))
        bound = sp.Rational(level.numerator, level.denominator)
        if here.observable.free_symbols - set(here.state):
            return None
        return next((kept for sets in _sets(here) if (kept := _kept(here, bound, sets, work))), None)
    except _ERRORS:
        return None


def _numbers(dynamics: Dynamics, values: Values) -> Iterator[tuple[sp.Symbol, Fraction]]:
    written = sp.Tuple(*dynamics.initial, *dynamics.step, dynamics.observable)
    for symbol in written.free_symbols - set(dynamics.state):
        yield symbol, Fraction(values[symbol.name])


def _sets(here: Dynamics) -> Iterator[tuple[Goal, ...]]:
    """Yield sets that may be kept.

    1. The observable is at least as large as at the start.
    2. Each state is at its start, or on the side of its start to which the first step moves the state.
    3. Both 1 and 2 hold.
    4. s² ≥ x² for the start x of one state s, or for all states.
    """
    start = dict(zip(here.state, here.initial, strict=True))
    higher = Goal(here.observable - here.observable.subs(start), "Ge")
    moved = [Goal(turn * (s - x), "Ge") for s, x, turn in ((s, x, _turn(here, s, x, start)) for s, x in start.items())]
    yield (higher,)
    yield tuple(moved)
    yield (higher, *moved)
    wider = [Goal(s**2 - x**2, "Ge") for s, x in start.items()]
    yield from ((goal,) for goal in wider if len(wider) > 1)
    yield tuple(wider)


def _turn(here: Dynamics, state: sp.Symbol, initial: sp.Expr, start: dict[sp.Symbol, sp.Expr]) -> int:
    """Return the direction in which the first step moves a state: 1 up, −1 down."""
    return 1 if here.step[here.state.index(state)].subs(start) >= initial else -1


def _kept(here: Dynamics, level: sp.Expr, invariants: tuple[Goal, ...], work: int) -> Kept | None:
    if not _seems_kept(here, level, invariants):
        return None
    deduced = _Deduced.of(here, None, level, work, hypotheses=False)
    inside = deduced.inside(invariants)
    above = deduced.shown(inside, Goal(here.observable - level, "Gt"))
    kept = None if above is None else deduced.keeps(invariants, inside)
    if above is None or kept is None:
        return None
    start = dict(zip(here.state, here.initial, strict=True))
    relations = tuple((sp.Gt if g.strict else sp.Ge)(g.expression, 0, evaluate=False) for g in invariants)
    proof = _stated("kept", invariants, kept) | {"above": above}
    return Kept(proof, relations, here.observable.subs(start), _period(here))


def _seems_kept(here: Dynamics, level: sp.Expr, invariants: Sequence[Goal]) -> bool:
    """Whether a run in float64 stays in a set, and above the level, for some steps, or until it overflows."""
    margins = [goal.expression for goal in invariants]
    seen = sp.lambdify(here.state, [here.observable - level, *margins], "math")
    onward = sp.lambdify(here.state, list(here.step), "math")
    state = [float(x) for x in here.initial]
    for _ in range(_TESTED):
        try:
            above, *rest = seen(*state)
            if not above > 0 or any(x < -_ROUNDING * (1 + abs(above)) for x in rest):
                return False
            state = onward(*state)
        except OverflowError:
            return True
    return True


def _period(here: Dynamics) -> int | None:
    """Return the number of steps after which a run is exactly back at its start; None if it needs more than a few."""
    state = here.initial
    for step in range(1, _PERIODS + 1):
        put = dict(zip(here.state, state, strict=True))
        state = tuple(e.subs(put, simultaneous=True) for e in here.step)
        if all(sp.expand(a - b) == 0 for a, b in zip(state, here.initial, strict=True)):
            return step
    return None
