"""Theorem 3 is certified, and trainings of all entries of all A_l end at its multiples of the inverse."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import verify
from paper_checks.ahn2023 import multiples_of_the_inverse as multiples
from paper_checks.descents import settled
from paper_checks.lazily import lazily
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.preconditioned_descent.proportional_limit import proportional_limit
from verify.outcomes import as_float

torch = lazily("torch")
three_layers = lazily("theorems.preconditioned_descent.three_layer_minimum")
TRAINED, ON_PROMPTS, EXACT = (
    multiples.multiples_of_the_inverse,
    multiples.multiples_on_prompts,
    multiples.theorem3_exact,
)


@pytest.mark.parametrize(("L", "d", "n"), [(3, 5, 20), (4, 7, 9), (2, 3, 2), (6, 5, 20), (1, 1, 1), (3, 5, 10)])
def test_theorem_3_is_certified(ledger, L, d, n):
    ledger.check(theorem3, L=L, d=d, n=n)


@pytest.mark.parametrize(("L", "c"), [(3, "1/4"), (1, "1/2"), (6, "9/10")])
def test_the_proportional_limit_is_certified(ledger, L, c):
    ledger.check(proportional_limit, L=L, c=c)


@pytest.mark.crossing(TRAINED.id)
@given(instance=TRAINED.instances)
def test_preconditioners_of_several_layers_against_training(crossing, instance):
    crossing.holds(TRAINED, instance)


@pytest.mark.crossing(TRAINED.id)
@given(instance=multiples.ANOTHER_PRIOR)
def test_preconditioners_of_several_layers_are_others_with_another_prior(crossing, instance):
    crossing.fails(TRAINED, instance)


@pytest.mark.parametrize("label", TRAINED.planted)
def test_planted_errors_in_the_steps_are_caught(crossing, label):
    crossing.catches(TRAINED, label)


@pytest.mark.crossing(ON_PROMPTS.id)
@given(instance=ON_PROMPTS.instances)
def test_preconditioners_of_several_layers_against_training_on_prompts(crossing, instance):
    crossing.holds(ON_PROMPTS, instance)


def test_with_three_layers_a_local_minimum_is_not_at_multiples():
    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    ((L, d, n), least), identity = *multiples.OTHER_MINIMA.items(), torch.eye(2, dtype=torch.float64)

    def loss(entries):
        found = exact_gradient(pattern(torch.from_numpy(entries.reshape(L, d, d).copy())), n, identity, identity)
        return float(found.loss), found.A.numpy().ravel()

    printed = ((0.0586, 0.1284), (0.1536, 0.0604), (0.5211, 0.5007))
    end = settled(loss, np.array([np.diag(row) for row in printed]).ravel())
    assert np.abs(end.point.reshape(L, d, d) - [np.diag(row) for row in printed]).max() < 1e-3
    # The largest curvature is 37, so rounding of the loss hides slopes up to √(2 · 37 · 2.2e-16 · 1.27) = 1.5e-7. The
    # least curvature is 0.29, so `off` is then at most 2 · 1.5e-7/0.29, about 1e-6.
    assert end.loss == pytest.approx(least, rel=1e-12) and end.off(0) < 1e-6
    rotation, *others = np.linalg.eigvalsh(end.hessian)
    assert abs(rotation) < 1e-6 and others[0] > 0.29
    assert least > 1.008 * multiples.minimum(L, d, n)[1]


@pytest.mark.parametrize("label", ON_PROMPTS.planted)
def test_planted_errors_in_the_steps_are_caught_on_prompts(crossing, label):
    crossing.catches(ON_PROMPTS, label)


@pytest.mark.crossing(EXACT.id)
@given(instance=EXACT.instances)
def test_multiples_of_the_inverse_by_exact_quadrature(crossing, instance):
    crossing.holds(EXACT, instance)


@pytest.mark.parametrize("label", EXACT.planted)
def test_planted_errors_in_loss_and_slopes_are_caught(crossing, label):
    crossing.catches(EXACT, label)


@pytest.mark.audit
def test_the_papers_training_ends_at_theorem_3s_point(ledger):
    ledger.compare(multiples.trained_weights)


def test_gradient_at_theorem_3s_point_on_fresh_prompts(ledger):
    ledger.compare(multiples.theorem3_sampled)


def wrong_steps(canary):
    """Return the steps of a canary of Theorem 3 at L = 2, d = 2, n = 2."""
    result = verify.check(theorem3.variant(canary.statement), L=2, d=2, n=2)
    polynomial = [float(Fraction(c)) for c in result.clauses[0].proof["polynomial"]]
    return 1 / np.roots(polynomial[::-1])


@pytest.mark.parametrize(
    "canary", [each for each in theorem3.canaries if each.clause == "minimum"], ids=lambda canary: canary.label
)
def test_a_wrong_point_has_a_slope_by_exact_quadrature(canary):
    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    steps = wrong_steps(canary)
    if abs(steps.imag).max() > 1e-12:
        pytest.skip("the canary's steps are not real")
    identity = torch.eye(2, dtype=torch.float64)
    found = exact_gradient(pattern(torch.tensor(steps.real)[:, None, None] * identity), 2, identity, identity)
    assert float(found.A.abs().max()) > 1e-3


@pytest.mark.parametrize(("d", "n"), [(1, 1), (2, 3), (5, 20), pytest.param(40, 3, marks=pytest.mark.audit)])
def test_the_closed_form_of_three_layers_is_theorem_3s(d, n):
    values = verify.check(three_layers.three_layer_minimum, d=d, n=n).values
    expected = verify.check(theorem3, L=3, d=d, n=n).values
    assert values["minimum_loss"] == expected["minimum_loss"]
    steps = [as_float(a) for a in expected["a"]]
    assert float(values["sum"]) == pytest.approx(sum(steps), rel=1e-12)
    two_of_them = sum(map(math.prod, combinations(steps, 2)))
    assert float(values["pairs"]) == pytest.approx(two_of_them, rel=1e-12)
    assert float(values["product"]) == pytest.approx(math.prod(steps), rel=1e-12)


@pytest.mark.parametrize(("d", "n"), [(1, 2), (2, 1)])
def test_the_least_loss_of_three_layers_is_argued_and_is_that_by_exact_quadrature(ledger, d, n):
    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    result = ledger.check(three_layers.three_layer_minimum, d=d, n=n)
    assert result.for_all_parameters.standing == "argued"
    total, pairs, product = (float(result.values[name]) for name in ("sum", "pairs", "product"))
    steps = np.roots([1, -total, pairs, -product])
    one = torch.eye(d, dtype=torch.float64)
    found = exact_gradient(pattern(torch.tensor(steps)[:, None, None] * one), n, one, one)
    assert float(found.loss) == pytest.approx(float(result.values["minimum_loss"]), rel=1e-12)
    assert float(found.A.abs().max()) < 1e-9
