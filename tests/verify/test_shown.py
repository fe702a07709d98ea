"""No result loads the code of its display before it is shown, and a witness can be used as an instance."""

import pickle
import subprocess
import sys
from copy import deepcopy

import pytest

from verify.shown import Formula, Panelled, Plotted, Result, Shown, Tabled, Witness


def test_a_result_that_is_not_shown_loads_nothing():
    code = "import sys; from verify.outcomes import Enclosure; made = Enclosure(1, 2); before = set(sys.modules); "
    code += "print(any(m.startswith('verify.reports') for m in before), repr(made), str(made), "
    code += (
        "any(m.split('.')[0] in ('sympy', 'torch', 'matplotlib', 'pandas') for m in sys.modules if m not in before))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [
        "False",
        "<Enclosure",
        "between",
        "1",
        "and",
        "2>",
        "between",
        "1",
        "and",
        "2",
        "False",
    ]


@pytest.mark.parametrize("kind", [Shown, Formula, Result, Tabled, Plotted, Panelled])
def test_they_add_no_state(kind):
    assert kind.__slots__ == () and not vars(kind).get("__annotations__")


def test_a_witness_has_an_instance_and_more():
    witness = Witness({"x": 1, "step": 7}, frozenset({"x"}))
    assert witness == {"x": 1, "step": 7} and witness.instance == {"x": 1}
    for same in (pickle.loads(pickle.dumps(witness)), deepcopy(witness)):
        assert same == witness and same.instance == {"x": 1}
    assert Witness() == {} and Witness({"x": 1}).instance == {}
