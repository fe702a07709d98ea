"""Bounds of E[w/X] and E[w/X²], compared with the exact means of distributions with finitely many values."""

from fractions import Fraction

import flint
import pytest
from flint import arb
from hypothesis import given, settings, strategies as st

from theorems.moment_bounds.reciprocal_powers import lower_bound, upper_bound
from verify.errors import UndecidedError

LAWS = st.lists(
    st.tuples(st.fractions(Fraction(1, 4), 8, max_denominator=16), st.fractions(Fraction(1, 8), 3, max_denominator=8)),
    min_size=2,
    max_size=5,
    unique_by=lambda pair: pair[0],
)


def moments(law: list[tuple[Fraction, Fraction]], count: int) -> list[arb]:
    """Return E[w X^k] for k below `count`, from values and weights."""
    exact = (sum(w * x**k for x, w in law) for k in range(count))
    return [arb(flint.fmpq(m.numerator, m.denominator)) for m in exact]


def mean(law: list[tuple[Fraction, Fraction]], power: int) -> arb:
    """Return E[w X^-power]."""
    exact = sum(w / x**power for x, w in law)
    return arb(flint.fmpq(exact.numerator, exact.denominator))


@settings(max_examples=60, deadline=None)
@given(law=LAWS, count=st.integers(3, 9), power=st.sampled_from([1, 2]))
def test_the_mean_lies_between_the_bounds(law: list[tuple[Fraction, Fraction]], count: int, power: int) -> None:
    with flint.ctx.workprec(256):
        found, least = mean(law, power), min(x for x, _ in law)
        assert not lower_bound(moments(law, count), power) > found
        least_ball = arb(flint.fmpq(least.numerator, least.denominator))
        assert not upper_bound(moments(law, count), power, least_ball) < found


@pytest.mark.parametrize("power", [1, 2])
def test_as_many_moments_as_values_determine_the_mean(power: int) -> None:
    # X has three values: six moments determine three nodes, or two further nodes if the least value is given.
    law = [(Fraction(1), Fraction(1, 2)), (Fraction(2), Fraction(1, 3)), (Fraction(5), Fraction(1, 6))]
    with flint.ctx.workprec(256):
        found = mean(law, power)
        for bound in (lower_bound(moments(law, 6), power), upper_bound(moments(law, 6), power, arb(1))):
            # The nodes are floats, and the bounds' errors are of the order of the nodes' squared errors, about 10⁻³⁰.
            assert abs(bound - found) < arb("1e-20")


def test_an_upper_bound_needs_the_least_value_to_be_one() -> None:
    # X has the values 1 and 4, but is declared to be at least 3: no bound of E[1/X] = 5/8 is returned.
    law = [(Fraction(1), Fraction(1, 2)), (Fraction(4), Fraction(1, 2))]
    with flint.ctx.workprec(128):
        with pytest.raises(UndecidedError):
            upper_bound(moments(law, 3), 1, arb(3))
        assert upper_bound(moments(law, 3), 1, arb(1)) >= mean(law, 1)


def test_moments_that_are_too_wide_give_no_nodes() -> None:
    wide = [arb(0, 1)] * 4
    with pytest.raises(UndecidedError, match="too wide"):
        lower_bound(wide, 1)
