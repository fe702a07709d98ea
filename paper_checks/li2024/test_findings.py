"""The findings' numbers, derived a second time in floating point."""

import math
from fractions import Fraction

import numpy as np
import pytest

from paper_checks.li2024 import findings


def within(finding, path, value):
    expected = finding.expect[path]
    low, high = getattr(expected, "lower", expected), getattr(expected, "upper", expected)
    return (low is None or low <= value) and (high is None or value <= high)


def softmax(z):
    weights = np.exp(z - z.max())
    return weights / weights.sum()


def test_the_constant():
    finding, n, R = findings.constant_is_half_the_radius, 50, 4
    z = np.r_[1, 1, np.full(n - 2, -2 / (n - 2))]
    p = softmax(R**2 * z / np.linalg.norm(z))
    assert within(finding, "values.reached_factor", R * np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1])
    assert within(finding, "values.claimed_factor_log10", 1.5 * math.log10(n) + 10 * R**2 / math.log(10))
    # Logits of three levels, at 201 angles between two equal large logits and a single large logit, do no better.
    u, w = z / np.linalg.norm(z), np.r_[1, -1, np.zeros(n - 2)] / math.sqrt(2)
    levels = (
        R**2 * (math.cos(a) * u + math.sin(a) * w) for a in np.linspace(0, math.atan(math.sqrt(n / (n - 2))), 201)
    )
    best = max(R * np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1] for p in map(softmax, levels))
    assert within(finding, "values.best_factor", best) and within(finding, "values.best_factor_at_most", best)


def test_the_claimed_bound():
    finding = findings.claimed_bound_is_vacuous
    claimed = 1.5 * math.log10(2) + 160 / math.log(10)
    assert within(finding, "values.bites_below_log10", math.log10(math.sqrt(2)) - claimed)
    small = math.log10(math.sqrt(2) * math.tanh(1 / 200)) - claimed
    assert within(finding, "values.bites_below_small_move_log10", small)
    # The title's 10⁻⁶⁹: the claimed factor grows with n and R, and with one row the prediction never moves.
    assert math.log10(math.sqrt(2)) - claimed < -69


def test_one_column():
    a = np.eye(200)[0] - 1 / 200
    p = softmax(a * math.log(199) / (a[0] - a[1]))
    slope = 4 * np.linalg.norm(p * a - p * (p @ a)) / np.linalg.norm(a)
    assert math.isclose(slope, findings.one_column.expect["values.reached_factor"], rel_tol=1e-12)
    # The text's 1.9977, for the data: two logits above 198, of norm 16 when shifted to mean 0.
    assert 1.9977 < 4 / (2 + 198 * math.exp(-16 * math.sqrt(200 / 396))) < 1.9978


def test_opposite_moves():
    finding = findings.bounded_shifts_are_not_closeness
    p = 1 / (1 + math.exp(-1))
    step, layer = (1 / (1 + math.exp(-t)) for t in (1 + 8 * p * (1 - p) ** 2 / 60, 1 - math.tanh(1) / 100))
    for name, value in (("gradient_shift", step - p), ("layer_shift", p - layer), ("difference", step - layer)):
        assert within(finding, f"values.{name}", math.sqrt(2) * value)


def test_small_scores():
    finding, w, beta = findings.small_scores_make_a_step, Fraction(1, 10_000), Fraction(1, 2)
    # v = η/(nw), and the distance is at most v n β (wG)² √3/36/√2, at n = 25, η = 100, G = 4.
    v = 100 / (25 * w)
    assert within(finding, "values.v", v)
    unit = float(v * 25 * beta * (4 * w) ** 2)
    assert within(finding, "values.distance_at_most", unit * math.sqrt(3) / 36 / math.sqrt(2))
    # The moments of two rows differ by at most 9/64; the family consists of groups of four columns, six at n = 25.
    assert within(finding, "values.small_scores_at_most", unit * 9 / 64 / 4 / math.sqrt(2))
    assert within(finding, "values.factor_needed", 24 / 25 * math.sqrt(2) / 64)


@pytest.mark.audit
def test_the_tasks_at_another_seed():
    from verify import load_experiment

    finding = findings.readings_depend_on_the_tasks
    settings = dict(word.split("=") for word in finding.command.split() if "=" in word)
    found = load_experiment("li2024.closeness").run(device="cpu", seed=5, **settings).measurements
    measured = {path: found[path.split(".")[1]].value for path in finding.expect}
    assert measured and all(within(finding, path, value) for path, value in measured.items())
