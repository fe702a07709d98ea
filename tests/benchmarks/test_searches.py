"""The examples of a search are counted, even if the search finds nothing."""

import pytest
import sympy as sp

from tests.benchmarks.searches import canaries, needed
from tests.verify.searched import N, n, theorem
from verify import Canary

TRUE, FALSE = theorem((N,), sp.Ge(n**2, n)), theorem((N,), sp.Le(n**2, 0, evaluate=False))


@pytest.mark.parametrize("guided", [True, False])
def test_canary_that_fails_at_the_first_instance_needs_one(guided):
    assert needed(TRUE, Canary("it is 0", FALSE.statement, "claim"), 3, guided=guided) == (1, True)


def test_true_canary_needs_all_instances():
    tried, found = needed(FALSE, Canary("it is true", TRUE.statement, "claim"), 3, guided=False, most=20)
    # An instance that is drawn twice is tried once.
    assert 10 < tried <= 20 and not found


def test_all_theorems_have_canaries():
    assert len({theorem.id for theorem, _ in canaries()}) > 20
