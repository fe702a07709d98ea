"""The closed-form approximations, compared with the enclosures and with the scaling law."""

import math

import numpy as np
import pytest

from tests.theorems.sparse_token_selection.test_sign_attention import means
from theorems.sparse_token_selection.approximate_gain import approximate_dimension, approximate_gain
from theorems.sparse_token_selection.attention_gain import greatest_gain


@pytest.mark.parametrize(
    ("sizes", "within"),
    [
        ((20, 3, 60, False), 0.1),
        ((200, 3, 170, False), 0.1),
        ((200, 3, 170, True), 0.1),
        ((60, 8, 400, False), 0.1),
        ((60, 4, 2000, True), 0.1),
    ],
)
def test_approximate_gain_is_as_far_from_1_as_the_enclosure(sizes: tuple[int, int, int, bool], within: float) -> None:
    found, C = approximate_gain(*sizes)
    gain = greatest_gain(*sizes)
    assert 1 - found == pytest.approx(float(1 - gain.lower), rel=within)
    assert pytest.approx(float(gain.C), rel=0.15) == C


def test_few_dimensions_against_all_signs() -> None:
    pairs = (means(5, 4, 3, False, C) for C in np.linspace(0, 6, 241))
    best = max(P * P / (4 * R) for P, R in pairs)
    assert 1 - approximate_gain(5, 4, 3, False)[0] == pytest.approx(1 - best, rel=0.25)


def test_the_dimension_is_where_the_approximation_crosses() -> None:
    for query in (False, True):
        D = approximate_dimension(50, 3, query, 0.9)
        assert approximate_gain(50, 3, D, query)[0] >= 0.9 > approximate_gain(50, 3, D - 1 - D // 250, query)[0]
    assert approximate_dimension(50, 3, False, 0.01) == 1
    # If q exceeds the sum's limit, the scaling law is used, with log T for C.
    assert approximate_dimension(10**6, 1000, False, 0.9) == math.ceil(1000 * math.log(10**6) ** 2 / (1 - 0.9))


@pytest.mark.parametrize(("T", "q"), [(200, 3), (2000, 5)])
def test_the_loss_falls_like_the_squared_logit_scale_over_the_dimension(T: int, q: int) -> None:
    """Compare (1 − G) qD/((q−1)(q−2)C²) with 1 + 1/C, up to terms of the order of 1/C².

    1 − G is about aC² + b e^(−2C) with a = (q−1)(q−2)/(qD), and at its minimum in C, b e^(−2C) = aC.
    """
    ratios = []
    for D in (10**4, 10**5, 10**6):
        gain, C = approximate_gain(T, q, D, False)
        ratios.append((1 - gain) * q * D / ((q - 1) * (q - 2) * C**2))
        assert abs(ratios[-1] - 1 - 1 / C) < 3 / C**2
    assert ratios[-1] < ratios[0]
