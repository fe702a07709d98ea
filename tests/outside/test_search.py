"""A search refutes the false statements from other sources, and no true statement."""

import os

import pytest

import verify
from tests.outside.test_language import FALSE, TRUE
from verify.evaluation.numerical.suspects import suspects

RARE = 0.1
"""A percentage of the draws in scope; without `--audit`, only false statements that fail less often are searched."""
EVALUATED = int(os.environ.get("EVALUATED", "100000"))
"""Number of points at which a true statement is evaluated; the environment variable EVALUATED changes it."""


def rare(cases):
    """Return the statements that fail at fewer than RARE per cent of the draws in scope."""
    return [case for case in cases if case.values[0].violated_percent < RARE]


@pytest.mark.parametrize("each", rare(FALSE))
def test_a_false_one_that_few_draws_violate_falls(each):
    assert verify.explore(each.statement, {}, seconds=60).counterexample is not None


@pytest.mark.audit
@pytest.mark.parametrize(
    ("each", "seed"),
    [
        pytest.param(each, seed, id=f"{each.id}-{seed}")
        for case in FALSE
        for each in case.values
        for seed in (range(1, 5) if case in rare(FALSE) else range(1))
    ],
)
def test_a_false_one_falls_at_each_seed(each, seed):
    found = verify.explore(each.statement, {}, seed=seed, seconds=60)
    assert found.counterexample is not None
    result = verify.check(each.statement, found.counterexample, seconds=60)
    (clause,) = (c for c in result.clauses if c.label == found.clause.label)
    # The margin of a sum of many large binomials has more digits than a certificate may have.
    assert clause.outcome == "refuted"
    assert clause.evidence == "certified" or "more than 20000 digits of a number" in clause.unchecked


@pytest.mark.audit
@pytest.mark.parametrize("each", TRUE)
def test_nothing_is_found_against_a_true_one(each):
    theorem = verify.claim(each.statement)
    for suspect in suspects(theorem.statement, {}, EVALUATED, 0, lambda: None):
        if not suspect.silent:
            assert verify.check(theorem, suspect.instance, seconds=5).outcome != "refuted"
