"""What every theorem of the library has: a pinned statement, a checked derivation, canaries that are refuted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import theorems
from verify import Derivation, Evidence, Outcome, Step, TheoremError, load_theorem, theorem_ids

PINNED = json.loads((Path(theorems.__file__).parent / "statement_digests.json").read_text())
CANARIES = [(name, canary.label) for name in theorem_ids() for canary in load_theorem(name).canaries]


def test_every_statement_is_pinned():
    digests = {name: load_theorem(name).statement.digest for name in theorem_ids()}
    assert digests == PINNED, "after a deliberate change, write the new digests into theorems/statement_digests.json"


@pytest.mark.parametrize("name", theorem_ids())
def test_the_id_is_the_entry_points(name):
    assert load_theorem(name).id == name


@pytest.mark.parametrize("name", theorem_ids())
def test_the_example_is_in_scope_and_verified(name):
    theorem = load_theorem(name)
    result = theorem.check(**theorem.example)
    assert result.outcome is Outcome.VERIFIED
    assert result.evidence in (Evidence.PROVED, Evidence.CERTIFIED)


@pytest.mark.parametrize("name", theorem_ids())
def test_the_derivation_holds_step_by_step(name):
    steps = list(load_theorem(name).derive())
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert len(steps) >= 3


@pytest.mark.parametrize("name", theorem_ids())
def test_a_wrong_step_planted_into_the_derivation_is_an_error(name):
    derivation = load_theorem(name).derivation()
    for place, step in enumerate(derivation.steps):
        wrong = Step(step.why, step.left, step.right + 1)
        planted = Derivation((wrong,), derivation.definitions, derivation.shorthands)
        with pytest.raises(TheoremError, match="does not hold"):
            list(planted.checked_steps())
        if place == 3:
            break


@pytest.mark.parametrize("name", theorem_ids())
def test_what_a_theorem_uses_exists(name):
    theorem = load_theorem(name)
    assert {*theorem.statement_uses, *theorem.proof_uses} <= set(theorem_ids())


@pytest.mark.parametrize("name", theorem_ids())
def test_there_are_at_least_three_canaries(name):
    canaries = load_theorem(name).canaries
    assert len({canary.statement.digest for canary in canaries} - {PINNED[name]}) == len(canaries) >= 3


@pytest.mark.parametrize(("name", "label"), CANARIES)
def test_a_canary_is_refuted_with_a_witness_and_the_theorem_is_not(name, label):
    theorem = load_theorem(name)
    canary = next(canary for canary in theorem.canaries if canary.label == label)
    mutated = theorem.variant(canary.statement).check(**canary.instance)
    refuted = [clause for clause in mutated.clauses if clause.holds is False]
    assert [clause.label for clause in refuted] == [canary.clause]
    assert refuted[0].witness and refuted[0].evidence is Evidence.CERTIFIED
    assert mutated.outcome is Outcome.REFUTED
    assert theorem.check(**canary.instance).outcome is Outcome.VERIFIED


def test_the_values_of_a_canary_do_not_hide_its_outcome():
    theorem = load_theorem("wang2024.theorem1")
    canary = theorem.canaries[0]
    in_scope = theorem.variant(canary.statement).check(**canary.instance)
    out_of_scope = theorem.variant(canary.statement).check(**{**canary.instance, "eta": "1/2"})
    assert (in_scope.outcome, out_of_scope.outcome) == (Outcome.REFUTED, Outcome.OUT_OF_SCOPE)


def test_a_statement_without_one_hypothesis_has_another_digest():
    statement = load_theorem("wang2024.theorem1").statement
    for label in [hypothesis.label for hypothesis in statement.hypotheses]:
        dropped = replace(statement, hypotheses=tuple(h for h in statement.hypotheses if h.label != label))
        assert dropped.digest != statement.digest
