"""Settings' parameters refuse wrong values, and `timed` measures an action."""

import pytest

from numerics.settings import at_least, counted, integer, positive, timed
from verify import InputError


def test_parameters_refuse_what_they_should():
    assert integer("n", "rows", 2).parse("2") == 2 and positive("eta", "a step").parse("1/3") > 0
    with pytest.raises(InputError, match="n = 1: must be an integer >= 2"):
        integer("n", "rows", 2).parse("1")
    with pytest.raises(InputError, match="eta = 0"):
        positive("eta", "a step").parse("0")


@pytest.mark.usefixtures("unchecked")
def test_sizes_are_integers_that_are_not_too_small():
    at_least("n", 2, 2)
    for value in (1, 2.0):
        with pytest.raises(InputError, match=f"n = {value}: must be an integer >= 2"):
            at_least("n", value, 2)


@pytest.mark.usefixtures("unchecked")
def test_keys_and_steps_are_words():
    counted(2**64 - 1, 2**63 - 1)
    for name, given in (("key", (-1,)), ("key", (2**64,)), ("step", (0, -1)), ("step", (0, 2**63)), ("step", (0, 0.5))):
        with pytest.raises(InputError, match=f"{name} = .*: must be an integer from 0 to 2"):
            counted(*given)


def test_an_act_is_timed(monkeypatch):
    clock, acts = [0.0], []
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def act():
        acts.append(None)
        clock[0] += 1.5

    assert timed(act, "cpu", 4) == 1.5 and len(acts) == 4
