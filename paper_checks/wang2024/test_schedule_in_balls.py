"""The figures' schedule with every step enclosed: compared with sums over all signs, and after 100 000 steps."""

from fractions import Fraction

import flint
import pytest
from flint import arb

from paper_checks.wang2024 import descent_in_balls, figure_findings, on_the_set
from paper_checks.wang2024.descent_in_balls import Sizes, end_of_descent
from paper_checks.wang2024.schedule_in_balls import SetCurves, least, places
from theorems.sparse_token_selection.share_curves import Jet
from verify.errors import UndecidedError

SMALL = Sizes(4, 2, 1, 2, query=True)
FIGURES = Sizes(200, 3, 5, 170, query=True)
THIRD = Fraction(1, 3)


def ball(interval):
    lower, upper = (flint.fmpq(end.numerator, end.denominator) for end in (interval.lower, interval.upper))
    return arb((lower + upper) / 2, (upper - lower) / 2)


def between(wanted, enclosed):
    """Return whether an interval contains all of a ball."""
    return bool(ball(wanted).contains(enclosed))


def test_small_runs_are_those_of_the_definitions():
    rates = [Fraction(1, 2)] * 60 + [THIRD] * 60
    found = places(SMALL, rates, {1, 60, 120})
    assert [place.step for place in found] == [1, 60, 120]
    with flint.ctx.workprec(descent_in_balls.BITS):
        alpha = C = arb(0)
        for step, rate in enumerate(rates, 1):
            alpha, C = descent_in_balls.step(SMALL, alpha, C, arb(rate.numerator) / rate.denominator)
            for place in (place for place in found if place.step == step):
                (P, *_), (R, *_) = descent_in_balls.means(SMALL, C)
                assert place.alpha.contains(alpha)
                assert place.C.contains(C)
                assert place.loss.contains((alpha * alpha * R - alpha * P + arb(0.5)) / 2)
                assert max(place.alpha.rad(), place.C.rad(), place.loss.rad()) < 1e-4
                # Another value of α is outside.
                assert not place.alpha.overlaps(alpha * 1.001)


def test_the_least_loss_of_a_small_run_is_where_it_ends():
    end = end_of_descent(SMALL, arb(0.5), 400, radius=0.012, curvature=0.03)
    found = least(SMALL, Fraction(1))
    assert abs(found.alpha - end.alpha) < end.radius
    assert abs(found.C - end.C) < end.radius / 2
    assert found.slow > end.curvature
    assert found.fast < 2


def test_an_interval_may_lie_in_two_cells():
    curve, middle = SetCurves(FIGURES), flint.fmpq(1, 2)
    both = curve.over(middle - flint.fmpq(1, 100), middle + flint.fmpq(1, 100))
    for C in (middle - flint.fmpq(1, 100), middle, middle + flint.fmpq(1, 100)):
        at = curve.over(C, C)
        assert all(getattr(both, name).contains(getattr(at, name).mid()) for name in Jet.__annotations__)


def test_an_end_before_the_turn_is_refused():
    with pytest.raises(UndecidedError, match="does not change its sign"):
        least(FIGURES, Fraction(3))


def test_too_wide_an_enclosure_is_refused():
    with pytest.raises(UndecidedError, match="too wide"):
        places(Sizes(6, 2, 1, 5, query=False), [Fraction(1)] * 1000, {1000})


def test_a_small_run_is_the_computed_one():
    layer = on_the_set.layer(16, 3, 2, 32, True, on_the_set.CLOSE)
    *_, last = layer.descent(0.0, 0.0, iter([1.0] * 100))
    (place,) = places(Sizes(16, 3, 2, 32, query=True), [Fraction(1)] * 100, {100})
    assert float(place.alpha) == pytest.approx(last.alpha, rel=1e-3)
    assert float(place.C) == pytest.approx(last.C, rel=1e-3)
    assert float(place.loss) == pytest.approx(last.loss, rel=1e-4)


def test_the_point_of_the_least_loss_at_the_figures_sizes():
    expect = figure_findings.the_schedule_ends_early.expect
    found = least(FIGURES, Fraction(4))
    named = {"least_loss": found.loss, "alpha_of_the_least": found.alpha, "C_of_the_least": found.C}
    named |= {"slow_eigenvalue": found.slow, "fast_eigenvalue": found.fast}
    for name, enclosed in named.items():
        assert ball(expect[f"measurements.{name}.value"]).overlaps(enclosed)
        assert enclosed.rad() < abs(enclosed.mid()) / 50
    # The number of steps in the title.
    assert 1.70e6 < 1 / found.slow < 1.75e6


@pytest.mark.audit
@pytest.mark.parametrize(("name", "late"), [("annealed", 50_000), ("constant", 100_000)])
def test_the_figures_schedule_is_enclosed(name, late):
    expect = figure_findings.the_schedule_ends_early.expect
    rates = [Fraction(1)] * late + [THIRD] * (100_000 - late)
    found = places(FIGURES, rates, {10_000, 50_000, 100_000})
    for number, place in enumerate(found, 1):
        assert between(expect[f"curves.loss_{name}.value.{number}"], place.loss)
    assert between(expect[f"measurements.alpha_{name}_end.value"], found[-1].alpha)
    assert between(expect[f"measurements.C_{name}_end.value"], found[-1].C)


@pytest.mark.audit
def test_over_tokens_the_schedule_ends_at_the_least_loss():
    sizes = FIGURES._replace(query=False)
    (end,) = places(sizes, [Fraction(1)] * 50_000 + [THIRD] * 50_000, {100_000})
    limit = least(sizes, Fraction(5))
    assert 1 / limit.slow < 10_000
    assert abs(end.alpha - limit.alpha) < 2e-3
    assert abs(end.C - limit.C) < 2e-3
    assert abs(end.loss - limit.loss) < 2e-3
