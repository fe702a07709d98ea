"""Detection of the first step of a training at which the loss is not finite."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from verify import InputError

_LOOKS, _NEVER = 256, 2**62
"""Number of steps between the checks on a GPU; a step number that is never reached."""


class Divergence:
    """Remembers the first step whose loss is not finite; checks at every step, or on a GPU at every 256th."""

    def __init__(self, eta: float, device: str) -> None:
        self._eta, self._every = eta, 1 if torch.device(device).type == "cpu" else _LOOKS
        self._first: Tensor | None = None

    def look(self, loss: Float[Tensor, ""], step: int) -> None:
        """Remember the step if its loss is the first that is not finite.

        Raises
        ------
        InputError
            If a loss is not finite; on a GPU, the error is raised at most 256 steps later.
        """
        if self._every == 1 and self._first is None and math.isfinite(loss):
            return
        diverged = torch.where(loss.isfinite(), _NEVER, step)
        self._first = diverged if self._first is None else torch.minimum(self._first, diverged)
        if step % self._every == 0:
            self.check()

    def check(self) -> None:
        """Wait for all losses so far, and check that they are finite.

        Raises
        ------
        InputError
            If a loss was not finite; the error names eta and the first such step.
        """
        if self._first is not None and (step := int(self._first)) < _NEVER:
            raise InputError("eta", self._eta, f"training diverges: no finite loss at step {step}")
