"""The re-checker's full gradient, compared with the library's, which is computed in another way; refused models."""

from fractions import Fraction

import pytest

from theorems.sparse_token_selection.gradient_primitives import (
    gradient_off_the_set,
    logit_slopes_less_means,
    loss_less_means,
    value_slopes_less_means,
)
from theorems.sparse_token_selection.rechecked import RECHECKS
from verify.rechecker import Rejected
from verify.rechecker.reading import Effort, TooLarge
from verify.rechecker.registry import computed

SIZES = [(3, 2, 1, 2), (2, 1, 2, 2), (3, 1, 1, 1), (2, 2, 1, 3)]


def agree(primitive, *arguments):
    """Return whether the two results are equal if exact, and otherwise overlap and have the same sign."""
    exact = tuple(map(Fraction, arguments))
    found = primitive.evaluate(*exact)
    lower, upper = computed(Effort(1e9), RECHECKS.primitives[f"{primitive.name}/1"], exact)
    if isinstance(found, Fraction):
        return lower == upper == found
    overlap = lower <= found.upper and found.lower <= upper and upper - lower < Fraction(1, 10**20)
    return overlap and (lower > 0) == (found.lower > 0) and (upper < 0) == (found.upper < 0)


@pytest.mark.parametrize("query", [0, 1])
@pytest.mark.parametrize("law", [0, 1, 2])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_two_ways_agree(sizes, law, query):
    _, _, d, D = sizes
    for C in (Fraction(-3, 2), Fraction(0)):
        at = (*sizes, Fraction(5, 4), C, law)
        for place in (0, 1, 2):
            assert agree(gradient_off_the_set, *at, place, query)
        rights = (
            *((loss_less_means, Fraction(d, 2)), (value_slopes_less_means, 1)),
            (logit_slopes_less_means, Fraction(d, 2 * D)),
        )
        for primitive, right in rights:
            for factor in (right, Fraction(1, 3)):
                assert agree(primitive, *at, query, factor)


REFUSED = [
    ((3, 4, 1, 2, 1, 1, 0, 0, 0), "1 ≤ q ≤ T"),
    ((3, 2, Fraction(1, 2), 2, 1, 1, 0, 0, 0), "integers"),
    ((3, 2, 1, 2, 1, 1, 3, 0, 0), "not known"),
    ((3, 2, 1, 2, 1, 1, 0, 3, 0), "not known"),
    ((3, 2, 1, 2, 1, 1, 0, 0, 2), "not known"),
    ((17, 2, 1, 2, 1, 1, 0, 0, 0), "size above"),
    ((3, 2, 1, 2, 1, 10**5, 0, 0, 0), "C above"),
    ((3, 2, 1, 2, Fraction(1, 2**70), 1, 0, 0, 0), "bits"),
]


@pytest.mark.parametrize(("arguments", "why"), REFUSED)
def test_invalid_models_are_refused(arguments, why):
    with pytest.raises(Rejected, match=why):
        computed(Effort(1e9), RECHECKS.primitives["gradient_off_the_set/1"], tuple(map(Fraction, arguments)))


@pytest.mark.parametrize("name", ["loss", "value_slopes", "logit_slopes"])
def test_a_factor_of_too_many_bits_is_refused(name):
    at = (2, 1, 1, 1, 1, 1, 0, 0)
    computed(Effort(1e9), RECHECKS.primitives[f"{name}_less_means/1"], tuple(map(Fraction, (*at, Fraction(1, 2**63)))))
    for factor in (Fraction(1, 2**64), Fraction(2**64)):
        with pytest.raises(Rejected, match="bits"):
            computed(Effort(1e9), RECHECKS.primitives[f"{name}_less_means/1"], tuple(map(Fraction, (*at, factor))))


def test_long_computations_are_refused_before_they_begin():
    with pytest.raises(TooLarge):
        computed(
            Effort(60e6),
            RECHECKS.primitives["gradient_off_the_set/1"],
            tuple(map(Fraction, (16, 2, 1, 16, 1, 1, 0, 0, 0))),
        )


def test_the_exponentials_and_the_products_are_charged_too():
    """Check the nominal cost: going through the encodings takes 0.41 s here, and the rest about half of that."""
    at = tuple(map(Fraction, (3, 1, 2, 4, Fraction(5, 4), Fraction(3, 2), 2, 2, 1)))
    computed(Effort(0.8e6), RECHECKS.primitives["gradient_off_the_set/1"], at)
    with pytest.raises(TooLarge):
        computed(Effort(0.5e6), RECHECKS.primitives["gradient_off_the_set/1"], at)
