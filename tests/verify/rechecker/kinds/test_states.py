"""Recursions that fall to a level, or that stay above a level: accepted proofs, and refused ones."""

import copy
from fractions import Fraction
from functools import cache

import pytest
import sympy as sp

from tests.verify.rechecker.certificates import certificate, changed, recheck
from verify import Dynamics, Hypothesis, Parameter, Reaches, Statement, Stays
from verify.language.expressions import to_data
from verify.provers.deduction.facts import Goal
from verify.provers.recursions import states
from verify.provers.recursions.states import falling_proof, kept_above
from verify.rechecker import Rejected

eta, eps = sp.symbols("eta eps", positive=True)
x, y = sp.symbols("x y", real=True)
PARAMETERS = tuple(Parameter(name, "rational", name, above=0) for name in ("eta", "eps"))
SMALL = (Hypothesis("small", sp.Lt(eta, 2)),)
DESCENT = Dynamics((x,), (sp.Integer(1),), ((1 - eta) * x,), x**2 / 2)
# 1/x rises by eta per step, so x falls by at least eta y²/(1 + eta y) per step while x > y.
SLOWER = Dynamics((x,), (sp.Integer(1),), (x / (1 + eta * x),), x)
PROOF, DYNAMICS = "clauses.0.proof", "statement.claims.0.dynamics"
HERE = {"eta": "1/2", "eps": "1/100"}
NUMBER = {"one": ["Integer", "1"], "zero": ["Integer", "0"], "two": ["Integer", "2"]}
NOTHING = {"rule": "sum", "times": NUMBER["one"], "terms": []}
SYMBOL = to_data(x)


def stated(dynamics, *, stays=False, hypotheses=SMALL):
    claim = Stays("c", dynamics, reached=eps, level=2 * eps) if stays else Reaches("c", dynamics, eps)
    return Statement(PARAMETERS, (claim,), hypotheses)


@cache
def falling(dynamics, *, signs=False):
    """Return a certificate that a run falls; with `signs`, its proof uses the invariant that states are at least 0."""
    statement = stated(dynamics)
    with pytest.MonkeyPatch.context() as patched:
        if signs:
            patched.setattr(states, "_signs", lambda dynamics: [tuple(Goal(s, "Ge") for s in dynamics.state)])
        proof = falling_proof.__wrapped__(dynamics, eps, statement, 10_000, hypotheses=True)
    assert proof is not None
    return certificate(statement, HERE, ("verified", "proved", proof))


def kept(step_size, *, stays=False, dynamics=DESCENT, level="1/100"):
    statement, values = stated(dynamics, stays=stays), {"eta": Fraction(step_size), "eps": Fraction(level)}
    found = kept_above(dynamics, Fraction(level), values, 10_000)
    assert found is not None
    outcome = "verified" if stays else "refuted"
    return certificate(
        statement, {"eta": step_size, "eps": level}, (outcome, "certified", copy.deepcopy(found.proof)), in_scope=False
    )


@pytest.mark.parametrize("dynamics", [DESCENT, SLOWER])
def test_a_run_that_falls_reaches_its_level_for_all_parameters(dynamics):
    (shown,) = recheck(falling(dynamics)).claims
    assert (shown.outcome, shown.evidence, shown.kind) == ("verified", "proved", "falls")


def test_a_sign_that_each_step_keeps_is_an_invariant():
    certified = falling(SLOWER, signs=True)
    proof = certified["clauses"][0]["proof"]
    assert (
        recheck(certified).claims[0].evidence == "proved"
        and proof["invariants"] == [["Ge", SYMBOL, NUMBER["zero"]]]
        and len(proof["start"]) == len(proof["step"]) == 1
    )


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (f"{PROOF}.amount", NUMBER["zero"], "positive"),
        (f"{PROOF}.amount", NUMBER["two"], "not what is to be shown"),
        (f"{PROOF}.amount", SYMBOL, "uses 'x', which is not introduced"),
        (f"{PROOF}.amount", to_data(-eps), "positive"),
        (f"{PROOF}.relations", [], "is not an integer from 0 to"),
        (f"{PROOF}.falls", NOTHING, "not what is to be shown"),
        (f"{PROOF}.positive", NOTHING, "not what is to be shown"),
        (f"{PROOF}.invariants", [["Ge", SYMBOL, NUMBER["two"]]], "start"),
        (f"{DYNAMICS}.step.0", to_data((1 + eta) * x), "not what is to be shown"),
        # At eta = 1 the factor 1 − 2 eta is −1, so |x| does not fall.
        (f"{DYNAMICS}.step.0", to_data((1 - 2 * eta) * x), "not what is to be shown"),
        (f"{DYNAMICS}.step.0", to_data(x - 1 / x), "the sign of a divisor is not shown"),
        (f"{DYNAMICS}.initial.0", ["Pow", NUMBER["zero"], ["Integer", "-1"]], "."),
        (f"{DYNAMICS}.observable", to_data(sp.log(x)), "positive"),
        ("statement.claims.0.level", to_data(-eps), "not what is to be shown"),
        ("statement.claims.0.level", SYMBOL, "not introduced|binds|new"),
        ("statement.claims.0.within", ["Integer", "1000"], "number of steps"),
        ("statement.claims.0.not_before", ["Integer", "0"], "number of steps"),
        ("statement.hypotheses.0.relation", to_data(sp.Le(eta, 2)), "terms of the sum do not show the sign"),
        ("clauses.0.outcome", "refuted", "refuted"),
        ("clauses.0.evidence", "certified", "certified"),
    ],
)
def test_a_run_that_is_not_shown_to_fall_is_refused(path, value, why):
    with pytest.raises(Rejected, match=why):
        recheck(changed(falling(DESCENT), path, value))


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (f"{PROOF}.invariants", [], "start"),
        (f"{PROOF}.start", [], "start"),
        (f"{PROOF}.step", [], "step"),
        (f"{PROOF}.start.0", NOTHING, "start"),
        (f"{PROOF}.step.0", NOTHING, "step"),
        # 1 + eta x ≠ 0 follows from the invariant, or from the fact that x is above the level.
        (f"{PROOF}.values.1", {"rule": "number", "bits": 64}, "values"),
        (f"{PROOF}.values", [], "values"),
        (f"{DYNAMICS}.initial.0", ["Integer", "-1"], "start"),
    ],
)
def test_an_invariant_that_is_not_shown_is_refused(path, value, why):
    with pytest.raises(Rejected, match=why):
        recheck(changed(falling(SLOWER, signs=True), path, value))


def test_a_state_that_has_no_value_is_refused_though_the_observable_does_not_show_it():
    two = Dynamics((x, y), (sp.Integer(1), sp.Integer(0)), ((1 - eta) * x, y / 2), x**2 / 2)
    good = falling(two)
    recheck(good)
    for part, place in (("step", 1), ("initial", 1)):
        wrong = ["Pow", to_data(x) if part == "step" else NUMBER["zero"], ["Integer", "-1"]]
        with pytest.raises(Rejected):
            recheck(changed(good, f"{DYNAMICS}.{part}.{place}", wrong))


def test_a_state_that_is_assumed_to_be_more_than_real_is_refused():
    whole = sp.Symbol("x", integer=True)
    certified = falling(DESCENT)
    for part in ("state.0", "step.0", "observable"):
        expressions = {"state.0": whole, "step.0": (1 - eta) * whole, "observable": whole**2 / 2}
        certified = changed(certified, f"{DYNAMICS}.{part}", to_data(expressions[part]))
    with pytest.raises(Rejected):
        recheck(certified)


@pytest.mark.parametrize("step_size", ["3", "2", "5/2", "1000000000000"])
def test_a_run_that_is_kept_above_the_level_refutes_that_it_is_reached(step_size):
    (shown,) = recheck(kept(step_size)).claims
    assert (shown.outcome, shown.evidence, shown.kind) == ("refuted", "certified", "kept")
    (shown,) = recheck(kept(step_size, stays=True)).claims
    assert (shown.outcome, shown.evidence, shown.kind) == ("verified", "certified", "kept")


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        # The observable at the start, 1/2, is not above this level.
        ("instance.eps", "1/2", "above"),
        ("instance.eps", "1", "above"),
        (f"{DYNAMICS}.initial.0", ["Rational", "1/2"], "start"),
        (f"{DYNAMICS}.step.0", to_data(x / (eta * eta)), "step"),
        (f"{PROOF}.invariants.0", ["Ge", SYMBOL, SYMBOL], "step|above|start"),
        (f"{PROOF}.invariants", [], "start|0"),
        (f"{PROOF}.start.0", {"rule": "number", "bits": 64}, "start"),
        (f"{PROOF}.step.0", NOTHING, "step"),
        (f"{PROOF}.above", NOTHING, "above"),
        ("clauses.0.outcome", "verified", "verified"),
        ("clauses.0.evidence", "proved", "evidence"),
    ],
)
def test_a_run_that_is_not_shown_to_be_kept_is_refused(path, value, why):
    with pytest.raises(Rejected, match=why):
        recheck(changed(kept("2"), path, value))


def test_a_run_that_falls_is_not_kept():
    certified = changed(changed(kept("2"), "instance.eta", "199/100"), "in_scope", True)
    with pytest.raises(Rejected, match="step"):
        recheck(certified)


def test_a_fact_of_another_instance_is_none_here():
    # The proofs at eta = 3 do not show the claim at eta = 2, where the margins are smaller.
    certified = kept("3")
    with pytest.raises(Rejected, match="step"):
        recheck(changed(certified, "instance.eta", "2"))
