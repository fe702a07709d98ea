"""The least losses over multiples of the identity, against descents over all entries of all matrices from many starts.

Two optimisers go down the exact expected loss for d = 2, Σ = I (`numerics.preconditioned_descent.many_starts`). Theorem
2's least loss is over symmetric matrices, those of Theorems 3 and 4 over multiples of Σ^{-1} and I: an end below one of
these would refute that it is the least over all matrices; that there is none among many is no proof of it.
"""

from collections.abc import Callable
from typing import Any

import verify
from verify import Comparison, Evidence, Outcome, Verdict, load_experiment, load_theorem
from verify.outcomes import as_float

BELOW = 1e-9
"""A relative distance far above the rounding of sums of squares by quadrature."""
REACHED = 1e-6
"""The relative distance within which a descent's end is at the least loss."""


def least_loss(theorem: str, L: int, n: int) -> float:
    """Return the least loss of a theorem for d = 2; Theorem 2 is of two layers."""
    sizes = {"d": 2, "n": n} | ({} if theorem == "ahn2023.theorem2" else {"L": L})
    values = verify.check(load_theorem(theorem), **sizes).values
    if theorem == "ahn2023.theorem4":
        return min(as_float(point["loss"]) for point in values["critical_points"])
    return as_float(values["minimum_loss"])


def not_below(least: float, measurements: Any, starts: int) -> Verdict:
    """Compare the ends of descents with what is said to be least: none is below, and some are there."""
    lowest = measurements["lowest"].value
    there, elsewhere = (
        sum(int(measurements[f"{name}_{method}"].value) for method in ("bfgs", "lbfgs"))
        for name in ("at_the_least", "elsewhere")
    )
    detail = f"{there} and {elsewhere} of {2 * starts} ends at the least and at others, the lowest {lowest:.10g}"
    if lowest < (1 - BELOW) * least:
        return Verdict(Outcome.REFUTED, Evidence.SIMULATED, f"{detail}, below {least:.10g}")
    reached = lowest <= (1 + REACHED) * least
    return Verdict(Outcome.VERIFIED if reached else Outcome.INCONCLUSIVE, Evidence.SIMULATED, detail)


def _compare(theorem: str, L: int, n: int, trained: str, quick: int) -> Callable[..., Verdict]:
    def compare(*, device: str, full: bool, seed: int) -> Verdict:
        starts = 10_000 if full else quick
        experiment = load_experiment("ahn2023.many_starts")
        found = experiment.run(seed=seed, device=device, L=L, n=n, trained=trained, starts=starts)
        return not_below(least_loss(theorem, L, n), found.measurements, starts)

    return compare


def _of(name: str, title: str, theorem: str, L: int, n: int, trained: str, quick: int) -> Comparison:
    return Comparison(
        id=f"ahn2023.{name}",
        title=title,
        theorem=theorem,
        experiment="ahn2023.many_starts",
        compare=_compare(theorem, L, n, trained, quick),
        devices=("cpu",),
    )


two_layers_over_all_matrices = _of(
    "two_layers_over_all_matrices",
    "For d = 2, n = 20 no descent over all A_0 and A_1 ends below Theorem 2's least loss",
    *("ahn2023.theorem2", 2, 20, "A", 40),
)
three_layers_over_all_matrices = _of(
    "three_layers_over_all_matrices",
    "For d = 2, n = 20 no descent over all A_0, A_1 and A_2 ends below the least loss on Theorem 3's set",
    *("ahn2023.theorem3", 3, 20, "A", 40),
)
two_layers_of_tokens_over_all_matrices = _of(
    "two_layers_of_tokens_over_all_matrices",
    "For d = 2, n = 20 no descent over all A_l and B_l of two layers ends below the least loss on Theorem 4's set",
    *("ahn2023.theorem4", 2, 20, "A_and_B", 20),
)
three_layers_of_tokens_over_all_matrices = _of(
    "three_layers_of_tokens_over_all_matrices",
    "For d = 2, n = 20 no descent over all A_l and B_l of three layers ends below the least loss on Theorem 4's set",
    *("ahn2023.theorem4", 3, 20, "A_and_B", 6),
)
