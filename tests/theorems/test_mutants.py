"""Mutants of every theorem's statement: how many are killed, proved all the same, or survive.

`make audit` prints the counts and lists the survivors.
"""

import pytest

from verify import load_theorem, theorem_ids

MOST, SECONDS = 12, 3


@pytest.mark.audit
@pytest.mark.parametrize("name", theorem_ids())
def test_mutants(ledger, name):
    tried = ledger.mutants(load_theorem(name), most=MOST, seconds=SECONDS)
    # What is undecided at every change of a statement checks nothing of it.
    assert any(found.fate == "killed" for found in tried)


@pytest.mark.parametrize("name", ["ahn2023.lemma2", "li2024.gradient"])
def test_a_few_mutants_are_told_apart_from_the_statement(ledger, name):
    tried = ledger.mutants(load_theorem(name), most=4, seconds=2)
    assert len(tried) == 4 and any(found.fate == "killed" for found in tried)
