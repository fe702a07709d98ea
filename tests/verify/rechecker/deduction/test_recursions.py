"""Invariants of recursions: accepted if they are shown together, refused after one change."""

import pytest
import sympy as sp

from tests.verify.rechecker.certificates import certificate, changed, recheck
from verify import Hypothesis, Inequality, Parameter, Statement
from verify.language.expressions import to_data
from verify.language.heads.scopes import Iterate
from verify.rechecker import Rejected

a, b, u, v, x, y = sp.symbols("a b u v x y", real=True)
n, t = sp.Symbol("n", integer=True, positive=True), sp.Symbol("t", integer=True, nonnegative=True)
c = sp.Symbol("c", integer=True)
PARAMETERS = (
    Parameter("a", "rational", "a"),
    Parameter("b", "rational", "b"),
    Parameter("n", "integer", "n", minimum=1),
    Parameter("t", "integer", "t", minimum=0),
)
INSTANCE = {"a": "1", "b": "1", "n": "1", "t": "2"}
TREE = "clauses.0.proof.tree"


def states(steps, start, count=t):
    """Return the states of a recursion; `steps` are the new x, or the new x and y."""
    bound = sp.Tuple(c, *(x, y)[: len(start)])
    parts = bound, sp.Tuple(*map(sp.sympify, start)), sp.Tuple(*map(sp.sympify, steps))
    return [Iterate(sp.Integer(i), count, *parts) for i in range(len(start))]


def ge(larger, smaller=0):
    return sp.Ge(larger, smaller, evaluate=False)


def gt(larger, smaller=0):
    return sp.Gt(larger, smaller, evaluate=False)


def eq(left, right):
    return sp.Eq(left, right, evaluate=False)


def data(expression):
    return to_data(sp.sympify(expression), written=False)


def total(*terms, times=1):
    """Return the rule `sum`; each term is a factor and the places of the facts that it multiplies."""
    return {"rule": "sum", "times": data(times), "terms": [[data(f), list(facts), None] for f, facts in terms]}


NOTHING = total()


def shown(of, relations, first, step, then, names=("u",)):
    listed = [data(each) for each in relations]
    return {"rule": "invariants", "of": data(of), "as": list(names), "relations": listed} | {
        "first": first,
        "step": step,
        "then": then,
    }


def deduced(relation, tree, *hypotheses):
    """Return a certificate of a relation by a tree, in which all hypotheses are facts."""
    given = tuple(Hypothesis(f"h{i}", each) for i, each in enumerate(hypotheses))
    statement = Statement(PARAMETERS, (Inequality("c", relation),), hypotheses=given)
    proof = {"kind": "deduction", "relations": list(range(len(hypotheses))), "tree": tree}
    return certificate(statement, INSTANCE, ("verified", "proved", proof))


INVERTED = states([1 / x], [a])[0]
"""A recursion with a value only where a is not 0."""


def by_positivity(then=None, claim=None):
    # If u is positive, so is 1/u.
    then = then or total((1, [1]))
    tree = shown(INVERTED, [gt(u)], [total((1, [0]))], [total((1, []), times=u)], then)
    return deduced(gt(INVERTED) if claim is None else claim, tree, gt(a))


def by_several():
    # If u and v are >= 0, so are u + v and u, and (u + v) - u = v.
    first, second = states([x + y, x], [1, 1])
    relations = [ge(u), ge(v), ge(u, v)]
    step = [total((1, [0]), (1, [1])), total((1, [0])), total((1, [1]))]
    tree = shown(first, relations, [total((1, [])), total((1, [])), NOTHING], step, total((1, [2])), ("u", "v"))
    return deduced(ge(first, second), tree)


def by_closed_form():
    # (t + 2) u/(1 + u) - 1 is ((t + 1) u - 1)/(1 + u).
    (state,) = states([x / (1 + x)], [1])
    relations, first = [gt(u), eq(1, u * (t + 1))], [total((1, [])), NOTHING]
    step = [total((1, [0]), times=1 + u), total((1, [1]), times=1 + u)]
    return deduced(eq(state * (t + 1), 1), shown(state, relations, first, step, total((-1, [1]))))


ACCEPTED = {made.__name__: made for made in (by_positivity, by_several, by_closed_form)}


@pytest.mark.parametrize("name", ACCEPTED)
def test_relations_are_shown_together(name):
    assert recheck(ACCEPTED[name]()).clauses[0][1:] == ("verified", "proved", "deduction", ())


_CLAIM = "statement.claims.0.relation"
NOT_THE_SUM = "the sum is not what is to be shown"
REFUSED = [
    ("by_positivity", f"{TREE}.relations.0.0", "Ge", "the sign of a divisor"),
    ("by_positivity", f"{TREE}.relations.0", data(gt(u, -1)), "the sign of a divisor"),
    ("by_several", f"{TREE}.relations.0", data(ge(u, 1)), NOT_THE_SUM),
    ("by_positivity", f"{TREE}.relations", [], "has 1 entries, not 0|the sign of a divisor"),
    ("by_positivity", f"{TREE}.first.0", NOTHING, NOT_THE_SUM),
    ("by_positivity", f"{TREE}.first", [], "has 0 entries, not 1"),
    ("by_positivity", f"{TREE}.step", [], "has 0 entries, not 1"),
    ("by_positivity", f"{TREE}.step.0.terms.0.1", [2], "not an integer from 0 to 1"),
    ("by_positivity", f"{TREE}.as", ["a"], "no symbol that is new"),
    ("by_positivity", f"{TREE}.as", ["u", "v"], "has 2 entries, not 1"),
    ("by_positivity", f"{TREE}.of", data(a), "is no recursion"),
    ("by_positivity", f"{TREE}.of", data(states([1 / x], [a], t + 1)[0]), "not counted by a parameter"),
    ("by_positivity", f"{TREE}.of", data(states([1 / x], [a], n)[0]), "not counted by a parameter"),
    ("by_positivity", f"{TREE}.of", data(states([1 / x], [a + t])[0]), "itself depends on"),
    ("by_positivity", f"{TREE}.of", data(states([t / x], [a])[0]), "itself depends on"),
    ("by_positivity", f"{TREE}.of", data(states([2 / x], [a])[0]), NOT_THE_SUM),
    ("by_positivity", f"{TREE}.of", data(states([1 / x], [b])[0]), NOT_THE_SUM),
    ("by_positivity", "statement.hypotheses.0.relation.0", "Ge", "do not show the sign"),
    ("by_several", f"{TREE}.as", ["u", "u"], "a name is taken"),
    ("by_several", f"{TREE}.step.2.terms.0.1", [0], NOT_THE_SUM),
    ("by_several", f"{TREE}.relations.2.0", "Gt", "do not show the sign"),
    ("by_several", f"{TREE}.then.terms.0.1", [1], NOT_THE_SUM),
    ("by_several", f"{_CLAIM}.0", "Gt", "do not show the sign"),
    ("by_closed_form", f"{TREE}.relations.1.0", "Ge", "is not shown to be at least 0"),
    ("by_closed_form", f"{TREE}.relations.1", data(eq(1, u * (t + 2))), NOT_THE_SUM),
]


@pytest.mark.parametrize(("name", "path", "value", "why"), REFUSED)
def test_relations_with_one_thing_changed_are_refused(name, path, value, why):
    with pytest.raises(Rejected, match=why):
        recheck(changed(ACCEPTED[name](), path, value))


def test_facts_about_the_count_are_not_known_in_the_step():
    (state,) = states([x + 1], [0])
    tree = shown(state, [ge(3, u)], [total((3, []))], [total((1, [0]))], total((1, [1])))
    with pytest.raises(Rejected, match="fact 0 does not hold here"):
        recheck(deduced(ge(3, state), tree, ge(3, t)))


def test_a_value_that_is_shown_is_known_in_cases_and_not_for_another_start():
    cases = {"rule": "cases", "of": data(b), "above": total((1, [1])), "at": None, "below": total((1, [1]))}
    assert recheck(by_positivity(cases)).clauses[0][2] == "proved"
    other = states([1 / x], [b])[0]
    with pytest.raises(Rejected, match="the sign of a divisor"):
        recheck(by_positivity(NOTHING, eq(other, other)))


def test_a_value_that_is_shown_of_a_symbol_is_not_shown_where_a_sum_binds_it():
    inside = sp.Sum(INVERTED, (a, 0, n))
    forged = changed(by_positivity(NOTHING, eq(INVERTED, INVERTED)), _CLAIM, data(eq(inside, inside)))
    with pytest.raises(Rejected, match="'a' is bound there, and introduced by the statement"):
        recheck(forged)


def test_a_value_that_rests_on_an_integer_is_forgotten_in_an_induction():
    (state,) = states([1 / x], [n])
    then = {"rule": "induction", "in": "n", "first": NOTHING, "step": NOTHING}
    tree = shown(state, [gt(u)], [total((1, [0]), (1, []))], [total((1, []), times=u)], then)
    certified = changed(deduced(eq(state, state), tree), "clauses.0.proof.relations", ["n"])
    assert recheck(changed(certified, f"{TREE}.then", NOTHING)).clauses[0][2] == "proved"
    with pytest.raises(Rejected, match="the sign of a divisor"):
        recheck(certified)
