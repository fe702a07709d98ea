"""Losses of linear measurements by enumeration and by samples, and the refutation of wrong least losses."""

from itertools import combinations, islice

import numpy as np
import pytest

from theorems.sparse_token_selection.fully_connected_width import few, many
from theorems.sparse_token_selection.trials import linear_measurements as measurements
from theorems.sparse_token_selection.trials.linear_measurements import Task
from verify.errors import UndefinedError

SIZES = [Task(4, 2, 2, m) for m in range(9)] + [Task(3, 1, 1, 2), Task(3, 3, 2, 1), Task(5, 3, 1, 4)]


def second_moment(task):
    """Return E uuᵀ ⊗ I_d over all subsets."""
    u = np.array([np.isin(np.arange(task.T), y) / task.q for y in combinations(range(task.T), task.q)])
    return np.kron(u.T @ u / len(u), np.eye(task.d))


@pytest.mark.parametrize("task", SIZES)
def test_the_loss_is_a_trace_and_least_at_sums_and_contrasts(task):
    random, moment = np.random.default_rng(0), second_moment(task)
    for U in (task.sums_first(), task.drawn(random), task.moved(random), task.descended(random)):
        assert U.shape == (task.entries, task.columns)
        np.testing.assert_allclose(U.T @ U, np.eye(task.columns), atol=1e-12)
        seen = np.eye(task.entries) - U @ U.T if task.rest else U @ U.T
        assert task.loss(U) == pytest.approx(np.trace((np.eye(task.entries) - seen) @ moment) / 2, abs=1e-14)
    smallest = np.sort(np.linalg.eigvalsh(moment))[: task.entries - task.m].sum() / 2
    assert task.loss(task.sums_first()) == pytest.approx(smallest, abs=1e-14)


@pytest.mark.parametrize("task", [Task(5, 2, 2, 3), Task(5, 2, 2, 7)])
def test_the_target_of_what_is_measured_has_this_loss(task):
    random = np.random.default_rng(1)
    U, (X, y) = task.drawn(random), task.sample(random, 20_000)
    assert (y.sum(axis=1) == 2).all()
    losses = np.square(task.target(task.measured(U, X), y) - task.target(X, y)).sum(axis=1) / 2
    assert abs(losses.mean() - task.loss(U)) < 6 * losses.std() / np.sqrt(len(losses))


def test_descent_lowers_the_loss():
    for task in (Task(12, 3, 2, 5), Task(12, 3, 2, 20)):
        assert task.loss(task.descended(np.random.default_rng(2))) < task.loss(task.drawn(np.random.default_rng(2)))


def test_the_slopes_of_a_net_are_differences_of_its_loss():
    random, task = np.random.default_rng(3), Task(4, 2, 2, 3)
    weights = [random.standard_normal(shape) for shape in ((12, 3), (3,), (3, 2))]
    toward = [random.standard_normal(w.shape) for w in weights]
    X, y = task.sample(random, 50)
    h = 1e-6
    up, down = (
        measurements._net(task, [w + s * t for w, t in zip(weights, toward, strict=True)], X, y)[0].mean()
        for s in (h, -h)
    )
    slopes = measurements._net(task, weights, X, y)[1]
    assert (up - down) / (2 * h) == pytest.approx(sum((s * t).sum() for s, t in zip(slopes, toward, strict=True)))


def drawn(trials, T, q, d, m, count):
    return list(islice(trials({"T": T, "q": q, "d": d, "m": m}, np.random.default_rng(4)), count))


@pytest.mark.parametrize("sizes", [(6, 2, 3, 2), (6, 2, 3, 3), (6, 2, 3, 15), (4, 4, 2, 5), (5, 1, 1, 0), (5, 1, 1, 5)])
def test_the_least_loss_is_not_violated(sizes):
    assert not any(trial.violates for trial in drawn(measurements.smallest(few, many), *sizes, 13))
    assert not any(trial.violates for trial in drawn(measurements.nets(few, many), *sizes, 6))


def test_a_larger_and_a_smaller_least_loss_are_refuted():
    for factor in (0.999, 1.001):
        trials = measurements.smallest(factor * few, factor * many)
        assert drawn(trials, 6, 2, 3, 10, 1)[0].violates
    larger = drawn(measurements.smallest(1.02 * few, 1.02 * many), 6, 2, 3, 10, 13)[1:]
    assert "moved" in {trial.tried["kind"] for trial in larger if trial.violates}
    assert any(trial.violates for trial in drawn(measurements.nets(1.3 * few, 1.3 * many), 6, 2, 3, 10, 6))


def test_many_measurements_are_left_undecided():
    with pytest.raises(UndefinedError, match="3000 measurements of 6000 entries are too many"):
        drawn(measurements.smallest(few, many), 2000, 3, 3, 3000, 1)
    with pytest.raises(UndefinedError, match="5999 units that read 6000 entries are too many"):
        drawn(measurements.nets(few, many), 2000, 3, 3, 5999, 1)
