"""A re-check knows the kinds and the primitives of the registry that it is given, and no others."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from tests.verify.rechecker.cases import residual_of_wishart
from tests.verify.rechecker.certificates import X, certificate, x
from theorems.wishart.rechecked import RECHECKS
from theorems.wishart.trace_moments import wishart_trace_moment
from verify import Hypothesis, Inequality, Parameter, Statement
from verify.checking.doors import door
from verify.rechecker import CORE, Instance, Rejected, TooLarge, Unknown, recheck_text
from verify.rechecker.reading import Effort, Unreadable
from verify.rechecker.registry import (
    Checked,
    ClauseKind,
    Door,
    Primitive,
    ProofKind,
    Rechecks,
    Trusted,
    computed,
    guarded,
)

WISHART = RECHECKS.primitives


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


def test_the_hypotheses_that_a_check_used_have_to_be_said():
    with pytest.raises(TypeError, match="hypotheses_used"):
        Checked(True)


def brought(rechecks, name="mine.help", package="mine", digest="0" * 64):
    """Return a look-up function that knows only this door, and the door's entry in a certificate."""
    doors = {name: Door(name, package, digest, lambda: rechecks)}
    return doors.__getitem__, Trusted(name, rechecks.version, package, digest)._asdict()


def text_of(made, **changed):
    return json.dumps(made | changed).encode()


def test_the_core_knows_no_primitive_and_a_wrong_second_computation_is_caught():
    made = residual_of_wishart()
    accepted = recheck_text(text_of(made), door=door)
    assert [clause.evidence for clause in accepted.claims] == ["certified"]
    assert [str(each) for each in accepted.trusts] == ["lemmascope.wishart/1"]
    assert accepted.claims[0].trusts == accepted.trusts and not CORE.primitives
    with pytest.raises(Unknown, match="the primitive 'wishart_trace_moment/1' is not known to this program"):
        recheck_text(text_of(made, trusts=[]), door=door)
    right = WISHART["wishart_trace_moment/1"]
    wrong = Primitive(3, lambda *given: right.value(*given) + Fraction(1, 10**9))
    at_hand, trusted = brought(Rechecks(1, primitives={"wishart_trace_moment/1": wrong}))
    with pytest.raises(Rejected):
        recheck_text(text_of(made, trusts=[trusted]), door=at_hand)


def test_nothing_beyond_the_core_is_accepted_unless_it_is_asked_for():
    with pytest.raises(Unknown, match=r"trusts\[0\]: lemmascope\.wishart is beyond the core"):
        recheck_text(text_of(residual_of_wishart()))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"digest": "1" * 64}, r"mine\.help/1 is installed with the digest 000000000000, not 111111111111"),
        ({"package": "other"}, r"mine\.help/1 is installed in the package mine, not in other"),
        ({"version": 2}, r"mine\.help/2 is installed as version 1"),
    ],
)
def test_another_door_than_the_named_one_is_unknown(changed, why):
    at_hand, trusted = brought(Rechecks(1, primitives=WISHART))
    with pytest.raises(Unknown, match=why):
        recheck_text(text_of(residual_of_wishart(), trusts=[trusted | changed]), door=at_hand)


def test_a_door_of_another_digest_is_not_loaded():
    _, trusted = brought(Rechecks(1))
    other = Door("mine.help", "mine", "1" * 64, lambda: pytest.fail("it was loaded"))
    with pytest.raises(Unknown):
        recheck_text(text_of(residual_of_wishart(), trusts=[trusted]), door=lambda name: other)


@pytest.mark.parametrize("changed", [{"version": 0}, {"version": True}, {"digest": "x"}, {"name": 1}, {"more": 1}])
def test_a_door_that_is_named_badly_is_refused(changed):
    at_hand, trusted = brought(Rechecks(1, primitives=WISHART))
    with pytest.raises((Rejected, Unreadable)):
        recheck_text(text_of(residual_of_wishart(), trusts=[trusted | changed]), door=at_hand)


def test_very_many_doors_are_refused_before_one_is_looked_up():
    _, trusted = brought(Rechecks(1))
    with pytest.raises(TooLarge, match="doors"):
        recheck_text(text_of(residual_of_wishart(), trusts=101 * [trusted]), door=pytest.fail)


def test_a_door_that_nothing_rests_on_is_not_trusted():
    statement = Statement((X,), (Inequality("c", sp.Ge(x, 0, evaluate=False)),))
    made = certificate(statement, {"x": "1"}, ("verified", "certified", {"kind": "exact", "margin": "1"}))
    at_hand, trusted = brought(Rechecks(1, primitives=WISHART))
    assert recheck_text(text_of(made), door=at_hand).trusts == ()
    assert recheck_text(text_of(made, trusts=[trusted]), door=at_hand).trusts == ()


def test_two_doors_may_not_bring_the_same():
    rechecks = Rechecks(1, primitives=WISHART)
    at_hand, trusted = brought(rechecks)
    doors = {name: Door(name, "mine", "0" * 64, lambda: rechecks) for name in ("mine.help", "mine.other")}
    both = [trusted, trusted | {"name": "mine.other"}]
    with pytest.raises(Unknown, match=r"trusts\[1\]: mine\.other/1 of the package mine brings '.*/1', which is there"):
        recheck_text(text_of(residual_of_wishart(), trusts=both), door=doors.__getitem__)
    at_hand, trusted = brought(Rechecks(1, proofs={"exact": CORE.proofs["exact"]}))
    with pytest.raises(Unknown, match="brings 'exact', which is there already"):
        recheck_text(text_of(residual_of_wishart(), trusts=[trusted]), door=at_hand)


BELIEVED = ProofKind({"inequality": ("verified",)}, "", lambda *_: Checked(True, hypotheses_used=False), for_all=True)


def test_a_kind_of_proof_of_a_package_is_trusted_where_it_is_used():
    statement = Statement((X,), (Inequality("c", sp.Ge(x, 0, evaluate=False)),))
    made = certificate(statement, {"x": "1"}, ("verified", "proved", {"kind": "believed"}))
    at_hand, trusted = brought(Rechecks(3, proofs={"believed": BELIEVED}))
    (claim,) = recheck_text(text_of(made, trusts=[trusted]), door=at_hand).claims
    assert (claim.kind, claim.evidence, [str(each) for each in claim.trusts]) == ("believed", "proved", ["mine.help/3"])
    with pytest.raises(Unknown, match="'believed' is not a kind of proof that this program knows"):
        recheck_text(text_of(made), door=at_hand)
    # The verdict of the check is compared with the stated verdict.
    other = replace(BELIEVED, check=lambda *_: Checked(False, hypotheses_used=False))
    at_hand, trusted = brought(Rechecks(3, proofs={"believed": other}))
    with pytest.raises(Rejected, match="the check gives another outcome"):
        recheck_text(text_of(made, trusts=[trusted]), door=at_hand)


def at_one(statement, clause, proof, **brought):
    """Return the doors that the re-checker's verdict at x = 1 rests on, and the doors that the scope rests on."""
    registry = CORE.with_rechecks(Trusted("mine.help", 1, "mine", "0" * 64), Rechecks(1, **brought))
    instance = Instance(statement.to_data(), {"x": "1"}, registry=registry)
    verdict = instance.verdict(clause.to_data(), {"label": clause.label, "outcome": "verified", "proof": proof})
    assert verdict.evidence is not None, verdict
    return [str(each) for each in verdict.trusts], [str(each) for each in instance.scope_trusts()]


def test_a_definition_a_domain_and_a_used_hypothesis_count_and_others_do_not():
    """By hand: the primitive is in the definition D, which E mentions; the clause x ≥ 0 rests on no door."""
    value = wishart_trace_moment(1, x, 2)
    D, E = sp.symbols("D E", real=True)
    plain, defined = Inequality("c", sp.Ge(x, 0, evaluate=False)), Inequality("e", sp.Ge(E, 1, evaluate=False))
    exact, helped = {"kind": "exact", "margin": "1"}, ["mine.help/1"]
    statement = Statement((Parameter("x", "rational", "x", above=0),), (plain, defined), definitions={D: value, E: D})
    assert at_one(statement, plain, exact, primitives=WISHART) == ([], [])
    # The primitive's value, the expected trace of a Wishart matrix, is here the size, 2.
    assert at_one(statement, defined, exact, primitives=WISHART) == (helped, [])
    held = replace(statement, hypotheses=(Hypothesis("h", sp.Ge(value, 0, evaluate=False)),))
    assert at_one(held, plain, exact, primitives=WISHART) == ([], helped)
    used = replace(BELIEVED, check=lambda *_: Checked(True, hypotheses_used=True))
    assert at_one(held, plain, {"kind": "used"}, primitives=WISHART, proofs={"used": used})[0] == helped
    inside = replace(statement, domain=(sp.Ge(value, 0, evaluate=False),))
    assert at_one(inside, plain, exact, primitives=WISHART)[0] == helped


def test_a_result_is_two_bools_and_has_no_truth_value():
    with pytest.raises(TypeError, match="no truth value"):
        bool(Checked(False, hypotheses_used=False))
    with pytest.raises(TypeError, match="two bools"):
        Checked(1, hypotheses_used=False)


def test_an_error_in_a_packages_code_is_unknown_and_ours_are_not():
    for error in (ZeroDivisionError("by 0"), TypeError("x"), SystemExit(3)):
        with pytest.raises(Unknown, match=f"a package's code ended with {type(error).__name__}"):
            guarded(raising(error))
    for error in (Rejected("no"), TooLarge("work", 1), RecursionError(), MemoryError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            guarded(raising(error))
    primitive = Primitive(1, lambda effort, x: 1 / x)
    with pytest.raises(Unknown, match="ZeroDivisionError"):
        computed(Effort(), primitive, (Fraction(0),))
    statement = Statement((X,), (Inequality("c", sp.Ge(x, 0, evaluate=False)),))
    made = certificate(statement, {"x": "1"}, ("verified", "proved", {"kind": "believed"}))
    for check, why in ((raising(KeyError("k")), "KeyError"), (lambda *_: True, "returned a bool, not a Checked")):
        at_hand, trusted = brought(Rechecks(1, proofs={"believed": replace(BELIEVED, check=check)}))
        with pytest.raises(Unknown, match=why):
            recheck_text(text_of(made, trusts=[trusted]), door=at_hand)


def test_an_error_in_a_check_of_ours_is_no_packages(monkeypatch):
    statement = Statement((X,), (Inequality("c", sp.Ge(x, 0, evaluate=False)),))
    made = certificate(statement, {"x": "1"}, ("verified", "certified", {"kind": "exact", "margin": "1"}))
    monkeypatch.setitem(vars(CORE.proofs["exact"]), "check", raising(KeyError("k")))
    with pytest.raises(KeyError):
        recheck_text(text_of(made))


def raising(error):
    def work(*_):
        raise error

    return work


@pytest.mark.parametrize("bounds", [(0.1, 0.2), (Fraction(2), Fraction(1)), (1, Fraction(2)), None, (Fraction(1),)])
def test_bounds_that_are_no_exact_interval_are_rejected(bounds):
    with pytest.raises(Rejected, match="must return a Fraction"):
        computed(Effort(), Primitive(0, None, lambda _: bounds), ())
    with pytest.raises(Rejected, match="must return a Fraction"):
        computed(Effort(), Primitive(0, lambda _: 0.1), ())


def test_malformed_entries_are_refused_and_a_registry_stays_as_it_is():
    for functions in ((None,), (second, second)):
        with pytest.raises(TypeError, match="or bounds of one"):
            Primitive(1, *functions)
    checked = lambda *_: Checked(True, hypotheses_used=False)  # noqa: E731
    for shows in ({"inequality": "verified"}, {"inequality": ("proved",)}, {"inequality": ["verified"]}):
        with pytest.raises(TypeError, match="some of verified and refuted"):
            ProofKind(shows, "", checked)
    with pytest.raises(TypeError, match="is a function"):
        ProofKind({}, "", None)
    for keys in ((None,), ("a", ["b"]), ("a", (1,))):
        with pytest.raises(TypeError, match="keys are text"):
            ClauseKind(*keys)
        with pytest.raises(TypeError, match="keys are text"):
            ProofKind({}, keys[0], checked, *keys[1:])
    for name in ("Eq", "gamma", "gamma/", "a b/1"):
        with pytest.raises(TypeError, match="no name and version"):
            Rechecks(1, primitives={name: Primitive(1, second)})
    for wrong in ({"primitives": {"x/1": len}}, {"proofs": {"p": len}}, {"clauses": {1: ClauseKind("")}}):
        with pytest.raises(TypeError, match="is the name of no"):
            Rechecks(1, **wrong)
    for version in (0, True, "1", None):
        with pytest.raises(TypeError, match="is no version"):
            Rechecks(version)
    primitives = {"gamma/1": Primitive(1, second)}
    rechecks = Rechecks(1, clauses={"mine": ClauseKind("left")}, primitives=primitives)
    primitives.clear()
    assert list(rechecks.primitives) == ["gamma/1"] and not hasattr(rechecks.primitives, "clear")
    by = Trusted("mine.help", 1, "mine", "0" * 64)
    registry = CORE.with_rechecks(by, rechecks)
    assert registry.brought == {("clauses", "mine"): by, ("primitives", "gamma/1"): by} and not CORE.brought
    with pytest.raises(Unknown, match="which is there already"):
        registry.with_rechecks(by, rechecks)


def test_of_two_registries_each_computes_its_own():
    made = residual_of_wishart()
    wrong = Rechecks(1, primitives={"wishart_trace_moment/1": Primitive(3, lambda *_: Fraction(1))})
    at_hand, trusted = brought(wrong)
    for _ in range(2):
        with pytest.raises(Rejected):
            recheck_text(text_of(made, trusts=[trusted]), door=at_hand)
        assert recheck_text(text_of(made), door=door).claims[0].outcome == "verified"
