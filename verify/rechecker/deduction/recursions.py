"""Invariants of recursions: relations of the states after n steps, shown together by induction on n."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..given import Given
from ..nodes import Name, Node, bound_in, with_parts
from ..reading import Data, Rejected, items, shown
from .atoms import least
from .facts import Goal, Scope
from .functions import free_in_recursion, recursion_of


@dataclass(frozen=True)
class Recursion:
    """The states after n steps of a recursion, for an integer n from 0 on, and new symbols for them."""

    given: Given
    node: Node
    names: tuple[str, ...]

    @classmethod
    def read(cls, scope: Scope, tree: Mapping[str, Data], where: str) -> "Recursion":
        """Return the recursion of a rule's data. Raises Rejected if its start or its steps depend on n."""
        given, node = scope.given, scope.read(tree["of"], f"{where}.of")
        if node.head != "Iterate":
            raise Rejected(f"{where}.of: is no recursion")
        _, _, (_, count, *start) = bound_in(node)
        counted = count.head == "symbol" and count.name in given.integers
        if not counted or least(given.parameters.get(str(count.name))) != 0:
            raise Rejected(f"{where}.of: the steps are not counted by a parameter from 0 on")
        if free_in_recursion(recursion_of(node)) & count.free:
            raise Rejected(f"{where}.of: the recursion itself depends on {shown(count.name)}")
        listed = items(tree["as"], f"{where}.as", len(start))
        names = tuple(given.new_name(["Symbol", name, "real"], f"{where}.as") for name in listed)
        if len({*names, *scope.bound}) < len(names) + len(scope.bound):
            raise Rejected(f"{where}.as: a name is taken")
        return cls(given, node, names)

    @property
    def count(self) -> Node:
        """The symbol that counts the steps."""
        return self.node.args[1]

    def put(self, goal: Goal, count: Node, states: Sequence[Node]) -> Goal:
        """Return a goal with `count` put for n, and `states` for the symbols of the states after n steps."""
        values: dict[Name, Node] = {**dict(zip(self.names, states, strict=True)), self.count.name: count}
        return goal._replace(node=self.given.terms.substitute(goal.node, values))

    def first(self, goal: Goal) -> Goal:
        """Return a relation at the start."""
        return self.put(goal, self.given.terms.zero, bound_in(self.node).outside[2:])

    def stepped(self) -> list[Node]:
        """Return the states after n + 1 steps, in the symbols for the states after n steps."""
        terms, (inside, symbols, _) = self.given.terms, bound_in(self.node)
        states = [self.count, *map(terms.symbol, self.names)]
        values = {symbol.name: value for symbol, value in zip(symbols, states, strict=True)}
        return [terms.substitute(part, values) for part in inside]

    def step(self, scope: Scope, relations: Sequence[Goal]) -> tuple[Scope, list[Goal]]:
        """Return the scope of the step, in which the relations hold after n steps, and the relations after n + 1.

        Raises Rejected if the step is not shown to have a value in this scope.
        """
        terms, inner = self.given.terms, replace(scope, bound=(*scope.bound, *self.names))
        for goal in relations:
            inner = inner.with_fact(*goal)
        states = self.stepped()
        for state in states:
            inner.value(state)
        return inner, [self.put(goal, terms.add((self.count, terms.one)), states) for goal in relations]

    def known(self, scope: Scope, relations: Sequence[Goal]) -> Scope:
        """Return the scope in which all states have values, and the relations hold for the states after n steps."""
        terms, (inside, _, (_, count, *start)) = self.given.terms, bound_in(self.node)
        inner = replace(scope, field=scope.field.copied())
        inner.field.defined |= {recursion_of(self.node)}
        numbers = (terms.number(i) for i in range(len(start)))
        states = [terms.build("Iterate", with_parts(self.node, inside, [place, count, *start])) for place in numbers]
        for goal in relations:
            inner = inner.with_fact(*self.put(goal, count, states))
        return inner
