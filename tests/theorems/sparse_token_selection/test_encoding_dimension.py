"""The least dimension at which the least loss is at most a level, compared with enclosures of the loss."""

from fractions import Fraction

import pytest

from theorems.sparse_token_selection.attention_gain import greatest_gain
from theorems.sparse_token_selection.encoding_dimension import MOST_DIMENSIONS, least_dimension
from theorems.sparse_token_selection.sign_attention import SignAttention
from verify.errors import UndefinedError


@pytest.mark.parametrize(
    ("sizes", "d", "eps"),
    [
        ((20, 3, False), 1, Fraction(1, 50)),
        pytest.param((20, 3, True), 1, Fraction(1, 20), marks=pytest.mark.audit),
        pytest.param((200, 3, False), 5, Fraction(1, 10), marks=pytest.mark.audit),
        pytest.param((60, 8, False), 5, Fraction(1, 30), marks=pytest.mark.audit),
    ],
)
def test_the_least_dimension_is_where_the_loss_crosses(sizes: tuple[int, int, bool], d: int, eps: Fraction) -> None:
    T, q, query = sizes
    lower, upper = least_dimension(T, q, d, eps, query)
    # The interval's ends must differ by at most 3 per cent plus three.
    assert lower <= upper <= 1.03 * lower + 3
    assert Fraction(d, 2 * q) * (1 - greatest_gain(T, q, upper, query).lower) <= eps
    # One dimension fewer changes the loss by more than the enclosure's width.
    below = greatest_gain(T, q, lower - 1, query, Fraction(1, 500))
    assert Fraction(d, 2 * q) * (1 - below.upper) > eps


@pytest.mark.parametrize("eps", [Fraction(1, 5), Fraction(1, 100), Fraction(1, 10**6)])
def test_two_selected_tokens_in_closed_form(eps: Fraction) -> None:
    """Compute the loss d/4 E[k/(2+k)] by a full sum.

    u is the sum of the two selected encodings, and k the number of other tokens whose signs agree with u at all
    coordinates with u ≠ 0. Given the number of these coordinates, k is binomial.
    """
    from math import comb

    T, d = 12, 3

    def floor(D: int) -> Fraction:
        total = Fraction(0)
        for m in range(D + 1):
            for k in range(T - 1):
                chance = comb(T - 2, k) * Fraction(1, 2**m) ** k * (1 - Fraction(1, 2**m)) ** (T - 2 - k)
                total += Fraction(comb(D, m), 2**D) * chance * Fraction(k, 2 + k)
        return Fraction(d, 4) * total

    lower, upper = least_dimension(T, 2, d, eps, False)
    assert lower == upper
    assert floor(upper) <= eps
    assert upper == 1 or floor(upper - 1) > eps


def test_no_dimension_is_needed_for_the_loss_of_the_mean_of_all() -> None:
    # At C = 0 all tokens have the same attention, so G(0) = q/T, also with attention to the query's token.
    for query in (False, True):
        assert least_dimension(20, 3, 2, Fraction(2, 6) * Fraction(17, 20), query) == (1, 1)
    assert least_dimension(7, 7, 2, Fraction(1, 10**9), False) == (1, 1)


def test_more_dimensions_than_are_computed_with_are_refused() -> None:
    with pytest.raises(UndefinedError, match=f"more than {MOST_DIMENSIONS} dimensions are needed"):
        least_dimension(200, 8, 5, Fraction(1, 10**9), True)


@pytest.mark.parametrize("T", [3, 4, 5])
@pytest.mark.parametrize("D", [1, 2, 3])
def test_a_loss_that_is_reached_exactly(T: int, D: int) -> None:
    """Compute the rational number E[k/(2+k)]/4, with k as in `test_two_selected_tokens_in_closed_form`."""
    from math import comb

    floor = Fraction(0)
    for m in range(D + 1):
        p = Fraction(1, 2**m)
        share = sum(comb(T - 2, k) * p**k * (1 - p) ** (T - 2 - k) * Fraction(k, 2 + k) for k in range(T - 1))
        floor += Fraction(comb(D, m), 2**D) * share / 4
    lower, upper = least_dimension(T, 2, 1, floor, False)
    assert lower <= D <= upper <= D + 1


@pytest.mark.parametrize(
    ("sizes", "d", "eps", "found", "most"),
    [
        pytest.param((200, 3, False), 5, Fraction(5, 12), (1, 26), 1500, id="few dimensions", marks=pytest.mark.audit),
        pytest.param((200, 3, False), 5, Fraction(1, 10), (149, 150), 1500, id="many"),
    ],
)
def test_the_work_is_bounded_whatever_the_clock_says(
    sizes: tuple[int, int, bool],
    d: int,
    eps: Fraction,
    found: tuple[int, int],
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Count the calls in few dimensions, where the bounds are wide and some claims cannot be shown, and in many."""
    calls, moments = [], SignAttention.exponential_moments
    monkeypatch.setattr(SignAttention, "exponential_moments", lambda *arguments: calls.append(1) or moments(*arguments))
    T, q, query = sizes
    assert least_dimension.__wrapped__(T, q, d, eps, query) == found
    assert len(calls) < most
