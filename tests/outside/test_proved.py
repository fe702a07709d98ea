"""True statements from other sources that are recorded as proved are proved; no false statement is."""

import json

import pytest

from tests.outside import statements
from tests.outside.proved import RECORD, proofs

PROVED = json.loads(RECORD.read_text(encoding="utf-8"))
QUICK = 4000
"""The work, in columns of linear programs, that is spent on a false statement."""


def test_recorded_proofs_are_of_true_statements_of_the_set():
    true = {each.id for each in statements() if each.true}
    # At the commit that added the set, z3 proved 53 of its statements.
    assert set(PROVED) <= true and len(PROVED) > 53 and max(PROVED.values()) < 2_000_000


@pytest.mark.audit
@pytest.mark.parametrize("outside", [each for each in statements() if each.id in PROVED], ids=lambda each: each.id)
def test_a_true_statement_is_proved(outside):
    assert proofs(outside) is not None


@pytest.mark.audit
@pytest.mark.parametrize("outside", [each for each in statements() if not each.true], ids=lambda each: each.id)
def test_a_false_statement_is_not_proved(outside):
    assert proofs(outside, QUICK) is None
