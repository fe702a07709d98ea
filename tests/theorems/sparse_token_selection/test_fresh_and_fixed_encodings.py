"""Trials of layers at two lengths: the loss by counts, compared with sums over sequences; wrong bounds are refuted."""

from itertools import product

import numpy as np
import pytest
import sympy as sp

import verify
from theorems.sparse_token_selection.trials import lengths
from verify import InputError, Outcome, load_theorem
from verify.errors import UndefinedError

THEOREM = load_theorem("wang2024.fresh_and_fixed_encodings")


def by_sequences(T, q, A, encodings, chance, M, query):
    """Return the mean loss over all sequences of the two encodings; the first q tokens are selected."""
    mean = 0.0
    for row in product((0, 1), repeat=T):
        e = encodings[list(row)]
        u = e[:q].sum(axis=0)
        w = np.exp(np.append(e @ M @ u, u @ M @ u if query else -np.inf))
        p = (w / w.sum())[:T]
        square = sum(((p[i] * A - (i < q) * np.eye(len(A)) / q) ** 2).sum() for i in range(T))
        mean += chance ** row.count(0) * (1 - chance) ** row.count(1) * square
    return mean / 2


@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize(("T", "q", "d"), [(3, 1, 1), (5, 3, 2), (4, 4, 1)])
def test_the_loss_by_counts_is_that_of_all_sequences(T, q, d, query):
    random = np.random.default_rng(0)
    A, encodings, M = (random.standard_normal(shape) for shape in ((d, d), (2, 2), (2, 2)))
    found = lengths._loss(T, q, A, encodings, 0.3, M, query)
    assert found == pytest.approx(by_sequences(T, q, A, encodings, 0.3, M, query), rel=1e-12)


@pytest.mark.parametrize("query", [False, True])
def test_the_loss_of_distinct_encodings_is_that_of_an_orthonormal_sequence(query):
    T, q, d, alpha, C = 5, 2, 3, 1.3, 0.7
    M, own = C * np.eye(T), np.exp(C * (q - 1)) if query else 0.0
    w = np.exp(np.append(M[:, :q].sum(axis=1), C * q if query else -np.inf))
    p = (w / w.sum())[:T]
    expected = d / 2 * ((alpha * p - (np.arange(T) < q) / q) ** 2).sum()
    assert lengths._distinct_loss(T, q, d, alpha, np.exp(-C), own) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("claim", "sizes"), [("fresh", (3, 5, 1, 1)), ("fresh", (5, 3, 2, 2)), ("fixed", (6, 2, 1, 1))]
)
def test_a_wrong_claim_is_refuted(claim, sizes):
    instance = dict(zip(("T", "T_test", "q", "d"), sizes, strict=True))
    wrong = THEOREM.evaluations[claim].wrong_trials(instance, np.random.default_rng(0))
    assert any(trial.margin < -trial.error for trial, _ in zip(wrong, range(300), strict=False))


@pytest.mark.parametrize(("trials", "sizes"), [(lengths.fresh, (10**6, 10**6, 3, 1)), (lengths.fixed, (1000, 2, 1, 1))])
def test_too_large_sizes_are_not_drawn(trials, sizes):
    instance = dict(zip(("T", "T_test", "q", "d"), sizes, strict=True))
    with pytest.raises(UndefinedError, match="too many"):
        next(trials(sp.Integer(1), sp.Integer(1))(instance, np.random.default_rng(0)))


def test_the_factor_is_reported():
    assert verify.check(THEOREM, T=6, T_test=8, q=2, d=1).values["factor"] == sp.Rational(7, 2)
    shorter = verify.check(THEOREM, T=6, T_test=4, q=2, d=3)
    assert (shorter.outcome, shorter.values["factor"]) == (Outcome.VERIFIED, 3)
    # The two losses are 3/2 · (5/7 · 3/2 + 2/7 · 1/2) = 51/28 and 6/4 + 3/16 = 27/16.
    assert shorter.values["loss_at_one_more_token"] == sp.Rational(51, 28)
    assert verify.check(THEOREM, T=3, T_test=4, q=1, d=2).values["loss_at_one_more_token"] == sp.Rational(27, 16)


@pytest.mark.parametrize("wrong", [{"q": 4}, {"q": 3, "T_test": 2}])
def test_sizes_that_do_not_fit_are_refused(wrong):
    with pytest.raises(InputError, match="must satisfy"):
        verify.check(THEOREM, **{"T": 4, "T_test": 7, "q": 2, "d": 1} | wrong)


def lost(selected, others, own, alpha):
    """Return 2qL/d of one sequence, from the attention's weights."""
    q = len(selected)
    w = np.concatenate([selected, others])
    return q * ((alpha * w / (w.sum() + own) - (np.arange(len(w)) < q) / q) ** 2).sum()


def test_a_sequence_loses_no_more_than_its_two_groups_and_two_sevenths():
    # The main inequality of `length_generalization`, for random weights, weights of the query and alpha.
    random = np.random.default_rng(0)
    for _ in range(10_000):
        q, n = int(random.integers(1, 4)), int(10 ** random.uniform(0, 2.5))
        new = random.integers(0, n + 1)
        selected = np.exp(random.normal(size=q) * random.choice([0.0, 1.0]))
        others = np.exp(random.normal(size=n + new) * random.choice([0.1, 3.0]) + random.normal() * 2)
        own = random.choice([0, 1]) * np.exp(3 * random.normal())
        near = (selected.sum() + others[:n].sum() + own) / selected.sum()
        alpha = near * random.choice([6 / 7, 1, random.normal()])
        groups = others[:n], np.concatenate([others[n:], others[: n - new]])
        trained = sum(lost(selected, group, own, alpha) for group in groups)
        assert lost(selected, others, own, alpha) <= trained + 2 / 7


def test_two_sevenths_are_lost_where_the_shares_halve():
    # The other 10^6 tokens have 100 times the weight of the selected token; alpha compensates only 6/7 of this.
    others, alpha = np.full(10**6, 1e-4), 6 / 7 * 101
    one, all_of_them = np.ones(1), np.concatenate([others, others])
    beyond = lost(one, all_of_them, 0, alpha) - 2 * lost(one, others, 0, alpha)
    assert 0.27 < beyond < 2 / 7
