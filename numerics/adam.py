"""A step of Adam on matrices with given gradients, by PyTorch's own function."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim.adam import adam

_EPSILON = 1e-8


def take_adam_step(
    matrices: Sequence[Float[Tensor, "..."]],
    slopes: Sequence[Float[Tensor, "..."]],
    means: Sequence[Float[Tensor, "..."]],
    squares: Sequence[Float[Tensor, "..."]],
    *,
    taken: int,
    rate: float,
    betas: tuple[float, float],
) -> None:
    """Take a step of Adam after `taken` earlier steps: update the matrices and the running means in place.

    `slopes` are the gradients, `means` and `squares` the running means of the gradients and of their squares, and
    `rate` is the step size.
    """
    adam(
        list(matrices),
        list(slopes),
        list(means),
        list(squares),
        max_exp_avg_sqs=[],
        state_steps=[torch.tensor(float(taken)) for _ in matrices],
        foreach=False,
        amsgrad=False,
        beta1=betas[0],
        beta2=betas[1],
        lr=rate,
        weight_decay=0.0,
        eps=_EPSILON,
        maximize=False,
    )
