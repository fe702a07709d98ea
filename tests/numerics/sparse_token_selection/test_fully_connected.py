"""Nets and first layers, compared with plain loops over their weights; decoders of a first layer's outputs."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch

from numerics.sparse_token_selection.fully_connected import (
    ACTIVATIONS,
    DESIGNS,
    READINGS,
    Net,
    decoded_losses,
    first_layer,
    initialise,
    net_losses,
    read_off,
    subset_code,
    train_net,
)
from numerics.sparse_token_selection.linear_measurements import all_subsets, conditional_variance, random_measurements
from numerics.sparse_token_selection.reference import sample_batch, target
from tests.numerics.devices import DEVICES
from verify import InputError

T, Q, D = 4, 2, 2


def generator(seed, device="cpu"):
    return torch.Generator(device).manual_seed(seed)


def made(seed=0, *, device="cpu", **changed):
    net = Net(T, D, **{"width": 3, "depth": 3, "hidden": 5, "activation": "tanh", "reads": "together"} | changed)
    net = net.to(device)
    initialise(net, generator(seed, device))
    return net


@pytest.mark.parametrize("reads", READINGS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_net_is_what_its_weights_say(reads, depth):
    net = made(1, reads=reads, depth=depth)
    tokens, subsets = sample_batch(4, T, Q, D, generator(2))
    layers = [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in (net.first, *net.others)]
    assert len(layers) == depth + 1 and len(layers[0][0]) == 3
    for x, y, found in zip(tokens.numpy(), subsets.numpy(), net(tokens, subsets).detach().numpy(), strict=True):
        (W, b), *others = layers
        inside = np.tanh(W @ (x.ravel() if reads == "apart" else np.concatenate([x.ravel(), y])) + b)
        inside = np.concatenate([inside, y]) if reads == "apart" else inside
        for W, b in others[:-1]:
            inside = np.tanh(W @ inside + b)
        W, b = others[-1]
        assert np.allclose(W @ inside + b, found, rtol=1e-12)


@pytest.mark.parametrize("reads", READINGS)
def test_only_the_first_layer_reads_the_tokens(reads):
    # Changing X by an element of the kernel of the first layer's weights on X does not change the output.
    net, (tokens, subsets) = made(3, reads=reads), sample_batch(5, T, Q, D, generator(4))
    on_X = net.first.weight.detach()[:, : D * T]
    kernel = torch.linalg.svd(on_X)[2][len(on_X) :]
    moved = tokens + (torch.randn(5, len(kernel), generator=generator(5), dtype=torch.float64) @ kernel).view(5, D, T)
    assert torch.allclose(net(tokens, subsets), net(moved, subsets), rtol=0, atol=1e-12)
    assert not torch.allclose(net(tokens, subsets), net(tokens + 1, subsets))
    assert not torch.allclose(net(tokens, subsets), net(tokens, subsets.flip(1)))


def test_losses_are_half_the_squared_errors():
    net, (tokens, subsets) = made(6), sample_batch(5, T, Q, D, generator(7))
    errors = net(tokens, subsets) - target(tokens, subsets)
    assert torch.allclose(net_losses(net, tokens, subsets), (errors**2).sum(dim=1) / 2)


@pytest.mark.parametrize("device", DEVICES)
def test_training_lowers_the_loss_and_repeats_itself(device):
    batch = sample_batch(5000, T, Q, D, generator(8, device))
    trained = []
    for _ in range(2):
        net = made(9, device=device, activation="relu", hidden=16)
        before = float(net_losses(net, *batch).detach().mean())
        train_net(net, T, Q, D, steps=100, batch=64, eta=0.02, generator=generator(10, device))
        trained.append(float(net_losses(net, *batch).detach().mean()))
    assert trained[0] == trained[1] < before  # pyright: ignore[reportPossiblyUnboundVariable]


def test_the_initialisation_is_that_of_its_seed_and_fills_its_range():
    one, same, other = made(11, hidden=400), made(11, hidden=400), made(12, hidden=400)
    assert torch.equal(one.first.weight, same.first.weight) and not torch.equal(one.first.weight, other.first.weight)
    weight = one.others[1].weight.detach()
    largest = float(weight.abs().max())
    assert 0.99 / 20 < largest < 1 / 20
    # The entries are uniform on [−a, a], so their variance is a²/3. With 160000 entries the sample variance has a
    # relative standard error of about 3 in 1000.
    assert math.isclose(float(weight.var()) * 400 * 3, 1, rel_tol=0.02)


def test_training_that_diverges_is_said_to():
    with pytest.raises(InputError, match=r"eta = 1e\+300: training diverges: no finite loss at step"):
        train_net(made(13, activation="linear"), T, Q, D, steps=20, batch=8, eta=1e300, generator=generator(14))


MEASUREMENTS = torch.linalg.qr(random_measurements("gaussian", 3, T, D, generator(15)).T)[0].T
MONOTONE = ["linear", "leaky_relu", "tanh", "sigmoid", "softplus", "elu"]
ODD = ["relu", "gelu", "silu", "square", "cubic", *MONOTONE]
CASES = [
    *(("one_more", name) for name in MONOTONE),
    *(("pairs", name) for name in ODD),
    *(("none_more", name) for name in ACTIVATIONS),
]


@pytest.mark.parametrize(("design", "activation"), CASES)
def test_a_first_layer_is_read_off(design, activation):
    tokens, subsets = sample_batch(300, T, Q, D, generator(16))
    spacing = 30.0 * (design == "none_more")
    on_X, on_y, bias = first_layer(design, activation, MEASUREMENTS, T, Q, spacing=spacing)
    assert len(on_X) == len(on_y) == len(bias) == {"one_more": 4, "pairs": 7, "none_more": 3}[design]
    outputs = ACTIVATIONS[activation].function(tokens.flatten(1) @ on_X.T + subsets @ on_y.T + bias)
    read, place = read_off(design, activation, outputs, T, Q, spacing=spacing)
    assert torch.equal(all_subsets(T, Q)[place], subsets)
    # Inverting the activation divides a rounding error of 10⁻¹⁶ by its derivative, which is at least 10⁻⁴.
    assert torch.allclose(read, tokens.flatten(1) @ MEASUREMENTS.T, rtol=0, atol=1e-8)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_activation_increases_where_it_is_said_to(activation):
    chosen = ACTIVATIONS[activation]
    low, high = (-8, 8) if chosen.monotone else (chosen.low, chosen.high)
    values = chosen.function(torch.linspace(low, high, 1000, dtype=torch.float64))
    assert (values.diff() > 0).all()
    if chosen.centre is not None:
        x = torch.linspace(-8, 8, 1000, dtype=torch.float64)
        assert ((chosen.function(chosen.centre + x) - chosen.function(chosen.centre - x)).diff() > 0).all()


@pytest.mark.parametrize(("length", "q"), [(1, 1), (4, 2), (7, 7), (9, 1), (12, 2), (13, 3), (24, 2), (60, 2), (25, 4)])
def test_codes_tell_subsets_apart(length, q):
    code, below = subset_code(length, q)
    sums = [sum(chosen) for chosen in combinations(code, q)]
    assert len(set(sums)) == len(sums) == math.comb(length, q)
    assert min(sums) >= 0 and max(sums) < below <= 2**length


def test_codes_are_of_order_length_to_the_subset_size():
    # The bounds are (q (r - 1) + 1)^q, where r is the next prime: 61 after 60, and 101 after 100.
    assert subset_code(60, 1)[1] == 61 and subset_code(60, 2)[1] == 121**2 and subset_code(100, 3)[1] == 301**3
    assert subset_code(4, 2) == ([1, 2, 4, 8], 16)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_widest_codes_are_read_off(activation):
    # The codes are below 2^25, and their spacing is 128, so the numbers are below 2^32.
    A, (tokens, subsets) = torch.eye(25, dtype=torch.float64)[:2], sample_batch(50, 25, 5, 1, generator(18))
    on_X, on_y, bias = first_layer("none_more", activation, A, 25, 5, spacing=128)
    outputs = ACTIVATIONS[activation].function(tokens.flatten(1) @ on_X.T + subsets @ on_y.T + bias)
    read, place = read_off("none_more", activation, outputs, 25, 5, spacing=128)
    assert torch.equal(all_subsets(25, 5)[place], subsets)
    assert torch.allclose(read, tokens.flatten(1) @ A.T, rtol=0, atol=1e-4)


def test_long_sequences_are_read_off():
    A = torch.linalg.qr(random_measurements("gaussian", 2, 60, 1, generator(19)).T)[0].T
    tokens, subsets = sample_batch(20_000, 60, 2, 1, generator(20))
    left = float(conditional_variance(A, all_subsets(60, 2)).mean())
    losses = decoded_losses("none_more", "linear", A, tokens, subsets, spacing=30)
    assert abs(float(losses.mean()) - left) < 6 * float(losses.std()) / math.sqrt(20_000)


@pytest.mark.parametrize("device", DEVICES)
def test_a_decoder_has_the_loss_that_is_left(device):
    A = MEASUREMENTS.to(device)
    tokens, subsets = sample_batch(40_000, T, Q, D, generator(17, device))
    left = float(conditional_variance(A, all_subsets(T, Q, device=device)).mean())
    for design, activation, spacing in (("one_more", "tanh", 0), ("pairs", "relu", 0), ("none_more", "sine", 30)):
        losses = decoded_losses(design, activation, A, tokens, subsets, spacing=spacing)
        assert abs(float(losses.mean()) - left) < 6 * float(losses.std()) / 200
    # Codes are often misread if their spacing is only one standard deviation of the measurement.
    near = decoded_losses("none_more", "linear", A, tokens, subsets, spacing=1)
    assert float(near.mean()) > left + 20 * float(near.std()) / 200


def layer(design, activation, *, measurements=MEASUREMENTS, length=T, q=Q, **more):
    return first_layer(design, activation, measurements, length, q, **more)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: made(width=0), "width = 0"),
        (lambda: made(depth=0), "depth = 0"),
        (lambda: made(hidden=0), "hidden = 0"),
        (lambda: made(reads="twice"), "reads = twice: must be one of together, apart"),
        (lambda: made(activation="step"), "activation = step: must be one of linear"),
        (lambda: train_net(made(), T, Q, D, steps=0, batch=8, eta=0.1, generator=generator(0)), "steps = 0"),
        (lambda: train_net(made(), T, Q, D, steps=1, batch=0, eta=0.1, generator=generator(0)), "n = 0"),
        (lambda: layer("two_more", "relu"), "design = two_more: must be one of one_more"),
        (lambda: layer("none_more", "relu"), r"spacing = 0.0: must be > 0 \(design none_more\)"),
        (lambda: layer("none_more", "relu", spacing=math.nan), "spacing = nan"),
        (lambda: layer("pairs", "relu", spacing=30), r"spacing = 30: must be 0 \(design pairs\)"),
        (lambda: layer("one_more", "tanh", spacing=30), r"spacing = 30: must be 0 \(design one_more\)"),
        (lambda: layer("pairs", "sine"), r"activation = sine: must be one of linear, .*cubic \(design pairs\)"),
        (lambda: layer("one_more", "relu"), r"activation = relu: must be one of linear, .*elu \(design one_more\)"),
        (lambda: layer("one_more", "square"), "activation = square"),
        (lambda: layer("pairs", "relu", measurements=MEASUREMENTS[:0]), "m = 0"),
        (lambda: layer("pairs", "relu", q=5), "q = 5: must be an integer >= 1 and <= 4"),
        (lambda: layer("pairs", "relu", q=0), "q = 0"),
        (
            lambda: layer("pairs", "relu", length=40, q=8),
            r"T = 40: must be so small that codes .* here up to 2\^40, are",
        ),
        (lambda: layer("none_more", "relu", length=25, q=5, spacing=129), r"T = 25: .* here up to 2\^25 \* 129, are"),
        (lambda: layer("pairs", "relu", length=4000, q=2000), r"T = 4000: .* up to 2\^4000, are"),
        (lambda: read_off("pairs", "step", MEASUREMENTS, T, Q), "activation = step"),
        (lambda: read_off("pairs", "sine", MEASUREMENTS, T, Q), "activation = sine"),
        (lambda: read_off("none_more", "relu", MEASUREMENTS, T, Q), "spacing = 0.0: must be > 0"),
        (lambda: read_off("none_more", "relu", MEASUREMENTS, 60, 30, spacing=1), "T = 60"),
        (lambda: read_off("two_more", "relu", MEASUREMENTS, T, Q), "design = two_more"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_invalid_arguments_of_nets_and_layers_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_designs_are_those_named():
    assert set(DESIGNS) == {design for design, _ in CASES}
