"""Inductions between two ends: accepted, or refused if the integer is not shown to be between the ends."""

import pytest
import sympy as sp

from tests.verify.rechecker.certificates import certificate, changed, recheck
from tests.verify.rechecker.deduction.test_functions import NOTHING, data, total
from verify import Hypothesis, Inequality, Parameter, Statement
from verify.rechecker import Rejected

k, n = sp.symbols("k n", integer=True, positive=True)
j = sp.Symbol("j", integer=True)
PARAMETERS = (Parameter("k", "integer", "k", minimum=1), Parameter("n", "integer", "n", minimum=1))
TREE = "clauses.0.proof.tree"


def ge(larger, smaller=0):
    return sp.Ge(larger, smaller, evaluate=False)


def between(name, first, step, *, start=None, end=None):
    ends = {"from": None if start is None else data(start), "to": None if end is None else data(end)}
    return {"rule": "range", "in": name, **ends, "first": first, "step": step}


def deduced(relation, tree):
    """Return a certificate of a relation for k <= n; facts 0 and 1 are n - 1 and n - k."""
    statement = Statement(PARAMETERS, (Inequality("c", relation),), hypotheses=(Hypothesis("h", ge(n, k)),))
    proof = {"kind": "deduction", "relations": ["n", 0], "tree": tree}
    return certificate(statement, {"k": "2", "n": "3"}, ("verified", "proved", proof))


def from_a_start():
    # (n + 1)! - k! = n! - k! + n n!
    step = total((1, [3]), (n * sp.factorial(n), []))
    return deduced(ge(sp.factorial(n), sp.factorial(k)), between("n", NOTHING, step, start=k))


def to_an_end():
    # n (1 - (k + 1)/n) is n - k - 1.
    product = sp.Product(1 - j / n, (j, 1, k))
    return deduced(ge(product), between("k", total((1, [0]), times=n), total((1, [3, 5]), times=n), end=n))


ACCEPTED = {made.__name__: made for made in (from_a_start, to_an_end)}


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_induction_has_ends(name):
    assert recheck(ACCEPTED[name]()).clauses[0][1:] == ("verified", "proved", "deduction", ())


NOT_THE_SUM, NOT_BEYOND = "the sum is not what is to be shown", "a base is not shown to be >= 0"
REFUSED = [
    ("from_a_start", "clauses.0.proof.relations", ["n"], NOT_BEYOND),
    ("from_a_start", f"{TREE}.from", data(k + 1), NOT_BEYOND),
    ("from_a_start", f"{TREE}.from", data(n), "depends on"),
    ("from_a_start", f"{TREE}.from", data(k - 1), NOT_BEYOND),
    ("from_a_start", f"{TREE}.from", data(k / 2), "not shown to be an integer|" + NOT_BEYOND),
    ("from_a_start", f"{TREE}.from", data(0), NOT_BEYOND),
    ("from_a_start", f"{TREE}.from", None, NOT_THE_SUM),
    ("from_a_start", f"{TREE}.step.terms.0.1", [1], "fact 1 does not hold here"),
    ("from_a_start", f"{TREE}.step.terms.1.0", data(-n), "not shown to be at least 0"),
    ("from_a_start", f"{TREE}.to", data(k), NOT_BEYOND),
    ("to_an_end", "clauses.0.proof.relations", ["n"], NOT_BEYOND),
    ("to_an_end", f"{TREE}.to", data(n - 1), NOT_BEYOND),
    ("to_an_end", f"{TREE}.to", data(k), "depends on"),
    ("to_an_end", f"{TREE}.to", data(n + 1), NOT_THE_SUM),
    ("to_an_end", f"{TREE}.to", None, "not an integer from 0 to 3"),
    ("to_an_end", f"{TREE}.in", "j", "in"),
    ("to_an_end", "statement.claims.0.relation.0", "Gt", "do not show the sign"),
]


@pytest.mark.parametrize(("name", "path", "value", "why"), REFUSED)
def test_an_induction_with_one_thing_changed_is_refused(name, path, value, why):
    with pytest.raises(Rejected, match=why):
        recheck(changed(ACCEPTED[name](), path, value))
