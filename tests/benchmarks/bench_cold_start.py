"""Benchmark of a check in a new process."""

import os
import subprocess
import sys

# The warm-up run writes the byte code, which later runs reuse, as with installed packages.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(*arguments):
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)


def bench_check_from_a_cold_start(pair):
    pair(
        "verify check wang2024.stationary_points T=9 q=2 d=1, in a process of its own",
        lambda: run("-m", "verify", "check", "wang2024.stationary_points", "T=9", "q=2", "d=1"),
        lambda: run("-c", "import sympy"),
        reach=2.5,
        cost=True,
        rounds=5,
        note="The definition is `import sympy` in a process of its own, which ours has to do too. Beside it come the"
        " other imports (typer and pydantic, FLINT), reading the theorem with its canaries, and the re-check of the"
        " shipped proofs of ten clauses.",
    )
