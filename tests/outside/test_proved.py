"""The true statements from other sources that are recorded as proved are proved, and no false statement is proved."""

import json
import statistics

import pytest

from tests.benchmarks.page import ROWS, kept
from tests.outside import FAMILIES, statements
from tests.outside.proved import RECORD, Proved, proofs

PROVED = json.loads(RECORD.read_text(encoding="utf-8"))
QUICK = 4000
"""The work that is spent on a false statement, in columns of linear programs."""
RECHECKING = 200_000
"""Limit of the work of re-checking a statement's claims, in nominal microseconds: 1/300 of a certificate's limit.

When this limit was set, the largest work was 114 297, for `soft_threshold_nonexpansive`."""
LEAST_SHARE, MEDIAN, LARGEST = 0.85, 20_000, 2_000_000
"""The least share of a family's true statements that is proved; limits of the median and the largest proof length."""
MEASURED = {row["work"]: row for row in kept(ROWS) if row["kind"] == "others"}
"""The latest measurement of each family, with the characters and the seconds of each proof."""


def test_recorded_proofs_are_of_true_statements_of_the_set():
    assert set(PROVED) <= {each.id for each in statements() if each.true}


@pytest.mark.parametrize("family", FAMILIES)
def test_most_true_statements_of_a_family_are_proved(family):
    true = [each.id for each in statements(family) if each.true]
    assert sum(name in PROVED for name in true) >= LEAST_SHARE * len(true)


def test_proofs_are_short():
    assert statistics.median(PROVED.values()) < MEDIAN and max(PROVED.values()) < LARGEST


@pytest.mark.parametrize("family", FAMILIES)
def test_each_measured_proof_is_short_and_re_checked_in_good_time(family):
    row = MEASURED[family]
    columns = (row["characters"], row["searched"], row["rechecked"])
    found = [Proved(*each) for each in zip(*columns, strict=True)]
    assert row["proved"] == len(found) >= LEAST_SHARE * row["true"]
    assert statistics.median(row["characters"]) < MEDIAN and max(row["characters"]) < LARGEST
    assert all(each.in_time for each in found) and row["late"] == 0


@pytest.mark.audit
@pytest.mark.parametrize("outside", [each for each in statements() if each.id in PROVED], ids=lambda each: each.id)
def test_a_true_statement_is_proved(outside):
    assert proofs(outside, rechecking=RECHECKING) is not None


@pytest.mark.audit
@pytest.mark.parametrize("outside", [each for each in statements() if not each.true], ids=lambda each: each.id)
def test_a_false_statement_is_not_proved(outside):
    assert proofs(outside, QUICK) is None
