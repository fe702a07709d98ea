"""Ends of descent over all P and Q: the loss agrees with quadrature, and the ends with the landscape for Σ = I."""

from fractions import Fraction

import numpy as np
import pytest

import verify
from paper_checks.ahn2023 import landscape_findings
from paper_checks.ahn2023.descent_ends import descent_ends, least_loss, loss_and_slopes
from paper_checks.ahn2023.label_in_q import labels_in_q
from theorems.preconditioned_descent.isotropic_landscape import isotropic_landscape, isotropic_other_minima
from verify import InputError


@pytest.mark.parametrize("theorem", [isotropic_landscape, isotropic_other_minima])
def test_the_landscape_is_argued_from_steps_that_are_proved(ledger, theorem):
    assert ledger.check(theorem, **theorem.example).for_all_parameters.standing == "argued"


@pytest.mark.parametrize(("n", "spectrum"), [(1, (1.0, 0.5)), (2, (0.7,))])
def test_the_loss_and_its_slopes_by_exact_quadrature(n, spectrum):
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient

    source, d = np.random.default_rng(0), len(spectrum)
    P, Q = source.normal(size=(2, 1, d + 1, d + 1))
    sigma, prior = torch.diag(torch.tensor(spectrum, dtype=torch.float64)), torch.eye(d, dtype=torch.float64)
    exact = exact_gradient((torch.from_numpy(P), torch.from_numpy(Q)), n, sigma, prior)
    value, in_row, in_columns = loss_and_slopes(n, np.array(spectrum), P[:, -1], Q[:, :, :-1])
    assert value[0] == pytest.approx(float(exact.loss), rel=1e-10)
    # Both are sums of fewer than 1000 products of numbers below 100, in float64.
    assert np.abs(in_row[0] - exact.P[0, -1].numpy()).max() < 1e-10
    assert np.abs(in_columns[0] - exact.Q[0, :, :-1].numpy()).max() < 1e-10


def test_the_least_loss_is_theorem_1s():
    values = verify.check("ahn2023.theorem1", n=20, eigenvalues=["1", "1/2"]).values
    assert least_loss(20, np.array([1, 0.5])) == pytest.approx(float(values["minimum_loss"]), rel=1e-14)


def test_at_two_dimensions_some_descents_end_at_the_label_in_q():
    found = descent_ends.run(n=20, spectrum="1,1", scale="3/10", runs=20, seed=0).measurements
    (point,) = labels_in_q(20, [1, 1], [20 / 23] * 2)
    assert 0 < found["other_at_least"].value < found["other"].value < found["other_at_most"].value < 1
    assert found["least_excess"].value == pytest.approx(point.above, rel=1e-6)
    assert found["largest_excess"].value == pytest.approx(point.above, rel=1e-6)


def test_at_three_dimensions_and_few_examples_none_does():
    found = descent_ends.run(n=15, spectrum="1,1,1", scale="3/10", runs=20, seed=0).measurements
    assert found["other"].value == found["other_at_least"].value == 0 and "least_excess" not in found


@pytest.mark.parametrize("wrong", [{"n": 0}, {"scale": 0}, {"runs": 1}, {"spectrum": "1,-1"}])
def test_bad_settings_are_refused(wrong):
    with pytest.raises(InputError):
        descent_ends.run(**{"n": 2, "runs": 2} | wrong)


def test_the_numbers_of_the_findings():
    # 5 (1 − n/(n + d + 1)) at n = 20, and the label in Q at β ≠ 0 by `label_in_q`.
    assert landscape_findings.theorem1_at_equal_eigenvalues.expect["values.least_loss"] == Fraction(5 * 6, 26)
    expect = landscape_findings.descents_end_elsewhere.expect
    eigenvalues = [1, 0.5]
    (point,) = labels_in_q(20, eigenvalues, [20 / (21 * x + 1.5) for x in eigenvalues])
    for name in ("least_excess", "largest_excess"):
        interval = expect[f"measurements.{name}.value"]
        assert interval.lower < point.above < interval.upper
    found = descent_ends.run(n=20, spectrum="1,1/2", scale="1/100", runs=100, seed=3).measurements
    # These are another hundred descents. The standard error of the difference of two shares is at most √(2/400); the
    # difference exceeds 5 standard errors about once in a million.
    stated = expect["measurements.other.value"]
    assert float(stated.lower) - 0.36 < found["other"].value < float(stated.upper) + 0.36
