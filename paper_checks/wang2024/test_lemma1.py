"""Lemma 1: the two-number recursion is the population gradient descent of the full layer."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_checks.wang2024.claims import (
    exact_gradient_agrees,
    point_with,
    recursion,
    sampled_gradient_agrees,
    training_agrees,
)
from theorems.sparse_token_selection.reduced_dynamics import C, P, Q, alpha, lemma1, w
from theorems.sparse_token_selection.task import T, d, eta, q

QUICK, FULL = 25, 500


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


@st.composite
def points_in_scope(draw, longest):
    """(T, q, d, eta) in the scope of Theorem 1, and a point of the trajectory by its C, from the start to late."""
    length = draw(st.integers(9, longest))
    subset = draw(st.integers(2, (length - 1) // 4))
    size = draw(st.integers(1, 3))
    rate = draw(st.integers(1, 20)) / (400 * size**2)
    theory = recursion((length, subset, size, rate))
    return theory, point_with(theory, draw(st.integers(0, 16)) / 4)


@pytest.fixture(scope="module")
def examples(full):
    return FULL if full else QUICK


def test_proved_for_all_parameters(ledger):
    ledger.check(lemma1, **lemma1.example)


def hold_against(ledger, title, examples, strategy, compare, device, evidence):
    """Compare at every drawn point, and enter the result, a disagreement too."""
    tried = []

    @settings(max_examples=examples)
    @given(strategy, st.integers(0, 2**31))
    def agree(drawn, seed):
        theory, point = drawn
        verdict = compare(theory, point, seed)
        tried.append((verdict, point.C))
        assert verdict.holds, f"{theory.instance}, C = {point.C}, seed {seed}: {verdict.detail}"

    failure = None
    try:
        agree()
    except AssertionError as error:
        failure = str(error)
    late = sum(C > 1 for _, C in tried)
    detail = failure or f"{late} of {len(tried)} points with C > 1; last: {tried[-1][0].detail}"
    ledger.compare(title, failure is None, detail, device=device, evidence=evidence, instances=len(tried))
    assert len(tried) >= examples and late >= len(tried) // 4


def test_exact_gradient_of_the_full_layer(ledger, device, examples):
    def compare(theory, point, _):
        return exact_gradient_agrees(theory, point, device)

    hold_against(ledger, "wang2024.lemma1: exact gradient", examples, points_in_scope(14), compare, device, "computed")


def test_sampled_gradient_of_the_full_layer(ledger, device, examples):
    def compare(theory, point, seed):
        return sampled_gradient_agrees(theory, point, seed=seed, batch_size=500, device=device)

    hold_against(
        ledger, "wang2024.lemma1: sampled gradient", examples, points_in_scope(40), compare, device, "simulated"
    )


@pytest.mark.parametrize("label", WRONG)
def test_a_wrong_recursion_fails_against_the_layer(label):
    instance = (9, 2, 2, 1 / 80)
    right, wrong = recursion(instance), recursion(instance, WRONG[label])
    point = point_with(right, 1.0)
    assert exact_gradient_agrees(right, point).holds
    assert not exact_gradient_agrees(wrong, point).holds
    # 64 batches of 8000: T − 1 → T moves the identity block of W by 1/9 of itself.
    assert sampled_gradient_agrees(right, point, seed=1, batch_size=8000).holds
    assert not sampled_gradient_agrees(wrong, point, seed=1, batch_size=8000).holds


@pytest.mark.parametrize(
    "instance", [(9, 2, 2, 1.0), (9, 2, 1, 1 / 20), (13, 3, 1, 0.5), (6, 5, 2, 0.25), (5, 5, 1, 0.5)]
)
def test_whole_trainings_of_the_full_matrices(ledger, device, instance):
    verdict = training_agrees(recursion(instance), 40, device)
    title = "wang2024.lemma1: whole trainings"
    ledger.compare(title, verdict.holds, verdict.detail, device=device, evidence="computed")


@pytest.mark.parametrize("label", WRONG)
def test_a_wrong_recursion_fails_against_a_training(label):
    assert not training_agrees(recursion((9, 2, 2, 1.0), WRONG[label]), 40).holds
