"""Weights on other prompts: the exact curves against prompts drawn at another length and covariance."""

import math

import pytest

from paper_checks.ahn2023.elsewhere import chebyshev, elsewhere, exact_losses, shared_step
from paper_checks.ahn2023.multiples_of_the_inverse import minimum
from paper_checks.ahn2023.tensors import covariance
from paper_checks.ahn2023.token_preconditioning import critical_points
from verify import InputError, Measurement, Outcome, agreement

CURVES = {"steps_of_theorem_3", "weights_of_theorem_4", "one_step_for_all_layers", "best_steps_for_m"}
CURVES |= {"chebyshev_for_m", "conjugate_gradients"}


def test_exact_curves_are_the_losses_of_prompts():
    import torch

    from numerics.preconditioned_descent.reduced import draw, losses

    # With fewer examples rare prompts carry the loss of Theorem 4's weights, and a sample does not show its own error.
    L, d, n, m, scale, count = 2, 2, 12, 60, 1.25, 200_000
    sigma, inverse = covariance([1.0, 0.5], 3, "cpu")
    prompts = draw(count, m, scale * sigma, inverse / scale, 4)
    point = critical_points(L, d, n)[0]
    own = {
        "steps_of_theorem_3": (minimum(L, d, n)[0], None),
        "one_step_for_all_layers": ([shared_step(L, d, n)] * L, None),
        "weights_of_theorem_4": (point.a, point.b),
        # These know the prompts' covariance.
        "best_steps_for_m": ([a / scale for a in minimum(L, d, m)[0]], None),
        "chebyshev_for_m": ([a / scale for a in chebyshev(L, d, m)], None),
    }
    exact = exact_losses(L, d, n, scale)
    assert set(exact) == set(own) == CURVES - {"conjugate_gradients"}
    for name, (a, b) in own.items():
        A = torch.tensor(a)[:, None, None] * inverse
        B = None if b is None else torch.tensor(b)[:, None, None] * torch.eye(d, dtype=torch.float64)
        each = losses(A, B, prompts)
        found = Measurement(float(each.mean()), float(each.std()) / math.sqrt(count), count)
        right = exact[name](m)
        assert agreement(right, found, comparisons=len(own), resolution=0.1 * right).outcome is Outcome.VERIFIED, name
        assert agreement(1.1 * right, found, comparisons=len(own)).outcome is Outcome.REFUTED, name


def test_the_best_step_for_all_layers():
    # ∫ (1 − a s)⁴ dμ at d = 1: s is a chi-square with n degrees over n; its slope vanishes.
    n, a = 6, shared_step(2, 1, 6)
    moments = [math.prod(n + 2 * j for j in range(k)) / n**k for k in range(5)]
    slope = sum(math.comb(3, k) * (-a) ** k * moments[k + 1] for k in range(4))
    assert abs(slope) < 1e-9


def test_chebyshevs_steps_level_the_interval():
    steps, d, m = chebyshev(3, 4, 25), 4, 25
    low, high = (1 - math.sqrt(d / m)) ** 2, (1 + math.sqrt(d / m)) ** 2

    def p(s):
        return math.prod(1 - a * s for a in steps)

    largest = max(abs(p(low + (high - low) * i / 1000)) for i in range(1001))
    assert abs(p(low)) == pytest.approx(abs(p(high))) == pytest.approx(largest)


def test_the_experiment_runs_and_repeats():
    small = {"d": 2, "n": 8, "L": 1, "examples": "4,8", "prompts": 500}
    first, again = (elsewhere.run(device="cpu", seed=1, **small) for _ in range(2))
    assert first.curves == again.curves and set(first.curves) == CURVES
    steps, best = (first.curves[name].measured for name in ("steps_of_theorem_3", "best_steps_for_m"))
    assert steps[1].value == pytest.approx(best[1].value) and steps[0].value > best[0].value


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"L": 4}, "L = 4: must be at most 3"),
        ({"examples": "4,5"}, "examples = 5: must not be d"),
        ({"examples": "9/2"}, "must be integers, all different"),
        ({"scale": 0}, "scale = 0"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        elsewhere.run(device="cpu", seed=0, **given)
