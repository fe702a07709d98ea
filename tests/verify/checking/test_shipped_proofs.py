"""Shipped proofs: which of them a check or a search uses, for a theorem and for its variants."""

import json
from dataclasses import replace

import pytest
import sympy as sp

from tests.verify.checking.test_standing import CERTIFIED, SHIPS, X, theorem, x
from verify import Hypothesis, Identity, Outcome, Statement, load_theorem
from verify.checking import standing as module
from verify.checking.certificates import certificate_text
from verify.checking.check import check
from verify.checking.standing import settled_steps, shipped_path, shipped_proofs
from verify.outcomes import Evidence
from verify.rechecker import recheck_text


@pytest.fixture
def unproving(monkeypatch):
    """Make a search for a proof of an identity raise an AssertionError, so that only shipped proofs count."""

    def refuse(*_, **__):
        raise AssertionError("a proof was looked for")

    monkeypatch.setattr("verify.claims.identity._equal", refuse)


def test_a_shipped_proof_is_taken(unproving):
    theorem = load_theorem(SHIPS)
    result = check(theorem, {**theorem.example, "T": 12})
    assert result.evidence is Evidence.PROVED and result.instance["T"] == 12
    with pytest.raises(AssertionError, match="looked for"):
        check(theorem, theorem.example, use_certificate=False)


def changed(clause):
    """Return an identity with 1 added to its left side."""
    return replace(clause, left=clause.left + 1)


def test_a_variant_takes_the_proofs_of_the_clauses_that_it_shares(unproving):
    theorem = load_theorem(SHIPS)
    statement, (first, second, *_) = theorem.statement, theorem.statement.claims
    assert set(shipped_proofs(theorem)) == {claim.label for claim in statement.claims}
    # The variant shares the proof of `second`, which is a claim of the theorem and a step of the variant.
    variant = theorem.variant(replace(statement, claims=(first,), steps=(second,)))
    assert shipped_proofs(variant) == {} and set(shipped_proofs(variant, shared=True)) == {first.label, second.label}
    assert check(variant, theorem.example).evidence is Evidence.PROVED
    other = theorem.variant(replace(statement, claims=(changed(first), second)))
    assert set(shipped_proofs(other, shared=True)) == {second.label}
    with pytest.raises(AssertionError, match="looked for"):
        check(other, theorem.example)


STEPS = "wang2024.lemma1"


@pytest.mark.parametrize(
    "change",
    [
        lambda s: {"hypotheses": s.hypotheses[1:]},
        lambda s: {"domain": (*s.domain, sp.Le(sp.Symbol("T", integer=True, positive=True), 100))},
        lambda s: {"parameters": (replace(s.parameters[0], minimum=3), *s.parameters[1:])},
        lambda s: {"variables": (*s.variables, sp.Symbol("another", real=True))},
        lambda s: {"definitions": {**s.definitions, sp.Symbol("another", real=True): sp.Integer(1)}},
    ],
    ids=["hypotheses", "domain", "parameters", "variables", "definitions"],
)
def test_a_statement_in_another_setting_takes_none_of_it(change):
    theorem = load_theorem(STEPS)
    variant = theorem.variant(replace(theorem.statement, **change(theorem.statement)))
    assert shipped_proofs(variant, shared=True) == {} and settled_steps(variant) == set()


def test_the_steps_that_a_certificate_settles(monkeypatch):
    theorem = load_theorem(STEPS)
    statement, (first, *others) = theorem.statement, theorem.statement.steps
    assert settled_steps(theorem) == {step.label for step in statement.steps}
    other = theorem.variant(replace(statement, steps=(changed(first), *others)))
    assert settled_steps(other) == {step.label for step in others}
    # The hypotheses of this theorem depend on a word, but no proof of a step uses them.
    words = load_theorem("wang2024.lemma2")
    assert settled_steps(words) == {step.label for step in words.statement.steps}
    accepted = module.rechecked(STEPS)
    refused = (
        "not accepted",
        replace(accepted, in_scope=False),
        replace(accepted, steps=tuple(shown._replace(evidence="certified") for shown in accepted.steps)),
    )
    for certificate in refused:
        monkeypatch.setattr(module, "rechecked", lambda _, found=certificate: found)
        assert settled_steps(theorem) == set()


@pytest.mark.parametrize(
    "forged",
    [
        lambda proof: {**proof, "factors": []},
        lambda proof: {**proof, "scope": "everything"},
        lambda proof: {"kind": "identity"},
    ],
    ids=["without factors", "of no scope", "without anything"],
)
def test_a_shipped_proof_that_is_not_accepted_is_none(monkeypatch, forged):
    theorem = load_theorem(SHIPS)
    proofs = {label: forged(proof) for label, proof in shipped_proofs(theorem).items()}
    monkeypatch.setattr("verify.checking.check.shipped_proofs", lambda *_, **__: proofs)
    result = check(theorem, theorem.example)
    assert result.evidence is Evidence.PROVED
    assert recheck_text(certificate_text(theorem, result).encode()).theorem == SHIPS


@pytest.mark.parametrize(
    "forged",
    [{"kind": "exact", "margin": "3"}, {"kind": "identity", "scope": "instance", "factors": []}, {}, "identity"],
)
def test_only_a_proof_for_all_parameters_is_taken(monkeypatch, tmp_path, forged):
    theorem = load_theorem(SHIPS)
    data = json.loads(shipped_path(SHIPS).read_text())
    data["clauses"] = [clause | {"proof": forged} for clause in data["clauses"]]
    (tmp_path / "forged.json").write_text(json.dumps(data))
    place = lambda name: tmp_path / "forged.json" if name == SHIPS else shipped_path(name)  # noqa: E731
    monkeypatch.setattr("verify.checking.standing.shipped_path", place)
    assert shipped_proofs(theorem) == {}
    assert check(theorem, theorem.example).evidence is Evidence.PROVED


def test_a_false_identity_is_not_proved_by_what_is_shipped(monkeypatch):
    false = theorem("u.false", Identity("i", (x + 1) ** 2, x**2 + 2 * x + 2))
    proof = {"kind": "identity", "scope": "all", "factors": []}
    monkeypatch.setattr("verify.checking.check.shipped_proofs", lambda *_, **__: {"i": proof})
    assert check(false, {"x": 1}).outcome is Outcome.REFUTED


def test_a_proof_by_hypotheses_is_not_taken_out_of_scope(monkeypatch):
    small = Statement(X, (CERTIFIED,), hypotheses=(Hypothesis("small", sp.Lt(x, 1)),))
    bounded = replace(theorem("u.small", CERTIFIED), statement=small, example={"x": "1/2"})
    found = check(bounded, {"x": "1/2"})
    assert found.evidence is Evidence.PROVED
    monkeypatch.setattr("verify.checking.check.shipped_proofs", lambda *_, **__: {"c": found.clauses[0].proof})
    assert check(bounded, {"x": "1/3"}).evidence is Evidence.PROVED
    assert check(bounded, {"x": "3/2"}).clauses[0].evidence is Evidence.CERTIFIED
