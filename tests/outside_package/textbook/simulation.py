"""Harmonic numbers summed in floats, a comparison with their exact values, and a finding on the bound."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

import verify
from textbook.harmonic import HARDY
from verify import (
    Comparison,
    Enclosure,
    Evidence,
    Experiment,
    Finding,
    Measurement,
    Outcome,
    Parameter,
    Premise,
    Setting,
    Source,
    Verdict,
    Weight,
)


def _sum(settings: Mapping[str, Any], *, seed: int, device: str) -> dict[str, Measurement]:
    terms = 1 / np.arange(1, settings["n"] + 1)
    return {"sum": Measurement(float(terms.sum()), 0)}


sum_in_floats = Experiment(
    "hardy.sum_in_floats",
    "The harmonic sum in floats",
    Source("Theorem 422", "derived here", HARDY),
    (Setting(Parameter("n", "integer", "the number of terms", minimum=1), 10, 1000),),
    _sum,
)


def _agree(*, device: str, full: bool, seed: int) -> Verdict:
    """Compare the sum in floats with the exact sum at n = 50."""
    exact = verify.check("hardy.harmonic", n=50).values["sum"]
    measured = sum_in_floats.run(n=50, device=device).measurements["sum"]
    off = abs(float(exact) - measured.value)
    # Each of the 49 additions and 50 divisions has a result of at most 4.5, and an error of at most 4.5·2⁻⁵³.
    allowed = 99 * 4.5 * 2.0**-53
    return Verdict(Outcome.VERIFIED if off <= allowed else Outcome.REFUTED, Evidence.COMPUTED, f"off by {off:.1e}")


exact_and_float_sums_agree = Comparison(
    "hardy.exact_and_float_sums_agree",
    "the sum in floats is the exact one up to rounding",
    "hardy.harmonic",
    "hardy.sum_in_floats",
    _agree,
    devices=("cpu",),
)

bound_is_within_one = Finding(
    id="hardy.bound_is_within_one",
    paper=HARDY,
    title="At 1000 terms the bound is less than 0.43 above the sum",
    weight=Weight.STRONGER,
    summary="The bound 1 + log n is less than 0.43 above the harmonic number at n = 1000.",
    text="The gap tends to 1 − γ = 0.4227…, γ the Euler-Mascheroni constant.",
    command="verify check hardy.harmonic n=1000",
    expect={"outcome": "verified", "values.gap": Enclosure(Fraction(42, 100), Fraction(43, 100))},
    rests_on=(Premise("H_n is the sum of 1/k for k from 1 to n", "printed"),),
)
