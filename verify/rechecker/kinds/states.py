"""Proofs about all states of a recursion: deductions show relations that each step keeps, and their consequences."""

from collections.abc import Sequence

from ..deduction.facts import Goal
from ..forms import REAL
from ..given import Given
from ..nodes import Node
from ..reading import Data, Rejected, items
from ..registry import Checked
from .deductions import first_facts, goal_of, shows
from .runs import Recursion


class _States:
    """A recursion, and the invariants of a proof: facts about every state that the recursion may be in.

    A deduction shows each invariant at the start, from `first`, facts that mention no state. Another one shows it after
    a step, from `first` and from the invariants and `more` before the step. The start, and the state after a step, are
    shown to have values: 0 times each is 0.
    """

    def __init__(self, given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str, name: str) -> None:
        """Read the recursion, the level `name`, and the invariants; for all parameters if the proof has `relations`."""
        for_all = "relations" in proof
        self.given, self.where = given, where
        self.run = Recursion(given, clause["dynamics"], where, for_all=for_all)
        for state in self.run.state:
            given.terms.refuse_beyond(state, REAL, f"{where}.state")
        read = given.expression if for_all else given.read
        self.bound = tuple(map(str, self.run.names))
        self.above = Goal(given.terms.minus(self.run.observable, read(clause[name], f"clause.{name}")), "Gt")
        self.invariants = list[Goal]()
        for i, data in enumerate(items(proof["invariants"], f"{where}.invariants")):
            goal = goal_of(given, given.relation(data, f"{where}.invariants[{i}]", self.bound))
            self.invariants.append(goal if for_all else goal._replace(node=given.at_instance(goal.node)))

    def after(self, node: Node, state: Sequence[Node]) -> Node:
        """Return an expression in the state's symbols at another state."""
        return self.given.terms.substitute(node, dict(zip(self.bound, state, strict=True)))

    def keeps(self, first: list[Goal], more: list[Goal], proof: dict[str, Data]) -> list[Goal]:
        """Return the facts about a state. Raises Rejected if an invariant is not shown, or a state has no value."""
        inside, terms = [*first, *self.invariants, *more], self.given.terms
        values = items(proof["values"], f"{self.where}.values", 2)
        for key, facts, state, value in (
            ("start", first, self.run.initial, values[0]),
            ("step", inside, self.run.step, values[1]),
        ):
            place, bound = f"{self.where}.{key}", () if key == "start" else self.bound
            nought = Goal(terms.add(terms.mul((terms.zero, node)) for node in state), "Eq")
            shows(self.given, facts, nought, value, f"{self.where}.values", bound=bound)
            trees = items(proof[key], place, len(self.invariants))
            for i, (goal, tree) in enumerate(zip(self.invariants, trees, strict=True)):
                there = goal._replace(node=self.after(goal.node, state))
                shows(self.given, facts, there, tree, f"{place}[{i}]", bound=bound)
        return inside


def falls(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`reaches` at some step, verified for all parameters in scope: above the level each step lowers the observable.

    Each step lowers it by at least `amount`, which depends on the parameters alone and is > 0, so that no run stays
    above the level for ever. The invariants hold at the start, and after a step from above the level if they hold
    before it.
    """
    if clause["within"] is not None or "not_before" in clause:
        raise Rejected(f"{where}: says nothing of the number of steps")
    first, used = first_facts(given, proof["relations"], f"{where}.relations")
    states, terms = _States(given, clause, proof, where, "level"), given.terms
    amount = given.expression(proof["amount"], f"{where}.amount")
    shows(given, first, Goal(amount, "Gt"), proof["positive"], f"{where}.positive")
    inside, observed = states.keeps(first, [states.above], proof), states.run.observable
    fall = terms.minus(observed, states.after(observed, states.run.step))
    lowered = Goal(terms.minus(fall, amount), "Ge")
    shows(given, inside, lowered, proof["falls"], f"{where}.falls", bound=states.bound)
    return Checked(True, used)


def kept(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`reaches`, refuted, or `stays`, verified because nothing is reached: the observable is always above the level.

    The invariants hold at the start, and after a step if they hold before it.
    """
    states = _States(given, clause, proof, where, "level" if clause["kind"] == "reaches" else "reached")
    inside = states.keeps([], [], proof)
    shows(given, inside, states.above, proof["above"], f"{where}.above", bound=states.bound)
    return Checked(clause["kind"] == "stays", hypotheses_used=False)
