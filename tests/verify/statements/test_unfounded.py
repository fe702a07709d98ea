"""Statements are refused if symbols have unfounded assumptions, or if matrices do not fit, even if they cancel."""

import random

import pytest

from tests.verify.rechecker.certificates import certificate, recheck
from tests.verify.statements.unfounded import (
    LETTERS,
    as_data,
    assumed,
    certificate_data,
    identity,
    product,
    shape,
)
from verify import TheoremError
from verify.rechecker import Rejected

COUNTS = [pytest.param(150, id="some"), pytest.param(3000, id="many", marks=pytest.mark.audit)]
WORDS = ("verified", "proved", {"kind": "words"})


def _taken(make, refusal):
    try:
        make()
    except refusal:
        return False
    return True


@pytest.mark.parametrize("count", COUNTS)
def test_a_symbol_assumes_what_is_shown_and_no_more(count):
    seen = set()
    for i in range(count):
        make, may, what = assumed(random.Random(f"assumed:{i}"))
        assert _taken(make, TheoremError) == may, (i, what)
        seen.add((what.split()[0], may))
    assert len(seen) == 8, "each role, with what it may assume and with what it may not"


@pytest.mark.parametrize("count", COUNTS)
def test_matrices_that_cancel_have_to_fit(count):
    """The engine and the re-checker refuse exactly the products that do not fit with numbers for the sizes."""
    fitting = 0
    square = shape(("letter", "A"))
    for i in range(count):
        draw = random.Random(f"matrices:{i}")
        part = product(draw, draw.randint(1, 4))
        fits = shape(part) == square
        fitting += fits
        assert _taken(lambda part=part: identity(part), TheoremError) == fits, (i, part)
        forged = certificate(certificate_data(part), {"n": "2", "m": "3"}, WORDS)
        assert _taken(lambda forged=forged: recheck(forged), Rejected) == fits, (i, part)
    assert count / 20 < fitting < count / 2


def test_the_draws_are_of_what_they_say():
    assert (
        shape(("Mul", ("letter", "B"), ("letter", "C"))) == (3, 3)
        and shape(
            (
                "Mul",
                ("letter", "B"),
            )
            * 2
        )
        is None
    )
    assert shape(("transpose", ("letter", "v"))) == (1, 3) and shape(("Pow", ("letter", "v"), 2)) is None
    assert as_data(("scaled", ("letter", "A"), -1)) == ["Mul", ["Integer", "-1"], ["Symbol", "A", "noncommutative"]]
    assert sorted(LETTERS) == ["A", "B", "C", "v"]
