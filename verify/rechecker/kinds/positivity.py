"""Inequalities for all parameters: written in slacks, case by case, the margin has no negative coefficient.

A slack is a variable ≥ 0, or > 0. Symbols are written in slacks: at each point in scope the slacks have values for
which these equations hold, in at least one of the cases. So a margin that is positive for all slacks in every case is
positive in scope. Integers are treated as real numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from ..fields import evaluate
from ..given import Given, sides, with_units
from ..nodes import BINDERS, SCOPES, Name, Node, order
from ..polynomials import Exponent, Polynomial, Quotient, Quotients, Sign, admit_positive
from ..reading import Data, Rejected, TooLarge, entries, items, rational, shown, string, whole
from ..registry import Checked
from ..terms import Names

_MOST_POWER, _MOST_STEPS = 64, 24
_SIGNED: tuple[Sign, ...] = ("positive", "nonnegative")


def with_slack(given: Given, relation: Node, i: int, signs: dict[Name, Sign], where: str) -> dict[Name, Node]:
    """Return the symbol of a relation in a slack s: x = low + s from x ≥ low, x = high/(1 + s) from 0 < x ≤ high.

    The sign of s is noted in `signs`. Raises Rejected if neither side is such a symbol.
    """
    given.effort.spend(5)
    low, high = sides(relation)
    terms, slack = given.terms, ("slack", i)
    if relation.head != "Eq" and high.head == "symbol":
        name, value = high.name, terms.add((low, terms.symbol(slack)))
    elif relation.head != "Eq" and low.head == "symbol" and given.sign_of(low.name) == "positive":
        name, value = low.name, _below(given, high, slack)
    else:
        raise Rejected(f"{where}: relation {i} does not bound a symbol from below, nor a positive one from above")
    signs[slack] = "positive" if relation.head in ("Lt", "Gt") else "nonnegative"
    return {name: value}


def _below(given: Given, high: Node, name: Name) -> Node:
    """Return high/(1 + s): each positive number ≤ `high` has this form for an s ≥ 0, each one < `high` for an s > 0."""
    terms = given.terms
    return terms.mul((high, terms.power(terms.add((terms.one, terms.symbol(name))), -1)))


def over_bounds(given: Given, names: Iterable[str], signs: dict[Name, Sign]) -> dict[Name, Node]:
    """Return each parameter as its lower bound plus a slack."""
    shifted: dict[Name, Node] = {}
    for name in names:
        given.effort.spend(0.3)
        parameter = given.parameters[name]
        bound = parameter.lower
        if bound is not None:
            over = ("over", name)
            signs[over] = "positive" if parameter.minimum is None else "nonnegative"
            shifted[name] = given.terms.add((given.terms.number(bound), given.terms.symbol(over)))
    return shifted


def positive_in_scope(given: Given, polynomial: Node) -> Checked:
    """Return whether a polynomial's coefficients, in slacks of at most one relation, show that it is > 0 in scope."""
    relations = [None, *enumerate((*given.domain, *given.parametric))]
    for used in relations:
        signs: dict[Name, Sign] = {}
        node = polynomial
        if used is not None:
            place, relation = used
            try:
                node = given.terms.substitute(node, with_slack(given, relation, place, signs, "shape"))
            except TooLarge:
                raise
            except Rejected:
                continue
        free = set(given.terms.names(node.free))
        node = given.terms.substitute(node, over_bounds(given, (name for name in given.values if name in free), signs))
        field = Quotients(given.effort, partial(_sign, given, signs), admit_positive, {})
        (value,) = evaluate(given.terms, [node], field)
        if value.numerator and field.one_sign(value.numerator) == 1:
            return Checked(True, used is not None and used[0] >= len(given.domain))
    return Checked(False, hypotheses_used=False)


def _sign(given: Given, signs: Mapping[Name, Sign], name: Name) -> Sign:
    return signs[name] if name in signs else given.sign_of(name)


def positive(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`inequality`, verified for all parameters in scope: in slacks, the margin's coefficients are not negative.

    `relations` lists places in the domain followed by the parametric hypotheses, each at most once. In
    this order each relation replaces a symbol by means of a new slack s: x ≥ low gives x = low + s, and
    else 0 < x ≤ high gives x = high/(1 + s). Then all parameters in `shifts` are replaced at once, each
    by its lower bound plus a slack; the proof states this bound, and it is checked. At all parameters in
    scope each equation holds for a slack ≥ 0, or > 0 if the relation is strict. So a margin that is
    positive for all slacks is positive in scope. Divisors must have one sign in the slacks.
    """
    return _checked(given, _inequality(given, clause, where), proof, where, "positive")


def squares(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`inequality`, verified for all parameters in scope: as `positive`, with factors times squares subtracted first.

    Each square has a `factor` and a `root`, in the statement's own symbols. The factors and the remaining margin must
    have no negative coefficient in the slacks.
    """
    return _checked(given, _inequality(given, clause, where), proof, where, "squares")


def cases(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`inequality`, verified for all parameters in scope: as `squares`, in each case of a tree of cases.

    A slack is named by its relation's place, or by its parameter; a variable of known sign counts as a slack. A tree of
    cases has one of three forms. `slack at times below above` compares the slack x with t, which is the number `at`
    times the slack `times`, if any. If `at` is 0, x = 0 in `below`, and x > 0 in `above`. If `at` is positive, x must
    be positive too: in `below`, x = t/(1 + s) with s > 0; in `above`, x = t + s with s ≥ 0; s takes the name of x.
    `slack relation then` uses a relation with the margin h − c·x, h and c > 0 without x: the positive slack x is
    h/(c (1 + s)) with s ≥ 0, or s > 0 if the relation is strict. `multipliers squares` ends a branch: the margin minus
    the squares, times powers of 1 plus sums of slacks, has no negative coefficient.
    """
    return _checked(given, _inequality(given, clause, where), proof, where, "cases")


def logarithms(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`inequality`, verified for all parameters in scope: as in the other kinds, after each logarithm is bounded.

    In the margin, the factor of log u is a number. If this is positive, log u is bounded by log u ≥ 0, with a
    proof that u ≥ 1; if it is negative, by log u ≤ u − 1, with a proof that u > 0. The margin in which bounds have
    replaced the logarithms has a proof of its own.
    """
    relation, terms = _inequality(given, clause, where), given.terms
    margin, used = terms.minus(*reversed(sides(relation))), False
    for i, data in enumerate(items(proof["logarithms"], f"{where}.logarithms")):
        place = f"{where}.logarithms[{i}]"
        entry = entries(data, place, "of proof")
        argument, name = given.expression(entry["of"], f"{place}.of"), ("logarithm", i)
        margin = _exchanged(given, margin, terms.log(argument), terms.symbol(name))
        factor = terms.slope(margin, name)
        if factor.head != "number" or not factor.number:
            raise Rejected(f"{place}.of: its logarithm does not occur times a number, and so alone")
        rises = factor.number > 0
        bound = ("Ge", (argument, terms.one)) if rises else ("Gt", (argument, terms.zero))
        used |= _shown(given, terms.build(*bound), entry["proof"], place).hypotheses_used
        margin = terms.substitute(margin, {name: terms.zero if rises else terms.minus(argument, terms.one)})
    left = terms.build("Gt" if relation.head in ("Lt", "Gt") else "Ge", (margin, terms.zero))
    return Checked(True, _shown(given, left, proof["left"], where).hypotheses_used or used)


def _exchanged(given: Given, node: Node, old: Node, new: Node) -> Node:
    """Return the node with `new` in place of `old`; a node outside `old` must not bind a symbol."""
    done: dict[Node, Node] = {old: new}
    for part in order(given.effort, [node], lambda n: n is old or n.head in SCOPES):
        if part.args and part is not old:
            if part.head in ("Derivative", *BINDERS, *SCOPES):
                raise Rejected(f"{part.head} occurs outside of the logarithm that is bounded")
            done[part] = given.terms.build(part.head, [done.get(a, a) for a in part.args])
    return done.get(node, node)


_COMMON = "kind shifts relations"
_KEYS = {"positive": _COMMON, "squares": f"{_COMMON} squares", "cases": f"{_COMMON} cases"}


def _shown(given: Given, relation: Node, proof: Data, where: str) -> Checked:
    kind = string(proof.get("kind") if type(proof) is dict else None, f"{where}.kind", list(_KEYS))
    return _checked(given, relation, entries(proof, where, _KEYS[kind]), where, kind)


def _inequality(given: Given, clause: dict[str, Data], where: str) -> Node:
    relation = given.relation(clause["relation"], "clause.relation")
    if relation.head == "Eq":
        raise Rejected(f"{where}: an equation is no inequality")
    return relation


def _checked(given: Given, relation: Node, proof: dict[str, Data], where: str, kind: str) -> Checked:
    given.effort.spend(20 + 0.05 * (len(given.domain) + len(given.parametric)))
    known, signs, steps = [*given.domain, *given.parametric], dict[Name, Sign](), list[Names]()
    names: dict[str | int, Name] = {name: name for name in (*given.values, *given.variables)}
    given.effort.spend(0.2 * len(names))
    used = False
    for i, place in enumerate(items(proof["relations"], f"{where}.relations")):
        number, is_hypothesis = placed(given, known, place, f"{where}.relations[{i}]")
        used |= is_hypothesis
        if number in names:
            raise Rejected(f"{where}.relations: a relation is listed twice")
        steps.append(with_slack(given, known[number], number, signs, f"{where}.relations"))
        names[number] = ("slack", number)
    shifts = entries(proof["shifts"], f"{where}.shifts", "", given.values)
    for name, data in shifts.items():
        parameter = given.parameters[name]
        bound = parameter.lower
        if bound is None or rational(data, f"{where}.shifts.{name}") != bound:
            raise Rejected(f"{where}.shifts.{name}: {shown(data)} is not the parameter's bound")
        names[name] = ("over", name)
    steps.append(over_bounds(given, shifts, signs))
    signs: dict[Name, Sign] = {name: signs.get(name) or given.sign_of(name) for name in names.values()}
    slacks = _Slacks(given, relation, known, names, signs, tuple(steps))
    if kind == "cases":
        return Checked(True, slacks.shown(proof["cases"], f"{where}.cases") or used)
    slacks.shown({"multipliers": [], "squares": proof.get("squares", [])}, where)
    return Checked(True, used)


def placed(given: Given, known: Sequence[Node], place: Data, where: str) -> tuple[int, bool]:
    """Return the place of a relation that holds at all parameters in scope, and whether it is a hypothesis."""
    number = whole(place, where, 0, len(known) - 1)
    is_hypothesis = number >= len(given.domain)
    if is_hypothesis and not given.in_scope:
        raise Rejected(f"{where}: uses a hypothesis, and the instance is out of scope")
    return number, is_hypothesis


@dataclass(frozen=True)
class _Slacks:
    """A relation in slacks: the substitutions for its symbols, in order, and the signs of all slacks in use."""

    given: Given
    relation: Node
    known: Sequence[Node]
    names: Mapping[str | int, Name]
    signs: Mapping[Name, Sign]
    steps: tuple[Names, ...]

    def shown(self, tree: Data, where: str) -> bool:
        """Check a tree of cases that shows the relation; return whether one of them uses a hypothesis.

        Raises Rejected if the relation is not shown.
        """
        if len(self.steps) > _MOST_STEPS:
            raise TooLarge("substitutions one after the other", _MOST_STEPS, where)
        keys = tree if type(tree) is dict else {}
        if "at" in keys:
            return self._told_apart(entries(tree, where, "slack at times below above"), where)
        if "relation" in keys:
            case = entries(tree, where, "slack relation then")
            slacks, is_hypothesis = self._bounded(case, where)
            return slacks.shown(case["then"], f"{where}.then") or is_hypothesis
        self._ends(entries(tree, where, "multipliers squares"), where)
        return False

    def _name(self, data: Data, where: str, *needs: Sign) -> Name:
        """Return the name of a slack that has one of the signs `needs`."""
        name = self.names.get(data) if type(data) is str or type(data) is int else None
        if name is None or self.signs.get(name) not in needs:
            raise Rejected(f"{where}: {shown(data)} is no slack that is {' or '.join(needs)} here")
        return name

    def _with(self, name: Name, value: Node, *, signs: dict[Name, Sign]) -> "_Slacks":
        self.given.effort.spend(1 + 0.02 * len(self.signs))
        changed: dict[Name, Sign] = {**self.signs, **signs}
        return _Slacks(self.given, self.relation, self.known, self.names, changed, (*self.steps, {name: value}))

    def _told_apart(self, tree: dict[str, Data], where: str) -> bool:
        terms, factor = self.given.terms, rational(tree["at"], f"{where}.at")
        name = self._name(tree["slack"], f"{where}.slack", *(("positive",) if factor else _SIGNED))
        other = None if tree["times"] is None else self._name(tree["times"], f"{where}.times", *_SIGNED)
        if factor < 0 or (not factor and other is not None) or other == name:
            raise Rejected(f"{where}: a slack is told apart from a number or a multiple of another, not negative")
        if not factor:
            below = self._with(name, terms.zero, signs={name: ""})
            above = self._with(name, terms.symbol(name), signs={name: "positive"})
        else:
            top = terms.number(factor)
            top = top if other is None else terms.mul((top, terms.symbol(other)))
            # In `below`, x > 0 is less than a multiple of `other`, which therefore is positive.
            grown: dict[Name, Sign] = {} if other is None else {other: "positive"}
            below = self._with(name, _below(self.given, top, name), signs=grown)
            above = self._with(name, terms.add((top, terms.symbol(name))), signs={name: "nonnegative"})
        used = below.shown(tree["below"], f"{where}.below")
        return above.shown(tree["above"], f"{where}.above") or used

    def _bounded(self, tree: dict[str, Data], where: str) -> tuple["_Slacks", bool]:
        terms, name = self.given.terms, self._name(tree["slack"], f"{where}.slack", "positive")
        number, is_hypothesis = placed(self.given, self.known, tree["relation"], f"{where}.relation")
        relation = self.known[number]
        margin = self._in_slacks(terms.minus(*reversed(sides(relation))))
        slope = terms.slope(margin, name)
        field, (falls, curved) = self._values([slope, terms.slope(slope, name)])
        down = {key: -c for key, c in falls.numerator.items()}
        if relation.head == "Eq" or curved.numerator or not field.is_signed() or field.one_sign(down) != 1:
            raise Rejected(f"{where}.relation: does not bound the slack from above")
        # h/c; neither contains the slack.
        over = [terms.substitute(node, {name: terms.zero}) for node in (margin, terms.negative(slope))]
        value = _below(self.given, terms.mul((over[0], terms.power(over[1], -1))), name)
        sign: Sign = "positive" if relation.head in ("Lt", "Gt") else "nonnegative"
        return self._with(name, value, signs={name: sign}), is_hypothesis

    def _in_slacks(self, node: Node) -> Node:
        for step in self.steps:
            node = self.given.terms.substitute(node, step)
        return node

    def _values(self, nodes: Sequence[Node]) -> tuple[Quotients, list[Quotient]]:
        """Return nodes in slacks as quotients whose divisors are positive."""

        def valued(units: dict[Exponent, Fraction]) -> tuple[Quotients, list[Quotient]]:
            field = Quotients(self.given.effort, partial(_sign, self.given, self.signs), admit_positive, units)
            return field, evaluate(self.given.terms, nodes, field)

        return with_units(valued)

    def _ends(self, leaf: dict[str, Data], where: str) -> None:
        terms, (low, high) = self.given.terms, sides(self.relation)
        nodes, factors = [low, high], list[Node]()
        for i, data in enumerate(items(leaf["squares"], f"{where}.squares")):
            entry = entries(data, f"{where}.squares[{i}]", "factor root")
            nodes += [self.given.expression(entry[key], f"{where}.squares[{i}].{key}") for key in ("factor", "root")]
        nodes = [self._in_slacks(node) for node in nodes]
        for i, data in enumerate(items(leaf["multipliers"], f"{where}.multipliers")):
            place = f"{where}.multipliers[{i}]"
            entry = entries(data, place, "over power")
            over = [self._name(slack, f"{place}.over", *_SIGNED) for slack in items(entry["over"], f"{place}.over")]
            power = whole(entry["power"], f"{place}.power", 1, _MOST_POWER)
            factors.append(terms.power(terms.add((terms.one, *map(terms.symbol, over))), power))
        field, values = self._values([*nodes, *factors])
        left = field.plus(values[1], field.times(field.number(Fraction(-1)), values[0]))
        for factor, root in zip(values[2 : len(nodes) : 2], values[3 : len(nodes) : 2], strict=True):
            square = field.times(factor, field.times(root, root))
            left = field.plus(left, field.times(field.number(Fraction(-1)), square))
        taken_off = [value.numerator for value in values[2 : len(nodes) : 2]]
        # Only the numerator is used: the divisor is positive, and might cancel with a multiplier.
        left = Quotient(left.numerator, 1, ())
        for factor in values[len(nodes) :]:
            left = field.times(left, factor)
        if not (field.is_signed() and self._is_shown(field, left.numerator, taken_off)):
            raise Rejected(f"{where}: the margin's coefficients are not all positive in the slacks")

    def _is_shown(self, field: Quotients, left: Polynomial, taken_off: Sequence[Polynomial]) -> bool:
        if any(c < 0 for factor in (left, *taken_off) for c in factor.values()):
            return False
        return self.relation.head not in ("Lt", "Gt") or (bool(left) and field.one_sign(left) == 1)
