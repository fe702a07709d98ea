"""The primitives for attention with sign encodings: values, approximations in a search, and refusals."""

from fractions import Fraction

import pytest

from tests.theorems.sparse_token_selection.test_sign_attention import means
from theorems.sparse_token_selection.attention_gain import greatest_gain
from theorems.sparse_token_selection.encoding_dimension import least_dimension
from theorems.sparse_token_selection.gain_primitives import (
    MOST_SELECTED,
    MOST_TOKENS,
    attention_gain,
    best_logit_scale,
    best_value_scale,
    gain_is_attained,
    least_encoding_dimension,
    selected_attention,
    squared_attention,
)
from verify import Enclosure
from verify.errors import UndefinedError

SIZES = [Fraction(n) for n in (20, 3, 30, 0)]


def test_they_report_what_the_search_for_the_best_found() -> None:
    gain = greatest_gain(20, 3, 30, False)
    assert attention_gain.evaluate(*SIZES) == Enclosure(gain.lower, gain.upper)
    assert best_logit_scale.evaluate(*SIZES) == gain.C
    assert best_value_scale.evaluate(*SIZES) == pytest.approx(float(gain.selected / (3 * gain.squares)), rel=1e-6)
    assert gain_is_attained.evaluate(*SIZES) == 1
    assert gain_is_attained.evaluate(*map(Fraction, (6, 2, 5, 0))) == 0
    found = least_encoding_dimension.evaluate(*map(Fraction, (20, 3, 1, Fraction(1, 50), 0)))
    assert (found.lower, found.upper) == least_dimension(20, 3, 1, Fraction(1, 50), False)


@pytest.mark.parametrize("query", [0, 1])
@pytest.mark.parametrize(("T", "q", "D"), [(4, 3, 3), (5, 2, 3), (3, 3, 3)])
@pytest.mark.parametrize("C", [Fraction(0), Fraction(1, 2), Fraction(7, 3)])
def test_the_means_contain_the_sum_over_all_signs(T: int, q: int, D: int, C: Fraction, query: int) -> None:
    exact = means(T, q, D, bool(query), float(C))
    for primitive, mean in zip((selected_attention, squared_attention), exact, strict=True):
        found = primitive.evaluate(*map(Fraction, (T, q, D, C, query)))
        # The sums have at most 2^12 terms in float64.
        assert float(found.lower) - 1e-12 <= mean <= float(found.upper) + 1e-12
        assert found.upper - found.lower <= mean / 20


def test_a_search_sees_approximations() -> None:
    sizes = (60, 4, 300, 0)
    for primitive in (attention_gain, best_logit_scale, best_value_scale, gain_is_attained):
        value = primitive.evaluate(*map(Fraction, sizes))
        exact = float(value.midpoint) if isinstance(value, Enclosure) else float(value)
        assert primitive.scan(*map(float, sizes)) == pytest.approx(exact, rel=0.1)
    for primitive in (selected_attention, squared_attention):
        value = primitive.evaluate(*map(Fraction, (60, 4, 300, 3, 0)))
        assert primitive.scan(60.0, 4.0, 300.0, 3.0, 0.0) == pytest.approx(float(value.midpoint), rel=1e-3)
    dimension = least_encoding_dimension.evaluate(*map(Fraction, (60, 4, 5, Fraction(1, 20), 0)))
    assert least_encoding_dimension.scan(60.0, 4.0, 5.0, 0.05, 0.0) == pytest.approx(float(dimension.upper), rel=0.1)
    # The mean of all tokens already has this loss, so no dimension is needed.
    assert least_encoding_dimension.scan(60.0, 4.0, 5.0, 0.6, 0.0) == 1


def test_invalid_models_are_refused() -> None:
    for wrong in ((3, 4, 5, 0), (4, 3, 0, 0), (4, 3, 2, 2), (4, 3, Fraction(1, 2), 0)):
        with pytest.raises(UndefinedError, match="integers with"):
            attention_gain.evaluate(*map(Fraction, wrong))
    with pytest.raises(UndefinedError, match=f"at most {MOST_TOKENS}, {MOST_SELECTED}, "):
        attention_gain.scan(1000.0, 100.0, 10.0, 0.0)
    for unattained in (best_value_scale, best_logit_scale):
        with pytest.raises(UndefinedError, match="not attained"):
            unattained.evaluate(*map(Fraction, (6, 2, 5, 0)))
        with pytest.raises(UndefinedError, match="not attained"):
            unattained.scan(6.0, 2.0, 5.0, 0.0)
    with pytest.raises(UndefinedError, match="a number > 0"):
        least_encoding_dimension.evaluate(*map(Fraction, (6, 2, 1, 0, 0)))
    for primitive in (selected_attention, squared_attention):
        with pytest.raises(UndefinedError, match="C = -1: from 0"):
            primitive.evaluate(*map(Fraction, (6, 2, 5, -1, 0)))
        with pytest.raises(UndefinedError, match="C = -1"):
            primitive.scan(6.0, 2.0, 5.0, -1.0, 0.0)
