"""Time of an SGD step on fresh sign encodings as a function of the number of tokens and of the encodings' dimension."""

from tests.benchmarks.bench_sgd_step import ours


def bench_growth_with_tokens(growth):
    growth(
        "A step of SGD on fresh signs, d_e = 170, batch 256",
        "tokens T",
        {T: ours("cpu", T=T).advance for T in (50, 100, 200, 400, 800)},
    )


def bench_growth_with_dimension(growth):
    growth(
        "A step of SGD on fresh signs, T = 200, batch 256",
        "dimension d_e",
        {d_e: ours("cpu", d_e=d_e).advance for d_e in (85, 170, 340, 680)},
    )
