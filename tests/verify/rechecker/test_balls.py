"""Columns and matrices of balls."""

import pytest
from flint import arb, arb_mat

from verify.rechecker.balls import column, inverse, listed
from verify.rechecker.reading import Rejected


def test_a_system_is_solved_and_its_enclosure_is_narrow():
    solved = listed(inverse(arb_mat([[2, 1], [1, 1]]), "here") * column([arb(3), arb(2)]))
    assert all(x.contains(1) and x.rad() < 1e-12 for x in solved)


def test_a_matrix_that_may_be_singular_is_rejected():
    for entry in (arb(0), arb(0, 1)):
        with pytest.raises(Rejected, match="here: a matrix is not shown to be invertible"):
            inverse(arb_mat([[entry]]), "here")
