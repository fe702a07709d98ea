"""Stochastic encodings on sampled instances, and the comparisons with measurements that are made up."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from paper_checks.wang2024 import encodings
from verify import Measurement, Outcome, load_comparison, load_theorem

LAYER = encodings.Layer(12, 3, 2, 20, Fraction(1), Fraction(2), "tokens", 0)


@pytest.mark.parametrize(
    "name",
    ["wang2024.sign_attention_sampled", "wang2024.two_selected_sampled", "wang2024.one_draw_does_not_generalise"],
)
def test_against_sampled_layers(ledger, name):
    ledger.compare(load_comparison(name))


def test_the_theorem(ledger):
    theorem = load_theorem("wang2024.two_selected")
    for instance in (
        theorem.example,
        {"T": 4, "d": 1, "d_e": 4, "eps": 1},
        {"T": 10**6, "d": 5, "d_e": 80, "eps": "1/1000"},
    ):
        ledger.check(theorem, **instance)


@pytest.mark.parametrize(
    ("factor", "outcome"), [(1.0, Outcome.VERIFIED), (2.0, Outcome.REFUTED), (0.5, Outcome.REFUTED)]
)
def test_a_bug_in_the_measurement_is_seen(factor, outcome):
    low, high = encodings.loss_on_the_set(LAYER)
    error = (low + high) / 2000
    assert encodings.on_the_set(LAYER, Measurement(factor * (low + high) / 2, error, 2000)).outcome is outcome
    assert encodings.ties_are_left(0.01, Measurement(factor * 0.01, 1e-4, 2000), beyond=1e-6).outcome is outcome


def test_the_query_is_not_forgotten():
    attended = LAYER._replace(attend="tokens_and_query")
    low, high = encodings.loss_on_the_set(LAYER)
    other = encodings.loss_on_the_set(attended)
    assert high - low < 1e-3
    assert not (low <= sum(other) / 2 <= high)


def test_too_few_samples_decide_nothing():
    low, _ = encodings.loss_on_the_set(LAYER)
    assert encodings.on_the_set(LAYER, Measurement(low, 1.0, 3)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("T", "d_e"), [(3, 3), (4, 3), (3, 5), (6, 2)])
def test_beyond_ties(T, d_e):
    signs = np.array(list(itertools.product((1, -1), repeat=T * d_e))).reshape(-1, T, d_e)
    # v d_e, in integers.
    v = np.einsum("nik,nk->ni", signs, signs[:, :2].sum(axis=1))
    short = v[:, :1] - v
    assert set(np.unique(short)) == {4 * j for j in range(d_e + 1)}
    ties = (short == 0).sum(axis=1)
    limit = (1 - (2 / ties).mean()) / 4
    above = []
    for C in (0, 1, 2, 4):
        weights = np.exp(-C * short / d_e)
        p = weights / weights.sum(axis=1, keepdims=True)
        above.append(((p**2).sum(axis=1).mean() - p[:, :2].sum(axis=1).mean() + 1 / 2) / 2 - limit)
        # Means of at most 2^15 terms in float64, each off by some 10⁻¹⁶.
        assert -1e-13 <= above[-1] <= encodings.beyond_ties(T, 1, d_e, C) + 1e-13
    # With twice the step it would be no bound.
    assert above[-1] > encodings.beyond_ties(T, 1, d_e, 2 * 4)


def test_only_ties_are_left_where_they_are_compared():
    assert all(encodings.beyond_ties(T, d, d_e, encodings.SHARP) < 1e-12 for T, d, d_e in encodings.TIES)


def test_what_one_draw_costs_is_told_from_nothing():
    low, high = Measurement(0.01, 1e-4, 1000), Measurement(0.5, 1e-3, 1000)
    assert encodings.one_draw(0.1, 0.2, low, high).outcome is Outcome.VERIFIED
    assert encodings.one_draw(0.1, 0.2, high, high).outcome is Outcome.REFUTED
    assert encodings.one_draw(0.1, 0.2, low, low).outcome is Outcome.REFUTED
    assert encodings.one_draw(0.1, 0.2, low, Measurement(0.21, 0.1, 1000)).outcome is Outcome.INCONCLUSIVE
