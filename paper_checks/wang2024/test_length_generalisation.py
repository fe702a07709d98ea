"""Length generalisation: certified; sampled layers at two lengths; one learnt draw; the best for fresh draws."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import verify
from paper_checks.wang2024 import length_generalisation
from paper_checks.wang2024.length_generalisation import Longer, factor, others
from verify import Measurement, Outcome, load_theorem

BOUND = length_generalisation.length_bound_sampled


def test_length_generalisation_is_certified(ledger):
    theorem = load_theorem("wang2024.length_generalization")
    ledger.check(theorem, **theorem.example)


@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
def test_the_bound_at_more_tokens_is_certified(ledger, attend):
    theorem = load_theorem("wang2024.length_bound")
    ledger.check(theorem, **theorem.example | {"attend": attend})


def test_the_bound_is_about_more_tokens_alone():
    theorem = load_theorem("wang2024.length_bound")
    result = verify.check(theorem, theorem.example | {"T_test": theorem.example["T"]})
    assert result.outcome is Outcome.OUT_OF_SCOPE
    assert [hypothesis.label for hypothesis in result.hypotheses if not hypothesis.holds] == ["longer"]


@pytest.mark.crossing(BOUND.id)
@given(instance=BOUND.instances)
def test_the_bound_at_more_tokens_against_sampled_layers(crossing, instance):
    crossing.holds(BOUND, instance)


@pytest.mark.parametrize("label", BOUND.planted)
def test_planted_errors_in_the_bound_are_caught(crossing, label):
    crossing.catches(BOUND, label)


def loss(T, q, d_e, alpha, C, query):
    """Return 2qL/d, the mean over all 2^(T d_e) encodings: the first q tokens are selected."""
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=T * d_e))).reshape(-1, T, d_e) / d_e**0.5
    u = signs[:, :q].sum(axis=1)
    logits = np.exp(C * np.einsum("kij,kj->ki", signs, u))
    total = logits.sum(axis=1) + (np.exp(C * (u**2).sum(axis=1)) if query else 0)
    p = logits / total[:, None]
    return q * np.mean(((alpha * p - (np.arange(T) < q) / q) ** 2).sum(axis=1))


@pytest.mark.parametrize("query", [False, True])
def test_the_bound_by_enumeration(query):
    for T, T_test, q, d_e in ((3, 6, 2, 2), (3, 5, 1, 3), (4, 5, 2, 3)):
        at = Longer(T, T_test, q, 1, d_e, Fraction(1), Fraction(1), 0)
        for alpha, C in itertools.product((-1.0, 0.5, 1.0, 1.5, 4.0), (0.0, 1.0, 3.0, 8.0)):
            assert loss(T_test, q, d_e, alpha, C, query) <= factor(at) * loss(T, q, d_e, alpha, C, query)


@pytest.mark.parametrize("q", [1, 2, 3])
def test_the_factor_in_many_dimensions_is_sharp_up_to_q(q):
    # For d_e → ∞ the selected tokens have the logit C, and the others 0. Then C → ∞, with the best α at T tokens.
    T, T_test, w = 20, 50, 1e-6
    P, R = (lambda n: q / (q + (n - q) * w)), (lambda n: (q + (n - q) * w**2) / (q + (n - q) * w) ** 2)
    alpha = P(T) / (q * R(T))
    inside, beyond = (q * alpha**2 * R(n) - 2 * alpha * P(n) + 1 for n in (T, T_test))
    at = Longer(T, T_test, q, 1, 1, Fraction(1), Fraction(1), 0)
    assert beyond / inside == pytest.approx(others(at) + (T_test - T) ** 2 / (q * (T - q)), rel=1e-2)
    assert beyond <= factor(at) * inside


def test_a_loss_that_rises_too_much_is_refuted():
    low, high = Measurement(0.1, 1e-4, 1000), Measurement(0.5, 1e-3, 1000)
    assert length_generalisation.at_most(4.0, low, high).outcome is Outcome.REFUTED
    assert length_generalisation.at_most(6.0, low, high).outcome is Outcome.VERIFIED
    assert length_generalisation.at_most(5.0, low, high).outcome is Outcome.INCONCLUSIVE


def test_length_generalisation_against_one_learnt_draw(ledger):
    ledger.compare(length_generalisation.one_draw_does_not_generalise)


def test_one_learnt_draw_is_judged_by_both_losses():
    low, high = Measurement(0.01, 1e-4, 1000), Measurement(0.5, 1e-3, 1000)
    assert length_generalisation.one_draw(0.1, 0.2, low, high).outcome is Outcome.VERIFIED
    assert length_generalisation.one_draw(0.1, 0.2, high, high).outcome is Outcome.REFUTED
    assert length_generalisation.one_draw(0.1, 0.2, low, low).outcome is Outcome.REFUTED
    assert length_generalisation.one_draw(0.1, 0.2, low, Measurement(0.21, 0.1, 1000)).outcome is Outcome.INCONCLUSIVE
