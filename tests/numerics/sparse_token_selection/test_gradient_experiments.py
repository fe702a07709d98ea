"""The sampled gradient on the invariant set, compared with an enumeration of all signs; its settings."""

import itertools

import numpy as np
import pytest
import torch

from numerics.sparse_token_selection.gradient_experiments import (
    entries_and_sums,
    furthest_from_zero,
    stochastic_gradient,
)
from tests.numerics.devices import DEVICES
from verify import InputError, agreement

pytestmark = pytest.mark.usefixtures("one_thread")

ZEROS = {"V_positional", "V_off_diagonal", "W_token_rows", "W_off_diagonal", "W_diagonal_differences"}
SMALL = {"T": 3, "q": 2, "d": 1, "d_e": 2, "C_low": 0, "C_high": 1, "batches": 10, "batch_size": 8}


def means(C, attend):
    """Return P = E Σ_{i in y} p_i with y = {1, 2}, and R = E Σ p_i², over all 2^6 signs for T = 3 and d_e = 2."""
    signs = np.array(list(itertools.product((1, -1), repeat=6))).reshape(-1, 3, 2) / np.sqrt(2)
    u = signs[:, :2].sum(axis=1)
    weights = np.exp(C * np.einsum("nik,nk->ni", signs, u))
    query = np.exp(C * (u**2).sum(axis=1)) if attend == "tokens_and_query" else 0
    p = weights / (weights.sum(axis=1) + query)[:, None]
    return p[:, :2].sum(axis=1).mean(), (p**2).sum(axis=1).mean()


def loss(alpha, C, attend):
    P, R = means(C, attend)
    return (alpha**2 * R - alpha * P + 1 / 2) / 2


@pytest.mark.parametrize(("attend", "alpha"), [("tokens", 2), ("tokens_and_query", 1)])
@pytest.mark.parametrize("device", DEVICES)
def test_the_traces_of_a_layer_that_can_be_enumerated(device, attend, alpha):
    low, high = 0.5, 2.5
    sizes = {"T": 3, "q": 2, "d": 1, "d_e": 2, "alpha": alpha, "C_low": low, "C_high": high, "attend": attend}
    found = stochastic_gradient.run(device=device, seed=1, **sizes).measurements
    P, R = means(high, attend)
    expected = {
        "loss_change": loss(alpha, high, attend) - loss(alpha, low, attend),
        "alpha_slope": alpha * R - P / 2,
    }
    assert set(found) == {*expected, *ZEROS}
    for name, value in expected.items():
        # There are four comparisons, and an error by a factor of two would be detected.
        assert agreement(value, found[name], comparisons=4, resolution=abs(value) / 2).holds, name


@pytest.mark.parametrize("distribution", ["signs", "sphere"])
def test_off_diagonals_vanish_with_a_single_coordinate(distribution):
    # For d = d_e = 1 there are no off-diagonal entries, and e_i = ±1 under both distributions.
    found = stochastic_gradient.run(device="cpu", **SMALL | {"d_e": 1}, distribution=distribution).measurements
    for name in ("V_off_diagonal", "W_off_diagonal", "W_diagonal_differences"):
        assert found[name].value == found[name].standard_error == 0
    assert found["V_positional"].standard_error > 0


def test_without_a_value_nothing_moves_the_scores():
    # At alpha = 0, f = 0, so dL/dW = 0. The slope in alpha, d (αR − P/q), is −d/T at C_high = 0.
    settings = SMALL | {"alpha": 0, "C_low": -1, "C_high": 0, "batches": 200}
    found = stochastic_gradient.run(device="cpu", **settings).measurements
    for name in ("loss_change", "W_token_rows", "W_off_diagonal", "W_diagonal_differences"):
        assert found[name].value == found[name].standard_error == 0
    assert agreement(-1 / 3, found["alpha_slope"], comparisons=1, resolution=1 / 6).holds


def test_a_seed_repeats_and_another_differs():
    first, again, other = (stochastic_gradient.run(device="cpu", seed=s, **SMALL).measurements for s in (1, 1, 2))
    assert first == again != other
    assert {measured.samples for measured in first.values()} == {10, 40}


def test_the_mean_furthest_from_zero():
    near, far = torch.tensor([1.0, -1.0, 2.0, -1.0]), torch.tensor([3.0, 2.0, 3.0, 2.0])
    values = torch.stack([near, far, torch.zeros(4)], dim=1).double()
    found = furthest_from_zero(values)
    assert (found.value, found.samples) == (2.5, 4)
    assert found.standard_error == pytest.approx(np.sqrt(1 / 3) / 2, rel=1e-15)
    # The distance from 0 is counted in standard errors: it is infinite for a constant other than 0, and 0 for 0.
    assert furthest_from_zero(torch.cat([values, torch.full((4, 1), 1e-3).double()], dim=1)).standard_error == 0
    assert furthest_from_zero(values[:, 2:]).value == 0
    assert furthest_from_zero(values[:, 3:]).value == 0
    assert np.isnan(furthest_from_zero(torch.cat([values, torch.full((4, 1), torch.nan).double()], dim=1)).value)


def test_entries_and_sums():
    blocks = torch.tensor([[[1, 2, 3], [4, 5, 6]]], dtype=torch.float64)
    assert entries_and_sums(blocks).tolist() == [[1, 2, 3, 4, 5, 6, 6, 15, 5, 7, 9]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"C_high": 0}, "C_high = 0: must be above C_low = 0"),
        ({"q": 4}, "q = 4: must be an integer from 1 to T = 3"),
        ({"batches": 1}, "batches"),
        ({"batch_size": 7}, "batch_size"),
        ({"d_e": 0}, "d_e"),
        ({"attend": "query"}, "attend"),
        ({"distribution": "cube"}, "distribution"),
        ({"alpha": "1e400"}, "alpha = .*: must be a number in float64's range"),
        ({"alpha": "1e200"}, "is not finite"),
    ],
)
def test_bad_settings(changed, message):
    with pytest.raises(InputError, match=message) as caught:
        stochastic_gradient.run(device="cpu", **SMALL | changed)
    assert "\n" not in str(caught.value)
