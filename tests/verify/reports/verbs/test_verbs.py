"""The arguments of the verbs in Python; any other argument is refused in one line that names it."""

from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

import verify
from verify import InputError

THEOREM = "wang2024.stationary_points"
RECURSION = "wang2024.theorem1"
SMALL = {"T": 9, "q": 2, "d": 1}


def refused(call, *given, **named):
    with pytest.raises(InputError) as error:
        call(*given, **named)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("verb", "named", "said"),
    [
        (verify.check, {"digit": 3}, "digit = 3: is neither a parameter nor an option; did you mean digits?"),
        (verify.explore, {"max_example": 3}, "max_example = 3: is neither a parameter nor an option; did you mean max"),
        (verify.necessity, {"second": 3}, "did you mean seconds or seed?"),
        (verify.conditions, {"t": 3}, "did you mean T?"),
        (verify.conditions, {"digit": 3}, "is not a parameter of this theorem; its parameters are"),
    ],
)
def test_a_misspelt_keyword_is_answered_with_the_one_meant(verb, named, said):
    assert said in refused(verb, THEOREM, **named)


@pytest.mark.parametrize("verb", [verify.check, verify.conditions, verify.explore, verify.necessity, verify.prove])
def test_a_module_is_refused_as_a_theorem(verb):
    said = "theorem: is of type module: give an id, file.py:name or a Theorem"
    assert refused(verb, ModuleType("mine")) == said


def test_a_path_is_as_good_as_its_text(theorem_file):
    from pathlib import Path

    path = theorem_file('mine = theorem_of(Inequality("c", sp.Lt(x, 2)))\n')
    assert verify.check(Path(path), x=1).theorem == "user.mine"


def test_one_label_is_no_list_of_letters():
    found = verify.explore(RECURSION, drop="step_size", max_examples=1, seconds=5)
    assert found.dropped == ("step_size",)
    assert "--drop = step: is not a hypothesis" in refused(verify.explore, RECURSION, drop="step")


def test_settings_are_numbers_or_their_text():
    given = {"q": 1, "steps": 5, "window": 2, "device": "cpu"}
    number, text = (verify.simulate("wang2024.one_hot_training", T=T, **given) for T in (4, "4"))
    assert number.settings == text.settings and number.measurements == text.measurements
    assert verify.simulate("wang2024.one_hot_training", T="4,5", **given).settings["T"] == (4, 5)
    assert "T = [4, 5]: must be" in refused(verify.simulate, "wang2024.one_hot_training", T=[4, 5], **given)


def test_one_number_of_steps_does():
    given = {**SMALL, "eta": "1/20"}
    one, listed = verify.observe(RECURSION, 10, **given), verify.observe(RECURSION, [10], **given)
    assert one.steps == (10,) and one.values.tolist() == listed.values.tolist()
    assert "-1" in refused(verify.observe, RECURSION, -1, **given)


def test_a_grid_may_be_given_by_keyword_and_as_an_array():
    listed = verify.sweep(RECURSION, {"eta": ["0.02", "0.03", "0.04"]}, eps="1/200", **SMALL)
    array = verify.sweep(RECURSION, over={"eta": np.linspace(0.02, 0.04, 3)}, eps="1/200", **SMALL)
    assert (
        array.grid.axes[0].values == listed.grid.axes[0].values == (Fraction(1, 50), Fraction(3, 100), Fraction(1, 25))
    )
    assert array.counts == listed.counts and array.done == 3
    assert "missing: a sweep needs" in refused(verify.sweep, RECURSION, **SMALL)
    assert "must be START:STOP:COUNT" in refused(verify.sweep, RECURSION, {"eta": np.array(0.02)}, eps=1, **SMALL)


def test_a_number_of_processes_is_an_integer():
    assert refused(verify.sweep, THEOREM, {"T": "9,10"}, q=2, d=1, jobs="two") == "jobs = two: must be an integer >= 1"


def test_a_certificate_that_cannot_be_opened_is_an_input_error(tmp_path):
    missing = tmp_path / "no.json"
    assert refused(verify.recheck, missing).endswith("cannot be opened: No such file or directory")
    assert refused(verify.recheck, str(tmp_path)).endswith("is a folder: give a file in it")


def test_a_proof_takes_no_values():
    with pytest.raises(InputError, match="T = 3: prove takes no values"):
        verify.prove("wang2024.lemma1", T=3)
