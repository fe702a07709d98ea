"""The best factor is checked; the reached factor is compared with families of matrices, and both with ascents."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

import verify
from paper_checks.li2024 import factors
from theorems.softmax_regression.best_factor import best_factor
from verify import Outcome
from verify.outcomes import as_float

COMPARISONS = [factors.reached_by_a_family, factors.reached_by_ascent, factors.best_factor_by_ascent]


@pytest.mark.parametrize(("n", "R"), [(3, 4), (50, 4), (81_000, 4), (12, 2)])
def test_the_best_factor_is_exact(ledger, n, R):
    # The trials of these claims compute largest eigenvalues for up to 300 rows.
    undecided = ("three_levels", "best", "at_most") if n > 10**4 else ()
    values = ledger.check(best_factor, undecided=undecided, n=n, R=R).values
    assert values["best_factor"] == values["best_factor_at_most"]


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.id)
def test_against_simulation(ledger, comparison):
    ledger.compare(comparison)


@pytest.mark.parametrize(
    ("comparison", "key", "off_by"),
    [("reached_by_a_family", "reached_factor", 1e-9), ("best_factor_by_ascent", "best_factor", 1e-6)],
)
def test_values_off_by_a_little_are_refuted(monkeypatch, comparison, key, off_by):
    right = verify.check

    def spoiled(theorem, **instance):
        values = dict(right(theorem, **instance).values)
        if values[key] is not None:
            values[key] = Fraction(as_float(values[key]) * (1 + off_by))
        return SimpleNamespace(values=values)

    monkeypatch.setattr(verify, "check", spoiled)
    assert getattr(factors, comparison).run(device="cpu").outcome is Outcome.REFUTED
