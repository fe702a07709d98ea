"""The expected loss by Gauss rules, compared with other quadrature and differences; counts of ends; refused input."""

import numpy as np
import pytest
import torch

from numerics.preconditioned_descent import many_starts as starts
from numerics.preconditioned_descent.moment_kernel import mean_gradient
from numerics.preconditioned_descent.reference import exact_loss, pattern
from verify import InputError, Running


@pytest.mark.parametrize(("L", "n", "moving"), [(1, 1, False), (1, 2, True), (2, 1, False), (2, 1, True)])
def test_the_expected_loss_is_that_of_the_quadrature_over_all_tokens(L, n, moving):
    random = np.random.default_rng(0)
    entries = 0.5 * random.standard_normal((2 if moving else 1, L, 2, 2))
    A, *B = torch.from_numpy(entries)
    eye = torch.eye(2, dtype=torch.float64)
    found, _ = starts.expected_loss(L, n, moving)(entries.ravel())
    assert found == pytest.approx(float(exact_loss(pattern(A, B[0] if B else None), n, eye, eye)), rel=1e-10)


@pytest.mark.parametrize(("L", "n", "moving"), [(3, 5, False), (2, 3, True)])
def test_the_slopes_are_differences_of_the_loss(L, n, moving):
    loss = starts.expected_loss(L, n, moving)
    x = 0.3 * np.random.default_rng(1).standard_normal((8 if moving else 4) * L)
    _, slopes = loss(x)
    for k, unit in enumerate(np.eye(len(x))):
        difference = (loss(x + 1e-5 * unit)[0] - loss(x - 1e-5 * unit)[0]) / 2e-5
        assert slopes[k] == pytest.approx(difference, rel=1e-5, abs=1e-6)


def test_one_layer_is_theorem_1s():
    # A = a I with a = 1/((n−1)/n + (d+2)/n) has the loss d (1 − a). For d = 2 and n = 4, a is 4/7.
    loss = starts.expected_loss(1, 4, False)
    value, slopes = loss(np.eye(2).ravel() * 4 / 7)
    assert value == pytest.approx(6 / 7, rel=1e-13)
    assert np.abs(slopes).max() < 1e-13
    for method in starts.METHODS:
        assert starts.end_of(loss, method, np.array([0.1, 0.3, -0.2, 0.5]))[0] == pytest.approx(6 / 7, rel=1e-12)


def test_beyond_large_entries_there_is_no_loss():
    assert starts.expected_loss(1, 1, False)(np.full(4, 2 * starts.FAR))[0] == np.inf


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"L": 4, "trained": "A_and_B"},
            "L = 4: must leave at most 100000 nodes of quadrature; these layers take 136161",
        ),
        ({"n": 301}, "n = 301: must be at most 300"),
    ],
)
def test_settings_without_an_exact_rule_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        starts.many_starts.run(device="cpu", **{"L": 1, "starts": 1} | wrong)


@pytest.mark.parametrize(("L", "n", "degree", "moving"), [(1, 2, 2, False), (2, 3, 4, False), (2, 2, 8, True)])
def test_the_rules_are_of_the_losss_degree(L, n, degree, moving):
    matrices = torch.from_numpy(np.random.default_rng(2).standard_normal((2, L, 2, 2)))
    losses = [
        float(mean_gradient(matrices[0], matrices[1] if moving else None, starts.exact_prompts(n, each))[0])
        for each in (degree - 2, degree, degree + 4)
    ]
    assert losses[1] == pytest.approx(losses[2], rel=1e-11)
    assert losses[0] != pytest.approx(losses[2], rel=1e-6)


def test_the_ends_are_counted():
    ends = np.array([[1.0, 0.0], [1.0 + 1e-9, 0.0], [1.5, 0.0], [0.9, 1.0], [np.inf, 0.0], [1.0, 0.0]])
    found = {name: measured.value for name, measured in starts._counted(ends).items()}
    assert found["lowest"] == 0.9 and found["least_bfgs"] == 1.0
    assert [found[f"{name}_bfgs"] for name in ("at_the_least", "elsewhere", "not_at_rest")] == [1, 1, 1]
    assert [found[f"{name}_lbfgs"] for name in ("at_the_least", "elsewhere", "not_at_rest")] == [2, 0, 1]


def test_a_run_goes_on_from_where_it_was_left(tmp_path):
    settings = {"trained": "A", "L": 1, "n": 2, "starts": 3}
    whole = starts._measure(settings, seed=0, device="cpu", running=Running())

    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        starts._measure(settings, seed=0, device="cpu", running=Running(tmp_path / "kept", stop, every=0))
    seen = []
    again = starts._measure(
        settings, seed=0, device="cpu", running=Running(tmp_path / "kept", lambda done, _: seen.append(done), every=0)
    )
    assert seen[0] == 3
    assert {k: v.value for k, v in again.items()} == {k: v.value for k, v in whole.items()}
