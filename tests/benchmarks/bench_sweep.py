"""Time of a sweep of a theorem as a function of the number of instances, compared with a check of each instance."""

from fractions import Fraction

import verify
from verify import load_theorem
from verify.cores import cores

ACROSS = 10
"""The number of values of R; the number of values of n is the number of points divided by ACROSS."""


def bench_growth_with_points(growth):
    theorem = load_theorem("li2024.weight_shift")
    radii = [Fraction(4) + Fraction(4 * i, ACROSS - 1) for i in range(ACROSS)]

    def swept(points):
        found = verify.sweep(theorem, {"n": f"50:{49 + points // ACROSS}:{points // ACROSS}", "R": radii}, d=20)
        # The theorem's claims are in words, and no instance decides them. Its steps are evaluated.
        assert found.counts == {"inconclusive": points}

    def checked(points):
        for i in range(points):
            found = verify.check(theorem, n=50 + i // ACROSS, R=radii[i % ACROSS], d=20)
            assert {str(clause.outcome) for clause in found.clauses if clause.role == "step"} == {"verified"}

    growth(
        "A sweep of Li et al.'s weight shift",
        "instances",
        {n: lambda n=n: swept(n) for n in (100, 1000, 10_000, 100_000, 1_000_000)},
        {n: lambda n=n: checked(n) for n in (20, 100)},
        times=1,
        note="The plain way is a check of each instance; a sweep decides in float64 with error estimates what it can.",
    )


def bench_growth_with_workers(growth):
    theorem = load_theorem("ahn2023.theorem3")

    def swept(jobs):
        assert verify.sweep(theorem, {"n": "5:124:120"}, jobs=jobs, L=3, d=3).counts == {"verified": 120}

    growth(
        "A sweep of 120 exact rows of Theorem 3",
        "workers",
        {jobs: lambda jobs=jobs: swept(jobs) for jobs in range(1, cores() + 1)},
        note="A first run, which is not timed, starts the workers.",
    )
