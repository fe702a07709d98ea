"""Audited cases of a function: a run takes some of many, which its seed draws, and leaves no other test out."""

from tests.conftest import MOST_CASES, _left_out


class Item:
    """A test with an id and the names of its marks."""

    def __init__(self, name, *marks):
        self.nodeid, self._marks = f"test_file.py::{name}", marks

    def get_closest_marker(self, mark):
        return mark if mark in self._marks else None


MANY = [Item(f"test_many[{i}]", "audit") for i in range(MOST_CASES + 20)]
OTHERS = [
    *(Item(f"test_few[{i}]", "audit") for i in range(MOST_CASES)),
    *(Item(f"test_of_every_run[{i}]") for i in range(MOST_CASES + 20)),
]


def test_most_cases_of_a_function_are_left_out_and_no_other_test():
    left_out = _left_out(MANY + OTHERS, 3)
    assert len(left_out) == 20 and left_out < set(MANY)


def test_the_seed_draws_the_cases_and_repeats_them():
    assert _left_out(MANY, 3) == _left_out(MANY, 3) == _left_out(MANY + OTHERS, 3)
    assert len({frozenset(_left_out(MANY, seed)) for seed in range(5)}) > 1


def test_all_cases_are_run_by_some_seed():
    assert not set.intersection(*(_left_out(MANY, seed) for seed in range(40)))
