"""Each printed claim, restated and certified, and held against transformers simulated from the definitions."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from paper_checks.ahn2023 import claims
from theorems.preconditioned_descent import (
    components,
    exchange,
    filled_label,
    gradient_descent,
    multiples_of_the_inverse,
    one_layer,
    proportional_limit,
    relu_any_last_row,
    relu_layer,
    two_layer_minimum,
)
from verify import Measurement, Outcome

THEOREMS = [
    gradient_descent.lemma1,
    components.lemma2,
    components.lemma3,
    exchange.lemma4,
    filled_label.lemma5,
    filled_label.lemma6,
    one_layer.theorem1,
    relu_layer.theorem5,
    relu_any_last_row.relu_any_last_row,
    two_layer_minimum.two_layer_minimum,
]
COMPARISONS = [
    claims.lemmas_at_random_sizes,
    claims.theorem1_exact,
    claims.theorem3_exact,
    claims.theorem3_sampled,
    claims.two_layer_minimum_exact,
    claims.theorem3_random_starts,
    claims.theorem5_sampled,
    claims.relu_any_last_row_sampled,
    claims.trained_weights,
]


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)
def test_proved_for_all_parameters(ledger, theorem):
    assert ledger.check(theorem, **theorem.example).evidence == "proved"


@pytest.mark.parametrize(("L", "d", "n"), [(3, 5, 20), (4, 7, 9), (2, 3, 2), (6, 5, 20), (1, 1, 1), (3, 5, 10)])
def test_theorem_3_is_certified(ledger, L, d, n):
    ledger.check(multiples_of_the_inverse.theorem3, L=L, d=d, n=n)


@pytest.mark.parametrize(("L", "c"), [(3, "1/4"), (1, "1/2"), (6, "9/10")])
def test_the_proportional_limit_is_certified(ledger, L, c):
    ledger.check(proportional_limit.proportional_limit, L=L, c=c)


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_transformers(ledger, comparison):
    ledger.compare(comparison)


def test_one_layer_has_the_same_minimum_by_both_theorems():
    # At Σ = I the priors agree, and so do Theorems 1 and 3 for L = 1: n/(n + d + 1), the loss d(d + 1)/(n + d + 1).
    for d, n in ((1, 1), (3, 4), (5, 20)):
        first = one_layer.theorem1.check(n=n, eigenvalues=[1] * d).values
        third = multiples_of_the_inverse.theorem3.check(L=1, d=d, n=n).values
        assert first["preconditioner"] == third["a"] * d == [Fraction(n, n + d + 1)] * d
        assert first["minimum_loss"] == third["minimum_loss"] == Fraction(d * (d + 1), n + d + 1)


def wrong_steps(canary):
    """The steps of a canary of Theorem 3 at L = 2, d = 2, n = 2."""
    result = multiples_of_the_inverse.theorem3.variant(canary.statement).check(L=2, d=2, n=2)
    polynomial = [float(Fraction(c)) for c in result.clauses[0].proof["polynomial"]]
    return 1 / np.roots(polynomial[::-1])


@pytest.mark.parametrize("canary", multiples_of_the_inverse.theorem3.canaries, ids=lambda canary: canary.label)
def test_a_wrong_point_has_a_slope_by_exact_quadrature(canary):
    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    steps = wrong_steps(canary)
    if abs(steps.imag).max() > 1e-12:
        pytest.skip("not a product of real factors at all")
    identity = torch.eye(2, dtype=torch.float64)
    found = exact_gradient(pattern(torch.tensor(steps.real)[:, None, None] * identity), 2, identity, identity)
    assert float(found.A.abs().max()) > 1e-3


def test_theory_off_by_a_little_is_refuted(monkeypatch):
    right = claims.on_multiples
    for spoiled in (
        lambda *given: replace_loss(right(*given), 1 + 1e-6),
        lambda *given: replace_slopes(right(*given), 1 + 1e-6),
    ):
        monkeypatch.setattr(claims, "on_multiples", spoiled)
        assert claims.theorem3_exact.run(device="cpu").outcome is Outcome.REFUTED


def replace_loss(theory, factor):
    return theory._replace(loss=theory.loss * factor)


def replace_slopes(theory, factor):
    return theory._replace(slopes=[slope * factor for slope in theory.slopes])


@pytest.mark.parametrize(("name", "theorem"), [("theorem1_exact", "theorem1"), ("theorem5_sampled", "theorem5")])
def test_wrong_values_are_refuted(monkeypatch, name, theorem):
    right = getattr(claims, theorem)

    def spoiled(**instance):
        values = dict(right.check(**instance).values)
        key = "preconditioner" if "preconditioner" in values else "a"
        values[key] = [2 * a for a in values[key]] if key == "preconditioner" else 2 * values[key]
        return SimpleNamespace(values=values)

    monkeypatch.setattr(claims, theorem, SimpleNamespace(check=spoiled))
    assert getattr(claims, name).run(device="cpu").outcome is Outcome.REFUTED


def test_a_loss_in_closed_form_that_is_off_is_refuted(monkeypatch):
    right = claims.any_last_row
    monkeypatch.setattr(claims, "any_last_row", lambda *given: 1.2 * right(*given))
    assert claims.relu_any_last_row_sampled.run(device="cpu").outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("loss", "steps", "outcome"),
    [
        (1.0, (0.4968, 1.2112), Outcome.VERIFIED),
        (1.2, (0.4968, 1.2112), Outcome.REFUTED),
        (1.0, (0.4968, 0.4968), Outcome.REFUTED),
    ],
)
def test_training_that_ends_elsewhere_is_refuted(monkeypatch, loss, steps, outcome):
    values = claims.theorem3.check(L=2, d=2, n=10).values
    steps = [float(values["a"][0].midpoint), float(values["a"][1].midpoint)] if outcome is Outcome.VERIFIED else steps
    found = {f"A{i}_diagonal": Measurement(a) for i, a in enumerate(steps)}
    found["loss"] = Measurement(loss * float(values["minimum_loss"]))
    experiment = SimpleNamespace(run=lambda **_: SimpleNamespace(measurements=found))
    monkeypatch.setattr(claims, "load_experiment", lambda _: experiment)
    assert claims.trained_weights.run(device="cpu").outcome is outcome
