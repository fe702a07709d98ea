"""A check from a cold start."""

import subprocess
import sys


def run(*arguments):
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def bench_check_from_a_cold_start(pair):
    pair(
        "verify check wang2024.lemma1 T=9 q=2, in a process of its own",
        lambda: run("-m", "verify", "check", "wang2024.lemma1", "T=9", "q=2"),
        lambda: run("-c", "import sympy"),
        reach=2.5,
        cost=True,
        rounds=5,
        note="The plain way is `import sympy` in a process of its own, which ours has to do too. Beside it come the"
        " other imports (typer and pydantic, NumPy, FLINT, the re-checker), reading the theorem with its canaries,"
        " and the proof of ten clauses, most of it in SymPy's polynomials.",
    )
