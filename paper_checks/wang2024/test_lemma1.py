"""Lemma 1: the two-number recursion is the population gradient descent of the full layer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_checks.wang2024.claims import (
    exact_gradient_agrees,
    recursion,
    sampled_gradient_agrees,
    training_agrees,
)
from theorems.sparse_token_selection.reduced_dynamics import lemma1

QUICK, FULL = 25, 500
WRONG = {canary.label: canary for canary in lemma1.canaries if canary.clause in ("loss", "step_alpha", "step_C")}


@st.composite
def instances_and_steps(draw):
    """(T, q, d, eta) in the scope of Theorem 1, small enough for full matrices, and a step of the trajectory."""
    length = draw(st.integers(9, 14))
    subset = draw(st.integers(2, (length - 1) // 4))
    size = draw(st.integers(1, 3))
    rate = draw(st.integers(1, 20)) / (400 * size**2)
    return (length, subset, size, rate), draw(st.one_of(st.integers(0, 5), st.integers(0, 3000)))


def point_of(theory, step):
    for point in theory.points(step):
        last = point
    return last


@pytest.fixture(scope="module")
def examples(full):
    return FULL if full else QUICK


def test_proved_for_all_parameters(ledger):
    ledger.check(lemma1, **lemma1.example)


def test_exact_gradient_of_the_full_layer(ledger, device, examples):
    tried = []

    @settings(max_examples=examples)
    @given(instances_and_steps())
    def agree(drawn):
        instance, step = drawn
        theory = recursion(instance)
        verdict = exact_gradient_agrees(theory, point_of(theory, step), device)
        tried.append(verdict)
        assert verdict.holds, f"{instance}, step {step}: {verdict.detail}"

    agree()
    assert len(tried) >= examples
    ledger.compare("wang2024.lemma1: exact gradient", True, tried[-1].detail, device=device, instances=len(tried))


def test_sampled_gradient_of_the_full_layer(ledger, device, examples):
    tried = []

    @settings(max_examples=examples)
    @given(instances_and_steps(), st.integers(0, 2**31))
    def agree(drawn, seed):
        instance, step = drawn
        theory = recursion(instance)
        verdict = sampled_gradient_agrees(theory, point_of(theory, step), seed=seed, batch_size=500, device=device)
        tried.append(verdict)
        assert verdict.holds, f"{instance}, step {step}, seed {seed}: {verdict.detail}"

    agree()
    assert len(tried) >= examples
    ledger.compare("wang2024.lemma1: sampled gradient", True, tried[-1].detail, device=device, instances=len(tried))


@pytest.mark.parametrize("label", WRONG)
def test_a_wrong_recursion_fails_against_the_layer(label):
    instance = (9, 2, 2, 1 / 80)
    right, wrong = recursion(instance), recursion(instance, WRONG[label].statement)
    point = point_of(right, 400)
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
    ledger.compare("wang2024.lemma1: whole trainings", verdict.holds, verdict.detail, device=device)


@pytest.mark.parametrize("label", WRONG)
def test_a_wrong_recursion_fails_against_a_training(label):
    assert not training_agrees(recursion((9, 2, 2, 1.0), WRONG[label].statement), 40).holds
