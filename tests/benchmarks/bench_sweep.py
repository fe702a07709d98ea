"""Sweeps of a theorem over more and more instances."""

from verify import load_theorem


def bench_growth_with_points(growth):
    theorem = load_theorem("ahn2023.theorem5")

    def over(points):
        found = theorem.sweep({"n": f"3:{points // 10 + 2}:{points // 10}"}, d=2) if points < 10 else None
        return found or theorem.sweep({"n": f"10:{points // 10 + 9}:{points // 10}", "d": "2:11:10"})

    growth("A sweep of Ahn et al.'s Theorem 5", "instances", {n: lambda n=n: over(n) for n in (100, 1000, 10_000)})
