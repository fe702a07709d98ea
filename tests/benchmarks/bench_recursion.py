"""The one-hot recursion at many instances, and its number of steps to ε."""

import re
import time
import tracemalloc
from fractions import Fraction

import numpy as np

import verify
from tests.benchmarks.limits import Limit
from theorems.sparse_token_selection.one_hot_convergence import DYNAMICS
from verify import load_theorem
from verify.evaluation.many_runs import fixed_symbols, observe
from verify.evaluation.programs import compile_program

POINTS, STEPS = 10_000, 100_000
LEVEL, REACHED = Fraction(1, 10**9), 1e-4
"""The level, and one that is reached step by step."""
_EXPONENTIAL = 40
"""Operations of an exponential: two to reduce, 26 of a polynomial of order 13, the rest to put together."""


def instances(count):
    """Lengths, subset sizes and step sizes within Theorem 1's hypotheses."""
    rng = np.random.default_rng(0)
    q = rng.integers(2, 8, count)
    return {"T": 4 * q + rng.integers(1, 200, count), "q": q, "d": 5, "eta": rng.uniform(1e-4, 2e-3, count)}


def loop(T, q, d, eta, steps):
    """One instance, a NumPy scalar at a time."""
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


def together():
    """Seconds that a step takes in NumPy with all instances in one array."""
    points, started = instances(POINTS), time.perf_counter()
    T, q, d, eta = (np.asarray(points[name], float) for name in ("T", "q", "d", "eta"))

    def step(a: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        w = np.exp(-C)
        P = q / (q + (T - q) * w)
        aP = a * P
        grown = C + eta * d / (q * (T - 1)) * aP * (1 - P) * (1 - aP * (1 - w))
        return a + eta / q * P * (1 - a * (P + (1 - P) * w)), grown

    a = C = np.zeros(POINTS)
    for _ in range(100):
        a, C = step(a, C)
    return (time.perf_counter() - started) / 100


def compiled_loop():
    """One instance up to a level, at compiled speed."""
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
    """Count the operations of a step in the program that is compiled from the statement."""
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
        reach=200,
        rounds=5,
        plain_times=POINTS,
        limit=Limit(f"{operations()} operations a step", operations() * POINTS * STEPS, "operations"),
        note=f"The plain way is a NumPy scalar loop over one instance, times 10^4. Ours holds {few:.1f} MiB at most for"
        f" 10^3 steps and {many:.1f} MiB for 10^5, on all cores; it is compiled once a recursion, in seconds, before."
        f" A loop over NumPy arrays of all instances takes {together() * STEPS:.3g} s, extended from 100 steps.",
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
    # Of the numbers of steps that are certified, the least that is left out.
    times = steps_to(LEVEL).lower / found.upper
    pair(
        "steps to ε = 10^-9, T = 200, q = 3, d = 5, η = 1/500",
        lambda: steps_to(LEVEL),
        lambda: run(REACHED, 200, 3, 5, 0.002),
        reach=1e4,
        rounds=5,
        plain_times=float(times),
        note=f"The plain way iterates the recursion in a compiled loop, {counted} steps to ε = 10^-4, and its time is"
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
