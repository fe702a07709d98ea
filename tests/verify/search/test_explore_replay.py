"""A search keeps counterexamples, and replays those of the same statement that still refute it."""

import pytest
import sympy as sp

from tests.verify.searched import NOISE, STRUCTURAL, M, N, X, m, n, noise, theorem, without_the_clock, x
from verify import Case, Hypothesis, remembered
from verify.search.explore import explore

BELOW_50 = theorem((N,), sp.Lt(n, 50))


def test_a_found_counterexample_is_replayed(kept):
    assert not explore(BELOW_50, {}).replayed and not kept.exists()
    first = explore(BELOW_50, {}, keep=True)
    assert first.counterexample == {"n": 50} and not first.replayed
    # The counterexample is replayed even if only one example is allowed.
    again = explore(BELOW_50, {}, keep=True, max_examples=1)
    assert (again.counterexample, again.needed, again.stopped, again.replayed) == ({"n": 50}, 1, "found", True)
    # A search with another seed repeats only its own counterexamples.
    other, alone = (explore(BELOW_50, {}, keep=keep, seed=5) for keep in (True, False))
    assert without_the_clock(other) == without_the_clock(alone) and not other.replayed


def test_nothing_is_replayed_where_the_statement_was_changed():
    explore(BELOW_50, {}, keep=True)
    changed = theorem((N,), sp.Lt(n, 51))
    assert not explore(changed, {}, keep=True).replayed
    # Nothing is replayed for other given values, or if a hypothesis is dropped.
    pair = theorem((N, M), sp.Lt(n, 48 + m), Hypothesis("even", sp.Ge(m, 2)))
    assert not explore(pair, {"m": 2}, keep=True).replayed
    assert explore(pair, {"m": 2}, keep=True).replayed
    assert not explore(pair, {"m": 3}, keep=True).replayed
    assert not explore(pair, {}, keep=True).replayed
    assert not explore(pair, {"m": 2}, drop=["even"], keep=True).replayed


@pytest.mark.parametrize("kept_as", [{"n": 49}, {"n": 50, "m": 1}, {"n": 0}, {}, [50], "fifty"])
def test_a_kept_instance_that_is_no_counterexample_is_not_replayed(monkeypatch, kept_as):
    # An older version of this program may have kept such an instance.
    explore(BELOW_50, {}, keep=True)
    monkeypatch.setattr(remembered.Memory, "recall", lambda *_: kept_as)
    result = explore(BELOW_50, {}, keep=True)
    assert result.counterexample == {"n": 50} and not result.replayed


@pytest.mark.parametrize("damaged", ["", "[", "null", '{"of": 1}'])
def test_a_damaged_file_is_none(kept, damaged):
    explore(BELOW_50, {}, keep=True)
    (file,) = (kept / "remembered").iterdir()
    file.write_text(damaged)
    result = explore(BELOW_50, {}, keep=True)
    assert result.counterexample == {"n": 50} and not result.replayed
    assert explore(BELOW_50, {}, keep=True).replayed


def test_a_kept_instance_that_breaks_a_hypothesis_is_not_replayed(monkeypatch):
    bounded = theorem((N,), sp.Lt(n, 50), Hypothesis("small", sp.Le(n, 60)))
    monkeypatch.setattr(remembered.Memory, "recall", lambda *_: {"n": 70})
    result = explore(bounded, {}, keep=True)
    assert result.counterexample == {"n": 50} and not result.replayed


def test_fractions_and_words_are_replayed():
    both = theorem((X, NOISE), sp.Gt((x - sp.Rational(1, 3)) ** 2 * Case(noise, 1, 0), 0), STRUCTURAL)
    found = [explore(both, {}, drop=["gaussian_noise"], keep=True) for _ in range(2)]
    assert found[0].counterexample == found[1].counterexample and found[1].needed == 1


def test_nothing_is_kept_where_nothing_is_found(kept):
    true = theorem((N,), sp.Ge(n, 1, evaluate=False))
    assert explore(true, {}, keep=True, max_examples=20).counterexample is None and not kept.exists()
