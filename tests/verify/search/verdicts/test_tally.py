"""An instance is clean if all clauses are known to hold, and only then."""

import math
import time
from dataclasses import replace

import pytest
import sympy as sp

from tests.verify.searched import N, W, n, theorem, w, z
from verify import Dynamics, Inequality, InWords, Reaches
from verify.outcomes import ClauseResult
from verify.search.verdicts.decision import Judge
from verify.search.verdicts.tally import Tally, Tried, Verdict

POSITIVE, LARGE = Inequality("positive", sp.Ge(n, 0, evaluate=False)), Inequality("large", sp.Ge(w, 2))
WORDS = InWords("words", "something")


def tally(*claims, steps=()):
    made = theorem((N, W), LARGE)
    statement = replace(made.statement, claims=claims, steps=steps)
    return Tally(Judge(replace(made, statement=statement), statement))


def tried(value, margin=1.0, labels=("positive", "large"), **more):
    return Tried({"n": 1, "w": value}, dict.fromkeys(labels, margin), **more)


def test_an_instance_is_clean_once_all_clauses_are_known_to_hold():
    both, one = tally(POSITIVE, LARGE), tried(3)
    assert both.verdict(one) is Verdict.UNDECIDED
    one.take("positive")
    assert both.verdict(one) is Verdict.UNDECIDED
    one.take("large")
    assert both.verdict(one) is Verdict.CLEAN
    one.refuted = True
    assert both.verdict(one) is Verdict.REFUTED


def test_claims_in_words_make_nothing_clean_and_hinder_nothing():
    assert tally(WORDS).labels == () and tally(WORDS).verdict(tried(3)) is Verdict.UNDECIDED
    with_words = tally(WORDS, LARGE)
    held = tried(3, holds={"large": 1.0})
    assert with_words.labels == ("large",) and with_words.verdict(held) is Verdict.CLEAN
    assert tally(WORDS, steps=(LARGE,)).verdict(held) is Verdict.UNDECIDED


def test_an_instance_has_no_value_if_no_arithmetic_finds_one():
    only = tally(LARGE)
    silent = tried(3, math.inf, silent=frozenset({"large"}))
    assert only.verdict(silent) is Verdict.UNDECIDED
    silent.note("large", ClauseResult.undecided(LARGE, "no value"))
    assert only.verdict(silent) is Verdict.WITHOUT_VALUE
    assert only.verdict(tried(3, left_open={"large"})) is Verdict.UNDECIDED


def test_floats_decide_what_is_beyond_their_error():
    only, some = tally(LARGE), [tried(3, 0.2), tried(2, 0.0), tried(1, -0.3), tried(10**400, math.inf)]
    only.by_floats(some)
    assert [only.verdict(each) for each in some] == [Verdict.CLEAN] + [Verdict.UNDECIDED] * 3
    assert only.smallest(some, ()) == (0.2, some[0].instance)
    assert only.smallest(some[1:], ()) is None


def test_a_proof_decides_every_instance_and_no_proof_none():
    both, some = tally(POSITIVE, LARGE), [tried(w, math.inf) for w in (0, 3)]
    both.by_proofs(some, time.monotonic() + 600)
    assert [set(each.holds) for each in some] == [{"positive"}] * 2
    late = [tried(0)]
    both.by_proofs(late, time.monotonic() - 1)
    assert late[0].holds == {}


def test_undecided_instances_are_decided_one_by_one():
    only, some = tally(LARGE), [tried(3, 0.2), tried(2, -1e-17), tried(1, 0.1)]
    ((refuted, result),) = only.one_by_one(some, time.monotonic() + 600)
    assert refuted is some[2] and result.margin == -1
    assert [only.verdict(each) for each in some] == [Verdict.CLEAN, Verdict.CLEAN, Verdict.REFUTED]
    # A margin that is negative only by rounding counts as 0.
    assert only.smallest(some, ()) == (0.0, some[1].instance)


def test_a_clause_that_takes_too_long_does_not_keep_the_others_waiting(clock):
    slow = Dynamics((z,), (sp.Integer(1),), (z * (1 - sp.Rational(1, 10**9)),), z)
    never = Inequality("large", sp.Ge(w, 2))
    both = tally(never, Reaches("slow", slow, sp.Rational(1, 2)))
    some = [tried(w, 0.2, ("large", "slow")) for w in range(2, 30)]
    began, clock.tick = clock.now, 0.01
    assert list(both.one_by_one(some, began + 1.5)) == []
    assert clock.now - began < 3 and all(both.verdict(each) is Verdict.UNDECIDED for each in some)
    assert 1 <= sum("large" in each.holds for each in some)


@pytest.mark.parametrize(
    ("claim", "little"), [(LARGE, True), (Reaches("r", Dynamics((z,), (n,), (z,), z), sp.Integer(1)), False)]
)
def test_an_inequality_takes_little_time_and_a_recursion_does_not(claim, little):
    assert tally(claim).takes_little() is little
