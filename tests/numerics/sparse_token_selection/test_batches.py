"""Batches by a counter-based generator: compiled draws agree with draws by tensors, and the distribution is right."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy import stats

from numerics.sparse_token_selection.batches import Batch, Batches, Sizes
from tests.numerics.devices import DEVICES
from verify import InputError

KEY = 2**64 - 9
SIZES = [
    Sizes(33, 7, 3, 2, 5),
    Sizes(3, 1, 1, 1, 1),
    Sizes(5, 17, 16, 1, 9),
    Sizes(5, 9, 9, 3, 8),
    Sizes(7, 200, 3, 5, 170),
]


def batches(*sizes, dtype=torch.float64, key=KEY, device="cpu"):
    return Batches(Sizes(*sizes), key, dtype, device=device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("step", [0, 2**33 + 1, 2**63 - 1])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_by_tensors_a_batch_is_the_compiled_one(monkeypatch, sizes, step, device):
    expected = batches(*sizes).drawn(step)
    monkeypatch.setattr(Batches, "_compiled", Batches.by_tensors)
    found = Batch(*(part.cpu() for part in batches(*sizes, device=device).drawn(step)))
    assert torch.equal(found.encodings, expected.encodings) and torch.equal(found.members, expected.members)
    # Radii are below 7. The errors are rounding errors of the logarithm, the root, the cosine and the sine.
    torch.testing.assert_close(found.tokens, expected.tokens, rtol=0, atol=7 * 8 * torch.finfo(torch.float64).eps)


def test_by_tensors_steps_are_drawn_ahead_and_in_any_order(monkeypatch):
    monkeypatch.setattr(Batches, "_compiled", Batches.by_tensors)
    source = batches(4, 5, 2, 3, 6)
    for step in (0, 3, 10**6, 1):
        again = batches(4, 5, 2, 3, 6).drawn(step)
        assert all(torch.equal(one, other) for one, other in zip(source.drawn(step), again, strict=True))


def test_a_batch_does_not_depend_on_its_size_and_steps_and_keys_have_their_own():
    few, many = (batches(n, 9, 2, 3, 5).drawn(4) for n in (10, 50))
    assert all(torch.equal(one, other[:10]) for one, other in zip(few, many, strict=True))
    for other in (batches(10, 9, 2, 3, 5).drawn(5), batches(10, 9, 2, 3, 5, key=KEY - 2**40).drawn(4)):
        assert not any(torch.equal(one, two) for one, two in zip(few, other, strict=True))
    halves = [part.to(torch.float32) for part in few[:2]]
    assert all(
        torch.equal(*pair) for pair in zip(batches(10, 9, 2, 3, 5, dtype=torch.float32).drawn(4), halves, strict=False)
    )


def test_signs_are_fair_and_independent():
    n, d_e, T = 4000, 13, 9
    encodings, tokens, _ = batches(n, T, 2, 2, d_e).drawn(0)
    signs = encodings * math.sqrt(d_e)
    assert signs.shape == (n, d_e, T) and bool((signs.abs() - 1).abs().max() < 1e-15)
    # A mean of n fair signs has the standard deviation 1/√n. There are 117 signs, and about 9000 products of two signs
    # or of a sign and a Gaussian. Each mean exceeds z = 6 with probability 2e-9.
    flat = torch.cat([signs.reshape(n, -1), tokens.reshape(n, -1)], dim=1)
    products = flat.T @ flat / n
    assert flat[:, : d_e * T].mean(dim=0).abs().max() < 6 / math.sqrt(n)
    products.diagonal()[:] -= 1
    # The square of a standard Gaussian has variance 2.
    assert products.abs().max() < 6 * math.sqrt(2 / n)
    # Batches of two steps are independent, so the product of corresponding signs has mean 0.
    later = batches(n, T, 2, 2, d_e).drawn(1)[0] * math.sqrt(d_e)
    assert (signs * later).mean(dim=0).abs().max() < 6 / math.sqrt(n)


def test_tokens_are_gaussian():
    tokens = batches(4000, 9, 2, 3, 1).drawn(0)[1].flatten().numpy()
    assert len(tokens) == 108_000 and stats.kstest(tokens, "norm").pvalue > 1e-6
    # The fourth power of a standard Gaussian has variance 96, and its absolute value exceeds 3 with probability 0.0027.
    assert abs((tokens**4).mean() - 3) < 6 * math.sqrt(96 / len(tokens))
    beyond = (np.abs(tokens) > 3).mean()
    assert abs(beyond - 0.0027) < 6 * math.sqrt(0.0027 / len(tokens))
    assert stats.kstest(tokens * 1.05, "norm").pvalue < 1e-6


@pytest.mark.parametrize(("T", "q"), [(5, 2), (5, 4), (4, 3), (6, 1), (3, 3)])
def test_subsets_are_uniform(T, q):
    n = 12_000
    members = batches(n, T, q, 1, 1).drawn(0)[2]
    found = [tuple(sorted(row)) for row in members.tolist()]
    every = list(combinations(range(T), q))
    counts = np.array([found.count(subset) for subset in every])
    assert counts.sum() == n and members.shape == (n, q)
    # Each count is binomial; 6 standard deviations are allowed.
    share = 1 / len(every)
    assert np.abs(counts - n * share).max() <= 6 * math.sqrt(n * share * (1 - share))


@pytest.mark.parametrize("name", ["n", "T", "q", "d", "d_e"])
def test_sizes_are_positive(name):
    with pytest.raises(InputError, match=f"{name} = 0: must be an integer >= 1"):
        Batches(Sizes(4, 5, 2, 3, 6)._replace(**{name: 0}), KEY, torch.float64)


@pytest.mark.usefixtures("unchecked")
def test_invalid_arguments_of_batches_are_refused():
    with pytest.raises(InputError, match="q = 6: must be at most T = 5"):
        batches(4, 5, 6, 3, 6)
    sizes = Sizes(4, 5, 2, 3, 6)
    for key in (-1, 2**64, 1.5):
        with pytest.raises(InputError, match=r"key = .*: must be an integer from 0 to 2\^64 - 1"):
            Batches(sizes, key, torch.float64)
    with pytest.raises(InputError, match=r"encodings = .*: must be of shape \(6, 5\) and torch.float64, on the CPU"):
        Batches(sizes, KEY, torch.float64, torch.ones(5, 6))
    with pytest.raises(InputError, match=r"encodings = .*: must be of shape \(6, 5\) and torch.float64, on meta"):
        Batches(sizes, KEY, torch.float64, torch.ones(6, 5, dtype=torch.float64), "meta")
    with pytest.raises(InputError, match=r"dtype = torch.bfloat16: must be torch.float32 or torch.float64"):
        Batches(sizes, KEY, torch.bfloat16)
    for step in (-1, 2**63, 0.5):
        with pytest.raises(InputError, match=r"step = .*: must be an integer from 0"):
            Batches(sizes, KEY, torch.float64).drawn(step)
