"""Steps of Adam agree with its definition."""

import pytest
import torch

from numerics.adam import take_adam_step

BETAS = 0.9, 0.99


def by_definition(matrix, slopes, rate, betas):
    """Return the matrix after one step of Adam for each slope, in order."""
    mean = square = torch.zeros_like(matrix)
    for t, slope in enumerate(slopes, 1):
        mean = betas[0] * mean + (1 - betas[0]) * slope
        square = betas[1] * square + (1 - betas[1]) * slope**2
        size = (square / (1 - betas[1] ** t)).sqrt() + 1e-8
        matrix = matrix - rate * mean / (1 - betas[0] ** t) / size
    return matrix


@pytest.fixture
def drawn():
    """Return, for each of two shapes, a matrix and the slopes of five steps."""
    source = torch.Generator().manual_seed(0)
    shapes = (2, 3), (4, 1)
    return [torch.randn((6, *shape), generator=source, dtype=torch.float64) for shape in shapes]


def after_steps(drawn, betas=BETAS, before=0):
    begun = [numbers[0].clone() for numbers in drawn]
    means, squares = ([torch.zeros_like(matrix) for matrix in begun] for _ in range(2))
    for taken in range(5):
        slopes = [numbers[1 + taken] for numbers in drawn]
        take_adam_step(begun, slopes, means, squares, taken=before + taken, rate=0.1, betas=betas)
    return begun


def test_steps_are_those_of_the_definition(drawn):
    for found, numbers in zip(after_steps(drawn), drawn, strict=True):
        # Each step makes a few rounding errors of numbers near 1.
        torch.testing.assert_close(found, by_definition(numbers[0], numbers[1:], 0.1, BETAS), rtol=0, atol=1e-14)


def test_other_factors_and_another_count_of_steps_would_be_seen(drawn):
    expected = by_definition(drawn[0][0], drawn[0][1:], 0.1, BETAS)
    for found in (after_steps(drawn, (0.9, 0.9)), after_steps(drawn, before=1)):
        assert (found[0] - expected).abs().max() > 1e-3
