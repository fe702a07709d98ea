"""Draws of validation sets: fair signs, uniform subsets."""

import math

import torch

from numerics.sparse_token_selection.validation import SignEncodings, draw_batch


def test_signs_are_fair_and_independent():
    source = SignEncodings(13, torch.float64, "cpu")
    n, T = 4000, 9
    drawn = source(n, T, torch.Generator().manual_seed(0)) * math.sqrt(13)
    assert drawn.shape == (n, 13, T) and bool((drawn.abs() - 1).abs().max() < 1e-15)
    # A mean of n fair signs has the standard deviation 1/√n; 6 standard deviations are allowed for the means of 117
    # signs and of the 6786 products of two signs.
    flat = drawn.reshape(n, -1)
    products = flat.T @ flat / n
    assert flat.mean(dim=0).abs().max() < 6 / math.sqrt(n)
    assert (products - torch.eye(117, dtype=torch.float64)).abs().max() < 6 / math.sqrt(n)
    again = source(n, T, torch.Generator().manual_seed(1))
    assert again.data_ptr() == drawn.data_ptr() or not torch.equal(again * math.sqrt(13), drawn)


def test_signs_are_drawn_anew_and_repeat_from_a_seed():
    source = SignEncodings(5, torch.float32, "cpu")
    generator = torch.Generator().manual_seed(3)
    first, second = (source(4, 6, generator).clone() for _ in range(2))
    assert not torch.equal(first, second)
    assert torch.equal(source(4, 6, torch.Generator().manual_seed(3)), first)


def test_subsets_are_uniform():
    batch = draw_batch(6000, 2, 1, torch.eye(4), torch.Generator().manual_seed(0), torch.float64)
    pairs = {tuple(sorted(pair)) for pair in batch.members.tolist()}
    assert len(pairs) == 6 and all(len(set(pair)) == 2 for pair in pairs)
    counts = torch.tensor([sum(tuple(sorted(m)) == pair for m in batch.members.tolist()) for pair in sorted(pairs)])
    # Each count is binomial with mean 1000 and standard deviation 29; 6 standard deviations are allowed.
    assert (counts - 1000).abs().max() < 6 * 29
