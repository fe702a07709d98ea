"""Errors: an InputError is unchanged by pickling, and a similar known name is suggested."""

import pickle

import pytest

from verify import InputError
from verify.errors import meant


def test_an_input_error_survives_pickling():
    error = InputError("eta", 3, "must be an integer")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InputError and str(again) == str(error) == "eta = 3: must be an integer"
    assert (again.name, again.requirement) == ("eta", "must be an integer")


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("Eta", ["T", "eta", "eps"], "did you mean eta? known: T, eta, eps"),
        ("depth", ["T", "q"], "known: T, q"),
        ("x", [], "known: none"),
        ("theorem9", [f"theorem{i}" for i in range(9)], "did you mean theorem"),
        ("x", [f"theorem{i}" for i in range(9)], "known: theorem0, "),
    ],
)
def test_a_near_name_is_suggested(name, known, said):
    assert meant(name, known).startswith(said)
    assert meant(name, known).endswith(", … (9 in all)") == (said == "known: theorem0, ")
