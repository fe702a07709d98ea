"""Theorem 2, and Theorem 3 at two layers: argued for all sizes, and compared with quadrature from the definitions."""

import numpy as np
import pytest
from hypothesis import given

import verify
from paper_checks.ahn2023 import two_layers
from paper_checks.lazily import lazily
from verify import Outcome

multiples = lazily("theorems.preconditioned_descent.multiples_of_the_inverse")
least_of_two = lazily("theorems.preconditioned_descent.two_layer_minimum")
squares = lazily("theorems.preconditioned_descent.two_layer_squares")
symmetric_layers = lazily("theorems.preconditioned_descent.two_layers")
curved = lazily("theorems.preconditioned_descent.two_layer_curvature")
EXACT, MINIMUM = two_layers.theorem2_exact, two_layers.two_layer_minimum_exact
CURVED = two_layers.two_layer_curvature_exact
SIZES = [(5, 20), (40, 3), pytest.param(1, 1, marks=pytest.mark.audit)]
"""Sizes (d, n) at which a claim that is argued for all sizes is checked."""


@pytest.mark.parametrize(("d", "n"), SIZES)
def test_theorem_2_is_argued_from_what_is_proved(ledger, d, n):
    # Means over all matrices are computed up to d = 24.
    undecided = ("diagonal", "all_multiples") if d > 24 else ()
    result = ledger.check(symmetric_layers.theorem2, undecided=undecided, d=d, n=n)
    proved = {clause.label for clause in result.clauses if clause.evidence == "proved"}
    assert proved == {step.label for step in symmetric_layers.theorem2.statement.steps} and len(proved) > 20
    assert result.for_all_parameters.standing == "argued"
    assert result.values == {
        k: v for k, v in verify.check(multiples.theorem3, L=2, d=d, n=n).values.items() if k != "attained"
    }


def test_the_least_loss_of_two_layers_is_argued_from_steps_that_are_proved(ledger):
    result = ledger.check(least_of_two.two_layer_minimum, **least_of_two.two_layer_minimum.example)
    assert result.for_all_parameters.standing == "argued"


@pytest.mark.crossing(EXACT.id)
@given(instance=EXACT.instances)
def test_loss_of_two_layers_by_exact_quadrature(crossing, instance):
    crossing.holds(EXACT, instance)


@pytest.mark.parametrize("label", EXACT.planted)
def test_planted_errors_in_the_loss_of_two_layers_are_caught(crossing, label):
    crossing.catches(EXACT, label)


@pytest.mark.crossing(MINIMUM.id)
@given(instance=MINIMUM.instances)
def test_least_loss_of_two_layers_by_exact_quadrature(crossing, instance):
    crossing.holds(MINIMUM, instance)


@pytest.mark.parametrize("label", MINIMUM.planted)
def test_planted_errors_in_the_least_loss_are_caught(crossing, label):
    crossing.catches(MINIMUM, label)


@pytest.mark.parametrize(("d", "n"), SIZES)
def test_the_least_point_of_two_layers_is_argued_to_be_a_strict_local_minimum(ledger, d, n):
    undecided = ("positive_definite", "strict") if d > 24 else ()
    assert (
        ledger.check(curved.two_layer_curvature, undecided=undecided, d=d, n=n).for_all_parameters.standing == "argued"
    )


def test_wrong_second_derivatives_are_refuted(ledger):
    ledger.canaries(curved.two_layer_curvature)


@pytest.mark.crossing(CURVED.id)
@given(instance=CURVED.instances)
def test_second_derivatives_of_two_layers_by_exact_quadrature(crossing, instance):
    crossing.holds(CURVED, instance)


@pytest.mark.parametrize("label", CURVED.planted)
def test_planted_errors_in_the_second_derivatives_are_caught(crossing, label):
    crossing.catches(CURVED, label)


def test_descent_from_random_starts(ledger):
    ledger.compare(two_layers.theorem2_random_starts)


def test_descent_that_ends_elsewhere_is_refuted(monkeypatch):
    ended = [two_layers.End(1.0, np.eye(2), np.eye(2))]
    monkeypatch.setattr(two_layers, "descents", lambda *_: ended)
    assert two_layers.theorem2_random_starts.run(device="cpu").outcome is Outcome.REFUTED


def test_an_entry_off_the_diagonal_costs_what_k_says():
    # d = 2, n = 1, S = x x', A = A_0: the k of its i-th entry is E |(I - S A) S e_i|² = E |x|² x_i² (1 - x'Ax)².
    first, second, off = np.diag([0.5, 0.25]), np.diag([0.3, 0.2]), np.array([[0, 0.1], [0.1, 0]])
    moment = {0: 1, 2: 1, 4: 3, 6: 15, 8: 105}

    def k(a, b):
        # (1 - a u - b v)² (u + v) u in u = x_i², v = x_j².
        square = {(0, 0): 1, (1, 0): -2 * a, (0, 1): -2 * b, (2, 0): a * a, (1, 1): 2 * a * b, (0, 2): b * b}
        terms = [(c, i + 1 + p, j + 1 - p) for (i, j), c in square.items() for p in (0, 1)]
        return sum(c * moment[2 * i] * moment[2 * j] for c, i, j in terms)

    flat, moved = (float(two_layers.quadrature(first, B, 1, "cpu").loss) for B in (second, second + off))
    assert moved - flat == pytest.approx(0.01 * (k(0.5, 0.25) + k(0.25, 0.5)), rel=1e-9)
    assert two_layers.loss_in_traces(first, second + off, 1).loss == pytest.approx(moved, rel=1e-9)


@pytest.mark.parametrize(("d", "n"), [(2, 1), (2, 2), (3, 1)])
def test_the_loss_of_diagonal_layers_exceeds_the_least_by_squares(d, n):
    source = np.random.default_rng(d + 10 * n)
    means, (x, y) = source.normal(size=2), source.normal(size=(2, d))
    x, y = x - x.mean(), y - y.mean()
    at = dict(zip((squares.a, squares.b, multiples.d, multiples.n), (*means, d, n), strict=True))
    along = float(x @ y)
    rows = np.stack([x, y, x * y - along / d], axis=1)
    areas = sum((x[i] * y[j] - x[j] * y[i]) ** 2 for j in range(d) for i in range(j))
    excess = squares.excess(along, squares.sp.Matrix(rows.T @ rows), areas).subs(at)
    least = verify.check(multiples.theorem3, L=2, d=d, n=n).values["minimum_loss"]
    loss = two_layers.quadrature(
        *(np.diag(mean + part) for mean, part in zip(means, (x, y), strict=True)), n, "cpu"
    ).loss
    assert float(loss) == pytest.approx(float(least) + float(excess), rel=1e-9)
    assert all(np.linalg.eigvalsh(np.array(m.subs(at), float)).min() > 0 for m in (squares.G, squares.R))
