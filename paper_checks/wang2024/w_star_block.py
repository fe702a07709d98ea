r"""The W* block: training with one-hot encoding moves W along I − 11ᵀ/T and V along (I, 0), from zero or elsewhere.

If W[:d, d:] = 0 and V[:, d:] = 0, the loss depends on X through E x_i x_jᵀ = δ_ij I alone. With attention p, V_x =
V[:, :d] and the target Xy/q, the loss is E ½ Σ_i ‖p_i V_x − (y_i/q) I‖² = ½ (‖V_x‖² R − 2 tr V_x P/q + d/q), where
R = E Σ p_i² and P is the mean attention on all selected tokens. Write V_x = αI + N with tr N = 0, so that ‖V_x‖² =
dα² + ν with ν = ‖N‖². So for any start with such blocks and W = C(I − 11ᵀ/T) + 1vᵀ in the positional block,

    α' = α − η(αR − P/q),    N' = (1 − ηR) N,    C' = C − η/(T−1) ∂_C ½ ((dα² + ν) R − 2dαP/q),

and the other parts do not change: 1vᵀ, which adds the same to all logits; W's columns at x_query = 0; and the blocks
that are 0, because the odd moments of X vanish. Lemma 1 is the case N = 0, v = 0, with R = PS/q. From zero the cosine
of W with diag(0, I) is √(1 − 1/T) throughout, and the cosine of V with (I, 0) is 1.
The comparisons import PyTorch and the simulator when they run.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

import sympy as sp
from hypothesis import strategies as st

from paper_checks.wang2024.reduced_dynamics import WORK, WORK_IN_FULL, sizes
from theorems.sparse_token_selection.reduced_dynamics import C, P, S
from theorems.sparse_token_selection.stationary_points import stationary_points
from theorems.sparse_token_selection.task import T, q
from verify import (
    Comparison,
    Crossing,
    Evidence,
    Outcome,
    Verdict,
    agreement,
    all_of,
    in_full,
    load_experiment,
    over_instances,
)

EPS = 2.0**-52
LAYERS = ((9, 2, 1, 1.0), (9, 3, 2, 1.0))
"""(T, q, d, eta) of trainings from zero by the experiment."""
STEPS, STEPS_IN_FULL = 30, 200


class Scales(NamedTuple):
    """Factors of P, R, their slopes in C and the decay of N. A factor is 1 unless an error is planted."""

    P: float = 1.0
    R: float = 1.0
    P_slope: float = 1.0
    R_slope: float = 1.0
    N: float = 1.0


class Start(NamedTuple):
    """Sizes, step size, the first C and α, and the scales of the random parts, with a seed for them.

    The scales are `N` for N, `unseen` for v and for W's columns at x_query, and `elsewhere` for entries off the set.
    """

    T: int
    q: int
    d: int
    eta: float
    C: float
    alpha: float
    N: float
    unseen: float
    seed: int
    elsewhere: float = 0.0


@st.composite
def starts(draw: st.DrawFn, elsewhere: st.SearchStrategy[float]) -> Start:
    """Draw the start of a training, zero or random entries; `elsewhere` draws the scale of the entries off the set."""
    steps = STEPS_IN_FULL if in_full() else STEPS
    length, subset, size = draw(sizes((WORK_IN_FULL if in_full() else WORK) / steps))
    rate, scale = draw(st.sampled_from([1 / 20, 1 / 2, 1.0])), st.sampled_from([0.0, 0.3, 1.0])
    return Start(
        *(length, subset, size, rate, draw(scale), draw(scale), draw(scale), draw(scale)),
        draw(st.integers(0, 2**31)),
        draw(elsewhere),
    )


@cache
def _means() -> Callable[..., tuple[float, float, float, float]]:
    R = P * S / q
    return sp.lambdify([C, T, q], [P, R, sp.diff(P, C), sp.diff(R, C)], "math")


def path(start: Start, scales: Scales, steps: int) -> Iterator[tuple[float, float, float, float]]:
    """Yield α, C, the share of N that is left, and the loss, at the steps from 0 on."""
    length, subset, size, rate = start[:4]
    alpha, c, share = start.alpha, start.C, 1.0
    first = float(_norm(start)) ** 2
    for _ in range(steps + 1):
        p, r, p_slope, r_slope = (x * y for x, y in zip(_means()(c, length, subset), scales[:4], strict=True))
        squares = size * alpha**2 + share**2 * first
        yield alpha, c, share, (squares * r - 2 * size * alpha * p / subset + size / subset) / 2
        slope = (squares * r_slope - 2 * size * alpha * p_slope / subset) / 2
        alpha, c, share = (
            alpha - rate * (alpha * r - p / subset),
            c - rate * slope / (length - 1),
            share * (1 - scales.N * rate * r),
        )


def _norm(start: Start) -> float:
    return float(begun(start)["N"].norm())


@lru_cache(maxsize=256)
def begun(start: Start) -> dict[str, Any]:
    """Return the random parts of a start: N without a trace, v, W's columns at x_query, and entries off the set."""
    import torch

    length, size = start.T, start.d
    generator = torch.Generator().manual_seed(start.seed)
    N, v, columns, off = (
        torch.randn(*shape, generator=generator, dtype=torch.float64)
        for shape in ((size, size), (1, length), (size + length, size), (length, length))
    )
    N = start.N * (N - N.trace() / size * torch.eye(size, dtype=torch.float64))
    return {"N": N, "v": start.unseen * v, "columns": start.unseen * columns, "off": start.elsewhere * off}


def matrices_at(start: Start, alpha: float, c: float, share: float) -> Any:
    """Return W and V at a step, by the closed form."""
    import torch

    from numerics.sparse_token_selection.experiments import ground_truth

    truth, parts, size = ground_truth(start.T, start.d), begun(start), start.d
    W, V = c * truth.W_centred, alpha * truth.V
    W[size:, size:] += parts["v"]
    W[:, :size] = parts["columns"]
    V[:, :size] += share * parts["N"]
    return torch.clone(W), V


@lru_cache(maxsize=256)
def trained(start: Start, steps: int, device: str) -> Any:
    """Return the iterates of the full matrices' training by exact population gradients, on the CPU."""
    from numerics.sparse_token_selection.reference import cubature_gradient, one_hot_encodings, train

    W, V = matrices_at(start, start.alpha, start.C, 1.0)
    W[start.d :, start.d :] += begun(start)["off"]
    encodings = one_hot_encodings(start.T, device=device)
    run = train(
        W.to(device),
        V.to(device),
        eta=start.eta,
        steps=steps,
        gradient=lambda W, V: cubature_gradient(W, V, encodings, start.q),
    )
    return [(iterate.W.cpu(), iterate.V.cpu(), float(iterate.loss)) for iterate in run]


def _held(theory: Scales, start: Start, device: str) -> Verdict:
    steps = STEPS_IN_FULL if in_full() else STEPS
    worst, blocks = 0.0, 0.0
    for (W, V, loss), (alpha, c, share, expected) in zip(
        trained(start, steps, device), path(start, theory, steps), strict=True
    ):
        right_W, right_V = matrices_at(start, alpha, c, share)
        # In theory the entries off the set keep their first values.
        right_W[start.d :, start.d :] += begun(start)["off"]
        worst = max(worst, abs(loss - expected), *(float((x - y).abs().max()) for x, y in ((W, right_W), (V, right_V))))
        size = start.d
        blocks = max(blocks, float(W[:size, size:].abs().max()), float(V[:, size:].abs().max()))
    # This is an estimate: a gradient's entry is a mean of numbers of size at most Td (1 + |V|)² ‖Z‖, off by about a
    # hundred roundings (`recursion.rounding`). Later steps stretch the error, in runs by a factor of 4; 10 is allowed.
    parts = begun(start)
    size = max(abs(start.alpha), 1) + sum(float(parts[name].norm()) for name in ("N", "v"))
    allowed = steps * start.eta * 1000 * EPS * start.T * start.d * (1 + size) ** 3
    verdicts = [
        ("entries", Verdict.within(worst, allowed, f"over {steps} steps an entry is", Evidence.COMPUTED)),
        ("zero blocks", Verdict.within(blocks, allowed, "W[:d, d:] or V[:, d:] is", Evidence.COMPUTED)),
    ]
    return replace(all_of(verdicts), trainings=1)


W_star_block = Crossing(
    id="wang2024.W_star_block",
    title="Training from zero or random entries: W along I − 11ᵀ/T, V along (I, 0) and N, all else unchanged",
    subject="W* identity block, one-hot encoding",
    theorem="wang2024.lemma1",
    exact="wang2024.exact_gradient",
    instances=starts(st.just(0.0)),
    held=_held,
    theory=Scales(),
    planted={f"1 % in {name}": Scales(**{name: 1.01}) for name in Scales._fields}
    | {"N does not shrink": Scales(N=0.0), "R's slope forgotten": Scales(R_slope=0.0)},
    sizes=("T", "q", "d"),
)
OFF_THE_SET = starts(st.sampled_from([0.3, 1.0]))
"""Starts with random entries in W's positional block, which two numbers do not describe."""


def _limit_cosine(length: int) -> float:
    """Return the cosine of W with the identity that the theorem's clause gives."""
    (squared,) = (clause.right for clause in stationary_points.statement.clauses if clause.label == "cosine")
    return math.sqrt(float(squared.subs(T, length)))


def _cosines_from_zero(*, device: str, full: bool, seed: int) -> Verdict:
    experiment = load_experiment("wang2024.one_hot_training")

    # A gradient's entries err by at most 10⁻¹¹ (`rounding`, α ≤ √(T/q) < 2.2), all D² < 11² of them by 10⁻¹⁰ in
    # norm, and 400 steps by 10⁻⁷. ‖W‖ is at least 10⁻³ if it is not 0, and ‖V‖ larger: the relative error is 10⁻⁴.
    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for instance in LAYERS:
            settings = dict(zip(("T", "q", "d", "eta"), instance, strict=True))
            found = experiment.run(device=device, steps=400 if full else 50, window=10, **settings).measurements
            yield (
                instance,
                all_of(
                    (name, agreement(value, found[name], comparisons=1, rounding=1e-4))
                    for matrix, value in (("W", _limit_cosine(instance[0])), ("V", 1.0))
                    for name in (f"cosine_{matrix}_least", f"cosine_{matrix}_largest")
                ),
            )

    return over_instances(verdicts())


cosines_from_zero = Comparison(
    id="wang2024.cosines_from_zero",
    title="Along a whole training from zero, cos(W, diag(0, I)) = √(1 − 1/T) and cos(V, (I, 0)) = 1",
    theorem="wang2024.stationary_points",
    experiment="wang2024.one_hot_training",
    compare=_cosines_from_zero,
)


def _cosines_from_random(*, device: str, full: bool, seed: int) -> Verdict:
    experiment = load_experiment("wang2024.one_hot_from_random")
    settings = {"steps": 20_000, "middle": 1000, "runs": 4} if full else {"steps": 2000, "middle": 100, "runs": 2}
    result = experiment.run(seed=seed, device=device, T=10, q=2, d=2, eta=1, scale="0.02", batch_size=256, **settings)
    found = {name: measured.value for name, measured in result.measurements.items()}
    holds = (
        found["W_centred_start"] < 0.5
        and 1 - found["W_centred_middle"] < 1e-2
        and 1 - found["W_centred_end"] < (1 - found["W_centred_middle"]) / 2
        and 1 - found["V_middle"] < 1e-2
        and 1 - found["V_end"] < (1 - found["V_middle"]) / 2
        and abs(found["W_identity_end"] - _limit_cosine(10)) < 1e-3
    )
    detail = (
        f"after {settings['steps']} steps: W {found['W_centred_end']:.5f} "
        f"(with the identity {found['W_identity_end']:.5f}), V {found['V_end']:.5f}"
    )
    return Verdict(Outcome.VERIFIED if holds else Outcome.REFUTED, Evidence.SIMULATED, detail, settings["runs"])


cosines_from_random = Comparison(
    id="wang2024.cosines_from_random",
    title="From small random matrices the cosines rise to 1, that of W up to the all-ones direction",
    theorem="wang2024.stationary_points",
    experiment="wang2024.one_hot_from_random",
    compare=_cosines_from_random,
)
