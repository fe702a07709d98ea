"""The findings about the landscape of Theorem 1's loss.

`test_descent_ends.py` derives the losses a second time; the shares of descents are read off the runs.
"""

from fractions import Fraction

from paper_checks.ahn2023.premises import SETTING, STANDARD_PRIOR
from paper_checks.expected import between
from theorems.papers import AHN2023
from verify import Finding, Weight

theorem1_at_equal_eigenvalues = Finding(
    id="ahn2023.theorem1_at_equal_eigenvalues",
    paper=AHN2023,
    title="For Σ = I, d = 5 and up to 80 examples every local minimum of Theorem 1's loss is global; for d = 2 "
    "there are others for every n",
    weight=Weight.STRONGER,
    summary="Theorem 1 gives a global minimiser over all P and Q; for Σ = I, d ≥ 3 and few examples, the figures' d = "
    "5 and n = 20 among them, the loss has no other local minima, and for d = 2 it has some for every n, by arguments "
    "from proved steps.",
    text="For Σ = I the least loss over Q at a given P exceeds the least of all by a rational function R(β²/|v|²), "
    "(v, β) the last row of P, so that the local minima over all P and Q correspond to the local minima of R. By a "
    "bound in closed form R falls everywhere, and every local minimum is global, for d = 3, 4 and 5 up to n = 15, 44 "
    "and 80. At d = 2 it has another for every n, where v ≠ 0 and β²/|v|² < 1/10 (ahn2023.isotropic_other_minima). By "
    "exact counts of the zeros of a polynomial of degree 4 the first n with another is 24, 53 and 89 for d = 3, 4 and "
    "5. For other Σ the landscape is known in part (ahn2023.theorem1_has_other_local_minima).",
    command="verify check ahn2023.isotropic_landscape d=5 n=20",
    expect={
        "outcome": "verified",
        "for_all_parameters": "argued",
        "hypotheses.few_examples.holds": True,
        "hypotheses.few_beside_M.holds": True,
        **{f"clauses.{label}.evidence": "proved" for label in ("own", "rest", "slope", "in_x", "cross")},
        # 5 · 6/26.
        "values.least_loss": Fraction(15, 13),
    },
    rests_on=(SETTING, STANDARD_PRIOR),
)

descents_end_elsewhere = Finding(
    id="ahn2023.descents_end_elsewhere",
    paper=AHN2023,
    title="At d = 2 descent on Theorem 1's loss from small entries often ends at a stationary point above the least",
    weight=Weight.OBSERVED,
    summary="Theorem 1 gives a global minimiser over all P and Q; of 100 descents on the loss from small random "
    "entries, at d = 2, n = 20 and eigenvalues 1 and 1/2, 53 end at a stationary point above the least loss, as "
    "simulated.",
    text="All entries of P and Q start from N(0, 1/100²), and gradient descent runs on the expected loss. At n = 20 "
    "and eigenvalues 1 and 1/2, 53 of 100 descents end at a loss 0.374 above the least, where Q reads the label "
    "besides P; that it is a minimum is not checked. The 95 % interval of Clopper and Pearson for their share is 0.43 "
    "to 0.63. Of 300 by other draws "
    "(runs=300 --seed 1) it is 137. From entries a hundred times smaller 50 of 100 end there, by the same draws "
    "(scale=1/10000). At Σ = I it is 18 of 100, and 2 of 100 from the smaller entries (spectrum=1,1): near 0 the "
    "entries that Theorem 1's minimiser uses grow faster than the others by a factor of √d at Σ = I, and less so "
    "where one eigenvalue stands out. Of these two Σ, only for Σ = I is it argued that the point is a minimum "
    "(ahn2023.theorem1_at_equal_eigenvalues).",
    command="verify simulate ahn2023.descent_ends n=20 spectrum=1,1/2 scale=1/100 runs=100 --device cpu --seed 0",
    expect={
        # Descents near the border between two basins may end elsewhere with other roundings.
        "measurements.other.value": between("0.5", "0.56"),
        "measurements.other_at_least.value": between("0.39", "0.46"),
        "measurements.other_at_most.value": between("0.6", "0.66"),
        "measurements.unsettled.value": 0,
        "measurements.least_excess.value": between("0.3735", "0.3737"),
        "measurements.largest_excess.value": between("0.3735", "0.3737"),
    },
    rests_on=(SETTING, STANDARD_PRIOR),
)
