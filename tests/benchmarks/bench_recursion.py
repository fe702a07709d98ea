"""Benchmarks of the one-hot recursion: its loss at many instances, and the number of steps to reach ε."""

import re
import shutil
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import verify
from tests.benchmarks.limits import Limit
from tests.benchmarks.timing import on_threads
from theorems.sparse_token_selection.one_hot_convergence import DYNAMICS
from verify import load_theorem
from verify.evaluation.many_runs import fixed_symbols, observe
from verify.evaluation.programs import compile_program

# PyTorch's compiler calls functions that PyTorch has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

POINTS, STEPS = 10_000, 100_000
LEVEL, REACHED = Fraction(1, 10**9), 1e-4
"""The level of the loss, and a higher level that iterating step by step can reach."""
_EXPONENTIAL = 40
"""Number of operations of an exponential: 2 for the reduction, 26 for a polynomial of order 13, 12 to combine them."""


def instances(count):
    """Return random lengths, subset sizes and step sizes that satisfy Theorem 1's hypotheses."""
    rng = np.random.default_rng(0)
    q = rng.integers(2, 8, count)
    return {"T": 4 * q + rng.integers(1, 200, count), "q": q, "d": 5, "eta": rng.uniform(1e-4, 2e-3, count)}


def loop(T, q, d, eta, steps):
    """Return the loss of one instance after a number of steps, computed with NumPy scalars."""
    T, q, d, eta = map(np.float64, (T, q, d, eta))
    a = C = np.float64(0)
    by_a, by_C = eta / q, eta * d / (q * (T - 1))
    for _ in range(steps):
        w = np.exp(-C)
        P = q / (q + (T - q) * w)
        aP = a * P
        a, C = a + by_a * P * (1 - a * (P + (1 - P) * w)), C + by_C * aP * (1 - P) * (1 - aP * (1 - w))
    w = np.exp(-C)
    P = q / (q + (T - q) * w)
    return d / (2 * q) * (1 - 2 * a * P + a**2 * P * (P + (1 - P) * w))


def by_numba():
    """Return a function that iterates the recursion at all instances in chunks, which run on all cores."""
    from numba import njit, prange

    @njit(parallel=True, fastmath=True, error_model="numpy")
    def losses(T, q, d, eta, steps, chunk=64):
        found = np.empty(len(T))
        for c in prange(-(-len(T) // chunk)):
            start, n = c * chunk, min(chunk, len(T) - c * chunk)
            a, C, by_a, by_C, others = np.zeros(n), np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
            for i in range(n):
                t, k, e = T[start + i], q[start + i], eta[start + i]
                by_a[i], by_C[i], others[i] = e / k, e * d / (k * (t - 1)), (t - k) / k
            for _ in range(steps):
                for i in range(n):
                    w = np.exp(-C[i])
                    P = 1 / (1 + others[i] * w)
                    aP = a[i] * P
                    C[i] += by_C[i] * aP * (1 - P) * (1 - aP * (1 - w))
                    a[i] += by_a[i] * P * (1 - aP - (a[i] - aP) * w)
            for i in range(n):
                w = np.exp(-C[i])
                P = 1 / (1 + others[i] * w)
                found[start + i] = d / (2 * q[start + i]) * (1 - 2 * a[i] * P + a[i] ** 2 * P * (P + (1 - P) * w))
        return found

    return losses


def by_torch():
    """Return a function that iterates the recursion at all instances; ten steps are compiled as one operation."""
    import torch

    @torch.compile
    def ten_steps(a, C, by_a, by_C, others):
        for _ in range(10):
            w = torch.exp(-C)
            P = 1 / (1 + others * w)
            aP = a * P
            grown = C + by_C * aP * (1 - P) * (1 - aP * (1 - w))
            a, C = a + by_a * P * (1 - aP - (a - aP) * w), grown
        return a, C

    def losses(T, q, d, eta, steps):
        T, q, eta = map(torch.from_numpy, (T, q, eta))
        constants = eta / q, eta * d / (q * (T - 1)), (T - q) / q
        a = C = torch.zeros(len(T), dtype=torch.float64)
        for _ in range(steps // 10):
            a, C = ten_steps(a, C, *constants)
        w = torch.exp(-C)
        P = 1 / (1 + constants[2] * w)
        return (d / (2 * q) * (1 - 2 * a * P + a**2 * P * (P + (1 - P) * w))).numpy()

    return losses


def best(points):
    """Return, by name, functions that take a tenth of the steps at all instances."""
    given = (*(np.asarray(points[name], float) for name in ("T", "q")), 5.0, np.asarray(points["eta"], float))
    (exact,) = observe(DYNAMICS, points, [1000])
    ways = {"Numba": by_numba()} | ({"PyTorch, ten steps compiled": by_torch()} if shutil.which("g++") else {})
    for losses in ways.values():
        assert np.abs(losses(*given, 1000) / exact - 1).max() < 1e-10
    by_name = {name: lambda losses=losses: losses(*given, STEPS // 10) for name, losses in ways.items()}
    return {
        threads: run
        for name, work in by_name.items()
        for threads, run in (on_threads(name, work) if "PyTorch" in name else {name: work}).items()
    }


def compiled_loop():
    """Return a compiled function that counts one instance's steps until the loss is at most a level."""
    from numba import njit

    @njit(error_model="numpy")
    def steps_to(level, T, q, d, eta):
        a = C = 0.0
        by_a, by_C, count = eta / q, eta * d / (q * (T - 1)), 0
        while True:
            w = np.exp(-C)
            P = q / (q + (T - q) * w)
            S, aP = P + (1 - P) * w, a * P
            if d / (2 * q) * (1 - 2 * aP + a * aP * S) <= level:
                return count
            a, C = a + by_a * P * (1 - a * S), C + by_C * aP * (1 - P) * (1 - aP * (1 - w))
            count += 1

    return steps_to


def operations():
    """Return the number of operations of a step in the program that is compiled from the statement."""
    source = compile_program(DYNAMICS.step, DYNAMICS.state, fixed_symbols(DYNAMICS)).source
    return len(re.findall(r"[-+/*]+", source)) + (_EXPONENTIAL - 1) * source.count("exp(")


def peak(steps, points):
    tracemalloc.start()
    try:
        observe(DYNAMICS, points, [steps])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def bench_many_instances(pair):
    points = instances(POINTS)
    one = {name: float(np.ravel(value)[0]) for name, value in points.items()}
    (here,) = observe(DYNAMICS, one, [1000])[0]
    assert abs(here / loop(**one, steps=1000) - 1) < 1e-10
    few, many = (peak(steps, points) / 2**20 for steps in (1000, STEPS))
    pair(
        "the one-hot recursion, 10^4 instances by 10^5 steps",
        lambda: observe(DYNAMICS, points, [STEPS]),
        lambda: loop(**one, steps=STEPS),
        best=best(points),
        best_times=10,
        definition_times=POINTS,
        rounds=5,
        limit=Limit(f"{operations()} operations a step", operations() * POINTS * STEPS, "operations"),
        note=f"The definition is a NumPy scalar loop over one instance, times 10^4. The best plain way takes a tenth of"
        f" the steps, times 10. Ours uses at most {few:.1f} MiB for 10^3 steps and {many:.1f} MiB for 10^5, on"
        " all cores; like PyTorch's way, it is compiled beforehand, in seconds, once per recursion. The bound,"
        " presumably (nothing was profiled): most of the work is the exponential, and PyTorch's compiler has one for"
        " vectors too; Numba has none without Intel's SVML.",
    )


def bench_growth_with_instances(growth):
    growth(
        "The one-hot recursion, 10^3 steps",
        "instances",
        {n: lambda n=n: observe(DYNAMICS, instances(n), [1000]) for n in (256, 1024, 4096, 16384, 65536)},
    )


def bench_growth_with_steps(growth):
    points = instances(1024)
    growth(
        "The one-hot recursion, 1024 instances",
        "steps",
        {n: lambda n=n: observe(DYNAMICS, points, [n]) for n in (100, 1000, 10_000, 100_000)},
    )


def steps_to(level):
    result = verify.check(load_theorem("wang2024.theorem1"), T=200, q=3, d=5, eta="1/500", eps=level)
    assert result.outcome == "verified"
    return result.values["steps_to_epsilon"]


def bench_steps_to_epsilon(pair):
    run = compiled_loop()
    run(1.0, 200, 3, 5, 0.002)
    counted = run(REACHED, 200, 3, 5, 0.002)
    found = steps_to(Fraction(1, 10**4))
    assert found.lower <= counted <= found.upper
    # `times` is a lower bound of the ratio of the numbers of steps to LEVEL and to the higher level.
    times = steps_to(LEVEL).lower / found.upper
    pair(
        "steps to ε = 10^-9, T = 200, q = 3, d = 5, η = 1/500",
        lambda: steps_to(LEVEL),
        lambda: run(REACHED, 200, 3, 5, 0.002),
        definition_times=float(times),
        reach=1e4,
        rounds=5,
        note=f"The definition iterates the recursion in a compiled loop, {counted} steps to ε = 10^-4, and its time is"
        f" extended by the certified numbers of steps to both levels: times {float(times):.0f}.",
    )


def bench_growth_with_accuracy(growth):
    levels = {10**k: Fraction(1, 10**k) for k in (3, 5, 7, 9, 11, 13, 15)}
    run = compiled_loop()
    run(1.0, 200, 3, 5, 0.002)
    growth(
        "Steps to ε",
        "1/ε",
        {x: lambda level=level: steps_to(level) for x, level in levels.items()},
        {10**k: lambda k=k: run(10.0**-k, 200, 3, 5, 0.002) for k in (1, 2, 3, 4)},
        note="Ours grows like log(1/ε), so that the power tends to 0; iterating like 1/ε.",
    )
