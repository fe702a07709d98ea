"""Lemma 1: the two-number recursion is the population gradient descent of the full layer."""

from dataclasses import replace

import pytest

from paper_checks.wang2024 import claims
from paper_checks.wang2024.layer import (
    batch_gradients,
    exact_gradient,
    exact_gradient_agrees,
    sampled_gradient_agrees,
    training_agrees,
)
from paper_checks.wang2024.recursion import point_with, recursion
from theorems.sparse_token_selection.reduced_dynamics import C, P, Q, alpha, lemma1, w
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import Outcome


def altered(**right):
    """Lemma 1's statement with other right-hand sides."""
    clauses = lemma1.statement.clauses
    return replace(lemma1.statement, clauses=tuple(replace(c, right=right.get(c.label, c.right)) for c in clauses))


# Canaries, and errors that show only away from C = 0.
WRONG = {c.label: c.statement for c in lemma1.canaries if c.clause in ("loss", "step_alpha", "step_C")} | {
    "S replaced by 1": altered(step_alpha=alpha * (1 - eta * P / q) + eta * P / q),
    "the factor 1 - alpha P (1-w) dropped": altered(step_C=C + eta * d / (q * (T - 1)) * alpha * P * Q),
    "w inverted in S": altered(step_alpha=alpha * (1 - eta * P * (P + Q / w) / q) + eta * P / q),
}


def test_proved_for_all_parameters(ledger):
    ledger.check(lemma1, **lemma1.example)


@pytest.mark.parametrize(
    "comparison",
    [
        claims.lemma1_exact_gradient,
        claims.lemma1_sampled_gradient,
        claims.lemma1_gradient_at_length,
        claims.lemma1_whole_trainings,
    ],
    ids=lambda comparison: comparison.id,
)
def test_against_the_full_layer(ledger, comparison):
    ledger.compare(comparison)


@pytest.fixture(scope="module")
def layer():
    """The recursion at an instance, a point with C = 1, and the layer's gradients there.

    64 batches of 8000: T − 1 → T moves the identity block of W by 1/9 of itself.
    """
    instance = (9, 2, 2, 1 / 80)
    right = recursion(instance)
    point = point_with(right, 1.0)
    return right, point, exact_gradient(instance, point), batch_gradients(instance, point, seed=1, batch_size=8000)


def test_the_recursion_holds_where_wrong_ones_fail(layer):
    right, point, exact, sampled = layer
    assert exact_gradient_agrees(right, point, exact).holds
    assert sampled_gradient_agrees(right, point, sampled).holds


@pytest.mark.parametrize("label", WRONG)
def test_a_wrong_recursion_fails_against_the_layer(layer, label):
    right, point, exact, sampled = layer
    wrong = recursion(right.instance, WRONG[label])
    assert not exact_gradient_agrees(wrong, point, exact).holds
    assert not sampled_gradient_agrees(wrong, point, sampled).holds


def test_a_simulation_that_is_not_finite_never_agrees(layer):
    right, point, exact, sampled = layer
    for agrees, found in ((exact_gradient_agrees, exact), (sampled_gradient_agrees, sampled)):
        for name in ("loss", "W", "V"):
            spoiled = getattr(found, name).clone()
            spoiled.view(-1)[-1] = float("nan")
            assert not agrees(right, point, found._replace(**{name: spoiled})).holds


@pytest.mark.parametrize("label", WRONG)
def test_a_wrong_recursion_fails_against_a_training(label):
    assert not training_agrees(recursion((9, 2, 2, 1.0), WRONG[label]), 40).holds


def test_agreement_at_the_start_alone_is_inconclusive(monkeypatch):
    monkeypatch.setattr(claims.Drawn, "point", lambda drawn: claims.Point(0.0, 0.0, 0.0))
    found = claims.lemma1_exact_gradient.run(device="cpu")
    assert found.outcome is Outcome.INCONCLUSIVE and found.detail.startswith("C > 1 at 0 of 25 instances")
