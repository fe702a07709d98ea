"""Training of one softmax attention layer on fresh batches by SGD or Adam, with checkpoints and hand-written gradients.

The model is defined in `reference`; the tests compare the gradient here with its autograd. The logits depend on W only
through W[:, d:], because x_query = 0, so that W[:, :d] has gradient 0. With u the sum of the selected encodings,
(a; b) = W[:, d:] u, p the softmax of aᵀX + bᵀE, g = V Z and r = g p − target, a sample's gradients are

    dL/dV = r (Z p)ᵀ,    dL/dW[:, d:] = (Z l) uᵀ,    l = p ∘ (gᵀr − (g p)ᵀr).

The encodings, the largest array, are read twice. If the query is attended to, it adds the token (0; u). On the CPU,
`gradient_kernel` draws a batch with fresh encodings and computes its gradient.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from numerics.adam import take_adam_step
from numerics.divergence import Divergence
from numerics.repeatable import generator_for, key_for
from numerics.sparse_token_selection import gradient_kernel
from numerics.sparse_token_selection.batches import Batch, Batches, Sizes
from numerics.sparse_token_selection.reference import Attend, Gradient
from verify import Running
from verify.runs.checkpoints import alike, kept_by

_BETAS = 0.9, 0.999
"""Adam's betas, as its authors recommend; they are PyTorch's default."""


@dataclass(frozen=True)
class Plan:
    """The settings of a training; `read` are the steps after which W and V are kept, ascending up to the last step."""

    T: int
    q: int
    d: int
    d_e: int
    encoding: str
    attend: Attend
    optimizer: str
    eta: float
    eta_late: float
    late: int
    batch_size: int
    scale: float
    dtype: str
    read: tuple[int, ...]

    @property
    def precision(self) -> torch.dtype:
        """The floating-point type of the computation."""
        return {"float64": torch.float64, "float32": torch.float32}[self.dtype]


class Reading(NamedTuple):
    """W (D, D) and V (d, D) after `step` steps."""

    step: int
    W: Float[Tensor, "D D"]
    V: Float[Tensor, "d D"]


def fixed_encodings(seed: int, T: int, d_e: int, dtype: torch.dtype, device: str) -> Float[Tensor, "{d_e} {T}"]:
    """Return the first T of the seed's random sign encodings, (d_e, T), which do not depend on T."""
    bits = torch.randint(2, (T, d_e), generator=generator_for(seed, "fixed encodings", "cpu"))
    return ((2 * bits - 1).to(dtype) / math.sqrt(d_e)).T.contiguous().to(device)


class _Forward(NamedTuple):
    """The parts of the loss that the gradient needs: u, g (with the query's column if it is attended to), p and r."""

    selected: Float[Tensor, "n d_e"]
    values: Float[Tensor, "n d columns"]
    attention: Float[Tensor, "n columns"]
    residual: Float[Tensor, "n d"]


def _forward(W: Float[Tensor, "D D"], V: Float[Tensor, "d D"], batch: Batch, attend: Attend) -> _Forward:
    encodings, tokens, members = batch
    n, d, _ = tokens.shape
    places = members[:, None, :]
    target = tokens.gather(2, places.expand(-1, d, -1)).mean(dim=2)
    if encodings.ndim == 2:
        u = encodings.T[members].sum(dim=1)
        key = u @ W[:, d:].T
        values, logits = V[:, d:] @ encodings + V[:, :d] @ tokens, key[:, d:] @ encodings
    else:
        u = encodings.gather(2, places.expand(-1, encodings.shape[1], -1)).sum(dim=2)
        key = u @ W[:, d:].T
        rows = torch.cat([V[:, d:].expand(n, -1, -1), key[:, None, d:]], dim=1) @ encodings
        values, logits = rows[:, :d] + V[:, :d] @ tokens, rows[:, d]
    logits = logits + (key[:, None, :d] @ tokens)[:, 0]
    if attend == "tokens_and_query":
        values = torch.cat([values, (u @ V[:, d:].T)[:, :, None]], dim=2)
        logits = torch.cat([logits, (u * key[:, d:]).sum(dim=1, keepdim=True)], dim=1)
    p = torch.softmax(logits, dim=1)
    return _Forward(u, values, p, (values @ p[:, :, None])[:, :, 0] - target)


def batch_losses(W: Float[Tensor, "D D"], V: Float[Tensor, "d D"], batch: Batch, attend: Attend) -> Float[Tensor, "n"]:
    """Return the loss of each sample, (n,)."""
    return _forward(W, V, batch, attend).residual.square().sum(dim=1) / 2


def batch_gradient(W: Float[Tensor, "D D"], V: Float[Tensor, "d D"], batch: Batch, attend: Attend) -> Gradient:
    """Return a batch's mean loss (), and its gradients in W[:, d:], (D, d_e), and in V."""
    encodings, tokens, _ = batch
    n, _, T = tokens.shape
    u, values, p, r = _forward(W, V, batch, attend)
    slopes = (r[:, None, :] @ values)[:, 0]
    l = p * (slopes - (p * slopes).sum(dim=1, keepdim=True))  # noqa: E741
    both = torch.stack([p[:, :T], l[:, :T]], dim=2)
    if encodings.ndim == 2:
        positional = torch.stack([p[:, :T] @ encodings.T, l[:, :T] @ encodings.T], dim=2)
    else:
        positional = encodings @ both
    if attend == "tokens_and_query":
        positional = positional + u[:, :, None] * torch.stack([p[:, T:], l[:, T:]], dim=2)
    sums = torch.cat([tokens @ both, positional], dim=1)
    return Gradient(r.square().sum() / (2 * n), sums[:, :, 1].T @ u / n, r.T @ sums[:, :, 0] / n)


class Training:
    """The state of a training: W, V, and all that the next step depends on."""

    def __init__(self, plan: Plan, seed: int, device: str, left: dict[str, Any] | None = None) -> None:
        self.plan, size = plan, plan.d + plan.d_e
        self.step = 0
        self.divergence = Divergence(plan.eta, device)
        # The initial matrices are drawn on the CPU in float64, so that they are the same for every device and type.
        like: dict[str, Any] = {"generator": generator_for(seed, "training", "cpu"), "dtype": torch.float64}
        drawn = (plan.scale * torch.randn(rows, size, **like) for rows in (size, plan.d))
        self.W, self.V = (matrix.to(device, plan.precision) for matrix in drawn)
        # Adam's running means of the gradients in W and V, then of their squares.
        slopes = (self.W[:, plan.d :], self.V)
        self.means = [torch.zeros_like(slope) for slope in (*slopes, *slopes)] if plan.optimizer == "adam" else []
        sizes = Sizes(plan.batch_size, plan.T, plan.q, plan.d, plan.d_e)
        shared = None if plan.encoding == "stochastic" else shared_encodings(plan, seed, plan.T, device)
        self.batches = Batches(sizes, key_for(seed, "training batches"), plan.precision, shared, device)
        if left is not None:
            # Steps are taken in place, so the training works on copies.
            self.step = left["step"]
            self.W, self.V, *self.means = (
                kept.to(device, copy=True) for kept in (left["W"], left["V"], *left["means"])
            )

    def state(self) -> dict[str, Any]:
        """Return the state from which a training can be continued."""
        kept = {"W": self.W.clone(), "V": self.V.clone(), "means": [mean.clone() for mean in self.means]}
        return {"key": self.batches.key, "step": self.step, **kept}

    def gradient(self) -> Gradient:
        """Return the mean loss () of the step's batch, and its gradients in W[:, d:] and in V."""
        if self.batches.on_cpu and self.batches.encodings is None:
            return gradient_kernel.gradient(self.batches, self.W, self.V, self.step, self.plan.attend)
        return batch_gradient(self.W, self.V, self.batches.drawn(self.step), self.plan.attend)

    def advance(self) -> None:
        """Take one step.

        Raises
        ------
        InputError
            If the loss is not finite (on a GPU at most 256 steps later); the error names eta.
        """
        plan = self.plan
        loss, *slopes = self.gradient()
        self.divergence.look(loss, self.step)
        rate = plan.eta if self.step < plan.late else plan.eta_late
        moved = (self.W[:, plan.d :], self.V)
        if plan.optimizer == "adam":
            means, squares = self.means[:2], self.means[2:]
            take_adam_step(moved, slopes, means, squares, taken=self.step, rate=rate, betas=_BETAS)
        else:
            for matrix, slope in zip(moved, slopes, strict=True):
                matrix.sub_(rate * slope)
        self.step += 1


def shared_encodings(plan: Plan, seed: int, T: int, device: str) -> Float[Tensor, "{plan.d_e} {T}"]:
    """Return the encodings that all samples share, one-hot or fixed, of T tokens."""
    if plan.encoding == "one_hot":
        return torch.eye(plan.d_e, T, dtype=plan.precision, device=device)
    return fixed_encodings(seed, T, plan.d_e, plan.precision, device)


def readings(
    plan: Plan, seed: int, device: str, *, running: Running, part: str, told: Callable[[int], None]
) -> Iterator[Reading]:
    """Yield W and V at the steps of the plan, continuing an interrupted run; `told` is called after every step.

    Raises
    ------
    InputError
        If training diverges; the error names eta and the step.
    """

    def fits(state: dict[str, Any]) -> bool:
        fresh, count = Training(plan, seed, device), len(state["W"])
        like = {"training": fresh.state(), "W": [fresh.W] * count, "V": [fresh.V] * count}
        same = alike(state, like) and state["training"]["key"] == fresh.batches.key
        return same and kept_by(plan.read, state["training"]["step"], count)

    left = running.left(part, fits) or {"training": None, "W": [], "V": []}
    training = Training(plan, seed, device, left["training"])
    kept: dict[str, list[Tensor]] = {"W": list(left["W"]), "V": list(left["V"])}

    def state() -> dict[str, Any]:
        return {"training": training.state(), **{name: list(matrices) for name, matrices in kept.items()}}

    for i, step in enumerate(plan.read):
        while training.step < step:
            training.advance()
            told(training.step)
            running.keep(part, state)
        training.divergence.check()
        if i == len(kept["W"]):
            kept["W"].append(training.W.clone())
            kept["V"].append(training.V.clone())
        yield Reading(step, kept["W"][i].to(device), kept["V"][i].to(device))
    running.keep(part, state, now=True)
