"""Steps at other numbers of examples: proved, and compared with quadrature and fresh prompts."""

import pytest

from paper_checks.ahn2023 import fixed_steps as checks
from theorems.preconditioned_descent.fixed_steps import fixed_steps
from verify import Outcome


def test_all_clauses_but_equal_steps_are_proved(ledger):
    result = ledger.check(fixed_steps, **fixed_steps.example)
    assert {c.label for c in result.clauses if c.evidence != "proved"} == {"equal_steps"}
    ledger.canaries(fixed_steps)


def test_losses_at_other_lengths_by_quadrature(ledger):
    ledger.compare(checks.fixed_steps_exact)


def test_losses_at_other_lengths_on_fresh_prompts(ledger):
    ledger.compare(checks.fixed_steps_sampled)


@pytest.mark.parametrize("compare", [checks.by_quadrature, checks.on_prompts])
def test_a_wrong_loss_is_caught(compare):
    assert compare(device="cpu", full=False, seed=0, factor=1.1).outcome is Outcome.REFUTED
