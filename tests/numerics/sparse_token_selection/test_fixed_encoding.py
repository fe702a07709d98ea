"""The experiment with a layer that has learnt one draw of encodings."""

import math

import pytest
import torch

from numerics.sparse_token_selection.fixed_encoding import learnt_metric
from numerics.sparse_token_selection.stochastic import sign_encodings
from verify import InputError, load_experiment

EXPERIMENT = load_experiment("wang2024.one_fixed_draw")


def test_the_learnt_metric_makes_the_draw_one_hot():
    drawn = sign_encodings(1, 12, 30, torch.Generator().manual_seed(1))[0]
    M = learnt_metric(drawn)
    assert torch.allclose(drawn.T @ M @ drawn, torch.eye(12, dtype=torch.float64), atol=1e-10)
    assert torch.allclose(M, M.T, atol=1e-12)


def test_encodings_that_are_dependent_have_none():
    for drawn in (
        sign_encodings(1, 12, 11, torch.Generator().manual_seed(1))[0],
        torch.ones(8, 2, dtype=torch.float64),
    ):
        with pytest.raises(InputError, match="are dependent"):
            learnt_metric(drawn)


def test_at_its_own_length_it_has_the_loss_of_one_hot_encoding():
    T, q, d, C = 10, 3, 2, 4
    found = EXPERIMENT.run(seed=3, device="cpu", T=T, T_test=20, q=q, d=d, d_e=40, C=C, samples=200).measurements[
        "loss"
    ]
    # The logits are C on y and 0 elsewhere, so p = e^C/N on y and 1/N elsewhere, with N = q e^C + T − q.
    N = q * math.exp(C) + T - q
    exact = d / 2 * (q * (math.exp(C) / N - 1 / q) ** 2 + (T - q) / N**2)
    assert found.value == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(("name", "value"), [("q", 21), ("T_test", 19), ("d_e", 19), ("C", -1), ("samples", 1)])
def test_bad_settings_are_refused(name, value):
    with pytest.raises(InputError, match=name):
        EXPERIMENT.run(**{"T": 20, "T_test": 40, name: value})
