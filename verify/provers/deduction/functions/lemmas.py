# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Facts that a proof shows first: lemmas, instances of known facts, and signs of expressions by short proofs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from verify.provers.deduction.facts import Goal, Relation, Tree, data_of
from verify.provers.deduction.instances import arcs
from verify.provers.deduction.limits import CHAIN
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.segments import Segments

_DIGITS = (2, 5)
"""The numbers of digits of rational bounds, tried in turn: with few digits the sums are simple."""
_NUMBER: Tree = {"rule": "number", "bits": 128}


@dataclass
class Frame:
    """A scope to which facts were added, and the steps of a proof that add them."""

    scope: Scope
    steps: list[Tree] = field(default_factory=list)

    def around(self, tree: Tree) -> Tree:
        """Return a proof preceded by the steps that add the facts."""
        for step in reversed(self.steps):
            tree = {**step, "then": tree}
        return tree

    def with_lemma(self, expression: sp.Expr, relation: Relation, proof: Tree) -> "Frame | None":
        """Return the frame with one more fact and its proof; None if the sign of the fact's divisor is not seen."""
        inner = self.scope.with_fact(expression, relation)
        step = {"rule": "lemma", "relation": stated(expression, relation), "proof": proof}
        return inner and Frame(inner, [*self.steps, step])


def stated(expression: sp.Expr, relation: Relation) -> Any:
    """Return the data of the relation of an expression to 0."""
    kind = {"Gt": sp.Gt, "Ge": sp.Ge, "Eq": sp.Eq}[relation]
    return data_of(kind(expression, 0, evaluate=False))


def told(factor: sp.Expr, places: Sequence[int] = (), root: sp.Expr | None = None) -> list[Any]:
    """Return a term of a sum: a factor times facts times a square."""
    return [data_of(factor), list(places), None if root is None else data_of(root)]


def by_equation(scope: Scope, expression: sp.Expr) -> list[tuple[sp.Expr, list[int]]] | None:
    """Return an expression as a multiple of an equation among the facts, [] for 0; None for any other expression."""
    if sp.simplify(expression) == 0:
        return []
    for fact in scope.facts:
        if fact.relation == "Eq" and fact.expression is not None:
            factor = sp.cancel(expression / fact.expression)
            if sp.numer(factor).is_number and sp.denom(factor).is_positive:
                return [(factor, [fact.place])]
    return None


def added(*terms: list[Any]) -> Tree:
    """Return the proof of a goal that is a sum of terms."""
    return {"rule": "sum", "times": ["Integer", "1"], "terms": list(terms)}


class Lemmas(Segments, ABC):
    """Proofs of signs that other proofs need."""

    @abstractmethod
    def _by_value(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof of a goal that is a number, by the number's value."""

    @abstractmethod
    def _with_instances(
        self,
        scope: Scope,
        goal: Goal,
        among: Sequence[tuple[str, list[sp.Expr]]] | None = None,
        *,
        levels: Sequence[int] = (0, 1),
    ) -> Tree | None:
        """Return a proof by a sum, or by contradiction, with instances of known facts of the goal's functions."""

    def with_known(self, frame: Frame, name: str, *of: sp.Expr) -> Frame | None:
        """Return a frame with an instance of a known fact; None if the signs or values that it needs are not seen."""
        inner = self._instance(frame.scope, name, list(of))
        step = {"rule": "known", "name": name, "of": [data_of(each) for each in of]}
        return inner and Frame(inner, [*frame.steps, step])

    def with_sign(self, frame: Frame, expression: sp.Expr, relation: Relation = "Gt") -> Frame | None:
        """Return a frame in which an expression is seen to be > 0, or ≥ 0; None if no short proof shows this."""
        if self._is_seen(frame.scope, expression, "positive" if relation == "Gt" else "nonnegative"):
            return frame
        proof = self.short(frame.scope, Goal(expression, relation))
        return proof and frame.with_lemma(expression, relation, proof)

    def with_value(self, frame: Frame, expression: sp.Expr) -> Frame | None:
        """Return a frame in which an expression is seen to have a value; None if no short proofs show this."""
        found: Frame | None = frame
        for of, need in self._needs(expression):
            if found is None or self._is_seen(found.scope, of, need):
                continue
            signs = (of, -of) if need == "nonzero" else (of,)
            after = [self.with_sign(found, each, "Ge" if need == "nonnegative" else "Gt") for each in signs]
            found = next((each for each in after if each is not None), None)
        return found

    def short(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a short proof of a sign; None if none was found."""
        if not self._is_plausible(scope, goal):
            return None
        ways: list[Callable[[], Tree | None]] = [
            lambda: self._by_value(scope, goal) if not goal.expression.free_symbols else None,
            lambda: scope.sum(goal, 0),
            lambda: self._by_arc(scope, goal),
            lambda: self._by_constants(scope, goal),
            lambda: self._with_instances(scope, goal, levels=(0,)) if self._is_short(goal) else None,
            lambda: scope.sum(goal, 1),
        ]
        return next((tree for way in ways if (tree := way()) is not None), None)

    def _is_short(self, goal: Goal) -> bool:
        """Whether a goal has so few terms that instances of known facts are tried."""
        self.atoms.prepare(goal.expression)
        return len(sp.Add.make_args(self.atoms.fraction(goal.expression)[0])) <= CHAIN.terms

    def _by_arc(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof that a sine or a cosine is > 0, or ≥ 0, on an arc that contains the argument."""
        number, part = goal.expression.as_coeff_Mul()
        if not isinstance(part, sp.sin | sp.cos) or number <= 0 or goal.relation == "Eq":
            return None
        frame: Frame | None = Frame(scope)
        for each in arcs(part.func.__name__, part.args[0]):
            frame = frame and self.with_sign(frame, each, goal.relation)
        end = "positive" if goal.strict else "nonnegative"
        inner = frame and self.with_known(frame, f"{part.func.__name__}_{end}", part.args[0])
        return inner and inner.around(added(told(number, [inner.scope.count - 1])))

    def _by_constants(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof by a sum, with rational bounds of the goal's irrational coefficients."""
        for digits in _DIGITS:
            frame = Frame(scope)
            for bound in self._bounds(goal.expression, digits):
                frame = frame.with_lemma(bound, "Gt", _NUMBER) or frame
            found = (frame.scope.sum(goal, level) for level in (0, 1)) if frame.steps else ()
            tree = next((tree for tree in found if tree is not None), None)
            if tree is not None or not frame.steps:
                return tree and frame.around(tree)
        return None

    def _bounds(self, expression: sp.Expr, digits: int) -> Iterator[sp.Expr]:
        """Yield the positive differences between an expression's irrational coefficients and rational bounds."""
        self.atoms.prepare(expression)
        above, _ = self.atoms.fraction(expression)
        others = [s for s in above.free_symbols if self.atoms.back(s).free_symbols]
        coefficients = sp.Poly(above, *others).coeffs() if others else [above]
        numbers = (self.atoms.back(c.primitive()[1]) for c in coefficients if c.free_symbols)
        for number in dict.fromkeys(n if sp.N(n) > 0 else sp.expand(-n) for n in numbers if sp.N(n) != 0):
            scale = sp.Integer(10) ** (digits - sp.floor(sp.log(number, 10)))
            below = sp.floor(number * scale)
            yield number - below / scale
            yield (below + 1) / scale - number
