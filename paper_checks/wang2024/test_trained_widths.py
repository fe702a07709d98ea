"""The widths after training: the search for them, and a small run against the least widths of the theorems."""

import math
from fractions import Fraction

import pytest

from paper_checks.wang2024 import encoding_findings, trained_widths
from paper_checks.wang2024.trained_widths import least_width
from verify import InputError


def falling(first_at_most, error=0.0):
    """Return a loss that is 1 below a width and 0 from it on, and the list of the widths tried.

    At this width and the width before, the loss is given minus and plus `error`; elsewhere, without an error.
    """
    tried = []

    def loss(width):
        tried.append(width)
        unsure = error if width in (first_at_most - 1, first_at_most) else 0.0
        value = 0.0 if width >= first_at_most else 1.0
        return value - unsure, value + unsure

    return loss, tried


@pytest.mark.parametrize("least", [5, 6, 7, 8, 13, 40])
def test_the_least_width_is_found(least):
    loss, tried = falling(least)
    assert least_width(loss, 0.5, 5, 40) == (least, least)
    assert min(tried) >= 5
    assert max(tried) <= 40
    assert least - 1 in tried or least == 5


def test_an_error_widens_the_interval():
    loss, _ = falling(9, error=0.75)
    assert least_width(loss, 0.5, 5, 40) == (8, 10)


def test_a_loss_that_is_not_reached_is_refused():
    loss, _ = falling(41)
    with pytest.raises(InputError, match="widest = 40: must be a width at which the loss is reached"):
        least_width(loss, 0.5, 5, 40)


@pytest.mark.parametrize("lengths", [(Fraction(25, 2),), (Fraction(3),), (Fraction(24), Fraction(12))])
def test_lengths_are_integers_that_rise(lengths):
    with pytest.raises(InputError, match="must be integers above q = 3 that rise"):
        trained_widths.widths({"lengths": lengths, "q": 3}, seed=0, device="cpu")


@pytest.mark.audit
def test_a_small_run():
    found = trained_widths.trained_widths.run(device="cpu", seed=0).measurements
    ends = {name.removesuffix("_start"): at.value for name, at in found.items() if name.endswith("_start")}
    for name in ("attention_alone", "attention_with_query", "fully_connected"):
        assert ends[f"{name}_from"] >= math.ceil(ends[f"{name}_least_from"])
        assert ends[f"{name}_to"] >= ends[f"{name}_from"]
    # 12 tokens of 2 numbers, a fifth of the zero predictor's loss: 24 (1 - 11/(5 · 9)).
    assert ends["fully_connected_least_from"] == pytest.approx(24 * (1 - 11 / 45))
    assert ends["fully_connected_to"] <= 24
    # With attention to the query's token, descent is slow.
    assert ends["attention_with_query_from"] > ends["attention_with_query_least_to"]


@pytest.mark.audit
@pytest.mark.parametrize(
    ("T", "query", "above", "below", "words"),
    [
        (12, False, 49, 50, "at d + d_e = 49 and below it at 50"),
        (12, True, 297, 298, "above 5/48 at 297 and below it at 298"),
        (24, False, 68, 69, "At T = 24 the layers need 69,"),
        (24, True, 478, 480, "479 or 480"),
    ],
)
def test_the_layers_of_the_finding(T, query, above, below, words):
    loss = trained_widths.layer_loss({"q": 3, "d": 5, "descent_steps": 100_000}, T, query)
    assert loss(above)[0] > 5 / 48
    assert loss(below)[1] < 5 / 48
    assert words in encoding_findings.trained_widths_at_12_tokens.text
