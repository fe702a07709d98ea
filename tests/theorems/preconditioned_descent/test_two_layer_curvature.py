"""Second derivatives in Theorem 3 at two layers, by pairs of eigenvalues and by certificates at instances."""

from fractions import Fraction

import numpy as np
import pytest

import verify
from tests.theorems.evaluated import all_hold, evaluated
from theorems.preconditioned_descent import two_layer_curvature as module
from theorems.preconditioned_descent.least_point_curvature import curvature_at_least_point
from theorems.preconditioned_descent.two_layer_curvature import two_layer_curvature
from theorems.preconditioned_descent.two_layer_minimum import two_layer_minimum
from theorems.preconditioned_descent.whole_curvature import second_derivatives
from verify import Evidence, InputError
from verify.outcomes import as_float

SIZES = [(2, 1), (2, 7), (3, 2), (5, 20), (40, 2)]
FEW_SIZES = [*SIZES[1:3], *(pytest.param(*sizes, marks=pytest.mark.audit) for sizes in (SIZES[0], *SIZES[3:]))]
"""The sizes for the slow tests: `make test` runs two sizes, and `make audit` the others."""


def by_formula(sign, dimension, examples, first, second):
    """Return the Hessian along a kind of directions, as a matrix of floats."""
    at = {module.d: dimension, module.n: examples, module.a: first, module.b: second}
    one, mixed, other = (float(value.subs(at)) for value in module.second_derivatives(sign))
    return np.array([[one, mixed], [mixed, other]])


def least_steps(dimension, examples):
    values = verify.check(two_layer_minimum, d=dimension, n=examples).values
    return as_float(values["smaller_step"]), as_float(values["larger_step"])


def test_all_of_it_is_proved():
    result = verify.check(two_layer_curvature, d=3, n=4)
    assert all_hold(result) and {clause.evidence for clause in evaluated(result)} == {Evidence.PROVED}
    assert len(list(two_layer_curvature.derivation().checked_steps())) == 7
    assert result.for_all_parameters.standing == "argued"


@pytest.mark.parametrize(("dimension", "examples"), SIZES)
@pytest.mark.parametrize("steps", [(Fraction(2, 5), Fraction(7, 10)), (Fraction(-1, 3), Fraction(2))])
def test_pairs_of_eigenvalues_give_the_same(dimension, examples, steps):
    _, *kinds = second_derivatives(steps, None, dimension, examples)
    for sign, matrix in zip(module.KINDS.values(), kinds, strict=True):
        expected = [[float(x.mid()) for x in row] for row in matrix.tolist()]
        assert np.allclose(by_formula(sign, dimension, examples, *steps), expected, rtol=1e-12)


@pytest.mark.parametrize(("dimension", "examples"), FEW_SIZES)
def test_certified_least_curvature_is_the_least_of_both_orders(dimension, examples):
    values = verify.check(two_layer_curvature, d=dimension, n=examples).values
    for number, name in enumerate(module.KINDS, 1):
        found = min(as_float(values[f"{name}_{order}_first"]) for order in ("smaller", "larger"))
        certified = curvature_at_least_point.evaluate(*map(Fraction, (2, examples, dimension, number, 1)))
        assert found == pytest.approx(float(certified.midpoint), rel=1e-8)


@pytest.mark.parametrize(("dimension", "examples"), FEW_SIZES)
def test_the_steps_are_sums_and_products_of_determinants(dimension, examples):
    small, large = least_steps(dimension, examples)
    clauses = verify.check(two_layer_curvature, d=dimension, n=examples).clauses
    margins = {clause.label: as_float(clause.margin) for clause in clauses if clause.margin is not None}
    for name, sign in module.KINDS.items():
        orders = ((small, large), (large, small))
        both = [np.linalg.det(by_formula(sign, dimension, examples, *order)) for order in orders]
        assert margins[f"sum_{name}"] == pytest.approx(sum(both), rel=1e-9)
        assert margins[f"product_{name}"] == pytest.approx(both[0] * both[1], rel=1e-9)
        assert min(both) > 0


def test_sizes_below_one_are_refused():
    with pytest.raises(InputError, match="n = 0"):
        verify.check(two_layer_curvature, d=3, n=0)
