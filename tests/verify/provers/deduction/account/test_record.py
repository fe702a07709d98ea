"""The record of a search for a deduction: the reason why the search ended, and the goals that stayed open."""

import pytest

from verify.claims.line import statement_of
from verify.errors import OutOfTimeError
from verify.provers.deduction.account.record import record_of
from verify.provers.deduction.proofs import deduction_proof

WORK = 40_000


def searched(line, work=WORK):
    statement = statement_of(line)
    (claim,) = statement.claims
    proof = deduction_proof(claim.relation, statement, work, hypotheses=True)
    return proof, record_of((claim.relation, statement, work, True))


def test_a_proof_ends_it():
    proof, record = searched("x**2 + 1 > 0 for x real")
    assert proof is not None and record.ended == "proved" and record.root.shown
    assert 0 < record.spent < record.limit == WORK and record.linear >= 1


def test_shown_and_open_parts_are_reported_with_their_assumptions():
    # The claim is false only at n = 1000, where no point is drawn.
    proof, record = searched("2**n*(n - 1000)**2 >= 1 for integer n >= 0")
    assert proof is None and record.ways["induction"] >= 1
    (part,) = [part for part in record.open_parts() if part.startswith("by induction")]
    # The claim is shown at n = 0; the step from n to n + 1 is not shown.
    assert part.startswith("by induction, 1 of its parts shown; open: 2**(n + 1)*(n - 999)**2 - 1 >= 0 where n >= 0, ")
    assert part.endswith("2**n*(n - 1000)**2 - 1 >= 0")


def test_the_work_that_is_spent_ends_it():
    proof, record = searched("exp(x) <= 1 + x + x**2 if x <= 1 for x >= 0", 300)
    assert (proof, record.ended, record.spent) == (None, "work", 300)


def test_the_time_that_is_over_ends_it(monkeypatch):
    def late():
        raise OutOfTimeError("the time ran out")

    monkeypatch.setattr("verify.provers.deduction.scope.look_at_the_clock", late)
    statement = statement_of("x**4 + 7 > x for x real")
    (claim,) = statement.claims
    with pytest.raises(OutOfTimeError):
        deduction_proof(claim.relation, statement, WORK, hypotheses=True)
    assert record_of((claim.relation, statement, WORK, True)).ended == "seconds"


def test_undefined_terms_unused_hypotheses_and_unsigned_symbols_are_noted():
    record = searched("log(x + y) <= x + y for x > 0")[1]
    assert (record.without_value, record.unsigned) == ([("x + y", "positive")], ("y",))
    record = searched("x*y <= 7 if log(x + y - 1) <= 2 for x > 0, y > 0")[1]
    assert record.unused == ("log(x + y - 1) <= 2",) and record.without_value == []


def test_a_point_against_a_claim_is_noted_and_nothing_is_looked_for():
    record = searched("x**2 >= x for x > 0")[1]
    assert 0 < record.fails_at["x"] < 1 and record.linear == 0


def test_too_long_expression_is_refused_before_the_search():
    record = searched(f"{' + '.join(f'(x - {k})**2*y' for k in range(20))} >= y for x real, y > 0")[1]
    assert record.ended == "refused" and "operations, and a proof is looked for up to 60" in record.refused


def test_facts_about_other_numbers_are_left_out_and_take_no_work():
    claim, domains = "x*y <= 1 if x + y <= 2", "for x > 0, y > 0"
    (alone, few) = searched(f"{claim} {domains}")
    (among, many) = searched(f"{claim}, u*v <= w, v <= u*w, w**2 <= u {domains}, u > 0, v > 0, w > 0")
    assert alone["tree"] == among["tree"] and (few.columns, few.left) == (many.columns, many.left)
    # Facts that are connected to the claim through another fact are kept.
    assert searched("x <= 3 if x <= y, y <= z, z <= 3")[0] is not None


def test_the_longest_hypotheses_are_left_out():
    long = " + ".join(f"(y - {k})**2*z" for k in range(20))
    proof, record = searched(f"x <= 2 if {long} <= x, x <= 1 for z > 0")
    assert proof["relations"] == [1] and len(record.left_out) == 1 and record.ended == "proved"
    # Here the long hypothesis is needed.
    proof, record = searched(f"x <= 2 if x <= 1 - ({long}) for z > 0")
    assert proof is None and len(record.left_out) == 1 and record.unused == ()
