"""Stochastic encoding: the theorems at instances, the abstract's widths, and the table of the separation."""

import math
from fractions import Fraction

import pytest

from verify import InputError, load_experiment, load_theorem

FIGURES = {"T": 200, "q": 3, "d": 5, "d_e": 170}


@pytest.mark.parametrize(
    ("name", "instances"),
    [
        ("wang2024.lemma2", [FIGURES, {"T": 10**6, "q": 50, "d": 1, "d_e": 1}]),
        ("wang2024.theorem2", [{"T": 50, "q": 2, "d": 5, "d_e": 40, "eps": "1/100"}]),
        (
            "wang2024.descent_on_the_set",
            [{**FIGURES, "eta": "1/4"}, {"T": 9, "q": 2, "d": 1, "d_e": 100, "eta": 1}],
        ),
        ("wang2024.length_generalization", []),
        ("wang2024.separation", []),
    ],
)
def test_the_theorem(ledger, name, instances):
    """At the example, which is quick to re-check where much is enclosed; the findings have the figures' own sizes."""
    theorem = load_theorem(name)
    for instance in (theorem.example, *instances):
        ledger.check(theorem, **instance)


def test_the_widths_over_the_length():
    """The abstract: Õ(d + q log T) against Ω̃(Td)."""
    found = load_experiment("wang2024.separation").run(lengths=(Fraction(50), Fraction(200)), q=3, d=20)
    widths = {name: [at.value for at in curve.measured] for name, curve in found.curves.items()}
    # The nets' grows like T: Td (1 − (T−1)/(8(T−q))).
    assert widths["fully_connected"] == [20 * T * (1 - (T - 1) / (8 * (T - 3))) for T in (50, 200)]
    for name in ("attention_alone", "attention_with_query"):
        short, long = (width - 20 for width in widths[name])
        # Slower than any power from here on: by no more than log² T, which is 1.84 times as large at 200.
        assert 1 < long / short < (math.log(200) / math.log(50)) ** 2
    assert widths["attention_alone"][1] < widths["fully_connected"][1] / 15


@pytest.mark.parametrize("lengths", ["3,50", "50,20", "20,20", "41/2,50"])
def test_lengths_that_are_none_are_refused(lengths):
    with pytest.raises(InputError, match="must be integers above q = 3 that rise"):
        load_experiment("wang2024.separation").run(lengths=lengths)
