"""The lemmas: formal or proved, and compared with transformers with random matrices."""

import pytest
from hypothesis import given

from paper_checks.ahn2023 import lemmas
from theorems.preconditioned_descent import components, exchange, filled_label, gradient_descent
from verify import InWords

THEOREMS = [
    gradient_descent.lemma1,
    components.lemma2,
    components.lemma3,
    exchange.lemma4,
    filled_label.lemma5,
    filled_label.lemma6,
]
AT_RANDOM_SIZES = lemmas.lemmas_at_random_sizes


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)
def test_each_claim_is_formal_or_proved_for_all_parameters(ledger, theorem):
    result = ledger.check(theorem, **theorem.example)
    in_words = {claim.label for claim in theorem.statement.claims if isinstance(claim, InWords)}
    assert result.for_all_parameters.standing in ("formal", "proved") and len(in_words) == 1
    assert {clause.label for clause in result.clauses if clause.evidence != "proved"} == in_words


@pytest.mark.crossing(AT_RANDOM_SIZES.id)
@given(instance=AT_RANDOM_SIZES.instances)
def test_labels_of_the_layers_against_transformers(crossing, instance):
    crossing.holds(AT_RANDOM_SIZES, instance)


@pytest.mark.parametrize("label", AT_RANDOM_SIZES.planted)
def test_planted_errors_in_the_lemmas_are_caught(crossing, label):
    crossing.catches(AT_RANDOM_SIZES, label)
