"""Errors: an InputError goes from process to process as it is."""

import pickle

from verify import InputError


def test_an_input_error_survives_pickling():
    error = InputError("eta", 3, "must be an integer")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InputError and str(again) == str(error) == "eta = 3: must be an integer"
    assert (again.name, again.requirement) == ("eta", "must be an integer")
