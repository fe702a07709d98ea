"""The separation's two widths, each against the theorem that it is from."""

import math
from fractions import Fraction

import pytest

import verify
from theorems.sparse_token_selection.approximate_gain import approximate_dimension
from verify import InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.separation")


@pytest.mark.parametrize(("T", "q", "d", "share"), [(60, 3, 20, Fraction(1, 8)), (400, 2, 30, Fraction(1, 20))])
def test_the_widths_are_those_of_the_two_theorems(T, q, d, share):
    result = verify.check(THEOREM, T=T, q=q, d=d, share=share)
    assert result.outcome is Outcome.VERIFIED
    eps = share * d / (2 * q)
    nets = verify.check(load_theorem("wang2024.fcn_width"), T=T, q=q, d=d, m=0, eps=eps).values["width_lower_bound"]
    # The formula of m >= d; at a loss below that of m = d it is the larger.
    assert math.ceil(result.values["fully_connected_width"]) == nets
    required = verify.check(load_theorem("wang2024.theorem2"), T=T, q=q, d=d, d_e=1, eps=eps).values["d_e_required"]
    width = result.values["attention_width"]
    ends = [(end - d) for end in ((width, width) if isinstance(width, Fraction | int) else (width.lower, width.upper))]
    found = (required, required) if isinstance(required, Fraction | int) else (required.lower, required.upper)
    assert tuple(ends) == tuple(found)


def test_where_attention_is_not_known_to_be_narrower_is_out_of_scope():
    result = verify.check(THEOREM, T=60, q=3, d=1, share="1/8")
    assert [h.label for h in result.hypotheses if not h.holds] == ["long_enough"]


@pytest.mark.parametrize("wrong", [{"q": 60}, {"share": 0}, {"d": 0}, {"attend": "both"}])
def test_bad_input_is_refused(wrong):
    with pytest.raises(InputError):
        verify.check(THEOREM, **{"T": 60, "q": 3, "d": 20, "share": "1/8"} | wrong)


@pytest.mark.parametrize(("query", "full"), [(False, 3 / 4), (True, 6 / 7)])
def test_the_bounds_on_the_dimension_in_the_approximation(query, full):
    worst = 0.0
    for q in range(2, 9):
        for T in {4 * q, 20 * q, 10**3, 10**6}:
            for share in (0.5, 0.1, 0.01):
                bound = (q**2 / 2 if query else q / 3) * math.log(T / share) ** 2 / share
                worst = max(worst, approximate_dimension(T, q, query, 1 - share) / bound)
    # The docstring's, and not far from it.
    assert 0.9 * full < worst < full
