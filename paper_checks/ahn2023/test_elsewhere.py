"""Weights on other prompts: the exact curves, compared with prompts drawn at another length and covariance."""

import math

import numpy as np
import pytest

from paper_checks.ahn2023.elsewhere import (
    best_equal_steps,
    chebyshev,
    elsewhere,
    exact_losses,
    relative_spectrum,
    shared_step,
    words,
)
from paper_checks.ahn2023.multiples_of_the_inverse import minimum
from paper_checks.ahn2023.tensors import covariance
from paper_checks.ahn2023.token_preconditioning import critical_points
from verify import InputError, Measurement, Outcome, agreement

CURVES = {"steps_of_theorem_3", "weights_of_theorem_4", "one_step_for_all_layers", "best_steps_for_m"}
CURVES |= {"chebyshev_for_m", "gradient_descent_for_m", "least_squares", "conjugate_gradients"}
OF_THE_WEIGHTS = {"steps_of_theorem_3", "weights_of_theorem_4", "one_step_for_all_layers"}


@pytest.mark.audit
@pytest.mark.parametrize("angle", [0, 15])
def test_exact_curves_are_the_losses_of_prompts(angle):
    import torch

    from numerics.preconditioned_descent.reduced import draw, losses

    # With fewer examples rare prompts dominate the loss of Theorem 4's weights, and the standard error is too small.
    L, d, n, m, scale, count = 2, 2, 12, 60, 1.25, 200_000
    spectrum = [1.0, 0.5]
    _, inverse = covariance(spectrum, 3, "cpu")
    # In two dimensions the plane of the rotation is the whole space.
    turned, turned_inverse = (scale**power * _turned(angle) @ M @ _turned(angle).T for power, M in _both(spectrum, 3))
    prompts = draw(count, m, turned, turned_inverse, 4)
    point, step = critical_points(L, d, n)[0], best_equal_steps(L, spectrum, m)[0]
    identity = torch.eye(d, dtype=torch.float64)
    own = {
        "steps_of_theorem_3": (minimum(L, d, n)[0], None, inverse),
        "one_step_for_all_layers": ([shared_step(L, d, n)] * L, None, inverse),
        "weights_of_theorem_4": (point.a, point.b, inverse),
        # These methods know the prompts' covariance.
        "best_steps_for_m": (minimum(L, d, m)[0], None, turned_inverse),
        "chebyshev_for_m": (chebyshev(L, d, m), None, turned_inverse),
        "gradient_descent_for_m": ([step / scale] * L, None, identity),
    }
    exact = exact_losses(L, d, n, scale, angle, spectrum)
    assert set(exact) == set(own) | {"least_squares"} == CURVES - {"conjugate_gradients"}
    for name, (a, b, K) in own.items():
        A = torch.tensor(a)[:, None, None] * K
        B = None if b is None else torch.tensor(b)[:, None, None] * identity
        each = losses(A, B, prompts)
        found = Measurement(float(each.mean()), float(each.std()) / math.sqrt(count), count)
        right = exact[name](m)
        assert agreement(right, found, comparisons=len(own), resolution=0.1 * right).outcome is Outcome.VERIFIED, name
        assert agreement(1.1 * right, found, comparisons=len(own)).outcome is Outcome.REFUTED, name
    assert all((exact[name](m) == exact_losses(L, d, n, scale)[name](m)) == (not angle) for name in OF_THE_WEIGHTS)


def _both(spectrum, seed):
    return zip((1, -1), covariance(spectrum, seed, "cpu"), strict=True)


def _turned(angle):
    import torch

    cosine, sine = (f(math.radians(angle)) for f in (math.cos, math.sin))
    return torch.tensor([[cosine, -sine], [sine, cosine]], dtype=torch.float64)


def test_words_are_those_of_drawn_second_moments():
    # E tr (KS)^j (SK)^k by Gauss-Hermite quadrature of the one column of X, exact for polynomials of this degree.
    seen, order = [2.0, 0.25], 2
    points, weights = np.polynomial.hermite_e.hermegauss(12)
    found = np.zeros((order + 1, order + 1))
    for x, p in zip(points, weights, strict=True):
        for y, q in zip(points, weights, strict=True):
            KS = np.diag(seen) @ np.outer([x, y], [x, y])
            powers = [np.linalg.matrix_power(KS, j) for j in range(order + 1)]
            found += p * q / weights.sum() ** 2 * np.array([[np.sum(P * Q) for Q in powers] for P in powers])
    assert words(order, seen, 1) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("spectrum", [[1.0, 1.0, 0.25, 0.0625, 1.0], [2.0, 3.0], [4.0]])
@pytest.mark.parametrize("angle", [0, 30, 90])
def test_the_spectrum_that_the_weights_see(spectrum, angle):
    low, high = int(np.argmin(spectrum)), int(np.argmax(spectrum))
    R = np.eye(len(spectrum))
    if low != high:
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        R[np.ix_([low, high], [low, high])] = [[c, -s], [s, c]]
    right = np.linalg.eigvals(np.diag(1 / np.array(spectrum)) @ (0.5 * R @ np.diag(spectrum) @ R.T)).real
    assert sorted(relative_spectrum(spectrum, angle, 0.5)) == pytest.approx(sorted(right))


def test_no_other_equal_steps_lose_less():
    import torch

    from numerics.preconditioned_descent.reduced import draw, mean_losses

    spectrum, m = [1.0, 0.25], 6
    step, loss = best_equal_steps(2, spectrum, m)
    sigma, identity = torch.tensor(spectrum).double().diag(), torch.eye(2).double()
    S = draw(100_000, m, sigma, sigma.inverse(), 1).second_moment
    found = [
        float(mean_losses(f * step * identity.expand(2, 2, 2), None, S, sigma.sqrt()).mean()) for f in (0.9, 1, 1.1)
    ]
    assert found[1] == pytest.approx(loss, rel=0.03) and min(found) == found[1]


def test_least_squares_loses_the_dimensions_that_are_not_seen():
    import torch

    from numerics.preconditioned_descent.predictors import least_norm_losses
    from numerics.preconditioned_descent.reduced import draw

    d, count = 4, 50_000
    sigma, inverse = covariance([1.0, 0.5, 0.25, 2.0], 3, "cpu")
    values, vectors = torch.linalg.eigh(sigma)
    root = vectors @ values.sqrt().diag() @ vectors.T
    for m in (1, 3, 4, 6):
        each = least_norm_losses(draw(count, m, sigma, inverse, m), m, root)
        found = Measurement(float(each.mean()), float(each.std()) / math.sqrt(count), count)
        assert abs(exact_losses(1, d, 9, 1)["least_squares"](m) - found.value) <= 5 * found.standard_error


def test_the_best_step_for_all_layers():
    # The slope of ∫ (1 − a s)⁴ dμ in a vanishes. At d = 1, n s is chi-squared with n degrees of freedom.
    n, a = 6, shared_step(2, 1, 6)
    moments = [math.prod(n + 2 * j for j in range(k)) / n**k for k in range(5)]
    slope = sum(math.comb(3, k) * (-a) ** k * moments[k + 1] for k in range(4))
    assert abs(slope) < 1e-9


@pytest.mark.parametrize(("d", "m"), [(4, 25), (9, 4)])
def test_chebyshevs_steps_level_the_interval(d, m):
    steps = chebyshev(3, d, m)
    low, high = (1 - math.sqrt(d / m)) ** 2, (1 + math.sqrt(d / m)) ** 2

    def p(s):
        return math.prod(1 - a * s for a in steps)

    largest = max(abs(p(low + (high - low) * i / 1000)) for i in range(1001))
    assert abs(p(low)) == pytest.approx(abs(p(high))) == pytest.approx(largest)
    # With fewer examples than dimensions the interval is for the nonzero eigenvalues. The ends of a sample's spectrum
    # fluctuate on the scale of the Tracy–Widom law.
    p_, m_ = 30 * d, 30 * m
    spectrum = np.linalg.svd(np.random.default_rng(0).normal(size=(p_, m_)), compute_uv=False) ** 2 / m_
    for end, found, sign in ((low, spectrum.min(), -1), (high, spectrum.max(), 1)):
        first, second = math.sqrt(p_), math.sqrt(m_)
        scale = abs(first + sign * second) * abs(1 / second + sign / first) ** (1 / 3) / m_
        assert found == pytest.approx(end, abs=6 * scale) and end > 6 * scale


def test_the_experiment_runs_and_repeats():
    small = {"d": 2, "n": 8, "L": 1, "spectrum": "even", "examples": "4,8", "prompts": 500}
    first, again = (elsewhere.run(device="cpu", seed=1, **small) for _ in range(2))
    assert first.curves == again.curves and set(first.curves) == CURVES
    steps, best = (first.curves[name].measured for name in ("steps_of_theorem_3", "best_steps_for_m"))
    assert steps[1].value == pytest.approx(best[1].value) and steps[0].value > best[0].value


def test_words_that_are_too_long_are_left_out(monkeypatch):
    small = {"d": 2, "n": 8, "spectrum": "even", "examples": "40", "prompts": 500}
    assert set(elsewhere.run(device="cpu", seed=1, angle=1, **small).curves) == CURVES
    monkeypatch.setattr("paper_checks.ahn2023.elsewhere.MOST_FACTORS", 7)
    assert set(elsewhere.run(device="cpu", seed=1, angle=1, **small).curves) == CURVES - {"weights_of_theorem_4"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"L": 4}, "L = 4: must be at most 3"),
        ({"examples": "4,5"}, "examples = 5: must not be d"),
        ({"examples": "9/2"}, "must be integers, all different"),
        ({"scale": 0}, "scale = 0"),
        ({"angle": -1}, "angle = -1"),
        ({"angle": 1, "d": 1, "spectrum": "even"}, "angle = 1: must be 0 at d = 1"),
        ({"d": 2}, "d = 2: must be 5 with the printed spectrum"),
    ],
)
def test_invalid_settings_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        elsewhere.run(device="cpu", seed=0, **given)
