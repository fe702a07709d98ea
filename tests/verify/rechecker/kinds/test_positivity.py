"""Proofs by cases and by logarithms: accepted, or rejected if a case or a logarithm is missing or proves nothing."""

import pytest
import sympy as sp

from tests.verify.rechecker.certificates import certificate, changed, recheck
from verify import Case, Hypothesis, Inequality, Parameter, Statement
from verify.language.expressions import to_data
from verify.rechecker import Rejected

X, M = sp.Symbol("x", positive=True), sp.Symbol("m", nonnegative=True)
PARAMETERS = (Parameter("x", "rational", "x", above=0), Parameter("m", "rational", "m", minimum=0))
LEAF = {"multipliers": [], "squares": []}
PROOF = "clauses.0.proof.cases"


def proved(relation, tree, *hypotheses, shifts=("x", "m"), relations=()):
    """Return a certificate of an inequality in x > 0 and m ≥ 0 at x = m = 1/2."""
    named = tuple(Hypothesis(f"h{i}", relation) for i, relation in enumerate(hypotheses))
    statement = Statement(PARAMETERS, (Inequality("c", relation),), hypotheses=named)
    proof = {"kind": "cases", "shifts": dict.fromkeys(shifts, "0"), "relations": list(relations), "cases": tree}
    return certificate(statement, {"x": "1/2", "m": "1/2"}, ("verified", "proved", proof))


def ge(left, right=0):
    return sp.Ge(left, right, evaluate=False)


def gt(left, right=0):
    return sp.Gt(left, right, evaluate=False)


def apart(slack, at, below=LEAF, above=LEAF, times=None):
    return {"slack": slack, "at": at, "times": times, "below": below, "above": above}


def bounded(slack, relation, then=LEAF):
    return {"slack": slack, "relation": relation, "then": then}


def multiplied(power, *over):
    return {"multipliers": [{"over": list(over), "power": power}], "squares": []}


SQUARE = (X - 1) ** 2
BOX = apart("m", "0", above=bounded("m", 0))
FORMS = {
    "split at a number": proved(ge(SQUARE), apart("x", "1")),
    "split at a multiple": proved(ge((X - 2 * M) ** 2), apart("x", "2", times="m")),
    "split from zero on": proved(ge((M - 1) ** 2), apart("m", "0", above=apart("m", "1"))),
    "Bernstein": proved(ge(M, M**2), BOX, sp.Le(M, 1)),
    "Bernstein on a strict end": proved(gt(X, X**2), bounded("x", 0), sp.Lt(X, 1)),
    "a bound that is a quotient": proved(gt(1 + M, X * (1 + M**2)), bounded("x", 0), sp.Lt(X * (1 + M**2), 1 + M)),
    "Polya": proved(gt(X**2 - X * M + M**2 + 1), multiplied(2, "x", "m")),
    "a square in a case": proved(
        ge(X**2 * SQUARE),
        apart(
            "x",
            "5",
            {"multipliers": [], "squares": [{"factor": to_data(X**2), "root": to_data(X - 1)}]},
            LEAF,
        ),
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_accepted(name):
    assert recheck(FORMS[name]).clauses[0][1:] == ("verified", "proved", "cases", ())


@pytest.mark.parametrize(
    ("name", "path", "value", "why"),
    [
        ("split at a number", PROOF, LEAF, "not all positive"),
        ("split at a number", f"{PROOF}.at", "2", "not all positive"),
        ("split at a number", f"{PROOF}.at", "1000000000001/1000000000000", "not all positive"),
        ("split at a number", f"{PROOF}.at", "-1", "not negative"),
        ("split at a number", f"{PROOF}.at", 1, "not a rational number"),
        ("split at a number", f"{PROOF}.above", ..., "missing"),
        ("split at a number", f"{PROOF}.below", ..., "missing"),
        ("split at a number", f"{PROOF}.above", None, "not an object|missing"),
        ("split at a number", f"{PROOF}.slack", "y", "no slack"),
        ("split at a number", f"{PROOF}.slack", True, "no slack"),
        ("split at a number", f"{PROOF}.slack", ["x"], "no slack"),
        ("split at a number", f"{PROOF}.slack", 0, "no slack"),
        ("split at a number", f"{PROOF}.slack", "m", "no slack that is positive"),
        ("split at a number", f"{PROOF}.extra", 0, "extra"),
        ("split at a multiple", f"{PROOF}.at", "1", "not all positive"),
        ("split at a multiple", f"{PROOF}.at", "0", "told apart"),
        ("split at a multiple", f"{PROOF}.times", "x", "told apart"),
        ("split at a multiple", f"{PROOF}.times", None, "not all positive"),
        # If the case m = 0 is not split off first, m is not known to be positive.
        ("split from zero on", PROOF, apart("m", "1"), "no slack that is positive"),
        ("Bernstein", PROOF, bounded("m", 0), "no slack that is positive"),
        ("Bernstein", f"{PROOF}.above.relation", 1, "not an integer from 0 to 0"),
        ("Bernstein", f"{PROOF}.above.slack", "x", "does not bound"),
        ("Bernstein", f"{PROOF}.above", LEAF, "not all positive"),
        ("Bernstein", "instance.m", "2", "in_scope"),
        ("a bound that is a quotient", f"{PROOF}.slack", "m", "no slack that is positive"),
        ("Polya", PROOF, LEAF, "not all positive"),
        ("Polya", f"{PROOF}.multipliers.0.power", 0, "not an integer from 1 to 64"),
        ("Polya", f"{PROOF}.multipliers.0.power", -1, "not an integer from 1 to 64"),
        ("Polya", f"{PROOF}.multipliers.0.power", 65, "not an integer from 1 to 64"),
        ("Polya", f"{PROOF}.multipliers.0.over", ["x"], "not all positive"),
        ("Polya", f"{PROOF}.multipliers.0.over", ["x", "w"], "no slack"),
        ("a square in a case", f"{PROOF}.below.squares.0.factor", to_data(X**2 - X), "not all positive"),
        ("a square in a case", f"{PROOF}.below.squares.0.factor", to_data(2 * X**2), "not all positive"),
        ("a square in a case", f"{PROOF}.below.squares.0.root", to_data(X - 2), "not all positive"),
        ("a square in a case", f"{PROOF}.below.squares", [], "not all positive"),
    ],
)
def test_a_change_of_a_proof_by_cases_is_rejected(name, path, value, why):
    with pytest.raises(Rejected, match=why):
        recheck(changed(FORMS[name], path, value))


@pytest.mark.parametrize(
    ("relation", "tree", "hypotheses", "why"),
    [
        # A claim that is false between 1 and 2; a strict claim with equality at the split; two with equality at an end.
        (gt((X - 1) * (X - 2)), apart("x", "1", above=apart("x", "0", above=apart("x", "1"))), (), "not all positive"),
        (gt(SQUARE), apart("x", "1"), (), "not all positive"),
        (gt(M * (2 - M)), BOX, (sp.Le(M, 1),), "not all positive"),
        (gt(X * (1 - X)), bounded("x", 0), (sp.Le(X, 1),), "not all positive"),
        # A claim that is false for M between 1 and 2; a lower bound of X; a hypothesis that is not linear in X.
        (ge(M, M**2), BOX, (sp.Le(M, 2),), "not all positive"),
        (gt(X + M), bounded("x", 0), (sp.Ge(X, M),), "does not bound"),
        (gt(2, X), bounded("x", 0), (sp.Lt(X**2 + X, 1),), "does not bound"),
        # Nothing is known about the sign of the slack's factor.
        (gt(2, X), bounded("x", 0), (sp.Lt(X * (1 - M), 1),), "does not bound"),
        # The divisor is 0 at x = 1, on the split.
        (ge(1 / SQUARE), apart("x", "1"), (), "one sign"),
    ],
)
def test_relations_false_somewhere_are_not_shown_by_cases(relation, tree, hypotheses, why):
    with pytest.raises(Rejected, match=why):
        recheck(proved(relation, tree, *hypotheses))


def test_a_slack_of_a_relation_goes_by_its_place():
    # x = m + s; at s = 1, x − m is 1.
    tree = apart(0, "0", above=apart(0, "1"))
    made = proved(ge((X - M - 1) ** 2), tree, ge(X, M), shifts=("m",), relations=(0,))
    assert recheck(made)
    with pytest.raises(Rejected, match="no slack"):
        recheck(changed(made, PROOF, apart(1, "0", above=apart(0, "1"))))


def test_a_slack_that_is_0_is_no_slack_any_more():
    tree = apart("m", "0", apart("x", "1", times="m"), apart("x", "1"))
    with pytest.raises(Rejected, match="no slack"):
        recheck(proved(ge(SQUARE), tree))


def in_logarithms(relation, left, *logarithms, variables=(), hypotheses=(), in_scope=True):
    """Return a certificate of an inequality by logarithms, each given by its argument and the shifted parameters."""
    statement = Statement(
        PARAMETERS, (Inequality("c", relation),), hypotheses=tuple(hypotheses), variables=tuple(variables)
    )
    used = [{"of": to_data(of), "proof": by_shifts(*names)} for of, *names in logarithms]
    proof = {"kind": "logarithms", "logarithms": used, "left": by_shifts(*left)}
    return certificate(statement, {"x": "1/2", "m": "1/2"}, ("verified", "proved", proof), in_scope=in_scope)


def by_shifts(*names):
    return {"kind": "positive", "shifts": dict.fromkeys(names, "0"), "relations": []}


U = sp.Symbol("u", real=True)


def test_logarithms_are_bounded_where_they_have_values():
    for made in (
        in_logarithms(ge(X - 1, sp.log(X)), (), (X, "x")),
        in_logarithms(gt(X + sp.log(1 + M)), ("x",), (1 + M, "m")),
    ):
        assert recheck(made).clauses[0][1:] == ("verified", "proved", "logarithms", ())


@pytest.mark.parametrize(
    ("made", "why"),
    [
        # Strict claims with equality at x = 1 and at m = 0.
        (in_logarithms(gt(X - 1, sp.log(X)), (), (X, "x")), "not all positive"),
        (in_logarithms(gt(sp.log(1 + M)), (), (1 + M, "m")), "not all positive"),
        # log x has no sign; log m has no value at m = 0, and log u has none for u <= 0.
        (in_logarithms(ge(sp.log(X)), (), (X, "x")), "not all positive"),
        (in_logarithms(ge(M, sp.log(M)), ("m",), (M, "m")), "not all positive"),
        (
            in_logarithms(ge(U**2 + 5, sp.log(U)), (), (U,), variables=(U,)),
            "real and not positive|not all positive|sign",
        ),
        # A logarithm times a factor that is not a number; a logarithm within another; a logarithm that is listed twice.
        (in_logarithms(ge(X * sp.log(1 + M)), (), (1 + M, "m")), "does not occur times a number"),
        (in_logarithms(ge(sp.log(1 + sp.log(1 + X))), (), (1 + sp.log(1 + X), "x")), "a logarithm"),
        (in_logarithms(ge(sp.log(1 + M) + 1), (), (1 + M, "m"), (1 + M, "m")), "does not occur times a number"),
    ],
)
def test_a_logarithm_that_is_not_bounded_so_is_rejected(made, why):
    with pytest.raises(Rejected, match=why):
        recheck(made)


def test_out_of_scope_a_hypothesis_bounds_nothing():
    statement = Statement(PARAMETERS, (Inequality("c", ge(1, X)),), hypotheses=(Hypothesis("h", sp.Le(X, 1)),))
    proof = {"kind": "cases", "shifts": {}, "relations": [], "cases": bounded("x", 0)}
    made = certificate(statement, {"x": "2", "m": "1/2"}, ("verified", "proved", proof), in_scope=False)
    with pytest.raises(Rejected, match="uses a hypothesis, and the instance is out of scope"):
        recheck(made)


def beside_a_choice(relation, proof):
    """Return a certificate of an inequality under a hypothesis that a word chooses: x <= 1 or x <= 2."""
    word = Parameter("w", "word", "w", words=("one", "other"))
    hypothesis = Hypothesis("h", sp.Le(X, Case(sp.Symbol("w"), sp.Integer(1), sp.Integer(2))))
    statement = Statement((*PARAMETERS, word), (Inequality("c", relation),), hypotheses=(hypothesis,))
    return certificate(statement, {"x": "1/2", "m": "1/2", "w": "one"}, ("verified", "proved", proof))


def test_a_proof_by_a_hypothesis_that_a_word_chooses_is_not_for_all():
    assert recheck(beside_a_choice(ge(1 + X), by_shifts("x"))).clauses[0][1:] == ("verified", "proved", "positive", ())
    proof = {"kind": "cases", "shifts": {}, "relations": [], "cases": bounded("x", 0)}
    with pytest.raises(Rejected, match="the instance's words decide a Case in the hypotheses"):
        recheck(beside_a_choice(ge(1, X), proof))


def test_a_bound_whose_pole_cancels_is_none():
    hypothesis = sp.Le(sp.Mul(X, X - 2, 1 / (X - 2), evaluate=False), 1, evaluate=False)
    with pytest.raises(Rejected, match=r"one sign|does not bound"):
        recheck(proved(gt(2, X), bounded("x", 0), hypothesis))


def test_a_tree_is_not_deep():
    tree = LEAF
    for _ in range(30):
        tree = apart("x", "1/3", below=tree)
    with pytest.raises(Rejected, match="more than 24 substitutions"):
        recheck(proved(ge(X), tree))
