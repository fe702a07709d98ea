"""Sums over lanes are NumPy's sums, for every number of blocks that the loops end in."""

import numpy as np
import pytest

from numerics.lanes import LANES, padded, product, signed_sums


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("groups", [1, 2, 4, 7, 13])
def test_signed_sums_are_products_with_signs(groups, blocks, dtype):
    source = np.random.default_rng(groups)
    # Planes are longer than what is used of them; squares lie either way.
    bits = source.integers(0, 2**16, (16, groups * blocks + 3), dtype=np.uint16)
    v = source.normal(size=16 * blocks).astype(dtype)
    signs = 2.0 * (bits[:, : groups * blocks, None] >> np.arange(16) & 1) - 1
    for along, across, shape, order in (
        (groups, 1, (16, blocks, groups, 16), (1, 0, 2, 3)),
        (1, blocks, (16, groups, blocks, 16), (2, 0, 1, 3)),
    ):
        found = np.full(LANES * groups, np.nan, dtype)
        signed_sums(bits.reshape(-1), bits.shape[1], along, across, 2 * v, found)
        dense = signs.reshape(shape).transpose(order).reshape(16 * blocks, 16 * groups)
        # A rounding a term at most, of partial sums of at most Σ|2 v|.
        bound = 16 * blocks * np.finfo(dtype).eps * 2 * np.abs(v).sum()
        assert np.abs(found - v.astype(float) @ dense).max() <= bound


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "count", "width"), [(4, 1, 32), (8, 5, 96), (12, 170, 64), (4, 0, 32)])
def test_products_are_matrices(rows, count, width, dtype):
    source = np.random.default_rng(rows + count)
    a, b = source.normal(size=(rows, count + 2)).astype(dtype), source.normal(size=(count, width)).astype(dtype)
    expected = a[:, :count].astype(float) @ b
    bound = (count + 1) * np.finfo(dtype).eps * (np.abs(a[:, :count]).astype(float) @ np.abs(b))
    for given, row, along in ((a, count + 2, 1), (np.ascontiguousarray(a.T), 1, rows)):
        found = np.full((rows, width), np.nan, dtype)
        product(given, row, along, b, found)
        assert (np.abs(found - expected) <= bound).all()


def test_padding_is_the_least_that_is_whole():
    assert [padded(count) for count in (0, 1, 16, 17)] == [0, 16, 16, 32] and padded(33, 32) == 64
