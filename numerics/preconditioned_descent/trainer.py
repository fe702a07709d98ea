"""The paper's training of A_l, or of A_l and B_l, by Adam with clipped gradients; it can continue from a checkpoint.

A batch is drawn anew after `resample` steps, the gradient of each matrix is clipped to the Frobenius norm `clip`, the
step size is halved after every `halving` steps, and initial entries are N(0, `scale`²). Σ = V D Vᵀ, where V is
uniformly random, as in the paper, or has the left singular vectors of a matrix with entries uniform on [−1, 1], as in
the authors' code. Prompts are drawn in float64. With `dtype` float32 they are rounded, and the matrices, Adam's means
and each prompt's loss are computed in float32.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from numerics.adam import take_adam_step
from numerics.divergence import Divergence
from numerics.preconditioned_descent.experiments import clipped, eigenvalues, random_rotation, singular_vectors
from numerics.preconditioned_descent.reduced import Prompts, draw, losses
from numerics.repeatable import generator_for, key_for
from verify import Running
from verify.runs.checkpoints import alike, kept_by

_DTYPES = {"float64": torch.float64, "float32": torch.float32}


@dataclass(frozen=True)
class Plan:
    """The settings of a training; `read` are the steps after which A and B are kept, ascending up to the last step."""

    L: int
    d: int
    n: int
    trained: str
    spectrum: str
    least: float
    batch: int
    resample: int
    clip: float
    eta: float
    halving: int
    scale: float
    read: tuple[int, ...]
    betas: tuple[float, float] = (0.9, 0.9)
    rotation: str = "uniform"
    dtype: str = "float64"


class Task(NamedTuple):
    """Σ, Σ^{-1} (the covariance of w*), Σ^{1/2} and Σ's eigenvectors, in columns, each (d, d)."""

    covariance: Float64[Tensor, "d d"]
    inverse: Float64[Tensor, "d d"]
    root: Float64[Tensor, "d d"]
    vectors: Float64[Tensor, "d d"]


class Reading(NamedTuple):
    """A and, if trained, B (L, d, d) after `step` steps."""

    step: int
    A: Float64[Tensor, "L d d"]
    B: Float64[Tensor, "L d d"] | None


def task_of(plan: Plan, seed: int, device: str) -> Task:
    """Return the seed's Σ = V D Vᵀ and the matrices computed from it; V is the same on every device.

    Raises
    ------
    InputError
        If the spectrum is the printed one and d is not its dimension; the error names d.
    """
    source = generator_for(seed, "rotation", "cpu")
    V = singular_vectors(plan.d, source) if plan.rotation == "singular_vectors" else random_rotation(plan.d, source).T
    D = eigenvalues(plan.spectrum, plan.d, plan.least)
    covariance, inverse, root = ((V @ (D**power).diag() @ V.T).to(device) for power in (1, -1, 0.5))
    return Task(covariance, inverse, root, V.to(device))


def prompts_for(plan: Plan, seed: int, purpose: str, count: int, device: str) -> Prompts:
    """Return fresh prompts of the seed's Σ for a purpose other than training."""
    task = task_of(plan, seed, device)
    return draw(count, plan.n, task.covariance, task.inverse, key_for(seed, purpose))


class Training:
    """The state of a training: A, B, and all that the next step depends on."""

    def __init__(self, plan: Plan, seed: int, device: str, left: dict[str, Any] | None = None) -> None:
        self.plan, self.task, self.step = plan, task_of(plan, seed, device), 0
        self.divergence, self.device, self.key = Divergence(plan.eta, device), device, key_for(seed, "training batches")
        # The initial matrices are drawn on the CPU, so that they are the same on every device.
        like: dict[str, Any] = {"generator": generator_for(seed, "training", "cpu"), "dtype": torch.float64}
        shape, count = (plan.L, plan.d, plan.d), {"A": 1, "A_and_B": 2}[plan.trained]
        self.dtype = _DTYPES[plan.dtype]
        self.matrices = [(plan.scale * torch.randn(shape, **like)).to(device, self.dtype) for _ in range(count)]
        # Adam's running means of the gradients and of their squares.
        self.means = [[torch.zeros_like(matrix) for matrix in self.matrices] for _ in range(2)]
        self._batch: Prompts | None = None
        if left is not None:
            # Steps are taken in place, so the training works on copies.
            self.step = left["step"]
            self.matrices = [kept.to(device, copy=True) for kept in left["matrices"]]
            self.means = [[kept.to(device, copy=True) for kept in means] for means in left["means"]]
            if self.step % plan.resample:
                self.draw_batch()

    def draw_batch(self) -> None:
        """Draw the batch that the present step uses."""
        plan, task = self.plan, self.task
        batch = draw(plan.batch, plan.n, task.covariance, task.inverse, self.key, self.step // plan.resample)
        self._batch = Prompts(*(part.to(self.dtype) for part in batch))

    def state(self) -> dict[str, Any]:
        """Return the state from which a training can be continued."""
        return {
            "key": self.key,
            "step": self.step,
            "matrices": [matrix.clone() for matrix in self.matrices],
            "means": [[mean.clone() for mean in means] for means in self.means],
        }

    def gradient(self) -> tuple[Float[Tensor, ""], list[Float[Tensor, "L d d"]]]:
        """Return the batch's mean loss, and its gradients in the matrices, not clipped."""
        assert self._batch is not None
        if torch.device(self.device).type == "cpu":
            from numerics.preconditioned_descent.moment_kernel import mean_gradient

            return mean_gradient(self.matrices[0], self.matrices[1] if len(self.matrices) > 1 else None, self._batch)
        leaves = [matrix.clone().requires_grad_() for matrix in self.matrices]
        A, B = leaves[0], leaves[1] if len(leaves) > 1 else None
        with torch.enable_grad():
            loss = losses(A, B, self._batch).mean()
        # With one layer the loss does not depend on B.
        slopes = torch.autograd.grad(loss, leaves, materialize_grads=True, allow_unused=True)
        return loss.detach(), list(slopes)

    def advance(self) -> None:
        """Take one step.

        Raises
        ------
        InputError
            If the loss is not finite (on a GPU at most 256 steps later); the error names eta.
        """
        plan = self.plan
        if self.step % plan.resample == 0:
            self.draw_batch()
        loss, gradients = self.gradient()
        self.divergence.look(loss, self.step)
        slopes = [clipped(gradient, plan.clip) for gradient in gradients]
        rate = plan.eta / 2 ** (self.step // plan.halving)
        take_adam_step(self.matrices, slopes, *self.means, taken=self.step, rate=rate, betas=plan.betas)
        self.step += 1


def readings(
    plan: Plan, seed: int, device: str, *, running: Running, part: str, told: Callable[[int], None]
) -> Iterator[Reading]:
    """Yield A and B at the steps of the plan, continuing an interrupted run; `told` is called after every step.

    Raises
    ------
    InputError
        If training diverges; the error names eta and the step.
    """

    def fits(state: dict[str, Any]) -> bool:
        fresh, count = Training(plan, seed, device), len(state["kept"])
        like = {"training": fresh.state(), "kept": [fresh.matrices] * count}
        same = alike(state, like) and state["training"]["key"] == fresh.key
        return same and kept_by(plan.read, state["training"]["step"], count)

    left = running.left(part, fits) or {"training": None, "kept": []}
    training = Training(plan, seed, device, left["training"])
    kept: list[list[Tensor]] = list(left["kept"])

    def state() -> dict[str, Any]:
        return {"training": training.state(), "kept": list(kept)}

    for i, step in enumerate(plan.read):
        while training.step < step:
            training.advance()
            told(training.step)
            running.keep(part, state)
        training.divergence.check()
        if i == len(kept):
            kept.append([matrix.clone() for matrix in training.matrices])
        A, *B = (matrix.to(device, torch.float64) for matrix in kept[i])
        yield Reading(step, A, B[0] if B else None)
    running.keep(part, state, now=True)
