"""Lemmas 1 (with the transpose), 4, 5 and 6, compared with transformers with random matrices at random sizes.

The comparisons import PyTorch and the simulator when they run.
"""

from typing import TYPE_CHECKING, NamedTuple

from hypothesis import strategies as st

from paper_checks.ahn2023.tensors import close
from verify import Crossing, Verdict, all_of

if TYPE_CHECKING:
    from torch import Tensor


class Sizes(NamedTuple):
    """Sizes (L, d, n) of a transformer, and a seed."""

    L: int
    d: int
    n: int
    seed: int


_SIZES = st.builds(Sizes, st.integers(1, 4), st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**31))


def _lemmas(transposed: bool, drawn: Sizes, device: str) -> Verdict:
    import torch

    from numerics.preconditioned_descent.reference import forward, pattern, preconditioned_descent, prompt, sample

    L, d, n, own = drawn
    generator = torch.Generator(device).manual_seed(own)

    def gaussian(*shape: int) -> "Tensor":
        return torch.randn(*shape, generator=generator, dtype=torch.float64, device=device)

    identity = torch.eye(d, dtype=torch.float64, device=device)
    tokens, weights = sample(3, n, identity, identity, generator)
    A, B, K, a = gaussian(L, d, d) / 2, gaussian(L, d, d) / 2, gaussian(d, d) / 2, gaussian(L)
    labels = forward(prompt(tokens, weights), pattern(A), all_states=True)[:, :, -1, -1]
    # Lemma 1, with the transpose: the label after l layers is −⟨x, w_l⟩.
    iterates = preconditioned_descent(tokens, weights, A.mT if transposed else A)
    descent = -torch.einsum("bld,bd->lb", iterates, tokens[:, :, -1])
    exchanged = [forward(prompt(tokens, weights), pattern(order[:, None, None] * K))[:, -1] for order in (a, a.flip(0))]
    filled = (tokens[:, :, -1] * weights).sum(dim=1)
    with_label = forward(prompt(tokens, weights, filled), pattern(A, B))
    without = forward(prompt(tokens, weights), pattern(A, B))
    added = torch.zeros_like(without)
    added[:, -1, -1] = filled
    return all_of(
        [
            ("lemma 1", close(labels, descent, "labels")),
            ("lemma 4", close(exchanged[0], exchanged[1], "labels")),
            ("lemmas 5 and 6", close(with_label, without + added, "states")),
        ]
    )


lemmas_at_random_sizes = Crossing(
    id="ahn2023.lemmas_at_random_sizes",
    title="Lemmas 1 (with the transpose), 4, 5 and 6 for random matrices at random sizes",
    subject="labels of a transformer's layers (Lemmas 1, 4, 5, 6)",
    theorem="ahn2023.lemma1",
    exact="proved for all parameters",
    instances=_SIZES,
    held=_lemmas,
    theory=True,
    planted={"Lemma 1 without the transpose": False},
    sizes=("L", "d", "n"),
)
