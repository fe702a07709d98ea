"""A re-check knows the kinds and the primitives of the registry that it is given, and no others."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from tests.verify.rechecker.cases import residual_of_wishart
from tests.verify.rechecker.certificates import X, certificate, x
from verify import Inequality, Statement
from verify.rechecker import CORE, KNOWN, Rejected, TooLarge, Unknown, recheck_text
from verify.rechecker.reading import Effort
from verify.rechecker.registry import Checked, Primitive, ProofKind, computed


def second(effort, x):
    effort.spend(1000)
    if x < 0:
        raise Rejected("below 0")
    return 2 * x


def test_a_value_that_is_kept_costs_what_it_cost():
    primitive, spent = Primitive(1, second), []
    for _ in range(2):
        effort = Effort()
        before = effort.left
        assert computed(effort, primitive, (Fraction(3),)) == (6, 6)
        spent.append(before - effort.left)
    assert spent[0] == spent[1] >= 1000
    with pytest.raises(TooLarge):
        computed(Effort(500), primitive, (Fraction(3),))
    with pytest.raises(Rejected, match="below 0"):
        computed(Effort(), primitive, (Fraction(-1),))


def test_what_a_check_used_has_to_be_said():
    with pytest.raises(TypeError, match="hypotheses_used"):
        Checked(True)


def test_the_core_knows_no_primitive_and_a_wrong_second_computation_is_caught():
    made = residual_of_wishart()
    text = json.dumps(made).encode()
    assert [clause.evidence for clause in recheck_text(text).claims] == ["certified"]
    assert not CORE.primitives and CORE.proofs == KNOWN.proofs
    with pytest.raises(Unknown, match="the primitive 'wishart_trace_moment/1' is not known to this program"):
        recheck_text(text, registry=CORE)
    right = KNOWN.primitives["wishart_trace_moment/1"]
    wrong = Primitive(3, lambda *given: right.value(*given) + Fraction(1, 10**9))
    with pytest.raises(Rejected):
        recheck_text(text, registry=replace(KNOWN, primitives={"wishart_trace_moment/1": wrong}))


def test_a_kind_of_proof_is_taken_from_the_registry():
    statement = Statement((X,), (Inequality("c", sp.Ge(x, 0, evaluate=False)),))
    made = certificate(statement, {"x": "1"}, ("verified", "certified", {"kind": "believed"}))
    believed = ProofKind({"inequality": ("verified",)}, "", lambda *_: Checked(True, hypotheses_used=False))
    registry = replace(CORE, proofs={"believed": believed})
    assert recheck_text(json.dumps(made).encode(), registry=registry).claims[0].kind == "believed"
    with pytest.raises(Rejected, match="believed"):
        recheck_text(json.dumps(made).encode())
    # What a check finds is held against what is stated.
    other = ProofKind({"inequality": ("verified",)}, "", lambda *_: Checked(False, hypotheses_used=False))
    with pytest.raises(Rejected, match="the check finds otherwise"):
        recheck_text(json.dumps(made).encode(), registry=replace(CORE, proofs={"believed": other}))


def test_a_result_is_two_bools_and_has_no_truth_value():
    with pytest.raises(TypeError, match="no truth value"):
        bool(Checked(False, hypotheses_used=False))
    with pytest.raises(TypeError, match="two bools"):
        Checked(1, hypotheses_used=False)


@pytest.mark.parametrize("bounds", [(0.1, 0.2), (Fraction(2), Fraction(1)), (1, Fraction(2))])
def test_what_is_no_exact_interval_is_rejected(bounds):
    with pytest.raises(Rejected, match="must return a Fraction"):
        computed(Effort(), Primitive(0, None, lambda _: bounds), ())
    with pytest.raises(Rejected, match="must return a Fraction"):
        computed(Effort(), Primitive(0, lambda _: 0.1), ())


def test_malformed_entries_are_refused_and_a_registry_stays_as_it_is():
    for functions in ((None,), (second, second)):
        with pytest.raises(TypeError, match="or bounds of one"):
            Primitive(1, *functions)
    for name in ("Eq", "gamma", "gamma/", "a b/1"):
        with pytest.raises(TypeError, match="no name and version"):
            replace(CORE, primitives={name: Primitive(1, second)})
    primitives = {"gamma/1": Primitive(1, second)}
    registry = replace(CORE, primitives=primitives)
    primitives.clear()
    assert list(registry.primitives) == ["gamma/1"] and not hasattr(registry.primitives, "clear")


def test_of_two_registries_each_computes_its_own():
    text = json.dumps(residual_of_wishart()).encode()
    wrong = replace(KNOWN, primitives={"wishart_trace_moment/1": Primitive(3, lambda *_: Fraction(1))})
    for _ in range(2):
        with pytest.raises(Rejected):
            recheck_text(text, registry=wrong)
        assert recheck_text(text).claims[0].outcome == "verified"
