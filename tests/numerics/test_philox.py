"""Random words agree with Random123, Gaussians with the Box-Muller transform, subsets with Floyd's algorithm."""

import numpy as np
import pytest
import torch

from numerics import philox_tensors
from numerics.philox import gaussians, philox, subset
from numerics.repeatable import one_thread
from tests.numerics.devices import DEVICES


def by_definition(counter, key):
    """Return four words by Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011), in Python's integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        one, other = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [other >> 32 ^ c[1] ^ k[0], other % 2**32, one >> 32 ^ c[3] ^ k[1], one % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


# Known answers from the authors' library Random123: all bits 0, all bits 1, and digits of π.
@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([2**32 - 1] * 4, [2**32 - 1] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_the_definition_gives_the_known_answers(counter, key, words):
    assert by_definition(counter, key) == [int(word, 16) for word in words.split()]


@pytest.mark.parametrize("blocks", [1, 7, 540])
@pytest.mark.parametrize(
    ("key", "sample", "step"), [(0, 0, 0), (2**64 - 9, 2**32 - 1, 2**63 - 1), (2**40 + 7, 5, 2**33 + 1)]
)
def test_words_are_philoxs(key, sample, step, blocks):
    found = np.empty((4, blocks), np.uint32)
    philox(np.uint64(key), sample, step, found)
    for block in {0, 1, blocks // 2, blocks - 1} & set(range(blocks)):
        expected = by_definition([block, sample, step % 2**32, step >> 32], [key % 2**32, key >> 32])
        assert found[:, block].tolist() == expected
    one = range(step, step + 1), range(sample, sample + 1)
    assert philox_tensors.by_tensors(key, *one, blocks, "cpu")[0, 0].tolist() == found.tolist()
    assert philox_tensors.words(key, *one, 4 * blocks - 1, "cpu").tolist() == [[found.reshape(-1)[:-1].tolist()]]


@pytest.mark.parametrize("device", DEVICES)
def test_words_are_those_of_each_step_and_sample(device):
    steps, samples = range(2**32 - 2, 2**32 + 2), range(5, 8)
    found = philox_tensors.words(7, steps, samples, 10, device)
    assert torch.equal(philox_tensors.by_tensors(7, steps, samples, 3, device).flatten(2)[..., :10], found)
    assert found.shape == (4, 3, 10) and torch.equal(found.cpu(), philox_tensors.words(7, steps, samples, 10, "cpu"))
    for i, step in enumerate(steps):
        for j, sample in enumerate(samples):
            row = np.empty((4, 3), np.uint32)
            philox(np.uint64(7), sample, step, row)
            assert found[i, j].tolist() == row.reshape(-1)[:10].tolist()


def test_gaussians_are_box_and_mullers():
    words = np.random.default_rng(0).integers(0, 2**32, 10_000, dtype=np.uint32)
    # The special words give the largest and the least radius, quarter and eighth turns, and their neighbours.
    raw = words.view(np.int32)
    raw[:4] = -(2**31), -(2**31) + 1, 2**31 - 1, 0
    angles = [-(2**31), -(2**31) + 1, 2**31 - 1, 0, 2**30, -(2**30), 2**29, 2**29 - 1, -(2**29), -(2**29) - 1]
    raw[5000:5010] = angles
    found = np.empty(10_000)
    gaussians(words, np.empty(5000), found)
    uniform = (raw[:5000].astype(float) + 2.0**31 + 0.5) / 2.0**32
    radius, angle = np.sqrt(-2 * np.log(uniform)), raw[5000:] * (2 * np.pi / 2**32)
    expected = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    # Radii are below 7. There are a dozen rounding errors, and the remainders of the series are below half a rounding
    # unit.
    assert np.abs(found - expected).max() < 7 * 6 * np.finfo(float).eps
    assert 6.7 < np.abs(found).max() < 6.77
    row = torch.from_numpy(words.astype(np.int64))[None]
    assert philox_tensors.gaussians(row)[0].tolist() == found.tolist()
    with one_thread():
        by_tensors = philox_tensors.gaussians_by_tensors(row)[0].numpy()
    assert np.abs(by_tensors - expected).max() < 7 * 6 * np.finfo(float).eps
    assert philox_tensors.uniforms(torch.tensor([2**31, 2**31 - 1])).tolist() == [2.0**-33, 1 - 2.0**-33]


@pytest.mark.parametrize("count", [0, 1, 30, 95])
def test_exponentials_are_sums_of_logarithms(count):
    words = np.random.default_rng(count).integers(0, 2**32, (4, count), dtype=np.uint32)
    words[0] = 2**31
    # The word 2³¹ is the least int32, so it gives the smallest uniform number.
    uniform = (words.view(np.int32).astype(float) + 2.0**31 + 0.5) / 2.0**32
    found = philox_tensors.exponentials(torch.from_numpy(words.astype(np.int64)))
    assert np.allclose(found.numpy(), -np.log(uniform).sum(axis=1), rtol=1e-13, atol=0)


@pytest.mark.parametrize(("T", "q"), [(200, 3), (9, 9), (2**31, 5), (1, 1)])
def test_subsets_are_floyds_of_words_of_64_bits(T, q):
    words = np.random.default_rng(T + q).integers(0, 2**32, 2 * q, dtype=np.uint32)
    words[-2:] = 2**32 - 1
    found = np.empty(q, np.int64)
    subset(words, T, found)
    expected = []
    for i in range(q):
        largest = T - q + i
        number = (int(words[2 * i]) + (int(words[2 * i + 1]) << 32)) * (largest + 1) >> 64
        expected.append(largest if number in expected else number)
    assert found.tolist() == expected and len(set(expected)) == q
    assert philox_tensors.subsets(torch.from_numpy(words.astype(np.int64)), T).tolist() == expected
