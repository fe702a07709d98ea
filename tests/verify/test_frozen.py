"""A frozen value and its parts cannot change; a value with nothing to freeze is returned as the same object."""

import copy
import pickle
from dataclasses import dataclass, field

import pytest

from verify.frozen import Frozen, frozen


@dataclass(frozen=True)
class Part:
    numbers: object
    shapes: object = field(default_factory=dict)


def test_lists_and_mappings_are_frozen_all_the_way_down():
    inner = {"b": [1, 2]}
    part = frozen(Part([inner, (3,)], {"a": inner}))
    inner["b"].append(3)
    inner["c"] = 4
    assert part == Part((Frozen({"b": (1, 2)}), (3,)), Frozen({"a": Frozen({"b": (1, 2)})}))
    with pytest.raises(TypeError):
        part.shapes["a"] = 1
    with pytest.raises(TypeError, match="cannot be changed"):
        part.shapes._items = {}


def test_frozen_values_are_returned_unchanged():
    part = frozen(Part([1], {"a": 1}))
    assert frozen(part) is part and frozen((1, "a")) == (1, "a")
    for value in (1, "text", None, {1, 2}, (1, (2, 3)), Part((1,), Frozen({}))):
        assert frozen(value) is value


def test_a_frozen_mapping_is_a_mapping():
    made = Frozen({"a": [1], "b": 2})
    assert dict(made) == {"a": (1,), "b": 2} and len(made) == 2 and "a" in made and repr(made) == "{'a': (1,), 'b': 2}"
    assert made == {"a": (1,), "b": 2} and hash(made) == hash(Frozen({"b": 2, "a": (1,)}))
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    with pytest.raises(KeyError):
        made["c"]
