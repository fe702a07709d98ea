"""Inequalities for all parameters, deduced from facts: hypotheses, bounds of the domain, and facts that rules add.

Values are in the field of `atoms`, in which reading an expression shows that it has a value. So a goal that is shown
has a value wherever the facts hold.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from flint import ctx

from ..deduction.atoms import Atoms, least
from ..deduction.boxes import Box
from ..deduction.facts import KNOWN, Goal, Relation, Scope
from ..deduction.integers import is_integer
from ..deduction.recursions import Recursion
from ..deduction.telescoping import telescope
from ..fields import Balls, evaluate
from ..given import Given, sides, with_units
from ..nodes import Node
from ..polynomials import Exponent
from ..reading import Data, Rejected, TooLarge, entries, items, shown, string, whole
from ..registry import Checked
from .positivity import placed
from .runs import BITS

_SIGNS: Mapping[str, Relation] = {"Lt": "Gt", "Gt": "Gt", "Le": "Ge", "Ge": "Ge", "Eq": "Eq"}


def _show(scope: Scope, goal: Goal, tree: Data, where: str) -> None:
    """Check that a proof shows a goal. Raises Rejected if it does not."""
    scope.given.effort.spend(20)
    name = string(tree.get("rule") if type(tree) is dict else None, f"{where}.rule", list(RULES))
    keys, rule = RULES[name]
    if goal.relation == "Eq" and name in _OF_INEQUALITIES:
        raise Rejected(f"{where}: does not show an equation")
    rule(scope, goal, entries(tree, where, f"rule {keys}"), where)


def _by_sum(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """A positive multiple of the goal is Σ λ · Π facts · root², and λ ≥ 0 if no factor is an equation."""
    field, strict, equal = scope.field, False, True
    times = scope.value(scope.read(tree["times"], f"{where}.times"))
    if not field.is_positive(times):
        raise Rejected(f"{where}.times: is not shown to be positive")
    left = field.times(times, scope.value(goal.node))
    for i, data in enumerate(items(tree["terms"], f"{where}.terms")):
        place = f"{where}.terms[{i}]"
        factor, used, root = items(data, place, 3)
        product = scale = scope.value(scope.read(factor, f"{place}[0]"))
        facts = [scope.fact(number, f"{place}[1]") for number in items(used, f"{place}[1]")]
        for fact in facts:
            product = field.times(product, fact.value)
        if root is not None:
            square = scope.value(scope.read(root, f"{place}[2]"))
            product = field.times(product, field.times(square, square))
        relations = {fact.relation for fact in facts}
        if "Eq" not in relations:
            if not field.is_nonnegative(scale):
                raise Rejected(f"{place}[0]: is not shown to be at least 0")
            strict |= root is None and relations <= {"Gt"} and field.is_positive(scale)
            equal = False
        left = field.minus(left, product)
    if left.numerator:
        raise Rejected(f"{where}: the sum is not what is to be shown")
    if (goal.relation == "Gt" and not strict) or (goal.relation == "Eq" and not equal):
        raise Rejected(f"{where}: the terms of the sum do not show the sign")


def _by_lemma(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """Another relation, with a proof, becomes a fact."""
    lemma = goal_of(scope.given, scope.given.relation(tree["relation"], f"{where}.relation", scope.bound))
    _show(scope, lemma, tree["proof"], f"{where}.proof")
    _show(scope.with_fact(*lemma), goal, tree["then"], f"{where}.then")


def _by_known(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """An instance of a known fact about functions, such as exp(u) ≥ 1 + u, is a fact."""
    count, relation, fact = KNOWN[string(tree["name"], f"{where}.name", list(KNOWN))]
    of = [scope.read(data, f"{where}.of[{i}]") for i, data in enumerate(items(tree["of"], f"{where}.of", count))]
    inner = replace(scope, field=scope.field.copied())
    value = fact(inner.field, *map(inner.value, of))
    _show(inner.with_fact(None, relation, value), goal, tree["then"], f"{where}.then")


def _by_replacing(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """A fact says that a symbol x equals an expression without x, which replaces x in the goal and in the facts."""
    terms, symbol = scope.given.terms, scope.read(tree["in"], f"{where}.in")
    value, fact = scope.read(tree["by"], f"{where}.by"), scope.fact(tree["fact"], f"{where}.fact")
    if symbol.head != "symbol" or value.free & symbol.free or fact.relation != "Eq":
        raise Rejected(f"{where}: is no equation for a symbol")
    if scope.bound:
        # A goal that is rewritten at some points of a segment is not known to be continuous on it.
        raise Rejected(f"{where}: `replace` is not allowed on a segment")
    difference, minus = scope.value(terms.minus(symbol, value)), scope.field.number(Fraction(-1))
    if fact.value not in (difference, scope.field.times(minus, difference)):
        raise Rejected(f"{where}.by: the fact is not this equation")
    values = {symbol.name: value}
    after = goal._replace(node=terms.substitute(goal.node, values))
    _show(scope.without(symbol.free, values), after, tree["then"], f"{where}.then")


def _by_cases(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """The cases are e > 0, e = 0 and e < 0, or e ≥ 0 and e < 0, for an expression e; each reads the facts again."""
    node = scope.read(tree["of"], f"{where}.of")
    above: Relation = "Ge" if tree["at"] is None else "Gt"
    cases: list[tuple[str, Node, Relation]] = [("above", node, above), ("at", node, "Eq")]
    cases.append(("below", scope.given.terms.negative(node), "Gt"))
    for key, of, sign in cases:
        if key != "at" or tree[key] is not None:
            _show(scope.with_fact(of, sign).without(0), goal, tree[key], f"{where}.{key}")


def _by_value(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """The goal is a number, and a ball shows that it is positive."""
    bits = whole(tree["bits"], f"{where}.bits", *BITS)
    with ctx.workprec(bits):
        if not evaluate(scope.given.terms, [goal.node], Balls(scope.given.effort, bits))[0] > 0:
            raise Rejected(f"{where}: the number is not shown to be positive")


def _by_box(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """A ball shows that the goal is positive on each part of a box: each symbol is between two numbers from facts.

    The lower number may also be 0, by the symbol's assumptions. An integer is treated like a real number between its
    ends.
    """
    Box(scope, goal.node, whole(tree["bits"], f"{where}.bits", *BITS)).refuse_negative(
        {}, tree["cuts"], f"{where}.cuts"
    )


def _by_contradiction(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """The facts and the negated goal show 0 > 0; for an equation, or a goal without known value, the facts alone do."""
    supposed = scope
    if goal.relation != "Eq":
        fails: Relation = "Ge" if goal.relation == "Gt" else "Gt"
        try:
            supposed = scope.with_fact(scope.given.terms.negative(goal.node), fails)
        except TooLarge:
            raise
        except Rejected:
            supposed = replace(scope, facts=(*scope.facts, None))
    _show(supposed, Goal(scope.given.terms.zero, "Gt"), tree["then"], f"{where}.then")


def _by_both(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """An equation e = 0 follows from e ≥ 0 and −e ≥ 0."""
    if goal.relation != "Eq":
        raise Rejected(f"{where}: this rule shows only equations")
    _show(scope, Goal(goal.node, "Ge"), tree["above"], f"{where}.above")
    _show(scope, Goal(scope.given.terms.negative(goal.node), "Ge"), tree["below"], f"{where}.below")


def _by_whole(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """An integer is ≥ 0 if it is > −1."""
    if goal.relation != "Ge" or not is_integer(scope.field, scope.value(goal.node)):
        raise Rejected(f"{where}: this rule shows only that an integer is >= 0")
    terms = scope.given.terms
    _show(scope, Goal(terms.add((goal.node, terms.one)), "Gt"), tree["then"], f"{where}.then")


def _by_slope(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """The goal holds at the start of a segment, and its slope towards the end is ≥ 0, so it holds at the end.

    The segment goes from an expression without the symbol `in` to that symbol. A strict goal holds strictly at the
    start, or the slope is > 0 and the ends differ. For an equation, the slope is 0.
    """
    terms, end, start = scope.given.terms, _symbol(scope, tree, where), scope.read(tree["from"], f"{where}.from")
    if start.free & end.free:
        raise Rejected(f"{where}.from: the start depends on {shown(end.name)}")
    rises = string(tree["side"], f"{where}.side", ("above", "below")) == "above"
    by_slope = string(tree["strict"], f"{where}.strict", ("start", "slope")) == "slope" and goal.relation == "Gt"
    length = scope.value(terms.minus(*((end, start) if rises else (start, end))))
    if not (scope.field.is_positive(length) if by_slope else scope.field.is_nonnegative(length)):
        raise Rejected(f"{where}.side: {shown(end.name)} is not shown to be on that side of the start")
    slope, inside = _inside(scope, goal, tree, where, start, end, rises=rises)
    relation: Relation = "Gt" if by_slope else "Eq" if goal.relation == "Eq" else "Ge"
    away = Goal(slope if rises else terms.negative(slope), relation)
    _show(inside, away, tree["slope"], f"{where}.slope")
    at_start = Goal(terms.substitute(goal.node, {end.name: start}), "Ge" if by_slope else goal.relation)
    _show(scope, at_start, tree["start"], f"{where}.start")


def _by_concavity(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """The goal holds at both ends of a segment that contains the symbol `in`, and is concave between the ends."""
    terms, symbol = scope.given.terms, _symbol(scope, tree, where)
    low, high = (scope.read(tree[key], f"{where}.{key}") for key in ("from", "to"))
    if (low.free | high.free) & symbol.free:
        raise Rejected(f"{where}: the ends depend on {shown(symbol.name)}")
    scope.field.refuse_negative(scope.value(terms.minus(symbol, low)), scope.value(terms.minus(high, symbol)))
    slope, inside = _inside(scope, goal, tree, where, low, high)
    falls = terms.negative(terms.slope(slope, str(tree["as"])))
    _show(inside, Goal(terms.add((falls, terms.mul((terms.zero, slope)))), "Ge"), tree["curve"], f"{where}.curve")
    for key, place in (("start", low), ("end", high)):
        at_end = goal._replace(node=terms.substitute(goal.node, {symbol.name: place}))
        _show(scope, at_end, tree[key], f"{where}.{key}")


def _symbol(scope: Scope, tree: dict[str, Data], where: str) -> Node:
    """Return the symbol that varies on a segment."""
    name = string(tree["in"], f"{where}.in")
    if not any(name in names for names in (scope.given.values, scope.given.variables, scope.bound)):
        raise Rejected(f"{where}.in: {shown(name)} is no symbol here")
    return scope.given.terms.symbol(name)


def _inside(
    scope: Scope, goal: Goal, tree: dict[str, Data], where: str, start: Node, end: Node, *, rises: bool = True
) -> tuple[Node, Scope]:
    """Return a goal's slope at a new point of a segment, and the scope in which this point is inside.

    0 times the goal is shown to be 0 on the closed segment, so the goal has a value there. The goal is continuous,
    because `Terms.slope` refuses functions that are not, such as floors. It is differentiable where its slope has a
    value.
    """
    terms, new = scope.given.terms, scope.given.new_name(["Symbol", tree["as"], "real"], f"{where}.as")
    if new in scope.bound:
        raise Rejected(f"{where}.as: {shown(new)} is taken")
    point, inner = terms.symbol(new), replace(scope, bound=(*scope.bound, new))
    along = terms.substitute(goal.node, {str(tree["in"]): point})
    steps = [terms.minus(*(pair if rises else pair[::-1])) for pair in ((point, start), (end, point))]
    closed, inside = (inner.with_fact(steps[0], sign).with_fact(steps[1], sign) for sign in ("Ge", "Gt"))
    _show(closed, Goal(terms.mul((terms.zero, along)), "Eq"), tree["value"], f"{where}.value")
    return terms.slope(along, new), inside


def _by_induction(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """The goal holds at the first value of an integer n, and at n + 1 if it holds at n.

    In the step, the facts about n are only the ends of its range, and the goal at n.

    The first value is the least one of the domain, or `from`, an integer that is not smaller; `from` ≤ n ≤ `to`.
    """
    terms, name = scope.given.terms, string(tree["in"], f"{where}.in", sorted(map(str, scope.given.integers)))
    first = least(scope.given.parameters.get(name))
    if first is None:
        raise Rejected(f"{where}.in: {shown(name)} is no parameter that is bounded from below")
    n, start = terms.symbol(name), terms.number(first)
    facts: list[Goal] = []
    if tree.get("from") is not None:
        start = _end(scope, n, tree["from"], f"{where}.from", 1)
        scope.field.apart(scope.value(start))
        above = scope.value(terms.minus(start, terms.number(first)))
        if not scope.field.is_whole(above):
            scope.field.refuse_negative(above)
    if tree.get("to") is not None:
        below = terms.minus(_end(scope, n, tree["to"], f"{where}.to", -1), n)
        facts = [Goal(terms.minus(below, terms.one), "Ge"), Goal(below, "Gt")]
    others = scope.without(n.free)
    at_start = goal._replace(node=terms.substitute(goal.node, {name: start}))
    _show(others, at_start, tree["first"], f"{where}.first")
    step = others.with_fact(terms.minus(n, start), "Ge")
    for fact in (*facts, goal):
        step = step.with_fact(*fact)
    after = goal._replace(node=terms.substitute(goal.node, {name: terms.add((n, terms.one))}))
    _show(step, after, tree["step"], f"{where}.step")


def _end(scope: Scope, n: Node, data: Data, where: str, side: int) -> Node:
    """Return an end of the range of an integer n. Raises Rejected if n may be beyond this end."""
    end = scope.read(data, where)
    if end.free & n.free:
        raise Rejected(f"{where}: depends on {shown(n.name)}")
    pair = (n, end) if side > 0 else (end, n)
    scope.field.refuse_negative(scope.value(scope.given.terms.minus(*pair)))
    return end


def _by_invariants(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """Relations of a recursion's states become facts if true at the start, and after n + 1 steps if true after n."""
    recursion = Recursion.read(scope, tree, where)
    bound, listed = (*scope.bound, *recursion.names), enumerate(items(tree["relations"], f"{where}.relations"))
    relations = [goal_of(scope.given, scope.given.relation(r, f"{where}.relations[{i}]", bound)) for i, r in listed]
    others = scope.without(recursion.count.free)
    inside, after = recursion.step(others, relations)
    for key, inner, goals in (("first", others, [*map(recursion.first, relations)]), ("step", inside, after)):
        for i, proof in enumerate(items(tree[key], f"{where}.{key}", len(goals))):
            _show(inner, goals[i], proof, f"{where}.{key}[{i}]")
    _show(recursion.known(scope, relations), goal, tree["then"], f"{where}.then")


def _by_telescoping(scope: Scope, goal: Goal, tree: dict[str, Data], where: str) -> None:
    """An equation of sums whose terms are differences G(k + 1) − G(k) becomes a fact."""
    inner, step, fact = telescope(scope, tree, where)
    _show(inner, step, tree["step"], f"{where}.step")
    _show(scope.with_fact(fact, "Eq"), goal, tree["then"], f"{where}.then")


RULES: Mapping[str, tuple[str, Callable[[Scope, Goal, dict[str, Data], str], None]]] = {
    "sum": ("times terms", _by_sum),
    "lemma": ("relation proof then", _by_lemma),
    "known": ("name of then", _by_known),
    "replace": ("in by fact then", _by_replacing),
    "cases": ("of above at below", _by_cases),
    "contradiction": ("then", _by_contradiction),
    "number": ("bits", _by_value),
    "box": ("bits cuts", _by_box),
    "both": ("above below", _by_both),
    "whole": ("then", _by_whole),
    "slope": ("in as from side strict value start slope", _by_slope),
    "concave": ("in as from to value curve start end", _by_concavity),
    "induction": ("in first step", _by_induction),
    "range": ("in from to first step", _by_induction),
    "invariants": ("of as relations first step then", _by_invariants),
    "telescope": ("in from to of sums step then", _by_telescoping),
}
_OF_INEQUALITIES = ("number", "box", "concave", "whole")
"""The rules that show no equation."""


def deduction(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`inequality` or `implication`, verified for all parameters in scope: a tree of rules shows the claim from facts.

    The entries of `relations` give the first facts. An entry is a number or a parameter's name. A number is a place in
    one list: the domain, then the parametric hypotheses, then the conditions of an implication. A name stands for the
    bound in the parameter's domain. Rules add further facts, with the next numbers.
    """
    conditions, conclusion = supposed(given, clause)
    first, used = first_facts(given, proof["relations"], f"{where}.relations", conditions)
    goal = goal_of(given, conclusion)
    shows(given, first, goal, proof["tree"], f"{where}.tree")
    return Checked(True, used)


def supposed(given: Given, clause: dict[str, Data]) -> tuple[list[Node], Node]:
    """Return the conditions of an implication (none for an inequality), and the claimed relation."""
    if clause["kind"] == "inequality":
        return [], given.relation(clause["relation"], "clause.relation")
    listed = enumerate(items(clause["conditions"], "clause.conditions"))
    conditions = [given.relation(each, f"clause.conditions[{i}]") for i, each in listed]
    return conditions, given.relation(clause["conclusion"], "clause.conclusion")


def first_facts(given: Given, relations: Data, where: str, conditions: Sequence[Node] = ()) -> tuple[list[Goal], bool]:
    """Return the facts that a proof lists, as `deduction` says, and whether a hypothesis is among them."""
    known, used, first = [*given.domain, *given.parametric], False, list[Goal]()
    everywhere = len(known)
    for i, place in enumerate(items(relations, where)):
        if type(place) is str:
            first.append(_bound(given, place, f"{where}[{i}]"))
            continue
        if conditions and type(place) is int and place >= everywhere:
            number = whole(place, f"{where}[{i}]", everywhere, everywhere + len(conditions) - 1)
            first.append(goal_of(given, conditions[number - everywhere]))
            continue
        number, is_hypothesis = placed(given, known, place, f"{where}[{i}]")
        used |= is_hypothesis
        first.append(goal_of(given, known[number]))
    return first, used


def shows(
    given: Given,
    first: Iterable[Goal],
    goal: Goal,
    tree: Data,
    where: str,
    *,
    bound: tuple[str, ...] = (),
) -> None:
    """Check that a proof shows a goal from some facts; each fact must have a value where the facts before it hold.

    `bound` are names of arbitrary real numbers. Raises Rejected if the goal is not shown.
    """
    facts = list(first)

    def deduced(units: dict[Exponent, Fraction]) -> None:
        scope = Scope(given, Atoms(given, units), bound=bound)
        for fact in facts:
            scope = scope.with_fact(*fact)
        _show(scope, goal, tree, where)

    with_units(deduced)


def goal_of(given: Given, relation: Node) -> Goal:
    """Return a relation as the sign of the difference of its sides."""
    return Goal(given.terms.minus(*reversed(sides(relation))), _SIGNS[relation.head])


def _bound(given: Given, name: str, where: str) -> Goal:
    """Return the goal that a parameter minus its bound is ≥ 0, or > 0."""
    parameter = given.parameters.get(name)
    bound = None if parameter is None else parameter.lower
    if parameter is None or bound is None or name not in given.values:
        raise Rejected(f"{where}: {shown(name)} is no parameter with a bound")
    difference = given.terms.minus(given.terms.symbol(name), given.terms.number(bound))
    return Goal(difference, "Gt" if parameter.minimum is None else "Ge")
