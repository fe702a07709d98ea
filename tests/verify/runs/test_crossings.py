"""Planted errors of a crossing: an error that seldom shows is caught at every seed; one that never shows is not."""

import pytest
from hypothesis import strategies as st

from verify import Crossing, Evidence, Outcome, Verdict
from verify.runs.crossings import LOOKED_THROUGH

DRAWN = st.tuples(st.integers(1, 8), st.integers(0, 2**31), st.integers(0, 2**31))


def crossing(held):
    of = ("user.twice", "n twice is 2n", "doubles", "user.double", "user.exact")
    return Crossing(*of, DRAWN, held, lambda n: 2 * n, {"at 6": lambda n: 2 * n + (n == 6)})


def held(theory, drawn, device):
    outcome = Outcome.VERIFIED if theory(drawn[0]) == 2 * drawn[0] else Outcome.REFUTED
    return Verdict(outcome, Evidence.COMPUTED, f"on {device}")


# At 16 of these seeds a single run of 40 draws contains no n = 6.
@pytest.mark.parametrize("seeds", [range(50), range(50, 100)], ids=str)
def test_an_error_that_one_instance_in_eight_shows_is_caught(seeds):
    found = [crossing(held).caught("at 6", "cpu", seed=seed) for seed in seeds]
    assert {verdict.outcome for verdict in found} == {Outcome.REFUTED}
    assert all(verdict.detail.startswith("(6, ") and verdict.detail.endswith(": on cpu") for verdict in found)


def test_an_error_that_is_never_shown_is_not_caught_and_all_instances_are_looked_at():
    looked_at = []

    def blind(theory, drawn, device):
        looked_at.append(drawn)
        return Verdict(Outcome.VERIFIED, Evidence.COMPUTED, "")

    assert crossing(blind).caught("at 6", "cpu").outcome is Outcome.VERIFIED
    assert len(looked_at) == LOOKED_THROUGH
    assert crossing(blind).caught("at 6", "cpu", examples=25).outcome is Outcome.VERIFIED
    assert len(looked_at) == LOOKED_THROUGH + 25
