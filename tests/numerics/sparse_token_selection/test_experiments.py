"""The layer's experiments, compared with hand calculations; their settings."""

import math

import pytest
import torch

from numerics.sparse_token_selection.experiments import (
    _encodings,
    _pattern,
    ground_truth,
    length_generalisation,
    one_hot_from_random,
    one_hot_gradient,
    one_hot_training,
    stochastic_training,
)
from tests.numerics.devices import DEVICES
from verify import InputError, agreement

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_ground_truth():
    truth = ground_truth(2, 1)
    assert truth.W.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert truth.W_centred.tolist() == [[0, 0, 0], [0, 0.5, -0.5], [0, -0.5, 0.5]]
    assert truth.V.tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("device", DEVICES)
def test_the_gradient_at_zero_value(device):
    # At V = 0, f = 0, L = ½ E‖target‖² = d/(2q) and dL/dW = 0. Attention is uniform, so the token block of dL/dV is
    # −E[target · (mean of X)ᵀ] = −I/T.
    found = one_hot_gradient.run(device=device, seed=3, T=6, q=2, d=3, W=0, V=0).measurements
    assert set(found) == {"loss", "gradient_W", "gradient_V"}
    for name, value in (("loss", 3 / 4), ("gradient_V", -1 / 6)):
        assert found[name].samples == 64
        assert agreement(value, found[name], comparisons=2, resolution=abs(value) / 2).holds, name
    assert found["gradient_W"].value == found["gradient_W"].standard_error == 0


def test_the_gradient_moves_attention_to_what_is_selected():
    # At W = 0 and V = (I, 0), dL/dW = −k (I − 11ᵀ/T) with k > 0. Let token 1 of two be selected, and d = 1. Attention
    # is uniform: f = (x_1 + x_2)/2 and f − x_1 = (x_2 − x_1)/2. With a = W_11 − W_21, df/da = (x_1 − x_2)/4, so
    # dL/da = −E(x_1 − x_2)²/8 = −1/4. Each of the two subsets has probability 1/2, and W_11 − W_21 matters only for the
    # first, so dL/dW_11 = −1/8 = −dL/dW_21: the diagonal entry minus the off-diagonal entry is −1/4.
    found = one_hot_gradient.run(device="cpu", seed=4, T=2, q=1, d=1, W=0, V=1, batch_size=500).measurements
    assert agreement(-1 / 4, found["gradient_W"], comparisons=2, resolution=1 / 10).holds
    # L = E(x_2 − x_1)²/8 = 1/4.
    assert agreement(1 / 4, found["loss"], comparisons=2, resolution=1 / 10).holds


def test_a_seed_repeats_and_another_differs():
    first, again, other = (one_hot_gradient.run(device="cpu", T=4, q=1, d=1, seed=s).measurements for s in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("device", DEVICES)
def test_the_first_step_of_training(device):
    # From zero, V becomes η/T · (I, 0), and W stays 0. At η = 1 the loss is d/2 (q (1/T² − 1/q)² + (T − q)/T⁴).
    T, q, d = 5, 2, 1
    found = one_hot_training.run(device=device, T=T, q=q, d=d, eta=1, steps=1, window=1, eps=1).measurements
    after = d / 2 * (q * (1 / T**2 - 1 / q) ** 2 + (T - q) / T**4)
    # The computation makes a few dozen rounding errors of values below 1.
    assert found["loss"].value == pytest.approx(after, rel=1e-13)
    assert found["inverse_loss_slope"].value == pytest.approx(1 / after - 2 * q / d, rel=1e-12)
    assert found["odds_before"].value == found["odds_after"].value == pytest.approx((T - q) / q, rel=1e-13)
    assert found["cosine_V_least"].value == pytest.approx(1, rel=1e-13)
    assert found["steps_to_epsilon"].value == 0
    assert found["largest_loss_after"].value == pytest.approx(d / (2 * q), rel=1e-13)
    assert "cosine_W_least" not in found
    assert all(measured.standard_error == 0 and measured.samples == 1 for measured in found.values())


def test_training_comes_down_to_the_level_and_measures_what_follows():
    found = one_hot_training.run(device="cpu", T=4, q=1, d=1, steps=60, window=10, eps="1/10").measurements
    reached = int(found["steps_to_epsilon"].value)
    # The loss decreases at this step size, so the first loss at or below the level is the largest such loss.
    before, at = (
        one_hot_training.run(device="cpu", T=4, q=1, d=1, steps=n, window=1).measurements["loss"].value
        for n in (reached - 1, reached)
    )
    assert before > 1 / 10 >= at == found["largest_loss_after"].value > found["loss"].value
    assert found["cosine_W_least"].value <= found["cosine_W_largest"].value < 1
    assert found["odds_after"].value < found["odds_before"].value < 3


def test_a_level_that_is_not_reached_is_not_reported():
    found = one_hot_training.run(device="cpu", T=4, q=1, d=1, steps=2, window=1, eps="1e-9").measurements
    assert "steps_to_epsilon" not in found and "largest_loss_after" not in found


def test_the_odds_of_all_tokens_are_none():
    # q = T: α → 1, and the loss may become exactly 0. The inverse loss is measured only if the loss is positive.
    found = one_hot_training.run(device="cpu", T=2, q=2, d=1, steps=200, window=10).measurements
    assert found["odds_after"].value == 0 and found["loss"].value < 1e-25
    assert ("inverse_loss_slope" in found) is (found["loss"].value > 0)


@pytest.mark.parametrize("device", DEVICES)
def test_cosines_from_random_matrices(device):
    settings = {"T": 6, "q": 2, "d": 1, "steps": 200, "middle": 20, "batch_size": 64}
    found = one_hot_from_random.run(device=device, seed=0, **settings).measurements
    assert len(found) == 9 and all(measured.samples == 2 for measured in found.values())
    value = {name: measured.value for name, measured in found.items()}
    assert all(-1 <= cosine <= 1 for cosine in value.values())
    assert value["W_centred_start"] < value["W_centred_end"] and value["V_start"] < value["V_end"]
    # The cosine of W with I is √(1 − 1/T) times the cosine with I − 11ᵀ/T, plus a term from W's component along 11ᵀ.
    assert value["W_centred_end"] > 0.9
    assert value["W_identity_end"] == pytest.approx(math.sqrt(1 - 1 / 6) * value["W_centred_end"], abs=0.1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("encoding", ["stochastic", "fixed"])
@pytest.mark.parametrize("distribution", ["signs", "sphere"])
@pytest.mark.parametrize(("attend", "columns"), [("tokens", 0), ("tokens_and_query", 1)])
def test_uniform_attention_at_two_lengths(device, encoding, distribution, attend, columns):
    # At C = 0 all weights are 1/T, or 1/(T + 1) if the query is attended to; the query's value is 0.
    sizes = {"T": 5, "q": 2, "T_test": 8, "q_test": 3, "d": 2, "d_e": 3}
    words = {"encoding": encoding, "distribution": distribution, "attend": attend}
    found = length_generalisation.run(device=device, C=0, alpha=2, samples=20, **sizes, **words).measurements
    for name, T, q in (("loss", 5, 2), ("loss_test", 8, 3)):
        weight = 2 / (T + columns)
        assert found[name].value == pytest.approx(q * (weight - 1 / q) ** 2 + (T - q) * weight**2, rel=1e-13)
        assert found[name].standard_error < 1e-15 and found[name].samples == 20


def test_fixed_encodings_are_the_first_of_one_draw():
    settings = {"T": 3, "T_test": 5, "d_e": 4, "encoding": "fixed", "distribution": "sphere"}
    short, long = _encodings(settings, torch.Generator().manual_seed(1))
    assert short.shape == (4, 3) and long.shape == (4, 5) and torch.equal(short, long[:, :3])  # pyright: ignore[reportFunctionMemberAccess]
    long, short = _encodings({**settings, "T": 5, "T_test": 3}, torch.Generator().manual_seed(1))
    assert short.shape == (4, 3) and torch.equal(short, long[:, :3])  # pyright: ignore[reportFunctionMemberAccess]
    short, long = _encodings({**settings, "encoding": "stochastic"}, torch.Generator().manual_seed(1))
    assert short(2).shape == (2, 4, 3) and long(2).shape == (2, 4, 5) and not torch.equal(short(1), short(1))


def test_fixed_encodings_have_a_loss_of_their_own():
    # In one dimension every encoding is ±1, and for large C attention is uniform over the tokens with the query's sign.
    # If k others have this sign, the loss is ½((1 − 1/(k+1))² + k/(k+1)²) = k/(2(k+1)). If all three tokens have the
    # same sign, the loss is 1/3. Otherwise two tokens do, and the loss is 1/4 for two of the three subsets, else 0.
    settings = {"T": 3, "q": 1, "T_test": 3, "q_test": 1, "d": 1, "d_e": 1, "alpha": 1, "C": 50, "samples": 1000}
    kinds = set()
    for seed in range(20):
        found = length_generalisation.run(device="cpu", seed=seed, encoding="fixed", **settings).measurements
        kinds.add(one_sign := found["loss"].value > 0.3)
        for measured in found.values():
            if one_sign:
                assert measured.value == pytest.approx(1 / 3, rel=1e-13) and measured.standard_error < 1e-15
            else:
                assert agreement(1 / 6, measured, comparisons=40, resolution=1 / 20).holds
    assert kinds == {True, False}
    # With fresh fair signs, k = 1 has probability 1/2 and k = 2 has 1/4, so the loss is 1/2 · 1/4 + 1/4 · 1/3.
    for measured in length_generalisation.run(device="cpu", **settings).measurements.values():
        assert agreement(5 / 24, measured, comparisons=2, resolution=1 / 20).holds


def test_next_to_the_ground_truth():
    truth = ground_truth(3, 2)
    W, V = 4 * truth.W, 2 * truth.V
    W[0, 0], W[1, 3], V[1, 2] = 9, -0.5, 0.25
    found = _pattern(W, V, truth)
    # No attention score depends on W[:, :2], but the cosines do.
    assert (found["alpha"], found["C"], found["off_pattern_V"], found["off_pattern_W"]) == (2, 4, 0.25, 0.5)
    assert found["cosine_W"] == pytest.approx(12 / math.sqrt(3 * (48 + 81 + 1 / 4)), rel=1e-14)
    assert found["cosine_V"] == pytest.approx(4 / math.sqrt(2 * (8 + 1 / 16)), rel=1e-14)
    assert set(_pattern(0 * W, 0 * V, truth)) == {"alpha", "C", "off_pattern_V", "off_pattern_W"}


SHORT = {"T": 4, "q": 1, "T_test": 6, "q_test": 1, "d": 1, "d_e": 8, "steps": 200, "samples": 2000}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("words", [{}, {"encoding": "fixed", "attend": "tokens", "distribution": "sphere"}])
def test_training_goes_along_the_identity_blocks(words, device):
    found = stochastic_training.run(device=device, seed=2, late=100, batch_size=32, **SHORT, **words).measurements
    assert all(measured.samples == (4000 if name.startswith("loss") else 2) for name, measured in found.items())
    value = {name: measured.value for name, measured in found.items()}
    # At zero the loss is 1/2. The standard error of the measured loss is below 0.02, since the standard deviation of a
    # sample's loss is below 1.
    assert value["loss"] < 0.3
    assert value["alpha"] > 5 * value["off_pattern_V"] and value["cosine_V"] > 0.9
    if not words:
        # With fixed encodings, no symmetry keeps W a multiple of the identity.
        assert value["C"] > 2 * value["off_pattern_W"] and value["cosine_W"] > 0.9


def test_the_step_size_changes_once():
    def run(**settings):
        return stochastic_training.run(device="cpu", **{**SHORT, "steps": 6}, **settings).measurements

    # A late step size that applies only from the end of the run on, or later, has no effect.
    assert run(eta=1, eta_late=7, late=6) == run(eta=1, eta_late=9, late=100)
    assert run(eta=2, eta_late=1, late=0)["C"] != run(eta=1, eta_late=2, late=0)["C"]
    # Steps of size 1e-30 change nothing, so all changes come from the other half of the run.
    still = run(eta="1e-30", eta_late="1e-30", late=3)
    assert (
        run(eta="1e-30", eta_late=1, late=3)["alpha"] != still["alpha"] != run(eta=1, eta_late="1e-30", late=3)["alpha"]
    )


def test_training_repeats_with_its_seed_and_starts_from_zero():
    runs = [stochastic_training.run(device="cpu", seed=s, **{**SHORT, "steps": 3}).measurements for s in (5, 5, 6)]
    assert runs[0] == runs[1] != runs[2]
    # From zero, the first step changes V only; W changes from the second step on.
    found = stochastic_training.run(device="cpu", **{**SHORT, "steps": 1}, scale=0).measurements
    assert "cosine_W" not in found and found["C"].value == found["off_pattern_W"].value == 0 < found["alpha"].value


@pytest.mark.parametrize(
    ("experiment", "settings", "message"),
    [
        (one_hot_gradient, {"q": 21, "T": 20}, "q = 21: must be an integer from 1 to T = 20"),
        (one_hot_gradient, {"batches": 1}, "batches = 1: must be an integer >= 2"),
        (one_hot_gradient, {"eta": 1}, "eta = 1: is not a setting of wang2024.one_hot_gradient"),
        (one_hot_training, {"steps": 5, "window": 6}, "window = 6: must be at most steps = 5"),
        (one_hot_training, {"eta": 0}, "eta = 0: must be a number .* > 0"),
        (one_hot_training, {"T": 200, "q": 3}, "subsets times points"),
        (one_hot_training, {"eta": 10**9, "steps": 60}, "eta = 1000000000: training diverges: no finite loss at step"),
        (one_hot_from_random, {"steps": 5, "middle": 6}, "middle = 6: must be at most steps = 5"),
        (one_hot_from_random, {"runs": 1}, "runs = 1: must be an integer >= 2"),
        (one_hot_from_random, {"batch_size": 3}, "batch_size = 3: must be an integer >= 4"),
        *(
            (experiment, settings, message)
            for experiment in (length_generalisation, stochastic_training)
            for settings, message in [
                ({"T": 4, "q": 5}, "q = 5: must be at most T = 4"),
                ({"T_test": 4, "q_test": 5}, "q_test = 5: must be at most T_test = 4"),
                ({"d_e": 0}, "d_e = 0: must be an integer >= 1"),
                ({"attend": "query"}, "attend = query: must be one of tokens, tokens_and_query"),
                ({"encoding": "one_hot"}, "encoding = one_hot: must be one of stochastic, fixed"),
                ({"samples": 1}, "samples = 1: must be an integer >= 2"),
            ]
        ),
        (stochastic_training, {"runs": 1}, "runs = 1: must be an integer >= 2"),
        (stochastic_training, {**SHORT, "steps": 3, "eta": "1e300"}, "is not finite: .* diverges"),
    ],
)
def test_settings_that_do_not_fit(experiment, settings, message):
    with pytest.raises(InputError, match=message):
        experiment.run(device="cpu", **settings)
