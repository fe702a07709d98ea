"""Least losses over multiples of the identity, compared with descents over all entries of all matrices.

Two optimisers minimise the exact expected loss for d = 2, Σ = I, from many starts
(`numerics.preconditioned_descent.many_starts`). Theorem 2's least loss is over symmetric matrices; the least losses of
Theorems 3 and 4 are over multiples of Σ^{-1} and I. A descent that ends below such a loss shows that the loss is not
the least over all matrices. If no descent ends below the loss, nothing is proved.
"""

from typing import Any

import verify
from verify import Comparison, Evidence, Outcome, Verdict, load_experiment, load_theorem
from verify.outcomes import as_float

BELOW = 1e-9
"""Relative amount below the stated least loss that refutes it; the rounding of quadrature is far smaller."""
REACHED = 1e-6
"""A descent ends at the least loss if its final loss is within this relative distance of the least loss."""


def least_loss(theorem: str, L: int, n: int) -> float:
    """Return the least loss of a theorem for d = 2; for Theorem 4, the least among the critical points found."""
    sizes = {"d": 2, "n": n} | ({} if theorem == "ahn2023.theorem2" else {"L": L})
    values = verify.check(load_theorem(theorem), **sizes).values
    found = (
        [point["loss"] for point in values["critical_points"]]
        if theorem == "ahn2023.theorem4"
        else [values["minimum_loss"]]
    )
    return min(number for number in map(as_float, found) if number is not None)


def not_below(least: float, measurements: Any, starts: int, *, alone: bool) -> Verdict:
    """Decide whether no descent ends below the stated least loss, and some (if `alone`, all at rest) end at it."""
    lowest = measurements["lowest"].value
    there, elsewhere = (
        sum(int(measurements[f"{name}_{method}"].value) for method in ("bfgs", "lbfgs"))
        for name in ("at_the_least", "elsewhere")
    )
    detail = f"{there} and {elsewhere} of {2 * starts} ends at the least and at others, the lowest {lowest:.10g}"
    if lowest < (1 - BELOW) * least or (alone and elsewhere):
        return Verdict(Outcome.REFUTED, Evidence.SIMULATED, f"{detail}, where {least:.10g} is said to be least")
    reached = lowest <= (1 + REACHED) * least
    return Verdict(Outcome.VERIFIED if reached else Outcome.INCONCLUSIVE, Evidence.SIMULATED, detail)


def _of(
    name: str, title: str, theorem: str, L: int, trained: str, *, starts: tuple[int, int], alone: bool = False
) -> Comparison:
    """Return a comparison for d = 2, n = 20; `starts` has the numbers of starts of a quick run and of a full run."""

    def compare(*, device: str, full: bool, seed: int) -> Verdict:
        experiment = load_experiment("ahn2023.many_starts")
        found = experiment.run(seed=seed, device=device, L=L, n=20, trained=trained, starts=starts[full])
        return not_below(least_loss(theorem, L, 20), found.measurements, starts[full], alone=alone)

    return Comparison(f"ahn2023.{name}", title, theorem, "ahn2023.many_starts", compare, devices=("cpu",))


two_layers_over_all_matrices = _of(
    "two_layers_over_all_matrices",
    "For d = 2, n = 20 descents over all A_0 and A_1 end at Theorem 2's least loss",
    *("ahn2023.theorem2", 2, "A"),
    starts=(20, 10_000),
    alone=True,
)
three_layers_over_all_matrices = _of(
    "three_layers_over_all_matrices",
    "For d = 2, n = 20 no descent over all A_0, A_1 and A_2 ends below the least loss on Theorem 3's set",
    *("ahn2023.theorem3", 3, "A"),
    starts=(20, 10_000),
)
two_layers_of_tokens_over_all_matrices = _of(
    "two_layers_of_tokens_over_all_matrices",
    "For d = 2, n = 20 no descent over two layers' A_l and B_l ends below the points found on Theorem 4's set",
    *("ahn2023.theorem4", 2, "A_and_B"),
    starts=(20, 10_000),
)
three_layers_of_tokens_over_all_matrices = _of(
    "three_layers_of_tokens_over_all_matrices",
    "For d = 2, n = 20 no descent over three layers' A_l and B_l ends below the points found on Theorem 4's set",
    *("ahn2023.theorem4", 3, "A_and_B"),
    starts=(6, 500),
)
