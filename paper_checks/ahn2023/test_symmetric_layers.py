"""Theorem 2, proved for all sizes, and held against exact quadrature from the definitions."""

import numpy as np
import pytest

from paper_checks.ahn2023 import symmetric_layers
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.preconditioned_descent.two_layers import theorem2
from verify import Outcome

COMPARISONS = [symmetric_layers.theorem2_exact, symmetric_layers.theorem2_random_starts]
FOR_ALL = ("off_diagonal", "two_dimensions", "three_dimensions", "squares", "p_1", "p_2", "p_3", "p_4")


@pytest.mark.parametrize(("d", "n"), [(5, 20), (1, 1), (40, 3)])
def test_theorem_2_is_proved_but_for_the_point(ledger, d, n):
    result = ledger.check(theorem2, d=d, n=n)
    assert {clause.label for clause in result.clauses if clause.evidence == "proved"} == set(FOR_ALL)
    assert result.values == {k: v for k, v in theorem3.check(L=2, d=d, n=n).values.items() if k != "attained"}


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_transformers(ledger, comparison):
    ledger.compare(comparison)


def test_theory_off_by_a_little_is_refuted(monkeypatch):
    right = symmetric_layers.loss_in_traces
    for change in (lambda f: f._replace(loss=f.loss + 1e-5), lambda f: f._replace(slopes=[x + 1e-5 for x in f.slopes])):
        monkeypatch.setattr(symmetric_layers, "loss_in_traces", lambda *given, change=change: change(right(*given)))
        assert symmetric_layers.theorem2_exact.run(device="cpu").outcome is Outcome.REFUTED


def test_descent_that_ends_elsewhere_is_refuted(monkeypatch):
    ended = [symmetric_layers.End(1.0, np.eye(2), np.eye(2))]
    monkeypatch.setattr(symmetric_layers, "descents", lambda *_: ended)
    assert symmetric_layers.theorem2_random_starts.run(device="cpu").outcome is Outcome.REFUTED


def test_an_entry_off_the_diagonal_costs_what_k_says():
    # d = 2, n = 1, S = x x': k(x_i) = E |(I - S A) S e_i|² = E |x|² x_i² (1 - x'Ax)².
    first, second, off = np.diag([0.5, 0.25]), np.diag([0.3, 0.2]), np.array([[0, 0.1], [0.1, 0]])
    moment = {0: 1, 2: 1, 4: 3, 6: 15, 8: 105}

    def k(a, b):
        # (1 - a u - b v)² (u + v) u in u = x_i², v = x_j².
        square = {(0, 0): 1, (1, 0): -2 * a, (0, 1): -2 * b, (2, 0): a * a, (1, 1): 2 * a * b, (0, 2): b * b}
        terms = [(c, i + 1 + p, j + 1 - p) for (i, j), c in square.items() for p in (0, 1)]
        return sum(c * moment[2 * i] * moment[2 * j] for c, i, j in terms)

    flat, moved = (float(symmetric_layers.quadrature(first, B, 1, "cpu").loss) for B in (second, second + off))
    assert moved - flat == pytest.approx(0.01 * (k(0.5, 0.25) + k(0.25, 0.5)), rel=1e-9)
    assert symmetric_layers.loss_in_traces(first, second + off, 1).loss == pytest.approx(moved, rel=1e-9)
