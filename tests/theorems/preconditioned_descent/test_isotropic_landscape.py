"""The landscape of one layer at Σ = I.

The excess R of the loss is compared with the loss at the best Q, which is found from the loss's slopes. The positive
zeros of K, which has the sign of R', are counted.
"""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import verify
from theorems.preconditioned_descent.isotropic_landscape import (
    excess,
    isotropic_landscape,
    isotropic_other_minima,
    rise,
)
from theorems.preconditioned_descent.setting import d, n
from theorems.preconditioned_descent.trials.isotropic_landscape import best_columns, loss_at
from theorems.preconditioned_descent.trials.one_layer_losses import float_data
from verify import InputError, Outcome

z = sp.Symbol("z", positive=True)


@pytest.mark.parametrize(("size", "examples"), [(2, 1), (2, 7), (3, 4), (5, 20)])
@pytest.mark.parametrize("at", [0.05, 0.4, 3.0])
def test_the_excess_is_what_the_best_q_leaves(size, examples, at):
    source = np.random.default_rng(0)
    row = source.normal(size=size + 1)
    row[-1] = -np.sqrt(at) * np.linalg.norm(row[:-1])
    data = float_data(examples, [Fraction(1)] * size)
    value, error = loss_at(data, row, best_columns(data, row))
    least = size * (1 - examples / (examples + size + 1))
    assert error < 1e-9
    assert value - least == pytest.approx(float(excess(sp.Float(at)).subs({d: size, n: examples})), rel=1e-9)


def zeros(size, examples):
    """Return the number of positive zeros of K; for d ≥ 3, two zeros mean that there is another local minimum."""
    return sp.Poly(rise(z).subs({d: size, n: examples}), z).count_roots(0, sp.oo)


@pytest.mark.parametrize(("size", "first"), [(3, 24), (4, 53), (5, 89)])
def test_from_how_many_examples_on_there_is_another_minimum(size, first):
    assert [zeros(size, first + move) for move in (-1, 0, 1)] == [0, 2, 2]
    assert not any(zeros(size, examples) for examples in range(1, first))


@pytest.mark.parametrize(("size", "last"), [(3, 15), (4, 44), (5, 80)])
def test_the_condition_of_few_examples(size, last):
    for examples, few in ((1, True), (last, True), (last + 1, False)):
        found = verify.conditions(isotropic_landscape, d=size, n=examples)
        assert all(h.holds for h in found.hypotheses if h.label.startswith("few_")) is few
        assert zeros(size, examples) == 0


def test_in_two_dimensions_another_minimum_for_every_n():
    for examples in (1, 2, 20, 1000):
        result = verify.check(isotropic_other_minima, d=2, n=examples, place="1/10")
        assert result.outcome is Outcome.VERIFIED and result.in_scope
    assert not verify.check(isotropic_other_minima, d=5, n=20, place="1/10").in_scope


@pytest.mark.parametrize("wrong", [{"d": 1}, {"n": 0}, {"place": 0}])
def test_bad_input_is_refused(wrong):
    with pytest.raises(InputError):
        verify.check(isotropic_other_minima, **{"d": 2, "n": 20, "place": "1/10"} | wrong)
