"""What a search keeps and replays: for the same statement, what is still a counterexample."""

import json

import sympy as sp
from hypothesis.database import InMemoryExampleDatabase

from tests.verify.searched import NOISE, STRUCTURAL, M, N, X, m, n, noise, theorem, without_the_clock, x
from verify import Case, Hypothesis
from verify.search.explore import explore

BELOW_50 = theorem((N,), sp.Lt(n, 50))


def test_what_was_found_is_replayed():
    database = InMemoryExampleDatabase()
    first = explore(BELOW_50, {}, database=database)
    assert first.counterexample == {"n": 50} and first.needed > 1 and not first.replayed
    # Whatever the effort.
    again = explore(BELOW_50, {}, database=database, max_examples=1)
    assert (again.counterexample, again.needed, again.stopped, again.replayed) == ({"n": 50}, 1, "found", True)
    # Another seed is another search: each repeats itself, whatever others have found.
    other, alone = (explore(BELOW_50, {}, database=kept, seed=5) for kept in (database, None))
    assert without_the_clock(other) == without_the_clock(alone) and not other.replayed


def test_nothing_is_replayed_where_the_statement_was_changed():
    database = InMemoryExampleDatabase()
    explore(BELOW_50, {}, database=database)
    changed = theorem((N,), sp.Lt(n, 51))
    assert explore(changed, {}, database=database).needed > 1
    # Nor for other given values, nor where something is dropped.
    pair = theorem((N, M), sp.Lt(n, 48 + m), Hypothesis("even", sp.Ge(m, 2)))
    assert explore(pair, {"m": 2}, database=database).needed > 1
    assert explore(pair, {"m": 2}, database=database).needed == 1
    assert explore(pair, {"m": 3}, database=database).needed > 1
    assert explore(pair, {}, database=database).needed > 1
    assert explore(pair, {"m": 2}, drop=["even"], database=database).needed > 1


def test_what_is_no_counterexample_any_more_is_not_replayed_as_one():
    kept = {}

    class Database(InMemoryExampleDatabase):
        def save(self, key, value):
            kept[key] = value
            super().save(key, value)

    explore(BELOW_50, {}, database=Database())
    ((key, value),) = kept.items()
    assert json.loads(value) == {"n": 50}
    corrupt = [
        b"", b"\xff\xfe", b"null", b"[]", b"[1, 2]", b"3", b'"n"', b"{}", b'{"n": null}', b'{"n": [50]}', b'{"n": {}}',
        b'{"m": 50}', b'{"n": "fifty"}', b'{"n": 0}', b'{"n": 49}', b'{"n": 2.5}', b'{"n": 1e99}', b'{"n": 50, "m": 1}',
        b'{"n": NaN}', b'{"n": true}', b"[" * 100_000,
    ]  # fmt: skip
    for entry in corrupt:
        database = InMemoryExampleDatabase()
        database.save(key, entry)
        result = explore(BELOW_50, {}, database=database)
        assert result.counterexample == {"n": 50} and result.needed > 1, entry
    mixed = InMemoryExampleDatabase()
    for entry in (*corrupt, value):
        mixed.save(key, entry)
    assert explore(BELOW_50, {}, database=mixed).needed <= 2


def test_what_breaks_a_hypothesis_is_not_replayed():
    bounded = theorem((N,), sp.Lt(n, 50), Hypothesis("small", sp.Le(n, 60)))
    kept = []

    class Database(InMemoryExampleDatabase):
        def save(self, key, value):
            kept.append(key)
            super().save(key, value)

    database = Database()
    explore(bounded, {}, database=database)
    database.delete(kept[0], b'{"n": 50}')
    database.save(kept[0], b'{"n": 70}')
    result = explore(bounded, {}, database=database)
    assert result.counterexample == {"n": 50} and not result.replayed


def test_fractions_and_words_are_replayed():
    both = theorem((X, NOISE), sp.Gt((x - sp.Rational(1, 3)) ** 2 * Case(noise, 1, 0), 0), STRUCTURAL)
    database = InMemoryExampleDatabase()
    found = [explore(both, {}, drop=["gaussian_noise"], database=database) for _ in range(2)]
    assert found[0].counterexample == found[1].counterexample and found[1].needed == 1


def test_nothing_is_kept_where_nothing_is_found():
    class Database(InMemoryExampleDatabase):
        def save(self, key, value):
            raise AssertionError((key, value))

    assert (
        explore(theorem((N,), sp.Ge(n, 1, evaluate=False)), {}, database=Database(), max_examples=20).counterexample
        is None
    )
