"""The record of accepted formal proofs belongs to the present statements and files; the test needs no Rocq."""

import pytest

import verify
from tests.theorems import rocq
from verify.checking.formal.record import entries, recorded
from verify.checking.registry import ids
from verify.formal.kernel.acceptance import exported_again

RECORD = entries("theorems")
SENTENCES = {
    "the normal law is a mean with the moments of independent standard normal entries up to degree 3",
    "the normal law is a mean with the moments of independent standard normal entries, up to the exponent 4 of each",
    "every Sigma of full rank is U diag(lambda) U' = C C', and C g is N(0, Sigma) for a standard normal g",
    "the mean under a law gives equal functions equal means",
    "the gradient of the population loss is the mean of the gradients of the samples",
}
"""The only sentences in prose on which formal results rest."""
EXPORTED = [name for name, entry in RECORD.items() if entry["exported"]["clauses"]]


def test_the_record_is_of_the_statements_and_of_the_files_that_are_there():
    assert set(RECORD) <= set(ids("theorem", "theorems"))
    assert {name: why for name in RECORD if (why := recorded(verify.load_theorem(name)).not_formal)} == {}


def test_the_record_is_on_the_axioms_of_the_reals_alone():
    assert len(RECORD) > 10
    for entry in RECORD.values():
        assert set(entry["axioms"]) == rocq.ALLOWED and entry["rocq"] and entry["libraries"]["Coquelicot"]


def test_every_formal_text_is_on_record():
    for name in ids("theorem", "theorems"):
        formal = verify.load_theorem(name).statement.formal
        assert sorted(formal) == RECORD.get(name, {"typed": {"claims": []}})["typed"]["claims"], name
        assert {sentence for text in formal.values() for sentence in text.besides} <= SENTENCES


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_files_are_those_that_were_accepted(name):
    exported = RECORD[name]["exported"]
    assert exported_again(verify.load_theorem(name), exported["without"]) == exported["files"]
