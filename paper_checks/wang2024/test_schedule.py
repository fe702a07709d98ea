"""The figures' schedule of step sizes on the set V = (αI, 0), W = diag(0, C I): its numbers by `by_counting`."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from paper_checks.wang2024 import by_counting, figure_findings, on_the_set, schedule
from paper_checks.wang2024.by_counting import descent, interpolated, loss
from verify import InputError, load_experiment

TINY = {"T": 16, "q": 3, "d": 2, "d_e": 32, "steps": 100, "late": 50}
means = cache(by_counting.means)


def run(**given):
    return load_experiment("wang2024.population_schedule").run(device="cpu", **given)


def curvatures(T, q, d, D, alpha, C, h=0.01, query=True):
    """Return the Hessian in (√d α, √d_e C), with derivatives in C by differences of the fourth order."""

    def by_alpha(m):
        return d * (alpha * m.R - m.P / q)

    at = {k: means(T, q, D, query, C + k * h) for k in range(-2, 3)}
    losses = {k: loss(alpha, m, d, q) for k, m in at.items()}
    bend = (-losses[-2] + 16 * losses[-1] - 30 * losses[0] + 16 * losses[1] - losses[2]) / (12 * h * h)
    mixed = (by_alpha(at[-2]) - 8 * by_alpha(at[-1]) + 8 * by_alpha(at[1]) - by_alpha(at[2])) / (12 * h)
    return np.array([[at[0].R, mixed / math.sqrt(d * D)], [mixed / math.sqrt(d * D), bend / D]])


def lies_in(value, wanted):
    """Return whether a value is in an interval, up to 10⁻⁴ relatively, and the interval's ends differ by less than 2 %.

    With 29 nodes instead of 15 the losses of `test_the_figures_schedule_by_counting` change relatively by at most
    3·10⁻⁶, α by 2·10⁻⁵ and C by 5·10⁻⁶. The table's steps of 3/40 000 add an error of 10⁻⁹.
    """
    lower, upper = float(wanted.lower), float(wanted.upper)
    return lower * (1 - 1e-4) <= value <= upper * (1 + 1e-4) and upper < 1.02 * lower


@pytest.fixture(scope="module")
def counted():
    return interpolated(200, 3, 5, 170, 3.0)


@pytest.mark.parametrize(("name", "late"), [("annealed", 50_000), ("constant", 100_000)])
def test_the_figures_schedule_by_counting(counted, name, late):
    expect = figure_findings.the_schedule_ends_early.expect
    points = dict(descent(counted, list(on_the_set.annealed(1.0, 1 / 3, late, 100_000)), (10_000, 50_000, 100_000)))
    for place, (alpha, C) in enumerate(points.values(), 1):
        right = loss(alpha, means(200, 3, 170, True, C), 5, 3)
        assert lies_in(right, expect[f"curves.loss_{name}.value.{place}"])
        assert not lies_in(1.02 * right, expect[f"curves.loss_{name}.value.{place}"])
    alpha, C = points[100_000]
    assert lies_in(alpha, expect[f"measurements.alpha_{name}_end.value"])
    assert lies_in(C, expect[f"measurements.C_{name}_end.value"])


def test_the_full_ledgers_parts_by_counting(counted):
    """Compute two parts of the full run's loss again; check that all parts add up to the loss on two test sets."""
    text = figure_findings.the_gap_is_accounted_for.text
    ((_, (alpha, C)),) = descent(counted, list(on_the_set.annealed(1.0, 1 / 3, 50_000, 100_000)), (100_000,))
    least = loss(122.483, means(200, 3, 170, True, 3.3122), 5, 3)
    ends = loss(alpha, means(200, 3, 170, True, C), 5, 3)
    trained = loss(41.257, means(200, 3, 170, True, 2.7903), 5, 3)
    parts = {"finite time": ends - least, "noise": trained - ends}
    # The path errs by some 3·10⁻⁶; α and C are given to five digits.
    assert f"{parts['finite time']:.4f} (computed), {parts['noise']:.4f} for the noise in α and C" in text
    total = trained + 0.0195
    assert f"their sum is {total:.3f}" in text and "0.0195 ± 0.0007" in text
    for measured in ("0.407 ± 0.002", "0.405 ± 0.002"):
        value, error = map(float, measured.split(" ± "))
        assert measured in text and abs(total - value) < 2 * error
        assert abs(total + 0.0195 - value) > 5 * error


def test_over_tokens_the_schedule_ends_at_the_least_loss_by_counting():
    slopes = interpolated(200, 3, 5, 170, 6.0, nodes=19, query=False)
    ((_, (alpha, C)),) = descent(slopes, list(on_the_set.annealed(1.0, 1 / 3, 50_000, 100_000)), (100_000,))
    least = loss(1.4673, means(200, 3, 170, False, 4.8004), 5, 3)
    assert loss(alpha, means(200, 3, 170, False, C), 5, 3) == pytest.approx(least, rel=1e-4)


def within(value, wanted):
    return float(wanted.lower) < value < float(wanted.upper)


def test_the_minimiser_at_the_figures_sizes_by_counting():
    expect = figure_findings.the_schedule_ends_early.expect
    around, h = float(expect["measurements.C_of_the_least.value"].midpoint), 0.01
    at = around + h * np.arange(-2, 3)
    found = [means(200, 3, 170, True, C) for C in at]
    # If h is doubled or halved, the C at which P²/R is largest changes by 2·10⁻⁷.
    gain = Polynomial.fit(at, [m.P**2 / m.R for m in found], 4)
    (C,) = (root.real for root in gain.deriv().roots() if at[0] < root.real < at[-1] and abs(root.imag) < h)
    assert gain(C) > max(gain(at[0]), gain(at[-1]))
    P, R = (Polynomial.fit(at, column, 4)(C) for column in zip(*found, strict=True))
    alpha = P / (3 * R)
    assert within(C, expect["measurements.C_of_the_least.value"])
    assert within(alpha, expect["measurements.alpha_of_the_least.value"])
    least = loss(alpha, by_counting.Means(P, R), 5, 3)
    assert within(least, expect["measurements.least_loss.value"])
    # Descent ends 7 to 8% above the least loss.
    end = expect["curves.loss_annealed.value.3"]
    assert 1.07 < float(end.lower) / least < float(end.upper) / least < 1.08


def test_the_slow_direction_at_the_figures_sizes_by_counting():
    expect = figure_findings.the_schedule_ends_early.expect
    # The minimiser is taken to four digits; such an error changes the eigenvalue by about 10⁻³ of its value.
    alpha, C = (float(expect[f"measurements.{name}_of_the_least.value"].midpoint) for name in ("alpha", "C"))
    values, vectors = np.linalg.eigh(curvatures(200, 3, 5, 170, alpha, C))
    for value, name in zip(values, ("slow", "fast"), strict=True):
        wanted = expect[f"measurements.{name}_eigenvalue.value"]
        assert within(value, wanted) and wanted.upper < 1.1 * wanted.lower
    # The steps have size 1.
    assert within(1 / values[0], expect["measurements.steps_of_the_slow_direction.value"])
    assert vectors[0, 0] ** 2 > 0.999


def test_the_slow_direction_over_tokens_by_counting():
    # The best layer to four decimals, as in `test_figure_findings.py`.
    slow = np.linalg.eigvalsh(curvatures(200, 3, 5, 170, 1.4673, 4.8004, query=False))[0]
    assert f"{slow:.1e}" == "1.3e-04" and round(1 / slow, -3) == 8000
    assert "the slow eigenvalue is 1.3·10⁻⁴, 8000 steps" in figure_findings.the_schedule_ends_early.text


@pytest.mark.parametrize(("T", "d", "D", "alpha", "C"), [(16, 2, 32, 4.0, 1.3), (200, 5, 170, 122.483, 3.3122)])
def test_the_hessian_is_that_of_the_counted_loss(T, d, D, alpha, C):
    layer = on_the_set.layer(T, 3, d, D, True, on_the_set.CLOSE)
    here, counted, closer = layer.hessian(alpha, C), *(curvatures(T, 3, d, D, alpha, C, h) for h in (0.01, 0.005))
    # Halving h changes the counted Hessian by 10⁻⁷. The second derivatives of the layer's interpolation have errors of
    # 1.4·10⁻⁴ at T = 16. The tolerances are two or three times these numbers.
    assert counted == pytest.approx(closer, rel=3e-7) and here == pytest.approx(counted, rel=3e-4)
    # The slow eigenvalue is a difference of such numbers, so its relative errors are larger: 4·10⁻⁶ and 7·10⁻⁴.
    slow, counted_slow, closer_slow = (np.linalg.eigvalsh(found)[0] for found in (here, counted, closer))
    assert counted_slow == pytest.approx(closer_slow, rel=1e-5) and slow == pytest.approx(counted_slow, rel=1e-3)


def test_descent_from_near_the_minimiser_has_the_slow_direction():
    found = run(**(TINY | {"steps": 4000, "late": 4000})).measurements
    layer = on_the_set.layer(16, 3, 2, 32, True, on_the_set.CLOSE)
    best = (found["alpha_of_the_least"].value, found["C_of_the_least"].value)
    points = list(layer.descent(best[0] * 0.99, best[1], iter([1.0] * 3000)))
    # Near the end only the slow direction is left: a step multiplies the distance by 1 − λ.
    rate = 1 - (best[0] - points[3000].alpha) / (best[0] - points[2999].alpha)
    assert rate == pytest.approx(found["slow_eigenvalue"].value, rel=1e-2)


def test_annealing_ends_higher_than_going_on():
    found = run(**TINY).measurements
    assert found["loss_constant_end"].value < found["loss_annealed_end"].value
    assert found["least_loss"].value < found["loss_constant_end"].value


def test_where_the_least_loss_is_not_reached_it_says_so():
    # With two selected tokens the infimum of the loss is reached only for C → ∞.
    with pytest.raises(InputError, match="q = 2: must be one for which the least loss is reached"):
        run(**(TINY | {"q": 2, "attend": "tokens"}))


RATES = {"eta": 1, "eta_late": Fraction(1, 3)}


def test_where_descent_leaves_the_set_it_says_so():
    with pytest.raises(InputError, match="eta = 60: must be one at which population descent stays"):
        schedule.readings(TINY | RATES | {"eta": 60, "attend": "tokens"}, annealed=True)


def test_a_tenth_is_read_where_steps_are_few():
    points = schedule.readings(TINY | RATES | {"attend": "tokens_and_query"}, annealed=True)
    assert [point.step for point in points] == [0, 10, 50, 100]
