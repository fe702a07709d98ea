"""Step sizes up to 2q(T − 1)/(T − 1 + 6d): runs from zero, the Hessian's largest eigenvalue, and the scope's limit."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import verify
from theorems.sparse_token_selection.one_hot_descent import LARGEST_STEP as OTHER_STEP
from theorems.sparse_token_selection.one_hot_larger_steps import LARGER_STEP, one_hot_larger_steps
from theorems.sparse_token_selection.task import T, d, q
from verify import InputError, Outcome
from verify.outcomes import ForAll


def loss(sizes, a, c):
    """Return the loss from the softmax's shares; the loss is complex if a or c is complex."""
    length, subset, dimension = sizes
    other = 1 / (subset * np.exp(c) + length - subset)
    on, off = a * np.exp(c) * other - 1 / subset, a * other
    return dimension / 2 * (subset * on**2 + (length - subset) * off**2)


def slopes(sizes, a, c, h=1e-20):
    """Return the slopes, by a complex step."""
    return loss(sizes, a + 1j * h, c).imag / h, loss(sizes, a, c + 1j * h).imag / h


SIZES = [(2, 1, 1), (2, 2, 3), (4, 3, 50), (9, 2, 1), (30, 3, 5), (40, 1, 400), (200, 3, 5), (1000, 2, 5000)]


@pytest.mark.parametrize("sizes", SIZES)
def test_just_below_the_limit_the_loss_falls_at_every_step_and_c_stays_positive(sizes):
    length, subset, dimension = sizes
    eta = 0.999 * 2 * subset * (length - 1) / (length - 1 + 6 * dimension)
    a = c = 0.0
    before = loss(sizes, a, c)
    for _ in range(1500):
        by_a, by_c = slopes(sizes, a, c)
        a, c = a - eta / dimension * by_a, c - eta / (length - 1) * by_c
        after = loss(sizes, a, c)
        # The tolerance covers rounding errors of differences of numbers near 1.
        assert c >= 0 and after <= before * (1 + 1e-12) + 1e-14 * dimension
        before = after


@pytest.mark.parametrize("sizes", SIZES)
def test_no_eigenvalue_where_the_loss_is_at_most_that_of_the_start_is_above_the_bound(sizes):
    length, subset, dimension = sizes
    metric = np.sqrt([1 / dimension, 1 / (length - 1)])
    bound = (1 + 6 * dimension / (length - 1)) / subset
    h, seen = 1e-5, 0
    for c, part in product(np.linspace(0, math.log(length) + 3, 30), np.linspace(0, 1, 30)):
        own = 1 / (subset + (length - subset) * math.exp(-c))
        best = own / (subset * own**2 + (length - subset) * (own * math.exp(-c)) ** 2)
        a = 2 * part * best
        if loss(sizes, a, c) > loss(sizes, 0, 0) * (1 + 1e-12):
            continue
        seen += 1
        columns = [
            (np.array(slopes(sizes, a + i * h, c + j * h)) - slopes(sizes, a - i * h, c - j * h)) / (2 * h)
            for i, j in ((1, 0), (0, 1))
        ]
        largest = np.linalg.eigvalsh(metric[:, None] * np.array(columns) * metric)[-1]
        assert largest <= bound * (1 + 1e-6)
    assert seen > 300


def test_step_limit_is_above_the_other_theorems_at_the_stated_sizes():
    for sizes in product((2, 5, 10, 13, 25, 40), (1, 2, 6), (1, 3, 10, 1000)):
        at = dict(zip((T, q, d), map(int, sizes), strict=True))
        length, subset, dimension = sizes
        if length >= subset and (length > 6 * subset or length > 4 * dimension):
            assert LARGER_STEP.subs(at) > OTHER_STEP.subs(at)
    few = {T: 5, q: 2, d: 10}
    assert LARGER_STEP.subs(few) < OTHER_STEP.subs(few)


def test_theorem_is_formal_and_its_scope_excludes_the_limit():
    sizes = {"T": 9, "q": 2, "d": 1, "eps": "1/200"}
    result = verify.check(one_hot_larger_steps, **sizes, eta=2)
    assert result.values["largest_step_size"] == Fraction(16, 7)
    assert result.outcome is Outcome.VERIFIED and result.for_all_parameters.standing is ForAll.FORMAL
    assert verify.check(one_hot_larger_steps, **sizes, eta="16/7").outcome is Outcome.OUT_OF_SCOPE


def test_bad_input_is_refused():
    for wrong in ({"eta": 0}, {"q": 10}, {"T": 1}):
        with pytest.raises(InputError):
            verify.check(one_hot_larger_steps, **{"T": 9, "q": 2, "d": 1, "eta": 1, "eps": "1/10"} | wrong)
